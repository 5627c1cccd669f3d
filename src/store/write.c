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

#include "base/file.h"
#include "store/store_internal.h"

enum {
  FLUSH_SIZE = 1 << 16,
  FIRST_FILE = 1 << 15
}; /* bytes that trigger a write to the log; log size that triggers the first file */

struct ag_store {
  ag_store_kind kind;
  char *name;     /* as the user wrote it, for messages */
  ag_text path;   /* the file itself, symbolic links followed */
  ag_text place;  /* of the log: where it is to be */
  ag_text beside; /* its temporary name until then, "" afterwards */
  int log, old;   /* the log; the one that it replaces, locked, or -1 */
  off_t size;     /* bytes of complete frames in the log */
  off_t in_file;  /* size of the log when the file was last written from it */
  int width;
  double *rows, *pairs; /* buffered */
  long n_wait, cap_wait;
  int n_pair, cap_pair;
  ag_text frames;    /* members and their points, as they go to the log */
  long n_put, n_row; /* points in these frames; rows in the log */
  double flushed, saved;
  bool fresh, holding;
  long keep;   /* rows of what it replaces: its log gets its name when it holds as many */
  int trouble; /* errno of the first failure */
};

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

bool ag_store_put(const char *path, int log, off_t whole, const ag_fields *changes, int *trouble) {
  ag_log_content c;
  ag_text name = {0};
  ag_log_read(log, &c);
  if (changes) ag_fields_merge(&c.fields, changes);
  if (!c.trouble && c.good < whole) c.trouble = EIO;
  errno = c.trouble; /* a log that cannot be read is not a short one */
  int fd = !c.trouble && ag_log_members(log, &c) ? ag_file_temporary(path, &name) : -1;
  *trouble = fd < 0 ? (errno ? errno : EIO) : 0;
  bool good = fd >= 0 && ag_h5_write(name.s, fd, &c, log, trouble);
  if (fd >= 0) (void)ag_file_close(fd); /* forced to disk already */
  if (good && !ag_file_move(name.s, path)) {
    *trouble = errno;
    good = false;
  }
  if (fd >= 0 && !good) (void)ag_file_remove(name.s);
  ag_text_done(&name);
  ag_log_content_done(&c);
  return good;
}

static void failed(ag_store *s, int trouble) {
  if (!s->trouble) s->trouble = trouble ? trouble : EIO;
}

/* Appends bytes to the log; a partial write is cut off again, or the checksum reveals the torn frame. */
static bool append(ag_store *s, const ag_text *bytes) {
  if (s->trouble) return false;
  if (ag_file_write_at(s->log, ag_text_cstr(bytes), bytes->n, s->size) != bytes->n) {
    failed(s, errno);
    (void)ag_file_cut(s->log, s->size);
    return false;
  }
  s->size += (off_t)bytes->n;
  return true;
}

/* Puts the log in its place. */
static bool place_log(ag_store *s) {
  if (!s->beside.n) return true;
  bool good = s->old >= 0 ? ag_file_move(s->beside.s, s->place.s) : ag_file_move_new(s->beside.s, s->place.s);
  if (!good) {
    failed(s, errno);
    return false;
  }
  ag_text_clear(&s->beside);
  if (s->old >= 0) (void)ag_file_close(s->old);
  s->old = -1;
  ag_store_tidy(ag_text_cstr(&s->path), s->place.s);
  return true;
}

/* Writes the file again; called each time the log has doubled. */
static bool refresh(ag_store *s) {
  int trouble;
  if (s->kind == AG_STORE_FILE && !ag_store_put(ag_text_cstr(&s->path), s->log, s->size, NULL, &trouble))
    failed(s, trouble);
  s->in_file = s->size;
  return !s->trouble;
}

static bool flush(ag_store *s) {
  if (s->trouble) return false;
  ag_text bytes = s->frames; /* of members; made for this place */
  s->frames = (ag_text){0};
  if (s->n_pair) ag_log_frame(&bytes, s->size, AG_FRAME_EVENTS, s->pairs, sizeof(double) * 2 * (size_t)s->n_pair);
  if (s->n_wait) ag_log_frame(&bytes, s->size, AG_FRAME_ROWS, s->rows, sizeof(double) * (size_t)(s->n_wait * s->width));
  bool good = !bytes.n || append(s, &bytes);
  ag_text_done(&bytes);
  if (good) s->n_row += s->n_wait + s->n_put;
  s->n_wait = s->n_pair = 0;
  s->n_put = 0;
  s->flushed = now();
  if (!good || s->holding) return good;
  if (s->beside.n && (s->n_row < s->keep || !place_log(s))) return !s->trouble;
  return s->size < FIRST_FILE || s->size < 2 * s->in_file || refresh(s);
}

