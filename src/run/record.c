/* SPDX-License-Identifier: MIT
 * What is recorded of a state, and keeping it in memory. */
#include <stdlib.h>
#include <string.h>

#include "math/lie.h"
#include "run/run_internal.h"

static void add(ag_record *r, ag_column_kind kind, const char *name, int rows, int cols) {
  r->columns[r->n_column++] = (ag_column){kind, name, rows, cols, r->width};
  r->width += rows * cols;
}

void ag_record_init(ag_record *r, const ag_system *sys) {
  const ag_model *m = sys->model;
  *r = (ag_record){0};
  r->columns = ag_heap_alloc(sizeof *r->columns * (size_t)(2 * m->n_coords + m->n_observables + 3));
  add(r, AG_COL_TIME, "t", 1, 1);
  for (int i = 0; i < m->n_coords; i++)
    add(r, AG_COL_COORD, m->coords[i].name, m->coords[i].dim, m->coords[i].space == AG_SPACE_SO3 ? 3 : 1);
  for (int i = 0; i < m->n_coords; i++) add(r, AG_COL_VELOCITY, m->coords[i].velocity, m->coords[i].dim, 1);
  for (int i = 0; i < m->n_observables; i++)
    add(r, AG_COL_OBSERVABLE, m->observables[i].name, ag_node_rows(m->graph, m->observables[i].x),
        ag_node_cols(m->graph, m->observables[i].x));
  add(r, AG_COL_ENERGY, "energy", 1, 1);
  add(r, AG_COL_RESIDUAL, "constraint_residual", 1, 1);
}

void ag_record_done(ag_record *r) {
  free(r->columns);
  *r = (ag_record){0};
}

void ag_column_name(const ag_column *c, int entry, ag_text *out) {
  ag_text_str(out, c->name);
  if (c->cols > 1) ag_text_printf(out, "[%d,%d]", entry / c->cols + 1, entry % c->cols + 1);
  else if (c->rows > 1) ag_text_printf(out, "[%d]", entry + 1);
}

const ag_column *ag_record_find(const ag_record *r, const char *name, int *entry) {
  *entry = -1;
  for (int i = 0; i < r->n_column; i++)
    if (!strcmp(r->columns[i].name, name)) return &r->columns[i];
  const ag_column *found = NULL;
  ag_text text = {0};
  for (int i = 0; i < r->n_column && !found; i++)
    for (int k = 0; k < r->columns[i].rows * r->columns[i].cols && !found; k++) {
      ag_text_clear(&text);
      ag_column_name(&r->columns[i], k, &text);
      if (!strcmp(ag_text_cstr(&text), name)) found = &r->columns[i], *entry = k;
    }
  ag_text_done(&text);
  return found;
}

void ag_record_fill(const ag_system *sys, ag_work *w, double t, const double *x, double *out) {
  const ag_model *m = sys->model;
  int k = 0;
  out[k++] = t;
  for (int i = 0; i < m->n_coords; i++) {
    const ag_place *p = &sys->places[i];
    if (m->coords[i].space == AG_SPACE_SO3) {
      ag_lie_quat_matrix(x + p->q, out + k);
      k += 9;
    } else {
      memcpy(out + k, x + p->q, sizeof(double) * (size_t)p->n_q);
      k += p->n_q;
    }
  }
  memcpy(out + k, x + sys->n_q, sizeof(double) * (size_t)sys->n_xi);
  k += sys->n_xi;
  if (ag_system_role(sys, AG_ROLE_OBSERVE)) (void)ag_work_observe(w, t, x, out + k);
  k += sys->n_observe;
  out[k++] = ag_work_energy(w, t, x, NULL);
  out[k++] = ag_work_residual(w, t, x);
}

bool ag_series_row(void *self, const double *record) {
  ag_series *s = self;
  if (s->n == s->cap) {
    s->cap = s->cap ? 2 * s->cap : 256;
    s->data = ag_heap_grow(s->data, sizeof(double) * (size_t)s->cap * (size_t)s->width);
  }
  memcpy(s->data + s->n++ * s->width, record, sizeof(double) * (size_t)s->width);
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
