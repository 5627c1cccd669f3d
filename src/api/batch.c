/* SPDX-License-Identifier: MIT
 * Many runs: values of members in, final columns out. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "api/api_internal.h"

struct anagyre_batch {
  ag_heap *heap; /* NULL: of the program */
  ag_record record;
  long n, n_failed;
  ag_batch_result result; /* of those that started */
  long *row;              /* per member: its place there, -1: it did not start */
  char **reason;          /* per member: why it did not start, or NULL */
  double *columns;        /* at the end, per column one number or tensor for each member; NULL: not collected */
  ag_text notes;
  double **points; /* with a section, per member that started: columns at its crossings; else NULL */
};

/* ---- starts ---- */

char *ag_api_first_error(const ag_ctx *ctx) {
  for (int i = 0; i < ctx->n_diag; i++)
    if (ctx->diags[i].severity == AG_ERROR) return ag_api_copy(ctx->diags[i].message);
  return ag_api_copy("the start could not be completed");
}

/* Completes the start of every member. */
static void start_all(ag_api_members *m, int n_name, const double *values) {
  const ag_dims *dims = ag_system_dims(ag_varied_system(m->varied));
  size_t n = (size_t)m->n, n_x = (size_t)dims->x, n_param = (size_t)dims->param;
  double *params = ag_heap_alloc(sizeof *params * (n * n_param + 1)), *x = ag_heap_alloc(sizeof *x * (n * n_x + 1));
  long *row = ag_heap_alloc(sizeof *row * n);
  char **reason = ag_heap_alloc(sizeof *reason * n);
  ag_system **own = ag_heap_alloc(sizeof *own * (n + 1));
  for (long i = 0; i < m->n; i++) {
    ag_ctx ctx = {0};
    size_t at = (size_t)m->n_ready;
    bool good = ag_varied_start_own(&ctx, m->varied, values + i * n_name, params + at * n_param, x + at * n_x,
                                    &own[at]) == AG_OK;
    row[i] = good ? m->n_ready++ : -1;
    if (!good) reason[i] = ag_api_first_error(&ctx);
    ag_ctx_done(&ctx);
  }
  m->row = row;
  m->reason = reason;
  m->params = params;
  m->x = x;
  m->own = own;
}

static void starts_done(ag_api_members *m) {
  for (long i = 0; i < m->n; i++) free(m->reason[i]);
  const void *all[] = {m->row, m->reason, m->params, m->x, m->own};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) free((void *)all[i]);
}

/* ---- options ---- */

bool ag_api_next_column(const char **text, ag_text *name) {
  if (!*text) return false;
  ag_text_clear(name);
  int depth = 0;
  const char *s = *text;
  for (; *s && (*s != ',' || depth > 0); s++) {
    depth += (*s == '[') - (*s == ']');
    if (*s != ' ') ag_text_char(name, *s);
  }
  *text = *s ? s + 1 : NULL;
  return true;
}

/* One bool per column; false: reported. */
static bool choose_columns(ag_ctx *ctx, const ag_record *record, const char *text, bool *wanted) {
  ag_text name = {0};
  int before = ctx->n_error, entry;
  while (ctx->n_error == before && ag_api_next_column(&text, &name)) {
    const ag_column *c = ag_record_find(record, ag_text_cstr(&name), &entry);
    if (c) wanted[c - record->columns] = true;
    else ag_ctx_error(ctx, ag_api_nowhere, "there is no column '%s'", ag_text_cstr(&name));
  }
  ag_text_done(&name);
  return ctx->n_error == before;
}

bool ag_api_needs_events(const ag_model *m) {
  for (int i = 0; i < ag_model_n_events(m); i++)
    if (ag_model_events(m)[i].terminal || ag_model_events(m)[i].cuts) return true;
  return false;
}

static void show_progress(void *self, long done, long n) {
  const anagyre_options *o = self;
  (void)n;
  ag_heap_pause here = ag_heap_leave_to_host();
  o->progress(o->self, (double)done, 0);
  ag_heap_back_from_host(here);
}

/* ---- running ---- */

/* Records of the members that started, put in their places as columns. */
static void collect(anagyre_batch *b) {
  const ag_batch_result *r = &b->result;
  size_t width = (size_t)b->record.width;
  double *rows = ag_heap_alloc(sizeof *rows * ((size_t)b->n * width + 1));
  for (size_t i = 0; i < (size_t)b->n * width; i++) rows[i] = NAN;
  for (long i = 0; i < b->n; i++)
    if (b->row[i] >= 0) memcpy(rows + (size_t)i * width, r->records + (size_t)b->row[i] * width, sizeof *rows * width);
  b->columns = ag_api_columns(&b->record, b->n, rows);
  free(rows);
  if (!r->points) return;
  b->points = ag_heap_alloc(sizeof *b->points * (size_t)(r->n + 1));
  for (long i = 0; i < r->n; i++) b->points[i] = ag_api_columns(&b->record, r->points[i].n, r->points[i].data);
}

