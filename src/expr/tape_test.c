/* SPDX-License-Identifier: MIT
 * Tapes against values tracked while the graph is built. Random graphs use whole numbers below 2^50, where sums,
 * products and fused multiply-adds are exact: any difference is a mistake of the tape, so equality is exact. */
#include <stdlib.h>
#include <time.h>

#include "expr/graph_internal.h"

#include "check.h"

static uint64_t next_bits(uint64_t *state) { /* splitmix64 */
  uint64_t z = (*state += 0x9e3779b97f4a7c15ULL);
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
  return z ^ z >> 31;
}
static int pick(uint64_t *state, int n) { return (int)(next_bits(state) % (uint64_t)n); }

enum { N_IN = 6, N_GROW = 300, N_SET = 3, N_OUT = 9 };

/* A growing pool of nodes with their values for N_SET sets of inputs and a bound on their size. */
typedef struct pool {
  ag_id id[N_IN + N_GROW];
  double value[N_SET][N_IN + N_GROW], bound[N_IN + N_GROW];
  int n;
} pool;

static void grow(ag_graph *g, pool *p, uint64_t *state) {
  static const ag_op ops[] = {AG_OP_ADD,    AG_OP_SUB, AG_OP_MUL, AG_OP_MUL, AG_OP_NEG, AG_OP_MIN, AG_OP_MAX,
                              AG_OP_SELECT, AG_OP_LT,  AG_OP_LE,  AG_OP_EQ,  AG_OP_ABS, AG_OP_SIGN};
  int a = pick(state, p->n), b = pick(state, p->n), c = pick(state, p->n), i = p->n++;
  ag_op op = ops[pick(state, (int)(sizeof ops / sizeof *ops))];
  double bound = op == AG_OP_MUL ? p->bound[a] * p->bound[b] : p->bound[a] + p->bound[b] + p->bound[c];
  if (bound > 0x1p50) op = AG_OP_SIGN, bound = 1;
  ag_id args[3] = {p->id[a], p->id[b], p->id[c]};
  p->id[i] = op == AG_OP_ADD      ? ag_add(g, args[0], args[1])
             : op == AG_OP_SUB    ? ag_sub(g, args[0], args[1])
             : op == AG_OP_MUL    ? ag_mul(g, args[0], args[1])
             : op == AG_OP_NEG    ? ag_neg(g, args[0])
             : op == AG_OP_SELECT ? ag_select(g, args[0], args[1], args[2])
                                  : ag_apply(g, op, args);
  p->bound[i] = bound;
  for (int s = 0; s < N_SET; s++) {
    const double *v = p->value[s], x = v[a], y = v[b], z = v[c];
    p->value[s][i] = op == AG_OP_ADD      ? x + y
                     : op == AG_OP_SUB    ? x - y
                     : op == AG_OP_MUL    ? x * y
                     : op == AG_OP_NEG    ? -x
                     : op == AG_OP_MIN    ? (x < y ? x : y)
                     : op == AG_OP_MAX    ? (x > y ? x : y)
                     : op == AG_OP_SELECT ? (x != 0 ? y : z)
                     : op == AG_OP_LT     ? x < y
                     : op == AG_OP_LE     ? x <= y
                     : op == AG_OP_EQ     ? x == y
                     : op == AG_OP_ABS    ? fabs(x)
                                          : (x > 0) - (x < 0);
  }
}

