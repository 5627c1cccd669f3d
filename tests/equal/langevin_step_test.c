/* SPDX-License-Identifier: MIT
 * Splittings for friction at a temperature, one step at a time with given increments. With rotations: order 2,
 * the momentum in space of a free body, the law of the velocities of a ball. With RATTLE: position constraints, weak
 * order 2. */
#include "tests/noise_stage.h"

enum { MOST = STAGE_MOST };
static const double QUIET[4] = {0}; /* increments of up to four channels */

static void begin(stage *s, const char *text, const char *method) {
  AG_CHECK(stage_init(s, text, ag_stepper_find(method), 0.5));
}

#define FRICTION(c) "friction Omega[1] = " c "\nfriction Omega[2] = " c "\nfriction Omega[3] = " c "\ntemperature 0.5\n"
#define BODY(config, inertia, rest) \
  "model body\nconfig R in SO3 velocity Omega\n" config "lagrangian 1/2*dot(Omega, " inertia "*Omega)" rest

/* A body and a point on a spring between them, driven by a torque that depends on time, damped; without noise. */
static const char *const DAMPED = BODY(
    "config x in R^3\n", "diag(0.7, 1, 1.6)",
    " + 1/2*dot(x', x') - 0.8*dot(R*e3, e3) - 1/2*dot(x - R*e1, x - R*e1)\n") "force Omega = [0, 0.3*cos(t), "
                                                                              "0]\n" FRICTION("0.4") "friction x'[1] = "
                                                                                                     "0.3\n"
                                                                                                     "start R = "
                                                                                                     "rotation(e2, "
                                                                                                     "0.4), Omega = "
                                                                                                     "[0.3, 0.1, 1.2], "
                                                                                                     "x = [0.5, 0, "
                                                                                                     "0.2]\n";

/* At t = 1, the quaternion with the sign it began with. */
static void until_one(stage *s, int steps, double *x) {
  ag_system_state0(s->sys, x);
  for (int k = 0; k < steps; k++) stage_step(s, (double)k / steps, 1.0 / steps, QUIET, NULL, x);
}

/* The reference is a method of order 4 for the whole equation. */
static void test_order(const char *method) {
  stage *s = malloc(sizeof *s), *r = malloc(sizeof *r);
  double a[MOST], b[MOST], fine[MOST], finer[MOST], one = 0, two = 0;
  begin(s, DAMPED, method);
  begin(r, DAMPED, "gauss2");
  until_one(r, 64, fine);
  until_one(r, 128, finer);
  until_one(s, 32, a);
  until_one(s, 64, b);
  for (int i = 0; i < s->n; i++) {
    AG_CHECK_NEAR(fine[i], finer[i], 1e-8); /* its order is 4 */
    one = fmax(one, fabs(a[i] - finer[i])), two = fmax(two, fabs(b[i] - finer[i]));
  }
  AG_CHECK_NEAR(log2(one / two), 2, 0.1);
  stage_done(s), stage_done(r);
  free(s), free(r);
}

/* R I Omega of a free body, almost without friction: 1000 steps of rounding. */
static void test_momentum(const char *method) {
  static const double I[3] = {0.7, 1, 1.6};
  stage *s = malloc(sizeof *s);
  double x[MOST], start[3] = {0};
  begin(s, BODY("", "diag(0.7, 1, 1.6)", "\n") FRICTION("1e-18") "start Omega = [0.3, 1.1, 0.8]\n", method);
  ag_system_state0(s->sys, x);
  for (int k = 0; k <= 1000; k++) {
    const double w = x[0], v[3] = {x[1], x[2], x[3]}, P[3] = {I[0] * x[4], I[1] * x[5], I[2] * x[6]};
    for (int i = 0; i < 3; i++) { /* p + 2 w v x p + 2 v x (v x p) */
      const int j = (i + 1) % 3, l = (i + 2) % 3;
      const double dot = v[0] * P[0] + v[1] * P[1] + v[2] * P[2], square = v[0] * v[0] + v[1] * v[1] + v[2] * v[2];
      const double turned = P[i] + 2 * w * (v[j] * P[l] - v[l] * P[j]) + 2 * (v[i] * dot - P[i] * square);
      if (k == 0) start[i] = turned;
      AG_CHECK_NEAR(turned, start[i], 1e-12);
    }
    if (k < 1000) stage_step(s, 0.05 * k, 0.05, QUIET, NULL, x);
  }
  stage_done(s);
  free(s);
}

/* A ball that turns freely: the mean of |Omega|^2 after a step from its mean 3 kT/I is the same, for every step size.
 * It is quadratic in the normal numbers, whose mean is taken from the values at 0 and at one of them +1 and -1. */
