/* SPDX-License-Identifier: MIT
 * One step of a splitting: a stepper's text (step_text.h), after factor_core.h, newton_core.h, langevin.h,
 * hermite_core.h and trial_core.h. The right-hand side is w_0 (all but friction) + sum w_i g_i + w_f (friction), with
 * the weights
 *   AG_STEP_W(i)       0 .. AG_STEP_CHANNELS: of drift and noise; then that of friction; then one per channel
 * On entry they are [1 | dW/h | 1 | D/h] (AG_WIENER_HALVES; AG_WIENER_TRIAL with a Metropolis test), at the end the
 * first and that of friction are 1 again.
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
 * With a Metropolis test, the part between two parts O is accepted or rejected as a whole; for BAOAB, with one O, the
 * whole step is, by the sum of the changes of E/kT before and after O, which preserves the law itself and is
 * reversible. V is implicit: it is also computed backward, and rejected where it does not return.
 *
 * The workspace: the carry at both ends, three rows of dense output, two states, a point, k, a correction, a matrix;
 * with a Metropolis test, three more states. */
#define AG_LANGEVIN_FRICTION AG_STEP_W(1 + AG_STEP_CHANNELS)
#define AG_LANGEVIN_KEPT(i) AG_STEP_W(2 + AG_STEP_CHANNELS + (i))
#define AG_LANGEVIN_STATES(work) ((work) + 2 * AG_HERMITE_CARRY + 3 * AG_STEP_N)
#define AG_LANGEVIN_KEPT_STATE(work) (AG_LANGEVIN_STATES(work) + 3 * AG_STEP_N + 2 * AG_STEP_M + AG_STEP_SQUARE)

/* The noise of the parts O: that of the first is in place, that of the second is saved. Where there is one O the
 * noise is saved for it. */
AG_STEP_QUALIFIER void AG_STEP_FN(prepare)(AG_STEP_FLOW AG_STEP_SIZE int at_once) {
  for (int i = 0; i < AG_STEP_CHANNELS; i++) {
    const V a = AG_STEP_W(1 + i), b = AG_LANGEVIN_KEPT(i);
    AG_STEP_W(1 + i) = at_once ? a + b : a;
    AG_LANGEVIN_KEPT(i) = at_once ? a - b : a;
  }
}

/* Weights of drift and friction; with noise: the saved one, unless it is already in place. */
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

