/* SPDX-License-Identifier: MIT
 * The builders: shapes are checked here, the operation is chosen by shape, the rules of simplify*.c do the rest. */
#include <stdlib.h>

#include "expr/graph_internal.h"

static int rows(const ag_graph *g, ag_id x) { return g->nodes[x].rows; }
static int cols(const ag_graph *g, ag_id x) { return g->nodes[x].cols; }

static ag_id binary(ag_graph *g, ag_op op, int n, int m, ag_id a, ag_id b) {
  return ag_build(g, op, n, m, 2, (ag_id[]){a, b}, 0);
}

static ag_id same_shape(ag_graph *g, ag_op op, ag_id a, ag_id b) {
  AG_ASSERT(rows(g, a) == rows(g, b) && cols(g, a) == cols(g, b));
  return binary(g, op, rows(g, a), cols(g, a), a, b);
}

ag_id ag_add(ag_graph *g, ag_id a, ag_id b) { return same_shape(g, AG_OP_ADD, a, b); }
ag_id ag_sub(ag_graph *g, ag_id a, ag_id b) { return same_shape(g, AG_OP_SUB, a, b); }
ag_id ag_neg(ag_graph *g, ag_id a) { return ag_build(g, AG_OP_NEG, rows(g, a), cols(g, a), 1, &a, 0); }

ag_id ag_mul(ag_graph *g, ag_id a, ag_id b) {
  bool scalar_a = ag_is_scalar(g, a), scalar_b = ag_is_scalar(g, b);
  if (scalar_a && scalar_b) return binary(g, AG_OP_MUL, 1, 1, a, b);
  if (scalar_a) return binary(g, AG_OP_SCALE, rows(g, b), cols(g, b), a, b);
  if (scalar_b) return binary(g, AG_OP_SCALE, rows(g, a), cols(g, a), b, a);
  AG_ASSERT(cols(g, a) == rows(g, b));
  if (rows(g, a) == 1 && cols(g, b) == 1) return ag_dot(g, ag_transpose(g, a), b);
  return binary(g, AG_OP_MATMUL, rows(g, a), cols(g, b), a, b);
}

ag_id ag_div(ag_graph *g, ag_id a, ag_id b) {
  AG_ASSERT(ag_is_scalar(g, b));
  if (ag_is_scalar(g, a)) return binary(g, AG_OP_DIV, 1, 1, a, b);
  return ag_mul(g, ag_div(g, ag_num(g, 1), b), a);
}

ag_id ag_pow(ag_graph *g, ag_id a, ag_id b) { return ag_apply2(g, AG_OP_POW, a, b); }

ag_id ag_apply(ag_graph *g, ag_op op, const ag_id *args) {
  int arity = ag_op_describe(op)->arity;
  AG_ASSERT(op >= AG_OP_NEG && op <= AG_OP_CHECKNZ);
  for (int i = 0; i < arity; i++) AG_ASSERT(ag_is_scalar(g, args[i]));
  return ag_build(g, op, 1, 1, arity, args, 0);
}

ag_id ag_apply1(ag_graph *g, ag_op op, ag_id a) {
  AG_ASSERT(ag_op_describe(op)->arity == 1);
  return ag_apply(g, op, &a);
}

ag_id ag_apply2(ag_graph *g, ag_op op, ag_id a, ag_id b) {
  AG_ASSERT(ag_op_describe(op)->arity == 2);
  return ag_apply(g, op, (ag_id[]){a, b});
}

ag_id ag_select(ag_graph *g, ag_id condition, ag_id a, ag_id b) {
  AG_ASSERT(ag_is_scalar(g, condition) && rows(g, a) == rows(g, b) && cols(g, a) == cols(g, b));
  return ag_build(g, AG_OP_SELECT, rows(g, a), cols(g, a), 3, (ag_id[]){condition, a, b}, 0);
}

ag_id ag_dot(ag_graph *g, ag_id a, ag_id b) {
  AG_ASSERT(cols(g, a) == 1 && cols(g, b) == 1 && rows(g, a) == rows(g, b));
  return rows(g, a) == 1 ? ag_mul(g, a, b) : binary(g, AG_OP_DOT, 1, 1, a, b);
}

