/* SPDX-License-Identifier: MIT
 * Result files as sources. Rows are read in blocks and only the numbers that are asked for are kept. In a batch each
 * row also has what tells its member from others: swept values, values solved for, and at a section the member itself.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "store/store.h"
#include "view/view_internal.h"

enum { BLOCK = 1 << 17, MOST_SWEPT = 16 }; /* numbers read at a time */

typedef struct file {
  ag_archive *archive;
  int width;                       /* of a stored row; more numbers come from the members */
  const ag_field *own[MOST_SWEPT]; /* values per member */
  const ag_field *member;          /* per row, from 1; NULL: row i is member i */
} file;

static void done(void *self) {
  file *f = self;
  ag_archive_close(f->archive);
}

static const char *attribute(const ag_archive *a, const ag_field *of, const char *name) {
  ag_text path = {0};
  ag_text_printf(&path, "%s@%s", of->path, name);
  const char *value = ag_fields_get_text(&a->fields, path.s, "");
  ag_text_done(&path);
  return value;
}

/* ---- columns ---- */

static ag_column_kind kind_of(const char *word) {
  static const char *const words[] = {"time", "coordinate", "velocity", "process", "observable", "energy", "residual"};
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    if (!strcmp(word, words[i])) return (ag_column_kind)i;
  return AG_COL_OBSERVABLE;
}

static void add_stored(ag_source *s, const ag_archive *a) {
  int at = 0;
  for (int i = 0; i < a->n_column; i++) {
    const ag_field *c = a->columns[i];
    ag_column *column = &s->columns[s->n_column++];
    *column = (ag_column){.kind = kind_of(attribute(a, c, "kind")),
                          .name = ag_arena_str(s->arena, attribute(a, c, "name")),
                          .rows = c->rank > 0 ? (int)c->dim[0] : 1,
                          .cols = c->rank > 1 ? (int)c->dim[1] : 1,
                          .offset = at};
    at += column->rows * column->cols;
  }
}

/* The values under a path that differ from member to member. A start value is called "start x": the quantity itself is
 * a column, too. */
static void add_swept(ag_source *s, file *f, const char *prefix) {
  size_t n = strlen(prefix);
  for (int i = 0; i < f->archive->fields.n; i++) {
    const ag_field *p = &f->archive->fields.at[i];
    int k = s->n_column - f->archive->n_column;
    if (strncmp(p->path, prefix, n) || strchr(p->path, '@') || p->kind != AG_FIELD_NUMBER || p->rank != 1) continue;
    if (k == MOST_SWEPT) return;
    const ag_record record = {.n_column = f->archive->n_column, .columns = s->columns};
    int entry;
    bool taken = ag_record_find(&record, p->path + n, &entry) != NULL;
    f->own[k] = p;
    s->swept[s->n_column] = true;
    s->columns[s->n_column++] =
        (ag_column){.kind = AG_COL_OBSERVABLE,
                    .name = ag_arena_printf(s->arena, "%s%s", taken ? "start " : "", p->path + n),
                    .rows = 1,
                    .cols = 1,
                    .offset = f->width + k};
  }
}

/* ---- description ---- */

static bool is_swept(const ag_source *s, const char *name) {
  for (int i = 0; i < s->n_column; i++)
    if (s->swept[i] && !strcmp(s->columns[i].name, name)) return true;
  return false;
}

/* Of an ensemble: "; 20000 paths by euler_heun, dt = 0.01, seed 1". */
static void add_paths(ag_text *about, const ag_fields *fields) {
  const long n = ag_fields_get_integer(fields, "/ensemble@paths", 0);
  if (n <= 0) return;
  ag_text_printf(about, "%s%ld paths by ", about->n ? "; " : "", n);
  ag_escape_plain(about, ag_fields_get_text(fields, "/options@method", "?"));
  ag_about_value(about, "dt", ag_fields_get_number(fields, "/options@dt", NAN));
  ag_text_printf(about, ", seed %ld", ag_fields_get_integer(fields, "/ensemble@seed", 0));
}

