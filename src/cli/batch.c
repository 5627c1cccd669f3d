/* SPDX-License-Identifier: MIT */
#include "cli/batch.h"

#include <errno.h>
#include <math.h>

#include "cli/cli.h"
#include "cli/clock.h"
#include "cli/csv.h"
#include "cli/open.h"
#include "cli/output.h"
#include "cli/result.h"

enum { FAILURES_SHOWN = 10 };

/* ---- the table ---- */

static void put_row(const ag_batch_report *b, long m, ag_text *out) {
  for (int i = 0; i < b->members->grid.n_name; i++) {
    ag_text_number(out, b->members->values[m * b->members->grid.n_name + i]);
    ag_text_char(out, ',');
  }
  ag_csv_quoted(out, ag_batch_report_end(b, m));
  ag_csv_number(out, ag_batch_report_time(b, m));
  ag_text_printf(out, ",%ld", anagyre_batch_steps(b->batch, m));
  for (int i = 0; i < b->n_pick; i++)
    for (int k = 0; k < ag_pick_size(&b->picks[i]); k++)
      ag_csv_number(out, ag_batch_report_record(b, m)[ag_pick_offset(&b->picks[i]) + k]);
  ag_text_char(out, '\n');
}

/* Writes the table: one row per member, or per point of the section. Prints errors. */
static ag_status save_table(const ag_batch_report *b, const ag_batch_store *store, const char *output) {
  ag_csv csv;
  ag_text header = {0};
  bool section = b->options.run.section;
  if (section) ag_text_str(&header, "member,");
  ag_batch_heading(b, section ? "crossing,t" : "end,t,steps", &header);
  bool good = ag_csv_begin(&csv, output, &header);
  ag_text_done(&header);
  if (!good) return ag_output_error(output, errno);
  if (section) good = ag_batch_points_table(store, &csv);
  for (long m = 0; m < b->members->n && !section && good; m++) {
    put_row(b, m, &csv.waiting);
    good = ag_csv_lines(&csv, 1);
  }
  ag_status status = ag_csv_report(&csv, output);
  ag_csv_done(&csv);
  return status;
}

/* ---- JSON ---- */

static double rate(const ag_batch_report *b) {
  long done = b->members->n - b->n_stopped;
  return b->result->seconds > 0 ? (double)done / b->result->seconds : 0;
}

static void write_failures(const ag_batch_report *b, ag_json *j) {
  ag_json_begin(j, "failures", '[');
  for (long m = 0; m < b->members->n; m++) {
    if (!ag_batch_report_failed(b, m)) continue;
    ag_json_begin(j, NULL, '{');
    ag_json_whole(j, "member", m + 1);
    ag_json_string(j, "reason", ag_batch_report_end(b, m));
    ag_json_number(j, "t", ag_batch_report_time(b, m));
    ag_json_end(j, '}');
  }
  ag_json_end(j, ']');
}

static void write_columns(const ag_batch_report *b, ag_json *j) {
  ag_text name = {0};
  ag_json_begin(j, "columns", '{');
  for (int i = 0; i < b->n_pick; i++) {
    const ag_pick *p = &b->picks[i];
    bool whole = p->entry < 0;
    if (!whole) ag_pick_name(p, 0, &name);
    ag_json_begin(j, whole ? p->column->name : name.s, '[');
    for (long m = 0; m < b->members->n; m++)
      ag_json_tensor(j, NULL, whole ? p->column->rows : 1, whole ? p->column->cols : 1,
                     ag_batch_report_record(b, m) + ag_pick_offset(p));
    ag_json_end(j, ']');
  }
  ag_json_end(j, '}');
  ag_text_done(&name);
}

/* The data of the JSON output. */
typedef struct whole {
  const ag_batch_report *b;
  const ag_batch_store *store;
  const char *output; /* NULL: none */
} whole;

