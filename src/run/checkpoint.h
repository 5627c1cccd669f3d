/* SPDX-License-Identifier: MIT
 * Checkpoints: what a run continues from. Part of the front header run.h. */
#ifndef AG_RUN_CHECKPOINT_H
#define AG_RUN_CHECKPOINT_H
#include <stdbool.h>

#include "step/step.h"

/* Everything needed to continue a run with the same bits as one that was never interrupted: plain data. It is taken
 * where no step has yet been shortened by the end time: before the first try that would have reached t1. Rows and
 * events after it belong to the shorter run alone (docs/results.md). */
typedef struct ag_checkpoint {
  bool made;        /* otherwise the rest is meaningless */
  int n, n_carry;   /* sizes of z; of dz: the rates, then what belongs to the stepper alone */
  int n_unit;       /* size of unit */
  int n_atol;       /* size of atol; 0: all are that of the control */
  int n_c, n_event; /* sizes of c; of sign, event_count and event_times */
  double t, h;      /* where; the next step size to try */
  double smooth;    /* before a corner: the step size to resume with after it; 0: no corner ahead */
  double switch_t,
      switch_gap; /* of equations that switch: time of the last switch (NaN: none), largest gap between two */
  long n_switch;  /* and how many followed each other in negligible time */
  double reach;   /* a run to any t1 beyond this one comes through here */
  double mark;    /* where the motion was some tries ago, and */
  long n_mark;    /* how many had been rejected there */
  long left;      /* of the domain: as in ag_run_result */
  double left_t, left_value, left_from, left_to;
  double t_row;       /* time of the last row; NaN: none */
  long n_row, n_grid; /* rows recorded; points of the grid of --every passed */
  long steps, rejected, rhs;
  double energy0, energy_size, energy_drift, residual_max, work, work_t, work_energy;
  ag_control control;
  double *unit;            /* squared lengths of the groups that keep them */
  double *atol;            /* absolute tolerances of the full state */
  double *z, *dz, *c;      /* state (reduced, or full with multipliers), its rate, basis data */
  int *sign, *event_count; /* per event */
  double **event_times;    /* borrowed from the result: the first event_count of each are meant */
} ag_checkpoint;
#endif
