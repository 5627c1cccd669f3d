/* SPDX-License-Identifier: MIT
 * Runs a tape: the reference for everything compiled, and the fallback where no compiler is present. The functions are
 * those of vmath.h with V = double. The loop exists twice on x86: once for machines with a fused multiply-add
 * instruction, once for those without, where the C library does it exactly; both give the same bits. */
#include "expr/expr.h"
#include "expr/vmath.h"
#include "expr/vsolve.h"

#define AG_LDL_FN V_IN /* compiled for each kind of machine, like all of the loop */
#include "expr/ldl.h"

/* The value of a row of op.def over the slots of the instruction. */
#define OPERATION(NAME, value) \
  case AG_OP_##NAME: { \
    const double a __attribute__((unused)) = s[x->a], b __attribute__((unused)) = s[x->b], \
                   c __attribute__((unused)) = s[x->c]; \
    s[x->dst] = (value); \
    break; \
  }

V_IN int run(const ag_tape *tape, int from, int to, const double *const *seg, double *s) {
  VI fail = 0;
  for (const ag_instr *x = tape->instr + from, *end = tape->instr + to; x < end; x++) {
    switch (x->op) {
    case AG_OP_LOAD: s[x->dst] = seg[x->a][x->b]; break;
    case AG_OP_CONST: s[x->dst] = tape->constants[x->a]; break;
#define AG_OP(NAME, text, arity, call, parity, value, ...) OPERATION(NAME, value)
#define AG_OP_TAPE(NAME, text, arity, value, ...) OPERATION(NAME, value)
#include "expr/op.def"
    case AG_OP_CALL_SOLVE: v_solve((int)x->a, s + x->b, &fail); break;
    case AG_OP_CALL_LDL: v_ldl(tape->ldls[x->a]->table, s + x->b, v_nan(), &fail); break;
    default: __builtin_unreachable(); /* tape.c emits nothing else */
    }
  }
  return fail != 0;
}

#if defined __x86_64__ && !defined __FMA__
__attribute__((target("avx2,fma"))) static int run_fma(const ag_tape *tape, int from, int to, const double *const *seg,
                                                       double *s) {
  return run(tape, from, to, seg, s);
}
static int run_plain(const ag_tape *tape, int from, int to, const double *const *seg, double *s) {
  return run(tape, from, to, seg, s);
}
static int run_any(const ag_tape *tape, int from, int to, const double *const *seg, double *s) {
  return __builtin_cpu_supports("fma") && __builtin_cpu_supports("avx2") ? run_fma(tape, from, to, seg, s)
                                                                         : run_plain(tape, from, to, seg, s);
}
#else
static int run_any(const ag_tape *tape, int from, int to, const double *const *seg, double *s) {
  return run(tape, from, to, seg, s);
}
#endif

/* The prep part reads one segment. */
enum {
  PREP = 1,
  EVAL = 0,
#define AG_SEGMENT(NAME, name, when, ...) +when
  N_PREP =
#include "expr/segment.def"
#undef AG_SEGMENT
};
_Static_assert(N_PREP == 1, "ag_tape_prep takes the parameters alone");

int ag_tape_prep(const ag_tape *tape, const double *p, double *slots) {
  const double *const seg[AG_SEG_COUNT] = {[AG_SEG_P] = p};
  return run_any(tape, 0, tape->n_prep, seg, slots);
}

int ag_tape_eval(const ag_tape *tape, const double *const seg[AG_SEG_COUNT], double *slots, double *out) {
  int failed = run_any(tape, tape->n_prep, tape->n_instr, seg, slots);
  for (int i = 0; i < tape->n_out; i++) out[i] = slots[tape->out[i]];
  return failed;
}
