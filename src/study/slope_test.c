/* SPDX-License-Identifier: MIT
 * Orders from errors that are known. */
#include "study/slope.h"

#include <math.h>

#include "check.h"

enum { N = 12 };

/* error = dt^order (1 + next dt^power) (1 + noise), dt falling by `by`. */
static void make(ag_converge_point *p, double order, double next, int power, double noise, double by) {
  for (int i = 0; i < N; i++) {
    double dt = pow(by, -i), wobble = sin(7.3 * i * i);
    p[i] = (ag_converge_point){.dt = dt, .error = pow(dt, order) * (1 + next * pow(dt, power)) * (1 + noise * wobble)};
  }
}

int main(void) {
  ag_converge_point p[N];
  /* a pure power: the line is exact */
  make(p, 4, 0, 1, 0, 1.4142);
  ag_slope s = ag_slope_line(p + 4, 4);
  AG_CHECK_NEAR(s.order, 4, 1e-12);
  AG_CHECK(s.half < 1e-10 && s.n == 4);
  /* a next term five times as large at dt = 1: the line is off, the curve by what is left of the series */
  make(p, 5, 5, 1, 0, 1.4142);
  double off = ag_slope_line(p + N - 4, 4).order - 5;
  AG_CHECK(off > 0.1);
  s = ag_slope_best(p, N, 1);
  AG_CHECK(fabs(s.order - 5) < 0.5 * off && fabs(s.order - 5) < 0.1 + s.half);
  make(p, 6, 3, 2, 0, 1.19);
  s = ag_slope_best(p, N, 2);
  AG_CHECK_NEAR(s.order, 6, 0.1);
  /* a next term far larger than the first: slopes fall from 4 to 3.4, and still change */
  make(p, 3, 30, 1, 0, 1.4142);
  off = ag_slope_line(p + N - 4, 4).order - 3;
  s = ag_slope_best(p, N, 1);
  AG_CHECK(s.order > 3 && s.order < ag_slope_line(p, N).order);
  AG_CHECK(ag_slope_drift(p, N) > 0.1 && ag_slope_drift(p, N) < off);
  make(p, 3, 0, 1, 0, 1.4142);
  AG_CHECK(ag_slope_drift(p, N) < 1e-9 && ag_slope_drift(p, 4) == 0 && ag_slope_drift(p, 5) < 1e-9);
  /* noise widens the interval, which covers the truth */
  make(p, 2, 0.5, 1, 1e-3, 1.4142);
  s = ag_slope_best(p, N, 1);
  AG_CHECK(fabs(s.order - 2) < fmax(s.half, 0.02) && s.half > 1e-5);
  /* the last point is rounding */
  make(p, 3, 0, 1, 0, 1.4142);
  p[N - 1].error *= 3;
  s = ag_slope_best(p, N, 1);
  AG_CHECK_NEAR(s.order, 3, 1e-9);
  /* too few */
  AG_CHECK(isnan(ag_slope_best(p, 2, 1).order) && ag_slope_best(p, 3, 1).n == 3);
  AG_CHECK(isnan(ag_slope_curve(p, 3, 1).order));
  return ag_check_report();
}
