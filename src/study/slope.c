/* SPDX-License-Identifier: MIT
 * Orders from errors. */
#include "study/slope.h"

#include <math.h>
#include <string.h>

#include "math/dense.h"

enum { LINE = 4, CURVE = 6, MOST_CURVE = 9, MOST = 20 };

/* Student's quantile for 95 % by degrees of freedom. */
static double student(int freedom) {
  static const double table[] = {0,     12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262,
                                 2.228, 2.201,  2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101};
  return table[freedom];
}

/* Least squares for log error with k basis functions of log dt, the second of which is log dt itself. The first point
 * gives the units of both. */
static ag_slope fit(const ag_converge_point *p, int n, int k, int power) {
  double A[MOST][3], N[9] = {0}, b[3] = {0}, x[3], unit[9], rest = 0;
  if (n < k + 1 || n > MOST) return (ag_slope){NAN, NAN, 0};
  for (int i = 0; i < n; i++) {
    double at = log(p[i].dt / p[0].dt), value = log(p[i].error / p[0].error);
    A[i][0] = 1, A[i][1] = at, A[i][2] = exp(power * at);
    for (int r = 0; r < k; r++) {
      b[r] += A[i][r] * value;
      for (int c = 0; c < k; c++) N[r * k + c] += A[i][r] * A[i][c];
    }
  }
  double copy[9];
  for (int i = 0; i < k * k; i++) unit[i] = i % (k + 1) == 0;
  memcpy(copy, N, sizeof copy);
  memcpy(x, b, sizeof x);
  if (ag_dense_solve(k, 1, copy, x)) return (ag_slope){NAN, NAN, 0};
  (void)ag_dense_solve(k, k, N, unit); /* the same matrix */
  for (int i = 0; i < n; i++) {
    double r = log(p[i].error / p[0].error);
    for (int c = 0; c < k; c++) r -= x[c] * A[i][c];
    rest += r * r;
  }
  return (ag_slope){x[1], student(n - k) * sqrt(rest / (n - k) * unit[k + 1]), n};
}

ag_slope ag_slope_line(const ag_converge_point *p, int n) { return fit(p, n, 2, 1); }

ag_slope ag_slope_curve(const ag_converge_point *p, int n, int power) { return fit(p, n, 3, power); }

static void keep_better(ag_slope *best, ag_slope s) {
  if (s.n && !(best->half <= s.half)) *best = s;
}

/* A line (power 0) or curve through m points, uncertain at least by how much that through the last of them differs:
 * where further terms are still seen, all points together give a narrow interval around an order that none of them has.
 */
static ag_slope through(const ag_converge_point *p, int m, int power) {
  const int few = power ? CURVE : LINE, k = power ? 3 : 2;
  ag_slope s = fit(p, m, k, power), last = fit(p + m - few, few, k, power);
  s.half = fmax(s.half, fabs(s.order - last.order));
  return s;
}

ag_slope ag_slope_best(const ag_converge_point *p, int n, int power) {
  ag_slope best = {NAN, NAN, 0};
  if (n == LINE - 1) return ag_slope_line(p, n);
  for (int end = n; end >= LINE && end > n - 3; end--) {
    for (int m = LINE; m <= MOST && m <= end; m++) keep_better(&best, through(p + end - m, m, 0));
    for (int m = CURVE; m <= MOST_CURVE && m <= end; m++) keep_better(&best, through(p + end - m, m, power));
  }
  return best;
}

double ag_slope_drift(const ag_converge_point *p, int n) {
  if (n <= LINE) return 0;
  const int before = n > 2 * LINE - 1 ? n - (2 * LINE - 1) : 0;
  return fabs(ag_slope_line(p + n - LINE, LINE).order - ag_slope_line(p + before, LINE).order);
}
