/* SPDX-License-Identifier: MIT
 * All rows together say what the kept rows alone cannot: in a chain whose first row stands twice both forms give the
 * same accelerations, a velocity off the constraints is corrected in the same way, and a row that does not hold is
 * named. */
#include <math.h>

#include "mech/work_internal.h"
#include "tests/chain_model.h"
#include "tests/check.h"

int main(void) {
  const double q[] = {0.6, 0.8, 1.2, 0, 1.2, 1};
  enum { N = 3, X = 2 * N };
  chain c = {.n = N, .again = true, .q = q};
  ag_ctx ctx = {0};
  ag_model *m;
  ag_system *sys = chain_system(&ctx, &c, &m);
  AG_CHECK(sys && ag_system_watches(sys));
  if (sys) {
    ag_work *w = ag_work_create(sys, sys->params), *all = ag_work_create(sys, sys->params);
    uint64_t random = 11;
    double x[2 * X], y[2 * X], one[X], other[X];
    AG_CHECK(ag_work_take_rows(all, -1));
    for (int k = 0; k < 20; k++) {
      for (int i = 0; i < 2 * X; i++) x[i] = y[i] = (i < X ? q[i] : 0) + 0.1 * chain_random(&random);
      AG_CHECK(ag_work_settle_full(all, 0, y) == AG_FINE && chain_error(N, y, y + X) <= 1e-12);
      AG_CHECK(ag_work_position(w, 0, x) == AG_FINE);
      memcpy(y, x, sizeof x);
      AG_CHECK(ag_work_velocity(w, 0, x) == AG_FINE && ag_work_velocity(all, 0, y) == AG_FINE);
      for (int i = 0; i < 2 * X; i++) AG_CHECK_NEAR(y[i], x[i], 1e-12); /* rounding of two orders of elimination */
      AG_CHECK(ag_work_accel(w, 0, x, one, NULL) == AG_FINE && ag_work_accel(all, 0, x, other, NULL) == AG_FINE);
      for (int i = 0; i < X; i++) AG_CHECK_NEAR(other[i], one[i], 1e-12);
      ag_rows_report said = ag_work_rows(w, sys->n.rank, 0, x);
      AG_CHECK(said.state == AG_ROWS_FINE && said.rank == N);
      AG_CHECK(ag_work_rows(w, N - 1, 0, x).state == AG_ROWS_AWAKE);
      AG_CHECK(ag_work_suits(w, 0, x) && ag_work_idle_row(w, 0, x) == -1);
      x[X] += 0.1; /* off the first row: the second, half of it, is off in the same way and does not contradict it */
      AG_CHECK(ag_work_rows(w, sys->n.rank, 0, x).state == AG_ROWS_FINE);
    }
    /* a link without length: its row (links have the squares of their lengths as functions) has no coefficients */
    for (int i = 0; i < 2; i++) x[2 + i] = x[i];
    AG_CHECK(!ag_work_suits(w, 0, x) && ag_work_idle_row(w, 0, x) == 2);
    ag_work_free(w), ag_work_free(all);
  }
  ag_system_free(sys);
  ag_model_free(m);
  ag_ctx_done(&ctx);
  return ag_check_report();
}
