/* SPDX-License-Identifier: MIT
 * Rules applied while building, vectors and matrices from their entries and back, and scalar factors.
 *
 * Scalars and signs are pulled out of everything linear. Builder calls are never two in one argument list: their order,
 * and with it the order of the ids, would be the compiler's choice. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "expr/simplify_internal.h"

static int rows(const ag_graph *g, ag_id x) { return g->nodes[x].rows; }
static int cols(const ag_graph *g, ag_id x) { return g->nodes[x].cols; }

static ag_id with_arg(ag_graph *g, const ag_request *r, int k, ag_id x) {
  ag_id a[2] = {r->a[0], r->n > 1 ? r->a[1] : 0};
  a[k] = x;
  return ag_build(g, r->op, r->rows, r->cols, r->n, a, r->payload);
}

/* ---- of several operations ---- */

ag_id ag_rule_zero(ag_graph *g, const ag_request *r) {
  for (int k = r->op == AG_OP_SOLVE ? 1 : 0; k < r->n; k++)
    if (ag_is_zero(g, r->a[k])) return ag_zero(g, r->rows, r->cols);
  return 0;
}

/* f(s a) = s f(a), f(-a) = -f(a) in every linear argument */
ag_id ag_rule_scale(ag_graph *g, const ag_request *r) {
  ag_id s, x;
  for (int k = r->op == AG_OP_SOLVE ? 1 : 0; k < r->n; k++)
    if (ag_split_scale(g, r->a[k], &s, &x)) return ag_mul(g, s, with_arg(g, r, k, x));
  return 0;
}

/* f(a + b) = f(a) + f(b), likewise for -, unary -, scalar factors and choices: for entries and rows */
static ag_id push_in(ag_graph *g, const ag_request *r) {
  ag_id x = r->a[0];
  ag_op op = op_of(g, x);
  if (op == AG_OP_NEG) return ag_neg(g, with_arg(g, r, 0, arg(g, x, 0)));
  if (op == AG_OP_SCALE) {
    ag_id y = with_arg(g, r, 0, arg(g, x, 1));
    return ag_mul(g, arg(g, x, 0), y);
  }
  if (op == AG_OP_ADD || op == AG_OP_SUB) {
    ag_id a = with_arg(g, r, 0, arg(g, x, 0)), b = with_arg(g, r, 0, arg(g, x, 1));
    return op == AG_OP_ADD ? ag_add(g, a, b) : ag_sub(g, a, b);
  }
  if (op != AG_OP_SELECT) return 0;
  ag_id a = with_arg(g, r, 0, arg(g, x, 1)), b = with_arg(g, r, 0, arg(g, x, 2));
  return ag_select(g, arg(g, x, 0), a, b);
}

/* ---- written-out tensors ---- */

static ag_id stack_constant(ag_graph *g, const ag_request *r) {
  bool zero = true, eye = r->rows == r->cols;
  for (int k = 0; k < r->n && (zero || eye); k++) {
    double v = 2;
    ag_is_num(g, r->a[k], &v);
    zero = zero && v == 0;
    eye = eye && v == (k / r->cols == k % r->cols);
  }
  return zero ? ag_zero(g, r->rows, r->cols) : eye ? ag_eye(g, r->rows) : 0;
}

/* [0, 0, s] = s e3: what is fixed in direction is seen to be */
static ag_id stack_unit(ag_graph *g, const ag_request *r) {
  int at = -1;
  double v;
  if (r->rows != 3 || r->cols != 1) return 0;
  for (int k = 0; k < 3; k++) {
    if (ag_is_zero(g, r->a[k])) continue;
    if (at >= 0) return 0;
    at = k;
  }
  if (at < 0 || (ag_is_num(g, r->a[at], &v) && v == 1)) return 0;
  ag_id e[3];
  for (int k = 0; k < 3; k++) e[k] = ag_num(g, k == at);
  return ag_mul(g, r->a[at], ag_stack(g, 3, 1, e));
}

/* all entries of x in order are x */
static ag_id stack_whole(ag_graph *g, const ag_request *r) {
  ag_id x = is_op(g, r->a[0], AG_OP_ENTRY) ? arg(g, r->a[0], 0) : 0;
  if (!x || rows(g, x) != r->rows || cols(g, x) != r->cols) return 0;
  for (int k = 0; k < r->n; k++) {
    const ag_node *e = &g->nodes[r->a[k]];
    if (e->op != AG_OP_ENTRY || g->pool[e->first] != x || e->payload.at.i != k / r->cols ||
        e->payload.at.j != k % r->cols)
      return 0;
  }
  return x;
}

