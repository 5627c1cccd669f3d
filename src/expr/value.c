/* SPDX-License-Identifier: MIT
 * Scalar operations on doubles, with the functions the kernels use: a constant folded while building has the bits it
 * would have at run time. */
#define AG_LANES 1
#define AG_VMATH_CALL
#include "expr/vmath.h"
#include "expr/vsolve.h"

#include "expr/graph_internal.h"

#define VALUE(NAME, value) \
  case AG_OP_##NAME: \
    return value;
#define AG_OP(NAME, text, arity, call, parity, value, ...) VALUE(NAME, value)
#define AG_OP_TAPE(NAME, text, arity, value, ...) VALUE(NAME, value)

double ag_op_value(ag_op op, const double *args) {
  int n = ag_op_describe(op)->arity;
  const double a = args[0], b = n > 1 ? args[1] : 0, c = n > 2 ? args[2] : 0;
  VI fail = 0;
  switch (op) {
#include "expr/op.def"
  default: AG_ASSERT(false); return 0;
  }
}

bool ag_solve_value(int n, double *Ab) {
  VI fail = 0;
  v_solve(n, Ab, &fail);
  return !fail;
}
