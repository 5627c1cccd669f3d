/* SPDX-License-Identifier: MIT
 * The log: a sequence of frames, each complete or ignored. A checksum covers kind, length, position and payload, so
 * that neither a torn write nor the bytes of an older file are taken for data. */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "store/store_internal.h"

static const char signature[8] = "AGYRElog";
static const uint64_t byte_order = 0x0102030405060700 | AG_STORE_FORMAT;
enum { MARK = 0x4d524641, MAX_FRAME = 1 << 28 };

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
  memcpy(&word, payload + i, n - i);
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

/* Reads n bytes from `at` on; false if there are fewer. */
static bool read_at(int fd, void *to, size_t n, off_t at) {
  for (size_t done = 0; done < n;) {
    ssize_t got = pread(fd, (char *)to + done, n - done, at + (off_t)done);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    done += (size_t)got;
  }
  return true;
}

off_t ag_log_scan(int fd, ag_log_visit visit, void *self) {
  char begin[16];
  if (!read_at(fd, begin, sizeof begin, 0) || memcmp(begin, signature, 8) || memcmp(begin + 8, &byte_order, 8))
    return 0;
  off_t at = sizeof begin;
  size_t room = 0;
  char *payload = NULL;
  head h;
  while (read_at(fd, &h, sizeof h, at) && h.mark == MARK && h.length <= MAX_FRAME) {
    if (h.length > room) {
      room = (size_t)h.length;
      payload = ag_heap_grow(payload, room);
    }
    if (!read_at(fd, payload, (size_t)h.length, at + (off_t)sizeof h) || checksum(&h, at, payload) != h.check) break;
    at += (off_t)(sizeof h + h.length);
    if (!visit(self, (int)h.kind, payload, (size_t)h.length)) break;
  }
  free(payload);
  return at;
}

static bool take(void *self, int kind, const char *payload, size_t n) {
  ag_log_content *c = self;
  if (kind == AG_FRAME_FIELDS) {
    if (!ag_fields_decode(&c->fields, payload, n)) return false;
    int n_column, before = c->n_event;
    ag_fields_layout(&c->fields, &n_column, &c->width, &c->n_event);
    if (c->n_event == before) return true;
    c->event_count = ag_heap_grow(c->event_count, sizeof(long) * (size_t)c->n_event);
    for (int i = before; i < c->n_event; i++) c->event_count[i] = 0;
  } else if (kind == AG_FRAME_ROWS) {
    if (!c->width || n % (sizeof(double) * (size_t)c->width)) return false;
    c->n_row += (long)(n / (sizeof(double) * (size_t)c->width));
  } else if (kind == AG_FRAME_EVENTS) {
    for (size_t i = 0; i + 2 * sizeof(double) <= n; i += 2 * sizeof(double)) {
      double pair[2];
      memcpy(pair, payload + i, sizeof pair);
      if (!(pair[0] >= 0 && pair[0] < c->n_event)) return false;
      c->event_count[(int)pair[0]]++;
    }
  }
  return true;
}

void ag_log_read(int fd, ag_log_content *c) {
  *c = (ag_log_content){0};
  c->good = ag_log_scan(fd, take, c);
}

void ag_log_content_done(ag_log_content *c) {
  ag_fields_done(&c->fields);
  free(c->event_count);
  *c = (ag_log_content){0};
}
