/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE /* renameat2, O_TMPFILE */
#include "base/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/heap.h"

enum { DIGITS = 12, TRIES = 100, MAX_BASE = 200 }; /* of the random part; names tried; bytes of the name kept */
static const char suffix[] = ".part";

/* ---- bytes ---- */

int ag_file_open(const char *path, int flags, mode_t mode) {
  int fd;
  do fd = open(path, flags | O_CLOEXEC, mode);
  while (fd < 0 && errno == EINTR);
  return fd;
}

int ag_file_open_regular(const char *path) {
  int fd = ag_file_open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY, 0);
  struct stat s;
  if (fd < 0) return -1;
  if (!fstat(fd, &s) && S_ISREG(s.st_mode)) return fd;
  bool folder = S_ISDIR(s.st_mode);
  (void)close(fd);
  errno = folder ? EISDIR : EINVAL;
  return -1;
}

bool ag_file_close(int fd) { return !close(fd) || errno == EINTR; }

size_t ag_file_read(int fd, void *to, size_t n) {
  size_t done = 0;
  while (done < n) {
    ssize_t got = read(fd, (char *)to + done, n - done);
    if (got > 0) done += (size_t)got;
    else if (got == 0 || errno != EINTR) {
      if (got == 0) errno = 0;
      break;
    }
  }
  return done;
}

size_t ag_file_read_at(int fd, void *to, size_t n, off_t at) {
  size_t done = 0;
  while (done < n) {
    ssize_t got = pread(fd, (char *)to + done, n - done, at + (off_t)done);
    if (got > 0) done += (size_t)got;
    else if (got == 0 || errno != EINTR) {
      if (got == 0) errno = 0;
      break;
    }
  }
  return done;
}

size_t ag_file_write(int fd, const void *bytes, size_t n) {
  size_t done = 0;
  while (done < n) {
    ssize_t put = write(fd, (const char *)bytes + done, n - done);
    if (put > 0) done += (size_t)put;
    else if (put == 0 || errno != EINTR) {
      if (put == 0) errno = ENOSPC;
      break;
    }
  }
  return done;
}

size_t ag_file_write_at(int fd, const void *bytes, size_t n, off_t at) {
  size_t done = 0;
  while (done < n) {
    ssize_t put = pwrite(fd, (const char *)bytes + done, n - done, at + (off_t)done);
    if (put > 0) done += (size_t)put;
    else if (put == 0 || errno != EINTR) {
      if (put == 0) errno = ENOSPC;
      break;
    }
  }
  return done;
}

bool ag_file_text(const char *path, size_t most, ag_text *out) {
  char part[1 << 14];
  size_t n, begin = out->n;
  int fd = ag_file_open(path, O_RDONLY | O_NOCTTY, 0);
  if (fd < 0) return false;
  ag_heap_hold_file(fd);
  do {
    n = ag_file_read(fd, part, sizeof part);
    if (n) ag_text_strn(out, part, n);
  } while (n == sizeof part && out->n - begin <= most);
  int trouble = out->n - begin > most ? EFBIG : n < sizeof part ? errno : 0;
  ag_heap_let_go_file(fd);
  (void)ag_file_close(fd);
  errno = trouble;
  return !trouble;
}

bool ag_file_cut(int fd, off_t size) {
  int done;
  do done = ftruncate(fd, size);
  while (done && errno == EINTR);
  return !done;
}

bool ag_file_reserve(int fd, off_t size) {
  int trouble;
  do trouble = posix_fallocate(fd, 0, size);
  while (trouble == EINTR);
  errno = trouble;
  return !trouble || trouble == EINVAL || trouble == EOPNOTSUPP;
}

bool ag_file_sync(int fd) {
  int done;
  do done = fsync(fd);
  while (done && errno == EINTR);
  return !done || errno == EINVAL || errno == EROFS || errno == ENOTSUP;
}

/* ---- lines ---- */

struct ag_lines {
  int fd, trouble;
  size_t at, n; /* of the bytes that were read: the next one, and their number */
  char bytes[1 << 16];
};

ag_lines *ag_lines_open(const char *path) {
  int fd = ag_file_open(path, O_RDONLY | O_NOCTTY, 0);
  if (fd < 0) return NULL;
  ag_heap_hold_file(fd);
  ag_lines *l = ag_heap_alloc(sizeof *l);
  l->fd = fd;
  return l;
}

