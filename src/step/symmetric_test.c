/* SPDX-License-Identifier: MIT
 * Symmetric projection of every method of the table that Kepler's problem offers what it needs: the levels are kept to
 * rounding, the order stays, and a step back undoes a step where it does without. */
#include "step/step.h"
#include "step/test_flows.h"
#include "tests/check.h"

enum { WORK = 2048, CARRY = 32 };

/* Energy and angular momentum. */
static int kepler_levels(void *self, double t, const double *z, double *out) {
  double r2 = z[0] * z[0] + z[1] * z[1], r = sqrt(r2), g = 1 / (r2 * r);
  const double all[12] = {0.5 * (z[2] * z[2] + z[3] * z[3]) - 1 / r,
                          z[0] * z[3] - z[1] * z[2],
                          0,
                          0,
                          z[0] * g,
                          z[1] * g,
                          z[2],
                          z[3],
                          z[3],
                          -z[2],
                          -z[1],
                          z[0]};
  (void)self, (void)t;
  memcpy(out, all, sizeof all);
  return 0;
}

/* The energy, then a quantity that is not constant, or a function of the energy. */
static int wrong_levels(void *self, double t, const double *z, double *out) {
  double all[12];
  (void)kepler_levels(NULL, t, z, all);
  memcpy(out, all, sizeof all);
  out[1] = self ? z[0] : 3 * all[0];
  for (int i = 0; i < 4; i++) out[8 + i] = self ? i == 0 : 3 * all[4 + i];
  return 0;
}

static ag_flow kepler_flow(void) {
  ag_flow f = test_flow_of(&test_flows[2], NULL);
  f.n_level = 2, f.levels = kepler_levels;
  return f;
}

/* Steps from the pericentre, `there` of them forward and `back` of them backward. Largest change of the levels, and
 * the error against the exact motion at the end. */
static int follow(const ag_stepper *s, double h, int there, int back, double *levels, double *error) {
  ag_flow f = kepler_flow();
  double z[2][4], dz[2][CARRY] = {0}, work[WORK], unused[2], first[12], now[12], t = 0;
  AG_CHECK(ag_symmetric_size(s, &f) <= WORK);
  kepler_exact(0, z[0]);
  kepler_rhs(NULL, 0, z[0], dz[0]);
  (void)kepler_levels(NULL, 0, z[0], first);
  *levels = 0;
  for (int i = 0; i < there + back; i++) {
    int a = i % 2, b = 1 - a, reason;
    double step = i < there ? h : -h;
    if ((reason = ag_symmetric_step(s, &f, t, step, z[a], dz[a], z[b], dz[b], unused, work))) return reason;
    t = h * (i < there ? i + 1 : 2 * there - i - 1);
    (void)kepler_levels(NULL, 0, z[b], now);
    for (int k = 0; k < 2; k++) *levels = fmax(*levels, fabs(now[k] - first[k]));
  }
  *error = test_error(&test_flows[2], t, z[(there + back) % 2]);
  return 0;
}

/* The error of the method itself after `steps` of them. */
static double plain_error(const ag_stepper *s, double h, int steps) {
  ag_flow f = kepler_flow();
  double z[2][4], dz[2][CARRY] = {0}, work[WORK], error[2];
  kepler_exact(0, z[0]);
  kepler_rhs(NULL, 0, z[0], dz[0]);
  for (int i = 0; i < steps; i++)
    if (s->step(s, &f, h * i, h, z[i % 2], dz[i % 2], z[1 - i % 2], dz[1 - i % 2], 0, 1, error, work)) return INFINITY;
  return test_error(&test_flows[2], h * steps, z[steps % 2]);
}

/* Up to order 6 from the errors of two runs, the finer of which is well above rounding. Projection may raise the order,
 * where the error of a method is along the gradients. Above order 6 rounding is reached with long steps: the error is
 * at most a few times that of the method itself, at every size of the steps. */
