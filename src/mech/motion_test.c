/* SPDX-License-Identifier: MIT
 * Equations of motion: both closures agree and keep the balance of energy, for every kind of system; two of them
 * against equations by hand. */
#include "tests/closures.h"
#include "tests/mech_models.h"

static void check(bench_system *b) { check_closures(b->sys); }

/* Heavy top, by hand: I Omega' = I Omega x Omega + (weight x up) with up = R^T e3: dl/dR gives -up x (-weight). */
static void check_top(void) {
  bench_system b;
  const double I[3] = {1, 1.5, 0.7}, weight[3] = {0.1, 0, 0.8};
  bench_init(&b, &(mech_case){.make = top});
  for (unsigned seed = 1; seed <= 10; seed++) {
    double a[3];
    AG_CHECK(take_sample(&b, seed));
    AG_CHECK(ag_work_accel(b.w, b.t, b.x, a, NULL) == AG_FINE);
    const double *O = b.x + 4, *up = b.z + b.sys->images[0].z;
    for (int i = 0; i < 3; i++) {
      int j = (i + 1) % 3, k = (i + 2) % 3;
      double gyro = I[j] * O[j] * O[k] - I[k] * O[k] * O[j], torque = up[j] * weight[k] - up[k] * weight[j];
      AG_CHECK_NEAR(I[i] * a[i], gyro + torque, 1e-14);
    }
  }
  bench_done(&b);
}

/* The coin, by hand: r' = psi' e(phi) in T gives psi'' (1 + 1) = -cos phi, phi'' = 0; the rest from the constraint. */
static void check_coin(void) {
  for (int saddle = 0; saddle < 2; saddle++) {
    bench_system b;
    bench_init(&b, &(mech_case){.make = plain_coin, .saddle = saddle});
    for (unsigned seed = 1; seed <= 10; seed++) {
      double a[4];
      AG_CHECK(take_sample(&b, seed));
      AG_CHECK(ag_work_accel(b.w, b.t, b.x, a, NULL) == AG_FINE);
      double phi = b.x[2], turn = b.x[6], roll = b.x[7];
      AG_CHECK_NEAR(a[2], 0, 1e-14);
      AG_CHECK_NEAR(a[3], -cos(phi) / 2, 1e-14);
      AG_CHECK_NEAR(a[0], a[3] * cos(phi) - roll * turn * sin(phi), 1e-14);
      AG_CHECK_NEAR(a[1], a[3] * sin(phi) + roll * turn * cos(phi), 1e-14);
    }
    bench_done(&b);
  }
}

int main(void) {
  check_top();
  check_coin();
  return each_case(check);
}
