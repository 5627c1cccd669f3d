/* SPDX-License-Identifier: MIT
 * Every stepper of the table, interpreted and compiled: the same bits of states, rows, events and crossings of a
 * section. */
#include <stdlib.h>

#include "run/run.h"
#include "tests/built_models.h"
#include "tests/check.h"

typedef struct outcome {
  ag_series rows;
  ag_run_result result;
} outcome;

static outcome run_with(const ag_system *sys, ag_run_options o, ag_engine engine) {
  ag_ctx ctx = {0};
  outcome got = {0};
  double x0[13] = {0};
  ag_record layout;
  ag_system_state0(sys, x0);
  ag_record_init(&layout, sys);
  got.rows.width = layout.width;
  ag_record_done(&layout);
  ag_sink sink = {ag_series_row, &got.rows};
  o.engine = engine;
  AG_CHECK(ag_run(&ctx, sys, ag_system_param_values(sys), x0, &o, &sink, &got.result) == AG_OK);
  AG_CHECK(got.result.compiled == (engine == AG_ENGINE_COMPILED));
  if (got.result.engine_note) fprintf(stderr, "%s\n", got.result.engine_note);
  ag_ctx_done(&ctx);
  return got;
}

static bool same(long n, const double *a, const double *b) { return !n || !memcmp(a, b, sizeof(double) * (size_t)n); }

static void compare(const ag_system *sys, const ag_run_options *o) {
  outcome a = run_with(sys, *o, AG_ENGINE_INTERPRETED), b = run_with(sys, *o, AG_ENGINE_COMPILED);
  const ag_run_result *p = &a.result, *q = &b.result;
  AG_CHECK(p->end == AG_END_TIME && p->end == q->end && p->steps == q->steps && p->rejected == q->rejected);
  AG_CHECK(p->rhs == q->rhs && same(ag_system_dims(sys)->x, p->x, q->x));
  AG_CHECK(a.rows.n > 0 && a.rows.n == b.rows.n && same(a.rows.n * a.rows.width, a.rows.data, b.rows.data));
  for (int e = 0; e < p->n_event; e++) {
    AG_CHECK(p->event_count[e] > 0 && p->event_count[e] == q->event_count[e]);
    if (p->event_count[e] == q->event_count[e]) AG_CHECK(same(p->event_count[e], p->event_times[e], q->event_times[e]));
  }
  ag_run_done(&a.result);
  ag_run_done(&b.result);
  ag_series_done(&a.rows);
  ag_series_done(&b.rows);
}

/* A pendulum on a shaken pivot, with its passages through 0 and through rest: an equation of second order. */
static void compare_pendulum(void) {
  ag_model *m = ag_model_create("pendulum");
  ag_graph *g = m->graph;
  int k = ag_model_add_coord(m, "a", NULL, NULL, NULL, 0, AG_SPACE_S1, 1, nowhere);
  ag_id q = m->coords[k].q, v = m->coords[k].xi;
  m->lagrangian = ag_add(g, ag_mul(g, ag_num(g, 0.5), ag_mul(g, v, v)), ag_apply1(g, AG_OP_COS, q));
  ag_id shake = ag_mul(g, ag_apply1(g, AG_OP_SIN, m->t), ag_apply1(g, AG_OP_COS, q));
  AG_MODEL_PUSH(m, forces, ((ag_assign){k, -1, shake, nowhere, false}));
  AG_MODEL_PUSH(m, starts, ((ag_start){false, k, -1, -1, ag_num(g, 2), nowhere}));
  AG_MODEL_PUSH(m, events, ((ag_event){"down", q, 0, false, nowhere, false}));
  AG_MODEL_PUSH(m, sections, ((ag_event){"rest", v, 0, false, nowhere, false}));
  ag_ctx ctx = {0};
  ag_system *sys = NULL;
  AG_CHECK(ag_system_create(&ctx, m, &(ag_derive_options){0}, &sys) == AG_OK);
  for (int i = 0; i < ag_stepper_count(); i++) {
    ag_run_options o;
    ag_run_defaults(&o);
    o.t1 = 30, o.method = ag_stepper_at(i);
    if (!(o.method->needs & AG_NEEDS_SECOND)) continue;
    ag_run_prepare(sys, &o);
    for (o.section = 0; o.section < 2; o.section++) compare(sys, &o);
    o.dt = 0.1, o.section = 0, o.every = 0.037;
    compare(sys, &o);
  }
  ag_system_free(sys);
  ag_model_free(m);
  ag_ctx_done(&ctx);
}

int main(void) {
  compare_pendulum();
  ag_model *m = rattleback();
  ag_graph *g = m->graph;
  ag_event nod = {"nod", ag_entry(g, m->coords[0].xi, 0, 0), 0, false, nowhere, false}, roll = nod;
  roll.name = "roll", roll.x = ag_entry(g, m->coords[0].xi, 1, 0);
  AG_MODEL_PUSH(m, events, nod);
  AG_MODEL_PUSH(m, sections, roll);
  ag_ctx ctx = {0};
  ag_system *sys = NULL;
  AG_CHECK(ag_system_create(&ctx, m, &(ag_derive_options){0}, &sys) == AG_OK);
  for (int i = 0; i < ag_stepper_count(); i++) {
    ag_run_options o;
    int failed = ag_checks_failed;
    ag_run_defaults(&o);
    o.t1 = 4, o.rtol = 1e-7, o.atol = 1e-9;
    o.method = ag_stepper_at(i);
    if (ag_stepper_noisy(o.method)) continue;
    if (!o.method->error_order) o.dt = 0.01;
    if (o.method->form == AG_FORM_SE3) continue;     /* needs another model: api/variational_keeps_test.c */
    if (o.method->needs & AG_NEEDS_SECOND) continue; /* above */
    ag_run_prepare(sys, &o);
    for (o.section = 0; o.section < 2; o.section++) compare(sys, &o);
    if (ag_checks_failed > failed) fprintf(stderr, "  in %s\n", o.method->name);
  }
  ag_system_free(sys);
  ag_model_free(m);
  ag_ctx_done(&ctx);
  return ag_check_report();
}
