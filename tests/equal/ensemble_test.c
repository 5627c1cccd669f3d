/* SPDX-License-Identifier: MIT
 * Ensembles: the same bits interpreted and compiled, for all lanes and threads, interrupted or not; a path alone is the
 * path in the ensemble; exact statistics with fixed seeds. */
#include <math.h>
#include <stdlib.h>

#include "lang/lang.h"
#include "run/run.h"
#include "tests/check.h"

typedef struct lab {
  ag_ctx ctx;
  ag_model *m;
  ag_system *sys;
  double *x0;
  bool *columns;
  int n_column;
} lab;

/* wanted: names of columns between blanks. */
static void lab_init(lab *l, const char *text, const char *wanted) {
  *l = (lab){0};
  ag_status status = ag_lang_read(&l->ctx, "model", text, strlen(text), 0, NULL, &l->m);
  if (status == AG_OK) status = ag_system_create(&l->ctx, l->m, &(ag_derive_options){0}, &l->sys);
  if (status != AG_OK) {
    ag_text out = {0};
    ag_ctx_render(&l->ctx, &out);
    fprintf(stderr, "%s", ag_text_cstr(&out));
    exit(1);
  }
  l->x0 = calloc((size_t)ag_system_dims(l->sys)->x + 1, sizeof(double));
  ag_system_state0(l->sys, l->x0);
  ag_record record;
  ag_record_init(&record, l->sys);
  l->n_column = record.n_column;
  l->columns = calloc((size_t)record.n_column + 1, sizeof(bool));
  for (int i = 0; i < record.n_column; i++) {
    char name[64];
    snprintf(name, sizeof name, " %.60s ", record.columns[i].name);
    l->columns[i] = strstr(wanted, name) != NULL;
  }
  ag_record_done(&record);
}

static void lab_done(lab *l) {
  ag_system_free(l->sys);
  ag_model_free(l->m);
  ag_ctx_done(&l->ctx);
  free(l->x0), free(l->columns);
}

enum { ROWS = 3 };
static ag_ensemble_options options_of(const lab *l, const char *method, double dt, const unsigned long long *rows,
                                      unsigned long long paths) {
  int channels;
  (void)ag_layout_rows(l->sys, AG_LAYOUT_NOISE, &channels);
  return (ag_ensemble_options){.path = {.seed = 12345, .base = dt, .channels = channels, .multiple = 1},
                               .paths = paths,
                               .method = ag_stepper_find(method),
                               .n_row = ROWS,
                               .row_step = rows,
                               .columns = l->columns};
}

static ag_ensemble *run(lab *l, const ag_ensemble_options *o) {
  ag_ensemble *e = malloc(sizeof *e);
  ag_status status = ag_ensemble_run(&l->ctx, l->sys, ag_system_param_values(l->sys), l->x0, o, e);
  AG_CHECK(status == AG_OK);
  return e;
}

static void ensemble_free(ag_ensemble *e) {
  ag_ensemble_done(e);
  free(e);
}

/* All statistics of both, by their saved numbers and some results. */
static bool same(const ag_ensemble *a, const ag_ensemble *b) {
  bool ok = a->done == b->done && a->failed == b->failed && a->n_saved == b->n_saved && a->n_value == b->n_value &&
            !memcmp(a->saved, b->saved, sizeof(double) * a->n_saved);
  for (int i = 0; ok && i < ROWS * a->n_value; i++)
    ok = ag_tally_mean(a->tally, i) == ag_tally_mean(b->tally, i) &&
         ag_tally_variance(a->tally, i) == ag_tally_variance(b->tally, i) &&
         ag_tally_quantile(a->tally, i, 0.3) == ag_tally_quantile(b->tally, i, 0.3);
  return ok;
}

