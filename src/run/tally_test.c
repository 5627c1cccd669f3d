/* SPDX-License-Identifier: MIT
 * Statistics against direct sums in two passes, closed forms, and themselves: saved and continued, cut differently. */
#include <math.h>
#include <stdlib.h>

#include "run/run.h"
#include "step/step.h"
#include "tests/check.h"

enum { N_VALUE = 3, N_PAIR = 2 };
static const ag_tally_pair pairs[N_PAIR] = {{0, 1}, {0, 2}};
static const bool circle[N_VALUE] = {false, false, true};

/* Member k: a shifted normal, one correlated with it by 0.6, an angle that winds. */
static void member(long k, double x[N_VALUE]) {
  ag_wiener w = {.seed = 99, .base = 1, .channels = 3, .multiple = 1};
  double a = ag_wiener_normal(&w, (unsigned long long)k, 0, 0), b = ag_wiener_normal(&w, (unsigned long long)k, 0, 1);
  x[0] = 1000 + a, x[1] = 0.6 * a + 0.8 * b, x[2] = 0.5 * b + 2 * 3.14159265358979323846 * (double)(k % 7);
}

/* Adds members from..to (a multiple of a leaf from the start on); every `lost`-th one failed. */
static void add(ag_tally *t, long from, long to, long lost) {
  double *values = malloc(sizeof *values * N_VALUE * AG_LEAF), *row = malloc(sizeof *row * ag_tally_width(t));
  for (long leaf = from; leaf < to; leaf += AG_LEAF) {
    int n = 0;
    for (long k = leaf; k < leaf + AG_LEAF && k < to; k++) {
      double x[N_VALUE];
      member(k, x);
      if (lost && k % lost == 0) continue;
      for (int i = 0; i < N_VALUE; i++) values[i * AG_LEAF + n] = x[i];
      n++;
    }
    ag_tally_moments(t, n, values, row);
    ag_tally_add(t, n, values, row);
  }
  free(values), free(row);
}

