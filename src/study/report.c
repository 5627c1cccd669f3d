/* SPDX-License-Identifier: MIT
 * A batch run and the result of each member: bookkeeping between the requested members and those that could
 * start. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "study/study.h"

/* ---- columns ---- */

static void add_pick(ag_batch_report *b, const ag_column *column, int entry) {
  b->picks = ag_heap_grow(b->picks, sizeof *b->picks * (size_t)(b->n_pick + 1));
  b->picks[b->n_pick++] = (ag_pick){column, entry};
  b->wanted[column - b->record.columns] = true;
}

/* A column by its name, or one of its numbers as the header of a table names it. */
static bool find_pick(ag_batch_report *b, const char *name) {
  int entry;
  const ag_column *c = ag_record_find(&b->record, name, &entry);
  if (c && (entry >= 0 || c->kind != AG_COL_TIME)) add_pick(b, c, entry); /* the time is always there */
  return c != NULL;
}

ag_status ag_unknown_column(const char *option, const ag_record *record, const char *name, ag_text *usage) {
  const char **names = ag_heap_alloc(sizeof *names * (size_t)record->n_column);
  for (int i = 0; i < record->n_column; i++) names[i] = record->columns[i].name;
  const char *near = ag_nearest(name, record->n_column, names);
  ag_text_printf(usage, "--%s: there is no '%s'", option, name);
  if (near) ag_text_printf(usage, "; did you mean %s?", near);
  ag_text_str(usage, " (there are:");
  for (int i = 0; i < record->n_column && i < 40; i++) ag_text_printf(usage, " %s", names[i]);
  ag_text_char(usage, ')');
  free(names);
  return AG_WRONG;
}

static ag_status pick_columns(ag_batch_report *b, const char *text, ag_text *usage) {
  b->wanted = ag_heap_alloc((size_t)b->record.n_column + 1);
  if (!text)
    for (int i = 0; i < b->record.n_column; i++)
      if (b->record.columns[i].kind != AG_COL_TIME) add_pick(b, &b->record.columns[i], -1);
  ag_text name = {0};
  ag_status status = AG_OK;
  while (status == AG_OK && ag_api_next_column(&text, &name))
    if (!find_pick(b, ag_text_cstr(&name)))
      status = ag_unknown_column("columns", &b->record, ag_text_cstr(&name), usage);
  ag_text_done(&name);
  return status;
}

int ag_pick_size(const ag_pick *p) { return p->entry >= 0 ? 1 : p->column->rows * p->column->cols; }

int ag_pick_offset(const ag_pick *p) { return p->column->offset + (p->entry >= 0 ? p->entry : 0); }

void ag_pick_name(const ag_pick *p, int k, ag_text *out) {
  ag_text_clear(out);
  ag_column_name(p->column, p->entry >= 0 ? p->entry : k, out);
}

/* ---- running ---- */

ag_status ag_batch_report_init(ag_batch_report *b, const ag_members *m, const ag_batch_options *o, const char *columns,
                               ag_text *usage) {
  *b = (ag_batch_report){.members = m, .options = *o};
  b->options.run.section = m->section;
  b->options.run.events = o->run.events && ag_api_needs_events(ag_varied_model(m->varied));
  ag_record_init(&b->record, ag_varied_system(m->varied));
  b->row = ag_heap_alloc(sizeof *b->row * (size_t)(m->n + 1));
  b->blank = ag_heap_alloc(sizeof *b->blank * (size_t)(b->record.width + 1));
  for (int i = 0; i < b->record.width; i++) b->blank[i] = NAN;
  for (long i = 0; i < m->n; i++) b->row[i] = -1;
  for (long i = 0; i < m->n_ready; i++) b->row[m->index[i]] = i;
  AG_TRY(pick_columns(b, columns, usage));
  b->options.columns = b->wanted;
  return AG_OK;
}

static void count_failures(ag_batch_report *b) {
  const ag_batch_result *r = b->result;
  for (long i = 0; i < r->n; i++) b->n_stopped += r->members[i].end == AG_END_STOPPED;
  b->n_failed = r->n_failed + b->members->n - r->n - b->members->n_off_level;
}

ag_status ag_batch_report_run(ag_batch_report *b, ag_ctx *ctx) {
  const ag_members *m = b->members;
  b->batch = ag_api_run_members(
      ctx, &(ag_api_members){m->varied, m->n, m->n_ready, b->row, m->reason, m->params, m->x0, m->own}, &b->options);
  if (!b->batch) return AG_WRONG;
  b->result = ag_api_batch_result(b->batch);
  count_failures(b);
  return AG_OK;
}

void ag_batch_report_done(ag_batch_report *b) {
  anagyre_batch_free(b->batch);
  ag_record_done(&b->record);
  free(b->picks);
  free(b->wanted);
  free(b->row);
  free(b->blank);
  *b = (ag_batch_report){0};
}

/* ---- one member ---- */

const ag_batch_member *ag_batch_report_member(const ag_batch_report *b, long i) {
  return b->row[i] >= 0 ? &b->result->members[b->row[i]] : NULL;
}

const double *ag_batch_report_record(const ag_batch_report *b, long i) {
  return b->row[i] >= 0 ? b->result->records + b->row[i] * b->result->width : b->blank;
}

const char *ag_batch_report_end(const ag_batch_report *b, long i) { return anagyre_batch_end(b->batch, i); }

double ag_batch_report_time(const ag_batch_report *b, long i) {
  const ag_batch_member *m = ag_batch_report_member(b, i);
  return m ? m->t : b->options.run.t0;
}

bool ag_batch_report_failed(const ag_batch_report *b, long i) {
  return anagyre_batch_failed(b->batch, i) && !b->members->off_level[i];
}

long ag_batch_report_n_point(const ag_batch_report *b, long i) {
  return b->row[i] >= 0 && b->result->points ? b->result->points[b->row[i]].n : 0;
}

long ag_batch_report_n_points(const ag_batch_report *b) {
  long n = 0;
  for (long m = 0; m < b->members->n; m++) n += ag_batch_report_n_point(b, m);
  return n;
}
