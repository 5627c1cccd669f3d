/* SPDX-License-Identifier: MIT
 * The request of an ensemble: columns, times, pairs of numbers, and the file that is continued. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/ensemble.h"
#include "cli/open.h"
#include "cli/output.h"
#include "study/study.h"

enum { MAX_ROWS = 100000, MOST_CORRELATED = 64, MOST_PAIRS = 1000000, MOST_CHOSEN = 100000 };

/* Places of the columns among the values of a row. */
static int value_at(const ag_ensemble_request *q, const ag_column *column) {
  int at = 0;
  for (const ag_column *c = q->record.columns; c < column; c++)
    if (q->wanted[c - q->record.columns]) at += c->rows * c->cols;
  return at;
}

static void add_item(ag_ensemble_request *q, const ag_column *c, int entry) {
  ag_text name = {0};
  ag_column_name(c, entry, &name);
  AG_PUSH(q->items, q->n_item, q->cap_item);
  q->items[q->n_item++] = (ag_ensemble_item){value_at(q, c) + entry, name.s};
}

/* Observables; a model without any: coordinates, velocities and energy. */
static void default_columns(ag_ensemble_request *q, bool all) {
  bool observables = false;
  for (int i = 0; i < q->record.n_column; i++)
    observables = observables || q->record.columns[i].kind == AG_COL_OBSERVABLE;
  for (int i = 0; i < q->record.n_column; i++) {
    const ag_column_kind kind = q->record.columns[i].kind;
    const bool stated = kind == AG_COL_COORD || kind == AG_COL_VELOCITY || kind == AG_COL_PROCESS ||
                        kind == AG_COL_ENERGY;
    q->wanted[i] = kind == AG_COL_OBSERVABLE || (stated && (all || !observables));
  }
  for (int i = 0; i < q->record.n_column; i++)
    for (int k = 0; q->wanted[i] && k < q->record.columns[i].rows * q->record.columns[i].cols; k++)
      add_item(q, &q->record.columns[i], k);
}

/* What columns of forces show; events and switches. */
static void remark(const ag_ensemble_request *q) {
  ag_ctx ctx = {.file = q->ctx->file};
  const ag_model *m = ag_system_model(q->sys);
  bool forces = false, ends = false;
  for (int i = 0; i < ag_model_n_events(m); i++) ends = ends || ag_model_events(m)[i].terminal;
  if (ends)
    ag_ctx_note(&ctx, (ag_pos){0}, "ensembles do not look for events: paths go on through those that end a single run");
  if (ag_system_dims(q->sys)->switches)
    ag_ctx_note(&ctx, (ag_pos){0}, "steps with noise do not end where the equations switch (if, abs, sign, min, max)");
  for (int i = 0; i < q->record.n_column; i++) {
    const ag_column *c = &q->record.columns[i];
    forces = forces || (q->wanted[i] && c->x && ag_model_has_force(m, 1, &c->x));
  }
  if (forces)
    ag_ctx_note(&ctx, (ag_pos){0}, "forces of constraint have a white part: columns show their part without noise");
  ag_open_report(&ctx, q->a->common.quiet);
  ag_ctx_done(&ctx);
}

static ag_status no_column(const char *option, const ag_record *record, const char *name) {
  ag_text usage = {0};
  (void)ag_unknown_column(option, record, name, &usage);
  const ag_status status = ag_usage("ensemble", "%s", ag_text_cstr(&usage));
  ag_text_done(&usage);
  return status;
}

const ag_column *ag_ensemble_number(const char *option, const ag_record *record, const char *name, int *entry) {
  const ag_column *c = ag_record_find(record, name, entry);
  if (!c || !c->x || c->kind == AG_COL_TIME || c->kind == AG_COL_RESIDUAL)
    (void)no_column(option, record, name), c = NULL;
  else if (*entry < 0 && c->rows * c->cols > 1) {
    (void)ag_usage("ensemble", "--%s: '%s' has %d entries: name one of them, such as %s[%s]", option, name,
                   c->rows * c->cols, name, c->cols > 1 ? "1,1" : "1");
    c = NULL;
  }
  if (c && *entry < 0) *entry = 0;
  return c;
}

const ag_stepper *ag_ensemble_method(const char *name) {
  const ag_stepper *s = ag_stepper_find(name);
  ag_text usage = {0};
  if (!s) (void)ag_unknown_method(name, &usage), (void)ag_usage("ensemble", "%s", ag_text_cstr(&usage));
  ag_text_done(&usage);
  return s;
}

