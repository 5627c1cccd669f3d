/* SPDX-License-Identifier: MIT
 * From a model to a system: the derivation in order, and what can be wrong with it. */
#include <math.h>
#include <string.h>

#include "math/dense.h"
#include "mech/choices.h"
#include "mech/start_internal.h"

/* Energy and equations must have values at the start. */
static ag_status check_start(derive *d) {
  ag_system *sys = d->sys;
  double *x = ag_heap_alloc(sizeof(double) * (size_t)(sys->n.x));
  ag_system_state0(sys, x);
  double *v = ag_role_once(sys, AG_ROLE_BALANCE, sys->t0, x, sys->params);
  double energy = v[sys->outputs[AG_OUT_BALANCE_ENERGY].at];
  ag_status status = isfinite(energy) ? AG_OK : AG_WRONG;
  if (status != AG_OK)
    ag_ctx_error(d->ctx, d->m->lagrangian_pos, "the energy has no finite value at the start (%g)",
                 isnan(energy) ? fabs(energy) : energy);
  free(x);
  free(v);
  return status;
}

static ag_status check_margins(derive *d) {
  ag_system *sys = d->sys;
  const ag_item *wrong = ag_margin_broken(sys, sys->t0, sys->params, sys->q0);
  if (!wrong) return AG_OK;
  ag_ctx_error(d->ctx, wrong->pos, "at the start `%s` %s", wrong->name, wrong->text);
  return AG_WRONG;
}

/* A `relation` statement: its derivative must vanish at admissible velocities. One such state is enough: a relation
 * that is not preserved changes at all of them, and one that is found by iteration (a contact) need not be found
 * everywhere. */
static ag_status check_relations(derive *d) {
  ag_system *sys = d->sys;
  ag_model *m = d->m;
  ag_status status = AG_OK;
  ag_work *w = ag_work_create(sys, sys->params);
  double *x = ag_heap_alloc(sizeof(double) * (size_t)(sys->n.x + 1)), t, rate;
  for (int i = 0; i < m->n_touches && status == AG_OK; i++) {
    ag_id dx;
    if (m->touches[i].name || !ag_model_prime(m, m->touches[i].x, &dx))
      continue; /* that of a contact is preserved by its geometry */
    ag_tape *tape = ag_full_tape(sys, 1, &dx);
    bool kept = false, tried = false;
    for (unsigned seed = 1; seed <= 5 && !kept; seed++) {
      if (ag_system_sample(sys, w, seed, &t, x) != AG_OK) continue;
      ag_tape_once(tape, t, x, sys->params, NULL, &rate);
      kept = fabs(rate) < 1e-7;
      tried = true;
    }
    if (tried && !kept) {
      ag_ctx_error(d->ctx, m->touches[i].pos,
                   "the constraints do not preserve this relation (it changes at the rate %.3g); write `holonomic` to "
                   "enforce it",
                   rate);
      status = AG_WRONG;
    }
    ag_tape_free(tape);
  }
  ag_work_free(w);
  free(x);
  return status;
}

/* The coordinates for which position constraints are solved are known only now; the start has already been reported on.
 */
static void again_positions(derive *d) {
  ag_system *sys = d->sys;
  ag_ctx quiet = {0};
  double *q = AG_NEWN(sys->arena, double, sys->n.q + 1);
  if (sys->n_relation && ag_start_positions(&quiet, sys, sys->t0, sys->params, d->options->strict, q, NULL) == AG_OK)
    sys->q0 = q;
  ag_ctx_done(&quiet);
}

/* The form of the equations does not change the start: it is completed as in the eliminated form. */
static ag_status make_starter(derive *d) {
  ag_derive_options plain = *d->options;
  ag_ctx quiet = {0};
  plain.start_only = plain.by_cost;
  plain.multipliers = plain.growth = plain.by_cost = false;
  ag_status status = ag_system_create(&quiet, d->m, &plain, &d->sys->starter);
  ag_ctx_done(&quiet);
  if (status != AG_OK) return ag_system_create(d->ctx, d->m, &plain, &d->sys->starter);
  d->redundant = d->options->by_cost && ag_system_watches(d->sys->starter);
  return d->redundant ? AG_FAILED : AG_OK;
}

