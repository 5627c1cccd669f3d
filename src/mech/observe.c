/* SPDX-License-Identifier: MIT
 * Observables, events and sections: names the model may use (energy, frame velocities, drives, reactions) become
 * expressions of the full state and the multipliers. */
#include <string.h>

#include "mech/choices.h"

typedef struct builtins {
  int n;
  ag_id *from, *to;
} builtins;

/* The rows of one prescribed coordinate or constraint of either level -> their multipliers; 0 for rows that were
 * dropped. */
static ag_id multiplier_of(ag_system *sys, ag_row_kind kind, const char *name, ag_id lambda) {
  ag_graph *g = sys->model->graph;
  const ag_item *items = kind == AG_ROW_PRESCRIBE   ? sys->model->prescribes
                         : kind == AG_ROW_HOLONOMIC ? sys->model->holonomics
                                                    : sys->model->constraints;
  ag_id *parts = ag_heap_alloc(sizeof *parts * (size_t)(sys->n.row + 1)), out;
  int n = 0;
  for (int r = 0; r < sys->n.row; r++) {
    const ag_row *row = &sys->rows[r];
    if (row->kind != kind || strcmp(items[row->item].name, name)) continue;
    parts[n++] = row->lambda >= 0 ? ag_entry(g, lambda, row->lambda, 0) : ag_num(g, 0);
  }
  out = ag_stack(g, n, 1, parts);
  free(parts);
  return out;
}

static builtins collect(ag_system *sys) {
  ag_model *m = sys->model;
  ag_graph *g = m->graph;
  builtins b = {0};
  int room = m->n_frames + m->n_drives + m->n_reactions + m->n_multipliers + m->n_holonomic_multipliers + 1;
  b.from = ag_heap_alloc(sizeof(ag_id) * (size_t)room);
  b.to = ag_heap_alloc(sizeof(ag_id) * (size_t)room);
  if (m->energy) b.from[b.n] = m->energy, b.to[b.n++] = sys->energy;
  for (int i = 0; i < m->n_frames; i++) b.from[b.n] = m->frame_inputs[i], b.to[b.n++] = m->frames[i].x;
  for (int i = 0; i < m->n_drives; i++)
    b.from[b.n] = m->drives[i].x, b.to[b.n++] = multiplier_of(sys, AG_ROW_PRESCRIBE, m->drives[i].name, m->lambda);
  for (int i = 0; i < m->n_multipliers; i++)
    b.from[b.n] = m->multipliers[i].x,
    b.to[b.n++] = multiplier_of(sys, AG_ROW_CONSTRAINT, m->multipliers[i].name, m->lambda);
  for (int i = 0; i < m->n_holonomic_multipliers; i++)
    b.from[b.n] = m->holonomic_multipliers[i].x,
    b.to[b.n++] = multiplier_of(sys, AG_ROW_HOLONOMIC, m->holonomic_multipliers[i].name, m->lambda);
  for (int i = 0; i < m->n_reactions; i++) {
    for (int c = 0; c < m->n_coords; c++)
      if (!strcmp(m->coords[c].name, m->reactions[i].name)) {
        b.from[b.n] = m->reactions[i].x;
        b.to[b.n++] = sys->reaction ? sys->reaction[c] : ag_zero(g, m->coords[c].dim, 1);
        break;
      }
  }
  return b;
}

void ag_expand_builtins(ag_system *sys, int n, ag_id *x) {
  builtins b = collect(sys);
  if (b.n) ag_substitute(sys->model->graph, b.n, b.from, b.to, n, x);
  free(b.from);
  free(b.to);
}

ag_tape *ag_system_tape(ag_system *sys, int n_out, const ag_id *outs, bool *needs_lambda) {
  ag_model *m = sys->model;
  ag_id *x = ag_heap_alloc(sizeof *x * (size_t)(n_out + 1));
  memcpy(x, outs, sizeof *x * (size_t)n_out);
  ag_expand_builtins(sys, n_out, x);
  *needs_lambda = m->lambda && ag_depends(m->graph, n_out, x, 1, &m->lambda);
  ag_bind *binds = ag_heap_alloc(sizeof *binds * (size_t)(ag_bind_capacity(sys) + 1));
  int k = ag_bind_full(sys, binds);
  if (m->lambda) binds[k++] = (ag_bind){m->lambda, AG_SEG_Z, sys->n.x};
  ag_tape *tape = ag_tape_create(m->graph, k, binds, n_out, x);
  free(binds);
  free(x);
  return tape;
}

/* Observables that make choices of the equations: on branches. */
static void observe_choices(ag_system *sys, const ag_id *observables) {
  int n = sys->model->n_observables;
  ag_id *x = AG_NEWN(sys->arena, ag_id, n);
  memcpy(x, observables, sizeof *x * (size_t)n);
  ag_expand_builtins(sys, n, x);
  ag_on_branches(sys, n, x);
  if (ag_depends(sys->model->graph, n, x, sys->n.switches, sys->branches)) ag_role_make(sys, AG_ROLE_OBSERVED, n, x);
}

void ag_observe(derive *d) {
  ag_system *sys = d->sys;
  ag_model *m = d->m;
  ag_graph *g = d->g;
  if (sys->n.lambda) {
    ag_id *kept = AG_NEWN(sys->arena, ag_id, sys->n.lambda);
    for (int r = 0; r < sys->n.row; r++)
      if (sys->rows[r].kept) kept[sys->rows[r].lambda] = d->row_x[r];
    ag_id rows = ag_concat(g, sys->n.lambda, kept);
    if (!m->lambda) m->lambda = ag_input(g, "lambda", sys->n.lambda, 1, AG_LEAF_REAL);
    sys->reaction = AG_NEWN(sys->arena, ag_id, d->nc);
    ag_reverse(g, 1, &rows, &m->lambda, d->nc, d->xi, sys->reaction); /* S^T lambda */
  }
  ag_id *x = AG_NEWN(sys->arena, ag_id, m->n_observables + m->n_events + 1);
  for (int i = 0; i < m->n_observables; i++) x[i] = m->observables[i].x;
  if (m->n_observables) ag_role_make(sys, AG_ROLE_OBSERVE, m->n_observables, x);
  if (m->n_observables && sys->n.switches) observe_choices(sys, x);
  for (int i = 0; i < m->n_events; i++) x[i] = m->events[i].x;
  if (m->n_events) ag_role_make(sys, AG_ROLE_EVENTS, m->n_events, x);
  for (int i = 0; i < m->n_sections; i++) ag_role_make(sys, AG_ROLE_SECTION + i, 1, &m->sections[i].x);
}
