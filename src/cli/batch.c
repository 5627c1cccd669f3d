/* SPDX-License-Identifier: MIT */
#include "cli/batch.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "cli/cli.h"
#include "cli/clock.h"
#include "cli/csv.h"
#include "cli/json.h"
#include "cli/members.h"

enum { FAILURES_SHOWN = 10 };

/* A column of the output: a whole column of the record, or one number of it. */
typedef struct pick {
  const ag_column *column;
  int entry; /* -1: all */
} pick;

/* All that a finished batch is told from. */
typedef struct tale {
  const ag_grid *sweep;
  const ag_members *members;
  const ag_batch_options *options;
  const ag_batch_result *result;
  ag_record record;
  int n_pick;
  pick *picks;
  bool *wanted; /* per column of the record */
  long *row;    /* per member: its row in the result, -1: it did not start */
  long n_failed, n_stopped;
  double *blank; /* a record without numbers */
} tale;

/* ---- columns ---- */

static void add_pick(tale *t, const ag_column *column, int entry) {
  t->picks = ag_heap_grow(t->picks, sizeof *t->picks * (size_t)(t->n_pick + 1));
  t->picks[t->n_pick++] = (pick){column, entry};
  t->wanted[column - t->record.columns] = true;
}

/* A column by its name, or one of its numbers as the header of a table names it. */
static bool find_pick(tale *t, const char *name) {
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

static ag_status unknown_column(const tale *t, const char *name) {
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
static ag_status choose_columns(tale *t, const char *text) {
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

static const ag_batch_member *member_at(const tale *t, long i) {
  return t->row[i] >= 0 ? &t->result->members[t->row[i]] : NULL;
}

static const double *record_at(const tale *t, long i) {
  return t->row[i] >= 0 ? t->result->records + t->row[i] * t->result->width : t->blank;
}

static const char *end_at(const tale *t, long i) {
  const ag_batch_member *m = member_at(t, i);
  return m ? ag_end_word(m->end) : t->members->reason[i];
}

static double time_at(const tale *t, long i) {
  const ag_batch_member *m = member_at(t, i);
  return m ? m->t : t->options->run.t0;
}

static bool failed_at(const tale *t, long i) {
  const ag_batch_member *m = member_at(t, i);
  return !m || ag_end_status(m->end) != AG_OK;
}

static int pick_size(const pick *p) { return p->entry >= 0 ? 1 : p->column->rows * p->column->cols; }

static int pick_offset(const pick *p) { return p->column->offset + (p->entry >= 0 ? p->entry : 0); }

static void pick_name(const pick *p, int k, ag_text *out) {
  ag_text_clear(out);
  ag_csv_name(p->column, p->entry >= 0 ? p->entry : k, out);
}

/* Swept values: a start value is told from the same quantity at the end. */
static void swept_name(const tale *t, int i, ag_text *out) {
  ag_text_clear(out);
  ag_text_printf(out, "%s%s", t->members->is_param[i] ? "" : "start ", t->sweep->names[i]);
}

/* ---- the table ---- */

static void write_table(const tale *t, ag_text *out) {
  ag_text name = {0};
  for (int i = 0; i < t->sweep->n_name; i++) {
    swept_name(t, i, &name);
    ag_csv_quoted(out, name.s);
    ag_text_char(out, ',');
  }
  ag_text_str(out, "end,t,steps");
  for (int i = 0; i < t->n_pick; i++)
    for (int k = 0; k < pick_size(&t->picks[i]); k++) {
      pick_name(&t->picks[i], k, &name);
      ag_text_char(out, ',');
      ag_csv_quoted(out, name.s);
    }
  ag_text_char(out, '\n');
  for (long m = 0; m < t->members->n; m++) {
    for (int i = 0; i < t->sweep->n_name; i++)
      ag_text_printf(out, "%.17g,", t->members->values[m * t->sweep->n_name + i]);
    ag_csv_quoted(out, end_at(t, m));
    ag_text_printf(out, ",%.17g,%ld", time_at(t, m), member_at(t, m) ? member_at(t, m)->steps : 0);
    for (int i = 0; i < t->n_pick; i++)
      for (int k = 0; k < pick_size(&t->picks[i]); k++)
        ag_text_printf(out, ",%.17g", record_at(t, m)[pick_offset(&t->picks[i]) + k]);
    ag_text_char(out, '\n');
  }
  ag_text_done(&name);
}

/* ---- JSON ---- */

static double rate(const tale *t) {
  long done = t->members->n - t->n_stopped;
  return t->result->seconds > 0 ? (double)done / t->result->seconds : 0;
}

static void write_failures(const tale *t, ag_json *j) {
  ag_json_begin(j, "failures", '[');
  for (long m = 0; m < t->members->n; m++) {
    if (!failed_at(t, m)) continue;
    ag_json_begin(j, NULL, '{');
    ag_json_whole(j, "member", m + 1);
    ag_json_string(j, "reason", end_at(t, m));
    ag_json_number(j, "t", time_at(t, m));
    ag_json_end(j, '}');
  }
  ag_json_end(j, ']');
}

static void write_columns(const tale *t, ag_json *j) {
  ag_text name = {0};
  ag_json_begin(j, "columns", '{');
  for (int i = 0; i < t->n_pick; i++) {
    const pick *p = &t->picks[i];
    bool whole = p->entry < 0;
    if (!whole) pick_name(p, 0, &name);
    ag_json_begin(j, whole ? p->column->name : name.s, '[');
    for (long m = 0; m < t->members->n; m++)
      ag_json_tensor(j, NULL, whole ? p->column->rows : 1, whole ? p->column->cols : 1,
                     record_at(t, m) + pick_offset(p));
    ag_json_end(j, ']');
  }
  ag_json_end(j, '}');
  ag_text_done(&name);
}

static void write_json(const tale *t, ag_json *j) {
  const ag_batch_result *r = t->result;
  const ag_run_options *o = &t->options->run;
  ag_json_begin(j, NULL, '{');
  ag_json_string(j, "model", t->members->source.model->name);
  ag_json_whole(j, "members", t->members->n);
  ag_json_whole(j, "failed", t->n_failed);
  ag_json_begin(j, "sweep", '{');
  for (int i = 0; i < t->sweep->n_name; i++) {
    ag_json_begin(j, t->sweep->names[i], '[');
    for (long m = 0; m < t->members->n; m++) ag_json_number(j, NULL, t->members->values[m * t->sweep->n_name + i]);
    ag_json_end(j, ']');
  }
  ag_json_end(j, '}');
  ag_json_begin(j, "end", '[');
  for (long m = 0; m < t->members->n; m++) ag_json_string(j, NULL, end_at(t, m));
  ag_json_end(j, ']');
  ag_json_begin(j, "t", '[');
  for (long m = 0; m < t->members->n; m++) ag_json_number(j, NULL, time_at(t, m));
  ag_json_end(j, ']');
  ag_json_begin(j, "steps", '[');
  for (long m = 0; m < t->members->n; m++) ag_json_whole(j, NULL, member_at(t, m) ? member_at(t, m)->steps : 0);
  ag_json_end(j, ']');
  write_columns(t, j);
  write_failures(t, j);
  ag_json_number(j, "t0", o->t0);
  ag_json_number(j, "t1", o->t1);
  ag_json_string(j, "method", o->method->name);
  ag_json_whole(j, "lanes", r->lanes);
  ag_json_whole(j, "threads", r->threads);
  ag_json_string(j, "member_by_member", r->note);
  ag_json_bool(j, "core_only", r->core_only);
  ag_json_number(j, "seconds", r->seconds);
  ag_json_number(j, "trajectories_per_second", rate(t));
  ag_json_end(j, '}');
}

/* ---- for people ---- */

/* "397 time reached, 2 step too small, 1 not started" */
static void write_ends(const tale *t, ag_text *out) {
  long count[AG_END_SINK + 1] = {0}, lame = 0;
  for (long m = 0; m < t->members->n; m++) {
    const ag_batch_member *b = member_at(t, m);
    if (b)
      count[b->end]++;
    else
      lame++;
  }
  const char *comma = "";
  for (int e = 0; e <= AG_END_SINK; e++) {
    if (!count[e]) continue;
    ag_text_printf(out, "%s%ld %s", comma, count[e], ag_end_word((ag_end)e));
    comma = ", ";
  }
  if (lame) ag_text_printf(out, "%s%ld could not start", comma, lame);
}

/* Smallest and largest value over the members that ended well. */
static void write_range(const tale *t, const pick *p, int k, ag_text *out) {
  double lo = INFINITY, hi = -INFINITY;
  ag_text name = {0};
  pick_name(p, k, &name);
  for (long m = 0; m < t->members->n; m++) {
    double v = record_at(t, m)[pick_offset(p) + k];
    if (failed_at(t, m) || !isfinite(v)) continue;
    lo = fmin(lo, v);
    hi = fmax(hi, v);
  }
  ag_text_printf(out, "  %-20s  ", name.s);
  if (lo <= hi)
    ag_text_printf(out, "%.6g to %.6g", lo == 0 ? 0 : lo, hi == 0 ? 0 : hi);
  else
    ag_text_str(out, "no numbers");
  ag_text_char(out, '\n');
  ag_text_done(&name);
}

static void write_lame(const tale *t, ag_text *out) {
  long shown = 0;
  if (t->n_failed) ag_text_str(out, "failures\n");
  for (long m = 0; m < t->members->n && shown < FAILURES_SHOWN; m++) {
    if (!failed_at(t, m)) continue;
    shown++;
    ag_text_printf(out, "  member %ld (", m + 1);
    for (int i = 0; i < t->sweep->n_name; i++) {
      ag_text_printf(out, "%s%s = ", i ? ", " : "", t->sweep->names[i]);
      ag_text_number(out, t->members->values[m * t->sweep->n_name + i]);
    }
    ag_text_printf(out, "): %s", end_at(t, m));
    if (member_at(t, m)) ag_text_str(out, ", t = "), ag_text_number(out, time_at(t, m));
    ag_text_char(out, '\n');
  }
  if (t->n_failed > shown) ag_text_printf(out, "  and %ld more\n", t->n_failed - shown);
}

static void write_summary(const tale *t, const char *output, ag_text *out) {
  const ag_model *m = t->members->source.model;
  const ag_batch_result *r = t->result;
  const ag_run_options *o = &t->options->run;
  long steps = 0, rejected = 0;
  for (long i = 0; i < r->n; i++) steps += r->members[i].steps, rejected += r->members[i].rejected;
  ag_text_printf(out, "%s%s%s\n", m->name, *m->title ? ": " : "", m->title);
  ag_text_printf(out, "  %-12s  %ld", "members", t->members->n);
  for (int i = 0; i < t->sweep->n_axis && t->sweep->n_axis > 1; i++)
    ag_text_printf(out, "%s%ld", i ? " x " : " = ", t->sweep->axes[i].n);
  ag_text_printf(out, " (%s", t->sweep->names[0]);
  for (int i = 1; i < t->sweep->n_name; i++) ag_text_printf(out, ", %s", t->sweep->names[i]);
  ag_text_printf(out, ")\n  %-12s  ", "ended");
  write_ends(t, out);
  ag_text_printf(out, "\n  %-12s  %s, ", "method", o->method->name);
  if (o->dt > 0)
    ag_text_printf(out, "dt %g, ", o->dt);
  else
    ag_text_printf(out, "rtol %g, atol %g, ", o->rtol, o->atol);
  if (r->lanes)
    ag_text_printf(out, "%d lanes on %d thread%s%s\n", r->lanes, r->threads, r->threads == 1 ? "" : "s",
                   r->core_only ? ", only what the columns need" : "");
  else
    ag_text_printf(out, "member by member (%s) on %d thread%s\n", r->note ? r->note : "", r->threads,
                   r->threads == 1 ? "" : "s");
  ag_text_printf(out, "  %-12s  %ld (%ld rejected) in %.3g s, %.4g trajectories/s\n", "steps", steps, rejected,
                 r->seconds, rate(t));
  if (output) ag_text_printf(out, "  %-12s  %s\n", "table", output);
  ag_text_str(out, "at the end\n");
  for (int i = 0; i < t->n_pick; i++)
    for (int k = 0; k < pick_size(&t->picks[i]); k++) write_range(t, &t->picks[i], k, out);
  write_lame(t, out);
}

/* ---- doing it ---- */

static ag_status save(const char *path, const ag_text *text) {
  FILE *f = fopen(path, "w");
  int error = f ? 0 : errno;
  if (f && fwrite(ag_text_cstr(text), 1, text->n, f) != text->n) error = errno;
  if (f && fclose(f) && !error) error = errno;
  if (!error) return AG_OK;
  fprintf(stderr, "error: cannot write %s: %s\n", path, strerror(error));
  return AG_SYSTEM;
}

static bool ends_with(const char *s, const char *end) {
  size_t n = strlen(s), m = strlen(end);
  return n > m && !strcmp(s + n - m, end);
}

/* Files and standard output; the worst status of all. */
static ag_status tell(const tale *t, const ag_common *common, const char *output) {
  ag_status saved = AG_OK;
  ag_json j = {0};
  ag_text out = {0};
  bool json_file = output && ends_with(output, ".json");
  if (common->json || json_file) write_json(t, &j);
  if (output && !json_file) {
    write_table(t, &out);
    saved = save(output, &out);
  } else if (json_file) {
    ag_text_str(&out, ag_text_cstr(&j.text));
    ag_text_char(&out, '\n');
    saved = save(output, &out);
  }
  ag_text_clear(&out);
  if (common->json) {
    ag_json_print(&j);
  } else {
    write_summary(t, saved == AG_OK ? output : NULL, &out);
    fputs(ag_text_cstr(&out), stdout);
    ag_text_done(&j.text);
  }
  ag_text_done(&out);
  fflush(stdout);
  if (t->n_stopped)
    fprintf(stderr, "stopped by %s: %ld of %ld members were finished%s%s\n", ag_stop_word(),
            t->members->n - t->n_stopped, t->members->n, output ? "; what was computed is in " : "",
            output ? output : "");
  else if (t->n_failed)
    fprintf(stderr, "error: %ld of %ld members failed\n", t->n_failed, t->members->n);
  ag_status status = t->n_failed ? AG_FAILED : AG_OK;
  return saved > status ? saved : status;
}

static void show_progress(void *self, long done, long n) {
  (void)n;
  ag_progress_show(self, (double)done, 0);
}

/* Only terminal events matter to where a motion ends; looking for them costs the lanes. */
static bool any_terminal(const ag_model *m) {
  for (int i = 0; i < m->n_events; i++)
    if (m->events[i].terminal) return true;
  return false;
}

static void count_failures(tale *t) {
  const ag_batch_result *r = t->result;
  t->row = ag_heap_alloc(sizeof *t->row * (size_t)(t->members->n + 1));
  t->blank = ag_heap_alloc(sizeof *t->blank * (size_t)(r->width + 1));
  for (int i = 0; i < r->width; i++) t->blank[i] = NAN;
  for (long i = 0; i < t->members->n; i++) t->row[i] = -1;
  for (long i = 0; i < r->n; i++) {
    t->row[t->members->index[i]] = i;
    t->n_stopped += r->members[i].end == AG_END_STOPPED;
  }
  t->n_failed = r->n_failed + t->members->n - r->n;
}

static ag_status run_members(const ag_common *common, const ag_batch_args *args, const ag_run_options *run,
                             const char *output, const ag_grid *sweep, ag_members *m) {
  const ag_system *sys = m->source.system;
  ag_batch_options o;
  ag_batch_defaults(&o);
  o.run = *run;
  o.run.events = run->events && any_terminal(m->source.model);
  o.threads = (int)args->threads;
  ag_batch_result result = {0};
  tale t = {.sweep = sweep, .members = m, .options = &o, .result = &result};
  ag_record_init(&t.record, sys);
  ag_status status = choose_columns(&t, args->columns);
  if (status == AG_OK) {
    o.columns = t.wanted;
    ag_progress progress;
    ag_progress_init(&progress, common->quiet, 0, (double)m->n_ready);
    progress.members = true;
    o.progress = show_progress;
    o.progress_self = &progress;
    o.run.stop = ag_stop_catch();
    status = ag_batch(&m->source.ctx, sys, m->n_ready, m->params, m->x0, &o, &result);
    ag_progress_done(&progress);
    ag_source_report(&m->source, common->quiet);
  }
  if (status == AG_OK) {
    count_failures(&t);
    status = tell(&t, common, output);
    ag_stop_release();
  }
  ag_batch_done(&result);
  ag_record_done(&t.record);
  free(t.picks);
  free(t.wanted);
  free(t.row);
  free(t.blank);
  return status;
}

ag_status ag_batch_act(const ag_common *common, const ag_batch_args *args, const ag_run_options *run, bool strict,
                       const char *output) {
  ag_grid sweep;
  ag_text error = {0};
  ag_status status = ag_grid_read(&sweep, &common->sweeps, args->starts, &error);
  if (status == AG_WRONG)
    status = ag_usage("run", "%s", ag_text_cstr(&error));
  else if (status != AG_OK)
    fprintf(stderr, "error: %s\n", ag_text_cstr(&error));
  ag_text_done(&error);
  if (status == AG_OK) {
    ag_members m;
    status = ag_members_create(&m, common->words[0], common, &sweep, run->t0, strict);
    if (status != AG_OK)
      status = ag_source_refuse(&m.source, status, common);
    else
      status = run_members(common, args, run, output, &sweep, &m);
    ag_members_done(&m);
  }
  ag_grid_done(&sweep);
  return status;
}
