/* SPDX-License-Identifier: MIT */
#include "cli/result_file.h"
#include "base/number.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/arena.h"
#include "cli/cli.h"
#include "cli/output.h"

enum { AT_A_TIME = 1 << 17 }; /* numbers read at a time */

static ag_status print_error(ag_text *trouble) {
  ag_output_tell("error: %s", ag_text_cstr(trouble));
  ag_text_done(trouble);
  return AG_SYSTEM;
}

/* ---- writing ---- */

static ag_store *create(const char *path, const ag_description *what, bool fresh, bool begin) {
  ag_fields fields = {0};
  ag_text trouble = {0};
  ag_store_describe(&fields, what);
  ag_store *store = ag_store_create(path, &fields, AG_STORE_FILE, fresh, &trouble);
  ag_fields_done(&fields);
  if (!store) {
    print_error(&trouble);
    return NULL;
  }
  if (!begin || ag_store_begin(store)) return store;
  (void)ag_result_file_close(store, what->system, NULL, NULL);
  return NULL;
}

/* Do two names lead to the same file? */
static bool same_file(const char *one, const char *other) {
  struct stat a, b;
  return !strcmp(one, other) || (!stat(one, &a) && !stat(other, &b) && a.st_ino == b.st_ino && a.st_dev == b.st_dev);
}

ag_store *ag_result_file_open(const char *path, anagyre_model *m, const ag_common *common, const ag_run_options *o,
                              ag_result_how how, const ag_continued *from) {
  size_t size;
  ag_derive_options derive = ag_run_derive(o, how.strict);
  ag_description what = {.system = ag_api_system(m, &derive),
                         .options = o,
                         .text = ag_api_text(m, &size),
                         .drivers = ag_api_drivers(m),
                         .strict = how.strict,
                         .compress = how.compress};
  if (from) {
    what.n_set = from->n_set;
    what.sets = from->sets;
    bool same = same_file(path, from->archive->path);
    ag_store *store = create(path, &what, !same, false);
    if (store && same) ag_store_keep(store, from->archive->n_row);
    return store;
  }
  char **sets = ag_heap_alloc(sizeof *sets * (size_t)(common->changes.n_set + 1));
  for (int i = 0; i < common->changes.n_set; i++) {
    ag_text x = {0};
    ag_text_printf(&x, "%s=%s", common->changes.sets[i].name, common->changes.sets[i].value);
    sets[i] = x.s;
  }
  what.n_set = common->changes.n_set;
  what.sets = (const char *const *)sets;
  ag_store *store = create(path, &what, true, true);
  for (int i = 0; i < common->changes.n_set; i++) free(sets[i]);
  free(sets);
  return store;
}

void ag_result_file_event(void *store, int event, double t) {
  (void)ag_store_event(store, event, t);
} /* the next row reports errors */

void ag_result_file_save(void *store, const ag_checkpoint *c) { (void)ag_store_save(store, c, false); }

void ag_result_file_warnings(ag_fields *fields, const ag_ctx *ctx) {
  int n = 0;
  char **texts = ag_heap_alloc(sizeof *texts * (size_t)(ctx->n_diag + 1));
  for (int i = 0; i < ctx->n_diag; i++) {
    const ag_diag *d = &ctx->diags[i];
    ag_text x = {0};
    if (d->severity == AG_ERROR) continue;
    ag_text_printf(&x, "%s: %s", d->severity == AG_NOTE ? "note" : "warning", d->message);
    texts[n++] = x.s;
  }
  ag_fields_texts(fields, "/summary/warnings", n, (const char *const *)texts);
  for (int i = 0; i < n; i++) free(texts[i]);
  free(texts);
}

