/* SPDX-License-Identifier: MIT
 * The work done in a motion whose energy is not conserved: W = int P dt, P = F.xi - l_t - s.lambda = dE/dt. Each step
 * is integrated by Gauss's rule with five points on its dense output, so that W depends on the motion alone, not on E:
 * E - E0 = W checks one against the other. Points cost several right-hand sides each, so only the first steps of a long
 * run are measured. While the motion slides along a switching surface, the force is whatever keeps it there, and the
 * change of energy is taken for its work. */
#include <math.h>

#include "run/trajectory.h"

enum { MEASURED = 20000 }; /* steps */

bool ag_balance_measures(const run *r) { return r->res->energy_law != AG_ENERGY_CONSERVED && r->res->steps < MEASURED; }

static double energy_at(run *r, double t, double theta) {
  ag_mover *m = &r->m;
  m->method->interpolate(m->method, m->n, theta, m->z, m->space, m->zt);
  ag_mover_full(m, t, m->zt, m->c, m->x);
  return ag_work_energy(m->work, t, m->x, NULL);
}

void ag_balance_add(run *r, double t, double h, double t1) {
  static const double node[5] = {0.046910077030668004, 0.23076534494715845, 0.5, 0.7692346550528415,
                                 0.9530899229693320},
                      weight[5] = {0.11846344252809454, 0.23931433524968324, 0.28444444444444444, 0.23931433524968324,
                                   0.11846344252809454};
  ag_mover *m = &r->m;
  double sum = 0, part = t1 - t;
  if (ag_switch_slides(m)) {
    double before = energy_at(r, t, 0);
    r->res->work += energy_at(r, t1, part / h) - before;
    return;
  }
  for (int i = 0; i < 5; i++) {
    double s = t + node[i] * part;
    m->method->interpolate(m->method, m->n, node[i] * part / h, m->z, m->space, m->zt);
    ag_mover_full(m, s, m->zt, m->c, m->x);
    sum = fma(weight[i], ag_work_energy_rate(m->work, s, m->x), sum);
  }
  r->res->work = fma(part, sum, r->res->work);
}

void ag_balance_mark(run *r) {
  r->res->work_t = r->t;
  r->res->work_energy = ag_work_energy(r->m.work, r->t, r->m.x, NULL);
}
