/* SPDX-License-Identifier: MIT
 * Ensembles: leaves of 256 paths distributed over threads, added to the statistics in order. */
#include "run/ensemble.h"

#include <math.h>
#include <pthread.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/heap.h"
#include "run/halves.h"
#include "run/walk.h"

typedef struct job {
  ag_walk_plan plan;
  ag_halves *halves; /* or NULL: nothing is extrapolated */
  const ag_ensemble_options *o;
  ag_ensemble *e;
  unsigned long long n_leaf;
  unsigned long long next; /* leaf to be taken */
  pthread_mutex_t lock;    /* of what follows; statistics belong to the thread that set `adding` */
  pthread_cond_t changed;
  unsigned long long turn;            /* leaf to be added next */
  struct sheet **sheets, **free_ones; /* all; those without a leaf */
  struct sheet **waiting;             /* leaf modulo n_sheet: computed, not yet added */
  int n_sheet, n_free;
  bool adding, abandoned; /* does a thread add leaves? was a leaf given up? */
  ag_heap *heap;
  unsigned long long before; /* paths of the ensemble that is continued */
  double begun, next_checkpoint;
  bool failed; /* memory ran out in a thread */
  char why[AG_HEAP_WHY];
} job;

/* What a thread computes with. */
typedef struct desk {
  ag_walk *walk, *half_walk;
} desk;

/* The numbers of a leaf; half: with half the step, both: what they give together. There are two sheets per thread, so
 * that a thread need not wait until the leaves before its own are added. */
typedef struct sheet {
  unsigned long long leaf;
  double *values, *moments, *half, *both, *both_moments;
  double *passed, *passing, *passage_moments; /* [passage][path]; of one passage, those that passed */
  int rows[AG_LEAF];
  long cut[AG_LEAF], accepted[AG_LEAF];
  int count;
} sheet;

static int n_total(const job *b) { return (b->o->n_row + 2) * b->plan.n_value; }

/* Those of them that are extrapolated: rows and their mean. */
static int n_linear(const job *b) { return (b->o->n_row + 1) * b->plan.n_value; }

/* ---- a leaf ---- */

/* The mean over all rows of a path, and the variance of that mean from batches of rows. */
static void average(const job *b, double *values, int m) {
  const int n = b->o->n_row, n_value = b->plan.n_value;
  const int batches = n < 4 ? 0 : (int)sqrt((double)n), size = batches ? n / batches : 0;
  for (int i = 0; i < n_value; i++) {
    const double *x = values + (size_t)i * AG_LEAF + m;
    const size_t row = (size_t)n_value * AG_LEAF;
    double sum = 0, mean = 0, square = 0;
    for (int r = 0; r < n; r++) sum += x[(size_t)r * row];
    for (int k = 0; k < batches; k++) {
      double part = 0;
      for (int r = k * size; r < (k + 1) * size; r++) part += x[(size_t)r * row];
      part /= size;
      const double d = part - mean;
      mean += d / (k + 1);
      square += d * (part - mean);
    }
    values[(size_t)(n * n_value + i) * AG_LEAF + (size_t)m] = sum / n;
    values[(size_t)((n + 1) * n_value + i) * AG_LEAF + (size_t)m] = batches > 1 ? square / (batches - 1) / batches : 0;
  }
}

/* Is path m of the leaf left out? It failed, or the other one of its antithetic pair did. */
static bool is_out(const job *b, const sheet *d, int n, int m) {
  const int other = m ^ 1;
  return d->rows[m] < b->o->n_row || (b->o->path.mirror && (other >= n || d->rows[other] < b->o->n_row));
}

/* Removes those that are left out; the others move up, in order. */
static int compact(const job *b, const sheet *d, int n, double *values) {
  const int total = n_total(b);
  int count = 0;
  for (int m = 0; m < n; m++) {
    if (is_out(b, d, n, m)) continue;
    if (count < m)
      for (int i = 0; i < total; i++)
        values[(size_t)i * AG_LEAF + (size_t)count] = values[(size_t)i * AG_LEAF + (size_t)m];
    count++;
  }
  return count;
}

static bool halted(const job *b) { return b->o->stop && *b->o->stop; }

static int leaf_paths(const job *b, unsigned long long leaf) {
  const unsigned long long left = b->o->paths - leaf * AG_LEAF;
  return left < AG_LEAF ? (int)left : AG_LEAF;
}