/* [[a, b], c] = [a, b, c]; columns that are all written out become one */
static ag_id concat_flat(ag_graph *g, const ag_request *r) {
  bool nested = false, written = true;
  int n = 0;
  for (int k = 0; k < r->n; k++) {
    ag_op op = op_of(g, r->a[k]);
    nested = nested || op == AG_OP_CONCAT;
    written = written && (op == AG_OP_STACK || op == AG_OP_ZERO || rows(g, r->a[k]) == 1);
    n += op == AG_OP_CONCAT ? ag_node_n_arg(g, r->a[k]) : 1;
  }
  if (!nested && !written) return 0;
  ag_id *e = ag_heap_alloc(sizeof *e * (size_t)(written ? r->rows : n));
  n = 0;
  for (int k = 0; k < r->n; k++) {
    int parts = written ? rows(g, r->a[k]) : is_op(g, r->a[k], AG_OP_CONCAT) ? ag_node_n_arg(g, r->a[k]) : 0;
    for (int i = 0; i < parts; i++) e[n++] = written ? ag_entry(g, r->a[k], i, 0) : arg(g, r->a[k], i);
    if (parts == 0) e[n++] = r->a[k];
  }
  ag_id x = written ? ag_stack(g, n, 1, e) : ag_concat(g, n, e);
  free(e);
  return x;
}

/* First row of the piece of x that p is (entry of a column, or rows), or -1. */
static int piece_from(const ag_graph *g, ag_id p, ag_id *x) {
  const ag_node *n = &g->nodes[p];
  if (n->op != AG_OP_ROWS && n->op != AG_OP_ENTRY) return -1;
  *x = g->pool[n->first];
  return cols(g, *x) == 1 ? n->payload.at.i : -1;
}

/* pieces of x one after another are one piece */
static ag_id concat_pieces(ag_graph *g, const ag_request *r) {
  ag_id x, y = 0;
  for (int k = 0; k + 1 < r->n; k++) {
    int from = piece_from(g, r->a[k], &x), n = rows(g, r->a[k]);
    if (from < 0 || piece_from(g, r->a[k + 1], &y) != from + n || x != y) continue;
    ag_id *e = ag_heap_alloc(sizeof *e * (size_t)r->n);
    int m = k, last = k;
    while (last + 1 < r->n && piece_from(g, r->a[last + 1], &y) == from + n && y == x) n += rows(g, r->a[++last]);
    memcpy(e, r->a, sizeof *e * (size_t)k);
    e[m++] = ag_rows_of(g, x, from, n);
    for (int i = last + 1; i < r->n; i++) e[m++] = r->a[i];
    ag_id whole = ag_concat(g, m, e);
    free(e);
    return whole;
  }
  return 0;
}

/* ---- entries and rows ---- */

/* Row in which part k of a concatenation begins is searched from the top; *within = i inside the part. */
static ag_id concat_part(const ag_graph *g, ag_id x, int i, int *within) {
  const ag_id *a = ag_node_args(g, x);
  int k = 0;
  while (i >= rows(g, a[k])) i -= rows(g, a[k++]);
  *within = i;
  return a[k];
}

static ag_id entry_written(ag_graph *g, const ag_request *r) {
  ag_id x = r->a[0];
  int i = (int)(uint32_t)r->payload, j = (int)(r->payload >> 32), within;
  switch (op_of(g, x)) {
  case AG_OP_ZERO: return ag_num(g, 0);
  case AG_OP_EYE: return ag_num(g, i == j);
  case AG_OP_STACK: return arg(g, x, i * cols(g, x) + j);
  case AG_OP_CONCAT: x = concat_part(g, x, i, &within); return ag_entry(g, x, within, 0);
  case AG_OP_TRANSPOSE: return ag_entry(g, arg(g, x, 0), j, i);
  case AG_OP_ROTATION: return ag_entry(g, arg(g, x, 0), i, j);
  case AG_OP_ROWS: return ag_entry(g, arg(g, x, 0), g->nodes[x].payload.at.i + i, j);
  case AG_OP_HAT:
    if (i == j) return ag_num(g, 0);
    x = ag_entry(g, arg(g, x, 0), 3 - i - j, 0);
    return (i + 1) % 3 == j ? ag_neg(g, x) : x;
  default: return 0;
  }
}

/* (A B)_ij when A B is an outer product, or row i of A is written out with at most two entries that are not 0 */
static ag_id entry_product(ag_graph *g, const ag_request *r) {
  ag_id x = r->a[0];
  int i = (int)(uint32_t)r->payload, j = (int)(r->payload >> 32), n = 0;
  if (!is_op(g, x, AG_OP_MATMUL)) return 0;
  ag_id A = arg(g, x, 0), B = arg(g, x, 1);
  int m = cols(g, A);
  if (m > 1 && !is_op(g, A, AG_OP_STACK)) return 0;
  for (int k = 0; k < m; k++) n += m == 1 || !ag_is_zero(g, ag_entry(g, A, i, k));
  if (n > 2) return 0;
  ag_id y = ag_num(g, 0);
  for (int k = 0; k < m; k++) {
    ag_id a = ag_entry(g, A, i, k);
    if (ag_is_zero(g, a)) continue;
    ag_id p = ag_mul(g, a, ag_entry(g, B, k, j));
    y = ag_add(g, y, p);
  }
  return y;
}

