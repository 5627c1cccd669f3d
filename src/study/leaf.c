/* SPDX-License-Identifier: MIT
 * Points of the field that obey the relations between the coordinates: by one Newton step where the relations are
 * linear in some of them, else one by one, each solved for its own number, of degree 2 at most, or for an angle.
 * With h = tan(angle/2) a relation in its cosine and sine is a polynomial in h over (1 + h^2)^d; all its zeros in the
 * field are found. A relation with a root is squared first, and gives the root. */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "study/probe.h"

enum { MAX_HALF_DEGREE = 4 };

/* ---- roots ---- */

static bool is_root(ag_op op) { return op == AG_OP_SQRT || op == AG_OP_NORM || op == AG_OP_HYPOT; }

/* Its radicand. */
static ag_id square_of(ag_graph *g, ag_id root) {
  ag_id a = ag_node_arg(g, root, 0);
  if (ag_node_op(g, root) == AG_OP_SQRT) return a;
  if (ag_node_op(g, root) == AG_OP_HYPOT) {
    ag_id b = ag_node_arg(g, root, 1), aa = ag_mul(g, a, a), bb = ag_mul(g, b, b);
    return ag_add(g, aa, bb);
  }
  ag_id column = ag_node_cols(g, a) == 1 ? a : ag_transpose(g, a);
  return ag_dot(g, column, column);
}

/* The roots in e, the outermost first; at most room. */
static int roots_in(const ag_graph *g, ag_id e, int room, ag_id *roots) {
  int n = 0;
  bool *used = ag_heap_alloc(sizeof *used * ((size_t)e + 1)); /* arguments are older than what is made of them */
  used[e] = true;
  for (ag_id y = e; y > 0; y--) {
    if (!used[y]) continue;
    if (n < room && is_root(ag_node_op(g, y))) roots[n++] = y;
    for (int k = 0; k < ag_node_n_arg(g, y); k++) used[ag_node_arg(g, y, k)] = true;
  }
  free(used);
  return n;
}

/* Is there a coordinate, no angle, in which e has no root? It is solved for that one. */
static bool plain_in_some(const ag_geom *x, ag_id e, int n, const ag_id *roots) {
  for (int i = 0; i < x->n_coord; i++) {
    ag_space space = ag_model_coords(x->model)[i].space;
    if (space == AG_SPACE_SO3 || space == AG_SPACE_S1 || !ag_depends(x->g, 1, &e, 1, &x->q[i])) continue;
    if (!ag_depends(x->g, n, roots, 1, &x->q[i])) return true;
  }
  return false;
}

/* e = a + b root with a and b free of it: a^2 - b^2 root^2, and root = -a/b. */
static bool squared(ag_probe *p, ag_id root, ag_id *e) {
  ag_graph *g = p->x->g;
  ag_id symbol = ag_input(g, "root", 1, 1, AG_LEAF_REAL), one = ag_num(g, 1), zero = ag_num(g, 0), a = *e, b;
  ag_substitute(g, 1, &root, &symbol, 1, &a);
  ag_forward(g, 1, &symbol, &one, 1, &a, &b);
  if (ag_depends(g, 1, &b, 1, &symbol) || ag_is_zero(g, b)) return false;
  ag_substitute(g, 1, &symbol, &zero, 1, &a);
  ag_id aa = ag_mul(g, a, a), bb = ag_mul(g, b, b), square = square_of(g, root);
  bb = ag_mul(g, bb, square);
  p->known[p->n_known] = root;
  p->known_as[p->n_known++] = ag_neg(g, ag_div(g, a, b));
  *e = ag_sub(g, aa, bb);
  return true;
}