/* The paths of a leaf with one step size. False: stopped on the way. */
static bool follow(const job *b, const ag_walk_plan *p, ag_walk *walk, unsigned long long leaf,
                   const ag_walk_results *to) {
  const int n = leaf_paths(b, leaf), width = ag_walk_width(p);
  for (int m = 0; m < n; m += width) {
    if (halted(b)) return false;
    const ag_walk_results part = {to->values + m, to->passed + m, AG_LEAF, to->rows + m, to->cut + m, to->accepted + m};
    ag_walk_block(walk, leaf * AG_LEAF + (unsigned long long)m, n - m < width ? n - m : width, &part);
  }
  for (int m = 0; m < n; m++)
    if (to->rows[m] == b->o->n_row) average(b, to->values, m);
  return true;
}

/* Once more with half the step; a path that fails there fails. */
static bool follow_halves(const job *b, const desk *at, sheet *d) {
  int rows[AG_LEAF];
  long cut[AG_LEAF], accepted[AG_LEAF];
  const ag_walk_results to = {d->half, d->passed, AG_LEAF, rows, cut, accepted}; /* no passages */
  if (!b->halves) return true;
  if (!follow(b, &b->halves->plan, at->half_walk, d->leaf, &to)) return false;
  for (int m = 0; m < leaf_paths(b, d->leaf); m++) {
    if (rows[m] < d->rows[m]) d->rows[m] = rows[m];
    d->cut[m] += cut[m];
  }
  return true;
}

/* False: stopped on the way. */
static bool compute(const job *b, const desk *at, sheet *d) {
  const int n = leaf_paths(b, d->leaf);
  const ag_walk_results to = {d->values, d->passed, AG_LEAF, d->rows, d->cut, d->accepted};
  if (!follow(b, &b->plan, at->walk, d->leaf, &to) || !follow_halves(b, at, d)) return false;
  d->count = compact(b, d, n, d->values);
  ag_tally_moments(b->e->tally, d->count, d->values, d->moments);
  if (!b->halves) return true;
  (void)compact(b, d, n, d->half);
  ag_halves_combine(b->halves, n_linear(b), d->count, d->values, d->half, d->both);
  ag_tally_moments(b->e->extrapolated, d->count, d->both, d->both_moments);
  return true;
}

/* ---- in order ---- */

/* [3 | paths | failed | steps cut | accepted | named failures | path, row of each | size and tally of each passage and
 * of what is extrapolated | the tally] */
enum { FORMAT = 3, HEAD = 6 };

static int n_other(const ag_ensemble *e) { return e->n_passage + (e->extrapolated != NULL); }

static ag_tally *other(const ag_ensemble *e, int i) { return i < e->n_passage ? e->passages[i] : e->extrapolated; }

static void save(ag_ensemble *e) {
  free(e->saved);
  e->n_saved = HEAD + 2 * (size_t)e->n_failure + ag_tally_size(e->tally);
  for (int i = 0; i < n_other(e); i++) e->n_saved += 1 + ag_tally_size(other(e, i));
  double *to = e->saved = ag_heap_alloc(sizeof(double) * e->n_saved);
  *to++ = FORMAT, *to++ = (double)e->done, *to++ = (double)e->failed, *to++ = (double)e->cut;
  *to++ = (double)e->accepted, *to++ = e->n_failure;
  for (int i = 0; i < e->n_failure; i++) *to++ = (double)e->failures[i].path, *to++ = e->failures[i].row;
  for (int i = 0; i < n_other(e); i++) {
    *to++ = (double)ag_tally_size(other(e, i));
    ag_tally_save(other(e, i), to);
    to += ag_tally_size(other(e, i));
  }
  ag_tally_save(e->tally, to);
}

static bool load(ag_ensemble *e, const double *from, size_t n) {
  if (n < HEAD || from[0] != FORMAT || !(from[1] >= 0 && from[1] < 0x1p53) || fmod(from[1], AG_LEAF) != 0) return false;
  if (!(from[2] >= 0 && from[2] <= from[1]) || !(from[3] >= 0 && from[3] < 0x1p53)) return false;
  if (!(from[4] >= 0 && from[4] < 0x1p63) || !(from[5] >= 0 && from[5] <= AG_ENSEMBLE_NAMED)) return false;
  e->done = (unsigned long long)from[1], e->failed = (unsigned long long)from[2];
  e->cut = (unsigned long long)from[3], e->accepted = (unsigned long long)from[4], e->n_failure = (int)from[5];
  const size_t head = HEAD + 2 * (size_t)e->n_failure;
  if (n < head) return false;
  for (int i = 0; i < e->n_failure; i++) {
    const double *f = from + HEAD + 2 * i;
    if (!(f[0] >= 0 && f[0] < 0x1p53) || !(f[1] >= 0 && f[1] < 0x1p31)) return false;
    e->failures[i] = (ag_ensemble_failure){(unsigned long long)f[0], (int)f[1]};
  }
  from += head, n -= head;
  for (int i = 0; i < n_other(e); i++) {
    if (n < 1 || !(from[0] >= 0 && from[0] < (double)n) || !ag_tally_load(other(e, i), from + 1, (size_t)from[0]))
      return false;
    const size_t size = 1 + (size_t)from[0];
    from += size, n -= size;
  }
  return ag_tally_load(e->tally, from, n);
}

