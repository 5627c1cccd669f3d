/* SPDX-License-Identifier: MIT
 * Variational steps against forms of them that are written down by hand: single steps computed elsewhere, the space
 * form, the two-step form. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/motions.h"

/* ---- rotations by hand: matrices row by row ---- */

static void times(const double *A, const double *v, double *out) {
  for (int i = 0; i < 3; i++) out[i] = A[3 * i] * v[0] + A[3 * i + 1] * v[1] + A[3 * i + 2] * v[2];
}

static void times_transposed(const double *A, const double *v, double *out) {
  for (int i = 0; i < 3; i++) out[i] = A[i] * v[0] + A[3 + i] * v[1] + A[6 + i] * v[2];
}

static void cross(const double *a, const double *b, double *out) {
  for (int i = 0; i < 3; i++) out[i] = a[(i + 1) % 3] * b[(i + 2) % 3] - a[(i + 2) % 3] * b[(i + 1) % 3];
}

static void matrix_product(const double *A, const double *B, bool transposed, double *out) {
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) {
      out[3 * i + j] = 0;
      for (int k = 0; k < 3; k++) out[3 * i + j] += (transposed ? A[3 * k + i] : A[3 * i + k]) * B[3 * k + j];
    }
}

/* 1 + a hat(x) + b hat(x)^2 */
static void in_powers(const double *x, double a, double b, double *out) {
  double w = x[0] * x[0] + x[1] * x[1] + x[2] * x[2];
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) {
      double hat = i == j ? 0 : (j - i + 3) % 3 == 1 ? -x[3 - i - j] : x[3 - i - j];
      out[3 * i + j] = (i == j) * (1 - b * w) + a * hat + b * x[i] * x[j];
    }
}

static double length(const double *x) { return sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]); }

static void tau(bool cayley, const double *x, double *out) {
  double s = length(x), c = 1 / (1 + s * s / 4);
  if (cayley) in_powers(x, c, c / 2, out);
  else in_powers(x, sin(s) / s, (1 - cos(s)) / (s * s), out);
}

/* The inverse right-trivialised derivative of tau (errata of the paper: section D). */
static void dtau_inverse(bool cayley, const double *x, double *out) {
  double s = length(x);
  if (!cayley) {
    in_powers(x, -0.5, 1 / (s * s) - (1 + cos(s)) / (2 * s * sin(s)), out);
    return;
  }
  in_powers(x, -0.5, 0, out);
  for (int i = 0; i < 9; i++) out[i] += x[i / 3] * x[i % 3] / 4;
}

/* tau(x) = A */
static void tau_inverse(bool cayley, const double *A, double *x) {
  double c = (A[0] + A[4] + A[8] - 1) / 2, v[3] = {(A[7] - A[5]) / 2, (A[2] - A[6]) / 2, (A[3] - A[1]) / 2};
  double s = length(v), by = cayley ? 2 / (1 + c) : atan2(s, c) / s;
  for (int i = 0; i < 3; i++) x[i] = by * v[i];
}

/* The formulas of this file themselves, against numbers computed elsewhere (reference D_dtauinv_...). */
static void test_formulas(void) {
  static const double x[3] = {0.3, -0.5, 0.7};
  static const double inverse[2][9] = {{0.9374630624825006, 0.3373235937464528, 0.26774696875496606,
                                        -0.36267640625354713, 0.9509845624862843, 0.12042171874172325,
                                        -0.23225303124503394, -0.17957828125827674, 0.9712668124919597},
                                       {1.0225, 0.3125, 0.3025, -0.3875, 1.0625, 0.0625, -0.1975, -0.2375, 1.1225}};
  static const double turn[2][9] = {
      {0.6548940284889878, -0.6770606568888027, -0.3357121957015681, 0.5371528306005544, 0.7295115358427202,
       -0.42341440179829465, 0.5315831525051156, 0.09696280712571553, 0.8414377968733187},
      {0.6935817805383023, -0.6418219461697723, -0.32712215320910976, 0.5175983436853001, 0.7598343685300207,
       -0.39337474120082816, 0.5010351966873706, 0.10351966873706005, 0.8592132505175984}};
  for (int cayley = 0; cayley < 2; cayley++) {
    double K[9], A[9], back[3];
    dtau_inverse(cayley, x, K);
    tau(cayley, x, A);
    tau_inverse(cayley, A, back);
    for (int i = 0; i < 9; i++) {
      AG_CHECK_NEAR(K[i], inverse[cayley][i], 1e-13);
      AG_CHECK_NEAR(A[i], turn[cayley][i], 1e-13);
    }
    for (int i = 0; i < 3; i++) AG_CHECK_NEAR(back[i], x[i], 1e-14);
  }
}

/* ---- single steps ---- */

/* Variational Euler on the pendulum with an impulse 0.13 cos 2q (D_Rn_step). The printed p of a step belongs to its
 * start: the momentum at q0 is p + h L_q + the impulse. */
