/* SPDX-License-Identifier: MIT
 * Two vectors per number. Steps wait for results most of the time; the operations of a second vector fill the gaps,
 * where the registers suffice and nothing else on the core fills them already. That depends on model, processor and
 * load: the first members of a large batch are moved by both codes, the others by the faster one. Only clang makes good
 * code of two vectors, and 16 registers (AVX2) are too few. All members have the same bits either way. */
#include <math.h>
#include <time.h>

#include "run/batch.h"
#include "run/run_internal.h"

/* Members that are moved to measure; members per thread from which on that is little beside the rest. */
enum { VECTOR = 8, TRIAL = 64, LARGE = 2048 };
/* Seconds of work left from which on code in the cache is tried, and compiled. */
static const double WORTH_LOADING = 0.5, WORTH_COMPILING = 10;

static double thread_seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Moves the next members in these lanes: seconds per try. *seconds: of a member. */
static double pace(ag_batch_job *b, ag_fused *lanes, double *seconds) {
  long first = atomic_load(&b->next), tries = 0;
  b->fused = lanes;
  b->until = first + TRIAL < b->n ? first + TRIAL : b->n;
  b->share = TRIAL;
  double t = thread_seconds();
  ag_batch_lanes(b, true);
  t = thread_seconds() - t;
  for (long i = first; i < b->until; i++)
    if (b->reached[i]) tries += b->result->members[i].steps + b->result->members[i].rejected;
  b->until = b->n;
  *seconds = t / TRIAL;
  return tries ? t / (double)tries : INFINITY;
}

/* Could it be faster, and is there enough to do? Where crossings are searched for, lanes wait for each other. */
static bool eligible(const ag_batch_job *b, long threads) {
  const ag_batch_options *o = b->o;
  if (!b->fused || o->lanes || o->compiler || b->watch.n || o->run.method->needs || o->run.dt > 0) return false;
  bool large = (b->n - atomic_load(&b->done)) / LARGE >= threads;
  return ag_fused_lanes(b->fused) == VECTOR && (large || o->try_wide);
}

void ag_batch_widen(ag_batch_job *b, long threads) {
  if (!eligible(b, threads)) return;
  ag_fused *one = b->fused, *two = NULL;
  ag_text reason = {0};
  double seconds, pace_one = pace(b, one, &seconds), left = seconds * (double)(b->n - atomic_load(&b->next));
  ag_build_options build = {.lanes = 2 * VECTOR, .compiler = "clang", .thorough = true};
  build.only_cached = left < WORTH_COMPILING && !b->o->try_wide;
  if ((left >= WORTH_LOADING || b->o->try_wide) && !ag_batch_halted(b)) two = ag_batch_build(b, &build, &reason);
  bool faster = two && pace(b, two, &seconds) < pace_one;
  b->fused = faster ? two : one;
  b->result->lanes = ag_fused_lanes(b->fused);
  ag_fused_free(faster ? one : two);
  ag_text_done(&reason);
}
