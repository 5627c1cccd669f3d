/* SPDX-License-Identifier: MIT
 * The table of integrals c(r).w + f(r) of conserve_shape.c in numbers. Along a curve of configurations dq/dr = Y, Y the
 * shortest admissible velocity with r' = 1, the rates w' = r' (C w + k) at several velocities give C and k, and dc/dr =
 * -c C, df/dr = -c.k is integrated together with q: steps of order 5 of Dormand and Prince, rtol 1e-12. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/heap.h"
#include "math/dense.h"
#include "math/lie.h"
#include "study/conserve_internal.h"

enum { SAMPLES = 64, PLACES = 8, ROWS = 33, MOST_STEPS = 20000 };
static const double SAME = 1e-9, TOLERANCE = 1e-12, LARGE = 1e12;

typedef struct ag_tabulator {
  ag_system *sys;
  ag_work *work;
  ag_tape *tape; /* r, r', its slope in the velocities, w, w', independent rows of S, their s */
  bool lambda, homogeneous;
  int n, d, rank, n_q, n_velocity; /* velocities, integrals, rows, numbers of q, velocities that are tried */
  double *slots, *out, *x0, *x;    /* values of the tape; states */
  double *S, *N, *Y, *A, *inverse, *right, *xi;
} ag_tabulator;

/* ---- making it ---- */

static ag_id rate_of(ag_conserving *v, ag_id e) {
  const ag_geom *x = v->x;
  ag_id part[2], *by_coord = AG_NEWN(x->arena, ag_id, x->n_coord + 1);
  ag_geom_rate(x, e, &part[0], &part[1]);
  ag_id rate = ag_add(x->g, part[0], part[1]);
  for (int i = 0; i < x->n_coord; i++)
    by_coord[i] = ag_rows_of(x->g, v->acceleration, x->at[i], ag_node_rows(x->g, x->xi[i]));
  ag_substitute(x->g, x->n_coord, x->acc, by_coord, 1, &rate);
  return rate;
}

static void make_tape(ag_conserving *v, const ag_shape *s, ag_tabulator *a) {
  const ag_geom *x = v->x;
  ag_graph *g = x->g;
  const ag_probe *p = &v->probe;
  ag_id *outs = ag_heap_alloc(sizeof *outs * (size_t)(2 + a->n + 2 * a->d + a->rank * (a->n + 1)));
  int k = 0;
  outs[k++] = s->r;
  outs[k++] = rate_of(v, s->r);
  ag_id slope = ag_jacobian(g, outs[1], x->n_coord, x->xi);
  for (int j = 0; j < a->n; j++) outs[k++] = ag_entry(g, slope, 0, j);
  for (int i = 0; i < a->d; i++) outs[k++] = s->w[i];
  for (int i = 0; i < a->d; i++) outs[k++] = rate_of(v, s->w[i]);
  for (int i = 0; i < a->rank; i++)
    for (int j = 0; j < a->n; j++) outs[k++] = ag_entry(g, x->S, p->row[i], j);
  for (int i = 0; i < a->rank; i++) outs[k++] = ag_entry(g, x->s, p->row[i], 0);
  a->tape = ag_system_tape(v->sys, k, outs, &a->lambda);
  a->out = ag_heap_alloc(sizeof *a->out * (size_t)(k + 1));
  free(outs);
}

static double *numbers(int n) { return ag_heap_alloc(sizeof(double) * (size_t)(n + 1)); }

static ag_tabulator *create(ag_conserving *v, const ag_shape *s) {
  ag_tabulator *a = ag_heap_alloc(sizeof *a);
  const ag_dims *dims = ag_system_dims(v->sys);
  *a = (ag_tabulator){.sys = v->sys, .n = v->x->n, .d = s->n, .rank = v->probe.rank, .n_q = dims->q};
  a->homogeneous = s->homogeneous;
  a->n_velocity = 2 * (a->d + a->n) + 4;
  make_tape(v, s, a);
  a->work = ag_work_create(v->sys, ag_system_param_values(v->sys));
  a->slots = ag_heap_aligned(sizeof *a->slots * (size_t)(a->tape->n_slot + 1));
  (void)ag_tape_prep(a->tape, ag_system_param_values(v->sys), a->slots);
  a->x0 = numbers(dims->x), a->x = numbers(dims->x);
  a->S = numbers((a->rank + 1) * (a->n + 1)), a->N = numbers(a->n * a->n), a->Y = numbers(2 * a->n);
  a->A = numbers(a->n_velocity * (a->d + 1)), a->inverse = numbers((a->n_velocity + a->n) * (a->n + a->d + 2));
  a->right = numbers(a->n_velocity * a->d), a->xi = numbers(a->n);
  ag_system_state0(v->sys, a->x0);
  return a;
}

