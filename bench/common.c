/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "common.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lang/lang.h"

static double seconds(clockid_t clock) {
  struct timespec t;
  clock_gettime(clock, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}
double cpu_seconds(void) { return seconds(CLOCK_THREAD_CPUTIME_ID); }
double wall_seconds(void) { return seconds(CLOCK_MONOTONIC); }

static int by_size(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

double median(int n, double *x) {
  qsort(x, (size_t)n, sizeof *x, by_size);
  return n % 2 ? x[n / 2] : (x[n / 2 - 1] + x[n / 2]) / 2;
}

/* ---- models ---- */

static char *slurp(const char *path, size_t *size) {
  FILE *f = fopen(path, "rb");
  if (!f) {
    perror(path);
    exit(3);
  }
  char *text = ag_heap_alloc((1 << 20) + 1);
  *size = fread(text, 1, 1 << 20, f);
  fclose(f);
  return text;
}

static void refuse(loaded *l) {
  ag_text out = {0};
  ag_ctx_render(&l->ctx, &out);
  fputs(ag_text_cstr(&out), stderr);
  exit(1);
}

void load(loaded *l, const char *path, int n_set, const ag_set *sets) {
  size_t size;
  *l = (loaded){0};
  l->text = slurp(path, &size);
  double t0 = cpu_seconds();
  if (ag_lang_read(&l->ctx, path, l->text, size, n_set, sets, &l->model) != AG_OK) refuse(l);
  double t1 = cpu_seconds();
  ag_derive_options how = {.saddle = getenv("BENCH_SADDLE") != NULL}; /* no velocity is eliminated */
  if (ag_system_create(&l->ctx, l->model, &how, &l->system) != AG_OK) refuse(l);
  l->parse = t1 - t0;
  l->derive = cpu_seconds() - t1;
}

void unload(loaded *l) {
  ag_system_free(l->system);
  ag_model_free(l->model);
  ag_ctx_done(&l->ctx);
  free(l->text);
}

/* ---- stones ---- */

static int column(const ag_record *r, const char *name) {
  for (int i = 0; i < r->n_column; i++)
    if (!strcmp(r->columns[i].name, name)) return i;
  fprintf(stderr, "no column %s\n", name);
  exit(1);
}

static double *param(const ag_system *sys, double *params, const char *name) {
  for (int i = 0; i < ag_model_n_params(ag_system_model(sys)); i++)
    if (!strcmp(ag_model_params(ag_system_model(sys))[i].name, name))
      return params + ag_layout_item(sys, AG_LAYOUT_PARAMETER, i)->at;
  fprintf(stderr, "no parameter %s\n", name);
  exit(1);
}

/* From a grid of 100 spins from -3 to 3 and 100 tilts from 0.001 to 0.021, in a mixed order. */
static void place(stones *s, int i) {
  ag_system *sys = s->sys;
  ag_ctx ctx = {0};
  double *p = s->params + i * ag_system_dims(sys)->param, *x = s->x0 + i * s->n_x;
  memcpy(p, ag_system_param_values(sys), sizeof(double) * (size_t)ag_system_dims(sys)->param);
  if (s->n > 1) {
    int k = (int)((long)i * 6173 % 10000);
    *param(sys, p, "spin0") = -3 + 6.0 * (k % 100) / 99;
    *param(sys, p, "tilt1") = 0.001 + 0.02 * (k / 100) / 99;
  }
  if (ag_system_start(&ctx, sys, 0, p, true, x, x + ag_system_dims(sys)->q) != AG_OK) exit(1);
  ag_ctx_done(&ctx);
}

void stones_create(stones *s, ag_system *sys, int n) {
  ag_record record;
  *s = (stones){.sys = sys, .n = n, .n_x = ag_system_dims(sys)->x, .t1 = 10, .rtol = 1e-10, .atol = 1e-13};
  ag_record_init(&record, sys);
  s->columns = ag_heap_alloc(sizeof(bool) * (size_t)record.n_column);
  int up = column(&record, "up"), omega = column(&record, "Omega");
  s->columns[up] = s->columns[omega] = true;
  s->up = record.columns[up].offset, s->omega = record.columns[omega].offset;
  ag_record_done(&record);
  s->params = ag_heap_alloc(sizeof(double) * (size_t)(n * ag_system_dims(sys)->param));
  s->x0 = ag_heap_alloc(sizeof(double) * (size_t)(n * s->n_x));
  for (int i = 0; i < n; i++) place(s, i);
}

void stones_free(stones *s) {
  free(s->params);
  free(s->x0);
  free(s->columns);
}

/* The vertical is R^T e3; R is the first factor, a quaternion (w, x, y, z). */
void stones_start(const stones *s, int i, double *out) {
  const ag_system *sys = s->sys;
  const double *x = s->x0 + i * s->n_x, *q = x + ag_layout_item(sys, AG_LAYOUT_COORDINATE, 0)->at;
  memcpy(out, x + ag_system_dims(sys)->q + ag_layout_item(sys, AG_LAYOUT_COORDINATE, 0)->tangent, sizeof(double) * 3);
  out[3] = 2 * (q[1] * q[3] - q[0] * q[2]);
  out[4] = 2 * (q[2] * q[3] + q[0] * q[1]);
  out[5] = q[0] * q[0] - q[1] * q[1] - q[2] * q[2] + q[3] * q[3];
}

double stones_move(const stones *s, int lanes, bool whole, double *out, long *rhs) {
  ag_batch_options o;
  ag_batch_result r;
  ag_ctx ctx = {0};
  ag_batch_defaults(&o);
  o.run.t1 = s->t1, o.run.rtol = s->rtol, o.run.atol = s->atol, o.run.engine = AG_ENGINE_COMPILED;
  o.lanes = lanes, o.threads = 1, o.columns = whole ? NULL : s->columns, o.compiler = getenv("BENCH_CC");
  double t = cpu_seconds();
  if (ag_batch(&ctx, s->sys, s->n, s->params, s->x0, &o, &r) != AG_OK) exit(1);
  t = cpu_seconds() - t;
  if (r.n_failed || r.lanes != lanes || r.core_only == whole) {
    fprintf(stderr, "batch: %ld failed, %d lanes%s; %s\n", r.n_failed, r.lanes, r.core_only ? ", core" : "",
            r.note ? r.note : "");
    exit(1);
  }
  for (int i = 0; i < s->n; i++) {
    const double *record = r.records + (long)i * r.width;
    memcpy(out + 6 * i, record + s->omega, sizeof(double) * 3);
    memcpy(out + 6 * i + 3, record + s->up, sizeof(double) * 3);
    *rhs += 12 * (r.members[i].steps + r.members[i].rejected);
  }
  ag_batch_done(&r);
  ag_ctx_done(&ctx);
  return t;
}
