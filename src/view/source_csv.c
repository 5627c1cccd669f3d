/* SPDX-License-Identifier: MIT
 * Tables as sources: comma-separated values with a header, as `run -o FILE.csv` writes them, or anyone else. "x[1]" and
 * "x[2]" side by side are one column. What is not a number (a text, an empty field) is NaN. A last line without its
 * newline is left out: it is what a killed run leaves. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "view/view_internal.h"

enum { MAX_GROUPS = 64 }; /* methods of one table */

/* The next field of a line, without its quotes; *line is moved behind it and NULL after the last. */
static void next_field(char **line, ag_text *out) {
  char *s = *line;
  ag_text_clear(out);
  bool quoted = *s == '"';
  if (quoted) s++;
  for (; *s; s++) {
    if (quoted && *s == '"' && s[1] == '"') s++;
    else if (quoted && *s == '"') {
      quoted = false;
      continue;
    } else if (!quoted && (*s == ',' || *s == '\n' || *s == '\r')) break;
    ag_text_char(out, *s);
  }
  *line = *s == ',' ? s + 1 : NULL;
}

/* A number of digits alone, from 1 on; 0: there is none, or it is too long for an index. */
static int read_index(const char *s, const char **end) {
  size_t n = strspn(s, "0123456789");
  *end = s + n;
  return n && n < 10 ? (int)strtol(s, NULL, 10) : 0;
}

/* The name of a column without the place of one of its numbers, "x" of "x[1]" and of "x[1]'"; how many indices it has.
 */
static int base_name(const char *name, ag_text *out, int *row, int *col) {
  const char *open = strrchr(name, '['), *end;
  ag_text_clear(out);
  if (!open || open == name) return 0;
  *row = read_index(open + 1, &end), *col = 1;
  int n = 1;
  if (*end == ',') *col = read_index(end + 1, &end), n = 2;
  if (*row < 1 || *col < 1 || *end != ']' || (end[1] && strcmp(end + 1, "'"))) return 0;
  ag_text_strn(out, name, (size_t)(open - name));
  ag_text_str(out, end + 1);
  return n;
}

/* Appends field i of the header, to the column before where it is its next number. */
static void add_field(ag_source *s, const char *name, int i) {
  ag_text base = {0};
  int row, col, n = base_name(name, &base, &row, &col);
  ag_column *last = s->n_column ? &s->columns[s->n_column - 1] : NULL;
  bool next = n && last && !strcmp(last->name, base.s) &&
              i - last->offset == (row - 1L) * (row > 1 ? last->cols : 1) + col - 1;
  if (n == 1) next = next && last->cols == 1;
  if (next && row > 1) last->rows = row;
  if (next && row == 1) last->cols = col;
  if (!next) {
    bool first = n && row == 1 && col == 1;
    s->columns[s->n_column++] = (ag_column){.kind = i ? AG_COL_OBSERVABLE : AG_COL_TIME,
                                            .name = ag_arena_str(s->arena, first ? base.s : name),
                                            .rows = 1,
                                            .cols = 1,
                                            .offset = i};
  }
  ag_text_done(&base);
}

/* Where the numbers of a column are not those of a matrix, they are side by side: a column has as many as the table. */
static void settle_shapes(ag_source *s, int n_field) {
  for (int k = 0; k < s->n_column; k++) {
    ag_column *c = &s->columns[k];
    int own = (k + 1 < s->n_column ? c[1].offset : n_field) - c->offset;
    if ((long)c->rows * c->cols != own) c->rows = own, c->cols = 1;
  }
}

