/* SPDX-License-Identifier: MIT
 * Batches: members distributed over threads, in lanes where the system allows it. Results are stored by member: no
 * number depends on the thread that computed it. */
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/arena.h"
#include "run/batch.h"
#include "run/run_internal.h"

enum { WORTH_COMPILING = 8, MANY_POINTS = 256 }; /* members; points of one of them that are handed on before its end */

void ag_batch_defaults(ag_batch_options *o) {
  *o = (ag_batch_options){0};
  ag_run_defaults(&o->run);
  o->run.events = false;
}

void ag_batch_progress(ag_batch_job *b, bool first) {
  if (first && b->o->progress) b->o->progress(b->o->progress_self, atomic_load(&b->done), b->n);
}

bool ag_batch_halted(const ag_batch_job *b) {
  const atomic_int *stop = b->o->run.stop;
  return (stop && *stop) || atomic_load(&b->refused) || atomic_load(&b->failed);
}

typedef struct handing {
  ag_batch_job *b;
  const ag_batch_part *part;
} handing;

static void hand_on(void *self) {
  const handing *h = self;
  if (!h->b->o->take(h->b->o->take_self, h->part)) atomic_store(&h->b->refused, true);
}

void ag_batch_take(ag_batch_job *b, long i, bool ended) {
  ag_batch_result *r = b->result;
  ag_series *points = r->points ? &r->points[i] : NULL;
  long n = points ? points->n - points->first : 0;
  if (!b->o->take || (!ended && n < MANY_POINTS)) return;
  ag_batch_part part = {.member = i, .n = n};
  if (ended) part.end = &r->members[i], part.record = r->records + i * r->width;
  if (points) part.first = points->first, part.points = points->data;
  char why[AG_HEAP_WHY];
  pthread_mutex_lock(&b->taking); /* no jump over the lock */
  bool good = ag_heap_try(ag_heap_current(), hand_on, &(handing){b, &part}, why);
  pthread_mutex_unlock(&b->taking);
  if (!good) ag_heap_fail(why);
  if (!points) return;
  points->first = points->n;
  if (!ended) return;
  free(points->data);
  points->data = NULL;
  points->cap = 0;
}

/* ---- member by member ---- */

/* A point of a member that runs alone. */
typedef struct pointer {
  ag_batch_job *b;
  long member, n_handed; /* points that were handed on before, when it was in a lane */
} pointer;

static bool take_point(void *self, const double *record) {
  pointer *p = self;
  ag_series *points = &p->b->result->points[p->member];
  if (p->n_handed > 0) {
    p->n_handed--;
    points->first++, points->n++;
    return true;
  }
  bool good = ag_series_row(points, record);
  ag_batch_take(p->b, p->member, false);
  return good && !atomic_load(&p->b->refused);
}

bool ag_batch_has_own(const ag_batch_job *b, long i) { return b->own && b->own[i].sys; }

void ag_batch_alone(ag_batch_job *b, long i, const ag_shared_code *code) {
  ag_ctx ctx = {0};
  ag_run_options o = b->o->run;
  ag_run_result res;
  bool own = ag_batch_has_own(b, i);
  const ag_system *sys = own ? b->own[i].sys : b->sys;
  o.every = -1;
  o.progress = NULL;
  o.each = NULL;
  o.kernel = own ? NULL : b->kernel;
  o.code = own ? NULL : code;
  o.watch = own ? b->own[i].functions : b->functions;
  ag_series *row = b->result->points ? &b->result->points[i] : NULL;
  pointer at = {b, i, row ? row->first : 0};
  if (row) row->n = row->first = 0;
  ag_sink points = {take_point, row ? &at : NULL};
  ag_status status = ag_run(&ctx, sys, b->params + i * ag_system_dims(sys)->param, b->x0 + i * b->n_x, &o,
                            points.self ? &points : NULL, &res);
  AG_ASSERT(status == AG_OK); /* the options were checked before */
  ag_audit audit = ag_audit_of(sys, &b->record, &b->o->run, &res);
  b->result->members[i] = (ag_batch_member){res.end, res.end_event, res.t, res.steps, res.rejected, audit};
  memcpy(b->result->x + i * b->n_x, res.x, sizeof(double) * (size_t)b->n_x);
  memcpy(b->result->records + i * b->result->width, res.record, sizeof(double) * (size_t)b->result->width);
  b->reached[i] = true;
  atomic_fetch_add(&b->done, 1);
  ag_batch_take(b, i, true);
  ag_run_done(&res);
  ag_ctx_done(&ctx);
}

