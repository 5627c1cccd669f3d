/* SPDX-License-Identifier: MIT
 * One step of a trajectory: tried until it is accepted, searched for events, projected onto the constraints. */
#include <math.h>
#include <string.h>

#include "run/switch.h"
#include "run/trajectory.h"

ag_end ag_trajectory_trouble(int trouble) {
  switch (trouble) {
  case AG_STEP_STAGES: return AG_END_STAGES;
  case AG_STEP_LEVEL: return AG_END_LEVEL;
  case AG_STEP_DEPENDENT: return AG_END_DEPENDENT;
  case AG_TROUBLE_RANK: return AG_END_RANK;
  case AG_TROUBLE_MASS:
  case AG_TROUBLE_PIVOT: return AG_END_MASS;
  case AG_TROUBLE_PROJECT: return AG_END_PROJECT;
  case AG_TROUBLE_DOMAIN: return AG_END_DOMAIN;
  default: return AG_END_STEP;
  }
}

bool ag_trajectory_finite(int n, const double *z) {
  for (int i = 0; i < n; i++)
    if (!isfinite(z[i])) return false;
  return true;
}

/* Why no step could be made, however small: as reported by the right-hand side at the current state. */
static ag_end diagnose(run *r) {
  ag_mover *m = &r->m;
  m->trouble = 0;
  int trouble = ag_mover_rhs(m, r->t, m->z, m->dz1);
  if (trouble) return ag_trajectory_trouble(trouble);
  if (!ag_trajectory_finite(m->n, m->dz1)) return AG_END_FINITE;
  return m->trouble ? ag_trajectory_trouble(m->trouble) : AG_END_STEP;
}

double ag_trajectory_turn_limit(run *r) {
  ag_mover *m = &r->m;
  if (m->full || ag_system_elimination(r->sys) != AG_ELIM_BASIS) return INFINITY;
  double rate = ag_work_turning(m->work, r->t, m->z, m->c);
  return rate > 0 ? AG_TURN_STEP / rate : INFINITY;
}

/* Did they turn too far anyway? cos^2 of the angle since the basis was chosen. */
static bool turned_too_far(run *r, double t1) {
  return !r->m.full && ag_system_elimination(r->sys) == AG_ELIM_BASIS &&
         ag_work_basis(r->m.work, t1, r->m.z1, r->m.c) < AG_TURN_MOST;
}

/* Before each try: the first one shortened by the end time is where a longer run would differ from this one. */
static void note_try(run *r, bool last) {
  double direction = r->o->t1 > r->o->t0 ? 1 : -1, reach = r->t + 1.000001 * r->h;
  if (!last) {
    if (!((r->reach - reach) * direction >= 0)) r->reach = reach;
  } else if (!r->res->checkpoint.made) {
    ag_checkpoint c = ag_trajectory_here(r);
    ag_checkpoint_keep(&r->res->checkpoint, &c);
  }
}

/* Thousands of tries without progress relative to the motion so far: the error is rounding error and does not decrease
 * with the step. Other motions pass even a difficult region in some hundred tries. Where few tries are rejected, ten
 * times less progress shows it: at that pace ten million steps would take the motion no farther. */
static bool stuck(run *r) {
  enum { TRIES = 4000 };
  static const double NOWHERE = 1e-6;
  long rejected = r->res->rejected - r->n_mark;
  if ((r->res->steps + r->res->rejected) % TRIES) return false;
  double moved = fabs(r->t - r->mark);
  r->mark = r->t;
  r->n_mark = r->res->rejected;
  double nowhere = NOWHERE * fabs(r->t - r->o->t0) * (rejected > TRIES / 4 ? 1 : 0.1);
  return moved < nowhere;
}

/* The number of fixed steps made: a corner may have divided one of them. */
static double grid_steps(const run *r) { return floor(fabs(r->t - r->o->t0) / r->o->dt + 1e-6); }

/* Across a surface within rounding error: the branch beyond it may not exist before it (a root). */
static void step_over(run *r, double h) {
  ag_mover *m = &r->m;
  if (ag_mover_rhs(m, r->t, m->z, m->dz1)) return;
  for (int i = 0; i < m->n; i++) m->z[i] += h * m->dz1[i];
  r->t += h;
}

static const double AT_END = 1e-11; /* of the time so far */

/* Steps fail near the end of a branch. True: it is reached, and the motion continues beyond it; *end: whether it does.
 * Where a row of the constraints fades away at that end, it continues without the row. */