bool ag_lines_next(ag_lines *l, ag_text *line) {
  ag_text_clear(line);
  for (bool whole = false; !whole;) {
    if (l->at == l->n) {
      l->at = 0;
      l->n = l->trouble ? 0 : ag_file_read(l->fd, l->bytes, sizeof l->bytes);
      if (l->n < sizeof l->bytes && !l->trouble) l->trouble = errno;
      if (!l->n) break;
    }
    const char *from = l->bytes + l->at, *end = memchr(from, '\n', l->n - l->at);
    size_t n = end ? (size_t)(end - from) + 1 : l->n - l->at;
    ag_text_strn(line, from, n);
    l->at += n;
    whole = end != NULL;
  }
  errno = l->at < l->n ? 0 : l->trouble;
  return line->n && !errno;
}

void ag_lines_close(ag_lines *l) {
  if (!l) return;
  ag_heap_let_go_file(l->fd);
  (void)ag_file_close(l->fd);
  free(l);
}

/* ---- names ---- */

/* The folder of a path, "." for a bare name, and where the name begins. */
static const char *split(const char *path, ag_text *folder) {
  const char *slash = strrchr(path, '/');
  ag_text_clear(folder);
  if (!slash) ag_text_str(folder, ".");
  else ag_text_strn(folder, path, slash > path ? (size_t)(slash - path) : 1);
  return slash ? slash + 1 : path;
}

/* A new name is safe once its folder is on disk. A folder that cannot be opened or synchronised is not a failure: the
 * file is in place. */
static void sync_folder(const char *path) {
  ag_text folder = {0};
  (void)split(path, &folder);
  int fd = ag_file_open(ag_text_cstr(&folder), O_RDONLY | O_DIRECTORY, 0);
  ag_text_done(&folder);
  if (fd < 0) return;
  (void)fsync(fd);
  (void)close(fd);
}

/* A temporary file is removed when memory runs out before its name is settled; `name` is held by its address. */
static void remove_temporary(void *name) { (void)unlink(name); }

static void *held_name(const char *name) {
  union {
    const char *name;
    void *what;
  } both = {.name = name};
  return both.what;
}

void ag_file_settle(const char *name) { ag_heap_let_go(remove_temporary, held_name(name)); }

bool ag_file_move(const char *from, const char *to) {
  if (rename(from, to)) return false;
  ag_file_settle(from);
  sync_folder(to);
  return true;
}

bool ag_file_move_new(const char *from, const char *to) {
  struct stat s;
  bool done = !renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE);
  if (!done && (errno == EINVAL || errno == ENOSYS)) { /* file systems that do not know this */
    done = !link(from, to);
    if (done) (void)unlink(from);
    else if (errno == EPERM || errno == ENOSYS || errno == EOPNOTSUPP) {
      errno = EEXIST;
      done = lstat(to, &s) && !rename(from, to);
    }
  }
  if (done) ag_file_settle(from);
  if (done) sync_folder(to);
  return done;
}

bool ag_file_remove(const char *path) {
  ag_file_settle(path);
  return !unlink(path);
}

/* ---- where output goes ---- */

bool ag_file_real(const char *path, ag_text *real) {
  char whole[PATH_MAX];
  if (!realpath(path, whole)) return false;
  ag_text_clear(real);
  ag_text_str(real, whole);
  return true;
}

bool ag_file_target(const char *path, ag_target_kind *kind, ag_text *real) {
  struct stat s;
  ag_text_clear(real);
  ag_text_str(real, path);
  if (lstat(path, &s)) { /* nothing there: the folder says whether it can be created */
    *kind = AG_TARGET_NEW;
    return errno == ENOENT;
  }
  if (S_ISLNK(s.st_mode) && !ag_file_real(path, real)) return false; /* leads nowhere */
  if (stat(path, &s)) return false;
  *kind = S_ISREG(s.st_mode) ? AG_TARGET_REGULAR : AG_TARGET_STREAM;
  errno = EISDIR;
  return !S_ISDIR(s.st_mode) && !faccessat(AT_FDCWD, path, W_OK, AT_EACCESS);
}

