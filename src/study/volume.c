/* SPDX-License-Identifier: MIT
 * Phase volume: exp f(q) dq dxi on the constraints S xi + s = 0 (and g(q) = 0), along a map of states. On the surface,
 * with orthonormal frames N of ker S for velocities and N_g of ker S_g for positions (S_g the rows of g), the measure
 * is exp f / ( |S| |S_g| ) da db,   q moved by N_g a,  N^T (change of xi) = b,   |S| = sqrt(det S S^T). The derivative
 * of the map in (a, b) comes from differences of order 4 between states that are settled onto the constraints: with
 * steps of 1e-3 they are good to some 1e-11 for maps of size 1. */
#include "study/volume.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/heap.h"
#include "math/dense.h"
#include "math/lie.h"
#include "study/conserve.h"

enum { MOST = 24 };
static const double STEP = 1e-3, SAME = 1e-9;

/* A state with its frames, and the density there. */
typedef struct place {
  double t, *x, *N, *Ng, density;
} place;

struct ag_volume {
  ag_system *sys;
  ag_work *work;
  ag_density d;
  double *slots, *out, *values; /* of the tape; of singular values */
  int na, nb;                   /* dimensions of positions and of velocities */
  place start, end;
};

static double *numbers(int n) { return ag_heap_alloc(sizeof(double) * (size_t)(n + 1)); }

/* sqrt(det A A^T) */
static double size_of(ag_volume *v, int rows, const double *A) {
  double product = 1;
  (void)ag_dense_svals(rows, v->d.n, A, v->values);
  for (int i = 0; i < rows; i++) product *= v->values[i];
  return product;
}

/* Frames and density at the state in p->x. */
static bool look(ag_volume *v, place *p) {
  const ag_density *d = &v->d;
  const double *S = v->out + 1, *Sg = S + (d->rank - d->n_position) * d->n;
  if (ag_work_eval(v->work, d->tape, d->needs_lambda, p->t, p->x, v->slots, v->out)) return false;
  p->density = fabs(v->out[0]) / (size_of(v, d->rank, S) * size_of(v, d->n_position, Sg));
  return ag_dense_null(d->rank, d->n, S, SAME, p->N) == d->rank &&
         ag_dense_null(d->n_position, d->n, Sg, SAME, p->Ng) == d->n_position && isfinite(p->density);
}

/* The positions of x moved by the tangent vector w. */
static void move_by(const ag_volume *v, const double *w, double *x) {
  const ag_model *m = ag_system_model(v->sys);
  for (int i = 0; i < ag_model_n_coords(m); i++) {
    int dim = ag_model_coords(m)[i].dim;
    if (ag_model_coords(m)[i].space == AG_SPACE_SO3) {
      double turn[4];
      ag_lie_exp(w, turn);
      ag_lie_quat_mul(x, turn, x);
      x += 4;
    } else {
      for (int k = 0; k < dim; k++) *x++ += w[k];
    }
    w += dim;
  }
}

/* The tangent vector from the positions of x to those of y. */
static void way_to(const ag_volume *v, const double *x, const double *y, double *w) {
  const ag_model *m = ag_system_model(v->sys);
  for (int i = 0; i < ag_model_n_coords(m); i++) {
    int dim = ag_model_coords(m)[i].dim;
    if (ag_model_coords(m)[i].space == AG_SPACE_SO3) {
      double back[4];
      ag_lie_quat_conj(x, back);
      ag_lie_quat_mul(back, y, back);
      ag_lie_log(back, w);
      x += 4, y += 4;
    } else {
      for (int k = 0; k < dim; k++) w[k] = *y++ - *x++;
    }
    w += dim;
  }
}

