/* SPDX-License-Identifier: MIT
 * Expressions on the reduced state are what they are on the full one; what reads the rest says so, forces cannot be
 * had. Tolerance: rounding of energies of size 10. */
#include "tests/mech_models.h"

static double value(const ag_tape *tape, bench_system *b, const double *state) {
  double out;
  ag_tape_once(tape, b->t, state, b->sys->params, NULL, &out);
  return out;
}

static void check(bench_system *b) {
  ag_system *sys = b->sys;
  if (sys->n.c || b->c->saddle) return; /* without basis data */
  for (int i = -1; i < sys->n.xi; i++) {
    bool rest, lambda;
    ag_id x = sys->energy;
    for (int k = 0, at = 0; k < sys->model->n_coords; at += sys->coords[k++].n_tangent)
      if (i >= at && i < at + sys->coords[k].n_tangent) x = ag_entry(b->m->graph, b->m->coords[k].xi, i - at, 0);
    ag_tape *reduced = ag_system_reduced_tape(sys, 1, &x, &rest), *full = ag_system_tape(sys, 1, &x, &lambda);
    AG_CHECK(reduced && full && !lambda);
    for (unsigned seed = 1; seed <= 5 && reduced; seed++) {
      AG_CHECK(take_sample(b, seed));
      AG_CHECK_NEAR(value(reduced, b, b->z), value(full, b, b->x), 1e-13);
      for (int k = sys->n.core; k < sys->n.z && !rest; k++) b->z[k] = NAN;
      AG_CHECK(isfinite(value(reduced, b, b->z)));
    }
    ag_tape_free(reduced);
    ag_tape_free(full);
  }
}

/* Of the top: R^T e3 is known to the core, another entry of R is not; the reaction of the coin is a force. */
static void check_kinds(void) {
  bench_system b;
  bool rest;
  bench_init(&b, &(mech_case){.make = top});
  ag_tape *up = ag_system_reduced_tape(b.sys, 1, &b.m->observables[0].x, &rest);
  AG_CHECK(up && !rest);
  ag_tape *other = ag_system_reduced_tape(b.sys, 1, &b.m->observables[1].x, &rest);
  AG_CHECK(other && rest);
  ag_tape_free(up);
  ag_tape_free(other);
  bench_done(&b);
  bench_init(&b, &(mech_case){.make = plain_coin});
  ag_id force = ag_model_reaction(b.m, 0);
  AG_CHECK(ag_system_reduced_tape(b.sys, 1, &force, &rest) == NULL);
  bench_done(&b);
}

int main(void) {
  check_kinds();
  return each_case(check);
}
