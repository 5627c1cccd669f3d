/* SPDX-License-Identifier: MIT
 * Warnings and notes about a finished run: what makes its result doubtful, and what its reader should know. */
#include <math.h>
#include <string.h>

#include "run/run.h"

typedef struct finished {
  const ag_system *system;
  const ag_record *record;
  const ag_run_options *options;
  const ag_run_result *result;
} finished;

/* ---- energy ---- */

double ag_run_drift(const ag_record *record, const ag_run_result *r) {
  return isfinite(r->energy0) && isfinite(*ag_record_kind(record, r->record, AG_COL_ENERGY)) ? r->energy_drift : NAN;
}

double ag_run_balance(const ag_run_result *r) { return r->work_energy - r->energy0 - r->work; }

/* A conserved energy that changed, or a change that is not the work done; true: so it is. */
static bool energy_notes(ag_ctx *ctx, const finished *o) {
  const ag_run_result *r = o->result;
  double allowed = ag_run_allowed_drift(o->options, r->energy_law, r->steps);
  const char *remedy = o->options->dt > 0 ? "take smaller steps" : "use a smaller --rtol and --atol";
  if (!(r->energy_size > 0)) return false;
  if (r->energy_law == AG_ENERGY_CONSERVED) {
    double drift = ag_run_drift(o->record, r) / r->energy_size;
    if (!(drift > allowed)) return false;
    ag_ctx_warn(
        ctx, (ag_pos){0},
        "the energy should be conserved but changed by %.2g of kinetic + |potential| energy (more than %.2g): %s, "
        "and look for jumps in the equations",
        drift, allowed, remedy);
    return true;
  }
  if (r->energy_law == AG_ENERGY_NOISE) return false;
  double balance = fabs(ag_run_balance(r)) / r->energy_size;
  if (!(balance > allowed)) return false;
  ag_ctx_warn(ctx, (ag_pos){0},
              "the change of the energy differs from the work done by %.2g of kinetic + |potential| energy (more than "
              "%.2g): %s, and look for jumps in the equations",
              balance, allowed, remedy);
  return true;
}

/* ---- contacts, observables, events ---- */

/* A contact that would have to pull, with the time. Needs the body's event of lifting, or looks at the end. */
static void contact_notes(ag_ctx *ctx, const finished *o) {
  const ag_model *m = ag_system_model(o->system);
  const ag_run_result *r = o->result;
  for (int i = 0; i < ag_model_n_contacts(m); i++) {
    const ag_contact *c = ag_model_contacts(m)[i];
    int lift = ag_audit_lift(m, i);
    double since = NAN, now = 0;
    for (int k = 0; k < o->record->n_column; k++)
      if (o->record->columns[k].kind == AG_COL_OBSERVABLE && o->record->columns[k].x == c->press)
        now = r->record[o->record->columns[k].offset];
    if (lift >= 0 && o->options->events && r->event_count[lift]) since = r->event_times[lift][0];
    else if (now < 0) since = r->t;
    if (isnan(since) || (r->end == AG_END_EVENT && r->end_event == lift)) continue;
    if (lift >= 0)
      ag_ctx_warn(ctx, c->body->pos,
                  "%s t = %.10g the ground would have to hold `%s` down (normal force below 0): from there on this is "
                  "not the motion of a real body; --end-at %s ends the run there",
                  o->options->events && r->event_count[lift] ? "from" : "at the end,", since, c->body->name,
                  ag_model_events(m)[lift].name);
    else
      ag_ctx_warn(ctx, c->body->pos,
                  "at the end the ground would have to hold `%s` down (normal force %.3g): this is "
                  "not the motion of a real body",
                  c->body->name, now);
  }
}

