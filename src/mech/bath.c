/* SPDX-License-Identifier: MIT
 * The increment of a system with friction at a temperature, with a separate weight for the friction:
 *   w_0 (all but friction) + w_f (friction) + sum w_i g_i.
 * For velocities v = G xi the friction is Q = -sum c G^T v, projected on u. */
#include <string.h>

#include "expr/residue.h"
#include "mech/mech_internal.h"

static ag_id *new_ids(const ag_system *sys, int n) { return AG_NEWN(sys->arena, ag_id, n + 1); }

/* Friction as a force on u. */
static ag_id friction(ag_system *sys) {
  ag_graph *g = sys->model->graph;
  const ag_model *m = sys->model;
  int n_in = sys->n_u_input, nc = m->n_coords;
  ag_id *part = new_ids(sys, n_in), *xi = new_ids(sys, nc), sum = 0;
  for (int i = 0; i < nc; i++) xi[i] = m->coords[i].xi;
  for (int k = 0; k < m->n_baths; k++) {
    ag_id v = m->baths[k].v;
    ag_substitute(g, nc, xi, sys->xi_of_u, 1, &v);
    ag_id weight = ag_neg(g, ag_mul(g, m->baths[k].c, v));
    ag_reverse(g, 1, &v, &weight, n_in, sys->u_inputs, part);
    ag_id force = ag_concat(g, n_in, part);
    sum = sum ? ag_add(g, sum, force) : force;
  }
  return sum;
}

bool ag_bath_field(ag_system *sys, ag_id *rows, ag_id *turns) {
  ag_graph *g = sys->model->graph;
  int m = sys->n.channel, nc = sys->model->n_coords;
  if (!sys->model->n_baths || sys->model->n_baths != m || ag_system_discrete_lacks(sys, AG_DISCRETE_EXP, false) ||
      !sys->noise_force)
    return false;
  if (!sys->step_friction) sys->step_friction = ag_input(g, "friction", 1, 1, AG_LEAF_REAL);
  ag_id Q = friction(sys), quiet = ag_sub(g, sys->force, Q), right = ag_mul(g, sys->step_h, quiet);
  ag_id damped = ag_mul(g, sys->step_friction, Q);
  right = ag_add(g, right, damped);
  for (int i = 0; i < m; i++) {
    ag_id dW = ag_entry(g, sys->step_dW, i, 0), noise = ag_mul(g, dW, sys->noise_force[i]);
    right = ag_add(g, right, noise);
  }
  ag_id rates = ag_solve(g, sys->mass, right, AG_SOLVE_SPD);
  for (int z = 0; z < sys->n.z; z++) rows[z] = ag_mul(g, sys->step_h, sys->dz[z]);
  for (int k = 0; k < sys->n.u; k++) rows[sys->n.u_at + k] = ag_entry(g, rates, k, 0);
  for (int i = 0; i < nc; i++) turns[i] = ag_mul(g, sys->step_h, sys->turns[i]);
  ag_split_leaves(sys, sys->n.z, rows);
  return true;
}

/* ---- does it split? ---- */

/* Are all rows of `outs` unchanged when the inputs with seeds move? */
static bool rests(ag_system *sys, const ag_linear *l, const ag_id *seeds, int n_out, const ag_id *outs) {
  ag_graph *g = sys->model->graph;
  const ag_model *m = sys->model;
  ag_id *all = new_ids(sys, 2 * l->n_in + m->n_params + 2 * sys->n_basis + 1), *rate = new_ids(sys, n_out);
  int n = 0;
  for (int k = 0; k < l->n_in; k++) all[n++] = l->inputs[k];
  for (int k = 0; k < l->n_in; k++)
    if (!ag_is_zero(g, seeds[k])) all[n++] = seeds[k];
  for (int i = 0; i < m->n_params; i++)
    if (m->params[i].input) all[n++] = m->params[i].input;
  all[n++] = m->t;
  n += ag_basis_inputs(sys, all + n);
  ag_forward(g, l->n_in, l->inputs, seeds, n_out, outs, rate);
  return ag_residue_vanish(g, n, all, n_out, rate);
}

