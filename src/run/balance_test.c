/* SPDX-License-Identifier: MIT
 * The work of forces, from the motion alone, against closed forms and against the change of energy: a damped and driven
 * oscillator, with every method that steps by the error, interpreted and compiled, forward and backward, and where a
 * record inside a step cannot be written. */
#include "run/run_internal.h"
#include "tests/built_models.h"
#include "tests/check.h"

/* x'' = -x - c x' + a cos t */
static ag_model *oscillator(double c, double a) {
  ag_model *m = ag_model_create("oscillator");
  ag_graph *g = m->graph;
  int k = ag_model_add_coord(m, "x", NULL, NULL, NULL, 0, AG_SPACE_R, 1, nowhere);
  ag_id q = m->coords[k].q, v = m->coords[k].xi, half = ag_num(g, 0.5), square = ag_mul(g, q, q),
        speed = ag_mul(g, v, v);
  m->lagrangian = ag_mul(g, half, ag_sub(g, speed, square));
  ag_id drag = ag_mul(g, ag_num(g, -c), v), push = ag_mul(g, ag_num(g, a), ag_apply1(g, AG_OP_COS, m->t));
  AG_MODEL_PUSH(m, forces, ((ag_assign){k, -1, ag_add(g, drag, push), nowhere, false}));
  AG_MODEL_PUSH(m, starts, ((ag_start){false, k, -1, -1, ag_num(g, 1), nowhere}));
  return m;
}

static void check(double c, double a, const ag_stepper *method, ag_engine engine, double t1, double rtol) {
  ag_ctx ctx = {0};
  ag_model *m = oscillator(c, a);
  ag_system *sys = NULL;
  ag_run_options o;
  ag_run_result res;
  AG_CHECK(ag_system_create(&ctx, m, &(ag_derive_options){0}, &sys) == AG_OK);
  ag_run_defaults(&o);
  o.t1 = t1, o.every = -1, o.method = method, o.engine = engine, o.rtol = rtol, o.atol = 0.01 * rtol;
  ag_run_prepare(sys, &o);
  double x0[2];
  ag_system_state0(sys, x0);
  AG_CHECK(ag_run(&ctx, sys, ag_system_param_values(sys), x0, &o, NULL, &res) == AG_OK && res.end == AG_END_TIME);
  double energy = 0.5 * (res.x[0] * res.x[0] + res.x[1] * res.x[1]);
  double tol = rtol * (double)(200 + res.steps); /* each step may err by rtol, its dense output by some more */
  AG_CHECK(res.work_t == t1 && res.energy_law != AG_ENERGY_CONSERVED);
  AG_CHECK_NEAR(res.work_energy, energy, 1e-14);
  AG_CHECK_NEAR(res.work, energy - 0.5, tol);
  if (a == 0 && t1 > 0) { /* x = exp(-c t/2) (cos w t + c/(2w) sin w t) */
    double w = sqrt(1 - 0.25 * c * c), e = exp(-0.5 * c * t1), x = e * (cos(w * t1) + 0.5 * c / w * sin(w * t1)),
           v = -e / w * sin(w * t1);
    AG_CHECK_NEAR(res.work, 0.5 * (x * x + v * v) - 0.5, tol);
  }
  ag_run_done(&res);
  ag_system_free(sys);
  ag_model_free(m);
  ag_ctx_done(&ctx);
}

static bool takes_some(void *self, const double *record) {
  int *room = self;
  (void)record;
  return (*room)-- > 0;
}

/* The run ends with the last step that was taken: the one whose record was refused has done no work. */
static void check_refused(ag_engine engine) {
  ag_ctx ctx = {0};
  ag_model *m = oscillator(0.2, 0.5);
  ag_system *sys = NULL;
  ag_run_options o;
  ag_run_result res;
  int room = 100;
  const ag_sink sink = {takes_some, &room};
  double x0[2];
  AG_CHECK(ag_system_create(&ctx, m, &(ag_derive_options){0}, &sys) == AG_OK);
  ag_run_defaults(&o);
  o.t1 = 20, o.every = 0.05, o.engine = engine;
  ag_run_prepare(sys, &o);
  ag_system_state0(sys, x0);
  AG_CHECK(ag_run(&ctx, sys, ag_system_param_values(sys), x0, &o, &sink, &res) == AG_OK);
  AG_CHECK(res.end == AG_END_SINK && res.work_t > 0 && res.work_t == res.t);
  AG_CHECK_NEAR(res.work, 0.5 * (res.x[0] * res.x[0] + res.x[1] * res.x[1]) - 0.5, 1e-8); /* 200 rtol */
  ag_run_done(&res);
  ag_system_free(sys);
  ag_model_free(m);
  ag_ctx_done(&ctx);
}

int main(void) {
  for (int i = 0; i < ag_stepper_count(); i++) {
    const ag_stepper *s = ag_stepper_at(i);
    if (!s->error_order) continue;
    if (s->needs & AG_NEEDS_SECOND) { /* no friction */
      check(0, 0.5, s, AG_ENGINE_INTERPRETED, 7, 1e-6);
      check(0, 0.5, s, AG_ENGINE_COMPILED, -3, 1e-6);
      continue;
    }
    check(0.3, 0, s, AG_ENGINE_INTERPRETED, 7, 1e-6);
    check(0.2, 0.5, s, AG_ENGINE_INTERPRETED, 7, 1e-6);
    check(0.2, 0.5, s, AG_ENGINE_INTERPRETED, -3, 1e-6);
  }
  check(0.2, 0.5, ag_stepper_find("dop853"), AG_ENGINE_COMPILED, 7, 1e-10);
  check_refused(AG_ENGINE_INTERPRETED);
  check_refused(AG_ENGINE_COMPILED);
  return ag_check_report();
}
