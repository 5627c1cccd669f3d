/* SPDX-License-Identifier: MIT
 * Checkpoints: the current state of a run, and copies that outlive it. */
#include <stdlib.h>
#include <string.h>

#include "run/trajectory.h"

static void *copy_of(const void *from, size_t size) {
  void *to = ag_heap_alloc(size + 1);
  if (size) memcpy(to, from, size);
  return to;
}

void ag_checkpoint_keep(ag_checkpoint *copy, const ag_checkpoint *c) {
  *copy = *c;
  copy->z = copy_of(c->z, sizeof(double) * (size_t)c->n);
  copy->dz = copy_of(c->dz, sizeof(double) * (size_t)c->n_carry);
  copy->unit = copy_of(c->unit, sizeof(double) * (size_t)c->n_unit);
  copy->atol = copy_of(c->atol, sizeof(double) * (size_t)c->n_atol);
  copy->c = copy_of(c->c, sizeof(double) * (size_t)c->n_c);
  copy->sign = copy_of(c->sign, sizeof(int) * (size_t)c->n_event);
  copy->event_count = copy_of(c->event_count, sizeof(int) * (size_t)c->n_event);
}

void ag_checkpoint_done(ag_checkpoint *copy) {
  free(copy->z);
  free(copy->dz);
  free(copy->unit);
  free(copy->atol);
  free(copy->c);
  free(copy->sign);
  free(copy->event_count);
  *copy = (ag_checkpoint){0};
}

ag_checkpoint ag_trajectory_here(run *r) {
  ag_mover *m = &r->m;
  const ag_run_result *res = r->res;
  return (ag_checkpoint){.made = true,
                         .n = m->n,
                         .n_carry = m->n_carry,
                         .n_unit = m->n_unit,
                         .n_atol = res->least_atol < res->atol ? ag_system_dims(r->sys)->x : 0,
                         .n_c = ag_system_dims(r->sys)->c + (m->full ? m->n_c : 0) + r->all,
                         .n_event = res->n_event,
                         .t = r->t,
                         .h = r->h,
                         .smooth = r->smooth,
                         .switch_t = r->switch_t,
                         .switch_gap = r->switch_gap,
                         .n_switch = r->n_switch,
                         .reach = r->reach,
                         .mark = r->mark,
                         .n_mark = r->n_mark,
                         .left = res->left,
                         .left_t = res->left_t,
                         .left_value = res->left_value,
                         .left_from = res->left_from,
                         .left_to = res->left_to,
                         .t_row = r->record[0],
                         .n_row = r->n_row,
                         .n_grid = r->n_recorded,
                         .steps = res->steps,
                         .rejected = res->rejected,
                         .rhs = m->n_rhs,
                         .energy0 = res->energy0,
                         .energy_size = res->energy_size,
                         .energy_drift = res->energy_drift,
                         .residual_max = res->residual_max,
                         .work = res->work,
                         .work_t = res->work_t,
                         .work_energy = res->work_energy,
                         .control = r->control,
                         .z = m->z,
                         .dz = m->dz,
                         .unit = m->unit_length,
                         .atol = r->own_atol,
                         .c = m->c,
                         .sign = m->sign,
                         .event_count = res->event_count,
                         .event_times = res->event_times};
}
