/* SPDX-License-Identifier: MIT
 * `anagyre ensemble`: many paths of a model with noise, and their statistics. */
#include "cli/ensemble.h"
#include "base/number.h"

#include <math.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/clock.h"
#include "cli/csv.h"
#include "cli/metropolis.h"
#include "cli/open.h"
#include "cli/output.h"
#include "store/store.h"
#include "study/study.h"

typedef ag_ensemble_args args;
typedef ag_ensemble_request request;

static const char *engine_name(int i) {
  static const char *const names[] = {"compiled", "interpreted"};
  return i < 2 ? names[i] : NULL;
}

static void defaults(void *self) {
  args *a = self;
  a->t1 = 10, a->dt = 0.01;
  a->paths = 1000;
  a->methods = "euler_heun";
  a->path = -1;
}

#define ROW(...) AG_OPTION(args, __VA_ARGS__)
static const ag_option options[] = {
    ROW("paths", WHOLE, paths, .arg = "N", .lo = 1, .hi = 1e15,
        .doc = "number of paths; with --target the initial number on each level"),
    ROW("seed", WHOLE, seed, .arg = "S", .lo = 0, .hi = 9e15,
        .doc = "seed of the noise: the same paths for the same seed"),
    ROW("method", TEXT, methods, .arg = "METHODS",
        .doc = "integrator; several, comma-separated, follow the same paths (`anagyre list methods`)"),
    ROW("dt", NUMBER, dt, .arg = "STEP", .lo = DBL_MIN, .hi = 1e15, .doc = "step size; must divide t1 - t0"),
    ROW("dt-base", NUMBER, base, .arg = "STEP", .lo = DBL_MIN, .hi = 1e15, .preset = "from --dt",
        .doc = "grid of the paths: dt is a multiple of it, or it divided by 2, 4, 8, ..."),
    ROW("t0", NUMBER, t0, .arg = "TIME", .lo = -1e15, .hi = 1e15, .doc = "start time"),
    ROW("t1", NUMBER, t1, .arg = "TIME", .lo = -1e15, .hi = 1e15, .doc = "end time"),
    ROW("every", NUMBER, every, .arg = "TIME", .lo = 0, .hi = DBL_MAX, .preset = "a tenth",
        .doc = "time between the rows at which statistics are taken"),
    ROW("columns", TEXT, columns, .arg = "COLUMNS", .preset = "the observables",
        .doc = "quantities to compute statistics of, comma-separated; all: everything"),
    ROW("path", WHOLE, path, .arg = "K", .lo = 0, .hi = 9e15, .preset = "",
        .doc = "follow only path K (from 0) and print its rows"),
    ROW("antithetic", FLAG, antithetic, .doc = "path 2i+1 is path 2i with the opposite noise"),
    ROW("metropolis", FLAG, metropolis,
        .doc = "for Langevin methods: accept or reject each step, so that Gibbs' law is exact at any dt"),
    ROW("extrapolate", FLAG, extrapolate,
        .doc = "follow every path with half the step, too, and extrapolate means (Talay and Tubaro)"),
    ROW("correlations", FLAG, correlations, .doc = "with --json or -o: correlations between all rows"),
    ROW("covariances", FLAG, covariances, .doc = "with --json or -o: covariances of the columns at every row"),
    ROW("chosen", TEXT, chosen, .arg = "PATHS", .preset = "",
        .doc = "with --json or -o: rows of these paths in full, such as 0:9,17"),
    ROW("passage", TEXT, passages, .arg = "COLUMN=LEVEL", .preset = "",
        .doc = "first time at which a scalar reaches a level; separate several by semicolons"),
    ROW("target", TEXT, target, .arg = "COLUMN=RMSE", .preset = "",
        .doc = "the mean of one scalar at t1 to this error, by steps dt, dt/2, dt/4, ... (multilevel)"),
    ROW("engine", CHOICE, engine, .arg = "NAME", .choice = engine_name,
        .doc = "compiled or interpreted: same numbers, different speed"),
    ROW("threads", WHOLE, threads, .arg = "N", .lo = 1, .hi = 4096, .preset = "one per core", .doc = "threads"),
    ROW("output", TEXT, output, .letter = 'o', .arg = "FILE", .preset = "",
        .doc = "write statistics to a .h5 or .json file, or the rows of --path to a .csv file"),
    ROW("from", TEXT, from, .arg = "FILE", .preset = "",
        .doc = "continue an ensemble (interrupted, or with fewer paths) from its .h5 file"),
    ROW("sweep", LIST, common.sweeps, .arg = "NAME=LO:HI:N", .preset = "",
        .doc = "an ensemble for each of N values of a parameter or start value, all on the same paths"),
    AG_SET_ROW(args),
    AG_BUDGET_ROWS(args),
    AG_QUIET_ROW(args),
    AG_COMMON_ROWS(args),
};
enum { N_OPTION = sizeof options / sizeof options[0] };

