/* SPDX-License-Identifier: MIT
 * Thinning: no point of the curve is farther from what is left than promised. */
#include "view/view.h"

#include "tests/check.h"

/* The distance from a point to a polygon. */
static double distance(double px, double py, long n, const double *x, const double *y) {
  double best = INFINITY;
  for (long i = 0; i + 1 < n; i++) {
    double dx = x[i + 1] - x[i], dy = y[i + 1] - y[i], size = dx * dx + dy * dy;
    double s = size > 0 ? ((px - x[i]) * dx + (py - y[i]) * dy) / size : 0;
    s = fmin(fmax(s, 0), 1);
    best = fmin(best, hypot(px - x[i] - s * dx, py - y[i] - s * dy));
  }
  return best;
}

enum { N = 3000 };

static void try_curve(double (*fx)(double), double (*fy)(double), long at_most) {
  static double x[N], y[N], u[N], v[N];
  const double within = 1e-3;
  for (int i = 0; i < N; i++) u[i] = x[i] = fx((double)i / N), v[i] = y[i] = fy((double)i / N);
  long n = ag_thin_curve(N, u, v, 1, 1, within);
  AG_CHECK(n >= 2 && n <= at_most);
  AG_CHECK(u[0] == x[0] && v[0] == y[0] && u[n - 1] == x[N - 1] && v[n - 1] == y[N - 1]);
  double worst = 0;
  for (int i = 0; i < N; i++) worst = fmax(worst, distance(x[i], y[i], n, u, v));
  AG_CHECK(worst <= 2.0001 * within); /* a chord ends at a point of the curve that is itself within r of the cone */
}

static double line(double s) { return s; }
static double wave(double s) { return sin(40 * s); }
static double circle_x(double s) { return cos(20 * s); }
static double circle_y(double s) { return sin(20 * s); }
static double step(double s) { return s < 0.5 ? 0 : 1; }
static double noise(double s) { return remainder(sin(1e4 * s) * 1e4, 1); }

static void test_gaps(void) {
  double x[] = {0, 1, 2, NAN, NAN, 5, 6, 7}, y[] = {0, 0, 0, NAN, NAN, 1, 1, 1};
  long n = ag_thin_curve(8, x, y, 7, 1, 1e-4);
  AG_CHECK(n == 5 && x[1] == 2 && isnan(x[2]) && x[3] == 5 && x[4] == 7);
  double a[] = {NAN, 1}, b[] = {0, 1};
  AG_CHECK(ag_thin_curve(2, a, b, 1, 1, 1e-4) == 1 && a[0] == 1);
}

static void test_points(void) {
  enum { M = 20000 };
  static double x[M], y[M], z[M];
  for (int i = 0; i < M; i++) x[i] = i % 100, y[i] = i / 100 % 50, z[i] = i;
  long n = ag_thin_points(M, x, y, z);
  AG_CHECK(n == 5000); /* every place once, the first that was there */
  for (long i = 0; i < n; i++) AG_CHECK(z[i] == (double)i);
}

int main(void) {
  try_curve(line, line, 2);
  try_curve(line, wave, N / 4);
  try_curve(circle_x, circle_y, N / 4);
  try_curve(line, step, 8);
  try_curve(line, noise, N);
  test_gaps();
  test_points();
  return ag_check_report();
}
