/* SPDX-License-Identifier: MIT
 * `--level NAME=VALUE --solve NAMES`: starts on which energy and observables have given values, and which lie on the
 * section. Some start values (or parameters) are unknowns; the others are held. */
#ifndef AG_CLI_LEVEL_H
#define AG_CLI_LEVEL_H
#include "cli/grid.h"
#include "cli/source.h"
#include "run/run.h"

typedef struct ag_levels {
  int n;               /* levels */
  char **names;        /* energy, an observable or one of its numbers */
  const char **values; /* expressions of the parameters */
  int n_solve;
  char **solve; /* one name for each level; behind them one for the section, or none */
  int section;  /* 1 + its index, 0: none */
  /* of the loaded model */
  int *column, *param; /* per level: its place in a record, that of its value among the parameters */
  double *guess;       /* per unknown: what the model says */
} ag_levels;

/* Reads the options (solve NULL: to be chosen). Trouble: one line in error. */
AG_MUST_USE ag_status ag_levels_read(ag_levels *l, const ag_list *levels, const char *solve, ag_text *error);
void ag_levels_done(ag_levels *l);
/* Decides what is solved for, where it was not said, and takes first guesses from the model as it stands. Swept names
 * and those of --set are held. Trouble goes to s->ctx. */
AG_MUST_USE ag_status ag_levels_choose(ag_levels *l, ag_source *s, const ag_common *common, const ag_grid *sweep);
/* Lines for the text of the model that make the values parameters; and where these are in the model read with them. */
void ag_levels_lines(const ag_levels *l, ag_text *out);
AG_MUST_USE ag_status ag_levels_bind(ag_levels *l, ag_source *s);

/* The completed start for values of the unknowns. False: there is none. params are then those of the member. */
typedef bool (*ag_levels_start)(void *self, const double *unknown, double *params, double *x);
/* Solves for the unknowns of one member: the root in which the section is crossed in its direction; of several the one
 * with the larger first unknown. NULL when found, with unknown, params and x set; else why not. */
const char *ag_levels_solve(const ag_levels *l, const ag_system *sys, double t0, ag_levels_start start, void *self,
                            double *unknown, double *params, double *x);
#endif
