/* SPDX-License-Identifier: MIT
 * `anagyre run` with --sweep or --starts: many trajectories, one row of a table each. */
#ifndef AG_CLI_BATCH_H
#define AG_CLI_BATCH_H
#include "cli/option.h"
#include "run/run.h"

typedef struct ag_batch_args {
  const char *starts, *columns;
  const char *section, *solve; /* NULL: none; chosen */
  long threads;                /* 0: all cores */
} ag_batch_args;

/* Runs the batch, prints what came out, and returns the status: AG_OK when all members ended well. */
AG_MUST_USE ag_status ag_batch_act(const ag_common *common, const ag_batch_args *args, const ag_run_options *run,
                                   bool strict, const char *output);
/* One run that starts on a level: what is solved for joins the --set of the command line. */
AG_MUST_USE ag_status ag_batch_level(ag_common *common, const ag_batch_args *args, const ag_run_options *run,
                                     bool strict);
#endif