/* The times of the paths of a leaf that passed each level. */
static void add_passages(job *b, const sheet *d, int n) {
  for (int i = 0; i < b->o->n_passage; i++) {
    int count = 0;
    for (int m = 0; m < n; m++)
      if (!is_out(b, d, n, m) && !isnan(d->passed[i * AG_LEAF + m])) d->passing[count++] = d->passed[i * AG_LEAF + m];
    ag_tally_moments(b->e->passages[i], count, d->passing, d->passage_moments);
    ag_tally_add(b->e->passages[i], count, d->passing, d->passage_moments);
  }
}

/* Adds a leaf; earlier ones were added before. */
static void add(job *b, const sheet *d) {
  ag_ensemble *e = b->e;
  const int n = leaf_paths(b, d->leaf);
  if (n < AG_LEAF) save(e); /* an incomplete leaf is computed again when more paths follow */
  ag_tally_add(e->tally, d->count, d->values, d->moments);
  if (b->halves) ag_tally_add(e->extrapolated, d->count, d->both, d->both_moments);
  add_passages(b, d, n);
  e->done += (unsigned long long)n;
  for (int m = 0; m < n; m++)
    if (d->rows[m] < b->o->n_row) e->failed++;
    else e->cut += (unsigned long long)d->cut[m], e->accepted += (unsigned long long)d->accepted[m];
  for (int m = 0; m < n && e->n_failure < AG_ENSEMBLE_NAMED; m++)
    if (d->rows[m] < b->o->n_row)
      e->failures[e->n_failure++] = (ag_ensemble_failure){d->leaf * AG_LEAF + (unsigned long long)m, d->rows[m]};
}

/* ---- progress ---- */

static double seconds_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void measure(const job *b) {
  ag_ensemble *e = b->e;
  e->seconds = seconds_now() - b->begun;
  e->steps = (double)(e->done - b->before) * (double)b->o->row_step[b->o->n_row - 1] * (b->halves ? 3 : 1);
  e->stopped = e->done < b->o->paths;
  if (e->done % AG_LEAF == 0) save(e);
  ag_tally_finish(e->tally);
  for (int i = 0; i < n_other(e); i++) ag_tally_finish(other(e, i));
}

/* Once a second, or less often where that takes long: a twentieth of the time at most. */
static void checkpoint(job *b) {
  const double now = seconds_now();
  if (now < b->next_checkpoint) return;
  measure(b);
  b->o->checkpoint(b->o->checkpoint_self, b->e);
  const double after = seconds_now();
  b->next_checkpoint = after + fmax(1, 20 * (after - now));
}

/* ---- threads ---- */

typedef struct worker {
  job *b;
  bool first;
} worker;

static sheet *sheet_create(const job *b) {
  sheet *d = ag_heap_alloc(sizeof *d);
  d->values = ag_heap_aligned(sizeof(double) * (size_t)n_total(b) * AG_LEAF);
  d->moments = ag_heap_alloc(sizeof(double) * ag_tally_width(b->e->tally));
  d->passed = ag_heap_alloc(sizeof(double) * AG_LEAF * (size_t)(b->o->n_passage + 1));
  d->passing = ag_heap_alloc(sizeof(double) * AG_LEAF);
  d->passage_moments = ag_heap_alloc(sizeof(double) * (b->o->n_passage ? ag_tally_width(b->e->passages[0]) : 1));
  if (!b->halves) return d;
  d->half = ag_heap_aligned(sizeof(double) * (size_t)n_total(b) * AG_LEAF);
  d->both = ag_heap_aligned(sizeof(double) * 2 * (size_t)n_linear(b) * AG_LEAF);
  d->both_moments = ag_heap_alloc(sizeof(double) * ag_tally_width(b->e->extrapolated));
  return d;
}

static void sheet_free(sheet *d) {
  void *all[] = {d->passed, d->passing, d->passage_moments, d->values, d->moments, d->half, d->both, d->both_moments};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i]);
  free(d);
}

