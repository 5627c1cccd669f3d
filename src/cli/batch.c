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
#include "cli/tale.h"

enum { FAILURES_SHOWN = 10 };

/* ---- the table ---- */

static void write_table(const ag_tale *t, ag_text *out) {
  ag_tale_heading(t, "end,t,steps", out);
  for (long m = 0; m < t->members->n; m++) {
    for (int i = 0; i < t->sweep->n_name; i++)
      ag_text_printf(out, "%.17g,", t->members->values[m * t->sweep->n_name + i]);
    ag_csv_quoted(out, ag_tale_end(t, m));
    ag_text_printf(out, ",%.17g,%ld", ag_tale_time(t, m), ag_tale_member(t, m) ? ag_tale_member(t, m)->steps : 0);
    for (int i = 0; i < t->n_pick; i++)
      for (int k = 0; k < ag_pick_size(&t->picks[i]); k++)
        ag_text_printf(out, ",%.17g", ag_tale_record(t, m)[ag_pick_offset(&t->picks[i]) + k]);
    ag_text_char(out, '\n');
  }
}

/* ---- JSON ---- */

static double rate(const ag_tale *t) {
  long done = t->members->n - t->n_stopped;
  return t->result->seconds > 0 ? (double)done / t->result->seconds : 0;
}

static void write_failures(const ag_tale *t, ag_json *j) {
  ag_json_begin(j, "failures", '[');
  for (long m = 0; m < t->members->n; m++) {
    if (!ag_tale_failed(t, m)) continue;
    ag_json_begin(j, NULL, '{');
    ag_json_whole(j, "member", m + 1);
    ag_json_string(j, "reason", ag_tale_end(t, m));
    ag_json_number(j, "t", ag_tale_time(t, m));
    ag_json_end(j, '}');
  }
  ag_json_end(j, ']');
}

static void write_columns(const ag_tale *t, ag_json *j) {
  ag_text name = {0};
  ag_json_begin(j, "columns", '{');
  for (int i = 0; i < t->n_pick; i++) {
    const ag_pick *p = &t->picks[i];
    bool whole = p->entry < 0;
    if (!whole) ag_pick_name(p, 0, &name);
    ag_json_begin(j, whole ? p->column->name : name.s, '[');
    for (long m = 0; m < t->members->n; m++)
      ag_json_tensor(j, NULL, whole ? p->column->rows : 1, whole ? p->column->cols : 1,
                     ag_tale_record(t, m) + ag_pick_offset(p));
    ag_json_end(j, ']');
  }
  ag_json_end(j, '}');
  ag_text_done(&name);
}

