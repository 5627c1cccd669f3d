/* SPDX-License-Identifier: MIT
 * The graph of expressions: looking at nodes, building, differentiating and printing them.
 *
 * One append-only arena of nodes named by 32-bit ids; equal nodes have equal ids. A node is a scalar, a column vector
 * (n x 1) or a matrix. Rotations stay rotations until they are lowered to scalars, so that R^T R = 1, dot(Ra, Rb) =
 * dot(a, b) and cross(Ra, Rb) = R cross(a, b) apply. Every builder simplifies as it builds. Derivatives are nodes
 * again. Shapes are the caller's duty: a wrong shape is an AG_ASSERT. */
#ifndef AG_EXPR_GRAPH_H
#define AG_EXPR_GRAPH_H
#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"
#include "expr/op.h"

typedef uint32_t ag_id; /* a node; 0 is no node */
typedef struct ag_graph ag_graph;

/* NAMED: real, and a name for an expression; a formula has it before other inputs. PARAM: real, and the same for a
 * whole motion: what depends on such inputs alone is computed once. */
typedef enum ag_leaf { AG_LEAF_REAL, AG_LEAF_ROTATION, AG_LEAF_NAMED, AG_LEAF_PARAM } ag_leaf;

ag_graph *ag_graph_create(void);
void ag_graph_free(ag_graph *g);
int ag_graph_count(const ag_graph *g);

/* ---- setting nodes aside ----
 * ag_aside_begin, building, ag_aside_take: the nodes built since then are taken out of the graph; no older node may
 * need them. ag_aside_return rebuilds what the roots need, and replaces the roots by their new ids. */
typedef struct ag_aside ag_aside;
ag_aside *ag_aside_begin(const ag_graph *g);
void ag_aside_take(ag_aside *a, ag_graph *g);
void ag_aside_return(const ag_aside *a, ag_graph *g, int n_root, ag_id *roots);
void ag_aside_free(ag_aside *a);

/* ---- looking at nodes ---- */
ag_op ag_node_op(const ag_graph *g, ag_id x);
int ag_node_rows(const ag_graph *g, ag_id x);
int ag_node_cols(const ag_graph *g, ag_id x);
int ag_node_n_arg(const ag_graph *g, ag_id x);
ag_id ag_node_arg(const ag_graph *g, ag_id x, int i);
const char *ag_node_name(const ag_graph *g, ag_id x);           /* of an input, else NULL */
void ag_node_index(const ag_graph *g, ag_id x, int *i, int *j); /* of an entry: row, column; of rows: the first */
bool ag_is_scalar(const ag_graph *g, ag_id x);
bool ag_is_zero(const ag_graph *g, ag_id x);               /* a structural zero of any shape */
bool ag_is_num(const ag_graph *g, ag_id x, double *value); /* a scalar constant */
/* Numbers are folded while building: the number of arguments (smaller ids) of the operation that gave x, at most 3; 0:
 * x was given as it is. For readers that care about rounding. */
int ag_num_origin(const ag_graph *g, ag_id x, ag_op *op, ag_id *args);
bool ag_is_rotation(const ag_graph *g, ag_id x); /* known to be orthogonal with determinant 1 */
/* Does any of outs depend on any of the inputs? */
bool ag_depends(const ag_graph *g, int n_out, const ag_id *outs, int n_in, const ag_id *inputs);
/* The same for each of many, in one pass. */
void ag_depends_each(const ag_graph *g, int n_out, const ag_id *outs, int n_in, const ag_id *inputs, bool *depends);
/* Value when x is constant (depends on no input); false otherwise. Row-major into value[rows*cols]. */
bool ag_constant(ag_graph *g, ag_id x, double *value);

/* ---- leaves ---- */
ag_id ag_num(ag_graph *g, double v);
ag_id ag_zero(ag_graph *g, int rows, int cols); /* ag_num(0) when 1 x 1 */
ag_id ag_eye(ag_graph *g, int n);
/* A new input, distinct from all others. Storage: rows*cols numbers row-major; a rotation is 3 x 3 and stored as a
 * unit quaternion (w,x,y,z), body to space, R = 1 + 2w[v] + 2[v]^2; its tangent is the body angular velocity. */
ag_id ag_input(ag_graph *g, const char *name, int rows, int cols, ag_leaf kind);
int ag_input_storage(const ag_graph *g, ag_id x); /* 4 for a rotation */
int ag_input_tangent(const ag_graph *g, ag_id x); /* 3 for a rotation */
ag_id ag_stored(ag_graph *g, ag_id input);        /* its stored numbers as a column (the quaternion of a rotation) */

