/* SPDX-License-Identifier: MIT
 * Programs in ball arithmetic, by FLINT (arb_t): every value is a midpoint and a radius that enclose it. */
#include <stdlib.h>
#if __has_include(<flint/arb.h>)
#include <flint/arb.h>
#include <flint/arb_mat.h>
#else
#include <arb.h>
#include <arb_mat.h>
#endif

#include "exact/exact_internal.h"

struct ag_balls {
  int n;
  arb_struct at[];
};

ag_balls *ag_balls_create(int n) {
  ag_balls *b = ag_heap_alloc(sizeof *b + sizeof(arb_struct) * (size_t)(n + 1));
  b->n = n;
  for (int i = 0; i < n; i++) arb_init(b->at + i);
  return b;
}

void ag_balls_free(ag_balls *b) {
  if (!b) return;
  for (int i = 0; i < b->n; i++) arb_clear(b->at + i);
  free(b);
}

void ag_balls_cleanup(void) { flint_cleanup(); }

/* num/den * 10^ten */
static void set_fraction(arb_t r, int64_t num, int64_t den, int ten) {
  fmpq_t x;
  fmpz_t power, below;
  fmpq_init(x);
  fmpz_init(power);
  fmpz_init(below);
  fmpz_set_si(below, (slong)den);
  fmpz_set_si(fmpq_numref(x), (slong)num);
  fmpz_ui_pow_ui(power, 10, (ulong)labs((long)ten));
  if (ten < 0) fmpz_mul(below, below, power);
  else fmpz_mul(fmpq_numref(x), fmpq_numref(x), power);
  fmpz_set(fmpq_denref(x), below);
  fmpq_canonicalise(x);
  arb_set_fmpq(r, x, AG_BALL_BITS);
  fmpq_clear(x);
  fmpz_clear(power);
  fmpz_clear(below);
}

static void set_number(arb_t r, double v) {
  ag_meant m = ag_number_meant(v);
  if (m.sure) {
    set_fraction(r, m.num, m.den, m.ten);
    return;
  }
  arb_set_d(r, v);
  mag_t radius;
  mag_init(radius);
  mag_set_d(radius, v < 0 ? -v : v);
  mag_mul_2exp_si(radius, radius, -51); /* 2 ulp at most */
  arb_add_error_mag(r, radius);
  mag_clear(radius);
}

void ag_balls_number(ag_balls *b, int i, double v) { set_number(b->at + i, v); }
void ag_balls_fraction(ag_balls *b, int i, long num, long den) { set_fraction(b->at + i, num, den, 0); }
void ag_balls_copy(ag_balls *to, int i, const ag_balls *from, int j, int n) {
  for (int k = 0; k < n; k++) arb_set(to->at + i + k, from->at + j + k);
}
double ag_balls_middle(const ag_balls *b, int i) { return arf_get_d(arb_midref(b->at + i), ARF_RND_NEAR); }
bool ag_balls_nonzero(const ag_balls *b, int i) { return arb_is_finite(b->at + i) && !arb_contains_zero(b->at + i); }
void ag_balls_fma(ag_balls *to, int i, const ag_balls *a, int j, const ag_balls *b, int k) {
  arb_addmul(to->at + i, a->at + j, b->at + k, AG_BALL_BITS);
}
void ag_balls_negate(ag_balls *b, int i) { arb_neg(b->at + i, b->at + i); }

void ag_balls_bounds(const ag_balls *b, int i, double *lo, double *hi) {
  arf_t x;
  arf_init(x);
  arb_get_lbound_arf(x, b->at + i, AG_BALL_BITS);
  *lo = arb_is_finite(b->at + i) ? arf_get_d(x, ARF_RND_FLOOR) : __builtin_nan("");
  arb_get_ubound_arf(x, b->at + i, AG_BALL_BITS);
  *hi = arb_is_finite(b->at + i) ? arf_get_d(x, ARF_RND_CEIL) : __builtin_nan("");
  arf_clear(x);
}

/* R = 1 + 2 (w hat v + hat v^2)/|q|^2 */
void ag_balls_rotation(ag_balls *b, int i, const long q[4]) {
  const long *v = q + 1, square = q[0] * q[0] + v[0] * v[0] + v[1] * v[1] + v[2] * v[2];
  for (int r = 0; r < 3; r++)
    for (int c = 0; c < 3; c++) {
      long x = 2 * v[r] * v[c];
      if (r == c) x += q[0] * q[0] - v[0] * v[0] - v[1] * v[1] - v[2] * v[2];
      else x += ((c - r + 3) % 3 == 1 ? -2 : 2) * q[0] * v[3 - r - c];
      ag_balls_fraction(b, i + 3 * r + c, x, square);
    }
}

