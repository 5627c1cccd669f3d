/* SPDX-License-Identifier: MIT
 * Lowering of sparse systems: entries that turned out to be zero are left out, what is left falls into connected
 * blocks. Small positive definite blocks are unrolled (lower_solve.c); the others become calls of v_ldl. All is linear
 * in the number of entries. */
#include <stdlib.h>
#include <string.h>

#include "expr/graph_internal.h"

enum { MAX_UNROLLED = 24 };

typedef struct blocks {
  ag_graph *g;
  const ag_pattern *p;
  const ag_id *entries, *b;
  ag_id *x;
  int *label;               /* per unknown: the smallest of its block */
  int *first, *unknown;     /* per block, by label: its unknowns, ascending */
  int *entry_first, *entry; /* and its entries */
  int *local;               /* per unknown: number in its block */
} blocks;

static int root(int *label, int i) {
  while (label[i] != i) i = label[i] = label[label[i]];
  return i;
}

/* Sorts unknowns and entries by block. */
static void find_blocks(blocks *s) {
  const ag_pattern *p = s->p;
  size_t n = sizeof(int) * ((size_t)p->n + 2);
  s->label = ag_heap_alloc(n), s->first = ag_heap_alloc(n), s->unknown = ag_heap_alloc(n);
  s->local = ag_heap_alloc(n), s->entry_first = ag_heap_alloc(n);
  s->entry = ag_heap_alloc(sizeof(int) * ((size_t)p->n_entry + 1));
  for (int i = 0; i < p->n; i++) s->label[i] = i;
  for (int k = 0; k < p->n_entry; k++) {
    if (ag_is_zero(s->g, s->entries[k])) continue;
    int a = root(s->label, p->row[k]), b = root(s->label, p->col[k]);
    s->label[a > b ? a : b] = a > b ? b : a;
  }
  for (int i = 0; i < p->n; i++) s->label[i] = root(s->label, i);
  for (int i = 0; i < p->n; i++) s->local[i] = s->first[s->label[i] + 1]++;
  for (int k = 0; k < p->n_entry; k++)
    if (!ag_is_zero(s->g, s->entries[k])) s->entry_first[s->label[p->row[k]] + 1]++;
  for (int i = 0; i < p->n; i++) s->first[i + 1] += s->first[i], s->entry_first[i + 1] += s->entry_first[i];
  for (int i = 0; i < p->n; i++) s->unknown[s->first[s->label[i]] + s->local[i]] = i;
  int *fill = ag_heap_alloc(n);
  memcpy(fill, s->entry_first, n);
  for (int k = 0; k < p->n_entry; k++)
    if (!ag_is_zero(s->g, s->entries[k])) s->entry[fill[s->label[p->row[k]]]++] = k;
  free(fill);
}

static void unroll(blocks *s, int block, int n) {
  const int *unknown = s->unknown + s->first[block];
  ag_id *A = ag_heap_alloc(sizeof *A * (size_t)(n * n)), *b = ag_heap_alloc(sizeof *b * (size_t)n),
        zero = ag_num(s->g, 0);
  ag_id *x = ag_heap_alloc(sizeof *x * (size_t)n);
  for (int i = 0; i < n * n; i++) A[i] = zero;
  for (int i = s->entry_first[block]; i < s->entry_first[block + 1]; i++) {
    int k = s->entry[i], r = s->local[s->p->row[k]], c = s->local[s->p->col[k]];
    A[r * n + c] = A[c * n + r] = s->entries[k];
  }
  for (int i = 0; i < n; i++) b[i] = s->b[unknown[i]];
  ag_lower_solve(s->g, AG_SOLVE_SPD, n, 1, A, b, x);
  for (int i = 0; i < n; i++) s->x[unknown[i]] = x[i];
  free(A), free(b), free(x);
}

/* The solution by numbers when all arguments are; else entries of a call. */
static void take_solution(blocks *s, const ag_ldl *f, int pattern, const ag_id *args, const int *unknown) {
  ag_graph *g = s->g;
  int n_arg = f->n_entry + f->n;
  double *v = ag_heap_alloc(sizeof *v * (size_t)f->n_block);
  bool numbers = true;
  for (int i = 0; i < n_arg && numbers; i++) numbers = ag_is_num(g, args[i], &v[i]);
  numbers = numbers && ag_ldl_value(f, v);
  ag_id call = numbers ? 0 : ag_intern(g, AG_OP_CALL_LDL, f->n, 1, n_arg, args, ag_payload(pattern, 0));
  for (int k = 0; k < f->n; k++)
    s->x[unknown[f->order[k]]] = numbers ? ag_num(g, v[f->n_entry + k])
                                         : ag_intern(g, AG_OP_PICK, 1, 1, 1, &call, ag_payload(k, 0));
  free(v);
}

static void call(blocks *s, int block, int n) {
  const int *unknown = s->unknown + s->first[block], *entry = s->entry + s->entry_first[block];
  int n_entry = s->entry_first[block + 1] - s->entry_first[block];
  int *row = ag_heap_alloc(sizeof *row * (size_t)(n_entry + 1)),
      *col = ag_heap_alloc(sizeof *col * (size_t)(n_entry + 1));
  unsigned char *marks = ag_heap_alloc((size_t)n);
  ag_id *args = ag_heap_alloc(sizeof *args * (size_t)(n_entry + n));
  for (int i = 0; i < n_entry; i++) row[i] = s->local[s->p->row[entry[i]]], col[i] = s->local[s->p->col[entry[i]]];
  for (int i = 0; i < n; i++) marks[i] = s->p->marks ? s->p->marks[unknown[i]] : AG_MARK_PLAIN;
  int pattern = ag_pattern_intern(s->g, &(ag_pattern){n, n_entry, row, col, marks});
  const ag_ldl *f = ag_pattern_ldl(s->g, pattern);
  for (int i = 0; i < n_entry; i++) args[f->place[i]] = s->entries[entry[i]];
  bool zero = true;
  for (int k = 0; k < n; k++) {
    args[n_entry + k] = s->b[unknown[f->order[k]]];
    zero = zero && ag_is_zero(s->g, args[n_entry + k]);
  }
  if (zero)
    for (int k = 0; k < n; k++) s->x[unknown[k]] = ag_num(s->g, 0);
  else take_solution(s, f, pattern, args, unknown);
  free(row), free(col), free(marks), free(args);
}

void ag_lower_sparse(ag_graph *g, int pattern, const ag_id *entries, const ag_id *b, ag_id *x) {
  const ag_pattern p = g->patterns[pattern].pattern; /* the array moves when a pattern is added */
  blocks s = {.g = g, .p = &p, .entries = entries, .b = b, .x = x};
  find_blocks(&s);
  for (int i = 0; i < p.n; i++) {
    int n = s.first[i + 1] - s.first[i];
    bool positive = true;
    for (int k = 0; k < n; k++)
      positive = positive && !(p.marks && p.marks[s.unknown[s.first[i] + k]] == AG_MARK_MULTIPLIER);
    if (n == 0) continue;
    if (positive && n <= MAX_UNROLLED) unroll(&s, i, n);
    else call(&s, i, n);
  }
  free(s.label), free(s.first), free(s.unknown), free(s.local), free(s.entry_first), free(s.entry);
}