/* --columns: names of quantities or of single numbers of them. */
static ag_status choose_columns(ag_ensemble_request *q) {
  const char *rest = q->a->columns;
  q->wanted = ag_heap_alloc((size_t)q->record.n_column + 1);
  if (!rest || !strcmp(rest, "all")) {
    default_columns(q, rest != NULL);
    return AG_OK;
  }
  ag_text name = {0};
  for (int pass = 0; pass < 2; pass++) { /* first which ones, so that their places are known */
    for (rest = q->a->columns; ag_api_next_column(&rest, &name);) {
      int entry;
      const ag_column *c = ag_record_find(&q->record, ag_text_cstr(&name), &entry);
      if (!c || c->kind == AG_COL_TIME || c->kind == AG_COL_RESIDUAL) {
        ag_status status = no_column("columns", &q->record, ag_text_cstr(&name));
        ag_text_done(&name);
        return status;
      }
      q->wanted[c - q->record.columns] = true;
      for (int k = 0; pass && k < c->rows * c->cols; k++)
        if (entry < 0 || k == entry) add_item(q, c, k);
    }
  }
  ag_text_done(&name);
  return AG_OK;
}

static ag_status refuse(const char *what, double got, const char *why, const double nearest[2]) {
  return ag_usage("ensemble", "--%s %.12g %s; the nearest that fit are %.12g and %.12g", what, got, why, nearest[0],
                  nearest[1]);
}

/* The grid: steps, base, rows. */
static ag_status choose_grid(ag_ensemble_request *q) {
  const ag_ensemble_args *a = q->a;
  ag_wiener *w = &q->o.path;
  double nearest[2];
  unsigned long long steps, every = 0;
  if (!(a->t1 > a->t0)) return ag_usage("ensemble", "--t1 must be later than --t0: noise has a direction");
  w->base = a->base > 0 ? a->base : ag_wiener_near(a->dt);
  const bool fits = ag_wiener_fit(w, a->dt, nearest);
  if (!fits || !ag_wiener_divides(w, a->dt, a->t1 - a->t0, &steps, nearest)) {
    if (a->base > 0 && !ag_wiener_suitable(w, a->dt, a->t1 - a->t0, nearest))
      return ag_usage("ensemble", "no step on the grid of --dt-base %.12g divides t1 - t0 = %.12g", a->base,
                      a->t1 - a->t0);
    return refuse("dt", a->dt,
                  fits ? "does not divide t1 - t0 into at most 2^32 steps"
                       : "is neither a multiple of --dt-base nor that divided by a power of two",
                  nearest);
  }
  ag_wiener half = *w;
  if (a->extrapolate && !ag_wiener_half(&half))
    return ag_usage("ensemble",
                    "--extrapolate: half of --dt %.12g is not on the grid of the paths, %.12g; give --dt-base %.12g",
                    a->dt, w->base, a->dt);
  if (a->every > 0) {
    const double ratio = a->every / a->dt, whole = floor(ratio + 0.5);
    nearest[0] = a->dt * fmax(1, floor(ratio)), nearest[1] = a->dt * (floor(ratio) + 1);
    if (!(whole >= 1 && fabs(ratio - whole) <= 1e-9 * whole))
      return refuse("every", a->every, "is no multiple of --dt", nearest);
    every = (unsigned long long)whole;
    if (steps / every > MAX_ROWS)
      return ag_usage("ensemble", "--every %g asks for more than %d rows", a->every, MAX_ROWS);
  }
  const int n = every ? (int)((steps + every - 1) / every) : steps < 10 ? (int)steps : 10;
  q->row_step = ag_heap_alloc(sizeof *q->row_step * (size_t)(n + 1));
  for (int i = 0; i <= n; i++)
    q->row_step[i] = i == n  ? steps
                     : every ? every * (unsigned long long)i
                             : steps * (unsigned long long)i / (unsigned long long)n;
  q->o.n_row = n + 1;
  q->o.row_step = q->row_step;
  return AG_OK;
}

