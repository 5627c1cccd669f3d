/* SPDX-License-Identifier: MIT
 * The frames of a log. A log is a sequence of frames, each complete or ignored. A checksum covers kind, length,
 * position and payload, so that neither a torn write nor the bytes of an older file are taken for data. */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "store/store_internal.h"

static const char signature[8] = "AGYRElog";
static const uint64_t byte_order = 0x0102030405060700 | AG_STORE_FORMAT;
enum { MARK = 0x4d524641 };

typedef struct head {
  uint32_t mark, kind;
  uint64_t length, check;
} head;

static uint64_t stir(uint64_t h, uint64_t word) {
  h = (h ^ word) * 0x9e3779b97f4a7c15u;
  return h ^ h >> 32;
}

static uint64_t checksum(const head *frame, off_t at, const char *payload) {
  uint64_t h = stir(stir(frame->kind, frame->length), (uint64_t)at), word;
  size_t n = (size_t)frame->length, i = 0;
  for (; i + 8 <= n; i += 8) {
    memcpy(&word, payload + i, 8);
    h = stir(h, word);
  }
  word = 0;
  if (i < n) memcpy(&word, payload + i, n - i); /* a frame without a payload has no pointer */
  return stir(h, word);
}

void ag_log_signature(ag_text *bytes) {
  ag_text_strn(bytes, signature, sizeof signature);
  ag_text_strn(bytes, (const char *)&byte_order, sizeof byte_order);
}

void ag_log_frame(ag_text *bytes, off_t at, int kind, const void *payload, size_t n) {
  head h = {MARK, (uint32_t)kind, n, 0};
  at += (off_t)bytes->n;
  h.check = checksum(&h, at, payload);
  ag_text_strn(bytes, (const char *)&h, sizeof h);
  ag_text_strn(bytes, payload, n);
}

bool ag_log_signed(int fd) {
  char begin[16];
  return ag_file_read_at(fd, begin, sizeof begin, 0) == sizeof begin && !memcmp(begin, signature, 8) &&
         !memcmp(begin + 8, &byte_order, 8);
}

off_t ag_log_scan(int fd, ag_log_visit visit, void *self) {
  struct stat s;
  errno = 0;
  if (!ag_log_signed(fd)) return errno ? -1 : 0;
  if (fstat(fd, &s)) return -1;
  int trouble = 0;
  off_t at = 16;
  size_t room = 0;
  char *payload = NULL;
  head h;
  for (;;) {
    size_t n = ag_file_read_at(fd, &h, sizeof h, at);
    if (n < sizeof h) trouble = errno; /* 0: the end of the log */
    if (n < sizeof h || h.mark != MARK || h.length > (uint64_t)s.st_size) break;
    off_t from = at + (off_t)sizeof h;
    if ((off_t)h.length > s.st_size - from) break;
    if (h.length > room) {
      room = (size_t)h.length;
      payload = ag_heap_grow(payload, room);
    }
    n = ag_file_read_at(fd, payload, (size_t)h.length, from);
    if (n < h.length) trouble = errno;
    if (n < h.length || checksum(&h, at, payload) != h.check) break;
    if (!visit(self, (int)h.kind, payload, (size_t)h.length, from)) break;
    at = from + (off_t)h.length;
  }
  free(payload);
  errno = trouble;
  return trouble ? -1 : at;
}
