/* SPDX-License-Identifier: MIT
 * Enclosures hold: for every row of op.def and for random expressions, along random straight paths of the arguments,
 * all sampled values and rates (derivatives of the graph) lie inside; and they are sharp enough to be of use: over
 * short pieces their width is in proportion to the length. */
#include <math.h>
#include <stdlib.h>

#include "expr/expr.h"
#include "expr/vmath.h"
#include "tests/check.h"

#include "expr/enclose.h"

enum { N_IN = 3, N_SAMPLE = 40, N_PATH = 400, N_EXPRESSION = 2000 };

static uint64_t state = 1;
static double uniform(double lo, double hi) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return lo + (hi - lo) * (double)(state >> 11) * 0x1p-53;
}

/* An expression of N_IN inputs with its derivative along the inputs' seeds: a tape of both on z = [inputs | seeds]. */
typedef struct subject {
  ag_graph *g;
  ag_id in[N_IN], seed[N_IN], x;
  ag_tape *value, *both;
} subject;

static void subject_begin(subject *q) {
  static const char *const names[] = {"a", "b", "c", "da", "db", "dc"};
  q->g = ag_graph_create();
  for (int i = 0; i < N_IN; i++) q->in[i] = ag_input(q->g, names[i], 1, 1, AG_LEAF_REAL);
  for (int i = 0; i < N_IN; i++) q->seed[i] = ag_input(q->g, names[N_IN + i], 1, 1, AG_LEAF_REAL);
}

static void subject_end(subject *q, ag_id x) {
  ag_bind binds[2 * N_IN];
  ag_id outs[2] = {x};
  q->x = x;
  ag_forward(q->g, N_IN, q->in, q->seed, 1, &x, &outs[1]);
  for (int i = 0; i < N_IN; i++) {
    binds[i] = (ag_bind){q->in[i], AG_SEG_Z, i};
    binds[N_IN + i] = (ag_bind){q->seed[i], AG_SEG_Z, N_IN + i};
  }
  q->value = ag_tape_create(q->g, N_IN, binds, 1, outs);
  q->both = ag_tape_create(q->g, 2 * N_IN, binds, 2, outs);
}

static void subject_free(subject *q) {
  ag_tape_free(q->value);
  ag_tape_free(q->both);
  ag_graph_free(q->g);
}

static ag_enclosure enclose(const subject *q, const double *from, const double *rate, double length) {
  ag_enclosure z[N_IN], t = {0}, out, *slots = calloc((size_t)q->value->n_slot + 1, sizeof *slots);
  for (int i = 0; i < N_IN; i++) {
    double end = from[i] + length * rate[i];
    double slack = 1e-15 * fabs(from[i]); /* the samples are rounded */
    z[i] = (ag_enclosure){fmin(from[i], end) - slack, fmax(from[i], end) + slack, rate[i], rate[i]};
  }
  const ag_enclosure *seg[AG_SEG_COUNT] = {[AG_SEG_T] = &t, [AG_SEG_Z] = z};
  ag_enclose_prep(q->value, NULL, slots);
  ag_enclose_eval(q->value, seg, slots, &out);
  free(slots);
  return out;
}

/* All samples inside? A rate where the expression has a corner or a jump on the way is whatever the graph says at the
 * sample, which lies between the rates of both sides. */
static bool holds(const subject *q, const double *from, const double *rate, double length, ag_enclosure e) {
  double z[2 * N_IN], out[2], t = 0, *slots = calloc((size_t)q->both->n_slot + 1, sizeof *slots);
  const double *seg[AG_SEG_COUNT] = {[AG_SEG_T] = &t, [AG_SEG_Z] = z};
  bool good = true;
  (void)ag_tape_prep(q->both, NULL, slots);
  for (int k = 0; k <= N_SAMPLE && good; k++) {
    for (int i = 0; i < N_IN; i++) z[i] = from[i] + length * k / N_SAMPLE * rate[i], z[N_IN + i] = rate[i];
    (void)ag_tape_eval(q->both, seg, slots, out);
    if (isnan(out[0])) continue;
    /* the derivative is computed with rounding of its own */
    double slack = 1e-9 * (fabs(out[1]) + 1e-3);
    good = e.lo <= out[0] && out[0] <= e.hi &&
           (isnan(out[1]) || (e.rate_lo - slack <= out[1] && out[1] <= e.rate_hi + slack));
    if (!good) {
      ag_text text = {0};
      ag_print(q->g, q->x, &text);
      fprintf(stderr, "%s with a, b, c = %.17g, %.17g, %.17g\n", ag_text_cstr(&text), z[0], z[1], z[2]);
      ag_text_done(&text);
    }
    if (!good)
      fprintf(stderr, "sample %d: %.17g in [%.17g, %.17g], rate %.17g in [%.17g, %.17g]\n", k, out[0], e.lo, e.hi,
              out[1], e.rate_lo, e.rate_hi);
  }
  free(slots);
  return good;
}

