/* SPDX-License-Identifier: MIT
 * Factoring of sums of products: each rule saves what it says, random programs keep their values, and nothing takes
 * more operations than before. */
#include <math.h>
#include <string.h>

#include "expr/tape_internal.h"

#include "check.h"

enum { MAX_NODES = 400 };

/* ---- nodes by hand ---- */

typedef struct sheet {
  ag_tnode *at;
  uint32_t n, refs[64], n_ref;
} sheet;

static uint32_t add_node(sheet *s, uint16_t op, uint8_t part, uint8_t n_arg, uint32_t a, uint32_t b) {
  s->at[s->n] = (ag_tnode){.op = op, .part = part, .n_arg = n_arg, .need = 1, .arg = {a, b}};
  return s->n++;
}

/* Number i of the parameters or of the state. */
static uint32_t parameter(sheet *s, uint32_t i) { return add_node(s, AG_OP_LOAD, AG_PART_PREP, 0, AG_SEG_P, i); }
static uint32_t variable(sheet *s, uint32_t i) { return add_node(s, AG_OP_LOAD, AG_PART_EVAL, 0, AG_SEG_Z, i); }

static uint32_t apply(sheet *s, uint16_t op, uint32_t a, uint32_t b) {
  bool prep = s->at[a].part == AG_PART_PREP && s->at[b].part == AG_PART_PREP;
  return add_node(s, op, prep ? AG_PART_PREP : AG_PART_EVAL, 2, a, b);
}

static uint32_t times(sheet *s, uint32_t a, uint32_t b) { return apply(s, AG_OP_MUL, a, b); }

static sheet sheet_create(void) { return (sheet){.at = ag_heap_alloc(sizeof(ag_tnode) * MAX_NODES)}; }

/* ---- what they compute, and at what cost ---- */

static void evaluate(const ag_tnodes *t, const double *p, const double *z, double *out, double *size) {
  double *v = ag_heap_alloc(sizeof *v * (t->n + 1)), *m = ag_heap_alloc(sizeof *m * (t->n + 1));
  for (uint32_t i = 0; i < t->n; i++) {
    const ag_tnode *x = &t->at[i];
    const uint32_t a = x->arg[0], b = x->arg[1];
    if (x->op == AG_OP_LOAD) v[i] = x->arg[0] == AG_SEG_P ? p[b] : z[b], m[i] = fabs(v[i]);
    if (x->op == AG_OP_ADD) v[i] = v[a] + v[b], m[i] = m[a] + m[b];
    if (x->op == AG_OP_SUB) v[i] = v[a] - v[b], m[i] = m[a] + m[b];
    if (x->op == AG_OP_MUL) v[i] = v[a] * v[b], m[i] = m[a] * m[b];
    if (x->op == AG_OP_NEG) v[i] = -v[a], m[i] = m[a];
    if (x->op == AG_OP_SIN) v[i] = sin(v[a]), m[i] = 1 + m[a];
  }
  for (uint32_t i = 0; i < t->n_ref; i++) out[i] = v[t->refs[i]], size[i] = m[t->refs[i]];
  free(v), free(m);
}

/* Operations of an evaluation: a product that is used once, by a sum, is part of it. */
static int cost(const ag_tnodes *t) {
  int n = 0, *uses = ag_heap_alloc(sizeof *uses * (t->n + 1));
  bool *live = ag_heap_alloc(t->n + 1);
  for (uint32_t i = 0; i < t->n_ref; i++) live[t->refs[i]] = true, uses[t->refs[i]]++;
  for (uint32_t i = t->n; i-- > 0;)
    for (int k = 0; live[i] && k < t->at[i].n_arg; k++) live[t->at[i].arg[k]] = true, uses[t->at[i].arg[k]]++;
  for (uint32_t i = 0; i < t->n; i++) {
    const ag_tnode *x = &t->at[i];
    bool fused = false;
    n += live[i] && x->n_arg > 0 && x->part == AG_PART_EVAL;
    for (int k = 0; k < 2 && live[i] && (x->op == AG_OP_ADD || x->op == AG_OP_SUB); k++) {
      const ag_tnode *y = &t->at[x->arg[k]];
      fused = fused || (y->op == AG_OP_MUL && y->part == x->part && uses[x->arg[k]] == 1);
    }
    n -= fused && x->part == AG_PART_EVAL;
  }
  free(uses), free(live);
  return n;
}

