/* SPDX-License-Identifier: MIT
 * The options of `anagyre converge`, and its part for models with noise. */
#ifndef AG_CLI_CONVERGE_H
#define AG_CLI_CONVERGE_H
#include "cli/open.h"
#include "study/study.h"

typedef struct ag_converge_args {
  ag_common common;
  double t0, t1, method_time; /* 0: not given */
  const char *methods, *output, *columns;
  long paths, seed, threads; /* 0, -1, 0: not given */
} ag_converge_args;

/* Strong and weak orders: measured, printed and written. */
AG_MUST_USE ag_status ag_converge_noisy(const ag_converge_args *a, anagyre_model *m, ag_system *sys);
#endif
