/* SPDX-License-Identifier: MIT
 * Bases as data: orthonormal, |y| = |u| while they turn, and renewed without a change of u. Tolerance: rounding. */
#include "tests/mech_models.h"

static double square(int n, const double *v) {
  double sum = 0;
  for (int i = 0; i < n; i++) sum += v[i] * v[i];
  return sum;
}

/* Columns of N at a place where it was chosen. */
static void check_columns(const ag_basis *basis, const double *N) {
  int m = basis->n_y - basis->n_w;
  for (int i = 0; i < m; i++)
    for (int j = 0; j < m; j++) {
      double dot = 0;
      for (int k = 0; k < basis->n_y; k++) dot += N[k * m + i] * N[k * m + j];
      AG_CHECK_NEAR(dot, i == j, 1e-14);
    }
}

static void check(bench_system *b) {
  ag_system *sys = b->sys;
  if (sys->elimination != AG_ELIM_BASIS || !sys->n.c) return;
  double *c = room(sys->n.c), *x = room(sys->n.x), *y = room(sys->n.x), *z = room(sys->n.z);
  for (unsigned seed = 1; seed <= 10; seed++) {
    AG_CHECK(take_sample(b, seed));
    AG_CHECK_NEAR(ag_work_basis(b->w, b->t, b->z, b->basis), 1, 1e-14);
    for (int i = 0; i < sys->n_basis; i++) check_columns(&sys->bases[i], b->basis + sys->bases[i].c);
    /* a little further the old basis still serves; the renewed one gives the same velocities */
    memcpy(z, b->z, sizeof *z * (size_t)sys->n.z);
    for (int i = 0; i < sys->n.q; i++) z[sys->q_in_z[i]] += 0.1 * (i + 1);
    AG_CHECK(ag_work_role(b->w, AG_ROLE_RENEW, b->t, z, b->basis, c) == AG_FINE);
    ag_work_full(b->w, b->t, z, b->basis, x);
    ag_work_full(b->w, b->t, z, c, y);
    for (int i = 0; i < sys->n.x; i++) AG_CHECK_NEAR(y[i], x[i], 1e-13);
    for (int i = 0; i < sys->n_basis && sys->n_basis == 1; i++) {
      const ag_basis *basis = &sys->bases[i];
      double tied = 0, u = square(basis->n_y - basis->n_w, z + sys->n.u_at + basis->u);
      check_columns(basis, c + basis->c);
      for (int k = 0; k < basis->n_y; k++) tied += x[sys->n.q + basis->y_index[k]] * x[sys->n.q + basis->y_index[k]];
      if (sys->n.g == 0) AG_CHECK_NEAR(tied, u, 1e-13); /* no drift y0 */
    }
  }
  free(c), free(x), free(y), free(z);
}

int main(void) { return each_case(check); }
