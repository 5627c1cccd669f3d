/* SPDX-License-Identifier: MIT
 * Dense linear algebra, see dense.h. LAPACK is column-major: a row-major A is the column-major A^T, and each call below
 * is arranged so that no matrix is transposed more often than needed. */
#include "math/dense.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "math/blocks.h"
#include "math/lapack.h"
#include "math/svd.h"

/* Up to this many unknowns the solvers are loops: faster than LAPACK there, which need not be loaded. */
enum { SMALL = 32 };

static double *new_numbers(int m, int n) {
  size_t count = (size_t)m * (size_t)n;
  return ag_heap_alloc((count ? count : 1) * sizeof(double));
}

static double *copy_of(int m, int n, const double *A) {
  double *C = new_numbers(m, n);
  if (m > 0 && n > 0) memcpy(C, A, (size_t)m * (size_t)n * sizeof *C);
  return C;
}

static bool all_finite(int m, int n, const double *A) {
  for (int i = 0; i < m * n; i++)
    if (!isfinite(A[i])) return false;
  return true;
}

static void swap_rows(int n, double *a, double *b) {
  for (int j = 0; j < n; j++) {
    double x = a[j];
    a[j] = b[j];
    b[j] = x;
  }
}

/* Elimination with row pivoting, B carried along, then back substitution. */
static int solve_small(int n, int m, double *A, double *B) {
  for (int k = 0; k < n; k++) {
    int p = k;
    for (int i = k + 1; i < n; i++)
      if (fabs(A[i * n + k]) > fabs(A[p * n + k])) p = i;
    if (A[p * n + k] == 0) return k + 1;
    if (p != k) {
      swap_rows(n - k, A + k * n + k, A + p * n + k);
      swap_rows(m, B + k * m, B + p * m);
    }
    double inverse = 1 / A[k * n + k];
    for (int i = k + 1; i < n; i++) {
      double l = A[i * n + k] * inverse;
      for (int j = k + 1; j < n; j++) A[i * n + j] -= l * A[k * n + j];
      for (int j = 0; j < m; j++) B[i * m + j] -= l * B[k * m + j];
    }
  }
  for (int k = n - 1; k >= 0; k--)
    for (int j = 0; j < m; j++) {
      double x = B[k * m + j];
      for (int i = k + 1; i < n; i++) x -= A[k * n + i] * B[i * m + j];
      B[k * m + j] = x / A[k * n + k];
    }
  return 0;
}

/* Our lower triangle is LAPACK's upper one. */
static int cholesky_large(int n, double *A) {
  const ag_lapack *lapack = ag_lapack_begin();
  if (!lapack) return -3;
  return ag_lapack_end(lapack->dpotrf(LAPACK_COL_MAJOR, 'U', n, A, n));
}

static int cholesky_small(int n, double *A) {
  for (int k = 0; k < n; k++) {
    double d = A[k * n + k];
    for (int j = 0; j < k; j++) d -= A[k * n + j] * A[k * n + j];
    if (!(d > 0)) return k + 1;
    d = sqrt(d);
    A[k * n + k] = d;
    for (int i = k + 1; i < n; i++) {
      double x = A[i * n + k];
      for (int j = 0; j < k; j++) x -= A[i * n + j] * A[k * n + j];
      A[i * n + k] = x / d;
    }
  }
  return 0;
}

/* The largest column sum. */
static double norm1(int n, const double *A) {
  double largest = 0;
  for (int j = 0; j < n; j++) {
    double sum = 0;
    for (int i = 0; i < n; i++) sum += fabs(A[i * n + j]);
    if (sum > largest) largest = sum;
  }
  return largest;
}

static double rcond_small(int n, const double *A) {
  double C[SMALL * SMALL], inverse[SMALL * SMALL] = {0};
  memcpy(C, A, (size_t)(n * n) * sizeof *C);
  for (int i = 0; i < n; i++) inverse[i * n + i] = 1;
  if (solve_small(n, n, C, inverse)) return 0;
  double r = 1 / (norm1(n, A) * norm1(n, inverse));
  return r > 0 ? fmin(r, 1) : 0; /* overflow gives 0 or NaN: no correct digit */
}

