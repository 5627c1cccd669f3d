/* SPDX-License-Identifier: MIT
 * What is different from member to member of a batch: ranges of --sweep and the rows of a table of --starts. Several
 * make a grid, the last one running fastest. */
#ifndef AG_CLI_GRID_H
#define AG_CLI_GRID_H
#include "base/status.h"
#include "base/text.h"
#include "cli/option.h"

/* One direction of the grid: n points, each a value for every one of its names. */
typedef struct ag_axis {
  int n_name;
  char **names;
  char *lo, *hi; /* of a range: its ends as written; NULL for a table */
  long n;
  double *values; /* n x n_name; of a range only when its ends are known */
} ag_axis;

typedef struct ag_grid {
  int n_axis, n_name;
  ag_axis *axes;
  char **names; /* of all axes in order; owned by them */
  long n;       /* members */
  int n_solved; /* so many names at the end, an axis of one point, are solved for in every member */
} ag_grid;

/* Reads NAME=LO:HI:N texts and a table (path NULL: none). Ends that are constants are known then. Trouble: one line in
 * error; AG_WRONG or, for a file that cannot be read, AG_SYSTEM. */
AG_MUST_USE ag_status ag_grid_read(ag_grid *s, const ag_list *ranges, const char *table, ag_text *error);
void ag_grid_done(ag_grid *s);
/* Adds names that are solved for, with first guesses. */
void ag_grid_solve(ag_grid *s, int n, char *const *names, const double *guess);
/* The ends of a range: fills its points, the last one exactly hi. */
void ag_grid_ends(ag_axis *axis, double lo, double hi);
/* The n_name values of a member, counted from 0. */
void ag_grid_values(const ag_grid *s, long member, double *values);
#endif
