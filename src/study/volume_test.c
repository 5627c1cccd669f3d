/* SPDX-License-Identifier: MIT
 * Phase volume of maps that are known: scalings, and the motion itself, which keeps the invariant measure of a model.
 */
#include "study/volume.h"

#include <math.h>
#include <string.h>

#include "check.h"
#include "study/study.h"

typedef struct motion {
  ag_ctx *ctx;
  ag_system *sys;
  const char *method;
  double dt, t1;
} motion;

static bool flow(void *self, const double *x, double *x1) {
  const motion *k = self;
  ag_run_options o;
  ag_run_result res;
  ag_run_defaults(&o);
  o.t1 = k->t1, o.dt = k->dt, o.every = -1, o.events = false, o.rtol = 1e-13, o.atol = 1e-15;
  o.method = ag_stepper_find(k->method);
  ag_run_prepare(k->sys, &o);
  if (ag_run(k->ctx, k->sys, ag_system_param_values(k->sys), x, &o, NULL, &res) != AG_OK) return false;
  memcpy(x1, res.x, sizeof *x1 * (size_t)ag_system_dims(k->sys)->x);
  ag_run_done(&res);
  return true;
}

/* Velocities times 1.5. */
static bool faster(void *self, const double *x, double *x1) {
  const motion *k = self;
  const ag_dims *n = ag_system_dims(k->sys);
  for (int i = 0; i < n->x; i++) x1[i] = i < n->q ? x[i] : 1.5 * x[i];
  return true;
}

/* `name` with its measure: kept by the motion, changed by Euler's method, by 1.5^freedom when velocities scale (their
 * constraints are linear). */
static void check_model(anagyre_model *m, int freedom, bool known) {
  ag_system *sys = ag_api_system(m, &(ag_derive_options){0});
  AG_CHECK(sys != NULL);
  if (!sys) return;
  double x0[64];
  motion k = {ag_api_ctx(m), sys, "dop853", 0, 1};
  ag_system_state0(sys, x0);
  ag_volume *v = ag_volume_create(ag_api_ctx(m), sys, 0, x0);
  AG_CHECK((v != NULL) == known);
  if (v) {
    /* differences: fourth power of 1e-3 times fifth derivatives of the motion, and rounding 1e-13 / 1e-3 */
    AG_CHECK_NEAR(ag_volume_change(v, 1, flow, &k), 0, 3e-9);
    k.method = "euler", k.dt = 0.05;
    AG_CHECK(fabs(ag_volume_change(v, 1, flow, &k)) > 1e-4);
    if (freedom) AG_CHECK_NEAR(ag_volume_change(v, 0, faster, &k), pow(1.5, freedom) - 1, 1e-9);
  }
  ag_volume_free(v);
  anagyre_close(m);
}

int main(void) {
  check_model(anagyre_open_text("m.nh", "model m\nconfig x in R\nlagrangian 1/2*(2 + sin(x))*x'^2 - cos(x)\n"
                                        "start x = 1, x' = 0.4\n"),
              1, true);
  check_model(anagyre_open("heavy_top"), 3, true);
  check_model(anagyre_open("routh_sphere"), 3, true);
  check_model(anagyre_open("falling_disk"), 3, true);
  check_model(anagyre_open("veselova"), 2, true);
  check_model(anagyre_open("spherical_pendulum"), 2, true);
  check_model(anagyre_open("rattleback"), 0, false);
  check_model(anagyre_open("roller_racer"), 0, false);
  /* rows that scale with the state: the density in these velocities is not constant */
  check_model(anagyre_open_text("m.nh", "model m\nconfig x in R, y in R, z in R\n"
                                        "lagrangian 1/2*(x'^2 + y'^2 + z'^2) - x*z\n"
                                        "constraint exp(x)*z' = exp(x)*y*x'\nstart x' = 1, y = 0.5, y' = 0.3\n"),
              2, true);
  return ag_check_report();
}
