/* SPDX-License-Identifier: MIT
 * The rows of the constraints during a motion: those that were dropped, because they follow from others or do not act
 * at the start, are watched in every step. A row that begins to act takes part from then on if the velocities satisfy
 * it, and a choice of rows or velocities that goes bad is replaced: the motion goes on with the multipliers of all
 * rows, of which as many combinations are used as are independent. A row that cannot hold ends the run. */
#include <math.h>
#include <string.h>

#include "run/switch.h"
#include "run/trajectory.h"

enum { PLACES = 64 }; /* per step at which the rows are looked at */
/* A row that begins to act is satisfied if it asks for a smaller change of velocity than this, relative to them. */
static const double SATISFIED = 1e-6;

void ag_rows_begin(run *r) {
  r->watches = ag_system_watches(r->sys);
  r->rank = ag_system_dims(r->sys)->rank;
}

void ag_rows_choosing(run *r) {
  const ag_dims *n = ag_system_dims(r->sys);
  bool choose = r->m.full && n->row && n->switches && !r->watches && ag_system_elimination(r->sys) != AG_ELIM_SADDLE;
  if (choose) r->all = ag_work_take_rows(r->m.work, -1);
}

/* How many rows are independent. On a branch they stay so: one that fades away does so at its end. */
static void expect_rank(run *r, int rank) {
  r->rank = rank;
  if (r->all) ag_work_due(r->m.work, r->m.switches ? rank : 0, rank);
}

void ag_rows_here(run *r) {
  ag_mover *m = &r->m;
  const ag_dims *n = ag_system_dims(r->sys);
  double h = r->h != 0 ? r->h : 1e-3 * (r->o->t1 - r->o->t0);
  if (m->switches && !m->switches->started) ag_switch_here(m, r->t, h);
  else if (m->switches) ag_work_branch(m->work, m->c);
  if (!r->all) return;
  r->watches = true; /* those that cease to act may begin to act again */
  expect_rank(r, ag_work_rows(m->work, n->row, r->t, m->z).rank);
}

static bool speaks(ag_rows_report said) { return said.state == AG_ROWS_AWAKE || said.state == AG_ROWS_CONTRADICT; }

/* A state inside a step is off the constraints by the error of the method, and there rows may seem independent that
 * are not where the constraints hold: what they are there counts. Velocities stay as they are, unless the form looks at
 * nothing but whether rows hold where the kept ones do. */
static ag_rows_report look(run *r, double t, const double *z) {
  ag_work *w = r->m.work;
  double *x = r->m.x;
  ag_mover_full(&r->m, t, z, r->m.c, x);
  ag_rows_report said = ag_work_rows(w, r->rank, t, x);
  if (!speaks(said)) return said;
  bool sparse = ag_system_elimination(r->sys) == AG_ELIM_SADDLE;
  int trouble = sparse ? ag_work_settle_full(w, t, x) : ag_work_place(w, t, x);
  return trouble ? said : ag_work_rows(w, r->rank, t, x);
}

static ag_rows_report look_inside(run *r, double h, double theta) {
  ag_mover *m = &r->m;
  m->method->interpolate(m->method, m->n, theta, m->z, m->space, m->zt);
  return look(r, r->t + theta * h, m->zt);
}

/* Do the velocities in m->x satisfy the row that begins to act? */
static bool satisfied(const run *r, ag_rows_report said) {
  double size = 1;
  for (int i = 0; i < ag_system_dims(r->sys)->xi; i++) size = fmax(size, fabs(r->m.x[ag_system_dims(r->sys)->q + i]));
  return said.state == AG_ROWS_AWAKE && said.by <= SATISFIED * size;
}

/* A step of the method into m->z1. */
static bool step_to(run *r, double s) {
  ag_mover *m = &r->m;
  double error[2] = {0, 0};
  r->step = s - r->t;
  if (s == r->t) memcpy(m->z1, m->z, sizeof(double) * (size_t)m->n);
  else if (ag_mover_step(m, r->t, r->step, m->rtol, r->control.atol, error)) return false;
  return ag_trajectory_finite(m->n, m->z1);
}

