/* SPDX-License-Identifier: MIT
 * Shared by forward.c, reverse.c and diff.c. */
#ifndef AG_EXPR_DIFF_INTERNAL_H
#define AG_EXPR_DIFF_INTERNAL_H
#include <stdlib.h>

#include "expr/graph_internal.h"

/* The nodes that outputs depend on and that depend on inputs, in increasing order. */
typedef struct ag_sweep {
  ag_graph *g;
  ag_id top;
  unsigned char *active; /* per node */
  ag_id *order;
  int n;
} ag_sweep;

void ag_sweep_init(ag_sweep *s, ag_graph *g, int n_out, const ag_id *outs, int n_in, const ag_id *inputs);
void ag_sweep_done(ag_sweep *s);

/* v times the derivative of the scalar operation y in its argument k. */
ag_id ag_chain(ag_graph *g, ag_id y, int k, ag_id v);
/* n, or 1 where the norm n is 0: the derivative of a norm at 0 is 0, and finite however often it is derived. */
ag_id ag_safe_norm(ag_graph *g, ag_id n);
ag_id ag_inner(ag_graph *g, ag_id a, ag_id b); /* sum over i, j of a_ij b_ij */
ag_id ag_vee_skew(ag_graph *g, ag_id S);       /* v with <S, hat(w)> = v.w for all w */
/* Number k of a unit quaternion, x = SLOT(R, k): its gradient in the body velocity, from q' = 1/2 q (0, w). */
ag_id ag_slot_gradient(ag_graph *g, ag_id x);
ag_id ag_cofactors(ag_graph *g, ag_id A, ag_id det); /* derivative of det(A) in A */

/* A forward sweep with room for many seeds. Tangents of matrices that are rotations are kept as a vector:
 * RIGHT: dA = A hat(w), LEFT: dA = hat(w) A. */
typedef enum ag_tangent { AG_TAN_NONE, AG_TAN_TENSOR, AG_TAN_RIGHT, AG_TAN_LEFT } ag_tangent;
typedef struct ag_forward_work {
  ag_sweep sweep;
  unsigned char *kind; /* ag_tangent of every node */
  ag_id *t;
} ag_forward_work;
void ag_forward_init(ag_forward_work *w, ag_graph *g, int n_out, const ag_id *outs, int n_in, const ag_id *inputs);
void ag_forward_done(ag_forward_work *w);
/* Sets the seed of an input; then one sweep; the tangent of an output, ag_zero when there is none; the end of a pass.
 */
void ag_forward_seed(ag_forward_work *w, ag_id input, ag_id seed);
void ag_forward_run(ag_forward_work *w);
ag_id ag_forward_out(ag_forward_work *w, ag_id out);
void ag_forward_reset(ag_forward_work *w);

/* A reverse sweep with room for many weights. */
typedef struct ag_piece {
  ag_id value;
  int i, j, rows, next; /* an entry (rows 0), or rows i .. i + rows - 1 */
} ag_piece;
typedef struct ag_reverse_work {
  ag_sweep sweep;
  ag_id *adj, *vec; /* adjoint; of rotation inputs also the trivialised part */
  int *head, *tail; /* pieces of the adjoint: 0 none, else 1 + index */
  ag_piece *pieces;
  int n_piece, cap_piece;
  ag_id *cone; /* of one output */
  int n_cone, cap_cone;
  unsigned char *in_cone;
} ag_reverse_work;
void ag_reverse_init(ag_reverse_work *w, ag_graph *g, int n_out, const ag_id *outs, int n_in, const ag_id *inputs);
void ag_reverse_done(ag_reverse_work *w);
void ag_reverse_weight(ag_reverse_work *w, ag_id out, ag_id weight);
void ag_reverse_run(ag_reverse_work *w);
ag_id ag_reverse_grad(ag_reverse_work *w, ag_id input);
void ag_reverse_reset(ag_reverse_work *w);
/* The same for one output with weight 1, in a time that depends on its cone alone; then the nonzero entries of its
 * gradient in one input, given to take(self, number of the entry in the tangent, entry), ascending; and the end of a
 * pass. */
void ag_reverse_one(ag_reverse_work *w, ag_id out);
void ag_reverse_entries(ag_reverse_work *w, ag_id input, void (*take)(void *self, int i, ag_id x), void *self);
void ag_reverse_reset_one(ag_reverse_work *w);
#endif
