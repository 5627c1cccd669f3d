/* SPDX-License-Identifier: MIT
 * Lowering of A x = b. The matrix is first split into connected blocks, as its structural zeros show them: a diagonal
 * matrix costs one quotient per row. Blocks of a general matrix are made block triangular: unknowns that other rows
 * determine are solved for first. Blocks are unrolled, zeros are skipped: cofactors, LDL^T, or LU without pivoting;
 * what is too large becomes a call of the pivoted solver. */
#include <stdlib.h>
#include <string.h>

#include "expr/graph_internal.h"

enum { MAX_DENSE = 24, MAX_PRODUCTS = 5000 };

/* One block: k unknowns, m right-hand sides; its rows are rows index[] of the whole system. */
typedef struct block {
  ag_graph *g;
  int k, m;
  ag_id *A, *b; /* k*k, k*m; b becomes x */
} block;

static ag_id minus_product(ag_graph *g, ag_id sum, ag_id a, ag_id b) {
  if (ag_is_zero(g, a) || ag_is_zero(g, b)) return sum;
  return ag_sub(g, sum, ag_mul(g, a, b));
}

static ag_id plus_product(ag_graph *g, ag_id sum, ag_id a, ag_id b) {
  if (ag_is_zero(g, a) || ag_is_zero(g, b)) return sum;
  return ag_add(g, sum, ag_mul(g, a, b));
}

static ag_id reciprocal(ag_graph *g, ag_id x) { return ag_div(g, ag_num(g, 1), x); }

/* ---- cofactors ---- */

static void solve_one(block *s) {
  for (int c = 0; c < s->m; c++) s->b[c] = ag_div(s->g, s->b[c], s->A[0]);
}

static void solve_two(block *s) {
  ag_graph *g = s->g;
  ag_id *A = s->A, det = minus_product(g, ag_mul(g, A[0], A[3]), A[1], A[2]), r = reciprocal(g, det);
  for (int c = 0; c < s->m; c++) {
    ag_id u = s->b[c], v = s->b[s->m + c];
    ag_id x = minus_product(g, ag_mul(g, A[3], u), A[1], v);
    ag_id y = minus_product(g, ag_mul(g, A[0], v), A[2], u);
    s->b[c] = ag_mul(g, x, r);
    s->b[s->m + c] = ag_mul(g, y, r);
  }
}

static void solve_three(block *s) {
  ag_graph *g = s->g;
  ag_id *A = s->A, C[9], x[3];
  for (int e = 0; e < 9; e++) { /* cofactors */
    int i = e / 3, j = e % 3, i1 = (i + 1) % 3, i2 = (i + 2) % 3, j1 = (j + 1) % 3, j2 = (j + 2) % 3;
    C[e] = minus_product(g, ag_mul(g, A[3 * i1 + j1], A[3 * i2 + j2]), A[3 * i1 + j2], A[3 * i2 + j1]);
  }
  ag_id det = ag_mul(g, A[0], C[0]);
  for (int j = 1; j < 3; j++) det = plus_product(g, det, A[j], C[j]);
  ag_id r = reciprocal(g, det);
  for (int c = 0; c < s->m; c++) {
    for (int i = 0; i < 3; i++) {
      x[i] = ag_mul(g, C[i], s->b[c]);
      for (int j = 1; j < 3; j++) x[i] = plus_product(g, x[i], C[3 * j + i], s->b[j * s->m + c]);
    }
    for (int i = 0; i < 3; i++) s->b[i * s->m + c] = ag_mul(g, x[i], r);
  }
}

/* ---- the pivoted solver ---- */

static void solve_call(block *s) {
  ag_graph *g = s->g;
  int k = s->k, n = k * k + k;
  ag_id *a = ag_heap_alloc(sizeof *a * (size_t)n);
  double *v = ag_heap_alloc(sizeof *v * (size_t)n);
  memcpy(a, s->A, sizeof *a * (size_t)(k * k));
  for (int c = 0; c < s->m; c++) {
    bool numbers = true, zero = true;
    for (int i = 0; i < k; i++) {
      a[k * k + i] = s->b[i * s->m + c];
      zero = zero && ag_is_zero(g, a[k * k + i]);
    }
    if (zero) continue;
    for (int i = 0; i < n && numbers; i++) numbers = ag_is_num(g, a[i], &v[i]);
    numbers = numbers && ag_solve_value(k, v);
    ag_id call = numbers ? 0 : ag_intern(g, AG_OP_CALL_SOLVE, k, 1, n, a, 0);
    for (int i = 0; i < k; i++)
      s->b[i * s->m + c] = numbers ? ag_num(g, v[k * k + i])
                                   : ag_intern(g, AG_OP_PICK, 1, 1, 1, &call, ag_payload(i, 0));
  }
  free(a);
  free(v);
}

