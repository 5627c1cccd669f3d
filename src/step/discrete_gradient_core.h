/* SPDX-License-Identifier: MIT
 * The discrete gradient method: a stepper's text (step_text.h), after factor_core.h, newton_core.h and hermite_core.h.
 * With the increment D in tangent coordinates and everything else in the middle, at time t_m = t + h/2 and z moved by
 * D/2,
 *   D = h (f + c J D),   c = (E(t_m, z1) - E(t_m, z) - grad E . D) / |D|^2,   z1 = z moved by D.
 * grad E + c D is a discrete gradient (Gonzalez 1996) of E at time t_m: its product with D is E(t_m, z1) - E(t_m, z). J
 * is skew, so that this is h (grad E + c D).(f - J grad E), the work of forces and moving constraints, 0 where
 * f = J grad E. The explicit change of E with time, from t to t_m at z and from t_m to t + h at z1, is added. (With E
 * at the times of the ends c would contain E_t h / |D|^2, which does not vanish with h.) Newton's method with the
 * Jacobian of f alone: c is of order h^2.
 * Rounding of z1 and of D changes E by some 1e-16 of its size, which would accumulate over the steps. The excess of E
 * so far over the work is carried along as e and compensated in the next step: E(t_m, z) - e replaces E(t_m, z) above.
 * In small motions about an equilibrium the quotient c is the rounding of E over |D|^2. As soon as corrections no
 * longer decrease it stays as it is, and the step can be solved for; e takes up the rest. Where rounding of E is above
 * AG_GRAD_BLIND of the terms of grad E . D E does not resolve the energy of the motion: c = 0, the midpoint rule.
 * Needs
 *   AG_STEP_GRADIENT(t, z, out)   a statement that sets out[] to E, grad E and J at z, row by row
 *
 * The workspace: the rates and e at both ends, three rows of dense output, a point, a rate, k = D/h, a correction, the
 * matrix, E with its gradient and J. */
#define AG_GRAD_MOST 60
#define AG_GRAD_DONE 1e-17
#define AG_GRAD_NOISE 1e-11
#define AG_GRAD_NEAR 1e-5
#define AG_GRAD_BLIND 1e-2
#define AG_GRAD_ROUNDING 2e-15

/* At the middle of the step: f in w, E with its gradient and J in form; c, and
 * E(t_m, z1) - E(t_m, z) + e. energy: E(t_m, z) and e. */
AG_STEP_QUALIFIER int AG_STEP_FN(middle)(AG_STEP_FLOW AG_STEP_SIZE V t, V h, const V *z, const V *energy, const V *k,
                                         V *y, V *rate, V *w, V *form, V *c, V *gained) {
  const V half = 0.5 * h;
  V square = v_set(0), along = v_set(0), terms = v_set(0);
  AG_STEP_FN(move)(AG_STEP_PASS z, h, k, y);
  AG_STEP_GRADIENT(t, y, form)
  *gained = (form[0] - energy[0]) + energy[1];
  AG_STEP_FN(move)(AG_STEP_PASS z, half, k, y);
  AG_STEP_GRADIENT(t, y, form)
  AG_STEP_RHS(t, y, rate)
  AG_STEP_FN(tangent)(AG_STEP_PASS y, rate, w);
  for (int r = 0; r < AG_STEP_M; r++) {
    const V d = h * k[r];
    square = v_fma(d, d, square);
    along = v_fma(form[1 + r], d, along);
    terms = v_fma(v_abs(form[1 + r]), v_abs(d), terms);
  }
  const VI still = m_lt(square, v_set(1e-200)) | m_lt(AG_GRAD_BLIND * terms, AG_GRAD_ROUNDING * v_abs(energy[0]));
  *c = v_blend(still, v_set(0), (*gained - along) / v_blend(still, v_set(1), square));
  return 0;
}

/* f + c J D at the middle of the step, in w; the matrix of Newton's method, in J. c is new where it is not fixed. */
AG_STEP_QUALIFIER int AG_STEP_FN(field)(AG_STEP_FLOW AG_STEP_SIZE V t, V h, const V *z, const V *energy, const V *k,
                                        V *y, V *rate, V *w, V *J, V *form, VI fixed, V *c) {
  V now, gained;
  const int reason = AG_STEP_FN(middle)(AG_STEP_PASS t, h, z, energy, k, y, rate, w, form, &now, &gained);
  if (reason) return reason;
  *c = v_blend(fixed, *c, now);
  AG_STEP_JACOBIAN(t, y, J)
  AG_STEP_FN(stage_matrix)(AG_STEP_PASS 0.5 * h, k, w, J);
  for (int r = 0; r < AG_STEP_M; r++) {
    V sum = v_set(0);
    for (int j = 0; j < AG_STEP_M; j++) sum = v_fma(form[1 + AG_STEP_M + r * AG_STEP_M + j], h * k[j], sum);
    w[r] = v_fma(*c, sum, w[r]);
  }
  return 0;
}

