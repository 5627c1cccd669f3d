/* SPDX-License-Identifier: MIT
 * The result file of an ensemble. */
#include <math.h>

#include "cli/ensemble.h"
#include "cli/output.h"
#include "store/store.h"

typedef double number_of(const ag_tally *t, int i);

/* Numbers of all rows under a path, column by column of the record. */
static void add_statistic(const ag_ensemble_report *r, ag_fields *fields, const char *folder, number_of *f) {
  const int n_row = r->options->n_row;
  ag_text path = {0};
  for (int i = 0, at = 0; i < r->record->n_column; i++) {
    const ag_column *c = &r->record->columns[i];
    const int size = c->rows * c->cols;
    if (!r->options->columns[i]) continue;
    double *v = ag_heap_alloc(sizeof *v * (size_t)(n_row * size));
    for (int row = 0; row < n_row; row++)
      for (int k = 0; k < size; k++) v[row * size + k] = f(r->result->tally, ag_ensemble_value(r->result, row, at + k));
    path.n = 0;
    ag_text_printf(&path, "/ensemble/%s/%s", folder, c->name);
    ag_fields_values(fields, ag_text_cstr(&path), n_row, c->rows, c->cols, v);
    free(v);
    at += size;
  }
  ag_text_done(&path);
}

#define QUANTILE(name, p) \
  static double name(const ag_tally *t, int i) { return ag_tally_quantile(t, i, p); }
QUANTILE(quantile5, 0.05)
QUANTILE(quantile25, 0.25)
QUANTILE(quantile50, 0.5)
QUANTILE(quantile75, 0.75)
QUANTILE(quantile95, 0.95)

/* Counts of the last row: one dataset per number that is shown. */
static void add_histograms(const ag_ensemble_report *r, ag_fields *fields) {
  ag_text path = {0};
  for (int i = 0; i < r->n_item; i++) {
    const int at = ag_ensemble_value(r->result, r->options->n_row - 1, r->items[i].value);
    const ag_histogram h = ag_tally_histogram(r->result->tally, at);
    long *counts = ag_heap_alloc(sizeof *counts * (size_t)h.n);
    for (int k = 0; k < h.n; k++) counts[k] = (long)h.count[k];
    path.n = 0;
    ag_text_printf(&path, "/ensemble/histogram/%s", r->items[i].name);
    ag_fields_integers(fields, ag_text_cstr(&path), h.n, counts);
    const size_t end = path.n;
    ag_text_str(&path, "@from");
    ag_fields_number(fields, ag_text_cstr(&path), h.from);
    path.n = end;
    ag_text_str(&path, "@width");
    ag_fields_number(fields, ag_text_cstr(&path), h.width);
    free(counts);
  }
  ag_text_done(&path);
}

/* Matrices and averages: [item], [item][row][row], [row][item][item], in the order of /ensemble@items. */
static void add_matrices(const ag_ensemble_report *r, ag_fields *fields) {
  const int n = r->options->n_row, m = r->n_item;
  const char **names = ag_heap_alloc(sizeof *names * (size_t)(m + 1));
  double *v = ag_heap_alloc(sizeof *v * ((size_t)m * (size_t)m * (size_t)n + (size_t)n * (size_t)n * (size_t)m + 1));
  for (int i = 0; i < m; i++) names[i] = r->items[i].name;
  ag_fields_texts(fields, "/ensemble@items", m, names);
  for (int i = 0; i < m; i++)
    v[i] = ag_tally_mean(r->result->tally, ag_ensemble_average(r->result, n, r->items[i].value));
  ag_fields_vector(fields, "/ensemble/time_average", m, v);
  for (int i = 0; i < m; i++)
    v[i] = ag_tally_stderr(r->result->tally, ag_ensemble_average(r->result, n, r->items[i].value));
  ag_fields_vector(fields, "/ensemble/time_average_stderr", m, v);
  for (int i = 0; i < m; i++) v[i] = ag_ensemble_batch_error(r, r->items[i].value);
  ag_fields_vector(fields, "/ensemble/time_average_batch_stderr", m, v);
  for (int k = 0; k < m * n * n && r->correlations; k++)
    v[k] = ag_ensemble_correlation(r, k / (n * n), k / n % n, k % n);
  if (r->correlations) ag_fields_values(fields, "/ensemble/correlations", m, n, n, v);
  for (int k = 0; k < m * m * n && r->covariances; k++) v[k] = ag_ensemble_covariance(r, k / (m * m), k / m % m, k % m);
  if (r->covariances) ag_fields_values(fields, "/ensemble/covariances", n, m, m, v);
  free(names), free(v);
}

/* Rows of chosen paths, [path][row][item]; NaN where a path had failed. */
static void add_chosen(const ag_ensemble_report *r, ag_fields *fields) {
  const int n = r->options->n_row, m = r->n_item;
  if (!r->n_chosen) return;
  double *v = ag_heap_alloc(sizeof *v * ((size_t)r->n_chosen * (size_t)(n * m) + 1)), *at = v;
  for (long k = 0; k < r->n_chosen; k++)
    for (int row = 0; row < n; row++)
      for (int i = 0; i < m; i++)
        *at++ = row < r->reached[k] ? ag_ensemble_rows(r, k)[row * r->result->n_value + r->items[i].value] : NAN;
  ag_fields_integers(fields, "/ensemble/chosen_paths", r->n_chosen, r->chosen);
  ag_fields_values(fields, "/ensemble/chosen", r->n_chosen, n, m, v);
  free(v);
}