/* ---- building ---- */
ag_id ag_add(ag_graph *g, ag_id a, ag_id b); /* same shape */
ag_id ag_sub(ag_graph *g, ag_id a, ag_id b);
ag_id ag_neg(ag_graph *g, ag_id a);
/* scalar*scalar, scalar*tensor (either order), matrix*matrix, matrix*vector; column*row is the outer product */
ag_id ag_mul(ag_graph *g, ag_id a, ag_id b);
ag_id ag_div(ag_graph *g, ag_id a, ag_id b);              /* b scalar */
ag_id ag_pow(ag_graph *g, ag_id a, ag_id b);              /* scalars; constant whole exponents become products */
ag_id ag_apply(ag_graph *g, ag_op op, const ag_id *args); /* any scalar operation of op.def */
ag_id ag_apply1(ag_graph *g, ag_op op, ag_id a);
ag_id ag_apply2(ag_graph *g, ag_op op, ag_id a, ag_id b);
ag_id ag_select(ag_graph *g, ag_id condition, ag_id a, ag_id b); /* a where condition != 0, else b; any shape */
ag_id ag_dot(ag_graph *g, ag_id a, ag_id b);                     /* columns of equal length */
ag_id ag_cross(ag_graph *g, ag_id a, ag_id b);                   /* 3 x 1 */
ag_id ag_hat(ag_graph *g, ag_id a);                              /* 3 x 1 -> 3 x 3, hat(a) b = a x b */
ag_id ag_norm(ag_graph *g, ag_id a);                             /* derivative 0 at 0 */
ag_id ag_transpose(ag_graph *g, ag_id a);
ag_id ag_stack(ag_graph *g, int rows, int cols, const ag_id *entries); /* scalars, row-major */
ag_id ag_concat(ag_graph *g, int n, const ag_id *columns);             /* columns below each other */
ag_id ag_entry(ag_graph *g, ag_id a, int i, int j);                    /* indices from 0 */
ag_id ag_rows_of(ag_graph *g, ag_id a, int from, int n);               /* rows from..from+n-1 */
ag_id ag_det(ag_graph *g, ag_id a);
/* Marks a 3 x 3 expression that the caller knows to be a rotation (constructors), so that the rules apply. */
ag_id ag_rotation(ag_graph *g, ag_id a);

/* Solution of A x = b (b: n x m). The kind says how it is lowered. SPD: LDL^T without pivoting, fails on a pivot
 * <= 0. NEAR_EYE: LU without pivoting, for matrices the caller keeps near the identity; fails on a small pivot.
 * GENERAL: cofactors up to 3 x 3, pivoted LU above. Differentiated as A^-1 (db - dA x). */
typedef enum ag_solve_kind { AG_SOLVE_GENERAL, AG_SOLVE_SPD, AG_SOLVE_NEAR_EYE } ag_solve_kind;
ag_id ag_solve(ag_graph *g, ag_id A, ag_id b, ag_solve_kind kind);
ag_id ag_inverse(ag_graph *g, ag_id A);

/* ---- sparse symmetric systems ---- */
/* Where a symmetric n x n matrix has entries: each pair (row, col) once, row >= col. Marks say what the unknowns are
 * (NULL: all plain, for a positive definite matrix). The multipliers of a saddle matrix [M S^T; S 0] have negative
 * pivots. Each is eliminated after the plain unknowns in its row of S, so that with M positive definite and
 * S of full rank no pivot is zero and its sign is known, in whatever state. It does not wait for those marked as hubs
 * (unknowns that very many rows share, and would join): the caller knows that S has full rank without them. */
typedef enum ag_mark { AG_MARK_PLAIN, AG_MARK_MULTIPLIER, AG_MARK_HUB } ag_mark;
typedef struct ag_pattern {
  int n, n_entry;
  const int *row, *col;
  const unsigned char *marks; /* ag_mark */
} ag_pattern;

/* The order of elimination (least degree, decided by the pattern alone) and the places of all entries of A = L D L^T.
 */
typedef struct ag_ldl {
  int n, n_entry, n_factor; /* n_factor: entries of L below its diagonal */
  int *order;               /* order[k]: the unknown eliminated as k-th */
  int *place;               /* per entry of the pattern: its place in the rows of the permuted matrix */
  int *table, n_table;      /* what v_ldl reads (ldl.h) */
  int n_block;              /* numbers it works on: the entries, the right-hand side (then the solution), room */
} ag_ldl;
ag_ldl *ag_ldl_create(const ag_pattern *p);
void ag_ldl_free(ag_ldl *f);
int ag_ldl_cost(const ag_ldl *f); /* operations of factorising and solving once */
/* In numbers: x replaces b. Returns how many pivots failed; with lost (n marks) such an unknown is marked and left out,
 * x is 0 there; without, x is NaN. */
