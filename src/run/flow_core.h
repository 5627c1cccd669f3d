/* SPDX-License-Identifier: MIT
 * How the texts of a fused unit call its tapes f, jacobian and g: the definitions that step_text.h, march_core.h and
 * watch_core.h ask for. After the sizes; AG_JACOBIAN_OF(a, b) is "a, b" where there is a Jacobian (or discrete
 * equations, in the same place), else a; AG_FINISH_OF(a) is "a," where there is the end of such a step; AG_RHS_STEP(w)
 * is "w," where f reads the step of a path with noise, else nothing, AG_JACOBIAN_STEP(w) and AG_FINISH_STEP(w) the
 * same; AG_CANONICAL_OF(...) is what is given where there is the role CANONICAL, else nothing. */
#define AG_FUSED_V V
#define AG_FUSED_VI VI
#define AG_MAYBE __attribute__((unused))
#define AG_STEP_FN(name) fused_##name
#define AG_STEP_QUALIFIER static __attribute__((noinline, unused))
#define AG_STEP_SIZE
#define AG_STEP_FLOW \
  AG_JACOBIAN_OF(const V *c_ AG_MAYBE, const V *prep_jacobian_ AG_MAYBE), \
      AG_FINISH_OF(const V *prep_finish_ AG_MAYBE) AG_CANONICAL_OF(const V *prep_canonical_ AG_MAYBE, ) \
          AG_RHS_STEP(V *w_ AG_MAYBE) const V *prep_ AG_MAYBE, \
      VI *fail_ AG_MAYBE,
#define AG_STEP_PASS \
  AG_JACOBIAN_OF(c_, prep_jacobian_), \
      AG_FINISH_OF(prep_finish_) AG_CANONICAL_OF(prep_canonical_, ) AG_RHS_STEP(w_) prep_, fail_,
#define AG_STEP_RHS(t, z, dz) \
  { \
    const V at_ = (t); \
    f(&at_, (z), c_, AG_RHS_STEP(w_) prep_, (dz), fail_); \
  }
/* Components of z that f does not read do not affect stages made of such rates alone. */
#ifdef AG_STEP_READ
#define AG_FLOW_COPY(from, end, dz) AG_STEP_RANGE(i, from, end)(dz)[i] = rate_[i];
#define AG_STEP_RHS_READ(t, z, dz) \
  { \
    const V at_ = (t); \
    V rate_[AG_STEP_N]; \
    f(&at_, (z), c_, AG_RHS_STEP(w_) prep_, rate_, fail_); \
    AG_STEP_READ(AG_FLOW_COPY, dz) \
  }
#endif
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
#define AG_STEP_GRADIENT AG_STEP_FINISH
#define AG_STEP_CANONICAL(t, z, out) \
  AG_CANONICAL_OF({ \
    const V at_ = (t); \
    canonical(&at_, (z), c_, prep_canonical_, (out), fail_); \
  })
#if AG_POWER_BY_STAGES
/* The power at a stage; NaN where it has none. */
static __attribute__((unused)) V flow_power(const V *c, const V *prep, V t, const V *z, const V *dz) {
  V out[1];
  VI failed = v_word_set(0);
  (void)dz;
  power(&t, z, c, AG_POWER_STEP(dz) prep, out, &failed);
  return v_blend(failed, v_nan(), out[0]);
}
#define AG_STEP_POWER(t, z, dz) flow_power(c_, prep_power_, t, z, dz)
#define AG_STEP_POWER_FLOW const V *c_ AG_MAYBE, const V *prep_power_ AG_MAYBE,
#define AG_STEP_KEEPS 1
#endif
#define AG_STEP_W(i) w_[i]
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
#define AG_STEP_ATOL(i) atol[i]
#define AG_STEP_FACTOR(i) step_factors[i]
#define AG_FLOW_OF(a, fail) \
  AG_JACOBIAN_OF((a)->c, (a)->prep_jacobian), \
      AG_FINISH_OF((a)->prep_finish) AG_CANONICAL_OF((a)->prep_canonical, ) AG_RHS_STEP((a)->step)(a)->prep, (fail),
#define AG_FLOW_RHS(a, t, z, dz, fail) f(&(t), (z), (a)->c, AG_RHS_STEP((a)->step)(a)->prep, (dz), &(fail));
#define AG_LOOK_OF const ag_fused_args *a
#define AG_LOOK_FN static __attribute__((unused))
#define AG_LOOK_READS(a) AG_WATCH_READS
#define AG_LOOK_READ(a, i) watch_reads[i]
#define AG_LOOK_FUNCTIONS(a) AG_WATCH
#define AG_LOOK_ASKED(a, e) (watch_counts[e] && !watch_fitted[e])
#define AG_LOOK_BOUNDS(a, t, z, out) \
  { \
    E c_[AG_LOOK_C + 1]; \
    for (int k_ = 0; k_ < AG_LOOK_C; k_++) c_[k_] = e_number((a)->c[k_]); \
    AG_WATCH_BOUNDS(a, t, z, c_, out); \
  }
#define AG_TURN_OF const ag_fused_args *a
#define AG_PROJECT_OF const ag_fused_args *a
#define AG_PROJECT_N(a) AG_STEP_N
#define AG_PROJECT_G(a) AG_POSITIONS
#define AG_PROJECT_EVAL(a, t, z, out, fail) onto_g(&(t), (z), (a)->c, (a)->prep_project, (out), &(fail));
#define AG_FLOW_EXTRA(a, t, z, dz, out, fail) of_extra(&(t), (z), (a)->c, (dz), (a)->prep_extra, (out), &(fail));
#define AG_FLOW_WATCH(a, t, z, out, fail) g(&(t), (z), (a)->c, (a)->prep_watch, (out), &(fail));
#if defined __GNUC__ && !defined __clang__ && AG_STEP_N <= 16
#define AG_STEP_RANGE(i, from, end) _Pragma("GCC unroll 16") for (int i = (from); i < (end); i++)
#endif
