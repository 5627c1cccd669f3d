/* SPDX-License-Identifier: MIT
 * Isolating zeros by enclosures, see isolate.h.
 *
 * A polynomial on a piece is kept by its Bernstein coefficients there: it lies between the least and the largest of
 * them, its rate between those of their differences, and halving the piece is de Casteljau's algorithm. The enclosure
 * of a function f over the piece [a, b] with midpoint m is the intersection of its direct evaluation with the mean
 * value form f(m) + f'([a, b]) [-(b - a)/2, (b - a)/2], whose excess shrinks with the square of the length. */
#include "run/isolate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/status.h"

enum { DEPTH = 44, ROW = AG_ISOLATE_DEGREE + 1 }; /* pieces down to 2^-DEPTH of the step */
enum { CROSSINGS = 20000 };                       /* those of a step that add to the work it may take */

/* One piece in progress. */
typedef struct piece {
  double from, to;
  double *b;  /* [component read][ROW]: Bernstein coefficients */
  bool *open; /* per function: not yet decided here */
} piece;

struct ag_isolate {
  ag_watcher *f, *own; /* own: f where it was made here */
  const ag_tape *tape; /* of the bounds of f */
  const double *c;
  int n, n_read, n_c, degree;
  int *read;   /* components of z that are read */
  bool *reads; /* per component of z */
  ag_enclosure *z, *out, *thin, *seg_c;
  double *width; /* per component read */
  piece stack[DEPTH + 2];
  ag_bracket **found;
  int *n_found, *cap_found;
  double t, h;
  int n_once; /* pieces found in which a function crosses zero at most once */
  bool tired; /* the work limit was reached */
};

/* ---- making ---- */

ag_isolate *ag_isolate_create(ag_watcher *f, int n, const double *c, int n_c) {
  const ag_tape *tape = ag_watcher_look(f);
  ag_isolate *s = ag_heap_alloc(sizeof *s);
  size_t n_out = (size_t)tape->n_out + 1;
  *s = (ag_isolate){.f = f, .tape = tape, .c = c, .n = n, .n_c = n_c};
  s->read = ag_heap_alloc(sizeof *s->read * (size_t)(n + 1));
  s->reads = ag_heap_alloc((size_t)n + 1);
  const ag_instr *x = tape->enclosed ? tape->enclosed : tape->instr; /* nothing else is enclosed */
  for (int i = 0; i < (tape->enclosed ? tape->n_enclosed : tape->n_instr); i++)
    if (x[i].op == AG_OP_LOAD && x[i].a == AG_SEG_Z) s->reads[x[i].b] = true;
  for (int i = 0; i < n; i++)
    if (s->reads[i]) s->read[s->n_read++] = i;
  s->z = ag_heap_alloc(sizeof *s->z * (size_t)(n + 1));
  s->seg_c = ag_heap_alloc(sizeof *s->seg_c * (size_t)(n_c + 1));
  s->out = ag_heap_alloc(sizeof *s->out * n_out);
  s->thin = ag_heap_alloc(sizeof *s->thin * n_out);
  s->width = ag_heap_alloc(sizeof(double) * (size_t)(s->n_read + 1));
  for (int i = 0; i < DEPTH + 2; i++) {
    s->stack[i].b = ag_heap_alloc(sizeof(double) * (size_t)(s->n_read * ROW + 1));
    s->stack[i].open = ag_heap_alloc(n_out);
  }
  s->found = ag_heap_alloc(sizeof *s->found * n_out);
  s->n_found = ag_heap_alloc(sizeof(int) * n_out);
  s->cap_found = ag_heap_alloc(sizeof(int) * n_out);
  return s;
}

ag_isolate *ag_isolate_of_tape(const ag_tape *tape, const double *params, bool compiles, int n, const double *c,
                               int n_c) {
  ag_watcher *f = ag_watcher_create(tape, params, compiles);
  ag_isolate *s = ag_isolate_create(f, n, c, n_c);
  s->own = f;
  return s;
}

void ag_isolate_prepare(ag_isolate *s, const double *params) {
  if (s && s->own) ag_watcher_prepare(s->own, params);
}

void ag_isolate_free(ag_isolate *s) {
  if (!s) return;
  ag_watcher_free(s->own);
  for (int i = 0; i < DEPTH + 2; i++) free(s->stack[i].b), free(s->stack[i].open);
  for (int e = 0; e < s->tape->n_out; e++) free(s->found[e]);
  void *all[] = {s->read, s->reads, s->z, s->seg_c, s->out, s->thin, s->width, s->found, s->n_found, s->cap_found};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i]);
  free(s);
}

/* ---- the curve ---- */

/* Bernstein coefficients of z + theta (r0 + (1 - theta) (r1 + ...)), from the innermost row outward:
 * theta B_i^m = (i + 1)/(m + 1) B_{i+1}^{m+1} and (1 - theta) B_i^m = (m + 1 - i)/(m + 1) B_i^{m+1}. */
