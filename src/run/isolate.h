/* SPDX-License-Identifier: MIT
 * Inside run/: where functions of a motion can be zero inside a step, proved from enclosures.
 *
 * The motion over the step is a polynomial z(theta), theta in [0, 1], known up to a width per component. A piece of the
 * step is done with a function when its enclosure excludes zero (no crossing) or its rate does (at most one crossing);
 * else it is halved. What cannot be decided, because the function stays within the width of the curve or the work has
 * reached its limit, is a doubt. Nothing is sampled: a crossing that is not reported does not exist, or lies in a
 * doubt. */
#ifndef AG_RUN_ISOLATE_H
#define AG_RUN_ISOLATE_H
#include "run/watcher.h"

/* A piece of the step in which a function may cross zero: at most once, or an unknown number of times (doubt). */
typedef struct ag_bracket {
  double from, to; /* parts of the step */
  bool doubt;
} ag_bracket;

typedef struct ag_isolate ag_isolate;

/* f: the functions on z (segment Z of n numbers) and t, whose enclosures are bounded; borrowed, like c (segment C, or
 * NULL), which may change between steps. */
ag_isolate *ag_isolate_create(ag_watcher *f, int n, const double *c, int n_c);
/* The same, evaluating the tape by itself; compiles: see watcher.h. */
ag_isolate *ag_isolate_of_tape(const ag_tape *tape, const double *params, bool compiles, int n, const double *c,
                               int n_c);
void ag_isolate_free(ag_isolate *s);
void ag_isolate_prepare(ag_isolate *s, const double *params); /* one that evaluates its tape by itself, or NULL */

/* Examines the step from t by h. The curve is given by its Bernstein coefficients b[k * n + i] of component i, k = 0
 * .. degree (those of components that are not read may be anything); |motion - curve| <= width[i]. skip[e]: function e
 * is skipped (NULL: none is). At most max_work pieces are examined, and `more` for each crossing that was isolated.
 * True: no doubts. */
bool ag_isolate_step(ag_isolate *s, double t, double h, int degree, const double *b, const double *width,
                     const bool *skip, int max_work, int more);
/* What was found for function e: brackets in order of theta; neighbours share their ends. */
const ag_bracket *ag_isolate_found(const ag_isolate *s, int e, int *n);
/* Did the last search reach the work limit? */
bool ag_isolate_tired(const ag_isolate *s);
/* Which components of z the functions read: n marks. */
const bool *ag_isolate_reads(const ag_isolate *s);

enum { AG_ISOLATE_DEGREE = 7 }; /* largest degree */
/* Curves. From the rows r_0 .. r_{degree-1} of
 *   z + theta (r0 + (1 - theta) (r1 + theta (r2 + (1 - theta) (r3 + ...)))),
 * the form in which Hermite interpolants and dense output are kept (step/rk_core.h); and of degree AG_ISOLATE_DEGREE
 * from the values v[k * n + i] at theta = k / AG_ISOLATE_DEGREE, in place. */
void ag_isolate_rows(int n, int degree, const double *z, const double *rows, double *b);
void ag_isolate_nodes(int n, double *v);
#endif
