/* SPDX-License-Identifier: MIT
 * What a discrete step along a path is made of, and where noise may be taken at one end of a step. */
#include "tests/noise_models.h"

static void check(bench_system *b, const noise_case *c) {
  AG_CHECK(ag_system_one_sided(b->sys) == c->one_sided && ag_system_is_one_sided(b->sys) == c->one_sided);
  ag_shaken quiet = ag_shaken_of(b->sys, false);
  AG_CHECK(quiet.l == b->m->lagrangian && !quiet.sigma);
}

/* l~ = l + 0.2 x^2 w_2, F~ = 0.2 w_1, sigma~ = 0 of the kicked oscillator; sigma~ = 0.3 w_1 + 0.5 x w_2 of the
 * stretched one. */
static void check_terms(ag_model *(*make)(void), const double expected[3]) {
  bench_system b;
  bench_init(&b, &(mech_case){.make = make});
  ag_shaken s = ag_shaken_of(b.sys, true);
  ag_id inputs[3] = {b.m->coords[0].q, b.m->coords[0].xi, b.sys->step_dW};
  ag_id outs[3] = {ag_sub(b.m->graph, s.l, b.m->lagrangian), s.force[0], s.sigma[0]};
  double at[4] = {0.6, -1.1, 2, 3}, out[3]; /* x, x', w_1, w_2 */
  AG_CHECK(ag_evaluate(b.m->graph, 3, inputs, at, 3, outs, out) == 0);
  for (int i = 0; i < 3; i++) AG_CHECK_NEAR(out[i], expected[i], 1e-15);
  bench_done(&b);
}

int main(void) {
  each_noise(check);
  check_terms(kicked, (double[]){0.2 * 0.36 * 3, 0.2 * 2, 0});
  check_terms(stretched, (double[]){0, 0, 0.3 * 2 + 0.5 * 0.6 * 3});
  return ag_check_report();
}
