/* SPDX-License-Identifier: MIT
 * Metadata of a result file, and reading options and checkpoints back. docs/results.md lists the names. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "store/store_internal.h"

#ifdef __clang__
#define COMPILER "clang " __clang_version__
#else
#define COMPILER "gcc " __VERSION__
#endif

/* The language has no units: results are in the units chosen by the author of the model. */
static const char UNIT[] = "of the model";

static const char *const spaces[] = {"R", "S1", "S2", "SO3"};

/* ---- the layout of rows ---- */

static void attribute_text(ag_fields *fields, const char *path, const char *name, const char *value) {
  ag_text full = {0};
  ag_text_printf(&full, "%s@%s", path, name);
  ag_fields_add(fields, full.s, AG_FIELD_TEXT, 0, NULL, strlen(value) + 1, value);
  ag_text_done(&full);
}

static void attribute_integers(ag_fields *fields, const char *path, const char *name, int rank, long n,
                               const long *values) {
  ag_text full = {0};
  ag_text_printf(&full, "%s@%s", path, name);
  ag_fields_add(fields, full.s, AG_FIELD_INTEGER, rank, &n, sizeof(long) * (size_t)n, values);
  ag_text_done(&full);
}

void ag_fields_values(ag_fields *fields, const char *path, long n, int rows, int cols, const double *v) {
  long dim[3] = {n, rows, cols};
  int rank = cols > 1 ? 3 : rows > 1 ? 2 : 1;
  ag_fields_put(fields, path, AG_FIELD_NUMBER, rank, dim, sizeof *v * (size_t)(n * rows * cols), v);
  attribute_integers(fields, path, "shape", 1, 2, dim + 1);
  attribute_text(fields, path, "unit", UNIT);
}

static void add_column(ag_fields *fields, const ag_model *m, const ag_column *c, long place) {
  static const char *const folder[] = {"/", "/state/", "/velocity/", "/process/", "/observables/", "/", "/"};
  static const char *const kind[] = {"time", "coordinate", "velocity", "process", "observable", "energy", "residual"};
  ag_text path = {0};
  long shape[2] = {c->rows, c->cols};
  int rank = c->cols > 1 ? 2 : c->rows > 1 ? 1 : 0;
  ag_text_printf(&path, "%s%s", folder[c->kind], c->name);
  ag_fields_add(fields, path.s, AG_FIELD_COLUMN, rank, shape, 0, NULL);
  attribute_text(fields, path.s, "name", c->name);
  attribute_text(fields, path.s, "kind", kind[c->kind]);
  attribute_integers(fields, path.s, "shape", 1, 2, shape);
  attribute_integers(fields, path.s, "column", 0, 1, &place);
  attribute_text(fields, path.s, "unit", UNIT);
  for (int i = 0; i < ag_model_n_coords(m) && c->kind == AG_COL_COORD; i++)
    if (!strcmp(ag_model_coords(m)[i].name, c->name))
      attribute_text(fields, path.s, "space", spaces[ag_model_coords(m)[i].space]);
  ag_text_done(&path);
}

/* The events of the model, then the section, whose crossings are the rows. */
static void add_events(ag_fields *fields, const ag_system *sys, const ag_run_options *o) {
  static const char *const direction[] = {"falling", "both", "rising"};
  for (long i = 0; i < ag_run_n_event(sys, o); i++) {
    const ag_event *e = ag_run_event(sys, o, (int)i);
    ag_text path = {0};
    ag_text_printf(&path, "/events/%s", e->name);
    ag_fields_add(fields, path.s, AG_FIELD_TIMES, 0, NULL, 0, NULL);
    attribute_text(fields, path.s, "name", e->name);
    attribute_text(fields, path.s, "kind", i < ag_model_n_events(ag_system_model(sys)) ? "event" : "section");
    attribute_text(fields, path.s, "direction", direction[e->direction + 1]);
    attribute_integers(fields, path.s, "terminal", 0, 1, &(long){e->terminal});
    attribute_integers(fields, path.s, "event", 0, 1, &i);
    attribute_text(fields, path.s, "unit", UNIT);
    ag_text_done(&path);
  }
}

