/* SPDX-License-Identifier: MIT
 * Enclosures: the operations of op.def on ranges, over a value type V, in the words of vmath.h. An E holds bounds of a
 * value and of its rate of change while a parameter s runs over a piece of its axis (forward differentiation). Read by
 * the interpreter of enclose.c (V = double) and embedded into kernels (a piece per lane). Branch-free, includes
 * nothing; vmath.h stands before it.
 *
 * Guarantee: if the arguments enclose numbers and rates at every s of the piece, so does the result, wherever
 * the operation is defined. Bounds are rounded outward by widening them by 2^-49 of their size, which is more than the
 * largest error of vmath.h (2.5 units of the last place) and the roundings of the bound itself. A bound that would be
 * NaN is infinite. Where an argument may leave the domain by more than rounding both bounds are infinite, and stay so
 * through bounded functions: the value may be NaN, and a comparison must not rely on them. A value that may jump inside
 * the piece has an unbounded rate. One function e_NAME per row. */

#ifdef AG_ENCLOSE_CALL /* called, not inlined: the same bits, smaller code */
#define E_FN static __attribute__((noinline, unused))
#else
#define E_FN V_IN
#endif

typedef struct E {
  V lo, hi;   /* value */
  V dlo, dhi; /* rate */
} E;

/* A range without its rate. */
typedef struct e_range {
  V lo, hi;
} e_range;

/* ---- ranges ---- */

/* The lesser and the larger of two numbers; of a NaN and a number, whichever is quicker. A product of 0 and infinity is
 * a bound that other corners attain as well, or all corners are NaN. */
V_IN V e_least(V a, V b) { return v_blend(m_lt(a, b), a, b); }
V_IN V e_most(V a, V b) { return v_blend(m_lt(b, a), a, b); }

V_IN e_range e_out(V lo, V hi) {
  lo = v_min(lo, v_set(0x1.fffffffffffffp1023)); /* what has overflowed is at least this large */
  hi = v_max(hi, v_set(-0x1.fffffffffffffp1023));
  lo = (lo - v_abs(lo) * 0x1p-49) - 0x1p-1000;
  hi = (hi + v_abs(hi) * 0x1p-49) + 0x1p-1000;
  return (e_range){v_blend(m_nan(lo), v_set(-V_INF), lo), v_blend(m_nan(hi), v_set(V_INF), hi)};
}
V_IN e_range e_whole(void) { return (e_range){v_set(-V_INF), v_set(V_INF)}; }
V_IN e_range e_hull(e_range a, e_range b) { return (e_range){v_min(a.lo, b.lo), v_max(a.hi, b.hi)}; }
V_IN e_range e_choose(VI yes, e_range a, e_range b) {
  return (e_range){v_blend(yes, a.lo, b.lo), v_blend(yes, a.hi, b.hi)};
}
V_IN e_range e_plus(e_range a, e_range b) { return e_out(a.lo + b.lo, a.hi + b.hi); }
V_IN e_range e_minus(e_range a, e_range b) { return e_out(a.lo - b.hi, a.hi - b.lo); }
V_IN e_range e_times(e_range a, e_range b) {
  V p = a.lo * b.lo, q = a.lo * b.hi, r = a.hi * b.lo, s = a.hi * b.hi;
  return e_out(e_least(e_least(p, q), e_least(r, s)), e_most(e_most(p, q), e_most(r, s)));
}
V_IN VI e_has(e_range a, V x) { return m_le(a.lo, x) & m_le(x, a.hi); }
V_IN e_range e_inverse(e_range a) { return e_choose(e_has(a, v_set(0)), e_whole(), e_out(1.0 / a.hi, 1.0 / a.lo)); }
/* 1/a for a number that is positive wherever it matters: 1/0 is infinite. */
V_IN e_range e_inverse_positive(e_range a) {
  e_range r = e_out(1.0 / a.hi, 1.0 / a.lo);
  return (e_range){v_max(r.lo, v_set(0)), v_blend(m_lt(v_set(0), a.lo), r.hi, v_set(V_INF))};
}
V_IN e_range e_squared(e_range a) {
  V p = a.lo * a.lo, q = a.hi * a.hi;
  e_range out = e_out(v_min(p, q), v_max(p, q));
  out.lo = v_blend(e_has(a, v_set(0)), v_set(0), v_max(out.lo, v_set(0)));
  return out;
}
/* A range known to lie in [lo, hi] whatever the rounding of its bounds. */
V_IN e_range e_within(e_range a, double lo, double hi) {
  return (e_range){v_max(a.lo, v_set(lo)), v_min(a.hi, v_set(hi))};
}

