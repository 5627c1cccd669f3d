/* SPDX-License-Identifier: MIT
 * Increments of a worker: on the reduced state and, with multipliers, on the full one, they are h f + sum g_i dW_i. Two
 * solves of small well-conditioned systems: 1e-12. */
#include "tests/noise_models.h"

static void check(bench_system *b, const noise_case *c) {
  (void)c;
  const ag_dims *n = &b->sys->n;
  double *step = room(n->w), *dx = room(n->x), *dz = room(n->z), *drift = room(n->x), *sigma = room(n->xi),
         *dxi = room(n->xi), h = 0.3;
  AG_CHECK(take_sample(b, 4));
  step[0] = h;
  for (int i = 0; i < n->channel; i++) step[1 + i] = 0.2 - 0.5 * i;
  ag_work_step(b->w, step);
  AG_CHECK(ag_work_increment_full(b->w, b->t, b->x, dx) == AG_FINE);
  AG_CHECK(ag_work_increment(b->w, AG_ROLE_INCREMENT, b->t, b->z, b->basis, dz) == AG_FINE);
  AG_CHECK(ag_work_rhs_full(b->w, b->t, b->x, drift) == AG_FINE);
  for (int k = 0; k < n->xi; k++) { /* velocities, channel by channel */
    double sum = h * drift[n->q + k];
    for (int i = 0; i < n->channel; i++) {
      AG_CHECK(ag_work_noise(b->w, b->t, b->x, i, sigma, dxi, NULL) == AG_FINE);
      sum += step[1 + i] * dxi[k];
    }
    AG_CHECK_NEAR(dx[n->q + k], sum, 1e-12);
  }
  for (int k = 0; k < n->q; k++) AG_CHECK_NEAR(dz[b->sys->q_in_z[k]], dx[k], 1e-12);
  ag_work_step(b->w, NULL);
  free(step), free(dx), free(dz), free(drift), free(sigma), free(dxi);
}

/* The white part of the multiplier of z' = y x' + 1, unit masses. With sigma = (s, 0, y s), s = 0.4 + y: by hand from
 * M xi_i - S^T mu = pull_i, S = (-y, 0, 1), S xi_i = sigma_y x' = 0, pull = -dbar<p, sigma> = (0, -p_x - p_z (s + y),
 * 0): x and z are not pulled, so mu = 0 and only y' is changed. */
static void check_multiplier(void) {
  bench_system b;
  double sigma[3], dxi[3], mu;
  bench_init(&b, &(mech_case){.make = shaken_affine});
  AG_CHECK(take_sample(&b, 1));
  const double y = b.x[1], *xi = b.x + 3, s = 0.4 + y;
  AG_CHECK(ag_work_noise(b.w, b.t, b.x, 0, sigma, dxi, &mu) == AG_FINE);
  AG_CHECK_NEAR(sigma[2], y * s, 1e-14);
  AG_CHECK_NEAR(mu, 0, 1e-13);
  AG_CHECK_NEAR(dxi[0], 0, 1e-13);
  AG_CHECK_NEAR(dxi[1], -xi[0] - xi[2] * (s + y), 1e-13);
  bench_done(&b);
}

int main(void) {
  each_noise(check);
  check_multiplier();
  return ag_check_report();
}
