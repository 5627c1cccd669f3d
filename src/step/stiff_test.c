/* SPDX-License-Identifier: MIT
 * Adaptive runs of every implicit method with an error estimate on stiff equations whose motions are known: errors are
 * of the size of the tolerance, and few tries are rejected. Values at the end: F. Mazzia, C. Magherini, Test Set for
 * Initial Value Problem Solvers, release 2.4, 2008. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "step/step.h"
#include "tests/check.h"

enum { MOST = 8, CARRY = 6 * MOST + 1, WORK = 4096 };

typedef struct stiff {
  const char *name;
  int n;
  double t1, z0[MOST], z1[MOST];
  int (*rhs)(void *self, double t, const double *z, double *dz);
  int (*jacobian)(void *self, double t, const double *z, double *J);
} stiff;

static int van_der_pol(void *self, double t, const double *z, double *dz) {
  (void)self, (void)t;
  dz[0] = z[1], dz[1] = 1000 * (1 - z[0] * z[0]) * z[1] - z[0];
  return 0;
}
static int van_der_pol_jacobian(void *self, double t, const double *z, double *J) {
  (void)self, (void)t;
  J[0] = 0, J[1] = 1, J[2] = -2000 * z[0] * z[1] - 1, J[3] = 1000 * (1 - z[0] * z[0]);
  return 0;
}

static const double q = 8.375e-6, s = 77.27;
static int oregonator(void *self, double t, const double *z, double *dz) {
  (void)self, (void)t;
  dz[0] = s * (z[1] + z[0] * (1 - q * z[0] - z[1]));
  dz[1] = (z[2] - (1 + z[0]) * z[1]) / s;
  dz[2] = 0.161 * (z[0] - z[2]);
  return 0;
}
static int oregonator_jacobian(void *self, double t, const double *z, double *J) {
  const double rows[9] = {
      s * (1 - 2 * q * z[0] - z[1]), s * (1 - z[0]), 0, -z[1] / s, -(1 + z[0]) / s, 1 / s, 0.161, 0, -0.161};
  (void)self, (void)t;
  memcpy(J, rows, sizeof rows);
  return 0;
}

static int hires(void *self, double t, const double *z, double *dz) {
  const double a = 280 * z[5] * z[7];
  (void)self, (void)t;
  dz[0] = -1.71 * z[0] + 0.43 * z[1] + 8.32 * z[2] + 0.0007;
  dz[1] = 1.71 * z[0] - 8.75 * z[1];
  dz[2] = -10.03 * z[2] + 0.43 * z[3] + 0.035 * z[4];
  dz[3] = 8.32 * z[1] + 1.71 * z[2] - 1.12 * z[3];
  dz[4] = -1.745 * z[4] + 0.43 * z[5] + 0.43 * z[6];
  dz[5] = -a + 0.69 * z[3] + 1.71 * z[4] - 0.43 * z[5] + 0.69 * z[6];
  dz[6] = a - 1.81 * z[6];
  dz[7] = -dz[6];
  return 0;
}
static int hires_jacobian(void *self, double t, const double *z, double *J) {
  const double a = 280 * z[7], b = 280 * z[5];
  const struct {
    int at;
    double is;
  } entries[] = {{0, -1.71},  {1, 0.43},  {2, 8.32},       {8, 1.71},   {9, -8.75},   {18, -10.03}, {19, 0.43},
                 {20, 0.035}, {25, 8.32}, {26, 1.71},      {27, -1.12}, {36, -1.745}, {37, 0.43},   {38, 0.43},
                 {43, 0.69},  {44, 1.71}, {45, -a - 0.43}, {46, 0.69},  {47, -b},     {53, a},      {54, -1.81},
                 {55, b},     {61, -a},   {62, 1.81},      {63, -b}};
  (void)self, (void)t;
  memset(J, 0, 64 * sizeof *J);
  for (size_t i = 0; i < sizeof entries / sizeof *entries; i++) J[entries[i].at] = entries[i].is;
  return 0;
}

/* z = (cos t, sin 2t), to which z is pulled back along a direction that turns: what strong friction of a blade does. */
static const double pull = 1e5, turns = 3;
static int turning(void *self, double t, const double *z, double *dz) {
  const double c = cos(turns * t), d = sin(turns * t), off = c * (z[0] - cos(t)) + d * (z[1] - sin(2 * t));
  (void)self;
  dz[0] = -sin(t) - pull * c * off, dz[1] = 2 * cos(2 * t) - pull * d * off;
  return 0;
}
static int turning_jacobian(void *self, double t, const double *z, double *J) {
  const double c = cos(turns * t), d = sin(turns * t);
  (void)self, (void)z;
  J[0] = -pull * c * c, J[1] = J[2] = -pull * c * d, J[3] = -pull * d * d;
  return 0;
}

/* A point on a damped spring of length 1 that turns at the rate 0.7: q = length (cos, sin)(0.7 t). */
static const double spring = 1e8, damper = 1e5, rate = 0.7;
static int whirling(void *self, double t, const double *z, double *dz) {
  const double r = hypot(z[0], z[1]), along = (z[0] * z[2] + z[1] * z[3]) / (r * r);
  (void)self, (void)t;
  for (int i = 0; i < 2; i++) dz[i] = z[2 + i], dz[2 + i] = -(spring * (r - 1) / r + damper * along) * z[i];
  return 0;
}
static int whirling_jacobian(void *self, double t, const double *z, double *J) {
  const double r = hypot(z[0], z[1]), square = r * r, along = (z[0] * z[2] + z[1] * z[3]) / square;
  (void)self, (void)t;
  memset(J, 0, 16 * sizeof *J);
  J[2] = J[7] = 1;
  for (int i = 0; i < 2; i++) {
    J[8 + 5 * i] = -(spring * (r - 1) / r + damper * along);
    for (int j = 0; j < 2; j++) {
      J[8 + 4 * i + j] -= z[i] * (spring / r * z[j] + damper * (z[2 + j] - 2 * along * z[j])) / square;
      J[10 + 4 * i + j] = -damper * z[i] * z[j] / square;
    }
  }
  return 0;
}