void ag_probe_clear_roots(ag_probe *p, ag_id *relate) {
  const ag_geom *x = p->x;
  int n = x->n_relate;
  ag_id *e = ag_heap_alloc(sizeof *e * (size_t)(n + 1)), roots[AG_MAX_KNOWN];
  for (int i = 0; i < n; i++) {
    e[i] = ag_entry(x->g, *relate, i, 0);
    int n_root = roots_in(x->g, e[i], AG_MAX_KNOWN, roots);
    if (!n_root || plain_in_some(x, e[i], n_root, roots)) continue;
    for (int k = 0; k < n_root && p->n_known < AG_MAX_KNOWN; k++)
      if (squared(p, roots[k], &e[i])) break;
  }
  if (p->n_known) *relate = ag_stack(x->g, n, 1, e);
  free(e);
}

/* ---- points ---- */

/* Which number of q velocity j moves, or -1: a rotation, or one that is held. */
static int moved_by(const ag_probe *p, int j) {
  for (int i = 0; i < p->x->n_coord; i++) {
    int k = j - p->x->at[i], n = ag_node_rows(p->x->g, p->x->xi[i]);
    if (k < 0 || k >= n) continue;
    if (ag_model_coords(p->x->model)[i].space == AG_SPACE_SO3) return -1;
    return p->fixed && p->fixed[p->q_at[i] + k] ? -1 : p->q_at[i] + k;
  }
  return -1;
}

/* The residuals g[m] and the Jacobian behind them. */
static ag_field_status relations(const ag_probe *p, ag_field *f, const uint64_t *in, uint64_t *g) {
  return ag_field_eval(p->relate, f, in, g);
}

static bool all_zero(int n, const uint64_t *g) {
  for (int i = 0; i < n; i++)
    if (g[i]) return false;
  return true;
}

/* One Newton step in velocities that are no rotations: exact where the relations are linear in those coordinates. */
static bool linear_step(ag_probe *p, const ag_field *f, uint64_t *in, const uint64_t *g) {
  int m = p->x->n_relate, n = p->x->n, n_free = 0, *free_col = ag_heap_alloc(sizeof *free_col * (size_t)(2 * n + 1));
  int *pivots = free_col + n;
  for (int j = n - 1; j >= 0; j--) /* the last first: heights, and what was added later */
    if (moved_by(p, j) >= 0) free_col[n_free++] = j;
  uint64_t *A = ag_heap_alloc(sizeof *A * (size_t)(m * (n_free + 1) + 1));
  for (int i = 0; i < m; i++) {
    for (int k = 0; k < n_free; k++) A[i * (n_free + 1) + k] = g[m + i * n + free_col[k]];
    A[i * (n_free + 1) + n_free] = g[i];
  }
  int rank = ag_field_echelon(f, m, n_free + 1, A, pivots);
  bool good = rank == 0 || pivots[rank - 1] < n_free;
  p->n_relate_col = good ? rank : 0;
  for (int r = 0; r < rank && good; r++) {
    uint64_t *q = in + p->at[AG_PROBE_Q] + moved_by(p, free_col[pivots[r]]);
    *q = ag_field_sub(f, *q, A[r * (n_free + 1) + n_free]);
    p->relate_col[r] = free_col[pivots[r]];
  }
  free(A);
  free(free_col);
  return good;
}

/* Solves relation r, of degree 2 in one number of q, for that number. */
static ag_field_status quadratic_step(const ag_probe *p, ag_field *f, uint64_t *in, uint64_t *g, int r, int j) {
  uint64_t *q = in + p->at[AG_PROBE_Q] + moved_by(p, j), v[4], half = (f->p + 1) / 2;
  static const int at[] = {0, 1, -1, 2};
  for (int k = 0; k < 4; k++) {
    *q = ag_field_whole(f, at[k]);
    ag_field_status status = relations(p, f, in, g);
    if (status != AG_FIELD_OK) return status;
    v[k] = g[r];
  }
  uint64_t a = ag_field_sub(f, ag_field_mul(f, ag_field_add(f, v[1], v[2]), half), v[0]);
  uint64_t b = ag_field_mul(f, ag_field_sub(f, v[1], v[2]), half), root;
  uint64_t there = ag_field_add(f, ag_field_mul(f, 4, a), ag_field_add(f, ag_field_add(f, b, b), v[0]));
  if (there != v[3] || (!a && !b)) return AG_FIELD_OPAQUE;
  if (!a) {
    *q = ag_field_sub(f, 0, ag_field_mul(f, v[0], ag_field_invert(f, b)));
    return AG_FIELD_OK;
  }
  uint64_t square = ag_field_sub(f, ag_field_mul(f, b, b), ag_field_mul(f, 4, ag_field_mul(f, a, v[0])));
  if (!ag_field_root(f, square, &root)) return AG_FIELD_RETRY;
  *q = ag_field_mul(f, ag_field_sub(f, root, b), ag_field_invert(f, ag_field_add(f, a, a)));
  return AG_FIELD_OK;
}

