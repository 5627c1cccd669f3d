/* SPDX-License-Identifier: MIT
 * Coordinates that cancel: a heading and a sum of headings that drop out of the equations leave the core; one that
 * matters stays. That the motion is the same is seen by the tests that compare the closures of every model. */
#include "tests/mech_models.h"

/* Two velocities in axes turned by th + al: |v|^2 does not depend on them; with a potential sin(al) one of them
 * matters. */
static ag_model *turned(bool heavy) {
  ag_model *m = ag_model_create("turned");
  ag_graph *g = m->graph;
  int x = scalar(m, "x", AG_SPACE_R), y = scalar(m, "y", AG_SPACE_R), th = scalar(m, "th", AG_SPACE_S1),
      al = scalar(m, "al", AG_SPACE_S1);
  ag_id angle = ag_add(g, m->coords[th].q, m->coords[al].q), c = ag_apply1(g, AG_OP_COS, angle),
        s = ag_apply1(g, AG_OP_SIN, angle), vx = m->coords[x].xi, vy = m->coords[y].xi;
  ag_id a = ag_mul(g, c, vx), b = ag_mul(g, s, vy), along = ag_add(g, a, b);
  a = ag_mul(g, c, vy), b = ag_mul(g, s, vx);
  ag_id across = ag_sub(g, a, b), square = ag_mul(g, along, along), other = ag_mul(g, across, across),
        sum = ag_add(g, square, other), w = ag_mul(g, m->coords[th].xi, m->coords[al].xi);
  m->lagrangian = ag_add(g, ag_add(g, sum, unit_kinetic(m)), ag_mul(g, ag_num(g, 0.1), w));
  if (heavy) m->lagrangian = ag_sub(g, m->lagrangian, ag_apply1(g, AG_OP_SIN, m->coords[al].q));
  start_at(m, true, x, -1, 0.4);
  start_at(m, true, th, -1, 1.1);
  return m;
}

static void check(bool heavy) {
  ag_ctx ctx = {0};
  ag_model *m = turned(heavy);
  ag_system *sys = NULL;
  AG_CHECK(ag_system_create(&ctx, m, &(ag_derive_options){0}, &sys) == AG_OK);
  if (!sys) return;
  AG_CHECK(sys->n.core == 4 + heavy); /* the velocities, and al where it matters */
  for (int i = 0; i < 4; i++) AG_CHECK((sys->q_in_z[i] < sys->n.core) == (heavy && i == 3));
  const ag_tape *core = ag_system_role(sys, AG_ROLE_CORE);
  for (int i = 0; i < core->n_instr && !heavy; i++) AG_CHECK(core->instr[i].op != AG_OP_SIN);
  ag_system_free(sys);
  ag_model_free(m);
  ag_ctx_done(&ctx);
}

int main(void) {
  check(false);
  check(true);
  return ag_check_report();
}
