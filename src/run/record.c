/* SPDX-License-Identifier: MIT
 * The record of a state, and keeping records in memory. */
#include <stdlib.h>
#include <string.h>

#include "math/lie.h"
#include "run/run_internal.h"

static void add(ag_record *r, ag_column_kind kind, const char *name, int rows, int cols, ag_id x) {
  r->columns[r->n_column++] = (ag_column){kind, name, rows, cols, r->width, x};
  r->width += rows * cols;
}

static void add_rows(ag_record *r, ag_column_kind kind, int n, const ag_layout_row *rows) {
  for (int i = 0; i < n; i++) add(r, kind, rows[i].name, rows[i].rows, rows[i].cols, rows[i].x);
}

void ag_record_init(ag_record *r, const ag_system *sys) {
  int n_q, n_xi, n_process, n_observe;
  const ag_layout_row *q = ag_layout_rows(sys, AG_LAYOUT_COORDINATE, &n_q);
  const ag_layout_row *xi = ag_layout_rows(sys, AG_LAYOUT_VELOCITY, &n_xi);
  const ag_layout_row *process = ag_layout_rows(sys, AG_LAYOUT_PROCESS, &n_process);
  const ag_layout_row *observe = ag_layout_rows(sys, AG_LAYOUT_OBSERVABLE, &n_observe);
  *r = (ag_record){.columns = ag_heap_alloc(sizeof *r->columns * (size_t)(n_q + n_xi + n_process + n_observe + 3))};
  add(r, AG_COL_TIME, "t", 1, 1, ag_model_time(ag_system_model(sys)));
  add_rows(r, AG_COL_COORD, n_q, q);
  add_rows(r, AG_COL_VELOCITY, n_xi, xi);
  add_rows(r, AG_COL_PROCESS, n_process, process);
  add_rows(r, AG_COL_OBSERVABLE, n_observe, observe);
  add(r, AG_COL_ENERGY, "energy", 1, 1, ag_system_energy(sys));
  add(r, AG_COL_RESIDUAL, "constraint_residual", 1, 1, 0);
}

void ag_record_done(ag_record *r) {
  free(r->columns);
  *r = (ag_record){0};
}

void ag_column_name(const ag_column *c, int entry, ag_text *out) {
  ag_entry_name(c->name, c->rows, c->cols, entry, out);
}

const ag_column *ag_record_find(const ag_record *r, const char *name, int *entry) {
  for (int i = 0; i < r->n_column; i++) {
    const ag_column *c = &r->columns[i];
    *entry = ag_entry_find(c->name, c->rows, c->cols, name);
    if (*entry >= -1) return c;
  }
  return NULL;
}

const double *ag_record_kind(const ag_record *r, const double *values, ag_column_kind kind) {
  for (int i = 0; i < r->n_column; i++)
    if (r->columns[i].kind == kind) return values + r->columns[i].offset;
  AG_ASSERT(r->n_column < 0); /* every record has the column asked for */
  return NULL;
}

void ag_record_fill(const ag_system *sys, ag_work *w, double t, const double *x, double *out) {
  int k = 0, n_coord;
  const ag_layout_row *q = ag_layout_rows(sys, AG_LAYOUT_COORDINATE, &n_coord);
  const ag_dims *n = ag_system_dims(sys);
  out[k++] = t;
  for (int i = 0; i < n_coord; k += q[i].rows * q[i].cols, i++) {
    if (q[i].factor == AG_SPACE_SO3) ag_lie_quat_matrix(x + q[i].at, out + k);
    else memcpy(out + k, x + q[i].at, sizeof(double) * (size_t)q[i].n);
  }
  memcpy(out + k, x + n->q, sizeof(double) * (size_t)n->xi);
  k += n->xi;
  memcpy(out + k, x + n->q - n->process, sizeof(double) * (size_t)n->process);
  k += n->process;
  if (n->observe) (void)ag_work_observe(w, t, x, out + k);
  k += n->observe;
  out[k++] = ag_work_energy(w, t, x, NULL);
  out[k++] = ag_work_residual(w, t, x);
}

bool ag_series_row(void *self, const double *record) {
  ag_series *s = self;
  if (s->n - s->first == s->cap) {
    s->cap = s->cap ? 2 * s->cap : 256;
    s->data = ag_heap_grow(s->data, sizeof(double) * (size_t)s->cap * (size_t)s->width);
  }
  memcpy(s->data + (s->n++ - s->first) * s->width, record, sizeof(double) * (size_t)s->width);
  return true;
}

void ag_series_done(ag_series *s) {
  free(s->data);
  *s = (ag_series){0};
}

const char *ag_end_word(ag_end end) {
  static const char *const words[] = {
#define X(NAME, word, code) word,
      AG_ENDS(X)
#undef X
  };
  return words[end];
}

ag_status ag_end_status(ag_end end) {
  static const ag_status codes[] = {
#define X(NAME, word, code) code,
      AG_ENDS(X)
#undef X
  };
  return codes[end];
}
