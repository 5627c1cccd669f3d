/* SPDX-License-Identifier: MIT
 * Which columns of a record follow from the core of a motion alone, and computing them. A rotation that the core knows
 * only through images R^T c is replaced by them; whatever still reads a reconstructed coordinate needs the rest. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "run/batch.h"
#include "run/run_internal.h"

/* With multipliers as unknowns the state is the full one. */
static ag_tape *on_full(ag_system *sys, int n, const ag_id *outs) {
  bool lambda;
  ag_tape *tape = ag_system_tape(sys, n, outs, &lambda);
  AG_ASSERT(!lambda);
  return tape;
}

/* The event functions, from `first` on. Forces of constraint are functions of the state: enclosures of
 * them would be too wide, since they are solved for. *absent: some are not available, and are NaN. */
static ag_tape *functions(ag_system *sys, const ag_run_options *o, int first, bool *reads_rest, bool *absent) {
  const ag_model *m = ag_system_model(sys);
  int n = ag_run_n_event(sys, o) - first;
  ag_id *outs = ag_heap_alloc(sizeof *outs * (size_t)(n + 1));
  bool *forced = ag_heap_alloc((size_t)n + 1), any = false, full = ag_run_full(sys, o);
  *absent = *reads_rest = false;
  for (int i = 0; i < n; i++) {
    outs[i] = ag_run_event(sys, o, first + i)->x;
    forced[i] = ag_model_has_force(m, 1, &outs[i]);
    any = any || forced[i];
    if (!forced[i] || (!full && ag_system_forces(sys, 1, &outs[i]))) continue;
    outs[i] = ag_num(ag_system_graph(sys), NAN);
    *absent = true;
  }
  ag_tape *tape = full ? on_full(sys, n, outs) : ag_system_reduced_tape(sys, n, outs, reads_rest);
  if (any) ag_enclose_without(tape, forced);
  if (!full) ag_system_look_tapes(sys, n, outs, any ? forced : NULL, tape);
  if (!any) free(forced);
  free(outs);
  return tape;
}

/* Equations that switch: a step in which they may do so is made by the code of a single run. */
static const char *watch_switches(ag_watch *w, const ag_system *sys) {
  if (w->n) return "the equations switch between branches on the way, and an event or a section is looked for";
  const ag_tape *tape = ag_system_role(sys, AG_ROLE_SWITCHES);
  int n = tape->n_out;
  bool *bounded = ag_heap_alloc((size_t)n + 1), all = true;
  ag_enclose_bounded(tape, bounded);
  for (int k = 0; k < n; k++) all = all && bounded[k];
  free(bounded);
  if (!all) return "the equations switch on the way where a function is zero that has no bounds";
  *w = (ag_watch){
      .n = n, .tape = (ag_tape *)tape, .switches = true, .way = w->way, .cuts = w->cuts, .counts = w->counts};
  for (int k = 0; k < n; k++) w->way[k] = 0, w->cuts[k] = w->counts[k] = true;
  return NULL;
}

const char *ag_watch_init(ag_watch *w, ag_system *sys, const ag_run_options *o) {
  const ag_model *m = ag_system_model(sys);
  int n_events = o->events && ag_system_role(sys, AG_ROLE_EVENTS) ? ag_model_n_events(m) : 0;
  bool absent, any = o->section > 0;
  *w = (ag_watch){.n = n_events + (o->section > 0), .first = ag_model_n_events(m) - n_events};
  const size_t most = (size_t)(w->n + ag_system_dims(sys)->switches) + 1;
  w->way = ag_heap_alloc(sizeof *w->way * most);
  w->cuts = ag_heap_alloc(most);
  w->counts = ag_heap_alloc(most);
  for (int i = 0; i < w->n; i++) {
    const ag_event *e = ag_run_event(sys, o, w->first + i);
    w->way[i] = e->direction, w->cuts[i] = e->cuts;
    w->counts[i] = i == n_events || e->terminal || e->cuts;
    any = any || w->counts[i];
  }
  if (!any) w->n = 0;
  if (ag_system_dims(sys)->switches) return watch_switches(w, sys);
  if (!w->n) return NULL;
  w->tape = functions(sys, o, w->first, &w->reads_rest, &absent);
  return absent ? "an event or the section needs forces of constraint that are not functions of the state" : NULL;
}

