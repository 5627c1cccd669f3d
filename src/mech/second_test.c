/* SPDX-License-Identifier: MIT
 * The mass matrix by second derivatives: equal to the Jacobian of the momentum as an identity in every case, and taken
 * for a chain of links where it costs less. */
#include "expr/residue.h"
#include "tests/mech_models.h"

enum { LINKS = 4 };

/* Is A the Jacobian of the momentum? */
static bool is_jacobian(ag_system *sys) {
  ag_graph *g = sys->model->graph;
  ag_id other = ag_jacobian(g, sys->momentum, sys->n_u_input, sys->u_inputs), gap = ag_sub(g, sys->mass, other),
        inputs[64];
  int n = 0;
  for (int i = 0; i < sys->model->n_coords; i++) inputs[n++] = sys->model->coords[i].q;
  for (int i = 0; i < sys->n_u_input; i++) inputs[n++] = sys->u_inputs[i];
  for (int i = 0; i < sys->model->n_params; i++)
    if (sys->model->params[i].input) inputs[n++] = sys->model->params[i].input;
  inputs[n++] = sys->model->t;
  return sys->mass == other || ag_residue_vanish(g, n, inputs, 1, &gap);
}

static void check(bench_system *b) {
  if (b->sys->mass && !b->sys->n_basis && b->sys->n.u > 1) AG_CHECK(is_jacobian(b->sys));
}

/* R^T of a rotation about axis k. */
static ag_id turned(ag_graph *g, int k, ag_id angle) {
  ag_id c = ag_apply1(g, AG_OP_COS, angle), s = ag_apply1(g, AG_OP_SIN, angle), e[9];
  int i = (k + 1) % 3, j = (k + 2) % 3;
  for (int n = 0; n < 9; n++) e[n] = ag_num(g, n == 4 * k);
  e[3 * i + i] = e[3 * j + j] = c, e[3 * i + j] = s, e[3 * j + i] = ag_neg(g, s);
  return ag_stack(g, 3, 3, e);
}

/* Links, each turned against the one before about the next axis, velocities in the frame of each: W = R^T W + q' e,
 * v = R^T v + W x p. The last rate follows from the others. */
static ag_model *links(void) {
  static const char *const names[LINKS] = {"a", "b", "c", "d"};
  ag_model *m = ag_model_create("links");
  ag_graph *g = m->graph;
  ag_id v = ag_zero(g, 3, 1), W = v, half = ag_num(g, 0.5), sum = ag_num(g, 0), place[3] = {half, half, ag_num(g, 1)},
        p = ag_stack(g, 3, 1, place);
  for (int i = 0; i < LINKS; i++) {
    int k = scalar(m, names[i], AG_SPACE_S1);
    ag_id R = turned(g, i % 3, m->coords[k].q), axis = ag_rows_of(g, ag_eye(g, 3), i % 3, 1),
          own = ag_mul(g, m->coords[k].xi, ag_transpose(g, axis));
    W = ag_add(g, ag_mul(g, R, W), own);
    ag_id moved = ag_mul(g, R, v);
    v = ag_add(g, moved, ag_cross(g, W, p));
    ag_id term = ag_mul(g, half, ag_dot(g, v, v)), spin = ag_mul(g, half, ag_dot(g, W, W));
    sum = ag_add(g, ag_add(g, sum, term), spin);
  }
  m->lagrangian = sum;
  start_at(m, true, 0, -1, 0.3);
  ag_id sine = ag_apply1(g, AG_OP_SIN, m->coords[1].q), part = ag_mul(g, sine, m->coords[0].xi);
  ag_model_add_constraint(m, ag_sub(g, m->coords[LINKS - 1].xi, part), NULL, nowhere);
  return m;
}

int main(void) {
  ag_ctx ctx = {0};
  ag_model *m = links();
  ag_system *sys = NULL;
  AG_CHECK(ag_system_create(&ctx, m, &(ag_derive_options){0}, &sys) == AG_OK);
  if (sys) {
    ag_graph *g = m->graph;
    AG_CHECK(sys->mass != ag_jacobian(g, sys->momentum, sys->n_u_input, sys->u_inputs));
    AG_CHECK(is_jacobian(sys));
    ag_system_free(sys);
  }
  ag_model_free(m);
  ag_ctx_done(&ctx);
  return each_case(check);
}
