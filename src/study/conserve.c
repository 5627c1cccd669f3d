/* SPDX-License-Identifier: MIT
 * What is conserved. Each verdict rests on the rate of a quantity along the motion: an identity over a prime field
 * proves `yes`, an enclosed value without 0 proves `no`. docs/theory/5-conservation.md. */
#include "study/conserve.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "study/conserve_internal.h"

enum { WITNESSES = 24, NUMERICAL = 200, LONG = 600 };

const char *ag_conserved_word(ag_conserved v) {
  static const char *const words[] = {"no", "yes", "undecided"};
  return words[v];
}

const char *ag_proof_word(ag_proof p) {
  static const char *const words[] = {NULL, "identity", "witness", "numerical"};
  return words[p];
}

/* ---- one rate ---- */

/* The k-th enclosed state; NULL: there are no more. */
static const ag_enclosed *state(ag_conserving *v, int k) {
  while (v->n_state <= k && v->n_tried < 3 * NUMERICAL) {
    v->states = ag_heap_grow(v->states, sizeof *v->states * (size_t)(v->n_state + 1));
    if (ag_probe_enclose(&v->probe, v->n_tried++, &v->states[v->n_state])) v->n_state++;
    else if (v->n_tried > 40 && !v->n_state) break;
  }
  return k < v->n_state ? &v->states[k] : NULL;
}

static void keep_witness(ag_conserving *v, ag_quantity *q, const ag_enclosed *e, const ag_balls *out) {
  const ag_probe *p = &v->probe;
  q->state = AG_NEWN(v->c->arena, double, v->c->n_state + 1);
  for (int i = 0; i < v->c->n_state; i++) q->state[i] = ag_balls_middle(e->in, p->at[AG_PROBE_Q] + i);
  q->t = ag_balls_middle(e->in, p->at[AG_PROBE_T]);
  q->rate = ag_balls_middle(out, 0);
  ag_balls_bounds(out, 0, &q->lo, &q->hi);
  q->verdict = AG_CONSERVED_NO;
  q->proof = AG_PROOF_WITNESS;
}

/* |rate| beside the size of its two parts. */
static double relative(const ag_balls *out) {
  double lo, hi, size = fabs(ag_balls_middle(out, 1)) + fabs(ag_balls_middle(out, 2));
  ag_balls_bounds(out, 0, &lo, &hi);
  double rate = fmax(fabs(lo), fabs(hi));
  return rate < 1e-40 ? 0 : rate / (size > 0 ? size : 1); /* both parts may be 0 up to the bits used */
}

/* Looks for a state where the rate is not 0. Programs with held values (Newton steps) carry the error of those steps:
 * only a rate that is no small part of its terms counts there. */
static void look_for_witness(ag_conserving *v, ag_quantity *q, const ag_program *program, bool opaque) {
  ag_balls *out = ag_balls_create(3);
  double worst = 0;
  int n = 0, wanted = opaque ? NUMERICAL : WITNESSES;
  for (int k = 0; k < wanted && q->proof != AG_PROOF_WITNESS; k++) {
    const ag_enclosed *e = state(v, k);
    if (!e) break;
    if (!ag_balls_eval(program, e->in, out)) continue;
    double size = relative(out);
    if (ag_balls_nonzero(out, 0) && (!opaque || size > 1e-6)) keep_witness(v, q, e, out);
    worst = fmax(worst, size);
    n++;
  }
  ag_balls_free(out);
  if (q->proof == AG_PROOF_WITNESS || !opaque || n < NUMERICAL / 4 || worst > 1e-9) return;
  q->verdict = AG_CONSERVED_YES;
  q->proof = AG_PROOF_NUMERICAL;
  q->bound = worst;
}

