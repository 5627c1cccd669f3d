/* SPDX-License-Identifier: MIT
 * The expression graph: front header of expr/.
 *
 * One append-only arena of hash-consed nodes named by 32-bit ids. A node is a scalar, a column vector (n x 1) or
 * a matrix; rotations stay rotations (R^T R = 1, dot(Ra, Rb) = dot(a, b), cross(Ra, Rb) = R cross(a, b)) until
 * they are lowered to scalars. Every builder simplifies while it builds. Differentiation works on the graph,
 * forward and reverse, and gives graph nodes again, so that nothing swells.
 * Lowering (tape.h side, at the bottom) turns tensors into scalars and these into a straight-line tape.
 * expr/ knows nothing of mechanics. Shapes are the caller's duty: a wrong shape is an AG_ASSERT. */
#ifndef AG_EXPR_EXPR_H
#define AG_EXPR_EXPR_H
#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"

typedef uint32_t ag_id; /* a node; 0 is no node */
typedef struct ag_graph ag_graph;

/* Operations: scalar ones are the rows of op.def, tensor ones those of tensor.def. */
typedef enum ag_op {
  AG_OP_NONE,
#define AG_OP(NAME, ...) AG_OP_##NAME,
#define AG_OP_TAPE(NAME, ...) AG_OP_##NAME,
#define AG_OP_BARE(NAME, ...) AG_OP_##NAME,
#include "expr/op.def"
#define AG_OP_TENSOR(NAME, ...) AG_OP_##NAME,
#include "expr/tensor.def"
#undef AG_OP_TENSOR
  AG_OP_COUNT
} ag_op;

enum {
  AG_COMMUTES = 1,   /* f(a, b) = f(b, a) */
  AG_PASSES_NAN = 2, /* a NaN among the arguments always gives NaN */
  AG_CHOOSES = 4     /* jumps, has a corner, or cuts off derivatives: no polynomial, whatever samples say */
};

/* A row of the tables; of a tensor operation text and arity alone. */
typedef struct ag_op_row {
  const char *text;
  int arity;                 /* -1: any number */
  const char *value, *plain; /* C over a, b, c: in the words of vmath.h, and with <math.h> */
  const char *tex;           /* over #1 #2 #3 */
  double lo, hi, ulp;        /* where tests sample the arguments; bound of the error there and everywhere */
  int weight;                /* length of its function in sines */
  unsigned traits;           /* AG_COMMUTES, ... */
} ag_op_row;
const ag_op_row *ag_op_describe(ag_op op);

typedef enum ag_leaf { AG_LEAF_REAL, AG_LEAF_ROTATION } ag_leaf;

ag_graph *ag_graph_create(void);
void ag_graph_free(ag_graph *g);
int ag_graph_count(const ag_graph *g);

/* ---- looking at nodes ---- */
ag_op ag_node_op(const ag_graph *g, ag_id x);
int ag_node_rows(const ag_graph *g, ag_id x);
int ag_node_cols(const ag_graph *g, ag_id x);
int ag_node_n_arg(const ag_graph *g, ag_id x);
ag_id ag_node_arg(const ag_graph *g, ag_id x, int i);
const char *ag_node_name(const ag_graph *g, ag_id x);           /* of an input, else NULL */
void ag_node_index(const ag_graph *g, ag_id x, int *i, int *j); /* of an entry: its row and column, from 0 */
bool ag_is_scalar(const ag_graph *g, ag_id x);
bool ag_is_zero(const ag_graph *g, ag_id x);               /* a structural zero of any shape */
bool ag_is_num(const ag_graph *g, ag_id x, double *value); /* a scalar constant */
bool ag_is_rotation(const ag_graph *g, ag_id x);           /* known to be orthogonal with determinant 1 */
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
 * pivots. Each is eliminated after the plain unknowns that its row of S speaks of, so that with M positive definite and
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
/* In numbers: x replaces b. Returns how many pivots failed; with lost (n marks) such an unknown is marked and left out,
 * x is 0 there; without, x is NaN. */
int ag_ldl_solve(const ag_ldl *f, const double *entries, double *b, unsigned char *lost);

/* Solution of A x = b, b one column, A given by its entries in the order of the pattern. Lowered to small blocks where
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

/* ---- lowering and tapes ---- */
/* The arrays a tape reads its inputs from are the rows of segment.def: time, state, parameters, ... */
typedef enum ag_seg {
#define AG_SEGMENT(NAME, ...) AG_SEG_##NAME,
#include "expr/segment.def"
#undef AG_SEGMENT
  AG_SEG_COUNT
} ag_seg;
typedef struct ag_segment {
  const char *name, *what;
  bool prep;   /* what depends on nothing else belongs to the prep part */
  bool always; /* a parameter of every generated function; else only where it is read */
} ag_segment;
const ag_segment *ag_segment_describe(ag_seg seg);

typedef struct ag_bind {
  ag_id input;
  ag_seg seg;
  int offset; /* of its first stored number in the segment */
} ag_bind;

/* One instruction: slot[dst] = op(slot[a], slot[b], slot[c]). FMA is an operation of its own (AG_OP_FMA: a*b + c),
 * formed here and nowhere else, so that every reader of the tape rounds alike. AG_OP_LOAD: segment a, index b.
 * AG_OP_CONST: constant a. AG_OP_CALL_SOLVE: pivoted LU, dst = first of n result slots, a = n, b = first of the n*n+n
 * consecutive slots holding A (row-major) and the right-hand side. AG_OP_CALL_LDL: the same with LDL^T, a = which of
 * the tape's ldls, b = first of its n_block slots. */
typedef struct ag_instr {
  uint16_t op;
  uint32_t dst, a, b, c;
} ag_instr;

typedef struct ag_tape {
  int n_const, n_slot, n_out, n_prep, n_instr;
  double *constants;
  ag_instr *instr;          /* instr[0..n_prep-1]: parameter-only work, done once; the rest each time */
  uint32_t *out;            /* slots of the outputs */
  int n_need[AG_SEG_COUNT]; /* how much of each segment is read */
  int n_ldl;
  ag_ldl **ldls; /* of the sparse solves */
} ag_tape;

/* Lowers the outputs (tensors, row-major each) to one tape. What depends on parameters alone goes to the prep
 * part, and its slots are never reused. Every input the outputs depend on must be bound (AG_ASSERT). */
ag_tape *ag_tape_create(ag_graph *g, int n_bind, const ag_bind *binds, int n_out, const ag_id *outs);
void ag_tape_free(ag_tape *tape);
/* slots: n_slot doubles of the caller. ag_tape_prep once per parameter set, then ag_tape_eval as often as wanted with
 * the same slots. Both return 0, or a code when a pivot failed (the outputs are then NaN where they depend on it). */
int ag_tape_prep(const ag_tape *tape, const double *p, double *slots);
int ag_tape_eval(const ag_tape *tape, const double *const seg[AG_SEG_COUNT], double *slots, double *out);
/* The instructions, one per line, for reading. */
void ag_tape_print(const ag_tape *tape, ag_text *out);
/* Arithmetic operations per evaluation (prep not counted). */
int ag_tape_cost(const ag_tape *tape);

/* Convenience for tests and start-up: evaluates outs once. inputs' stored numbers in order, row-major outputs. */
int ag_evaluate(ag_graph *g, int n_in, const ag_id *inputs, const double *values, int n_out, const ag_id *outs,
                double *result);
#endif
