/* SPDX-License-Identifier: MIT
 * A batch as a result file: the rows of its table, and for each member its start, parameters and end. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "cli/batch.h"
#include "cli/output.h"
#include "math/lie.h"
#include "store/store.h"

/* ---- rows: the points of the section, or the members ---- */

static bool put_record(const ag_batch_report *b, ag_store *store, const bool *wanted, double time, const double *record,
                       double *row) {
  int n = 0;
  for (int i = 0; i < b->record.n_column; i++) {
    const ag_column *c = &b->record.columns[i];
    for (int k = 0; wanted[i] && k < c->rows * c->cols; k++) row[n++] = record[c->offset + k];
  }
  row[0] = time; /* always the first column */
  return ag_store_row(store, row);
}

static bool put_rows(const ag_batch_report *b, ag_store *store, const bool *wanted) {
  double *row = ag_heap_alloc(sizeof *row * (size_t)b->record.width);
  bool good = true;
  for (long m = 0; m < b->members->n && good; m++) {
    if (!b->options.run.section) {
      good = put_record(b, store, wanted, ag_batch_report_time(b, m), ag_batch_report_record(b, m), row);
      continue;
    }
    const ag_series *points = ag_batch_report_points(b, m);
    for (long i = 0; i < points->n && good; i++)
      good = put_record(b, store, wanted, points->data[i * points->width], points->data + i * points->width, row);
  }
  free(row);
  return good;
}

/* ---- the members ---- */

static void path_of(ag_text *path, const char *folder, const char *name) {
  ag_text_clear(path);
  ag_text_printf(path, "%s%s", folder, name);
}

static void put_swept(const ag_batch_report *b, ag_fields *p, double *v) {
  ag_text path = {0};
  int n = b->members->grid.n_name, n_swept = n - b->members->grid.n_solved;
  for (int i = 0; i < n; i++) {
    for (long m = 0; m < b->members->n; m++) v[m] = b->members->values[m * n + i];
    path_of(&path, i < n_swept ? "/members/sweep/" : "/members/solved/", b->members->grid.names[i]);
    ag_fields_values(p, path.s, b->members->n, 1, 1, v);
  }
  ag_text_done(&path);
}

/* Parameters that are not the same for all. NaN where a member did not start. */
static void put_parameters(const ag_batch_report *b, ag_fields *p) {
  const ag_system *sys = ag_varied_system(b->members->varied);
  const ag_model *model = ag_system_model(sys);
  ag_text path = {0};
  for (int i = 0; i < ag_model_n_params(model); i++) {
    int at = ag_layout_item(sys, AG_LAYOUT_PARAMETER, i)->at;
    if (at < 0 || ag_model_params(model)[i].from_start) continue;
    int rows = ag_node_rows(ag_model_nodes(model), ag_model_params(model)[i].input),
        cols = ag_node_cols(ag_model_nodes(model), ag_model_params(model)[i].input);
    size_t size = sizeof(double) * (size_t)(rows * cols);
    double *v = ag_heap_alloc(size * (size_t)b->members->n + 1);
    bool same = true;
    for (long m = 0; m < b->members->n; m++) {
      const double *from = b->members->params + b->row[m] * ag_system_dims(sys)->param + at;
      for (int k = 0; k < rows * cols; k++) v[m * rows * cols + k] = b->row[m] >= 0 ? from[k] : NAN;
      same = same && (b->row[m] < 0 || !memcmp(from, ag_system_param_values(sys) + at, size));
    }
    path_of(&path, "/members/parameters/", ag_model_params(model)[i].name);
    if (!same) ag_fields_values(p, path.s, b->members->n, rows, cols, v);
    free(v);
  }
  ag_text_done(&path);
}

/* Starts, completed from the constraints: coordinates and velocities. */
static void put_starts(const ag_batch_report *b, ag_fields *p) {
  const ag_system *sys = ag_varied_system(b->members->varied);
  int n_x = ag_system_dims(sys)->x;
  ag_text path = {0};
  for (int i = 0; i < 2 * ag_model_n_coords(ag_system_model(sys)); i++) {
    int k = i % ag_model_n_coords(ag_system_model(sys));
    bool velocity = i != k, rotation = !velocity && ag_model_coords(ag_system_model(sys))[k].space == AG_SPACE_SO3;
    const ag_column *c = &b->record.columns[1 + i];
    const ag_layout_row *at = ag_layout_item(sys, velocity ? AG_LAYOUT_VELOCITY : AG_LAYOUT_COORDINATE, k);
    int size = c->rows * c->cols;
    double *v = ag_heap_alloc(sizeof(double) * (size_t)(size * b->members->n) + 1);
    for (long m = 0; m < b->members->n; m++) {
      const double *x = b->row[m] >= 0 ? b->members->x0 + b->row[m] * n_x : NULL;
      if (x && rotation) ag_lie_quat_matrix(x + at->at, v + m * size);
      for (int j = 0; j < size && !(x && rotation); j++) v[m * size + j] = x ? x[at->at + j] : NAN;
    }
    path_of(&path, velocity ? "/members/start/velocity/" : "/members/start/state/", c->name);
    ag_fields_values(p, path.s, b->members->n, c->rows, c->cols, v);
    free(v);
  }
  ag_text_done(&path);
}

