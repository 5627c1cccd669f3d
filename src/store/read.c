/* SPDX-License-Identifier: MIT
 * Opening result files, after recovering what a killed run left behind. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "store/store_internal.h"

typedef enum log_state { LOG_NONE, LOG_LIVE, LOG_LEFT } log_state;

/* Is there a log, and is a run still writing it? If it was left behind, *fd is open and locked. */
static log_state look(const char *log_path, int *fd) {
  *fd = open(log_path, O_RDWR | O_CLOEXEC);
  if (*fd < 0) return LOG_NONE;
  if (!flock(*fd, LOCK_EX | LOCK_NB) || errno != EWOULDBLOCK) return LOG_LEFT;
  close(*fd);
  return LOG_LIVE;
}

/* Number of rows in the existing file if it has the same model and method, else -1. */
static long rows_there(const char *path, const ag_fields *of) {
  ag_fields fields = {0};
  ag_text trouble = {0};
  long n_row = -1, *count = NULL;
  ag_h5 *f = ag_h5_open(path, &fields, &n_row, &count, &trouble);
  static const char *const same[] = {"/model", "/options@method"};
  for (int i = 0; i < 2 && f; i++)
    if (strcmp(ag_fields_get_text(&fields, same[i], ""), ag_fields_get_text(of, same[i], "?"))) n_row = -1;
  if (!f) n_row = -1;
  ag_h5_close(f);
  free(count);
  ag_fields_done(&fields);
  ag_text_done(&trouble);
  return n_row;
}

/* Writes the file from a log left behind. A log that holds less than the file is removed: its run was still copying the
 * rows it was to continue. If there is no room on the disk, file and log stay as they are. */
static bool recover(const char *path, const char *log_path, int fd, ag_archive *s, ag_text *trouble) {
  ag_log_content c;
  ag_log_read(fd, &c);
  long format = ag_fields_get_integer(&c.fields, "@format", 0);
  int why = 0;
  bool good = true;
  if (format > AG_STORE_FORMAT) {
    ag_text_printf(trouble, "%s has format %ld, but this version reads up to %d: use a newer anagyre", log_path, format,
                   AG_STORE_FORMAT);
    good = false;
  } else if (!format || !c.width || c.n_row < rows_there(path, &c.fields)) {
    if (access(path, R_OK)) {
      ag_text_printf(trouble, "%s holds nothing that could be recovered", log_path);
      good = false;
    } else {
      unlink(log_path);
    }
  } else if (!ag_store_put(path, &c.fields, c.n_row, c.event_count, fd, &why)) {
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

static void index_fields(ag_archive *s) {
  ag_fields_layout(&s->fields, &s->n_column, &s->width, &s->n_event);
  s->columns = ag_heap_alloc(sizeof *s->columns * (size_t)(s->n_column + 1));
  s->events = ag_heap_alloc(sizeof *s->events * (size_t)(s->n_event + 1));
  int c = 0, e = 0;
  for (int i = 0; i < s->fields.n; i++) {
    if (s->fields.at[i].kind == AG_FIELD_COLUMN) s->columns[c++] = &s->fields.at[i];
    if (s->fields.at[i].kind == AG_FIELD_TIMES) s->events[e++] = &s->fields.at[i];
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
  if (good) s->file = ag_h5_open(path, &s->fields, &s->n_row, &s->event_count, trouble);
  if (s->file) {
    index_fields(s);
    return s;
  }
  ag_archive_close(s);
  return NULL;
}

void ag_archive_close(ag_archive *s) {
  if (!s) return;
  ag_h5_close(s->file);
  ag_fields_done(&s->fields);
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
    int length = (int)ag_field_length(s->columns[c]);
    good = ag_h5_read(s->file, s->columns[c], from, n, part);
    for (long i = 0; i < n && good; i++)
      memcpy(rows + i * s->width + offset, part + i * length, sizeof(double) * (size_t)length);
    offset += length;
  }
  free(part);
  return good;
}

double ag_archive_row_time(ag_archive *s, long i) {
  double *row = ag_heap_alloc(sizeof *row * (size_t)(s->width + 1));
  double t = i >= 0 && ag_archive_rows(s, i, 1, row) ? row[0] : NAN;
  free(row);
  return t;
}

bool ag_archive_times(ag_archive *s, int event, double *t) {
  return event >= 0 && event < s->n_event && ag_h5_read(s->file, s->events[event], 0, s->event_count[event], t);
}
