/* SPDX-License-Identifier: MIT
 * Interned names: equal texts get the same small integer. Parser and builder share one table, so a scope is an array
 * indexed by name. */
#ifndef AG_LANG_NAMES_H
#define AG_LANG_NAMES_H
#include <stdint.h>

#include "base/arena.h"

typedef struct ag_names {
  ag_arena *arena;   /* owns the texts */
  const char **text; /* by number; text[0] is "" */
  int n, cap;
  uint32_t *table, size;
} ag_names;

void ag_names_init(ag_names *names, ag_arena *arena);
void ag_names_done(ag_names *names);
/* The number of the name with n bytes at s; a new name gets the next number. */
int ag_names_id(ag_names *names, const char *s, size_t n);
#endif
