/* SPDX-License-Identifier: MIT
 * A run cut short anywhere and continued is the run that was never interrupted: same bits of the final state, of every
 * row and event, same counts; forward and backward, with fixed and adaptive steps, on a grid and step by step, in both
 * closures, and when stopped. */
#include <math.h>
#include <stdlib.h>

#include "run/run.h"
#include "tests/built_models.h"
#include "tests/check.h"

typedef struct tape {
  ag_series rows;
  ag_run_result result;
} tape;

static void run_it(const ag_system *sys, const ag_run_options *o, tape *to) {
  ag_ctx ctx = {0};
  double x0[13];
  ag_system_state0(sys, x0);
  ag_record layout;
  ag_record_init(&layout, sys);
  to->rows.width = layout.width;
  ag_sink sink = {ag_series_row, &to->rows};
  AG_CHECK(ag_run(&ctx, sys, ag_system_param_values(sys), x0, o, &sink, &to->result) == AG_OK);
  ag_record_done(&layout);
  ag_ctx_done(&ctx);
}

static void done(tape *a) {
  ag_run_done(&a->result);
  ag_series_done(&a->rows);
}

static bool same(long n, const double *a, const double *b) { return !n || !memcmp(a, b, sizeof(double) * (size_t)n); }

static void compare(const tape *a, const tape *whole) {
  const ag_run_result *p = &a->result, *q = &whole->result;
  AG_CHECK(p->end == q->end && p->t == q->t && same(13, p->x, q->x));
  AG_CHECK(p->steps == q->steps && p->rejected == q->rejected && p->rhs == q->rhs);
  AG_CHECK(p->energy0 == q->energy0 && p->energy_size == q->energy_size && p->energy_drift == q->energy_drift &&
           p->residual_max == q->residual_max);
  AG_CHECK(a->rows.n == whole->rows.n);
  if (a->rows.n == whole->rows.n) AG_CHECK(same(a->rows.n * a->rows.width, a->rows.data, whole->rows.data));
  AG_CHECK(p->event_count[0] == q->event_count[0]);
  if (p->event_count[0] == q->event_count[0]) AG_CHECK(same(p->event_count[0], p->event_times[0], q->event_times[0]));
}

/* The first part is made with `part`, what follows its checkpoint with `whole`. */
static void check_cut(const ag_system *sys, const ag_run_options *part, const ag_run_options *whole,
                      const tape *expected) {
  tape a = {0}, b = {0};
  run_it(sys, part, &a);
  const ag_checkpoint *c = &a.result.checkpoint;
  AG_CHECK(c->made && c->n_row <= a.rows.n);
  ag_run_options o = *whole;
  o.from = c;
  b.rows.width = a.rows.width;
  for (long i = 0; i < c->n_row; i++) ag_series_row(&b.rows, a.rows.data + i * a.rows.width);
  run_it(sys, &o, &b);
  compare(&b, expected);
  done(&a);
  done(&b);
}

static void check_way(const ag_system *sys, ag_run_options o) {
  tape whole = {0};
  run_it(sys, &o, &whole);
  AG_CHECK(whole.result.end == AG_END_TIME);
  static const double parts[] = {1e-9, 1e-4, 0.01, 0.1, 0.25, 0.5, 0.51234567, 0.75, 0.9, 0.999999};
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
    ag_run_options part = o;
    part.t1 = o.t0 + (o.t1 - o.t0) * parts[i];
    check_cut(sys, &part, &o, &whole);
  }
  for (long k = 1; k < whole.result.steps;
       k += 7) { /* exactly where the long run has the end of a step, or gives up there */
    ag_run_options part = o;
    part.max_steps = k;
    check_cut(sys, &part, &o, &whole);
    if (o.every == 0) part.max_steps = 0, part.t1 = whole.rows.data[k * whole.rows.width];
    check_cut(sys, &part, &o, &whole);
  }
  done(&whole);
}

/* The checkpoints of the way: each must lead to the same end. */
typedef struct saved {
  const ag_system *sys;
  const ag_run_options *whole;
  const tape *expected;
  long n;
} saved;

static void try_saved(void *self, const ag_checkpoint *c) {
  saved *s = self;
  s->n++;
  tape b = {0};
  ag_run_options o = *s->whole;
  o.from = c;
  b.rows.width = s->expected->rows.width;
  for (long i = 0; i < c->n_row; i++) ag_series_row(&b.rows, s->expected->rows.data + i * b.rows.width);
  run_it(s->sys, &o, &b);
  compare(&b, s->expected);
  done(&b);
}

static void check_saved(const ag_system *sys, const ag_run_options *o) {
  tape whole = {0}, again = {0};
  run_it(sys, o, &whole);
  saved s = {sys, o, &whole, 0};
  ag_run_options p = *o;
  p.save = try_saved;
  p.save_self = &s;
  run_it(sys, &p, &again);
  compare(&again, &whole);
  AG_CHECK(s.n == 1 + (whole.result.steps - 1) / 64);
  done(&whole);
  done(&again);
}

/* A stepper with its own state: the Adams-Bashforth method of order 2, which carries the rate of the previous step and
 * its size (0: there was none, and a Heun step is made). The dense output is the cubic. */
