/* SPDX-License-Identifier: MIT
 * Lists of fields in memory, and their encoding in the log. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "store/store_internal.h"

/* Numbers of a row; values of a field that has them with it. */
static const int64_t WIDEST = 1 << 24, MOST = (int64_t)1 << 40;

static void field_done(ag_field *field) {
  free(field->path);
  free(field->data);
}

void ag_fields_done(ag_fields *fields) {
  for (int i = 0; i < fields->n; i++) field_done(&fields->at[i]);
  free(fields->at);
  *fields = (ag_fields){0};
}

static ag_field make(const char *path, ag_field_kind kind, int rank, const long *dim, size_t size, const void *data) {
  ag_field field = {.kind = kind, .rank = rank, .size = size};
  for (int i = 0; i < rank; i++) field.dim[i] = dim[i];
  field.path = ag_heap_alloc(strlen(path) + 1);
  strcpy(field.path, path);
  field.data = ag_heap_alloc(size + 1);
  if (size) memcpy(field.data, data, size);
  return field;
}

ag_field *ag_fields_add(ag_fields *fields, const char *path, ag_field_kind kind, int rank, const long *dim, size_t size,
                        const void *data) {
  AG_PUSH(fields->at, fields->n, fields->cap);
  fields->at[fields->n] = make(path, kind, rank, dim, size, data);
  return &fields->at[fields->n++];
}

const ag_field *ag_fields_find(const ag_fields *fields, const char *path) {
  for (int i = 0; i < fields->n; i++)
    if (!strcmp(fields->at[i].path, path)) return &fields->at[i];
  return NULL;
}

ag_field *ag_fields_put(ag_fields *fields, const char *path, ag_field_kind kind, int rank, const long *dim, size_t size,
                        const void *data) {
  for (int i = 0; i < fields->n; i++) {
    ag_field *old = &fields->at[i];
    if (strcmp(old->path, path)) continue;
    ag_field field = make(path, kind, rank, dim, size, data);
    field_done(old);
    *old = field;
    return old;
  }
  return ag_fields_add(fields, path, kind, rank, dim, size, data);
}

void ag_fields_number(ag_fields *fields, const char *path, double v) {
  ag_fields_put(fields, path, AG_FIELD_NUMBER, 0, NULL, sizeof v, &v);
}

void ag_fields_integer(ag_fields *fields, const char *path, long v) {
  ag_fields_put(fields, path, AG_FIELD_INTEGER, 0, NULL, sizeof v, &v);
}

void ag_fields_text(ag_fields *fields, const char *path, const char *s) {
  ag_fields_put(fields, path, AG_FIELD_TEXT, 0, NULL, strlen(s) + 1, s);
}

void ag_fields_texts(ag_fields *fields, const char *path, int n, const char *const *s) {
  ag_text all = {0};
  for (int i = 0; i < n; i++) ag_text_strn(&all, s[i], strlen(s[i]) + 1);
  ag_fields_put(fields, path, AG_FIELD_TEXT, 1, &(long){n}, all.n, all.s);
  ag_text_done(&all);
}

void ag_fields_vector(ag_fields *fields, const char *path, int n, const double *v) {
  ag_fields_put(fields, path, AG_FIELD_NUMBER, 1, &(long){n}, sizeof *v * (size_t)n, v);
}

void ag_fields_integers(ag_fields *fields, const char *path, long n, const long *v) {
  ag_fields_put(fields, path, AG_FIELD_INTEGER, 1, &n, sizeof *v * (size_t)n, v);
}

void ag_fields_drop(ag_fields *fields, const char *prefix) {
  ag_fields_put(fields, prefix, AG_FIELD_DROP, 0, NULL, 0, NULL);
}

double ag_fields_get_number(const ag_fields *fields, const char *path, double otherwise) {
  const ag_field *field = ag_fields_find(fields, path);
  return field && field->kind == AG_FIELD_NUMBER && field->size == sizeof(double) ? *(const double *)field->data
                                                                                  : otherwise;
}

long ag_fields_get_integer(const ag_fields *fields, const char *path, long otherwise) {
  const ag_field *field = ag_fields_find(fields, path);
  return field && field->kind == AG_FIELD_INTEGER && field->size == sizeof(long) ? *(const long *)field->data
                                                                                 : otherwise;
}

const char *ag_fields_get_text(const ag_fields *fields, const char *path, const char *otherwise) {
  const ag_field *field = ag_fields_find(fields, path);
  return field && field->kind == AG_FIELD_TEXT && field->rank == 0 && field->size ? field->data : otherwise;
}

