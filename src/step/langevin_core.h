/* SPDX-License-Identifier: MIT
 * One step of a splitting: a stepper's text (step_text.h), behind factor_core.h, newton_core.h, langevin.h and
 * hermite_core.h. The right-hand side is w_0 (all but friction) + sum w_i g_i + w_f (friction), with the weights
 *   AG_STEP_W(i)       0 .. AG_STEP_CHANNELS: of drift and noise; then that of friction; then room for one per channel
 * On entry they are [1 | dW/h | 1 | D/h] (AG_WIENER_HALVES), at the end the first and the friction's are 1 again.
 *
 * O and V are midpoint rules. O is linear in the velocities, with the mass matrix M, friction C and noise G dW,
 *   (M + h C/2) u1 = (M - h C/2) u + G dW,
 * and keeps exp(-u.M u / 2 kT) for every h, C singular too. A part that occurs n times takes h/n.
 *
 * The workspace: the rates at both ends, three rows of dense output, two states, a point, k, a correction, a matrix. */
#define AG_LANGEVIN_FRICTION AG_STEP_W(1 + AG_STEP_CHANNELS)
#define AG_LANGEVIN_KEPT(i) AG_STEP_W(2 + AG_STEP_CHANNELS + (i))

/* The noise of the parts O: the first one's stands in its place, that of the second is kept. Where there is one O the
 * noise is kept for it. */
AG_STEP_QUALIFIER void AG_STEP_FN(prepare)(AG_STEP_FLOW AG_STEP_SIZE int at_once) {
  for (int i = 0; i < AG_STEP_CHANNELS; i++) {
    const V a = AG_STEP_W(1 + i), b = AG_LANGEVIN_KEPT(i);
    AG_STEP_W(1 + i) = at_once ? a + b : a;
    AG_LANGEVIN_KEPT(i) = at_once ? a - b : a;
  }
}

/* Weights of drift and friction; with noise: the kept one, unless it stands there. */
AG_STEP_QUALIFIER void AG_STEP_FN(weigh)(AG_STEP_FLOW AG_STEP_SIZE int drift, int kept) {
  AG_STEP_W(0) = v_set(drift);
  AG_LANGEVIN_FRICTION = v_set(!drift);
  for (int i = 0; i < AG_STEP_CHANNELS; i++) {
    if (drift) AG_STEP_W(1 + i) = v_set(0);
    else if (kept) AG_STEP_W(1 + i) = AG_LANGEVIN_KEPT(i);
  }
}

/* A part by the midpoint rule, z to out. */
AG_STEP_QUALIFIER int AG_STEP_FN(middle)(AG_STEP_FLOW AG_STEP_SIZE V t, V h, const V *z, V *out, V *y, V *rate, V *k) {
  V *w = k + AG_STEP_M, *J = w + AG_STEP_M;
  for (int r = 0; r < AG_STEP_M; r++) k[r] = v_set(0);
  const int reason = AG_STEP_FN(stage)(AG_STEP_PASS v_fma(v_set(0.5), h, t), h, 0.5, z, k, J, w, y, rate);
  if (reason) return reason;
  AG_STEP_FN(move)(AG_STEP_PASS z, h, k, out);
  return 0;
}

/* A part that moves the velocities, or the positions, alone. */
AG_STEP_QUALIFIER int AG_STEP_FN(push)(AG_STEP_FLOW AG_STEP_SIZE int velocities, V t, V h, const V *z, V *out, V *rate,
                                       V *k) {
  AG_STEP_RHS(t, z, rate)
  AG_STEP_FN(tangent)(AG_STEP_PASS z, rate, k);
  for (int r = 0; r < AG_STEP_M; r++) k[r] = AG_STEP_MOVES(r) == velocities ? k[r] : v_set(0);
  AG_STEP_FN(move)(AG_STEP_PASS z, h, k, out);
  return 0;
}

AG_STEP_QUALIFIER int AG_STEP_FN(step)(AG_STEP_FLOW AG_STEP_SIZE V t, V h, const V *restrict z, V *restrict z1,
                                       double rtol, V atol, V *restrict error, V *restrict work) {
  V *end = work + AG_STEP_N, *a = work + 5 * AG_STEP_N, *b = a + AG_STEP_N, *y = b + AG_STEP_N, *k = y + AG_STEP_N;
  const char *parts = AG_LANGEVIN->parts;
  const V half = 0.5 * h;
  V now = t; /* moves with the positions */
  int count = 0, seen = 0;
  while (parts[count]) count++;
  AG_STEP_FN(prepare)(AG_STEP_PASS AG_LANGEVIN->halves);
  for (int p = 0; p < count; p++) {
    const char part = parts[p];
    const int once = 2 * p + 1 == count; /* the one in the middle */
    const V *from = p ? (p & 1 ? a : b) : z, by = once ? h : half;
    V *to = p + 1 == count ? z1 : p & 1 ? b : a;
    int reason = 0;
    AG_STEP_FN(weigh)(AG_STEP_PASS part != 'O', part == 'O' && (!AG_LANGEVIN->halves || seen));
    if (part == 'O') seen = 1;
    if (part == 'O' || part == 'V') reason = AG_STEP_FN(middle)(AG_STEP_PASS now, by, from, to, y, end, k);
    else reason = AG_STEP_FN(push)(AG_STEP_PASS part == 'B', now, by, from, to, end, k);
    if (reason) return reason;
    if (part == 'A' || part == 'V') now = once ? t + h : now + half;
  }
  AG_STEP_W(0) = AG_LANGEVIN_FRICTION = v_set(1);
  AG_STEP_RHS(t + h, z1, end)
  AG_STEP_FN(no_estimate)(AG_STEP_PASS z1, end, error);
  (void)rtol, (void)atol;
  return 0;
}
#undef AG_LANGEVIN_KEPT
#undef AG_LANGEVIN_FRICTION
