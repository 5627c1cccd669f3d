/* SPDX-License-Identifier: MIT
 * Inside of run/: one trajectory under way. trajectory.c holds the loop and what is recorded, advance.c makes the
 * steps. */
#ifndef AG_RUN_TRAJECTORY_H
#define AG_RUN_TRAJECTORY_H
#include "run/run_internal.h"

#define AG_TRY_END(call) \
  do { \
    ag_end end_ = (call); \
    if (end_ != AG_END_TIME) return end_; \
  } while (0)

typedef struct run {
  const ag_system *sys;
  const ag_run_options *o;
  const ag_sink *sink;
  ag_run_result *res;
  ag_mover m;
  ag_control control;
  double t, h, *record; /* h: the next step size to try */
  double reach, mark;   /* see ag_checkpoint */
  long n_mark;          /* tries rejected when the mark was set */
  long n_recorded;      /* grid points passed */
  long n_row;           /* records handed to the sink */
  int *event_cap;
  const double *params;
  double cost; /* operations per right-hand side */
  bool tried_compiling;
  double rest_error; /* of what is only reconstructed, in the step just accepted */
  ag_guard *guard;
  ag_end cut;          /* AG_END_TIME, or why the run ends at a crossing, where the step was cut short */
  bool off;            /* a recorded state was not on the constraints */
  bool corner, passed; /* the step was cut short at a corner of the equations, the run goes on; the corner was passed */
  double smooth;       /* step size before a corner was approached, or 0 */
  double *keep;        /* core at the end of a step whose rest is computed in smaller ones */
} run;

/* advance.c: one step, settled, with all that is inside it. AG_END_TIME: the run may go on. */
ag_end ag_trajectory_step(run *r);
/* The end that a trouble of the equations makes. */
ag_end ag_trajectory_trouble(int trouble);
bool ag_trajectory_finite(int n, const double *z);

/* trajectory.c: where the run stands, as a checkpoint that borrows its arrays. */
ag_checkpoint ag_trajectory_here(run *r);
/* The grid point that is recorded next; records those before t1 inside the step of size h from t (dense output
 * prepared), one at t1 itself is left to the caller. False: the sink did not take it. */
double ag_trajectory_grid(const run *r);
bool ag_trajectory_rows(run *r, double t, double h, double t1);
/* Finds the crossings of the step. One that ends the run (a terminal event, the last crossing wanted), or a corner,
 * cuts the step: *t1 is moved back to it, r->cut or r->corner says so. AG_END_TIME: all is well. */
ag_end ag_trajectory_crossings(run *r, double *t1);
/* The end of a step to the corner at s, just before it. */
double ag_trajectory_nothing(const run *r);
double ag_trajectory_before(const run *r, double s);
#endif
