/* SPDX-License-Identifier: MIT
 * Transports completed from the constraints: S sigma = 0, given components kept, and what is refused. */
#include "tests/noise_models.h"

/* sigma of all quasi-velocities satisfies the rows without their inhomogeneous part: differences of S xi + s. */
static void check(bench_system *b, const noise_case *c) {
  (void)c;
  const ag_dims *n = &b->sys->n;
  double *sigma = room(n->xi), *moved = room(n->x + n->lambda);
  for (int i = 0; i < n->channel; i++) {
    AG_CHECK(take_sample(b, 2));
    AG_CHECK(ag_work_noise(b->w, b->t, b->x, i, sigma, NULL, NULL) == AG_FINE);
    memcpy(moved, b->x, sizeof(double) * (size_t)n->x);
    for (int k = 0; k < n->xi; k++) moved[n->q + k] += sigma[k];
    AG_CHECK_NEAR(ag_work_residual(b->w, b->t, moved), ag_work_residual(b->w, b->t, b->x), 1e-14);
  }
  free(sigma), free(moved);
}

/* r' = psi' (cos phi, sin phi): cos psi on psi' takes r along. */
static void check_coin(void) {
  bench_system b;
  double sigma[4];
  bench_init(&b, &(mech_case){.make = varied_coin});
  AG_CHECK(take_sample(&b, 1));
  double phi = b.x[2], psi = b.x[3];
  AG_CHECK(ag_work_noise(b.w, b.t, b.x, 1, sigma, NULL, NULL) == AG_FINE);
  AG_CHECK_NEAR(sigma[0], cos(psi) * cos(phi), 1e-15);
  AG_CHECK_NEAR(sigma[1], cos(psi) * sin(phi), 1e-15);
  AG_CHECK(sigma[2] == 0);
  AG_CHECK_NEAR(sigma[3], cos(psi), 1e-15);
  bench_done(&b);
}

/* z' = y x': z shaken needs x shaken, y stays. Where x is given too, and wrongly, it is an error. A raw
 * transport is all there is, and may leave the constraint. */
static void check_swapped(bool raw, bool both, ag_status expected) {
  ag_ctx ctx = {0};
  ag_model *m = heisenberg();
  ag_system *sys = NULL;
  int V = add_channel(m, "V");
  ag_noise *noise = add_noise(m, AG_NOISE_TRANSPORT, V, 2, ag_num(m->graph, 0.5));
  noise->raw = raw;
  if (both) {
    noise->parts = AG_NEWN(m->arena, ag_assign, 2);
    noise->n = 2;
    noise->parts[0] = (ag_assign){.coord = 2, .row = -1, .x = ag_num(m->graph, 0.5)};
    noise->parts[1] = (ag_assign){.coord = 0, .row = -1, .x = ag_num(m->graph, 0.5)};
  }
  AG_CHECK(ag_system_create(&ctx, m, &(ag_derive_options){0}, &sys) == expected);
  AG_CHECK((expected == AG_OK) == (sys != NULL));
  ag_system_free(sys);
  ag_model_free(m);
  ag_ctx_done(&ctx);
}

int main(void) {
  each_noise(check);
  check_coin();
  check_swapped(true, false, AG_OK);
  check_swapped(false, true, AG_WRONG);
  return ag_check_report();
}
