/* SPDX-License-Identifier: MIT
 * Writing a result during a run: rows and events are buffered for at most 64 KiB or one second, then appended to the
 * log in complete frames. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "store/store_internal.h"

enum {
  FLUSH_SIZE = 1 << 16,
  FIRST_FILE = 1 << 15
}; /* bytes that trigger a write to the log; log size that triggers the first file */

struct ag_store {
  char *path, *log_path;
  int log;
  off_t size;    /* bytes of complete frames in the log */
  off_t in_file; /* size of the log when the file was last written from it */
  ag_fields fields;
  int width, n_event;
  double *rows, *pairs; /* buffered */
  long n_wait, cap_wait;
  int n_pair, cap_pair;
  long n_row, *event_count; /* in the log */
  double flushed, saved;
  bool fresh, holding;
  int trouble; /* errno of the first failure */
};

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

char *ag_store_beside(const char *path, const char *suffix) {
  ag_text x = {0};
  ag_text_printf(&x, "%s%s", path, suffix);
  return x.s;
}

bool ag_store_put(const char *path, const ag_fields *fields, long n_row, const long *event_count, int log,
                  int *trouble) {
  char *temporary = ag_store_beside(path, ".tmp");
  bool good = ag_h5_write(temporary, fields, n_row, event_count, log, trouble);
  if (good && rename(temporary, path)) {
    *trouble = errno;
    good = false;
  }
  if (!good) unlink(temporary);
  free(temporary);
  return good;
}

static void failed(ag_store *s, int trouble) {
  if (!s->trouble) s->trouble = trouble ? trouble : EIO;
}

/* Appends bytes to the log; a partial write is truncated again. */
static bool append(ag_store *s, const ag_text *bytes) {
  size_t done = 0;
  while (done < bytes->n && !s->trouble) {
    ssize_t n = pwrite(s->log, bytes->s + done, bytes->n - done, s->size + (off_t)done);
    if (n > 0) done += (size_t)n;
    else if (n == 0 || errno != EINTR) failed(s, n ? errno : ENOSPC);
  }
  if (s->trouble) {
    if (ftruncate(s->log, s->size)) return false; /* the checksum reveals the torn frame */
    return false;
  }
  s->size += (off_t)done;
  return true;
}

/* Writes the file again; called each time the log has doubled. */
static bool refresh(ag_store *s) {
  int trouble;
  if (!ag_store_put(s->path, &s->fields, s->n_row, s->event_count, s->log, &trouble)) failed(s, trouble);
  s->in_file = s->size;
  return !s->trouble;
}

static bool flush(ag_store *s) {
  if (s->trouble) return false;
  ag_text bytes = {0};
  if (s->n_pair) ag_log_frame(&bytes, s->size, AG_FRAME_EVENTS, s->pairs, sizeof(double) * 2 * (size_t)s->n_pair);
  if (s->n_wait) ag_log_frame(&bytes, s->size, AG_FRAME_ROWS, s->rows, sizeof(double) * (size_t)(s->n_wait * s->width));
  bool good = !bytes.n || append(s, &bytes);
  ag_text_done(&bytes);
  if (good) {
    s->n_row += s->n_wait;
    for (int i = 0; i < s->n_pair; i++) s->event_count[(int)s->pairs[2 * i]]++;
  }
  s->n_wait = s->n_pair = 0;
  s->flushed = now();
  if (!good || s->holding || s->size < FIRST_FILE || s->size < 2 * s->in_file) return good;
  return refresh(s);
}

static bool put_fields(ag_store *s, const ag_fields *fields) {
  ag_text payload = {0}, bytes = {0};
  ag_fields_encode(fields, &payload);
  ag_log_frame(&bytes, s->size, AG_FRAME_FIELDS, ag_text_cstr(&payload), payload.n);
  bool good = !s->trouble && append(s, &bytes);
  ag_text_done(&payload);
  ag_text_done(&bytes);
  return good;
}

static void store_free(ag_store *s) {
  if (s->log >= 0) close(s->log);
  ag_fields_done(&s->fields);
  free(s->path);
  free(s->log_path);
  free(s->rows);
  free(s->pairs);
  free(s->event_count);
  free(s);
}