/* The same, unbounded where a leaves [lo, hi] by more than rounding. */
V_IN e_range e_domain(e_range a, e_range result, double lo, double hi) {
  V slack = 0x1p-40 * v_min(v_max(v_abs(a.lo), v_abs(a.hi)), v_set(0x1p1000));
  return e_choose(m_lt(a.lo, lo - slack) | m_lt(hi + slack, a.hi), e_whole(), result);
}

V_IN e_range e_value(E a) { return (e_range){a.lo, a.hi}; }
V_IN e_range e_rate(E a) { return (e_range){a.dlo, a.dhi}; }
V_IN E e_of(e_range value, e_range rate) { return (E){value.lo, value.hi, rate.lo, rate.hi}; }
V_IN e_range e_point(double x) { return (e_range){v_set(x), v_set(x)}; }
V_IN E e_number(V x) {
  VI nan = m_nan(x);
  return (E){v_blend(nan, v_set(-V_INF), x), v_blend(nan, v_set(V_INF), x), v_set(0), v_set(0)};
}
/* x, or unbounded where its argument a may be NaN. */
V_IN VI e_lost(E a) { return m_eq(a.lo, v_set(-V_INF)) & m_eq(a.hi, v_set(V_INF)); }
V_IN E e_unless(VI lost, E x) {
  return e_of(e_choose(lost, e_whole(), e_value(x)), e_choose(lost, e_whole(), e_rate(x)));
}
/* f(a) for a function with the slope f'(a). A number that does not change has no rate, whatever the slope. */
V_IN E e_chain(e_range value, e_range slope, E a) {
  VI still = m_eq(a.dlo, v_set(0)) & m_eq(a.dhi, v_set(0));
  return e_unless(e_lost(a), e_of(value, e_choose(still, e_point(0), e_times(slope, e_rate(a)))));
}
/* A value that is one of two numbers or between them, and jumps if it is not known which. */
V_IN E e_either(VI known, V x, double lo, double hi) {
  return e_of(e_choose(known, (e_range){x, x}, (e_range){v_set(lo), v_set(hi)}),
              e_choose(known, e_point(0), e_whole()));
}

/* ---- arithmetic ---- */

E_FN E e_NEG(E a) { return (E){-a.hi, -a.lo, -a.dhi, -a.dlo}; }
#if AG_LANES == 1
/* The same bits for one lane, four bounds at a time. An upper bound is a lower one of the number with the other sign:
 * all are lower bounds inside. */
#pragma GCC diagnostic ignored "-Wpsabi" /* as in vmath.h */
typedef double e_four __attribute__((vector_size(32)));
typedef long long e_four_bits __attribute__((vector_size(32)));
#define E_PICK __builtin_shufflevector