bool ag_batch_eager(const ag_batch_job *b) { return b->o->run.engine == AG_ENGINE_COMPILED && b->n >= WORTH_COMPILING; }

static ag_shared_code code_create(const ag_batch_job *b) {
  ag_shared_code c = {.sys = b->sys, .coder = ag_role_coder_create(b->sys, NULL)};
  if (b->functions) c.watch = ag_watch_code_create(b->functions, ag_batch_eager(b));
  return c;
}

static void code_done(ag_shared_code *c) {
  ag_role_coder_free(c->coder);
  ag_watch_code_free(c->watch);
}

static void run_members(ag_batch_job *b, bool first) {
  ag_shared_code code = code_create(b);
  while (!ag_batch_halted(b) && atomic_load(&b->next) < b->n) {
    long i = atomic_fetch_add(&b->next, 1);
    if (i >= b->n) break;
    if (b->reached[i]) continue; /* known */
    ag_batch_alone(b, i, &code);
    ag_batch_progress(b, first);
  }
  code_done(&code);
}

/* ---- in lanes ---- */

/* Why the system cannot use lanes with these options; NULL: it can. */
static const char *obstacle(const ag_system *sys, const ag_run_options *o) {
  if (o->engine == AG_ENGINE_INTERPRETED) return "the interpreter was requested";
  if (o->multipliers) return "the equations with multipliers were requested";
  if (ag_system_dims(sys)->g && !ag_system_role(sys, AG_ROLE_PROJECT))
    return "there are many constraints on positions, or redundant ones";
  if (ag_system_elimination(sys) == AG_ELIM_BASIS && ag_system_dims(sys)->rank < ag_system_dims(sys)->lambda)
    return "combinations of redundant constraints are chosen on the way";
  if (ag_system_elimination(sys) == AG_ELIM_SADDLE && !ag_system_role(sys, AG_ROLE_ONTO_ROWS))
    return "very many velocities are taken back onto the constraints on the way";
  if (ag_system_watches(sys)) return "rows of the constraints are watched on the way";
  if (ag_system_dims(sys)->fragile && o->dt > 0) return "steps are fixed, and a constraint may vanish on the way";
  if (ag_system_dims(sys)->switches && o->dt > 0)
    return "the equations switch between branches on the way, and steps are fixed";
  if (ag_system_dims(sys)->switches && ag_system_observes_forces(sys))
    return "the equations switch between branches on the way, and forces of constraint are observed";
  if (ag_system_dims(sys)->pulses && o->dt <= 0) return "terms that may be short in time are checked on the way";
  return ag_system_dims(sys)->core ? NULL : "there is nothing to integrate";
}

/* Quaternions and images among the numbers integrated, whose lengths the lanes restore. */
static void find_units(ag_batch_job *b) {
  const ag_system *sys = b->sys;
  int n = ag_mover_in_place(sys, &b->o->run) ? ag_system_units(sys, b->n_z, NULL) : 0;
  ag_span *units = ag_heap_alloc(sizeof *units * (size_t)(n + 1));
  if (n) ag_system_units(sys, b->n_z, units);
  b->n_unit = n;
  b->unit = ag_heap_alloc(sizeof(int) * (size_t)(n + 1));
  b->unit_size = ag_heap_alloc(sizeof(int) * (size_t)(n + 1));
  for (int i = 0; i < n; i++) b->unit[i] = units[i].at, b->unit_size[i] = units[i].n;
  free(units);
}

