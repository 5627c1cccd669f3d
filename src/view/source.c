/* SPDX-License-Identifier: MIT
 * Sources of figures: what they have in common, and motions in memory. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "view/view_internal.h"

ag_source *ag_source_create(const char *path) {
  ag_arena *arena = ag_arena_create();
  ag_source *s = AG_NEW(arena, ag_source);
  *s = (ag_source){.arena = arena, .path = ag_arena_str(arena, path), .title = "", .about = ""};
  return s;
}

void ag_source_free(ag_source *s) {
  if (!s) return;
  if (s->done) s->done(s->self);
  ag_arena_free(s->arena);
}

bool ag_source_read(ag_source *s, int n, const int *at, double **out, long *n_row, ag_text *trouble) {
  for (int i = 0; i < n; i++) out[i] = NULL;
  *n_row = 0;
  if (s->read(s, n, at, out, n_row, trouble)) return true;
  for (int i = 0; i < n; i++) free(out[i]), out[i] = NULL;
  return false;
}

static bool ends_with(const char *s, const char *end) {
  size_t n = strlen(s), k = strlen(end);
  return n > k && !strcmp(s + n - k, end);
}

ag_source *ag_source_file(const char *path, ag_status *status, ag_text *trouble) {
  *status = AG_SYSTEM;
  if (ends_with(path, ".csv")) return ag_source_csv(path, status, trouble);
  return ag_source_h5(path, trouble);
}

/* ---- motions ---- */

static bool read_motion(ag_source *s, int n, const int *at, double **out, long *n_row, ag_text *trouble) {
  (void)trouble;
  const anagyre_motion *motion = s->motion;
  *n_row = anagyre_motion_column(motion, "t").n;
  for (int i = 0; i < n; i++) {
    const ag_column *c = ag_source_column_of(s, at[i]);
    anagyre_array all = anagyre_motion_column(motion, c->name);
    out[i] = ag_heap_alloc(sizeof(double) * (size_t)(*n_row + 1));
    for (long r = 0; r < *n_row; r++) out[i][r] = all.data[r * all.stride + at[i] - c->offset];
  }
  return true;
}

/* "m = 1, r = 0.5": scalar parameters. */
static void put_parameters(anagyre_model *m, ag_text *out) {
  const char *name;
  for (int i = 0; (name = anagyre_item(m, ANAGYRE_PARAMETER, i)); i++) {
    anagyre_array v = anagyre_value(m, name);
    if (v.data && v.rows * v.cols == 1) ag_about_value(out, name, *v.data);
  }
}

ag_source *ag_source_motion(const anagyre_motion *motion, anagyre_model *m) {
  ag_source *s = ag_source_create(anagyre_name(m));
  const ag_record *record = ag_api_record(motion);
  const ag_run_result *result = ag_api_result(motion);
  s->title = ag_arena_str(s->arena, *anagyre_title(m) ? anagyre_title(m) : anagyre_name(m));
  s->n_column = record->n_column;
  s->columns = AG_NEWN(s->arena, ag_column, record->n_column);
  s->swept = AG_NEWN(s->arena, bool, record->n_column);
  memcpy(s->columns, record->columns, sizeof *s->columns * (size_t)record->n_column);
  s->marks = AG_NEWN(s->arena, ag_marks, result->n_event + 1);
  for (int i = 0; i < result->n_event; i++) {
    const char *name = anagyre_item(m, ANAGYRE_EVENT, i);
    if (name)
      s->marks[s->n_marks++] = (ag_marks){ag_arena_str(s->arena, name), result->event_count[i], result->event_times[i]};
  }
  ag_text about = {0};
  put_parameters(m, &about);
  ag_about_drift(&about, ag_source_drift(motion));
  s->about = ag_arena_str(s->arena, ag_text_cstr(&about));
  ag_text_done(&about);
  s->motion = motion;
  s->read = read_motion;
  return s;
}

void ag_source_path(ag_source *s, const char *method, double dt, unsigned long long seed, unsigned long long path) {
  ag_text steps = {0};
  ag_text_str(&steps, "by ");
  ag_escape_plain(&steps, method);
  ag_about_value(&steps, "dt", dt);
  ag_text_printf(&steps, ", seed %llu", seed);
  s->steps = ag_arena_str(s->arena, ag_text_cstr(&steps));
  s->noise = ag_arena_printf(s->arena, "%llu", path);
  ag_text_done(&steps);
}

double ag_source_drift(const anagyre_motion *motion) {
  return ag_api_result(motion)->energy_law == AG_ENERGY_CONSERVED ? anagyre_motion_energy_drift(motion) : (double)NAN;
}

void ag_about_value(ag_text *out, const char *name, double value) {
  if (out->n) ag_text_str(out, ", ");
  ag_label_plain(name, out);
  ag_text_str(out, " = ");
  ag_number_plain(value, 6, out);
}

