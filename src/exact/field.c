/* SPDX-License-Identifier: MIT
 * Programs over the integers modulo p = 2^61 - c. The four operations are exact. A square root is a root modulo p (an
 * argument without one sends the reader to another point), with each sign in turn. sin, cos and exp take a sum of terms
 * to a product of points of the circle, or of numbers, one for each value of a term: f(x + y) follows from f(x) and
 * f(y), f(-x) from f(x). Any other function is a fixed random one of its argument, odd or even where op.def says so. So
 * what vanishes here vanishes for independent functions with these relations: it can miss a zero, never invent one. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "exact/exact_internal.h"

/* ---- arithmetic ---- */

static uint64_t mixed(uint64_t x) { /* splitmix64 */
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  x = (x ^ x >> 27) * 0x94d049bb133111ebu;
  return x ^ x >> 31;
}

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

uint64_t ag_field_add(const ag_field *f, uint64_t a, uint64_t b) { return a + b >= f->p ? a + b - f->p : a + b; }

static uint64_t negated(const ag_field *f, uint64_t a) { return a ? f->p - a : 0; }

uint64_t ag_field_sub(const ag_field *f, uint64_t a, uint64_t b) { return a >= b ? a - b : a + f->p - b; }

uint64_t ag_field_mul(const ag_field *f, uint64_t a, uint64_t b) {
  const uint64_t low = ((uint64_t)1 << 61) - 1;
  unsigned __int128 c = (unsigned __int128)a * b; /* 2^61 = below */
  c = (c & low) + (unsigned __int128)(uint64_t)(c >> 61) * f->below;
  uint64_t r = ((uint64_t)c & low) + (uint64_t)(c >> 61) * f->below;
  return r >= f->p ? r - f->p : r;
}

static uint64_t power(const ag_field *f, uint64_t a, uint64_t n) {
  uint64_t y = 1;
  for (; n; n >>= 1, a = ag_field_mul(f, a, a))
    if (n & 1) y = ag_field_mul(f, y, a);
  return y;
}

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

static uint64_t ratio(const ag_field *f, uint64_t a, uint64_t b) { return ag_field_mul(f, a, ag_field_invert(f, b)); }

uint64_t ag_field_number(const ag_field *f, double v) {
  ag_meant m = ag_number_meant(v);
  int e;
  if (!m.den) { /* the double itself */
    int64_t whole = (int64_t)ldexp(frexp(v, &e), 53);
    uint64_t two = power(f, 2, (uint64_t)abs(e - 53)), y = ag_field_whole(f, whole);
    return e < 53 ? ratio(f, y, two) : ag_field_mul(f, y, two);
  }
  uint64_t y = ag_field_whole(f, m.num), ten = power(f, 10, (uint64_t)abs(m.ten));
  if (m.den != 1) y = ratio(f, y, ag_field_whole(f, m.den));
  return m.ten < 0 ? ratio(f, y, ten) : m.ten > 0 ? ag_field_mul(f, y, ten) : y;
}

/* With the quaternion (1, x, y, z): R = 1 + 2 (hat v + hat v^2)/(1 + v.v). */
void ag_field_rotation(ag_field *f, uint64_t *R) {
  uint64_t v[3], square = 1;
  for (int i = 0; i < 3; i++) v[i] = ag_field_draw(f), square = ag_field_add(f, square, ag_field_mul(f, v[i], v[i]));
  uint64_t two = ratio(f, 2, square);
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) { /* hat v^2 = v v^T - v.v */
      uint64_t x = ag_field_mul(f, v[i], v[j]);
      if (i == j) x = ag_field_sub(f, x, ag_field_sub(f, square, 1));
      int k = 3 - i - j;
      if (i != j) x = (j - i + 3) % 3 == 1 ? ag_field_sub(f, x, v[k]) : ag_field_add(f, x, v[k]);
      R[3 * i + j] = ag_field_add(f, i == j, ag_field_mul(f, two, x));
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
  uint64_t k = ratio(&f1, ag_field_sub(&f1, a1, a0 % f1.p), f0.p % f1.p);
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
  if (ag_field_mul(f, y, y) != a) return false;
  int k = 0;
  while (k < f->n_root && f->squares[k] != a) k++;
  if (k == AG_FIELD_ROOTS) return false;
  if (k == f->n_root) f->squares[f->n_root++] = a;
  *root = f->signs >> k & 1 ? negated(f, y) : y;
  return true;
}