/* ---- doing it ---- */

static ag_ensemble_report report_of(const request *q, const ag_ensemble *e) {
  return (ag_ensemble_report){.system = q->sys,
                              .options = &q->o,
                              .record = &q->record,
                              .n_item = q->n_item,
                              .items = q->items,
                              .passage_names = q->passage_names,
                              .correlations = q->a->correlations,
                              .covariances = q->a->covariances,
                              .x0 = q->x0,
                              .params = q->params,
                              .result = e};
}

/* The next name of --method; NULL: the last one was taken, or (*status) it is wrong. */
static const ag_stepper *next_method(const char **rest, ag_status *status) {
  if (!*rest) return NULL;
  size_t n = strcspn(*rest, ",");
  char name[64];
  snprintf(name, sizeof name, "%.*s", (int)n, *rest);
  *rest = (*rest)[n] ? *rest + n + 1 : NULL;
  const ag_stepper *s = ag_ensemble_method(name);
  if (!s) *status = AG_WRONG;
  return s;
}

static ag_status refused(request *q, ag_status status) { return ag_open_fail(q->m, q->ctx, status, &q->a->common); }

static ag_status follow_one(request *q) {
  const args *a = q->a;
  ag_ensemble e = {.n_value = q->n_value};
  double *values = ag_heap_alloc(sizeof *values * (size_t)(q->o.n_row * e.n_value + 1));
  int n_reached = 0;
  ag_status status = AG_OK;
  const char *rest = a->methods;
  const long path = a->path;
  ag_text out = {0};
  q->o.method = next_method(&rest, &status);
  if (rest) status = ag_usage("ensemble", "--path follows one path by one --method");
  if (status == AG_OK) {
    status = ag_ensemble_paths(q->ctx, q->sys, q->params, q->x0, &q->o, 1, &path, values, &n_reached);
    if (status != AG_OK) (void)refused(q, status);
  }
  if (status == AG_OK) {
    const ag_ensemble_report r = report_of(q, &e);
    if (a->common.json) {
      ag_json j = {0};
      ag_json_begin(&j, NULL, '{');
      ag_json_string(&j, "model", anagyre_name(q->m));
      ag_json_whole(&j, "seed", a->seed);
      ag_json_number(&j, "dt_base", q->o.path.base);
      ag_json_begin(&j, "times", '[');
      for (int k = 0; k < n_reached; k++) ag_json_number(&j, NULL, ag_ensemble_time(&r, k));
      ag_json_end(&j, ']');
      ag_ensemble_path_json(&r, path, n_reached, values, &j);
      ag_json_end(&j, '}');
      ag_json_print(&j);
    }
    if (a->output || !a->common.json) ag_ensemble_csv(&r, (unsigned long long)a->path, n_reached, values, &out);
    if (a->output) status = ag_output_save(a->output, &out);
    else fputs(ag_text_cstr(&out), stdout);
    if (n_reached < q->o.n_row) {
      fprintf(stderr, "error: path %ld could not be followed to t = %s\n", a->path,
              ag_number_text(ag_ensemble_time(&r, n_reached)).s);
      if (status == AG_OK) status = AG_FAILED;
    }
  }
  ag_text_done(&out);
  free(values);
  return status;
}

