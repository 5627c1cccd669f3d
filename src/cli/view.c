/* SPDX-License-Identifier: MIT
 * `anagyre view`: a motion as a page that a browser opens. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "cli/cli.h"
#include "cli/json.h"
#include "cli/output.h"
#include "cli/result_file.h"
#include "cli/sources.h"

enum { MOST_RUNS = AG_MOST_SOURCES, MOST_FACTS = 16, LONGEST_EQUATIONS = 40000 };

typedef struct args {
  ag_common common;
  ag_motion_args motion;
  const char *output, *title;
  long paths;
} args;

static void defaults(void *self) { ag_sources_defaults(&((args *)self)->motion); }

static const ag_option options[] = {
    AG_OPTION(args, "output", TEXT, output, .letter = 'o', .arg = "FILE", .preset = "FILE.html", .doc = "the page"),
    AG_OPTION(args, "title", TEXT, title, .arg = "TEXT", .preset = "that of the model", .doc = "its heading"),
    AG_OPTION(args, "paths", WHOLE, paths, .arg = "N", .lo = 1, .hi = MOST_RUNS, .preset = "one",
              .doc = "for a model with noise: a cloud of N paths, starting with that of --path"),
    AG_MOTION_ROWS(args),
    AG_SET_ROW(args),
    AG_BUDGET_ROWS(args),
    AG_QUIET_ROW(args),
    AG_COMMON_ROWS(args),
};

/* What the command works on. */
typedef struct job {
  const args *a;
  ag_arena *arena;
  ag_sources from;
  anagyre_options run;
  ag_archive *archives[MOST_RUNS];
  anagyre_model *models[MOST_RUNS]; /* of files; those of motions belong to the sources */
  ag_page_run runs[MOST_RUNS];
  ag_page_request request;
  ag_text equations, path;
} job;

/* ---- what is said about a run ---- */

static void add_text(job *p, ag_page_run *run, const char *name, const char *value) {
  if (!run->facts) run->facts = AG_NEWN(p->arena, ag_page_fact, MOST_FACTS);
  if (*value) run->facts[run->n_fact++] = (ag_page_fact){name, ag_arena_str(p->arena, value)};
}

static void add_number(job *p, ag_page_run *run, const char *name, double value) {
  if (isfinite(value)) add_text(p, run, name, ag_arena_printf(p->arena, "%.6g", value));
}

static void facts_of_motion(job *p, ag_page_run *run, anagyre_model *m, const anagyre_motion *motion) {
  add_text(p, run, "model", anagyre_name(m));
  add_text(p, run, "ended", anagyre_motion_end(motion));
  add_text(p, run, "method", anagyre_motion_method(motion));
  if (p->run.dt > 0) add_number(p, run, "step", p->run.dt);
  else add_number(p, run, "rtol", p->run.rtol);
  if (p->run.noise) add_text(p, run, "noise", ag_sources_noise(p->arena, &p->run));
  add_number(p, run, "steps", (double)anagyre_motion_steps(motion));
  add_number(p, run, "energy drift", ag_source_drift(motion));
  add_number(p, run, "constraint residual", anagyre_motion_residual(motion));
  add_text(p, run, "written by", ag_arena_printf(p->arena, "anagyre %s", anagyre_version()));
}

static void facts_of_file(job *p, ag_page_run *run, const ag_archive *a) {
  const ag_fields *f = &a->fields;
  add_text(p, run, "file", run->name);
  add_text(p, run, "model", ag_fields_get_text(f, "@model", ""));
  add_text(p, run, "ended", ag_fields_get_text(f, "@end", "not complete"));
  add_text(p, run, "method", ag_fields_get_text(f, "/options@method", ""));
  add_number(p, run, "rtol", ag_fields_get_number(f, "/options@rtol", NAN));
  add_number(p, run, "steps", (double)ag_fields_get_integer(f, "/summary@steps", 0));
  add_number(p, run, "energy drift", ag_fields_get_number(f, "/summary@energy_drift", NAN));
  add_number(p, run, "constraint residual", ag_fields_get_number(f, "/summary@constraint_residual_max", NAN));
  add_text(p, run, "written by",
           ag_arena_printf(p->arena, "anagyre %s (%s, %s)", ag_fields_get_text(f, "@version", "?"),
                           ag_fields_get_text(f, "@commit", "?"), ag_fields_get_text(f, "@compiler", "?")));
}

