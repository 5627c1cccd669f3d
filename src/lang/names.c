/* SPDX-License-Identifier: MIT */
#include "lang/names.h"

#include <stdlib.h>
#include <string.h>

static uint32_t hash(const char *s, size_t n) {
  uint32_t h = 2166136261u; /* FNV-1a */
  for (size_t i = 0; i < n; i++) h = (h ^ (unsigned char)s[i]) * 16777619u;
  return h;
}

static void grow(ag_names *t) {
  uint32_t size = t->size ? 2 * t->size : 256;
  free(t->table);
  t->table = ag_heap_alloc(sizeof *t->table * size);
  t->size = size;
  for (int i = 0; i < t->n; i++) {
    uint32_t h = hash(t->text[i], strlen(t->text[i])) & (size - 1);
    while (t->table[h]) h = (h + 1) & (size - 1);
    t->table[h] = (uint32_t)i + 1;
  }
}

void ag_names_init(ag_names *t, ag_arena *arena) {
  *t = (ag_names){.arena = arena};
  ag_names_id(t, "", 0);
}

void ag_names_done(ag_names *t) {
  free(t->text);
  free(t->table);
  *t = (ag_names){0};
}

int ag_names_id(ag_names *t, const char *s, size_t n) {
  if ((uint32_t)t->n * 2 >= t->size) grow(t);
  uint32_t h = hash(s, n) & (t->size - 1);
  for (; t->table[h]; h = (h + 1) & (t->size - 1)) {
    const char *have = t->text[t->table[h] - 1];
    if (!strncmp(have, s, n) && !have[n]) return (int)t->table[h] - 1;
  }
  AG_PUSH(t->text, t->n, t->cap);
  t->text[t->n] = ag_arena_strn(t->arena, s, n);
  t->table[h] = (uint32_t)t->n + 1;
  return t->n++;
}
