/* SPDX-License-Identifier: MIT */
#include "cli/result.h"
#include "base/number.h"

#include "base/arena.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/output.h"

enum { EVENTS_SHOWN = 8 };

/* As short as reads back; a negative zero is shown as 0. */
static void put_number(ag_text *out, double v) { ag_text_number(out, v == 0 ? 0 : v); }

void ag_result_value(int rows, int cols, const double *values, int indent, ag_text *out) {
  if (rows == 1 && cols == 1) {
    put_number(out, values[0]);
    return;
  }
  if (cols == 1) {
    ag_text_char(out, '[');
    for (int i = 0; i < rows; i++) {
      if (i) ag_text_str(out, ", ");
      put_number(out, values[i]);
    }
    ag_text_char(out, ']');
    return;
  }
  for (int r = 0; r < rows; r++) {
    ag_text_str(out, r ? "\n" : "[");
    for (int i = 0; r && i < indent + 1; i++) ag_text_char(out, ' ');
    ag_text_char(out, '[');
    for (int c = 0; c < cols; c++) {
      if (c) ag_text_str(out, ", ");
      put_number(out, values[r * cols + c]);
    }
    ag_text_str(out, r + 1 < rows ? "]," : "]]");
  }
}

void ag_result_columns(const ag_record *record, const double *values, ag_column_kind kind, ag_text *out) {
  size_t width = 12;
  for (int i = 0; i < record->n_column; i++) {
    const ag_column *c = &record->columns[i];
    bool listed = c->kind == AG_COL_COORD || c->kind == AG_COL_VELOCITY || c->kind == AG_COL_PROCESS ||
                  c->kind == AG_COL_OBSERVABLE;
    if (listed && strlen(c->name) > width) width = strlen(c->name);
  }
  for (int i = 0; i < record->n_column; i++) {
    const ag_column *c = &record->columns[i];
    if (c->kind != kind) continue;
    ag_text_printf(out, "  %-*s  ", (int)width, c->name);
    ag_result_value(c->rows, c->cols, values + c->offset, (int)width + 4, out);
    ag_text_char(out, '\n');
  }
}

void ag_result_json_columns(ag_json *j, const char *key, const ag_record *record, const double *values,
                            ag_column_kind from, ag_column_kind to) {
  ag_json_begin(j, key, '{');
  for (int i = 0; i < record->n_column; i++) {
    const ag_column *c = &record->columns[i];
    if (c->kind >= from && c->kind <= to) ag_json_tensor(j, c->name, c->rows, c->cols, values + c->offset);
  }
  ag_json_end(j, '}');
}

void ag_result_json_params(ag_json *j, const ag_system *sys) {
  const ag_model *m = ag_system_model(sys);
  ag_json_begin(j, "parameters", '{');
  for (int i = 0; i < ag_model_n_params(m); i++) {
    const ag_param *p = &ag_model_params(m)[i];
    if (p->integer) ag_json_whole(j, p->name, lround(p->number));
    else
      ag_json_tensor(j, p->name, ag_node_rows(ag_model_nodes(m), p->input), ag_node_cols(ag_model_nodes(m), p->input),
                     ag_system_param_values(sys) + ag_layout_item(sys, AG_LAYOUT_PARAMETER, i)->at);
  }
  ag_json_end(j, '}');
}

void ag_result_json_files(ag_json *j, const char *path) {
  ag_json_begin(j, "files", '[');
  if (path) {
    ag_json_begin(j, NULL, '{');
    ag_json_string(j, "path", path);
    ag_json_whole(j, "bytes", ag_output_bytes(path));
    ag_json_end(j, '}');
  }
  ag_json_end(j, ']');
}

static void json_left(ag_json *j, const ag_outcome *o) {
  const ag_run_result *r = o->result;
  if (!r->left) {
    ag_json_string(j, "left_domain", NULL);
    return;
  }
  ag_text name = {0};
  ag_print(ag_model_nodes(ag_system_model(o->system)), ag_model_domains(ag_system_model(o->system))[r->left - 1].x,
           &name);
  ag_json_begin(j, "left_domain", '{');
  ag_json_string(j, "of", ag_text_cstr(&name));
  ag_json_number(j, "t", r->left_t);
  ag_json_number(j, "value", r->left_value);
  ag_json_number(j, "from", r->left_from);
  ag_json_number(j, "to", r->left_to);
  ag_json_end(j, '}');
  ag_text_done(&name);
}

/* ---- energy ---- */