static bool at_branch_end(run *r, double step, ag_end *end) {
  double limit, nothing = ag_trajectory_nothing(r);
  if (r->m.full) nothing = fmax(nothing, AT_END * fabs(r->t - r->o->t0)); /* a row is lost before its factor is zero */
  bool here = ag_switch_ahead(&r->m, r->t, step, nothing, &limit);
  if (!here) r->h = copysign(fmin(fabs(r->h), 0.98 * limit), r->h);
  if (!here || ag_rows_faded(r)) return here;
  step_over(r, copysign(2 * limit, step));
  *end = ag_rows_turn(r);
  r->h = step;
  return true;
}

/* Terms that may be short in time: is the step about to be tried (made: just made) too long to resolve them? */
static bool strides(run *r, double step, bool made, double *shorter) {
  ag_mover *m = &r->m;
  return m->pulse && ag_pulse_moves(m) == made && ag_pulse_unseen(m, r->t, step, shorter);
}

/* A try was rejected; a smaller one follows. False: the run ends. */
static bool try_smaller(run *r, double step, double next, bool good, ag_end *end) {
  double corner;
  r->res->rejected++;
  r->h = next;
  *end = AG_END_TIME;
  if (!good && r->m.switches && at_branch_end(r, step, end) && *end != AG_END_TIME) return false;
  if (good && ag_events_corner(&r->m, r->t, step, &corner)) {
    if (r->smooth == 0) r->smooth = step;
    r->h = ag_trajectory_before(r, corner, AG_CORNER_PART) - r->t;
  }
  if (r->o->stop && *r->o->stop) {
    *end = AG_END_STOPPED;
    return false;
  }
  return true;
}

static double next_grid(const run *r) {
  const ag_run_options *o = r->o;
  return o->t0 + (o->t1 > o->t0 ? 1 : -1) * o->dt * (grid_steps(r) + 1);
}

/* Does the next step reach the end? A fixed step does not follow r->h, which may have become short before a switch. */
static bool is_last(const run *r) {
  const ag_run_options *o = r->o;
  double left = fabs(o->t1 - r->t);
  return fabs(r->h) * 1.0000001 >= left || (o->dt > 0 && fabs(next_grid(r) - r->t) * 1.0000001 >= left);
}

/* On the way to a corner: a step across it would be rejected. The step size that is resumed with after it tells how far
 * a function is followed, so that a continued run finds the same. */
static void approach_corner(run *r) {
  static const double PART = 1 - 1e-5;
  double corner;
  if (r->smooth == 0 || r->o->dt > 0 || !ag_events_ahead(&r->m, r->t, r->h, r->smooth, &corner)) return;
  r->h = ag_trajectory_before(r, corner, PART) - r->t;
}

/* One accepted step from r->t towards o->t1 into m->z1; *t1 its end. False: no step could be made, *end says why. */
static bool advance(run *r, double *t1, ag_end *end) {
  ag_mover *m = &r->m;
  const ag_run_options *o = r->o;
  double *h = &r->h;
  double limit = ag_trajectory_turn_limit(r);
  if (o->dt > 0 && o->dt > AG_TURN_FIXED * limit) {
    *end = AG_END_TURN;
    return false;
  }
  if (o->dt <= 0 && fabs(*h) > limit) *h = copysign(limit, *h);
  approach_corner(r);
  for (;;) {
    bool last = is_last(r);
    double target = last ? o->t1 : o->dt > 0 ? next_grid(r) : r->t + *h;
    double step = last || o->dt > 0 ? target - r->t : *h, error[2] = {0, 0}, next = *h;
    note_try(r, last);
    if (step == 0 || fabs(o->dt > 0 ? step : *h) <= 1e-15 * fabs(r->t) || (o->dt <= 0 && stuck(r))) {
      *end = diagnose(r);
      return false;
    }
    if (strides(r, step, false, h)) continue;
    int trouble = ag_mover_step(m, r->t, step, m->rtol, r->control.atol, error);
    /* reconstructed variables may need smaller steps where a step is good for the core */
    int n = m->full || o->dt > 0 ? m->n : ag_system_dims(r->sys)->core;
    bool good = !trouble && ag_trajectory_finite(n, m->z1) && ag_trajectory_finite(n, m->dz1),
         turned = good && turned_too_far(r, target);
    if (o->dt > 0) {
      *t1 = target;
      if (!good || turned) *end = trouble ? ag_trajectory_trouble(trouble) : turned ? AG_END_TURN : AG_END_FINITE;
      return good && !turned;
    }
    good = good && !turned;
    bool accepted = ag_control_judge(&r->control, m->method, step, good ? error[0] : NAN, &next);
    if (!accepted && good && r->smooth != 0 && fabs(step) <= 4 * ag_trajectory_nothing(r))
      accepted = true; /* across a corner */
    if (m->pulse && accepted && strides(r, step, true, &next)) accepted = false;
    if (accepted) {
      *t1 = target;
      r->step = step;
      r->rest_error = error[1];
      /* a step cut short by the end says nothing about the size */
      *h = last && fabs(next) < fabs(*h) ? *h : next;
      return true;
    }
    if (!try_smaller(r, step, next, good, end)) return false;
  }
}

