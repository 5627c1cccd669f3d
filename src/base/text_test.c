/* SPDX-License-Identifier: MIT
 * Growing strings: appending, numbers that read back exactly, valid JSON. */
#include "base/text.h"

#include <stdint.h>
#include <stdlib.h>

#include "check.h"

static void growing(void) {
  ag_text x = {0};
  AG_CHECK_STR(ag_text_cstr(&x), "");
  ag_text_str(&x, "spin");
  ag_text_char(&x, ' ');
  ag_text_strn(&x, "reversal", 7);
  ag_text_printf(&x, " at %d %s", 12, "s");
  AG_CHECK_STR(ag_text_cstr(&x), "spin reversa at 12 s");
  AG_CHECK(x.n == strlen(x.s));
  ag_text_clear(&x);
  AG_CHECK_STR(ag_text_cstr(&x), "");
  ag_text_printf(&x, "%s", "");
  AG_CHECK(x.n == 0);
  for (int i = 0; i < 5000; i++) ag_text_printf(&x, "%04d,", i);
  AG_CHECK(x.n == 25000 && strlen(x.s) == 25000 && x.cap > x.n);
  AG_CHECK(strncmp(x.s + 5 * 4321, "4321,4322,", 10) == 0);
  ag_text_clear(&x);
  char word[300];
  for (int n = 0; n < 299; n += 13) { /* shorter than the room that is left, and longer */
    ag_text y = {0};
    memset(word, 'w', sizeof word), word[n] = 0;
    ag_text_printf(&y, "<%s>", word);
    AG_CHECK(y.n == (size_t)n + 2 && strlen(y.s) == y.n && y.s[n] == (n ? 'w' : '<') && y.s[n + 1] == '>');
    ag_text_done(&y);
  }
  ag_text_done(&x);
  AG_CHECK(x.s == NULL && x.n == 0);
  ag_text_done(&x);
}

static const char *number(ag_text *x, double v) {
  ag_text_clear(x);
  ag_text_number(x, v);
  return ag_text_cstr(x);
}

/* A random bit pattern per call (xorshift), so that numbers of all magnitudes occur. */
static double any_double(uint64_t *state) {
  *state ^= *state << 13, *state ^= *state >> 7, *state ^= *state << 17;
  double v;
  memcpy(&v, state, sizeof v);
  return v;
}

static void numbers(void) {
  ag_text x = {0};
  AG_CHECK_STR(number(&x, 0.1), "0.1");
  AG_CHECK_STR(number(&x, 1e-30), "1e-30");
  AG_CHECK_STR(number(&x, 3), "3");
  AG_CHECK_STR(number(&x, 10), "10");
  AG_CHECK_STR(number(&x, -12000), "-12000");
  AG_CHECK_STR(number(&x, 1e20), "1e+20");
  AG_CHECK_STR(number(&x, -2.5), "-2.5");
  AG_CHECK_STR(number(&x, 1.0 / 3), "0.3333333333333333");
  AG_CHECK_STR(number(&x, 0.1 + 0.2), "0.30000000000000004");
  AG_CHECK_STR(number(&x, INFINITY), "inf");
  AG_CHECK_STR(number(&x, NAN), "nan");
  AG_CHECK_STR(number(&x, -NAN), "nan");
  AG_CHECK_STR(number(&x, -0.0), "-0");
  uint64_t state = 20240607;
  for (int i = 0; i < 20000; i++) {
    double v = any_double(&state);
    if (!isfinite(v)) continue;
    double back = strtod(number(&x, v), NULL);
    AG_CHECK(memcmp(&back, &v, sizeof v) == 0);
  }
  ag_text_done(&x);
}

static void json(void) {
  ag_text x = {0};
  ag_text_json_str(&x, "a\"b\\c\nd\te\x01 \xc3\xa9");
  AG_CHECK_STR(ag_text_cstr(&x), "\"a\\\"b\\\\c\\nd\\u0009e\\u0001 \xc3\xa9\"");
  ag_text_clear(&x);
  ag_text_json_number(&x, 0.1);
  AG_CHECK_STR(ag_text_cstr(&x), "0.1");
  ag_text_clear(&x);
  ag_text_json_number(&x, NAN);
  ag_text_char(&x, ',');
  ag_text_json_number(&x, -INFINITY);
  AG_CHECK_STR(ag_text_cstr(&x), "null,null");
  ag_text_done(&x);
}

int main(void) {
  growing();
  numbers();
  json();
  return ag_check_report();
}
