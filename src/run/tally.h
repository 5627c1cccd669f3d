/* SPDX-License-Identifier: MIT
 * Statistics over the members of an ensemble, in memory that does not depend on their number. Part of the front header
 * run.h. Members come in leaves of 256, in order; leaves are merged in a binary tree by index. So no result depends on
 * chunks, lanes or threads, and a saved tally goes on with the same bits. */
#ifndef AG_RUN_TALLY_H
#define AG_RUN_TALLY_H
#include <stdbool.h>
#include <stddef.h>

enum { AG_LEAF = 256, AG_TALLY_FIRST = 1024, AG_TALLY_BINS = 1024 };

/* Two values whose covariance is computed. */
typedef struct ag_tally_pair {
  int i, j;
} ag_tally_pair;

/* The values: n per member, and pairs of them (variances are always there). circle: per value, is it an
 * angle whose histogram goes round? NULL: none is. */
typedef struct ag_tally ag_tally;
ag_tally *ag_tally_create(int n, int n_pair, const ag_tally_pair *pairs, const bool *circle);
/* Before anything is added: members come in antithetic pairs, side by side, which standard errors take into account.
 * Every leaf must then have an even count. */
void ag_tally_twins(ag_tally *t);
void ag_tally_free(ag_tally *t);

/* A leaf: count <= 256 members, values [value][AG_LEAF]. First its moments (any thread), then both are added, leaf by
 * leaf. Only the last leaf may be incomplete, or have left out members that failed: fewer are fine at any time. */
size_t ag_tally_width(const ag_tally *t); /* numbers in the moments of a leaf */
void ag_tally_moments(const ag_tally *t, int count, const double *values, double *moments);
void ag_tally_add(ag_tally *t, int count, const double *values, const double *moments);

/* Completes the results below for what has been added so far; more may be added later. */
void ag_tally_finish(ag_tally *t);
double ag_tally_count(const ag_tally *t);
double ag_tally_mean(const ag_tally *t, int i);
double ag_tally_variance(const ag_tally *t, int i); /* of one member, estimated with n - 1; NaN for fewer than 2 */
double ag_tally_stderr(const ag_tally *t, int i);   /* of the mean */
double ag_tally_least(const ag_tally *t, int i);
double ag_tally_largest(const ag_tally *t, int i);
double ag_tally_covariance(const ag_tally *t, int pair);
double ag_tally_correlation(const ag_tally *t, int pair);

/* Counts in bins of equal width: around the first 1024 members, half their range to either side; outside: below and
 * above. Of an angle: 64 bins from -pi on, all the way round. */
typedef struct ag_histogram {
  int n;
  double from, width;
  const unsigned long long *count;
  unsigned long long below, above;
} ag_histogram;
ag_histogram ag_tally_histogram(const ag_tally *t, int i);
/* The p-quantile: that of a bin in which all are equal; else linear within the bin, and between
 * the extremes and the outer bins. */
double ag_tally_quantile(const ag_tally *t, int i, double p);

/* The whole tally as numbers. load: false if they do not fit. */
size_t ag_tally_size(const ag_tally *t);
void ag_tally_save(const ag_tally *t, double *to);
bool ag_tally_load(ag_tally *t, const double *from, size_t n);
#endif
