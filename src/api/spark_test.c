/* SPDX-License-Identifier: MIT
 * SPARK methods on nonholonomic models: with linear, affine and time-dependent constraints, with a basis that is
 * renewed, on angles, vectors and rotations. Orders, the constraints at the ends of steps, the way back, refusals. With
 * other methods that cannot go on with multipliers: a blade that turns slowly. */
#include "tests/motions.h"

static const struct {
  const char *model;
  double t1;
  const char *state[6];
} cases[] = {{"falling_disk", 1.2, {"theta", "phi", "psi", "x", "y", "theta'"}},
             {"roller_racer", 2.4, {"x", "y", "theta", "phi"}},
             {"cylinder_ball", 2.4, {"z", "gamma", "W"}}, /* affine, on S1 x R and a rotation */
             {"driven_blade", 2.4, {"x", "y"}},
             {"rattleback", 1.2, {"Omega", "x"}},
             {"sliding_disk", 1.2, {"x", "th"}},  /* friction */
             {"heavy_top", 1.2, {"Omega", "R"}}}; /* no constraint */
enum { N_CASE = sizeof cases / sizeof *cases };

static double apart(int i, const anagyre_motion *a, const anagyre_motion *b) {
  double worst = 0;
  for (int k = 0; k < 6 && cases[i].state[k]; k++) {
    anagyre_array x = anagyre_motion_final(a, cases[i].state[k]), y = anagyre_motion_final(b, cases[i].state[k]);
    AG_CHECK(x.data && y.data);
    for (int j = 0; j < x.rows * x.cols && x.data && y.data; j++) worst = fmax(worst, fabs(x.data[j] - y.data[j]));
  }
  return worst;
}

/* Slope of two runs against a precise one; 0.1 is what the next term of the error leaves at these steps. */
static void test_order(int i) {
  static const struct {
    const char *method;
    int order, steps;
  } all[] = {{"spark2", 2, 240}, {"spark3", 4, 60}};
  anagyre_model *m = anagyre_open(cases[i].model);
  anagyre_options o = anagyre_defaults();
  o.t1 = cases[i].t1, o.rtol = 1e-13, o.atol = 1e-14, o.no_events = 1;
  anagyre_motion *precise = anagyre_run(m, &o);
  AG_CHECK(precise != NULL);
  for (int k = 0; k < 2 && precise; k++) {
    double error[2];
    for (int j = 0; j < 2; j++) {
      anagyre_motion *r = moved(m, all[k].method, cases[i].t1 / (all[k].steps << j), cases[i].t1);
      error[j] = apart(i, r, precise);
      AG_CHECK(anagyre_motion_residual(r) < 1e-12);
      anagyre_motion_free(r);
    }
    double order = log2(error[0] / error[1]);
    if (!(fabs(order - all[k].order) <= 0.1))
      fprintf(stderr, "%s of %s: %.3f (%.2g, %.2g)\n", all[k].method, cases[i].model, order, error[0], error[1]);
    AG_CHECK(fabs(order - all[k].order) <= 0.1);
  }
  anagyre_motion_free(precise);
  anagyre_close(m);
}

/* 400 steps and back, without rotations. */
static void test_back(void) {
  static const char *const names[] = {"theta", "phi", "psi", "x", "y", "theta'", "phi'", "psi'"};
  static const char *const methods[] = {"spark2", "spark3"};
  for (int k = 0; k < 2; k++) {
    anagyre_model *m = anagyre_open("falling_disk"), *other = anagyre_open("falling_disk");
    anagyre_motion *there = moved(m, methods[k], 0.02, 8);
    anagyre_options o = anagyre_defaults();
    for (int i = 0; i < 8; i++) anagyre_set_number(other, names[i], *anagyre_motion_final(there, names[i]).data);
    o.method = methods[k], o.dt = 0.02, o.t0 = 8, o.t1 = 0;
    anagyre_motion *back = anagyre_run(other, &o);
    AG_CHECK(back != NULL);
    for (int i = 0; i < 8 && back; i++)
      AG_CHECK_NEAR(*anagyre_motion_final(back, names[i]).data, anagyre_motion_column(there, names[i]).data[0], 1e-9);
    anagyre_motion_free(back);
    anagyre_motion_free(there);
    anagyre_close(m);
    anagyre_close(other);
  }
}

