/* SPDX-License-Identifier: MIT
 * Rules applied while building, part one: operations that scalars and tensors share, and scalar ones.
 *
 * A rule looks at a request and gives the simplified node, or 0. It changes no value beyond rounding and never makes
 * the domain smaller (0*x = 0 makes it larger). Signs and numbers are pulled outwards; a choice with a zero branch is
 * pulled out of everything linear, so that no 0*NaN arises where the zero is chosen. */
#include <math.h>
#include <stdlib.h>

#include "expr/graph_internal.h"

static ag_op op_of(const ag_graph *g, ag_id x) { return g->nodes[x].op; }
static ag_id arg(const ag_graph *g, ag_id x, int i) { return ag_node_arg(g, x, i); }

static bool is_value(const ag_graph *g, ag_id x, double v) {
  double u;
  return ag_is_num(g, x, &u) && u == v;
}

/* x = c*base with a number c; true when c is written in x. */
static bool split_number(const ag_graph *g, ag_id x, double *c, ag_id *base) {
  *c = 1;
  *base = x;
  if (op_of(g, x) == AG_OP_NEG) {
    *c = -1;
    *base = arg(g, x, 0);
    return true;
  }
  return (op_of(g, x) == AG_OP_MUL || op_of(g, x) == AG_OP_SCALE) && ag_is_num(g, arg(g, x, 0), c) &&
         (*base = arg(g, x, 1), true);
}

bool ag_split_scale(ag_graph *g, ag_id x, ag_id *factor, ag_id *rest) {
  if (op_of(g, x) == AG_OP_NEG) {
    *factor = ag_num(g, -1);
    *rest = arg(g, x, 0);
    return true;
  }
  if (op_of(g, x) != AG_OP_SCALE) return false;
  *factor = arg(g, x, 0);
  *rest = arg(g, x, 1);
  return true;
}

bool ag_all_num(const ag_graph *g, ag_id x) {
  const ag_node *n = &g->nodes[x];
  if (n->op == AG_OP_NUM || n->op == AG_OP_ZERO || n->op == AG_OP_EYE) return true;
  if (n->op != AG_OP_STACK) return false;
  for (uint32_t k = 0; k < n->n_arg; k++)
    if (g->nodes[g->pool[n->first + k]].op != AG_OP_NUM) return false;
  return true;
}

bool ag_is_unit(const ag_graph *g, ag_id x) {
  const ag_node *n = &g->nodes[x];
  int ones = 0;
  if (n->op != AG_OP_STACK || n->rows != 3 || n->cols != 1) return false;
  for (uint32_t k = 0; k < 3; k++) {
    double v = 2;
    if (!ag_is_num(g, g->pool[n->first + k], &v) || (v != 0 && v != 1)) return false;
    ones += v == 1;
  }
  return ones == 1;
}

/* ---- every scalar operation ---- */

/* Numbers are folded when the result is finite; what is not finite stays as written. */
static ag_id fold(ag_graph *g, const ag_request *r) {
  double v[3];
  for (int i = 0; i < r->n; i++)
    if (!ag_is_num(g, r->a[i], &v[i])) return 0;
  double y = ag_op_value(r->op, v);
  return isfinite(y) ? ag_num_folded(g, r->op, r->n, r->a, y) : 0;
}

static bool masked(const ag_graph *g, ag_id x) {
  return op_of(g, x) == AG_OP_SELECT && (ag_is_zero(g, arg(g, x, 1)) || ag_is_zero(g, arg(g, x, 2)));
}

static bool is_sum(const ag_graph *g, ag_id x) { return op_of(g, x) == AG_OP_ADD || op_of(g, x) == AG_OP_SUB; }

static bool masked_sum(const ag_graph *g, ag_id x, int depth) {
  if (masked(g, x)) return true;
  return depth > 0 && is_sum(g, x) && masked_sum(g, arg(g, x, 0), depth - 1) && masked_sum(g, arg(g, x, 1), depth - 1);
}

static ag_id apply_at(ag_graph *g, const ag_request *r, int k, ag_id x) {
  if (ag_is_zero(g, x)) return ag_zero(g, r->rows, r->cols);
  ag_id a[2] = {r->a[0], r->n > 1 ? r->a[1] : 0};
  a[k] = x;
  return ag_build(g, r->op, r->rows, r->cols, r->n, a, r->payload);
}

