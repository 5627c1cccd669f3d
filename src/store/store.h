/* SPDX-License-Identifier: MIT
 * Result files: front header of store/. The only folder that knows HDF5; docs/results.md describes the files.
 *
 * A file is rows of records, times of events, and pieces: whatever else has a name (model text, options, parameters,
 * checkpoint) and goes into it as it is. While a run goes on everything is appended to a checksummed log beside the
 * file, FILE.log; the file itself is made from the log and put in place by a rename, each time the data has doubled and
 * at the end. So a process that is killed at any moment leaves a readable file, a log, or both; opening the file puts
 * them together. */
#ifndef AG_STORE_STORE_H
#define AG_STORE_STORE_H
#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"
#include "run/run.h"

enum { AG_STORE_FORMAT = 1 }; /* readers refuse newer ones */

/* ---- pieces ---- */
typedef enum ag_piece_kind {
  AG_PIECE_DROP,   /* in a list of changes: away with everything whose path begins so */
  AG_PIECE_NUMBER, /* doubles */
  AG_PIECE_WHOLE,  /* longs */
  AG_PIECE_TEXT,   /* UTF-8, each ended by 0 */
  AG_PIECE_COLUMN, /* a quantity of the record: one value of this shape per row; pieces in the order of the record */
  AG_PIECE_TIMES   /* times of an event; pieces in the order of the model */
} ag_piece_kind;

/* "/options@rtol" is an attribute of /options, "@end" one of the file itself, "/parameters/m" a dataset. */
typedef struct ag_piece {
  char *path;
  ag_piece_kind kind;
  int rank; /* 0 to 3; of a column to 2 */
  long dim[3];
  size_t size; /* bytes of data */
  void *data;
} ag_piece;
typedef struct ag_pieces {
  int n, cap;
  ag_piece *at;
} ag_pieces;

void ag_pieces_done(ag_pieces *pieces);
/* Each replaces the piece of that path, or adds it. */
void ag_pieces_number(ag_pieces *pieces, const char *path, double v);
void ag_pieces_whole(ag_pieces *pieces, const char *path, long v);
void ag_pieces_text(ag_pieces *pieces, const char *path, const char *s);
void ag_pieces_texts(ag_pieces *pieces, const char *path, int n, const char *const *s);
void ag_pieces_vector(ag_pieces *pieces, const char *path, int n, const double *v);
/* One value of a shape for each of n members: a dataset (n), (n, rows) or (n, rows, cols) with the attributes of a
 * quantity. */
void ag_pieces_values(ag_pieces *pieces, const char *path, long n, int rows, int cols, const double *v);
void ag_pieces_wholes(ag_pieces *pieces, const char *path, long n, const long *v);
void ag_pieces_drop(ag_pieces *pieces, const char *prefix);                /* as a change; see AG_PIECE_DROP */
const ag_piece *ag_pieces_find(const ag_pieces *pieces, const char *path); /* NULL when absent */
/* The value when it is there and of that kind and size, else what `otherwise` says. */
double ag_pieces_get_number(const ag_pieces *pieces, const char *path, double otherwise);
long ag_pieces_get_whole(const ag_pieces *pieces, const char *path, long otherwise);
const char *ag_pieces_get_text(const ag_pieces *pieces, const char *path, const char *otherwise);

/* ---- what is said of a run ---- */
typedef struct ag_described {
  const ag_system *system;
  const ag_run_options *options;
  const char *text; /* of the model */
  int n_set;
  const char *const *sets; /* "name=value" */
  bool strict;
  const bool *wanted; /* of many runs, per column of the record: is it in the rows? NULL: one run, all are. Rows then
                         have no others */
} ag_described;
/* All pieces of a run that begins. */
void ag_store_describe(ag_pieces *pieces, const ag_described *what);
/* Those of its end. */
void ag_store_result(ag_pieces *pieces, const ag_system *sys, const ag_run_result *result);
void ag_store_checkpoint(ag_pieces *pieces, const ag_checkpoint *c);
/* The options of a run as they were described (engine, callbacks and checkpoint as in the defaults); false: not
 * understood. */
bool ag_store_options(const ag_pieces *pieces, ag_run_options *o, bool *strict);

/* ---- writing ---- */
typedef struct ag_store ag_store;
/* Opens the log. fresh: what stood under that name gives way at ag_store_begin; else it stays until there is more. NULL
 * with a line in *trouble when it cannot be done. The pieces are copied. */
ag_store *ag_store_create(const char *path, const ag_pieces *pieces, bool fresh, ag_text *trouble);
bool ag_store_begin(ag_store *s);                     /* after rows that stood in an older file; false: trouble */
bool ag_store_row(ag_store *s, const double *record); /* false: trouble */
bool ag_store_event(ag_store *s, int event, double t);
bool ag_store_save(ag_store *s, const ag_checkpoint *c, bool now); /* at most once a second, unless it must be now */
/* Puts the finished file in place and removes the log. False: something could not be written (disk full); what could be
 * is kept, in the file or in the log. *trouble then says what and where. Frees in any case. */
bool ag_store_close(ag_store *s, const ag_pieces *end, ag_text *trouble);

/* ---- reading ---- */
typedef struct ag_archive {
  ag_pieces pieces;
  int n_column, n_event, width;
  const ag_piece **columns, **events; /* among the pieces */
  long *event_count;
  long n_row;
  bool recovered; /* from a log left behind */
  long waiting;   /* rows of such a log for which there was no room: the file is told of as it stands; 0: none */
  bool running;   /* somebody is still writing it: what is read is some moments old */
  char *path;
  struct ag_h5 *file;
} ag_archive;
/* Opens a result file; a log left behind by a run that was killed is first made into one. NULL with a line in *trouble.
 */
ag_archive *ag_archive_open(const char *path, ag_text *trouble);
void ag_archive_close(ag_archive *s);
bool ag_archive_rows(ag_archive *s, long from, long n, double *rows); /* n x width; false: cannot be read */
bool ag_archive_times(ag_archive *s, int event, double *times);
/* The checkpoint; false when there is none that fits the rows. event_times are its own. */
bool ag_archive_checkpoint(ag_archive *s, ag_checkpoint *c);
void ag_archive_checkpoint_done(ag_checkpoint *c);
#endif