static void write_json(void *self, ag_json *j) {
  const whole *w = self;
  const ag_batch_report *b = w->b;
  const ag_batch_result *r = b->result;
  const ag_run_options *o = &b->options.run;
  ag_json_begin(j, NULL, '{');
  ag_json_string(j, "model", ag_model_name(ag_varied_model(b->members->varied)));
  ag_json_whole(j, "members", b->members->n);
  ag_json_whole(j, "failed", b->n_failed);
  ag_json_begin(j, "sweep", '{');
  for (int i = 0; i < b->members->grid.n_name; i++) {
    ag_json_begin(j, b->members->grid.names[i], '[');
    for (long m = 0; m < b->members->n; m++)
      ag_json_number(j, NULL, b->members->values[m * b->members->grid.n_name + i]);
    ag_json_end(j, ']');
  }
  ag_json_end(j, '}');
  ag_json_begin(j, "end", '[');
  for (long m = 0; m < b->members->n; m++) ag_json_string(j, NULL, ag_batch_report_end(b, m));
  ag_json_end(j, ']');
  ag_json_begin(j, "t", '[');
  for (long m = 0; m < b->members->n; m++) ag_json_number(j, NULL, ag_batch_report_time(b, m));
  ag_json_end(j, ']');
  ag_json_begin(j, "steps", '[');
  for (long m = 0; m < b->members->n; m++) ag_json_whole(j, NULL, anagyre_batch_steps(b->batch, m));
  ag_json_end(j, ']');
  write_columns(b, j);
  write_failures(b, j);
  if (o->section) ag_batch_points_json(w->store, j);
  ag_json_whole(j, "off_level", b->members->n_off_level);
  ag_json_number(j, "t0", o->t0);
  ag_json_number(j, "t1", o->t1);
  ag_json_string(j, "method", o->method->name);
  ag_json_whole(j, "lanes", r->lanes);
  ag_json_whole(j, "threads", r->threads);
  ag_json_string(j, "member_by_member", r->note);
  ag_json_bool(j, "core_only", r->core_only);
  ag_json_number(j, "seconds", r->seconds);
  ag_json_number(j, "trajectories_per_second", rate(b));
  ag_json_warnings(j, &b->members->ctx);
  ag_result_json_files(j, w->output);
  ag_json_end(j, '}');
}

/* ---- text ---- */

/* "397 time reached, 2 step too small, 1 not started" */
static void write_ends(const ag_batch_report *b, ag_text *out) {
  long count[AG_END_SINK + 1] = {0}, n_unstarted = 0;
  for (long m = 0; m < b->members->n; m++) {
    const ag_batch_member *member = ag_batch_report_member(b, m);
    if (member) count[member->end]++;
    else n_unstarted++;
  }
  const char *comma = "";
  for (int e = 0; e <= AG_END_SINK; e++) {
    if (!count[e]) continue;
    ag_text_printf(out, "%s%ld %s", comma, count[e], ag_end_word((ag_end)e));
    comma = ", ";
  }
  n_unstarted -= b->members->n_off_level;
  if (b->members->n_off_level)
    ag_text_printf(out, "%s%ld not on the level", comma, b->members->n_off_level), comma = ", ";
  if (n_unstarted) ag_text_printf(out, "%s%ld could not start", comma, n_unstarted);
}

/* Smallest and largest value over the members that ended well. */
static void write_range(const ag_batch_report *b, const ag_pick *p, int k, ag_text *out) {
  double lo = INFINITY, hi = -INFINITY;
  ag_text name = {0};
  ag_pick_name(p, k, &name);
  for (long m = 0; m < b->members->n; m++) {
    double v = ag_batch_report_record(b, m)[ag_pick_offset(p) + k];
    if (ag_batch_report_failed(b, m) || !isfinite(v)) continue;
    lo = fmin(lo, v);
    hi = fmax(hi, v);
  }
  ag_text_printf(out, "  %-20s  ", name.s);
  if (lo <= hi) ag_text_printf(out, "%.6g to %.6g", lo == 0 ? 0 : lo, hi == 0 ? 0 : hi);
  else ag_text_str(out, "not finite");
  ag_text_char(out, '\n');
  ag_text_done(&name);
}

