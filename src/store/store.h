/* SPDX-License-Identifier: MIT
 * Result files: front header of store/. The only folder that knows HDF5; docs/results.md describes the files.
 *
 * A file holds rows of records, times of events, and fields: everything else that has a name (model text, options,
 * parameters, checkpoint). During a run all data is appended to a checksummed log next to the file, FILE.log. The file
 * itself is written from the log and renamed into place, each time the data has doubled and at the end. A process that
 * is killed at any moment therefore leaves a readable file, a log, or both; opening the file reads the one that holds
 * more, and changes neither. */
#ifndef AG_STORE_STORE_H
#define AG_STORE_STORE_H
#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"
#include "run/run.h"

enum { AG_STORE_FORMAT = 1 }; /* readers refuse newer formats */

/* ---- fields ---- */
typedef enum ag_field_kind {
  AG_FIELD_DROP,    /* in a list of changes: remove all fields whose path starts with this one */
  AG_FIELD_NUMBER,  /* doubles */
  AG_FIELD_INTEGER, /* longs */
  AG_FIELD_TEXT,    /* UTF-8, each null-terminated */
  AG_FIELD_COLUMN,  /* a quantity of the record, one value of this shape per row; listed in the order of the record */
  AG_FIELD_TIMES    /* times of an event; listed in the order of the model */
} ag_field_kind;

/* "/options@rtol" is an attribute of /options, "@end" one of the file itself, "/parameters/m" a dataset. */
typedef struct ag_field {
  char *path;
  ag_field_kind kind;
  int rank; /* 0 to 3; columns: 0 to 2 */
  long dim[3];
  size_t size; /* bytes of data */
  void *data;
} ag_field;
typedef struct ag_fields {
  int n, cap;
  ag_field *at;
} ag_fields;

void ag_fields_done(ag_fields *fields);
/* Each of these replaces the field with that path or adds it. */
void ag_fields_number(ag_fields *fields, const char *path, double v);
void ag_fields_integer(ag_fields *fields, const char *path, long v);
void ag_fields_text(ag_fields *fields, const char *path, const char *s);
void ag_fields_texts(ag_fields *fields, const char *path, int n, const char *const *s);
void ag_fields_vector(ag_fields *fields, const char *path, int n, const double *v);
/* One value of the given shape for each of n members: a dataset (n), (n, rows) or (n, rows, cols) with the attributes
 * of a quantity. */
void ag_fields_values(ag_fields *fields, const char *path, long n, int rows, int cols, const double *v);
void ag_fields_integers(ag_fields *fields, const char *path, long n, const long *v);
void ag_fields_drop(ag_fields *fields, const char *prefix);                /* adds an AG_FIELD_DROP */
const ag_field *ag_fields_find(const ag_fields *fields, const char *path); /* NULL when absent */
/* The value if it exists with that kind and size, `otherwise` if not. */
double ag_fields_get_number(const ag_fields *fields, const char *path, double otherwise);
long ag_fields_get_integer(const ag_fields *fields, const char *path, long otherwise);
const char *ag_fields_get_text(const ag_fields *fields, const char *path, const char *otherwise);

/* ---- description of a run ---- */
typedef struct ag_description {
  const ag_system *system;
  const ag_run_options *options;
  const char *text; /* model source */
  int n_set;
  const char *const *sets; /* "name=value" */
  bool strict;
  const char *drivers; /* functions in place of the noise, or NULL */
  const bool
      *wanted;   /* batches: whether each column of the record is stored; NULL for a single run, which stores all */
  bool compress; /* the rows of the file */
} ag_description;
/* All fields known when a run starts. */
void ag_store_describe(ag_fields *fields, const ag_description *what);
/* Those known at its end. */
void ag_store_result(ag_fields *fields, const ag_system *sys, const ag_run_result *result);
void ag_store_checkpoint(ag_fields *fields, const ag_checkpoint *c);
/* Are, or will be, the rows of this file compressed? */
bool ag_store_compressed(const ag_fields *fields);
/* The options as described (engine, callbacks and checkpoint keep their defaults); false if they cannot be read. */
bool ag_store_options(const ag_fields *fields, ag_run_options *o, bool *strict);

