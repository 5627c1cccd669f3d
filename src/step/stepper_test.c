/* SPDX-License-Identifier: MIT
 * Every stepper of stepper.def against what its row declares: order, dense order, order of the error estimate, number
 * of right-hand sides, on flows with known motions, forward and backward in time. Orders are slopes of log(error) over
 * log(h) on the finest steps whose error still stands well above rounding; 0.15 is what the next term of the error
 * expansion leaves there, 0.3 above order 8, where these steps are still long. */
#include <stdlib.h>

#include "base/heap.h"
#include "step/step.h"
#include "step/test_flows.h"
#include "tests/check.h"

#if defined __has_feature
#if __has_feature(address_sanitizer)
#define SANITIZED
#endif
#endif
#if defined __SANITIZE_ADDRESS__
#define SANITIZED
#endif

/* Counts allocations: a step may not make any. */
static long n_alloc;
#ifndef SANITIZED
void *libc_malloc(size_t size) __asm__("__libc_malloc");
void *libc_calloc(size_t n, size_t size) __asm__("__libc_calloc");
void *libc_realloc(void *p, size_t size) __asm__("__libc_realloc");
void *malloc(size_t size) { return n_alloc++, libc_malloc(size); }
void *calloc(size_t n, size_t size) { return n_alloc++, libc_calloc(n, size); }
void *realloc(void *p, size_t size) { return n_alloc++, libc_realloc(p, size); }
#endif

enum { MAX_POINT = 40 };

typedef struct points {
  int n;
  double x[MAX_POINT], y[MAX_POINT];
} points;

static void add_point(points *p, double h, double error) { p->x[p->n] = log(h), p->y[p->n++] = log(error); }

/* Slope of the straight line through the last `count` points. */
static double slope(const points *p, int count) {
  double sx = 0, sy = 0, sxx = 0, sxy = 0;
  AG_CHECK(p->n >= count);
  for (int i = p->n - count; i < p->n; i++) sx += p->x[i], sy += p->y[i];
  for (int i = p->n - count; i < p->n; i++) {
    sxx += (p->x[i] - sx / count) * (p->x[i] - sx / count);
    sxy += (p->x[i] - sx / count) * (p->y[i] - sy / count);
  }
  return sxy / sxx;
}

/* Largest error between t0 and t1, from the exact state, in `steps` equal steps. */
static double run_fixed(const ag_stepper *s, const test_flow *p, double t0, double t1, int steps) {
  ag_flow f = test_flow_of(p, NULL);
  double z[2][TEST_N], dz[2][TEST_CARRY] = {0}, work[TEST_WORK], error, largest = 0, h = (t1 - t0) / steps;
  p->exact(t0, z[0]);
  p->rhs(NULL, t0, z[0], dz[0]);
  for (int k = 0; k < steps; k++) {
    int a = k % 2, b = 1 - a;
    AG_CHECK(s->step(s, &f, t0 + k * h, h, z[a], dz[a], z[b], dz[b], 0, 1, &error, work) == 0);
    largest = fmax(largest, test_error(p, t0 + (k + 1) * h, z[b]));
  }
  return largest;
}

static void test_order(const ag_stepper *s, const test_flow *p, double t0, double t1) {
  points found = {0};
  bool high = s->order > 8; /* rounding is reached soon: from fewer steps on, in a finer series */
  double slack = high ? 0.3 : 0.15;
  for (int k = 0; k < MAX_POINT; k++) {
    int steps = high ? 4 + k : (int)lround(8 * pow(2, 0.5 * k));
    double error = steps <= 8192 ? run_fixed(s, p, t0, t1, steps) : 0;
    if (error < 3e-13) break; /* rounding: some hundred steps of 1e-16 each */
    add_point(&found, fabs(t1 - t0) / steps, error);
  }
  double order = slope(&found, 4);
  if (!(fabs(order - s->order) <= slack)) fprintf(stderr, "%s on %s to %g: order %.3f\n", s->name, p->name, t1, order);
  AG_CHECK(fabs(order - s->order) <= slack);
}

