/* SPDX-License-Identifier: MIT
 * Stored coordinates move along the tangent: vectors add, rotations turn by R exp(hat(delta)). Tolerance: rounding. */
#include "math/lie.h"
#include "tests/mech_models.h"

static void check(bench_system *b) {
  ag_system *sys = b->sys;
  double *q = room(sys->n.q), *delta = room(sys->n.xi), *back = room(sys->n.xi);
  for (unsigned seed = 1; seed <= 5; seed++) {
    AG_CHECK(take_sample(b, seed));
    memcpy(q, b->x, sizeof *q * (size_t)sys->n.q);
    for (int i = 0; i < sys->n.xi; i++) delta[i] = 0.3 * sin(1.0 + i + seed), back[i] = -delta[i];
    ag_retract(sys, q, delta);
    for (int i = 0; i < sys->model->n_coords; i++) {
      const ag_layout_row *p = &sys->coords[i];
      double turn[4], want[4];
      for (int k = 0; k < p->n && p->factor != AG_SPACE_SO3; k++)
        AG_CHECK_NEAR(q[p->at + k], b->x[p->at + k] + delta[p->tangent + k], 1e-15);
      if (p->factor != AG_SPACE_SO3) continue;
      ag_lie_exp(delta + p->tangent, turn);
      ag_lie_quat_mul(b->x + p->at, turn, want);
      for (int k = 0; k < 4; k++) AG_CHECK_NEAR(q[p->at + k], want[k], 1e-15);
    }
    ag_retract(sys, q, back); /* the same step backward leads back */
    for (int i = 0; i < sys->n.q; i++) AG_CHECK_NEAR(q[i], b->x[i], 1e-15);
    for (int i = 0; i < sys->n.q; i++) q[i] *= 2;
    ag_normalise(sys, q);
    for (int i = 0; i < sys->model->n_coords; i++) {
      const ag_layout_row *p = &sys->coords[i];
      double factor = p->factor == AG_SPACE_SO3 ? 1 : 2;
      for (int k = 0; k < p->n; k++) AG_CHECK_NEAR(q[p->at + k], factor * b->x[p->at + k], 1e-15);
    }
  }
  ag_default_coordinates(sys, q);
  for (int i = 0; i < sys->model->n_coords; i++)
    for (int k = 0; k < sys->coords[i].n; k++)
      AG_CHECK(q[sys->coords[i].at + k] == (sys->coords[i].factor == AG_SPACE_SO3 && k == 0));
  free(q), free(delta), free(back);
}

int main(void) { return each_case(check); }
