/* SPDX-License-Identifier: MIT
 * Statistics in leaves and a binary tree. Moments are a row [n | means | least | largest | co-moments | co-moments of
 * antithetic pairs]; two rows merge by the formulas of Chan, Golub and LeVeque (1983). */
#include "run/tally.h"

#include <math.h>
#include <string.h>

#include "base/heap.h"

enum { LEVELS = 48, CIRCLE_BINS = 64, SLOTS = AG_TALLY_BINS + 2 }; /* bins, below, above */

static const double pi = 3.14159265358979323846;

struct ag_tally {
  int n, n_pair; /* n_pair: with the variances, which come first */
  ag_tally_pair *pairs;
  bool *circle, twins;
  unsigned long long leaves;
  double *tree[LEVELS];              /* level l: moments of 2^l leaves, where bit l of `leaves` is set */
  double *all, *spare;               /* after finish: everything merged */
  long n_first;                      /* members so far, as long as the bins are open */
  double *first;                     /* [value][AG_TALLY_FIRST]; NULL when the bins are fixed */
  double *from, *width;              /* of the bins, per value */
  unsigned long long *count, *round; /* [value][SLOTS], [value][CIRCLE_BINS] */
  double *only; /* [value][SLOTS]: the one number in a bin that is not empty, NaN: there are more */
};

ag_tally *ag_tally_create(int n, int n_pair, const ag_tally_pair *pairs, const bool *circle) {
  ag_tally *t = ag_heap_alloc(sizeof *t);
  *t = (ag_tally){.n = n, .n_pair = n + n_pair};
  size_t size = (size_t)n;
  t->pairs = ag_heap_alloc(sizeof *t->pairs * (size_t)(t->n_pair + 1));
  for (int i = 0; i < n; i++) t->pairs[i] = (ag_tally_pair){i, i};
  for (int i = 0; i < n_pair; i++) t->pairs[n + i] = pairs[i];
  t->circle = ag_heap_alloc(size + 1);
  if (circle) memcpy(t->circle, circle, size);
  t->twins = true; /* room for them */
  t->all = ag_heap_alloc(sizeof(double) * ag_tally_width(t));
  t->spare = ag_heap_alloc(sizeof(double) * ag_tally_width(t));
  t->twins = false;
  t->first = ag_heap_alloc(sizeof(double) * AG_TALLY_FIRST * (size + 1));
  t->from = ag_heap_alloc(sizeof(double) * (size + 1));
  t->width = ag_heap_alloc(sizeof(double) * (size + 1));
  t->count = ag_heap_alloc(sizeof *t->count * SLOTS * (size + 1));
  t->only = ag_heap_alloc(sizeof *t->only * SLOTS * (size + 1));
  t->round = ag_heap_alloc(sizeof *t->round * CIRCLE_BINS * (size + 1));
  return t;
}

void ag_tally_twins(ag_tally *t) { t->twins = true; }

void ag_tally_free(ag_tally *t) {
  if (!t) return;
  for (int i = 0; i < LEVELS; i++) free(t->tree[i]);
  void *all[] = {t->pairs, t->circle, t->all, t->spare, t->first, t->from, t->width, t->count, t->round, t->only};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i]);
  free(t);
}

/* ---- moments ---- */

size_t ag_tally_width(const ag_tally *t) { return 1 + (size_t)t->n * (t->twins ? 4 : 3) + (size_t)t->n_pair; }

/* Parts of a row. */
static double *means(double *row) { return row + 1; }
static double *least(const ag_tally *t, double *row) { return row + 1 + t->n; }
static double *largest(const ag_tally *t, double *row) { return row + 1 + 2 * t->n; }
static double *squares(const ag_tally *t, double *row) { return row + 1 + 3 * t->n; }
static double *twins(const ag_tally *t, double *row) { return squares(t, row) + t->n_pair; }