static void random_path(double lo, double hi, double *from, double *rate, double *length) {
  *length = pow(10, uniform(-6, 0));
  for (int i = 0; i < N_IN; i++) {
    double end = uniform(lo, hi);
    from[i] = uniform(lo, hi);
    rate[i] = uniform(0, 1) < 0.1 ? 0 : end - from[i];
  }
}

/* The graph folds what it can, so an operation may be replaced; its enclosure is then that of what replaced it. */
static void test_rows(void) {
  for (ag_op op = AG_OP_NEG; op <= AG_OP_CHECKNZ; op++) {
    if (op == AG_OP_HOLD) continue; /* differentiated as a constant: its rate is not that of its value */
    const ag_op_row *row = ag_op_describe(op);
    subject q;
    subject_begin(&q);
    subject_end(&q, ag_apply(q.g, op, q.in));
    int failed = ag_checks_failed;
    for (int k = 0; k < N_PATH && ag_checks_failed == failed; k++) {
      double from[N_IN], rate[N_IN], length, wide = k % 4 == 3 ? 3 : 0;
      random_path(row->lo - wide, row->hi + wide, from, rate, &length);
      ag_enclosure e = enclose(&q, from, rate, length);
      AG_CHECK(e.lo <= e.hi && e.rate_lo <= e.rate_hi && holds(&q, from, rate, length, e));
    }
    if (ag_checks_failed > failed) fprintf(stderr, "  in %s\n", row->text);
    subject_free(&q);
  }
}

static ag_id random_expression(const subject *q, int depth) {
  if (depth == 0) return uniform(0, 1) < 0.8 ? q->in[(int)uniform(0, N_IN)] : ag_num(q->g, uniform(-2, 2));
  ag_op op;
  do op = AG_OP_NEG + (ag_op)uniform(0, AG_OP_CHECKPOS - AG_OP_NEG);
  while (op == AG_OP_HOLD);
  ag_id args[3];
  for (int i = 0; i < 3; i++) args[i] = random_expression(q, i < ag_op_describe(op)->arity ? depth - 1 : 0);
  return ag_apply(q->g, op, args);
}

static void test_expressions(void) {
  for (int k = 0; k < N_EXPRESSION; k++) {
    subject q;
    subject_begin(&q);
    subject_end(&q, random_expression(&q, 4));
    for (int i = 0; i < 20; i++) {
      double from[N_IN], rate[N_IN], length;
      random_path(-2, 2, from, rate, &length);
      AG_CHECK(holds(&q, from, rate, length, enclose(&q, from, rate, length)));
    }
    subject_free(&q);
  }
}

/* sin(3a) b + exp(a c) - a^2 b, smooth: the width over a piece of length h is C h. */
static void test_width(void) {
  subject q;
  subject_begin(&q);
  ag_id a = q.in[0], b = q.in[1], c = q.in[2], sine = ag_apply1(q.g, AG_OP_SIN, ag_mul(q.g, ag_num(q.g, 3), a));
  ag_id power = ag_apply1(q.g, AG_OP_EXP, ag_mul(q.g, a, c)), square = ag_mul(q.g, ag_mul(q.g, a, a), b);
  ag_id first = ag_mul(q.g, sine, b), sum = ag_add(q.g, first, power);
  subject_end(&q, ag_sub(q.g, sum, square));
  double from[N_IN] = {0.3, -0.8, 1.1}, rate[N_IN] = {1, 0.5, -0.7};
  for (double h = 1; h > 1e-9; h /= 8) {
    ag_enclosure e = enclose(&q, from, rate, h);
    AG_CHECK(e.hi - e.lo < 40 * h + 1e-13 && e.rate_hi - e.rate_lo < 200 * h + 1e-12);
  }
  subject_free(&q);
}

