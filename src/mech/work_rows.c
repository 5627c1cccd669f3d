/* SPDX-License-Identifier: MIT
 * A worker: the rows of the constraints as they enter solves, independent rows or independent combinations; and moving
 * states onto the constraints. */
#include <math.h>
#include <string.h>

#include "math/dense.h"
#include "mech/work_internal.h"

/* Relative size of singular values that count as lost rank. */
static const double RANK_LOST = 1e-10;
/* A mass this small relative to the others is zero up to rounding error. */
static const double MASS_GONE = 1e-13;

void ag_saddle_matrix(ag_work *w, const double *M, int k, const double *S) {
  int n = w->sys->n.xi, m = n + k;
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
  int n = w->sys->n.xi, k = w->sys->n.lambda, r = w->sys->n.rank;
  if (r == k) {
    ag_saddle_matrix(w, M, k, S);
    return k;
  }
  if (!(ag_dense_range(k, n, S, r, w->W) > RANK_LOST)) return -1;
  product(r, k, n, w->W, S, w->WS);
  ag_saddle_matrix(w, M, r, w->WS);
  return r;
}

bool ag_rows_solve(ag_work *w, const double *M, const double *S, const double *right) {
  int n = w->sys->n.xi, k = w->sys->n.lambda, r = ag_rows_matrix(w, M, S);
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
  double *mu = ag_heap_alloc(sizeof(double) * (size_t)(r + 1)); /* lambda = W^T mu: the smallest of all solutions */
  memcpy(mu, low, sizeof(double) * (size_t)r);
  memset(low, 0, sizeof(double) * (size_t)k);
  for (int i = 0; i < r; i++)
    for (int l = 0; l < k; l++) low[l] += w->W[i * k + l] * mu[i];
  free(mu);
  return true;
}

/* ---- mass ---- */

/* Rows made orthonormal in place; how many are independent. */
static int orthonormal(int k, int n, double *Q) {
  int rank = 0;
  for (int i = 0; i < k; i++) {
    double *x = Q + rank * n, before = 0, after = 0;
    if (rank < i) memcpy(x, Q + i * n, sizeof(double) * (size_t)n);
    for (int j = 0; j < n; j++) before += x[j] * x[j];
    for (int pass = 0; pass < 2; pass++)
      for (int r = 0; r < rank; r++) {
        double dot = 0;
        for (int j = 0; j < n; j++) dot += x[j] * Q[r * n + j];
        for (int j = 0; j < n; j++) x[j] -= dot * Q[r * n + j];
      }
    for (int j = 0; j < n; j++) after += x[j] * x[j];
    if (!(after > RANK_LOST * RANK_LOST * before)) continue;
    for (int j = 0; j < n; j++) x[j] /= sqrt(after);
    rank++;
  }
  return rank;
}

/* M is positive definite on ker S exactly if P M P + Q^T Q is, Q orthonormal rows that span those of S and P = 1 - Q^T
 * Q. Velocities are scaled to a unit diagonal of M, so that units do not matter. */
bool ag_rows_positive(ag_work *w, const double *M, int k, const double *S) {
  int n = w->sys->n.xi;
  size_t size = (size_t)(n * n + k * n + n + 1);
  double *A = ag_heap_alloc(sizeof(double) * 2 * size), *Q = A + n * n, *unit = Q + k * n, *B = A + size;
  for (int i = 0; i < n; i++) unit[i] = M[i * n + i] > 0 ? sqrt(M[i * n + i]) : 1;
  for (int i = 0; i < k * n; i++) Q[i] = S[i] / unit[i % n];
  for (int i = 0; i < n * n; i++) A[i] = M[i] / (unit[i / n] * unit[i % n]);
  int rank = orthonormal(k, n, Q);
  for (int r = 0; r < rank; r++) { /* one row after the other: A <- P A P with P = 1 - x x^T */
    const double *x = Q + r * n;
    double xAx = 0;
    for (int i = 0; i < n; i++) {
      B[i] = 0;
      for (int j = 0; j < n; j++) B[i] += A[i * n + j] * x[j];
      xAx += x[i] * B[i];
    }
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++) A[i * n + j] += x[i] * x[j] * (xAx + 1) - B[i] * x[j] - x[i] * B[j];
  }
  for (int i = 0; i < n; i++) A[i * n + i] -= MASS_GONE;
  bool good = ag_dense_cholesky(n, A) <= 0; /* not finite: that will show in the state */
  free(A);
  return good;
}

