/* SPDX-License-Identifier: MIT
 * The absolute tolerances, in the sizes of the motion. From the start: of each coordinate in R the largest component L,
 * of each velocity the largest component V (angles and rotations have size 1). A coordinate at 0 gets V^2/A, a velocity
 * at 0 sqrt(L A), A its acceleration; both as far as these are known. The tolerance of all follows the smallest of
 * these sizes: too small a tolerance costs little, since rtol |z| counts as well. Sizes that may be rounding error next
 * to others of their kind are left out. A start at rest at 0 has none of these: then what the largest acceleration at a
 * few times of the run, in this place, does in the time of the run, or in a time of 1 if that is less, is its size.
 * Coordinates in R or on the circle that are smaller still, and their velocities, have tolerances of their own, but
 * not below the rounding errors in their acceleration. */
#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "run/run_internal.h"

enum { LENGTH, SPEED, TURN, KINDS };

typedef struct sizes {
  int n;
  int *kind;
  double *of;
} sizes;

static double largest(int n, const double *v) {
  double most = 0;
  for (int i = 0; i < n; i++) most = fmax(most, fabs(v[i]));
  return most;
}

static void add(sizes *s, int kind, double of) {
  if (!(of > 0) || !isfinite(of)) return;
  s->kind[s->n] = kind;
  s->of[s->n++] = of;
}

/* xidot NULL: what is 0 stays unknown. */
static void collect(sizes *s, const ag_system *sys, const double *x, const double *xidot) {
  int n, n_xi;
  const ag_layout_row *q = ag_layout_rows(sys, AG_LAYOUT_COORDINATE, &n);
  const ag_layout_row *xi = ag_layout_rows(sys, AG_LAYOUT_VELOCITY, &n_xi);
  s->n = 0;
  for (int i = 0; i < n && i < n_xi; i++) {
    bool line = q[i].factor == AG_SPACE_R;
    double L = line ? largest(q[i].n, x + q[i].at) : 1, V = largest(xi[i].n, x + xi[i].at);
    double A = xidot ? largest(xi[i].n, xidot + xi[i].at - ag_system_dims(sys)->q) : 0;
    double speed = V > 0 ? V : sqrt(L * A);
    if (line) add(s, LENGTH, L > 0 ? L : A > 0 ? V * V / A : 0);
    add(s, line ? SPEED : TURN, speed);
  }
}

/* The same at rest at 0. */
static void collect_pushes(sizes *s, const ag_system *sys, ag_work *w, const ag_run_options *o, const double *x,
                           double *xidot) {
  enum { TIMES = 16 };
  int n;
  const ag_layout_row *xi = ag_layout_rows(sys, AG_LAYOUT_VELOCITY, &n);
  double span = o->t1 - o->t0, time = fmin(1, fabs(span)), *most = ag_heap_alloc(sizeof *most * (size_t)(n + 1));
  for (int k = 0; k < TIMES; k++) {
    if (ag_work_accel(w, o->t0 + k * span / TIMES, x, xidot, NULL) != AG_FINE) continue;
    for (int i = 0; i < n; i++) most[i] = fmax(most[i], largest(xi[i].n, xidot + xi[i].at - ag_system_dims(sys)->q));
  }
  s->n = 0;
  for (int i = 0; i < n; i++) {
    add(s, LENGTH, most[i] * time * time);
    add(s, SPEED, most[i] * time);
  }
  free(most);
}

static const double MARGIN = 10; /* above rounding errors */

static bool ordinary(double size) { return size >= 1e-3 && size <= 1e3; }

/* Sizes between 1e-3 and 1e3 count as 1, those beyond 1e-6 and 1e6 as they are; between them it is continuous. */
static double factor(double size) {
  if (size < 1) return fmin(1, fmax(size, 1e6 * size * size));
  return fmax(1, fmin(size, 1e-6 * size * size));
}

static double smallest(const sizes *s, const ag_system *sys) {
  static const double NOISE = 1e-9;
  double most[KINDS] = {0}, least = INFINITY;
  int n;
  const ag_layout_row *q = ag_layout_rows(sys, AG_LAYOUT_COORDINATE, &n);
  for (int i = 0; i < n; i++)
    if (q[i].factor != AG_SPACE_R) least = 1;
  for (int i = 0; i < s->n; i++) most[s->kind[i]] = fmax(most[s->kind[i]], s->of[i]);
  most[SPEED] = fmax(most[SPEED], most[TURN] * most[LENGTH]); /* of a disk that spins in place x' is rounding error */
  for (int i = 0; i < s->n; i++)
    if (s->of[i] > NOISE * most[s->kind[i]]) least = fmin(least, s->of[i]);
  return isfinite(least) ? least : 1;
}

/* How far the accelerations change when all numbers of the state change in their last digits. */
static bool noise(const ag_system *sys, ag_work *w, double t, const double *x, const double *xidot, double *change) {
  const ag_dims *n = ag_system_dims(sys);
  double *moved = ag_heap_alloc(sizeof *moved * (size_t)(n->x + 1));
  bool known = true;
  for (int i = 0; i < n->xi; i++) change[i] = 0;
  for (int pattern = 1; pattern <= 3 && known; pattern++) {
    double *to = ag_heap_alloc(sizeof *to * (size_t)(n->xi + 1));
    for (int i = 0; i < n->x; i++) moved[i] = x[i] * (1 + ((i / pattern) % 2 ? -4 : 4) * 0x1p-52);
    known = ag_work_accel(w, t, moved, to, NULL) == AG_FINE;
    for (int i = 0; i < n->xi && known; i++) change[i] = fmax(change[i], fabs(to[i] - xidot[i]));
    free(to);
  }
  free(moved);
  return known;
}