/* The infinity norm of A^T is the 1-norm of A, so that A^T need not be transposed back. */
static double rcond_large(int n, const double *A) {
  double *C = copy_of(n, n, A), r = 0;
  int *pivot = ag_heap_alloc((size_t)n * sizeof *pivot);
  const ag_lapack *lapack = ag_lapack_begin();
  if (lapack) {
    int info = lapack->dgetrf(LAPACK_COL_MAJOR, n, n, C, n, pivot);
    if (!info) info = lapack->dgecon(LAPACK_COL_MAJOR, 'I', n, C, n, norm1(n, A), &r);
    if (ag_lapack_end(info)) r = 0;
  }
  free(pivot);
  free(C);
  return r;
}

static double norm2(int n, const double *x) {
  double largest = 0, sum = 0;
  for (int i = 0; i < n; i++) largest = fmax(largest, fabs(x[i]));
  if (largest == 0) return 0;
  for (int i = 0; i < n; i++) sum += (x[i] / largest) * (x[i] / largest);
  return largest * sqrt(sum);
}

/* x minus its projection on r orthonormal rows Q, twice: the second pass removes what rounding left. */
static void orthogonalise(int n, int r, const double *Q, double *x) {
  for (int pass = 0; pass < 2; pass++)
    for (int k = 0; k < r; k++) {
      double c = 0;
      for (int j = 0; j < n; j++) c += Q[k * n + j] * x[j];
      for (int j = 0; j < n; j++) x[j] -= c * Q[k * n + j];
    }
}

/* Makes the entry of largest size positive: a sign that does not depend on the library. Of entries equal up to
 * rounding the first decides. */
static void fix_sign(int n, double *x) {
  double largest = 0;
  for (int i = 0; i < n; i++) largest = fmax(largest, fabs(x[i]));
  int k = 0;
  while (k < n - 1 && fabs(x[k]) < (1 - 1e-10) * largest) k++;
  if (x[k] < 0)
    for (int i = 0; i < n; i++) x[i] = -x[i];
}

/* Does eigenvalue a come before b? */
static bool eig_before(double re_a, double im_a, double re_b, double im_b) {
  if (re_a != re_b) return re_a > re_b;
  if (fabs(im_a) != fabs(im_b)) return fabs(im_a) < fabs(im_b);
  return im_a > im_b;
}

/* A = U diag(s) V^T. LAPACK sees A^T = V diag(s) U^T, so its left vectors are our right ones: V column-major (n x n for
 * job_v 'A', n x k for 'S'), Ut column-major k x m, k = min(m, n); not touched for job 'N'. */
static int svd(int m, int n, const double *A, double *s, double *V, double *Ut, char job_v, char job_u) {
  if (!all_finite(m, n, A)) return -1;
  int k = m < n ? m : n, info = -3;
  if (m <= SMALL && n <= SMALL)
    return ag_svd_small(m, n, A, s, job_v == 'A' ? n : k, job_v == 'N' ? NULL : V, job_u == 'N' ? NULL : Ut);
  double *C = copy_of(m, n, A), *spare = new_numbers(1, k);
  const ag_lapack *lapack = ag_lapack_begin();
  if (lapack) {
    info = lapack->dgesvd(LAPACK_COL_MAJOR, job_v, job_u, n, m, C, n, s, V, n, Ut, k > 0 ? k : 1, spare);
    info = ag_lapack_end(info) ? -2 : 0;
  }
  free(spare);
  free(C);
  return info;
}

static int solve_large(int n, int m, double *A, double *B) {
  int *pivot = ag_heap_alloc((size_t)n * sizeof *pivot), info = -3;
  const ag_lapack *lapack = ag_lapack_begin();
  if (lapack) info = ag_lapack_end(lapack->dgesv(LAPACK_ROW_MAJOR, n, m, A, n, pivot, B, m > 0 ? m : 1));
  free(pivot);
  return info;
}

/* Solves block k of A X = B: the rows of B give rows of X at the places of the columns. */
static int solve_block(const ag_blocks *b, int k, int n, int m, const double *A, const double *B, double *X) {
  const int *row = b->row + b->row_at[k], *col = b->col + b->col_at[k];
  int size = ag_block_rows(b, k);
  double *C = new_numbers(size, size), *Y = new_numbers(size, m);
  ag_block_gather(b, k, n, A, C);
  for (int i = 0; i < size; i++) memcpy(Y + i * m, B + row[i] * m, (size_t)m * sizeof *Y);
  int info = size <= SMALL ? solve_small(size, m, C, Y) : solve_large(size, m, C, Y);
  for (int i = 0; i < size; i++) memcpy(X + col[i] * m, Y + i * m, (size_t)m * sizeof *X);
  free(C);
  free(Y);
  return info;
}