void ag_tally_moments(const ag_tally *t, int count, const double *values, double *row) {
  row[0] = count;
  for (int i = 0; i < t->n; i++) {
    const double *x = values + (size_t)i * AG_LEAF;
    const double origin = count ? x[0] : 0; /* equal members have exactly their value as the mean */
    double sum = 0, low = INFINITY, high = -INFINITY;
    for (int k = 0; k < count; k++) {
      sum += x[k] - origin;
      if (x[k] < low) low = x[k];
      if (x[k] > high) high = x[k];
    }
    means(row)[i] = count ? origin + sum / count : 0;
    least(t, row)[i] = low, largest(t, row)[i] = high;
  }
  for (int p = 0; p < t->n_pair; p++) {
    const int i = t->pairs[p].i, j = t->pairs[p].j;
    const double *x = values + (size_t)i * AG_LEAF, *y = values + (size_t)j * AG_LEAF;
    const double mx = means(row)[i], my = means(row)[j];
    double sum = 0;
    for (int k = 0; k < count; k++) sum += (x[k] - mx) * (y[k] - my);
    squares(t, row)[p] = sum;
  }
  for (int i = 0; t->twins && i < t->n; i++) {
    const double *x = values + (size_t)i * AG_LEAF, mean = means(row)[i];
    double sum = 0;
    for (int k = 0; k + 1 < count; k += 2) sum += (x[k] - mean) * (x[k + 1] - mean);
    twins(t, row)[i] = sum;
  }
}

/* Row b, whose members come later, into a. */
static void merge(const ag_tally *t, double *a, double *b) {
  if (b[0] == 0) return;
  if (a[0] == 0) {
    memcpy(a, b, sizeof(double) * ag_tally_width(t));
    return;
  }
  const double n = a[0] + b[0], part = b[0] / n, weight = a[0] * part;
  double *ma = means(a), *mb = means(b), *sa = squares(t, a);
  const double *sb = squares(t, b);
  for (int p = 0; p < t->n_pair; p++) {
    const int i = t->pairs[p].i, j = t->pairs[p].j;
    sa[p] = (sa[p] + sb[p]) + (mb[i] - ma[i]) * (mb[j] - ma[j]) * weight;
  }
  for (int i = 0; t->twins && i < t->n; i++)
    twins(t, a)[i] += twins(t, b)[i] + (mb[i] - ma[i]) * (mb[i] - ma[i]) * (0.5 * weight);
  for (int i = 0; i < t->n; i++) {
    ma[i] += (mb[i] - ma[i]) * part;
    least(t, a)[i] = fmin(least(t, a)[i], least(t, b)[i]);
    largest(t, a)[i] = fmax(largest(t, a)[i], largest(t, b)[i]);
  }
  a[0] = n;
}

static void add_moments(ag_tally *t, const double *moments) {
  const size_t size = sizeof(double) * ag_tally_width(t);
  memcpy(t->spare, moments, size);
  double *row = t->spare;
  int level = 0;
  for (; t->leaves >> level & 1; level++) {
    merge(t, t->tree[level], row);
    row = t->tree[level];
  }
  if (!t->tree[level]) t->tree[level] = ag_heap_alloc(size);
  memcpy(t->tree[level], row, size);
  t->leaves++;
}

/* ---- bins ---- */

/* Bins around the members of t->first: their range and half of it to either side. */
static void fix_bins(const ag_tally *t, double *from, double *width) {
  for (int i = 0; i < t->n; i++) {
    const double *x = t->first + (size_t)i * AG_TALLY_FIRST;
    double low = INFINITY, high = -INFINITY;
    for (long k = 0; k < t->n_first; k++) low = fmin(low, x[k]), high = fmax(high, x[k]);
    double range = high - low;
    if (!(range > 0)) range = fmax(fabs(high), 1) * 1e-6; /* all alike, or none */
    if (!(t->n_first > 0)) low = 0;
    from[i] = low - 0.5 * range;
    width[i] = 2 * range / AG_TALLY_BINS;
  }
}

static int slot(double x, double from, double width) {
  const double at = floor((x - from) / width);
  return at < 0 ? AG_TALLY_BINS : at < AG_TALLY_BINS ? (int)at : AG_TALLY_BINS + 1;
}

/* Values of n members, [value][stride], counted. */
static void count_all(ag_tally *t, long n, const double *values, size_t stride) {
  for (int i = 0; i < t->n; i++)
    for (long k = 0; k < n; k++) {
      const double x = values[(size_t)i * stride + (size_t)k];
      const size_t at = (size_t)i * SLOTS + (size_t)slot(x, t->from[i], t->width[i]);
      t->only[at] = !t->count[at] || x == t->only[at] ? x : NAN;
      t->count[at]++;
    }
}

/* The first members, whatever was counted of them before. */
static void count_first(ag_tally *t) {
  memset(t->count, 0, sizeof *t->count * SLOTS * (size_t)t->n);
  memset(t->only, 0, sizeof *t->only * SLOTS * (size_t)t->n);
  fix_bins(t, t->from, t->width);
  count_all(t, t->n_first, t->first, AG_TALLY_FIRST);
}

