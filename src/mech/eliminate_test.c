/* SPDX-License-Identifier: MIT
 * Independent velocities: xi(u) is affine in u, fulfils the constraints for every u, and reaches all velocities that
 * do. Tolerance: rounding of numbers of size 1 through a small solve. */
#include "math/dense.h"
#include "tests/mech_models.h"

/* xi at the sample with other independent velocities. */
static void xi_of(bench_system *b, const double *u, double *x) {
  const ag_dims *n = &b->sys->n;
  double *z = room(n->z);
  memcpy(z, b->z, sizeof *z * (size_t)n->z);
  memcpy(z + n->u_at, u, sizeof *z * (size_t)n->u);
  ag_work_full(b->w, b->t, z, b->basis, x);
  free(z);
}

static void check(bench_system *b) {
  const ag_dims *n = &b->sys->n;
  AG_CHECK(b->sys->elimination == b->c->elimination && n->u == b->c->n_u);
  if (b->c->saddle) return; /* u is xi */
  double *u = room(n->u), *x0 = room(n->x), *x1 = room(n->x), *x2 = room(n->x), *B = room(n->u * n->xi);
  for (unsigned seed = 1; seed <= 10; seed++) {
    AG_CHECK(take_sample(b, seed));
    memset(u, 0, sizeof *u * (size_t)n->u);
    xi_of(b, u, x0);
    AG_CHECK(ag_work_residual(b->w, b->t, x0) < 1e-12);
    for (int k = 0; k < n->u; k++) {
      u[k] = 1;
      xi_of(b, u, x1);
      u[k] = -3;
      xi_of(b, u, x2);
      u[k] = 0;
      AG_CHECK(ag_work_residual(b->w, b->t, x1) < 1e-12);
      for (int j = n->q; j < n->q + n->xi; j++) {
        B[k * n->xi + j - n->q] = x1[j] - x0[j];
        AG_CHECK_NEAR(x2[j] - x0[j], -3 * (x1[j] - x0[j]), 1e-12);
      }
    }
    AG_CHECK(ag_dense_rank(n->u, n->xi, B, 1e-9, NULL) == n->u && n->u == n->xi - n->rank);
    xi_of(b, b->z + n->u_at, x1); /* and the coordinates of the state itself give it back */
    for (int j = 0; j < n->x; j++) AG_CHECK_NEAR(x1[j], b->x[j], 1e-12);
  }
  free(u), free(x0), free(x1), free(x2), free(B);
}

int main(void) { return each_case(check); }
