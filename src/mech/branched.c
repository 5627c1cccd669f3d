/* SPDX-License-Identifier: MIT
 * The multiplier form on a branch. Choices of the equations, of their rows of constraints too, are read from data as in
 * switch.c, but on the full state: a motion whose rows begin or cease to act goes on in this form (run/rows.c), and its
 * steps end where the equations switch. Terms that may be short in time or space (pulse.c) are found in it as well. */
#include <string.h>

#include "mech/choices.h"

ag_tape *ag_branched_tape(ag_system *sys, int n_out, const ag_id *outs) {
  int n = sys->n.full_switches;
  ag_bind *binds = ag_heap_alloc(sizeof *binds * (size_t)(ag_bind_capacity(sys) + n + 2));
  int k = ag_bind_full(sys, binds);
  for (int i = 0; i < n; i++) binds[k++] = (ag_bind){sys->full_branches[i], AG_SEG_C, i};
  if (sys->full_accel) binds[k++] = (ag_bind){sys->full_accel, AG_SEG_C, n};
  if (sys->full_levels) binds[k++] = (ag_bind){sys->full_levels, AG_SEG_C, n};
  ag_tape *tape = ag_tape_create(sys->model->graph, k, binds, n_out, outs);
  free(binds);
  return tape;
}

/* The roles that are made again, and how many expressions each was made from. */
enum { ROLES = 4 };
typedef struct form {
  int n[ROLES], total;
  ag_id *outs; /* of all of them, one after the other */
} form;

static const int plain[ROLES] = {AG_ROLE_SADDLE, AG_ROLE_RESERVE, AG_ROLE_PROCESS, AG_ROLE_BALANCE},
                 on[ROLES] = {AG_ROLE_SADDLE_ON, AG_ROLE_RESERVE_ON, AG_ROLE_PROCESS_ON, AG_ROLE_BALANCE_ON};

static form form_of(const ag_system *sys) {
  int rows = sys->kept_rows != 0, process = sys->n.process * (1 + sys->n.channel);
  form f = {.n = {rows ? 5 : 2, 3, process, rows ? 5 : 4}};
  for (int i = 0; i < ROLES; i++) {
    if (!sys->tapes[plain[i]]) f.n[i] = 0;
    f.total += f.n[i];
  }
  f.outs = ag_heap_alloc(sizeof *f.outs * (size_t)(f.total + 1));
  for (int i = 0, at = 0; i < ROLES; at += f.n[i], i++)
    if (f.n[i]) memcpy(f.outs + at, sys->made[plain[i]], sizeof *f.outs * (size_t)f.n[i]);
  return f;
}

/* Coordinates and processes, then velocities and time. */
static void collect_inputs(ag_choices *f, const ag_system *sys) {
  const ag_model *m = sys->model;
  f->inputs = ag_heap_alloc(sizeof(ag_id) * (size_t)(2 * m->n_coords + m->n_processes + 1));
  for (int i = 0; i < m->n_coords; i++) f->inputs[f->n_in++] = m->coords[i].q;
  f->n_in += ag_process_inputs(m, f->inputs + f->n_in);
  for (int i = 0; i < m->n_coords; i++) f->inputs[f->n_in++] = m->coords[i].xi;
  f->inputs[f->n_in++] = m->t;
}

/* Rates of the switching functions: q moves with xi, xi with xi', processes with their drift on the branch. */
static void make_rates(ag_system *sys, const ag_choices *f) {
  const ag_model *m = sys->model;
  ag_graph *g = f->g;
  ag_id *seeds = ag_heap_alloc(sizeof *seeds * (size_t)f->n_in), *rates = AG_NEWN(sys->arena, ag_id, f->n);
  int k = 0;
  sys->full_accel = ag_input(g, "acceleration", sys->n.xi, 1, AG_LEAF_REAL);
  for (int i = 0; i < m->n_coords; i++) seeds[k++] = m->coords[i].xi;
  (void)ag_process_rates(sys, -1, NULL, seeds + k);
  ag_substitute(g, f->n_rule, f->from, f->to, m->n_processes, seeds + k);
  k += m->n_processes;
  for (int i = 0; i < m->n_coords; i++)
    seeds[k++] = ag_rows_of(g, sys->full_accel, sys->coords[i].tangent, m->coords[i].dim);
  seeds[k++] = ag_num(g, 1);
  ag_forward(g, k, f->inputs, seeds, f->n, f->s, rates);
  ag_role_make(sys, AG_ROLE_FULL_RATES, f->n, rates);
  free(seeds);
}

static void make_pulses(ag_system *sys, const ag_choices *f, const form *all) {
  ag_id *terms = NULL;
  int n = ag_pulses_collect(sys, all->total - all->n[ROLES - 1], all->outs, f->n_in, f->inputs, &terms);
  if (!n) return;
  sys->n.full_pulses = n;
  ag_id *outs = ag_pulses_levelled(f->g, n, terms, &sys->full_levels);
  ag_role_make(sys, AG_ROLE_FULL_PULSES, 2 * n, outs);
  free(outs);
  free(terms);
}

void ag_system_branched(ag_system *sys) {
  const ag_model *m = sys->model;
  if (sys->branched || !sys->n.row || !sys->tapes[AG_ROLE_SADDLE]) return;
  sys->branched = true;
  form all = form_of(sys);
  ag_choices f = {.g = m->graph, .arena = sys->arena};
  collect_inputs(&f, sys);
  ag_choices_find(&f, all.total - all.n[ROLES - 1], all.outs, m->n_coords, ag_has_cuts(m) ? sys->force_x : NULL,
                  m->n_coords + 1);
  if (f.n) {
    sys->n.full_switches = f.n;
    sys->full_branches = memcpy(AG_NEWN(sys->arena, ag_id, f.n), f.branch, sizeof(ag_id) * (size_t)f.n);
    ag_substitute(f.g, f.n_rule, f.from, f.to, all.total, all.outs);
    for (int i = 0, at = 0; i < ROLES; at += all.n[i], i++)
      if (all.n[i]) ag_role_make(sys, on[i], all.n[i], all.outs + at);
    ag_role_make(sys, AG_ROLE_FULL_SWITCHES, f.n, f.s);
    make_rates(sys, &f);
  }
  make_pulses(sys, &f, &all);
  ag_choices_done(&f);
  free(all.outs);
}