static void test_ball(const char *method) {
  static const double kT = 0.5, I = 0.8, Omega[3] = {0.48, -0.6, 0.64}; /* of length 1 */
  stage *s = malloc(sizeof *s);
  begin(s, BODY("", "diag(0.8, 0.8, 0.8)", "\n") FRICTION("0.6") "start Omega = [0.3, 1.1, 0.8]\n", method);
  for (double h = 0.05; h < 2; h *= 2) {
    double mean = 0, want = 3 * kT / I, none = 0;
    for (int k = 0; k <= 12; k++) {
      double normals[6] = {0}, x[MOST] = {1};
      if (k < 12) normals[k / 2] = k % 2 ? sqrt(h) : -sqrt(h);
      for (int i = 0; i < 3; i++) x[4 + i] = sqrt(want) * Omega[i];
      stage_step(s, 0, h, normals, normals + 3, x);
      const double square = x[4] * x[4] + x[5] * x[5] + x[6] * x[6];
      mean += k < 12 ? square / 2 : 0;
      none = square;
    }
    AG_CHECK_NEAR(mean - 5 * none, want, 1e-12 * want);
  }
  stage_done(s);
  free(s);
}

/* ---- with RATTLE ---- */

/* On an oscillator RATTLE is the method of Stormer and Verlet: BAB. */
static void test_oscillator(const char *plain, const char *method) {
  static const char text[] = "model m\nconfig q in R\nlagrangian 1/2*q'^2 - 1.7*q^2/2\nfriction q' = 0.6\n"
                             "temperature 0.8\nstart q = 1\n";
  stage *s = malloc(sizeof *s), *r = malloc(sizeof *r);
  double x[MOST] = {0.7, -0.4}, y[MOST] = {0.7, -0.4};
  begin(s, text, plain), begin(r, text, method);
  for (int k = 0; k < 50; k++) {
    const double dW = 0.5 * sin(3 * k), halves = 0.4 * cos(5 * k);
    stage_step(s, 0, 0.3, &dW, &halves, x);
    stage_step(r, 0, 0.3, &dW, &halves, y);
    for (int i = 0; i < 2; i++) AG_CHECK_NEAR(x[i], y[i], 1e-13);
  }
  stage_done(s), stage_done(r);
  free(s), free(r);
}

/* A pendulum of two rods, friction of one joint alone: the constraints and their rates, as the equations are solved. */
static void test_rods(const char *method) {
  stage *s = malloc(sizeof *s);
  double x[MOST];
  begin(s,
        "model m\nconfig a in R^2, b in R^2\nlagrangian 1/2*dot(a', a') + dot(b', b') - a[2] - 2*b[2]\n"
        "holonomic dot(a, a) = 1\nholonomic dot(b - a, b - a) = 0.25\nfriction a[1]*a'[2] - a[2]*a'[1] = 0.5\n"
        "temperature 0.6\nstart a = [0.6, -0.8], b = [0.6, -1.3]\n",
        method);
  ag_system_state0(s->sys, x);
  for (int k = 0; k < 100; k++) {
    const double dW = 0.4 * sin(3 * k), halves = 0.3 * cos(5 * k), *a = x, *b = x + 2, *v = x + 4, *w = x + 6;
    stage_step(s, 0, 0.05, &dW, &halves, x);
    const double d[2] = {b[0] - a[0], b[1] - a[1]};
    AG_CHECK_NEAR(a[0] * a[0] + a[1] * a[1], 1, 1e-12);
    AG_CHECK_NEAR(d[0] * d[0] + d[1] * d[1], 0.25, 1e-12);
    AG_CHECK_NEAR(a[0] * v[0] + a[1] * v[1], 0, 1e-12);
    AG_CHECK_NEAR(d[0] * (w[0] - v[0]) + d[1] * (w[1] - v[1]), 0, 1e-12);
  }
  stage_done(s);
  free(s);
}

/* A point on a circle of radius 1, in its plane. */
static const char CIRCLE[] = "model m\nconfig x in R^2\nlagrangian 1/2*dot(x', x') - x[2] + 0.3*x[1]\n"
                             "holonomic dot(x, x) = 1\nfriction x[1]*x'[2] - x[2]*x'[1] = 0.5\n"
                             "temperature 0.6\nstart x = [0.6, -0.8], x'[1] = 0.9\n";

/* The same step, written out: kicks along the tangent; a straight line, brought back to the circle along the radius at
 * its start, without forces; all in angular velocities w. */
static double push(const double *x, double h, double w) { return w + h * (0.3 * -x[1] - x[0]); }

static double slide(double *x, double h, double w) {
  const double y[2] = {x[0] - h * w * x[1], x[1] + h * w * x[0]}, r = sqrt(1 - h * h * w * w);
  const double to[2] = {y[0] - (1 - r) * x[0], y[1] - (1 - r) * x[1]};
  const double v[2] = {(to[0] - x[0]) / h, (to[1] - x[1]) / h};
  x[0] = to[0], x[1] = to[1];
  return x[0] * v[1] - x[1] * v[0];
}

