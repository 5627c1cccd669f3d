/* SPDX-License-Identifier: MIT */
#include "kern/hash.h"

#include <stdio.h>
#include <string.h>
#if defined __x86_64__
#include <cpuid.h>
#include <immintrin.h>
#endif

/* First 32 bits of the fractional parts of the cube roots of the first 64 primes. */
static const uint32_t K[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static uint32_t turn(uint32_t x, int n) { return x >> n | x << (32 - n); }

/* Round i + k, k < 8: what the standard calls a, b, ..., h are s[-k], s[1 - k], ..., modulo 8. */
static inline void round_of(int k, int i, const uint32_t w[64], uint32_t s[8]) {
  uint32_t a = s[(8 - k) % 8], b = s[(9 - k) % 8], c = s[(10 - k) % 8];
  uint32_t e = s[(12 - k) % 8], f = s[(13 - k) % 8], g = s[(14 - k) % 8];
  uint32_t *d = &s[(11 - k) % 8], *h = &s[(15 - k) % 8];
  uint32_t t1 = *h + (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) + ((e & f) ^ (~e & g)) + K[i + k] + w[i + k];
  *d += t1;
  *h = t1 + (turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
}

static void mix_plain(ag_hash *h, const unsigned char *block) {
  uint32_t w[64], s[8];
  for (int i = 0; i < 16; i++)
    w[i] = (uint32_t)block[4 * i] << 24 | (uint32_t)block[4 * i + 1] << 16 | (uint32_t)block[4 * i + 2] << 8 |
           block[4 * i + 3];
  for (int i = 16; i < 64; i++) {
    uint32_t a = w[i - 15], b = w[i - 2];
    w[i] = w[i - 16] + (turn(a, 7) ^ turn(a, 18) ^ a >> 3) + w[i - 7] + (turn(b, 17) ^ turn(b, 19) ^ b >> 10);
  }
  memcpy(s, h->state, sizeof s);
  for (int i = 0; i < 64; i += 8) { /* the eight numbers change places in turn */
    round_of(0, i, w, s);
    round_of(1, i, w, s);
    round_of(2, i, w, s);
    round_of(3, i, w, s);
    round_of(4, i, w, s);
    round_of(5, i, w, s);
    round_of(6, i, w, s);
    round_of(7, i, w, s);
  }
  for (int i = 0; i < 8; i++) h->state[i] += s[i];
}

#if defined __x86_64__
/* Four rounds take two instructions, four words of the schedule three. The processor wants the eight numbers as (f, e,
 * b, a) and (h, g, d, c), from the lowest on. */
__attribute__((target("sha,sse4.1"))) static void mix_fast(ag_hash *h, const unsigned char *block) {
  const __m128i swap = _mm_set_epi8(12, 13, 14, 15, 8, 9, 10, 11, 4, 5, 6, 7, 0, 1, 2, 3);
  __m128i w[16], badc = _mm_shuffle_epi32(_mm_loadu_si128((const __m128i *)h->state), 0xb1);
  __m128i hgfe = _mm_shuffle_epi32(_mm_loadu_si128((const __m128i *)(h->state + 4)), 0x1b);
  __m128i abef = _mm_alignr_epi8(badc, hgfe, 8), cdgh = _mm_blend_epi16(hgfe, badc, 0xf0);
  const __m128i abef0 = abef, cdgh0 = cdgh;
  for (int i = 0; i < 4; i++) w[i] = _mm_shuffle_epi8(_mm_loadu_si128((const __m128i *)(block + 16 * i)), swap);
  for (int i = 4; i < 16; i++)
    w[i] = _mm_sha256msg2_epu32(
        _mm_add_epi32(_mm_sha256msg1_epu32(w[i - 4], w[i - 3]), _mm_alignr_epi8(w[i - 1], w[i - 2], 4)), w[i - 1]);
  for (int i = 0; i < 16; i++) {
    const __m128i x = _mm_add_epi32(w[i], _mm_loadu_si128((const __m128i *)(K + 4 * i)));
    cdgh = _mm_sha256rnds2_epu32(cdgh, abef, x);
    abef = _mm_sha256rnds2_epu32(abef, cdgh, _mm_shuffle_epi32(x, 0x0e));
  }
  abef = _mm_shuffle_epi32(_mm_add_epi32(abef, abef0), 0x1b); /* feba */
  cdgh = _mm_shuffle_epi32(_mm_add_epi32(cdgh, cdgh0), 0xb1); /* dchg */
  _mm_storeu_si128((__m128i *)h->state, _mm_blend_epi16(abef, cdgh, 0xf0));
  _mm_storeu_si128((__m128i *)(h->state + 4), _mm_alignr_epi8(cdgh, abef, 8));
}

static bool can_be_fast(void) {
  enum { LEAF_FEATURES = 1, LEAF_MORE = 7, SSSE3 = 1 << 9, SSE41 = 1 << 19, SHA = 1 << 29 };
  unsigned a, b, c = 0, d, more = 0;
  return __get_cpuid(LEAF_FEATURES, &a, &b, &c, &d) && c & SSSE3 && c & SSE41 &&
         __get_cpuid_count(LEAF_MORE, 0, &a, &more, &b, &d) && more & SHA;
}
#else
static void mix_fast(ag_hash *h, const unsigned char *block) { mix_plain(h, block); }
static bool can_be_fast(void) { return false; }
#endif

static void mix(ag_hash *h, const unsigned char *block) {
  if (h->fast) mix_fast(h, block);
  else mix_plain(h, block);
}

void ag_hash_init(ag_hash *h) {
  static const uint32_t start[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                    0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  *h = (ag_hash){.fast = can_be_fast()};
  memcpy(h->state, start, sizeof start);
}

void ag_hash_add(ag_hash *h, const void *bytes, size_t n) {
  const unsigned char *from = bytes;
  while (n > 0) {
    size_t at = h->size % 64, take = 64 - at < n ? 64 - at : n;
    if (take < 64) memcpy(h->block + at, from, take);
    h->size += take;
    if (h->size % 64 == 0) mix(h, take < 64 ? h->block : from);
    from += take;
    n -= take;
  }
}

void ag_hash_str(ag_hash *h, const char *s) { ag_hash_add(h, s, strlen(s) + 1); }

void ag_hash_name(ag_hash *h, char name[33]) {
  uint64_t bits = h->size * 8;
  unsigned char length[8], pad = 0x80;
  for (int i = 0; i < 8; i++) length[i] = (unsigned char)(bits >> (56 - 8 * i));
  ag_hash_add(h, &pad, 1);
  for (pad = 0; h->size % 64 != 56;) ag_hash_add(h, &pad, 1);
  ag_hash_add(h, length, 8);
  for (int i = 0; i < 4; i++) snprintf(name + 8 * i, 9, "%08x", (unsigned)h->state[i]);
}