/* ---- models ---- */

/* The model of a result file, derived; without it there are only plots. */
static ag_system *open_file(job *p, int i, const char *path) {
  ag_text trouble = {0};
  ag_system *sys = NULL;
  ag_archive *a = p->archives[i] = ag_archive_open(path, &trouble);
  ag_text_done(&trouble);
  if (!a) return NULL;
  facts_of_file(p, &p->runs[i], a);
  if (*ag_fields_get_text(&a->fields, "/model", "")) {
    int n;
    const char **sets = ag_continue_sets(a, &n);
    p->models[i] = ag_continue_model(a, n, sets);
    sys = ag_api_system(p->models[i], &(ag_derive_options){.t0 = ag_fields_get_number(&a->fields, "/options@t0", 0)});
    free(sets);
  }
  if (!sys) ag_output_tell("warning: the model of %s cannot be read: the page has plots and no picture", path);
  return sys;
}

static const char *base_name(const char *word) {
  const char *slash = strrchr(word, '/');
  return slash ? slash + 1 : word;
}

static bool is_h5(const char *word) {
  size_t n = strlen(word);
  return n > 3 && !strcmp(word + n - 3, ".h5");
}

static ag_status add_run(job *p, int i, const char *word) {
  AG_TRY(ag_sources_add(&p->from, word));
  ag_page_run *run = &p->runs[i];
  run->source = p->from.sources[i];
  run->name = base_name(word);
  if (run->source->kind != AG_SOURCE_RUN)
    return ag_usage("view", "%s has no motion in time: `anagyre plot %s` draws it", word, word);
  if (p->from.models[i]) {
    run->system = ag_api_system(p->from.models[i], &(ag_derive_options){.t0 = p->a->motion.t0});
    facts_of_motion(p, run, p->from.models[i], p->from.motions[i]);
  } else if (is_h5(word)) {
    run->system = open_file(p, i, word);
  } else {
    add_text(p, run, "file", run->name);
  }
  return AG_OK;
}

/* Files and models as they are given, or with --paths one model along several paths. */
static ag_status add_runs(job *p) {
  const ag_common *c = &p->a->common;
  const int n_path = (int)p->a->paths;
  if (!n_path) {
    for (int i = 0; i < c->n_word; i++) AG_TRY(add_run(p, i, c->words[i]));
    p->request.n = c->n_word;
    return AG_OK;
  }
  if (c->n_word > 1 || ag_sources_is_file(c->words[0])) return ag_usage("view", "--paths follows one model");
  if (p->a->motion.seed < 0) return ag_usage("view", "--paths needs --seed");
  const unsigned long long first = p->run.path;
  for (int i = 0; i < n_path; i++) {
    p->run.path = first + (unsigned long long)i;
    AG_TRY(add_run(p, i, c->words[0]));
    p->runs[i].name = ag_arena_printf(p->arena, "path %llu", p->run.path);
  }
  p->request.n = n_path;
  return AG_OK;
}

/* "m = 1", "v0 = [0, 1]". */
static void add_params(job *p, anagyre_model *m) {
  const char *name;
  int n = 0;
  ag_text value = {0};
  while (anagyre_item(m, ANAGYRE_PARAMETER, n)) n++;
  p->request.params = AG_NEWN(p->arena, ag_page_fact, n + 1);
  for (int i = 0; (name = anagyre_item(m, ANAGYRE_PARAMETER, i)); i++) {
    anagyre_array v = anagyre_value(m, name);
    ag_text_clear(&value);
    for (int k = 0; v.data && k < v.rows * v.cols; k++) {
      ag_text_str(&value, !k ? (v.rows * v.cols > 1 ? "[" : "") : k % v.cols ? ", " : v.cols > 1 ? "; " : ", ");
      ag_text_printf(&value, "%.10g", v.data[k]);
    }
    if (v.rows * v.cols > 1) ag_text_char(&value, ']');
    p->request.params[p->request.n_param++] =
        (ag_page_fact){ag_arena_str(p->arena, name), ag_arena_str(p->arena, ag_text_cstr(&value))};
  }
  ag_text_done(&value);
}