static const char routh[] = "model routh\n"
                            "param m = 1, r = 1, l = 0.2, g = 1, I1 = 0.35, I3 = 0.4, xi = 0.1\n"
                            "config R in SO3 velocity Omega\n"
                            "config x in R^3\n"
                            "let Gamma = R^T*e3\n"
                            "let s = r*Gamma + l*e3\n"
                            "let I = diag(I1, I1, I3)\n"
                            "lagrangian 1/2*dot(Omega, I*Omega) + m/2*dot(x', x') - m*g*dot(x, e3)\n"
                            "constraint x' = R*cross(Omega, s)\n"
                            "noise W transport Omega = xi*e3\n"
                            "noise V transport Omega = xi*e1\n"
                            "observable jellett = dot(I*Omega, s)\n"
                            "start R = rotation(e2, -0.3), Omega = [0.3, 0.1, 1.0], x = [0, 0, r + l*Gamma[3]]\n";

/* With the core alone and with the rest; explicit and implicit methods. */
static void test_bits(const char *method, const char *wanted, bool core, const int *lanes) {
  static const unsigned long long rows[ROWS] = {0, 7, 30};
  lab l;
  lab_init(&l, routh, wanted);
  ag_ensemble_options o = options_of(&l, method, 0.03, rows, 300);
  o.interpreted = true;
  o.threads = 1;
  ag_ensemble *first = run(&l, &o);
  AG_CHECK(first->lanes == 0 && first->done == 300 && first->failed == 0 && first->core_only == core);
  for (; *lanes; lanes++) {
    o.interpreted = false;
    o.lanes = *lanes;
    o.threads = *lanes % 3 + 1;
    ag_ensemble *e = run(&l, &o);
    if (!e->lanes) printf("not compiled: %s\n", e->note);
    AG_CHECK(!e->lanes || e->lanes == *lanes);
    AG_CHECK(same(first, e));
    ensemble_free(e);
  }
  /* a path of its own */
  double *values = calloc((size_t)(ROWS * first->n_value), sizeof(double)), sum = 0;
  int reached;
  o.paths = 1;
  AG_CHECK(ag_ensemble_paths(&l.ctx, l.sys, ag_system_param_values(l.sys), l.x0, &o, 1, (long[]){0}, values,
                             &reached) == AG_OK);
  ag_ensemble *one = run(&l, &o);
  AG_CHECK(reached == ROWS);
  for (int i = 0; i < ROWS * first->n_value; i++) {
    AG_CHECK(ag_tally_mean(one->tally, i) == values[i]);
    sum += fabs(values[i]);
  }
  AG_CHECK(sum > 0);
  free(values), ensemble_free(one), ensemble_free(first), lab_done(&l);
}

static const char oscillator[] = "model oscillator\n"
                                 "param c = 1, s = 0.5, k = 2\n"
                                 "config x in R\n"
                                 "lagrangian 1/2*x'^2 - k*x^2/2\n"
                                 "force x' = -c*x'\n"
                                 "noise W force x' = s\n"
                                 "start x = 0, x' = 1\n";

/* In two parts, and with more paths than at first: the same bits. */
static void test_continued(void) {
  static const unsigned long long rows[ROWS] = {1, 4, 10};
  lab l;
  lab_init(&l, oscillator, " x x' ");
  ag_ensemble_options o = options_of(&l, "rk4", 0.1, rows, 3000);
  ag_ensemble *whole = run(&l, &o);
  static const unsigned long long parts[] = {256, 700, 1024, 2999};
  for (int i = 0; i < 4; i++) {
    ag_ensemble_options p = o;
    p.paths = parts[i];
    ag_ensemble *a = run(&l, &p);
    AG_CHECK(a->done == parts[i]);
    p.paths = 3000;
    p.from = a->saved, p.from_size = a->n_saved;
    ag_ensemble *b = run(&l, &p);
    AG_CHECK(same(whole, b));
    ensemble_free(a), ensemble_free(b);
  }
  ensemble_free(whole), lab_done(&l);
}

