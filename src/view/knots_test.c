/* SPDX-License-Identifier: MIT
 * Knots: every row is met within the promised error, smooth series need few, corners and gaps are kept. */
#include "view/view_internal.h"

#include <math.h>

#include "tests/check.h"

enum { N = 20001 };

static double slow_wave(double t) { return 3 + sin(t); }
static double fast_wave(double t) { return cos(40 * t) * exp(-0.05 * t); }
static double corner(double t) { return fabs(sin(t)); }
static double jump(double t) { return t < 33 ? 0 : 1; }
static double line(double t) { return 2 * t - 1; }
static double spike(double t) { return exp(-1e3 * (t - 50) * (t - 50)); }

/* Rows at even times, or at times that are denser here and there. */
static double time_of(int i, bool even) {
  double u = (double)i / (N - 1);
  return even ? 100 * u : 100 * (u + 0.1 * sin(6 * u) * u * (1 - u));
}

static void try_series(double (*f)(double), bool even, long at_most) {
  static double t[N], y[N];
  double lo = INFINITY, hi = -INFINITY, worst = 0, between = 0;
  for (int i = 0; i < N; i++) {
    t[i] = time_of(i, even), y[i] = f(t[i]);
    lo = fmin(lo, y[i]), hi = fmax(hi, y[i]);
  }
  double within = 1e-4 * (hi - lo);
  ag_knots k;
  ag_knots_make(&k, N, t, y, within);
  AG_CHECK(k.n >= 2 && k.n <= at_most && k.row[0] == 0 && k.row[k.n - 1] == N - 1);
  for (int i = 0; i < N; i++) worst = fmax(worst, fabs(ag_knots_at(&k, t, t[i]) - y[i]));
  /* Between rows nothing is known; a cubic with sensible slopes stays near the rows beside it. */
  for (int i = 0; i + 1 < N; i++) {
    double middle = ag_knots_at(&k, t, (t[i] + t[i + 1]) / 2);
    between = fmax(between, fmax(fmin(y[i], y[i + 1]) - middle, middle - fmax(y[i], y[i + 1])));
  }
  AG_CHECK(worst <= within * (1 + 1e-9));
  AG_CHECK(between <= 0.01 * (hi - lo));
  ag_knots_done(&k);
}

/* Numbers that are not finite stay so, and their neighbours are met. */
static void test_gaps(void) {
  static double t[N], y[N];
  for (int i = 0; i < N; i++) t[i] = i, y[i] = i > 5000 && i < 5010 ? NAN : sin(1e-3 * i);
  ag_knots k;
  ag_knots_make(&k, N, t, y, 1e-4);
  for (int i = 0; i < N; i++) {
    double back = ag_knots_at(&k, t, t[i]);
    AG_CHECK(isnan(y[i]) ? isnan(back) || i == 5009 : i == 5000 || fabs(back - y[i]) <= 1e-4 * (1 + 1e-9));
  }
  AG_CHECK(k.n < 200);
  ag_knots_done(&k);
}

static void test_short(void) {
  const double t[] = {0, 1, 2}, y[] = {1, 5, 2};
  ag_knots k;
  for (int n = 1; n <= 3; n++) {
    ag_knots_make(&k, n, t, y, 1e-4);
    AG_CHECK(k.n == n);
    for (int i = 0; i < n; i++) AG_CHECK(fabs(ag_knots_at(&k, t, t[i]) - y[i]) <= 1e-4);
    ag_knots_done(&k);
  }
}

int main(void) {
  /* A wave takes about 12 pieces of a period: (w h)^4/384 = 2e-4 for its cubics. */
  for (int even = 0; even < 2; even++) {
    try_series(slow_wave, even, 16 * 16);
    try_series(fast_wave, even, 16 * 640);
    try_series(corner, even, 900);
    try_series(jump, even, 60);
    try_series(line, even, 4);
    try_series(spike, even, 200);
  }
  test_gaps();
  test_short();
  return ag_check_report();
}
