/* SPDX-License-Identifier: MIT
 * Rules applied while building: products of matrices and vectors, norms, solves, determinants, rotations.
 *
 * R is any node known to be a rotation; its inverse is its transpose. Canonical forms: dot(R a, b) becomes
 * dot(a, R^T b) (R itself never a transpose), products associate to the right, cross(R a, R b) becomes R cross(a, b).
 * Builder calls are never two in one argument list: their order, and with it the order of the ids, would be the
 * compiler's choice. */
#include <math.h>
#include <stdlib.h>

#include "expr/simplify_internal.h"

static int rows(const ag_graph *g, ag_id x) { return g->nodes[x].rows; }
static int cols(const ag_graph *g, ag_id x) { return g->nodes[x].cols; }

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

static bool is_prepared(const ag_graph *g, ag_id x) { return g->nodes[x].flags & AG_NODE_PREPARED; }

/* A for B A B^T, however that is put together; else the matrix itself. */
static ag_id congruent(const ag_graph *g, ag_id x) {
  if (!is_op(g, x, AG_OP_MATMUL)) return x;
  ag_id B = arg(g, x, 0), C = arg(g, x, 1), A = x;
  if (is_op(g, B, AG_OP_MATMUL)) A = arg(g, B, 1), B = arg(g, B, 0);
  else if (is_op(g, C, AG_OP_MATMUL)) A = arg(g, C, 0), C = arg(g, C, 1);
  bool pair = (is_op(g, B, AG_OP_TRANSPOSE) && arg(g, B, 0) == C) ||
              (is_op(g, C, AG_OP_TRANSPOSE) && arg(g, C, 0) == B);
  return pair ? A : x;
}

/* Written out with equal entries across the diagonal, or B A B^T of such a matrix. */
static bool is_symmetric(const ag_graph *g, ag_id A) {
  A = congruent(g, A);
  int n = rows(g, A);
  if (!is_op(g, A, AG_OP_STACK) || cols(g, A) != n) return false;
  for (int k = 0; k < n * n; k++)
    if (arg(g, A, k) != arg(g, A, k % n * n + k / n)) return false;
  return true;
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

/* (A B) C = A (B C): for a column, for an outer product A B, and for rotations; not where A B is computed once */
static ag_id matmul_right(ag_graph *g, const ag_request *r) {
  ag_id A = r->a[0], C = r->a[1];
  if (!is_op(g, A, AG_OP_MATMUL)) return 0;
  bool outer = cols(g, arg(g, A, 0)) == 1;
  if (!outer && is_prepared(g, A) && !ag_is_rotation(g, A) && !is_prepared(g, C)) return 0;
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

/* (A B)^T = B^T A^T for rotations and outer products; S^T = S */
static ag_id transpose_product(ag_graph *g, const ag_request *r) {
  ag_id x = r->a[0];
  if (is_symmetric(g, x)) return x;
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

/* dot(b, A a) is there already, A symmetric: dot(a, A b) is the same. */
static ag_id dot_symmetric(ag_graph *g, const ag_request *r) {
  for (int k = 0; k < 2; k++) {
    ag_id a = r->a[k], Ab = r->a[1 - k];
    if (!is_op(g, Ab, AG_OP_MATMUL) || !is_symmetric(g, arg(g, Ab, 0))) continue;
    ag_id b = arg(g, Ab, 1), Aa = ag_find(g, AG_OP_MATMUL, rows(g, a), 1, 2, (ag_id[]){arg(g, Ab, 0), a}, 0);
    ag_id x = Aa ? ag_find(g, AG_OP_DOT, 1, 1, 2, (ag_id[]){b < Aa ? b : Aa, b < Aa ? Aa : b}, 0) : 0;
    if (x) return x;
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
  for (int i = 0; i < 3; i++) e[i] = ag_cross_entry(g, a, b, i);
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

static const ag_rule rules[] = {
    AG_RULE(MATMUL, ag_rule_zero),
    AG_RULE(MATMUL, ag_rule_scale),
    AG_RULE(MATMUL, matmul_eye),
    AG_RULE(MATMUL, matmul_right),
    AG_RULE(MATMUL, matmul_undo),
    AG_RULE(MATMUL, matmul_known),
    AG_RULE(MATMUL, matmul_written),
    AG_RULE(MATMUL, ag_rule_mask),
    AG_RULE(TRANSPOSE, ag_rule_zero),
    AG_RULE(TRANSPOSE, ag_rule_scale),
    AG_RULE(TRANSPOSE, transpose_known),
    AG_RULE(TRANSPOSE, transpose_stack),
    AG_RULE(TRANSPOSE, transpose_product),
    AG_RULE(TRANSPOSE, ag_rule_mask),
    AG_RULE(DOT, ag_rule_zero),
    AG_RULE(DOT, ag_rule_scale),
    AG_RULE(DOT, dot_triple),
    AG_RULE(DOT, dot_rotation),
    AG_RULE(DOT, dot_symmetric),
    AG_RULE(DOT, dot_written),
    AG_RULE(DOT, ag_rule_mask),
    AG_RULE(CROSS, ag_rule_zero),
    AG_RULE(CROSS, ag_rule_scale),
    AG_RULE(CROSS, cross_same),
    AG_RULE(CROSS, cross_rotation),
    AG_RULE(CROSS, cross_written),
    AG_RULE(CROSS, cross_reversed),
    AG_RULE(CROSS, ag_rule_mask),
    AG_RULE(HAT, ag_rule_zero),
    AG_RULE(HAT, ag_rule_scale),
    AG_RULE(HAT, ag_rule_mask),
    AG_RULE(NORM, norm_known),
    AG_RULE(SOLVE, ag_rule_zero),
    AG_RULE(SOLVE, ag_rule_scale),
    AG_RULE(SOLVE, solve_known),
    AG_RULE(SOLVE, ag_rule_mask),
    AG_RULE(DET, det_known),
    AG_RULE(ROTATION, rotation_known),
};

const ag_rule *ag_rules_product(int *n) {
  *n = (int)(sizeof rules / sizeof *rules);
  return rules;
}