static void test_order(const ag_stepper *s) {
  double error[2], levels, least = INFINITY;
  int steps = s->order > 6 ? 8 : s->order > 3 ? 24 : 64, found = 0;
  for (int i = 0; i < 12; i++, steps = steps * 3 / 2) {
    int finer = steps * 3 / 2;
    if (follow(s, 3.0 / steps, steps, 0, &levels, &error[0]) || follow(s, 3.0 / finer, finer, 0, &levels, &error[1]))
      continue;
    if (s->order > 6) AG_CHECK(error[0] <= 3 * plain_error(s, 3.0 / steps, steps) + 1e-13);
    if (error[1] < 1e-12) break;
    least = log(error[0] / error[1]) / log((double)finer / steps), found++;
  }
  if (s->order > 6) return;
  if (!(found && least >= s->order - 0.15)) fprintf(stderr, "%s: order %.3f (%d)\n", s->name, least, found);
  AG_CHECK(found && least >= s->order - 0.15);
}

/* 400 steps there and back: the levels to some roundings, not growing; the start again where the method is symmetric.
 */
static void test_kept(const ag_stepper *s) {
  double levels, back;
  int reason = follow(s, 0.02, 200, 200, &levels, &back);
  AG_CHECK(reason == 0);
  AG_CHECK(levels <= 1e-14);
  if (s->keeps & (AG_KEEPS_REVERSIBILITY | AG_KEEPS_SYMMETRY)) AG_CHECK(back < 1e-11);
  else if (s->order < 4) AG_CHECK(back > 1e-9); /* it can be lost */
}

/* The dense output begins and ends where the step does, and follows the motion between as that of the method. */
static void test_dense(const ag_stepper *s) {
  ag_flow f = kepler_flow();
  double z[4], z1[4], u[4], dz[CARRY] = {0}, dz1[CARRY], work[WORK], error[2], t = 0.4, h = 0.02;
  kepler_exact(t, z);
  kepler_rhs(NULL, t, z, dz);
  AG_CHECK(ag_symmetric_step(s, &f, t, h, z, dz, z1, dz1, error, work) == 0);
  AG_CHECK(ag_symmetric_dense(s, &f, t, h, work) == 0);
  for (int k = 0; k <= 4; k++) {
    ag_symmetric_interpolate(s, &f, 0.25 * k, work, u);
    AG_CHECK(test_error(&test_flows[2], t + 0.25 * k * h, u) < 10 * pow(h, s->dense_order + 1) + 1e-14);
    for (int i = 0; i < 4; i++) {
      if (k == 0) AG_CHECK_NEAR(u[i], z[i], 4e-16);
      if (k == 4) AG_CHECK_NEAR(u[i], z1[i], 4e-16);
    }
  }
}

static void test_refused(void) {
  const ag_stepper *s = ag_stepper_find("rk4");
  int which, wrong = 1;
  double z[4], dz[CARRY] = {0}, work[WORK];
  ag_flow f = kepler_flow();
  kepler_exact(0.3, z);
  kepler_rhs(NULL, 0, z, dz);
  AG_CHECK(ag_symmetric_fits(s, &f, 0, z, dz, &which, work) == 0);
  f.levels = wrong_levels;
  AG_CHECK(ag_symmetric_fits(s, &f, 0, z, dz, &which, work) == AG_STEP_DEPENDENT);
  f.self = &wrong;
  AG_CHECK(ag_symmetric_fits(s, &f, 0, z, dz, &which, work) == AG_STEP_LEVEL && which == 1);
}

int main(void) {
  ag_flow offered = kepler_flow();
  int count = 0;
  for (int i = 0; i < ag_stepper_count(); i++) {
    const ag_stepper *s = ag_stepper_at(i);
    int failed = ag_checks_failed;
    if (ag_stepper_lacks(s, ag_flow_offers(&offered))) continue;
    test_order(s);
    test_kept(s);
    test_dense(s);
    count++;
    if (ag_checks_failed > failed) fprintf(stderr, "  in %s\n", s->name);
  }
  AG_CHECK(count > 20);
  test_refused();
  return ag_check_report();
}
