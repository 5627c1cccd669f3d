/* SPDX-License-Identifier: MIT
 * models MODEL ...: for each model file, one line of JSON with the times of its parts: reading, deriving, writing the C
 * text, compiling, loading from the cache; one right-hand side interpreted and compiled for 1, 2, 4 and 8 lanes
 * (nanoseconds per trajectory); one accepted step of dop853 in a run of the library, interpreted and compiled, and one
 * try of the compiled stepper alone. The cache should be empty before ($XDG_CACHE_HOME). Times are CPU times, except
 * those of the compiler. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "common.h"
#include "kern/kern.h"
#include "run/fused.h"

static const double SLICE = 0.004; /* seconds of one measurement; the least of REPEATS counts, as noise only adds */
enum { REPEATS = 7, MAX_Z = 4096 };

typedef struct bench {
  const ag_system *sys;
  ag_work *work;
  double *x, *z, *c;
  ag_build_options how;
} bench;

/* Nanoseconds of one call of f. */
static double nanoseconds(void (*f)(void *), void *self) {
  long n = 1;
  double best = INFINITY;
  for (;; n *= 2) {
    double t = cpu_seconds();
    for (long i = 0; i < n; i++) f(self);
    if (cpu_seconds() - t > SLICE / 2) break;
  }
  for (int k = 0; k < REPEATS; k++) {
    double t = cpu_seconds();
    for (long i = 0; i < n; i++) f(self);
    best = fmin(best, cpu_seconds() - t);
  }
  return 1e9 * best / (double)n;
}

/* ---- right-hand sides ---- */

typedef struct field {
  const bench *b;
  ag_kernel *kernel;
  ag_kargs args;
  double *dz;
} field;

static void interpret(void *self) {
  field *f = self;
  (void)ag_work_rhs(f->b->work, 0.1, f->b->z, f->b->c, f->dz);
}

static void compiled(void *self) {
  field *f = self;
  ag_kernel_run(f->kernel, &f->args);
}

static double *spread(int n, const double *x, int lanes) {
  double *all = ag_heap_aligned(sizeof(double) * (size_t)(n + 1) * (size_t)lanes);
  for (int i = 0; i < n; i++)
    for (int l = 0; l < lanes; l++) all[i * lanes + l] = x[i];
  return all;
}

/* Nanoseconds per trajectory of one right-hand side over lanes; -1 when it was not compiled. */
static double lanes_ns(const bench *b, int lanes) {
  const ag_system *sys = b->sys;
  ag_build_options how = b->how;
  ag_kernel_spec spec = {.tape = ag_system_role(sys, AG_ROLE_RHS),
                         .name = "rhs",
                         .n = {[AG_SEG_T] = 1,
                               [AG_SEG_Z] = ag_system_dims(sys)->z,
                               [AG_SEG_P] = ag_system_dims(sys)->param,
                               [AG_SEG_C] = ag_system_dims(sys)->c}};
  how.lanes = lanes;
  field f = {.b = b, .kernel = ag_kernel_create(&spec, &how)};
  double ns = -1, t = 0.1;
  if (ag_kernel_compiled(f.kernel)) {
    double *times = spread(1, &t, lanes), *z = spread(ag_system_dims(sys)->z, b->z, lanes),
           *c = spread(ag_system_dims(sys)->c, b->c, lanes);
    double *p = spread(ag_system_dims(sys)->param, ag_system_param_values(sys), lanes),
           *work = ag_heap_aligned(sizeof(double) * (ag_kernel_work(f.kernel) + 8));
    double *out = ag_heap_aligned(sizeof(double) * (size_t)(ag_system_dims(sys)->z + 1) * (size_t)lanes);
    unsigned long long fail[16] = {0};
    const double *const seg[AG_SEG_COUNT] = {[AG_SEG_T] = times, [AG_SEG_Z] = z, [AG_SEG_P] = p, [AG_SEG_C] = c};
    f.args = (ag_kargs){.abi = AG_KERN_ABI, .n_block = 1, .seg = seg, .out = out, .fail = fail, .work = work};
    ag_kernel_prep(f.kernel, &f.args);
    ns = nanoseconds(compiled, &f) / lanes;
    void *all[] = {times, z, c, p, work, out};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i]);
  }
  ag_kernel_free(f.kernel);
  return ns;
}

