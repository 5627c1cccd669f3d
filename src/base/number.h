/* SPDX-License-Identifier: MIT
 * The shortest decimal digits that read back as exactly the same double. Used by base/text.c, for all output. */
#ifndef AG_BASE_NUMBER_H
#define AG_BASE_NUMBER_H
#include <stdbool.h>
#include <stdint.h>

/* A positive finite number as digits * 10^exponent; the last digit is not 0. */
typedef struct ag_decimal {
  uint64_t digits;
  int exponent;
} ag_decimal;

/* Among the decimals with fewest digits that read back as v (finite, > 0), the one nearest to v. */
ag_decimal ag_number_shortest(double v);

enum { AG_NUMBER_SIZE = 40 }; /* room for any number as text */
/* v as text, shortest: "0.1", "1200", "1e-30", "inf", "nan". Returns its length; the bytes after it, up to
 * AG_NUMBER_SIZE bytes of `out`, are overwritten, and there is no terminating null. */
int ag_number_write(double v, char *out);
/* The same for formats: printf("t = %s", ag_number_text(t).s). */
typedef struct ag_number_string {
  char s[AG_NUMBER_SIZE + 1];
} ag_number_string;
ag_number_string ag_number_text(double v);
#endif
