/* SPDX-License-Identifier: MIT
 * Equations that switch, as roles: the switching functions, their rates along either branch, and the equations with the
 * choice as data against those that choose where they stand. */
#include "mech/mech_internal.h"
#include "tests/point_model.h"

/* x'' = -sign(v) - abs(x - 1): two surfaces. */
static void check_roles(void) {
  point p = point_model(0.3, 0.7);
  ag_id one = ag_num(p.g, 1), rub = ag_apply1(p.g, AG_OP_SIGN, p.v),
        bend = ag_apply1(p.g, AG_OP_ABS, ag_sub(p.g, p.x, one));
  point_force(&p, ag_neg(p.g, ag_add(p.g, rub, bend)));
  AG_CHECK(point_derive(&p) && p.sys->n.switches == 2 && p.sys->n.c == 2 && p.sys->n.z == 2);
  ag_work *w = ag_work_create(p.sys, ag_system_param_values(p.sys));
  for (int i = 0; i < 16; i++) {
    double z[2] = {1 + 0.3 * (i % 4 - 1.5), 0.4 * (i / 4 - 1.5)}, c[2], dz[2], by_place[2], s[2], rates[2];
    ag_work_branches(w, 0, z, c);
    AG_CHECK(!ag_work_rhs(w, 0, z, c, dz) && !ag_work_role(w, AG_ROLE_POINTWISE, 0, z, c, by_place));
    AG_CHECK(dz[0] == by_place[0] && dz[1] == by_place[1]);
    AG_CHECK_NEAR(dz[1], -(z[1] > 0 ? 1 : -1) - fabs(z[0] - 1), 1e-15);
    AG_CHECK(!ag_work_role(w, AG_ROLE_SWITCHES, 0, z, c, s) && !ag_work_role(w, AG_ROLE_SWITCH_RATES, 0, z, c, rates));
    int v = fabs(s[0]) == fabs(z[1]) ? 0 : 1;
    AG_CHECK(fabs(s[v]) == fabs(z[1]) && fabs(s[!v]) == fabs(z[0] - 1));
    AG_CHECK(c[0] * s[0] > 0 && c[1] * s[1] > 0);
    AG_CHECK_NEAR(rates[v] * (s[v] * z[1] > 0 ? 1 : -1), dz[1], 1e-15);
    AG_CHECK_NEAR(fabs(rates[!v]), fabs(z[1]), 1e-15);
    c[v] = -c[v]; /* the other branch, at the same place */
    AG_CHECK(!ag_work_rhs(w, 0, z, c, dz));
    AG_CHECK_NEAR(dz[1], (z[1] > 0 ? 1 : -1) - fabs(z[0] - 1), 1e-15);
  }
  ag_work_free(w);
  point_free(&p);
}

/* Smooth equations, and choices of parameters alone, have no switches. */
static void check_none(void) {
  point p = point_model(0.3, 0.7);
  ag_id two = ag_num(p.g, 2), k = ag_model_add_param(p.m, "k", two, (ag_pos){0});
  point_force(&p, ag_mul(p.g, ag_apply1(p.g, AG_OP_ABS, k), p.x));
  AG_CHECK(point_derive(&p) && p.sys->n.switches == 0 && p.sys->n.c == 0 && !p.sys->tapes[AG_ROLE_SWITCHES]);
  point_free(&p);
}

/* All velocities with the choices made where they are, one of them a vector: y' = x_1' abs(x_2). */
static void check_vectors(void) {
  ag_model *m = ag_model_create("vectors");
  ag_graph *g = m->graph;
  ag_ctx ctx = {0};
  ag_system *sys = NULL;
  int x = ag_model_add_coord(m, "x", NULL, NULL, NULL, 0, AG_SPACE_R, 3, (ag_pos){0});
  int y = ag_model_add_coord(m, "y", NULL, NULL, NULL, 0, AG_SPACE_R, 1, (ag_pos){0});
  ag_id v = m->coords[x].xi, w = m->coords[y].xi, v2 = ag_dot(g, v, v), w2 = ag_mul(g, w, w), half = ag_num(g, 0.5);
  m->lagrangian = ag_mul(g, half, ag_add(g, v2, w2));
  ag_id first = ag_entry(g, v, 0, 0), size = ag_apply1(g, AG_OP_ABS, ag_entry(g, m->coords[x].q, 1, 0));
  AG_MODEL_PUSH(m, constraints, ((ag_item){.x = ag_sub(g, w, ag_mul(g, size, first))}));
  AG_CHECK(ag_system_create(&ctx, m, &(ag_derive_options){0}, &sys) == AG_OK && sys->n.switches == 1);
  ag_tape *tape = ag_system_pointwise(sys, AG_ROLE_XI);
  AG_CHECK(tape->n_out == 4 && sys->tapes[AG_ROLE_XI]->n_out == 4);
  ag_tape_free(tape);
  ag_system_free(sys);
  ag_model_free(m);
  ag_ctx_done(&ctx);
}

int main(void) {
  check_roles();
  check_vectors();
  check_none();
  return ag_check_report();
}
