/* SPDX-License-Identifier: MIT
 * Growth vectors of distributions that are known, and constraints that are holonomic in disguise. */
#include "tests/mech_models.h"

static void check(bench_system *b) {
  const ag_growth *want = &b->c->growth, *found = ag_system_growth(b->sys);
  if (!want->n) return;
  AG_CHECK(found->in_time == want->in_time && found->n == want->n && found->n_disguised == want->n_disguised);
  for (int i = 0; i < want->n; i++) AG_CHECK(found->dims[i] == want->dims[i]);
}

int main(void) { return each_case(check); }
