/* SPDX-License-Identifier: MIT */
#include "base/arena.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 1 << 16, ALIGN = 16 };

typedef struct block {
  struct block *next;
  size_t size, used;
  _Alignas(ALIGN) unsigned char data[];
} block;

struct ag_arena {
  block *head;
  size_t used;
};

ag_arena *ag_arena_create(void) { return ag_heap_alloc(sizeof(ag_arena)); }

void ag_arena_free(ag_arena *a) {
  if (!a) return;
  for (block *b = a->head; b;) {
    block *next = b->next;
    free(b);
    b = next;
  }
  free(a);
}

void *ag_arena_alloc(ag_arena *a, size_t size) {
  if (size > SIZE_MAX / 2) ag_heap_fail("out of memory"); /* rounding up must not wrap around */
  size_t need = (size + ALIGN - 1) / ALIGN * ALIGN;
  if (!a->head || a->head->size - a->head->used < need) {
    size_t room = need > BLOCK ? need : BLOCK;
    block *b = ag_heap_alloc(sizeof(block) + room);
    b->size = room;
    /* an oversized block goes after the head, so that the free space of the head is not lost */
    if (a->head && need > BLOCK) {
      b->next = a->head->next;
      a->head->next = b;
      b->used = need;
      a->used += need;
      return b->data;
    }
    b->next = a->head;
    a->head = b;
  }
  void *p = a->head->data + a->head->used;
  a->head->used += need;
  a->used += need;
  return p;
}

char *ag_arena_strn(ag_arena *a, const char *s, size_t n) {
  char *p = ag_arena_alloc(a, n + 1);
  memcpy(p, s, n);
  return p;
}

char *ag_arena_str(ag_arena *a, const char *s) { return ag_arena_strn(a, s, strlen(s)); }

char *ag_arena_printf(ag_arena *a, const char *format, ...) {
  va_list args, again;
  va_start(args, format);
  va_copy(again, args);
  int n = vsnprintf(NULL, 0, format, args);
  va_end(args);
  char *p = ag_arena_alloc(a, (size_t)n + 1);
  vsnprintf(p, (size_t)n + 1, format, again);
  va_end(again);
  return p;
}

size_t ag_arena_used(const ag_arena *a) { return a->used; }
