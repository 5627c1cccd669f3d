/* SPDX-License-Identifier: MIT */
#include "geom/geom.h"

#include <stdlib.h>

static ag_id *new_ids(const ag_geom *x, int n) { return AG_NEWN(x->arena, ag_id, n + 1); }

/* ad*_xi p: p x Omega on each rotation, 0 elsewhere. */
static ag_id coadjoint(const ag_geom *x, int i, ag_id p) {
  if (ag_model_coords(x->model)[i].space == AG_SPACE_SO3) return ag_cross(x->g, p, x->xi[i]);
  return ag_zero(x->g, ag_node_rows(x->g, p), 1);
}

/* Derivatives when q moves with xi and t with 1. */
static void along(const ag_geom *x, int n, const ag_id *outs, ag_id *rates) {
  ag_id *inputs = ag_heap_alloc(sizeof *inputs * 2 * (size_t)(x->n_coord + 1)), *seeds = inputs + x->n_coord + 1;
  for (int i = 0; i < x->n_coord; i++) inputs[i] = x->q[i], seeds[i] = x->xi[i];
  inputs[x->n_coord] = x->t;
  seeds[x->n_coord] = ag_num(x->g, 1);
  ag_forward(x->g, x->n_coord + 1, inputs, seeds, n, outs, rates);
  free(inputs);
}

static ag_id *forces(const ag_geom *x) {
  ag_id *F = new_ids(x, x->n_coord);
  for (int i = 0; i < x->n_coord; i++) F[i] = ag_zero(x->g, ag_node_rows(x->g, x->xi[i]), 1);
  for (int k = 0; k < ag_model_n_forces(x->model); k++) {
    const ag_assign *f = &ag_model_forces(x->model)[k];
    int dim = ag_node_rows(x->g, x->xi[f->coord]);
    ag_id add = f->x;
    if (f->row >= 0 && dim > 1) {
      ag_id *parts = new_ids(x, dim);
      for (int r = 0; r < dim; r++) parts[r] = r == f->row ? f->x : ag_num(x->g, 0);
      add = ag_stack(x->g, dim, 1, parts);
    }
    F[f->coord] = ag_add(x->g, F[f->coord], add);
  }
  return F;
}

/* p, M, ell, the energy. */
static void inertia(ag_geom *x) {
  ag_graph *g = x->g;
  ag_id one = ag_num(g, 1), *p = new_ids(x, x->n_coord), *gradient = new_ids(x, x->n_coord);
  ag_id *rate = new_ids(x, x->n_coord), *ell = new_ids(x, x->n_coord), *F = forces(x);
  ag_reverse(g, 1, &x->lagrangian, &one, x->n_coord, x->xi, p);
  ag_reverse(g, 1, &x->lagrangian, &one, x->n_coord, x->q, gradient);
  along(x, x->n_coord, p, rate);
  x->energy = ag_neg(g, x->lagrangian);
  for (int i = 0; i < x->n_coord; i++) {
    ag_id pull = ag_add(g, ag_add(g, coadjoint(x, i, p[i]), gradient[i]), F[i]);
    ell[i] = ag_sub(g, rate[i], pull);
    ag_id part = ag_dot(g, p[i], x->xi[i]);
    x->energy = ag_add(g, x->energy, part);
  }
  x->p = p;
  x->M = ag_jacobian(g, ag_concat(g, x->n_coord, p), x->n_coord, x->xi);
  x->ell = ag_concat(g, x->n_coord, ell);
  x->force = ag_concat(g, x->n_coord, F);
}

/* At xi = 0. */
static ag_id at_rest(const ag_geom *x, ag_id e) {
  ag_id *zeros = new_ids(x, x->n_coord);
  for (int i = 0; i < x->n_coord; i++) zeros[i] = ag_zero(x->g, ag_node_rows(x->g, x->xi[i]), 1);
  ag_substitute(x->g, x->n_coord, x->xi, zeros, 1, &e);
  return e;
}