static void test_step_of_vectors(void) {
  anagyre_model *m = anagyre_open_text("m.nh", "model m\nconfig q in R\nlagrangian 1/2*q'^2 + cos(q)\nstart q = 0.4\n");
  anagyre_set_number(m, "q'", 0.9 - 0.1 * sin(0.4) + 0.13 * cos(0.8));
  anagyre_motion *r = moved(m, "variational_euler", 0.1, 0.1);
  double q1 = *anagyre_motion_final(r, "q").data;
  AG_CHECK_NEAR(q1, 0.4951630037984267, 1e-13);
  AG_CHECK_NEAR((q1 - 0.4) / 0.1, 0.9516300379842665, 1e-13);
  anagyre_motion_free(r);
  anagyre_close(m);
}

static const char BODY[] = "model m\nparam p1 = 0, p2 = 0, p3 = 0\nconfig R in SO3 velocity Omega\n"
                           "lagrangian 1/2*dot(Omega, diag(1, 2, 3)*Omega) - dot(e3, R*[0.3, 0.1, 0.5])\n"
                           "start R = rotation([0.4, -0.2, 0.3], sqrt(0.29))*rotation(e1, p1)*rotation(e2, p2)*"
                           "rotation(e3, p3)\n";
static const double INERTIA[3] = {1, 2, 3}, ARM[3] = {0.3, 0.1, 0.5}, E1[3] = {1, 0, 0}, E3[3] = {0, 0, 1};

/* The canonical momentum at R0 of the state (R0, mu0) of the printed method: K(-h xi)^T mu + h l_g + impulse. */
static void momentum_at_start(bool cayley, const double *R0, double *p) {
  static const double mu[3] = {0.6, -0.8, 1.5}, g[3] = {0.2, -0.1, 0.4};
  const double h = 0.1, B = 0.13;
  double x[3], K[9], up[3], side[3], force[3], kick[3];
  for (int i = 0; i < 3; i++) x[i] = -h * mu[i] / INERTIA[i];
  dtau_inverse(cayley, x, K);
  times_transposed(K, mu, p);
  times_transposed(R0, E3, up);
  times_transposed(R0, E1, side);
  cross(ARM, up, force); /* U_g of U = e3.(R d) is d x R^T e3 */
  cross(g, side, kick);
  for (int i = 0; i < 3; i++) p[i] += -h * force[i] + B * kick[i];
}

/* D_SO3_step_exp, D_SO3_step_cay */
static void test_step_of_rotations(void) {
  static const double R1[2][9] = {
      {0.9141329170175918, -0.3804100250220195, -0.1401756857934181, 0.27523948927753955, 0.8361994726590335,
       -0.47435605347354165, 0.297664632711291, 0.3950425986998121, 0.869101324153491},
      {0.9141470182634877, -0.3803718139765016, -0.1401874178812082, 0.2752162571474587, 0.8362346123832727,
       -0.4743075846472852, 0.2976428074080049, 0.3950050077966396, 0.8691258844458943}};
  static const double mu1[2][3] = {{0.645640667310384, -0.6705769286533193, 1.51852837791263},
                                   {0.6455188596987995, -0.6708228848039163, 1.5185007475099574}};
  static const double start[3] = {0.4, -0.2, 0.3};
  for (int cayley = 0; cayley < 2; cayley++) {
    anagyre_model *m = anagyre_open_text("m.nh", BODY);
    double R0[9], p[3], Omega[3], R[2 * 9], between[9], x[3];
    tau(false, start, R0);
    momentum_at_start(cayley, R0, p);
    for (int i = 0; i < 3; i++) Omega[i] = p[i] / INERTIA[i];
    set_vector(m, "Omega", Omega);
    anagyre_motion *r = moved(m, cayley ? "cayley_euler" : "variational_euler", 0.1, 0.1);
    AG_CHECK(rows_of(r, "R", 9, R) == 2);
    for (int i = 0; i < 9; i++) AG_CHECK_NEAR(R[9 + i], R1[cayley][i], 1e-13);
    matrix_product(R, R + 9, true, between);
    tau_inverse(cayley, between, x);
    for (int i = 0; i < 3; i++) AG_CHECK_NEAR(INERTIA[i] * x[i] / 0.1, mu1[cayley][i], 1e-13);
    anagyre_motion_free(r);
    anagyre_close(m);
  }
}

/* ---- the space form ---- */

/* w of R1 = tau(h w) R with K(-h w)^T R1 I R1^T w = Y, by iteration: the map contracts by about h|w|. */
static void solve_space(bool cayley, double h, const double *R, const double *Y, double *w, double *R1) {
  memset(w, 0, 3 * sizeof *w);
  w[0] = 1e-3; /* the closed forms need |x| > 0 */
  for (int k = 0; k < 200; k++) {
    double x[3], back[3], A[9], K[9], body[3], pi[3], inverse[9];
    for (int i = 0; i < 3; i++) x[i] = h * w[i], back[i] = -x[i];
    tau(cayley, x, A);
    matrix_product(A, R, false, R1);
    dtau_inverse(cayley, back, K);
    for (int i = 0; i < 9; i++) { /* the inverse of K^T: cofactors */
      int a = i / 3, b = i % 3, a1 = (a + 1) % 3, a2 = (a + 2) % 3, b1 = (b + 1) % 3, b2 = (b + 2) % 3;
      inverse[i] = K[3 * a1 + b1] * K[3 * a2 + b2] - K[3 * a1 + b2] * K[3 * a2 + b1];
    }
    double det = K[0] * inverse[0] + K[1] * inverse[1] + K[2] * inverse[2];
    times(inverse, Y, pi);
    for (int i = 0; i < 3; i++) pi[i] /= det;
    times_transposed(R1, pi, body);
    for (int i = 0; i < 3; i++) body[i] /= INERTIA[i];
    times(R1, body, w);
  }
}