/* Parameters (inputs 4, 5) are the same in all sets: one prep serves all evaluations. */
static void random_graph(uint64_t seed) {
  uint64_t state = seed;
  ag_graph *g = ag_graph_create();
  pool *p = calloc(1, sizeof *p);
  ag_bind binds[N_IN];
  double z[N_SET][3], t[N_SET], params[2] = {0};
  static const ag_seg segs[N_IN] = {AG_SEG_Z, AG_SEG_Z, AG_SEG_Z, AG_SEG_T, AG_SEG_P, AG_SEG_P};
  static const int offsets[N_IN] = {0, 1, 2, 0, 0, 1};
  for (int i = 0; i < N_IN; i++) {
    char name[2] = {(char)('a' + i), 0};
    p->id[i] = ag_input(g, name, 1, 1, AG_LEAF_REAL);
    p->bound[i] = 5;
    binds[i] = (ag_bind){p->id[i], segs[i], offsets[i]};
    for (int s = 0; s < N_SET; s++) {
      double v = s > 0 && segs[i] == AG_SEG_P ? p->value[0][i] : pick(&state, 11) - 5;
      p->value[s][i] = v;
      *(segs[i] == AG_SEG_Z ? &z[s][offsets[i]] : segs[i] == AG_SEG_T ? &t[s] : &params[offsets[i]]) = v;
    }
  }
  p->n = N_IN;
  while (p->n < N_IN + N_GROW) grow(g, p, &state);
  ag_id outs[N_OUT];
  int at[N_OUT];
  for (int i = 0; i < N_OUT; i++) at[i] = i ? pick(&state, p->n) : p->n - 1, outs[i] = p->id[at[i]];
  ag_tape *tape = ag_tape_create(g, N_IN, binds, N_OUT, outs);
  double *slots = malloc(sizeof(double) * (size_t)(tape->n_slot + 1)), out[N_OUT];
  for (int i = 0; i < tape->n_slot; i++) slots[i] = NAN; /* nothing is read before it is written */
  AG_CHECK(ag_tape_prep(tape, params, slots) == 0);
  double *kept = malloc(sizeof(double) * (size_t)(tape->n_slot + 1));
  memcpy(kept, slots, sizeof(double) * (size_t)tape->n_slot);
  bool good = true;
  for (int s = 0; s < N_SET; s++) {
    const double *const seg[AG_SEG_COUNT] = {[AG_SEG_T] = &t[s], [AG_SEG_Z] = z[s]};
    AG_CHECK(ag_tape_eval(tape, seg, slots, out) == 0);
    for (int i = 0; i < N_OUT; i++) good = good && out[i] == p->value[s][at[i]];
  }
  for (int i = 0; i < tape->n_prep; i++) /* what prep made is still there */
    good = good && !memcmp(&slots[tape->instr[i].dst], &kept[tape->instr[i].dst], sizeof *slots);
  bool read[3] = {0}, loaded[3] = {0};
  ag_tape_reads(g, N_IN, binds, N_OUT, outs, AG_SEG_Z, read);
  for (int i = 0; i < tape->n_instr; i++)
    if (tape->instr[i].op == AG_OP_LOAD && tape->instr[i].a == AG_SEG_Z) loaded[tape->instr[i].b] = true;
  good = good && !memcmp(read, loaded, sizeof read);
  if (!good) fprintf(stderr, "seed %llu\n", (unsigned long long)seed);
  AG_CHECK(good);
  AG_CHECK(tape->n_need[AG_SEG_Z] <= 3 && tape->n_need[AG_SEG_P] <= 2 && tape->n_need[AG_SEG_C] == 0);
  free(kept), free(slots), free(p);
  ag_tape_free(tape);
  ag_graph_free(g);
}

static int count(const ag_tape *tape, ag_op op, int from, int to) {
  int n = 0;
  for (int i = from; i < to; i++) n += tape->instr[i].op == op;
  return n;
}

/* x*y + p*q - z*(x*y): the product of parameters is prepared, x*y is used twice and not fused, z*(x*y) is */
static void test_parts(void) {
  ag_graph *g = ag_graph_create();
  ag_id in[5];
  ag_bind binds[5];
  for (int i = 0; i < 5; i++) {
    char name[2] = {"xyzpq"[i], 0};
    in[i] = ag_input(g, name, 1, 1, AG_LEAF_REAL);
    binds[i] = (ag_bind){in[i], i < 3 ? AG_SEG_Z : AG_SEG_P, i < 3 ? i : i - 3};
  }
  ag_id xy = ag_mul(g, in[0], in[1]), pq = ag_mul(g, in[3], in[4]);
  ag_id out = ag_sub(g, ag_add(g, xy, pq), ag_mul(g, in[2], xy));
  ag_tape *tape = ag_tape_create(g, 5, binds, 1, &out);
  int n = tape->n_instr;
  AG_CHECK(count(tape, AG_OP_MUL, 0, tape->n_prep) == 1 && count(tape, AG_OP_MUL, tape->n_prep, n) == 1);
  AG_CHECK(count(tape, AG_OP_FMA, 0, n) + count(tape, AG_OP_FNMA, 0, n) == 1);
  AG_CHECK(ag_tape_cost(tape) == 4); /* x*y, + pq, - z*xy in one instruction counted as two */
  AG_CHECK(tape->n_need[AG_SEG_Z] == 3 && tape->n_need[AG_SEG_P] == 2);
  double slots[16], p[2] = {3, 5}, z[3] = {2, 7, 11}, value = 0;
  const double *const seg[AG_SEG_COUNT] = {[AG_SEG_Z] = z};
  AG_CHECK(tape->n_slot <= 16 && ag_tape_prep(tape, p, slots) == 0 && ag_tape_eval(tape, seg, slots, &value) == 0);
  AG_CHECK(value == 2 * 7 + 15 - 11 * 14);
  ag_text text = {0};
  ag_tape_print(tape, &text);
  AG_CHECK(strstr(ag_text_cstr(&text), "load z[2]") && strstr(ag_text_cstr(&text), "mul s"));
  ag_text_done(&text);
  ag_tape_free(tape);
  ag_graph_free(g);
}

