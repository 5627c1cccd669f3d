/* SPDX-License-Identifier: MIT
 * The points of a section of many runs, as a table and as JSON; and the header of a table. */
#include "cli/batch.h"
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

void ag_batch_points_table(const ag_batch_report *b, ag_text *out) {
  ag_text_str(out, "member,");
  ag_batch_heading(b, "crossing,t", out);
  for (long m = 0; m < b->members->n; m++) {
    const ag_series *points = ag_batch_report_points(b, m);
    for (long r = 0; r < points->n; r++) {
      const double *record = points->data + r * points->width;
      ag_text_printf(out, "%ld", m + 1);
      for (int i = 0; i < b->members->grid.n_name; i++)
        ag_csv_number(out, b->members->values[m * b->members->grid.n_name + i]);
      ag_text_printf(out, ",%ld", r + 1);
      ag_csv_number(out, record[0]);
      for (int i = 0; i < b->n_pick; i++)
        for (int k = 0; k < ag_pick_size(&b->picks[i]); k++)
          ag_csv_number(out, record[ag_pick_offset(&b->picks[i]) + k]);
      ag_text_char(out, '\n');
    }
  }
}

/* One column of all points. */
static void json_column(const ag_batch_report *b, ag_json *j, const char *name, int rows, int cols, int offset) {
  ag_json_begin(j, name, '[');
  for (long m = 0; m < b->members->n; m++) {
    const ag_series *points = ag_batch_report_points(b, m);
    for (long r = 0; r < points->n; r++) ag_json_tensor(j, NULL, rows, cols, points->data + r * points->width + offset);
  }
  ag_json_end(j, ']');
}

void ag_batch_points_json(const ag_batch_report *b, ag_json *j) {
  static const char *const direction[] = {"falling", "both", "rising"};
  const ag_event *section = &ag_model_sections(ag_varied_model(b->members->varied))[b->options.run.section - 1];
  ag_json_begin(j, "section", '{');
  ag_json_string(j, "name", section->name);
  ag_json_string(j, "direction", direction[section->direction + 1]);
  ag_json_begin(j, "crossings", '[');
  for (long m = 0; m < b->members->n; m++) ag_json_whole(j, NULL, ag_batch_report_points(b, m)->n);
  ag_json_end(j, ']');
  ag_json_begin(j, "points", '{');
  ag_json_begin(j, "member", '[');
  for (long m = 0; m < b->members->n; m++)
    for (long r = 0; r < ag_batch_report_points(b, m)->n; r++) ag_json_whole(j, NULL, m + 1);
  ag_json_end(j, ']');
  json_column(b, j, "t", 1, 1, 0);
  ag_text name = {0};
  for (int i = 0; i < b->n_pick; i++) {
    const ag_pick *p = &b->picks[i];
    bool whole = p->entry < 0;
    if (!whole) ag_pick_name(p, 0, &name);
    json_column(b, j, whole ? p->column->name : name.s, whole ? p->column->rows : 1, whole ? p->column->cols : 1,
                ag_pick_offset(p));
  }
  ag_text_done(&name);
  ag_json_end(j, '}');
  ag_json_end(j, '}');
}
