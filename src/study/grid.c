/* SPDX-License-Identifier: MIT */
#include "study/study_internal.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/file.h"

enum { MAX_TABLE = 1 << 30, MAX_MEMBERS = 10000000 };

static char *copy(const char *s, size_t n) {
  char *p = ag_heap_alloc(n + 1);
  memcpy(p, s, n);
  return p;
}

/* Without blanks at its ends. */
static char *trimmed(const char *s, size_t n) {
  while (n && strchr(" \t\r", s[0])) s++, n--;
  while (n && strchr(" \t\r", s[n - 1])) n--;
  return copy(s, n);
}

static ag_axis *add_axis(ag_grid *s) {
  s->axes = ag_heap_grow(s->axes, sizeof *s->axes * (size_t)(s->n_axis + 1));
  s->axes[s->n_axis] = (ag_axis){0};
  return &s->axes[s->n_axis++];
}

static void add_name(ag_axis *a, char *name) {
  a->names = ag_heap_grow(a->names, sizeof *a->names * (size_t)(a->n_name + 1));
  a->names[a->n_name++] = name;
}

void ag_grid_ends(ag_axis *a, double lo, double hi) {
  free(a->values);
  a->values = ag_heap_alloc(sizeof *a->values * (size_t)a->n);
  for (long i = 0; i < a->n; i++) a->values[i] = i == 0 ? lo : lo + (hi - lo) * ((double)i / (double)(a->n - 1));
  if (a->n > 1) a->values[a->n - 1] = hi;
}

/* ---- ranges ---- */

static bool constant(const char *s, size_t n, double *value) {
  char *text = trimmed(s, n);
  bool good = ag_number_parse(text, value);
  free(text);
  return good;
}

/* "name=lo:hi:n" */
static ag_status read_range(ag_grid *s, const char *text, ag_text *error) {
  size_t name = strcspn(text, "="), lo = text[name] ? strcspn(text + name + 1, ":") : 0;
  const char *from = text + name + 1, *to = text[name] && from[lo] ? from + lo + 1 : NULL;
  size_t hi = to ? strcspn(to, ":") : 0;
  if (!name || !to || !lo || !hi || !to[hi] || strchr(to + hi + 1, ':')) {
    ag_text_printf(error, "--sweep needs NAME=LO:HI:N, such as m=0.5:2:10, not '%s'", text);
    return AG_WRONG;
  }
  double count, low, high;
  if (!ag_number_parse(to + hi + 1, &count) || count != floor(count) || count < 1 || count > MAX_MEMBERS) {
    ag_text_printf(error, "--sweep %.*s: the number of values must be a whole number from 1 to %d, not '%s'", (int)name,
                   text, MAX_MEMBERS, to + hi + 1);
    return AG_WRONG;
  }
  ag_axis *a = add_axis(s);
  add_name(a, trimmed(text, name));
  a->n = (long)count;
  a->range = text;
  a->from[0] = (size_t)(from - text), a->size[0] = lo;
  a->from[1] = (size_t)(to - text), a->size[1] = hi;
  if (constant(from, lo, &low) && constant(to, hi, &high)) ag_grid_ends(a, low, high);
  return AG_OK;
}

/* ---- tables ---- */

static ag_status read_text(const char *path, ag_text *text, ag_text *error) {
  if (ag_file_text(path, MAX_TABLE, text)) return AG_OK;
  if (errno == EFBIG) {
    ag_text_printf(error, "%s is larger than 1 GiB", path);
    return AG_WRONG;
  }
  ag_text_printf(error, "cannot read %s: %s", path, strerror(errno));
  return AG_SYSTEM;
}

/* The next field of a line; quotes are taken off. Moves *at behind it and its comma; false at the end of the line. */
static bool next_field(const char **at, const char *end, char **field) {
  if (*at > end) return false;
  const char *from = *at;
  while (from < end && *from == ' ') from++;
  if (from < end && *from == '"') {
    char *out = *field = ag_heap_alloc((size_t)(end - from) + 1);
    for (from++; from < end && (*from != '"' || (from + 1 < end && from[1] == '"')); from++) {
      if (*from == '"') from++;
      *out++ = *from;
    }
    while (from < end && *from != ',') from++;
  } else {
    const char *comma = memchr(from, ',', (size_t)(end - from));
    const char *stop = comma ? comma : end;
    *field = trimmed(from, (size_t)(stop - from));
    from = stop;
  }
  *at = from + 1; /* past the comma; past the end when there is none */
  return true;
}

static ag_status read_header(ag_axis *a, const char *path, const char *at, const char *end, ag_text *error) {
  char *field;
  while (next_field(&at, end, &field)) {
    add_name(a, field);
    if (*field) continue;
    ag_text_printf(error, "%s:1: column %d has no name", path, a->n_name);
    return AG_WRONG;
  }
  return AG_OK;
}

