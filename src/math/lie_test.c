/* SPDX-License-Identifier: MIT
 * Rotations against their definitions, with the matrix side computed independently (series, linear solves). Tolerance
 * 1e-15 times a few operations on numbers of size 1 throughout, unless stated. */
#include "math/lie.h"

#include <stdint.h>

#include "math/dense.h"
#include "tests/check.h"

static const double tol = 4e-15, pi = 3.14159265358979323846;

static double uniform(uint64_t *seed) {
  *seed = *seed * 6364136223846793005u + 1442695040888963407u;
  return (double)(*seed >> 11) * 0x1p-52 - 1;
}

static void random_vector(double size, double *v, uint64_t *seed) {
  for (int i = 0; i < 3; i++) v[i] = size * uniform(seed);
}

static void random_quat(double *q, uint64_t *seed) {
  do
    for (int i = 0; i < 4; i++) q[i] = uniform(seed);
  while (ag_lie_quat_normalise(q) < 0.1);
}

static void mat_mul(const double *A, const double *B, double *C) {
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) C[3 * i + j] = A[3 * i] * B[j] + A[3 * i + 1] * B[3 + j] + A[3 * i + 2] * B[6 + j];
}

static void near(int n, const double *a, const double *b, double within) {
  for (int i = 0; i < n; i++) AG_CHECK_NEAR(a[i], b[i], within);
}

