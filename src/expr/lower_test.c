/* SPDX-License-Identifier: MIT
 * Lowering: rotations, linear systems of all kinds and shapes, determinants; what it may cost; that nothing but scalars
 * is left. */
#include <stdlib.h>

#include "expr/graph_internal.h"

#include "check.h"

enum { MAX_N = 240 };

/* Scalars below the outputs: how many of an operation (AG_OP_NONE: all that compute something). */
static int count(ag_graph *g, int n, const ag_id *outs, ag_op op) {
  ag_id top;
  int found = 0;
  unsigned char *mark = ag_cone(g, n, outs, &top);
  for (ag_id x = 1; x <= top; x++) {
    ag_op o = ag_node_op(g, x);
    if (!mark[x] || o == AG_OP_INPUT) continue;
    AG_CHECK(o < AG_OP_FMA || o == AG_OP_CALL_SOLVE || o == AG_OP_PICK);
    found += op == AG_OP_NONE ? o != AG_OP_NUM && o != AG_OP_SLOT : o == op;
  }
  free(mark);
  return found;
}

static void check_rotation(void) {
  ag_graph *g = ag_graph_create();
  ag_id R = ag_input(g, "R", 3, 3, AG_LEAF_ROTATION), s[9];
  double q[4] = {0.5, -0.1, 0.7, 0.3}, n = 0, v[9];
  for (int k = 0; k < 4; k++) n += q[k] * q[k];
  for (int k = 0; k < 4; k++) q[k] /= sqrt(n);
  AG_CHECK(ag_evaluate(g, 1, &R, q, 1, &R, v) == 0);
  for (int j = 0; j < 3; j++) { /* columns: q e_j q*, multiplied out as e + 2 w (u x e) + 2 u x (u x e) */
    double e[3] = {j == 0, j == 1, j == 2}, c[3], d[3];
    const double *u = q + 1;
    for (int i = 0; i < 3; i++) c[i] = u[(i + 1) % 3] * e[(i + 2) % 3] - u[(i + 2) % 3] * e[(i + 1) % 3];
    for (int i = 0; i < 3; i++) d[i] = u[(i + 1) % 3] * c[(i + 2) % 3] - u[(i + 2) % 3] * c[(i + 1) % 3];
    for (int i = 0; i < 3; i++) AG_CHECK_NEAR(v[3 * i + j], e[i] + 2 * q[0] * c[i] + 2 * d[i], 4e-16);
  }
  ag_lower(g, R, s);
  AG_CHECK(count(g, 9, s, AG_OP_NONE) == 24);
  ag_lower(g, R, s); /* remembered */
  int nodes = ag_graph_count(g);
  ag_lower(g, R, s);
  AG_CHECK(ag_graph_count(g) == nodes);
  ag_graph_free(g);
}

/* ---- linear systems ---- */

typedef struct system_ {
  ag_solve_kind kind;
  int n, m;
  bool (*entry)(int n, int i, int j); /* which entries of the matrix are there */
} system_;

static bool dense(int n, int i, int j) { return (void)n, (void)i, (void)j, true; }
static bool diagonal(int n, int i, int j) { return (void)n, i == j; }
static bool band(int n, int i, int j) { return (void)n, abs(i - j) <= 1; }
static bool arrow(int n, int i, int j) { return (void)n, i == j || i == 0 || j == 0; }
static bool blocks(int n, int i, int j) { return (void)n, i % 3 == j % 3; }
static bool ring(int n, int i, int j) { return abs(i - j) <= 1 || abs(i - j) == n - 1; }

static bool pairs(int n, int i, int j) { return j / 2 <= (i + 2) % n / 2; } /* rows in another order */
static bool corner(int n, int i, int j) { return i == j || (i + 1) % n == j; }

/* An input per entry that is there; its value makes the matrix what its kind promises. */
static double matrix_value(ag_solve_kind kind, int n, int i, int j) {
  double v = sin(1.3 + 0.7 * i * j + 0.4 * (i + j)) / n;
  if (kind == AG_SOLVE_GENERAL) return 3 * v * (1 + 0.2 * i) + ((i + 1) % n == j ? 2 : 0); /* wants pivots */
  if (kind == AG_SOLVE_NEAR_EYE) v += 0.3 / n * cos(3.0 * i - j);
  return v + (i == j ? 2 : 0); /* symmetric and diagonally dominant when SPD */
}

static void residual(const system_ *s, const double *A, const double *b, const double *x) {
  double worst = 0;
  for (int i = 0; i < s->n; i++)
    for (int c = 0; c < s->m; c++) {
      double r = -b[i * s->m + c];
      for (int j = 0; j < s->n; j++) r += A[i * s->n + j] * x[j * s->m + c];
      worst = fmax(worst, fabs(r));
    }
  AG_CHECK_NEAR(worst, 0, 1e-12); /* well conditioned: some hundred roundings of numbers near 1 */
}

