/* SPDX-License-Identifier: MIT
 * What variational steps keep on every path with noise: the symplectic form, momenta, position constraints; smooth
 * functions in place of the noise; which noise they refuse. */
#include "tests/motions.h"

static const char *const EVERY_NOISE[] = {
    /* noise of potentials and forces of positions alone: all methods */
    "noise A potential 0.8*sin(x - 2*y)\nnoise B potential 0.5*x*y\n",
    /* a transport that depends on the place, with a potential */
    "noise A transport x' = 0.4*cos(y), y' = 0.3*x\nnoise B potential 0.5*x*y\n",
    /* constant on the group */
    "noise A transport x' = 0.4, y' = 0.3\n"};
enum { ALL, PLACED, CONSTANT, N_NOISE };

static const char *const METHODS[] = {
    "variational_euler", "variational_adjoint", "dla_midpoint", "variational_midpoint", "verlet", "leapfrog", "rattle"};
enum { N_METHOD = sizeof METHODS / sizeof *METHODS, FIRST_SYMMETRIC = 2 };

static anagyre_model *plane_with(const char *noise) {
  char text[1024];
  snprintf(text, sizeof text, "%s%s", PLANE, noise);
  return anagyre_open_text("m.nh", text);
}

static anagyre_motion *along(anagyre_model *m, const char *method, double dt, double t1, unsigned long long path) {
  anagyre_options o = anagyre_defaults();
  o.method = method, o.dt = dt, o.t1 = t1, o.engine = "interpreted", o.noise = "path", o.seed = 3, o.path = path;
  return anagyre_run(m, &o);
}

/* ---- the symplectic form ---- */

/* One step along a path from (q0, p0) to (q1, p1), p = M v. */
static void plane_step(anagyre_model *m, const char *method, unsigned long long path, const double *z, double *out) {
  const double h = 0.1, a = 2 + cos(z[0]), b = 0.5 * sin(z[0]), c = 2 + z[0] * z[0];
  anagyre_set_number(m, "x", z[0]);
  anagyre_set_number(m, "y", z[1]);
  anagyre_set_number(m, "x'", (c * z[2] - b * z[3]) / (a * c - b * b));
  anagyre_set_number(m, "y'", (a * z[3] - b * z[2]) / (a * c - b * b));
  anagyre_motion *r = along(m, method, h, h, path);
  AG_CHECK(r != NULL);
  if (!r) exit(ag_check_report());
  const double v[2] = {*anagyre_motion_final(r, "x'").data, *anagyre_motion_final(r, "y'").data};
  out[0] = *anagyre_motion_final(r, "x").data;
  out[1] = *anagyre_motion_final(r, "y").data;
  plane_momentum(out, v, out + 2);
  anagyre_motion_free(r);
}

typedef struct stepping {
  anagyre_model *m;
  const char *method;
  unsigned long long path;
} stepping;

static void step_plane(void *self, const double *z, double *out) {
  const stepping *s = self;
  plane_step(s->m, s->method, s->path, z, out);
}

static double defect(anagyre_model *m, const char *method, unsigned long long path) {
  return plane_defect(5e-3, step_plane, &(stepping){m, method, path});
}

static void test_symplectic(void) {
  for (int n = 0; n < N_NOISE; n++)
    for (unsigned long long path = 0; path < 3; path++)
      for (int i = n == PLACED ? FIRST_SYMMETRIC : 0; i < N_METHOD; i++) {
        anagyre_model *m = plane_with(EVERY_NOISE[n]);
        const double found = defect(m, METHODS[i], path);
        if (!(found < 1e-9)) fprintf(stderr, "%s, noise %d, path %llu: %g\n", METHODS[i], n, path, found);
        AG_CHECK(found < 1e-9);
        anagyre_close(m);
      }
  anagyre_model *m = plane_with(EVERY_NOISE[ALL]);
  AG_CHECK(defect(m, "rk4", 0) > 1e-7); /* the test would see it */
  anagyre_close(m);
}

/* ---- momenta ---- */

