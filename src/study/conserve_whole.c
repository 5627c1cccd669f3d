/* SPDX-License-Identifier: MIT
 * Do the integrals integrate the system? The symmetries that keep the constraints are divided out first: d = dimension
 * of the phase space minus that of their orbits. d - 1 independent integrals invariant under them give the
 * motion by quadratures; d - 2 suffice with an invariant measure that is also invariant under them (Euler and
 * Jacobi). */
#include <string.h>

#include "study/conserve_internal.h"

static bool holds(ag_conserving *v, ag_id x) { return ag_probe_vanish(&v->probe, 1, &x, false, NULL) == AG_TRUTH_YES; }

bool ag_conserve_autonomous(ag_conserving *v) {
  const ag_geom *x = v->x;
  ag_id one = ag_num(x->g, 1), in[5] = {x->M, x->ell, x->S, x->s, x->kappa}, rates[5];
  int n = x->n_row ? 5 : 2;
  ag_forward(x->g, 1, &x->t, &one, n, in, rates);
  return ag_probe_vanish(&v->probe, n, rates, false, NULL) == AG_TRUTH_YES;
}

static int keepers(const ag_conservation *c, ag_id *Z) {
  int n = 0;
  for (int i = 0; i < c->n_symmetry; i++)
    if (c->symmetries[i].keeps) Z[n++] = c->symmetries[i].Z;
  return n;
}

static bool kept_by(ag_conserving *v, int n, const ag_id *Z, ag_id x) {
  for (int i = 0; i < n; i++)
    if (!holds(v, ag_geom_lifted(v->x, ag_conserve_split(v->x, Z[i]), x))) return false;
  return true;
}

/* Z and its lift, below each other. */
static ag_id lifted(const ag_geom *x, ag_id Z) {
  ag_id all = ag_concat(x->g, x->n_coord, x->xi), part[2] = {Z, ag_geom_lifted(x, ag_conserve_split(x, Z), all)};
  return ag_concat(x->g, 2, part);
}

void ag_conserve_whole(ag_conserving *v) {
  ag_conservation *c = v->c;
  ag_id Z[AG_MAX_SYMMETRY], lifts[AG_MAX_SYMMETRY];
  c->n_phase = c->n_orbit = c->n_symmetric = -1;
  bool plain = !ag_model_n_forces(v->m) && !ag_model_n_processes(v->m); /* no states but q and xi */
  if (c->rank_R < 0 || c->n_symmetry < 0 || !plain || !ag_conserve_autonomous(v)) return;
  int n = keepers(c, Z);
  for (int i = 0; i < n; i++) lifts[i] = lifted(v->x, Z[i]);
  for (int i = 0; i < c->n; i++) {
    ag_quantity *q = &c->at[i];
    bool wanted = q->verdict == AG_CONSERVED_YES && q->proof == AG_PROOF_IDENTITY && strcmp(q->kind, "relation");
    q->symmetric = wanted && kept_by(v, n, Z, q->x);
  }
  c->shape.symmetric = c->shape.n && kept_by(v, n, Z, c->shape.r);
  for (int i = 0; i < c->shape.n && c->shape.symmetric; i++) c->shape.symmetric = kept_by(v, n, Z, c->shape.w[i]);
  c->n_phase = c->dimension + c->rank_D;
  c->n_orbit = ag_conserve_generic_rank(v, n, lifts);
  c->n_symmetric = ag_conserve_independent(v, AG_SYMMETRIC, 0);
  if (c->n_symmetric < 0) c->n_symmetric = 0;
  int rest = c->n_phase - c->n_orbit - c->n_symmetric;
  bool measure = c->measure.verdict == AG_CONSERVED_YES && c->measure.f_exp && kept_by(v, n, Z, c->measure.f_exp);
  c->integrable = c->n_orbit >= 0 && (rest <= 1 || (rest == 2 && measure));
  c->by_measure = c->integrable && rest == 2;
}