static double energy_of(const ag_outcome *o) { return *ag_record_kind(o->record, o->result->record, AG_COL_ENERGY); }

/* "1.5, at the start 1.5, drift at most 1e-12, 1e-12 of kinetic + |potential|"; or change, work and their difference.
 */
static void put_energy(const ag_outcome *o, ag_text *out) {
  const ag_run_result *r = o->result;
  ag_text_printf(out, "  %-12s  ", "energy");
  ag_text_number(out, energy_of(o));
  ag_text_str(out, ", at the start ");
  ag_text_number(out, r->energy0);
  if (r->energy_law == AG_ENERGY_CONSERVED) {
    ag_text_printf(out, ", drift at most %.3g", ag_run_drift(o->record, r));
    if (r->energy_size > 0)
      ag_text_printf(out, ", %.1e of kinetic + |potential|", ag_run_drift(o->record, r) / r->energy_size);
    ag_text_char(out, '\n');
    return;
  }
  if (r->energy_law == AG_ENERGY_NOISE) {
    ag_text_printf(out, ", change %.6g\n", energy_of(o) - r->energy0);
    return;
  }
  ag_text_printf(out, ", change %.6g\n  %-12s  %.6g", energy_of(o) - r->energy0, "work done", r->work);
  if (r->work_t != r->t)
    ag_text_printf(out, " until t = %.6g (measuring takes time: the first 20000 steps)", r->work_t);
  ag_text_printf(out, ", change of energy less work %.3g", ag_run_balance(r));
  if (r->energy_size > 0)
    ag_text_printf(out, ", %.1e of kinetic + |potential|", fabs(ag_run_balance(r)) / r->energy_size);
  ag_text_char(out, '\n');
}

static void json_noise(ag_json *j, const ag_outcome *o) {
  ag_json_begin(j, "noise", '{');
  ag_json_whole(j, "seed", (long)o->options->seed);
  ag_json_whole(j, "path", (long)o->options->path);
  ag_json_number(j, "dt_base", ag_run_path(o->system, o->options).base);
  ag_json_string(j, "class", ag_noise_word(ag_system_noise(o->system)));
  ag_json_whole(j, "truncated", o->result->truncated);
  if (o->result->accepted >= 0) ag_json_number(j, "acceptance", (double)o->result->accepted / (double)o->result->steps);
  ag_json_end(j, '}');
}

static void json_energy(ag_json *j, const ag_outcome *o) {
  const ag_run_result *r = o->result;
  bool kept = r->energy_law == AG_ENERGY_CONSERVED, worked = !kept && r->energy_law != AG_ENERGY_NOISE;
  ag_json_string(j, "energy_law", ag_energy_word(r->energy_law));
  ag_json_number(j, "energy_start", r->energy0);
  ag_json_number(j, "energy_change", energy_of(o) - r->energy0);
  ag_json_number(j, "energy_drift", kept ? ag_run_drift(o->record, r) : NAN);
  ag_json_number(j, "energy_size", r->energy_size);
  ag_json_number(j, "work", worked ? r->work : NAN);
  ag_json_number(j, "work_t", worked ? r->work_t : NAN);
  ag_json_number(j, "energy_balance", worked ? ag_run_balance(r) : NAN);
}

static void put_events(const ag_outcome *o, ag_text *out) {
  const ag_model *m = ag_system_model(o->system);
  const ag_run_result *r = o->result;
  if (!o->options->events) return;
  for (int i = 0; i < ag_model_n_events(m); i++) {
    int n = r->event_count[i];
    ag_text_printf(out, "  %-12s  %s: ", i ? "" : "events", ag_model_events(m)[i].name);
    if (!n) ag_text_str(out, "never");
    else ag_text_printf(out, "%d time%s, at t = ", n, n == 1 ? "" : "s");
    for (int k = 0; k < n && k < EVENTS_SHOWN; k++) {
      if (k) ag_text_str(out, ", ");
      ag_text_number(out, r->event_times[i][k]);
    }
    ag_text_printf(out, "%s%s\n", n > EVENTS_SHOWN ? ", ..." : "", r->fitted[i] ? " (not proved)" : "");
  }
}

static void put_section(const ag_outcome *o, ag_text *out) {
  const ag_run_result *r = o->result;
  int e = ag_model_n_events(ag_system_model(o->system)), n = o->options->section ? r->event_count[e] : 0;
  if (!o->options->section) return;
  ag_text_printf(out, "  %-12s  %s: %d crossing%s", "section", ag_run_event(o->system, o->options, e)->name, n,
                 n == 1 ? "" : "s");
  if (n) ag_text_str(out, n > 1 ? ", t = " : ", at t = "), ag_text_number(out, r->event_times[e][0]);
  if (n > 1) ag_text_str(out, " to "), ag_text_number(out, r->event_times[e][n - 1]);
  ag_text_str(out, r->fitted[e] ? " (not proved)\n" : "\n");
}

