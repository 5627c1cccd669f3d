/* SPDX-License-Identifier: MIT
 * noise_hand [PATHS [REPEATS]]: the ensemble of bench/models/routh_noise.nh by hand, on one core: Euler-Heun, dt =
 * 0.01, T = 10, in (M, Gamma), vectors of two registers side by side (8 paths with AVX2, 16 with AVX-512), normals
 * from Philox4x32-10 and Box and Muller. Prints one JSON object: path steps per second, mean and deviation of Gamma_3
 * at the end.
 *
 *   M = I Omega + m s x (Omega x s),   s = r Gamma + l e3,   Y = Omega x s
 *   dM = (M x Omega + Y x m r (Omega x Gamma) + m g l Gamma x e3) dt - xi x (M + r Gamma x m Y) o dW
 *   dGamma = Gamma x (Omega dt + xi o dW),   xi = sigma e3 */
#include <immintrin.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* A register of the machine. */
#ifdef __AVX512F__
enum { HALF = 8 };
typedef __m512i integers;
typedef __m512d numbers;
#define MULTIPLY(a, b) _mm512_mul_epu32(a, _mm512_set1_epi64((long long)(b)))
#define ROOT(x) _mm512_sqrt_pd(x)
#else
enum { HALF = 4 };
typedef __m256i integers;
typedef __m256d numbers;
#define MULTIPLY(a, b) _mm256_mul_epu32(a, _mm256_set1_epi64x((long long)(b)))
#define ROOT(x) _mm256_sqrt_pd(x)
#endif

enum { LANES = 2 * HALF, BLOCK = 8, STEPS = 1000 }; /* paths of a vector; vectors that are moved together */
typedef double vec __attribute__((vector_size(8 * LANES)));
typedef uint64_t word __attribute__((vector_size(8 * LANES)));
typedef int64_t sign __attribute__((vector_size(8 * LANES)));
#define IN static inline __attribute__((always_inline))

static const double m = 1, r = 1, l = 0.2, g = 1, I1 = 0.35, I3 = 0.4, sigma = 0.1, h = 0.01;

/* ---- normals ---- */

/* Products of the low halves. */
IN word product(word a, uint64_t b) {
  typedef union {
    word w;
    integers half[2];
  } halves;
  halves x = {a};
  for (int i = 0; i < 2; i++) x.half[i] = MULTIPLY(x.half[i], b);
  return x.w;
}

IN void philox(word c[4], uint32_t k0, uint32_t k1) {
  for (int i = 0; i < 10; i++, k0 += 0x9E3779B9, k1 += 0xBB67AE85) {
    word p = product(c[0], 0xD2511F53), q = product(c[2], 0xCD9E8D57);
    c[0] = (q >> 32) ^ c[1] ^ (uint64_t)k0, c[2] = (p >> 32) ^ c[3] ^ (uint64_t)k1;
    c[1] = q, c[3] = p; /* their upper halves are not read */
  }
}

/* In (0, 1). */
IN vec unit(word high, word low) {
  return (vec)((((high << 32) | (low & 0xffffffff)) >> 12) | 0x3FF0000000000000) - (1.0 - 0x1p-53);
}

IN vec root(vec x) {
  typedef union {
    vec v;
    numbers half[2];
  } halves;
  halves y = {x};
  for (int i = 0; i < 2; i++) y.half[i] = ROOT(y.half[i]);
  return y.v;
}

/* log x for x in (0, 1): x = 2^e (1 + f) with |f| small, the polynomials of fdlibm. */
IN vec logarithm(vec x) {
  sign b = (sign)x, k = b - 0x3FE6A09E667F3BCD;
  vec e = (vec)(((((sign)((word)k >> 52)) + 2048) & 4095) | 0x4330000000000000) - (0x1p52 + 2048);
  vec f = (vec)(b - (k & (int64_t)0xFFF0000000000000)) - 1.0, s = f / (f + 2.0), z = s * s, w = z * z;
  vec odd = w * (0.3999999999940941908 + w * (0.2222219843214978396 + w * 0.1531383769920937332));
  vec even = z * (0.6666666666666735130 +
                  w * (0.2857142874366239149 + w * (0.1818357216161805012 + w * 0.1479819860511658591)));
  vec half = 0.5 * f * f;
  return e * 0.6931471805599453094 + (f - (half - s * (half + odd + even)));
}

/* Cosine and sine of 2 pi u. */
IN void turn(vec u, vec *cosine, vec *sine) {
  vec near = u * 4.0 + 0x1.8p52, a = (u * 4.0 - (near - 0x1.8p52)) * 1.5707963267948966192, z = a * a;
  sign q = (sign)near, odd = -(q & 1);
  vec s = a + a * z *
                  (-1.66666666666666307295e-1 +
                   z * (8.33333333332211858878e-3 +
                        z * (-1.98412698295895385996e-4 +
                             z * (2.75573136213857245213e-6 +
                                  z * (-2.50507477628578072866e-8 + z * 1.58962301576546568060e-10)))));
  vec c = 1.0 - 0.5 * z +
          z * z *
              (4.16666666666665929218e-2 +
               z * (-1.38888888888730564116e-3 +
                    z * (2.48015872888517045348e-5 +
                         z * (-2.75573141792967388112e-7 +
                              z * (2.08757008419747316778e-9 + z * -1.13585365213876817300e-11)))));
  sign s1 = ((sign)c & odd) | ((sign)s & ~odd), c1 = ((sign)s & odd) | ((sign)c & ~odd);
  *sine = (vec)(s1 ^ ((q >> 1) << 63)), *cosine = (vec)(c1 ^ (((q + 1) >> 1) << 63));
}