static void write_checkpoint(void *self, const ag_ensemble *so_far) {
  request *q = self;
  const ag_ensemble_report r = report_of(q, so_far);
  if (q->checkpoint == AG_OK) q->checkpoint = ag_ensemble_store(&r, q->m, q->a);
}

static ag_status follow_all(request *q, ag_ensemble *e) {
  const args *a = q->a;
  ag_progress progress;
  ag_progress_init(&progress, a->common.quiet || a->common.json, 0, (double)a->paths);
  progress.things = "paths";
  q->o.stop = ag_stop_catch();
  q->o.progress = ag_progress_show;
  q->o.progress_self = &progress;
  if (ag_output_format(a->output) == AG_FORMAT_H5) q->o.checkpoint = write_checkpoint, q->o.checkpoint_self = q;
  ag_status status = ag_ensemble_run(q->ctx, q->sys, q->params, q->x0, &q->o, e);
  ag_progress_done(&progress);
  ag_stop_release();
  return status == AG_OK ? AG_OK : refused(q, status);
}

static void write_json(void *self, ag_json *j) {
  ag_json_begin(j, NULL, '{');
  ag_ensemble_json(self, j);
  ag_json_end(j, '}');
}

/* The rows of --chosen, into the report; to be freed. */
typedef struct chosen {
  long *paths;
  int *reached;
  double *values;
} chosen;

static ag_status follow_chosen(const request *q, chosen *c, ag_ensemble_report *r) {
  const size_t n = (size_t)q->n_chosen, size = n * (size_t)(q->o.n_row * q->n_value);
  ag_ensemble_options o = q->o;
  if (!n) return AG_OK;
  c->paths = ag_heap_alloc(sizeof *c->paths * n);
  c->reached = ag_heap_alloc(sizeof *c->reached * n);
  c->values = ag_heap_alloc(sizeof *c->values * size);
  long at = 0;
  for (int i = 0; i < q->n_range; i++)
    for (long k = q->chosen[i].first; k <= q->chosen[i].last; k++) c->paths[at++] = k;
  o.stop = NULL;
  r->n_chosen = q->n_chosen, r->chosen = c->paths, r->reached = c->reached, r->in_full = c->values;
  return ag_ensemble_paths(q->ctx, q->sys, q->params, q->x0, &o, q->n_chosen, c->paths, c->values, c->reached);
}

static void chosen_done(chosen *c) { free(c->paths), free(c->reached), free(c->values); }

static ag_status show(request *q, const ag_ensemble *e, bool one, ag_json *j) {
  const args *a = q->a;
  ag_ensemble_report r = report_of(q, e);
  chosen c = {0};
  ag_status status = follow_chosen(q, &c, &r), saved = AG_OK;
  if (status != AG_OK) {
    chosen_done(&c);
    return refused(q, status);
  }
  if (a->common.json) {
    if (!one) ag_json_begin(j, r.options->method->name, '{');
    ag_ensemble_json(&r, j);
    if (!one) ag_json_end(j, '}');
  } else {
    ag_text out = {0};
    ag_ensemble_text(&r, &out);
    fputs(ag_text_cstr(&out), stdout);
    ag_text_done(&out);
  }
  if (e->stopped)
    fprintf(stderr, "stopped by %s after %llu paths%s%s\n", ag_stop_word(), e->done, a->output ? "; they are in " : "",
            a->output ? a->output : "");
  if (a->output && ag_output_format(a->output) == AG_FORMAT_JSON) saved = ag_json_save(a->output, write_json, &r);
  else if (a->output) saved = ag_ensemble_store(&r, q->m, a);
  chosen_done(&c);
  q->lost = q->lost || e->failed == e->done;
  return saved != AG_OK ? saved : e->stopped ? AG_FAILED : AG_OK;
}

