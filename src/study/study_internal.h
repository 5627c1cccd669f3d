/* SPDX-License-Identifier: MIT
 * Inside study/: grids, and starts on a level. */
#ifndef AG_STUDY_STUDY_INTERNAL_H
#define AG_STUDY_STUDY_INTERNAL_H
#include "study/study.h"

/* ---- grid.c ---- */

/* Reads NAME=LO:HI:N texts and a table (path NULL: none). Ends that are constants are known then. An error is one line
 * in error; AG_WRONG or, for a file that cannot be read, AG_SYSTEM. */
AG_MUST_USE ag_status ag_grid_read(ag_grid *s, const ag_list *ranges, const char *table, const char *known,
                                   ag_text *error);
void ag_grid_done(ag_grid *s);
/* Adds names that are solved for, with first guesses. */
void ag_grid_solve(ag_grid *s, int n, char *const *names, const double *guess);
/* The ends of a range: fills its points, the last one exactly hi. */
void ag_grid_ends(ag_axis *axis, double lo, double hi);
/* The n_name values of a member, counted from 0. */
void ag_grid_values(const ag_grid *s, long member, double *values);

/* ---- level.c ---- */

/* Starts on which energy and observables have given values, and which lie on the section. Some start values (or
 * parameters) are unknowns; the others are held. */
typedef struct ag_levels {
  int n;              /* levels */
  char **names;       /* energy, an observable or one of its numbers */
  const char **texts; /* "NAME=VALUE", VALUE an expression of the parameters */
  int n_solve;
  char **solve; /* one name for each level; behind them one for the section, or none */
  int section;  /* 1 + its index, 0: none */
  /* of the loaded model */
  int *column;            /* per level: its place in a record */
  ag_tape *tape;          /* the values of the levels over the parameters */
  double *guess;          /* per unknown: its value in the model */
  ag_along *along;        /* derivatives of level minus value for each, then of the section */
  ag_start_along *starts; /* those of the start */
} ag_levels;
enum { AG_LEVELS_MAX = 8 }; /* unknowns */

/* Reads the options (solve NULL: to be chosen). Trouble: one line in error. */
AG_MUST_USE ag_status ag_levels_read(ag_levels *l, const ag_list *levels, const char *solve, ag_text *error);
void ag_levels_done(ag_levels *l);
/* Chooses the unknowns where they were not given, and takes first guesses from the model. Swept names
 * and those of --set are held. */
AG_MUST_USE ag_status ag_levels_choose(ag_levels *l, ag_ctx *ctx, const ag_system *sys, const ag_members_request *r,
                                       const ag_grid *sweep);
/* Reads the values of the levels in the scope of the model that all members share, and differentiates them. */
AG_MUST_USE ag_status ag_levels_bind(ag_levels *l, ag_ctx *ctx, const ag_varied *v, int n_name);

/* ---- level_solve.c ---- */

/* A member to be put on the levels. */
typedef struct ag_levels_member {
  ag_varied *varied;
  double t0;
  bool strict;
  int n_name;
  double *values;     /* per name; the last ones are those solved for, and are set: to NaN when there is no start */
  double *params, *x; /* set: its parameters and completed start */
} ag_levels_member;
/* Solves for the unknowns: the root in which the section is crossed in its direction; of several the one with the
 * larger first unknown. NULL when found; else why not. */
const char *ag_levels_solve(const ag_levels *l, const ag_levels_member *m);
#endif
