/* SPDX-License-Identifier: MIT
 * Admissible velocities as formulas. With k columns P of S (k x n) solved for, the free column f gives the vector
 *   y_f = det S_P,  y_i = -det (S_P with its column i replaced by S_f),
 * divided by the common factors of its entries. P is chosen so that the vectors are shortest. */
#include "mech/mech_internal.h"

#include <string.h>

enum { MAX_ROWS = 4, MAX_COLUMNS = 8 };

typedef struct choice {
  ag_graph *g;
  int k, n;
  ag_id S;
  const int *pick;
} choice;

/* det of the picked columns, the one at `instead` (or none: -1) replaced by the column b */
static ag_id minor(const choice *c, int instead, ag_id b) {
  ag_id e[MAX_ROWS * MAX_ROWS], x;
  for (int i = 0; i < c->k; i++)
    for (int j = 0; j < c->k; j++)
      e[i * c->k + j] = j == instead ? ag_entry(c->g, b, i, 0) : ag_entry(c->g, c->S, i, c->pick[j]);
  x = ag_det(c->g, ag_stack(c->g, c->k, c->k, e));
  ag_normal_form(c->g, 0, NULL, NULL, 1, &x);
  return x;
}

static ag_id column(const choice *c, int f) {
  ag_id e[MAX_ROWS];
  for (int i = 0; i < c->k; i++) e[i] = ag_entry(c->g, c->S, i, f);
  return ag_stack(c->g, c->k, 1, e);
}

static bool picked(const choice *c, int f) {
  for (int j = 0; j < c->k; j++)
    if (c->pick[j] == f) return true;
  return false;
}

/* All vectors for this choice into K (n x (n - k), row-major); their length as text, or -1 when det S_P = 0. */
static int vectors(const choice *c, ag_id *K) {
  ag_graph *g = c->g;
  ag_id det = minor(c, -1, 0), v[MAX_COLUMNS];
  int size = 0, m = c->n - c->k, at = 0;
  if (ag_is_zero(g, det)) return -1;
  for (int f = 0; f < c->n; f++) {
    if (picked(c, f)) continue;
    for (int i = 0; i < c->n; i++) v[i] = i == f ? det : ag_num(g, 0);
    for (int j = 0; j < c->k; j++) v[c->pick[j]] = ag_neg(g, minor(c, j, column(c, f)));
    ag_normal_primitive(g, c->n, v);
    bool turned = ag_node_op(g, v[f]) == AG_OP_NEG; /* the free velocity has a positive sign */
    for (int i = 0; i < c->n; i++) {
      K[i * m + at] = turned ? ag_neg(g, v[i]) : v[i];
      size += ag_normal_size(g, K[i * m + at]);
    }
    at++;
  }
  return size;
}

/* -S_P^-1 s, zero in the free columns; returns its length as text. */
static int by_minors(const choice *c, ag_id det, ag_id s, ag_id *v) {
  int size = 0;
  for (int i = 0; i < c->n; i++) v[i] = ag_num(c->g, 0);
  for (int j = 0; j < c->k; j++) {
    v[c->pick[j]] = ag_neg(c->g, ag_div(c->g, minor(c, j, s), det));
    size += ag_normal_size(c->g, v[c->pick[j]]);
  }
  return size;
}

/* The shortest solution -S^T (S S^T)^-1 s, by Cramer's rule; returns its length as text, 0 where the determinant is one
 * term, such as 1 for a heading. */
static int shortest(const choice *c, ag_id s, ag_id *v) {
  ag_graph *g = c->g;
  int all[MAX_ROWS] = {0, 1, 2, 3}, size = 0;
  choice square = {g, c->k, c->k, ag_mul(g, c->S, ag_transpose(g, c->S)), all};
  ag_id w[MAX_ROWS], det = minor(&square, -1, 0);
  for (int j = 0; j < c->k; j++) w[j] = ag_div(g, minor(&square, j, s), det);
  ag_id St = ag_transpose(g, c->S), column_w = ag_stack(g, c->k, 1, w), y0 = ag_neg(g, ag_mul(g, St, column_w));
  for (int i = 0; i < c->n; i++) {
    v[i] = ag_entry(g, y0, i, 0);
    ag_normal_form(g, 0, NULL, NULL, 1, &v[i]);
    size += ag_normal_size(g, v[i]);
  }
  return ag_node_op(g, det) == AG_OP_ADD || ag_node_op(g, det) == AG_OP_SUB ? size : 0;
}

/* A solution of S y + s = 0. A minor that varies may vanish where S has its full rank, S S^T never does; the shortest
 * solution is taken then unless it is twice as long. */
static void particular(derive *d, const choice *c, ag_id s, ag_id *y0) {
  ag_id v[MAX_COLUMNS], regular[MAX_COLUMNS], det = minor(c, -1, 0);
  int size = by_minors(c, det, s, v);
  bool varies = ag_depends(c->g, 1, &det, d->nc, d->q) || ag_depends(c->g, 1, &det, 1, &d->m->t);
  bool better = varies && !ag_is_zero(c->g, s) && shortest(c, s, regular) <= 2 * size;
  *y0 = ag_stack(c->g, c->n, 1, better ? regular : v);
}

