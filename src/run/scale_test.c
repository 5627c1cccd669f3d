/* SPDX-License-Identifier: MIT
 * The absolute tolerances in the sizes of the start: an oscillator of any size is integrated to the same relative
 * error, alone or beside another one. */
#include "run/run_internal.h"
#include "tests/built_models.h"
#include "tests/check.h"

enum { SIZES = 7 };
static const double size[SIZES] = {1e-13, 1e-7, 1e-3, 1, 1e3, 1e7, 1e13};

/* x'' = -x, z'' = -z; x starts at `first`, z at `second`, both at rest, or with these velocities from 0. spring: one of
 * length 1 between them. */
static ag_system *oscillators(ag_ctx *ctx, double first, double second, bool velocities, bool spring, ag_model **m) {
  *m = ag_model_create("oscillators");
  ag_graph *g = (*m)->graph;
  ag_id sum = ag_num(g, 0), half = ag_num(g, 0.5);
  const double start[2] = {first, second};
  for (int i = 0; i < 2; i++) {
    int c = ag_model_add_coord(*m, i ? "z" : "x", NULL, NULL, NULL, 0, AG_SPACE_R, 1, nowhere);
    ag_id q = (*m)->coords[c].q, v = (*m)->coords[c].xi, square = ag_mul(g, q, q), part;
    part = ag_sub(g, ag_mul(g, v, v), square);
    sum = ag_add(g, sum, ag_mul(g, half, part));
    AG_MODEL_PUSH(*m, starts, ((ag_start){velocities, c, -1, -1, ag_num(g, start[i]), nowhere}));
  }
  if (spring) {
    ag_id stretch = ag_sub(g, ag_sub(g, (*m)->coords[0].q, (*m)->coords[1].q), ag_num(g, 1));
    sum = ag_sub(g, sum, ag_mul(g, half, ag_mul(g, stretch, stretch)));
  }
  (*m)->lagrangian = sum;
  ag_system *sys = NULL;
  AG_CHECK(ag_system_create(ctx, *m, &(ag_derive_options){0}, &sys) == AG_OK);
  return sys;
}

/* The tolerance, its remark about a loose start value, and the larger relative error after ten periods. */
static double atol_of(double first, double second, bool velocities, bool spring, int *loose, double *error) {
  ag_ctx ctx = {0};
  ag_model *m;
  ag_system *sys = oscillators(&ctx, first, second, velocities, spring, &m);
  ag_run_options o;
  ag_run_result res;
  double x0[4], own[4];
  ag_run_defaults(&o);
  o.t1 = 20 * M_PI, o.every = -1, o.engine = AG_ENGINE_INTERPRETED;
  ag_system_state0(sys, x0);
  ag_work *w = ag_work_create(sys, ag_system_param_values(sys));
  double atol = ag_scale_atol(sys, w, &o, x0, own), small;
  *loose = ag_scale_loose(sys, &o, own, x0, &small);
  AG_CHECK(ag_run(&ctx, sys, ag_system_param_values(sys), x0, &o, NULL, &res) == AG_OK && res.end == AG_END_TIME);
  AG_CHECK(res.atol == atol);
  AG_CHECK(res.least_atol <= own[1] && own[0] <= atol && own[1] <= atol);
  const double *end = res.x + (velocities ? 2 : 0);
  *error = fmax(fabs(end[0] - first) / fabs(first), second != 0 ? fabs(end[1] - second) / fabs(second) : 0);
  o.absolute = true;
  AG_CHECK(ag_scale_atol(sys, w, &o, x0, own) == o.atol && !ag_scale_loose(sys, &o, own, x0, &small));
  o.absolute = false, o.dt = 0.1;
  AG_CHECK(ag_scale_atol(sys, w, &o, x0, own) == o.atol);
  ag_run_done(&res);
  ag_work_free(w);
  ag_system_free(sys);
  ag_model_free(m);
  ag_ctx_done(&ctx);
  return atol;
}

