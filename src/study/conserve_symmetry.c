/* SPDX-License-Identifier: MIT
 * Symmetries: all fields Z of a function space that leave the Lagrangian invariant, Z(L) = 0 at all velocities, and
 * which of them keep the constraints. For Z = f e_j both are linear in f and its rate, Z(L) = f e_j(L) + f' p_j: the
 * unit fields are lifted once. Arithmetic in a prime field, as in all searches. */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "study/conserve_internal.h"

enum { MAX_UNKNOWN = 400, MAX_FUNCTION = 64, ROOM = AG_MAX_SYMMETRY };

/* Numbers of R^n, cosines and sines, entries of rotations; -1: too many. */
static int coordinate_functions(const ag_geom *x, ag_id *out) {
  ag_graph *g = x->g;
  int n = 0;
  for (int i = 0; i < x->n_coord; i++) {
    const ag_coord c = ag_model_coords(x->model)[i];
    int cols = ag_node_cols(g, c.q), count = ag_node_rows(g, c.q) * cols;
    if (n + 2 * count > MAX_FUNCTION) return -1;
    for (int k = 0; k < count; k++) {
      ag_id q = ag_entry(g, c.q, k / cols, k % cols);
      if (c.space == AG_SPACE_S1) out[n++] = ag_apply1(g, AG_OP_COS, q);
      out[n++] = c.space == AG_SPACE_S1 ? ag_apply1(g, AG_OP_SIN, q) : q;
    }
  }
  return n;
}

/* Monomials of these up to the largest degree, 2 at most, with which there are not too many unknowns. */
static int space_of(const ag_geom *x, ag_id *out) {
  ag_id at[MAX_FUNCTION];
  int n_at = coordinate_functions(x, at);
  for (int degree = n_at < 0 ? 0 : 2; degree >= 0; degree--) {
    int n = ag_conserve_monomials(x->g, n_at, at, degree, out, MAX_UNKNOWN);
    if (n > 0 && n * x->n <= MAX_UNKNOWN) return n;
  }
  return 0;
}

/* A column over the velocities with f at place j. */
static ag_id unit(const ag_geom *x, int j, ag_id f) {
  ag_id *parts = AG_NEWN(x->arena, ag_id, x->n + 1);
  for (int i = 0; i < x->n; i++) parts[i] = i == j ? f : ag_num(x->g, 0);
  return ag_stack(x->g, x->n, 1, parts);
}

ag_id *ag_conserve_split(const ag_geom *x, ag_id column) {
  ag_id *Z = AG_NEWN(x->arena, ag_id, x->n_coord + 1);
  for (int i = 0; i < x->n_coord; i++) Z[i] = ag_rows_of(x->g, column, x->at[i], ag_node_rows(x->g, x->xi[i]));
  return Z;
}

/* Turns about the axes of space, and their Z(L), so that these are found as such. */
static void fill_turns(const ag_geom *x, ag_functions *fields, ag_functions *lifts) {
  ag_graph *g = x->g;
  for (int i = 0; i < x->n_coord; i++)
    for (int k = 0; k < 3 && ag_model_coords(x->model)[i].space == AG_SPACE_SO3; k++) {
      ag_id *Z = ag_conserve_split(x, ag_zero(g, x->n, 1)), axis[3];
      for (int j = 0; j < 3; j++) axis[j] = ag_num(g, j == k);
      ag_id in_space = ag_stack(g, 3, 1, axis);
      Z[i] = ag_mul(g, ag_transpose(g, x->q[i]), in_space);
      ag_functions_push(fields, ag_concat(g, x->n_coord, Z));
      ag_functions_push(lifts, ag_geom_lifted(x, Z, x->lagrangian));
    }
}

