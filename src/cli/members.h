/* SPDX-License-Identifier: MIT
 * The members of a batch as numbers: parameters and completed start of each, from a model and what is swept. */
#ifndef AG_CLI_MEMBERS_H
#define AG_CLI_MEMBERS_H
#include "cli/grid.h"
#include "cli/level.h"
#include "cli/source.h"

typedef struct ag_members {
  ag_source source;    /* the model, its swept start values made parameters */
  size_t text_size;    /* of the text as it was, before lines were added to it */
  long n, n_ready;     /* all of them; those that can start */
  bool *is_param;      /* per swept name: a parameter, not a start value */
  double *values;      /* n x n_name: swept values */
  long *index;         /* per member that can start: which of all */
  double *params, *x0; /* of those that can start */
  char **reason;       /* per member of all: why it cannot start, or NULL */
  bool *off;           /* per member of all: that is because there is no start on the level */
  long n_off;
} ag_members;

/* Where and how members start. */
typedef struct ag_members_options {
  double t0;
  bool strict;
  const char *section; /* the one asked for, or NULL */
  ag_levels *levels;   /* starts are put on these; empty: they are taken as they are */
} ag_members_options;
/* Loads the model and completes every start. What is solved for joins the names of the grid. On trouble m->source.ctx
 * holds the errors. */
AG_MUST_USE ag_status ag_members_create(ag_members *m, const char *word, const ag_common *common, ag_grid *sweep,
                                        const ag_members_options *o);
void ag_members_done(ag_members *m);
#endif
