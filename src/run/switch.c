/* SPDX-License-Identifier: MIT
 * Where in a step the equations switch: the first zero of a switching function, and, while the motion slides, the first
 * place where a branch releases it. Isolated by enclosures like events (isolate.h), located to rounding by real steps
 * from the start of the step on the branch that was active there. */
#include "run/switch.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SAMPLES = 64, CHEAP_WORK = 32, WORK = 4000, ROOT = 200 };

static const double ROUNDING = 1e-13;  /* of a known curve */
static const double SAME_TIME = 4e-16; /* relative to the time */

/* ---- making ---- */

static ag_isolate *isolate_role(const ag_mover *m, int role, const double *params, const double *c) {
  return ag_isolate_of_tape(ag_system_role(m->sys, role), params, m->compiles, m->n, c, ag_system_dims(m->sys)->c);
}

static bool reads_time(const ag_mover *m, int role) {
  const ag_tape *tape = ag_system_role(m->sys, role);
  return tape && tape->n_need[AG_SEG_T];
}

/* The multiplier form gives rates by numbers, from a linear system: they have no bounds. */
static void take_isolation(ag_mover *m, const double *params) {
  ag_switch *w = m->switches;
  w->on_s = isolate_role(m, w->functions, params, m->c);
  for (int side = 0; side < 2; side++) {
    bool rates = side == 1;
    w->bounded[side] = ag_heap_alloc((size_t)w->n);
    if (!rates || !m->full)
      ag_enclose_bounded(ag_system_role(m->sys, rates ? AG_ROLE_SWITCH_RATES : w->functions), w->bounded[side]);
    if (!m->full) w->on_rate[side] = isolate_role(m, AG_ROLE_SWITCH_RATES, params, w->c + side * w->n_c);
  }
}

void ag_switch_create(ag_mover *m, const double *params) {
  const ag_dims *dims = ag_system_dims(m->sys);
  int n_switch = m->full ? dims->full_switches : dims->switches;
  size_t n = (size_t)n_switch, size = sizeof(double), n_z = (size_t)m->n;
  if (m->core || !n) return;
  ag_switch *w = m->switches = ag_heap_alloc(sizeof *w);
  *w = (ag_switch){.n = n_switch, .n_c = m->n_c, .branch = m->c + m->n_c - n_switch, .plain = m->method};
  w->functions = m->full ? AG_ROLE_FULL_SWITCHES : AG_ROLE_SWITCHES;
  w->timeless = !reads_time(m, w->functions) && !reads_time(m, AG_ROLE_RHS) &&
                !(m->full && (reads_time(m, AG_ROLE_SADDLE) || reads_time(m, AG_ROLE_RESERVE)));
  w->moved = ag_heap_alloc(size * (n + n_z + (size_t)dims->xi));
  size_t n_field = n + 1 > AG_SLIDE_FIELDS ? n + 1 : AG_SLIDE_FIELDS;
  w->c = ag_heap_alloc(size * n_field * (size_t)m->n_c);
  w->fields = ag_heap_alloc(size * n_field * n_z);
  w->rates = ag_heap_alloc(size * n_field * n);
  w->slide = ag_heap_alloc(sizeof(int) * n);
  w->lambda = ag_heap_alloc(size * n);
  w->matrix = ag_heap_alloc(size * n * (n + 4));
  w->s = ag_heap_alloc(size * n);
  w->out = ag_heap_alloc(size * n);
  w->now = ag_heap_alloc(size * n);
  w->before = ag_heap_alloc(size * n);
  w->hit = ag_heap_alloc(n);
  w->skip = ag_heap_alloc(n);
  w->rows = ag_heap_alloc(size * AG_CURVE_ROWS * n_z);
  w->curve = ag_heap_alloc(size * (AG_ISOLATE_DEGREE + 1) * n_z);
  w->width = ag_heap_alloc(size * n_z);
  take_isolation(m, params);
}

void ag_switch_prepare(ag_mover *m, const double *params) {
  ag_switch *w = m->switches;
  ag_isolate_prepare(w->on_s, params);
  for (int side = 0; side < 2; side++) ag_isolate_prepare(w->on_rate[side], params);
}

void ag_switch_free(ag_mover *m) {
  ag_switch *w = m->switches;
  if (!w) return;
  void *all[] = {w->c,    w->fields, w->rates, w->s,          w->out,        w->now,   w->before, w->hit,    w->skip,
                 w->rows, w->curve,  w->width, w->bounded[0], w->bounded[1], w->moved, w->slide,  w->lambda, w->matrix};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i]);
  ag_isolate_free(w->on_s);
  ag_isolate_free(w->on_rate[0]);
  ag_isolate_free(w->on_rate[1]);
  free(w);
}

