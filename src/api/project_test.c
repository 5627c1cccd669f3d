/* SPDX-License-Identifier: MIT
 * Runs with symmetric projection: what is named is kept, the order of the method stays, a run back undoes a run, both
 * engines give the same bits; what does not fit is refused. */
#include "tests/motions.h"

static anagyre_motion *run_projected(anagyre_model *m, const char *method, const char *names, double dt, double t0,
                                     double t1, const char *engine) {
  anagyre_options o = anagyre_defaults();
  o.method = method, o.dt = dt, o.t0 = t0, o.t1 = t1, o.project = names, o.engine = engine, o.no_events = 1;
  anagyre_motion *r = anagyre_run(m, &o);
  if (!r) fprintf(stderr, "%s: %s", method, anagyre_error(m));
  AG_CHECK(r != NULL);
  if (!r) exit(ag_check_report());
  return r;
}

/* A particle on a sphere, with its position constraint, and coupled to a spring. */
static const char *const BEAD = "model m\nconfig r in R^3, s in R\n"
                                "lagrangian 1/2*dot(r', r') + 1/2*s'^2 - r[3] - 1/2*s^2 - 0.3*s*r[3]\n"
                                "holonomic dot(r, r) = 1\nobservable up = r[1]*r'[2] - r[2]*r'[1]\n"
                                "start r = [0.6, 0, -0.8], r' = [0, 0.9, 0], s = 0.4\n";

static anagyre_model *open_model(const char *name) {
  return strcmp(name, "bead") ? anagyre_open(name) : anagyre_open_text("bead.nh", BEAD);
}

static const struct {
  const char *model, *names, *columns[3];
  const char *state[5]; /* what orders are measured with */
} cases[] = {{"falling_disk", "energy", {"energy"}, {"theta", "phi", "psi", "x", "y"}},
             {"heavy_top", "energy, vertical, spin", {"energy", "vertical", "spin"}, {"Omega", "R"}},
             {"routh_sphere", "energy", {"energy"}, {"Omega"}},
             {"bead", "constraint, energy, up", {"energy", "up"}, {"r", "s"}}};
enum { N_CASE = sizeof cases / sizeof *cases };

/* 2000 steps: 1e-14 of rounding all along, of numbers of size 1 to 20. */
static void test_kept(int i) {
  static const char *const methods[] = {"heun2", "rk4", "midpoint", "munthe_kaas4", "verlet", "discrete_gradient"};
  for (size_t k = 0; k < sizeof methods / sizeof *methods; k++) {
    anagyre_model *m = open_model(cases[i].model);
    anagyre_motion *r = run_projected(m, methods[k], cases[i].names, 0.02, 0, 40, "interpreted");
    AG_CHECK(!strcmp(anagyre_motion_end(r), "time reached"));
    for (int c = 0; c < 3 && cases[i].columns[c]; c++) {
      anagyre_array a = anagyre_motion_column(r, cases[i].columns[c]);
      AG_CHECK(a.n == 2001);
      for (long j = 0; j < a.n; j++) AG_CHECK_NEAR(a.data[j * a.stride], a.data[0], 1e-13 * fmax(1, fabs(a.data[0])));
    }
    AG_CHECK(anagyre_motion_residual(r) < 1e-12);
    anagyre_motion_free(r);
    anagyre_close(m);
  }
}

/* Largest difference of the states of two motions at their ends. */
static double apart(int i, const anagyre_motion *a, const anagyre_motion *b) {
  double worst = 0;
  for (int k = 0; k < 5 && cases[i].state[k]; k++) {
    anagyre_array x = anagyre_motion_final(a, cases[i].state[k]), y = anagyre_motion_final(b, cases[i].state[k]);
    AG_CHECK(x.data && y.data);
    for (int j = 0; j < x.rows * x.cols; j++) worst = fmax(worst, fabs(x.data[j] - y.data[j]));
  }
  return worst;
}

/* Against a precise run, from the finest two of three step sizes. The order may be higher, not lower. */
static void test_order(int i) {
  static const struct {
    const char *method;
    int order;
    double dt;
  } all[] = {{"heun2", 2, 0.01}, {"rk4", 4, 0.04}, {"midpoint", 2, 0.01}, {"munthe_kaas4", 4, 0.04}};
  anagyre_options o = anagyre_defaults();
  o.t1 = 2.4, o.rtol = 1e-13, o.atol = 1e-14;
  for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
    anagyre_model *m = open_model(cases[i].model);
    anagyre_motion *precise = anagyre_run(m, &o);
    double error[2];
    for (int j = 0; j < 2; j++) {
      anagyre_motion *r = run_projected(m, all[k].method, cases[i].names, all[k].dt / (1 << j), 0, 2.4, "interpreted");
      error[j] = apart(i, r, precise);
      anagyre_motion_free(r);
    }
    double order = log2(error[0] / error[1]);
    if (!(order >= all[k].order - 0.15)) fprintf(stderr, "%s of %s: %.3f\n", all[k].method, cases[i].model, order);
    AG_CHECK(order >= all[k].order - 0.15);
    anagyre_motion_free(precise);
    anagyre_close(m);
  }
}

