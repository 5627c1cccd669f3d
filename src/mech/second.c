/* SPDX-License-Identifier: MIT
 * The mass matrix by second derivatives. The Jacobian of the momentum takes a sweep forward and one backward for every
 * column. With L written in u, M_ij = d2 L/du_i du_j, forward twice: for m |v|^2/2 that is m v_i . v_j with the columns
 * v_i = dv/du_i, which all entries share. It is taken where the rates have fewer operations with it. */
#include <stdlib.h>
#include <string.h>

#include "mech/mech_internal.h"

enum { MOST = 8, MARGIN = 32 }; /* velocities; a gain of less than 1/MARGIN does not count */

/* ---- the matrix ---- */

/* The direction of velocity i, per input of u. */
static void seed_velocity(derive *d, int i, ag_id *seeds) {
  ag_id unit[MOST];
  for (int k = 0, at = 0, dim; k < d->sys->n_u_input; k++, at += dim) {
    dim = ag_node_rows(d->g, d->sys->u_inputs[k]);
    for (int r = 0; r < dim; r++) unit[r] = ag_num(d->g, at + r == i);
    seeds[k] = ag_stack(d->g, dim, 1, unit);
  }
}

static ag_id second_derivatives(derive *d, ag_id L) {
  const ag_system *sys = d->sys;
  ag_id first[MOST], entries[MOST * MOST], *seeds = ag_heap_alloc(sizeof *seeds * (size_t)sys->n_u_input);
  int n = sys->n.u;
  for (int i = 0; i < n; i++) {
    seed_velocity(d, i, seeds);
    ag_forward(d->g, sys->n_u_input, sys->u_inputs, seeds, 1, &L, &first[i]);
    for (int j = 0; j <= i; j++) {
      ag_forward(d->g, sys->n_u_input, sys->u_inputs, seeds, 1, &first[j], &entries[i * n + j]);
      entries[j * n + i] = entries[i * n + j];
    }
  }
  free(seeds);
  return ag_stack(d->g, n, n, entries);
}

/* L in u. Coordinates that have dropped out of momentum and force (cancel.c) drop out of M as well: they are 0. */
static ag_id in_u(derive *d, const bool *gone) {
  ag_id L = d->m->lagrangian, zero = ag_num(d->g, 0);
  ag_in_u(d, 1, &L);
  for (int i = 0; i < d->nc; i++)
    if (gone[i] && ag_is_scalar(d->g, d->q[i])) ag_substitute(d->g, 1, &d->q[i], &zero, 1, &L);
  return L;
}

/* Does the matrix depend on one of these coordinates? */
static bool reads(const derive *d, ag_id mass, const bool *these) {
  for (int i = 0; i < d->nc; i++)
    if (these[i] && ag_depends(d->g, 1, &mass, 1, &d->q[i])) return true;
  return false;
}

/* ---- what it costs ---- */

static bool is_param(const ag_model *m, ag_id x) {
  for (int i = 0; i < m->n_params; i++)
    if (m->params[i].input == x) return true;
  return false;
}

/* Operations of the velocities and their rates with this mass matrix. */
static int cost(derive *d, ag_id mass) {
  ag_graph *g = d->g;
  ag_id *outs = ag_heap_alloc(sizeof *outs * (size_t)(d->nc + 1)), top = 0;
  memcpy(outs, d->velocity, sizeof *outs * (size_t)d->nc);
  outs[d->nc] = ag_solve(g, mass, d->sys->force, AG_SOLVE_SPD);
  for (int i = 0; i <= d->nc; i++) top = outs[i] > top ? outs[i] : top;
  ag_bind *binds = ag_heap_alloc(sizeof *binds * ((size_t)top + 1));
  int n = 0, size = 0;
  for (ag_id x = 1; x <= top; x++) {
    if (ag_node_op(g, x) != AG_OP_INPUT) continue;
    binds[n++] = (ag_bind){x, is_param(d->m, x) ? AG_SEG_P : AG_SEG_Z, size};
    size += ag_input_storage(g, x);
  }
  int operations = ag_tape_cost_of(g, n, binds, d->nc + 1, outs);
  free(binds), free(outs);
  return operations;
}

/* Rotations may leave the equations through images (core.c): what is left is not known here. */
static bool applies(const derive *d) {
  for (int i = 0; i < d->nc; i++)
    if (d->m->coords[i].space == AG_SPACE_SO3) return false;
  return d->sys->n.u >= 2 && d->sys->n.u <= MOST && !d->options->symbolic;
}

ag_id ag_second_mass(derive *d) {
  ag_id by_momentum = ag_jacobian(d->g, d->sys->momentum, d->sys->n_u_input, d->sys->u_inputs);
  if (!applies(d)) return by_momentum;
  ag_id outs[2] = {d->sys->momentum, d->sys->force};
  bool *gone = ag_heap_alloc((size_t)d->nc + 1);
  for (int i = 0; i < d->nc; i++) gone[i] = !ag_depends(d->g, 2, outs, 1, &d->q[i]);
  ag_id mass = second_derivatives(d, in_u(d, gone));
  bool other = reads(d, mass, gone);
  free(gone);
  if (other) return by_momentum;
  int before = cost(d, by_momentum);
  return before - cost(d, mass) > before / MARGIN ? mass : by_momentum;
}
