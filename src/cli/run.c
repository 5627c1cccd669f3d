/* SPDX-License-Identifier: MIT
 * `anagyre run`: one trajectory, its summary, its series as a file. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/metropolis.h"
#include "cli/open.h"
#include "cli/output.h"
#include "cli/run_args.h"

static const double MAX_ROWS = 1e9;
typedef ag_run_args args;

static const char *method_name(int i) { return i < ag_stepper_count() ? ag_stepper_at(i)->name : NULL; }

static void defaults(void *self) {
  args *a = self;
  ag_run_defaults(&a->run);
  for (int i = 0; i < ag_stepper_count(); i++)
    if (ag_stepper_at(i) == a->run.method) a->method = i;
  a->run.every = 0;
}

#define ROW(...) AG_OPTION(args, __VA_ARGS__)
static const ag_option options[] = {
    ROW("t0", NUMBER, run.t0, .arg = "TIME", .lo = -1e15, .hi = 1e15, .doc = "start time"),
    ROW("t1", NUMBER, run.t1, .arg = "TIME", .lo = -1e15, .hi = 1e15, .doc = "end time; smaller than t0 runs backward"),
    ROW("dt", NUMBER, run.dt, .arg = "STEP", .lo = DBL_MIN, .hi = DBL_MAX, .preset = "chosen by the error",
        .doc = "fixed step size, for either direction"),
    ROW("rtol", NUMBER, run.rtol, .arg = "TOL", .lo = 1e-15, .hi = 1, .doc = "relative tolerance of a step"),
    ROW("atol", NUMBER, run.atol, .arg = "TOL", .lo = 1e-300, .hi = DBL_MAX,
        .preset = "1e-12 of the sizes at the start", .doc = "absolute tolerance of a step, as given"),
    ROW("method", CHOICE, method, .arg = "NAME", .choice = method_name,
        .doc = "stepper; `anagyre list methods`; without it radau3 or radau5 where stiff"),
    ROW("project", TEXT, run.project, .arg = "NAMES", .preset = "none",
        .doc = "with --dt: keep energy, constraint, observables by symmetric projection of the steps"),
    ROW("closure", CHOICE, closure, .arg = "NAME", .choice = ag_run_closure_name,
        .doc = "auto, eliminated or multipliers"),
    ROW("engine", CHOICE, engine, .arg = "NAME", .choice = ag_run_engine_name,
        .doc = "auto, compiled or interpreted: same numbers, different speed"),
    ROW("seed", WHOLE, seed, .arg = "S", .lo = 0, .hi = 9007199254740992.0, .preset = "none",
        .doc = "for a model with noise: follow one path, with fixed steps (--dt)"),
    ROW("path", WHOLE, path, .arg = "K", .lo = 0, .hi = 281474976710655.0, .doc = "with --seed: which path"),
    ROW("metropolis", FLAG, metropolis,
        .doc = "with --seed, for Langevin methods: accept or reject each step, so that Gibbs' law is exact"),
    ROW("dt-base", NUMBER, run.dt_base, .arg = "STEP", .lo = DBL_MIN, .hi = DBL_MAX, .preset = "from --dt",
        .doc = "with --seed: the grid of the path, of which --dt is a multiple or 1/2, 1/4, ..."),
    ROW("driver", TEXT, common.changes.drivers, .arg = "W=EXPR;...",
        .doc = "functions of t in place of the processes of the noise, separated by semicolons"),
    ROW("noise", CHOICE, noise, .arg = "NAME", .choice = ag_option_noise,
        .doc = "for a model with noise: off runs it without noise"),
    ROW("every", NUMBER, run.every, .arg = "TIME", .lo = 0, .hi = DBL_MAX, .preset = "each accepted step",
        .doc = "time between recorded rows"),
    ROW("max-step", NUMBER, run.h_max, .arg = "STEP", .lo = DBL_MIN, .hi = DBL_MAX, .preset = "no limit",
        .doc = "largest step size"),
    ROW("max-steps", WHOLE, run.max_steps, .arg = "N", .lo = 1, .hi = 1e15, .preset = "ten million",
        .doc = "stop after this many steps"),
    ROW("no-events", FLAG, no_events, .doc = "do not locate events (terminal ones do not end the run)"),
    ROW("end-at", TEXT, common.changes.end_at, .arg = "EVENTS",
        .doc = "events that end the run where they happen, comma-separated"),
    ROW("strict", FLAG, batch.strict,
        .doc = "refuse starts off the constraints; exit code 1 when energy is not conserved as it should be"),
    ROW("section", TEXT, batch.section, .arg = "SECTION",
        .doc = "record the state at each crossing of a section of the model, and nothing else"),
    ROW("crossings", WHOLE, run.crossings, .arg = "N", .lo = 1, .hi = 1e15, .preset = "no limit",
        .doc = "with --section: stop after this many; without --t1 there is no other limit"),
    ROW("level", LIST, common.levels, .arg = "NAME=LEVEL", .preset = "",
        .doc = "start where energy or an observable has this value; several may be given"),
    ROW("solve", TEXT, batch.solve, .arg = "NAMES", .preset = "chosen",
        .doc = "the start values that are solved for: one per level, then the section's"),
    ROW("sweep", LIST, common.sweeps, .arg = "NAME=LO:HI:N", .preset = "",
        .doc = "many runs: N values of a parameter or start value; several make a grid"),
    ROW("starts", TEXT, batch.starts, .arg = "FILE",
        .doc = "many runs: one per row of a .csv file, names in its first row"),
    ROW("columns", TEXT, batch.columns, .arg = "COLUMNS", .preset = "all",
        .doc = "with --sweep or --starts: columns to output, as x,Omega[3],energy"),
    ROW("threads", WHOLE, batch.threads, .arg = "N", .lo = 1, .hi = 4096, .preset = "all cores",
        .doc = "with --sweep or --starts: number of threads"),
    ROW("output", TEXT, output, .letter = 'o', .arg = "FILE",
        .doc = "write the series to a .h5, .csv or .json file; -: CSV to standard output"),
    ROW("compress", FLAG, batch.compress, .doc = "compress the rows of the .h5 file, without loss"),
    ROW("from", TEXT, from, .arg = "FILE", .doc = "continue the run of a .h5 file (instead of MODEL)"),
    ROW("series", FLAG, series, .doc = "with --json: include the series"),
    AG_SET_ROW(args),
    AG_BUDGET_ROWS(args),
    AG_QUIET_ROW(args),
    AG_COMMON_ROWS(args),
};
enum { N_OPTION = sizeof options / sizeof options[0] };

/* Options that determine the motion come from the file. */
static ag_status check_from(args *a) {
  static const char *const may_change[] = {"t1",    "engine", "max-steps", "output",      "series",  "json",
                                           "quiet", "from",   "memory",    "derive-time", "compress"};
  if (a->common.n_word) return ag_usage("run", "--from FILE replaces MODEL: the model is in the file");
  for (int i = 0; i < N_OPTION; i++) {
    bool allowed = !(a->common.given >> i & 1);
    for (size_t k = 0; k < sizeof may_change / sizeof *may_change; k++)
      allowed = allowed || !strcmp(options[i].name, may_change[k]);
    if (!allowed)
      return ag_usage("run", "--%s cannot change when a run is continued; %s has its value", options[i].name, a->from);
  }
  return AG_OK;
}

