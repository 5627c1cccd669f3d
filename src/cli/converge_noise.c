/* SPDX-License-Identifier: MIT
 * `anagyre converge` on a model with noise: strong and weak orders with confidence intervals. */
#include <math.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/clock.h"
#include "cli/converge.h"
#include "cli/csv.h"
#include "cli/json.h"
#include "cli/output.h"

enum { PATHS = 4096, BATCHES = 16 };

/* Of the column of names. */
static int name_width(const ag_converge_noise *c) {
  size_t width = 12;
  for (int i = 0; i < c->n_row; i++)
    if (strlen(c->rows[i].method->name) > width) width = strlen(c->rows[i].method->name);
  return (int)width;
}

static void put_order(const ag_noisy_order *o, ag_text *out) {
  ag_text_printf(out, "  %8.3g  ", o->declared);
  if (isnan(o->order)) ag_text_printf(out, "%13s", "-");
  else ag_text_printf(out, "%6.2f +- %.2f", o->order, o->half);
  ag_text_printf(out, "  %-9s", ag_agrees_word(o->agrees));
}

static void put_error(double x, ag_text *out) {
  if (isnan(x)) ag_text_printf(out, "  %8s", "-");
  else ag_text_printf(out, "  %8.1e", x);
}

static void put_row(const ag_converge_noise *c, const ag_noisy_row *row, ag_text *out) {
  const ag_noisy_point *last = &row->points[row->n_point - 1];
  ag_text_printf(out, "%-*s", name_width(c), row->method->name);
  if (row->refused) {
    ag_text_printf(out, "  not measured: %s\n", row->refused);
    return;
  }
  put_order(&row->strong, out);
  put_order(&row->weak, out);
  ag_text_printf(out, "  %-12s", row->tested < 0 ? "-" : c->tests[row->tested]);
  put_error(last->strong.error, out);
  put_error(last->weak.error, out);
  ag_text_printf(out, "  %8.3g", 1e6 * last->seconds / (double)last->steps / (double)c->paths);
  if (row->failed) ag_text_printf(out, "  %ld paths failed", row->failed);
  if (row->far) ag_text_str(out, "  all steps are too long: choose a smaller --t1");
  const int hidden = row->strong.hidden + row->weak.hidden;
  if (hidden) ag_text_printf(out, "  %d errors are those of the reference", hidden);
  ag_text_char(out, '\n');
}

static void write_table(const ag_converge_noise *c, const char *name, ag_text *out) {
  ag_text_printf(out, "%s from t = %g to %g: noise is %s; %ld paths in antithetic pairs\n", name, c->t0, c->t1,
                 ag_noise_word(c->noise), c->paths);
  ag_text_printf(out, "the reference took %ld steps of dopri5; its strong error is about %.1e\n", c->reference_steps,
                 c->reference_error);
  ag_text_printf(out, "%-*s  %8s  %13s  %-9s  %8s  %13s  %-9s  %-12s  %8s  %8s  %8s\n", name_width(c), "method",
                 "strong", "measured", "agrees", "weak", "measured", "agrees", "mean of", "strong e", "weak e",
                 "us/step");
  for (int i = 0; i < c->n_row; i++) put_row(c, &c->rows[i], out);
}

static void json_order(ag_json *j, const char *name, const ag_noisy_order *o) {
  ag_json_begin(j, name, '{');
  ag_json_number(j, "declared", o->declared);
  ag_json_number(j, "order", o->order);
  ag_json_number(j, "confidence", o->half);
  ag_json_whole(j, "points", o->n);
  if (o->hidden) ag_json_whole(j, "below_reference", o->hidden);
  ag_json_string(j, "agrees", ag_agrees_word(o->agrees));
  ag_json_end(j, '}');
}

static void json_row(ag_json *j, const ag_converge_noise *c, const ag_noisy_row *row) {
  ag_json_begin(j, NULL, '{');
  ag_json_string(j, "method", row->method->name);
  ag_json_string(j, "family", row->method->family);
  if (row->refused) {
    ag_json_string(j, "refused", row->refused);
    ag_json_end(j, '}');
    return;
  }
  json_order(j, "strong", &row->strong);
  json_order(j, "weak", &row->weak);
  if (row->tested >= 0) ag_json_string(j, "mean_of", c->tests[row->tested]);
  ag_json_whole(j, "failed", row->failed);
  ag_json_bool(j, "steps_too_long", row->far);
  ag_json_begin(j, "points", '[');
  for (int i = 0; i < row->n_point; i++) {
    const ag_noisy_point *p = &row->points[i];
    ag_json_begin(j, NULL, '{');
    ag_json_number(j, "dt", p->dt);
    ag_json_whole(j, "steps", p->steps);
    ag_json_number(j, "seconds", p->seconds);
    ag_json_number(j, "strong", p->strong.error);
    ag_json_number(j, "strong_stderr", p->strong.spread);
    ag_json_number(j, "weak", p->weak.error);
    ag_json_number(j, "weak_stderr", p->weak.spread);
    ag_json_end(j, '}');
  }
  ag_json_end(j, ']');
  ag_json_end(j, '}');
}