/* Crossings, records and work inside the step from m->z at r->t to m->z1 at *t1. A crossing that ends the run moves *t1
 * and m->z1 back to it. AG_END_TIME: all is well. */
static ag_end follow_inside(run *r, double *t1) {
  ag_mover *m = &r->m;
  const ag_run_options *o = r->o;
  const double end = *t1, step = end - r->t, before = r->res->work;
  bool looks = ag_mover_looks(m), grid = !o->section && o->every > 0 && (*t1 - ag_trajectory_grid(r)) * step > 0;
  if (looks && ag_look_clear(m, r->t, step)) looks = false;
  bool work = ag_balance_measures(r), whole = false;
  double done = 0;
  if (work) whole = ag_balance_whole(r, r->t, step, &done);
  if (whole) r->res->work += done;
  if (!looks && !grid && (whole || !work)) return AG_END_TIME;
  int trouble = m->method->dense(m->method, &m->flow, r->t, step, m->z, m->z1, m->space);
  if (trouble) return ag_trajectory_trouble(trouble);
  if (looks) AG_TRY_END(ag_trajectory_crossings(r, t1));
  if (whole && *t1 != end) r->res->work = before, whole = false;
  if (work && !whole) ag_balance_add(r, r->t, step, *t1);
  if (grid && !ag_trajectory_rows(r, r->t, step, *t1)) return AG_END_SINK;
  if (r->cut == AG_END_TIME && !r->corner) return AG_END_TIME;
  if (!ag_mover_at(m, r->t, *t1, m->z1)) return AG_END_STEP;
  return ag_mover_rhs(m, *t1, m->z1, m->dz1) ? ag_trajectory_trouble(m->trouble) : AG_END_TIME;
}

/* The same; the work of a step that is not taken does not count. */
static ag_end look_inside(run *r, double *t1) {
  const double done = r->res->work;
  const ag_end end = follow_inside(r, t1);
  if (end != AG_END_TIME) r->res->work = done;
  return end;
}

static void swap(double **a, double **b) {
  double *x = *a;
  *a = *b;
  *b = x;
}

/* The core accepted the step, but the reconstructed variables need smaller ones: the whole state is integrated over the
 * same interval in smaller steps, of which only the rest is kept; the core ends exactly where its own step did. Far
 * more of them than the run may have steps are not begun. */
static ag_end small_steps(run *r, double *t1) {
  ag_mover *m = &r->m;
  int n_core = ag_system_dims(r->sys)->core;
  double end = *t1, h = r->step * ag_control_rest(m->method, r->rest_error, true);
  double most = AG_REST_MOST * (double)(r->o->max_steps ? r->o->max_steps : 10000000);
  enum { PATIENCE = 1000000 }; /* tries; a run that is stopped between steps continues with the same bits */
  long n_tried = 0;
  memcpy(r->keep, m->z1, sizeof(double) * (size_t)n_core);
  ag_end reason = AG_END_TIME;
  while (r->t != end && reason == AG_END_TIME && r->cut == AG_END_TIME && !r->corner) {
    bool last = fabs(end - r->t) <= fabs(h) * 1.0000001;
    double to = last ? end : r->t + h, step = last ? end - r->t : h, error[2] = {0, 0};
    if (fabs(h) <= fabs(r->t) * 1e-15) return diagnose(r);
    if (fabs(h) * most < fabs(end - r->t)) return AG_END_STEPS;
    if (n_tried++ > PATIENCE && r->o->stop && *r->o->stop) return AG_END_STOPPED;
    int trouble = ag_mover_step(m, r->t, step, m->rtol, r->control.atol, error);
    if (trouble) error[1] = NAN;
    h = step * ag_control_rest(m->method, error[1], false);
    if (!(error[1] <= 1)) continue;
    reason = look_inside(r, &to);
    swap(&m->z, &m->z1);
    swap(&m->dz, &m->dz1);
    r->t = to;
  }
  if (reason != AG_END_TIME) return reason;
  if (r->cut == AG_END_TIME && !r->corner) memcpy(m->z, r->keep, sizeof(double) * (size_t)n_core);
  *t1 = r->t;
  /* the end of the interval, as the caller expects it; what the method carries on is that of the last small step */
  swap(&m->z, &m->z1);
  memcpy(m->dz1 + m->n, m->dz + m->n, sizeof(double) * (size_t)(m->n_carry - m->n));
  return ag_mover_rhs(m, *t1, m->z1, m->dz1) ? ag_trajectory_trouble(m->trouble) : AG_END_TIME;
}

