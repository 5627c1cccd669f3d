/* SPDX-License-Identifier: MIT
 * Chooses the velocities for which rows of constraints are solved: those whose minor stays away from zero in the whole
 * domain. */
#include <math.h>
#include <string.h>

#include "math/dense.h"
#include "mech/mech_internal.h"

enum { MAX_MINORS = 4000 }; /* sets of columns tried */

static double determinant(int n, double *A) {
  double det = 1;
  for (int k = 0; k < n; k++) {
    int p = k;
    for (int i = k + 1; i < n; i++)
      if (fabs(A[i * n + k]) > fabs(A[p * n + k])) p = i;
    if (A[p * n + k] == 0) return 0;
    if (p != k) {
      for (int j = 0; j < n; j++) {
        double x = A[k * n + j];
        A[k * n + j] = A[p * n + j];
        A[p * n + j] = x;
      }
      det = -det;
    }
    det *= A[k * n + k];
    for (int i = k + 1; i < n; i++) {
      double f = A[i * n + k] / A[k * n + k];
      for (int j = k; j < n; j++) A[i * n + j] -= f * A[k * n + j];
    }
  }
  return det;
}

static bool next_subset(int n, int k, int *pick) {
  int i = k - 1;
  while (i >= 0 && pick[i] == n - k + i) i--;
  if (i < 0) return false;
  pick[i]++;
  for (int j = i + 1; j < k; j++) pick[j] = pick[j - 1] + 1;
  return true;
}

/* Values of the coefficients S (m x n) at all samples, with `later` also at later times, divided by the norms of the
 * rows; samples that are not finite are skipped, and so are those at which a row vanishes, unless it may. */
static double *sampled(const derive *d, bool later, int m, int n, const ag_id *S, const ag_id *norms, bool may_vanish,
                       int *n_sample) {
  const int total = d->n_sample + (later ? d->n_later : 0);
  const size_t width = (size_t)d->sys->n.q + 1;
  int kept = 0;
  ag_id *outs = AG_NEWN(d->sys->arena, ag_id, m * n + m);
  memcpy(outs, S, sizeof *outs * (size_t)(m * n));
  memcpy(outs + m * n, norms, sizeof *outs * (size_t)m);
  ag_tape *tape = ag_full_tape(d->sys, m * n + m, outs);
  double *v = ag_heap_alloc(sizeof(double) * (size_t)(m * n) * (size_t)(total + 1) + sizeof(double) * (size_t)m);
  double *x = ag_heap_alloc(sizeof(double) * (size_t)(d->sys->n.x));
  for (int s = 0; s < total; s++) {
    const double *at = s < d->n_sample ? d->samples + width * (size_t)s : d->later + width * (size_t)(s - d->n_sample);
    double *A = v + (size_t)(m * n) * (size_t)kept;
    memcpy(x, at + 1, sizeof(double) * (size_t)d->sys->n.q);
    ag_tape_once(tape, at[0], x, d->sys->params, NULL, A);
    bool good = true;
    for (int i = 0; i < m; i++) {
      double norm = A[m * n + i];
      double scale = norm == 0 && may_vanish ? 1 : sqrt(norm);
      good = good && isfinite(norm) && scale > 0;
      for (int j = 0; j < n; j++) A[i * n + j] /= scale, good = good && isfinite(A[i * n + j]);
    }
    kept += good;
  }
  ag_tape_free(tape);
  free(x);
  *n_sample = kept;
  return v;
}

int ag_minor_rank(const derive *d, int k, int n, const ag_id *S, const ag_id *norms) {
  /* relative to the rows as stated: what cancelled when velocities were substituted is rounding error */
  static const double TOL = 1e-9;
  int n_sample, best = 0, least = k < n ? k : n;
  if (!least) return 0;
  double *v = sampled(d, false, k, n, S, norms, true, &n_sample), *s = ag_heap_alloc(sizeof(double) * (size_t)least);
  for (int i = 0; i < n_sample; i++) {
    int rank = 0;
    if (ag_dense_svals(k, n, v + i * k * n, s)) continue;
    for (int j = 0; j < least; j++) rank += s[j] > TOL;
    best = rank > best ? rank : best;
  }
  free(v);
  free(s);
  return best;
}

double ag_minor_best(const derive *d, bool later, int k, int n, const ag_id *S, const ag_id *norms, int *best) {
  int n_sample, pick[AG_MINOR_MAX];
  double count = 1, best_value = 0, M[AG_MINOR_MAX * AG_MINOR_MAX];
  for (int i = 0; i < k; i++) count = count * (n - i) / (i + 1);
  if (k > AG_MINOR_MAX || k > n || count > MAX_MINORS) return 0;
  double *v = sampled(d, later, k, n, S, norms, false, &n_sample);
  for (int i = 0; i < k; i++) pick[i] = i;
  do {
    double least = n_sample ? 1e300 : 0;
    for (int s = 0; s < n_sample && least > best_value * 1.0001; s++) {
      for (int i = 0; i < k; i++)
        for (int j = 0; j < k; j++) M[i * k + j] = v[(s * k + i) * n + pick[j]];
      least = fmin(least, fabs(determinant(k, M)));
    }
    if (least > best_value * 1.0001) {
      best_value = least;
      memcpy(best, pick, sizeof(int) * (size_t)k);
    }
  } while (next_subset(n, k, pick));
  free(v);
  return best_value;
}
