/* SPDX-License-Identifier: MIT
 * First passage: the inverse Gaussian law, and W + nu t through a level with steps of any size. */
#include "run/passage.h"

#include <math.h>

#include "tests/check.h"

enum { N = 40000 };

/* Mean m and variance m^3/shape; |z| < 4.5 with fixed numbers. */
static void test_law(double mean, double shape) {
  const ag_wiener w = {.seed = 3, .base = 1, .channels = 1, .multiple = 1};
  double sum = 0, inverse = 0;
  for (unsigned long long i = 0; i < N; i++) {
    double u[2];
    ag_wiener_uniform(&w, i, 0, 1, u);
    const double x = ag_passage_inverse_gaussian(mean, shape, ag_wiener_normal(&w, i, 0, 0), u[0]);
    sum += x, inverse += 1 / x;
  }
  const double z = (sum / N - mean) / sqrt(mean * mean * mean / shape / N);
  /* E 1/x = 1/mean + 1/shape, variance 1/(mean shape) + 2/shape^2 */
  const double z1 = (inverse / N - 1 / mean - 1 / shape) / sqrt((1 / (mean * shape) + 2 / (shape * shape)) / N);
  if (!(fabs(z) < 4.5 && fabs(z1) < 4.5)) fprintf(stderr, "mean %g, shape %g: z = %.2f, %.2f\n", mean, shape, z, z1);
  AG_CHECK(fabs(z) < 4.5 && fabs(z1) < 4.5);
}

/* y = nu t + s W: E T = L/nu, var T = L s^2/nu^3, whatever the step. On the grid alone T would be late by about
 * 0.58 s sqrt(h)/nu, 70 standard errors with the largest step here. */
static void test_drifted(double h, double side) {
  const double nu = 1, s = 0.7, level = 2 * side;
  const ag_wiener w = {.seed = 5, .base = h, .channels = 1, .multiple = 1};
  const ag_passage_step p = {&w, 0, h, level};
  double sum = 0, square = 0, step[2], work[8];
  for (unsigned long long i = 0; i < N; i++) {
    ag_passage_state state;
    double y = 0;
    ag_passage_begin(&state, level, 0, y, s * s);
    for (unsigned long long k = 0; isnan(state.time) && k < 1000000; k++) {
      ag_wiener_step(&w, i, k, false, step, work);
      y += side * nu * h + s * step[1];
      ag_passage_look(&state, &p, 0, i, k, y, s * s);
    }
    sum += state.time, square += state.time * state.time;
  }
  const double mean = sum / N, var = square / N - mean * mean, expected = 2 * s * s;
  const double z = (mean - 2) / sqrt(expected / N);
  if (!(fabs(z) < 4.5)) fprintf(stderr, "h = %g: E T = %g, z = %.2f\n", h, mean, z);
  AG_CHECK(fabs(z) < 4.5);
  AG_CHECK(fabs(var / expected - 1) < 0.06); /* kurtosis 15 s^2/2 + 3: 4.5 standard errors are 0.056 */
}

/* Without noise in it the quantity crosses where the straight line does; a start on the level has passed. */
static void test_smooth(void) {
  const ag_wiener w = {.seed = 5, .base = 0.5, .channels = 1, .multiple = 1};
  const ag_passage_step p = {&w, 1, 0.5, 1};
  ag_passage_state s;
  ag_passage_begin(&s, 1, 1, 0.2, 0);
  ag_passage_look(&s, &p, 0, 0, 0, 0.6, 0);
  AG_CHECK(isnan(s.time));
  ag_passage_look(&s, &p, 0, 0, 1, 1.4, 0);
  AG_CHECK_NEAR(s.time, 1.75, 1e-15);
  ag_passage_look(&s, &p, 0, 0, 2, 0.4, 0);
  AG_CHECK_NEAR(s.time, 1.75, 1e-15);
  ag_passage_begin(&s, 1, 1, 1, 0);
  AG_CHECK(s.time == 1);
}

int main(void) {
  test_law(1, 1);
  test_law(0.1, 5);
  test_law(20, 0.5);
  test_drifted(0.01, 1);
  test_drifted(0.25, 1);
  test_drifted(1, -1);
  test_smooth();
  return ag_check_report();
}
