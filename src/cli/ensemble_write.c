/* SPDX-License-Identifier: MIT */
#include "base/number.h"
#include "cli/ensemble.h"

#include <math.h>

#include "cli/csv.h"
#include "cli/output.h"

static const double levels[] = {0.05, 0.25, 0.5, 0.75, 0.95};
enum { N_LEVEL = sizeof levels / sizeof *levels, FAILURES_SHOWN = 10 };

double ag_ensemble_step(const ag_ensemble_report *r) {
  const ag_wiener *w = &r->options->path;
  return ldexp(w->base * w->multiple, -w->level);
}

double ag_ensemble_time(const ag_ensemble_report *r, int row) {
  return r->options->t0 + (double)r->options->row_step[row] * ag_ensemble_step(r);
}

static double rate(const ag_ensemble_report *r) {
  return r->result->seconds > 0 ? r->result->steps / r->result->seconds : 0;
}

double ag_ensemble_acceptance(const ag_ensemble_report *r) {
  const ag_ensemble *e = r->result;
  const double steps = (double)(e->done - e->failed) * (double)r->options->row_step[r->options->n_row - 1];
  return ag_stepper_tests(r->options->method) && steps > 0 ? (double)e->accepted / steps : NAN;
}

/* ---- text ---- */

static void put_head(const ag_ensemble_report *r, ag_text *out) {
  const ag_ensemble *e = r->result;
  const ag_wiener *w = &r->options->path;
  const ag_model *m = ag_system_model(r->system);
  ag_text_printf(out, "%s: %s\n", ag_model_name(m), ag_model_title(m));
  ag_text_printf(out, "  paths         %llu, %llu failed%s%s\n", e->done, e->failed,
                 w->mirror ? ", antithetic pairs" : "", e->stopped ? ", interrupted" : "");
  ag_text_printf(out, "  noise         seed %llu, %d channel%s on a base grid of %s\n", w->seed, w->channels,
                 w->channels == 1 ? "" : "s", ag_number_text(w->base).s);
  ag_text_printf(out, "  method        %s, dt %s, ", r->options->method->name, ag_number_text(ag_ensemble_step(r)).s);
  if (e->lanes) ag_text_printf(out, "2 x %d lanes", e->lanes);
  else ag_text_printf(out, "path by path (%s)", e->note ? e->note : "");
  ag_text_printf(out, ", %d thread%s%s\n", e->threads, e->threads == 1 ? "" : "s",
                 e->core_only ? ", reduced to the columns" : "");
  if (isfinite(ag_run_cut(r->system, r->options->method, ag_ensemble_step(r))))
    ag_text_printf(out, "  cut           increments beyond max(6, sqrt(4 |log dt|)) standard deviations\n");
  ag_text_printf(out, "  steps         %.6g in %.3g s, %.3g million path steps per second\n", e->steps, e->seconds,
                 1e-6 * rate(r));
  if (isfinite(ag_ensemble_acceptance(r)))
    ag_text_printf(out, "  accepted      %.6g of the steps\n", ag_ensemble_acceptance(r));
  if (isfinite(e->most))
    ag_text_printf(out, "  implicit      increments beyond %.6g standard deviations are cut: in %llu steps\n",
                   e->most / sqrt(ag_ensemble_step(r)), e->cut);
}

static void put_failures(const ag_ensemble_report *r, ag_text *out) {
  const ag_ensemble *e = r->result;
  for (int i = 0; i < e->n_failure && i < FAILURES_SHOWN; i++)
    ag_text_printf(out, "  failed        path %llu before t = %g: --path %llu follows it\n", e->failures[i].path,
                   ag_ensemble_time(r, e->failures[i].row), e->failures[i].path);
  if (e->failed > FAILURES_SHOWN)
    ag_text_printf(out, "  failed        ... and %llu more\n", e->failed - FAILURES_SHOWN);
}

static void put_passages(const ag_ensemble_report *r, ag_text *out) {
  const ag_ensemble *e = r->result;
  for (int i = 0; i < e->n_passage; i++) {
    const ag_tally *t = e->passages[i];
    ag_text_printf(out, "\nfirst passage %s: %.0f of %.0f paths until t = %.6g\n", r->passage_names[i],
                   ag_tally_count(t), ag_tally_count(e->tally), ag_ensemble_time(r, r->options->n_row - 1));
    ag_text_printf(out, "  time         %14.8g %11.3g %11.5g %11.5g %11.5g %11.5g %11.5g %11.5g\n", ag_tally_mean(t, 0),
                   ag_tally_stderr(t, 0), sqrt(ag_tally_variance(t, 0)), ag_tally_least(t, 0),
                   ag_tally_quantile(t, 0, 0.05), ag_tally_quantile(t, 0, 0.5), ag_tally_quantile(t, 0, 0.95),
                   ag_tally_largest(t, 0));
  }
}