ag_id ag_cross(ag_graph *g, ag_id a, ag_id b) {
  AG_ASSERT(rows(g, a) == 3 && cols(g, a) == 1 && rows(g, b) == 3 && cols(g, b) == 1);
  return binary(g, AG_OP_CROSS, 3, 1, a, b);
}

ag_id ag_hat(ag_graph *g, ag_id a) {
  AG_ASSERT(rows(g, a) == 3 && cols(g, a) == 1);
  return ag_build(g, AG_OP_HAT, 3, 3, 1, &a, 0);
}

ag_id ag_norm(ag_graph *g, ag_id a) {
  AG_ASSERT(cols(g, a) == 1);
  return rows(g, a) == 1 ? ag_apply1(g, AG_OP_ABS, a) : ag_build(g, AG_OP_NORM, 1, 1, 1, &a, 0);
}

ag_id ag_transpose(ag_graph *g, ag_id a) {
  return ag_is_scalar(g, a) ? a : ag_build(g, AG_OP_TRANSPOSE, cols(g, a), rows(g, a), 1, &a, 0);
}

ag_id ag_stack(ag_graph *g, int n, int m, const ag_id *entries) {
  AG_ASSERT(n > 0 && m > 0);
  for (int i = 0; i < n * m; i++) AG_ASSERT(ag_is_scalar(g, entries[i]));
  return n * m == 1 ? entries[0] : ag_build(g, AG_OP_STACK, n, m, n * m, entries, 0);
}

ag_id ag_concat(ag_graph *g, int n, const ag_id *columns) {
  int total = 0;
  AG_ASSERT(n > 0);
  for (int i = 0; i < n; i++) {
    AG_ASSERT(cols(g, columns[i]) == 1);
    total += rows(g, columns[i]);
  }
  return n == 1 ? columns[0] : ag_build(g, AG_OP_CONCAT, total, 1, n, columns, 0);
}

ag_id ag_entry(ag_graph *g, ag_id a, int i, int j) {
  AG_ASSERT(i >= 0 && i < rows(g, a) && j >= 0 && j < cols(g, a));
  return ag_is_scalar(g, a) ? a : ag_build(g, AG_OP_ENTRY, 1, 1, 1, &a, ag_payload(i, j));
}

ag_id ag_rows_of(ag_graph *g, ag_id a, int from, int n) {
  AG_ASSERT(from >= 0 && n > 0 && from + n <= rows(g, a));
  if (n == rows(g, a)) return a;
  if (n == 1 && cols(g, a) == 1) return ag_entry(g, a, from, 0);
  return ag_build(g, AG_OP_ROWS, n, cols(g, a), 1, &a, ag_payload(from, 0));
}

ag_id ag_det(ag_graph *g, ag_id a) {
  AG_ASSERT(rows(g, a) == cols(g, a));
  return ag_is_scalar(g, a) ? a : ag_build(g, AG_OP_DET, 1, 1, 1, &a, 0);
}

ag_id ag_rotation(ag_graph *g, ag_id a) {
  AG_ASSERT(rows(g, a) == 3 && cols(g, a) == 3);
  return ag_build(g, AG_OP_ROTATION, 3, 3, 1, &a, 0);
}

ag_id ag_solve(ag_graph *g, ag_id A, ag_id b, ag_solve_kind kind) {
  AG_ASSERT(rows(g, A) == cols(g, A) && rows(g, A) == rows(g, b));
  if (!ag_is_scalar(g, A))
    return ag_build(g, AG_OP_SOLVE, rows(g, b), cols(g, b), 2, (ag_id[]){A, b}, ag_payload((int)kind, 0));
  if (kind == AG_SOLVE_SPD) A = ag_apply1(g, AG_OP_CHECKPOS, A);
  if (kind == AG_SOLVE_NEAR_EYE) A = ag_apply1(g, AG_OP_CHECKNZ, A);
  return ag_div(g, b, A);
}

ag_id ag_inverse(ag_graph *g, ag_id A) { return ag_solve(g, A, ag_eye(g, rows(g, A)), AG_SOLVE_GENERAL); }
