/* SPDX-License-Identifier: MIT
 * Multipliers and reactions as functions of the reduced state against those of the saddle form, on the full state. Two
 * ways to them, each a solve of a well-conditioned small system: they agree to some hundred roundings. */
#include <stdlib.h>

#include "tests/mech_models.h"

static int n_compared;

/* The outputs of a tape on the reduced state. */
static void evaluate(const ag_tape *tape, const bench_system *b, double *out) {
  const double *seg[AG_SEG_COUNT] = {
      [AG_SEG_T] = &b->t, [AG_SEG_Z] = b->z, [AG_SEG_P] = b->sys->params, [AG_SEG_C] = b->basis};
  double *slots = calloc((size_t)tape->n_slot + 1, sizeof *slots);
  AG_CHECK(!ag_tape_prep(tape, b->sys->params, slots));
  AG_CHECK(!ag_tape_eval(tape, seg, slots, out));
  free(slots);
}

static void check(bench_system *b) {
  ag_system *sys = b->sys;
  if (!sys->n.lambda) return;
  ag_id x[2] = {sys->model->lambda, ag_model_reaction(b->m, 0)};
  bool rest, known = ag_system_forces(sys, 2, x);
  AG_CHECK(known || b->c->saddle || sys->n.rank < sys->n.lambda || ag_system_watches(sys) || !sys->n.u ||
           sys->n.switches);
  if (!known) return;
  AG_CHECK(!ag_model_has_force(b->m, 2, x));
  ag_tape *tape = ag_system_reduced_tape(sys, 2, x, &rest);
  double *out = calloc((size_t)tape->n_out + 1, sizeof *out), *xidot = calloc((size_t)sys->n.xi, sizeof *xidot);
  double *lambda = calloc((size_t)sys->n.lambda, sizeof *lambda), *force = calloc((size_t)sys->n.xi, sizeof *force);
  for (unsigned seed = 1; seed <= 5; seed++) {
    AG_CHECK(take_sample(b, seed));
    evaluate(tape, b, out);
    AG_CHECK(ag_work_accel(b->w, b->t, b->x, xidot, lambda) == AG_FINE);
    AG_CHECK(ag_work_reaction(b->w, b->t, b->x, force) == AG_FINE);
    for (int i = 0; i < sys->n.lambda; i++) AG_CHECK_NEAR(out[i], lambda[i], 1e-12 * (1 + fabs(lambda[i])));
    for (int i = sys->n.lambda; i < tape->n_out; i++)
      AG_CHECK_NEAR(out[i], force[i - sys->n.lambda], 1e-12 * (1 + fabs(out[i])));
    n_compared++;
  }
  ag_tape_free(tape);
  free(out), free(xidot), free(lambda), free(force);
}

int main(void) {
  int failed = each_case(check);
  AG_CHECK(n_compared > 0);
  fprintf(stderr, "%d states compared\n", n_compared);
  return failed || ag_check_report();
}
