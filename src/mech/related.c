/* SPDX-License-Identifier: MIT
 * Relations between coordinates solved in closed form: for numbers that are reconstructed from the core and that all
 * relations contain linearly, with numbers as coefficients (the height of a ball on a plane). */
#include <stdlib.h>
#include <string.h>

#include "math/dense.h"
#include "mech/mech_internal.h"

/* The coefficients of component c of coordinate i in all relations; false: they are not numbers. */
static bool coefficients(derive *d, int i, int c, double *row) {
  const int m = d->sys->n_relation, n = d->sys->coords[i].n;
  ag_id *entries = ag_heap_alloc(sizeof(ag_id) * (size_t)(n + m)), *rates = entries + n;
  for (int k = 0; k < n; k++) entries[k] = ag_num(d->g, k == c);
  ag_id seed = ag_stack(d->g, n, 1, entries);
  ag_forward(d->g, 1, &d->q[i], &seed, m, d->g_x, rates);
  bool good = true;
  for (int r = 0; r < m; r++) good = good && ag_is_num(d->g, rates[r], &row[r]);
  free(entries);
  return good;
}

/* Numbers of q that the relations can be solved for, and their rows of coefficients; false: there are too few. */
static bool choose(derive *d, const bool *core, int *at, double *rows) {
  const ag_system *sys = d->sys;
  const int m = sys->n_relation;
  int n = 0, *all = ag_heap_alloc(sizeof(int) * (size_t)(2 * sys->n.q + 1)), *order = all + sys->n.q;
  double *found = ag_heap_alloc(sizeof(double) * (size_t)(m * sys->n.q + 1));
  for (int i = 0; i < d->nc; i++)
    for (int c = 0; c < sys->coords[i].n && d->m->coords[i].space != AG_SPACE_SO3; c++) {
      all[n] = sys->coords[i].at + c;
      n += !core[all[n]] && coefficients(d, i, c, found + n * m);
    }
  const bool good = n >= m && ag_dense_rank(n, m, found, 1e-3, order) == m;
  for (int k = 0; k < m && good; k++) {
    at[k] = all[order[k]];
    memcpy(rows + k * m, found + order[k] * m, sizeof(double) * (size_t)m);
  }
  free(all);
  free(found);
  return good;
}

/* Every coordinate with the given numbers of q replaced. */
static void replace(ag_system *sys, int n, const int *at, const ag_id *by, int n_out, ag_id *outs) {
  ag_model *m = sys->model;
  ag_graph *g = m->graph;
  for (int i = 0; i < m->n_coords; i++) {
    const ag_layout_row *p = &sys->coords[i];
    ag_id *entries = ag_heap_alloc(sizeof(ag_id) * (size_t)(p->n + 1)), whole;
    bool any = false;
    for (int c = 0; c < p->n && m->coords[i].space != AG_SPACE_SO3; c++) {
      entries[c] = ag_entry(g, m->coords[i].q, c, 0);
      for (int k = 0; k < n; k++)
        if (at[k] == p->at + c) entries[c] = by[k], any = true;
    }
    if (any) whole = ag_stack(g, p->n, 1, entries), ag_substitute(g, 1, &m->coords[i].q, &whole, n_out, outs);
    free(entries);
  }
}

/* With rows K of coefficients the relations are g = g|_0 + K^T y, so y = -K^-T g|_0. */
void ag_relations_solve(derive *d, const bool *core) {
  ag_system *sys = d->sys;
  const int m = sys->n_relation;
  if (!m || sys->n.g || ag_is_sparse(sys)) return;
  sys->solved_q = AG_NEWN(sys->arena, int, m);
  sys->solved_x = AG_NEWN(sys->arena, ag_id, m);
  double *rows = ag_heap_alloc(sizeof(double) * (size_t)(3 * m * m)), *K = rows + m * m, *inverse = K + m * m;
  ag_id *rest = ag_heap_alloc(sizeof(ag_id) * (size_t)(2 * m)), *zero = rest + m;
  bool good = choose(d, core, sys->solved_q, rows);
  for (int k = 0; k < m * m; k++) K[k] = rows[k % m * m + k / m], inverse[k] = k / m == k % m;
  good = good && !ag_dense_solve(m, m, K, inverse);
  memcpy(rest, d->g_x, sizeof *rest * (size_t)m);
  for (int k = 0; k < m; k++) zero[k] = ag_num(d->g, 0);
  if (good) replace(sys, m, sys->solved_q, zero, m, rest);
  for (int k = 0; k < m && good; k++) {
    sys->solved_x[k] = zero[0];
    for (int r = 0; r < m; r++)
      sys->solved_x[k] = ag_sub(d->g, sys->solved_x[k], ag_mul(d->g, ag_num(d->g, inverse[k * m + r]), rest[r]));
  }
  sys->n_solved = good ? m : 0;
  free(rows);
  free(rest);
}

void ag_relations_insert(ag_system *sys, int n_out, ag_id *outs) {
  if (sys->tapes[AG_ROLE_AGREE]) replace(sys, sys->n_solved, sys->solved_q, sys->solved_x, n_out, outs);
}
