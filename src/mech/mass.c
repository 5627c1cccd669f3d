/* SPDX-License-Identifier: MIT
 * The mass matrix on the velocities that the constraints allow must be positive definite at the start. */
#include <math.h>
#include <string.h>

#include "math/dense.h"
#include "mech/mech_internal.h"

enum { MANY = 64 }; /* velocities: above this the spectrum is computed only if the matrix cannot be factorised */

/* N^T M N scaled to a unit diagonal, so that units do not matter. */
typedef struct allowed {
  int n, m;             /* all velocities, allowed directions */
  double *N, *A, *size; /* n x m: a basis of ker S; m x m; the scale factors */
} allowed;

/* Can the mass matrix be factorised at the start? */
static bool factorises(const ag_system *sys) {
  double *x = ag_heap_alloc(sizeof(double) * (size_t)(sys->n.x)), *z = ag_heap_alloc(sizeof(double) * (size_t)sys->n.z);
  double *c = ag_heap_alloc(sizeof(double) * (size_t)(sys->n.c + 1)),
         *dz = ag_heap_alloc(sizeof(double) * (size_t)sys->n.z);
  ag_work *w = ag_work_create(sys, sys->params);
  ag_system_state0(sys, x);
  bool good = ag_work_reduce(w, sys->t0, x, c, z) == AG_FINE && ag_work_rhs(w, sys->t0, z, c, dz) == AG_FINE;
  ag_work_free(w);
  free(x), free(z), free(c), free(dz);
  return good;
}

/* Is the mass matrix M (n x n) positive definite on all velocities, and far from singular? Scaled to a unit diagonal,
 * its least eigenvalue is at least det/e: the product of the others is at most (n/(n - 1))^(n - 1) < e. Any N^T M N,
 * scaled likewise, has at least `least`. Saves the spectrum, which needs LAPACK. */
static bool surely_definite(int n, const double *M) {
  double *A = ag_heap_alloc(sizeof(double) * (size_t)(n * n + 1)), lightest = M[0], heaviest = M[0], det = 1;
  bool good = true;
  for (int i = 0; i < n; i++) {
    double mass = M[i * n + i];
    good = good && isfinite(mass) && mass > 0;
    lightest = fmin(lightest, mass), heaviest = fmax(heaviest, mass);
    for (int j = 0; j <= i && good; j++) A[i * n + j] = M[i * n + j] / sqrt(mass * M[j * n + j]);
  }
  good = good && ag_dense_cholesky(n, A) == 0;
  for (int i = 0; i < n && good; i++) det *= A[i * n + i] * A[i * n + i];
  double least = det / 2.72 * lightest / (n * heaviest);
  free(A);
  return good && least > 1e-12; /* the spectrum is asked for 1e-14 */
}

static void allowed_init(allowed *a, const ag_system *sys, const double *v) {
  int n = sys->n.xi, k = sys->n.lambda;
  double *N = ag_heap_alloc(sizeof(double) * (size_t)(n * n));
  const double *M = v + sys->outputs[AG_OUT_SADDLE_M].at, *S = v + sys->outputs[AG_OUT_SADDLE_S].at;
  int rank = k ? ag_dense_null(k, n, S, sys->n.rank < k ? 1e-9 : 1e-12, N) : 0, m = n - rank;
  for (int i = 0; i < n && !k; i++) N[i * n + i] = 1;
  double *A = ag_heap_alloc(sizeof(double) * (size_t)(m * m + 1)),
         *size = ag_heap_alloc(sizeof(double) * (size_t)(m + 1));
  double *MN = ag_heap_alloc(sizeof(double) * (size_t)(n * m + 1));
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      for (int b = 0; M[i * n + j] != 0 && b < m; b++) MN[i * m + b] += M[i * n + j] * N[j * m + b];
  for (int i = 0; i < n; i++)
    for (int p = 0; p < m; p++)
      for (int b = 0; N[i * m + p] != 0 && b < m; b++) A[p * m + b] += N[i * m + p] * MN[i * m + b];
  for (int p = 0; p < m; p++) size[p] = A[p * m + p] > 0 ? sqrt(A[p * m + p]) : 1;
  for (int p = 0; p < m; p++)
    for (int b = 0; b < m; b++) A[p * m + b] /= size[p] * size[b];
  *a = (allowed){n, m, N, A, size};
  free(MN);
}

/* The velocity with the largest part in the direction V (first column) of least mass. */
static int weakest(const allowed *a, const double *V) {
  int worst = 0;
  double best = 0;
  for (int i = 0; i < a->n; i++) {
    double c = 0;
    for (int p = 0; p < a->m; p++) c += a->N[i * a->m + p] * V[p * a->m] / a->size[p];
    if (fabs(c) > best) best = fabs(c), worst = i;
  }
  return worst;
}

static int coord_of(const ag_system *sys, int velocity) {
  int i = 0;
  while (velocity >= sys->coords[i].tangent + sys->coords[i].n_tangent) i++;
  return i;
}

