/* SPDX-License-Identifier: MIT
 * Dense output by the cubic of values and rates at both ends: the functions dense and interpolate of a stepper's text
 * (step_text.h). The carry of a step is AG_HERMITE_CARRY numbers (AG_STEP_N where not defined before), at both ends;
 * behind them are three rows of coefficients, those of rk_core.h. */
#ifndef AG_HERMITE_CARRY
#define AG_HERMITE_CARRY AG_STEP_N
#endif

AG_STEP_QUALIFIER int AG_STEP_FN(dense)(AG_STEP_FLOW AG_STEP_SIZE V t, V h, const V *restrict z, const V *restrict z1,
                                        V *restrict work) {
  V *c = work + 2 * AG_HERMITE_CARRY;
  for (int i = 0; i < AG_STEP_N; i++) {
    const V d = z1[i] - z[i];
    c[i] = d;
    c[AG_STEP_N + i] = v_fma(h, work[i], -d);
    c[2 * AG_STEP_N + i] = v_fma(-h, work[AG_HERMITE_CARRY + i], d) - c[AG_STEP_N + i];
  }
  (void)t;
  return 0;
}

AG_STEP_QUALIFIER void AG_STEP_FN(interpolate)(AG_STEP_SIZE V theta, const V *restrict z, const V *restrict work,
                                               V *restrict out) {
  const V *c = work + 2 * AG_HERMITE_CARRY, rest = 1.0 - theta;
  for (int i = 0; i < AG_STEP_N; i++) {
    const V u = v_fma(theta, c[2 * AG_STEP_N + i], c[AG_STEP_N + i]);
    out[i] = v_fma(theta, v_fma(rest, u, c[i]), z[i]);
  }
}

/* No error estimate: 0, or NaN where a component of the end is not finite. */
AG_STEP_QUALIFIER void AG_STEP_FN(no_estimate)(AG_STEP_FLOW AG_STEP_SIZE const V *z1, const V *end, V *error) {
  error[0] = v_set(0);
  if (AG_STEP_N_REST > 0) error[1] = v_set(0);
  for (int i = 0; i < AG_STEP_N; i++) {
    const V wrong = v_fma(v_set(0), z1[i], 0.0 * end[i]);
    if (AG_STEP_IN_NORM(i)) error[0] = error[0] + wrong;
    else if (AG_STEP_IN_REST(i)) error[1] = error[1] + wrong;
  }
}
