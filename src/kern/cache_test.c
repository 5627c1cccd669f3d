/* SPDX-License-Identifier: MIT
 * A library in the cache is the one that was put there, bit for bit, or it is not there: every bit turned, every cut,
 * other keys, files that another user may write, links. */
#define _GNU_SOURCE
#include "kern/cache.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"

static const char key[] = "0123456789abcdef0123456789abcdef", other[] = "0123456789abcdef0123456789abcdee";
static char path[128];

static bool found(const char *with, ag_text *bytes, const ag_text *expected) {
  bool there = ag_cache_load(path, with, bytes);
  if (there) AG_CHECK(bytes->n == expected->n && !memcmp(bytes->s, expected->s, expected->n));
  return there;
}

static void put(const char *bytes, size_t n) {
  int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  AG_CHECK(fd >= 0 && write(fd, bytes, n) == (ssize_t)n && !close(fd));
}

int main(void) {
  char folder[] = "/tmp/anagyre_cache_XXXXXX", link[128];
  AG_CHECK(mkdtemp(folder));
  snprintf(path, sizeof path, "%s/%s.so", folder, key);
  snprintf(link, sizeof link, "%s/link.so", folder);
  ag_text library = {0}, bytes = {0}, whole = {0};
  for (int i = 0; i < 250; i++) ag_text_char(&library, (char)(i * i % 251));
  umask(002); /* what is written is never open to a group */
  AG_CHECK(!found(key, &bytes, &library));
  AG_CHECK(ag_cache_save(path, key, &library));
  struct stat s;
  AG_CHECK(!stat(path, &s) && (s.st_mode & 0777) == 0600 && s.st_size > 250);
  AG_CHECK(found(key, &bytes, &library) && !found(other, &bytes, &library));
  AG_CHECK(ag_cache_read(path, &whole) && whole.n == (size_t)s.st_size);
  long n_wrong = 0;
  for (size_t i = 0; i < whole.n; i++) {
    whole.s[i] ^= (char)(1 << i % 8);
    put(whole.s, whole.n);
    n_wrong += found(key, &bytes, &library);
    whole.s[i] ^= (char)(1 << i % 8);
    put(whole.s, i); /* cut */
    n_wrong += found(key, &bytes, &library);
  }
  AG_CHECK(n_wrong == 0);
  ag_text_char(&whole, 0); /* one byte more */
  put(whole.s, whole.n);
  AG_CHECK(!found(key, &bytes, &library));
  AG_CHECK(ag_cache_save(path, key, &library) && found(key, &bytes, &library)); /* replaces what is there */
  AG_CHECK(!chmod(path, 0620) && !found(key, &bytes, &library) && !chmod(path, 0600));
  AG_CHECK(!symlink(path, link) && !ag_cache_load(link, key, &bytes) && !ag_cache_read(folder, &bytes));
  AG_CHECK(!unlink(link) && !mkfifo(link, 0600) && !ag_cache_load(link, key, &bytes)); /* does not wait */
  AG_CHECK(!unlink(link) && !unlink(path));
  snprintf(path, sizeof path, "%s/nowhere/%s.so", folder, key);
  AG_CHECK(!ag_cache_save(path, key, &library));
  AG_CHECK(!rmdir(folder)); /* nothing else was left */
  ag_text_done(&library);
  ag_text_done(&bytes);
  ag_text_done(&whole);
  return ag_check_report();
}
