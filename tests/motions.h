/* SPDX-License-Identifier: MIT
 * Motions by fixed steps and a model of the plane, for tests of methods through the public library. */
#ifndef AG_TESTS_MOTIONS_H
#define AG_TESTS_MOTIONS_H
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "api/anagyre.h"
#include "tests/check.h"

enum { MAX_ROWS = 64 };

static inline anagyre_motion *moved(anagyre_model *m, const char *method, double dt, double t1) {
  anagyre_options o = anagyre_defaults();
  o.method = method, o.dt = dt, o.t1 = t1, o.engine = "interpreted";
  anagyre_motion *r = anagyre_run(m, &o);
  if (!r) fprintf(stderr, "%s: %s", method, anagyre_error(m));
  AG_CHECK(r != NULL);
  if (!r) exit(ag_check_report());
  return r;
}

/* Column `name` after each step, n numbers each. */
static inline int rows_of(const anagyre_motion *r, const char *name, int n, double *out) {
  anagyre_array a = anagyre_motion_column(r, name);
  AG_CHECK(a.data && a.rows * a.cols == n && a.n <= MAX_ROWS);
  for (long i = 0; i < a.n; i++) memcpy(out + i * n, a.data + i * a.stride, sizeof(double) * (size_t)n);
  return (int)a.n;
}

static inline void set_vector(anagyre_model *m, const char *name, const double *v) {
  for (int i = 0; i < 3; i++) {
    char entry[40];
    snprintf(entry, sizeof entry, "%s[%d]", name, i + 1);
    anagyre_set_number(m, entry, v[i]);
  }
}

/* L = 1/2 (2 + cos x) x'^2 + x' y' sin(x)/2 + 1/2 (2 + x^2) y'^2 - cos(x + y) */
static const char *const PLANE =
    "model m\nconfig x in R, y in R\n"
    "lagrangian 1/2*(2 + cos(x))*x'^2 + 1/2*sin(x)*x'*y' + 1/2*(2 + x^2)*y'^2 - cos(x + y)\n"
    "start x = 0.3, y = -0.2, x' = 0.7, y' = 0.5\n";

static inline void plane_momentum(const double *q, const double *v, double *p) {
  p[0] = (2 + cos(q[0])) * v[0] + 0.5 * sin(q[0]) * v[1];
  p[1] = 0.5 * sin(q[0]) * v[0] + (2 + q[0] * q[0]) * v[1];
}

static inline void plane_force(const double *q, const double *v, double *f) {
  f[1] = sin(q[0] + q[1]);
  f[0] = -0.5 * sin(q[0]) * v[0] * v[0] + 0.5 * cos(q[0]) * v[0] * v[1] + q[0] * v[1] * v[1] + f[1];
}
/* The largest entry of J^T W J - W of a step of (x, y, p_x, p_y), J by central differences of order 4 with e: e^4/30 of
 * fifth derivatives, some 1e-10, and 1e-13 of rounding. */
static inline double plane_defect(double e, void (*step)(void *self, const double *z, double *out), void *self) {
  static const double by[4] = {-2, -1, 1, 2}, weight[4] = {1.0 / 12, -8.0 / 12, 8.0 / 12, -1.0 / 12};
  double J[4][4], worst = 0;
  for (int k = 0; k < 4; k++) {
    double sum[4] = {0};
    for (int i = 0; i < 4; i++) {
      double z[4] = {0.3, -0.2, 1.8, 1.1}, out[4];
      z[k] += by[i] * e;
      step(self, z, out);
      for (int c = 0; c < 4; c++) sum[c] += weight[i] * out[c] / e;
    }
    for (int c = 0; c < 4; c++) J[c][k] = sum[c];
  }
  for (int i = 0; i < 4; i++)
    for (int k = 0; k < 4; k++) {
      double form = 0, want = (k == i + 2) - (i == k + 2);
      for (int c = 0; c < 2; c++) form += J[c][i] * J[c + 2][k] - J[c + 2][i] * J[c][k];
      worst = fmax(worst, fabs(form - want));
    }
  return worst;
}
#endif