/* Can the functions be evaluated by code of reasonable length? */
static bool can_look(const ag_tape *watch) {
  enum { LONGEST = 2000 };
  return !watch || watch->n_instr < LONGEST;
}

ag_fused *ag_batch_build(ag_batch_job *b, const ag_build_options *build, ag_text *reason) {
  bool core = b->columns.tape != NULL;
  ag_tape *guard = b->o->run.dt > 0 ? NULL : ag_system_guard(b->sys);
  ag_fused_spec spec = {.method = b->o->run.method,
                        .watch = b->watch.tape,
                        .way = b->watch.way,
                        .cuts = b->watch.cuts,
                        .counts = b->watch.counts,
                        .switches = b->watch.switches,
                        .locate = b->o->run.section > 0,
                        .n_unit = b->n_unit,
                        .unit = b->unit,
                        .unit_size = b->unit_size};
  ag_fused_march_init(&spec, b->sys, &b->o->run, guard, core);
  b->n_tangent = spec.m;
  b->square = ag_flow_square(spec.table, spec.m);
  ag_fused *made = ag_fused_create(&spec, build, reason);
  ag_fused_spec_done(&spec);
  ag_tape_free(guard);
  return made;
}

/* Compiles the lanes; false with result->note when that is not possible. */
static bool prepare_lanes(ag_batch_job *b) {
  ag_system *sys = b->sys;
  const char *why = obstacle(sys, &b->o->run);
  ag_text reason = {0};
  if (!why) why = ag_watch_init(&b->watch, sys, &b->o->run);
  if (!why && !can_look(b->watch.tape)) why = "an event or the section is very long";
  if (why) {
    ag_text_str(&reason, why);
  } else {
    bool core = !b->watch.reads_rest && !b->watch.switches && !ag_system_reads_rest(sys, AG_ROLE_FRAGILE) &&
                b->o->run.dt <= 0 && !(b->o->run.method->needs & AG_NEEDS_FACTORS) &&
                !ag_system_role(sys, AG_ROLE_ONTO_ROWS) && ag_core_columns_init(&b->columns, sys, b->o->columns);
    b->n_z = core ? ag_system_dims(sys)->core : ag_system_dims(sys)->z;
    find_units(b);
    ag_build_options build = {.lanes = b->o->lanes, .compiler = b->o->compiler, .thorough = true};
    b->fused = ag_batch_build(b, &build, &reason);
    b->result->core_only = core && b->fused;
  }
  if (b->fused) {
    b->result->lanes = ag_fused_lanes(b->fused);
    ag_text_done(&reason);
  } else b->result->note = reason.s;
  return b->fused != NULL;
}

/* One kernel for all members that run one by one, and for steps that have to be examined. For few members compiling
 * is not worthwhile; the numbers are the same without it. */
static void prepare_kernel(ag_batch_job *b) {
  const ag_run_options *o = &b->o->run;
  ag_text reason = {0};
  ag_build_options build = {.lanes = 1, .compiler = b->o->compiler};
  build.only_cached = o->engine == AG_ENGINE_AUTO && b->n < WORTH_COMPILING;
  if (o->engine != AG_ENGINE_INTERPRETED && !o->multipliers && ag_system_dims(b->sys)->z)
    b->kernel = ag_mover_kernel(b->sys, o->method, b->result->core_only, false, &build, &reason);
  ag_text_done(&reason);
}

/* ---- threads ---- */

typedef struct worker {
  ag_batch_job *b;
  bool first;
} worker;

static void work(void *self) {
  const worker *w = self;
  if (w->b->fused) ag_batch_lanes(w->b, w->first);
  else run_members(w->b, w->first);
}

