/* SPDX-License-Identifier: MIT
 * Growth of the distribution D = ker S under brackets, to depth 4. In quasi-velocities
 *   [X, Y] = D_X Y - D_Y X + ad_X Y,   ad_X Y = X x Y on each rotation.
 * Affine and time-dependent constraints are judged in the space of (q, t): the distribution is then spanned by the X_i
 * and by the drift xi0 + d/dt, and one dimension is added to everything. D + [D,D] is spanned by X_i and [X_i, X_j];
 * the next step by brackets of the X_k with those [X_i, X_j] that were new. When it stops growing at dimension r < n,
 * the n - r missing directions are holonomic constraints, written or in disguise. */
#include <math.h>
#include <string.h>

#include "math/dense.h"
#include "mech/mech_internal.h"

enum { MAX_FIELDS = 24, POINTS = 6, MAX_BRACKETS = 400 };
static const double TOL = 1e-7; /* distance from the span, rows of norm 1; brackets carry some 1e-12 of rounding */

typedef struct fields {
  int n, cap;
  ag_id **x; /* per field: one tensor per coordinate, and its component along t (a number) */
} fields;

static ag_id *push(derive *d, fields *f) {
  AG_PUSH(f->x, f->n, f->cap);
  ag_id *x = f->x[f->n++] = AG_NEWN(d->sys->arena, ag_id, d->nc + 1);
  x[d->nc] = ag_num(d->g, 0);
  return x;
}

static void bracket(derive *d, const ag_id *X, const ag_id *Y, ag_id *out) {
  ag_graph *g = d->g;
  ag_id *a = AG_NEWN(d->sys->arena, ag_id, d->nc), *b = AG_NEWN(d->sys->arena, ag_id, d->nc);
  ag_id *inputs = AG_NEWN(d->sys->arena, ag_id, d->nc + 1);
  memcpy(inputs, d->q, sizeof *inputs * (size_t)d->nc);
  inputs[d->nc] = d->m->t;
  ag_forward(g, d->nc + 1, inputs, X, d->nc, Y, a);
  ag_forward(g, d->nc + 1, inputs, Y, d->nc, X, b);
  for (int i = 0; i < d->nc; i++) {
    out[i] = ag_sub(g, a[i], b[i]);
    if (d->m->coords[i].space == AG_SPACE_SO3) out[i] = ag_add(g, out[i], ag_cross(g, X[i], Y[i]));
  }
}

/* The fields of D: derivative of xi(q, u, t) along each component of u. */
static void base_fields(derive *d, fields *f) {
  for (int k = 0; k < d->sys->n_u_input; k++) {
    ag_id u = d->sys->u_inputs[k];
    int dim = ag_node_rows(d->g, u);
    for (int j = 0; j < dim; j++) {
      ag_id *unit = AG_NEWN(d->sys->arena, ag_id, dim), seed;
      for (int r = 0; r < dim; r++) unit[r] = ag_num(d->g, r == j);
      seed = ag_stack(d->g, dim, 1, unit);
      ag_forward(d->g, 1, &u, &seed, d->nc, d->velocity, push(d, f));
    }
  }
}

/* Do the constraints have an affine part or depend on time? */
static bool needs_time(derive *d) {
  ag_id *zeros = AG_NEWN(d->sys->arena, ag_id, d->nc);
  for (int i = 0; i < d->nc; i++) zeros[i] = ag_zero(d->g, d->m->coords[i].dim, 1);
  for (int r = 0; r < d->sys->n.row; r++) {
    ag_id s = d->row_x[r];
    ag_substitute(d->g, d->nc, d->xi, zeros, 1, &s);
    if (!ag_is_zero(d->g, s) || ag_depends(d->g, 1, &d->row_x[r], 1, &d->m->t)) return true;
  }
  return false;
}

/* The drift xi0 + d/dt: xi(q, u, t) at u = 0. */
static void add_drift(derive *d, fields *f) {
  ag_id *x = push(d, f);
  memcpy(x, d->velocity, sizeof *x * (size_t)d->nc);
  for (int k = 0; k < d->sys->n_u_input; k++) {
    ag_id zero = ag_zero(d->g, ag_node_rows(d->g, d->sys->u_inputs[k]), 1);
    ag_substitute(d->g, 1, &d->sys->u_inputs[k], &zero, d->nc, x);
  }
  x[d->nc] = ag_num(d->g, 1);
}

