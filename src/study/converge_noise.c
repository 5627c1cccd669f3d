/* SPDX-License-Identifier: MIT
 * Measured orders on paths with noise. All runs follow the same antithetic pairs of paths to t1, in 8, 16, .., 256
 * steps; the reference takes 8192 steps of dopri5, below which the paths count as straight. So the Levy areas that
 * methods read are those of the path of the reference, and its own error is far below those of the others: the solution
 * along a straight piece is that of an ordinary equation. How far below is measured: some paths are followed by tsit5
 * in the same steps. Errors that are not well above the difference are left out of all fits.
 *
 * With d = x_h - x_ref of one path, sizes s_c = rms over paths of column c of the state and means E over paths:
 *   strong error   sqrt(E sum_c |d_c|^2/s_c^2)
 *   weak error     |E d_i|/s_i, the largest that is clearly distinguished from its sampling error at the smallest steps
 * Orders are slopes of log error over log h through the last four steps; of means, whose error may have either sign,
 * the p of the best c h^p through these and all smaller steps. Their uncertainty is that of leaving out one of 16
 * batches of paths at a time (jackknife), or the effect of the next term of the error, h^q higher, if that is
 * significant and larger: the slope moves by D when the longest of the steps is left out, half a step in log2 h, so
 * that its distance from the limit is about D/(1 - 2^(-q/2)); q = 1/2 for general noise, else 1. */
#include "study/converge_noise.h"

#include <math.h>
#include <string.h>

#include "base/heap.h"
#include "study/study.h"

enum { COARSE = 8, LEVEL = 10, BATCHES = 16, FIT = 4, CHOSEN = 12, NUMBERS = 4096, COMPARED = 256 };
static const double student = 2.131; /* 95 %, 15 degrees of freedom */
static const double rounding = 1e-10;
static const double ABOVE = 10;  /* times the error of the reference: errors that count */
static const double FAR = 0.2;   /* of the size of the motion: strong errors that say nothing about orders */
static const double WIDE = 0.25; /* half-width of an interval too wide to be useful */

typedef struct study {
  ag_converge_noise *c;
  ag_ctx *ctx;
  ag_system *sys;
  const ag_converge_noise_options *o;
  ag_record record;
  bool *wanted; /* columns that are followed */
  int n_value;
  double *weight;            /* per number: 1/size^2 of its column where it is part of the state, else 0 */
  double *size;              /* per number: rms of it, for means */
  int *tests;                /* numbers whose means are compared */
  double *blur;              /* per test: errors of its mean that are those of the reference, or rounding */
  double strong_blur;        /* of the strong error */
  int n_state;               /* columns of the state */
  double *x0, *exact, *runs; /* [path][value]; [point][path][value] */
} study;

/* Sums over the paths of a batch, or over all but one. */
typedef struct sums {
  double n, strong, *means; /* per test */
} sums;

static bool is_state(const ag_column *c) {
  return c->kind == AG_COL_COORD || c->kind == AG_COL_VELOCITY || c->kind == AG_COL_PROCESS;
}

/* ---- what is compared ---- */

static void add_test(study *s, const ag_column *c, int entry, int value) {
  ag_text name = {0};
  ag_column_name(c, entry, &name);
  s->tests[s->c->n_test] = value;
  s->c->tests[s->c->n_test++] = name.s;
}

/* Where the numbers of a column stand among the values of a path. */
static int value_of(const study *s, const ag_column *column) {
  int at = 0;
  for (const ag_column *c = s->record.columns; c < column; c++)
    if (s->wanted[c - s->record.columns]) at += c->rows * c->cols;
  return at;
}

/* Can its mean be compared? Forces of constraint have a white part. */
static bool can_test(const study *s, const ag_column *c) {
  return is_state(c) || ((c->kind == AG_COL_ENERGY || c->kind == AG_COL_OBSERVABLE) && c->x &&
                         !ag_model_has_force(ag_system_model(s->sys), 1, &c->x));
}

