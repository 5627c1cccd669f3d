/* SPDX-License-Identifier: MIT
 * The implicit midpoint rule: a stepper's text (step_text.h), behind
 * factor_core.h and newton_core.h. With the rate k in tangent coordinates, k =
 * f(t + h/2, z moved by h k / 2),   z1 = z moved by h k. Solved to rounding, a
 * step back from z1 has the same k, so that it ends in z.
 *
 * The workspace: the rates at both ends, three rows of dense output, k, a
 * correction, the matrix. */

AG_STEP_QUALIFIER int AG_STEP_FN(step)(AG_STEP_FLOW AG_STEP_SIZE V t, V h, const V *restrict z, V *restrict z1,
                                       double rtol, V atol, V *restrict error, V *restrict work) {
  V *end = work + AG_STEP_N, *k = work + 5 * AG_STEP_N, *w = k + AG_STEP_M, *J = w + AG_STEP_M;
  AG_STEP_FN(tangent)(AG_STEP_PASS z, work, k);
  const int reason = AG_STEP_FN(stage)(AG_STEP_PASS v_fma(v_set(0.5), h, t), h, 0.5, z, k, J, w, z1, end);
  if (reason) return reason;
  AG_STEP_FN(move)(AG_STEP_PASS z, h, k, z1);
  AG_STEP_RHS(t + h, z1, end)
  /* no estimate; NaN where a component is not finite */
  error[0] = v_set(0);
  if (AG_STEP_N_REST > 0) error[1] = v_set(0);
  for (int i = 0; i < AG_STEP_N; i++) {
    const V wrong = v_fma(v_set(0), z1[i], 0.0 * end[i]);
    if (AG_STEP_IN_NORM(i)) error[0] = error[0] + wrong;
    else if (AG_STEP_IN_REST(i)) error[1] = error[1] + wrong;
  }
  (void)rtol, (void)atol;
  return 0;
}

/* The cubic of values and rates at both ends, as in rk_core.h. */
AG_STEP_QUALIFIER int AG_STEP_FN(dense)(AG_STEP_FLOW AG_STEP_SIZE V t, V h, const V *restrict z, const V *restrict z1,
                                        V *restrict work) {
  V *c = work + 2 * AG_STEP_N;
  for (int i = 0; i < AG_STEP_N; i++) {
    const V d = z1[i] - z[i];
    c[i] = d;
    c[AG_STEP_N + i] = v_fma(h, work[i], -d);
    c[2 * AG_STEP_N + i] = v_fma(-h, work[AG_STEP_N + i], d) - c[AG_STEP_N + i];
  }
  (void)t;
  return 0;
}

AG_STEP_QUALIFIER void AG_STEP_FN(interpolate)(AG_STEP_SIZE V theta, const V *restrict z, const V *restrict work,
                                               V *restrict out) {
  const V *c = work + 2 * AG_STEP_N, rest = 1.0 - theta;
  for (int i = 0; i < AG_STEP_N; i++) {
    const V u = v_fma(theta, c[2 * AG_STEP_N + i], c[AG_STEP_N + i]);
    out[i] = v_fma(theta, v_fma(rest, u, c[i]), z[i]);
  }
}