int ag_ldl_solve(const ag_ldl *f, const double *entries, double *b, unsigned char *lost);

/* The same for A = L U without exchanges, A any square matrix with a whole diagonal, its entries row by row. The table
 * starts with the size of A, its entries, those of L below the diagonal, and the numbers a step keeps for one matrix
 * (step/sparse_core.h). Owned by the caller. */
enum { AG_LU_N, AG_LU_ENTRIES, AG_LU_LOWER, AG_LU_SQUARE, AG_LU_HEAD };
int *ag_lu_table(const ag_pattern *p);
int ag_lu_size(const int *table); /* numbers in the table */

/* Per unknown the smallest one it is connected with by entries that are not zero; how many groups there are. */
int ag_pattern_connect(const ag_graph *g, const ag_pattern *p, const ag_id *entries, int *label);

/* Solution of A x = b, b one column, A given by its entries in the order of the pattern; where there are several groups
 * of plain unknowns, solved group by group, so that one depends on its own alone. Lowered to small blocks where
 * A falls into such, else to a call of v_ldl; fails on a pivot that is not of its sign. Differentiated like ag_solve.
 */
ag_id ag_solve_sparse(ag_graph *g, const ag_pattern *p, const ag_id *entries, ag_id b);

/* A matrix by its structural nonzeros, row by row, columns ascending. */
typedef struct ag_sparse {
  int n_row, n_col, n_entry;
  int *row, *col;
  ag_id *x;
} ag_sparse;
/* ag_jacobian in that form; the time grows with the number of entries. */
void ag_jacobian_sparse(ag_graph *g, ag_id x, int n_in, const ag_id *inputs, ag_sparse *out);
void ag_sparse_done(ag_sparse *s);

/* ---- changing ---- */
/* outs[i] with every node of from[] (usually inputs) replaced by to[] (same shape). A rotation may be replaced only by
 * something that is a rotation. */
void ag_substitute(ag_graph *g, int n, const ag_id *from, const ag_id *to, int n_out, ag_id *outs);

/* Each x (any shape) in the shortest form found: a polynomial in sines, cosines, components of vectors and other
 * functions, with cos^2 + sin^2 = 1 and |R c| = |c|, like terms collected, quotients cancelled, common factors in
 * front. Left as it is when it is short already, or too large. A sum of known[] that is a factor is written as its name
 * known_as[] (a scalar input). The value is the same up to rounding where x is defined; the domain may grow. */
void ag_normal_form(ag_graph *g, int n_known, const ag_id *known, const ag_id *known_as, int n, ag_id *x);
/* Scalars divided by what all of them share, numbers and products of atoms; the first gets a positive leading term. */
void ag_normal_primitive(ag_graph *g, int n, ag_id *x);
/* Cross products with a common factor that are added become one; all: also those that are used elsewhere. */
void ag_join_crosses(ag_graph *g, bool all, int n, ag_id *x);
/* Symbols and operations written when x is printed. */
int ag_normal_size(const ag_graph *g, ag_id x);

/* ---- differentiation ---- */
/* Forward: tangents[i] (shape of outs[i]) = derivative of outs[i] when each inputs[k] moves with seeds[k]: a tensor
 * of its shape, for a rotation the 3 x 1 body velocity (dR = R hat(seed)). */
void ag_forward(ag_graph *g, int n_in, const ag_id *inputs, const ag_id *seeds, int n_out, const ag_id *outs,
                ag_id *tangents);
/* Reverse: grads[k] = gradient of sum_i <outs[i], weights[i]> in inputs[k]: a tensor of its shape, for a rotation the
 * 3 x 1 left-trivialised gradient (d/de f(R exp(e hat eta)) = grad . eta). */
void ag_reverse(ag_graph *g, int n_out, const ag_id *outs, const ag_id *weights, int n_in, const ag_id *inputs,
                ag_id *grads);
/* Jacobian of the column x (m x 1) in the inputs: m x (sum of tangents), columns in the order of the inputs. */
ag_id ag_jacobian(ag_graph *g, ag_id x, int n_in, const ag_id *inputs);

/* ---- printing ---- */
/* As the model language writes it, so that it parses back to the same node; and as LaTeX. Inputs print their names. */
void ag_print(const ag_graph *g, ag_id x, ag_text *out);
void ag_print_latex(const ag_graph *g, ag_id x, ag_text *out);
/* For reading: sums and products in a settled order, fractions instead of decimals. */
void ag_print_formula(const ag_graph *g, ag_id x, bool latex, ag_text *out);
#endif
