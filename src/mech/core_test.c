/* SPDX-License-Identifier: MIT
 * The core: what it computes alone is what the whole computes, bit for bit, and the rest of z does not matter to it.
 * Images move by (R^T c)' = (R^T c) x Omega. */
#include "math/lie.h"
#include "tests/mech_models.h"

static void check(bench_system *b) {
  ag_system *sys = b->sys;
  int n_core = sys->n.core;
  AG_CHECK(n_core == b->c->n_core);
  double *all = room(sys->n.z), *core = room(sys->n.z), *z = room(sys->n.z), rate[3];
  for (unsigned seed = 1; seed <= 10; seed++) {
    AG_CHECK(take_sample(b, seed));
    AG_CHECK(ag_work_rhs(b->w, b->t, b->z, b->basis, all) == AG_FINE);
    memcpy(z, b->z, sizeof *z * (size_t)sys->n.z);
    for (int i = n_core; i < sys->n.z; i++) z[i] = NAN;
    AG_CHECK(ag_work_core(b->w, b->t, z, b->basis, core) == AG_FINE);
    AG_CHECK(!memcmp(all, core, sizeof *all * (size_t)n_core));
    for (int i = 0; i < sys->n_image; i++) {
      const ag_image *image = &sys->images[i];
      ag_lie_cross(b->z + image->z, b->x + sys->n.q + sys->coords[image->coord].tangent, rate);
      for (int k = 0; k < 3; k++) AG_CHECK_NEAR(all[image->z + k], rate[k], 1e-14);
    }
    /* stored coordinates move as the kinematics of the full state say */
    double *qdot = room(sys->n.q);
    AG_CHECK(ag_work_role(b->w, AG_ROLE_KINEMATICS, b->t, b->x, NULL, qdot) == AG_FINE);
    for (int i = 0; i < sys->n.q; i++) AG_CHECK_NEAR(all[sys->q_in_z[i]], qdot[i], 1e-12);
    free(qdot);
  }
  free(all), free(core), free(z);
}

int main(void) { return each_case(check); }
