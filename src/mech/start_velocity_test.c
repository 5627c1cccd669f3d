/* SPDX-License-Identifier: MIT
 * Start velocities: completed from the constraints and the frame, in both forms; what contradicts them is refused when
 * strict. Tolerance: rounding. */
#include "tests/mech_models.h"

typedef struct given {
  int coord;
  double value;
} given;

/* Derives a model with more start velocities; NULL if it is refused. */
static ag_system *with(ag_model *m, bool saddle, int n, const given *more) {
  ag_ctx ctx = {0};
  ag_system *sys;
  for (int i = 0; i < n; i++) start_at(m, true, more[i].coord, -1, more[i].value);
  (void)!ag_system_create(&ctx, m, &(ag_derive_options){.saddle = saddle, .strict = true}, &sys);
  ag_ctx_done(&ctx);
  return sys;
}

static void check_form(bool saddle) {
  ag_model *m = heisenberg(); /* x' = 1, y = 0.5 */
  ag_system *sys = with(m, saddle, 0, NULL);
  AG_CHECK_NEAR(sys->xi0[0], 1, 0);
  AG_CHECK_NEAR(sys->xi0[2], 0.5, 1e-15);
  ag_system_free(sys), ag_model_free(m);
  m = heisenberg();
  sys = with(m, saddle, 1, (given[]){{2, 0.5}}); /* z' as it must be */
  AG_CHECK(sys != NULL);
  ag_system_free(sys), ag_model_free(m);
  m = heisenberg();
  AG_CHECK(with(m, saddle, 1, (given[]){{2, 0.7}}) == NULL);
  ag_model_free(m);
  m = affine(); /* z' = y x' + 1 at rest: z' = 1 */
  sys = with(m, saddle, 0, NULL);
  AG_CHECK_NEAR(sys->xi0[2], 1, 1e-15);
  ag_system_free(sys), ag_model_free(m);
  m = pendulum(); /* x' = 0.3 at (0.6, -0.8) or (0.6, 0.8); s' = cos 0 */
  sys = with(m, saddle, 0, NULL);
  AG_CHECK_NEAR(sys->q0[0] * sys->xi0[0] + sys->q0[1] * sys->xi0[1], 0, 1e-14);
  AG_CHECK_NEAR(sys->xi0[0], 0.3, 1e-15);
  AG_CHECK_NEAR(sys->xi0[2], 1, 1e-15);
  ag_system_free(sys), ag_model_free(m);
}

/* spin = phi', both = phi' + psi': given through the frame. */
static void check_frame(void) {
  ag_model *m = framed_coin();
  m->n_starts = 0;
  AG_MODEL_PUSH(m, starts, ((ag_start){false, -1, -1, 0, ag_num(m->graph, 2), nowhere}));
  AG_MODEL_PUSH(m, starts, ((ag_start){false, -1, -1, 1, ag_num(m->graph, 5), nowhere}));
  ag_system *sys = with(m, false, 0, NULL);
  AG_CHECK(sys != NULL);
  if (sys) {
    AG_CHECK_NEAR(sys->xi0[2], 2, 1e-15);
    AG_CHECK_NEAR(sys->xi0[3], 3, 1e-15);
    AG_CHECK_NEAR(sys->xi0[0], 3, 1e-15); /* along e(0) */
    AG_CHECK_NEAR(sys->xi0[1], 0, 1e-15);
  }
  ag_system_free(sys);
  ag_model_free(m);
}

int main(void) {
  check_form(false);
  check_form(true);
  check_frame();
  return ag_check_report();
}
