/* SPDX-License-Identifier: MIT
 * Rotations: unit quaternions (w,x,y,z), Hamilton's product, body to space; matrices 3 x 3 row-major. Plain functions on the caller's
 * arrays; outputs may not overlap inputs unless said so. */
#ifndef AG_MATH_LIE_H
#define AG_MATH_LIE_H

void ag_quat_mul(const double a[4], const double b[4], double out[4]);
void ag_quat_normalise(double q[4]); /* in place; a zero quaternion is left alone */
/* R = 1 + 2w[v] + 2[v]^2 of a unit quaternion. */
void ag_quat_to_matrix(const double q[4], double R[9]);
/* The unit quaternion with w >= 0 of a rotation matrix (largest component first: no cancellation). */
void ag_quat_from_matrix(const double R[9], double q[4]);
/* exp of the rotation vector v: angle |v| about v. */
void ag_quat_exp(const double v[3], double q[4]);
/* The rotation vector of a unit quaternion, length at most pi. */
void ag_quat_log(const double q[4], double v[3]);
/* Cayley transform (1 - v^/2)^-1 (1 + v^/2) as a quaternion: (1, v/2) normalised. */
void ag_quat_cayley(const double v[3], double q[4]);
/* hat(v) w = v x w, row-major. */
void ag_so3_hat(const double v[3], double A[9]);
void ag_so3_cross(const double a[3], const double b[3], double out[3]);
#endif
