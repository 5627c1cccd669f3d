/* SPDX-License-Identifier: MIT
 * Batches: many motions of one system over the same time, each with its own parameters and start. Part of run.h. */
#ifndef AG_RUN_MANY_H
#define AG_RUN_MANY_H
#include "run/run.h"

/* All records kept in memory. */
typedef struct ag_series {
  int width;
  long n, cap;
  long first;   /* the first row in memory: those before it were handed on */
  double *data; /* from row `first` on */
} ag_series;
bool ag_series_row(void *self, const double *record); /* an ag_sink row */
void ag_series_done(ag_series *s);

/* Checks of a member by its energy and its contacts. size 0: unknown. In lanes start and end alone
 * are compared, and work is not measured. */
typedef struct ag_audit {
  double energy0, energy, size; /* at the start and at the end; kinetic + |potential| energy */
  double drift;                 /* |E - E0|, or, if it was measured, the largest change or the difference to the work */
  bool measured;                /* drift is meaningful: energy is conserved, or the work was measured */
  bool lifted;                  /* a contact is without pressure at the end, or was before */
  bool pointwise, one_sided, loose; /* as in ag_run_result */
  long doubts;                      /* pieces in which an event stayed undecided */
} ag_audit;
typedef struct ag_batch_member {
  ag_end end;
  int end_event; /* which event ended it, or -1 */
  double t;
  long steps, rejected;
  ag_audit audit;
} ag_batch_member;

/* New results of a member since the last call. */
typedef struct ag_batch_part {
  long member;
  const ag_batch_member *end; /* NULL: it goes on */
  const double *record;       /* at its end; only columns that were requested count */
  long first, n;              /* with a section: its points from number `first` on (from 0) */
  const double *points;
} ag_batch_part;
/* Members that an earlier batch has finished. */
typedef struct ag_batch_known {
  const bool *there; /* per member */
  const ag_batch_member *members;
  const double *records; /* n x width */
  const long *n_point;
} ag_batch_known;

/* How a batch runs. Adaptive steps of the eliminated equations go through compiled code that moves several members at
 * once, each with its own step size (decided by its core alone); a step in which an event or the section may be crossed
 * is looked into by the code of a single run. What lanes cannot do (batch.c has the list: multipliers, events that need
 * reactions, redundant constraints, no compiler, ...) goes member by member through ag_run. Results never
 * depend on lanes, threads or order. */
typedef struct ag_batch_options {
  ag_run_options run;   /* every, progress and each are not used */
  int lanes, threads;   /* 0: chosen for the machine */
  bool try_wide;        /* with lanes = 0: measure two vectors per number, however small the batch (width.c) */
  const bool *columns;  /* per column of the record: is it wanted? NULL: all. States that no wanted column needs are not
                           integrated */
  const char *compiler; /* NULL: the usual; "none": none */
  void (*progress)(void *self, long done, long n); /* called now and then, by the calling thread; may be NULL */
  void *progress_self;
  /* Called when a member has ended, and before that when it has many points; by any thread, but never twice at the same
   * time. Points are then not kept in the result. False: stop, the results cannot be written. May be NULL. */
  bool (*take)(void *self, const ag_batch_part *part);
  void *take_self;
  const ag_batch_known *known; /* or NULL */
  /* Per member: equations of its own, prepared, derived from the same model for other values, where those of the batch
   * are not valid for it (ag_work_suits()); it then runs alone. NULL: none has. */
  ag_system *const *own;
} ag_batch_options;
void ag_batch_defaults(ag_batch_options *o); /* those of ag_run, without events */

typedef struct ag_batch_result {
  long n, n_failed; /* failed: ended otherwise than in time or by an event; those stopped are among them */
  int n_x, width;
  ag_batch_member *members;
  double *x;         /* n x n_x: final full states, of the last good state where a member failed; NaN: not integrated */
  double *records;   /* n x width: final records; NaN in columns that were not requested */
  ag_series *points; /* with a section, per member: the records at its crossings; else NULL. With `take` they were
                        handed on, and only counted here */
  int lanes, threads; /* lanes 0: member by member */
  bool core_only;
  double seconds; /* of moving, compiling not counted */
  char *note;     /* why not in lanes, or NULL */
} ag_batch_result;

/* params: n x n_param, x0: n x dims.x, constraints satisfied. Only wrong use gives a status other than AG_OK. */
AG_MUST_USE ag_status ag_batch(ag_ctx *ctx, ag_system *sys, long n, const double *params, const double *x0,
                               const ag_batch_options *o, ag_batch_result *result);
void ag_batch_done(ag_batch_result *result);
void ag_batch_move(const ag_batch_result *result, ag_heap *to); /* its blocks, as ag_heap_move */
#endif
