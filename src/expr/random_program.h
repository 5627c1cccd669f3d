/* SPDX-License-Identifier: MIT
 * For tests: random straight-line programs over scalars, 3-vectors, 3 x 3 matrices, rotations and 5-vectors. A program
 * can be built as a graph, with all rules applied, and run in long double from the definitions, without rules: the two
 * must agree. Runs also report whether a branch (if, abs, min, ...) was taken differently, so that finite differences
 * across a kink can be skipped. */
#ifndef AG_EXPR_RANDOM_PROGRAM_H
#define AG_EXPR_RANDOM_PROGRAM_H
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "expr/expr.h"

typedef enum kind { S, V, M, R, W, N_KIND } kind; /* scalar, 3 x 1, 3 x 3, rotation, 5 x 1 */

/* code, kind of the result, kinds of the arguments */
/* clang-format off */
#define PROGRAM_OPS(X) \
  X(IN_S, S, 0, 0, 0) X(IN_V, V, 0, 0, 0) X(IN_M, M, 0, 0, 0) X(IN_R, R, 0, 0, 0) X(IN_W, W, 0, 0, 0) \
  X(NUMBER, S, 0, 0, 0) X(ADD_S, S, S, S, 0) X(SUB_S, S, S, S, 0) X(MUL_S, S, S, S, 0) X(DIV_S, S, S, S, 0) \
  X(NEG_S, S, S, 0, 0) X(SIN_S, S, S, 0, 0) X(COS_S, S, S, 0, 0) X(TANH_S, S, S, 0, 0) X(ROOT_S, S, S, 0, 0) \
  X(ABS_S, S, S, 0, 0) X(MIN_S, S, S, S, 0) X(MAX_S, S, S, S, 0) X(IF_S, S, S, S, S) X(CUBE_S, S, S, 0, 0) \
  X(ATAN2_S, S, S, S, 0) X(HYPOT_S, S, S, S, 0) X(DOT_V, S, V, V, 0) X(DOT_W, S, W, W, 0) X(NORM_V, S, V, 0, 0) \
  X(ENTRY_V, S, V, 0, 0) X(ENTRY_M, S, M, 0, 0) X(ENTRY_R, S, R, 0, 0) X(ENTRY_W, S, W, 0, 0) X(DET_M, S, M, 0, 0) \
  X(ADD_V, V, V, V, 0) X(SUB_V, V, V, V, 0) X(NEG_V, V, V, 0, 0) X(SCALE_V, V, S, V, 0) X(CROSS_V, V, V, V, 0) \
  X(MUL_MV, V, M, V, 0) X(MUL_RV, V, R, V, 0) X(MUL_RTV, V, R, V, 0) X(IF_V, V, S, V, V) X(STACK_V, V, S, S, S) \
  X(ROWS_V, V, W, 0, 0) X(SOLVE_V, V, M, V, 0) X(UNIT_V, V, 0, 0, 0) X(SPD_V, V, M, V, 0) X(NEAR_V, V, M, V, 0) \
  X(ADD_M, M, M, M, 0) X(SUB_M, M, M, M, 0) X(SCALE_M, M, S, M, 0) X(MUL_M, M, M, M, 0) X(TRANS_M, M, M, 0, 0) \
  X(HAT_M, M, V, 0, 0) X(OUTER_M, M, V, V, 0) X(FROM_R, M, R, 0, 0) X(STACK_M, M, S, S, S) X(EYE_M, M, 0, 0, 0) \
  X(NEG_M, M, M, 0, 0) X(IF_M, M, S, M, M) X(INV_M, M, M, 0, 0) \
  X(TRANS_R, R, R, 0, 0) X(MUL_R, R, R, R, 0) X(TURN_R, R, S, 0, 0) \
  X(CONCAT_W, W, V, S, S) X(ADD_W, W, W, W, 0) X(SCALE_W, W, S, W, 0) X(STACK_W, W, S, S, S) X(IF_W, W, S, W, W)