/* Returns the operations it costs, or minus the number of calls of the pivoted solver. */
static int check_system(const system_ *s) {
  ag_graph *g = ag_graph_create();
  int n = s->n, m = s->m, at = 0;
  size_t nn = (size_t)(n * n + n * m);
  ag_id *e = ag_heap_alloc(sizeof *e * nn), *in = ag_heap_alloc(sizeof *in * nn);
  double *v = ag_heap_alloc(sizeof *v * nn), *stored = ag_heap_alloc(sizeof *v * nn);
  double *x = ag_heap_alloc(sizeof *x * (size_t)(n * m));
  for (int k = 0; k < n * n + n * m; k++) {
    int i = k / n, j = k % n;
    if (k < n * n && !s->entry(n, i, j)) {
      e[k] = ag_num(g, 0);
      continue;
    }
    if (k < n * n && s->kind == AG_SOLVE_SPD && j < i) e[k] = e[j * n + i], v[k] = v[j * n + i];
    else {
      e[k] = in[at] = ag_input(g, "e", 1, 1, AG_LEAF_REAL);
      stored[at++] = v[k] = k < n * n ? matrix_value(s->kind, n, i, j) : cos(0.3 + k);
    }
  }
  ag_id A = ag_stack(g, n, n, e), b = ag_stack(g, n, m, e + n * n), y = ag_solve(g, A, b, s->kind);
  AG_CHECK(ag_evaluate(g, at, in, stored, 1, &y, x) == 0);
  residual(s, v, v + n * n, x);
  ag_id *scalars = ag_heap_alloc(sizeof *scalars * (size_t)(n * m));
  ag_lower(g, y, scalars);
  int calls = count(g, n * m, scalars, AG_OP_CALL_SOLVE), cost = count(g, n * m, scalars, AG_OP_NONE);
  free(scalars);
  free(e);
  free(in);
  free(v);
  free(stored);
  free(x);
  ag_graph_free(g);
  return calls ? -calls : cost;
}

static void check_systems(void) {
  static const ag_solve_kind kinds[] = {AG_SOLVE_GENERAL, AG_SOLVE_SPD, AG_SOLVE_NEAR_EYE};
  for (int k = 0; k < 3; k++)
    for (int n = 1; n <= 9; n++)
      for (int m = 1; m <= 3; m += 2) {
        int cost = check_system(&(system_){kinds[k], n, m, dense});
        AG_CHECK((cost < 0) == (kinds[k] == AG_SOLVE_GENERAL && n > 3));
        if (n > 3 && kinds[k] == AG_SOLVE_GENERAL) AG_CHECK(cost == -m);
      }
  /* costs: structure is seen */
  AG_CHECK(check_system(&(system_){AG_SOLVE_GENERAL, 1, 1, dense}) == 1);
  AG_CHECK(check_system(&(system_){AG_SOLVE_GENERAL, 7, 1, diagonal}) == 7);
  AG_CHECK(check_system(&(system_){AG_SOLVE_GENERAL, 2, 1, dense}) ==
           4 + 6 + 2);                                                       /* det and 1/det, numerators, quotients */
  AG_CHECK(check_system(&(system_){AG_SOLVE_SPD, 7, 1, diagonal}) == 7 * 3); /* check, reciprocal, product */
  AG_CHECK(check_system(&(system_){AG_SOLVE_GENERAL, 9, 1, blocks}) > 0);
  /* unknowns that other rows determine come first: pairs in a chain cost a 2 x 2 system each and their coupling */
  int pair = check_system(&(system_){AG_SOLVE_GENERAL, 2, 1, dense});
  AG_CHECK(check_system(&(system_){AG_SOLVE_GENERAL, 4, 1, pairs}) == 2 * pair + 2 * 2 * 2);
  AG_CHECK(check_system(&(system_){AG_SOLVE_GENERAL, 8, 3, pairs}) > 0);
  AG_CHECK(check_system(&(system_){AG_SOLVE_GENERAL, 5, 1, corner}) == -1); /* a cycle through all */
  int small = check_system(&(system_){AG_SOLVE_SPD, 3, 1, dense});
  AG_CHECK(check_system(&(system_){AG_SOLVE_SPD, 9, 1, blocks}) == 3 * small);
  AG_CHECK(check_system(&(system_){AG_SOLVE_SPD, 12, 1, arrow}) <= 12 * 12); /* the tip last: no fill */
  AG_CHECK(check_system(&(system_){AG_SOLVE_NEAR_EYE, 12, 1, arrow}) <= 12 * 12);
  int a = check_system(&(system_){AG_SOLVE_SPD, 60, 1, band}),
      b = check_system(&(system_){AG_SOLVE_SPD, MAX_N, 1, band});
  AG_CHECK(a > 0 && b > 0 && b <= 5 * a); /* four times as long costs four times as much */
  AG_CHECK(check_system(&(system_){AG_SOLVE_NEAR_EYE, 100, 1, band}) > 0);
  AG_CHECK(check_system(&(system_){AG_SOLVE_SPD, 100, 1, ring}) > 0);
  AG_CHECK(check_system(&(system_){AG_SOLVE_SPD, 24, 1, dense}) > 0);
  AG_CHECK(check_system(&(system_){AG_SOLVE_SPD, 40, 2, dense}) == -2);
  AG_CHECK(check_system(&(system_){AG_SOLVE_NEAR_EYE, 40, 1, dense}) == -1);
}

