/* SPDX-License-Identifier: MIT
 * Internals of store/: the log, and the file written from it. */
#ifndef AG_STORE_INTERNAL_H
#define AG_STORE_INTERNAL_H
#include <stdint.h>
#include <sys/types.h>

#include "base/arena.h"
#include "store/store.h"

/* ---- fields ---- */
/* Appends without checking for an existing field of that path. Copies data. */
ag_field *ag_fields_add(ag_fields *fields, const char *path, ag_field_kind kind, int rank, const long *dim, size_t size,
                        const void *data);
/* Replaces the field of that path or adds it. */
ag_field *ag_fields_put(ag_fields *fields, const char *path, ag_field_kind kind, int rank, const long *dim, size_t size,
                        const void *data);
void ag_fields_merge(ag_fields *fields, const ag_fields *changes);
void ag_fields_encode(const ag_fields *fields, ag_text *bytes);
/* False at malformed bytes; then the fields are as they were. */
bool ag_fields_decode(ag_fields *fields, const char *bytes, size_t n);
long ag_field_length(const ag_field *field); /* number of values or texts; for a column, per row */
/* Number of columns, width of a record and number of events declared by the fields; false: no record is as wide. */
bool ag_fields_layout(const ag_fields *fields, int *n_column, int *width, int *n_event);

/* ---- log ----
 * 16 bytes of signature, then frames: {mark, kind, length of the payload, checksum over kind, length, position and
 * payload}. */
enum {
  AG_FRAME_FIELDS = 'I',
  AG_FRAME_ROWS = 'R',
  AG_FRAME_EVENTS = 'E', /* pairs (number of the event, time) */
  AG_FRAME_POINTS = 'P', /* of a batch: member, number of its first row here, rows */
  AG_FRAME_MEMBER = 'M'  /* of a batch: an ag_log_end, a row, how the member ended */
};
typedef struct ag_log_end {
  int64_t member, steps, rejected, n_point;
  double t;
} ag_log_end;

void ag_log_signature(ag_text *bytes);
bool ag_log_signed(int fd); /* does the file begin as a log does? */
/* Appends a frame to bytes that will be written to the log from byte `at` on. */
void ag_log_frame(ag_text *bytes, off_t at, int kind, const void *payload, size_t n);
/* Visits complete frames in order and stops at the first one that is torn or corrupt, or when visit returns false. at:
 * where the payload is. Returns the number of valid bytes (0: not a log); -1 with errno: it could not be read. */
typedef bool (*ag_log_visit)(void *self, int kind, const char *payload, size_t n, off_t at);
off_t ag_log_scan(int fd, ag_log_visit visit, void *self);

/* Rows that follow each other, in the log from byte `at` on; -1: numbers that are not known, NaN. */
typedef struct ag_log_part {
  long member, first, n; /* first: among the rows of the member */
  long start;            /* number of the first row, in the order of the file */
  off_t at;
} ag_log_part;
/* Contents of a log: what is small, and where the rest is. */
typedef struct ag_log_content {
  ag_fields fields;
  int width, n_event;
  long n_row, *event_count;
  off_t good;  /* valid bytes */
  int trouble; /* errno: the log could not be read to its end; 0: it was */
  int n_part, cap_part;
  ag_log_part *parts; /* in the order of the file */
  int n_pairs, cap_pairs;
  ag_log_part *pairs; /* events: n pairs each */
  long n_member;      /* of a batch; else 0 */
  bool points;        /* the rows are points of a section */
  long *n_point;      /* per member: its points */
  off_t *ends;        /* per member: its frame; 0: it has not ended */
} ag_log_content;
void ag_log_read(int fd, ag_log_content *c);
void ag_log_content_done(ag_log_content *c);
bool ag_log_rows(int fd, const ag_log_content *c, long from, long n, double *rows); /* false: read error */
/* The n times of an event; false: there are not as many, or they cannot be read. */
bool ag_log_times(int fd, const ag_log_content *c, int event, long n, double *times);
/* Puts what the frames say of the members into the fields /members/... that are there from the start. */
bool ag_log_members(int fd, ag_log_content *c);
/* Is this the log of what the file holds, with at least as many rows? */
bool ag_log_is_newer(const ag_log_content *c, const char *file);

/* ---- names ---- */
enum { AG_LOG_NAMES = 10 };
/* FILE.log, FILE.log.1, ...: the first that is a log. -1: none, with errno ENOENT when no name is taken by others.
 * *free_name: the first unused name, "" if there is none. */
int ag_log_find(const char *path, int flags, ag_text *name, ag_text *free_name);
/* Removes unfinished temporary files that killed runs have left for this file; to be called with the lock held. */
void ag_store_tidy(const char *path, const char *log_path);

/* ---- the file ---- */
/* In a separate process (h5_child.c). */
/* Writes an empty file, open as fd, from a log. On failure returns false with an errno in *trouble. */
bool ag_h5_write(const char *path, int fd, const ag_log_content *c, int log, int *trouble);
typedef struct ag_h5 ag_h5;
/* Reads the fields, with columns and events in order, and the number of times per event. NULL with a line in *trouble
 * on failure. */
ag_h5 *ag_h5_open(const char *path, ag_fields *fields, long *n_row, long **event_count, ag_text *trouble);
void ag_h5_close(ag_h5 *f);
/* Part of one column or of the times of an event. */
bool ag_h5_read(ag_h5 *f, const ag_field *field, long from, long n, double *out);

/* In that process: calls of the library. */
typedef struct ag_h5_faults {
  long n;      /* calls that failed */
  bool memory; /* for one of them there was no memory */
} ag_h5_faults;
bool ag_h5_file_write(const char *path, int fd, const ag_log_content *c, int log, int *trouble);
typedef struct ag_h5_file ag_h5_file; /* closed when the process ends */
ag_h5_file *ag_h5_file_open(const char *path, ag_fields *fields, long *n_row, long **event_count, ag_text *trouble);
off_t ag_h5_file_size(const ag_h5_file *f);
bool ag_h5_file_read(ag_h5_file *f, const ag_field *field, long from, long n, double *out);

/* Writes FILE from an open log with some more fields (or NULL): beside it, then a rename. False if fewer than `whole`
 * bytes of the log can be understood. */
bool ag_store_put(const char *path, int log, off_t whole, const ag_fields *changes, int *trouble);

bool ag_store_flush(ag_store *s);
int ag_store_log(const ag_store *s);
#endif
