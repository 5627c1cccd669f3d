/* SPDX-License-Identifier: MIT
 * The lanes of one thread: their memory, and the arguments of a march. */
#include <stdlib.h>

#include "run/lanes.h"
#include "run/run_internal.h"

enum { TRIES = 128 }; /* tries per call, after which the stop flag is checked; one if every step has to be */

static double *block(const ag_lanes *l, size_t rows) {
  return ag_heap_aligned(sizeof(double) * (rows + 1) * (size_t)l->w);
}

/* The arguments of a march. */
static void march_create(ag_lanes *l, const ag_run_options *o) {
  bool minor = ag_system_role(l->sys, AG_ROLE_MINOR) != NULL;
  ag_control control;
  ag_control_init(&control, o->method, o->rtol, o->atol);
  ag_step_room room = ag_stepper_room(o->method, l->n, l->b->n_tangent, l->b->square);
  size_t n = (size_t)l->n, n_core = (size_t)ag_system_dims(l->sys)->core, n_c = (size_t)ag_system_dims(l->sys)->c;
  size_t n_rows = (size_t)(ag_system_dims(l->sys)->fragile * ag_system_dims(l->sys)->xi);
  l->fixed = o->dt > 0;
  ag_elimination how = ag_system_elimination(l->sys);
  l->basis = how == AG_ELIM_BASIS;
  l->settles =
      l->fixed && !ag_mover_in_place(l->sys, o) &&
      (ag_system_units(l->sys, l->n, NULL) || minor || ag_system_dims(l->sys)->g || how == AG_ELIM_SADDLE || l->basis);
  l->n_carry = l->n + room.own;
  l->m = (ag_fused_args){.t = block(l, 1),
                         .h = block(l, 1),
                         .z = block(l, n),
                         .z1 = block(l, n),
                         .work = block(l, room.size),
                         .c = block(l, n_c),
                         .turn = block(l, 1),
                         .prep = l->prep[AG_FUSED_RHS],
                         .prep_jacobian = l->prep[AG_FUSED_JACOBIAN],
                         .prep_finish = l->prep[AG_FUSED_FINISH],
                         .prep_watch = l->prep[AG_FUSED_WATCH],
                         .prep_look = l->prep[AG_FUSED_LOOK],
                         .prep_extra = l->prep[AG_FUSED_EXTRA],
                         .prep_guard = l->prep[AG_FUSED_GUARD],
                         .rows = block(l, n_rows),
                         .prep_align = l->prep[AG_FUSED_ALIGN],
                         .prep_project = l->prep[AG_FUSED_PROJECT],
                         .prep_onto_rows = l->prep[AG_FUSED_ONTO_ROWS],
                         .prep_turn = l->prep[AG_FUSED_TURN],
                         .prep_renew = l->prep[AG_FUSED_RENEW],
                         .leave = (unsigned long long *)block(l, 1),
                         .t1 = l->t1,
                         .unit = l->unit,
                         .last_error = block(l, 1),
                         .spare = block(l, 1),
                         .h_sub = block(l, 1),
                         .end_sub = block(l, 1),
                         .keep = block(l, 2 * n_core),
                         .steps = (unsigned long long *)block(l, 1),
                         .rejected = (unsigned long long *)block(l, 1),
                         .rejected_last = (unsigned long long *)block(l, 1),
                         .sub = (unsigned long long *)block(l, 1),
                         .rtol = o->dt > 0 ? 0 : o->rtol,
                         .atol = l->atol,
                         .safety = control.safety,
                         .shrink = control.shrink,
                         .grow = control.grow,
                         .h_max = o->h_max,
                         .t0 = o->t0,
                         .dt = o->dt,
                         .max_steps = o->max_steps ? o->max_steps : 10000000,
                         .max_tries = l->settles ? 1 : TRIES};
}

/* Corners: what a march keeps for them, and whether the state of a lane is all that a single run needs there. */
static void corners_create(ag_lanes *l) {
  const ag_batch_job *b = l->b;
  const ag_dims *d = ag_system_dims(l->sys);
  for (int e = 0; e < b->watch.n; e++) l->corners = l->corners || b->watch.cuts[e];
  if (!l->corners) return;
  l->m.kept = block(l, (size_t)(AG_KEPT_NUMBERS + l->n + l->n_carry + d->c + b->watch.n));
  l->m.kept_words = (unsigned long long *)block(l, AG_KEPT_WORDS);
  l->m.corner = (unsigned long long *)block(l, 1);
  bool guarded = ag_system_role(l->sys, AG_ROLE_MINOR) || ag_system_role(l->sys, AG_ROLE_FRAGILE);
  l->corners = !guarded && !l->fixed && !b->o->run.section && l->n == d->z;
}