/* The equations as `show --latex` prints them, on lines as wide as the side panel: derived once more, to be read. */
static void add_equations(job *p, anagyre_model *m) {
  size_t n;
  const char *text = ag_api_text(m, &n);
  anagyre_model *again = text ? ag_api_open_text(anagyre_name(m), text, n) : NULL;
  ag_system *sys = again ? ag_api_system(again, &(ag_derive_options){.symbolic = true}) : NULL;
  if (sys) ag_system_show(sys, &(ag_show_options){.latex = true, .width = 42}, &p->equations);
  if (p->equations.n > LONGEST_EQUATIONS) {
    ag_text_clear(&p->equations);
    ag_text_printf(&p->equations, "%% too long for a page; `anagyre show %s` prints them", anagyre_name(m));
  }
  anagyre_close(again);
}

/* ---- the command ---- */

static void report(const job *p, const ag_page_report *r) {
  if (!p->a->common.json) {
    printf("%s\n", p->path.s);
    return;
  }
  ag_json j = {0};
  ag_json_begin(&j, NULL, '{');
  ag_json_string(&j, "page", p->path.s);
  ag_json_whole(&j, "rows", r->rows);
  ag_json_whole(&j, "knots", r->knots);
  ag_json_whole(&j, "things", r->things);
  ag_json_whole(&j, "bytes", ag_output_bytes(p->path.s));
  ag_json_end(&j, '}');
  ag_json_print(&j);
}

static ag_status make(job *p) {
  const args *a = p->a;
  const ag_common *c = &a->common;
  if (!ag_page_available())
    return ag_output_tell("error: this anagyre was built without the page: install Node.js and npm, then `make "
                          "packages build`"),
           AG_SYSTEM;
  if (a->output) ag_text_str(&p->path, a->output);
  else ag_sources_name(c, ".html", &p->path);
  if (p->path.n < 6 || strcmp(p->path.s + p->path.n - 5, ".html"))
    return ag_usage("view", "-o %s: a page ends with .html", p->path.s);
  AG_TRY(ag_output_check(p->path.s));
  AG_TRY(ag_sources_options("view", &a->motion, 20000, &p->run)); /* rows that are not needed are left out again */
  p->from = (ag_sources){.verb = "view", .common = c, .run = &p->run};
  AG_TRY(add_runs(p));
  if (c->changes.n_set && !p->from.models[0]) return ag_usage("view", "--set changes a model, not a file of results");
  anagyre_model *m = p->from.models[0] ? p->from.models[0] : p->runs[0].system ? p->models[0] : NULL;
  if (m) add_params(p, m), add_equations(p, m);
  p->request.runs = p->runs;
  p->request.title = a->title ? a->title : *p->runs[0].source->title ? p->runs[0].source->title : p->runs[0].name;
  p->request.equations = ag_text_cstr(&p->equations);
  ag_text page = {0}, trouble = {0};
  ag_page_report r;
  ag_status status = ag_page_make(&p->request, &page, &r, &trouble);
  ag_sources_cut(&p->from);
  if (status != AG_OK) status = ag_sources_fail(&p->from, status, &trouble);
  else status = ag_output_save(p->path.s, &page);
  if (status == AG_OK) report(p, &r);
  ag_text_done(&page);
  ag_text_done(&trouble);
  return status;
}

static ag_status act(void *self) {
  job p = {.a = self, .arena = ag_arena_create()};
  ag_status status = make(&p);
  ag_sources_done(&p.from);
  for (int i = 0; i < MOST_RUNS; i++) {
    anagyre_close(p.models[i]);
    if (p.archives[i]) ag_archive_close(p.archives[i]);
  }
  ag_text_done(&p.equations);
  ag_text_done(&p.path);
  ag_arena_free(p.arena);
  return status;
}

const ag_command ag_command_view = {
    .name = "view",
    .words = "FILE|MODEL [FILE|MODEL ...]",
    .doc = "a page with the moving system, its plots and its equations",
    .text = "Writes one HTML file that a browser opens from the disk, without a network: bodies roll on their\n"
            "ground and leave traces, the observables are plotted below, and time can be dragged, played and\n"
            "compared with other runs. A model is run first. Series are thinned to 1e-4 of their range.\n",
    .examples = "  anagyre view euler_disk --t1 20\n"
                "  anagyre view stone.h5 -o stone.html\n"
                "  anagyre view a.h5 b.h5 -o compare.html\n"
                "  anagyre view noisy_vertical_disk --paths 8 --seed 1 --dt 1/64 --t1 12 -o cloud.html\n",
    .defaults = defaults,
    AG_COMMAND(1, MOST_RUNS),
};
