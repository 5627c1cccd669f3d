/* SPDX-License-Identifier: MIT
 * One run: options in, columns out. */
#include <stdlib.h>
#include <string.h>

#include "api/api_internal.h"

struct anagyre_motion {
  ag_heap *heap; /* NULL: of the program */
  ag_record record;
  long n;          /* rows kept */
  double *columns; /* as ag_api_columns makes them */
  ag_run_result result;
  const ag_stepper *method;
  char **event_names; /* as the result counts them */
  ag_text notes;
};

/* ---- on the way ---- */

/* The constraints along the whole motion: largest residual seen, at every accepted state of the first 128 and at
 * every 32nd later on (computing and checking the full state costs half a compiled step). */
enum { WATCH_FIRST = 128, WATCH_EVERY = 32 };
typedef struct watch {
  ag_work *work;
  double worst;
} watch;

static void watch_state(void *self, double t, const double *x) {
  watch *w = self;
  double residual = ag_work_residual(w->work, t, x);
  if (!(residual <= w->worst)) w->worst = residual;
}

typedef struct rows {
  const anagyre_options *o;
  ag_series kept;
} rows;

static bool take_row(void *self, const double *record) {
  rows *r = self;
  if (!r->o->row) return ag_series_row(&r->kept, record);
  ag_heap_pause here = ag_heap_leave_to_host();
  int ends = r->o->row(r->o->self, record, r->kept.width);
  ag_heap_back_from_host(here);
  return !ends;
}

static void show_progress(void *self, double at, long steps) {
  const anagyre_options *o = self;
  ag_heap_pause here = ag_heap_leave_to_host();
  o->progress(o->self, at, steps);
  ag_heap_back_from_host(here);
}

static ag_status move(ag_ctx *ctx, ag_system *sys, const anagyre_options *wish, ag_run_options *o,
                      const ag_api_hooks *hooks, rows *sink, ag_run_result *result) {
  double *x0 = ag_heap_alloc(sizeof *x0 * (size_t)(ag_system_dims(sys)->x + 1));
  ag_system_state0(sys, x0);
  ag_run_prepare(sys, o);
  ag_tape *functions = ag_run_watch(sys, o), *columns = ag_run_columns(sys, o), *guard = ag_system_guard(sys);
  watch seen = {.work = ag_work_create(sys, ag_system_param_values(sys))};
  o->watch = functions, o->columns = columns, o->guard = guard;
  if (wish->progress) o->progress = show_progress, o->progress_self = (void *)wish;
  if (ag_system_dims(sys)->row) o->each = watch_state, o->each_self = &seen;
  o->each_first = WATCH_FIRST, o->each_every = WATCH_EVERY;
  if (hooks) o->event = hooks->event, o->save = hooks->save, o->save_self = hooks->self, o->from = hooks->from;
  if (o->from) seen.worst = hooks->residual_max;
  ag_sink to = {take_row, sink};
  ag_status status = ag_run(ctx, sys, ag_system_param_values(sys), x0, o, &to, result);
  if (status == AG_OK && !(seen.worst <= result->residual_max)) result->residual_max = seen.worst;
  ag_work_free(seen.work);
  ag_tape_free(functions);
  ag_tape_free(columns);
  ag_tape_free(guard);
  free(x0);
  return status;
}

/* ---- the result ---- */

static void take_notes(anagyre_motion *r, const anagyre_model *m, const ag_run_options *o, double stiffness) {
  ag_ctx ctx = {.file = m->path, .source = m->text};
  if (r->result.why) ag_text_printf(&r->notes, "%s\n", r->result.why);
  if (stiffness > 0) ag_run_note_choice(&ctx, o->method, stiffness);
  (void)ag_run_notes(&ctx, m->system, &r->record, o, &r->result);
  ag_ctx_render(&ctx, &r->notes);
  ag_ctx_done(&ctx);
  if (!r->result.left || anagyre_motion_failed(r)) return; /* reported with a failure */
  ag_text_str(&r->notes, "note: it left its domain: ");
  ag_run_left(m->system, &r->result, &r->notes);
  ag_text_char(&r->notes, '\n');
}

static void take_events(anagyre_motion *r, const ag_system *sys, const ag_run_options *o) {
  int n = r->result.n_event;
  r->event_names = ag_heap_alloc(sizeof *r->event_names * (size_t)(n + 1));
  for (int i = 0; i < n; i++) r->event_names[i] = ag_api_copy(ag_run_event(sys, o, i)->name);
}

void ag_api_choose(ag_system *sys, ag_run_options *o, double *stiffness) {
  double *x0 = ag_heap_alloc(sizeof *x0 * (size_t)(ag_system_dims(sys)->x + 1));
  ag_system_state0(sys, x0);
  o->method = ag_run_choose(sys, x0, o, stiffness);
  free(x0);
}

