/* SPDX-License-Identifier: MIT
 * How a stepper's text calls the tapes of an ensemble's unit: the definitions that step_text.h asks for. f is the
 * increment h f + sum g_i dW_i with the step w_ = [1 | dW/h]: the rate at which a method steps over h. Where the rate
 * at the end of a step is not part of it (AG_WALK_SKIP), it is not computed: the next step has other increments.
 * AG_JACOBIAN_STEP(w) is "w," where the Jacobian, or the discrete equations in its place, read the increments;
 * AG_FINISH_STEP(w) the same for the end of a discrete step; AG_CANONICAL_OF(x) is x where there is the role CANONICAL,
 * else nothing. */
#define AG_WALK_V V
#define AG_WALK_VI VI
/* What steps, project_core.h and turn_core.h read, of the paths of one parity. */
typedef struct ag_walk_parity {
  V *c, *turn;
  const V *prep, *prep_project, *prep_turn, *prep_renew;
} ag_walk_parity;
#define AG_MAYBE __attribute__((unused))
#define AG_STEP_FN(name) walk_##name
#define AG_STEP_QUALIFIER static inline __attribute__((always_inline, unused))
#define AG_STEP_SIZE
#define AG_STEP_FLOW \
  const V *c_ AG_MAYBE, V *w_ AG_MAYBE, const V *prep_ AG_MAYBE, const V *prep_jacobian_ AG_MAYBE, \
      const V *prep_finish_ AG_MAYBE, const V *prep_canonical_ AG_MAYBE, const V *end_ AG_MAYBE, VI *fail_ AG_MAYBE,
#define AG_STEP_PASS c_, w_, prep_, prep_jacobian_, prep_finish_, prep_canonical_, end_, fail_,
#define AG_STEP_RHS(t, z, dz) \
  if (!AG_WALK_SKIP || (dz) != end_) { \
    const V at_ = (t); \
    f(&at_, (z), c_, w_, prep_, (dz), fail_); \
  }
#define AG_STEP_JACOBIAN(t, z, J) \
  { \
    const V at_ = (t); \
    jacobian(&at_, (z), c_, AG_JACOBIAN_STEP(w_) prep_jacobian_, (J), fail_); \
  }
#define AG_STEP_RESIDUAL AG_STEP_JACOBIAN
#define AG_STEP_FINISH(t, y, out) \
  { \
    const V at_ = (t); \
    finish(&at_, (y), c_, AG_FINISH_STEP(w_) prep_finish_, (out), fail_); \
  }
#define AG_STEP_CANONICAL(t, z, out) \
  AG_CANONICAL_OF({ \
    const V at_ = (t); \
    canonical(&at_, (z), c_, prep_canonical_, (out), fail_); \
  })
#define AG_PROJECT_OF const ag_walk_parity *a
#define AG_PROJECT_N(a) AG_STEP_N
#define AG_PROJECT_G(a) AG_WALK_POSITIONS
#define AG_PROJECT_EVAL(a, t, z, out, fail) onto_g(&(t), (z), (a)->c, (a)->prep_project, (out), &(fail));
#define AG_TURN_OF const ag_walk_parity *a
#define AG_STEP_W(i) w_[i]
#define AG_STEP_CHANNELS AG_WALK_CHANNELS
#define AG_STEP_UNSOLVED(mask) *fail_ |= (mask);
#define AG_STEP_FAILED (*fail_)
#define AG_STEP_FORGIVE(before) *fail_ = (before);
#define AG_STEP_GUARD(open, x) \
  { \
    const VI before_ = *fail_; \
    x; \
    *fail_ = before_ | (*fail_ & (open)); \
  }
#define AG_STEP_MOVES(r) ((r) >= AG_STEP_U_AT && (r) < AG_STEP_U_AT + AG_STEP_N_U)
#define AG_STEP_ATOL(i) v_set(1)
#define AG_STEP_FACTOR(i) step_factors[i]
#define AG_STEP_IN_NORM(i) 1
#define AG_STEP_N_NORM 1.0
#define AG_STEP_IN_REST(i) 0
#define AG_STEP_N_REST 0
#if defined __GNUC__ && !defined __clang__ && AG_STEP_N <= 16
#define AG_STEP_RANGE(i, from, end) _Pragma("GCC unroll 16") for (int i = (from); i < (end); i++)
#endif
