/* SPDX-License-Identifier: MIT
 * Internals of store/: the log, and the file written from it. */
#ifndef AG_STORE_INTERNAL_H
#define AG_STORE_INTERNAL_H
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
/* False at malformed bytes; the fields before them are kept. */
bool ag_fields_decode(ag_fields *fields, const char *bytes, size_t n);
long ag_field_length(const ag_field *field); /* number of values or texts; for a column, per row */

/* ---- log ----
 * 16 bytes of signature, then frames: {mark, kind, length of the payload, checksum over kind, length, position and
 * payload}. */
enum {
  AG_FRAME_FIELDS = 'I',
  AG_FRAME_ROWS = 'R',
  AG_FRAME_EVENTS = 'E'
}; /* events: pairs (number of the event, time) */
void ag_log_signature(ag_text *bytes);
/* Appends a frame to bytes that will be written to the log from byte `at` on. */
void ag_log_frame(ag_text *bytes, off_t at, int kind, const void *payload, size_t n);
/* Visits complete frames in order and stops at the first one that is torn or corrupt, or when visit returns false.
 * Returns the number of valid bytes (0: not a log). */
typedef bool (*ag_log_visit)(void *self, int kind, const char *payload, size_t n);
off_t ag_log_scan(int fd, ag_log_visit visit, void *self);

/* Contents of a log. */
typedef struct ag_log_content {
  ag_fields fields;
  int width, n_event;
  long n_row, *event_count;
  off_t good; /* valid bytes */
} ag_log_content;
void ag_log_read(int fd, ag_log_content *c);
void ag_log_content_done(ag_log_content *c);

/* ---- the file ---- */
/* Writes `path` from the fields and the rows and events of a log (open for reading, at any position). On failure
 * returns false with an errno in *trouble. */
bool ag_h5_write(const char *path, const ag_fields *fields, long n_row, const long *event_count, int log, int *trouble);

typedef struct ag_h5 ag_h5;
/* Reads the fields, with columns and events in order, and the number of times per event. NULL with a line in *trouble
 * on failure. */
ag_h5 *ag_h5_open(const char *path, ag_fields *fields, long *n_row, long **event_count, ag_text *trouble);
void ag_h5_close(ag_h5 *f);
/* Part of one column or of the times of an event. */
bool ag_h5_read(ag_h5 *f, const ag_field *field, long from, long n, double *out);

/* Number of columns, width of a record and number of events declared by the fields. */
void ag_fields_layout(const ag_fields *fields, int *n_column, int *width, int *n_event);
char *ag_store_beside(const char *path, const char *suffix); /* path with a suffix; free() it */
/* Writes FILE from an open log: a temporary file, then a rename. */
bool ag_store_put(const char *path, const ag_fields *fields, long n_row, const long *event_count, int log,
                  int *trouble);
#endif
