/* SPDX-License-Identifier: MIT
 * Named velocities that contradict the constraints. Eliminating the unnamed velocities from the rows A xi = b leaves
 * conditions C v = c on the named values v alone (a named velocity of the frame is a value, too). Only values in a
 * condition that does not hold are released; the others are held. The released ones take the shortest change d in the
 * metric of the mass matrix with C (v + d) = c; a frame velocity has no mass, so it changes before the others do.
 * Values that are firm are released only where the others do not suffice. */
#include <math.h>
#include <string.h>

#include "math/dense.h"
#include "mech/mech_internal.h"

typedef struct conditions {
  int n, m;         /* values, conditions */
  double *C, *miss; /* m x n coefficients; c - C v */
  bool *released;
  const bool *firm; /* not released; NULL: none */
} conditions;

static const double SMALL = 1e-9; /* relative to the row as stated: the remainder of a coefficient that cancelled */

/* Reduces row a (with right-hand side n) by the rows before it; returns the unnamed column with the largest
 * coefficient, or -1. */
static int reduce(int n, int n_pivot, const int *columns, const double *P, const bool *named, double *a) {
  double norm = 0;
  int col = -1;
  for (int j = 0; j < n; j++) norm = fmax(norm, fabs(a[j]));
  for (int p = 0; p < n_pivot; p++) {
    double f = a[columns[p]];
    for (int j = 0; j <= n; j++) a[j] -= f * P[p * (n + 1) + j];
    a[columns[p]] = 0;
  }
  for (int j = 0; j < n; j++) {
    if (fabs(a[j]) <= SMALL * norm) a[j] = 0;
    if (!named[j] && a[j] != 0 && (col < 0 || fabs(a[j]) > fabs(a[col]))) col = j;
  }
  return col;
}

/* Conditions on the named values, from rows of n coefficients and a right-hand side. */
static void find_conditions(conditions *k, int m, const double *rows, const bool *named, const double *value) {
  int n = k->n, n_pivot = 0, *columns = ag_heap_alloc(sizeof(int) * (size_t)(m + 1));
  double *P = ag_heap_alloc(sizeof(double) * (size_t)((m + 1) * (n + 1)));
  for (int r = 0; r < m; r++) {
    double *a = P + n_pivot * (n + 1);
    memcpy(a, rows + r * (n + 1), sizeof(double) * (size_t)(n + 1));
    int col = reduce(n, n_pivot, columns, P, named, a);
    if (col < 0) {
      memcpy(k->C + k->m * n, a, sizeof(double) * (size_t)n);
      k->miss[k->m] = a[n];
      for (int j = 0; j < n; j++) k->miss[k->m] -= a[j] * value[j];
      k->m++;
      continue;
    }
    double f = 1 / a[col];
    for (int j = 0; j <= n; j++) a[j] *= f;
    columns[n_pivot++] = col;
  }
  free(P);
  free(columns);
}

/* Releases the values in a condition that is violated by more than rounding; false: there is none left. */
static bool release(conditions *k, const double *change) {
  bool more = false;
  for (int r = 0; r < k->m; r++) {
    double miss = k->miss[r], size = 1;
    for (int j = 0; j < k->n; j++) miss -= k->C[r * k->n + j] * change[j], size = fmax(size, fabs(k->C[r * k->n + j]));
    for (int j = 0; j < k->n && fabs(miss) > 1e-10 * (size + fabs(k->miss[r])); j++) {
      if (k->C[r * k->n + j] == 0 || k->released[j] || (k->firm && k->firm[j])) continue;
      more = k->released[j] = true;
    }
  }
  return more;
}

/* The shortest change of the released values: [M C^T; C 0] [d; lambda] = [0; miss]. M is n_mass x n_mass. */
static void shortest(const conditions *k, int n_mass, const double *M, double *change) {
  int n = 0, *at = ag_heap_alloc(sizeof(int) * (size_t)(k->n + 1));
  for (int j = 0; j < k->n; j++)
    if (k->released[j]) at[n++] = j;
  int size = n + k->m;
  double *K = ag_heap_alloc(sizeof(double) * (size_t)(size * size)),
         *P = ag_heap_alloc(sizeof(double) * (size_t)(size * size));
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++) K[i * size + j] = at[i] < n_mass && at[j] < n_mass ? M[at[i] * n_mass + at[j]] : 0;
    for (int r = 0; r < k->m; r++) K[i * size + n + r] = K[(n + r) * size + i] = k->C[r * k->n + at[i]];
  }
  ag_dense_pinv_within(size, size, K, size, 1e-12, P);
  memset(change, 0, sizeof(double) * (size_t)k->n);
  for (int i = 0; i < n; i++)
    for (int r = 0; r < k->m; r++) change[at[i]] += P[i * size + n + r] * k->miss[r];
  free(at);
  free(K);
  free(P);
}

/* Releases values until the conditions hold with their changes; firm ones where conditions are left. */
static bool fulfil(conditions *k, int n_mass, const double *M, double *change) {
  bool any = false;
  for (int pass = 0; pass < 2; pass++, k->firm = NULL)
    while (release(k, change)) shortest(k, n_mass, M, change), any = true;
  for (int r = 0; r < k->m && any; r++) {
    double miss = k->miss[r];
    for (int j = 0; j < k->n; j++) miss -= k->C[r * k->n + j] * change[j];
    any = fabs(miss) <= 1e-9 * (1 + fabs(k->miss[r]));
  }
  return any;
}

bool ag_start_reconcile(int n, int n_constraint, int m, const double *A, double *b, const double *M, const bool *named,
                        const bool *firm, double *xi, bool *changed) {
  int all = n + m - n_constraint; /* velocities, then how far each frame velocity is from its named value */
  size_t wide = (size_t)all + 1;
  double *rows = ag_heap_alloc(sizeof(double) * wide * (size_t)(m + 1)), *value = ag_heap_alloc(sizeof(double) * wide),
         *change = ag_heap_alloc(sizeof(double) * wide), size = 1;
  bool *held = ag_heap_alloc(wide);
  conditions k = {.n = all,
                  .C = ag_heap_alloc(sizeof(double) * wide * (size_t)(m + 1)),
                  .miss = ag_heap_alloc(sizeof(double) * (size_t)(m + 1)),
                  .released = ag_heap_alloc(wide),
                  .firm = firm};
  for (int r = 0; r < m; r++) {
    memcpy(rows + (size_t)r * wide, A + r * n, sizeof(double) * (size_t)n);
    if (r >= n_constraint) rows[(size_t)r * wide + (size_t)(n + r - n_constraint)] = -1;
    rows[(size_t)r * wide + (size_t)all] = b[r];
  }
  for (int j = 0; j < all; j++) held[j] = j >= n || named[j], value[j] = j < n && named[j] ? xi[j] : 0;
  find_conditions(&k, m, rows, held, value);
  bool solved = fulfil(&k, n, M, change);
  for (int j = 0; j < n; j++) size = fmax(size, fabs(xi[j]));
  for (int j = 0; j < n; j++) {
    changed[j] = solved ? fabs(change[j]) > 1e-12 * size : k.released[j];
    xi[j] += changed[j] && solved ? change[j] : 0;
  }
  for (int r = n_constraint; r < m; r++) b[r] += solved ? change[n + r - n_constraint] : 0;
  void *heap[] = {rows, value, change, held, k.C, k.miss, k.released};
  for (size_t i = 0; i < sizeof heap / sizeof *heap; i++) free(heap[i]);
  return solved;
}