/* 500 steps, and back from where they end: the start again, for symmetric methods. */
static void test_back(void) {
  static const char *const names[] = {"theta", "phi", "psi", "x", "y", "theta'", "phi'", "psi'"};
  static const char *const methods[] = {"midpoint", "gauss2", "discrete_gradient", "rk4"};
  for (size_t k = 0; k < sizeof methods / sizeof *methods; k++) {
    anagyre_model *m = anagyre_open("falling_disk"), *back = anagyre_open("falling_disk");
    anagyre_motion *there = run_projected(m, methods[k], "energy", 0.02, 0, 10, "interpreted");
    for (int i = 0; i < 8; i++) anagyre_set_number(back, names[i], *anagyre_motion_final(there, names[i]).data);
    anagyre_motion *r = run_projected(back, methods[k], "energy", 0.02, 10, 0, "interpreted");
    double worst = 0;
    for (int i = 0; i < 8; i++)
      worst =
          fmax(worst, fabs(*anagyre_motion_final(r, names[i]).data - anagyre_motion_column(there, names[i]).data[0]));
    if (strcmp(methods[k], "rk4")) AG_CHECK(worst < 1e-9);
    else AG_CHECK(worst > 1e-9); /* it can be lost */
    anagyre_motion_free(r);
    anagyre_motion_free(there);
    anagyre_close(m);
    anagyre_close(back);
  }
}

static void test_engines(void) {
  anagyre_model *m = anagyre_open("heavy_top");
  anagyre_motion *a = run_projected(m, "rk4", cases[1].names, 0.05, 0, 4, "interpreted");
  anagyre_motion *b = run_projected(m, "rk4", cases[1].names, 0.05, 0, 4, "compiled");
  AG_CHECK(apart(1, a, b) == 0);
  anagyre_motion_free(a);
  anagyre_motion_free(b);
  anagyre_close(m);
}

static void test_refused(void) {
  static const struct {
    const char *model, *names, *says;
    double dt;
  } all[] = {{"falling_disk", "p1", "`p1` is not constant along the motion", 0.01},
             {"falling_disk", "energi", "did you mean `energy`?", 0.01},
             {"falling_disk", "energy,energy", "depend on each other", 0.01},
             {"falling_disk", "constraint", "the model has no position constraint", 0.01},
             {"falling_disk", "energy", "fixed steps", 0},
             {"sliding_disk", "energy", "not constant", 0.01},
             {"driven_blade", "energy", "not constant", 0.01}};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
    anagyre_model *m = anagyre_open(all[i].model);
    anagyre_options o = anagyre_defaults();
    o.method = "rk4", o.dt = all[i].dt, o.project = all[i].names;
    if (all[i].dt == 0) o.method = "dop853";
    AG_CHECK(anagyre_run(m, &o) == NULL);
    if (!strstr(anagyre_error(m), all[i].says)) fprintf(stderr, "%s", anagyre_error(m));
    AG_CHECK(strstr(anagyre_error(m), all[i].says) != NULL);
    anagyre_close(m);
  }
}

/* At the start the rate of x is 0, later it is not: the run ends with a name. */
static void test_later(void) {
  anagyre_model *m = anagyre_open_text("m.nh", "model m\nconfig x in R\nlagrangian 1/2*x'^2 - 1/2*x^2\n"
                                               "observable place = x\nstart x = 1\n");
  anagyre_motion *r = run_projected(m, "rk4", "place", 0.1, 0, 2, "interpreted");
  AG_CHECK_STR(anagyre_motion_end(r), "a quantity projected onto is not constant along the motion");
  anagyre_motion_free(r);
  anagyre_close(m);
}

/* A bicycle starts upright, where the gradient of its position constraint belongs to a coordinate that is 0 and at
 * rest.
 */
static void test_upright(void) {
  anagyre_model *m = anagyre_open("bicycle");
  anagyre_motion *r = run_projected(m, "rk4", "energy", 0.01, 0, 1, "interpreted");
  anagyre_array a = anagyre_motion_column(r, "energy");
  AG_CHECK_STR(anagyre_motion_end(r), "time reached");
  for (long j = 0; j < a.n; j++) AG_CHECK_NEAR(a.data[j * a.stride] / a.data[0], 1, 1e-13);
  anagyre_motion_free(r);
  anagyre_close(m);
}

int main(void) {
  for (int i = 0; i < N_CASE; i++) test_kept(i), test_order(i);
  test_back();
  test_engines();
  test_refused();
  test_later();
  test_upright();
  return ag_check_report();
}