/* ---- steps ---- */

/* Nanoseconds of CPU time per accepted step of a run; *share: tries per accepted step. Steps are limited: a motion
 * whose core is at rest would else take all of it in one, and its reconstruction in very many. */
static double step_ns(const bench *b, ag_engine engine, double *share) {
  const ag_system *sys = b->sys;
  double half = INFINITY, whole = INFINITY;
  long steps = 0, tries = 0, before = 0;
  ag_run_options o;
  ag_run_defaults(&o);
  o.every = -1, o.engine = engine, o.events = false, o.t1 = 1e5, o.h_max = 0.5,
  o.max_steps = engine == AG_ENGINE_COMPILED ? 8000 : 1600;
  for (int k = 0; k < 3; k++) {
    ag_ctx ctx = {0};
    ag_run_result r;
    ag_run_options first = o;
    first.max_steps = o.max_steps / 2;
    double t0 = cpu_seconds();
    if (ag_run(&ctx, sys, ag_system_param_values(sys), b->x, &first, NULL, &r) != AG_OK) return -1;
    double t1 = cpu_seconds();
    before = r.steps;
    ag_run_done(&r);
    if (ag_run(&ctx, sys, ag_system_param_values(sys), b->x, &o, NULL, &r) != AG_OK) return -1;
    double t2 = cpu_seconds();
    steps = r.steps, tries = r.steps + r.rejected;
    bool wanted = r.compiled == (engine == AG_ENGINE_COMPILED);
    ag_run_done(&r);
    ag_ctx_done(&ctx);
    if (steps < before + 10 || !wanted) return -1;
    half = fmin(half, t1 - t0), whole = fmin(whole, t2 - t1);
  }
  *share = (double)tries / (double)steps;
  return 1e9 * (whole - half) / (double)(steps - before); /* of the second half: what else a run costs is taken off */
}

typedef struct stepping {
  ag_fused *fused;
  ag_fused_args args;
} stepping;

static void one_try(void *self) {
  stepping *s = self;
  ag_fused_step(s->fused, &s->args);
}

/* ---- text, compiler, cache ---- */

typedef struct making {
  double generate, compile, compile_cpu, cached, try_ns;
} making;

/* CPU seconds of the children that have ended: the compiler. */
static double children(void) {
  struct rusage r;
  getrusage(RUSAGE_CHILDREN, &r);
  return (double)(r.ru_utime.tv_sec + r.ru_stime.tv_sec) + 1e-6 * (double)(r.ru_utime.tv_usec + r.ru_stime.tv_usec);
}

static bool make_fused(const bench *b, making *m) {
  const ag_system *sys = b->sys;
  const ag_stepper *method = ag_stepper_find("dop853");
  int n = ag_system_dims(sys)->z;
  ag_build_options how = b->how;
  ag_fused_spec spec = {.tape = ag_system_role(sys, AG_ROLE_RHS),
                        .name = ag_model_name(ag_system_model(sys)),
                        .n = n,
                        .n_norm = ag_system_dims(sys)->core,
                        .method = method};
  ag_text text = {0}, reason = {0};
  how.lanes = 1;
  double t = cpu_seconds();
  ag_fused_text(&spec, &text);
  m->generate = cpu_seconds() - t;
  ag_text_done(&text);
  t = wall_seconds();
  double before = children();
  ag_fused *fused = ag_fused_create(&spec, &how, &reason);
  m->compile = wall_seconds() - t - m->generate;
  m->compile_cpu = children() - before;
  ag_fused_free(fused);
  t = cpu_seconds();
  fused = ag_fused_create(&spec, &how, &reason);
  m->cached = cpu_seconds() - t - m->generate;
  if (!fused) fprintf(stderr, "%s: %s\n", ag_model_name(ag_system_model(sys)), ag_text_cstr(&reason));
  ag_text_done(&reason);
  if (!fused) return false;
  double time = 0.1, h = 1e-3, atol = 1e-12, error[2];
  double *room = ag_heap_aligned(sizeof(double) * (method->room(n, n, n * n).size + 8));
  double *prep = ag_heap_aligned(sizeof(double) * (size_t)(ag_fused_n_prep(fused, AG_FUSED_RHS) + 8)),
         *z1 = ag_heap_aligned(sizeof(double) * (size_t)(n + 1));
  unsigned long long fail = 0;
  ag_fused_prep(fused, AG_FUSED_RHS, ag_system_param_values(sys), prep, &fail);
  stepping s = {fused,
                {.t = &time,
                 .h = &h,
                 .z = b->z,
                 .c = b->c,
                 .prep = prep,
                 .z1 = z1,
                 .error = error,
                 .work = room,
                 .fail = &fail,
                 .rtol = 1e-10,
                 .atol = &atol}};
  ag_fused_rhs(fused, &time, b->z, b->c, NULL, prep, room, &fail);
  m->try_ns = nanoseconds(one_try, &s);
  free(room), free(prep), free(z1);
  ag_fused_free(fused);
  return true;
}

