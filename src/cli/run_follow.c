/* SPDX-License-Identifier: MIT
 * One trajectory of `anagyre run`, from the opened files to the printed result. */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/number.h"
#include "cli/clock.h"
#include "cli/csv.h"
#include "cli/open.h"
#include "cli/output.h"
#include "cli/result.h"
#include "cli/run_args.h"

enum { LATE_ROWS = 10000 }; /* rows still accepted after Ctrl-C */

const char *ag_run_closure_name(int i) {
  static const char *const names[] = {"auto", "eliminated", "multipliers"};
  return i < 3 ? names[i] : NULL;
}

const char *ag_run_engine_name(int i) {
  static const char *const names[] = {"auto", "compiled", "interpreted"};
  return i < 3 ? names[i] : NULL;
}

/* Where the rows of a run go (a file, memory, or both), and how far it is. */
typedef struct rows {
  long n;
  ag_csv *csv;
  ag_store *store;
  ag_spool *series;
  const atomic_int *stop;
  long n_late;
  ag_progress *progress;
  bool until_counted; /* the run ends after a number of crossings, not at a time */
} rows;

static bool take_row(void *self, const double *record) {
  rows *r = self;
  r->n++;
  if (r->stop && *r->stop && ++r->n_late > LATE_ROWS) return false;
  if (r->series && !ag_spool_row(r->series, record)) return false;
  if (r->store && !ag_store_row(r->store, record)) return false;
  return !r->csv || ag_csv_row(r->csv, record);
}

static int refuse_row(void *self, const double *record, int n) {
  (void)n;
  return !take_row(self, record);
}

static void show_progress(void *self, double t, long steps) {
  const rows *r = self;
  ag_progress_show(r->progress, r->until_counted ? (double)r->n : t, steps);
}

/* The data of the JSON output. */
typedef struct whole {
  const ag_outcome *o;
  ag_spool *series; /* or NULL */
} whole;

static void write_json(void *self, ag_json *j) {
  const whole *w = self;
  ag_result_json(j, w->o, w->series);
}

static anagyre_options options_of(const ag_run_options *o, bool strict, rows *sink, const ag_model *m) {
  anagyre_options x = anagyre_defaults();
  x.t0 = o->t0;
  x.t1 = o->t1;
  x.dt = o->dt;
  x.rtol = o->rtol;
  x.atol = o->atol;
  x.absolute = o->absolute;
  x.max_step = o->h_max;
  x.max_steps = o->max_steps;
  x.method = o->method->name;
  x.project = o->project;
  x.engine = ag_run_engine_name((int)o->engine);
  x.closure = ag_run_closure_name(o->multipliers ? 2 : o->eliminated);
  x.strict = strict;
  x.no_events = !o->events;
  x.noise = o->noise == AG_NOISE_REFUSED ? NULL : o->noise == AG_NOISE_OFF ? "off" : "path";
  x.seed = o->seed, x.path = o->path, x.dt_base = o->dt_base;
  x.every = o->every;
  x.section = o->section ? ag_model_sections(m)[o->section - 1].name : NULL;
  x.crossings = o->crossings;
  x.stop = (const volatile int *)sink->stop;
  x.row = refuse_row;
  x.progress = show_progress;
  x.self = sink;
  return x;
}

/* Runs with the sinks in place; NULL: the reason was printed. */
static anagyre_motion *move(const ag_run_args *a, anagyre_model *m, const ag_continued *from, rows *sink,
                            double *seconds) {
  ag_progress progress;
  sink->progress = &progress;
  sink->until_counted = a->run.section && fabs(a->run.t1) >= AG_NO_END;
  ag_progress_init(&progress, a->common.quiet, sink->until_counted ? 0 : a->run.t0,
                   sink->until_counted ? (double)a->run.crossings : a->run.t1);
  sink->stop = ag_stop_catch();
  anagyre_options o = options_of(&a->run, a->batch.strict, sink, ag_api_model(m));
  ag_api_hooks hooks = {.self = sink->store};
  if (sink->store) hooks.event = ag_result_file_event, hooks.save = ag_result_file_save;
  if (from) hooks.from = &from->point, hooks.residual_max = from->residual_max;
  double begun = ag_clock();
  anagyre_motion *motion = ag_api_run(m, &o, &hooks);
  *seconds = ag_clock() - begun;
  ag_progress_done(&progress);
  if (!motion) (void)ag_open_fail(m, ag_api_ctx(m), AG_WRONG, &a->common);
  return motion;
}

static void report_failure(const ag_outcome *o) {
  const ag_run_result *r = o->result;
  fprintf(stderr, "error: the motion ended at t = %s: %s%s%s\n", ag_number_text(r->t).s, ag_end_word(r->end),
          r->why ? "; " : "", r->why ? r->why : "");
}