/* A structural zero on one side only, a zero pivot, a pivot of the wrong sign. */
static void check_pivots(void) {
  ag_graph *g = ag_graph_create();
  ag_id in[4], A[2], b, outs[3];
  for (int k = 0; k < 4; k++) in[k] = ag_input(g, "a", 1, 1, AG_LEAF_REAL);
  A[0] = ag_stack(g, 2, 2, (ag_id[]){in[0], in[1], in[1], in[2]});
  A[1] = ag_stack(g, 2, 2, (ag_id[]){in[0], ag_num(g, 0), in[1], in[2]});
  b = ag_stack(g, 2, 1, (ag_id[]){in[3], ag_num(g, 1)});
  outs[0] = ag_solve(g, A[0], b, AG_SOLVE_SPD);
  outs[1] = ag_solve(g, A[1], b, AG_SOLVE_NEAR_EYE);
  outs[2] = ag_solve(g, A[1], b, AG_SOLVE_GENERAL);
  double good[4] = {2, 1, 3, 0.5}, indefinite[4] = {1, 2, 1, 0.5}, singular[4] = {1, 1, 0, 0.5}, v[2];
  AG_CHECK(ag_evaluate(g, 4, in, good, 1, &outs[0], v) == 0);
  AG_CHECK_NEAR(2 * v[0] + v[1], 0.5, 1e-15);
  AG_CHECK_NEAR(v[0] + 3 * v[1], 1, 1e-15);
  for (int k = 1; k < 3; k++) {
    AG_CHECK(ag_evaluate(g, 4, in, good, 1, &outs[k], v) == 0);
    AG_CHECK_NEAR(v[0], 0.25, 1e-15);
    AG_CHECK_NEAR(v[1], 0.25, 1e-15);
  }
  AG_CHECK(ag_evaluate(g, 4, in, indefinite, 1, &outs[0], v) != 0);
  AG_CHECK(isnan(v[0]));
  AG_CHECK(ag_evaluate(g, 4, in, singular, 1, &outs[1], v) != 0);
  ag_graph_free(g);
}

static void check_det(void) {
  for (int n = 1; n <= 8; n++) {
    ag_graph *g = ag_graph_create();
    ag_id A = ag_input(g, "A", n, n, AG_LEAF_REAL), d = ag_det(g, A);
    double v[64], lu[64], expected = 1, r;
    for (int k = 0; k < n * n; k++) lu[k] = v[k] = sin(2.0 + k * 1.1) + (k % (n + 1) == 0 ? 3 : 0);
    for (int j = 0; j < n; j++) { /* elimination; the diagonal is large enough to need no pivots */
      expected *= lu[j * n + j];
      for (int i = j + 1; i < n; i++)
        for (int k = n - 1; k >= j; k--) lu[i * n + k] -= lu[i * n + j] / lu[j * n + j] * lu[j * n + k];
    }
    AG_CHECK(ag_evaluate(g, 1, &A, v, 1, &d, &r) == 0);
    AG_CHECK_NEAR(r, expected, 1e-13);
    ag_graph_free(g);
  }
}

/* Dot products are chains of sums of products, ready to be fused; quotients by numbers become products. */
static void check_forms(void) {
  ag_graph *g = ag_graph_create();
  ag_id a = ag_input(g, "a", 5, 1, AG_LEAF_REAL), b = ag_input(g, "b", 5, 1, AG_LEAF_REAL), s, x;
  ag_lower(g, ag_dot(g, a, b), &s);
  AG_CHECK(count(g, 1, &s, AG_OP_MUL) == 5 && count(g, 1, &s, AG_OP_ADD) == 4 && count(g, 1, &s, AG_OP_NONE) == 9);
  x = ag_div(g, ag_entry(g, a, 0, 0), ag_num(g, 3));
  ag_lower(g, x, &s);
  AG_CHECK(count(g, 1, &s, AG_OP_DIV) == 0);
  AG_CHECK(ag_node_op(g, x) == AG_OP_DIV);
  ag_graph_free(g);
}

int main(void) {
  check_rotation();
  check_systems();
  check_pivots();
  check_det();
  check_forms();
  return ag_check_report();
}
