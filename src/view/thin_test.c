/* SPDX-License-Identifier: MIT
 * Thinning: no point of the curve is farther from what is left than promised. */
#include <stdlib.h>
#include <string.h>

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

static double *numbers(int n, const double *from) {
  double *to = malloc(sizeof *to * (size_t)n);
  memcpy(to, from, sizeof *to * (size_t)n);
  return to;
}

/* An angle that goes round has gaps; a jump of something else has none. */
static void test_turns(void) {
  const double t[] = {0, 1, 2, 3, 4, 5}, angle[] = {2, 3, -3.1, -1, -3, 3.1}, jump[] = {2, 3, -3.2, -1, -3, 3.1};
  double *x = numbers(6, t), *y = numbers(6, angle);
  long n = 6;
  ag_split_turns(&n, &x, &y);
  AG_CHECK(n == 8 && isnan(x[2]) && isnan(y[2]) && y[3] == -3.1 && isnan(y[6]) && x[7] == 5);
  free(x), free(y);
  x = numbers(6, t), y = numbers(6, jump), n = 6;
  ag_split_turns(&n, &x, &y);
  AG_CHECK(n == 6 && y[2] == -3.2);
  free(x), free(y);
}

/* Noise at a million times: no more points than the columns have corners, and none of its peaks is lost. */
static void test_columns(void) {
  enum { M = 1000000 };
  double *x = malloc(sizeof *x * M), *y = malloc(sizeof *y * M), lo = 0, hi = 0;
  for (long i = 0; i < M; i++) x[i] = (double)i, y[i] = noise((double)i / M);
  y[777777] = 7;
  long n = ag_thin_columns(M, x, y, M - 1, 1e-3);
  AG_CHECK(n <= 4 * 1001 && x[0] == 0 && x[n - 1] == M - 1);
  for (long i = 0; i < n; i++) {
    lo = fmin(lo, y[i]), hi = fmax(hi, y[i]);
    AG_CHECK(!i || x[i] > x[i - 1]);
  }
  AG_CHECK(hi == 7 && lo < -0.499);
  double back[] = {0, 1, 0.5}, up[] = {1, 2, 3};
  AG_CHECK(ag_thin_columns(3, back, up, 1, 1) == 3);
  free(x), free(y);
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
  test_turns();
  test_columns();
  test_points();
  return ag_check_report();
}
