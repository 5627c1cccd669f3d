/* SPDX-License-Identifier: MIT
 * Writes a model in the language: its expect statements. */
#include "lang/write_internal.h"

static void clause(ag_writer *w, const char *word, ag_id x) {
  ag_text_str(w->out, word);
  ag_write_expression(w, x);
}

/* What is expected of x. After `conserved` it must begin with a name: that of a candidate where there is one. */
static void conserved_name(ag_writer *w, const ag_expect *e) {
  bool conserved = e->kind == AG_EXPECT_CONSERVED || e->kind == AG_EXPECT_NOT_CONSERVED;
  for (int i = 0; i < w->m->n_candidates && conserved; i++)
    if (w->m->candidates[i].x == e->x) {
      ag_text_str(w->out, w->m->candidates[i].name);
      return;
    }
  bool named = conserved || e->kind == AG_EXPECT_MEAN || e->kind == AG_EXPECT_VARIANCE;
  for (int i = 0; i < w->m->n_observables && named; i++)
    if (w->m->observables[i].x == e->x) {
      ag_text_str(w->out, w->m->observables[i].name);
      return;
    }
  ag_write_expression(w, e->x);
}

static void statistic_clauses(ag_writer *w, const ag_expect *e) {
  clause(w, " at ", e->time);
  clause(w, " = ", e->value);
  clause(w, " within ", e->tol);
  ag_text_printf(w->out, " sigma paths %.0f", e->paths);
  clause(w, " dt ", e->dt);
  if (e->method) ag_text_printf(w->out, " method %s", e->method);
  if (e->seed > 0) ag_text_printf(w->out, " seed %.0f", e->seed);
}

static void expect(ag_writer *w, const ag_expect *e) {
  const char *event = e->event >= 0 ? w->m->events[e->event].name : "";
  double time;
  ag_text_str(w->out, "expect ");
  if (e->kind == AG_EXPECT_NOT_CONSERVED) ag_text_str(w->out, "not ");
  if (e->kind == AG_EXPECT_CONSERVED || e->kind == AG_EXPECT_NOT_CONSERVED) ag_text_str(w->out, "conserved ");
  if (e->generator) ag_text_str(w->out, w->m->generators[e->generator - 1].name);
  const bool variance = e->kind == AG_EXPECT_VARIANCE, statistic = variance || e->kind == AG_EXPECT_MEAN;
  if (statistic) ag_text_str(w->out, variance ? "var(" : "mean(");
  if (e->x) conserved_name(w, e);
  if (statistic) ag_text_char(w->out, ')');
  switch (e->kind) {
  case AG_EXPECT_AT:
    if (!ag_is_num(w->g, e->time, &time) || time != 0) clause(w, " at ", e->time);
    clause(w, " = ", e->value);
    clause(w, " within ", e->tol);
    break;
  case AG_EXPECT_ALONG:
    clause(w, " = ", e->value);
    clause(w, " within ", e->tol);
    clause(w, " over ", e->time);
    break;
  case AG_EXPECT_CONSTANT:
    clause(w, " constant within ", e->tol);
    clause(w, " over ", e->time);
    break;
  case AG_EXPECT_VARIES:
    clause(w, " varies by ", e->tol);
    clause(w, " over ", e->time);
    break;
  case AG_EXPECT_EVENT:
    ag_text_printf(w->out, "%s %d", event, e->nth);
    clause(w, " at ", e->time);
    clause(w, " within ", e->tol);
    break;
  case AG_EXPECT_COUNT:
    ag_text_printf(w->out, "%s occurs %d times", event, e->nth);
    clause(w, " over ", e->time);
    break;
  case AG_EXPECT_CONSERVED:
  case AG_EXPECT_NOT_CONSERVED: ag_text_str(w->out, e->pathwise ? " pathwise" : ""); break;
  case AG_EXPECT_MEAN:
  case AG_EXPECT_VARIANCE: statistic_clauses(w, e); break;
  }
  for (int i = 0; i < e->n_when; i++) {
    ag_text_printf(w->out, "%s%s = ", i ? ", " : " when ", w->m->params[e->when_param[i]].name);
    ag_write_expression(w, e->when_value[i]);
  }
  ag_text_char(w->out, '\n');
}

void ag_write_expects(ag_writer *w) {
  for (int i = 0; i < w->m->n_expects; i++) {
    const ag_expect *e = &w->m->expects[i];
    ag_id parts[5] = {e->x, e->value, e->time, e->tol, e->dt};
    for (int k = 0; k < 5; k++) ag_write_prepare(w, parts[k]);
    for (int k = 0; k < e->n_when; k++) ag_write_prepare(w, e->when_value[k]);
    expect(w, e);
  }
}
