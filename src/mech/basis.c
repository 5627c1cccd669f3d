/* SPDX-License-Identifier: MIT
 * Velocities y with S y + s = 0 in a basis that is data: y = B v + y0 with y0 = -S^T (S S^T)^-1 s the shortest
 * solution, B = N - S^T (S S^T)^-1 S N the projection of N onto ker S, and v coordinates that make it orthonormal. If
 * more rows are kept than are independent, combinations W S and W s are used; W is data, too. */
#include "mech/mech_internal.h"

/* v with B v = B L^-T u, B^T B = L L^T: coordinates u in an orthonormal basis of the span of B, so that |B v| = |u|
 * however the basis has turned since it was chosen. */
static ag_id orthonormal(ag_graph *g, ag_id B, ag_id u) {
  int m = ag_node_rows(g, u);
  ag_id L[AG_BASIS_MAX][AG_BASIS_MAX] = {{0}}, v[AG_BASIS_MAX];
  AG_ASSERT(m <= AG_BASIS_MAX);
  ag_id G = ag_mul(g, ag_transpose(g, B), B);
  for (int j = 0; j < m; j++)
    for (int i = j; i < m; i++) {
      ag_id x = ag_entry(g, G, i, j);
      for (int k = 0; k < j; k++) x = ag_sub(g, x, ag_mul(g, L[i][k], L[j][k]));
      L[i][j] = i == j ? ag_apply1(g, AG_OP_SQRT, x) : ag_div(g, x, L[j][j]);
    }
  for (int i = m - 1; i >= 0; i--) {
    ag_id x = ag_entry(g, u, i, 0);
    for (int k = i + 1; k < m; k++) x = ag_sub(g, x, ag_mul(g, L[k][i], v[k]));
    v[i] = ag_div(g, x, L[i][i]);
  }
  return ag_stack(g, m, 1, v);
}

/* The orthonormal basis itself, as a matrix: used as the new N, it leaves u unchanged. */
static ag_id orthonormal_columns(derive *d, ag_id B) {
  ag_graph *g = d->g;
  int n = ag_node_rows(g, B), m = ag_node_cols(g, B);
  ag_id *entries = AG_NEWN(d->sys->arena, ag_id, n * m), *unit = AG_NEWN(d->sys->arena, ag_id, m);
  for (int j = 0; j < m; j++) {
    for (int k = 0; k < m; k++) unit[k] = ag_num(g, k == j);
    ag_id column = ag_mul(g, B, orthonormal(g, B, ag_stack(g, m, 1, unit)));
    for (int i = 0; i < n; i++) entries[i * m + j] = ag_entry(g, column, i, 0);
  }
  return ag_stack(g, n, m, entries);
}

/* The data that may replace N and W: the current basis, and orthonormal rows that span the range of S, as S S^T W^T
 * does while W S has full rank. */
static ag_id renewed_data(derive *d, const ag_basis *basis, ag_id S, ag_id B) {
  ag_graph *g = d->g;
  int n_B = basis->n_y * (basis->n_y - basis->n_w), n_W = basis->W ? basis->n_w * basis->n_s : 0, n = 0;
  ag_id *all = AG_NEWN(d->sys->arena, ag_id, n_B + n_W + 1), columns = B ? orthonormal_columns(d, B) : 0;
  if (!basis->W) return columns;
  for (int i = 0; i < basis->n_y && B; i++)
    for (int j = 0; j < basis->n_y - basis->n_w; j++) all[n++] = ag_entry(g, columns, i, j);
  ag_id SSt = ag_mul(g, S, ag_transpose(g, S));
  columns = orthonormal_columns(d, ag_mul(g, SSt, ag_transpose(g, basis->W)));
  for (int i = 0; i < basis->n_w; i++)
    for (int j = 0; j < basis->n_s; j++) all[n++] = ag_entry(g, columns, j, i);
  return ag_stack(g, n, 1, all);
}

ag_id ag_basis_solve(derive *d, ag_basis *basis, ag_id all, ag_id s, ag_id *u) {
  ag_graph *g = d->g;
  ag_system *sys = d->sys;
  int n_y = basis->n_y, n_w = basis->n_w, m = n_y - n_w;
  ag_id S = all, B = 0;
  if (basis->n_s > n_w) {
    basis->W = ag_input(g, ag_free_name(sys, "W"), n_w, basis->n_s, AG_LEAF_REAL);
    S = ag_mul(g, basis->W, all);
    s = ag_mul(g, basis->W, s);
  }
  ag_id St = ag_transpose(g, S), SSt = ag_mul(g, S, St);
  ag_id solution = ag_neg(g, ag_mul(g, St, ag_solve(g, SSt, s, AG_SOLVE_SPD)));
  *u = 0;
  if (m) {
    basis->N = ag_input(g, ag_free_name(sys, "N"), n_y, m, AG_LEAF_REAL);
    const char *name = sys->n_basis ? ag_arena_printf(sys->arena, "basis%d", sys->n_basis + 1) : "basis";
    if (d->options->symbolic && (B = ag_kernel(d, S, s, &solution)))
      name = sys->n_basis ? ag_arena_printf(sys->arena, "v%d", sys->n_basis + 1) : "v";
    *u = ag_input(g, ag_free_name(sys, name), m, 1, AG_LEAF_REAL);
    if (B) solution = ag_add(g, ag_mul(g, B, *u), solution);
  }
  if (m && !B) {
    B = ag_sub(g, basis->N, ag_mul(g, St, ag_solve(g, SSt, ag_mul(g, S, basis->N), AG_SOLVE_SPD)));
    solution = ag_add(g, ag_mul(g, B, orthonormal(g, B, *u)), solution);
  }
  d->S_y[sys->n_basis] = all;
  d->renewed[sys->n_basis] = renewed_data(d, basis, all, B);
  basis->c = sys->n.c;
  sys->n.c += n_y * m + (basis->W ? n_w * basis->n_s : 0);
  return solution;
}

int ag_basis_inputs(const ag_system *sys, ag_id *inputs) {
  int n = 0;
  for (int i = 0; i < sys->n_basis; i++) {
    if (sys->bases[i].N) inputs[n++] = sys->bases[i].N;
    if (sys->bases[i].W) inputs[n++] = sys->bases[i].W;
  }
  return n;
}
