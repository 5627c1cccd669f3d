/* SPDX-License-Identifier: MIT
 * Chooses which nodes of a model are written as `let`s: the user's own lets, rotations that must be declared, and
 * shared or deeply nested subexpressions. Used only by write.c. */
#ifndef AG_LANG_CUT_H
#define AG_LANG_CUT_H
#include "lang/names.h"
#include "model/parts.h"

typedef struct ag_cut {
  ag_id node, input; /* the node that is replaced, and the input printed in its place */
  const char *name;
} ag_cut;

typedef struct ag_cuts {
  ag_arena *arena;
  ag_graph *g;
  ag_cut *at; /* in the order of nodes */
  int n, cap;
  int *index; /* node -> 1 + index in at, or 0; for nodes below n_index */
  int n_index;
  ag_id *from, *to;    /* nodes and inputs, for ag_substitute */
  ag_id *shown;        /* root -> the node printed for it */
  unsigned char *seen; /* nodes below which all cuts have been written */
} ag_cuts;

/* Chooses the cuts for everything that will be printed. */
void ag_cut_init(ag_cuts *c, const ag_model *m, int n_root, const ag_id *roots);
void ag_cut_done(ag_cuts *c);
/* The node printed for x, with cuts replaced by their names. */
ag_id ag_cut_shown(ag_cuts *c, ag_id x);
/* The node printed as the value of a cut. */
ag_id ag_cut_value(ag_cuts *c, const ag_cut *cut);
/* The cuts that x needs and that were not returned before, in the order of nodes: *n indices, to be freed. */
int *ag_cut_needed(ag_cuts *c, ag_id x, int *n);
#endif
