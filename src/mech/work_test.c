/* SPDX-License-Identifier: MIT
 * A worker: reduced and full states there and back, both right-hand sides along one motion, states settled onto the
 * constraints. Tolerance: rounding, where nothing else is said. */
#include "tests/mech_models.h"

/* The full state of z + h dz has the rate that the full equations give: central difference, h = 1e-5, error 1e-9. */
static void check_rates(bench_system *b) {
  const ag_dims *n = &b->sys->n;
  const double h = 1e-5;
  double *dz = room(n->z), *dx = room(n->x), *z = room(n->z), *x[2] = {room(n->x), room(n->x)};
  AG_CHECK(ag_work_rhs(b->w, b->t, b->z, b->basis, dz) == AG_FINE);
  AG_CHECK(ag_work_rhs_full(b->w, b->t, b->x, dx) == AG_FINE);
  for (int k = 0; k < 2; k++) {
    double s = k ? -h : h;
    for (int i = 0; i < n->z; i++) z[i] = b->z[i] + s * dz[i];
    ag_work_full(b->w, b->t + s, z, b->basis, x[k]);
  }
  for (int i = 0; i < n->x; i++) AG_CHECK_NEAR((x[0][i] - x[1][i]) / (2 * h), dx[i], 1e-7);
  free(dz), free(dx), free(z), free(x[0]), free(x[1]);
}

/* Off the constraints by some 1e-4: back on them, and not far away. */
static void check_settling(bench_system *b) {
  const ag_dims *n = &b->sys->n;
  double *x = room(n->x), *z = room(n->z);
  memcpy(x, b->x, sizeof *x * (size_t)n->x);
  for (int i = 0; i < n->x; i++) x[i] += 1e-4 * sin(3.0 * i);
  AG_CHECK(ag_work_settle_full(b->w, b->t, x) == AG_FINE && ag_work_residual(b->w, b->t, x) < 1e-12);
  for (int i = 0; i < n->x; i++) AG_CHECK_NEAR(x[i], b->x[i], 1e-2);
  bool changed;
  memcpy(z, b->z, sizeof *z * (size_t)n->z);
  AG_CHECK(ag_work_settle(b->w, b->t, z, b->basis, &changed) == AG_FINE);
  for (int i = 0; i < n->z; i++) AG_CHECK_NEAR(z[i], b->z[i], 1e-9); /* it is settled already: samples to 1e-9 */
  free(x), free(z);
}

static void check(bench_system *b) {
  double *x = room(b->sys->n.x);
  for (unsigned seed = 1; seed <= 5; seed++) {
    AG_CHECK(take_sample(b, seed));
    ag_work_full(b->w, b->t, b->z, b->basis, x);
    for (int i = 0; i < b->sys->n.x; i++) AG_CHECK_NEAR(x[i], b->x[i], 1e-11);
    check_rates(b);
    double size, energy = ag_work_energy(b->w, b->t, b->x, &size);
    AG_CHECK(fabs(energy) <= size * (1 + 1e-15));
    check_settling(b);
  }
  free(x);
}

int main(void) { return each_case(check); }