anagyre_batch *ag_api_run_members(ag_ctx *ctx, const ag_api_members *m, const ag_batch_options *options) {
  ag_batch_options o = *options;
  anagyre_batch *b = ag_heap_alloc(sizeof *b);
  b->n = m->n;
  b->row = ag_heap_alloc(sizeof *b->row * (size_t)(m->n + 1));
  b->reason = ag_heap_alloc(sizeof *b->reason * (size_t)(m->n + 1));
  for (long i = 0; i < m->n; i++) {
    b->row[i] = m->row[i];
    if (m->reason[i]) b->reason[i] = ag_api_copy(m->reason[i]);
  }
  ag_api_record_init(&b->record, ag_varied_system(m->varied));
  ag_run_prepare(ag_varied_system(m->varied), &o.run);
  for (long i = 0; m->own && i < m->n_ready; i++) {
    if (!m->own[i]) continue;
    o.own = m->own;
    if (!i || m->own[i] != m->own[i - 1]) ag_run_prepare(m->own[i], &o.run);
  }
  if (ag_batch(ctx, ag_varied_system(m->varied), m->n_ready, m->params, m->x, &o, &b->result) == AG_OK) {
    for (long i = 0; i < b->n; i++) b->n_failed += anagyre_batch_failed(b, i);
    return b;
  }
  anagyre_batch_free(b);
  return NULL;
}

static void take_notes(anagyre_batch *b, const ag_varied *v, const ag_run_options *o) {
  ag_ctx ctx = {0};
  (void)ag_api_batch_notes(&ctx, b, ag_varied_system(v), o);
  if (b->result.note) ag_ctx_note(&ctx, ag_api_nowhere, "member by member: %s", b->result.note);
  ag_ctx_render(&ctx, &b->notes);
  ag_ctx_done(&ctx);
}

/* The members as the caller of the library gives them. */
static anagyre_batch *run_values(ag_ctx *ctx, ag_api_members *m, int n_name, const double *values,
                                 const anagyre_options *wish, ag_run_options *run) {
  ag_varied *v = m->varied;
  ag_batch_options o;
  ag_batch_defaults(&o);
  if (wish->section && !(run->section = ag_api_section(ctx, ag_varied_model(v), wish->section))) return NULL;
  const char *single = run->project                  ? "project"
                       : wish->every > 0             ? "every"
                       : wish->row                   ? "row"
                       : run->noise == AG_NOISE_PATH ? "noise \"path\""
                                                     : NULL;
  if (single) {
    ag_ctx_error(ctx, ag_api_nowhere, "the option %s applies to a single run", single);
    return NULL;
  }
  o.run = *run;
  o.run.events = run->events && ag_api_needs_events(ag_varied_model(v));
  o.lanes = wish->lanes;
  o.threads = wish->threads;
  if (wish->progress) o.progress = show_progress, o.progress_self = (void *)wish;
  ag_record record;
  ag_api_record_init(&record, ag_varied_system(v));
  bool *wanted = ag_heap_alloc((size_t)record.n_column + 1);
  anagyre_batch *b = NULL;
  if (wish->columns) o.columns = wanted;
  if (!wish->columns || choose_columns(ctx, &record, wish->columns, wanted)) {
    start_all(m, n_name, values);
    b = ag_api_run_members(ctx, m, &o);
    if (b) collect(b);
    if (b) take_notes(b, v, &o.run);
    starts_done(m);
  }
  free(wanted);
  ag_api_record_done(&record);
  return b;
}

/* The equations are derived with the values of one member; the first, the middle and the last one are tried. */
static ag_varied *derive(anagyre_model *m, long n, int n_name, const char *const *names, const double *values,
                         const ag_derive_options *o) {
  long tries[3] = {0, n / 2, n - 1};
  ag_varied *v = NULL;
  for (int i = 0; i < 3 && !v; i++) {
    ag_ctx_done(&m->call);
    v = ag_varied_create(&m->call, m, "anagyre_run_many", n_name, names, values + tries[i] * n_name, o);
  }
  return v;
}

typedef struct running {
  anagyre_model *m;
  long n;
  int n_name;
  const char *const *names;
  const double *values;
  const anagyre_options *o;
  ag_heap *heap; /* of the batch, which outlives the model */
  anagyre_batch *b;
} running;