ag_status ag_result_file_close(ag_store *store, const ag_system *sys, const ag_run_result *result, const ag_ctx *ctx) {
  ag_fields end = {0};
  ag_text trouble = {0};
  int why = ag_store_trouble(store);
  if (ag_store_is_behind(store) && (why || !result || result->end == AG_END_STOPPED || result->end == AG_END_SINK)) {
    ag_store_discard(store);
    ag_output_tell("%s%s%s: the file stays as it was, with more rows than were computed again", why ? "error" : "note",
                   why ? ": " : "", why ? strerror(why) : "");
    return why ? AG_SYSTEM : AG_OK;
  }
  if (result) ag_store_result(&end, sys, result);
  if (ctx) ag_result_file_warnings(&end, ctx);
  bool good = ag_store_close(store, &end, &trouble);
  ag_fields_done(&end);
  if (!good) return print_error(&trouble);
  ag_text_done(&trouble);
  return AG_OK;
}

/* ---- continuing ---- */

static ag_status refuse(ag_continued *c, const char *path, const char *why) {
  ag_output_tell("error: %s %s", path, why);
  ag_continue_done(c);
  return AG_SYSTEM;
}

const char **ag_continue_sets(const ag_archive *archive, int *n) {
  const ag_field *set = ag_fields_find(&archive->fields, "/options/set");
  *n = set && set->kind == AG_FIELD_TEXT && set->rank == 1 ? (int)set->dim[0] : 0;
  const char **sets = ag_heap_alloc(sizeof *sets * (size_t)(*n + 1)), *s = set ? set->data : "";
  for (int i = 0; i < *n; i++, s += strlen(s) + 1) sets[i] = s;
  return sets;
}

ag_status ag_continue_open(ag_continued *c, const char *path, ag_run_options *o, bool *strict) {
  ag_text trouble = {0};
  *c = (ag_continued){.archive = ag_archive_open(path, &trouble)};
  if (!c->archive) return print_error(&trouble);
  ag_text_done(&trouble);
  const ag_fields *fields = &c->archive->fields;
  if (c->archive->running) return refuse(c, path, "is still being written by a run");
  if (!ag_store_options(fields, o, strict) || !ag_fields_get_text(fields, "/model", NULL))
    return refuse(c, path, "has options that this program does not know");
  if (!ag_archive_checkpoint(c->archive, &c->point)) {
    if (ag_fields_get_integer(fields, "@complete", 0))
      ag_output_tell("error: %s cannot be continued: its run ended by itself (%s)", path,
                     ag_fields_get_text(fields, "@end", "?"));
    else ag_output_tell("error: %s cannot be continued: its run was killed before it had begun; start it again", path);
    ag_continue_done(c);
    return AG_WRONG;
  }
  c->residual_max = ag_fields_get_number(fields, "/summary@constraint_residual_max", 0);
  c->sets = ag_continue_sets(c->archive, &c->n_set);
  return AG_OK;
}

/* How far the file goes. */
static double last_time(const ag_continued *c) {
  double t = ag_fields_get_number(&c->archive->fields, "/summary@t", NAN);
  if (!isfinite(t)) t = ag_archive_row_time(c->archive, c->archive->n_row - 1);
  return isfinite(t) ? t : c->point.t;
}

ag_status ag_continue_until(ag_continued *c, const double *t1, ag_run_options *o) {
  double made_for = o->t1, last = last_time(c), t = t1 ? *t1 : made_for;
  double direction = made_for == o->t0 ? t - o->t0 : made_for - o->t0, furthest = c->point.reach;
  if ((last - furthest) * direction > 0) furthest = last;
  o->t1 = t;
  o->from = &c->point;
  if ((t - furthest) * direction > 0) return AG_OK;
  if (!t1)
    return ag_usage("run", "%s reaches t = %s: give the new end time with --t1", c->archive->path,
                    ag_number_text(last).s);
  return ag_usage("run", "--t1 %s: %s reaches t = %s; give a time beyond %s", ag_number_text(t).s, c->archive->path,
                  ag_number_text(last).s, ag_number_text(furthest).s);
}

