/* SPDX-License-Identifier: MIT
 * The oscillator with friction at a temperature, q' = p, p' = -w2 q - c p + sqrt(2 c kT) W': a step of a method is
 * linear in the state and the noise, z1 = A z + sum B_i xi_i. Its matrices are read off, and the stationary covariance
 * P = A P A^T + sum B_i B_i^T solved for: exact numbers, nothing is drawn. */
#include <stdlib.h>

#include "step/step.h"
#include "tests/check.h"

enum { WORK = 256 };
static const double w2 = 1.7, c = 0.6, kT = 0.8;

/* w = [1 | dW/h | friction | .. | is friction a part of the drift (2)?] */
static double friction(const double *w) { return c * (w[4] > 1 ? w[0] : w[2]); }

static int rhs(void *self, double t, const double *z, double *dz) {
  const double *w = self;
  (void)t;
  dz[0] = w[0] * z[1], dz[1] = -w[0] * w2 * z[0] - friction(w) * z[1] + w[1] * sqrt(2 * c * kT);
  return 0;
}

static int jacobian(void *self, double t, const double *z, double *J) {
  const double *w = self;
  (void)t, (void)z;
  J[0] = 0, J[1] = w[0], J[2] = -w[0] * w2, J[3] = -friction(w);
  return 0;
}

static int canonical(void *self, double t, const double *z, double *out) {
  (void)self, (void)t;
  out[0] = (z[1] * z[1] + w2 * z[0] * z[0]) / (2 * kT), out[1] = kT;
  return 0;
}

/* One step of h from z with the increments a sqrt(h) and, of the halves, b sqrt(h). */
static void step(const ag_stepper *s, double h, const double *z, double a, double b, double *z1) {
  double w[5] = {1, a / sqrt(h), 1, b / sqrt(h), s->follows != AG_FOLLOWS_BATH ? 2 : 0}, dz[8] = {0}, dz1[8], error[2],
         work[WORK];
  const ag_factor whole = {AG_FACTOR_VECTOR, 0, 2, 0};
  ag_flow f = {.n = 2, .rhs = rhs, .m = 2, .n_factor = 1, .factors = &whole, .u_at = 1, .n_u = 1};
  f.jacobian = jacobian, f.self = w, f.step = w, f.n_channel = 1;
  AG_CHECK(s->room(2, 2, 4).size <= WORK);
  rhs(w, 0, z, dz);
  AG_CHECK(s->step(s, &f, 0, h, z, dz, z1, dz1, 0, 1, error, work) == 0);
  AG_CHECK(w[0] == 1 && w[2] == 1);
}

/* The matrix of a step, and the covariance of its noise: q q, q p, p p. */
static void read_off(const ag_stepper *s, double h, double A[2][2], double *P) {
  const double none[2] = {0}, e[2][2] = {{1, 0}, {0, 1}};
  double x[2];
  for (int j = 0; j < 2; j++) {
    step(s, h, e[j], 0, 0, x);
    A[0][j] = x[0], A[1][j] = x[1];
  }
  P[0] = P[1] = P[2] = 0;
  for (int k = 0; k < 2; k++) {
    step(s, h, none, k == 0, k == 1, x);
    P[0] += x[0] * x[0], P[1] += x[0] * x[1], P[2] += x[1] * x[1];
  }
}

/* Two steps in place of one: P += A P A^T, A = A A. */
static void twice(double A[2][2], double *P) {
  const double a = A[0][0], b = A[0][1], d = A[1][0], g = A[1][1], q = P[0], m = P[1], p = P[2];
  P[0] += a * a * q + 2 * a * b * m + b * b * p;
  P[1] += a * d * q + (a * g + b * d) * m + b * g * p;
  P[2] += d * d * q + 2 * d * g * m + g * g * p;
  A[0][0] = a * a + b * d, A[0][1] = a * b + b * g, A[1][0] = d * a + g * d, A[1][1] = d * b + g * g;
}

/* Kinetic and potential energy over kT/2, of the stationary state. */
static void stationary(const char *method, double h, double *kinetic, double *potential) {
  const ag_stepper *s = ag_stepper_find(method);
  double A[2][2], P[3];
  AG_CHECK(s != NULL);
  read_off(s, h, A, P);
  for (int round = 0; round < 60; round++) twice(A, P);
  *kinetic = P[2] / kT, *potential = w2 * P[0] / kT;
}

/* How far moments after one step are from those after two halves. */
static double gap(const ag_stepper *s, double h) {
  double A[2][2], B[2][2], P[3], Q[3], worst = 0;
  read_off(s, h, A, P);
  read_off(s, h / 2, B, Q);
  twice(B, Q);
  for (int i = 0; i < 4; i++) worst = fmax(worst, fabs(A[i / 2][i % 2] - B[i / 2][i % 2]));
  for (int i = 0; i < 3; i++) worst = fmax(worst, fabs(P[i] - Q[i]));
  return worst;
}

/* Weak order p: the moments of one step are off by h^(p+1). */
static void check_weak(const char *method) {
  const ag_stepper *s = ag_stepper_find(method);
  AG_CHECK_NEAR(log2(gap(s, 0.02) / gap(s, 0.01)) - 1, s->weak[0], 0.1);
}

/* 1e-12: the roundings of some hundred operations on numbers of size 1. */
static void check(const char *method, double h, double kinetic, double potential) {
  double K, U;
  stationary(method, h, &K, &U);
  if (!(fabs(K - kinetic) <= 1e-12 && fabs(U - potential) <= 1e-12))
    fprintf(stderr, "%s, h = %g: %.15g, %.15g instead of %.15g, %.15g\n", method, h, K, U, kinetic, potential);
  AG_CHECK_NEAR(K, kinetic, 1e-12);
  AG_CHECK_NEAR(U, potential, 1e-12);
}

