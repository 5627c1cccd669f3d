/* SPDX-License-Identifier: MIT
 * Matrices that fall apart: the blocks are found, and solving, ranking and inverting a scrambled block matrix gives
 * what the blocks give one by one. */
#include "math/blocks.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "math/dense.h"
#include "tests/check.h"

static double uniform(uint64_t *seed) {
  *seed = *seed * 6364136223846793005u + 1442695040888963407u;
  return (double)(*seed >> 11) * 0x1p-52 - 1;
}

static void permutation(int n, int *p, uint64_t *seed) {
  for (int i = 0; i < n; i++) p[i] = i;
  for (int i = n - 1; i > 0; i--) {
    int j = (int)((uniform(seed) + 1) / 2 * (i + 1)), x = p[i];
    p[i] = p[j], p[j] = x;
  }
}

static void test_find(void) {
  const double A[4 * 5] = {0, 1, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 3, 0, 4, 0};
  ag_blocks b;
  ag_blocks_init(&b, 4, 5, A);
  AG_CHECK(b.n == 2 && ag_block_rows(&b, 0) == 2 && ag_block_cols(&b, 0) == 2 && ag_block_rows(&b, 1) == 1);
  AG_CHECK(b.row[0] == 0 && b.row[1] == 3 && b.row[2] == 1 && b.col[0] == 1 && b.col[1] == 3 && b.col[2] == 0);
  double part[4];
  ag_block_gather(&b, 0, 5, A, part);
  AG_CHECK(part[0] == 1 && part[1] == 0 && part[2] == 3 && part[3] == 4);
  ag_blocks_done(&b);
}

/* n blocks of size k x (k + extra), rows and columns shuffled; row k - 1 of every third block is the sum of the
 * others, so that the rank is known. */
enum { N = 12, K = 5 };

static double *scrambled(int extra, bool dependent, uint64_t *seed, int *row, int *col) {
  int m = N * K, n = N * (K + extra);
  double *A = calloc((size_t)(m * n), sizeof *A), *B = calloc((size_t)(m * n), sizeof *B);
  for (int b = 0; b < N; b++)
    for (int j = 0; j < K + extra; j++) {
      double sum = 0, *last = &A[(b * K + K - 1) * n + b * (K + extra) + j];
      for (int i = 0; i < K; i++) A[(b * K + i) * n + b * (K + extra) + j] = uniform(seed);
      for (int i = 0; i < K - 1; i++) sum += A[(b * K + i) * n + b * (K + extra) + j];
      if (dependent && b % 3 == 0) *last = sum;
    }
  permutation(m, row, seed);
  permutation(n, col, seed);
  for (int i = 0; i < m; i++)
    for (int j = 0; j < n; j++) B[row[i] * n + col[j]] = A[i * n + j];
  free(A);
  return B;
}

static void test_solve(uint64_t *seed) {
  enum { M = N * K };
  int row[M], col[M];
  double *A = scrambled(0, false, seed, row, col), *C = malloc(sizeof(double) * M * M), x[M], b[M];
  for (int i = 0; i < M; i++) x[i] = uniform(seed);
  for (int i = 0; i < M; i++) {
    b[i] = 0;
    for (int j = 0; j < M; j++) b[i] += A[i * M + j] * x[j];
  }
  memcpy(C, A, sizeof(double) * M * M);
  double r = ag_dense_rcond(M, A);
  AG_CHECK(r > 0 && r < 1 && ag_dense_solve(M, 1, C, b) == 0);
  for (int i = 0; i < M; i++) AG_CHECK_NEAR(b[i], x[i], 1e-15 * M / r); /* K^2 roundings, times the condition */
  for (int j = 0; j < M; j++) A[3 * M + j] = 0;
  AG_CHECK(ag_dense_rcond(M, A) == 0 && ag_dense_solve(M, 1, A, b) > 0);
  free(A), free(C);
}

static void test_rank_and_inverse(uint64_t *seed) {
  enum { EXTRA = 2, M = N * K, COLS = N * (K + EXTRA), RANK = M - (N + 2) / 3 };
  int row[M], col[COLS], pivots[M];
  double *A = scrambled(EXTRA, true, seed, row, col), *P = calloc(M * COLS, sizeof *P), worst = 0;
  AG_CHECK(ag_dense_rank(M, COLS, A, 1e-10, pivots) == RANK);
  for (int i = 1; i < RANK; i++) AG_CHECK(pivots[i] > pivots[i - 1]);
  ag_dense_pinv_within(M, COLS, A, M, 1e-9, P);
  for (int i = 0; i < M; i++) /* A P A = A */
    for (int j = 0; j < COLS; j++) {
      double sum = -A[i * COLS + j];
      for (int k = 0; k < M; k++) {
        double AP = 0;
        for (int l = 0; l < COLS; l++) AP += A[i * COLS + l] * P[l * M + k];
        sum += AP * A[k * COLS + j];
      }
      worst = fmax(worst, fabs(sum));
    }
  AG_CHECK(worst < 1e-12);                      /* condition of a random 5 x 7 block, some hundred */
  ag_dense_pinv_within(M, COLS, A, 3, 1e-9, P); /* no more than three singular values of all */
  AG_CHECK(ag_dense_rank(COLS, M, P, 1e-9, NULL) == 3);
  free(A), free(P);
}

int main(void) {
  uint64_t seed = 7;
  test_find();
  test_solve(&seed);
  test_rank_and_inverse(&seed);
  return ag_check_report();
}
