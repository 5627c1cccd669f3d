/* SPDX-License-Identifier: MIT
 * Inside of run/: a batch under way, shared by its parts. Everything but the counters is finished before the first
 * thread starts. */
#ifndef AG_RUN_BATCH_H
#define AG_RUN_BATCH_H
#include <stdatomic.h>

#include "run/fused.h"
#include "run/run.h"

/* The wanted columns as functions of [q | images | u]: what can be had without the reconstructed states. */
typedef struct ag_core_columns {
  ag_tape *tape;
  int *at; /* per output: its place in a record */
} ag_core_columns;

typedef struct ag_batch_job {
  const ag_system *sys;
  const ag_batch_options *o;
  long n;
  const double *params, *x0;
  int n_x;
  ag_batch_result *result;
  bool *reached;    /* per member: is its result in place? each is written by one thread */
  ag_fused *fused;  /* the lanes; NULL: member by member */
  ag_fused *kernel; /* then: compiled code for one member at a time, or NULL */
  int n_z;          /* numbers integrated per member */
  int n_unit, *unit, *unit_size;
  ag_core_columns columns; /* without the rest */
  atomic_long next, done;
} ag_batch_job;

/* True when every wanted column follows from the core; the columns are then prepared. */
bool ag_core_columns_init(ag_core_columns *c, const ag_system *sys, const bool *wanted);
void ag_core_columns_done(ag_core_columns *c);
/* Writes the wanted columns of a record from the core z. slots: tape->n_slot numbers, y: n_q + 3 n_image + n_u. */
void ag_core_columns_fill(const ag_core_columns *c, const ag_system *sys, double t, const double *z,
                          const double *params, double *slots, double *y, double *out, double *record);

/* The work of one thread; the first one calls progress. */
void ag_batch_lanes(ag_batch_job *b, bool first);
void ag_batch_report(ag_batch_job *b, bool first);
#endif