static void print_ns(const char *name, double ns) {
  if (ns >= 0) printf(", \"%s\": %.1f", name, ns);
  else printf(", \"%s\": null", name);
}

static void one(const char *path) {
  loaded l;
  load(&l, path, 0, NULL);
  ag_run_options usual;
  ag_run_defaults(&usual);
  ag_run_prepare(l.system, &usual); /* as the program does before a run */
  const ag_system *sys = l.system;
  if (ag_system_dims(sys)->z < 1 || ag_system_dims(sys)->z > MAX_Z) return;
  size_t n_x = (size_t)(ag_system_dims(sys)->x);
  bench b = {.sys = sys,
             .work = ag_work_create(sys, ag_system_param_values(sys)),
             .x = ag_heap_alloc(sizeof(double) * (n_x + 1)),
             .z = ag_heap_aligned(sizeof(double) * (size_t)(ag_system_dims(sys)->z + 1)),
             .c = ag_heap_aligned(sizeof(double) * (size_t)(ag_system_dims(sys)->c + 1)),
             .how = {.compiler = getenv("BENCH_CC"), .flags = getenv("BENCH_FLAGS")}};
  ag_system_state0(sys, b.x);
  if (ag_work_reduce(b.work, 0, b.x, b.c, b.z)) exit(1);
  making m = {-1, -1, -1, -1, -1};
  bool made = make_fused(&b, &m);
  field f = {.b = &b, .dz = ag_heap_alloc(sizeof(double) * (size_t)(ag_system_dims(sys)->z + 1))};
  double share[2] = {0, 0};
  printf("{\"model\": \"%s\", \"n_z\": %d, \"n_core\": %d, \"operations\": %d, \"operations_core\": %d",
         ag_model_name(ag_system_model(sys)), ag_system_dims(sys)->z, ag_system_dims(sys)->core,
         ag_tape_cost(ag_system_role(sys, AG_ROLE_RHS)), ag_tape_cost(ag_system_role(sys, AG_ROLE_CORE)));
  printf(", \"parse_ms\": %.3f, \"derive_ms\": %.3f, \"generate_ms\": %.3f", 1e3 * l.parse, 1e3 * l.derive,
         1e3 * m.generate);
  if (made)
    printf(", \"compile_ms\": %.1f, \"compile_cpu_ms\": %.1f, \"load_ms\": %.3f", 1e3 * m.compile, 1e3 * m.compile_cpu,
           1e3 * m.cached);
  print_ns("rhs_interpreted_ns", nanoseconds(interpret, &f));
  static const int lanes[] = {1, 2, 4, 8};
  for (int i = 0; i < 4; i++) {
    char name[32];
    snprintf(name, sizeof name, "rhs_%d_ns", lanes[i]);
    print_ns(name, lanes_ns(&b, lanes[i]));
  }
  print_ns("try_ns", m.try_ns);
  print_ns("step_interpreted_ns", step_ns(&b, AG_ENGINE_INTERPRETED, &share[0]));
  print_ns("step_ns", step_ns(&b, AG_ENGINE_COMPILED, &share[1]));
  printf(", \"tries_per_step\": %.3f}\n", share[1]);
  fflush(stdout);
  free(b.x), free(b.z), free(b.c), free(f.dz);
  ag_work_free(b.work);
  unload(&l);
}

int main(int argc, char **argv) {
  for (int i = 1; i < argc; i++) one(argv[i]);
  return argc < 2 ? 2 : 0;
}
