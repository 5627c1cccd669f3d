/* SPDX-License-Identifier: MIT
 * Programs in ball arithmetic, by FLINT (arb_t): every value is a midpoint and a radius that enclose it. */
#include <math.h>
#include <stdlib.h>

#include "exact/exact_internal.h"
#include "exact/flint.h"

enum { BITS = AG_BALL_BITS };

struct ag_balls {
  const ag_flint *f;
  int n;
  arb_struct at[];
};

ag_balls *ag_balls_create(const ag_flint *f, int n) {
  ag_balls *b = ag_heap_alloc(sizeof *b + sizeof(arb_struct) * (size_t)(n + 1));
  b->f = f;
  b->n = n;
  for (int i = 0; i < n; i++) f->arb_init(b->at + i);
  return b;
}

void ag_balls_free(ag_balls *b) {
  if (!b) return;
  for (int i = 0; i < b->n; i++) b->f->arb_clear(b->at + i);
  free(b);
}

/* num/den * 10^ten: exact, or rounded once above and once below the line. */
static void set_fraction(const ag_flint *f, arb_t r, int64_t num, int64_t den, int ten) {
  arb_t below, power;
  f->arb_init(below);
  f->arb_init(power);
  f->arb_set_si(r, (slong)num);
  f->arb_set_si(below, (slong)den);
  f->arb_ui_pow_ui(power, 10, (ulong)abs(ten), BITS);
  if (ten < 0) f->arb_mul(below, below, power, BITS);
  else f->arb_mul(r, r, power, BITS);
  f->arb_div(r, r, below, BITS);
  f->arb_clear(below);
  f->arb_clear(power);
}

static void set_number(const ag_flint *f, arb_t r, double v) {
  const double pi = 3.14159265358979323846;
  ag_meant m = ag_number_meant(v);
  if (v == pi || v == -pi) { /* the double nearest to pi stands for pi */
    f->arb_const_pi(r, BITS);
    if (v < 0) f->arb_neg(r, r);
    return;
  }
  if (m.sure) {
    set_fraction(f, r, m.num, m.den, m.ten);
    return;
  }
  f->arb_set_d(r, v);
  mag_t radius;
  f->mag_init(radius);
  f->mag_set_d(radius, v < 0 ? -v : v);
  f->mag_mul_2exp_si(radius, radius, -51); /* 2 ulp at most */
  f->arb_add_error_mag(r, radius);
  f->mag_clear(radius);
}

void ag_balls_number(ag_balls *b, int i, double v) { set_number(b->f, b->at + i, v); }
void ag_balls_fraction(ag_balls *b, int i, long num, long den) { set_fraction(b->f, b->at + i, num, den, 0); }
void ag_balls_double(ag_balls *b, int i, double v) { b->f->arb_set_d(b->at + i, v); }
void ag_balls_copy(ag_balls *to, int i, const ag_balls *from, int j, int n) {
  for (int k = 0; k < n; k++) to->f->arb_set(to->at + i + k, from->at + j + k);
}
double ag_balls_middle(const ag_balls *b, int i) { return b->f->arf_get_d(arb_midref(b->at + i), ARF_RND_NEAR); }
bool ag_balls_nonzero(const ag_balls *b, int i) {
  return b->f->arb_is_finite(b->at + i) && !b->f->arb_contains_zero(b->at + i);
}
void ag_balls_fma(ag_balls *to, int i, const ag_balls *a, int j, const ag_balls *b, int k) {
  to->f->arb_addmul(to->at + i, a->at + j, b->at + k, BITS);
}
void ag_balls_negate(ag_balls *b, int i) { b->f->arb_neg(b->at + i, b->at + i); }