/* The three fused forms round once. */
static void test_fused(void) {
  ag_graph *g = ag_graph_create();
  ag_id x = ag_input(g, "x", 1, 1, AG_LEAF_REAL), y = ag_input(g, "y", 1, 1, AG_LEAF_REAL);
  ag_id z = ag_input(g, "z", 1, 1, AG_LEAF_REAL), in[] = {x, y, z}, xy = ag_mul(g, x, y);
  ag_id outs[3] = {ag_add(g, xy, z), ag_sub(g, xy, z), ag_sub(g, z, xy)};
  double values[3] = {1 + 0x1p-30, 1 - 0x1p-30, -1}, expected[3] = {-0x1p-60, 2 - 0x1p-60, -2 + 0x1p-60};
  for (int i = 0; i < 3; i++) {
    double value;
    AG_CHECK(ag_evaluate(g, 3, in, values, 1, &outs[i], &value) == 0);
    AG_CHECK(value == expected[i]);
  }
  ag_graph_free(g);
}

/* Every operation of op.def that a graph can hold, on its own, has the value that constants are folded to. */
static void test_each_operation(void) {
  uint64_t state = 5;
  for (ag_op op = AG_OP_NEG; op <= AG_OP_CHECKNZ; op++) {
    const ag_op_row *row = ag_op_describe(op);
    ag_graph *g = ag_graph_create();
    ag_id in[3] = {ag_input(g, "a", 1, 1, AG_LEAF_REAL), ag_input(g, "b", 1, 1, AG_LEAF_REAL),
                   ag_input(g, "c", 1, 1, AG_LEAF_REAL)};
    ag_id out = ag_apply(g, op, in);
    AG_CHECK(ag_node_op(g, out) == op);
    for (int i = 0; i < 20; i++) {
      double v[3], value, expected;
      for (int j = 0; j < 3; j++) v[j] = row->lo + (row->hi - row->lo) * (double)pick(&state, 100) / 99;
      expected = ag_op_value(op, v);
      AG_CHECK(ag_evaluate(g, 3, in, v, 1, &out, &value) == 0);
      if (value != expected) fprintf(stderr, "%s(%g, %g, %g)\n", row->text, v[0], v[1], v[2]);
      AG_CHECK(value == expected);
    }
    ag_graph_free(g);
  }
}

/* A pivoted solve: zero diagonal, shifted permutation plus noise; then a singular matrix; then a reuse of its slots. */
static void test_solve(int n) {
  ag_graph *g = ag_graph_create();
  uint64_t state = 77;
  ag_id A = ag_input(g, "A", n, n, AG_LEAF_REAL), b = ag_input(g, "b", n, 1, AG_LEAF_REAL), in[2] = {A, b};
  ag_id x = ag_solve(g, A, b, AG_SOLVE_GENERAL), again = ag_solve(g, A, x, AG_SOLVE_GENERAL);
  ag_id outs[3] = {x, ag_dot(g, x, x), again};
  double *v = malloc(sizeof(double) * (size_t)(n * n + n)), *r = malloc(sizeof(double) * (size_t)(2 * n + 1));
  for (int i = 0; i < n * n + n; i++) v[i] = (double)pick(&state, 2001) / 10000 - 0.1;
  for (int i = 0; i < n; i++) v[i * n + i] = 0, v[i * n + (i + 1) % n] = i + 1;
  AG_CHECK(ag_evaluate(g, 2, in, v, 3, outs, r) == 0);
  double square = 0;
  for (int i = 0; i < n; i++) {
    double first = 0, second = 0;
    for (int j = 0; j < n; j++) first += v[i * n + j] * r[j], second += v[i * n + j] * r[n + 1 + j];
    AG_CHECK_NEAR(first, v[n * n + i], 1e-14); /* well conditioned: a few roundings */
    AG_CHECK_NEAR(second, r[i], 1e-14);
    square += r[i] * r[i];
  }
  AG_CHECK_NEAR(r[n], square, 1e-14);
  for (int j = 0; j < n; j++) v[2 * n + j] = v[n + j];
  AG_CHECK(ag_evaluate(g, 2, in, v, 3, outs, r) != 0);
  AG_CHECK(isnan(r[0]) && isnan(r[n]));
  free(v), free(r);
  ag_graph_free(g);
}

static int count_op(const ag_tape *tape, int from, int to, uint16_t op) {
  int n = 0;
  for (int i = from; i < to; i++) n += tape->instr[i].op == op;
  return n;
}

/* Two quotients with the same divisor take one division, one with a parameter as divisor none in the evaluation, any
 * other one its own; division by a constant stays as written. */
