/* SPDX-License-Identifier: MIT
 * expect mean(OBS) and var(OBS): over paths, against the standard error of the estimate. With n numbers of mean m and
 * central moments m2, m4: of the mean sqrt(m2/n), of the variance sqrt((m4 - m2^2)/n). */
#include <math.h>
#include <string.h>

#include "run/run_internal.h"

enum { CHUNK = 1 << 16 }; /* paths in memory at a time */

/* Sums of powers of x - centre. The centre is that of the first chunk, so that they do not cancel. */
typedef struct powers {
  double n, centre, sum[4];
  unsigned long long failed;
} powers;

static void add(powers *p, long n, const double *x) {
  if (p->n == 0) {
    double sum = 0;
    long good = 0;
    for (long i = 0; i < n; i++)
      if (isfinite(x[i])) sum += x[i], good++;
    p->centre = good ? sum / (double)good : 0;
  }
  for (long i = 0; i < n; i++) {
    if (!isfinite(x[i])) {
      p->failed++;
      continue;
    }
    const double d = x[i] - p->centre;
    p->n++;
    p->sum[0] += d, p->sum[1] += d * d, p->sum[2] += d * d * d, p->sum[3] += d * d * d * d;
  }
}

static void judge(const powers *p, const ag_expect *e, ag_verdict *v) {
  const double a = p->sum[0] / p->n, b = p->sum[1] / p->n, c = p->sum[2] / p->n, d = p->sum[3] / p->n;
  const double m2 = b - a * a, m4 = d - 4 * a * c + 6 * a * a * b - 3 * a * a * a * a,
               unbiased = m2 * p->n / (p->n - 1);
  const bool mean = e->kind == AG_EXPECT_MEAN;
  v->got = mean ? p->centre + a : unbiased;
  v->error = fabs(v->got - v->wanted);
  v->tol *= sqrt(fmax(0, mean ? unbiased : m4 - m2 * m2) / p->n);
  v->holds = v->error <= v->tol;
  if (!p->failed) return;
  ag_text note = {0};
  ag_text_printf(&note, "%llu of %.0f paths could not be followed", p->failed, e->paths);
  v->note = note.s;
  v->holds = false;
}

static ag_status wrong(ag_ctx *ctx, const ag_expect *e, const char *text) {
  ag_ctx_error(ctx, e->pos, "%s", text);
  return AG_WRONG;
}

/* The column of the record that x is a number of, and which; NULL: none. */
static const ag_column *column_of(ag_system *sys, const ag_record *r, ag_id x, int *entry) {
  ag_graph *g = ag_system_graph(sys);
  const ag_id energy = ag_model_energy_input(ag_system_model(sys));
  for (int i = 0; i < r->n_column; i++) {
    const ag_column *c = &r->columns[i];
    if (c->kind == AG_COL_TIME || c->kind == AG_COL_RESIDUAL || !c->x) continue;
    *entry = 0;
    if (c->kind == AG_COL_ENERGY && energy && x == energy) return c;
    for (int k = 0; k < c->rows * c->cols; k++) {
      *entry = k;
      if ((c->rows * c->cols == 1 ? c->x : ag_entry(g, c->x, k / c->cols, k % c->cols)) == x) return c;
    }
  }
  return NULL;
}

/* Steps of dt up to the time; AG_WRONG: they do not fit. */
static ag_status choose_steps(ag_ctx *ctx, const ag_expect *e, double span, double dt, ag_wiener *w,
                              unsigned long long *steps) {
  double nearest[2];
  if (!(span > 0)) return wrong(ctx, e, "the time must be later than that of the start: noise has a direction");
  w->base = ag_wiener_near(dt);
  if (ag_wiener_fit(w, dt, nearest) && ag_wiener_divides(w, dt, span, steps, nearest)) return AG_OK;
  ag_ctx_error(ctx, e->pos, "dt = %.12g does not divide the time %.12g; the nearest that do are %.12g and %.12g", dt,
               span, nearest[0], nearest[1]);
  return AG_WRONG;
}

static void follow(ag_bundle *b, const ag_expect *e, unsigned long long steps, int entry, powers *p) {
  const int n_value = ag_bundle_n_value(b);
  double *values = ag_heap_alloc(sizeof *values * (size_t)CHUNK * (size_t)n_value),
         *x = ag_heap_alloc(sizeof *x * (size_t)CHUNK);
  for (double done = 0; done < e->paths; done += CHUNK) {
    const long n = e->paths - done < CHUNK ? (long)(e->paths - done) : CHUNK;
    (void)ag_bundle_follow(b, 0, steps, (unsigned long long)done, n, values);
    for (long i = 0; i < n; i++) x[i] = values[(size_t)i * (size_t)n_value + (size_t)entry];
    add(p, n, x);
  }
  free(values), free(x);
}

ag_status ag_expect_paths(ag_ctx *ctx, ag_system *sys, const ag_expect *e, const double *params, const double *x0,
                          double time, double dt, ag_verdict *v) {
  if (!ag_system_dims(sys)->channel) return wrong(ctx, e, "a mean over paths needs a model with noise");
  ag_record record;
  int entry = 0;
  unsigned long long steps = 0;
  ag_record_init(&record, sys);
  bool *wanted = ag_heap_alloc((size_t)record.n_column + 1);
  ag_bundle *b = NULL;
  const ag_column *c = column_of(sys, &record, e->x, &entry);
  ag_ensemble_options o = {
      .path = {.seed = (unsigned long long)e->seed, .channels = ag_system_dims(sys)->channel},
      .t0 = ag_system_t0(sys),
      .method = ag_stepper_find(e->method ? e->method : "euler_heun"),
      .columns = wanted,
  };
  ag_status status = !c ? wrong(ctx, e, "the averaged quantity is not recorded along paths: define an observable")
                     : !o.method ? wrong(ctx, e, "there is no such method: `anagyre list methods` shows all")
                                 : choose_steps(ctx, e, time - o.t0, dt, &o.path, &steps);
  if (status == AG_OK) {
    wanted[c - record.columns] = true;
    status = ag_bundle_create(ctx, sys, params, x0, &o, &b);
  }
  if (status == AG_OK) {
    powers p = {0};
    follow(b, e, steps, entry, &p);
    judge(&p, e, v);
  }
  ag_bundle_free(b);
  ag_record_done(&record);
  free(wanted);
  return status;
}