static ag_step_room adams_room(long n, long m, long square) {
  (void)m, (void)square;
  return (ag_step_room){(size_t)(6 * n + 2), (size_t)(2 * n + 1), (int)n + 1};
}

static int adams_step(const ag_stepper *s, const ag_flow *f, double t, double h, const double *z, const double *dz0,
                      double *z1, double *dz1, double rtol, double atol, double *error, double *work) {
  int n = f->n, reason = 0;
  const double *before = dz0 + n, r = dz0[2 * n] != 0 ? 0.5 * h / dz0[2 * n] : 0;
  (void)s, (void)rtol, (void)atol;
  for (int i = 0; i < n; i++) z1[i] = z[i] + h * (dz0[i] + r * (dz0[i] - before[i]));
  reason = f->rhs(f->self, t + h, z1, dz1);
  for (int i = 0; i < n && r == 0; i++) z1[i] = z[i] + 0.5 * h * (dz0[i] + dz1[i]);
  if (!reason && r == 0) reason = f->rhs(f->self, t + h, z1, dz1);
  memcpy(dz1 + n, dz0, sizeof(double) * (size_t)n);
  dz1[2 * n] = h;
  memcpy(work, dz0, sizeof(double) * (size_t)(2 * n + 1));
  memcpy(work + 2 * n + 1, dz1, sizeof(double) * (size_t)n);
  error[0] = error[1] = 0;
  return reason;
}

static int adams_dense(const ag_stepper *s, const ag_flow *f, double t, double h, const double *z, const double *z1,
                       double *work) {
  int n = f->n;
  double *c = work + 3 * n + 2;
  (void)s, (void)t;
  for (int i = 0; i < n; i++) {
    double d = z1[i] - z[i], a = h * work[i] - d;
    c[i] = d, c[n + i] = a, c[2 * n + i] = d - h * work[2 * n + 1 + i] - a;
  }
  return 0;
}

static void adams_interpolate(const ag_stepper *s, int n, double theta, const double *z, const double *work,
                              double *out) {
  const double *c = work + 3 * n + 2;
  (void)s;
  for (int i = 0; i < n; i++) out[i] = z[i] + theta * (c[i] + (1 - theta) * (c[n + i] + theta * c[2 * n + i]));
}

static const ag_stepper adams = {.name = "adams",
                                 .family = "multistep",
                                 .order = 2,
                                 .dense_order = 2,
                                 .n_stage = 1,
                                 .room = adams_room,
                                 .step = adams_step,
                                 .dense = adams_dense,
                                 .interpolate = adams_interpolate};

static void check_refused(const ag_system *sys, ag_run_options o) {
  ag_ctx ctx = {0};
  double x0[13] = {0};
  ag_checkpoint wrong = {.made = true, .n = 1};
  ag_run_result result;
  o.from = &wrong;
  AG_CHECK(ag_run(&ctx, sys, ag_system_param_values(sys), x0, &o, NULL, &result) == AG_WRONG);
  AG_CHECK(ctx.n_error == 1);
  ag_ctx_done(&ctx);
}

int main(void) {
  ag_model *m = rattleback();
  ag_graph *g = m->graph;
  ag_event e = {"nod", ag_entry(g, m->coords[0].xi, 0, 0), 0, false, nowhere, false};
  AG_MODEL_PUSH(m, events, e);
  ag_ctx ctx = {0};
  ag_system *sys = NULL;
  AG_CHECK(ag_system_create(&ctx, m, &(ag_derive_options){0}, &sys) == AG_OK);
  ag_run_options o;
  ag_run_defaults(&o);
  o.engine = AG_ENGINE_INTERPRETED;
  o.t1 = 4;
  for (int way = 0; way < 8; way++) {
    ag_run_options p = o;
    if (way == 1) p.every = 0.013;
    if (way == 2) p.every = -1;
    if (way == 3) p.t0 = 4, p.t1 = 0;
    if (way == 4) p.dt = 0.01, p.every = 0.013;
    if (way == 5) p.multipliers = true, p.every = 0.1;
    if (way == 6) p.h_max = 0.02;
    if (way == 7) p.method = ag_stepper_find("dopri5"), p.rtol = 1e-6, p.atol = 1e-8; /* a controller with memory */
    check_way(sys, p);
  }
  for (int i = 0; i <= ag_stepper_count();
       i++) { /* fixed steps of every method that has no other, and one with a memory */
    ag_run_options p = o;
    p.method = i < ag_stepper_count() ? ag_stepper_at(i) : &adams;
    p.t1 = 1, p.dt = 0.02, p.every = 0.013;
    if (p.method->form == AG_FORM_SE3) continue; /* it needs another model */
    if (p.method->error_order || ag_stepper_noisy(p.method)) continue;
    ag_run_prepare(sys, &p);
    check_way(sys, p);
  }
  o.t1 = 30;
  check_saved(sys, &o);
  check_refused(sys, o);
  ag_system_free(sys);
  ag_model_free(m);
  ag_ctx_done(&ctx);
  return ag_check_report();
}
