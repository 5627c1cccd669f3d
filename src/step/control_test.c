/* SPDX-License-Identifier: MIT
 * Step-size control: the rule itself, the first step, and adaptive runs of every method with an error estimate. */
#include <stdlib.h>

#include "step/step.h"
#include "step/test_flows.h"
#include "tests/check.h"

typedef struct run {
  double t, h;
  double z[TEST_N], dz[TEST_CARRY];
  ag_control control;
  long steps, rejected, calls;
} run;

static void run_init(run *r, const ag_stepper *s, const test_flow *p, double t0, double t1, double tol) {
  double work[3 * TEST_N];
  ag_flow f = {.n = p->n, .rhs = p->rhs};
  *r = (run){.t = t0};
  p->exact(t0, r->z);
  p->rhs(NULL, t0, r->z, r->dz);
  ag_control_init(&r->control, s, tol, tol);
  r->h = ag_control_first(&f, s, t0, t1, r->z, r->dz, tol, tol, work);
}

/* Adaptive steps to t1, at most `limit` tries; false when it gave up. A failing right-hand side is a rejected try. */
static bool run_to(run *r, const ag_stepper *s, const ag_flow *f, double t1, long limit) {
  double z1[TEST_N], dz1[TEST_CARRY], work[TEST_WORK], error, h_next;
  for (long k = 0; k < limit && r->t != t1; k++) {
    bool last = fabs(t1 - r->t) <= fabs(r->h) * (1 + 1e-12);
    double h = last ? t1 - r->t : r->h;
    int reason = s->step(s, f, r->t, h, r->z, r->dz, z1, dz1, r->control.rtol, r->control.atol, &error, work);
    bool accepted = ag_control_judge(&r->control, s, h, reason ? NAN : error, &h_next);
    if (accepted) {
      r->t = last ? t1 : r->t + h;
      memcpy(r->z, z1, sizeof r->z);
      memcpy(r->dz, dz1, sizeof r->dz);
      r->steps++;
    } else {
      r->rejected++;
      if (h_next == 0 || r->t + h_next == r->t) return false;
    }
    r->h = h_next;
  }
  return r->t == t1;
}

/* Each step may add an error of the size of the tolerance, which then grows at most linearly along these motions: 30
 * times steps times tolerance. And at least a twentieth of one tolerance, or the control wastes work. */
static void test_tolerance(const ag_stepper *s, const test_flow *p, double t0, double t1, double tol) {
  run r;
  ag_flow f = {.n = p->n, .rhs = p->rhs, .rate = p->rate, .self = NULL};
  run_init(&r, s, p, t0, t1, tol);
  AG_CHECK(r.h * (t1 - t0) > 0);
  f.self = &r.calls;
  AG_CHECK(run_to(&r, s, &f, t1, 10000000));
  double error = test_error(p, t1, r.z);
  bool good = error <= 30 * tol * (double)r.steps && error >= 0.05 * tol && r.rejected <= 5 + r.steps / 3;
  if (!good || getenv("AG_TEST_VERBOSE"))
    fprintf(stderr, "%s on %s to %g, tol %.0e: error %.2e, %ld steps, %ld rejected, %ld right-hand sides\n", s->name,
            p->name, t1, tol, error, r.steps, r.rejected, r.calls);
  AG_CHECK(good);
  AG_CHECK(r.calls == (r.steps + r.rejected) * s->n_stage);
}

/* The error follows the tolerance: over five decades of tolerance the error falls by at least three. */
static void test_proportional(const ag_stepper *s) {
  double error[2];
  for (int k = 0; k < 2; k++) {
    run r;
    double tol = k ? 1e-9 : 1e-4;
    ag_flow f = {.n = 4, .rhs = kepler_rhs};
    run_init(&r, s, &test_flows[2], 0, 15, tol);
    AG_CHECK(run_to(&r, s, &f, 15, 10000000));
    error[k] = test_error(&test_flows[2], 15, r.z);
  }
  AG_CHECK(error[1] < 1e-3 * error[0]);
}

enum { N_SIZE = 2001 };
/* Powers are taken to this relative error (control_core.h): that of 2^y and that of a logarithm times its weight. */
static const double DIGITS = 2.5e-4;

/* The factor as control.c defines it. */
static double factor(const ag_control *c, const ag_stepper *s, double error) {
  double q = s->error_order + 1;
  if (error > 1) return fmax(c->safety * pow(error, -1 / q), c->shrink);
  double power = pow(error, -(1 / q - 0.75 * c->beta)) * pow(c->last_error, c->beta);
  return fmin(fmax(c->safety * power, c->shrink), c->rejected ? 1 : c->grow);
}

/* Errors of all sizes, after errors of several sizes and after a rejection; a larger error never gives a larger step.
 */
