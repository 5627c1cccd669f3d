/* SPDX-License-Identifier: MIT
 * Arithmetic, roots and linear algebra over the integers modulo p = 2^61 - c. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "exact/field_core.h"

/* ---- arithmetic ---- */

/* Both primes are 3 modulo 4: a^((p+1)/4) is a root of every square. */
ag_field ag_field_at(int prime, uint64_t seed) {
  static const uint64_t below[AG_FIELD_PRIMES] = {1, 45};
  uint64_t c = below[prime % AG_FIELD_PRIMES];
  return (ag_field){.p = ((uint64_t)1 << 61) - c, .below = c, .seed = mixed(seed), .state = mixed(seed ^ 0x5851f42d)};
}

uint64_t ag_field_draw(ag_field *f) {
  f->state = mixed(f->state + 1);
  return f->state % f->p;
}

uint64_t ag_field_add(const ag_field *f, uint64_t a, uint64_t b) { return field_add(f, a, b); }
uint64_t ag_field_sub(const ag_field *f, uint64_t a, uint64_t b) { return field_sub(f, a, b); }
uint64_t ag_field_mul(const ag_field *f, uint64_t a, uint64_t b) { return field_mul(f, a, b); }

/* Euclid's algorithm. */
uint64_t ag_field_invert(const ag_field *f, uint64_t a) {
  int64_t r0 = (int64_t)f->p, r1 = (int64_t)a, t0 = 0, t1 = 1;
  while (r1) {
    int64_t q = r0 / r1, r = r0 - q * r1, t = t0 - q * t1;
    r0 = r1, r1 = r, t0 = t1, t1 = t;
  }
  if (!a) return 0;
  return t0 < 0 ? (uint64_t)(t0 + (int64_t)f->p) : (uint64_t)t0;
}

uint64_t ag_field_whole(const ag_field *f, int64_t n) {
  uint64_t size = (n < 0 ? (uint64_t)-n : (uint64_t)n) % f->p;
  return n < 0 ? negated(f, size) : size;
}

uint64_t ag_field_number(const ag_field *f, double v) {
  ag_meant m = ag_number_meant(v);
  int e;
  if (!m.den) { /* the double itself */
    int64_t whole = (int64_t)ldexp(frexp(v, &e), 53);
    uint64_t two = power(f, 2, (uint64_t)abs(e - 53)), y = ag_field_whole(f, whole);
    return e < 53 ? ratio(f, y, two) : field_mul(f, y, two);
  }
  uint64_t y = ag_field_whole(f, m.num), ten = power(f, 10, (uint64_t)abs(m.ten));
  if (m.den != 1) y = ratio(f, y, ag_field_whole(f, m.den));
  return m.ten < 0 ? ratio(f, y, ten) : m.ten > 0 ? field_mul(f, y, ten) : y;
}

/* With the quaternion (1, x, y, z): R = 1 + 2 (hat v + hat v^2)/(1 + v.v). */
void ag_field_rotation(ag_field *f, uint64_t *R) {
  uint64_t v[3], square = 1;
  for (int i = 0; i < 3; i++) v[i] = ag_field_draw(f), square = field_add(f, square, field_mul(f, v[i], v[i]));
  uint64_t two = ratio(f, 2, square);
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) { /* hat v^2 = v v^T - v.v */
      uint64_t x = field_mul(f, v[i], v[j]);
      if (i == j) x = field_sub(f, x, field_sub(f, square, 1));
      int k = 3 - i - j;
      if (i != j) x = (j - i + 3) % 3 == 1 ? field_sub(f, x, v[k]) : field_add(f, x, v[k]);
      R[3 * i + j] = field_add(f, i == j, field_mul(f, two, x));
    }
}

/* Euclid's algorithm on (p, a) until the remainder is small. */
bool ag_field_fraction(const ag_field *f, uint64_t a, int64_t *num, int64_t *den) {
  const int64_t bound = 1000000000;
  int64_t r0 = (int64_t)f->p, r1 = (int64_t)a, t0 = 0, t1 = 1;
  while (r1 > bound) {
    int64_t q = r0 / r1, r = r0 - q * r1, t = t0 - q * t1;
    r0 = r1, r1 = r, t0 = t1, t1 = t;
  }
  if (llabs(t1) > bound || !t1) return false;
  *num = t1 < 0 ? -r1 : r1;
  *den = llabs(t1);
  return true;
}

/* a0 + p0 k with k = (a1 - a0)/p0 modulo p1, then as above in 122 bits. */
bool ag_field_fraction_of_two(uint64_t a0, uint64_t a1, int64_t *num, int64_t *den) {
  const ag_field f0 = ag_field_at(0, 0), f1 = ag_field_at(1, 0);
  const __int128 bound = (__int128)1 << 58;
  uint64_t k = ratio(&f1, field_sub(&f1, a1, a0 % f1.p), f0.p % f1.p);
  __int128 r0 = (__int128)f0.p * f1.p, r1 = (__int128)a0 + (__int128)f0.p * k, t0 = 0, t1 = 1;
  while (r1 > bound) {
    __int128 q = r0 / r1, r = r0 - q * r1, t = t0 - q * t1;
    r0 = r1, r1 = r, t0 = t1, t1 = t;
  }
  if (!t1 || t1 > bound || t1 < -bound) return false;
  *num = (int64_t)(t1 < 0 ? -r1 : r1);
  *den = (int64_t)(t1 < 0 ? -t1 : t1);
  return true;
}

