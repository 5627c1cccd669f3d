/* SPDX-License-Identifier: MIT
 * Variational steps on paths with noise, every row of the table on every model that it fits.
 *
 * Strong orders: root mean square over paths of the distance from a fine step on the same paths. The paths are fixed;
 * of a slope between steps of 1/32 and 1/256 from these paths the error is about 0.04. The reference takes steps of
 * 1/2048 by another method.
 *
 * Weak orders: expectations after one step, by quadrature over the increments (the trapezoidal rule, exact to rounding
 * under a Gaussian), against the exact moments, which obey linear equations. Nothing is drawn.
 *
 * Stationary energies of the oscillator with friction at a temperature: a step is linear in the state and the noise,
 * its matrices are read off, and the covariance is solved for. */
#include <math.h>
#include <stdlib.h>

#include "lang/lang.h"
#include "run/run_internal.h"
#include "tests/check.h"

enum { PATHS = 128, COARSE = 16, FINE = 128, BASE = 1024, MOST = 32, MOMENTS = 6 }; /* steps up to t = 1/2 */

typedef struct lab {
  ag_ctx ctx;
  ag_model *m;
  ag_system *sys;
  double *x0, reference[PATHS][MOST];
  bool *columns;
  int n_value, channels;
} lab;

/* Coordinates and velocities are what is compared. */
static void lab_init(lab *l, const char *text) {
  *l = (lab){0};
  AG_CHECK(ag_lang_read(&l->ctx, "model", text, strlen(text), 0, NULL, &l->m) == AG_OK);
  AG_CHECK(ag_system_create(&l->ctx, l->m, &(ag_derive_options){0}, &l->sys) == AG_OK);
  l->x0 = calloc((size_t)ag_system_dims(l->sys)->x + 1, sizeof(double));
  ag_system_state0(l->sys, l->x0);
  (void)ag_layout_rows(l->sys, AG_LAYOUT_NOISE, &l->channels);
  ag_record record;
  ag_record_init(&record, l->sys);
  l->columns = calloc((size_t)record.n_column + 1, sizeof(bool));
  for (int i = 0, n = 0; i < record.n_column && n < 2 * ag_model_n_coords(l->m); i++) {
    if (!strcmp(record.columns[i].name, "t")) continue;
    l->columns[i] = true, n++;
    l->n_value += record.columns[i].rows * record.columns[i].cols;
  }
  AG_CHECK(l->n_value <= MOST);
  ag_record_done(&record);
}

static void lab_done(lab *l) {
  ag_system_free(l->sys);
  ag_model_free(l->m);
  ag_ctx_done(&l->ctx);
  free(l->x0), free(l->columns);
}

/* ---- strong ---- */

/* The wanted numbers at t = 1/2. False: the method is refused. */
static bool follow(lab *l, const ag_stepper *method, int steps, unsigned long long path, double *values) {
  const unsigned long long row = (unsigned long long)steps;
  int reached = 0;
  double nearest[2];
  ag_wiener w = {.seed = 7, .base = 0x1p-6, .channels = l->channels};
  AG_CHECK(ag_wiener_fit(&w, 0.5 / steps, nearest));
  ag_ensemble_options o = {.path = w,
                           .paths = 1,
                           .method = method,
                           .n_row = 1,
                           .row_step = &row,
                           .columns = l->columns,
                           .interpreted = true};
  if (ag_ensemble_path(&l->ctx, l->sys, ag_system_param_values(l->sys), l->x0, &o, path, values, &reached) != AG_OK)
    return false;
  AG_CHECK(reached == 1);
  return true;
}

static double error_of(lab *l, const ag_stepper *method, int steps) {
  double values[MOST], sum = 0;
  for (int p = 0; p < PATHS; p++) {
    AG_CHECK(follow(l, method, steps, (unsigned long long)p, values));
    for (int i = 0; i < l->n_value; i++) sum += pow(values[i] - l->reference[p][i], 2);
  }
  return sqrt(sum / PATHS);
}

