/* SPDX-License-Identifier: MIT
 * Rules applied while building: sums and differences of scalars and tensors, and signs. */
#include <math.h>
#include <stdlib.h>

#include "expr/simplify_internal.h"

static ag_id add_zero(ag_graph *g, const ag_request *r) {
  return ag_is_zero(g, r->a[0]) ? r->a[1] : ag_is_zero(g, r->a[1]) ? r->a[0] : 0;
}

/* c x + d x = (c + d) x */
static ag_id add_like(ag_graph *g, const ag_request *r) {
  double c, d;
  ag_id x, y;
  ag_split_number(g, r->a[0], &c, &x);
  ag_split_number(g, r->a[1], &d, &y);
  if (x != y || !isfinite(c + d)) return 0;
  return ag_mul(g, ag_folded(g, r->op, c, d), x);
}

/* the sign of a term goes into the operation: a + (-b) = a - b, -a - b = -(a + b), ... */
static ag_id add_sign(ag_graph *g, const ag_request *r) {
  double c, d;
  ag_id x, y, a = r->a[0], b = r->a[1];
  bool neg_a = ag_split_number(g, a, &c, &x) && c < 0, neg_b = ag_split_number(g, b, &d, &y) && d < 0;
  if (!neg_a && !neg_b) return 0;
  if (neg_a) a = ag_neg(g, a);
  if (neg_b) b = ag_neg(g, b);
  bool minus = (r->op == AG_OP_SUB) != neg_b; /* sign of the second term now */
  if (!neg_a) return minus ? ag_sub(g, a, b) : ag_add(g, a, b);
  return minus ? ag_neg(g, ag_add(g, a, b)) : ag_sub(g, b, a);
}

/* (x + c) + d = x + (c + d), (c - x) + d = (c + d) - x; only scalars have numbers */
static ag_id add_number(ag_graph *g, const ag_request *r) {
  double c, d;
  ag_id s = r->a[0];
  if (!ag_is_num(g, r->a[1], &d)) return 0;
  if (op_of(g, s) == AG_OP_ADD && ag_is_num(g, arg(g, s, 1), &c) && isfinite(c + d))
    return ag_add(g, arg(g, s, 0), ag_folded(g, AG_OP_ADD, c, d));
  if (op_of(g, s) == AG_OP_SUB && ag_is_num(g, arg(g, s, 0), &c) && isfinite(c + d)) {
    ag_id x = arg(g, s, 1);
    return ag_sub(g, ag_folded(g, AG_OP_ADD, c, d), x);
  }
  return 0;
}

static ag_id sum(ag_graph *g, ag_op op, ag_id a, ag_id b) {
  return op == AG_OP_ADD ? ag_add(g, a, b) : ag_sub(g, a, b);
}

/* R a + R b = R (a + b) for a rotation; hat(a) + hat(b) = hat(a + b) */
static ag_id add_factor(ag_graph *g, const ag_request *r) {
  ag_id a = r->a[0], b = r->a[1];
  if (op_of(g, a) != op_of(g, b)) return 0;
  if (op_of(g, a) == AG_OP_HAT) return ag_hat(g, sum(g, r->op, arg(g, a, 0), arg(g, b, 0)));
  if (op_of(g, a) != AG_OP_MATMUL || arg(g, a, 0) != arg(g, b, 0) || !ag_is_rotation(g, arg(g, a, 0))) return 0;
  ag_id R = arg(g, a, 0);
  return ag_mul(g, R, sum(g, r->op, arg(g, a, 1), arg(g, b, 1)));
}

static bool written_out(const ag_graph *g, ag_id x) {
  if (op_of(g, x) == AG_OP_NEG) x = arg(g, x, 0);
  if (op_of(g, x) == AG_OP_SCALE && ag_is_unit(g, arg(g, x, 1))) return true;
  return op_of(g, x) == AG_OP_STACK || op_of(g, x) == AG_OP_EYE;
}

/* entry by entry when both are written out */
static ag_id add_stack(ag_graph *g, const ag_request *r) {
  ag_id a = r->a[0], b = r->a[1];
  if (!written_out(g, a) || !written_out(g, b)) return 0;
  int n = r->rows, m = r->cols;
  ag_id *e = ag_heap_alloc(sizeof *e * (size_t)(n * m));
  for (int k = 0; k < n * m; k++) {
    ag_id u = ag_entry(g, a, k / m, k % m);
    e[k] = sum(g, r->op, u, ag_entry(g, b, k / m, k % m));
  }
  ag_id x = ag_stack(g, n, m, e);
  free(e);
  return x;
}

/* block by block when both are columns cut alike */
static ag_id add_concat(ag_graph *g, const ag_request *r) {
  ag_id a = r->a[0], b = r->a[1];
  if (op_of(g, a) != AG_OP_CONCAT || op_of(g, b) != AG_OP_CONCAT) return 0;
  int n = ag_node_n_arg(g, a);
  if (ag_node_n_arg(g, b) != n) return 0;
  for (int k = 0; k < n; k++)
    if (g->nodes[arg(g, a, k)].rows != g->nodes[arg(g, b, k)].rows) return 0;
  ag_id *e = ag_heap_alloc(sizeof *e * (size_t)n);
  for (int k = 0; k < n; k++) e[k] = sum(g, r->op, arg(g, a, k), arg(g, b, k));
  ag_id x = ag_concat(g, n, e);
  free(e);
  return x;
}