static void add_parameters(ag_fields *fields, const ag_description *what) {
  const ag_system *sys = what->system;
  const ag_model *m = ag_system_model(sys);
  for (int i = 0; i < ag_model_n_params(m); i++) {
    const ag_param *p = &ag_model_params(m)[i];
    ag_text path = {0};
    if (p->from_start) continue;
    ag_text_printf(&path, "/parameters/%s", p->name);
    if (p->integer) {
      ag_fields_integer(fields, path.s, lround(p->number));
    } else {
      int rows = ag_node_rows(ag_model_nodes(m), p->input), cols = ag_node_cols(ag_model_nodes(m), p->input);
      ag_fields_add(fields, path.s, AG_FIELD_NUMBER,
                    cols > 1   ? 2
                    : rows > 1 ? 1
                               : 0,
                    (long[2]){rows, cols}, sizeof(double) * (size_t)(rows * cols),
                    ag_system_param_values(sys) + ag_layout_item(sys, AG_LAYOUT_PARAMETER, i)->at);
    }
    ag_text_done(&path);
  }
}

/* ---- options ---- */

/* The events that end the run, by the model or by an option: comma-separated names. */
static void add_terminal(ag_fields *fields, const ag_model *m) {
  ag_text names = {0};
  for (int i = 0; i < ag_model_n_events(m); i++)
    if (ag_model_events(m)[i].terminal) ag_text_printf(&names, "%s%s", names.n ? "," : "", ag_model_events(m)[i].name);
  ag_fields_text(fields, "/options@terminal", ag_text_cstr(&names));
  ag_text_done(&names);
}

/* Which path of the noise; the base is the one that was used. */
static void add_noise(ag_fields *fields, const ag_system *sys, const ag_run_options *o) {
  if (!ag_system_dims(sys)->channel) return;
  ag_fields_text(fields, "/options@noise", o->noise == AG_NOISE_PATH ? "path" : "off");
  if (o->noise != AG_NOISE_PATH) return;
  ag_fields_integer(fields, "/options@seed", (long)o->seed);
  ag_fields_integer(fields, "/options@path", (long)o->path);
  ag_fields_number(fields, "/options@dt_base", ag_run_path(sys, o).base);
}

static void add_options(ag_fields *fields, const ag_description *what) {
  const ag_run_options *o = what->options;
  if (what->drivers) ag_fields_text(fields, "/options@driver", what->drivers);
  ag_fields_number(fields, "/options@t0", o->t0);
  ag_fields_number(fields, "/options@t1", o->t1);
  ag_fields_number(fields, "/options@dt", o->dt);
  ag_fields_number(fields, "/options@rtol", o->rtol);
  ag_fields_number(fields, "/options@atol", o->atol);
  ag_fields_integer(fields, "/options@absolute", o->absolute);
  ag_fields_number(fields, "/options@max_step", o->h_max);
  ag_fields_number(fields, "/options@every", o->every);
  ag_fields_integer(fields, "/options@max_steps", o->max_steps);
  ag_fields_text(fields, "/options@method", o->method->name);
  if (o->project) ag_fields_text(fields, "/options@project", o->project);
  ag_fields_text(fields, "/options@closure", ag_run_closure(what->system, o));
  ag_fields_integer(fields, "/options@events", o->events);
  add_noise(fields, what->system, o);
  ag_fields_integer(fields, "/options@strict", what->strict);
  if (what->compress) ag_fields_integer(fields, "/options@compress", 1);
  add_terminal(fields, ag_system_model(what->system));
  ag_fields_text(fields, "/options@section",
                 o->section ? ag_model_sections(ag_system_model(what->system))[o->section - 1].name : "");
  ag_fields_integer(fields, "/options@crossings", o->crossings);
  ag_fields_texts(fields, "/options/set", what->n_set, what->sets);
}

