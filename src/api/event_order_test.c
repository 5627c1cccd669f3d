/* SPDX-License-Identifier: MIT
 * Events in fixed steps are located to the order of the method, also where its dense output has a lower one: by real
 * steps, whose equations are solved to rounding. */
#include "tests/motions.h"

/* A body and a blade, with crossings of a position, of a velocity and of an entry of a rotation. */
static const char *const TEXT =
    "model m\nconfig R in SO3 velocity Omega, x in R^2, th in S1\n"
    "lagrangian 1/2*dot(Omega, diag(0.9, 0.7, 0.5)*Omega) - 0.8*dot(R*e3, e3) - 0.3*x[1]*dot(R*e1, e2)\n"
    "  + 1/2*dot(x', x') - dot(x, x) + 0.3*th'^2 - 0.1*cos(th)*x[2]\n"
    "constraint -sin(th)*x'[1] + cos(th)*x'[2] = 0.1*th'\n"
    "event a: x[1] = 0.1\nevent b: x'[1] = 0.05\nevent c: dot(R*e1, e3) = 0.1\n"
    "start R = rotation([1, 2, 0.5], 0.7), Omega = [0.4, -0.7, 1.3], x = [0.6, -0.2], x'[1] = 0.3, th = 0.3, th' = "
    "0.8\n";

static const struct {
  const char *name;
  int order;
} methods[] = {{"radau1", 1},       {"variational_euler", 1},
               {"midpoint", 2},     {"discrete_gradient", 2},
               {"verlet", 2},       {"leapfrog", 2},
               {"rattle", 2},       {"radau2", 3},
               {"munthe_kaas3", 3}, {"rk4", 4},
               {"gauss2", 4},       {"lobatto3c3", 4},
               {"lobatto3ab3", 4},  {"commutator_free4", 4},
               {"spark3", 4},       {"radau3", 5},
               {"gauss3", 6},       {"lobatto3a4", 6},
               {"dop853", 8},       {"radau5", 9}};

/* The largest distance of an event of r from that of the precise motion. */
static double apart(const anagyre_motion *r, const anagyre_motion *precise) {
  static const char *const names[] = {"a", "b", "c"};
  double worst = 0;
  for (int e = 0; e < 3; e++) {
    const anagyre_array x = anagyre_motion_events(r, names[e]), y = anagyre_motion_events(precise, names[e]);
    AG_CHECK(x.n == y.n && x.n > 0);
    for (long i = 0; i < x.n && i < y.n; i++) worst = fmax(worst, fabs(x.data[i] - y.data[i]));
  }
  return worst;
}

int main(void) {
  anagyre_model *m = anagyre_open_text("m.nh", TEXT);
  anagyre_options o = anagyre_defaults();
  o.t1 = 5.6, o.rtol = 1e-13, o.atol = 1e-14;
  anagyre_motion *precise = anagyre_run(m, &o);
  AG_CHECK(precise != NULL);
  for (size_t i = 0; i < sizeof methods / sizeof *methods && precise; i++) {
    const int order = methods[i].order, steps = order > 4 ? 19 : order > 1 ? 112 : 448;
    double error[2];
    for (int k = 0; k < 2; k++) {
      anagyre_motion *r = moved(m, methods[i].name, 5.6 / (steps << k), 5.6);
      error[k] = apart(r, precise);
      anagyre_motion_free(r);
    }
    /* another place in the step changes what is left by a part of it, no more; the reference is good to 1e-13 */
    const bool good = error[1] < fmax(error[0] * exp2(0.6 - order), 1e-12);
    if (!good) fprintf(stderr, "%s: %.3g, %.3g\n", methods[i].name, error[0], error[1]);
    AG_CHECK(good);
  }
  anagyre_motion_free(precise);
  anagyre_close(m);
  return ag_check_report();
}
