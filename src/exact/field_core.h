/* SPDX-License-Identifier: MIT
 * Inside exact/: small functions of the field that its files share. */
#ifndef AG_EXACT_FIELD_CORE_H
#define AG_EXACT_FIELD_CORE_H
#include "exact/exact_internal.h"

static inline uint64_t mixed(uint64_t x) { /* splitmix64 */
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  x = (x ^ x >> 27) * 0x94d049bb133111ebu;
  return x ^ x >> 31;
}

static inline uint64_t negated(const ag_field *f, uint64_t a) { return a ? f->p - a : 0; }

static inline uint64_t field_add(const ag_field *f, uint64_t a, uint64_t b) {
  return a + b >= f->p ? a + b - f->p : a + b;
}

static inline uint64_t field_sub(const ag_field *f, uint64_t a, uint64_t b) { return a >= b ? a - b : a + f->p - b; }

static inline uint64_t field_mul(const ag_field *f, uint64_t a, uint64_t b) {
  const uint64_t low = ((uint64_t)1 << 61) - 1;
  unsigned __int128 c = (unsigned __int128)a * b; /* 2^61 = below */
  c = (c & low) + (unsigned __int128)(uint64_t)(c >> 61) * f->below;
  uint64_t r = ((uint64_t)c & low) + (uint64_t)(c >> 61) * f->below;
  return r >= f->p ? r - f->p : r;
}

static inline uint64_t power(const ag_field *f, uint64_t a, uint64_t n) {
  uint64_t y = 1;
  for (; n; n >>= 1, a = field_mul(f, a, a))
    if (n & 1) y = field_mul(f, y, a);
  return y;
}

static inline uint64_t ratio(const ag_field *f, uint64_t a, uint64_t b) {
  return field_mul(f, a, ag_field_invert(f, b));
}
#endif
