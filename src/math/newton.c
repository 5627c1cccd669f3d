/* SPDX-License-Identifier: MIT
 * Damped Newton, see newton.h. */
#include "math/newton.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "math/dense.h"

/* The parts of the workspace. */
typedef struct room {
  double *F, *J, *step, *from;
  double *P;             /* SHORTEST: n x m, the pseudo-inverse */
  double *K, *b;         /* with a metric: the saddle matrix and its right-hand side, or the factor of M */
  double *M, *A, *norms; /* with a metric: a copy of it where components are held; scaled rows and their norms */
} room;

static int numbers_of(const ag_newton_system *s) { return s->n_x ? s->n_x : s->n; }

/* Lays the parts out from `work` on; returns their length. */
static size_t lay_out(const ag_newton_system *s, double *work, room *r) {
  size_t m = (size_t)s->m, n = (size_t)s->n, at = 0;
  bool least = s->kind == AG_NEWTON_SHORTEST, metric = least && s->metric;
  size_t saddle = metric ? m + n : 0;
  struct {
    double **part;
    size_t size;
  } parts[] = {
      {&r->F, m},
      {&r->J, s->kind == AG_NEWTON_OWN ? 0 : (m + (size_t)s->n_border) * n},
      {&r->step, n},
      {&r->from, (size_t)numbers_of(s)},
      {&r->P, least ? m * n : 0},
      {&r->K, saddle * saddle},
      {&r->b, saddle},
      {&r->M, metric && s->held ? n * n : 0},
      {&r->A, metric ? m * n : 0},
      {&r->norms, metric ? m : 0},
  };
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
    *parts[i].part = work && parts[i].size ? work + at : NULL;
    at += parts[i].size;
  }
  return at;
}

size_t ag_newton_work(const ag_newton_system *s) {
  room r;
  return lay_out(s, NULL, &r) + 1;
}

ag_newton_options ag_newton_defaults(void) {
  return (ag_newton_options){
#define X(type, name, value, text) .name = value,
      AG_NEWTON_OPTIONS(X)
#undef X
  };
}

const char *ag_newton_text(ag_newton_reason reason) {
  static const char *const texts[] = {
#define X(NAME, text) text,
      AG_NEWTON_REASONS(X)
#undef X
  };
  return texts[reason];
}

/* INFINITY when a component is not finite. */
static double largest(int n, const double *v) {
  double most = 0;
  for (int i = 0; i < n; i++) most = isfinite(v[i]) ? fmax(most, fabs(v[i])) : INFINITY;
  return most;
}

static double size_of(const ag_newton_system *s, const double *F) {
  return s->size ? s->size(s->self, F) : largest(s->m, F);
}

/* Are there more equations than unknowns, so that |F| has a minimum rather than a root? */
static bool is_fit(const ag_newton_system *s) { return s->kind == AG_NEWTON_SHORTEST && s->m > s->n; }

/* What damped steps must reduce: the size, or in a fit the Euclidean norm, which Gauss-Newton steps do reduce. */
static double merit_of(const ag_newton_system *s, const double *F, double size) {
  double sum = 0;
  if (!is_fit(s) || !(size > 0) || !isfinite(size)) return size;
  for (int i = 0; i < s->m; i++) sum += (F[i] / size) * (F[i] / size);
  return size * sqrt(sum);
}

/* The size of F at x, INFINITY where it has no value. */
static double evaluate(const ag_newton_system *s, const room *r, const double *x) {
  return s->eval(s->self, x, r->F, r->J) ? size_of(s, r->F) : INFINITY;
}

/* ---- steps ---- */

static int square_step(const ag_newton_system *s, const room *r) {
  for (int i = 0; i < s->m; i++) r->step[i] = -r->F[i];
  for (int i = s->m; i < s->n; i++) r->step[i] = 0;
  if (s->n_border) memcpy(r->J + s->m * s->n, s->border, sizeof(double) * (size_t)(s->n_border * s->n));
  int info = ag_dense_solve(s->n, 1, r->J, r->step);
  if (info < 0) r->step[0] = NAN;
  return info;
}

