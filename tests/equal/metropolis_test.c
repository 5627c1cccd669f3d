/* SPDX-License-Identifier: MIT
 * Steps that are accepted or rejected: the same bits interpreted and compiled, for all lanes and threads, continued or
 * not, with the same number of steps accepted. */
#include <math.h>
#include <stdlib.h>

#include "lang/lang.h"
#include "run/run.h"
#include "tests/check.h"

static const char pendulum[] = "model pendulum\nconfig a in S1\nlagrangian 1/2*a'^2 + cos(a)\nfriction a' = 0.8\n"
                               "temperature 0.6\nstart a = 0.6\n";
static const char top[] = "model top\nconfig R in SO3 velocity Omega\n"
                          "lagrangian 1/2*dot(Omega, diag(0.7, 1, 1.4)*Omega) - 0.8*dot(R*e3, e3)\n"
                          "friction Omega = 0.7\ntemperature 0.5\nstart R = rotation(e2, 1.9)\n";

static const char circle[] = "model circle\nconfig x in R^2\nlagrangian 1/2*dot(x', x') - x[2]\n"
                             "holonomic dot(x, x) = 1\nfriction x' = 0.8\ntemperature 0.6\nstart x = [0.6, -0.8]\n";

static const struct {
  const char *text, *method;
  double h;
  int lanes[5]; /* 0: no more */
} rows[] = {{pendulum, "baoab_metropolis", 1, {2}},        {pendulum, "obabo_metropolis", 1, {1, 2, 4, 8}},
            {pendulum, "ovo_midpoint_metropolis", 1, {8}}, {top, "ovo_rattle_metropolis", 1, {4}},
            {top, "baoab_rattle_metropolis", 0.5, {2, 8}}, {circle, "baoab_rattle_metropolis", 0.25, {4}}};

static ag_ensemble *follow(ag_ctx *ctx, ag_system *sys, const double *x0, const ag_ensemble_options *o) {
  ag_ensemble *e = malloc(sizeof *e);
  AG_CHECK(ag_ensemble_run(ctx, sys, ag_system_param_values(sys), x0, o, e) == AG_OK);
  return e;
}

static void release(ag_ensemble *e) {
  ag_ensemble_done(e);
  free(e);
}

static bool same(const ag_ensemble *a, const ag_ensemble *b) {
  return a->accepted == b->accepted && a->n_saved == b->n_saved &&
         !memcmp(a->saved, b->saved, sizeof(double) * a->n_saved) &&
         ag_tally_mean(a->tally, 0) == ag_tally_mean(b->tally, 0);
}

static void check_bits(const char *text, const char *method, double h, const int *lanes) {
  enum { PATHS = 270 }; /* more than a leaf */
  static const unsigned long long row[1] = {20};
  ag_ctx ctx = {0};
  ag_model *m;
  ag_system *sys;
  AG_CHECK(ag_lang_read(&ctx, "model", text, strlen(text), 0, NULL, &m) == AG_OK);
  AG_CHECK(ag_system_create(&ctx, m, &(ag_derive_options){0}, &sys) == AG_OK);
  double *x0 = calloc((size_t)ag_system_dims(sys)->x + 1, sizeof *x0);
  ag_system_state0(sys, x0);
  ag_record record;
  ag_record_init(&record, sys);
  bool *columns = calloc((size_t)record.n_column + 1, sizeof *columns);
  for (int i = 0; i < record.n_column; i++) columns[i] = record.columns[i].kind == AG_COL_VELOCITY;
  ag_record_done(&record);
  const ag_wiener path = {.seed = 7, .base = h, .channels = ag_system_dims(sys)->channel, .multiple = 1};
  ag_ensemble_options o = {.path = path, .paths = PATHS, .method = ag_stepper_find(method), .n_row = 1};
  o.row_step = row, o.columns = columns, o.interpreted = true, o.threads = 1;
  ag_ensemble *first = follow(&ctx, sys, x0, &o);
  AG_CHECK(first->failed == 0 && (double)first->accepted > 0.5 * PATHS * 20 && first->accepted < PATHS * 20);
  for (; *lanes; lanes++) {
    o.interpreted = false, o.lanes = *lanes, o.threads = 2;
    ag_ensemble *e = follow(&ctx, sys, x0, &o);
    if (!e->lanes) printf("not compiled: %s\n", e->note);
    AG_CHECK(!e->lanes || e->lanes == *lanes);
    AG_CHECK(same(first, e));
    release(e);
  }
  o.interpreted = true, o.paths = 256; /* a whole leaf, then the others */
  ag_ensemble *part = follow(&ctx, sys, x0, &o);
  o.paths = PATHS, o.from = part->saved, o.from_size = part->n_saved;
  ag_ensemble *rest = follow(&ctx, sys, x0, &o);
  AG_CHECK(part->accepted < first->accepted && same(first, rest));
  release(part), release(rest), release(first);
  free(x0), free(columns);
  ag_system_free(sys), ag_model_free(m), ag_ctx_done(&ctx);
}

int main(void) {
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    check_bits(rows[i].text, rows[i].method, rows[i].h, rows[i].lanes);
  return ag_check_report();
}
