/* SPDX-License-Identifier: MIT
 * Starts on a level. The unknowns u are parameters (start values that vary are parameters, too); with p(u) all
 * parameters and x(u) the completed start the equations are
 *   F_i(u) = L_i(x(u), p(u)) - value_i(p(u)) = 0   for each level, and c(x(u), p(u)) = 0 for the section.
 * Newton's method has their exact Jacobian,
 *   dF_i/du_k = D(L_i - value_i) [x'_k, p'_k],
 * where p'_k and x'_k are the derivatives of parameters and start in u_k: the chain through the completion of the start
 * is in mech/start_along.c, D comes from the graph (mech/along.c). So does the rate at which the motion crosses the
 * section, D c along t' = 1, q' = xi, xi' = the accelerations.
 * A level that is quadratic in its unknown, as energy is in a velocity, has two roots: both are followed. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "math/newton.h"
#include "study/study_internal.h"

enum { MAX = AG_LEVELS_MAX, MAX_ROOT = 32 };

static const double REACHED = 1e-12; /* largest error of an equation, relative to its level or 1 */

/* The equations of one member. */
typedef struct problem {
  const ag_levels *l;
  const ag_levels_member *m;
  const ag_system *sys;
  const ag_dims *dims;
  double *record, *dparams, *dx;
  int n; /* equations and unknowns; the last one may be the section */
  double u[MAX], scale[MAX];
  int from, to; /* the equations and unknowns of Newton's method */
} problem;

/* The values of the levels with the parameters of the member. */
static void level_values(const problem *p, double *value) {
  const ag_tape *tape = p->l->tape;
  if (!tape) return;
  const double *seg[AG_SEG_COUNT] = {[AG_SEG_T] = &p->m->t0, [AG_SEG_P] = p->m->params};
  double *slots = ag_heap_aligned(sizeof *slots * (size_t)(tape->n_slot + 1));
  (void)ag_tape_prep(tape, p->m->params, slots);
  (void)ag_tape_eval(tape, seg, slots, value);
  free(slots);
}

/* The completed start for values of the unknowns, with its derivatives in those from first on, n of them. False: there
 * is none. */
static bool start_at(problem *p, const double *u, int first, int n) {
  const ag_levels_member *m = p->m;
  int n_param = p->dims->param, n_held = m->n_name - p->n;
  ag_ctx ctx = {0};
  memcpy(m->values + n_held, u, sizeof *u * (size_t)p->n);
  if (ag_varied_params(m->varied, m->values, m->params)) return false;
  memset(p->dparams, 0, sizeof(double) * (size_t)(n * n_param));
  for (int k = 0; k < n; k++) p->dparams[k * n_param + ag_varied_offsets(m->varied)[n_held + first + k]] = 1;
  ag_status status = ag_start_along_eval(p->l->starts, &ctx, m->t0, m->params, m->strict, m->x, m->x + p->dims->q, n,
                                         p->dparams, p->dx);
  ag_ctx_done(&ctx);
  return status == AG_OK;
}

/* All equations at the start that was completed last. */
static bool values_here(problem *p, double *f) {
  const ag_levels_member *m = p->m;
  ag_work *w = ag_work_create(p->sys, m->params);
  double value[MAX];
  bool good = true;
  ag_record_fill(p->sys, w, m->t0, m->x, p->record);
  level_values(p, value);
  for (int i = 0; i < p->l->n; i++) {
    f[i] = p->record[p->l->column[i]] - value[i];
    p->scale[i] = fmax(1, fabs(value[i]));
  }
  if (p->n > p->l->n) {
    p->scale[p->l->n] = 1;
    good = !ag_work_section(w, p->l->section - 1, m->t0, m->x, &f[p->l->n]);
  }
  ag_work_free(w);
  for (int i = 0; i < p->n; i++) good = good && isfinite(f[i]);
  return good;
}

static bool values_at(problem *p, const double *u, double *f) { return start_at(p, u, 0, 0) && values_here(p, f); }