void ag_conserve_decide(ag_conserving *v, ag_quantity *q) {
  ag_id outs[3];
  q->verdict = AG_CONSERVED_UNDECIDED;
  ag_geom_rate(v->x, q->x, &outs[1], &outs[2]);
  outs[0] = ag_add(v->x->g, outs[1], outs[2]);
  ag_truth truth = ag_probe_vanish(&v->probe, 1, outs, false, &q->bound);
  if (truth == AG_TRUTH_YES) {
    q->verdict = AG_CONSERVED_YES;
    q->proof = AG_PROOF_IDENTITY;
    return;
  }
  ag_program *program = ag_probe_program(&v->probe, 3, outs);
  look_for_witness(v, q, program, truth == AG_TRUTH_OPAQUE);
  ag_program_free(program);
}

const char *ag_conserve_print(ag_conserving *v, ag_id x) {
  ag_text text = {0};
  if (ag_normal_size(v->x->g, x) <= LONG) {
    ag_normal_form(v->x->g, 0, NULL, NULL, 1, &x);
    if (ag_normal_size(v->x->g, x) <= LONG / 4) ag_print_formula(v->x->g, x, false, &text);
  }
  const char *kept = ag_text_cstr(&text)[0] ? ag_arena_str(v->c->arena, ag_text_cstr(&text)) : NULL;
  ag_text_done(&text);
  return kept;
}

static ag_quantity *append(ag_conserving *v, const char *name, const char *kind, ag_id x) {
  ag_conservation *c = v->c;
  AG_PUSH(c->at, c->n, c->cap);
  ag_quantity *q = &c->at[c->n++];
  *q = (ag_quantity){.name = ag_arena_str(c->arena, name), .kind = kind, .x = x};
  return q;
}

ag_quantity *ag_conserve_add(ag_conserving *v, const char *name, const char *kind, ag_id x) {
  ag_quantity *q = append(v, name, kind, x);
  ag_conserve_decide(v, q);
  return q;
}

/* ---- energy ---- */

/* Is it 0: by its form, or as an identity? */
static bool vanishes(ag_conserving *v, ag_id x) {
  return !x || ag_is_zero(v->x->g, x) || ag_probe_vanish(&v->probe, 1, &x, false, NULL) == AG_TRUTH_YES;
}

/* -s.lambda, which is R.xi on the constraints. */
static bool has_reaction_power(ag_conserving *v) {
  const ag_geom *x = v->x;
  if (!x->n_row || vanishes(v, x->s)) return false;
  ag_id react = ag_concat(x->g, x->n_coord, x->react), xi = ag_concat(x->g, x->n_coord, x->xi);
  return !vanishes(v, ag_dot(x->g, react, xi));
}