/* clang-format on */

typedef enum code {
#define X(NAME, ...) NAME,
  PROGRAM_OPS(X)
#undef X
      N_CODE
} code;

typedef struct code_row {
  unsigned char result, arg[3];
} code_row;

static const code_row code_rows[N_CODE] = {
#define X(NAME, K, A, B, C) [NAME] = {K, {A, B, C}},
    PROGRAM_OPS(X)
#undef X
};

static int code_n_arg(code c) {
  switch (c) {
  case IN_S:
  case IN_V:
  case IN_M:
  case IN_R:
  case IN_W:
  case NUMBER:
  case UNIT_V:
  case EYE_M: return 0;
  case NEG_S:
  case SIN_S:
  case COS_S:
  case TANH_S:
  case ROOT_S:
  case ABS_S:
  case CUBE_S:
  case NORM_V:
  case ENTRY_V:
  case ENTRY_M:
  case ENTRY_R:
  case ENTRY_W:
  case DET_M:
  case NEG_V:
  case ROWS_V:
  case TRANS_M:
  case HAT_M:
  case FROM_R:
  case NEG_M:
  case INV_M:
  case TRANS_R:
  case TURN_R: return 1;
  case IF_S:
  case IF_V:
  case IF_M:
  case IF_W:
  case STACK_V:
  case STACK_M:
  case CONCAT_W:
  case STACK_W: return 3;
  default: return 2;
  }
}

enum { MAX_PROGRAM = 120 };
typedef struct step {
  code op;
  int arg[3], pick; /* pick: which entry, which row, the size of a number */
} step;
typedef struct value {
  long double v[9];
} value;
typedef struct program {
  int n, n_input;
  step s[MAX_PROGRAM];
} program;

static const int kind_rows[N_KIND] = {1, 3, 3, 3, 5}, kind_cols[N_KIND] = {1, 1, 3, 3, 1};
static int kind_size(kind k) { return kind_rows[k] * kind_cols[k]; }
static kind step_kind(const program *p, int i) { return code_rows[p->s[i].op].result; }

static uint64_t random_bits(uint64_t *state) { /* splitmix64 */
  uint64_t z = (*state += 0x9e3779b97f4a7c15ULL);
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
  return z ^ z >> 31;
}
static int random_int(uint64_t *state, int n) { return (int)(random_bits(state) % (uint64_t)n); }
static double random_real(uint64_t *state) { return (double)(random_bits(state) >> 11) * 0x1p-52 - 1; }

/* ---- the definitions, in long double ---- */

static void run_mul(const long double *a, const long double *b, bool transpose, int m, long double *y) {
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < m; j++) {
      y[i * m + j] = 0;
      for (int k = 0; k < 3; k++) y[i * m + j] += (transpose ? a[3 * k + i] : a[3 * i + k]) * b[k * m + j];
    }
}

static long double run_det(const long double *a) {
  return a[0] * (a[4] * a[8] - a[5] * a[7]) - a[1] * (a[3] * a[8] - a[5] * a[6]) + a[2] * (a[3] * a[7] - a[4] * a[6]);
}

static void run_inverse(const long double *a, long double *y) {
  long double d = run_det(a);
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) {
      int p = (j + 1) % 3, q = (j + 2) % 3, r = (i + 1) % 3, s = (i + 2) % 3;
      y[3 * i + j] = (a[3 * p + r] * a[3 * q + s] - a[3 * p + s] * a[3 * q + r]) / d;
    }
}

/* Matrices that are safe to solve with: 1 + A A^T/(1 + |A|^2) for SPD, 1 + A/(4 (1 + |A|^2)) for the others. */
static void run_safe(const long double *a, bool spd, long double *y) {
  long double n = 1;
  for (int k = 0; k < 9; k++) n += a[k] * a[k];
  for (int k = 0; k < 9; k++) {
    long double s = a[k] / (4 * n);
    if (spd) {
      s = 0;
      for (int l = 0; l < 3; l++) s += a[3 * (k / 3) + l] * a[3 * (k % 3) + l] / n;
    }
    y[k] = (k % 4 == 0) + s;
  }
}

