/* SPDX-License-Identifier: MIT
 * Opening results; first, what a killed run left behind is put in order. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "store/store_internal.h"

typedef enum log_state { LOG_NONE, LOG_LIVE, LOG_LEFT } log_state;

/* Is there a log, and does somebody hold it? *fd is open and locked when it was left behind. */
static log_state look(const char *log_path, int *fd) {
  *fd = open(log_path, O_RDWR | O_CLOEXEC);
  if (*fd < 0) return LOG_NONE;
  if (!flock(*fd, LOCK_EX | LOCK_NB) || errno != EWOULDBLOCK) return LOG_LEFT;
  close(*fd);
  return LOG_LIVE;
}

/* Rows of the file that stands there, when it is of the same model with the same options; -1: none such. */
static long rows_there(const char *path, const ag_pieces *of) {
  ag_pieces pieces = {0};
  ag_text trouble = {0};
  long n_row = -1, *count = NULL;
  ag_h5 *f = ag_h5_open(path, &pieces, &n_row, &count, &trouble);
  static const char *const same[] = {"/model", "/options@method"};
  for (int i = 0; i < 2 && f; i++)
    if (strcmp(ag_pieces_get_text(&pieces, same[i], ""), ag_pieces_get_text(of, same[i], "?"))) n_row = -1;
  if (!f) n_row = -1;
  ag_h5_close(f);
  free(count);
  ag_pieces_done(&pieces);
  ag_text_done(&trouble);
  return n_row;
}

/* Makes the file from a log left behind. A log that holds less than the file (its run had only begun to copy what it
 * was to continue) is removed. Without room for it the file stays what it is, and the log too. */
static bool recover(const char *path, const char *log_path, int fd, ag_archive *s, ag_text *trouble) {
  ag_log_content c;
  ag_log_read(fd, &c);
  long format = ag_pieces_get_whole(&c.pieces, "@format", 0);
  int why = 0;
  bool good = true;
  if (format > AG_STORE_FORMAT) {
    ag_text_printf(trouble, "%s has format %ld, this program reads up to %d: take a newer anagyre", log_path, format,
                   AG_STORE_FORMAT);
    good = false;
  } else if (!format || !c.width || c.n_row < rows_there(path, &c.pieces)) {
    if (access(path, R_OK)) {
      ag_text_printf(trouble, "%s holds nothing that could be recovered", log_path);
      good = false;
    } else {
      unlink(log_path);
    }
  } else if (!ag_store_put(path, &c.pieces, c.n_row, c.event_count, fd, &why)) {
    good = !access(path, R_OK);
    if (good) s->waiting = c.n_row;
    else ag_text_printf(trouble, "cannot recover %s from %s: %s", path, log_path, strerror(why));
  } else {
    unlink(log_path);
    s->recovered = true;
  }
  ag_log_content_done(&c);
  return good;
}

static void index_pieces(ag_archive *s) {
  ag_pieces_layout(&s->pieces, &s->n_column, &s->width, &s->n_event);
  s->columns = ag_heap_alloc(sizeof *s->columns * (size_t)(s->n_column + 1));
  s->events = ag_heap_alloc(sizeof *s->events * (size_t)(s->n_event + 1));
  int c = 0, e = 0;
  for (int i = 0; i < s->pieces.n; i++) {
    if (s->pieces.at[i].kind == AG_PIECE_COLUMN) s->columns[c++] = &s->pieces.at[i];
    if (s->pieces.at[i].kind == AG_PIECE_TIMES) s->events[e++] = &s->pieces.at[i];
  }
}

ag_archive *ag_archive_open(const char *path, ag_text *trouble) {
  ag_archive *s = ag_heap_alloc(sizeof *s);
  char *log_path = ag_store_beside(path, ".log");
  int fd = -1;
  log_state state = look(log_path, &fd);
  s->path = ag_store_beside(path, "");
  s->running = state == LOG_LIVE;
  bool good = state != LOG_LEFT || recover(path, log_path, fd, s, trouble);
  if (state == LOG_LEFT) close(fd);
  free(log_path);
  if (good && access(path, R_OK)) {
    ag_text_printf(trouble, "cannot read %s: %s", path, strerror(errno));
    good = false;
  }
  if (good) s->file = ag_h5_open(path, &s->pieces, &s->n_row, &s->event_count, trouble);
  if (s->file) {
    index_pieces(s);
    return s;
  }
  ag_archive_close(s);
  return NULL;
}

void ag_archive_close(ag_archive *s) {
  if (!s) return;
  ag_h5_close(s->file);
  ag_pieces_done(&s->pieces);
  free(s->columns);
  free(s->events);
  free(s->event_count);
  free(s->path);
  free(s);
}

bool ag_archive_rows(ag_archive *s, long from, long n, double *rows) {
  if (from < 0 || n < 0 || from > s->n_row || n > s->n_row - from) return false;
  bool good = true;
  int offset = 0;
  double *part = ag_heap_alloc(sizeof(double) * (size_t)(n * s->width + 1));
  for (int c = 0; c < s->n_column && good; c++) {
    int length = (int)ag_piece_length(s->columns[c]);
    good = ag_h5_read(s->file, s->columns[c], from, n, part);
    for (long i = 0; i < n && good; i++)
      memcpy(rows + i * s->width + offset, part + i * length, sizeof(double) * (size_t)length);
    offset += length;
  }
  free(part);
  return good;
}

bool ag_archive_times(ag_archive *s, int event, double *t) {
  return event >= 0 && event < s->n_event && ag_h5_read(s->file, s->events[event], 0, s->event_count[event], t);
}
