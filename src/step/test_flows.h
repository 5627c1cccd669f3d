/* SPDX-License-Identifier: MIT
 * Flows with known motions, for the tests of step/. */
#ifndef AG_STEP_TEST_FLOWS_H
#define AG_STEP_TEST_FLOWS_H
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "step/step.h"

/* n, the right-hand side, its Jacobian in m tangent coordinates, and the motion through exact(0). */
typedef struct test_flow {
  const char *name;
  int n, m;
  int (*rhs)(void *calls, double t, const double *z, double *dz); /* calls: NULL, or a long that counts them */
  int (*jacobian)(void *calls, double t, const double *z, double *J);
  void (*exact)(double t, double *z);
  ag_factor factor; /* all of it */
  int u_at, n_u;    /* velocities among the tangent coordinates */
  const int *rate;  /* of an equation of second order (ag_flow), else NULL */
} test_flow;

static inline void count_call(void *calls) {
  if (calls) ++*(long *)calls;
}

/* Kepler's ellipse of eccentricity 0.3, from the pericentre: z = (x, y, x', y'), period 2 pi. */
static inline int kepler_rhs(void *calls, double t, const double *z, double *dz) {
  double r2 = z[0] * z[0] + z[1] * z[1], g = 1 / (r2 * sqrt(r2));
  (void)t;
  count_call(calls);
  dz[0] = z[2], dz[1] = z[3], dz[2] = -z[0] * g, dz[3] = -z[1] * g;
  return 0;
}

static inline int kepler_jacobian(void *calls, double t, const double *z, double *J) {
  double x = z[0], y = z[1], r2 = x * x + y * y, g = 1 / (r2 * sqrt(r2)), e = 3 * g / r2;
  const double rows[16] = {0, 0, 1, 0, 0, 0, 0, 1, e * x * x - g, e * x * y, 0, 0, e * x * y, e * y * y - g, 0, 0};
  (void)calls, (void)t;
  memcpy(J, rows, sizeof rows);
  return 0;
}

static inline void kepler_exact(double t, double *z) {
  const double e = 0.3, b = sqrt(1 - e * e);
  double E = t; /* Kepler's equation E - e sin E = t by Newton, which converges for every t at this e */
  for (int i = 0; i < 20; i++) E -= (E - e * sin(E) - t) / (1 - e * cos(E));
  double rate = 1 / (1 - e * cos(E));
  z[0] = cos(E) - e, z[1] = b * sin(E), z[2] = -sin(E) * rate, z[3] = b * cos(E) * rate;
}

/* Two oscillators, each turning at a rate that depends on the amplitude of the other: cubic, and exactly periodic. */
static inline int rings_rhs(void *calls, double t, const double *z, double *dz) {
  double v = 1 + z[2] * z[2] + z[3] * z[3], w = 0.5 + z[0] * z[0] + z[1] * z[1];
  (void)t;
  count_call(calls);
  dz[0] = -v * z[1], dz[1] = v * z[0], dz[2] = -w * z[3], dz[3] = w * z[2];
  return 0;
}

static inline int rings_jacobian(void *calls, double t, const double *z, double *J) {
  double v = 1 + z[2] * z[2] + z[3] * z[3], w = 0.5 + z[0] * z[0] + z[1] * z[1];
  const double rows[16] = {0,
                           -v,
                           -2 * z[1] * z[2],
                           -2 * z[1] * z[3],
                           v,
                           0,
                           2 * z[0] * z[2],
                           2 * z[0] * z[3],
                           -2 * z[3] * z[0],
                           -2 * z[3] * z[1],
                           0,
                           -w,
                           2 * z[2] * z[0],
                           2 * z[2] * z[1],
                           w,
                           0};
  (void)calls, (void)t;
  memcpy(J, rows, sizeof rows);
  return 0;
}

static inline void rings_exact(double t, double *z) {
  const double r = 0.7, s = 0.9, v = 1 + s * s, w = 0.5 + r * r;
  z[0] = r * cos(v * t), z[1] = r * sin(v * t), z[2] = s * cos(w * t), z[3] = s * sin(w * t);
}

/* A rotation Rz(alpha(t)) Rx(beta(t)) as a quaternion driven by its body angular velocity: depends on t explicitly. */
static inline double turn_alpha(double t) { return 2 * t; }
static inline double turn_beta(double t) { return t + 0.3 * sin(t); }