static void count_round(ag_tally *t, int n, const double *values) {
  for (int i = 0; i < t->n; i++)
    for (int k = 0; t->circle[i] && k < n; k++) {
      const double turns = values[(size_t)i * AG_LEAF + (size_t)k] / (2 * pi) + 0.5;
      const int at = (int)((turns - floor(turns)) * CIRCLE_BINS);
      t->round[i * CIRCLE_BINS + (at < CIRCLE_BINS ? at : CIRCLE_BINS - 1)]++;
    }
}

/* The first members are kept until the bins can be fixed. Returns how many of the leaf went there. */
static int keep_first(ag_tally *t, int n, const double *values) {
  int taken = 0;
  for (; taken < n && t->n_first < AG_TALLY_FIRST; taken++, t->n_first++)
    for (int i = 0; i < t->n; i++)
      t->first[i * AG_TALLY_FIRST + t->n_first] = values[(size_t)i * AG_LEAF + (size_t)taken];
  if (t->n_first < AG_TALLY_FIRST) return taken;
  count_first(t);
  free(t->first);
  t->first = NULL;
  return taken;
}

void ag_tally_add(ag_tally *t, int n, const double *values, const double *moments) {
  add_moments(t, moments);
  count_round(t, n, values);
  const int taken = t->first ? keep_first(t, n, values) : 0;
  if (!t->first) count_all(t, n - taken, values + taken, AG_LEAF);
}

/* ---- results ---- */

void ag_tally_finish(ag_tally *t) {
  memset(t->all, 0, sizeof(double) * ag_tally_width(t));
  for (int level = LEVELS - 1; level >= 0; level--) /* earlier leaves first */
    if (t->leaves >> level & 1) merge(t, t->all, t->tree[level]);
  if (!t->first) return;
  count_first(t);
}

double ag_tally_count(const ag_tally *t) { return t->all[0]; }
double ag_tally_mean(const ag_tally *t, int i) { return t->all[0] > 0 ? means(t->all)[i] : NAN; }
double ag_tally_least(const ag_tally *t, int i) { return t->all[0] > 0 ? least(t, t->all)[i] : NAN; }
double ag_tally_largest(const ag_tally *t, int i) { return t->all[0] > 0 ? largest(t, t->all)[i] : NAN; }
static double comoment(const ag_tally *t, int p) {
  return t->all[0] > 1 ? squares(t, t->all)[p] / (t->all[0] - 1) : NAN;
}
double ag_tally_variance(const ag_tally *t, int i) { return comoment(t, i); }
/* Of pairs: the spread of their n/2 means, sum ((a - M + b - M)/2)^2/(n/2 - 1). */
double ag_tally_stderr(const ag_tally *t, int i) {
  const double pairs = 0.5 * t->all[0];
  if (!t->twins) return sqrt(comoment(t, i) / t->all[0]);
  const double sum = 0.25 * (squares(t, t->all)[i] + 2 * twins(t, t->all)[i]);
  return pairs > 1 ? sqrt(fmax(sum, 0) / (pairs - 1) / pairs) : NAN;
}
double ag_tally_covariance(const ag_tally *t, int pair) { return comoment(t, t->n + pair); }
double ag_tally_correlation(const ag_tally *t, int pair) {
  const ag_tally_pair p = t->pairs[t->n + pair];
  return comoment(t, t->n + pair) / sqrt(comoment(t, p.i) * comoment(t, p.j));
}

ag_histogram ag_tally_histogram(const ag_tally *t, int i) {
  const unsigned long long *count = t->count + (size_t)i * SLOTS;
  if (t->circle[i])
    return (ag_histogram){
        .n = CIRCLE_BINS, .from = -pi, .width = 2 * pi / CIRCLE_BINS, .count = t->round + i * CIRCLE_BINS};
  return (ag_histogram){.n = AG_TALLY_BINS,
                        .from = t->from[i],
                        .width = t->width[i],
                        .count = count,
                        .below = count[AG_TALLY_BINS],
                        .above = count[AG_TALLY_BINS + 1]};
}

