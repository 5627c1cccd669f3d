/* SPDX-License-Identifier: MIT
 * Rotations, see lie.h. */
#include "math/lie.h"

#include <math.h>
#include <string.h>

void ag_lie_hat(const double v[3], double A[9]) {
  A[0] = 0, A[1] = -v[2], A[2] = v[1];
  A[3] = v[2], A[4] = 0, A[5] = -v[0];
  A[6] = -v[1], A[7] = v[0], A[8] = 0;
}

void ag_lie_vee(const double A[9], double v[3]) {
  v[0] = 0.5 * (A[7] - A[5]);
  v[1] = 0.5 * (A[2] - A[6]);
  v[2] = 0.5 * (A[3] - A[1]);
}

void ag_lie_cross(const double a[3], const double b[3], double c[3]) {
  double x = a[1] * b[2] - a[2] * b[1], y = a[2] * b[0] - a[0] * b[2], z = a[0] * b[1] - a[1] * b[0];
  c[0] = x, c[1] = y, c[2] = z;
}

void ag_lie_quat_mul(const double p[4], const double q[4], double r[4]) {
  double w = p[0] * q[0] - p[1] * q[1] - p[2] * q[2] - p[3] * q[3];
  double x = p[0] * q[1] + p[1] * q[0] + p[2] * q[3] - p[3] * q[2];
  double y = p[0] * q[2] - p[1] * q[3] + p[2] * q[0] + p[3] * q[1];
  double z = p[0] * q[3] + p[1] * q[2] - p[2] * q[1] + p[3] * q[0];
  r[0] = w, r[1] = x, r[2] = y, r[3] = z;
}

void ag_lie_quat_conj(const double q[4], double r[4]) { r[0] = q[0], r[1] = -q[1], r[2] = -q[2], r[3] = -q[3]; }

double ag_lie_quat_normalise(double q[4]) {
  double n = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
  if (n > 0 && isfinite(n))
    for (int i = 0; i < 4; i++) q[i] /= n;
  return n;
}

/* y = v + 2 w (u x v) + 2 u x (u x v), u the vector part. */
void ag_lie_quat_rotate(const double q[4], const double v[3], double y[3]) {
  double c[3], d[3];
  ag_lie_cross(q + 1, v, c);
  ag_lie_cross(q + 1, c, d);
  for (int i = 0; i < 3; i++) y[i] = v[i] + 2 * (q[0] * c[i] + d[i]);
}

void ag_lie_quat_matrix(const double q[4], double R[9]) {
  double w = q[0], x = q[1], y = q[2], z = q[3];
  double s = 2 / (w * w + x * x + y * y + z * z);
  R[0] = 1 - s * (y * y + z * z), R[1] = s * (x * y - w * z), R[2] = s * (x * z + w * y);
  R[3] = s * (x * y + w * z), R[4] = 1 - s * (x * x + z * z), R[5] = s * (y * z - w * x);
  R[6] = s * (x * z - w * y), R[7] = s * (y * z + w * x), R[8] = 1 - s * (x * x + y * y);
}

/* The symmetric matrix 4 q q^T is linear in R; its column with the largest diagonal entry is q up to a factor. */
void ag_lie_quat_from_matrix(const double R[9], double q[4]) {
  const double S[4][4] = {
      {1 + R[0] + R[4] + R[8], R[7] - R[5], R[2] - R[6], R[3] - R[1]},
      {R[7] - R[5], 1 + R[0] - R[4] - R[8], R[1] + R[3], R[2] + R[6]},
      {R[2] - R[6], R[1] + R[3], 1 - R[0] + R[4] - R[8], R[5] + R[7]},
      {R[3] - R[1], R[2] + R[6], R[5] + R[7], 1 - R[0] - R[4] + R[8]},
  };
  int k = 0, first = 0;
  for (int i = 1; i < 4; i++)
    if (S[i][i] > S[k][k]) k = i;
  memcpy(q, S[k], sizeof S[k]);
  ag_lie_quat_normalise(q);
  while (first < 3 && q[first] == 0) first++;
  if (q[first] < 0)
    for (int i = 0; i < 4; i++) q[i] = -q[i];
}

void ag_lie_exp(const double v[3], double q[4]) {
  double x = v[0], y = v[1], z = v[2], a2 = x * x + y * y + z * z, a = sqrt(a2);
  /* sin(a/2)/a; below the limit the next term of the series is under an ulp */
  double s = a < 1e-4 ? 0.5 - a2 / 48 : sin(0.5 * a) / a;
  q[0] = cos(0.5 * a), q[1] = s * x, q[2] = s * y, q[3] = s * z;
}

void ag_lie_log(const double q[4], double v[3]) {
  double w = q[0], n2 = q[1] * q[1] + q[2] * q[2] + q[3] * q[3], n = sqrt(n2), sign = w < 0 ? -1 : 1;
  w = fabs(w); /* of q and -q the one with the smaller angle */
  double s = n < 1e-4 * w ? 2 / w * (1 - n2 / (3 * w * w)) : 2 * atan2(n, w) / n;
  for (int i = 0; i < 3; i++) v[i] = sign * s * q[i + 1];
}

void ag_lie_cayley(const double v[3], double q[4]) {
  double x = 0.5 * v[0], y = 0.5 * v[1], z = 0.5 * v[2], s = 1 / sqrt(1 + x * x + y * y + z * z);
  q[0] = s, q[1] = s * x, q[2] = s * y, q[3] = s * z;
}

void ag_lie_cayley_inverse(const double q[4], double v[3]) {
  double w = q[0];
  for (int i = 0; i < 3; i++) v[i] = 2 * q[i + 1] / w;
}