static void write_json(const ag_tale *t, ag_json *j) {
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
  for (long m = 0; m < t->members->n; m++) ag_json_string(j, NULL, ag_tale_end(t, m));
  ag_json_end(j, ']');
  ag_json_begin(j, "t", '[');
  for (long m = 0; m < t->members->n; m++) ag_json_number(j, NULL, ag_tale_time(t, m));
  ag_json_end(j, ']');
  ag_json_begin(j, "steps", '[');
  for (long m = 0; m < t->members->n; m++)
    ag_json_whole(j, NULL, ag_tale_member(t, m) ? ag_tale_member(t, m)->steps : 0);
  ag_json_end(j, ']');
  write_columns(t, j);
  write_failures(t, j);
  if (o->section) ag_points_json(t, j);
  ag_json_whole(j, "off_level", t->members->n_off);
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
static void write_ends(const ag_tale *t, ag_text *out) {
  long count[AG_END_SINK + 1] = {0}, lame = 0;
  for (long m = 0; m < t->members->n; m++) {
    const ag_batch_member *b = ag_tale_member(t, m);
    if (b) count[b->end]++;
    else lame++;
  }
  const char *comma = "";
  for (int e = 0; e <= AG_END_SINK; e++) {
    if (!count[e]) continue;
    ag_text_printf(out, "%s%ld %s", comma, count[e], ag_end_word((ag_end)e));
    comma = ", ";
  }
  lame -= t->members->n_off;
  if (t->members->n_off) ag_text_printf(out, "%s%ld not on the level", comma, t->members->n_off), comma = ", ";
  if (lame) ag_text_printf(out, "%s%ld could not start", comma, lame);
}

/* Smallest and largest value over the members that ended well. */
static void write_range(const ag_tale *t, const ag_pick *p, int k, ag_text *out) {
  double lo = INFINITY, hi = -INFINITY;
  ag_text name = {0};
  ag_pick_name(p, k, &name);
  for (long m = 0; m < t->members->n; m++) {
    double v = ag_tale_record(t, m)[ag_pick_offset(p) + k];
    if (ag_tale_failed(t, m) || !isfinite(v)) continue;
    lo = fmin(lo, v);
    hi = fmax(hi, v);
  }
  ag_text_printf(out, "  %-20s  ", name.s);
  if (lo <= hi) ag_text_printf(out, "%.6g to %.6g", lo == 0 ? 0 : lo, hi == 0 ? 0 : hi);
  else ag_text_str(out, "no numbers");
  ag_text_char(out, '\n');
  ag_text_done(&name);
}

static void write_lame(const ag_tale *t, ag_text *out) {
  long shown = 0;
  if (t->n_failed) ag_text_str(out, "failures\n");
  for (long m = 0; m < t->members->n && shown < FAILURES_SHOWN; m++) {
    if (!ag_tale_failed(t, m)) continue;
    shown++;
    ag_text_printf(out, "  member %ld (", m + 1);
    for (int i = 0; i < t->sweep->n_name; i++) {
      ag_text_printf(out, "%s%s = ", i ? ", " : "", t->sweep->names[i]);
      ag_text_number(out, t->members->values[m * t->sweep->n_name + i]);
    }
    ag_text_printf(out, "): %s", ag_tale_end(t, m));
    if (ag_tale_member(t, m)) ag_text_str(out, ", t = "), ag_text_number(out, ag_tale_time(t, m));
    ag_text_char(out, '\n');
  }
  if (t->n_failed > shown) ag_text_printf(out, "  and %ld more\n", t->n_failed - shown);
}

static void write_summary(const ag_tale *t, const char *output, ag_text *out) {
  const ag_model *m = t->members->source.model;
  const ag_batch_result *r = t->result;
  const ag_run_options *o = &t->options->run;
  long steps = 0, rejected = 0;
  for (long i = 0; i < r->n; i++) steps += r->members[i].steps, rejected += r->members[i].rejected;
  ag_text_printf(out, "%s%s%s\n", m->name, *m->title ? ": " : "", m->title);
  ag_text_printf(out, "  %-12s  %ld", "members", t->members->n);
  int n_axis = t->sweep->n_axis - (t->sweep->n_solved > 0), n_swept = t->sweep->n_name - t->sweep->n_solved;
  for (int i = 0; i < n_axis && n_axis > 1; i++) ag_text_printf(out, "%s%ld", i ? " x " : " = ", t->sweep->axes[i].n);
  ag_text_printf(out, " (%s", t->sweep->names[0]);
  for (int i = 1; i < t->sweep->n_name; i++)
    ag_text_printf(out, "%s%s", i == n_swept ? "; solved for: " : ", ", t->sweep->names[i]);
  ag_text_printf(out, ")\n  %-12s  ", "ended");
  write_ends(t, out);
  ag_text_printf(out, "\n  %-12s  %s, ", "method", o->method->name);
  if (o->dt > 0) ag_text_printf(out, "dt %g, ", o->dt);
  else ag_text_printf(out, "rtol %g, atol %g, ", o->rtol, o->atol);
  if (r->lanes)
    ag_text_printf(out, "%d lanes on %d thread%s%s\n", r->lanes, r->threads, r->threads == 1 ? "" : "s",
                   r->core_only ? ", only what the columns need" : "");
  else
    ag_text_printf(out, "member by member (%s) on %d thread%s\n", r->note ? r->note : "", r->threads,
                   r->threads == 1 ? "" : "s");
  ag_text_printf(out, "  %-12s  %ld (%ld rejected) in %.3g s, %.4g trajectories/s\n", "steps", steps, rejected,
                 r->seconds, rate(t));
  if (o->section) {
    long n = ag_tale_n_points(t);
    ag_text_printf(out, "  %-12s  %s: %ld crossing%s, %.4g/s\n", "section", m->sections[o->section - 1].name, n,
                   n == 1 ? "" : "s", r->seconds > 0 ? (double)n / r->seconds : 0);
  }
  if (output) ag_text_printf(out, "  %-12s  %s\n", o->section ? "points" : "table", output);
  ag_text_str(out, "at the end\n");
  for (int i = 0; i < t->n_pick; i++)
    for (int k = 0; k < ag_pick_size(&t->picks[i]); k++) write_range(t, &t->picks[i], k, out);
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
static ag_status tell(const ag_tale *t, const ag_common *common, const char *output) {
  ag_status saved = AG_OK;
  ag_json j = {0};
  ag_text out = {0};
  bool json_file = output && ends_with(output, ".json");
  if (common->json || json_file) write_json(t, &j);
  if (output && ends_with(output, ".h5")) {
    saved = ag_tale_h5(t, common, t->strict, output);
  } else if (output && !json_file) {
    if (t->options->run.section) ag_points_table(t, &out);
    else write_table(t, &out);
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
  else if (t->n_failed) fprintf(stderr, "error: %ld of %ld members failed\n", t->n_failed, t->members->n);
  ag_status status = t->n_failed ? AG_FAILED : AG_OK;
  return saved > status ? saved : status;
}

static void show_progress(void *self, long done, long n) {
  (void)n;
  ag_progress_show(self, (double)done, 0);
}

/* Only events that are terminal or cut steps matter to where a motion ends; looking for them costs the lanes. */
static bool any_terminal(const ag_model *m) {
  for (int i = 0; i < m->n_events; i++)
    if (m->events[i].terminal || m->events[i].cuts) return true;
  return false;
}

static void count_failures(ag_tale *t) {
  const ag_batch_result *r = t->result;
  t->row = ag_heap_alloc(sizeof *t->row * (size_t)(t->members->n + 1));
  t->blank = ag_heap_alloc(sizeof *t->blank * (size_t)(r->width + 1));
  for (int i = 0; i < r->width; i++) t->blank[i] = NAN;
  for (long i = 0; i < t->members->n; i++) t->row[i] = -1;
  for (long i = 0; i < r->n; i++) {
    t->row[t->members->index[i]] = i;
    t->n_stopped += r->members[i].end == AG_END_STOPPED;
  }
  t->n_failed = r->n_failed + t->members->n - r->n - t->members->n_off;
}

static ag_status run_members(const ag_common *common, const ag_batch_args *args, const ag_run_options *run, bool strict,
                             const char *output, const ag_grid *sweep, ag_members *m) {
  const ag_system *sys = m->source.system;
  ag_batch_options o;
  ag_batch_defaults(&o);
  o.run = *run;
  o.run.events = run->events && any_terminal(m->source.model);
  o.threads = (int)args->threads;
  ag_batch_result result = {0};
  ag_tale t = {.sweep = sweep, .members = m, .options = &o, .result = &result, .strict = strict};
  ag_record_init(&t.record, sys);
  ag_status status = ag_tale_columns(&t, args->columns);
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

/* What is held, what is solved for, and the members made of it. */
static ag_status make_members(ag_members *m, ag_grid *sweep, ag_levels *levels, const ag_common *common,
                              const ag_batch_args *args, const ag_run_options *run, bool strict) {
  ag_text error = {0};
  *sweep = (ag_grid){0};
  ag_status status = ag_levels_read(levels, &common->levels, args->solve, &error);
  if (status == AG_OK) status = ag_grid_read(sweep, &common->sweeps, args->starts, &error);
  if (status == AG_WRONG) status = ag_usage("run", "%s", ag_text_cstr(&error));
  else if (status != AG_OK) fprintf(stderr, "error: %s\n", ag_text_cstr(&error));
  ag_text_done(&error);
  *m = (ag_members){0};
  if (status != AG_OK) return status;
  ag_members_options o = {.t0 = run->t0, .strict = strict, .section = args->section, .levels = levels};
  status = ag_members_create(m, common->words[0], common, sweep, &o);
  return status == AG_OK ? AG_OK : ag_source_refuse(&m->source, status, common);
}

ag_status ag_batch_act(const ag_common *common, const ag_batch_args *args, const ag_run_options *run, bool strict,
                       const char *output) {
  ag_grid sweep;
  ag_levels levels;
  ag_members m;
  ag_status status = make_members(&m, &sweep, &levels, common, args, run, strict);
  ag_run_options o = *run;
  o.section = levels.section;
  if (status == AG_OK) status = run_members(common, args, &o, strict, output, &sweep, &m);
  ag_members_done(&m);
  ag_grid_done(&sweep);
  ag_levels_done(&levels);
  return status;
}

ag_status ag_batch_level(ag_common *common, const ag_batch_args *args, const ag_run_options *run, bool strict) {
  ag_grid sweep;
  ag_levels levels;
  ag_members m;
  ag_status status = make_members(&m, &sweep, &levels, common, args, run, strict);
  if (status == AG_OK && !m.n_ready) {
    fprintf(stderr, "error: the start: %s\n", m.reason[0]);
    if (common->json) {
      ag_json j = {0};
      ag_json_begin(&j, NULL, '{');
      ag_json_string(&j, "model", m.source.model->name);
      ag_json_string(&j, "error", m.reason[0]);
      ag_json_end(&j, '}');
      ag_json_print(&j);
    }
    status = AG_FAILED;
  }
  for (int i = 0; status == AG_OK && i < levels.n_solve; i++) {
    char value[40];
    snprintf(value, sizeof value, "%.17g", m.values[i]);
    ag_option_set(common, levels.solve[i], value);
  }
  ag_members_done(&m);
  ag_grid_done(&sweep);
  ag_levels_done(&levels);
  return status;
}
