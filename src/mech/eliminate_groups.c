/* SPDX-License-Identifier: MIT
 * The rows that are left when everything with a constant coefficient has been eliminated: coefficients, connected
 * groups, their rank and their minors. */
#include <string.h>

#include "mech/eliminate_internal.h"

void ag_elim_coefficients(elim *e, ag_id row, ag_id *out) {
  ag_id one = ag_num(e->g, 1), *inputs = ag_heap_alloc(sizeof *inputs * (size_t)(e->n_leaf + 1));
  for (int i = 0; i < e->n_leaf; i++) inputs[i] = e->leaves[i].input;
  ag_reverse(e->g, 1, &row, &one, e->n_leaf, inputs, out);
  free(inputs);
}

static int root(const int *parent, int i) {
  while (parent[i] != i) i = parent[i];
  return i;
}

/* All scalar columns (leaf, component) and the full coefficient table of the remaining rows. */
typedef struct columns {
  int n;
  leaf *col;
  ag_id *S; /* n_row x n */
} columns;

static columns all_columns(elim *e) {
  columns all = {0};
  ag_arena *arena = e->d->sys->arena;
  int capacity = e->d->sys->n.xi;
  all.col = AG_NEWN(arena, leaf, capacity + 1);
  for (int i = 0; i < e->n_leaf; i++) {
    int dim = ag_node_rows(e->g, e->leaves[i].input);
    for (int k = 0; k < dim; k++)
      all.col[all.n++] = (leaf){e->leaves[i].input, e->leaves[i].coord, dim > 1 ? k : e->leaves[i].row};
  }
  all.S = AG_NEWN(arena, ag_id, e->n_row * all.n + 1);
  ag_id *c = ag_heap_alloc(sizeof *c * (size_t)(e->n_leaf + 1));
  for (int r = 0; r < e->n_row; r++) {
    ag_elim_coefficients(e, e->rows[r], c);
    int at = 0;
    for (int i = 0; i < e->n_leaf; i++)
      for (int k = 0; k < ag_node_rows(e->g, e->leaves[i].input); k++)
        all.S[r * all.n + at++] = ag_entry(e->g, c[i], k, 0);
  }
  free(c);
  return all;
}

/* Connected groups: rows that share a velocity. */
int ag_groups_make(elim *e, group *groups) {
  columns all = all_columns(e);
  ag_arena *arena = e->d->sys->arena;
  int m = e->n_row, n_group = 0, *parent = ag_heap_alloc(sizeof(int) * (size_t)(m + 1));
  for (int r = 0; r < m; r++) parent[r] = r;
  for (int c = 0; c < all.n; c++)
    for (int r = 0, first = -1; r < m; r++) {
      if (ag_is_zero(e->g, all.S[r * all.n + c])) continue;
      if (first < 0) first = r;
      else parent[root(parent, r)] = root(parent, first);
    }
  for (int k = 0; k < m; k++) {
    if (root(parent, k) != k) continue;
    group *grp = &groups[n_group++];
    *grp = (group){.row = AG_NEWN(arena, int, m), .col = AG_NEWN(arena, leaf, all.n + 1)};
    int *at = ag_heap_alloc(sizeof(int) * (size_t)(all.n + 1));
    for (int r = 0; r < m; r++)
      if (root(parent, r) == k) grp->row[grp->n_row++] = r;
    for (int c = 0; c < all.n; c++) {
      bool touches = false;
      for (int i = 0; i < grp->n_row; i++) touches = touches || !ag_is_zero(e->g, all.S[grp->row[i] * all.n + c]);
      if (touches) at[grp->n_col] = c, grp->col[grp->n_col++] = all.col[c];
    }
    grp->S = AG_NEWN(arena, ag_id, grp->n_row * grp->n_col + 1);
    for (int i = 0; i < grp->n_row; i++)
      for (int j = 0; j < grp->n_col; j++) grp->S[i * grp->n_col + j] = all.S[grp->row[i] * all.n + at[j]];
    free(at);
  }
  free(parent);
  return n_group;
}

double ag_group_minor(const elim *e, const group *grp, bool later, int *pick) {
  ag_id *norms = ag_heap_alloc(sizeof *norms * (size_t)(grp->n_row + 1));
  for (int i = 0; i < grp->n_row; i++) norms[i] = e->norms[grp->row[i]];
  double value = ag_minor_best(e->d, later, grp->n_row, grp->n_col, grp->S, norms, pick);
  free(norms);
  return value;
}

bool ag_groups_rank(elim *e, int n_group, group *groups) {
  const ag_system *sys = e->d->sys;
  int spare = sys->n.lambda - sys->n.rank;
  for (int i = 0; i < n_group; i++) {
    group *grp = &groups[i];
    grp->rank = grp->n_row;
    if (sys->n.rank == sys->n.lambda) continue;
    ag_id *norms = ag_heap_alloc(sizeof *norms * (size_t)(grp->n_row + 1));
    for (int r = 0; r < grp->n_row; r++) norms[r] = e->norms[grp->row[r]];
    grp->rank = ag_minor_rank(e->d, grp->n_row, grp->n_col, grp->S, norms);
    free(norms);
    spare -= grp->n_row - grp->rank;
  }
  return spare == 0;
}
