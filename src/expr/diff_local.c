/* SPDX-License-Identifier: MIT
 * Local derivatives: those of op.def, for forward and reverse sweeps alike, and the few tensor formulas that both
 * need. */
#include "expr/diff_internal.h"

static ag_id arg(const ag_graph *g, ag_id x, int i) { return ag_node_arg(g, x, i); }

/* v times the derivative of atan2(a, b) in argument k: (b da - a db)/(a^2 + b^2) */
static ag_id chain_atan2(ag_graph *g, ag_id a, ag_id b, int k, ag_id v) {
  ag_id aa = ag_mul(g, a, a), r2 = ag_add(g, aa, ag_mul(g, b, b));
  ag_id d = ag_div(g, ag_mul(g, v, k ? a : b), r2);
  return k ? ag_neg(g, d) : d;
}

/* The words of the derivatives in op.def. */
#define NEG(x) ag_neg(g, x)
#define ADD(x, y) ag_add(g, x, y)
#define SUB(x, y) ag_sub(g, x, y)
#define MUL(x, y) ag_mul(g, x, y)
#define DIV(x, y) ag_div(g, x, y)
#define FN(OP, x) ag_apply1(g, AG_OP_##OP, x)
#define FN2(OP, x, y) ag_apply2(g, AG_OP_##OP, x, y)
#define SELECT(condition, x, y) ag_select(g, condition, x, y)

#define AG_OP(NAME, text, arity, call, parity, value, plain, tex, derivative, ...) \
  case AG_OP_##NAME: return derivative;

ag_id ag_chain(ag_graph *g, ag_id y, int k, ag_id v) {
  int n = ag_node_n_arg(g, y);
  ag_id a = arg(g, y, 0), b = n > 1 ? arg(g, y, 1) : 0;
  ag_id zero = ag_num(g, 0), one = ag_num(g, 1), half = ag_num(g, 0.5);
  switch (ag_node_op(g, y)) {
#include "expr/op.def"
  default: AG_ASSERT(false); return 0;
  }
}

ag_id ag_safe_norm(ag_graph *g, ag_id n) {
  ag_id zero = ag_num(g, 0), one = ag_num(g, 1);
  return ag_select(g, ag_apply2(g, AG_OP_EQ, n, zero), one, n);
}

ag_id ag_inner(ag_graph *g, ag_id a, ag_id b) {
  int n = ag_node_rows(g, a), m = ag_node_cols(g, a);
  if (ag_is_zero(g, a) || ag_is_zero(g, b)) return ag_num(g, 0);
  if (m == 1) return ag_dot(g, a, b);
  if (n == 1) {
    a = ag_transpose(g, a);
    return ag_dot(g, a, ag_transpose(g, b));
  }
  for (int k = 0; k < 2; k++) { /* <u v^T, B> = u.(B v) */
    ag_id o = k ? b : a, other = k ? a : b;
    if (ag_node_op(g, o) != AG_OP_MATMUL || ag_node_cols(g, arg(g, o, 0)) != 1) continue;
    ag_id v = ag_transpose(g, arg(g, o, 1));
    v = ag_mul(g, other, v);
    return ag_dot(g, arg(g, o, 0), v);
  }
  ag_id sum = ag_num(g, 0);
  for (int k = 0; k < n * m; k++) {
    ag_id p = ag_entry(g, a, k / m, k % m);
    if (ag_is_zero(g, p)) continue;
    p = ag_mul(g, p, ag_entry(g, b, k / m, k % m));
    sum = ag_add(g, sum, p);
  }
  return sum;
}

ag_id ag_vee_skew(ag_graph *g, ag_id S) {
  if (ag_is_zero(g, S)) return ag_zero(g, 3, 1);
  if (ag_node_op(g, S) == AG_OP_MATMUL && ag_node_cols(g, arg(g, S, 0)) == 1) {
    ag_id v = ag_transpose(g, arg(g, S, 1));
    return ag_cross(g, v, arg(g, S, 0));
  }
  ag_id e[3];
  for (int i = 0; i < 3; i++) {
    int j = (i + 1) % 3, k = (i + 2) % 3;
    ag_id a = ag_entry(g, S, k, j);
    e[i] = ag_sub(g, a, ag_entry(g, S, j, k));
  }
  return ag_stack(g, 3, 1, e);
}