/* Prints the result and why it ended; returns the worse of the two statuses. */
static ag_status report(const ag_run_args *a, const ag_outcome *o, ag_spool *series, ag_status saved) {
  if (a->common.json) {
    if (!ag_json_show(write_json, &(whole){o, a->series || a->run.section ? series : NULL})) {
      ag_output_tell("error: the series cannot be read back: %s", strerror(series->trouble));
      saved = AG_SYSTEM;
    }
  } else {
    ag_text out = {0};
    ag_result_summary(o, &out);
    fputs(ag_text_cstr(&out), ag_output_summary(a->output));
    ag_text_done(&out);
  }
  fflush(stdout);
  ag_end end = o->result->end;
  if (end == AG_END_STOPPED)
    fprintf(stderr, "stopped by %s at t = %s%s%s\n", ag_stop_word(), ag_number_text(o->result->t).s,
            a->output ? "; results so far are in " : "", a->output ? a->output : "");
  else if (ag_end_status(end) != AG_OK && end != AG_END_SINK) report_failure(o);
  ag_status status = ag_end_status(end);
  return saved > status ? saved : status;
}

/* Opens the files of the series and copies the rows of the run that is continued. */
static ag_status open_sinks(const ag_run_args *a, anagyre_model *m, const ag_system *sys, const ag_record *record,
                            ag_continued *from, rows *sink, ag_csv *csv) {
  ag_format format = ag_output_format(a->output);
  if (format == AG_FORMAT_CSV) {
    ag_text comment = {0};
    const ag_wiener w = ag_run_path(sys, &a->run);
    if (a->run.noise == AG_NOISE_PATH) ag_csv_path(&comment, &w, a->run.path, a->run.method->name, a->run.dt);
    const bool good = ag_csv_open(csv, a->output, &comment, record);
    const int why = errno;
    ag_text_done(&comment);
    if (!good) return ag_output_error(a->output, why);
    sink->csv = csv;
  }
  if (format == AG_FORMAT_H5) {
    sink->store = ag_result_file_open(a->output, m, &a->common, &a->run,
                                      (ag_result_how){a->batch.strict, a->batch.compress}, from);
    if (!sink->store) return AG_SYSTEM;
  }
  if (format == AG_FORMAT_JSON) AG_TRY(ag_output_check(a->output));
  return from && !ag_continue_rows(from, sink->store, take_row, sink) ? AG_SYSTEM : AG_OK;
}

/* Closes the files; prints errors. */
static ag_status close_sinks(const ag_run_args *a, const ag_system *sys, const ag_run_result *result, const ag_ctx *ctx,
                             rows *sink) {
  if (sink->store) return ag_result_file_close(sink->store, sys, result, ctx);
  if (!sink->csv) return AG_OK;
  ag_status saved = ag_csv_report(sink->csv, a->output);
  ag_csv_done(sink->csv);
  return saved;
}

/* Runs, closes the files and prints the result. */
static ag_status run_sinks(const ag_run_args *a, anagyre_model *m, const ag_system *sys, const ag_record *record,
                           ag_continued *from, rows *sink, ag_spool *series) {
  double seconds;
  anagyre_motion *motion = move(a, m, from, sink, &seconds);
  if (!motion) {
    (void)close_sinks(a, sys, NULL, NULL, sink);
    return AG_WRONG;
  }
  ag_run_result result = *ag_api_result(motion);
  if (result.end == AG_END_SINK && sink->n_late > LATE_ROWS) result.end = AG_END_STOPPED;
  ag_outcome outcome = {ag_api_ctx(m), sys, record, &a->run, &result, seconds, NULL};
  if (a->stiffness > 0) ag_run_note_choice(ag_api_ctx(m), a->run.method, a->stiffness);
  bool doubtful = ag_run_notes(ag_api_ctx(m), sys, record, &a->run, &result);
  ag_status saved = close_sinks(a, sys, &result, ag_api_ctx(m), sink);
  if (sink->series && series->trouble) saved = ag_output_error("the series to a temporary file", series->trouble);
  ag_open_report(ag_api_ctx(m), a->common.quiet);
  if (ag_output_format(a->output) == AG_FORMAT_JSON && saved == AG_OK)
    saved = ag_json_save(a->output, write_json, &(whole){&outcome, series});
  if (saved == AG_OK) outcome.output = a->output;
  ag_status status = report(a, &outcome, series, saved);
  if (doubtful && a->batch.strict && status == AG_OK) status = AG_FAILED;
  anagyre_motion_free(motion);
  return status;
}

ag_status ag_run_follow(const ag_run_args *a, anagyre_model *m, const ag_system *sys, ag_continued *from) {
  ag_record record;
  ag_csv csv;
  ag_spool series;
  bool kept = ag_output_format(a->output) == AG_FORMAT_JSON || a->series || (a->run.section && a->common.json);
  rows sink = {.series = kept ? &series : NULL};
  ag_record_init(&record, sys);
  ag_spool_init(&series, record.width);
  ag_status status = open_sinks(a, m, sys, &record, from, &sink, &csv);
  if (status == AG_OK) status = run_sinks(a, m, sys, &record, from, &sink, &series);
  else (void)close_sinks(a, sys, NULL, NULL, &sink);
  ag_stop_release();
  ag_spool_done(&series);
  ag_record_done(&record);
  return status;
}