/* Largest rank of fields[0..n) over the sample points; pivots of the point where it is attained. */
static int rank_of(derive *d, const fields *f, int *pivots) {
  ag_system *sys = d->sys;
  int n = f->n, best = 0, *here = ag_heap_alloc(sizeof(int) * (size_t)(n + 1));
  int width = d->nc + 1;
  ag_id *outs = ag_heap_alloc(sizeof *outs * (size_t)(n * width + 1));
  for (int i = 0; i < n; i++) memcpy(outs + i * width, f->x[i], sizeof(ag_id) * (size_t)width);
  ag_bind *binds = ag_heap_alloc(sizeof *binds * (size_t)(ag_bind_capacity(sys) + 2));
  int k = ag_bind_base(sys, binds);
  k += ag_bind_bases(sys, binds + k);
  ag_tape *tape = ag_tape_create(d->g, k, binds, n * width, outs);
  double *v = ag_heap_alloc(sizeof(double) * (size_t)(n * (sys->n.xi + 1) + 1)),
         *c = ag_heap_alloc(sizeof(double) * (size_t)(sys->n.c + 1));
  double *x = ag_heap_alloc(sizeof(double) * (size_t)(sys->n.x)),
         *z = ag_heap_alloc(sizeof(double) * (size_t)(sys->n.z + 1));
  ag_work *w = ag_work_create(sys, sys->params);
  for (int s = 0; s < d->n_sample && s < POINTS; s++) {
    const double *at = d->samples + ((size_t)sys->n.q + 1) * (size_t)s;
    memcpy(x, at + 1, sizeof(double) * (size_t)sys->n.q);
    if (ag_work_reduce(w, at[0], x, c, z)) continue;
    ag_tape_once(tape, at[0], x, sys->params, c, v);
    int r = ag_dense_rank(n, sys->n.xi + 1, v, TOL, here);
    if (r > best) best = r, memcpy(pivots, here, sizeof(int) * (size_t)n);
  }
  ag_work_free(w);
  ag_tape_free(tape);
  free(here);
  free(outs);
  free(binds);
  free(v);
  free(c);
  free(x);
  free(z);
  return best;
}

/* Relations between coordinates that are known besides the position-level rows: gaps of contacts and `relation`
 * statements. */
static int kept_relations(derive *d) {
  ag_system *sys = d->sys;
  int k = sys->n_relation, n = sys->n.xi;
  if (k == sys->n.g) return 0;
  double *x = ag_heap_alloc(sizeof(double) * (size_t)(sys->n.q + n));
  memcpy(x, sys->q0, sizeof(double) * (size_t)sys->n.q);
  double *v = ag_role_once(sys, AG_ROLE_RELATION, sys->t0, x, sys->params);
  int r = ag_dense_rank(k, n, v + sys->outputs[AG_OUT_RELATION_JACOBIAN].at, TOL, NULL) - sys->g_rank;
  free(x);
  free(v);
  return r > 0 ? r : 0;
}

void ag_growth_find(derive *d) {
  ag_system *sys = d->sys;
  ag_growth *found = &sys->growth;
  int known = sys->g_rank, extra = sys->n.lambda && needs_time(d);
  int m = sys->n.u + extra, n = sys->n.xi + extra;
  found->in_time = extra;
  found->dims[found->n++] = m;
  found->n_disguised = 0;
  if (m == n) return;
  found->n_disguised = -1;
  if (m == 0) found->n_disguised = n - known;
  if (m == 0 || m > MAX_FIELDS) return;
  fields f = {0};
  base_fields(d, &f);
  if (extra) add_drift(d, &f);
  int last, r = m, old = 0;
  do {
    /* brackets of D with the directions added in the last step (at first with D itself) */
    int fresh = f.n;
    for (int i = 0; i < m; i++)
      for (int j = old ? old : i + 1; j < fresh; j++) bracket(d, f.x[i], f.x[j], push(d, &f));
    int *pivots = ag_heap_alloc(sizeof(int) * (size_t)(f.n + 1));
    last = r;
    r = rank_of(d, &f, pivots);
    found->dims[found->n++] = r;
    for (int i = 0; i < r; i++) f.x[i] = f.x[pivots[i]]; /* ascending: D and the new directions are kept */
    f.n = r;
    old = last;
    free(pivots);
  } while (r > last && r < n && found->n < 4 && m * (r - last) <= MAX_BRACKETS);
  int relations = kept_relations(d); /* these directions are never reached */
  if (r == last || r == n - known - relations) found->n_disguised = n - r - known;
  if (found->n_disguised < relations) found->n_disguised = -1; /* the brackets claim too much: not reliable */
  free(f.x);
}