/* |z| < 4.5 of a mean with a closed form: mean, then variance (of normal values). */
static void check_normal(const ag_ensemble *e, int i, double mean, double variance) {
  const double n = ag_tally_count(e->tally), z = (ag_tally_mean(e->tally, i) - mean) / sqrt(variance / n),
               z2 = (ag_tally_variance(e->tally, i) / variance - 1) / sqrt(2 / n);
  if (!(fabs(z) < 4.5 && fabs(z2) < 4.5))
    fprintf(stderr, "value %d: mean %g, expected %g, z = %.2f; variance %g, expected %g, z = %.2f\n", i,
            ag_tally_mean(e->tally, i), mean, z, ag_tally_variance(e->tally, i), variance, z2);
  AG_CHECK(fabs(z) < 4.5 && fabs(z2) < 4.5);
}

/* Ornstein-Uhlenbeck: dv = -c v dt + s dW. The error of the step, h^2/6 of the mean, is far below the noise. */
static void test_ornstein_uhlenbeck(void) {
  static const unsigned long long rows[ROWS] = {10, 50, 100};
  lab l;
  lab_init(&l,
           "model ou\nparam c = 1, s = 0.5\nconfig x in R\nlagrangian 1/2*x'^2\nforce x' = -c*x'\n"
           "noise W force x' = s\nstart x' = 1\n",
           " x' ");
  ag_ensemble_options o = options_of(&l, "heun2", 0.02, rows, 20000);
  ag_ensemble *e = run(&l, &o);
  for (int r = 0; r < ROWS; r++) {
    const double t = 0.02 * (double)rows[r];
    check_normal(e, r, exp(-t), 0.125 * (1 - exp(-2 * t)));
  }
  ensemble_free(e), lab_done(&l);
}

/* The vertical disk (errata A.5), S sigma = 0: phi = nu t + xi2 W2, a = i nu - xi2^2/2,
 *   E z = R omega (e^(a t) - 1)/a,   E|z|^2 = 2 R^2 omega^2 Re (e^(a t) - 1 - a t)/a^2 + R^2 xi1^2 t. */
static void test_disk(void) {
  static const unsigned long long rows[ROWS] = {25, 50, 100};
  lab l;
  lab_init(&l,
           "model disk\nparam R = 1, omega = 1, nu = 0.7, xi1 = 0.3, xi2 = 0.4\n"
           "config x in R, y in R, theta in S1, phi in S1\n"
           "lagrangian 1/2*(x'^2 + y'^2 + theta'^2 + phi'^2)\n"
           "constraint x' = R*theta'*cos(phi)\nconstraint y' = R*theta'*sin(phi)\n"
           "noise A transport theta' = xi1\nnoise B transport phi' = xi2\n"
           "observable square = x^2 + y^2\nstart theta' = omega, phi' = nu\n",
           " x y phi square ");
  ag_ensemble_options o = options_of(&l, "heun2", 0.02, rows, 20000);
  ag_ensemble *e = run(&l, &o);
  AG_CHECK(e->failed == 0);
  for (int r = 0; r < ROWS; r++) {
    const double t = 0.02 * (double)rows[r];
    const double _Complex a = -0.08 + 0.7i, ez = (__builtin_cexp(a * t) - 1) / a;
    const double square = 2 * __builtin_creal((__builtin_cexp(a * t) - 1 - a * t) / (a * a)) + 0.09 * t;
    const double expected[4] = {__builtin_creal(ez), __builtin_cimag(ez), 0.7 * t, square};
    for (int i = 0; i < 4; i++) {
      const int at = ag_ensemble_value(e, r, i);
      const double z = (ag_tally_mean(e->tally, at) - expected[i]) / ag_tally_stderr(e->tally, at);
      if (!(fabs(z) < 4.5)) fprintf(stderr, "disk: t = %g, value %d: z = %.2f\n", t, i, z);
      AG_CHECK(fabs(z) < 4.5);
    }
  }
  ensemble_free(e), lab_done(&l);
}