static void test_row(lab *l, const ag_stepper *s, double declared) {
  const double coarse = error_of(l, s, COARSE), fine = error_of(l, s, FINE);
  const double order = log(coarse / fine) / log((double)FINE / COARSE);
  if (!(fabs(order - declared) <= 0.1))
    fprintf(stderr, "%s on %s: strong order %.3f, declared %g\n", s->name, ag_model_name(l->m), order, declared);
  AG_CHECK(fabs(order - declared) <= 0.1);
}

/* count: how many rows fit; the others refuse. only: those that are measured, NULL: all. */
static void test_strong(const char *text, ag_noise_class noise, int count, const char *only) {
  lab *l = malloc(sizeof *l);
  int n = 0;
  double values[MOST];
  lab_init(l, text);
  AG_CHECK(ag_system_noise(l->sys) == noise);
  for (int p = 0; p < PATHS; p++)
    AG_CHECK(follow(l, ag_stepper_find("rk4"), BASE, (unsigned long long)p, l->reference[p]));
  for (int i = 0; i < ag_stepper_count(); i++) {
    const ag_stepper *s = ag_stepper_at(i);
    if (!(s->needs & AG_NEEDS_RESIDUAL) || !follow(l, s, COARSE, 0, values)) continue;
    if (!only || strstr(only, s->name)) test_row(l, s, s->strong[noise - AG_NOISE_ADDITIVE]);
    n++;
  }
  if (n != count) fprintf(stderr, "%s: %d variational methods fit, not %d\n", ag_model_name(l->m), n, count);
  AG_CHECK(n == count);
  lab_done(l);
  free(l);
}

#define SLEIGH(noise) \
  "model sleigh\nparam m = 1, J = 0.25, a = 0.5\nconfig x in R, y in R, th in S1\n" \
  "let f = [cos(th), sin(th)], n = [-sin(th), cos(th)]\nlet C = [x, y] + a*f\n" \
  "lagrangian m/2*dot(C', C') + J/2*th'^2\nconstraint dot([x', y'], n) = 0\n" \
  "frame u = dot([x', y'], f), omega = th'\n" noise "start u = 0.4, omega = 1\n"

static const char *const DISK =
    "model disk\nparam m = 1, R = 1, g = 2, A = m*R^2/4, B = m*R^2/2\nconfig theta in S1\n"
    "config phi in S1, psi in S1\nconfig x in R, y in R\n"
    "let xi = x'*cos(phi) + y'*sin(phi) + R*psi'\nlet eta = -x'*sin(phi) + y'*cos(phi)\n"
    "lagrangian m/2*((xi - R*(phi'*sin(theta) + psi'))^2 + eta^2*sin(theta)^2 + (eta*cos(theta) + R*theta')^2)\n"
    "         + 1/2*(A*(theta'^2 + phi'^2*cos(theta)^2) + B*(phi'*sin(theta) + psi')^2) - m*g*R*cos(theta)\n"
    "constraint xi = 0\nconstraint eta = 0\n"
    "noise W transport psi' = 0.4, theta' = 0.2, phi' = 0.3\n"
    "start theta = 0.3, theta' = 0.2, phi' = 0.5, psi' = 1\n";

/* The mass depends on the place: the noise of the velocities is not additive. */
static const char *const PUSHED =
    "model pushed\nconfig x in R, y in R\n"
    "lagrangian 1/2*(2 + cos(x))*x'^2 + 1/2*sin(x)*x'*y' + 1/2*(2 + x^2)*y'^2 - cos(x + y)\n"
    "noise W potential 0.8*sin(x - 2*y)\nnoise V force x' = 0.5*y, y' = 0.3\n"
    "start x = 0.3, y = -0.2, x' = 0.7, y' = 0.5\n";

