/* SPDX-License-Identifier: MIT
 * Equations of motion, both closures. With p = dl/dxi, xi = B u + xi0 (eliminate.c), in the notation of
 * docs/theory/1-formalism.md:
 *   eliminated    (B^T M B) u' = B^T { ad*_xi p + dbar l + F - (D_xi p|_u + d/dt p|_u) }
 *   multipliers   [M -S^T; S 0] [xi'; lambda] = [-ell; -kappa]
 * B^T w is the reverse derivative of xi(q,u,t) in u with weights w; B^T M B the derivative of B^T p in u. No matrix B
 * or M is ever formed for the first, so that rotations cancel before anything is written in components. */
#include <string.h>

#include "expr/residue.h"
#include "mech/mech_internal.h"

static ag_id *new_ids(derive *d, int n) { return AG_NEWN(d->sys->arena, ag_id, n + 1); }

/* p x Omega on each rotation, 0 elsewhere. */
ag_id ag_coadjoint(derive *d, int i, ag_id p, ag_id xi) {
  if (d->m->coords[i].space == AG_SPACE_SO3) return ag_cross(d->g, p, xi);
  return ag_zero(d->g, ag_node_rows(d->g, p), 1);
}

void ag_along_motion(derive *d, const ag_id *velocity, int n_out, const ag_id *outs, ag_id *rates) {
  size_t room = (size_t)(d->nc + 1 + d->sys->n.process);
  ag_id *inputs = ag_heap_alloc(sizeof *inputs * room), *seeds = ag_heap_alloc(sizeof *seeds * room);
  for (int i = 0; i < d->nc; i++) inputs[i] = d->q[i], seeds[i] = velocity[i];
  inputs[d->nc] = d->m->t;
  seeds[d->nc] = ag_num(d->g, 1);
  int n = d->nc + 1 + ag_process_inputs(d->m, inputs + d->nc + 1);
  (void)ag_process_rates(d->sys, -1, velocity, seeds + d->nc + 1);
  ag_forward(d->g, n, inputs, seeds, n_out, outs, rates);
  free(inputs);
  free(seeds);
}

/* Forces per coordinate, summed over the force statements. */
static void collect_forces(derive *d) {
  ag_graph *g = d->g;
  d->force = new_ids(d, d->nc);
  for (int i = 0; i < d->nc; i++) d->force[i] = ag_zero(g, d->m->coords[i].dim, 1);
  for (int k = 0; k < d->m->n_forces; k++) {
    const ag_assign *f = &d->m->forces[k];
    ag_id add = f->x;
    int dim = d->m->coords[f->coord].dim;
    if (f->row >= 0 && dim > 1) {
      ag_id *parts = new_ids(d, dim);
      for (int r = 0; r < dim; r++) parts[r] = r == f->row ? f->x : ag_num(g, 0);
      add = ag_stack(g, dim, 1, parts);
    }
    d->force[f->coord] = ag_add(g, d->force[f->coord], add);
  }
}

/* Replaces every quasi-velocity by its expression in u. */
void ag_in_u(derive *d, int n, ag_id *x) { ag_substitute(d->g, d->nc, d->xi, d->velocity, n, x); }

/* dq/dt in stored coordinates: a quaternion moves by 1/2 q (0, Omega). */
void ag_quaternion_rate(ag_graph *g, ag_id q, ag_id xi, ag_id *r) {
  ag_id s = ag_stored(g, q), half = ag_num(g, 0.5), c[4], w[3];
  for (int k = 0; k < 4; k++) c[k] = ag_entry(g, s, k, 0);
  for (int k = 0; k < 3; k++) w[k] = ag_mul(g, half, ag_entry(g, xi, k, 0));
  /* (w,x,y,z) * (0,a,b,c) */
  static const int index[4][3] = {{1, 2, 3}, {0, 3, 2}, {3, 0, 1}, {2, 1, 0}};
  static const int sign[4][3] = {{-1, -1, -1}, {1, -1, 1}, {1, 1, -1}, {-1, 1, 1}};
  for (int k = 0; k < 4; k++) {
    r[k] = ag_num(g, 0);
    for (int j = 0; j < 3; j++) {
      ag_id term = ag_mul(g, c[index[k][j]], w[j]);
      r[k] = sign[k][j] > 0 ? ag_add(g, r[k], term) : ag_sub(g, r[k], term);
    }
  }
}

