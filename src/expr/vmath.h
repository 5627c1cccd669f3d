/* SPDX-License-Identifier: MIT
 * The functions of a tape over the value type V of vtype.h: generated kernels are written in them, and the interpreter
 * is made of them. Every function does the same IEEE operations in the same order for every V (no libm in any result,
 * compile with -ffp-contract=off), so that a lane of a kernel and the interpreter agree bit for bit. No system header
 * is needed.
 *
 * op.def states the largest error of each operation, and vmath_test.c holds it to that. Polynomials and constants:
 * vmath_fit.py. NaN goes through everything, min and max included.
 * Conditions are numbers: 1 holds, 0 does not. Lanes whose pivot fails are marked in a VI, all bits set.
 * With AG_VMATH_CALL defined the larger functions are called, not inlined: the same bits, smaller code. */
#ifndef AG_EXPR_VMATH_H
#define AG_EXPR_VMATH_H
#define AG_VMATH_VERSION 1
#ifndef AG_EXPR_VTYPE_H /* which generated code has in front */
#include "expr/vtype.h"
#endif

/* ---- bits, masks, choice ---- */
#if AG_LANES == 1
V_IN V v_set(double c) { return c; }
V_IN VI v_word_set(v_word c) { return c; }
V_IN VI v_bits(V a) {
  union {
    V v;
    VI i;
  } u = {a};
  return u.i;
}
V_IN V v_of(VI i) {
  union {
    VI i;
    V v;
  } u = {i};
  return u.v;
}
V_IN VI m_lt(V a, V b) { return 0 - (VI)(a < b); }
V_IN VI m_le(V a, V b) { return 0 - (VI)(a <= b); }
V_IN VI m_eq(V a, V b) { return 0 - (VI)(a == b); }
V_IN VI m_not_lt(V a, V b) { return ~m_lt(a, b); }
V_IN V v_blend(VI m, V a, V b) { return m ? a : b; }
#else
V_IN V v_set(double c) { return c - (V){0}; } /* minus: keeps -0 */
V_IN VI v_word_set(v_word c) { return c - (VI){0}; }
V_IN VI v_bits(V a) { return (VI)a; }
V_IN V v_of(VI i) { return (V)i; }
/* In halves where there are two, else whole masks are put together and taken apart again; of 8 lanes by the
 * instruction: of their whole masks clang makes 16-bit numbers, and 64-bit ones again. */
