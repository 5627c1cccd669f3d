/* SPDX-License-Identifier: MIT
 * Inside kern/: a tape taken apart into single-assignment values, as cgen.c finds them and roll.c reads them. */
#ifndef AG_KERN_CGEN_H
#define AG_KERN_CGEN_H
#include "kern/kern.h"

enum { AG_CGEN_NONE = UINT32_MAX };

/* A value: result `entry` of instruction `instr`. Copies are followed to what they copy. */
typedef struct ag_cgen_value {
  uint32_t instr, entry;
  uint32_t slot;   /* where the tape keeps it */
  int chunk, last; /* chunk that defines it, last chunk that reads it; -1: prep */
  int prep;        /* position among the prepared values, -1: none */
  bool one;        /* prepared, and known to be exactly 1 */
} ag_cgen_value;

typedef struct ag_cgen_state {
  const ag_tape *tape;
  const ag_cgen *how;
  ag_text *out;
  ag_cgen_value *values;
  uint32_t n_value;
  int cap_value;
  uint32_t *args;   /* per instruction: 3 values; a solve: position of its list in lists */
  uint32_t *result; /* per instruction: its first value */
  uint32_t *lists;  /* values read by the solves */
  int n_list, cap_list;
  uint32_t *outs;    /* values of the outputs */
  uint32_t *partner; /* of a sin or cos: the instruction with the other one of the same value, or NONE */
  int *chunk_of;     /* per instruction; -1 in prep */
  int n_chunk, n_prep;
  int n_check;     /* number of checks moved out of the computation; 0 if they are done in place */
  uint64_t *marks; /* per value: those it depends on */
  int *checks;     /* their instructions */
} ag_cgen_state;

/* Numbers the values that the evaluation reads from prep, and finds those that are 1. */
void ag_cgen_number_prepared(ag_cgen_state *g);

enum { AG_CGEN_CHECKS = 64, AG_CGEN_ROLLED = 1000 };
bool ag_cgen_is_check(uint16_t op);
/* The checks of the evaluation in checks[AG_CGEN_CHECKS], and in marks[], zeroed, for each value those it depends on. 0
 * if there are none, too many, or one that cannot be moved out of the computation. */
int ag_cgen_beside(const ag_cgen_state *g, uint64_t *marks, int *checks);

/* The evaluation over enclosures, as NAME_bounds(t, z, c, prep, out), and NAME_around, where there is one. */
void ag_cgen_bounds(const ag_cgen_state *g, ag_text *out);

/* Solves: the number of values they return and read, the size of their workspace, and the position of the first result
 * in it. */
bool ag_cgen_is_call(uint16_t op);
uint32_t ag_cgen_results(const ag_tape *tape, const ag_instr *x);
uint32_t ag_cgen_args(const ag_tape *tape, const ag_instr *x);
uint32_t ag_cgen_result_at(const ag_tape *tape, const ag_instr *x);
/* The declaration of the array m<instr> that the solve works in, and the call. name: of the tape's functions. */
void ag_cgen_put_room(const ag_tape *tape, uint32_t instr, const char *name, ag_text *out);
void ag_cgen_put_call(const ag_tape *tape, uint32_t instr, const char *name, ag_text *out);
/* Before the functions: what v_ldl reads, and what solves need outside the stack. */
void ag_cgen_put_tables(const ag_tape *tape, const char *name, ag_text *out);
/* An array of n values called `array`: on the stack, or where it is too long for that behind a function, which must
 * have been written before; `of` is part of its name. */
void ag_cgen_put_storage(const char *of, const char *array, uint32_t n, ag_text *out);
void ag_cgen_put_array(const char *of, const char *array, uint32_t n, ag_text *out);

void ag_cgen_number(double v, ag_text *out); /* a C constant with exactly this value */
/* Copies a value of op.def up to its next argument, which the caller writes, and moves *c past it. Returns
 * the argument's number from 0, or -1 at the end. */
int ag_cgen_formula(const char **c, ag_text *out);
/* `before`, i in decimal, `after`. */
void ag_cgen_index(ag_text *out, const char *before, uint32_t i, const char *after);

/* Is the segment a parameter of the tape's functions: of its prep part, or of its evaluation? */
bool ag_cgen_passes(const ag_tape *tape, bool prep, ag_seg seg);
/* The parameters of a function of the tape, of its prep part or its evaluation, with or without the array s; the same
 * names as arguments of a call; and a statement that reads them all, so that none is unused. */
void ag_cgen_put_parameters(const ag_tape *tape, bool prep, bool s, ag_text *out);
void ag_cgen_put_arguments(const ag_tape *tape, bool prep, ag_text *out); /* with s */
void ag_cgen_put_unused(const ag_tape *tape, bool prep, bool s, ag_text *out);
#endif
