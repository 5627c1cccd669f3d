/* SPDX-License-Identifier: MIT
 * A model for libraries that integrate: the C that `anagyre emit` wrote for it, and a main program that runs a list of
 * solvers over a list of tolerances and prints one JSON object per run. Made by precision.py, which defines
 *   FIELD_FILE            the emitted file; FIELD(name): NAME_name of it
 *   FIELD_N               numbers of the state
 *   FIELD_PARAMETERS      their values, comma-separated; FIELD_START: the state at t = 0
 * A solver takes y from 0 to t1 and counts right-hand sides; it returns 0 when all went well. */
#ifndef BENCH_FIELD_H
#define BENCH_FIELD_H
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include FIELD_FILE

static const double field_parameters[] = {FIELD_PARAMETERS 0};
static const double field_start[] = {FIELD_START};

static inline int field_rhs(double t, const double *y, double *dy) {
  return FIELD(rhs)(t, y, NULL, field_parameters, dy);
}

static inline int field_jacobian(double t, const double *y, double *J) {
  return FIELD(jacobian)(t, y, NULL, field_parameters, J);
}

typedef struct solver {
  const char *name;
  int stiff; /* for stiff equations */
  int (*solve)(double t1, double rtol, double atol, double *y, long *n_rhs);
} solver;

static double cpu_now(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* PROGRAM T1 LIMIT STIFF RTOL ...: the solvers for stiff equations (STIFF 1) or the others (0); tolerances from loose
 * to tight; a solver that takes longer than LIMIT seconds stops there. Of three runs the fastest counts. */
static int field_main(int argc, char **argv, int n, const solver *all) {
  if (argc < 5) return 2;
  const double t1 = atof(argv[1]), limit = atof(argv[2]);
  for (int i = 0; i < n; i++) {
    double best = 0;
    for (int k = 4; k < argc && best < limit && all[i].stiff == atoi(argv[3]); k++) {
      double y[FIELD_N], rtol = atof(argv[k]);
      long count = 0;
      int bad = 0;
      for (int repeat = 0; repeat < 3; repeat++) {
        memcpy(y, field_start, sizeof y);
        count = 0;
        const double from = cpu_now();
        bad |= all[i].solve(t1, rtol, rtol * 1e-2, y, &count);
        const double taken = cpu_now() - from;
        if (repeat == 0 || taken < best) best = taken;
        if (taken > limit) break;
      }
      if (bad) continue;
      printf("{\"name\": \"%s\", \"rtol\": %g, \"seconds\": %.6g, \"rhs\": %ld, \"y\": [", all[i].name, rtol, best,
             count);
      for (int j = 0; j < FIELD_N; j++) printf("%.17g%s", y[j], j + 1 < FIELD_N ? ", " : "]}\n");
    }
  }
  return 0;
}
#endif