#if defined V_BOTH && AG_LANES == 8
typedef v_word v_half_word __attribute__((vector_size(32)));
#define V_COMPARE(name, op) \
  V_IN v_half_word name##_half(v_half a, v_half b) { \
    v_half_word m; \
    __asm__("vcmppd $" #op ", %2, %1, %0" : "=x"(m) : "x"(a), "xm"(b)); \
    return m; \
  } \
  V_IN VI name(V a, V b) { return V_BOTH(name##_half(V_LOW(a), V_LOW(b)), name##_half(V_HIGH(a), V_HIGH(b))); }
V_COMPARE(m_lt, 17)
V_COMPARE(m_le, 18)
V_COMPARE(m_eq, 0)
V_COMPARE(m_not_lt, 21)
#undef V_COMPARE
#elif defined V_BOTH
typedef v_word v_half_word __attribute__((vector_size(64)));
#define V_COMPARE(name, op) \
  V_IN VI name(V a, V b) { \
    const v_half_word low = (v_half_word)(V_LOW(a) op V_LOW(b)); \
    return V_BOTH(low, (v_half_word)(V_HIGH(a) op V_HIGH(b))); \
  }
V_COMPARE(m_lt, <)
V_COMPARE(m_le, <=)
V_COMPARE(m_eq, ==)
#undef V_COMPARE
V_IN VI m_not_lt(V a, V b) { return ~m_lt(a, b); }
#else
V_IN VI m_lt(V a, V b) { return (VI)(a < b); }
V_IN VI m_le(V a, V b) { return (VI)(a <= b); }
V_IN VI m_eq(V a, V b) { return (VI)(a == b); }
V_IN VI m_not_lt(V a, V b) { return ~m_lt(a, b); }
#endif
V_IN V v_blend(VI m, V a, V b) { return (V)((m & (VI)a) | (~m & (VI)b)); }
#endif
V_IN VI m_nan(V a) { return ~m_eq(a, a); }
V_IN V v_abs(V a) { return v_of(v_bits(a) & 0x7fffffffffffffffULL); }
V_IN VI v_signbit(V a) { return v_bits(a) & 0x8000000000000000ULL; }
V_IN V v_flip(V a, VI sign) { return v_of(v_bits(a) ^ sign); } /* negates where the sign bit is set */
V_IN V v_num(VI m) { return v_of(m & 0x3ff0000000000000ULL); } /* mask to 1 or 0 */
V_IN V v_nan(void) { return v_of(v_word_set(0x7ff8000000000000ULL)); }
V_IN V v_poly(V p, V x, double c) { return v_fma(p, x, v_set(c)); } /* one step of Horner's rule */

V_IN V v_lt(V a, V b) { return v_num(m_lt(a, b)); }
V_IN V v_le(V a, V b) { return v_num(m_le(a, b)); }
V_IN V v_eq(V a, V b) { return v_num(m_eq(a, b)); }
V_IN V v_ne(V a, V b) { return v_num(~m_eq(a, b)); }
V_IN V v_and(V a, V b) { return v_num(~m_eq(a, v_set(0)) & ~m_eq(b, v_set(0))); }
V_IN V v_or(V a, V b) { return v_num(~m_eq(a, v_set(0)) | ~m_eq(b, v_set(0))); }
V_IN V v_not(V a) { return v_num(m_eq(a, v_set(0))); }
V_IN V v_select(V c, V a, V b) { return v_blend(m_eq(c, v_set(0)), b, a); }
V_IN V v_min(V a, V b) { return v_blend(m_lt(a, b) | m_nan(a), a, b); }
V_IN V v_max(V a, V b) { return v_blend(m_lt(b, a) | m_nan(a), a, b); }
V_IN V v_sign(V a) {
  V one = v_of(v_signbit(a) | 0x3ff0000000000000ULL);
  return v_blend(m_eq(a, v_set(0)) | m_nan(a), a, one);
}
/* Pivots: which lanes fail; NaN in these; passed through, or the lane is marked and gets NaN. */
V_IN VI v_badpos(V a) { return m_not_lt(v_set(0), a); }
V_IN VI v_badnz(V a) { return m_not_lt(v_set(1e-12), v_abs(a)); }
V_IN V v_mark(V a, VI bad) { return v_of(v_bits(a) | bad); } /* all bits set: a NaN */
V_IN V v_checkpos(V a, VI *fail) {
  VI bad = v_badpos(a);
  *fail |= bad;
  return v_mark(a, bad);
}
V_IN V v_checknz(V a, VI *fail) {
  VI bad = v_badnz(a);
  *fail |= bad;
  return v_mark(a, bad);
}
/* 1/a where a is above the bound, else `lost`, and the lane is marked. */
V_IN V v_pivot(V a, V bound, V lost, VI *fail) {
  VI bad = ~m_lt(bound, a);
  *fail |= bad;
  return v_blend(bad, lost, 1.0 / a);
}

/* ---- sin, cos, tan ----
 * x = n pi/2 + r, |r| <= pi/4, r in two parts: n pi/2 is subtracted in three pieces of 53, 32 and 53 bits; the
 * first difference and the second product are exact for |x| <= 2^21. Beyond, each such lane takes the exact product of
 * x with the bits of 2/pi (Payne and Hanek). */
#define V_PIO2_1 0x1.921fb54442d18p+0
#define V_PIO2_2 0x1.1a62633145c07p-54

V_IN double v_pow2(int e) { /* 2^e, -1022 <= e <= 1023 */
  union {
    v_word i;
    double v;
  } u = {(v_word)(e + 1023) << 52};
  return u.v;
}

/* One number, 2^21 < |x|: r - lo and the quadrant. 192 bits of 2/pi times the 53 of x, modulo 4. */
static __attribute__((noinline, cold, unused)) void v_far(double x, double *r, double *lo, v_word *quadrant) {
  static const v_word bits[20] = {0,
                                  0xa2f9836e4e441529,
                                  0xfc2757d1f534ddc0,
                                  0xdb6295993c439041,
                                  0xfe5163abdebbc561,
                                  0xb7246e3a424dd2e0,
                                  0x06492eea09d1921c,
                                  0xfe1deb1cb129a73e,
                                  0xe88235f52ebb4484,
                                  0xe99c7026b45f7e41,
                                  0x3991d639835339f4,
                                  0x9c845f8bbdf9283b,
                                  0x1ff897ffde05980f,
                                  0xef2f118b5a0a6d1f,
                                  0x6d367ecf27cb09b7,
                                  0x4f463f669e5fea2d,
                                  0x7527bac7ebe5f17b,
                                  0x3d0739f78a5292ea,
                                  0x6bfb5fb11f8d5d08,
                                  0x56033046fc7b6bab};
  union {
    double v;
    v_word i;
  } u = {x};
  int exponent = (int)(u.i >> 52 & 2047);
  if (exponent == 2047) {
    *r = *lo = x - x;
    *quadrant = 0;
    return;
  }
  v_word m = (u.i & 0xfffffffffffffULL) | 0x10000000000000ULL, w[3];
  int at = exponent - 1075 - 2 + 64; /* bits of weight 4 and more in x*2/pi are left out */
  for (int i = 0; i < 3; i++) {
    const v_word *b = bits + (at >> 6) + i;
    w[i] = at & 63 ? b[0] << (at & 63) | b[1] >> (64 - (at & 63)) : b[0];
  }
  unsigned __int128 p1 = (unsigned __int128)m * w[1], p2 = (unsigned __int128)m * w[2];
  v_word middle = (v_word)p1 + (v_word)(p2 >> 64);
  v_word top = m * w[0] + (v_word)(p1 >> 64) + (middle < (v_word)p1);
  /* top:middle:p2 is x*2/pi modulo 4 in units of 2^-190: two bits of quadrant, then the fraction, to [-1/2, 1/2) */
  v_word q = (top >> 62) + (top >> 61 & 1);
  unsigned __int128 f = (unsigned __int128)(top << 2 | middle >> 62) << 64 | (middle << 2 | (v_word)p2 >> 62);
  int negative = (int)(f >> 127);
  if (negative) f = 0 - f;
  int zeros = (v_word)(f >> 64) ? __builtin_clzll((v_word)(f >> 64)) : 64 + __builtin_clzll((v_word)f | 1);
  f <<= zeros;
  double scale = v_pow2(-zeros - 53);
  double fh = (double)(v_word)(f >> 75) * scale, fl = (double)((v_word)(f >> 11)) * 0x1p-64 * scale;
  double rh = fh * V_PIO2_1, rl = __builtin_fma(fh, V_PIO2_1, -rh) + (fh * V_PIO2_2 + fl * V_PIO2_1);
  double sum = rh + rl, rest = (sum - rh) - rl;
  int minus = negative != (int)(u.i >> 63);
  *r = minus ? -sum : sum;
  *lo = minus ? -rest : rest;
  *quadrant = u.i >> 63 ? 0 - q : q;
}

/* Lanes with |x| > 2^21 done over again. */
static __attribute__((noinline, cold, unused)) void v_far_lanes(const V *x, V *r, V *lo, VI *quadrant) {
  const double *xs = (const double *)x;
  double *rs = (double *)r, *los = (double *)lo;
  v_word *qs = (v_word *)quadrant;
  for (int i = 0; i < AG_LANES; i++)
    if (__builtin_fabs(xs[i]) > 0x1p21) v_far(xs[i], rs + i, los + i, qs + i);
}

V_IN void v_trig(V x, V *sine, V *cosine) {
  V turns = v_fma(x, v_set(0x1.45f306dc9c883p-1), v_set(0x1.8p52)), n = turns - 0x1.8p52;
  VI q = v_bits(turns); /* the low bits hold n */
  V r1 = v_fma(n, v_set(-V_PIO2_1), x), r = v_fma(n, v_set(-0x1.1a62633000000p-54), r1);
  V lo = v_fma(n, v_set(0x1.45c06e0e68948p-86), v_fma(n, v_set(0x1.1a62633000000p-54), r - r1)); /* r - exact r */
  if (__builtin_expect(v_any(m_lt(v_set(0x1p21), v_abs(x))), 0)) {
    V far_x = x, far_r = r, far_lo = lo;
    VI far_q = q;
    v_far_lanes(&far_x, &far_r, &far_lo, &far_q);
    r = far_r, lo = far_lo, q = far_q;
  }
  V z = r * r, z2 = z * z;
  V s1 = v_poly(v_poly(v_set(0x1.ae5e66a3a1046p-26), z2, 0x1.a01a019c141aep-13), z2, 0x1.5555555555549p-3);
  V s2 = v_poly(v_poly(v_set(-0x1.5d9300e3aad05p-33), z2, -0x1.71de3578ecec1p-19), z2, -0x1.111111110f89cp-7);
  V c1 = v_poly(v_poly(v_set(0x1.1ee9f04498c8cp-29), z2, 0x1.a01a019cbe0a2p-16), z2, 0x1.555555555554cp-5);
  V c2 = v_poly(v_poly(v_set(-0x1.8fb09128496cfp-37), z2, -0x1.27e4f8116c252p-22), z2, -0x1.6c16c16c15217p-10);
  V s = r - v_fma(r * z, v_fma(s2, z, s1), lo);
  V half = z * 0.5, w = 1.0 - half;
  V c = w + (((1.0 - w) - half) + v_fma(z2, v_fma(c2, z, c1), r * lo));
  VI odd = 0 - (q & 1);
  *sine = v_flip(v_blend(odd, c, s), (q & 2) << 62);
  *cosine = v_flip(v_blend(odd, s, c), ((q + 1) & 2) << 62);
}

V_FN void v_sincos(V x, V *sine, V *cosine) { v_trig(x, sine, cosine); }
V_FN V v_sin(V x) {
  V s, c;
  v_trig(x, &s, &c);
  return s;
}
V_FN V v_cos(V x) {
  V s, c;
  v_trig(x, &s, &c);
  return c;
}
V_FN V v_tan(V x) {
  V s, c;
  v_trig(x, &s, &c);
  return s / c;
}

/* ---- exp and its family ----
 * exp(x + lo) 2^shift: x = n ln 2 + r, the polynomial on |r| <= ln(2)/2, and 2^n in two factors, so that overflow and
 * gradual underflow round once. */
V_IN V v_exp_core(V x, V lo, double shift) {
  x = v_blend(m_lt(x, v_set(-760)), v_set(-760), x);
  x = v_blend(m_lt(v_set(760), x), v_set(760), x);
  V n = v_fma(x, v_set(0x1.71547652b82fep+0), v_set(0x1.8p52)) - 0x1.8p52;
  V r1 = v_fma(n, v_set(-0x1.62e42fefa39efp-1), x), rest = v_fma(n, v_set(-0x1.abc9e3b39803fp-56), lo), r = r1 + rest;
  lo = (r1 - r) + rest;
  V z = r * r;
  V p1 = v_poly(v_poly(v_set(0x1.1f80539acd4f8p-29), z, 0x1.27e4d4e9a092fp-22), z, 0x1.a01a01a8df0e6p-16);
  V p2 = v_poly(v_poly(v_set(0x1.af705b6b67b2ap-26), z, 0x1.71dded71845f0p-19), z, 0x1.a01a01b49d916p-13);
  p1 = v_poly(v_poly(v_poly(p1, z, 0x1.6c16c16c15f30p-10), z, 0x1.5555555555556p-5), z, 0.5);
  p2 = v_poly(v_poly(p2, z, 0x1.111111110e967p-7), z, 0x1.555555555555cp-3);
  V y = 1.0 + (r + v_fma(z, v_fma(p2, r, p1), lo));
  V n1 = v_fma(n, v_set(0.5), v_set(0x1.8p52)) - 0x1.8p52, n2 = n - n1 + shift;
  V f1 = v_of(v_bits(n1 + (0x1.8p52 + 1023)) << 52), f2 = v_of(v_bits(n2 + (0x1.8p52 + 1023)) << 52);
  return y * f1 * f2;
}

V_FN V v_exp(V x) { return v_exp_core(x, v_set(0), 0); }
/* e = exp|x|/2: sinh = e - 1/(4e), for |x| < 1 a polynomial; cosh = e + 1/(4e) */
V_IN V v_sinh_core(V a, V e, V rest) {
  V z = a * a;
  V p = v_poly(v_poly(v_set(0x1.b5bb711357f20p-41), z, 0x1.61171cf7e6d34p-33), z, 0x1.ae646f97dc635p-26);
  p = v_poly(v_poly(v_poly(p, z, 0x1.71de3a3b6a4e5p-19), z, 0x1.a01a01a036c6ap-13), z, 0x1.1111111111020p-7);
  p = v_poly(p, z, 0x1.5555555555556p-3);
  return v_blend(m_lt(a, v_set(1)), v_fma(a * z, p, a), e - rest);
}
V_FN V v_sinh(V x) {
  V a = v_abs(x), e = v_exp_core(a, v_set(0), -1);
  return v_flip(v_sinh_core(a, e, 0.25 / e), v_signbit(x));
}
V_FN V v_cosh(V x) {
  V e = v_exp_core(v_abs(x), v_set(0), -1);
  return e + 0.25 / e;
}
V_FN V v_tanh(V x) {
  V a = v_abs(x);
  a = v_blend(m_lt(v_set(20), a), v_set(20), a);
  V e = v_exp_core(a, v_set(0), -1), rest = 0.25 / e;
  return v_flip(v_sinh_core(a, e, rest) / (e + rest), v_signbit(x));
}

/* ---- log and pow ----
 * x = 2^k m, m in [sqrt 1/2, sqrt 2): the mantissa; *k as a number. x > 0, subnormal too. */
V_IN V v_mantissa(V x, V *k) {
  VI tiny = m_lt(x, v_set(0x1p-1022));
  VI i = v_bits(v_blend(tiny, x * 0x1p54, x));
  VI e = i - 0x3fe6a09e667f3bcdULL + 0x3ff0000000000000ULL; /* from sqrt 1/2 on, biased by 1023 */
  *k = v_of(e >> 52 | 0x4330000000000000ULL) - (0x1p52 + 1023) - v_blend(tiny, v_set(54), v_set(0));
  return v_of(i - (e & 0xfff0000000000000ULL) + 0x3ff0000000000000ULL);
}
/* log x where the reduction does not hold: 0, negative, infinite, NaN */
V_IN V v_log_special(V x, V y) {
  y = v_blend(m_lt(x, v_set(V_INF)), y, x);
  y = v_blend(m_lt(v_set(0), x), y, x + v_nan());
  return v_blend(m_eq(x, v_set(0)), v_set(-V_INF), y);
}
/* log(1 + f) = f - (f^2/2 - s (f^2/2 + z g(z))), s = f/(2 + f), z = s^2 */
V_FN V v_log(V x) {
  V k, m = v_mantissa(x, &k), f = m - 1.0, s = f / (2.0 + f), z = s * s, z2 = z * z, half = 0.5 * f * f;
  V g1 = v_poly(v_poly(v_set(0x1.2f118e2c68ca9p-3), z2, 0x1.746649bdd2f28p-3), z2, 0x1.249249422a818p-2);
  V g2 = v_poly(v_poly(v_set(0x1.39a09410c6710p-3), z2, 0x1.c71c51d790181p-3), z2, 0x1.999999997f9f6p-2);
  V g = v_fma(v_poly(g1, z2, 0x1.5555555555593p-1), z, g2 * z2);
  V low = v_fma(s, half + g, k * 0x1.a39ef35793c76p-33);
  return v_log_special(x, k * 0x1.62e42fee00000p-1 - ((half - low) - f));
}

/* log(1 + x): the logarithm of the rounded sum u, and what the rounding left, over u. Where u = 1 that is x. */
V_FN V v_log1p(V x) {
  V u = 1.0 + x, rest = (x - (u - 1.0)) / u;
  rest = v_blend(m_lt(v_set(0), u) & m_lt(u, v_set(V_INF)), rest, v_set(0));
  return v_blend(m_eq(u, v_set(1)), x, v_log(u) + rest);
}

/* log x, x > 0 finite, as a sum of two numbers, to about 2^-65 of its value: 2s + s z (2/3 + z Q(z)), in pairs */
V_IN V v_log_pair(V x, V *low) {
  V k, m = v_mantissa(x, &k), f = m - 1.0, d = m + 1.0, dl = m - (d - 1.0), r = 1.0 / d;
  V s = f * r, sl = (v_fma(-s, d, f) - s * dl) * r;
  V z = s * s, zl = v_fma(s, s, -z) + 2.0 * s * sl, z2 = z * z;
  V q1 = v_poly(v_poly(v_set(0x1.de3c178ac3912p-4), z2, 0x1.3b136499c9b3ep-3), z2, 0x1.c71c71c595949p-3);
  V q2 = v_poly(v_poly(v_set(0x1.ead19d526c9c9p-4), z2, 0x1.11207713acd13p-3), z2, 0x1.745d1829f0207p-3);
  V q = v_fma(v_poly(q2, z2, 0x1.2492492492f56p-2), z, v_poly(q1, z2, 0x1.9999999999996p-2));
  V u = z * q, t = 0x1.5555555555555p-1 + u, tl = (0x1.5555555555555p-1 - t) + u + 0x1.5555555555555p-55;
  V p = z * t, pl = v_fma(z, t, -p) + (z * tl + zl * t);
  V w = 2.0 + p, wl = (2.0 - w) + p + pl;
  V l = s * w, ll = v_fma(s, w, -l) + (s * wl + sl * w);
  V kh = k * 0x1.62e42fee00000p-1, hi = kh + l;
  V lo = (l - (hi - kh)) + (ll + k * 0x1.a39ef35793c76p-33), sum = hi + lo;
  *low = lo - (sum - hi);
  return sum;
}
V_IN VI v_whole(V a) { /* is |a| a whole number */
  V size = v_abs(a);
  return m_le(v_set(0x1p52), size) | m_eq((size + 0x1p52) - 0x1p52, size);
}
V_FN V v_pow(V x, V y) {
  V a = v_abs(x), low, l = v_log_pair(a, &low);
  VI edge = m_eq(a, v_set(0)) | m_eq(a, v_set(V_INF));
  l = v_blend(edge, v_blend(m_eq(a, v_set(0)), v_set(-V_INF), v_set(V_INF)), l);
  V p = y * l, pl = v_fma(y, l, -p) + y * low;
  pl = v_blend(m_lt(v_abs(p), v_set(760)), pl, v_set(0));
  V r = v_exp_core(p, pl, 0);
  VI minus = m_lt(x, v_set(0)), whole = v_whole(y), odd = whole & ~v_whole(0.5 * y) & m_lt(v_abs(y), v_set(0x1p53));
  r = v_flip(r, v_signbit(x) & odd);
  r = v_blend(minus & ~whole & ~edge, v_nan(), r);
  r = v_blend(m_nan(x) | m_nan(y), x + y, r);
  VI one = m_eq(y, v_set(0)) | m_eq(x, v_set(1)) | (m_eq(a, v_set(1)) & m_eq(v_abs(y), v_set(V_INF)));
  return v_blend(one, v_set(1), r);
}

/* ---- inverse trigonometry ---- */
/* t g(t^2) t^2 with atan t = t + t^3 g, |t| <= tan(pi/8) */
V_IN V v_atan_tail(V t, V tl) {
  V z = t * t, z2 = z * z;
  V p1 = v_poly(v_poly(v_set(-0x1.25684b9cbe2f7p-6), z2, -0x1.9cd3268e7e6edp-5), z2, -0x1.10ebbcedddbbdp-4);
  V p2 = v_poly(v_poly(v_set(0x1.37d5b12c62b5ep-5), z2, 0x1.df0f79008cb84p-5), z2, 0x1.3b1119a52b596p-4);
  p1 = v_poly(v_poly(v_poly(p1, z2, -0x1.745cf8e5b2161p-4), z2, -0x1.24924922ae4e7p-3), z2, -0x1.555555555553dp-2);
  p2 = v_poly(v_poly(p2, z2, 0x1.c71c70e66be85p-4), z2, 0x1.9999999995888p-3);
  return v_fma(t * z, v_fma(p2, z, p1), tl);
}
/* The angle atan(a/b) in [0, pi/2] as a sum of two numbers; a, b >= 0, not both 0, not near the limits of the range.
 * With n/d the smaller by the larger: above tan(pi/8), atan(n/d) = pi/4 + atan((n - d)/(n + d)). */
V_IN V v_angle(V a, V b, V *low) {
  VI steep = m_lt(b, a);
  V n = v_blend(steep, b, a), d = v_blend(steep, a, b);
  VI mid = m_lt(0x1.a827999fcef32p-2 * d, n);
  V diff = n - d, sum = n + d, nl = v_blend(mid, n - (diff + d), v_set(0)), dl = v_blend(mid, n - (sum - d), v_set(0));
  n = v_blend(mid, diff, n);
  d = v_blend(mid, sum, d);
  V r = 1.0 / d, t = n * r, tl = (v_fma(-t, d, n) + (nl - t * dl)) * r;
  V base = v_of(v_bits(v_set(V_PIO2_1 / 2)) & mid), s = base + t;
  V lo = ((base - s) + t) + (v_atan_tail(t, tl) + v_of(v_bits(v_set(V_PIO2_2 / 2)) & mid));
  V turned = V_PIO2_1 - s, turned_lo = ((V_PIO2_1 - turned) - s) + (V_PIO2_2 - lo);
  *low = v_blend(steep, turned_lo, lo);
  return v_blend(steep, turned, s);
}
V_FN V v_atan(V x) {
  V a = v_abs(x), low;
  a = v_blend(m_lt(v_set(0x1p200), a), v_set(0x1p200), a);
  V r = v_angle(a, v_set(1), &low);
  return v_flip(r + low, v_signbit(x));
}
V_FN V v_atan2(V y, V x) {
  V a = v_abs(y), b = v_abs(x), one = v_set(1), zero = v_set(0), low;
  VI inf_a = m_eq(a, v_set(V_INF)), inf_b = m_eq(b, v_set(V_INF));
  a = v_blend(inf_a, one, v_blend(inf_b, zero, a));
  b = v_blend(inf_b, one, v_blend(inf_a, zero, b));
  V top = v_blend(m_lt(a, b), b, a);
  V scale = v_blend(m_lt(top, v_set(0x1p-500)), v_set(0x1p550), one);
  scale = v_blend(m_lt(v_set(0x1p500), top), v_set(0x1p-300), scale);
  b = v_blend(m_eq(top, zero), one, b * scale);
  V r = v_angle(a * scale, b, &low);
  V back = 2 * V_PIO2_1 - r, back_lo = ((2 * V_PIO2_1 - back) - r) + (2 * V_PIO2_2 - low);
  VI left = 0 - (v_bits(x) >> 63);
  r = v_blend(left, back + back_lo, r + low);
  return v_blend(m_nan(x) | m_nan(y), x + y, v_flip(r, v_signbit(y)));
}
/* asin s = s + s z g(z), z = s^2 <= 1/4; beyond 1/2 with s = sqrt((1 - |x|)/2): asin|x| = pi/2 - 2 asin s */
V_IN V v_asin_tail(V s, V z) {
  V z2 = z * z;
  V p1 = v_poly(v_poly(v_set(0x1.0bd9c876bea3dp-5), z2, 0x1.64ebe8b0e1624p-6), z2, 0x1.6186625f9326fp-7);
  V p2 = v_poly(v_poly(v_set(-0x1.59d5de1ccde75p-6), z2, 0x1.e1a085e350585p-9), z2, 0x1.757847bb0ebd4p-7);
  p1 = v_poly(v_poly(p1, z2, 0x1.ca212f1391a52p-7), z2, 0x1.6e8bdfdc40c35p-6);
  p2 = v_poly(v_poly(p2, z2, 0x1.1c49ded11dc21p-6), z2, 0x1.f1c71a8bed70ep-6);
  p1 = v_poly(v_poly(p1, z2, 0x1.6db6db722ab9cp-5), z2, 0x1.5555555555578p-3);
  p2 = v_poly(p2, z2, 0x1.333333332df1fp-4);
  return s * z * v_fma(p2, z, p1);
}
V_FN V v_asin(V x) {
  V a = v_abs(x);
  VI big = m_lt(v_set(0.5), a);
  V z = v_blend(big, 0.5 - 0.5 * a, a * a), s = v_blend(big, v_sqrt(z), a), t = v_asin_tail(s, z);
  V turned = V_PIO2_1 - 2.0 * s, turned_lo = ((V_PIO2_1 - turned) - 2.0 * s) + (V_PIO2_2 - 2.0 * t);
  return v_flip(v_blend(big, turned + turned_lo, s + t), v_signbit(x));
}
V_FN V v_acos(V x) {
  V a = v_abs(x);
  VI big = m_lt(v_set(0.5), a), left = 0 - (v_bits(x) >> 63);
  V z = v_blend(big, 0.5 - 0.5 * a, a * a), s = v_blend(big, v_sqrt(z), a), t = v_asin_tail(s, z);
  V base = v_blend(big, v_set(2 * V_PIO2_1), v_set(V_PIO2_1));
  V base_lo = v_blend(big, v_set(2 * V_PIO2_2), v_set(V_PIO2_2));
  V u = v_blend(big, 2.0 * s, v_flip(s, v_signbit(x))), ul = v_blend(big, 2.0 * t, v_flip(t, v_signbit(x)));
  V turned = base - u, turned_lo = ((base - turned) - u) + (base_lo - ul);
  return v_blend(big & ~left, u + ul, turned + turned_lo);
}

V_FN V v_hypot(V x, V y) {
  V a = v_abs(x), b = v_abs(y), top = v_blend(m_lt(a, b), b, a), one = v_set(1);
  VI high = m_lt(v_set(0x1p500), top), deep = m_lt(top, v_set(0x1p-450));
  V scale = v_blend(high, v_set(0x1p-600), v_blend(deep, v_set(0x1p600), one));
  V back = v_blend(high, v_set(0x1p600), v_blend(deep, v_set(0x1p-600), one));
  V p = a * scale, q = b * scale, r = v_sqrt(v_fma(p, p, q * q)) * back;
  return v_blend(m_eq(a, v_set(V_INF)) | m_eq(b, v_set(V_INF)), v_set(V_INF), r);
}
#endif
