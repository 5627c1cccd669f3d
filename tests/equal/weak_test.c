/* SPDX-License-Identifier: MIT
 * Weak orders on models: expectations of the state and of its squares after one step of a method, minus those after two
 * steps of half the size by Ninomiya's and Victoir's, which is h^(p+1) for the weak order p, 1 or 2. So all methods
 * have the same limit. Expectations are sums over the nodes of Gauss and Hermite, five per channel, and both sides of a
 * coin: exact for polynomials of degree 9 in the increments, so that they are off by h^5. Nothing is drawn. The slope
 * between steps of 1/64 and 1/128 is that of the limit to 0.1. */
#include <stdlib.h>

#include "lang/lang.h"
#include "run/run_internal.h"
#include "tests/check.h"

enum { MOST = 32, NODES = 5, WORK = 4096 };

static const double node[NODES] = {-2.8569700138728056, -1.3556261799742659, 0, 1.3556261799742659, 2.8569700138728056};
static const double weight[NODES] = {0.011257411327720683, 0.22207592200561263, 0.53333333333333333,
                                     0.22207592200561263, 0.011257411327720683};

#define ROUTH(noise) \
  "model routh\nparam m = 1, r = 1, l = 0.2, g = 1, I1 = 0.35, I3 = 0.4\nconfig R in SO3 velocity Omega\n" \
  "config x in R^3\nlet Gamma = R^T*e3\nlet s = r*Gamma + l*e3\nlet I = diag(I1, I1, I3)\n" \
  "lagrangian 1/2*dot(Omega, I*Omega) + m/2*dot(x', x') - m*g*dot(x, e3)\nconstraint x' = R*cross(Omega, s)\n" noise \
  "start R = rotation(e2, -0.3), Omega = [0.3, 0.1, 1.0], x = [0, 0, r + l*Gamma[3]]\n"

typedef struct lab {
  ag_ctx ctx;
  ag_model *m;
  ag_system *sys;
  ag_work *work;
  ag_flow flow;
  ag_factor factors[MOST];
  int role, n_x, channels;
  double x0[MOST], z0[MOST], c[MOST], w[MOST], t;
} lab;

static int rhs(void *self, double t, const double *z, double *dz) {
  lab *l = self;
  return ag_work_role(l->work, l->role, t, z, l->c, dz);
}

static int jacobian(void *self, double t, const double *z, double *J) {
  lab *l = self;
  return ag_work_role(l->work, l->role + AG_FIELD_JACOBIAN, t, z, l->c, J);
}

static void lab_init(lab *l, const char *text) {
  *l = (lab){.t = 0.25};
  AG_CHECK(ag_lang_read(&l->ctx, "model", text, strlen(text), 0, NULL, &l->m) == AG_OK);
  AG_CHECK(ag_system_create(&l->ctx, l->m, &(ag_derive_options){0}, &l->sys) == AG_OK);
  const ag_dims *dims = ag_system_dims(l->sys);
  AG_CHECK(dims->x <= MOST && dims->z <= MOST && dims->c <= MOST && dims->w + dims->channel < MOST);
  l->n_x = dims->x, l->channels = dims->channel;
  ag_system_state0(l->sys, l->x0);
}

static void lab_done(lab *l) {
  ag_system_free(l->sys);
  ag_model_free(l->m);
  ag_ctx_done(&l->ctx);
}

/* The field of a method, and everything that it may ask for. */
static void lab_method(lab *l, const ag_stepper *s) {
  const int n = ag_system_dims(l->sys)->z;
  (void)ag_run_noise(l->sys, s);
  (void)ag_system_increment_jacobian(l->sys, ag_run_field(s));
  l->role = ag_run_role(s);
  l->work = ag_work_create(l->sys, ag_system_param_values(l->sys));
  ag_work_step(l->work, l->w);
  AG_CHECK(ag_work_reduce(l->work, l->t, l->x0, l->c, l->z0) == AG_FINE);
  l->flow = (ag_flow){.n = n, .rhs = rhs, .jacobian = jacobian, .factors = l->factors, .step = l->w, .self = l};
  l->flow.n_factor = ag_mover_factors(l->sys, false, l->factors, &l->flow.m);
  l->flow.u_at = ag_mover_velocities(l->sys, l->flow.n_factor, l->factors), l->flow.n_u = ag_system_dims(l->sys)->u;
  l->flow.n_channel = l->channels;
  AG_CHECK(s->room(n, l->flow.m, l->flow.m * l->flow.m).size <= WORK);
}