/* (if c then 0 else u) + (if c then 0 else v) = if c then 0 else u + v */
static ag_id add_masks(ag_graph *g, const ag_request *r) {
  ag_id a = r->a[0], b = r->a[1];
  if (!ag_masked(g, a) || !ag_masked(g, b) || arg(g, a, 0) != arg(g, b, 0)) return 0;
  ag_id u = sum(g, r->op, arg(g, a, 1), arg(g, b, 1));
  return ag_select(g, arg(g, a, 0), u, sum(g, r->op, arg(g, a, 2), arg(g, b, 2)));
}

enum { MAX_FACTORS = 10 };

/* The factors of a scalar product, including numbers and signs, sorted by id; 0 if there are too many. */
static int factors_of(const ag_graph *g, ag_id x, ag_id *out) {
  ag_id todo[MAX_FACTORS];
  int n = 0, n_todo = 0;
  todo[n_todo++] = x;
  while (n_todo) {
    x = todo[--n_todo];
    if (op_of(g, x) == AG_OP_MUL) {
      if (n_todo + 2 > MAX_FACTORS) return 0;
      todo[n_todo++] = arg(g, x, 1);
      todo[n_todo++] = arg(g, x, 0);
      continue;
    }
    if (n == MAX_FACTORS) return 0;
    int k = n++;
    for (; k > 0 && out[k - 1] > x; k--) out[k] = out[k - 1];
    out[k] = x;
  }
  return n;
}

/* Takes one factor that occurs in both lists out of them, again and again; what remains is where they differ. */
static void take_common(int *n, ag_id *a, int *m, ag_id *b, int *n_common, ag_id *common) {
  int i = 0, j = 0, left_a = 0, left_b = 0;
  while (i < *n || j < *m) {
    if (j == *m || (i < *n && a[i] < b[j])) a[left_a++] = a[i++];
    else if (i == *n || b[j] < a[i]) b[left_b++] = b[j++];
    else common[(*n_common)++] = a[i++], j++;
  }
  *n = left_a;
  *m = left_b;
}

static ag_id product(ag_graph *g, int n, const ag_id *x) {
  ag_id p = ag_num(g, 1);
  for (int i = 0; i < n; i++) p = i ? ag_mul(g, p, x[i]) : x[i];
  return p;
}

/* k sin(x)^2 + k cos(x)^2 = k, and products of the same factors in another order: p + p = 2p, p - p = 0. The sum or
 * difference, or 0 when nothing of that kind is seen. */
static ag_id combined(ag_graph *g, ag_op op, ag_id x, ag_id y) {
  ag_id a[MAX_FACTORS], b[MAX_FACTORS], common[MAX_FACTORS];
  int n_common = 0;
  if (op_of(g, x) != AG_OP_MUL || op_of(g, y) != AG_OP_MUL) return 0;
  int n = factors_of(g, x, a), m = factors_of(g, y, b);
  if (!n || n != m) return 0;
  take_common(&n, a, &m, b, &n_common, common);
  if (n == 0) return op == AG_OP_SUB ? ag_num(g, 0) : ag_mul(g, ag_num(g, 2), x);
  if (op == AG_OP_SUB || n != 2 || a[0] != a[1] || b[0] != b[1]) return 0;
  bool circle = (op_of(g, a[0]) == AG_OP_SIN && op_of(g, b[0]) == AG_OP_COS) ||
                (op_of(g, a[0]) == AG_OP_COS && op_of(g, b[0]) == AG_OP_SIN);
  return circle && arg(g, a[0], 0) == arg(g, b[0], 0) ? product(g, n_common, common) : 0;
}

/* Two terms that combine, also when one of them is part of a sum: (p + q) + r = p + (q + r) */
static ag_id add_circle(ag_graph *g, const ag_request *r) {
  if (r->rows * r->cols != 1) return 0;
  ag_id x = combined(g, r->op, r->a[0], r->a[1]);
  if (x) return x;
  for (int side = 0; side < (r->op == AG_OP_ADD ? 2 : 1); side++) {
    ag_id sum = r->a[side], other = r->a[1 - side];
    if (op_of(g, sum) != AG_OP_ADD) continue;
    for (int k = 0; k < 2; k++) {
      x = combined(g, r->op, arg(g, sum, k), other);
      if (x) return ag_add(g, arg(g, sum, 1 - k), x);
    }
  }
  return 0;
}

/* (x - y) + y = x */
static ag_id add_cancel(ag_graph *g, const ag_request *r) {
  for (int k = 0; k < 2; k++) {
    ag_id s = r->a[k];
    if (op_of(g, s) == AG_OP_SUB && arg(g, s, 1) == r->a[1 - k]) return arg(g, s, 0);
  }
  return 0;
}