/* A sheet with the next leaf; NULL: there are no more, or a leaf was given up. Leaves go to sheets in order, so that
 * the one whose turn it is always has a sheet. */
static sheet *take(job *b) {
  sheet *d = NULL;
  pthread_mutex_lock(&b->lock);
  while (!b->n_free && !b->abandoned) pthread_cond_wait(&b->changed, &b->lock);
  if (!b->abandoned && b->next < b->n_leaf) {
    d = b->free_ones[--b->n_free];
    d->leaf = b->next++;
  }
  pthread_mutex_unlock(&b->lock);
  return d;
}

/* Adds all leaves whose turn has come. */
static void add_waiting(job *b) {
  for (sheet *d; (d = b->waiting[b->turn % (unsigned long long)b->n_sheet]);) {
    b->waiting[b->turn % (unsigned long long)b->n_sheet] = NULL;
    pthread_mutex_unlock(&b->lock);
    add(b, d);
    pthread_mutex_lock(&b->lock);
    b->turn++;
    b->free_ones[b->n_free++] = d;
    pthread_cond_broadcast(&b->changed);
  }
}

static void report(job *b) {
  if (b->o->progress) b->o->progress(b->o->progress_self, (double)b->e->done, (long)fmin((double)b->e->done, 1e15));
  if (b->o->checkpoint) checkpoint(b);
}

/* A leaf is computed: it is added when its turn comes, by one thread at a time. The first thread reports. */
static void put(job *b, sheet *d, bool first) {
  pthread_mutex_lock(&b->lock);
  b->waiting[d->leaf % (unsigned long long)b->n_sheet] = d;
  while (first && b->adding && !b->abandoned) pthread_cond_wait(&b->changed, &b->lock);
  if (!b->adding) {
    b->adding = true;
    add_waiting(b);
    if (first) {
      pthread_mutex_unlock(&b->lock);
      report(b);
      pthread_mutex_lock(&b->lock);
      add_waiting(b);
    }
    b->adding = false;
    pthread_cond_broadcast(&b->changed);
  }
  pthread_mutex_unlock(&b->lock);
}

/* No thread waits for a leaf any more. */
static void abandon(job *b) {
  pthread_mutex_lock(&b->lock);
  b->abandoned = true;
  pthread_cond_broadcast(&b->changed);
  pthread_mutex_unlock(&b->lock);
}

static void work(void *self) {
  const worker *w = self;
  job *b = w->b;
  desk d = {.walk = ag_walk_create(&b->plan)};
  if (b->halves) d.half_walk = ag_walk_create(&b->halves->plan);
  for (sheet *s; (s = take(b));) {
    if (compute(b, &d, s)) put(b, s, w->first);
    else abandon(b);
  }
  ag_walk_free(d.walk), ag_walk_free(d.half_walk);
}

static void guarded(worker w) {
  char why[AG_HEAP_WHY];
  if (ag_heap_try(w.b->heap, work, &w, why)) return;
  pthread_mutex_lock(&w.b->lock);
  if (!w.b->failed) memcpy(w.b->why, why, sizeof why);
  w.b->failed = true;
  pthread_mutex_unlock(&w.b->lock);
  abandon(w.b);
}

static void *thread(void *self) {
  guarded((worker){self, false});
  return NULL;
}

static void sheets_create(job *b, int n) {
  b->n_sheet = b->n_free = n;
  b->sheets = ag_heap_alloc(sizeof *b->sheets * (size_t)n);
  b->free_ones = ag_heap_alloc(sizeof *b->free_ones * (size_t)n);
  b->waiting = ag_heap_alloc(sizeof *b->waiting * (size_t)n);
  for (int i = 0; i < n; i++) b->sheets[i] = b->free_ones[i] = sheet_create(b);
}

static void sheets_free(job *b) {
  for (int i = 0; i < b->n_sheet; i++) sheet_free(b->sheets[i]);
  free(b->sheets), free(b->free_ones), free(b->waiting);
}

static void run_threads(job *b) {
  const long cores = sysconf(_SC_NPROCESSORS_ONLN), wanted = b->o->threads > 0 ? b->o->threads : cores > 1 ? cores : 1;
  const unsigned long long left = b->n_leaf - b->turn;
  const int n = (unsigned long long)wanted < left ? (int)wanted : left > 1 ? (int)left : 1;
  int started = 1;
  pthread_t *threads = ag_heap_alloc(sizeof *threads * (size_t)n);
  b->heap = ag_heap_current();
  sheets_create(b, n > 1 ? 2 * n : 1);
  while (started < n && pthread_create(&threads[started], NULL, thread, b) == 0) started++;
  guarded((worker){b, true});
  for (int i = 1; i < started; i++) pthread_join(threads[i], NULL);
  free(threads);
  sheets_free(b);
  if (b->failed) ag_heap_fail(b->why);
  b->e->threads = started;
}

