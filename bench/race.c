/* SPDX-License-Identifier: MIT
 * race [-n PAIRS] [-t T1] MODEL REFERENCE.so HAND.so RIVAL.so ...: one accurate trajectory of the rattleback, from the
 * model file against code written by hand and against libraries. Prints one JSON object.
 *
 * Everybody's time is the median of PAIRS runs, each next to a run of the hand-written code; the ratio is the median of
 * the ratios of neighbours. The program's own code and the hand-written one run at the same tolerances; a library, and
 * once more the program's own code, gets the loosest tolerance at which its error is no more than twice that of the
 * hand-written code. The error of one trajectory is an accident; errors at equal tolerance are compared over many
 * starts, too. */
#include <dlfcn.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common.h"
#include "rattleback.h"
#include "rival.h"
#include "run/run.h"

static const double RTOL = 1e-10, ATOL = 1e-13;
enum { MAX_RIVALS = 32, MAX_PAIRS = 101, STARTS = 40 };

typedef struct racer {
  const char *name, *file;
  const rival *rival; /* or our own: */
  bool whole, run;    /* with position and orientation; through ag_run */
  double fixed;       /* seconds of a run to almost nowhere: loading the kernel, taken off */
  double rtol, atol, error, ratio, seconds;
  long rhs;
} racer;

typedef struct race {
  stones stones; /* one */
  double t1, y0[6], reference[6];
  int pairs;
} race;

static void velocity_of(const double *y, double *w) {
  v3 W = angular_velocity((v3){y[0], y[1], y[2]}, lever((v3){y[3], y[4], y[5]}));
  w[0] = W.x, w[1] = W.y, w[2] = W.z;
}

/* The larger of |dW|/|W| and |dG|. */
static double distance(const double *y, const double *z) {
  double v[3], w[3], dw = 0, ww = 0, dg = 0;
  velocity_of(y, v);
  velocity_of(z, w);
  for (int i = 0; i < 3; i++)
    dw += (v[i] - w[i]) * (v[i] - w[i]), ww += w[i] * w[i], dg += (y[3 + i] - z[3 + i]) * (y[3 + i] - z[3 + i]);
  return fmax(sqrt(dw / ww), sqrt(dg));
}

/* Through ag_batch with one member and one lane. */
static int solve_batch(const race *r, const racer *who, double *y, long *n_rhs) {
  double end[6];
  stones stone = r->stones;
  stone.rtol = who->rtol, stone.atol = who->atol;
  (void)stones_move(&stone, 1, who->whole, end, n_rhs);
  momentum(end, end + 3, y);
  return 0;
}

/* eager: also compiles what long runs make many steps with, so that later runs find it in the cache. */
static int solve_run(const race *r, bool eager, double *y, long *n_rhs) {
  const ag_system *sys = r->stones.sys;
  ag_run_options o;
  ag_run_result result;
  ag_ctx ctx = {0};
  ag_run_defaults(&o);
  o.t1 = r->stones.t1, o.rtol = RTOL, o.atol = ATOL, o.every = -1, o.engine = AG_ENGINE_COMPILED, o.eager = eager;
  if (ag_run(&ctx, sys, ag_system_param_values(sys), r->stones.x0, &o, NULL, &result) != AG_OK) return 1;
  int bad = result.end != AG_END_TIME || !result.compiled;
  momentum(result.record + r->stones.omega, result.record + r->stones.up, y);
  *n_rhs += result.rhs;
  ag_run_done(&result);
  ag_ctx_done(&ctx);
  return bad;
}

static int solve(const race *r, const racer *who, double *y, long *n_rhs) {
  if (who->rival) return who->rival->solve(r->t1, who->rtol, who->atol, y, n_rhs);
  return who->run ? solve_run(r, false, y, n_rhs) : solve_batch(r, who, y, n_rhs);
}

/* One run; its CPU seconds. */
static double go(const race *r, racer *who) {
  double y[6], t = cpu_seconds();
  memcpy(y, r->y0, sizeof y);
  who->rhs = 0;
  int bad = solve(r, who, y, &who->rhs);
  t = cpu_seconds() - t;
  who->error = bad ? NAN : distance(y, r->reference);
  return t - who->fixed;
}