static ag_status choose_tests(study *s, ag_text *usage) {
  const ag_record *r = &s->record;
  ag_text name = {0};
  s->wanted = ag_heap_alloc((size_t)r->n_column + 1);
  s->tests = ag_heap_alloc(sizeof *s->tests * (NUMBERS + (size_t)r->width));
  s->c->tests = ag_heap_alloc(sizeof *s->c->tests * (NUMBERS + (size_t)r->width));
  for (int i = 0; i < r->n_column; i++)
    s->wanted[i] = is_state(&r->columns[i]) || (!s->o->columns && can_test(s, &r->columns[i]));
  for (int pass = 0; pass < 2 && s->o->columns; pass++) { /* first which ones, so that their places are known */
    for (const char *rest = s->o->columns; ag_api_next_column(&rest, &name) && s->c->n_test < NUMBERS;) {
      int entry;
      const ag_column *c = ag_record_find(r, ag_text_cstr(&name), &entry);
      if (!c || !can_test(s, c)) {
        ag_text_printf(usage, "--columns: there is no number '%s' whose mean can be compared", ag_text_cstr(&name));
        ag_text_done(&name);
        return AG_WRONG;
      }
      s->wanted[c - r->columns] = true;
      for (int k = 0; pass && k < c->rows * c->cols; k++)
        if (entry < 0 || k == entry) add_test(s, c, k, value_of(s, c) + k);
    }
  }
  ag_text_done(&name);
  for (int i = 0; i < r->n_column && !s->o->columns; i++)
    for (int k = 0; s->wanted[i] && k < r->columns[i].rows * r->columns[i].cols; k++)
      add_test(s, &r->columns[i], k, value_of(s, &r->columns[i]) + k);
  s->n_value = value_of(s, r->columns + r->n_column);
  return AG_OK;
}

/* Sizes over the paths of the reference; numbers near zero are compared without scaling. */
static void find_sizes(study *s) {
  double *square = ag_heap_alloc(sizeof *square * (size_t)(s->n_value + 1));
  s->size = ag_heap_alloc(sizeof *s->size * (size_t)(s->n_value + 1));
  s->weight = ag_heap_alloc(sizeof *s->weight * (size_t)(s->n_value + 1));
  long n = 0;
  for (long p = 0; p < s->o->paths; p++) {
    const double *x = s->exact + (size_t)p * (size_t)s->n_value;
    if (isnan(x[0])) continue;
    n++;
    for (int i = 0; i < s->n_value; i++) square[i] += x[i] * x[i];
  }
  for (int i = 0; i < s->n_value; i++) {
    s->size[i] = sqrt(square[i] / (double)(n ? n : 1));
    if (!(s->size[i] > 1e-6)) s->size[i] = 1;
  }
  for (int c = 0; c < s->record.n_column; c++) {
    const ag_column *column = &s->record.columns[c];
    if (!s->wanted[c] || !is_state(column)) continue;
    const int at = value_of(s, column), width = column->rows * column->cols;
    double sum = 0;
    s->n_state++;
    for (int i = 0; i < width; i++) sum += square[at + i] / (double)(n ? n : 1);
    for (int i = 0; i < width; i++) s->weight[at + i] = sum > 1e-12 ? 1 / sum : 1;
  }
  free(square);
}

/* ---- following ---- */

static ag_status bundle_of(study *s, ag_ctx *ctx, const ag_stepper *method, bool interpreted, ag_bundle **b) {
  int n_channel;
  (void)ag_layout_rows(s->sys, AG_LAYOUT_NOISE, &n_channel);
  const ag_ensemble_options o = {.path = {.seed = s->o->seed,
                                          .base = (s->c->t1 - s->c->t0) / COARSE,
                                          .channels = n_channel,
                                          .area_level = LEVEL,
                                          .mirror = 1},
                                 .t0 = s->c->t0,
                                 .method = method,
                                 .columns = s->wanted,
                                 .interpreted = interpreted,
                                 .threads = s->o->threads,
                                 .stop = s->o->stop};
  return ag_bundle_create(ctx, s->sys, ag_system_param_values(s->sys), s->x0, &o, b);
}

static bool stopped(const study *s) { return s->o->stop && *s->o->stop; }

static size_t block(const study *s) { return (size_t)s->o->paths * (size_t)s->n_value; }

/* The error of the reference, in the units of those of the methods: the difference of two methods on some paths. Of a
 * mean with twice its standard error. */
