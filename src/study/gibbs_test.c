/* SPDX-License-Identifier: MIT
 * Which law friction and temperature keep: verdicts on systems with known answers, the same with a breaking term, and
 * two of them against means over paths. */
#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "check.h"
#include "study/study.h"

static const ag_derive_options derive = {.growth = true};

#define OSCILLATOR "model m\nconfig q in R\nlagrangian 1/2*q'^2 - 0.8*q^2\nfriction q' = 0.6\ntemperature 0.8\n"
#define GYROSCOPIC \
  "model m\nconfig q in R^2\nlagrangian 1/2*dot(q', q') - 0.8*dot(q, q)\nforce q' = [q'[2], -q'[1]]\n" \
  "friction q'[1] = 0.6\ntemperature 0.8\n"
#define SLEIGH \
  "model m\nparam a = 0.3, c = 0.5\nconfig x in R, y in R, phi in S1\n" \
  "lagrangian 1/2*((x' - a*sin(phi)*phi')^2 + (y' + a*cos(phi)*phi')^2) + 0.2*phi'^2\n" \
  "constraint cos(phi)*y' = sin(phi)*x'\nframe u = cos(phi)*x' + sin(phi)*y', w = phi'\n" \
  "friction cos(phi)*x' + sin(phi)*y' = c\nfriction phi' = 0.3\ntemperature 0.7\n"
#define TURNING(more) \
  "model m\nconfig x in R, y in R\nlagrangian 1/2*x'^2 + " more "\nconstraint cos(t)*y' = sin(t)*x'\n" \
  "friction x' = 0.3\ntemperature 0.7\n"
#define BALL \
  "model m\nparam J = [0.1, 0.6, 0.6]\nconfig R in SO3 velocity w\nconfig x in R^3\nlet G = R^T*e3\n" \
  "lagrangian 1/2*dot(w, diag(J[1], J[2], J[3])*w) + 1/2*dot(x', x')\nconstraint x' = R*cross(w, G)\n" \
  "friction w = 0.8\ntemperature 0.6\nstart R = rotation(e2, 1)\n"
#define PAIR \
  "model m\nconfig a in S1, b in S1\nlagrangian 1/2*a'^2 + 1/2*b'^2 + 1/2*a'*b'*cos(a - b) + cos(a) + cos(b)\n" \
  "friction a' - b' = 0.7\ntemperature 0.5\n"
#define TRIMER \
  "model m\nconfig x in R^2, y in R^2, z in R^2\nlagrangian 1/2*(dot(x', x') + dot(y', y') + dot(z', z'))\n" \
  "holonomic dot(y - x, y - x) = 1\nholonomic dot(z - y, z - y) = 1\nfriction x' = 1\ntemperature 1\n" \
  "start x = [-1, 0], z = [1, 0]\n"

/* Without friction the constraint exerts no force; with it, the stationary state turns with w. */
#define SPUN \
  "model m\nparam w = 0.4\nconfig n in S2, phi in S1\nlagrangian 1/2*dot(n', n') + 0.3*phi'^2 - 2*n[3]\n" \
  "constraint phi' = dot(n', cross(e3, n)) + w\nfriction n' = 0.1\ntemperature 0.3\nstart n = [0.6, 0, 0.8]\n"
/* Too many roots to be read exactly. */
#define CROWD(more) \
  "model m\nparam K = 6 integer\nconfig x in R^3 [K]\nconfig R in SO3 velocity W [K]\n" \
  "let U(i, j) = norm(x[i] - x[j])*(1 + 0.3*dot(R[i]*e1, R[j]*e2))\n" \
  "lagrangian sum(i in 1..K, 1/2*dot(x[i]', x[i]') + 1/2*dot(W[i], diag(1, 2, 2.5)*W[i]))" more \
  " - sum(i in 1..K-1, sum(j in i+1..K, U(i, j)))\nfriction x' = 0.4, W = 0.3\ntemperature 0.5\n" \
  "start x[i] = [i, i^2, 0] for i in 1..K\n"

typedef struct row {
  const char *name, *text, *set[2];
  ag_gibbs_kind kind;
  const char *positions, *reason; /* part of it; NULL: any */
} row;

