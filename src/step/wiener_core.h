/* SPDX-License-Identifier: MIT
 * Wiener paths as text over V (expr/vmath.h, then wiener.h, come before). Compiled into the library and embedded into
 * kernels; every rounding is written out, so that a path has the same bits alone and in any lane.
 *
 * Numbers come from Philox4x32-10 (Salmon, Moraes, Dror, Shaw, SC11): key = seed; counter = (pair of paths: 48 bits,
 * dyadic time node: 56, channel: 16, purpose: 8). One Box-Muller transform serves a pair: the cosine is the normal of
 * path 2 pair, the sine that of path 2 pair + 1. Functions therefore work on two vectors at once, x[0] for the even
 * and x[1] for the odd paths; lane l of both belongs to pair[l].
 *
 * The node of base interval k is k 2^24. An interval is halved by the number at the node of its midpoint, a time in
 * units of base/2^24:
 *   left = X/2 + e, right = X/2 - e, e = N sqrt(length)/2.
 * Increments are in units of sqrt(base) and are rounded to whole multiples of 2^-(36 + level): halves then add up to
 * the whole exactly, and so does every sum of fewer than 2^17 such units. */
#define AG_WIENER_BITS 36
#define AG_WIENER_LOW 0xffffffffULL

/* The lower 32 bits of each lane times m < 2^32: the multiply that machines have. */
#if AG_LANES == 2 && defined __SSE2__
typedef int wiener_int __attribute__((vector_size(16)));
V_IN VI wiener_product(VI a, v_word m) {
  return (VI)__builtin_ia32_pmuludq128((wiener_int)a, (wiener_int)v_word_set(m));
}
#elif AG_LANES == 4 && defined __AVX2__
typedef int wiener_int __attribute__((vector_size(32)));
V_IN VI wiener_product(VI a, v_word m) {
  return (VI)__builtin_ia32_pmuludq256((wiener_int)a, (wiener_int)v_word_set(m));
}
#elif AG_LANES == 8 && defined V_BOTH /* halves, as in vmath.h */
typedef int wiener_int __attribute__((vector_size(32)));
#define WIENER_PRODUCT(a, b) __builtin_ia32_pmuludq256((wiener_int)(a), (wiener_int)(b))
#elif AG_LANES >= 8 && defined __AVX512F__
typedef int wiener_int __attribute__((vector_size(64)));
#ifdef __clang__
#define WIENER_PRODUCT(a, b) __builtin_ia32_pmuludq512((wiener_int)(a), (wiener_int)(b))
#else
typedef long long wiener_long __attribute__((vector_size(64)));
#define WIENER_PRODUCT(a, b) __builtin_ia32_pmuludq512_mask((wiener_int)(a), (wiener_int)(b), (wiener_long){0}, 255)
#endif
#else
V_IN VI wiener_product(VI a, v_word m) { return (a & AG_WIENER_LOW) * m; }
#endif
#if defined WIENER_PRODUCT && defined V_BOTH
typedef v_word wiener_half __attribute__((vector_size(4 * AG_LANES)));
V_IN VI wiener_product(VI a, v_word m) {
  const wiener_half factor = m - (wiener_half){0}, low = (wiener_half)WIENER_PRODUCT(V_LOW(a), factor);
  return V_BOTH(low, (wiener_half)WIENER_PRODUCT(V_HIGH(a), factor));
}
#elif defined WIENER_PRODUCT
V_IN VI wiener_product(VI a, v_word m) { return (VI)WIENER_PRODUCT(a, v_word_set(m)); }
#endif
#undef WIENER_PRODUCT

#ifdef __clang__
#define WIENER_EACH_ROUND _Pragma("clang loop unroll(full)")
#else
#define WIENER_EACH_ROUND _Pragma("GCC unroll 10")
#endif

/* Philox4x32-10: counter c, key k; the words stand in the lower halves, the upper ones hold anything. The keys of the
 * rounds are the same for every step: with the rounds written out they are computed once. */
V_IN void wiener_philox(VI c[4], v_word k0, v_word k1) {
  WIENER_EACH_ROUND for (int i = 0; i < 10; i++) {
    const VI p0 = wiener_product(c[0], 0xD2511F53), p1 = wiener_product(c[2], 0xCD9E8D57);
    c[0] = p1 >> 32 ^ (c[1] ^ k0), c[2] = p0 >> 32 ^ (c[3] ^ k1);
    c[1] = p1, c[3] = p0;
    k0 = (k0 + 0x9E3779B9) & AG_WIENER_LOW, k1 = (k1 + 0xBB67AE85) & AG_WIENER_LOW;
  }
}

