/* SPDX-License-Identifier: MIT
 * Internals of run/: the paths of an ensemble once more with half the step, and extrapolation from both (Talay and
 * Tubaro). */
#ifndef AG_RUN_HALVES_H
#define AG_RUN_HALVES_H
#include "run/walk.h"

/* What all threads share. */
typedef struct ag_halves {
  ag_ensemble_options o; /* those of the ensemble with half the step, without passages */
  unsigned long long *row_step;
  ag_walk_plan plan;
  double part; /* 1/(2^p - 1) with the weak order p */
} ag_halves;

/* Returns AG_OK, or AG_WRONG with a message. done: also after a failure. */
ag_status ag_halves_init(ag_halves *f, ag_ctx *ctx, ag_system *sys, const double *params, const double *x0,
                         const ag_ensemble_options *o);
void ag_halves_done(ag_halves *f);
/* Of n numbers with the step and with half of it, in leaves [number][AG_LEAF]: their extrapolation, then the
 * errors of those with the full step. */
void ag_halves_combine(const ag_halves *f, int n, int count, const double *whole, const double *half, double *out);
#endif
