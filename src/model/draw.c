/* SPDX-License-Identifier: MIT
 * The table of what can be drawn. */
#include "model/draw.h"

#include <stdlib.h>

#include "model/parts.h"

const ag_draw_row *ag_draw_find(ag_draw_kind kind) {
  /* clang-format off */
  static const ag_draw_row rows[] = {
#define AG_DRAW(kind, what) {#kind, what, {
#define AG_DRAW_ARG(name, word, shape, needed) {#name, word, AG_DRAW_##shape, needed},
#define AG_DRAW_END }},
#include "model/draw.def"
  };
  /* clang-format on */
  return &rows[kind];
}

struct ag_picture {
  ag_aside *aside; /* NULL: the nodes are in the graph */
};

void ag_model_set_aside(ag_model *m, ag_aside *a) {
  m->picture = AG_NEW(m->arena, struct ag_picture);
  m->picture->aside = a;
  ag_aside_take(a, m->graph);
}

void ag_model_draw(const ag_model *m) {
  if (!m->picture || !m->picture->aside) return;
  int n = m->n_drawings * (AG_DRAW_ARGS + 1), k = 0;
  ag_id *roots = ag_heap_alloc(sizeof *roots * (size_t)(n + 1));
  for (int i = 0; i < m->n_drawings; i++) {
    for (int j = 0; j < AG_DRAW_ARGS; j++) roots[k++] = m->drawings[i]->args[j];
    roots[k++] = m->drawings[i]->rho;
  }
  ag_aside_return(m->picture->aside, m->graph, n, roots);
  k = 0;
  for (int i = 0; i < m->n_drawings; i++) {
    for (int j = 0; j < AG_DRAW_ARGS; j++) m->drawings[i]->args[j] = roots[k++];
    m->drawings[i]->rho = roots[k++];
  }
  free(roots);
  ag_draw_forget(m);
}

void ag_draw_forget(const ag_model *m) {
  if (!m->picture) return;
  ag_aside_free(m->picture->aside);
  m->picture->aside = NULL;
}