/* The field without friction and noise. */
static void take_quiet(ag_system *sys, ag_linear *l) {
  ag_graph *g = sys->model->graph;
  int m = sys->n.channel, nc = sys->model->n_coords, n_z = sys->n.z;
  ag_id *x = new_ids(sys, n_z + nc), *none = new_ids(sys, m), zero = ag_num(g, 0);
  memcpy(x, sys->field_rows[AG_FIELD_OF_BATH], sizeof *x * (size_t)n_z);
  memcpy(x + n_z, sys->field_turns[AG_FIELD_OF_BATH], sizeof *x * (size_t)nc);
  for (int i = 0; i < m; i++) none[i] = zero;
  ag_id from[3] = {sys->step_h, sys->step_dW, sys->step_friction}, to[3] = {ag_num(g, 1), zero, zero};
  to[1] = ag_stack(g, m, 1, none);
  ag_substitute(g, 3, from, to, n_z + nc, x);
  ag_linear_init(l, sys, false, x, x + n_z);
}

/* ---- with rotations ---- */

/* Position in u of the angular velocity of a coordinate; -1: it is not independent. */
static int spin_of(const ag_system *sys, int coord) {
  for (int i = 0, at = 0; i < sys->n_u_input; i++) {
    if (sys->u_inputs[i] == sys->model->coords[coord].xi) return at;
    at += ag_node_rows(sys->model->graph, sys->u_inputs[i]);
  }
  return -1;
}

/* (I Omega) x Omega of every rotation as a force on u, with the diagonal of the mass matrix. */
static ag_id gyroscopic(const ag_system *sys) {
  ag_graph *g = sys->model->graph;
  ag_id *parts = new_ids(sys, sys->n.u);
  for (int k = 0; k < sys->n.u; k++) parts[k] = ag_num(g, 0);
  for (int c = 0; c < sys->model->n_coords; c++) {
    if (sys->model->coords[c].space != AG_SPACE_SO3) continue;
    int at = spin_of(sys, c);
    ag_id Omega = sys->model->coords[c].xi, P[3];
    for (int k = 0; k < 3; k++) {
      ag_id I = ag_entry(g, sys->mass, at + k, at + k), w = ag_entry(g, Omega, k, 0);
      P[k] = ag_mul(g, I, w);
    }
    ag_id torque = ag_cross(g, ag_stack(g, 3, 1, P), Omega);
    for (int k = 0; k < 3; k++) parts[at + k] = ag_entry(g, torque, k, 0);
  }
  return ag_stack(g, sys->n.u, 1, parts);
}

/* Is x independent of the positions (and images), or of the velocities? */
static bool steady(const ag_system *sys, bool velocities, int n_x, const ag_id *x) {
  ag_graph *g = sys->model->graph;
  const ag_model *m = sys->model;
  int n_q = m->n_coords + sys->n_image, n_u = sys->n_u_input, n = 0, k = 0;
  ag_id *inputs = new_ids(sys, n_q + n_u), *seeds = new_ids(sys, n_q + n_u), *rate = new_ids(sys, n_x);
  ag_id *all = new_ids(sys, 2 * (n_q + n_u) + m->n_params + 2 * sys->n_basis + 1);
  for (int c = 0; c < m->n_coords; c++) inputs[n++] = m->coords[c].q;
  for (int i = 0; i < sys->n_image; i++) inputs[n++] = sys->images[i].input;
  for (int i = 0; i < n_u; i++) inputs[n++] = sys->u_inputs[i];
  for (int i = 0; i < n; i++) all[k++] = inputs[i];
  for (int i = 0; i < n; i++) {
    int size = ag_input_tangent(g, inputs[i]);
    bool moved = (i >= n_q) == velocities;
    seeds[i] = moved ? ag_input(g, "seed", size, 1, AG_LEAF_REAL) : ag_zero(g, size, 1);
    if (moved) all[k++] = seeds[i];
  }
  for (int i = 0; i < m->n_params; i++)
    if (m->params[i].input) all[k++] = m->params[i].input;
  all[k++] = m->t;
  k += ag_basis_inputs(sys, all + k);
  ag_forward(g, n, inputs, seeds, n_x, x, rate);
  return ag_residue_vanish(g, k, all, n_x, rate);
}