static bool given(const args *a, const char *name) { return ag_option_given(N_OPTION, options, &a->common, name); }

/* The options of a section, and those that contradict one. */
static ag_status check_section(args *a) {
  if (a->from) return AG_OK; /* the file has it */
  if (!a->batch.section) {
    if (given(a, "crossings")) return ag_usage("run", "--crossings needs --section");
    return AG_OK;
  }
  if (given(a, "every") || a->series)
    return ag_usage("run", "--%s applies to the series; with --section the crossings are recorded instead",
                    a->series ? "series" : "every");
  a->run.every = -1;
  if (given(a, "crossings") && !given(a, "t1")) a->run.t1 = AG_NO_END;
  return AG_OK;
}

static ag_status check_rows(const ag_run_options *o) {
  if (!(o->every > 0) || fabs(o->t1 - o->t0) <= MAX_ROWS * o->every) return AG_OK;
  return ag_usage("run", "--every %g from t = %g to %g asks for more than a billion rows", o->every, o->t0, o->t1);
}

/* The options of noise. */
static ag_status check_noise(args *a) {
  static const char *const of_paths[] = {"path", "dt-base", "metropolis"};
  bool path = given(a, "seed");
  a->run.noise = path ? AG_NOISE_PATH : (ag_noise_use)a->noise;
  a->run.seed = (unsigned long long)a->seed;
  a->run.path = (unsigned long long)a->path;
  for (int i = 0; i < 3 && !path; i++)
    if (given(a, of_paths[i])) return ag_usage("run", "--%s needs --seed", of_paths[i]);
  if (a->common.changes.drivers && (path || a->noise))
    return ag_usage("run", "--driver stands in place of the noise: leave out --%s", path ? "seed" : "noise");
  if (a->common.changes.drivers && (a->common.sweeps.n || a->batch.starts))
    return ag_usage("run", "--driver applies to a single run");
  if (!path) return AG_OK;
  if (a->noise) return ag_usage("run", "--seed follows the noise, --noise off leaves it out: give one of them");
  if (a->common.sweeps.n || a->batch.starts) return ag_usage("run", "--seed applies to a single run");
  if (!(a->run.dt > 0)) return ag_usage("run", "--seed needs fixed steps: give --dt");
  return AG_OK;
}