/* Members that left their lanes, of any thread. One that was stopped early ends as such. */
static void work_solo(void *self) {
  const worker *w = self;
  ag_batch_job *b = w->b;
  ag_shared_code code = code_create(b);
  for (long i; (i = ag_solo_next(b->solo)) >= 0;) {
    if (atomic_load(&b->refused) || atomic_load(&b->failed)) continue;
    ag_batch_alone(b, i, &code);
    ag_batch_progress(b, w->first);
  }
  code_done(&code);
}

/* When memory runs out in one thread, the others end with their member, too. */
static void guarded(worker w) {
  char why[AG_HEAP_WHY];
  ag_solo_begin(w.b->solo);
  bool good = ag_heap_try(w.b->heap, work, &w, why);
  ag_solo_end(w.b->solo);
  good = good && ag_heap_try(w.b->heap, work_solo, &w, why);
  if (!good && !atomic_exchange(&w.b->failed, 1)) memcpy(w.b->why, why, sizeof why);
}

static void *thread(void *self) {
  guarded((worker){self, false});
  return NULL;
}

static long wanted_threads(const ag_batch_job *b) {
  long cores = sysconf(_SC_NPROCESSORS_ONLN);
  return b->o->threads > 0 ? b->o->threads : cores > 1 ? cores : 1;
}

static void run_threads(ag_batch_job *b) {
  long wanted = wanted_threads(b);
  /* another lane costs only the work done lane by lane, the search for crossings */
  long lanes = b->fused && !b->watch.n ? ag_fused_lanes(b->fused) : 1, left = b->n - atomic_load(&b->done);
  long useful = (left + lanes - 1) / lanes;
  int n = (int)(wanted < useful ? wanted : useful > 1 ? useful : 1), started = 1;
  b->share = (left + n - 1) / n;
  pthread_t *threads = ag_heap_alloc(sizeof *threads * (size_t)n);
  b->heap = ag_heap_current();
  while (started < n && pthread_create(&threads[started], NULL, thread, b) == 0)
    started++; /* with fewer it takes longer */
  guarded((worker){b, true});
  for (int i = 1; i < started; i++) pthread_join(threads[i], NULL);
  free(threads);
  if (b->failed) ag_heap_fail(b->why);
  ag_batch_progress(b, true);
  b->result->threads = started;
}

/* ---- interface ---- */

static double seconds_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static ag_status check(ag_ctx *ctx, const ag_system *sys, const ag_batch_options *o) {
  AG_TRY(ag_run_check(ctx, sys, &o->run));
  if (o->threads >= 0 &&
      (o->lanes == 0 || o->lanes == 1 || o->lanes == 2 || o->lanes == 4 || o->lanes == 8 || o->lanes == 16))
    return AG_OK;
  ag_ctx_error(ctx, (ag_pos){0}, "a batch has 1, 2, 4, 8 or 16 lanes and at least one thread");
  return AG_WRONG;
}

/* Members that were never reached stay at their start. Columns that were not requested are NaN. */
static void complete(ag_batch_job *b) {
  ag_batch_result *r = b->result;
  const ag_record *record = &b->record;
  for (long i = 0; i < b->n; i++) {
    double *row = r->records + i * r->width;
    if (!b->reached[i]) {
      r->members[i] = (ag_batch_member){.end = AG_END_STOPPED, .end_event = -1, .t = b->o->run.t0};
      memcpy(r->x + i * r->n_x, b->x0 + i * r->n_x, sizeof(double) * (size_t)r->n_x);
    }
    for (int c = 0; c < record->n_column; c++) {
      const ag_column *col = &record->columns[c];
      bool keep = b->reached[i] && (!b->o->columns || b->o->columns[c]);
      for (int k = 0; !keep && k < col->rows * col->cols; k++) row[col->offset + k] = NAN;
    }
    if (ag_end_status(r->members[i].end) != AG_OK) r->n_failed++;
  }
}

/* Equations derived for single members, where the options allow them, and their event functions: one tape for each
 * system, members share both. */