/* ---- Newton ---- */

static bool equations(void *self, const double *u, double *F, double *J) {
  problem *p = self;
  int n = p->to - p->from, n_xi = p->dims->xi;
  double f[MAX], rate[MAX + 1];
  memcpy(p->u + p->from, u, sizeof *u * (size_t)n);
  if (!start_at(p, p->u, p->from, n) || !values_here(p, f)) return false;
  for (int i = 0; i < n; i++) F[i] = f[p->from + i] / p->scale[p->from + i];
  for (int k = 0; k < n; k++) {
    const double *dx = p->dx + 2 * k * n_xi;
    ag_direction d = {.q = dx, .xi = dx + n_xi, .params = p->dparams + k * p->dims->param};
    (void)ag_along_eval(p->l->along, p->m->t0, p->m->x, p->m->params, &d, rate);
    for (int i = 0; i < n; i++) J[i * n + k] = rate[p->from + i] / p->scale[p->from + i];
  }
  return true;
}

/* Moves the unknowns from..to until the equations from..to hold, as well as rounding allows; the others are held. */
static bool newton(problem *p, int from, int to, double *u) {
  static const ag_newton_options options = {.max_iter = 60, .step_tol = 1e-16, .halvings = 29};
  ag_newton_system s = {.kind = AG_NEWTON_SQUARE, .m = to - from, .n = to - from, .self = p, .eval = equations};
  double *work = ag_heap_alloc(sizeof(double) * ag_newton_work(&s));
  p->from = from;
  p->to = to;
  memcpy(p->u, u, sizeof p->u);
  ag_newton_result r = ag_newton(&s, &options, u + from, work);
  free(work);
  return r.residual <= REACHED;
}

/* ---- roots ---- */

/* Roots of equation i in unknown i when it is at most quadratic in it, as energy is in a velocity: 0, 1 or 2; -1: it is
 * not quadratic. */
static int quadratic(problem *p, int i, const double *u, double roots[2]) {
  double v[MAX], f[MAX], at[4], s = fmax(1, fabs(u[i]));
  static const double place[4] = {0, 1, -1, 2};
  memcpy(v, u, sizeof v);
  for (int k = 0; k < 4; k++) {
    v[i] = place[k] * s;
    if (!values_at(p, v, f)) return -1;
    at[k] = f[i];
  }
  double a = (at[1] + at[2] - 2 * at[0]) / 2, b = (at[1] - at[2]) / 2, c = at[0];
  double size = fabs(a) + fabs(b) + fabs(c) + p->scale[i];
  if (!(fabs(4 * a + 2 * b + c - at[3]) <= 1e-9 * size)) return -1;
  if (fabs(a) <= 1e-14 * size) {
    if (fabs(b) <= 1e-14 * size) return fabs(c) <= REACHED * p->scale[i] ? -1 : 0; /* it does not enter */
    roots[0] = -c / b * s;
    return 1;
  }
  double d = b * b - 4 * a * c;
  if (d < -1e-13 * size * size) return 0;
  double q = -0.5 * (b + copysign(sqrt(fmax(d, 0)), b));
  roots[0] = q / a * s;
  roots[1] = q == 0 ? roots[0] : c / q * s;
  return roots[0] == roots[1] ? 1 : 2;
}

typedef struct found {
  int n;
  bool outside; /* a quadratic equation has no root */
  double u[MAX_ROOT][MAX];
} found;

/* Goes through the levels one after the other, both roots of each; then all equations together. */
static void search(problem *p, int level, const double *guess, found *all) {
  double roots[2], u[MAX];
  memcpy(u, guess, sizeof u);
  if (level < p->l->n) {
    int n = quadratic(p, level, guess, roots);
    if (!n) all->outside = true;
    if (n < 0) search(p, level + 1, guess, all);
    for (int k = 0; k < n; k++) {
      u[level] = roots[k];
      search(p, level + 1, u, all);
    }
    return;
  }
  if (!newton(p, 0, p->n, u)) return;
  for (int i = 0; i < all->n; i++) {
    double apart = 0;
    for (int k = 0; k < p->n; k++) apart = fmax(apart, fabs(u[k] - all->u[i][k]) / fmax(1, fabs(u[k])));
    if (apart < 1e-9) return;
  }
  if (all->n < MAX_ROOT) memcpy(all->u[all->n++], u, sizeof u);
}