/* Largest error of the dense output over one step from an exact state. */
static double dense_error(const ag_stepper *s, const test_flow *p, double t, double h) {
  ag_flow f = test_flow_of(p, NULL);
  double z[TEST_N], dz[TEST_CARRY] = {0}, z1[TEST_N], dz1[TEST_CARRY], u[TEST_N], work[TEST_WORK], error, largest = 0;
  p->exact(t, z);
  p->rhs(NULL, t, z, dz);
  AG_CHECK(s->step(s, &f, t, h, z, dz, z1, dz1, 0, 1, &error, work) == 0);
  AG_CHECK(s->dense(s, &f, t, h, z, z1, work) == 0);
  for (int k = 0; k <= 20; k++) {
    s->interpolate(s, p->n, k / 20.0, z, work, u);
    largest = fmax(largest, test_error(p, t + k / 20.0 * h, u));
    for (int i = 0; i < p->n; i++) {
      if (k == 0) AG_CHECK(u[i] == z[i]);
      if (k == 20) AG_CHECK_NEAR(u[i], z1[i], 4e-16);
    }
  }
  return largest;
}

static double embedded_error(const ag_stepper *s, const test_flow *p, double t, double h) {
  ag_flow f = test_flow_of(p, NULL);
  double z[TEST_N], dz[TEST_CARRY] = {0}, z1[TEST_N], dz1[TEST_CARRY], work[TEST_WORK], error;
  p->exact(t, z);
  p->rhs(NULL, t, z, dz);
  AG_CHECK(s->step(s, &f, t, h, z, dz, z1, dz1, 0, 1, &error, work) == 0);
  return error;
}

/* Both are local: O(h^(order + 1)). */
static void test_local(const ag_stepper *s, const test_flow *p, double sign) {
  points dense = {0}, embedded = {0};
  for (int k = 0; k < MAX_POINT; k++) {
    /* the stages of low-order implicit methods cannot be solved for in the longest of these steps */
    double h = sign * (s->order < 3 ? 0.4 : 0.8) * pow(2, -0.25 * k), t = 0.3;
    double d = dense_error(s, p, t, h), e = embedded_error(s, p, t, h);
    if (d > 3e-14 && dense.n == k) add_point(&dense, fabs(h), d);
    if (e > 1e-14 && embedded.n == k) add_point(&embedded, fabs(h), e);
    if (s->error_order == 0) AG_CHECK(e == 0);
  }
  double order = slope(&dense, 6) - 1, slack = s->dense_order > 6 ? 0.3 : 0.15;
  if (!(fabs(order - s->dense_order) <= slack))
    fprintf(stderr, "%s on %s (%+g): dense order %.3f\n", s->name, p->name, sign, order);
  AG_CHECK(fabs(order - s->dense_order) <= slack);
  if (s->error_order == 0) return;
  order = slope(&embedded, 6) - 1;
  if (!(fabs(order - s->error_order) <= 0.15))
    fprintf(stderr, "%s on %s (%+g): error order %.3f\n", s->name, p->name, sign, order);
  AG_CHECK(fabs(order - s->error_order) <= 0.15);
}

/* Cost, the promised dz1, no allocation, no write beyond the workspace. */
static void test_contract(const ag_stepper *s, const test_flow *p) {
  long calls = 0;
  ag_flow f = test_flow_of(p, &calls);
  double z[TEST_N], dz[TEST_CARRY] = {0}, z1[TEST_N], dz1[TEST_CARRY], d[TEST_N], work[TEST_WORK], error = -1;
  bool implicit = s->needs & AG_NEEDS_JACOBIAN; /* the number of right-hand sides varies */
  ag_step_room room = s->room(p->n, p->m, p->m * p->m);
  size_t size = room.size;
  AG_CHECK(room.end >= (size_t)(p->n + room.own) && room.end + (size_t)(p->n + room.own) <= size && size < TEST_WORK);
  for (size_t i = 0; i < TEST_WORK; i++) work[i] = 77;
  p->exact(0.3, z);
  p->rhs(NULL, 0.3, z, dz);
  long before = n_alloc;
  AG_CHECK(s->step(s, &f, 0.3, 0.1, z, dz, z1, dz1, 1e-6, 1e-6, &error, work) == 0);
  AG_CHECK(implicit || calls == s->n_stage);
  AG_CHECK(s->dense(s, &f, 0.3, 0.1, z, z1, work) == 0);
  AG_CHECK(implicit || calls == s->n_stage + s->n_dense);
  s->interpolate(s, p->n, 0.5, z, work, d);
  AG_CHECK(n_alloc == before);
  for (size_t i = size; i < TEST_WORK; i++) AG_CHECK(work[i] == 77);
  p->rhs(NULL, 0.3 + 0.1, z1, d);
  AG_CHECK(memcmp(d, dz1, sizeof d) == 0);
  AG_CHECK(error >= 0);
}

/* Kepler, with an additional component that must not count and one that fails on request. */
typedef struct wider {
  double rate, y_fail;
} wider;

