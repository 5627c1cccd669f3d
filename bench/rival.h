/* SPDX-License-Identifier: MIT
 * Who takes part: a list of solvers of one system. In the race of race.c each is a loaded library, and the system the
 * rattleback of rattleback.h. */
#ifndef BENCH_RIVAL_H
#define BENCH_RIVAL_H
typedef struct rival {
  const char *name;
  /* Takes y from 0 to t1 with relative tolerance rtol and absolute tolerance atol; counts right-hand sides. Returns 0
   * when all went well. */
  int (*solve)(double t1, double rtol, double atol, double *y, long *n_rhs);
  int stiff; /* for stiff equations, by the Jacobian: not in the race */
} rival;
/* Of hand_lanes.c: takes n stones from y0 to t1, into y, 6 numbers each. */
typedef int rival_many(double t1, double rtol, double atol, int n, const double *y0, double *y, long *n_rhs);
typedef const rival *rival_list(int *n); /* the one exported function, called "rivals" */
#ifdef __cplusplus
extern "C"
#endif
    rival_list rivals;
#endif