/* x'' = push sin(t) from rest at 0: at 2 pi x = 2 pi push. Nothing at the start has a size, not even the force. */
static void pushed(double push) {
  ag_ctx ctx = {0};
  ag_model *m = ag_model_create("pushed");
  ag_graph *g = m->graph;
  int c = ag_model_add_coord(m, "x", NULL, NULL, NULL, 0, AG_SPACE_R, 1, nowhere);
  ag_id v = m->coords[c].xi, force = ag_mul(g, ag_num(g, push), ag_apply1(g, AG_OP_SIN, m->t));
  m->lagrangian = ag_mul(g, ag_num(g, 0.5), ag_mul(g, v, v));
  AG_MODEL_PUSH(m, forces, ((ag_assign){c, -1, force, nowhere, false}));
  ag_system *sys = NULL;
  AG_CHECK(ag_system_create(&ctx, m, &(ag_derive_options){0}, &sys) == AG_OK);
  ag_run_options o;
  ag_run_result res;
  double x0[2];
  ag_run_defaults(&o);
  o.t1 = 2 * M_PI, o.every = -1, o.engine = AG_ENGINE_INTERPRETED;
  ag_system_state0(sys, x0);
  AG_CHECK(ag_run(&ctx, sys, ag_system_param_values(sys), x0, &o, NULL, &res) == AG_OK && res.end == AG_END_TIME);
  AG_CHECK_NEAR(res.x[0] / push, 2 * M_PI, 1e-8); /* some ten steps with rtol 1e-10 */
  ag_run_done(&res);
  ag_system_free(sys);
  ag_model_free(m);
  ag_ctx_done(&ctx);
}

/* Many coordinates at rest at 0: their accelerations are computed once for all of them, not for each. Each time
 * allocates, so that it can be counted. */
static void many(void) {
  enum { N = 200, ALLOCATIONS = 100 };
  const long all = 1L << 40;
  ag_ctx ctx = {0};
  ag_model *m = ag_model_create("family");
  ag_graph *g = m->graph;
  ag_id sum = ag_num(g, 0);
  for (int i = 0; i < N; i++) {
    char name[16];
    snprintf(name, sizeof name, "x%d", i);
    int c = ag_model_add_coord(m, name, NULL, NULL, NULL, 0, AG_SPACE_R, 1, nowhere);
    ag_id v = m->coords[c].xi, square = ag_mul(g, v, v);
    sum = ag_add(g, sum, square);
  }
  m->lagrangian = sum;
  ag_system *sys = NULL;
  AG_CHECK(ag_system_create(&ctx, m, &(ag_derive_options){0}, &sys) == AG_OK);
  ag_run_options o;
  ag_run_defaults(&o);
  double x0[2 * N] = {0}, own[2 * N];
  ag_work *w = ag_work_create(sys, ag_system_param_values(sys));
  ag_heap_fail_at(all);
  (void)ag_scale_atol(sys, w, &o, x0, own);
  AG_CHECK(all - ag_heap_fail_at(0) < ALLOCATIONS);
  ag_work_free(w);
  ag_system_free(sys);
  ag_model_free(m);
  ag_ctx_done(&ctx);
}

int main(void) {
  many();
  for (int i = 0; i < SIZES; i++) pushed(size[i]);
  for (int i = 0; i < SIZES; i++)
    for (int velocities = 0; velocities < 2; velocities++) {
      int loose;
      double error, atol = atol_of(size[i], size[i], velocities, false, &loose, &error);
      AG_CHECK(!loose);
      AG_CHECK_NEAR(error, 0, 1e-7); /* some 200 steps with rtol 1e-10, growing with the number of periods */
      bool far = size[i] < 1e-6 || size[i] > 1e6;
      AG_CHECK_NEAR(atol, 1e-12 * (far ? size[i] : 1), 1e-12 * 1e-12 * (far ? size[i] : 1));
    }
  int loose;
  double error;
  for (int i = 0; i < SIZES; i++) /* each its own */
    for (int k = 0; k < SIZES; k++)
      for (int velocities = 0; velocities < 2; velocities++) {
        (void)atol_of(size[i], size[k], velocities, false, &loose, &error);
        AG_CHECK(!loose);
        AG_CHECK_NEAR(error, 0, 1e-7);
      }
  AG_CHECK_NEAR(atol_of(1, 1e-20, false, true, &loose, &error), 1e-12, 1e-24); /* negligible next to the other one */
  AG_CHECK(loose == 2);
  AG_CHECK(atol_of(1, 0, false, false, &loose, &error) == 1e-12 && !loose);
  return ag_check_report();
}
