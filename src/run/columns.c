/* SPDX-License-Identifier: MIT
 * Which columns of a record follow from the core of a motion alone, and computing them. A rotation that the core knows
 * only through images R^T c is replaced by them; whatever still reads a reconstructed coordinate needs the rest. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "run/batch.h"

/* Nodes replaced by others. */
typedef struct rules {
  int n;
  ag_id *from, *to;
} rules;

static void add_rule(rules *r, ag_id from, ag_id to) {
  if (from == to) return;
  r->from[r->n] = from;
  r->to[r->n++] = to;
}

/* Row i of the identity: then R[i,j] = (R^T e_i)[j]. */
static int unit_row(ag_graph *g, ag_id c) {
  double v[3];
  if (!ag_constant(g, c, v)) return -1;
  for (int i = 0; i < 3; i++)
    if (v[i] == 1 && v[(i + 1) % 3] == 0 && v[(i + 2) % 3] == 0) return i;
  return -1;
}

static void add_images(const ag_system *sys, rules *r) {
  ag_graph *g = sys->model->graph;
  for (int i = 0; i < sys->n_image; i++) {
    const ag_image *im = &sys->images[i];
    ag_id R = sys->model->coords[im->coord].q;
    int row = unit_row(g, im->c);
    add_rule(r, ag_mul(g, ag_transpose(g, R), im->c), im->input);
    for (int j = 0; row >= 0 && j < 3; j++) {
      ag_id entry = ag_entry(g, R, row, j), component = ag_entry(g, im->input, j, 0);
      add_rule(r, entry, component);
    }
  }
}

/* Built-in names and velocities as functions of coordinates and independent velocities. */
static void reduce(const ag_system *sys, int n_out, ag_id *outs) {
  ag_model *m = sys->model;
  rules r = {0};
  size_t room = (size_t)(m->n_coords + m->n_frames + 4 * sys->n_image + 2);
  r.from = ag_heap_alloc(sizeof(ag_id) * room);
  r.to = ag_heap_alloc(sizeof(ag_id) * room);
  if (m->energy) add_rule(&r, m->energy, sys->energy);
  for (int i = 0; i < m->n_frames; i++)
    if (sys->elimination != AG_ELIM_FRAME) add_rule(&r, m->frame_inputs[i], m->frames[i].x);
  if (r.n) ag_substitute(m->graph, r.n, r.from, r.to, n_out, outs);
  r.n = 0;
  for (int i = 0; i < m->n_coords; i++) add_rule(&r, m->coords[i].xi, sys->xi_of_u[i]);
  if (r.n) ag_substitute(m->graph, r.n, r.from, r.to, n_out, outs);
  r.n = 0;
  add_images(sys, &r);
  if (r.n) ag_substitute(m->graph, r.n, r.from, r.to, n_out, outs);
  free(r.from);
  free(r.to);
}

static ag_tape *tape_of(const ag_system *sys, int n_out, const ag_id *outs) {
  ag_model *m = sys->model;
  ag_bind *binds =
      ag_heap_alloc(sizeof *binds * (size_t)(1 + m->n_params + m->n_coords + sys->n_image + sys->n_u_input));
  int k = 0, at = sys->n_q;
  binds[k++] = (ag_bind){m->t, AG_SEG_T, 0};
  for (int i = 0; i < m->n_params; i++)
    if (sys->param_offset[i] >= 0) binds[k++] = (ag_bind){m->params[i].input, AG_SEG_P, sys->param_offset[i]};
  for (int i = 0; i < m->n_coords; i++) binds[k++] = (ag_bind){m->coords[i].q, AG_SEG_Z, sys->places[i].q};
  for (int i = 0; i < sys->n_image; i++, at += 3) binds[k++] = (ag_bind){sys->images[i].input, AG_SEG_Z, at};
  for (int i = 0; i < sys->n_u_input; i++) {
    binds[k++] = (ag_bind){sys->u_inputs[i], AG_SEG_Z, at};
    at += ag_node_rows(m->graph, sys->u_inputs[i]);
  }
  ag_tape *tape = ag_tape_create(m->graph, k, binds, n_out, outs);
  free(binds);
  return tape;
}

static bool reads_rest(const ag_system *sys, const ag_tape *tape) {
  for (int i = 0; i < tape->n_instr; i++) {
    const ag_instr *in = &tape->instr[i];
    if (in->op != AG_OP_LOAD || in->a != AG_SEG_Z || (int)in->b >= sys->n_q) continue;
    if (sys->q_in_z[in->b] >= sys->n_core) return true;
  }
  return false;
}

/* A tape on [q | images | u] becomes one on z. */
static void onto_z(const ag_system *sys, ag_tape *tape) {
  for (int i = 0; i < tape->n_instr; i++) {
    ag_instr *in = &tape->instr[i];
    if (in->op != AG_OP_LOAD || in->a != AG_SEG_Z) continue;
    int k = (int)in->b - sys->n_q, j = k - 3 * sys->n_image;
    in->b = (uint32_t)(k < 0 ? sys->q_in_z[in->b] : j < 0 ? sys->images[k / 3].z + k % 3 : sys->u_in_z + j);
  }
  tape->n_need[AG_SEG_Z] = sys->n_z;
}

