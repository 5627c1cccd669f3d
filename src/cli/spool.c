/* SPDX-License-Identifier: MIT */
#include "cli/spool.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/file.h"

enum { BLOCK = 1 << 19 }; /* numbers in a block */

void ag_spool_init(ag_spool *s, int width) {
  *s = (ag_spool){.width = width, .block = BLOCK / width + 1, .fd = -1};
  s->now = ag_heap_alloc(sizeof *s->now * (size_t)(s->block * width));
}

/* Where a number of a block is in the file. */
static off_t place(const ag_spool *s, long block, int at) {
  return (off_t)sizeof(double) * (off_t)s->block * (block * (off_t)s->width + at);
}

static void fail(ag_spool *s) {
  if (!s->trouble) s->trouble = errno ? errno : EIO;
}

static bool put_block(ag_spool *s) {
  size_t size = sizeof(double) * (size_t)(s->block * s->width);
  if (s->fd < 0) s->fd = ag_file_scratch();
  if (s->fd < 0 || ag_file_write_at(s->fd, s->now, size, place(s, s->n / s->block - 1, 0)) != size) fail(s);
  return !s->trouble;
}

bool ag_spool_row(ag_spool *s, const double *record) {
  if (s->trouble) return false;
  for (int i = 0; i < s->width; i++) s->now[i * s->block + s->n % s->block] = record[i];
  return ++s->n % s->block || put_block(s);
}

long ag_spool_read(ag_spool *s, long from, int at, int size, double *out) {
  long block = from / s->block, first = from % s->block;
  long n = s->n - from < s->block - first ? s->n - from : s->block - first;
  if (s->trouble || n <= 0) return 0;
  for (int i = 0; i < size; i++) {
    size_t bytes = sizeof(double) * (size_t)n;
    if (block == s->n / s->block) memcpy(out + i * n, s->now + (at + i) * s->block + first, bytes);
    else if (ag_file_read_at(s->fd, out + i * n, bytes, place(s, block, at + i) + 8 * (off_t)first) != bytes) {
      fail(s);
      return 0;
    }
  }
  return n;
}

void ag_spool_done(ag_spool *s) {
  if (s->fd >= 0) (void)ag_file_close(s->fd);
  free(s->now);
  *s = (ag_spool){.fd = -1};
}
