/* SPDX-License-Identifier: MIT
 * The text of sparse_core.h: solutions of 1 - mu J, real and complex, against the matrix itself; a pivot that is lost
 * beside its row shows, also where the solution would be finite. */
#include <complex.h>
#include <math.h>
#include <stdlib.h>

#include "expr/expr.h"
#include "expr/vmath.h"
#include "step/factor.h"
#include "tests/check.h"

#define AG_STEP_QUALIFIER static __attribute__((unused))
#define AG_STEP_FN(name) test_##name
#include "step/sparse_core.h"

/* A ring with some chords: n unknowns, entries row by row. */
typedef struct ring {
  int n, n_entry, *row, *col, *table;
  double *J;
} ring;

static double noise(int i) { return sin(12.9898 * (i + 1)) * 0.9; }

static ring make_ring(int n) {
  ring r = {.n = n, .row = calloc((size_t)(4 * n), sizeof(int)), .col = calloc((size_t)(4 * n), sizeof(int))};
  r.J = calloc((size_t)(4 * n), sizeof(double));
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      if (i == j || j == (i + 1) % n || i == (j + 1) % n || (i == 0 && j == n / 2)) {
        r.J[r.n_entry] = noise(r.n_entry);
        r.row[r.n_entry] = i, r.col[r.n_entry++] = j;
      }
  r.table = ag_lu_table(&(ag_pattern){n, r.n_entry, r.row, r.col, NULL});
  return r;
}

static void done(ring *r) { free(r->row), free(r->col), free(r->J), free(r->table); }

/* Conditions of some hundred: errors of 1e-13. */
static void check_ring(int n) {
  ring r = make_ring(n);
  size_t size = (size_t)(r.table[AG_LU_SQUARE] + n);
  double *A = calloc(size, sizeof *A), *B = calloc(size, sizeof *B), *b = calloc((size_t)n, sizeof *b),
         *c = calloc((size_t)n, sizeof *c);
  complex double *left = calloc((size_t)n, sizeof *left), mu = 0.3 + 0.2 * I;
  test_factor_sparse(r.table, r.J, 0.3, 1, A);
  for (int i = 0; i < n; i++) b[i] = noise(3 * i), left[i] = b[i];
  test_solved_sparse(r.table, A, b);
  for (int i = 0; i < n; i++) left[i] -= b[i];
  for (int e = 0; e < r.n_entry; e++) left[r.row[e]] += 0.3 * r.J[e] * b[r.col[e]];
  for (int i = 0; i < n; i++) AG_CHECK_NEAR(cabs(left[i]), 0, 1e-13);
  test_factor_sparse_complex(r.table, r.J, creal(mu), cimag(mu), A, B);
  for (int i = 0; i < n; i++) b[i] = noise(3 * i), c[i] = noise(5 * i), left[i] = b[i] + I * c[i];
  test_solved_sparse_complex(r.table, A, B, b, c);
  for (int i = 0; i < n; i++) left[i] -= b[i] + I * c[i];
  for (int e = 0; e < r.n_entry; e++) left[r.row[e]] += mu * r.J[e] * (b[r.col[e]] + I * c[r.col[e]]);
  for (int i = 0; i < n; i++) AG_CHECK_NEAR(cabs(left[i]), 0, 1e-13);
  free(A), free(B), free(b), free(c), free(left);
  done(&r);
}

/* pivot x + y = 1, -x + y = 2: elimination in this order has an error of 1e-16 over the pivot. */
static void check_pivot(double pivot, bool solved) {
  const int row[] = {0, 0, 1, 1}, col[] = {0, 1, 0, 1};
  int *table = ag_lu_table(&(ag_pattern){2, 4, row, col, NULL}), x = table[AG_LU_HEAD], y = 1 - x;
  double J[4], A[16] = {0}, B[16] = {0}, b[2], c[2] = {0, 0};
  J[2 * x + x] = 1 - pivot, J[2 * x + y] = -1, J[2 * y + x] = 1, J[2 * y + y] = 0;
  b[x] = 1, b[y] = 2;
  test_factor_sparse(table, J, 1, 1, A);
  test_solved_sparse(table, A, b);
  AG_CHECK((isfinite(b[0]) && isfinite(b[1])) == solved);
  if (solved) AG_CHECK_NEAR(b[x], -1 / (1 + pivot), 1e-4);
  b[x] = 1, b[y] = 2;
  test_factor_sparse_complex(table, J, 1, 0, A, B);
  test_solved_sparse_complex(table, A, B, b, c);
  AG_CHECK((isfinite(b[0]) && isfinite(b[1])) == solved);
  if (solved) AG_CHECK_NEAR(b[x], -1 / (1 + pivot), 1e-4);
  free(table);
}

/* The matrix itself: by = 0, mu = -1. */
static void check_plain(void) {
  const int row[] = {0, 1, 1, 2, 2}, col[] = {0, 0, 1, 1, 2};
  const double J[] = {2, 1, 4, -1, 5};
  int *table = ag_lu_table(&(ag_pattern){3, 5, row, col, NULL});
  double A[32] = {0}, b[3] = {2, 9, 13};
  test_factor_sparse(table, J, -1, 0, A);
  test_solved_sparse(table, A, b);
  for (int i = 0; i < 3; i++) AG_CHECK_NEAR(b[i], i + 1, 1e-15);
  free(table);
}

int main(void) {
  check_ring(3);
  check_ring(40);
  for (double pivot = 1; pivot > 1e-11; pivot /= 10) check_pivot(pivot, true);
  check_pivot(1e-13, false);
  check_pivot(1e-15, false);
  check_pivot(0, false);
  check_plain();
  return ag_check_report();
}