/* ---- combinations of rows ---- */

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

double *ag_work_room(ag_work *w, const ag_newton_system *s) {
  size_t n = ag_newton_work(s);
  if (n > w->n_newton) {
    w->newton = ag_heap_grow(w->newton, sizeof(double) * n);
    w->n_newton = n;
  }
  return w->newton;
}

static bool position_eval(void *self, const double *x, double *F, double *J) {
  ag_moment *m = self;
  (void)J; /* the tape writes it after F */
  (void)ag_machine_run(m->w, AG_ROLE_POSITION, m->t, x, NULL, F);
  return true;
}

static const double *position_metric(void *self, const double *x) {
  ag_moment *m = self;
  return ag_saddle_at(m->w, m->t, x).M;
}

void ag_moment_retract(void *self, double *x, const double *d) { ag_retract(((ag_moment *)self)->w->sys, x, d); }

int ag_position_trouble(ag_newton_result r) {
  bool near = r.reason == AG_NEWTON_ITERATIONS && r.residual < 1e-9;
  return ag_newton_ok(r) || near ? AG_FINE : AG_TROUBLE_PROJECT;
}

/* Newton onto g(q, t) = 0 by the shortest steps in the metric M. */
int ag_work_position(ag_work *w, double t, double *x) {
  const ag_system *sys = w->sys;
  if (sys->elimination == AG_ELIM_SADDLE) return ag_saddle_position(w, t, x);
  static const ag_newton_options options = {.max_iter = 10, .tol = 1e-15, .rounding = 1e-12};
  ag_moment m = {.w = w, .t = t};
  ag_newton_system s = {.kind = AG_NEWTON_SHORTEST, .m = sys->n.g, .n = sys->n.xi, .n_x = sys->n.q, .self = &m};
  if (w->all) s.rank = sys->n.g < sys->n.xi ? sys->n.g : sys->n.xi, s.rank_tol = 1e-8;
  else if (sys->g_rank < sys->n.g) s.rank = sys->g_rank, s.rank_tol = RANK_LOST;
  s.eval = position_eval;
  s.retract = ag_moment_retract;
  s.metric = position_metric;
  return ag_position_trouble(ag_newton(&s, &options, x, ag_work_room(w, &s)));
}

/* ---- velocity level ---- */

static bool velocity_eval(void *self, const double *xi, double *F, double *J) {
  ag_moment *m = self;
  (void)xi, (void)J; /* xi is part of m->x */
  if (m->w->all) F[0] = ag_velocity_residual(m->w, m->t, m->x);
  else memcpy(F, ag_saddle_at(m->w, m->t, m->x).residual, sizeof(double) * (size_t)m->w->sys->n.lambda);
  return true;
}

static bool velocity_solve(void *self, const double *xi, const double *F, double *d) {
  ag_work *w = ((ag_moment *)self)->w;
  size_t size = sizeof(double) * (size_t)w->sys->n.xi;
  (void)xi;
  if (w->all) return ag_all_velocity(w, ((ag_moment *)self)->t, ((ag_moment *)self)->x, d);
  memset(w->b, 0, size);
  bool good = ag_rows_solve(w, ag_result(w, AG_OUT_SADDLE_M), ag_result(w, AG_OUT_SADDLE_S), F);
  memcpy(d, w->b, size);
  return good;
}

/* Linear: one step by the shortest way in the metric M, and more to reduce rounding error. */
int ag_work_velocity(ag_work *w, double t, double *x) {
  const ag_system *sys = w->sys;
  if (sys->elimination == AG_ELIM_SADDLE) return ag_saddle_velocity(w, t, x);
  if (!sys->n.lambda && !w->all) return AG_FINE;
  static const ag_newton_options options = {.max_iter = 3, .tol = 1e-15};
  ag_moment m = {.w = w, .t = t, .x = x};
  ag_newton_system s = {.kind = AG_NEWTON_OWN, .m = w->all ? 1 : sys->n.lambda, .n = sys->n.xi, .self = &m};
  s.eval = velocity_eval;
  s.solve = velocity_solve;
  ag_newton_reason reason = ag_newton(&s, &options, x + sys->n.q, ag_work_room(w, &s)).reason;
  return reason == AG_NEWTON_SINGULAR ? AG_TROUBLE_RANK : AG_FINE; /* a result that is not finite shows in the state */
}
