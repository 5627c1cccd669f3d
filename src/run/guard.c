/* SPDX-License-Identifier: MIT
 * What is monitored during a run: that the motion stays in the domain of its model, and that no constraint vanishes. */
#include <math.h>
#include <string.h>

#include "run/run_internal.h"

struct ag_guard {
  const ag_system *sys;
  double *out;        /* of the domain */
  double *last, *now; /* rows at the previous and at the current state */
  double last_t;      /* the time of the previous state; NaN: unknown. A step that was checked may end earlier */
};

ag_guard *ag_guard_create(const ag_system *sys) {
  ag_guard *g = ag_heap_alloc(sizeof *g);
  size_t n = (size_t)(ag_system_dims(sys)->fragile * ag_system_dims(sys)->xi);
  *g = (ag_guard){.sys = sys, .last_t = NAN};
  g->out = ag_heap_alloc(sizeof(double) * (size_t)(ag_system_output(sys, AG_OUT_DOMAIN_RANGES).n + 1));
  g->last = ag_heap_alloc(sizeof(double) * (n + 1));
  g->now = ag_heap_alloc(sizeof(double) * (n + 1));
  return g;
}

void ag_guard_free(ag_guard *g) {
  if (!g) return;
  free(g->out);
  free(g->last);
  free(g->now);
  free(g);
}

/* ---- the domain ---- */

/* An angle is compared modulo full turns. */
static bool in_range(const ag_system *sys, const ag_range *range, const double *v) {
  const double turn = 6.283185307179586;
  double x = v[0], lo = v[1], hi = v[2], slack = 1e-9 * (1 + fabs(lo) + fabs(hi));
  for (int i = 0; i < ag_model_n_coords(ag_system_model(sys)); i++)
    if (ag_model_coords(ag_system_model(sys))[i].space == AG_SPACE_S1 &&
        ag_model_coords(ag_system_model(sys))[i].q == range->x)
      x -= turn * ceil((x - hi - slack) / turn);
  return x >= lo - slack && x <= hi + slack;
}

void ag_guard_look(ag_guard *g, ag_work *w, double t, const double *x, ag_run_result *res) {
  const ag_system *sys = g->sys;
  if (!ag_system_role(sys, AG_ROLE_DOMAIN) || res->left) return;
  (void)ag_work_role(w, AG_ROLE_DOMAIN, t, x, NULL, g->out);
  int n;
  const int *ranges = ag_system_ranges(sys, &n);
  for (int i = 0; i < n && !res->left; i++) {
    const double *v = g->out + 3 * i;
    if (in_range(sys, &ag_model_domains(ag_system_model(sys))[ranges[i]], v)) continue;
    res->left = ranges[i] + 1;
    res->left_t = t, res->left_value = v[0], res->left_from = v[1], res->left_to = v[2];
  }
}

/* ---- constraints ---- */

static void rows_at(ag_mover *m, double t, const double *z, double *rows) {
  ag_mover_full(m, t, z, m->c, m->x);
  (void)ag_work_role(m->work, AG_ROLE_FRAGILE, t, m->x, NULL, rows);
}

void ag_guard_rows(ag_mover *m, double t, double *rows) { rows_at(m, t, m->z, rows); }

static double dot(int n, const double *a, const double *b) {
  double sum = 0;
  for (int i = 0; i < n; i++) sum += a[i] * b[i];
  return sum;
}

/* Fraction of the step up to which row r, which points in the opposite direction at its end, has a part along its value
 * at the start; *size: its size there relative to the start. A row that is switched off has its full size there. */
static double turning_point(const ag_guard *g, ag_mover *m, double t, double h, int r, double *size) {
  int n = ag_system_dims(g->sys)->xi;
  double lo = 0, hi = 1, *rows = ag_heap_alloc(sizeof(double) * (size_t)(ag_system_dims(g->sys)->fragile * n));
  const double *from = g->last + r * n;
  for (int i = 0; i < 60; i++) {
    double mid = 0.5 * (lo + hi);
    m->method->interpolate(m->method, m->n, mid, m->z, m->space, m->zt);
    rows_at(m, t + mid * h, m->zt, rows);
    if (dot(n, rows + r * n, from) > 0) lo = mid;
    else hi = mid;
  }
  m->method->interpolate(m->method, m->n, lo, m->z, m->space, m->zt);
  rows_at(m, t + lo * h, m->zt, rows);
  *size = sqrt(dot(n, rows + r * n, rows + r * n) / dot(n, from, from));
  free(rows);
  return lo;
}

void ag_guard_forget(ag_guard *g) { g->last_t = NAN; }

/* Do the other rows imply the one that vanishes? m->zt: the state where it vanishes. */
static bool carried(const ag_guard *g, ag_mover *m, double t) {
  if (!ag_system_watches(g->sys)) return false;
  ag_mover_full(m, t, m->zt, m->c, m->x);
  return ag_work_rows(m->work, ag_system_dims(g->sys)->row, t, m->x).rank >= ag_system_dims(g->sys)->rank;
}

bool ag_guard_vanishes(ag_guard *g, ag_mover *m, double t, double t1, double *at) {
  const ag_system *sys = g->sys;
  int n = ag_system_dims(sys)->xi;
  if (!ag_system_role(sys, AG_ROLE_FRAGILE)) return false;
  if (g->last_t != t) rows_at(m, t, m->z, g->last);
  rows_at(m, t1, m->z1, g->now);
  double first = 2;
  bool dense = false;
  for (int r = 0; r < ag_system_dims(sys)->fragile; r++) {
    if (dot(n, g->last + r * n, g->now + r * n) > 0) continue;
    if (m->full && m->switches && dot(n, g->now + r * n, g->now + r * n) == 0) continue; /* it ceases: switch.c */
    if (!dense && m->method->dense(m->method, &m->flow, t, t1 - t, m->z, m->z1, m->space)) break;
    dense = true;
    double size, theta = turning_point(g, m, t, t1 - t, r, &size);
    if (size < 1e-6 && theta < first && !carried(g, m, t + theta * (t1 - t)))
      first = theta; /* otherwise it has only turned */
  }
  double *rows = g->last;
  g->last = g->now, g->now = rows;
  g->last_t = t1;
  *at = t + first * (t1 - t);
  return first <= 1 && *at != t;
}