void ag_store_describe(ag_fields *fields, const ag_description *what) {
  const ag_system *sys = what->system;
  const ag_model *m = ag_system_model(sys);
  ag_record record;
  ag_record_init(&record, sys);
  for (int i = 0, place = 0; i < record.n_column; i++)
    if (!what->wanted || what->wanted[i]) add_column(fields, m, &record.columns[i], place++);
  ag_record_done(&record);
  if (!what->wanted) add_events(fields, sys, what->options);
  add_parameters(fields, what);
  ag_fields_integer(fields, "@format", AG_STORE_FORMAT);
  ag_fields_text(fields, "@program", "anagyre");
  ag_fields_text(fields, "@version", AG_VERSION);
  ag_fields_text(fields, "@commit", AG_GIT_HASH);
  ag_fields_text(fields, "@compiler", COMPILER);
  ag_fields_text(fields, "@compiler_flags", AG_FLAGS);
  ag_fields_text(fields, "@model", ag_model_name(m));
  ag_fields_text(fields, "@title",
                 strlen(ag_model_title(m)) < 60000 ? ag_model_title(m) : ""); /* an attribute has at most 64 KiB */
  ag_fields_text(fields, "@kind", what->wanted ? "batch" : "trajectory");
  ag_fields_text(fields, "@end", "not finished");
  ag_fields_text(fields, "@end_event", "");
  ag_fields_integer(fields, "@complete", 0);
  ag_fields_text(fields, "/model", what->text);
  add_options(fields, what);
}

bool ag_store_compressed(const ag_fields *fields) { return ag_fields_get_integer(fields, "/options@compress", 0) != 0; }

bool ag_store_options(const ag_fields *fields, ag_run_options *o, bool *strict) {
  ag_run_defaults(o);
  o->t0 = ag_fields_get_number(fields, "/options@t0", NAN);
  o->t1 = ag_fields_get_number(fields, "/options@t1", NAN);
  o->dt = ag_fields_get_number(fields, "/options@dt", NAN);
  o->rtol = ag_fields_get_number(fields, "/options@rtol", NAN);
  o->atol = ag_fields_get_number(fields, "/options@atol", NAN);
  o->absolute = ag_fields_get_integer(fields, "/options@absolute", 1) != 0;
  o->h_max = ag_fields_get_number(fields, "/options@max_step", NAN);
  o->every = ag_fields_get_number(fields, "/options@every", NAN);
  o->max_steps = ag_fields_get_integer(fields, "/options@max_steps", -1);
  o->method = ag_stepper_find(ag_fields_get_text(fields, "/options@method", ""));
  const char *project = ag_fields_get_text(fields, "/options@project", "");
  o->project = *project ? project : NULL;
  const char *closure = ag_fields_get_text(fields, "/options@closure", "");
  o->multipliers = !strcmp(closure, "multipliers"), o->eliminated = !strcmp(closure, "eliminated");
  o->events = ag_fields_get_integer(fields, "/options@events", 1) != 0;
  const char *noise = ag_fields_get_text(fields, "/options@noise", "");
  o->noise = !strcmp(noise, "path") ? AG_NOISE_PATH : *noise ? AG_NOISE_OFF : AG_NOISE_REFUSED;
  o->seed = (unsigned long long)ag_fields_get_integer(fields, "/options@seed", 0);
  o->path = (unsigned long long)ag_fields_get_integer(fields, "/options@path", 0);
  o->dt_base = ag_fields_get_number(fields, "/options@dt_base", 0);
  o->crossings = ag_fields_get_integer(fields, "/options@crossings", 0);
  *strict = ag_fields_get_integer(fields, "/options@strict", 0) != 0;
  bool numbers = isfinite(o->t0) && isfinite(o->t1) && o->dt >= 0 && o->rtol > 0 && o->atol > 0 && o->h_max > 0 &&
                 isfinite(o->every);
  return numbers && o->max_steps >= 0 && o->method && (o->dt > 0 || o->method->error_order);
}

/* ---- the end ---- */