/* Own tolerances of coordinates, and of their velocities, that are smaller than what counts for all. Over a step the
 * rounding errors of the acceleration add up to about their part of the size: errors below that cannot be seen. */
static void small_ones(const ag_system *sys, ag_work *w, const ag_run_options *o, const double *x, const double *xidot,
                       double atol, double *own) {
  int n, n_v, n_q = ag_system_dims(sys)->q;
  const ag_layout_row *q = ag_layout_rows(sys, AG_LAYOUT_COORDINATE, &n);
  const ag_layout_row *v = ag_layout_rows(sys, AG_LAYOUT_VELOCITY, &n_v);
  double *change = ag_heap_alloc(sizeof *change * (size_t)(ag_system_dims(sys)->xi + 1));
  bool known = false, asked = false;
  for (int i = 0; i < n && i < n_v; i++) {
    double L = largest(q[i].n, x + q[i].at), V = largest(v[i].n, x + v[i].at),
           A = largest(v[i].n, xidot + v[i].at - n_q);
    double length = L > 0 ? L : A > 0 ? V * V / A : 0, speed = V > 0 ? V : sqrt(L * A);
    double of_q = o->atol * factor(length), of_v = o->atol * factor(speed);
    bool may = q[i].factor == AG_SPACE_R || q[i].factor == AG_SPACE_S1;
    if (!may || ((length > 0 ? of_q : atol) >= atol && (speed > 0 ? of_v : atol) >= atol)) continue;
    if (!asked) known = noise(sys, w, o->t0, x, xidot, change);
    asked = true;
    double off = largest(v[i].n, change + v[i].at - n_q), noise = off > 0 ? MARGIN * off / A : 0;
    if (!known) continue;
    for (int k = 0; k < q[i].n && length > 0; k++) own[q[i].at + k] = fmin(atol, fmax(of_q, noise * length));
    for (int k = 0; k < v[i].n && speed > 0; k++) own[v[i].at + k] = fmin(atol, fmax(of_v, noise * speed));
  }
  free(change);
}

/* Is a start on the circle so close to 0 that 1 is not its scale? */
static bool small_angle(const ag_system *sys, const double *x) {
  int n;
  const ag_layout_row *q = ag_layout_rows(sys, AG_LAYOUT_COORDINATE, &n);
  for (int i = 0; i < n; i++)
    if (q[i].factor == AG_SPACE_S1 && x[q[i].at] != 0 && fabs(x[q[i].at]) < 1e-3) return true;
  return false;
}

double ag_scale_atol(const ag_system *sys, ag_work *w, const ag_run_options *o, const double *x, double *own) {
  int n, n_x = ag_system_dims(sys)->x, n_xi = ag_system_dims(sys)->xi;
  for (int i = 0; i < n_x; i++) own[i] = o->atol;
  if (o->absolute || o->dt > 0) return o->atol;
  (void)ag_layout_rows(sys, AG_LAYOUT_COORDINATE, &n);
  sizes s = {.kind = ag_heap_alloc(sizeof(int) * (size_t)(2 * n + 1)),
             .of = ag_heap_alloc(sizeof(double) * (size_t)(2 * n + 1))};
  collect(&s, sys, x, NULL);
  bool usual = s.n > 0;
  double atol = o->atol;
  for (int i = 0; i < s.n; i++) usual = usual && ordinary(s.of[i]);
  if (!usual || small_angle(sys, x)) {
    double *xidot = ag_heap_alloc(sizeof *xidot * (size_t)(n_xi + 1));
    bool known = ag_work_accel(w, o->t0, x, xidot, NULL) == AG_FINE;
    if (!usual) {
      collect(&s, sys, x, known ? xidot : NULL);
      if (!s.n) collect_pushes(&s, sys, w, o, x, xidot);
      atol = o->atol * factor(smallest(&s, sys));
      known = known && ag_work_accel(w, o->t0, x, xidot, NULL) == AG_FINE;
    }
    for (int i = 0; i < n_x; i++) own[i] = atol;
    if (known) small_ones(sys, w, o, x, xidot, atol, own);
    free(xidot);
  }
  free(s.kind);
  free(s.of);
  return atol;
}

void ag_scale_spread(const ag_system *sys, bool full, double atol, const double *own, int n, double *tolerance) {
  bool one = true;
  for (int i = 0; i < ag_system_dims(sys)->x; i++) one = one && own[i] == atol;
  for (int k = 0; k <= n; k++) {
    int at = one || k == n ? -1 : full ? k : ag_reduced_at(sys, k);
    tolerance[k] = fmax(at < 0 ? atol : own[at], DBL_MIN);
  }
}

int ag_scale_loose(const ag_system *sys, const ag_run_options *o, const double *own, const double *x, double *size) {
  static const double DIGITS = 0.01; /* such a value keeps two digits */
  const ag_model *m = ag_system_model(sys);
  int n;
  if (o->absolute || o->dt > 0) return 0;
  for (int i = 0; i < ag_model_n_starts(m); i++) {
    const ag_start *s = &ag_model_starts(m)[i];
    if (s->frame >= 0 || ag_model_coords(m)[s->coord].space != AG_SPACE_R) continue;
    const ag_layout_row *row = ag_layout_rows(sys, s->velocity ? AG_LAYOUT_VELOCITY : AG_LAYOUT_COORDINATE, &n) +
                               s->coord;
    *size = largest(row->n, x + row->at);
    if (*size > 0 && DIGITS * *size < own[row->at]) return i + 1;
  }
  return 0;
}
