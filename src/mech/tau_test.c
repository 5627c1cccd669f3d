/* SPDX-License-Identifier: MIT
 * Increments of rotations against the functions of math/lie.c and against their own derivatives, on both sides of the
 * angle where the power series ends. Series and closed forms are exact to rounding: some tens of roundings in all. */
#include "math/lie.h"
#include "tests/mech_models.h"

static const double TOLERANCE = 1e-14;

/* y = A x, row-major. */
static void times(const double *A, const double *x, double *y) {
  for (int i = 0; i < 3; i++) y[i] = A[3 * i] * x[0] + A[3 * i + 1] * x[1] + A[3 * i + 2] * x[2];
}

/* tau itself. */
static void check_map(ag_graph *g, bool cayley, ag_id x, const double *at) {
  ag_id tau = ag_tau(g, cayley, x);
  double R[9], q[4], expected[9];
  AG_CHECK(ag_evaluate(g, 1, &x, at, 1, &tau, R) == 0);
  (cayley ? ag_lie_cayley : ag_lie_exp)(at, q);
  ag_lie_quat_matrix(q, expected);
  for (int i = 0; i < 9; i++) AG_CHECK_NEAR(R[i], expected[i], TOLERANCE);
}

/* (d/de tau(x + e v)) tau^T = hat(D v), and K D v = v. */
static void check_derivative(ag_graph *g, bool cayley, ag_id x, const double *at, const double *v) {
  ag_id seed = vec3(g, v[0], v[1], v[2]), rate, tau = ag_tau(g, cayley, x);
  ag_forward(g, 1, &x, &seed, 1, &tau, &rate);
  ag_id outs[3] = {ag_mul(g, rate, ag_transpose(g, tau)), ag_dtau(g, cayley, x), ag_dtau_inverse(g, cayley, x)};
  double all[27], turned[3], expected[9], back[3];
  AG_CHECK(ag_evaluate(g, 1, &x, at, 3, outs, all) == 0);
  times(all + 9, v, turned);
  ag_lie_hat(turned, expected);
  for (int i = 0; i < 9; i++) AG_CHECK_NEAR(all[i], expected[i], TOLERANCE);
  times(all + 18, turned, back);
  for (int i = 0; i < 3; i++) AG_CHECK_NEAR(back[i], v[i], TOLERANCE);
}

int main(void) {
  static const double axis[3] = {0.48, -0.6, 0.64}, v[3] = {0.7, 0.2, -1.1};
  static const double angles[] = {0, 1e-9, 1e-3, 0.3, 0.4999, 0.5, 0.5001, 1, 2, 3};
  ag_model *m = ag_model_create("tau");
  ag_id x = ag_input(m->graph, "x", 3, 1, AG_LEAF_REAL);
  for (size_t i = 0; i < sizeof angles / sizeof *angles; i++)
    for (int cayley = 0; cayley < 2; cayley++) {
      double at[3] = {angles[i] * axis[0], angles[i] * axis[1], angles[i] * axis[2]};
      check_map(m->graph, cayley, x, at);
      check_derivative(m->graph, cayley, x, at, v);
    }
  ag_model_free(m);
  return ag_check_report();
}