static inline void turn_velocity(double t, double *w) {
  double b = turn_beta(t);
  w[0] = 1 + 0.3 * cos(t), w[1] = 2 * sin(b), w[2] = 2 * cos(b);
}

/* Moved by eta, q exp(eta): eta' = -Omega x eta. */
static inline int turn_jacobian(void *calls, double t, const double *q, double *J) {
  double w[3];
  (void)calls, (void)q;
  turn_velocity(t, w);
  const double rows[9] = {0, w[2], -w[1], -w[2], 0, w[0], w[1], -w[0], 0};
  memcpy(J, rows, sizeof rows);
  return 0;
}

static inline int turn_rhs(void *calls, double t, const double *q, double *dq) {
  double w[3];
  turn_velocity(t, w);
  count_call(calls);
  dq[0] = 0.5 * (-q[1] * w[0] - q[2] * w[1] - q[3] * w[2]);
  dq[1] = 0.5 * (q[0] * w[0] + q[2] * w[2] - q[3] * w[1]);
  dq[2] = 0.5 * (q[0] * w[1] + q[3] * w[0] - q[1] * w[2]);
  dq[3] = 0.5 * (q[0] * w[2] + q[1] * w[1] - q[2] * w[0]);
  return 0;
}

static inline void turn_exact(double t, double *q) {
  double a = 0.5 * turn_alpha(t), b = 0.5 * turn_beta(t);
  q[0] = cos(a) * cos(b), q[1] = cos(a) * sin(b), q[2] = sin(a) * sin(b), q[3] = sin(a) * cos(b);
}

/* Of second order and driven, velocities first: z = (x', y', x, y), x = cos t, y = sin(2.5 t)/2 + 0.3 for ever. */
static inline void driven_exact(double t, double *z) {
  z[0] = -sin(t), z[1] = 1.25 * cos(2.5 * t), z[2] = cos(t), z[3] = 0.5 * sin(2.5 * t) + 0.3;
}

static inline int driven_rhs(void *calls, double t, const double *z, double *dz) {
  double e[4];
  driven_exact(t, e);
  count_call(calls);
  dz[0] = -e[2] + (e[2] * e[3] - z[2] * z[3]) + 4 * (sin(e[2]) - sin(z[2]));
  dz[1] = -3.125 * sin(2.5 * t) + (e[2] * e[2] - z[2] * z[2]) + 4 * (e[3] - z[3]);
  dz[2] = z[0], dz[3] = z[1];
  return 0;
}

static const int kepler_rate[] = {2, 3, -1, -1}, driven_rate[] = {-1, -1, 0, 1};
static const test_flow test_flows[] = {
    {"rings", 4, 4, rings_rhs, rings_jacobian, rings_exact, {AG_FACTOR_VECTOR, 0, 4, 0}, 2, 2, NULL},
    {"turn", 4, 3, turn_rhs, turn_jacobian, turn_exact, {AG_FACTOR_QUATERNION, 0, 4, 0}, 0, 0, NULL},
    {"kepler", 4, 4, kepler_rhs, kepler_jacobian, kepler_exact, {AG_FACTOR_VECTOR, 0, 4, 0}, 2, 2, kepler_rate},
};
static const test_flow test_driven __attribute__((unused)) = {
    "driven", 4, 4, driven_rhs, NULL, driven_exact, {AG_FACTOR_VECTOR, 0, 4, 0}, 0, 2, driven_rate};
enum { N_TEST_FLOW = 3, TEST_N = 4, TEST_CARRY = 6 * TEST_N + 1, TEST_WORK = 1024 };

static inline ag_flow test_flow_of(const test_flow *p, long *calls) {
  return (ag_flow){.n = p->n,
                   .rhs = p->rhs,
                   .rate = p->rate,
                   .m = p->m,
                   .n_factor = 1,
                   .factors = &p->factor,
                   .u_at = p->u_at,
                   .n_u = p->n_u,
                   .jacobian = p->jacobian,
                   .self = calls};
}

static inline double test_error(const test_flow *p, double t, const double *z) {
  double x[TEST_N], error = 0;
  p->exact(t, x);
  for (int i = 0; i < p->n; i++) error = fmax(error, fabs(z[i] - x[i]));
  return error;
}
#endif