/* Factors the sheet; checks order, values and cost; returns how many operations were saved. Frees it. */
static int factored(sheet *s) {
  double p[8], z[8], before[64], after[64], size[64], ignored[64];
  for (int i = 0; i < 8; i++) p[i] = 0.7 + 0.31 * i, z[i] = 1.3 - 0.43 * i;
  ag_tnodes t = {.at = s->at, .n = s->n, .refs = s->refs, .n_ref = s->n_ref};
  evaluate(&t, p, z, before, size);
  const int cost0 = cost(&t);
  ag_factor(&t);
  for (uint32_t i = 0; i < t.n; i++)
    for (int k = 0; k < t.at[i].n_arg; k++) {
      AG_CHECK(t.at[i].arg[k] < i);
      AG_CHECK(t.at[i].part == AG_PART_EVAL || t.at[t.at[i].arg[k]].part == AG_PART_PREP);
    }
  evaluate(&t, p, z, after, ignored);
  for (uint32_t i = 0; i < t.n_ref; i++)
    if (size[i] < 1e100) AG_CHECK_NEAR(after[i], before[i], 1e-13 * size[i]);
  const int saved = cost0 - cost(&t);
  AG_CHECK(saved >= 0);
  free(t.at);
  return saved;
}

/* ---- the rules ---- */

static void test_rules(void) {
  sheet s = sheet_create(); /* c (d x) + y */
  uint32_t c = parameter(&s, 0), d = parameter(&s, 1), x = variable(&s, 0), y = variable(&s, 1);
  s.refs[s.n_ref++] = apply(&s, AG_OP_ADD, times(&s, c, times(&s, d, x)), y);
  AG_CHECK(factored(&s) == 1);

  s = sheet_create(); /* x (c y) - y (d x), and x y: (c - d)(x y) */
  c = parameter(&s, 0), d = parameter(&s, 1), x = variable(&s, 0), y = variable(&s, 1);
  uint32_t cy = times(&s, c, y), dx = times(&s, d, x), a = times(&s, x, cy), b = times(&s, y, dx);
  s.refs[s.n_ref++] = apply(&s, AG_OP_SUB, a, b);
  s.refs[s.n_ref++] = times(&s, y, x);
  AG_CHECK(factored(&s) == 3);

  s = sheet_create(); /* x (y z) + x (u v) */
  x = variable(&s, 0), y = variable(&s, 1);
  uint32_t z = variable(&s, 2), u = variable(&s, 3), v = variable(&s, 4);
  a = times(&s, x, times(&s, y, z)), b = times(&s, times(&s, u, v), x);
  s.refs[s.n_ref++] = apply(&s, AG_OP_ADD, a, b);
  AG_CHECK(factored(&s) == 1);

  s = sheet_create(); /* x - y, and z + u (y - x) */
  x = variable(&s, 0), y = variable(&s, 1), z = variable(&s, 2), u = variable(&s, 3);
  s.refs[s.n_ref++] = apply(&s, AG_OP_SUB, x, y);
  a = apply(&s, AG_OP_SUB, y, x);
  s.refs[s.n_ref++] = apply(&s, AG_OP_ADD, z, times(&s, u, a));
  AG_CHECK(factored(&s) == 1);
}

