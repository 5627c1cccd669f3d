/* SPDX-License-Identifier: MIT
 * Tapes: outputs of a graph lowered to scalars, as straight-line code over slots. The interpreter here runs them; kern/
 * turns them into C. Both round alike. */
#ifndef AG_EXPR_TAPE_H
#define AG_EXPR_TAPE_H
#include "expr/graph.h"

/* The arrays a tape reads its inputs from are the rows of segment.def: time, state, parameters, ... */
typedef enum ag_seg {
#define AG_SEGMENT(NAME, ...) AG_SEG_##NAME,
#include "expr/segment.def"
#undef AG_SEGMENT
  AG_SEG_COUNT
} ag_seg;
typedef struct ag_segment {
  const char *name, *what;
  bool prep;   /* values that depend on nothing else belong to the prep part */
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
  ag_ldl **ldls;      /* of the sparse solves */
  bool *unbounded;    /* of ag_enclose_without(), or NULL; then */
  ag_instr *enclosed; /* the instructions that the others need, */
  int n_enclosed;     /* and how many */
  /* For event functions, where that is shorter, else NULL: the same functions of [z | e] with some
   * numbers e; and [e | e'], their values and rates, as functions of z and, in the segment W, z'. Owned. */
  struct ag_tape *look, *extra;
} ag_tape;

/* Lowers the outputs (tensors, row-major each) to one tape. What depends on parameters alone goes to the prep
 * part, and its slots are never reused. Every input the outputs depend on must be bound (AG_ASSERT). */
ag_tape *ag_tape_create(ag_graph *g, int n_bind, const ag_bind *binds, int n_out, const ag_id *outs);
/* The same with sums of products factored: fewer operations. The last digits of an output then depend on the others. */
ag_tape *ag_tape_create_factored(ag_graph *g, int n_bind, const ag_bind *binds, int n_out, const ag_id *outs);
void ag_tape_free(ag_tape *tape);
/* slots: n_slot doubles of the caller. ag_tape_prep once per parameter set, then ag_tape_eval as often as wanted with
 * the same slots. Both return 0, or a code when a pivot failed (the outputs are then NaN where they depend on it). */
int ag_tape_prep(const ag_tape *tape, const double *p, double *slots);
int ag_tape_eval(const ag_tape *tape, const double *const seg[AG_SEG_COUNT], double *slots, double *out);
/* The instructions, one per line, for reading. */
void ag_tape_print(const ag_tape *tape, ag_text *out);
/* Arithmetic operations per evaluation (prep not counted). */
int ag_tape_cost(const ag_tape *tape);
/* Those of the tape that ag_tape_create would make, without making it. */
int ag_tape_cost_of(ag_graph *g, int n_bind, const ag_bind *binds, int n_out, const ag_id *outs);
/* Marks the numbers of a segment that it would read; the other marks stay as they are. */
void ag_tape_reads(ag_graph *g, int n_bind, const ag_bind *binds, int n_out, const ag_id *outs, ag_seg seg, bool *read);

/* ---- enclosures ---- */
/* Bounds of a number and of its rate of change over a piece of a curve. */
typedef struct ag_enclosure {
  double lo, hi, rate_lo, rate_hi;
} ag_enclosure;
/* As ag_tape_prep and ag_tape_eval: if the inputs of seg hold everywhere on the piece, so do the outputs (enclose.h).
 */
void ag_enclose_prep(const ag_tape *tape, const double *p, ag_enclosure *slots);
void ag_enclose_eval(const ag_tape *tape, const ag_enclosure *const seg[AG_SEG_COUNT], ag_enclosure *slots,
                     ag_enclosure *out);
/* Some outputs need no bounds, since these would be too wide. Takes ownership of the array, one flag per output. */
void ag_enclose_without(ag_tape *tape, bool *unbounded);
int ag_enclose_cost(const ag_tape *tape); /* instructions of an evaluation */
/* Per output: does it have bounds? Results of a linear solve have none, nor do NaN and the outputs
 * excluded above. */
void ag_enclose_bounded(const ag_tape *tape, bool *bounded);
/* Per output: does it read numbers of this segment (AG_SEG_...), or a solve that may? */
void ag_enclose_reads(const ag_tape *tape, int segment, bool *reads);

/* The first n outputs are the rates of the n numbers of the segment Z. Is this an equation of second order: the rate of
 * a position is one of the other numbers, a velocity, and rates of velocities do not read velocities? rate: per number
 * the one that is its rate, -1 for velocities. */
bool ag_tape_second_order(const ag_tape *tape, int n, int *rate);

/* Convenience for tests and start-up: evaluates outs once. inputs' stored numbers in order, row-major outputs. */
int ag_evaluate(ag_graph *g, int n_in, const ag_id *inputs, const double *values, int n_out, const ag_id *outs,
                double *result);
#endif
