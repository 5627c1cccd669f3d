/* SPDX-License-Identifier: MIT
 * Friction at a temperature: the increment with a weight of its own for the friction, and whether a system splits into
 * moving and pushing. */
#include "tests/noise_models.h"

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
