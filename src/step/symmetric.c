/* SPDX-License-Identifier: MIT
 * Symmetric projection: a step of any method that ends on the levels c of functions g(t, z) on which it began (Hairer,
 * Lubich, Wanner, Geometric Numerical Integration, V.4.1). With the gradients G(t, z) in tangent coordinates and
 * multipliers mu,
 *   y0 = z moved by G(t, z)^T mu,   y1 the step of the method from y0,   z1 = y1 moved by G(t + h, z1)^T mu,
 *   g(t + h, z1) = c.
 * From the end it is the same with -h and -mu: the step is reversible where that of the method is. The method
 * leaves the levels by O(h^(p+1)), so is mu, and the order stays p. The equations for mu have the matrix 2 G G^T up to
 * O(h): Broyden's method from there. Rows are scaled to gradients of length 1. The levels do not move with the steps,
 * so that rounding errors do not accumulate. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "expr/vmath.h"
#include "step/step_text.h"

#define AG_STEP_FN(name) symmetric_##name
#define AG_STEP_QUALIFIER static __attribute__((unused))
#include "step/factor_core.h"

static const double EXACT = 0x1p-52, NOISE = 1e-13, STALLED = 1e-10; /* of a level: rounding; reached where it no
   longer decreases at once, or after some trials */
static const double CONSTANT = 1e-8; /* a rate below this part of the gradient times the rates is that of a constant */
static const double DEPENDENT = 1e-12; /* sin^2 of the angle between a gradient and the others */
static const double SMALL = 1e-3;
enum { MOST = 40, MOST_END = 30, STALLS = 4 };

/* The workspace, behind that of the base. */
typedef struct room {
  double *start, *end;    /* y0 and y1 */
  double *before, *after; /* z - y0, z1 - y1 */
  double *carry0, *carry1;
  double *levels0, *levels1; /* values, derivatives by t, gradients */
  double *target, *size;     /* of the levels; the scale of their errors */
  double *mu, *change, *off, *B, *LU;
  double *d, *last, *w; /* tangent vectors */
  double *behind;
} room;

static int tangent_size(const ag_flow *f) { return f->m ? f->m : f->n; }

static long square(const ag_flow *f) { return ag_flow_square(f->table, tangent_size(f)); }

static double *take(double **at, int n) {
  double *x = *at;
  *at += n;
  return x;
}

static room layout(const ag_stepper *base, const ag_flow *f, double *work) {
  int n = f->n, m = tangent_size(f), k = f->n_level;
  ag_step_room r = ag_stepper_room(base, n, m, square(f));
  double *at = work + r.size;
  room s = {.start = take(&at, n), .end = take(&at, n), .before = take(&at, n), .after = take(&at, n)};
  s.carry0 = take(&at, n + r.own), s.carry1 = take(&at, n + r.own);
  s.levels0 = take(&at, k * (2 + m)), s.levels1 = take(&at, k * (2 + m));
  s.target = take(&at, k), s.size = take(&at, k), s.mu = take(&at, k), s.change = take(&at, k), s.off = take(&at, k);
  s.B = take(&at, k * k), s.LU = take(&at, k * k);
  s.d = take(&at, m), s.last = take(&at, m), s.w = take(&at, m);
  s.behind = at;
  return s;
}

int ag_symmetric_own(const ag_flow *f) { return f->n_level + 1; }

size_t ag_symmetric_size(const ag_stepper *base, const ag_flow *f) {
  ag_step_room r = ag_stepper_room(base, f->n, tangent_size(f), square(f));
  int n = f->n, m = tangent_size(f), k = f->n_level;
  return r.size + (size_t)(4 * n + 2 * (n + r.own) + 2 * k * (2 + m) + 5 * k + 2 * k * k + 3 * m);
}

static double dot(int n, const double *a, const double *b) {
  double sum = 0;
  for (int i = 0; i < n; i++) sum = fma(a[i], b[i], sum);
  return sum;
}

static double *gradients(const ag_flow *f, double *levels) { return levels + 2 * f->n_level; }

/* How large tangent coordinate j of the state is, or becomes in the step: 1 on a rotation. One that is 0 now need not
 * be so in what the levels are made of: at least SMALL of the largest. */
static void sizes(const ag_flow *f, const double *z, double h, const double *rates, double *size) {
  for (int j = 0; j < tangent_size(f); j++) size[j] = 1;
  for (int i = 0; i < (f->n_factor ? f->n_factor : 1); i++) {
    const ag_factor p = step_factor(f, i);
    for (int j = 0; j < p.n && p.kind == AG_FACTOR_VECTOR; j++)
      size[p.d + j] = fabs(z[p.z + j]) + fabs(h * rates[p.d + j]);
  }
  double largest = 0;
  for (int j = 0; j < tangent_size(f); j++) largest = fmax(largest, size[j]);
  for (int j = 0; j < tangent_size(f); j++) size[j] = fmax(size[j], SMALL * largest);
}