/* d = -J^+ F. */
static void euclidean_step(const ag_newton_system *s, const room *r) {
  int m = s->m, n = s->n, most = m > n ? m : n;
  ag_dense_pinv_within(m, n, r->J, s->rank ? s->rank : most, s->rank_tol > 0 ? s->rank_tol : most * DBL_EPSILON, r->P);
  for (int j = 0; j < n; j++) {
    r->step[j] = 0;
    for (int i = 0; i < m; i++) r->step[j] -= r->P[j * m + i] * r->F[i];
  }
}

/* Rows that follow from others, but only where all of them hold: nearby J has small singular values in place of zeros,
 * and a solve would move x along the solutions by any amount. So no more than the rank there is used: d = -L^-T A^+ F
 * with M = L L^T and A = J L^-T, its rows scaled to norm 1. Without a factor of M the shortest d. */
static void redundant_step(const ag_newton_system *s, const room *r, const double *M) {
  int m = s->m, n = s->n;
  double *L = r->K, *size = r->norms;
  memcpy(L, M, sizeof(double) * (size_t)(n * n));
  if (ag_dense_cholesky(n, L))
    for (int i = 0; i < n * n; i++) L[i] = i % (n + 1) == 0;
  for (int k = 0; k < m; k++) {
    double *a = r->A + k * n;
    size[k] = 0;
    for (int i = 0; i < n; i++) {
      a[i] = r->J[k * n + i];
      for (int j = 0; j < i; j++) a[i] -= L[i * n + j] * a[j];
      a[i] /= L[i * n + i];
      size[k] += a[i] * a[i];
    }
    size[k] = size[k] > 0 ? sqrt(size[k]) : 1;
    for (int i = 0; i < n; i++) a[i] /= size[k];
  }
  ag_dense_pinv_within(m, n, r->A, s->rank, s->rank_tol, r->P);
  for (int i = n - 1; i >= 0; i--) {
    r->step[i] = 0;
    for (int k = 0; k < m; k++) r->step[i] -= r->P[i * m + k] * r->F[k] / size[k];
    for (int j = i + 1; j < n; j++) r->step[i] -= L[j * n + i] * r->step[j];
    r->step[i] /= L[i * n + i];
  }
}

/* [M -J^T; J 0] [d; mu] = [0; -F]. */
static void saddle_step(const ag_newton_system *s, const room *r, const double *M) {
  int m = s->m, n = s->n, all = n + m;
  memset(r->K, 0, sizeof(double) * (size_t)(all * all));
  for (int i = 0; i < n; i++) memcpy(r->K + i * all, M + i * n, sizeof(double) * (size_t)n);
  for (int k = 0; k < m; k++)
    for (int j = 0; j < n; j++) {
      r->K[(n + k) * all + j] = r->J[k * n + j];
      r->K[j * all + n + k] = -r->J[k * n + j];
    }
  memset(r->b, 0, sizeof(double) * (size_t)n);
  for (int k = 0; k < m; k++) r->b[n + k] = -r->F[k];
  if (ag_dense_solve(all, 1, r->K, r->b) || !isfinite(largest(n, r->b)))
    euclidean_step(s, r); /* M is singular along the kernel of J: the shortest step in components */
  else memcpy(r->step, r->b, sizeof(double) * (size_t)n);
}

/* A held component has no part in any equation, and none in the metric but its own. */
static const double *hold(const ag_newton_system *s, const room *r, const double *M) {
  int n = s->n;
  for (int i = 0; i < s->m; i++)
    for (int j = 0; j < n; j++) r->J[i * n + j] = s->held[j] ? 0 : r->J[i * n + j];
  if (!M) return NULL;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) r->M[i * n + j] = s->held[i] || s->held[j] ? i == j : M[i * n + j];
  return r->M;
}

static void shortest_step(const ag_newton_system *s, const room *r, const double *x) {
  const double *M = s->metric ? s->metric(s->self, x) : NULL;
  if (s->held) M = hold(s, r, M);
  if (!M) euclidean_step(s, r);
  else if (s->rank && s->rank < s->m) redundant_step(s, r, M);
  else saddle_step(s, r, M);
  for (int j = 0; j < s->n && s->held; j++)
    if (s->held[j]) r->step[j] = 0;
}

