/* SPDX-License-Identifier: MIT
 * One step of a splitting: a stepper's text (step_text.h), behind factor_core.h, newton_core.h, langevin.h and
 * hermite_core.h. The right-hand side is w_0 (all but friction) + sum w_i g_i + w_f (friction), with the weights
 *   AG_STEP_W(i)       0 .. AG_STEP_CHANNELS: of drift and noise; then that of friction; then room for one per channel
 * On entry they are [1 | dW/h | 1 | D/h] (AG_WIENER_HALVES), at the end the first and the friction's are 1 again.
 *
 * A rotation with the angular velocity Omega (AG_STEP_SPIN(i): where among the velocities it stands, for factor i; -1:
 * factor i is none) is turned in A about the axes of the body one after the other, 1 2 3 2 1, as if each were alone:
 *   R -> R exp(s Omega_k e_k),    I Omega -> exp(-s Omega_k e_k) I Omega,
 * with the moments I from AG_STEP_INERTIA(t, z, out), the diagonal of the mass matrix. B sees no gyroscopic forces: the
 * rates of the velocities are those at rest.
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

/* The first factor from i on that is a rotation with a velocity of its own; AG_STEP_N_FACTOR: none. */
AG_STEP_QUALIFIER int AG_STEP_FN(next_spin)(AG_STEP_FLOW AG_STEP_SIZE int i) {
  while (i < AG_STEP_N_FACTOR && AG_STEP_SPIN(i) < 0) i++;
  return i;
}

/* Where velocity j stands in a state. */
AG_STEP_QUALIFIER int AG_STEP_FN(place)(AG_STEP_FLOW AG_STEP_SIZE int j) {
  for (int i = 0; i < AG_STEP_N_FACTOR; i++) {
    const ag_factor p = AG_STEP_FACTOR(i);
    const int r = AG_STEP_U_AT + j - p.d;
    if (p.kind == AG_FACTOR_VECTOR && r >= 0 && r < p.n) return p.z + r;
  }
  return 0;
}

/* Velocities by forces. rest: the state at rest, where there are rotations. */
AG_STEP_QUALIFIER int AG_STEP_FN(push)(AG_STEP_FLOW AG_STEP_SIZE V t, V h, const V *z, V *out, V *rest, V *rate, V *k) {
  const int turns = AG_STEP_FN(next_spin)(AG_STEP_PASS 0) < AG_STEP_N_FACTOR;
  for (int i = 0; i < AG_STEP_N && turns; i++) rest[i] = z[i];
  for (int j = 0; j < AG_STEP_N_U && turns; j++) rest[AG_STEP_FN(place)(AG_STEP_PASS j)] = v_set(0);
  AG_STEP_RHS(t, turns ? rest : z, rate)
  AG_STEP_FN(tangent)(AG_STEP_PASS z, rate, k);
  for (int r = 0; r < AG_STEP_M; r++) k[r] = AG_STEP_MOVES(r) ? k[r] : v_set(0);
  AG_STEP_FN(move)(AG_STEP_PASS z, h, k, out);
  return 0;
}

/* All rotations about axis a for the time s, z to out; k moves the other factors. */
AG_STEP_QUALIFIER void AG_STEP_FN(turn_axis)(AG_STEP_FLOW AG_STEP_SIZE int a, V s, const V *z, const V *I, V *k,
                                             V *out) {
  const int b = (a + 1) % 3, c = (a + 2) % 3;
  for (int i = AG_STEP_FN(next_spin)(AG_STEP_PASS 0); i < AG_STEP_N_FACTOR;
       i = AG_STEP_FN(next_spin)(AG_STEP_PASS i + 1)) {
    const V *Omega = z + AG_STEP_FN(place)(AG_STEP_PASS AG_STEP_SPIN(i));
    V *d = k + AG_STEP_FACTOR(i).d;
    d[a] = s * Omega[a], d[b] = d[c] = v_set(0);
  }
  AG_STEP_FN(move)(AG_STEP_PASS z, v_set(1), k, out);
  for (int i = AG_STEP_FN(next_spin)(AG_STEP_PASS 0); i < AG_STEP_N_FACTOR;
       i = AG_STEP_FN(next_spin)(AG_STEP_PASS i + 1)) {
    const int at = AG_STEP_FN(place)(AG_STEP_PASS AG_STEP_SPIN(i));
    const V *J = I + AG_STEP_SPIN(i), angle = s * z[at + a], x = v_cos(angle), y = v_sin(angle);
    out[at + b] = v_fma(J[c] / J[b] * y, z[at + c], x * z[at + b]);
    out[at + c] = v_fma(-(J[b] / J[c] * y), z[at + b], x * z[at + c]);
  }
}

/* Positions by velocities. y: a state; I: room for the velocities. */
AG_STEP_QUALIFIER int AG_STEP_FN(drift)(AG_STEP_FLOW AG_STEP_SIZE V t, V h, const V *z, V *out, V *y, V *rate, V *k,
                                        V *I) {
  AG_STEP_RHS(t, z, rate)
  AG_STEP_FN(tangent)(AG_STEP_PASS z, rate, k);
  for (int r = 0; r < AG_STEP_M; r++) k[r] = AG_STEP_MOVES(r) ? v_set(0) : k[r];
  if (AG_STEP_FN(next_spin)(AG_STEP_PASS 0) == AG_STEP_N_FACTOR) {
    AG_STEP_FN(move)(AG_STEP_PASS z, h, k, out);
    return 0;
  }
  for (int r = 0; r < AG_STEP_M; r++) k[r] = h * k[r];
  AG_STEP_INERTIA(t, z, I)
  AG_STEP_FN(turn_axis)(AG_STEP_PASS 0, 0.5 * h, z, I, k, out);
  for (int r = 0; r < AG_STEP_M; r++) k[r] = v_set(0);
  AG_STEP_FN(turn_axis)(AG_STEP_PASS 1, 0.5 * h, out, I, k, y);
  AG_STEP_FN(turn_axis)(AG_STEP_PASS 2, h, y, I, k, out);
  AG_STEP_FN(turn_axis)(AG_STEP_PASS 1, 0.5 * h, out, I, k, y);
  AG_STEP_FN(turn_axis)(AG_STEP_PASS 0, 0.5 * h, y, I, k, out);
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
    else if (part == 'B') reason = AG_STEP_FN(push)(AG_STEP_PASS now, by, from, to, y, end, k);
    else reason = AG_STEP_FN(drift)(AG_STEP_PASS now, by, from, to, y, end, k, k + AG_STEP_M);
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