/* The last sign that is 0 becomes 1, those behind it are forgotten. */
uint64_t ag_field_next_signs(uint64_t signs, int from, int n_root) {
  for (int k = n_root - 1; k >= from; k--)
    if (!(signs >> k & 1)) return (signs & (((uint64_t)1 << k) - 1)) | (uint64_t)1 << k;
  return 0;
}

/* ---- linear algebra ---- */

int ag_field_echelon(const ag_field *f, int n_row, int n_col, uint64_t *A, int *pivots) {
  int rank = 0;
  for (int j = 0; j < n_col && rank < n_row; j++) {
    int i = rank;
    while (i < n_row && !A[(size_t)i * (size_t)n_col + (size_t)j]) i++;
    if (i == n_row) continue;
    uint64_t *row = A + (size_t)rank * (size_t)n_col, *other = A + (size_t)i * (size_t)n_col;
    for (int k = j; k < n_col && i != rank; k++) {
      uint64_t x = row[k];
      row[k] = other[k], other[k] = x;
    }
    uint64_t inverse = ag_field_invert(f, row[j]);
    for (int k = j; k < n_col; k++) row[k] = ag_field_mul(f, row[k], inverse);
    for (int l = 0; l < n_row; l++) {
      uint64_t *to = A + (size_t)l * (size_t)n_col, x = to[j];
      if (l == rank || !x) continue;
      for (int k = j; k < n_col; k++)
        if (row[k]) to[k] = ag_field_sub(f, to[k], ag_field_mul(f, x, row[k]));
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

/* ---- functions ---- */

typedef uint64_t T;
enum { QUARTERS = 8 };
typedef struct world {
  ag_field *f;
  ag_field_status status; /* the first thing that went wrong; after it no signs are used */
  bool quarters_made;
  T quarter[2][QUARTERS + 1];
} world;

/* A random number for each argument of a function. */
static T random_of(const world *w, int op, T a, T b) {
  return mixed(mixed(mixed(w->f->seed ^ (uint64_t)op) ^ a) ^ b) % w->f->p;
}

/* 0: none, 1: odd, 2: even */
static int parity_of(ag_op op) {
  enum { none, odd, even };
  static const uint8_t parity[] = {
#define AG_OP(NAME, text, arity, call, parity, ...) [AG_OP_##NAME] = parity,
#include "expr/op.def"
  };
  return op < (int)sizeof parity ? parity[op] : none;
}

static T symbol(const world *w, ag_op op, T a) {
  int parity = parity_of(op);
  bool turned = parity && a > w->f->p / 2;
  T y = random_of(w, (int)op, turned ? w->f->p - a : a, 0);
  if (parity == 1 && !a) return 0;
  return parity == 1 && turned ? negated(w->f, y) : y;
}

static void fail(world *w, ag_field_status status) {
  if (w->status == AG_FIELD_OK) w->status = status;
}

static T divided(world *w, T a, T b) {
  if (!b) fail(w, AG_FIELD_SINGULAR);
  return ratio(w->f, a, b);
}

static T root(world *w, T a) {
  T y = 0;
  if (w->status == AG_FIELD_OK && !ag_field_root(w->f, a, &y)) fail(w, AG_FIELD_RETRY);
  return y;
}

/* sign(a): of a fraction of small numbers its own, which is that of a difference of parameters; otherwise one of 1 and
 * -1, independent of all else. a^2 is a square, so it is the sign of a root of it. */
static T sign(world *w, T a) {
  const int64_t small = 1 << 20;
  int64_t num, den;
  if (!a || w->status != AG_FIELD_OK) return 0;
  if (ag_field_fraction(w->f, a, &num, &den) && llabs(num) < small && den < small)
    return num > 0 ? 1 : negated(w->f, 1);
  T y = random_of(w, AG_OP_SIGN, ag_field_mul(w->f, a, a), 0) | 1;
  int before = w->f->n_root;
  T mark = ag_field_mul(w->f, y, y), s = root(w, mark); /* s = y or -y, with the sign of this point */
  w->f->n_choice += w->f->n_root - before;
  bool same = s == y, turned = a > w->f->p / 2;
  return same != turned ? 1 : negated(w->f, 1);
}

/* a < b: equality holds on no open set. */
static bool less(world *w, T a, T b) { return a != b && sign(w, ag_field_sub(w->f, a, b)) != 1; }

/* (cos, sin) of a sum of terms. */
typedef struct circle {
  T c, s;
} circle;

static circle turned(const ag_field *f, circle a, circle b) {
  return (circle){ag_field_sub(f, ag_field_mul(f, a.c, b.c), ag_field_mul(f, a.s, b.s)),
                  ag_field_add(f, ag_field_mul(f, a.s, b.c), ag_field_mul(f, a.c, b.s))};
}

/* x^n */
static circle multiplied(const ag_field *f, circle x, int n) {
  circle y = {1, 0};
  if (n < 0) x.s = negated(f, x.s);
  for (unsigned k = (unsigned)abs(n); k; k >>= 1, x = turned(f, x, x))
    if (k & 1) y = turned(f, y, x);
  return y;
}

/* What stands for k pi/2, k from 1 to 8: by the number pi, and by the number itself. */
static void make_quarters(world *w) {
  const double quarter = 1.57079632679489661923;
  const ag_field *f = w->f;
  T half_pi = ag_field_mul(f, ag_field_number(f, 2 * quarter), (f->p + 1) / 2);
  for (int k = 1; k <= QUARTERS; k++) {
    w->quarter[0][k] = ag_field_mul(f, half_pi, ag_field_whole(f, k));
    w->quarter[1][k] = ag_field_number(f, k * quarter);
  }
  w->quarters_made = true;
}

/* Is a what stands for k pi/2, k from -8 to 8? The quarter turns of twelfths/12 of it, else -1. */
static int quarters(world *w, T a, int twelfths) {
  T minus = negated(w->f, a);
  if (!w->quarters_made) make_quarters(w);
  for (int k = 1; k <= QUARTERS; k++) {
    bool plus = a == w->quarter[0][k] || a == w->quarter[1][k];
    if (!plus && minus != w->quarter[0][k] && minus != w->quarter[1][k]) continue;
    int n = twelfths * (plus ? k : -k);
    return n % 12 ? -1 : (n / 12 % 4 + 4) % 4;
  }
  return -1;
}

/* The point of twelfths/12 times the angle a: the power of a point that stands for a/12. */
static circle point(world *w, T a, int twelfths, bool constant) {
  static const int cosine[] = {1, 0, -1, 0}, sine[] = {0, 1, 0, -1};
  const ag_field *f = w->f;
  if (!a) return (circle){1, 0};
  int quarter = constant ? quarters(w, a, twelfths) : -1;
  if (quarter >= 0) return (circle){ag_field_whole(f, cosine[quarter]), ag_field_whole(f, sine[quarter])};
  T h = symbol(w, AG_OP_TAN, a), hh = ag_field_mul(f, h, h), below = ag_field_invert(f, ag_field_add(f, 1, hh));
  circle x = {ag_field_mul(f, ag_field_sub(f, 1, hh), below), ag_field_mul(f, ag_field_add(f, h, h), below)};
  return multiplied(f, x, twelfths);
}

/* The point of an angle that is itself an inverse function, such as acos(a): (a, sqrt(1 - a^2)). */
static bool inverse(world *w, const ag_program *p, const ag_step *x, const T *v, circle *y) {
  const ag_field *f = w->f;
  if (x->is_number || (x->op != AG_OP_ASIN && x->op != AG_OP_ACOS && x->op != AG_OP_ATAN && x->op != AG_OP_ATAN2))
    return false;
  T a = v[p->steps[p->args[x->first]].at], b = x->n_arg > 1 ? v[p->steps[p->args[x->first + 1]].at] : 1;
  if (x->op == AG_OP_ATAN || x->op == AG_OP_ATAN2) {
    T r = root(w, ag_field_add(f, ag_field_mul(f, a, a), ag_field_mul(f, b, b)));
    *y = (circle){divided(w, b, r), divided(w, a, r)};
    return true;
  }
  T other = root(w, ag_field_sub(f, 1, ag_field_mul(f, a, a)));
  *y = x->op == AG_OP_ACOS ? (circle){a, other} : (circle){other, a};
  return true;
}

static circle angle(world *w, const ag_program *p, const ag_step *s, const T *v) {
  circle y = {1, 0}, known;
  for (int k = 0; k < s->n_term; k++) {
    const ag_term *t = &p->terms[s->term + k];
    const ag_step *x = &p->steps[t->step];
    bool constant = x->is_number || x->op == AG_OP_INPUT || x->op == AG_OP_ENTRY;
    if (t->twelfths % 12 == 0 && inverse(w, p, x, v, &known))
      y = turned(w->f, y, multiplied(w->f, known, t->twelfths / 12));
    else y = turned(w->f, y, point(w, v[x->at], t->twelfths, constant));
  }
  return y;
}

static T exponential(world *w, const ag_program *p, const ag_step *s, const T *v) {
  T y = 1;
  for (int k = 0; k < s->n_term; k++) {
    const ag_term *t = &p->terms[s->term + k];
    const ag_step *x = &p->steps[t->step];
    T a = v[x->at], e;
    if (!a) continue;
    bool logarithm = x->op == AG_OP_LOG && !x->is_number && t->twelfths % 12 == 0; /* exp(log(a)) = a */
    bool minus = (!logarithm && a > w->f->p / 2) != (t->twelfths < 0);
    if (logarithm) e = power(w->f, v[p->steps[p->args[x->first]].at], (uint64_t)abs(t->twelfths / 12));
    else e = power(w->f, random_of(w, AG_OP_EXP, a > w->f->p / 2 ? w->f->p - a : a, 0), (uint64_t)abs(t->twelfths));
    y = ag_field_mul(w->f, y, minus ? divided(w, 1, e) : e);
  }
  return y;
}

/* a^b for a number b: the whole part as a product, a half as a root, the rest as a random function. */
static T raised(world *w, T a, T b) {
  int64_t num, den;
  if (!ag_field_fraction(w->f, b, &num, &den)) return random_of(w, AG_OP_POW, a, b);
  int64_t whole = num / den - (num % den < 0), rest = num - whole * den;
  if (llabs(whole) > 1000) return random_of(w, AG_OP_POW, a, b);
  T y = power(w->f, a, (uint64_t)llabs(whole));
  if (whole < 0) y = divided(w, 1, y);
  if (!rest) return y;
  T part = den == 2 ? root(w, a)
                    : random_of(w, AG_OP_POW, a, ratio(w->f, ag_field_whole(w->f, rest), ag_field_whole(w->f, den)));
  return ag_field_mul(w->f, y, part);
}

/* (cosh, sinh) */
static circle hyperbolic(world *w, const ag_program *p, const ag_step *s, const T *v) {
  const ag_field *f = w->f;
  T half = (f->p + 1) / 2, e = exponential(w, p, s, v), below = ag_field_invert(f, e);
  return (circle){ag_field_mul(f, half, ag_field_add(f, e, below)), ag_field_mul(f, half, ag_field_sub(f, e, below))};
}

static T slope(world *w, circle x) { return divided(w, x.s, x.c); }

static T logarithm(const world *w, T a) { return a == 1 ? 0 : symbol(w, AG_OP_LOG, a); }

/* What cannot be read. */
static T opaque(world *w) {
  w->status = AG_FIELD_OPAQUE;
  return 0;
}

/* One function per row of op.def: a, b, c are the arguments. */
#define AG_OP(NAME, text, arity, call, parity, value, plain, tex, derivative, lo, hi, ulp, weight, traits, field, ...) \
  static T f_##NAME(world *w, const ag_program *p, const ag_step *s, const T *v, T a, T b, T c) { \
    const ag_field *f = w->f; \
    (void)f, (void)p, (void)s, (void)v, (void)a, (void)b, (void)c; \
    return field; \
  }
#include "expr/op.def"

static void t_scalar(world *w, const ag_program *p, const ag_step *s, T *r, const T *a, const T *b, const T *c,
                     const T *v) {
  switch (s->op) {
#define AG_OP(NAME, ...) \
  case AG_OP_##NAME: \
    *r = f_##NAME(w, p, s, v, *a, *b, *c); \
    break;
#include "expr/op.def"
  default: w->status = AG_FIELD_OPAQUE; /* SLOT, SPARSE */
  }
}

static void t_start(const world *w, T *x) {
  (void)w;
  *x = 0;
}
static void t_end(const world *w, T *x) { (void)w, (void)x; }
static T *t_block(const world *w, int n) {
  (void)w;
  return ag_heap_alloc(sizeof(T) * (size_t)(n + 1));
}
static void t_unblock(const world *w, T *x, int n) {
  (void)w, (void)n;
  free(x);
}
static void t_set(const world *w, T *r, const T *a) {
  (void)w;
  *r = *a;
}
static void t_whole(const world *w, T *r, int n) { *r = ag_field_whole(w->f, n); }
static void t_add(const world *w, T *r, const T *a, const T *b) { *r = ag_field_add(w->f, *a, *b); }
static void t_sub(const world *w, T *r, const T *a, const T *b) { *r = ag_field_sub(w->f, *a, *b); }
static void t_mul(const world *w, T *r, const T *a, const T *b) { *r = ag_field_mul(w->f, *a, *b); }
static void t_neg(const world *w, T *r, const T *a) { *r = negated(w->f, *a); }
static void t_number(const world *w, T *r, double v) { *r = ag_field_number(w->f, v); }
static void t_norm(world *w, int n, const T *x, T *r) {
  T square = 0;
  for (int i = 0; i < n; i++) square = ag_field_add(w->f, square, ag_field_mul(w->f, x[i], x[i]));
  *r = root(w, square);
}
static void t_solve(world *w, int n, int m, T *A, T *b) {
  if (!ag_field_solve(w->f, n, m, A, b)) fail(w, AG_FIELD_SINGULAR);
}
/* By elimination: the product of the pivots and of the signs of the exchanges. */
static void t_det(const world *w, int n, T *A, T *r) {
  const ag_field *f = w->f;
  *r = 1;
  for (int k = 0; k < n; k++) {
    int i = k;
    while (i < n && !A[i * n + k]) i++;
    if (i == n) {
      *r = 0;
      return;
    }
    for (int j = 0; j < n && i != k; j++) {
      T x = A[i * n + j];
      A[i * n + j] = A[k * n + j], A[k * n + j] = x;
    }
    if (i != k) *r = negated(f, *r);
    *r = ag_field_mul(f, *r, A[k * n + k]);
    T inverse = ag_field_invert(f, A[k * n + k]);
    for (i = k + 1; i < n; i++) {
      T x = ag_field_mul(f, A[i * n + k], inverse);
      for (int j = k; j < n; j++) A[i * n + j] = ag_field_sub(f, A[i * n + j], ag_field_mul(f, x, A[k * n + j]));
    }
  }
}

#include "exact/reader_core.h"

ag_field_status ag_field_eval(const ag_program *p, ag_field *f, const uint64_t *in, uint64_t *out) {
  if (p->opaque) return AG_FIELD_OPAQUE;
  world w = {.f = f};
  T *v = ag_heap_alloc(sizeof *v * (size_t)(p->n_value + 1));
  t_run(&w, p, in, v, out);
  free(v);
  return w.status;
}
