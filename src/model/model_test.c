/* SPDX-License-Identifier: MIT
 * Models built by function calls, and the prime. */
#include "model/parts.h"

#include "check.h"

static const ag_pos here = {1, 1, 1};

static void check_coords(void) {
  ag_model *m = ag_model_create("test");
  ag_graph *g = m->graph;
  int x = ag_model_add_coord(m, "x", NULL, NULL, NULL, 0, AG_SPACE_R, 3, here);
  int th = ag_model_add_coord(m, "th", NULL, NULL, NULL, 0, AG_SPACE_S1, 7, here);
  int R = ag_model_add_coord(m, "R[2]", "W[2]", "R", "W", 2, AG_SPACE_SO3, 1, here);
  int n = ag_model_add_coord(m, "n", NULL, NULL, NULL, 0, AG_SPACE_S2, 1, here);
  AG_CHECK(m->n_coords == 4);
  AG_CHECK_STR(m->coords[x].velocity, "x'");
  AG_CHECK_STR(m->coords[R].velocity, "W[2]");
  AG_CHECK_STR(m->coords[R].family, "R");
  AG_CHECK(m->coords[th].dim == 1 && m->coords[R].dim == 3 && m->coords[n].dim == 3 && m->coords[R].index == 2);
  AG_CHECK(ag_node_rows(g, m->coords[x].q) == 3 && ag_is_rotation(g, m->coords[R].q) &&
           ag_node_rows(g, m->coords[R].xi) == 3);
  AG_CHECK(m->n_holonomics == 1 && ag_is_scalar(g, m->holonomics[0].x)); /* |n|^2 = 1 */
  ag_model_free(m);
  ag_model_free(NULL);
}

static void check_lists(void) {
  ag_model *m = ag_model_create("test");
  ag_graph *g = m->graph;
  ag_id a = ag_model_add_param(m, "a", ag_num(g, 2), here);
  ag_id v = ag_model_add_param(m, "v", ag_stack(g, 2, 1, (ag_id[]){a, a}), here);
  AG_CHECK(m->n_params == 2 && ag_is_scalar(g, a) && ag_node_rows(g, v) == 2);
  AG_CHECK_STR(ag_node_name(g, v), "v");
  int x = ag_model_add_coord(m, "x", NULL, NULL, NULL, 0, AG_SPACE_R, 1, here);
  ag_model_add_constraint(m, m->coords[x].xi, "x' = 0", here);
  ag_model_add_constraint(m, m->coords[x].xi, "x' = 0", here);
  AG_CHECK_STR(m->constraints[1].name, "2");
  AG_CHECK(ag_model_drive(m, "x") == 0); /* not prescribed */
  ag_model_add_prescribe(m, "x", ag_sub(g, m->coords[x].q, m->t), "x = t", here);
  ag_id d = ag_model_drive(m, "x"), r = ag_model_reaction(m, x), e = ag_model_energy(m);
  AG_CHECK(d && d == ag_model_drive(m, "x") && m->n_drives == 1);
  AG_CHECK(r && r == ag_model_reaction(m, x) && m->n_reactions == 1);
  AG_CHECK(e && e == ag_model_energy(m));
  AG_CHECK_STR(ag_node_name(g, d), "drive.x");
  ag_id k = ag_model_multiplier(m, 1), dk;
  AG_CHECK(k == ag_model_multiplier(m, 1) && k != ag_model_multiplier(m, 0) && m->n_multipliers == 2);
  AG_CHECK(!ag_model_prime(m, k, &dk));
  ag_id u = ag_model_add_frame(m, "u", m->coords[x].xi, here);
  AG_CHECK(m->n_frames == 1 && m->frame_inputs[0] == u && u != m->coords[x].xi);
  ag_model_free(m);
}

static void check_prime(void) {
  ag_model *m = ag_model_create("test");
  ag_graph *g = m->graph;
  ag_model_add_coord(m, "x", NULL, NULL, NULL, 0, AG_SPACE_R, 1, here);
  ag_model_add_coord(m, "R", "W", NULL, NULL, 0, AG_SPACE_SO3, 3, here);
  const ag_coord x = m->coords[0], R = m->coords[1];
  ag_id dx, e = ag_stack(g, 3, 1, (ag_id[]){ag_num(g, 0), ag_num(g, 0), ag_num(g, 1)});
  AG_CHECK(ag_model_prime(m, x.q, &dx) && dx == x.xi);
  AG_CHECK(ag_model_prime(m, m->t, &dx) && dx == ag_num(g, 1));
  /* (x^2 sin t)' = 2 x x' sin t + x^2 cos t at x = 3, x' = 5, t = 0.5; two rounding errors */
  ag_id f = ag_mul(g, ag_mul(g, x.q, x.q), ag_apply1(g, AG_OP_SIN, m->t)), in[3] = {m->t, x.q, x.xi};
  double out, at[3] = {0.5, 3, 5};
  AG_CHECK(ag_model_prime(m, f, &dx));
  ag_evaluate(g, 3, in, at, 1, &dx, &out);
  AG_CHECK_NEAR(out, 2 * 3 * 5 * sin(0.5) + 9 * cos(0.5), 4e-16);
  /* (R^T e)' = (R^T e) x W */
  ag_id Gamma = ag_mul(g, ag_transpose(g, R.q), e);
  AG_CHECK(ag_model_prime(m, Gamma, &dx) && dx == ag_cross(g, Gamma, R.xi));
  /* quantities that do not change by themselves */
  AG_CHECK(!ag_model_prime(m, x.xi, &dx));
  AG_CHECK(!ag_model_prime(m, ag_model_energy(m), &dx));
  AG_CHECK(!ag_model_prime(m, ag_model_reaction(m, 0), &dx));
  AG_CHECK(!ag_model_prime(m, ag_model_add_frame(m, "u", x.xi, here), &dx));
  ag_model_free(m);
}

int main(void) {
  check_coords();
  check_lists();
  check_prime();
  return ag_check_report();
}
