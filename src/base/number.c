/* SPDX-License-Identifier: MIT
 * Shortest decimals by the method of R. Giulietti, "The Schubfach way to render doubles" (2021).
 *
 * v = c 2^q. Decimals that read back as v lie between its neighbours' midpoints v_l = (4c - 2) 2^(q-2) (4c - 1 at a
 * power of 2) and v_r = (4c + 2) 2^(q-2); both ends count if c is even. With k the largest integer for which 10^k is
 * not longer than that interval, it holds at least one multiple of 10^k and at most one of 10^(k+1): if there is one of
 * the latter it is the shortest, otherwise the multiple of 10^k nearest to v is. v_l, 4 v and v_r are compared in units
 * of 10^k / 4, as integers rounded to odd: this keeps all comparisons exact with 128 bits of 10^-k. */
#include "base/number.h"

#include <endian.h>
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

/* The shortest decimal of v, with the zeros that its last digits may be. */
static ag_decimal shortest(double v) {
  uint64_t bits;
  memcpy(&bits, &v, sizeof bits);
  uint64_t fraction = bits & 0xfffffffffffff, field = bits >> 52 & 0x7ff;
  uint64_t c = field ? fraction | 1ULL << 52 : fraction;
  int q = field ? (int)field - 1075 : -1074;
  if (q <= 0 && q > -53 && !(c & ((1ULL << -q) - 1))) return (ag_decimal){c >> -q, 0}; /* an integer */
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
    if (below != above) return (ag_decimal){tens + above, k + 1};
  }
  bool below = left <= 4 * s, above = 4 * s + 4 <= right;
  if (below != above) return (ag_decimal){s + above, k};
  uint64_t middle = 4 * s + 2; /* both read back: the nearer, of two equally near the even one */
  return (ag_decimal){s + (at > middle || (at == middle && (s & 1))), k};
}

ag_decimal ag_number_shortest(double v) {
  ag_decimal x = shortest(v);
  while (x.digits % 10 == 0) x.digits /= 10, x.exponent++;
  return x;
}

/* ---- as text ---- */

/* digits of a double, as many as are copied at once whatever their number; of these and of what is behind them */
enum { MOST = 17, ROOM = 2 * MOST };

/* 10^i, i = 0 ... 17 */
static const uint64_t ten_to[] = {1,
                                  10,
                                  100,
                                  1000,
                                  10000,
                                  100000,
                                  1000000,
                                  10000000,
                                  100000000,
                                  1000000000,
                                  10000000000,
                                  100000000000,
                                  1000000000000,
                                  10000000000000,
                                  100000000000000,
                                  1000000000000000,
                                  10000000000000000,
                                  100000000000000000};

/* How many digits x > 0 has: 1233/4096 is log10(2), to more digits than 64 bits need. */
static int count_digits(uint64_t x) {
  int n = ((64 - __builtin_clzll(x)) * 1233) >> 12;
  return n + (x >= ten_to[n]);
}

/* The eight digits of x < 10^8, one in each byte, the first in the lowest. Numbers below 10^4 and then below 10^2 are
 * divided side by side; 10486/2^20 and 103/2^10 are 1/100 and 1/10, exact for quotients of that size. */
static uint64_t eight_digits(uint32_t x) {
  uint64_t y = x / 10000 | (uint64_t)(x % 10000) << 32;
  uint64_t q = (y * 10486 >> 20) & 0x0000007f0000007f;
  y = q | (y - 100 * q) << 16;
  q = (y * 103 >> 10) & 0x000f000f000f000f;
  return q | (y - 10 * q) << 8;
}

/* The digits of x, followed by zeros; returns how many there are without the zeros at their end. `power`
 * becomes that of the first digit. */
static int write_digits(ag_decimal x, char out[ROOM], int *power) {
  static const uint64_t zeros = 0x3030303030303030; /* eight characters '0' */
  int n = count_digits(x.digits);
  *power = n - 1 + x.exponent;
  uint64_t all = x.digits * ten_to[MOST - n], first = all / ten_to[16], rest = all % ten_to[16];
  uint64_t high = eight_digits((uint32_t)(rest / ten_to[8])), low = eight_digits((uint32_t)(rest % ten_to[8]));
  uint64_t text[] = {htole64(high | zeros), htole64(low | zeros)};
  memset(out, '0', ROOM);
  out[0] = (char)('0' + first);
  memcpy(out + 1, text, sizeof text);
  if (low) return MOST - __builtin_clzll(low) / 8;
  return high ? 9 - __builtin_clzll(high) / 8 : 1;
}

/* d.ddde-07 */
static int write_exponential(const char *digits, int n, int power, char *out) {
  char *p = out + (n > 1 ? n + 1 : 1);
  memcpy(out + 1, digits, MOST);
  out[0] = digits[0];
  out[1] = '.';
  *p++ = 'e';
  *p++ = power < 0 ? '-' : '+';
  int size = power < 0 ? -power : power;
  if (size >= 100) *p++ = (char)('0' + size / 100);
  *p++ = (char)('0' + size / 10 % 10);
  *p++ = (char)('0' + size % 10);
  return (int)(p - out);
}

/* Without an exponent; `power` is that of the first digit. */
static int write_plain(const char *digits, int n, int power, char *out) {
  if (power < 0) {
    static const char zeros[] = {'0', '.', '0', '0', '0'};
    memcpy(out, zeros, sizeof zeros);
    memcpy(out + 1 - power, digits, MOST);
    return 1 - power + n;
  }
  memcpy(out, digits, MOST);
  if (n <= power + 1) return power + 1;
  out[power + 1] = '.';
  memcpy(out + power + 2, digits + power + 1, MOST);
  return n + 1;
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
  char digits[ROOM];
  int power, n = write_digits(shortest(fabs(v)), digits, &power);
  /* as %g with n digits writes it; but 1000, not 1e+03 */
  bool plain = power >= -4 && (power < n || power < 9);
  return sign + (plain ? write_plain(digits, n, power, out) : write_exponential(digits, n, power, out));
}

ag_number_string ag_number_text(double v) {
  ag_number_string x;
  x.s[ag_number_write(v, x.s)] = 0;
  return x;
}
