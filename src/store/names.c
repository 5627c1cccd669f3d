/* SPDX-License-Identifier: MIT
 * Which files beside a result file are ours. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "store/store_internal.h"

int ag_log_find(const char *path, int flags, ag_text *name, ag_text *free_name) {
  ag_text_clear(free_name);
  int trouble = ENOENT;
  for (int i = 0; i < AG_LOG_NAMES; i++) {
    struct stat s;
    ag_text_clear(name);
    ag_text_printf(name, i ? "%s.log.%d" : "%s.log", path, i);
    int fd = ag_file_open(name->s, flags | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0);
    if (fd >= 0 && !fstat(fd, &s) && S_ISREG(s.st_mode) && ag_log_signed(fd)) return fd;
    if (fd < 0 && errno == ENOENT && !free_name->n) ag_text_str(free_name, name->s);
    if (fd < 0 && errno != ENOENT) trouble = errno;
    if (fd >= 0) trouble = EEXIST;
    if (fd >= 0) (void)ag_file_close(fd);
  }
  errno = trouble;
  return -1;
}

/* An unfinished file of ours: empty, reserved but not yet written, or with the first bytes of such a file. */
static void remove_unfinished(void *self, const char *name) {
  static const char h5[8] = "\211HDF\r\n\032\n", nothing[8];
  (void)self;
  char begin[8] = "";
  int fd = ag_file_open(name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK, 0);
  if (fd < 0) return;
  size_t n = ag_file_read_at(fd, begin, sizeof begin, 0);
  bool ours = (n == 0 && !errno) || (n == sizeof begin && (!memcmp(begin, h5, 8) || !memcmp(begin, nothing, 8))) ||
              ag_log_signed(fd);
  (void)ag_file_close(fd);
  if (ours) (void)ag_file_remove(name);
}

void ag_store_tidy(const char *path, const char *log_path) {
  ag_file_leftovers(path, remove_unfinished, NULL);
  ag_file_leftovers(log_path, remove_unfinished, NULL);
}