/* Observables that were not finite on the way. */
static void undefined_notes(ag_ctx *ctx, const finished *o) {
  const ag_run_result *r = o->result;
  for (int i = 0; i < o->record->n_column; i++) {
    const ag_column *c = &o->record->columns[i];
    double first = NAN;
    for (int k = 0; k < c->rows * c->cols; k++) {
      double t = r->undefined[c->offset + k];
      if (!isnan(t) && !(fabs(t - o->options->t0) >= fabs(first - o->options->t0))) first = t;
    }
    if (isnan(first) || c->kind != AG_COL_OBSERVABLE || ag_body_observes(ag_system_model(o->system), c->name)) continue;
    bool end = true;
    for (int k = 0; k < c->rows * c->cols; k++) end = end && isfinite(r->record[c->offset + k]);
    if (end) /* otherwise it is reported at the end */
      ag_ctx_warn(ctx, (ag_pos){0}, "observable %s is not finite at t = %.10g", c->name, first);
  }
}

/* What is different on a path with noise. */
static void noise_notes(ag_ctx *ctx, const finished *o) {
  ag_pos nowhere = {0};
  bool looks = false;
  for (int i = 0; i < ag_model_n_events(ag_system_model(o->system)); i++) looks = looks || o->options->events;
  if (looks)
    ag_ctx_note(ctx, nowhere, "events are located only at the ends of the steps: their times are those of the grid");
  if (ag_system_observes_forces(o->system))
    ag_ctx_note(ctx, nowhere, "forces of constraint have a white part: observables show their part without noise");
  if (isfinite(ag_run_cut(o->system, o->options->method, o->options->dt)))
    ag_ctx_note(ctx, nowhere,
                "implicit equations get no increments beyond max(6, sqrt(4 |log dt|)) standard deviations: %ld of %ld "
                "steps were cut",
                o->result->truncated, o->result->steps);
  if (o->result->pointwise)
    ag_ctx_note(ctx, nowhere, "steps with noise do not end where the equations switch (if, abs, sign, min, max)");
}

/* A start at rest, steps limited by stability, and the like. */
static void motion_notes(ag_ctx *ctx, const finished *o) {
  static const double LIMITED = 2.5; /* explicit methods become unstable from 3 to 6 on */
  const ag_run_result *r = o->result;
  if (r->at_rest) ag_ctx_note(ctx, (ag_pos){0}, "the start is at rest in an equilibrium: nothing will move");
  if (r->one_sided)
    ag_ctx_warn(ctx, (ag_pos){0},
                "from t = %.6g on the motion slides at times and the weights of the sides are not known: forces "
                "recorded then are those of one side of the surface, not of the motion along it",
                r->one_sided_t);
  if (r->loose)
    ag_ctx_warn(
        ctx, ag_model_starts(ag_system_model(o->system))[r->loose - 1].pos,
        "this start value (%.3g) is lost in the rounding errors of larger components that move it: its error is not "
        "controlled",
        r->loose_size);
  if (o->options->noise == AG_NOISE_PATH) noise_notes(ctx, o);
  else if (r->pointwise)
    ag_ctx_warn(ctx, (ag_pos){0},
                "with multipliers steps do not end where the equations switch (if, abs, sign, min, max), and nothing "
                "slides: accuracy is lost there. %s have no such limit",
                r->renewed ? "Two runs, the second from where the multipliers begin (--t0 and --set),"
                           : "Velocities that are eliminated");
  if (r->stiffness > LIMITED && r->end != AG_END_STEPS)
    ag_ctx_note(ctx, (ag_pos){0},
                "the steps are limited by stability (step size times largest eigenvalue is about %.2g): the equations "
                "are stiff; an implicit method may be faster, --method radau3",
                r->stiffness);
}

