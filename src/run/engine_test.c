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
  double x0[13];
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
  AG_CHECK(p->rhs == q->rhs && same(13, p->x, q->x));
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

int main(void) {
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
    if (o.method->form == AG_FORM_SE3) continue; /* needs another model: api/variational_keeps_test.c */
    ag_run_prepare(sys, &o);
    for (o.section = 0; o.section < 2; o.section++) compare(sys, &o);
    if (ag_checks_failed > failed) fprintf(stderr, "  in %s\n", o.method->name);
  }
  ag_system_free(sys);
  ag_model_free(m);
  ag_ctx_done(&ctx);
  return ag_check_report();
}
