/* SPDX-License-Identifier: MIT
 * Programs over the integers modulo p = 2^61 - c. The four operations are exact. A square root is a root modulo p (an
 * argument without one sends the reader to another point), with each sign in turn. sin, cos and exp take a sum of terms
 * to a product of points of the circle, or of numbers, one for each value of a term: f(x + y) follows from f(x) and
 * f(y), f(-x) from f(x). Any other function is a fixed random one of its argument, odd or even where op.def says so. So
 * what vanishes here vanishes for independent functions with these relations: it can miss a zero, never invent one. */
#include <stdlib.h>
#include <string.h>

#include "exact/field_core.h"

/* ---- functions ---- */

typedef uint64_t T;
typedef struct world {
  ag_field *f;
  ag_field_status status; /* the first thing that went wrong; after it no signs are used */
  int prime;
  const ag_quarters *quarters;
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
  T y = random_of(w, AG_OP_SIGN, field_mul(w->f, a, a), 0) | 1;
  int before = w->f->n_root;
  T mark = field_mul(w->f, y, y), s = root(w, mark); /* s = y or -y, with the sign of this point */
  w->f->n_choice += w->f->n_root - before;
  bool same = s == y, turned = a > w->f->p / 2;
  return same != turned ? 1 : negated(w->f, 1);
}

/* a < b: equality holds on no open set. */
static bool less(world *w, T a, T b) { return a != b && sign(w, field_sub(w->f, a, b)) != 1; }

/* (cos, sin) of a sum of terms. */
typedef struct circle {
  T c, s;
} circle;

static circle turned(const ag_field *f, circle a, circle b) {
  return (circle){field_sub(f, field_mul(f, a.c, b.c), field_mul(f, a.s, b.s)),
                  field_add(f, field_mul(f, a.s, b.c), field_mul(f, a.c, b.s))};
}

/* x^n */
static circle multiplied(const ag_field *f, circle x, int n) {
  circle y = {1, 0};
  if (n < 0) x.s = negated(f, x.s);
  for (unsigned k = (unsigned)abs(n); k; k >>= 1, x = turned(f, x, x))
    if (k & 1) y = turned(f, y, x);
  return y;
}

void ag_quarters_make(int prime, ag_quarters *q) {
  const double quarter = 1.57079632679489661923;
  const ag_field f = ag_field_at(prime, 0);
  T half_pi = field_mul(&f, ag_field_number(&f, 2 * quarter), (f.p + 1) / 2);
  for (int k = 1; k <= AG_QUARTERS; k++) {
    q->at[0][k] = field_mul(&f, half_pi, ag_field_whole(&f, k));
    q->at[1][k] = ag_field_number(&f, k * quarter);
  }
}

/* Does a stand for k pi/2, k from -8 to 8? Then the quarter turns of twelfths/12 of it, else -1. */
static int quarters(const world *w, T a, int twelfths) {
  const ag_quarters *q = w->quarters;
  T minus = negated(w->f, a);
  for (int k = 1; k <= AG_QUARTERS; k++) {
    bool plus = a == q->at[0][k] || a == q->at[1][k];
    if (!plus && minus != q->at[0][k] && minus != q->at[1][k]) continue;
    int n = twelfths * (plus ? k : -k);
    return n % 12 ? -1 : (n / 12 % 4 + 4) % 4;
  }
  return -1;
}

/* Half-angle tangent h. */
static circle by_half(const ag_field *f, T h) {
  T hh = field_mul(f, h, h), below = ag_field_invert(f, field_add(f, 1, hh));
  return (circle){field_mul(f, field_sub(f, 1, hh), below), field_mul(f, field_add(f, h, h), below)};
}

/* Is the point of the angle a given? */
static bool given(world *w, T a, int twelfths, circle *y) {
  const ag_field *f = w->f;
  for (int k = 0; k < f->n_turn; k++) {
    bool minus = a == negated(f, f->turn[k]);
    if (a != f->turn[k] && !minus) continue;
    if (twelfths % 12) w->status = AG_FIELD_OPAQUE;
    *y = multiplied(f, by_half(f, f->half[k]), (minus ? -twelfths : twelfths) / 12);
    return true;
  }
  return false;
}