/* Constant on the group: the axes of two channels do not commute. */
static const char *const BODY =
    "model body\nconfig R in SO3 velocity Omega\nlagrangian 1/2*dot(Omega, diag(0.7, 1, 1.4)*Omega) - dot(R*e3, e3)\n"
    "noise W transport Omega = [0.5, 0, 0.3]\nnoise V transport Omega = [0, 0.6, 0]\n"
    "start R = rotation(e2, 0.4), Omega = [0.3, 0.1, 1.0]\n";

/* A rotation and a vector as one factor, shaken in the body. */
static const char *const VEHICLE =
    "model vehicle\nconfig R in SO3 velocity Omega\nconfig x in R^3\nlet V = R^T*x'\n"
    "lagrangian 1/2*dot(Omega, diag(1, 0.8, 0.5)*Omega) + 1/2*dot(V, diag(1.6, 2, 1)*V)\n"
    "noise W transport Omega = [0.4, 0, 0.2], x' = R*[0.3, 0.2, 0]\n"
    "start Omega = [0.3, 0.1, 1.0], x' = [0.5, 0.2, 0.1]\n";

/* Frozen: put in after the variation. */
static const char *const FROZEN = "model frozen\nconfig x in R, y in R\nlagrangian 1/2*(x'^2 + y'^2) - x^2*y^2/2\n"
                                  "noise W transport x' = 0.5*sin(y), y' = 0.3*x frozen\nstart x = 1, y' = 1\n";

/* ---- one step with increments of one's own ---- */

typedef struct stage {
  ag_ctx ctx;
  ag_model *m;
  ag_system *sys;
  ag_mover mover;
  double x[8];
} stage;

/* False: the method does not fit. */
static bool stage_init(stage *s, const char *text, const ag_stepper *method, double h) {
  ag_run_options o;
  memset(s, 0, sizeof *s);
  AG_CHECK(ag_lang_read(&s->ctx, "model", text, strlen(text), 0, NULL, &s->m) == AG_OK);
  AG_CHECK(ag_system_create(&s->ctx, s->m, &(ag_derive_options){0}, &s->sys) == AG_OK);
  ag_run_defaults(&o);
  o.method = method, o.dt = o.t1 = h, o.noise = AG_NOISE_PATH, o.engine = AG_ENGINE_INTERPRETED;
  ag_run_prepare(s->sys, &o);
  ag_mover_create(&s->mover, s->sys, ag_system_param_values(s->sys), &o, false);
  AG_CHECK(ag_system_dims(s->sys)->x <= 8);
  return ag_run_check(&s->ctx, s->sys, &o) == AG_OK;
}

static void stage_done(stage *s) {
  ag_mover_free(&s->mover);
  ag_system_free(s->sys);
  ag_model_free(s->m);
  ag_ctx_done(&s->ctx);
}

/* From x = [q | xi], in place. */
static void stage_step(stage *s, double h, const double *dW, double *x) {
  ag_mover *m = &s->mover;
  double error[2];
  AG_CHECK(!ag_work_reduce(m->work, 0, x, m->c, m->z));
  for (int i = 0; i < ag_system_dims(s->sys)->channel; i++) m->step[1 + i] = dW[i] / h;
  memset(m->dz, 0, sizeof(double) * (size_t)m->n_carry);
  AG_CHECK(!ag_mover_rhs(m, 0, m->z, m->dz));
  AG_CHECK(!ag_mover_step(m, 0, h, 0, 1, error));
  ag_work_full(m->work, h, m->z1, m->c, x);
}

/* ---- weak ---- */

/* x' an Ornstein-Uhlenbeck process, y' driven by its square; z = x', v = y'. Moments: 1, z, z^2, z^3, v, v z. */
static void driven_moments(const double *x, double *m) {
  const double z = x[2], v = x[3], all[MOMENTS] = {1, z, z * z, z * z * z, v, v * z};
  memcpy(m, all, sizeof all);
}
static void driven_rates(const double *m, double *r) {
  const double s = 0.36;
  r[0] = 0, r[1] = -m[1], r[2] = s * m[0] - 2 * m[2], r[3] = 3 * s * m[1] - 3 * m[3];
  r[4] = m[2] - m[4], r[5] = m[3] - 2 * m[5];
}