/* Residual r times (1 + h^2)^d with the angle that has the half-angle tangent h. */
static ag_field_status at_half(const ag_probe *p, ag_field *f, const uint64_t *in, uint64_t *g, int r, uint64_t h,
                               uint64_t *out) {
  ag_field here = *f;
  ag_field_turn(&here, h);
  ag_field_status status = relations(p, &here, in, g);
  *out = g[r];
  return status;
}

/* The polynomial of degree 2d through the values at h = 1, 2, ...: Newton's form, then powers. */
static void interpolate(const ag_field *f, int n, const uint64_t *v, uint64_t *c) {
  uint64_t slope[2 * MAX_HALF_DEGREE + 2];
  memcpy(slope, v, sizeof *v * (size_t)n);
  for (int k = 1; k < n; k++)
    for (int i = n - 1; i >= k; i--)
      slope[i] = ag_field_mul(f, ag_field_sub(f, slope[i], slope[i - 1]), ag_field_invert(f, (uint64_t)k));
  memset(c, 0, sizeof *c * (size_t)n);
  for (int k = n - 1; k >= 0; k--) { /* c = c (h - (k + 1)) + slope */
    for (int i = n - 1; i > 0; i--) c[i] = ag_field_sub(f, c[i - 1], ag_field_mul(f, c[i], (uint64_t)(k + 1)));
    c[0] = ag_field_sub(f, slope[k], ag_field_mul(f, c[0], (uint64_t)(k + 1)));
  }
}

static uint64_t value_at(const ag_field *f, int n, const uint64_t *c, uint64_t h) {
  uint64_t y = 0;
  for (int i = n - 1; i >= 0; i--) y = ag_field_add(f, ag_field_mul(f, y, h), c[i]);
  return y;
}

/* Relation r as a polynomial in h: its degree; -1: it is none. */
static int in_half_angle(const ag_probe *p, ag_field *f, const uint64_t *in, uint64_t *g, int r, uint64_t *c) {
  enum { MOST = 2 * MAX_HALF_DEGREE + 3 };
  uint64_t plain[MOST], v[MOST], checked;
  for (int k = 0; k < MOST; k++)
    if (at_half(p, f, in, g, r, (uint64_t)(k + 1), &plain[k]) != AG_FIELD_OK) return -1;
  memcpy(v, plain, sizeof v);
  for (int d = 0; d <= MAX_HALF_DEGREE; d++) {
    int n = 2 * d + 1, degree = n - 1;
    interpolate(f, n, v, c);
    checked = 0;
    for (int k = n; k < MOST; k++) checked |= value_at(f, n, c, (uint64_t)(k + 1)) ^ v[k];
    while (degree > 0 && !c[degree]) degree--;
    if (!checked) return degree;
    for (int k = 0; k < MOST; k++) v[k] = ag_field_mul(f, v[k], ag_field_whole(f, 1 + (int64_t)(k + 1) * (k + 1)));
  }
  return -1;
}

