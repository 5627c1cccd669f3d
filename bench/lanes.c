/* SPDX-License-Identifier: MIT
 * lanes [METHOD DT] MODEL.nh ...: for each model file, one line of JSON: a batch of members near the start of the
 * model, with velocities that differ by up to 2 %, with its events and steps of at most 0.5 (as in models.c), in one
 * lane and in those of the machine, by turns on one thread; METHOD in fixed steps of DT. With BENCH_SECTION=1: its
 * first section as well. ns: of CPU time per step of a member; ratio: one lane against all, the median over
 * neighbouring runs. BENCH_LANES: another number of lanes. A model that does not go through lanes gives the reason. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common.h"
#include "kern/kern.h"

enum { MEMBERS = 64, MOST_MEMBERS = 1024, REPEATS = 5 };
static const double LONGEST = 0.5, SPREAD = 0.02;
/* Seconds of a measurement in one lane, about: what a batch does once, some milliseconds, should not count. */
static const double SLICE = 0.4;

typedef struct crowd {
  ag_system *sys;
  const ag_stepper *method; /* NULL: the usual one, with its own steps */
  double dt;
  double *params, *x0, t1;
  int n; /* members */
} crowd;

/* CPU seconds of moving all; *steps: of all members; *note: why not in lanes, to be freed. */
static double move(const crowd *c, int lanes, long *steps, char **note) {
  ag_batch_options o;
  ag_batch_result r;
  ag_ctx ctx = {0};
  ag_batch_defaults(&o);
  o.run.t1 = c->t1, o.run.events = true, o.run.engine = AG_ENGINE_COMPILED, o.run.h_max = LONGEST;
  o.run.noise = AG_NOISE_OFF;
  o.run.section = getenv("BENCH_SECTION") && ag_model_n_sections(ag_system_model(c->sys)) ? 1 : 0;
  if (c->method) o.run.method = c->method, o.run.dt = c->dt;
  ag_run_prepare(c->sys, &o.run);
  o.lanes = lanes, o.threads = 1, o.compiler = getenv("BENCH_CC");
  double t = cpu_seconds();
  if (ag_batch(&ctx, c->sys, c->n, c->params, c->x0, &o, &r) != AG_OK) exit(1);
  t = cpu_seconds() - t;
  *steps = 0;
  for (int i = 0; i < c->n; i++) *steps += r.members[i].steps;
  *note = r.note;
  r.note = NULL;
  ag_batch_done(&r);
  ag_ctx_done(&ctx);
  return t;
}

/* All lanes: those of the machine, or BENCH_LANES of them. */
static int wanted_lanes(void) {
  const char *wish = getenv("BENCH_LANES");
  return wish ? atoi(wish) : ag_build_lanes();
}

static void print(const crowd *c, const char *name) {
  double ratio[REPEATS], one[REPEATS], all[REPEATS];
  int lanes = wanted_lanes();
  long steps;
  char *note;
  for (int i = 0; i < REPEATS; i++) {
    one[i] = move(c, 1, &steps, &note);
    free(note);
    all[i] = move(c, lanes, &steps, &note);
    free(note);
    ratio[i] = one[i] / all[i];
  }
  printf("{\"model\": \"%s\", \"lanes\": %d, \"t1\": %.3g, \"steps\": %ld, \"one_ns\": %.1f, \"ns\": %.1f, \"ratio\": "
         "%.3g}\n",
         name, lanes, c->t1, steps / c->n, 1e9 * median(REPEATS, one) / (double)steps,
         1e9 * median(REPEATS, all) / (double)steps, median(REPEATS, ratio));
}

static void one(const char *path, const ag_stepper *method, double dt) {
  loaded l;
  load(&l, path, 0, NULL);
  const ag_dims *d = ag_system_dims(l.system);
  crowd c = {.sys = l.system, .method = method, .dt = dt, .t1 = 1, .n = MEMBERS};
  c.params = ag_heap_alloc(sizeof(double) * (size_t)(MOST_MEMBERS * d->param + 1));
  c.x0 = ag_heap_alloc(sizeof(double) * (size_t)(MOST_MEMBERS * d->x + 1));
  ag_work *work = ag_work_create(l.system, ag_system_param_values(l.system));
  for (int i = 0; i < MOST_MEMBERS; i++) {
    double *x = c.x0 + i * d->x, size = 1 + SPREAD * (i % MEMBERS) / MEMBERS;
    memcpy(c.params + i * d->param, ag_system_param_values(l.system), sizeof(double) * (size_t)d->param);
    ag_system_state0(l.system, x);
    for (int k = d->q; k < d->x; k++) x[k] *= size;
    if (ag_work_settle_full(work, 0, x) != AG_FINE) exit(1);
  }
  ag_work_free(work);
  long steps = 0, before;
  char *note;
  (void)move(&c, wanted_lanes(), &steps, &note); /* compiles */
  (void)move(&c, 1, &steps, &note);
  if (note) {
    printf("{\"model\": \"%s\", \"note\": \"%s\"}\n", ag_model_name(ag_system_model(l.system)), note);
  } else { /* until one measurement takes long enough: longer; where events end the motion, more members */
    double seconds;
    do {
      before = steps;
      c.t1 *= 2;
      seconds = move(&c, 1, &steps, &note);
    } while (seconds < SLICE && steps > before && c.t1 < 1e5);
    for (; seconds < SLICE && 2 * c.n <= MOST_MEMBERS; seconds *= 2) c.n *= 2;
    print(&c, ag_model_name(ag_system_model(l.system)));
  }
  fflush(stdout);
  free(c.params), free(c.x0);
  unload(&l);
}

int main(int argc, char **argv) {
  const ag_stepper *method = argc > 3 ? ag_stepper_find(argv[1]) : NULL;
  double dt = method ? strtod(argv[2], NULL) : 0;
  for (int i = method ? 3 : 1; i < argc; i++) one(argv[i], method, dt);
  return argc < 2 ? 2 : 0;
}
