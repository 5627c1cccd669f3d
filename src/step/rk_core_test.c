/* SPDX-License-Identifier: MIT
 * The text of rk_core.h in its other use: a vector of trajectories, a constant number of components, per-lane time and
 * step, the right-hand side in place. Every lane must have the bits the library gives for that trajectory alone, and a
 * component that the right-hand side does not read must need neither values at the stages nor rates without a weight.
 */
#include <stdlib.h>

#include "step/step.h"
#include "step/tableau.h"
#include "tests/check.h"

enum { N = 6, LANES = 2, ROWS = 32 };
typedef double V __attribute__((vector_size(LANES * sizeof(double))));
typedef long long mask __attribute__((vector_size(LANES * sizeof(double))));

static V v_fma(V a, V b, V c) {
  for (int l = 0; l < LANES; l++) c[l] = __builtin_fma(a[l], b[l], c[l]);
  return c;
}
static V v_abs(V a) { return (V)((mask)a & 0x7fffffffffffffffLL); }
static V v_max(V a, V b) {
  mask m = a > b;
  return (V)((m & (mask)a) | (~m & (mask)b));
}
static V v_sqrt(V a) {
  for (int l = 0; l < LANES; l++) a[l] = __builtin_sqrt(a[l]);
  return a;
}

/* A right-hand side of + - * / only, so that both value types round alike; component 4 is not in the norm,
 * component 5 is not read. */
#define RHS(t, z, dz) \
  do { \
    (dz)[0] = (z)[1] * (z)[2] + 0.1 * (t); \
    (dz)[1] = (z)[3] - (z)[0] * (z)[2]; \
    (dz)[2] = 0.3 / (2.0 + (z)[3] * (z)[3]) - (z)[0] * (z)[1]; \
    (dz)[3] = (z)[0] - (z)[3] * (z)[1] * (t); \
    (dz)[4] = (z)[0] * (z)[4] + 100.0 * (z)[3]; \
    (dz)[5] = (z)[0] * (z)[3] + 2.0 * (z)[4]; \
  } while (0)

static int scalar_rhs(void *self, double t, const double *z, double *dz) {
  (void)self;
  RHS(t, z, dz);
  return 0;
}

/* What is integrated along a step: the rate of component 5, a quadrature. */
#define POWER(z, dz) (0.5 * (dz)[5] + 0.5 * ((z)[0] * (z)[3] + 2.0 * (z)[4]))

static double scalar_power(void *self, double t, const double *z, const double *dz) {
  (void)self, (void)t;
  return POWER(z, dz);
}

#define AG_STEP_QUALIFIER static
#define AG_STEP_KEEPS 1
#define AG_STEP_POWER(t, z, dz) POWER(z, dz)
#define AG_STEP_POWER_FLOW
#define AG_STEP_FLOW
#define AG_STEP_SIZE
#define AG_STEP_PASS
#define AG_STEP_N N
#define AG_STEP_RHS(t, z, dz) \
  { \
    V time_ = t; \
    RHS(time_, z, dz); \
  }
#define AG_STEP_READ(X, ...) X(0, 2, __VA_ARGS__) X(2, 5, __VA_ARGS__)
#define AG_STEP_RHS_READ(t, z, dz) \
  { \
    V time_ = t; \
    RHS(time_, z, dz); \
    (dz)[5] = (V){NAN, NAN}; \
  }
#define AG_STEP_ATOL(i) atol[i]
#define AG_STEP_IN_NORM(i) (i != 4)
#define AG_STEP_IN_REST(i) 0
#define AG_STEP_N_REST 0
#define AG_STEP_N_NORM 5.0

#define AG_RK_METHOD euler
#define AG_STEP_FN(name) euler_##name
#include "step/rk_core.h"
#undef AG_RK_METHOD
#undef AG_STEP_FN
#define AG_RK_METHOD heun2
#define AG_STEP_FN(name) heun2_##name
#include "step/rk_core.h"
#undef AG_RK_METHOD
#undef AG_STEP_FN
#define AG_RK_METHOD euler_heun
#define AG_STEP_FN(name) euler_heun_##name
#include "step/rk_core.h"
#undef AG_RK_METHOD
#undef AG_STEP_FN
#define AG_RK_METHOD rk3
#define AG_STEP_FN(name) rk3_##name
#include "step/rk_core.h"
#undef AG_RK_METHOD
#undef AG_STEP_FN
#define AG_RK_METHOD bs3
#define AG_STEP_FN(name) bs3_##name
#include "step/rk_core.h"
#undef AG_RK_METHOD
#undef AG_STEP_FN
#define AG_RK_METHOD rk4
#define AG_STEP_FN(name) rk4_##name
#include "step/rk_core.h"
#undef AG_RK_METHOD
#undef AG_STEP_FN
#define AG_RK_METHOD dopri5
#define AG_STEP_FN(name) dopri5_##name
#include "step/rk_core.h"
#undef AG_RK_METHOD
#undef AG_STEP_FN
#define AG_RK_METHOD tsit5
#define AG_STEP_FN(name) tsit5_##name
#include "step/rk_core.h"
#undef AG_RK_METHOD
#undef AG_STEP_FN
#define AG_RK_METHOD dop853
#define AG_STEP_FN(name) dop853_##name
#include "step/rk_core.h"

