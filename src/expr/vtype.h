/* SPDX-License-Identifier: MIT
 * The value type V of generated code and of the interpreter, and what the machine does with it: fused multiply-add,
 * square root, whether any lane is set. AG_LANES = 1: V is double. AG_LANES = 2, 4, 8, 16: V is a GNU vector of
 * doubles. The functions made of these stand in vmath.h. */
#ifndef AG_EXPR_VTYPE_H
#define AG_EXPR_VTYPE_H
#ifndef AG_LANES
#define AG_LANES 1
#endif
#if defined __aarch64__ && AG_LANES == 2
#include <arm_neon.h>
#endif
#if AG_LANES > 1
#pragma GCC diagnostic ignored "-Wpsabi" /* vectors by value stay inside one translation unit */
#endif

typedef unsigned long long v_word;
#if AG_LANES == 1
typedef double V;
typedef v_word VI; /* bits or mask of each lane */
#else
#if AG_LANES <= 8
#define V_ALIGNED (8 * AG_LANES)
#else
#define V_ALIGNED 64 /* as all arrays are */
#endif
typedef double V __attribute__((vector_size(8 * AG_LANES), aligned(V_ALIGNED)));
typedef v_word VI __attribute__((vector_size(8 * AG_LANES), aligned(V_ALIGNED)));
#endif

#define V_IN static inline __attribute__((always_inline, unused))
#ifdef AG_VMATH_CALL
#define V_FN static __attribute__((noinline, unused))
#else
#define V_FN V_IN
#endif
#define V_INF __builtin_inf()

/* ---- the machine: fused multiply-add, square root, is any lane set ---- */
#if AG_LANES == 1
V_IN V v_fma(V a, V b, V c) { return __builtin_fma(a, b, c); }
V_IN V v_sqrt(V a) { return __builtin_sqrt(a); }
V_IN int v_any(VI m) { return m != 0; }
#elif AG_LANES == 2 && defined __FMA__
V_IN V v_fma(V a, V b, V c) { return __builtin_ia32_vfmaddpd(a, b, c); }
V_IN V v_sqrt(V a) { return __builtin_ia32_sqrtpd(a); }
V_IN int v_any(VI m) { return __builtin_ia32_movmskpd((V)m) != 0; }
#elif AG_LANES == 4 && defined __FMA__
V_IN V v_fma(V a, V b, V c) { return __builtin_ia32_vfmaddpd256(a, b, c); }
V_IN V v_sqrt(V a) { return __builtin_ia32_sqrtpd256(a); }
V_IN int v_any(VI m) { return __builtin_ia32_movmskpd256((V)m) != 0; }
#elif AG_LANES == 8 && defined __AVX512F__ && defined __AVX512DQ__
V_IN V v_fma(V a, V b, V c) { return __builtin_ia32_vfmaddpd512_mask(a, b, c, 255, 4); }
#ifdef __clang__
V_IN V v_sqrt(V a) { return __builtin_ia32_sqrtpd512(a, 4); }
#else
V_IN V v_sqrt(V a) { return __builtin_ia32_sqrtpd512_mask(a, a, -1, 4); }
#endif
V_IN int v_any(VI m) { return __builtin_ia32_cvtq2mask512((long long __attribute__((vector_size(64))))m) != 0; }
#elif AG_LANES == 16 && defined __AVX512F__ && defined __AVX512DQ__ /* two halves: their operations alternate */
typedef double v_half __attribute__((vector_size(64)));
#define V_LOW(a) __builtin_shufflevector(a, a, 0, 1, 2, 3, 4, 5, 6, 7)
#define V_HIGH(a) __builtin_shufflevector(a, a, 8, 9, 10, 11, 12, 13, 14, 15)
#define V_BOTH(a, b) __builtin_shufflevector(a, b, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)
V_IN V v_fma(V a, V b, V c) {
  const v_half low = __builtin_ia32_vfmaddpd512_mask(V_LOW(a), V_LOW(b), V_LOW(c), 255, 4);
  return V_BOTH(low, __builtin_ia32_vfmaddpd512_mask(V_HIGH(a), V_HIGH(b), V_HIGH(c), 255, 4));
}
#ifdef __clang__
V_IN v_half v_sqrt_half(v_half a) { return __builtin_ia32_sqrtpd512(a, 4); }
#else
V_IN v_half v_sqrt_half(v_half a) { return __builtin_ia32_sqrtpd512_mask(a, a, -1, 4); }
#endif
V_IN V v_sqrt(V a) { return V_BOTH(v_sqrt_half(V_LOW(a)), v_sqrt_half(V_HIGH(a))); }
V_IN int v_any(VI m) {
  const VI both = m | __builtin_shufflevector(m, m, 8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7);
  return __builtin_ia32_cvtq2mask512((long long __attribute__((vector_size(64))))V_LOW(both)) != 0;
}
#elif AG_LANES == 8 && defined __FMA__ && defined __AVX2__ /* two halves: their operations alternate */
typedef double v_half __attribute__((vector_size(32)));
#define V_LOW(a) __builtin_shufflevector(a, a, 0, 1, 2, 3)
#define V_HIGH(a) __builtin_shufflevector(a, a, 4, 5, 6, 7)
#define V_BOTH(a, b) __builtin_shufflevector(a, b, 0, 1, 2, 3, 4, 5, 6, 7)
V_IN V v_fma(V a, V b, V c) {
  const v_half low = __builtin_ia32_vfmaddpd256(V_LOW(a), V_LOW(b), V_LOW(c));
  return V_BOTH(low, __builtin_ia32_vfmaddpd256(V_HIGH(a), V_HIGH(b), V_HIGH(c)));
}
V_IN V v_sqrt(V a) { return V_BOTH(__builtin_ia32_sqrtpd256(V_LOW(a)), __builtin_ia32_sqrtpd256(V_HIGH(a))); }
V_IN int v_any(VI m) {
  return (__builtin_ia32_movmskpd256((v_half)V_LOW(m)) | __builtin_ia32_movmskpd256((v_half)V_HIGH(m))) != 0;
}
#elif AG_LANES == 2 && defined __aarch64__
V_IN V v_fma(V a, V b, V c) { return (V)vfmaq_f64((float64x2_t)c, (float64x2_t)a, (float64x2_t)b); }
V_IN V v_sqrt(V a) { return (V)vsqrtq_f64((float64x2_t)a); }
V_IN int v_any(VI m) { return (m[0] | m[1]) != 0; }
#else
V_IN V v_fma(V a, V b, V c) {
  V r = c;
  for (int i = 0; i < AG_LANES; i++) r[i] = __builtin_fma(a[i], b[i], c[i]);
  return r;
}
V_IN V v_sqrt(V a) {
  V r = a;
  for (int i = 0; i < AG_LANES; i++) r[i] = __builtin_sqrt(a[i]);
  return r;
}
V_IN int v_any(VI m) {
  v_word any = 0;
  for (int i = 0; i < AG_LANES; i++) any |= m[i];
  return any != 0;
}
#endif
#endif
