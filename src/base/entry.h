/* SPDX-License-Identifier: MIT
 * Names of entries, as users write them: "x[2]" of a vector, "A[1,2]" of a matrix, "x[4]" of a family. They are written
 * and read here and nowhere else. */
#ifndef AG_BASE_ENTRY_H
#define AG_BASE_ENTRY_H
#include "base/arena.h"
#include "base/text.h"

/* Name of an entry of a quantity of that shape, counted row by row from 0: "x" (a scalar), "x[2]", "A[1,2]". */
void ag_entry_name(const char *name, int rows, int cols, int entry, ag_text *out);
/* And back: the entry, -1 for the whole, -2 if `wanted` is neither. */
int ag_entry_find(const char *name, int rows, int cols, const char *wanted);
/* Entry i of a vector, member i of a family, counted from 0: "x[2]" for i = 1. Entry i, j of a matrix. */
const char *ag_entry_of(ag_arena *arena, const char *name, int i);
const char *ag_entry_of_matrix(ag_arena *arena, const char *name, int i, int j);
#endif