typedef struct method {
  const char *name;
  int last;
  int (*step)(V t, V h, const V *restrict z, V *restrict z1, double rtol, const V *restrict atol, V *restrict error,
              V *restrict work);
  int (*dense)(V t, V h, const V *restrict z, const V *restrict z1, V *restrict work);
  void (*interpolate)(V theta, const V *restrict z, const V *restrict work, V *restrict out);
  V (*integral)(V t, V h, const V *z, const V *work);
} method;

static const method methods[] = {
#define AG_STEPPER(name) {#name, AG_RK_##name##_LAST, name##_step, name##_dense, name##_interpolate, name##_integral},
#include "step/rk.def"
#undef AG_STEPPER
};

static bool same_bits(double a, double b) { return memcmp(&a, &b, sizeof a) == 0; }

typedef struct lanes {
  V t, h, error, integral, atol[N], z[N], z1[N], out[N], work[ROWS * N];
} lanes;

/* One lane against the library. */
static void compare(const method *m, const lanes *x, int l, double rtol, const V *atol, V theta) {
  static const unsigned char in_norm[N] = {1, 1, 1, 1, 0, 1};
  const ag_stepper *s = ag_stepper_find(m->name);
  double z[N], dz[N], z1[N], dz1[N], out[N], work[32 * N], error, own[N];
  ag_flow f = {.n = N, .in_norm = in_norm, .atol = own, .rhs = scalar_rhs, .power = scalar_power};
  for (int i = 0; i < N; i++) own[i] = atol[i][l];
  for (int i = 0; i < N; i++) z[i] = x->z[i][l];
  RHS(x->t[l], z, dz);
  AG_CHECK(s->step(s, &f, x->t[l], x->h[l], z, dz, z1, dz1, rtol, 1, &error, work) == 0);
  AG_CHECK(s->dense(s, &f, x->t[l], x->h[l], z, z1, work) == 0);
  double integral = s->integral(s, &f, x->t[l], x->h[l], z, work);
  AG_CHECK(same_bits(integral, x->integral[l]));
  AG_CHECK_NEAR(integral, z1[5] - z[5], 1e-14); /* that of the component, which is up to 1, up to its roundings */
  s->interpolate(s, N, theta[l], z, work, out);
  AG_CHECK(same_bits(error, x->error[l]));
  for (int i = 0; i < N; i++)
    AG_CHECK(same_bits(z1[i], x->z1[i][l]) && same_bits(dz1[i], x->work[m->last * N + i][l]) &&
             same_bits(out[i], x->out[i][l]));
}

int main(void) {
  int n_method = (int)(sizeof methods / sizeof *methods);
  for (int j = 0; j < n_method; j++)
    for (int k = 0; k < 50; k++) {
      const method *m = &methods[j];
      lanes x;
      V theta;
      double rtol = 1e-6 * k, atol = 1e-7 * (k + 1);
      for (int l = 0; l < LANES; l++) {
        x.t[l] = sin(k + l), x.h[l] = 0.4 * cos(3 * k + 2 * l), theta[l] = 0.5 + 0.5 * sin(k - l);
        for (int i = 0; i < N; i++) {
          x.z[i][l] = sin(7 * k + 3 * l + 2.2 * i);
          x.atol[i][l] = atol * (1 + i + l);
        }
      }
      for (int i = 0; i < ROWS * N; i++) x.work[i] = (V){NAN, NAN};
      RHS(x.t, x.z, x.work);
      AG_CHECK(m->step(x.t, x.h, x.z, x.z1, rtol, x.atol, &x.error, x.work) == 0);
      AG_CHECK(m->dense(x.t, x.h, x.z, x.z1, x.work) == 0);
      m->interpolate(theta, x.z, x.work, x.out);
      x.integral = m->integral(x.t, x.h, x.z, x.work);
      for (int l = 0; l < LANES; l++) compare(m, &x, l, rtol, x.atol, theta);
    }
  return ag_check_report();
}
