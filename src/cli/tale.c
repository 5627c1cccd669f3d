/* SPDX-License-Identifier: MIT */
#include "cli/tale.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "cli/cli.h"
#include "cli/csv.h"

/* ---- columns ---- */

static void add_pick(ag_tale *t, const ag_column *column, int entry) {
  t->picks = ag_heap_grow(t->picks, sizeof *t->picks * (size_t)(t->n_pick + 1));
  t->picks[t->n_pick++] = (ag_pick){column, entry};
  t->wanted[column - t->record.columns] = true;
}

/* A column by its name, or one of its numbers as the header of a table names it. */
static bool find_pick(ag_tale *t, const char *name) {
  ag_text entry = {0};
  bool found = false;
  for (int i = 0; i < t->record.n_column && !found; i++) {
    const ag_column *c = &t->record.columns[i];
    found = !strcmp(c->name, name);
    if (found && c->kind != AG_COL_TIME) add_pick(t, c, -1); /* the time is always there */
  }
  for (int i = 0; i < t->record.n_column && !found; i++) {
    const ag_column *c = &t->record.columns[i];
    for (int k = 0; k < c->rows * c->cols && !found; k++) {
      ag_text_clear(&entry);
      ag_csv_name(c, k, &entry);
      found = !strcmp(ag_text_cstr(&entry), name);
      if (found) add_pick(t, c, k);
    }
  }
  ag_text_done(&entry);
  return found;
}

static ag_status unknown_column(const ag_tale *t, const char *name) {
  const char **names = ag_heap_alloc(sizeof *names * (size_t)t->record.n_column);
  for (int i = 0; i < t->record.n_column; i++) names[i] = t->record.columns[i].name;
  const char *near = ag_nearest(name, t->record.n_column, names);
  ag_text all = {0};
  for (int i = 0; i < t->record.n_column && i < 40; i++) ag_text_printf(&all, " %s", names[i]);
  ag_status status = ag_usage("run", "--columns: there is no '%s'%s%s%s (there are:%s)", name,
                              near ? "; did you mean " : "", near ? near : "", near ? "?" : "", all.s);
  ag_text_done(&all);
  free(names);
  return status;
}

/* "a,b[2],R[1,3]": commas inside brackets do not separate. */
ag_status ag_tale_columns(ag_tale *t, const char *text) {
  t->wanted = ag_heap_alloc((size_t)t->record.n_column + 1);
  if (!text)
    for (int i = 0; i < t->record.n_column; i++)
      if (t->record.columns[i].kind != AG_COL_TIME) add_pick(t, &t->record.columns[i], -1);
  ag_text name = {0};
  ag_status status = AG_OK;
  for (int depth = 0; text && status == AG_OK; text++) {
    depth += (*text == '[') - (*text == ']');
    if (*text && (*text != ',' || depth > 0)) {
      if (*text != ' ') ag_text_char(&name, *text);
      continue;
    }
    if (!find_pick(t, ag_text_cstr(&name))) status = unknown_column(t, ag_text_cstr(&name));
    ag_text_clear(&name);
    if (!*text) break;
  }
  ag_text_done(&name);
  return status;
}

/* ---- one member ---- */

const ag_batch_member *ag_tale_member(const ag_tale *t, long i) {
  return t->row[i] >= 0 ? &t->result->members[t->row[i]] : NULL;
}

const double *ag_tale_record(const ag_tale *t, long i) {
  return t->row[i] >= 0 ? t->result->records + t->row[i] * t->result->width : t->blank;
}

const char *ag_tale_end(const ag_tale *t, long i) {
  const ag_batch_member *m = ag_tale_member(t, i);
  return m ? ag_end_word(m->end) : t->members->reason[i];
}

double ag_tale_time(const ag_tale *t, long i) {
  const ag_batch_member *m = ag_tale_member(t, i);
  return m ? m->t : t->options->run.t0;
}

bool ag_tale_failed(const ag_tale *t, long i) {
  const ag_batch_member *m = ag_tale_member(t, i);
  return m ? ag_end_status(m->end) != AG_OK : !t->members->off[i];
}

int ag_pick_size(const ag_pick *p) { return p->entry >= 0 ? 1 : p->column->rows * p->column->cols; }

int ag_pick_offset(const ag_pick *p) { return p->column->offset + (p->entry >= 0 ? p->entry : 0); }

