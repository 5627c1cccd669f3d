/* SPDX-License-Identifier: MIT
 * Remarks about motions: a start at rest in an equilibrium, steps limited by stability or by accuracy. */
#include "run/run_internal.h"
#include "tests/built_models.h"
#include "tests/check.h"

/* x'' = -k (x - at) - c x', from x0 with the velocity v0 */
static ag_run_result damped(double k, double at, double c, double x0, double v0, double t1, long steps) {
  ag_ctx ctx = {0};
  ag_model *m = ag_model_create("damped");
  ag_graph *g = m->graph;
  int i = ag_model_add_coord(m, "x", NULL, NULL, NULL, 0, AG_SPACE_R, 1, nowhere);
  ag_id v = m->coords[i].xi, d = ag_sub(g, m->coords[i].q, ag_num(g, at)), half = ag_num(g, 0.5),
        square = ag_mul(g, d, d), speed = ag_mul(g, v, v), spring = ag_mul(g, ag_num(g, k), square);
  m->lagrangian = ag_mul(g, half, ag_sub(g, speed, spring));
  if (c > 0) AG_MODEL_PUSH(m, forces, ((ag_assign){i, -1, ag_mul(g, ag_num(g, -c), v), nowhere, false}));
  AG_MODEL_PUSH(m, starts, ((ag_start){false, i, -1, -1, ag_num(g, x0), nowhere}));
  AG_MODEL_PUSH(m, starts, ((ag_start){true, i, -1, -1, ag_num(g, v0), nowhere}));
  ag_system *sys = NULL;
  ag_run_options o;
  ag_run_result res = {0};
  double x[2];
  AG_CHECK(ag_system_create(&ctx, m, &(ag_derive_options){0}, &sys) == AG_OK);
  ag_run_defaults(&o);
  o.t1 = t1, o.every = -1, o.max_steps = steps, o.engine = AG_ENGINE_INTERPRETED;
  ag_system_state0(sys, x);
  AG_CHECK(ag_run(&ctx, sys, ag_system_param_values(sys), x, &o, NULL, &res) == AG_OK);
  ag_system_free(sys);
  ag_model_free(m);
  ag_ctx_done(&ctx);
  return res;
}

static void check_rest(double at, double x0, double v0, bool rest) {
  ag_run_result res = damped(2, at, 0, x0, v0, 1, 0);
  AG_CHECK(res.at_rest == rest);
  ag_run_done(&res);
}

int main(void) {
  check_rest(0, 0, 0, true);
  check_rest(3, 3, 0, true);
  check_rest(3, 3, 1e-9, false);
  check_rest(3, 3.001, 0, false);
  check_rest(0, 1, 0, false);
  /* eigenvalues -1e5 and -1e-5: stability limits dop853 to |h lambda| of a few */
  ag_run_result stiff = damped(1, 0, 1e5, 1, 0, 1e3, 5000);
  AG_CHECK(stiff.end == AG_END_STEPS && stiff.stiffness > 1.5 && stiff.stiffness < 20);
  AG_CHECK(stiff.why && strstr(stiff.why, "stiff") && strstr(stiff.why, "radau"));
  ag_run_done(&stiff);
  ag_run_result smooth = damped(1, 0, 0, 1, 0, 1e3, 50); /* too few steps, and accuracy limits them */
  AG_CHECK(smooth.end == AG_END_STEPS && smooth.stiffness < 1.5);
  AG_CHECK(smooth.why && strstr(smooth.why, "--max-steps") && !strstr(smooth.why, "stiff"));
  ag_run_done(&smooth);
  return ag_check_report();
}