static void test_circle(void) {
  static const double h = 0.2, c = 0.5, kT = 0.6;
  stage *s = malloc(sizeof *s);
  double x[MOST];
  begin(s, CIRCLE, "baoab_rattle");
  ag_system_state0(s->sys, x);
  double q[2] = {x[0], x[1]}, w = x[0] * x[3] - x[1] * x[2];
  for (int k = 0; k < 50; k++) {
    const double dW = 0.4 * sin(3 * k), unused = 7;
    stage_step(s, 0, h, &dW, &unused, x);
    w = slide(q, h / 2, push(q, h / 2, w));
    w = ((1 - h * c / 2) * w + sqrt(2 * c * kT) * dW) / (1 + h * c / 2);
    w = slide(q, h / 2, w);
    w = push(q, h / 2, w);
    for (int i = 0; i < 2; i++) AG_CHECK_NEAR(x[i], q[i], 1e-12);
    AG_CHECK_NEAR(x[2], -q[1] * w, 1e-12);
    AG_CHECK_NEAR(x[3], q[0] * w, 1e-12);
  }
  stage_done(s);
  free(s);
}

/* Means of the state and its squares after `steps` steps of h, over the normal numbers: by Gauss' rule with 5 nodes,
 * whose error is far smaller than h^3. */
static void mean_after(stage *s, int steps, double h, int draws, const double *from, double weight, double *mean) {
  static const double node[5] = {-2.8569700138728056, -1.3556261799742659, 0, 1.3556261799742659, 2.8569700138728056},
                      part[5] = {0.011257411327720689, 0.22207592200561264, 8.0 / 15, 0.22207592200561264,
                                 0.011257411327720689};
  for (int i = 0; i < s->n && !steps; i++) mean[i] += weight * from[i], mean[s->n + i] += weight * from[i] * from[i];
  for (int k = 0; k < (draws == 2 ? 25 : 5) && steps; k++) {
    const double dW = sqrt(h) * node[k % 5], halves = draws == 2 ? sqrt(h) * node[k / 5] : 0;
    double x[MOST];
    memcpy(x, from, sizeof x);
    stage_step(s, 0, h, &dW, &halves, x);
    mean_after(s, steps - 1, h, draws, x, weight * part[k % 5] * (draws == 2 ? part[k / 5] : 1), mean);
  }
}

/* Weak order 2: the means of one step and of two halves differ by h^3. */
static void test_weak(const char *method, int draws) {
  double gap[2] = {0}, x[MOST];
  stage *s = malloc(sizeof *s);
  begin(s, CIRCLE, method);
  memset(x, 0, sizeof x);
  ag_system_state0(s->sys, x);
  for (int k = 0; k < 2; k++) {
    const double h = k ? 0.02 : 0.04;
    double one[2 * MOST] = {0}, two[2 * MOST] = {0};
    mean_after(s, 1, h, draws, x, 1, one);
    mean_after(s, 2, h / 2, draws, x, 1, two);
    for (int i = 0; i < 2 * s->n; i++) gap[k] = fmax(gap[k], fabs(one[i] - two[i]));
  }
  AG_CHECK_NEAR(log2(gap[0] / gap[1]) - 1, 2, 0.1);
  stage_done(s);
  free(s);
}

/* ---- refusals ---- */

static void refused(const char *text) {
  ag_ctx ctx = {0};
  ag_model *m;
  ag_system *sys;
  AG_CHECK(ag_lang_read(&ctx, "model", text, strlen(text), 0, NULL, &m) == AG_OK);
  AG_CHECK(ag_system_create(&ctx, m, &(ag_derive_options){0}, &sys) == AG_OK);
  AG_CHECK(ag_system_field(sys, AG_FIELD_OF_BATH));
  AG_CHECK(!ag_system_splits(sys) && !ag_system_role(sys, AG_ROLE_INERTIA));
  ag_system_free(sys);
  ag_model_free(m);
  ag_ctx_done(&ctx);
}

int main(void) {
  static const char *const methods[] = {"baoab", "obabo", "ovo_rattle", "baoab_rattle"};
  for (int i = 0; i < 4; i++) test_order(methods[i]), test_momentum(methods[i]), test_ball(methods[i]);
  test_oscillator("obabo", "ovo_rattle"), test_oscillator("baoab", "baoab_rattle");
  test_rods("ovo_rattle"), test_rods("baoab_rattle");
  test_circle();
  test_weak("ovo_rattle", 2), test_weak("baoab_rattle", 1);
  /* axes that are not principal, a mass that turns with the body, a force of velocities */
  refused(BODY("", "[[1, 0.2, 0], [0.2, 1, 0], [0, 0, 1]]", "\n") FRICTION("0.1") "start Omega = [0.3, 1.1, 0.8]\n");
  refused(BODY("config z in R\n", "diag(0.7, 1, 1.6)", " + (1 + 0.3*dot(R*e3, e3))/2*z'^2\n")
              FRICTION("0.1") "start Omega = [0.3, 1.1, 0.8]\n");
  refused(BODY("", "diag(0.7, 1, 1.6)", "\nforce Omega = [0, Omega[3]^2, 0]\n")
              FRICTION("0.1") "start Omega = [0.3, 1.1, 0.8]\n");
  return ag_check_report();
}