static anagyre_batch *run_many(const running *c) {
  anagyre_model *m = c->m;
  anagyre_options wish;
  ag_run_options run;
  ag_ctx_done(&m->call);
  if (!ag_api_model(m) || !ag_api_options(&m->call, c->o, &wish)) return NULL;
  if (c->n < 1 || c->n_name < 0) ag_ctx_error(&m->call, ag_api_nowhere, "there are no members to run");
  if (m->call.n_error || !ag_api_run_options(&m->call, &wish, &run)) return NULL;
  ag_derive_options how = ag_run_derive(&run, wish.strict);
  ag_varied *v = derive(m, c->n, c->n_name, c->names, c->values, &how);
  if (!v) return NULL;
  anagyre_batch *b = run_values(&m->call, &(ag_api_members){.varied = v, .n = c->n}, c->n_name, c->values, &wish, &run);
  ag_varied_free(v);
  return b;
}

static void run_call(void *self) {
  running *c = self;
  anagyre_batch *b = run_many(c);
  if (b && c->heap) {
    for (long i = 0; i < b->n; i++) ag_heap_move(b->reason[i], c->heap);
    for (long i = 0; b->points && i < b->result.n; i++) ag_heap_move(b->points[i], c->heap);
    ag_batch_move(&b->result, c->heap);
    ag_api_record_move(&b->record, c->heap);
    void *const blocks[] = {b->reason, b->points, b->row, b->columns, b->notes.s, b};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) ag_heap_move(blocks[i], c->heap);
    b->heap = c->heap;
  }
  c->b = b;
}

anagyre_batch *anagyre_run_many(anagyre_model *m, long n, int n_name, const char *const *names, const double *values,
                                const anagyre_options *o) {
  running c = {.m = m, .n = n, .n_name = n_name, .names = names, .values = values, .o = o};
  if (m && ag_api_result_heap(m, &c.heap) && ag_api_call(m, run_call, &c) && c.b) return c.b;
  if (c.heap) ag_heap_wipe(c.heap);
  ag_heap_close(c.heap);
  return NULL;
}

void anagyre_batch_free(anagyre_batch *b) {
  if (!b) return;
  ag_heap *heap = b->heap, *was = heap ? ag_heap_use(heap) : ag_heap_current();
  for (long i = 0; i < b->n; i++) free(b->reason[i]);
  for (long i = 0; b->points && i < b->result.n; i++) free(b->points[i]);
  free(b->reason);
  free(b->points);
  free(b->row);
  free(b->columns);
  ag_text_done(&b->notes);
  ag_batch_done(&b->result);
  ag_api_record_done(&b->record);
  free(b);
  ag_heap_use(was);
  ag_heap_close(heap);
}

/* ---- reading it ---- */

const ag_batch_result *ag_api_batch_result(const anagyre_batch *b) { return &b->result; }
const ag_record *ag_api_batch_record(const anagyre_batch *b) { return &b->record; }
long ag_api_batch_row(const anagyre_batch *b, long i) { return i >= 0 && i < b->n ? b->row[i] : -1; }

/* NULL: it did not start, or there is none. */
static const ag_batch_member *member_of(const anagyre_batch *b, long i) {
  long row = ag_api_batch_row(b, i);
  return row >= 0 ? &b->result.members[row] : NULL;
}

long anagyre_batch_size(const anagyre_batch *b) { return b->n; }
long anagyre_batch_n_failed(const anagyre_batch *b) { return b->n_failed; }
long anagyre_batch_steps(const anagyre_batch *b, long i) { return member_of(b, i) ? member_of(b, i)->steps : 0; }

const char *anagyre_batch_end(const anagyre_batch *b, long i) {
  if (i < 0 || i >= b->n) return "there is no such member";
  return b->reason[i] ? b->reason[i] : ag_end_word(member_of(b, i)->end);
}

int anagyre_batch_failed(const anagyre_batch *b, long i) {
  return !member_of(b, i) || ag_end_status(member_of(b, i)->end) != AG_OK;
}

const char *anagyre_batch_notes(const anagyre_batch *b) { return ag_text_cstr(&b->notes); }

const char *anagyre_batch_item(const anagyre_batch *b, int i) {
  return i >= 0 && i < b->record.n_column ? b->record.columns[i].name : NULL;
}

anagyre_array anagyre_batch_column(const anagyre_batch *b, const char *name) {
  return ag_api_view(&b->record, b->n, b->columns, name);
}

anagyre_array anagyre_batch_points(const anagyre_batch *b, long i, const char *name) {
  long row = ag_api_batch_row(b, i);
  if (row < 0 || !b->points) return (anagyre_array){0};
  return ag_api_view(&b->record, b->result.points[row].n, b->points[row], name);
}
