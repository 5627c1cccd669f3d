/* SPDX-License-Identifier: MIT
 * Metropolis' test of a step without friction and noise: a part of steppers' texts (step_text.h), behind
 * factor_core.h. Where such a step preserves volume and is reversible, accepting it with the
 * probability min(1, exp(-d)), d the change of E/kT, and otherwise reversing all velocities at its start preserves
 * exp(-E/kT) exactly, for every h. Needs, besides what is listed there,
 *   AG_STEP_CANONICAL(t, z, out)   a statement that sets the V out[2] to E/kT and kT at z; it may return a reason > 0
 *   AG_STEP_FORGIVE(before)        a statement: lanes that failed since AG_STEP_FAILED was `before` go on
 *   AG_STEP_W(i)                   behind the weights of halves (langevin_core.h) a uniform number of (0, 1) */
#define AG_TRIAL_UNIFORM AG_STEP_W(2 + 2 * AG_STEP_CHANNELS)

/* Where velocity j stands in a state. */
AG_STEP_QUALIFIER int AG_STEP_FN(place)(AG_STEP_FLOW AG_STEP_SIZE int j) {
  for (int i = 0; i < AG_STEP_N_FACTOR; i++) {
    const ag_factor p = AG_STEP_FACTOR(i);
    const int r = AG_STEP_U_AT + j - p.d;
    if (p.kind == AG_FACTOR_VECTOR && r >= 0 && r < p.n) return p.z + r;
  }
  return 0;
}

/* z with all velocities reversed. */
AG_STEP_QUALIFIER void AG_STEP_FN(reverse)(AG_STEP_FLOW AG_STEP_SIZE const V *z, V *out) {
  for (int i = 0; i < AG_STEP_N; i++) out[i] = z[i];
  for (int j = 0; j < AG_STEP_N_U; j++) {
    const int at = AG_STEP_FN(place)(AG_STEP_PASS j);
    out[at] = -z[at];
  }
}

/* Adds E/kT at z, times `by`, to *sum. */
AG_STEP_QUALIFIER int AG_STEP_FN(add_energy)(AG_STEP_FLOW AG_STEP_SIZE V t, const V *z, double by, V *sum) {
  V e[2] = {v_set(0), v_set(0)};
  AG_STEP_CANONICAL(t, z, e)
  *sum = v_fma(v_set(by), e[0], *sum);
  (void)t, (void)z;
  return 0;
}

/* In which lanes is y not x, though it should be? Implicit equations have several solutions where h is large: a step
 * whose reverse step arrives elsewhere is rejected. The rounding error of going there and back is far smaller. */
AG_STEP_QUALIFIER VI AG_STEP_FN(elsewhere)(AG_STEP_FLOW AG_STEP_SIZE const V *x, const V *y) {
  V largest = v_set(0);
  VI near = v_word_set(~0ULL);
  for (int i = 0; i < AG_STEP_N; i++) largest = v_max(largest, v_abs(x[i]));
  for (int i = 0; i < AG_STEP_N; i++) near &= m_le(v_abs(y[i] - x[i]), v_fma(v_set(1e-9), largest, 1e-6 * v_abs(x[i])));
  return ~near;
}

/* The test of z1, reached from z with the change d of E/kT; it is rejected where it is `bad` or not finite. count: of
 * the steps that were accepted. */
AG_STEP_QUALIFIER void AG_STEP_FN(judge)(AG_STEP_FLOW AG_STEP_SIZE V d, VI bad, const V *z, V *z1, V *count) {
  VI taken = m_le(AG_TRIAL_UNIFORM, v_exp(-d)) & ~bad;
  for (int i = 0; i < AG_STEP_N; i++) taken &= m_eq(z1[i] * 0.0, v_set(0));
  for (int i = 0; i < AG_STEP_N; i++) z1[i] = v_blend(taken, z1[i], z[i]);
  for (int j = 0; j < AG_STEP_N_U; j++) {
    const int at = AG_STEP_FN(place)(AG_STEP_PASS j);
    z1[at] = v_blend(taken, z1[at], -z[at]);
  }
  *count = *count + v_blend(taken, v_set(1), v_set(0));
}
#undef AG_TRIAL_UNIFORM
