/* SPDX-License-Identifier: MIT
 * The last function that is watched, in a step of all lanes: text over V, after march_core.h and watch_core.h, and
 * what root_core.h needs to find its zeros. Every rounding is written out; a lane's numbers follow from its own alone.
 */

/* The function at (t, z); NaN where it cannot be evaluated. */
static V locate_value(const ag_fused_args *a, V t, const V *z) {
  V out[AG_WATCH];
  VI failed = v_word_set(0);
  AG_FLOW_WATCH(a, t, z, out, failed)
  return v_blend(failed, v_nan(), out[AG_WATCH - 1]);
}

/* At the fraction theta of the step, on the dense output. */
static __attribute__((noinline)) V locate_on_dense(const ag_fused_args *a, V theta) {
  fused_interpolate(theta, a->z, a->work, a->found_z);
  return locate_value(a, v_fma(theta, *a->h, *a->t), a->found_z);
}

/* At the time s, by a full step. */
static __attribute__((noinline)) V locate_by_step(const ag_fused_args *a, V s) {
  V errors[2], any[AG_STEP_N];
  VI failed = v_word_set(0);
  for (int k = 0; k < AG_STEP_N; k++) any[k] = v_set(1); /* the error is not needed */
  (void)fused_step(AG_FLOW_OF(a, &failed) * a->t, s - *a->t, a->z, a->found_z, 1, any, errors, a->work);
  failed |= settle(a, s, a->found_z, v_word_set(~0ULL));
  return v_blend(failed, v_nan(), locate_value(a, s, a->found_z));
}

#define AG_ROOT_OF const ag_fused_args *a
#define AG_ROOT_T(a) (*(a)->t)
#define AG_ROOT_H(a) (*(a)->h)
#define AG_ROOT_DENSE(a, theta) locate_on_dense(a, theta)
#define AG_ROOT_STEP(a, s) locate_by_step(a, s)
