/* SPDX-License-Identifier: MIT
 * Forces that redundant rows leave open are named; those that they determine are not. */
#include "tests/mech_models.h"

/* The constraint x' = y', once or also doubled: its own multiplier is then open, the reaction on x is not. */
static void check(bool twice) {
  ag_model *m = ag_model_create("twice");
  ag_graph *g = m->graph;
  ag_ctx ctx = {0};
  ag_text text = {0};
  ag_system *sys;
  int x = scalar(m, "x", AG_SPACE_R), y = scalar(m, "y", AG_SPACE_R);
  ag_id row = ag_sub(g, m->coords[x].xi, m->coords[y].xi), two = ag_num(g, 2);
  m->lagrangian = ag_sub(g, unit_kinetic(m), m->coords[x].q);
  ag_model_add_constraint(m, row, NULL, nowhere);
  if (twice) ag_model_add_constraint(m, ag_mul(g, two, row), NULL, nowhere);
  AG_MODEL_PUSH(m, observables, ((ag_item){"single", NULL, ag_model_multiplier(m, 0), nowhere}));
  AG_MODEL_PUSH(m, observables, ((ag_item){"total", NULL, ag_model_reaction(m, x), nowhere}));
  AG_CHECK(ag_system_create(&ctx, m, &(ag_derive_options){0}, &sys) == AG_OK);
  ag_ctx_render(&ctx, &text);
  AG_CHECK((strstr(ag_text_cstr(&text), "`single` is given") != NULL) == twice);
  AG_CHECK(strstr(ag_text_cstr(&text), "`total`") == NULL);
  ag_text_done(&text);
  ag_ctx_done(&ctx);
  ag_system_free(sys);
  ag_model_free(m);
}

int main(void) {
  check(false);
  check(true);
  return ag_check_report();
}
