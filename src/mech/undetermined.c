/* SPDX-License-Identifier: MIT
 * Forces that redundant rows leave open. A row that follows from others, S_d = c.S_k, lets multipliers change by any
 * multiple of nu (1 for itself, -c for the rows it follows from) without a change of the motion: an observable that
 * changes along nu has no value of its own. The one computed is that with the dropped rows at zero. */
#include <math.h>
#include <string.h>

#include "math/dense.h"
#include "mech/mech_internal.h"

enum { PLACES = 3 }; /* states looked at: which rows a row follows from may differ from place to place */

/* nu of dropped row `dropped` at a sample, one number per row. */
static void direction(const derive *d, const double *at, int dropped, double *nu) {
  const ag_system *sys = d->sys;
  int m = sys->n_row, n = sys->n_xi, k = sys->n_lambda, r = 0;
  double *x = ag_heap_alloc(sizeof(double) * (size_t)(sys->n_q + n)),
         *v = ag_heap_alloc(sizeof(double) * (size_t)(m * n + m)),
         *Sk = ag_heap_alloc(sizeof(double) * (size_t)(2 * k * n + 1)), *P = Sk + k * n;
  memcpy(x, at + 1, sizeof(double) * (size_t)sys->n_q);
  ag_tape_once(d->rows_tape, at[0], x, sys->params, NULL, v);
  for (int i = 0; i < m; i++)
    if (sys->rows[i].kept) memcpy(Sk + n * r++, v + i * n, sizeof(double) * (size_t)n);
  ag_dense_pinv(k, n, Sk, P);
  for (int i = 0; i < m; i++) {
    nu[i] = i == dropped;
    for (int j = 0; j < n && sys->rows[i].kept; j++) nu[i] -= v[dropped * n + j] * P[j * k + sys->rows[i].lambda];
    if (fabs(nu[i]) < 1e-9) nu[i] = 0; /* rounding */
  }
  free(x), free(v), free(Sk);
}

/* The inputs that stand for multipliers in the model, and nu in their terms. */
typedef struct seeds {
  int n;
  ag_id *inputs, *seeds;
} seeds;

static void add_seeds(derive *d, ag_row_kind kind, const ag_item *all, int n_named, const ag_item *named,
                      const double *nu, seeds *s) {
  for (int i = 0; i < n_named; i++) {
    ag_id *parts = AG_NEWN(d->sys->arena, ag_id, d->sys->n_row + 1);
    int n = 0;
    for (int r = 0; r < d->sys->n_row; r++) {
      const ag_row *row = &d->sys->rows[r];
      if (row->kind == kind && !strcmp(all[row->item].name, named[i].name)) parts[n++] = ag_num(d->g, nu[r]);
    }
    s->inputs[s->n] = named[i].x;
    s->seeds[s->n++] = ag_stack(d->g, n, 1, parts);
  }
}

/* Marks the observables that change along nu at the sample. */
static void mark(derive *d, const double *at, const double *nu, bool *open) {
  ag_system *sys = d->sys;
  ag_model *m = d->m;
  seeds s = {0};
  int room = m->n_drives + m->n_multipliers + m->n_holders;
  s.inputs = AG_NEWN(sys->arena, ag_id, room + 1);
  s.seeds = AG_NEWN(sys->arena, ag_id, room + 1);
  add_seeds(d, AG_ROW_PRESCRIBE, m->prescribes, m->n_drives, m->drives, nu, &s);
  add_seeds(d, AG_ROW_CONSTRAINT, m->constraints, m->n_multipliers, m->multipliers, nu, &s);
  add_seeds(d, AG_ROW_HOLONOMIC, m->holonomics, m->n_holders, m->holders, nu, &s);
  ag_id *x = AG_NEWN(sys->arena, ag_id, m->n_observables), *dx = AG_NEWN(sys->arena, ag_id, m->n_observables);
  for (int i = 0; i < m->n_observables; i++) x[i] = m->observables[i].x;
  ag_forward(d->g, s.n, s.inputs, s.seeds, m->n_observables, x, dx);
  bool needs;
  ag_tape *tape = ag_system_tape(sys, m->n_observables, dx, &needs);
  ag_work *w = ag_work_create(sys, sys->params);
  double *state = ag_heap_alloc(sizeof(double) * (size_t)(sys->n_q + sys->n_xi)),
         *slots = ag_heap_aligned(sizeof(double) * (size_t)(tape->n_slot + 1)),
         *out = ag_heap_alloc(sizeof(double) * (size_t)(tape->n_out + 1));
  memcpy(state, at + 1, sizeof(double) * (size_t)sys->n_q);
  memcpy(state + sys->n_q, sys->xi0, sizeof(double) * (size_t)sys->n_xi);
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
    ag_ctx_note(d->ctx, pos,
                "redundant constraints do not determine their forces one by one: %s %s given with the dropped rows "
                "carrying nothing",
                ag_text_cstr(&names), ag_plural(n, "is", "are"));
  ag_text_done(&names);
}

void ag_undetermined(derive *d) {
  ag_system *sys = d->sys;
  bool *open = AG_NEWN(sys->arena, bool, d->m->n_observables + 1);
  double *nu = AG_NEWN(sys->arena, double, sys->n_row + 1);
  int first = -1;
  if (!sys->observe_lambda) return;
  for (int r = 0; r < sys->n_row; r++) {
    if (sys->rows[r].kept) continue;
    if (first < 0) first = r;
    for (int s = 0; s < d->n_sample && s < PLACES; s++) {
      const double *at = d->samples + ((size_t)sys->n_q + 1) * (size_t)s;
      direction(d, at, r, nu);
      mark(d, at, nu, open);
    }
  }
  if (first >= 0) tell(d, sys->rows[first].pos, open);
}
