/* SPDX-License-Identifier: MIT */
#include "expr/residue.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/status.h"
#include "expr/expr.h"

#define PRIME 0x1fffffffffffffffu /* 2^61 - 1 */

/* ---- the field ---- */

uint64_t ag_residue_add(uint64_t a, uint64_t b) { return a + b >= PRIME ? a + b - PRIME : a + b; }

static uint64_t negated(uint64_t a) { return a ? PRIME - a : 0; }

uint64_t ag_residue_sub(uint64_t a, uint64_t b) { return ag_residue_add(a, negated(b)); }

uint64_t ag_residue_mul(uint64_t a, uint64_t b) {
  unsigned __int128 c = (unsigned __int128)a * b; /* 2^61 = 1 */
  return ag_residue_add((uint64_t)c & PRIME, (uint64_t)(c >> 61));
}

static uint64_t power(uint64_t a, uint64_t n) {
  uint64_t y = 1;
  for (; n; n >>= 1, a = ag_residue_mul(a, a))
    if (n & 1) y = ag_residue_mul(y, a);
  return y;
}

uint64_t ag_residue_invert(uint64_t a) { return power(a, PRIME - 2); }

static uint64_t mixed(uint64_t x) { /* splitmix64 */
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  x = (x ^ x >> 27) * 0x94d049bb133111ebu;
  return x ^ x >> 31;
}

uint64_t ag_residue_draw(uint64_t *state) {
  *state = mixed(*state + 1);
  return *state % PRIME;
}

/* The stereographic image of a random point. */
void ag_residue_rotation(uint64_t *state, uint64_t *q) {
  uint64_t square = 0;
  for (int i = 1; i < 4; i++) {
    q[i] = ag_residue_draw(state);
    square = ag_residue_add(square, ag_residue_mul(q[i], q[i]));
  }
  uint64_t inverse = ag_residue_invert(ag_residue_add(1, square));
  q[0] = ag_residue_mul(ag_residue_sub(1, square), inverse);
  for (int i = 1; i < 4; i++) q[i] = ag_residue_mul(ag_residue_add(q[i], q[i]), inverse);
}

uint64_t ag_residue_of(double v) {
  int e;
  if (!isfinite(v)) return mixed(isnan(v) ? 1 : v > 0 ? 2 : 3) % PRIME;
  double m = ldexp(frexp(fabs(v), &e), 53); /* a whole number; |v| = m 2^(e - 53) */
  uint64_t y = ag_residue_mul((uint64_t)m, (uint64_t)1 << ((e - 53) % 61 + 61) % 61);
  return v < 0 ? negated(y) : y;
}

/* ---- the other operations ---- */

/* 0: none, 1: odd, 2: even */
static int parity_of(int op) {
  enum { none, odd, even };
  static const uint8_t parity[] = {
#define AG_OP(NAME, text, arity, call, parity, ...) [AG_OP_##NAME] = parity,
#include "expr/op.def"
  };
  return op < (int)sizeof parity ? parity[op] : none;
}

/* One argument: a fixed random function with the parity of the operation. */
static uint64_t unary(int op, uint64_t a) {
  int parity = parity_of(op);
  bool turned = parity && a > PRIME / 2;
  uint64_t y = mixed(mixed((uint64_t)op) ^ (turned ? PRIME - a : a)) % PRIME;
  if (parity == 1 && a == 0) return 0;
  return parity == 1 && turned ? negated(y) : y;
}

/* sin, cos and tan of a: h = tan(a/2) is the random value. */
static uint64_t circular(int op, uint64_t a) {
  uint64_t h = unary(AG_OP_TAN, a), hh = ag_residue_mul(h, h), twice = ag_residue_add(h, h);
  uint64_t above = op == AG_OP_COS ? ag_residue_sub(1, hh) : twice;
  uint64_t below = op == AG_OP_TAN ? ag_residue_sub(1, hh) : ag_residue_add(1, hh);
  return ag_residue_mul(above, ag_residue_invert(below));
}

static uint64_t binary(int op, uint64_t a, uint64_t b) {
  if (ag_op_describe((ag_op)op)->traits & AG_COMMUTES && a > b) return binary(op, b, a);
  return mixed(mixed(mixed((uint64_t)op) ^ a) ^ b) % PRIME;
}

/* ---- the tape ---- */

typedef struct reader {
  const ag_tape *tape;
  uint64_t *s;          /* slots */
  uint64_t (*roots)[2]; /* square roots seen: value, argument */
  int n_root;
  bool divided_by_zero;
} reader;

static uint64_t root(reader *r, uint64_t a) {
  uint64_t y = unary(AG_OP_SQRT, a);
  r->roots[r->n_root][0] = y, r->roots[r->n_root++][1] = a;
  return y;
}

static uint64_t product(const reader *r, uint64_t a, uint64_t b) {
  for (int i = 0; i < r->n_root && a == b; i++)
    if (r->roots[i][0] == a) return r->roots[i][1];
  return ag_residue_mul(a, b);
}

static uint64_t quotient(reader *r, uint64_t a, uint64_t b) {
  if (!b) r->divided_by_zero = true;
  return ag_residue_mul(a, ag_residue_invert(b));
}

