/* SPDX-License-Identifier: MIT
 * Forward differentiation on tensors. Rotations move as dR = R hat(w): the tangent of R a is R (w x a), that of R^T c
 * is (R^T c) x w; nothing is written out in entries. */
#include "expr/diff_internal.h"

static ag_id arg(const ag_graph *g, ag_id x, int i) { return ag_node_arg(g, x, i); }

static ag_id plus(ag_graph *g, ag_id a, ag_id b) { return !a ? b : !b ? a : ag_add(g, a, b); }

/* Tangent of x as a tensor of its shape; 0 when there is none. */
static ag_id tensor(ag_forward_work *w, ag_id x) {
  ag_graph *g = w->sweep.g;
  switch (w->kind[x]) {
  case AG_TAN_TENSOR: return w->t[x];
  case AG_TAN_RIGHT: return ag_mul(g, x, ag_hat(g, w->t[x]));
  case AG_TAN_LEFT: return ag_mul(g, ag_hat(g, w->t[x]), x);
  default: return 0;
  }
}

static ag_id tensor_or_zero(ag_forward_work *w, ag_id x) {
  ag_id t = tensor(w, x);
  return t ? t : ag_zero(w->sweep.g, ag_node_rows(w->sweep.g, x), ag_node_cols(w->sweep.g, x));
}

static void set(ag_forward_work *w, ag_id x, ag_tangent kind, ag_id t) {
  if (!t || ag_is_zero(w->sweep.g, t)) return;
  w->kind[x] = (unsigned char)kind;
  w->t[x] = t;
}

/* A B with A and B rotations of which one or both turn: again one vector. */
static bool rotation_product(ag_forward_work *w, ag_id x, ag_id A, ag_id B) {
  ag_graph *g = w->sweep.g;
  int ka = w->kind[A], kb = w->kind[B];
  if (ka == AG_TAN_TENSOR || kb == AG_TAN_TENSOR) return false;
  if (ka == AG_TAN_LEFT && kb == AG_TAN_NONE) return set(w, x, AG_TAN_LEFT, w->t[A]), true;
  if (ka == AG_TAN_NONE && kb == AG_TAN_RIGHT) return set(w, x, AG_TAN_RIGHT, w->t[B]), true;
  if (ka == AG_TAN_NONE && kb == AG_TAN_LEFT) return set(w, x, AG_TAN_LEFT, ag_mul(g, A, w->t[B])), true;
  if (ka != AG_TAN_RIGHT) return false;
  if (kb == AG_TAN_LEFT) { /* A hat(a) B + A hat(b) B = hat(A (a + b)) A B */
    ag_id s = ag_add(g, w->t[A], w->t[B]);
    return set(w, x, AG_TAN_LEFT, ag_mul(g, A, s)), true;
  }
  ag_id s = ag_mul(g, ag_transpose(g, B), w->t[A]); /* A hat(a) B = A B hat(B^T a) */
  return set(w, x, AG_TAN_RIGHT, plus(g, s, kb ? w->t[B] : 0)), true;
}

static void product(ag_forward_work *w, ag_id x) {
  ag_graph *g = w->sweep.g;
  ag_id A = arg(g, x, 0), B = arg(g, x, 1), t = 0;
  if (ag_is_rotation(g, x) && rotation_product(w, x, A, B)) return;
  bool column = ag_node_cols(g, B) == 1;
  switch (w->kind[A]) {
  case AG_TAN_TENSOR: t = ag_mul(g, w->t[A], B); break;
  case AG_TAN_RIGHT:
    t = column ? ag_cross(g, w->t[A], B) : ag_mul(g, ag_hat(g, w->t[A]), B);
    t = ag_mul(g, A, t);
    break;
  case AG_TAN_LEFT: /* hat(w) A B; as (A B) x (-w), which is how R^T c is known */
    t = column ? ag_cross(g, x, ag_neg(g, w->t[A])) : ag_mul(g, ag_hat(g, w->t[A]), x);
    break;
  default: break;
  }
  ag_id dB = tensor(w, B);
  if (dB) t = plus(g, t, ag_mul(g, A, dB));
  set(w, x, AG_TAN_TENSOR, t);
}