/* 52 random bits as a number in (0, 1): an odd multiple of 2^-53. */
V_IN V wiener_unit(VI high, VI low) {
  const VI bits = high << 32 | (low & AG_WIENER_LOW);
  return v_of(bits >> 12 | 0x3ff0000000000000ULL) - (1.0 - 0x1p-53);
}

/* sqrt(-2 log u), 0 < u < 1: v_log() of vmath.h without its special cases. */
V_IN V wiener_radius(V u) {
  const VI i = v_bits(u), e = i - 0x3fe6a09e667f3bcdULL + 0x3ff0000000000000ULL;
  const V k = v_of(e >> 52 | 0x4330000000000000ULL) - (0x1p52 + 1023);
  const V m = v_of(i - (e & 0xfff0000000000000ULL) + 0x3ff0000000000000ULL);
  const V f = m - 1.0, s = f / (2.0 + f), z = s * s, z2 = z * z, half = 0.5 * f * f;
  const V g1 = v_poly(v_poly(v_set(0x1.2f118e2c68ca9p-3), z2, 0x1.746649bdd2f28p-3), z2, 0x1.249249422a818p-2);
  const V g2 = v_poly(v_poly(v_set(0x1.39a09410c6710p-3), z2, 0x1.c71c51d790181p-3), z2, 0x1.999999997f9f6p-2);
  const V g = v_fma(v_poly(g1, z2, 0x1.5555555555593p-1), z, g2 * z2);
  const V low = v_fma(s, half + g, k * 0x1.a39ef35793c76p-33);
  const V log = k * 0x1.62e42fee00000p-1 - ((half - low) - f);
  return v_sqrt(-2.0 * log);
}

/* cos and sin of 2 pi u, 0 < u < 1: the polynomials of v_trig(); the reduction is exact. */
V_IN void wiener_turn(V u, V *cosine, V *sine) {
  const V turns = v_fma(u, v_set(4), v_set(0x1.8p52)), n = turns - 0x1.8p52;
  const VI q = v_bits(turns), odd = 0 - (q & 1);
  const V r = v_fma(u, v_set(4), -n) * V_PIO2_1, z = r * r, z2 = z * z;
  const V s1 = v_poly(v_poly(v_set(0x1.ae5e66a3a1046p-26), z2, 0x1.a01a019c141aep-13), z2, 0x1.5555555555549p-3);
  const V s2 = v_poly(v_poly(v_set(-0x1.5d9300e3aad05p-33), z2, -0x1.71de3578ecec1p-19), z2, -0x1.111111110f89cp-7);
  const V c1 = v_poly(v_poly(v_set(0x1.1ee9f04498c8cp-29), z2, 0x1.a01a019cbe0a2p-16), z2, 0x1.555555555554cp-5);
  const V c2 = v_poly(v_poly(v_set(-0x1.8fb09128496cfp-37), z2, -0x1.27e4f8116c252p-22), z2, -0x1.6c16c16c15217p-10);
  const V s = v_fma(-(r * z), v_fma(s2, z, s1), r), c = v_fma(z2, v_fma(c2, z, c1), v_fma(z, v_set(-0.5), v_set(1)));
  *sine = v_flip(v_blend(odd, c, s), (q & 2) << 62);
  *cosine = v_flip(v_blend(odd, s, c), ((q + 1) & 2) << 62);
}

/* Two uniform numbers of (0, 1) of a pair of paths at a node. */
V_IN void wiener_uniform(const ag_wiener *w, VI pair, v_word node, int channel, V u[2]) {
  VI c[4] = {pair, pair >> 32 | ((v_word)channel << 16), v_word_set(node),
             v_word_set(node >> 32 | (v_word)w->purpose << 24)};
  wiener_philox(c, w->seed & AG_WIENER_LOW, w->seed >> 32);
  u[0] = wiener_unit(c[0], c[1]), u[1] = wiener_unit(c[2], c[3]);
}

/* Normal numbers of both paths of a pair, times `scale`, rounded to multiples of 2^-bits. */
V_IN void wiener_normal(const ag_wiener *w, VI pair, v_word node, int channel, double scale, int bits, V x[2]) {
  V u[2], c, s;
  wiener_uniform(w, pair, node, channel, u);
  const V r = wiener_radius(u[0]) * scale, grid = v_set(1.5 * v_pow2(52 - bits));
  wiener_turn(u[1], &c, &s);
  x[0] = v_fma(r, c, grid) - grid;
  x[1] = w->mirror ? -x[0] : v_fma(r, s, grid) - grid;
}

/* The increment of base interval k. */
V_IN void wiener_base(const ag_wiener *w, VI pair, v_word k, int channel, V x[2]) {
  wiener_normal(w, pair, k << AG_WIENER_LEVELS, channel, 1.0, AG_WIENER_BITS, x);
}