/* K(-h w+)^T pi+ = K(-h w)^T pi - h U_R in space (section 6 with its sign corrected) gives the steps of the body form.
 * Each step is compared from the state of the program: two solutions of the same equations to rounding. */
static void test_space_form(void) {
  for (int cayley = 0; cayley < 2; cayley++) {
    const double h = 0.1, Omega[3] = {0.6, -0.4, 0.5};
    anagyre_model *m = anagyre_open_text("m.nh", BODY);
    double R[MAX_ROWS * 9], Om[MAX_ROWS * 3], w[3], R1[9], Y[3];
    set_vector(m, "Omega", Omega);
    anagyre_motion *r = moved(m, cayley ? "cayley_euler" : "variational_euler", h, 2);
    int n = rows_of(r, "R", 9, R);
    (void)rows_of(r, "Omega", 3, Om);
    AG_CHECK(n == 21);
    for (int k = 0; k + 1 < n; k++) {
      double body[3], x[3], K[9], pi[3], arm[3], force[3], next[3];
      for (int i = 0; i < 3; i++) body[i] = INERTIA[i] * Om[3 * k + i];
      times(R + 9 * k, body, Y); /* the canonical momentum at R_k, in space */
      solve_space(cayley, h, R + 9 * k, Y, w, R1);
      for (int i = 0; i < 9; i++) AG_CHECK_NEAR(R1[i], R[9 * (k + 1) + i], 1e-13);
      for (int i = 0; i < 3; i++) x[i] = -h * w[i];
      dtau_inverse(cayley, x, K);
      times_transposed(R1, w, body);
      for (int i = 0; i < 3; i++) body[i] *= INERTIA[i];
      times(R1, body, pi);
      times_transposed(K, pi, next);
      times(R1, ARM, arm);
      cross(arm, E3, force);
      for (int i = 0; i < 3; i++) next[i] -= h * force[i];
      times_transposed(R1, next, body);
      for (int i = 0; i < 3; i++) AG_CHECK_NEAR(body[i] / INERTIA[i], Om[3 * (k + 1) + i], 1e-13);
    }
    anagyre_motion_free(r);
    anagyre_close(m);
  }
}

/* ---- the two-step form ---- */

/* D1 L_d and D2 L_d of L_d(q0, q1) = h L((1 - a) q0 + a q1, (q1 - q0)/h). */
static void plane_slots(double a, double h, const double *q0, const double *q1, double *d1, double *d2) {
  double q[2], v[2], p[2], f[2];
  for (int i = 0; i < 2; i++) q[i] = (1 - a) * q0[i] + a * q1[i], v[i] = (q1[i] - q0[i]) / h;
  plane_momentum(q, v, p);
  plane_force(q, v, f);
  for (int i = 0; i < 2; i++) d1[i] = -p[i] + (1 - a) * h * f[i], d2[i] = p[i] + a * h * f[i];
}

static void test_two_steps(void) {
  static const struct {
    const char *method;
    double a;
  } all[] = {{"variational_euler", 1}, {"variational_adjoint", 0}, {"variational_midpoint", 0.5}};
  const double h = 0.1;
  for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
    anagyre_model *m = anagyre_open_text("m.nh", PLANE);
    anagyre_motion *r = moved(m, all[k].method, h, 2);
    double x[MAX_ROWS], y[MAX_ROWS];
    int n = rows_of(r, "x", 1, x);
    AG_CHECK(rows_of(r, "y", 1, y) == n && n == 21);
    for (int i = 1; i + 1 < n; i++) {
      double before[2] = {x[i - 1], y[i - 1]}, here[2] = {x[i], y[i]}, after[2] = {x[i + 1], y[i + 1]}, d[4][2];
      plane_slots(all[k].a, h, before, here, d[0], d[1]);
      plane_slots(all[k].a, h, here, after, d[2], d[3]);
      /* differences of positions divided by h: 1e-16 becomes 1e-15, twice, times a mass of 3 */
      for (int c = 0; c < 2; c++) AG_CHECK_NEAR(d[1][c] + d[2][c], 0, 3e-14);
    }
    anagyre_motion_free(r);
    anagyre_close(m);
  }
}

int main(void) {
  test_formulas();
  test_step_of_vectors();
  test_step_of_rotations();
  test_space_form();
  test_two_steps();
  return ag_check_report();
}
