/* SPDX-License-Identifier: MIT
 * All that a finished batch is told from, and its parts: which columns, what became of each member. */
#ifndef AG_CLI_TALE_H
#define AG_CLI_TALE_H
#include "cli/json.h"
#include "cli/members.h"
#include "run/run.h"

/* A column of the output: a whole column of the record, or one number of it. */
typedef struct ag_pick {
  const ag_column *column;
  int entry; /* -1: all */
} ag_pick;

/* All that a finished batch is told from. */
typedef struct ag_tale {
  const ag_grid *sweep;
  const ag_members *members;
  const ag_batch_options *options;
  const ag_batch_result *result;
  ag_record record;
  int n_pick;
  ag_pick *picks;
  bool *wanted; /* per column of the record */
  bool strict;
  long *row; /* per member: its row in the result, -1: it did not start */
  long n_failed, n_stopped;
  double *blank; /* a record without numbers */
} ag_tale;

/* Which columns are told, by the text of --columns (NULL: all). */
AG_MUST_USE ag_status ag_tale_columns(ag_tale *t, const char *text);

/* ---- one member, counted from 0 ---- */
const ag_batch_member *ag_tale_member(const ag_tale *t, long i); /* NULL: it did not start */
const double *ag_tale_record(const ag_tale *t, long i);
const char *ag_tale_end(const ag_tale *t, long i);
double ag_tale_time(const ag_tale *t, long i);
bool ag_tale_failed(const ag_tale *t, long i);             /* outside of the level is no failure */
const ag_series *ag_tale_points(const ag_tale *t, long i); /* of the section; never NULL */
void ag_tale_swept(const ag_tale *t, int i, ag_text *out); /* heading of a swept name */

/* First row of a table: swept names, what stands between, columns. */
void ag_tale_heading(const ag_tale *t, const char *between, ag_text *out);

/* ---- one column ---- */
int ag_pick_size(const ag_pick *p);
int ag_pick_offset(const ag_pick *p);
void ag_pick_name(const ag_pick *p, int k, ag_text *out);

/* ---- the points of a section ---- */
long ag_tale_n_points(const ag_tale *t);
/* One row for each: member, swept values, number of the crossing, time, columns. */
void ag_points_table(const ag_tale *t, ag_text *out);
/* "section": {"name", "direction", "crossings": [per member], "points": {"member": [...], "t": [...], column: [...]}}
 */
void ag_points_json(const ag_tale *t, ag_json *j);

/* The same and more as a result file (docs/results.md); prints what is wrong. */
AG_MUST_USE ag_status ag_tale_h5(const ag_tale *t, const ag_common *common, bool strict, const char *path);
#endif
