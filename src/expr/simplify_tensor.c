/* SPDX-License-Identifier: MIT
 * Rules applied while building, part two: vectors, matrices and rotations.
 *
 * Scalars and signs are pulled out of everything linear. R is any node known to be a rotation; its inverse is its
 * transpose. Canonical forms: dot(R a, b) becomes dot(a, R^T b) (R itself never a transpose), products associate to the
 * right, cross(R a, R b) becomes R cross(a, b). Builder calls are never two in one argument list: their order, and with
 * it the order of the ids, would be the compiler's choice. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "expr/graph_internal.h"

static ag_op op_of(const ag_graph *g, ag_id x) { return g->nodes[x].op; }
static ag_id arg(const ag_graph *g, ag_id x, int i) { return ag_node_arg(g, x, i); }
static int rows(const ag_graph *g, ag_id x) { return g->nodes[x].rows; }
static int cols(const ag_graph *g, ag_id x) { return g->nodes[x].cols; }

static bool is_op(const ag_graph *g, ag_id x, ag_op op) { return op_of(g, x) == op; }

/* x = A y */
static bool is_product(const ag_graph *g, ag_id x, ag_id A) { return is_op(g, x, AG_OP_MATMUL) && arg(g, x, 0) == A; }

static bool inverse_pair(const ag_graph *g, ag_id A, ag_id B) {
  if (!ag_is_rotation(g, A) || !ag_is_rotation(g, B)) return false;
  return (is_op(g, A, AG_OP_TRANSPOSE) && arg(g, A, 0) == B) || (is_op(g, B, AG_OP_TRANSPOSE) && arg(g, B, 0) == A);
}

/* x = R^-1 y for the rotation R; the y */
static ag_id undone(const ag_graph *g, ag_id R, ag_id x) {
  return is_op(g, x, AG_OP_MATMUL) && inverse_pair(g, R, arg(g, x, 0)) ? arg(g, x, 1) : 0;
}

static ag_id with_arg(ag_graph *g, const ag_request *r, int k, ag_id x) {
  ag_id a[2] = {r->a[0], r->n > 1 ? r->a[1] : 0};
  a[k] = x;
  return ag_build(g, r->op, r->rows, r->cols, r->n, a, r->payload);
}

/* ---- of several operations ---- */

static ag_id any_zero(ag_graph *g, const ag_request *r) {
  for (int k = r->op == AG_OP_SOLVE ? 1 : 0; k < r->n; k++)
    if (ag_is_zero(g, r->a[k])) return ag_zero(g, r->rows, r->cols);
  return 0;
}