void ag_balls_bounds(const ag_balls *b, int i, double *lo, double *hi) {
  const ag_flint *f = b->f;
  bool finite = f->arb_is_finite(b->at + i);
  arf_t x;
  f->arf_init(x);
  f->arb_get_lbound_arf(x, b->at + i, BITS);
  *lo = finite ? f->arf_get_d(x, ARF_RND_FLOOR) : __builtin_nan("");
  f->arb_get_ubound_arf(x, b->at + i, BITS);
  *hi = finite ? f->arf_get_d(x, ARF_RND_CEIL) : __builtin_nan("");
  f->arf_clear(x);
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

/* The same formula, entry by entry. */
void ag_balls_turn(ag_balls *b, int i, const double q[4]) {
  const ag_flint *f = b->f;
  const double *v = q + 1;
  arb_t square, x, y, z;
  arb_struct *const all[] = {square, x, y, z};
  for (int k = 0; k < 4; k++) f->arb_init(all[k]);
  for (int k = 0; k < 4; k++) {
    f->arb_set_d(x, q[k]);
    f->arb_addmul(square, x, x, BITS);
  }
  for (int r = 0; r < 3; r++)
    for (int c = 0; c < 3; c++) { /* 2 v_r v_c -+ 2 w v_k, or 2 (w^2 + v_r^2) - |q|^2 */
      bool minus = (c - r + 3) % 3 == 1;
      f->arb_set_d(x, 2 * v[r]);
      f->arb_set_d(y, v[c]);
      f->arb_mul(z, x, y, BITS);
      f->arb_set_d(x, r == c ? 2 * q[0] : minus ? -2 * q[0] : 2 * q[0]);
      f->arb_set_d(y, r == c ? q[0] : v[3 - r - c]);
      f->arb_addmul(z, x, y, BITS);
      if (r == c) f->arb_sub(z, z, square, BITS);
      f->arb_div(b->at + i + 3 * r + c, z, square, BITS);
    }
  for (int k = 0; k < 4; k++) f->arb_clear(all[k]);
}

int ag_balls_pivots(int m, int n, ag_balls *A, double *size) {
  const ag_flint *f = A->f;
  bool *row_used = ag_heap_alloc((size_t)m + 1), *col_used = ag_heap_alloc((size_t)n + 1);
  arb_t factor, product;
  f->arb_init(factor);
  f->arb_init(product);
  int rank = 0;
  for (; rank < m && rank < n; rank++) {
    int r = -1, c = -1;
    double most = 0;
    for (int i = 0; i < m; i++)
      for (int j = 0; j < n; j++) {
        double here = row_used[i] || col_used[j] ? 0 : fabs(ag_balls_middle(A, i * n + j));
        if (here > most) most = here, r = i, c = j;
      }
    if (r < 0 || !ag_balls_nonzero(A, r * n + c)) break;
    size[rank] = most;
    row_used[r] = col_used[c] = true;
    for (int i = 0; i < m; i++) {
      if (row_used[i]) continue;
      f->arb_div(factor, A->at + i * n + c, A->at + r * n + c, BITS);
      for (int j = 0; j < n; j++) {
        if (col_used[j]) continue;
        f->arb_mul(product, factor, A->at + r * n + j, BITS);
        f->arb_sub(A->at + i * n + j, A->at + i * n + j, product, BITS);
      }
    }
  }
  f->arb_clear(factor);
  f->arb_clear(product);
  free(row_used);
  free(col_used);
  return rank;
}

/* ---- the reader ---- */

typedef arb_struct T;
typedef struct world {
  const ag_flint *f;
  bool lost;
} world;

static void t_start(const world *w, T *x) { w->f->arb_init(x); }
static void t_end(const world *w, T *x) { w->f->arb_clear(x); }
static T *t_block(const world *w, int n) { return w->f->_arb_vec_init(n + 1); }
static void t_unblock(const world *w, T *x, int n) { w->f->_arb_vec_clear(x, n + 1); }
static void t_set(const world *w, T *r, const T *a) { w->f->arb_set(r, a); }
static void t_whole(const world *w, T *r, int n) { w->f->arb_set_si(r, n); }
static void t_add(const world *w, T *r, const T *a, const T *b) { w->f->arb_add(r, a, b, BITS); }
static void t_sub(const world *w, T *r, const T *a, const T *b) { w->f->arb_sub(r, a, b, BITS); }
static void t_mul(const world *w, T *r, const T *a, const T *b) { w->f->arb_mul(r, a, b, BITS); }
static void t_neg(const world *w, T *r, const T *a) { w->f->arb_neg(r, a); }
static void t_number(const world *w, T *r, const ag_step *s) { set_number(w->f, r, s->num); }
static void t_norm(const world *w, int n, const T *x, T *r) {
  const ag_flint *f = w->f;
  arb_t square, term;
  f->arb_init(square);
  f->arb_init(term);
  for (int i = 0; i < n; i++) {
    f->arb_sqr(term, x + i, BITS);
    f->arb_add(square, square, term, BITS);
  }
  f->arb_sqrt(r, square, BITS);
  f->arb_clear(term);
  f->arb_clear(square);
}

static bool solved(const ag_flint *f, int n, int m, const T *A, T *b) {
  arb_mat_t a, x;
  f->arb_mat_init(a, n, n);
  f->arb_mat_init(x, n, m);
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++) f->arb_set(arb_mat_entry(a, i, j), A + i * n + j);
    for (int j = 0; j < m; j++) f->arb_set(arb_mat_entry(x, i, j), b + i * m + j);
  }
  bool good = f->arb_mat_solve(x, a, x, BITS);
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m && good; j++) f->arb_set(b + i * m + j, arb_mat_entry(x, i, j));
  f->arb_mat_clear(a);
  f->arb_mat_clear(x);
  return good;
}
static void t_solve(world *w, int n, int m, const T *A, T *b) {
  if (!solved(w->f, n, m, A, b)) w->lost = true;
}
bool ag_balls_solve(int n, int m, const ag_balls *A, ag_balls *b) { return solved(b->f, n, m, A->at, b->at); }
static void t_det(const world *w, int n, const T *A, T *r) {
  arb_mat_t a;
  w->f->arb_mat_init(a, n, n);
  for (int i = 0; i < n * n; i++) w->f->arb_set(arb_mat_entry(a, i / n, i % n), A + i);
  w->f->arb_mat_det(r, a, BITS);
  w->f->arb_mat_clear(a);
}