static bool put_fields(ag_store *s, const ag_fields *fields) {
  ag_text payload = {0}, bytes = {0};
  ag_fields_encode(fields, &payload);
  ag_log_frame(&bytes, s->size, AG_FRAME_FIELDS, ag_text_cstr(&payload), payload.n);
  bool good = append(s, &bytes);
  ag_text_done(&payload);
  ag_text_done(&bytes);
  return good;
}

static void store_free(ag_store *s) {
  if (s->log >= 0) (void)ag_file_close(s->log);
  if (s->old >= 0) (void)ag_file_close(s->old);
  free(s->name);
  ag_text_done(&s->path);
  ag_text_done(&s->place);
  if (s->beside.n) ag_file_settle(s->beside.s); /* kept, or removed */
  ag_text_done(&s->beside);
  ag_text_done(&s->frames);
  free(s->rows);
  free(s->pairs);
  free(s);
}

/* ---- the log ---- */

/* Readers look at the lock for a moment. */
static bool lock(int fd) {
  for (int i = 0; i < 20; i++) {
    if (!flock(fd, LOCK_EX | LOCK_NB) || errno != EWOULDBLOCK) return true; /* or no locks on this file system */
    nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
  }
  return false;
}

/* Finds the name of the log, and locks the one that a killed run has left there. Returns NULL, or the reason for a
 * failure. */
static const char *find_place(ag_store *s) {
  static const char busy[] = "another run is writing to it";
  ag_text free_name = {0};
  const char *why = NULL;
  s->old = ag_log_find(ag_text_cstr(&s->path), O_RDWR, &s->place, &free_name);
  struct stat mine, there; /* the previous owner of the lock may have removed the file in the meantime */
  if (s->old >= 0) {
    if (!lock(s->old) || fstat(s->old, &mine) || lstat(s->place.s, &there) || mine.st_ino != there.st_ino) why = busy;
  } else if (!free_name.n) {
    why = "all names for its log are taken by other files";
  } else {
    ag_text_clear(&s->place);
    ag_text_str(&s->place, free_name.s);
  }
  ag_text_done(&free_name);
  return why;
}

/* Opens the log under a temporary name: the one that it replaces may still be read. */
static const char *open_log(ag_store *s) {
  ag_target_kind kind;
  if (s->kind == AG_STORE_SCRATCH) {
    s->log = ag_file_scratch();
    return s->log < 0 ? strerror(errno) : NULL;
  }
  if (!ag_file_target(s->name, &kind, &s->path)) return strerror(errno);
  if (kind == AG_TARGET_STREAM && s->kind == AG_STORE_FILE) return "it is not a regular file";
  if (kind == AG_TARGET_STREAM) { /* no file can be next to it */
    s->kind = AG_STORE_SCRATCH;
    return open_log(s);
  }
  const char *why = find_place(s);
  if (why) return why;
  s->log = ag_file_temporary(s->place.s, &s->beside);
  if (s->log < 0) return strerror(errno);
  return lock(s->log) ? NULL : strerror(errno);
}

static void remove_log(const ag_store *s) {
  struct stat mine, there;
  if (s->kind == AG_STORE_SCRATCH) return;
  const char *at = ag_text_cstr(s->beside.n ? &s->beside : &s->place);
  if (!fstat(s->log, &mine) && !lstat(at, &there) && mine.st_ino == there.st_ino) (void)ag_file_remove(at);
}

/* ---- writing ---- */

ag_store *ag_store_create(const char *path, const ag_fields *fields, ag_store_kind kind, bool fresh, ag_text *trouble) {
  ag_store *s = ag_heap_alloc(sizeof *s);
  ag_text name = {0};
  ag_text_str(&name, path ? path : "the points");
  *s = (ag_store){.kind = kind, .name = name.s, .log = -1, .old = -1, .fresh = fresh, .holding = true, .saved = -1e300};
  int n_column, n_event;
  bool narrow = ag_fields_layout(fields, &n_column, &s->width, &n_event);
  s->cap_wait = FLUSH_SIZE / (long)sizeof(double) / (s->width + 1) + 1;
  s->rows = ag_heap_alloc(sizeof(double) * (size_t)(s->cap_wait * s->width + 1));
  s->flushed = now();
  const char *why = narrow ? open_log(s) : "its rows are too long";
  if (!why) {
    ag_text begin = {0};
    ag_log_signature(&begin);
    if (!append(s, &begin) || !put_fields(s, fields)) {
      remove_log(s);
      why = strerror(s->trouble);
    }
    ag_text_done(&begin);
  }
  if (!why) return s;
  ag_text_printf(trouble, "cannot write %s: %s", s->name, why);
  store_free(s);
  return NULL;
}

