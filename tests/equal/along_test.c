/* SPDX-License-Identifier: MIT
 * Derivatives along a direction against differences, for every model of the folders given: how the completed start
 * moves with each parameter; how observables, energy and sections move with it, and along the motion. Differences of
 * five points lose h^4 and, since starts are solved to 1e-14, 1e-14 / h: 1e-7 holds for numbers of size 1. */
#include <dirent.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lang/lang.h"
#include "math/lie.h"
#include "mech/mech.h"
#include "model/parts.h"
#include "tests/check.h"

static const double STEP = 4e-5, TOLERANCE = 1e-7;

typedef struct bench {
  ag_system *sys;
  ag_model *m;
  int n_out, size; /* expressions, numbers in them */
  ag_id *outs;
  ag_along *along;
  ag_tape *tape;
  bool lambda;
} bench;

static double *numbers(int n) { return calloc((size_t)n + 1, sizeof(double)); }

/* Observables, energy and sections. */
static void bench_init(bench *b) {
  ag_model *m = b->m;
  b->outs = calloc((size_t)(m->n_observables + m->n_sections + 1), sizeof *b->outs);
  for (int i = 0; i < m->n_observables; i++) b->outs[b->n_out++] = m->observables[i].x;
  for (int i = 0; i < m->n_sections; i++) b->outs[b->n_out++] = m->sections[i].x;
  b->outs[b->n_out++] = ag_model_energy(m);
  for (int i = 0; i < b->n_out; i++) b->size += ag_node_rows(m->graph, b->outs[i]) * ag_node_cols(m->graph, b->outs[i]);
  b->along = ag_along_create(b->sys, b->n_out, b->outs);
  b->tape = ag_system_tape(b->sys, b->n_out, b->outs, &b->lambda);
}

static bool values_at(const bench *b, double t, const double *x, const double *params, double *out) {
  ag_work *w = ag_work_create(b->sys, params);
  double *slots = ag_heap_aligned(sizeof(double) * (size_t)(b->tape->n_slot + 1));
  bool good = !ag_tape_prep(b->tape, params, slots) && !ag_work_eval(w, b->tape, b->lambda, t, x, slots, out);
  for (int i = 0; i < b->size; i++) good = good && isfinite(out[i]);
  free(slots);
  ag_work_free(w);
  return good;
}

/* The start with parameter k at a value; false: there is none. */
static bool start_at(const bench *b, int k, double value, double *params, double *x) {
  ag_ctx ctx = {0};
  ag_id number = ag_num(b->m->graph, value);
  bool good = ag_system_params(&ctx, b->sys, 1, &k, &number, params) == AG_OK &&
              ag_system_start(&ctx, b->sys, 0, params, true, x, x + ag_system_dims(b->sys)->q) == AG_OK;
  ag_ctx_done(&ctx);
  return good;
}

/* A difference of five points a step h apart; v: values at the points, n numbers each. */
static void difference(int n, const double *v, double h, double *out) {
  for (int i = 0; i < n; i++) out[i] = (8 * (v[3 * n + i] - v[n + i]) - (v[4 * n + i] - v[i])) / (12 * h);
}

/* b - a in the tangent of the full state. */
static void apart(const ag_system *sys, const double *a, const double *b, double *out) {
  const ag_dims *d = ag_system_dims(sys);
  int n;
  const ag_layout_row *rows = ag_layout_rows(sys, AG_LAYOUT_COORDINATE, &n);
  for (int i = 0; i < n; i++) {
    const ag_layout_row *p = &rows[i];
    double back[4], turn[4];
    for (int k = 0; k < p->n && p->n == p->n_tangent; k++) out[p->tangent + k] = b[p->at + k] - a[p->at + k];
    if (p->n == p->n_tangent) continue;
    ag_lie_quat_conj(a + p->at, back);
    ag_lie_quat_mul(back, b + p->at, turn);
    ag_lie_log(turn, out + p->tangent);
  }
  for (int k = 0; k < d->xi; k++) out[d->xi + k] = b[d->q + k] - a[d->q + k];
}

static void compare(const char *what, int n, const double *got, const double *want) {
  double size = 1;
  for (int i = 0; i < n; i++) size = fmax(size, fabs(want[i]));
  for (int i = 0; i < n; i++)
    if (!(fabs(got[i] - want[i]) <= TOLERANCE * size)) fprintf(stderr, "  %s: number %d\n", what, i);
  for (int i = 0; i < n; i++) AG_CHECK_NEAR(got[i] / size, want[i] / size, TOLERANCE);
}

static int n_compared;