/* Every method on the same paths. */
static ag_status follow_methods(request *q) {
  const args *a = q->a;
  const bool one = !strchr(a->methods, ',');
  const char *rest = a->methods;
  ag_status status = AG_OK;
  ag_json j = {0};
  if (a->common.json) ag_json_begin(&j, NULL, '{');
  if (a->common.json && !one) ag_json_begin(&j, "methods", '{');
  while (status == AG_OK && (q->o.method = next_method(&rest, &status)) != NULL) {
    ag_ensemble *e = ag_heap_alloc(sizeof *e);
    status = follow_all(q, e);
    if (status == AG_OK) status = show(q, e, one, &j);
    ag_ensemble_done(e);
    free(e);
  }
  if (status == AG_OK && q->lost) status = AG_FAILED;
  if (!a->common.json) return status;
  if (!one) ag_json_end(&j, '}');
  ag_json_end(&j, '}');
  if (status == AG_OK || status == AG_FAILED) ag_json_print(&j);
  else ag_text_done(&j.text);
  return status;
}

/* ---- sweeps ---- */

/* One row of a table: swept values, method, paths, then mean and standard error at the end. */
static void sweep_row(const request *q, const ag_members *s, long member, const ag_ensemble *e, ag_text *out) {
  const int last = q->o.n_row - 1;
  for (int i = 0; i < s->grid.n_name; i++) {
    ag_text_number(out, s->values[member * s->grid.n_name + i]);
    ag_text_char(out, ',');
  }
  ag_text_printf(out, "%s,%llu,%llu", q->o.method->name, e->done, e->failed);
  for (int i = 0; i < q->n_item; i++) {
    const int at = ag_ensemble_value(e, last, q->items[i].value);
    ag_csv_number(out, ag_tally_mean(e->tally, at));
    ag_csv_number(out, ag_tally_stderr(e->tally, at));
    if (!e->extrapolated) continue;
    const int better = ag_ensemble_extrapolated(e, last, q->items[i].value);
    ag_csv_number(out, ag_tally_mean(e->extrapolated, better));
    ag_csv_number(out, ag_tally_stderr(e->extrapolated, better));
  }
  ag_text_char(out, '\n');
}

static void sweep_header(const request *q, const ag_members *s, ag_text *out) {
  ag_text name = {0};
  for (int i = 0; i < s->grid.n_name; i++) ag_text_printf(out, "%s,", s->grid.names[i]);
  ag_text_str(out, "method,paths,failed");
  static const char *const numbers[] = {"", " stderr", " extrapolated", " extrapolated stderr"};
  for (int i = 0; i < q->n_item; i++)
    for (int k = 0; k < (q->a->extrapolate ? 4 : 2); k++) {
      ag_text_char(out, ',');
      name.n = 0;
      ag_text_printf(&name, "%s%s", q->items[i].name, numbers[k]);
      ag_csv_quoted(out, ag_text_cstr(&name));
    }
  ag_text_char(out, '\n');
  ag_text_done(&name);
}

static void sweep_json(const request *q, const ag_members *s, long member, const ag_ensemble *e, ag_json *j) {
  const ag_ensemble_report r = report_of(q, e);
  ag_json_begin(j, NULL, '{');
  ag_json_begin(j, "values", '{');
  for (int i = 0; i < s->grid.n_name; i++) ag_json_number(j, s->grid.names[i], s->values[member * s->grid.n_name + i]);
  ag_json_end(j, '}');
  ag_ensemble_json(&r, j);
  ag_json_end(j, '}');
}

/* The ensemble of one member by one method. */
static ag_status sweep_one(request *q, const ag_members *s, long ready, ag_text *out, ag_json *j) {
  const ag_dims *dims = ag_system_dims(q->sys);
  ag_ensemble *e = ag_heap_alloc(sizeof *e);
  q->params = s->params + ready * dims->param;
  memcpy(q->x0, s->x0 + ready * dims->x, sizeof(double) * (size_t)dims->x);
  ag_status status = follow_all(q, e);
  if (status == AG_OK && q->a->common.json) sweep_json(q, s, s->index[ready], e, j);
  if (status == AG_OK && !q->a->common.json) sweep_row(q, s, s->index[ready], e, out);
  if (status == AG_OK && e->stopped) status = AG_FAILED;
  q->lost = q->lost || e->failed == e->done;
  ag_ensemble_done(e);
  free(e);
  return status;
}