/* Velocity constraints, and the derivatives of position-level ones; these and the gaps of contacts are relations. */
static void constraints(ag_geom *x) {
  ag_model *m = x->model;
  int n = 0, n_relate = 0, nh = ag_model_n_holonomics(m), np = ag_model_n_prescribes(m), nt = ag_model_n_touches(m);
  ag_id *rows = new_ids(x, ag_model_n_constraints(m) + nh + np), *relate = new_ids(x, nh + np + nt);
  for (int i = 0; i < ag_model_n_constraints(m); i++) rows[n++] = ag_model_constraints(m)[i].x;
  for (int i = 0; i < nh + np; i++) {
    ag_id e = i < nh ? ag_model_holonomics(m)[i].x : ag_model_prescribes(m)[i - nh].x;
    relate[n_relate++] = e;
    along(x, 1, &e, &rows[n++]);
  }
  for (int i = 0; i < nt; i++) relate[n_relate++] = ag_model_touches(m)[i].x;
  if (n) {
    x->rows = ag_concat(x->g, n, rows);
    x->n_row = ag_node_rows(x->g, x->rows);
    x->S = ag_jacobian(x->g, x->rows, x->n_coord, x->xi);
    x->s = at_rest(x, x->rows);
    along(x, 1, &x->rows, &x->kappa);
  }
  if (n_relate) ag_geom_relate(x, n_relate, relate);
}

ag_geom *ag_geom_create(ag_model *m, ag_id lagrangian) {
  ag_arena *arena = ag_arena_create();
  ag_geom *x = AG_NEW(arena, ag_geom);
  *x = (ag_geom){.model = m, .g = ag_model_graph(m), .arena = arena, .n_coord = ag_model_n_coords(m)};
  x->t = ag_model_time(m);
  x->lagrangian = lagrangian ? lagrangian : ag_model_lagrangian(m);
  x->at = AG_NEWN(arena, int, x->n_coord + 1);
  x->q = new_ids(x, x->n_coord);
  x->xi = new_ids(x, x->n_coord);
  x->acc = new_ids(x, x->n_coord);
  x->react = new_ids(x, x->n_coord);
  for (int i = 0; i < x->n_coord; i++) {
    const ag_coord c = ag_model_coords(m)[i];
    x->q[i] = c.q;
    x->xi[i] = c.xi;
    x->acc[i] = ag_input(x->g, "acceleration", c.dim, 1, AG_LEAF_REAL);
    x->react[i] = ag_input(x->g, "reaction", c.dim, 1, AG_LEAF_REAL);
    x->at[i] = x->n;
    x->n += c.dim;
  }
  inertia(x);
  constraints(x);
  return x;
}

void ag_geom_free(ag_geom *x) {
  if (x) ag_arena_free(x->arena);
}

void ag_geom_relate(ag_geom *x, int n, const ag_id *e) {
  ag_id *all = new_ids(x, n + 1);
  int k = 0;
  if (x->relate) all[k++] = x->relate;
  for (int i = 0; i < n; i++) all[k++] = e[i];
  x->relate = ag_concat(x->g, k, all);
  x->n_relate = ag_node_rows(x->g, x->relate);
  x->relate_jacobian = ag_jacobian(x->g, x->relate, x->n_coord, x->q);
}

ag_id ag_geom_with_potential(ag_model *m, ag_id V) {
  ag_graph *g = ag_model_graph(m);
  int n = ag_model_n_coords(m);
  ag_id rest = ag_model_lagrangian(m), *from = ag_heap_alloc(sizeof *from * 2 * (size_t)(n + 1)), *to = from + n + 1;
  for (int i = 0; i < n; i++) from[i] = ag_model_coords(m)[i].xi, to[i] = ag_zero(g, ag_model_coords(m)[i].dim, 1);
  ag_substitute(g, n, from, to, 1, &rest);
  free(from);
  return ag_sub(g, ag_sub(g, ag_model_lagrangian(m), rest), V);
}

