/* SPDX-License-Identifier: MIT
 * Sparse symmetric systems: the order, the factor, the solve, its derivative, and the sparse Jacobian. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "expr/expr.h"
#include "tests/check.h"

enum { MAX_N = 400 };

typedef struct matrix {
  int n, n_entry, row[8 * MAX_N], col[8 * MAX_N];
  unsigned char marks[MAX_N];
  double v[8 * MAX_N], dense[MAX_N * MAX_N];
} matrix;

static void add(matrix *m, int i, int j, double v) {
  m->row[m->n_entry] = i > j ? i : j;
  m->col[m->n_entry] = i > j ? j : i;
  m->v[m->n_entry++] = v;
  m->dense[i * m->n + j] = m->dense[j * m->n + i] = v;
}

static double noise(unsigned *state) { /* in (-1, 1), a fixed sequence */
  *state = *state * 1664525u + 1013904223u;
  return (double)(*state >> 8) / 8388608.0 - 1;
}

/* w x h masses with two velocities each, links along both directions; rows as of a lattice that is slightly bent. */
static void saddle(matrix *m, int w, int h, unsigned seed) {
  memset(m, 0, sizeof *m);
  int n = 2 * w * h, k = (w - 1) * h + w * (h - 1), r = n;
  m->n = n + k;
  for (int i = 0; i < n; i++) add(m, i, i, 1.5 + noise(&seed));
  for (int i = 0; i < w * h; i++)
    for (int side = 0; side < 2; side++) {
      int other = side ? i + w : i + 1;
      if (side ? other >= w * h : i % w == w - 1) continue;
      double x = side ? 0.2 * noise(&seed) : 1, y = side ? 1 : 0.2 * noise(&seed);
      m->marks[r] = AG_MARK_MULTIPLIER;
      add(m, r, 2 * i, x), add(m, r, 2 * i + 1, y), add(m, r, 2 * other, -x), add(m, r, 2 * other + 1, -y);
      r++;
    }
}

static void band(matrix *m, int n, unsigned seed) {
  memset(m, 0, sizeof *m);
  m->n = n;
  for (int i = 0; i < n; i++) {
    add(m, i, i, 3 + noise(&seed));
    if (i) add(m, i, i - 1, noise(&seed));
  }
}

/* An arrow: one unknown is tied to all. */
static void arrow(matrix *m, int n, unsigned seed) {
  memset(m, 0, sizeof *m);
  m->n = n;
  for (int i = 0; i < n; i++) {
    add(m, i, i, i ? 2 + noise(&seed) : 2 * n);
    if (i) add(m, i, 0, noise(&seed));
  }
}

/* n masses, each tied to the first unknown, which occurs in all ties. */
static void star(matrix *m, int n, ag_mark hub, unsigned seed) {
  memset(m, 0, sizeof *m);
  m->n = 2 * n + 1;
  m->marks[0] = (unsigned char)hub;
  add(m, 0, 0, 3);
  for (int i = 1; i <= n; i++) {
    m->marks[n + i] = AG_MARK_MULTIPLIER;
    add(m, i, i, 1.5 + noise(&seed));
    add(m, n + i, 0, 1 + 0.3 * noise(&seed));
    add(m, n + i, i, -1);
  }
}

static ag_pattern pattern_of(const matrix *m) { return (ag_pattern){m->n, m->n_entry, m->row, m->col, m->marks}; }

static void test_numbers(const matrix *m, int max_factor) {
  ag_pattern p = pattern_of(m);
  ag_ldl *f = ag_ldl_create(&p);
  static double b[MAX_N], x[MAX_N];
  unsigned seed = 7;
  bool seen[MAX_N] = {0}, before[MAX_N] = {0};
  for (int k = 0; k < m->n; k++) seen[f->order[k]] = true;
  for (int k = 0; k < m->n; k++) {
    int i = f->order[k];
    AG_CHECK(seen[k]);
    before[i] = true;
    for (int j = 0; j < m->n && m->marks[i] == AG_MARK_MULTIPLIER; j++)
      AG_CHECK(m->dense[i * m->n + j] == 0 || before[j] || m->marks[j] == AG_MARK_HUB);
  }
  AG_CHECK(f->n_factor <= max_factor);
  for (int i = 0; i < m->n; i++) b[i] = x[i] = noise(&seed);
  AG_CHECK(ag_ldl_solve(f, m->v, x, NULL) == 0);
  for (int i = 0; i < m->n; i++) { /* backward error: a few roundings per product, pivots without growth here */
    double r = -b[i], size = fabs(b[i]);
    for (int j = 0; j < m->n; j++) r += m->dense[i * m->n + j] * x[j], size += fabs(m->dense[i * m->n + j] * x[j]);
    AG_CHECK_NEAR(r / size, 0, 1e-13);
  }
  ag_ldl_free(f);
}

