/* SPDX-License-Identifier: MIT
 * Inside kern/: a long tape as loops. The instructions of one part of a tape are gathered into groups: a value that is
 * stored, with what only it needs (its cone), or a long chain of additions. Groups of the same shape are a family; a
 * family is computed by one loop over its members as soon as all of them can be. Every value is computed by the
 * operation of the tape from the same numbers, so that no bit changes.
 *
 * roll.c finds groups, families and an order, roll_loops.c the loops, roll_text.c writes the C text. */
#ifndef AG_KERN_ROLL_H
#define AG_KERN_ROLL_H
#include "kern/cgen.h"

/* Where a value is stored when it is read from outside its group. */
typedef enum ag_roll_kind {
  AG_ROLL_S,   /* in the array s, at its group's place */
  AG_ROLL_OUT, /* in the output itself */
  AG_ROLL_CONST,
  AG_ROLL_PREP,
  AG_ROLL_SEGMENT /* + ag_seg */
} ag_roll_kind;

typedef struct ag_roll_group {
  uint32_t root;         /* its last instruction */
  uint32_t node, n_node; /* its instructions, arguments first (a chain: from its start), in nodes */
  uint32_t leaf, n_leaf; /* values it reads from outside, in leaves; a chain: the start, then those of each step */
  uint32_t key, n_key;   /* its shape, in keys */
  uint32_t segment;      /* of a chain: steps of each stretch of equal steps, in segments */
  uint32_t n_segment;    /* 0: not a chain */
  uint32_t family, batch, position;
  uint32_t wait; /* leaves not yet computed */
} ag_roll_group;

/* Members of a family that are computed together. */
typedef struct ag_roll_batch {
  uint32_t member, n; /* groups, in members */
  uint32_t n_result;  /* numbers per member: the unknowns of a solve, else 1 */
  uint32_t base;      /* place of its results in s */
  uint32_t last;      /* last batch that reads it; NONE: read to the end */
  bool begins;        /* a loop begins with it; otherwise it belongs to the loop of the batch before */
} ag_roll_batch;

typedef struct ag_roll_pool {
  uint32_t *at, n;
  int cap;
} ag_roll_pool;

typedef struct ag_roll {
  const ag_cgen_state *g;
  int from, to; /* the part: its instructions */
  bool prep;
  uint32_t n_out, *outs;      /* values of the part's outputs */
  uint32_t *uses, *out_of;    /* per value: how often it is read; which output it is, or NONE */
  unsigned char *kind;        /* per value: its ag_roll_kind */
  uint32_t *group_of, *local; /* per instruction */
  unsigned char *acc;         /* per instruction in a chain: 1 + position of the running sum; else 0 */
  ag_roll_group *groups;
  uint32_t n_group;
  int cap_group;
  ag_roll_pool nodes, leaves, keys, segments, members;
  uint32_t n_family;
  ag_roll_batch *batches;
  uint32_t n_batch;
  int cap_batch;
  long n_operation, n_written; /* of the part; of its families, once each */
} ag_roll;

uint32_t ag_roll_push(ag_roll_pool *pool, uint32_t word); /* returns its position */
static inline ag_roll_kind ag_roll_kind_of(const ag_roll *r, uint32_t value) { return (ag_roll_kind)r->kind[value]; }
/* The group that computes a value of kind S or OUT. */
ag_roll_group *ag_roll_maker(const ag_roll *r, uint32_t value);
int ag_roll_arity(const ag_roll *r, uint32_t instr); /* of a solve: everything it reads */
bool ag_roll_gathers(const ag_roll *r,
                     uint32_t instr); /* a solve so large that loops fetch its arguments, all of which are stored */
uint32_t ag_roll_arg(const ag_roll *r, uint32_t instr, int k);

/* A part of the tape as batches in an order that can be computed; false when that is not much shorter than the tape.
 * ag_roll_done in either case. */
bool ag_roll_init(ag_roll *r, const ag_cgen_state *g, bool prep);
void ag_roll_done(ag_roll *r);

/* Orders the members of each batch, divides batches and puts them into loops. */
void ag_roll_arrange(ag_roll *r);
enum { AG_ROLL_MIN_LOOP = 4 };                       /* shorter batches are straight code */
int ag_roll_place(const ag_roll *r, uint32_t value); /* index in the array of its kind; of a constant: its number */
ag_roll_group *ag_roll_member(const ag_roll *r, const ag_roll_batch *b, uint32_t m);
uint32_t ag_roll_leaf(const ag_roll *r, const ag_roll_batch *b, uint32_t m, uint32_t k); /* what member m reads */

/* Writes functions NAME_0, NAME_1, ... and the one that calls them, NAME. */
void ag_roll_text(ag_roll *r, const char *name, ag_text *out);
#endif
