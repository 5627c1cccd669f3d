/* SPDX-License-Identifier: MIT
 * What the rules of simplify*.c share. A rule looks at a request and gives the simplified node, or 0. */
#ifndef AG_EXPR_SIMPLIFY_INTERNAL_H
#define AG_EXPR_SIMPLIFY_INTERNAL_H
#include "expr/graph_internal.h"

static inline ag_op op_of(const ag_graph *g, ag_id x) { return g->nodes[x].op; }
static inline ag_id arg(const ag_graph *g, ag_id x, int i) { return ag_node_arg(g, x, i); }
static inline bool is_op(const ag_graph *g, ag_id x, ag_op op) { return op_of(g, x) == op; }

/* clang-format off */
#define AG_RULE(OP, FUNCTION) {AG_OP_##OP, FUNCTION, #OP ": " #FUNCTION}
/* clang-format on */

/* x = c*base with a number c; true when c is written in x. */
bool ag_split_number(const ag_graph *g, ag_id x, double *c, ag_id *base);
/* The number op(c, d), which keeps that it came from them. */
ag_id ag_folded(ag_graph *g, ag_op op, double c, double d);
/* x = factor*rest with a number, a scalar or a sign in front; false when there is none. */
bool ag_split_scale(ag_graph *g, ag_id x, ag_id *factor, ag_id *rest);
bool ag_masked(const ag_graph *g, ag_id x);           /* a choice with a zero branch */
ag_id ag_rule_mask(ag_graph *g, const ag_request *r); /* f(if c then 0 else u) = if c then 0 else f(u), f linear */
ag_id ag_cross_entry(ag_graph *g, ag_id a, ag_id b, int i); /* (a x b)[i] */
/* Rules of several operations: f(0) = 0; f(s a) = s f(a), f(-a) = -f(a) in every linear argument. */
ag_id ag_rule_zero(ag_graph *g, const ag_request *r);
ag_id ag_rule_scale(ag_graph *g, const ag_request *r);
#endif