void ag_ensemble_text(const ag_ensemble_report *r, ag_text *out) {
  const ag_ensemble *e = r->result;
  put_head(r, out);
  put_failures(r, out);
  for (int i = 0; i < r->n_item; i++) {
    ag_text_printf(out, "\n%-12s %14s %11s %11s %11s %11s %11s %11s %11s\n", r->items[i].name, "mean", "stderr",
                   "deviation", "smallest", "5 %", "median", "95 %", "largest");
    for (int row = 0; row < r->options->n_row; row++) {
      const int at = ag_ensemble_value(e, row, r->items[i].value);
      ag_text_printf(out, "  t = %-8.6g %14.8g %11.3g %11.5g %11.5g %11.5g %11.5g %11.5g %11.5g\n",
                     ag_ensemble_time(r, row), ag_tally_mean(e->tally, at), ag_tally_stderr(e->tally, at),
                     sqrt(ag_tally_variance(e->tally, at)), ag_tally_least(e->tally, at),
                     ag_tally_quantile(e->tally, at, 0.05), ag_tally_quantile(e->tally, at, 0.5),
                     ag_tally_quantile(e->tally, at, 0.95), ag_tally_largest(e->tally, at));
    }
    const int all = ag_ensemble_average(e, r->options->n_row, r->items[i].value);
    ag_text_printf(out, "  over time    %14.8g %11.3g\n", ag_tally_mean(e->tally, all), ag_tally_stderr(e->tally, all));
    ag_extrapolate_text(r, i, out);
  }
  put_passages(r, out);
}

/* ---- JSON ---- */

typedef double number_of(const ag_tally *t, int i);

static void json_rows(const ag_ensemble_report *r, ag_json *j, const char *key, int value, number_of *f) {
  ag_json_begin(j, key, '[');
  for (int row = 0; row < r->options->n_row; row++)
    ag_json_number(j, NULL, f(r->result->tally, ag_ensemble_value(r->result, row, value)));
  ag_json_end(j, ']');
}

static void json_quantiles(const ag_ensemble_report *r, ag_json *j, int value) {
  ag_text key = {0};
  ag_json_begin(j, "quantiles", '{');
  for (int q = 0; q < N_LEVEL; q++) {
    key.n = 0;
    ag_text_printf(&key, "%g", levels[q]);
    ag_json_begin(j, ag_text_cstr(&key), '[');
    for (int row = 0; row < r->options->n_row; row++)
      ag_json_number(j, NULL, ag_tally_quantile(r->result->tally, ag_ensemble_value(r->result, row, value), levels[q]));
    ag_json_end(j, ']');
  }
  ag_json_end(j, '}');
  ag_text_done(&key);
}

/* Bins joined so that there are at most 64. */
static void json_bins(const ag_histogram *h, ag_json *j) {
  const int joined = h->n > 64 ? h->n / 64 : 1;
  ag_json_number(j, "from", h->from);
  ag_json_number(j, "width", h->width * joined);
  ag_json_begin(j, "counts", '[');
  for (int b = 0; b < h->n; b += joined) {
    unsigned long long sum = 0;
    for (int k = 0; k < joined; k++) sum += h->count[b + k];
    ag_json_whole(j, NULL, (long)sum);
  }
  ag_json_end(j, ']');
  ag_json_whole(j, "below", (long)h->below);
  ag_json_whole(j, "above", (long)h->above);
}

/* Of the last row. */
static void json_histogram(const ag_ensemble_report *r, ag_json *j, int value) {
  const int last = r->options->n_row - 1;
  const ag_histogram h = ag_tally_histogram(r->result->tally, ag_ensemble_value(r->result, last, value));
  ag_json_begin(j, "histogram", '{');
  ag_json_number(j, "t", ag_ensemble_time(r, last));
  json_bins(&h, j);
  ag_json_end(j, '}');
}

/* The standard error of the time average from batches of rows; NaN with fewer than 4 rows. */
double ag_ensemble_batch_error(const ag_ensemble_report *r, int value) {
  const ag_tally *t = r->result->tally;
  const int n = r->options->n_row;
  return n < 4 ? NAN : sqrt(ag_tally_mean(t, ag_ensemble_batches(r->result, n, value)) / ag_tally_count(t));
}