/* ---- the functions and their rates ---- */

int ag_switch_functions(ag_mover *m, double t, const double *z, const double *c, double *s) {
  return ag_work_role(m->work, m->switches->functions, t, z, c, s);
}

int ag_switch_rates(ag_mover *m, double t, const double *z, const double *c, const double *dz, double *rates) {
  ag_switch *w = m->switches;
  if (!m->full) return ag_work_role(m->work, AG_ROLE_SWITCH_RATES, t, z, c, rates);
  const ag_dims *dims = ag_system_dims(m->sys);
  double *moved = w->moved, *own = moved + w->n + dims->xi;
  int trouble = dz ? AG_FINE : ag_mover_branch(m, t, z, c, own);
  memcpy(moved, c, sizeof(double) * (size_t)w->n);
  memcpy(moved + w->n, (dz ? dz : own) + dims->q, sizeof(double) * (size_t)dims->xi);
  return trouble ? trouble : ag_work_role(m->work, AG_ROLE_FULL_RATES, t, z, moved, rates);
}

/* ---- functions that must not change their sign ---- */

typedef enum probe_kind { SURFACE, RELEASE, MARGIN } probe_kind;

/* SURFACE: switching function k. RELEASE: its rate on one side of the surface slid on. MARGIN: see ag_slide_margin. */
typedef struct probe {
  ag_mover *m;
  double t, h;
  probe_kind kind;
  int k, side;
  double want; /* its sign */
} probe;

static double value(const probe *p, double t, const double *z) {
  ag_mover *m = p->m;
  ag_switch *w = m->switches;
  if (p->kind == MARGIN) return ag_slide_margin(m, t, z);
  int trouble = p->kind == SURFACE ? ag_switch_functions(m, t, z, m->c, w->out)
                                   : ag_switch_rates(m, t, z, w->c + p->side * w->n_c, NULL, w->out);
  return trouble ? NAN : p->want * w->out[p->k];
}

static double on_dense(const probe *p, double theta) {
  ag_mover *m = p->m;
  m->method->interpolate(m->method, m->n, theta, m->z, m->space, m->zt);
  return value(p, p->t + theta * p->h, m->zt);
}

static double by_step(const probe *p, double s) {
  ag_mover *m = p->m;
  /* behind a surface where a row of the constraints ceases to act there is nothing to settle onto */
  if (!ag_mover_settled(m, p->t, s) && !ag_mover_at(m, p->t, s, m->zt)) return NAN;
  if (p->kind != SURFACE) ag_slide_project(m, s, m->zt);
  return value(p, s, m->zt);
}

/* The zero between a, where the function is positive, and b, where it is not: the first time known at which it is not,
 * or at which no step can be made to (a row that fades away there). Regula falsi with the Illinois rule; halved where
 * two of these steps did not do that: the root may be a billion times nearer to a than b is. */
static double locate(const probe *p, double a, double b) {
  double fa = by_step(p, a), fb = by_step(p, b);
  if (fb > 0) return NAN; /* the dense output was not accurate enough: it is found in the next step */
  if (!(fa > 0)) return a == p->t ? b : a;
  int last = 0, since = 0; /* steps since it was halved last */
  double wide = fabs(b - a);
  for (int i = 0; i < ROOT && fabs(b - a) > 2.2e-16 * fabs(b) && fb != 0; i++) {
    double s = b - fb * (b - a) / (fb - fa);
    if (fabs(b - a) <= 0.5 * wide) wide = fabs(b - a), since = 0;
    if (!(s > fmin(a, b) && s < fmax(a, b)) || since++ == 2) s = 0.5 * (a + b), since = 0;
    if (s == a || s == b) break;
    double f = by_step(p, s);
    if (f > 0) {
      a = s, fa = f;
      if (last == 1) fb *= 0.5;
      last = 1;
    } else {
      b = s, fb = f;
      if (last == -1) fa *= 0.5;
      last = -1;
    }
  }
  return b;
}

/* The first change from positive to not positive among the places theta_0 = 0 < theta_1 < ... visited one by one. */
typedef struct walk {
  const probe *p;
  double last, found; /* where it was positive; the time of the change, or NaN */
  bool was;           /* positive at some place */
} walk;