/* Halves interval number `at` of a level (counted from t0 on), whose increment is x: x becomes that of the left half.
 */
V_IN void wiener_halve(const ag_wiener *w, VI pair, int level, v_word at, int channel, V x[2], V right[2]) {
  const double scale = (level & 1 ? 0x1.6a09e667f3bcdp-1 : 1.0) * v_pow2(-(level / 2) - 1);
  V e[2];
  wiener_normal(w, pair, (2 * at + 1) << (AG_WIENER_LEVELS - level - 1), channel, scale, AG_WIENER_BITS + level + 1, e);
  for (int s = 0; s < 2; s++) {
    right[s] = 0.5 * x[s] - e[s];
    x[s] = 0.5 * x[s] + e[s];
  }
}

/* The increment of interval number `at` of a level. */
V_IN void wiener_interval(const ag_wiener *w, VI pair, int level, v_word at, int channel, V x[2]) {
  V right[2];
  wiener_base(w, pair, at >> level, channel, x);
  for (int i = 0; i < level; i++) {
    wiener_halve(w, pair, i, at >> (level - i), channel, x, right);
    if (at >> (level - i - 1) & 1) x[0] = right[0], x[1] = right[1];
  }
}

/* x is the increment of the base interval in which step k begins, and becomes that of the step. A function of its own:
 * the draws of the usual step, one base interval, then leave room for what else is in its loop. */
static __attribute__((noinline, unused)) void wiener_fit(const ag_wiener *w, const VI *pair, v_word k, int channel,
                                                         V x[2]) {
  V next[2];
  for (int i = 0; i < w->level; i++) {
    wiener_halve(w, *pair, i, k >> (w->level - i), channel, x, next);
    if (k >> (w->level - i - 1) & 1) x[0] = next[0], x[1] = next[1];
  }
  for (int i = 1; i < w->multiple; i++) {
    wiener_base(w, *pair, k * (v_word)w->multiple + (v_word)i, channel, next);
    x[0] += next[0], x[1] += next[1];
  }
}

/* h and the increments of step k: even and odd are [h | dW]. */
V_IN void wiener_step(const ag_wiener *w, VI pair, v_word k, V *even, V *odd) {
  const double root = __builtin_sqrt(w->base);
  even[0] = odd[0] = v_set(w->base * w->multiple * v_pow2(-w->level));
  k ^= w->swap;
  for (int c = 0; c < w->channels; c++) {
    V x[2];
    wiener_base(w, pair, (k * (v_word)w->multiple) >> w->level, c, x);
    if (w->level > 0 || w->multiple > 1) {
      V fitted[2] = {x[0], x[1]};
      wiener_fit(w, &pair, k, c, fitted);
      x[0] = fitted[0], x[1] = fitted[1];
    }
    even[1 + c] = x[0] * root, odd[1 + c] = x[1] * root;
  }
}

/* Appends a straight piece x to a path with increment y and areas a, both in [..][2]; Chen's relation:
 *   A_ij += (y_i x_j - y_j x_i)/2, y += x;   a: A_12, A_13, .., A_23, .. */
V_IN void wiener_append(int channels, const V *x, V *y, V *a) {
  for (int i = 0, at = 0; i < channels; i++)
    for (int j = i + 1; j < channels; j++, at++)
      for (int s = 0; s < 2; s++)
        a[2 * at + s] += 0.5 * v_fma(y[2 * i + s], x[2 * j + s], -(y[2 * j + s] * x[2 * i + s]));
  for (int i = 0; i < 2 * channels; i++) y[i] += x[i];
}

/* Appends interval `at` of a level, taken apart down to area_level. stack: rows of 2 channels; row 0 holds its
 * increment and the right halves that wait follow. */
V_IN void wiener_pieces(const ag_wiener *w, VI pair, int level, v_word at, V *stack, V *y, V *a) {
  const int row = 2 * w->channels, depth = w->area_level > level ? w->area_level - level : 0;
  V *x = stack + (depth + 1) * row;
  for (v_word leaf = 0; leaf < 1ULL << depth; leaf++) {
    int from = leaf ? depth - __builtin_ctzll(leaf) : 0; /* depth of the interval that waits and begins here */
    for (int i = 0; i < row; i++) x[i] = stack[from * row + i];
    for (int d = from; d < depth; d++)
      for (int c = 0; c < w->channels; c++)
        wiener_halve(w, pair, level + d, (at << d) + (leaf >> (depth - d)), c, x + 2 * c,
                     stack + (d + 1) * row + 2 * c);
    wiener_append(w->channels, x, y, a);
  }
}

