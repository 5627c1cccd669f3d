/* SPDX-License-Identifier: MIT
 * Steps that would stride over a short push are shortened, whatever the method; others are left alone. */
#include "tests/point_mover.h"

static double error_of_step(ag_mover *m, double t, double h) {
  double error[2] = {NAN, NAN};
  AG_CHECK(!ag_mover_rhs(m, t, m->z, m->dz));
  AG_CHECK(!ag_mover_step(m, t, h, m->rtol, m->atol, error));
  return error[0];
}

/* A push of width 0.01 at t = 5. */
static void check_method(const ag_stepper *method) {
  point p = point_model(0, 1);
  ag_run_options o;
  ag_mover m = {0};
  point_force(&p, point_push(&p, 5, 0.01));
  AG_CHECK(point_derive(&p));
  ag_run_defaults(&o);
  o.method = method;
  ag_run_prepare(p.sys, &o);
  ag_mover_create(&m, p.sys, ag_system_param_values(p.sys), &o, false);
  m.rtol = 1e-10, m.atol = 1e-12;
  AG_CHECK(m.pulse && !ag_pulse_moves(&m));
  double shorter = NAN;
  for (int i = 0; i < 200; i++) { /* stages at all places relative to the push */
    double t = 0.02 * i, h = 10 - 0.013 * i;
    bool unseen = ag_pulse_unseen(&m, t, h, &shorter);
    if (unseen) AG_CHECK(shorter > 0 && shorter < h);
    else AG_CHECK(error_of_step(&m, t, h) > 1); /* a stage sees it, and the step is rejected */
  }
  AG_CHECK(!ag_pulse_unseen(&m, 0, 4.9, &shorter));
  AG_CHECK(!ag_pulse_unseen(&m, 5.1, 100, &shorter));
  ag_mover_free(&m);
  point_free(&p);
}

/* Fixed steps are as they were asked for. */
static void check_fixed(void) {
  point p = point_model(0, 1);
  ag_run_options o;
  ag_mover m = {0};
  point_force(&p, point_push(&p, 5, 0.01));
  AG_CHECK(point_derive(&p));
  ag_run_defaults(&o);
  o.dt = 0.1;
  ag_mover_create(&m, p.sys, ag_system_param_values(p.sys), &o, false);
  AG_CHECK(!m.pulse);
  ag_mover_free(&m);
  point_free(&p);
}

int main(void) {
  for (int i = 0; i < ag_stepper_count(); i++)
    if (ag_stepper_at(i)->error_order) check_method(ag_stepper_at(i));
  check_fixed();
  return ag_check_report();
}