static void run_scalar(code op, int pick, const long double *a, const long double *b, const long double *c,
                       long double *y, int *choice) {
  switch (op) {
  case NUMBER: *y = (pick % 9 - 4) / 2.0L; break;
  case ADD_S: *y = *a + *b; break;
  case SUB_S: *y = *a - *b; break;
  case MUL_S: *y = *a * *b; break;
  case DIV_S: *y = *a / (1.5L + *b * *b); break;
  case NEG_S: *y = -*a; break;
  case SIN_S: *y = sinl(*a); break;
  case COS_S: *y = cosl(*a); break;
  case TANH_S: *y = tanhl(*a); break;
  case ROOT_S: *y = sqrtl(1 + *a * *a); break;
  case ABS_S: *y = fabsl(*a), *choice = *a < 0; break;
  case MIN_S: *y = *a < *b ? *a : *b, *choice = *a < *b; break;
  case MAX_S: *y = *a > *b ? *a : *b, *choice = *a > *b; break;
  case IF_S: *y = *a < 0.25L ? *b : *c, *choice = *a < 0.25L; break;
  case CUBE_S: *y = *a * *a * *a; break;
  case ATAN2_S: *y = atan2l(*a, 1.5L + *b * *b); break;
  case HYPOT_S: *y = hypotl(*a, 1 + *b * *b); break;
  case DOT_V: *y = a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; break;
  case DOT_W: *y = a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3] + a[4] * b[4]; break;
  case NORM_V: *y = sqrtl(a[0] * a[0] + a[1] * a[1] + a[2] * a[2]); break;
  case ENTRY_V: *y = a[pick % 3]; break;
  case ENTRY_M:
  case ENTRY_R: *y = a[pick % 9]; break;
  case ENTRY_W: *y = a[pick % 5]; break;
  default: *y = run_det(a); /* DET_M */
  }
}

static void run_tensor(code op, int pick, int n, const long double *a, const long double *b, const long double *c,
                       long double *y, int *choice) {
  long double t[9], u[9];
  for (int k = 0; k < n; k++) {
    if (op == ADD_V || op == ADD_M || op == ADD_W) y[k] = a[k] + b[k];
    if (op == SUB_V || op == SUB_M) y[k] = a[k] - b[k];
    if (op == NEG_V || op == NEG_M) y[k] = -a[k];
    if (op == SCALE_V || op == SCALE_M || op == SCALE_W) y[k] = a[0] * b[k];
    if (op == IF_V || op == IF_M || op == IF_W) y[k] = a[0] < 0.25L ? b[k] : c[k], *choice = a[0] < 0.25L;
    if (op == TRANS_M || op == TRANS_R) y[k] = a[k % 3 * 3 + k / 3];
    if (op == FROM_R) y[k] = a[k];
    if (op == EYE_M) y[k] = k % 4 == 0;
    if (op == UNIT_V) y[k] = k == pick % 3;
    if (op == OUTER_M) y[k] = a[k / 3] * b[k % 3];
    if (op == ROWS_V) y[k] = a[pick % 3 + k];
    if (op == STACK_M) y[k] = k % 4 == 0 ? *a : k == 1 ? *b : k == 5 ? *c : 0;
    if (op == STACK_W || op == STACK_V) y[k] = k == 0 ? *a : k == 1 ? *b : k == 2 ? *c : k - 3;
    if (op == CONCAT_W) y[k] = k < 3 ? a[k] : k == 3 ? *b : *c;
  }
  if (op == CROSS_V)
    for (int k = 0; k < 3; k++) y[k] = a[(k + 1) % 3] * b[(k + 2) % 3] - a[(k + 2) % 3] * b[(k + 1) % 3];
  if (op == MUL_MV || op == MUL_RV || op == MUL_RTV) run_mul(a, b, op == MUL_RTV, 1, y);
  if (op == MUL_M || op == MUL_R) run_mul(a, b, false, 3, y);
  if (op == HAT_M) memcpy(y, (long double[]){0, -a[2], a[1], a[2], 0, -a[0], -a[1], a[0], 0}, sizeof t);
  if (op == TURN_R) {
    long double s = sinl(*a), k = cosl(*a);
    memcpy(y, (long double[]){k, -s, 0, s, k, 0, 0, 0, 1}, sizeof t);
  }
  if (op == SOLVE_V || op == SPD_V || op == NEAR_V || op == INV_M) {
    run_safe(a, op == SPD_V, t);
    run_inverse(t, u);
    if (op == INV_M) memcpy(y, u, sizeof u);
    else run_mul(u, b, false, 1, y);
  }
}

