/* SPDX-License-Identifier: MIT
 * Inside of store/: the log, and the file made from it. */
#ifndef AG_STORE_INTERNAL_H
#define AG_STORE_INTERNAL_H
#include <sys/types.h>

#include "base/arena.h"
#include "store/store.h"

/* ---- pieces ---- */
/* Adds without looking for one of the same path. data is copied. */
ag_piece *ag_pieces_add(ag_pieces *pieces, const char *path, ag_piece_kind kind, int rank, const long *dim, size_t size,
                        const void *data);
/* The same, replacing. */
ag_piece *ag_pieces_put(ag_pieces *pieces, const char *path, ag_piece_kind kind, int rank, const long *dim, size_t size,
                        const void *data);
void ag_pieces_merge(ag_pieces *pieces, const ag_pieces *changes);
void ag_pieces_encode(const ag_pieces *pieces, ag_text *bytes);
/* False when the bytes are no list of pieces; those before the fault stay. */
bool ag_pieces_decode(ag_pieces *pieces, const char *bytes, size_t n);
long ag_piece_length(const ag_piece *piece); /* numbers or texts in it; of a column: per row */

/* ---- log ----
 * 16 bytes of signature, then frames: {mark, kind, length of the payload, checksum over kind, length, position and
 * payload}. */
enum {
  AG_FRAME_PIECES = 'I',
  AG_FRAME_ROWS = 'R',
  AG_FRAME_EVENTS = 'E'
}; /* events: pairs (number of the event, time) */
void ag_log_signature(ag_text *bytes);
/* Adds a frame to bytes that will stand in the log from byte `at` on. */
void ag_log_frame(ag_text *bytes, off_t at, int kind, const void *payload, size_t n);
/* Visits the whole frames in order; stops at the first that is torn or wrong. visit returns false to stop. Gives the
 * number of bytes that are good (0: not a log). */
typedef bool (*ag_log_visit)(void *self, int kind, const char *payload, size_t n);
off_t ag_log_scan(int fd, ag_log_visit visit, void *self);

/* What a log holds. */
typedef struct ag_log_content {
  ag_pieces pieces;
  int width, n_event;
  long n_row, *event_count;
  off_t good; /* bytes */
} ag_log_content;
void ag_log_read(int fd, ag_log_content *c);
void ag_log_content_done(ag_log_content *c);

/* ---- the file ---- */
/* Makes `path` from the rows and events of a log (open for reading, at any position) and the pieces. False: *trouble is
 * an errno. */
bool ag_h5_write(const char *path, const ag_pieces *pieces, long n_row, const long *event_count, int log, int *trouble);

typedef struct ag_h5 ag_h5;
/* Pieces, columns and events in their order; *count: times per event. NULL: one line in *trouble. */
ag_h5 *ag_h5_open(const char *path, ag_pieces *pieces, long *n_row, long **event_count, ag_text *trouble);
void ag_h5_close(ag_h5 *f);
/* Part of one column or of the times of an event. */
bool ag_h5_read(ag_h5 *f, const ag_piece *piece, long from, long n, double *out);

/* Width of a record and number of events according to the pieces. */
void ag_pieces_layout(const ag_pieces *pieces, int *n_column, int *width, int *n_event);
char *ag_store_beside(const char *path, const char *end); /* path with something added; free() it */
/* Writes FILE from an open log: temporary file, then rename. */
bool ag_store_put(const char *path, const ag_pieces *pieces, long n_row, const long *event_count, int log,
                  int *trouble);
#endif