/* One step without noise that is tested with the uniform number u. Was it accepted? */
static bool tested(const char *method, double h, const double *z, double u, double *z1) {
  const ag_stepper *s = ag_stepper_find(method);
  double w[5] = {1, 0, 1, 0, u}, dz[3] = {0, 0, 7}, dz1[3], error[2], work[WORK];
  const ag_factor whole = {AG_FACTOR_VECTOR, 0, 2, 0};
  ag_flow f = {.n = 2, .rhs = rhs, .m = 2, .n_factor = 1, .factors = &whole, .u_at = 1, .n_u = 1};
  f.jacobian = jacobian, f.canonical = canonical, f.self = w, f.step = w, f.n_channel = 1;
  AG_CHECK(s->room(2, 2, 4).size <= WORK && s->room(2, 2, 4).own == 1 && ag_stepper_tests(s));
  rhs(w, 0, z, dz);
  AG_CHECK(s->step(s, &f, 0, h, z, dz, z1, dz1, 0, 1, error, work) == 0);
  AG_CHECK(dz1[2] == 7 || dz1[2] == 8);
  return dz1[2] == 8;
}

/* Accepted steps are those of the method without a test; else velocities are reversed: between the halves of friction,
 * or, of BAOAB, of the whole step. The border is exp(-d), with the change d of E/kT by the parts without friction. */
static void check_trial(double h, double q, double p) {
  const double r = (1 - h * c / 4) / (1 + h * c / 4), whole = (1 - h * c / 2) / (1 + h * c / 2);
  const double z[2] = {q, p}, u = r * p;
  double a[2], b[2], start[2], end[2], got[2], d;
  /* O, then B A B */
  double v = u - h / 2 * w2 * q, x = q + h * v;
  start[0] = q, start[1] = u, end[0] = x, end[1] = v - h / 2 * w2 * x;
  canonical(NULL, 0, start, a), canonical(NULL, 0, end, b);
  d = b[0] - a[0];
  step(ag_stepper_find("obabo"), h, z, 0, 0, got);
  AG_CHECK_NEAR(got[1], r * end[1], 1e-14);
  if (d > 0) {
    double z1[2];
    AG_CHECK(tested("obabo_metropolis", h, z, exp(-d) * (1 - 1e-12), z1) && z1[0] == got[0] && z1[1] == got[1]);
    AG_CHECK(!tested("obabo_metropolis", h, z, exp(-d) * (1 + 1e-12), z1));
    AG_CHECK(z1[0] == q);
    AG_CHECK_NEAR(z1[1], -r * u, 1e-14);
  } else AG_CHECK(tested("obabo_metropolis", h, z, 1 - 1e-16, a) && a[0] == got[0] && a[1] == got[1]);
  /* B A, O, A B */
  v = p - h / 2 * w2 * q, x = q + h / 2 * v;
  canonical(NULL, 0, z, a), canonical(NULL, 0, (double[]){x, v}, b);
  d = b[0] - a[0];
  canonical(NULL, 0, (double[]){x, whole * v}, a);
  x += h / 2 * whole * v, v = whole * v - h / 2 * w2 * x;
  canonical(NULL, 0, (double[]){x, v}, b);
  d += b[0] - a[0];
  step(ag_stepper_find("baoab"), h, z, 0, 0, got);
  if (d > 0) {
    AG_CHECK(tested("baoab_metropolis", h, z, exp(-d) * (1 - 1e-12), a) && a[0] == got[0] && a[1] == got[1]);
    AG_CHECK(!tested("baoab_metropolis", h, z, exp(-d) * (1 + 1e-12), a) && a[0] == q && a[1] == -p);
  } else AG_CHECK(tested("baoab_metropolis", h, z, 1 - 1e-16, a) && a[0] == got[0] && a[1] == got[1]);
  /* the midpoint rule keeps the energy of an oscillator to rounding */
  step(ag_stepper_find("ovo_midpoint"), h, z, 0, 0, got);
  AG_CHECK(tested("ovo_midpoint_metropolis", h, z, 1 - 1e-12, a) && a[0] == got[0] && a[1] == got[1]);
}

int main(void) {
  for (int k = 0; k < 40; k++) check_trial(0.1 + 0.03 * k, sin(5 * k), 1.5 * cos(3 * k));
  for (double h = 0.02; h < 1; h *= 2) {
    const double y = h * h * w2 / 4;
    check("baoab", h, 1 - y, 1);
    check("obabo", h, 1, 1 / (1 - y));
    check("ovo_midpoint", h, 1, 1);
    check("midpoint", h, 1, 1);
    /* Euler and Maruyama, explicit (while it is stable) and implicit: the noise is additive, Ito's form is the same */
    const double heat = 1 - h * c / 2 - h * w2 / c * (1 - 3 * h * c / 4 + h * h * w2 / 4);
    const double cool = 1 + h * c / 2 + h * w2 / c * (1 + 3 * h * c / 4 + h * h * w2 / 4);
    for (int k = 0; k < 2; k++) {
      if (heat > 0) check(k ? "euler_maruyama" : "euler", h, 1 / heat, (1 - h * c / 2 + h * h * w2 / 2) / heat);
      check(k ? "implicit_euler_maruyama" : "radau1", h, 1 / cool, (1 + h * c / 2 + h * h * w2 / 2) / cool);
    }
  }
  static const char *const weak[] = {"baoab",  "obabo",          "ovo_midpoint",           "euler",
                                     "radau1", "euler_maruyama", "implicit_euler_maruyama"};
  for (size_t i = 0; i < sizeof weak / sizeof *weak; i++) check_weak(weak[i]);
  return ag_check_report();
}
