/* SPDX-License-Identifier: MIT
 * How a basis that is data turns along the motion. With S the rows of a basis, K = S S^T = L L^T and N its data:
 *   left   the smallest pivot of B^T B = 1 - (S N)^T K^-1 S N: 1 where N was chosen, cos^2 of the angle turned by since
 *   rank   the smallest pivot of K with its rows scaled to 1: 0 where the rows lose rank
 *   rate   the largest squared rate at which an orthonormal row L^-1 S turns out of the span of all rows: the diagonal
 * of L^-1 (S' S'^T - S' S^T K^-1 S S'^T) L^-T. */
#include "mech/mech_internal.h"

/* Row i of a symmetric matrix, of which the lower triangle is used, less a multiple of row p; the multiple. */
static ag_id take_off(ag_graph *g, int n, ag_id *A, int i, int p) {
  ag_id l = ag_div(g, A[i * n + p], A[p * n + p]);
  for (int j = p + 1; j <= i; j++) A[i * n + j] = ag_sub(g, A[i * n + j], ag_mul(g, l, A[j * n + p]));
  return l;
}

/* The smallest of `least` and the pivots of A. */
static ag_id least_pivot(ag_graph *g, int n, ag_id *A, ag_id least) {
  for (int p = 0; p < n; p++)
    for (int i = p + 1; i < n; i++) (void)take_off(g, n, A, i, p);
  for (int p = 0; p < n; p++) least = ag_apply2(g, AG_OP_MIN, least, A[p * n + p]);
  return least;
}

static ag_id *entries(derive *d, ag_id A) {
  int n = ag_node_rows(d->g, A);
  ag_id *x = AG_NEWN(d->sys->arena, ag_id, n * n + 1);
  for (int i = 0; i < n * n; i++) x[i] = ag_entry(d->g, A, i / n, i % n);
  return x;
}

/* Rows scaled to 1. */
static ag_id rank_left(derive *d, ag_id K, ag_id least) {
  ag_graph *g = d->g;
  int k = ag_node_rows(g, K);
  ag_id *A = entries(d, K), *size = AG_NEWN(d->sys->arena, ag_id, k + 1);
  for (int i = 0; i < k; i++) size[i] = A[i * k + i];
  for (int i = 0; i < k; i++)
    for (int j = 0; j <= i; j++) {
      ag_id norms = ag_apply1(g, AG_OP_SQRT, ag_mul(g, size[i], size[j]));
      A[i * k + j] = ag_div(g, A[i * k + j], norms);
    }
  return least_pivot(g, k, A, least);
}

static ag_id basis_left(derive *d, const ag_basis *basis, ag_id S, ag_id K, ag_id least) {
  ag_graph *g = d->g;
  int m = basis->n_y - basis->n_w;
  if (!m) return least;
  ag_id A = ag_mul(g, S, basis->N), At = ag_transpose(g, A);
  ag_id *G = entries(d, ag_mul(g, At, ag_solve(g, K, A, AG_SOLVE_SPD))), one = ag_num(g, 1);
  for (int i = 0; i < m * m; i++) G[i] = i % (m + 1) == 0 ? ag_sub(g, one, G[i]) : ag_neg(g, G[i]);
  return least_pivot(g, m, G, least);
}

static ag_id rate_of(derive *d, ag_id S, ag_id K, ag_id most) {
  ag_graph *g = d->g;
  int k = ag_node_rows(g, K);
  ag_id rate;
  ag_along_motion(d, d->velocity, 1, &S, &rate);
  ag_id rate_t = ag_transpose(g, rate), C = ag_mul(g, S, rate_t), Ct = ag_transpose(g, C);
  ag_id off = ag_mul(g, Ct, ag_solve(g, K, C, AG_SOLVE_SPD)), square = ag_mul(g, rate, rate_t);
  ag_id *P = entries(d, ag_sub(g, square, off)), *L = entries(d, K);
  for (int j = 0; j < k; j++) /* P <- L^-1 P L^-T with unit L, one elementary step after the other */
    for (int i = j + 1; i < k; i++) {
      ag_id l = take_off(g, k, L, i, j);
      for (int c = 0; c < k; c++) P[i * k + c] = ag_sub(g, P[i * k + c], ag_mul(g, l, P[j * k + c]));
      for (int c = 0; c < k; c++) P[c * k + i] = ag_sub(g, P[c * k + i], ag_mul(g, l, P[c * k + j]));
    }
  for (int i = 0; i < k; i++) most = ag_apply2(g, AG_OP_MAX, most, ag_div(g, P[i * k + i], L[i * k + i]));
  return most;
}

void ag_turn(derive *d) {
  ag_graph *g = d->g;
  ag_id left = ag_num(g, 1), rank = left, rate = ag_num(g, 0);
  for (int b = 0; b < d->sys->n_basis; b++) {
    const ag_basis *basis = &d->sys->bases[b];
    ag_id S = basis->W ? ag_mul(g, basis->W, d->S_y[b]) : d->S_y[b], K = ag_mul(g, S, ag_transpose(g, S));
    left = basis_left(d, basis, S, K, left);
    rank = rank_left(d, K, rank);
    rate = rate_of(d, S, K, rate);
  }
  d->turn[0] = left, d->turn[1] = rank, d->turn[2] = rate;
}
