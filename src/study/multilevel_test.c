/* SPDX-License-Identifier: MIT
 * Multilevel Monte Carlo on processes that are known exactly: errors within the target, decay of variances and means,
 * the numbers of paths that the formula gives, the same bits for any threads and engine. */
#include <math.h>
#include <string.h>

#include "check.h"
#include "study/study.h"

/* q = exp(a W): E q = exp(a^2 t/2). */
#define SCALAR "model m\nparam a = 0.7\nconfig q in R\nlagrangian 1/2*q'^2\nnoise W transport q' = a*q\nstart q = 1\n"
/* x' Ornstein and Uhlenbeck's process, x its integral. */
#define BATH \
  "model m\nconfig x in R\nlagrangian 1/2*x'^2\nfriction x' = 1\ntemperature 0.5\nobservable square = x'^2\n" \
  "start x' = 1\n"
/* z the integral of W o dV: E cos z = E exp(-1/2 int W^2) = 1/sqrt(cosh t). */
#define AREA \
  "model m\nconfig x in R, y in R, z in R\nlagrangian 1/2*(x'^2 + y'^2 + z'^2)\nnoise W transport x' = 1\n" \
  "noise V transport y' = 1, z' = x\nobservable c = cos(z)\n"

typedef struct lab {
  anagyre_model *m;
  ag_system *sys;
  bool *wanted;
  double *x0;
} lab;

static lab lab_of(const char *text, const char *name) {
  lab l = {.m = anagyre_open_text("m.nh", text)};
  ag_record record;
  int entry;
  l.sys = ag_api_system(l.m, &(ag_derive_options){0});
  AG_CHECK(l.sys != NULL);
  ag_record_init(&record, l.sys);
  l.wanted = ag_heap_alloc((size_t)record.n_column + 1);
  l.wanted[ag_record_find(&record, name, &entry) - record.columns] = true;
  l.x0 = ag_heap_alloc(sizeof *l.x0 * (size_t)(ag_system_dims(l.sys)->x + 1));
  ag_system_state0(l.sys, l.x0);
  ag_record_done(&record);
  return l;
}

static void lab_done(lab *l) {
  free(l->wanted), free(l->x0);
  anagyre_close(l->m);
}

static ag_multilevel_options options_of(const lab *l, double target) {
  return (ag_multilevel_options){.dt = 0.25,
                                 .steps = 4,
                                 .method = ag_stepper_find("euler_heun"),
                                 .columns = l->wanted,
                                 .target = target,
                                 .pilot = 500};
}

static ag_multilevel run(const lab *l, const ag_multilevel_options *o) {
  ag_multilevel m;
  AG_CHECK(ag_multilevel_run(&m, ag_api_ctx(l->m), l->sys, ag_system_param_values(l->sys), l->x0, o) == AG_OK);
  return m;
}

/* What the result says of itself. */
static void check_sums(const ag_multilevel *m, double target) {
  double mean = 0, square = 0, steps = 0;
  for (int i = 0; i < m->n; i++) {
    const ag_multilevel_row *r = &m->rows[i];
    mean += r->mean, square += r->variance / (double)r->paths, steps += r->cost * (double)r->paths;
    AG_CHECK(r->dt == ldexp(0.25, -i) && r->paths >= 500 && r->failed == 0);
    AG_CHECK(r->cost == ldexp(4, i) * (i == 0 ? 1 : m->antithetic ? 2.5 : 1.5));
  }
  AG_CHECK_NEAR(m->mean, mean, 1e-14);
  AG_CHECK_NEAR(m->spread, sqrt(square), 1e-14);
  AG_CHECK(m->steps == steps);
  AG_CHECK(m->reached && square <= 0.5000001 * target * target && m->bias <= target / sqrt(2.0));
}

/* Seeds are independent: of 12 errors with the root mean square of the target or less the mean square exceeds twice its
 * square with a probability of 1 %; the seeds are fixed. */
static void test_target(void) {
  static const struct {
    const char *text, *name;
    double exact, target;
    bool antithetic;
  } cases[] = {{SCALAR, "q", 1.2776213132048868, 0.02, false},
               {BATH, "square", 0.56766764161830635, 0.01, false}, /* kT + (1 - kT) exp(-2) */
               {AREA, "c", 0.80501818248133655, 0.01, true}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    lab l = lab_of(cases[i].text, cases[i].name);
    ag_multilevel_options o = options_of(&l, cases[i].target);
    double square = 0;
    for (o.seed = 1; o.seed <= 12; o.seed++) {
      const ag_multilevel m = run(&l, &o);
      const double error = m.mean - cases[i].exact;
      check_sums(&m, o.target);
      AG_CHECK(m.antithetic == cases[i].antithetic && fabs(error) < 4 * o.target);
      square += error * error / 12;
    }
    AG_CHECK(square < 2 * o.target * o.target);
    lab_done(&l);
  }
}

/* Variances fall as dt^2, with antithetic coupling also where the strong order is 1/2; the means of differences as dt.
 */
static void test_decay(void) {
  static const char *const texts[][2] = {{SCALAR, "q"}, {AREA, "c"}};
  for (int i = 0; i < 2; i++) {
    lab l = lab_of(texts[i][0], texts[i][1]);
    ag_multilevel_options o = options_of(&l, 0.002);
    o.pilot = 4000;
    const ag_multilevel m = run(&l, &o);
    check_sums(&m, o.target);
    AG_CHECK(m.n >= 4 && m.steps < 0.5 * m.plain);
    if (!(fabs(m.decay - 2) < 0.25 && fabs(m.weak - 1) < 0.25)) fprintf(stderr, "%g %g\n", m.decay, m.weak);
    AG_CHECK(fabs(m.decay - 2) < 0.25 && fabs(m.weak - 1) < 0.25);
    lab_done(&l);
  }
}

static void test_bits(void) {
  lab l = lab_of(AREA, "c");
  ag_multilevel_options o = options_of(&l, 0.02);
  o.threads = 1;
  const ag_multilevel one = run(&l, &o);
  o.threads = 3;
  const ag_multilevel three = run(&l, &o);
  o.interpreted = true;
  const ag_multilevel slow = run(&l, &o);
  AG_CHECK(one.mean == three.mean && one.mean == slow.mean && one.n == three.n && one.n == slow.n);
  for (int i = 0; i < one.n; i++)
    AG_CHECK(one.rows[i].paths == slow.rows[i].paths && one.rows[i].variance == slow.rows[i].variance);
  lab_done(&l);
}

int main(void) {
  test_target();
  test_decay();
  test_bits();
  return ag_check_report();
}
