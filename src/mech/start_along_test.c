/* SPDX-License-Identifier: MIT
 * How starts move with a parameter, in closed form: x = a, y = a^2, z' = y x' with x' = 3 a gives dz'/da = 9 a^2.
 * (Against differences, for every shipped model: tests/equal/along_test.c.) Tolerance: rounding. */
#include "tests/mech_models.h"

int main(void) {
  ag_model *m = heisenberg();
  ag_graph *g = m->graph;
  ag_ctx ctx = {0};
  ag_system *sys;
  ag_id a = ag_model_add_param(m, "a", ag_num(g, 2), nowhere), square = ag_mul(g, a, a), three = ag_num(g, 3);
  ag_id triple = ag_mul(g, three, a);
  ag_model_add_param(m, "follows", triple, nowhere);
  m->n_starts = 0;
  AG_MODEL_PUSH(m, starts, ((ag_start){false, 0, -1, -1, a, nowhere}));
  AG_MODEL_PUSH(m, starts, ((ag_start){false, 1, -1, -1, square, nowhere}));
  AG_MODEL_PUSH(m, starts, ((ag_start){true, 0, -1, -1, triple, nowhere}));
  AG_CHECK(ag_system_create(&ctx, m, &(ag_derive_options){0}, &sys) == AG_OK);
  int entry, offset = ag_layout_find(sys, "a", &entry)->at, follower = ag_layout_find(sys, "follows", &entry)->at;
  ag_start_along *s = ag_start_along_create(sys, 1, &offset);
  double q[3], xi[3], *dp = room(sys->n.param), dx[6], *p = room(sys->n.param);
  for (int k = 1; k <= 3; k++) {
    double v = 0.5 * k;
    memcpy(p, sys->params, sizeof *p * (size_t)sys->n.param);
    p[offset] = v, p[follower] = 3 * v, dp[offset] = 1;
    AG_CHECK(ag_start_along_eval(s, &ctx, 0, p, true, q, xi, 1, dp, dx) == AG_OK);
    const double at[6] = {v, v * v, 0, 3 * v, 0, 3 * v * v * v}, rate[6] = {1, 2 * v, 0, 3, 0, 9 * v * v};
    for (int i = 0; i < 6; i++) {
      AG_CHECK_NEAR(i < 3 ? q[i] : xi[i - 3], at[i], 1e-15);
      AG_CHECK_NEAR(dx[i], rate[i], 1e-14);
    }
    AG_CHECK_NEAR(dp[follower], 3, 1e-15);
  }
  ag_start_along_free(s);
  ag_system_free(sys);
  ag_model_free(m);
  ag_ctx_done(&ctx);
  free(dp), free(p);
  return ag_check_report();
}