static void report(derive *d, int velocity, const char *what) {
  const ag_system *sys = d->sys;
  const ag_coord *c = &d->m->coords[coord_of(sys, velocity)];
  ag_pos pos = d->m->lagrangian_pos.line ? d->m->lagrangian_pos : c->pos; /* bodies need no `lagrangian` statement */
  bool absent = !ag_depends(d->g, 1, &d->m->lagrangian, 1, &c->xi),
       unprimed = absent && ag_depends(d->g, 1, &d->m->lagrangian, 1, &c->q);
  ag_ctx_error(d->ctx, pos, "the mass matrix is %s at the start on the velocities the constraints allow: see `%s`%s%s",
               what, ag_velocity_name(sys, velocity, sys->arena),
               absent ? ", which the Lagrangian does not contain" : "", unprimed ? "; is a prime missing?" : "");
}

/* Constraints that determine all velocities: a motion without mechanics, and most often a mistake. */
static void report_no_freedom(derive *d) {
  const ag_model *m = d->m;
  ag_pos pos = m->n_constraints ? m->constraints[m->n_constraints - 1].pos : (ag_pos){0};
  int n = d->sys->n.xi;
  if (n == 1) ag_ctx_warn(d->ctx, pos, "the constraints leave no freedom: they determine the velocity by themselves");
  else ag_ctx_warn(d->ctx, pos, "the constraints leave no freedom: they determine all %d velocities by themselves", n);
}

/* False: not positive definite, which is reported with the direction. */
static bool check_spectrum(derive *d, allowed *a) {
  int m = a->m;
  for (int i = 0; i < m * m; i++)
    if (!isfinite(a->A[i])) {
      ag_ctx_error(d->ctx, d->m->lagrangian_pos, "the mass matrix is not finite at the start");
      return false;
    }
  double *V = ag_heap_alloc(sizeof(double) * (size_t)(m * m + 1)), *w = ag_heap_alloc(sizeof(double) * (size_t)(m + 1));
  bool good = ag_dense_eigsym(m, a->A, w, V) != 0 || w[0] > 1e-14;
  if (!good) report(d, weakest(a, V), w[0] < -1e-14 ? "not positive" : "singular");
  free(V), free(w);
  return good;
}

static bool of_body(const ag_model *m, int coord) {
  for (int i = 0; i < m->n_bodies; i++)
    if (m->bodies[i]->R == coord) return true;
  return false;
}

/* The mass matrix of an angular velocity is the inertia of the rotating masses. No principal moment of real masses
 * exceeds the sum of the other two: tr(I)/2 - I is the matrix of second moments of mass, which has no negative
 * eigenvalue. A `body` is checked where it is declared. */
static void report_moments(derive *d, const double *M) {
  const ag_system *sys = d->sys;
  int n = sys->n.xi;
  for (int i = 0; i < d->nc; i++) {
    double A[9], I[9], w[3], trace = 0;
    if (d->m->coords[i].space != AG_SPACE_SO3 || of_body(d->m, i)) continue;
    for (int k = 0; k < 9; k++) I[k] = M[(sys->coords[i].tangent + k / 3) * n + sys->coords[i].tangent + k % 3];
    for (int k = 0; k < 3; k++) trace += I[4 * k];
    for (int k = 0; k < 9; k++) A[k] = (k % 4 ? 0 : (0.5 + 1e-9) * trace) - I[k];
    if (ag_dense_cholesky(3, A) == 0 || ag_dense_eigsym(3, I, w, NULL) != 0) continue;
    ag_ctx_warn(d->ctx, d->m->lagrangian_pos,
                "`%s` has the principal moments of inertia %.6g, %.6g and %.6g: for a real body none exceeds the "
                "sum of the other two",
                d->m->coords[i].velocity, w[2], w[1], w[0]);
  }
}

ag_status ag_mass_check(derive *d) {
  const ag_system *sys = d->sys;
  bool dense = sys->tapes[AG_ROLE_SADDLE], saddle = sys->elimination == AG_ELIM_SADDLE;
  if (sys->n.xi && (saddle ? sys->n.xi == sys->n.lambda : !sys->n.u)) report_no_freedom(d);
  if (saddle) return ag_sparse_mass(d);
  if (sys->n.u == 0 || ((sys->n.xi > MANY || !dense) && factorises(sys))) return AG_OK;
  if (!dense) {
    ag_ctx_error(d->ctx, d->m->lagrangian_pos, "the mass matrix is not positive definite at the start");
    return AG_WRONG;
  }
  double *x = ag_heap_alloc(sizeof(double) * (size_t)sys->n.x);
  ag_system_state0(sys, x);
  double *v = ag_role_once(sys, AG_ROLE_SADDLE, sys->t0, x, sys->params);
  bool good = surely_definite(sys->n.xi, v + sys->outputs[AG_OUT_SADDLE_M].at);
  if (!good) {
    allowed a;
    allowed_init(&a, sys, v);
    good = check_spectrum(d, &a);
    free(a.N), free(a.A), free(a.size);
  }
  if (good) report_moments(d, v + sys->outputs[AG_OUT_SADDLE_M].at);
  free(x), free(v);
  return good ? AG_OK : AG_WRONG;
}