/* The next k of n in order; false after the last. */
static bool next_pick(int k, int n, int *pick) {
  int j = k - 1;
  while (j >= 0 && pick[j] == n - k + j) j--;
  if (j < 0) return false;
  pick[j]++;
  for (int i = j + 1; i < k; i++) pick[i] = pick[i - 1] + 1;
  return true;
}

ag_id ag_kernel(derive *d, ag_id S, ag_id s, ag_id *y0) {
  ag_graph *g = d->g;
  int k = ag_node_rows(g, S), n = ag_node_cols(g, S), pick[MAX_ROWS], best_pick[MAX_ROWS], least = -1;
  ag_id K[MAX_COLUMNS * MAX_COLUMNS], best = 0;
  if (k > MAX_ROWS || n > MAX_COLUMNS) return 0;
  for (int j = 0; j < k; j++) pick[j] = j;
  do {
    choice c = {g, k, n, S, pick};
    int size = vectors(&c, K);
    if (size < 0 || (best && size >= least)) continue;
    least = size;
    best = ag_stack(g, n, n - k, K);
    memcpy(best_pick, pick, sizeof pick);
  } while (next_pick(k, n, pick));
  if (best) particular(d, &(choice){g, k, n, S, best_pick}, s, y0);
  return best;
}

/* S y = b for a diagonal S: row by row; 0 for another S. */
static ag_id solve_diagonal(ag_graph *g, int k, const ag_id *S, const ag_id *b) {
  ag_id y[MAX_ROWS];
  for (int i = 0; i < k * k; i++)
    if (ag_is_zero(g, S[i]) != (i % (k + 1) != 0)) return 0;
  for (int i = 0; i < k; i++) y[i] = ag_div(g, b[i], S[i * (k + 1)]);
  return ag_stack(g, k, 1, y);
}

/* Cramer's rule, worth it where the determinant is simple (2 b for the two wheels of a cart). */
ag_id ag_kernel_solve(ag_graph *g, int k, const ag_id *S, const ag_id *b) {
  int pick[MAX_ROWS] = {0, 1, 2, 3}, given = 0, size = 0;
  ag_id y[MAX_ROWS], simple;
  if (k > MAX_ROWS) return 0;
  if ((simple = solve_diagonal(g, k, S, b))) return simple;
  choice c = {g, k, k, ag_stack(g, k, k, S), pick};
  ag_id right = ag_stack(g, k, 1, b), det = minor(&c, -1, 0);
  if (ag_is_zero(g, det)) return 0;
  for (int i = 0; i < k * k; i++) given += ag_normal_size(g, S[i]);
  for (int i = 0; i < k; i++) given += ag_normal_size(g, b[i]);
  for (int j = 0; j < k; j++) {
    y[j] = ag_div(g, minor(&c, j, right), det);
    ag_normal_form(g, 0, NULL, NULL, 1, &y[j]);
    size += ag_normal_size(g, y[j]);
  }
  return size <= 2 * given ? ag_stack(g, k, 1, y) : 0;
}

/* ---- vectors ---- */

/* An entry number 0 of a vector of this length that is a factor of x; 0: there is none. */
static ag_id first_entry(ag_graph *g, ag_id x, int dim) {
  ag_op op = ag_node_op(g, x);
  if (op == AG_OP_ENTRY) {
    ag_id v = ag_node_arg(g, x, 0);
    return ag_node_rows(g, v) == dim && ag_node_cols(g, v) == 1 && ag_entry(g, v, 0, 0) == x ? x : 0;
  }
  if (op != AG_OP_NEG && op != AG_OP_MUL && op != AG_OP_DIV) return 0;
  ag_id found = first_entry(g, ag_node_arg(g, x, 0), dim);
  return found || op != AG_OP_MUL ? found : first_entry(g, ag_node_arg(g, x, 1), dim);
}

ag_id ag_as_vector(ag_graph *g, ag_id x) {
  int dim = ag_node_rows(g, x);
  if (ag_node_op(g, x) != AG_OP_STACK || ag_node_cols(g, x) != 1 || dim < 2) return x;
  ag_id factor = ag_entry(g, x, 0, 0), first = first_entry(g, factor, dim), one = ag_num(g, 1);
  if (!first) return x;
  ag_id v = ag_node_arg(g, first, 0);
  for (int k = 1; k < dim; k++) {
    ag_id y = factor, other = ag_entry(g, v, k, 0);
    ag_substitute(g, 1, &first, &other, 1, &y);
    if (y != ag_entry(g, x, k, 0)) return x;
  }
  ag_substitute(g, 1, &first, &one, 1, &factor);
  return ag_mul(g, factor, v);
}