void ag_tabulator_free(ag_tabulator *a) {
  if (!a) return;
  ag_work_free(a->work);
  ag_tape_free(a->tape);
  double *all[] = {a->slots, a->out, a->x0, a->x, a->S, a->N, a->Y, a->A, a->inverse, a->right, a->xi};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i]);
  free(a);
}

/* ---- the equations ---- */

static bool look(ag_tabulator *a, const double *xi) {
  memcpy(a->x + a->n_q, xi, sizeof *xi * (size_t)a->n);
  return ag_work_eval(a->work, a->tape, a->lambda, ag_system_t0(a->sys), a->x, a->slots, a->out) == 0;
}

/* A number between -1 and 1, the same in every run. */
static double spread(int i, int j) {
  double x = sin(12.9898 * (i + 1) + 78.233 * (j + 1)) * 43758.5453;
  return 2 * (x - floor(x)) - 1;
}

/* At the configuration in a->x: Y, admissible velocities xi0 + N u, xi0 behind Y. False: r cannot be moved there. */
static bool directions(ag_tabulator *a) {
  int n = a->n, m = a->rank;
  memset(a->xi, 0, sizeof *a->xi * (size_t)n);
  if (!look(a, a->xi)) return false;
  const double *slope = a->out + 2, *S = slope + n + 2 * a->d, *s = S + m * n;
  memcpy(a->S, S, sizeof *S * (size_t)(m * n));
  memcpy(a->S + m * n, slope, sizeof *S * (size_t)n);
  ag_dense_pinv(m + 1, n, a->S, a->inverse);
  for (int j = 0; j < n; j++) a->Y[j] = a->inverse[j * (m + 1) + m];
  double moved = 0;
  for (int j = 0; j < n; j++) moved += slope[j] * a->Y[j];
  if (!(fabs(moved - 1) < 1e-6)) return false;
  if (m) ag_dense_pinv(m, n, a->S, a->inverse);
  for (int j = 0; j < n; j++) {
    a->Y[n + j] = 0;
    for (int i = 0; i < m; i++) a->Y[n + j] -= a->inverse[j * m + i] * s[i];
  }
  if (m) return ag_dense_null(m, n, a->S, SAME, a->N) == m;
  for (int j = 0; j < n * n; j++) a->N[j] = j / n == j % n;
  return true;
}

/* C and k, d x (d + 1), in CK. */
static bool equations(ag_tabulator *a, double *CK) {
  int n = a->n, d = a->d, free_ones = n - a->rank, wide = d + !a->homogeneous, m = a->n_velocity;
  if (!directions(a)) return false;
  for (int i = 0; i < m; i++) {
    for (int j = 0; j < n; j++) {
      a->xi[j] = a->Y[n + j];
      for (int l = 0; l < free_ones; l++) a->xi[j] += a->N[j * free_ones + l] * spread(i, l);
    }
    if (!look(a, a->xi)) return false;
    const double rate = a->out[1], *w = a->out + 2 + n;
    for (int j = 0; j < d; j++) a->A[i * wide + j] = rate * w[j], a->right[i * d + j] = w[d + j];
    if (wide > d) a->A[i * wide + d] = rate;
  }
  ag_dense_pinv(m, wide, a->A, a->inverse);
  for (int i = 0; i < d; i++)
    for (int j = 0; j <= d; j++) {
      double sum = 0;
      for (int l = 0; l < m && j < wide; l++) sum += a->inverse[j * m + l] * a->right[l * d + i];
      CK[i * (d + 1) + j] = sum;
      if (!isfinite(sum)) return false;
    }
  return true;
}

