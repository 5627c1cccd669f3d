/* SPDX-License-Identifier: MIT
 * Strong orders of variational steps on paths with noise, every row of the table on every model that it fits: root mean
 * square over paths of the distance from a fine step on the same paths. The paths are fixed; of a slope between steps
 * of 1/32 and 1/256 from these paths the error is about 0.04. The reference takes steps of 1/2048 by another method. */
#include <math.h>
#include <stdlib.h>

#include "lang/lang.h"
#include "run/run.h"
#include "tests/check.h"

enum { PATHS = 128, COARSE = 16, FINE = 128, BASE = 1024, MOST = 32 }; /* steps up to t = 1/2 */

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

int main(void) {
  test_strong(SLEIGH("noise W transport omega = 0.4\nnoise V transport u = 0.3\n"), AG_NOISE_GENERAL, 7, NULL);
  test_strong(SLEIGH("noise W transport omega = 0.4, u = 0.3\n"), AG_NOISE_COMMUTATIVE, 7, NULL);
  test_strong(DISK, AG_NOISE_COMMUTATIVE, 7, "dla_midpoint, verlet");
  test_strong(PUSHED, AG_NOISE_COMMUTATIVE, 10, NULL);
  test_strong(BODY, AG_NOISE_GENERAL, 10, "variational_euler, dla_midpoint, cayley_verlet, rattle");
  test_strong(VEHICLE, AG_NOISE_COMMUTATIVE, 8, "se3_euler, verlet");
  test_strong(FROZEN, AG_NOISE_COMMUTATIVE, 7, "dla_midpoint, rattle, verlet");
  return ag_check_report();
}