static void put_end(const ag_outcome *o, ag_text *out) {
  const ag_run_result *r = o->result;
  ag_text_printf(out, "  %-12s  %s", "ended", ag_end_word(r->end));
  if (r->end == AG_END_EVENT)
    ag_text_printf(out, " %s", ag_model_events(ag_system_model(o->system))[r->end_event].name);
  ag_text_str(out, r->end == AG_END_STICKS ? " at t = " : ", t = ");
  ag_text_number(out, r->t);
  ag_text_str(out, " (started at t = ");
  ag_text_number(out, o->options->t0);
  ag_text_str(out, ")\n");
}

void ag_result_summary(const ag_outcome *o, ag_text *out) {
  const ag_model *m = ag_system_model(o->system);
  const ag_run_result *r = o->result;
  const ag_run_options *q = o->options;
  ag_text_printf(out, "%s%s%s\n", ag_model_name(m), *ag_model_title(m) ? ": " : "", ag_model_title(m));
  put_end(o, out);
  ag_text_printf(out, "  %-12s  %s, ", "method", q->method->name);
  if (q->dt > 0) ag_text_printf(out, "dt %g", q->dt);
  else ag_text_printf(out, "rtol %g, atol %g", q->rtol, r->atol);
  if (!(q->dt > 0) && r->least_atol < r->atol) ag_text_printf(out, " (down to %g)", r->least_atol);
  if (q->project) ag_text_printf(out, ", projected onto %s", q->project);
  ag_text_printf(out, ", %s, %s\n",
                 q->multipliers                                       ? "with multipliers"
                 : ag_system_elimination(o->system) == AG_ELIM_SADDLE ? "sparse, with multipliers"
                                                                      : "velocities eliminated",
                 r->compiled ? "compiled" : "interpreted");
  ag_text_printf(out, "  %-12s  %ld (%ld rejected, %ld right-hand sides) in %.3g s\n", "steps", r->steps, r->rejected,
                 r->rhs, o->seconds);
  if (q->noise == AG_NOISE_PATH)
    ag_text_printf(out, "  %-12s  seed %llu, path %llu, grid of %s, %s (Stratonovich)\n", "noise", q->seed, q->path,
                   ag_number_text(ag_run_path(o->system, q).base).s, ag_noise_word(ag_system_noise(o->system)));
  if (r->accepted >= 0 && r->steps)
    ag_text_printf(out, "  %-12s  %.6g of the steps\n", "accepted", (double)r->accepted / (double)r->steps);
  put_energy(o, out);
  if (ag_system_dims(o->system)->row)
    ag_text_printf(out, "  %-12s  largest residual seen %.3g\n", "constraints", r->residual_max);
  if (r->left) {
    ag_text_printf(out, "  %-12s  left: ", "domain");
    ag_run_left(o->system, r, out);
    ag_text_char(out, '\n');
  }
  put_events(o, out);
  put_section(o, out);
  if (o->output) {
    ag_text_printf(out, "  %-12s  ", "file");
    ag_output_size(o->output, out);
    ag_text_char(out, '\n');
  }
  ag_text_str(out, "final state\n");
  ag_result_columns(o->record, r->record, AG_COL_COORD, out);
  ag_result_columns(o->record, r->record, AG_COL_VELOCITY, out);
  ag_result_columns(o->record, r->record, AG_COL_PROCESS, out);
  if (ag_model_n_observables(m)) ag_text_str(out, "observables\n");
  ag_result_columns(o->record, r->record, AG_COL_OBSERVABLE, out);
}

static void put_series(ag_json *j, const char *key, const ag_record *record, ag_spool *series) {
  ag_json_begin(j, key, '{');
  for (int i = 0; i < record->n_column; i++) {
    const ag_column *c = &record->columns[i];
    int size = c->rows * c->cols;
    double *part = ag_heap_alloc(sizeof *part * (size_t)(series->block * size)),
           *value = ag_heap_alloc(sizeof *value * (size_t)(size + 1));
    ag_json_begin(j, c->name, '[');
    for (long from = 0, n = 1; from < series->n && n > 0 && !j->failed; from += n) {
      n = ag_spool_read(series, from, c->offset, size, part);
      for (long k = 0; k < n; k++) {
        for (int e = 0; e < size; e++) value[e] = part[e * n + k];
        ag_json_tensor(j, NULL, c->rows, c->cols, value);
      }
    }
    ag_json_end(j, ']');
    free(part);
    free(value);
  }
  ag_json_end(j, '}');
  if (series->trouble) j->failed = true;
}