void ag_store_keep(ag_store *s, long n_row) { s->keep = n_row; }
bool ag_store_is_behind(const ag_store *s) { return s->n_row < s->keep; }

bool ag_store_begin(ag_store *s) {
  if (!flush(s)) return false;
  s->holding = false;
  if (s->n_row < s->keep && s->old >= 0) return true; /* the log that is there holds more */
  if (!place_log(s)) return false;
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
  ag_fields_done(&fields);
  s->saved = now();
  return good;
}

/* Adds the frame of a member or of its points; they are counted as rows when they are in the log. */
static bool add_frame(ag_store *s, int kind, const ag_text *payload, long n) {
  if (s->trouble) return false;
  ag_log_frame(&s->frames, s->size, kind, ag_text_cstr(payload), payload->n);
  s->n_put += n;
  return s->frames.n < FLUSH_SIZE && now() - s->flushed < 1 ? true : flush(s);
}

bool ag_store_points(ag_store *s, long member, long first, long n, const double *rows) {
  int64_t which[2] = {member, first};
  bool good = true;
  long most = FLUSH_SIZE / (long)sizeof(double) / (s->width + 1) + 1;
  for (long done = 0; done < n && good; done += most) {
    long some = n - done < most ? n - done : most;
    ag_text payload = {0};
    which[1] = first + done;
    ag_text_strn(&payload, (const char *)which, sizeof which);
    ag_text_strn(&payload, (const char *)(rows + done * s->width), sizeof(double) * (size_t)(some * s->width));
    good = add_frame(s, AG_FRAME_POINTS, &payload, some);
    ag_text_done(&payload);
  }
  return good;
}

bool ag_store_member(ag_store *s, long member, const ag_member_end *how, const double *row) {
  ag_log_end end = {member, how->steps, how->rejected, 0, how->t};
  ag_text payload = {0};
  ag_text_strn(&payload, (const char *)&end, sizeof end);
  ag_text_strn(&payload, (const char *)row, sizeof(double) * (size_t)s->width);
  ag_text_strn(&payload, how->end, strlen(how->end) + 1);
  bool good = add_frame(s, AG_FRAME_MEMBER, &payload, 0);
  ag_text_done(&payload);
  return good;
}

/* ---- the end ---- */

const char *ag_store_place(const ag_store *s) { return ag_text_cstr(s->beside.n ? &s->beside : &s->place); }

/* Reports what went wrong and where the data is. */
static void explain(const ag_store *s, bool put, ag_text *trouble) {
  const char *rows = ag_plural(s->n_row, "row", "rows");
  ag_text_printf(trouble, "cannot write %s: %s; ", put ? ag_store_place(s) : s->name, strerror(s->trouble));
  if (s->kind == AG_STORE_LOG) ag_text_str(trouble, "it holds what was finished before");
  else if (put) ag_text_printf(trouble, "%s holds the first %ld %s", s->name, s->n_row, rows);
  else
    ag_text_printf(trouble,
                   "the first %ld %s in %s; when there is room, `anagyre info --recover %s` puts %s into the file",
                   s->n_row, ag_plural(s->n_row, "row is", "rows are"), ag_store_place(s), s->name,
                   ag_plural(s->n_row, "it", "them"));
}

void ag_store_discard(ag_store *s) {
  if (!s) return;
  remove_log(s);
  store_free(s);
}

bool ag_store_close(ag_store *s, const ag_fields *end, ag_text *trouble) {
  if (s->holding) { /* it never began: file and log are as they were */
    ag_text_printf(trouble, "cannot write %s: %s", s->name, strerror(s->trouble ? s->trouble : EIO));
    ag_store_discard(s);
    return false;
  }
  s->holding = true; /* flush must not write the file: it is written below */
  bool good = flush(s) && put_fields(s, end), put = true;
  int why = 0;
  if (s->kind == AG_STORE_FILE) {
    put = ag_store_put(ag_text_cstr(&s->path), s->log, s->size, end, &why);
    if (!put) failed(s, why);
    if (put) remove_log(s);
    if (put && s->old >= 0) (void)ag_file_remove(s->place.s);
  }
  good = good && put;
  if (!good) explain(s, put, trouble);
  store_free(s);
  return good;
}

bool ag_store_flush(ag_store *s) { return flush(s); }
ag_store_kind ag_store_kind_of(const ag_store *s) { return s->kind; }
int ag_store_trouble(const ag_store *s) { return s->trouble; }
int ag_store_log(const ag_store *s) { return s->log; }
