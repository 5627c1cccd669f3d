/* SPDX-License-Identifier: MIT
 * The log of a batch, and its result file: for each member its start and parameters from the beginning, its end and its
 * points as they come. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "cli/batch.h"
#include "cli/output.h"
#include "cli/result_file.h"
#include "math/lie.h"
#include "store/store.h"

enum { MAX_TABLE = 1 << 26 }; /* bytes of a table of starts that are stored */

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

/* Starts, completed from the constraints: coordinates, velocities and processes. */
static void put_starts(const ag_batch_report *b, ag_fields *p) {
  const ag_system *sys = ag_varied_system(b->members->varied);
  int n_x = ag_system_dims(sys)->x;
  ag_text path = {0}, name = {0};
  for (int i = 1; b->record.columns[i].kind <= AG_COL_PROCESS; i++) {
    static const char *const folder[] = {"", "state/", "velocity/", "process/"};
    const ag_column *c = &b->record.columns[i];
    int entry;
    const ag_layout_row *at = ag_layout_find(sys, c->name, &entry);
    bool rotation = at->kind == AG_LAYOUT_COORDINATE && at->factor == AG_SPACE_SO3;
    int size = c->rows * c->cols;
    double *v = ag_heap_alloc(sizeof(double) * (size_t)(size * b->members->n) + 1);
    for (long m = 0; m < b->members->n; m++) {
      const double *x = b->row[m] >= 0 ? b->members->x0 + b->row[m] * n_x : NULL;
      if (x && rotation) ag_lie_quat_matrix(x + at->at, v + m * size);
      for (int j = 0; j < size && !(x && rotation); j++) v[m * size + j] = x ? x[at->at + j] : NAN;
    }
    path_of(&name, folder[c->kind], c->name);
    path_of(&path, "/members/start/", name.s);
    ag_fields_values(p, path.s, b->members->n, c->rows, c->cols, v);
    free(v);
  }
  ag_text_done(&path);
  ag_text_done(&name);
}

/* With a section the final records are not the rows. They are not known yet. */
static void put_finals(const ag_batch_report *b, ag_fields *p, const bool *wanted) {
  static const char *const folder[] = {"", "state/", "velocity/", "process/", "observables/", "", ""};
  ag_text path = {0}, name = {0};
  for (int i = 1; i < b->record.n_column; i++) {
    const ag_column *c = &b->record.columns[i];
    int size = c->rows * c->cols;
    if (!wanted[i]) continue;
    double *v = ag_heap_alloc(sizeof(double) * (size_t)(size * b->members->n) + 1);
    for (long k = 0; k < size * b->members->n; k++) v[k] = NAN;
    path_of(&name, folder[c->kind], c->name);
    path_of(&path, "/members/final/", name.s);
    ag_fields_values(p, path.s, b->members->n, c->rows, c->cols, v);
    free(v);
  }
  ag_text_done(&path);
  ag_text_done(&name);
}

/* Before they run: those that cannot start have ended. */
static void put_ends(const ag_batch_report *b, ag_fields *p, double *v) {
  long n = b->members->n, *zeros = ag_heap_alloc(sizeof *zeros * (size_t)(n + 1));
  const char **ends = ag_heap_alloc(sizeof *ends * (size_t)(n + 1));
  for (long m = 0; m < n; m++) {
    ends[m] = b->row[m] >= 0 ? "not finished" : b->members->reason[m];
    v[m] = b->options.run.t0;
  }
  ag_fields_texts(p, "/members/end", (int)n, ends);
  ag_fields_values(p, "/members/t", n, 1, 1, v);
  ag_fields_integers(p, "/members/steps", n, zeros);
  ag_fields_integers(p, "/members/rejected", n, zeros);
  if (b->options.run.section) ag_fields_integers(p, "/members/crossings", n, zeros);
  free(zeros);
  free(ends);
}

static void put_members(const ag_batch_report *b, ag_fields *p, const bool *wanted) {
  double *v = ag_heap_alloc(sizeof *v * (size_t)(b->members->n + 1));
  ag_fields_integer(p, "/summary@members", b->members->n);
  ag_fields_integer(p, "/summary@off_level", b->members->n_off_level);
  put_ends(b, p, v);
  put_swept(b, p, v);
  put_parameters(b, p);
  put_starts(b, p);
  if (b->options.run.section) put_finals(b, p, wanted);
  free(v);
}

/* The request, so that the batch can be continued. */
static void put_request(const ag_batch_report *b, const ag_batch_about *about, ag_fields *p) {
  ag_fields_texts(p, "/options/sweep", about->common->sweeps.n, about->common->sweeps.at);
  ag_fields_texts(p, "/options/level", about->common->levels.n, about->common->levels.at);
  if (about->args->solve) ag_fields_text(p, "/options@solve", about->args->solve);
  if (about->args->columns) ag_fields_text(p, "/options@columns", about->args->columns);
  if (!about->args->starts || b->members->grid.table.n > MAX_TABLE) return;
  ag_fields_text(p, "/options@starts", about->args->starts);
  ag_fields_text(p, "/options/starts", ag_text_cstr(&b->members->grid.table));
}

/* ---- the log ---- */

static ag_status print_error(ag_text *trouble) {
  ag_output_tell("error: %s", ag_text_cstr(trouble));
  ag_text_done(trouble);
  return AG_SYSTEM;
}