/* Solves A x = b by Gauss with pivots (k x k); A is destroyed. */
static void solve(int k, double *A, double *b) {
  for (int p = 0; p < k; p++) {
    int best = p;
    for (int i = p + 1; i < k; i++)
      if (fabs(A[i * k + p]) > fabs(A[best * k + p])) best = i;
    for (int j = 0; j < k && best != p; j++) {
      double x = A[p * k + j];
      A[p * k + j] = A[best * k + j], A[best * k + j] = x;
    }
    double x = b[p];
    b[p] = b[best], b[best] = x;
    for (int i = p + 1; i < k; i++) {
      double by = A[i * k + p] / A[p * k + p];
      for (int j = p + 1; j < k; j++) A[i * k + j] = fma(-by, A[p * k + j], A[i * k + j]);
      b[i] = fma(-by, b[p], b[i]);
    }
  }
  for (int p = k - 1; p >= 0; p--) b[p] = (b[p] - dot(k - p - 1, A + p * k + p + 1, b + p + 1)) / A[p * k + p];
}

/* The levels at the start, their scale, and B = 2 G G^T with rows of length 1. */
static int begin(const ag_flow *f, double t, double h, const double *z, const double *dz, room *s, int *which) {
  int m = tangent_size(f), k = f->n_level;
  int reason = f->levels(f->self, t, z, s->levels0);
  if (reason) return reason;
  double *G = gradients(f, s->levels0);
  symmetric_tangent(f, f->n, z, dz, s->w);
  sizes(f, z, h, s->w, s->last);
  double fastest = 0;
  for (int j = 0; j < m; j++) fastest = fmax(fastest, fabs(s->w[j]));
  for (int i = 0; i < k; i++) {
    double *row = G + i * m, by_t = s->levels0[k + i], rate = dot(m, row, s->w) + by_t, terms = fabs(by_t);
    s->size[i] = fabs(s->levels0[i]);
    for (int j = 0; j < m; j++) terms += fabs(row[j]) * fastest, s->size[i] += fabs(row[j] * s->last[j]);
    *which = i;
    if (!(fabs(rate) <= CONSTANT * terms)) return AG_STEP_LEVEL;
    s->mu[i] = 0;
    s->change[i] = sqrt(dot(m, row, row));
    if (!(s->change[i] > 0)) return AG_STEP_DEPENDENT;
  }
  for (int i = 0; i < k; i++)
    for (int j = 0; j < k; j++)
      s->LU[i * k + j] = s->B[i * k + j] = 2 * dot(m, G + i * m, G + j * m) / (s->change[i] * s->change[j]);
  for (int p = 0; p < k; p++) { /* the rest of the square of a row after projection on the rows before it */
    if (!(s->LU[p * k + p] > 2 * DEPENDENT)) return AG_STEP_DEPENDENT;
    for (int i = p + 1; i < k; i++)
      for (int j = k - 1; j >= p; j--) s->LU[i * k + j] -= s->LU[i * k + p] / s->LU[p * k + p] * s->LU[p * k + j];
  }
  for (int i = 0; i < k; i++) s->off[i] = 1 / s->change[i];
  return 0;
}

/* d = G^T of the multipliers, which belong to rows of length 1 (scale). Returns the size of its largest term, beside
 * which rounding errors are seen: terms may cancel. */
static double along(const ag_flow *f, const double *G, const double *scale, const double *mu, double *d) {
  int m = tangent_size(f);
  double largest = 0;
  for (int j = 0; j < m; j++) d[j] = 0;
  for (int i = 0; i < f->n_level; i++)
    for (int j = 0; j < m; j++) {
      d[j] = fma(G[i * m + j], scale[i] * mu[i], d[j]);
      largest = fmax(largest, fabs(G[i * m + j] * scale[i] * mu[i]));
    }
  return largest;
}

/* z1 = y1 moved by G(z1)^T mu: a contraction, for mu is small. s->d is a guess of the movement. */
static int find_end(const ag_flow *f, double t1, const double *scale, double *z1, room *s) {
  int m = tangent_size(f);
  for (int trial = 0; trial < MOST_END; trial++) {
    double change = 0;
    symmetric_move(f, f->n, s->end, 1, s->d, z1);
    int reason = f->levels(f->self, t1, z1, s->levels1);
    if (reason) return reason;
    memcpy(s->last, s->d, sizeof(double) * (size_t)m);
    const double size = along(f, gradients(f, s->levels1), scale, s->mu, s->d);
    for (int j = 0; j < m; j++) change = fmax(change, fabs(s->d[j] - s->last[j]));
    if (change <= 4 * EXACT * size) return 0;
    if (!isfinite(change)) break;
  }
  return AG_STEP_STAGES;
}