/* A jump has no rate, a corner has those of both sides, and zero is excluded where it is. */
static void test_cases(void) {
  static const struct {
    ag_op op;
    double from, rate;
    double lo, hi, rate_lo, rate_hi;
  } rows[] = {
      {AG_OP_SIGN, -1, 2, -1, 1, -INFINITY, INFINITY}, {AG_OP_ABS, -1, 3, 0, 2, -3, 3},
      {AG_OP_SIN, 1, 1, 0.8414, 1, -0.4162, 0.5404},   {AG_OP_TAN, 1, 1, -INFINITY, INFINITY, -INFINITY, INFINITY},
      {AG_OP_SQRT, 0, 4, 0, 2, 1, INFINITY},           {AG_OP_EXP, 0, 1, 1, 2.7183, 1, 2.7183},
  };
  for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
    subject q;
    subject_begin(&q);
    subject_end(&q, ag_apply1(q.g, rows[k].op, q.in[0]));
    ag_enclosure e = enclose(&q, (double[]){rows[k].from, 0, 0}, (double[]){rows[k].rate, 0, 0}, 1);
    AG_CHECK(e.lo == rows[k].lo || fabs(e.lo - rows[k].lo) < 1e-4);
    AG_CHECK(e.hi == rows[k].hi || fabs(e.hi - rows[k].hi) < 1e-4);
    AG_CHECK(e.rate_lo == rows[k].rate_lo || fabs(e.rate_lo - rows[k].rate_lo) < 1e-4);
    AG_CHECK(e.rate_hi == rows[k].rate_hi || fabs(e.rate_hi - rows[k].rate_hi) < 1e-4);
    subject_free(&q);
  }
}

/* ---- one lane ---- */

/* A bound, often a special one. */
static double bound(void) {
  static const double special[] = {0, -0.0, 1, -1, INFINITY, -INFINITY, 0x1p1023, -0x1p1023, 0x1p-1060, -0x1p-1060};
  double v = uniform(-1, 1) * pow(10, uniform(-3, 3)), which = uniform(0, 30);
  return which < 10 ? special[(int)which] : v;
}
static E any_range(void) {
  double a = bound(), b = bound(), c = bound(), d = bound();
  return (E){fmin(a, b), fmax(a, b), fmin(c, d), fmax(c, d)};
}
static bool same(E a, E b) { return a.lo == b.lo && a.hi == b.hi && a.dlo == b.dlo && a.dhi == b.dhi; }

static E sum(E a, E b) { return e_of(e_plus(e_value(a), e_value(b)), e_plus(e_rate(a), e_rate(b))); }
static E difference(E a, E b) { return e_of(e_minus(e_value(a), e_value(b)), e_minus(e_rate(a), e_rate(b))); }
static E product(E a, E b) {
  return e_of(e_times(e_value(a), e_value(b)), e_plus(e_times(e_rate(a), e_value(b)), e_times(e_value(a), e_rate(b))));
}

/* Four bounds at a time are those of the definitions, which lanes use. */
static void check_one_lane(void) {
  for (int i = 0; i < 200000; i++) {
    E a = any_range(), b = any_range(), c = any_range();
    AG_CHECK(same(e_ADD(a, b), sum(a, b)));
    AG_CHECK(same(e_SUB(a, b), difference(a, b)));
    AG_CHECK(same(e_MUL(a, b), product(a, b)));
    AG_CHECK(same(e_FMA(a, b, c), sum(product(a, b), c)));
    AG_CHECK(same(e_FMS(a, b, c), difference(product(a, b), c)));
    AG_CHECK(same(e_FNMA(a, b, c), difference(c, product(a, b))));
  }
}

