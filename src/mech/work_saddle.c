/* SPDX-License-Identifier: MIT
 * A worker of a large system: accelerations, multipliers and projections from the tapes of saddle.c. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "mech/work_internal.h"

/* Why the equations cannot be solved at this state: the mass matrix, or otherwise the constraints. */
static int cause(ag_work *w, double t, const double *x) {
  int ignored;
  (void)ag_machine_run(w, AG_ROLE_METRIC, t, x, NULL, NULL);
  return ag_sparse_positive(w->sys, ag_result(w, AG_OUT_METRIC_M), &ignored) ? AG_TROUBLE_RANK : AG_TROUBLE_MASS;
}

int ag_work_cause(ag_work *w, double t, const double *z, const double *c) {
  if (w->sys->elimination != AG_ELIM_SADDLE) return AG_TROUBLE_MASS;
  ag_work_full(w, t, z, c, w->x);
  return cause(w, t, w->x);
}

int ag_saddle_accel(ag_work *w, double t, const double *x) {
  return ag_machine_run(w, AG_ROLE_ACCEL, t, x, NULL, w->b) ? cause(w, t, x) : AG_FINE;
}

void ag_saddle_reaction(ag_work *w, double t, const double *x, double *reaction) {
  const ag_system *sys = w->sys;
  const double *lambda = w->b + sys->n.xi, *S;
  (void)ag_machine_run(w, AG_ROLE_ROWS, t, x, NULL, NULL);
  S = ag_result(w, AG_OUT_ROWS_S);
  memset(reaction, 0, sizeof(double) * (size_t)sys->n.xi);
  for (int i = 0; i < sys->S_at.n; i++) {
    const ag_row *row = &sys->rows[sys->S_at.row[i]];
    if (row->kept) reaction[sys->S_at.col[i]] += S[i] * lambda[row->lambda];
  }
}

static double largest(int n, const double *v) {
  double worst = 0;
  for (int i = 0; i < n; i++) worst = isfinite(v[i]) ? fmax(worst, fabs(v[i])) : INFINITY;
  return worst;
}

double ag_saddle_residual(ag_work *w, double t, const double *x) {
  (void)ag_machine_run(w, AG_ROLE_ROWS, t, x, NULL, NULL);
  return largest(w->sys->n.row, ag_result(w, AG_OUT_ROWS_RESIDUAL));
}

/* ---- onto the constraints ---- */

static bool position_eval(void *self, const double *x, double *F, double *J) {
  ag_moment *m = self;
  (void)J;
  (void)ag_machine_run(m->w, AG_ROLE_POSITION, m->t, x, NULL, F);
  return true;
}

/* The step of the last evaluation that a role gives; x: the full state there. */
static bool step_of(ag_moment *m, ag_output delta, const double *x, double *d) {
  ag_role role = ag_output_role(delta);
  if (ag_machine_run(m->w, role, m->t, x, NULL, NULL)) {
    m->trouble = cause(m->w, m->t, x);
    return false;
  }
  memcpy(d, ag_result(m->w, delta), sizeof(double) * (size_t)m->w->sys->n.xi);
  return true;
}

static bool position_solve(void *self, const double *x, const double *F, double *d) {
  (void)F;
  return step_of(self, AG_OUT_ONTO_G_DELTA, x, d);
}

/* In the metric M. A step from |g| = e leaves some e^2: from below `trust` on one is enough. */
int ag_saddle_position(ag_work *w, double t, double *x) {
  static const ag_newton_options options = {.max_iter = 10, .tol = 1e-15, .rounding = 1e-12, .trust = 1e-8};
  const ag_system *sys = w->sys;
  if (!sys->tapes[AG_ROLE_ONTO_G]) return AG_FINE;
  ag_moment m = {.w = w, .t = t};
  ag_newton_system s = {.kind = AG_NEWTON_OWN, .m = sys->n.g, .n = sys->n.xi, .n_x = sys->n.q, .self = &m};
  s.eval = position_eval;
  s.solve = position_solve;
  s.retract = ag_moment_retract;
  int trouble = ag_position_trouble(ag_newton(&s, &options, x, ag_work_room(w, &s)));
  return m.trouble ? m.trouble : trouble;
}

static bool velocity_eval(void *self, const double *xi, double *F, double *J) {
  ag_moment *m = self;
  (void)xi, (void)J; /* xi is part of m->x */
  (void)ag_machine_run(m->w, AG_ROLE_ROWS, m->t, m->x, NULL, NULL);
  memcpy(F, ag_result(m->w, AG_OUT_ROWS_RESIDUAL), sizeof(double) * (size_t)m->w->sys->n.row);
  return true;
}

