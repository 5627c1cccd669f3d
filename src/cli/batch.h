/* SPDX-License-Identifier: MIT
 * `anagyre run` with --sweep or --starts: many trajectories, one row of a table each. */
#ifndef AG_CLI_BATCH_H
#define AG_CLI_BATCH_H
#include "cli/json.h"
#include "cli/option.h"
#include "study/study.h"

typedef struct ag_batch_args {
  const char *starts, *columns;
  const char *section, *solve; /* NULL: none; chosen */
  long threads;                /* 0: all cores */
  bool strict;
} ag_batch_args;

/* Runs the batch, prints what came out, closes the model and returns the status: AG_OK when all members ended well. */
AG_MUST_USE ag_status ag_batch_act(anagyre_model *m, const ag_common *common, const ag_batch_args *args,
                                   const ag_run_options *run, const char *output);
/* One run that starts on a level: what is solved for is set in the model and joins the --set of the command line. The
 * model is closed when there is no such start. */
AG_MUST_USE ag_status ag_batch_level(anagyre_model *m, ag_common *common, const ag_batch_args *args,
                                     const ag_run_options *run);

/* First row of a table: swept names, what stands between, columns. */
void ag_batch_heading(const ag_batch_report *b, const char *between, ag_text *out);
/* The points of a section. One row for each: member, swept values, number of the crossing, time, columns. */
void ag_batch_points_table(const ag_batch_report *b, ag_text *out);
/* "section": {"name", "direction", "crossings": [per member], "points": {"member": [...], "t": [...], column: [...]}}
 */
void ag_batch_points_json(const ag_batch_report *b, ag_json *j);
/* The same and more as a result file (docs/results.md); prints what is wrong. */
AG_MUST_USE ag_status ag_batch_h5(const ag_batch_report *b, const ag_common *common, const anagyre_model *m,
                                  bool strict, const char *path);
#endif