static ag_status find_blur(study *s) {
  const long n = s->o->paths < COMPARED ? s->o->paths : COMPARED;
  ag_bundle *b;
  AG_TRY(bundle_of(s, s->ctx, ag_stepper_find("tsit5"), s->o->interpreted, &b));
  (void)ag_bundle_follow(b, LEVEL, (unsigned long long)s->c->reference_steps, 0, n, s->runs);
  ag_bundle_free(b);
  s->blur = ag_heap_alloc(sizeof *s->blur * (size_t)(s->c->n_test + 1));
  double *square = ag_heap_alloc(sizeof *square * (size_t)(s->c->n_test + 1)), strong = 0, good = 0;
  for (long p = 0; p < n; p++) {
    const double *x = s->runs + (size_t)p * (size_t)s->n_value, *y = s->exact + (size_t)p * (size_t)s->n_value;
    if (isnan(x[0]) || isnan(y[0])) continue;
    good++;
    for (int i = 0; i < s->n_value; i++) strong += s->weight[i] * (x[i] - y[i]) * (x[i] - y[i]);
    for (int i = 0; i < s->c->n_test; i++) {
      const double d = (x[s->tests[i]] - y[s->tests[i]]) / s->size[s->tests[i]];
      s->blur[i] += d, square[i] += d * d;
    }
  }
  s->c->reference_error = sqrt(strong / good);
  s->strong_blur = fmax(rounding, ABOVE * s->c->reference_error);
  for (int i = 0; i < s->c->n_test; i++) {
    const double mean = fabs(s->blur[i]) / good, variance = fmax(0, square[i] / good - mean * mean);
    s->blur[i] = fmax(rounding, ABOVE * (mean + 2 * sqrt(variance / good)));
  }
  free(square);
  return AG_OK;
}

static ag_status make_reference(study *s) {
  ag_bundle *b;
  AG_TRY(bundle_of(s, s->ctx, ag_stepper_find("dopri5"), s->o->interpreted, &b));
  s->exact = ag_heap_alloc(sizeof(double) * (block(s) + 1));
  s->runs = ag_heap_alloc(sizeof(double) * (AG_NOISY_POINTS * block(s) + 1));
  s->c->reference_steps = COARSE << LEVEL;
  (void)ag_bundle_follow(b, LEVEL, (unsigned long long)s->c->reference_steps, 0, s->o->paths, s->exact);
  ag_bundle_free(b);
  long good = 0;
  for (long p = 0; p < s->o->paths; p++) good += !isnan(s->exact[(size_t)p * (size_t)s->n_value]);
  find_sizes(s);
  if (stopped(s)) return AG_FAILED;
  if (2 * good >= s->o->paths) return find_blur(s);
  ag_ctx_error(s->ctx, (ag_pos){0}, "there is no reference: %ld of %ld paths could not be followed to t = %g",
               s->o->paths - good, s->o->paths, s->c->t1);
  return AG_FAILED;
}

/* ---- errors and orders ---- */

/* Sums of every batch at every step size, [point][batch]; the means of tests in one block. */
typedef struct table {
  sums at[AG_NOISY_POINTS][BATCHES + 1]; /* the last: all */
  double *means;
} table;

static void add_path(const study *s, long p, int point, sums *to) {
  const double *x = s->runs + (size_t)point * block(s) + (size_t)p * (size_t)s->n_value,
               *y = s->exact + (size_t)p * (size_t)s->n_value;
  to->n++;
  for (int i = 0; i < s->n_value; i++) to->strong += s->weight[i] * (x[i] - y[i]) * (x[i] - y[i]);
  for (int i = 0; i < s->c->n_test; i++) to->means[i] += (x[s->tests[i]] - y[s->tests[i]]) / s->size[s->tests[i]];
}

/* Was the path followed with all steps? */
static bool is_whole(const study *s, long p) {
  bool good = !isnan(s->exact[(size_t)p * (size_t)s->n_value]);
  for (int k = 0; k < AG_NOISY_POINTS; k++)
    good = good && !isnan(s->runs[(size_t)k * block(s) + (size_t)p * (size_t)s->n_value]);
  return good;
}

static void fill(const study *s, ag_noisy_row *row, table *t) {
  const size_t n_test = (size_t)s->c->n_test;
  double *means = t->means = ag_heap_alloc(sizeof *means * (AG_NOISY_POINTS * (BATCHES + 1) * n_test + 1));
  for (int k = 0; k < AG_NOISY_POINTS; k++)
    for (int b = 0; b <= BATCHES; b++, means += n_test) t->at[k][b] = (sums){.means = means};
  for (long p = 0; p < s->o->paths; p++) {
    const bool good = is_whole(s, p) && is_whole(s, p ^ 1);
    row->failed += !is_whole(s, p);
    for (int k = 0; k < AG_NOISY_POINTS && good; k++) add_path(s, p, k, &t->at[k][p / 2 % BATCHES]);
  }
  for (int k = 0; k < AG_NOISY_POINTS; k++)
    for (int b = 0; b < BATCHES; b++) {
      sums *all = &t->at[k][BATCHES];
      all->n += t->at[k][b].n, all->strong += t->at[k][b].strong;
      for (size_t i = 0; i < n_test; i++) all->means[i] += t->at[k][b].means[i];
    }
}