static void bernstein(int degree, double z, const double *rows, int stride, double *b) {
  b[0] = rows[(degree - 1) * stride];
  for (int m = 0; m < degree; m++) { /* from degree m to m + 1 */
    if ((degree - 1 - m) % 2 == 0) { /* theta stands before even rows */
      for (int i = m; i >= 0; i--) b[i + 1] = b[i] * (i + 1) / (m + 1);
      b[0] = 0;
    } else {
      for (int i = 0; i <= m; i++) b[i] = b[i] * (m + 1 - i) / (m + 1);
      b[m + 1] = 0;
    }
    double add = m == degree - 1 ? z : rows[(degree - 2 - m) * stride];
    for (int i = 0; i <= m + 1; i++) b[i] += add;
  }
}

void ag_isolate_rows(int n, int degree, const double *z, const double *rows, double *b) {
  double w[ROW];
  for (int i = 0; i < n; i++) {
    bernstein(degree, z[i], rows + i, n, w);
    for (int k = 0; k <= degree; k++) b[k * n + i] = w[k];
  }
}

/* Newton's divided differences at theta_k = k/d, then z + (theta - theta_0) (c_1 + (theta - theta_1) (c_2 + ...)) in
 * Bernstein form, from the inside: (theta - theta_k) B_i^m = [(1 - theta_k) (i+1) B_{i+1} - theta_k (m+1-i) B_i] /
 * (m+1). */
static void interpolate(const double *v, double *b) {
  enum { D = AG_ISOLATE_DEGREE };
  double c[ROW];
  memcpy(c, v, sizeof c);
  for (int k = 1; k <= D; k++)
    for (int i = D; i >= k; i--) c[i] = (c[i] - c[i - 1]) * D / k;
  b[0] = c[D];
  for (int m = 0; m < D; m++) {
    double node = (double)(D - 1 - m) / D, carried = 0;
    for (int i = 0; i <= m; i++) {
      double up = (1 - node) * b[i] * (i + 1) / (m + 1), stay = -node * b[i] * (m + 1 - i) / (m + 1);
      b[i] = stay + carried;
      carried = up;
    }
    b[m + 1] = carried;
    for (int i = 0; i <= m + 1; i++) b[i] += c[D - 1 - m];
  }
}

void ag_isolate_nodes(int n, double *v) {
  double w[ROW], b[ROW];
  for (int i = 0; i < n; i++) {
    for (int k = 0; k < ROW; k++) w[k] = v[k * n + i];
    interpolate(w, b);
    for (int k = 0; k < ROW; k++) v[k * n + i] = b[k];
  }
}

static void halve(int degree, const double *b, double *left, double *right) {
  double w[ROW];
  memcpy(w, b, sizeof(double) * (size_t)(degree + 1));
  for (int k = 0; k <= degree; k++) {
    left[k] = w[0];
    right[degree - k] = w[degree - k];
    for (int i = 0; i < degree - k; i++) w[i] = 0.5 * (w[i] + w[i + 1]);
  }
}

/* The curve over a piece of length `length`; its rate is per unit of theta. */
static ag_enclosure range_of(int degree, const double *b, double length, double width) {
  double lo = b[0], hi = b[0], least = INFINITY, most = -INFINITY;
  for (int i = 0; i < degree; i++) {
    double d = b[i + 1] - b[i];
    least = least < d ? least : d, most = most > d ? most : d;
    lo = lo < b[i + 1] ? lo : b[i + 1], hi = hi > b[i + 1] ? hi : b[i + 1];
  }
  double rounding = 1e-15 * fmax(fabs(lo), fabs(hi)), scale = degree / length;
  return (ag_enclosure){lo - width - rounding, hi + width + rounding, scale * (least - 2 * rounding),
                        scale * (most + 2 * rounding)};
}

static double value_at_middle(int degree, const double *b) {
  double w[ROW];
  memcpy(w, b, sizeof(double) * (size_t)(degree + 1));
  for (int k = degree; k > 0; k--)
    for (int i = 0; i < k; i++) w[i] = 0.5 * (w[i] + w[i + 1]);
  return w[0];
}

/* ---- the functions ---- */

static void evaluate(ag_isolate *s, ag_enclosure t, ag_enclosure *out) {
  const ag_enclosure *seg[AG_SEG_COUNT] = {[AG_SEG_T] = &t, [AG_SEG_Z] = s->z, [AG_SEG_C] = s->seg_c};
  ag_watcher_bounds(s->f, seg, out);
}

static ag_enclosure time_range(const ag_isolate *s, double from, double to) {
  double a = s->t + from * s->h, b = s->t + to * s->h, rounding = 1e-15 * fmax(fabs(a), fabs(b));
  return (ag_enclosure){fmin(a, b) - rounding, fmax(a, b) + rounding, s->h, s->h};
}

