/* SPDX-License-Identifier: MIT
 * `anagyre converge`: measured orders of methods on a model, what they keep, what they cost. */
#include <math.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/clock.h"
#include "cli/converge.h"
#include "cli/json.h"
#include "cli/output.h"

typedef ag_converge_args args;

static void defaults(void *self) {
  args *a = self;
  a->t1 = NAN;
  a->methods = "all";
  a->seed = -1;
}

static const ag_option options[] = {
    AG_OPTION(args, "method", TEXT, methods, .arg = "METHODS", .preset = "all",
              .doc = "all, or names from `anagyre list methods`, comma-separated"),
    AG_OPTION(args, "t0", NUMBER, t0, .arg = "TIME", .lo = -1e15, .hi = 1e15, .doc = "start time"),
    AG_OPTION(args, "t1", NUMBER, t1, .arg = "TIME", .lo = -1e15, .hi = 1e15, .preset = "some steps of dop853",
              .doc = "end time"),
    AG_OPTION(args, "method-time", NUMBER, method_time, .arg = "SECONDS", .lo = 1e-9, .hi = 1e9, .preset = "20",
              .doc = "processor time after which a method gets no smaller steps"),
    AG_OPTION(args, "paths", WHOLE, paths, .arg = "N", .lo = 32, .hi = 1 << 20, .preset = "4096",
              .doc = "for a model with noise: number of paths, a multiple of 32"),
    AG_OPTION(args, "seed", WHOLE, seed, .arg = "S", .lo = 0, .hi = 9e15, .preset = "0",
              .doc = "for a model with noise: seed of the paths"),
    AG_OPTION(args, "columns", TEXT, columns, .arg = "COLUMNS", .preset = "state, energy, observables",
              .doc = "for a model with noise: columns whose means are compared"),
    AG_OPTION(args, "threads", WHOLE, threads, .arg = "N", .lo = 1, .hi = 4096, .preset = "one per core",
              .doc = "for a model with noise: number of threads"),
    AG_OPTION(args, "output", TEXT, output, .letter = 'o', .arg = "FILE", .preset = "",
              .doc = "write all runs to a .csv file: method, dt, steps, work, errors"),
    AG_SET_ROW(args),
    AG_BUDGET_ROWS(args),
    AG_QUIET_ROW(args),
    AG_COMMON_ROWS(args),
};

/* Of the run with the most steps. */
static double per_step(const ag_converge_row *row, bool time) {
  if (!row->n_point) return NAN;
  const ag_converge_point *p = &row->points[row->n_point - 1];
  return (time ? p->seconds : (double)p->rhs) / (double)p->steps;
}

/* A small number, or a dash. */
static void put_small(double x, ag_text *out) {
  if (isnan(x)) ag_text_printf(out, "  %8s", "-");
  else ag_text_printf(out, "  %8.1e", x);
}

/* Of the column of names. */
static int name_width(const ag_converge *c) {
  size_t width = 12;
  for (int i = 0; i < c->n_row; i++)
    if (strlen(c->rows[i].method->name) > width) width = strlen(c->rows[i].method->name);
  return (int)width;
}

static void put_row(const ag_converge *c, const ag_converge_row *row, ag_text *out) {
  if (row->refused) {
    ag_text_printf(out, "%-*s not measured: %s\n", name_width(c), row->method->name, row->refused);
    return;
  }
  ag_text_printf(out, "%-*s %5d  ", name_width(c), row->method->name, row->method->order);
  if (isnan(row->order)) ag_text_printf(out, "%13s", "-");
  else ag_text_printf(out, "%6.2f +- %.2f", row->order, row->half);
  ag_text_printf(out, "  %-9s", ag_agrees_word(row->agrees));
  put_small(row->dt, out);
  put_small(row->energy, out);
  put_small(row->constraint, out);
  put_small(row->back, out);
  put_small(row->volume, out);
  ag_text_printf(out, "  %8.3g  %8.3g", per_step(row, false), 1e6 * per_step(row, true));
  for (int i = 0; i < c->n_invariant; i++) put_small(row->kept[i], out);
  ag_text_char(out, '\n');
}