/* f(if c then 0 else u) = if c then 0 else f(u) for f linear in argument k */
static ag_id pull_mask(ag_graph *g, const ag_request *r, int k) {
  ag_id x = r->a[k];
  if (masked(g, x)) {
    ag_id c = arg(g, x, 0), u = arg(g, x, 1), v = arg(g, x, 2);
    u = apply_at(g, r, k, u);
    return ag_select(g, c, u, apply_at(g, r, k, v));
  }
  /* a sum of such choices with different conditions is distributed over */
  if (is_sum(g, x) && masked_sum(g, x, 4)) {
    ag_op op = op_of(g, x);
    ag_id u = arg(g, x, 0), v = arg(g, x, 1);
    u = apply_at(g, r, k, u);
    v = apply_at(g, r, k, v);
    return op == AG_OP_ADD ? ag_add(g, u, v) : ag_sub(g, u, v);
  }
  return 0;
}

ag_id ag_rule_mask(ag_graph *g, const ag_request *r) {
  for (int k = r->op == AG_OP_SOLVE ? 1 : 0; k < (r->op == AG_OP_DIV ? 1 : r->n); k++) {
    ag_id x = pull_mask(g, r, k);
    if (x) return x;
  }
  return 0;
}

/* The number op(c, d), which keeps that it came from them. */
static ag_id folded(ag_graph *g, ag_op op, double c, double d) {
  ag_id args[2] = {ag_num(g, c), 0};
  if (op != AG_OP_NEG) args[1] = ag_num(g, d);
  return ag_num_folded(g, op, op == AG_OP_NEG ? 1 : 2, args, ag_op_value(op, (double[]){c, d, 0}));
}

/* ---- sums ---- */

static ag_id add_zero(ag_graph *g, const ag_request *r) {
  return ag_is_zero(g, r->a[0]) ? r->a[1] : ag_is_zero(g, r->a[1]) ? r->a[0] : 0;
}

/* c x + d x = (c + d) x */
static ag_id add_like(ag_graph *g, const ag_request *r) {
  double c, d;
  ag_id x, y;
  split_number(g, r->a[0], &c, &x);
  split_number(g, r->a[1], &d, &y);
  if (x != y || !isfinite(c + d)) return 0;
  return ag_mul(g, folded(g, r->op, c, d), x);
}