static void explain_energy(ag_conserving *v, ag_quantity *q) {
  const ag_conservation *c = v->c;
  bool linear = !v->x->n_row || vanishes(v, v->x->s);
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

/* dE/dt = -l_t + F.xi - s.lambda: where all three vanish, that is the proof. */
static void energy(ag_conserving *v) {
  const ag_geom *x = v->x;
  ag_conservation *c = v->c;
  ag_id time = ag_geom_time_power(x), force = ag_geom_force_power(x);
  c->power_time = !vanishes(v, time);
  c->power_force = !vanishes(v, force);
  c->power_constraints = has_reaction_power(v);
  c->time_formula = c->power_time ? ag_conserve_print(v, time) : NULL;
  c->force_formula = c->power_force ? ag_conserve_print(v, force) : NULL;
  bool none = !c->power_time && !c->power_force && !c->power_constraints;
  ag_quantity *q = append(v, "energy", "energy", x->energy);
  if (none) q->verdict = AG_CONSERVED_YES, q->proof = AG_PROOF_IDENTITY, q->bound = 0x1p-84;
  else ag_conserve_decide(v, q);
  explain_energy(v, q);
}

/* ---- momenta ---- */

static bool holds(ag_conserving *v, ag_id x, bool any_velocity) {
  return !x || ag_probe_vanish(&v->probe, 1, &x, any_velocity, NULL) == AG_TRUTH_YES;
}

/* Why: dJ/dt = Z(L) + R.Z + F.Z, and which of them vanish. */
static void classify(ag_quantity *q, bool work, bool forced) {
  bool yes = q->verdict == AG_CONSERVED_YES;
  if (yes && q->on_constraints && q->in_D) q->class = "momentum, generator in D";
  else if (yes && q->on_constraints && !work) q->class = "momentum, generator in R only";
  else if (yes) q->class = "neither: its parts cancel";
  if (yes && q->on_constraints && q->in_D)
    q->reason = "the Lagrangian is invariant, and the generator is an admissible velocity";
  else if (yes && q->on_constraints && !work)
    q->reason = "the Lagrangian is invariant, and the reaction does no work along the generator";
  else if (yes) q->reason = "the changes by the Lagrangian, the reaction and the forces cancel";
  else if (q->verdict == AG_CONSERVED_UNDECIDED) q->reason = "neither an identity nor a witness was found";
  else if (!q->on_constraints && work)
    q->reason = "the Lagrangian is not invariant, and the reaction does work along the generator";
  else if (!q->on_constraints) q->reason = "the Lagrangian is not invariant";
  else if (work) q->reason = "the reaction does work along the generator";
  else q->reason = forced ? "forces do work along the generator" : "";
}

static void momenta(ag_conserving *v) {
  const ag_geom *x = v->x;
  for (int i = 0; i < ag_model_n_generators(v->m); i++) {
    const ag_generator *z = &ag_model_generators(v->m)[i];
    ag_id *Z = ag_geom_field(x, z), J = ag_geom_momentum(x, Z);
    ag_id lifted = ag_geom_lifted(x, Z, x->lagrangian), across = ag_geom_across(x, Z), work = ag_geom_reaction(x, Z);
    ag_id kept = x->n_row ? ag_geom_lifted(x, Z, x->rows) : 0;
    ag_id forced = ag_dot(x->g, x->force, ag_concat(x->g, x->n_coord, Z));
    ag_quantity *q = ag_conserve_add(v, z->name, "momentum", J);
    q->formula = ag_conserve_print(v, J);
    q->invariant = holds(v, lifted, true);
    q->on_constraints = q->invariant || holds(v, lifted, false);
    q->keeps = holds(v, kept, false);
    q->in_D = holds(v, across, false);
    q->in_R = !x->n_row || q->in_D || holds(v, work, false);
    classify(q, !q->in_R, !holds(v, forced, false));
  }
}

/* ---- observables ---- */

static void explain_rate(ag_quantity *q) {
  static const char *const reasons[] = {[AG_CONSERVED_NO] = "its rate does not vanish",
                                        [AG_CONSERVED_YES] = "its rate vanishes",
                                        [AG_CONSERVED_UNDECIDED] = "neither an identity nor a witness was found"};
  q->reason = reasons[q->verdict];
}

static void observables(ag_conserving *v) {
  const ag_graph *g = v->x->g;
  for (int i = 0; i < ag_model_n_observables(v->m); i++) {
    const ag_item *o = &ag_model_observables(v->m)[i];
    ag_id x = o->x;
    if (!ag_geom_plain(v->x, &x)) continue; /* a constraint force: its rate needs the next derivative */
    int rows = ag_node_rows(g, x), cols = ag_node_cols(g, x);
    if (rows * cols > 16) continue;
    for (int k = 0; k < rows * cols; k++) {
      ag_text name = {0};
      ag_text_str(&name, o->name);
      if (cols > 1) ag_text_printf(&name, "[%d,%d]", k / cols + 1, k % cols + 1);
      else if (rows > 1) ag_text_printf(&name, "[%d]", k + 1);
      ag_quantity *q = ag_conserve_add(v, ag_text_cstr(&name), "observable", ag_entry(v->x->g, x, k / cols, k % cols));
      explain_rate(q);
      ag_text_done(&name);
    }
  }
}

static void candidates(ag_conserving *v) {
  for (int i = 0; i < ag_model_n_candidates(v->m); i++) {
    const ag_item *o = &ag_model_candidates(v->m)[i];
    ag_id x = o->x;
    if (ag_geom_plain(v->x, &x)) explain_rate(ag_conserve_add(v, o->name, "candidate", x));
  }
}

/* ---- all ---- */

static void done(ag_conserving *v) {
  for (int i = 0; i < v->n_state; i++) ag_balls_free(v->states[i].in);
  free(v->states);
  ag_probe_done(&v->probe);
  ag_balls_cleanup();
}

ag_status ag_conserve(ag_conservation *c, ag_ctx *ctx, ag_model *m, ag_system *sys, const ag_conserve_options *o) {
  ag_id lagrangian = 0;
  *c = (ag_conservation){.arena = ag_arena_create(), .rank_D = -1, .rank_R = -1, .confirmed = (double)NAN};
  ag_conserving v = {.c = c, .m = m, .sys = sys};
  if (o->potential) {
    ag_id V;
    AG_TRY(ag_lang_of_coordinates(ctx, m, "--potential", o->potential, strncmp(o->potential, "V=", 2) ? 0 : 2, &V));
    lagrangian = ag_geom_with_potential(m, V);
  }
  v.x = c->geom = ag_geom_create(m, lagrangian);
  ag_probe_init(&v.probe, v.x, sys, NULL);
  c->n_state = v.probe.at[AG_PROBE_ACC] - v.probe.at[AG_PROBE_Q];
  ag_status status = ag_conserve_ranks(&v, ctx, o->at);
  if (status != AG_OK) {
    done(&v);
    return status;
  }
  energy(&v);
  momenta(&v);
  candidates(&v);
  observables(&v);
  ag_conserve_moving(&v);
  c->linear = c->quadratic = c->linear_degree = c->quadratic_degree = -1;
  if (o->search) ag_conserve_search(&v, o->degree);
  c->opaque = v.probe.opaque;
  done(&v);
  return AG_OK;
}

void ag_conservation_done(ag_conservation *c) {
  ag_geom_free(c->geom);
  if (c->arena) ag_arena_free(c->arena);
  free(c->at);
}

ag_status ag_conserve_expect(ag_ctx *ctx, ag_system *sys, const ag_expect *e, ag_verdict *verdict) {
  (void)ctx;
  ag_model *m = (ag_model *)ag_system_model(sys);
  ag_conservation c = {.arena = ag_arena_create()};
  ag_conserving v = {.c = &c, .m = m, .sys = sys};
  v.x = c.geom = ag_geom_create(m, 0);
  ag_probe_init(&v.probe, v.x, sys, &(ag_changed){e->n_when, e->when_param, e->when_value});
  c.n_state = v.probe.at[AG_PROBE_ACC] - v.probe.at[AG_PROBE_Q];
  ag_id x = e->x;
  if (e->generator) x = ag_geom_momentum(v.x, ag_geom_field(v.x, &ag_model_generators(m)[e->generator - 1]));
  bool wanted = e->kind == AG_EXPECT_CONSERVED;
  ag_text note = {0};
  if (ag_geom_plain(v.x, &x)) {
    const ag_quantity *q = ag_conserve_add(&v, "x", "candidate", x);
    verdict->holds = q->verdict == (wanted ? AG_CONSERVED_YES : AG_CONSERVED_NO);
    ag_text_printf(&note, "conserved: %s", ag_conserved_word(q->verdict));
    if (q->proof) ag_text_printf(&note, ", by %s", ag_proof_word(q->proof));
    if (q->proof == AG_PROOF_WITNESS) ag_text_printf(&note, ", rate %.3g", q->rate);
  } else {
    ag_text_str(&note, "a constraint force: not decided");
  }
  verdict->note = note.s;
  done(&v);
  ag_conservation_done(&c);
  return AG_OK;
}
