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

ag_start_plan *ag_start_plan_create(ag_system *sys) {
  const ag_model *m = sys->model;
  ag_graph *g = m->graph;
  size_t n_id = (size_t)(m->n_coords + m->n_starts + 1);
  ag_start_plan *p = ag_heap_alloc(sizeof *p);
  *p = (ag_start_plan){.n = m->n_starts};
  p->x = ag_heap_alloc(sizeof(ag_id) * n_id);
  p->at = ag_heap_alloc(sizeof(int) * n_id);
  p->late_at = ag_heap_alloc(sizeof(int) * n_id);
  p->own = ag_heap_alloc(sizeof(ag_tape *) * n_id);
  ag_id *q = ag_heap_alloc(sizeof(ag_id) * n_id), *outs = ag_heap_alloc(sizeof(ag_id) * n_id),
        *late = ag_heap_alloc(sizeof(ag_id) * n_id);
  bool *depends = ag_heap_alloc(n_id);
  int n = 0, size = 0, n_late = 0, late_size = 0;
  for (int i = 0; i < m->n_coords; i++) q[i] = m->coords[i].q;
  for (int i = 0; i < p->n; i++) p->x[i] = m->starts[i].x;
  ag_depends_each(g, p->n, p->x, m->n_coords, q, depends);
  for (int i = 0; i < p->n; i++) {
    int numbers = ag_node_rows(g, p->x[i]) * ag_node_cols(g, p->x[i]);
    p->at[i] = p->late_at[i] = -1;
    if (!depends[i]) p->at[i] = size, outs[n++] = p->x[i], size += numbers;
    else if (moves_velocity(&m->starts[i])) p->late_at[i] = late_size, late[n_late++] = p->x[i], late_size += numbers;
    else p->own[i] = ag_full_tape(sys, 1, &p->x[i]);
  }
  if (n) p->all = ag_full_tape(sys, n, outs);
  if (n_late) p->late = ag_full_tape(sys, n_late, late);
  free(q), free(outs), free(late), free(depends);
  return p;
}

void ag_start_plan_free(ag_start_plan *p) {
  if (!p) return;
  for (int i = 0; i < p->n; i++) ag_tape_free(p->own[i]);
  ag_tape_free(p->all);
  ag_tape_free(p->late);
  free(p->x), free(p->at), free(p->late_at), free(p->own), free(p);
}

/* Is it a plan for the start statements as they are now? */
static bool holds(const ag_start_plan *p, const ag_model *m) {
  bool same = p && p->n == m->n_starts;
  for (int i = 0; same && i < p->n; i++) same = p->x[i] == m->starts[i].x;
  return same;
}

void ag_start_values_init(ag_start_values *v, ag_system *sys, double t0, const double *params) {
  *v = (ag_start_values){.sys = sys, .t0 = t0, .params = params, .plan = sys->start_plan};
  if (!holds(v->plan, sys->model)) v->plan = v->made = ag_start_plan_create(sys);
  if (v->plan->all) v->all = tape_values(v, v->plan->all, NULL);
}

void ag_start_values_done(ag_start_values *v) {
  ag_start_plan_free(v->made);
  free(v->all);
  free(v->late);
}

/* Value of start statement i at the coordinates q; for a velocity these are final. */
void ag_start_value(ag_start_values *v, int i, const double *q, double *out) {
  const ag_start_plan *p = v->plan;
  ag_graph *g = v->sys->model->graph;
  int n = ag_node_rows(g, p->x[i]) * ag_node_cols(g, p->x[i]);
  if (p->late_at[i] >= 0 && !v->late) v->late = tape_values(v, p->late, q);
  double *own = p->own[i] ? tape_values(v, p->own[i], q) : NULL;
  const double *from = own ? own : p->at[i] >= 0 ? v->all + p->at[i] : v->late + p->late_at[i];
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
