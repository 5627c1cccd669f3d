/* SPDX-License-Identifier: MIT
 * The role PROJECT: its g is that of the role POSITION, and one step from a state that is off by e leads to the state
 * that the worker's Newton method finds, up to some e^2; of large systems with the role ONTO_ROWS after it. */
#include "tests/mech_models.h"

static const double OFF = 1e-5;

static void check(bench_system *b) {
  ag_system *sys = b->sys;
  if (!sys->tapes[AG_ROLE_PROJECT]) return;
  int n = sys->n.z, n_g = sys->n.g;
  double *z = room(n), *near = room(n), *out = room(n + n_g), *x = room(sys->n.x), *c = room(sys->n.c),
         *position = room(n_g + n_g * sys->n.xi);
  bool changed;
  for (unsigned seed = 1; seed <= 5; seed++) {
    AG_CHECK(take_sample(b, seed));
    memcpy(z, b->z, sizeof *z * (size_t)n);
    memcpy(c, b->basis, sizeof *c * (size_t)sys->n.c);
    for (int i = 0; i < sys->n.q; i++) z[sys->q_in_z[i]] += OFF * sin(seed + 2.0 * i);
    AG_CHECK(ag_work_role(b->w, AG_ROLE_PROJECT, b->t, z, c, out) == AG_FINE);
    ag_work_full(b->w, b->t, z, c, x);
    AG_CHECK(ag_work_role(b->w, AG_ROLE_POSITION, b->t, x, NULL, position) == AG_FINE);
    for (int k = 0; k < n_g; k++) AG_CHECK_NEAR(out[n + k], position[k], 1e-15);
    if (sys->tapes[AG_ROLE_ONTO_ROWS]) { /* velocities follow the positions */
      memcpy(near, out, sizeof *out * (size_t)n);
      AG_CHECK(ag_work_role(b->w, AG_ROLE_ONTO_ROWS, b->t, near, c, out) == AG_FINE);
    }
    memcpy(near, z, sizeof *z * (size_t)n);
    AG_CHECK(ag_work_settle(b->w, b->t, near, c, &changed) == AG_FINE);
    for (int i = 0; i < n; i++) AG_CHECK_NEAR(out[i], near[i], 10 * OFF * OFF);
  }
  free(z), free(near), free(out), free(x), free(c), free(position);
}

int main(void) { return each_case(check); }
