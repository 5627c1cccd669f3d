/* SPDX-License-Identifier: MIT
 * The mean of a number at the end of paths to a given accuracy: multilevel Monte Carlo. Part of the front header
 * study.h. */
#ifndef AG_STUDY_MULTILEVEL_H
#define AG_STUDY_MULTILEVEL_H
#include <stdatomic.h>

#include "base/status.h"
#include "run/run.h"

enum { AG_MULTILEVEL_MOST = 16 }; /* levels */

typedef struct ag_multilevel_options {
  double t0, dt;            /* dt: the steps of level 0 */
  unsigned long long steps; /* of that length, from t0 to the end */
  const ag_stepper *method;
  unsigned long long seed;
  const bool *columns; /* of the record: the one with the number, */
  int entry;           /* which of it */
  double target;       /* root mean square of the error */
  long pilot;          /* paths with which a level begins */
  bool interpreted;
  int threads;            /* 0: one per core */
  const atomic_int *stop; /* or NULL */
} ag_multilevel_options;

/* Level l: the difference of the numbers with steps dt/2^l and 2 dt/2^l on the same path; level 0: the number. */
typedef struct ag_multilevel_row {
  double dt;
  unsigned long long paths, failed;
  double mean, variance, spread; /* of one path's; spread: the standard error of the mean */
  double cost;                   /* steps of one path */
} ag_multilevel_row;

typedef struct ag_multilevel {
  int n; /* levels */
  ag_multilevel_row rows[AG_MULTILEVEL_MOST];
  bool antithetic; /* fine steps in both orders, against one coarse step */
  double mean, spread,
      bias;            /* the sum of all levels, its standard error, the estimate of what finer levels would add */
  double decay, weak;  /* variances ~ dt^decay, means of differences ~ dt^weak; NaN: fewer than two of them */
  double steps, plain; /* taken in all; what one level with the smallest steps would take */
  bool reached;        /* spread^2 + bias^2 <= target^2 */
} ag_multilevel;

/* Only wrong use gives a status other than AG_OK; stopped, or more levels than there are: not reached. */
AG_MUST_USE ag_status ag_multilevel_run(ag_multilevel *m, ag_ctx *ctx, ag_system *sys, const double *params,
                                        const double *x0, const ag_multilevel_options *o);
#endif