V_IN e_four e_four_of(E a) {
  e_four x;
  __builtin_memcpy(&x, &a, sizeof x);
  return x;
}
V_IN E e_four_e(e_four x) {
  E a;
  __builtin_memcpy(&a, &x, sizeof a);
  return a;
}
V_IN e_four e_four_choose(e_four_bits yes, e_four a, e_four b) {
  return (e_four)((yes & (e_four_bits)a) | (~yes & (e_four_bits)b));
}
V_IN e_four_bits e_four_equal(e_four a, e_four b) { return a == b; }
V_IN e_four e_four_least(e_four a, e_four b) { return e_four_choose(a < b, a, b); }
V_IN e_four e_four_neg(e_four x) { return (e_four)((e_four_bits)x ^ (e_four_bits)((e_four){-0.0, -0.0, -0.0, -0.0})); }
/* Changes the sign of the upper bounds. */
V_IN e_four e_four_turn(e_four x) { return (e_four)((e_four_bits)x ^ (e_four_bits)((e_four){0.0, -0.0, 0.0, -0.0})); }
/* e_out */
V_IN e_four e_four_out(e_four x) {
  const e_four largest = (e_four){0} + 0x1.fffffffffffffp1023, sign = {-0.0, -0.0, -0.0, -0.0};
  x = e_four_choose(largest < x, largest, x);
  x = (x - (e_four)((e_four_bits)x & ~(e_four_bits)sign) * 0x1p-49) - 0x1p-1000;
  return e_four_choose(e_four_equal(x, x), x, (e_four){0} - V_INF);
}
V_IN e_four e_four_sum(e_four a, e_four b) { return e_four_turn(e_four_out(e_four_turn(a + b))); }
/* b with the bounds of each range exchanged, and their signs: what is added for a difference. */
V_IN e_four e_four_minus(e_four b) { return e_four_neg(E_PICK(b, b, 1, 0, 3, 2)); }
/* With p, q, r, s the products of two ends: of values, x; of a rate and a value, y; of a value and a rate, z. */
V_IN e_four e_four_product(e_four a, e_four b) {
  const e_four ends = E_PICK(a, a, 0, 0, 1, 1), other = E_PICK(b, b, 0, 1, 0, 1);
  const e_four x = ends * other, y = E_PICK(a, a, 2, 2, 3, 3) * other, z = ends * E_PICK(b, b, 2, 3, 2, 3);
  const e_four first = E_PICK(x, y, 0, 4, 2, 6), second = E_PICK(x, y, 1, 5, 3, 7), turned = e_four_neg(z);
  const e_four low = e_four_least(first, second), high = e_four_least(e_four_neg(first), e_four_neg(second));
  const e_four rest = e_four_least(E_PICK(z, turned, 0, 4, 2, 6), E_PICK(z, turned, 1, 5, 3, 7));
  const e_four known = e_four_out(e_four_least(E_PICK(low, high, 0, 4, 1, 5), E_PICK(low, high, 2, 6, 3, 7)));
  const e_four last = e_four_out(e_four_least(rest, E_PICK(rest, rest, 2, 3, 0, 1))); /* twice the same two */
  const e_four rate = e_four_out(E_PICK(known, known, 2, 3, 2, 3) + last);
  return e_four_turn(E_PICK(known, rate, 0, 1, 4, 5));
}
#undef E_PICK
/* Called functions take their arguments in registers. */
E_FN e_four e_call_add(e_four a, e_four b) { return e_four_sum(a, b); }
E_FN e_four e_call_mul(e_four a, e_four b) { return e_four_product(a, b); }
E_FN e_four e_call_fma(e_four a, e_four b, e_four c) { return e_four_sum(e_four_product(a, b), c); }
E_FN e_four e_call_fnma(e_four a, e_four b, e_four c) { return e_four_sum(c, e_four_minus(e_four_product(a, b))); }
V_IN E e_ADD(E a, E b) { return e_four_e(e_call_add(e_four_of(a), e_four_of(b))); }
V_IN E e_SUB(E a, E b) { return e_four_e(e_call_add(e_four_of(a), e_four_minus(e_four_of(b)))); }
V_IN E e_MUL(E a, E b) { return e_four_e(e_call_mul(e_four_of(a), e_four_of(b))); }
V_IN E e_FMA(E a, E b, E c) { return e_four_e(e_call_fma(e_four_of(a), e_four_of(b), e_four_of(c))); }
V_IN E e_FMS(E a, E b, E c) { return e_four_e(e_call_fma(e_four_of(a), e_four_of(b), e_four_minus(e_four_of(c)))); }
V_IN E e_FNMA(E a, E b, E c) { return e_four_e(e_call_fnma(e_four_of(a), e_four_of(b), e_four_of(c))); }
#else
E_FN E e_ADD(E a, E b) { return e_of(e_plus(e_value(a), e_value(b)), e_plus(e_rate(a), e_rate(b))); }
E_FN E e_SUB(E a, E b) { return e_of(e_minus(e_value(a), e_value(b)), e_minus(e_rate(a), e_rate(b))); }
E_FN E e_MUL(E a, E b) {
  return e_of(e_times(e_value(a), e_value(b)), e_plus(e_times(e_rate(a), e_value(b)), e_times(e_value(a), e_rate(b))));
}
E_FN E e_FMA(E a, E b, E c) { return e_ADD(e_MUL(a, b), c); }
E_FN E e_FMS(E a, E b, E c) { return e_SUB(e_MUL(a, b), c); }
E_FN E e_FNMA(E a, E b, E c) { return e_SUB(c, e_MUL(a, b)); }
#endif
/* a * a, which is not negative: readers use it where both arguments of MUL are the same. */
E_FN E e_square(E a) { return e_chain(e_squared(e_value(a)), e_times(e_point(2), e_value(a)), a); }
/* (a/b)' = (a' - (a/b) b') / b */
E_FN E e_DIV(E a, E b) {
  e_range inverse = e_inverse(e_value(b)), value = e_times(e_value(a), inverse);
  return e_of(value, e_times(e_minus(e_rate(a), e_times(value, e_rate(b))), inverse));
}
E_FN E e_COPY(E a) { return a; }
E_FN E e_HOLD(E a) { return a; }
E_FN E e_CHECKPOS(E a) { return a; }
E_FN E e_CHECKNZ(E a) { return a; }
/* Below 0 there is no root; a bound that rounding has taken there is 0. */
E_FN E e_SQRT(E a) {
  e_range r = e_out(v_sqrt(v_max(a.lo, v_set(0))), v_sqrt(a.hi));
  r.lo = v_max(r.lo, v_set(0));
  return e_chain(e_domain(e_value(a), r, 0, V_INF), e_inverse_positive(e_times(e_point(2), r)), a);
}