static void visit(walk *v, double theta) {
  if (!isnan(v->found)) return;
  double f = on_dense(v->p, theta);
  if (f > 0) v->was = true, v->last = theta;
  else if (v->was && f <= 0) v->found = locate(v->p, v->p->t + v->last * v->p->h, v->p->t + theta * v->p->h);
}

/* The pieces that isolation left, or samples. A function that starts on the wrong side by rounding comes over. */
static double first_change(const probe *p, const ag_isolate *isolate) {
  walk v = {.p = p, .found = NAN};
  int n = 0;
  const ag_bracket *b = isolate ? ag_isolate_found(isolate, p->k, &n) : NULL;
  v.was = on_dense(p, 0) > -0.0;
  for (int i = 0; i < n; i++) {
    visit(&v, b[i].from);
    if (b[i].doubt) visit(&v, 0.5 * (b[i].from + b[i].to));
    visit(&v, b[i].to);
  }
  for (int i = 1; i < SAMPLES && !isolate; i++) visit(&v, (double)i / SAMPLES);
  visit(&v, 1);
  if (isnan(v.found) && !v.was && on_dense(p, 0.5) < 0 && on_dense(p, 1) < 10 * on_dense(p, 0))
    return p->t; /* it never came over */
  return v.found;
}

/* ---- the step ---- */

/* All functions examined in the step; room for n + 2. */
static int probes(ag_mover *m, double t, double h, probe *p) {
  ag_switch *w = m->switches;
  int n = 0;
  double direction = h > 0 ? 1 : -1;
  for (int k = 0; k < w->n; k++)
    if (w->branch[k] != 0) p[n++] = (probe){m, t, h, SURFACE, k, 0, w->branch[k]};
  if (w->n_slide == 1)
    for (int side = 0; side < 2; side++)
      p[n++] = (probe){m, t, h, RELEASE, w->slide[0], side, side ? -direction : direction};
  if (w->n_slide > 1) p[n++] = (probe){m, t, h, MARGIN, 0, 0, 1};
  return n;
}

static ag_isolate *isolate_of(const probe *p) {
  const ag_switch *w = p->m->switches;
  if (p->kind == MARGIN || !w->bounded[p->kind == RELEASE][p->k]) return NULL;
  return p->kind == SURFACE ? w->on_s : w->on_rate[p->side];
}

/* Isolates along the curve. True: it is proved that no function changes its sign. */
static bool isolate_all(ag_mover *m, double t, double h, int degree, int n, const probe *p, int work) {
  ag_switch *w = m->switches;
  bool clear = true;
  for (int k = 0; k < w->n; k++) w->skip[k] = w->branch[k] == 0 || !w->bounded[0][k];
  (void)ag_isolate_step(w->on_s, t, h, degree, w->curve, w->width, w->skip, work, 0);
  for (int side = 0; side < 2 && w->n_slide == 1 && !m->full; side++) {
    for (int k = 0; k < w->n; k++) w->skip[k] = k != w->slide[0] || !w->bounded[1][k];
    (void)ag_isolate_step(w->on_rate[side], t, h, degree, w->curve, w->width, w->skip, work, 0);
  }
  for (int i = 0; i < n && clear; i++) {
    int found = 1;
    const ag_isolate *isolate = isolate_of(&p[i]);
    if (isolate) (void)ag_isolate_found(isolate, p[i].k, &found);
    clear = !found && value(&p[i], t + h, m->z1) > 0;
  }
  return clear;
}

/* c on both sides of the surface slid on, which the isolation of the rates reads. */
static void set_sides(ag_mover *m) {
  ag_switch *w = m->switches;
  for (int side = 0; side < 2; side++) {
    memcpy(w->c + side * w->n_c, m->c, sizeof(double) * (size_t)w->n_c);
    if (w->n_slide == 1) w->c[side * w->n_c + w->n_c - w->n + w->slide[0]] = side ? 1 : -1;
  }
}

/* The part of the step that is to be tried instead, where a function comes nearer to zero early in it than it is known:
 * on a branch that is only passed through (a thin layer) the numbers grow far beyond their size in it, and with them
 * the rounding error. A function that leaves zero at the start is known to. 1: the step is good. */