/* ---- the reader ---- */

typedef arb_struct T;
typedef struct world {
  bool lost;
} world;

static void t_start(T *x) { arb_init(x); }
static void t_end(T *x) { arb_clear(x); }
static T *t_block(int n) { return _arb_vec_init(n + 1); }
static void t_unblock(T *x, int n) { _arb_vec_clear(x, n + 1); }
static void t_set(T *r, const T *a) { arb_set(r, a); }
static void t_whole(const world *w, T *r, int n) {
  (void)w;
  arb_set_si(r, n);
}
#define BALL_PAIR(NAME) \
  static void t_##NAME(const world *w, T *r, const T *a, const T *b) { \
    (void)w; \
    arb_##NAME(r, a, b, AG_BALL_BITS); \
  }
BALL_PAIR(add)
BALL_PAIR(sub)
BALL_PAIR(mul)
static void t_neg(const world *w, T *r, const T *a) {
  (void)w;
  arb_neg(r, a);
}
static void t_number(const world *w, T *r, double v) {
  (void)w;
  set_number(r, v);
}
static void t_norm(const world *w, int n, const T *x, T *r) {
  (void)w;
  arb_t square;
  arb_init(square);
  for (int i = 0; i < n; i++) {
    arb_t term;
    arb_init(term);
    arb_sqr(term, x + i, AG_BALL_BITS);
    arb_add(square, square, term, AG_BALL_BITS);
    arb_clear(term);
  }
  arb_sqrt(r, square, AG_BALL_BITS);
  arb_clear(square);
}

static bool solved(int n, int m, const T *A, T *b) {
  arb_mat_t a, x;
  arb_mat_init(a, n, n);
  arb_mat_init(x, n, m);
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++) arb_set(arb_mat_entry(a, i, j), A + i * n + j);
    for (int j = 0; j < m; j++) arb_set(arb_mat_entry(x, i, j), b + i * m + j);
  }
  bool good = arb_mat_solve(x, a, x, AG_BALL_BITS);
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m && good; j++) arb_set(b + i * m + j, arb_mat_entry(x, i, j));
  arb_mat_clear(a);
  arb_mat_clear(x);
  return good;
}
static void t_solve(world *w, int n, int m, const T *A, T *b) {
  if (!solved(n, m, A, b)) w->lost = true;
}
bool ag_balls_solve(int n, int m, const ag_balls *A, ag_balls *b) { return solved(n, m, A->at, b->at); }
static void t_det(const world *w, int n, const T *A, T *r) {
  (void)w;
  arb_mat_t a;
  arb_mat_init(a, n, n);
  for (int i = 0; i < n * n; i++) arb_set(arb_mat_entry(a, i / n, i % n), A + i);
  arb_mat_det(r, a, AG_BALL_BITS);
  arb_mat_clear(a);
}

/* 1, 0, or no value when it may be either. */
static void truth(world *w, T *r, bool yes, bool no) {
  if (!yes && !no) w->lost = true;
  arb_set_si(r, yes);
}
static bool is_true(const T *a) { return !arb_contains_zero(a); }
static bool same(const T *a, const T *b) { return arb_is_exact(a) && arb_is_exact(b) && arb_equal(a, b); }

/* One function per row of op.def. */
#define BALL(NAME, text) \
  static void b_##NAME(world *w, T *r, const T *a, const T *b, const T *c) { \
    (void)w, (void)b, (void)c; \
    text; \
  }