/* Every member of the sweep, by every method, on the same paths. */
static ag_status sweep_all(request *q, const ag_members *s) {
  const args *a = q->a;
  ag_status status = AG_OK;
  ag_json j = {0};
  ag_text out = {0};
  if (a->common.json) ag_json_begin(&j, NULL, '{'), ag_json_begin(&j, "members", '[');
  else sweep_header(q, s, &out);
  for (long k = 0; k < s->n_ready && status == AG_OK; k++) {
    const char *rest = a->methods;
    while (status == AG_OK && (q->o.method = next_method(&rest, &status)) != NULL)
      status = sweep_one(q, s, k, &out, &j);
  }
  const bool told = status == AG_OK || status == AG_FAILED;
  if (a->common.json) {
    ag_json_end(&j, ']'), ag_json_end(&j, '}');
    if (told) ag_json_print(&j);
    else ag_text_done(&j.text);
  } else if (told && a->output) {
    ag_status saved = ag_output_save(a->output, &out);
    if (saved != AG_OK) status = saved;
  } else if (told) fputs(ag_text_cstr(&out), stdout);
  ag_text_done(&out);
  return status != AG_OK ? status : s->n_ready < s->n || q->lost ? AG_FAILED : AG_OK;
}

static ag_status sweep(const args *a, anagyre_model *m) {
  ag_members s;
  ag_text usage = {0};
  request q = {0};
  ag_members_request r = {.model = m,
                          .n_set = a->common.changes.n_set,
                          .sets = a->common.changes.sets,
                          .sweeps = a->common.sweeps,
                          .t0 = a->t0};
  ag_status status = ag_members_create(&s, &r, &usage);
  if (usage.n) status = ag_usage("ensemble", "%s", ag_text_cstr(&usage));
  else if (status != AG_OK) (void)ag_open_fail(m, s.ctx.n_error ? &s.ctx : ag_api_ctx(m), status, &a->common);
  if (status == AG_OK) {
    status = ag_ensemble_request_init(&q, a, m, ag_varied_system(s.varied));
    q.ctx = &s.ctx;
    for (long i = 0; i < s.n; i++)
      if (s.reason[i]) ag_output_tell("error: member %ld cannot start: %s", i + 1, s.reason[i]);
    if (status == AG_OK) status = sweep_all(&q, &s);
    ag_ensemble_request_done(&q);
  }
  ag_text_done(&usage);
  ag_members_done(&s);
  return status;
}

/* ---- the verb ---- */

static ag_status check_sweep(const args *a) {
  static const char *const no[] = {"from", "path", "chosen", "correlations", "covariances"};
  for (size_t i = 0; i < sizeof no / sizeof *no; i++)
    if (ag_option_given(N_OPTION, options, &a->common, no[i]))
      return ag_usage("ensemble", "--sweep gives a table: --%s does not apply", no[i]);
  if (a->output && (ag_output_format(a->output) != AG_FORMAT_CSV || a->common.json))
    return ag_usage("ensemble", "the table of --sweep goes to a .csv file, or with --json to standard output");
  return a->antithetic && a->paths % 2 ? ag_usage("ensemble", "--antithetic needs an even number of --paths") : AG_OK;
}

static ag_status check_target(const args *a) {
  static const char *const no[] = {"from",    "path",    "chosen", "correlations", "covariances", "every",
                                   "columns", "passage", "sweep",  "antithetic",   "dt-base"};
  for (size_t i = 0; i < sizeof no / sizeof *no; i++)
    if (ag_option_given(N_OPTION, options, &a->common, no[i]))
      return ag_usage("ensemble", "--target gives one mean at t1: --%s does not apply", no[i]);
  if (strchr(a->methods, ',')) return ag_usage("ensemble", "--target takes one --method");
  if (a->paths < 2) return ag_usage("ensemble", "--target begins with at least 2 --paths on every level");
  if (a->output && (ag_output_format(a->output) != AG_FORMAT_JSON || ag_output_is_stdout(a->output)))
    return ag_usage("ensemble", "the levels of --target go to a .json file");
  return AG_OK;
}

