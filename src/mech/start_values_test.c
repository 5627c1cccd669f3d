/* SPDX-License-Identifier: MIT
 * Values of start statements: of parameters, of coordinates given before, of final coordinates for velocities. */
#include "mech/start_internal.h"
#include "tests/mech_models.h"

int main(void) {
  ag_model *m = ag_model_create("values");
  ag_graph *g = m->graph;
  ag_ctx ctx = {0};
  ag_system *sys;
  int x = scalar(m, "x", AG_SPACE_R), y = scalar(m, "y", AG_SPACE_R);
  ag_id a = ag_model_add_param(m, "a", ag_num(g, 3), nowhere), two = ag_num(g, 2);
  ag_id twice = ag_mul(g, two, a), next = ag_add(g, m->coords[x].q, two),
        both = ag_add(g, m->coords[x].q, m->coords[y].q);
  m->lagrangian = unit_kinetic(m);
  AG_MODEL_PUSH(m, starts, ((ag_start){false, x, -1, -1, twice, nowhere}));
  AG_MODEL_PUSH(m, starts, ((ag_start){false, y, -1, -1, next, nowhere}));
  AG_MODEL_PUSH(m, starts, ((ag_start){true, x, -1, -1, both, nowhere}));
  AG_CHECK(ag_system_create(&ctx, m, &(ag_derive_options){0}, &sys) == AG_OK);
  AG_CHECK(sys->q0[0] == 6 && sys->q0[1] == 8 && sys->xi0[0] == 14 && sys->xi0[1] == 0);
  ag_start_values v;
  double q[2] = {1, 0}, params[1] = {5}, value;
  ag_start_values_init(&v, sys, 0, params);
  ag_start_value(&v, 0, q, &value);
  AG_CHECK(value == 10);
  ag_start_value(&v, 1, q, &value); /* at these coordinates */
  AG_CHECK(value == 3);
  q[1] = 7;
  ag_start_value(&v, 2, q, &value);
  AG_CHECK(value == 8);
  AG_CHECK(v.plan == sys->start_plan && !v.made);
  ag_start_values_done(&v);
  m->starts[0].x = a; /* another statement: the plan of the system does not hold any more */
  ag_start_values_init(&v, sys, 0, params);
  ag_start_value(&v, 0, q, &value);
  AG_CHECK(value == 5 && v.made);
  ag_start_values_done(&v);
  /* messages point where the statement stands, and back */
  ctx.file = "file", ctx.source = "text";
  AG_CHECK(ag_start_origin(m, 0) == NULL && ag_start_origin(m, -1) == NULL);
  ag_pointer old = ag_point_at(&ctx, m, 0);
  AG_CHECK(!strcmp(ctx.file, "file"));
  ctx.file = "other";
  ag_point_back(&ctx, old);
  AG_CHECK(!strcmp(ctx.file, "file") && !strcmp(ctx.source, "text"));
  ag_system_free(sys);
  ag_model_free(m);
  ag_ctx_done(&ctx);
  return ag_check_report();
}
