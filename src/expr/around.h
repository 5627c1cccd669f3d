/* SPDX-License-Identifier: MIT
 * Numbers known within a distance, over a value type V: quicker than the enclosures of enclose.h, which stands before
 * it, and never sharper. Read by compiled code that asks first whether a function stays away from zero at all
 * (run/watch_core.h). Branch-free, includes nothing.
 *
 * Guarantee: if every argument of an operation contains a range of enclose.h, the result contains the range which that
 * operation of enclose.h would give, widened as it is there: 2^-47 of the size covers two of its widenings. What is
 * beyond bounds has an infinite or NaN distance: a_beside() is then false, whatever is made of it. Operations that are
 * not here go through enclosures (a_e, a_of). */
typedef struct A {
  V at, off; /* the number is at most off away from at */
} A;

/* The distance, widened by rounding of numbers of this size. */
V_IN V a_wide(V off, V size) { return v_fma(v_set(0x1p-47), size, v_fma(off, v_set(0x1p-46), off)) + 0x1p-990; }

V_IN A a_number(V x) { return (A){x, v_set(0)}; }
V_IN A a_HOLD(A a) { return a; }
V_IN A a_CHECKPOS(A a) { return a; }
V_IN A a_CHECKNZ(A a) { return a; }
V_IN A a_NEG(A a) { return (A){-a.at, a.off}; }
V_IN A a_ADD(A a, A b) {
  const V at = a.at + b.at;
  return (A){at, a_wide(a.off + b.off, v_abs(at))};
}
V_IN A a_SUB(A a, A b) { return a_ADD(a, a_NEG(b)); }
/* |x y - X Y| <= |X| dy + dx (|Y| + dy) */
V_IN A a_FMA(A a, A b, A c) {
  const V size = v_abs(b.at) + b.off, whole = v_abs(a.at) * size;
  return (A){v_fma(a.at, b.at, c.at),
             a_wide(v_fma(a.off, size, v_fma(v_abs(a.at), b.off, c.off)), whole + v_abs(c.at))};
}
V_IN A a_FMS(A a, A b, A c) { return a_FMA(a, b, a_NEG(c)); }
V_IN A a_FNMA(A a, A b, A c) { return a_FMA(a_NEG(a), b, c); }
V_IN A a_MUL(A a, A b) {
  const V size = v_abs(b.at) + b.off, other = v_abs(a.at);
  return (A){a.at * b.at, a_wide(v_fma(a.off, size, other * b.off), other * size)};
}
V_IN A a_square(A a) {
  const V size = v_abs(a.at), at = a.at * a.at;
  return (A){at, a_wide((size + size + a.off) * a.off, at)};
}
/* |x/y - X/Y| <= (dx + |X/Y| dy) / (|Y| - dy), where y cannot vanish */
V_IN A a_DIV(A a, A b) {
  const V at = a.at / b.at, least = v_abs(b.at) * (1 - 0x1p-40) - b.off;
  const V off = v_fma(v_abs(at), b.off, a.off) / least;
  return (A){at, v_blend(m_lt(v_set(0), least), a_wide(off, v_abs(at)), v_set(V_INF))};
}
/* |sqrt(x) - sqrt(X)| <= dx / sqrt(X), where x cannot vanish */
V_IN A a_SQRT(A a) {
  const V at = v_sqrt(a.at);
  return (A){at, v_blend(m_lt(a.off, a.at), a_wide(a.off / at, at), v_set(V_INF))};
}
V_IN A a_ABS(A a) { return (A){v_abs(a.at), a.off}; }
/* |sin x - sin X| <= dx; where enclose.h looks for extrema it widens by 2^-40. */
V_IN A a_wave(V at, A a) {
  const V size = v_abs(a.at) + a.off;
  const V off = v_fma(v_set(0x1p-38), size, a.off) + 0x1p-38;
  return (A){at, v_blend(m_lt(size, v_set(0x1p29)), off, v_set(V_INF))};
}
V_IN A a_SIN(A a) { return a_wave(v_sin(a.at), a); }
V_IN A a_COS(A a) { return a_wave(v_cos(a.at), a); }

/* As enclosures, without rates; and back. */
V_IN E a_e(A a) {
  const e_range r = e_out(a.at - a.off, a.at + a.off);
  return e_of(r, e_point(0));
}
V_IN A a_of(E a) {
  const V at = 0.5 * a.lo + 0.5 * a.hi;
  return (A){at, a_wide(0.5 * a.hi - 0.5 * a.lo, v_abs(at))};
}

/* Is it on the side of zero that `side` is on? */
V_IN VI a_beside(A a, V side) { return m_lt(v_set(0), a.at * side) & m_lt(a.off, v_abs(a.at)); }
