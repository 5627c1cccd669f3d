/* SPDX-License-Identifier: MIT
 * What a run records: rows at the states where they are due, the energy and the constraints at those it looks at. */
#include <math.h>
#include <string.h>

#include "run/switch.h"
#include "run/trajectory.h"

/* A state that is projected onto the constraints after each step violates them by rounding error. One that violates
 * them by much more, relative to its velocities, is not a state of this system, whatever the reason. */
static const double OFF = 1e-6;

bool ag_recording_off(const run *r, double residual, const double *x) {
  double size = 1;
  for (int i = 0; i < ag_system_dims(r->sys)->xi; i++) size = fmax(size, fabs(x[ag_system_dims(r->sys)->q + i]));
  return !(residual <= OFF * size);
}

void ag_recording_fill(run *r, double t, const double *z, const double *c, const double *x) {
  ag_mover *m = &r->m;
  const ag_dims *n = ag_system_dims(r->sys);
  bool forces = m->switches && ag_system_observes_forces(r->sys), held = !forces || ag_slide_hold(m, t, z, c);
  ag_record_fill(r->sys, m->work, t, x, r->record);
  if (m->step && r->o->columns) {
    const double *seg[AG_SEG_COUNT] = {[AG_SEG_T] = &t, [AG_SEG_Z] = z, [AG_SEG_P] = r->params, [AG_SEG_C] = c};
    (void)ag_tape_eval(r->o->columns, seg, r->column_slots, r->column_out);
    for (int i = 0; i < r->o->columns->n_out; i++) r->record[r->column_at[i]] = r->column_out[i];
  }
  double *observed = r->record + r->res->width - 2 - n->observe; /* before energy and residual */
  if (ag_switch_slides(m) && ag_system_role(r->sys, AG_ROLE_OBSERVED))
    held = ag_slide_observe(m, t, z, c, x, observed) && held;
  ag_slide_let_go(m);
  if (held || r->res->one_sided || !ag_switch_slides(m)) return;
  r->res->one_sided = true;
  r->res->one_sided_t = t;
}

bool ag_recording_row(run *r, double t, const double *z, const double *c, const double *x) {
  ag_recording_fill(r, t, z, c, x);
  double residual = r->record[r->res->width - 1];
  r->res->residual_max = fmax(r->res->residual_max, residual);
  r->off = r->off || ag_recording_off(r, residual, x);
  for (int i = 1; i < r->res->width; i++)
    if (!isfinite(r->record[i]) && isnan(r->res->undefined[i])) r->res->undefined[i] = t;
  if (r->sink && !r->sink->row(r->sink->self, r->record)) return false;
  r->n_row++;
  return true;
}

double ag_trajectory_grid(const run *r) {
  return r->o->t0 + (r->o->t1 > r->o->t0 ? 1 : -1) * r->o->every * (double)r->n_recorded;
}

bool ag_trajectory_rows(run *r, double t, double h, double t1) {
  ag_mover *m = &r->m;
  double slack = 1e-12 * fmax(fabs(r->o->every), fabs(t1) * 1e-3);
  for (;; r->n_recorded++) {
    double s = ag_trajectory_grid(r);
    if ((h > 0 ? t1 - s : s - t1) <= slack) return true;
    m->method->interpolate(m->method, m->n, (s - t) / h, m->z, m->space, m->zt);
    memcpy(m->c1, m->c, sizeof(double) * (size_t)m->n_c);
    bool changed;
    (void)ag_mover_settle(m, s, m->zt, m->c1, &changed);
    ag_mover_full(m, s, m->zt, m->c1, m->x);
    if (!ag_recording_row(r, s, m->zt, m->c1, m->x)) return false;
  }
}

void ag_recording_energy(run *r) {
  double size, E = ag_work_energy(r->m.work, r->t, r->m.x, &size);
  if (r->res->steps == 0) r->res->energy0 = E;
  r->res->energy_size = fmax(r->res->energy_size, size);
  double drift = fabs(E - r->res->energy0);
  if (!(drift <= r->res->energy_drift)) r->res->energy_drift = drift; /* NaN stays visible */
}

/* Velocities are not known better than atol: an energy below that of such velocities, or below the work of the forces
 * at such velocities, is rounding, and not a size that errors are judged by. */
void ag_recording_floor(run *r) {
  ag_mover *m = &r->m;
  const ag_dims *n = ag_system_dims(r->sys);
  double size, *x = ag_heap_alloc(sizeof *x * (size_t)(n->x + 1));
  memcpy(x, m->x, sizeof *x * (size_t)n->q);
  for (int i = 0; i < n->xi; i++) x[n->q + i] = r->res->atol;
  (void)ag_work_energy(m->work, r->t, x, &size);
  double work = fabs((r->t - r->o->t0) * ag_work_energy_rate(m->work, r->t, x));
  r->res->energy_size = fmax(r->res->energy_size, fmax(size, isfinite(work) ? work : 0));
  free(x);
}

/* Is this state passed to the caller? */
static bool shown(const run *r) {
  const ag_run_options *o = r->o;
  return o->each && (o->each_every <= 0 || r->res->steps <= o->each_first || r->res->steps % o->each_every == 0);
}

/* The energy is looked at in every eighth of the first thousand steps, later in every 32nd. */
static long energy_every(const run *r) { return r->res->steps < 1024 ? 8 : 32; }

long ag_recording_next(const run *r) {
  const ag_run_options *o = r->o;
  long now = r->res->steps, steps = energy_every(r) - now % energy_every(r);
  if (r->looks || (o->each && (o->each_every <= 0 || now < o->each_first))) return 1;
  if (o->each && o->each_every - now % o->each_every < steps) steps = o->each_every - now % o->each_every;
  return steps;
}

bool ag_trajectory_reached(run *r) {
  ag_mover *m = &r->m;
  double every = r->o->every;
  bool due = !r->o->section && (every == 0 || (every > 0 && fabs(ag_trajectory_grid(r) - r->t) <=
                                                                1e-12 * fmax(every, fabs(r->t) * 1e-3)));
  if (!due && !shown(r) && r->res->steps % energy_every(r)) return true;
  ag_mover_output(m, r->t, m->z, m->c, m->x);
  ag_recording_energy(r);
  ag_guard_look(r->guard, m->work, r->t, m->x, r->res);
  if (shown(r)) r->o->each(r->o->each_self, r->t, m->x);
  if (!due) return true;
  if (every > 0) r->n_recorded++;
  return ag_recording_row(r, r->t, m->z, m->c, m->x);
}
