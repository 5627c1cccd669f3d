/* SPDX-License-Identifier: MIT
 * Internals of tapes: the scalars of a tape before they have slots, for tape.c and factor.c. */
#ifndef AG_EXPR_TAPE_INTERNAL_H
#define AG_EXPR_TAPE_INTERNAL_H
#include "expr/graph_internal.h"

enum { AG_PART_PREP, AG_PART_EVAL };

/* Arguments are indices of such nodes, which come before their users, except: LOAD (segment, index), CONST (constant),
 * CALL_SOLVE (n, position of its arguments in the pool), CALL_LDL (which, position), PICK (solve node, entry). */
typedef struct ag_tnode {
  uint16_t op;
  uint8_t part, n_arg, gone; /* gone: swallowed by a fused operation */
  uint32_t arg[3];
  uint32_t uses;    /* by live nodes and outputs; a solve counts the uses of its picks */
  uint32_t depth;   /* operations on the longest way from an input */
  uint32_t need;    /* estimate of the slots its evaluation holds at once */
  uint8_t first[3]; /* the order in which its arguments are evaluated */
  uint32_t slot;
} ag_tnode;

typedef struct ag_tnodes {
  ag_tnode *at;
  uint32_t n, n_ref;
  uint32_t *refs; /* nodes that are read otherwise: arguments of solves, outputs */
} ag_tnodes;

/* Operations of one instruction (ag_tape_cost) with this first argument. */
int ag_instr_cost(const ag_tape *tape, int op, uint32_t a);

/* Writes sums of products with fewer operations, where that is possible: the same values up to rounding, never more
 * operations per evaluation. */
void ag_factor(ag_tnodes *nodes);
#endif