/* Makes the step end where a row begins to act, between lo and hi: at hi if it takes part, else at lo. A step to lo
 * is not affected by the row; where time alone does not activate it, its state is that at hi. */
static bool end_at(run *r, double lo, double hi, double *t1) {
  if (!step_to(r, lo)) return false;
  ag_rows_report said = look(r, hi, r->m.z1);
  bool by_time = speaks(said);
  if (!by_time && !step_to(r, hi)) return false;
  if (!by_time) said = look(r, hi, r->m.z1);
  if (speaks(said)) r->said = said;
  r->renew = satisfied(r, r->said) && ag_system_elimination(r->sys) != AG_ELIM_SADDLE;
  *t1 = r->renew ? hi : lo;
  if (r->renew) return true;
  r->pending = AG_END_ROWS;
  return by_time || step_to(r, lo);
}

bool ag_rows_watch(run *r, double *t1) {
  ag_mover *m = &r->m;
  double h = *t1 - r->t, lo = 0, hi = 2;
  if (!r->watches) return true;
  bool dense = m->method->dense(m->method, &m->flow, r->t, h, m->z, m->z1, m->space) == 0;
  ag_rows_report said = look(r, *t1, m->z1), now;
  if (speaks(said)) hi = 1;
  for (int i = 1; dense && i < PLACES; i++) {
    double theta = (double)i / PLACES;
    now = look_inside(r, h, theta);
    if (speaks(now)) {
      hi = theta, said = now;
      break;
    }
    lo = theta;
  }
  if (hi > 1) return true;
  for (int i = 0; i < 60 && r->t + lo * h != r->t + hi * h; i++) {
    double mid = 0.5 * (lo + hi);
    if (!ag_mover_at(m, r->t, r->t + mid * h, m->zt)) break;
    now = look(r, r->t + mid * h, m->zt);
    if (speaks(now)) hi = mid, said = now;
    else lo = mid;
  }
  r->said = said;
  return end_at(r, r->t + lo * h, r->t + hi * h, t1);
}

/* The mover of the multiplier form in place of the present one, in the same state. */
static bool change_mover(run *r) {
  ag_mover old = r->m;
  const ag_dims *n = ag_system_dims(r->sys);
  if (ag_stepper_lacks(r->o->method, AG_NEEDS_RHS)) return false;
  r->own = *r->o;
  r->own.multipliers = true, r->own.kernel = NULL, r->own.watch = NULL;
  ag_mover_create(&r->m, r->sys, r->params, &r->own, false);
  ag_mover_full(&old, r->t, old.z, old.c, r->m.z);
  memcpy(r->m.c, old.c, sizeof(double) * (size_t)n->c);
  memcpy(r->m.sign, old.sign, sizeof(int) * (size_t)r->m.n_g);
  memcpy(r->m.doubts, old.doubts, sizeof *old.doubts * (size_t)r->m.n_g);
  r->m.n_rhs = old.n_rhs;
  ag_mover_tolerate(&r->m, r->control.atol, r->own_atol);
  r->m.fresh = old.fresh;
  r->o = &r->own;
  ag_mover_free(&old);
  return true;
}

bool ag_rows_renew(run *r, const char *why) {
  int row = r->said.state == AG_ROWS_AWAKE ? r->said.row : -1;
  if (r->lane || ag_system_elimination(r->sys) == AG_ELIM_SADDLE) return false;
  if (!r->m.full && !change_mover(r)) return false;
  if (!ag_work_take_rows(r->m.work, row)) return false;
  ag_mover *m = &r->m;
  r->all = r->anew = true;
  ag_rows_here(r);
  if (!r->res->renewed) {
    ag_text out = {0};
    ag_text_printf(&out, "from t = %.9g on with multipliers: ", r->t);
    int named = row >= 0 ? row : r->idle - 1;
    if (named >= 0) ag_work_row_text(m->work, named, &out);
    ag_text_str(&out, row >= 0 ? " takes part" : named >= 0 ? " ceases to act" : why);
    r->res->renewed = out.s;
  }
  return ag_mover_rhs(m, r->t, m->z, m->dz) == 0;
}