/* exp(A) = sum A^k / k!, in long double. */
static void mat_exp(const double *A, double *E) {
  long double term[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, sum[9], next[9];
  memcpy(sum, term, sizeof sum);
  for (int k = 1; k < 60; k++) {
    for (int i = 0; i < 3; i++)
      for (int j = 0; j < 3; j++) {
        next[3 * i + j] = 0;
        for (int l = 0; l < 3; l++) next[3 * i + j] += term[3 * i + l] * (long double)A[3 * l + j] / k;
      }
    memcpy(term, next, sizeof term);
    for (int i = 0; i < 9; i++) sum[i] += term[i];
  }
  for (int i = 0; i < 9; i++) E[i] = (double)sum[i];
}

static void test_algebra(uint64_t *seed) {
  static const double i[] = {0, 1, 0, 0}, j[] = {0, 0, 1, 0}, k[] = {0, 0, 0, 1}, minus[] = {-1, 0, 0, 0};
  double r[4], v[3], w[3], c[3], A[9], y[3];
  ag_lie_quat_mul(i, j, r);
  near(4, r, k, 0);
  ag_lie_quat_mul(j, k, r);
  near(4, r, i, 0);
  ag_lie_quat_mul(k, k, r);
  near(4, r, minus, 0);
  for (int n = 0; n < 100; n++) {
    random_vector(2, v, seed);
    random_vector(2, w, seed);
    ag_lie_hat(v, A);
    ag_lie_cross(v, w, c);
    for (int l = 0; l < 3; l++) AG_CHECK_NEAR(A[3 * l] * w[0] + A[3 * l + 1] * w[1] + A[3 * l + 2] * w[2], c[l], tol);
    ag_lie_vee(A, y);
    near(3, y, v, 0);
    ag_lie_cross(v, w, w); /* in place */
    near(3, w, c, 0);
  }
  double zero[4] = {0}, bad[4] = {NAN, 0, 0, 1};
  AG_CHECK(ag_lie_quat_normalise(zero) == 0 && zero[0] == 0);
  AG_CHECK(isnan(ag_lie_quat_normalise(bad)) && bad[3] == 1);
}

static void test_matrix(uint64_t *seed) {
  double p[4], q[4], r[4], P[9], Q[9], PQ[9], R[9], v[3], y[3];
  static const double one[] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
  for (int n = 0; n < 1000; n++) {
    random_quat(p, seed);
    random_quat(q, seed);
    ag_lie_quat_matrix(p, P);
    ag_lie_quat_matrix(q, Q);
    ag_lie_quat_mul(p, q, r);
    ag_lie_quat_matrix(r, R);
    mat_mul(P, Q, PQ);
    near(9, PQ, R, tol);
    random_vector(1, v, seed);
    ag_lie_quat_rotate(q, v, y);
    for (int i = 0; i < 3; i++) AG_CHECK_NEAR(Q[3 * i] * v[0] + Q[3 * i + 1] * v[1] + Q[3 * i + 2] * v[2], y[i], tol);
    ag_lie_quat_conj(q, r);
    ag_lie_quat_matrix(r, R);
    mat_mul(Q, R, PQ);
    near(9, PQ, one, tol);
    ag_lie_quat_from_matrix(Q, r);
    AG_CHECK(r[0] >= 0);
    for (int i = 0; i < 4; i++) AG_CHECK_NEAR(copysign(1, q[0]) * q[i], r[i], tol);
    for (int i = 0; i < 4; i++) p[i] = 3 * q[i]; /* the length does not matter */
    ag_lie_quat_matrix(p, P);
    near(9, P, Q, tol);
  }
  /* rotations by pi about all kinds of axes, where the trace is -1 */
  static const double axes[][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {0.6, 0.8, 0}, {0, -0.6, 0.8}, {-0.6, 0, 0.8}};
  for (int k = 0; k < 6; k++) {
    double h[4] = {0, axes[k][0], axes[k][1], axes[k][2]}, sign = 1;
    ag_lie_quat_matrix(h, R);
    ag_lie_quat_from_matrix(R, q);
    for (int i = 3; i > 0; i--)
      if (h[i] != 0) sign = copysign(1, h[i]);
    for (int i = 0; i < 4; i++) AG_CHECK_NEAR(q[i], sign * h[i], tol);
  }
}

static void test_exp(uint64_t *seed) {
  double v[3], w[3], A[9], E[9], R[9], q[4];
  for (int n = 0; n < 600; n++) {
    random_vector(1.8 * pow(10, -(n % 30) / 2.0), v, seed); /* |v| < 3.2, down to 1e-15 */
    double size = sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
    if (size >= pi) continue;
    ag_lie_hat(v, A);
    mat_exp(A, E);
    ag_lie_exp(v, q);
    ag_lie_quat_matrix(q, R);
    near(9, R, E, tol);
    AG_CHECK_NEAR(ag_lie_quat_normalise(q), 1, 5e-16);
    for (int s = 0; s < 2; s++) { /* q and -q; small vectors keep their relative accuracy */
      ag_lie_log(q, w);
      for (int i = 0; i < 3; i++) AG_CHECK(fabs(w[i] - v[i]) <= tol * size);
      for (int i = 0; i < 4; i++) q[i] = -q[i];
    }
  }
  static const double still[4] = {1, 0, 0, 0}, half[4] = {0, 0, 0, 1};
  ag_lie_log(still, v);
  AG_CHECK(v[0] == 0 && v[1] == 0 && v[2] == 0);
  ag_lie_log(half, v);
  AG_CHECK_NEAR(v[2], pi, 1e-15);
  ag_lie_exp(v, q);
  near(4, q, half, 1e-15);
}

static void test_cayley(uint64_t *seed) {
  double v[3], w[3], A[9], L[9], X[9], R[9], q[4];
  for (int n = 0; n < 200; n++) {
    random_vector(3, v, seed);
    ag_lie_hat(v, A);
    for (int i = 0; i < 9; i++) L[i] = (i % 4 == 0) - A[i] / 2, X[i] = (i % 4 == 0) + A[i] / 2;
    AG_CHECK(ag_dense_solve(3, 3, L, X) == 0);
    ag_lie_cayley(v, q);
    ag_lie_quat_matrix(q, R);
    near(9, R, X, tol);
    ag_lie_cayley_inverse(q, w);
    near(3, w, v, tol);
    for (int i = 0; i < 3; i++) v[i] *= 1e-3; /* exp and Cayley agree to second order: |v|^3 / 12 */
    double p[4];
    ag_lie_exp(v, p);
    ag_lie_cayley(v, q);
    near(4, p, q, 1.5e-8);
  }
}

/* q' = q (0, Omega) / 2 belongs to R' = R hat(Omega): central differences of a smooth motion. */
static void test_velocity(void) {
  double h = 1e-4, q[3][4], R[3][9], Omega[3] = {0.3, -1.1, 0.7}, w[9], RW[9], dq[4], o[4] = {0, 0.3, -1.1, 0.7};
  static const double start[3] = {0.4, 1.0, -0.2};
  for (int k = 0; k < 3; k++) {
    double step[4], v[3], base[4];
    for (int i = 0; i < 3; i++) v[i] = (k - 1) * h * Omega[i];
    ag_lie_exp(v, step);
    ag_lie_exp(start, base);
    ag_lie_quat_mul(base, step, q[k]);
    ag_lie_quat_matrix(q[k], R[k]);
  }
  ag_lie_hat(Omega, w);
  mat_mul(R[1], w, RW);
  ag_lie_quat_mul(q[1], o, dq);
  for (int i = 0; i < 9; i++) AG_CHECK_NEAR((R[2][i] - R[0][i]) / (2 * h), RW[i], 1e-8); /* h^2 |Omega|^3 / 6 */
  for (int i = 0; i < 4; i++) AG_CHECK_NEAR((q[2][i] - q[0][i]) / (2 * h), 0.5 * dq[i], 1e-8);
}

int main(void) {
  uint64_t seed = 7;
  test_algebra(&seed);
  test_matrix(&seed);
  test_exp(&seed);
  test_cayley(&seed);
  test_velocity();
  return ag_check_report();
}