static void write_table(const ag_converge *c, const char *name, ag_text *out) {
  ag_text_printf(out, "%s from t = %g to %g: the reference took %ld steps; errors above %.1e count\n", name, c->t0,
                 c->t1, c->reference_steps, c->floor);
  ag_text_printf(out, "%-*s %5s  %13s  %-9s  %8s  %8s  %8s  %8s  %8s  %8s  %8s", name_width(c), "method", "order",
                 "measured", "agrees", "dt", "energy", "constr.", "back", "volume", "rhs/step", "us/step");
  for (int i = 0; i < c->n_invariant; i++) ag_text_printf(out, "  %8.8s", c->invariants[i]->name);
  ag_text_char(out, '\n');
  for (int i = 0; i < c->n_row; i++) put_row(c, &c->rows[i], out);
  for (int i = 0; i < c->n_row; i++)
    if (!c->rows[i].refused && c->rows[i].to != c->t1)
      ag_text_printf(out, "%s: the order was measured from t = %g to %g, what is kept to %g\n", c->rows[i].method->name,
                     c->t0, c->rows[i].to, c->t1);
  for (int i = 0; i < c->n_row; i++)
    if (c->rows[i].stopped)
      ag_text_printf(out, "%s: smaller steps would take longer than --method-time\n", c->rows[i].method->name);
}

static void json_row(ag_json *j, const ag_converge *c, const ag_converge_row *row) {
  ag_json_begin(j, NULL, '{');
  ag_json_string(j, "method", row->method->name);
  ag_json_string(j, "family", row->method->family);
  ag_json_whole(j, "declared", row->method->order);
  if (row->refused) {
    ag_json_string(j, "refused", row->refused);
    ag_json_end(j, '}');
    return;
  }
  ag_json_number(j, "order", row->order);
  ag_json_number(j, "confidence", row->half);
  ag_json_string(j, "agrees", ag_agrees_word(row->agrees));
  ag_json_number(j, "order_t1", row->to);
  ag_json_bool(j, "stopped", row->stopped);
  ag_json_begin(j, "kept", '{');
  ag_json_number(j, "dt", row->dt);
  ag_json_number(j, "energy", row->energy);
  ag_json_number(j, "constraint", row->constraint);
  ag_json_number(j, "reversibility", row->back);
  ag_json_number(j, "volume", row->volume);
  ag_json_begin(j, "observables", '{');
  for (int i = 0; i < c->n_invariant; i++) ag_json_number(j, c->invariants[i]->name, row->kept[i]);
  ag_json_end(j, '}');
  ag_json_end(j, '}');
  ag_json_number(j, "rhs_per_step", per_step(row, false));
  ag_json_number(j, "seconds_per_step", per_step(row, true));
  ag_json_begin(j, "points", '[');
  for (int i = 0; i < row->n_point; i++) {
    const ag_converge_point *p = &row->points[i];
    ag_json_begin(j, NULL, '{');
    ag_json_number(j, "dt", p->dt);
    ag_json_whole(j, "steps", p->steps);
    ag_json_whole(j, "rhs", p->rhs);
    ag_json_number(j, "seconds", p->seconds);
    ag_json_number(j, "error", p->error);
    ag_json_end(j, '}');
  }
  ag_json_end(j, ']');
  ag_json_end(j, '}');
}

static void print_json(const ag_converge *c, const char *name) {
  ag_json j = {0};
  ag_json_begin(&j, NULL, '{');
  ag_json_string(&j, "model", name);
  ag_json_number(&j, "t0", c->t0);
  ag_json_number(&j, "t1", c->t1);
  ag_json_number(&j, "floor", c->floor);
  ag_json_whole(&j, "reference_steps", c->reference_steps);
  ag_json_bool(&j, "invariant_measure", c->has_measure);
  ag_json_begin(&j, "methods", '[');
  for (int i = 0; i < c->n_row; i++) json_row(&j, c, &c->rows[i]);
  ag_json_end(&j, ']');
  ag_json_end(&j, '}');
  ag_json_print(&j);
}

/* All runs, for a diagram of work and precision. */
static ag_status write_runs(const ag_converge *c, const char *path) {
  ag_text out = {0};
  ag_text_str(&out, "method,order,dt,steps,rhs,seconds,error\n");
  for (int i = 0; i < c->n_row; i++)
    for (int k = 0; k < c->rows[i].n_point; k++) {
      const ag_converge_point *p = &c->rows[i].points[k];
      ag_text_printf(&out, "%s,%d,%.17g,%ld,%ld,%.6g,%.17g\n", c->rows[i].method->name, c->rows[i].method->order, p->dt,
                     p->steps, p->rhs, p->seconds, p->error);
    }
  ag_status status = ag_output_save(path, &out);
  ag_text_done(&out);
  return status;
}