static int wider_rhs(void *self, double t, const double *z, double *dz) {
  const wider *w = self;
  dz[4] = w->rate * cos(z[4] + t);
  return z[1] > w->y_fail ? 42 : kepler_rhs(NULL, t, z, dz);
}

static void test_norm(const ag_stepper *s) {
  static const unsigned char core[] = {1, 1, 1, 1, 0}, none[5] = {0};
  double z[5] = {0}, dz[5], z1[2][5], dz1[5], work[TEST_WORK], error[4], plain;
  wider w = {0, 10};
  ag_flow f = {.n = 5, .in_norm = core, .rhs = wider_rhs, .self = &w}, narrow = {.n = 4, .rhs = kepler_rhs};
  kepler_exact(0, z);
  kepler_rhs(NULL, 0, z, dz);
  AG_CHECK(s->step(s, &narrow, 0, 0.1, z, dz, z1[0], dz1, 1e-6, 1e-6, &plain, work) == 0);
  for (int k = 0; k < 2; k++) {
    w.rate = 100 * k;
    wider_rhs(&w, 0, z, dz);
    AG_CHECK(s->step(s, &f, 0, 0.1, z, dz, z1[k], dz1, 1e-6, 1e-6, &error[k], work) == 0);
  }
  AG_CHECK(error[0] == plain && error[1] == plain); /* to the bit */
  AG_CHECK(memcmp(z1[0], z1[1], 4 * sizeof(double)) == 0);
  f.in_norm = NULL;
  AG_CHECK(s->step(s, &f, 0, 0.1, z, dz, z1[0], dz1, 1e-6, 1e-6, &error[2], work) == 0);
  AG_CHECK(s->error_order == 0 || error[2] > 2 * plain);
  f.in_norm = none;
  AG_CHECK(s->step(s, &f, 0, 0.1, z, dz, z1[0], dz1, 1e-6, 1e-6, &error[3], work) == 0);
  AG_CHECK(error[3] == 0);
  f.in_norm = NULL;
  w.y_fail = 0.01; /* reached inside the step by every method: y' = 1.36 */
  AG_CHECK(s->step(s, &f, 0, 0.1, z, dz, z1[0], dz1, 1e-6, 1e-6, &error[3], work) == 42);
}

/* NaN in the result is reported, and an equilibrium has error 0 also without an absolute tolerance. */
static int pole_rhs(void *self, double t, const double *z, double *dz) {
  (void)self, (void)t;
  dz[0] = -1;
  dz[1] = sqrt(z[0]);
  return 0;
}

static int rest_rhs(void *self, double t, const double *z, double *dz) {
  (void)self, (void)t, (void)z;
  dz[0] = dz[1] = 0;
  return 0;
}

static void test_not_finite(const ag_stepper *s) {
  ag_flow pole = {.n = 2, .rhs = pole_rhs}, rest = {.n = 2, .rhs = rest_rhs};
  double z[2] = {0.05, 0}, dz[2], z1[2], dz1[2], work[TEST_WORK], error;
  pole_rhs(NULL, 0, z, dz);
  AG_CHECK(s->step(s, &pole, 0, 0.1, z, dz, z1, dz1, 1e-6, 1e-6, &error, work) == 0);
  AG_CHECK(isnan(error));
  dz[0] = dz[1] = z[0] = 0;
  AG_CHECK(s->step(s, &rest, 0, 0.1, z, dz, z1, dz1, 1e-6, 0, &error, work) == 0);
  AG_CHECK(error == 0 && z1[0] == 0);
}