/* With a section the final records are not the rows. */
static void put_finals(const ag_batch_report *b, ag_fields *p, const bool *wanted) {
  static const char *const folder[] = {"", "state/", "velocity/", "observables/", "", ""};
  ag_text path = {0}, name = {0};
  for (int i = 1; i < b->record.n_column; i++) {
    const ag_column *c = &b->record.columns[i];
    int size = c->rows * c->cols;
    if (!wanted[i]) continue;
    double *v = ag_heap_alloc(sizeof(double) * (size_t)(size * b->members->n) + 1);
    for (long m = 0; m < b->members->n; m++)
      memcpy(v + m * size, ag_batch_report_record(b, m) + c->offset, sizeof(double) * (size_t)size);
    path_of(&name, folder[c->kind], c->name);
    path_of(&path, "/members/final/", name.s);
    ag_fields_values(p, path.s, b->members->n, c->rows, c->cols, v);
    free(v);
  }
  ag_text_done(&path);
  ag_text_done(&name);
}

static void put_ends(const ag_batch_report *b, ag_fields *p, double *v) {
  long n = b->members->n, *w = ag_heap_alloc(sizeof *w * (size_t)(n + 1));
  const char **ends = ag_heap_alloc(sizeof *ends * (size_t)(n + 1));
  for (long m = 0; m < n; m++) ends[m] = ag_batch_report_end(b, m), v[m] = ag_batch_report_time(b, m);
  ag_fields_texts(p, "/members/end", (int)n, ends);
  ag_fields_values(p, "/members/t", n, 1, 1, v);
  for (long m = 0; m < n; m++) w[m] = ag_batch_report_member(b, m) ? ag_batch_report_member(b, m)->steps : 0;
  ag_fields_integers(p, "/members/steps", n, w);
  for (long m = 0; m < n; m++) w[m] = ag_batch_report_member(b, m) ? ag_batch_report_member(b, m)->rejected : 0;
  ag_fields_integers(p, "/members/rejected", n, w);
  for (long m = 0; m < n; m++) w[m] = ag_batch_report_points(b, m)->n;
  if (b->options.run.section) ag_fields_integers(p, "/members/crossings", n, w);
  free(w);
  free(ends);
}

/* Of each point: its member and its crossing number. */
static void put_owners(const ag_batch_report *b, ag_fields *p) {
  long n = ag_batch_report_n_points(b), *member = ag_heap_alloc(sizeof *member * (size_t)(n + 1));
  long *crossing = ag_heap_alloc(sizeof *crossing * (size_t)(n + 1)), k = 0;
  for (long m = 0; m < b->members->n; m++)
    for (long i = 0; i < ag_batch_report_points(b, m)->n; i++) member[k] = m + 1, crossing[k++] = i + 1;
  ag_fields_integers(p, "/member", n, member);
  ag_fields_integers(p, "/crossing", n, crossing);
  free(member);
  free(crossing);
}

static void put_members(const ag_batch_report *b, ag_fields *p, const bool *wanted) {
  double *v = ag_heap_alloc(sizeof *v * (size_t)(b->members->n + 1));
  ag_fields_text(p, "@end", b->n_stopped ? ag_end_word(AG_END_STOPPED) : "finished");
  ag_fields_integer(p, "@complete", 1);
  ag_fields_integer(p, "/summary@members", b->members->n);
  ag_fields_integer(p, "/summary@failed", b->n_failed);
  ag_fields_integer(p, "/summary@off_level", b->members->n_off_level);
  put_ends(b, p, v);
  put_swept(b, p, v);
  put_parameters(b, p);
  put_starts(b, p);
  if (b->options.run.section) put_finals(b, p, wanted);
  if (b->options.run.section) put_owners(b, p);
  free(v);
}

/* ---- the file ---- */

static ag_status print_error(ag_text *trouble) {
  ag_output_tell("error: %s", ag_text_cstr(trouble));
  ag_text_done(trouble);
  return AG_SYSTEM;
}

ag_status ag_batch_h5(const ag_batch_report *b, const ag_common *common, const anagyre_model *m, bool strict,
                      const char *path) {
  ag_arena *arena = ag_arena_create();
  const char **sets = AG_NEWN(arena, const char *, common->changes.n_set + 1);
  bool *wanted = AG_NEWN(arena, bool, b->record.n_column + 1);
  for (int i = 0; i < common->changes.n_set; i++)
    sets[i] = ag_arena_printf(arena, "%s=%s", common->changes.sets[i].name, common->changes.sets[i].value);
  for (int i = 0; i < b->record.n_column; i++) wanted[i] = b->wanted[i] || b->record.columns[i].kind == AG_COL_TIME;
  ag_fields fields = {0}, end = {0};
  size_t size;
  ag_description what = {.system = ag_varied_system(b->members->varied),
                         .options = &b->options.run,
                         .n_set = common->changes.n_set,
                         .sets = sets,
                         .strict = strict,
                         .wanted = wanted,
                         .text = ag_api_text(m, &size)};
  ag_text trouble = {0};
  ag_store_describe(&fields, &what);
  ag_fields_texts(&fields, "/options/sweep", common->sweeps.n, common->sweeps.at);
  ag_fields_texts(&fields, "/options/level", common->levels.n, common->levels.at);
  ag_store *store = ag_store_create(path, &fields, true, &trouble);
  ag_fields_done(&fields);
  ag_status status = AG_OK;
  if (!store) {
    status = print_error(&trouble);
  } else {
    if (ag_store_begin(store)) (void)put_rows(b, store, wanted); /* errors are reported when it is closed */
    put_members(b, &end, wanted);
    if (!ag_store_close(store, &end, &trouble)) status = print_error(&trouble);
    else ag_text_done(&trouble);
  }
  ag_fields_done(&end);
  ag_arena_free(arena);
  return status;
}