/* ---- monotone functions ---- */

E_FN E e_EXP(E a) {
  e_range r = e_out(v_exp(a.lo), v_exp(a.hi));
  r.lo = v_max(r.lo, v_set(0));
  return e_chain(r, r, a);
}
E_FN E e_LOG(E a) {
  e_range r = e_out(v_log(v_max(a.lo, v_set(0))), v_log(a.hi));
  return e_chain(e_domain(e_value(a), r, 0, V_INF), e_inverse_positive(e_value(a)), a);
}
E_FN E e_LOG1P(E a) {
  e_range r = e_out(v_log1p(v_max(a.lo, v_set(-1))), v_log1p(a.hi));
  return e_chain(e_domain(e_value(a), r, -1, V_INF), e_inverse_positive(e_plus(e_point(1), e_value(a))), a);
}
E_FN E e_ATAN(E a) {
  e_range r = e_out(v_atan(a.lo), v_atan(a.hi));
  return e_chain(r, e_inverse(e_plus(e_point(1), e_squared(e_value(a)))), a);
}
E_FN E e_TANH(E a) {
  e_range r = e_within(e_out(v_tanh(a.lo), v_tanh(a.hi)), -1, 1);
  return e_chain(r, e_within(e_minus(e_point(1), e_squared(r)), 0, 1), a);
}
V_IN e_range e_cosh_range(V lo, V hi) {
  V p = v_cosh(lo), q = v_cosh(hi);
  e_range r = e_out(v_min(p, q), v_max(p, q));
  r.lo = v_blend(m_le(lo, v_set(0)) & m_le(v_set(0), hi), v_set(1), v_max(r.lo, v_set(1)));
  return r;
}
E_FN E e_SINH(E a) { return e_chain(e_out(v_sinh(a.lo), v_sinh(a.hi)), e_cosh_range(a.lo, a.hi), a); }
E_FN E e_COSH(E a) { return e_chain(e_cosh_range(a.lo, a.hi), e_out(v_sinh(a.lo), v_sinh(a.hi)), a); }
/* 1/sqrt(1 - a^2), unbounded at the ends */
V_IN e_range e_arc_slope(e_range a) {
  e_range r = e_within(e_minus(e_point(1), e_squared(a)), 0, 1);
  return e_inverse_positive(e_within(e_out(v_sqrt(r.lo), v_sqrt(r.hi)), 0, 1));
}
E_FN E e_ASIN(E a) {
  e_range x = e_within(e_value(a), -1, 1);
  return e_chain(e_domain(e_value(a), e_out(v_asin(x.lo), v_asin(x.hi)), -1, 1), e_arc_slope(x), a);
}
E_FN E e_ACOS(E a) {
  e_range x = e_within(e_value(a), -1, 1), slope = e_arc_slope(x);
  e_range r = e_domain(e_value(a), e_out(v_acos(x.hi), v_acos(x.lo)), -1, 1);
  return e_chain(r, (e_range){-slope.hi, -slope.lo}, a);
}

/* ---- trigonometric functions ---- */

