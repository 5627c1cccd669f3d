/* SPDX-License-Identifier: MIT
 * Bundles of paths: blocks distributed over threads, results at their own places. */
#include "run/bundle.h"

#include <math.h>
#include <pthread.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/heap.h"
#include "run/run.h"
#include "run/walk.h"

struct ag_bundle {
  ag_walk_plan plan;
  ag_ensemble_options o;
  unsigned long long row; /* the one row: the end */
};

enum { BLOCK = 64 }; /* paths that a thread takes at a time */

typedef struct job {
  const ag_bundle *b;
  unsigned long long first;
  long n;
  double *values;
  atomic_long next;
  pthread_mutex_t lock; /* of all below */
  ag_heap *heap;
  double seconds;
  bool failed; /* memory ran out in a thread */
  char why[AG_HEAP_WHY];
} job;

static double thread_seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Paths at .. at + n - 1 of the job. */
static void follow(const job *j, ag_walk *walk, long at, int n) {
  const int n_value = j->b->plan.n_value, width = ag_walk_width(&j->b->plan);
  int *rows = ag_heap_alloc(sizeof *rows * (size_t)width);
  long *cut = ag_heap_alloc(sizeof *cut * 2 * (size_t)width);
  double passed, *values = ag_heap_alloc(sizeof *values * (size_t)(n_value * width + 1));
  for (int m = 0; m < n; m += width) {
    const int count = n - m < width ? n - m : width;
    const bool halted = j->b->o.stop && *j->b->o.stop;
    const ag_walk_results to = {values, &passed, (size_t)width, rows, cut, cut + width};
    if (!halted) ag_walk_block(walk, j->first + (unsigned long long)(at + m), count, &to);
    for (int k = 0; k < count; k++)
      for (int i = 0; i < n_value; i++)
        j->values[(size_t)(at + m + k) * (size_t)n_value + (size_t)i] = halted || rows[k] < 1 ? NAN
                                                                                              : values[i * width + k];
  }
  free(rows), free(cut), free(values);
}

static void work(void *self) {
  job *j = self;
  const double begun = thread_seconds();
  ag_walk *walk = ag_walk_create(&j->b->plan);
  for (;;) {
    const long at = atomic_fetch_add(&j->next, BLOCK);
    if (at >= j->n) break;
    follow(j, walk, at, j->n - at < BLOCK ? (int)(j->n - at) : BLOCK);
  }
  ag_walk_free(walk);
  pthread_mutex_lock(&j->lock);
  j->seconds += thread_seconds() - begun;
  pthread_mutex_unlock(&j->lock);
}

static void *thread(void *self) {
  job *j = self;
  char why[AG_HEAP_WHY];
  if (ag_heap_try(j->heap, work, j, why)) return NULL;
  pthread_mutex_lock(&j->lock);
  if (!j->failed) memcpy(j->why, why, sizeof why);
  j->failed = true;
  pthread_mutex_unlock(&j->lock);
  return NULL;
}

double ag_bundle_follow(ag_bundle *b, int level, unsigned long long steps, unsigned long long first, long n,
                        double *values) {
  const long cores = sysconf(_SC_NPROCESSORS_ONLN), wanted = b->o.threads > 0 ? b->o.threads : cores > 1 ? cores : 1;
  const long blocks = (n + BLOCK - 1) / BLOCK;
  const int most = (int)(wanted < blocks ? wanted : blocks > 1 ? blocks : 1);
  b->o.path.level = b->plan.path.level = level;
  b->row = steps;
  b->plan.h = ldexp(b->o.path.base * b->o.path.multiple, -level);
  b->plan.most = ag_run_cut(b->plan.sys, b->o.method, b->plan.h);
  job j = {.b = b, .first = first, .n = n, .values = values, .heap = ag_heap_current()};
  pthread_mutex_init(&j.lock, NULL);
  pthread_t *threads = ag_heap_alloc(sizeof *threads * (size_t)most);
  int started = 1;
  while (started < most && pthread_create(&threads[started], NULL, thread, &j) == 0) started++;
  (void)thread(&j);
  for (int i = 1; i < started; i++) pthread_join(threads[i], NULL);
  pthread_mutex_destroy(&j.lock);
  free(threads);
  if (j.failed) ag_heap_fail(j.why);
  return j.seconds;
}

ag_status ag_bundle_create(ag_ctx *ctx, ag_system *sys, const double *params, const double *x0,
                           const ag_ensemble_options *o, ag_bundle **bundle) {
  ag_bundle *b = *bundle = ag_heap_alloc(sizeof *b);
  ag_text note = {0};
  b->o = *o;
  if (b->o.path.multiple < 1) b->o.path.multiple = 1;
  b->o.path.level = 0;
  b->o.n_row = 1, b->o.row_step = &b->row;
  b->o.n_passage = b->o.n_pair = 0;
  ag_heap_clock_stop(); /* of deriving the equations */
  const ag_status status = ag_walk_plan_init(&b->plan, ctx, sys, params, x0, &b->o, &note);
  ag_text_done(&note);
  if (status == AG_OK) return AG_OK;
  ag_bundle_free(b);
  *bundle = NULL;
  return status;
}

void ag_bundle_free(ag_bundle *b) {
  if (!b) return;
  ag_walk_plan_done(&b->plan);
  free(b);
}

int ag_bundle_n_value(const ag_bundle *b) { return b->plan.n_value; }

void ag_bundle_swap(ag_bundle *b, bool swap) { b->o.path.swap = b->plan.path.swap = swap; }
