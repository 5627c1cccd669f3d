/* SPDX-License-Identifier: MIT
 * What can be said about a motion besides how it ended: that it starts at rest in an equilibrium; that its steps are
 * limited by stability, not by accuracy. Both ask the right-hand side at a few neighbouring states, and count nothing.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "run/trajectory.h"

static double norm(int n, const double *v) {
  double sum = 0;
  for (int i = 0; i < n; i++) sum = fma(v[i], v[i], sum);
  return sqrt(sum);
}

/* A direction with components of the size of z, the same in every run. */
static void direction(int n, const double *z, double *v) {
  double size = norm(n, z);
  for (int i = 0; i < n; i++) v[i] = (i % 3 ? 1 : -0.7) * (1 + 0.1 * (i % 7)) * (size > 0 ? size : 1);
}

/* The rate at z moved by e v; NaN where it cannot be evaluated. */
static void rate(run *r, double t, double e, const double *v, double *z, double *dz) {
  ag_mover *m = &r->m;
  for (int i = 0; i < m->n; i++) z[i] = fma(e, v[i], m->z[i]);
  if (ag_mover_rhs(m, t, z, dz))
    for (int i = 0; i < m->n; i++) dz[i] = NAN;
}

/* At rest the rates are accelerations. They vanish, at several times, next to those of positions displaced by a hundred
 * millionth of their size; where nothing has a size they are exactly 0. */
bool ag_remark_rest(run *r, const double *x0) {
  static const double NEAR = 1e-8, SMALL = 1e-6;
  ag_mover *m = &r->m;
  const ag_dims *n = ag_system_dims(r->sys);
  for (int i = 0; i < n->xi; i++)
    if (x0[n->q + i] != 0) return false;
  if (!n->u) return false;
  long n_rhs = m->n_rhs;
  double *v = ag_heap_alloc(sizeof *v * 3 * (size_t)(m->n + 1)), *z = v + m->n, *dz = z + m->n;
  double size = norm(m->n, m->z);
  direction(m->n, m->z, v);
  int from = m->full ? n->q : n->u_at, to = m->full ? n->q + n->xi : n->u_at + n->u;
  for (int i = 0; i < m->n; i++) {
    if (i >= from && i < to) v[i] = 0;
    else if (m->z[i] != 0) v[i] *= fabs(m->z[i]) / size;
    else if (!(size > 0)) v[i] = 0;
  }
  bool rest = true;
  for (int i = 0; i < 3 && rest; i++) {
    double t = r->o->t0 + 0.37 * i * (fabs(r->o->t1 - r->o->t0) < 1e3 ? r->o->t1 - r->o->t0 : 1);
    rate(r, t, 0, v, z, dz);
    double here = norm(m->n, dz);
    rate(r, t, NEAR, v, z, dz);
    rest = here <= SMALL * norm(m->n, dz);
  }
  m->n_rhs = n_rhs;
  m->trouble = 0;
  free(v);
  return rest;
}

/* |h| times the largest eigenvalue of the Jacobian of the right-hand side, about, by the power method. */
double ag_remark_stiffness(run *r) {
  enum { WARM = 20, COUNT = 10 };
  static const double NEAR = 1e-7;
  ag_mover *m = &r->m;
  long n_rhs = m->n_rhs;
  double *v = ag_heap_alloc(sizeof *v * 4 * (size_t)(m->n + 1)), *z = v + m->n, *dz = z + m->n, *f = dz + m->n;
  double size = fmax(norm(m->n, m->z), 1e-300), growth = 0;
  direction(m->n, m->z, v);
  rate(r, r->t, 0, v, z, f);
  for (int k = 0; k < WARM + COUNT; k++) {
    double length = norm(m->n, v), e = NEAR * size / length;
    if (!(length > 0) || !isfinite(length)) break;
    rate(r, r->t, e, v, z, dz);
    for (int i = 0; i < m->n; i++) v[i] = (dz[i] - f[i]) / (NEAR * size);
    if (k >= WARM) growth += log(norm(m->n, v));
  }
  m->n_rhs = n_rhs;
  m->trouble = 0;
  free(v);
  double found = fabs(r->h) * exp(growth / COUNT);
  return isfinite(found) ? found : 0;
}