static void transpose(ag_forward_work *w, ag_id x) {
  ag_graph *g = w->sweep.g;
  ag_id a = arg(g, x, 0);
  int kind = w->kind[a];
  if (kind == AG_TAN_TENSOR) set(w, x, AG_TAN_TENSOR, ag_transpose(g, w->t[a]));
  else set(w, x, kind == AG_TAN_RIGHT ? AG_TAN_LEFT : AG_TAN_RIGHT, ag_neg(g, w->t[a]));
}

/* STACK and CONCAT: the same of the tangents */
static void collection(ag_forward_work *w, ag_id x) {
  ag_graph *g = w->sweep.g;
  int n = ag_node_n_arg(g, x);
  ag_id *e = ag_heap_alloc(sizeof *e * (size_t)n);
  for (int k = 0; k < n; k++) e[k] = tensor_or_zero(w, arg(g, x, k));
  if (ag_node_op(g, x) == AG_OP_CONCAT) set(w, x, AG_TAN_TENSOR, ag_concat(g, n, e));
  else set(w, x, AG_TAN_TENSOR, ag_stack(g, ag_node_rows(g, x), ag_node_cols(g, x), e));
  free(e);
}

/* Operations linear in each of two arguments: f(da, b) + f(a, db). */
static ag_id bilinear(ag_forward_work *w, ag_id x, ag_id (*f)(ag_graph *, ag_id, ag_id)) {
  ag_graph *g = w->sweep.g;
  ag_id a = arg(g, x, 0), b = arg(g, x, 1), da = tensor(w, a), db = tensor(w, b);
  ag_id t = da ? f(g, da, b) : 0;
  return plus(g, t, db ? f(g, a, db) : 0);
}

static ag_id solve(ag_forward_work *w, ag_id x) {
  ag_graph *g = w->sweep.g;
  ag_id A = arg(g, x, 0), dA = tensor(w, A), db = tensor(w, arg(g, x, 1));
  ag_id r = dA ? ag_neg(g, ag_mul(g, dA, x)) : 0;
  return ag_solve(g, A, plus(g, db, r), (ag_solve_kind)g->nodes[x].payload.at.i);
}

/* A^-1 (db - dA x) */
static ag_id sparse(ag_forward_work *w, ag_id x) {
  ag_graph *g = w->sweep.g;
  const ag_pattern p = g->patterns[g->nodes[x].payload.at.i].pattern;
  ag_id *sum = ag_heap_alloc(sizeof *sum * (size_t)p.n),
        *entries = ag_heap_alloc(sizeof *entries * (size_t)(p.n_entry + 1));
  ag_id db = tensor_or_zero(w, arg(g, x, p.n_entry));
  for (int i = 0; i < p.n; i++) sum[i] = ag_entry(g, db, i, 0);
  for (int k = 0; k < p.n_entry; k++) {
    int i = p.row[k], j = p.col[k];
    entries[k] = arg(g, x, k);
    ag_id d = tensor(w, entries[k]);
    if (!d) continue;
    ag_id xj = ag_entry(g, x, j, 0), xi = ag_entry(g, x, i, 0);
    sum[i] = ag_sub(g, sum[i], ag_mul(g, d, xj));
    if (i != j) sum[j] = ag_sub(g, sum[j], ag_mul(g, d, xi));
  }
  ag_id t = ag_solve_sparse(g, &p, entries, ag_stack(g, p.n, 1, sum));
  free(sum);
  free(entries);
  return t;
}

static ag_id scalar(ag_forward_work *w, ag_id x) {
  ag_graph *g = w->sweep.g;
  ag_id t = 0;
  for (int k = 0, n = ag_node_n_arg(g, x); k < n; k++) {
    ag_id d = tensor(w, arg(g, x, k));
    if (d) t = plus(g, t, ag_chain(g, x, k, d));
  }
  return t;
}

