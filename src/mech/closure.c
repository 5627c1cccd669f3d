/* SPDX-License-Identifier: MIT
 * Which closure a right-hand side costs less in, predicted from structure alone (docs/design/0012): where M and S have
 * entries, and which of those are 1 or -1. What both closures need (forces, rates of the rows) is left out.
 *
 * Eliminated: u = n - r velocities of each connected part, with a full mass matrix: u^3/3 + 2 u^2. A row that gives a
 * velocity by a coefficient 1 costs its u coefficients, and their rates. The other g rows, on the m velocities left,
 * need a basis: m u^2 (B^T B), g^3/3 + g^2 u (S S^T and its solves), six times for the matrices, their rates and the
 * products with M, as counted on chains, nets and pendula on a cart. A basis is also watched and renewed, and positions
 * are projected, after every step: as measured on trains, nets and pendula, a step then takes two to five times its
 * right-hand sides. It is counted as two.
 * Sparse: the factorisation of [M S^T; S 0] and two triangles. An operation of it goes through tables and takes the
 * time of one and a half others, as measured on chains of rigid bodies. docs/performance.md has the table. */
#include <stdlib.h>
#include <string.h>

#include "mech/mech_internal.h"

enum { FEWEST = 9, RENEWED = 2 }; /* velocities: below, elimination is not questioned; right-hand sides with a basis */

/* ---- connected parts ---- */

static int find(int *part, int i) {
  while (part[i] != i) i = part[i] = part[part[i]];
  return i;
}

static void join(int *part, int i, int j) { part[find(part, i)] = find(part, j); }

/* Velocities that share a row, or an entry of M. */
static void connect(const ag_sparse *M, const ag_sparse *S, int *part) {
  for (int k = 0; k < M->n_entry; k++) join(part, M->row[k], M->col[k]);
  for (int k = 1; k < S->n_entry; k++)
    if (S->row[k] == S->row[k - 1]) join(part, S->col[k], S->col[k - 1]);
}

static bool is_unit(const ag_graph *g, ag_id x) {
  double v;
  return ag_is_num(g, x, &v) && (v == 1 || v == -1);
}

/* ---- costs ---- */

typedef struct tally {
  double velocities, rows, simple; /* of a part; rows that give a velocity by a coefficient 1 */
} tally;

static double eliminated(const ag_graph *g, int n, const ag_sparse *M, const ag_sparse *S) {
  int *part = ag_heap_alloc(sizeof *part * (size_t)n);
  bool *taken = ag_heap_alloc((size_t)n);
  tally *parts = ag_heap_alloc(sizeof *parts * (size_t)n);
  double cost = 0;
  for (int i = 0; i < n; i++) part[i] = i;
  connect(M, S, part);
  for (int i = 0; i < n; i++) parts[find(part, i)].velocities++;
  for (int k = 0; k < S->n_entry;) {
    int row = S->row[k], unit = -1;
    tally *of = &parts[find(part, S->col[k])];
    for (; k < S->n_entry && S->row[k] == row; k++)
      if (unit < 0 && !taken[S->col[k]] && is_unit(g, S->x[k])) unit = S->col[k];
    if (unit >= 0) taken[unit] = true, of->simple++;
    of->rows++;
  }
  for (int i = 0; i < n; i++) {
    double r = parts[i].rows, u = parts[i].velocities - r, hard = r - parts[i].simple, m = u + hard;
    if (!(u > 0)) continue;
    double of_part = u * u * u / 3 + 2 * u * u + 4 * parts[i].simple * u;
    if (hard > 0) of_part += 6 * (m * u * u + hard * hard * hard / 3 + hard * hard * u) + 20 * m * u;
    cost += hard > 0 ? RENEWED * of_part : of_part;
  }
  free(part), free(taken), free(parts);
  return cost;
}

static double sparse(int n, int n_row, const ag_sparse *M, const ag_sparse *S) {
  int k = 0, *row = ag_heap_alloc(sizeof *row * (size_t)(M->n_entry + S->n_entry + 1)),
      *col = ag_heap_alloc(sizeof *col * (size_t)(M->n_entry + S->n_entry + 1));
  unsigned char *marks = ag_heap_alloc((size_t)(n + n_row));
  for (int i = 0; i < M->n_entry; i++)
    if (M->row[i] >= M->col[i]) row[k] = M->row[i], col[k++] = M->col[i];
  for (int i = 0; i < S->n_entry; i++) row[k] = n + S->row[i], col[k++] = S->col[i];
  memset(marks, AG_MARK_PLAIN, (size_t)n);
  memset(marks + n, AG_MARK_MULTIPLIER, (size_t)n_row);
  ag_ldl *ldl = ag_ldl_create(&(ag_pattern){n + n_row, k, row, col, marks});
  double cost = 1.5 * ag_ldl_cost(ldl);
  ag_ldl_free(ldl);
  free(row), free(col), free(marks);
  return cost;
}

void ag_closure_predict(derive *d) {
  ag_system *sys = d->sys;
  ag_graph *g = d->g;
  const ag_model *m = d->m;
  int n = sys->n.xi, n_row = sys->n.row;
  if (!n_row || n < FEWEST || n > AG_SADDLE_MAX || m->n_frames) return;
  ag_sparse M, S;
  ag_id one = ag_num(g, 1), *momentum = ag_heap_alloc(sizeof *momentum * (size_t)d->nc);
  ag_reverse(g, 1, &m->lagrangian, &one, d->nc, d->xi, momentum);
  ag_jacobian_sparse(g, ag_concat(g, d->nc, momentum), d->nc, d->xi, &M);
  ag_jacobian_sparse(g, ag_concat(g, n_row, d->row_x), d->nc, d->xi, &S);
  sys->cost = (ag_closure_cost){eliminated(g, n, &M, &S), sparse(n, n_row, &M, &S)};
  ag_sparse_done(&M), ag_sparse_done(&S);
  free(momentum);
}

ag_closure_cost ag_system_closure_cost(const ag_system *sys) { return sys->cost; }

bool ag_closure_sparse(const ag_system *sys) { return sys->cost.sparse < sys->cost.eliminated; }