/* The numbers that are integrated: q, then of every integral c and f. */
static bool slope_of(ag_tabulator *a, const double *y, double *dy) {
  const ag_model *m = ag_system_model(a->sys);
  int d = a->d, wide = d + 1;
  double *CK = ag_heap_alloc(sizeof *CK * (size_t)(d * wide + 1));
  memcpy(a->x, y, sizeof *y * (size_t)a->n_q);
  bool good = equations(a, CK);
  const double *Y = a->Y, *c = y + a->n_q;
  double *to = dy;
  memset(dy, 0, sizeof *dy * (size_t)a->n_q);
  for (int i = 0; i < ag_model_n_coords(m) && good; i++) {
    int dim = ag_model_coords(m)[i].dim;
    bool rotation = ag_model_coords(m)[i].space == AG_SPACE_SO3;
    double turn[4] = {0, Y[0] / 2, rotation ? Y[1] / 2 : 0, rotation ? Y[2] / 2 : 0};
    if (rotation) ag_lie_quat_mul(y + (to - dy), turn, to);
    else memcpy(to, Y, sizeof *Y * (size_t)dim);
    to += rotation ? 4 : dim;
    Y += dim;
  }
  for (int i = 0; i < d && good; i++)
    for (int j = 0; j < wide; j++) {
      double sum = 0;
      for (int l = 0; l < d; l++) sum -= c[i * wide + l] * CK[l * wide + j];
      dy[a->n_q + i * wide + j] = sum;
    }
  free(CK);
  return good;
}

/* ---- steps ---- */

typedef struct path {
  ag_tabulator *a;
  int n;
  double r, h, *y, *stage[7], *next;
} path;

/* One step of size h from y to next; its error relative to the tolerance; negative: undefined. */
static double step(path *p, double h) {
  static const double A[7][6] = {{0},
                                 {1. / 5},
                                 {3. / 40, 9. / 40},
                                 {44. / 45, -56. / 15, 32. / 9},
                                 {19372. / 6561, -25360. / 2187, 64448. / 6561, -212. / 729},
                                 {9017. / 3168, -355. / 33, 46732. / 5247, 49. / 176, -5103. / 18656},
                                 {35. / 384, 0, 500. / 1113, 125. / 192, -2187. / 6784, 11. / 84}};
  static const double error[7] = {71. / 57600, 0, -71. / 16695, 71. / 1920, -17253. / 339200, 22. / 525, -1. / 40};
  double worst = 0;
  for (int k = 0; k < 7; k++) {
    for (int i = 0; i < p->n; i++) {
      double sum = 0;
      for (int l = 0; l < k; l++) sum += A[k][l] * p->stage[l][i];
      p->next[i] = p->y[i] + h * sum;
    }
    if (!slope_of(p->a, p->next, p->stage[k])) return -1;
  }
  for (int i = 0; i < p->n; i++) {
    double sum = 0;
    for (int k = 0; k < 7; k++) sum += error[k] * p->stage[k][i];
    worst = fmax(worst, fabs(h * sum) / (TOLERANCE * fmax(1, fabs(p->y[i]))));
    if (!(fabs(p->next[i]) < LARGE)) return -1;
  }
  return worst;
}

/* Goes on to r; false: the equations are singular before it. */
static bool go(path *p, double r) {
  for (int n = 0; p->r != r; n++) {
    bool last = fabs(r - p->r) <= fabs(p->h);
    double h = last ? r - p->r : copysign(p->h, r - p->r), worst = step(p, h);
    if (worst >= 0 && worst <= 1) {
      memcpy(p->y, p->next, sizeof *p->y * (size_t)p->n);
      p->r = last ? r : p->r + h;
    }
    if (n == MOST_STEPS || fabs(h) < 1e-9 * fmax(1e-3, fabs(r))) return p->r == r;
    if (last && worst >= 0 && worst <= 1) continue; /* a shortened step says nothing about the next */
    p->h = fabs(h) * (worst < 0 ? 0.2 : fmin(4, fmax(0.2, 0.9 * pow(fmax(worst, 1e-10), -0.2))));
  }
  return true;
}

static void begin(path *p, ag_tabulator *a, double r0) {
  int d = a->d;
  p->a = a, p->r = r0, p->h = 1e-2, p->n = a->n_q + d * (d + 1);
  memcpy(p->y, a->x0, sizeof *p->y * (size_t)a->n_q);
  for (int i = 0; i < d; i++)
    for (int j = 0; j <= d; j++) p->y[a->n_q + i * (d + 1) + j] = i == j;
}