/* The step from x, no longer than allowed. False: there is none, for the reason given. */
static bool find_step(const ag_newton_system *s, const ag_newton_options *o, const room *r, const double *x,
                      ag_newton_result *result) {
  bool singular = false;
  if (s->kind == AG_NEWTON_OWN) singular = !s->solve(s->self, x, r->F, r->step);
  else if (s->kind == AG_NEWTON_SQUARE) singular = square_step(s, r) > 0;
  else shortest_step(s, r, x);
  result->step = largest(s->n, r->step);
  if (o->max_step > 0 && result->step > o->max_step)
    for (int j = 0; j < s->n; j++) r->step[j] /= result->step / o->max_step;
  result->reason = singular ? AG_NEWTON_SINGULAR : AG_NEWTON_NOT_FINITE;
  return !singular && isfinite(result->step);
}

/* ---- the iteration ---- */

static void move(const ag_newton_system *s, const room *r, double *x) {
  if (s->retract) s->retract(s->self, x, r->step);
  else
    for (int i = 0; i < s->n; i++) x[i] += r->step[i];
}

static double full_move(const ag_newton_system *s, const room *r, double *x) {
  move(s, r, x);
  return evaluate(s, r, x);
}

/* Is a step from one merit to another acceptable? Near the minimum of a fit rounding hides the difference. */
static bool reduces(const ag_newton_system *s, double from, double to) {
  return to < from || (is_fit(s) && to <= from * (1 + 8 * DBL_EPSILON));
}

/* Takes the step, or a part of it that reduces the size. Returns the size then; INFINITY: no part does, x stays. */
static double damped_move(const ag_newton_system *s, const ag_newton_options *o, const room *r, double size,
                          double *x) {
  size_t bytes = sizeof(double) * (size_t)numbers_of(s);
  double merit = merit_of(s, r->F, size);
  memcpy(r->from, x, bytes);
  for (int half = 0; half <= o->halvings; half++) {
    double now = full_move(s, r, x);
    if (now < o->rounding || reduces(s, merit, merit_of(s, r->F, now))) return now;
    memcpy(x, r->from, bytes);
    for (int j = 0; j < s->n; j++) r->step[j] *= 0.5;
    if (largest(s->n, r->step) < o->step_tol) break;
  }
  (void)evaluate(s, r, x);
  return INFINITY;
}

/* Has x arrived, the last step having begun at the size `last`? */
static bool arrived(const ag_newton_options *o, double last, ag_newton_result *result) {
  double now = result->residual, tol = result->iterations || !(o->still > 0) ? o->tol : o->still;
  if (!isfinite(now)) result->reason = AG_NEWTON_NOT_FINITE;
  else if (now <= tol) result->reason = AG_NEWTON_CONVERGED;
  else if (now < o->rounding && now >= 0.5 * last) result->reason = AG_NEWTON_ROUNDING;
  else if (result->iterations && result->step < o->step_tol) result->reason = AG_NEWTON_STEP;
  else return false;
  return true;
}

ag_newton_result ag_newton(const ag_newton_system *s, const ag_newton_options *o, double *x, double *work) {
  room r;
  (void)lay_out(s, work, &r);
  ag_newton_result result = {.residual = evaluate(s, &r, x)};
  for (double last = INFINITY; !arrived(o, last, &result);) {
    if (result.iterations == o->max_iter) {
      result.reason = AG_NEWTON_ITERATIONS;
      break;
    }
    if (!find_step(s, o, &r, x, &result)) break;
    last = result.residual = size_of(s, r.F);
    result.iterations++;
    if (last < o->trust) {
      move(s, &r, x);
      result.reason = AG_NEWTON_CONVERGED;
      break;
    }
    double now = o->halvings ? damped_move(s, o, &r, last, x) : full_move(s, &r, x);
    if (o->halvings && !isfinite(now)) {
      result.reason = AG_NEWTON_STUCK;
      break;
    }
    result.residual = now;
  }
  return result;
}