/* Enclosures over the piece into s->out, sharpened by those at its middle, in s->thin. */
static void enclose(ag_isolate *s, const piece *p) {
  double length = p->to - p->from, middle = 0.5 * (p->from + p->to);
  for (int i = 0; i < s->n_read; i++) s->z[s->read[i]] = range_of(s->degree, p->b + i * ROW, length, s->width[i]);
  evaluate(s, time_range(s, p->from, p->to), s->out);
  bool needed = false;
  for (int e = 0; e < s->tape->n_out; e++) needed = needed || (p->open[e] && s->out[e].lo <= 0 && s->out[e].hi >= 0);
  if (!needed) return;
  for (int i = 0; i < s->n_read; i++) {
    double v = value_at_middle(s->degree, p->b + i * ROW), w = s->width[i] + 1e-15 * fabs(v);
    s->z[s->read[i]] = (ag_enclosure){v - w, v + w, 0, 0};
  }
  evaluate(s, time_range(s, middle, middle), s->thin);
  for (int e = 0; e < s->tape->n_out; e++) {
    ag_enclosure *o = &s->out[e];
    double reach = 0.5 * length * fmax(fabs(o->rate_lo), fabs(o->rate_hi));
    o->lo = fmax(o->lo, s->thin[e].lo - reach);
    o->hi = fmin(o->hi, s->thin[e].hi + reach);
  }
}

static void add_bracket(ag_isolate *s, int e, double from, double to, bool doubt) {
  ag_bracket *last = s->n_found[e] ? &s->found[e][s->n_found[e] - 1] : NULL;
  if (doubt && last && last->doubt && last->to == from) { /* neighbours in doubt are one */
    last->to = to;
    return;
  }
  AG_PUSH(s->found[e], s->n_found[e], s->cap_found[e]);
  s->found[e][s->n_found[e]++] = (ag_bracket){from, to, doubt};
}

/* Evaluates the enclosures of the piece for each function that is open there. True: some are still open. */
static bool decide(ag_isolate *s, piece *p, bool last) {
  bool open = false;
  for (int e = 0; e < s->tape->n_out; e++) {
    if (!p->open[e]) continue;
    const ag_enclosure *o = &s->out[e], *thin = &s->thin[e];
    bool zero = o->lo <= 0 && o->hi >= 0, monotone = o->rate_lo > 0 || o->rate_hi < 0;
    /* the rest is due to the width of the curve: halving does not help */
    bool blurred = zero && !monotone && thin->lo <= 0 && thin->hi >= 0 && o->hi - o->lo <= 3 * (thin->hi - thin->lo);
    if (zero && !monotone && !blurred && !last) {
      open = true;
      continue;
    }
    p->open[e] = false;
    s->n_once += zero && monotone && s->n_once < CROSSINGS;
    if (zero) add_bracket(s, e, p->from, p->to, !monotone);
  }
  return open;
}

bool ag_isolate_step(ag_isolate *s, double t, double h, int degree, const double *b, const double *width,
                     const bool *skip, int max_work, int more) {
  AG_ASSERT(degree > 0 && degree <= AG_ISOLATE_DEGREE);
  piece *root = &s->stack[0];
  s->t = t, s->h = h, s->degree = degree;
  for (int i = 0; i < s->n_c; i++) s->seg_c[i] = (ag_enclosure){s->c[i], s->c[i], 0, 0};
  for (int i = 0; i < s->n_read; i++) {
    for (int k = 0; k <= degree; k++) root->b[i * ROW + k] = b[k * s->n + s->read[i]];
    s->width[i] = width[s->read[i]];
  }
  root->from = 0, root->to = 1;
  s->n_once = 0;
  for (int e = 0; e < s->tape->n_out; e++) root->open[e] = !(skip && skip[e]), s->n_found[e] = 0;
  /* depth first, the left half on top: brackets come in order of theta */
  for (int top = 0, work = 0; top >= 0; work++) {
    piece *p = &s->stack[top];
    enclose(s, p);
    s->tired = work >= max_work + more * s->n_once;
    bool last = s->tired || p->to - p->from <= ldexp(1, -DEPTH); /* the stack is deep enough for such a length */
    if (!decide(s, p, last)) {
      top--;
      continue;
    }
    piece *left = &s->stack[top + 1];
    for (int i = 0; i < s->n_read; i++) {
      double whole[ROW];
      memcpy(whole, p->b + i * ROW, sizeof whole);
      halve(degree, whole, left->b + i * ROW, p->b + i * ROW);
    }
    memcpy(left->open, p->open, (size_t)s->tape->n_out);
    left->from = p->from;
    p->from = left->to = 0.5 * (p->from + p->to);
    top++;
  }
  bool sure = true;
  for (int e = 0; e < s->tape->n_out; e++)
    for (int k = 0; k < s->n_found[e]; k++) sure = sure && !s->found[e][k].doubt;
  return sure;
}

const ag_bracket *ag_isolate_found(const ag_isolate *s, int e, int *n) {
  *n = s->n_found[e];
  return s->found[e];
}

const bool *ag_isolate_reads(const ag_isolate *s) { return s->reads; }

bool ag_isolate_tired(const ag_isolate *s) { return s->tired; }