/* (x + y) - y = x, (x - y) - x = -y, x - (x + y) = -y, x - (x - y) = y */
static ag_id sub_cancel(ag_graph *g, const ag_request *r) {
  ag_id a = r->a[0], b = r->a[1];
  ag_op op_a = op_of(g, a), op_b = op_of(g, b);
  for (int k = 0; k < 2; k++) {
    if (op_a == AG_OP_ADD && arg(g, a, k) == b) return arg(g, a, 1 - k);
    if (op_b == AG_OP_ADD && arg(g, b, k) == a) return ag_neg(g, arg(g, b, 1 - k));
  }
  if (op_a == AG_OP_SUB && arg(g, a, 0) == b) return ag_neg(g, arg(g, a, 1));
  return op_b == AG_OP_SUB && arg(g, b, 0) == a ? arg(g, b, 1) : 0;
}

static ag_id sub_zero(ag_graph *g, const ag_request *r) {
  return ag_is_zero(g, r->a[1]) ? r->a[0] : ag_is_zero(g, r->a[0]) ? ag_neg(g, r->a[1]) : 0;
}

/* x - c = x + (-c); c - (x + d) = (c - d) - x; c - (d - x) = x + (c - d) */
static ag_id sub_number(ag_graph *g, const ag_request *r) {
  double c, d;
  ag_id s = r->a[1];
  if (ag_is_num(g, s, &d)) return ag_add(g, r->a[0], ag_folded(g, AG_OP_NEG, d, 0));
  if (!ag_is_num(g, r->a[0], &c)) return 0;
  if (op_of(g, s) == AG_OP_ADD && ag_is_num(g, arg(g, s, 1), &d) && isfinite(c - d))
    return ag_sub(g, ag_folded(g, AG_OP_SUB, c, d), arg(g, s, 0));
  if (op_of(g, s) == AG_OP_SUB && ag_is_num(g, arg(g, s, 0), &d) && isfinite(c - d))
    return ag_add(g, arg(g, s, 1), ag_folded(g, AG_OP_SUB, c, d));
  return 0;
}

static ag_id neg_neg(ag_graph *g, const ag_request *r) {
  return op_of(g, r->a[0]) == AG_OP_NEG ? arg(g, r->a[0], 0) : ag_is_zero(g, r->a[0]) ? r->a[0] : 0;
}

/* -(a - b) = b - a */
static ag_id neg_sub(ag_graph *g, const ag_request *r) {
  ag_id x = r->a[0];
  return op_of(g, x) == AG_OP_SUB ? ag_sub(g, arg(g, x, 1), arg(g, x, 0)) : 0;
}

/* -(c x) = (-c) x; -(c/x) = (-c)/x; -[c, d] = [-c, -d] */
static ag_id neg_number(ag_graph *g, const ag_request *r) {
  double c;
  ag_id x = r->a[0];
  if (op_of(g, x) == AG_OP_STACK && ag_all_num(g, x) && !ag_is_unit(g, x)) {
    int n = r->rows * r->cols;
    ag_id *e = ag_heap_alloc(sizeof *e * (size_t)n);
    for (int k = 0; k < n; k++) e[k] = ag_neg(g, arg(g, x, k));
    ag_id y = ag_stack(g, r->rows, r->cols, e);
    free(e);
    return y;
  }
  if (op_of(g, x) != AG_OP_MUL && op_of(g, x) != AG_OP_SCALE && op_of(g, x) != AG_OP_DIV) return 0;
  if (!ag_is_num(g, arg(g, x, 0), &c)) return 0;
  ag_id y = arg(g, x, 1);
  return op_of(g, x) == AG_OP_DIV ? ag_div(g, ag_folded(g, AG_OP_NEG, c, 0), y)
                                  : ag_mul(g, ag_folded(g, AG_OP_NEG, c, 0), y);
}

/* clang-format off */
static const ag_rule rules[] = {
    AG_RULE(NEG, neg_neg), AG_RULE(NEG, neg_sub), AG_RULE(NEG, neg_number), AG_RULE(NEG, ag_rule_mask),
    AG_RULE(ADD, add_zero), AG_RULE(ADD, add_like), AG_RULE(ADD, add_sign), AG_RULE(ADD, add_cancel),
    AG_RULE(ADD, add_number),
    AG_RULE(ADD, add_factor), AG_RULE(ADD, add_stack), AG_RULE(ADD, add_concat), AG_RULE(ADD, add_masks), AG_RULE(ADD, add_circle),
    AG_RULE(SUB, sub_zero), AG_RULE(SUB, add_like), AG_RULE(SUB, add_sign), AG_RULE(SUB, sub_cancel),
    AG_RULE(SUB, sub_number),
    AG_RULE(SUB, add_factor), AG_RULE(SUB, add_stack), AG_RULE(SUB, add_concat), AG_RULE(SUB, add_masks), AG_RULE(SUB, add_circle),
};
/* clang-format on */

const ag_rule *ag_rules_sum(int *n) {
  *n = (int)(sizeof rules / sizeof *rules);
  return rules;
}
