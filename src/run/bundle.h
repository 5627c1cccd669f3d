/* SPDX-License-Identifier: MIT
 * Bundles: the final values of many single paths, with several step sizes along the same paths. Part of the
 * front header run.h; for studies that compare path by path. No number depends on lanes or threads. */
#ifndef AG_RUN_BUNDLE_H
#define AG_RUN_BUNDLE_H
#include "run/ensemble.h"

typedef struct ag_bundle ag_bundle;

/* One method from the full state x0. These options are used: path (seed, base, channels, mirror, multiple, area_level:
 * 0 for the usual one), t0, method, columns, interpreted, lanes, threads, compiler, stop. AG_WRONG with a message: the
 * method does not fit. */
AG_MUST_USE ag_status ag_bundle_create(ag_ctx *ctx, ag_system *sys, const double *params, const double *x0,
                                       const ag_ensemble_options *o, ag_bundle **bundle);
void ag_bundle_free(ag_bundle *b);
int ag_bundle_n_value(const ag_bundle *b); /* numbers per path: the entries of the wanted columns, in order */
/* Whether the steps 2i and 2i + 1 of every path are exchanged from now on. */
void ag_bundle_swap(ag_bundle *b, bool swap);
/* Paths first .. first + n - 1 (first even) in `steps` steps of base/2^level (level 0: of base times the multiple): the
 * numbers at the end, [path][value]; NaN: the path could not be followed, or the stop was set. Returns the processor
 * time, in seconds. */
double ag_bundle_follow(ag_bundle *b, int level, unsigned long long steps, unsigned long long first, long n,
                        double *values);
#endif