/* The rate at which the motion crosses the section, in its direction; > 0: it is crossed the right way. NaN: the start
 * is not on it. */
static double crossing_rate(problem *p) {
  const ag_system *sys = p->sys;
  const ag_levels_member *m = p->m;
  int s = p->l->section - 1, direction = ag_model_sections(ag_system_model(sys))[s].direction;
  double *xidot = ag_heap_alloc(sizeof *xidot * (size_t)(p->dims->xi + 1)), rate[MAX + 1], c = NAN;
  ag_work *w = ag_work_create(sys, m->params);
  bool good = !ag_work_section(w, s, m->t0, m->x, &c) && !ag_work_accel(w, m->t0, m->x, xidot, NULL);
  ag_direction d = {.t = 1, .q = m->x + p->dims->q, .xi = xidot};
  good = good && !ag_along_eval(p->l->along, m->t0, m->x, m->params, &d, rate);
  ag_work_free(w);
  free(xidot);
  double speed = good ? rate[p->l->n] : NAN;
  if (!(fabs(c) <= 1e-11 * fmax(1, fabs(speed)))) return NAN;
  return direction ? direction * speed : fabs(speed);
}

/* Of several starts the one to take, or -1, with the reason against the others. */
static int choose(problem *p, const found *all, bool *off, bool *wrong_way) {
  double f[MAX];
  int best = -1;
  for (int i = 0; i < all->n; i++) {
    if (!values_at(p, all->u[i], f)) continue;
    double rate = p->l->section ? crossing_rate(p) : 1;
    if (isnan(rate)) *off = true;
    else if (!(rate > 1e-12)) *wrong_way = true;
    else if (best < 0 || all->u[i][0] > all->u[best][0]) best = i;
  }
  return best;
}

const char *ag_levels_solve(const ag_levels *l, const ag_levels_member *m) {
  const ag_system *sys = ag_varied_system(m->varied);
  problem p = {.l = l, .m = m, .sys = sys, .dims = ag_system_dims(sys), .n = l->n_solve};
  ag_record r;
  ag_record_init(&r, sys);
  p.record = ag_heap_alloc(sizeof(double) * (size_t)r.width);
  p.dparams = ag_heap_alloc(sizeof(double) * (size_t)(p.n * p.dims->param + 1));
  p.dx = ag_heap_alloc(sizeof(double) * (size_t)(2 * p.n * p.dims->xi + 1));
  ag_record_done(&r);
  found all = {0};
  double guess[MAX] = {0}, f[MAX];
  bool off = false, wrong_way = false;
  memcpy(guess, l->guess, sizeof(double) * (size_t)l->n_solve);
  bool begun = values_at(&p, guess, f), placed = begun;
  if (begun && p.n > l->n) placed = newton(&p, l->n, p.n, guess); /* onto the section first */
  if (placed) search(&p, 0, guess, &all);
  int best = choose(&p, &all, &off, &wrong_way);
  if (best >= 0) (void)values_at(&p, all.u[best], f);
  for (int k = 0; k < p.n && best < 0; k++) m->values[m->n_name - p.n + k] = NAN;
  free(p.record);
  free(p.dparams);
  free(p.dx);
  if (best >= 0) return NULL;
  if (!begun) return "the start could not be completed";
  if (!placed) return "no start on the section was found";
  if (off) return "the start does not lie on the section";
  if (wrong_way) return "no start on the level crosses the section in its direction";
  return all.outside ? "outside the level" : "no start on the level was found";
}