/* The strong error (test < 0) or that of a mean, without batch `without`; BATCHES: of all. Means keep their sign. */
static double error_without(const table *t, int point, int test, int without) {
  const sums *all = &t->at[point][BATCHES], *less = &t->at[point][without];
  const bool whole = without == BATCHES;
  const double n = all->n - (whole ? 0 : less->n);
  if (test < 0) return sqrt(fmax(0, all->strong - (whole ? 0 : less->strong)) / n);
  return (all->means[test] - (whole ? 0 : less->means[test])) / n;
}

/* sqrt((B - 1)/B sum (x_b - mean)^2) of the values with one batch left out. */
static double jackknife(const double *x) {
  double mean = 0, sum = 0;
  for (int b = 0; b < BATCHES; b++) mean += x[b] / BATCHES;
  for (int b = 0; b < BATCHES; b++) sum += (x[b] - mean) * (x[b] - mean);
  return sqrt(sum * (BATCHES - 1) / BATCHES);
}

static ag_noisy_error error_of(const table *t, int point, int test) {
  double x[BATCHES];
  for (int b = 0; b < BATCHES; b++) x[b] = error_without(t, point, test, b);
  return (ag_noisy_error){fabs(error_without(t, point, test, BATCHES)), jackknife(x)};
}

/* The errors of one number. */
typedef struct series {
  const table *t;
  int test; /* < 0: the strong error */
  const ag_noisy_error *errors;
  double next; /* the next term of the error is h^next higher */
  double blur; /* errors below it are those of the reference */
} series;

static double error_in(const series *e, int point, int without) { return error_without(e->t, point, e->test, without); }

/* The slope through points from .. to - 1, each with the weight of its relative standard error (at least 2 %). */
static double slope(const series *e, int from, int to, int without) {
  double sw = 0, sx = 0, sy = 0, sxx = 0, sxy = 0;
  for (int k = from; k < to; k++) {
    const double relative = e->errors[k].spread / e->errors[k].error, w = 1 / (relative * relative + 4e-4),
                 x = -k * log(2.0), y = log(fabs(error_in(e, k, without)));
    sw += w, sx += w * x, sy += w * y, sxx += w * x * x, sxy += w * x * y;
  }
  return (sw * sxy - sx * sy) / (sw * sxx - sx * sx);
}

/* What c h^p leaves of the errors of a mean from point `from` on, with the best c. */
static double left_by(double p, const double *e, const double *w, int from) {
  double ee = 0, ex = 0, xx = 0;
  for (int k = from; k < AG_NOISY_POINTS; k++) {
    const double x = exp2(-k * p);
    ee += w[k] * e[k] * e[k], ex += w[k] * e[k] * x, xx += w[k] * x * x;
  }
  return ee - ex * ex / xx;
}

/* The best p, by golden sections about the best of a grid. Errors have their signs: points that are not significant
 * take part, so that chance does not decide which ones do. */
static double power_of(const series *s, int from, int without) {
  static const double lowest = -1, highest = 8, grid = 0.25, golden = 0.61803398874989485;
  double e[AG_NOISY_POINTS], w[AG_NOISY_POINTS], best = lowest, least = INFINITY;
  for (int k = 0; k < AG_NOISY_POINTS; k++) {
    const double spread = s->errors[k].spread, r = 0.02 * s->errors[k].error;
    e[k] = error_in(s, k, without), w[k] = s->errors[k].error > s->blur ? 1 / (spread * spread + r * r) : 0;
  }
  for (double p = lowest; p <= highest; p += grid) {
    const double left = left_by(p, e, w, from);
    if (left < least) least = left, best = p;
  }
  double a = best - grid, b = best + grid;
  while (b - a > 1e-6) {
    const double x = b - golden * (b - a), y = a + golden * (b - a);
    if (left_by(x, e, w, from) < left_by(y, e, w, from)) b = y;
    else a = x;
  }
  return 0.5 * (a + b);
}

/* Of the strong error by logarithms. */
static double order_of(const series *e, int from, int to, int without) {
  return e->test < 0 ? slope(e, from, to, without) : power_of(e, from, without);
}