/* Noise that leaves a momentum alone. 400 steps of rounding, some 1e-16 each, and what Newton's method leaves. */
static void test_momenta(void) {
  static const struct {
    const char *text, *methods;
  } all[] = {
      /* the top, shaken about the vertical: both momenta; potential and transport about its own axis */
      {"config R in SO3 velocity Omega\nlagrangian 1/2*dot(Omega, diag(1, 1, 0.5)*Omega) - 0.7*dot(R*e3, e3)\n"
       "noise A potential 0.4*dot(R*e3, e3)\nobservable J = dot(R^T*e3, diag(1, 1, 0.5)*Omega)\n"
       "observable K = 0.5*Omega[3]\nstart R = rotation(e2, 0.5), Omega = [0.2, 0.3, 4]\n",
       "variational_euler, variational_adjoint, cayley_euler, dla_midpoint, variational_midpoint, verlet, "
       "cayley_verlet, "
       "rattle"},
      {"config R in SO3 velocity Omega\nlagrangian 1/2*dot(Omega, diag(1, 1, 0.5)*Omega) - 0.7*dot(R*e3, e3)\n"
       "noise A transport Omega = 0.5*e3\nnoise B potential 0.4*dot(R*e3, e3)^2\n"
       "observable J = dot(R^T*e3, diag(1, 1, 0.5)*Omega)\nobservable K = 0.5*Omega[3]\n"
       "start R = rotation(e2, 0.5), Omega = [0.2, 0.3, 4]\n",
       "dla_midpoint, variational_midpoint, verlet, leapfrog, cayley_midpoint, rattle"},
      /* two points with a random force between them: total momentum, and its moment */
      {"config a in R^3, b in R^3\nlet d = a - b\nlagrangian 1/2*dot(a', a') + dot(b', b') - 1/2*dot(d, d)\n"
       "noise A potential 0.2*sin(dot(d, d))\nnoise B potential 0.1*cos(2*dot(d, d))\nobservable J = a'[1] + 2*b'[1]\n"
       "observable K = cross(a, a')[3] + 2*cross(b, b')[3]\n"
       "start a = [1, 0, 0.2], b = [0, 0.3, 0], a' = [0, 0.4, 0.1], b' = [0.1, 0, 0.2]\n",
       "variational_euler, variational_adjoint, dla_midpoint, verlet, leapfrog, rattle"}};
  for (size_t k = 0; k < sizeof all / sizeof *all; k++)
    for (int i = 0; i < N_METHOD + 3; i++) {
      static const char *const cayley[] = {"cayley_euler", "cayley_midpoint", "cayley_verlet"};
      const char *method = i < N_METHOD ? METHODS[i] : cayley[i - N_METHOD];
      if (!strstr(all[k].methods, method)) continue;
      char text[1024];
      snprintf(text, sizeof text, "model m\n%s", all[k].text);
      anagyre_model *m = anagyre_open_text("m.nh", text);
      anagyre_motion *r = along(m, method, 0.02, 8, 1);
      AG_CHECK(r != NULL);
      for (int c = 0; c < 2 && r; c++) {
        const anagyre_array a = anagyre_motion_column(r, c ? "K" : "J");
        for (long j = 0; j < a.n; j++) AG_CHECK_NEAR(a.data[j * a.stride], a.data[0], 1e-11);
      }
      anagyre_motion_free(r);
      anagyre_close(m);
    }
}

/* ---- position constraints ---- */