bool ag_watch_init(ag_watch *w, const ag_system *sys, const ag_run_options *o) {
  const ag_model *m = sys->model;
  int n_events = o->events && ag_system_role(sys, AG_ROLE_EVENTS) ? m->n_events : 0;
  *w = (ag_watch){.n = n_events + (o->section > 0), .first = m->n_events - n_events};
  if (!w->n) return true;
  ag_id *outs = ag_heap_alloc(sizeof *outs * (size_t)w->n);
  w->way = ag_heap_alloc(sizeof *w->way * (size_t)w->n);
  for (int i = 0; i < w->n; i++) {
    const ag_event *e = ag_run_event(sys, o, w->first + i);
    outs[i] = e->x;
    w->way[i] = e->direction;
  }
  reduce(sys, w->n, outs);
  if (!ag_model_has_force(m, w->n, outs)) w->tape = tape_of(sys, w->n, outs);
  free(outs);
  if (!w->tape) return false;
  w->reads_rest = reads_rest(sys, w->tape);
  onto_z(sys, w->tape);
  return true;
}

void ag_watch_done(ag_watch *w) {
  ag_tape_free(w->tape);
  free(w->way);
  *w = (ag_watch){0};
}

ag_tape *ag_run_watch(const ag_system *sys, const ag_run_options *o) {
  ag_watch w = {0};
  if (sys->n_c || sys->n_g || sys->n_fragile || o->multipliers || sys->elimination == AG_ELIM_SADDLE) return NULL;
  for (int i = 0; o->events && i < sys->model->n_events; i++)
    if (sys->model->events[i].cuts) return NULL;
  bool good = ag_watch_init(&w, sys, o);
  ag_tape *tape = good ? w.tape : NULL;
  if (good) w.tape = NULL;
  ag_watch_done(&w);
  return tape;
}

/* The expressions of the wanted columns; -1 when one of them has none. */
static int expressions(const ag_record *record, const ag_system *sys, const bool *wanted, ag_id *outs, int *at) {
  const ag_model *m = sys->model;
  int n = 0, n_at = 0, count[AG_COL_RESIDUAL + 1] = {0};
  for (int i = 0; i < record->n_column; i++) {
    const ag_column *c = &record->columns[i];
    int which = count[c->kind]++;
    if (!wanted[i]) continue;
    switch (c->kind) {
    case AG_COL_TIME: outs[n++] = m->t; break;
    case AG_COL_COORD: outs[n++] = m->coords[which].q; break;
    case AG_COL_VELOCITY: outs[n++] = m->coords[which].xi; break;
    case AG_COL_OBSERVABLE: outs[n++] = m->observables[which].x; break;
    case AG_COL_ENERGY: outs[n++] = sys->energy; break;
    case AG_COL_RESIDUAL: return -1;
    }
    for (int k = 0; k < c->rows * c->cols; k++) at[n_at++] = c->offset + k;
  }
  return n;
}

bool ag_core_columns_init(ag_core_columns *c, const ag_system *sys, const bool *wanted) {
  ag_record record;
  *c = (ag_core_columns){0};
  if (!wanted || sys->n_core == sys->n_z || sys->n_c || sys->n_g) return false;
  const ag_tape *minor = ag_system_role(sys, AG_ROLE_MINOR);
  if (minor && reads_rest(sys, minor)) return false; /* they are watched */
  ag_record_init(&record, sys);
  ag_id *outs = ag_heap_alloc(sizeof *outs * (size_t)(record.n_column + 1));
  c->at = ag_heap_alloc(sizeof *c->at * (size_t)record.width);
  int n = expressions(&record, sys, wanted, outs, c->at);
  if (n >= 0) reduce(sys, n, outs);
  if (n >= 0 && !ag_model_has_force(sys->model, n, outs)) c->tape = tape_of(sys, n, outs);
  free(outs);
  ag_record_done(&record);
  if (c->tape && !reads_rest(sys, c->tape)) return true;
  ag_core_columns_done(c);
  return false;
}

void ag_core_columns_done(ag_core_columns *c) {
  ag_tape_free(c->tape);
  free(c->at);
  *c = (ag_core_columns){0};
}

void ag_core_columns_fill(const ag_core_columns *c, const ag_system *sys, double t, const double *z,
                          const double *params, double *slots, double *y, double *out, double *record) {
  int at = sys->n_q;
  for (int i = 0; i < sys->n_q; i++) y[i] = sys->q_in_z[i] < sys->n_core ? z[sys->q_in_z[i]] : NAN;
  for (int i = 0; i < sys->n_image; i++, at += 3) memcpy(y + at, z + sys->images[i].z, 3 * sizeof(double));
  memcpy(y + at, z + sys->u_in_z, sizeof(double) * (size_t)sys->n_u);
  const double *seg[AG_SEG_COUNT] = {[AG_SEG_T] = &t, [AG_SEG_Z] = y, [AG_SEG_P] = params};
  (void)ag_tape_prep(c->tape, params, slots);
  (void)ag_tape_eval(c->tape, seg, slots, out);
  for (int i = 0; i < c->tape->n_out; i++) record[c->at[i]] = out[i];
}
