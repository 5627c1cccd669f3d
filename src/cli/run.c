/* SPDX-License-Identifier: MIT
 * `anagyre run`: one trajectory, its summary, its series as a file. */
#include "run/run.h"

#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "cli/batch.h"
#include "cli/cli.h"
#include "cli/clock.h"
#include "cli/csv.h"
#include "cli/keep.h"
#include "cli/open.h"
#include "cli/result.h"

static const double MAX_ROWS = 1e9;
static const double NO_END = 1e15; /* time until which crossings are counted when none is given */
enum { LATE_ROWS = 10000 };        /* rows of one step that are still taken after Ctrl-C */

typedef struct args {
  ag_common common;
  ag_run_options run;
  int method, closure, engine;
  bool no_events, series;
  const char *output, *from;
  ag_batch_args batch;
} args;

static const char *method_name(int i) { return i < ag_stepper_count() ? ag_stepper_at(i)->name : NULL; }

static const char *closure_name(int i) {
  static const char *const names[] = {"eliminated", "multipliers"};
  return i < 2 ? names[i] : NULL;
}

static const char *engine_name(int i) {
  static const char *const names[] = {"auto", "compiled", "interpreted"};
  return i < 3 ? names[i] : NULL;
}

static void defaults(void *self) {
  args *a = self;
  ag_run_defaults(&a->run);
  for (int i = 0; i < ag_stepper_count(); i++)
    if (ag_stepper_at(i) == a->run.method) a->method = i;
  a->run.every = 0;
}