void ag_store_result(ag_fields *fields, const ag_system *sys, const ag_run_result *r) {
  bool worked = r->energy_law != AG_ENERGY_CONSERVED && r->energy_law != AG_ENERGY_NOISE;
  ag_fields_text(fields, "@end", ag_end_word(r->end));
  ag_fields_text(fields, "@end_event",
                 r->end == AG_END_EVENT ? ag_model_events(ag_system_model(sys))[r->end_event].name : "");
  ag_fields_integer(fields, "@complete", 1);
  ag_fields_text(fields, "@engine", r->compiled ? "compiled" : "interpreted");
  ag_fields_number(fields, "/summary@t", r->t);
  ag_fields_integer(fields, "/summary@steps", r->steps);
  ag_fields_integer(fields, "/summary@rejected", r->rejected);
  ag_fields_integer(fields, "/summary@right_hand_sides", r->rhs);
  if (r->accepted >= 0) ag_fields_integer(fields, "/summary@accepted", r->accepted);
  ag_fields_number(fields, "/summary@energy_start", r->energy0);
  ag_fields_text(fields, "/summary@energy_law", ag_energy_word(r->energy_law));
  ag_fields_number(fields, "/summary@energy_drift", r->energy_law == AG_ENERGY_CONSERVED ? r->energy_drift : NAN);
  ag_fields_number(fields, "/summary@work", worked ? r->work : NAN);
  ag_fields_number(fields, "/summary@work_t", worked ? r->work_t : NAN);
  ag_fields_number(fields, "/summary@work_energy", worked ? r->work_energy : NAN);
  ag_fields_number(fields, "/summary@energy_size", r->energy_size);
  ag_fields_number(fields, "/summary@constraint_residual_max", r->residual_max);
  if (r->checkpoint.made) ag_store_checkpoint(fields, &r->checkpoint);
  else if (r->end != AG_END_SINK && r->end != AG_END_STOPPED)
    ag_fields_drop(fields, "/checkpoint"); /* otherwise the last saved one is still valid */
}

/* ---- checkpoints ---- */

/* clang-format off */
#define NUMBERS(X) \
  X(t) X(h) X(smooth) X(switch_t) X(switch_gap) X(reach) X(mark) X(left_t) X(left_value) X(left_from) X(left_to) X(t_row) \
  X(energy0) X(energy_size) X(energy_drift) X(residual_max) X(work) X(work_t) X(work_energy) \
  X(control.rtol) X(control.atol) X(control.h_min) X(control.h_max) X(control.safety) X(control.shrink) \
  X(control.grow) X(control.beta) X(control.last_error)
#define INTEGERS(X) X(n_mark) X(n_switch) X(left) X(n_row) X(n_grid) X(steps) X(rejected) X(rhs)
/* clang-format on */

static void add_integers(ag_fields *fields, const char *path, int n, const int *v) {
  long *wide = ag_heap_alloc(sizeof *wide * (size_t)(n + 1));
  for (int i = 0; i < n; i++) wide[i] = v[i];
  ag_fields_put(fields, path, AG_FIELD_INTEGER, 1, &(long){n}, sizeof *wide * (size_t)n, wide);
  free(wide);
}

void ag_store_checkpoint(ag_fields *fields, const ag_checkpoint *c) {
#define X(name) ag_fields_number(fields, "/checkpoint@" #name, c->name);
  NUMBERS(X)
#undef X
#define X(name) ag_fields_integer(fields, "/checkpoint@" #name, c->name);
  INTEGERS(X)
#undef X
  ag_fields_number(fields, "/checkpoint@control.spare", c->control.spare);
  ag_fields_integer(fields, "/checkpoint@control.rejected", c->control.rejected);
  ag_fields_vector(fields, "/checkpoint/z", c->n, c->z);
  ag_fields_vector(fields, "/checkpoint/dz", c->n_carry, c->dz);
  if (c->n_unit) ag_fields_vector(fields, "/checkpoint/unit", c->n_unit, c->unit);
  if (c->n_atol) ag_fields_vector(fields, "/checkpoint/atol", c->n_atol, c->atol);
  ag_fields_vector(fields, "/checkpoint/c", c->n_c, c->c);
  add_integers(fields, "/checkpoint/sign", c->n_event, c->sign);
  add_integers(fields, "/checkpoint/event_count", c->n_event, c->event_count);
}