/* ---- elimination without pivoting ---- */

/* Order of least degree for the symmetric pattern, the first of equals; returns the products an elimination takes. */
static int64_t elimination_order(const block *s, int *order) {
  int k = s->k;
  int64_t products = 0;
  unsigned char *edge = ag_heap_alloc((size_t)k * (size_t)k), *gone = ag_heap_alloc((size_t)k);
  int *degree = ag_heap_alloc(sizeof *degree * (size_t)k), *near = ag_heap_alloc(sizeof *near * (size_t)k);
  for (int i = 0; i < k; i++)
    for (int j = 0; j < k; j++) {
      bool zero = ag_is_zero(s->g, s->A[i * k + j]) && ag_is_zero(s->g, s->A[j * k + i]);
      edge[i * k + j] = i != j && !zero;
      degree[i] += edge[i * k + j];
    }
  for (int step = 0; step < k; step++) {
    int best = -1, n = 0;
    for (int i = 0; i < k; i++)
      if (!gone[i] && (best < 0 || degree[i] < degree[best])) best = i;
    order[step] = best;
    gone[best] = 1;
    for (int i = 0; i < k; i++)
      if (!gone[i] && edge[best * k + i]) near[n++] = i;
    products += (int64_t)n * (n + 3) / 2;
    for (int p = 0; p < n; p++) { /* the neighbours become neighbours of each other */
      degree[near[p]]--;
      for (int q = 0; q < n; q++)
        if (p != q && !edge[near[p] * k + near[q]]) edge[near[p] * k + near[q]] = 1, degree[near[p]]++;
    }
  }
  free(edge);
  free(gone);
  free(degree);
  free(near);
  return products;
}

/* Rows and columns in the given order. */
static void permute(block *s, const int *order) {
  int k = s->k, m = s->m;
  ag_id *A = ag_heap_alloc(sizeof *A * (size_t)(k * k)), *b = ag_heap_alloc(sizeof *b * (size_t)(k * m));
  for (int i = 0; i < k; i++) {
    for (int j = 0; j < k; j++) A[i * k + j] = s->A[order[i] * k + order[j]];
    for (int c = 0; c < m; c++) b[i * m + c] = s->b[order[i] * m + c];
  }
  memcpy(s->A, A, sizeof *A * (size_t)(k * k));
  memcpy(s->b, b, sizeof *b * (size_t)(k * m));
  free(A);
  free(b);
}

/* The lower triangle, filled from the upper one where it is a structural zero. */
static void take_lower(block *s) {
  for (int i = 0; i < s->k; i++)
    for (int j = 0; j < i; j++)
      if (ag_is_zero(s->g, s->A[i * s->k + j])) s->A[i * s->k + j] = s->A[j * s->k + i];
}

/* The first n columns of A = L D L^T. During elimination, A holds L D below the diagonal; afterwards it holds L,
 * transposed, above it, and 1/D on it. What is left below and to the right is the Schur complement. */
static void factor_ldl(block *s, int n) {
  ag_graph *g = s->g;
  int k = s->k;
  ag_id *A = s->A;
  for (int j = 0; j < n; j++) {
    A[j * k + j] = reciprocal(g, ag_apply1(g, AG_OP_CHECKPOS, A[j * k + j]));
    for (int i = j + 1; i < k; i++) {
      A[j * k + i] = ag_mul(g, A[i * k + j], A[j * k + j]);
      if (ag_is_zero(g, A[j * k + i])) continue;
      for (int l = j + 1; l <= i; l++) A[i * k + l] = minus_product(g, A[i * k + l], A[j * k + i], A[l * k + j]);
    }
  }
}

/* The last two unknowns together, by cofactors of their Schur complement: as accurate as two pivots and one quotient
 * less in a row (quotients are what such a solve waits for). Positive definite: p > 0 and the determinant > 0. */
static void solve_last_two(block *s, int c, ag_id p, ag_id r) {
  ag_graph *g = s->g;
  int k = s->k, m = s->m;
  ag_id e = s->A[(k - 1) * k + k - 2], d = s->A[k * k - 1], u = s->b[(k - 2) * m + c], v = s->b[(k - 1) * m + c];
  s->b[(k - 2) * m + c] = ag_mul(g, minus_product(g, ag_mul(g, d, u), e, v), r);
  s->b[(k - 1) * m + c] = ag_mul(g, minus_product(g, ag_mul(g, p, v), e, u), r);
}

