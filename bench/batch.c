/* SPDX-License-Identifier: MIT
 * batch [-n NUMBER] [-r REPEATS] [-l LANES] MODEL HAND.so ...: many accurate trajectories of the rattleback on one
 * core, T = 10, rtol = 1e-10, from the model file over lanes (each with its own step, refilled when it ends; ag_batch
 * on one thread) against the fastest hand-written scalar code (hand.c) and the fastest in vectors (hand_lanes.c).
 * Prints one JSON object: trajectories per second for each number of lanes, ratios as medians over neighbouring runs,
 * and the median difference of the final states from those of the hand-written code. The two control the error in
 * different variables: besides, the errors of both at this tolerance, as geometric means over all stones, the tolerance
 * at which ours has the error of the code by hand, and the rates there. */
#include <dlfcn.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common.h"
#include "kern/kern.h"
#include "rattleback.h"
#include "rival.h"

static const double RTOL = 1e-10, ATOL = 1e-13, T1 = 10;
enum { MAX_REPEATS = 51 };

typedef struct batch {
  stones stones;
  double *y0, *y1, *end; /* starts and ends by hand as (M, G); ends of ours as (W, G) */
  double *exact;         /* ends at a much smaller tolerance, as (M, G) */
} batch;

/* A hand-written library: one of the two. */
typedef struct hand {
  const char *path;
  const rival *one;
  rival_many *many;
} hand;

static double by_hand(batch *b, const hand *by) {
  int n = b->stones.n;
  long rhs = 0;
  if (by->many) {
    double t = cpu_seconds();
    if (by->many(T1, RTOL, ATOL, n, b->y0, b->y1, &rhs)) exit(1);
    return cpu_seconds() - t;
  }
  memcpy(b->y1, b->y0, sizeof(double) * 6 * (size_t)n);
  double t = cpu_seconds();
  for (int i = 0; i < n; i++)
    if (by->one->solve(T1, RTOL, ATOL, b->y1 + 6 * i, &rhs)) exit(1);
  return cpu_seconds() - t;
}

/* How far two states (M, G) are apart, momenta relative to their size. */
static double apart(const double *a, const double *b) {
  double d = 0, s = 0;
  for (int k = 0; k < 3; k++) d += (a[k] - b[k]) * (a[k] - b[k]), s += a[k] * a[k];
  double worst = sqrt(d / s);
  for (int k = 3; k < 6; k++) worst = fmax(worst, fabs(a[k] - b[k]));
  return worst;
}

/* Median of the distances of the final states: both are as wrong as their tolerance lets them. */
static double difference(batch *b) {
  int n = b->stones.n;
  double *worst = ag_heap_alloc(sizeof(double) * (size_t)n);
  for (int i = 0; i < n; i++) {
    double y[6];
    momentum(b->end + 6 * i, b->end + 6 * i + 3, y);
    worst[i] = apart(y, b->y1 + 6 * i);
  }
  double m = median(n, worst);
  free(worst);
  return m;
}

/* Geometric mean of the errors, of ours or of the code by hand. */
static double mean_error(const batch *b, bool ours) {
  double sum = 0;
  for (int i = 0; i < b->stones.n; i++) {
    double y[6];
    if (ours) momentum(b->end + 6 * i, b->end + 6 * i + 3, y);
    else memcpy(y, b->y1 + 6 * i, sizeof y);
    sum += log(fmax(apart(y, b->exact + 6 * i), 1e-16));
  }
  return exp(sum / b->stones.n);
}

static double error_at(batch *b, int lanes, double rtol) {
  long rhs = 0;
  b->stones.rtol = rtol, b->stones.atol = rtol * ATOL / RTOL;
  (void)stones_move(&b->stones, lanes, false, b->end, &rhs);
  return mean_error(b, true);
}

/* The tolerance at which ours has this error, by secants of log(error) over log(tolerance). */
static double tolerance_of(batch *b, int lanes, double error) {
  double x0 = log(RTOL), y0 = log(error_at(b, lanes, RTOL)), x1 = x0 + log(error) - y0;
  for (int i = 0; i < 4; i++) {
    double y1 = log(error_at(b, lanes, exp(x1)));
    if (fabs(y1 - log(error)) < 0.02 || fabs(y1 - y0) < 1e-3) break;
    double x = x1 + (log(error) - y1) * (x1 - x0) / (y1 - y0);
    x0 = x1, y0 = y1, x1 = x;
  }
  return exp(x1);
}

static hand open_hand(const char *path) {
  void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  hand h = {.path = path};
  rival_list *list = NULL;
  int n;
  if (handle) {
    *(void **)&h.many = dlsym(handle, "hand_many");
    *(void **)&list = dlsym(handle, "rivals");
  }
  if (list) h.one = list(&n);
  if (h.one || h.many) return h;
  fprintf(stderr, "batch: %s\n", dlerror());
  exit(3);
}

/* The fastest library, in vectors or not; none: its path is NULL. */
static hand best_hand(batch *b, int n, char **paths, bool vectors) {
  hand best = {0};
  double least = INFINITY;
  for (int i = 0; i < n; i++) {
    hand h = open_hand(paths[i]);
    double times[5];
    if ((h.many != NULL) != vectors) continue;
    for (int k = 0; k < 5; k++) times[k] = by_hand(b, &h);
    double t = median(5, times);
    if (t < least) least = t, best = h;
  }
  return best;
}