/* ---- writing ---- */
typedef struct ag_store ag_store;
typedef enum ag_store_kind {
  AG_STORE_FILE,   /* an .h5 file, and its log while it is written */
  AG_STORE_LOG,    /* only a log, of an output in another format */
  AG_STORE_SCRATCH /* a log without a name, for rows that need not outlive the process */
} ag_store_kind;
/* Opens the log. With fresh, ag_store_begin replaces an existing file of that name; otherwise the file stays until the
 * log holds more. The log of a killed run stays until ag_store_begin. Returns NULL with a line in *trouble on failure.
 */
ag_store *ag_store_create(const char *path, const ag_fields *fields, ag_store_kind kind, bool fresh, ag_text *trouble);
/* Before that, when a run goes on in the same place: how many rows are there. They stay until as many are written
 * again. */
void ag_store_keep(ag_store *s, long n_row);
bool ag_store_is_behind(const ag_store *s); /* fewer are written so far */
bool ag_store_begin(ag_store *s);           /* call after copying the rows of an older file; false: a write failed */
bool ag_store_row(ag_store *s, const double *record); /* false: a write failed */
bool ag_store_event(ag_store *s, int event, double t);
bool ag_store_save(ag_store *s, const ag_checkpoint *c, bool now); /* at most once a second unless `now` */
/* Puts the finished file in place and removes the log; of AG_STORE_LOG the log stays. Returns false if something could
 * not be written (disk full); *trouble then says what is kept and where. Always frees the store. */
bool ag_store_close(ag_store *s, const ag_fields *end, ag_text *trouble);
/* Removes the log and frees the store. The file is as it was last written. */
void ag_store_discard(ag_store *s);
ag_store_kind ag_store_kind_of(const ag_store *s);
int ag_store_trouble(const ag_store *s);       /* errno of the first write that failed, or 0 */
const char *ag_store_place(const ag_store *s); /* where the log is */

/* Batches. The fields given to ag_store_create hold /members/end, /members/t, ... of all members as they are before
 * they run; how many there are is the length of /members/end. */
typedef struct ag_member_end {
  const char *end;
  double t;
  long steps, rejected;
} ag_member_end;
/* A member has ended, in this row. */
bool ag_store_member(ag_store *s, long member, const ag_member_end *how, const double *row);
/* With a section: the next n points of a member, from its point `first` on (counted from 0). */
bool ag_store_points(ag_store *s, long member, long first, long n, const double *rows);

/* ---- reading ---- */
typedef struct ag_archive {
  ag_fields fields;
  int n_column, n_event, width;
  const ag_field **columns, **events; /* pointers into the fields */
  long *event_count;
  long n_row;
  bool recovered; /* read from the log of a killed run */
  bool running;   /* a run is still writing: the data may be a few moments old */
  char *path;
  struct ag_h5 *file; /* one of the two */
  struct ag_log_view *log;
} ag_archive;
/* Opens a result file, or its log when that holds more. Changes nothing. NULL with a line in *trouble on failure. */
ag_archive *ag_archive_open(const char *path, ag_text *trouble);
/* What a store has taken so far; rows of a batch in the order of its members. NULL: read or write error. */
ag_archive *ag_store_view(ag_store *s);
/* Puts the log of a killed run into the file and removes it; nothing is done if there is none. False with a line in
 * *trouble on failure; file and log then stay as they are. */
bool ag_archive_recover(const char *path, ag_text *trouble);
void ag_archive_close(ag_archive *s);
bool ag_archive_rows(ag_archive *s, long from, long n, double *rows); /* n x width; false: read error */
double ag_archive_row_time(ag_archive *s, long i);                    /* NaN: there is no such row */
bool ag_archive_times(ag_archive *s, int event, double *times);
/* The checkpoint, with its own copies of the event times; false if there is none that matches the rows. */
bool ag_archive_checkpoint(ag_archive *s, ag_checkpoint *c);
void ag_archive_checkpoint_done(ag_checkpoint *c);
#endif
