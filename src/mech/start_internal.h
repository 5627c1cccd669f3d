/* SPDX-License-Identifier: MIT
 * Inside starts: shared by start.c, start_velocity.c and start_values.c. */
#ifndef AG_MECH_START_INTERNAL_H
#define AG_MECH_START_INTERNAL_H
#include "mech/mech_internal.h"

/* How the start expressions are evaluated. Those without coordinates (nearly all) come from one tape; velocities that
 * depend on coordinates from another, run when all coordinates have their values; coordinates that depend on others are
 * evaluated in turn. A system keeps its plan: batches evaluate many starts. */
typedef struct ag_start_plan {
  int n;
  ag_id *x; /* per start statement */
  ag_tape *all, *late, **own;
  int *at, *late_at; /* per start statement: offset in all or in late, or -1: it has a tape of its own */
} ag_start_plan;
ag_start_plan *ag_start_plan_create(ag_system *sys);
void ag_start_plan_free(ag_start_plan *p);

/* Values of the start expressions. */
typedef struct ag_start_values {
  ag_system *sys;
  double t0;
  const double *params;
  const ag_start_plan *plan;
  ag_start_plan *made; /* where that of the system does not hold */
  double *all, *late;
} ag_start_values;
void ag_start_values_init(ag_start_values *v, ag_system *sys, double t0, const double *params);
void ag_start_values_done(ag_start_values *v);
/* Value of start statement i at the coordinates q, which are final if it is a velocity. */
void ag_start_value(ag_start_values *v, int i, const double *q, double *out);

/* Makes messages about start statement i point at it, in the file or in a `--set`; -1: at the file. Returns where they
 * pointed before. */
typedef struct ag_pointer {
  const char *file, *source;
} ag_pointer;
ag_pointer ag_point_at(ag_ctx *ctx, const ag_model *m, int i);
void ag_point_back(ag_ctx *ctx, ag_pointer old);
/* Where start statement i comes from if not from the file, or NULL. */
const ag_origin *ag_start_origin(const ag_model *m, int i);
#endif
