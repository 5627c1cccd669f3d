/* SPDX-License-Identifier: MIT
 * The noise fields: the class of the noise, the eliminated fields against those with multipliers (two solves of small
 * well-conditioned systems: 1e-12), and closed forms. */
#include "tests/noise_models.h"

/* The field of a channel by the eliminated equations: dxi. */
static void eliminated(bench_system *b, int channel, double *dxi) {
  const ag_dims *n = &b->sys->n;
  ag_tape *tape = ag_system_noise_accel(b->sys, channel);
  double *state = room(n->q + n->u + n->process);
  memcpy(state, b->x, sizeof(double) * (size_t)n->q);
  memcpy(state + n->q, b->z + n->u_at, sizeof(double) * (size_t)n->u);
  memcpy(state + n->q + n->u, b->x + n->q + n->xi, sizeof(double) * (size_t)n->process);
  AG_CHECK(ag_tape_once(tape, b->t, state, b->sys->params, b->basis, dxi) == 0);
  ag_tape_free(tape);
  free(state);
}

static void check(bench_system *b, const noise_case *c) {
  const ag_dims *n = &b->sys->n;
  AG_CHECK_STR(ag_noise_word(ag_system_noise(b->sys)), ag_noise_word(c->noise));
  double *one = room(n->xi), *other = room(n->xi), *sigma = room(n->xi);
  for (unsigned seed = 1; seed <= 3; seed++)
    for (int i = 0; i < n->channel; i++) {
      AG_CHECK(take_sample(b, seed));
      eliminated(b, i, one);
      AG_CHECK(ag_work_noise(b->w, b->t, b->x, i, sigma, other, NULL) == AG_FINE);
      for (int k = 0; k < n->xi; k++) AG_CHECK_NEAR(one[k], other[k], 1e-12);
    }
  free(one), free(other), free(sigma);
}

/* The oscillator of unit mass: dx = 0.5 x o dW takes dp = -0.5 p o dW along; a potential gives its gradient. */
static void check_closed_forms(void) {
  static const struct {
    ag_model *(*make)(void);
    int channel;
    double sigma[2], push[2]; /* coefficients of x and x' */
  } cases[] = {{stretched, 1, {0.5, 0}, {0, -0.5}}, {kicked, 1, {0, 0}, {0.4, 0}}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    bench_system b;
    double sigma, dxi;
    bench_init(&b, &(mech_case){.make = cases[i].make});
    b.x[0] = 0.8, b.x[1] = -1.3;
    AG_CHECK(ag_work_noise(b.w, 0, b.x, cases[i].channel, &sigma, &dxi, NULL) == AG_FINE);
    AG_CHECK_NEAR(sigma, cases[i].sigma[0] * 0.8 + cases[i].sigma[1] * -1.3, 1e-15);
    AG_CHECK_NEAR(dxi, cases[i].push[0] * 0.8 + cases[i].push[1] * -1.3, 1e-15);
    bench_done(&b);
  }
}

int main(void) {
  each_noise(check);
  check_closed_forms();
  return ag_check_report();
}
