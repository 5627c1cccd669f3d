/* SPDX-License-Identifier: MIT
 * The size of the next step: text over V, after vmath.h, for single runs (V = double) and for lanes. Formulas:
 * control.c. Every rounding is written out, and every lane follows from its own numbers. q and beta are those of the
 * method: the estimate behaves like C h^q, and beta is the weight of the error before.
 */

/* A step size needs few digits: powers to 2e-4, from the bits of a number and short polynomials that are continuous
 * where the exponent changes. Powers of 1 are exact.
 *
 * log2 x of a positive normal number x = 2^e (1 + f), to 1.2e-4. */
V_IN V control_log2(V x) {
  const VI bits = v_bits(x);
  const V e = v_of((bits >> 52) | 0x4330000000000000ULL) - 0x1.00000000003ffp52;
  const V f = v_of((bits & 0xfffffffffffffULL) | 0x3ff0000000000000ULL) - 1.0;
  const V p = v_poly(v_poly(v_set(0.0821307179834539), f, -0.2390582657606347), f, 0.43872574781099155);
  return v_fma(f * (1.0 - f), p, e + f);
}

/* 2^y, |y| < 1000, to 1.1e-4: y = n + r, 0 <= r <= 1. */
V_IN V control_exp2(V y) {
  const V turns = (y - 0.5) + 0x1.8p52, r = y - (turns - 0x1.8p52); /* the low bits of turns hold n */
  const V p = v_poly(v_set(-0.0782679701932832), r, -0.3045756524673925);
  return v_fma(r * (1.0 - r), p, 1.0 + r) * v_of((v_bits(turns) + 1023) << 52);
}

/* The factor for the step size after a try with this error; `last`: the error of the last accepted step. In the lanes
 * of `was` the previous try was rejected. An error that is not finite gives no information: a tenth. */
V_IN V control_factor(V error, V last, VI was, double q, double beta, double safety, double shrink, double grow) {
  const V one = v_set(1);
  const VI good = m_le(error, one), lost = ~m_lt(error, v_set(V_INF));
  const V size = control_log2(v_max(v_blend(lost, one, error), v_set(0x1p-1022)));
  V power = (-1.0 / q) * size;
  if (beta != 0)
    power = v_blend(good, v_fma(v_set(0.75 * beta), size, v_fma(v_set(beta), control_log2(last), power)), power);
  const V factor = v_max(safety * control_exp2(power), v_set(shrink)), most = v_blend(was, one, v_set(grow));
  return v_blend(lost, v_set(0.1), v_blend(good, v_min(factor, most), factor));
}

/* The next step after one of size `step`: at most h_max. */
V_IN V control_limit(V next, double h_max) {
  return v_blend(m_lt(v_set(h_max), v_abs(next)), v_flip(v_set(h_max), v_signbit(next)), next);
}

/* Reconstructed variables have their own error `rest`, above 1 where their steps are too long. The factor for the first
 * of the smaller steps (entering), and for the next one after a smaller step. */
V_IN V control_rest_factor(V rest, VI entering, double q) {
  const VI lost = ~m_lt(rest, v_set(V_INF));
  const V size = control_log2(v_max(v_blend(lost, v_set(1), rest), v_set(1e-300)));
  const V factor = 0.9 * control_exp2((-1.0 / q) * size);
  const V again = v_blend(lost, v_set(0.1), v_min(v_max(factor, v_set(0.1)), v_set(6)));
  const V into = v_blend(lost, v_set(0.01), v_max(factor, v_set(0.01)));
  return v_blend(entering, into, again);
}
