/* SPDX-License-Identifier: MIT
 * Dense algebra against its definitions (residuals, orthogonality, rank by construction) on random and on hard
 * matrices, below and above the size where LAPACK takes over. Tolerances: n^2 roundings of entries of size 1, times
 * the condition of a random matrix. */
#include "math/dense.h"

#include <stdint.h>
#include <stdlib.h>

#include "tests/check.h"

enum { MAX = 40 }; /* beyond the sizes that are loops */

/* Uniform in [-1, 1), from a multiplicative congruence. */
static double uniform(uint64_t *seed) {
  *seed = *seed * 6364136223846793005u + 1442695040888963407u;
  return (double)(*seed >> 11) * 0x1p-52 - 1;
}

static void fill(int count, double *A, uint64_t *seed) {
  for (int i = 0; i < count; i++) A[i] = uniform(seed);
}

/* C = A B, A m x k, B k x n. */
static void multiply(int m, int k, int n, const double *A, const double *B, double *C) {
  for (int i = 0; i < m; i++)
    for (int j = 0; j < n; j++) {
      double sum = 0;
      for (int l = 0; l < k; l++) sum += A[i * k + l] * B[l * n + j];
      C[i * n + j] = sum;
    }
}

static double distance(int count, const double *A, const double *B) {
  double d = 0;
  for (int i = 0; i < count; i++) d = fmax(d, fabs(A[i] - B[i]));
  return d;
}

static void test_solve(uint64_t *seed) {
  double A[MAX * MAX], C[MAX * MAX], X[MAX * MAX], B[MAX * MAX];
  for (int n = 1; n <= MAX; n++)
    for (int m = 1; m <= 3; m++) {
      fill(n * n, A, seed);
      fill(n * m, X, seed);
      multiply(n, n, m, A, X, B);
      memcpy(C, A, sizeof C);
      AG_CHECK(ag_dense_solve(n, m, C, B) == 0);
      double r = ag_dense_rcond(n, A);
      AG_CHECK(r > 0 && r <= 1);
      AG_CHECK(distance(n * m, X, B) <= 1e-15 * n * n / r);
    }
  for (int n = 2; n <= MAX; n += 11) { /* two equal rows and a zero column: singular without rounding */
    for (int i = 0; i < n * n; i++) A[i] = i % n == 0 ? 0 : 1;
    memcpy(C, A, sizeof C);
    fill(n, B, seed);
    AG_CHECK(ag_dense_solve(n, 1, C, B) > 0);
    AG_CHECK(ag_dense_rcond(n, A) == 0);
    A[n + 1] = NAN;
    AG_CHECK(ag_dense_solve(n, 1, A, B) < 0);
  }
  double swap[] = {0, 1, 1, 0}, b[] = {3, 5};
  AG_CHECK(ag_dense_solve(2, 1, swap, b) == 0 && b[0] == 5 && b[1] == 3);
  AG_CHECK(ag_dense_solve(0, 1, swap, b) == 0);
}

/* Hilbert matrices: published 1-norm condition numbers, below and above the switch. */
static void test_rcond(void) {
  static const struct {
    int n;
    double condition;
  } known[] = {{3, 748}, {5, 943656}, {8, 3.387279090e10}, {10, 3.535371e13}};
  for (int k = 0; k < 4; k++) {
    double A[100];
    int n = known[k].n;
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++) A[i * n + j] = 1.0 / (i + j + 1);
    /* condition times epsilon; above the switch only an estimate is promised */
    AG_CHECK_NEAR(ag_dense_rcond(n, A) * known[k].condition, 1, n < 10 ? 1e-5 : 1e-2);
  }
  double skew[4] = {1, 0, 1e8, 1}; /* not symmetric in the norms: |A|_1 = 1e8 + 1 = |A^-1|_1 */
  AG_CHECK_NEAR(ag_dense_rcond(2, skew) * 1e16, 1, 1e-7);
  double big[100] = {0}; /* column norm 10, row norms 1 and 10: distinguishes the 1-norm from the infinity norm */
  for (int i = 0; i < 10; i++) big[i * 10 + i] = big[i * 10] = 1;
  AG_CHECK_NEAR(ag_dense_rcond(10, big), 1.0 / 100, 1e-14);
  for (int j = 1; j < 10; j++) big[j * 10] = 0, big[j] = 1;
  AG_CHECK_NEAR(ag_dense_rcond(10, big), 1.0 / 4, 1e-14);
}