/* Values of all steps; inputs[i]: value of the i-th input step. Returns a hash of the choices taken. */
static uint64_t program_run(const program *p, const value *inputs, value *v) {
  uint64_t path = 0;
  for (int i = 0, k = 0; i < p->n; i++) {
    const step *s = &p->s[i];
    int choice = 0;
    if (s->op <= IN_W) {
      v[i] = inputs[k++];
      continue;
    }
    const long double *a = v[s->arg[0]].v, *b = v[s->arg[1]].v, *c = v[s->arg[2]].v;
    if (step_kind(p, i) == S) run_scalar(s->op, s->pick, a, b, c, v[i].v, &choice);
    else run_tensor(s->op, s->pick, kind_size(step_kind(p, i)), a, b, c, v[i].v, &choice);
    path = path * 3 + (uint64_t)choice;
  }
  return path;
}

/* ---- the same as a graph ---- */

static ag_id plus(ag_graph *g, ag_id a, double c) { return ag_add(g, a, ag_num(g, c)); }

static ag_id build_safe(ag_graph *g, ag_id A, bool spd) {
  ag_id n = ag_num(g, 1), S_;
  for (int k = 0; k < 9; k++) {
    ag_id e = ag_entry(g, A, k / 3, k % 3);
    e = ag_mul(g, e, e);
    n = ag_add(g, n, e);
  }
  S_ = spd ? ag_mul(g, A, ag_transpose(g, A)) : A;
  S_ = ag_div(g, S_, spd ? n : ag_mul(g, ag_num(g, 4), n));
  return ag_add(g, S_, ag_eye(g, 3));
}

static ag_id build_scalar(ag_graph *g, code op, int pick, ag_id a, ag_id b, ag_id c) {
  ag_id x;
  switch (op) {
  case NUMBER: return ag_num(g, (pick % 9 - 4) / 2.0);
  case ADD_S: return ag_add(g, a, b);
  case SUB_S: return ag_sub(g, a, b);
  case MUL_S: return ag_mul(g, a, b);
  case DIV_S: return ag_div(g, a, plus(g, ag_mul(g, b, b), 1.5));
  case NEG_S: return ag_neg(g, a);
  case SIN_S: return ag_apply1(g, AG_OP_SIN, a);
  case COS_S: return ag_apply1(g, AG_OP_COS, a);
  case TANH_S: return ag_apply1(g, AG_OP_TANH, a);
  case ROOT_S: return ag_apply1(g, AG_OP_SQRT, plus(g, ag_mul(g, a, a), 1));
  case ABS_S: return ag_apply1(g, AG_OP_ABS, a);
  case MIN_S: return ag_apply2(g, AG_OP_MIN, a, b);
  case MAX_S: return ag_apply2(g, AG_OP_MAX, a, b);
  case IF_S: x = ag_apply2(g, AG_OP_LT, a, ag_num(g, 0.25)); return ag_select(g, x, b, c);
  case CUBE_S: return ag_pow(g, a, ag_num(g, 3));
  case ATAN2_S: return ag_apply2(g, AG_OP_ATAN2, a, plus(g, ag_mul(g, b, b), 1.5));
  case HYPOT_S: return ag_apply2(g, AG_OP_HYPOT, a, plus(g, ag_mul(g, b, b), 1));
  case DOT_V:
  case DOT_W: return ag_dot(g, a, b);
  case NORM_V: return ag_norm(g, a);
  case ENTRY_V: return ag_entry(g, a, pick % 3, 0);
  case ENTRY_M:
  case ENTRY_R: return ag_entry(g, a, pick % 9 / 3, pick % 9 % 3);
  case ENTRY_W: return ag_entry(g, a, pick % 5, 0);
  default: return ag_det(g, a);
  }
}

