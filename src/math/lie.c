/* SPDX-License-Identifier: MIT */
#include "math/lie.h"

#include <math.h>

void ag_quat_mul(const double a[4], const double b[4], double out[4]) {
  out[0] = a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3];
  out[1] = a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2];
  out[2] = a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1];
  out[3] = a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0];
}

void ag_quat_normalise(double q[4]) {
  double n = q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3];
  if (n == 0 || n == 1) return;
  double f = 1 / sqrt(n);
  for (int i = 0; i < 4; i++) q[i] *= f;
}

void ag_quat_to_matrix(const double q[4], double R[9]) {
  double w = q[0], x = q[1], y = q[2], z = q[3];
  R[0] = 1 - 2 * (y * y + z * z);
  R[1] = 2 * (x * y - w * z);
  R[2] = 2 * (x * z + w * y);
  R[3] = 2 * (x * y + w * z);
  R[4] = 1 - 2 * (x * x + z * z);
  R[5] = 2 * (y * z - w * x);
  R[6] = 2 * (x * z - w * y);
  R[7] = 2 * (y * z + w * x);
  R[8] = 1 - 2 * (x * x + y * y);
}

void ag_quat_from_matrix(const double R[9], double q[4]) {
  /* 4 times the squares of the components; the largest is at least 1 */
  double s[4] = {1 + R[0] + R[4] + R[8], 1 + R[0] - R[4] - R[8], 1 - R[0] + R[4] - R[8], 1 - R[0] - R[4] + R[8]};
  int k = 0;
  for (int i = 1; i < 4; i++)
    if (s[i] > s[k]) k = i;
  /* products 4 q_i q_j */
  double wx = R[7] - R[5], wy = R[2] - R[6], wz = R[3] - R[1], xy = R[1] + R[3], xz = R[2] + R[6], yz = R[5] + R[7];
  double p[4][4] = {{s[0], wx, wy, wz}, {wx, s[1], xy, xz}, {wy, xy, s[2], yz}, {wz, xz, yz, s[3]}};
  double f = 0.5 / sqrt(s[k]);
  for (int i = 0; i < 4; i++) q[i] = f * p[k][i];
  if (q[0] < 0)
    for (int i = 0; i < 4; i++) q[i] = -q[i];
}

void ag_quat_exp(const double v[3], double q[4]) {
  double a = sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]), h = 0.5 * a;
  /* sin(h)/a, by its series where the quotient loses digits */
  double f = a > 1e-4 ? sin(h) / a : 0.5 * (1 - h * h / 6 * (1 - h * h / 20));
  q[0] = cos(h);
  for (int i = 0; i < 3; i++) q[1 + i] = f * v[i];
}

void ag_quat_log(const double q[4], double v[3]) {
  double sign = q[0] < 0 ? -1 : 1, n = sqrt(q[1] * q[1] + q[2] * q[2] + q[3] * q[3]), w = fabs(q[0]);
  double f = n > 1e-8 ? 2 * atan2(n, w) / n : 2 / w;
  for (int i = 0; i < 3; i++) v[i] = sign * f * q[1 + i];
}

void ag_quat_cayley(const double v[3], double q[4]) {
  q[0] = 1;
  for (int i = 0; i < 3; i++) q[1 + i] = 0.5 * v[i];
  ag_quat_normalise(q);
}

void ag_so3_hat(const double v[3], double A[9]) {
  A[0] = A[4] = A[8] = 0;
  A[1] = -v[2];
  A[2] = v[1];
  A[3] = v[2];
  A[5] = -v[0];
  A[6] = -v[1];
  A[7] = v[0];
}

void ag_so3_cross(const double a[3], const double b[3], double out[3]) {
  out[0] = a[1] * b[2] - a[2] * b[1];
  out[1] = a[2] * b[0] - a[0] * b[2];
  out[2] = a[0] * b[1] - a[1] * b[0];
}
