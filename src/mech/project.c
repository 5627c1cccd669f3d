/* SPDX-License-Identifier: MIT
 * The change of q that takes it onto g(q, t) = 0 to first order, by the shortest way in the metric M:
 *   delta = -M^-1 G^T (G M^-1 G^T)^-1 g,   G = dg/dq in the tangent.
 * Where M is singular off the constraints, M + S^T S takes its place. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "math/dense.h"
#include "mech/mech_internal.h"

/* Velocities up to which it is worth its length: beyond, states are projected by the worker's dense solves. */
enum { MAX_VELOCITIES = 32 };

/* The matrix at the start, its velocities scaled to a unit diagonal: is it positive definite by a margin? */
static bool positive_at_start(ag_system *sys, ag_id M) {
  int n = sys->n.xi;
  ag_tape *tape = ag_full_tape(sys, 1, &M);
  double *x = ag_heap_alloc(sizeof(double) * (size_t)sys->n.x),
         *v = ag_heap_alloc(sizeof(double) * (size_t)(n * n + n)), *unit = v + n * n;
  memcpy(x, sys->q0, sizeof(double) * (size_t)sys->n.q);
  ag_tape_once(tape, sys->t0, x, sys->params, NULL, v);
  bool good = true;
  for (int i = 0; i < n; i++) {
    good = good && v[i * n + i] > 0;
    unit[i] = good ? sqrt(v[i * n + i]) : 1;
  }
  for (int i = 0; i < n * n; i++) v[i] /= unit[i / n] * unit[i % n];
  for (int i = 0; i < n; i++) v[i * n + i] -= 1e-10;
  good = good && ag_dense_cholesky(n, v) == 0;
  ag_tape_free(tape);
  free(x);
  free(v);
  return good;
}

ag_id ag_project_step(derive *d) {
  ag_system *sys = d->sys;
  ag_graph *g = d->g;
  int nc = d->nc, n_g = sys->n.g;
  if (!n_g || sys->n.xi > MAX_VELOCITIES || sys->g_rank < n_g || sys->n.rank < sys->n.row) return 0;
  ag_id rates = ag_concat(g, n_g, d->row_x + sys->n.row - n_g), value = ag_concat(g, n_g, d->g_x);
  ag_id M = ag_jacobian(g, ag_concat(g, nc, d->momentum), nc, d->xi), G = ag_jacobian(g, rates, nc, d->xi);
  if (!positive_at_start(sys, M)) {
    ag_id rows = ag_kept_rows(d), S = ag_jacobian(g, rows, nc, d->xi);
    ag_id St = ag_transpose(g, S);
    M = ag_add(g, M, ag_mul(g, St, S));
  }
  ag_id X = ag_solve(g, M, ag_transpose(g, G), AG_SOLVE_SPD), K = ag_mul(g, G, X);
  return ag_neg(g, ag_mul(g, X, ag_solve(g, K, value, AG_SOLVE_SPD)));
}
