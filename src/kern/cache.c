/* SPDX-License-Identifier: MIT */
#include "kern/cache.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/file.h"
#include "kern/hash.h"
#include "kern/kern.h"

enum { STALE_SECONDS = 3600, MAX_KERNEL = 1 << 28 }; /* unfinished files of runs that were killed; bytes of a kernel */

/* What follows the bytes of a library in the cache: this mark, then the hash of key and bytes. Loaders ignore
 * everything after the last section. */
static const char mark[] = "anagyre kernel 1 ";
enum { SEAL = sizeof mark - 1 + 32 };

static bool ours(const struct stat *s) { return s->st_uid == geteuid() && !(s->st_mode & (S_IWGRP | S_IWOTH)); }

/* Makes the folder and those above it; existing ones are left as they are. */
static void make_folders(const char *path) {
  ag_text part = {0};
  for (const char *s = path; *s; s++) {
    if (*s == '/' && s > path) (void)mkdir(ag_text_cstr(&part), 0700);
    ag_text_char(&part, *s);
  }
  (void)mkdir(ag_text_cstr(&part), 0700);
  ag_text_done(&part);
}

bool ag_cache_folder(const char *wish, ag_text *folder) {
  const char *xdg = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
  ag_text_clear(folder);
  if (wish) ag_text_str(folder, wish);
  else if (xdg && xdg[0] == '/') ag_text_printf(folder, "%s/anagyre", xdg);
  else if (home && home[0] == '/') ag_text_printf(folder, "%s/.cache/anagyre", home);
  const char *path = ag_text_cstr(folder);
  if (!path[0]) return false;
  make_folders(path);
  struct stat s;
  return lstat(path, &s) == 0 && S_ISDIR(s.st_mode) && ours(&s) && access(path, W_OK | X_OK) == 0;
}

/* The seal of a library. */
static void seal(const char *key, const char *bytes, size_t n, char out[SEAL + 1]) {
  ag_hash h;
  memcpy(out, mark, sizeof mark - 1);
  ag_hash_init(&h);
  ag_hash_str(&h, key);
  ag_hash_add(&h, bytes, n);
  ag_hash_name(&h, out + sizeof mark - 1);
}

bool ag_cache_read(const char *path, ag_text *bytes) {
  struct stat s;
  int fd = ag_file_open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK, 0);
  ag_text_clear(bytes);
  if (fd < 0) return false;
  bool good = !fstat(fd, &s) && S_ISREG(s.st_mode) && s.st_uid == geteuid() && s.st_size > 0 && s.st_size <= MAX_KERNEL;
  char part[1 << 14];
  while (good && bytes->n < (size_t)s.st_size) {
    size_t n = ag_file_read(fd, part, sizeof part);
    ag_text_strn(bytes, part, n);
    good = n > 0;
  }
  (void)ag_file_close(fd);
  return good && bytes->n == (size_t)s.st_size;
}

bool ag_cache_load(const char *path, const char *key, ag_text *bytes) {
  struct stat s;
  char expected[SEAL + 1];
  if (lstat(path, &s) || !ours(&s) || !ag_cache_read(path, bytes) || bytes->n <= SEAL) return false;
  bytes->n -= SEAL;
  seal(key, bytes->s, bytes->n, expected);
  if (memcmp(bytes->s + bytes->n, expected, SEAL)) return false;
  (void)utimensat(AT_FDCWD, path, NULL, AT_SYMLINK_NOFOLLOW); /* used now: prune takes the oldest first */
  return true;
}

bool ag_cache_save(const char *path, const char *key, const ag_text *bytes) {
  char end[SEAL + 1];
  ag_text name = {0};
  ag_text_printf(&name, "%.*s-XXXXXX.so", (int)strlen(path) - 3, path);
  int fd = ag_file_unique(name.s, 3);
  seal(key, bytes->s, bytes->n, end);
  bool good = fd >= 0 && ag_file_write(fd, bytes->s, bytes->n) == bytes->n && ag_file_write(fd, end, SEAL) == SEAL &&
              ag_file_sync(fd);
  if (fd >= 0) good = ag_file_close(fd) && good;
  good = good && ag_file_move(name.s, path);
  if (fd >= 0 && !good) (void)ag_file_remove(name.s);
  ag_text_done(&name);
  return good;
}

typedef struct entry {
  char name[80];
  time_t used;
  size_t size;
} entry;

static int by_age(const void *a, const void *b) {
  const entry *x = a, *y = b;
  return x->used != y->used ? (x->used > y->used) - (x->used < y->used) : strcmp(x->name, y->name);
}

/* The kernels and sources in the folder, and what the compiler makes on the way; names are ours: 32 digits, perhaps a
 * dash and more characters, .so, .c, .o or .tmp. */
static bool is_ours(const char *name) {
  static const char *const ends[] = {".so", ".c", ".o", ".tmp"};
  const char *dot = strrchr(name, '.');
  bool known = false;
  for (size_t i = 0; dot && i < sizeof ends / sizeof *ends; i++) known = known || !strcmp(dot, ends[i]);
  if (!known || strlen(name) >= sizeof((entry *)0)->name) return false;
  return strspn(name, "0123456789abcdef") == 32 && (name[32] == '.' || name[32] == '-');
}

static void close_folder(void *dir) { closedir(dir); }

void ag_cache_prune(const char *wish, size_t max_bytes) {
  ag_text folder = {0};
  entry *entries = NULL;
  int n = 0, cap = 0;
  size_t total = 0;
  DIR *dir = ag_cache_folder(wish, &folder) ? opendir(ag_text_cstr(&folder)) : NULL;
  if (dir) ag_heap_hold(close_folder, dir);
  for (struct dirent *d; dir && (d = readdir(dir));) {
    struct stat s;
    if (!is_ours(d->d_name) || fstatat(dirfd(dir), d->d_name, &s, AT_SYMLINK_NOFOLLOW) != 0) continue;
    if (strchr(d->d_name, '-')) { /* being made, or left over */
      if (s.st_mtime < time(NULL) - STALE_SECONDS) (void)unlinkat(dirfd(dir), d->d_name, 0);
      continue;
    }
    AG_PUSH(entries, n, cap);
    strcpy(entries[n].name, d->d_name);
    entries[n].used = s.st_mtime;
    entries[n++].size = (size_t)s.st_size;
    total += (size_t)s.st_size;
  }
  if (n > 0) qsort(entries, (size_t)n, sizeof *entries, by_age);
  for (int i = 0; i < n && total > max_bytes; i++) {
    (void)unlinkat(dirfd(dir), entries[i].name, 0);
    total -= entries[i].size;
  }
  if (dir) {
    ag_heap_let_go(close_folder, dir);
    closedir(dir);
  }
  free(entries);
  ag_text_done(&folder);
}
