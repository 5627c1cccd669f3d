/* SPDX-License-Identifier: MIT
 * Bases as data: orthonormal, |y| = |u| while they turn, and renewed without a change of u. Tolerance: rounding. How
 * they turn (the role TURN) against rows made orthonormal in numbers, at two states that follow each other. */
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

/* The rows of a basis, combined where they are, at a state moved by dt along the motion: made orthonormal in order. */
static double *orthonormal_rows(bench_system *b, const ag_basis *basis, const double *dz, double dt) {
  const ag_system *sys = b->sys;
  int k = basis->n_w, n = basis->n_y;
  double *x = room(sys->n.x), *all = room(ag_basis_size(sys, AG_BASIS_ROWS)), *Q = room(k * n);
  for (int i = 0; i < sys->n.q; i++) x[i] = b->z[sys->q_in_z[i]] + dt * dz[sys->q_in_z[i]];
  AG_CHECK(ag_work_role(b->w, AG_ROLE_BASIS, b->t + dt, x, NULL, all) == AG_FINE);
  const double *S = all + basis->S, *W = b->basis + basis->c + n * (n - k);
  for (int i = 0; i < k; i++) {
    for (int j = 0; j < n; j++) {
      Q[i * n + j] = basis->W ? 0 : S[i * n + j];
      for (int l = 0; basis->W && l < basis->n_s; l++) Q[i * n + j] += W[i * basis->n_s + l] * S[l * n + j];
    }
    for (int r = 0; r < i; r++) {
      double dot = 0;
      for (int j = 0; j < n; j++) dot += Q[i * n + j] * Q[r * n + j];
      for (int j = 0; j < n; j++) Q[i * n + j] -= dot * Q[r * n + j];
    }
    double size = sqrt(square(n, Q + i * n));
    for (int j = 0; j < n; j++) Q[i * n + j] /= size;
  }
  free(x), free(all);
  return Q;
}

/* The largest sin^2 of the angle between a row of Q1 and the span of the rows of Q0. */
static double turned_by(int k, int n, const double *Q0, const double *Q1) {
  double worst = 0, *x = room(n);
  for (int i = 0; i < k; i++) {
    memcpy(x, Q1 + i * n, sizeof *x * (size_t)n);
    for (int r = 0; r < k; r++) {
      double dot = 0;
      for (int j = 0; j < n; j++) dot += x[j] * Q0[r * n + j];
      for (int j = 0; j < n; j++) x[j] -= dot * Q0[r * n + j];
    }
    worst = fmax(worst, square(n, x));
  }
  free(x);
  return worst;
}

/* Rate: from the angles turned by in +-1e-4, whose mean is off by 1e-8 of the rate and its derivatives. */
static void check_turn(bench_system *b) {
  const ag_system *sys = b->sys;
  static const double DT = 1e-4;
  double turn[3], rate = 0, *dz = room(sys->n.z);
  AG_CHECK(ag_work_rhs(b->w, b->t, b->z, b->basis, dz) == AG_FINE);
  AG_CHECK(ag_work_role(b->w, AG_ROLE_TURN, b->t, b->z, b->basis, turn) == AG_FINE);
  for (int i = 0; i < sys->n_basis; i++) {
    const ag_basis *basis = &sys->bases[i];
    double *Q0 = orthonormal_rows(b, basis, dz, 0), *Q1 = orthonormal_rows(b, basis, dz, DT),
           *Q2 = orthonormal_rows(b, basis, dz, -DT);
    double one = sqrt(turned_by(basis->n_w, basis->n_y, Q0, Q1)) / DT,
           two = sqrt(turned_by(basis->n_w, basis->n_y, Q0, Q2)) / DT;
    rate = fmax(rate, (one + two) / 2);
    free(Q0), free(Q1), free(Q2);
  }
  AG_CHECK_NEAR(sqrt(turn[2]), rate, 1e-5 * (1 + rate * rate * rate));
  AG_CHECK(turn[1] > 0 && turn[1] <= 1);
  free(dz);
}

static void check(bench_system *b) {
  ag_system *sys = b->sys;
  if (sys->elimination != AG_ELIM_BASIS || !sys->n.c) return;
  double *c = room(sys->n.c), *x = room(sys->n.x), *y = room(sys->n.x), *z = room(sys->n.z);
  for (unsigned seed = 1; seed <= 10; seed++) {
    AG_CHECK(take_sample(b, seed));
    AG_CHECK_NEAR(ag_work_basis(b->w, b->t, b->z, b->basis), 1, 1e-14);
    for (int i = 0; i < sys->n_basis; i++) check_columns(&sys->bases[i], b->basis + sys->bases[i].c);
    check_turn(b);
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
