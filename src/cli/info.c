/* SPDX-License-Identifier: MIT
 * `anagyre info`: what is in a result file. */
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/escape.h"
#include "base/number.h"
#include "cli/cli.h"
#include "cli/json.h"
#include "cli/output.h"
#include "cli/result.h"
#include "store/store.h"

typedef struct args {
  ag_common common;
  bool recover;
} args;

static const ag_option options[] = {
    AG_OPTION(args, "recover", FLAG, recover,
              .doc = "first merge the log of a killed run into the file, and remove the log"),
    AG_QUIET_ROW(args),
    AG_COMMON_ROWS(args),
};

/* A file with what is computed from it. */
typedef struct file_info {
  ag_archive *a;
  const ag_fields *fields;
  ag_arena *arena;    /* of the texts that are printed */
  double first, last; /* times of the rows; NaN: none */
  bool continuable;
  double point; /* time from which it would be continued */
} file_info;

static const char *text(const file_info *t, const char *path) { return ag_fields_get_text(t->fields, path, ""); }

static const char *attribute(const file_info *t, const ag_field *of, const char *name) {
  ag_text path = {0};
  ag_text_printf(&path, "%s@%s", of->path, name);
  const char *value = text(t, path.s);
  ag_text_done(&path);
  return value;
}

static int rows_of(const ag_field *p) { return p->rank > 0 ? (int)p->dim[0] : 1; }
static int cols_of(const ag_field *p) { return p->rank > 1 ? (int)p->dim[1] : 1; }

static file_info info_of(ag_archive *a) {
  ag_checkpoint c;
  file_info t = {.a = a,
                 .fields = &a->fields,
                 .arena = ag_arena_create(),
                 .first = ag_archive_row_time(a, 0),
                 .last = ag_archive_row_time(a, a->n_row - 1)};
  t.continuable = !a->running && ag_archive_checkpoint(a, &c);
  if (t.continuable) {
    t.point = c.t;
    ag_archive_checkpoint_done(&c);
  }
  return t;
}

/* ---- text ---- */

/* A text of the file made safe for printing: the file may come from anyone. */
static const char *plain(const file_info *t, const char *s) {
  ag_text clean = {0};
  ag_escape_plain(&clean, s);
  const char *copy = ag_arena_str(t->arena, ag_text_cstr(&clean));
  ag_text_done(&clean);
  return copy;
}

static const char *shown(const file_info *t, const char *path) { return plain(t, text(t, path)); }

static void line(ag_text *out, const char *what, const char *format, ...) __attribute__((format(printf, 3, 4)));
static void line(ag_text *out, const char *what, const char *format, ...) {
  va_list list;
  char value[512];
  va_start(list, format);
  vsnprintf(value, sizeof value, format, list);
  va_end(list);
  ag_text_printf(out, "  %-12s  %s\n", what, value);
}

static void put_quantities(const file_info *t, ag_text *out) {
  ag_text_str(out, "quantities\n");
  for (int i = 0; i < t->a->n_column; i++) {
    const ag_field *c = t->a->columns[i];
    ag_text_printf(out, "  %-28s  %-10s", plain(t, c->path), plain(t, attribute(t, c, "kind")));
    if (c->rank) ag_text_printf(out, c->rank > 1 ? "  %ld x %ld" : "  %ld", c->dim[0], c->dim[1]);
    ag_text_char(out, '\n');
  }
}

static void put_parameters(const file_info *t, ag_text *out) {
  bool some = false;
  for (int i = 0; i < t->fields->n; i++) {
    const ag_field *p = &t->fields->at[i];
    if (strncmp(p->path, "/parameters/", 12) || strchr(p->path, '@')) continue;
    if (!some) ag_text_str(out, "parameters\n");
    some = true;
    ag_text_printf(out, "  %-12s  ", plain(t, p->path + 12));
    if (p->kind == AG_FIELD_INTEGER && p->rank == 0) ag_text_printf(out, "%ld", *(const long *)p->data);
    if (p->kind == AG_FIELD_NUMBER) ag_result_value(rows_of(p), cols_of(p), p->data, 16, out);
    ag_text_char(out, '\n');
  }
}

/* A list of texts, a line each. */
static void put_lines(const file_info *t, const char *path, const char *what, ag_text *out) {
  const ag_field *p = ag_fields_find(t->fields, path);
  const char *s = p && p->kind == AG_FIELD_TEXT && p->rank == 1 ? p->data : "";
  for (long i = 0; p && p->kind == AG_FIELD_TEXT && p->rank == 1 && i < p->dim[0]; i++, s += strlen(s) + 1)
    line(out, i ? "" : what, "%s", plain(t, s));
}