static void check_param(bench *b, int k) {
  const ag_system *sys = b->sys;
  const ag_dims *d = ag_system_dims(sys);
  int n_x = d->q + d->xi, n = d->xi, n_p = d->param, offset = ag_layout_item(sys, AG_LAYOUT_PARAMETER, k)->at;
  double *params = numbers(5 * n_p), *x = numbers(5 * n_x), *moved = numbers(10 * n), *values = numbers(5 * b->size);
  double *dp = numbers(n_p), *dx = numbers(2 * n), *want = numbers(2 * n + b->size), *got = numbers(b->size);
  double at = ag_system_param_values(sys)[offset], h = STEP * fmax(1, fabs(at)), *p = params + 2 * n_p,
         *x0 = x + 2 * n_x;
  bool good = true;
  for (int i = 0; i < 5 && good; i++)
    good = start_at(b, k, at + (i - 2) * h, params + i * n_p, x + i * n_x) &&
           values_at(b, 0, x + i * n_x, params + i * n_p, values + i * b->size);
  if (good) {
    ag_ctx ctx = {0};
    ag_start_along *a = ag_start_along_create(b->sys, 1, &offset);
    dp[offset] = 1;
    AG_CHECK(ag_start_along_eval(a, &ctx, 0, p, true, x0, x0 + d->q, 1, dp, dx) == AG_OK);
    for (int i = 0; i < 5; i++) apart(sys, x0, x + i * n_x, moved + 2 * i * n);
    difference(2 * n, moved, h, want);
    compare(b->m->params[k].name, 2 * n, dx, want);
    AG_CHECK(ag_along_eval(b->along, 0, x0, p, &(ag_direction){.q = dx, .xi = dx + n, .params = dp}, got) == 0);
    difference(b->size, values, h, want);
    compare(b->m->params[k].name, b->size, got, want);
    ag_start_along_free(a);
    ag_ctx_done(&ctx);
    n_compared++;
  }
  void *all[] = {params, x, moved, values, dp, dx, want, got};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i]);
}

/* Along the motion: t' = 1, q' = xi, xi' from the equations. */
static void check_motion(bench *b) {
  const ag_system *sys = b->sys;
  const ag_dims *dims = ag_system_dims(sys);
  const double *params = ag_system_param_values(sys);
  int n_x = dims->q + dims->xi;
  double *x = numbers(3 * n_x), *dx = x + n_x, *moved = dx + n_x, *values = numbers(5 * b->size);
  double *got = numbers(b->size), *want = numbers(b->size), h = STEP;
  ag_work *w = ag_work_create(sys, params);
  ag_system_state0(sys, x);
  bool good = ag_work_rhs_full(w, 0, x, dx) == AG_FINE;
  for (int i = 0; i < 5 && good; i++) {
    for (int k = 0; k < n_x; k++) moved[k] = x[k] + (i - 2) * h * dx[k];
    good = values_at(b, (i - 2) * h, moved, params, values + i * b->size);
  }
  if (good) {
    ag_direction d = {.t = 1, .q = x + dims->q, .xi = dx + dims->q};
    AG_CHECK(ag_along_eval(b->along, 0, x, params, &d, got) == 0);
    difference(b->size, values, h, want);
    compare("along the motion", b->size, got, want);
  }
  ag_work_free(w);
  free(x), free(values), free(got), free(want);
}

/* Each start value gets its own parameter, which is added to all its components. */
static void add_shifts(ag_model *m) {
  ag_graph *g = m->graph;
  for (int i = 0; i < m->n_starts; i++) {
    ag_id x = m->starts[i].x, zero = ag_num(g, 0), *ones = calloc(16, sizeof *ones);
    int rows = ag_node_rows(g, x), cols = ag_node_cols(g, x);
    if (cols == 1 && rows <= 16) {
      ag_id shift = ag_model_add_param(m, "shift", zero, (ag_pos){0});
      for (int k = 0; k < rows; k++) ones[k] = ag_num(g, 1);
      ag_id vector = ag_stack(g, rows, 1, ones), part = ag_mul(g, shift, vector);
      m->starts[i].x = ag_add(g, x, part);
    }
    free(ones);
  }
}

static void check_model(const char *path, bool saddle) {
  static char text[1 << 20];
  FILE *f = fopen(path, "rb");
  AG_CHECK(f != NULL);
  if (!f) return;
  size_t size = fread(text, 1, sizeof text - 1, f);
  fclose(f);
  ag_ctx ctx = {0};
  bench b = {0};
  ag_status status = ag_lang_read(&ctx, path, text, size, 0, NULL, &b.m);
  if (status == AG_OK) add_shifts(b.m);
  if (status == AG_OK) status = ag_system_create(&ctx, b.m, &(ag_derive_options){.saddle = saddle}, &b.sys);
  fprintf(stderr, "%s%s\n", path, status == AG_OK ? saddle ? ", sparse" : "" : ": not derived");
  if (status == AG_OK) {
    bench_init(&b);
    check_motion(&b);
    for (int k = 0; k < b.m->n_params; k++)
      if (b.m->params[k].input && ag_is_scalar(b.m->graph, b.m->params[k].input)) check_param(&b, k);
  }
  ag_along_free(b.along);
  ag_tape_free(b.tape);
  free(b.outs);
  ag_system_free(b.sys);
  ag_model_free(b.m);
  ag_ctx_done(&ctx);
}

int main(int argc, char **argv) {
  for (int i = 1; i < argc; i++) {
    struct dirent **names;
    int n = scandir(argv[i], &names, NULL, alphasort);
    AG_CHECK(n > 0);
    for (int k = 0; k < n; k++) {
      size_t length = strlen(names[k]->d_name);
      char path[4096];
      snprintf(path, sizeof path, "%s/%s", argv[i], names[k]->d_name);
      bool model = length > 3 && !strcmp(names[k]->d_name + length - 3, ".nh");
      for (int saddle = 0; saddle < 2 && model; saddle++) check_model(path, saddle);
      free(names[k]);
    }
    if (n > 0) free(names);
  }
  fprintf(stderr, "%d starts compared\n", n_compared);
  AG_CHECK(n_compared > 100);
  return ag_check_report();
}