/* The first factor from i on that is a rotation with its own velocity; AG_STEP_N_FACTOR: none. */
AG_STEP_QUALIFIER int AG_STEP_FN(next_spin)(AG_STEP_FLOW AG_STEP_SIZE int i) {
  while (i < AG_STEP_N_FACTOR && AG_STEP_SPIN(i) < 0) i++;
  return i;
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

/* One part for the time `by`, from -> to. */
AG_STEP_QUALIFIER int AG_STEP_FN(piece)(AG_STEP_FLOW AG_STEP_SIZE char part, V now, V by, const V *from, V *to,
                                        V *work) {
  V *end = work + AG_HERMITE_CARRY, *y = AG_LANGEVIN_STATES(work) + 2 * AG_STEP_N, *k = y + AG_STEP_N;
  if (part == 'O' || part == 'V') return AG_STEP_FN(middle)(AG_STEP_PASS now, by, from, to, y, end, k);
  if (part == 'B') return AG_STEP_FN(push)(AG_STEP_PASS now, by, from, to, y, end, k);
  return AG_STEP_FN(drift)(AG_STEP_PASS now, by, from, to, y, end, k, k + AG_STEP_M);
}

/* The same, tested: before the first part without friction, `opens`, and behind the last, `closes`, the energy is added
 * to d. Lanes that fail are bad. */
AG_STEP_QUALIFIER int AG_STEP_FN(try_piece)(AG_STEP_FLOW AG_STEP_SIZE char part, V now, V by, const V *from, V *to,
                                            V *work, int opens, int closes, V *d, VI *bad) {
  V *kept = AG_LANGEVIN_KEPT_STATE(work), *there = kept + AG_STEP_N, *back = there + AG_STEP_N;
  int reason = 0;
  for (int i = 0; i < AG_STEP_N && opens; i++) kept[i] = from[i];
  if (opens) reason = AG_STEP_FN(add_energy)(AG_STEP_PASS now, from, -1, d);
  if (!reason) reason = AG_STEP_FN(piece)(AG_STEP_PASS part, now, by, from, to, work);
  if (!reason && closes) reason = AG_STEP_FN(add_energy)(AG_STEP_PASS now, to, 1, d);
  if (reason || part != 'V') return reason;
  AG_STEP_FN(reverse)(AG_STEP_PASS to, there);
  reason = AG_STEP_FN(piece)(AG_STEP_PASS part, now, by, there, back, work);
  AG_STEP_FN(reverse)(AG_STEP_PASS back, there);
  *bad |= AG_STEP_FN(elsewhere)(AG_STEP_PASS from, there);
  return reason;
}

/* The parts p of a step, z to z1. */
AG_STEP_QUALIFIER int AG_STEP_FN(compose)(AG_STEP_FLOW AG_STEP_SIZE V t, V h, const V *z, V *z1, V *work) {
  V *a = AG_LANGEVIN_STATES(work), *b = a + AG_STEP_N, d = v_set(0),
    taken = AG_LANGEVIN->tests ? work[AG_STEP_N] : v_set(0);
  const char *parts = AG_LANGEVIN->parts;
  const V half = 0.5 * h;
  V now = t; /* moves with the positions */
  VI bad = v_word_set(0);
  int count = 0, seen = 0;
  while (parts[count]) count++;
  for (int p = 0; p < count; p++) {
    const char part = parts[p];
    const int once = 2 * p + 1 == count; /* the one in the middle */
    const int opens = part != 'O' && (p == 0 || parts[p - 1] == 'O'), last = p + 1 == count,
              closes = part != 'O' && (last || parts[p + 1] == 'O'),
              tried = AG_LANGEVIN->tests && (part != 'O' || !AG_LANGEVIN->halves);
    const V *from = p ? (p & 1 ? a : b) : z, by = once ? h : half;
    V *to = last ? z1 : p & 1 ? b : a;
    const VI before = AG_STEP_FAILED;
    int reason;
    AG_STEP_FN(weigh)(AG_STEP_PASS part != 'O', part == 'O' && (!AG_LANGEVIN->halves || seen));
    if (part == 'O') seen = 1;
    if (tried) {
      reason = AG_STEP_FN(try_piece)(AG_STEP_PASS part, now, by, from, to, work, opens, closes, &d, &bad);
      bad |= reason ? v_word_set(~0ULL) : AG_STEP_FAILED & ~before;
      AG_STEP_FORGIVE(before)
      for (int i = 0; i < AG_STEP_N && reason; i++) to[i] = from[i];
      if (closes && (AG_LANGEVIN->halves || last))
        AG_STEP_FN(judge)(AG_STEP_PASS d, bad, last ? z : AG_LANGEVIN_KEPT_STATE(work), to, &taken);
    } else {
      reason = AG_STEP_FN(piece)(AG_STEP_PASS part, now, by, from, to, work);
      if (reason) return reason;
    }
    if (part == 'A' || part == 'V') now = once ? t + h : now + half;
  }
  if (AG_LANGEVIN->tests) work[AG_HERMITE_CARRY + AG_STEP_N] = taken;
  return 0;
}

AG_STEP_QUALIFIER int AG_STEP_FN(step)(AG_STEP_FLOW AG_STEP_SIZE V t, V h, const V *restrict z, V *restrict z1,
                                       double rtol, const V *restrict atol, V *restrict error, V *restrict work) {
  V *end = work + AG_HERMITE_CARRY;
  AG_STEP_FN(prepare)(AG_STEP_PASS AG_LANGEVIN->halves);
  const int reason = AG_STEP_FN(compose)(AG_STEP_PASS t, h, z, z1, work);
  if (reason) return reason;
  AG_STEP_W(0) = AG_LANGEVIN_FRICTION = v_set(1);
  AG_STEP_RHS(t + h, z1, end)
  AG_STEP_FN(no_estimate)(AG_STEP_PASS z1, end, error);
  (void)rtol, (void)atol;
  return 0;
}
#undef AG_LANGEVIN_KEPT_STATE
#undef AG_LANGEVIN_STATES
#undef AG_LANGEVIN_KEPT
#undef AG_LANGEVIN_FRICTION
