/* SPDX-License-Identifier: MIT
 * `anagyre run` with --sweep or --starts: many trajectories, one row of a table each. */
#ifndef AG_CLI_BATCH_H
#define AG_CLI_BATCH_H
#include "cli/csv.h"
#include "cli/json.h"
#include "cli/option.h"
#include "store/store.h"
#include "study/study.h"

typedef struct ag_batch_args {
  const char *starts, *columns;
  const char *section, *solve; /* NULL: none; chosen */
  long threads;                /* 0: all cores */
  bool strict, compress;
  const char *table;   /* text of the table of starts, when it is known already; or NULL */
  const char *changed; /* an option of the command line that cannot be given when a batch is continued; or NULL */
} ag_batch_args;

/* Runs the batch, prints the results, closes the model and returns the status: AG_OK when all members ended well. */
AG_MUST_USE ag_status ag_batch_act(anagyre_model *m, const ag_common *common, const ag_batch_args *args,
                                   const ag_run_options *run, const char *output);
/* One run that starts on a level: what is solved for is set in the model and joins the --set of the command line. The
 * model is closed when there is no such start. */
AG_MUST_USE ag_status ag_batch_level(anagyre_model *m, ag_common *common, const ag_batch_args *args,
                                     const ag_run_options *run);

/* ---- members and their points in a log, as they come ---- */

typedef struct ag_batch_store {
  const ag_batch_report *b;
  ag_store *store;  /* NULL: none is needed, or it was closed */
  const char *file; /* the .h5 file that was made from it, or NULL */
  bool *wanted;     /* per column of the record: is it stored? */
  int *at;          /* per column of the record: where it is in a stored row */
  int width;        /* of a stored row */
  double *row;
} ag_batch_store;
/* Further fields of the file. */
typedef struct ag_batch_about {
  const ag_common *common;
  const ag_batch_args *args;
  const anagyre_model *model;
} ag_batch_about;
/* Opens the log of an output (NULL: none, points go to a file without a name). Prints errors. */
AG_MUST_USE ag_status ag_batch_store_open(ag_batch_store *s, const ag_batch_report *b, const ag_batch_about *about,
                                          const char *output);
bool ag_batch_store_take(void *self, const ag_batch_part *part); /* a `take` of ag_batch_options */
/* Writes an .h5 file; of others the log stays when they could not be written. Prints errors. */
AG_MUST_USE ag_status ag_batch_store_close(ag_batch_store *s, const char *output, ag_status saved);
void ag_batch_store_done(ag_batch_store *s); /* removes the log if it is still open */

/* ---- members finished by an earlier batch ---- */

typedef struct ag_batch_old {
  ag_archive *archive;
  ag_batch_known known;
  bool *there;
  ag_batch_member *members;
  double *records;
  long *n_point;
} ag_batch_old;
/* Finds the members in the file of the earlier batch; false: they are not those of this one. */
bool ag_batch_old_find(ag_batch_old *old, const ag_batch_store *s);
/* Copies them into the store; false: read or write error. */
bool ag_batch_old_copy(const ag_batch_old *old, ag_batch_store *s);
void ag_batch_old_done(ag_batch_old *old);
/* Continues the batch in a file; *is_batch false: it holds none, and nothing was done. */
AG_MUST_USE ag_status ag_batch_from(const char *path, ag_common *common, ag_batch_args *args, const ag_run_options *run,
                                    const char *output, bool *is_batch);
/* The batch with the members of an earlier one, or NULL; closes the model. */
AG_MUST_USE ag_status ag_batch_run(anagyre_model *m, const ag_common *common, const ag_batch_args *args,
                                   const ag_run_options *run, const char *output, ag_batch_old *old);

/* ---- points of a section, in the order of members ---- */

/* First row of a table: swept names, the fields in between, columns. */
void ag_batch_heading(const ag_batch_report *b, const char *between, ag_text *out);
/* One row for each point: member, swept values, number of the crossing, time, columns. False: read or write error. */
bool ag_batch_points_table(const ag_batch_store *s, ag_csv *csv);
/* "section": {"name", "direction", "crossings": [per member], "points": {"member": [...], "t": [...], column: [...]}}
 */
void ag_batch_points_json(const ag_batch_store *s, ag_json *j);
#endif
