/* SPDX-License-Identifier: MIT
 * The work done in a motion whose energy is not conserved: W = int P dt, P = F.xi - l_t - s.lambda = dE/dt. An explicit
 * Runge-Kutta method integrates it with its own weights, from the states and rates at its stages; of other methods, and
 * of steps of which a part counts, it is integrated on the dense output (power_core.h). So W depends on the motion
 * alone, not on E: E - E0 = W checks one against the other. Points cost up to a right-hand side each, so only the first
 * steps of a long run are measured. While the motion slides along a switching surface, the power is the combination of
 * those on its sides; where there is no role POWER, the change of energy is taken as the work. */
#include <math.h>

#include "expr/vmath.h"
#include "run/switch.h"
#include "run/trajectory.h"

enum { MEASURED = 20000 }; /* steps */

bool ag_balance_measures(const run *r) {
  ag_energy_law law = r->res->energy_law;
  return law != AG_ENERGY_CONSERVED && law != AG_ENERGY_NOISE && r->res->steps < MEASURED;
}

long ag_balance_left(const run *r) { return MEASURED - r->res->steps; }

static double energy_at(run *r, double t, double theta) {
  ag_mover *m = &r->m;
  m->method->interpolate(m->method, m->n, theta, m->z, m->space, m->zt);
  ag_mover_full(m, t, m->zt, m->c, m->x);
  return ag_work_energy(m->work, t, m->x, NULL);
}

/* ---- the power at a state ---- */

static bool has_role(const ag_mover *m) { return !m->full && ag_system_role(m->sys, AG_ROLE_POWER); }

static double by_role(void *self, double t, const double *z, const double *dz) {
  ag_mover *m = self;
  double power;
  return ag_work_power(m->work, t, z, m->c, dz, &power) ? NAN : power;
}

static double by_multipliers(void *self, double t, const double *z, const double *dz) {
  ag_mover *m = self;
  (void)dz;
  ag_mover_full(m, t, z, m->c, m->x);
  return ag_work_energy_rate(m->work, t, m->x);
}

/* On the dense output; rates are evaluated where they are read. */
static double power_at(ag_mover *m, double theta, double t) {
  double *dz = m->aligned, power;
  long n_rhs = m->n_rhs;
  m->method->interpolate(m->method, m->n, theta, m->z, m->space, m->zt);
  if (ag_switch_slides(m)) return ag_slide_role(m, AG_ROLE_POWER, t, m->zt, m->c, &power) ? power : NAN;
  if (!has_role(m)) return by_multipliers(m, t, m->zt, NULL);
  bool failed = ag_system_role(m->sys, AG_ROLE_POWER)->n_need[AG_SEG_W] && ag_mover_rhs(m, t, m->zt, dz);
  m->n_rhs = n_rhs;
  return failed ? NAN : by_role(m, t, m->zt, dz);
}

/* ---- steps ---- */

void ag_balance_begin(run *r) {
  ag_mover *m = &r->m;
  bool direct = ag_balance_measures(r) && (m->full || has_role(m));
  m->flow.power = !direct ? NULL : m->full ? by_multipliers : by_role;
}

bool ag_balance_whole(run *r, double t, double h, double *done) {
  ag_mover *m = &r->m;
  if (!m->method->integral || !m->flow.power || ag_switch_slides(m)) return false;
  *done = m->method->integral(m->method, &m->flow, t, h, m->z, m->space);
  return true;
}

#define AG_POWER_OF ag_mover *a
#define AG_POWER_AT(a, theta, t) power_at(a, theta, t)
#include "run/power_core.h"

void ag_balance_add(run *r, double t, double h, double t1) {
  ag_mover *m = &r->m;
  double part = t1 - t, done;
  if (part == 0) return; /* the motion is released where the step begins */
  if (ag_switch_slides(m) && !has_role(m)) {
    double before = energy_at(r, t, 0);
    done = energy_at(r, t1, part / h) - before;
  } else if (m->fused && !m->method->integral && !ag_switch_slides(m) && ag_fused_has(m->fused, AG_FUSED_POWER)) {
    ag_mover_power(m, t, h, part, &done);
  } else {
    done = power_over(m, t, h, part);
  }
  r->res->work += done;
}

void ag_balance_mark(run *r) {
  r->res->work_t = r->t;
  r->res->work_energy = ag_work_energy(r->m.work, r->t, r->m.x, NULL);
}
