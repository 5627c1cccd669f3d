/* SPDX-License-Identifier: MIT
 * Two vectors per number. Steps wait for results most of the time; the operations of a second vector fill the gaps,
 * where the registers suffice and nothing else on the core fills them already. That depends on model, processor and
 * load: the first members of a batch are moved by both codes, the others by the faster one. Only clang makes good code
 * of two vectors. All members have the same bits either way. */
#include <math.h>
#include <time.h>

#include "run/batch.h"
#include "run/run_internal.h"

/* Members that are moved to measure, by each code; members per thread from which on that is little beside the rest. */
enum { TRIAL = 64, ENOUGH = 256 };
/* Seconds of work left from which on code in the cache is tried; from which on the compiler is worth its third of a
 * second, since the next batch of this kind finds the code in the cache. */
static const double WORTH_LOADING = 0.1, WORTH_COMPILING = 0.5;

static double thread_seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Moves the next members in these lanes: seconds per try while every lane has a member. *seconds: of a member. */
static double measure(ag_batch_job *b, ag_fused *lanes, double *seconds) {
  long first = atomic_load(&b->next);
  ag_pace pace = {.seconds = thread_seconds};
  b->fused = lanes;
  b->until = first + TRIAL < b->n ? first + TRIAL : b->n;
  b->share = TRIAL;
  b->pace = &pace;
  double t = thread_seconds();
  ag_batch_lanes(b, true);
  *seconds = (thread_seconds() - t) / TRIAL;
  b->until = b->n;
  b->pace = NULL;
  return pace.tries ? pace.total / (double)pace.tries : INFINITY;
}

/* Could it be faster, and is there enough to do? */
static bool eligible(const ag_batch_job *b, long threads) {
  const ag_batch_options *o = b->o;
  if (!b->fused || o->lanes || o->compiler || o->run.method->needs) return false;
  bool enough = (b->n - atomic_load(&b->done)) / ENOUGH >= threads;
  return ag_build_pairs() && (enough || o->try_wide);
}

void ag_batch_widen(ag_batch_job *b, long threads) {
  if (!eligible(b, threads)) return;
  ag_fused *one = b->fused, *two = NULL;
  ag_text reason = {0};
  double seconds, pace = measure(b, one, &seconds), left = seconds * (double)(b->n - atomic_load(&b->next));
  ag_build_options build = {.lanes = 2 * ag_fused_lanes(one), .compiler = "clang", .thorough = true};
  build.only_cached = left < WORTH_COMPILING && !b->o->try_wide;
  if ((left >= WORTH_LOADING || b->o->try_wide) && !ag_batch_halted(b)) two = ag_batch_build(b, &build, &reason);
  bool faster = two && measure(b, two, &seconds) < pace;
  b->fused = faster ? two : one;
  b->result->lanes = ag_fused_lanes(b->fused);
  ag_fused_free(faster ? one : two);
  ag_text_done(&reason);
}
