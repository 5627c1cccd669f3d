/* SPDX-License-Identifier: MIT
 * Measured orders of methods on a system, what they keep and what they cost. Part of the front header study.h. */
#ifndef AG_STUDY_CONVERGE_H
#define AG_STUDY_CONVERGE_H
#include <stdatomic.h>

#include "base/status.h"
#include "base/text.h"
#include "run/run.h"

typedef struct ag_converge_options {
  double t0, t1;       /* t1 NaN: chosen from the steps that a reference takes */
  const char *methods; /* names, comma-separated; "all" */
  double seconds;      /* of processor time for one method; 0: 20 */
  const atomic_int *stop;
  void (*progress)(void *self, double done, long runs); /* done: methods measured; may be NULL */
  void *progress_self;
} ag_converge_options;

/* One run with fixed steps. */
typedef struct ag_converge_point {
  double dt, error, seconds; /* largest distance from the reference, relative to the size of the quantity */
  long steps, rhs;
} ag_converge_point;

/* higher: above the declared order, as may happen where leading terms of the error vanish. */
typedef enum ag_agrees { AG_AGREES_YES, AG_AGREES_HIGHER, AG_AGREES_NO, AG_AGREES_UNDECIDED } ag_agrees;
const char *ag_agrees_word(ag_agrees a);

typedef struct ag_converge_row {
  const ag_stepper *method;
  char *refused; /* why it does not fit the model, or NULL */
  int n_point, n_fit;
  ag_converge_point *points; /* with smaller and smaller steps; the last n_fit of those above the floor are fitted */
  double order, half;        /* the slope, and half of its 95 % confidence interval; NaN: too few points */
  double to;                 /* the end of the time over which that was measured */
  bool stopped;              /* smaller steps would have taken too long */
  ag_agrees agrees;          /* with the declared order, to 0.1 (0.3 above 6) */
  /* what is kept, in the run whose error is nearest to 1e-5: */
  double dt;
  double energy;     /* largest change relative to kinetic + |potential| energy; NaN: it is not conserved */
  double constraint; /* largest residual */
  double back;       /* distance from the start after the same steps back */
  double
      volume;   /* change of phase volume in ten steps, in the measure of the model; NaN: none is known, or it failed */
  double *kept; /* per invariant: largest change, relative */
} ag_converge_row;

typedef struct ag_converge {
  double t0, t1, floor; /* errors below the floor are those of the reference */
  long reference_steps;
  bool has_measure; /* an invariant measure is known */
  int n_invariant;  /* observables that are constant along the reference */
  const ag_column **invariants;
  int n_row;
  ag_converge_row *rows;
  ag_record record;
} ag_converge;
/* Measures the orders of methods on a system. A mistake in the options: one line in *usage. */
AG_MUST_USE ag_status ag_converge_run(ag_converge *c, ag_ctx *ctx, ag_system *sys, const ag_converge_options *o,
                                      ag_text *usage);
void ag_converge_done(ag_converge *c);
#endif
