/* SPDX-License-Identifier: MIT */
#include "geom/geom.h"

#include <math.h>
#include <stdlib.h>

static ag_id *new_ids(const ag_geom *x, int n) { return AG_NEWN(x->arena, ag_id, n + 1); }

/* ad*_xi p: p x Omega on each rotation, 0 elsewhere. */
static ag_id coadjoint(const ag_geom *x, int i, ag_id p) {
  if (ag_model_coords(x->model)[i].space == AG_SPACE_SO3) return ag_cross(x->g, p, x->xi[i]);
  return ag_zero(x->g, ag_node_rows(x->g, p), 1);
}

/* Derivatives when t moves with 1, processes with their drift, and q (NULL: it rests) with velocity. */
static void along_all(const ag_geom *x, const ag_id *velocity, int n, const ag_id *outs, ag_id *rates) {
  int n_process = ag_model_n_processes(x->model), n_in = 0;
  size_t room = (size_t)(x->n_coord + n_process + 1);
  ag_id *inputs = ag_heap_alloc(sizeof *inputs * 2 * room), *seeds = inputs + room;
  for (int i = 0; i < x->n_coord && velocity; i++) inputs[n_in] = x->q[i], seeds[n_in++] = velocity[i];
  inputs[n_in] = x->t;
  seeds[n_in++] = ag_num(x->g, 1);
  for (int i = 0; i < n_process; i++) {
    const ag_process *p = &ag_model_processes(x->model)[i];
    inputs[n_in] = p->x, seeds[n_in++] = p->drift;
  }
  ag_forward(x->g, n_in, inputs, seeds, n, outs, rates);
  free(inputs);
}

/* Derivatives along the motion. */
static void along(const ag_geom *x, int n, const ag_id *outs, ag_id *rates) { along_all(x, x->xi, n, outs, rates); }

static bool guards(const ag_graph *g, ag_id y) {
  static const double SMALL = 1e-6;
  double small;
  if (ag_node_op(g, y) == AG_OP_AND) return guards(g, ag_node_arg(g, y, 0)) || guards(g, ag_node_arg(g, y, 1));
  if (ag_node_op(g, y) != AG_OP_LT || ag_node_op(g, ag_node_arg(g, y, 0)) != AG_OP_HOLD) return false;
  return ag_is_num(g, ag_node_arg(g, y, 1), &small) && fabs(small) <= SMALL;
}

/* Near an axis some expressions of surfaces pass to their limit: a held value is compared with a small number. Both
 * agree where they meet. Here the comparison is taken as false: everything is evaluated away from the axis. */
static void leave_axes(const ag_geom *x, int n, ag_id *e) {
  ag_graph *g = x->g;
  ag_id top = 0, from[16], to[16];
  int n_guard = 0;
  for (int i = 0; i < n; i++) top = e[i] > top ? e[i] : top;
  bool *used = ag_heap_alloc(sizeof *used * ((size_t)top + 1)); /* arguments are older than what is made of them */
  for (int i = 0; i < n; i++) used[e[i]] = true;
  for (ag_id y = top; y > 0; y--) {
    int n_arg = used[y] ? ag_node_n_arg(g, y) : 0;
    for (int k = 0; k < n_arg; k++) used[ag_node_arg(g, y, k)] = true;
    if (used[y] && n_guard < 16 && guards(g, y)) from[n_guard] = y, to[n_guard++] = ag_num(g, 0);
  }
  free(used);
  if (n_guard) ag_substitute(g, n_guard, from, to, n, e);
}

static ag_id *forces(const ag_geom *x, bool with_drag) {
  ag_id *F = new_ids(x, x->n_coord);
  for (int i = 0; i < x->n_coord; i++) F[i] = ag_zero(x->g, ag_node_rows(x->g, x->xi[i]), 1);
  for (int k = 0; k < ag_model_n_forces(x->model); k++) {
    const ag_assign *f = &ag_model_forces(x->model)[k];
    if (f->drag && !with_drag) continue;
    int dim = ag_node_rows(x->g, x->xi[f->coord]);
    ag_id add = f->x;
    if (f->row >= 0 && dim > 1) {
      ag_id *parts = new_ids(x, dim);
      for (int r = 0; r < dim; r++) parts[r] = r == f->row ? f->x : ag_num(x->g, 0);
      add = ag_stack(x->g, dim, 1, parts);
    }
    F[f->coord] = ag_add(x->g, F[f->coord], add);
  }
  leave_axes(x, x->n_coord, F);
  return F;
}

/* ell with the forces F. */
static void apply(ag_geom *x, const ag_id *F) {
  ag_id *ell = new_ids(x, x->n_coord);
  for (int i = 0; i < x->n_coord; i++) ell[i] = ag_sub(x->g, x->inert[i], F[i]);
  x->ell = ag_concat(x->g, x->n_coord, ell);
  x->force = ag_concat(x->g, x->n_coord, F);
}

