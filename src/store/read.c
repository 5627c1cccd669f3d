/* SPDX-License-Identifier: MIT
 * Opening result files: the file, or the log of a run that was killed or is still writing when it holds more. Nothing
 * is written here but by ag_archive_recover. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "store/store_internal.h"

struct ag_log_view {
  int fd;
  ag_log_content c;
};

bool ag_log_is_newer(const ag_log_content *c, const char *file) {
  ag_fields fields = {0};
  ag_text trouble = {0};
  long n_row = -1, *count = NULL;
  if (access(file, F_OK)) return true; /* no process has to find that out */
  ag_h5 *f = ag_h5_open(file, &fields, &n_row, &count, &trouble);
  static const char *const same[] = {"/model", "/options@method"};
  for (int i = 0; i < 2 && f; i++)
    if (strcmp(ag_fields_get_text(&fields, same[i], ""), ag_fields_get_text(&c->fields, same[i], "?"))) n_row = -1;
  if (!f) n_row = -1;
  ag_h5_close(f);
  free(count);
  ag_fields_done(&fields);
  ag_text_done(&trouble);
  return c->n_row >= n_row;
}

/* Looks for a log beside the file, and whether a run is still writing it. */
static int open_log(const char *path, bool *live) {
  ag_text name = {0}, free_name = {0};
  int fd = ag_log_find(path, O_RDONLY, &name, &free_name);
  ag_text_done(&name);
  ag_text_done(&free_name);
  *live = fd >= 0 && flock(fd, LOCK_SH | LOCK_NB) && errno == EWOULDBLOCK;
  if (fd >= 0 && !*live) (void)flock(fd, LOCK_UN); /* so as not to block a run */
  return fd;
}

/* Was the log written by a newer program? Then there is a line in *trouble. */
static bool is_of_newer(const ag_log_content *c, const char *path, ag_text *trouble) {
  long format = ag_fields_get_integer(&c->fields, "@format", 0);
  if (format > AG_STORE_FORMAT)
    ag_text_printf(trouble, "the log of %s has format %ld, but this version reads up to %d: use a newer anagyre", path,
                   format, AG_STORE_FORMAT);
  return format > AG_STORE_FORMAT;
}

/* Takes the contents of a log; false: it has none, or this program does not know its format. */
static bool take_log(ag_archive *s, int fd, const char *path, ag_text *trouble) {
  struct ag_log_view *view = ag_heap_alloc(sizeof *view);
  ag_log_content *c = &view->c;
  view->fd = fd;
  ag_log_read(fd, c);
  long format = ag_fields_get_integer(&c->fields, "@format", 0);
  bool newer = is_of_newer(c, path, trouble);
  if (c->trouble) ag_text_printf(trouble, "cannot read the log of %s: %s", path, strerror(c->trouble));
  bool good = !c->trouble && format >= 1 && !newer && c->width && ag_log_is_newer(c, path) && ag_log_members(fd, c);
  if (!good) {
    ag_log_content_done(c);
    (void)ag_file_close(fd);
    free(view);
    return false;
  }
  s->log = view;
  s->fields = c->fields;
  c->fields = (ag_fields){0};
  s->n_row = c->n_row;
  s->event_count = c->event_count;
  c->event_count = NULL;
  return true;
}

static void index_fields(ag_archive *s) {
  AG_ASSERT(ag_fields_layout(&s->fields, &s->n_column, &s->width, &s->n_event));
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
  ag_text name = {0}, real = {0};
  ag_text_str(&name, path);
  s->path = name.s;
  if (!ag_file_real(path, &real)) ag_text_str(&real, path);
  bool live = false;
  int fd = open_log(ag_text_cstr(&real), &live);
  if (fd >= 0 && take_log(s, fd, ag_text_cstr(&real), trouble)) s->recovered = !live;
  else if (!trouble->n) s->file = ag_h5_open(path, &s->fields, &s->n_row, &s->event_count, trouble);
  s->running = live;
  ag_text_done(&real);
  if (s->file || s->log) {
    index_fields(s);
    return s;
  }
  ag_archive_close(s);
  return NULL;
}

ag_archive *ag_store_view(ag_store *store) {
  if (!ag_store_flush(store)) return NULL;
  ag_archive *s = ag_heap_alloc(sizeof *s);
  ag_text trouble = {0}, name = {0};
  ag_text_str(&name, ag_store_place(store));
  s->path = name.s;
  int fd = dup(ag_store_log(store));
  bool good = fd >= 0 && take_log(s, fd, "", &trouble);
  ag_text_done(&trouble);
  if (good) index_fields(s);
  else ag_archive_close(s), s = NULL;
  return s;
}

/* Puts a log, open and locked, into the file: then it is no longer needed. */
static bool put_back(const char *path, const char *real, int fd, ag_text *trouble) {
  ag_log_content c = {0};
  ag_log_read(fd, &c);
  int why = c.trouble;
  bool known = !is_of_newer(&c, path, trouble), good = known && !why;
  if (good && c.width && ag_fields_get_integer(&c.fields, "@format", 0) == AG_STORE_FORMAT && ag_log_is_newer(&c, real))
    good = ag_store_put(real, fd, 0, NULL, &why);
  if (known && !good) ag_text_printf(trouble, "cannot write %s: %s", path, strerror(why));
  ag_log_content_done(&c);
  return good;
}

bool ag_archive_recover(const char *path, ag_text *trouble) {
  ag_target_kind kind;
  ag_text real = {0}, place = {0}, free_name = {0};
  if (!ag_file_target(path, &kind, &real)) {
    ag_text_printf(trouble, "cannot write %s: %s", path, strerror(errno));
    ag_text_done(&real);
    return false;
  }
  int fd = ag_log_find(ag_text_cstr(&real), O_RDWR, &place, &free_name);
  bool good = true;
  if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK) {
    ag_text_printf(trouble, "%s is still being written by a run", path);
    good = false;
  } else if (fd >= 0) {
    good = put_back(path, ag_text_cstr(&real), fd, trouble);
    if (good) ag_store_tidy(ag_text_cstr(&real), place.s);
    if (good) (void)ag_file_remove(place.s); /* what it held is in the file */
  }
  if (fd >= 0) (void)ag_file_close(fd);
  ag_text_done(&real);
  ag_text_done(&place);
  ag_text_done(&free_name);
  return good;
}

void ag_archive_close(ag_archive *s) {
  if (!s) return;
  ag_h5_close(s->file);
  if (s->log) {
    ag_log_content_done(&s->log->c);
    (void)ag_file_close(s->log->fd);
    free(s->log);
  }
  ag_fields_done(&s->fields);
  free(s->columns);
  free(s->events);
  free(s->event_count);
  free(s->path);
  free(s);
}

bool ag_archive_rows(ag_archive *s, long from, long n, double *rows) {
  if (from < 0 || n < 0 || from > s->n_row || n > s->n_row - from) return false;
  if (s->log) return ag_log_rows(s->log->fd, &s->log->c, from, n, rows);
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
  if (event < 0 || event >= s->n_event) return false;
  if (s->log) return ag_log_times(s->log->fd, &s->log->c, event, s->event_count[event], t);
  return ag_h5_read(s->file, s->events[event], 0, s->event_count[event], t);
}