/* Pairs (row, later row) of every item, then (item, later item) of every row. */
static ag_status choose_pairs(ag_ensemble_request *q) {
  const int n = q->o.n_row;
  const double between_rows = q->a->correlations ? 0.5 * q->n_item * n * (n - 1) : 0,
               between_items = q->a->covariances ? 0.5 * n * q->n_item * (q->n_item - 1) : 0;
  if (q->a->correlations && n > MOST_CORRELATED)
    return ag_usage("ensemble", "--correlations between %d rows: at most %d; choose a larger --every", n,
                    MOST_CORRELATED);
  if (between_rows + between_items > MOST_PAIRS)
    return ag_usage("ensemble", "--covariances of %d numbers at %d rows: choose fewer --columns or a larger --every",
                    q->n_item, n);
  q->pairs = ag_heap_alloc(sizeof *q->pairs * ((size_t)(between_rows + between_items) + 1));
  for (int i = 0; i < q->n_item && q->a->correlations; i++)
    for (int a = 0; a < n; a++)
      for (int b = a + 1; b < n; b++)
        q->pairs[q->o.n_pair++] =
            (ag_tally_pair){a * q->n_value + q->items[i].value, b * q->n_value + q->items[i].value};
  for (int row = 0; row < n && q->a->covariances; row++)
    for (int i = 0; i < q->n_item; i++)
      for (int k = i + 1; k < q->n_item; k++)
        q->pairs[q->o.n_pair++] =
            (ag_tally_pair){row * q->n_value + q->items[i].value, row * q->n_value + q->items[k].value};
  q->o.pairs = q->pairs;
  return AG_OK;
}

/* --chosen: numbers K and ranges K:L, comma-separated. */
static ag_status choose_paths(ag_ensemble_request *q) {
  const char *s = q->a->chosen;
  while (s && *s) {
    char *end;
    ag_ensemble_range r = {0};
    bool good = *s >= '0' && *s <= '9';
    r.first = r.last = strtol(s, &end, 10);
    if (good && *end == ':') {
      good = end[1] >= '0' && end[1] <= '9';
      r.last = strtol(end + 1, &end, 10);
    }
    if (!good || (*end && *end != ',') || r.last < r.first || r.last > q->a->paths - 1)
      return ag_usage("ensemble", "--chosen takes numbers of paths below %ld and ranges K:L, comma-separated: '%s'",
                      q->a->paths, q->a->chosen);
    AG_PUSH(q->chosen, q->n_range, q->cap_range);
    q->chosen[q->n_range++] = r;
    if (r.last - r.first >= MOST_CHOSEN || (q->n_chosen += r.last - r.first + 1) > MOST_CHOSEN)
      return ag_usage("ensemble", "--chosen: at most %d paths", MOST_CHOSEN);
    s = *end ? end + 1 : end;
  }
  return AG_OK;
}

static ag_status wrong_passage(const char *text) {
  return ag_usage("ensemble", "--passage takes COLUMN=LEVEL, such as x=0.5: '%s'", text);
}

/* --passage: COLUMN=LEVEL, separated by semicolons. */
static ag_status choose_passages(ag_ensemble_request *q) {
  for (const char *rest = q->a->passages; rest && *rest;) {
    const size_t size = strcspn(rest, ";");
    ag_text text = {0}, level = {0};
    ag_text_strn(&text, rest, size);
    rest += size + (rest[size] != 0);
    AG_PUSH(q->passage_names, q->o.n_passage, q->cap_passage_name);
    AG_PUSH(q->passages, q->o.n_passage, q->cap_passage);
    q->passage_names[q->o.n_passage] = text.s;
    ag_passage *p = &q->passages[q->o.n_passage++];
    q->o.passages = q->passages;
    char *equals = strrchr(ag_text_cstr(&text), '=');
    if (!equals) return wrong_passage(ag_text_cstr(&text));
    int entry;
    ag_text_str(&level, equals + 1);
    *equals = 0;
    const ag_column *c = ag_ensemble_number("passage", &q->record, text.s, &entry);
    *equals = '=';
    const bool number = ag_number_parse(ag_text_cstr(&level), &p->level);
    ag_text_done(&level);
    if (!c) return AG_WRONG;
    if (!number) return wrong_passage(text.s);
    p->x = c->rows * c->cols > 1 ? ag_entry(ag_system_graph(q->sys), c->x, entry / c->cols, entry % c->cols) : c->x;
  }
  return AG_OK;
}

/* Does a field hold these numbers? */
static bool same_numbers(const ag_fields *f, const char *path, int n, const double *v) {
  const ag_field *x = ag_fields_find(f, path);
  const size_t size = sizeof(double) * (size_t)n;
  return x && x->kind == AG_FIELD_NUMBER && x->size == size && !memcmp(x->data, v, size);
}