/* The file name without its folder; "": none. */
static const char *name_of(const hand *h) {
  const char *slash = h->path ? strrchr(h->path, '/') : NULL;
  return slash ? slash + 1 : h->path ? h->path : "";
}

/* Ours in so many lanes, by turns with both of theirs; the tolerance is that of b->stones for ours. */
static void compare(batch *b, int lanes, int repeats, const hand *scalar, const hand *vectors) {
  double hands[MAX_REPEATS], many[MAX_REPEATS], ours[MAX_REPEATS], ratio[MAX_REPEATS], of_many[MAX_REPEATS];
  long rhs = 0;
  int n = b->stones.n;
  (void)stones_move(&b->stones, lanes, false, b->end, &rhs); /* compiles */
  for (int i = 0; i < repeats; i++) {
    many[i] = vectors->path ? by_hand(b, vectors) : NAN;
    rhs = 0;
    ours[i] = stones_move(&b->stones, lanes, false, b->end, &rhs);
    hands[i] = by_hand(b, scalar);
    ratio[i] = hands[i] / ours[i], of_many[i] = many[i] / ours[i];
  }
  printf("  {\"lanes\": %d, \"per_second\": %.1f, \"hand_per_second\": %.1f, \"ratio\": %.4g, "
         "\"rhs_per_trajectory\": %ld, \"difference\": %.3g",
         lanes, n / median(repeats, ours), n / median(repeats, hands), median(repeats, ratio), rhs / n, difference(b));
  if (vectors->path)
    printf(", \"vectors_per_second\": %.1f, \"of_vectors\": %.4g", n / median(repeats, many), median(repeats, of_many));
  printf("}");
}

/* The rate of ours at the error of the code by hand. */
static void equal_error(batch *b, int lanes, int repeats, const hand *scalar, const hand *vectors) {
  static const double FINER = 1e-3; /* the tolerance of what errors are measured against */
  long rhs = 0;
  memcpy(b->exact, b->y0, sizeof(double) * 6 * (size_t)b->stones.n);
  for (int i = 0; i < b->stones.n; i++)
    if (scalar->one->solve(T1, FINER * RTOL, FINER * ATOL, b->exact + 6 * i, &rhs)) exit(1);
  (void)by_hand(b, vectors->path ? vectors : scalar);
  double error = mean_error(b, false), ours = error_at(b, lanes, RTOL), rtol = tolerance_of(b, lanes, error);
  printf("\"hand_error\": %.3g, \"error\": %.3g, \"equal_rtol\": %.4g, \"equal_error\": %.3g, \"equal\":\n", error,
         ours, rtol, error_at(b, lanes, rtol));
  compare(b, lanes, repeats, scalar, vectors);
}

int main(int argc, char **argv) {
  static const int lanes[] = {1, 2, 4, 8, 16};
  int at = 1, n = 200, repeats = 7, only = 0;
  for (; at + 1 < argc && argv[at][0] == '-'; at += 2) {
    if (argv[at][1] == 'n') n = atoi(argv[at + 1]);
    else if (argv[at][1] == 'r') repeats = atoi(argv[at + 1]);
    else if (argv[at][1] == 'l') only = atoi(argv[at + 1]);
  }
  if (argc < at + 2 || n < 1 || repeats < 1 || repeats > MAX_REPEATS) return 2;
  loaded own;
  load(&own, argv[at], 0, NULL);
  batch b = {0};
  stones_create(&b.stones, own.system, n);
  b.stones.t1 = T1, b.stones.rtol = RTOL, b.stones.atol = ATOL;
  b.y0 = ag_heap_alloc(sizeof(double) * 6 * (size_t)n);
  b.y1 = ag_heap_alloc(sizeof(double) * 6 * (size_t)n);
  b.end = ag_heap_alloc(sizeof(double) * 6 * (size_t)n);
  for (int i = 0; i < n; i++) {
    double x[6];
    stones_start(&b.stones, i, x);
    momentum(x, x + 3, b.y0 + 6 * i);
  }
  b.exact = ag_heap_alloc(sizeof(double) * 6 * (size_t)n);
  hand scalar = best_hand(&b, argc - at - 1, argv + at + 1, false);
  hand vectors = best_hand(&b, argc - at - 1, argv + at + 1, true);
  if (!scalar.path) return 2;
  printf("{\"n\": %d, \"t1\": %g, \"rtol\": %g, \"atol\": %g, \"machine_lanes\": %d, \"vectors\": \"%s\", "
         "\"lanes\": [\n",
         n, T1, RTOL, ATOL, ag_build_lanes(), name_of(&vectors));
  for (int k = 0, first = 1; k < 5; k++) {
    if (only && lanes[k] != only) continue;
    if (!first) printf(",\n");
    compare(&b, lanes[k], repeats, &scalar, &vectors);
    first = 0;
  }
  printf("\n],\n");
  equal_error(&b, only ? only : ag_build_lanes(), repeats, &scalar, &vectors);
  printf("}\n");
  free(b.y0), free(b.y1), free(b.end), free(b.exact);
  stones_free(&b.stones);
  unload(&own);
  return 0;
}