void ag_lanes_create(ag_lanes *l, ag_batch_job *b) {
  const ag_run_options *o = &b->o->run;
  *l = (ag_lanes){.b = b, .sys = b->sys, .w = ag_fused_lanes(b->fused), .n = b->n_z};
  size_t n = (size_t)l->n, n_core = (size_t)ag_system_dims(b->sys)->core, n_z = (size_t)ag_system_dims(b->sys)->z;
  l->member = ag_heap_alloc(sizeof *l->member * (size_t)l->w);
  l->work = ag_heap_alloc(sizeof *l->work * (size_t)l->w);
  l->seen = ag_heap_alloc(sizeof *l->seen * (size_t)l->w);
  l->audit = ag_heap_alloc(sizeof *l->audit * (size_t)l->w);
  l->params = ag_heap_alloc(sizeof *l->params * (size_t)l->w);
  for (int i = 0; i < l->w; i++) l->member[i] = -1;
  l->p = block(l, (size_t)ag_system_dims(b->sys)->param);
  l->t1 = block(l, 1);
  l->unit = block(l, (size_t)b->n_unit);
  for (int i = 0; i < AG_FUSED_TAPES; i++) l->prep[i] = block(l, (size_t)ag_fused_n_prep(b->fused, i));
  l->atol = block(l, n + 1);
  march_create(l, o);
  l->z = ag_heap_aligned(sizeof(double) * (n_z + 1));
  l->dz = ag_heap_aligned(sizeof(double) * (n_z + 1));
  l->tolerance = ag_heap_aligned(sizeof(double) * (n + 1));
  l->c = ag_heap_aligned(sizeof(double) * (size_t)(ag_system_dims(b->sys)->c + 1));
  l->x = ag_heap_aligned(sizeof(double) * (size_t)(b->n_x + 1));
  l->space = ag_heap_aligned(sizeof(double) * (3 * n_core + 3));
  if (b->watch.n) {
    l->queue = ag_queue_create(b, l->w);
    if (o->section) l->pack = ag_pack_create(b, l->w);
    l->m.memory = block(l, (size_t)b->watch.n);
    l->m.hint = block(l, (size_t)b->watch.n);
    l->m.known = block(l, (size_t)b->watch.n);
    l->m.known_t = block(l, 1);
    l->m.from = block(l, 1);
    l->m.z0 = block(l, n);
    l->m.carry0 = block(l, (size_t)l->n_carry);
    l->m.c0 = block(l, (size_t)ag_system_dims(b->sys)->c);
    l->m.seen = (unsigned long long *)block(l, 1);
    corners_create(l);
  }
  if (!b->columns.tape) return;
  l->slots = ag_heap_aligned(sizeof(double) * (size_t)(b->columns.tape->n_slot + 1));
  l->out = ag_heap_alloc(sizeof(double) * (size_t)(b->columns.tape->n_out + 1));
}

void ag_lanes_free(ag_lanes *l) {
  for (int i = 0; i < l->w; i++) ag_work_free(l->work[i]);
  ag_queue_free(l->queue);
  ag_pack_free(l->pack);
  void *all[] = {l->audit,
                 l->member,
                 l->seen,
                 l->work,
                 l->params,
                 l->p,
                 l->t1,
                 l->unit,
                 l->c,
                 l->atol,
                 l->z,
                 l->dz,
                 l->x,
                 l->space,
                 l->slots,
                 l->out,
                 l->m.t,
                 l->m.h,
                 l->m.z,
                 l->m.work,
                 l->m.z1,
                 l->m.last_error,
                 l->m.spare,
                 l->m.h_sub,
                 l->m.end_sub,
                 l->m.keep,
                 l->m.steps,
                 l->m.rejected,
                 l->m.rejected_last,
                 l->m.sub,
                 l->m.memory,
                 l->m.hint,
                 l->m.known,
                 l->m.known_t,
                 l->m.from,
                 l->m.z0,
                 l->m.carry0,
                 l->m.seen,
                 l->m.kept,
                 l->m.kept_words,
                 l->m.corner,
                 l->m.leave,
                 l->m.c,
                 l->m.c0,
                 l->m.turn,
                 l->m.rows,
                 l->tolerance};
  for (int i = 0; i < AG_FUSED_TAPES; i++) free(l->prep[i]);
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i]);
}