static void print_json(const ag_converge_noise *c, const ag_converge_args *a, const char *name) {
  ag_json j = {0};
  ag_json_begin(&j, NULL, '{');
  ag_json_string(&j, "model", name);
  ag_json_number(&j, "t0", c->t0);
  ag_json_number(&j, "t1", c->t1);
  ag_json_string(&j, "noise", ag_noise_word(c->noise));
  ag_json_whole(&j, "paths", c->paths);
  ag_json_whole(&j, "seed", a->seed < 0 ? 0 : a->seed);
  ag_json_whole(&j, "reference_steps", c->reference_steps);
  ag_json_number(&j, "reference_error", c->reference_error);
  ag_json_begin(&j, "methods", '[');
  for (int i = 0; i < c->n_row; i++) json_row(&j, c, &c->rows[i]);
  ag_json_end(&j, ']');
  ag_json_end(&j, '}');
  ag_json_print(&j);
}

/* All runs, for a diagram of errors over step sizes. */
static ag_status write_runs(const ag_converge_noise *c, const char *path) {
  ag_text out = {0};
  ag_text_str(&out, "method,strong_order,weak_order,dt,steps,seconds,strong,strong_stderr,weak,weak_stderr\n");
  for (int i = 0; i < c->n_row; i++)
    for (int k = 0; k < c->rows[i].n_point; k++) {
      const ag_noisy_row *row = &c->rows[i];
      const ag_noisy_point *p = &row->points[k];
      const double errors[] = {p->strong.error, p->strong.spread, p->weak.error, p->weak.spread};
      ag_text_printf(&out, "%s,%g,%g,%.17g,%ld,%.6g", row->method->name, row->strong.declared, row->weak.declared,
                     p->dt, p->steps, p->seconds);
      for (int e = 0; e < 4; e++) ag_csv_number(&out, errors[e]);
      ag_text_char(&out, '\n');
    }
  const ag_status status = ag_output_save(path, &out);
  ag_text_done(&out);
  return status;
}

/* That a list names. */
static int n_methods(const char *list) {
  int n = 1;
  for (const char *s = list; *s; s++) n += *s == ',';
  return strcmp(list, "all") ? n : ag_stepper_count();
}

ag_status ag_converge_noisy(const ag_converge_args *a, anagyre_model *m, ag_system *sys) {
  const long paths = a->paths ? a->paths : PATHS;
  if (paths % (2 * BATCHES)) return ag_usage("converge", "--paths must be a multiple of %d", 2 * BATCHES);
  ag_converge_noise c;
  ag_text usage = {0}, out = {0};
  ag_progress progress;
  const char *name = anagyre_name(m);
  ag_progress_init(&progress, a->common.quiet || a->common.json, 0, n_methods(a->methods));
  const ag_converge_noise_options o = {.t0 = a->t0,
                                       .t1 = a->t1,
                                       .methods = a->methods,
                                       .columns = a->columns,
                                       .paths = paths,
                                       .seed = a->seed < 0 ? 0 : (unsigned long long)a->seed,
                                       .threads = (int)a->threads,
                                       .stop = ag_stop_catch(),
                                       .progress = ag_progress_show,
                                       .progress_self = &progress};
  ag_status status = ag_converge_noise_run(&c, ag_api_ctx(m), sys, &o, &usage);
  ag_progress_done(&progress);
  ag_stop_release();
  if (status == AG_OK && a->output) status = write_runs(&c, a->output);
  if (status == AG_OK && a->common.json) print_json(&c, a, name);
  else if (status == AG_OK) write_table(&c, name, &out), fputs(ag_text_cstr(&out), stdout);
  else if (ag_text_cstr(&usage)[0]) status = ag_usage("converge", "%s", ag_text_cstr(&usage));
  else if (*o.stop) fprintf(stderr, "anagyre: stopped by %s\n", ag_stop_word());
  else if (status != AG_SYSTEM) (void)ag_open_fail(m, ag_api_ctx(m), status, &a->common);
  ag_text_done(&usage);
  ag_text_done(&out);
  ag_converge_noise_done(&c);
  return status;
}
