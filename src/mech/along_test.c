/* SPDX-License-Identifier: MIT
 * Derivatives along a direction: along the motion the energy changes as its balance says, coordinates by their
 * velocities, and the rows of the constraints not at all. Tolerance: rounding times the condition. (Against
 * differences, for every shipped model: tests/equal/along_test.c.) */
#include "tests/mech_models.h"

static void check(bench_system *b) {
  ag_system *sys = b->sys;
  const ag_dims *n = &sys->n;
  ag_id outs[2] = {sys->energy, b->m->coords[0].xi};
  ag_along *a = ag_along_create(sys, 2, outs);
  double *xidot = room(n->xi), *out = room(1 + sys->coords[0].n_tangent);
  for (unsigned seed = 1; seed <= 10; seed++) {
    AG_CHECK(take_sample(b, seed));
    AG_CHECK(ag_work_accel(b->w, b->t, b->x, xidot, NULL) == AG_FINE);
    ag_direction along = {.t = 1, .q = b->x + n->q, .xi = xidot};
    AG_CHECK(ag_along_eval(a, b->t, b->x, sys->params, &along, out) == 0);
    AG_CHECK_NEAR(out[0], ag_work_energy_rate(b->w, b->t, b->x), 1e-10);
    for (int k = 0; k < sys->coords[0].n_tangent; k++) AG_CHECK_NEAR(out[1 + k], xidot[k], 1e-15);
    AG_CHECK(ag_along_eval(a, b->t, b->x, sys->params, &(ag_direction){0}, out) == 0);
    AG_CHECK(out[0] == 0);
  }
  ag_along_free(a);
  free(xidot), free(out);
}

int main(void) { return each_case(check); }