/* The slope through points from .. to - 1 with half of its confidence interval. */
static void fit_points(const series *e, int from, int to, ag_noisy_order *o) {
  double x[BATCHES], moved[BATCHES];
  o->order = order_of(e, from, to, BATCHES);
  const double move = order_of(e, from + 1, to, BATCHES) - o->order;
  for (int b = 0; b < BATCHES; b++) {
    x[b] = order_of(e, from, to, b);
    moved[b] = order_of(e, from + 1, to, b) - x[b];
  }
  o->half = student * jackknife(x);
  if (fabs(move) > student * jackknife(moved)) o->half = fmax(o->half, fabs(move) / (1 - exp2(-0.5 * e->next)));
}

/* Through the last points down to one that is significantly different from 0. */
static void fit(const series *e, ag_noisy_order *o) {
  const ag_noisy_error *errors = e->errors;
  int to = AG_NOISY_POINTS;
  o->order = o->half = NAN;
  for (int k = 0; k < AG_NOISY_POINTS; k++) o->hidden += errors[k].error > rounding && !(errors[k].error > e->blur);
  while (to > 0 && !(errors[to - 1].error > 3 * errors[to - 1].spread && errors[to - 1].error > e->blur)) to--;
  int from = to;
  while (from > 0 && to - from < FIT && errors[from - 1].error > fmax(2 * errors[from - 1].spread, e->blur)) from--;
  o->n = to - from;
  if (o->n >= 3) fit_points(e, from, to, o);
  o->agrees = ag_agrees_judge(o->order, o->half, o->declared, 0.1);
  if (o->agrees == AG_AGREES_YES && o->half > WIDE) o->agrees = AG_AGREES_UNDECIDED;
  /* one interval of 95 % in twenty does not contain the order, and the scalar was chosen for its large error */
  if (o->agrees == AG_AGREES_NO && ag_agrees_judge(o->order, 2 * o->half, o->declared, 0.1) != AG_AGREES_NO)
    o->agrees = AG_AGREES_UNDECIDED;
}

/* The number whose errors are clearest at all steps together: at the smallest step alone chance would choose. Of
 * several that are clear everywhere the one with the largest error. */
static int clearest(const study *s, const table *t) {
  static const double CLEAR = 10; /* standard errors */
  int best = -1;
  double most = 0, largest = 0;
  for (int i = 0; i < s->c->n_test; i++) {
    double sum = 0, last = 0;
    int n = 0;
    for (int k = 0; k < AG_NOISY_POINTS; k++) {
      const ag_noisy_error e = error_of(t, k, i);
      if (!(e.error > s->blur[i])) continue;
      sum += fmin(e.error / e.spread, CLEAR), last = e.error;
      n += e.error > 4 * e.spread;
    }
    if (n >= 3 && (sum > most || (sum == most && last > largest))) most = sum, largest = last, best = i;
  }
  return best;
}

static void find_orders(const study *s, ag_noisy_row *row) {
  table *t = ag_heap_alloc(sizeof *t);
  ag_noisy_error strong[AG_NOISY_POINTS], weak[AG_NOISY_POINTS];
  fill(s, row, t);
  row->tested = t->at[0][BATCHES].n > 0 ? clearest(s, t) : -1;
  for (int k = 0; k < AG_NOISY_POINTS; k++) {
    strong[k] = row->points[k].strong = error_of(t, k, -1);
    weak[k] = row->points[k].weak = row->tested < 0 ? (ag_noisy_error){NAN, NAN} : error_of(t, k, row->tested);
  }
  const double next = s->c->noise == AG_NOISE_GENERAL ? 0.5 : 1;
  fit(&(series){t, -1, strong, next, s->strong_blur}, &row->strong);
  row->weak.order = row->weak.half = NAN, row->weak.agrees = AG_AGREES_UNDECIDED;
  if (row->tested >= 0) fit(&(series){t, row->tested, weak, next, s->blur[row->tested]}, &row->weak);
  row->far = strong[AG_NOISY_POINTS - 1].error > FAR * sqrt(s->n_state);
  if (row->far && row->strong.agrees == AG_AGREES_NO) row->strong.agrees = AG_AGREES_UNDECIDED;
  if (row->far && row->weak.agrees == AG_AGREES_NO) row->weak.agrees = AG_AGREES_UNDECIDED;
  free(t->means), free(t);
}

/* ---- all of them ---- */