/* 1, 0, or no value when it may be either. */
static void truth(world *w, T *r, bool yes, bool no) {
  if (!yes && !no) w->lost = true;
  w->f->arb_set_si(r, yes);
}
static bool is_true(const ag_flint *f, const T *a) { return !f->arb_contains_zero(a); }
static bool is_same(const ag_flint *f, const T *a, const T *b) {
  return f->arb_is_exact(a) && f->arb_is_exact(b) && f->arb_equal(a, b);
}

/* The functions of op.def that FLINT does not have. */
#define BALL(name, text) \
  static void b_##name(world *w, T *r, const T *a, const T *b, const T *c) { \
    const ag_flint *f = w->f; \
    (void)b, (void)c; \
    text; \
  }
BALL(negated, f->arb_neg(r, a))
BALL(size, f->arb_abs(r, a))
BALL(sign, f->arb_sgn(r, a); if (!f->arb_is_exact(r)) w->lost = true)
BALL(same, f->arb_set(r, a))
BALL(less, truth(w, r, f->arb_lt(a, b), f->arb_ge(a, b)))
BALL(at_most, truth(w, r, f->arb_le(a, b), f->arb_gt(a, b)))
BALL(equal, truth(w, r, is_same(f, a, b), f->arb_ne(a, b)))
BALL(other, truth(w, r, f->arb_ne(a, b), is_same(f, a, b)))
BALL(both, truth(w, r, is_true(f, a) && is_true(f, b), f->arb_is_zero(a) || f->arb_is_zero(b)))
BALL(either, truth(w, r, is_true(f, a) || is_true(f, b), f->arb_is_zero(a) && f->arb_is_zero(b)))
BALL(neither, truth(w, r, f->arb_is_zero(a), is_true(f, a)))
BALL(chosen, if (!is_true(f, a) && !f->arb_is_zero(a)) w->lost = true; f->arb_set(r, is_true(f, a) ? b : c))

