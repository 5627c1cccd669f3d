/* SPDX-License-Identifier: MIT
 * A worker: the rows of the constraints as they enter solves, independent ones or combinations that are; and states
 * moved onto the position level. */
#include <math.h>
#include <string.h>

#include "math/dense.h"
#include "mech/work_internal.h"

/* Relative size of singular values that count as lost rank. */
static const double RANK_LOST = 1e-10;

static bool all_finite(int n, const double *v) {
  for (int i = 0; i < n; i++)
    if (!isfinite(v[i])) return false;
  return true;
}

/* [M -S^T; S 0] into w->K, for any k x n matrix S. */
static void saddle_matrix(ag_work *w, const double *M, int k, const double *S) {
  int n = w->sys->n_xi, m = n + k;
  memset(w->K, 0, sizeof(double) * (size_t)(m * m));
  for (int i = 0; i < n; i++) memcpy(w->K + i * m, M + i * n, sizeof(double) * (size_t)n);
  for (int r = 0; r < k; r++)
    for (int j = 0; j < n; j++) {
      w->K[(n + r) * m + j] = S[r * n + j];
      w->K[j * m + n + r] = -S[r * n + j];
    }
}

/* ---- more rows than are independent ---- */

/* out = W S, W r x k and S k x n. */
static void product(int r, int k, int n, const double *W, const double *S, double *out) {
  memset(out, 0, sizeof(double) * (size_t)(r * n));
  for (int i = 0; i < r; i++)
    for (int l = 0; l < k; l++)
      for (int j = 0; W[i * k + l] != 0 && j < n; j++) out[i * n + j] += W[i * k + l] * S[l * n + j];
}

int ag_rows_matrix(ag_work *w, const double *M, const double *S) {
  int n = w->sys->n_xi, k = w->sys->n_lambda, r = w->sys->rank;
  if (r == k) {
    saddle_matrix(w, M, k, S);
    return k;
  }
  if (!(ag_dense_range(k, n, S, r, w->W) > RANK_LOST)) return -1;
  product(r, k, n, w->W, S, w->WS);
  saddle_matrix(w, M, r, w->WS);
  return r;
}

bool ag_rows_solve(ag_work *w, const double *M, const double *S, const double *right) {
  int n = w->sys->n_xi, k = w->sys->n_lambda, r = ag_rows_matrix(w, M, S);
  double *low = w->b + n;
  if (r < 0) return false;
  if (r == k) {
    for (int i = 0; i < k; i++) low[i] = -right[i];
    return ag_dense_solve(n + k, 1, w->K, w->b) == 0;
  }
  for (int i = 0; i < r; i++) {
    low[i] = 0;
    for (int l = 0; l < k; l++) low[i] -= w->W[i * k + l] * right[l];
  }
  if (ag_dense_solve(n + r, 1, w->K, w->b)) return false;
  double *mu = ag_heap_alloc(sizeof(double) * (size_t)(r + 1)); /* lambda = W^T mu: of all that do, the smallest */
  memcpy(mu, low, sizeof(double) * (size_t)r);
  memset(low, 0, sizeof(double) * (size_t)k);
  for (int i = 0; i < r; i++)
    for (int l = 0; l < k; l++) low[l] += w->W[i * k + l] * mu[i];
  free(mu);
  return true;
}

bool ag_rows_choose(const ag_basis *basis, const double *S, double *c) {
  double *W = c + basis->c + basis->n_y * (basis->n_y - basis->n_w);
  return !basis->W || ag_dense_range(basis->n_s, basis->n_y, S, basis->n_w, W) > RANK_LOST;
}

const double *ag_rows_combined(ag_work *w, const ag_basis *basis, const double *S, const double *c) {
  if (!basis->W) return S;
  product(basis->n_w, basis->n_s, basis->n_y, c + basis->c + basis->n_y * (basis->n_y - basis->n_w), S, w->combined);
  return w->combined;
}

/* ---- position level ---- */

/* Rows that follow from others, but only where all of them hold: nearby G has small singular values in place of zeros,
 * and a solve would move the state along the constraints by any amount. So no more than the rank on the constraints is
 * used: delta = -L^-T A^+ g with M = L L^T and A = G L^-T, rows of norm 1. Without a factor of M the shortest delta. */