/* Every row and column in a square block: otherwise the matrix is singular. */
static bool blocks_square(const ag_blocks *b, int n) {
  bool square = b->row_at[b->n] == n;
  for (int k = 0; k < b->n; k++) square = square && ag_block_rows(b, k) == ag_block_cols(b, k);
  return square;
}

int ag_dense_solve(int n, int m, double *A, double *B) {
  if (n == 0) return 0;
  if (!all_finite(n, n, A) || !all_finite(n, m, B)) return -1;
  if (n <= SMALL) return solve_small(n, m, A, B);
  ag_blocks b;
  ag_blocks_init(&b, n, n, A);
  int info = blocks_square(&b, n) ? 0 : n;
  if (!info && b.n == 1) {
    info = solve_large(n, m, A, B);
  } else if (!info) {
    double *X = new_numbers(n, m);
    for (int k = 0; k < b.n && !info; k++) info = solve_block(&b, k, n, m, A, B, X);
    memcpy(B, X, (size_t)n * (size_t)m * sizeof *B);
    free(X);
  }
  ag_blocks_done(&b);
  return info;
}

/* Norms of A and of its inverse are the largest of the blocks. */
static double rcond_blocks(int n, const double *A) {
  ag_blocks b;
  double size = norm1(n, A), inverse = 0;
  ag_blocks_init(&b, n, n, A);
  bool good = blocks_square(&b, n);
  for (int k = 0; k < b.n && good; k++) {
    int m = ag_block_rows(&b, k);
    double *C = new_numbers(m, m);
    ag_block_gather(&b, k, n, A, C);
    double r = m <= SMALL ? rcond_small(m, C) : rcond_large(m, C);
    inverse = fmax(inverse, 1 / (r * norm1(m, C)));
    free(C);
  }
  ag_blocks_done(&b);
  double r = 1 / (size * inverse);
  return good && r > 0 ? fmin(r, 1) : 0;
}

double ag_dense_rcond(int n, const double *A) {
  if (n == 0) return 1;
  if (!all_finite(n, n, A)) return 0;
  return n <= SMALL ? rcond_small(n, A) : rcond_blocks(n, A);
}

/* Marks the rows of A (m x n) that are independent of those before them; returns how many. A row chosen at a small
 * distance d adds a direction that is known to eps/d only: nearer than that nothing is independent. */
static int mark_rank(int m, int n, const double *A, double tol, double largest, bool *independent) {
  static const double ROUNDING = 64 * DBL_EPSILON; /* of a row, with what it was computed from */
  double *Q = new_numbers(m < n ? m : n, n), *x = new_numbers(1, n), nearest = 1;
  int r = 0;
  for (int i = 0; i < m; i++) {
    double norm = norm2(n, A + i * n), distance = 0;
    if (r < n && norm > 16 * DBL_EPSILON * largest) {
      for (int j = 0; j < n; j++) x[j] = A[i * n + j] / norm;
      orthogonalise(n, r, Q, x);
      distance = norm2(n, x);
    }
    independent[i] = distance > fmax(tol, ROUNDING / nearest);
    if (!independent[i]) continue;
    nearest = fmin(nearest, distance);
    for (int j = 0; j < n; j++) Q[r * n + j] = x[j] / distance;
    r++;
  }
  free(x);
  free(Q);
  return r;
}

int ag_dense_rank(int m, int n, const double *A, double tol, int *pivot_rows) {
  if (!all_finite(m, n, A)) return -1;
  bool *independent = ag_heap_alloc((size_t)m + 1), *part = ag_heap_alloc((size_t)m + 1);
  double largest = 0;
  int r = 0, at = 0;
  ag_blocks b;
  ag_blocks_init(&b, m, n, A);
  for (int i = 0; i < m; i++) largest = fmax(largest, norm2(n, A + i * n));
  for (int k = 0; k < b.n; k++) {
    int rows = ag_block_rows(&b, k), cols = ag_block_cols(&b, k);
    double *C = new_numbers(rows, cols);
    ag_block_gather(&b, k, n, A, C);
    r += mark_rank(rows, cols, C, tol, largest, part);
    for (int i = 0; i < rows; i++) independent[b.row[b.row_at[k] + i]] = part[i];
    free(C);
  }
  for (int pass = 0; pass < 2 && pivot_rows; pass++)
    for (int i = 0; i < m; i++)
      if (independent[i] == !pass) pivot_rows[at++] = i;
  ag_blocks_done(&b);
  free(independent);
  free(part);
  return r;
}

