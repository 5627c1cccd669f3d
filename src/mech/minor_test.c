/* SPDX-License-Identifier: MIT
 * Minors: the columns whose minor stays away from zero over all samples are chosen, and the rank of rows is counted. */
#include "tests/mech_models.h"

enum { N_SAMPLE = 24 };

/* Samples around the circle of the blade's angle. */
static derive around(bench_system *b, double *samples) {
  for (int i = 0; i < N_SAMPLE; i++) {
    double *at = samples + 4 * i;
    at[0] = at[1] = at[2] = 0;
    at[3] = 2 * M_PI * i / N_SAMPLE;
  }
  return (derive){.m = b->m, .g = b->m->graph, .sys = b->sys, .samples = samples, .n_sample = N_SAMPLE};
}

int main(void) {
  bench_system b;
  double samples[4 * N_SAMPLE];
  bench_init(&b, &mech_cases[0]);
  derive d = around(&b, samples);
  ag_graph *g = b.m->graph;
  ag_id c = ag_apply1(g, AG_OP_COS, b.m->coords[2].q), s = ag_apply1(g, AG_OP_SIN, b.m->coords[2].q), n[2];
  ag_id one = ag_num(g, 1), zero = ag_num(g, 0), half = ag_num(g, 0.5), two = ag_num(g, 2), minus = ag_neg(g, s);
  int best[AG_MINOR_MAX];
  /* one row: cos and sin vanish somewhere, the constant does not; its part of the norm 2 is 1/sqrt 2 */
  ag_id row[3] = {c, s, one};
  n[0] = two;
  AG_CHECK_NEAR(ag_minor_best(&d, true, 1, 3, row, n, best), sqrt(0.5), 1e-15);
  AG_CHECK(best[0] == 2 && ag_minor_rank(&d, 1, 3, row, n) == 1);
  AG_CHECK(ag_minor_best(&d, true, 1, 2, row, n, best) < 1e-15); /* sin(pi) */
  /* a rotation has the minor 1 everywhere, with a small third column beside it */
  ag_id turn[6] = {c, minus, half, s, c, zero};
  n[0] = n[1] = one;
  AG_CHECK_NEAR(ag_minor_best(&d, true, 2, 3, turn, n, best), 1, 1e-15);
  AG_CHECK(best[0] == 0 && best[1] == 1 && ag_minor_rank(&d, 2, 3, turn, n) == 2);
  /* proportional rows */
  ag_id same[4] = {c, s, ag_mul(g, two, c), ag_mul(g, two, s)};
  n[1] = ag_num(g, 4);
  AG_CHECK(ag_minor_rank(&d, 2, 2, same, n) == 1 && ag_minor_best(&d, true, 2, 2, same, n, best) < 1e-15);
  AG_CHECK(ag_minor_rank(&d, 0, 2, same, n) == 0);
  /* two rows of which one is zero everywhere: 1 where cos > 0, 0 elsewhere, and the other way round */
  ag_id side = ag_apply1(g, AG_OP_SIGN, c), on = ag_mul(g, half, ag_add(g, one, side)),
        off = ag_mul(g, half, ag_sub(g, one, side)), turns[2] = {on, off};
  n[0] = ag_mul(g, on, on), n[1] = ag_mul(g, off, off);
  AG_CHECK(ag_minor_rank(&d, 2, 1, turns, n) == 1);
  bench_done(&b);
  return ag_check_report();
}
