/* SPDX-License-Identifier: MIT
 * Balls: every row of op.def against long double where its row says it is tame, tensors against tapes, and what must
 * not be decided. */
#include <tgmath.h> /* sin of a long double is sinl */

#include "exact/exact.h"

#include "base/arena.h"

#include "check.h"

/* The bounds of op(a, b, c) at exact numbers hold its value in long double, and are tight. */
static void row(const ag_flint *flint, ag_op op, int arity, double lo, double hi,
                long double (*plain)(long double, long double, long double)) {
  ag_graph *g = ag_graph_create();
  ag_id in[3] = {ag_input(g, "a", 1, 1, AG_LEAF_REAL), ag_input(g, "b", 1, 1, AG_LEAF_REAL),
                 ag_input(g, "c", 1, 1, AG_LEAF_REAL)};
  ag_id y = ag_apply(g, op, in);
  ag_program *p = ag_program_create(g, 3, in, 1, &y);
  ag_balls *v = ag_balls_create(flint, 3), *out = ag_balls_create(flint, 1);
  for (int k = 0; k < 20; k++) {
    long double x[3];
    for (int i = 0; i < 3; i++) {
      int part = (k * 7 + i * 13 + 3) % 64;
      double at = lo + (hi - lo) * part / 64; /* exact: few bits */
      at = (double)lround(at * 64) / 64;
      if (hi == 1 && lo == 0) at = part & 1;
      ag_balls_fraction(v, i, lround(at * 64), 64);
      x[i] = (long double)at;
    }
    (void)arity;
    if (!ag_balls_eval(p, v, out)) continue; /* on a jump, or outside the domain */
    double low, high;
    ag_balls_bounds(out, 0, &low, &high);
    double value = (double)plain(x[0], x[1], x[2]), slack = 1e-15 * fmax(1, fabs(value));
    AG_CHECK(low <= value + slack && value <= high + slack);
    AG_CHECK(high - low <= 1e-14 * fmax(1, fabs(value)));
  }
  ag_balls_free(v);
  ag_balls_free(out);
  ag_program_free(p);
  ag_graph_free(g);
}

#define AG_OP(NAME, text, arity, call, parity, value, plain, ...) \
  static long double plain_##NAME(long double a, long double b, long double c) { \
    (void)b, (void)c; \
    return plain; \
  }
#include "expr/op.def"

static void rows(const ag_flint *flint) {
#define AG_OP(NAME, text, arity, call, parity, value, plain, tex, derivative, lo, hi, ...) \
  row(flint, AG_OP_##NAME, arity, lo, hi, plain_##NAME);
#include "expr/op.def"
}

/* A matrix solve, a determinant, a norm and products, against the interpreter. */
static void tensors(const ag_flint *flint) {
  ag_graph *g = ag_graph_create();
  ag_id in[2] = {ag_input(g, "A", 3, 3, AG_LEAF_REAL), ag_input(g, "v", 3, 1, AG_LEAF_REAL)};
  ag_id A = in[0], v = in[1], x = ag_solve(g, A, v, AG_SOLVE_GENERAL), w = ag_cross(g, ag_mul(g, A, v), v);
  ag_id outs[4] = {x, ag_det(g, A), ag_norm(g, w), ag_mul(g, ag_transpose(g, A), ag_mul(g, ag_hat(g, v), w))};
  double values[12] = {2, 1, 0.5, -1, 3, 0.25, 0.5, 0.75, 4, 1, -2, 3}, expected[8];
  ag_bind binds[2] = {{in[0], AG_SEG_Z, 0}, {in[1], AG_SEG_Z, 9}};
  ag_tape *tape = ag_tape_create(g, 2, binds, 4, outs);
  double *slots = ag_heap_alloc(sizeof *slots * (size_t)(tape->n_slot + 1));
  const double *seg[AG_SEG_COUNT] = {0};
  seg[AG_SEG_Z] = values;
  (void)ag_tape_prep(tape, NULL, slots);
  (void)ag_tape_eval(tape, seg, slots, expected);
  ag_program *p = ag_program_create(g, 2, in, 4, outs);
  ag_balls *at = ag_balls_create(flint, 12), *out = ag_balls_create(flint, 8);
  for (int i = 0; i < 12; i++) ag_balls_number(at, i, values[i]);
  AG_CHECK(ag_balls_eval(p, at, out));
  for (int i = 0; i < 8; i++) AG_CHECK_NEAR(ag_balls_middle(out, i), expected[i], 1e-13); /* rounding of the tape */
  ag_balls_free(at);
  ag_balls_free(out);
  ag_program_free(p);
  ag_tape_free(tape);
  free(slots);
  ag_graph_free(g);
}

/* A rounded number is a ball: sqrt(2)^2 - 2 is not decided. Short decimals are exact: 0.1 + 0.2 - 0.3 is 0, and 1e-12
 * next to 1e6 is not lost. pi is pi: enclosed more closely than a double is. */
static void rounded(const ag_flint *flint) {
  ag_balls *b = ag_balls_create(flint, 4), *one = ag_balls_create(flint, 1);
  ag_balls_number(b, 0, 1.4142135623730951);
  ag_balls_number(b, 1, -2);
  ag_balls_fma(b, 1, b, 0, b, 0);
  AG_CHECK(!ag_balls_nonzero(b, 1));
  ag_balls_number(one, 0, 1);
  ag_balls_number(b, 2, 0.1);
  ag_balls_number(b, 3, 0.2);
  ag_balls_fma(b, 2, one, 0, b, 3);
  ag_balls_number(b, 3, -0.3);
  ag_balls_fma(b, 2, one, 0, b, 3);
  AG_CHECK(!ag_balls_nonzero(b, 2));
  ag_balls_number(b, 3, 1e-12);
  ag_balls_fma(b, 2, one, 0, b, 3);
  AG_CHECK(ag_balls_nonzero(b, 2));
  for (int sign = -1; sign <= 1; sign += 2) { /* pi = 3.14159265358979323846264338... */
    ag_balls_number(b, 0, sign * 3.14159265358979323846);
    ag_balls_fraction(b, 1, -sign * 314159265358979323, 100000000000000000);
    ag_balls_fma(b, 0, one, 0, b, 1);
    double lo, hi;
    ag_balls_bounds(b, 0, &lo, &hi);
    AG_CHECK(sign * lo > 8.46264e-18 && sign * hi < 8.46265e-18 && sign * hi > 8.46264e-18 && sign * lo < 8.46265e-18);
  }
  ag_balls_free(b);
  ag_balls_free(one);
}

int main(void) {
  char why[AG_FLINT_WHY] = "";
  ag_flint *flint = ag_flint_open(why);
  if (!flint) {
    printf("%s\n", why);
    return 1;
  }
  rows(flint);
  tensors(flint);
  rounded(flint);
  ag_flint_close(flint);
  return ag_check_report();
}
