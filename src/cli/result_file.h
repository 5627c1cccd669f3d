/* SPDX-License-Identifier: MIT
 * Result files of `run`: writing one, and continuing the run of one. */
#ifndef AG_CLI_RESULT_FILE_H
#define AG_CLI_RESULT_FILE_H
#include "cli/open.h"
#include "store/store.h"

/* A run to be continued: its file, and the checkpoint to continue from. */
typedef struct ag_continued {
  ag_archive *archive;
  ag_checkpoint point;
  double residual_max;
  const char **sets; /* "name=value", in the archive */
  int n_set;
} ag_continued;

/* Each prints errors. Opens the file and takes its options. */
ag_status ag_continue_open(ag_continued *c, const char *path, ag_run_options *o, bool *strict);
/* Sets o->t1 (t1 NULL: what the run was made for) and o->from. */
ag_status ag_continue_until(ag_continued *c, const double *t1, ag_run_options *o);
/* What was set in the model of a file: n texts "name=value" in the archive, in an array to be freed. */
const char **ag_continue_sets(const ag_archive *archive, int *n);
/* The model of a file, with what was set in it. */
anagyre_model *ag_continue_model(const ag_archive *archive, int n_set, const char *const *sets);
/* The model of the file, derived again; its section becomes that of o. Errors go to its context. */
ag_status ag_continue_load(ag_continued *c, anagyre_model **m, ag_run_options *o, bool strict);
/* The rows before the point into the sinks, the events into the store (which may be NULL). */
bool ag_continue_rows(ag_continued *c, ag_store *store, bool (*row)(void *self, const double *record), void *self);
void ag_continue_done(ag_continued *c);

/* How a file is written: refusing starts off the constraints, its rows compressed. */
typedef struct ag_result_how {
  bool strict, compress;
} ag_result_how;
/* The store of a run; NULL: the reason was printed. from: NULL, or what it continues. */
ag_store *ag_result_file_open(const char *path, anagyre_model *m, const ag_common *common, const ag_run_options *o,
                              ag_result_how how, const ag_continued *from);
void ag_result_file_event(void *store, int event, double t);
void ag_result_file_save(void *store, const ag_checkpoint *c);
/* Notes and warnings, as the terminal shows them. */
void ag_result_file_warnings(ag_fields *fields, const ag_ctx *ctx);
/* result NULL: nothing was run. */
ag_status ag_result_file_close(ag_store *store, const ag_system *sys, const ag_run_result *result, const ag_ctx *ctx);
#endif