/* The options of symmetric projection; the names are looked up with the model. */
static ag_status check_project(const args *a) {
  if (!(a->run.dt > 0)) return ag_usage("run", "--project needs fixed steps: give --dt");
  if (a->common.sweeps.n || a->batch.starts) return ag_usage("run", "--project applies to a single run");
  if (a->run.noise == AG_NOISE_PATH) return ag_usage("run", "--project: a path with noise is not projected");
  if (a->run.multipliers) return ag_usage("run", "--project: the equations with multipliers are not projected");
  return AG_OK;
}

/* Options that contradict each other are refused, not ignored. */
static ag_status check_options(args *a) {
  if (a->from) AG_TRY(check_from(a));
  else if (!a->common.n_word) return ag_usage("run", "no MODEL given");
  a->run.method = ag_stepper_at(a->method);
  if (a->metropolis && !a->from) AG_TRY(ag_metropolis_find("run", a->run.method->name, &a->run.method));
  a->run.eliminated = a->closure == 1;
  a->run.multipliers = a->closure == 2;
  a->run.engine = a->engine == 1 ? AG_ENGINE_COMPILED : a->engine == 2 ? AG_ENGINE_INTERPRETED : AG_ENGINE_AUTO;
  a->run.events = !a->no_events;
  if (!a->from) AG_TRY(check_noise(a));
  a->run.absolute = given(a, "atol");
  if (ag_output_format(a->output) == AG_FORMAT_UNKNOWN)
    return ag_usage("run", "unknown output format '%s': the name must end in .h5, .csv or .json", a->output);
  if (a->batch.compress && ag_output_format(a->output ? a->output : a->from) != AG_FORMAT_H5)
    return ag_usage("run", "--compress applies to .h5 files: name one with -o FILE.h5");
  if (ag_output_is_stdout(a->output) && a->common.json)
    return ag_usage("run", "--json and -o - both write to standard output: name a file, or leave out one of them");
  if (a->series && !a->common.json) return ag_usage("run", "--series needs --json; to write a file use -o FILE");
  static const char *const adaptive[] = {"rtol", "atol", "max-step"};
  for (int i = 0; i < 3 && a->run.dt > 0; i++)
    if (given(a, adaptive[i])) return ag_usage("run", "--%s has no effect with the fixed steps of --dt", adaptive[i]);
  if (!(a->run.dt > 0) && a->run.method->error_order == 0)
    return ag_usage("run", "%s has no error estimate: give its step size with --dt", a->run.method->name);
  AG_TRY(check_section(a));
  if (given(a, "project")) AG_TRY(check_project(a));
  if (a->batch.solve && !a->common.levels.n && !a->batch.section)
    return ag_usage("run", "--solve needs --level or --section");
  if (a->common.sweeps.n || a->batch.starts) {
    if (given(a, "every") || a->series)
      return ag_usage("run", "--%s applies to a single run, not to --sweep or --starts",
                      a->series ? "series" : "every");
    return AG_OK;
  }
  static const char *const many[] = {"columns", "threads"};
  for (int i = 0; i < 2; i++)
    if (given(a, many[i])) return ag_usage("run", "--%s needs --sweep or --starts", many[i]);
  if (given(a, "every") && !a->output && !a->series)
    return ag_usage("run", "--every applies to the series: write it with -o FILE (or --json --series)");
  AG_TRY(check_rows(&a->run));
  if (!a->output && !a->series && !a->from) a->run.every = -1;
  return AG_OK;
}

