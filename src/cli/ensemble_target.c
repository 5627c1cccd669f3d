/* SPDX-License-Identifier: MIT
 * `anagyre ensemble --target`: the mean of one number to a given accuracy, by levels of steps. */
#include <math.h>
#include <string.h>

#include "base/number.h"
#include "cli/cli.h"
#include "cli/clock.h"
#include "cli/ensemble.h"
#include "cli/open.h"
#include "cli/output.h"
#include "study/study.h"

static ag_status wrong_target(const char *text) {
  return ag_usage("ensemble", "--target takes COLUMN=RMSE, one number and a positive error: '%s'", text);
}

/* COLUMN=RMSE */
static ag_status read_target(const char *text, const ag_record *r, bool *wanted, char **name,
                             ag_multilevel_options *o) {
  const char *equals = strrchr(text, '=');
  if (!equals || !ag_number_parse(equals + 1, &o->target) || !(o->target > 0)) return wrong_target(text);
  ag_text column = {0};
  int entry;
  ag_text_strn(&column, text, (size_t)(equals - text));
  *name = column.s;
  const ag_column *c = ag_ensemble_number("target", r, ag_text_cstr(&column), &entry);
  if (!c) return AG_WRONG;
  wanted[c - r->columns] = true;
  o->columns = wanted;
  o->entry = entry;
  return AG_OK;
}

/* Level 0 uses the base grid itself, so that halves of its steps refine the same path. */
static ag_status choose_steps(const ag_ensemble_args *a, ag_multilevel_options *o) {
  const double ratio = (a->t1 - a->t0) / a->dt, whole = floor(ratio + 0.5);
  if (!(a->t1 > a->t0)) return ag_usage("ensemble", "--t1 must be later than --t0: noise has a direction");
  if (!(whole >= 1 && whole <= 0x1p16 && fabs(ratio - whole) <= 1e-9 * whole))
    return ag_usage("ensemble",
                    "--dt %.12g does not divide t1 - t0 into at most 2^16 steps; the nearest that do are %.12g "
                    "and %.12g",
                    a->dt, (a->t1 - a->t0) / fmin(0x1p16, ceil(ratio)),
                    (a->t1 - a->t0) / fmin(0x1p16, fmax(1, floor(ratio))));
  o->steps = (unsigned long long)whole;
  o->t0 = a->t0, o->dt = a->dt;
  return AG_OK;
}

/* ---- results ---- */

static void put_text(const ag_ensemble_args *a, const char *name, const ag_multilevel *m,
                     const ag_multilevel_options *o, ag_text *out) {
  ag_text_printf(out, "%s at t = %s, by %s on %d levels%s\n", name, ag_number_text(a->t1).s, o->method->name, m->n,
                 m->antithetic ? ", fine steps in both orders" : "");
  ag_text_printf(out, "  %-10s %.10g\n  %-10s %.3g\n  %-10s %.3g, of the steps\n", "mean", m->mean, "stderr", m->spread,
                 "bias", m->bias);
  ag_text_printf(out, "  %-10s %.3g: %s\n", "target", o->target, m->reached ? "reached" : "not reached");
  ag_text_printf(out, "  %-10s %.3g steps; on one level with the smallest about %.3g\n", "work", m->steps, m->plain);
  ag_text_printf(out, "  %-10s variance of differences ~ dt^%.2f, their means ~ dt^%.2f\n", "decay", m->decay, m->weak);
  ag_text_printf(out, "  %5s  %12s  %12s  %13s  %10s  %10s  %12s\n", "level", "dt", "paths", "mean", "stderr",
                 "variance", "steps/path");
  for (int l = 0; l < m->n; l++) {
    const ag_multilevel_row *r = &m->rows[l];
    ag_text_printf(out, "  %5d  %12.6g  %12llu  %13.6g  %10.3g  %10.3g  %12.6g", l, r->dt, r->paths, r->mean, r->spread,
                   r->variance, r->cost);
    if (r->failed) ag_text_printf(out, "  %llu failed", r->failed);
    ag_text_char(out, '\n');
  }
}

/* The JSON output. */
typedef struct written {
  const ag_ensemble_args *a;
  const char *model, *name;
  const ag_multilevel *m;
  const ag_multilevel_options *o;
} written;

