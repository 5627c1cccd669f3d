/* SPDX-License-Identifier: MIT
 * A system treated as a large one has the accelerations and reactions that it has with velocities eliminated.
 * Tolerance: rounding times the condition of small saddle matrices. */
#include "tests/mech_models.h"

static void check(bench_system *b) {
  if (b->c->saddle || !b->sys->n.lambda || b->m->n_frames) return;
  bench_system large;
  int n = b->sys->n.xi;
  bench_init(&large, &(mech_case){.make = b->c->make, .saddle = true});
  AG_CHECK(large.sys->elimination == AG_ELIM_SADDLE && large.sys->n.lambda == b->sys->n.lambda);
  AG_CHECK(ag_is_sparse(large.sys) && !ag_is_sparse(b->sys));
  double *a[2] = {room(n), room(n)}, *r[2] = {room(n), room(n)};
  for (unsigned seed = 1; seed <= 10; seed++) {
    AG_CHECK(take_sample(b, seed));
    AG_CHECK(ag_work_accel(b->w, b->t, b->x, a[0], NULL) == AG_FINE);
    AG_CHECK(ag_work_accel(large.w, b->t, b->x, a[1], NULL) == AG_FINE);
    AG_CHECK(ag_work_reaction(b->w, b->t, b->x, r[0]) == AG_FINE);
    AG_CHECK(ag_work_reaction(large.w, b->t, b->x, r[1]) == AG_FINE);
    for (int i = 0; i < n; i++) {
      AG_CHECK_NEAR(a[1][i], a[0][i], 1e-11);
      AG_CHECK_NEAR(r[1][i], r[0][i], 1e-11);
    }
  }
  for (int k = 0; k < 2; k++) free(a[k]), free(r[k]);
  bench_done(&large);
}

int main(void) { return each_case(check); }
