/* SPDX-License-Identifier: MIT
 * The exact meaning of a number in a file. */
#include "base/number.h"

#include <math.h>

#include "exact/exact_internal.h"

enum { SURE_DIGITS = 12 };
static const int64_t SURE_HEIGHT = (int64_t)1 << 36; /* a random double is that simple with a chance of 2^-15 */

/* The simplest fraction in [lo, hi], 0 < lo: the continued fractions of both ends as far as they agree. */
static bool simplest(long double lo, long double hi, int64_t *num, int64_t *den) {
  int64_t p0 = 0, q0 = 1, p1 = 1, q1 = 0;
  for (int i = 0; i < 40; i++) {
    long double a = ceill(lo);
    bool last = a <= hi;
    if (!last) a = floorl(lo);
    if (a > 4e18L || (p1 && a > (4e18L - (long double)p0) / (long double)p1) ||
        (q1 && a > (4e18L - (long double)q0) / (long double)q1))
      return false;
    int64_t p = (int64_t)a * p1 + p0, q = (int64_t)a * q1 + q0;
    p0 = p1, q0 = q1, p1 = p, q1 = q;
    if (last) {
      *num = p1, *den = q1;
      return true;
    }
    long double next = 1 / (hi - a);
    hi = 1 / (lo - a), lo = next;
  }
  return false;
}

ag_meant ag_number_meant(double v) {
  if (v == 0) return (ag_meant){true, 0, 1, 0};
  double size = fabs(v);
  ag_decimal d = ag_number_shortest(size);
  int n_digit = 0;
  for (uint64_t x = d.digits; x; x /= 10) n_digit++;
  int64_t sign = v < 0 ? -1 : 1;
  if (n_digit <= SURE_DIGITS) return (ag_meant){true, sign * (int64_t)d.digits, 1, d.exponent};
  ag_meant m = {.den = 0};
  double ulp = nextafter(size, INFINITY) - size;
  if (size < 1e15 && size > 1e-15 &&
      simplest((long double)size - 2 * (long double)ulp, (long double)size + 2 * (long double)ulp, &m.num, &m.den)) {
    m.sure = (long double)m.num * (long double)m.den <= (long double)SURE_HEIGHT;
    m.num *= sign;
  }
  return m;
}