ag_id ag_stored_rate(derive *d, int i, ag_id xi) {
  ag_id r[4];
  if (d->m->coords[i].space != AG_SPACE_SO3) return xi;
  ag_quaternion_rate(d->g, d->q[i], xi, r);
  return ag_stack(d->g, 4, 1, r);
}

/* The mass matrix, the derivative of the momentum in u: sparse where it is large. */
static void make_mass(derive *d) {
  ag_system *sys = d->sys;
  if (sys->n.u <= AG_SADDLE_MAX) {
    sys->mass = ag_second_mass(d);
    return;
  }
  ag_sparse J;
  ag_jacobian_sparse(d->g, sys->momentum, sys->n_u_input, sys->u_inputs, &J);
  ag_lower_triangle(sys, &J, &sys->M_at);
  ag_sparse_done(&J);
}

/* A dense mass matrix of many velocities by its entries, where it falls into small blocks; 0: it does not. Solved block
 * by block, a rate depends on its own block alone, and Jacobians stay sparse. */
enum { MANY = 16, SMALL = 8 };
static ag_id solve_blocks(derive *d, ag_id right) {
  int n = d->sys->n.u, n_entry = 0, *label = ag_heap_alloc(sizeof(int) * (size_t)(2 * n)), *count = label + n, most = 0;
  int *row = ag_heap_alloc(sizeof(int) * (size_t)(n * n)), *col = ag_heap_alloc(sizeof(int) * (size_t)(n * n));
  ag_id *x = ag_heap_alloc(sizeof *x * (size_t)(n * n));
  for (int i = 0; i < n * n; i++) {
    ag_id m = ag_entry(d->g, d->sys->mass, i / n, i % n);
    if (i % n <= i / n && !ag_is_zero(d->g, m)) row[n_entry] = i / n, col[n_entry] = i % n, x[n_entry++] = m;
  }
  const ag_pattern p = {n, n_entry, row, col, NULL};
  (void)ag_pattern_connect(d->g, &p, x, label);
  for (int i = 0; i < n; i++) most = most > ++count[label[i]] ? most : count[label[i]];
  ag_id rates = most <= SMALL ? ag_solve_sparse(d->g, &p, x, right) : 0;
  free(label), free(row), free(col), free(x);
  return rates;
}

ag_id ag_solve_mass(derive *d, ag_id right) {
  ag_system *sys = d->sys;
  ag_id rates = sys->mass && sys->n.u > MANY ? solve_blocks(d, right) : 0;
  if (rates) return rates;
  if (sys->mass) return ag_solve(d->g, sys->mass, right, AG_SOLVE_SPD);
  return ag_solve_sparse(d->g, &(ag_pattern){sys->n.u, sys->M_at.n, sys->M_at.row, sys->M_at.col, NULL}, sys->M_at.x,
                         right);
}

static void eliminated(derive *d, const ag_id *gradient) {
  ag_graph *g = d->g;
  ag_system *sys = d->sys;
  int nc = d->nc, n_in = sys->n_u_input;
  ag_id *p = new_ids(d, nc), *rate = new_ids(d, nc), *brace = new_ids(d, nc), *lq = new_ids(d, nc), *F = new_ids(d, nc);
  ag_id *part = new_ids(d, n_in), *outs = new_ids(d, nc + 1);
  memcpy(p, d->momentum, sizeof *p * (size_t)nc);
  memcpy(lq, gradient, sizeof *p * (size_t)nc);
  memcpy(F, d->force, sizeof *p * (size_t)nc);
  ag_in_u(d, nc, p);
  ag_in_u(d, nc, lq);
  ag_in_u(d, nc, F);
  ag_along_motion(d, d->velocity, nc, p, rate);
  for (int i = 0; i < nc; i++)
    brace[i] = ag_sub(g, ag_add(g, ag_add(g, ag_coadjoint(d, i, p[i], d->velocity[i]), lq[i]), F[i]), rate[i]);
  sys->xi_of_u = d->velocity;
  sys->p_of_u = p, sys->brace = brace;
  ag_id rates = 0;
  if (n_in) {
    ag_reverse(g, nc, d->velocity, brace, n_in, sys->u_inputs, part);
    sys->force = ag_concat(g, n_in, part);
    ag_reverse(g, nc, d->velocity, p, n_in, sys->u_inputs, part);
    sys->momentum = ag_concat(g, n_in, part);
    ag_cancel_coordinates(d);
    make_mass(d);
    ag_id force = sys->force;
    ag_join_crosses(g, false, 1, &force);
    rates = ag_solve_mass(d, force);
  }
  ag_noise_eliminated(d, p, brace);
  for (int i = 0; i < nc; i++) outs[i] = ag_stored_rate(d, i, d->velocity[i]);
  sys->rates = rates;
  d->delta_q = rates ? ag_project_step(d) : 0;
  if (sys->n_basis) ag_turn(d);
  ag_core(d, rates, outs);
}

