/* SPDX-License-Identifier: MIT
 * The options of `anagyre run`: read by run.c, carried out by run_follow.c. */
#ifndef AG_CLI_RUN_ARGS_H
#define AG_CLI_RUN_ARGS_H
#include "cli/batch.h"
#include "cli/result_file.h"

#define AG_NO_END 1e15 /* time until which crossings are counted when none is given */

typedef struct ag_run_args {
  ag_common common;
  ag_run_options run;
  int method, closure, engine, noise;
  double stiffness; /* for which an implicit method was chosen; 0: none was */
  long seed, path;
  bool no_events, series, metropolis;
  const char *output, *from;
  ag_batch_args batch;
} ag_run_args;

const char *ag_run_closure_name(int i); /* by the number of the option; NULL behind the last */
const char *ag_run_engine_name(int i);

/* Follows the motion of a derived system, or goes on with one: writes the files and prints the result. */
AG_MUST_USE ag_status ag_run_follow(const ag_run_args *a, anagyre_model *m, const ag_system *sys, ag_continued *from);
#endif
