/* SPDX-License-Identifier: MIT
 * The power on the reduced state and its rate, without multipliers. dE/dt = F.xi - l_t - s.lambda, and with xi0 = xi at
 * u = 0, which satisfies S xi0 + s = 0,
 *   -s.lambda = xi0.(S^T lambda),   S^T lambda = p' - ad*_xi p - dbar l - F = (dp/du) u' - brace   (motion.c).
 * Whoever asks for it knows u', so that nothing has to be solved for. */
#include <stdlib.h>
#include <string.h>

#include "mech/choices.h"

void ag_reactions(ag_system *sys, ag_id rates, ag_id *out) {
  ag_graph *g = sys->model->graph;
  int nc = sys->model->n_coords, n = sys->n_u_input, at = 0;
  ag_id *seeds = ag_heap_alloc(sizeof *seeds * (size_t)(n + 1));
  for (int i = 0; i < n; i++) {
    int dim = ag_node_rows(g, sys->u_inputs[i]);
    seeds[i] = ag_rows_of(g, rates, at, dim);
    at += dim;
  }
  ag_forward(g, n, sys->u_inputs, seeds, nc, sys->p_of_u, out);
  for (int i = 0; i < nc; i++) out[i] = ag_sub(g, out[i], sys->brace[i]);
  free(seeds);
}

/* xi0 . reaction */
static ag_id driving(ag_system *sys) {
  ag_graph *g = sys->model->graph;
  int nc = sys->model->n_coords, n = sys->n_u_input;
  ag_id *zeros = ag_heap_alloc(sizeof *zeros * (size_t)(n + 1));
  ag_id *xi0 = ag_heap_alloc(sizeof *xi0 * (size_t)(nc + 1)), *force = ag_heap_alloc(sizeof *force * (size_t)(nc + 1));
  ag_id sum = ag_num(g, 0);
  for (int i = 0; i < n; i++) zeros[i] = ag_zero(g, ag_node_rows(g, sys->u_inputs[i]), 1);
  memcpy(xi0, sys->xi_of_u, sizeof *xi0 * (size_t)nc);
  if (n) ag_substitute(g, n, sys->u_inputs, zeros, nc, xi0);
  sys->rate_input = ag_input(g, "rate", sys->n.u, 1, AG_LEAF_REAL);
  ag_reactions(sys, sys->rate_input, force);
  for (int i = 0; i < nc; i++) sum = ag_add(g, sum, ag_dot(g, xi0[i], force[i]));
  free(zeros), free(xi0), free(force);
  return sum;
}

const ag_tape *ag_system_power(ag_system *sys) {
  bool rest;
  ag_tape **tape = &sys->tapes[AG_ROLE_POWER];
  if (*tape || sys->energy_law == AG_ENERGY_CONSERVED || sys->energy_law == AG_ENERGY_NOISE || !sys->p_of_u ||
      !sys->n_u_input)
    return *tape;
  ag_id power = sys->power;
  if (sys->energy_law == AG_ENERGY_DRIVEN) power = ag_add(sys->model->graph, power, driving(sys));
  *tape = sys->n.switches ? ag_branch_tape(sys, 1, &power) : ag_system_reduced_tape(sys, 1, &power, &rest);
  sys->outputs[AG_OUT_POWER_P] = (ag_span){0, 1};
  return *tape;
}