static void t_scalar(world *w, const ag_program *p, const ag_step *s, T *r, const T *a, const T *b, const T *c,
                     const T *v) {
  (void)p, (void)v;
#define ARB1(function) w->f->function(r, a, BITS)
#define ARB2(function) w->f->function(r, a, b, BITS)
#define OWN(name) b_##name(w, r, a, b, c)
  switch (s->op) {
#define AG_OP(NAME, text, arity, call, parity, value, plain, tex, derivative, lo, hi, ulp, weight, traits, field, \
              ball, ...) \
  case AG_OP_##NAME: \
    ball; \
    break;
#include "expr/op.def"
  default: w->lost = true; /* SLOT, SPARSE */
  }
}

#include "exact/reader_core.h"

bool ag_balls_eval(const ag_program *p, const ag_balls *in, ag_balls *out) {
  world w = {.f = out->f};
  T *v = t_block(&w, p->n_value);
  t_run(&w, p, in->at, v, out->at);
  t_unblock(&w, v, p->n_value);
  for (int i = 0; i < p->n_out; i++) w.lost = w.lost || !w.f->arb_is_finite(out->at + i);
  return !w.lost;
}

/* c - J^-1 g in *g; false: J may be singular. */
static bool newton_step(int m, ag_balls_function eval, void *self, const ag_balls *middle, const ag_balls *c,
                        ag_balls *g, ag_balls *J) {
  if (!eval(self, c, g, J)) return false;
  ag_balls *slope = ag_balls_create(c->f, m * m);
  ag_balls_copy(slope, 0, J, 0, m * m);
  bool good = eval(self, middle, g, J) && ag_balls_solve(m, 1, slope, g);
  for (int i = 0; i < m && good; i++) c->f->arb_sub(g->at + i, middle->at + i, g->at + i, BITS);
  ag_balls_free(slope);
  return good;
}

/* A ball about c in which the next step should stay: twice as wide as this one, g - c, which is a ball itself where
 * numbers of the file are. */
static void widen(const ag_balls *c, const ag_balls *g, int i, ag_balls *wide) {
  const ag_flint *f = c->f;
  double lo, hi;
  mag_t radius;
  f->arb_sub(wide->at + i, g->at + i, c->at + i, BITS);
  ag_balls_bounds(wide, i, &lo, &hi);
  f->arb_set(wide->at + i, c->at + i);
  f->mag_init(radius);
  f->mag_set_d(radius, 2 * fmax(fabs(lo), fabs(hi)));
  f->arb_add_error_mag(wide->at + i, radius);
  f->arb_add_error_2exp_si(wide->at + i, -BITS / 3);
  f->mag_clear(radius);
}

bool ag_balls_root(int m, ag_balls_function eval, void *self, ag_balls *c) {
  ag_balls *g = ag_balls_create(c->f, m), *J = ag_balls_create(c->f, m * m), *wide = ag_balls_create(c->f, m);
  bool good = true;
  for (int k = 0; k < 60 && good; k++) {
    good = newton_step(m, eval, self, c, c, g, J);
    bool arrived = true;
    for (int i = 0; i < m && good; i++) {
      c->f->arb_sub(wide->at + i, g->at + i, c->at + i, BITS); /* the step */
      arrived = arrived && c->f->arf_cmpabs_2exp_si(arb_midref(wide->at + i), -BITS / 2) < 0;
      c->f->arb_get_mid_arb(c->at + i, g->at + i);
    }
    if (arrived) break;
  }
  good = good && newton_step(m, eval, self, c, c, g, J);
  for (int i = 0; i < m && good; i++) widen(c, g, i, wide);
  good = good && newton_step(m, eval, self, c, wide, g, J);
  for (int i = 0; i < m && good; i++) good = c->f->arb_contains(wide->at + i, g->at + i);
  if (good) ag_balls_copy(c, 0, g, 0, m);
  ag_balls_free(g);
  ag_balls_free(J);
  ag_balls_free(wide);
  return good;
}