static void own_begin(ag_batch_job *b) {
  ag_system *const *own = b->o->own;
  if (!own) return;
  b->own = ag_heap_alloc(sizeof *b->own * (size_t)(b->n + 1));
  for (long i = 0; i < b->n; i++) {
    long like = i - 1;
    while (own[i] && like >= 0 && own[like] != own[i]) like--;
    if (!own[i]) continue;
    if (like >= 0) {
      b->own[i] = b->own[like];
      b->own[i].shared = true;
      continue;
    }
    ag_ctx ctx = {0};
    if (ag_run_check(&ctx, own[i], &b->o->run) == AG_OK)
      b->own[i] = (ag_batch_own){own[i], ag_run_watch(own[i], &b->o->run), false};
    ag_ctx_done(&ctx);
  }
}

static void own_end(ag_batch_job *b) {
  for (long i = 0; b->own && i < b->n; i++)
    if (!b->own[i].shared) ag_tape_free(b->own[i].functions);
  free(b->own);
}

/* Puts in place what is known of members. */
static void recall(ag_batch_job *b) {
  const ag_batch_known *k = b->o->known;
  ag_batch_result *r = b->result;
  for (long i = 0; k && i < b->n; i++) {
    if (!k->there[i]) continue;
    r->members[i] = k->members[i];
    memcpy(r->records + i * r->width, k->records + i * r->width, sizeof(double) * (size_t)r->width);
    for (int j = 0; j < r->n_x; j++) r->x[i * r->n_x + j] = NAN;
    if (r->points) r->points[i].n = r->points[i].first = k->n_point[i];
    b->reached[i] = true;
    atomic_fetch_add(&b->done, 1);
  }
}

ag_status ag_batch(ag_ctx *ctx, ag_system *sys, long n, const double *params, const double *x0,
                   const ag_batch_options *o, ag_batch_result *result) {
  *result = (ag_batch_result){0};
  AG_TRY(check(ctx, sys, o));
  ag_heap_clock_stop(); /* of deriving the equations */
  int n_x = ag_system_dims(sys)->x;
  ag_batch_job b = {.sys = sys, .o = o, .n = n, .until = n, .params = params, .x0 = x0, .n_x = n_x, .result = result};
  ag_record_init(&b.record, sys);
  *result = (ag_batch_result){.n = n, .n_x = n_x, .width = b.record.width};
  result->members = ag_heap_alloc(sizeof *result->members * (size_t)(n + 1));
  result->x = ag_heap_alloc(sizeof(double) * (size_t)(n * n_x + 1));
  result->records = ag_heap_alloc(sizeof(double) * (size_t)(n * result->width + 1));
  b.reached = ag_heap_alloc((size_t)n + 1);
  atomic_init(&b.next, 0);
  atomic_init(&b.done, 0);
  b.solo = ag_solo_create(n);
  if (o->run.section) {
    result->points = ag_heap_alloc(sizeof *result->points * (size_t)(n + 1));
    for (long i = 0; i < n; i++) result->points[i].width = result->width;
  }
  atomic_init(&b.refused, false);
  pthread_mutex_init(&b.taking, NULL);
  recall(&b);
  if (!prepare_lanes(&b) || b.watch.n) prepare_kernel(&b);
  b.functions = ag_run_watch(sys, &o->run);
  own_begin(&b);
  double begun = seconds_now();
  ag_batch_widen(&b, wanted_threads(&b));
  run_threads(&b);
  result->seconds = seconds_now() - begun;
  complete(&b);
  ag_solo_free(b.solo);
  ag_fused_free(b.fused);
  ag_fused_free(b.kernel);
  ag_core_columns_done(&b.columns);
  ag_watch_done(&b.watch);
  ag_tape_free(b.functions);
  own_end(&b);
  ag_record_done(&b.record);
  free(b.unit);
  free(b.unit_size);
  free(b.reached);
  pthread_mutex_destroy(&b.taking);
  return AG_OK;
}