/* f(s a) = s f(a), f(-a) = -f(a) in every linear argument */
static ag_id pull_scale(ag_graph *g, const ag_request *r) {
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

static ag_id cross_entry(ag_graph *g, ag_id a, ag_id b, int i) {
  int j = (i + 1) % 3, k = (i + 2) % 3;
  ag_id aj = ag_entry(g, a, j, 0), p = ag_mul(g, aj, ag_entry(g, b, k, 0));
  ag_id ak = ag_entry(g, a, k, 0), q = ag_mul(g, ak, ag_entry(g, b, j, 0));
  return ag_sub(g, p, q);
}

/* (a x b)_i when a or b is a vector of numbers */
static ag_id entry_cross(ag_graph *g, const ag_request *r) {
  ag_id x = r->a[0];
  if (!is_op(g, x, AG_OP_CROSS) || !(ag_all_num(g, arg(g, x, 0)) || ag_all_num(g, arg(g, x, 1)))) return 0;
  return cross_entry(g, arg(g, x, 0), arg(g, x, 1), (int)(uint32_t)r->payload);
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

/* ---- matrix products ---- */

static ag_id matmul_eye(ag_graph *g, const ag_request *r) {
  ag_id A = r->a[0], B = r->a[1];
  if (is_op(g, A, AG_OP_EYE)) return B;
  if (is_op(g, B, AG_OP_EYE)) return A;
  return inverse_pair(g, A, B) ? ag_eye(g, 3) : 0;
}

/* Is there a term R a in the sum x, at most `depth` operations down? */
static bool has_undone(const ag_graph *g, ag_id R, ag_id x, int depth) {
  if (undone(g, R, x)) return true;
  ag_op op = op_of(g, x);
  if (!depth) return false;
  if (op == AG_OP_NEG) return has_undone(g, R, arg(g, x, 0), depth - 1);
  if (op == AG_OP_SCALE) return has_undone(g, R, arg(g, x, 1), depth - 1);
  if (op != AG_OP_ADD && op != AG_OP_SUB && op != AG_OP_CROSS) return false;
  return has_undone(g, R, arg(g, x, 0), depth - 1) || has_undone(g, R, arg(g, x, 1), depth - 1);
}

/* R^-1 (R a) = a, also inside sums and cross products: R^-1 (s R a + b) = s a + R^-1 b */
static ag_id matmul_undo(ag_graph *g, const ag_request *r) {
  ag_id R = r->a[0], x = r->a[1];
  if (!ag_is_rotation(g, R)) return 0;
  ag_id y = undone(g, R, x);
  if (y) return y;
  ag_op op = op_of(g, x);
  if ((op != AG_OP_ADD && op != AG_OP_SUB && op != AG_OP_CROSS) || !has_undone(g, R, x, 12)) return 0;
  ag_id a = ag_mul(g, R, arg(g, x, 0)), b = ag_mul(g, R, arg(g, x, 1));
  return op == AG_OP_CROSS ? ag_cross(g, a, b) : op == AG_OP_ADD ? ag_add(g, a, b) : ag_sub(g, a, b);
}

/* (A B) C = A (B C): for a column, for an outer product A B, and for rotations */
static ag_id matmul_right(ag_graph *g, const ag_request *r) {
  ag_id A = r->a[0], C = r->a[1];
  if (!is_op(g, A, AG_OP_MATMUL)) return 0;
  bool outer = cols(g, arg(g, A, 0)) == 1;
  if (r->cols > 1 && !outer && !(ag_is_rotation(g, arg(g, A, 0)) && ag_is_rotation(g, arg(g, A, 1)))) return 0;
  ag_id y = ag_mul(g, arg(g, A, 1), C);
  return ag_mul(g, arg(g, A, 0), y);
}

/* hat(a) b = a x b; (A^-1) b = solve(A, b) */
static ag_id matmul_known(ag_graph *g, const ag_request *r) {
  ag_id A = r->a[0], b = r->a[1];
  if (is_op(g, A, AG_OP_HAT) && r->cols == 1) return ag_cross(g, arg(g, A, 0), b);
  if (is_op(g, A, AG_OP_SOLVE) && is_op(g, arg(g, A, 1), AG_OP_EYE))
    return ag_solve(g, arg(g, A, 0), b, (ag_solve_kind)g->nodes[A].payload.at.i);
  return 0;
}

/* both written out, and one of them in numbers */
static ag_id matmul_written(ag_graph *g, const ag_request *r) {
  ag_id A = r->a[0], B = r->a[1];
  if (!is_op(g, A, AG_OP_STACK) || !is_op(g, B, AG_OP_STACK) || !(ag_all_num(g, A) || ag_all_num(g, B))) return 0;
  int n = r->rows, m = r->cols, l = cols(g, A);
  ag_id *e = ag_heap_alloc(sizeof *e * (size_t)(n * m));
  for (int k = 0; k < n * m; k++) {
    e[k] = ag_num(g, 0);
    for (int i = 0; i < l; i++) {
      ag_id p = ag_mul(g, arg(g, A, k / m * l + i), arg(g, B, i * m + k % m));
      e[k] = ag_add(g, e[k], p);
    }
  }
  ag_id x = ag_stack(g, n, m, e);
  free(e);
  return x;
}

static ag_id transpose_known(ag_graph *g, const ag_request *r) {
  ag_id x = r->a[0];
  switch (op_of(g, x)) {
  case AG_OP_TRANSPOSE: return arg(g, x, 0);
  case AG_OP_EYE: return x;
  case AG_OP_HAT: return ag_neg(g, x);
  default: return 0;
  }
}

static ag_id transpose_stack(ag_graph *g, const ag_request *r) {
  ag_id x = r->a[0];
  int n = r->rows, m = r->cols;
  if (!is_op(g, x, AG_OP_STACK) || n == 1) return 0;
  ag_id *e = ag_heap_alloc(sizeof *e * (size_t)(n * m));
  for (int k = 0; k < n * m; k++) e[k] = arg(g, x, k % m * n + k / m);
  ag_id y = ag_stack(g, n, m, e);
  free(e);
  return y;
}

/* (A B)^T = B^T A^T for rotations and outer products */
static ag_id transpose_product(ag_graph *g, const ag_request *r) {
  ag_id x = r->a[0];
  if (!is_op(g, x, AG_OP_MATMUL) || !(ag_is_rotation(g, x) || cols(g, arg(g, x, 0)) == 1)) return 0;
  ag_id B = ag_transpose(g, arg(g, x, 1));
  return ag_mul(g, B, ag_transpose(g, arg(g, x, 0)));
}

/* ---- dot and cross ---- */

/* dot(R a, b) = dot(a, R^T b), R no transpose; dot(R^T a, R^T b) = dot(a, b) */
static ag_id dot_rotation(ag_graph *g, const ag_request *r) {
  for (int k = 0; k < 2; k++) {
    ag_id a = r->a[k], b = r->a[1 - k];
    if (!is_op(g, a, AG_OP_MATMUL) || !ag_is_rotation(g, arg(g, a, 0))) continue;
    ag_id R = arg(g, a, 0), u = arg(g, a, 1);
    if (is_product(g, b, R)) return ag_dot(g, u, arg(g, b, 1));
    if (is_op(g, R, AG_OP_TRANSPOSE)) continue;
    ag_id v = ag_mul(g, ag_transpose(g, R), b);
    return ag_dot(g, u, v);
  }
  return 0;
}

/* dot(a, a x b) = 0 */
static ag_id dot_triple(ag_graph *g, const ag_request *r) {
  for (int k = 0; k < 2; k++) {
    ag_id c = r->a[k], a = r->a[1 - k];
    if (is_op(g, c, AG_OP_CROSS) && (arg(g, c, 0) == a || arg(g, c, 1) == a)) return ag_num(g, 0);
  }
  return 0;
}

/* dot(e3, v) = v[3] and the like; both written out: the sum of products */
static ag_id dot_written(ag_graph *g, const ag_request *r) {
  int n = rows(g, r->a[0]), k, count = 0, last = 0;
  for (k = 0; k < 2; k++) {
    ag_id a = r->a[k];
    if (!is_op(g, a, AG_OP_STACK) || !ag_all_num(g, a)) continue;
    for (int i = count = 0; i < n; i++)
      if (!ag_is_zero(g, arg(g, a, i))) count++, last = i;
    if (count == 1) return ag_mul(g, arg(g, a, last), ag_entry(g, r->a[1 - k], last, 0));
  }
  if (!is_op(g, r->a[0], AG_OP_STACK) || !is_op(g, r->a[1], AG_OP_STACK)) return 0;
  ag_id y = ag_num(g, 0);
  for (int i = 0; i < n; i++) {
    ag_id p = ag_mul(g, arg(g, r->a[0], i), arg(g, r->a[1], i));
    y = ag_add(g, y, p);
  }
  return y;
}

static ag_id cross_same(ag_graph *g, const ag_request *r) { return r->a[0] == r->a[1] ? ag_zero(g, 3, 1) : 0; }

/* R a x R b = R (a x b) */
static ag_id cross_rotation(ag_graph *g, const ag_request *r) {
  ag_id a = r->a[0], b = r->a[1];
  if (!is_op(g, a, AG_OP_MATMUL) || !is_product(g, b, arg(g, a, 0)) || !ag_is_rotation(g, arg(g, a, 0))) return 0;
  ag_id c = ag_cross(g, arg(g, a, 1), arg(g, b, 1));
  return ag_mul(g, arg(g, a, 0), c);
}

/* both written out, and one of them in numbers */
static ag_id cross_written(ag_graph *g, const ag_request *r) {
  ag_id a = r->a[0], b = r->a[1], e[3];
  if (!is_op(g, a, AG_OP_STACK) || !is_op(g, b, AG_OP_STACK) || !(ag_all_num(g, a) || ag_all_num(g, b))) return 0;
  for (int i = 0; i < 3; i++) e[i] = cross_entry(g, a, b, i);
  return ag_stack(g, 3, 1, e);
}

/* b x a is there already: a x b = -(b x a) */
static ag_id cross_reversed(ag_graph *g, const ag_request *r) {
  ag_id x = ag_find(g, AG_OP_CROSS, 3, 1, 2, (ag_id[]){r->a[1], r->a[0]}, 0);
  return x ? ag_neg(g, x) : 0;
}

/* ---- norm, solve, det, rotation ---- */

/* |R a| = |a|, |s a| = |s| |a|, numbers are folded */
static ag_id norm_known(ag_graph *g, const ag_request *r) {
  ag_id x = r->a[0], s, y;
  if (ag_is_zero(g, x)) return ag_num(g, 0);
  if (is_op(g, x, AG_OP_MATMUL) && ag_is_rotation(g, arg(g, x, 0))) return ag_norm(g, arg(g, x, 1));
  if (ag_split_scale(g, x, &s, &y)) {
    s = ag_apply1(g, AG_OP_ABS, s);
    return ag_mul(g, s, ag_norm(g, y));
  }
  if (!is_op(g, x, AG_OP_STACK)) return 0;
  if (ag_all_num(g, x)) return ag_apply1(g, AG_OP_SQRT, ag_dot(g, x, x));
  return 0;
}

/* s^-1 b for A = s 1, R^T b for a rotation, b for A = 1 */
static ag_id solve_known(ag_graph *g, const ag_request *r) {
  ag_id A = r->a[0], b = r->a[1], s;
  int kind = (int)(uint32_t)r->payload;
  if (is_op(g, A, AG_OP_EYE)) return b;
  if (ag_is_rotation(g, A) && kind == AG_SOLVE_GENERAL) return ag_mul(g, ag_transpose(g, A), b);
  if (!is_op(g, A, AG_OP_SCALE) || !is_op(g, arg(g, A, 1), AG_OP_EYE)) return 0;
  s = arg(g, A, 0);
  if (kind == AG_SOLVE_SPD) s = ag_apply1(g, AG_OP_CHECKPOS, s);
  if (kind == AG_SOLVE_NEAR_EYE) s = ag_apply1(g, AG_OP_CHECKNZ, s);
  return ag_div(g, b, s);
}

static ag_id det_known(ag_graph *g, const ag_request *r) {
  ag_id x = r->a[0], s, y;
  int n = rows(g, x);
  if (ag_is_zero(g, x)) return ag_num(g, 0);
  if (is_op(g, x, AG_OP_EYE) || ag_is_rotation(g, x)) return ag_num(g, 1);
  if (is_op(g, x, AG_OP_TRANSPOSE)) return ag_det(g, arg(g, x, 0));
  if (!ag_split_scale(g, x, &s, &y)) return 0;
  s = ag_pow(g, s, ag_num(g, n));
  return ag_mul(g, s, ag_det(g, y));
}

static ag_id rotation_known(ag_graph *g, const ag_request *r) { return ag_is_rotation(g, r->a[0]) ? r->a[0] : 0; }

#define RULE(OP, FUNCTION) \
  { AG_OP_##OP, FUNCTION, #OP ": " #FUNCTION }
static const ag_rule rules[] = {
    RULE(STACK, stack_constant),
    RULE(STACK, stack_unit),
    RULE(STACK, stack_whole),
    RULE(CONCAT, concat_flat),
    RULE(CONCAT, concat_pieces),
    RULE(ENTRY, entry_written),
    RULE(ENTRY, push_in),
    RULE(ENTRY, entry_product),
    RULE(ENTRY, entry_cross),
    RULE(ROWS, rows_written),
    RULE(ROWS, push_in),
    RULE(SCALE, any_zero),
    RULE(SCALE, scale_simple),
    RULE(SCALE, scale_scale),
    RULE(SCALE, scale_stack),
    RULE(SCALE, ag_rule_mask),
    RULE(MATMUL, any_zero),
    RULE(MATMUL, pull_scale),
    RULE(MATMUL, matmul_eye),
    RULE(MATMUL, matmul_right),
    RULE(MATMUL, matmul_undo),
    RULE(MATMUL, matmul_known),
    RULE(MATMUL, matmul_written),
    RULE(MATMUL, ag_rule_mask),
    RULE(TRANSPOSE, any_zero),
    RULE(TRANSPOSE, pull_scale),
    RULE(TRANSPOSE, transpose_known),
    RULE(TRANSPOSE, transpose_stack),
    RULE(TRANSPOSE, transpose_product),
    RULE(TRANSPOSE, ag_rule_mask),
    RULE(DOT, any_zero),
    RULE(DOT, pull_scale),
    RULE(DOT, dot_triple),
    RULE(DOT, dot_rotation),
    RULE(DOT, dot_written),
    RULE(DOT, ag_rule_mask),
    RULE(CROSS, any_zero),
    RULE(CROSS, pull_scale),
    RULE(CROSS, cross_same),
    RULE(CROSS, cross_rotation),
    RULE(CROSS, cross_written),
    RULE(CROSS, cross_reversed),
    RULE(CROSS, ag_rule_mask),
    RULE(HAT, any_zero),
    RULE(HAT, pull_scale),
    RULE(HAT, ag_rule_mask),
    RULE(NORM, norm_known),
    RULE(SOLVE, any_zero),
    RULE(SOLVE, pull_scale),
    RULE(SOLVE, solve_known),
    RULE(SOLVE, ag_rule_mask),
    RULE(DET, det_known),
    RULE(ROTATION, rotation_known),
};

const ag_rule *ag_rules_tensor(int *n) {
  *n = (int)(sizeof rules / sizeof *rules);
  return rules;
}
