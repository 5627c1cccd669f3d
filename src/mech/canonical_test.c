/* SPDX-License-Identifier: MIT
 * Gibbs' law of a system with friction at a temperature: its exponent, and which steps may be tested against it. What
 * else is refused: tests/cli/metropolis_test.py. */
#include "tests/noise_models.h"

static void check_exponent(ag_model *(*make)(void), double expected) {
  bench_system b;
  bench_init(&b, &(mech_case){.make = make});
  AG_CHECK(!ag_system_role(b.sys, AG_ROLE_CANONICAL));
  AG_CHECK(ag_system_canonical(b.sys, AG_CANONICAL_RATTLE) == NULL);
  ag_work_free(b.w);
  b.w = ag_work_create(b.sys, b.sys->params);
  const double z[2] = {0.8, -1.2};
  double out[2];
  AG_CHECK(ag_work_role(b.w, AG_ROLE_CANONICAL, 0, z, b.basis, out) == AG_FINE);
  AG_CHECK_NEAR(out[0], expected, 1e-15);
  AG_CHECK(out[1] == 2);
  bench_done(&b);
}

static void check_refusals(void) {
  bench_system b;
  bench_init(&b, &(mech_case){.make = warm});
  AG_CHECK(!ag_system_canonical(b.sys, AG_CANONICAL_SPLIT) && !ag_system_canonical(b.sys, AG_CANONICAL_MIDPOINT));
  bench_done(&b);
  bench_init(&b, &(mech_case){.make = warm_bent});
  AG_CHECK(ag_system_canonical(b.sys, AG_CANONICAL_MIDPOINT) != NULL);
  AG_CHECK(ag_system_canonical_lacks(b.sys, AG_CANONICAL_MIDPOINT) != NULL);
  AG_CHECK(!ag_system_canonical_lacks(b.sys, AG_CANONICAL_RATTLE) && !ag_system_role(b.sys, AG_ROLE_CANONICAL));
  bench_done(&b);
  bench_init(&b, &(mech_case){.make = pushed}); /* noise without friction */
  for (int k = 0; k < AG_N_CANONICAL; k++) AG_CHECK(ag_system_canonical(b.sys, (ag_canonical)k) != NULL);
  bench_done(&b);
}

int main(void) {
  check_exponent(warm, (1.2 * 1.2 + 0.8 * 0.8) / 2 / 2);
  check_exponent(warm_bent, ((1 + 0.8 * 0.8) * 1.2 * 1.2 + 0.8 * 0.8) / 2 / 2);
  check_refusals();
  return ag_check_report();
}
