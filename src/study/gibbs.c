/* SPDX-License-Identifier: MIT
 * Which law friction and temperature keep. At fixed q the velocities obey M du = -C u dt + sqrt(2 kT) G dW with
 * C = G G^T (projected alike), which keeps exp(-u.M u/2kT) du: friction and its noise keep rho(q) exp(-E/kT) for every
 * rho and every C. The rest of the motion keeps it if and only if, E being constant along it, it keeps the measure rho
 * dq dxi. So the question is that of an invariant measure (measure.c), asked of the motion without friction.
 *
 * With K = [M -S^T; S 0] and rho the density of dq dxi delta(S xi):
 *   phase volume   rho = 1, or rho = det K, which for positions alone constrained is the volume dq dp
 *   positions      the velocities integrated out: rho/sqrt(det K) exp(-V/kT) */
#include "study/gibbs.h"

#include <string.h>

#include "base/arena.h"
#include "study/conserve_internal.h"

const char *ag_gibbs_word(ag_gibbs_kind kind) {
  static const char *const words[] = {NULL, "volume", "density", "neither", "undecided"};
  return words[kind];
}

static void undecided(ag_gibbs *out, const char *reason) { out->kind = AG_GIBBS_UNDECIDED, out->reason = reason; }

/* Noise or forces that the temperature does not account for; NULL: none. */
static const char *obstacle(const ag_model *m) {
  if (ag_model_n_processes(m)) return "the model has processes";
  if (ag_model_n_channels(m) > ag_model_n_baths(m))
    return "there is noise that does not come from friction: fluctuation and dissipation need not balance";
  return NULL;
}

/* Why the energy changes along the motion without friction; NULL: it does not. */
static const char *energy_changes(ag_conserving *v) {
  const int before = v->c->n;
  ag_conserve_energy(v);
  if (v->c->at[before].verdict == AG_CONSERVED_YES) return NULL;
  return v->c->power_force         ? "forces other than friction do work: fluctuation and dissipation need not balance"
         : v->c->power_time        ? "the equations depend on time"
         : v->c->power_constraints ? "constraints do work"
                                   : "it was not decided whether the energy is constant without friction";
}

/* The rate of a(q)/b(q) along the motion, times b^2. */
static ag_id rate_of_ratio(ag_conserving *v, ag_id a, ag_id b) {
  ag_graph *g = v->x->g;
  ag_id da, db, unused;
  ag_geom_rate(v->x, a, &da, &unused);
  ag_geom_rate(v->x, b, &db, &unused);
  ag_id left = ag_mul(g, da, b), right = ag_mul(g, a, db);
  return ag_sub(g, left, right);
}

/* Is the ratio constant along all motions, by identity? */
static bool is_constant(ag_conserving *v, ag_id a, ag_id b) {
  ag_id rate = rate_of_ratio(v, a, b);
  return ag_probe_vanish(&v->probe, 1, &rate, false, NULL) == AG_TRUTH_YES;
}

/* Does it change, by witness? */
static bool changes(ag_conserving *v, ag_id a, ag_id b) {
  ag_id rate = rate_of_ratio(v, a, b);
  return ag_conserve_nonzero(v, 1, &rate);
}

/* The law of a measure that was found: its kind, and that of the positions. */
static void describe(ag_gibbs *out, ag_arena *arena, ag_conserving *v, const ag_measure *m) {
  ag_graph *g = v->x->g;
  const ag_probe *p = &v->probe;
  ag_id K = ag_det(g, ag_geom_saddle(v->x, p->rank, p->row));
  const bool plain = m->f_exp && is_constant(v, m->f_exp, ag_num(g, 1)),
             liouville = m->f_exp && is_constant(v, m->f_exp, K);
  out->kind = plain || liouville ? AG_GIBBS_VOLUME : AG_GIBBS_DENSITY;
  out->freedom = v->x->n - p->rank;
  out->variables = ag_arena_str(arena, liouville && !plain ? "dq dp" : m->variables);
  const char *density = out->kind == AG_GIBBS_VOLUME ? "1" : m->density;
  out->density = density ? ag_arena_str(arena, density) : NULL;
  out->law = out->kind == AG_GIBBS_VOLUME ? ag_arena_printf(arena, "exp(-E/kT) %s", out->variables)
                                          : ag_arena_printf(arena, "(%s) exp(-E/kT) %s",
                                                            density    ? density
                                                            : m->f_exp ? "long"
                                                                       : "exp f(q)",
                                                            out->variables);
  out->positions = "undecided";
  if (!m->f_exp) return;
  ag_id square = ag_mul(g, m->f_exp, m->f_exp);
  if (is_constant(v, square, K)) out->positions = "uniform";
  else if (changes(v, square, K)) out->positions = "weighted";
  if (strcmp(out->positions, "weighted") != 0) return;
  ag_id root = ag_apply1(g, AG_OP_SQRT, ag_conserve_readable(v, K));
  const char *weight = ag_conserve_print(v, liouville ? root : ag_div(g, m->f_exp, root));
  out->weight = weight && !strstr(weight, "det(") ? ag_arena_str(arena, weight) : NULL;
}

