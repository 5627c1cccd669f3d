/* SPDX-License-Identifier: MIT
 * Inside the elimination: shared by eliminate.c and eliminate_groups.c. */
#ifndef AG_MECH_ELIMINATE_INTERNAL_H
#define AG_MECH_ELIMINATE_INTERNAL_H
#include "mech/mech_internal.h"

/* A velocity not yet eliminated: a whole coordinate (row -1) or one component. */
typedef struct leaf {
  ag_id input;
  int coord, row;
} leaf;

typedef struct elim {
  derive *d;
  ag_graph *g;
  int n_block, n_row, n_leaf;
  ag_id *blocks, *rows; /* current left-hand sides (= 0) */
  ag_id *block_norms,
      *norms; /* squared norms of the rows as stated, over all velocities: the scale of their coefficients */
  leaf *leaves;
  ag_id *frame_u; /* inputs of the frame velocities */
} elim;

/* Connected rows: those that share a velocity. */
typedef struct group {
  int n_row, n_col, rank;
  int *row;  /* indices into e->rows */
  leaf *col; /* scalar velocities */
  ag_id *S;  /* n_row x n_col coefficients */
} group;

/* Coefficients of a row in every leaf (columns). */
void ag_elim_coefficients(elim *e, ag_id row, ag_id *out);

/* The connected groups of the remaining rows; returns how many. groups: room for e->n_row. */
int ag_groups_make(elim *e, group *groups);
/* The independent rows of each group, if more rows are kept than are independent. False: their number is not the known
 * rank. */
bool ag_groups_rank(elim *e, int n_group, group *groups);
/* The best minor of a group (ag_minor_best, `later` as there); 0: there are too many. */
double ag_group_minor(const elim *e, const group *grp, bool later, int *pick);
#endif