static void test_sizes(const ag_stepper *s) {
  static const double before[] = {1e-4, 3e-3, 0.25, 1};
  for (int k = 0; k < 8; k++) {
    double last = INFINITY;
    for (int i = 0; i < N_SIZE; i++) {
      ag_control c;
      double h, error = exp2(-1000 + 2000.0 * i / (N_SIZE - 1));
      ag_control_init(&c, s, 1e-8, 1e-10);
      c.last_error = before[k / 2], c.rejected = k % 2;
      double expected = factor(&c, s, error);
      AG_CHECK(ag_control_judge(&c, s, -0.5, error, &h) == (error <= 1));
      AG_CHECK_NEAR(h, -0.5 * expected, 0.5 * DIGITS * expected);
      AG_CHECK(-h <= last);
      last = error <= 1 && 2 * error > 1 ? INFINITY : -h; /* above 1 there is another rule */
    }
  }
}

static void test_rule(void) {
  const ag_stepper *s = ag_stepper_find("dop853");
  ag_control c;
  double h;
  ag_control_init(&c, s, 1e-8, 1e-10);
  AG_CHECK(c.rtol == 1e-8 && c.atol == 1e-10 && c.h_min == 0 && c.h_max == INFINITY && !c.rejected);
  c.last_error = 1;
  AG_CHECK(ag_control_judge(&c, s, 0.1, 1, &h) && h == 0.1 * c.safety);
  AG_CHECK(ag_control_judge(&c, s, -0.1, 0, &h) && h == -0.1 * 6);
  AG_CHECK(!ag_control_judge(&c, s, 0.1, pow(1.8, 8), &h)); /* 0.9 / 1.8 */
  AG_CHECK_NEAR(h, 0.05, 0.05 * DIGITS);
  AG_CHECK(c.rejected);
  AG_CHECK(ag_control_judge(&c, s, 0.05, 1e-12, &h) && h == 0.05); /* no growth right after */
  AG_CHECK(ag_control_judge(&c, s, 0.05, 1e-12, &h) && h > 0.05);
  AG_CHECK(!ag_control_judge(&c, s, 0.1, 1e30, &h));
  AG_CHECK_NEAR(h, 0.1 / 3, 1e-15);
  static const double wrong[] = {NAN, INFINITY};
  for (int k = 0; k < 2; k++) {
    AG_CHECK(!ag_control_judge(&c, s, -0.1, wrong[k], &h));
    AG_CHECK_NEAR(h, -0.01, 1e-15);
  }
  AG_CHECK(!ag_control_judge(&c, s, 0.1, nextafter(1, 2), &h) && h < 0.1);
}

static void test_limits(void) {
  const ag_stepper *s = ag_stepper_find("dopri5"), *fixed = ag_stepper_find("rk4");
  ag_control c;
  double h;
  ag_control_init(&c, s, 1e-8, 1e-10);
  c.h_max = 0.5, c.h_min = 1e-3;
  AG_CHECK(ag_control_judge(&c, s, -0.4, 1e-9, &h) && h == -0.5);
  AG_CHECK(!ag_control_judge(&c, s, 2e-3, 1e9, &h) && h == 1e-3);
  AG_CHECK(!ag_control_judge(&c, s, 1e-3, 1e9, &h) && h == 0); /* nothing smaller is allowed */
  AG_CHECK(ag_control_judge(&c, s, 1e-3, 1, &h) && h == 1e-3);
  /* proportional-integral: a smaller error before makes the next step more cautious */
  double after[2];
  for (int k = 0; k < 2; k++) {
    ag_control_init(&c, s, 1e-8, 1e-10);
    AG_CHECK(ag_control_judge(&c, s, 0.1, k ? 0.9 : 0.01, &h));
    AG_CHECK(ag_control_judge(&c, s, 0.1, 0.5, &after[k]));
  }
  AG_CHECK(after[0] < after[1]);
  AG_CHECK_NEAR(after[1] / after[0], pow(90, c.beta), 2 * DIGITS);
  ag_control_init(&c, fixed, 1e-8, 1e-10);
  AG_CHECK(ag_control_judge(&c, fixed, 0.1, 0, &h) && h == 0.1);
  AG_CHECK(!ag_control_judge(&c, fixed, 0.1, NAN, &h) && h == 0);
}

static int domain_rhs(void *self, double t, const double *z, double *dz) { /* z' = -1/(2z): z = sqrt(z0^2 - t) */
  (void)t;
  ++*(long *)self;
  dz[0] = -0.5 / z[0];
  return z[0] <= 0 ? 7 : 0;
}

static int stiff_rhs(void *self, double t, const double *z, double *dz) {
  (void)self;
  dz[0] = -1e6 * (z[0] - cos(t));
  return 0;
}