/* Random m x n of rank r, rows of very different size. */
static void rank_r(int m, int n, int r, double *A, uint64_t *seed) {
  double L[MAX * MAX], R[MAX * MAX];
  fill(m * r, L, seed);
  fill(r * n, R, seed);
  multiply(m, r, n, L, R, A);
}

static void test_rank(uint64_t *seed) {
  double A[MAX * MAX];
  int rows[MAX];
  for (int m = 1; m <= 12; m++)
    for (int n = 1; n <= 12; n++)
      for (int r = 0; r <= (m < n ? m : n); r++) {
        rank_r(m, n, r, A, seed);
        for (int i = 0; i < m * n; i++) A[i] *= pow(10, i / n % 5 - 2);
        AG_CHECK(ag_dense_rank(m, n, A, 1e-10, rows) == r);
        int seen[MAX] = {0};
        for (int i = 0; i < m; i++) seen[rows[i]]++;
        for (int i = 0; i < m; i++) AG_CHECK(seen[i] == 1);
        for (int i = 0; i < r; i++) AG_CHECK(rows[i] == i); /* random: the first r rows are independent */
      }
  double B[] = {1, 2, 3, 2, 4, 6, 0, 0, 0, 0, 1e-9, 0, 1, 2, 3 + 1e-12, 0, 0, 1e-18};
  AG_CHECK(ag_dense_rank(6, 3, B, 1e-10, rows) == 2); /* tiny rows count, rounding dust and near copies do not */
  static const int expected[] = {0, 3, 1, 2, 4, 5};
  AG_CHECK(memcmp(rows, expected, sizeof expected) == 0);
  AG_CHECK(ag_dense_rank(6, 3, B, 1e-10, NULL) == 2);
  AG_CHECK(ag_dense_rank(6, 3, B, 1e-14, NULL) == 3);
  /* the second row differs from the first by 1e-8 of the third; what is left of the third after both is rounding error
   */
  double C[12], a[] = {0.3, 0.7, -0.2, 1.1}, b[] = {0.9, -0.4, 0.5, 0.1};
  for (int j = 0; j < 4; j++) C[j] = a[j], C[4 + j] = -0.929 * a[j] + 1e-8 * b[j], C[8 + j] = b[j] + 0.37 * a[j];
  AG_CHECK(ag_dense_rank(3, 4, C, 1e-9, rows) == 2 && rows[2] == 2);
  B[4] = INFINITY;
  AG_CHECK(ag_dense_rank(6, 3, B, 1e-10, rows) < 0);
}

static void test_null(uint64_t *seed) {
  double A[MAX * MAX], N[MAX * MAX], X[MAX * MAX];
  for (int m = 0; m <= 12; m++)
    for (int n = 1; n <= 12; n++)
      for (int r = 0; r <= (m < n ? m : n); r++) {
        rank_r(m, n, r, A, seed);
        AG_CHECK(ag_dense_null(m, n, A, 1e-10, N) == r);
        int k = n - r;
        multiply(m, n, k, A, N, X);
        for (int i = 0; i < m * k; i++) AG_CHECK_NEAR(X[i], 0, 1e-13);
        for (int i = 0; i < k; i++)
          for (int j = 0; j < k; j++) {
            double dot = 0;
            for (int l = 0; l < n; l++) dot += N[l * k + i] * N[l * k + j];
            AG_CHECK_NEAR(dot, i == j, 1e-14);
          }
      }
  double row[] = {0, 3, 4}, wrong[] = {1, NAN};
  AG_CHECK(ag_dense_null(1, 3, row, 1e-10, N) == 1);
  AG_CHECK(ag_dense_null(1, 2, wrong, 1e-10, N) < 0);
}

