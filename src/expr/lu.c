/* SPDX-License-Identifier: MIT
 * Sparse matrices that are not symmetric, before there are numbers: the table of an L U factorisation in a fixed order,
 * without exchanges. The order and the places are those of the symmetric pattern that contains the matrix (sparse.c):
 * L and the transpose of U have the entries of its factor. */
#include <stdlib.h>
#include <string.h>

#include "expr/graph_internal.h"

typedef struct pair {
  int row, col;
} pair;

static int by_place(const void *a, const void *b) {
  const pair *x = a, *y = b;
  if (x->row != y->row) return x->row < y->row ? -1 : 1;
  return x->col < y->col ? -1 : x->col > y->col;
}

/* The factor of the lower triangle of A + A^T. */
static ag_ldl *symmetric(const ag_pattern *p) {
  size_t size = (size_t)p->n_entry + 1;
  pair *list = ag_heap_alloc(sizeof *list * size);
  int n = 0, *row = ag_heap_alloc(sizeof(int) * size), *col = ag_heap_alloc(sizeof(int) * size);
  for (int k = 0; k < p->n_entry; k++) {
    bool below = p->row[k] >= p->col[k];
    list[k] = (pair){below ? p->row[k] : p->col[k], below ? p->col[k] : p->row[k]};
  }
  qsort(list, (size_t)p->n_entry, sizeof *list, by_place);
  for (int k = 0; k < p->n_entry; k++)
    if (k == 0 || by_place(&list[k], &list[k - 1]) != 0) row[n] = list[k].row, col[n++] = list[k].col;
  ag_ldl *f = ag_ldl_create(&(ag_pattern){p->n, n, row, col, p->marks});
  free(list), free(row), free(col);
  return f;
}

/* One of the two factors: its rows in the order of A, the columns of each in the order of elimination. */
static void place_rows(const ag_ldl *f, const int *at, const int *of, int *row_at, int *cols) {
  for (int k = 0; k < f->n; k++) row_at[f->order[k] + 1] = at[k + 1] - at[k];
  for (int r = 0; r < f->n; r++) row_at[r + 1] += row_at[r];
  for (int k = 0; k < f->n; k++) {
    int to = row_at[f->order[k]];
    for (int p = at[k]; p < at[k + 1]; p++) cols[to++] = f->order[of[p]];
  }
}

int ag_lu_size(const int *table) {
  return AG_LU_HEAD + 4 * table[AG_LU_N] + 3 + table[AG_LU_ENTRIES] + 2 * table[AG_LU_LOWER];
}

int *ag_lu_table(const ag_pattern *p) {
  ag_ldl *f = symmetric(p);
  int n = p->n, n_entry = p->n_entry, m = f->n_factor;
  const int *row_at = f->table + 3 + n + 1, *col_at = row_at + n + 1, *col = col_at + n + 1 + f->n_entry,
            *row = col + 2 * m;
  const int head[AG_LU_HEAD] = {n, n_entry, m, n_entry + 2 * m + 2 * n};
  int *table = ag_heap_alloc(sizeof(int) * (size_t)ag_lu_size(head)), *order = table + AG_LU_HEAD, *e_at = order + n,
      *e_col = e_at + n + 1, *l_at = e_col + n_entry, *l_col = l_at + n + 1, *u_at = l_col + m, *u_col = u_at + n + 1;
  memcpy(table, head, sizeof head);
  memcpy(order, f->order, sizeof(int) * (size_t)n);
  for (int k = 0; k < n_entry; k++) e_at[p->row[k] + 1]++;
  for (int r = 0; r < n; r++) e_at[r + 1] += e_at[r];
  if (n_entry) memcpy(e_col, p->col, sizeof(int) * (size_t)n_entry);
  place_rows(f, row_at, col, l_at, l_col);
  place_rows(f, col_at, row, u_at, u_col);
  ag_ldl_free(f);
  return table;
}
