/* SPDX-License-Identifier: MIT
 * Continuing a batch: the request is read back from its file or log, the members are made again, and those that had
 * ended are taken from there. A member has the same bits whatever runs next to it, so the result is that of a batch
 * that was never stopped. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "cli/batch.h"
#include "cli/cli.h"
#include "cli/output.h"
#include "cli/result_file.h"

enum { AT_A_TIME = 1 << 16 }; /* numbers read at a time */

/* ---- existing results ---- */

static ag_end end_of(const char *word) {
  for (int e = 0; e < AG_END_SINK; e++)
    if (!strcmp(word, ag_end_word((ag_end)e))) return (ag_end)e;
  return AG_END_SINK;
}

/* The data of a field with n values of the given kind; NULL: it is not there. */
static const void *values(const ag_archive *a, const char *path, ag_field_kind kind, long n) {
  const ag_field *f = ag_fields_find(&a->fields, path);
  return f && f->kind == kind && f->rank == 1 && f->dim[0] == n ? f->data : NULL;
}

/* Are the rows of the file those of this batch? */
static bool same_columns(const ag_archive *a, const ag_batch_store *s) {
  int c = 0;
  if (a->width != s->width) return false;
  for (int i = 0; i < s->b->record.n_column; i++) {
    if (!s->wanted[i]) continue;
    const char *slash = c < a->n_column ? strrchr(a->columns[c]->path, '/') : NULL;
    if (!slash || strcmp(slash + 1, s->b->record.columns[i].name)) return false;
    c++;
  }
  return c == a->n_column;
}

/* The final record of member m: its row, or with a section the values below /members/final. */
static bool find_record(const ag_batch_old *old, const ag_batch_store *s, long m, double *record) {
  const ag_record *layout = &s->b->record;
  bool section = s->b->options.run.section, good = section || ag_archive_rows(old->archive, m, 1, s->row);
  for (int i = 0; i < layout->width; i++) record[i] = NAN;
  for (int i = 0, c = 0; i < layout->n_column && good; i++) {
    const ag_column *column = &layout->columns[i];
    size_t size = sizeof(double) * (size_t)(column->rows * column->cols);
    if (!s->wanted[i]) continue;
    const char *from = (const char *)(s->row + s->at[i]);
    if (section) {
      ag_text path = {0};
      ag_text_printf(&path, "/members/final%s", old->archive->columns[c]->path);
      const ag_field *f = ag_fields_find(&old->archive->fields, path.s);
      good = i == 0 || (f && f->kind == AG_FIELD_NUMBER && f->size == size * (size_t)s->b->members->n);
      from = i && good ? (const char *)f->data + size * (size_t)m : NULL;
      ag_text_done(&path);
    }
    if (from) memcpy(record + column->offset, from, size);
    c++;
  }
  return good;
}

bool ag_batch_old_find(ag_batch_old *old, const ag_batch_store *s) {
  const ag_members *m = s->b->members;
  const ag_archive *a = old->archive;
  const char *end = values(a, "/members/end", AG_FIELD_TEXT, m->n);
  const double *t = values(a, "/members/t", AG_FIELD_NUMBER, m->n);
  const long *steps = values(a, "/members/steps", AG_FIELD_INTEGER, m->n);
  const long *rejected = values(a, "/members/rejected", AG_FIELD_INTEGER, m->n);
  const long *crossings = values(a, "/members/crossings", AG_FIELD_INTEGER, m->n);
  if (!end || !t || !steps || !rejected || !crossings != !s->b->options.run.section || !same_columns(a, s))
    return false;
  size_t n = (size_t)m->n_ready + 1;
  old->there = ag_heap_alloc(sizeof *old->there * n);
  old->members = ag_heap_alloc(sizeof *old->members * n);
  old->n_point = ag_heap_alloc(sizeof *old->n_point * n);
  old->records = ag_heap_alloc(sizeof(double) * n * (size_t)s->b->record.width);
  long left = a->n_row; /* points of the members that follow */
  bool good = true;
  for (long i = 0; i < m->n && good; i++, end += strlen(end) + 1) {
    long k = s->b->row[i];
    if (crossings && (crossings[i] < 0 || crossings[i] > left)) return false;
    if (crossings) left -= crossings[i];
    ag_end how = end_of(end);
    if (k < 0 || how == AG_END_SINK || how == AG_END_STOPPED) continue;
    old->there[k] = true;
    old->members[k] =
        (ag_batch_member){.end = how, .end_event = -1, .t = t[i], .steps = steps[i], .rejected = rejected[i]};
    old->n_point[k] = crossings ? crossings[i] : 0;
    good = find_record(old, s, i, old->records + k * s->b->record.width);
  }
  old->known = (ag_batch_known){old->there, old->members, old->records, old->n_point};
  return good;
}

/* ---- copying ---- */

/* The points of member m, which begin at row `at` of the file. */
static bool copy_points(const ag_batch_old *old, ag_batch_store *s, long m, long at, long n, double *rows) {
  long some = AT_A_TIME / s->width + 1;
  bool good = true;
  for (long done = 0; done < n && good; done += some) {
    long k = n - done < some ? n - done : some;
    good = ag_archive_rows(old->archive, at + done, k, rows) && ag_store_points(s->store, m, done, k, rows);
  }
  return good;
}

