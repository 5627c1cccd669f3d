/* SPDX-License-Identifier: MIT
 * One step of the point of point_model.h, for tests of what is looked for in a step. */
#ifndef AG_TESTS_POINT_MOVER_H
#define AG_TESTS_POINT_MOVER_H
#include "run/run_internal.h"
#include "run/switch.h"
#include "tests/point_model.h"

/* A mover with size control at the start of the point. */
static inline void point_mover(point *p, ag_mover *m, ag_run_options *o) {
  double x[2];
  ag_run_defaults(o);
  o->t1 = 1e3;
  ag_mover_create(m, p->sys, ag_system_param_values(p->sys), o, false);
  m->rtol = o->rtol, m->atol = 1e-12;
  ag_system_state0(p->sys, x);
  AG_CHECK(!ag_work_reduce(m->work, 0, x, m->c, m->z));
  AG_CHECK(!ag_mover_rhs(m, 0, m->z, m->dz));
}

/* A step from t into z1, whatever its error. */
static inline void point_step(ag_mover *m, double t, double h) {
  double error[2];
  AG_CHECK(!ag_mover_step(m, t, h, 1e-10, 1e-12, error));
}
#endif
