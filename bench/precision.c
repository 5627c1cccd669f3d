/* SPDX-License-Identifier: MIT
 * precision MODEL T1 LIMIT NAMES METHODS SETS RTOL ...: single runs by the public library, one JSON object per method
 * and tolerance, in the form of field.h: CPU seconds and the values of NAMES at t = T1. Lists are comma-separated, SETS
 * as "c=1e4" or empty; atol is rtol/100. Of three runs the fastest counts; the time of a run to almost nowhere (loading
 * the kernel) is taken off. A method that takes longer than LIMIT seconds stops there. */
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

/* One run; NULL when it did not arrive. */
static anagyre_motion *go(anagyre_model *m, const anagyre_options *o, double t1, double *seconds) {
  anagyre_options now = *o;
  now.t1 = t1;
  *seconds = cpu_seconds();
  anagyre_motion *r = anagyre_run(m, &now);
  *seconds = cpu_seconds() - *seconds;
  if (r && strcmp(anagyre_motion_end(r), "time reached") == 0) return r;
  fprintf(stderr, "%s at %g: %s\n", o->method, o->rtol, r ? anagyre_motion_end(r) : anagyre_error(m));
  anagyre_motion_free(r);
  return NULL;
}

/* The number of a component, as x, x' or q[3]. */
static double value(const anagyre_motion *r, const char *name) {
  char base[64] = "";
  const char *open = strchr(name, '[');
  snprintf(base, sizeof base, "%.*s", open ? (int)(open - name) : (int)strlen(name), name);
  anagyre_array a = anagyre_motion_final(r, base);
  if (!a.data) exit(3);
  return a.data[open ? atoi(open + 1) - 1 : 0];
}

static void measure(anagyre_model *m, const anagyre_options *o, double limit, int n, char **names, int n_rtol,
                    char **rtols) {
  double fixed = 0, seconds, best = 0;
  for (int i = 0; i < 4; i++) {
    anagyre_motion_free(go(m, o, 1e-9, &seconds));
    if (i == 1 || seconds < fixed) fixed = seconds; /* the first one compiles */
  }
  for (int k = 0; k < n_rtol && best < limit; k++) {
    anagyre_options now = *o;
    anagyre_motion *r = NULL;
    now.rtol = atof(rtols[k]), now.atol = now.rtol * 1e-2;
    for (int repeat = 0; repeat < 3; repeat++) {
      anagyre_motion_free(r);
      r = go(m, &now, o->t1, &seconds);
      if (repeat == 0 || seconds < best) best = seconds;
      if (!r || seconds > limit) break;
    }
    if (!r) continue;
    printf("{\"name\": \"anagyre %s\", \"rtol\": %g, \"seconds\": %.6g, \"steps\": %ld, \"y\": [", o->method, now.rtol,
           best - fixed, anagyre_motion_steps(r));
    for (int i = 0; i < n; i++) printf("%.17g%s", value(r, names[i]), i + 1 < n ? ", " : "]}\n");
    anagyre_motion_free(r);
  }
}

int main(int argc, char **argv) {
  char *names[MOST], *methods[MOST], *sets[MOST];
  if (argc < 8) return 2;
  anagyre_model *m = anagyre_open(argv[1]);
  anagyre_options o = anagyre_defaults();
  o.t1 = atof(argv[2]), o.every = -1, o.engine = "compiled", o.no_events = 1, o.absolute = 1;
  int n = words(argv[4], names), n_method = words(argv[5], methods), n_set = words(argv[6], sets);
  for (int i = 0; i < n_set; i++) {
    char *value_at = strchr(sets[i], '=');
    if (!value_at) return 2;
    *value_at = '\0';
    anagyre_set(m, sets[i], value_at + 1);
  }
  for (int i = 0; i < n_method; i++) {
    o.method = methods[i];
    measure(m, &o, atof(argv[3]), n, names, argc - 7, argv + 7);
  }
  anagyre_close(m);
  return 0;
}
