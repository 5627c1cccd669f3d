/* SPDX-License-Identifier: MIT
 * The power on the reduced state against that from the multipliers, on the full state. Two ways to the reaction, each a
 * solve of a well-conditioned small system: they agree to some hundred roundings. */
#include "tests/mech_models.h"

static int n_compared;

static void check(bench_system *b) {
  const ag_tape *tape = ag_system_power(b->sys);
  AG_CHECK(tape == NULL || ag_system_energy_law(b->sys) != AG_ENERGY_CONSERVED);
  AG_CHECK(tape == ag_system_power(b->sys));
  for (unsigned seed = 1; tape && seed <= 5; seed++) {
    double power, *dz = ag_heap_alloc(sizeof *dz * (size_t)ag_system_dims(b->sys)->z);
    AG_CHECK(take_sample(b, seed));
    AG_CHECK(ag_work_rhs(b->w, b->t, b->z, b->basis, dz) == AG_FINE);
    AG_CHECK(ag_work_power(b->w, b->t, b->z, b->basis, dz, &power) == AG_FINE);
    free(dz);
    AG_CHECK_NEAR(power, ag_work_energy_rate(b->w, b->t, b->x), 1e-12);
    n_compared++;
  }
}

int main(void) {
  int failed = each_case(check);
  AG_CHECK(n_compared > 0);
  return failed || ag_check_report();
}