static ag_status derive_all(derive *d) {
  ag_system *sys = d->sys;
  ag_layout(d);
  AG_TRY(ag_system_params(d->ctx, sys, 0, NULL, NULL, sys->params));
  AG_TRY(ag_rows_collect(d));
  if (ag_is_large_by_request(d)) AG_TRY(make_starter(d));
  sys->q0 = AG_NEWN(sys->arena, double, sys->n.q + 1);
  sys->xi0 = AG_NEWN(sys->arena, double, sys->n.xi + 1);
  if (!sys->starter) sys->start_plan = ag_start_plan_create(sys);
  AG_TRY(ag_start_positions(d->ctx, sys, sys->t0, sys->params, d->options->strict, sys->q0, NULL));
  AG_TRY(ag_rows_rank(d));
  AG_TRY(ag_eliminate(d));
  sys->dependent = d->dependent;
  again_positions(d);
  AG_TRY(check_margins(d));
  AG_TRY(ag_motion(d));
  if (d->options->start_only)
    return ag_start_velocities(d->ctx, sys, sys->t0, sys->params, d->options->strict, sys->q0, sys->xi0, NULL);
  ag_noise_classify(d);
  ag_noise_drive(d);
  ag_observe(d);
  ag_guards(d);
  AG_TRY(ag_start_velocities(d->ctx, sys, sys->t0, sys->params, d->options->strict, sys->q0, sys->xi0, NULL));
  AG_TRY(ag_mass_check(d));
  AG_TRY(check_start(d));
  AG_TRY(ag_jumps_check(d));
  if (d->m->n_touches) AG_TRY(check_relations(d));
  ag_undetermined(d);
  if (d->options->growth && sys->elimination != AG_ELIM_SADDLE && !ag_process_in(d->m, sys->n.row, d->row_x))
    ag_growth_find(d);
  else if (sys->n.row) sys->growth.n_disguised = -1;
  return AG_OK;
}

ag_status ag_system_create(ag_ctx *ctx, ag_model *m, const ag_derive_options *options, ag_system **out) {
  ag_arena *arena = ag_arena_create();
  ag_system *sys = AG_NEW(arena, ag_system);
  derive *d = AG_NEW(arena, derive);
  sys->arena = arena;
  sys->model = m;
  sys->t0 = options->t0;
  ag_roles_init(sys);
  *d = (derive){.ctx = ctx, .m = m, .g = m->graph, .sys = sys, .options = options};
  *out = NULL;
  ag_status status = derive_all(d);
  bool redundant = d->redundant;
  ag_tape_free(d->rows_tape);
  if (status != AG_OK) ag_system_free(sys);
  else *out = sys;
  if (!redundant) return status;
  ag_derive_options plain = *options;
  plain.by_cost = false;
  return ag_system_create(ctx, m, &plain, out);
}

void ag_system_free(ag_system *sys) {
  if (!sys) return;
  ag_system_free(sys->starter);
  ag_start_plan_free(sys->start_plan);
  ag_roles_free(sys);
  ag_arena_free(sys->arena);
}

ag_status ag_system_sample(ag_system *sys, ag_work *w, unsigned seed, double *t, double *x) {
  ag_sampler sampler;
  ag_sampler_init(&sampler, sys, sys->params, seed);
  bool ok = false;
  for (int try = 0; try < 20 && !ok; try++) {
    if (!ag_sampler_next(&sampler, t, x)) break;
    if (!ag_position_project(sys, *t, sys->params, x)) continue;
    for (int i = 0; i < sys->n.xi; i++) x[sys->n.q + i] = 2 * ag_random_unit(&sampler.state) - 1;
    ok = ag_work_settle_full(w, *t, x) == AG_FINE && ag_work_residual(w, *t, x) < 1e-9;
  }
  ag_sampler_done(&sampler);
  return ok ? AG_OK : AG_FAILED;
}