static void put_run(const file_info *t, ag_text *out) {
  const ag_fields *p = t->fields;
  double dt = ag_fields_get_number(p, "/options@dt", 0);
  if (dt > 0) line(out, "method", "%s, dt %g, %s", shown(t, "/options@method"), dt, shown(t, "/options@closure"));
  else
    line(out, "method", "%s, rtol %g, atol %g, %s", shown(t, "/options@method"),
         ag_fields_get_number(p, "/options@rtol", NAN), ag_fields_get_number(p, "/options@atol", NAN),
         shown(t, "/options@closure"));
  if (!strcmp(text(t, "/options@noise"), "path"))
    line(out, "noise", "seed %ld, path %ld, grid of %s", ag_fields_get_integer(p, "/options@seed", 0),
         ag_fields_get_integer(p, "/options@path", 0),
         ag_number_text(ag_fields_get_number(p, "/options@dt_base", NAN)).s);
  put_lines(t, "/options/set", "set", out);
  long steps = ag_fields_get_integer(p, "/summary@steps", -1);
  if (steps >= 0) line(out, "steps", "%ld (%ld rejected)", steps, ag_fields_get_integer(p, "/summary@rejected", 0));
  double drift = ag_fields_get_number(p, "/summary@energy_drift", NAN);
  double work = ag_fields_get_number(p, "/summary@work", NAN);
  if (!isnan(drift)) line(out, "energy", "drift at most %.3g", drift);
  if (!isnan(work))
    line(out, "energy", "work done %.6g until t = %.6g, change less work %.3g", work,
         ag_fields_get_number(p, "/summary@work_t", NAN),
         ag_fields_get_number(p, "/summary@work_energy", NAN) - ag_fields_get_number(p, "/summary@energy_start", NAN) -
             work);
  put_lines(t, "/summary/warnings", "warnings", out);
}

/* "38 crossings reached, 10 outside the level" */
static void put_ends(const ag_field *ends, ag_text *out) {
  const char *s = ends->data;
  const char *kinds[16];
  long count[16] = {0}, n = 0, others = 0;
  for (long i = 0; i < ends->dim[0]; i++, s += strlen(s) + 1) {
    long k = 0;
    while (k < n && strcmp(kinds[k], s)) k++;
    if (k == n && n < 16) kinds[n++] = s;
    if (k < 16) count[k]++;
    else others++;
  }
  for (long k = 0; k < n; k++) ag_text_printf(out, "%s%ld %s", k ? ", " : "", count[k], kinds[k]);
  if (others) ag_text_printf(out, ", %ld for other reasons", others);
}

/* Smallest and largest value of what differs between members. */
static void put_varied(const file_info *t, const char *prefix, ag_text *out) {
  size_t n = strlen(prefix);
  for (int i = 0; i < t->fields->n; i++) {
    const ag_field *p = &t->fields->at[i];
    if (strncmp(p->path, prefix, n) || strchr(p->path, '@') || p->kind != AG_FIELD_NUMBER || p->rank != 1) continue;
    double lo = INFINITY, hi = -INFINITY;
    for (long k = 0; k < p->dim[0]; k++)
      lo = fmin(lo, ((const double *)p->data)[k]), hi = fmax(hi, ((const double *)p->data)[k]);
    ag_text_printf(out, "  %-28s  %.6g to %.6g\n", plain(t, p->path), lo, hi);
  }
}

/* Of many runs: how they ended. */
static void put_batch(const file_info *t, ag_text *out) {
  const ag_field *ends = ag_fields_find(t->fields, "/members/end");
  line(out, "members", "%ld", ag_fields_get_integer(t->fields, "/summary@members", 0));
  if (ends && ends->kind == AG_FIELD_TEXT && ends->rank == 1) {
    ag_text all = {0};
    put_ends(ends, &all);
    line(out, "they ended", "%s", plain(t, ag_text_cstr(&all)));
    ag_text_done(&all);
  }
}