int ag_dense_null(int m, int n, const double *A, double tol, double *N) {
  if (n == 0) return 0;
  int k = m < n ? m : n, r = 0, info = 0;
  double *s = new_numbers(1, k), *V = new_numbers(n, n);
  if (k > 0) info = svd(m, n, A, s, V, NULL, 'A', 'N');
  else
    for (int i = 0; i < n; i++) V[i * n + i] = 1;
  while (r < k && s[r] > tol * s[0]) r++;
  for (int j = r; j < n && info == 0; j++) {
    fix_sign(n, V + j * n);
    for (int i = 0; i < n; i++) N[i * (n - r) + j - r] = V[j * n + i];
  }
  free(V);
  free(s);
  return info ? info : r;
}

void ag_dense_pinv(int m, int n, const double *A, double *P) {
  ag_dense_pinv_within(m, n, A, m < n ? m : n, (m > n ? m : n) * DBL_EPSILON, P);
}

/* The singular values and vectors of a block. */
typedef struct parts {
  int m, n, k;
  double *s, *V, *Ut;
} parts;

static int parts_init(parts *p, const ag_blocks *b, int block, int n, const double *A) {
  *p = (parts){.m = ag_block_rows(b, block), .n = ag_block_cols(b, block)};
  p->k = p->m < p->n ? p->m : p->n;
  p->s = new_numbers(1, p->k), p->V = new_numbers(p->n, p->k), p->Ut = new_numbers(p->k, p->m);
  double *C = new_numbers(p->m, p->n);
  ag_block_gather(b, block, n, A, C);
  int info = svd(p->m, p->n, C, p->s, p->V, p->Ut, 'S', 'S');
  free(C);
  return info;
}

static int by_size(const void *a, const void *b) {
  const double *x = a, *y = b;
  return *x < *y ? 1 : *x > *y ? -1 : 0;
}

/* Adds the inverse of a block to P (m columns): singular values above cut. */
static void add_inverse(const parts *p, const int *row, const int *col, double cut, int m, double *P) {
  for (int i = 0; i < p->n; i++)
    for (int j = 0; j < p->m; j++) {
      double sum = 0;
      for (int l = 0; l < p->k && p->s[l] > cut; l++) sum += p->V[l * p->n + i] / p->s[l] * p->Ut[j * p->k + l];
      P[col[i] * m + row[j]] = sum;
    }
}

/* The same block by block: the cut is that of all singular values together. */
static void pinv_blocks(int m, int n, const double *A, int rank, double tol, const ag_blocks *b, double *P) {
  parts *p = ag_heap_alloc(sizeof *p * (size_t)(b->n + 1));
  double *all = new_numbers(1, m + n);
  int n_all = 0, info = 0;
  for (int k = 0; k < b->n; k++) {
    if (parts_init(&p[k], b, k, n, A)) info = -1;
    for (int l = 0; l < p[k].k; l++) all[n_all++] = p[k].s[l];
  }
  qsort(all, (size_t)n_all, sizeof *all, by_size);
  double cut = tol * all[0];
  if (rank < n_all) cut = fmax(cut, all[rank]);
  for (int i = 0; i < m * n; i++) P[i] = info ? NAN : 0;
  for (int k = 0; k < b->n; k++) {
    if (!info) add_inverse(&p[k], b->row + b->row_at[k], b->col + b->col_at[k], cut, m, P);
    free(p[k].s), free(p[k].V), free(p[k].Ut);
  }
  free(all);
  free(p);
}

static void pinv_whole(int m, int n, const double *A, int rank, double tol, double *P) {
  int k = m < n ? m : n;
  double *s = new_numbers(1, k), *V = new_numbers(n, k), *Ut = new_numbers(k, m);
  int info = svd(m, n, A, s, V, Ut, 'S', 'S');
  double cut = tol * s[0];
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) {
      double sum = info ? NAN : 0;
      for (int l = 0; l < k && l < rank; l++)
        if (s[l] > cut) sum += V[l * n + i] / s[l] * Ut[j * k + l];
      P[i * m + j] = sum;
    }
  free(Ut);
  free(V);
  free(s);
}

