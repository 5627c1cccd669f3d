/* SPDX-License-Identifier: MIT
 * Inside exact/: the steps of a program, read by reader_core.h. */
#ifndef AG_EXACT_EXACT_INTERNAL_H
#define AG_EXACT_EXACT_INTERNAL_H
#include "base/arena.h"
#include "base/status.h"
#include "exact/exact.h"

/* A sum of other steps with whole multiples of 1/12: the argument of a sine or an exponential. */
typedef struct ag_term {
  int twelfths, step;
} ag_term;

typedef struct ag_step {
  ag_op op;
  int rows, cols;
  int first, n_arg; /* arguments: p->args[first ...], which are steps */
  int at;           /* its values among all */
  int i, j;         /* of an entry; the first of some rows */
  bool is_number;   /* as the graph has it; op and arguments may say how it was folded */
  double num;
  uint64_t residue[AG_FIELD_PRIMES]; /* of a number that is not folded: what it is modulo each prime */
  int term, n_term;                  /* of its argument, see ag_term; none: the argument itself is the only one */
} ag_step;

enum { AG_QUARTERS = 8 };
/* The residues that represent k pi/2 modulo a prime, k from 1 to 8: by the number pi, and by the number itself. */
typedef struct ag_quarters {
  uint64_t at[2][AG_QUARTERS + 1];
} ag_quarters;
void ag_quarters_make(int prime, ag_quarters *q);

struct ag_program {
  int n_step, n_value, n_in, n_out;
  ag_step *steps;
  int *args, n_args;
  ag_term *terms;
  int n_term, cap_term;
  int *in_step, n_input; /* the step of each input, -1: not read */
  int *in_at;            /* where its numbers begin */
  int *outs, n_outs;
  ag_op opaque;
  bool has_angles;
  ag_quarters quarters[AG_FIELD_PRIMES]; /* where there are angles */
};
#endif
