/* SPDX-License-Identifier: MIT
 * Polynomials: sums and products by merging sorted terms, exact division by leading terms. */
#include "expr/poly.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_EXPONENT = 60, MAX_PRODUCT = 20000 };
static const int64_t MAX_NUMBER = (int64_t)1 << 53; /* a double holds every whole number up to here */
static const int64_t MAX_WRITTEN = 60;              /* denominators of fractions, not of measured numbers */

static const ag_poly lost = {-1, NULL};

/* ---- coefficients ---- */

static int64_t gcd(int64_t a, int64_t b) {
  a = a < 0 ? -a : a;
  b = b < 0 ? -b : b;
  while (b) {
    int64_t r = a % b;
    a = b;
    b = r;
  }
  return a;
}

static bool set_ratio(ag_term *t, __int128 num, __int128 den) {
  __int128 a = num < 0 ? -num : num, b = den;
  while (b) {
    __int128 r = a % b;
    a = b;
    b = r;
  }
  if (a > 1) num /= a, den /= a;
  if (num > MAX_NUMBER || num < -MAX_NUMBER || den > MAX_NUMBER) return false;
  t->num = (int64_t)num;
  t->den = (int64_t)den;
  return true;
}

static bool add_ratio(ag_term *t, const ag_term *u) {
  return set_ratio(t, (__int128)t->num * u->den + (__int128)u->num * t->den, (__int128)t->den * u->den);
}

/* *r = t*u */
static bool times(const ag_term *t, const ag_term *u, ag_term *r) {
  for (int k = 0; k < AG_POLY_ATOMS; k++) {
    int e = t->e[k] + u->e[k];
    if (abs(e) > MAX_EXPONENT) return false;
    r->e[k] = (int8_t)e;
  }
  return set_ratio(r, (__int128)t->num * u->num, (__int128)t->den * u->den);
}

static int compare(const ag_term *t, const ag_term *u) {
  for (int k = 0; k < AG_POLY_ATOMS; k++)
    if (t->e[k] != u->e[k]) return t->e[k] > u->e[k] ? -1 : 1;
  return 0;
}

static int compare_terms(const void *t, const void *u) { return compare(t, u); }

ag_term ag_term_inverse(const ag_term *t) {
  ag_term r = {.num = t->num < 0 ? -t->den : t->den, .den = t->num < 0 ? -t->num : t->num};
  for (int k = 0; k < AG_POLY_ATOMS; k++) r.e[k] = (int8_t)-t->e[k];
  return r;
}

bool ag_term_is_one(const ag_term *t) {
  for (int k = 0; k < AG_POLY_ATOMS; k++)
    if (t->e[k]) return false;
  return t->num == 1 && t->den == 1;
}

bool ag_poly_rational(double v, int64_t largest, int64_t *num, int64_t *den) {
  double x = fabs(v);
  int64_t p0 = 1, q0 = 0, p1, q1 = 1;
  if (!(x < 1e9)) return false;
  p1 = (int64_t)floor(x);
  for (int k = 0; k < 30; k++) {
    if ((double)p1 / (double)q1 == fabs(v)) {
      *num = v < 0 ? -p1 : p1;
      *den = q1;
      return true;
    }
    double f = x - floor(x);
    if (f < 1e-12) return false;
    x = 1 / f;
    if (x > 1e9) return false;
    int64_t n = (int64_t)floor(x), p = n * p1 + p0, q = n * q1 + q0;
    if (q > largest || p > MAX_NUMBER) return false;
    p0 = p1, q0 = q1, p1 = p, q1 = q;
  }
  return false;
}

/* ---- polynomials ---- */

/* Sorts n terms and joins equal ones, in place. */
static ag_poly collect(int n, ag_term *t) {
  int m = 0;
  qsort(t, (size_t)n, sizeof *t, compare_terms);
  for (int i = 0; i < n; i++) {
    if (m && !compare(&t[m - 1], &t[i])) {
      if (!add_ratio(&t[m - 1], &t[i])) return lost;
    } else {
      if (m && !t[m - 1].num) m--;
      if (m != i) t[m] = t[i];
      m++;
    }
  }
  if (m && !t[m - 1].num) m--;
  return m > AG_POLY_TERMS ? lost : (ag_poly){m, t};
}

ag_poly ag_poly_term(ag_arena *a, const ag_term *t) {
  ag_term *copy = AG_NEW(a, ag_term);
  *copy = *t;
  return (ag_poly){t->num != 0, copy};
}

ag_poly ag_poly_number(ag_arena *a, int64_t num, int64_t den) {
  ag_term t = {.num = 0};
  return set_ratio(&t, num, den) ? ag_poly_term(a, &t) : lost;
}

