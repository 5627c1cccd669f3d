/* SPDX-License-Identifier: MIT
 * Columns by name: records that outlive their system, and the arrays that callers read. */
#include <stdlib.h>
#include <string.h>

#include "api/api_internal.h"

void ag_api_record_init(ag_record *r, const ag_system *sys) {
  ag_record_init(r, sys);
  for (int i = 0; i < r->n_column; i++) r->columns[i].name = ag_api_copy(r->columns[i].name);
}

void ag_api_record_done(ag_record *r) {
  for (int i = 0; i < r->n_column; i++) free((char *)r->columns[i].name);
  ag_record_done(r);
}

void ag_api_record_move(const ag_record *r, ag_heap *to) {
  for (int i = 0; i < r->n_column; i++) ag_heap_move((char *)r->columns[i].name, to);
  ag_heap_move(r->columns, to);
}

double *ag_api_columns(const ag_record *record, long n, const double *rows) {
  double *all = ag_heap_alloc(sizeof *all * (size_t)(n * record->width + 1));
  for (int k = 0; k < record->n_column; k++) {
    const ag_column *c = &record->columns[k];
    size_t size = (size_t)(c->rows * c->cols);
    double *to = all + n * c->offset;
    for (long i = 0; i < n; i++) memcpy(to + (size_t)i * size, rows + i * record->width + c->offset, sizeof *to * size);
  }
  return all;
}

anagyre_array ag_api_view(const ag_record *record, long n, const double *columns, const char *name) {
  int entry;
  const ag_column *c = ag_record_find(record, name, &entry);
  if (!c || !columns) return (anagyre_array){0};
  const double *data = columns + n * c->offset;
  if (entry >= 0) return (anagyre_array){data + entry, n, c->rows * c->cols, 1, 1};
  return (anagyre_array){data, n, c->rows * c->cols, c->rows, c->cols};
}