/* The whole number at or below x, for |x| < 2^51. */
V_IN V e_floor(V x) {
  V r = (x + 0x1.8p52) - 0x1.8p52;
  return r - v_num(m_lt(x, r));
}
/* May [lo, hi] hold a point offset + k period? Widened, so that rounding cannot hide one. */
V_IN VI e_meets(V lo, V hi, double offset, double period) {
  lo = v_fma(v_abs(lo), v_set(-0x1p-40), lo) - 0x1p-40;
  hi = v_fma(v_abs(hi), v_set(0x1p-40), hi) + 0x1p-40;
  V a = e_floor((lo - offset) * (1 / period)), b = e_floor((hi - offset) * (1 / period));
  return m_lt(a, b) | ~m_lt(v_max(v_abs(lo), v_abs(hi)), v_set(0x1p30));
}
/* sin and cos over [lo, hi]. */
V_IN void e_trig(E a, e_range *sine, e_range *cosine) {
  const double pi = 3.14159265358979323846;
  V s0, c0, s1, c1;
  v_sincos(a.lo, &s0, &c0);
  v_sincos(a.hi, &s1, &c1);
  e_range s = e_out(v_min(s0, s1), v_max(s0, s1)), c = e_out(v_min(c0, c1), v_max(c0, c1));
  s.hi = v_blend(e_meets(a.lo, a.hi, pi / 2, 2 * pi), v_set(1), s.hi);
  s.lo = v_blend(e_meets(a.lo, a.hi, -pi / 2, 2 * pi), v_set(-1), s.lo);
  c.hi = v_blend(e_meets(a.lo, a.hi, 0, 2 * pi), v_set(1), c.hi);
  c.lo = v_blend(e_meets(a.lo, a.hi, pi, 2 * pi), v_set(-1), c.lo);
  *sine = e_within(s, -1, 1);
  *cosine = e_within(c, -1, 1);
}
E_FN E e_SIN(E a) {
  e_range s, c;
  e_trig(a, &s, &c);
  return e_chain(s, c, a);
}
E_FN E e_COS(E a) {
  e_range s, c;
  e_trig(a, &s, &c);
  return e_chain(c, (e_range){-s.hi, -s.lo}, a);
}
E_FN E e_TAN(E a) {
  const double pi = 3.14159265358979323846;
  VI pole = e_meets(a.lo, a.hi, pi / 2, pi);
  e_range r = e_choose(pole, e_whole(), e_out(v_tan(a.lo), v_tan(a.hi)));
  return e_chain(r, e_choose(pole, e_whole(), e_plus(e_point(1), e_squared(r))), a);
}

/* ---- functions of two numbers ---- */

E_FN E e_HYPOT(E a, E b) {
  E sum = e_ADD(e_square(a), e_square(b));
  VI lost = e_lost(sum);
  sum.lo = v_max(sum.lo, v_set(0));
  return e_unless(lost, e_SQRT(sum));
}
/* The angle of a box that holds neither the origin nor a point of the cut y = 0, x < 0: attained at its corners.
 * angle' = (x y' - y x') / (x^2 + y^2) */
E_FN E e_ATAN2(E y, E x) {
  VI cut = e_has(e_value(y), v_set(0)) & m_le(x.lo, v_set(0));
  V p = v_atan2(y.lo, x.lo), q = v_atan2(y.lo, x.hi), r = v_atan2(y.hi, x.lo), s = v_atan2(y.hi, x.hi);
  e_range corners = e_out(v_min(v_min(p, q), v_min(r, s)), v_max(v_max(p, q), v_max(r, s)));
  e_range value = e_choose(cut, e_out(v_set(-3.14159265358979323846), v_set(3.14159265358979323846)), corners);
  e_range turn = e_minus(e_times(e_value(x), e_rate(y)), e_times(e_value(y), e_rate(x)));
  e_range size = e_plus(e_squared(e_value(x)), e_squared(e_value(y)));
  E angle = e_of(value, e_choose(cut, e_whole(), e_times(turn, e_inverse(size))));
  return e_unless(e_lost(x) | e_lost(y), angle);
}
/* a^b = exp(b log a), attained at the corners of a box with a >= 0. Powers of a < 0 (whole exponents; the graph makes
 * products of those it knows) are not enclosed. (a^b)' = b a^(b-1) a' for a number b, else a^b (b a'/a + log(a) b'). */
