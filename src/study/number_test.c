/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "check.h"
#include "study/study.h"

static double value(const char *s) {
  double v = NAN;
  return ag_number_parse(s, &v) ? v : NAN;
}

int main(void) {
  /* what strtod reads exactly is equal to the last bit */
  AG_CHECK(value("0.1") == 0.1);
  AG_CHECK(value("1e-3") == 1e-3);
  AG_CHECK(value("-5") == -5);
  AG_CHECK(value("+.5") == 0.5);
  AG_CHECK(value(" 2 ") == 2);
  AG_CHECK(value("0") == 0);
  AG_CHECK(value("2*pi") == 2 * acos(-1));
  AG_CHECK(value("-3*pi/4") == -3 * acos(-1) / 4);
  AG_CHECK(value("(1 + 2)*3 - 4/8") == 8.5);
  AG_CHECK(value("-2^2") == -4);
  AG_CHECK(value("2^3^2") == 512);
  AG_CHECK(value("2^-1") == 0.5);
  static const char *const wrong[] = {
      "",       " ",        "abc", "1x",  "1 2",   "0x10", "inf",  "nan",   "1e999", "1/0",   "pie",    "pi2",
      "(1",     "1)",       "--",  "1e",  "1,5",   "e3",   "2**3", "1..2",  "t",     "1e-3s", "[1, 2]", "e1",
      "energy", "sqrt(-1)", "x",   "# 1", "1 # 2", "1\n",  "\n1",  "20deg", "1 < 2", "(",     "-",      "0x1p3"};
  for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
    double v = 7;
    AG_CHECK(!ag_number_parse(wrong[i], &v));
    AG_CHECK(v == 7);
  }
  AG_CHECK(value("-1^.5") == -1); /* -(1^.5) */
  AG_CHECK(value("sqrt(2)") == sqrt(2));
  AG_CHECK(value("2*sqrt(2)^3 - hypot(3, 4)") == 2 * sqrt(2) * sqrt(2) * sqrt(2) - 5);
  AG_CHECK_NEAR(value("180*deg"), acos(-1), 1e-15);
  AG_CHECK(value("if 1 < 2 then 3 else 4") == 3);
  AG_CHECK(value("1e+3") == 1000 && value("1.E-2") == 0.01 && value("-.25e1") == -2.5);
  char deep[1000];
  memset(deep, '(', sizeof deep);
  deep[sizeof deep - 1] = 0;
  AG_CHECK(isnan(value(deep)));
  memset(deep, '-', sizeof deep - 2);
  deep[sizeof deep - 2] = '1';
  AG_CHECK(isnan(value(deep)));
  return ag_check_report();
}