/* Places where it could not be decided whether an event or the section is crossed. */
static void event_notes(ag_ctx *ctx, const finished *o) {
  const ag_run_result *r = o->result;
  for (int e = 0; e < r->n_event; e++) {
    const ag_doubt *d = &r->doubts[e];
    const ag_event *event = ag_run_event(o->system, o->options, e);
    if (r->fitted[e] && r->event_count[e] && !d->lost)
      ag_ctx_note(ctx, event->pos, "`%s` cannot be enclosed: that all its crossings were found is not proved",
                  event->name);
    if (d->loose > 0)
      ag_ctx_note(ctx, event->pos,
                  "`%s` crosses zero near t = %.10g with hardly any slope: as far as the motion is known, the crossing "
                  "is within %.1g of that",
                  event->name, d->loose_t, d->loose);
    if (d->lost)
      ag_ctx_warn(ctx, event->pos,
                  "undecided from t = %.10g on: `%s` changes too quickly for the work of a step, and crossings may be "
                  "missing; shorter steps find them (--max-step, or --dt with fixed steps)",
                  d->lost_t, event->name);
    if (!d->n) continue;
    if (d->n == 1)
      ag_ctx_warn(ctx, event->pos,
                  "undecided near t = %.10g whether `%s` touches zero: tolerances are not small enough", d->first,
                  event->name);
    else
      ag_ctx_warn(ctx, event->pos,
                  "undecided near t = %.10g and at %ld other places, the last at %.10g, whether `%s` touches zero: "
                  "tolerances are not small enough",
                  d->first, d->n - 1, d->last, event->name);
  }
}

/* ---- all of them ---- */

void ag_record_notes(ag_ctx *ctx, const ag_model *m, const ag_record *record, const double *values, const char *when) {
  for (int i = 0; i < record->n_column; i++) {
    const ag_column *c = &record->columns[i];
    bool finite = true, infinite = false;
    for (int k = 0; k < c->rows * c->cols; k++) {
      finite = finite && isfinite(values[c->offset + k]);
      infinite = infinite || isinf(values[c->offset + k]);
    }
    if (!finite && c->kind == AG_COL_OBSERVABLE && strstr(c->name, ".slip_ratio"))
      ag_ctx_note(ctx, (ag_pos){0}, "%s is %s %s: %s", c->name, infinite ? "infinite" : "not defined", when,
                  infinite ? "friction acts, but no normal force" : "neither friction nor a normal force acts");
    if (finite || (c->kind == AG_COL_OBSERVABLE && ag_body_observes(m, c->name))) continue;
    const char *what = c->kind == AG_COL_OBSERVABLE ? "observable " : "";
    ag_ctx_warn(ctx, (ag_pos){0}, "%s%s is not finite %s", what, c->name, when);
  }
}

void ag_run_left(const ag_system *sys, const ag_run_result *r, ag_text *out) {
  const ag_model *m = ag_system_model(sys);
  if (!r->left) return;
  ag_print(ag_model_nodes(m), ag_model_domains(m)[r->left - 1].x, out);
  ag_text_printf(out, " = %.6g at t = %.6g, not in %.6g..%.6g", r->left_value, r->left_t, r->left_from, r->left_to);
}

bool ag_run_notes(ag_ctx *ctx, const ag_system *sys, const ag_record *record, const ag_run_options *options,
                  const ag_run_result *r) {
  const finished o = {sys, record, options, r};
  const ag_pos nowhere = {0};
  const bool doubtful = energy_notes(ctx, &o);
  ag_record_notes(ctx, ag_system_model(sys), record, r->record, "at the end");
  undefined_notes(ctx, &o);
  contact_notes(ctx, &o);
  motion_notes(ctx, &o);
  event_notes(ctx, &o);
  if (r->engine_note) ag_ctx_note(ctx, nowhere, "%s", r->engine_note);
  if (r->renewed) ag_ctx_note(ctx, nowhere, "%s", r->renewed);
  ag_text left = {0};
  ag_run_left(sys, r, &left);
  if (left.n && ag_end_status(r->end) != AG_OK) ag_ctx_note(ctx, nowhere, "it had left its domain: %s", left.s);
  ag_text_done(&left);
  return doubtful;
}
