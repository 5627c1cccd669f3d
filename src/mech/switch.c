/* SPDX-License-Identifier: MIT
 * Equations that switch. Every choice of the equations of motion (if, abs, sign, min, max) that depends on the state or
 * on time is read from data: a branch, the sign of its switching function s(t, z), at the end of c. A run changes the
 * branch where s is zero (docs/design/0021). */
#include <string.h>

#include "mech/choices.h"

/* Of the reduced state, the velocities and time last. */
static void collect_inputs(ag_choices *f, const derive *d) {
  const ag_system *sys = d->sys;
  f->inputs = ag_heap_alloc(sizeof(ag_id) * (size_t)(d->nc + sys->n.q + sys->n_image + sys->n_u_input + 1));
  for (int i = 0; i < d->nc; i++) {
    if (!sys->q_leaf[i]) f->inputs[f->n_in++] = d->q[i];
    else
      for (int c = 0; c < sys->coords[i].n; c++) f->inputs[f->n_in++] = sys->q_leaf[i][c];
  }
  f->n_in += ag_process_inputs(d->m, f->inputs + f->n_in);
  for (int i = 0; i < sys->n_image; i++) f->inputs[f->n_in++] = sys->images[i].input;
  for (int i = 0; i < sys->n_u_input; i++) f->inputs[f->n_in++] = sys->u_inputs[i];
  f->inputs[f->n_in++] = d->m->t;
}

/* Rates of the switching functions along the motion. */
static void make_rates(const ag_choices *f, derive *d, const ag_id *rows, const ag_id *velocity) {
  ag_system *sys = d->sys;
  ag_graph *g = f->g;
  ag_id *seeds = ag_heap_alloc(sizeof *seeds * (size_t)f->n_in), *rates = AG_NEWN(sys->arena, ag_id, f->n);
  int k = 0, at = sys->n.u_at;
  for (int i = 0; i < d->nc; i++) {
    const ag_layout_row *p = &sys->coords[i];
    if (!sys->q_leaf[i]) seeds[k++] = velocity[i];
    else
      for (int c = 0; c < p->n; c++) seeds[k++] = rows[sys->q_in_z[p->at + c]];
  }
  for (int i = 0; i < sys->n.process; i++) seeds[k++] = rows[sys->q_in_z[sys->processes[i].at]];
  for (int i = 0; i < sys->n_image; i++) seeds[k++] = ag_stack(g, 3, 1, rows + sys->images[i].z);
  for (int i = 0; i < sys->n_u_input; i++) {
    int n = ag_node_rows(g, sys->u_inputs[i]);
    seeds[k++] = ag_stack(g, n, 1, rows + at);
    at += n;
  }
  seeds[k++] = ag_num(g, 1);
  ag_forward(g, k, f->inputs, seeds, f->n, f->s, rates);
  ag_role_make(sys, AG_ROLE_SWITCH_RATES, f->n, rates);
  free(seeds);
}

bool ag_has_cuts(const ag_model *m) {
  for (int i = 0; i < m->n_events; i++)
    if (m->events[i].cuts) return true;
  return false;
}

/* The initial state of ag_switches_apply(). */
static void keep_choices(ag_system *sys, const ag_choices *f) {
  size_t size = sizeof(ag_id);
  ag_choices *kept = sys->choices = AG_NEWN(sys->arena, ag_choices, 1);
  *kept = (ag_choices){.g = f->g, .arena = f->arena, .n_in = f->n_in, .n = f->n, .n_rule = f->n_rule, .closed = true};
  kept->inputs = memcpy(AG_NEWN(sys->arena, ag_id, f->n_in), f->inputs, size * (size_t)f->n_in);
  kept->branch = memcpy(AG_NEWN(sys->arena, ag_id, f->n), f->branch, size * (size_t)f->n);
  kept->s = memcpy(AG_NEWN(sys->arena, ag_id, f->n), f->s, size * (size_t)f->n);
  kept->from = memcpy(AG_NEWN(sys->arena, ag_id, f->n_rule), f->from, size * (size_t)f->n_rule);
  kept->to = memcpy(AG_NEWN(sys->arena, ag_id, f->n_rule), f->to, size * (size_t)f->n_rule);
}

void ag_switches_apply(ag_system *sys, int n, ag_id *outs) {
  ag_split_leaves(sys, n, outs);
  if (!sys->choices) return;
  ag_choices f = *sys->choices;
  f.cap_from = f.cap_to = f.n_rule;
  f.from = memcpy(ag_heap_alloc(sizeof *f.from * (size_t)(f.n_rule + 1)), f.from, sizeof *f.from * (size_t)f.n_rule);
  f.to = memcpy(ag_heap_alloc(sizeof *f.to * (size_t)(f.n_rule + 1)), f.to, sizeof *f.to * (size_t)f.n_rule);
  ag_choices_find(&f, n, outs, 0, NULL, 0);
  ag_substitute(sys->model->graph, f.n_rule, f.from, f.to, n, outs);
  free(f.from), free(f.to);
}

void ag_switches_find(derive *d, ag_id *rows, ag_id *velocity, const ag_id *forces, int n_written,
                      const ag_id *written) {
  ag_system *sys = d->sys;
  const ag_id *only = ag_has_cuts(d->m) ? forces : NULL;
  ag_choices f = {.g = d->g, .arena = sys->arena};
  collect_inputs(&f, d);
  ag_choices_find(&f, sys->n.z, rows, d->nc, only, sys->n_u_input + 1);
  ag_choices_find(&f, n_written, written, d->nc, only, sys->n_u_input + 1);
  if (f.n) {
    sys->pointwise = AG_NEWN(sys->arena, ag_id, sys->n.z);
    memcpy(sys->pointwise, rows, sizeof *rows * (size_t)sys->n.z);
    sys->branches = AG_NEWN(sys->arena, ag_id, f.n);
    memcpy(sys->branches, f.branch, sizeof *rows * (size_t)f.n);
    sys->n.switches = f.n;
    keep_choices(sys, &f);
    sys->n.c += f.n;
    ag_substitute(f.g, f.n_rule, f.from, f.to, sys->n.z, rows);
    ag_substitute(f.g, f.n_rule, f.from, f.to, d->nc, velocity);
    ag_role_make(sys, AG_ROLE_SWITCHES, f.n, f.s);
    make_rates(&f, d, rows, velocity);
    ag_role_make(sys, AG_ROLE_POINTWISE, sys->n.z, sys->pointwise);
  }
  ag_pulses_find(d, f.n_in, f.inputs, rows);
  ag_choices_done(&f);
}

bool ag_system_rows_switch(const ag_system *sys) {
  const ag_tape *xi = sys->tapes[AG_ROLE_XI];
  return sys->n.switches && xi && xi->n_need[AG_SEG_C] > sys->n.c - sys->n.switches;
}

ag_tape *ag_system_pointwise(ag_system *sys, int role) {
  int n = sys->n_made[role];
  ag_graph *g = sys->model->graph;
  ag_id *outs = ag_heap_alloc(sizeof *outs * (size_t)(n + 1));
  memcpy(outs, sys->made[role], sizeof *outs * (size_t)n);
  for (int i = sys->n.switches - 1; i >= 0; i--) { /* earlier ones may depend on it */
    ag_id sign = ag_apply1(g, AG_OP_SIGN, sys->made[AG_ROLE_SWITCHES][i]);
    ag_substitute(g, 1, &sys->branches[i], &sign, n, outs);
  }
  ag_tape *tape = ag_reduced_tape(sys, n, outs);
  free(outs);
  return tape;
}
