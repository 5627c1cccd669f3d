/* SPDX-License-Identifier: MIT
 * Long runs. What a method keeps may leave its start by a few roundings, then by no more than GROWTH of its size per
 * step: half of 1e-11 over 1e6 steps. Checked all along runs of some 1e4 steps; the numbers are the same on every
 * processor. */
#include "tests/motions.h"

static const double GROWTH = 5e-18, FIRST = 1e-14;

/* A motion with a row after every `rows` steps. */
static anagyre_motion *run_long(anagyre_model *m, const char *method, double dt, long steps, long rows) {
  anagyre_options o = anagyre_defaults();
  o.method = method, o.dt = dt, o.t1 = dt * (double)steps, o.every = dt * (double)rows;
  anagyre_motion *r = anagyre_run(m, &o);
  if (!r) fprintf(stderr, "%s: %s", method, anagyre_error(m));
  AG_CHECK(r != NULL);
  return r;
}

/* whole: the size of what the quantity is a part of; 0: it is the whole. */
static void check_kept(const anagyre_motion *r, const char *what, const char *method, long rows, double whole) {
  anagyre_array a = anagyre_motion_column(r, what);
  AG_CHECK(a.data && a.n > 10);
  for (long k = 1; k < a.n; k++) {
    double size = fmax(fabs(a.data[0]), whole), off = fabs(a.data[k * a.stride] - a.data[0]);
    if (!(off <= (FIRST + GROWTH * (double)(k * rows)) * size))
      fprintf(stderr, "%s of %s: %g after %ld steps\n", what, method, off, k * rows);
    AG_CHECK(off <= (FIRST + GROWTH * (double)(k * rows)) * size);
  }
}

/* The energy of the discrete gradient method. A disk that has rolled far: its angle is large, its energy is not. */
static void test_energy(void) {
  static const struct {
    const char *model, *name;
    double value;
  } all[] = {{"falling_disk", "psi", 4000}, {"heavy_top", NULL, 0}, {"roller_racer", NULL, 0}, {"rattleback", NULL, 0}};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
    anagyre_model *m = anagyre_open(all[i].model);
    if (all[i].name) anagyre_set_number(m, all[i].name, all[i].value);
    anagyre_motion *r = run_long(m, "discrete_gradient", 0.02, 8000, 200);
    if (r) check_kept(r, "energy", all[i].model, 200, 0);
    anagyre_motion_free(r);
    anagyre_close(m);
  }
}

/* Small motions about an equilibrium, where the energy of the motion is a small part of E = -1, or cannot be seen in
 * it: the method can be solved for, and is the midpoint rule up to the noise of E, 1e-15, over the energy a^2 of the
 * motion, or to a^2, which the two differ by. */
static void test_small(void) {
  for (double a = 1e-1; a > 1e-10; a /= 10) {
    double end[2];
    for (int k = 0; k < 2; k++) {
      anagyre_model *m = anagyre_open("pendulum");
      anagyre_set_number(m, "theta", a);
      anagyre_motion *r = run_long(m, k ? "midpoint" : "discrete_gradient", 0.01, 2000, 100);
      if (r) AG_CHECK_STR(anagyre_motion_end(r), "time reached");
      end[k] = r ? *anagyre_motion_final(r, "theta").data : NAN;
      if (r && !k) check_kept(r, "energy", "small motions", 100, 0);
      anagyre_motion_free(r);
      anagyre_close(m);
    }
    AG_CHECK_NEAR(end[0] / a, end[1] / a, fmin(10 * 1e-15 / (a * a), 1e-3) + 1e-4 * a * a + 1e-12);
  }
}

/* The momenta of the heavy top about the vertical and about its axis. */
static void test_momenta(void) {
  static const char *const methods[] = {"variational_euler",
                                        "variational_adjoint",
                                        "variational_midpoint",
                                        "dla_midpoint",
                                        "verlet",
                                        "leapfrog",
                                        "rattle",
                                        "cayley_euler",
                                        "cayley_midpoint",
                                        "cayley_verlet"};
  anagyre_model *m = anagyre_open("heavy_top");
  for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
    anagyre_motion *r = run_long(m, methods[i], 0.01, 12000, 400);
    for (int k = 0; k < 2 && r; k++) check_kept(r, k ? "spin" : "vertical", methods[i], 400, 0);
    anagyre_motion_free(r);
  }
  anagyre_close(m);
}

/* The momentum of the spherical pendulum, whose sphere is a position constraint: 0.37, the vertical part of n x n',
 * which is up to 0.9. Rounding errors of the state are seen beside the whole vector. */
static void test_sphere(void) {
  static const char *const methods[] = {"variational_euler", "dla_midpoint", "verlet", "leapfrog", "rattle"};
  anagyre_model *m = anagyre_open("spherical_pendulum");
  for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
    anagyre_motion *r = run_long(m, methods[i], 0.02, 8000, 400);
    if (r) check_kept(r, "momentum", methods[i], 400, 0.9);
    anagyre_motion_free(r);
  }
  anagyre_close(m);
}