/* A ball without spin (errata A, isotropic): E Gamma = e^(-c^2 t) Gamma0, E|x - x0|^2 = 2 c^2 r^2 t. */
static void test_ball(void) {
  static const unsigned long long rows[ROWS] = {20, 50, 100};
  lab l;
  lab_init(&l,
           "model ball\nparam c = 0.5\nconfig R in SO3 velocity Omega\nconfig x in R^3\n"
           "lagrangian 1/2*dot(Omega, 0.4*Omega) + 1/2*dot(x', x')\nconstraint x' = R*cross(Omega, R^T*e3)\n"
           "noise A transport Omega = c*e1\nnoise B transport Omega = c*e2\nnoise C transport Omega = c*e3\n"
           "observable up = (R^T*e3)[3], far = dot(x, x), still = dot(Omega, Omega)\nstart R = rotation(e1, 0)\n",
           " up far still ");
  ag_ensemble_options o = options_of(&l, "heun2", 0.01, rows, 10000);
  ag_ensemble *e = run(&l, &o);
  AG_CHECK(e->failed == 0);
  for (int r = 0; r < ROWS; r++) {
    const double t = 0.01 * (double)rows[r], expected[2] = {exp(-0.25 * t), 2 * 0.25 * t};
    for (int i = 0; i < 2; i++) {
      const int at = ag_ensemble_value(e, r, i);
      const double z = (ag_tally_mean(e->tally, at) - expected[i]) / ag_tally_stderr(e->tally, at);
      if (!(fabs(z) < 4.5))
        fprintf(stderr, "ball: t = %g, value %d: %g, expected %g, z = %.2f\n", t, i, ag_tally_mean(e->tally, at),
                expected[i], z);
      AG_CHECK(fabs(z) < 4.5);
    }
    AG_CHECK(ag_tally_largest(e->tally, ag_ensemble_value(e, r, 2)) < 1e-20);
  }
  ensemble_free(e), lab_done(&l);
}

/* Those of these paths that fail are left out, counted and named; alone, without compiled code, they end at the same
 * row. How many failed. */
static unsigned long long count_failures(const char *text, const char *columns, double h) {
  static const unsigned long long rows[ROWS] = {1, 50, 100};
  lab l;
  lab_init(&l, text, columns);
  ag_ensemble_options o = options_of(&l, "heun2", h, rows, 1000);
  ag_ensemble *e = run(&l, &o);
  const unsigned long long failed = e->failed;
  AG_CHECK((unsigned long long)e->n_failure == e->failed && e->done == 1000 && e->lanes);
  AG_CHECK((unsigned long long)ag_tally_count(e->tally) == 1000 - e->failed);
  double values[ROWS];
  int reached;
  for (int i = 0; i < 3 && i < e->n_failure; i++) {
    AG_CHECK(ag_ensemble_paths(&l.ctx, l.sys, ag_system_param_values(l.sys), l.x0, &o, 1,
                               (long[]){(long)e->failures[i].path}, values, &reached) == AG_OK);
    AG_CHECK(reached == e->failures[i].row);
  }
  ensemble_free(e), lab_done(&l);
  return failed;
}

/* Paths that leave the reals; masses that become negative on some paths, and exactly 0, where the kernel looks at
 * nothing but the sign. */
static void test_failures(void) {
  unsigned long long failed = count_failures(
      "model edge\nconfig x in R\nlagrangian 1/2*x'^2\nnoise W force x' = 1\nobservable root = sqrt(1 + x)\n"
      "start x = 0\n",
      " root ", 0.02);
  AG_CHECK(failed > 10 && failed < 990);
  failed = count_failures(
      "model light\nconfig x in R\nprocess M\nlagrangian 1/2*M*x'^2\nnoise W process M = 1\nobservable v = x'\n"
      "start x = 0, x' = 1, M = 1\n",
      " v ", 0.02);
  AG_CHECK(failed > 10 && failed < 990);
  failed = count_failures("model gone\nconfig x in R, y in R\nprocess M drift -1\nlagrangian 1/2*M*x'^2 + 1/2*y'^2\n"
                          "noise W force y' = 1 + x\nobservable v = y'\nstart x = 0, x' = 0, M = 1\n",
                          " v ", 1.0 / 64);
  AG_CHECK(failed == 1000);
}