/* x shaken, y' driven by its square; v = y'. Moments: 1, x, x^2, x^3, v, v x. */
static void moved_moments(const double *x, double *m) {
  const double z = x[0], v = x[3], all[MOMENTS] = {1, z, z * z, z * z * z, v, v * z};
  memcpy(m, all, sizeof all);
}
static void moved_rates(const double *m, double *r) {
  const double s = 0.36;
  r[0] = r[1] = 0, r[2] = s * m[0], r[3] = 3 * s * m[1], r[4] = m[2] - m[4], r[5] = m[3] - m[5];
}

/* Linear in (q, p): drift A, fields B_i. Moments: q, p, q^2, q p, p^2. */
static const double A[4] = {0, 1, -1.3, -0.4}, KICK[4] = {0, 0, 0.7, 0}, SHIFT[4] = {0.5, 0, 0, -0.5};

static void linear_moments(const double *x, double *m) {
  const double all[MOMENTS] = {x[0], x[1], x[0] * x[0], x[0] * x[1], x[1] * x[1], 0};
  memcpy(m, all, sizeof all);
}

static void times(const double *a, const double *b, double *out) {
  for (int i = 0; i < 4; i++) out[i] = a[i / 2 * 2] * b[i % 2] + a[i / 2 * 2 + 1] * b[2 + i % 2];
}

/* With G = A + sum B_i^2 / 2: m' = G m, P' = G P + P G^T + sum B_i P B_i^T. */
static void linear_rates(int n, const double *const *B, const double *m, double *r) {
  const double P[4] = {m[2], m[3], m[3], m[4]};
  double G[4], square[4], BP[4], GP[4];
  memcpy(G, A, sizeof G);
  memset(r, 0, sizeof(double) * MOMENTS);
  for (int i = 0; i < n; i++) {
    times(B[i], B[i], square);
    times(B[i], P, BP);
    for (int k = 0; k < 4; k++) G[k] += square[k] / 2;
    r[2] += BP[0] * B[i][0] + BP[1] * B[i][1], r[3] += BP[0] * B[i][2] + BP[1] * B[i][3];
    r[4] += BP[2] * B[i][2] + BP[3] * B[i][3];
  }
  times(G, P, GP);
  r[0] = G[0] * m[0] + G[1] * m[1], r[1] = G[2] * m[0] + G[3] * m[1];
  r[2] += 2 * GP[0], r[3] += GP[1] + GP[2], r[4] += 2 * GP[3];
}
static void kick_rates(const double *m, double *r) { linear_rates(1, (const double *[]){KICK}, m, r); }
static void shift_rates(const double *m, double *r) { linear_rates(1, (const double *[]){SHIFT}, m, r); }
static void both_rates(const double *m, double *r) { linear_rates(2, (const double *[]){KICK, SHIFT}, m, r); }

#define LINEAR(noise) \
  "model linear\nconfig q in R\nlagrangian 1/2*q'^2 - 1.3*q^2/2\nforce q' = -0.4*q'\n" noise "start q = 0.7, q' = " \
  "0.4\n"