static void write_text(const file_info *t, ag_text *out) {
  ag_archive *a = t->a;
  ag_text_printf(out, "%s: %s%s%s\n", plain(t, a->path), shown(t, "@model"), *text(t, "@title") ? ", " : "",
                 shown(t, "@title"));
  if (a->running) line(out, "state", "a run is still writing it; shown as of a moment ago");
  if (a->recovered) line(out, "state", "recovered from the log of a run that was killed");
  line(out, "ended", "%s%s%s", shown(t, "@end"), *text(t, "@end_event") ? " " : "", shown(t, "@end_event"));
  bool batch = !strcmp(text(t, "@kind"), "batch");
  if (batch) put_batch(t, out);
  if (!strcmp(text(t, "@kind"), "ensemble"))
    line(out, "ensemble", "%ld of %ld paths, %ld failed, seed %ld, base grid of %s; rows are means",
         ag_fields_get_integer(&a->fields, "/ensemble@paths", 0),
         ag_fields_get_integer(&a->fields, "/ensemble@wanted", 0),
         ag_fields_get_integer(&a->fields, "/ensemble@failed", 0),
         ag_fields_get_integer(&a->fields, "/ensemble@seed", 0),
         ag_number_text(ag_fields_get_number(&a->fields, "/ensemble@dt_base", NAN)).s);
  if (batch && !*text(t, "/options@section")) line(out, "rows", "%ld, one per member", a->n_row);
  else if (*text(t, "/options@section"))
    line(out, "rows", "%ld, at the crossings of the section %s", a->n_row, shown(t, "/options@section"));
  else line(out, "rows", "%ld", a->n_row);
  if (a->n_row && !batch)
    line(out, "time", "%s to %s (asked for: %s)", ag_number_text(t->first).s, ag_number_text(t->last).s,
         ag_number_text(ag_fields_get_number(t->fields, "/options@t1", NAN)).s);
  put_run(t, out);
  if (t->continuable) line(out, "continue", "anagyre run --from %s --t1 ...", plain(t, a->path));
  for (int i = 0; i < a->n_event; i++)
    line(out, i ? "" : "events", "%s: %ld", plain(t, attribute(t, a->events[i], "name")), a->event_count[i]);
  line(out, "written by", "%s %s (%s, %s)", shown(t, "@program"), shown(t, "@version"), shown(t, "@commit"),
       shown(t, "@compiler"));
  line(out, "format", "%ld%s", ag_fields_get_integer(t->fields, "@format", 0),
       ag_store_compressed(t->fields) ? ", compressed" : "");
  put_parameters(t, out);
  if (batch) {
    ag_text_str(out, "differs from member to member\n");
    put_varied(t, "/members/sweep/", out);
    put_varied(t, "/members/solved/", out);
    put_varied(t, "/members/parameters/", out);
  }
  put_quantities(t, out);
}

/* ---- JSON ---- */

static void json_value(ag_json *j, const char *key, const ag_field *p) {
  if (p->kind == AG_FIELD_NUMBER && p->size) ag_json_tensor(j, key, rows_of(p), cols_of(p), p->data);
  if (p->kind == AG_FIELD_INTEGER && p->rank == 0) ag_json_whole(j, key, *(const long *)p->data);
  if (p->kind == AG_FIELD_TEXT && p->rank == 0) ag_json_string(j, key, p->data);
  if (p->kind != AG_FIELD_TEXT || p->rank != 1) return;
  const char *s = p->data;
  ag_json_begin(j, key, '[');
  for (long i = 0; i < p->dim[0]; i++, s += strlen(s) + 1) ag_json_string(j, NULL, s);
  ag_json_end(j, ']');
}

/* "key": {name: value} of the fields under a path. */
static void json_group(ag_json *j, const file_info *t, const char *key, const char *prefix) {
  size_t n = strlen(prefix);
  ag_json_begin(j, key, '{');
  for (int i = 0; i < t->fields->n; i++) {
    const ag_field *p = &t->fields->at[i];
    if (!strncmp(p->path, prefix, n) && !strchr(p->path + n, '@') && !strchr(p->path + n, '/'))
      json_value(j, p->path + n, p);
  }
  ag_json_end(j, '}');
}

static void write_json(const file_info *t, ag_json *j) {
  static const char *const about[] = {"kind",           "program", "version", "commit", "compiler",
                                      "compiler_flags", "engine",  "model",   "title",  "end"};
  ag_json_begin(j, NULL, '{');
  ag_json_string(j, "file", t->a->path);
  ag_json_whole(j, "format", ag_fields_get_integer(t->fields, "@format", 0));
  for (size_t i = 0; i < sizeof about / sizeof *about; i++) {
    ag_text path = {0};
    ag_text_printf(&path, "@%s", about[i]);
    ag_json_string(j, about[i], ag_fields_get_text(t->fields, path.s, NULL));
    ag_text_done(&path);
  }
  ag_json_string(j, "end_event", *text(t, "@end_event") ? text(t, "@end_event") : NULL);
  ag_json_bool(j, "complete", ag_fields_get_integer(t->fields, "@complete", 0) != 0);
  ag_json_bool(j, "running", t->a->running);
  ag_json_bool(j, "recovered", t->a->recovered);
  ag_json_number(j, "continue_from", t->continuable ? t->point : NAN);
  ag_json_whole(j, "rows", t->a->n_row);
  ag_json_number(j, "t_first", t->first);
  ag_json_number(j, "t_last", t->last);
  ag_json_begin(j, "quantities", '[');
  for (int i = 0; i < t->a->n_column; i++) {
    const ag_field *c = t->a->columns[i];
    ag_json_begin(j, NULL, '{');
    ag_json_string(j, "name", attribute(t, c, "name"));
    ag_json_string(j, "path", c->path);
    ag_json_string(j, "kind", attribute(t, c, "kind"));
    ag_json_begin(j, "shape", '[');
    for (int k = 0; k < c->rank; k++) ag_json_whole(j, NULL, c->dim[k]);
    ag_json_end(j, ']');
    ag_json_end(j, '}');
  }
  ag_json_end(j, ']');
  ag_json_begin(j, "events", '{');
  for (int i = 0; i < t->a->n_event; i++) ag_json_whole(j, attribute(t, t->a->events[i], "name"), t->a->event_count[i]);
  ag_json_end(j, '}');
  json_group(j, t, "parameters", "/parameters/");
  json_group(j, t, "options", "/options@");
  const ag_field *set = ag_fields_find(t->fields, "/options/set");
  if (set) json_value(j, "set", set);
  json_group(j, t, "summary", "/summary@");
  const ag_field *warnings = ag_fields_find(t->fields, "/summary/warnings");
  if (warnings) json_value(j, "warnings", warnings);
  if (!strcmp(text(t, "@kind"), "batch")) {
    ag_json_begin(j, "members", '{');
    json_group(j, t, "sweep", "/members/sweep/");
    json_group(j, t, "solved", "/members/solved/");
    json_group(j, t, "parameters", "/members/parameters/");
    const ag_field *ends = ag_fields_find(t->fields, "/members/end");
    if (ends) json_value(j, "end", ends);
    ag_json_end(j, '}');
  }
  ag_json_string(j, "text", text(t, "/model"));
  ag_json_end(j, '}');
}