void ag_dense_pinv_within(int m, int n, const double *A, int rank, double tol, double *P) {
  if (m == 0 || n == 0) return;
  ag_blocks b = {0};
  if (m > SMALL || n > SMALL) ag_blocks_init(&b, m, n, A);
  if (b.n > 1) pinv_blocks(m, n, A, rank, tol, &b, P);
  else pinv_whole(m, n, A, rank, tol, P);
  ag_blocks_done(&b);
}

double ag_dense_range(int m, int n, const double *A, int rank, double *W) {
  int k = m < n ? m : n;
  if (rank == 0 || rank > k) return rank ? 0 : 1;
  double *s = new_numbers(1, k), *V = new_numbers(n, k), *Ut = new_numbers(k, m);
  int info = svd(m, n, A, s, V, Ut, 'S', 'S');
  for (int l = 0; l < rank && !info; l++)
    for (int j = 0; j < m; j++) W[l * m + j] = Ut[j * k + l];
  double ratio = info ? -1 : s[0] > 0 ? s[rank - 1] / s[0] : 0;
  free(Ut);
  free(V);
  free(s);
  return ratio;
}

int ag_dense_svals(int m, int n, const double *A, double *s) {
  return m == 0 || n == 0 ? 0 : svd(m, n, A, s, NULL, NULL, 'N', 'N');
}

int ag_dense_cholesky(int n, double *A) {
  int info = 0;
  if (n == 0) return 0;
  for (int i = 0; i < n; i++)
    for (int j = 0; j <= i; j++)
      if (!isfinite(A[i * n + j])) return -1;
  info = n <= SMALL ? cholesky_small(n, A) : cholesky_large(n, A);
  for (int i = 0; i < n; i++)
    for (int j = i + 1; j < n; j++) A[i * n + j] = 0;
  return info;
}

void ag_dense_cholesky_solve(int n, int m, const double *L, double *B) {
  for (int j = 0; j < m; j++) {
    for (int i = 0; i < n; i++) {
      double x = B[i * m + j];
      for (int k = 0; k < i; k++) x -= L[i * n + k] * B[k * m + j];
      B[i * m + j] = x / L[i * n + i];
    }
    for (int i = n - 1; i >= 0; i--) {
      double x = B[i * m + j];
      for (int k = i + 1; k < n; k++) x -= L[k * n + i] * B[k * m + j];
      B[i * m + j] = x / L[i * n + i];
    }
  }
}

int ag_dense_eig(int n, const double *A, double *re, double *im) {
  if (n == 0) return 0;
  if (!all_finite(n, n, A)) return -1;
  double *C = copy_of(n, n, A); /* A^T has the same eigenvalues */
  int info = -3;
  const ag_lapack *lapack = ag_lapack_begin();
  if (lapack)
    info = ag_lapack_end(lapack->dgeev(LAPACK_COL_MAJOR, 'N', 'N', n, C, n, re, im, NULL, 1, NULL, 1)) ? -2 : 0;
  free(C);
  if (info) return info;
  for (int i = 1; i < n; i++)
    for (int j = i; j > 0 && eig_before(re[j], im[j], re[j - 1], im[j - 1]); j--) {
      swap_rows(1, re + j, re + j - 1);
      swap_rows(1, im + j, im + j - 1);
    }
  return 0;
}

int ag_dense_eigsym(int n, const double *A, double *w, double *V) {
  if (n == 0) return 0;
  for (int i = 0; i < n; i++)
    for (int j = 0; j <= i; j++)
      if (!isfinite(A[i * n + j])) return -1;
  double *C = copy_of(n, n, A);
  int info = -3;
  for (int i = 0; i < n; i++) /* the other triangle is not read, but LAPACKE looks for NaN in all of it */
    for (int j = i + 1; j < n; j++) C[i * n + j] = A[j * n + i];
  const ag_lapack *lapack = ag_lapack_begin();
  if (lapack) info = ag_lapack_end(lapack->dsyev(LAPACK_COL_MAJOR, V ? 'V' : 'N', 'U', n, C, n, w)) ? -2 : 0;
  for (int j = 0; j < n && V && !info; j++) {
    fix_sign(n, C + j * n);
    for (int i = 0; i < n; i++) V[i * n + j] = C[j * n + i];
  }
  free(C);
  return info ? -2 : 0;
}