/* p, M, ell, the energy. */
static void inertia(ag_geom *x) {
  ag_graph *g = x->g;
  leave_axes(x, 1, &x->lagrangian);
  ag_id one = ag_num(g, 1), *p = new_ids(x, x->n_coord), *gradient = new_ids(x, x->n_coord);
  ag_id *rate = new_ids(x, x->n_coord);
  x->inert = new_ids(x, x->n_coord);
  ag_reverse(g, 1, &x->lagrangian, &one, x->n_coord, x->xi, p);
  ag_reverse(g, 1, &x->lagrangian, &one, x->n_coord, x->q, gradient);
  along(x, x->n_coord, p, rate);
  x->energy = ag_neg(g, x->lagrangian);
  for (int i = 0; i < x->n_coord; i++) {
    ag_id pull = ag_add(g, coadjoint(x, i, p[i]), gradient[i]);
    x->inert[i] = ag_sub(g, rate[i], pull);
    ag_id part = ag_dot(g, p[i], x->xi[i]);
    x->energy = ag_add(g, x->energy, part);
  }
  x->p = p;
  x->M = ag_jacobian(g, ag_concat(g, x->n_coord, p), x->n_coord, x->xi);
  apply(x, forces(x, true));
}

void ag_geom_quiet(ag_geom *x) { apply(x, forces(x, false)); }

ag_id ag_geom_at_rest(const ag_geom *x, ag_id e) {
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
  leave_axes(x, n, rows);
  for (int i = 0; i < nh + np; i++) {
    ag_id e = i < nh ? ag_model_holonomics(m)[i].x : ag_model_prescribes(m)[i - nh].x;
    leave_axes(x, 1, &e);
    relate[n_relate++] = e;
    along(x, 1, &e, &rows[n++]);
  }
  for (int i = 0; i < nt; i++) relate[n_relate++] = ag_model_touches(m)[i].x;
  leave_axes(x, n_relate, relate);
  if (n) {
    x->rows = ag_concat(x->g, n, rows);
    x->n_row = ag_node_rows(x->g, x->rows);
    x->S = ag_jacobian(x->g, x->rows, x->n_coord, x->xi);
    x->s = ag_geom_at_rest(x, x->rows);
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
  leave_axes(x, 1, expression);
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

ag_id ag_geom_along(const ag_geom *x, const ag_id *Y, ag_id f) {
  ag_id out;
  ag_forward(x->g, x->n_coord, x->q, Y, 1, &f, &out);
  return out;
}

/* D_Y Z - D_Z Y, and y x z on rotations. */
ag_id *ag_geom_bracket(const ag_geom *x, const ag_id *Y, const ag_id *Z) {
  int n = x->n_coord;
  ag_id *out = new_ids(x, n), *back = new_ids(x, n);
  ag_forward(x->g, n, x->q, Y, n, Z, out);
  ag_forward(x->g, n, x->q, Z, n, Y, back);
  for (int i = 0; i < n; i++) {
    out[i] = ag_sub(x->g, out[i], back[i]);
    if (ag_model_coords(x->model)[i].space == AG_SPACE_SO3) out[i] = ag_add(x->g, out[i], ag_cross(x->g, Y[i], Z[i]));
  }
  return out;
}

ag_id ag_geom_saddle(const ag_geom *x, int rank, const int *rows) {
  int n = x->n, size = n + rank;
  ag_id *K = ag_heap_alloc(sizeof *K * (size_t)(size * size + 1)), zero = ag_num(x->g, 0);
  for (int i = 0; i < size * size; i++) K[i] = zero;
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++) K[i * size + j] = ag_entry(x->g, x->M, i, j);
    for (int k = 0; k < rank; k++) {
      K[(n + k) * size + i] = ag_entry(x->g, x->S, rows[k], i);
      K[i * size + n + k] = ag_neg(x->g, K[(n + k) * size + i]);
    }
  }
  ag_id out = ag_stack(x->g, size, size, K);
  free(K);
  return out;
}

/* Is M diagonal by its form, without zeros there? */
static bool diagonal(const ag_geom *x) {
  for (int i = 0; i < x->n; i++)
    for (int j = 0; j < x->n; j++)
      if (ag_is_zero(x->g, ag_entry(x->g, x->M, i, j)) != (i != j)) return false;
  return true;
}

/* For a diagonal M the formulas are shorter: w = M^-1 (a + S^T mu), S M^-1 S^T mu = b - S M^-1 a. */
static ag_id solved_diagonal(const ag_geom *x, int rank, const int *rows, ag_id a, ag_id b) {
  ag_graph *g = x->g;
  ag_id *S = ag_heap_alloc(sizeof *S * (size_t)(2 * rank * x->n + rank + x->n + 1)), *over = S + rank * x->n,
        *right = over + rank * x->n, *out = right + rank;
  for (int i = 0; i < rank * x->n; i++) {
    S[i] = ag_entry(g, x->S, rows[i / x->n], i % x->n);
    over[i] = ag_div(g, S[i], ag_entry(g, x->M, i % x->n, i % x->n));
  }
  ag_id whole = ag_stack(g, rank, x->n, S), scaled = ag_stack(g, rank, x->n, over);
  for (int k = 0; k < rank; k++) right[k] = b ? ag_entry(g, b, rows[k], 0) : ag_num(g, 0);
  ag_id left = ag_mul(g, whole, ag_transpose(g, scaled)), column = ag_stack(g, rank, 1, right);
  if (a) column = ag_sub(g, column, ag_mul(g, scaled, a));
  ag_id mu = ag_solve(g, left, column, AG_SOLVE_GENERAL), back = ag_mul(g, ag_transpose(g, scaled), mu);
  for (int i = 0; i < x->n; i++) {
    out[i] = ag_entry(g, back, i, 0);
    ag_id free_fall = a ? ag_entry(g, a, i, 0) : 0;
    if (a) out[i] = ag_add(g, out[i], ag_div(g, free_fall, ag_entry(g, x->M, i, i)));
  }
  ag_id w = ag_stack(g, x->n, 1, out);
  free(S);
  return w;
}

