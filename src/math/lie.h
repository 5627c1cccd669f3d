/* SPDX-License-Identifier: MIT
 * The rotation group: quaternions, rotation matrices, the maps between them and their Lie algebra. Used where rotations
 * are set up, read out or retracted outside generated kernels.
 *
 * A quaternion is Hamilton's (w, x, y, z), ij = k. A unit quaternion q turns body into space components: v_space =
 * q v_body q*, the same as R v_body with R = matrix of q; the product p q is the rotation matrix product, and
 * R' = R hat(Omega) is q' = q (0, Omega) / 2 with the body angular velocity Omega. q and -q are the same rotation.
 * Matrices are 3 x 3 row-major. Outputs may be the same array as an input, except for matrices. */
#ifndef AG_MATH_LIE_H
#define AG_MATH_LIE_H

/* hat(v) w = v x w; vee takes the skew part of any matrix, so that vee(hat(v)) = v. */
void ag_lie_hat(const double v[3], double A[9]);
void ag_lie_vee(const double A[9], double v[3]);
void ag_lie_cross(const double a[3], const double b[3], double c[3]);

/* r = p q. */
void ag_lie_quat_mul(const double p[4], const double q[4], double r[4]);
/* r = q*: the inverse rotation of a unit quaternion. */
void ag_lie_quat_conj(const double q[4], double r[4]);
/* Scales q to length 1 and returns its previous length; a q that is zero or not finite is left unchanged. */
double ag_lie_quat_normalise(double q[4]);
/* y = R v. */
void ag_lie_quat_rotate(const double q[4], const double v[3], double y[3]);

/* The matrix of q / |q|. */
void ag_lie_quat_matrix(const double q[4], double R[9]);
/* The unit quaternion of a rotation matrix, its first entry that is not zero positive. If R is only near a rotation, so
 * is the result. */
void ag_lie_quat_from_matrix(const double R[9], double q[4]);

/* q = exp of the rotation vector v: by the angle |v| about v. */
void ag_lie_exp(const double v[3], double q[4]);
/* The rotation vector of a unit quaternion, |v| <= pi. */
void ag_lie_log(const double q[4], double v[3]);

/* Cayley: the matrix (1 - hat(v)/2)^-1 (1 + hat(v)/2), a rotation by 2 atan(|v|/2) about v. */
void ag_lie_cayley(const double v[3], double q[4]);
/* Its inverse; not finite for rotations by pi. */
void ag_lie_cayley_inverse(const double q[4], double v[3]);
#endif