/* Which outputs read a segment, whatever the values: t - 1, a t, a - a + t, and the solution of a system with a. */
static void test_reads(void) {
  ag_graph *g = ag_graph_create();
  ag_id t = ag_input(g, "t", 1, 1, AG_LEAF_REAL), a = ag_input(g, "a", 1, 1, AG_LEAF_REAL), one = ag_num(g, 1), sum[4];
  ag_id square = ag_mul(g, a, a), past = ag_sub(g, t, one);
  sum[0] = ag_add(g, square, t), sum[1] = sum[2] = t, sum[3] = ag_add(g, square, one);
  ag_id column = ag_stack(g, 2, 1, (ag_id[]){one, t});
  ag_id matrix = ag_stack(g, 2, 2, sum), none = ag_sub(g, a, a), outs[4] = {past};
  outs[1] = ag_mul(g, a, t);
  outs[2] = ag_add(g, none, t);
  outs[3] = ag_solve(g, matrix, column, AG_SOLVE_GENERAL);
  const ag_bind binds[] = {{t, AG_SEG_T, 0}, {a, AG_SEG_Z, 0}};
  ag_tape *tape = ag_tape_create(g, 2, binds, 4, outs);
  bool reads[5];
  AG_CHECK(tape->n_out == 5);
  ag_enclose_reads(tape, AG_SEG_Z, reads);
  AG_CHECK(!reads[0] && reads[1] && !reads[2] && reads[3] && reads[4]);
  ag_enclose_reads(tape, AG_SEG_T, reads);
  AG_CHECK(reads[0] && reads[1] && reads[2] && reads[3] && reads[4]);
  ag_tape_free(tape);
  ag_graph_free(g);
}

/* Is (x, y, u)' = (u, second, third) of second order, with the rates of positions in rate? */
static bool is_second(ag_graph *g, ag_id t, const ag_id *z, ag_id second, ag_id third, int *rate) {
  const ag_bind binds[] = {{t, AG_SEG_T, 0}, {z[0], AG_SEG_Z, 0}, {z[1], AG_SEG_Z, 1}, {z[2], AG_SEG_Z, 2}};
  ag_tape *tape = ag_tape_create(g, 4, binds, 3, (ag_id[]){z[2], second, third});
  bool is = ag_tape_second_order(tape, 3, rate);
  ag_tape_free(tape);
  return is;
}

static void test_second_order(void) {
  ag_graph *g = ag_graph_create();
  ag_id t = ag_input(g, "t", 1, 1, AG_LEAF_REAL), z[3], sum[4];
  static const char *const names[] = {"x", "y", "u"};
  for (int i = 0; i < 3; i++) z[i] = ag_input(g, names[i], 1, 1, AG_LEAF_REAL);
  ag_id x = z[0], y = z[1], u = z[2], one = ag_num(g, 1), force = ag_add(g, ag_mul(g, x, t), y);
  int rate[3];
  AG_CHECK(is_second(g, t, z, u, force, rate) && rate[0] == 2 && rate[1] == 2 && rate[2] == -1);
  AG_CHECK(is_second(g, t, z, ag_mul(g, x, t), one, rate) && rate[0] == 2 &&
           rate[1] == -1);                                                /* y: a velocity without position */
  AG_CHECK(!is_second(g, t, z, force, force, rate));                      /* and read by its own rate */
  AG_CHECK(!is_second(g, t, z, u, ag_sub(g, force, u), rate));            /* friction */
  AG_CHECK(!is_second(g, t, z, x, force, rate));                          /* y' = x, x' = u */
  AG_CHECK(!is_second(g, t, z, ag_mul(g, ag_num(g, 2), u), force, rate)); /* y' = 2 u */
  sum[0] = ag_add(g, ag_mul(g, x, x), one), sum[1] = sum[2] = t, sum[3] = ag_add(g, ag_mul(g, y, y), one);
  ag_id matrix = ag_stack(g, 2, 2, sum), at_rest = ag_stack(g, 2, 1, (ag_id[]){one, t}),
        moving = ag_stack(g, 2, 1, (ag_id[]){one, u});
  ag_id good = ag_entry(g, ag_solve(g, matrix, at_rest, AG_SOLVE_GENERAL), 0, 0),
        bad = ag_entry(g, ag_solve(g, matrix, moving, AG_SOLVE_GENERAL), 0, 0);
  AG_CHECK(is_second(g, t, z, u, good, rate) && !is_second(g, t, z, u, bad, rate));
  ag_graph_free(g);
}

int main(void) {
  check_one_lane();
  test_reads();
  test_second_order();
  test_rows();
  test_expressions();
  test_width();
  test_cases();
  return ag_check_report();
}