static int ascending(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static void test_direct(long n, long lost) {
  ag_tally *t = ag_tally_create(N_VALUE, N_PAIR, pairs, circle);
  add(t, 0, n, lost);
  ag_tally_finish(t);
  double(*x)[N_VALUE] = malloc(sizeof *x * (size_t)n), mean[N_VALUE] = {0}, var[N_VALUE] = {0}, co = 0;
  double *sorted = malloc(sizeof *sorted * (size_t)n);
  long m = 0;
  for (long k = 0; k < n; k++)
    if (!lost || k % lost) member(k, x[m++]);
  for (int i = 0; i < N_VALUE; i++) {
    for (long k = 0; k < m; k++) mean[i] += x[k][i] / (double)m;
    for (long k = 0; k < m; k++) var[i] += (x[k][i] - mean[i]) * (x[k][i] - mean[i]) / (double)(m - 1);
  }
  for (long k = 0; k < m; k++) co += (x[k][0] - mean[0]) * (x[k][1] - mean[1]) / (double)(m - 1);
  AG_CHECK((long)ag_tally_count(t) == m);
  for (int i = 0; i < N_VALUE; i++) {
    AG_CHECK_NEAR(ag_tally_mean(t, i), mean[i], 1e-13);
    AG_CHECK_NEAR(ag_tally_variance(t, i) / var[i], 1, 1e-10); /* 1e3 with spread 1: rounding of 1e-13 of the mean */
    AG_CHECK_NEAR(ag_tally_stderr(t, i), sqrt(var[i] / (double)m), 1e-10);
    for (long k = 0; k < m; k++) sorted[k] = x[k][i];
    qsort(sorted, (size_t)m, sizeof *sorted, ascending);
    AG_CHECK(ag_tally_least(t, i) == sorted[0] && ag_tally_largest(t, i) == sorted[m - 1]);
    static const double levels[] = {0, 0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99, 1};
    const double bin = 2.5 * (sorted[m - 1] - sorted[0]) / AG_TALLY_BINS;
    for (size_t q = 0; q < sizeof levels / sizeof *levels; q++) { /* a bin, or the neighbouring members */
      long at = (long)(levels[q] * (double)m), low = at > 1 ? at - 2 : 0, high = at + 1 < m ? at + 1 : m - 1;
      double got = ag_tally_quantile(t, i, levels[q]);
      AG_CHECK(got >= sorted[low] - bin && got <= sorted[high] + bin);
    }
  }
  AG_CHECK_NEAR(ag_tally_covariance(t, 0), co, 1e-10);
  AG_CHECK_NEAR(ag_tally_correlation(t, 0), co / sqrt(var[0] * var[1]), 1e-10);
  for (int i = 0; i < N_VALUE; i++) { /* no member is lost */
    ag_histogram h = ag_tally_histogram(t, i);
    unsigned long long sum = h.below + h.above;
    for (int b = 0; b < h.n; b++) sum += h.count[b];
    AG_CHECK((long)sum == m);
  }
  /* the angle: nothing outside half a turn, although it winds; symmetric about 0 */
  ag_histogram h = ag_tally_histogram(t, 2);
  AG_CHECK(h.n == 64 && h.below == 0 && h.count[0] == 0 && h.count[31] + h.count[32] > 0);
  free(x), free(sorted), ag_tally_free(t);
}

/* Closed forms, |z| < 4.5 with a fixed seed. */
static void test_closed_forms(void) {
  const long n = 50000;
  ag_tally *t = ag_tally_create(N_VALUE, N_PAIR, pairs, circle);
  add(t, 0, n, 0);
  ag_tally_finish(t);
  const double root = sqrt((double)n);
  AG_CHECK(fabs(ag_tally_mean(t, 0) - 1000) < 4.5 / root);
  AG_CHECK(fabs(ag_tally_variance(t, 0) - 1) < 4.5 * sqrt(2) / root);
  AG_CHECK(fabs(ag_tally_correlation(t, 0) - 0.6) < 4.5 * (1 - 0.36) / root);
  AG_CHECK(fabs(ag_tally_correlation(t, 1)) < 4.5 / root);
  /* the quantile p of a normal has the variance p (1 - p)/(n density^2) */
  AG_CHECK(fabs(ag_tally_quantile(t, 0, 0.975) - 1000 - 1.959963984540054) < 4.5 * sqrt(0.975 * 0.025) / 0.0584 / root);
  AG_CHECK(fabs(ag_tally_quantile(t, 1, 0.5)) < 4.5 * 1.2533 / root);
  ag_tally_free(t);
}

/* Saved at any leaf and continued: the same bits. */
static void test_continued(void) {
  static const long cuts[] = {AG_LEAF, 3 * AG_LEAF, 4 * AG_LEAF, 7 * AG_LEAF, 0};
  const long n = 11 * AG_LEAF + 100;
  ag_tally *whole = ag_tally_create(N_VALUE, N_PAIR, pairs, circle);
  add(whole, 0, n, 13);
  size_t size = ag_tally_size(whole);
  double *expected = malloc(sizeof(double) * size);
  ag_tally_save(whole, expected);
  for (const long *cut = cuts; *cut; cut++) {
    ag_tally *a = ag_tally_create(N_VALUE, N_PAIR, pairs, circle), *b = ag_tally_create(N_VALUE, N_PAIR, pairs, circle);
    add(a, 0, *cut, 13);
    ag_tally_finish(a); /* looking at it changes nothing */
    double *saved = malloc(sizeof(double) * ag_tally_size(a)), *got = malloc(sizeof(double) * size);
    ag_tally_save(a, saved);
    AG_CHECK(ag_tally_load(b, saved, ag_tally_size(a)));
    add(b, *cut, n, 13);
    AG_CHECK(ag_tally_size(b) == size);
    ag_tally_save(b, got);
    AG_CHECK(!memcmp(got, expected, sizeof(double) * size));
    add(a, *cut, n, 13);
    ag_tally_save(a, got);
    AG_CHECK(!memcmp(got, expected, sizeof(double) * size));
    AG_CHECK(!ag_tally_load(b, saved, ag_tally_size(a) - 1));
    saved[0] = -1;
    AG_CHECK(!ag_tally_load(b, saved, ag_tally_size(a)));
    free(saved), free(got), ag_tally_free(a), ag_tally_free(b);
  }
  free(expected), ag_tally_free(whole);
}

/* A number that takes few values: its quantiles are such values, before and after the bins are fixed. */
static void test_discrete(void) {
  static const double value[] = {-1, 0.25, 3};
  double values[AG_LEAF], row[8];
  ag_tally *t = ag_tally_create(1, 0, NULL, NULL);
  for (int leaf = 0; leaf < 8; leaf++) {
    for (int k = 0; k < AG_LEAF; k++) values[k] = value[k % 8 < 3 ? 0 : k % 8 < 7 ? 1 : 2]; /* 3/8, 4/8, 1/8 */
    ag_tally_moments(t, AG_LEAF, values, row);
    ag_tally_add(t, AG_LEAF, values, row);
    ag_tally_finish(t);
    AG_CHECK(ag_tally_quantile(t, 0, 0.05) == -1 && ag_tally_quantile(t, 0, 0.25) == -1);
    AG_CHECK(ag_tally_quantile(t, 0, 0.5) == 0.25 && ag_tally_quantile(t, 0, 0.75) == 0.25);
    AG_CHECK(ag_tally_quantile(t, 0, 0.95) == 3);
  }
  ag_tally_free(t);
}

/* All alike, one, none. */
static void test_few(void) {
  double values[AG_LEAF], row[8];
  for (int k = 0; k < AG_LEAF; k++) values[k] = 2.5;
  for (int n = 0; n < 3; n++) {
    ag_tally *t = ag_tally_create(1, 0, NULL, NULL);
    AG_CHECK(ag_tally_width(t) <= 8);
    ag_tally_moments(t, n, values, row);
    ag_tally_add(t, n, values, row);
    ag_tally_finish(t);
    AG_CHECK(n ? ag_tally_mean(t, 0) == 2.5 && ag_tally_quantile(t, 0, 0.3) == 2.5 : isnan(ag_tally_mean(t, 0)));
    AG_CHECK(n > 1 ? ag_tally_variance(t, 0) == 0 : isnan(ag_tally_variance(t, 0)));
    AG_CHECK(n || (isnan(ag_tally_quantile(t, 0, 0.5)) && isnan(ag_tally_least(t, 0))));
    ag_tally_free(t);
  }
}

int main(void) {
  test_direct(200, 0);
  test_direct(AG_LEAF, 5);
  test_direct(5000, 0);
  test_direct(20001, 11);
  test_closed_forms();
  test_continued();
  test_discrete();
  test_few();
  return ag_check_report();
}