static ag_status read_row(ag_axis *a, const char *path, long line, const char *at, const char *end, double *values,
                          ag_text *error) {
  char *field;
  int n = 0;
  while (next_field(&at, end, &field)) {
    bool number = n >= a->n_name || ag_number_parse(field, &values[n]);
    if (!number)
      ag_text_printf(error, "%s:%ld: %s is '%s', which is not a finite number", path, line, a->names[n], field);
    free(field);
    if (!number) return AG_WRONG;
    n++;
  }
  if (n == a->n_name) return AG_OK;
  ag_text_printf(error, "%s:%ld: %d value%s for %d columns", path, line, n, n == 1 ? "" : "s", a->n_name);
  return AG_WRONG;
}

static ag_status read_rows(ag_axis *a, const char *path, const char *at, const char *end, ag_text *error) {
  long line = 0, cap = 0;
  for (; at < end; at++) {
    const char *stop = memchr(at, '\n', (size_t)(end - at));
    a->cut = !stop;
    if (!stop) stop = end;
    const char *last = stop > at && stop[-1] == '\r' ? stop - 1 : stop;
    line++;
    bool blank = strspn(at, " \t") >= (size_t)(last - at);
    if (!a->n_name && *at == '#') {
      at = stop; /* comments before the names */
      continue;
    }
    if (!a->n_name) {
      AG_TRY(read_header(a, path, at, last, error));
    } else if (!blank) {
      if (a->n == cap) {
        cap = cap ? 2 * cap : 64;
        a->values = ag_heap_grow(a->values, sizeof *a->values * (size_t)(cap * a->n_name));
      }
      AG_TRY(read_row(a, path, line, at, last, a->values + a->n * a->n_name, error));
      a->n++;
    }
    at = stop;
  }
  if (a->n) return AG_OK;
  ag_text_printf(error, "%s has no rows: it needs a header row and one row per member", path);
  return AG_WRONG;
}

static ag_status read_table(ag_grid *s, const char *path, const char *known, ag_text *error) {
  if (known) ag_text_str(&s->table, known);
  else AG_TRY(read_text(path, &s->table, error));
  const char *at = ag_text_cstr(&s->table);
  if (!strncmp(at, "\xef\xbb\xbf", 3)) at += 3; /* spreadsheets write one */
  return read_rows(add_axis(s), path, at, ag_text_cstr(&s->table) + s->table.n, error);
}

/* ---- the grid ---- */

static ag_status finish(ag_grid *s, ag_text *error) {
  s->n = 1;
  for (int i = 0; i < s->n_axis; i++) {
    ag_axis *a = &s->axes[i];
    if (s->n > MAX_MEMBERS / a->n) {
      ag_text_printf(error, "a batch has at most %d members", MAX_MEMBERS);
      return AG_WRONG;
    }
    s->n *= a->n;
    for (int k = 0; k < a->n_name; k++) {
      for (int j = 0; j < s->n_name; j++)
        if (!strcmp(s->names[j], a->names[k])) {
          ag_text_printf(error, "`%s` is swept twice", a->names[k]);
          return AG_WRONG;
        }
      s->names = ag_heap_grow(s->names, sizeof *s->names * (size_t)(s->n_name + 1));
      s->names[s->n_name++] = a->names[k];
    }
  }
  return AG_OK;
}

ag_status ag_grid_read(ag_grid *s, const ag_list *ranges, const char *table, const char *known, ag_text *error) {
  *s = (ag_grid){0};
  if (table) AG_TRY(read_table(s, table, known, error));
  for (int i = 0; i < ranges->n; i++) AG_TRY(read_range(s, ranges->at[i], error));
  return finish(s, error);
}

void ag_grid_solve(ag_grid *s, int n, char *const *names, const double *guess) {
  if (!n) return;
  ag_axis *a = add_axis(s);
  a->n = 1;
  a->n_name = s->n_solved = n;
  a->names = ag_heap_alloc(sizeof *a->names * (size_t)n);
  a->values = ag_heap_alloc(sizeof *a->values * (size_t)n);
  s->names = ag_heap_grow(s->names, sizeof *s->names * (size_t)(s->n_name + n));
  for (int i = 0; i < n; i++) {
    ag_text name = {0};
    ag_text_str(&name, names[i]);
    a->names[i] = s->names[s->n_name++] = name.s;
    a->values[i] = guess[i];
  }
}

void ag_grid_done(ag_grid *s) {
  for (int i = 0; i < s->n_axis; i++) {
    ag_axis *a = &s->axes[i];
    for (int k = 0; k < a->n_name; k++) free(a->names[k]);
    free(a->names);
    free(a->values);
  }
  free(s->axes);
  free(s->names);
  ag_text_done(&s->table);
  *s = (ag_grid){0};
}

void ag_grid_values(const ag_grid *s, long member, double *values) {
  int at = s->n_name;
  for (int i = s->n_axis - 1; i >= 0; i--) {
    const ag_axis *a = &s->axes[i];
    at -= a->n_name;
    memcpy(values + at, a->values + member % a->n * a->n_name, sizeof *values * (size_t)a->n_name);
    member /= a->n;
  }
}