/* Takes m->z1 at t1 as the new state. */
static int arrive(run *r, double t1) {
  ag_mover *m = &r->m;
  bool changed = false;
  swap(&m->z, &m->z1);
  swap(&m->dz, &m->dz1);
  r->t = t1;
  int trouble = AG_FINE;
  if (m->in_place && r->cut != AG_END_TIME) return AG_FINE;
  if (r->ahead == t1) { /* it has been done */
    memcpy(m->z, r->ahead_z, sizeof(double) * (size_t)m->n);
    memcpy(m->c, r->ahead_c, sizeof(double) * (size_t)m->n_c);
    changed = r->ahead_changed;
  } else if (m->in_place) trouble = ag_mover_restore(m, t1, m->z, m->c, &changed);
  else trouble = ag_mover_settle(m, t1, m->z, m->c, &changed);
  if (!trouble && changed) trouble = ag_mover_rhs(m, t1, m->z, m->dz);
  return trouble;
}

/* Is the step just made, shorter than one that was good, worse than that? A constraint that fades away at its end
 * leaves accelerations whose rounding errors grow without bound; in a very short step they do not count. */
static bool rough(const run *r, double error) {
  return r->o->dt <= 0 && error > 2 && fabs(r->step) > ag_trajectory_nothing(r);
}

/* A constraint that vanishes inside the step ends the motion there: the step is made again up to that point. False:
 * that was not possible, or another step shall come before it. */
static bool cut_at_zero(run *r, double *t1) {
  ag_mover *m = &r->m;
  double at, error[2] = {0, 0};
  r->approach = false;
  if (!ag_guard_vanishes(r->guard, m, r->t, *t1, &at)) return true;
  *t1 = at;
  r->pending = AG_END_RANK;
  r->step = at - r->t;
  if (ag_mover_step(m, r->t, at - r->t, m->rtol, r->control.atol, error)) return false;
  r->rest_error = error[1];
  r->approach = rough(r, error[0]);
  return !r->approach && ag_trajectory_finite(m->n, m->z1) && ag_trajectory_finite(m->n, m->dz1);
}

/* Are reconstructed variables good enough after the step just accepted? What earlier steps have left of their tolerance
 * counts (docs/design/0008). */
static bool rest_is_good(const run *r) { return r->rest_error <= 1 + r->control.spare; }

/* The state after the step, taken back onto the constraints. */
static int settle_ahead(run *r, double t1) {
  ag_mover *m = &r->m;
  r->ahead = NAN;
  bool simple = m->in_place && !m->projected && !m->holds && ag_system_elimination(r->sys) != AG_ELIM_BASIS;
  if (simple || !rest_is_good(r) || r->pending == AG_END_RANK) return AG_FINE;
  memcpy(r->ahead_z, m->z1, sizeof(double) * (size_t)m->n);
  memcpy(r->ahead_c, m->c, sizeof(double) * (size_t)m->n_c);
  int trouble = m->in_place ? ag_mover_restore(m, t1, r->ahead_z, r->ahead_c, &r->ahead_changed)
                            : ag_mover_settle(m, t1, r->ahead_z, r->ahead_c, &r->ahead_changed);
  if (!trouble) r->ahead = t1;
  return trouble == AG_TROUBLE_DOMAIN ? AG_FINE : trouble; /* that is checked on arrival */
}