/* A copy of n numbers; NULL if they are missing. */
static double *numbers_of(const ag_fields *fields, const char *path, int *n) {
  const ag_field *field = ag_fields_find(fields, path);
  if (!field || field->kind != AG_FIELD_NUMBER || field->rank != 1) return NULL;
  double *copy = ag_heap_alloc(field->size + 1);
  memcpy(copy, field->data, field->size);
  *n = (int)field->dim[0];
  return copy;
}

static int *integers_of(const ag_fields *fields, const char *path, int n) {
  const ag_field *field = ag_fields_find(fields, path);
  if (!field || field->kind != AG_FIELD_INTEGER || field->rank != 1 || field->dim[0] != n) return NULL;
  int *copy = ag_heap_alloc(sizeof *copy * (size_t)(n + 1));
  for (int i = 0; i < n; i++) copy[i] = (int)((const long *)field->data)[i];
  return copy;
}

void ag_archive_checkpoint_done(ag_checkpoint *c) {
  for (int e = 0; e < c->n_event && c->event_times; e++) free(c->event_times[e]);
  free(c->event_times);
  free(c->z);
  free(c->dz);
  free(c->unit);
  free(c->atol);
  free(c->c);
  free(c->sign);
  free(c->event_count);
  *c = (ag_checkpoint){0};
}

static bool load_times(ag_archive *s, ag_checkpoint *c) {
  c->event_times = ag_heap_alloc(sizeof *c->event_times * (size_t)(s->n_event + 1));
  for (int e = 0; e < s->n_event; e++) {
    if (c->event_count[e] < 0 || c->event_count[e] > s->event_count[e]) return false;
    c->event_times[e] = ag_heap_alloc(sizeof(double) * (size_t)(s->event_count[e] + 1));
    if (!ag_archive_times(s, e, c->event_times[e])) return false;
  }
  return true;
}

bool ag_archive_checkpoint(ag_archive *s, ag_checkpoint *c) {
  const ag_fields *fields = &s->fields;
  *c = (ag_checkpoint){.n_event = s->n_event};
#define X(name) c->name = ag_fields_get_number(fields, "/checkpoint@" #name, NAN);
  NUMBERS(X)
#undef X
#define X(name) c->name = ag_fields_get_integer(fields, "/checkpoint@" #name, -1);
  INTEGERS(X)
#undef X
  c->control.spare = ag_fields_get_number(fields, "/checkpoint@control.spare", 0); /* older files have none */
  c->control.rejected = ag_fields_get_integer(fields, "/checkpoint@control.rejected", 0) != 0;
  c->z = numbers_of(fields, "/checkpoint/z", &c->n);
  c->dz = numbers_of(fields, "/checkpoint/dz", &c->n_carry);
  c->unit = numbers_of(fields, "/checkpoint/unit", &c->n_unit);
  c->atol = numbers_of(fields, "/checkpoint/atol", &c->n_atol);
  c->c = numbers_of(fields, "/checkpoint/c", &c->n_c);
  c->sign = integers_of(fields, "/checkpoint/sign", c->n_event);
  c->event_count = integers_of(fields, "/checkpoint/event_count", c->n_event);
  bool whole = c->z && c->dz && c->c && c->sign && c->event_count && c->n_carry >= c->n && isfinite(c->t) &&
               isfinite(c->h);
  whole = whole && c->n_row >= 0 && c->n_row <= s->n_row && c->n_grid >= 0 && c->steps >= 0 && c->rejected >= 0 &&
          load_times(s, c);
  if (!whole) ag_archive_checkpoint_done(c);
  c->made = whole;
  return whole;
}
