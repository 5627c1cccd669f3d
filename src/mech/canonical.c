/* SPDX-License-Identifier: MIT
 * Is Gibbs' law exp(-E/kT) kept by the motion without friction, and by steps of it that are accepted or rejected by
 * Metropolis' test? The test needs a step that preserves volume and retraces itself when all velocities are reversed;
 * then min(1, exp(-dE/kT)) makes it keep the law exactly (docs/theory/6-noise.md). All conditions here are
 * identities in coordinates, velocities and parameters.
 *
 * Volume: a leapfrog step is made of shears and of free turns about the axes of the body. The midpoint rule keeps it
 * where the Jacobian is [0 B; C 0]: det(1 + h J/2) is then even in h. RATTLE keeps dq dp of any Lagrangian, with
 * positions constrained, too. */
#include "expr/residue.h"
#include "mech/mech_internal.h"

static ag_id *new_ids(const ag_system *sys, int n) { return AG_NEWN(sys->arena, ag_id, n + 1); }

/* Do all expressions in q, images, u and parameters vanish? */
static bool vanish(ag_system *sys, int n, const ag_id *x) {
  const ag_model *m = sys->model;
  ag_id *all = new_ids(sys, 2 * m->n_coords + sys->n_image + sys->n_u_input + m->n_params + 2 * sys->n_basis + 1);
  int k = 0;
  for (int c = 0; c < m->n_coords; c++) all[k++] = m->coords[c].q, all[k++] = m->coords[c].xi;
  for (int i = 0; i < sys->n_image; i++) all[k++] = sys->images[i].input;
  for (int i = 0; i < sys->n_u_input; i++)
    if (!ag_depends(m->graph, k, all, 1, &sys->u_inputs[i])) all[k++] = sys->u_inputs[i];
  for (int i = 0; i < m->n_params; i++)
    if (m->params[i].input) all[k++] = m->params[i].input;
  k += ag_basis_inputs(sys, all + k);
  return ag_residue_vanish(m->graph, k, all, n, x);
}

/* Is it nonzero when all velocities u are 0? */
static bool at_rest(ag_system *sys, int n, const ag_id *x) {
  ag_graph *g = sys->model->graph;
  ag_id *zero = new_ids(sys, sys->n_u_input), *rest = new_ids(sys, n);
  for (int i = 0; i < sys->n_u_input; i++) zero[i] = ag_zero(g, ag_node_rows(g, sys->u_inputs[i]), 1);
  for (int i = 0; i < n; i++) rest[i] = x[i];
  ag_substitute(g, sys->n_u_input, sys->u_inputs, zero, n, rest);
  return !vanish(sys, n, rest);
}

/* The energy in (q, u). */
static ag_id energy(ag_system *sys) {
  ag_id *xi = new_ids(sys, sys->model->n_coords), E = sys->energy;
  for (int c = 0; c < sys->model->n_coords; c++) xi[c] = sys->model->coords[c].xi;
  ag_substitute(sys->model->graph, sys->model->n_coords, xi, sys->xi_of_u, 1, &E);
  return E;
}

/* Forces besides friction at a temperature. */
static bool has_forces(ag_system *sys) {
  ag_shaken of = ag_shaken_of(sys, false);
  ag_shaken_quiet(sys, &of);
  return !vanish(sys, sys->model->n_coords, of.force);
}

/* Why the motion does not preserve the law, or is not reversible. */
static const char *obstacle(ag_system *sys) {
  const ag_model *m = sys->model;
  int nc = m->n_coords;
  ag_id *all = new_ids(sys, 2 * nc + 1);
  for (int c = 0; c < nc; c++) all[c] = sys->xi_of_u[c], all[nc + c] = sys->force_x[c];
  all[2 * nc] = sys->energy;
  if (ag_depends(m->graph, 2 * nc + 1, all, 1, &m->t)) return "the equations depend on time: there is no Gibbs law";
  if (at_rest(sys, nc, sys->xi_of_u))
    return "reversed velocities do not satisfy the constraints, which are not linear in them";
  if (has_forces(sys)) return "Gibbs' law exp(-E/kT) does not account for forces besides friction";
  if (at_rest(sys, nc, sys->p_of_u))
    return "the Lagrangian has a part linear in the velocities: the motion is not reversible";
  return NULL;
}

/* Why a step does not preserve volume. */
static const char *volume(ag_system *sys, ag_canonical kind) {
  bool turning = false;
  for (int c = 0; c < sys->model->n_coords; c++) turning = turning || sys->model->coords[c].space == AG_SPACE_SO3;
  if (kind == AG_CANONICAL_MIDPOINT && (turning || !ag_system_splits(sys)))
    return "the midpoint rule preserves volume only without rotations and with a constant mass matrix";
  for (int i = 0; i < sys->n.row && kind == AG_CANONICAL_RATTLE; i++)
    if (sys->rows[i].kind != AG_ROW_HOLONOMIC)
      return "RATTLE preserves volume only where nothing but positions is constrained";
  return NULL;
}

const char *ag_system_canonical_lacks(const ag_system *sys, ag_canonical kind) { return sys->canonical_lacks[kind]; }

const char *ag_system_canonical(ag_system *sys, ag_canonical kind) {
  const char **lacks = &sys->canonical_lacks[kind];
  if (!ag_system_field(sys, AG_FIELD_OF_BATH)) return *lacks = "its noise does not come from friction at a temperature";
  *lacks = obstacle(sys);
  if (!*lacks) *lacks = volume(sys, kind);
  if (*lacks || sys->tapes[AG_ROLE_CANONICAL]) return *lacks;
  ag_id kT = sys->model->baths[0].kT, outs[2] = {ag_div(sys->model->graph, energy(sys), kT), kT};
  ag_split_leaves(sys, 2, outs);
  ag_role_make(sys, AG_ROLE_CANONICAL, 2, outs);
  return NULL;
}
