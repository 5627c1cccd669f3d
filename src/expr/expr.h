/* SPDX-License-Identifier: MIT
 * Expressions: front header of expr/, which knows nothing of mechanics.
 *
 *   op.h     the operations, each one row of op.def (scalars) or tensor.def (vectors, matrices)
 *   graph.h  ag_graph, ag_id: inputs and expressions; building, simplifying, differentiating, solving, printing
 *   tape.h   ag_tape: outputs of a graph as straight-line code over the segments of segment.def, and its interpreter
 *
 * From a formula to its value:
 *   ag_graph_create, ag_input        a graph and its inputs
 *   ag_add, ag_mul, ag_apply, ...    expressions of them
 *   ag_forward, ag_reverse           derivatives, as expressions
 *   ag_print, ag_print_latex         for reading
 *   ag_tape_create                   from inputs, bound to segments, to outputs
 *   ag_tape_prep, ag_tape_eval       numbers; ag_evaluate does it all once */
#ifndef AG_EXPR_EXPR_H
#define AG_EXPR_EXPR_H
#include "expr/graph.h"
#include "expr/op.h"
#include "expr/tape.h"
#endif
