/* SPDX-License-Identifier: MIT
 * The expect statements of a model. Part of run.h. */
#ifndef AG_RUN_VERDICT_H
#define AG_RUN_VERDICT_H
#include "run/run.h"

/* The expect statements of a model: runs what is needed and judges each. */
typedef struct ag_verdict {
  bool holds;
  double got, wanted, error, tol; /* the worst entry */
  const char *text;
  char *note; /* why it could not be decided, or NULL */
} ag_verdict;
/* Judges `expect conserved`: what is beyond running the model. */
typedef ag_status (*ag_expect_judge)(ag_ctx *ctx, ag_system *sys, const ag_expect *e, ag_verdict *v);
AG_MUST_USE ag_status ag_expect_run(ag_ctx *ctx, ag_system *sys, ag_expect_judge conserved, int *n,
                                    ag_verdict **verdicts);
void ag_expect_done(int n, ag_verdict *verdicts);
#endif