int ag_shape_rows(const ag_shape *s, int n, const double *r, double *rows, int *first) {
  ag_tabulator *a = s->tabulator;
  int size = a->n_q + a->d * (a->d + 1), wide = 1 + a->d * (a->d + 1), from = 0, to;
  path p = {.y = numbers(9 * size)};
  for (int k = 0; k < 7; k++) p.stage[k] = p.y + (k + 1) * size;
  p.next = p.y + 8 * size;
  while (from < n && r[from] < s->r0) from++;
  *first = to = from;
  for (int up = 1; up >= 0; up--) {
    begin(&p, a, s->r0);
    for (int i = up ? from : from - 1; i >= 0 && i < n && go(&p, r[i]); i += up ? 1 : -1) {
      rows[i * wide] = r[i];
      memcpy(rows + i * wide + 1, p.y + a->n_q, sizeof *rows * (size_t)(wide - 1));
      if (up) to = i + 1;
      else *first = i;
    }
  }
  free(p.y);
  return to - *first;
}

/* ---- the table ---- */

/* The values of r in the domain of the model. */
static void range_of(ag_tabulator *a, double *lo, double *hi) {
  for (unsigned k = 0; k < SAMPLES; k++) {
    double t;
    if (ag_system_sample(a->sys, a->work, k, &t, a->x) != AG_OK ||
        ag_work_eval(a->work, a->tape, a->lambda, t, a->x, a->slots, a->out))
      continue;
    *lo = fmin(*lo, a->out[0]);
    *hi = fmax(*hi, a->out[0]);
  }
}

/* Do the velocities at one configuration determine C and k? Rows of S and slopes of w are independent. */
static bool determined(ag_conserving *v, const ag_shape *s) {
  const ag_geom *x = v->x;
  ag_graph *g = x->g;
  int n = 0;
  ag_id *list = ag_heap_alloc(sizeof *list * (size_t)(v->probe.rank + s->n + x->n + 1)),
        *row = list + v->probe.rank + s->n;
  for (int i = 0; i < v->probe.rank; i++) {
    for (int j = 0; j < x->n; j++) row[j] = ag_entry(g, x->S, v->probe.row[i], j);
    list[n++] = ag_stack(g, x->n, 1, row);
  }
  for (int i = 0; i < s->n; i++) list[n++] = ag_transpose(g, ag_jacobian(g, s->w[i], x->n_coord, x->xi));
  bool good = ag_conserve_generic_rank(v, n, list) == n;
  free(list);
  return good;
}

/* From the configuration in a->x0: r0 and the table between lo and hi. False: r is stationary there. */
static bool tabulate(ag_conserving *v, ag_shape *s) {
  ag_tabulator *a = s->tabulator;
  int wide = 1 + s->n * (s->n + 1), first;
  memcpy(a->x, a->x0, sizeof *a->x * (size_t)ag_system_dims(v->sys)->x);
  if (ag_work_eval(a->work, a->tape, a->lambda, ag_system_t0(v->sys), a->x, a->slots, a->out)) return false;
  double lo = a->out[0], hi = lo, r[ROWS];
  s->r0 = lo;
  range_of(a, &lo, &hi);
  for (int i = 0; i < ROWS; i++) r[i] = lo + (hi - lo) * i / (ROWS - 1);
  double *rows = AG_NEWN(v->c->arena, double, ROWS *wide);
  s->n_row = hi > lo ? ag_shape_rows(s, ROWS, r, rows, &first) : 0;
  s->rows = rows + (s->n_row ? first * wide : 0);
  return s->n_row > 1;
}

bool ag_table_open(ag_conserving *v, ag_shape *s) {
  if (!determined(v, s)) return false;
  ag_tabulator *a = s->tabulator = create(v, s);
  bool good = tabulate(v, s);
  for (unsigned k = 0; k < PLACES && !good; k++) { /* a body upright: the poles are singular */
    double t;
    good = ag_system_sample(v->sys, a->work, k, &t, a->x0) == AG_OK && tabulate(v, s);
  }
  if (good) return true;
  ag_tabulator_free(a);
  s->tabulator = NULL;
  return false;
}