static void json_average(const ag_ensemble_report *r, ag_json *j, int value) {
  const ag_ensemble *e = r->result;
  const int at = ag_ensemble_average(e, r->options->n_row, value);
  ag_json_begin(j, "time_average", '{');
  ag_json_number(j, "mean", ag_tally_mean(e->tally, at));
  ag_json_number(j, "stderr", ag_tally_stderr(e->tally, at));
  ag_json_number(j, "batch_stderr", ag_ensemble_batch_error(r, value));
  ag_json_end(j, '}');
}

/* Where the pair (a, b) of n things stands among all, those with a smaller a first. */
static int pair_at(int n, int a, int b) {
  const int low = a < b ? a : b, high = a < b ? b : a;
  return low * (2 * n - low - 1) / 2 + high - low - 1;
}

/* Between rows a and b. */
double ag_ensemble_correlation(const ag_ensemble_report *r, int item, int a, int b) {
  const int n = r->options->n_row;
  return a == b ? 1 : ag_tally_correlation(r->result->tally, item * (n * (n - 1) / 2) + pair_at(n, a, b));
}

/* Of two items at a row. */
double ag_ensemble_covariance(const ag_ensemble_report *r, int row, int i, int k) {
  const int n = r->options->n_row, m = r->n_item, first = r->correlations ? m * (n * (n - 1) / 2) : 0;
  if (i == k) return ag_tally_variance(r->result->tally, ag_ensemble_value(r->result, row, r->items[i].value));
  return ag_tally_covariance(r->result->tally, first + row * (m * (m - 1) / 2) + pair_at(m, i, k));
}

typedef double entry_of(const ag_ensemble_report *r, int which, int a, int b);

/* n x n, row by row. */
static void json_matrix(const ag_ensemble_report *r, ag_json *j, const char *key, int n, int which, entry_of *f) {
  ag_json_begin(j, key, '[');
  for (int a = 0; a < n; a++) {
    ag_json_begin(j, NULL, '[');
    for (int b = 0; b < n; b++) ag_json_number(j, NULL, f(r, which, a, b));
    ag_json_end(j, ']');
  }
  ag_json_end(j, ']');
}

static void json_item(const ag_ensemble_report *r, ag_json *j, int item) {
  const int value = r->items[item].value;
  ag_json_begin(j, r->items[item].name, '{');
  json_rows(r, j, "mean", value, ag_tally_mean);
  json_rows(r, j, "var", value, ag_tally_variance);
  json_rows(r, j, "stderr", value, ag_tally_stderr);
  json_rows(r, j, "min", value, ag_tally_least);
  json_rows(r, j, "max", value, ag_tally_largest);
  json_quantiles(r, j, value);
  json_histogram(r, j, value);
  json_average(r, j, value);
  ag_extrapolate_json(r, item, j);
  if (r->correlations) json_matrix(r, j, "correlations", r->options->n_row, item, ag_ensemble_correlation);
  ag_json_end(j, '}');
}

void ag_ensemble_path_json(const ag_ensemble_report *r, long path, int n_row, const double *values, ag_json *j) {
  ag_json_whole(j, "path", path);
  ag_json_bool(j, "failed", n_row < r->options->n_row);
  ag_json_begin(j, "observables", '{');
  for (int i = 0; i < r->n_item; i++) {
    ag_json_begin(j, r->items[i].name, '[');
    for (int k = 0; k < n_row; k++) ag_json_number(j, NULL, values[k * r->result->n_value + r->items[i].value]);
    ag_json_end(j, ']');
  }
  ag_json_end(j, '}');
}

const double *ag_ensemble_rows(const ag_ensemble_report *r, long k) {
  return r->in_full + (size_t)k * (size_t)(r->options->n_row * r->result->n_value);
}