static bool velocity_solve(void *self, const double *xi, const double *F, double *d) {
  ag_moment *m = self;
  (void)xi, (void)F;
  return step_of(m, AG_OUT_ONTO_S_DELTA, m->x, d);
}

/* One step suffices, since this is linear; more only where much cancelled. */
int ag_saddle_velocity(ag_work *w, double t, double *x) {
  static const ag_newton_options options = {.max_iter = 3, .tol = 1e-13, .still = 1e-15};
  const ag_system *sys = w->sys;
  ag_moment m = {.w = w, .t = t, .x = x};
  ag_newton_system s = {.kind = AG_NEWTON_OWN, .m = sys->n.row, .n = sys->n.xi, .self = &m};
  s.eval = velocity_eval;
  s.solve = velocity_solve;
  (void)ag_newton(&s, &options, x + sys->n.q, ag_work_room(w, &s));
  return m.trouble; /* a result that is not finite shows in the state */
}

/* ---- condition ---- */

/* [M S^T; S 0] at a state: its 1-norm, and the factor. */
typedef struct saddle_at {
  int n;
  ag_ldl *ldl;
  double *entries, norm;
} saddle_at;

static saddle_at factor_at(ag_work *w, double t, const double *x) {
  const ag_system *sys = w->sys;
  const ag_places *M = &sys->M_at, *S = &sys->S_at;
  int n = sys->n.xi, m = 0, *row = ag_heap_alloc(sizeof(int) * (size_t)(M->n + S->n)),
      *col = ag_heap_alloc(sizeof(int) * (size_t)(M->n + S->n));
  unsigned char *marks = ag_heap_alloc((size_t)(n + sys->n.lambda + 1));
  saddle_at a = {.n = n + sys->n.lambda, .entries = ag_heap_alloc(sizeof(double) * (size_t)(M->n + S->n))};
  double *sums = ag_heap_alloc(sizeof(double) * (size_t)a.n);
  (void)ag_machine_run(w, AG_ROLE_METRIC, t, x, NULL, NULL);
  (void)ag_machine_run(w, AG_ROLE_ROWS, t, x, NULL, NULL);
  const double *M_x = ag_result(w, AG_OUT_METRIC_M), *S_x = ag_result(w, AG_OUT_ROWS_S);
  for (int i = 0; i < M->n; i++) row[m] = M->row[i], col[m] = M->col[i], a.entries[m++] = M_x[i];
  for (int i = 0; i < S->n; i++) {
    int r = sys->rows[S->row[i]].lambda;
    if (r >= 0) row[m] = n + r, col[m] = S->col[i], a.entries[m++] = S_x[i];
  }
  for (int i = 0; i < n && sys->hubs; i++) marks[i] = sys->hubs[i] ? AG_MARK_HUB : AG_MARK_PLAIN;
  memset(marks + n, AG_MARK_MULTIPLIER, (size_t)sys->n.lambda);
  for (int k = 0; k < m; k++) {
    sums[col[k]] += fabs(a.entries[k]);
    if (row[k] != col[k]) sums[row[k]] += fabs(a.entries[k]);
  }
  a.norm = largest(a.n, sums);
  a.ldl = ag_ldl_create(&(ag_pattern){a.n, m, row, col, marks});
  free(row), free(col), free(marks), free(sums);
  return a;
}

/* Hager's estimate of the 1-norm of the inverse: a few solves that climb to a vertex of the unit ball. */
double ag_saddle_condition(ag_work *w, double t, const double *x) {
  saddle_at a = factor_at(w, t, x);
  double *y = ag_heap_alloc(sizeof(double) * 2 * (size_t)a.n), *z = y + a.n, best = 0;
  for (int i = 0; i < a.n; i++) y[i] = 1.0 / a.n;
  for (int i = 0; i < 5; i++) {
    if (ag_ldl_solve(a.ldl, a.entries, y, NULL)) best = INFINITY;
    double norm = 0, product = 0;
    int top = 0;
    for (int k = 0; k < a.n; k++) norm += fabs(y[k]), z[k] = y[k] < 0 ? -1 : 1;
    if (!(norm > best)) break;
    best = norm;
    (void)ag_ldl_solve(a.ldl, a.entries, z, NULL);
    for (int k = 0; k < a.n; k++) {
      product += z[k] / a.n;
      if (fabs(z[k]) > fabs(z[top])) top = k;
    }
    if (i > 0 && !(fabs(z[top]) > fabs(product))) break;
    memset(y, 0, sizeof(double) * (size_t)a.n);
    y[top] = 1;
  }
  ag_ldl_free(a.ldl);
  free(a.entries), free(y);
  return best * a.norm;
}
