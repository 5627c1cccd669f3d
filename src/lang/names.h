/* SPDX-License-Identifier: MIT
 * Names become small whole numbers: the same text, the same number. Parser and builder share one table, so that a scope
 * is an array and looking up a name costs nothing. */
#ifndef AG_LANG_NAMES_H
#define AG_LANG_NAMES_H
#include <stdint.h>

#include "base/arena.h"

typedef struct ag_names {
  ag_arena *arena;   /* holds the texts */
  const char **text; /* by number; text[0] is "" */
  int n, cap;
  uint32_t *table, size;
} ag_names;

void ag_names_init(ag_names *names, ag_arena *arena);
void ag_names_done(ag_names *names);
/* The number of a name, new ones get the next; n bytes of s. */
int ag_names_id(ag_names *names, const char *s, size_t n);
#endif
