/* SPDX-License-Identifier: MIT
 * A worker of a large system: accelerations, multipliers and projections from the tapes of saddle.c. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "mech/work_internal.h"

/* The state that the equations cannot be solved at: because of the mass matrix, or else because of the constraints. */
static int cause(ag_work *w, double t, const double *x) {
  int ignored;
  (void)machine_run(&w->metric, w, t, x, NULL, NULL);
  return ag_sparse_positive(w->sys, w->metric.out, &ignored) ? AG_TROUBLE_RANK : AG_TROUBLE_MASS;
}

int ag_work_cause(ag_work *w, double t, const double *z, const double *c) {
  if (w->sys->elimination != AG_ELIM_SADDLE) return AG_TROUBLE_MASS;
  ag_work_full(w, t, z, c, w->x);
  return cause(w, t, w->x);
}

int ag_saddle_accel(ag_work *w, double t, const double *x) {
  return machine_run(&w->accel, w, t, x, NULL, w->b) ? cause(w, t, x) : AG_FINE;
}

void ag_saddle_reaction(ag_work *w, double t, const double *x, double *reaction) {
  const ag_system *sys = w->sys;
  const double *lambda = w->b + sys->n_xi, *S = w->rows_tape.out + sys->n_row;
  (void)machine_run(&w->rows_tape, w, t, x, NULL, NULL);
  memset(reaction, 0, sizeof(double) * (size_t)sys->n_xi);
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
  (void)machine_run(&w->rows_tape, w, t, x, NULL, NULL);
  return largest(w->sys->n_row, w->rows_tape.out);
}

/* Newton in the metric M: a step from |g| = e leaves some e^2, so that below QUADRATIC one is enough. */
static const double QUADRATIC = 1e-8;

int ag_saddle_position(ag_work *w, double t, double *x) {
  const ag_system *sys = w->sys;
  double last = INFINITY;
  if (!sys->onto_g) return AG_FINE;
  int n = sys->onto_g->n_out - sys->n_xi;
  for (int i = 0; i < 10; i++) {
    (void)machine_run(&w->position, w, t, x, NULL, NULL);
    double worst = largest(sys->n_g, w->position.out);
    if (!isfinite(worst)) return AG_TROUBLE_PROJECT;
    if (worst < 1e-15 || (worst >= 0.5 * last && worst < 1e-12)) return AG_FINE; /* at rounding */
    if (machine_run(&w->onto_g, w, t, x, NULL, NULL)) return cause(w, t, x);
    if (!isfinite(largest(sys->n_xi, w->onto_g.out + n))) return AG_TROUBLE_PROJECT;
    last = worst;
    ag_retract(sys, x, w->onto_g.out + n);
    if (worst < QUADRATIC) return AG_FINE;
  }
  return last < 1e-9 ? AG_FINE : AG_TROUBLE_PROJECT;
}

/* One solve does it, for this is linear; more only where much was cancelled. */
int ag_saddle_velocity(ag_work *w, double t, double *x) {
  const ag_system *sys = w->sys;
  int n = sys->n_lambda;
  for (int i = 0; i < 3; i++) {
    double worst = ag_saddle_residual(w, t, x);
    if (worst < (i ? 1e-13 : 1e-15)) return AG_FINE;
    if (machine_run(&w->onto_S, w, t, x, NULL, NULL)) return cause(w, t, x);
    for (int j = 0; j < sys->n_xi; j++) x[sys->n_q + j] += w->onto_S.out[n + j];
  }
  return AG_FINE;
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
  int n = sys->n_xi, m = 0, *row = ag_heap_alloc(sizeof(int) * (size_t)(M->n + S->n)),
      *col = ag_heap_alloc(sizeof(int) * (size_t)(M->n + S->n));
  unsigned char *marks = ag_heap_alloc((size_t)(n + sys->n_lambda + 1));
  saddle_at a = {.n = n + sys->n_lambda, .entries = ag_heap_alloc(sizeof(double) * (size_t)(M->n + S->n))};
  double *sums = ag_heap_alloc(sizeof(double) * (size_t)a.n);
  (void)machine_run(&w->metric, w, t, x, NULL, NULL);
  (void)machine_run(&w->rows_tape, w, t, x, NULL, NULL);
  for (int i = 0; i < M->n; i++) row[m] = M->row[i], col[m] = M->col[i], a.entries[m++] = w->metric.out[i];
  for (int i = 0; i < S->n; i++) {
    int r = sys->rows[S->row[i]].lambda;
    if (r >= 0) row[m] = n + r, col[m] = S->col[i], a.entries[m++] = w->rows_tape.out[sys->n_row + i];
  }
  for (int i = 0; i < n && sys->hubs; i++) marks[i] = sys->hubs[i] ? AG_MARK_HUB : AG_MARK_PLAIN;
  memset(marks + n, AG_MARK_MULTIPLIER, (size_t)sys->n_lambda);
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