void ag_pick_name(const ag_pick *p, int k, ag_text *out) {
  ag_text_clear(out);
  ag_csv_name(p->column, p->entry >= 0 ? p->entry : k, out);
}

/* Swept values: a start value is told from the same quantity at the end. */
void ag_tale_swept(const ag_tale *t, int i, ag_text *out) {
  ag_text_clear(out);
  ag_text_printf(out, "%s%s", t->members->is_param[i] ? "" : "start ", t->sweep->names[i]);
}

/* ---- the points of a section ---- */

const ag_series *ag_tale_points(const ag_tale *t, long i) {
  static const ag_series none;
  return t->row[i] >= 0 && t->result->points ? &t->result->points[t->row[i]] : &none;
}

long ag_tale_n_points(const ag_tale *t) {
  long n = 0;
  for (long m = 0; m < t->members->n; m++) n += ag_tale_points(t, m)->n;
  return n;
}

void ag_tale_heading(const ag_tale *t, const char *between, ag_text *out) {
  ag_text name = {0};
  for (int i = 0; i < t->sweep->n_name; i++) {
    ag_tale_swept(t, i, &name);
    ag_csv_quoted(out, name.s);
    ag_text_char(out, ',');
  }
  ag_text_str(out, between);
  for (int i = 0; i < t->n_pick; i++)
    for (int k = 0; k < ag_pick_size(&t->picks[i]); k++) {
      ag_pick_name(&t->picks[i], k, &name);
      ag_text_char(out, ',');
      ag_csv_quoted(out, name.s);
    }
  ag_text_char(out, '\n');
  ag_text_done(&name);
}

void ag_points_table(const ag_tale *t, ag_text *out) {
  ag_text_str(out, "member,");
  ag_tale_heading(t, "crossing,t", out);
  for (long m = 0; m < t->members->n; m++) {
    const ag_series *points = ag_tale_points(t, m);
    for (long r = 0; r < points->n; r++) {
      const double *record = points->data + r * points->width;
      ag_text_printf(out, "%ld", m + 1);
      for (int i = 0; i < t->sweep->n_name; i++)
        ag_text_printf(out, ",%.17g", t->members->values[m * t->sweep->n_name + i]);
      ag_text_printf(out, ",%ld,%.17g", r + 1, record[0]);
      for (int i = 0; i < t->n_pick; i++)
        for (int k = 0; k < ag_pick_size(&t->picks[i]); k++)
          ag_text_printf(out, ",%.17g", record[ag_pick_offset(&t->picks[i]) + k]);
      ag_text_char(out, '\n');
    }
  }
}

/* One column of all points. */
static void json_column(const ag_tale *t, ag_json *j, const char *name, int rows, int cols, int offset) {
  ag_json_begin(j, name, '[');
  for (long m = 0; m < t->members->n; m++) {
    const ag_series *points = ag_tale_points(t, m);
    for (long r = 0; r < points->n; r++) ag_json_tensor(j, NULL, rows, cols, points->data + r * points->width + offset);
  }
  ag_json_end(j, ']');
}

void ag_points_json(const ag_tale *t, ag_json *j) {
  static const char *const direction[] = {"falling", "both", "rising"};
  const ag_event *section = &t->members->source.model->sections[t->options->run.section - 1];
  ag_json_begin(j, "section", '{');
  ag_json_string(j, "name", section->name);
  ag_json_string(j, "direction", direction[section->direction + 1]);
  ag_json_begin(j, "crossings", '[');
  for (long m = 0; m < t->members->n; m++) ag_json_whole(j, NULL, ag_tale_points(t, m)->n);
  ag_json_end(j, ']');
  ag_json_begin(j, "points", '{');
  ag_json_begin(j, "member", '[');
  for (long m = 0; m < t->members->n; m++)
    for (long r = 0; r < ag_tale_points(t, m)->n; r++) ag_json_whole(j, NULL, m + 1);
  ag_json_end(j, ']');
  json_column(t, j, "t", 1, 1, 0);
  ag_text name = {0};
  for (int i = 0; i < t->n_pick; i++) {
    const ag_pick *p = &t->picks[i];
    bool whole = p->entry < 0;
    if (!whole) ag_pick_name(p, 0, &name);
    json_column(t, j, whole ? p->column->name : name.s, whole ? p->column->rows : 1, whole ? p->column->cols : 1,
                ag_pick_offset(p));
  }
  ag_text_done(&name);
  ag_json_end(j, '}');
  ag_json_end(j, '}');
}
