/* SPDX-License-Identifier: MIT
 * Groups that are kept at their length: by the series near it, by the root elsewhere. */
#include <float.h>
#include <math.h>

#include "expr/vmath.h"
#include "tests/check.h"

#include "run/unit_core.h"

/* Scaled from its length times `off`, the vector has its length again and points where it did. The sum of squares, its
 * quotient, the factor and the products round, each by at most half a unit: 8 of DBL_EPSILON in all. */
static void restored(int size, double length2, double off) {
  const double direction[4] = {0.48, -0.6, 0.64, 0.2};
  double u[4], before[4], norm2 = 0, now = 0;
  for (int k = 0; k < size; k++) norm2 += direction[k] * direction[k];
  for (int k = 0; k < size; k++) before[k] = u[k] = direction[k] * sqrt(length2 / norm2) * off;
  unit_restore(u, size, length2, ~0ULL);
  for (int k = 0; k < size; k++) now += u[k] * u[k];
  AG_CHECK(fabs(now / length2 - 1) <= 8 * DBL_EPSILON);
  for (int k = 1; k < size; k++) AG_CHECK(fabs(u[k] * before[0] - u[0] * before[k]) <= 8 * DBL_EPSILON * length2 * off);
}

int main(void) {
  /* on both sides of |d| = 2^-14, where off is about 1 -+ 2^-15 */
  const double offs[] = {0,       0x1p-52, 1e-12,   -1e-9,    1e-6, -1e-5, 2.9e-5, -2.9e-5, 3.0e-5, -3.0e-5,
                         0x1p-15, 3.1e-5,  -3.1e-5, -0x1p-15, 1e-3, -1e-2, 0.4,    -0.9,    1e3,    1e100};
  const double lengths[] = {1, 1 - 0x1p-53, 0.5, 2.3, 1e-6, 1e8};
  for (int size = 1; size <= 4; size++)
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
      for (size_t k = 0; k < sizeof offs / sizeof *offs; k++) restored(size, lengths[i], 1 + offs[k]);
  double zero[3] = {0, 0, 0}, far[2] = {3, 4}, lost[2] = {NAN, 1};
  unit_restore(zero, 3, 1, ~0ULL);
  AG_CHECK(zero[0] == 0 && zero[1] == 0 && zero[2] == 0);
  unit_restore(far, 2, 1, 0); /* a lane that is left alone */
  AG_CHECK(far[0] == 3 && far[1] == 4);
  unit_restore(lost, 2, 1, ~0ULL);
  AG_CHECK(isnan(lost[0]));
  return ag_check_report();
}