static void test_quotients(void) {
  ag_graph *g = ag_graph_create();
  ag_id p = ag_input(g, "p", 1, 1, AG_LEAF_REAL), z = ag_input(g, "z", 4, 1, AG_LEAF_REAL), e[4];
  for (int i = 0; i < 4; i++) e[i] = ag_entry(g, z, i, 0);
  ag_bind binds[2] = {{p, AG_SEG_P, 0}, {z, AG_SEG_Z, 0}};
  ag_id shared[4];
  for (int i = 0; i < 4; i++) shared[i] = ag_div(g, i == 2 ? ag_num(g, 1) : e[i == 1 ? 2 : 0], i == 3 ? e[3] : e[1]);
  ag_id prepared = ag_div(g, e[0], p);
  ag_tape *tape = ag_tape_create(g, 2, binds, 4, shared);
  AG_CHECK(count_op(tape, 0, tape->n_prep, AG_OP_DIV) == 0);
  AG_CHECK(count_op(tape, tape->n_prep, tape->n_instr, AG_OP_DIV) == 2);
  double values[4] = {5, 3, 49, 7}, param = 49, slots[32], r[4];
  const double *seg[AG_SEG_COUNT] = {[AG_SEG_Z] = values, [AG_SEG_P] = &param};
  AG_CHECK(ag_tape_prep(tape, &param, slots) == 0 && ag_tape_eval(tape, seg, slots, r) == 0);
  AG_CHECK(r[0] == 5 * (1.0 / 3) && r[1] == 49 * (1.0 / 3) && r[2] == 1.0 / 3 && r[3] == 5.0 / 7);
  ag_tape_free(tape);
  tape = ag_tape_create(g, 2, binds, 1, &prepared);
  AG_CHECK(count_op(tape, 0, tape->n_prep, AG_OP_DIV) == 1);
  AG_CHECK(count_op(tape, tape->n_prep, tape->n_instr, AG_OP_DIV) == 0);
  AG_CHECK(ag_tape_prep(tape, &param, slots) == 0 && ag_tape_eval(tape, seg, slots, r) == 0);
  AG_CHECK(r[0] == 5 * (1.0 / 49));
  ag_tape_free(tape);
  ag_graph_free(g);
}

static void test_pivots(void) {
  ag_graph *g = ag_graph_create();
  ag_id x = ag_input(g, "x", 1, 1, AG_LEAF_REAL), y = ag_input(g, "y", 1, 1, AG_LEAF_REAL), in[2] = {x, y};
  ag_id outs[2] = {ag_apply1(g, AG_OP_CHECKPOS, x), ag_add(g, y, ag_num(g, 1))};
  double value[2] = {2, 3}, r[2];
  AG_CHECK(ag_evaluate(g, 2, in, value, 2, outs, r) == 0 && r[0] == 2 && r[1] == 4);
  value[0] = -1;
  AG_CHECK(ag_evaluate(g, 2, in, value, 2, outs, r) != 0 && isnan(r[0]) && r[1] == 4);
  /* a failing pivot made of parameters is reported by prep */
  ag_bind binds[2] = {{x, AG_SEG_P, 0}, {y, AG_SEG_Z, 0}};
  ag_tape *tape = ag_tape_create(g, 2, binds, 2, outs);
  double slots[16];
  AG_CHECK(ag_tape_prep(tape, value, slots) != 0);
  value[0] = 1;
  AG_CHECK(ag_tape_prep(tape, value, slots) == 0);
  ag_tape_free(tape);
  ag_graph_free(g);
}

/* A sum of many terms needs few slots; ten times the terms takes about ten times as long (bound: forty times). */
static double long_sum(int n, int *n_slot) {
  ag_graph *g = ag_graph_create();
  ag_id x = ag_input(g, "x", 1, 1, AG_LEAF_REAL), y = ag_input(g, "y", 1, 1, AG_LEAF_REAL), sum = y;
  for (int i = 0; i < n; i++) sum = ag_add(g, ag_apply1(g, AG_OP_SIN, ag_mul(g, ag_add(g, sum, x), x)), y);
  ag_bind binds[2] = {{x, AG_SEG_Z, 0}, {y, AG_SEG_Z, 1}};
  clock_t start = clock();
  ag_tape *tape = ag_tape_create(g, 2, binds, 1, &sum);
  double seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
  *n_slot = tape->n_slot;
  AG_CHECK(tape->n_instr >= 4 * n);
  ag_tape_free(tape);
  ag_graph_free(g);
  return seconds;
}

static void test_size(void) {
  int n_slot;
  double small = long_sum(20000, &n_slot), large = long_sum(200000, &n_slot);
  AG_CHECK(n_slot <= 6);
  AG_CHECK(large < 40 * small + 0.5);
}

int main(void) {
  for (uint64_t seed = 1; seed <= 300; seed++) random_graph(seed);
  test_parts();
  test_fused();
  test_each_operation();
  test_solve(4);
  test_solve(9);
  test_quotients();
  test_pivots();
  test_size();
  return ag_check_report();
}