/* c (z - (x + d) y) + (c d) y + v = c (z - x y) + v, and the same with other signs and a lasting x + d. */
static void test_offsets(void) {
  for (int sign = 0; sign < 4; sign++) {
    sheet s = sheet_create();
    const uint32_t c = parameter(&s, 0), d = parameter(&s, 1), x = variable(&s, 0), y = variable(&s, 1),
                   z = variable(&s, 2), v = variable(&s, 3), cd = times(&s, c, d);
    const bool offset = sign & 1, taken = sign & 2;
    const uint32_t shifted = apply(&s, offset ? AG_OP_SUB : AG_OP_ADD, x, d), product = times(&s, shifted, y);
    const uint32_t inner = taken ? apply(&s, AG_OP_SUB, z, product) : apply(&s, AG_OP_ADD, product, z);
    const uint32_t outer = apply(&s, offset != taken ? AG_OP_ADD : AG_OP_SUB, times(&s, c, inner), times(&s, y, cd));
    s.refs[s.n_ref++] = apply(&s, AG_OP_ADD, v, outer);
    s.refs[s.n_ref++] = shifted;
    AG_CHECK(factored(&s) == 2);
  }
  sheet s = sheet_create(); /* c ((x + d) y + z) + (c d) y: nothing cancels */
  const uint32_t c = parameter(&s, 0), d = parameter(&s, 1), x = variable(&s, 0), y = variable(&s, 1),
                 z = variable(&s, 2), cd = times(&s, c, d), product = times(&s, apply(&s, AG_OP_ADD, x, d), y);
  const uint32_t outer = times(&s, c, apply(&s, AG_OP_ADD, product, z));
  s.refs[s.n_ref++] = apply(&s, AG_OP_ADD, outer, times(&s, cd, y));
  AG_CHECK(factored(&s) == 0);
}

/* What would cost more is left alone. */
static void test_left_alone(void) {
  sheet s = sheet_create(); /* x (c y), c y needed itself */
  uint32_t c = parameter(&s, 0), x = variable(&s, 0), y = variable(&s, 1), cy = times(&s, c, y);
  s.refs[s.n_ref++] = times(&s, x, cy);
  s.refs[s.n_ref++] = cy;
  s.refs[s.n_ref++] = times(&s, x, y);
  AG_CHECK(factored(&s) == 0);

  s = sheet_create(); /* sin(x - y) and sin(y - x): no sum takes the sign */
  x = variable(&s, 0), y = variable(&s, 1);
  uint32_t a = apply(&s, AG_OP_SUB, x, y), b = apply(&s, AG_OP_SUB, y, x);
  s.refs[s.n_ref++] = add_node(&s, AG_OP_SIN, AG_PART_EVAL, 1, a, 0);
  s.refs[s.n_ref++] = add_node(&s, AG_OP_SIN, AG_PART_EVAL, 1, b, 0);
  AG_CHECK(factored(&s) == 0);
}

/* ---- random programs ---- */

static uint32_t next(uint64_t *state) {
  *state = *state * 6364136223846793005ULL + 1442695040888963407ULL;
  return (uint32_t)(*state >> 33);
}

/* Few variables and parameters, so that factors are shared often. */
static int random_program(uint64_t seed) {
  static const uint16_t ops[] = {AG_OP_ADD, AG_OP_SUB, AG_OP_MUL, AG_OP_MUL};
  uint64_t state = seed * 0x9E3779B97F4A7C15ULL;
  sheet s = sheet_create();
  uint32_t n_p = 1 + next(&state) % 4, n_z = 1 + next(&state) % 5, n = 5 + next(&state) % 60;
  for (uint32_t i = 0; i < n_p; i++) (void)parameter(&s, i);
  for (uint32_t i = 0; i < n_z; i++) (void)variable(&s, i);
  for (uint32_t i = 0; i < n; i++) {
    const uint32_t recent = s.n < 12 || next(&state) % 3 ? s.n : 12, a = s.n - 1 - next(&state) % recent;
    const uint32_t b = next(&state) % s.n;
    if (next(&state) % 20 == 0) (void)add_node(&s, AG_OP_SIN, s.at[a].part, 1, a, 0);
    else (void)apply(&s, ops[next(&state) % 4], a, b);
  }
  for (uint32_t i = 1 + next(&state) % 4; i > 0; i--) s.refs[s.n_ref++] = s.n - 1 - next(&state) % 6;
  return factored(&s);
}

int main(void) {
  int saved = 0;
  test_rules();
  test_offsets();
  test_left_alone();
  for (uint64_t seed = 1; seed <= 3000; seed++) saved += random_program(seed);
  AG_CHECK(saved > 300); /* they do have something to factor */
  return ag_check_report();
}
