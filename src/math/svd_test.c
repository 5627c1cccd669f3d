/* SPDX-License-Identifier: MIT
 * Singular values and vectors of small matrices against their definition, for all shapes: random ones, some of low
 * rank, some with rows of sizes far apart, zeros. Tolerances: 100 roundings of numbers of size 1, and as many of a
 * length. */
#include "math/svd.h"

#include <stdint.h>
#include <stdlib.h>

#include "tests/check.h"

enum { MAX = 32, SHAPES = 13 };
static const int shape[SHAPES] = {1, 2, 3, 4, 5, 6, 7, 9, 12, 17, 24, 31, 32};
static const double NEAR = 100 * 0x1p-52;

static double uniform(uint64_t *seed) {
  *seed = *seed * 6364136223846793005u + 1442695040888963407u;
  return (double)(*seed >> 11) * 0x1p-52 - 1;
}

/* Rows of X (count of them, each n long, `step` between entries, `next` between rows) are orthonormal. */
static bool orthonormal(int count, int n, const double *X, int step, int next) {
  double worst = 0;
  for (int i = 0; i < count; i++)
    for (int j = 0; j <= i; j++) {
      double sum = i == j ? -1 : 0;
      for (int l = 0; l < n; l++) sum += X[i * next + l * step] * X[j * next + l * step];
      worst = fmax(worst, fabs(sum));
    }
  return worst <= NEAR;
}

/* A = U diag(s) V^T, all of it, in units of the length of each row of A or of A itself, whichever `row` says. */
static void check(int m, int n, const double *A, bool row, double *s) {
  static double V[MAX * MAX], Ut[MAX * MAX];
  int k = m < n ? m : n;
  double whole = 0;
  AG_CHECK(ag_svd_small(m, n, A, s, n, V, Ut) == 0);
  AG_CHECK(orthonormal(n, n, V, 1, n) && orthonormal(k, m, Ut, k, 1));
  for (int l = 0; l < k; l++) AG_CHECK(s[l] >= 0 && (!l || s[l] <= s[l - 1]));
  for (int i = 0; i < m * n; i++) whole = fmax(whole, fabs(A[i]));
  for (int i = 0; i < m; i++) {
    double size = row ? 0 : whole * n;
    for (int j = 0; j < n && row; j++) size += fabs(A[i * n + j]);
    for (int j = 0; j < n; j++) {
      double sum = -A[i * n + j];
      for (int l = 0; l < k; l++) sum += Ut[i * k + l] * s[l] * V[l * n + j];
      AG_CHECK(fabs(sum) <= NEAR * size);
    }
  }
  double alone[MAX], thin[MAX * MAX];
  AG_CHECK(ag_svd_small(m, n, A, alone, 0, NULL, NULL) == 0 && !memcmp(alone, s, sizeof *s * (size_t)k));
  AG_CHECK(ag_svd_small(m, n, A, alone, k, thin, NULL) == 0 && !memcmp(thin, V, sizeof *V * (size_t)(n * k)));
}

static void test_shapes(uint64_t *seed) {
  static double A[MAX * MAX], s[MAX];
  for (int a = 0; a < SHAPES; a++)
    for (int b = 0; b < SHAPES; b++) {
      int m = shape[a], n = shape[b], k = m < n ? m : n;
      for (int i = 0; i < m * n; i++) A[i] = uniform(seed);
      check(m, n, A, false, s);
      AG_CHECK(s[k - 1] > 0);
      for (int i = 0; i < m * n; i++) A[i] *= 1e-300; /* any unit */
      check(m, n, A, false, s);
      for (int i = 1; i < m; i++) /* rank 1: all rows follow from the first */
        for (int j = 0; j < n; j++) A[i * n + j] = (i % 3) * A[j];
      check(m, n, A, false, s);
      for (int l = 1; l < k; l++) AG_CHECK(s[l] <= 1e-14 * s[0]);
      for (int i = 0; i < m * n; i++) A[i] = 0;
      check(m, n, A, false, s);
      AG_CHECK(s[0] == 0);
    }
}

/* Rows D Q, Q a random rotation: the sizes of the rows are the singular values, to full relative accuracy. Where a row
 * is below 1e-140 of the largest it counts as zero. */
static void test_graded(uint64_t *seed) {
  static double A[MAX * MAX], V[MAX * MAX], s[MAX];
  for (int a = 0; a < SHAPES; a++) {
    int n = shape[a];
    for (int i = 0; i < n * n; i++) A[i] = uniform(seed);
    AG_CHECK(ag_svd_small(n, n, A, s, n, V, NULL) == 0);
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++) A[i * n + j] = pow(10, -4 * ((i * 5) % n)) * V[i * n + j];
    AG_CHECK(ag_svd_small(n, n, A, s, 0, NULL, NULL) == 0);
    for (int l = 0; l < n && n % 5; l++) AG_CHECK(fabs(s[l] * pow(10, 4 * l) - 1) <= NEAR);
    check(n, n, A, false, s);
  }
  double line[6] = {3, 4, 0, 3e-200, 4e-200, 1e-200};
  check(2, 3, line, false, s);
  AG_CHECK(s[0] == 5 && s[1] == 0);
}

/* Numbers known by hand: [[1, 1], [0, 1]] has the golden ratio and its inverse; entries at the ends of the range. */
static void test_known(void) {
  double s[2], V[4], phi = (1 + sqrt(5)) / 2;
  AG_CHECK(ag_svd_small(2, 2, (double[]){1, 1, 0, 1}, s, 2, V, NULL) == 0);
  AG_CHECK_NEAR(s[0], phi, 4e-16);
  AG_CHECK_NEAR(s[1], 1 / phi, 4e-16);
  AG_CHECK(ag_svd_small(2, 1, (double[]){3e307, 4e307}, s, 1, V, NULL) == 0 && fabs(s[0] - 5e307) <= 1e292);
  AG_CHECK(ag_svd_small(1, 2, (double[]){3e-320, 4e-320}, s, 2, V, NULL) == 0 && fabs(s[0] - 5e-320) <= 1e-323);
  AG_CHECK(ag_svd_small(1, 2, (double[]){0, -2}, s, 2, V, NULL) == 0 && s[0] == 2 && V[1] == -1 && V[2] == 1);
}

int main(void) {
  uint64_t seed = 20261118;
  test_shapes(&seed);
  test_graded(&seed);
  test_known();
  return ag_check_report();
}