/* Opens the log, locked and empty. Returns NULL, or the reason for a failure. */
static const char *open_log(ag_store *s) {
  s->log = open(s->log_path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (s->log < 0) return strerror(errno);
  if (flock(s->log, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK) return "another run is writing to it";
  struct stat mine, there; /* the previous owner of the lock may have removed the file meanwhile */
  if (fstat(s->log, &mine) || stat(s->log_path, &there) || mine.st_ino != there.st_ino)
    return "another run is writing to it";
  if (ftruncate(s->log, 0)) return strerror(errno);
  return NULL;
}

ag_store *ag_store_create(const char *path, const ag_fields *fields, bool fresh, ag_text *trouble) {
  ag_store *s = ag_heap_alloc(sizeof *s);
  s->path = ag_store_beside(path, "");
  s->log_path = ag_store_beside(path, ".log");
  s->fresh = fresh;
  s->holding = true;
  s->saved = -1e300;
  ag_fields_merge(&s->fields, fields);
  int n_column;
  ag_fields_layout(fields, &n_column, &s->width, &s->n_event);
  s->event_count = ag_heap_alloc(sizeof(long) * (size_t)(s->n_event + 1));
  s->cap_wait = FLUSH_SIZE / (long)sizeof(double) / (s->width + 1) + 1;
  s->rows = ag_heap_alloc(sizeof(double) * (size_t)(s->cap_wait * s->width + 1));
  s->flushed = now();
  const char *why = open_log(s);
  if (!why) {
    ag_text begin = {0};
    ag_log_signature(&begin);
    if (!append(s, &begin) || !put_fields(s, &s->fields)) {
      unlink(s->log_path);
      why = strerror(s->trouble);
    }
    ag_text_done(&begin);
  }
  if (!why) return s;
  ag_text_printf(trouble, "cannot write %s: %s", path, why);
  store_free(s);
  return NULL;
}

bool ag_store_begin(ag_store *s) {
  if (!flush(s)) return false;
  s->holding = false;
  s->in_file = s->size;
  return !s->fresh || refresh(s);
}

bool ag_store_row(ag_store *s, const double *record) {
  if (s->trouble) return false;
  memcpy(s->rows + s->n_wait++ * s->width, record, sizeof(double) * (size_t)s->width);
  return s->n_wait < s->cap_wait && now() - s->flushed < 1 ? true : flush(s);
}

bool ag_store_event(ag_store *s, int event, double t) {
  if (s->trouble) return false;
  while (s->n_pair + 1 > s->cap_pair / 2) {
    s->cap_pair = s->cap_pair ? 2 * s->cap_pair : 64;
    s->pairs = ag_heap_grow(s->pairs, sizeof(double) * (size_t)s->cap_pair);
  }
  s->pairs[2 * s->n_pair] = event;
  s->pairs[2 * s->n_pair++ + 1] = t;
  return s->n_pair < FLUSH_SIZE / 16 && now() - s->flushed < 1 ? true : flush(s);
}

bool ag_store_save(ag_store *s, const ag_checkpoint *c, bool must) {
  if (!must && now() - s->saved < 1) return !s->trouble;
  ag_fields fields = {0};
  ag_store_checkpoint(&fields, c);
  bool good = flush(s) && put_fields(s, &fields);
  if (good) ag_fields_merge(&s->fields, &fields);
  ag_fields_done(&fields);
  s->saved = now();
  return good;
}

/* Reports what went wrong and where the data is. */
static void explain(const ag_store *s, bool put, ag_text *trouble) {
  const char *rows = ag_plural(s->n_row, "row", "rows");
  ag_text_printf(trouble, "cannot write %s: %s\n", put ? s->log_path : s->path, strerror(s->trouble));
  if (put) ag_text_printf(trouble, "%s holds the first %ld %s", s->path, s->n_row, rows);
  else
    ag_text_printf(trouble, "the first %ld %s in %s; when there is room, `anagyre info %s` puts %s into the file",
                   s->n_row, ag_plural(s->n_row, "row is", "rows are"), s->log_path, s->path,
                   ag_plural(s->n_row, "it", "them"));
}

bool ag_store_close(ag_store *s, const ag_fields *end, ag_text *trouble) {
  s->holding = true; /* flush must not write the file: it is written below */
  bool good = flush(s) && put_fields(s, end);
  ag_fields_merge(&s->fields, end);
  int why = 0;
  bool put = ag_store_put(s->path, &s->fields, s->n_row, s->event_count, s->log, &why);
  if (!put) failed(s, why);
  if (put) unlink(s->log_path);
  good = good && put;
  if (!good) explain(s, put, trouble);
  store_free(s);
  return good;
}