/* The step with the multipliers as they are; s->off: how far it ends from the levels. */
static int try_step(const ag_stepper *base, const ag_flow *f, double t, double h, const double *z, const double *dz0,
                    const double *scale, double *z1, double *error, double *work, room *s) {
  int n = f->n, own = ag_stepper_room(base, n, tangent_size(f), square(f)).own, k = f->n_level, reason;
  double most = 0;
  for (int i = 0; i < k; i++) most = fmax(most, fabs(s->mu[i]));
  (void)along(f, gradients(f, s->levels0), scale, s->mu, s->w);
  symmetric_move(f, n, z, 1, s->w, s->start);
  memcpy(s->carry0, dz0, sizeof(double) * (size_t)(n + own));
  if (most > 0) {
    if ((reason = f->rhs(f->self, t, s->start, s->carry0))) return reason;
  } else memcpy(s->start, z, sizeof(double) * (size_t)n);
  reason = base->step(base, f, t, h, s->start, s->carry0, s->end, s->carry1, 0, 1, error, work);
  if (!reason && f->align) f->align(f->self, t + h, s->end);
  if (!reason) reason = find_end(f, t + h, scale, z1, s);
  for (int i = 0; i < k && !reason; i++) s->off[i] = (s->levels1[i] - s->target[i]) * scale[i];
  return reason;
}

/* The next multipliers: the secant of the last change, then a step of Newton's method. */
static void correct(int k, int trial, room *s) {
  double square = dot(k, s->change, s->change);
  for (int i = 0; i < k && trial && square > 0; i++)
    for (int j = 0; j < k; j++) s->B[i * k + j] = fma(s->off[i], s->change[j] / square, s->B[i * k + j]);
  memcpy(s->LU, s->B, sizeof(double) * (size_t)(k * k));
  for (int i = 0; i < k; i++) s->change[i] = -s->off[i];
  solve(k, s->LU, s->change);
  for (int i = 0; i < k; i++) s->mu[i] += s->change[i];
}

static int solve_levels(const ag_stepper *base, const ag_flow *f, double t, double h, const double *z,
                        const double *dz0, double *z1, double *error, double *work, room *s) {
  int k = f->n_level, m = tangent_size(f);
  double *scale = s->levels0, best = INFINITY; /* the values at the start are no longer needed */
  memcpy(scale, s->off, sizeof(double) * (size_t)k);
  for (int j = 0; j < m; j++) s->d[j] = 0;
  for (int trial = 0, stalls = 0; trial < MOST; trial++) {
    double worst = 0;
    int reason = try_step(base, f, t, h, z, dz0, scale, z1, error, work, s);
    if (reason) return reason;
    for (int i = 0; i < k; i++)
      if (s->off[i] != 0) worst = fmax(worst, fabs(s->off[i]) / (scale[i] * s->size[i]));
    stalls += worst >= 0.5 * best;
    if (worst <= 4 * EXACT || (stalls && worst <= NOISE) || (stalls >= STALLS && worst <= STALLED)) return 0;
    if (!isfinite(worst)) break;
    best = fmin(best, worst);
    correct(k, trial, s);
  }
  return AG_STEP_STAGES;
}

int ag_symmetric_step(const ag_stepper *base, const ag_flow *f, double t, double h, const double *z, const double *dz0,
                      double *z1, double *dz1, double *error, double *work) {
  int n = f->n, k = f->n_level, which;
  room s = layout(base, f, work);
  const int own = ag_stepper_room(base, n, tangent_size(f), square(f)).own;
  const double *kept = dz0 + n + own;
  int reason = begin(f, t, h, z, dz0, &s, &which);
  if (reason) return reason;
  memcpy(s.target, kept[k] > 0 ? kept : s.levels0, sizeof(double) * (size_t)k);
  if (!reason) reason = solve_levels(base, f, t, h, z, dz0, z1, error, work, &s);
  if (!reason) reason = f->rhs(f->self, t + h, z1, dz1);
  if (reason) return reason;
  memcpy(dz1 + n, s.carry1 + n, sizeof(double) * (size_t)own);
  memcpy(dz1 + n + own, s.target, sizeof(double) * (size_t)k);
  dz1[n + own + k] = 1;
  for (int i = 0; i < n; i++) s.before[i] = z[i] - s.start[i], s.after[i] = z1[i] - s.end[i];
  return 0;
}

int ag_symmetric_dense(const ag_stepper *base, const ag_flow *f, double t, double h, double *work) {
  room s = layout(base, f, work);
  return base->dense(base, f, t, h, s.start, s.end, work);
}

/* That of the base, and the offsets of the ends from it. */
void ag_symmetric_interpolate(const ag_stepper *base, const ag_flow *f, double theta, const double *work, double *out) {
  room s = layout(base, f, (double *)work); /* only read */
  base->interpolate(base, f->n, theta, s.start, work, out);
  for (int i = 0; i < f->n; i++) out[i] += (1 - theta) * s.before[i] + theta * s.after[i];
}

int ag_symmetric_fits(const ag_stepper *base, const ag_flow *f, double t, const double *z, const double *dz, int *which,
                      double *work) {
  room s = layout(base, f, work);
  return begin(f, t, 0, z, dz, &s, which);
}