/* A row that follows from others is found, and left out. */
static void test_lost(void) {
  static matrix m;
  static unsigned char lost[MAX_N];
  static double x[MAX_N];
  memset(&m, 0, sizeof m);
  m.n = 6;
  for (int i = 0; i < 3; i++) add(&m, i, i, 1 + i), m.marks[3 + i] = AG_MARK_MULTIPLIER;
  add(&m, 3, 0, 1), add(&m, 3, 1, 2), add(&m, 4, 1, 1), add(&m, 4, 2, -1);
  add(&m, 5, 0, 2), add(&m, 5, 1, 5), add(&m, 5, 2, -1); /* 2 (row 3) + row 4 */
  ag_pattern p = pattern_of(&m);
  ag_ldl *f = ag_ldl_create(&p);
  for (int i = 0; i < 3; i++) x[i] = 0, x[3 + i] = (double[]){1, 2, 4}[i];
  AG_CHECK(ag_ldl_solve(f, m.v, x, lost) == 1);
  AG_CHECK(lost[3] + lost[4] + lost[5] == 1 && !lost[0] && !lost[1] && !lost[2]);
  AG_CHECK_NEAR(x[0] + 2 * x[1], 1, 1e-14);
  AG_CHECK_NEAR(x[1] - x[2], 2, 1e-14);
  for (int i = 0; i < 6; i++) x[i] = 1;
  AG_CHECK(ag_ldl_solve(f, m.v, x, NULL) == 1);
  bool nan = false;
  for (int i = 0; i < 6; i++) nan = nan || isnan(x[i]);
  AG_CHECK(nan);
  m.v[0] = -1; /* not positive definite */
  AG_CHECK(ag_ldl_solve(f, m.v, x, lost) > 0 && lost[0]);
  ag_ldl_free(f);
}

/* The graph's solve: values against the dense solve, both derivatives against each other and against differences. */
static void test_graph(const matrix *m) {
  ag_graph *g = ag_graph_create();
  ag_pattern p = pattern_of(m);
  ag_id s = ag_input(g, "s", 1, 1, AG_LEAF_REAL), b = ag_input(g, "b", m->n, 1, AG_LEAF_REAL);
  static ag_id e[8 * MAX_N];
  static double in[MAX_N + 1], x[MAX_N], dense[MAX_N], up[MAX_N], down[MAX_N], out[2];
  unsigned seed = 3;
  for (int k = 0; k < m->n_entry; k++) /* every third entry depends on s */
    e[k] = k % 3 ? ag_num(g, m->v[k])
                 : ag_mul(g, ag_num(g, m->v[k]), ag_add(g, ag_num(g, 1), ag_mul(g, ag_num(g, 0.1 * noise(&seed)), s)));
  ag_id y = ag_solve_sparse(g, &p, e, b), inputs[2] = {s, b};
  static ag_id full[MAX_N * MAX_N];
  for (int i = 0; i < m->n * m->n; i++) full[i] = ag_num(g, 0);
  for (int k = 0; k < m->n_entry; k++) full[m->row[k] * m->n + m->col[k]] = full[m->col[k] * m->n + m->row[k]] = e[k];
  ag_id z = ag_solve(g, ag_stack(g, m->n, m->n, full), b, AG_SOLVE_GENERAL);
  in[0] = 0.7;
  for (int i = 0; i < m->n; i++) in[1 + i] = noise(&seed);
  AG_CHECK(ag_evaluate(g, 2, inputs, in, 1, &y, x) == 0);
  AG_CHECK(ag_evaluate(g, 2, inputs, in, 1, &z, dense) == 0);
  for (int i = 0; i < m->n; i++) AG_CHECK_NEAR(x[i], dense[i], 1e-12); /* condition below 1e3 */
  ag_id w = ag_dot(g, y, y), one = ag_num(g, 1), tangent, grads[2], zero = ag_zero(g, m->n, 1), seeds[2] = {one, zero};
  ag_forward(g, 2, inputs, seeds, 1, &w, &tangent);
  ag_reverse(g, 1, &w, &one, 2, inputs, grads);
  ag_id both[2] = {tangent, grads[0]};
  AG_CHECK(ag_evaluate(g, 2, inputs, in, 2, both, out) == 0);
  AG_CHECK_NEAR(out[0], out[1], 1e-11 * (1 + fabs(out[0])));
  double h = 1e-5;
  in[0] += h;
  AG_CHECK(ag_evaluate(g, 2, inputs, in, 1, &w, up) == 0);
  in[0] -= 2 * h;
  AG_CHECK(ag_evaluate(g, 2, inputs, in, 1, &w, down) == 0);
  AG_CHECK_NEAR((up[0] - down[0]) / (2 * h), out[0], 1e-6 * (1 + fabs(out[0]))); /* h^2, rounding over h */
  ag_graph_free(g);
}