/* Per passage: how many passed, mean, variance and standard error of the time. */
static void add_passages(const ag_ensemble_report *r, ag_fields *fields) {
  const ag_ensemble *e = r->result;
  double *v = ag_heap_alloc(sizeof *v * (size_t)(4 * e->n_passage + 1));
  for (int i = 0; i < e->n_passage; i++) {
    const ag_tally *t = e->passages[i];
    v[4 * i] = ag_tally_count(t), v[4 * i + 1] = ag_tally_mean(t, 0);
    v[4 * i + 2] = ag_tally_variance(t, 0), v[4 * i + 3] = ag_tally_stderr(t, 0);
  }
  if (e->n_passage) ag_fields_values(fields, "/ensemble/passages", e->n_passage, 4, 1, v);
  free(v);
}

static void add_all(const ag_ensemble_report *r, const ag_ensemble_args *a, ag_fields *fields) {
  const char *columns = a->columns, *passages = a->passages;
  const ag_ensemble *e = r->result;
  const ag_wiener *w = &r->options->path;
  static const struct {
    const char *name;
    number_of *f;
  } rows[] = {{"var", ag_tally_variance}, {"stderr", ag_tally_stderr}, {"min", ag_tally_least},
              {"max", ag_tally_largest},  {"q05", quantile5},          {"q25", quantile25},
              {"q50", quantile50},        {"q75", quantile75},         {"q95", quantile95}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) add_statistic(r, fields, rows[i].name, rows[i].f);
  add_histograms(r, fields);
  add_matrices(r, fields);
  add_chosen(r, fields);
  add_passages(r, fields);
  ag_extrapolate_store(r, fields);
  ag_fields_vector(fields, "/ensemble/start", ag_system_dims(r->system)->x, r->x0);
  ag_fields_vector(fields, "/ensemble/values", ag_system_dims(r->system)->param, r->params);
  ag_fields_text(fields, "@kind", "ensemble");
  ag_fields_text(fields, "@end", e->stopped ? "interrupted" : "time reached");
  ag_fields_integer(fields, "@complete", !e->stopped);
  ag_fields_integer(fields, "/ensemble@paths", (long)e->done);
  ag_fields_integer(fields, "/ensemble@wanted", (long)r->options->paths);
  ag_fields_integer(fields, "/ensemble@failed", (long)e->failed);
  ag_fields_integer(fields, "/ensemble@seed", (long)w->seed);
  ag_fields_integer(fields, "/ensemble@antithetic", w->mirror);
  ag_fields_number(fields, "/ensemble@dt_base", w->base);
  if (ag_stepper_tests(r->options->method)) ag_fields_number(fields, "/ensemble@acceptance", ag_ensemble_acceptance(r));
  ag_fields_text(fields, "/ensemble@passages", passages ? passages : "");
  ag_fields_text(fields, "/ensemble@columns", columns ? columns : "");
  ag_fields_vector(fields, "/ensemble/state", (int)e->n_saved, e->saved);
}

static bool put_rows(const ag_ensemble_report *r, ag_store *store) {
  const int n = r->result->n_value;
  double *row = ag_heap_alloc(sizeof *row * (size_t)(n + 1));
  bool good = true;
  for (int k = 0; k < r->options->n_row && good; k++) {
    row[0] = ag_ensemble_time(r, k);
    for (int i = 0; i < n; i++) row[1 + i] = ag_tally_mean(r->result->tally, ag_ensemble_value(r->result, k, i));
    good = ag_store_row(store, row);
  }
  free(row);
  return good;
}

ag_status ag_ensemble_store(const ag_ensemble_report *r, anagyre_model *m, const ag_ensemble_args *a) {
  const ag_common *common = &a->common;
  const char *path = a->output;
  ag_fields fields = {0}, end = {0};
  ag_text trouble = {0};
  size_t size;
  ag_run_options o;
  ag_run_defaults(&o);
  o.t0 = r->options->t0, o.t1 = ag_ensemble_time(r, r->options->n_row - 1);
  o.dt = ag_ensemble_step(r), o.method = r->options->method, o.events = false;
  o.every = r->options->n_row > 1 ? ag_ensemble_time(r, 1) - o.t0 : 0;
  bool *wanted = ag_heap_alloc((size_t)r->record->n_column + 1);
  for (int i = 0; i < r->record->n_column; i++)
    wanted[i] = r->options->columns[i] || r->record->columns[i].kind == AG_COL_TIME;
  char **sets = ag_heap_alloc(sizeof *sets * (size_t)(common->changes.n_set + 1));
  for (int i = 0; i < common->changes.n_set; i++) {
    ag_text x = {0};
    ag_text_printf(&x, "%s=%s", common->changes.sets[i].name, common->changes.sets[i].value);
    sets[i] = x.s;
  }
  ag_description what = {.system = r->system,
                         .options = &o,
                         .text = ag_api_text(m, &size),
                         .n_set = common->changes.n_set,
                         .sets = (const char *const *)sets,
                         .wanted = wanted};
  ag_store_describe(&fields, &what);
  add_all(r, a, &fields);
  ag_store *store = ag_store_create(path, &fields, AG_STORE_FILE, false, &trouble);
  bool good = store && put_rows(r, store) && ag_store_begin(store); /* what is there is replaced by all at once */
  if (store) good = ag_store_close(store, &end, &trouble) && good;
  if (!good) ag_output_tell("error: %s", ag_text_cstr(&trouble));
  for (int i = 0; i < common->changes.n_set; i++) free(sets[i]);
  free(sets), free(wanted);
  ag_fields_done(&fields), ag_fields_done(&end);
  ag_text_done(&trouble);
  return good ? AG_OK : AG_SYSTEM;
}