ag_id ag_kept_rows(derive *d) {
  ag_id *x = new_ids(d, d->sys->n.lambda);
  int n = 0;
  for (int r = 0; r < d->sys->n.row; r++)
    if (d->sys->rows[r].kept) x[n++] = d->row_x[r];
  return n ? ag_concat(d->g, n, x) : 0;
}

/* ell per coordinate: the motion would be M xi' = -ell without constraints. */
static ag_id *inertia(derive *d, const ag_id *gradient) {
  ag_graph *g = d->g;
  ag_id *rate = new_ids(d, d->nc), *ell = new_ids(d, d->nc);
  ag_along_motion(d, d->xi, d->nc, d->momentum, rate);
  for (int i = 0; i < d->nc; i++)
    ell[i] = ag_sub(g, ag_sub(g, ag_sub(g, rate[i], ag_coadjoint(d, i, d->momentum[i], d->xi[i])), gradient[i]),
                    d->force[i]);
  return ell;
}

/* No velocity is eliminated: u is xi. */
static void by_saddle(derive *d, const ag_id *gradient) {
  ag_system *sys = d->sys;
  ag_id *outs = new_ids(d, d->nc);
  sys->xi_of_u = d->velocity;
  ag_id *ell = inertia(d, gradient);
  sys->rates = ag_saddle_motion(d, ell);
  ag_noise_saddle(d, ell);
  for (int i = 0; i < d->nc; i++) outs[i] = ag_stored_rate(d, i, d->velocity[i]);
  ag_core(d, sys->rates, outs);
}

static void saddle(derive *d, const ag_id *gradient) {
  ag_graph *g = d->g;
  ag_system *sys = d->sys;
  int nc = d->nc;
  ag_id *ell = inertia(d, gradient), rows = ag_kept_rows(d), outs[5];
  int n = 0;
  outs[n++] = ag_jacobian(g, ag_concat(g, nc, d->momentum), nc, d->xi);
  if (rows) outs[n++] = ag_jacobian(g, rows, nc, d->xi);
  outs[n++] = ag_concat(g, nc, ell);
  if (rows) {
    ag_along_motion(d, d->xi, 1, &rows, &outs[n++]);
    outs[n++] = rows;
  }
  ag_role_make(sys, AG_ROLE_SADDLE, n, outs);
}

/* The law of the energy, from s (0: no constraints), l_t and F.xi. A force without power, such as a magnetic one, is
 * recognised as an identity. */
static ag_energy_law law_of(derive *d, ag_id s, ag_id l_t, ag_id power) {
  const ag_model *m = d->m;
  ag_id outs[2] = {l_t, power}, *inputs = new_ids(d, 2 * d->nc + m->n_params + m->n_processes + 1);
  int n = 0;
  if (s && !ag_is_zero(d->g, s)) return AG_ENERGY_DRIVEN;
  for (int i = 0; i < d->nc; i++) inputs[n++] = d->q[i], inputs[n++] = d->xi[i];
  for (int i = 0; i < m->n_params; i++)
    if (m->params[i].input) inputs[n++] = m->params[i].input;
  inputs[n++] = m->t;
  n += ag_process_inputs(m, inputs + n);
  return ag_residue_vanish(d->g, n, inputs, 2, outs) ? AG_ENERGY_CONSERVED : AG_ENERGY_POWER;
}