static void solve_ldl(block *s) {
  ag_graph *g = s->g;
  int k = s->k, m = s->m, n = k < 2 ? k : k - 2; /* one by one */
  ag_id *A = s->A, *b = s->b, p = 0, r = 0;
  factor_ldl(s, n);
  if (n < k) {
    ag_id e = A[(k - 1) * k + k - 2];
    p = ag_apply1(g, AG_OP_CHECKPOS, A[(k - 2) * k + k - 2]);
    r = reciprocal(g, ag_apply1(g, AG_OP_CHECKPOS, minus_product(g, ag_mul(g, p, A[k * k - 1]), e, e)));
  }
  for (int c = 0; c < m; c++) {
    for (int i = 0; i < k; i++)
      for (int j = 0; j < i && j < n; j++) b[i * m + c] = minus_product(g, b[i * m + c], A[j * k + i], b[j * m + c]);
    if (n < k) solve_last_two(s, c, p, r);
    for (int i = n - 1; i >= 0; i--) {
      b[i * m + c] = ag_mul(g, b[i * m + c], A[i * k + i]);
      for (int j = i + 1; j < k; j++) b[i * m + c] = minus_product(g, b[i * m + c], A[i * k + j], b[j * m + c]);
    }
  }
}

/* A = L U with pivots on the diagonal, their reciprocals kept there. */
static void solve_lu(block *s) {
  ag_graph *g = s->g;
  int k = s->k, m = s->m;
  ag_id *A = s->A, *b = s->b;
  for (int j = 0; j < k; j++) {
    A[j * k + j] = reciprocal(g, ag_apply1(g, AG_OP_CHECKNZ, A[j * k + j]));
    for (int i = j + 1; i < k; i++) {
      A[i * k + j] = ag_mul(g, A[i * k + j], A[j * k + j]);
      if (ag_is_zero(g, A[i * k + j])) continue;
      for (int l = j + 1; l < k; l++) A[i * k + l] = minus_product(g, A[i * k + l], A[i * k + j], A[j * k + l]);
    }
  }
  for (int c = 0; c < m; c++) {
    for (int i = 0; i < k; i++)
      for (int j = 0; j < i; j++) b[i * m + c] = minus_product(g, b[i * m + c], A[i * k + j], b[j * m + c]);
    for (int i = k - 1; i >= 0; i--) {
      for (int j = i + 1; j < k; j++) b[i * m + c] = minus_product(g, b[i * m + c], A[i * k + j], b[j * m + c]);
      b[i * m + c] = ag_mul(g, b[i * m + c], A[i * k + i]);
    }
  }
}

/* ---- block triangular form ---- */

/* The unknowns of a general block, each with a row of its own, and the order in which they can be solved for. */
typedef struct triangle {
  const block *s;
  int *row_of;            /* per unknown */
  int *index, *low, time; /* of Tarjan's search; index 0: not seen */
  int *stack, depth;
  int *group, n_group; /* per unknown: its group; groups are numbered in the order of the solves */
} triangle;

static bool full_at(const triangle *t, int i, int j) { return !ag_is_zero(t->s->g, t->s->A[i * t->s->k + j]); }

/* A row for unknown j, others may have to move to another one. */
static bool match(triangle *t, int j, bool *seen) {
  for (int i = 0; i < t->s->k; i++) {
    if (seen[i] || !full_at(t, i, j)) continue;
    seen[i] = true;
    int owner = 0;
    while (owner < t->s->k && t->row_of[owner] != i) owner++;
    if (owner < t->s->k && !match(t, owner, seen)) continue;
    t->row_of[j] = i;
    return true;
  }
  return false;
}

/* Tarjan: the row of unknown j needs all unknowns that stand in it. */
static void visit(triangle *t, int j) {
  t->index[j] = t->low[j] = ++t->time;
  t->stack[t->depth++] = j;
  for (int k = 0; k < t->s->k; k++) {
    if (k == j || !full_at(t, t->row_of[j], k)) continue;
    if (!t->index[k]) visit(t, k);
    if (t->group[k] < 0 && t->low[k] < t->low[j]) t->low[j] = t->low[k];
  }
  if (t->low[j] != t->index[j]) return;
  int k;
  do {
    k = t->stack[--t->depth];
    t->group[k] = t->n_group;
  } while (k != j);
  t->n_group++;
}

static void solve_general(block *s) {
  if (s->k == 1) solve_one(s);
  else if (s->k == 2) solve_two(s);
  else if (s->k == 3) solve_three(s);
  else solve_call(s);
}

/* The unknowns of one group, after those before it. */
static void solve_group(triangle *t, block *s, int group) {
  int k = s->k, m = s->m, n = 0;
  block part = {.g = s->g, .m = m};
  int *at = t->stack;
  for (int j = 0; j < k; j++)
    if (t->group[j] == group) at[n++] = j;
  part.k = n;
  part.A = ag_heap_alloc(sizeof *part.A * (size_t)(n * n));
  part.b = ag_heap_alloc(sizeof *part.b * (size_t)(n * m));
  for (int i = 0; i < n; i++) {
    int row = t->row_of[at[i]];
    for (int j = 0; j < n; j++) part.A[i * n + j] = s->A[row * k + at[j]];
    for (int c = 0; c < m; c++) {
      ag_id sum = s->b[row * m + c];
      for (int j = 0; j < k; j++)
        if (t->group[j] < group) sum = minus_product(s->g, sum, s->A[row * k + j], t->s->b[j * m + c]);
      part.b[i * m + c] = sum;
    }
  }
  solve_general(&part);
  for (int i = 0; i < n; i++)
    for (int c = 0; c < m; c++) t->s->b[at[i] * m + c] = part.b[i * m + c];
  free(part.A);
  free(part.b);
}