static void write_json(void *self, ag_json *j) {
  const written *w = self;
  const ag_multilevel *m = w->m;
  ag_json_begin(j, NULL, '{');
  ag_json_string(j, "model", w->model);
  ag_json_string(j, "method", w->o->method->name);
  ag_json_whole(j, "seed", w->a->seed);
  ag_json_string(j, "number", w->name);
  ag_json_number(j, "t", w->a->t1);
  ag_json_number(j, "mean", m->mean);
  ag_json_number(j, "stderr", m->spread);
  ag_json_number(j, "bias", m->bias);
  ag_json_number(j, "target", w->o->target);
  ag_json_bool(j, "reached", m->reached);
  ag_json_bool(j, "antithetic", m->antithetic);
  ag_json_number(j, "steps", m->steps);
  ag_json_number(j, "steps_on_one_level", m->plain);
  ag_json_number(j, "variance_decay", m->decay);
  ag_json_number(j, "mean_decay", m->weak);
  ag_json_begin(j, "levels", '[');
  for (int l = 0; l < m->n; l++) {
    const ag_multilevel_row *r = &m->rows[l];
    ag_json_begin(j, NULL, '{');
    ag_json_number(j, "dt", r->dt);
    ag_json_whole(j, "paths", (long)r->paths);
    ag_json_whole(j, "failed", (long)r->failed);
    ag_json_number(j, "mean", r->mean);
    ag_json_number(j, "stderr", r->spread);
    ag_json_number(j, "variance", r->variance);
    ag_json_number(j, "steps_per_path", r->cost);
    ag_json_end(j, '}');
  }
  ag_json_end(j, ']');
  ag_json_end(j, '}');
}

static ag_status show(const ag_ensemble_args *a, anagyre_model *model, const char *name, const ag_multilevel *m,
                      const ag_multilevel_options *o) {
  written w = {a, anagyre_name(model), name, m, o};
  if (a->common.json) {
    ag_json j = {0};
    write_json(&w, &j);
    ag_json_print(&j);
  } else {
    ag_text out = {0};
    put_text(a, name, m, o, &out);
    fputs(ag_text_cstr(&out), stdout);
    ag_text_done(&out);
  }
  if (*o->stop) fprintf(stderr, "stopped by %s: the target is not reached\n", ag_stop_word());
  else if (!m->reached) fprintf(stderr, "error: the target is not reached on %d levels\n", m->n);
  AG_TRY(a->output ? ag_json_save(a->output, write_json, &w) : AG_OK);
  return m->reached ? AG_OK : AG_FAILED;
}

ag_status ag_ensemble_target(const ag_ensemble_args *a, anagyre_model *model, ag_system *sys) {
  ag_multilevel m;
  ag_multilevel_options o = {.method = ag_ensemble_method(a->methods),
                             .seed = (unsigned long long)a->seed,
                             .pilot = a->paths,
                             .interpreted = a->engine == 1,
                             .threads = (int)a->threads};
  ag_record record;
  char *name = NULL;
  if (!ag_system_dims(sys)->channel)
    return ag_usage("ensemble", "%s has no noise: `anagyre run` gives its one motion",
                    ag_model_name(ag_system_model(sys)));
  if (!o.method) return AG_WRONG;
  if (o.method->draws == AG_WIENER_AREAS)
    return ag_usage("ensemble",
                    "--target: %s reads Levy areas to one depth, and levels would differ in it; "
                    "methods without them are coupled so that areas cancel",
                    o.method->name);
  ag_record_init(&record, sys);
  bool *wanted = ag_heap_alloc((size_t)record.n_column + 1);
  double *x0 = ag_heap_alloc(sizeof *x0 * (size_t)(ag_system_dims(sys)->x + 1));
  ag_system_state0(sys, x0);
  ag_status status = read_target(a->target, &record, wanted, &name, &o);
  if (status == AG_OK) status = choose_steps(a, &o);
  if (status == AG_OK) {
    o.stop = ag_stop_catch();
    status = ag_multilevel_run(&m, ag_api_ctx(model), sys, ag_system_param_values(sys), x0, &o);
    ag_stop_release();
    if (status != AG_OK) (void)ag_open_fail(model, ag_api_ctx(model), status, &a->common);
    else status = show(a, model, name, &m, &o);
  }
  ag_record_done(&record);
  free(wanted), free(x0), free(name);
  return status;
}