/* Rows of 2 channels, and areas, that wiener_areas() works in. */
#define AG_WIENER_ROOM(channels) (2 * (channels) * (AG_WIENER_LEVELS + 4) + (channels) * ((channels)-1))

/* h, increments and Levy areas of step k: even and odd are [h | dW | A_12, A_13, .., A_23, ..],
 * A_ij = 1/2 (int W_i dW_j - W_j dW_i) over the step. work: AG_WIENER_ROOM(channels). */
V_IN void wiener_areas(const ag_wiener *w, VI pair, v_word k, V *even, V *odd, V *work) {
  const int m = w->channels, n_area = m * (m - 1) / 2;
  const double root = __builtin_sqrt(w->base);
  V *y = work, *a = y + 2 * m, *stack = a + 2 * n_area;
  for (int i = 0; i < 2 * (m + n_area); i++) y[i] = v_set(0);
  k ^= w->swap;
  for (int i = 0; i < w->multiple; i++) {
    const v_word at = k * (v_word)w->multiple + (v_word)i;
    for (int c = 0; c < m; c++) wiener_interval(w, pair, w->level, at, c, stack + 2 * c);
    wiener_pieces(w, pair, w->level, at, stack, y, a);
  }
  even[0] = odd[0] = v_set(w->base * w->multiple * v_pow2(-w->level));
  for (int i = 0; i < m; i++) even[1 + i] = y[2 * i] * root, odd[1 + i] = y[2 * i + 1] * root;
  for (int i = 0; i < n_area; i++) even[1 + m + i] = a[2 * i] * w->base, odd[1 + m + i] = a[2 * i + 1] * w->base;
}

/* Step k with its halves: even and odd are [h | dW | h | D]. */
V_IN void wiener_halves(const ag_wiener *w, VI pair, v_word k, V *even, V *odd) {
  const int m = w->channels;
  const double root = __builtin_sqrt(w->base);
  const v_word n = (v_word)w->multiple;
  k ^= w->swap;
  even[0] = odd[0] = even[1 + m] = odd[1 + m] = v_set(w->base * w->multiple * v_pow2(-w->level));
  for (int c = 0; c < m; c++) {
    V x[2], first[2] = {v_set(0), v_set(0)}, second[2] = {v_set(0), v_set(0)};
    for (v_word i = 0; i < n; i++) {
      wiener_interval(w, pair, w->level + 1, 2 * k * n + i, c, x);
      first[0] += x[0], first[1] += x[1];
      wiener_interval(w, pair, w->level + 1, (2 * k + 1) * n + i, c, x);
      second[0] += x[0], second[1] += x[1];
    }
    even[1 + c] = (first[0] + second[0]) * root, odd[1 + c] = (first[1] + second[1]) * root;
    even[2 + m + c] = (first[0] - second[0]) * root, odd[2 + m + c] = (first[1] - second[1]) * root;
  }
}

/* Step k with a coin: even and odd are [h | dW | h or -h | dW]. The coin belongs to the time at which the step begins,
 * so that the steps of a path toss independent ones; a mirrored path has the opposite side. */
V_IN void wiener_coin(const ag_wiener *w, VI pair, v_word k, V *even, V *odd) {
  const int m = w->channels;
  ag_wiener toss = *w;
  V u[2];
  toss.purpose = AG_WIENER_ORDER;
  wiener_step(w, pair, k, even, odd);
  wiener_uniform(&toss, pair, (k * (v_word)w->multiple) << (AG_WIENER_LEVELS - w->level), 0, u);
  even[1 + m] = v_blend(m_lt(u[0], v_set(0.5)), even[0], -even[0]);
  odd[1 + m] = w->mirror ? -even[1 + m] : v_blend(m_lt(u[1], v_set(0.5)), odd[0], -odd[0]);
  for (int c = 1; c <= m; c++) even[1 + m + c] = even[c], odd[1 + m + c] = odd[c];
}

/* Step k with its halves and, behind them, h times a uniform number, which belongs to the time at which the step
 * begins. A mirrored path has the number's distance from 1. */
V_IN void wiener_trial(const ag_wiener *w, VI pair, v_word k, V *even, V *odd) {
  const int at = 2 + 2 * w->channels;
  ag_wiener trial = *w;
  V u[2];
  trial.purpose = AG_WIENER_ACCEPT;
  wiener_halves(w, pair, k, even, odd);
  wiener_uniform(&trial, pair, (k * (v_word)w->multiple) << (AG_WIENER_LEVELS - w->level), 0, u);
  even[at] = u[0] * even[0];
  odd[at] = (w->mirror ? 1.0 - u[0] : u[1]) * odd[0];
}

#undef AG_WIENER_LOW
#undef WIENER_EACH_ROUND