/* Is the point one of this system, and are the rows its records? */
static bool fits(const ag_continued *c, const ag_system *sys, const ag_run_options *o) {
  ag_record record;
  ag_record_init(&record, sys);
  bool good = record.width == c->archive->width && record.n_column == c->archive->n_column &&
              ag_run_n_event(sys, o) == c->archive->n_event;
  ag_record_done(&record);
  return good && ag_run_point_fits(sys, o, &c->point);
}

anagyre_model *ag_continue_model(const ag_archive *archive, int n_set, const char *const *sets) {
  anagyre_model *m = anagyre_open_text(archive->path, ag_fields_get_text(&archive->fields, "/model", ""));
  for (int i = 0; i < n_set; i++) {
    const char *equals = strchr(sets[i], '=');
    ag_text name = {0};
    ag_text_strn(&name, sets[i], equals ? (size_t)(equals - sets[i]) : strlen(sets[i]));
    anagyre_set(m, ag_text_cstr(&name), equals ? equals + 1 : "");
    ag_text_done(&name);
  }
  anagyre_end_at(m, ag_fields_get_text(&archive->fields, "/options@terminal", NULL));
  anagyre_drive(m, ag_fields_get_text(&archive->fields, "/options@driver", NULL));
  return m;
}

ag_status ag_continue_load(ag_continued *c, anagyre_model **out, ag_run_options *o, bool strict) {
  const ag_fields *fields = &c->archive->fields;
  anagyre_model *m = *out = ag_continue_model(c->archive, c->n_set, c->sets);
  ag_derive_options how = ag_run_derive(o, strict);
  ag_system *sys = ag_api_system(m, &how);
  if (!sys) return ag_api_status(m);
  ag_run_prepare(sys, o);
  const char *section = ag_fields_get_text(fields, "/options@section", "");
  if (*section && !(o->section = ag_api_section(ag_api_ctx(m), ag_system_model(sys), section))) return AG_WRONG;
  if (!fits(c, sys, o)) {
    ag_ctx_error(ag_api_ctx(m), (ag_pos){0},
                 "%s was written by anagyre %s (%s), which arranged this model differently: it cannot be continued",
                 c->archive->path, ag_fields_get_text(fields, "@version", "?"),
                 ag_fields_get_text(fields, "@commit", "?"));
    return AG_WRONG;
  }
  if (strcmp(ag_fields_get_text(fields, "@commit", ""), AG_GIT_HASH))
    ag_ctx_note(ag_api_ctx(m), (ag_pos){0},
                "%s was written by another build (%s); the continuation may differ in the last digits",
                c->archive->path, ag_fields_get_text(fields, "@commit", "?"));
  return AG_OK;
}

bool ag_continue_rows(ag_continued *c, ag_store *store, bool (*row)(void *self, const double *record), void *self) {
  int width = c->archive->width;
  long some = AT_A_TIME / width + 1;
  double *rows = ag_heap_alloc(sizeof *rows * (size_t)(some * width));
  bool good = true;
  for (int e = 0; store && e < c->point.n_event; e++)
    for (int i = 0; i < c->point.event_count[e] && good; i++)
      good = ag_store_event(store, e, c->point.event_times[e][i]);
  for (long at = 0; at < c->point.n_row && good; at += some) {
    long n = c->point.n_row - at < some ? c->point.n_row - at : some;
    good = ag_archive_rows(c->archive, at, n, rows);
    if (!good) ag_output_tell("error: cannot read the rows of %s", c->archive->path);
    for (long i = 0; i < n && good; i++) good = row(self, rows + i * width);
  }
  free(rows);
  return good && (!store || (ag_store_save(store, &c->point, true) && ag_store_begin(store)));
}

void ag_continue_done(ag_continued *c) {
  ag_archive_checkpoint_done(&c->point);
  ag_archive_close(c->archive);
  free(c->sets);
  *c = (ag_continued){0};
}