static ag_id build_stack(ag_graph *g, code op, int pick, ag_id a, ag_id b, ag_id c) {
  ag_id e[9], zero = ag_num(g, 0), one = ag_num(g, 1);
  switch (op) {
  case STACK_V: return ag_stack(g, 3, 1, (ag_id[]){a, b, c});
  case STACK_W: return ag_stack(g, 5, 1, (ag_id[]){a, b, c, zero, one});
  case UNIT_V:
    for (int k = 0; k < 3; k++) e[k] = k == pick % 3 ? one : zero;
    return ag_stack(g, 3, 1, e);
  case STACK_M: return ag_stack(g, 3, 3, (ag_id[]){a, b, zero, zero, a, c, zero, zero, a});
  default: { /* TURN_R */
    ag_id s = ag_apply1(g, AG_OP_SIN, a), k = ag_apply1(g, AG_OP_COS, a), m = ag_neg(g, s);
    return ag_rotation(g, ag_stack(g, 3, 3, (ag_id[]){k, m, zero, s, k, zero, zero, zero, one}));
  }
  }
}

static ag_id build_tensor(ag_graph *g, code op, int pick, ag_id a, ag_id b, ag_id c) {
  ag_id x;
  switch (op) {
  case ADD_V:
  case ADD_M:
  case ADD_W: return ag_add(g, a, b);
  case SUB_V:
  case SUB_M: return ag_sub(g, a, b);
  case NEG_V:
  case NEG_M: return ag_neg(g, a);
  case SCALE_V:
  case SCALE_M:
  case SCALE_W:
  case MUL_MV:
  case MUL_RV:
  case MUL_M:
  case MUL_R: return ag_mul(g, a, b);
  case MUL_RTV: return ag_mul(g, ag_transpose(g, a), b);
  case CROSS_V: return ag_cross(g, a, b);
  case IF_V:
  case IF_M:
  case IF_W: x = ag_apply2(g, AG_OP_LT, a, ag_num(g, 0.25)); return ag_select(g, x, b, c);
  case ROWS_V: return ag_rows_of(g, a, pick % 3, 3);
  case SOLVE_V: return ag_solve(g, build_safe(g, a, false), b, AG_SOLVE_GENERAL);
  case NEAR_V: return ag_solve(g, build_safe(g, a, false), b, AG_SOLVE_NEAR_EYE);
  case SPD_V: return ag_solve(g, build_safe(g, a, true), b, AG_SOLVE_SPD);
  case INV_M: return ag_inverse(g, build_safe(g, a, false));
  case TRANS_M:
  case TRANS_R: return ag_transpose(g, a);
  case HAT_M: return ag_hat(g, a);
  case OUTER_M: return ag_mul(g, a, ag_transpose(g, b));
  case FROM_R: return a;
  case EYE_M: return ag_eye(g, 3);
  case CONCAT_W: return ag_concat(g, 3, (ag_id[]){a, b, c});
  default: return build_stack(g, op, pick, a, b, c);
  }
}