static void measure_fixed(const race *r, racer *who) {
  race nowhere = *r;
  double times[9], y[6];
  long ignored = 0;
  if (who->run) (void)solve_run(r, true, y, &ignored);
  nowhere.t1 = nowhere.stones.t1 = 1e-9;
  (void)go(&nowhere, who); /* compiles */
  for (int i = 0; i < 9; i++) times[i] = go(&nowhere, who);
  who->fixed = median(9, times);
}

/* The loosest tolerance, in steps of a half power of ten, with an error of at most twice the hand-written one. */
static bool tune(const race *r, racer *who, double error) {
  for (double power = -8; power > -14.6; power -= 0.5) {
    who->rtol = pow(10, power);
    who->atol = who->rtol * (ATOL / RTOL);
    if (go(r, who) > 20) return false;
    if (who->error <= 2 * error) return true;
  }
  return false;
}

static void measure(const race *r, racer *who, racer *hand) {
  double own[MAX_PAIRS], ratio[MAX_PAIRS];
  int pairs = r->pairs;
  if (who->rival && go(r, who) > 1) pairs = 3;
  for (int i = 0; i < pairs; i++) {
    double by_hand = i % 2 ? go(r, hand) : 0;
    own[i] = go(r, who);
    if (!(i % 2)) by_hand = go(r, hand);
    ratio[i] = own[i] / by_hand;
  }
  who->seconds = median(pairs, own);
  who->ratio = median(pairs, ratio);
}

static const rival *open_rivals(const char *path, int *n) {
  void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  rival_list *list = NULL;
  if (handle) *(void **)&list = dlsym(handle, "rivals");
  if (!list) {
    fprintf(stderr, "race: %s\n", dlerror());
    exit(3);
  }
  return list(n);
}

/* Errors at equal tolerance from STARTS starts to the same time: geometric means, and right-hand sides per start; with
 * how many ours would have the error of the hand-written code, the error being in proportion to their power -8. */
static void print_starts(const race *r, const racer *hand, const racer *reference) {
  stones all;
  double end[6 * STARTS], logs[2] = {0};
  long rhs = 0, rhs_hand = 0, ignored = 0;
  stones_create(&all, r->stones.sys, STARTS);
  all.t1 = r->t1, all.rtol = RTOL, all.atol = ATOL;
  (void)stones_move(&all, 1, false, end, &rhs);
  for (int i = 0; i < STARTS; i++) {
    double start[6], exact[6], by_hand[6], ours[6];
    stones_start(&all, i, start);
    momentum(start, start + 3, exact);
    memcpy(by_hand, exact, sizeof exact);
    momentum(end + 6 * i, end + 6 * i + 3, ours);
    (void)reference->rival->solve(r->t1, reference->rtol, reference->atol, exact, &ignored);
    (void)hand->rival->solve(r->t1, RTOL, ATOL, by_hand, &rhs_hand);
    logs[0] += log(distance(by_hand, exact)) / STARTS, logs[1] += log(distance(ours, exact)) / STARTS;
  }
  double alike = (double)rhs / STARTS * exp((logs[1] - logs[0]) / 8);
  printf("\"starts\": {\"n\": %d, \"hand_error\": %.3g, \"hand_rhs\": %ld, \"error\": %.3g, \"rhs\": %ld, "
         "\"rhs_at_equal_error\": %.0f},\n",
         STARTS, exp(logs[0]), rhs_hand / STARTS, exp(logs[1]), rhs / STARTS, alike);
  stones_free(&all);
}

static void print(const racer *who, bool last) {
  printf("  {\"name\": \"%s\", \"seconds\": %.6g, \"ratio\": %.4g, \"error\": %.3g, \"rhs\": %ld, \"rtol\": %.3g, "
         "\"atol\": %.3g}%s\n",
         who->name, who->seconds, who->ratio, isfinite(who->error) ? who->error : -1, who->rhs, who->rtol, who->atol,
         last ? "" : ",");
}

