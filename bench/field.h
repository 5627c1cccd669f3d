/* SPDX-License-Identifier: MIT
 * The system that a library integrates (rival_*): the rattleback written by hand, for the race of race.c; or, where
 * FIELD_FILE is defined, a model as the C that `anagyre emit` wrote for it, with a main program that runs the solvers
 * over a list of tolerances and prints one JSON object per run. precision.py then defines
 *   FIELD_FILE            the emitted file; FIELD(name): NAME_name of it
 *   FIELD_N               numbers of the state
 *   FIELD_PARAMETERS      their values, comma-separated; FIELD_START: the state at t = 0 */
#ifndef BENCH_FIELD_H
#define BENCH_FIELD_H
#include "rival.h"

#ifndef FIELD_FILE
#include "rattleback.h"
enum { FIELD_N = 6 };

static inline int field_rhs(double t, const double *y, double *dy) {
  (void)t;
  rattleback(y, dy);
  return 0;
}

/* Nobody who needs it takes part. */
static inline int field_jacobian(double t, const double *y, double *J) {
  (void)t, (void)y, (void)J;
  return 1;
}
#else
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#ifdef __cplusplus
#define restrict __restrict
#endif
#include FIELD_FILE
#ifdef __cplusplus
#undef restrict
#endif

static const double field_parameters[] = {FIELD_PARAMETERS 0};
static const double field_start[] = {FIELD_START};

static inline int field_rhs(double t, const double *y, double *dy) {
  return FIELD(rhs)(t, y, NULL, field_parameters, dy);
}

static inline int field_jacobian(double t, const double *y, double *J) {
  return FIELD(jacobian)(t, y, NULL, field_parameters, J);
}

static double cpu_now(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* The fastest of several runs, more of short ones; *bad: one did not arrive. */
static double fastest(const rival *who, double t1, double rtol, double limit, double *y, long *count, int *bad) {
  double best = 0, all = 0;
  *bad = 0;
  for (int repeat = 0; repeat < 3 || (repeat < 25 && all < limit); repeat++) {
    memcpy(y, field_start, sizeof field_start);
    *count = 0;
    const double from = cpu_now();
    *bad |= who->solve(t1, rtol, rtol * 1e-2, y, count);
    const double taken = cpu_now() - from;
    if (repeat == 0 || taken < best) best = taken;
    all += taken;
    if (taken > limit) break;
  }
  return best;
}

/* PROGRAM T1 LIMIT STIFF RTOL ...: the solvers for stiff equations (STIFF 1) or the others (0); tolerances from loose
 * to tight; a solver that takes longer than LIMIT seconds stops there. */
int main(int argc, char **argv) {
  int n;
  const rival *all = rivals(&n);
  if (argc < 5) return 2;
  const double t1 = atof(argv[1]), limit = atof(argv[2]);
  for (int i = 0; i < n; i++) {
    double best = 0;
    for (int k = 4; k < argc && best < limit && all[i].stiff == atoi(argv[3]); k++) {
      double y[FIELD_N], rtol = atof(argv[k]);
      long count = 0;
      int bad = 0;
      best = fastest(&all[i], t1, rtol, limit, y, &count, &bad);
      if (bad) continue;
      printf("{\"name\": \"%s\", \"rtol\": %g, \"seconds\": %.6g, \"rhs\": %ld, \"y\": [", all[i].name, rtol, best,
             count);
      for (int j = 0; j < FIELD_N; j++) printf("%.17g%s", y[j], j + 1 < FIELD_N ? ", " : "]}\n");
    }
  }
  return 0;
}
#endif
#endif
