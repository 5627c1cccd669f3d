/* SPDX-License-Identifier: MIT
 * Records: the quantities recorded for a state, and the sink that receives them. Part of the front header run.h. */
#ifndef AG_RUN_RECORD_H
#define AG_RUN_RECORD_H
#include <stdbool.h>

#include "mech/mech.h"

/* One recorded quantity. */
typedef enum ag_column_kind {
  AG_COL_TIME,
  AG_COL_COORD,
  AG_COL_VELOCITY,
  AG_COL_PROCESS,
  AG_COL_OBSERVABLE,
  AG_COL_ENERGY,
  AG_COL_RESIDUAL
} ag_column_kind;
typedef struct ag_column {
  ag_column_kind kind;
  const char *name; /* "x", "x'", "Omega", "jellett"; members of a family "x[2]" */
  int rows, cols;   /* a rotation is 3 x 3 */
  int offset;       /* in a record */
  ag_id x;          /* its expression; 0: it has none */
} ag_column;
/* The record of a system: t, coordinates, velocities, processes, observables, energy, residual. */
typedef struct ag_record {
  int n_column, width;
  ag_column *columns;
} ag_record;
void ag_record_init(ag_record *r, const ag_system *sys);
void ag_record_done(ag_record *r);
/* Name of one number of a column: "x", "x[2]", "R[1,3]", "x[4][1]". */
void ag_column_name(const ag_column *c, int entry, ag_text *out);
/* The column of that name, *entry = -1, or the one with a number of that name, *entry = which; NULL: none. */
const ag_column *ag_record_find(const ag_record *r, const char *name, int *entry);
/* The numbers of the first column of a kind, among the values of a record. */
const double *ag_record_kind(const ag_record *r, const double *values, ag_column_kind kind);
/* One full state recorded. */
void ag_record_fill(const ag_system *sys, ag_work *w, double t, const double *x, double *out);

/* Receives records in time order. row returns false if it cannot continue (disk full): the run then ends with
 * AG_END_SINK. */
typedef struct ag_sink {
  bool (*row)(void *self, const double *record);
  void *self;
} ag_sink;
#endif
