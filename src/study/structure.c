/* SPDX-License-Identifier: MIT
 * The structure of a system: what can change its energy, its constraints, its start. */
#include <stdlib.h>

#include "base/arena.h"
#include "study/study.h"

/* Does the constraint have a part without velocities: is its residual not zero when all velocities are? */
static bool is_affine(ag_model *m, ag_id residual) {
  int n = ag_model_n_coords(m);
  ag_id *from = ag_heap_alloc(sizeof *from * (size_t)n), *to = ag_heap_alloc(sizeof *to * (size_t)n);
  for (int i = 0; i < n; i++)
    from[i] = ag_model_coords(m)[i].xi, to[i] = ag_zero(ag_model_graph(m), ag_model_coords(m)[i].dim, 1);
  ag_substitute(ag_model_graph(m), n, from, to, 1, &residual);
  free(from);
  free(to);
  return !ag_is_zero(ag_model_graph(m), residual);
}

/* dE/dt = -l_t + F.xi - s.lambda */
static void find_balance(ag_structure *s, ag_model *m) {
  const ag_graph *g = ag_model_nodes(m);
  const ag_item *positions[] = {ag_model_holonomics(m), ag_model_prescribes(m)};
  const int n_position[] = {ag_model_n_holonomics(m), ag_model_n_prescribes(m)};
  ag_id t = ag_model_time(m), lagrangian = ag_model_lagrangian(m);
  s->depends_on_time = ag_depends(g, 1, &lagrangian, 1, &t);
  s->forces = ag_model_n_forces(m) > 0;
  for (int i = 0; i < ag_model_n_constraints(m); i++) s->affine |= is_affine(m, ag_model_constraints(m)[i].x);
  for (int k = 0; k < 2; k++)
    for (int i = 0; i < n_position[k]; i++) s->affine |= ag_depends(g, 1, &positions[k][i].x, 1, &t);
}

static void count_rows(ag_structure *s, const ag_system *sys) {
  for (int i = 0; i < ag_system_dims(sys)->row; i++) {
    s->n_rows[ag_system_rows(sys)[i].kind]++;
    s->n_dropped += !ag_system_rows(sys)[i].kept;
  }
  s->freedom = ag_system_elimination(sys) == AG_ELIM_SADDLE ? ag_system_dims(sys)->xi - ag_system_dims(sys)->lambda
                                                            : ag_system_dims(sys)->u;
}

/* The record at the start, through a run from t0 to t0. */
static ag_status look_at_start(ag_structure *s, ag_ctx *ctx, const ag_system *sys, double t0) {
  double *x = ag_heap_alloc(sizeof *x * (size_t)ag_system_dims(sys)->x);
  ag_system_state0(sys, x);
  ag_run_options o;
  ag_run_defaults(&o);
  o.t0 = o.t1 = t0;
  o.every = -1;
  o.events = false;
  o.noise = AG_NOISE_OFF;
  ag_status status = ag_run(ctx, sys, ag_system_param_values(sys), x, &o, NULL, &s->start);
  ag_work *w = ag_work_create(sys, ag_system_param_values(sys));
  s->condition = ag_work_condition(w, t0, x);
  ag_work_free(w);
  free(x);
  return status;
}

ag_status ag_structure_find(ag_structure *s, ag_ctx *ctx, ag_model *m, const ag_system *sys, double t0) {
  *s = (ag_structure){0};
  ag_record_init(&s->record, sys);
  find_balance(s, m);
  count_rows(s, sys);
  return look_at_start(s, ctx, sys, t0);
}

void ag_structure_done(ag_structure *s) {
  ag_record_done(&s->record);
  ag_run_done(&s->start);
}
