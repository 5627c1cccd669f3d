/* SPDX-License-Identifier: MIT
 * large MODEL STEPS NAME=VALUE ...: a model with these structural parameters, as one line of JSON: its size, the times
 * of reading, deriving, writing the C text and compiling it, of one compiled right-hand side, and of one accepted step
 * of dop853 in a compiled run (with all that belongs to it: projections, energy; what a run of three times so many
 * steps takes longer than one of so many, so that what happens once does not count). CPU times; and the memory that
 * reading and deriving take at their peak. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "common.h"
#include "kern/kern.h"
#include "lang/lang.h"
#include "run/fused.h"

enum { REPEATS = 5 };

static double children(void) {
  struct rusage r;
  getrusage(RUSAGE_CHILDREN, &r);
  return (double)(r.ru_utime.tv_sec + r.ru_stime.tv_sec) + 1e-6 * (double)(r.ru_utime.tv_usec + r.ru_stime.tv_usec);
}

/* The most memory this process has had so far. (The figure of getrusage also counts what was there before exec.) */
static double peak_mb(void) {
  FILE *f = fopen("/proc/self/status", "r");
  char line[256];
  double kb = 0;
  while (f && fgets(line, sizeof line, f))
    if (sscanf(line, "VmHWM: %lf", &kb) == 1) break;
  if (f) fclose(f);
  return 1e-3 * kb;
}

/* The run of the library; the least of some repetitions. *steps: how many there were. */
static double run_seconds(const ag_system *sys, const double *x0, long max_steps, long *steps) {
  double best = INFINITY;
  for (int k = 0; k < REPEATS; k++) {
    ag_ctx ctx = {0};
    ag_run_options o;
    ag_run_result r;
    ag_run_defaults(&o);
    o.every = -1, o.engine = AG_ENGINE_COMPILED, o.events = false, o.t1 = 1e5, o.max_steps = max_steps;
    o.eager = true; /* the code of long runs, from the first step on */
    double t = cpu_seconds();
    if (ag_run(&ctx, sys, ag_system_param_values(sys), x0, &o, NULL, &r) != AG_OK || !r.compiled) exit(1);
    best = fmin(best, cpu_seconds() - t);
    *steps = r.steps;
    ag_run_done(&r);
    ag_ctx_done(&ctx);
  }
  return best;
}

/* One right-hand side of the fused unit, and the size of its text and what the compiler took. */
static double rhs_ns(const ag_system *sys, const double *z, const double *c, size_t *size, double *generate,
                     double *compile) {
  const ag_stepper *method = ag_stepper_find("dop853");
  ag_fused_spec spec = {.tape = ag_system_role(sys, AG_ROLE_RHS),
                        .name = ag_model_name(ag_system_model(sys)),
                        .n = ag_system_dims(sys)->z,
                        .n_norm = ag_system_dims(sys)->core,
                        .method = method};
  ag_build_options how = {.lanes = 1};
  ag_text text = {0}, reason = {0};
  double t = cpu_seconds(), best = INFINITY, at = 0;
  ag_fused_text(&spec, &text);
  *generate = cpu_seconds() - t;
  *size = text.n;
  double before = children();
  ag_fused *fused = ag_fused_create(&spec, &how, &reason);
  *compile = children() - before;
  if (!fused) fprintf(stderr, "%s\n", ag_text_cstr(&reason)), exit(1);
  double *prep = ag_heap_aligned(sizeof(double) * (size_t)(ag_fused_n_prep(fused, AG_FUSED_RHS) + 8));
  double *dz = ag_heap_aligned(sizeof(double) * (size_t)(ag_system_dims(sys)->z + 1));
  unsigned long long fail = 0;
  ag_fused_prep(fused, AG_FUSED_RHS, ag_system_param_values(sys), prep, &fail);
  for (int k = 0; k < 3 * REPEATS; k++) {
    t = cpu_seconds();
    for (int i = 0; i < 10; i++) ag_fused_rhs(fused, &at, z, c, NULL, prep, dz, &fail);
    best = fmin(best, (cpu_seconds() - t) / 10);
  }
  free(prep), free(dz);
  ag_fused_free(fused);
  ag_text_done(&text), ag_text_done(&reason);
  return 1e9 * best;
}

int main(int argc, char **argv) {
  if (argc < 3) return 2;
  ag_set sets[8];
  int n_set = 0;
  for (int i = 3; i < argc && n_set < 8; i++) {
    char *value = strchr(argv[i], '=');
    if (!value) return 2;
    *value = 0;
    sets[n_set++] = (ag_set){argv[i], value + 1};
  }
  loaded l;
  double before = peak_mb();
  load(&l, argv[1], n_set, sets);
  double memory = peak_mb() - before;
  const ag_system *sys = l.system;
  ag_work *w = ag_work_create(sys, ag_system_param_values(sys));
  double *x = ag_heap_alloc(sizeof(double) * (size_t)(ag_system_dims(sys)->x));
  double *z = ag_heap_aligned(sizeof(double) * (size_t)(ag_system_dims(sys)->z + 1)), generate, compile;
  double *c = ag_heap_aligned(sizeof(double) * (size_t)(ag_system_dims(sys)->c + 1)); /* the basis, if there is one */
  ag_system_state0(sys, x);
  if (ag_work_reduce(w, 0, x, c, z)) return 1;
  size_t size;
  long steps = atol(argv[2]), fewer;
  double rhs = rhs_ns(sys, z, c, &size, &generate, &compile);
  double part = run_seconds(sys, x, steps, &fewer), whole = run_seconds(sys, x, 3 * steps, &steps);
  printf("{\"model\": \"%s\", \"velocities\": %d, \"constraints\": %d, \"operations\": %d, \"text\": %zu, "
         "\"eliminated\": %.0f, \"sparse\": %.0f, \"parse_ms\": %.2f, "
         "\"derive_ms\": %.2f, \"derive_mb\": %.2f, "
         "\"generate_ms\": %.2f, \"compile_ms\": %.0f, \"rhs_us\": %.2f, \"step_us\": %.1f}\n",
         ag_model_name(ag_system_model(sys)), ag_system_dims(sys)->xi, ag_system_dims(sys)->lambda,
         ag_tape_cost(ag_system_role(sys, AG_ROLE_RHS)), size, ag_system_closure_cost(sys).eliminated,
         ag_system_closure_cost(sys).sparse, 1e3 * l.parse, 1e3 * l.derive, memory, 1e3 * generate, 1e3 * compile,
         1e-3 * rhs, 1e6 * (whole - part) / (double)(steps - fewer));
  free(x), free(z), free(c);
  ag_work_free(w);
  unload(&l);
  return 0;
}
