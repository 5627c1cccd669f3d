/* SPDX-License-Identifier: MIT
 * Inside kern/: a list of places written as an expression of the loop's variables: a + b k + c j where they are so,
 * else with a table. Equal tables, and those that differ by a constant, are written once. */
#ifndef AG_KERN_ROLL_INDEX_H
#define AG_KERN_ROLL_INDEX_H
#include <stdint.h>

#include "base/text.h"

struct ag_roll_table;
typedef struct ag_roll_index {
  const char *name; /* tables are called NAME_i0, NAME_i1, ... */
  ag_text *out;     /* receives their definitions */
  struct ag_roll_table *tables;
  int n_table, cap_table;
} ag_roll_index;

/* An expression whose value is at[] of row k = 0 .. n-1 (k does not occur when n is 1) and, with n_col, of column
 * j = 0 .. n_col[k]-1; at[] has the rows one after the other. */
void ag_roll_index_put(ag_roll_index *x, const int *at, uint32_t n, const uint32_t *n_col, ag_text *out);
/* The same for the numbers constants[at[]]: one C constant when they are all equal. */
void ag_roll_index_number(ag_roll_index *x, const double *constants, const int *at, uint32_t n, const uint32_t *n_col,
                          ag_text *out);
void ag_roll_index_done(ag_roll_index *x);
#endif
