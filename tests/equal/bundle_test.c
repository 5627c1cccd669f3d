/* SPDX-License-Identifier: MIT
 * Bundles: the same numbers as the paths of ensembles, with the same and with shorter steps, in lanes, threads or path
 * by path; a path that cannot be followed is NaN. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lang/lang.h"
#include "run/run.h"
#include "tests/check.h"

static const char text[] = "model m\nconfig x in R, y in R\nlagrangian 1/2*(x'^2 + y'^2) - x^2*y^2\n"
                           "noise W force x' = 0.3*y\nnoise V transport y' = 0.2*x\nstart x = 1, y' = 1\n";
/* The logarithm of a negative number is not finite. */
static const char broken[] = "model m\nconfig x in R\nlagrangian 1/2*x'^2\nnoise W force x' = 1\n"
                             "observable bad = log(x)\nstart x = -1\n";

enum { PATHS = 37, STEPS = 8 };

typedef struct lab {
  ag_ctx ctx;
  ag_model *m;
  ag_system *sys;
  double *x0;
  bool *columns;
  int n_value;
} lab;

static void lab_init(lab *l, const char *source) {
  *l = (lab){0};
  AG_CHECK(ag_lang_read(&l->ctx, "model", source, strlen(source), 0, NULL, &l->m) == AG_OK);
  AG_CHECK(ag_system_create(&l->ctx, l->m, &(ag_derive_options){0}, &l->sys) == AG_OK);
  l->x0 = calloc((size_t)ag_system_dims(l->sys)->x + 1, sizeof(double));
  ag_system_state0(l->sys, l->x0);
  ag_record record;
  ag_record_init(&record, l->sys);
  l->columns = calloc((size_t)record.n_column + 1, sizeof(bool));
  for (int i = 0; i < record.n_column; i++) {
    const ag_column_kind kind = record.columns[i].kind;
    l->columns[i] = kind == AG_COL_COORD || kind == AG_COL_VELOCITY || kind == AG_COL_OBSERVABLE;
    if (l->columns[i]) l->n_value += record.columns[i].rows * record.columns[i].cols;
  }
  ag_record_done(&record);
}

static void lab_done(lab *l) {
  ag_system_free(l->sys);
  ag_model_free(l->m);
  ag_ctx_done(&l->ctx);
  free(l->x0), free(l->columns);
}

static ag_ensemble_options options_of(const lab *l, bool interpreted, int threads) {
  return (ag_ensemble_options){
      .path = {.seed = 6, .base = 0x1p-4, .channels = ag_system_dims(l->sys)->channel, .multiple = 1},
      .method = ag_stepper_find("rk4"),
      .columns = l->columns,
      .interpreted = interpreted,
      .threads = threads};
}

static void test_paths(void) {
  lab l;
  lab_init(&l, text);
  for (int level = 0; level < 3; level++)
    for (int way = 0; way < 3; way++) {
      ag_ensemble_options o = options_of(&l, way == 0, 1 + 2 * (way == 2));
      const unsigned long long row = (unsigned long long)STEPS << level;
      ag_bundle *b;
      AG_CHECK(ag_bundle_create(&l.ctx, l.sys, ag_system_param_values(l.sys), l.x0, &o, &b) == AG_OK);
      AG_CHECK(ag_bundle_n_value(b) == l.n_value);
      double *values = calloc((size_t)(PATHS * l.n_value), sizeof *values),
             *one = calloc((size_t)l.n_value, sizeof *one);
      AG_CHECK(ag_bundle_follow(b, level, row, 10, PATHS, values) >= 0);
      o.path.level = level, o.n_row = 1, o.row_step = &row;
      for (unsigned long long p = 0; p < PATHS; p++) {
        int reached;
        AG_CHECK(ag_ensemble_path(&l.ctx, l.sys, ag_system_param_values(l.sys), l.x0, &o, 10 + p, one, &reached) ==
                 AG_OK);
        AG_CHECK(reached == 1 && !memcmp(one, values + (size_t)p * (size_t)l.n_value, sizeof *one * (size_t)l.n_value));
      }
      free(values), free(one);
      ag_bundle_free(b);
    }
  lab_done(&l);
}

static void test_failed(void) {
  lab l;
  lab_init(&l, broken);
  const ag_ensemble_options o = options_of(&l, true, 1);
  ag_bundle *b;
  double values[2 * 3] = {0};
  AG_CHECK(l.n_value == 3);
  AG_CHECK(ag_bundle_create(&l.ctx, l.sys, ag_system_param_values(l.sys), l.x0, &o, &b) == AG_OK);
  (void)ag_bundle_follow(b, 0, 1, 0, 2, values); /* after one short step x is still negative */
  for (int i = 0; i < 6; i++) AG_CHECK(isnan(values[i]));
  ag_bundle_free(b);
  lab_done(&l);
}

static void test_refused(void) {
  lab l;
  lab_init(&l, text);
  ag_ensemble_options o = options_of(&l, true, 1);
  ag_bundle *b;
  o.method = ag_stepper_find("spark2");
  AG_CHECK(ag_bundle_create(&l.ctx, l.sys, ag_system_param_values(l.sys), l.x0, &o, &b) == AG_WRONG && !b);
  AG_CHECK(l.ctx.n_error == 1 && strstr(l.ctx.diags[l.ctx.n_diag - 1].message, "spark2 does not fit"));
  lab_done(&l);
}

int main(void) {
  test_paths();
  test_failed();
  test_refused();
  return ag_check_report();
}