/* A blade held by springs, so that positions stay of size 1: sin(phi) x' = cos(phi) y' at the node of every step, and
 * of the velocities at its end. 1e-12 from the start on: nothing adds up. */
static void test_constraint(void) {
  static const struct {
    const char *method;
    double a;
  } all[] = {{"variational_euler", 1}, {"variational_adjoint", 0}, {"variational_midpoint", 0.5}};
  const double h = 0.02;
  anagyre_model *m = anagyre_open_text("m.nh",
                                       "model m\nconfig x in R, y in R, phi in S1\n"
                                       "lagrangian 1/2*(x'^2 + y'^2) + 0.2*phi'^2 - 1/2*(x^2 + y^2) + cos(phi)\n"
                                       "constraint sin(phi)*x' = cos(phi)*y'\n"
                                       "start phi = 0.4, phi' = 1.3, x' = 0.5, x = 0.7\n");
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
    anagyre_motion *r = run_long(m, all[i].method, h, 8000, 1);
    if (!r) continue;
    anagyre_array x = anagyre_motion_column(r, "x"), y = anagyre_motion_column(r, "y");
    anagyre_array phi = anagyre_motion_column(r, "phi");
    AG_CHECK(x.n == 8001);
    for (long k = 0; k + 1 < x.n; k++) {
      double at = (1 - all[i].a) * phi.data[k * phi.stride] + all[i].a * phi.data[(k + 1) * phi.stride];
      double dx = x.data[(k + 1) * x.stride] - x.data[k * x.stride];
      double dy = y.data[(k + 1) * y.stride] - y.data[k * y.stride];
      AG_CHECK_NEAR((sin(at) * dx - cos(at) * dy) / h, 0, 1e-12);
    }
    AG_CHECK(anagyre_motion_residual(r) < 1e-12);
    anagyre_motion_free(r);
  }
  anagyre_close(m);
}

/* RATTLE: the position constraint itself. */
static void test_rattle(void) {
  anagyre_model *m = anagyre_open_text("m.nh", "model m\nconfig r in R^3\nlagrangian 1/2*dot(r', r') - r[3]\n"
                                               "holonomic dot(r, r) = 1\n"
                                               "start r = [0.6, 0, -0.8], r' = [0, 0.9, 0]\n");
  anagyre_motion *r = run_long(m, "rattle", 0.02, 8000, 10);
  anagyre_array a = r ? anagyre_motion_column(r, "r") : (anagyre_array){0};
  AG_CHECK(a.n == 801);
  for (long k = 0; k < a.n; k++) {
    const double *x = a.data + k * a.stride;
    AG_CHECK_NEAR(x[0] * x[0] + x[1] * x[1] + x[2] * x[2], 1, 1e-12);
  }
  anagyre_motion_free(r);
  anagyre_close(m);
}

/* How far the mean energy of the last quarter of a run is from that of the first, as part of what it varies by. */
static double shift(const char *model, const char *method, double dt) {
  anagyre_model *m = anagyre_open(model);
  anagyre_motion *r = run_long(m, method, dt, 4000, 5);
  anagyre_array a = r ? anagyre_motion_column(r, "energy") : (anagyre_array){0};
  double first = 0, last = 0, lo = INFINITY, hi = -INFINITY;
  long quarter = a.n / 4;
  for (long k = 0; k < a.n; k++) {
    double E = a.data[k * a.stride];
    if (k < quarter) first += E;
    if (k >= a.n - quarter) last += E;
    lo = fmin(lo, E), hi = fmax(hi, E);
  }
  anagyre_motion_free(r);
  anagyre_close(m);
  return fabs(last - first) / (double)quarter / (hi - lo);
}

/* The energy of reversible methods oscillates and does not drift: the mean over a quarter of a run moves by what an
 * oscillation leaves in it, some of its periods in 1000. The energy of rk4 drifts from quarter to quarter: 3/4 of its
 * change lies between the first and the last, if it drifts alone. */
static void test_no_drift(void) {
  static const struct {
    const char *model;
    double dt;
  } all[] = {{"falling_disk", 0.02}, {"contact_oscillator", 0.2}, {"routh_sphere", 0.2}};
  static const char *const methods[] = {"midpoint", "gauss2", "variational_midpoint", "leapfrog", "spark3"};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
    for (size_t k = 0; k < sizeof methods / sizeof *methods; k++) {
      double found = shift(all[i].model, methods[k], all[i].dt);
      if (!(found < 0.03)) fprintf(stderr, "%s of %s: %g\n", methods[k], all[i].model, found);
      AG_CHECK(found < 0.03);
    }
    AG_CHECK(shift(all[i].model, "rk4", all[i].dt) > 0.3);
  }
}

int main(void) {
  test_energy();
  test_small();
  test_momenta();
  test_sphere();
  test_constraint();
  test_rattle();
  test_no_drift();
  return ag_check_report();
}