/* The rows that were dropped: they are watched, and may act later. */
static void reserve(derive *d) {
  ag_graph *g = d->g;
  ag_system *sys = d->sys;
  ag_id *x = new_ids(d, sys->n.row), outs[3];
  int n = 0;
  for (int r = 0; r < sys->n.row; r++)
    if (!sys->rows[r].kept) x[n++] = d->row_x[r];
  if (!n) return;
  outs[2] = ag_concat(g, n, x);
  outs[0] = ag_jacobian(g, outs[2], d->nc, d->xi);
  ag_along_motion(d, d->xi, 1, &outs[2], &outs[1]);
  ag_role_make(sys, AG_ROLE_RESERVE, 3, outs);
}

/* l_t: the derivative along time and processes at fixed coordinates and velocities. */
static void lagrangian_rate(derive *d, ag_id *rate) {
  ag_id *inputs = new_ids(d, 1 + d->sys->n.process), *seeds = new_ids(d, 1 + d->sys->n.process);
  inputs[0] = d->m->t, seeds[0] = ag_num(d->g, 1);
  int n = 1 + ag_process_inputs(d->m, inputs + 1);
  (void)ag_process_rates(d->sys, -1, NULL, seeds + 1);
  ag_forward(d->g, n, inputs, seeds, 1, &d->m->lagrangian, rate);
}

/* Energy p.xi - l, its size |T| + |V| with V = -l at xi = 0 and T = E - V, l_t, F.xi, and s = S xi + s at xi = 0. */
static void balance(derive *d) {
  ag_graph *g = d->g;
  ag_system *sys = d->sys;
  ag_id energy = ag_energy(g, d->m->lagrangian, d->nc, d->xi), power = ag_num(g, 0), outs[5], rows = ag_kept_rows(d);
  ag_id *zeros = new_ids(d, d->nc);
  for (int i = 0; i < d->nc; i++) {
    power = ag_add(g, power, ag_dot(g, d->force[i], d->xi[i]));
    zeros[i] = ag_zero(g, d->m->coords[i].dim, 1);
  }
  ag_id potential = d->m->lagrangian; /* up to its sign */
  ag_substitute(g, d->nc, d->xi, zeros, 1, &potential);
  ag_id kinetic = ag_norm(g, ag_add(g, energy, potential)), other = ag_norm(g, potential);
  outs[0] = sys->energy = energy;
  outs[1] = sys->energy_size = ag_add(g, kinetic, other);
  lagrangian_rate(d, &outs[2]);
  outs[3] = power;
  outs[4] = rows;
  if (rows) ag_substitute(g, d->nc, d->xi, zeros, 1, &outs[4]);
  ag_role_make(sys, AG_ROLE_BALANCE, rows ? 5 : 4, outs);
  sys->power = ag_sub(g, power, outs[2]);
  sys->energy_law = law_of(d, rows ? outs[4] : 0, outs[2], power);
}

/* Components of u that can be read off the full state: independent velocities, or those of a `frame`. */
static void read_u(derive *d) {
  ag_graph *g = d->g;
  ag_system *sys = d->sys;
  ag_id *outs = new_ids(d, sys->n.u);
  int n = 0, n_last = 0;
  for (int i = 0; i < sys->n_basis; i++) n_last += sys->bases[i].N != 0;
  for (int i = 0; i < sys->n_u_input; i++) {
    if (sys->elimination == AG_ELIM_FRAME) {
      outs[n++] = d->m->frames[i].x;
      continue;
    }
    if (i >= sys->n_u_input - n_last) break; /* the coordinates in bases come last */
    int found = 0;
    if (sys->elimination == AG_ELIM_NONE || sys->elimination == AG_ELIM_SADDLE) { /* u is xi */
      outs[n++] = d->xi[i];
      continue;
    }
    for (int c = 0; c < d->nc && !found; c++) {
      if (d->xi[c] == sys->u_inputs[i]) outs[n++] = d->xi[c], found = 1;
      /* a component split off: its input is entry k of the velocity expression */
      for (int k = 0; k < d->m->coords[c].dim && !found; k++)
        if (ag_entry(g, d->velocity[c], k, 0) == sys->u_inputs[i]) outs[n++] = ag_entry(g, d->xi[c], k, 0), found = 1;
    }
    AG_ASSERT(found);
  }
  if (n) ag_role_make(sys, AG_ROLE_U, n, outs);
  for (int i = 0, at = 0; i < sys->n_basis; at += sys->bases[i].n_s * sys->bases[i].n_y, i++) sys->bases[i].S = at;
  if (sys->n_basis) ag_role_make(sys, AG_ROLE_BASIS, sys->n_basis, d->S_y);
}