/* The first n numbers of K^-1 [a; b], b taken at the given rows; 0 stands for zeros. */
static ag_id solved(const ag_geom *x, int rank, const int *rows, ag_id a, ag_id b) {
  if (rank && diagonal(x)) return solved_diagonal(x, rank, rows, a, b);
  ag_id *right = ag_heap_alloc(sizeof *right * (size_t)(x->n + rank + 1)), zero = ag_num(x->g, 0);
  for (int i = 0; i < x->n; i++) right[i] = a ? ag_entry(x->g, a, i, 0) : zero;
  for (int k = 0; k < rank; k++) right[x->n + k] = b ? ag_entry(x->g, b, rows[k], 0) : zero;
  ag_id K = ag_geom_saddle(x, rank, rows), column = ag_stack(x->g, x->n + rank, 1, right);
  free(right);
  return ag_rows_of(x->g, ag_solve(x->g, K, column, AG_SOLVE_GENERAL), 0, x->n);
}

ag_id ag_geom_acceleration(const ag_geom *x, int rank, const int *rows) {
  ag_id minus = ag_neg(x->g, x->ell);
  return solved(x, rank, rows, minus, rank ? ag_neg(x->g, x->kappa) : 0);
}

ag_id ag_geom_drift(const ag_geom *x, int rank, const int *rows) {
  return rank ? solved(x, rank, rows, 0, ag_neg(x->g, x->s)) : ag_zero(x->g, x->n, 1);
}

ag_id ag_geom_normal(const ag_geom *x, int rank, const int *rows, ag_id Z) {
  return rank ? solved(x, rank, rows, 0, ag_mul(x->g, x->S, Z)) : ag_zero(x->g, x->n, 1);
}

ag_id ag_geom_admissible(const ag_geom *x, int rank, const int *rows, ag_id a) { return solved(x, rank, rows, a, 0); }

ag_id ag_geom_noise(const ag_geom *x, int rank, const int *rows, const ag_id *sigma, const ag_id *amplitude,
                    const ag_id *pull) {
  int n = x->n_coord, n_process = ag_model_n_processes(x->model);
  ag_id *rate = new_ids(x, n), across = 0, *inputs = new_ids(x, n + n_process), *seeds = new_ids(x, n + n_process);
  for (int i = 0; i < n; i++) inputs[i] = x->q[i], seeds[i] = sigma[i];
  for (int i = 0; i < n_process; i++) inputs[n + i] = ag_model_processes(x->model)[i].x, seeds[n + i] = amplitude[i];
  ag_forward(x->g, n + n_process, inputs, seeds, n, x->p, rate);
  for (int i = 0; i < n; i++) rate[i] = ag_sub(x->g, pull[i], rate[i]);
  if (rank) {
    ag_forward(x->g, n + n_process, inputs, seeds, 1, &x->rows, &across);
    across = ag_neg(x->g, across);
  }
  return solved(x, rank, rows, ag_concat(x->g, x->n_coord, rate), across);
}

ag_id ag_geom_divergence(const ag_geom *x, int rank, const int *rows) {
  int n = x->n, size = n + rank;
  ag_id ell = ag_jacobian(x->g, x->ell, x->n_coord, x->xi);
  ag_id kappa = rank ? ag_jacobian(x->g, x->kappa, x->n_coord, x->xi) : 0;
  ag_id *b = ag_heap_alloc(sizeof *b * (size_t)(size * n + 1));
  for (int i = 0; i < size; i++)
    for (int j = 0; j < n; j++)
      b[i * n + j] = i < n ? ag_entry(x->g, ell, i, j) : ag_entry(x->g, kappa, rows[i - n], j);
  ag_id K = ag_geom_saddle(x, rank, rows), right = ag_stack(x->g, size, n, b);
  ag_id solved = ag_solve(x->g, K, right, AG_SOLVE_GENERAL);
  ag_id sum = ag_num(x->g, 0);
  for (int i = 0; i < n; i++) sum = ag_sub(x->g, sum, ag_entry(x->g, solved, i, i));
  free(b);
  return sum;
}

ag_id ag_geom_time_power(const ag_geom *x) {
  ag_id out;
  along_all(x, NULL, 1, &x->lagrangian, &out);
  return ag_neg(x->g, out);
}

ag_id ag_geom_force_power(const ag_geom *x) { return ag_dot(x->g, x->force, ag_concat(x->g, x->n_coord, x->xi)); }