/* A step was too long: a shorter one is to be tried. False: there is none. */
static bool shorten(run *r) {
  double least = 1e-14 * fmax(fabs(r->t), fabs(r->o->t1 - r->o->t0));
  if (r->o->dt > 0 || fabs(r->step) <= least) return false;
  r->pending = AG_END_TIME;
  r->renew = false;
  ag_guard_forget(r->guard);
  r->res->rejected++;
  r->h = r->approach ? 0.98 * r->step : r->step / 4;
  return true;
}

/* A step to *t1 whose end is a state of the system. One that meets a singularity, or leaves the constraints farther
 * than can be corrected, was too long: a shorter one is tried, until the singularity is here. */
static bool advance_safely(run *r, double *t1, ag_end *end) {
  for (;;) {
    int trouble = AG_TROUBLE_RANK;
    if (!advance(r, t1, end)) return false;
    if (cut_at_zero(r, t1) && ag_rows_watch(r, t1)) trouble = settle_ahead(r, *t1);
    if (!trouble) return true;
    *end = ag_trajectory_trouble(trouble);
    if (!shorten(r)) return false;
  }
}

/* The step is made again up to the place where the equations switch, if there is one. False: that was not possible, or
 * another step shall come before it. */
static bool cut_at_switch(run *r, double *t1) {
  ag_mover *m = &r->m;
  double at, error[2] = {0, 0};
  r->switch_at = NAN;
  r->approach = false;
  if (!m->switches) return true;
  bool found = ag_switch_first(m, r->t, *t1 - r->t, &at);
  if (m->switches->part < 1 || m->switches->blind) return false;
  if (!found) return true;
  r->switch_at = *t1 = at;
  r->step = at - r->t;
  if (at == r->t) {
    memcpy(m->z1, m->z, sizeof(double) * (size_t)m->n);
    memcpy(m->dz1, m->dz, sizeof(double) * (size_t)m->n_carry);
    r->rest_error = 0;
    return true;
  }
  if (ag_mover_step(m, r->t, at - r->t, m->rtol, r->control.atol, error)) return false;
  r->rest_error = error[1];
  r->approach = rough(r, error[0]);
  if (r->approach || !ag_trajectory_finite(m->n, m->z1) || !ag_trajectory_finite(m->n, m->dz1)) return false;
  return !r->all || ag_mover_rhs(m, at, m->z1, m->zt) == 0; /* no stage need lie where a row has faded away */
}

/* Many switches in a time that is negligible relative to the longest time between two: more than there are surfaces,
 * since as many bodies may move alike. */
static bool accumulate(run *r) {
  enum { MANY = 24, EACH = 3 };
  static const double NO_TIME = 1e-8;
  double gap = isnan(r->switch_t) ? fabs(r->t - r->o->t0) : fabs(r->t - r->switch_t);
  r->switch_t = r->t;
  r->switch_gap = fmax(r->switch_gap, gap);
  r->n_switch = gap <= NO_TIME * r->switch_gap ? r->n_switch + 1 : 0;
  return r->n_switch >= MANY + EACH * r->m.switches->n;
}

ag_end ag_trajectory_switch(run *r) {
  static const ag_end ends[] = {AG_END_TIME, AG_END_STICKS, AG_END_FORKS, AG_END_SLIDES};
  double h = r->h != 0 ? r->h : 1e-3 * fabs(r->o->t1 - r->o->t0);
  double gap = fabs(r->t - r->switch_t);
  if (r->res->steps && accumulate(r)) return AG_END_ZENO;
  if (gap > 0 && fabs(r->h) > 10 * gap) r->h = copysign(10 * gap, r->h); /* others may follow as quickly */
  ag_turn turn = ag_slide_decide(&r->m, r->t, r->o->t1 < r->o->t0 ? -1 : 1, h);
  return turn == AG_TURN_STUCK && gap < 1e-3 * r->switch_gap ? AG_END_ZENO : ends[turn];
}

/* Crossings found at the end of the step must not be found again when the switch has moved the state by
 * rounding. */
static void recall_signs(run *r) {
  ag_mover *m = &r->m;
  if (!ag_mover_looks(m) || ag_mover_watch(m, r->t, m->z, m->c, m->g1)) return;
  for (int e = m->g_first; e < m->n_g; e++) {
    int n = r->res->event_count[e];
    if (n && fabs(r->res->event_times[e][n - 1] - r->t) <= 1e-12 * fmax(fabs(r->t), fabs(r->h)))
      m->sign[e] = ag_switch_slides(m) ? 0 : (m->g1[e] > 0) - (m->g1[e] < 0);
  }
}

