/* SPDX-License-Identifier: MIT
 * What is conserved. Each verdict rests on the rate of a quantity along the motion: an identity over a prime field
 * proves `yes`, an enclosed value without 0 proves `no`. docs/theory/5-conservation.md. */
#include "study/conserve.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "study/conserve_internal.h"

enum { WITNESSES = 24, NUMERICAL = 200 };

const char *ag_conserved_word(ag_conserved v) {
  static const char *const words[] = {"no", "yes", "undecided"};
  return words[v];
}

const char *ag_proof_word(ag_proof p) {
  static const char *const words[] = {NULL, "identity", "witness", "numerical"};
  return words[p];
}

/* ---- one rate ---- */

const ag_enclosed *ag_conserve_state(ag_conserving *v, int k) {
  while (v->n_state <= k && v->n_tried < 3 * NUMERICAL) {
    v->states = ag_heap_grow(v->states, sizeof *v->states * (size_t)(v->n_state + 1));
    if (ag_probe_enclose(&v->probe, v->n_tried++, &v->states[v->n_state])) v->n_state++;
    else if (v->n_tried > 40 && !v->n_state) break;
  }
  return k < v->n_state ? &v->states[k] : NULL;
}

double *ag_conserve_numbers(ag_conserving *v, const ag_enclosed *e, double *t) {
  double *x = AG_NEWN(v->c->arena, double, v->c->n_state + 1);
  for (int i = 0; i < v->c->n_state; i++) x[i] = ag_balls_middle(e->in, v->probe.at[AG_PROBE_Q] + i);
  *t = ag_balls_middle(e->in, v->probe.at[AG_PROBE_T]);
  return x;
}

static void keep_witness(ag_conserving *v, ag_quantity *q, const ag_enclosed *e, const ag_balls *out) {
  q->state = ag_conserve_numbers(v, e, &q->t);
  q->rate = ag_balls_middle(out, 0);
  ag_balls_bounds(out, 0, &q->lo, &q->hi);
  q->verdict = AG_CONSERVED_NO;
  q->proof = AG_PROOF_WITNESS;
}

/* |rate| relative to the size of its two parts. */
static double relative(const ag_balls *out) {
  double lo, hi, size = fabs(ag_balls_middle(out, 1)) + fabs(ag_balls_middle(out, 2));
  ag_balls_bounds(out, 0, &lo, &hi);
  double rate = fmax(fabs(lo), fabs(hi));
  return rate < 1e-40 ? 0 : rate / (size > 0 ? size : 1); /* both parts may be 0 up to the bits used */
}

/* Looks for a state where the rate is not 0. Programs with held values (Newton steps) carry the error of those steps:
 * only a rate that is not small relative to its terms counts there. */