static void add_about(ag_source *s, const ag_archive *a) {
  ag_text about = {0};
  s->parameters = AG_NEWN(s->arena, ag_parameter_value, a->fields.n + 1);
  for (int i = 0; i < a->fields.n; i++) {
    const ag_field *p = &a->fields.at[i];
    if (strncmp(p->path, "/parameters/", 12) || strchr(p->path, '@') || p->rank) continue;
    if (is_swept(s, p->path + 12) || (p->kind != AG_FIELD_NUMBER && p->kind != AG_FIELD_INTEGER)) continue;
    const double value = p->kind == AG_FIELD_NUMBER ? *(const double *)p->data : (double)*(const long *)p->data;
    ag_about_value(&about, p->path + 12, value);
    s->parameters[s->n_parameter++] = (ag_parameter_value){ag_arena_str(s->arena, p->path + 12), value};
  }
  add_paths(&about, &a->fields);
  if (!strcmp(ag_fields_get_text(&a->fields, "/options@noise", ""), "path"))
    ag_source_path(s, ag_fields_get_text(&a->fields, "/options@method", "?"),
                   ag_fields_get_number(&a->fields, "/options@dt", NAN),
                   (unsigned long long)ag_fields_get_integer(&a->fields, "/options@seed", 0),
                   (unsigned long long)ag_fields_get_integer(&a->fields, "/options@path", 0));
  ag_about_drift(&about, ag_fields_get_number(&a->fields, "/summary@energy_drift", NAN));
  s->about = ag_arena_str(s->arena, ag_text_cstr(&about));
  ag_text_done(&about);
}

static bool add_marks(ag_source *s, ag_archive *a) {
  s->marks = AG_NEWN(s->arena, ag_marks, a->n_event + 1);
  for (int i = 0; i < a->n_event; i++) {
    if (!strcmp(attribute(a, a->events[i], "kind"), "section")) continue;
    double *times = AG_NEWN(s->arena, double, a->event_count[i] + 1);
    if (!ag_archive_times(a, i, times)) return false;
    s->marks[s->n_marks++] =
        (ag_marks){ag_arena_str(s->arena, attribute(a, a->events[i], "name")), a->event_count[i], times};
  }
  return true;
}

/* ---- ensembles ---- */

static const double *statistic(const ag_source *s, const char *which, const ag_column *c) {
  const ag_archive *a = ((const file *)s->self)->archive;
  ag_text path = {0};
  ag_text_printf(&path, "/ensemble/%s/%s", which, c->name);
  const ag_field *p = ag_fields_find(&a->fields, ag_text_cstr(&path));
  ag_text_done(&path);
  const size_t size = sizeof(double) * (size_t)(a->n_row * c->rows * c->cols);
  return p && p->kind == AG_FIELD_NUMBER && p->size == size ? p->data : NULL;
}

static const long *histogram(const ag_source *s, const char *name, long *n, double *from, double *width) {
  const ag_fields *fields = &((const file *)s->self)->archive->fields;
  ag_text path = {0};
  ag_text_printf(&path, "/ensemble/histogram/%s", name);
  const ag_field *p = ag_fields_find(fields, ag_text_cstr(&path));
  const size_t end = path.n;
  ag_text_str(&path, "@from");
  *from = ag_fields_get_number(fields, ag_text_cstr(&path), NAN);
  path.n = end;
  ag_text_str(&path, "@width");
  *width = ag_fields_get_number(fields, ag_text_cstr(&path), NAN);
  ag_text_done(&path);
  if (!p || p->kind != AG_FIELD_INTEGER || p->rank != 1 || !isfinite(*from) || !(*width > 0)) return NULL;
  *n = p->dim[0];
  return p->data;
}

/* Paths by rows by numbers; the numbers have names. */
static const ag_field *chosen_of(const ag_archive *a) {
  const ag_field *p = ag_fields_find(&a->fields, "/ensemble/chosen"),
                 *items = ag_fields_find(&a->fields, "/ensemble@items");
  const bool good = p && items && p->kind == AG_FIELD_NUMBER && p->rank == 3 && p->dim[1] == a->n_row &&
                    items->kind == AG_FIELD_TEXT && items->rank == 1 && items->dim[0] == p->dim[2];
  return good ? p : NULL;
}