static const stiff all[] = {
    {"van_der_pol", 2, 2000, {2, 0}, {1.706167732170483, -0.8928097010247975e-3}, van_der_pol, van_der_pol_jacobian},
    {"oregonator",
     3,
     360,
     {1, 2, 3},
     {1.000814870318523, 1228.178521549917, 132.0554942846706},
     oregonator,
     oregonator_jacobian},
    {"hires",
     8,
     321.8122,
     {1, 0, 0, 0, 0, 0, 0, 0.0057},
     {0.7371312573325668e-3, 0.1442485726316185e-3, 0.5888729740967575e-4, 0.1175651343283149e-2, 0.2386356198831331e-2,
      0.6238968252742796e-2, 0.2849998395185769e-2, 0.2850001604814231e-2},
     hires,
     hires_jacobian},
    {"turning", 2, 10, {1, 0}, {-0.8390715290764524, 0.9129452507276277}, turning, turning_jacobian},
};

/* The error at the end, relative to the larger of 1 and the size. */
static double follow(const ag_stepper *m, const stiff *p, double rtol, long *steps, long *rejected) {
  ag_factor whole = {AG_FACTOR_VECTOR, 0, p->n, 0};
  ag_flow f = {.n = p->n, .rhs = p->rhs, .m = p->n, .n_factor = 1, .factors = &whole, .jacobian = p->jacobian};
  double z[MOST], dz[CARRY] = {0}, z1[MOST], dz1[CARRY], work[WORK], error[2], t = 0, worst = 0;
  ag_control c;
  AG_CHECK(m->room(p->n, p->n, p->n * p->n).size <= WORK && p->n + m->room(p->n, p->n, p->n * p->n).own <= CARRY);
  ag_control_init(&c, m, rtol, 1e-2 * rtol);
  memcpy(z, p->z0, sizeof z);
  p->rhs(NULL, 0, z, dz);
  double h = ag_control_first(&f, m, 0, p->t1, z, dz, rtol, c.atol, work), next;
  *steps = *rejected = 0;
  while (t < p->t1 && h > 1e-14 * t && *steps + *rejected < 100000) {
    const bool last = t + h * 1.0000001 >= p->t1;
    const double step = last ? p->t1 - t : h;
    const int reason = m->step(m, &f, t, step, z, dz, z1, dz1, rtol, c.atol, error, work);
    const bool good = ag_control_judge(&c, m, step, reason ? NAN : error[0], &next);
    h = next;
    if (!good) ++*rejected;
    if (!good) continue;
    ++*steps;
    t = last ? p->t1 : t + step;
    memcpy(z, z1, sizeof z);
    memcpy(dz, dz1, sizeof dz);
  }
  if (t < p->t1) return INFINITY;
  for (int i = 0; i < p->n; i++) worst = fmax(worst, fabs(z[i] - p->z1[i]) / fmax(1, fabs(p->z1[i])));
  return worst;
}

static void test_method(const ag_stepper *m) {
  for (size_t k = 0; k < sizeof all / sizeof *all; k++)
    for (double rtol = 1e-2; rtol > 1e-9; rtol *= 1e-2) {
      long steps, rejected;
      const double error = follow(m, &all[k], rtol, &steps, &rejected);
      if (getenv("AG_TEST_VERBOSE"))
        printf("%-8s %-12s rtol %.0e: %6ld steps, %5ld rejected, error %.1e\n", m->name, all[k].name, rtol, steps,
               rejected, error);
      AG_CHECK(error <= 20 * rtol); /* errors of the phase of an oscillator add up: to 10 rtol with radau2, else to 4 */
      AG_CHECK(2 * rejected <= steps + 10);
    }
}

/* Tolerances near rounding: corrections of 1e-17 cannot be had, so a hundredth of the tolerance takes a few times the
 * steps, where steps were limited by waiting for such corrections. 1e-12 times the condition of the spring's force. */
static void test_tight(const ag_stepper *m) {
  const double length = spring / (spring - rate * rate), speed = rate * length;
  const stiff p = {"whirling",
                   4,
                   20,
                   {length, 0, 0, speed},
                   {length * cos(14), length * sin(14), -speed * sin(14), speed * cos(14)},
                   whirling,
                   whirling_jacobian};
  long steps[2], rejected[2];
  for (int i = 0; i < 2; i++) {
    const double error = follow(m, &p, i ? 1e-12 : 1e-10, &steps[i], &rejected[i]);
    if (getenv("AG_TEST_VERBOSE")) printf("%s: %ld + %ld steps, %.1e\n", m->name, steps[i], rejected[i], error);
    AG_CHECK(error < 1e-9);
  }
  AG_CHECK(steps[1] + rejected[1] < 4 * (steps[0] + rejected[0]));
}

int main(void) {
  for (int i = 0; i < ag_stepper_count(); i++) {
    const ag_stepper *m = ag_stepper_at(i);
    /* of order 1 the errors of N steps, each below the tolerance, add up to its root */
    if (m->error_order && m->order > 1 && (m->needs & AG_NEEDS_JACOBIAN)) test_method(m);
    if (m->error_order > 2 && (m->needs & AG_NEEDS_JACOBIAN)) test_tight(m);
  }
  return ag_check_report();
}