/* Are the off-diagonal entries of the mass matrix 0 in the rows of rotations? */
static bool is_diagonal(const ag_system *sys) {
  ag_graph *g = sys->model->graph;
  const ag_model *m = sys->model;
  int n = 0, k = 0;
  ag_id *x = new_ids(sys, sys->n.u * sys->n.u),
        *all = new_ids(sys, m->n_coords + sys->n_image + m->n_params + 2 * sys->n_basis + 1);
  for (int c = 0; c < m->n_coords; c++)
    for (int i = 0; i < 3 * sys->n.u && m->coords[c].space == AG_SPACE_SO3; i++) {
      int row = spin_of(sys, c) + i / sys->n.u, col = i % sys->n.u;
      if (row != col) x[n++] = ag_entry(g, sys->mass, row, col);
    }
  for (int c = 0; c < m->n_coords; c++) all[k++] = m->coords[c].q;
  for (int i = 0; i < sys->n_image; i++) all[k++] = sys->images[i].input;
  for (int i = 0; i < m->n_params; i++)
    if (m->params[i].input) all[k++] = m->params[i].input;
  all[k++] = m->t;
  k += ag_basis_inputs(sys, all + k);
  return ag_residue_vanish(g, k, all, n, x);
}

/* The same question where rotations are free, turned about the axes of the body one by one; makes the role INERTIA. */
static bool splits_turning(ag_system *sys) {
  ag_graph *g = sys->model->graph;
  const ag_model *m = sys->model;
  for (int c = 0; c < m->n_coords; c++)
    if (m->coords[c].space == AG_SPACE_SO3 && spin_of(sys, c) < 0) return false;
  ag_id quiet = ag_sub(g, sys->force, friction(sys)), rest = ag_sub(g, quiet, gyroscopic(sys));
  if (!is_diagonal(sys) || !steady(sys, false, 1, &sys->mass) || !steady(sys, false, m->n_coords, sys->xi_of_u) ||
      !steady(sys, true, 1, &rest))
    return false;
  ag_id *diagonal = new_ids(sys, sys->n.u);
  for (int k = 0; k < sys->n.u; k++) diagonal[k] = ag_entry(g, sys->mass, k, k);
  if (!sys->tapes[AG_ROLE_INERTIA]) ag_role_make(sys, AG_ROLE_INERTIA, sys->n.u, diagonal);
  return true;
}

int ag_system_spin(const ag_system *sys, int z) {
  for (int c = 0; c < sys->model->n_coords; c++)
    if (sys->model->coords[c].space == AG_SPACE_SO3 && sys->q_in_z[sys->coords[c].at] == z) return spin_of(sys, c);
  return -1;
}

bool ag_system_splits(ag_system *sys) {
  if (!ag_system_field(sys, AG_FIELD_OF_BATH)) return false;
  bool turning = false;
  for (int c = 0; c < sys->model->n_coords; c++) turning = turning || sys->model->coords[c].space == AG_SPACE_SO3;
  if (turning) return sys->splits = splits_turning(sys);
  ag_graph *g = sys->model->graph;
  ag_linear l;
  int n = 0, at = sys->n.u_at;
  take_quiet(sys, &l);
  for (int k = 0; k < l.n_turn; k++) at -= l.turn_row[k] < sys->n.u_at - k ? 1 : 0;
  ag_id *moves = new_ids(sys, l.n_in), *pushes = new_ids(sys, l.n_in), *rows = new_ids(sys, l.n_row);
  for (int k = 0, row = 0; k < l.n_in; k++) {
    int size = ag_input_tangent(g, l.inputs[k]);
    bool is_u = row >= at && row < at + sys->n.u;
    ag_id seed = ag_input(g, "seed", size, 1, AG_LEAF_REAL), zero = ag_zero(g, size, 1);
    moves[k] = is_u ? zero : seed, pushes[k] = is_u ? seed : zero;
    row += size;
  }
  for (int r = 0; r < l.n_row; r++)
    if (r < at || r >= at + sys->n.u) rows[n++] = l.rows[r];
  sys->splits = rests(sys, &l, moves, n, rows) && rests(sys, &l, pushes, sys->n.u, l.rows + at);
  ag_linear_done(&l);
  return sys->splits;
}

bool ag_system_is_split(const ag_system *sys) { return sys->splits; }
