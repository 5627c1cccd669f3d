/* SPDX-License-Identifier: MIT
 * A step as a curve: the oscillator x = sin t lies within the width that is stated, and dense output is closer. */
#include "run/isolate.h"
#include "tests/point_mover.h"

/* The curve of degree d in Bernstein form, by de Casteljau's algorithm. */
static double value(const double *b, int d, int n, int i, double theta) {
  double w[AG_ISOLATE_DEGREE + 1];
  for (int k = 0; k <= d; k++) w[k] = b[k * n + i];
  for (int k = d; k > 0; k--)
    for (int j = 0; j < k; j++) w[j] += theta * (w[j + 1] - w[j]);
  return w[0];
}

int main(void) {
  enum { N = 2 };
  point p = point_model(0, 1);
  ag_run_options o;
  ag_mover m = {0};
  point_force(&p, ag_neg(p.g, p.x));
  AG_CHECK(point_derive(&p));
  point_mover(&p, &m, &o);
  double rows[AG_CURVE_ROWS * N], curve[(AG_ISOLATE_DEGREE + 1) * N], width[N];
  for (double h = 0.05; h < 0.9; h *= 1.7) {
    point_step(&m, 0, h);
    AG_CHECK(ag_curve_cheap(&m, 0, h, rows, curve, width));
    for (int k = 0; k <= 20; k++)
      for (int i = 0; i < N; i++) {
        double t = h * k / 20, want = i ? cos(t) : sin(t);
        AG_CHECK(fabs(value(curve, AG_CURVE_ROWS, N, i, k / 20.0) - want) <= width[i]);
      }
    AG_CHECK(width[0] < h * h * h * h); /* the term left out is of order 5 */
    AG_CHECK(!m.method->dense(m.method, &m.flow, 0, h, m.z, m.z1, m.space));
    ag_curve_dense(&m, curve);
    for (int k = 0; k <= 20; k++) /* dense output of order 7 */
      AG_CHECK_NEAR(value(curve, AG_ISOLATE_DEGREE, N, 0, k / 20.0), sin(h * k / 20), 1e-4 * pow(h, 8) + 1e-14);
  }
  ag_mover_free(&m);
  point_free(&p);
  return ag_check_report();
}