/* "section": {"name", "direction", "crossings", "points": {column: [value at each crossing]}} */
static void json_section(ag_json *j, const ag_outcome *o, ag_spool *points) {
  static const char *const direction[] = {"falling", "both", "rising"};
  int e = ag_model_n_events(ag_system_model(o->system));
  const ag_event *section = ag_run_event(o->system, o->options, e);
  ag_json_begin(j, "section", '{');
  ag_json_string(j, "name", section->name);
  ag_json_string(j, "direction", direction[section->direction + 1]);
  ag_json_whole(j, "crossings", o->result->event_count[e]);
  if (points) put_series(j, "points", o->record, points);
  ag_json_end(j, '}');
}

static void json_reason(ag_json *j, const ag_run_result *r) {
  ag_text out = {0};
  ag_text_str(&out, ag_end_word(r->end));
  if (r->end == AG_END_STICKS) ag_text_str(&out, " at t = "), ag_text_number(&out, r->t);
  ag_json_string(j, "end", ag_text_cstr(&out));
  ag_text_done(&out);
}

void ag_result_json(ag_json *j, const ag_outcome *o, ag_spool *series) {
  const ag_model *m = ag_system_model(o->system);
  const ag_run_result *r = o->result;
  const ag_run_options *q = o->options;
  ag_json_begin(j, NULL, '{');
  ag_json_string(j, "model", ag_model_name(m));
  ag_json_number(j, "t", r->t);
  ag_result_json_columns(j, "state", o->record, r->record, AG_COL_COORD, AG_COL_PROCESS);
  ag_result_json_columns(j, "observables", o->record, r->record, AG_COL_OBSERVABLE, AG_COL_OBSERVABLE);
  ag_json_number(j, "energy", *ag_record_kind(o->record, r->record, AG_COL_ENERGY));
  ag_json_number(j, "constraint_residual", *ag_record_kind(o->record, r->record, AG_COL_RESIDUAL));
  ag_json_whole(j, "steps", r->steps);
  ag_json_whole(j, "rejected", r->rejected);
  json_reason(j, r);
  ag_json_begin(j, "events", '{');
  for (int i = 0; q->events && i < ag_model_n_events(m); i++) {
    ag_json_begin(j, ag_model_events(m)[i].name, '[');
    for (int k = 0; k < r->event_count[i]; k++) ag_json_number(j, NULL, r->event_times[i][k]);
    ag_json_end(j, ']');
  }
  ag_json_end(j, '}');
  ag_json_begin(j, "proved", '{');
  for (int i = 0; i < r->n_event; i++)
    if (q->events || i >= ag_model_n_events(m))
      ag_json_bool(j, ag_run_event(o->system, q, i)->name,
                   !r->fitted[i] && q->noise != AG_NOISE_PATH); /* on a path: looked at on the grid */
  ag_json_end(j, '}');
  ag_json_warnings(j, o->ctx);
  ag_json_string(j, "why", r->why);
  json_left(j, o);
  ag_json_string(j, "end_event", r->end == AG_END_EVENT ? ag_model_events(m)[r->end_event].name : NULL);
  ag_json_number(j, "t0", q->t0);
  ag_json_string(j, "method", q->method->name);
  if (q->project) ag_json_string(j, "project", q->project);
  bool sparse = ag_system_elimination(o->system) == AG_ELIM_SADDLE;
  ag_json_string(j, "closure", q->multipliers ? "multipliers" : sparse ? "sparse" : "eliminated");
  ag_json_string(j, "engine", r->compiled ? "compiled" : "interpreted");
  if (q->noise == AG_NOISE_PATH) json_noise(j, o);
  json_energy(j, o);
  ag_json_number(j, "constraint_residual_max", r->residual_max);
  ag_json_whole(j, "right_hand_sides", r->rhs);
  ag_json_number(j, "seconds", o->seconds);
  ag_result_json_params(j, o->system);
  ag_result_json_files(j, o->output);
  if (q->section) json_section(j, o, series);
  else if (series) put_series(j, "series", o->record, series);
  ag_json_end(j, '}');
}