static const row rows[] = {
    {"oscillator", OSCILLATOR, {0}, AG_GIBBS_VOLUME, "uniform", "divergence vanishes"},
    {"gyroscopic", GYROSCOPIC, {0}, AG_GIBBS_VOLUME, "uniform", NULL},
    {"pushed", OSCILLATOR "force q' = -0.3*q'\n", {0}, AG_GIBBS_UNDECIDED, NULL, "forces other than friction do work"},
    {"driven", OSCILLATOR "force q' = sin(t)\n", {0}, AG_GIBBS_UNDECIDED, NULL, "forces other than friction do work"},
    {"shaken", OSCILLATOR "noise W force q' = 1\n", {0}, AG_GIBBS_UNDECIDED, NULL, "does not come from friction"},
    {"turning blade", TURNING("y'^2"), {0}, AG_GIBBS_UNDECIDED, NULL, "depends on time"},
    {"turning blade, one mass", TURNING("1/2*y'^2"), {0}, AG_GIBBS_VOLUME, "uniform", NULL},
    {"process", OSCILLATOR "process N\n", {0}, AG_GIBBS_UNDECIDED, NULL, "processes"},
    {"damped, no temperature",
     "model m\nconfig q in R\nlagrangian 1/2*q'^2\nfriction q' = 1\n",
     {0},
     AG_GIBBS_NONE,
     NULL,
     NULL},
    {"pair, degenerate friction", PAIR, {0}, AG_GIBBS_VOLUME, "weighted", NULL},
    {"trimer", TRIMER, {0}, AG_GIBBS_VOLUME, "weighted", NULL},
    {"sleigh", SLEIGH, {0}, AG_GIBBS_NEITHER, NULL, "brackets contradict"},
    {"sleigh, nearly balanced", SLEIGH, {"a", "1e-9"}, AG_GIBBS_NEITHER, NULL, "brackets contradict"},
    {"sleigh, balanced", SLEIGH, {"a", "0"}, AG_GIBBS_VOLUME, "uniform", NULL},
    {"Chaplygin ball", BALL, {0}, AG_GIBBS_DENSITY, "uniform", NULL},
    {"spun, affine", SPUN, {0}, AG_GIBBS_UNDECIDED, NULL, "affine"},
    {"spun, linear", SPUN, {"w", "0"}, AG_GIBBS_VOLUME, "weighted", NULL},
    {"crowd", CROWD(""), {0}, AG_GIBBS_VOLUME, "uniform", "Hamiltonian"},
    {"crowd, mass by place", CROWD(" + x[1][1]^2*x[2]'[1]^2"), {0}, AG_GIBBS_VOLUME, "undecided", "Hamiltonian"},
    {"crowd, pushed",
     CROWD("") "force x[1]' = cross(e3, x[1])\n",
     {0},
     AG_GIBBS_UNDECIDED,
     NULL,
     "forces other than friction"},
    {"crowd, in time", CROWD(" - sin(t)*x[1][1]"), {0}, AG_GIBBS_UNDECIDED, NULL, "depend on time"},
    {"crowd, guided",
     CROWD("") "constraint x[1]'[1] = x[1][2]*x[1]'[3]\n",
     {0},
     AG_GIBBS_UNDECIDED,
     NULL,
     "read exactly"},
    {"homogeneous ball", BALL, {"J", "[0.4, 0.4, 0.4]"}, AG_GIBBS_VOLUME, "uniform", NULL},
};