static void json_passages(const ag_ensemble_report *r, ag_json *j) {
  ag_text key = {0};
  ag_json_begin(j, "passages", '{');
  for (int i = 0; i < r->result->n_passage; i++) {
    const ag_tally *t = r->result->passages[i];
    const ag_histogram h = ag_tally_histogram(t, 0);
    ag_json_begin(j, r->passage_names[i], '{');
    ag_json_whole(j, "passed", (long)ag_tally_count(t));
    ag_json_number(j, "mean", ag_tally_mean(t, 0));
    ag_json_number(j, "var", ag_tally_variance(t, 0));
    ag_json_number(j, "stderr", ag_tally_stderr(t, 0));
    ag_json_number(j, "min", ag_tally_least(t, 0));
    ag_json_number(j, "max", ag_tally_largest(t, 0));
    ag_json_begin(j, "quantiles", '{');
    for (int q = 0; q < N_LEVEL; q++) {
      key.n = 0;
      ag_text_printf(&key, "%g", levels[q]);
      ag_json_number(j, ag_text_cstr(&key), ag_tally_quantile(t, 0, levels[q]));
    }
    ag_json_end(j, '}');
    ag_json_begin(j, "histogram", '{');
    json_bins(&h, j);
    ag_json_end(j, '}');
    ag_json_end(j, '}');
  }
  ag_json_end(j, '}');
  ag_text_done(&key);
}

static void json_chosen(const ag_ensemble_report *r, ag_json *j) {
  ag_json_begin(j, "chosen", '[');
  for (long k = 0; k < r->n_chosen; k++) {
    ag_json_begin(j, NULL, '{');
    ag_ensemble_path_json(r, r->chosen[k], r->reached[k], ag_ensemble_rows(r, k), j);
    ag_json_end(j, '}');
  }
  ag_json_end(j, ']');
}

void ag_ensemble_json(const ag_ensemble_report *r, ag_json *j) {
  const ag_ensemble *e = r->result;
  const ag_wiener *w = &r->options->path;
  ag_json_string(j, "model", ag_model_name(ag_system_model(r->system)));
  ag_json_string(j, "method", r->options->method->name);
  ag_json_number(j, "dt", ag_ensemble_step(r));
  ag_json_number(j, "dt_base", w->base);
  ag_json_begin(j, "times", '[');
  for (int row = 0; row < r->options->n_row; row++) ag_json_number(j, NULL, ag_ensemble_time(r, row));
  ag_json_end(j, ']');
  ag_json_begin(j, "observables", '{');
  for (int i = 0; i < r->n_item; i++) json_item(r, j, i);
  ag_json_end(j, '}');
  if (r->covariances) {
    ag_json_begin(j, "covariances", '[');
    for (int row = 0; row < r->options->n_row; row++) json_matrix(r, j, NULL, r->n_item, row, ag_ensemble_covariance);
    ag_json_end(j, ']');
  }
  if (r->n_chosen) json_chosen(r, j);
  if (e->n_passage) json_passages(r, j);
  ag_json_whole(j, "paths", (long)e->done);
  ag_json_whole(j, "failed", (long)e->failed);
  ag_json_begin(j, "failures", '[');
  for (int i = 0; i < e->n_failure; i++) {
    ag_json_begin(j, NULL, '{');
    ag_json_whole(j, "path", (long)e->failures[i].path);
    ag_json_number(j, "before", ag_ensemble_time(r, e->failures[i].row));
    ag_json_end(j, '}');
  }
  ag_json_end(j, ']');
  ag_json_whole(j, "truncated", (long)e->cut);
  if (ag_stepper_tests(r->options->method)) ag_json_number(j, "acceptance", ag_ensemble_acceptance(r));
  ag_json_whole(j, "seed", (long)w->seed);
  ag_json_bool(j, "antithetic", w->mirror);
  if (e->extrapolated) ag_json_number(j, "weak_order", ag_ensemble_weak(r->system, r->options->method));
  ag_json_bool(j, "interrupted", e->stopped);
  ag_json_whole(j, "lanes", e->lanes);
  ag_json_whole(j, "threads", e->threads);
  ag_json_number(j, "path_steps_per_second", rate(r));
}

/* ---- one path ---- */

void ag_ensemble_csv(const ag_ensemble_report *r, unsigned long long path, int n_row, const double *values,
                     ag_text *out) {
  const ag_wiener w = r->options->path;
  ag_csv_path(out, &w, path, r->options->method->name, ag_ensemble_step(r));
  ag_text_char(out, 't');
  for (int i = 0; i < r->n_item; i++) {
    ag_text name = {0};
    ag_text_char(out, ',');
    ag_text_str(&name, r->items[i].name);
    ag_csv_quoted(out, ag_text_cstr(&name));
    ag_text_done(&name);
  }
  ag_text_char(out, '\n');
  for (int row = 0; row < n_row; row++) {
    ag_text_number(out, ag_ensemble_time(r, row));
    for (int i = 0; i < r->n_item; i++) ag_csv_number(out, values[row * r->result->n_value + r->items[i].value]);
    ag_text_char(out, '\n');
  }
}
