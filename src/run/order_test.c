/* SPDX-License-Identifier: MIT
 * Every stepper of the table keeps its declared order on a constrained system on SO3: the rattleback, eliminated and
 * with multipliers (there with the projection back onto the constraint after each step). */
#include <stdlib.h>

#include "run/run.h"
#include "tests/built_models.h"
#include "tests/check.h"

enum { N = 13 };

static void end_of(const ag_system *sys, const double *x0, const ag_stepper *method, double dt, bool multipliers,
                   double *x) {
  ag_ctx ctx = {0};
  ag_run_options o;
  ag_run_result res;
  ag_run_defaults(&o);
  o.t1 = 2;
  o.every = -1;
  o.dt = dt;
  o.rtol = o.atol = 1e-14;
  o.multipliers = multipliers;
  o.engine = AG_ENGINE_INTERPRETED;
  if (method) o.method = method;
  AG_CHECK(ag_run(&ctx, sys, ag_system_param_values(sys), x0, &o, NULL, &res) == AG_OK);
  AG_CHECK(res.end == AG_END_TIME);
  memcpy(x, res.x, sizeof(double) * N);
  ag_run_done(&res);
  ag_ctx_done(&ctx);
}

/* Largest difference; q and -q are the same rotation (the quaternion comes first). */
static double distance(const double *a, const double *b) {
  double sign = a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3] < 0 ? -1 : 1, worst = 0;
  for (int i = 0; i < N; i++) worst = fmax(worst, fabs(a[i] - (i < 4 ? sign : 1) * b[i]));
  return worst;
}

/* The slope between the last two steps whose error is well above rounding, of steps half as long each time; above order
 * 8, where that is too far, between the first and the last of 4, 5, 6, ... steps. */
static double measured_order(const ag_system *sys, const double *x0, const double *exact, const ag_stepper *method,
                             bool multipliers) {
  double dt = method->order >= 7   ? 0.5
              : method->order >= 5 ? 0.1
              : method->order >= 3 ? 0.04
                                   : 0.01,
         last = 0, before = 0, order = NAN;
  bool high = method->order > 8;
  for (int i = 0; i < (high ? 8 : 4); i++, dt /= 2) {
    double x[N];
    if (high) dt = 2.0 / (4 + i);
    end_of(sys, x0, method, dt, multipliers, x);
    double error = distance(x, exact);
    if (error < (high ? 2e-12 : 2e-13)) break; /* the reference is no better */
    if (last > 0) order = log(last / error) / log(before / dt);
    if (high && last > 0) continue;
    last = error, before = dt;
  }
  return order;
}

/* The equations with multipliers have no Jacobian: methods that need one are refused by name. */
static void check_refused(const ag_system *sys, const double *x0, const ag_stepper *method) {
  ag_ctx ctx = {0};
  ag_run_options o;
  ag_run_result res;
  ag_run_defaults(&o);
  o.dt = 0.1, o.method = method, o.multipliers = true;
  AG_CHECK(ag_run(&ctx, sys, ag_system_param_values(sys), x0, &o, NULL, &res) == AG_WRONG && ctx.n_error == 1);
  ag_ctx_done(&ctx);
}

int main(void) {
  ag_ctx ctx = {0};
  ag_model *m = rattleback();
  ag_system *sys = NULL;
  ag_derive_options options = {0};
  AG_CHECK(ag_system_create(&ctx, m, &options, &sys) == AG_OK);
  double x0[N], exact[N];
  ag_system_state0(sys, x0);
  x0[7] = 0.6, x0[9] = 1.5; /* livelier than the start of the model; x' follows */
  ag_work *w = ag_work_create(sys, ag_system_param_values(sys));
  AG_CHECK(ag_work_settle_full(w, 0, x0) == AG_FINE);
  end_of(sys, x0, NULL, 0, false, exact);
  for (int i = 0; i < ag_stepper_count(); i++)
    for (int multipliers = 0; multipliers < 2; multipliers++) {
      const ag_stepper *s = ag_stepper_at(i);
      if (ag_stepper_noisy(s)) continue;
      ag_run_prepare(sys, &(ag_run_options){.method = s});
      /* it needs another model: api/variational_keeps_test.c, step/stepper_test.c */
      if (s->form == AG_FORM_SE3 || s->needs & AG_NEEDS_SECOND) {
        check_refused(sys, x0, s);
        continue;
      }
      if (multipliers && ag_stepper_lacks(s, AG_NEEDS_RHS)) {
        check_refused(sys, x0, s);
        continue;
      }
      double order = measured_order(sys, x0, exact, s, multipliers);
      fprintf(stderr, "%-8s %s declared %d, measured %.2f\n", s->name, multipliers ? "multipliers" : "eliminated ",
              s->order, order);
      /* the slope of two finite steps: a quarter below, and above since leading terms may nearly cancel; an order
       * where the steps are as long as a fourth of the motion (stepper_test.c measures these orders closely) */
      AG_CHECK(order > s->order - (s->order > 8 ? 1 : 0.25) && order < s->order + (s->order > 8 ? 1.5 : 0.8));
    }
  ag_work_free(w);
  ag_system_free(sys);
  ag_model_free(m);
  ag_ctx_done(&ctx);
  return ag_check_report();
}
