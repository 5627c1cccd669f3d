/* SPDX-License-Identifier: MIT
 * The method of Ninomiya and Victoir: a stepper's text (step_text.h), after hermite_core.h. The right-hand side is
 * w_0 f + sum w_i g_i (Stratonovich), with the weights
 *   AG_STEP_W(i)   0 .. m = AG_STEP_CHANNELS: of drift and noise; then the coin s = 1 or -1; then dW/h once more
 * On entry they are [1 | dW/h | s | dW/h] (AG_WIENER_COIN), and at the end again. With the flow exp(a g) of a field g
 * over the time a, the step is, read from left to right,
 *   exp(h f/2) exp(dW_1 g_1) ... exp(dW_m g_m) exp(h f/2)    for s = 1, the channels in the opposite order for s = -1.
 * Time passes with the drift. A flow is one step of the classical Runge-Kutta method: its error a^5 has, for a = dW_i,
 * no mean of size less than h^3, which is what weak order 2 leaves.
 *
 * The workspace: the rates at both ends, three rows of dense output, where a flow begins, a point, its rate. */
#define AG_COIN_AT (1 + AG_STEP_CHANNELS)

/* The weights of part p: 0 and m + 1 are the drift, between them one channel, in each lane its own. */
AG_STEP_QUALIFIER void AG_STEP_FN(weigh)(AG_STEP_FLOW AG_STEP_SIZE int p) {
  const int m = AG_STEP_CHANNELS;
  const VI forward = m_lt(v_set(0), AG_STEP_W(AG_COIN_AT));
  AG_STEP_W(0) = v_set(p == 0 || p == m + 1);
  for (int i = 1; i <= m; i++) {
    const V dW = AG_STEP_W(AG_COIN_AT + i), none = v_set(0);
    AG_STEP_W(i) = v_blend(forward, p == i ? dW : none, p == m + 1 - i ? dW : none);
  }
}

AG_STEP_QUALIFIER int AG_STEP_FN(step)(AG_STEP_FLOW AG_STEP_SIZE V t, V h, const V *restrict z, V *restrict z1,
                                       double rtol, const V *restrict atol, V *restrict error, V *restrict work) {
  static const double node[4] = {0, 0.5, 0.5, 1}, next[4] = {0.5, 0.5, 1, 0},
                      weight[4] = {1.0 / 6, 1.0 / 3, 1.0 / 3, 1.0 / 6};
  V *end = work + AG_STEP_N, *begin = work + 5 * AG_STEP_N, *y = begin + AG_STEP_N, *k = y + AG_STEP_N;
  for (int i = 0; i < AG_STEP_N; i++) z1[i] = z[i];
  V now = t;
  for (int p = 0; p < AG_STEP_CHANNELS + 2; p++) {
    const int drift = p == 0 || p == AG_STEP_CHANNELS + 1;
    const V by = drift ? 0.5 * h : h, later = drift ? by : v_set(0);
    AG_STEP_FN(weigh)(AG_STEP_PASS p);
    for (int i = 0; i < AG_STEP_N; i++) begin[i] = y[i] = z1[i];
    for (int s = 0; s < 4; s++) {
      AG_STEP_RHS(v_fma(v_set(node[s]), later, now), y, k)
      for (int i = 0; i < AG_STEP_N; i++) {
        z1[i] = v_fma(weight[s] * by, k[i], z1[i]);
        y[i] = v_fma(next[s] * by, k[i], begin[i]);
      }
    }
    now = p == 0 ? now + later : now;
  }
  AG_STEP_W(0) = v_set(1);
  for (int i = 1; i <= AG_STEP_CHANNELS; i++) AG_STEP_W(i) = AG_STEP_W(AG_COIN_AT + i);
  for (int i = 0; i < AG_STEP_N; i++) end[i] = v_set(0);
  AG_STEP_RHS(t + h, z1, end)
  AG_STEP_FN(no_estimate)(AG_STEP_PASS z1, end, error);
  (void)rtol, (void)atol;
  return 0;
}
#undef AG_COIN_AT
