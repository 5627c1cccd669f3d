/* SPDX-License-Identifier: MIT
 * Terms that may be short in time (mech/pulse.c): does one of them, somewhere in a step, leave the range of its values
 * at the stages by half of that range? Then they have not seen it, and the step is shortened. Proved by enclosures,
 * like crossings: the terms minus the bounds of that range are isolated over the step. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "run/run_internal.h"

enum { PLACES = 40, WORK = 2000 };

static const double BEYOND = 0.5;     /* of the range seen */
static const double SMALL = 1e-3;     /* of the tolerance: a term this small does not matter */
static const double SHORTEST = 1e-11; /* relative to the time: a shorter push is ignored */

struct ag_pulse {
  int n, n_c; /* terms; numbers of c before the levels */
  bool moves; /* some read the state */
  const ag_tape *tape;
  ag_isolate *isolate;
  double *c, *slots, *out, *rows, *curve, *width, *z;
  const double *params;
  int n_place;
  double place[PLACES]; /* parts of a step that the error estimate sees */
};

/* The places of the stages, from steps of the method on 0 <= t <= 1. */
typedef struct stages {
  int n;
  double at[PLACES], push; /* where the rate is 1, or NaN */
} stages;

static int note_stage(void *self, double t, const double *z, double *dz) {
  stages *k = self;
  bool new = k->n < PLACES;
  (void)z;
  dz[0] = t == k->push;
  for (int i = 0; i < k->n; i++) new = new && k->at[i] != t;
  if (new) k->at[k->n++] = t;
  return 0;
}

static int no_change(void *self, double t, const double *z, double *J) {
  (void)self, (void)t, (void)z;
  J[0] = 0;
  return 0;
}

/* The estimate of the error for a rate that is 1 at the place k->push and 0 elsewhere. */
static double try_push(const ag_stepper *method, stages *k, double *space) {
  ag_step_room room = method->room(1, 1, 1);
  size_t own = (size_t)(1 + room.own);
  double *carry = space + room.size, z = 0, z1, error[2] = {0, 0};
  static const int velocity = -1; /* of an equation of second order: no position is needed */
  ag_flow flow = {.n = 1, .m = 1, .rhs = note_stage, .rate = &velocity, .jacobian = no_change, .self = k};
  memset(space, 0, sizeof(double) * (room.size + 2 * own));
  carry[0] = k->push == 0;
  (void)method->step(method, &flow, 0, 1, &z, carry, &z1, carry + own, 1, 1, error, space);
  return error[0];
}

/* Some stages of high-order methods do not enter the error estimate: a push that only they see goes unnoticed. */
static void find_places(ag_pulse *p, const ag_stepper *method) {
  ag_step_room room = method->room(1, 1, 1);
  double *space = ag_heap_aligned(sizeof(double) * (room.size + 2 * (size_t)(1 + room.own)));
  stages k = {.n = 1, .push = NAN};
  (void)try_push(method, &k, space);
  for (int i = 0; i < k.n; i++) {
    k.push = k.at[i];
    if (fabs(try_push(method, &k, space)) > 1e-10) p->place[p->n_place++] = k.at[i];
  }
  free(space);
}

void ag_pulse_create(ag_mover *m, const double *params, bool fixed) {
  const ag_dims *dims = ag_system_dims(m->sys);
  int n_pulse = m->full ? dims->full_pulses : dims->pulses;
  if (m->core || fixed || !n_pulse) return;
  ag_pulse *p = m->pulse = ag_heap_alloc(sizeof *p);
  size_t n = (size_t)m->n, size = sizeof(double);
  *p = (ag_pulse){.n = n_pulse, .n_c = m->n_c, .params = params};
  p->tape = ag_system_role(m->sys, m->full ? AG_ROLE_FULL_PULSES : AG_ROLE_PULSES);
  p->moves = p->tape->n_need[AG_SEG_Z] > 0;
  p->c = ag_heap_alloc(size * (size_t)(p->n_c + 2 * p->n));
  p->isolate = ag_isolate_of_tape(p->tape, params, m->compiles, m->n, p->c, p->n_c + 2 * p->n);
  p->slots = ag_heap_aligned(size * (size_t)(p->tape->n_slot + 1));
  (void)ag_tape_prep(p->tape, params, p->slots);
  p->out = ag_heap_alloc(size * (size_t)(2 * p->n));
  p->rows = ag_heap_alloc(size * AG_CURVE_ROWS * n);
  p->curve = ag_heap_alloc(size * (AG_CURVE_ROWS + 1) * n);
  p->width = ag_heap_alloc(size * n);
  p->z = ag_heap_alloc(size * n);
  find_places(p, m->method);
}