static void write_failed(const ag_batch_report *b, ag_text *out) {
  long shown = 0;
  if (b->n_failed) ag_text_str(out, "failures\n");
  for (long m = 0; m < b->members->n && shown < FAILURES_SHOWN; m++) {
    if (!ag_batch_report_failed(b, m)) continue;
    shown++;
    ag_text_printf(out, "  member %ld (", m + 1);
    for (int i = 0; i < b->members->grid.n_name; i++) {
      ag_text_printf(out, "%s%s = ", i ? ", " : "", b->members->grid.names[i]);
      ag_text_number(out, b->members->values[m * b->members->grid.n_name + i]);
    }
    ag_text_printf(out, "): %s", ag_batch_report_end(b, m));
    if (ag_batch_report_member(b, m)) ag_text_str(out, ", t = "), ag_text_number(out, ag_batch_report_time(b, m));
    ag_text_char(out, '\n');
  }
  if (b->n_failed > shown) ag_text_printf(out, "  and %ld more\n", b->n_failed - shown);
}

static void write_summary(const ag_batch_report *b, const char *output, ag_text *out) {
  const ag_model *m = ag_varied_model(b->members->varied);
  const ag_batch_result *r = b->result;
  const ag_run_options *o = &b->options.run;
  long steps = 0, rejected = 0;
  for (long i = 0; i < r->n; i++) steps += r->members[i].steps, rejected += r->members[i].rejected;
  ag_text_printf(out, "%s%s%s\n", ag_model_name(m), *ag_model_title(m) ? ": " : "", ag_model_title(m));
  ag_text_printf(out, "  %-12s  %ld", "members", b->members->n);
  int n_axis = b->members->grid.n_axis - (b->members->grid.n_solved > 0),
      n_swept = b->members->grid.n_name - b->members->grid.n_solved;
  for (int i = 0; i < n_axis && n_axis > 1; i++)
    ag_text_printf(out, "%s%ld", i ? " x " : " = ", b->members->grid.axes[i].n);
  ag_text_printf(out, " (%s", b->members->grid.names[0]);
  for (int i = 1; i < b->members->grid.n_name; i++)
    ag_text_printf(out, "%s%s", i == n_swept ? "; solved for: " : ", ", b->members->grid.names[i]);
  ag_text_printf(out, ")\n  %-12s  ", "ended");
  write_ends(b, out);
  ag_text_printf(out, "\n  %-12s  %s, ", "method", o->method->name);
  if (o->dt > 0) ag_text_printf(out, "dt %g, ", o->dt);
  else ag_text_printf(out, "rtol %g, atol %g, ", o->rtol, o->atol);
  if (r->lanes)
    ag_text_printf(out, "%d lanes on %d thread%s%s\n", r->lanes, r->threads, r->threads == 1 ? "" : "s",
                   r->core_only ? ", reduced to the columns" : "");
  else
    ag_text_printf(out, "member by member (%s) on %d thread%s\n", r->note ? r->note : "", r->threads,
                   r->threads == 1 ? "" : "s");
  ag_text_printf(out, "  %-12s  %ld (%ld rejected) in %.3g s, %.4g trajectories/s\n", "steps", steps, rejected,
                 r->seconds, rate(b));
  if (o->section) {
    long n = ag_batch_report_n_points(b);
    ag_text_printf(out, "  %-12s  %s: %ld crossing%s, %.4g/s\n", "section", ag_model_sections(m)[o->section - 1].name,
                   n, n == 1 ? "" : "s", r->seconds > 0 ? (double)n / r->seconds : 0);
  }
  if (output) {
    ag_text_printf(out, "  %-12s  ", o->section ? "points" : "table");
    ag_output_size(output, out);
    ag_text_char(out, '\n');
  }
  ag_text_str(out, "at the end\n");
  for (int i = 0; i < b->n_pick; i++)
    for (int k = 0; k < ag_pick_size(&b->picks[i]); k++) write_range(b, &b->picks[i], k, out);
  write_failed(b, out);
}