/* g and the hidden constraint at every step, for noise of all kinds; 1e-12 as the equations are solved. */
static void test_position_constraint(void) {
  static const char *const methods[] = {"variational_euler", "rattle", "dla_midpoint", "variational_midpoint",
                                        "verlet"};
  static const char *const noises[] = {"noise A force r' = [0.5, 0, 0.2]\nnoise B potential 0.6*r[1]*r[2]\n",
                                       "noise A transport r' = 0.5*cross([0.6, 0, 0.8], r)\n"};
  for (int n = 0; n < 2; n++)
    for (size_t k = n ? 1 : 0; k < sizeof methods / sizeof *methods; k++) {
      char text[512];
      snprintf(text, sizeof text,
               "model m\nconfig r in R^3\nlagrangian 1/2*dot(r', r') - r[3]\nholonomic dot(r, r) = 1\n%s"
               "start r = [0.6, 0, -0.8], r' = [0, 0.9, 0]\n",
               noises[n]);
      anagyre_model *m = anagyre_open_text("m.nh", text);
      anagyre_motion *r = along(m, methods[k], 0.05, 3, 2);
      if (!r) fprintf(stderr, "%s: %s\n", methods[k], anagyre_error(m));
      AG_CHECK(r != NULL);
      if (!r) exit(ag_check_report());
      double x[3 * MAX_ROWS], v[3 * MAX_ROWS];
      const int rows = rows_of(r, "r", 3, x);
      AG_CHECK(rows_of(r, "r'", 3, v) == rows && rows == 61);
      for (int i = 0; i < rows; i++) {
        const double *a = x + 3 * i, *b = v + 3 * i;
        AG_CHECK_NEAR(a[0] * a[0] + a[1] * a[1] + a[2] * a[2], 1, 1e-12);
        AG_CHECK_NEAR(a[0] * b[0] + a[1] * b[1] + a[2] * b[2], 0, 1e-12);
      }
      anagyre_motion_free(r);
      anagyre_close(m);
    }
}

/* ---- smooth functions in place of the noise ---- */

/* The discrete equations contain them: distance from a precise motion, order 2 (variational Euler: 1). */
static void test_driven(void) {
  for (int i = 0; i < N_METHOD; i++) {
    double error[2], want[2];
    anagyre_model *m = plane_with(EVERY_NOISE[PLACED]);
    anagyre_drive(m, "A=sin(3*t); B=0.5*cos(2*t)");
    anagyre_options o = anagyre_defaults();
    o.method = "dop853", o.t1 = 1, o.rtol = 1e-12, o.engine = "interpreted";
    anagyre_motion *exact = anagyre_run(m, &o);
    AG_CHECK(exact != NULL);
    want[0] = *anagyre_motion_final(exact, "x").data, want[1] = *anagyre_motion_final(exact, "y'").data;
    anagyre_motion_free(exact);
    for (int k = 0; k < 2; k++) {
      anagyre_motion *r = moved(m, METHODS[i], k ? 0.005 : 0.01, 1);
      error[k] = fabs(*anagyre_motion_final(r, "x").data - want[0]) +
                 fabs(*anagyre_motion_final(r, "y'").data - want[1]);
      anagyre_motion_free(r);
    }
    AG_CHECK_NEAR(log2(error[0] / error[1]), i < FIRST_SYMMETRIC ? 1 : 2, 0.1);
    anagyre_close(m);
  }
}

/* ---- refusals ---- */

static void refused(const char *noise, const char *method, const char *words) {
  anagyre_model *m = plane_with(noise);
  anagyre_motion *r = along(m, method, 0.1, 1, 0);
  AG_CHECK(r == NULL);
  if (!r && !strstr(anagyre_error(m), words)) fprintf(stderr, "%s: %s\n", method, anagyre_error(m));
  AG_CHECK(r != NULL || strstr(anagyre_error(m), words));
  anagyre_motion_free(r);
  anagyre_close(m);
}

static void test_refusals(void) {
  static const char end[] = "it takes the noise at one end of a step";
  static const char *const at_end[] = {"variational_euler", "variational_adjoint", "cayley_euler"};
  for (int i = 0; i < 3; i++) {
    refused(EVERY_NOISE[PLACED], at_end[i], end);
    refused("noise A force x' = 0.3*y'\n", at_end[i], end);                             /* changes with velocities */
    refused("noise A transport x' = 0.4\nnoise B potential 0.5*x^2\n", at_end[i], end); /* changes along x */
    refused("constraint x' = y\nnoise A transport y' = 0.4\n", at_end[i], end);
  }
  refused(EVERY_NOISE[CONSTANT], "se3_euler", "a Lagrangian of R^T x' and Omega alone");
  refused("process N\nnoise A potential 0.5*x\nnoise B process N = 1\n", "dla_midpoint", "a state without processes");
}

int main(void) {
  test_symplectic();
  test_momenta();
  test_position_constraint();
  test_driven();
  test_refusals();
  return ag_check_report();
}
