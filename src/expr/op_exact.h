/* SPDX-License-Identifier: MIT
 * For tests: the values of op.def in long double (64 bits or more, 2000 times finer than double), by the plain C of
 * each row and the C library. */
#ifndef AG_EXPR_OP_EXACT_H
#define AG_EXPR_OP_EXACT_H
#include <tgmath.h> /* sin(a) is sinl(a) */

#include "expr/expr.h"

#define AG_OP(NAME, text, arity, call, parity, value, plain, ...) \
  case AG_OP_##NAME: return plain;

static inline long double op_exact(ag_op op, const long double *args) {
  const long double a = args[0], b = args[1], c = args[2];
  switch (op) {
#include "expr/op.def"
  default: return 0;
  }
}
#endif