enum { N_WEAK = 5 };
static const struct {
  const char *name, *text;
  ag_noise_class noise;
  int channels, count; /* how many methods fit */
  void (*moments)(const double *x, double *m);
  void (*rates)(const double *m, double *r);
} weak[N_WEAK] = {
    {"driven",
     "model driven\nconfig x in R, y in R\nlagrangian 1/2*(x'^2 + y'^2)\nforce x' = -x', y' = x'^2 - y'\n"
     "noise W force x' = 0.6\nstart x' = 0.7, y' = 0.4\n",
     AG_NOISE_ADDITIVE, 1, 10, driven_moments, driven_rates},
    {"moved",
     "model moved\nconfig x in R, y in R\nlagrangian 1/2*(x'^2 + y'^2)\nforce y' = x^2 - y'\n"
     "noise W transport x' = 0.6\nstart x = 0.7, y' = 0.4\n",
     AG_NOISE_ADDITIVE, 1, 10, moved_moments, moved_rates},
    {"potential", LINEAR("noise W potential 0.35*q^2\n"), AG_NOISE_COMMUTATIVE, 1, 10, linear_moments, kick_rates},
    {"transport", LINEAR("noise W transport q' = 0.5*q\n"), AG_NOISE_COMMUTATIVE, 1, 7, linear_moments, shift_rates},
    {"both", LINEAR("noise W potential 0.35*q^2\nnoise V transport q' = 0.5*q\n"), AG_NOISE_GENERAL, 2, 7,
     linear_moments, both_rates}};

/* The largest error of a moment after one step; negative: the method does not fit. */
static double weak_error(const ag_stepper *s, int which, double h) {
  double mean[MOMENTS] = {0}, m[MOMENTS], r[MOMENTS], exact[MOMENTS], x[8], start[8], worst = 0;
  const int side = 15, other = weak[which].channels > 1 ? side : 0;
  const double spacing = 0.5, one = spacing / sqrt(2 * acos(-1.0));
  stage *l = malloc(sizeof *l);
  const bool fits = stage_init(l, weak[which].text, s, h);
  AG_CHECK(ag_system_noise(l->sys) == weak[which].noise);
  ag_system_state0(l->sys, start);
  for (int i = -side; i <= side && fits; i++)
    for (int j = -other; j <= other; j++) {
      const double a = spacing * i, b = spacing * j, dW[2] = {sqrt(h) * a, sqrt(h) * b};
      const double weight = (other ? one * one : one) * exp(-(a * a + b * b) / 2);
      memcpy(x, start, sizeof x);
      stage_step(l, h, dW, x);
      weak[which].moments(x, m);
      for (int k = 0; k < MOMENTS; k++) mean[k] += weight * m[k];
    }
  stage_done(l);
  free(l);
  if (!fits) return -1;
  weak[which].moments(start, m);
  memcpy(exact, m, sizeof m);
  for (int k = 1; k < 20; k++) { /* the exponential series of linear equations */
    weak[which].rates(m, r);
    for (int i = 0; i < MOMENTS; i++) exact[i] += m[i] = r[i] * h / k;
  }
  for (int i = 0; i < MOMENTS; i++) worst = fmax(worst, fabs(mean[i] - exact[i]));
  return worst;
}

/* Some rows do better where noise acts on velocities alone, or on positions alone: the least order counts. */
static void test_weak_row(const ag_stepper *s, int *fits) {
  double least[AG_N_NOISE] = {INFINITY, INFINITY, INFINITY};
  for (int i = 0; i < N_WEAK; i++) {
    const double coarse = weak_error(s, i, 0x1p-6);
    if (coarse < 0) continue;
    const double order = log2(coarse / weak_error(s, i, 0x1p-7)) - 1;
    double *at = &least[weak[i].noise - AG_NOISE_ADDITIVE];
    *at = fmin(*at, order);
    fits[i]++;
  }
  for (int k = 0; k < AG_N_NOISE; k++) {
    if (least[k] == INFINITY) continue;
    if (!(fabs(least[k] - s->weak[k]) <= 0.1))
      fprintf(stderr, "%s, class %d: weak order %.3f, declared %g\n", s->name, k, least[k], s->weak[k]);
    AG_CHECK(fabs(least[k] - s->weak[k]) <= 0.1);
  }
}

static void test_weak(void) {
  int fits[N_WEAK] = {0};
  for (int i = 0; i < ag_stepper_count(); i++)
    if (ag_stepper_at(i)->needs & AG_NEEDS_RESIDUAL) test_weak_row(ag_stepper_at(i), fits);
  for (int i = 0; i < N_WEAK; i++) AG_CHECK(fits[i] == weak[i].count);
}

