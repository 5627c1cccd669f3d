/* SPDX-License-Identifier: MIT
 * The expect statements of a model, checked by running it with dop853 at rtol = atol = 5e-13, or along paths. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "run/run_internal.h"

/* What is monitored along a motion. */
typedef struct watch {
  const ag_system *sys;
  const ag_expect *e;
  ag_work *work;
  ag_tape *tape; /* x, then value where there is one, or what parts_of gives */
  bool lambda;
  double *slots, *out, *first;
  int n; /* entries of x */
  double
      *parts; /* for a constant that contains the energy: the largest size of the terms that cancel in it; else NULL */
  bool seen;
  ag_verdict *v;
} watch;

/* Keeps the worst entry: error relative to max(1, |wanted|, parts). NaN is worst of all. */
static void judge(ag_verdict *v, double got, double wanted, double parts, bool *seen) {
  double error = fabs(got - wanted) / fmax(fmax(1, fabs(wanted)), parts);
  if (isnan(error)) error = INFINITY;
  if (*seen && error <= v->error) return;
  *seen = true;
  v->got = got;
  v->wanted = wanted;
  v->error = error;
}

/* The largest spread of an entry so far: first[] holds the smallest values, out[n..] the largest. */
static void widen(watch *w) {
  for (int i = 0; i < w->n; i++) {
    double *lo = &w->first[i], *hi = &w->out[w->n + i];
    if (!w->seen) *hi = w->out[i];
    *lo = fmin(*lo, w->out[i]);
    *hi = fmax(*hi, w->out[i]);
    if (w->seen && *hi - *lo <= w->v->error) continue;
    w->v->got = *hi;
    w->v->wanted = *lo;
    w->v->error = *hi - *lo;
  }
  w->seen = true;
}

static void look(void *self, double t, const double *x) {
  watch *w = self;
  (void)ag_work_eval(w->work, w->tape, w->lambda, t, x, w->slots, w->out);
  bool start = w->first[w->n] == 0;
  if (start) {
    memcpy(w->first, w->out, sizeof(double) * (size_t)w->n);
    w->first[w->n] = 1;
  }
  bool constant = w->e->kind == AG_EXPECT_CONSTANT;
  if (w->e->kind == AG_EXPECT_VARIES) {
    widen(w);
    return;
  }
  for (int i = 0; i < w->n; i++) {
    if (w->parts) w->parts[i] = fmax(w->parts[i], w->out[w->n + i]);
    judge(w->v, w->out[i], constant ? w->first[i] : w->out[w->n + i], w->parts ? w->parts[i] : 0, &w->seen);
  }
}

/* |dx/dE| (T + |V|): an error of the energy E is small relative to the kinetic and potential energies, which may be
 * much larger than their sum, and x inherits it. 0 if x does not contain the energy. */
static ag_id parts_of(ag_system *sys, ag_id x) {
  ag_graph *g = ag_system_graph(sys);
  ag_id energy = ag_model_energy_input(ag_system_model(sys));
  if (!energy || !ag_depends(g, 1, &x, 1, &energy)) return 0;
  int rows = ag_node_rows(g, x), cols = ag_node_cols(g, x);
  ag_id one = ag_num(g, 1), dx, *parts = ag_heap_alloc(sizeof *parts * (size_t)(rows * cols));
  ag_forward(g, 1, &energy, &one, 1, &x, &dx);
  for (int i = 0; i < rows * cols; i++) {
    ag_id slope = ag_norm(g, ag_entry(g, dx, i / cols, i % cols));
    parts[i] = ag_mul(g, slope, ag_system_energy_size(sys));
  }
  ag_id all = ag_stack(g, rows, cols, parts);
  free(parts);
  return all;
}

static void watch_create(watch *w, ag_system *sys, const ag_expect *e, const double *params, ag_verdict *v) {
  const ag_graph *g = ag_model_nodes(ag_system_model(sys));
  bool has_value = e->kind == AG_EXPECT_AT || e->kind == AG_EXPECT_ALONG;
  ag_id parts = e->kind == AG_EXPECT_CONSTANT ? parts_of(sys, e->x) : 0, outs[2] = {e->x, parts ? parts : e->value};
  *w = (watch){.sys = sys, .e = e, .v = v, .n = ag_node_rows(g, e->x) * ag_node_cols(g, e->x)};
  w->work = ag_work_create(sys, params);
  w->tape = ag_system_tape(sys, has_value || parts ? 2 : 1, outs, &w->lambda);
  w->slots = ag_heap_aligned(sizeof(double) * (size_t)(w->tape->n_slot + 1));
  w->out = ag_heap_alloc(sizeof(double) * (size_t)(2 * w->n + 1));
  w->first = ag_heap_alloc(sizeof(double) * (size_t)(w->n + 1));
  w->parts = parts ? ag_heap_alloc(sizeof(double) * (size_t)w->n) : NULL;
  (void)ag_tape_prep(w->tape, params, w->slots);
}

static void watch_free(watch *w) {
  ag_work_free(w->work);
  ag_tape_free(w->tape);
  free(w->slots);
  free(w->out);
  free(w->first);
  free(w->parts);
}

/* Time, tolerance or count of an expectation: an expression in the parameters, at the start state. */
static double number_of(ag_system *sys, ag_id x, const double *params, const double *state) {
  bool lambda;
  double out = NAN;
  if (!x) return 0;
  ag_tape *tape = ag_system_tape(sys, 1, &x, &lambda);
  double *slots = ag_heap_aligned(sizeof(double) * (size_t)(tape->n_slot + 1));
  ag_work *work = ag_work_create(sys, params);
  (void)ag_tape_prep(tape, params, slots);
  (void)ag_work_eval(work, tape, lambda, ag_system_t0(sys), state, slots, &out);
  ag_work_free(work);
  ag_tape_free(tape);
  free(slots);
  return out;
}