void ag_watch_done(ag_watch *w) {
  if (!w->switches) ag_tape_free(w->tape);
  free(w->way);
  free(w->cuts);
  free(w->counts);
  *w = (ag_watch){0};
}

ag_tape *ag_run_watch(ag_system *sys, const ag_run_options *o) {
  int n = ag_model_n_events(ag_system_model(sys)), first = o->events && ag_system_role(sys, AG_ROLE_EVENTS) ? 0 : n;
  bool rest, absent;
  return first == ag_run_n_event(sys, o) ? NULL : functions(sys, o, first, &rest, &absent);
}

/* Forces of constraint are not functions of the state alone; time is known. */
static bool is_function(const ag_system *sys, const ag_column *c) {
  return c->x && c->kind != AG_COL_TIME && !ag_model_has_force(ag_system_model(sys), 1, &c->x);
}

ag_tape *ag_run_columns(ag_system *sys, const ag_run_options *o) {
  ag_record record;
  bool rest;
  int n = 0;
  if (o->noise != AG_NOISE_PATH || !ag_mover_in_place(sys, o)) return NULL;
  if (!ag_system_role(sys, AG_ROLE_AGREE) && ag_system_corrects(sys)) return NULL;
  ag_record_init(&record, sys);
  ag_id *outs = ag_heap_alloc(sizeof *outs * (size_t)(record.n_column + 1));
  for (int i = 0; i < record.n_column; i++)
    if (is_function(sys, &record.columns[i])) outs[n++] = record.columns[i].x;
  ag_system_related(sys, n, outs);
  ag_tape *tape = ag_system_reduced_tape(sys, n, outs, &rest);
  free(outs);
  ag_record_done(&record);
  return tape;
}

int ag_run_columns_at(const ag_system *sys, int *at) {
  ag_record record;
  int n = 0;
  ag_record_init(&record, sys);
  for (int i = 0; i < record.n_column; i++) {
    const ag_column *c = &record.columns[i];
    for (int k = 0; k < c->rows * c->cols && is_function(sys, c); k++) at[n++] = c->offset + k;
  }
  ag_record_done(&record);
  return n;
}

/* The expressions of the requested columns, and where their numbers go; -1 if one of them has no expression. */
static int expressions(const ag_record *record, const bool *wanted, ag_id *outs, int *at) {
  int n = 0, n_at = 0;
  for (int i = 0; i < record->n_column; i++) {
    const ag_column *c = &record->columns[i];
    if (!wanted[i]) continue;
    if (!c->x) return -1;
    outs[n++] = c->x;
    for (int k = 0; k < c->rows * c->cols; k++) at[n_at++] = c->offset + k;
  }
  return n;
}

bool ag_core_columns_init(ag_core_columns *c, ag_system *sys, const bool *wanted) {
  const ag_dims *dims = ag_system_dims(sys);
  ag_record record;
  *c = (ag_core_columns){0};
  if (!wanted || dims->core == dims->z || dims->c || dims->g) return false;
  if (ag_system_reads_rest(sys, AG_ROLE_MINOR)) return false; /* minors are watched */
  ag_record_init(&record, sys);
  ag_id *outs = ag_heap_alloc(sizeof *outs * (size_t)(record.n_column + 1));
  bool rest = false;
  c->at = ag_heap_alloc(sizeof *c->at * (size_t)record.width);
  int n = expressions(&record, wanted, outs, c->at);
  if (n >= 0) c->tape = ag_system_reduced_tape(sys, n, outs, &rest);
  free(outs);
  ag_record_done(&record);
  if (c->tape && !rest) return true;
  ag_core_columns_done(c);
  return false;
}

void ag_core_columns_done(ag_core_columns *c) {
  ag_tape_free(c->tape);
  free(c->at);
  *c = (ag_core_columns){0};
}

void ag_core_columns_fill(const ag_core_columns *c, double t, const double *z, const double *params, double *slots,
                          double *out, double *record) {
  const double *seg[AG_SEG_COUNT] = {[AG_SEG_T] = &t, [AG_SEG_Z] = z, [AG_SEG_P] = params};
  (void)ag_tape_prep(c->tape, params, slots);
  (void)ag_tape_eval(c->tape, seg, slots, out);
  for (int i = 0; i < c->tape->n_out; i++) record[c->at[i]] = out[i];
}