/* ---- interface ---- */

static ag_status wrong(ag_ctx *ctx, const char *text) {
  ag_ctx_error(ctx, (ag_pos){0}, "%s", text);
  return AG_WRONG;
}

static void begin_tally(job *b) {
  ag_record record;
  const int total = n_total(b), n_value = b->plan.n_value;
  bool *circle = ag_heap_alloc((size_t)total + 1);
  int at = 0, n_coord;
  const ag_layout_row *q = ag_layout_rows(b->plan.sys, AG_LAYOUT_COORDINATE, &n_coord);
  ag_record_init(&record, b->plan.sys);
  for (int i = 0; i < record.n_column; i++) {
    const ag_column *c = &record.columns[i];
    if (!b->o->columns[i]) continue;
    bool angle = false;
    for (int k = 0; k < n_coord && c->kind == AG_COL_COORD; k++)
      angle = angle || (q[k].factor == AG_SPACE_S1 && !strcmp(q[k].name, c->name));
    for (int k = 0; k < c->rows * c->cols; k++, at++)
      for (int r = 0; r < b->o->n_row; r++) circle[r * n_value + at] = angle;
  }
  ag_record_done(&record);
  b->e->tally = ag_tally_create(total, b->o->n_pair, b->o->pairs, circle);
  if (b->o->path.mirror) ag_tally_twins(b->e->tally);
  if (b->halves) b->e->extrapolated = ag_tally_create(2 * n_linear(b), 0, NULL, NULL);
  if (b->halves && b->o->path.mirror) ag_tally_twins(b->e->extrapolated);
  b->e->passages = ag_heap_alloc(sizeof *b->e->passages * (size_t)(b->o->n_passage + 1));
  for (int i = 0; i < b->o->n_passage; i++) b->e->passages[b->e->n_passage++] = ag_tally_create(1, 0, NULL, NULL);
  free(circle);
}

static void move(job *b) {
  b->before = b->e->done;
  b->begun = seconds_now();
  b->next_checkpoint = b->begun + 1;
  run_threads(b);
  measure(b);
}

ag_status ag_ensemble_run(ag_ctx *ctx, ag_system *sys, const double *params, const double *x0,
                          const ag_ensemble_options *o, ag_ensemble *result) {
  *result = (ag_ensemble){0};
  ag_halves halves = {0};
  job b = {.o = o, .e = result, .n_leaf = (o->paths + AG_LEAF - 1) / AG_LEAF};
  ag_text note = {0};
  ag_heap_clock_stop(); /* of deriving the equations */
  ag_status status = ag_walk_plan_init(&b.plan, ctx, sys, params, x0, o, &note);
  if (status == AG_OK && o->extrapolate) b.halves = &halves, status = ag_halves_init(&halves, ctx, sys, params, x0, o);
  if (status == AG_OK) {
    result->n_value = b.plan.n_value;
    begin_tally(&b);
    if (o->from && !load(result, o->from, o->from_size))
      status = wrong(ctx, "the saved ensemble does not fit this one");
    if (result->done > o->paths) status = wrong(ctx, "the saved ensemble has more paths already");
  }
  if (status == AG_OK) {
    b.turn = b.next = result->done / AG_LEAF;
    pthread_mutex_init(&b.lock, NULL);
    pthread_cond_init(&b.changed, NULL);
    result->lanes = b.plan.unit ? ag_unit_lanes(b.plan.unit) : 0;
    result->core_only = b.plan.core;
    result->most = b.plan.most;
    move(&b);
    pthread_cond_destroy(&b.changed);
    pthread_mutex_destroy(&b.lock);
  }
  ag_walk_plan_done(&b.plan);
  if (b.halves) ag_halves_done(&halves);
  if (result->lanes) ag_text_done(&note);
  else result->note = note.s;
  return status;
}

void ag_ensemble_done(ag_ensemble *e) {
  ag_tally_free(e->tally);
  ag_tally_free(e->extrapolated);
  for (int i = 0; i < e->n_passage; i++) ag_tally_free(e->passages[i]);
  free(e->passages);
  free(e->note);
  free(e->saved);
  *e = (ag_ensemble){0};
}