/* The four Penrose equations, also without full rank. */
static void test_pinv(uint64_t *seed) {
  double A[MAX * MAX], P[MAX * MAX], AP[MAX * MAX], PA[MAX * MAX], X[MAX * MAX];
  for (int m = 1; m <= 10; m++)
    for (int n = 1; n <= 10; n++)
      for (int r = (m < n ? m : n); r >= 0; r -= 2) {
        rank_r(m, n, r, A, seed);
        ag_dense_pinv(m, n, A, P);
        double size = 1;
        for (int i = 0; i < m * n; i++) size = fmax(size, fabs(P[i]));
        double tol = 1e-13 * size * size;
        multiply(m, n, m, A, P, AP);
        multiply(n, m, n, P, A, PA);
        multiply(m, m, n, AP, A, X);
        AG_CHECK(distance(m * n, X, A) <= tol);
        multiply(n, n, m, PA, P, X);
        AG_CHECK(distance(m * n, X, P) <= tol * size);
        for (int i = 0; i < m; i++)
          for (int j = 0; j < i; j++) AG_CHECK(fabs(AP[i * m + j] - AP[j * m + i]) <= tol);
        for (int i = 0; i < n; i++)
          for (int j = 0; j < i; j++) AG_CHECK(fabs(PA[i * n + j] - PA[j * n + i]) <= tol);
      }
  A[0] = NAN;
  ag_dense_pinv(1, 1, A, P);
  AG_CHECK(isnan(P[0]));
}

/* A of rank r, disturbed by 1e-7: within r the pseudo-inverse and the range hardly change, whole they would. */
static void test_within(uint64_t *seed) {
  double A[MAX * MAX], D[MAX * MAX], P[MAX * MAX], Q[MAX * MAX], W[MAX * MAX], X[MAX * MAX], Y[MAX * MAX];
  for (int m = 2; m <= 10; m++)
    for (int n = 2; n <= 10; n++) {
      int r = (m < n ? m : n) - 1;
      rank_r(m, n, r, A, seed);
      fill(m * n, D, seed);
      ag_dense_pinv(m, n, A, P);
      double size = 1;
      for (int i = 0; i < m * n; i++) size = fmax(size, fabs(P[i])), D[i] = A[i] + 1e-7 * D[i];
      ag_dense_pinv_within(m, n, D, r, 1e-14, Q);
      AG_CHECK(distance(m * n, P, Q) <= 1e-5 * size * size); /* perturbation bound: 3 n |P|^2 1e-7 */
      ag_dense_pinv_within(m, n, D, m, 1e-5 / size, Q);      /* the smallest value kept is 1/(n |P|) at least */
      AG_CHECK(distance(m * n, P, Q) <= 1e-5 * size * size);
      AG_CHECK(ag_dense_range(m, n, A, r, W) > 0);
      multiply(r, m, n, W, A, X); /* W^T W A = A */
      for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++) {
          Y[i * n + j] = 0;
          for (int l = 0; l < r; l++) Y[i * n + j] += W[l * m + i] * X[l * n + j];
        }
      AG_CHECK(distance(m * n, Y, A) <= 1e-12 * size);
      AG_CHECK(fabs(ag_dense_range(m, n, A, r + 1, W)) < 1e-13);
    }
  A[0] = NAN;
  AG_CHECK(ag_dense_range(1, 1, A, 1, W) < 0);
}

static void test_cholesky(uint64_t *seed) {
  double G[MAX * MAX], A[MAX * MAX], L[MAX * MAX], X[MAX], B[MAX];
  for (int n = 1; n <= MAX; n++) {
    fill(n * n, G, seed);
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++) {
        A[i * n + j] = i == j;
        for (int k = 0; k < n; k++) A[i * n + j] += G[i * n + k] * G[j * n + k];
      }
    memcpy(L, A, sizeof L);
    for (int i = 0; i < n; i++)
      for (int j = i + 1; j < n; j++) L[i * n + j] = NAN; /* must not be read */
    AG_CHECK(ag_dense_cholesky(n, L) == 0);
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++) {
        double sum = 0;
        for (int k = 0; k < n; k++) sum += L[i * n + k] * L[j * n + k];
        AG_CHECK_NEAR(sum, A[i * n + j], 1e-14);
      }
    fill(n, X, seed);
    multiply(n, n, 1, A, X, B);
    ag_dense_cholesky_solve(n, 1, L, B);
    AG_CHECK(distance(n, X, B) <= 1e-12);
    if (n < 3) continue;
    A[2 * n + 2] = -1e-3; /* the third leading block is the first that is indefinite */
    AG_CHECK(ag_dense_cholesky(n, A) == 3);
  }
  double nan[] = {NAN};
  AG_CHECK(ag_dense_cholesky(1, nan) < 0);
}