static ag_status check_options(const args *a) {
  if (a->target) return check_target(a);
  if (a->common.sweeps.n) return check_sweep(a);
  const ag_format format = ag_output_format(a->output);
  const bool several = strchr(a->methods, ',') != NULL;
  if (a->path >= 0) {
    if (a->output && (format != AG_FORMAT_CSV || ag_output_is_stdout(a->output)))
      return ag_usage("ensemble", "the rows of --path go to a .csv file");
    static const char *const no[] = {"from",    "correlations", "covariances", "chosen",
                                     "passage", "paths",        "extrapolate"};
    for (size_t i = 0; i < sizeof no / sizeof *no; i++)
      if (ag_option_given(N_OPTION, options, &a->common, no[i]))
        return ag_usage("ensemble", "--path follows one path: --%s does not apply", no[i]);
    return AG_OK;
  }
  if (a->output && format != AG_FORMAT_H5 && format != AG_FORMAT_JSON)
    return ag_usage("ensemble", "the name of --output must end in .h5 or .json");
  if (several && (a->output || a->from))
    return ag_usage("ensemble", "--%s takes one --method", a->output ? "output" : "from");
  const char *more = a->correlations ? "correlations" : a->covariances ? "covariances" : a->chosen ? "chosen" : NULL;
  if (more && !a->common.json && !a->output)
    return ag_usage("ensemble", "--%s is written with --json, or to a .h5 or .json file: give one of them", more);
  if (a->antithetic && a->paths % 2) return ag_usage("ensemble", "--antithetic needs an even number of --paths");
  return AG_OK;
}

static ag_status follow(const args *a) {
  ag_status status;
  AG_TRY(check_options(a));
  anagyre_model *m = ag_open_derived(&a->common, &(ag_derive_options){.t0 = a->t0}, &status);
  if (!m) return status;
  if ((status = ag_output_check(a->output)) != AG_OK) {
    anagyre_close(m);
    return status;
  }
  if (a->common.sweeps.n || a->target) {
    status = a->target ? ag_ensemble_target(a, m, ag_api_system(m, &(ag_derive_options){.t0 = a->t0})) : sweep(a, m);
    anagyre_close(m);
    return status;
  }
  request q;
  status = ag_ensemble_request_init(&q, a, m, ag_api_system(m, &(ag_derive_options){.t0 = a->t0}));
  if (status == AG_OK) status = a->path >= 0 ? follow_one(&q) : follow_methods(&q);
  ag_ensemble_request_done(&q);
  anagyre_close(m);
  return status;
}

static ag_status act(void *self) {
  args *a = self;
  ag_text methods = {0};
  ag_status status = a->metropolis ? ag_metropolis_names("ensemble", a->methods, &methods) : AG_OK;
  if (a->metropolis && a->target && status == AG_OK)
    status = ag_usage("ensemble", "--target compares steps of several sizes, --metropolis rejects some of them at "
                                  "random: give one of them");
  if (a->metropolis) a->methods = ag_text_cstr(&methods);
  if (status == AG_OK) status = follow(a);
  ag_text_done(&methods);
  return status;
}

const ag_command ag_command_ensemble = {
    .name = "ensemble",
    .words = "MODEL",
    .doc = "many paths of a model with noise: means, variances, quantiles, histograms",
    .text = "Follows many paths with fixed steps and takes statistics of the columns at a few times: mean with its\n"
            "standard error, variance, extremes, quantiles, histograms, time averages. A path is determined by the\n"
            "seed, its number and the base grid: other methods, steps and numbers of paths see the same ones. The\n"
            "numbers do not depend on threads, lanes or interruptions. Memory does not grow with the number of\n"
            "paths. Paths that cannot be followed to the end are left out, counted and named.\n",
    .examples = "  anagyre ensemble noisy.nh --paths 100000 --seed 1 --dt 0.01 --t1 10\n"
                "  anagyre ensemble noisy.nh --paths 1000 --method euler_heun,rk4 --json\n"
                "  anagyre ensemble noisy.nh --seed 1 --path 17 -o path.csv\n"
                "  anagyre ensemble noisy.nh --target x=0.001 --dt 0.1 --t1 10\n",
    .defaults = defaults,
    AG_COMMAND(1, 1),
};
