/* SPDX-License-Identifier: MIT
 * Thinning of curves and clouds of points, so that figures of long runs stay small. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "view/view_internal.h"

/* Does it look like an angle within one full turn, (-pi, pi) or (0, 2 pi), that goes round? */
static bool is_turning(long n, const double *v) {
  double lo = INFINITY, hi = -INFINITY;
  for (long i = 0; i < n; i++)
    if (isfinite(v[i])) lo = fmin(lo, v[i]), hi = fmax(hi, v[i]);
  bool turn = (lo >= -M_PI && hi <= M_PI) || (lo >= 0 && hi <= 2 * M_PI);
  return turn && hi - lo > 1.5 * M_PI;
}

static bool passes(const double *v, long i) { return i && fabs(v[i] - v[i - 1]) > 1.5 * M_PI; }

void ag_split_turns(long *n, double **x, double **y) {
  const bool round_x = is_turning(*n, *x), round_y = is_turning(*n, *y);
  long more = 0, kept = 0;
  for (long i = 0; i < *n; i++) more += (round_x && passes(*x, i)) || (round_y && passes(*y, i));
  if (!more) return;
  double *u = ag_heap_alloc(sizeof *u * (size_t)(*n + more)), *v = ag_heap_alloc(sizeof *v * (size_t)(*n + more));
  for (long i = 0; i < *n; i++) {
    if ((round_x && passes(*x, i)) || (round_y && passes(*y, i))) u[kept] = v[kept] = NAN, kept++;
    u[kept] = (*x)[i], v[kept++] = (*y)[i];
  }
  free(*x), free(*y);
  *x = u, *y = v, *n = kept;
}

long ag_thin_columns(long n, double *x, double *y, double w, double within) {
  long kept = 0;
  for (long i = 1; i < n; i++)
    if (!(x[i] >= x[i - 1]) || !isfinite(y[i])) return n;
  if (!(w > 0) || n < 1 || !isfinite(y[0]) || !isfinite(x[0])) return n;
  for (long i = 0, end; i < n; i = end) {
    long low = i, high = i;
    for (end = i; end < n && x[end] - x[i] <= within * w; end++) {
      if (y[end] < y[low]) low = end;
      if (y[end] > y[high]) high = end;
    }
    const long keep[] = {i, low < high ? low : high, low < high ? high : low, end - 1};
    for (int k = 0; k < 4; k++)
      if (!k || keep[k] > keep[k - 1]) x[kept] = x[keep[k]], y[kept++] = y[keep[k]];
  }
  return kept;
}

/* From an anchor, all directions in which a straight line passes every later point within r form a cone. A point behind
 * which the cone is empty, or which turns back, becomes the next anchor. Gaps (NaN) are kept as one NaN. */
long ag_thin_curve(long n, double *x, double *y, double w, double h, double within) {
  long kept = 0, anchor = -1;
  double lo = 0, hi = 0, far = 0; /* the cone, as angles about its first direction; the farthest point so far */
  double axis = 0;
  for (long i = 0; i < n; i++) {
    bool gap = !isfinite(x[i]) || !isfinite(y[i]);
    if (gap || anchor < 0) {
      if (gap && anchor >= 0 && i - 1 > anchor) x[kept] = x[i - 1], y[kept++] = y[i - 1];
      if (!gap || (kept && isfinite(x[kept - 1]))) x[kept] = gap ? NAN : x[i], y[kept++] = gap ? NAN : y[i];
      anchor = gap ? -1 : i, far = 0;
      continue;
    }
    /* the anchor is the last one kept */
    double dx = (x[i] - x[kept - 1]) / w, dy = (y[i] - y[kept - 1]) / h, d = hypot(dx, dy);
    if (d <= within) {
      if (far == 0) continue;
    } else {
      double angle = atan2(dy, dx), open = asin(within / d);
      if (far == 0) axis = angle, lo = -open, hi = open;
      double turn = remainder(angle - axis, 2 * M_PI);
      bool inside = turn >= lo && turn <= hi && d >= far - within;
      if (inside) {
        lo = fmax(lo, turn - open), hi = fmin(hi, turn + open);
        far = fmax(far, d);
        continue;
      }
    }
    /* the point before is the end of this piece; this one is examined again from there */
    x[kept] = x[i - 1], y[kept++] = y[i - 1];
    anchor = i - 1, far = 0;
    i--;
  }
  if (anchor >= 0 && anchor < n - 1) x[kept] = x[n - 1], y[kept++] = y[n - 1];
  return kept;
}

enum { CELLS = 4096 };

long ag_thin_points(long n, double *x, double *y, double *z) {
  double x0 = INFINITY, x1 = -INFINITY, y0 = INFINITY, y1 = -INFINITY;
  for (long i = 0; i < n; i++) x0 = fmin(x0, x[i]), x1 = fmax(x1, x[i]), y0 = fmin(y0, y[i]), y1 = fmax(y1, y[i]);
  unsigned char *seen = ag_heap_alloc(CELLS * CELLS / 8);
  double sx = x1 > x0 ? (CELLS - 1) / (x1 - x0) : 0, sy = y1 > y0 ? (CELLS - 1) / (y1 - y0) : 0;
  long kept = 0;
  for (long i = 0; i < n; i++) {
    if (!isfinite(x[i]) || !isfinite(y[i])) continue;
    size_t cell = (size_t)((x[i] - x0) * sx) * CELLS + (size_t)((y[i] - y0) * sy);
    unsigned char bit = (unsigned char)(1u << (cell % 8));
    if (seen[cell / 8] & bit) continue;
    seen[cell / 8] |= bit;
    x[kept] = x[i], y[kept] = y[i];
    if (z) z[kept] = z[i];
    kept++;
  }
  free(seen);
  return kept;
}