static void decide(const row *r) {
  anagyre_model *m = anagyre_open_text("m.nh", r->text);
  if (r->set[0]) (void)anagyre_set(m, r->set[0], r->set[1]);
  ag_system *sys = ag_api_system(m, &derive);
  ag_arena *arena = ag_arena_create();
  ag_gibbs b = {0};
  if (!sys) fprintf(stderr, "%s: %s\n", r->name, anagyre_error(m));
  AG_CHECK(sys != NULL);
  if (sys) ag_gibbs_find(&b, arena, ag_api_model(m), sys);
  const bool proved = b.kind == AG_GIBBS_NEITHER ? b.lo * b.hi > 0
                      : b.kind == AG_GIBBS_VOLUME || b.kind == AG_GIBBS_DENSITY
                          ? b.law && b.bound < 1e-20 && !strcmp(b.proof, "identity")
                          : !b.proof && !b.law;
  const bool right = b.kind == r->kind && proved &&
                     (!r->positions || (b.positions && !strcmp(b.positions, r->positions))) &&
                     (!r->reason || (b.reason && strstr(b.reason, r->reason)));
  if (!right)
    fprintf(stderr, "%s: %s, %s, positions %s\n", r->name, b.kind ? ag_gibbs_word(b.kind) : "-",
            b.reason ? b.reason : "-", b.positions ? b.positions : "-");
  AG_CHECK(right);
  ag_arena_free(arena);
  anagyre_close(m);
}

/* ---- means over paths ---- */

enum { PATHS = 4096 };

/* Means and standard errors of the n observables of a model after this many steps of 1/64. */
static void mean_of(const char *text, int n, unsigned long long steps, double *mean, double *error) {
  anagyre_model *m = anagyre_open_text("m.nh", text);
  ag_system *sys = ag_api_system(m, &derive);
  AG_CHECK(sys != NULL);
  ag_record record;
  ag_record_init(&record, sys);
  bool *wanted = ag_heap_alloc((size_t)record.n_column + 1);
  double *x0 = ag_heap_alloc(sizeof *x0 * (size_t)(ag_system_dims(sys)->x + 1)),
         *values = ag_heap_alloc(sizeof *values * PATHS * (size_t)n);
  for (int i = 0; i < record.n_column; i++) wanted[i] = record.columns[i].kind == AG_COL_OBSERVABLE;
  ag_system_state0(sys, x0);
  const ag_ensemble_options o = {.path = {.seed = 1, .base = 0x1p-6, .channels = ag_system_dims(sys)->channel},
                                 .method = ag_stepper_find("euler_heun"),
                                 .columns = wanted};
  ag_bundle *b;
  AG_CHECK(ag_bundle_create(ag_api_ctx(m), sys, ag_system_param_values(sys), x0, &o, &b) == AG_OK);
  (void)ag_bundle_follow(b, 0, steps, 0, PATHS, values);
  AG_CHECK(ag_bundle_n_value(b) == n);
  for (int k = 0; k < n; k++) {
    double square = 0;
    mean[k] = 0;
    for (int i = 0; i < PATHS; i++) mean[k] += values[i * n + k] / PATHS;
    for (int i = 0; i < PATHS; i++) square += (values[i * n + k] - mean[k]) * (values[i * n + k] - mean[k]);
    error[k] = sqrt(square / (PATHS - 1) / PATHS);
  }
  ag_bundle_free(b);
  free(wanted), free(x0), free(values);
  ag_record_done(&record);
  anagyre_close(m);
}

/* Chaplygin's ball: Gamma is uniform. Without rho it would have the weight 1/rho, rho^2 = 1 - Gamma.(J + 1)^-1 Gamma.
 */
static void test_ball(void) {
  double mean, error, over = 0, under = 0;
  mean_of(BALL "observable square = G[1]^2\n", 1, 12 * 64, &mean, &error);
  for (int i = 0; i < 1000; i++) {
    const double s = pow((i + 0.5) / 1000, 2), weight = 1 / sqrt(1 - s / 1.1 - (1 - s) / 1.6);
    over += s * weight, under += weight;
  }
  AG_CHECK(error < 0.006 && fabs(mean - 1.0 / 3) < 4 * error && fabs(mean - over / under) > 6 * error);
}

/* The sleigh drifts: the mean of c u is that of a w^2, and not 0 as by a law of Gibbs. */
static void test_sleigh(void) {
  double mean[2], error[2];
  mean_of(SLEIGH "observable balance = c*u - a*w^2, speed = u\n", 2, 16 * 64, mean, error);
  AG_CHECK(error[0] < 0.02 && fabs(mean[0]) < 4 * error[0] && mean[1] > 10 * error[1]);
}

int main(void) {
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) decide(&rows[i]);
  test_ball();
  test_sleigh();
  return ag_check_report();
}
