/* SPDX-License-Identifier: MIT
 * Confirms verdicts by a run: how far each quantity moves away from its value at the start. Not part of any proof. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "study/conserve_internal.h"

typedef struct watch {
  ag_conservation *c;
  ag_work *work;
  ag_tape *tape;
  bool lambda, begun;
  double *slots, *now, *first;
  double *shape; /* r of every moment, if there is a table */
  long room;     /* for moments */
} watch;

static void keep(watch *w, double t) {
  ag_conservation *c = w->c;
  const int n = c->n + c->shape.n;
  const size_t width = 1 + (size_t)n;
  if (c->n_moment == w->room) {
    w->room = w->room ? 2 * w->room : 256;
    c->moments = ag_heap_grow(c->moments, sizeof(double) * width * (size_t)w->room);
    w->shape = ag_heap_grow(w->shape, sizeof(double) * (size_t)w->room);
  }
  double *row = c->moments + width * (size_t)c->n_moment;
  row[0] = t;
  for (int i = 0; i < n; i++) row[1 + i] = w->now[i]; /* of the table w, for the time being */
  w->shape[c->n_moment++] = c->shape.n ? w->now[n] : 0;
}

typedef struct place {
  double r;
  long at;
} place;

static int by_shape(const void *a, const void *b) {
  const place *x = a, *y = b;
  return (x->r > y->r) - (x->r < y->r);
}

/* Replaces w by c(r).w + f(r); NaN where the table does not reach. */
static void use_table(watch *w) {
  ag_conservation *c = w->c;
  ag_shape *s = &c->shape;
  const int n = (int)c->n_moment, wide = 1 + s->n * (s->n + 1), width = 1 + c->n + s->n;
  place *order = ag_heap_alloc(sizeof *order * (size_t)(n + 1));
  double *r = ag_heap_alloc(sizeof *r * (size_t)(n + 1)), *rows = ag_heap_alloc(sizeof *rows * (size_t)(n * wide + 1));
  int first = 0;
  for (int i = 0; i < n; i++) order[i] = (place){w->shape[i], i};
  qsort(order, (size_t)n, sizeof *order, by_shape);
  for (int i = 0; i < n; i++) r[i] = order[i].r;
  int reached = ag_shape_rows(s, n, r, rows, &first);
  for (int i = 0; i < n; i++) {
    double *row = c->moments + order[i].at * width + 1 + c->n, old[AG_MAX_TABLE];
    const bool inside = i >= first && i < first + reached;
    memcpy(old, row, sizeof *row * (size_t)s->n);
    for (int k = 0; k < s->n; k++) {
      const double *ck = rows + i * wide + 1 + k * (s->n + 1);
      row[k] = inside ? ck[s->n] : (double)NAN;
      for (int j = 0; j < s->n && inside; j++) row[k] += ck[j] * old[j];
    }
  }
  for (int k = 0; k < s->n; k++) {
    const double *at = c->moments + 1 + c->n + k;
    double base = (double)NAN;
    s->drift[k] = (double)NAN;
    for (int i = 0; i < n; i++) {
      if (isnan(base)) base = at[i * width];                       /* the first one that is reached */
      s->drift[k] = fmax(s->drift[k], fabs(at[i * width] - base)); /* NaN does not count */
    }
  }
  free(order);
  free(r);
  free(rows);
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

ag_status ag_conserve_confirm(ag_conservation *c, ag_ctx *ctx, ag_system *sys, double time, long max_steps) {
  int n_out = c->n;
  ag_id *outs = ag_heap_alloc(sizeof *outs * (size_t)(c->n + AG_MAX_TABLE + 2));
  for (int i = 0; i < c->n; i++) outs[i] = c->at[i].x;
  for (int i = 0; i < c->shape.n; i++) outs[n_out++] = c->shape.w[i];
  if (c->shape.n) outs[n_out++] = c->shape.r;
  double *x0 = ag_heap_alloc(sizeof *x0 * (size_t)(ag_system_dims(sys)->x + 1));
  const double *params = ag_system_param_values(sys);
  watch w = {.c = c, .work = ag_work_create(sys, params)};
  w.tape = ag_system_tape(sys, n_out, outs, &w.lambda);
  w.slots = ag_heap_aligned(sizeof *w.slots * (size_t)(w.tape->n_slot + 1));
  w.now = ag_heap_alloc(sizeof *w.now * 2 * (size_t)(n_out + 1));
  w.first = w.now + n_out;
  (void)ag_tape_prep(w.tape, params, w.slots);
  ag_system_state0(sys, x0);
  ag_run_options o;
  ag_run_defaults(&o);
  o.rtol = o.atol = c->rtol = c->atol = 1e-12;
  o.t0 = ag_system_t0(sys);
  o.t1 = time;
  o.max_steps = max_steps;
  o.every = -1;
  o.events = false;
  o.noise = AG_NOISE_OFF;
  o.each = look;
  o.each_self = &w;
  ag_run_result result = {0};
  ag_status status = ag_run(ctx, sys, params, x0, &o, NULL, &result);
  if (status == AG_OK) {
    c->confirmed = result.t;
    c->cut = result.end == AG_END_TIME ? NULL : ag_end_word(result.end);
    ag_run_done(&result);
    if (c->shape.n) use_table(&w);
  }
  ag_work_free(w.work);
  ag_tape_free(w.tape);
  free(w.slots);
  free(w.now);
  free(w.shape);
  free(x0);
  free(outs);
  return status;
}
