/* SPDX-License-Identifier: MIT
 * expect: statements of a model about its own motions. Part of model.h. */
#ifndef AG_MODEL_EXPECT_H
#define AG_MODEL_EXPECT_H
#include <stdbool.h>

#include "base/status.h"
#include "expr/expr.h"

typedef enum ag_expect_kind {
  AG_EXPECT_AT,       /* x at time = value within tol */
  AG_EXPECT_ALONG,    /* x = value within tol over time (at every accepted step) */
  AG_EXPECT_CONSTANT, /* x constant within tol over time */
  AG_EXPECT_VARIES,   /* x varies by more than tol over time */
  AG_EXPECT_EVENT,    /* nth occurrence of the event at time within tol */
  AG_EXPECT_COUNT,    /* event occurs value times over time */
  AG_EXPECT_CONSERVED,
  AG_EXPECT_NOT_CONSERVED, /* x, or the momentum of a generator, as `conserve` decides */
  AG_EXPECT_MEAN,
  AG_EXPECT_VARIANCE /* of x at time over paths = value within tol standard errors */
} ag_expect_kind;

typedef struct ag_expect {
  ag_expect_kind kind;
  ag_id x, value, time, tol; /* value may have the shape of x; time and tol are scalars */
  int event, nth;            /* for EVENT and COUNT; nth from 1 */
  int generator;             /* 1 + the generator whose momentum is meant, 0: x */
  bool pathwise;             /* conserved: on every path, with its noise */
  double paths, seed;        /* of MEAN and VARIANCE: which paths, */
  ag_id dt;                  /* in which steps, */
  const char *method;        /* and by which method; NULL: euler_heun */
  int n_when;                /* `when a = 1, b = 2`: parameters changed for this expectation */
  int *when_param;
  ag_id *when_value;
  const char *text;
  ag_pos pos;
} ag_expect;
#endif