/* Starts a model at the state of the end of a motion. */
static void start_at_end(anagyre_model *m, const anagyre_motion *r, const char *name) {
  anagyre_array a = anagyre_motion_final(r, name);
  char text[400] = "[", *at = text + 1;
  AG_CHECK(a.data != NULL);
  for (int i = 0; i < a.rows && a.data; i++) {
    if (a.cols > 1) *at++ = '[';
    for (int j = 0; j < a.cols; j++) at += sprintf(at, "%.17g%s", a.data[i * a.cols + j], j + 1 < a.cols ? ", " : "");
    if (a.cols > 1) *at++ = ']';
    at += sprintf(at, i + 1 < a.rows ? ", " : "]");
  }
  anagyre_set(m, name, text);
}

/* The same on rotations: a ball that rolls, and a top. 1e-9 is asked for; rounding of 300 steps leaves 1e-13, with the
 * chart at the start of a step in place of its middle spark3 returned to 1e-6. */
static void test_back_turning(void) {
  static const char *const models[] = {"routh_sphere", "heavy_top"}, *const methods[] = {"spark2", "spark3"};
  static const char *const names[2][4] = {{"R", "Omega", "x", "x'"}, {"R", "Omega"}};
  for (int k = 0; k < 4; k++) {
    const char *model = models[k / 2], *method = methods[k % 2], *const *all = names[k / 2];
    anagyre_model *m = anagyre_open(model), *other = anagyre_open(model);
    anagyre_motion *there = moved(m, method, 0.02, 6);
    for (int i = 0; i < 4 && all[i]; i++) start_at_end(other, there, all[i]);
    anagyre_options o = anagyre_defaults();
    o.method = method, o.dt = 0.02, o.t0 = 6, o.t1 = 0, o.no_events = 1;
    anagyre_motion *back = anagyre_run(other, &o);
    if (!back) fprintf(stderr, "%s: %s", model, anagyre_error(other));
    AG_CHECK(back != NULL);
    for (int i = 0; i < 4 && all[i] && back; i++) {
      anagyre_array x = anagyre_motion_final(back, all[i]), y = anagyre_motion_column(there, all[i]);
      for (int j = 0; j < x.rows * x.cols; j++) AG_CHECK_NEAR(x.data[j], y.data[j], 1e-9);
    }
    anagyre_motion_free(back);
    anagyre_motion_free(there);
    anagyre_close(m);
    anagyre_close(other);
  }
}

/* cos(w t) y' = ... cannot be solved for y' at t = 7.9, long after the times at which models are sampled: a basis is
 * taken from the start, since these methods cannot go on with multipliers. The speed along the blade is 1.3 - e w sin
 * t; errors are some h^2/12 = 2e-4 of second derivatives below 0.1. */
static void test_slow_turn(void) {
  static const char *const methods[] = {"gauss2", "radau3", "spark2", "spark3", "variational_midpoint", "leapfrog"};
  static const char *const domains[] = {"", "domain t in 0..30\n"};
  for (int d = 0; d < 2; d++) {
    char text[400];
    snprintf(text, sizeof text,
             "model m\nparam w = 0.2, e = 0.2\nconfig x in R, y in R\nlagrangian 1/2*(x'^2 + y'^2)\n"
             "constraint -sin(w*t)*x' + cos(w*t)*y' + e*cos(t) = 0\nobservable u = cos(w*t)*x' + sin(w*t)*y'\n%s"
             "start x' = 1.3\n",
             domains[d]);
    anagyre_model *m = anagyre_open_text("m.nh", text);
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
      anagyre_motion *r = moved(m, methods[i], 0.05, 30);
      AG_CHECK(!anagyre_motion_failed(r) && anagyre_motion_residual(r) < 1e-12);
      AG_CHECK_NEAR(anagyre_motion_final(r, "u").data[0], 1.3 - 0.04 * sin(30), 1e-4);
      anagyre_motion_free(r);
    }
    anagyre_close(m);
  }
}

static void test_refused(void) {
  anagyre_model *m = anagyre_open_text("m.nh", "model m\nconfig r in R^3\nlagrangian 1/2*dot(r', r') - r[3]\n"
                                               "holonomic dot(r, r) = 1\n"
                                               "start r = [0.6, 0, -0.8], r' = [0, 0.9, 0]\n");
  anagyre_options o = anagyre_defaults();
  o.method = "spark2", o.dt = 0.01;
  AG_CHECK(anagyre_run(m, &o) == NULL);
  AG_CHECK(strstr(anagyre_error(m), "method spark2 needs constraints of velocities alone") != NULL);
  anagyre_close(m);
}

int main(void) {
  for (int i = 0; i < N_CASE; i++) test_order(i);
  test_back();
  test_back_turning();
  test_slow_turn();
  test_refused();
  return ag_check_report();
}