/* Gauss-Jordan: A (n x n) and b behind it; the solution goes to x. */
static void solve(reader *r, int n, uint64_t *A, uint64_t *x) {
  uint64_t *b = A + n * n;
  for (int k = 0; k < n; k++) {
    int pivot = k;
    while (pivot < n && !A[pivot * n + k]) pivot++;
    if (pivot == n) {
      r->divided_by_zero = true;
      return;
    }
    for (int j = 0; j <= n && pivot != k; j++) {
      uint64_t *p = j < n ? A + k * n + j : b + k, *q = j < n ? A + pivot * n + j : b + pivot, old = *p;
      *p = *q, *q = old;
    }
    uint64_t inverse = ag_residue_invert(A[k * n + k]);
    for (int i = 0; i < n; i++) {
      uint64_t f = i == k ? 0 : ag_residue_mul(A[i * n + k], inverse);
      for (int j = k; j < n && f; j++) A[i * n + j] = ag_residue_sub(A[i * n + j], ag_residue_mul(f, A[k * n + j]));
      b[i] = ag_residue_sub(b[i], ag_residue_mul(f, b[k]));
    }
  }
  for (int k = 0; k < n; k++) x[k] = ag_residue_mul(b[k], ag_residue_invert(A[k * n + k]));
}

/* A sparse solve: every result a random function of all its numbers. */
static void solve_sparse(const ag_ldl *ldl, const uint64_t *block, uint64_t *x) {
  uint64_t all = 0;
  for (int i = 0; i < ldl->n_block; i++) all = mixed(all ^ block[i]);
  for (int i = 0; i < ldl->n; i++) x[i] = ag_residue_draw(&all);
}

static uint64_t value(reader *r, const ag_instr *x) {
  uint64_t *s = r->s, a = s[x->a], b = s[x->b], c = s[x->c];
  switch (x->op) {
  case AG_OP_NEG: return negated(a);
  case AG_OP_ADD: return ag_residue_add(a, b);
  case AG_OP_SUB: return ag_residue_sub(a, b);
  case AG_OP_MUL: return product(r, a, b);
  case AG_OP_DIV: return quotient(r, a, b);
  case AG_OP_FMA: return ag_residue_add(product(r, a, b), c);
  case AG_OP_FMS: return ag_residue_sub(product(r, a, b), c);
  case AG_OP_FNMA: return ag_residue_sub(c, product(r, a, b));
  case AG_OP_COPY:
  case AG_OP_CHECKPOS:
  case AG_OP_CHECKNZ: return a;
  case AG_OP_SQRT: return root(r, a);
  case AG_OP_SIN:
  case AG_OP_COS:
  case AG_OP_TAN: return circular(x->op, a);
  case AG_OP_SELECT: return ag_residue_add(c, ag_residue_mul(unary(AG_OP_NOT, a), ag_residue_sub(b, c)));
  default: return ag_op_describe((ag_op)x->op)->arity == 2 ? binary(x->op, a, b) : unary(x->op, a);
  }
}

bool ag_residue_eval(const ag_tape *tape, const uint64_t *z, uint64_t *out) {
  reader r = {.tape = tape};
  r.s = ag_heap_alloc(sizeof *r.s * (size_t)(tape->n_slot + 1));
  r.roots = ag_heap_alloc(sizeof *r.roots * (size_t)(tape->n_instr + 1));
  for (int i = 0; i < tape->n_instr; i++) {
    const ag_instr *x = &tape->instr[i];
    switch (x->op) {
    case AG_OP_LOAD:
      AG_ASSERT(x->a == AG_SEG_Z);
      r.s[x->dst] = z[x->b];
      break;
    case AG_OP_CONST: r.s[x->dst] = ag_residue_of(tape->constants[x->a]); break;
    case AG_OP_CALL_SOLVE: solve(&r, (int)x->a, r.s + x->b, r.s + x->dst); break;
    case AG_OP_CALL_LDL: solve_sparse(tape->ldls[x->a], r.s + x->b, r.s + x->dst); break;
    default: r.s[x->dst] = value(&r, x);
    }
  }
  for (int i = 0; i < tape->n_out; i++) out[i] = r.s[tape->out[i]];
  free(r.s);
  free(r.roots);
  return !r.divided_by_zero;
}

bool ag_residue_vanish(ag_graph *g, int n_in, const ag_id *inputs, int n, const ag_id *x) {
  enum { WANTED = 3, TRIES = 12 };
  int size = 0, good = 0;
  bool zero = true;
  for (int i = 0; i < n; i++) zero = zero && ag_is_zero(g, x[i]);
  if (zero) return true;
  ag_bind *binds = ag_heap_alloc(sizeof *binds * (size_t)(n_in + 1));
  for (int i = 0; i < n_in; i++) {
    binds[i] = (ag_bind){inputs[i], AG_SEG_Z, size};
    size += ag_input_storage(g, inputs[i]);
  }
  ag_tape *tape = ag_tape_create(g, n_in, binds, n, x);
  uint64_t *z = ag_heap_alloc(sizeof *z * (size_t)(size + tape->n_out + 1)), *v = z + size, state = 20261115;
  zero = true;
  for (int try = 0; try < TRIES && good < WANTED && zero; try++) {
    for (int i = 0; i < size; i++) z[i] = ag_residue_draw(&state);
    for (int i = 0; i < n_in; i++)
      if (ag_is_rotation(g, inputs[i])) ag_residue_rotation(&state, z + binds[i].offset);
    if (!ag_residue_eval(tape, z, v)) continue; /* a division by zero */
    for (int i = 0; i < tape->n_out; i++) zero = zero && v[i] == 0;
    good++;
  }
  ag_tape_free(tape);
  free(binds);
  free(z);
  return zero && good == WANTED;
}
