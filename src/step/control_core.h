/* SPDX-License-Identifier: MIT
 * The size of the next step: text over V, after vmath.h, for single runs (V = double) and for lanes. Formulas:
 * control.c. Every rounding is written out, and every lane follows from its own numbers. q and beta are those of the
 * method: the estimate behaves like C h^q, and beta is the weight of the error before; with 0 there is one power less.
 */

/* x^power. Where the power is -1/8, three square roots. */
V_IN V control_power(V x, double power) {
  return power == -0.125 ? 1.0 / v_sqrt(v_sqrt(v_sqrt(x))) : v_pow(x, v_set(power));
}

/* The factor for the step size after a try with this error; `last`: the error of the last accepted step. In the lanes
 * of `was` the previous try was rejected. An error that is not finite gives no information: a tenth. */
V_IN V control_factor(V error, V last, VI was, double q, double beta, double safety, double shrink, double grow) {
  const V one = v_set(1);
  const VI good = m_le(error, one), lost = ~m_lt(error, v_set(V_INF));
  const V small = v_max(error, v_set(0x1p-1022));
  const V root = control_power(small, -(1.0 / q - 0.75 * beta));
  V up = safety * root, down = root; /* a lost error has no root, and needs none */
  if (beta != 0) {
    up = up * v_pow(last, v_set(beta));
    down = control_power(v_blend(lost, one, small), -1.0 / q);
  }
  up = v_min(v_max(up, v_set(shrink)), v_blend(was, one, v_set(grow)));
  down = v_max(safety * down, v_set(shrink));
  down = v_blend(lost, v_set(0.1), down);
  return v_blend(good, up, down);
}

/* The next step after one of size `step`: at most h_max. */
V_IN V control_limit(V next, double h_max) {
  return v_blend(m_lt(v_set(h_max), v_abs(next)), v_flip(v_set(h_max), v_signbit(next)), next);
}

/* Reconstructed variables have their own error `rest`, above 1 where their steps are too long. The factor for the first
 * of the smaller steps (entering), and for the next one after a smaller step. */
V_IN V control_rest_factor(V rest, VI entering, double q) {
  const VI lost = ~m_lt(rest, v_set(V_INF));
  const V factor = 0.9 * control_power(v_max(v_blend(lost, v_set(1), rest), v_set(1e-300)), -1.0 / q);
  const V again = v_blend(lost, v_set(0.1), v_min(v_max(factor, v_set(0.1)), v_set(6)));
  const V into = v_blend(lost, v_set(0.01), v_max(factor, v_set(0.01)));
  return v_blend(entering, into, again);
}
