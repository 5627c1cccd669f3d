/* SPDX-License-Identifier: MIT
 * Shortest decimals by the method of R. Giulietti, "The Schubfach way to render doubles" (2021).
 *
 * v = c 2^q. Decimals that read back as v lie between its neighbours' midpoints v_l = (4c - 2) 2^(q-2) (4c - 1 at a
 * power of 2) and v_r = (4c + 2) 2^(q-2); both ends count if c is even. With k the largest integer for which 10^k is
 * not longer than that interval, it holds at least one multiple of 10^k and at most one of 10^(k+1): if there is one of
 * the latter it is the shortest, otherwise the multiple of 10^k nearest to v is. v_l, 4 v and v_r are compared in units
 * of 10^k / 4, as integers rounded to odd: this keeps all comparisons exact with 128 bits of 10^-k. */
#include "base/number.h"

#include <math.h>
#include <string.h>

typedef struct wide {
  uint64_t high, low;
} wide;

enum { FIRST = -292, LAST = 324 }; /* exponents in the table */
static const wide power10[LAST - FIRST + 1] = {
#define AG_POWER10(high, low) {high, low},
#include "base/power10.def"
#undef AG_POWER10
};

/* floor(log10(2^q)), floor(log10(3/4 2^q)), floor(log2(10^k)), in the range of double: products with rounded
 * logarithms, exact there. */
static int log10_of_2(int q) { return (q * 1262611) >> 22; }
static int log10_of_three_quarters(int q) { return (q * 1262611 - 524031) >> 22; }
static int log2_of_10(int k) { return (k * 1741647) >> 19; }

/* g x / 2^128 rounded to odd. */
static uint64_t scaled(wide g, uint64_t x) {
  unsigned __int128 low = (unsigned __int128)g.low * x, high = (unsigned __int128)g.high * x + (uint64_t)(low >> 64);
  return (uint64_t)(high >> 64) | ((uint64_t)high > 1);
}

static ag_decimal without_zeros(uint64_t digits, int exponent) {
  while (digits % 10 == 0) digits /= 10, exponent++;
  return (ag_decimal){digits, exponent};
}

ag_decimal ag_number_shortest(double v) {
  uint64_t bits;
  memcpy(&bits, &v, sizeof bits);
  uint64_t fraction = bits & 0xfffffffffffff, field = bits >> 52 & 0x7ff;
  uint64_t c = field ? fraction | 1ULL << 52 : fraction;
  int q = field ? (int)field - 1075 : -1074;
  if (q <= 0 && q > -53 && !(c & ((1ULL << -q) - 1))) return without_zeros(c >> -q, 0); /* an integer */
  uint64_t odd = c & 1;
  bool uneven = fraction == 0 && field > 1;
  int k = uneven ? log10_of_three_quarters(q) : log10_of_2(q), h = q + log2_of_10(-k) + 1;
  wide g = power10[-k - FIRST];
  uint64_t left = scaled(g, (4 * c - 2 + uneven) << h) + odd, at = scaled(g, 4 * c << h),
           right = scaled(g, (4 * c + 2) << h) - odd;
  uint64_t s = at / 4;
  if (s >= 10) {
    uint64_t tens = s / 10;
    bool below = left <= 40 * tens, above = 40 * tens + 40 <= right;
    if (below != above) return without_zeros(tens + above, k + 1);
  }
  bool below = left <= 4 * s, above = 4 * s + 4 <= right;
  if (below != above) return without_zeros(s + above, k);
  uint64_t middle = 4 * s + 2; /* both read back: the nearer, of two equally near the even one */
  return without_zeros(s + (at > middle || (at == middle && (s & 1))), k);
}

static int write_digits(uint64_t x, char *out) {
  char reversed[20];
  int n = 0;
  do reversed[n++] = (char)('0' + x % 10);
  while (x /= 10);
  for (int i = 0; i < n; i++) out[i] = reversed[n - 1 - i];
  return n;
}

/* d.ddde-07 */
static int write_exponential(const char *digits, int n, int power, char *out) {
  char *p = out;
  *p++ = digits[0];
  if (n > 1) {
    *p++ = '.';
    memcpy(p, digits + 1, (size_t)(n - 1));
    p += n - 1;
  }
  *p++ = 'e';
  *p++ = power < 0 ? '-' : '+';
  int size = power < 0 ? -power : power;
  if (size < 10) *p++ = '0';
  p += write_digits((uint64_t)size, p);
  return (int)(p - out);
}

/* Without an exponent; `power` is that of the first digit. */
static int write_plain(const char *digits, int n, int power, char *out) {
  char *p = out;
  if (power < 0) {
    memcpy(p, "0.0000", (size_t)(1 - power));
    p += 1 - power;
    memcpy(p, digits, (size_t)n);
    return (int)(p - out) + n;
  }
  for (int i = 0; i < n || i <= power; i++) {
    if (i == power + 1) *p++ = '.';
    *p++ = (char)(i < n ? digits[i] : '0');
  }
  return (int)(p - out);
}

static int put_word(char *out, const char *word) {
  int n = 0;
  for (; word[n]; n++) out[n] = word[n];
  return n;
}

int ag_number_write(double v, char *out) {
  if (isnan(v)) {
    return put_word(out, "nan");
  }
  int sign = signbit(v) != 0;
  if (sign) *out++ = '-';
  if (isinf(v)) {
    return sign + put_word(out, "inf");
  }
  if (v == 0) {
    *out = '0';
    return sign + 1;
  }
  ag_decimal x = ag_number_shortest(fabs(v));
  char digits[20];
  int n = write_digits(x.digits, digits), power = n - 1 + x.exponent;
  /* as %g with n digits writes it; but 1000, not 1e+03 */
  bool plain = power >= -4 && (power < n || (x.exponent >= 0 && power < 9));
  return sign + (plain ? write_plain : write_exponential)(digits, n, power, out);
}

ag_number_string ag_number_text(double v) {
  ag_number_string x = {{0}};
  (void)ag_number_write(v, x.s);
  return x;
}