static void redundant_step(ag_work *w, const double *M, const double *G, const double *g, double *delta) {
  int n = w->sys->n_xi, k = w->sys->n_g;
  double *L = ag_heap_alloc(sizeof(double) * (size_t)(n * n)), *A = ag_heap_alloc(sizeof(double) * (size_t)(2 * k * n)),
         *P = A + k * n, *size = ag_heap_alloc(sizeof(double) * (size_t)k);
  memcpy(L, M, sizeof(double) * (size_t)(n * n));
  if (ag_dense_cholesky(n, L))
    for (int i = 0; i < n * n; i++) L[i] = i % (n + 1) == 0;
  for (int r = 0; r < k; r++) {
    double *a = A + r * n;
    for (int i = 0; i < n; i++) {
      a[i] = G[r * n + i];
      for (int j = 0; j < i; j++) a[i] -= L[i * n + j] * a[j];
      a[i] /= L[i * n + i];
      size[r] += a[i] * a[i];
    }
    size[r] = size[r] > 0 ? sqrt(size[r]) : 1;
    for (int i = 0; i < n; i++) a[i] /= size[r];
  }
  ag_dense_pinv_within(k, n, A, w->sys->g_rank, RANK_LOST, P);
  for (int i = n - 1; i >= 0; i--) {
    delta[i] = 0;
    for (int r = 0; r < k; r++) delta[i] -= P[i * k + r] * g[r] / size[r];
    for (int j = i + 1; j < n; j++) delta[i] -= L[j * n + i] * delta[j];
    delta[i] /= L[i * n + i];
  }
  free(L), free(A), free(size);
}

/* One Newton step onto g(q, t) = 0 in the metric M: [M -G^T; G 0] [delta; mu] = [0; -g]. */
static void position_step(ag_work *w, const double *M, const double *g, const double *G, double *delta) {
  int n = w->sys->n_xi, k = w->sys->n_g;
  if (w->sys->g_rank < k) {
    redundant_step(w, M, G, g, delta);
    return;
  }
  saddle_matrix(w, M, k, G);
  memset(w->b, 0, sizeof(double) * (size_t)n);
  for (int r = 0; r < k; r++) w->b[n + r] = -g[r];
  if (ag_dense_solve(n + k, 1, w->K, w->b) || !all_finite(n, w->b)) {
    /* a mass matrix that is singular across the constraint: shortest correction instead */
    double *P = ag_heap_alloc(sizeof(double) * (size_t)(n * k));
    ag_dense_pinv(k, n, G, P);
    for (int j = 0; j < n; j++) {
      w->b[j] = 0;
      for (int r = 0; r < k; r++) w->b[j] -= P[j * k + r] * g[r];
    }
    free(P);
  }
  memcpy(delta, w->b, sizeof(double) * (size_t)n);
}

/* Newton onto g(q, t) = 0, through the retraction. */
int ag_work_position(ag_work *w, double t, double *x) {
  const ag_system *sys = w->sys;
  if (sys->elimination == AG_ELIM_SADDLE) return ag_saddle_position(w, t, x);
  int n = sys->n_xi, k = sys->n_g;
  double last = INFINITY;
  for (int i = 0; i < 10; i++) {
    (void)ag_machine_run(w, AG_ROLE_POSITION, t, x, NULL, NULL);
    const double *g = ag_result(w, AG_OUT_POSITION_G), *G = ag_result(w, AG_OUT_POSITION_JACOBIAN);
    double worst = 0;
    for (int r = 0; r < k; r++) worst = fmax(worst, fabs(g[r]));
    if (!isfinite(worst)) return AG_TROUBLE_PROJECT;
    if (worst < 1e-15 || (worst >= 0.5 * last && worst < 1e-12)) return AG_FINE; /* at rounding */
    last = worst;
    ag_saddle p = ag_saddle_at(w, t, x);
    position_step(w, p.M, g, G, w->delta);
    if (!all_finite(n, w->delta)) return AG_TROUBLE_PROJECT;
    ag_retract(sys, x, w->delta);
  }
  return last < 1e-9 ? AG_FINE : AG_TROUBLE_PROJECT;
}
