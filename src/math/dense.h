/* SPDX-License-Identifier: MIT
 * Small dense linear algebra; the only access to LAPACK. Used wherever a matrix is solved, ranked or analysed outside
 * generated kernels.
 *
 * All matrices are row-major without padding: entry (i, j) of an m x n matrix is A[i * n + j]. Sizes may be 0. Matrices
 * may not overlap unless said so. Up to 32 unknowns the solvers are loops of our own (no call, no allocation, the same
 * bits everywhere); above that, and for every spectral question, LAPACK does the work, whose last bits depend on the
 * library. Functions that return int give a negative number when an entry is not finite, an iteration does not
 * converge, or LAPACK cannot be loaded and no call is guarded (base/heap.h).
 *
 * LAPACK is loaded by the first call that needs it and works on the calling thread alone (lapack.c). Any number of
 * threads may call these functions. */
#ifndef AG_MATH_DENSE_H
#define AG_MATH_DENSE_H

/* Solves A X = B by elimination with row pivoting. A (n x n) is destroyed, B (n x m) becomes X. Returns 0; k > 0 when
 * the k-th pivot is exactly zero (B is then meaningless). Nearly singular is not an error: ask ag_dense_rcond. */
int ag_dense_solve(int n, int m, double *A, double *B);

/* 1 / (|A|_1 |A^-1|_1), between 0 (singular, or not finite) and 1; exact up to n = 32, above LAPACK's estimate. */
double ag_dense_rcond(int n, const double *A);

/* Rank of the rows of A (m x n), each first scaled to norm 1. Going from the first row to the last, a row is
 * independent when its distance from the span of those already chosen exceeds tol; pivot_rows (NULL, or room for m)
 * receives the chosen rows, ascending, then the dependent ones, ascending. A row below 16 epsilon times the largest
 * row is zero; a distance that may be rounding error, amplified by rows that are nearly dependent, counts as none. */
int ag_dense_rank(int m, int n, const double *A, double tol, int *pivot_rows);

/* Orthonormal basis of ker A, as the columns of N (n x (n - r), room for n * n). Returns the rank r: the number of
 * singular values above tol times the largest. In each column the entry of largest size is positive. */
int ag_dense_null(int m, int n, const double *A, double tol, double *N);

/* Moore-Penrose inverse P (n x m) of A (m x n): the shortest least-squares solution. Singular values below
 * max(m, n) epsilon times the largest count as zero. All NaN when A is not finite. */
void ag_dense_pinv(int m, int n, const double *A, double *P);
/* The same with no more than the `rank` largest singular values, and of these only those above tol times the largest.
 */
void ag_dense_pinv_within(int m, int n, const double *A, int rank, double tol, double *P);

/* Orthonormal rows of W (rank x m) that span the range of A (m x n) as far as its `rank` largest singular values make
 * it up: their left singular vectors. Returns the last of these values divided by the largest; negative on failure. */
double ag_dense_range(int m, int n, const double *A, int rank, double *W);

/* Singular values of A (m x n), descending; s has room for min(m, n). Returns 0. */
int ag_dense_svals(int m, int n, const double *A, double *s);

/* A = L L^T in place: L in the lower triangle, zeros above it; only the lower triangle of A is read. Returns 0; k > 0
 * when the leading k x k block is not positive definite. */
int ag_dense_cholesky(int n, double *A);
/* Solves L L^T X = B in place of B (n x m), L as made by ag_dense_cholesky. */
void ag_dense_cholesky_solve(int n, int m, const double *L, double *B);

/* Eigenvalues re + i im of A, by descending real part, then ascending |im|, a conjugate pair with im > 0 first.
 * Returns 0. */
int ag_dense_eig(int n, const double *A, double *re, double *im);

/* Eigenvalues of a symmetric A, ascending, and (V not NULL) orthonormal eigenvectors as the columns of V (n x n), the
 * entry of largest size positive. Only the lower triangle of A is read. Returns 0. */
int ag_dense_eigsym(int n, const double *A, double *w, double *V);
#endif
