/* SPDX-License-Identifier: MIT
 * One step of an explicit Lie-group method: a stepper's text (step_text.h), after factor_core.h, lie.h and
 * hermite_core.h; AG_LIE is the method, a pointer to an ag_lie. The step is that of a field F(t, z) over 0 <= s <= 1;
 * here F = h f, with the increments k_i = F(t_i, Z_i) in tangent coordinates. Rotations, and images with them, are
 * turned by products of exponentials: they keep their length, and agree after any number of steps.
 *
 * The workspace: the rates at both ends, three rows of dense output, a point, a rate, the increments, their
 * combination. */

/* w = sum_j by_j k_j over the first `count` increments */
AG_STEP_QUALIFIER void AG_STEP_FN(combine)(AG_STEP_FLOW AG_STEP_SIZE int count, const double *by, const V *k, V *w) {
  for (int r = 0; r < AG_STEP_M; r++) {
    w[r] = v_set(0);
    for (int j = 0; j < count; j++)
      if (by[j] != 0) w[r] = v_fma(v_set(by[j]), k[j * AG_STEP_M + r], w[r]);
  }
}

/* Row i: z moved into out; w: its first combination. */
AG_STEP_QUALIFIER void AG_STEP_FN(row)(AG_STEP_FLOW AG_STEP_SIZE int i, const V *z, const V *k, V *y, V *w, V *out) {
  if (AG_LIE->twice[i]) {
    AG_STEP_FN(combine)(AG_STEP_PASS i, AG_LIE->first[i], k, w);
    AG_STEP_FN(move)(AG_STEP_PASS z, v_set(1), w, y);
    AG_STEP_FN(combine)(AG_STEP_PASS i, AG_LIE->second[i], k, w);
    AG_STEP_FN(move)(AG_STEP_PASS y, v_set(1), w, out);
  } else {
    AG_STEP_FN(combine)(AG_STEP_PASS i, AG_LIE->first[i], k, w);
    AG_STEP_FN(move)(AG_STEP_PASS z, v_set(1), w, out);
  }
}

AG_STEP_QUALIFIER int AG_STEP_FN(step)(AG_STEP_FLOW AG_STEP_SIZE V t, V h, const V *restrict z, V *restrict z1,
                                       double rtol, const V *restrict atol, V *restrict error, V *restrict work) {
  V *end = work + AG_STEP_N, *y = work + 5 * AG_STEP_N, *rate = y + AG_STEP_N, *k = rate + AG_STEP_N;
  V *w = k + 4 * AG_STEP_M;
  for (int i = 0; i < AG_LIE->s; i++) {
    V *now = k + i * AG_STEP_M;
    if (i) {
      AG_STEP_FN(row)(AG_STEP_PASS i, z, k, y, w, z1);
      AG_STEP_RHS(v_fma(v_set(AG_LIE->c[i]), h, t), z1, rate)
    }
    AG_STEP_FN(tangent)(AG_STEP_PASS i ? z1 : z, i ? rate : work, now);
    for (int r = 0; r < AG_STEP_M; r++) now[r] = h * now[r];
    for (int f_ = 0; f_ < AG_STEP_N_FACTOR && i && AG_LIE->munthe_kaas; f_++) {
      const ag_factor p = AG_STEP_FACTOR(f_);
      if (p.kind == AG_FACTOR_QUATERNION) AG_STEP_FN(dexp_inverse)(w + p.d, now + p.d);
    }
  }
  AG_STEP_FN(row)(AG_STEP_PASS AG_LIE->s, z, k, y, w, z1);
  AG_STEP_RHS(t + h, z1, end)
  AG_STEP_FN(no_estimate)(AG_STEP_PASS z1, end, error);
  (void)rtol, (void)atol;
  return 0;
}
