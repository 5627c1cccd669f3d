/* SPDX-License-Identifier: MIT
 * Internals of run/: the lanes of one thread (lanes.c), and what they hold (lanes_make.c). */
#ifndef AG_RUN_LANES_H
#define AG_RUN_LANES_H
#include "run/batch.h"

typedef struct ag_lanes {
  ag_batch_job *b;
  const ag_system *sys;
  int w, n, n_carry;        /* lanes; numbers per member, and of what its method carries on */
  long *member;             /* per lane, -1: none */
  ag_work **work;           /* per lane */
  unsigned long long *seen; /* per lane: the number of steps at the last check of its domain */
  ag_audit *audit;          /* per lane */
  const double **params;    /* per lane: those its work was made for */
  double *p;
  ag_fused_args m;
  bool fixed;      /* fixed steps, after each of which */
  bool settles;    /* a state is put back onto the constraints, as in a single run */
  bool basis;      /* the velocities have one that is renewed */
  bool corners;    /* where the equations have one a member stays in its lane */
  ag_queue *queue; /* where crossings are searched for; else NULL */
  ag_pack *pack;   /* where a section is */
  double *prep[AG_FUSED_TAPES];
  double *t1, *unit, *atol;
  double *z, *dz, *c, *x, *space, *slots, *out, *tolerance; /* one member's, scratch */
} ag_lanes;

void ag_lanes_create(ag_lanes *l, ag_batch_job *b); /* without members */
void ag_lanes_free(ag_lanes *l);
#endif
