/* SPDX-License-Identifier: MIT
 * Which columns of a record follow from the core of a motion alone, and computing them. A rotation that the core knows
 * only through images R^T c is replaced by them; whatever still reads a reconstructed coordinate needs the rest. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "run/batch.h"

bool ag_watch_init(ag_watch *w, ag_system *sys, const ag_run_options *o) {
  const ag_model *m = ag_system_model(sys);
  int n_events = o->events && ag_system_role(sys, AG_ROLE_EVENTS) ? ag_model_n_events(m) : 0;
  *w = (ag_watch){.n = n_events + (o->section > 0), .first = ag_model_n_events(m) - n_events};
  if (!w->n) return true;
  ag_id *outs = ag_heap_alloc(sizeof *outs * (size_t)w->n);
  w->way = ag_heap_alloc(sizeof *w->way * (size_t)w->n);
  for (int i = 0; i < w->n; i++) {
    const ag_event *e = ag_run_event(sys, o, w->first + i);
    outs[i] = e->x;
    w->way[i] = e->direction;
  }
  w->tape = ag_system_reduced_tape(sys, w->n, outs, &w->reads_rest);
  free(outs);
  return w->tape != NULL;
}

void ag_watch_done(ag_watch *w) {
  ag_tape_free(w->tape);
  free(w->way);
  *w = (ag_watch){0};
}

/* With multipliers as unknowns the state is the full one. */
static ag_tape *on_full(ag_system *sys, int n, const ag_id *outs) {
  bool lambda;
  ag_tape *tape = ag_system_tape(sys, n, outs, &lambda);
  AG_ASSERT(!lambda);
  return tape;
}

ag_tape *ag_run_watch(ag_system *sys, const ag_run_options *o) {
  const ag_model *m = ag_system_model(sys);
  int n = ag_run_n_event(sys, o), first = o->events && ag_system_role(sys, AG_ROLE_EVENTS) ? 0 : ag_model_n_events(m);
  if (first == n) return NULL;
  ag_id *outs = ag_heap_alloc(sizeof *outs * (size_t)n);
  bool rest;
  for (int e = first; e < n; e++) {
    ag_id x = ag_run_event(sys, o, e)->x;
    outs[e - first] = ag_model_has_force(m, 1, &x) ? ag_num(ag_system_graph(sys), NAN) : x;
  }
  ag_tape *tape = o->multipliers ? on_full(sys, n - first, outs) : ag_system_reduced_tape(sys, n - first, outs, &rest);
  free(outs);
  return tape;
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