anagyre_motion *ag_api_run(anagyre_model *m, const anagyre_options *given, const ag_api_hooks *hooks) {
  anagyre_options wish;
  ag_run_options o;
  if (!m) return NULL;
  ag_ctx_done(&m->call);
  if (!ag_api_model(m) || !ag_api_options(&m->call, given, &wish)) return NULL;
  if (!ag_api_run_options(&m->call, &wish, &o)) return NULL;
  if (wish.section && !(o.section = ag_api_section(&m->call, m->model, wish.section))) return NULL;
  ag_derive_options how = ag_run_derive(&o, wish.strict);
  ag_system *sys = ag_api_system(m, &how);
  if (!sys) return NULL;
  double stiffness = 0;
  if (!wish.method) ag_api_choose(sys, &o, &stiffness);
  anagyre_motion *r = ag_heap_alloc(sizeof *r);
  r->method = o.method;
  ag_api_record_init(&r->record, sys);
  rows sink = {&wish, {.width = r->record.width}};
  if (move(&m->call, sys, &wish, &o, hooks, &sink, &r->result) != AG_OK) {
    ag_series_done(&sink.kept);
    anagyre_motion_free(r);
    return NULL;
  }
  r->n = sink.kept.n;
  r->columns = ag_api_columns(&r->record, r->n, sink.kept.data);
  ag_series_done(&sink.kept);
  take_notes(r, m, &o, stiffness);
  take_events(r, sys, &o);
  return r;
}

typedef struct running {
  anagyre_model *m;
  const anagyre_options *o;
  ag_heap *heap; /* of the motion, which outlives the model */
  anagyre_motion *r;
} running;

static void run_call(void *self) {
  running *c = self;
  anagyre_motion *r = ag_api_run(c->m, c->o, NULL);
  if (r && c->heap) {
    for (int i = 0; i < r->result.n_event; i++) ag_heap_move(r->event_names[i], c->heap);
    ag_api_record_move(&r->record, c->heap);
    ag_run_move(&r->result, c->heap);
    void *const blocks[] = {r->event_names, r->notes.s, r->columns, r};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) ag_heap_move(blocks[i], c->heap);
    r->heap = c->heap;
  }
  c->r = r;
}

anagyre_motion *anagyre_run(anagyre_model *m, const anagyre_options *o) {
  running c = {.m = m, .o = o};
  if (m && ag_api_result_heap(m, &c.heap) && ag_api_call(m, run_call, &c) && c.r) return c.r;
  if (c.heap) ag_heap_wipe(c.heap);
  ag_heap_close(c.heap);
  return NULL;
}

void anagyre_motion_free(anagyre_motion *r) {
  if (!r) return;
  ag_heap *heap = r->heap, *was = heap ? ag_heap_use(heap) : ag_heap_current();
  for (int i = 0; r->event_names && i < r->result.n_event; i++) free(r->event_names[i]);
  free(r->event_names);
  ag_run_done(&r->result);
  ag_api_record_done(&r->record);
  ag_text_done(&r->notes);
  free(r->columns);
  free(r);
  ag_heap_use(was);
  ag_heap_close(heap);
}

/* ---- reading it ---- */

const ag_run_result *ag_api_result(const anagyre_motion *r) { return &r->result; }
const ag_record *ag_api_record(const anagyre_motion *r) { return &r->record; }

/* Rows are handed to the caller, who may end the run, or kept in memory, which does not fail. */
static bool caller_ended(const anagyre_motion *r) { return r->result.end == AG_END_SINK; }

const char *anagyre_motion_end(const anagyre_motion *r) {
  return caller_ended(r) ? "ended by the caller" : ag_end_word(r->result.end);
}
const char *anagyre_motion_notes(const anagyre_motion *r) { return ag_text_cstr(&r->notes); }
int anagyre_motion_failed(const anagyre_motion *r) { return !caller_ended(r) && ag_end_status(r->result.end) != AG_OK; }
double anagyre_motion_residual(const anagyre_motion *r) { return r->result.residual_max; }
long anagyre_motion_steps(const anagyre_motion *r) { return r->result.steps; }
long anagyre_motion_rejected(const anagyre_motion *r) { return r->result.rejected; }

const char *anagyre_motion_method(const anagyre_motion *r) { return r->method->name; }

const char *anagyre_motion_end_event(const anagyre_motion *r) {
  return r->result.end == AG_END_EVENT && r->result.end_event >= 0 ? r->event_names[r->result.end_event] : NULL;
}

const char *anagyre_motion_item(const anagyre_motion *r, int i) {
  return i >= 0 && i < r->record.n_column ? r->record.columns[i].name : NULL;
}

anagyre_array anagyre_motion_column(const anagyre_motion *r, const char *name) {
  return ag_api_view(&r->record, r->n, r->columns, name);
}

anagyre_array anagyre_motion_final(const anagyre_motion *r, const char *name) {
  return ag_api_view(&r->record, 1, r->result.record, name);
}

anagyre_array anagyre_motion_events(const anagyre_motion *r, const char *event) {
  static const double none = 0;
  for (int i = 0; i < r->result.n_event; i++) {
    if (strcmp(r->event_names[i], event)) continue;
    int n = r->result.event_count[i];
    return (anagyre_array){n ? r->result.event_times[i] : &none, n, 1, 1, 1};
  }
  return (anagyre_array){0};
}

double anagyre_motion_energy_drift(const anagyre_motion *r) { return ag_run_drift(&r->record, &r->result); }