/* the sign of a term goes into the operation: a + (-b) = a - b, -a - b = -(a + b), ... */
static ag_id add_sign(ag_graph *g, const ag_request *r) {
  double c, d;
  ag_id x, y, a = r->a[0], b = r->a[1];
  bool neg_a = split_number(g, a, &c, &x) && c < 0, neg_b = split_number(g, b, &d, &y) && d < 0;
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
    return ag_add(g, arg(g, s, 0), folded(g, AG_OP_ADD, c, d));
  if (op_of(g, s) == AG_OP_SUB && ag_is_num(g, arg(g, s, 0), &c) && isfinite(c + d)) {
    ag_id x = arg(g, s, 1);
    return ag_sub(g, folded(g, AG_OP_ADD, c, d), x);
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
  if (!masked(g, a) || !masked(g, b) || arg(g, a, 0) != arg(g, b, 0)) return 0;
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
  if (ag_is_num(g, s, &d)) return ag_add(g, r->a[0], folded(g, AG_OP_NEG, d, 0));
  if (!ag_is_num(g, r->a[0], &c)) return 0;
  if (op_of(g, s) == AG_OP_ADD && ag_is_num(g, arg(g, s, 1), &d) && isfinite(c - d))
    return ag_sub(g, folded(g, AG_OP_SUB, c, d), arg(g, s, 0));
  if (op_of(g, s) == AG_OP_SUB && ag_is_num(g, arg(g, s, 0), &d) && isfinite(c - d))
    return ag_add(g, arg(g, s, 1), folded(g, AG_OP_SUB, c, d));
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
  return op_of(g, x) == AG_OP_DIV ? ag_div(g, folded(g, AG_OP_NEG, c, 0), y) : ag_mul(g, folded(g, AG_OP_NEG, c, 0), y);
}

/* ---- products ---- */

static ag_id mul_zero(ag_graph *g, const ag_request *r) {
  return ag_is_zero(g, r->a[0]) || ag_is_zero(g, r->a[1]) ? ag_zero(g, r->rows, r->cols) : 0;
}

static ag_id mul_one(ag_graph *g, const ag_request *r) {
  return is_value(g, r->a[0], 1) ? r->a[1] : is_value(g, r->a[0], -1) ? ag_neg(g, r->a[1]) : 0;
}

/* (-a) b = -(a b) */
static ag_id mul_neg(ag_graph *g, const ag_request *r) {
  ag_id a = r->a[0], b = r->a[1];
  if (op_of(g, a) == AG_OP_NEG) return ag_neg(g, ag_mul(g, arg(g, a, 0), b));
  return op_of(g, b) == AG_OP_NEG ? ag_neg(g, ag_mul(g, a, arg(g, b, 0))) : 0;
}

/* a product of numbers that neither overflows nor vanishes */
static bool times(double c, double d, double *p) {
  *p = c * d;
  return isfinite(*p) && (*p != 0 || c == 0 || d == 0);
}

/* c (d x) = (c d) x; c (d/x) = (c d)/x; c (x/d) = (c/d) x; c (x y) with the number in front */
static ag_id mul_number(ag_graph *g, const ag_request *r) {
  double c, d, p;
  ag_id a = r->a[0], b = r->a[1], x;
  if (ag_is_num(g, a, &c)) {
    if ((op_of(g, b) == AG_OP_MUL || op_of(g, b) == AG_OP_SCALE) && split_number(g, b, &d, &x) && times(c, d, &p))
      return ag_mul(g, folded(g, AG_OP_MUL, c, d), x);
    if (op_of(g, b) == AG_OP_DIV && ag_is_num(g, arg(g, b, 0), &d) && fabs(d) != 1 && times(c, d, &p))
      return x = arg(g, b, 1), ag_div(g, folded(g, AG_OP_MUL, c, d), x);
    if (op_of(g, b) == AG_OP_DIV && ag_is_num(g, arg(g, b, 1), &d) && d != 0 && times(c, 1 / d, &p))
      return x = arg(g, b, 0), ag_mul(g, folded(g, AG_OP_DIV, c, d), x);
    return 0;
  }
  if (op_of(g, a) == AG_OP_MUL && split_number(g, a, &d, &x)) return x = ag_mul(g, x, b), ag_mul(g, ag_num(g, d), x);
  if ((op_of(g, b) == AG_OP_MUL || op_of(g, b) == AG_OP_SCALE) && split_number(g, b, &d, &x))
    return x = ag_mul(g, a, x), ag_mul(g, ag_num(g, d), x);
  return 0;
}

/* sqrt(x)^2 = x; |x|^2 = x^2; norm(a)^2 = dot(a, a) */
static ag_id mul_root(ag_graph *g, const ag_request *r) {
  ag_id a = r->a[0];
  if (a != r->a[1]) return 0;
  if (op_of(g, a) == AG_OP_ABS) return ag_mul(g, arg(g, a, 0), arg(g, a, 0));
  if (op_of(g, a) == AG_OP_SQRT) return arg(g, a, 0);
  return op_of(g, a) == AG_OP_NORM ? ag_dot(g, arg(g, a, 0), arg(g, a, 0)) : 0;
}

static ag_id div_one(ag_graph *g, const ag_request *r) {
  if (ag_is_zero(g, r->a[0]) && !ag_is_zero(g, r->a[1])) return ag_num(g, 0);
  return is_value(g, r->a[1], 1) ? r->a[0] : is_value(g, r->a[1], -1) ? ag_neg(g, r->a[0]) : 0;
}

static ag_id div_neg(ag_graph *g, const ag_request *r) {
  ag_id a = r->a[0], b = r->a[1];
  if (op_of(g, a) == AG_OP_NEG) return ag_neg(g, ag_div(g, arg(g, a, 0), b));
  return op_of(g, b) == AG_OP_NEG ? ag_neg(g, ag_div(g, a, arg(g, b, 0))) : 0;
}

/* x/c = (1/c) x when 1/c is exact; (c x)/d = (c/d) x; a number in front stays in front */
static ag_id div_number(ag_graph *g, const ag_request *r) {
  double c, d, p;
  int e;
  ag_id x = 0, a = r->a[0], b = r->a[1];
  bool number = op_of(g, a) == AG_OP_MUL && split_number(g, a, &c, &x);
  if (ag_is_num(g, b, &d)) {
    if (fabs(frexp(d, &e)) == 0.5 && e > -1000 && e < 1000) return ag_mul(g, ag_num(g, 1 / d), a);
    if (number && d != 0 && times(c, 1 / d, &p)) return ag_mul(g, folded(g, AG_OP_DIV, c, d), x);
    return 0;
  }
  if (!number) return 0;
  x = ag_div(g, x, b);
  return ag_mul(g, ag_num(g, c), x);
}

/* a/(b/c) = a c/b */
static ag_id div_div(ag_graph *g, const ag_request *r) {
  ag_id b = r->a[1];
  if (op_of(g, b) != AG_OP_DIV) return 0;
  ag_id u = arg(g, b, 0), v = arg(g, b, 1);
  return ag_div(g, ag_mul(g, r->a[0], v), u);
}

/* x^n by repeated squaring: x^(2k) = x^k x^k, x^(2k+1) = x x^(2k) */
static ag_id power(ag_graph *g, ag_id x, int n) {
  if (n == 0) return ag_num(g, 1);
  if (n == 1) return x;
  if (n % 2) return ag_mul(g, x, power(g, x, n - 1));
  ag_id y = power(g, x, n / 2);
  return ag_mul(g, y, y);
}

/* Whole and half exponents up to 16 in size become products, roots and reciprocals; 1^y = 1. */
static ag_id pow_number(ag_graph *g, const ag_request *r) {
  double e;
  if (is_value(g, r->a[0], 1)) return r->a[0];
  if (!ag_is_num(g, r->a[1], &e) || fabs(e) > 16 || 2 * e != floor(2 * e)) return 0;
  int twice = (int)fabs(2 * e);
  ag_id y = power(g, r->a[0], twice / 2);
  if (twice % 2) y = ag_mul(g, y, ag_apply1(g, AG_OP_SQRT, r->a[0]));
  return e < 0 ? ag_div(g, ag_num(g, 1), y) : y;
}

/* ---- functions ---- */

static ag_id odd(ag_graph *g, const ag_request *r) {
  double c;
  ag_id x = r->a[0], base;
  if (!split_number(g, x, &c, &base) || c >= 0) return 0;
  return ag_neg(g, ag_apply1(g, r->op, ag_neg(g, x)));
}

static ag_id even(ag_graph *g, const ag_request *r) {
  double c;
  ag_id x = r->a[0], base;
  return split_number(g, x, &c, &base) && c < 0 ? ag_apply1(g, r->op, ag_neg(g, x)) : 0;
}

/* f(inverse of f (x)) = x */
static ag_id undo(ag_graph *g, const ag_request *r) {
  ag_op inner = op_of(g, r->a[0]);
  bool inverse = (r->op == AG_OP_SIN && inner == AG_OP_ASIN) || (r->op == AG_OP_COS && inner == AG_OP_ACOS) ||
                 (r->op == AG_OP_TAN && inner == AG_OP_ATAN) || (r->op == AG_OP_EXP && inner == AG_OP_LOG) ||
                 (r->op == AG_OP_LOG && inner == AG_OP_EXP);
  return inverse ? arg(g, r->a[0], 0) : 0;
}

/* sqrt(x^2) = |x| */
static ag_id sqrt_square(ag_graph *g, const ag_request *r) {
  ag_id x = r->a[0];
  return op_of(g, x) == AG_OP_MUL && arg(g, x, 0) == arg(g, x, 1) ? ag_apply1(g, AG_OP_ABS, arg(g, x, 0)) : 0;
}

/* | |x| | = |x|; roots and norms are not negative */
static ag_id abs_positive(ag_graph *g, const ag_request *r) {
  ag_op inner = op_of(g, r->a[0]);
  return inner == AG_OP_ABS || inner == AG_OP_SQRT || inner == AG_OP_NORM || inner == AG_OP_HYPOT || inner == AG_OP_EXP
             ? r->a[0]
             : 0;
}

/* min(x, x) = x */
static ag_id idempotent(ag_graph *g, const ag_request *r) {
  (void)g;
  return r->a[0] == r->a[1] ? r->a[0] : 0;
}

static ag_id select_known(ag_graph *g, const ag_request *r) {
  double c;
  if (r->a[1] == r->a[2]) return r->a[1];
  return ag_is_num(g, r->a[0], &c) ? r->a[c != 0 ? 1 : 2] : 0;
}

/* if not c then a else b = if c then b else a */
static ag_id select_not(ag_graph *g, const ag_request *r) {
  return op_of(g, r->a[0]) == AG_OP_NOT ? ag_select(g, arg(g, r->a[0], 0), r->a[2], r->a[1]) : 0;
}

/* a choice inside a choice with the same condition is decided */
static ag_id select_again(ag_graph *g, const ag_request *r) {
  ag_id c = r->a[0], a = r->a[1], b = r->a[2];
  if (op_of(g, a) == AG_OP_SELECT && arg(g, a, 0) == c) return ag_select(g, c, arg(g, a, 1), b);
  if (op_of(g, b) == AG_OP_SELECT && arg(g, b, 0) == c) return ag_select(g, c, a, arg(g, b, 2));
  return 0;
}

/* a pivot is checked once */
static ag_id check_again(ag_graph *g, const ag_request *r) {
  ag_op inner = op_of(g, r->a[0]);
  return inner == r->op ? r->a[0] : 0;
}

/* clang-format off */
#define RULE(OP, FUNCTION) {AG_OP_##OP, FUNCTION, #OP ": " #FUNCTION}
static const ag_rule rules[] = {
    RULE(NEG, neg_neg), RULE(NEG, neg_sub), RULE(NEG, neg_number), RULE(NEG, ag_rule_mask),
    RULE(ADD, add_zero), RULE(ADD, add_like), RULE(ADD, add_sign), RULE(ADD, add_cancel),
    RULE(ADD, add_number),
    RULE(ADD, add_factor), RULE(ADD, add_stack), RULE(ADD, add_concat), RULE(ADD, add_masks), RULE(ADD, add_circle),
    RULE(SUB, sub_zero), RULE(SUB, add_like), RULE(SUB, add_sign), RULE(SUB, sub_cancel),
    RULE(SUB, sub_number),
    RULE(SUB, add_factor), RULE(SUB, add_stack), RULE(SUB, add_concat), RULE(SUB, add_masks), RULE(SUB, add_circle),
    RULE(MUL, mul_zero), RULE(MUL, mul_one), RULE(MUL, mul_neg), RULE(MUL, mul_number),
    RULE(MUL, mul_root), RULE(MUL, ag_rule_mask),
    RULE(DIV, div_one), RULE(DIV, div_neg), RULE(DIV, div_number), RULE(DIV, div_div),
    RULE(DIV, ag_rule_mask),
    RULE(POW, pow_number),
    RULE(SQRT, sqrt_square),
    RULE(SIN, undo),
    RULE(COS, undo),
    RULE(TAN, undo),
    RULE(EXP, undo),
    RULE(LOG, undo),
    RULE(ABS, abs_positive),
    RULE(MIN, idempotent), RULE(MAX, idempotent),
    RULE(SELECT, select_known), RULE(SELECT, select_not), RULE(SELECT, select_again),
    RULE(CHECKPOS, check_again), RULE(CHECKNZ, check_again),
};
/* clang-format on */

#define PARITY_none(NAME)
#define PARITY_odd(NAME) RULE(NAME, odd),
#define PARITY_even(NAME) RULE(NAME, even),
static const ag_rule common[] = {
#define AG_OP(NAME, text, arity, call, parity, ...) RULE(NAME, fold), PARITY_##parity(NAME)
#include "expr/op.def"
};

const ag_rule *ag_rules_common(int *n) {
  *n = (int)(sizeof common / sizeof *common);
  return common;
}

const ag_rule *ag_rules_scalar(int *n) {
  *n = (int)(sizeof rules / sizeof *rules);
  return rules;
}