enum { BITS = AG_BALL_BITS };
BALL(NEG, arb_neg(r, a))
BALL(ADD, arb_add(r, a, b, BITS))
BALL(SUB, arb_sub(r, a, b, BITS))
BALL(MUL, arb_mul(r, a, b, BITS))
BALL(DIV, arb_div(r, a, b, BITS))
BALL(POW, arb_pow(r, a, b, BITS))
BALL(SQRT, arb_sqrt(r, a, BITS))
BALL(SIN, arb_sin(r, a, BITS))
BALL(COS, arb_cos(r, a, BITS))
BALL(TAN, arb_tan(r, a, BITS))
BALL(ASIN, arb_asin(r, a, BITS))
BALL(ACOS, arb_acos(r, a, BITS))
BALL(ATAN, arb_atan(r, a, BITS))
BALL(SINH, arb_sinh(r, a, BITS))
BALL(COSH, arb_cosh(r, a, BITS))
BALL(TANH, arb_tanh(r, a, BITS))
BALL(EXP, arb_exp(r, a, BITS))
BALL(LOG, arb_log(r, a, BITS))
BALL(LOG1P, arb_log1p(r, a, BITS))
BALL(ABS, arb_abs(r, a))
BALL(SIGN, arb_sgn(r, a); if (!arb_is_exact(r)) w->lost = true)
BALL(HOLD, arb_set(r, a))
BALL(ATAN2, arb_atan2(r, a, b, BITS))
BALL(HYPOT, arb_hypot(r, a, b, BITS))
BALL(MIN, arb_min(r, a, b, BITS))
BALL(MAX, arb_max(r, a, b, BITS))
BALL(LT, truth(w, r, arb_lt(a, b), arb_ge(a, b)))
BALL(LE, truth(w, r, arb_le(a, b), arb_gt(a, b)))
BALL(EQ, truth(w, r, same(a, b), arb_ne(a, b)))
BALL(NE, truth(w, r, arb_ne(a, b), same(a, b)))
BALL(AND, truth(w, r, is_true(a) && is_true(b), arb_is_zero(a) || arb_is_zero(b)))
BALL(OR, truth(w, r, is_true(a) || is_true(b), arb_is_zero(a) && arb_is_zero(b)))
BALL(NOT, truth(w, r, arb_is_zero(a), is_true(a)))
BALL(SELECT, if (!is_true(a) && !arb_is_zero(a)) w->lost = true; arb_set(r, is_true(a) ? b : c))
BALL(CHECKPOS, arb_set(r, a))
BALL(CHECKNZ, arb_set(r, a))

static void t_scalar(world *w, const ag_program *p, const ag_step *s, T *r, const T *a, const T *b, const T *c,
                     const T *v) {
  (void)p, (void)v;
  switch (s->op) {
#define AG_OP(NAME, ...) \
  case AG_OP_##NAME: \
    b_##NAME(w, r, a, b, c); \
    break;
#include "expr/op.def"
  default: w->lost = true; /* SLOT, SPARSE */
  }
}

#include "exact/reader_core.h"

bool ag_balls_eval(const ag_program *p, const ag_balls *in, ag_balls *out) {
  world w = {false};
  T *v = t_block(p->n_value);
  t_run(&w, p, in->at, v, out->at);
  t_unblock(v, p->n_value);
  for (int i = 0; i < p->n_out; i++) w.lost = w.lost || !arb_is_finite(out->at + i);
  return !w.lost;
}

/* c - J^-1 g in *g; false: J may be singular. */
static bool newton_step(int m, ag_balls_function eval, void *self, const ag_balls *middle, const ag_balls *c,
                        ag_balls *g, ag_balls *J) {
  if (!eval(self, c, g, J)) return false;
  ag_balls *slope = ag_balls_create(m * m);
  ag_balls_copy(slope, 0, J, 0, m * m);
  bool good = eval(self, middle, g, J) && ag_balls_solve(m, 1, slope, g);
  for (int i = 0; i < m && good; i++) arb_sub(g->at + i, middle->at + i, g->at + i, AG_BALL_BITS);
  ag_balls_free(slope);
  return good;
}

bool ag_balls_root(int m, ag_balls_function eval, void *self, ag_balls *c) {
  ag_balls *g = ag_balls_create(m), *J = ag_balls_create(m * m), *wide = ag_balls_create(m);
  bool good = true;
  for (int k = 0; k < 60 && good; k++) {
    good = newton_step(m, eval, self, c, c, g, J);
    bool arrived = true;
    for (int i = 0; i < m && good; i++) {
      arb_sub(wide->at + i, g->at + i, c->at + i, AG_BALL_BITS); /* the step */
      arrived = arrived && arf_cmpabs_2exp_si(arb_midref(wide->at + i), -AG_BALL_BITS / 2) < 0;
      arb_get_mid_arb(c->at + i, g->at + i);
    }
    if (arrived) break;
  }
  for (int i = 0; i < m; i++) {
    arb_set(wide->at + i, c->at + i);
    arb_add_error_2exp_si(wide->at + i, -AG_BALL_BITS / 3);
  }
  good = good && newton_step(m, eval, self, c, wide, g, J);
  for (int i = 0; i < m && good; i++) good = arb_contains(wide->at + i, g->at + i);
  if (good) ag_balls_copy(c, 0, g, 0, m);
  ag_balls_free(g);
  ag_balls_free(J);
  ag_balls_free(wide);
  return good;
}