static void use_tolerance(run *r) {
  if (r->o->dt > 0 || ag_system_dims(r->sys)->core == r->m.n) return;
  r->control.spare = fmin(AG_REST_SPARE, (1 + r->control.spare) - r->rest_error);
}

/* The step was made shorter, to end where the equations switch: rows are looked at again over what is left of it, since
 * one that acts between two switches may be found only there. */
static bool watch_again(run *r, double *t1, double *whole) {
  if (*t1 == *whole || *t1 == r->t || !r->watches) return true;
  r->pending = AG_END_TIME, r->renew = false;
  if (!ag_rows_watch(r, t1)) return false;
  *whole = *t1;
  return true;
}

/* The step to a switch could not be made, or is to be examined in parts: a shorter one. */
static bool try_before(run *r) {
  double part = r->m.switches->part, step = r->step, near = r->h; /* of at_branch_end */
  if (!shorten(r)) return false;
  if (r->approach) return true;
  if (part < 1) r->h = part * step;
  else if (r->m.full && fabs(near) < fabs(step)) r->h = near;
  return true;
}

static ag_end step_once(run *r) {
  double t1, whole;
  ag_end end = AG_END_STEP;
  ag_balance_begin(r);
  do {
    if (!advance_safely(r, &t1, &end)) return end;
    if (t1 == r->t) return r->pending != AG_END_TIME ? r->pending : ag_rows_settled(r); /* a row begins to act here */
    whole = t1;
    if (cut_at_switch(r, &t1) && watch_again(r, &t1, &whole)) break;
    if (!r->approach && r->m.full && r->m.switches->part == 1 && at_branch_end(r, r->step, &end)) return end;
    if (!try_before(r)) return AG_END_STEP; /* the equations have no value where they switch */
  } while (true);
  if (t1 == r->t && (r->pending != AG_END_TIME || r->renew))
    return r->pending != AG_END_TIME ? r->pending : ag_rows_settled(r); /* a row that acts up to the next switch */
  bool rest = rest_is_good(r);
  if (rest) use_tolerance(r);
  AG_TRY_END(rest ? look_inside(r, &t1) : small_steps(r, &t1));
  if (t1 != whole) r->pending = AG_END_TIME, r->renew = false; /* something else comes before it */
  int trouble = arrive(r, t1);
  bool work = ag_balance_measures(r);
  r->res->steps++;
  if (work && !ag_balance_measures(r)) ag_mover_output(&r->m, r->t, r->m.z, r->m.c, r->m.x), ag_balance_mark(r);
  if (trouble == AG_TROUBLE_DOMAIN && r->cut == AG_END_TIME && r->pending == AG_END_TIME) {
    r->said = (ag_rows_report){.row = -1};
    (void)ag_rows_cease(r); /* is that why? */
    if (ag_rows_renew(r, "the velocities solved for so far can no longer be")) trouble = AG_FINE;
  }
  if (trouble && r->pending != AG_END_RANK) return ag_trajectory_trouble(trouble);
  if (r->cut != AG_END_TIME) return r->cut;
  if (r->pending != AG_END_TIME) return r->pending;
  AG_TRY_END(ag_rows_settled(r));
  if (r->corner) ag_mover_signs(&r->m, r->t); /* crossings later in the step that was cut are found again */
  if (r->passed && r->smooth != 0) r->h = r->smooth, r->smooth = 0;
  r->corner = r->passed = false;
  if (r->t == r->switch_at && r->m.switches) { /* a row that begins to act may have changed the equations */
    r->said = (ag_rows_report){.row = -1};
    if (ag_rows_cease(r)) return ag_rows_renew(r, "a constraint ceases to act") ? AG_END_TIME : AG_END_RANK;
    AG_TRY_END(ag_rows_turn(r));
    recall_signs(r);
    return AG_END_TIME;
  }
  if (r->m.switches) ag_slide_project(&r->m, r->t, r->m.z);
  return AG_END_TIME;
}

ag_end ag_trajectory_step(run *r) {
  ag_end end = step_once(r);
  bool unsolved = end == AG_END_RANK || end == AG_END_MASS || end == AG_END_DOMAIN || end == AG_END_FINITE ||
                  end == AG_END_STEP;
  if (unsolved && ag_rows_faded(r)) end = AG_END_TIME;
  return end == AG_END_TIME && r->anew ? ag_rows_turn(r) : end;
}
