/* SPDX-License-Identifier: MIT
 * Rates of reconstructed coordinates with vectors turned by the quaternion: the same rates as by the matrix, and fewer
 * operations. */
#include "tests/mech_models.h"

static void check(ag_model *(*make)(void), bool fewer) {
  bench_system b;
  bench_init(&b, &(mech_case){.make = make});
  ag_tape *plain = ag_reduced_tape(b.sys, b.sys->n.z, b.sys->dz);
  double *expected = room(b.sys->n.z), *dz = room(b.sys->n.z);
  const ag_tape *rhs = b.sys->tapes[AG_ROLE_RHS];
  AG_CHECK(fewer ? ag_tape_cost(rhs) < ag_tape_cost(plain) : ag_tape_cost(rhs) <= ag_tape_cost(plain));
  for (unsigned k = 0; k < 20; k++) {
    AG_CHECK(take_sample(&b, k));
    ag_tape_once(plain, b.t, b.z, b.sys->params, b.basis, expected);
    ag_tape_once(rhs, b.t, b.z, b.sys->params, b.basis, dz);
    double size = 1;
    for (int i = 0; i < b.sys->n.z; i++) size = fmax(size, fabs(expected[i]));
    for (int i = 0; i < b.sys->n.z; i++)
      AG_CHECK_NEAR(dz[i], expected[i], 1e-14 * size); /* roundings of a dozen terms */
  }
  ag_tape_free(plain);
  free(expected);
  free(dz);
  bench_done(&b);
}

int main(void) {
  check(rattleback, true);
  check(top, false); /* no vector is turned */
  return ag_check_report();
}