static ag_status study(const args *a, anagyre_model *m, ag_system *sys) {
  ag_converge c;
  ag_text usage = {0}, out = {0};
  ag_progress progress;
  const char *name = anagyre_name(m);
  ag_progress_init(&progress, a->common.quiet || a->common.json, 0, ag_stepper_count());
  ag_converge_options o = {.t0 = a->t0,
                           .t1 = a->t1,
                           .methods = a->methods,
                           .seconds = a->method_time,
                           .stop = ag_stop_catch(),
                           .progress = ag_progress_show,
                           .progress_self = &progress};
  ag_status status = ag_converge_run(&c, ag_api_ctx(m), sys, &o, &usage);
  ag_progress_done(&progress);
  ag_stop_release();
  if (status == AG_OK && a->output) status = write_runs(&c, a->output);
  if (status == AG_OK && a->common.json) print_json(&c, name);
  else if (status == AG_OK) write_table(&c, name, &out), fputs(ag_text_cstr(&out), stdout);
  else if (ag_text_cstr(&usage)[0]) status = ag_usage("converge", "%s", ag_text_cstr(&usage));
  else if (*o.stop) fprintf(stderr, "anagyre: stopped by %s\n", ag_stop_word());
  else if (status != AG_SYSTEM) (void)ag_open_fail(m, ag_api_ctx(m), status, &a->common);
  ag_text_done(&usage);
  ag_text_done(&out);
  ag_converge_done(&c);
  return status;
}

static ag_status act(void *self) {
  const args *a = self;
  ag_status status;
  if (a->t0 == a->t1) return ag_usage("converge", "--t0 and --t1 are the same: there is no motion to measure");
  if (a->output && (ag_output_is_stdout(a->output) || ag_output_format(a->output) != AG_FORMAT_CSV))
    return ag_usage("converge", "the name of --output must end in .csv");
  anagyre_model *m = ag_open_derived(&a->common, &(ag_derive_options){0}, &status);
  if (!m) return status;
  ag_system *sys = ag_api_system(m, &(ag_derive_options){0});
  const bool noise = ag_system_noise(sys) != AG_NOISE_NONE;
  const char *given = a->paths       ? "paths"
                      : a->seed >= 0 ? "seed"
                      : a->columns   ? "columns"
                      : a->threads   ? "threads"
                                     : NULL;
  if (given && !noise)
    status = ag_usage("converge", "--%s is for models with noise, and %s has none", given, anagyre_name(m));
  else if (noise && a->method_time > 0)
    status = ag_usage("converge", "--method-time is for models without noise, and %s has some", anagyre_name(m));
  else if ((status = ag_output_check(a->output)) == AG_OK)
    status = noise ? ag_converge_noisy(a, m, sys) : study(a, m, sys);
  anagyre_close(m);
  return status;
}

const ag_command ag_command_converge = {
    .name = "converge",
    .words = "MODEL",
    .doc = "measured orders of methods on a model, what they keep, what they cost",
    .text = "Runs each method with smaller and smaller fixed steps and compares with a converged reference: the\n"
            "order with its 95 % confidence interval, and whether it agrees with the declared one (to 0.1, above\n"
            "order 6 to 0.3). In the run whose error is nearest to 1e-5: the largest change of the energy where\n"
            "it is conserved, the residual of the constraints, the distance from the start after the same steps\n"
            "back, the change of phase volume where the model has an invariant measure, and the change of\n"
            "every observable that the motion keeps. A method that does not fit the\n"
            "model is named with the reason, and one that takes longer than --method-time is named.\n"
            "On a model with noise: strong orders (the root mean square over paths of the distance from a\n"
            "reference on the same path) and weak ones (the difference of the mean of a number), with 95 %\n"
            "confidence intervals.\n",
    .examples = "  anagyre converge rattleback --method rk4,gauss2\n"
                "  anagyre converge heavy_top --t1 4 -o runs.csv\n"
                "  anagyre converge noisy.nh --method euler_heun,log_heun --paths 8192 --seed 3\n",
    .defaults = defaults,
    AG_COMMAND(1, 1),
};