static char *note_of(const char *text, double t) {
  ag_text x = {0};
  ag_text_printf(&x, "the motion ended at t = %.6g: %s", t, text);
  return x.s;
}

static void judge_event(const ag_expect *e, const ag_run_result *res, double time, double count, ag_verdict *v) {
  bool seen = false;
  int n = res->event_count[e->event];
  if (e->kind == AG_EXPECT_COUNT) {
    judge(v, n, count, 0, &seen);
    v->tol = 0;
  } else if (n < e->nth) {
    v->error = INFINITY;
    v->wanted = time;
    v->got = NAN;
    v->note = note_of("the event did not happen that often", res->t);
  } else {
    judge(v, res->event_times[e->event][e->nth - 1], time, 0, &seen);
  }
}

/* Corners of the equations are events at which steps end: they are then located in every run. */
static bool has_corners(const ag_model *m) {
  for (int i = 0; i < ag_model_n_events(m); i++)
    if (ag_model_events(m)[i].cuts) return true;
  return false;
}

/* A mean or variance over paths: v->tol is in standard errors first. */
static ag_status run_paths(ag_ctx *ctx, ag_system *sys, const ag_expect *e, const double *params, const double *x0,
                           ag_verdict *v) {
  v->tol = number_of(sys, e->tol, params, x0);
  v->wanted = number_of(sys, e->value, params, x0);
  const double time = number_of(sys, e->time, params, x0), dt = number_of(sys, e->dt, params, x0);
  return ag_expect_paths(ctx, sys, e, params, x0, time, dt, v);
}

/* Runs one expectation for given parameters and start. */
static ag_status run_one(ag_ctx *ctx, ag_system *sys, const ag_expect *e, const double *params, const double *x0,
                         ag_verdict *v) {
  double time = number_of(sys, e->time, params, x0);
  bool event = e->kind == AG_EXPECT_EVENT || e->kind == AG_EXPECT_COUNT, nearby = e->kind == AG_EXPECT_EVENT;
  v->tol = number_of(sys, e->tol, params, x0);
  ag_run_options o;
  ag_run_defaults(&o);
  o.rtol = o.atol = 5e-13;
  o.t0 = ag_system_t0(sys);
  o.every = -1;
  o.noise = AG_NOISE_OFF; /* expectations refer to the drift */
  o.events = event || has_corners(ag_system_model(sys));
  /* the run waits for an event a little longer than the expected time */
  o.t1 = nearby ? time + (time >= o.t0 ? 1 : -1) * (0.05 * fabs(time - o.t0) + 1) : time;
  watch w = {0};
  if (!event) {
    watch_create(&w, sys, e, params, v);
    if (e->kind != AG_EXPECT_AT) o.each = look, o.each_self = &w;
  }
  ag_run_result res = {0};
  ag_tape *functions = ag_run_watch(sys, &o);
  o.watch = functions;
  ag_status status = ag_run(ctx, sys, params, x0, &o, NULL, &res);
  ag_tape_free(functions);
  if (status == AG_OK) {
    bool ended = res.end != AG_END_TIME && !(event && res.end == AG_END_EVENT);
    if (event) judge_event(e, &res, time, number_of(sys, e->value, params, x0), v);
    else if (e->kind == AG_EXPECT_AT) look(&w, res.t, res.x);
    if (ended) {
      v->error = INFINITY;
      free(v->note);
      v->note = note_of(ag_end_word(res.end), res.t);
    }
    v->holds = e->kind == AG_EXPECT_VARIES ? !ended && v->error > v->tol : v->error <= v->tol;
    ag_run_done(&res);
  }
  if (!event) watch_free(&w);
  return status;
}

ag_status ag_expect_run(ag_ctx *ctx, ag_system *sys, ag_expect_judge conserved, int *n, ag_verdict **verdicts) {
  const ag_model *m = ag_system_model(sys);
  ag_verdict *v = ag_heap_alloc(sizeof *v * (size_t)(ag_model_n_expects(m) + 1));
  double *params = ag_heap_alloc(sizeof(double) * (size_t)(ag_system_dims(sys)->param + 1)),
         *x0 = ag_heap_alloc(sizeof(double) * (size_t)(ag_system_dims(sys)->x + 1));
  ag_status status = AG_OK;
  for (int i = 0; i < ag_model_n_expects(m) && status == AG_OK; i++) {
    const ag_expect *e = &ag_model_expects(m)[i];
    v[i].text = e->text;
    if (e->kind == AG_EXPECT_CONSERVED || e->kind == AG_EXPECT_NOT_CONSERVED) {
      status = conserved(ctx, sys, e, &v[i]);
      continue;
    }
    status = ag_system_params(ctx, sys, e->n_when, e->when_param, e->when_value, params);
    if (status == AG_OK)
      status = ag_system_start(ctx, sys, ag_system_t0(sys), params, false, x0, x0 + ag_system_dims(sys)->q);
    const bool paths = e->kind == AG_EXPECT_MEAN || e->kind == AG_EXPECT_VARIANCE;
    if (status == AG_OK) status = (paths ? run_paths : run_one)(ctx, sys, e, params, x0, &v[i]);
  }
  free(params);
  free(x0);
  *n = ag_model_n_expects(m);
  *verdicts = v;
  return status;
}

void ag_expect_done(int n, ag_verdict *verdicts) {
  for (int i = 0; i < n; i++) free(verdicts[i].note);
  free(verdicts);
}
