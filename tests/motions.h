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
#endif