static ag_status run_one(args *a, anagyre_model *m) {
  ag_derive_options how = ag_run_derive(&a->run, a->batch.strict);
  ag_system *sys = ag_api_system(m, &how);
  ag_status status = ag_api_status(m);
  if (sys && a->batch.section &&
      !(a->run.section = ag_api_section(ag_api_ctx(m), ag_system_model(sys), a->batch.section)))
    status = AG_WRONG;
  if (status != AG_OK) return ag_open_refuse(m, ag_api_ctx(m), status, &a->common);
  if (!given(a, "method")) {
    ag_api_choose(sys, &a->run, &a->stiffness);
    how = ag_run_derive(&a->run, a->batch.strict); /* an implicit method may need other equations */
    if (!(sys = ag_api_system(m, &how))) return ag_open_refuse(m, ag_api_ctx(m), ag_api_status(m), &a->common);
  }
  status = ag_run_follow(a, m, sys, NULL);
  anagyre_close(m);
  return status;
}

/* Continues the run in a file, into another file or the same. */
static ag_status run_from(args *a) {
  ag_continued from;
  ag_engine engine = a->run.engine;
  long max_steps = a->run.max_steps;
  double t1 = a->run.t1;
  static const char *const of_one[] = {"t1", "max-steps", "series"};
  bool is_batch;
  for (int i = 0; i < 3 && !a->batch.changed; i++)
    if (given(a, of_one[i])) a->batch.changed = of_one[i];
  ag_status batch = ag_batch_from(a->from, &a->common, &a->batch, &a->run, a->output ? a->output : a->from, &is_batch);
  if (is_batch) return batch;
  AG_TRY(ag_continue_open(&from, a->from, &a->run, &a->batch.strict));
  a->batch.compress = a->batch.compress || ag_store_compressed(&from.archive->fields);
  a->run.engine = engine;
  if (given(a, "max-steps")) a->run.max_steps = max_steps;
  if (!a->output) a->output = a->from;
  ag_status status = ag_continue_until(&from, given(a, "t1") ? &t1 : NULL, &a->run);
  if (status == AG_OK) status = check_rows(&a->run);
  if (status == AG_OK) {
    anagyre_model *m;
    status = ag_continue_load(&from, &m, &a->run, a->batch.strict);
    if (status != AG_OK) {
      status = ag_open_refuse(m, ag_api_ctx(m), status, &a->common);
    } else {
      ag_derive_options how = ag_run_derive(&a->run, a->batch.strict);
      status = ag_run_follow(a, m, ag_api_system(m, &how), &from);
      anagyre_close(m);
    }
  }
  ag_continue_done(&from);
  return status;
}

static ag_status act(void *self) {
  args *a = self;
  AG_TRY(check_options(a));
  if (a->from) return run_from(a);
  anagyre_model *m = ag_open(a->common.words[0], &a->common.changes);
  if (a->common.sweeps.n || a->batch.starts) return ag_batch_act(m, &a->common, &a->batch, &a->run, a->output);
  if (a->common.levels.n || a->batch.solve) AG_TRY(ag_batch_level(m, &a->common, &a->batch, &a->run));
  return run_one(a, m);
}

const ag_command ag_command_run = {
    .name = "run",
    .words = "MODEL",
    .doc = "one trajectory from the start values: summary, series to a file",
    .text = "Integrates the motion from the start values at t0 to t1 and reports how it ended, how well energy\n"
            "and constraints were preserved, when events happened, and the final state. The step size is\n"
            "controlled by the error (--rtol, --atol) unless --dt fixes it. A .h5 or .csv file is written\n"
            "during the run, a .json file at its end. Ctrl-C ends the run cleanly: results so far are saved\n"
            "and shown, and the exit code is 1. A start value is set by its name in the model:\n"
            "--set \"x[1]=0.3\" --set \"phi'=2\".\n"
            "\n"
            "--from FILE continues the run of a .h5 file to a later --t1 (by default the end time it was\n"
            "given), bit for bit as if it had never stopped. The longer run replaces FILE unless -o names\n"
            "another. Model, parameters and options are those of the file.\n"
            "\n"
            "--section NAME records the whole state at each crossing of a section of the model, located to\n"
            "rounding error, in place of the series; with --json under \"section\". --level energy=E puts the\n"
            "start on that energy, and on the section, by solving for the start values that --solve names.\n"
            "\n"
            "--sweep and --starts run many trajectories on all cores. The table has one row per trajectory:\n"
            "the swept values, how and when it ended, its steps, and the columns at the end (with --section:\n"
            "one row per crossing). LO and HI may use parameters. Events are located only if one of them is\n"
            "terminal. Starts off the --level are reported, not counted as failures. The exit code is 1 when\n"
            "some trajectories failed; these are listed, and the others are written all the same.\n",
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
    .defaults = defaults,
    AG_COMMAND(0, 1),
};