/* Companion matrix of (x-1)(x-2)(x^2+1)(x^2-2x+5), scaled by nothing: roots 2, 1, 1+-2i, +-i. */
static void test_eig(uint64_t *seed) {
  static const double re[] = {2, 1, 1, 1, 0, 0}, im[] = {0, 0, 2, -2, 1, -1};
  double A[36] = {0}, r[MAX], i[MAX], p[8] = {1};
  static const double factor[4][3] = {{1, -1, 0}, {1, -2, 0}, {1, 0, 1}, {1, -2, 5}};
  for (int k = 0, degree = 0; k < 4; k++) {
    double q[8] = {0};
    int d = k < 2 ? 1 : 2;
    for (int a = 0; a <= degree; a++)
      for (int b = 0; b <= d; b++) q[a + b] += p[a] * factor[k][b];
    degree += d;
    memcpy(p, q, sizeof p);
  }
  for (int j = 0; j < 6; j++) A[j] = -p[j + 1];
  for (int j = 1; j < 6; j++) A[j * 6 + j - 1] = 1;
  AG_CHECK(ag_dense_eig(6, A, r, i) == 0);
  /* rounding splits equal real parts: compare as sets */
  for (int j = 0; j < 6; j++) {
    double best = 1;
    for (int k = 0; k < 6; k++) best = fmin(best, hypot(r[k] - re[j], i[k] - im[j]));
    AG_CHECK(best < 1e-12);
    if (j > 0) AG_CHECK(r[j] <= r[j - 1]);
    if (i[j] < 0) AG_CHECK(j > 0 && i[j - 1] == -i[j] && r[j - 1] == r[j]);
  }
  double turn[16] = {0, -2, 0, 0, 2, 0, 0, 0, 0, 0, 0, 1, 0, 0, -1, 0};
  AG_CHECK(ag_dense_eig(4, turn, r, i) == 0);
  static const double order[] = {1, -1, 2, -2};
  for (int j = 0; j < 4; j++) AG_CHECK(r[j] == 0 && fabs(i[j] - order[j]) < 1e-15);
  double B[MAX * MAX], trace = 0, sum = 0;
  fill(MAX * MAX, B, seed);
  AG_CHECK(ag_dense_eig(MAX, B, r, i) == 0);
  for (int j = 0; j < MAX; j++) trace += B[j * MAX + j], sum += r[j];
  AG_CHECK_NEAR(sum, trace, 1e-13);
  B[5] = NAN;
  AG_CHECK(ag_dense_eig(MAX, B, r, i) < 0);
}

static void test_eigsym(uint64_t *seed) {
  double A[MAX * MAX], V[MAX * MAX], w[MAX], u[MAX], X[MAX * MAX];
  for (int n = 1; n <= MAX; n++) {
    fill(n * n, A, seed);
    for (int i = 0; i < n; i++)
      for (int j = i + 1; j < n; j++) A[i * n + j] = A[j * n + i];
    AG_CHECK(ag_dense_eigsym(n, A, w, V) == 0);
    multiply(n, n, n, A, V, X);
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++) AG_CHECK_NEAR(X[i * n + j], V[i * n + j] * w[j], 2e-14);
    for (int j = 0; j < n; j++) {
      double largest = 0;
      for (int i = 0; i < n; i++)
        if (fabs(V[i * n + j]) > fabs(largest)) largest = V[i * n + j];
      AG_CHECK(largest > 0);
      if (j > 0) AG_CHECK(w[j] >= w[j - 1]);
    }
    for (int i = 0; i < n; i++)
      for (int j = i + 1; j < n; j++) A[i * n + j] = NAN; /* must not be read */
    AG_CHECK(ag_dense_eigsym(n, A, u, NULL) == 0);
    AG_CHECK(distance(n, u, w) <= 3e-14);
    AG_CHECK(ag_dense_svals(n, n, X, u) == 0);
    for (int j = 0; j < n; j++) { /* |A V| has singular values |w| */
      double best = 1;
      for (int k = 0; k < n; k++) best = fmin(best, fabs(u[j] - fabs(w[k])));
      AG_CHECK(best <= 2e-14);
    }
    A[n * n - 1] = INFINITY;
    AG_CHECK(ag_dense_eigsym(n, A, u, NULL) < 0);
  }
}

int main(void) {
  uint64_t seed = 1;
  test_solve(&seed);
  test_rcond();
  test_rank(&seed);
  test_null(&seed);
  test_pinv(&seed);
  test_within(&seed);
  test_cholesky(&seed);
  test_eig(&seed);
  test_eigsym(&seed);
  return ag_check_report();
}
