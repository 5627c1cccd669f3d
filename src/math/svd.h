/* SPDX-License-Identifier: MIT
 * Singular values and vectors of small matrices. Used by dense.c, which passes larger ones to LAPACK: loading that
 * takes as long as everything else that a short command does, and its last digits depend on the machine. */
#ifndef AG_MATH_SVD_H
#define AG_MATH_SVD_H

/* A = U diag(s) V^T for A (m x n, row-major, finite numbers), k = min(m, n) values in descending order. V: its columns
 * one after the other, n_v of them, k to n. Ut: entry (j, l) of U at j k + l. Either may be NULL. Each value is
 * accurate relative to itself where rows of different sizes make A graded. 0, or -2: no convergence. */
int ag_svd_small(int m, int n, const double *A, double *s, int n_v, double *V, double *Ut);
#endif