/* ---- running ---- */

static void tell_stopped(const ag_batch_report *b, const char *output, bool saved) {
  ag_text rest = {0};
  bool file = output && !ag_output_is_stdout(output);
  if (output && saved) ag_text_printf(&rest, "; results so far are in %s", output);
  if (file) ag_text_printf(&rest, "; `anagyre run --from %s` computes the others", output);
  ag_output_tell("stopped by %s: %ld of %ld members were finished%s", ag_stop_word(), b->members->n - b->n_stopped,
                 b->members->n, ag_text_cstr(&rest));
  ag_text_done(&rest);
}

/* Writes the file and standard output; returns the worst status. */
static ag_status report(const ag_batch_report *b, ag_batch_store *store, const ag_common *common, const char *output) {
  ag_status saved = AG_OK;
  ag_format format = ag_output_format(output);
  if (format == AG_FORMAT_CSV) saved = save_table(b, store, output);
  if (format == AG_FORMAT_JSON) saved = ag_json_save(output, write_json, &(whole){b, store, NULL});
  if (format == AG_FORMAT_H5) saved = ag_batch_store_close(store, output, saved);
  if (common->json) {
    if (!ag_json_show(write_json, &(whole){b, store, saved == AG_OK ? output : NULL}))
      saved = ag_output_error("the points", EIO);
  } else {
    ag_text out = {0};
    write_summary(b, saved == AG_OK ? output : NULL, &out);
    fputs(ag_text_cstr(&out), ag_output_summary(output));
    ag_text_done(&out);
  }
  fflush(stdout);
  saved = ag_batch_store_close(store, output, saved);
  if (b->n_stopped) tell_stopped(b, output, saved == AG_OK);
  else if (b->n_failed) fprintf(stderr, "error: %ld of %ld members failed\n", b->n_failed, b->members->n);
  ag_status status = b->n_failed ? AG_FAILED : AG_OK;
  return saved > status ? saved : status;
}

static void show_progress(void *self, long done, long n) {
  (void)n;
  ag_progress_show(self, (double)done, 0);
}

/* Opens the log, with the members finished by an earlier batch. */
static ag_status open_store(ag_batch_store *store, ag_batch_report *b, const ag_batch_about *about, const char *output,
                            ag_batch_old *old) {
  AG_TRY(ag_batch_store_open(store, b, about, output));
  if (!store->store) return AG_OK;
  bool same = !old || ag_batch_old_find(old, store);
  if (same && (!old || ag_batch_old_copy(old, store)) && ag_store_begin(store->store)) {
    b->options.take = ag_batch_store_take;
    b->options.take_self = store;
    if (old) b->options.known = &old->known;
    return AG_OK;
  }
  if (!same) ag_output_tell("error: %s cannot be continued: it was written for other members", old->archive->path);
  else (void)ag_output_error(output ? output : "the points", ag_store_trouble(store->store));
  return AG_SYSTEM;
}

