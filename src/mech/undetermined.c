/* SPDX-License-Identifier: MIT
 * Forces that redundant rows do not determine. Multipliers may change along nu with nu.S = 0 without changing the
 * motion: an observable that changes along such a nu has no definite value. The value computed is that with the dropped
 * rows at zero; if all rows are kept, that of the smallest multipliers. */
#include <math.h>
#include <string.h>

#include "math/dense.h"
#include "mech/mech_internal.h"

enum { PLACES = 3 }; /* states examined: which rows are redundant may differ between states */

/* All nu at a sample, as columns of nu (n_row x the number returned): the kernel of S^T, rows scaled to norm 1. */
static int directions(const derive *d, const double *at, double *nu) {
  const ag_system *sys = d->sys;
  int m = sys->n.row, n = sys->n.xi;
  double *x = ag_heap_alloc(sizeof(double) * (size_t)(sys->n.q + n)),
         *v = ag_heap_alloc(sizeof(double) * (size_t)(d->S_at.n + m)),
         *T = ag_heap_alloc(sizeof(double) * (size_t)(m * n)), *size = ag_heap_alloc(sizeof(double) * (size_t)m);
  memcpy(x, at + 1, sizeof(double) * (size_t)sys->n.q);
  ag_tape_once(d->rows_tape, at[0], x, sys->params, NULL, v);
  for (int k = 0; k < d->S_at.n; k++) size[d->S_at.row[k]] += v[k] * v[k];
  for (int r = 0; r < m; r++) size[r] = size[r] > 0 ? sqrt(size[r]) : 1;
  for (int k = 0; k < d->S_at.n; k++) T[d->S_at.col[k] * m + d->S_at.row[k]] = v[k] / size[d->S_at.row[k]];
  int rank = ag_dense_null(n, m, T, 1e-9, nu), k = rank < 0 ? 0 : m - rank;
  for (int r = 0; r < m; r++)
    for (int j = 0; j < k; j++) nu[r * k + j] /= size[r];
  free(x), free(v), free(T), free(size);
  return k;
}

/* The inputs for multipliers in the model, and nu in terms of them. */
typedef struct seeds {
  int n;
  ag_id *inputs, *seeds;
} seeds;

static void add_seeds(derive *d, ag_row_kind kind, const ag_item *all, int n_named, const ag_item *named,
                      const double *nu, int step, seeds *s) {
  for (int i = 0; i < n_named; i++) {
    ag_id *parts = AG_NEWN(d->sys->arena, ag_id, d->sys->n.row + 1);
    int n = 0;
    for (int r = 0; r < d->sys->n.row; r++) {
      const ag_row *row = &d->sys->rows[r];
      if (row->kind == kind && !strcmp(all[row->item].name, named[i].name))
        parts[n++] = ag_num(d->g, fabs(nu[r * step]) < 1e-9 ? 0 : nu[r * step]);
    }
    s->inputs[s->n] = named[i].x;
    s->seeds[s->n++] = ag_stack(d->g, n, 1, parts);
  }
}

/* Marks the observables that change along nu (every step-th number) at the sample. */
static void mark(derive *d, const double *at, const double *nu, int step, bool *open) {
  ag_system *sys = d->sys;
  ag_model *m = d->m;
  seeds s = {0};
  int room = m->n_drives + m->n_multipliers + m->n_holonomic_multipliers;
  s.inputs = AG_NEWN(sys->arena, ag_id, room + 1);
  s.seeds = AG_NEWN(sys->arena, ag_id, room + 1);
  add_seeds(d, AG_ROW_PRESCRIBE, m->prescribes, m->n_drives, m->drives, nu, step, &s);
  add_seeds(d, AG_ROW_CONSTRAINT, m->constraints, m->n_multipliers, m->multipliers, nu, step, &s);
  add_seeds(d, AG_ROW_HOLONOMIC, m->holonomics, m->n_holonomic_multipliers, m->holonomic_multipliers, nu, step, &s);
  ag_id *x = AG_NEWN(sys->arena, ag_id, m->n_observables), *dx = AG_NEWN(sys->arena, ag_id, m->n_observables);
  for (int i = 0; i < m->n_observables; i++) x[i] = m->observables[i].x;
  ag_forward(d->g, s.n, s.inputs, s.seeds, m->n_observables, x, dx);
  bool needs;
  ag_tape *tape = ag_system_tape(sys, m->n_observables, dx, &needs);
  ag_work *w = ag_work_create(sys, sys->params);
  double *state = ag_heap_alloc(sizeof(double) * (size_t)(sys->n.x)),
         *slots = ag_heap_aligned(sizeof(double) * (size_t)(tape->n_slot + 1)),
         *out = ag_heap_alloc(sizeof(double) * (size_t)(tape->n_out + 1));
  memcpy(state, at + 1, sizeof(double) * (size_t)sys->n.q);
  memcpy(state + sys->n.q, sys->xi0, sizeof(double) * (size_t)sys->n.xi);
  (void)ag_tape_prep(tape, sys->params, slots);
  if (ag_work_settle_full(w, at[0], state) == AG_FINE) (void)ag_work_eval(w, tape, needs, at[0], state, slots, out);
  for (int i = 0, k = 0; i < m->n_observables; i++)
    for (int j = ag_node_rows(d->g, x[i]) * ag_node_cols(d->g, x[i]); j > 0; j--, k++)
      open[i] = open[i] || fabs(out[k]) > 1e-9;
  ag_work_free(w);
  ag_tape_free(tape);
  free(state), free(slots), free(out);
}

/* The note: names as far as they fit. */
static void tell(derive *d, ag_pos pos, const bool *open) {
  enum { SHOWN = 8 };
  ag_text names = {0};
  int n = 0;
  for (int i = 0; i < d->m->n_observables; i++) {
    if (!open[i]) continue;
    if (n < SHOWN) ag_text_printf(&names, "%s`%s`", n ? ", " : "", d->m->observables[i].name);
    n++;
  }
  if (n > SHOWN) ag_text_printf(&names, " and %d more", n - SHOWN);
  if (n)
    ag_ctx_note(d->ctx, pos, "redundant constraints do not determine their forces one by one: %s %s given %s",
                ag_text_cstr(&names), ag_plural(n, "is", "are"),
                d->sys->n.rank < d->sys->n.lambda ? "for the smallest multipliers"
                                                  : "with the dropped rows carrying nothing");
  ag_text_done(&names);
}

void ag_undetermined(derive *d) {
  ag_system *sys = d->sys;
  if (!ag_role_lambda(sys, AG_ROLE_OBSERVE) || sys->n.rank == sys->n.row) return;
  int first = 0;
  while (first < sys->n.row - 1 && sys->rows[first].kept) first++;
  if (sys->elimination == AG_ELIM_SADDLE) { /* too large to find out which */
    ag_ctx_note(d->ctx, sys->rows[first].pos,
                "redundant constraints do not determine their forces one by one: observables that are such forces are "
                "given with the dropped rows carrying nothing");
    return;
  }
  bool *open = AG_NEWN(sys->arena, bool, d->m->n_observables + 1);
  double *nu = AG_NEWN(sys->arena, double, sys->n.row * sys->n.row + 1);
  for (int s = 0; s < d->n_sample && s < PLACES; s++) {
    const double *at = d->samples + ((size_t)sys->n.q + 1) * (size_t)s;
    int n = directions(d, at, nu);
    for (int j = 0; j < n; j++) mark(d, at, nu + j, n, open);
  }
  tell(d, sys->rows[first].pos, open);
}
