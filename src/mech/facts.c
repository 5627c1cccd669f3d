/* SPDX-License-Identifier: MIT
 * Queries about a system. */
#include <string.h>

#include "mech/mech_internal.h"

const ag_dims *ag_system_dims(const ag_system *sys) { return &sys->n; }

const ag_model *ag_system_model(const ag_system *sys) { return sys->model; }
ag_model *ag_system_open_model(ag_system *sys) { return sys->model; }

ag_graph *ag_system_graph(ag_system *sys) { return sys->model->graph; }

ag_elimination ag_system_elimination(const ag_system *sys) { return sys->elimination; }
bool ag_system_observes_forces(const ag_system *sys) { return sys->n.observe && ag_role_lambda(sys, AG_ROLE_OBSERVE); }

const ag_growth *ag_system_growth(const ag_system *sys) { return &sys->growth; }

const ag_row *ag_system_rows(const ag_system *sys) { return sys->rows; }

const char *const *ag_system_u_names(const ag_system *sys) { return sys->u_names; }

const double *ag_system_param_values(const ag_system *sys) { return sys->params; }

double ag_system_t0(const ag_system *sys) { return sys->t0; }

void ag_system_state0(const ag_system *sys, double *x) {
  memcpy(x, sys->q0, sizeof *x * (size_t)sys->n.q);
  memcpy(x + sys->n.q, sys->xi0, sizeof *x * (size_t)sys->n.xi);
}

const double *ag_system_q0(const ag_system *sys) { return sys->q0; }

const double *ag_system_xi0(const ag_system *sys) { return sys->xi0; }

const int *ag_system_ranges(const ag_system *sys, int *n) {
  *n = sys->n_range;
  return sys->ranges;
}

ag_id ag_system_energy(const ag_system *sys) { return sys->energy; }

ag_id ag_system_energy_size(const ag_system *sys) { return sys->energy_size; }

ag_energy_law ag_system_energy_law(const ag_system *sys) { return sys->energy_law; }

const char *ag_energy_word(ag_energy_law law) {
  return law == AG_ENERGY_CONSERVED ? "conserved" : law == AG_ENERGY_NOISE ? "noise" : "work";
}

int ag_system_units(const ag_system *sys, int n_z, ag_span *units) {
  const ag_model *m = sys->model;
  int n = 0;
  for (int i = 0; i < m->n_coords + sys->n_image; i++) {
    const ag_image *image = i < m->n_coords ? NULL : &sys->images[i - m->n_coords];
    if (!image && m->coords[i].space != AG_SPACE_SO3) continue;
    ag_span unit = image ? (ag_span){image->z, 3} : (ag_span){sys->q_in_z[sys->coords[i].at], 4};
    if (unit.at >= n_z) continue;
    if (units) units[n] = unit;
    n++;
  }
  return n;
}

bool ag_system_image(const ag_system *sys, int i, int *at, int *rotation) {
  if (i >= sys->n_image) return false;
  *at = sys->images[i].z;
  *rotation = sys->q_in_z[sys->coords[sys->images[i].coord].at];
  return true;
}

bool ag_system_reads_rest(const ag_system *sys, int role) {
  const ag_tape *tape = sys->tapes[role];
  for (int i = 0; tape && i < tape->n_instr; i++) {
    const ag_instr *in = &tape->instr[i];
    bool coordinate = in->op == AG_OP_LOAD && in->a == AG_SEG_Z && (int)in->b < sys->n.q;
    if (coordinate && sys->q_in_z[in->b] >= sys->n.core) return true;
  }
  return false;
}
