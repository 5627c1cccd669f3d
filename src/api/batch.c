/* SPDX-License-Identifier: MIT
 * Many runs: values of members in, final columns out. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "api/api_internal.h"

/* What came out for one member. */
typedef struct member {
  const char *reason; /* why it did not start, or NULL */
  ag_end end;
  long steps, n_point;
  double *points; /* columns at its crossings, or NULL */
} member;

struct anagyre_batch {
  ag_record record;
  long n, n_failed;
  member *members;
  double *columns; /* at the end */
};

/* ---- starts ---- */

/* The members that can start. */
typedef struct starts {
  long n, *index; /* which of all they are */
  double *params, *x;
} starts;

static char *first_error(const ag_ctx *ctx) {
  for (int i = 0; i < ctx->n_diag; i++)
    if (ctx->diags[i].severity == AG_ERROR) return ag_api_copy(ctx->diags[i].message);
  return ag_api_copy("the start could not be completed");
}

static void start_all(anagyre_batch *b, ag_varied *v, int n_name, const double *values, starts *s) {
  const ag_system *sys = ag_varied_system(v);
  size_t n = (size_t)b->n, n_x = (size_t)(sys->n_q + sys->n_xi), n_param = (size_t)sys->n_param;
  *s = (starts){.index = ag_heap_alloc(sizeof *s->index * (n + 1))};
  s->params = ag_heap_alloc(sizeof(double) * (n * n_param + 1));
  s->x = ag_heap_alloc(sizeof(double) * (n * n_x + 1));
  for (long i = 0; i < b->n; i++) {
    ag_ctx ctx = {0};
    size_t at = (size_t)s->n;
    if (ag_varied_start(&ctx, v, values + i * n_name, s->params + at * n_param, s->x + at * n_x) == AG_OK)
      s->index[s->n++] = i;
    else b->members[i].reason = first_error(&ctx);
    ag_ctx_done(&ctx);
  }
}

static void starts_done(starts *s) {
  free(s->index);
  free(s->params);
  free(s->x);
}

/* ---- options ---- */

/* "a,b[2],R[1,3]": commas inside brackets do not separate. One bool per column; false: reported. */
static bool choose_columns(ag_ctx *ctx, const ag_record *record, const char *text, bool *wanted) {
  ag_text name = {0};
  int before = ctx->n_error, entry;
  for (int depth = 0; ctx->n_error == before; text++) {
    depth += (*text == '[') - (*text == ']');
    if (*text && (*text != ',' || depth > 0)) {
      if (*text != ' ') ag_text_char(&name, *text);
      continue;
    }
    const ag_column *c = ag_api_column(record, ag_text_cstr(&name), &entry);
    if (c) wanted[c - record->columns] = true;
    else ag_ctx_error(ctx, ag_api_nowhere, "there is no column '%s'", ag_text_cstr(&name));
    ag_text_clear(&name);
    if (!*text) break;
  }
  ag_text_done(&name);
  return ctx->n_error == before;
}

/* Only events that are terminal or cut steps matter to where a motion ends; looking for them costs the lanes. */
static bool any_terminal(const ag_model *m) {
  for (int i = 0; i < m->n_events; i++)
    if (m->events[i].terminal || m->events[i].cuts) return true;
  return false;
}

static void show_progress(void *self, long done, long n) {
  const anagyre_options *o = self;
  (void)n;
  o->progress(o->self, (double)done, 0);
}

/* ---- running ---- */

/* Results of the members that started, put in their places. */
static void collect(anagyre_batch *b, const starts *s, const ag_batch_result *result) {
  size_t width = (size_t)b->record.width;
  double *rows = ag_heap_alloc(sizeof *rows * ((size_t)b->n * width + 1));
  for (size_t i = 0; i < (size_t)b->n * width; i++) rows[i] = NAN;
  for (long i = 0; i < result->n; i++) {
    member *m = &b->members[s->index[i]];
    m->end = result->members[i].end;
    m->steps = result->members[i].steps;
    memcpy(rows + (size_t)s->index[i] * width, result->records + (size_t)i * width, sizeof *rows * width);
    if (!result->points) continue;
    m->n_point = result->points[i].n;
    m->points = ag_api_columns(&b->record, m->n_point, result->points[i].data);
  }
  b->columns = ag_api_columns(&b->record, b->n, rows);
  for (long i = 0; i < b->n; i++) b->n_failed += anagyre_batch_failed(b, i);
  free(rows);
}