/* Solves relation r for an angle: one of its values in the field. */
static ag_field_status angle_step(const ag_probe *p, ag_field *f, uint64_t *in, uint64_t *g, int r, int j) {
  uint64_t c[2 * MAX_HALF_DEGREE + 1], roots[2 * MAX_HALF_DEGREE + 1];
  if (!p->flint || !ag_field_hold(f, in[p->at[AG_PROBE_Q] + moved_by(p, j)])) return AG_FIELD_OPAQUE;
  int degree = in_half_angle(p, f, in, g, r, c);
  if (degree < 1) return AG_FIELD_OPAQUE;
  int n = ag_flint_roots(p->flint, f->p, degree, c, roots), k = n ? ag_field_pick(f, n) : 0;
  if (!n || (n < degree && !p->any_root)) return AG_FIELD_RETRY;
  if (k < 0) return AG_FIELD_SINGULAR;
  ag_field_turn(f, roots[k]);
  return AG_FIELD_OK;
}

static bool is_angle(const ag_probe *p, int j) {
  int i = p->x->n_coord - 1;
  while (p->x->at[i] > j) i--;
  return ag_model_coords(p->x->model)[i].space == AG_SPACE_S1;
}

/* Relation by relation, each for a number of q of its own; by cosines and sines last. */
static ag_field_status one_by_one(ag_probe *p, ag_field *f, uint64_t *in, uint64_t *g) {
  int m = p->x->n_relate, n = p->x->n;
  bool *taken = ag_heap_alloc((size_t)n + 1);
  ag_field_status status = AG_FIELD_OK;
  p->n_relate_col = 0;
  for (int r = 0; r < m && status == AG_FIELD_OK; r++) {
    status = relations(p, f, in, g);
    if (status != AG_FIELD_OK || !g[r]) continue;
    status = AG_FIELD_OPAQUE;
    for (int i = 2 * n; i >= 0 && status == AG_FIELD_OPAQUE; i--) {
      int l = i < 2 * n ? i : r < AG_MAX_KNOWN ? p->last[r] - 1 : -1; /* first what worked before */
      if (l < 0) continue;
      int j = l % n;
      if (taken[j] || moved_by(p, j) < 0 || (l < n && !is_angle(p, j))) continue;
      if (relations(p, f, in, g) != AG_FIELD_OK || !g[m + r * n + j]) continue;
      const ag_field before = *f;
      uint64_t old = in[p->at[AG_PROBE_Q] + moved_by(p, j)];
      status = (l < n ? angle_step : quadratic_step)(p, f, in, g, r, j);
      if (status == AG_FIELD_OK && r < AG_MAX_KNOWN) p->last[r] = l + 1;
      if (status == AG_FIELD_OK) taken[j] = true, p->relate_col[p->n_relate_col++] = j;
      else in[p->at[AG_PROBE_Q] + moved_by(p, j)] = old;
      if (status == AG_FIELD_OPAQUE) *f = before;
    }
  }
  free(taken);
  return status;
}

ag_field_status ag_probe_leaf(ag_probe *p, ag_field *f, uint64_t *in) {
  int m = p->x->n_relate;
  if (!m) return AG_FIELD_OK;
  uint64_t *g = ag_heap_alloc(sizeof *g * (size_t)(m * (p->x->n + 1))),
           *start = ag_heap_alloc(sizeof *g * (size_t)(p->at[AG_PROBE_GROUPS] + 1));
  memcpy(start, in, sizeof *in * (size_t)p->at[AG_PROBE_GROUPS]);
  ag_field_status status = relations(p, f, in, g);
  if (status == AG_FIELD_OK && !all_zero(m, g)) {
    bool good = linear_step(p, f, in, g);
    status = good ? relations(p, f, in, g) : AG_FIELD_OK;
    if (status == AG_FIELD_OK && (!good || !all_zero(m, g))) {
      memcpy(in, start, sizeof *in * (size_t)p->at[AG_PROBE_GROUPS]);
      status = one_by_one(p, f, in, g);
      if (status == AG_FIELD_OK) status = relations(p, f, in, g);
      if (status == AG_FIELD_OK && !all_zero(m, g)) status = AG_FIELD_OPAQUE;
    }
  }
  free(start);
  free(g);
  return status;
}
