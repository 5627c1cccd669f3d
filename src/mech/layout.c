/* SPDX-License-Identifier: MIT
 * The layout: one row per named quantity of a system, and the names of its numbers. */
#include <stdio.h>
#include <string.h>

#include "mech/mech_internal.h"

/* ---- the table ---- */

/* Adds a row of n numbers at the current offsets, and advances them. */
static void add_row(ag_system *sys, ag_layout_row row, int *at, int *tangent) {
  row.at = row.n ? *at : -1;
  row.tangent = row.n_tangent ? *tangent : -1;
  *at += row.n;
  if (tangent) *tangent += row.n_tangent;
  sys->layout[sys->kinds[row.kind].at + sys->kinds[row.kind].n++] = row;
}

/* A row in the shape of an expression. */
static ag_layout_row shaped(const ag_graph *g, ag_layout_kind kind, const char *name, ag_id x) {
  int rows = ag_node_rows(g, x), cols = ag_node_cols(g, x);
  return (ag_layout_row){.kind = kind, .name = name, .rows = rows, .cols = cols, .n = rows * cols, .x = x};
}

static void state_rows(ag_system *sys) {
  const ag_model *m = sys->model;
  int at = 0, tangent = 0;
  for (int i = 0; i < m->n_coords; i++) {
    const ag_coord *c = &m->coords[i];
    bool rotation = c->space == AG_SPACE_SO3;
    add_row(sys,
            (ag_layout_row){.kind = AG_LAYOUT_COORDINATE,
                            .name = c->name,
                            .factor = c->space,
                            .rows = c->dim,
                            .cols = rotation ? 3 : 1,
                            .n = rotation ? 4 : c->dim,
                            .n_tangent = c->dim,
                            .x = c->q},
            &at, &tangent);
  }
  int process_at = at;
  sys->n.process = m->n_processes;
  sys->n.q = at += m->n_processes;
  for (int i = 0; i < m->n_coords; i++) {
    ag_layout_row row = shaped(m->graph, AG_LAYOUT_VELOCITY, m->coords[i].velocity, m->coords[i].xi);
    row.n_tangent = row.n;
    add_row(sys, row, &at, &tangent);
  }
  sys->n.xi = at - sys->n.q;
  sys->n.x = at;
  for (int i = 0; i < m->n_processes; i++) {
    ag_layout_row row = shaped(m->graph, AG_LAYOUT_PROCESS, m->processes[i].name, m->processes[i].x);
    row.n_tangent = 1;
    add_row(sys, row, &process_at, &tangent);
  }
}

static void parameter_rows(ag_system *sys) {
  const ag_model *m = sys->model;
  for (int i = 0; i < m->n_params; i++) {
    const ag_param *p = &m->params[i];
    ag_layout_row row = {.kind = AG_LAYOUT_PARAMETER, .name = p->name, .rows = 1, .cols = 1};
    if (p->input) {
      row = shaped(m->graph, AG_LAYOUT_PARAMETER, p->name, p->input);
      row.n = ag_input_storage(m->graph, p->input);
    }
    add_row(sys, row, &sys->n.param, NULL);
  }
}

void ag_layout(derive *d) {
  ag_system *sys = d->sys;
  ag_model *m = d->m;
  const int count[AG_LAYOUT_KINDS] = {[AG_LAYOUT_COORDINATE] = m->n_coords, [AG_LAYOUT_VELOCITY] = m->n_coords,
                                      [AG_LAYOUT_PROCESS] = m->n_processes, [AG_LAYOUT_FRAME] = m->n_frames,
                                      [AG_LAYOUT_PARAMETER] = m->n_params,  [AG_LAYOUT_OBSERVABLE] = m->n_observables,
                                      [AG_LAYOUT_NOISE] = m->n_channels};
  int n = 0, n_frame = 0;
  for (int i = 0; i < AG_LAYOUT_KINDS; i++) sys->kinds[i].at = n, n += count[i];
  sys->layout = AG_NEWN(sys->arena, ag_layout_row, n + 1);
  state_rows(sys);
  for (int i = 0; i < m->n_frames; i++)
    add_row(sys, shaped(d->g, AG_LAYOUT_FRAME, m->frames[i].name, m->frames[i].x), &n_frame, NULL);
  parameter_rows(sys);
  for (int i = 0; i < m->n_observables; i++)
    add_row(sys, shaped(d->g, AG_LAYOUT_OBSERVABLE, m->observables[i].name, m->observables[i].x), &sys->n.observe,
            NULL);
  for (int i = 0; i < m->n_channels; i++)
    add_row(sys, (ag_layout_row){.kind = AG_LAYOUT_NOISE, .name = m->channels[i].name, .rows = 1, .cols = 1, .n = 1},
            &sys->n.channel, NULL);
  sys->n.w = sys->n.channel ? 1 + sys->n.channel + sys->n.channel * (sys->n.channel - 1) / 2 : 0;
  sys->coords = sys->layout + sys->kinds[AG_LAYOUT_COORDINATE].at;
  sys->processes = sys->layout + sys->kinds[AG_LAYOUT_PROCESS].at;
  sys->param_rows = sys->layout + sys->kinds[AG_LAYOUT_PARAMETER].at;
  d->q = AG_NEWN(sys->arena, ag_id, m->n_coords);
  d->xi = AG_NEWN(sys->arena, ag_id, m->n_coords);
  d->nc = m->n_coords;
  for (int i = 0; i < m->n_coords; i++) d->q[i] = m->coords[i].q, d->xi[i] = m->coords[i].xi;
  sys->params = AG_NEWN(sys->arena, double, sys->n.param);
}

