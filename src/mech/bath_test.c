/* SPDX-License-Identifier: MIT
 * Friction at a temperature: the increment with a weight of its own for the friction, and whether a system splits into
 * moving and pushing. */
#include "tests/noise_models.h"

/* Friction -0.5 v on an oscillator, v = x', with the noise sqrt(2 c kT) of kT = 2. */
static ag_model *warm(void) {
  ag_model *m = oscillator("warm oscillator");
  ag_graph *g = m->graph;
  int W = add_channel(m, "W");
  ag_id c = ag_num(g, 0.5), force = ag_neg(g, ag_mul(g, c, m->coords[0].xi));
  AG_MODEL_PUSH(m, forces, ((ag_assign){.coord = 0, .row = -1, .x = force}));
  AG_MODEL_PUSH(m, baths, ((ag_bath){m->coords[0].xi, c, W}));
  add_noise(m, AG_NOISE_FORCE, W, 0, ag_num(g, sqrt(2)));
  return m;
}

/* The same with a mass 1 + x^2: velocities then change without a push. */
static ag_model *warm_bent(void) {
  ag_model *m = warm();
  ag_graph *g = m->graph;
  ag_id v = ag_mul(g, m->coords[0].q, m->coords[0].xi), more = ag_mul(g, ag_num(g, 0.5), ag_mul(g, v, v));
  m->lagrangian = ag_add(g, m->lagrangian, more);
  return m;
}

static void check_increment(void) {
  bench_system b;
  double step[3] = {0.1, 0.4, 0.7}, dz[2]; /* h, dW, weight of the friction */
  bench_init(&b, &(mech_case){.make = warm});
  AG_CHECK(ag_system_splits(b.sys) && ag_system_is_split(b.sys));
  AG_CHECK(ag_system_spin(b.sys, 0) == -1);
  ag_work_free(b.w);
  b.w = ag_work_create(b.sys, b.sys->params);
  double z[2] = {0.8, -1.2};
  ag_work_step(b.w, step);
  AG_CHECK(ag_work_increment(b.w, AG_ROLE_BATH, 0, z, b.basis, dz) == AG_FINE);
  AG_CHECK_NEAR(dz[0], 0.1 * -1.2, 1e-15);
  AG_CHECK_NEAR(dz[1], 0.1 * -0.8 + 0.7 * 0.5 * 1.2 + 0.4 * sqrt(2), 1e-15);
  bench_done(&b);
}

static void check_refusals(void) {
  bench_system b;
  bench_init(&b, &(mech_case){.make = warm_bent});
  AG_CHECK(!ag_system_splits(b.sys) && ag_system_field(b.sys, AG_FIELD_OF_BATH));
  bench_done(&b);
  bench_init(&b, &(mech_case){.make = pushed}); /* noise without friction */
  AG_CHECK(!ag_system_field(b.sys, AG_FIELD_OF_BATH) && !ag_system_splits(b.sys));
  bench_done(&b);
}

int main(void) {
  check_increment();
  check_refusals();
  return ag_check_report();
}