/* The point of twelfths/12 times the angle a: the power of a point that stands for a/12. */
static circle point(world *w, T a, int twelfths, bool constant) {
  static const int cosine[] = {1, 0, -1, 0}, sine[] = {0, 1, 0, -1};
  const ag_field *f = w->f;
  circle known;
  if (!a) return (circle){1, 0};
  if (f->n_turn && given(w, a, twelfths, &known)) return known;
  int quarter = constant ? quarters(w, a, twelfths) : -1;
  if (quarter >= 0) return (circle){ag_field_whole(f, cosine[quarter]), ag_field_whole(f, sine[quarter])};
  return multiplied(f, by_half(f, symbol(w, AG_OP_TAN, a)), twelfths);
}

/* The point of an angle that is itself an inverse function, such as acos(a): (a, sqrt(1 - a^2)). */
static bool inverse(world *w, const ag_program *p, const ag_step *x, const T *v, circle *y) {
  const ag_field *f = w->f;
  if (x->is_number || (x->op != AG_OP_ASIN && x->op != AG_OP_ACOS && x->op != AG_OP_ATAN && x->op != AG_OP_ATAN2))
    return false;
  T a = v[p->steps[p->args[x->first]].at], b = x->n_arg > 1 ? v[p->steps[p->args[x->first + 1]].at] : 1;
  if (x->op == AG_OP_ATAN || x->op == AG_OP_ATAN2) {
    T r = root(w, field_add(f, field_mul(f, a, a), field_mul(f, b, b)));
    *y = (circle){divided(w, b, r), divided(w, a, r)};
    return true;
  }
  T other = root(w, field_sub(f, 1, field_mul(f, a, a)));
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
    y = field_mul(w->f, y, minus ? divided(w, 1, e) : e);
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
  return field_mul(w->f, y, part);
}

/* (cosh, sinh) */
static circle hyperbolic(world *w, const ag_program *p, const ag_step *s, const T *v) {
  const ag_field *f = w->f;
  T half = (f->p + 1) / 2, e = exponential(w, p, s, v), below = ag_field_invert(f, e);
  return (circle){field_mul(f, half, field_add(f, e, below)), field_mul(f, half, field_sub(f, e, below))};
}

static T slope(world *w, circle x) { return divided(w, x.s, x.c); }

static T logarithm(const world *w, T a) { return a == 1 ? 0 : symbol(w, AG_OP_LOG, a); }

/* Operations that cannot be evaluated. */
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
static void t_add(const world *w, T *r, const T *a, const T *b) { *r = field_add(w->f, *a, *b); }
static void t_sub(const world *w, T *r, const T *a, const T *b) { *r = field_sub(w->f, *a, *b); }
static void t_mul(const world *w, T *r, const T *a, const T *b) { *r = field_mul(w->f, *a, *b); }
static void t_neg(const world *w, T *r, const T *a) { *r = negated(w->f, *a); }
static void t_number(const world *w, T *r, const ag_step *s) { *r = s->residue[w->prime]; }
static void t_norm(world *w, int n, const T *x, T *r) {
  T square = 0;
  for (int i = 0; i < n; i++) square = field_add(w->f, square, field_mul(w->f, x[i], x[i]));
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
    *r = field_mul(f, *r, A[k * n + k]);
    T inverse = ag_field_invert(f, A[k * n + k]);
    for (i = k + 1; i < n; i++) {
      T x = field_mul(f, A[i * n + k], inverse);
      for (int j = k; j < n; j++) A[i * n + j] = field_sub(f, A[i * n + j], field_mul(f, x, A[k * n + j]));
    }
  }
}

#include "exact/reader_core.h"

enum { LONG = 4096 /* values of a program that takes more time than a look at the clock */ };

ag_field_status ag_field_eval(const ag_program *p, ag_field *f, const uint64_t *in, uint64_t *out) {
  if (p->opaque) return AG_FIELD_OPAQUE;
  if (p->n_value > LONG) ag_heap_tick();
  world w = {.f = f, .prime = f->below != ag_field_at(0, 0).below};
  w.quarters = &p->quarters[w.prime];
  T *v = ag_heap_alloc(sizeof *v * (size_t)(p->n_value + 1));
  t_run(&w, p, in, v, out);
  free(v);
  return w.status;
}
