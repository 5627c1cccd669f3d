/* SPDX-License-Identifier: MIT
 * What the speed programs share: clocks, models from files, batches of rattlebacks. */
#ifndef BENCH_COMMON_H
#define BENCH_COMMON_H
#include <stdio.h>

#include "base/arena.h"
#include "lang/lang.h"
#include "mech/mech.h"
#include "run/run.h"

double cpu_seconds(void); /* of this thread: what other programs take does not count */
double wall_seconds(void);
double median(int n, double *x); /* sorts x */

/* A model from a file, and how long it took to read and to derive. */
typedef struct loaded {
  ag_ctx ctx;
  char *text;
  ag_model *model;
  ag_system *system;
  double parse, derive; /* seconds */
} loaded;
/* Ends the program when the model is wrong. */
void load(loaded *l, const char *path, int n_set, const ag_set *sets);
void unload(loaded *l);

/* A batch of rattlebacks (models/rattleback_bench.nh) through ag_batch, on one thread. */
typedef struct stones {
  ag_system *sys;
  int n, n_x, up, omega; /* places of the vertical and the angular velocity in a record */
  double *params, *x0, t1, rtol, atol;
  bool *columns; /* vertical and angular velocity: nothing else is integrated */
} stones;
/* n start states over a grid of tilts and spins; n = 1: the start of the model. */
void stones_create(stones *s, ag_system *sys, int n);
void stones_free(stones *s);
/* CPU seconds of moving them to t1; whole: with position and orientation. out: n x 6, angular velocity and vertical at
 * the end; rhs: right-hand sides in all. Ends the program when one of them fails or nothing was compiled. */
double stones_move(const stones *s, int lanes, bool whole, double *out, long *rhs);
void stones_start(const stones *s, int i, double *out); /* the same six numbers at the start */
#endif