const ag_layout_row *ag_layout_rows(const ag_system *sys, ag_layout_kind kind, int *n) {
  *n = sys->kinds[kind].n;
  return sys->layout + sys->kinds[kind].at;
}

const ag_layout_row *ag_layout_item(const ag_system *sys, ag_layout_kind kind, int i) {
  return &sys->layout[sys->kinds[kind].at + i];
}

const ag_layout_row *ag_layout_find(const ag_system *sys, const char *name, int *entry) {
  int n = 0;
  for (int i = 0; i < AG_LAYOUT_KINDS; i++) n += sys->kinds[i].n;
  for (int i = 0; i < n; i++) {
    const ag_layout_row *row = &sys->layout[i];
    if (row->kind == AG_LAYOUT_NOISE) continue; /* a separate namespace */
    *entry = ag_entry_find(row->name, row->rows, row->cols, name);
    if (*entry >= -1) return row;
  }
  return NULL;
}

/* ---- names ---- */

void ag_stored_name(const ag_layout_row *row, int k, ag_text *out) {
  bool rotation = row->kind == AG_LAYOUT_COORDINATE && row->factor == AG_SPACE_SO3;
  if (rotation) ag_text_printf(out, "%s as a quaternion: %c", row->name, "wxyz"[k]);
  else ag_entry_name(row->name, row->rows, row->cols, k, out);
}

void ag_reduced_name(const ag_system *sys, int k, ag_text *out) {
  if (k >= sys->n.u_at && k < sys->n.u_at + sys->n.u) ag_text_str(out, sys->u_names[k - sys->n.u_at]);
  for (int i = 0; i < sys->n_image; i++) {
    const ag_image *image = &sys->images[i];
    if (k < image->z || k >= image->z + 3) continue;
    ag_text_printf(out, "(%s^T*", sys->model->coords[image->coord].name);
    ag_print(sys->model->graph, image->c, out);
    ag_text_printf(out, ")[%d]", k - image->z + 1);
  }
  for (int i = 0; i < sys->model->n_coords; i++)
    for (int j = 0; j < sys->coords[i].n; j++)
      if (sys->q_in_z[sys->coords[i].at + j] == k) ag_stored_name(&sys->coords[i], j, out);
  for (int i = 0; i < sys->n.process; i++)
    if (sys->q_in_z[sys->processes[i].at] == k) ag_text_str(out, sys->processes[i].name);
}

/* A frame that is a velocity of the model, under another name. */
static int frame_at(const ag_system *sys, int k) {
  const ag_model *m = sys->model;
  for (int i = 0; i < m->n_frames; i++) {
    const ag_layout_row *row = ag_layout_item(sys, AG_LAYOUT_FRAME, i);
    for (int c = 0; c < m->n_coords && k >= row->at && k < row->at + row->n; c++)
      if (m->coords[c].xi == row->x) return ag_layout_item(sys, AG_LAYOUT_VELOCITY, c)->at + k - row->at;
  }
  return -1;
}

int ag_reduced_at(const ag_system *sys, int k) {
  for (int i = 0; i < sys->n.q; i++)
    if (sys->q_in_z[i] == k) return i;
  int u = k - sys->n.u_at, entry;
  if (u < 0 || u >= sys->n.u) return -1;
  if (sys->model->n_frames && sys->elimination != AG_ELIM_SADDLE) return frame_at(sys, u);
  const ag_layout_row *row = ag_layout_find(sys, sys->u_names[u], &entry);
  return row && row->kind == AG_LAYOUT_VELOCITY ? row->at + (entry < 0 ? 0 : entry) : -1;
}

const char *ag_component_name(ag_arena *arena, const char *name, int rows, int entry) {
  ag_text text = {0};
  ag_entry_name(name, rows, 1, entry, &text);
  const char *kept = ag_arena_str(arena, ag_text_cstr(&text));
  ag_text_done(&text);
  return kept;
}

static bool among(const char *name, int n, const ag_item *items) {
  for (int i = 0; i < n; i++)
    if (items[i].name && !strcmp(items[i].name, name)) return true;
  return false;
}

static bool name_taken(const ag_model *m, const char *name) {
  for (int i = 0; i < m->n_params; i++)
    if (!strcmp(m->params[i].name, name)) return true;
  for (int i = 0; i < m->n_coords; i++) {
    const ag_coord *c = &m->coords[i];
    if (!strcmp(c->name, name) || !strcmp(c->velocity, name) || (c->family && !strcmp(c->family, name))) return true;
  }
  for (int i = 0; i < m->n_processes; i++)
    if (!strcmp(m->processes[i].name, name)) return true;
  return among(name, m->n_lets, m->lets) || among(name, m->n_observables, m->observables) ||
         among(name, m->n_frames, m->frames);
}

const char *ag_free_name(const ag_system *sys, const char *name) {
  while (name_taken(sys->model, name)) name = ag_arena_printf(sys->arena, "%s_", name);
  return name;
}

const char *ag_velocity_name(const ag_system *sys, int i, ag_arena *arena) {
  const ag_layout_row *v = sys->layout + sys->kinds[AG_LAYOUT_VELOCITY].at;
  while (i >= v->n) i -= v++->n;
  return ag_component_name(arena, v->name, v->rows, i);
}