void ag_about_drift(ag_text *out, double drift) {
  if (!isfinite(drift)) return;
  ag_text_printf(out, "%senergy drift ", out->n ? "; " : "");
  ag_number_plain(drift, 2, out);
}

/* ---- columns by name ---- */

const ag_column *ag_source_column_of(const ag_source *s, int at) {
  for (int i = 0; i < s->n_column; i++)
    if (at >= s->columns[i].offset && at < s->columns[i].offset + s->columns[i].rows * s->columns[i].cols)
      return &s->columns[i];
  return NULL;
}

/* "name[2:3]": the range is cut off *name. Entries are counted from 1 in the text. */
static bool cut_range(ag_text *name, long *first, long *last) {
  char *open = strrchr(name->s, '['), *colon = open ? strchr(open, ':') : NULL, *end = NULL, *close = NULL;
  if (!colon) return false;
  *first = strtol(open + 1, &end, 10);
  *last = strtol(colon + 1, &close, 10);
  if (end != colon || *close != ']' || (close[1] && strcmp(close + 1, "'"))) return false;
  memmove(open, close + 1, strlen(close + 1) + 1); /* "x[1:2]'" is "x'" */
  name->n = strlen(name->s);
  return true;
}

/* "x[2]'" is "x'[2]". */
static void put_prime_first(ag_text *name) {
  char *open = strrchr(name->s, '[');
  if (!open || name->n < 2 || strcmp(name->s + name->n - 2, "]'")) return;
  memmove(open + 1, open, (size_t)(name->s + name->n - 1 - open));
  *open = '\'';
}

bool ag_source_residual(const char *name) {
  const char *dot = strrchr(name, '.');
  return dot && (!strncmp(dot, ".gap", 4) || !strncmp(dot, ".misfit", 7));
}

void ag_source_list(const ag_source *s, int most, ag_text *out) {
  for (int i = 0; i < s->n_column && i < most; i++) {
    ag_text_str(out, i ? ", " : "; it has ");
    ag_escape_plain(out, s->columns[i].name);
  }
  if (s->n_column > most) ag_text_printf(out, " and %d more", s->n_column - most);
}

static bool find(const ag_source *s, ag_text *name, ag_choice *item, ag_text *trouble) {
  const ag_record record = {.n_column = s->n_column, .columns = s->columns};
  ag_text whole = {0};
  long first = 1, last = 0;
  int entry;
  ag_text_str(&whole, ag_text_cstr(name));
  bool range = cut_range(name, &first, &last);
  if (!range) put_prime_first(name);
  const ag_column *c = ag_record_find(&record, name->s, &entry);
  if (c) *item = (ag_choice){c, entry < 0 ? 0 : entry, entry < 0 ? c->rows * c->cols - 1 : entry};
  bool good = c && (!range || (entry < 0 && c->cols == 1 && first >= 1 && first <= last && last <= c->rows));
  if (good && range) *item = (ag_choice){c, (int)first - 1, (int)last - 1};
  if (!good) {
    const char **names = ag_heap_alloc(sizeof *names * (size_t)(s->n_column + 1));
    for (int i = 0; i < s->n_column; i++) names[i] = s->columns[i].name;
    const char *like = c ? NULL : ag_nearest(name->s, s->n_column, names);
    ag_text_printf(trouble, "%s has no column ", s->path);
    ag_escape_plain(trouble, whole.s);
    if (c) ag_text_printf(trouble, ": %s has %d numbers", c->name, c->rows * c->cols);
    else if (like) ag_text_printf(trouble, "; did you mean %s?", like);
    else ag_source_list(s, 12, trouble);
    free(names);
  }
  ag_text_done(&whole);
  return good;
}

/* The next name of a list, without spaces around it. Commas inside brackets do not separate. False: there is none. */
static bool next_name(const char **list, ag_text *name) {
  const char *s = *list + strspn(*list, " "), *end = s;
  for (int depth = 0; *end && (*end != ',' || depth > 0); end++) depth += (*end == '[') - (*end == ']');
  *list = *end ? end + 1 : end;
  while (end > s && end[-1] == ' ') end--;
  ag_text_clear(name);
  ag_text_strn(name, s, (size_t)(end - s));
  return end > s;
}

int ag_source_choices(const ag_source *s, const char *list, ag_choice *items, int most, ag_text *trouble) {
  ag_text name = {0};
  int n = 0;
  bool good = true;
  while (good && next_name(&list, &name)) {
    if (n == most) ag_text_printf(trouble, "more than %d quantities in one figure", most);
    good = n < most && find(s, &name, &items[n], trouble);
    n++;
  }
  if (good && !n) ag_text_str(trouble, "an empty list of columns");
  ag_text_done(&name);
  return good && n ? n : -1;
}
