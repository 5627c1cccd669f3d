/* SPDX-License-Identifier: MIT */
#include "base/entry.h"

#include <stdio.h>
#include <string.h>

/* How an index is written, of vectors and of matrices. */
#define ROW "[%d]"
#define ROW_COL "[%d,%d]"

void ag_entry_name(const char *name, int rows, int cols, int entry, ag_text *out) {
  ag_text_str(out, name);
  if (cols > 1) ag_text_printf(out, ROW_COL, entry / cols + 1, entry % cols + 1);
  else if (rows > 1) ag_text_printf(out, ROW, entry + 1);
}

int ag_entry_find(const char *name, int rows, int cols, const char *wanted) {
  size_t n = strlen(name);
  int row = 0, col = 1, end = 0;
  if (strncmp(name, wanted, n)) return -2;
  if (!wanted[n]) return -1;
  if (rows * cols == 1) return -2;
  if (cols > 1) (void)sscanf(wanted + n, ROW_COL "%n", &row, &col, &end);
  else (void)sscanf(wanted + n, ROW "%n", &row, &end);
  if (!end || row < 1 || row > rows || col < 1 || col > cols) return -2;
  int entry = (row - 1) * cols + col - 1;
  char text[40]; /* written as by ag_entry_name, not as "x[ 2]"; without allocating, as motions are read unguarded */
  if (cols > 1) snprintf(text, sizeof text, ROW_COL, row, col);
  else snprintf(text, sizeof text, ROW, row);
  return strcmp(text, wanted + n) ? -2 : entry;
}

const char *ag_entry_of(ag_arena *arena, const char *name, int i) {
  return ag_arena_printf(arena, "%s" ROW, name, i + 1);
}

const char *ag_entry_of_matrix(ag_arena *arena, const char *name, int i, int j) {
  return ag_arena_printf(arena, "%s" ROW_COL, name, i + 1, j + 1);
}
