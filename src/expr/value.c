/* SPDX-License-Identifier: MIT
 * Scalar operations on doubles, with the functions the kernels use: a constant folded while building has the bits it
 * would have at run time. */
#define AG_LANES 1
#define AG_VMATH_CALL
#include "expr/vmath.h"

#include "expr/graph_internal.h"

static double value1(ag_op op, double a) {
  VI fail = 0;
  switch (op) {
  case AG_OP_NEG: return -a;
  case AG_OP_SQRT: return v_sqrt(a);
  case AG_OP_SIN: return v_sin(a);
  case AG_OP_COS: return v_cos(a);
  case AG_OP_TAN: return v_tan(a);
  case AG_OP_ASIN: return v_asin(a);
  case AG_OP_ACOS: return v_acos(a);
  case AG_OP_ATAN: return v_atan(a);
  case AG_OP_SINH: return v_sinh(a);
  case AG_OP_COSH: return v_cosh(a);
  case AG_OP_TANH: return v_tanh(a);
  case AG_OP_EXP: return v_exp(a);
  case AG_OP_LOG: return v_log(a);
  case AG_OP_ABS: return v_abs(a);
  case AG_OP_SIGN: return v_sign(a);
  case AG_OP_HOLD: return a;
  case AG_OP_NOT: return v_not(a);
  case AG_OP_CHECKPOS: return v_checkpos(a, &fail);
  case AG_OP_CHECKNZ: return v_checknz(a, &fail);
  default: AG_ASSERT(false); return 0;
  }
}

static double value2(ag_op op, double a, double b) {
  switch (op) {
  case AG_OP_ADD: return a + b;
  case AG_OP_SUB: return a - b;
  case AG_OP_MUL: return a * b;
  case AG_OP_DIV: return a / b;
  case AG_OP_POW: return v_pow(a, b);
  case AG_OP_ATAN2: return v_atan2(a, b);
  case AG_OP_HYPOT: return v_hypot(a, b);
  case AG_OP_MIN: return v_min(a, b);
  case AG_OP_MAX: return v_max(a, b);
  case AG_OP_LT: return v_lt(a, b);
  case AG_OP_LE: return v_le(a, b);
  case AG_OP_EQ: return v_eq(a, b);
  case AG_OP_NE: return v_ne(a, b);
  case AG_OP_AND: return v_and(a, b);
  case AG_OP_OR: return v_or(a, b);
  default: AG_ASSERT(false); return 0;
  }
}

double ag_op_value(ag_op op, const double *a) {
  if (op == AG_OP_SELECT) return v_select(a[0], a[1], a[2]);
  if (op == AG_OP_FMA) return v_fma(a[0], a[1], a[2]);
  return ag_op_describe(op)->arity == 1 ? value1(op, a[0]) : value2(op, a[0], a[1]);
}

bool ag_solve_value(int n, double *Ab) {
  VI fail = 0;
  v_solve(n, Ab, &fail);
  return !fail;
}