ag_poly ag_poly_atom(ag_arena *a, int k, int exponent) {
  ag_term t = {.num = 1, .den = 1};
  t.e[k] = (int8_t)exponent;
  return ag_poly_term(a, &t);
}

static ag_poly sum(ag_arena *a, ag_poly p, ag_poly q, int sign) {
  if (p.n < 0 || q.n < 0 || p.n + q.n > 2 * AG_POLY_TERMS) return lost;
  ag_term *t = AG_NEWN(a, ag_term, p.n + q.n + 1);
  if (p.n) memcpy(t, p.t, sizeof *t * (size_t)p.n);
  for (int i = 0; i < q.n; i++) {
    t[p.n + i] = q.t[i];
    t[p.n + i].num *= sign;
  }
  return collect(p.n + q.n, t);
}

ag_poly ag_poly_add(ag_arena *a, ag_poly p, ag_poly q) { return sum(a, p, q, 1); }
ag_poly ag_poly_sub(ag_arena *a, ag_poly p, ag_poly q) { return sum(a, p, q, -1); }

ag_poly ag_poly_mul(ag_arena *a, ag_poly p, ag_poly q) {
  if (p.n < 0 || q.n < 0 || p.n * q.n > MAX_PRODUCT) return lost;
  ag_term *t = ag_heap_alloc(sizeof *t * (size_t)(p.n * q.n + 1));
  ag_poly r = {p.n * q.n, t};
  for (int i = 0; i < p.n && r.n >= 0; i++)
    for (int j = 0; j < q.n && r.n >= 0; j++)
      if (!times(&p.t[i], &q.t[j], &t[i * q.n + j])) r = lost;
  if (r.n > 0) r = collect(r.n, t);
  if (r.n > 0) {
    r.t = AG_NEWN(a, ag_term, r.n);
    memcpy(r.t, t, sizeof *t * (size_t)r.n);
  }
  free(t);
  return r;
}

ag_poly ag_poly_power(ag_arena *a, ag_poly p, int n) {
  ag_poly r = ag_poly_number(a, 1, 1);
  for (; n > 0; n--) r = ag_poly_mul(a, r, p);
  return r;
}

bool ag_poly_same(ag_poly p, ag_poly q) {
  if (p.n != q.n || p.n < 0) return false;
  for (int i = 0; i < p.n; i++)
    if (p.t[i].num != q.t[i].num || p.t[i].den != q.t[i].den || compare(&p.t[i], &q.t[i])) return false;
  return true;
}

bool ag_poly_divide(ag_arena *a, ag_poly p, ag_poly q, ag_poly *r) {
  if (p.n < 1 || q.n < 1) return false;
  ag_term low = ag_poly_content(p, true), up = ag_term_inverse(&q.t[0]), t;
  low.num = low.den = 1;
  *r = (ag_poly){0, NULL};
  for (int round = 0; p.n > 0; round++) {
    if (round > AG_POLY_TERMS || !times(&p.t[0], &up, &t)) return false;
    for (int k = 0; k < AG_POLY_ATOMS; k++)
      if (t.e[k] < low.e[k]) return false;
    ag_poly step = ag_poly_term(a, &t);
    *r = ag_poly_add(a, *r, step);
    p = ag_poly_sub(a, p, ag_poly_mul(a, step, q));
  }
  return p.n == 0 && r->n > 0;
}

ag_term ag_poly_content(ag_poly p, bool least) {
  ag_term c = p.t[0];
  int64_t num = 0, den = 1;
  int negative = 0;
  bool measured = false; /* 9.81 and the like, which nobody writes as 981/100 */
  for (int i = 0; i < p.n; i++) measured = measured || p.t[i].den > MAX_WRITTEN;
  for (int i = 0; i < p.n; i++) {
    negative += p.t[i].num < 0;
    num = gcd(num, p.t[i].num);
    int64_t more = p.t[i].den / gcd(den, p.t[i].den);
    if (den > MAX_NUMBER / more) more = 1; /* leaves a fraction inside */
    den *= more;
    for (int k = 0; k < AG_POLY_ATOMS; k++) {
      const int8_t a = c.e[k], b = p.t[i].e[k];
      if (least) c.e[k] = (int8_t)(a < b ? a : b);
      else c.e[k] = (int8_t)(a > 0 && b > 0 ? (a < b ? a : b) : a < 0 && b < 0 ? (a > b ? a : b) : 0);
    }
  }
  if (measured && p.n > 1) num = den = 1;
  int64_t g = gcd(num, den);
  bool turned = 2 * negative > p.n || (2 * negative == p.n && p.t[0].num < 0);
  c.num = (turned ? -num : num) / g;
  c.den = den / g;
  return c;
}