/* Antithetic pairs: the mean of a linear observable has no error at all. */
static void test_antithetic(void) {
  static const unsigned long long rows[ROWS] = {1, 4, 10};
  lab l;
  lab_init(&l, oscillator, " x x' ");
  ag_ensemble_options o = options_of(&l, "rk4", 0.1, rows, 600), quiet = o;
  o.path.mirror = 1;
  ag_ensemble *e = run(&l, &o);
  quiet.paths = 1;
  double values[2 * ROWS];
  int reached;
  ag_system *sys = l.sys;
  double *params = malloc(sizeof(double) * (size_t)ag_system_dims(sys)->param);
  memcpy(params, ag_system_param_values(sys), sizeof(double) * (size_t)ag_system_dims(sys)->param);
  params[1] = 0; /* s: without noise */
  AG_CHECK(ag_ensemble_paths(&l.ctx, sys, params, l.x0, &quiet, 1, (long[]){0}, values, &reached) == AG_OK);
  for (int i = 0; i < 2 * ROWS; i++) AG_CHECK_NEAR(ag_tally_mean(e->tally, i), values[i], 1e-14);
  /* and says so: rounding errors of 600 numbers of size 1 */
  for (int i = 0; i < 2 * ROWS; i++) AG_CHECK(ag_tally_stderr(e->tally, i) < 1e-9);
  AG_CHECK(ag_tally_variance(e->tally, 4) > 1e-3);
  free(params), ensemble_free(e), lab_done(&l);
}

static ag_id column_of(const lab *l, const char *name) {
  ag_record record;
  int entry;
  ag_record_init(&record, l->sys);
  const ag_id x = ag_record_find(&record, name, &entry)->x;
  ag_record_done(&record);
  return x;
}

/* T of nu t + s W through L: mean L/nu, variance L s^2/nu^3, with nu = 1, s = 0.7, L = 2, whatever the step; as a
 * coordinate (transport), as a function of it (there to order h: hence the tolerance `late`), and as a velocity. */
static void test_passage(const char *text, const char *name, double dt, double level, double late) {
  const unsigned long long end = (unsigned long long)(32 / dt), rows[ROWS] = {0, end / 2, end};
  lab l;
  lab_init(&l, text, " x ");
  const ag_passage passage = {column_of(&l, name), level};
  ag_ensemble_options o = options_of(&l, "heun2", dt, rows, 4000);
  o.n_passage = 1, o.passages = &passage;
  ag_ensemble *e = run(&l, &o);
  const double n = ag_tally_count(e->passages[0]), mean = ag_tally_mean(e->passages[0], 0);
  if (!(fabs(mean - 2) < 4.5 * sqrt(0.98 / n) + late)) fprintf(stderr, "%s, dt = %g: E T = %g\n", name, dt, mean);
  AG_CHECK(n == 4000 && fabs(mean - 2) < 4.5 * sqrt(0.98 / n) + late);
  /* one by one, and in two parts: the same bits */
  o.paths = 600;
  ag_ensemble *lanes = run(&l, &o);
  o.interpreted = true;
  ag_ensemble *first = run(&l, &o);
  AG_CHECK(first->lanes == 0 && same(first, lanes) && ag_tally_count(first->passages[0]) == 600);
  AG_CHECK(ag_tally_mean(first->passages[0], 0) == ag_tally_mean(lanes->passages[0], 0));
  o.paths = 300;
  ag_ensemble *part = run(&l, &o);
  o.paths = 600, o.from = part->saved, o.from_size = part->n_saved;
  ag_ensemble *rest = run(&l, &o);
  AG_CHECK(same(rest, first) && ag_tally_mean(rest->passages[0], 0) == ag_tally_mean(first->passages[0], 0));
  ensemble_free(rest), ensemble_free(part), ensemble_free(first), ensemble_free(lanes), ensemble_free(e), lab_done(&l);
}