ag_id ag_cross_entry(ag_graph *g, ag_id a, ag_id b, int i) {
  int j = (i + 1) % 3, k = (i + 2) % 3;
  ag_id aj = ag_entry(g, a, j, 0), p = ag_mul(g, aj, ag_entry(g, b, k, 0));
  ag_id ak = ag_entry(g, a, k, 0), q = ag_mul(g, ak, ag_entry(g, b, j, 0));
  return ag_sub(g, p, q);
}

/* (a x b)_i when a or b is a vector of numbers */
static ag_id entry_cross(ag_graph *g, const ag_request *r) {
  ag_id x = r->a[0];
  if (!is_op(g, x, AG_OP_CROSS) || !(ag_all_num(g, arg(g, x, 0)) || ag_all_num(g, arg(g, x, 1)))) return 0;
  return ag_cross_entry(g, arg(g, x, 0), arg(g, x, 1), (int)(uint32_t)r->payload);
}

static ag_id rows_written(ag_graph *g, const ag_request *r) {
  ag_id x = r->a[0];
  int from = (int)(uint32_t)r->payload, m = r->cols, within;
  ag_op op = op_of(g, x);
  if (op == AG_OP_ZERO) return ag_zero(g, r->rows, m);
  if (op == AG_OP_ROWS) return ag_rows_of(g, arg(g, x, 0), g->nodes[x].payload.at.i + from, r->rows);
  if (op == AG_OP_CONCAT) {
    ag_id part = concat_part(g, x, from, &within);
    if (within + r->rows <= rows(g, part)) return ag_rows_of(g, part, within, r->rows);
  }
  if (op != AG_OP_STACK && op != AG_OP_EYE && op != AG_OP_CONCAT) return 0;
  ag_id *e = ag_heap_alloc(sizeof *e * (size_t)(r->rows * m));
  for (int k = 0; k < r->rows * m; k++) e[k] = ag_entry(g, x, from + k / m, k % m);
  ag_id y = ag_stack(g, r->rows, m, e);
  free(e);
  return y;
}

/* ---- scalar times tensor ---- */

/* a number goes into a written-out tensor of which at least one entry takes it up */
static ag_id scale_stack(ag_graph *g, const ag_request *r) {
  ag_id x = r->a[1];
  if (!is_op(g, r->a[0], AG_OP_NUM) || !is_op(g, x, AG_OP_STACK) || !ag_all_num(g, x) || ag_is_unit(g, x)) return 0;
  int n = r->rows * r->cols;
  ag_id *e = ag_heap_alloc(sizeof *e * (size_t)n);
  for (int k = 0; k < n; k++) e[k] = ag_mul(g, r->a[0], arg(g, x, k));
  ag_id y = ag_stack(g, r->rows, r->cols, e);
  free(e);
  return y;
}

static ag_id scale_simple(ag_graph *g, const ag_request *r) {
  double c;
  ag_id s = r->a[0], x = r->a[1];
  if (ag_is_num(g, s, &c) && c == 1) return x;
  if (ag_is_num(g, s, &c) && c == -1) return ag_neg(g, x);
  if (is_op(g, s, AG_OP_NEG)) return ag_neg(g, ag_mul(g, arg(g, s, 0), x));
  if (is_op(g, x, AG_OP_NEG)) return ag_neg(g, ag_mul(g, s, arg(g, x, 0)));
  return 0;
}

/* s (t a) = (s t) a */
static ag_id scale_scale(ag_graph *g, const ag_request *r) {
  ag_id x = r->a[1];
  if (!is_op(g, x, AG_OP_SCALE)) return 0;
  ag_id s = ag_mul(g, r->a[0], arg(g, x, 0));
  return ag_mul(g, s, arg(g, x, 1));
}

static const ag_rule rules[] = {
    AG_RULE(STACK, stack_constant), AG_RULE(STACK, stack_unit),     AG_RULE(STACK, stack_whole),
    AG_RULE(CONCAT, concat_flat),   AG_RULE(CONCAT, concat_pieces), AG_RULE(ENTRY, entry_written),
    AG_RULE(ENTRY, push_in),        AG_RULE(ENTRY, entry_product),  AG_RULE(ENTRY, entry_cross),
    AG_RULE(ROWS, rows_written),    AG_RULE(ROWS, push_in),         AG_RULE(SCALE, ag_rule_zero),
    AG_RULE(SCALE, scale_simple),   AG_RULE(SCALE, scale_scale),    AG_RULE(SCALE, scale_stack),
    AG_RULE(SCALE, ag_rule_mask),
};

const ag_rule *ag_rules_tensor(int *n) {
  *n = (int)(sizeof rules / sizeof *rules);
  return rules;
}
