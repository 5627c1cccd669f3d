/* SPDX-License-Identifier: MIT
 * batch [-n NUMBER] [-r REPEATS] [-l LANES] MODEL HAND.so ...: many accurate trajectories of the rattleback on one
 * core, T = 10, rtol = 1e-10, from the model file over lanes (each with its own step, refilled when it ends; ag_batch
 * on one thread) against the fastest hand-written scalar code (hand.c) and the fastest in vectors (hand_lanes.c).
 * Prints one JSON object: trajectories per second for each number of lanes, ratios as medians over neighbouring runs,
 * and the median difference of the final states from those of the hand-written code. */
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
} batch;

/* A hand-written library: one of the two. */
typedef struct hand {
  const char *path;
  const rival *one;
  rival_many *many;
} hand;

static double by_hand(batch *b, const hand *hand) {
  int n = b->stones.n;
  long rhs = 0;
  if (hand->many) {
    double t = cpu_seconds();
    if (hand->many(T1, RTOL, ATOL, n, b->y0, b->y1, &rhs)) exit(1);
    return cpu_seconds() - t;
  }
  memcpy(b->y1, b->y0, sizeof(double) * 6 * (size_t)n);
  double t = cpu_seconds();
  for (int i = 0; i < n; i++)
    if (hand->one->solve(T1, RTOL, ATOL, b->y1 + 6 * i, &rhs)) exit(1);
  return cpu_seconds() - t;
}

/* Median of |difference| of the final states, momenta relative to their size: both are as wrong as their tolerance lets
 * them. */
static double difference(batch *b) {
  int n = b->stones.n;
  double *worst = ag_heap_alloc(sizeof(double) * (size_t)n);
  for (int i = 0; i < n; i++) {
    double y[6], *by_hand = b->y1 + 6 * i, d = 0, s = 0;
    momentum(b->end + 6 * i, b->end + 6 * i + 3, y);
    for (int k = 0; k < 3; k++) d += (y[k] - by_hand[k]) * (y[k] - by_hand[k]), s += y[k] * y[k];
    worst[i] = sqrt(d / s);
    for (int k = 3; k < 6; k++) worst[i] = fmax(worst[i], fabs(y[k] - by_hand[k]));
  }
  double m = median(n, worst);
  free(worst);
  return m;
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

/* Ours in so many lanes, by turns with both of theirs. */
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
  printf("\n]}\n");
  free(b.y0), free(b.y1), free(b.end);
  stones_free(&b.stones);
  unload(&own);
  return 0;
}
