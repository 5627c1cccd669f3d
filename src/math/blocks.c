/* SPDX-License-Identifier: MIT
 * Blocks of a matrix, see blocks.h. */
#include "math/blocks.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"

static int root(int *parent, int i) {
  while (parent[i] != i) i = parent[i] = parent[parent[i]];
  return i;
}

/* Lists the members of each block: block[i] of item i, -1 for none. */
static void list(int n_item, const int *block, int n_block, int *at, int *items) {
  memset(at, 0, sizeof *at * (size_t)(n_block + 1));
  for (int i = 0; i < n_item; i++)
    if (block[i] >= 0) at[block[i] + 1]++;
  for (int b = 0; b < n_block; b++) at[b + 1] += at[b];
  int *next = ag_heap_alloc(sizeof *next * (size_t)(n_block + 1));
  memcpy(next, at, sizeof *next * (size_t)n_block);
  for (int i = 0; i < n_item; i++)
    if (block[i] >= 0) items[next[block[i]]++] = i;
  free(next);
}

void ag_blocks_init(ag_blocks *b, int m, int n, const double *A) {
  int *parent = ag_heap_alloc(sizeof *parent * (size_t)(m + n + 1)),
      *block = ag_heap_alloc(sizeof *block * (size_t)(m + n + 1));
  for (int i = 0; i < m + n; i++) parent[i] = i, block[i] = -1;
  for (int i = 0; i < m; i++)
    for (int j = 0; j < n; j++)
      if (A[i * n + j] != 0) parent[root(parent, m + j)] = root(parent, i);
  b->n = 0;
  for (int i = 0; i < m; i++) {
    int r = root(parent, i);
    bool empty = true;
    for (int j = 0; j < n && empty; j++) empty = A[i * n + j] == 0;
    if (empty) continue;
    if (block[r] < 0) block[r] = b->n++;
    block[i] = block[r];
  }
  for (int j = 0; j < n; j++) block[m + j] = block[root(parent, m + j)];
  b->row_at = ag_heap_alloc(sizeof(int) * (size_t)(b->n + 1));
  b->col_at = ag_heap_alloc(sizeof(int) * (size_t)(b->n + 1));
  b->row = ag_heap_alloc(sizeof(int) * (size_t)(m + 1));
  b->col = ag_heap_alloc(sizeof(int) * (size_t)(n + 1));
  list(m, block, b->n, b->row_at, b->row);
  list(n, block + m, b->n, b->col_at, b->col);
  free(parent), free(block);
}

void ag_blocks_done(ag_blocks *b) { free(b->row_at), free(b->row), free(b->col_at), free(b->col); }

int ag_block_rows(const ag_blocks *b, int k) { return b->row_at[k + 1] - b->row_at[k]; }

int ag_block_cols(const ag_blocks *b, int k) { return b->col_at[k + 1] - b->col_at[k]; }

void ag_block_gather(const ag_blocks *b, int k, int n, const double *A, double *out) {
  const int *row = b->row + b->row_at[k], *col = b->col + b->col_at[k];
  int rows = ag_block_rows(b, k), cols = ag_block_cols(b, k);
  for (int i = 0; i < rows; i++)
    for (int j = 0; j < cols; j++) out[i * cols + j] = A[(size_t)row[i] * (size_t)n + (size_t)col[j]];
}