double ag_tally_quantile(const ag_tally *t, int i, double p) {
  const unsigned long long *count = t->count + (size_t)i * SLOTS;
  const double low = ag_tally_least(t, i), high = ag_tally_largest(t, i), wanted = p * t->all[0];
  double done = 0;
  if (!(t->all[0] > 0)) return NAN;
  for (int k = -1; k <= AG_TALLY_BINS; k++) { /* below, the bins, above */
    const int s = k < 0 ? AG_TALLY_BINS : k < AG_TALLY_BINS ? k : AG_TALLY_BINS + 1;
    const double c = (double)count[s], only = t->only[(size_t)i * SLOTS + (size_t)s];
    const double a = k < 0 ? low : t->from[i] + t->width[i] * k,
                 b = k < AG_TALLY_BINS ? t->from[i] + t->width[i] * (k + 1) : high;
    if (c > 0 && done + c >= wanted && !isnan(only)) return only;
    if (c > 0 && done + c >= wanted) return fmin(fmax(a + (b - a) * ((wanted - done) / c), low), high);
    done += c;
  }
  return high;
}

/* ---- saved ---- */

/* [leaves | members kept | bins fixed? | rows of the tree | first values, or bins, counts and single values |
 * counts around circles]
 */
static size_t open_size(const ag_tally *t, bool open) {
  return (size_t)t->n * (open ? AG_TALLY_FIRST : 2 + 2 * SLOTS) + (size_t)t->n * CIRCLE_BINS;
}

size_t ag_tally_size(const ag_tally *t) {
  size_t rows = (size_t)__builtin_popcountll(t->leaves);
  return 3 + rows * ag_tally_width(t) + open_size(t, t->first != NULL);
}

static double *put_counts(double *to, const unsigned long long *from, size_t n) {
  for (size_t i = 0; i < n; i++) to[i] = (double)from[i];
  return to + n;
}

void ag_tally_save(const ag_tally *t, double *to) {
  const size_t width = ag_tally_width(t), n = (size_t)t->n;
  *to++ = (double)t->leaves, *to++ = (double)t->n_first, *to++ = t->first == NULL;
  for (int level = 0; level < LEVELS; level++)
    if (t->leaves >> level & 1) memcpy(to, t->tree[level], sizeof *to * width), to += width;
  if (t->first) {
    memcpy(to, t->first, sizeof *to * n * AG_TALLY_FIRST), to += n * AG_TALLY_FIRST;
  } else {
    memcpy(to, t->from, sizeof *to * n), to += n;
    memcpy(to, t->width, sizeof *to * n), to += n;
    to = put_counts(to, t->count, n * SLOTS);
    memcpy(to, t->only, sizeof *to * n * SLOTS), to += n * SLOTS;
  }
  (void)put_counts(to, t->round, n * CIRCLE_BINS);
}

static const double *get_counts(unsigned long long *to, const double *from, size_t n, bool *good) {
  for (size_t i = 0; i < n; i++) {
    if (!(from[i] >= 0 && from[i] < 0x1p53)) *good = false;
    else to[i] = (unsigned long long)from[i];
  }
  return from + n;
}

bool ag_tally_load(ag_tally *t, const double *from, size_t size) {
  const size_t width = ag_tally_width(t), n = (size_t)t->n;
  if (size < 3 || !(from[0] >= 0 && from[0] < 0x1p47) || !(from[1] >= 0 && from[1] <= AG_TALLY_FIRST)) return false;
  t->leaves = (unsigned long long)from[0], t->n_first = (long)from[1];
  const bool open = from[2] == 0;
  if (size != 3 + (size_t)__builtin_popcountll(t->leaves) * width + open_size(t, open)) return false;
  from += 3;
  for (int level = 0; level < LEVELS; level++) {
    if (!(t->leaves >> level & 1)) continue;
    if (!t->tree[level]) t->tree[level] = ag_heap_alloc(sizeof(double) * width);
    memcpy(t->tree[level], from, sizeof *from * width), from += width;
  }
  bool good = true;
  if (open) {
    memcpy(t->first, from, sizeof *from * n * AG_TALLY_FIRST), from += n * AG_TALLY_FIRST;
  } else {
    free(t->first);
    t->first = NULL;
    memcpy(t->from, from, sizeof *from * n), from += n;
    memcpy(t->width, from, sizeof *from * n), from += n;
    from = get_counts(t->count, from, n * SLOTS, &good);
    memcpy(t->only, from, sizeof *from * n * SLOTS), from += n * SLOTS;
  }
  (void)get_counts(t->round, from, n * CIRCLE_BINS, &good);
  return good;
}