/* Fields f e_j and their Z(L), behind those already in the list, for which it is 0. */
static void fill(const ag_geom *x, ag_functions *fields, ag_functions *lifts) {
  ag_graph *g = x->g;
  ag_id f[MAX_UNKNOWN], p = ag_concat(g, x->n_coord, x->p), zero = ag_num(g, 0);
  int n = space_of(x, f);
  for (int i = 0; i < fields->n; i++) ag_functions_push(lifts, zero);
  fill_turns(x, fields, lifts);
  ag_id *by_unit = AG_NEWN(x->arena, ag_id, x->n + 1);
  for (int j = 0; j < x->n; j++)
    by_unit[j] = ag_geom_lifted(x, ag_conserve_split(x, unit(x, j, ag_num(g, 1))), x->lagrangian);
  for (int k = 0; k < n; k++) {
    ag_id rate, unused;
    ag_geom_rate(x, f[k], &rate, &unused);
    for (int j = 0; j < x->n; j++) {
      ag_id moved = ag_mul(g, f[k], by_unit[j]), turned = ag_mul(g, rate, ag_entry(g, p, j, 0));
      ag_functions_push(fields, unit(x, j, f[k]));
      ag_functions_push(lifts, ag_add(g, moved, turned));
    }
  }
}

/* Keeps the columns that are independent of those before them. */
static bool thin(ag_conserving *v, ag_functions *fields, ag_functions *lifts) {
  ag_echelon e;
  bool good = ag_conserve_reduce(v, fields->n, fields->x, false, &e);
  for (int r = 0; r < e.rank && good; r++) {
    fields->x[r] = fields->x[e.pivots[r]];
    lifts->x[r] = lifts->x[e.pivots[r]];
  }
  fields->n = lifts->n = good ? e.rank : 0;
  ag_echelon_done(&e);
  return good;
}

static void add(ag_conserving *v, ag_id Z, bool declared, bool keeps) {
  ag_conservation *c = v->c;
  if (!Z || c->n_symmetry == AG_MAX_SYMMETRY) return;
  c->symmetries[c->n_symmetry++] = (ag_symmetry){.Z = Z, .declared = declared, .keeps = keeps};
}

/* How Z moves the constraints, and the relations of the leaf; 0: there are none. */
static ag_id moved_by(const ag_geom *x, ag_id column) {
  ag_id *Z = ag_conserve_split(x, column), parts[2];
  int n = 0;
  if (x->n_row) parts[n++] = ag_geom_lifted(x, Z, x->rows);
  if (x->n_relate) parts[n++] = ag_geom_along(x, Z, x->relate);
  return n ? ag_concat(x->g, n, parts) : 0;
}

/* Sorts n fields, the first ones declared, into those that keep the constraints and the rest. */
static void sort(ag_conserving *v, int n, int n_declared, const ag_id *Z) {
  const ag_geom *x = v->x;
  ag_id *moved = AG_NEWN(x->arena, ag_id, n + 1);
  if (!n) return;
  ag_echelon e = {0};
  for (int i = 0; i < n; i++) moved[i] = moved_by(x, Z[i]);
  if (moved[0] && !ag_conserve_reduce(v, n, moved, false, &e)) e.rank = 0;
  for (int keeps = 1; keeps >= 0; keeps--)
    for (int j = 0, r = 0; j < n; j++) {
      bool pivot = r < e.rank && e.pivots[r] == j;
      r += pivot;
      if (pivot == (keeps > 0)) continue;
      add(v, pivot || !moved[0] ? Z[j] : ag_functions_combine(x->g, Z, &e, j), j<n_declared, keeps> 0);
    }
  ag_echelon_done(&e);
}

void ag_conserve_symmetries(ag_conserving *v, int n_declared, const ag_id *declared) {
  ag_functions fields = {0}, lifts = {0};
  ag_id found[ROOM];
  int n_found = 0;
  for (int i = 0; i < n_declared; i++) ag_functions_push(&fields, declared[i]);
  fill(v->x, &fields, &lifts);
  ag_echelon e = {0};
  bool good = thin(v, &fields, &lifts) && ag_conserve_reduce(v, lifts.n, lifts.x, true, &e);
  v->c->n_symmetry = good ? 0 : -1;
  for (int j = 0, r = 0; j < lifts.n && good; j++) {
    if (r < e.rank && e.pivots[r] == j) r++;
    else if (n_found < ROOM)
      found[n_found] = ag_functions_combine(v->x->g, fields.x, &e, j), n_found += found[n_found] != 0;
  }
  if (good) sort(v, n_found, n_declared, found);
  for (int i = 0; i < v->c->n_symmetry; i++)
    v->c->symmetries[i].field = ag_conserve_print_field(v, v->c->symmetries[i].Z);
  ag_echelon_done(&e);
  free(fields.x);
  free(lifts.x);
}