/* Cofactor (i, j) of a 2 x 2 or 3 x 3 matrix. */
static ag_id cofactor(ag_graph *g, ag_id A, int i, int j) {
  if (ag_node_rows(g, A) == 2) {
    ag_id x = ag_entry(g, A, 1 - i, 1 - j);
    return i == j ? x : ag_neg(g, x);
  }
  int a = (i + 1) % 3, b = (i + 2) % 3, c = (j + 1) % 3, d = (j + 2) % 3;
  ag_id p = ag_entry(g, A, a, c), q = ag_entry(g, A, a, d);
  p = ag_mul(g, p, ag_entry(g, A, b, d));
  q = ag_mul(g, q, ag_entry(g, A, b, c));
  return ag_sub(g, p, q);
}

ag_id ag_cofactors(ag_graph *g, ag_id A, ag_id det) {
  int n = ag_node_rows(g, A);
  if (n > 3) return ag_mul(g, det, ag_inverse(g, ag_transpose(g, A)));
  ag_id e[9];
  for (int k = 0; k < n * n; k++) e[k] = cofactor(g, A, k / n, k % n);
  return ag_stack(g, n, n, e);
}

ag_id ag_slot_gradient(ag_graph *g, ag_id x) {
  ag_id R = arg(g, x, 0), q[4], e[3];
  int k = g->nodes[x].payload.at.i;
  AG_ASSERT(ag_is_rotation(g, R));
  for (int i = 0; i < 4; i++) q[i] = ag_intern(g, AG_OP_SLOT, 1, 1, 1, &R, ag_payload(i, 0));
  if (k == 0)
    for (int i = 0; i < 3; i++) e[i] = ag_neg(g, q[i + 1]);
  else {
    int i = k - 1, j = (i + 1) % 3, l = (i + 2) % 3;
    e[i] = q[0];
    e[l] = q[j + 1];
    e[j] = ag_neg(g, q[l + 1]);
  }
  ag_id row = ag_stack(g, 3, 1, e);
  return ag_mul(g, ag_num(g, 0.5), row);
}

/* Everything the outputs depend on, in any order; marked in s->active. */
static int find_cone(ag_sweep *s, int n_out, const ag_id *outs) {
  int n = 0, cap = 0;
  for (int i = 0; i < n_out; i++) {
    s->top = outs[i] > s->top ? outs[i] : s->top;
    if (s->active[outs[i]]) continue;
    AG_PUSH(s->order, n, cap);
    s->order[n++] = outs[i];
    s->active[outs[i]] = 1;
  }
  for (int i = 0; i < n; i++) {
    const ag_node *node = &s->g->nodes[s->order[i]];
    for (uint32_t k = 0; k < node->n_arg; k++) {
      ag_id x = s->g->pool[node->first + k];
      if (s->active[x]) continue;
      AG_PUSH(s->order, n, cap);
      s->order[n++] = x;
      s->active[x] = 1;
    }
  }
  return n;
}

/* In increasing order: sorts if there are few, scans if there are many. */
static void sort_cone(const ag_sweep *s, int count) {
  enum { FEW = 32 };
  int n = 0;
  if (count < (int)(s->top / FEW)) {
    ag_sort_ids(s->order, (size_t)count);
    return;
  }
  for (ag_id x = 1; n < count; x++) {
    while (ag_eight_zeros(s->active + x)) x += 8; /* ends: one is left */
    if (s->active[x]) s->order[n++] = x;
  }
}

void ag_sweep_init(ag_sweep *s, ag_graph *g, int n_out, const ag_id *outs, int n_in, const ag_id *inputs) {
  enum { INPUT = 2 };
  *s = (ag_sweep){.g = g, .active = ag_scratch_take(g)};
  int count = find_cone(s, n_out, outs);
  sort_cone(s, count);
  for (int k = 0; k < n_in; k++)
    if (inputs[k] <= s->top && s->active[inputs[k]]) s->active[inputs[k]] = INPUT;
  for (int i = 0; i < count; i++) {
    ag_id x = s->order[i];
    const ag_node *node = &g->nodes[x];
    bool depends = s->active[x] == INPUT;
    for (uint32_t k = 0; k < node->n_arg && !depends; k++) depends = s->active[g->pool[node->first + k]];
    s->active[x] = depends;
    if (depends) s->order[s->n++] = x;
  }
}

void ag_sweep_done(ag_sweep *s) {
  for (int i = 0; i < s->n; i++) s->active[s->order[i]] = 0;
  ag_scratch_give(s->g, s->active);
  free(s->order);
}