static void look_for_witness(ag_conserving *v, ag_quantity *q, const ag_program *program, bool opaque) {
  ag_balls *out = ag_balls_create(v->probe.flint, 3);
  double worst = 0;
  int n = 0, wanted = opaque ? NUMERICAL : WITNESSES;
  for (int k = 0; k < wanted && q->proof != AG_PROOF_WITNESS; k++) {
    const ag_enclosed *e = ag_conserve_state(v, k);
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

/* A vanishing rate is conclusive only for continuous quantities. One that is 0 on the whole leaf, such as a gap, is
 * continuous. */
static void look_for_jumps(ag_conserving *v, ag_quantity *q) {
  bool bends = false;
  if (q->verdict != AG_CONSERVED_YES || ag_probe_vanish(&v->probe, 1, &q->x, false, NULL) == AG_TRUTH_YES) return;
  q->jump = ag_conserve_jump(v, q->x, false, &bends);
  if (!q->jump) q->jump = ag_conserve_stick(v, q->x);
  if (q->jump) {
    q->verdict = AG_CONSERVED_UNDECIDED, q->proof = AG_PROOF_NONE;
    q->jump = ag_arena_printf(v->c->arena, "its rate vanishes, but %s", q->jump);
  } else if (bends && q->proof == AG_PROOF_IDENTITY) {
    q->proof = AG_PROOF_NUMERICAL, q->bound = 0; /* continuity was seen, not proved */
  }
}

static void decide_rate(ag_conserving *v, ag_quantity *q) {
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

void ag_conserve_decide(ag_conserving *v, ag_quantity *q) {
  decide_rate(v, q);
  look_for_jumps(v, q);
}

ag_quantity *ag_conserve_append(ag_conserving *v, const char *name, const char *kind, ag_id x) {
  ag_conservation *c = v->c;
  AG_PUSH(c->at, c->n, c->cap);
  ag_quantity *q = &c->at[c->n++];
  *q = (ag_quantity){.name = ag_arena_str(c->arena, name), .kind = kind, .x = x};
  return q;
}

ag_quantity *ag_conserve_add(ag_conserving *v, const char *name, const char *kind, ag_id x) {
  ag_quantity *q = ag_conserve_append(v, name, kind, x);
  ag_conserve_decide(v, q);
  return q;
}

/* ---- momenta ---- */

static bool holds(ag_conserving *v, ag_id x, bool any_velocity) {
  return !x || ag_is_zero(v->x->g, x) || ag_probe_vanish(&v->probe, 1, &x, any_velocity, NULL) == AG_TRUTH_YES;
}

/* The reason: dJ/dt = Z(L) + R.Z + F.Z, and which of these vanish. */
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

/* Potentials W that the generators with Z(L) = 0 leave invariant change dJ/dt by w.dW, w the part of Z normal to D:
 * none does if w is tangent to their orbits. */
static void look_at_potentials(ag_conserving *v, ag_quantity *q, ag_id Z, int n, const ag_id *orbit) {
  const ag_probe *p = &v->probe;
  if (p->rank < 0) return;
  ag_id w = ag_geom_normal(v->x, p->rank, p->row, Z);
  q->projected = holds(v, ag_dot(v->x->g, ag_concat(v->x->g, v->x->n_coord, v->x->p), w), false);
  if (q->verdict == AG_CONSERVED_YES)
    q->field_in_D = ag_conserve_print_field(v, ag_conserve_plain_field(v, ag_sub(v->x->g, Z, w)));
  q->weakly = q->verdict == AG_CONSERVED_YES && q->invariant && ag_conserve_spans(v, n, orbit, w);
}

static void momenta(ag_conserving *v) {
  const ag_geom *x = v->x;
  int n = ag_model_n_generators(v->m), first = v->c->n, n_orbit = 0;
  ag_id *fields = AG_NEWN(x->arena, ag_id, n + 1), *orbit = AG_NEWN(x->arena, ag_id, n + 1);
  for (int i = 0; i < n; i++) {
    const ag_generator *z = &ag_model_generators(v->m)[i];
    ag_id *Z = ag_geom_field(x, z), J = ag_geom_momentum(x, Z);
    ag_id lifted = ag_geom_lifted(x, Z, x->lagrangian), across = ag_geom_across(x, Z), work = ag_geom_reaction(x, Z);
    ag_id kept = x->n_row ? ag_geom_lifted(x, Z, x->rows) : 0;
    ag_id forced = ag_dot(x->g, x->force, ag_concat(x->g, x->n_coord, Z));
    ag_quantity *q = ag_conserve_add(v, z->name, "momentum", J);
    q->formula = ag_conserve_print(v, J);
    if (q->verdict == AG_CONSERVED_NO) q->rate_formula = ag_conserve_print_rate(v, J);
    q->invariant = holds(v, lifted, true);
    q->on_constraints = q->invariant || holds(v, lifted, false);
    q->keeps = holds(v, kept, false);
    q->in_D = holds(v, across, false);
    q->in_R = !x->n_row || q->in_D || holds(v, work, false);
    classify(q, !q->in_R, !holds(v, forced, false));
    fields[i] = ag_concat(x->g, x->n_coord, Z);
    q->field = ag_conserve_print_field(v, fields[i]);
    if (q->invariant) orbit[n_orbit++] = fields[i];
  }
  ag_conserve_symmetries(v, n_orbit, orbit);
  ag_id all[AG_MAX_SYMMETRY];
  int n_all = 0;
  for (int i = 0; i < v->c->n_symmetry; i++) all[n_all++] = v->c->symmetries[i].Z;
  for (int i = 0; i < n; i++) look_at_potentials(v, &v->c->at[first + i], fields[i], n_all, all);
}

/* ---- observables ---- */

static void explain_rate(ag_quantity *q) {
  static const char *const reasons[] = {[AG_CONSERVED_NO] = "its rate does not vanish",
                                        [AG_CONSERVED_YES] = "its rate vanishes",
                                        [AG_CONSERVED_UNDECIDED] = "neither an identity nor a witness was found"};
  q->reason = q->jump ? q->jump : reasons[q->verdict];
}

/* The rate of a force of constraint needs derivatives of the accelerations: it is left out, and named. */
static void leave_out(ag_conserving *v, const char *name) {
  ag_conservation *c = v->c;
  ag_text text = {0};
  ag_text_printf(&text, "%s%s%s", c->left_out ? c->left_out : "", c->left_out ? ", " : "", name);
  c->left_out = ag_arena_str(c->arena, ag_text_cstr(&text));
  ag_text_done(&text);
}

static void observables(ag_conserving *v) {
  const ag_graph *g = v->x->g;
  for (int i = 0; i < ag_model_n_observables(v->m); i++) {
    const ag_item *o = &ag_model_observables(v->m)[i];
    ag_id x = o->x;
    if (!ag_geom_plain(v->x, &x)) {
      leave_out(v, o->name);
      continue;
    }
    int rows = ag_node_rows(g, x), cols = ag_node_cols(g, x);
    if (rows * cols > 16) continue;
    for (int k = 0; k < rows * cols; k++) {
      ag_text name = {0};
      ag_entry_name(o->name, rows, cols, k, &name);
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
    else leave_out(v, o->name);
  }
}

/* ---- all ---- */

ag_status ag_conserve_begin(ag_conserving *v, ag_ctx *ctx, ag_id lagrangian, const ag_changed *changed) {
  char why[AG_FLINT_WHY];
  v->flint = ag_flint_open(why);
  if (!v->flint) return ag_ctx_error(ctx, (ag_pos){0}, "%s", why), AG_SYSTEM;
  v->x = v->c->geom = ag_geom_create(v->m, lagrangian);
  if (v->quiet) ag_geom_quiet(v->x);
  ag_probe_init(&v->probe, v->x, v->sys, changed, v->flint);
  v->c->n_state = v->probe.at[AG_PROBE_ACC] - v->probe.at[AG_PROBE_Q];
  return AG_OK;
}

void ag_conserve_forget(ag_conserving *v) {
  for (int i = 0; i < v->n_state; i++) ag_balls_free(v->states[i].in);
  v->n_state = v->n_tried = 0;
}

void ag_conserve_end(ag_conserving *v) {
  ag_conserve_forget(v);
  free(v->states);
  ag_probe_done(&v->probe);
  ag_flint_close(v->flint);
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
  AG_TRY(ag_conserve_begin(&v, ctx, lagrangian, NULL));
  c->n_velocity = v.x->n;
  ag_status status = ag_conserve_ranks(&v, ctx, o->at);
  if (status != AG_OK) {
    ag_conserve_end(&v);
    return status;
  }
  if (v.probe.rank >= 0) v.acceleration = ag_geom_acceleration(v.x, v.probe.rank, v.probe.row);
  ag_conserve_energy(&v);
  if (o->search) ag_conserve_leaf(&v);
  if (c->rank_R < 0) status = ag_conserve_ranks(&v, ctx, o->at); /* the leaf may be known now */
  momenta(&v);
  candidates(&v);
  observables(&v);
  ag_conserve_moving(&v);
  c->linear = c->quadratic = c->linear_degree = c->quadratic_degree = -1;
  if (ag_model_n_processes(m)) /* integrals and densities that depend on them are not searched for */
    c->measure = (ag_measure){.verdict = AG_CONSERVED_UNDECIDED, .reason = "the model has processes"};
  else if (o->search) ag_conserve_search(&v, o->degree);
  else ag_conserve_measure(&v);
  ag_conserve_classify(&v);
  if (o->search && !ag_model_n_processes(m)) ag_conserve_shape(&v);
  c->n_independent = ag_conserve_independent(&v, AG_ALL, 0);
  ag_conserve_whole(&v);
  ag_conserve_noise(&v);
  if (!o->potential) ag_gibbs_find(&c->gibbs, c->arena, m, sys);
  ag_conserve_basis(&v);
  if (o->sweep) status = ag_conserve_sweep(&v, ctx, o->sweep);
  if (v.probe.opaque) c->unsearched = v.probe.why;
  else if (o->search && c->linear < 0) c->unsearched = "the model has processes, or too many coordinates";
  ag_conserve_end(&v);
  return status;
}

bool ag_conserve_density(ag_ctx *ctx, ag_system *sys, ag_density *out) {
  ag_model *m = ag_system_open_model(sys);
  ag_conservation c = {.arena = ag_arena_create()};
  ag_conserving v = {.c = &c, .m = m, .sys = sys};
  *out = (ag_density){0};
  if (ag_conserve_begin(&v, ctx, 0, NULL) != AG_OK) {
    ag_conservation_done(&c);
    return false;
  }
  ag_conserve_measure(&v);
  const ag_probe *p = &v.probe;
  if (c.measure.verdict == AG_CONSERVED_YES && c.measure.f_exp) {
    int n_velocity = 0;
    for (int i = 0; i < ag_model_n_constraints(m); i++)
      n_velocity += ag_node_rows(v.x->g, ag_model_constraints(m)[i].x);
    ag_id *outs = ag_heap_alloc(sizeof *outs * (size_t)(1 + p->rank * v.x->n));
    out->n = v.x->n, out->rank = p->rank;
    outs[0] = c.measure.f_exp;
    for (int i = 0; i < p->rank; i++) {
      for (int k = 0; k < v.x->n; k++) outs[1 + i * v.x->n + k] = ag_entry(v.x->g, v.x->S, p->row[i], k);
      out->n_position += p->row[i] >= n_velocity;
    }
    out->tape = ag_system_tape(sys, 1 + p->rank * v.x->n, outs, &out->needs_lambda);
    free(outs);
  }
  ag_conserve_end(&v);
  ag_conservation_done(&c);
  return out->tape != NULL;
}

void ag_conservation_done(ag_conservation *c) {
  ag_geom_free(c->geom);
  ag_tabulator_free(c->shape.tabulator);
  if (c->arena) ag_arena_free(c->arena);
  free(c->at);
  free(c->moments);
}

static void judge_conserved(ag_conserving *v, const ag_expect *e, ag_id x, ag_verdict *verdict, ag_text *note) {
  const ag_quantity *q = ag_conserve_add(v, "x", "candidate", x);
  verdict->holds = q->verdict == (e->kind == AG_EXPECT_CONSERVED ? AG_CONSERVED_YES : AG_CONSERVED_NO);
  ag_text_printf(note, "conserved: %s", ag_conserved_word(q->verdict));
  if (q->proof) ag_text_printf(note, ", by %s", ag_proof_word(q->proof));
  if (q->proof == AG_PROOF_WITNESS) ag_text_printf(note, ", rate %.3g", q->rate);
}

/* On every path: drift and noise vanish, or one of them does not. */
static void judge_pathwise(ag_conserving *v, const ag_expect *e, ag_id x, ag_verdict *verdict, ag_text *note) {
  const char *word = ag_conserve_pathwise(v, x);
  const bool yes = !strcmp(word, "pathwise"), undecided = !strcmp(word, "undecided");
  verdict->holds = e->kind == AG_EXPECT_CONSERVED ? yes : !yes && !undecided;
  ag_text_printf(note, "conserved on every path: %s%s",
                 yes         ? "yes, drift and noise vanish by identity"
                 : undecided ? word
                             : "no, by witness",
                 strcmp(word, "mean") ? "" : "; in the mean it is");
}

ag_status ag_conserve_expect(ag_ctx *ctx, ag_system *sys, const ag_expect *e, ag_verdict *verdict) {
  ag_model *m = ag_system_open_model(sys);
  if (e->pathwise && !ag_system_dims(sys)->channel) {
    ag_ctx_error(ctx, e->pos, "`pathwise` is for models with noise, and this one has none");
    return AG_WRONG;
  }
  ag_conservation c = {.arena = ag_arena_create()};
  ag_conserving v = {.c = &c, .m = m, .sys = sys};
  ag_status status = ag_conserve_begin(&v, ctx, 0, &(ag_changed){e->n_when, e->when_param, e->when_value});
  if (status != AG_OK) {
    ag_conservation_done(&c);
    return status;
  }
  ag_id x = e->x;
  if (e->generator) x = ag_geom_momentum(v.x, ag_geom_field(v.x, &ag_model_generators(m)[e->generator - 1]));
  ag_text note = {0};
  if (!ag_geom_plain(v.x, &x)) ag_text_str(&note, "a constraint force: not decided");
  else (e->pathwise ? judge_pathwise : judge_conserved)(&v, e, x, verdict, &note);
  verdict->note = note.s;
  ag_conserve_end(&v);
  ag_conservation_done(&c);
  return AG_OK;
}
