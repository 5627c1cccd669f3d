/* SPDX-License-Identifier: MIT
 * A test is a program: checks are counted, failures printed with their place, the exit code says whether all held. */
#ifndef AG_TESTS_CHECK_H
#define AG_TESTS_CHECK_H
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int ag_checks_done, ag_checks_failed;

static inline double ag_check_margin(void) {
  const char *part = getenv("AG_TEST_MARGIN");
  return part ? atof(part) : 1;
}

/* How many of n random cases are run: under the sanitizers one in AG_TEST_PART (tests/part.py has the same). */
static inline int ag_check_some(int n) {
  const char *part = getenv("AG_TEST_PART");
  int some = part && atoi(part) > 1 ? n / atoi(part) : n;
  return some > 1 ? some : 1;
}

#define AG_CHECK(condition) \
  do { \
    ag_checks_done++; \
    if (!(condition)) { \
      ag_checks_failed++; \
      fprintf(stderr, "%s:%d: does not hold: %s\n", __FILE__, __LINE__, #condition); \
    } \
  } while (0)

/* |a - b| <= tol * max(1, |b|); NaN fails. AG_TEST_MARGIN=0.3 in the environment also prints what takes more than 0.3
 * of its tolerance: a check that holds narrowly may fail on the next machine. */
#define AG_CHECK_NEAR(a, b, tol) \
  do { \
    double a_ = (a), b_ = (b), tol_ = (tol); \
    bool holds_ = fabs(a_ - b_) <= tol_ * fmax(1, fabs(b_)); \
    ag_checks_done++; \
    ag_checks_failed += !holds_; \
    if (!holds_ || fabs(a_ - b_) > ag_check_margin() * tol_ * fmax(1, fabs(b_))) { \
      fprintf(stderr, "%s:%d: %s = %.17g, expected %s = %.17g, difference %.3g, tolerance %.3g\n", __FILE__, __LINE__, \
              #a, a_, #b, b_, fabs(a_ - b_), tol_); \
    } \
  } while (0)

#define AG_CHECK_STR(a, b) \
  do { \
    const char *a_ = (a), *b_ = (b); \
    ag_checks_done++; \
    if (strcmp(a_, b_)) { \
      ag_checks_failed++; \
      fprintf(stderr, "%s:%d: %s is\n  %s\nexpected\n  %s\n", __FILE__, __LINE__, #a, a_, b_); \
    } \
  } while (0)

static inline int ag_check_report(void) {
  fprintf(stderr, "%d checks, %d failed\n", ag_checks_done, ag_checks_failed);
  return ag_checks_done == 0 || ag_checks_failed != 0;
}
#endif
