/* SPDX-License-Identifier: MIT
 * Shared by the tests of lang/: reading a text, values of expressions at a given state. */
#ifndef LANG_TEST_SEEN
#define LANG_TEST_SEEN
#include "check.h"
#include "lang/lang.h"
#include "model/parts.h"

/* Reads a model; on failure the first message is in *why (static text). */
static inline ag_model *read_text(const char *text, int n_set, const ag_set *sets, const char **why) {
  static char first[600];
  ag_ctx ctx = {0};
  ag_model *m = NULL;
  first[0] = 0;
  ag_status status = ag_lang_read(&ctx, "test.nh", text, strlen(text), n_set, sets, &m);
  AG_CHECK((status == AG_OK) == (m != NULL));
  for (int i = 0; i < ctx.n_diag && !first[0]; i++)
    if (ctx.diags[i].severity == AG_ERROR)
      snprintf(first, sizeof first, "%d:%d: %s", ctx.diags[i].pos.line, ctx.diags[i].pos.col, ctx.diags[i].message);
  if (why) *why = first;
  else if (!m) fprintf(stderr, "%s\n", first);
  ag_ctx_done(&ctx);
  return m;
}

static inline ag_id observable(const ag_model *m, const char *name) {
  for (int i = 0; i < m->n_observables; i++)
    if (!strcmp(m->observables[i].name, name)) return m->observables[i].x;
  return 0;
}

/* Values at a state: t, parameters, then the stored numbers q and xi of each coordinate. */
static inline void values(const ag_model *m, const double *state, ag_id x, double *out) {
  ag_id inputs[200];
  int n = 0;
  inputs[n++] = m->t;
  for (int i = 0; i < m->n_params; i++)
    if (m->params[i].input) inputs[n++] = m->params[i].input;
  for (int i = 0; i < m->n_coords; i++) inputs[n++] = m->coords[i].q, inputs[n++] = m->coords[i].xi;
  ag_evaluate(m->graph, n, inputs, state, 1, &x, out);
}
#endif