static ag_status run_members(ag_ctx *ctx, anagyre_batch *b, ag_varied *v, int n_name, const double *values,
                             const anagyre_options *wish, ag_run_options *run) {
  ag_batch_options o;
  ag_batch_defaults(&o);
  if (wish->section && !(run->section = ag_api_section(ctx, ag_varied_model(v), wish->section))) return AG_WRONG;
  o.run = *run;
  o.run.events = run->events && any_terminal(ag_varied_model(v));
  o.lanes = wish->lanes;
  o.threads = wish->threads;
  if (wish->progress) o.progress = show_progress, o.progress_self = (void *)wish;
  ag_api_record_init(&b->record, ag_varied_system(v));
  bool *wanted = ag_heap_alloc((size_t)b->record.n_column + 1);
  if (wish->columns) o.columns = wanted;
  ag_status status = !wish->columns || choose_columns(ctx, &b->record, wish->columns, wanted) ? AG_OK : AG_WRONG;
  if (status == AG_OK) {
    starts s;
    ag_batch_result result = {0};
    start_all(b, v, n_name, values, &s);
    status = ag_batch(ctx, ag_varied_system(v), s.n, s.params, s.x, &o, &result);
    if (status == AG_OK) collect(b, &s, &result);
    ag_batch_done(&result);
    starts_done(&s);
  }
  free(wanted);
  return status;
}

/* The equations are derived as one member has them; the first, the middle and the last one are tried. */
static ag_varied *derive(anagyre_model *m, long n, int n_name, const char *const *names, const double *values,
                         const anagyre_options *o) {
  long tries[3] = {0, n / 2, n - 1};
  ag_varied *v = NULL;
  for (int i = 0; i < 3 && !v; i++) {
    ag_ctx_done(&m->call);
    v = ag_varied_create(&m->call, m, n_name, names, values + tries[i] * n_name,
                         &(ag_derive_options){.strict = o->strict, .t0 = o->t0});
  }
  return v;
}

anagyre_batch *anagyre_run_many(anagyre_model *m, long n, int n_name, const char *const *names, const double *values,
                                const anagyre_options *given) {
  anagyre_options wish = ag_api_options(given);
  ag_run_options run;
  if (!m) return NULL;
  ag_ctx_done(&m->call);
  if (!ag_api_model(m)) return NULL;
  if (n < 1 || n_name < 0) ag_ctx_error(&m->call, ag_api_nowhere, "there are no members to run");
  if (m->call.n_error || !ag_api_run_options(&m->call, &wish, &run)) return NULL;
  ag_varied *v = derive(m, n, n_name, names, values, &wish);
  if (!v) return NULL;
  anagyre_batch *b = ag_heap_alloc(sizeof *b);
  b->n = n;
  b->members = ag_heap_alloc(sizeof *b->members * (size_t)n);
  if (run_members(&m->call, b, v, n_name, values, &wish, &run) != AG_OK) {
    anagyre_batch_free(b);
    b = NULL;
  }
  ag_varied_free(v);
  return b;
}

void anagyre_batch_free(anagyre_batch *b) {
  if (!b) return;
  for (long i = 0; i < b->n; i++) free((char *)b->members[i].reason), free(b->members[i].points);
  free(b->members);
  free(b->columns);
  ag_api_record_done(&b->record);
  free(b);
}

/* ---- reading it ---- */

static const member *member_of(const anagyre_batch *b, long i) {
  static const member none = {.reason = "there is no such member"};
  return i >= 0 && i < b->n ? &b->members[i] : &none;
}

long anagyre_batch_size(const anagyre_batch *b) { return b->n; }
long anagyre_batch_n_failed(const anagyre_batch *b) { return b->n_failed; }
long anagyre_batch_steps(const anagyre_batch *b, long i) { return member_of(b, i)->steps; }

const char *anagyre_batch_end(const anagyre_batch *b, long i) {
  const member *m = member_of(b, i);
  return m->reason ? m->reason : ag_end_word(m->end);
}

int anagyre_batch_failed(const anagyre_batch *b, long i) {
  const member *m = member_of(b, i);
  return m->reason || ag_end_status(m->end) != AG_OK;
}

const char *anagyre_batch_item(const anagyre_batch *b, int i) {
  return i >= 0 && i < b->record.n_column ? b->record.columns[i].name : NULL;
}

anagyre_array anagyre_batch_column(const anagyre_batch *b, const char *name) {
  return ag_api_view(&b->record, b->n, b->columns, name);
}

anagyre_array anagyre_batch_points(const anagyre_batch *b, long i, const char *name) {
  const member *m = member_of(b, i);
  return ag_api_view(&b->record, m->n_point, m->points, name);
}
