/* SPDX-License-Identifier: MIT
 * Which nodes of a model are written as `let`s: the person's own lets, rotations that need their mark, and whatever
 * would make the text explode or nest too deeply. Used by write.c alone. */
#ifndef AG_LANG_CUT_H
#define AG_LANG_CUT_H
#include "lang/names.h"
#include "model/model.h"

typedef struct ag_cut {
  ag_id node, input; /* what is cut, and the input that stands for it in what is printed */
  const char *name;
} ag_cut;

typedef struct ag_cuts {
  ag_arena *arena;
  ag_graph *g;
  ag_cut *at; /* by growing node */
  int n, cap;
  int *index; /* node -> 1 + index in at, or 0; up to n_index - 1 */
  int n_index;
  ag_id *from, *to;    /* nodes and inputs, for ag_substitute */
  ag_id *shown;        /* root -> what is printed for it */
  unsigned char *seen; /* nodes below which every cut is written */
} ag_cuts;

/* Chooses the cuts for everything that will be printed. */
void ag_cut_init(ag_cuts *c, const ag_model *m, int n_root, const ag_id *roots);
void ag_cut_done(ag_cuts *c);
/* What is printed for x: cuts are put in. */
ag_id ag_cut_shown(ag_cuts *c, ag_id x);
/* What is printed as the value of a cut. */
ag_id ag_cut_value(ag_cuts *c, const ag_cut *cut);
/* The cuts that x needs and that were not asked for before, by growing node: their indices, to be freed. *n of them. */
int *ag_cut_needed(ag_cuts *c, ag_id x, int *n);
#endif
