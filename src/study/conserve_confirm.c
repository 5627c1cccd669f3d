/* SPDX-License-Identifier: MIT
 * Confirms verdicts by a run: how far each quantity moves away from its value at the start. No part of any proof. */
#include <math.h>
#include <stdlib.h>

#include "study/conserve_internal.h"

typedef struct watch {
  ag_conservation *c;
  ag_work *work;
  ag_tape *tape;
  bool lambda, begun;
  double *slots, *now, *first;
  long room; /* for moments */
} watch;

static void keep(watch *w, double t) {
  ag_conservation *c = w->c;
  const size_t width = 1 + (size_t)c->n;
  if (c->n_moment == w->room) {
    w->room = w->room ? 2 * w->room : 256;
    c->moments = ag_heap_grow(c->moments, sizeof(double) * width * (size_t)w->room);
  }
  double *row = c->moments + width * (size_t)c->n_moment++;
  row[0] = t;
  for (int i = 0; i < c->n; i++) row[1 + i] = w->now[i];
}

static void look(void *self, double t, const double *x) {
  watch *w = self;
  (void)ag_work_eval(w->work, w->tape, w->lambda, t, x, w->slots, w->now);
  for (int i = 0; i < w->c->n; i++) {
    if (!w->begun) w->first[i] = w->now[i];
    w->c->at[i].drift = fmax(w->c->at[i].drift, fabs(w->now[i] - w->first[i]));
  }
  w->begun = true;
  keep(w, t);
}

ag_status ag_conserve_confirm(ag_conservation *c, ag_ctx *ctx, ag_system *sys, double time) {
  ag_id *outs = ag_heap_alloc(sizeof *outs * (size_t)(c->n + 1));
  for (int i = 0; i < c->n; i++) outs[i] = c->at[i].x;
  double *x0 = ag_heap_alloc(sizeof *x0 * (size_t)(ag_system_dims(sys)->x + 1));
  const double *params = ag_system_param_values(sys);
  watch w = {.c = c, .work = ag_work_create(sys, params)};
  w.tape = ag_system_tape(sys, c->n, outs, &w.lambda);
  w.slots = ag_heap_aligned(sizeof *w.slots * (size_t)(w.tape->n_slot + 1));
  w.now = ag_heap_alloc(sizeof *w.now * 2 * (size_t)(c->n + 1));
  w.first = w.now + c->n;
  (void)ag_tape_prep(w.tape, params, w.slots);
  ag_system_state0(sys, x0);
  ag_run_options o;
  ag_run_defaults(&o);
  o.rtol = o.atol = 1e-12;
  o.t0 = ag_system_t0(sys);
  o.t1 = time;
  o.every = -1;
  o.events = false;
  o.noise = AG_NOISE_OFF;
  o.each = look;
  o.each_self = &w;
  ag_run_result result = {0};
  ag_status status = ag_run(ctx, sys, params, x0, &o, NULL, &result);
  if (status == AG_OK) {
    c->confirmed = result.t;
    ag_run_done(&result);
  }
  ag_work_free(w.work);
  ag_tape_free(w.tape);
  free(w.slots);
  free(w.now);
  free(x0);
  free(outs);
  return status;
}