static const double *chosen(const ag_source *s, const char *name, long *stride) {
  const ag_archive *a = ((const file *)s->self)->archive;
  const ag_field *p = chosen_of(a), *items = ag_fields_find(&a->fields, "/ensemble@items");
  const char *item = p ? items->data : NULL;
  for (long i = 0; p && i < p->dim[2]; i++, item += strlen(item) + 1)
    if (!strcmp(item, name)) {
      *stride = p->dim[2];
      return (const double *)p->data + i;
    }
  return NULL;
}

/* ---- rows ---- */

static double own_value(const file *f, int k, long row) {
  long m = row;
  if (f->member) m = ((const long *)f->member->data)[row] - 1;
  return m >= 0 && m < f->own[k]->dim[0] ? ((const double *)f->own[k]->data)[m] : NAN;
}

static bool read_rows(ag_source *s, int n, const int *at, double **out, long *n_row, ag_text *trouble) {
  const file *f = s->self;
  long some = BLOCK / (f->width + 1) + 1, all = f->archive->n_row;
  double *rows = ag_heap_alloc(sizeof *rows * (size_t)(some * f->width + 1));
  bool good = true;
  for (int i = 0; i < n; i++) out[i] = ag_heap_alloc(sizeof(double) * (size_t)(all + 1));
  for (long from = 0; from < all && good; from += some) {
    long m = all - from < some ? all - from : some;
    good = ag_archive_rows(f->archive, from, m, rows);
    for (int i = 0; i < n && good; i++)
      for (long r = 0; r < m; r++)
        out[i][from + r] = at[i] < f->width ? rows[r * f->width + at[i]] : own_value(f, at[i] - f->width, from + r);
  }
  free(rows);
  *n_row = all;
  if (!good) ag_text_printf(trouble, "cannot read the rows of %s", s->path);
  return good;
}

ag_source *ag_source_h5(const char *path, ag_text *trouble) {
  ag_archive *a = ag_archive_open(path, trouble);
  if (!a) return NULL;
  ag_source *s = ag_source_create(path);
  file *f = AG_NEW(s->arena, file);
  const char *title = ag_fields_get_text(&a->fields, "@title", "");
  *f = (file){.archive = a, .width = a->width};
  s->self = f, s->done = done, s->read = read_rows;
  s->title = ag_arena_str(s->arena, *title ? title : ag_fields_get_text(&a->fields, "@model", ""));
  s->columns = AG_NEWN(s->arena, ag_column, a->n_column + MOST_SWEPT + 1);
  s->swept = AG_NEWN(s->arena, bool, a->n_column + MOST_SWEPT + 1);
  add_stored(s, a);
  bool section = *ag_fields_get_text(&a->fields, "/options@section", "") != 0;
  bool batch = !strcmp(ag_fields_get_text(&a->fields, "@kind", ""), "batch");
  s->kind = section ? AG_SOURCE_SECTION : batch ? AG_SOURCE_BATCH : AG_SOURCE_RUN;
  if (batch) add_swept(s, f, "/members/sweep/");
  if (!strcmp(ag_fields_get_text(&a->fields, "@kind", ""), "ensemble"))
    s->statistic = statistic, s->histogram = histogram, s->chosen = chosen;
  if (s->chosen && chosen_of(a)) s->n_chosen = chosen_of(a)->dim[0];
  if (batch && section) f->member = ag_fields_find(&a->fields, "/member");
  if (f->member && (f->member->kind != AG_FIELD_INTEGER || f->member->rank != 1 || f->member->dim[0] < a->n_row))
    f->member = NULL;
  if (!(ag_fields_get_number(&a->fields, "/options@dt", 0) > 0)) { /* of fixed steps there is none */
    s->rtol = ag_fields_get_number(&a->fields, "/options@rtol", 0);
    s->atol = ag_fields_get_number(&a->fields, "/options@atol", 0);
  }
  add_about(s, a);
  if (add_marks(s, a)) return s;
  ag_text_printf(trouble, "cannot read the events of %s", path);
  ag_source_free(s);
  return NULL;
}