/* A step with the nodes of the channels, numbered, and a coin. */
static double step(lab *l, const ag_stepper *s, double t, double h, int number, double coin, const double *z,
                   double *z1) {
  double dz[MOST], dz1[MOST], error[2], total = 1;
  _Alignas(64) double work[WORK];
  bool changed;
  l->w[0] = 1;
  for (int i = 1; i <= l->channels; i++, number /= NODES) {
    l->w[i] = l->w[1 + l->channels + i] = node[number % NODES] / sqrt(h);
    total *= weight[number % NODES];
  }
  l->w[1 + l->channels] = coin;
  AG_CHECK(rhs(l, t, z, dz) == 0);
  AG_CHECK(s->step(s, &l->flow, t, h, z, dz, z1, dz1, 0, 1, error, work) == 0);
  AG_CHECK(ag_work_settle(l->work, t + h, z1, l->c, &changed) == AG_FINE);
  return total;
}

/* Adds the expectations after n steps of h from z to the state and its squares in sum. */
static void expect(lab *l, const ag_stepper *s, double t, double h, int n, double part, const double *z, double *sum) {
  double z1[MOST], x[MOST];
  const bool tosses = s->draws == AG_WIENER_COIN;
  int count = 1;
  if (!n) {
    ag_work_full(l->work, t, z, l->c, x);
    for (int i = 0; i < l->n_x; i++) sum[i] += part * x[i], sum[MOST + i] += part * x[i] * x[i];
    return;
  }
  for (int i = 0; i < l->channels; i++) count *= NODES;
  for (int number = 0; number < count; number++)
    for (int coin = tosses ? -1 : 1; coin <= 1; coin += 2) {
      const double p = step(l, s, t, h, number, coin, z, z1);
      expect(l, s, t + h, h, n - 1, part * p * (tosses ? 0.5 : 1), z1, sum);
    }
}

/* From the start, by a method. */
static void expect_by(lab *l, const char *method, double h, int n, double *sum) {
  const ag_stepper *s = ag_stepper_find(method);
  lab_method(l, s);
  expect(l, s, l->t, h, n, 1, l->z0, sum);
  ag_work_free(l->work);
}

static double gap(lab *l, const char *method, double h) {
  double one[2 * MOST] = {0}, two[2 * MOST] = {0}, worst = 0;
  expect_by(l, method, h, 1, one);
  expect_by(l, "ninomiya_victoir", h / 2, 2, two);
  for (int i = 0; i < 2 * MOST; i++) worst = fmax(worst, fabs(one[i] - two[i]));
  return worst;
}

static void test_orders(const char *text, ag_noise_class noise) {
  static const char *const methods[] = {
      "euler_heun",      "rk4", "midpoint", "commutator_free2", "euler_maruyama", "implicit_euler_maruyama",
      "ninomiya_victoir"};
  lab l;
  lab_init(&l, text);
  AG_CHECK(ag_system_noise(l.sys) == noise);
  for (size_t k = 0; k < sizeof methods / sizeof *methods; k++) {
    const double declared = ag_stepper_find(methods[k])->weak[noise - AG_NOISE_ADDITIVE];
    const double order = log2(gap(&l, methods[k], 0x1p-6) / gap(&l, methods[k], 0x1p-7)) - 1;
    if (!(fabs(order - declared) <= 0.1))
      fprintf(stderr, "%s, %s: weak order %.3f, declared %g\n", ag_model_name(l.m), methods[k], order, declared);
    AG_CHECK(fabs(order - declared) <= 0.1);
  }
  lab_done(&l);
}

int main(void) {
  test_orders(ROUTH("noise W transport Omega = 0.6*[0.6, 0, 0.8]\n"), AG_NOISE_COMMUTATIVE);
  test_orders(ROUTH("noise W transport Omega = 0.6*Gamma\nnoise V transport Omega = 0.5*e1\n"), AG_NOISE_GENERAL);
  /* amplitudes that depend on position, velocity, time and a process; a rolling constraint */
  test_orders(
      "model plane\nconfig x in R, y in R\nprocess N drift -N\nlagrangian 1/2*(1 + x^2)*x'^2 + 1/2*y'^2 - x*y\n"
      "noise W force x' = 0.5*x'*y + N, y' = 0.3*t*x\nnoise V transport y' = 0.4*cos(x)\nnoise W process N = 0.3\n"
      "start x = 0.5, y = 0.3, x' = 1, y' = -0.4, N = 0.2\n",
      AG_NOISE_GENERAL);
  test_orders("model sleigh\nconfig x in R, y in R, phi in S1\n"
              "lagrangian 1/2*((x' - 0.3*sin(phi)*phi')^2 + (y' + 0.3*cos(phi)*phi')^2 + phi'^2)\n"
              "constraint x'*sin(phi) = y'*cos(phi)\nnoise W transport phi' = 0.6\nnoise V force x' = 0.5*x'\n"
              "start phi' = 1, x' = 1\n",
              AG_NOISE_GENERAL);
  return ag_check_report();
}
