/* SPDX-License-Identifier: MIT
 * One path of a model with noise. In step k the Wiener processes grow by dW_i; the method steps over h the equation
 * with the rate f + sum g_i dW_i/h, in which the increments are frozen (role INCREMENT with [1 | dW/h]). Steps have
 * their own equations: no rate is carried over, nothing is known between them, and events are looked for at their ends.
 */
#include <math.h>
#include <string.h>

#include "run/trajectory.h"

enum { PROGRESS_EVERY = 64 }; /* steps */

typedef struct walk {
  ag_wiener path;
  unsigned long long n; /* steps in all */
  double h, per_h;      /* the step; 1/h */
  double most;          /* the largest increment that implicit equations are given */
  int draws;
  double *drawn, *room;
} walk;

static walk walk_of(const run *r) {
  double nearest[2];
  walk w = {.path = ag_run_path(r->sys, r->o)};
  (void)ag_wiener_divides(&w.path, r->o->dt, r->o->t1 - r->o->t0, &w.n, nearest);
  w.h = ldexp(w.path.base * w.path.multiple, -w.path.level);
  w.per_h = 1 / w.h;
  w.most = ag_run_cut(r->sys, r->m.method, w.h);
  w.draws = r->m.method->draws;
  w.drawn = ag_heap_aligned(sizeof(double) * ag_wiener_size(&w.path, w.draws));
  w.room = ag_heap_aligned(sizeof(double) * ag_wiener_work(&w.path, w.draws));
  return w;
}

static void walk_done(walk *w) {
  free(w->drawn);
  free(w->room);
}

/* The increments of step k become the rates that the equations read. */
static void draw(run *r, walk *w, unsigned long long k) {
  bool cut = false;
  ag_wiener_step(&w->path, r->o->path, k, w->draws, w->drawn, w->room);
  for (int i = 1; i <= w->path.channels; i++) {
    double dW = fmax(-w->most, fmin(w->most, w->drawn[i]));
    cut = cut || dW != w->drawn[i];
    r->m.step[i] = dW * w->per_h;
  }
  for (size_t i = 1 + (size_t)w->path.channels; i < ag_wiener_size(&w->path, w->draws); i++)
    r->m.step[i] = w->drawn[i] * w->per_h;
  r->res->truncated += cut;
}

static void swap(double **a, double **b) {
  double *x = *a;
  *a = *b;
  *b = x;
}

/* Did the constraints turn too far from where their basis was chosen? */
bool ag_run_turned(const ag_system *sys, const ag_stepper *s, ag_work *work, double t1, const double *z1,
                   const double *c) {
  return ag_system_elimination(sys) == AG_ELIM_BASIS && ag_work_basis(work, t1, z1, c) < ag_turn_most_of_path(s);
}

/* Velocities that follow from rows that switch are read from a branch: the one at the end of the step. */
static void branch(run *r) {
  ag_mover *m = &r->m;
  if (!m->full && ag_system_dims(r->sys)->switches) ag_work_branches(m->work, r->t, m->z, m->c);
}

static ag_end step(run *r, walk *w) {
  ag_mover *m = &r->m;
  unsigned long long k = (unsigned long long)r->res->steps;
  double t = r->o->t0 + (double)k * w->h, t1 = r->o->t0 + (double)(k + 1) * w->h, error[2];
  bool changed;
  draw(r, w, k);
  int trouble = ag_mover_rhs(m, t, m->z, m->dz);
  if (!trouble) trouble = ag_mover_step(m, t, w->h, 0, 1, error);
  if (trouble) return ag_trajectory_trouble(trouble);
  if (!ag_trajectory_finite(m->n, m->z1)) return AG_END_FINITE;
  if (!m->full && ag_run_turned(r->sys, m->method, m->work, t1, m->z1, m->c)) return AG_END_TURN;
  swap(&m->z, &m->z1);
  swap(&m->dz, &m->dz1);
  r->t = t1;
  r->res->steps++;
  branch(r);
  trouble = m->in_place ? ag_mover_restore(m, t1, m->z, m->c, &changed) : ag_mover_settle(m, t1, m->z, m->c, &changed);
  branch(r);
  return trouble ? ag_trajectory_trouble(trouble) : AG_END_TIME;
}

/* Functions whose sign has changed since they were last not zero: at the end of the step. */
static ag_end look(run *r) {
  ag_mover *m = &r->m;
  ag_end end = AG_END_TIME;
  if (!ag_mover_looks(m) || ag_mover_watch(m, r->t, m->z, m->c, m->g1)) return end;
  for (int e = m->g_first; e < m->n_g; e++) {
    int sign = (m->g1[e] > 0) - (m->g1[e] < 0), old = m->sign[e];
    const ag_event *event = ag_mover_event(m, e);
    if (sign) m->sign[e] = sign;
    if (!sign || !old || sign == old || event->direction == old) continue;
    ag_trajectory_event(r, e, r->t);
    if (r->o->event) r->o->event(r->o->save_self, e, r->t);
    if (event->terminal && end == AG_END_TIME) end = AG_END_EVENT, r->res->end_event = e;
  }
  return end;
}

static ag_end loop(run *r, walk *w, long max_steps) {
  const ag_run_options *o = r->o;
  while ((unsigned long long)r->res->steps < w->n) {
    if (o->stop && *o->stop) return AG_END_STOPPED;
    ag_trajectory_engine(r);
    if (r->res->steps >= max_steps) return AG_END_STEPS;
    AG_TRY_END(step(r, w));
    ag_end end = look(r);
    if (!ag_trajectory_reached(r)) return AG_END_SINK;
    if (r->off) return AG_END_PROJECT;
    if (end != AG_END_TIME) return end;
    if (r->res->steps % PROGRESS_EVERY) continue;
    if (o->progress) o->progress(o->progress_self, r->t, r->res->steps);
    ag_trajectory_save(r);
  }
  return AG_END_TIME;
}

ag_end ag_trajectory_noisy(run *r, long max_steps) {
  walk w = walk_of(r);
  ag_trajectory_save(r);
  ag_end end = loop(r, &w, max_steps);
  walk_done(&w);
  return end;
}
