/* SPDX-License-Identifier: MIT
 * Rows of several blocks come back by columns, bit for bit. */
#include "cli/spool.h"

#include <stdlib.h>

#include "check.h"

static double number(long row, int i) { return (double)row + 1e-3 * i; }

static void check(int width, long n) {
  ag_spool s;
  ag_spool_init(&s, width);
  double *row = malloc(sizeof *row * (size_t)width), *out = malloc(sizeof *out * 3 * (size_t)s.block);
  for (long k = 0; k < n; k++) {
    for (int i = 0; i < width; i++) row[i] = number(k, i);
    AG_CHECK(ag_spool_row(&s, row));
  }
  AG_CHECK(s.n == n && (s.fd >= 0) == (n >= s.block));
  long wrong = 0;
  int at = width > 4 ? width - 4 : 0;
  for (long from = 0, some; from < n; from += some) {
    some = ag_spool_read(&s, from, at, 3, out);
    AG_CHECK(some > 0 && some <= s.block);
    if (some <= 0) break;
    for (int i = 0; i < 3; i++)
      for (long k = 0; k < some; k++) wrong += out[i * some + k] != number(from + k, at + i);
  }
  AG_CHECK(wrong == 0 && ag_spool_read(&s, n, at, 1, out) == 0 && !s.trouble);
  ag_spool_done(&s);
  free(row);
  free(out);
}

int main(void) {
  ag_spool s;
  ag_spool_init(&s, 1000);
  long block = s.block;
  ag_spool_done(&s);
  check(3, 0);
  check(3, 17);
  check(1000, block);
  check(1000, 3 * block + 5);
  return ag_check_report();
}