/* The operations whose tangent is a tensor; some argument has one. */
static ag_id tangent(ag_forward_work *w, ag_id x) {
  ag_graph *g = w->sweep.g;
  const ag_node n = g->nodes[x];
  ag_id a = arg(g, x, 0), d = n.op == AG_OP_SLOT ? 0 : tensor(w, a), e;
  switch (n.op) {
  case AG_OP_SLOT: return ag_dot(g, ag_slot_gradient(g, x), w->t[a]);
  case AG_OP_SELECT:
    d = tensor_or_zero(w, arg(g, x, 1));
    e = tensor_or_zero(w, arg(g, x, 2));
    return ag_select(g, a, d, e);
  case AG_OP_SCALE: return bilinear(w, x, ag_mul);
  case AG_OP_DOT: return bilinear(w, x, ag_dot);
  case AG_OP_CROSS: return bilinear(w, x, ag_cross);
  case AG_OP_HAT: return ag_hat(g, d);
  case AG_OP_ENTRY: return ag_entry(g, d, n.payload.at.i, n.payload.at.j);
  case AG_OP_ROWS: return ag_rows_of(g, d, n.payload.at.i, n.rows);
  case AG_OP_NORM: d = ag_dot(g, a, d); return ag_div(g, d, ag_safe_norm(g, x));
  case AG_OP_DET: return ag_inner(g, ag_cofactors(g, a, x), d);
  case AG_OP_SOLVE: return solve(w, x);
  case AG_OP_SPARSE: return sparse(w, x);
  case AG_OP_ROTATION: return d;
  default: return scalar(w, x);
  }
}

static void step(ag_forward_work *w, ag_id x) {
  ag_graph *g = w->sweep.g;
  const ag_node *n = &g->nodes[x];
  bool moves = false;
  for (uint32_t k = 0; k < n->n_arg && !moves; k++) moves = w->kind[g->pool[n->first + k]] != AG_TAN_NONE;
  if (!moves) return;
  switch (n->op) {
  case AG_OP_MATMUL: product(w, x); break;
  case AG_OP_TRANSPOSE: transpose(w, x); break;
  case AG_OP_STACK:
  case AG_OP_CONCAT: collection(w, x); break;
  default: set(w, x, AG_TAN_TENSOR, tangent(w, x));
  }
}

void ag_forward_init(ag_forward_work *w, ag_graph *g, int n_out, const ag_id *outs, int n_in, const ag_id *inputs) {
  ag_sweep_init(&w->sweep, g, n_out, outs, n_in, inputs);
  w->kind = ag_scratch_take(g);
  w->t = ag_scratch_take(g);
}

void ag_forward_done(ag_forward_work *w) {
  for (int i = 0; i < w->sweep.n; i++) w->kind[w->sweep.order[i]] = 0, w->t[w->sweep.order[i]] = 0;
  ag_scratch_give(w->sweep.g, w->kind);
  ag_scratch_give(w->sweep.g, w->t);
  ag_sweep_done(&w->sweep);
}

void ag_forward_seed(ag_forward_work *w, ag_id input, ag_id seed) {
  if (input > w->sweep.top || !w->sweep.active[input]) return;
  set(w, input, ag_is_rotation(w->sweep.g, input) ? AG_TAN_RIGHT : AG_TAN_TENSOR, seed);
}

void ag_forward_run(ag_forward_work *w) {
  for (int i = 0; i < w->sweep.n; i++) step(w, w->sweep.order[i]);
}

ag_id ag_forward_out(ag_forward_work *w, ag_id out) { return tensor_or_zero(w, out); }

void ag_forward_reset(ag_forward_work *w) {
  for (int i = 0; i < w->sweep.n; i++) w->kind[w->sweep.order[i]] = AG_TAN_NONE;
}

void ag_forward(ag_graph *g, int n_in, const ag_id *inputs, const ag_id *seeds, int n_out, const ag_id *outs,
                ag_id *tangents) {
  ag_forward_work w;
  ag_forward_init(&w, g, n_out, outs, n_in, inputs);
  for (int k = 0; k < n_in; k++) {
    AG_ASSERT(ag_node_op(g, inputs[k]) == AG_OP_INPUT);
    bool rotation = ag_is_rotation(g, inputs[k]);
    AG_ASSERT(ag_node_rows(g, seeds[k]) == ag_node_rows(g, inputs[k]));
    AG_ASSERT(ag_node_cols(g, seeds[k]) == (rotation ? 1 : ag_node_cols(g, inputs[k])));
    ag_forward_seed(&w, inputs[k], seeds[k]);
  }
  ag_forward_run(&w);
  for (int i = 0; i < n_out; i++) tangents[i] = ag_forward_out(&w, outs[i]);
  ag_forward_done(&w);
}