bool ag_geom_plain(const ag_geom *x, ag_id *expression) {
  const ag_model *m = x->model;
  int n = ag_model_n_frame_inputs(m);
  ag_id *from = new_ids(x, n + 1), *to = new_ids(x, n + 1);
  for (int i = 0; i < n; i++) from[i] = ag_model_frame_inputs(m)[i], to[i] = ag_model_frames(m)[i].x;
  if (ag_model_energy_input(m)) from[n] = ag_model_energy_input(m), to[n++] = x->energy;
  if (n) ag_substitute(x->g, n, from, to, 1, expression);
  return !ag_model_has_force(m, 1, expression);
}

void ag_geom_rate(const ag_geom *x, ag_id expression, ag_id *moved, ag_id *accelerated) {
  along(x, 1, &expression, moved);
  ag_forward(x->g, x->n_coord, x->xi, x->acc, 1, &expression, accelerated);
}

ag_id *ag_geom_field(const ag_geom *x, const ag_generator *z) {
  ag_id *Z = new_ids(x, x->n_coord);
  for (int i = 0; i < x->n_coord; i++) Z[i] = ag_zero(x->g, ag_node_rows(x->g, x->xi[i]), 1);
  for (int k = 0; k < z->n; k++) {
    const ag_assign *a = &z->parts[k];
    int dim = ag_node_rows(x->g, x->xi[a->coord]);
    if (a->row < 0 || dim == 1) {
      Z[a->coord] = a->x;
      continue;
    }
    ag_id *parts = new_ids(x, dim);
    for (int r = 0; r < dim; r++) parts[r] = r == a->row ? a->x : ag_entry(x->g, Z[a->coord], r, 0);
    Z[a->coord] = ag_stack(x->g, dim, 1, parts);
  }
  return Z;
}

static ag_id paired(const ag_geom *x, const ag_id *Z, const ag_id *w) {
  ag_id sum = ag_num(x->g, 0);
  for (int i = 0; i < x->n_coord; i++) {
    ag_id part = ag_dot(x->g, w[i], Z[i]);
    sum = ag_add(x->g, sum, part);
  }
  return sum;
}

ag_id ag_geom_momentum(const ag_geom *x, const ag_id *Z) { return paired(x, Z, x->p); }

ag_id ag_geom_reaction(const ag_geom *x, const ag_id *Z) { return paired(x, Z, x->react); }

ag_id ag_geom_across(const ag_geom *x, const ag_id *Z) {
  return x->n_row ? ag_mul(x->g, x->S, ag_concat(x->g, x->n_coord, Z)) : 0;
}

ag_id ag_geom_lifted(const ag_geom *x, const ag_id *Z, ag_id expression) {
  int n = x->n_coord;
  ag_id *inputs = new_ids(x, 2 * n), *seeds = new_ids(x, 2 * n), out;
  along(x, n, Z, seeds + n);
  for (int i = 0; i < n; i++) {
    inputs[i] = x->q[i];
    inputs[n + i] = x->xi[i];
    seeds[i] = Z[i];
    if (ag_model_coords(x->model)[i].space == AG_SPACE_SO3)
      seeds[n + i] = ag_add(x->g, seeds[n + i], ag_cross(x->g, x->xi[i], Z[i]));
  }
  ag_forward(x->g, 2 * n, inputs, seeds, 1, &expression, &out);
  return out;
}

ag_id ag_geom_time_power(const ag_geom *x) {
  ag_id one = ag_num(x->g, 1), out;
  ag_forward(x->g, 1, &x->t, &one, 1, &x->lagrangian, &out);
  return ag_neg(x->g, out);
}

ag_id ag_geom_force_power(const ag_geom *x) { return ag_dot(x->g, x->force, ag_concat(x->g, x->n_coord, x->xi)); }
