/* SPDX-License-Identifier: MIT
 * Derivatives along a direction. Each expression f(t, q, xi, p) becomes the expression
 *   f' = f_t t' + Df q' + f_xi xi' + f_p p'
 * with the rates as new inputs (q' in the tangent: a rotation moves by R' = R hat(q')). The multipliers are replaced by
 * their expression, the solution of [M -S^T; S 0] [xi'; lambda] = [-ell; -kappa], so that their derivative is exact,
 * too. Where only some combinations W S of the rows are independent, lambda = W^T mu with mu the multipliers of W S,
 * and W, chosen at the state, stays as it is: forces that the rows do determine do not depend on it. */
#include <string.h>

#include "math/dense.h"
#include "mech/mech_internal.h"

struct ag_along {
  ag_system *sys;
  ag_tape *tape; /* on z = [q | xi | q' | xi' | t' | p' | W] */
  ag_id W;       /* the input, or 0 */
  double *z, *slots;
};

static int rates_at(const ag_system *sys) { return sys->n.x; }

static int W_at(const ag_system *sys) { return rates_at(sys) + 2 * sys->n.xi + 1 + sys->n.param; }

/* [M -S^T; S 0], r rows of S. */
static ag_id saddle_matrix(ag_graph *g, int n, int r, ag_id M, ag_id S) {
  int all = n + r;
  ag_id *K = ag_heap_alloc(sizeof *K * (size_t)(all * all)), zero = ag_num(g, 0), out;
  for (int i = 0; i < all; i++)
    for (int j = 0; j < all; j++)
      K[i * all + j] = i < n && j < n ? ag_entry(g, M, i, j)
                       : i < n        ? ag_neg(g, ag_entry(g, S, j - n, i))
                       : j < n        ? ag_entry(g, S, i - n, j)
                                      : zero;
  out = ag_stack(g, all, all, K);
  free(K);
  return out;
}

/* The multipliers as an expression of the full state. */
static ag_id multipliers(ag_along *a) {
  ag_system *sys = a->sys;
  ag_graph *g = sys->model->graph;
  if (sys->elimination == AG_ELIM_SADDLE) return sys->made[AG_ROLE_ACCEL][1];
  const ag_id *made = sys->made[AG_ROLE_SADDLE];
  ag_id M = made[0], S = made[1], kappa = made[3];
  int n = sys->n.xi, r = sys->n.rank;
  if (r < sys->n.lambda) {
    a->W = ag_input(g, "W", r, sys->n.lambda, AG_LEAF_REAL);
    S = ag_mul(g, a->W, S);
    kappa = ag_mul(g, a->W, kappa);
  }
  ag_id low[2] = {ag_neg(g, made[2]), ag_neg(g, kappa)};
  ag_id K = saddle_matrix(g, n, r, M, S), right = ag_concat(g, 2, low), x = ag_solve(g, K, right, AG_SOLVE_GENERAL);
  ag_id mu = ag_rows_of(g, x, n, r);
  return a->W ? ag_mul(g, ag_transpose(g, a->W), mu) : mu;
}

/* The inputs that move, their rates, and where the tape finds these. */
typedef struct moving {
  int n;
  ag_id *inputs, *rates;
  ag_bind *binds; /* of the rates */
} moving;

static void move(moving *v, ag_graph *g, ag_id input, int at) {
  bool turns = ag_is_rotation(g, input);
  v->inputs[v->n] = input;
  v->rates[v->n] =
      ag_input(g, "rate", turns ? 3 : ag_node_rows(g, input), turns ? 1 : ag_node_cols(g, input), AG_LEAF_REAL);
  v->binds[v->n] = (ag_bind){v->rates[v->n], AG_SEG_Z, at};
  v->n++;
}

