/* SPDX-License-Identifier: MIT
 * Corners of the equations in a batch, and places where they switch: the member of a lane that meets one makes the
 * steps up to it and across it by the code of a single run, from the state before the step in which it was met, and
 * then goes on in its lane. */
#include <math.h>
#include <stdlib.h>

#include "run/corner.h"

enum { MOST = 64 }; /* steps; after which the lane tries again */

void ag_corner_create(run *r, const ag_system *sys, const ag_run_options *o) {
  const ag_dims *d = ag_system_dims(sys);
  r->sys = sys, r->o = o, r->lane = true;
  ag_run_result *res = r->res = ag_heap_alloc(sizeof *res);
  *res = (ag_run_result){.n_event = ag_run_n_event(sys, o), .energy_law = AG_ENERGY_CONSERVED};
  res->checkpoint.made = true; /* none is needed */
  res->event_count = ag_heap_alloc(sizeof *res->event_count * (size_t)(res->n_event + 1));
  res->event_times = ag_heap_alloc(sizeof *res->event_times * (size_t)(res->n_event + 1));
  r->event_cap = ag_heap_alloc(sizeof *r->event_cap * (size_t)(res->n_event + 1));
  r->ahead_z = ag_heap_alloc(sizeof(double) * (size_t)(d->z + 1));
  r->ahead_c = ag_heap_alloc(sizeof(double) * (size_t)(d->c + 1));
  r->keep = ag_heap_alloc(sizeof(double) * (size_t)(d->core + 1));
  r->guard = ag_guard_create(sys);
  ag_control_init(&r->control, o->method, o->rtol, o->atol);
}

void ag_corner_free(run *r) {
  ag_guard_free(r->guard);
  for (int e = 0; e < r->res->n_event; e++) free(r->res->event_times[e]);
  void *all[] = {r->res->event_times, r->res->event_count, r->res, r->event_cap, r->ahead_z, r->ahead_c, r->keep};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i]);
}

/* Has a corner been passed? */
static bool passed(const run *r) {
  const ag_model *m = ag_system_model(r->sys);
  for (int e = 0; e < ag_model_n_events(m); e++)
    if (ag_model_events(m)[e].cuts && r->res->event_count[e]) return true;
  return false;
}

/* Can the lane go on? Across a corner, or after many steps; where equations switch, unless the motion slides. */
static bool beyond(const run *r, long first) {
  if (r->m.switches) return r->res->steps > first && !ag_switch_slides(&r->m);
  return passed(r) || r->res->steps - first >= MOST;
}

ag_end ag_corner_pass(run *r) {
  const ag_run_options *o = r->o;
  long max_steps = o->max_steps ? o->max_steps : 10000000, first = r->res->steps;
  r->cut = r->pending = AG_END_TIME;
  r->corner = r->passed = r->renew = false;
  r->smooth = 0, r->reach = r->t;
  r->switch_at = r->ahead = r->mark = NAN;
  r->m.trouble = 0;
  r->control.atol = r->m.tolerance[r->m.n];
  for (int e = 0; e < r->res->n_event; e++) r->res->event_count[e] = 0;
  ag_guard_forget(r->guard);
  do {
    if (o->stop && *o->stop) return AG_END_STOPPED;
    if (r->res->steps >= max_steps) return AG_END_STEPS;
    if (fabs(r->h) > o->h_max) r->h = copysign(o->h_max, r->h);
    AG_TRY_END(ag_trajectory_step(r));
  } while (r->t != o->t1 && (r->smooth != 0 || !beyond(r, first)));
  double limit = ag_trajectory_turn_limit(r); /* as lanes have it after a step */
  if (fabs(r->h) > fmin(limit, o->h_max)) r->h = copysign(fmin(limit, o->h_max), r->h);
  return AG_END_TIME;
}