/* Small blocks have closed forms; larger ones may fall into small ones. False: they do not. */
static bool solve_triangle(block *s) {
  int k = s->k;
  if (k < 4) return false;
  block x = *s; /* the same matrix; b becomes the unknowns */
  x.b = ag_heap_alloc(sizeof *x.b * (size_t)(k * s->m));
  int *room = ag_heap_alloc(sizeof *room * (size_t)(5 * k));
  bool *seen = ag_heap_alloc(sizeof *seen * (size_t)k), good = true;
  triangle t = {
      .s = &x, .row_of = room, .index = room + k, .low = room + 2 * k, .stack = room + 3 * k, .group = room + 4 * k};
  for (int j = 0; j < k; j++) t.row_of[j] = t.group[j] = -1;
  for (int j = 0; j < k && good; j++) {
    memset(seen, 0, sizeof *seen * (size_t)k);
    good = match(&t, j, seen);
  }
  for (int j = 0; j < k && good; j++)
    if (!t.index[j]) visit(&t, j);
  good = good && t.n_group > 1;
  for (int group = 0; group < t.n_group && good; group++) solve_group(&t, s, group);
  if (good) memcpy(s->b, x.b, sizeof *s->b * (size_t)(k * s->m));
  free(x.b);
  free(room);
  free(seen);
  return good;
}

/* ---- blocks ---- */

static void solve_block(block *s, ag_solve_kind kind, int *index) {
  if (kind == AG_SOLVE_GENERAL) {
    if (!solve_triangle(s)) solve_general(s);
    return;
  }
  int *order = ag_heap_alloc(sizeof *order * (size_t)s->k), *old = ag_heap_alloc(sizeof *old * (size_t)s->k);
  int64_t products = elimination_order(s, order);
  if (s->k <= MAX_DENSE || products <= MAX_PRODUCTS + 40 * (int64_t)s->k) {
    if (kind == AG_SOLVE_SPD) take_lower(s);
    permute(s, order);
    if (kind == AG_SOLVE_SPD) take_lower(s);
    memcpy(old, index, sizeof *old * (size_t)s->k);
    for (int i = 0; i < s->k; i++) index[i] = old[order[i]];
    if (kind == AG_SOLVE_SPD) solve_ldl(s);
    else solve_lu(s);
  } else solve_call(s);
  free(order);
  free(old);
}

/* label[i]: the smallest index connected with i through entries that are not structurally zero */
static void connect(const ag_graph *g, int n, const ag_id *A, int *label) {
  for (int i = 0; i < n; i++) label[i] = i;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      if (i == j || ag_is_zero(g, A[i * n + j])) continue;
      int a = i, b = j;
      while (label[a] != a) a = label[a] = label[label[a]];
      while (label[b] != b) b = label[b] = label[label[b]];
      if (a < b) label[b] = a;
      else label[a] = b;
    }
  for (int i = 0; i < n; i++) label[i] = label[label[i]]; /* parents are smaller, hence already final */
}

void ag_lower_solve(ag_graph *g, ag_solve_kind kind, int n, int m, const ag_id *A, const ag_id *b, ag_id *x) {
  int *label = ag_heap_alloc(sizeof *label * (size_t)n), *index = ag_heap_alloc(sizeof *index * (size_t)n);
  connect(g, n, A, label);
  for (int root = 0; root < n; root++) {
    block s = {.g = g, .m = m};
    if (label[root] != root) continue;
    for (int i = root; i < n; i++)
      if (label[i] == root) index[s.k++] = i;
    s.A = ag_heap_alloc(sizeof *s.A * (size_t)(s.k * s.k));
    s.b = ag_heap_alloc(sizeof *s.b * (size_t)(s.k * m));
    for (int i = 0; i < s.k; i++) {
      for (int j = 0; j < s.k; j++) s.A[i * s.k + j] = A[index[i] * n + index[j]];
      for (int c = 0; c < m; c++) s.b[i * m + c] = b[index[i] * m + c];
    }
    solve_block(&s, kind, index);
    for (int i = 0; i < s.k; i++)
      for (int c = 0; c < m; c++) x[index[i] * m + c] = s.b[i * m + c];
    free(s.A);
    free(s.b);
  }
  free(label);
  free(index);
}