void ag_pulse_free(ag_mover *m) {
  ag_pulse *p = m->pulse;
  if (!p) return;
  void *all[] = {p->c, p->slots, p->out, p->rows, p->curve, p->width, p->z};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i]);
  ag_isolate_free(p->isolate);
  free(p);
}

bool ag_pulse_moves(const ag_mover *m) { return m->pulse->moves; }

/* The terms minus their levels at the part theta of the step; a point of the curve by de Casteljau's algorithm. */
static const double *terms_at(ag_mover *m, double t, double h, double theta) {
  ag_pulse *p = m->pulse;
  double s = t + theta * h, w[AG_CURVE_ROWS + 1];
  for (int i = 0; i < m->n && p->moves; i++) {
    for (int k = 0; k <= AG_CURVE_ROWS; k++) w[k] = p->curve[k * m->n + i];
    for (int k = AG_CURVE_ROWS; k > 0; k--)
      for (int j = 0; j < k; j++) w[j] += theta * (w[j + 1] - w[j]);
    p->z[i] = w[0];
  }
  const double *seg[AG_SEG_COUNT] = {[AG_SEG_T] = &s, [AG_SEG_Z] = p->z, [AG_SEG_P] = p->params, [AG_SEG_C] = p->c};
  (void)ag_tape_eval(p->tape, seg, p->slots, p->out);
  return p->out;
}

/* The range of every term at the stages, widened, as its levels. */
static void set_levels(ag_mover *m, double t, double h) {
  ag_pulse *p = m->pulse;
  double *level = p->c + p->n_c, *seen = ag_heap_alloc(sizeof(double) * (size_t)(2 * p->n));
  memcpy(p->c, m->c, sizeof(double) * (size_t)p->n_c);
  memset(level, 0, sizeof(double) * (size_t)(2 * p->n));
  for (int k = 0; k < p->n_place; k++) {
    const double *v = terms_at(m, t, h, p->place[k]);
    for (int i = 0; i < p->n; i++) {
      seen[2 * i] = k ? fmin(seen[2 * i], v[2 * i]) : v[2 * i];
      seen[2 * i + 1] = k ? fmax(seen[2 * i + 1], v[2 * i]) : v[2 * i];
    }
  }
  for (int i = 0; i < p->n; i++) {
    double margin = BEYOND * (seen[2 * i + 1] - seen[2 * i]) + SMALL * (m->atol + m->rtol * fabs(seen[2 * i]));
    level[2 * i] = seen[2 * i] - margin;
    level[2 * i + 1] = seen[2 * i + 1] + margin;
  }
  free(seen);
}

/* The first place where term e / 2 is below (e even) or above its level; 2: there is none. */
static double first_beyond(ag_mover *m, double t, double h, int e) {
  int n;
  double side = e % 2 ? 1 : -1;
  const ag_bracket *b = ag_isolate_found(m->pulse->isolate, e, &n);
  for (int k = 0; k < n; k++) {
    double middle = 0.5 * (b[k].from + b[k].to);
    if (side * terms_at(m, t, h, b[k].to)[e] > 0 || side * terms_at(m, t, h, middle)[e] > 0) return b[k].from;
  }
  return 2;
}

bool ag_pulse_unseen(ag_mover *m, double t, double h, double *shorter) {
  ag_pulse *p = m->pulse;
  double first = 2;
  if (fabs(h) <= SHORTEST * fabs(t)) return false;
  if (p->moves && !ag_curve_cheap(m, t, h, p->rows, p->curve, p->width)) return false;
  set_levels(m, t, h);
  (void)ag_isolate_step(p->isolate, t, h, AG_CURVE_ROWS, p->curve, p->width, NULL, WORK, 0);
  for (int e = 0; e < 2 * p->n; e++) first = fmin(first, first_beyond(m, t, h, e));
  if (first > 1) return false;
  *shorter = h * (first > 0.3 ? 0.95 * first : fmax(0.1, first));
  return true;
}