static void measure(study *s, ag_noisy_row *row, ag_bundle *b) {
  for (int k = 0; k < AG_NOISY_POINTS && !stopped(s); k++) {
    const long steps = (long)COARSE << k;
    const double seconds =
        ag_bundle_follow(b, k, (unsigned long long)steps, 0, s->o->paths, s->runs + (size_t)k * block(s));
    row->points[row->n_point++] =
        (ag_noisy_point){.dt = ldexp((s->c->t1 - s->c->t0) / COARSE, -k), .seconds = seconds, .steps = steps};
  }
  if (!stopped(s)) find_orders(s, row);
}

/* Why a method does not fit, or NULL. */
static char *refusal(study *s, const ag_stepper *method, bool interpreted, ag_bundle **b) {
  ag_ctx ctx = {0};
  ag_text why = {0};
  if (bundle_of(s, &ctx, method, interpreted, b) != AG_OK)
    ag_text_str(&why, ctx.n_diag ? ctx.diags[0].message : "it does not fit this model");
  ag_ctx_done(&ctx);
  return why.s;
}

/* A method that is named and does not fit is an error, before anything is measured. */
static ag_status check_methods(study *s, ag_text *usage) {
  for (int i = 0; i < s->c->n_row; i++) {
    ag_bundle *b = NULL;
    char *why = refusal(s, s->c->rows[i].method, true, &b);
    ag_bundle_free(b);
    if (!why) continue;
    ag_text_str(usage, why);
    free(why);
    return AG_WRONG;
  }
  return AG_OK;
}

static ag_status measure_all(study *s) {
  for (int i = 0; i < s->c->n_row && !stopped(s); i++) {
    ag_noisy_row *row = &s->c->rows[i];
    ag_bundle *b = NULL;
    row->strong.declared = row->method->strong[s->c->noise - AG_NOISE_ADDITIVE];
    row->weak.declared = row->method->weak[s->c->noise - AG_NOISE_ADDITIVE];
    row->refused = refusal(s, row->method, s->o->interpreted, &b);
    if (!row->refused) measure(s, row, b);
    ag_bundle_free(b);
    if (s->o->progress) s->o->progress(s->o->progress_self, i + 1, i + 1);
  }
  return stopped(s) ? AG_FAILED : AG_OK;
}

static ag_status begin(study *s, ag_text *usage) {
  ag_converge_noise *c = s->c;
  if (isnan(c->t1)) AG_TRY(ag_converge_end(s->ctx, s->sys, s->x0, c->t0, CHOSEN, &c->t1));
  if (c->t1 > c->t0) return choose_tests(s, usage);
  ag_text_str(usage, "--t1 must be later than --t0: noise has a direction");
  return AG_WRONG;
}

ag_status ag_converge_noise_run(ag_converge_noise *c, ag_ctx *ctx, ag_system *sys, const ag_converge_noise_options *o,
                                ag_text *usage) {
  *c = (ag_converge_noise){.t0 = o->t0, .t1 = o->t1, .noise = ag_system_noise(sys), .paths = o->paths};
  study s = {.c = c, .ctx = ctx, .sys = sys, .o = o};
  const ag_stepper **methods;
  const int n = ag_converge_methods(o->methods, true, &methods, usage);
  c->rows = ag_heap_alloc(sizeof *c->rows * (size_t)(n > 0 ? n : 1));
  for (int i = 0; i < n; i++) c->rows[c->n_row++].method = methods[i];
  free(methods);
  if (n < 0) return AG_WRONG;
  ag_record_init(&s.record, sys);
  s.x0 = ag_heap_alloc(sizeof(double) * (size_t)(ag_system_dims(sys)->x + 1));
  ag_system_state0(sys, s.x0);
  ag_status status = begin(&s, usage);
  if (status == AG_OK && strcmp(o->methods, "all") != 0) status = check_methods(&s, usage);
  if (status == AG_OK) status = make_reference(&s);
  if (status == AG_OK) status = measure_all(&s);
  void *all[] = {s.wanted, s.weight, s.size, s.tests, s.blur, s.x0, s.exact, s.runs};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i]);
  ag_record_done(&s.record);
  return status;
}

void ag_converge_noise_done(ag_converge_noise *c) {
  for (int i = 0; i < c->n_row; i++) free(c->rows[i].refused);
  for (int i = 0; i < c->n_test; i++) free(c->tests[i]);
  free(c->rows), free(c->tests);
}
