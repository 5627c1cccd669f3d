/* SPDX-License-Identifier: MIT
 * Internals of run/: corners of the equations, met by members of a batch. */
#ifndef AG_RUN_CORNER_H
#define AG_RUN_CORNER_H
#include "run/trajectory.h"

/* What the steps of a trajectory need, beside its mover, which is the caller's; o is kept. */
void ag_corner_create(run *r, const ag_system *sys, const ag_run_options *o);
void ag_corner_free(run *r);
/* From r->t, the state of the mover, r->h, the control and the numbers of steps in r->res: makes steps until the next
 * corner is passed, or one step where they switch. AG_END_TIME: the motion goes on from there. */
ag_end ag_corner_pass(run *r);
#endif
