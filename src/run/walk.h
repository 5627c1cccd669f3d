/* SPDX-License-Identifier: MIT
 * Internals of run/: following paths of an ensemble, in lanes or one by one, with the same bits. */
#ifndef AG_RUN_WALK_H
#define AG_RUN_WALK_H
#include "kern/kern.h"
#include "run/ensemble.h"

/* What all threads share; finished before the first one starts. */
typedef struct ag_walk_plan {
  const ag_system *sys;
  const ag_ensemble_options *o;
  const double *params;
  int n, n_value; /* numbers integrated; recorded per row */
  ag_wiener path; /* with areas, where they are read */
  int draws;
  bool core;                        /* the core alone */
  bool settles;                     /* states are put back onto the constraints by ag_work_settle(), path by path */
  int role;                         /* of the field that is followed */
  const ag_tape *tape;              /* it, or its core */
  const int *table;                 /* of a sparse Jacobian, or NULL */
  const ag_tape *jacobian, *finish; /* of the field; or the discrete equations of a step, and its end;
                                       finish beside a Jacobian: the role INERTIA */
  const ag_tape *canonical;         /* E/kT, where steps are tested; or NULL */
  const ag_tape *agree;             /* z, whole, made to agree with itself after a step; or NULL */
  const ag_tape *project;           /* z put back onto the constraints on positions; or NULL */
  const ag_tape *turn, *renew;      /* with a basis: how far it has turned, and renewing it; or NULL */
  bool skips;                       /* the rate at the end of a step is not computed */
  int n_out;                        /* recorded, then [x | its variance rate] of the passages */
  ag_tape *columns;                 /* the recorded ones as functions of z, and perhaps others; NULL: from records */
  bool joint;                       /* `columns` has those of the passages, too; else they are */
  ag_tape *passages;                /* functions of their own: of z and the basis, */
  bool direct;                      /* or, if this is false, of the full state */
  int *at;                          /* where the recorded ones stand in a record */
  int *pick;                        /* which results of `columns` they are, and, if joint, those of the passages */
  ag_tape *functions;               /* without columns: of ag_run_columns, or NULL */
  int *functions_at;
  ag_factor *factors;
  int *spin; /* per factor: ag_mover_spins() */
  int n_factor, n_tangent, u_at;
  int n_unit;
  ag_span *units;
  double most;                /* the largest increment that is not truncated */
  double h, *z0, *c0, *unit0; /* the start, and the squared lengths that are kept */
  ag_unit *unit;              /* NULL: path by path */
} ag_walk_plan;

/* Returns AG_OK, or AG_WRONG with a message. note: why not in lanes. */
ag_status ag_walk_plan_init(ag_walk_plan *p, ag_ctx *ctx, ag_system *sys, const double *params, const double *x0,
                            const ag_ensemble_options *o, ag_text *note);
void ag_walk_plan_done(ag_walk_plan *p);
int ag_walk_width(const ag_walk_plan *p); /* paths at once */

/* A thread's own. */
typedef struct ag_walk ag_walk;
ag_walk *ag_walk_create(const ag_walk_plan *p);
void ag_walk_free(ag_walk *w);
/* Results of path first + k: entry i of row r at values[(r n_value + i) stride + k]; rows[k]: how many rows it reached;
 * cut[k]: number of steps with a truncated increment; accepted[k]: how many steps were, where they are tested; passed[i
 * stride + k]: when it passed level i, NaN: it did not. */
typedef struct ag_walk_results {
  double *values, *passed;
  size_t stride;
  int *rows;
  long *cut, *accepted;
} ag_walk_results;
/* Follows the paths first .. first + n - 1 (n <= width; first even where the width is). */
void ag_walk_block(ag_walk *w, unsigned long long first, int n, const ag_walk_results *to);
#endif
