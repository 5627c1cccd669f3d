/* SPDX-License-Identifier: MIT
 * Multilevel Monte Carlo (M. B. Giles, Acta Numerica 24, 259-328, 2015). With P_l the number at the end in steps
 * dt/2^l, E P_L = E P_0 + sum E (P_l - P_{l-1}), each term from paths of its own, both numbers of a difference from the
 * same path. For variances V_l and costs C_l of a path (in steps, so that the plan does not depend on the machine) the
 * number of paths N_l = 2/eps^2 sqrt(V_l/C_l) sum_k sqrt(V_k C_k) makes the variance eps^2/2 with the least work.
 * Levels are added until the remaining bias, estimated from the last differences, max over k of |E (P_{L-k} - ..)|
 * 2^(-a k)/(2^a - 1), is below eps/sqrt(2).
 *
 * Where the noise is general and a method has strong order 1/2, the mean of two fine paths stands for P_l: the second
 * one takes the two fine steps of every coarse step in the opposite order. Their Levy areas cancel against those that
 * the coarse step lacks (M. B. Giles, L. Szpruch, Ann. Appl. Probab. 24, 1585-1620, 2014). */
#include "study/multilevel.h"

#include <math.h>

#include "base/heap.h"

enum { CHUNK = 1 << 15, FIRST_LEVELS = 3 };
static const double most_paths = 0x1p40; /* of a level: path numbers of the next one follow */

/* Sums over the paths of a level, of x - centre. */
typedef struct sums {
  double n, centre, first, second;
  unsigned long long failed, taken;
} sums;

typedef struct study {
  ag_multilevel *m;
  const ag_multilevel_options *o;
  ag_bundle *b;
  int n_value;
  double *fine, *swapped, *coarse;
  sums at[AG_MULTILEVEL_MOST];
  double weak; /* order that the method declares */
} study;

static bool stopped(const study *s) { return s->o->stop && *s->o->stop; }

/* ---- paths ---- */

static unsigned long long first_path(int level) { return (unsigned long long)level << 40; }

static void follow(study *s, int level, unsigned long long first, long n, bool swap, double *values) {
  ag_bundle_swap(s->b, swap);
  (void)ag_bundle_follow(s->b, level, s->o->steps << level, first, n, values);
}

static void add(sums *p, double x) {
  p->taken++;
  if (!isfinite(x)) {
    p->failed++;
    return;
  }
  if (p->n == 0) p->centre = x;
  p->n++;
  p->first += x - p->centre;
  p->second += (x - p->centre) * (x - p->centre);
}

/* More paths of a level. */
static void take(study *s, int level, double more) {
  sums *p = &s->at[level];
  while (more > 0 && !stopped(s)) {
    const long n = more < CHUNK ? (long)more : CHUNK;
    const unsigned long long first = first_path(level) + p->taken;
    follow(s, level, first, n, false, s->fine);
    if (level && s->m->antithetic) follow(s, level, first, n, true, s->swapped);
    if (level) follow(s, level - 1, first, n, false, s->coarse);
    if (stopped(s)) return; /* some of them may be missing */
    for (long i = 0; i < n; i++) {
      const size_t at = (size_t)i * (size_t)s->n_value + (size_t)s->o->entry;
      double x = s->fine[at];
      if (level && s->m->antithetic) x = 0.5 * (x + s->swapped[at]);
      add(p, level ? x - s->coarse[at] : x);
    }
    more -= (double)n;
  }
}

/* ---- statistics ---- */

static double cost_of(const study *s, int level) {
  const double coarse = (double)s->o->steps, fine = ldexp(coarse, level);
  return level ? fine * (s->m->antithetic ? 2.5 : 1.5) : coarse;
}

/* An exponent from slopes of log2 y_l, l = 1 .. n - 1: y ~ 2^(-x l). */
static double decay_of(int n, const double *y) {
  double count = 0, sl = 0, sy = 0, sll = 0, sly = 0;
  for (int l = 1; l < n; l++) {
    if (!(y[l] > 0)) continue;
    count++, sl += l, sy += log2(y[l]), sll += l * l, sly += l * log2(y[l]);
  }
  return count > 1 ? -(count * sly - sl * sy) / (count * sll - sl * sl) : NAN;
}

/* The weak order that differences are taken to have: measured, at least 1/2, at most the declared one. */
static double weak_of(const study *s) { return isnan(s->m->weak) ? 0.5 : fmin(s->weak, fmax(0.5, s->m->weak)); }

static double bias_of(const study *s) {
  const ag_multilevel *m = s->m;
  const double a = weak_of(s);
  double worst = 0;
  for (int k = 0; k < 3 && m->n - 1 - k > 0; k++) worst = fmax(worst, fabs(m->rows[m->n - 1 - k].mean) * exp2(-a * k));
  return worst / (exp2(a) - 1);
}