ag_volume *ag_volume_create(ag_ctx *ctx, ag_system *sys, double t0, const double *x0) {
  const ag_dims *n = ag_system_dims(sys);
  ag_density d;
  if (n->xi > MOST || n->process || !ag_conserve_density(ctx, sys, &d)) return NULL;
  ag_volume *v = ag_heap_alloc(sizeof *v);
  *v = (ag_volume){.sys = sys, .d = d, .na = d.n - d.n_position, .nb = d.n - d.rank};
  v->work = ag_work_create(sys, ag_system_param_values(sys));
  v->slots = numbers(d.tape->n_slot);
  v->out = numbers(1 + d.rank * d.n);
  v->values = numbers(2 * d.n);
  ag_tape_prep(d.tape, ag_system_param_values(sys), v->slots);
  place *const both[] = {&v->start, &v->end};
  for (int i = 0; i < 2; i++)
    *both[i] = (place){.t = t0, .x = numbers(n->x), .N = numbers(d.n * d.n), .Ng = numbers(d.n * d.n)};
  memcpy(v->start.x, x0, sizeof(double) * (size_t)n->x);
  if (look(v, &v->start)) return v;
  ag_volume_free(v);
  return NULL;
}

void ag_volume_free(ag_volume *v) {
  if (!v) return;
  place *const both[] = {&v->start, &v->end};
  for (int i = 0; i < 2; i++) free(both[i]->x), free(both[i]->N), free(both[i]->Ng);
  ag_work_free(v->work);
  ag_tape_free(v->d.tape);
  free(v->slots);
  free(v->out);
  free(v->values);
  free(v);
}

/* The state at e times unit vector k of (a, b), settled onto the constraints. */
static bool displaced(ag_volume *v, int k, double e, double *w, double *x) {
  const ag_dims *n = ag_system_dims(v->sys);
  memcpy(x, v->start.x, sizeof(double) * (size_t)n->x);
  for (int i = 0; i < n->xi; i++) {
    w[i] = k < v->na ? e * v->start.Ng[i * v->na + k] : 0;
    if (k >= v->na) x[n->q + i] += e * v->start.N[i * v->nb + k - v->na];
  }
  move_by(v, w, x);
  return ag_work_settle_full(v->work, v->start.t, x) == 0;
}

/* (a, b) of the state y at the end. */
static void coordinates(const ag_volume *v, const double *y, double *w, double *out) {
  const ag_dims *n = ag_system_dims(v->sys);
  const place *p = &v->end;
  way_to(v, p->x, y, w);
  for (int k = 0; k < v->na + v->nb; k++) {
    double sum = 0;
    for (int i = 0; i < n->xi; i++)
      sum += k < v->na ? p->Ng[i * v->na + k] * w[i] : p->N[i * v->nb + k - v->na] * (y[n->q + i] - p->x[n->q + i]);
    out[k] = sum;
  }
}

double ag_volume_change(ag_volume *v, double t1, bool (*map)(void *self, const double *x, double *x1), void *self) {
  static const double by[4] = {-2, -1, 1, 2}, weight[4] = {1.0 / 12, -8.0 / 12, 8.0 / 12, -1.0 / 12};
  const ag_dims *n = ag_system_dims(v->sys);
  int m = v->na + v->nb;
  double *T = numbers(m * m), *x = numbers(n->x), *y = numbers(n->x), *w = numbers(n->xi), *c = numbers(m);
  v->end.t = t1;
  bool good = map(self, v->start.x, v->end.x) && look(v, &v->end);
  for (int k = 0; k < m && good; k++)
    for (int i = 0; i < 4 && good; i++) {
      good = displaced(v, k, by[i] * STEP, w, x) && map(self, x, y);
      if (good) coordinates(v, y, w, c);
      for (int r = 0; r < m; r++) T[r * m + k] += weight[i] * c[r] / STEP;
    }
  double change = v->end.density / v->start.density;
  if (good) (void)ag_dense_svals(m, m, T, v->values);
  for (int i = 0; i < m && good; i++) change *= v->values[i];
  free(T);
  free(x);
  free(y);
  free(w);
  free(c);
  return good ? change - 1 : NAN;
}