bool ag_rows_resume(run *r) {
  r->all = true;
  return (r->m.full || change_mover(r)) && ag_work_take_rows(r->m.work, -1);
}

bool ag_rows_cease(run *r) {
  ag_mover *m = &r->m;
  const ag_dims *n = ag_system_dims(r->sys);
  double direction = r->o->t1 < r->o->t0 ? -1 : 1, h = r->h != 0 ? fabs(r->h) : fabs(r->o->t1 - r->o->t0);
  double ahead = 1e-7 * direction * h;
  if (!n->row || m->full || ag_system_elimination(r->sys) == AG_ELIM_SADDLE) return false;
  if (ag_mover_rhs(m, r->t, m->z, m->dz1)) return false;
  for (int i = 0; i < m->n; i++) m->zt[i] = m->z[i] + ahead * m->dz1[i];
  ag_mover_full(m, r->t + ahead, m->zt, m->c, m->x);
  if (ag_work_rows(m->work, n->row, r->t + ahead, m->x).rank >= n->rank) return false;
  r->idle = 1 + ag_work_idle_row(m->work, r->t + ahead, m->x);
  return true;
}

/* How many rows act in the equations that are solved. */
static int acting(const run *r) { return r->all ? r->rank : ag_system_dims(r->sys)->rank; }

/* The rank of all rows at r->t + s, the motion continued along its rates in m->dz1; that of the equations where a row
 * does not hold there. */
static int rank_ahead(run *r, double s) {
  ag_mover *m = &r->m;
  const ag_dims *n = ag_system_dims(r->sys);
  for (int i = 0; i < m->n; i++) m->zt[i] = m->z[i] + s * m->dz1[i];
  ag_work_branch(m->work, NULL); /* on the branch a row may act again behind its end */
  ag_mover_full(m, r->t + s, m->zt, m->c, m->x);
  ag_rows_report said = ag_work_rows(m->work, n->row, r->t + s, m->x);
  return said.state == AG_ROWS_CONTRADICT ? acting(r) : said.rank;
}

/* How far ahead, tried at these distances, fewer rows act than in the equations, and *row, one of those that do not; 0:
 * they all do. */
static double idle_ahead(run *r, int n_try, const double *ahead, int *row) {
  ag_mover *m = &r->m;
  const ag_dims *n = ag_system_dims(r->sys);
  double lo = 0, hi = 0;
  if (!n->row || ag_system_elimination(r->sys) == AG_ELIM_SADDLE) return 0;
  if (ag_mover_rhs(m, r->t, m->z, m->dz1) || !ag_trajectory_finite(m->n, m->dz1))
    memset(m->dz1, 0, sizeof(double) * (size_t)m->n);
  for (int i = 0; i < n_try && hi == 0; i++) {
    double s = copysign(ahead[i], r->o->t1 - r->o->t0);
    if (rank_ahead(r, s) < acting(r)) hi = s;
  }
  for (int i = 0; i < 60 && r->t + lo != r->t + hi; i++) {
    double mid = 0.5 * (lo + hi);
    if (rank_ahead(r, mid) < acting(r)) hi = mid;
    else lo = mid;
  }
  (void)rank_ahead(r, hi);
  *row = hi != 0 ? ag_work_idle_row(m->work, r->t + hi, m->x) : -1;
  return *row >= 0 ? hi : 0;
}