/* The saved ensemble that is continued must be the same one. */
static ag_status open_saved(ag_ensemble_request *q) {
  const char *path = q->a->from;
  ag_text trouble = {0};
  q->saved = ag_archive_open(path, &trouble);
  if (!q->saved) {
    ag_output_tell("error: %s", ag_text_cstr(&trouble));
    ag_text_done(&trouble);
    return AG_SYSTEM;
  }
  const ag_fields *f = &q->saved->fields;
  const ag_field *state = ag_fields_find(f, "/ensemble/state");
  size_t size;
  const ag_wiener *w = &q->o.path;
  if (!state || state->kind != AG_FIELD_NUMBER) return ag_usage("ensemble", "%s holds no ensemble", path);
  const char *differs =
      strcmp(ag_fields_get_text(f, "/model", ""), ag_api_text(q->m, &size))                           ? "model"
      : strcmp(ag_fields_get_text(f, "/options@method", ""), q->a->methods)                           ? "method"
      : ag_fields_get_integer(f, "/ensemble@seed", -1) != (long)w->seed                               ? "seed"
      : ag_fields_get_number(f, "/ensemble@dt_base", 0) != w->base                                    ? "dt-base"
      : fabs(ag_fields_get_number(f, "/options@dt", 0) - q->a->dt) > 1e-12 * q->a->dt                 ? "dt"
      : ag_fields_get_number(f, "/options@t0", NAN) != q->a->t0                                       ? "t0"
      : q->saved->n_row != q->o.n_row                                                                 ? "t1 or every"
      : fabs(ag_archive_row_time(q->saved, q->o.n_row - 1) - q->a->t1) > 1e-9 * fabs(q->a->t1)        ? "t1"
      : ag_fields_get_integer(f, "/ensemble@antithetic", 0) != w->mirror                              ? "antithetic"
      : ag_fields_get_integer(f, "/ensemble@extrapolate", 0) != q->a->extrapolate                     ? "extrapolate"
      : strcmp(ag_fields_get_text(f, "/ensemble@columns", ""), q->a->columns ? q->a->columns : "")    ? "columns"
      : strcmp(ag_fields_get_text(f, "/ensemble@passages", ""), q->a->passages ? q->a->passages : "") ? "passages"
      : !same_numbers(f, "/ensemble/start", ag_system_dims(q->sys)->x, q->x0)                         ? "start"
      : !same_numbers(f, "/ensemble/values", ag_system_dims(q->sys)->param, ag_system_param_values(q->sys))
          ? "set of parameters"
          : NULL;
  if (differs) return ag_usage("ensemble", "--from %s: its %s is another one", path, differs);
  q->o.from = state->data;
  q->o.from_size = state->size / sizeof(double);
  return AG_OK;
}

ag_status ag_ensemble_request_init(ag_ensemble_request *q, const ag_ensemble_args *a, anagyre_model *m,
                                   ag_system *sys) {
  *q = (ag_ensemble_request){.a = a, .m = m, .sys = sys, .ctx = ag_api_ctx(m), .params = ag_system_param_values(sys)};
  int n_channel;
  (void)ag_layout_rows(q->sys, AG_LAYOUT_NOISE, &n_channel);
  ag_record_init(&q->record, q->sys);
  q->o = (ag_ensemble_options){
      .t0 = a->t0, .paths = (unsigned long long)a->paths, .interpreted = a->engine == 1, .threads = (int)a->threads};
  q->o.extrapolate = a->extrapolate;
  q->o.path = (ag_wiener){.seed = (unsigned long long)a->seed, .channels = n_channel, .mirror = a->antithetic};
  if (!n_channel)
    return ag_usage("ensemble", "%s has no noise: `anagyre run` gives its one motion",
                    ag_model_name(ag_system_model(q->sys)));
  AG_TRY(choose_columns(q));
  remark(q);
  AG_TRY(choose_grid(q));
  q->o.columns = q->wanted;
  q->n_value = value_at(q, q->record.columns + q->record.n_column);
  AG_TRY(choose_pairs(q));
  AG_TRY(choose_paths(q));
  AG_TRY(choose_passages(q));
  q->x0 = ag_heap_alloc(sizeof(double) * (size_t)(ag_system_dims(q->sys)->x + 1));
  ag_system_state0(q->sys, q->x0);
  return a->from ? open_saved(q) : AG_OK;
}

void ag_ensemble_request_done(ag_ensemble_request *q) {
  for (int i = 0; i < q->n_item; i++) free(q->items[i].name);
  for (int i = 0; i < q->o.n_passage; i++) free(q->passage_names[i]);
  void *all[] = {q->wanted, q->items, q->row_step, q->pairs, q->chosen, q->passages, q->passage_names, q->x0};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i]);
  ag_record_done(&q->record);
  ag_archive_close(q->saved);
}