static moving all_moving(const ag_system *sys) {
  const ag_model *m = sys->model;
  size_t room = (size_t)(2 * m->n_coords + m->n_params + 1);
  moving v = {0, ag_heap_alloc(sizeof(ag_id) * room), ag_heap_alloc(sizeof(ag_id) * room),
              ag_heap_alloc(sizeof(ag_bind) * room)};
  int at = rates_at(sys);
  for (int i = 0; i < m->n_coords; i++) {
    move(&v, m->graph, m->coords[i].q, at + sys->coords[i].tangent);
    move(&v, m->graph, m->coords[i].xi, at + sys->n.xi + sys->coords[i].tangent);
  }
  at += 2 * sys->n.xi;
  move(&v, m->graph, m->t, at++);
  for (int i = 0; i < m->n_params; i++)
    if (sys->param_rows[i].at >= 0) move(&v, m->graph, m->params[i].input, at + sys->param_rows[i].at);
  return v;
}

ag_along *ag_along_create(ag_system *sys, int n_out, const ag_id *outs) {
  ag_model *m = sys->model;
  ag_along *a = ag_heap_alloc(sizeof *a);
  a->sys = sys;
  ag_id *x = ag_heap_alloc(sizeof *x * (size_t)(n_out + 1)), *dx = ag_heap_alloc(sizeof *dx * (size_t)(n_out + 1));
  memcpy(x, outs, sizeof *x * (size_t)n_out);
  ag_expand_builtins(sys, n_out, x);
  if (m->lambda && ag_depends(m->graph, n_out, x, 1, &m->lambda)) {
    ag_id lambda = multipliers(a);
    ag_substitute(m->graph, 1, &m->lambda, &lambda, n_out, x);
  }
  moving v = all_moving(sys);
  ag_forward(m->graph, v.n, v.inputs, v.rates, n_out, x, dx);
  ag_bind *binds = ag_heap_alloc(sizeof *binds * (size_t)(ag_bind_capacity(sys) + v.n + 1));
  int n = ag_bind_full(sys, binds);
  memcpy(binds + n, v.binds, sizeof *binds * (size_t)v.n);
  n += v.n;
  if (a->W) binds[n++] = (ag_bind){a->W, AG_SEG_Z, W_at(sys)};
  a->tape = ag_tape_create(m->graph, n, binds, n_out, dx);
  a->z = ag_heap_alloc(sizeof(double) * (size_t)(W_at(sys) + sys->n.rank * sys->n.lambda + 1));
  a->slots = ag_heap_aligned(sizeof(double) * (size_t)(a->tape->n_slot + 1));
  void *all[] = {x, dx, v.inputs, v.rates, v.binds, binds};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i]);
  return a;
}

void ag_along_free(ag_along *a) {
  if (!a) return;
  ag_tape_free(a->tape);
  free(a->z);
  free(a->slots);
  free(a);
}

static void put(double *to, int n, const double *rates) {
  if (rates) memcpy(to, rates, sizeof *to * (size_t)n);
  else memset(to, 0, sizeof *to * (size_t)n);
}

int ag_along_eval(ag_along *a, double t, const double *x, const double *params, const ag_direction *d, double *out) {
  const ag_system *sys = a->sys;
  int n = sys->n.xi;
  double *rates = a->z + rates_at(sys);
  memcpy(a->z, x, sizeof(double) * (size_t)rates_at(sys));
  put(rates, n, d->q);
  put(rates + n, n, d->xi);
  rates[2 * n] = d->t;
  put(rates + 2 * n + 1, sys->n.param, d->params);
  if (a->W) {
    double *v = ag_role_once(sys, AG_ROLE_SADDLE, t, x, params);
    (void)ag_dense_range(sys->n.lambda, n, v + sys->outputs[AG_OUT_SADDLE_S].at, sys->n.rank, a->z + W_at(sys));
    free(v);
  }
  const double *seg[AG_SEG_COUNT] = {[AG_SEG_T] = &t, [AG_SEG_Z] = a->z, [AG_SEG_P] = params};
  int fail = ag_tape_prep(a->tape, params, a->slots), later = ag_tape_eval(a->tape, seg, a->slots, out);
  return fail ? fail : later;
}