static int nan_rhs(void *self, double t, const double *z, double *dz) {
  (void)self, (void)t, (void)z;
  dz[0] = NAN;
  return 0;
}

static void test_first(const ag_stepper *s) {
  double z[TEST_N] = {1}, dz[TEST_CARRY] = {0}, work[3 * TEST_N], h;
  long calls = 0;
  ag_flow domain = {.n = 1, .rhs = domain_rhs, .self = &calls}, stiff = {.n = 1, .rhs = stiff_rhs},
          bad = {.n = 1, .rhs = nan_rhs}, rest = {.n = 0, .rhs = nan_rhs};
  AG_CHECK(ag_control_first(&stiff, s, 2, 2, z, dz, 1e-6, 1e-6, work) == 0);
  z[0] = 2;
  stiff_rhs(NULL, 0, z, dz);
  h = ag_control_first(&stiff, s, 0, 1, z, dz, 1e-6, 1e-6, work);
  AG_CHECK(h > 1e-10 && h < 1e-5); /* between the time scale 1e-6 and what order 1 needs at this tolerance */
  h = ag_control_first(&stiff, s, 0, -1e-8, z, dz, 1e-6, 1e-6, work);
  AG_CHECK(h < 0 && h >= -1e-8); /* not beyond the end */
  z[0] = 1e-9;
  domain_rhs(&calls, 0, z, dz);
  h = ag_control_first(&domain, s, 0, 1, z, dz, 1e-6, 1e-6, work);
  AG_CHECK(h > 0 && h < 1e-6 && calls < 20);
  h = ag_control_first(&bad, s, 0, 1, z, dz, 1e-6, 1e-6, work);
  AG_CHECK(h > 0 && h < 1e-6);
  h = ag_control_first(&rest, s, 0, 1, z, dz, 1e-6, 1e-6, work);
  AG_CHECK(h > 0 && h <= 1);
}

/* Into the singularity at t = 1 of z = sqrt(1 - t): ends near it by giving up, not by a wrong value or forever. */
static void test_give_up(const ag_stepper *s) {
  long calls = 0;
  ag_flow f = {.n = 1, .rhs = domain_rhs, .self = &calls};
  run r = {.z = {1}, .dz = {-0.5}, .h = 0.1};
  ag_control_init(&r.control, s, 1e-6, 1e-6);
  AG_CHECK(!run_to(&r, s, &f, 2, 100000));
  AG_CHECK(r.t <= 1 + 1e-4 && r.t > 0.999);
  AG_CHECK(calls < 100000);
}

/* A run continued from a copy of its state takes the same steps to the bit. */
static void test_checkpoint(const ag_stepper *s) {
  ag_flow f = {.n = 4, .rhs = kepler_rhs};
  run a, b;
  run_init(&a, s, &test_flows[2], 0, 20, 1e-6);
  run_to(&a, s, &f, 20, 17);
  b = a;
  AG_CHECK(a.t > 0 && a.t < 20);
  AG_CHECK(run_to(&a, s, &f, 20, 1000000));
  run_to(&b, s, &f, 20, 5);
  AG_CHECK(run_to(&b, s, &f, 20, 1000000));
  AG_CHECK(memcmp(a.z, b.z, sizeof a.z) == 0 && a.steps == b.steps && a.rejected == b.rejected);
}

int main(void) {
  test_rule();
  test_limits();
  for (int i = 0; i < ag_stepper_count(); i++) {
    const ag_stepper *s = ag_stepper_at(i);
    int failed = ag_checks_failed;
    test_first(s);
    if (s->error_order > 0) test_sizes(s);
    /* from 1e-8 on: the estimate is two orders below the step, whose error is far below looser tolerances */
    for (double tol = 1e-8; tol > 5e-13 && s->needs & AG_NEEDS_SECOND; tol *= 1e-2) {
      test_tolerance(s, &test_flows[2], 0, 20, tol);
      test_tolerance(s, &test_flows[2], 1, -18, tol);
    }
    if (s->error_order == 0 || ag_stepper_lacks(s, AG_NEEDS_RHS)) continue;
    for (int k = 0; k < N_TEST_FLOW; k++)
      for (double tol = s->order < 4 ? 1e-4 : 1e-6; tol > (s->order < 4 ? 5e-7 : 5e-13); tol *= 1e-2) {
        test_tolerance(s, &test_flows[k], 0, 20, tol);
        test_tolerance(s, &test_flows[k], 1, -18, tol);
      }
    test_proportional(s);
    test_give_up(s);
    test_checkpoint(s);
    if (ag_checks_failed > failed) fprintf(stderr, "  in %s\n", s->name);
  }
  return ag_check_report();
}