/* ---- stationary ---- */

static const double w2 = 1.7, c = 0.6, kT = 0.8;
static const char *const BATH = "model bath\nconfig q in R\nlagrangian 1/2*q'^2 - 1.7*q^2/2\nfriction q' = 0.6\n"
                                "temperature 0.8\nstart q = 1\n";

/* Two steps in place of one: P += A P A^T, A = A A. */
static void twice(double (*T)[2], double *P) {
  const double a = T[0][0], b = T[0][1], d = T[1][0], g = T[1][1], q = P[0], m = P[1], p = P[2];
  P[0] += a * a * q + 2 * a * b * m + b * b * p;
  P[1] += a * d * q + (a * g + b * d) * m + b * g * p;
  P[2] += d * d * q + 2 * d * g * m + g * g * p;
  T[0][0] = a * a + b * d, T[0][1] = a * b + b * g, T[1][0] = d * a + g * d, T[1][1] = d * b + g * g;
}

/* Kinetic and potential energy over kT/2. 1e-12: the roundings of some hundred operations on numbers of size 1, and
 * what Newton's method leaves. */
static void check_bath(const char *method, double h, double kinetic, double potential) {
  const double none = 0, dW = sqrt(h);
  double T[2][2], P[3], x[8];
  stage *l = malloc(sizeof *l);
  AG_CHECK(stage_init(l, BATH, ag_stepper_find(method), h));
  for (int j = 0; j < 2; j++) {
    x[0] = j == 0, x[1] = j == 1;
    stage_step(l, h, &none, x);
    T[0][j] = x[0], T[1][j] = x[1];
  }
  x[0] = x[1] = 0;
  stage_step(l, h, &dW, x);
  P[0] = x[0] * x[0], P[1] = x[0] * x[1], P[2] = x[1] * x[1];
  stage_done(l);
  free(l);
  for (int round = 0; round < 60; round++) twice(T, P);
  if (!(fabs(P[2] / kT - kinetic) <= 1e-12 && fabs(w2 * P[0] / kT - potential) <= 1e-12))
    fprintf(stderr, "%s, h = %g: %.15g, %.15g instead of %.15g, %.15g\n", method, h, P[2] / kT, w2 * P[0] / kT, kinetic,
            potential);
  AG_CHECK_NEAR(P[2] / kT, kinetic, 1e-12);
  AG_CHECK_NEAR(w2 * P[0] / kT, potential, 1e-12);
}

static void test_stationary(void) {
  for (double h = 0.02; h < 1; h *= 2) {
    const double hot = 1 / (1 - h * c / 2 - h * h * w2 / 4);
    check_bath("variational_euler", h, hot, (1 - h * c / 2) * hot);
    check_bath("dla_midpoint", h, 1, 1);
    check_bath("variational_midpoint", h, 1, 1);
  }
}

int main(void) {
  test_strong(SLEIGH("noise W transport omega = 0.4\nnoise V transport u = 0.3\n"), AG_NOISE_GENERAL, 7, NULL);
  test_strong(SLEIGH("noise W transport omega = 0.4, u = 0.3\n"), AG_NOISE_COMMUTATIVE, 7, NULL);
  test_strong(DISK, AG_NOISE_COMMUTATIVE, 7, "dla_midpoint, verlet");
  test_strong(PUSHED, AG_NOISE_COMMUTATIVE, 10, NULL);
  test_strong(BODY, AG_NOISE_GENERAL, 10, "variational_euler, dla_midpoint, cayley_verlet, rattle");
  test_strong(VEHICLE, AG_NOISE_COMMUTATIVE, 8, "se3_euler, verlet");
  test_strong(FROZEN, AG_NOISE_COMMUTATIVE, 7, "dla_midpoint, rattle, verlet");
  test_weak();
  test_stationary();
  return ag_check_report();
}