/* ids[i]: node of step i; inputs[]: the inputs in order. */
static void program_build(const program *p, ag_graph *g, ag_id *ids, ag_id *inputs) {
  for (int i = 0, k = 0; i < p->n; i++) {
    const step *s = &p->s[i];
    kind t = step_kind(p, i);
    char name[] = {"svMRw"[t], (char)('0' + k % 10), 0};
    if (s->op <= IN_W) {
      ids[i] = inputs[k++] = ag_input(g, name, kind_rows[t], kind_cols[t], t == R ? AG_LEAF_ROTATION : AG_LEAF_REAL);
      continue;
    }
    ag_id a = ids[s->arg[0]], b = ids[s->arg[1]], c = ids[s->arg[2]];
    ids[i] = t == S ? build_scalar(g, s->op, s->pick, a, b, c) : build_tensor(g, s->op, s->pick, a, b, c);
  }
}

/* ---- random programs and inputs ---- */

static void rotation_of(const long double q[4], long double *y) {
  long double w = q[0], n = 0;
  for (int k = 0; k < 4; k++) n += q[k] * q[k];
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) {
      int k = 3 - i - j;
      long double cross = i == j ? w * w * 2 / n - 1 : 2 * w * q[k + 1] / n * ((j - i + 3) % 3 == 1 ? -1 : 1);
      y[3 * i + j] = 2 * q[i + 1] * q[j + 1] / n + cross;
    }
}

/* Inputs as values, and as the stored numbers in one row (rotations: quaternions). Returns how many of these. */
static int program_inputs(const program *p, uint64_t *state, value *inputs, double *stored) {
  int n = 0;
  for (int i = 0; i < p->n_input; i++) {
    kind t = step_kind(p, i);
    int size = t == R ? 4 : kind_size(t);
    double norm = 0;
    for (int k = 0; k < size; k++) stored[n + k] = random_real(state) * 1.2, norm += stored[n + k] * stored[n + k];
    long double q[4];
    for (int k = 0; k < 4 && t == R; k++) q[k] = stored[n + k] /= sqrt(norm);
    if (t == R) rotation_of(q, inputs[i].v);
    else
      for (int k = 0; k < size; k++) inputs[i].v[k] = stored[n + k];
    n += size;
  }
  return n;
}

static bool value_small(const value *v, int n) {
  for (int k = 0; k < n; k++)
    if (!(fabsl(v->v[k]) < 20)) return false;
  return true;
}

/* n_step steps after the inputs (2 scalars, 2 vectors, a matrix, 2 rotations, a 5-vector). A step whose value at one
 * random place is large is thrown away. */
static void program_make(program *p, uint64_t *state, int n_step) {
  static const code inputs[] = {IN_S, IN_S, IN_V, IN_V, IN_M, IN_R, IN_R, IN_W};
  value in[8], v[MAX_PROGRAM];
  double stored[64];
  *p = (program){0};
  for (int i = 0; i < 8; i++) p->s[p->n++].op = inputs[i];
  p->n_input = 8;
  program_inputs(p, state, in, stored);
  while (p->n < 8 + n_step) {
    step *s = &p->s[p->n];
    memset(s, 0, sizeof *s);
    s->op = (code)(NUMBER + random_int(state, N_CODE - NUMBER));
    s->pick = random_int(state, 45);
    for (int k = 0; k < code_n_arg(s->op); k++) {
      do
        s->arg[k] = random_int(state, 3) ? p->n - 1 - random_int(state, p->n < 12 ? p->n : 12)
                                         : random_int(state, p->n);
      while (step_kind(p, s->arg[k]) != code_rows[s->op].arg[k] &&
             !(step_kind(p, s->arg[k]) == R && code_rows[s->op].arg[k] == M));
    }
    p->n++;
    program_run(p, in, v);
    if (!value_small(&v[p->n - 1], kind_size(step_kind(p, p->n - 1)))) p->n--;
  }
}
#endif
