/* SPDX-License-Identifier: MIT
 * Runs a tape: the judge of everything compiled, and the fallback where no compiler is present. The functions are those
 * of vmath.h with V = double. The loop exists twice on x86: once for machines with a fused multiply-add instruction,
 * once for those without, where the C library does it exactly; both give the same bits. */
#include "expr/expr.h"
#include "expr/vmath.h"

#define AG_LDL_FN V_IN /* compiled for each kind of machine, like all of the loop */
#include "expr/ldl.h"

#define OP0(NAME, value) \
  case AG_OP_##NAME: \
    s[x->dst] = (value); \
    break;
#define OP1(NAME, f) OP0(NAME, f(s[x->a]))
#define OP2(NAME, f) OP0(NAME, f(s[x->a], s[x->b]))

V_IN int run(const ag_tape *tape, int from, int to, const double *const *seg, double *s) {
  VI fail = 0;
  for (const ag_instr *x = tape->instr + from, *end = tape->instr + to; x < end; x++) {
    switch (x->op) {
      OP0(LOAD, seg[x->a][x->b])
      OP0(CONST, tape->constants[x->a])
      OP0(COPY, s[x->a])
      OP0(NEG, -s[x->a])
      OP0(ADD, s[x->a] + s[x->b])
      OP0(SUB, s[x->a] - s[x->b])
      OP0(MUL, s[x->a] * s[x->b])
      OP0(DIV, s[x->a] / s[x->b])
      OP0(FMA, v_fma(s[x->a], s[x->b], s[x->c]))
      OP0(FMS, v_fma(s[x->a], s[x->b], -s[x->c]))
      OP0(FNMA, v_fma(-s[x->a], s[x->b], s[x->c]))
      OP1(SQRT, v_sqrt)
      OP1(SIN, v_sin)
      OP1(COS, v_cos)
      OP1(TAN, v_tan)
      OP1(ASIN, v_asin)
      OP1(ACOS, v_acos)
      OP1(ATAN, v_atan)
      OP1(SINH, v_sinh)
      OP1(COSH, v_cosh)
      OP1(TANH, v_tanh)
      OP1(EXP, v_exp)
      OP1(LOG, v_log)
      OP1(ABS, v_abs)
      OP1(SIGN, v_sign)
      OP0(HOLD, s[x->a])
      OP1(NOT, v_not)
      OP2(POW, v_pow)
      OP2(ATAN2, v_atan2)
      OP2(HYPOT, v_hypot)
      OP2(MIN, v_min)
      OP2(MAX, v_max)
      OP2(LT, v_lt)
      OP2(LE, v_le)
      OP2(EQ, v_eq)
      OP2(NE, v_ne)
      OP2(AND, v_and)
      OP2(OR, v_or)
      OP0(SELECT, v_select(s[x->a], s[x->b], s[x->c]))
      OP0(CHECKPOS, v_checkpos(s[x->a], &fail))
      OP0(CHECKNZ, v_checknz(s[x->a], &fail))
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
