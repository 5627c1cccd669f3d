/* SPDX-License-Identifier: MIT
 * Named velocities that contradict: masses 1 and 3 with v1 = 1, v2 = 0 and the row v1 = v2 meet at their common
 * momentum, 1/4; what is in no violated condition stays as it is. Tolerance: rounding. */
#include "mech/mech_internal.h"
#include "tests/check.h"

/* Rows v1 - v2 = 0 and v3 - v4 = 0; v4 is not named. */
static const double A[8] = {1, -1, 0, 0, 0, 0, 1, -1};
static const double M[16] = {1, 0, 0, 0, 0, 3, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1};

int main(void) {
  const bool named[4] = {true, true, true, false};
  double b[2] = {0}, xi[4] = {1, 0, 5, 0};
  bool changed[4] = {false};
  AG_CHECK(ag_start_reconcile(4, 2, 2, A, b, M, named, NULL, xi, changed));
  AG_CHECK_NEAR(xi[0], 0.25, 1e-15);
  AG_CHECK_NEAR(xi[1], 0.25, 1e-15);
  AG_CHECK(xi[2] == 5 && changed[0] && changed[1] && !changed[2] && !changed[3]);
  /* no contradiction: nothing is released */
  double same[4] = {2, 2, 5, 0};
  memset(changed, 0, sizeof changed);
  AG_CHECK(!ag_start_reconcile(4, 2, 2, A, b, M, named, NULL, same, changed));
  AG_CHECK(same[0] == 2 && same[1] == 2 && same[2] == 5 && !changed[0] && !changed[1]);
  return ag_check_report();
}
