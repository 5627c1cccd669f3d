/* SPDX-License-Identifier: MIT
 * What is in a log, and where: an index of its rows in the order of the file, times of events, members of a batch.
 * Nothing about the bytes is taken for granted: a frame that does not fit ends the log. */
#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "store/store_internal.h"

/* ---- reading frames ---- */

static void add_part(ag_log_content *c, long member, long first, long n, off_t at) {
  AG_PUSH(c->parts, c->n_part, c->cap_part);
  c->parts[c->n_part++] = (ag_log_part){.member = member, .first = first, .n = n, .at = at};
}

/* The fields of a batch say how many members there are, and how each ended. */
static bool begin_batch(ag_log_content *c) {
  if (c->n_member || strcmp(ag_fields_get_text(&c->fields, "@kind", ""), "batch")) return true;
  const ag_field *ends = ag_fields_find(&c->fields, "/members/end");
  if (!ends || ends->kind != AG_FIELD_TEXT || ends->rank != 1) return false;
  c->n_member = ends->dim[0];
  c->points = *ag_fields_get_text(&c->fields, "/options@section", "") != 0;
  c->n_point = ag_heap_alloc(sizeof *c->n_point * (size_t)(c->n_member + 1));
  c->ends = ag_heap_alloc(sizeof *c->ends * (size_t)(c->n_member + 1));
  return true;
}

/* No log of ours changes the layout of its rows: then nothing in it is believed. */
static bool take_fields(ag_log_content *c, const char *payload, size_t n) {
  int n_column, before = c->n_event, width = c->width;
  if (!ag_fields_decode(&c->fields, payload, n)) return false;
  if (!ag_fields_layout(&c->fields, &n_column, &c->width, &c->n_event) || (width && c->width != width) ||
      c->n_event < before) {
    c->width = 0;
    return false;
  }
  c->event_count = ag_heap_grow(c->event_count, sizeof(long) * (size_t)(c->n_event + 1));
  for (int i = before; i < c->n_event; i++) c->event_count[i] = 0;
  return begin_batch(c);
}

static bool take_rows(ag_log_content *c, size_t n, off_t at) {
  size_t size = sizeof(double) * (size_t)c->width;
  if (!c->width || c->n_member || n % size) return false;
  add_part(c, 0, c->n_row, (long)(n / size), at);
  c->n_row += (long)(n / size);
  return true;
}

static bool take_points(ag_log_content *c, const char *payload, size_t n, off_t at) {
  int64_t which[2];
  size_t size = sizeof(double) * (size_t)c->width;
  if (!c->width || !c->points || n < sizeof which || (n - sizeof which) % size) return false;
  memcpy(which, payload, sizeof which);
  if (which[0] < 0 || which[0] >= c->n_member || which[1] != c->n_point[which[0]]) return false;
  long rows = (long)((n - sizeof which) / size);
  add_part(c, which[0], which[1], rows, at + (off_t)sizeof which);
  c->n_point[which[0]] += rows;
  return true;
}

static bool take_member(ag_log_content *c, const char *payload, size_t n, off_t at) {
  ag_log_end end;
  size_t row = sizeof(double) * (size_t)c->width;
  if (!c->width || n < sizeof end + row + 1 || payload[n - 1]) return false;
  memcpy(&end, payload, sizeof end);
  if (end.member < 0 || end.member >= c->n_member || strlen(payload + sizeof end + row) + sizeof end + row + 1 != n)
    return false;
  c->ends[end.member] = at;
  return true;
}

static bool take_events(ag_log_content *c, const char *payload, size_t n, off_t at) {
  double pair[2];
  for (size_t i = 0; i + sizeof pair <= n; i += sizeof pair) {
    memcpy(pair, payload + i, sizeof pair);
    if (!(pair[0] >= 0 && pair[0] < c->n_event && pair[0] == (int)pair[0])) return false;
  }
  for (size_t i = 0; i + sizeof pair <= n; i += sizeof pair) {
    memcpy(pair, payload + i, sizeof pair);
    c->event_count[(int)pair[0]]++;
  }
  AG_PUSH(c->pairs, c->n_pairs, c->cap_pairs);
  c->pairs[c->n_pairs++] = (ag_log_part){.n = (long)(n / sizeof pair), .at = at};
  return true;
}

static bool take(void *self, int kind, const char *payload, size_t n, off_t at) {
  ag_log_content *c = self;
  switch (kind) {
  case AG_FRAME_FIELDS: return take_fields(c, payload, n);
  case AG_FRAME_ROWS: return take_rows(c, n, at);
  case AG_FRAME_POINTS: return take_points(c, payload, n, at);
  case AG_FRAME_MEMBER: return take_member(c, payload, n, at);
  case AG_FRAME_EVENTS: return take_events(c, payload, n, at);
  default: return true; /* of a later version */
  }
}

static int by_place(const void *a, const void *b) {
  const ag_log_part *x = a, *y = b;
  return x->member != y->member ? (x->member > y->member) - (x->member < y->member)
                                : (x->first > y->first) - (x->first < y->first);
}

void ag_log_read(int fd, ag_log_content *c) {
  *c = (ag_log_content){0};
  c->good = ag_log_scan(fd, take, c);
  if (c->good < 0) c->trouble = errno ? errno : EIO;
  for (long m = 0; m < c->n_member && !c->points; m++) /* a row for each member: its end */
    add_part(c, m, 0, 1, c->ends[m] ? c->ends[m] + (off_t)sizeof(ag_log_end) : -1);
  if (c->n_part) qsort(c->parts, (size_t)c->n_part, sizeof *c->parts, by_place);
  c->n_row = 0;
  for (int i = 0; i < c->n_part; i++) {
    c->parts[i].start = c->n_row;
    c->n_row += c->parts[i].n;
  }
}

