/* SPDX-License-Identifier: MIT
 * The rattleback written by hand, as somebody would who knows it well: what the program's own code is measured against.
 * State y = (M, G): angular momentum about the point of contact and upward vertical, both in the body frame;
 *   M' = M x W + m r' x (W x r) + m g r x G,   G' = G x W,
 *   r = -D G / sqrt(G.D G) from the centre of mass to the contact,   M = I W + m r x (W x r).
 * REAL may be defined before; default double. If it is a vector of several stones, NUM is the type of one number. The
 * numbers are those of models/rattleback_bench.nh, or with SHIPPED_STONE those of the shipped rattleback in the axes of
 * its ellipsoid. */
#ifndef BENCH_RATTLEBACK_H
#define BENCH_RATTLEBACK_H
#include <math.h>
#ifndef REAL
#define REAL double
#define REAL_SQRT sqrt
#endif
#ifndef NUM
#define NUM REAL
#endif
#define INLINE static inline __attribute__((always_inline))

typedef struct v3 {
  REAL x, y, z;
} v3;
/* Symmetric matrix. */
typedef struct s3 {
  REAL xx, yy, zz, xy, xz, yz;
} s3;

#ifdef SHIPPED_STONE
static const NUM MASS = 1, WEIGHT = 1;
static const struct { NUM x, y, z; } D = {2 * 2, (NUM)(1.25L * 1.25L), 1};
/* Principal moments 0.55, 1.05, 1.15, the axes of the ellipsoid turned by 0.35. */
#define MOMENT_1 0.55L
#define MOMENT_2 1.05L
#define MOMENT_3 1.15L
#define COS_TURN 0.93937271284737892003L
#define SIN_TURN -0.34289780745545134919L
#else
static const NUM MASS = 1, WEIGHT = (NUM)9.81L;
static const struct { NUM x, y, z; } D = {(NUM)(0.2L * 0.2L), (NUM)(0.03L * 0.03L), (NUM)(0.02L * 0.02L)};
/* Principal moments 2e-4, 1.6e-3, 1.7e-3, the first two axes turned by 0.0143. */
#define MOMENT_1 2e-4L
#define MOMENT_2 1.6e-3L
#define MOMENT_3 1.7e-3L
#define COS_TURN 0.99989775674232812784L
#define SIN_TURN 0.014299512637149734817L
#endif
static const struct {
  NUM xx, yy, zz, xy;
} INERTIA = {(NUM)(MOMENT_1 * COS_TURN * COS_TURN + MOMENT_2 * SIN_TURN * SIN_TURN),
             (NUM)(MOMENT_1 *SIN_TURN *SIN_TURN + MOMENT_2 * COS_TURN * COS_TURN), (NUM)MOMENT_3,
             (NUM)((MOMENT_1 - MOMENT_2) * SIN_TURN * COS_TURN)};

INLINE v3 cross(v3 a, v3 b) { return (v3){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x}; }
INLINE REAL dot(v3 a, v3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
INLINE v3 by_D(v3 a) { return (v3){D.x * a.x, D.y * a.y, D.z * a.z}; }
INLINE v3 times(REAL s, v3 a) { return (v3){s * a.x, s * a.y, s * a.z}; }

/* From the centre of mass to the contact. */
INLINE v3 lever(v3 G) {
  v3 e = by_D(G);
  return times((NUM)-1 / REAL_SQRT(dot(e, G)), e);
}

/* (M, G) from angular velocity and vertical. */
INLINE void momentum(const REAL *w, const REAL *up, REAL *y) {
  v3 W = {w[0], w[1], w[2]}, G = {up[0], up[1], up[2]}, r = lever(G), turn = cross(r, cross(W, r));
  y[0] = INERTIA.xx * W.x + INERTIA.xy * W.y + MASS * turn.x;
  y[1] = INERTIA.xy * W.x + INERTIA.yy * W.y + MASS * turn.y;
  y[2] = INERTIA.zz * W.z + MASS * turn.z;
  y[3] = G.x, y[4] = G.y, y[5] = G.z;
}

/* W from M: the symmetric matrix I + m (r.r - r r^T), inverted by its cofactors. */
INLINE v3 angular_velocity(v3 M, v3 r) {
  v3 mr = {MASS * r.x, MASS * r.y, MASS * r.z};
  REAL xx = mr.x * r.x, yy = mr.y * r.y, zz = mr.z * r.z;
  s3 J = {INERTIA.xx + yy + zz,    INERTIA.yy + xx + zz, INERTIA.zz + xx + yy,
          INERTIA.xy - mr.x * r.y, -mr.x * r.z,          -mr.y * r.z};
  s3 C = {J.yy * J.zz - J.yz * J.yz, J.xx * J.zz - J.xz * J.xz, J.xx * J.yy - J.xy * J.xy,
          J.xz * J.yz - J.xy * J.zz, J.xy * J.yz - J.xz * J.yy, J.xy * J.xz - J.yz * J.xx};
  REAL scale = (NUM)1 / (J.xx * C.xx + J.xy * C.xy + J.xz * C.xz);
  return times(scale, (v3){C.xx * M.x + C.xy * M.y + C.xz * M.z, C.xy * M.x + C.yy * M.y + C.yz * M.z,
                           C.xz * M.x + C.yz * M.y + C.zz * M.z});
}

/* The rates; also the angular velocity and the contact. */
INLINE void rattleback_motion(const REAL *y, REAL *dy, v3 *omega, v3 *contact) {
  v3 M = {y[0], y[1], y[2]}, G = {y[3], y[4], y[5]}, e = by_D(G);
  REAL q = (NUM)1 / REAL_SQRT(dot(e, G));
  v3 r = times(-q, e), W = angular_velocity(M, r), dG = cross(G, W), f = by_D(dG);
  REAL k = dot(e, dG) * q * q;
  v3 dr = {(e.x * k - f.x) * q, (e.y * k - f.y) * q, (e.z * k - f.z) * q};
  v3 turn = cross(M, W), drag = cross(dr, cross(W, r)), pull = cross(r, G);
  dy[0] = turn.x + MASS * drag.x + MASS * WEIGHT * pull.x;
  dy[1] = turn.y + MASS * drag.y + MASS * WEIGHT * pull.y;
  dy[2] = turn.z + MASS * drag.z + MASS * WEIGHT * pull.z;
  dy[3] = dG.x;
  dy[4] = dG.y;
  dy[5] = dG.z;
  *omega = W, *contact = r;
}

INLINE void rattleback(const REAL *y, REAL *dy) {
  v3 W, r;
  rattleback_motion(y, dy, &W, &r);
}
#endif
