/* SPDX-License-Identifier: MIT
 * precision MODEL T1 LIMIT NAMES METHODS SETS RTOL ...: single runs by the public library, one JSON object per method
 * and tolerance, in the form of field.h: CPU seconds and the values of NAMES at t = T1. Lists are comma-separated, SETS
 * as "c=1e4" or empty; atol is rtol/100. Of several runs, more of short ones, the fastest counts; the time of a run to
 * almost nowhere (loading the kernel) is taken off. Longer runs come first, so that all that is compiled on the way is
 * there. A method that takes longer than LIMIT seconds stops there. */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/anagyre.h"
#include "common.h"

enum { MOST = 64 };

/* Cuts a list into its words. */
static int words(char *list, char **out) {
  int n = 0;
  for (char *w = strtok(list, ","); w && n < MOST; w = strtok(NULL, ",")) out[n++] = w;
  return n;
}

typedef struct job {
  anagyre_model *m;
  anagyre_options o;
  bool batch; /* as a batch of one member: the march without the checks of a single run */
  int n;
  char **names;
  double y[MOST];
  long steps;
} job;

/* The number of a component, as x, x' or q[3], of a single run. */
static double value(const anagyre_motion *r, const char *name) {
  char base[64] = "";
  const char *open = strchr(name, '[');
  snprintf(base, sizeof base, "%.*s", open ? (int)(open - name) : (int)strlen(name), name);
  anagyre_array a = anagyre_motion_final(r, base);
  return a.data ? a.data[open ? atoi(open + 1) - 1 : 0] : NAN;
}

static bool run_one(job *j) {
  anagyre_motion *r = anagyre_run(j->m, &j->o);
  bool good = r && !anagyre_motion_failed(r);
  for (int i = 0; i < j->n && good; i++) j->y[i] = value(r, j->names[i]);
  j->steps = good ? anagyre_motion_steps(r) : 0;
  anagyre_motion_free(r);
  return good;
}

static bool run_batch(job *j) {
  anagyre_batch *b = anagyre_run_many(j->m, 1, 0, NULL, NULL, &j->o);
  bool good = b && anagyre_batch_n_failed(b) == 0;
  for (int i = 0; i < j->n && good; i++) {
    anagyre_array a = anagyre_batch_column(b, j->names[i]);
    j->y[i] = a.data ? a.data[0] : NAN;
  }
  j->steps = good ? anagyre_batch_steps(b, 0) : 0;
  anagyre_batch_free(b);
  return good;
}

/* One run; -1 when it did not arrive. */
static double go(job *j, double t1) {
  j->o.t1 = t1;
  const double from = cpu_seconds();
  const bool good = j->batch ? run_batch(j) : run_one(j);
  const double taken = cpu_seconds() - from;
  if (!good) fprintf(stderr, "%s at %g: %s\n", j->o.method, j->o.rtol, anagyre_error(j->m));
  return good ? taken : -1;
}

static void measure(job *j, double t1, double limit, int n_rtol, char **rtols) {
  double fixed = 0, best = 0;
  j->o.rtol = 1e-10, j->o.atol = 1e-12;
  for (double t = t1, seconds = 0; !j->batch && seconds >= 0 && seconds < 4 * limit; t *= 2) seconds = go(j, t);
  for (int i = 0; i < 15; i++) {
    const double seconds = go(j, 1e-9);
    if (i <= 1 || seconds < fixed) fixed = seconds; /* the first one compiles */
  }
  for (int k = 0; k < n_rtol && best < limit; k++) {
    double seconds = 0, all = 0;
    j->o.rtol = atof(rtols[k]), j->o.atol = j->o.rtol * 1e-2;
    for (int i = 0; (i < 3 || (i < 25 && all < limit)) && seconds >= 0 && seconds < limit; i++) {
      seconds = go(j, t1);
      all += seconds;
      if (i == 0 || seconds < best) best = seconds;
    }
    if (seconds < 0) continue;
    printf("{\"name\": \"anagyre %s%s\", \"rtol\": %g, \"seconds\": %.6g, \"steps\": %ld, \"y\": [", j->o.method,
           j->batch ? ", batch" : "", j->o.rtol, best - fixed, j->steps);
    for (int i = 0; i < j->n; i++) printf("%.17g%s", j->y[i], i + 1 < j->n ? ", " : "]}\n");
  }
}

int main(int argc, char **argv) {
  char *names[MOST], *methods[MOST], *sets[MOST];
  if (argc < 8) return 2;
  char columns[1024] = "";
  snprintf(columns, sizeof columns, "%s", argv[4]);
  anagyre_model *m = anagyre_open(argv[1]);
  anagyre_options o = anagyre_defaults();
  o.every = -1, o.engine = "compiled", o.no_events = 1, o.absolute = 1, o.threads = o.lanes = 1;
  o.columns = columns;
  int n = words(argv[4], names), n_method = words(argv[5], methods), n_set = words(argv[6], sets);
  for (int i = 0; i < n_set; i++) {
    char *value_at = strchr(sets[i], '=');
    if (!value_at) return 2;
    *value_at = '\0';
    anagyre_set(m, sets[i], value_at + 1);
  }
  for (int i = 0; i < 2 * n_method; i++) {
    job j = {.m = m, .o = o, .batch = i % 2, .n = n, .names = names};
    j.o.method = methods[i / 2];
    measure(&j, atof(argv[2]), atof(argv[3]), argc - 7, argv + 7);
  }
  anagyre_close(m);
  return 0;
}
