/* SPDX-License-Identifier: MIT
 * What numbers mean: short decimals, simple fractions, and numbers that may be anything. */
#include "exact/exact.h"

#include "check.h"

static void sure(double v, int64_t num, int64_t den, int ten) {
  ag_meant m = ag_number_meant(v);
  AG_CHECK(m.sure && m.num == num && m.den == den && m.ten == ten);
}

int main(void) {
  sure(0, 0, 1, 0);
  sure(0.1, 1, 1, -1);
  sure(-2.5, -25, 1, -1);
  sure(1e-300, 1, 1, -300);
  sure(123456789012e20, 123456789012, 1, 20);
  sure(1.0 / 3, 1, 3, 0);
  sure(-2.0 / 7, -2, 7, 0);
  sure(1.0 / 3 * 0.7, 7, 30, 0);
  sure(0.1 + 0.2, 3, 10, 0); /* one unit in the last place from 0.3 */
  sure(1e6 / 7, 1000000, 7, 0);
  AG_CHECK(!ag_number_meant(1.4142135623730951).sure);
  AG_CHECK(!ag_number_meant(3.141592653589793).sure);
  AG_CHECK(!ag_number_meant(1.0 / 3 + 1e-14).sure);
  ag_meant m = ag_number_meant(3.141592653589793);
  AG_CHECK(m.den > 0 && fabs((double)m.num / (double)m.den - 3.141592653589793) < 1e-15);
  return ag_check_report();
}
