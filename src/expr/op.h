/* SPDX-License-Identifier: MIT
 * The operations of graphs and tapes: scalar ones are the rows of op.def, tensor ones those of tensor.def. */
#ifndef AG_EXPR_OP_H
#define AG_EXPR_OP_H

typedef enum ag_op {
  AG_OP_NONE,
#define AG_OP(NAME, ...) AG_OP_##NAME,
#define AG_OP_TAPE(NAME, ...) AG_OP_##NAME,
#define AG_OP_BARE(NAME, ...) AG_OP_##NAME,
#include "expr/op.def"
#define AG_OP_TENSOR(NAME, ...) AG_OP_##NAME,
#include "expr/tensor.def"
#undef AG_OP_TENSOR
  AG_OP_COUNT
} ag_op;

enum {
  AG_COMMUTES = 1,   /* f(a, b) = f(b, a) */
  AG_PASSES_NAN = 2, /* a NaN among the arguments always gives NaN */
  AG_CHOOSES = 4     /* jumps, has a corner, or cuts off derivatives: never a polynomial */
};

/* A row of the tables; of a tensor operation text and arity alone. */
typedef struct ag_op_row {
  const char *text;
  int arity;                 /* -1: any number */
  const char *value, *plain; /* C over a, b, c: in the words of vmath.h, and with <math.h> */
  const char *tex;           /* over #1 #2 #3 */
  double lo, hi, ulp;        /* where tests sample the arguments; bound of the error, in units of the last place */
  int weight;                /* length of its function in sines */
  unsigned traits;           /* AG_COMMUTES, ... */
} ag_op_row;
const ag_op_row *ag_op_describe(ag_op op);
#endif