static void measure(study *s) {
  ag_multilevel *m = s->m;
  double variances[AG_MULTILEVEL_MOST], means[AG_MULTILEVEL_MOST], square = 0;
  m->mean = m->steps = 0;
  for (int l = 0; l < m->n; l++) {
    const sums *p = &s->at[l];
    ag_multilevel_row *r = &m->rows[l];
    const double mean = p->n > 0 ? p->first / p->n : NAN, rest = p->second - p->first * mean;
    *r = (ag_multilevel_row){.dt = ldexp(s->o->dt, -l), .paths = p->taken, .failed = p->failed, .cost = cost_of(s, l)};
    r->mean = p->n > 0 ? p->centre + mean : NAN;
    r->variance = p->n > 1 ? fmax(0, rest / (p->n - 1)) : NAN;
    r->spread = sqrt(r->variance / p->n);
    variances[l] = r->variance, means[l] = fabs(r->mean);
    m->mean += r->mean, m->steps += (double)p->taken * r->cost, square += r->spread * r->spread;
  }
  m->spread = sqrt(square);
  m->decay = decay_of(m->n, variances), m->weak = decay_of(m->n, means);
  m->bias = bias_of(s);
  m->plain = 2 * m->rows[0].variance / (s->o->target * s->o->target) * ldexp((double)s->o->steps, m->n - 1);
  m->reached = m->spread * m->spread + m->bias * m->bias <= s->o->target * s->o->target;
}

/* A variance from few paths may be too small by chance: not below half of the value suggested by the previous level. */
static double variance_of(const study *s, int level) {
  const ag_multilevel_row *r = &s->m->rows[level];
  if (level < 2) return r->variance;
  const double decay = isnan(s->m->decay) ? 1 : fmax(0.5, s->m->decay);
  return fmax(r->variance, 0.5 * r[-1].variance * exp2(-decay));
}

/* ---- the plan ---- */

/* Paths of all levels for the variance eps^2/2. True: there were more to take. */
static bool take_planned(study *s) {
  const ag_multilevel *m = s->m;
  double sum = 0, more[AG_MULTILEVEL_MOST];
  bool any = false;
  for (int l = 0; l < m->n; l++) sum += sqrt(variance_of(s, l) * m->rows[l].cost);
  for (int l = 0; l < m->n; l++) {
    const double wanted = ceil(2 / (s->o->target * s->o->target) * sqrt(variance_of(s, l) / m->rows[l].cost) * sum);
    more[l] = fmin(wanted, most_paths) - (double)s->at[l].taken;
    any = any || more[l] > 0;
  }
  for (int l = 0; l < m->n; l++)
    if (more[l] > 0) take(s, l, more[l]);
  if (any) measure(s);
  return any;
}

static void add_level(study *s) {
  take(s, s->m->n, (double)s->o->pilot);
  s->m->n++;
}

static void climb(study *s) {
  ag_multilevel *m = s->m;
  while (m->n < FIRST_LEVELS && !stopped(s)) add_level(s);
  measure(s);
  while (!stopped(s)) {
    while (!stopped(s) && take_planned(s)) {
    }
    if (m->reached || m->n == AG_MULTILEVEL_MOST || !(m->mean * 0 == 0)) break;
    if (m->bias <= s->o->target / sqrt(2.0)) break; /* the variance cannot be made smaller: too many paths */
    add_level(s);
    measure(s);
  }
  if (stopped(s)) m->reached = false;
}

ag_status ag_multilevel_run(ag_multilevel *m, ag_ctx *ctx, ag_system *sys, const double *params, const double *x0,
                            const ag_multilevel_options *o) {
  *m = (ag_multilevel){0};
  const ag_noise_class noise = ag_system_noise(sys);
  study *s = ag_heap_alloc(sizeof *s);
  *s = (study){.m = m, .o = o};
  const ag_ensemble_options paths = {.path = {.seed = o->seed, .base = o->dt, .channels = ag_system_dims(sys)->channel},
                                     .t0 = o->t0,
                                     .method = o->method,
                                     .columns = o->columns,
                                     .interpreted = o->interpreted,
                                     .threads = o->threads,
                                     .stop = o->stop};
  const ag_status status = ag_bundle_create(ctx, sys, params, x0, &paths, &s->b);
  if (status == AG_OK) {
    s->weak = o->method->weak[noise - AG_NOISE_ADDITIVE];
    m->antithetic = noise == AG_NOISE_GENERAL && o->method->strong[noise - AG_NOISE_ADDITIVE] < 1;
    s->n_value = ag_bundle_n_value(s->b);
    double **blocks[] = {&s->fine, &s->swapped, &s->coarse};
    for (int i = 0; i < 3; i++) *blocks[i] = ag_heap_alloc(sizeof(double) * CHUNK * (size_t)s->n_value);
    climb(s);
    for (int i = 0; i < 3; i++) free(*blocks[i]);
  }
  ag_bundle_free(s->b);
  free(s);
  return status;
}