static void drop_prefix(ag_fields *fields, const char *prefix) {
  int n = 0;
  for (int i = 0; i < fields->n; i++) {
    if (strncmp(fields->at[i].path, prefix, strlen(prefix))) fields->at[n++] = fields->at[i];
    else field_done(&fields->at[i]);
  }
  fields->n = n;
}

void ag_fields_merge(ag_fields *fields, const ag_fields *changes) {
  bool empty = fields->n == 0;
  for (int i = 0; i < changes->n; i++) {
    const ag_field *c = &changes->at[i];
    if (c->kind == AG_FIELD_DROP) drop_prefix(fields, c->path);
    else (empty ? ag_fields_add : ag_fields_put)(fields, c->path, c->kind, c->rank, c->dim, c->size, c->data);
  }
}

long ag_field_length(const ag_field *field) {
  long n = 1;
  for (int i = 0; i < field->rank; i++) n *= field->dim[i];
  return n;
}

bool ag_fields_layout(const ag_fields *fields, int *n_column, int *width, int *n_event) {
  long sum = 0;
  *n_column = *width = *n_event = 0;
  for (int i = 0; i < fields->n; i++) {
    if (fields->at[i].kind == AG_FIELD_COLUMN) ++*n_column, sum += ag_field_length(&fields->at[i]);
    if (fields->at[i].kind == AG_FIELD_TIMES) ++*n_event;
    if (sum > WIDEST) return false;
  }
  *width = (int)sum;
  return true;
}

typedef struct head {
  uint32_t path, kind, rank, unused;
  int64_t dim[3];
  uint64_t size;
} head;

void ag_fields_encode(const ag_fields *fields, ag_text *bytes) {
  for (int i = 0; i < fields->n; i++) {
    const ag_field *field = &fields->at[i];
    head h = {(uint32_t)strlen(field->path),
              (uint32_t)field->kind,
              (uint32_t)field->rank,
              0,
              {field->dim[0], field->dim[1], field->dim[2]},
              field->size};
    ag_text_strn(bytes, (const char *)&h, sizeof h);
    ag_text_strn(bytes, field->path, h.path);
    ag_text_strn(bytes, field->data, field->size);
  }
}

/* Do kind, shape and size of a field agree? Only its first side may be empty: whoever looks at two of three sides finds
 * as many values as they say. */
static bool sound(const head *h, const char *data) {
  if (h->kind > AG_FIELD_TIMES || h->rank > (h->kind == AG_FIELD_COLUMN ? 2 : 3)) return false;
  int64_t n = 1, most = h->kind == AG_FIELD_COLUMN || h->kind == AG_FIELD_TIMES ? WIDEST : MOST;
  for (uint32_t i = 0; i < h->rank; i++) {
    if (h->dim[i] < 0 || (i && !h->dim[i]) || (h->dim[i] && n > most / h->dim[i])) return false;
    n *= h->dim[i];
  }
  uint64_t texts = 0;
  switch ((ag_field_kind)h->kind) {
  case AG_FIELD_NUMBER: return h->size == sizeof(double) * (uint64_t)n;
  case AG_FIELD_INTEGER: return h->size == sizeof(long) * (uint64_t)n;
  case AG_FIELD_COLUMN: return h->size == 0 && n > 0;
  case AG_FIELD_TEXT:
    for (uint64_t i = 0; i < h->size; i++) texts += !data[i];
    return texts == (uint64_t)n && (!h->size || !data[h->size - 1]);
  default: return h->size == 0;
  }
}

/* The head of the field that begins at byte *at, which becomes where its path begins; false: it does not fit. */
static bool next(const char *bytes, size_t n, size_t *at, head *h) {
  if (n - *at < sizeof *h) return false;
  memcpy(h, bytes + *at, sizeof *h);
  *at += sizeof *h;
  return n - *at >= h->path && n - *at - h->path >= h->size && sound(h, bytes + *at + h->path);
}

bool ag_fields_decode(ag_fields *fields, const char *bytes, size_t n) {
  bool empty = fields->n == 0;
  head h;
  for (size_t at = 0; at < n; at += h.path + h.size)
    if (!next(bytes, n, &at, &h)) return false;
  for (size_t at = 0; at < n;) {
    ag_text path = {0};
    (void)next(bytes, n, &at, &h);
    ag_text_strn(&path, bytes + at, h.path);
    long dim[3] = {h.dim[0], h.dim[1], h.dim[2]};
    if (h.kind == AG_FIELD_DROP) drop_prefix(fields, path.s);
    else
      (empty ? ag_fields_add : ag_fields_put)(fields, path.s, (ag_field_kind)h.kind, (int)h.rank, dim, h.size,
                                              bytes + at + h.path);
    ag_text_done(&path);
    at += h.path + h.size;
  }
  return true;
}
