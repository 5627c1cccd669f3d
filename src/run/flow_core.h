/* SPDX-License-Identifier: MIT
 * How the texts of a fused unit call its tapes f, jacobian and g: the definitions that step_text.h, march_core.h and
 * watch_core.h ask for. Behind the sizes; AG_JACOBIAN_OF(a, b) is "a, b" where there is a Jacobian, else a. */
#define AG_FUSED_V V
#define AG_FUSED_VI VI
#define AG_MAYBE __attribute__((unused))
#define AG_STEP_FN(name) fused_##name
#define AG_STEP_QUALIFIER static __attribute__((noinline, unused))
#define AG_STEP_SIZE
#define AG_STEP_FLOW \
  AG_JACOBIAN_OF(const V *c_ AG_MAYBE, const V *prep_jacobian_ AG_MAYBE), const V *prep_ AG_MAYBE, VI *fail_ AG_MAYBE,
#define AG_STEP_PASS AG_JACOBIAN_OF(c_, prep_jacobian_), prep_, fail_,
#define AG_STEP_RHS(t, z, dz) \
  { \
    const V at_ = (t); \
    f(&at_, (z), c_, prep_, (dz), fail_); \
  }
#define AG_STEP_JACOBIAN(t, z, J) \
  { \
    const V at_ = (t); \
    jacobian(&at_, (z), c_, prep_jacobian_, (J), fail_); \
  }
#define AG_STEP_UNSOLVED(mask) *fail_ |= (mask);
#define AG_STEP_FAILED (*fail_)
#define AG_STEP_GUARD(open, x) \
  { \
    const VI before_ = *fail_; \
    x; \
    *fail_ = before_ | (*fail_ & (open)); \
  }
#define AG_STEP_MOVES(r) ((r) >= AG_STEP_U_AT && (r) < AG_STEP_U_AT + AG_STEP_N_U)
#define AG_STEP_FACTOR(i) step_factors[i]
#define AG_FLOW_OF(a, fail) AG_JACOBIAN_OF((a)->c, (a)->prep_jacobian), (a)->prep, (fail),
#define AG_FLOW_RHS(a, t, z, dz, fail) f(&(t), (z), (a)->c, (a)->prep, (dz), &(fail));
#define AG_LOOK_OF const ag_fused_args *a
#define AG_LOOK_FN static __attribute__((unused))
#define AG_LOOK_READS(a) AG_WATCH_READS
#define AG_LOOK_READ(a, i) watch_reads[i]
#define AG_LOOK_FUNCTIONS(a) AG_WATCH
#define AG_LOOK_ASKED(a, e) 1
#define AG_LOOK_BOUNDS(a, t, z, out) g_bounds((t), (z), (const E *)0, (a)->prep_watch, (out));
#define AG_FLOW_WATCH(a, t, z, out, fail) g(&(t), (z), (a)->c, (a)->prep_watch, (out), &(fail));
#if defined __GNUC__ && !defined __clang__ && AG_STEP_N <= 16
#define AG_STEP_EACH(i) _Pragma("GCC unroll 16") for (int i = 0; i < AG_STEP_N; i++)
#endif
