/* SPDX-License-Identifier: MIT
 * The method of a run that asks for none: dop853, unless its first steps are limited by stability and an implicit
 * method gets much farther with as many. Short trials decide, which depend on the model and the options alone. */
#include <math.h>

#include "run/run_internal.h"

enum { FIRST = 20, SECOND = 300, MOST_TANGENT = 200 };
static const double FEW = 2000;     /* steps that stability may cost before an implicit method is tried */
static const double LIMITED = 1.5;  /* step size times largest eigenvalue, of steps that stability may limit */
static const double FARTHER = 20.0; /* an implicit step costs as much as some ten explicit ones */

/* A trial: how far it gets per step, 0 where it fails. */
typedef struct trial {
  double per_step, stiffness, h;
  bool whole; /* it reached the end */
} trial;

static trial try_steps(ag_system *sys, const double *x0, const ag_run_options *like, const ag_stepper *method,
                       long steps) {
  ag_ctx ctx = {0};
  ag_run_result res;
  trial out = {0};
  ag_run_options o = {.t0 = like->t0,
                      .t1 = like->t1,
                      .rtol = like->rtol,
                      .atol = like->atol,
                      .h_max = like->h_max,
                      .absolute = like->absolute,
                      .method = method,
                      .every = -1,
                      .max_steps = steps,
                      .engine = AG_ENGINE_INTERPRETED,
                      .noise = like->noise,
                      .stop = like->stop};
  ag_run_prepare(sys, &o);
  if (ag_run(&ctx, sys, ag_system_param_values(sys), x0, &o, NULL, &res) == AG_OK) {
    out.whole = res.end == AG_END_TIME;
    if (res.steps && (out.whole || res.end == AG_END_STEPS)) out.per_step = fabs(res.t - o.t0) / (double)res.steps;
    if (res.end == AG_END_STEPS) out.stiffness = res.stiffness, out.h = fabs(res.checkpoint.h);
    ag_run_done(&res);
  }
  ag_ctx_done(&ctx);
  return out;
}

const ag_stepper *ag_run_choose(ag_system *sys, const double *x0, const ag_run_options *o, double *stiffness) {
  const ag_stepper *usual = ag_stepper_find("dop853"), *stiff = ag_stepper_find(o->rtol < 1e-8 ? "radau5" : "radau3");
  *stiffness = 0;
  if (o->noise == AG_NOISE_PATH) return ag_stepper_find("euler_heun");
  if (o->dt > 0 || o->multipliers || ag_system_dims(sys)->tangent > MOST_TANGENT) return usual;
  trial start = try_steps(sys, x0, o, usual, FIRST);
  if (!(start.stiffness * fabs(o->t1 - o->t0) > FEW * start.h)) return usual;
  trial longer = try_steps(sys, x0, o, usual, SECOND);
  if (!(longer.stiffness > LIMITED) || !(fabs(o->t1 - o->t0) > FEW * longer.h)) return usual;
  trial implicit = try_steps(sys, x0, o, stiff, SECOND);
  if (!(implicit.per_step > FARTHER * longer.per_step)) return usual;
  *stiffness = longer.stiffness;
  return stiff;
}

void ag_run_note_choice(ag_ctx *ctx, const ag_stepper *method, double stiffness) {
  ag_ctx_note(ctx, (ag_pos){0},
              "the equations are stiff (with dop853 step size times largest eigenvalue is about %.2g): %s was chosen; "
              "--method names another",
              stiffness, method->name);
}