/* Without friction, is this a Lagrangian system of positions (constrained or not) that does not depend on time? Then it
 * is Hamiltonian and keeps dq dp (Liouville), however long its equations are. */
static bool is_hamiltonian(const ag_conserving *v) {
  const ag_geom *x = v->x;
  const ag_model *m = x->model;
  if (ag_model_n_constraints(m) || ag_model_n_prescribes(m) || !ag_is_zero(x->g, x->force)) return false;
  if (ag_depends(x->g, 1, &x->lagrangian, 1, &x->t)) return false;
  for (int i = 0; i < ag_model_n_holonomics(m); i++)
    if (ag_depends(x->g, 1, &ag_model_holonomics(m)[i].x, 1, &x->t)) return false;
  return true;
}

static void liouville(ag_gibbs *out, const ag_conserving *v) {
  const ag_geom *x = v->x;
  const bool free = !x->n_row, uniform = free && !ag_depends(x->g, 1, &x->M, x->n_coord, x->q);
  *out = (ag_gibbs){.kind = AG_GIBBS_VOLUME,
                    .law = "exp(-E/kT) dq dp",
                    .density = "1",
                    .variables = "dq dp",
                    .reason = "without friction the motion is Hamiltonian and keeps phase volume (Liouville)",
                    .proof = ag_proof_word(AG_PROOF_IDENTITY),
                    .positions = uniform ? "uniform" : "undecided",
                    .freedom = free ? x->n : -1};
}

static void examine(ag_gibbs *out, ag_arena *arena, ag_conserving *v, ag_ctx *ctx) {
  const char *why;
  if (ag_conserve_ranks(v, ctx, NULL) != AG_OK || v->probe.rank < 0) {
    undecided(out, "the equations cannot be read exactly");
    return;
  }
  v->acceleration = ag_geom_acceleration(v->x, v->probe.rank, v->probe.row);
  why = energy_changes(v);
  /* where S xi + s = 0, friction also pulls at the velocity that s prescribes, even if the reaction does no work */
  if (!why && !ag_conserve_homogeneous(v))
    why = "the constraints are affine: fluctuation and dissipation need not balance";
  if (why) {
    undecided(out, why);
    return;
  }
  ag_conserve_measure(v);
  const ag_measure *m = &v->c->measure;
  out->reason = m->reason;
  out->proof = ag_proof_word(m->proof);
  out->bound = m->bound, out->lo = m->lo, out->hi = m->hi;
  /* constraints that turn: at every time the same rho, on the constraints of that time */
  if (m->verdict == AG_CONSERVED_YES && m->timed && (!m->f_exp || ag_depends(v->x->g, 1, &m->f_exp, 1, &v->x->t)))
    out->proof = NULL, undecided(out, "the density that the motion keeps depends on time");
  else if (m->verdict == AG_CONSERVED_YES) describe(out, arena, v, m);
  else out->kind = m->verdict == AG_CONSERVED_NO ? AG_GIBBS_NEITHER : AG_GIBBS_UNDECIDED;
}

/* The exact readers first: they also know the law of the positions. */
static void decide(ag_gibbs *out, ag_arena *arena, ag_conserving *v, ag_ctx *ctx) {
  examine(out, arena, v, ctx);
  if (out->kind == AG_GIBBS_UNDECIDED && is_hamiltonian(v)) liouville(out, v);
}

void ag_gibbs_find(ag_gibbs *out, ag_arena *arena, ag_model *m, ag_system *sys) {
  *out = (ag_gibbs){.kind = AG_GIBBS_NONE, .freedom = -1};
  if (!ag_model_n_baths(m)) return;
  const char *why = obstacle(m);
  if (why) {
    undecided(out, why);
    return;
  }
  ag_ctx ctx = {0};
  ag_conservation c = {.arena = ag_arena_create()};
  ag_conserving v = {.c = &c, .m = m, .sys = sys, .quiet = true};
  if (ag_conserve_begin(&v, &ctx, 0, NULL) == AG_OK) {
    decide(out, arena, &v, &ctx);
    out->reason = out->reason ? ag_arena_str(arena, out->reason) : NULL;
    ag_conserve_end(&v);
  } else {
    undecided(out, ag_arena_str(arena, ctx.n_diag ? ctx.diags[0].message : "it cannot be examined"));
  }
  ag_conservation_done(&c);
  ag_ctx_done(&ctx);
}