/* Rates of xi(q, u, t) when coordinates, t and u move with these velocities, and processes with their drift or, in a
 * channel, their noise; as a tape on [q | u] with c. */
static ag_tape *velocity_rates(ag_system *sys, const ag_id *moved, int channel, ag_id du) {
  ag_model *m = sys->model;
  ag_graph *g = m->graph;
  int nc = m->n_coords, n_in = sys->n_u_input, n = nc + 1 + n_in + sys->n.process, at = 0;
  ag_bind *binds = ag_heap_alloc(sizeof *binds * (size_t)(ag_bind_capacity(sys) + n_in));
  int n_bind = ag_bind_base(sys, binds);
  ag_id *inputs = ag_heap_alloc(sizeof *inputs * (size_t)n), *seeds = ag_heap_alloc(sizeof *seeds * (size_t)n);
  ag_id *rates = ag_heap_alloc(sizeof *rates * (size_t)(nc + 1));
  for (int i = 0; i < nc; i++) inputs[i] = m->coords[i].q, seeds[i] = moved[i];
  inputs[nc] = m->t;
  seeds[nc] = ag_num(g, channel < 0);
  (void)ag_process_inputs(m, inputs + nc + 1 + n_in);
  (void)ag_process_rates(sys, channel, sys->xi_of_u, seeds + nc + 1 + n_in);
  for (int i = 0; i < n_in; i++) {
    int dim = ag_node_rows(g, sys->u_inputs[i]);
    inputs[nc + 1 + i] = sys->u_inputs[i];
    seeds[nc + 1 + i] = ag_rows_of(g, du, at, dim);
    binds[n_bind++] = (ag_bind){sys->u_inputs[i], AG_SEG_Z, sys->n.q + at};
    at += dim;
  }
  ag_forward(g, n, inputs, seeds, nc, sys->xi_of_u, rates);
  n_bind += ag_bind_bases(sys, binds + n_bind);
  ag_tape *tape = ag_tape_create(g, n_bind, binds, nc, rates);
  free(binds);
  free(inputs);
  free(seeds);
  free(rates);
  return tape;
}

ag_tape *ag_system_accel(ag_system *sys) { return velocity_rates(sys, sys->xi_of_u, -1, sys->rates); }

ag_tape *ag_system_noise_accel(ag_system *sys, int channel) {
  ag_id du = sys->noise_rates ? sys->noise_rates[channel] : 0;
  return velocity_rates(sys, sys->sigma + channel * sys->model->n_coords, channel, du);
}

ag_status ag_motion(derive *d) {
  ag_graph *g = d->g;
  ag_system *sys = d->sys;
  int nc = d->nc;
  ag_id one = ag_num(g, 1), *gradient = new_ids(d, nc), *outs = new_ids(d, nc);
  d->momentum = new_ids(d, nc);
  ag_reverse(g, 1, &d->m->lagrangian, &one, nc, d->xi, d->momentum);
  ag_reverse(g, 1, &d->m->lagrangian, &one, nc, d->q, gradient);
  collect_forces(d);
  ag_process_collect(d);
  AG_TRY(ag_noise_terms(d));
  sys->force_x = d->force;
  sys->kept_rows = ag_kept_rows(d);
  sys->kept_g = new_ids(d, sys->n.g);
  for (int r = sys->n.row - sys->n.g, n = 0, i = 0; r < sys->n.row; r++, i++)
    if (sys->rows[r].kept) sys->kept_g[n++] = d->g_x[i];
  if (d->options->start_only) {
    saddle(d, gradient);
    return AG_OK;
  }
  if (sys->elimination == AG_ELIM_SADDLE) by_saddle(d, gradient);
  else eliminated(d, gradient);
  /* a large system without constraints does not need a dense saddle-point matrix */
  if (sys->elimination != AG_ELIM_SADDLE && (sys->n.row || sys->n.xi <= AG_SADDLE_MAX)) {
    saddle(d, gradient);
    ag_noise_fields(d);
  }
  if (sys->elimination != AG_ELIM_SADDLE) reserve(d);
  balance(d);
  read_u(d);
  for (int i = 0; i < nc; i++) outs[i] = ag_stored_rate(d, i, d->xi[i]);
  ag_role_make(sys, AG_ROLE_KINEMATICS, nc, outs);
  return AG_OK;
}