static const char heading[] = "model heading\nconfig x in S1\nlagrangian 1/2*x'^2\nnoise W transport x' = 0.7\n"
                              "observable power = exp(x)\nstart x' = 1\n";
static const char pushed[] = "model pushed\nconfig x in R\nlagrangian x'^2\nforce x' = 2\nnoise W force x' = 1.4\n"
                             "start x = 0\n";

static const char process[] = "model process\nconfig x in R\nlagrangian 1/2*x'^2\nprocess N drift 1\n"
                              "noise W process N = 0.7\nstart x = 0\n";

/* With a basis of the free directions: heading and speed of a blade. */
static const char blade[] = "model blade\nconfig x in R, y in R, th in S1\nlagrangian x'^2 + y'^2 + 1/2*th'^2\n"
                            "constraint x'*sin(th) = y'*cos(th)\nnoise W transport th' = 0.7\n"
                            "force x' = 2*cos(th), y' = 2*sin(th)\n"
                            "noise V force x' = 1.4*cos(th), y' = 1.4*sin(th)\n"
                            "observable speed = x'*cos(th) + y'*sin(th)\nstart x = 0, th = 0, th' = 1\n";

static void test_refused(void) {
  static const unsigned long long rows[ROWS] = {1, 2, 3};
  static const struct {
    const char *text, *wanted, *method, *says;
  } cases[] = {{"model a\nconfig x in R\nlagrangian 1/2*x'^2\n", " x ", "heun2", "no noise"},
               {"model b\nconfig x in R\nlagrangian 1/2*x'^2\nnoise W force x' = x\n", " x ", "euler",
                "method euler does not fit: the noise is commutative"}};
  for (int i = 0; i < 2; i++) {
    lab l;
    lab_init(&l, cases[i].text, cases[i].wanted);
    ag_ensemble_options o = options_of(&l, cases[i].method, 0.1, rows, 10);
    ag_ensemble *e = malloc(sizeof *e);
    AG_CHECK(ag_ensemble_run(&l.ctx, l.sys, ag_system_param_values(l.sys), l.x0, &o, e) == AG_WRONG);
    ag_text out = {0};
    ag_ctx_render(&l.ctx, &out);
    AG_CHECK(strstr(ag_text_cstr(&out), cases[i].says) != NULL);
    ag_text_done(&out), ensemble_free(e), lab_done(&l);
  }
}

int main(void) {
  test_bits("heun2", " jellett ", true, (int[]){1, 2, 4, 8, 0});
  test_bits("rk4", " R x jellett energy ", false, (int[]){4, 0});
  test_bits("midpoint", " jellett ", false, (int[]){4, 0});
  test_bits("log_rk4", " R jellett ", false, (int[]){4, 0});
  test_bits("euler_maruyama", " jellett ", true, (int[]){8, 0});
  test_bits("implicit_euler_maruyama", " R jellett ", false, (int[]){4, 0});
  test_bits("ninomiya_victoir", " jellett ", true, (int[]){4, 0});
  test_continued();
  test_ornstein_uhlenbeck();
  test_disk();
  test_ball();
  test_failures();
  test_antithetic();
  test_passage(heading, "x", 0.5, 2, 0);
  test_passage(heading, "x", 0.0625, 2, 0);
  test_passage(heading, "power", 0.0625, 7.38905609893065, 0.02);
  test_passage(pushed, "x'", 0.25, 2, 0);
  test_passage(process, "N", 0.25, 2, 0);
  test_passage(blade, "speed", 0.015625, 2, 0); /* steps in which the basis turns by less than it may */
  test_refused();
  return ag_check_report();
}
