/* SPDX-License-Identifier: MIT
 * Arenas: memory that is allocated piece by piece and freed all at once. Graph, model and system have one arena each.
 * Memory is zeroed. Allocation never returns NULL (base/heap.h). */
#ifndef AG_BASE_ARENA_H
#define AG_BASE_ARENA_H
#include <stddef.h>

#include "base/heap.h"

typedef struct ag_arena ag_arena;

ag_arena *ag_arena_create(void);
void ag_arena_free(ag_arena *a);

/* Zeroed memory, 16-byte aligned, valid until the arena is freed. */
void *ag_arena_alloc(ag_arena *a, size_t size);
/* Copies of a string (whole, or its first n bytes, always terminated). */
char *ag_arena_str(ag_arena *a, const char *s);
char *ag_arena_strn(ag_arena *a, const char *s, size_t n);
/* printf into the arena. */
char *ag_arena_printf(ag_arena *a, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Bytes allocated so far: lets callers bound the memory that untrusted input can use. */
size_t ag_arena_used(const ag_arena *a);

#define AG_NEW(arena, type) ((type *)ag_arena_alloc((arena), sizeof(type)))
#define AG_NEWN(arena, type, n) ((type *)ag_arena_alloc((arena), sizeof(type) * (size_t)(n)))
#endif