static double part_known(const ag_mover *m, const probe *p, int n) {
  static const double EARLY = 0.5, FAR = 100;
  double part = 1, before = 0, behind = 0;
  for (int i = 0; i < m->n; i++) before = fmax(before, fabs(m->z[i])), behind = fmax(behind, fabs(m->z1[i]));
  if (!(before > 0) || !(behind > FAR * before)) return 1;
  for (int i = 0; i < n; i++) {
    int n_found = 0;
    ag_isolate *isolate = isolate_of(&p[i]);
    const ag_bracket *b = isolate && !ag_isolate_tired(isolate) ? ag_isolate_found(isolate, p[i].k, &n_found) : NULL;
    for (int k = 0; k < n_found; k++) {
      if (!b[k].doubt || b[k].to >= EARLY || (b[k].from <= 0 && on_dense(&p[i], b[k].to) > 0)) continue;
      part = fmin(part, b[k].to / EARLY);
    }
  }
  return part;
}

/* Does a step that ends at t change the sign of a function? */
static bool ends_behind(const ag_mover *m, double t, int n, const probe *p) {
  for (int i = 0; i < n; i++)
    if (value(&p[i], t, m->z1) <= 0) return true;
  return false;
}

bool ag_switch_first(ag_mover *m, double t, double h, double *at) {
  ag_switch *w = m->switches;
  w->part = 1;
  probe *p = ag_heap_alloc(sizeof *p * (size_t)(w->n + 2));
  int n = probes(m, t, h, p);
  double first = NAN, *found = ag_heap_alloc(sizeof(double) * (size_t)(n + 1));
  set_sides(m);
  bool clear = ag_curve_cheap(m, t, h, w->rows, w->curve, w->width) &&
               isolate_all(m, t, h, AG_CURVE_ROWS, n, p, CHEAP_WORK);
  bool dense = !clear && !m->method->dense(m->method, &m->flow, t, h, m->z, m->z1, m->space);
  w->blind = !clear && !dense && ends_behind(m, t + h, n, p);
  if (dense) {
    ag_curve_dense(m, w->curve);
    for (int i = 0; i < m->n; i++) w->width[i] = ROUNDING * fmax(fabs(m->z[i]), fabs(m->z1[i]));
    (void)isolate_all(m, t, h, AG_ISOLATE_DEGREE, n, p, WORK);
    if (m->rtol > 0) w->part = part_known(m, p, n); /* fixed steps stay as they are */
    for (int i = 0; i < n; i++) {
      const ag_isolate *isolate = isolate_of(&p[i]);
      found[i] = first_change(&p[i], isolate && !ag_isolate_tired(isolate) ? isolate : NULL);
      if (!isnan(found[i]) && (isnan(first) || (first - found[i]) * h > 0)) first = found[i];
    }
  }
  memset(w->hit, 0, (size_t)w->n);
  for (int i = 0; i < n && !clear; i++)
    if (p[i].kind == SURFACE && fabs(found[i] - first) <= SAME_TIME * fabs(first)) w->hit[p[i].k] = true;
  free(p);
  free(found);
  *at = first;
  return !isnan(first);
}

/* Steps fail where a branch does not exist beyond its surface (a root, a power). */
bool ag_switch_ahead(ag_mover *m, double t, double h, double nothing, double *limit) {
  ag_switch *w = m->switches;
  bool here = false;
  *limit = INFINITY;
  memset(w->hit, 0, (size_t)w->n);
  if (ag_switch_functions(m, t, m->z, m->c, w->s) || ag_switch_rates(m, t, m->z, m->c, NULL, w->out)) return false;
  for (int k = 0; k < w->n; k++) {
    double left = -w->s[k] / w->out[k];
    bool decided = w->started && w->s[k] == 0; /* it lies behind */
    if (w->branch[k] == 0 || decided || !(left * h >= 0) || fabs(left) > fmax(fabs(h), nothing)) continue;
    *limit = fmin(*limit, fabs(left));
    w->hit[k] = fabs(left) <= nothing;
    here = here || w->hit[k];
  }
  return here;
}

void ag_switch_here(ag_mover *m, double t, double h) {
  static const double HERE = 1e-9; /* of a step */
  ag_switch *w = m->switches;
  ag_work_full_branches(m->work, t, m->z, m->c);
  ag_work_branch(m->work, m->c);
  if (ag_switch_functions(m, t, m->z, m->c, w->s) || ag_switch_rates(m, t, m->z, m->c, NULL, w->out)) return;
  for (int k = 0; k < w->n; k++) w->hit[k] = fabs(w->s[k]) <= HERE * fabs(h * w->out[k]);
}

bool ag_switch_slides(const ag_mover *m) { return m->switches && m->switches->n_slide; }