bool ag_rows_ceased(run *r, ag_text *out) {
  double span = fabs(r->o->t1 - r->o->t0), h = r->o->dt > 0 ? r->o->dt : fabs(r->h);
  int row;
  if (r->all && !r->m.switches) return false; /* as many take part as act */
  double at = idle_ahead(r, 4, (double[]){1e-9 * span, 1e-6 * span, h, 2 * h}, &row);
  if (r->m.full && r->m.switches) ag_work_branch(r->m.work, r->m.c);
  if (at == 0) return false;
  ag_work_row_text(r->m.work, row, out);
  ag_text_printf(out, " ceases to act at t = %.9g", r->t + at);
  if (ag_stepper_lacks(r->o->method, AG_NEEDS_RHS))
    ag_text_printf(out, ", and method %s needs equations derived with it: use an explicit one", r->o->method->name);
  return true;
}

bool ag_rows_faded(run *r) {
  double near = 1e-9 * fabs(r->o->t1 - r->o->t0);
  int row;
  if (r->m.full || r->o->dt > 0 || idle_ahead(r, 1, &near, &row) == 0) return false;
  if (idle_ahead(r, 1, (double[]){1e3 * near}, &row) == 0) return false; /* it acts again */
  r->said = (ag_rows_report){.row = -1};
  r->pending = AG_END_TIME;
  r->renew = false;
  r->h = copysign(near, r->o->t1 - r->o->t0);
  r->idle = 1 + row;
  return ag_rows_renew(r, "");
}

ag_end ag_rows_turn(run *r) {
  ag_mover *m = &r->m;
  r->anew = false;
  if (!m->switches) return AG_END_TIME;
  ag_work_due(m->work, 0, 0);
  ag_end end = ag_trajectory_switch(r);
  if (end == AG_END_SLIDES && !m->full && ag_system_dims(r->sys)->lambda > ag_system_dims(r->sys)->rank) {
    r->said = (ag_rows_report){.row = -1}; /* the combination of rows so far may have no rank on the other side */
    if (ag_rows_renew(r, "other rows act")) end = ag_trajectory_switch(r);
    r->anew = false;
  }
  AG_TRY_END(end);
  if (!m->full || !r->all) return AG_END_TIME;
  ag_rows_report said = look(r, r->t, m->z);
  if (said.state == AG_ROWS_CONTRADICT || (said.state == AG_ROWS_AWAKE && !satisfied(r, said))) {
    r->said = said;
    return AG_END_ROWS;
  }
  expect_rank(r, said.rank);
  return AG_END_TIME;
}

ag_end ag_rows_settled(run *r) {
  if (!r->watches) return AG_END_TIME;
  if (r->renew) {
    r->renew = false;
    return ag_rows_renew(r, "") ? AG_END_TIME : AG_END_ROWS;
  }
  ag_rows_report said = look(r, r->t, r->m.z);
  r->said = said;
  if (speaks(said)) return AG_END_ROWS;
  if (said.state == AG_ROWS_WEAK)
    return ag_rows_renew(r, "the rows kept so far are about to lose rank") ? AG_END_TIME : AG_END_RANK;
  if (said.rank < ag_system_dims(r->sys)->rank && r->m.full && !r->all) return AG_END_RANK;
  if (said.rank && !(r->all && r->m.switches)) expect_rank(r, said.rank);
  return AG_END_TIME;
}

void ag_rows_explain(run *r, ag_text *out) {
  if (r->said.row < 0 || !speaks(r->said)) return;
  ag_work_row_text(r->m.work, r->said.row, out);
  if (r->said.state == AG_ROWS_CONTRADICT)
    ag_text_printf(out, " does not hold from here on where the other constraints do (it is off by %.3g)", r->said.by);
  else if (satisfied(r, r->said))
    ag_text_str(out, " begins to act here, but cannot be added: its multiplier is used, or the method needs the "
                     "eliminated equations");
  else
    ag_text_printf(out, " begins to act here, and the velocities do not satisfy it (it requires a jump of %.3g)",
                   r->said.by);
}