#define ROW(option, what, member, ...) \
  { .name = option, .kind = AG_OPTION_##what, .offset = offsetof(args, member), __VA_ARGS__ }
static const ag_option options[] = {
    ROW("t0", NUMBER, run.t0, .arg = "TIME", .lo = -1e15, .hi = 1e15, .doc = "start time"),
    ROW("t1", NUMBER, run.t1, .arg = "TIME", .lo = -1e15, .hi = 1e15, .doc = "end time; smaller than t0 runs backward"),
    ROW("dt", NUMBER, run.dt, .arg = "STEP", .lo = DBL_MIN, .hi = DBL_MAX, .preset = "chosen by the error",
        .doc = "fixed step size, for either direction"),
    ROW("rtol", NUMBER, run.rtol, .arg = "TOL", .lo = 1e-15, .hi = 1, .doc = "relative tolerance of a step"),
    ROW("atol", NUMBER, run.atol, .arg = "TOL", .lo = 1e-300, .hi = DBL_MAX, .doc = "absolute tolerance of a step"),
    ROW("method", CHOICE, method, .arg = "NAME", .choice = method_name, .doc = "stepper; `anagyre list methods`"),
    ROW("closure", CHOICE, closure, .arg = "NAME", .choice = closure_name, .doc = "eliminated or multipliers"),
    ROW("engine", CHOICE, engine, .arg = "NAME", .choice = engine_name,
        .doc = "auto, compiled or interpreted: the same numbers, another speed"),
    ROW("every", NUMBER, run.every, .arg = "TIME", .lo = 0, .hi = DBL_MAX, .preset = "each accepted step",
        .doc = "distance in time of the recorded rows"),
    ROW("max-step", NUMBER, run.h_max, .arg = "STEP", .lo = DBL_MIN, .hi = DBL_MAX, .preset = "no limit",
        .doc = "largest step size"),
    ROW("max-steps", WHOLE, run.max_steps, .arg = "N", .lo = 1, .hi = 1e15, .preset = "ten million",
        .doc = "give up after so many steps"),
    ROW("no-events", FLAG, no_events, .doc = "do not look for events (terminal ones do not end the run)"),
    ROW("end-at", TEXT, common.changes.end_at, .arg = "NAMES",
        .doc = "events that end the run where they happen, comma between"),
    ROW("strict", FLAG, batch.strict, .doc = "refuse start values that do not satisfy the constraints"),
    ROW("section", TEXT, batch.section, .arg = "NAME",
        .doc = "record the state at each crossing of a section of the model, and nothing else"),
    ROW("crossings", WHOLE, run.crossings, .arg = "N", .lo = 1, .hi = 1e15, .preset = "no limit",
        .doc = "of a section: end after so many; without --t1 there is no other end"),
    ROW("level", LIST, common.levels, .arg = "NAME=VALUE", .preset = "",
        .doc = "start where energy or an observable has this value; several may be given"),
    ROW("solve", TEXT, batch.solve, .arg = "NAMES", .preset = "chosen",
        .doc = "the start values that are solved for: one per level, then the section's"),
    ROW("sweep", LIST, common.sweeps, .arg = "NAME=LO:HI:N", .preset = "",
        .doc = "many runs: N values of a parameter or start value; several make a grid"),
    ROW("starts", TEXT, batch.starts, .arg = "FILE",
        .doc = "many runs: one per row of a .csv file, names in its first row"),
    ROW("columns", TEXT, batch.columns, .arg = "NAMES", .preset = "all",
        .doc = "of many runs: what is told of each, as x,Omega[3],energy"),
    ROW("threads", WHOLE, batch.threads, .arg = "N", .lo = 1, .hi = 4096, .preset = "all cores",
        .doc = "of many runs: how many at a time"),
    ROW("output", TEXT, output, .letter = 'o', .arg = "FILE",
        .doc = "write the series; the name ends in .h5, .csv or .json"),
    ROW("from", TEXT, from, .arg = "FILE", .doc = "go on with the run of a .h5 file (instead of MODEL)"),
    ROW("series", FLAG, series, .doc = "with --json: the series too, under \"series\""),
    AG_SET_ROW(args),
    AG_QUIET_ROW(args),
    AG_COMMON_ROWS(args),
};
enum { N_OPTION = sizeof options / sizeof options[0] };

/* What decides about the motion comes from the file. */
static ag_status settle_from(args *a) {
  static const char *const free_to_choose[] = {"t1",     "engine", "max-steps", "output",
                                               "series", "json",   "quiet",     "from"};
  if (a->common.n_word) return ag_usage("run", "--from FILE stands in place of MODEL: the model is in the file");
  for (int i = 0; i < N_OPTION; i++) {
    bool free_ = !(a->common.given >> i & 1);
    for (size_t k = 0; k < sizeof free_to_choose / sizeof *free_to_choose; k++)
      free_ = free_ || !strcmp(options[i].name, free_to_choose[k]);
    if (!free_)
      return ag_usage("run", "--%s is what it was in %s: it cannot change on the way", options[i].name, a->from);
  }
  return AG_OK;
}

static bool given(const args *a, const char *name) { return ag_option_given(N_OPTION, options, &a->common, name); }

static bool ends_with(const char *s, const char *end) {
  size_t n = strlen(s), m = strlen(end);
  return n > m && !strcmp(s + n - m, end);
}

/* The options that go with a section, and those that do not. */
static ag_status settle_section(args *a) {
  if (a->from) return AG_OK; /* what the file says */
  if (!a->batch.section) {
    if (given(a, "crossings")) return ag_usage("run", "--crossings counts those of a section: give --section too");
    return AG_OK;
  }
  if (given(a, "every") || a->series)
    return ag_usage("run", "--%s is about the series: with --section the crossings are recorded instead",
                    a->series ? "series" : "every");
  a->run.every = -1;
  if (given(a, "crossings") && !given(a, "t1")) a->run.t1 = NO_END;
  return AG_OK;
}

/* What contradicts itself is refused rather than ignored. */
static ag_status settle(args *a) {
  if (a->from) AG_TRY(settle_from(a));
  else if (!a->common.n_word) return ag_usage("run", "which MODEL?");
  a->run.method = ag_stepper_at(a->method);
  a->run.multipliers = a->closure == 1;
  a->run.engine = a->engine == 1 ? AG_ENGINE_COMPILED : a->engine == 2 ? AG_ENGINE_INTERPRETED : AG_ENGINE_AUTO;
  a->run.events = !a->no_events;
  if (a->output && !ends_with(a->output, ".h5") && !ends_with(a->output, ".csv") && !ends_with(a->output, ".json"))
    return ag_usage("run", "cannot tell the format of '%s': the name must end in .h5, .csv or .json", a->output);
  if (a->series && !a->common.json)
    return ag_usage("run", "--series adds to the JSON object: give --json too, or use -o FILE");
  static const char *const adaptive[] = {"rtol", "atol", "max-step"};
  for (int i = 0; i < 3 && a->run.dt > 0; i++)
    if (given(a, adaptive[i])) return ag_usage("run", "--%s means nothing with the fixed steps of --dt", adaptive[i]);
  if (!(a->run.dt > 0) && a->run.method->error_order == 0)
    return ag_usage("run", "%s has no error estimate: give its step size with --dt", a->run.method->name);
  AG_TRY(settle_section(a));
  if (a->batch.solve && !a->common.levels.n && !a->batch.section)
    return ag_usage("run", "--solve is about a level or a section: give --level or --section too");
  if (a->common.sweeps.n || a->batch.starts) {
    if (given(a, "every") || a->series)
      return ag_usage("run", "--%s is about one trajectory, not about many", a->series ? "series" : "every");
    return AG_OK;
  }
  static const char *const many[] = {"columns", "threads"};
  for (int i = 0; i < 2; i++)
    if (given(a, many[i])) return ag_usage("run", "--%s is about many runs: give --sweep or --starts too", many[i]);
  if (given(a, "every") && !a->output && !a->series)
    return ag_usage("run", "--every is about the series: say where it goes with -o FILE (or --json --series)");
  if (a->run.every > 0 && fabs(a->run.t1 - a->run.t0) > MAX_ROWS * a->run.every)
    return ag_usage("run", "--every %g from t = %g to %g asks for more than a billion rows", a->run.every, a->run.t0,
                    a->run.t1);
  if (!a->output && !a->series && !a->from) a->run.every = -1;
  return AG_OK;
}

/* Where the rows go: a file, memory, or both. */
typedef struct rows {
  long n;
  ag_csv *csv;
  ag_store *store;
  ag_series *series;
  const atomic_int *stop;
  long n_late;
} rows;

static bool take_row(void *self, const double *record) {
  rows *r = self;
  r->n++;
  if (r->stop && *r->stop && ++r->n_late > LATE_ROWS) return false;
  if (r->series && !ag_series_row(r->series, record)) return false;
  if (r->store && !ag_store_row(r->store, record)) return false;
  return !r->csv || ag_csv_row(r->csv, record);
}

/* The constraints along the whole motion: largest residual seen, at every accepted state of the first thousand and at
 * every sixteenth later on (looking costs a quarter of a compiled step). */
typedef struct watch {
  ag_work *work;
  double worst;
  long n;
} watch;

static void watch_state(void *self, double t, const double *x) {
  watch *w = self;
  if (w->n++ > 1000 && w->n % 16) return;
  double residual = ag_work_residual(w->work, t, x);
  if (!(residual <= w->worst)) w->worst = residual;
}

/* How far a run is that goes on until so many crossings were found. */
typedef struct counted {
  ag_progress *progress;
  const rows *sink;
} counted;

static void show_crossings(void *self, double t, long steps) {
  (void)t;
  ag_progress_show(((counted *)self)->progress, (double)((counted *)self)->sink->n, steps);
}

static ag_status trouble_file(const char *path, int error) {
  fprintf(stderr, "error: cannot write %s: %s\n", path, strerror(error));
  return AG_SYSTEM;
}

static ag_status save_json(const char *path, const ag_outcome *o, const ag_series *series) {
  ag_json j = {0};
  ag_result_json(&j, o, series);
  ag_text_char(&j.text, '\n');
  FILE *f = fopen(path, "w");
  int error = f ? 0 : errno;
  if (f && fwrite(j.text.s, 1, j.text.n, f) != j.text.n) error = errno;
  if (f && fclose(f) && !error) error = errno;
  ag_text_done(&j.text);
  return error ? trouble_file(path, error) : AG_OK;
}

/* Runs with the sinks in place. */
static ag_status move(const args *a, ag_source *s, const ag_record *record, const ag_continued *from, rows *sink,
                      ag_run_result *result, double *seconds) {
  ag_system *sys = s->system;
  double *x0 = ag_heap_alloc(sizeof *x0 * (size_t)(ag_system_dims(sys)->x));
  ag_system_state0(sys, x0);
  ag_progress progress;
  bool until_counted = a->run.section && fabs(a->run.t1) >= NO_END;
  ag_progress_init(&progress, a->common.quiet, until_counted ? 0 : a->run.t0,
                   until_counted ? (double)a->run.crossings : a->run.t1);
  counted count = {&progress, sink};
  ag_tape *functions = ag_run_watch(sys, &a->run);
  ag_run_options o = a->run;
  o.watch = functions;
  o.stop = sink->stop = ag_stop_catch();
  o.progress = ag_progress_show;
  o.progress_self = &progress;
  if (until_counted) o.progress = show_crossings, o.progress_self = &count;
  watch seen = {.work = ag_work_create(sys, ag_system_param_values(sys))};
  if (ag_system_dims(sys)->row) o.each = watch_state, o.each_self = &seen;
  if (from) seen.n = from->point.steps + 1, seen.worst = from->residual_max;
  if (sink->series) sink->series->width = record->width;
  if (sink->store) o.event = ag_keep_event, o.save = ag_keep_save, o.save_self = sink->store;
  ag_sink to = {take_row, sink};
  double begun = ag_clock();
  ag_status status = ag_run(&s->ctx, sys, ag_system_param_values(sys), x0, &o, &to, result);
  *seconds = ag_clock() - begun;
  ag_progress_done(&progress);
  if (status == AG_OK && result->end == AG_END_SINK && sink->n_late > LATE_ROWS) result->end = AG_END_STOPPED;
  if (status == AG_OK && !(seen.worst <= result->residual_max)) result->residual_max = seen.worst;
  ag_work_free(seen.work);
  ag_tape_free(functions);
  free(x0);
  return status;
}

static void tell_failure(const ag_outcome *o) {
  const ag_run_result *r = o->result;
  fprintf(stderr, "error: the motion ended at t = %.17g: %s%s%s\n", r->t, ag_end_word(r->end), r->why ? "; " : "",
          r->why ? r->why : "");
  ag_text left = {0};
  ag_result_left(o, &left);
  if (left.n) fprintf(stderr, "note: it had left the domain, %s\n", left.s);
  ag_text_done(&left);
}

/* Prints what came out and why it ended; returns the worse of the two statuses. */
static ag_status tell(const args *a, const ag_outcome *o, const ag_series *series, ag_status saved) {
  if (a->common.json) {
    ag_json j = {0};
    ag_result_json(&j, o, a->series || a->run.section ? series : NULL);
    ag_json_print(&j);
  } else {
    ag_text out = {0};
    ag_result_summary(o, &out);
    fputs(ag_text_cstr(&out), stdout);
    ag_text_done(&out);
  }
  fflush(stdout);
  ag_end end = o->result->end;
  if (o->result->engine_note && !a->common.quiet) fprintf(stderr, "note: %s\n", o->result->engine_note);
  if (end == AG_END_STOPPED)
    fprintf(stderr, "stopped by %s at t = %.17g%s%s\n", ag_stop_word(), o->result->t,
            a->output ? "; what was computed is in " : "", a->output ? a->output : "");
  else if (ag_end_status(end) != AG_OK && end != AG_END_SINK) tell_failure(o);
  ag_status status = ag_end_status(end);
  return saved > status ? saved : status;
}

/* Opens what the series goes to, and fills in the rows of the run that is continued. */
static ag_status open_sinks(const args *a, const ag_source *s, const ag_record *record, ag_continued *from, rows *sink,
                            ag_csv *csv) {
  const char *path = a->output;
  if (path && ends_with(path, ".csv")) {
    if (!ag_csv_open(csv, path, record)) return trouble_file(path, errno);
    sink->csv = csv;
  }
  if (path && ends_with(path, ".h5")) sink->store = ag_keep_open(path, s, &a->common, &a->run, a->batch.strict, from);
  if (path && ends_with(path, ".h5") && !sink->store) return AG_SYSTEM;
  if (sink->series) sink->series->width = record->width;
  return from && !ag_continue_rows(from, sink->store, take_row, sink) ? AG_SYSTEM : AG_OK;
}

/* Closes the files; says what went wrong. */
static ag_status close_sinks(const args *a, const ag_source *s, const ag_run_result *result, rows *sink) {
  if (sink->store) return ag_keep_close(sink->store, s->system, result);
  if (!sink->csv || ag_csv_close(sink->csv)) return AG_OK;
  ag_status saved = trouble_file(a->output, sink->csv->trouble);
  fprintf(stderr, "the first %ld %s kept%s\n", sink->csv->rows, ag_plural(sink->csv->rows, "row was", "rows were"),
          sink->csv->torn ? ", followed by a torn one" : "");
  return saved;
}

static ag_status run_loaded(const args *a, ag_source *s, ag_continued *from) {
  bool json_wanted = a->output && ends_with(a->output, ".json");
  ag_record record;
  ag_csv csv;
  ag_series series = {0};
  bool in_memory = json_wanted || a->series || (a->run.section && a->common.json);
  rows sink = {.series = in_memory ? &series : NULL};
  ag_run_result result = {0};
  ag_record_init(&record, s->system);
  double seconds = 0;
  ag_status status = open_sinks(a, s, &record, from, &sink, &csv), saved = AG_OK;
  if (status == AG_OK) {
    status = move(a, s, &record, from, &sink, &result, &seconds);
    saved = close_sinks(a, s, status == AG_OK ? &result : NULL, &sink);
    if (status == AG_OK) ag_result_warn(&s->ctx, s->model, &record, result.record, "at the end");
    ag_source_report(s, a->common.quiet);
    ag_outcome outcome = {&s->ctx, s->system, &record, &a->run, &result, seconds};
    if (status == AG_OK && json_wanted) saved = save_json(a->output, &outcome, &series);
    if (status == AG_OK) status = tell(a, &outcome, &series, saved);
    ag_run_done(&result);
  } else {
    (void)close_sinks(a, s, NULL, &sink);
  }
  ag_stop_release();
  ag_series_done(&series);
  ag_record_done(&record);
  return status;
}

static ag_status run_one(args *a) {
  ag_source s;
  ag_status status = ag_source_load(&s, a->common.words[0], &a->common.changes,
                                    &(ag_derive_options){.strict = a->batch.strict, .t0 = a->run.t0});
  if (status == AG_OK && a->batch.section) status = ag_source_section(&s, a->batch.section, &a->run.section);
  if (status != AG_OK) return ag_source_refuse(&s, status, &a->common);
  status = run_loaded(a, &s, NULL);
  ag_source_done(&s);
  return status;
}

/* Goes on with the run in a file, into another file or the same. */
static ag_status run_from(args *a) {
  ag_continued from;
  ag_source s;
  ag_engine engine = a->run.engine;
  long max_steps = a->run.max_steps;
  double t1 = a->run.t1;
  AG_TRY(ag_continue_open(&from, a->from, &a->run, &a->batch.strict));
  a->run.engine = engine;
  if (given(a, "max-steps")) a->run.max_steps = max_steps;
  if (!a->output) a->output = a->from;
  ag_status status = ag_continue_until(&from, given(a, "t1") ? &t1 : NULL, &a->run);
  if (status == AG_OK) {
    status = ag_continue_load(&from, &s, &a->run, a->batch.strict, a->common.quiet);
    if (status != AG_OK) status = ag_source_refuse(&s, status, &a->common);
    else {
      status = run_loaded(a, &s, &from);
      ag_source_done(&s);
    }
  }
  ag_continue_done(&from);
  return status;
}

static ag_status act(void *self) {
  args *a = self;
  AG_TRY(settle(a));
  if (a->common.sweeps.n || a->batch.starts) return ag_batch_act(&a->common, &a->batch, &a->run, a->output);
  if (a->common.levels.n || a->batch.solve) AG_TRY(ag_batch_level(&a->common, &a->batch, &a->run));
  return a->from ? run_from(a) : run_one(a);
}

const ag_command ag_command_run = {
    .name = "run",
    .words = "MODEL",
    .doc = "one trajectory from the start values: summary, series to a file",
    .text = "Moves the system from its start values at t0 to t1 and tells how it ended, how well the\n"
            "energy and the constraints were kept, when events happened, and the final state. The step\n"
            "size follows the error (--rtol, --atol) unless --dt fixes it. A file ending in .h5 or .csv is\n"
            "written while the run goes on; one ending in .json at its end. Ctrl-C ends the run cleanly:\n"
            "what was computed is saved and shown, and the exit code is 1. A start value is set by its\n"
            "name as in the model: --set \"x[1]=0.3\" --set \"phi'=2\".\n"
            "\n"
            "--from FILE goes on with the run of a .h5 file to a later --t1 (the one it was made for, when it\n"
            "did not get there), bit for bit as if it had never ended. The longer run replaces FILE unless\n"
            "-o names another. Model, parameters and options are those of the file.\n"
            "\n"
            "--section NAME records, in place of a series, the whole state at each crossing of a section of the\n"
            "model, located to rounding: the rows of the file, in --json under \"section\". --level energy=E puts the\n"
            "start on that energy, and on the section, by solving for the start values that --solve names.\n"
            "\n"
            "With --sweep or --starts many trajectories are run, on all cores, and the table has one row\n"
            "for each: what was swept, how and when it ended, its steps, and the columns at the end (with\n"
            "--section: one row for each crossing). Starts outside of a --level are told, and no failures. LO\n"
            "and HI may use parameters. Events are looked for only if one is terminal. The exit code is 1\n"
            "when some failed; they are listed, and the others are written all the same.\n",
    .examples =
        "  anagyre run rattleback --t1 100\n"
        "  anagyre run rattleback --t1 100 --every 0.01 -o stone.csv\n"
        "  anagyre run rattleback --t1 100 -o stone.h5\n"
        "  anagyre run --from stone.h5 --t1 200\n"
        "  anagyre run my.nh --section cut --crossings 200 -o points.csv\n"
        "  anagyre run my.nh --set m=2 --set \"phi'=0.5\" --t1=-3*pi --json\n"
        "  anagyre run my.nh --method rk4 --dt 1e-3\n"
        "  anagyre run rattleback --t1 100 --sweep spin0=-1:1:41 --sweep alpha=0:0.5:26 -o map.csv\n"
        "  anagyre run my.nh --section cut --level energy=0.1 --sweep y=-0.3:0.5:20 --crossings 500 -o points.csv\n"
        "  anagyre run my.nh --starts starts.csv --columns x,energy --threads 2 --json\n",
    .size = sizeof(args),
    .defaults = defaults,
    .n_option = N_OPTION,
    .options = options,
    .min_word = 0,
    .max_word = 1,
    .act = act,
};
