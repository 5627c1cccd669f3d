/* SPDX-License-Identifier: MIT
 * Extrapolated means of an ensemble, from its steps and from half of them: text, JSON, a result file. */
#include "base/number.h"
#include "cli/ensemble.h"

typedef double number_of(const ag_tally *t, int i);

static int place(const ag_ensemble_report *r, bool off, int row, int value) {
  const ag_ensemble *e = r->result;
  return off ? ag_ensemble_off(e, r->options->n_row, row, value) : ag_ensemble_extrapolated(e, row, value);
}

static double number_at(const ag_ensemble_report *r, number_of *f, bool off, int row, int value) {
  return f(r->result->extrapolated, place(r, off, row, value));
}

void ag_extrapolate_text(const ag_ensemble_report *r, int item, ag_text *out) {
  const int n = r->options->n_row, value = r->items[item].value;
  const ag_number_string dt = ag_number_text(ag_ensemble_step(r));
  if (!r->result->extrapolated) return;
  ag_text_printf(out, "\n  extrapolated %14s %11s %14s %11s   (dt %s and %s/2, weak order %g)\n", "mean", "stderr",
                 "error of dt", "stderr", dt.s, dt.s, ag_ensemble_weak(r->system, r->options->method));
  for (int row = 0; row <= n; row++) {
    if (row < n) ag_text_printf(out, "  t = %-8.6g", ag_ensemble_time(r, row));
    else ag_text_str(out, "  over time   ");
    for (int off = 0; off < 2; off++)
      ag_text_printf(out, " %14.8g %11.3g", number_at(r, ag_tally_mean, off, row, value),
                     number_at(r, ag_tally_stderr, off, row, value));
    ag_text_char(out, '\n');
  }
}

/* The available statistics. */
static const struct {
  const char *name;
  number_of *f;
  bool off;
} parts[] = {{"extrapolated", ag_tally_mean, false},
             {"extrapolated_stderr", ag_tally_stderr, false},
             {"step_error", ag_tally_mean, true},
             {"step_error_stderr", ag_tally_stderr, true}};
enum { N_PART = sizeof parts / sizeof *parts };

void ag_extrapolate_json(const ag_ensemble_report *r, int item, ag_json *j) {
  const int n = r->options->n_row, value = r->items[item].value;
  if (!r->result->extrapolated) return;
  for (int p = 0; p < N_PART; p++) {
    ag_json_begin(j, parts[p].name, '[');
    for (int row = 0; row < n; row++) ag_json_number(j, NULL, number_at(r, parts[p].f, parts[p].off, row, value));
    ag_json_end(j, ']');
  }
  ag_json_begin(j, "time_average_extrapolated", '{');
  ag_json_number(j, "mean", number_at(r, ag_tally_mean, false, n, value));
  ag_json_number(j, "stderr", number_at(r, ag_tally_stderr, false, n, value));
  ag_json_end(j, '}');
}

/* Column by column of the record, as the means. */
static void store_rows(const ag_ensemble_report *r, int part, ag_fields *fields) {
  const int n_row = r->options->n_row;
  ag_text path = {0};
  for (int i = 0, at = 0; i < r->record->n_column; i++) {
    const ag_column *c = &r->record->columns[i];
    const int size = c->rows * c->cols;
    if (!r->options->columns[i]) continue;
    double *v = ag_heap_alloc(sizeof *v * (size_t)(n_row * size));
    for (int k = 0; k < n_row * size; k++) v[k] = number_at(r, parts[part].f, parts[part].off, k / size, at + k % size);
    path.n = 0;
    ag_text_printf(&path, "/ensemble/%s/%s", parts[part].name, c->name);
    ag_fields_values(fields, ag_text_cstr(&path), n_row, c->rows, c->cols, v);
    free(v);
    at += size;
  }
  ag_text_done(&path);
}

void ag_extrapolate_store(const ag_ensemble_report *r, ag_fields *fields) {
  const int n = r->options->n_row, m = r->n_item;
  ag_fields_integer(fields, "/ensemble@extrapolate", r->result->extrapolated != NULL);
  if (!r->result->extrapolated) return;
  ag_fields_number(fields, "/ensemble@weak_order", ag_ensemble_weak(r->system, r->options->method));
  for (int p = 0; p < N_PART; p++) store_rows(r, p, fields);
  double *v = ag_heap_alloc(sizeof *v * (size_t)(m + 1));
  for (int i = 0; i < m; i++) v[i] = number_at(r, ag_tally_mean, false, n, r->items[i].value);
  ag_fields_vector(fields, "/ensemble/time_average_extrapolated", m, v);
  for (int i = 0; i < m; i++) v[i] = number_at(r, ag_tally_stderr, false, n, r->items[i].value);
  ag_fields_vector(fields, "/ensemble/time_average_extrapolated_stderr", m, v);
  free(v);
}
