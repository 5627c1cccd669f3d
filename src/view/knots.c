/* SPDX-License-Identifier: MIT
 * Long series in few numbers: knots with values and slopes, between which a cubic (Hermite) passes every row of the
 * series within a tolerance. Values and slopes have 16 bits, and the tolerance holds with them. */
#include <math.h>
#include <stdlib.h>

#include "view/view_internal.h"

enum { LONGEST = 60000, NONE = 65535, TOP = 65534 };

/* ---- slopes ---- */

/* The slope at row i from the polynomial through up to five rows around it. */
static double slope_through(long n, const double *t, const double *y, long i, int half) {
  long lo = i - half > 0 ? i - half : 0, hi = i + half < n - 1 ? i + half : n - 1;
  double sum = 0;
  for (long j = lo; j <= hi; j++) { /* derivative at t[i] of the Lagrange polynomial of row j */
    double d = 0;
    for (long k = lo; k <= hi; k++) {
      if (k == j) continue;
      double p = 1 / (t[j] - t[k]);
      for (long l = lo; l <= hi; l++)
        if (l != j && l != k) p *= (t[i] - t[l]) / (t[j] - t[l]);
      d += p;
    }
    sum += d * y[j];
  }
  return sum;
}

/* At a corner or beside a jump the polynomial would overshoot: there the two sides decide, as in a monotone
 * interpolation. Rows may be as sparse as the steps of a run, six in a period: a wave is not a corner. */
static double slope_at(long n, const double *t, const double *y, long i) {
  double wide = slope_through(n, t, y, i, 2);
  if (i == 0 || i == n - 1) {
    double side = slope_through(n, t, y, i, 1);
    return isfinite(wide) && fabs(wide - side) <= fabs(side) ? wide : isfinite(side) ? side : 0;
  }
  double before = (y[i] - y[i - 1]) / (t[i] - t[i - 1]), after = (y[i + 1] - y[i]) / (t[i + 1] - t[i]);
  double size = fmax(fabs(before), fabs(after)), least = fmin(fabs(before), fabs(after));
  double near = slope_through(n, t, y, i, 1);
  if (isfinite(wide) && fabs(wide - near) <= 0.4 * size && least >= 1e-3 * size) return wide;
  return before * after > 0 ? 2 * before * after / (before + after) : 0;
}

/* ---- knots ---- */

typedef struct series {
  long n;
  const double *t, *y;
  double within;
  const ag_knots *k; /* its scales */
  double *slopes;    /* as they are read back */
} series;

static unsigned short code_value(const ag_knots *k, double y) {
  if (!isfinite(y)) return NONE;
  return k->hi > k->lo ? (unsigned short)lround((y - k->lo) / (k->hi - k->lo) * TOP) : 0;
}

static double value_of(const ag_knots *k, unsigned short code) {
  return code == NONE ? NAN : k->lo + (k->hi - k->lo) * code / TOP;
}

static short code_slope(const ag_knots *k, double s) {
  if (!(k->steep > 0)) return 0;
  return (short)lround(s / k->steep * 32767);
}

double ag_knots_between(double t0, double y0, double s0, double t1, double y1, double s1, double t) {
  double h = t1 - t0, u = (t - t0) / h, v = 1 - u;
  return y0 * v * v * (1 + 2 * u) + y1 * u * u * (1 + 2 * v) + h * u * v * (s0 * v - s1 * u);
}

/* Do the rows between i and j lie on the cubic from one to the other? */
static bool fits(const series *s, long i, long j) {
  double y0 = value_of(s->k, code_value(s->k, s->y[i])), y1 = value_of(s->k, code_value(s->k, s->y[j]));
  for (long r = i + 1; r < j; r++) {
    double y = ag_knots_between(s->t[i], y0, s->slopes[i], s->t[j], y1, s->slopes[j], s->t[r]);
    if (!(fabs(y - s->y[r]) <= s->within)) return false;
  }
  return true;
}

/* The last row that one piece from row i reaches, about. */
static long reach(const series *s, long i) {
  long good = i + 1, step = 2, bad = s->n;
  while (i + step < s->n && step <= LONGEST) {
    if (!fits(s, i, i + step)) {
      bad = i + step;
      break;
    }
    good = i + step, step *= 2;
  }
  if (bad == s->n && i + step >= s->n && s->n - 1 - i <= LONGEST) {
    if (fits(s, i, s->n - 1)) return s->n - 1;
    bad = s->n - 1;
  }
  while (bad < s->n && bad - good > 1) {
    long middle = good + (bad - good) / 2;
    if (fits(s, i, middle)) good = middle;
    else bad = middle;
  }
  return good;
}

void ag_knots_make(ag_knots *k, long n, const double *t, const double *y, double within) {
  series s = {n, t, y, within, k, ag_heap_alloc(sizeof(double) * (size_t)(n + 1))};
  *k = (ag_knots){.lo = INFINITY, .hi = -INFINITY};
  for (long i = 0; i < n; i++)
    if (isfinite(y[i])) k->lo = fmin(k->lo, y[i]), k->hi = fmax(k->hi, y[i]);
  for (long i = 0; i < n; i++) {
    s.slopes[i] = n > 1 ? slope_at(n, t, y, i) : 0;
    if (!isfinite(s.slopes[i])) s.slopes[i] = 0;
    k->steep = fmax(k->steep, fabs(s.slopes[i]));
  }
  for (long i = 0; i < n; i++) s.slopes[i] = k->steep * code_slope(k, s.slopes[i]) / 32767;
  k->row = ag_heap_alloc(sizeof *k->row * (size_t)(n + 1));
  k->value = ag_heap_alloc(sizeof *k->value * (size_t)(n + 1));
  k->slope = ag_heap_alloc(sizeof *k->slope * (size_t)(n + 1));
  for (long i = 0; i < n; i = i < n - 1 ? reach(&s, i) : n) {
    k->row[k->n] = i;
    k->value[k->n] = code_value(k, y[i]);
    k->slope[k->n++] = code_slope(k, s.slopes[i]);
  }
  free(s.slopes);
}

void ag_knots_done(ag_knots *k) {
  free(k->row);
  free(k->value);
  free(k->slope);
  *k = (ag_knots){0};
}

double ag_knots_at(const ag_knots *k, const double *t, double when) {
  long lo = 0, hi = k->n - 1;
  while (hi - lo > 1) {
    long middle = (lo + hi) / 2;
    if (t[k->row[middle]] <= when) lo = middle;
    else hi = middle;
  }
  double y0 = value_of(k, k->value[lo]), y1 = value_of(k, k->value[hi]);
  if (lo == hi) return y0;
  return ag_knots_between(t[k->row[lo]], y0, k->steep * k->slope[lo] / 32767, t[k->row[hi]], y1,
                          k->steep * k->slope[hi] / 32767, when);
}