/* Entries of the sparse Jacobian are those of the dense one, and no others. */
static void test_jacobian(void) {
  ag_graph *g = ag_graph_create();
  enum { N = 7 };
  ag_id q = ag_input(g, "q", N, 1, AG_LEAF_REAL), R = ag_input(g, "R", 3, 3, AG_LEAF_ROTATION),
        a = ag_input(g, "a", 3, 1, AG_LEAF_REAL);
  ag_id rows[N + 4], inputs[3] = {a, q, R};
  for (int i = 0; i < N; i++) {
    ag_id u = ag_entry(g, q, i, 0), v = ag_entry(g, q, (i + 2) % N, 0);
    rows[i] = ag_sub(g, ag_mul(g, u, u), ag_apply1(g, AG_OP_SIN, v));
  }
  ag_id Ra = ag_mul(g, R, a);
  for (int i = 0; i < 3; i++) rows[N + i] = ag_mul(g, ag_entry(g, Ra, i, 0), ag_entry(g, q, i, 0));
  rows[N + 3] = ag_dot(g, q, q);
  ag_id x = ag_stack(g, N + 4, 1, rows), J = ag_jacobian(g, x, 3, inputs);
  ag_sparse s;
  ag_jacobian_sparse(g, x, 3, inputs, &s);
  AG_CHECK(s.n_row == N + 4 && s.n_col == N + 6 && s.n_entry == 2 * N + 3 * (3 + 1 + 3) + N);
  int n_found = 0;
  for (int k = 0; k < s.n_entry; k++) {
    AG_CHECK(k == 0 || s.row[k] > s.row[k - 1] || (s.row[k] == s.row[k - 1] && s.col[k] > s.col[k - 1]));
    double in[3 + N + 4] = {0.3, -0.2, 0.9, 1, 2, 3, 4, 5, 6, 7, 0.5, 0.5, -0.5, 0.5}, out[2];
    ag_id both[2] = {s.x[k], ag_entry(g, J, s.row[k], s.col[k])};
    AG_CHECK(ag_evaluate(g, 3, inputs, in, 2, both, out) == 0);
    AG_CHECK_NEAR(out[0], out[1], 1e-14 * (1 + fabs(out[1])));
    n_found += out[1] != 0;
  }
  AG_CHECK(n_found > 2 * N);
  ag_sparse_done(&s);
  ag_graph_free(g);
}

int main(void) {
  static matrix m;
  band(&m, 300, 1);
  test_numbers(&m, 299); /* no fill */
  test_graph(&m);
  arrow(&m, 300, 2);
  test_numbers(&m, 299); /* the tip last: no fill */
  test_graph(&m);
  saddle(&m, 6, 1, 3);
  test_numbers(&m, 200);
  test_graph(&m);
  saddle(&m, 9, 8, 4);
  test_numbers(&m, 9000);
  test_graph(&m);
  star(&m, 100, AG_MARK_PLAIN, 5);
  test_numbers(&m, 100 + 100 + 100 * 99 / 2); /* the ties are all joined */
  star(&m, 100, AG_MARK_HUB, 5);
  test_numbers(&m, 300); /* each goes with its mass: to the tie, to the hub */
  test_graph(&m);
  test_lost();
  test_jacobian();
  return ag_check_report();
}