bool ag_batch_old_copy(const ag_batch_old *old, ag_batch_store *s) {
  const ag_members *m = s->b->members;
  const long *crossings = values(old->archive, "/members/crossings", AG_FIELD_INTEGER, m->n);
  double *rows = ag_heap_alloc(sizeof *rows * (size_t)(AT_A_TIME + s->width + 1));
  bool good = true;
  for (long i = 0, at = 0; i < m->n && good; i++) {
    long k = s->b->row[i], n = crossings ? crossings[i] : 0;
    if (k >= 0 && old->there[k]) {
      ag_batch_part part = {.member = k, .end = &old->members[k], .record = old->records + k * s->b->record.width};
      good = copy_points(old, s, i, at, n, rows) && ag_batch_store_take(s, &part);
    }
    at += n;
  }
  free(rows);
  return good;
}

void ag_batch_old_done(ag_batch_old *old) {
  ag_archive_close(old->archive);
  free(old->there);
  free(old->members);
  free(old->records);
  free(old->n_point);
  *old = (ag_batch_old){0};
}

/* ---- the request ---- */

/* The texts of a field into a list of options. */
static void read_list(const ag_archive *a, const char *path, ag_list *list) {
  const ag_field *f = ag_fields_find(&a->fields, path);
  long n = f && f->kind == AG_FIELD_TEXT && f->rank == 1 ? f->dim[0] : 0;
  const char *text = n ? f->data : NULL;
  list->at = ag_heap_grow(list->at, sizeof *list->at * (size_t)(n + 1));
  for (list->n = 0; list->n < n; text += strlen(text) + 1) list->at[list->n++] = text;
}

static ag_status refuse(const char *path, const char *why, ag_status status) {
  ag_output_tell("error: %s cannot be continued: %s", path, why);
  return status;
}

static bool has_unfinished(const ag_archive *a) {
  const ag_field *f = ag_fields_find(&a->fields, "/members/end");
  if (!f || f->kind != AG_FIELD_TEXT || f->rank != 1) return false;
  const char *end = f->data;
  for (long i = 0; i < f->dim[0]; i++, end += strlen(end) + 1)
    if (!strcmp(end, "not finished") || end_of(end) == AG_END_STOPPED) return true;
  return false;
}

static ag_status go_on(ag_batch_old *old, const char *path, ag_common *common, ag_batch_args *args,
                       const ag_run_options *run, const char *output) {
  const ag_fields *fields = &old->archive->fields;
  ag_run_options o;
  if (old->archive->running) return refuse(path, "a run is still writing it", AG_SYSTEM);
  if (args->changed)
    return ag_usage("run", "--%s cannot be given when a batch is continued: its options are in %s", args->changed,
                    path);
  /* a table whose log is there was perhaps not written: the disk was full, or the program was killed just then */
  if (ag_output_format(path) == AG_FORMAT_H5 && !has_unfinished(old->archive))
    return refuse(path, "all its members have ended", AG_WRONG);
  if (!ag_store_options(fields, &o, &args->strict) || !ag_fields_get_text(fields, "/model", NULL))
    return refuse(path, "it has options that this program does not know", AG_SYSTEM);
  o.engine = run->engine;
  args->compress = args->compress || ag_store_compressed(fields);
  ag_list sets = {0};
  read_list(old->archive, "/options/set", &sets);
  anagyre_model *m = ag_continue_model(old->archive, sets.n, sets.at);
  for (int i = 0; i < sets.n; i++) {
    const char *equals = strchr(sets.at[i], '=');
    ag_text name = {0};
    ag_text_strn(&name, sets.at[i], equals ? (size_t)(equals - sets.at[i]) : strlen(sets.at[i]));
    ag_option_set(common, ag_text_cstr(&name), equals ? equals + 1 : "");
    ag_text_done(&name);
  }
  free(sets.at);
  read_list(old->archive, "/options/sweep", &common->sweeps);
  read_list(old->archive, "/options/level", &common->levels);
  args->section = ag_fields_get_text(fields, "/options@section", "");
  if (!*args->section) args->section = NULL;
  args->solve = ag_fields_get_text(fields, "/options@solve", NULL);
  args->columns = ag_fields_get_text(fields, "/options@columns", NULL);
  args->starts = ag_fields_get_text(fields, "/options@starts", NULL);
  args->table = ag_fields_get_text(fields, "/options/starts", NULL);
  return ag_batch_run(m, common, args, &o, output, old);
}

ag_status ag_batch_from(const char *path, ag_common *common, ag_batch_args *args, const ag_run_options *run,
                        const char *output, bool *is_batch) {
  ag_text trouble = {0};
  ag_batch_old old = {.archive = ag_archive_open(path, &trouble)};
  ag_status status = AG_OK;
  ag_text_done(&trouble); /* the other way of continuing reports the error */
  *is_batch = old.archive && !strcmp(ag_fields_get_text(&old.archive->fields, "@kind", ""), "batch");
  if (*is_batch) status = go_on(&old, path, common, args, run, output);
  common->sweeps.n = common->levels.n = 0; /* their texts are in the archive */
  ag_batch_old_done(&old);
  return status;
}
