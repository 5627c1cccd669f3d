/* SPDX-License-Identifier: MIT
 * A step as a curve in Bernstein form, for checks of functions other than events: switches and short pushes. */
#include <math.h>
#include <string.h>

#include "run/run_internal.h"

static const double DENSE_ERROR = 10; /* of the tolerance: an interpolant may be off by more than the step */
static const double ROUNDING = 1e-13;

/* Rows of z + x (d + (1 - x) (a + x (b + (1 - x) C))): the cubic of values and rates at both ends, and the term
 * C x^2 (1 - x)^2 that makes its rate right at a quarter of the step. The rate of the cubic there is d + a/2 + 5 b/16,
 * that of x^2 (1 - x)^2 is 3/16. False: there is no rate at that place. */
static bool hermite(ag_mover *m, double t, double h, double *rows) {
  int n = m->n;
  double *d = rows, *a = d + n, *b = a + n, *C = b + n;
  for (int i = 0; i < n; i++) {
    d[i] = m->z1[i] - m->z[i];
    a[i] = h * m->dz[i] - d[i];
    b[i] = d[i] - h * m->dz1[i] - a[i];
    m->zt[i] = m->z[i] + 0.25 * (d[i] + 0.75 * (a[i] + 0.25 * b[i]));
  }
  if (ag_mover_rhs(m, t + 0.25 * h, m->zt, C)) return false;
  for (int i = 0; i < n; i++) C[i] = (h * C[i] - d[i] - 0.5 * a[i] - 0.3125 * b[i]) * (16.0 / 3);
  return true;
}

/* The term x^2 (1 - x)^2 is 1/16 at most: four times the last term bounds what is left out. */
bool ag_curve_cheap(ag_mover *m, double t, double h, double *rows, double *curve, double *width) {
  if (!hermite(m, t, h, rows)) return false;
  const double *C = rows + 3 * m->n;
  for (int i = 0; i < m->n; i++) {
    if (!isfinite(C[i])) return false;
    double tolerance = (m->atol > 0 ? m->tolerance[i] : 0) + m->rtol * fmax(fabs(m->z[i]), fabs(m->z1[i]));
    width[i] = fabs(C[i]) / 4 + DENSE_ERROR * tolerance + ROUNDING * fabs(m->z[i]);
  }
  ag_isolate_rows(m->n, AG_CURVE_ROWS, m->z, rows, curve);
  return true;
}

void ag_curve_dense(ag_mover *m, double *curve) {
  enum { D = AG_ISOLATE_DEGREE };
  for (int k = 0; k <= D; k++) m->method->interpolate(m->method, m->n, (double)k / D, m->z, m->space, curve + k * m->n);
  memcpy(curve + D * m->n, m->z1, sizeof(double) * (size_t)m->n);
  ag_isolate_nodes(m->n, curve);
}