static ag_status refuse(const args *a, const ag_text *trouble) {
  ag_output_tell("error: %s", ag_text_cstr(trouble));
  if (!a->common.json) return AG_SYSTEM;
  ag_json j = {0};
  ag_json_begin(&j, NULL, '{');
  ag_json_string(&j, "file", a->common.words[0]);
  ag_json_string(&j, "error", ag_text_cstr(trouble));
  ag_json_end(&j, '}');
  ag_json_print(&j);
  return AG_SYSTEM;
}

/* The log stands for its file: FILE.log, FILE.log.1 to .9. */
static void file_of_log(ag_text *path) {
  const char *end = strstr(path->s, ".log");
  for (const char *next; end && (next = strstr(end + 1, ".log"));) end = next;
  if (!end || end == path->s) return;
  bool log = !end[4] || (end[4] == '.' && end[5] >= '1' && end[5] <= '9' && !end[6]);
  if (log) path->n = (size_t)(end - path->s), path->s[path->n] = 0;
}

static ag_archive *open_archive(const args *a, ag_text *trouble) {
  ag_text path = {0};
  ag_text_str(&path, a->common.words[0]);
  file_of_log(&path);
  ag_archive *archive = NULL;
  if (a->recover && ag_output_format(path.s) != AG_FORMAT_H5)
    ag_text_printf(trouble, "%s is not a .h5 file: `anagyre run --from %s` continues its batch", path.s, path.s);
  else if (!a->recover || ag_archive_recover(path.s, trouble)) archive = ag_archive_open(path.s, trouble);
  ag_text_done(&path);
  return archive;
}

static ag_status act(void *self) {
  const args *a = self;
  ag_text trouble = {0};
  ag_archive *archive = open_archive(a, &trouble);
  if (!archive) {
    ag_status status = refuse(a, &trouble);
    ag_text_done(&trouble);
    return status;
  }
  file_info t = info_of(archive);
  if (archive->recovered && !a->common.quiet)
    ag_output_tell("note: the run that wrote %s was killed; recovered %ld %s from its log", archive->path,
                   archive->n_row, ag_plural(archive->n_row, "row", "rows"));
  if (a->common.json) {
    ag_json j = {0};
    write_json(&t, &j);
    ag_json_print(&j);
  } else {
    ag_text out = {0};
    write_text(&t, &out);
    fputs(out.s, stdout);
    ag_text_done(&out);
  }
  ag_arena_free(t.arena);
  ag_archive_close(archive);
  ag_text_done(&trouble);
  return AG_OK;
}

const ag_command ag_command_info = {
    .name = "info",
    .words = "FILE",
    .doc = "what is in a result file (.h5)",
    .text = "Describes a file written by `run -o FILE.h5`: model, time span, rows, quantities and their\n"
            "shapes, parameters, events, how the run ended (of many: how many ended how, and what\n"
            "differs between them), and which program wrote it. When the run was\n"
            "killed, what it had computed is in FILE.h5 and FILE.h5.log; info describes what the two hold\n"
            "and changes neither. --recover puts the log into FILE.h5. The layout of the file is\n"
            "described in docs/results.md.\n",
    .examples = "  anagyre info stone.h5\n"
                "  anagyre info stone.h5 --json\n",
    AG_COMMAND(1, 1),
};
