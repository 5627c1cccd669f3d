/* SPDX-License-Identifier: MIT
 * Strong orders on a rolling body: the Routh sphere with one channel (commutative noise) and with two (general), every
 * method that the table declares for such noise, against a fine step on the same paths. The paths are fixed; of a slope
 * between steps of 1/32 and 1/256 from these paths the error is about 0.04. The reference takes steps of 1/4096,
 * below which these paths count as straight: it is exact for the Levy areas that the methods of the log-ODE read, and
 * changes the slopes of the others by less than 0.02. Methods of high order and those with an error estimate, which
 * differ from others by their stages alone, are left out. */
#include <math.h>
#include <stdlib.h>

#include "lang/lang.h"
#include "run/run.h"
#include "tests/check.h"

#define ROUTH(noise) \
  "model routh\nparam m = 1, r = 1, l = 0.2, g = 1, I1 = 0.35, I3 = 0.4\nconfig R in SO3 velocity Omega\n" \
  "config x in R^3\nlet Gamma = R^T*e3\nlet s = r*Gamma + l*e3\nlet I = diag(I1, I1, I3)\n" \
  "lagrangian 1/2*dot(Omega, I*Omega) + m/2*dot(x', x') - m*g*dot(x, e3)\nconstraint x' = R*cross(Omega, s)\n" noise \
  "start R = rotation(e2, -0.3), Omega = [0.3, 0.1, 1.0], x = [0, 0, r + l*Gamma[3]]\n"

enum { PATHS = 64, COARSE = 16, FINE = 128, BASE = 2048, MOST = 12 }; /* steps up to t = 1/2 */

typedef struct lab {
  ag_ctx ctx;
  ag_model *m;
  ag_system *sys;
  double *x0, reference[PATHS][MOST];
  bool *columns;
  int n_value, channels;
} lab;

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
  for (int i = 0; i < record.n_column; i++) {
    l->columns[i] = !strcmp(record.columns[i].name, "Omega") || !strcmp(record.columns[i].name, "R");
    if (l->columns[i]) l->n_value += record.columns[i].rows * record.columns[i].cols;
  }
  AG_CHECK(l->n_value == MOST);
  ag_record_done(&record);
}

static void lab_done(lab *l) {
  ag_system_free(l->sys);
  ag_model_free(l->m);
  ag_ctx_done(&l->ctx);
  free(l->x0), free(l->columns);
}

/* The wanted numbers at t = 1/2. */
static void follow(lab *l, const ag_stepper *method, int steps, unsigned long long path, double *values) {
  const unsigned long long row = (unsigned long long)steps;
  int reached = 0;
  double nearest[2];
  ag_wiener w = {.seed = 7, .base = 0x1p-6, .channels = l->channels};
  AG_CHECK(ag_wiener_area_level(w.base) == 6 && ag_wiener_fit(&w, 0.5 / steps, nearest));
  ag_ensemble_options o = {.path = w,
                           .paths = 1,
                           .method = method,
                           .n_row = 1,
                           .row_step = &row,
                           .columns = l->columns,
                           .interpreted = true};
  AG_CHECK(ag_ensemble_path(&l->ctx, l->sys, ag_system_param_values(l->sys), l->x0, &o, path, values, &reached) ==
           AG_OK);
  AG_CHECK(reached == 1);
}

static double error_of(lab *l, const ag_stepper *method, int steps) {
  double values[MOST], sum = 0;
  for (int p = 0; p < PATHS; p++) {
    follow(l, method, steps, (unsigned long long)p, values);
    for (int i = 0; i < l->n_value; i++) sum += pow(values[i] - l->reference[p][i], 2);
  }
  return sqrt(sum / PATHS);
}

static void test_orders(const char *text, ag_noise_class noise, const char *reference) {
  lab *l = malloc(sizeof *l);
  lab_init(l, text);
  AG_CHECK(ag_system_noise(l->sys) == noise);
  for (int p = 0; p < PATHS; p++) follow(l, ag_stepper_find(reference), BASE, (unsigned long long)p, l->reference[p]);
  for (int i = 0; i < ag_stepper_count(); i++) {
    const ag_stepper *s = ag_stepper_at(i);
    const double declared = s->strong[noise - AG_NOISE_ADDITIVE];
    if (s->needs & AG_NEEDS_BATH) continue;     /* this noise is not that of a temperature */
    if (s->needs & AG_NEEDS_RESIDUAL) continue; /* variational_noise_test.c */
    if (!(declared > 0) || s->order > 4 || s->order == 3 || s->error_order || (ag_stepper_solves(s) && s->n_stage > 3))
      continue;
    const double coarse = error_of(l, s, COARSE), fine = error_of(l, s, FINE);
    const double order = log(coarse / fine) / log((double)FINE / COARSE);
    if (!(fabs(order - declared) <= 0.1))
      fprintf(stderr, "%s, %d channels: strong order %.3f, declared %g\n", s->name, l->channels, order, declared);
    AG_CHECK(fabs(order - declared) <= 0.1);
  }
  lab_done(l);
  free(l);
}

int main(void) {
  test_orders(ROUTH("noise W transport Omega = 0.6*[0.6, 0, 0.8]\n"), AG_NOISE_COMMUTATIVE, "rk4");
  test_orders(ROUTH("noise W transport Omega = 0.4*e3\nnoise V transport Omega = 0.3*e1\n"), AG_NOISE_GENERAL, "rk4");
  return ag_check_report();
}
