/* SPDX-License-Identifier: MIT
 * Shortest decimals: against the C library, which rounds correctly. Of each number: it reads back; no decimal with
 * fewer digits does; of those with as many digits none is nearer. */
#include "base/number.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

static const char *written(double v) {
  static _Thread_local char out[AG_NUMBER_SIZE + 1];
  int n = ag_number_write(v, out);
  AG_CHECK(n > 0 && n <= AG_NUMBER_SIZE);
  out[n] = 0;
  AG_CHECK(!strcmp(ag_number_text(v).s, out));
  return out;
}

/* The decimal d * 10^e as the library reads it. */
static double read_back(uint64_t d, int e) {
  char s[48];
  snprintf(s, sizeof s, "%llue%d", (unsigned long long)d, e);
  return strtod(s, NULL);
}

static int n_digits(uint64_t d) {
  int n = 0;
  for (; d; d /= 10) n++;
  return n;
}

/* As printf with as many digits as needed writes it; the mantissa of either form, in plain characters. */
static void check_form(double v) {
  char wanted[64];
  int n = n_digits(ag_number_shortest(v).digits);
  snprintf(wanted, sizeof wanted, "%.*g", n, v);
  if (v < 1e9 && v == floor(v)) snprintf(wanted, sizeof wanted, "%.0f", v); /* 1000, not 1e+03 */
  if (strtod(wanted, NULL) == v) AG_CHECK_STR(written(v), wanted);
}

static void check(double v) {
  ag_decimal x = ag_number_shortest(v);
  int n = n_digits(x.digits);
  AG_CHECK(x.digits % 10 != 0);
  AG_CHECK(read_back(x.digits, x.exponent) == v);
  AG_CHECK(strtod(written(v), NULL) == v && strtod(written(-v), NULL) == -v);
  check_form(v);
  if (n == 1) return;
  /* one digit less: the two decimals on either side of v */
  AG_CHECK(read_back(x.digits / 10, x.exponent + 1) != v && read_back(x.digits / 10 + 1, x.exponent + 1) != v);
  /* the correctly rounded decimal with as many digits is this one, where it reads back */
  char s[40];
  snprintf(s, sizeof s, "%.*e", n - 1, v);
  if (strtod(s, NULL) != v) return;
  uint64_t rounded = 0;
  for (const char *p = s; *p != 'e'; p++)
    if (*p != '.') rounded = 10 * rounded + (uint64_t)(*p - '0');
  AG_CHECK(rounded == x.digits);
}

static double any_double(uint64_t *state) {
  *state ^= *state << 13, *state ^= *state >> 7, *state ^= *state << 17;
  uint64_t bits = *state & 0x7fffffffffffffff;
  double v;
  memcpy(&v, &bits, sizeof v);
  return v;
}

int main(void) {
  uint64_t state = 20261116;
  for (int i = 0; i < 100000; i++) {
    double v = any_double(&state);
    if (isfinite(v) && v > 0) check(v);
    check(ldexp(1 + (double)(state >> 12) * 0x1p-52, (int)(state % 40) - 20)); /* of usual size */
    check((double)(state % 1000000) / 1000 + 1e-3);                            /* few digits */
    check((double)(1 + state % (1ULL << 54)));                                 /* integers */
  }
  for (int e = -1074; e < 1024; e++) { /* powers of 2, where the spacing changes, and their neighbours */
    double v = ldexp(1, e);
    check(v);
    check(nextafter(v, INFINITY) < INFINITY ? nextafter(v, INFINITY) : v);
    if (e > -1074) check(nextafter(v, 0));
  }
  for (int e = -323; e <= 308; e++) check(read_back(1, e));
  for (int e = 0; e < 53; e++) /* 1, 3, 5 and 7 halves, quarters, ... : exact decimals that end with 5 */
    for (int odd = 1; odd < 8; odd += 2) check(ldexp(odd, -e)), check(12345 + ldexp(odd, -e));
  for (int n = 1; n <= 17; n++) /* 1 to 17 digits, at every place of the point */
    for (int e = -25; e <= 25; e++) check(read_back(12345678901234567 / (uint64_t)pow(10, 17 - n), e));
  for (int e = -1074; e < -1021; e++) /* subnormal, around each power of 2, and between two of them */
    check(1.5 * ldexp(1, e) + 0x1p-1074), check(ldexp(1, e) + 0x1p-1074);
  AG_CHECK_STR(written(5e-324), "5e-324");
  AG_CHECK_STR(written(1.7976931348623157e308), "1.7976931348623157e+308");
  AG_CHECK_STR(written(0.0001), "0.0001");
  AG_CHECK_STR(written(0.00001234), "1.234e-05");
  AG_CHECK_STR(written(1e23), "1e+23");
  AG_CHECK_STR(written(123456789012), "123456789012");
  AG_CHECK_STR(written(-1500), "-1500");
  AG_CHECK_STR(written(1e9), "1e+09");
  AG_CHECK_STR(written(100.5), "100.5");
  AG_CHECK_STR(written(-0.0), "-0");
  AG_CHECK_STR(written(-NAN), "nan");
  AG_CHECK_STR(written(-INFINITY), "-inf");
  return ag_check_report();
}
