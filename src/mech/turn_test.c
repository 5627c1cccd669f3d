/* SPDX-License-Identifier: MIT
 * How far and how fast a basis has turned: on the blade, whose one row (-sin th, cos th) turns with its heading. */
#include "tests/mech_models.h"

int main(void) {
  bench_system b;
  double turn[3];
  bench_init(&b, &mech_cases[0]);
  AG_CHECK(take_sample(&b, 3));
  int th = b.sys->q_in_z[2];
  double heading = b.z[th], spin = b.x[b.sys->n.q + 2];
  for (int k = -4; k <= 4; k++) {
    double angle = 0.3 * k;
    b.z[th] = heading + angle;
    AG_CHECK(ag_work_role(b.w, AG_ROLE_TURN, b.t, b.z, b.basis, turn) == AG_FINE);
    AG_CHECK_NEAR(turn[0], cos(angle) * cos(angle), 1e-13);
    AG_CHECK_NEAR(turn[1], 1, 1e-14);
    AG_CHECK_NEAR(turn[2], spin * spin, 1e-12);
    AG_CHECK_NEAR(ag_work_turning(b.w, b.t, b.z, b.basis), fabs(spin), 1e-12);
  }
  bench_done(&b);
  return ag_check_report();
}
