/* SPDX-License-Identifier: MIT
 * The implicit midpoint rule: a stepper's text (step_text.h), after factor_core.h, newton_core.h and hermite_core.h.
 * With the rate k in tangent coordinates,
 *   k = f(t + h/2, z moved by h k / 2),   z1 = z moved by h k.
 * Solved to rounding, a step back from z1 has the same k, so that it ends in z.
 *
 * The workspace: the rates at both ends, three rows of dense output, k, a correction, the matrix. */

AG_STEP_QUALIFIER int AG_STEP_FN(step)(AG_STEP_FLOW AG_STEP_SIZE V t, V h, const V *restrict z, V *restrict z1,
                                       double rtol, const V *restrict atol, V *restrict error, V *restrict work) {
  V *end = work + AG_STEP_N, *k = work + 5 * AG_STEP_N, *w = k + AG_STEP_M, *J = w + AG_STEP_M;
  AG_STEP_FN(tangent)(AG_STEP_PASS z, work, k);
  const int reason = AG_STEP_FN(stage)(AG_STEP_PASS v_fma(v_set(0.5), h, t), h, 0.5, z, k, J, w, z1, end);
  if (reason) return reason;
  AG_STEP_FN(move)(AG_STEP_PASS z, h, k, z1);
  AG_STEP_RHS(t + h, z1, end)
  AG_STEP_FN(no_estimate)(AG_STEP_PASS z1, end, error);
  (void)rtol, (void)atol;
  return 0;
}