void ag_log_content_done(ag_log_content *c) {
  ag_fields_done(&c->fields);
  free(c->event_count);
  free(c->parts);
  free(c->pairs);
  free(c->n_point);
  free(c->ends);
  *c = (ag_log_content){0};
}

/* ---- rows and times ---- */

bool ag_log_rows(int fd, const ag_log_content *c, long from, long n, double *rows) {
  int lo = 0, hi = c->n_part;
  while (hi - lo > 1) { /* the part that holds row `from` */
    int middle = lo + (hi - lo) / 2;
    if (c->parts[middle].start <= from) lo = middle;
    else hi = middle;
  }
  size_t size = sizeof(double) * (size_t)c->width;
  for (int i = lo; n > 0 && i < c->n_part; i++) {
    const ag_log_part *p = &c->parts[i];
    long skip = from - p->start, some = p->n - skip < n ? p->n - skip : n;
    size_t bytes = size * (size_t)some;
    if (some <= 0) continue;
    for (long k = 0; p->at < 0 && k < some * c->width; k++) rows[k] = NAN;
    if (p->at >= 0 && ag_file_read_at(fd, rows, bytes, p->at + (off_t)size * skip) != bytes) return false;
    rows += some * c->width;
    from += some;
    n -= some;
  }
  return n == 0;
}

bool ag_log_times(int fd, const ag_log_content *c, int event, long most, double *times) {
  enum { SOME = 512 };
  double pairs[2 * SOME];
  long found = 0;
  for (int i = 0; i < c->n_pairs; i++)
    for (long done = 0; done < c->pairs[i].n;) {
      long n = c->pairs[i].n - done < SOME ? c->pairs[i].n - done : SOME;
      size_t bytes = sizeof(double) * 2 * (size_t)n;
      if (ag_file_read_at(fd, pairs, bytes, c->pairs[i].at + 16 * (off_t)done) != bytes) return false;
      for (long k = 0; k < n; k++)
        if (pairs[2 * k] == event && found++ < most) *times++ = pairs[2 * k + 1];
      done += n;
    }
  return found == most; /* another process may have written to the log since they were counted */
}

/* ---- members ---- */

/* The data of a field with `size` bytes per member; NULL if it is not there. */
static void *data_of(const ag_log_content *c, const char *path, ag_field_kind kind, size_t size) {
  const ag_field *f = ag_fields_find(&c->fields, path);
  return f && f->kind == kind && f->size == size * (size_t)c->n_member ? f->data : NULL;
}

/* The row of a member goes to the columns below /members/final. */
static void put_final(ag_log_content *c, long member, const double *row) {
  for (int i = 0; i < c->fields.n; i++) {
    const ag_field *column = &c->fields.at[i];
    if (column->kind != AG_FIELD_COLUMN) continue;
    size_t size = sizeof(double) * (size_t)ag_field_length(column);
    ag_text path = {0};
    ag_text_printf(&path, "/members/final%s", column->path);
    char *data = data_of(c, path.s, AG_FIELD_NUMBER, size);
    if (data) memcpy(data + size * (size_t)member, row, size);
    row += ag_field_length(column);
    ag_text_done(&path);
  }
}

bool ag_log_members(int fd, ag_log_content *c) {
  if (!c->n_member) return true;
  const ag_field *old = ag_fields_find(&c->fields, "/members/end");
  if (!old || old->kind != AG_FIELD_TEXT || old->rank != 1 || old->dim[0] != c->n_member) return false;
  const char *before = old->data;
  double *t = data_of(c, "/members/t", AG_FIELD_NUMBER, sizeof *t);
  long *steps = data_of(c, "/members/steps", AG_FIELD_INTEGER, sizeof *steps);
  long *rejected = data_of(c, "/members/rejected", AG_FIELD_INTEGER, sizeof *rejected);
  long *crossings = data_of(c, "/members/crossings", AG_FIELD_INTEGER, sizeof *crossings);
  size_t row = sizeof(double) * (size_t)c->width;
  double *values = ag_heap_alloc(row + 1);
  ag_text ends = {0};
  bool good = true;
  for (long m = 0; m < c->n_member && good; m++, before += strlen(before) + 1) {
    ag_log_end end;
    char word[256] = "";
    if (crossings) crossings[m] = c->n_point[m];
    off_t at = c->ends[m];
    if (at) {
      good = ag_file_read_at(fd, &end, sizeof end, at) == sizeof end &&
             ag_file_read_at(fd, values, row, at + (off_t)sizeof end) == row &&
             ag_file_read_at(fd, word, sizeof word - 1, at + (off_t)(sizeof end + row)) > 0;
      if (t) t[m] = end.t;
      if (steps) steps[m] = end.steps;
      if (rejected) rejected[m] = end.rejected;
      if (c->points) put_final(c, m, values);
    }
    const char *how = at ? word : before;
    ag_text_strn(&ends, how, strlen(how) + 1);
  }
  if (good)
    ag_fields_put(&c->fields, "/members/end", AG_FIELD_TEXT, 1, &(long){c->n_member}, ends.n, ag_text_cstr(&ends));
  free(values);
  ag_text_done(&ends);
  return good;
}
