/* SPDX-License-Identifier: MIT
 * Rotations and angular velocities compared with their definitions: active and right-handed, Euler angles and back,
 * angvel against vee(A^T A') with A' from central differences. */
#include "lang/lang_test.h"

static const char *const text =
    "model m\nparam k = 2\nconfig a in S1, b in S1, c in S1\nconfig R in SO3 velocity W\nlagrangian a'^2 + b'^2 + c'^2 "
    "+ dot(W, W)\n"
    "let E = euler(a, b, c), G = rotation([1, b, c], a*t), P = R*E*rotation([3, 4, 0], 0.3), Q = (P*G)^T\n"
    "observable X = rotation(e1, a), Y = rotation(e2, a), Z = rotation(e3, a), N = rotation([2, -1, 2], a)\n"
    "observable E1 = E, G1 = G, P1 = P, Q1 = Q, wE = angvel(E), wG = angvel(G), wP = angvel(P), wQ = angvel(Q), wR = "
    "angvel(R)\n"
    "observable out = euler_angles(E), ER = euler_angles(R), fixed = angvel(rotation(e1, k)*rotation(e2, 0.1))\n";

/* t, k, then a a' b b' c c', then the quaternion and W */
static void state_at(double s, double *z) {
  double w[3] = {0.3, -0.4, 0.5}, v[3] = {0.7, 0.2, -1.1}, q[3] = {0.4, 0.9, 0.2};
  z[0] = 0.6 + s;
  z[1] = 2;
  for (int i = 0; i < 3; i++) z[2 + 2 * i] = q[i] + s * v[i], z[3 + 2 * i] = v[i];
  /* R(s) = R0 exp(s hat(w)): quaternion (0.5, 0.5, -0.5, 0.5) times (cos, sin n) */
  double angle = sqrt(w[0] * w[0] + w[1] * w[1] + w[2] * w[2]), c = cos(s * angle / 2), k = sin(s * angle / 2) / angle;
  double A[4] = {0.5, 0.5, -0.5, 0.5}, B[4] = {c, k * w[0], k * w[1], k * w[2]};
  z[8] = A[0] * B[0] - A[1] * B[1] - A[2] * B[2] - A[3] * B[3];
  z[9] = A[0] * B[1] + A[1] * B[0] + A[2] * B[3] - A[3] * B[2];
  z[10] = A[0] * B[2] - A[1] * B[3] + A[2] * B[0] + A[3] * B[1];
  z[11] = A[0] * B[3] + A[1] * B[2] - A[2] * B[1] + A[3] * B[0];
  for (int i = 0; i < 3; i++) z[12 + i] = w[i];
}

static void at(const ag_model *m, const char *name, double s, double *out) {
  double z[15];
  state_at(s, z);
  values(m, z, observable(m, name), out);
}

static void check_axes(const ag_model *m) {
  double X[9], Y[9], Z[9], N[9], s = sin(0.4), c = cos(0.4);
  at(m, "X", 0, X);
  at(m, "Y", 0, Y);
  at(m, "Z", 0, Z);
  at(m, "N", 0, N);
  const double x[9] = {1, 0, 0, 0, c, -s, 0, s, c}, y[9] = {c, 0, s, 0, 1, 0, -s, 0, c},
               z[9] = {c, -s, 0, s, c, 0, 0, 0, 1};
  for (int k = 0; k < 9; k++) {
    AG_CHECK_NEAR(X[k], x[k], 1e-15);
    AG_CHECK_NEAR(Y[k], y[k], 1e-15);
    AG_CHECK_NEAR(Z[k], z[k], 1e-15);
  }
  /* Rodrigues with n = (2, -1, 2)/3 */
  double n[3] = {2. / 3, -1. / 3, 2. / 3}, hat[9] = {0, -n[2], n[1], n[2], 0, -n[0], -n[1], n[0], 0};
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++)
      AG_CHECK_NEAR(N[3 * i + j], (i == j ? c : 0) + (1 - c) * n[i] * n[j] + s * hat[3 * i + j], 4e-16);
}

/* vee(A^T dA/ds) along the motion; step 1e-4, error of the differences 1e-9 */
static void check_velocity(const ag_model *m, const char *rotation, const char *velocity) {
  double A[9], up[9], down[9], w[3], h = 1e-4, W[9];
  at(m, rotation, 0, A);
  at(m, rotation, h, up);
  at(m, rotation, -h, down);
  at(m, velocity, 0, w);
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) {
      W[3 * i + j] = 0;
      for (int k = 0; k < 3; k++) W[3 * i + j] += A[3 * k + i] * (up[3 * k + j] - down[3 * k + j]) / (2 * h);
    }
  AG_CHECK_NEAR(w[0], W[7], 2e-8);
  AG_CHECK_NEAR(w[1], W[2], 2e-8);
  AG_CHECK_NEAR(w[2], W[3], 2e-8);
}

static void check_euler(const ag_model *m) {
  double E[9], angles[3], fixed[3], a = 0.4, b = 0.9, c = 0.2;
  at(m, "E1", 0, E);
  AG_CHECK_NEAR(E[0], cos(a) * cos(c) - sin(a) * cos(b) * sin(c), 1e-15);
  AG_CHECK_NEAR(E[2], sin(a) * sin(b), 1e-15);
  AG_CHECK_NEAR(E[5], -cos(a) * sin(b), 1e-15);
  AG_CHECK_NEAR(E[7], sin(b) * cos(c), 1e-15);
  AG_CHECK_NEAR(E[8], cos(b), 1e-15);
  at(m, "out", 0, angles);
  AG_CHECK_NEAR(angles[0], a, 1e-15);
  AG_CHECK_NEAR(angles[1], b, 1e-15);
  AG_CHECK_NEAR(angles[2], c, 1e-15);
  at(m, "fixed", 0, fixed);
  AG_CHECK(fixed[0] == 0 && fixed[1] == 0 && fixed[2] == 0);
}

int main(void) {
  ag_model *m = read_text(text, 0, NULL, NULL);
  AG_CHECK(m != NULL);
  if (!m) return ag_check_report();
  check_axes(m);
  check_euler(m);
  check_velocity(m, "E1", "wE");
  check_velocity(m, "G1", "wG");
  check_velocity(m, "P1", "wP");
  check_velocity(m, "Q1", "wQ");
  AG_CHECK(observable(m, "wR") == m->coords[3].xi); /* the velocity of the coordinate itself, nothing computed */
  ag_model_free(m);
  return ag_check_report();
}