/* Columns of batches that describe how a member ended, not its results. */
static bool is_count(const char *name) {
  static const char *const names[] = {"member", "crossing", "end", "steps", "rejected", "crossings"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (!strcmp(name, names[i])) return true;
  return false;
}

/* A table does not give the kinds of its columns. x is a coordinate where there is an x'. */
static void guess_kinds(ag_source *s) {
  const ag_record all = {.n_column = s->n_column, .columns = s->columns};
  for (int i = 0; i < s->n_column; i++) {
    ag_column *c = &s->columns[i];
    size_t n = strlen(c->name);
    int entry;
    char *rate = ag_arena_printf(s->arena, "%s'", c->name);
    if (!strcmp(c->name, "t")) c->kind = AG_COL_TIME;
    else if (!strcmp(c->name, "energy")) c->kind = AG_COL_ENERGY;
    else if (!strcmp(c->name, "constraint_residual")) c->kind = AG_COL_RESIDUAL;
    else if (n && c->name[n - 1] == '\'') c->kind = AG_COL_VELOCITY;
    else if (ag_record_find(&all, rate, &entry) || c->cols == 3) c->kind = AG_COL_COORD;
    else if (is_count(c->name)) c->kind = AG_COL_RESIDUAL;
    else if (c->kind == AG_COL_TIME) c->kind = AG_COL_OBSERVABLE;
  }
}

static bool has_column(const ag_source *s, const char *name) {
  for (int i = 0; i < s->n_column; i++)
    if (!strcmp(s->columns[i].name, name)) return true;
  return false;
}

/* member,SWEPT...,crossing,t,...: points of a section; SWEPT...,t,... one row per member; method,...,rhs,...,error
 * or method,...,dt,...,strong,...,weak: what `anagyre converge` measured. */
static void guess_kind(ag_source *s) {
  int time = 0;
  const bool work = has_column(s, "rhs") && has_column(s, "error"),
             orders = has_column(s, "dt") && has_column(s, "strong") && has_column(s, "weak");
  if (!strcmp(s->columns[0].name, "method") && (work || orders)) {
    s->kind = AG_SOURCE_CONVERGE;
    s->groups = AG_NEWN(s->arena, const char *, MAX_GROUPS);
    return;
  }
  while (time < s->n_column && s->columns[time].kind != AG_COL_TIME) time++;
  if (time == 0 || time == s->n_column) return;
  bool section = !strcmp(s->columns[0].name, "member");
  s->kind = section ? AG_SOURCE_SECTION : AG_SOURCE_BATCH;
  for (int i = 0; i < time; i++) s->swept[i] = !is_count(s->columns[i].name);
}

static bool read_header(ag_source *s, const ag_text *line) {
  char *at;
  ag_text name = {0};
  bool good = line->n > 0 && !memchr(line->s, 0, line->n);
  if (good) {
    int most = 1;
    for (at = line->s; *at; at++) most += *at == ',';
    s->columns = AG_NEWN(s->arena, ag_column, most);
    s->swept = AG_NEWN(s->arena, bool, most);
    at = line->s;
    if (!strncmp(at, "\xef\xbb\xbf", 3)) at += 3;
    int n = 0;
    for (; at; n++) {
      next_field(&at, &name);
      good = good && name.n && !strpbrk(ag_text_cstr(&name), "\n\r\t");
      if (good) add_field(s, name.s, n);
    }
    if (good) settle_shapes(s, n);
    char *end;
    good = good && (strtod(s->columns[0].name, &end), end == s->columns[0].name); /* a number is no name */
  }
  ag_text_done(&name);
  return good;
}

/* The number behind "NAME = " in a comment; 0: there is none that can be a tolerance. */
static double noted(const char *comment, const char *name) {
  const size_t n = strlen(name);
  for (const char *at = strstr(comment, name); at; at = strstr(at + 1, name)) {
    if (at > comment && at[-1] != ' ' && at[-1] != '#') continue;
    const char *after = at + n + strspn(at + n, " ");
    char *end;
    double v = *after == '=' ? strtod(after + 1, &end) : 0;
    if (v > 0 && v < 1) return v;
  }
  return 0;
}

/* The line with the names of the columns. Comments before it may say with which tolerances the table was made: "# rtol
 * = 1e-12, atol = 1e-12"; s may be NULL. False: there is no line. */
static bool first_line(ag_lines *f, ag_text *line, ag_source *s) {
  bool there = ag_lines_next(f, line);
  for (; there && line->s[0] == '#'; there = ag_lines_next(f, line)) {
    double rtol = noted(ag_text_cstr(line), "rtol"), atol = noted(ag_text_cstr(line), "atol");
    if (s && rtol > 0) s->rtol = rtol;
    if (s && atol > 0) s->atol = atol;
  }
  return there;
}

/* ---- rows ---- */

/* The place of the text before the first comma among the groups, appended where it is new; NaN: there are too many. */
static double group_of(ag_source *s, const char *line) {
  size_t n = strcspn(line, ",\n\r");
  for (int i = 0; i < s->n_group; i++)
    if (strlen(s->groups[i]) == n && !strncmp(s->groups[i], line, n)) return i;
  if (s->n_group == MAX_GROUPS) return NAN;
  s->groups[s->n_group] = ag_arena_printf(s->arena, "%.*s", (int)n, line);
  return s->n_group++;
}

/* The numbers of a line, NaN where a field is not one. Only those that are wanted are read: reading a number costs far
 * more than passing over it. */
static void read_line(char *line, int width, const bool *wanted, double *row, ag_text *field) {
  char *c = line;
  for (int i = 0; i < width; i++) {
    char *end = c;
    row[i] = NAN;
    if (!c) continue;
    if (*c != '"' && !wanted[i]) {
      end += strcspn(c, ",\n\r");
      c = *end == ',' ? end + 1 : NULL;
      continue;
    }
    double v = *c != '"' ? strtod(c, &end) : NAN;
    if (end != c && (*end == ',' || *end == '\n' || *end == '\r' || !*end))
      row[i] = v, c = *end == ',' ? end + 1 : NULL;
    else next_field(&c, field);
  }
}

static bool read_rows(ag_source *s, int n, const int *at, double **out, long *n_row, ag_text *trouble) {
  ag_lines *f = ag_lines_open(s->path);
  long most = 0;
  ag_text line = {0}, field = {0};
  if (!f) {
    ag_text_printf(trouble, "cannot read %s: %s", s->path, strerror(errno));
    return false;
  }
  const ag_column *last = &s->columns[s->n_column - 1];
  int width = last->offset + last->rows * last->cols;
  double *row = ag_heap_alloc(sizeof *row * (size_t)(width + 1));
  bool *wanted = ag_heap_alloc(sizeof *wanted * (size_t)(width + 1));
  for (int i = 0; i < n; i++) wanted[at[i]] = true;
  (void)first_line(f, &line, NULL);
  while (ag_lines_next(f, &line)) {
    if (line.s[0] == '\n' || line.s[0] == '\r') continue;
    s->cut = line.s[line.n - 1] != '\n'; /* written by a run that was killed: its last number may not be whole either */
    if (s->cut) {
      errno = 0;
      break;
    }
    read_line(line.s, width, wanted, row, &field);
    if (s->kind == AG_SOURCE_CONVERGE) row[0] = group_of(s, line.s);
    if (*n_row == most) {
      most = most ? 2 * most : 1024;
      for (int i = 0; i < n; i++) out[i] = ag_heap_grow(out[i], sizeof(double) * (size_t)most);
    }
    for (int i = 0; i < n; i++) out[i][*n_row] = row[at[i]];
    ++*n_row;
  }
  bool good = !errno;
  if (!good) ag_text_printf(trouble, "cannot read %s: %s", s->path, strerror(errno));
  ag_lines_close(f);
  ag_text_done(&line);
  free(row);
  free(wanted);
  ag_text_done(&field);
  return good;
}

ag_source *ag_source_csv(const char *path, ag_status *status, ag_text *trouble) {
  ag_lines *f = ag_lines_open(path);
  ag_text line = {0};
  ag_source *s = ag_source_create(path);
  bool there = f && (first_line(f, &line, s) || !errno);
  int error = errno;
  ag_lines_close(f);
  if (!there) {
    *status = AG_SYSTEM;
    ag_text_printf(trouble, "cannot read %s: %s", path, strerror(error));
    ag_text_done(&line);
    ag_source_free(s);
    return NULL;
  }
  s->read = read_rows;
  const char *other = memchr(ag_text_cstr(&line), ';', line.n)    ? "; they are separated by semicolons"
                      : memchr(ag_text_cstr(&line), '\t', line.n) ? "; they are separated by tabs"
                                                                  : "";
  bool good = read_header(s, &line);
  ag_text_done(&line);
  if (good && (s->n_column > 1 || !*other)) {
    guess_kinds(s);
    guess_kind(s);
    return s;
  }
  *status = AG_WRONG;
  ag_text_printf(trouble, "%s does not begin with a line of column names, separated by commas%s", path, other);
  ag_source_free(s);
  return NULL;
}