E_FN E e_POW(E a, E b) {
  V lo = v_max(a.lo, v_set(0));
  V p = v_pow(lo, b.lo), q = v_pow(lo, b.hi), r = v_pow(a.hi, b.lo), s = v_pow(a.hi, b.hi);
  e_range value = e_out(v_min(v_min(p, q), v_min(r, s)), v_max(v_max(p, q), v_max(r, s)));
  value.lo = v_max(value.lo, v_set(0));
  VI number = m_eq(b.lo, b.hi) & m_eq(b.dlo, v_set(0)) & m_eq(b.dhi, v_set(0));
  V s0 = b.lo * v_pow(lo, b.lo - 1.0), s1 = b.lo * v_pow(a.hi, b.lo - 1.0);
  e_range power = e_times(e_out(v_min(s0, s1), v_max(s0, s1)), e_rate(a));
  e_range growth = e_times(e_value(b), e_times(e_rate(a), e_inverse_positive((e_range){lo, a.hi})));
  e_range general = e_times(value, e_plus(growth, e_times(e_out(v_log(lo), v_log(a.hi)), e_rate(b))));
  VI outside = m_lt(a.lo, v_set(0)) | e_lost(b);
  return e_of(e_choose(outside, e_whole(), value), e_choose(outside, e_whole(), e_choose(number, power, general)));
}

/* ---- corners, jumps and choices ---- */

E_FN E e_ABS(E a) {
  VI positive = m_le(v_set(0), a.lo), negative = m_le(a.hi, v_set(0));
  E minus = e_NEG(a);
  e_range value =
      e_choose(positive, e_value(a), e_choose(negative, e_value(minus), (e_range){v_set(0), v_max(-a.lo, a.hi)}));
  e_range rate = e_choose(positive, e_rate(a), e_choose(negative, e_rate(minus), e_hull(e_rate(a), e_rate(minus))));
  return e_unless(e_lost(a), e_of(value, rate));
}
E_FN E e_SIGN(E a) {
  VI up = m_lt(v_set(0), a.lo), down = m_lt(a.hi, v_set(0)), zero = m_eq(a.lo, v_set(0)) & m_eq(a.hi, v_set(0));
  E sign = e_either(up | down | zero, v_blend(up, v_set(1), v_blend(down, v_set(-1), v_set(0))), -1, 1);
  return e_unless(e_lost(a), sign);
}
E_FN E e_MIN(E a, E b) {
  VI first = m_le(a.hi, b.lo), second = m_le(b.hi, a.lo);
  e_range value = (e_range){v_min(a.lo, b.lo), v_min(a.hi, b.hi)};
  e_range rate = e_choose(first, e_rate(a), e_choose(second, e_rate(b), e_hull(e_rate(a), e_rate(b))));
  return e_unless(e_lost(a) | e_lost(b), e_of(value, rate));
}
E_FN E e_MAX(E a, E b) { return e_NEG(e_MIN(e_NEG(a), e_NEG(b))); }
E_FN E e_LT(E a, E b) {
  VI yes = m_lt(a.hi, b.lo), no = m_le(b.hi, a.lo);
  return e_either(yes | no, v_num(yes), 0, 1);
}
E_FN E e_LE(E a, E b) {
  VI yes = m_le(a.hi, b.lo), no = m_lt(b.hi, a.lo);
  return e_either(yes | no, v_num(yes), 0, 1);
}
E_FN E e_EQ(E a, E b) {
  VI yes = m_eq(a.lo, a.hi) & m_eq(b.lo, b.hi) & m_eq(a.lo, b.lo), no = m_lt(a.hi, b.lo) | m_lt(b.hi, a.lo);
  return e_either(yes | no, v_num(yes), 0, 1);
}
/* Conditions: 0 is false, everything else is true. */
V_IN VI e_true(E a) { return m_lt(v_set(0), a.lo) | m_lt(a.hi, v_set(0)); }
V_IN VI e_false(E a) { return m_eq(a.lo, v_set(0)) & m_eq(a.hi, v_set(0)); }
E_FN E e_NOT(E a) { return e_either(e_true(a) | e_false(a), v_num(e_false(a)), 0, 1); }
E_FN E e_NE(E a, E b) { return e_NOT(e_EQ(a, b)); }
E_FN E e_AND(E a, E b) {
  VI yes = e_true(a) & e_true(b), no = e_false(a) | e_false(b);
  return e_either(yes | no, v_num(yes), 0, 1);
}
E_FN E e_OR(E a, E b) {
  VI yes = e_true(a) | e_true(b), no = e_false(a) & e_false(b);
  return e_either(yes | no, v_num(yes), 0, 1);
}
E_FN E e_SELECT(E condition, E a, E b) {
  VI yes = e_true(condition), no = e_false(condition);
  e_range value = e_choose(yes, e_value(a), e_choose(no, e_value(b), e_hull(e_value(a), e_value(b))));
  return e_of(value, e_choose(yes, e_rate(a), e_choose(no, e_rate(b), e_whole())));
}