static ag_status run_members(const ag_batch_about *about, const ag_run_options *run, const char *output, ag_members *m,
                             ag_batch_old *old) {
  ag_progress progress;
  ag_progress_init(&progress, about->common->quiet, 0, (double)m->n_ready);
  progress.things = "members";
  ag_batch_options o;
  ag_batch_defaults(&o);
  o.run = *run;
  o.threads = (int)about->args->threads;
  o.progress = show_progress;
  o.progress_self = &progress;
  ag_batch_report b;
  ag_batch_store store = {0};
  ag_text usage = {0};
  ag_status status = ag_batch_report_init(&b, m, &o, about->args->columns, &usage);
  if (status != AG_OK) {
    ag_usage("run", "%s", ag_text_cstr(&usage));
  } else if ((status = open_store(&store, &b, about, output, old)) == AG_OK) {
    b.options.run.stop = ag_stop_catch();
    status = ag_batch_report_run(&b, &m->ctx);
    ag_progress_done(&progress);
    bool doubtful = status == AG_OK &&
                    ag_api_batch_notes(&m->ctx, b.batch, ag_varied_system(m->varied), &b.options.run);
    ag_open_report(&m->ctx, about->common->quiet);
    if (status == AG_OK) status = report(&b, &store, about->common, output);
    if (doubtful && about->args->strict && status == AG_OK) status = AG_FAILED;
  }
  ag_stop_release();
  ag_batch_store_done(&store);
  ag_batch_report_done(&b);
  ag_text_done(&usage);
  return status;
}

/* Reads the options of the members and completes their starts. The model is closed when that fails. */
static ag_status make_members(ag_members *members, anagyre_model *m, const ag_common *common, const ag_batch_args *args,
                              const ag_run_options *run) {
  ag_text usage = {0};
  ag_members_request request = {.model = m,
                                .n_set = common->changes.n_set,
                                .sets = common->changes.sets,
                                .sweeps = common->sweeps,
                                .starts = args->starts,
                                .table = args->table,
                                .levels = common->levels,
                                .solve = args->solve,
                                .section = args->section,
                                .t0 = run->t0,
                                .strict = args->strict,
                                .multipliers = run->multipliers,
                                .by_cost = ag_run_derive(run, args->strict).by_cost};
  ag_status status = ag_members_create(members, &request, &usage);
  if (usage.n && status == AG_WRONG) ag_usage("run", "%s", ag_text_cstr(&usage));
  else if (usage.n) ag_output_tell("error: %s", ag_text_cstr(&usage));
  else if (status != AG_OK)
    return ag_open_refuse(m, members->ctx.n_error ? &members->ctx : ag_api_ctx(m), status, common);
  ag_text_done(&usage);
  if (status != AG_OK) anagyre_close(m);
  return status;
}

ag_status ag_batch_run(anagyre_model *m, const ag_common *common, const ag_batch_args *args, const ag_run_options *run,
                       const char *output, ag_batch_old *old) {
  ag_members members;
  ag_status status = make_members(&members, m, common, args, run);
  if (status == AG_OK) {
    status = run_members(&(ag_batch_about){common, args, m}, run, output, &members, old);
    anagyre_close(m);
  }
  ag_members_done(&members);
  return status;
}

ag_status ag_batch_act(anagyre_model *m, const ag_common *common, const ag_batch_args *args, const ag_run_options *run,
                       const char *output) {
  return ag_batch_run(m, common, args, run, output, NULL);
}

static ag_status refuse_start(anagyre_model *m, const ag_common *common, const char *reason) {
  fprintf(stderr, "error: the start: %s\n", reason);
  if (common->json) {
    ag_json j = {0};
    ag_json_begin(&j, NULL, '{');
    ag_json_string(&j, "model", anagyre_name(m));
    ag_json_string(&j, "error", reason);
    ag_json_end(&j, '}');
    ag_json_print(&j);
  }
  anagyre_close(m);
  return AG_FAILED;
}

ag_status ag_batch_level(anagyre_model *m, ag_common *common, const ag_batch_args *args, const ag_run_options *run) {
  ag_members members;
  ag_status status = make_members(&members, m, common, args, run);
  if (status == AG_OK && !members.n_ready) status = refuse_start(m, common, members.reason[0]);
  for (int i = 0; status == AG_OK && i < members.grid.n_name; i++) {
    char value[40];
    snprintf(value, sizeof value, "%.17g", members.values[i]);
    ag_option_set(common, members.grid.names[i], value);
    anagyre_set(m, members.grid.names[i], value);
  }
  ag_members_done(&members);
  return status;
}