/* Which columns are stored, and where. */
static void lay_out(ag_batch_store *s) {
  const ag_record *record = &s->b->record;
  s->wanted = ag_heap_alloc((size_t)record->n_column + 1);
  s->at = ag_heap_alloc(sizeof *s->at * (size_t)(record->n_column + 1));
  for (int i = 0; i < record->n_column; i++) {
    s->wanted[i] = s->b->wanted[i] || record->columns[i].kind == AG_COL_TIME; /* always the first */
    s->at[i] = s->width;
    if (s->wanted[i]) s->width += record->columns[i].rows * record->columns[i].cols;
  }
  s->row = ag_heap_alloc(sizeof *s->row * (size_t)(s->width + 1));
}

static void describe(const ag_batch_store *s, const ag_batch_about *about, ag_fields *fields) {
  const ag_changes *changes = &about->common->changes;
  ag_arena *arena = ag_arena_create();
  const char **sets = AG_NEWN(arena, const char *, changes->n_set + 1);
  for (int i = 0; i < changes->n_set; i++)
    sets[i] = ag_arena_printf(arena, "%s=%s", changes->sets[i].name, changes->sets[i].value);
  size_t size;
  ag_description what = {.system = ag_varied_system(s->b->members->varied),
                         .options = &s->b->options.run,
                         .n_set = changes->n_set,
                         .sets = sets,
                         .strict = about->args->strict,
                         .wanted = s->wanted,
                         .compress = about->args->compress,
                         .text = ag_api_text(about->model, &size)};
  ag_store_describe(fields, &what);
  put_request(s->b, about, fields);
  put_members(s->b, fields, s->wanted);
  ag_arena_free(arena);
}

void ag_batch_store_done(ag_batch_store *s) {
  ag_store_discard(s->store);
  free(s->wanted);
  free(s->at);
  free(s->row);
  *s = (ag_batch_store){0};
}

ag_status ag_batch_store_open(ag_batch_store *s, const ag_batch_report *b, const ag_batch_about *about,
                              const char *output) {
  *s = (ag_batch_store){.b = b};
  bool file = output && !ag_output_is_stdout(output);
  if (!file && !b->options.run.section) return AG_OK;
  lay_out(s);
  ag_fields fields = {0};
  ag_text trouble = {0};
  describe(s, about, &fields);
  ag_store_kind kind = !file                                      ? AG_STORE_SCRATCH
                       : ag_output_format(output) == AG_FORMAT_H5 ? AG_STORE_FILE
                                                                  : AG_STORE_LOG;
  s->store = ag_store_create(output, &fields, kind, true, &trouble);
  ag_fields_done(&fields);
  return s->store ? AG_OK : print_error(&trouble);
}

/* A record as it is stored. */
static void shorten(const ag_batch_store *s, double time, const double *record, double *row) {
  for (int i = 0; i < s->b->record.n_column; i++) {
    const ag_column *c = &s->b->record.columns[i];
    for (int k = 0; s->wanted[i] && k < c->rows * c->cols; k++) row[s->at[i] + k] = record[c->offset + k];
  }
  row[0] = time;
}

bool ag_batch_store_take(void *self, const ag_batch_part *part) {
  ag_batch_store *s = self;
  long member = s->b->members->index[part->member];
  int width = s->b->record.width;
  double *rows = ag_heap_alloc(sizeof *rows * (size_t)(part->n * s->width + 1));
  for (long i = 0; i < part->n; i++) shorten(s, part->points[i * width], part->points + i * width, rows + i * s->width);
  bool good = ag_store_points(s->store, member, part->first, part->n, rows);
  free(rows);
  if (!part->end || !good) return good;
  shorten(s, part->end->t, part->record, s->row);
  ag_member_end how = {ag_end_word(part->end->end), part->end->t, part->end->steps, part->end->rejected};
  return ag_store_member(s->store, member, &how, s->row);
}

ag_status ag_batch_store_close(ag_batch_store *s, const char *output, ag_status saved) {
  const ag_batch_report *b = s->b;
  ag_fields end = {0};
  ag_text trouble = {0};
  if (!s->store) return saved;
  ag_store_kind kind = ag_store_kind_of(s->store);
  bool file = kind == AG_STORE_FILE, stopped = kind == AG_STORE_LOG && b->n_stopped; /* to be continued from its log */
  if (!file && saved == AG_OK && !stopped) {
    ag_store_discard(s->store);
  } else {
    ag_fields_text(&end, "@end", b->n_stopped ? ag_end_word(AG_END_STOPPED) : "finished");
    ag_fields_integer(&end, "@complete", 1);
    ag_fields_integer(&end, "/summary@failed", b->n_failed);
    ag_result_file_warnings(&end, &b->members->ctx);
    if (kind == AG_STORE_LOG && saved != AG_OK)
      ag_output_tell("what was computed is in %s; when there is room, `anagyre run --from %s` writes it",
                     ag_store_place(s->store), output);
    if (!ag_store_close(s->store, &end, &trouble)) saved = print_error(&trouble);
    else if (file) s->file = output;
  }
  s->store = NULL;
  ag_fields_done(&end);
  ag_text_done(&trouble);
  return saved;
}
