/* SPDX-License-Identifier: MIT
 * The values of start statements, and messages that point at them. */
#include <string.h>

#include "mech/start_internal.h"

static bool moves_velocity(const ag_start *s) { return s->velocity || s->frame >= 0; }

static double *tape_values(const ag_start_values *v, const ag_tape *tape, const double *q) {
  const ag_system *sys = v->sys;
  double *z = ag_heap_alloc(sizeof(double) * (size_t)(sys->n.x + 1));
  double *out = ag_heap_alloc(sizeof(double) * (size_t)(tape->n_out + 1));
  if (q) memcpy(z, q, sizeof(double) * (size_t)sys->n.q);
  ag_tape_once(tape, v->t0, z, v->params, NULL, out);
  free(z);
  return out;
}

void ag_start_values_init(ag_start_values *v, ag_system *sys, double t0, const double *params) {
  ag_model *m = sys->model;
  ag_graph *g = m->graph;
  size_t n_id = (size_t)(m->n_coords + m->n_starts + 1);
  *v = (ag_start_values){.sys = sys, .t0 = t0, .params = params};
  v->at = ag_heap_alloc(sizeof(int) * n_id);
  v->late_at = ag_heap_alloc(sizeof(int) * n_id);
  ag_id *q = ag_heap_alloc(sizeof(ag_id) * n_id), *x = ag_heap_alloc(sizeof(ag_id) * n_id);
  ag_id *outs = ag_heap_alloc(sizeof(ag_id) * n_id), *late = ag_heap_alloc(sizeof(ag_id) * n_id);
  bool *depends = ag_heap_alloc(n_id);
  int n = 0, size = 0, n_late = 0, late_size = 0;
  for (int i = 0; i < m->n_coords; i++) q[i] = m->coords[i].q;
  for (int i = 0; i < m->n_starts; i++) x[i] = m->starts[i].x;
  ag_depends_each(g, m->n_starts, x, m->n_coords, q, depends);
  for (int i = 0; i < m->n_starts; i++) {
    int numbers = ag_node_rows(g, x[i]) * ag_node_cols(g, x[i]);
    v->at[i] = v->late_at[i] = -1;
    if (!depends[i]) v->at[i] = size, outs[n++] = x[i], size += numbers;
    else if (moves_velocity(&m->starts[i])) v->late_at[i] = late_size, late[n_late++] = x[i], late_size += numbers;
  }
  if (n) {
    ag_tape *tape = ag_full_tape(sys, n, outs);
    v->all = tape_values(v, tape, NULL);
    ag_tape_free(tape);
  }
  if (n_late) v->late_tape = ag_full_tape(sys, n_late, late);
  free(q), free(x), free(outs), free(late), free(depends);
}

void ag_start_values_done(ag_start_values *v) {
  ag_tape_free(v->late_tape);
  free(v->all);
  free(v->late);
  free(v->at);
  free(v->late_at);
}

/* Value of start statement i at the coordinates q; for a velocity these are final. */
void ag_start_value(ag_start_values *v, int i, const double *q, double *out) {
  ag_system *sys = v->sys;
  ag_id x = sys->model->starts[i].x;
  int n = ag_node_rows(sys->model->graph, x) * ag_node_cols(sys->model->graph, x);
  if (v->late_at[i] >= 0 && !v->late) v->late = tape_values(v, v->late_tape, q);
  const double *from = v->at[i] >= 0 ? v->all + v->at[i] : v->late_at[i] >= 0 ? v->late + v->late_at[i] : NULL;
  double *own = NULL;
  if (!from) {
    ag_tape *tape = ag_full_tape(sys, 1, &x);
    from = own = tape_values(v, tape, q);
    ag_tape_free(tape);
  }
  memcpy(out, from, sizeof(double) * (size_t)n);
  free(own);
}

const ag_origin *ag_start_origin(const ag_model *m, int i) { return i >= 0 && i < m->n_origins ? m->origins[i] : NULL; }

ag_pointer ag_point_at(ag_ctx *ctx, const ag_model *m, int i) {
  ag_pointer old = {ctx->file, ctx->source};
  const ag_origin *from = ag_start_origin(m, i);
  if (from) ctx->file = from->label, ctx->source = from->text;
  return old;
}

void ag_point_back(ag_ctx *ctx, ag_pointer old) {
  ctx->file = old.file;
  ctx->source = old.source;
}
