/* SPDX-License-Identifier: MIT
 * The energy: the powers that change it, and how they depend on the potential. */
#include "base/arena.h"
#include "study/conserve_internal.h"

/* Is it 0: by its form, or as an identity? */
static bool vanishes(ag_conserving *v, ag_id x) {
  return !x || ag_is_zero(v->x->g, x) || ag_probe_vanish(&v->probe, 1, &x, false, NULL) == AG_TRUTH_YES;
}

bool ag_conserve_homogeneous(ag_conserving *v) { return !v->x->n_row || vanishes(v, v->x->s); }

/* -s.lambda, which is R.xi on the constraints. */
static bool has_reaction_power(ag_conserving *v) {
  const ag_geom *x = v->x;
  if (ag_conserve_homogeneous(v)) return false;
  ag_id react = ag_concat(x->g, x->n_coord, x->react), xi = ag_concat(x->g, x->n_coord, x->xi);
  return !vanishes(v, ag_dot(x->g, react, xi));
}

static void explain_energy(ag_conserving *v, ag_quantity *q) {
  const ag_conservation *c = v->c;
  bool linear = ag_conserve_homogeneous(v);
  const char *moving[] = {c->power_time ? "the Lagrangian depends on time" : NULL,
                          c->power_force ? "forces do work" : NULL,
                          c->power_constraints ? "the reaction does work: the constraints are affine" : NULL};
  ag_text why = {0};
  for (int i = 0; i < 3; i++)
    if (moving[i]) ag_text_printf(&why, "%s%s", why.n ? "; " : "", moving[i]);
  if (q->verdict == AG_CONSERVED_YES && why.n) ag_text_str(&why, "; these powers cancel");
  if (!why.n)
    ag_text_str(&why, linear ? "no explicit time, no power of forces, constraints linear in the velocities"
                             : "the constraints are affine, but the reaction does no work");
  q->reason = ag_arena_str(c->arena, ag_text_cstr(&why));
  ag_text_done(&why);
}

/* R.xi with R = M xi' + ell, the accelerations solved for; NULL: it is long. */
static const char *print_power(ag_conserving *v) {
  const ag_geom *x = v->x;
  ag_graph *g = x->g;
  if (!v->acceleration) return NULL;
  ag_id R = ag_add(g, ag_mul(g, x->M, v->acceleration), x->ell);
  ag_id power = ag_dot(g, R, ag_concat(g, x->n_coord, x->xi));
  return ag_conserve_print_short(v, power);
}

/* The power of the constraints is rest(u) + eta.dV, eta = -M^-1 S^T (S M^-1 S^T)^-1 s: it shows for which V the energy
 * is conserved. */
static void find_eta(ag_conserving *v) {
  const ag_geom *x = v->x;
  ag_graph *g = x->g;
  if (v->probe.rank < 0) return;
  ag_id eta = ag_geom_drift(x, v->probe.rank, v->probe.row), V = ag_neg(g, ag_geom_at_rest(x, x->lagrangian));
  ag_id *slope = AG_NEWN(x->arena, ag_id, x->n_coord + 1), one = ag_num(g, 1);
  ag_reverse(g, 1, &V, &one, x->n_coord, x->q, slope);
  ag_id react = ag_concat(g, x->n_coord, x->react), xi = ag_concat(g, x->n_coord, x->xi);
  ag_id power = ag_dot(g, react, xi), by_V = ag_dot(g, eta, ag_concat(g, x->n_coord, slope));
  v->c->rest_power = !vanishes(v, ag_sub(g, power, by_V));
  v->c->eta = AG_NEWN(v->c->arena, const char *, x->n + 1);
  eta = ag_conserve_plain_field(v, eta);
  for (int k = 0; k < x->n; k++) v->c->eta[k] = ag_conserve_print(v, ag_entry(g, eta, k, 0));
  v->c->constraint_formula = print_power(v);
}

/* dE/dt = -l_t + F.xi - s.lambda: where all three vanish, that is the proof. */
void ag_conserve_energy(ag_conserving *v) {
  const ag_geom *x = v->x;
  ag_conservation *c = v->c;
  ag_id time = ag_geom_time_power(x), force = ag_geom_force_power(x);
  c->power_time = !vanishes(v, time);
  c->power_force = !vanishes(v, force);
  c->power_constraints = has_reaction_power(v);
  c->time_formula = c->power_time ? ag_conserve_print(v, time) : NULL;
  c->force_formula = c->power_force ? ag_conserve_print(v, force) : NULL;
  bool none = !c->power_time && !c->power_force && !c->power_constraints;
  ag_quantity *q = ag_conserve_append(v, "energy", "energy", x->energy);
  if (none) q->verdict = AG_CONSERVED_YES, q->proof = AG_PROOF_IDENTITY, q->bound = 0x1p-84;
  else ag_conserve_decide(v, q);
  if (q->verdict == AG_CONSERVED_NO) q->rate_formula = ag_conserve_print_rate(v, x->energy);
  explain_energy(v, q);
  if (!ag_conserve_homogeneous(v)) find_eta(v);
}
