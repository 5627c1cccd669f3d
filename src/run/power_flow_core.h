/* SPDX-License-Identifier: MIT
 * The power on the dense output of a step of all lanes: text over V, after a stepper's text and fused_args.h; what
 * power_core.h needs. */

static __attribute__((noinline)) V power_at(const ag_fused_args *a, V theta, V t) {
  V out[1];
  VI failed = v_word_set(0);
  fused_interpolate(theta, a->z, a->work, a->out);
#if AG_POWER_RATES
  V rate[AG_STEP_N];
  AG_FLOW_RHS(a, t, a->out, rate, failed)
#endif
  power(&t, a->out, a->c, AG_POWER_STEP(rate) a->prep_power, out, &failed);
  return v_blend(failed, v_nan(), out[0]);
}

#define AG_POWER_OF const ag_fused_args *a
#define AG_POWER_AT(a, theta, t) power_at(a, theta, t)