/* sigma dW of a step for two vectors of paths. */
IN void draw(uint64_t first, uint64_t step, double scale, vec w[2]) {
  word lane, zero = {0};
  for (int i = 0; i < LANES; i++) lane[i] = (uint64_t)i;
  word c[4] = {lane + first, zero + step, zero, zero};
  philox(c, 0x1234567, 0x89abcdef);
  vec size = root((-2 * scale * scale) * logarithm(unit(c[0], c[1])));
  turn(unit(c[2], c[3]), &w[0], &w[1]);
  w[0] *= size, w[1] *= size;
}

/* ---- the ball ---- */

typedef struct state {
  vec M[3], G[3];
} state;

/* J Omega = M with J = I + m |s|^2 - m s s^T, by the formula of Sherman and Morrison. */
IN void angular(const vec *M, const vec *s, vec *O) {
  vec a = m * s[0], b = m * s[1], c = m * s[2], p = a * s[0] + b * s[1], n = p + c * s[2], d1 = I1 + n, d3 = I3 + n;
  vec rest = d1 * d3 - d3 * p - d1 * c * s[2], over = 1.0 / (rest * d1 * d3);
  vec k = ((a * M[0] + b * M[1]) * d3 + d1 * c * M[2]) * over, w = rest * over;
  O[0] = d3 * (w * M[0] + k * s[0]), O[1] = d3 * (w * M[1] + k * s[1]), O[2] = d1 * (w * M[2] + k * s[2]);
}

IN void cross(const vec *a, const vec *b, vec *c) {
  c[0] = a[1] * b[2] - a[2] * b[1], c[1] = a[2] * b[0] - a[0] * b[2], c[2] = a[0] * b[1] - a[1] * b[0];
}

IN state increment(const state *y, vec dW) {
  vec s[3] = {r * y->G[0], r * y->G[1], r * y->G[2] + l}, O[3], Y[3], w[3], x[3], turned[3], pulled[3], lever[3];
  angular(y->M, s, O);
  cross(O, s, Y);
  cross(O, y->G, w);
  for (int i = 0; i < 3; i++) x[i] = m * r * w[i];
  cross(y->M, O, turned);
  cross(Y, x, pulled);
  cross(y->G, Y, lever);
  vec A0 = y->M[0] + m * r * lever[0], A1 = y->M[1] + m * r * lever[1];
  return (state){{(turned[0] + pulled[0] + m * g * l * y->G[1]) * h + A1 * dW,
                  (turned[1] + pulled[1] - m * g * l * y->G[0]) * h - A0 * dW, (turned[2] + pulled[2]) * h},
                 {y->G[1] * dW - w[0] * h, -(y->G[0] * dW + w[1] * h), -(w[2] * h)}};
}

IN void step(state *y, vec dW) {
  state a = increment(y, dW), p;
  for (int i = 0; i < 3; i++) p.M[i] = y->M[i] + a.M[i], p.G[i] = y->G[i] + a.G[i];
  state b = increment(&p, dW);
  for (int i = 0; i < 3; i++) y->M[i] += 0.5 * (a.M[i] + b.M[i]), y->G[i] += 0.5 * (a.G[i] + b.G[i]);
}

/* ---- the ensemble ---- */

static state start(void) {
  const double O[3] = {0.3, 0.1, 1}, G[3] = {sin(0.3), 0, cos(0.3)}, I[3] = {I1, I1, I3};
  const double s[3] = {r * G[0], r * G[1], r * G[2] + l};
  const double ss = s[0] * s[0] + s[1] * s[1] + s[2] * s[2], so = s[0] * O[0] + s[1] * O[1] + s[2] * O[2];
  state y;
  vec zero = {0};
  for (int i = 0; i < 3; i++) y.M[i] = zero + (I[i] * O[i] + m * (ss * O[i] - s[i] * so)), y.G[i] = zero + G[i];
  return y;
}

static void follow(long paths, double *mean, double *square) {
  const state y0 = start();
  *mean = *square = 0;
  for (long n = 0; n < paths; n += LANES * BLOCK) {
    state y[BLOCK];
    vec dW[BLOCK];
    for (int k = 0; k < BLOCK; k++) y[k] = y0;
    for (uint64_t i = 0; i < STEPS; i++) {
      for (int k = 0; k < BLOCK; k += 2) draw((uint64_t)(n / 2 + k / 2 * LANES), i, sigma * sqrt(h), dW + k);
      for (int k = 0; k < BLOCK; k++) step(&y[k], dW[k]);
    }
    for (int k = 0; k < BLOCK; k++)
      for (int i = 0; i < LANES; i++) *mean += y[k].G[2][i], *square += y[k].G[2][i] * y[k].G[2][i];
  }
  *mean /= (double)paths, *square /= (double)paths;
}

int main(int argc, char **argv) {
  const long wanted = argc > 1 ? atol(argv[1]) : 16384,
             paths = (wanted + LANES * BLOCK - 1) / (LANES * BLOCK) * (LANES * BLOCK);
  double best = 1e99, mean, square;
  for (int i = argc > 2 ? atoi(argv[2]) : 1; i > 0; i--) {
    struct timespec a, b;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &a);
    follow(paths, &mean, &square);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &b);
    best = fmin(best, (double)(b.tv_sec - a.tv_sec) + 1e-9 * (double)(b.tv_nsec - a.tv_nsec));
  }
  printf("{\"paths\": %ld, \"path_steps_per_second\": %.6g, \"mean\": %.17g, \"deviation\": %.17g}\n", paths,
         (double)paths * STEPS / best, mean, sqrt(square - mean * mean));
}