/* The better compiler of those that made the hand-written code. */
static racer best_hand(const race *r, int n, char **paths) {
  racer best = {.seconds = INFINITY};
  for (int i = 0; i < n; i++) {
    int count;
    racer who = {
        .name = "hand-written C", .file = paths[i], .rival = open_rivals(paths[i], &count), .rtol = RTOL, .atol = ATOL};
    double times[5];
    for (int k = 0; k < 5; k++) times[k] = go(r, &who);
    who.seconds = median(5, times);
    fprintf(stderr, "  hand-written: %s %.1f ms\n", strrchr(paths[i], '/') ? strrchr(paths[i], '/') + 1 : paths[i],
            1e3 * who.seconds);
    if (who.seconds < best.seconds) best = who;
  }
  best.ratio = 1;
  return best;
}

int main(int argc, char **argv) {
  race r = {.pairs = 15, .t1 = 100};
  int at = 1, n = 0, n_hand = 0, count;
  for (; at + 1 < argc && argv[at][0] == '-'; at += 2) {
    if (argv[at][1] == 'n') r.pairs = atoi(argv[at + 1]);
    else if (argv[at][1] == 't') r.t1 = atof(argv[at + 1]);
  }
  if (argc < at + 3 || r.pairs < 1 || r.pairs > MAX_PAIRS) return 2;
  loaded own;
  double y[6];
  load(&own, argv[at], 0, NULL);
  stones_create(&r.stones, own.system, 1);
  r.stones.t1 = r.t1;
  stones_start(&r.stones, 0, y);
  momentum(y, y + 3, r.y0);
  racer all[MAX_RIVALS] = {0},
        reference = {.name = "reference", .rival = open_rivals(argv[at + 1], &count), .rtol = 1e-17, .atol = 1e-20};
  memcpy(r.reference, r.y0, sizeof r.y0);
  if (reference.rival->solve(r.t1, reference.rtol, reference.atol, r.reference, &reference.rhs)) return 1;
  while (at + 2 + n_hand < argc && strstr(argv[at + 2 + n_hand], "hand")) n_hand++;
  racer hand = best_hand(&r, n_hand, argv + at + 2);
  all[n++] = (racer){.name = "anagyre, what the motion needs", .rtol = RTOL, .atol = ATOL};
  all[n++] = (racer){.name = "anagyre, whole state", .whole = true, .rtol = RTOL, .atol = ATOL};
  all[n++] = (racer){.name = "anagyre run, all checks", .whole = true, .run = true, .rtol = RTOL, .atol = ATOL};
  all[n++] = (racer){.name = "anagyre, what the motion needs, error as by hand", .rtol = RTOL, .atol = ATOL};
  for (int i = 0; i < n; i++) {
    measure_fixed(&r, &all[i]);
    if (i == n - 1 && !tune(&r, &all[i], hand.error)) return 1;
    measure(&r, &all[i], &hand);
  }
  for (int i = at + 2 + n_hand; i < argc; i++) {
    const rival *list = open_rivals(argv[i], &count);
    for (int k = 0; k < count && n < MAX_RIVALS; k++) {
      if (list[k].stiff) continue;
      racer who = {.name = list[k].name, .rival = &list[k]};
      fprintf(stderr, "  %s\n", who.name);
      if (!tune(&r, &who, hand.error)) who.ratio = who.seconds = -1;
      else measure(&r, &who, &hand);
      all[n++] = who;
    }
  }
  printf("{\"t1\": %g, \"pairs\": %d, \"hand_file\": \"%s\", \"rhs_cost\": %d, \"rhs_cost_whole\": %d,\n", r.t1,
         r.pairs, strrchr(hand.file, '/') ? strrchr(hand.file, '/') + 1 : hand.file,
         ag_tape_cost(ag_system_role(own.system, AG_ROLE_CORE)), ag_tape_cost(ag_system_role(own.system, AG_ROLE_RHS)));
  print_starts(&r, &hand, &reference);
  printf("\"racers\": [\n");
  print(&hand, false);
  for (int i = 0; i < n; i++) print(&all[i], i == n - 1);
  printf("]}\n");
  stones_free(&r.stones);
  unload(&own);
  return 0;
}