bool ag_file_beside(const char *path) {
  ag_text folder = {0};
  (void)split(path, &folder);
  const bool good = !faccessat(AT_FDCWD, ag_text_cstr(&folder), W_OK | X_OK, AT_EACCESS);
  const int trouble = errno;
  ag_text_done(&folder);
  errno = trouble;
  return good;
}

/* ---- temporary files ---- */

static void put_random(ag_text *name) {
  unsigned char bytes[DIGITS / 2];
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  if (getrandom(bytes, sizeof bytes, GRND_NONBLOCK) != (ssize_t)sizeof bytes)
    for (size_t i = 0; i < sizeof bytes; i++) bytes[i] = (unsigned char)(now.tv_nsec >> 4 * i ^ getpid() >> i);
  for (size_t i = 0; i < sizeof bytes; i++) ag_text_printf(name, "%02x", bytes[i]);
}

/* The name of a path without what a temporary name has no room for. */
static int base_length(const char *base) { return (int)strnlen(base, MAX_BASE); }

int ag_file_temporary(const char *path, ag_text *name) {
  ag_text folder = {0};
  const char *base = split(path, &folder);
  struct stat s;
  bool there = !lstat(path, &s) && S_ISREG(s.st_mode);
  int fd = -1;
  for (int i = 0; i < TRIES && fd < 0; i++) {
    ag_text_clear(name);
    ag_text_strn(name, path, (size_t)(base - path));
    ag_text_printf(name, "%.*s.", base_length(base), base);
    put_random(name);
    ag_text_str(name, suffix);
    fd = ag_file_open(ag_text_cstr(name), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, 0666);
    if (fd < 0 && errno != EEXIST) break;
  }
  ag_text_done(&folder);
  if (fd >= 0 && there) {
    if ((s.st_uid != geteuid() || s.st_gid != getegid()) && fchown(fd, s.st_uid, s.st_gid)) errno = 0;
    if (fchmod(fd, s.st_mode & 0777)) errno = 0; /* file systems without modes */
  }
  if (fd >= 0) ag_heap_hold(remove_temporary, name->s);
  return fd;
}

int ag_file_unique(char *pattern, int n_end) { return mkostemps(pattern, n_end, O_CLOEXEC); }

static bool has_temporary_name(const char *name, const char *base) {
  size_t n = (size_t)base_length(base);
  return !strncmp(name, base, n) && name[n] == '.' && strspn(name + n + 1, "0123456789abcdef") == DIGITS &&
         !strcmp(name + n + 1 + DIGITS, suffix);
}

static void close_folder(void *dir) { closedir(dir); }

void ag_file_leftovers(const char *path, ag_file_visit visit, void *self) {
  ag_text folder = {0}, full = {0};
  const char *base = split(path, &folder);
  DIR *dir = opendir(ag_text_cstr(&folder));
  if (dir) ag_heap_hold(close_folder, dir);
  for (struct dirent *d; dir && (d = readdir(dir));) {
    struct stat s;
    if (!has_temporary_name(d->d_name, base) || fstatat(dirfd(dir), d->d_name, &s, AT_SYMLINK_NOFOLLOW)) continue;
    if (!S_ISREG(s.st_mode) || s.st_uid != geteuid() || s.st_nlink != 1) continue;
    ag_text_clear(&full);
    ag_text_strn(&full, path, (size_t)(base - path));
    ag_text_str(&full, d->d_name);
    visit(self, full.s);
  }
  if (dir) ag_heap_let_go(close_folder, dir);
  if (dir) closedir(dir);
  ag_text_done(&folder);
  ag_text_done(&full);
}

int ag_file_scratch(void) {
  const char *tmp = getenv("TMPDIR");
  if (!tmp || tmp[0] != '/') tmp = "/tmp";
  int fd = ag_file_open(tmp, O_TMPFILE | O_RDWR, 0600);
  if (fd >= 0) return fd;
  ag_text path = {0}, name = {0};
  ag_text_printf(&path, "%s/anagyre", tmp);
  fd = ag_file_temporary(ag_text_cstr(&path), &name);
  int trouble = errno;
  if (fd >= 0) (void)ag_file_remove(name.s);
  ag_text_done(&path);
  ag_text_done(&name);
  errno = trouble;
  return fd;
}
