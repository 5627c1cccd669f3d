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

int ag_evaluate(ag_graph *g, int n_in, const ag_id *inputs, const double *values, int n_out, const ag_id *outs,
                double *result) {
  ag_bind *binds = ag_heap_alloc(sizeof *binds * ((size_t)n_in + 1));
  int at = 0;
  for (int i = 0; i < n_in; i++) {
    binds[i] = (ag_bind){inputs[i], AG_SEG_Z, at};
    at += ag_input_storage(g, inputs[i]);
  }
  ag_tape *tape = ag_tape_create(g, n_in, binds, n_out, outs);
  double *slots = ag_heap_alloc(sizeof *slots * ((size_t)tape->n_slot + 1));
  const double *const seg[AG_SEG_COUNT] = {[AG_SEG_Z] = values};
  int failed = ag_tape_prep(tape, NULL, slots), failed_too = ag_tape_eval(tape, seg, slots, result);
  free(slots);
  ag_tape_free(tape);
  free(binds);
  return failed ? failed : failed_too;
}