static bool whole_root(int64_t n, int64_t *root) {
  *root = (int64_t)llrint(sqrt((double)n));
  return n >= 0 && *root * *root == n;
}

/* A fraction of squares has its positive root; other roots get the sign of this point. */
bool ag_field_root(ag_field *f, uint64_t a, uint64_t *root) {
  int64_t num, den, n, d;
  if (ag_field_fraction(f, a, &num, &den) && whole_root(num, &n) && whole_root(den, &d)) {
    *root = ratio(f, ag_field_whole(f, n), ag_field_whole(f, d));
    return true;
  }
  uint64_t y = power(f, a, (f->p + 1) / 4);
  if (field_mul(f, y, y) != a) return false;
  int k = 0;
  while (k < f->n_root && f->squares[k] != a) k++;
  if (k == AG_FIELD_ROOTS) return false;
  if (k == f->n_root) f->squares[f->n_root++] = a;
  *root = f->signs >> k & 1 ? negated(f, y) : y;
  return true;
}

bool ag_field_hold(ag_field *f, uint64_t angle) {
  if (f->n_turn == AG_FIELD_TURNS) return false;
  f->turn[f->n_turn++] = angle;
  return true;
}

void ag_field_turn(ag_field *f, uint64_t half) { f->half[f->n_turn - 1] = half; }

int ag_field_pick(ag_field *f, int n) {
  int k = 0;
  for (int bit = 0; 1 << bit < n && f->n_root < AG_FIELD_ROOTS; bit++) {
    k |= (int)(f->signs >> f->n_root & 1) << bit;
    f->squares[f->n_root++] = UINT64_MAX; /* no number of the field */
    f->n_pick++;
  }
  return k < n ? k : -1;
}

/* The last sign that is 0 becomes 1, those behind it are forgotten. */
uint64_t ag_field_next_signs(uint64_t signs, int from, int n_root) {
  for (int k = n_root - 1; k >= from; k--)
    if (!(signs >> k & 1)) return (signs & (((uint64_t)1 << k) - 1)) | (uint64_t)1 << k;
  return 0;
}

/* ---- linear algebra ---- */

enum { WIDE = 256 /* columns of which a pivot takes more time than a look at the clock */ };

int ag_field_echelon(const ag_field *f, int n_row, int n_col, uint64_t *A, int *pivots) {
  int rank = 0;
  for (int j = 0; j < n_col && rank < n_row; j++) {
    int i = rank;
    while (i < n_row && !A[(size_t)i * (size_t)n_col + (size_t)j]) i++;
    if (i == n_row) continue;
    if (n_col > WIDE) ag_heap_tick();
    uint64_t *row = A + (size_t)rank * (size_t)n_col, *other = A + (size_t)i * (size_t)n_col;
    for (int k = j; k < n_col && i != rank; k++) {
      uint64_t x = row[k];
      row[k] = other[k], other[k] = x;
    }
    uint64_t inverse = ag_field_invert(f, row[j]);
    for (int k = j; k < n_col; k++) row[k] = field_mul(f, row[k], inverse);
    for (int l = 0; l < n_row; l++) {
      uint64_t *to = A + (size_t)l * (size_t)n_col, x = to[j];
      if (l == rank || !x) continue;
      for (int k = j; k < n_col; k++)
        if (row[k]) to[k] = field_sub(f, to[k], field_mul(f, x, row[k]));
    }
    if (pivots) pivots[rank] = j;
    rank++;
  }
  return rank;
}

/* Gauss-Jordan on [A | b]. */
bool ag_field_solve(const ag_field *f, int n, int m, uint64_t *A, uint64_t *b) {
  size_t width = (size_t)(n + m);
  uint64_t *all = ag_heap_alloc(sizeof *all * ((size_t)n * width + 1));
  int *pivots = ag_heap_alloc(sizeof *pivots * (size_t)(n + 1));
  for (size_t i = 0; i < (size_t)n; i++) {
    memcpy(all + i * width, A + i * (size_t)n, sizeof *A * (size_t)n);
    memcpy(all + i * width + (size_t)n, b + i * (size_t)m, sizeof *b * (size_t)m);
  }
  bool good = ag_field_echelon(f, n, n + m, all, pivots) == n && (!n || pivots[n - 1] == n - 1);
  for (size_t i = 0; i < (size_t)n; i++) memcpy(b + i * (size_t)m, all + i * width + (size_t)n, sizeof *b * (size_t)m);
  free(all);
  free(pivots);
  return good;
}