/* The gain of E in the step by k over the work h (grad E + c D).(f - J grad E), and e. */
AG_STEP_QUALIFIER int AG_STEP_FN(defect)(AG_STEP_FLOW AG_STEP_SIZE V t, V h, const V *z, const V *energy, const V *k,
                                         V *y, V *rate, V *w, V *form, V *gained) {
  V c, work = v_set(0);
  const int reason = AG_STEP_FN(middle)(AG_STEP_PASS t, h, z, energy, k, y, rate, w, form, &c, gained);
  if (reason) return reason;
  for (int r = 0; r < AG_STEP_M; r++) {
    V rest = w[r];
    for (int j = 0; j < AG_STEP_M; j++) rest = v_fma(-form[1 + AG_STEP_M + r * AG_STEP_M + j], form[1 + j], rest);
    work = v_fma(v_fma(c, h * k[r], form[1 + r]), rest, work);
  }
  *gained = v_fma(-h, work, *gained);
  return 0;
}

/* D of a step in k, t the middle of the step. */
AG_STEP_QUALIFIER int AG_STEP_FN(increment)(AG_STEP_FLOW AG_STEP_SIZE V t, V h, const V *z, const V *energy, V *k, V *y,
                                            V *rate, V *w, V *J, V *form) {
  VI open = v_word_set(~0ULL), lost = v_word_set(0), fixed = v_word_set(0);
  V last = v_set(V_INF), largest = v_set(0), c = v_set(0);
  for (int i = 0; i < AG_STEP_N; i++) largest = v_max(largest, v_abs(z[i]));
  for (int trial = 0; trial < AG_GRAD_MOST && v_any(open); trial++) {
    int reason = 0;
    AG_STEP_GUARD(open, reason = AG_STEP_FN(field)(AG_STEP_PASS t, h, z, energy, k, y, rate, w, J, form, fixed, &c);)
    if (reason) return reason;
    V now = v_set(0), size = largest;
    for (int r = 0; r < AG_STEP_M; r++) w[r] = w[r] - k[r], size = v_max(size, v_abs(h * k[r]));
    AG_STEP_FN(corrected)(AG_STEP_PASS 0.5 * h, J, w);
    for (int r = 0; r < AG_STEP_M; r++) {
      now = v_max(now, v_abs(h * w[r]));
      lost |= open & m_nan(w[r]);
      k[r] = v_blend(open, k[r] + w[r], k[r]);
    }
    const V fall = now / last; /* the rest: now (fall + fall^2 + ...) */
    const VI done = m_lt(last, v_set(V_INF)) & m_lt(fall, v_set(1)) &
                    m_le(now * fall, AG_GRAD_DONE * size * (1.0 - fall));
    const VI noise = m_le(now, AG_GRAD_NOISE * size) & m_le(last, now);
    open &= ~(done | noise | m_eq(now, v_set(0)) | lost | AG_STEP_FAILED);
    fixed |= m_le(now, AG_GRAD_NEAR * size) & m_le(0.5 * last, now);
    last = now;
  }
  AG_STEP_UNSOLVED(open | lost)
  return 0;
}

AG_STEP_QUALIFIER int AG_STEP_FN(step)(AG_STEP_FLOW AG_STEP_SIZE V t, V h, const V *restrict z, V *restrict z1,
                                       double rtol, const V *restrict atol, V *restrict error, V *restrict work) {
  V *end = work + AG_HERMITE_CARRY, *y = work + 2 * AG_HERMITE_CARRY + 3 * AG_STEP_N, *rate = y + AG_STEP_N;
  V *k = rate + AG_STEP_N, *w = k + AG_STEP_M, *J = w + AG_STEP_M, *form = J + AG_STEP_SQUARE;
  const V middle = v_fma(v_set(0.5), h, t);
  AG_STEP_FN(tangent)(AG_STEP_PASS z, work, k);
  AG_STEP_GRADIENT(middle, z, form)
  const V energy[2] = {form[0], work[AG_STEP_N]};
  int reason = AG_STEP_FN(increment)(AG_STEP_PASS middle, h, z, energy, k, y, rate, w, J, form);
  if (!reason) reason = AG_STEP_FN(defect)(AG_STEP_PASS middle, h, z, energy, k, y, rate, w, form, end + AG_STEP_N);
  if (reason) return reason;
  AG_STEP_FN(move)(AG_STEP_PASS z, h, k, z1);
  AG_STEP_RHS(t + h, z1, end)
  AG_STEP_FN(no_estimate)(AG_STEP_PASS z1, end, error);
  (void)rtol, (void)atol;
  return 0;
}
#undef AG_GRAD_ROUNDING
#undef AG_GRAD_BLIND
#undef AG_GRAD_NEAR
#undef AG_GRAD_NOISE
#undef AG_GRAD_DONE
#undef AG_GRAD_MOST