/* Steps there and back, and the radii of the rings: what is kept is kept to rounding, some hundred steps of it. */
static void test_keeps(const ag_stepper *s, const test_flow *p) {
  ag_flow f = test_flow_of(p, NULL);
  enum { STEPS = 200 };
  double z[TEST_N], z0[TEST_N], dz[TEST_CARRY] = {0}, z1[TEST_N], dz1[TEST_CARRY], work[TEST_WORK], error, radius = 0;
  p->exact(0, z);
  memcpy(z0, z, sizeof z);
  p->rhs(NULL, 0, z, dz);
  for (int k = 0; k < 2 * STEPS; k++) {
    double h = k < STEPS ? 0.05 : -0.05, t = k < STEPS ? 0.05 * k : 0.05 * (2 * STEPS - k);
    int reason = s->step(s, &f, t, h, z, dz, z1, dz1, 0, 1, &error, work);
    AG_CHECK(reason == 0 || (reason == AG_STEP_STAGES && !s->keeps)); /* Euler's backward step, backward, runs away */
    if (reason) return;
    memcpy(z, z1, sizeof z);
    memcpy(dz, dz1, sizeof dz);
    radius = fmax(radius, fabs(z[0] * z[0] + z[1] * z[1] - z0[0] * z0[0] - z0[1] * z0[1]));
  }
  double back = 0;
  for (int i = 0; i < p->n; i++) back = fmax(back, fabs(z[i] - z0[i]));
  if (s->keeps & (AG_KEEPS_REVERSIBILITY | AG_KEEPS_SYMMETRY)) AG_CHECK(back < 1e-12);
  if (s->keeps & AG_KEEPS_QUADRATIC && p == &test_flows[0]) AG_CHECK(radius < 1e-13);
  if (p == &test_flows[0] && !s->keeps && s->order < 4) AG_CHECK(radius > 1e-9); /* it can be lost */
}

static void test_row(const ag_stepper *s, int i) {
  AG_CHECK(ag_stepper_find(s->name) == s);
  AG_CHECK(s->family && s->texts[0]);
  AG_CHECK(s->doc && strlen(s->doc) > 10 && s->reference && strlen(s->reference) > 10);
  for (int k = 0; k < i; k++) AG_CHECK(strcmp(s->name, ag_stepper_at(k)->name) != 0);
}

/* Of methods for equations of second order, which the flows above are not. */
static void test_second(const ag_stepper *s) {
  const test_flow *flows[] = {&test_flows[2], &test_driven};
  for (int k = 0; k < 2; k++) {
    test_contract(s, flows[k]);
    test_order(s, flows[k], 0, 4);
    test_order(s, flows[k], 1, -3);
  }
  test_local(s, flows[1], 1);
  test_local(s, flows[1], -1);
}

/* Asked for the workspace of a system with `n` coordinates whose matrices are dense. */
typedef struct asked {
  const ag_stepper *s;
  int n;
  ag_step_room room;
} asked;

static void ask(void *self) {
  asked *a = self;
  a->room = ag_stepper_room(a->s, a->n, a->n, ag_flow_square(NULL, a->n));
}

/* Sizes do not wrap around: a method that keeps matrices needs as many numbers as they have, or says that it cannot. */
static void test_large(const ag_stepper *s) {
  const bool keeps = s->needs & (AG_NEEDS_JACOBIAN | AG_NEEDS_RESIDUAL);
  for (int n = 5000; n <= 320000; n *= 2) {
    ag_heap *h = ag_heap_create(NULL);
    char why[AG_HEAP_WHY] = "";
    asked a = {.s = s, .n = n};
    bool done = ag_heap_try(h, ask, &a, why);
    AG_CHECK(done == !*why && (done || keeps));
    if (done) AG_CHECK(a.room.size >= (size_t)n * (keeps ? (size_t)n : 1));
    ag_heap_wipe(h);
    ag_heap_close(h);
  }
}

int main(void) {
  AG_CHECK(ag_stepper_count() >= 8);
  AG_CHECK(ag_stepper_find("nothing") == NULL && ag_stepper_find("") == NULL);
  AG_CHECK(ag_stepper_at(-1) == NULL && ag_stepper_at(ag_stepper_count()) == NULL);
  for (int i = 0; i < ag_stepper_count(); i++) {
    const ag_stepper *s = ag_stepper_at(i);
    int failed = ag_checks_failed;
    test_row(s, i);
    test_large(s);
    ag_flow offered = test_flow_of(&test_flows[0], NULL);
    if (s->needs & AG_NEEDS_SECOND) test_second(s);
    if (ag_stepper_lacks(s, ag_flow_offers(&offered))) continue; /* of models: run/variational_test.c */
    test_contract(s, &test_flows[1]);
    if (!ag_stepper_lacks(s, AG_NEEDS_RHS)) test_norm(s), test_not_finite(s);
    for (int k = 0; k < N_TEST_FLOW; k++) test_keeps(s, &test_flows[k]);
    for (int k = 0; k < 2; k++) { /* on Kepler the leading error of order 5 is too small to be seen */
      test_order(s, &test_flows[k], 0, 4);
      test_order(s, &test_flows[k], 1, -3);
      test_local(s, &test_flows[k], 1);
      test_local(s, &test_flows[k], -1);
    }
    if (ag_checks_failed > failed) fprintf(stderr, "  in %s\n", s->name);
  }
  return ag_check_report();
}
