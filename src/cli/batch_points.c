/* SPDX-License-Identifier: MIT
 * The points of a section of many runs, as a table and as JSON; and the header of a table. */
#include "cli/batch.h"

#include <errno.h>
#include <stdlib.h>

#include "base/arena.h"
#include "cli/csv.h"

/* A swept start value is not the same as that quantity at the end. */
static void swept_name(const ag_batch_report *b, int i, ag_text *out) {
  ag_text_clear(out);
  ag_text_printf(out, "%s%s", ag_varied_is_param(b->members->varied, i) ? "" : "start ", b->members->grid.names[i]);
}

void ag_batch_heading(const ag_batch_report *b, const char *between, ag_text *out) {
  ag_text name = {0};
  for (int i = 0; i < b->members->grid.n_name; i++) {
    swept_name(b, i, &name);
    ag_csv_quoted(out, name.s);
    ag_text_char(out, ',');
  }
  ag_text_str(out, between);
  for (int i = 0; i < b->n_pick; i++)
    for (int k = 0; k < ag_pick_size(&b->picks[i]); k++) {
      ag_pick_name(&b->picks[i], k, &name);
      ag_text_char(out, ',');
      ag_csv_quoted(out, name.s);
    }
  ag_text_char(out, '\n');
  ag_text_done(&name);
}

/* ---- reading points ---- */

enum { AT_A_TIME = 1 << 16 }; /* numbers */

/* Points one after the other, from the log. */
typedef struct cursor {
  ag_archive *view;
  double *rows;
  long from, n, cap; /* rows in memory */
  bool failed;
} cursor;

static void cursor_init(cursor *c, const ag_batch_store *s) {
  ag_text trouble = {0};
  *c = (cursor){.cap = AT_A_TIME / s->width + 1};
  if (s->store) c->view = ag_store_view(s->store);
  else if (s->file) c->view = ag_archive_open(s->file, &trouble);
  ag_text_done(&trouble);
  c->rows = ag_heap_alloc(sizeof *c->rows * (size_t)(c->cap * s->width));
  c->failed = !c->view || c->view->width != s->width;
}

static void cursor_done(cursor *c) {
  ag_archive_close(c->view);
  free(c->rows);
}

/* Row i; of NaN after a read error. */
static const double *row_at(cursor *c, const ag_batch_store *s, long i) {
  if (!c->failed && (i < c->from || i >= c->from + c->n)) {
    long left = c->view->n_row - i;
    c->from = i;
    c->n = left < c->cap ? left : c->cap;
    c->failed = left <= 0 || !ag_archive_rows(c->view, i, c->n, c->rows);
  }
  return c->failed ? s->b->blank : c->rows + (i - c->from) * s->width;
}

/* ---- the table ---- */

/* A column of the output in a stored row. */
static int place_of(const ag_batch_store *s, const ag_pick *p) {
  return s->at[p->column - s->b->record.columns] + (p->entry >= 0 ? p->entry : 0);
}

static void put_row(const ag_batch_store *s, long member, long crossing, const double *row, ag_text *out) {
  const ag_batch_report *b = s->b;
  ag_text_printf(out, "%ld", member + 1);
  for (int i = 0; i < b->members->grid.n_name; i++)
    ag_csv_number(out, b->members->values[member * b->members->grid.n_name + i]);
  ag_text_printf(out, ",%ld", crossing + 1);
  ag_csv_number(out, row[0]);
  for (int i = 0; i < b->n_pick; i++)
    for (int k = 0; k < ag_pick_size(&b->picks[i]); k++) ag_csv_number(out, row[place_of(s, &b->picks[i]) + k]);
  ag_text_char(out, '\n');
}

bool ag_batch_points_table(const ag_batch_store *s, ag_csv *csv) {
  cursor c;
  cursor_init(&c, s);
  bool good = true;
  long at = 0;
  for (long m = 0; m < s->b->members->n; m++)
    for (long r = 0; r < ag_batch_report_n_point(s->b, m) && good && !c.failed; r++) {
      const double *row = row_at(&c, s, at++);
      if (c.failed) break;
      put_row(s, m, r, row, &csv->waiting);
      good = ag_csv_lines(csv, 1);
    }
  if (c.failed && !csv->trouble) csv->trouble = EIO;
  good = good && !c.failed;
  cursor_done(&c);
  return good;
}

/* ---- JSON ---- */

/* One column of all points. */
static void json_column(cursor *c, const ag_batch_store *s, ag_json *j, const char *name, int rows, int cols,
                        int offset) {
  long n = ag_batch_report_n_points(s->b);
  ag_json_begin(j, name, '[');
  for (long i = 0; i < n && !c->failed && !j->failed; i++)
    ag_json_tensor(j, NULL, rows, cols, row_at(c, s, i) + offset);
  ag_json_end(j, ']');
}

void ag_batch_points_json(const ag_batch_store *s, ag_json *j) {
  static const char *const direction[] = {"falling", "both", "rising"};
  const ag_batch_report *b = s->b;
  const ag_event *section = &ag_model_sections(ag_varied_model(b->members->varied))[b->options.run.section - 1];
  cursor c;
  cursor_init(&c, s);
  ag_json_begin(j, "section", '{');
  ag_json_string(j, "name", section->name);
  ag_json_string(j, "direction", direction[section->direction + 1]);
  ag_json_begin(j, "crossings", '[');
  for (long m = 0; m < b->members->n; m++) ag_json_whole(j, NULL, ag_batch_report_n_point(b, m));
  ag_json_end(j, ']');
  ag_json_begin(j, "points", '{');
  ag_json_begin(j, "member", '[');
  for (long m = 0; m < b->members->n; m++)
    for (long r = 0; r < ag_batch_report_n_point(b, m); r++) ag_json_whole(j, NULL, m + 1);
  ag_json_end(j, ']');
  json_column(&c, s, j, "t", 1, 1, 0);
  ag_text name = {0};
  for (int i = 0; i < b->n_pick; i++) {
    const ag_pick *p = &b->picks[i];
    bool whole = p->entry < 0;
    if (!whole) ag_pick_name(p, 0, &name);
    json_column(&c, s, j, whole ? p->column->name : name.s, whole ? p->column->rows : 1, whole ? p->column->cols : 1,
                place_of(s, p));
  }
  ag_text_done(&name);
  ag_json_end(j, '}');
  ag_json_end(j, '}');
  if (c.failed) j->failed = true;
  cursor_done(&c);
}
