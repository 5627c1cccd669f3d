/* SPDX-License-Identifier: MIT
 * The method of Euler and Maruyama whose drift is implicit: a stepper's text (step_text.h), after factor_core.h,
 * newton_core.h and hermite_core.h. The right-hand side is Ito's form w_0 a + sum w_i g_i, with the weights
 *   AG_STEP_W(i)   0 .. AG_STEP_CHANNELS: of drift and noise, on entry [1 | dW/h]; the first one is 1 again at the end
 * In tangent coordinates
 *   y = z moved by sum g_i(t, z) dW_i,   k = a(t + h, y moved by h k),   z1 = y moved by h k,
 * on vectors z1 = z + h a(t + h, z1) + sum g_i(t, z) dW_i. The increments are outside the equation that is solved.
 *
 * The workspace: the rates at both ends, three rows of dense output, y, k, a correction, the matrix. */

AG_STEP_QUALIFIER int AG_STEP_FN(step)(AG_STEP_FLOW AG_STEP_SIZE V t, V h, const V *restrict z, V *restrict z1,
                                       double rtol, const V *restrict atol, V *restrict error, V *restrict work) {
  V *end = work + AG_STEP_N, *y = work + 5 * AG_STEP_N, *k = y + AG_STEP_N, *w = k + AG_STEP_M, *J = w + AG_STEP_M;
  AG_STEP_W(0) = v_set(0);
  AG_STEP_RHS(t, z, end)
  AG_STEP_FN(tangent)(AG_STEP_PASS z, end, k);
  AG_STEP_FN(move)(AG_STEP_PASS z, h, k, y);
  AG_STEP_W(0) = v_set(1);
  for (int i = 1; i <= AG_STEP_CHANNELS; i++) AG_STEP_W(i) = v_set(0);
  for (int r = 0; r < AG_STEP_M; r++) k[r] = v_set(0);
  const int reason = AG_STEP_FN(stage)(AG_STEP_PASS t + h, h, 1.0, y, k, J, w, z1, end);
  if (reason) return reason;
  AG_STEP_FN(move)(AG_STEP_PASS y, h, k, z1);
  AG_STEP_RHS(t + h, z1, end)
  AG_STEP_FN(no_estimate)(AG_STEP_PASS z1, end, error);
  (void)rtol, (void)atol;
  return 0;
}
