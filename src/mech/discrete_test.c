/* SPDX-License-Identifier: MIT
 * The discrete equations of a step: their derivative against differences, and, on the exact motion, a residual that
 * vanishes with the step. For d = h xi the momentum p0 is p up to a
 * term of size h, and so are the constraints. */
#include "tests/mech_models.h"

typedef struct step {
  bench_system *b;
  int role, n, m; /* equations; tangent of z */
  double *z, *d;  /* the state followed by the unknowns and what a step is made with; the unknowns d in it */
  double *lambda, *delta, *numbers;
} step;

static void evaluate(const step *s, double *out) {
  AG_CHECK(ag_work_role(s->b->w, s->role, s->b->t, s->z, s->b->basis, out) == AG_FINE);
}

static step take(bench_system *b, int role, unsigned seed, double h, double a, double end) {
  const ag_dims *n = &b->sys->n;
  step s = {b, role, n->xi + n->lambda, ag_turn_tangent(b->sys), room(n->z + 2 * n->tangent + n->lambda + 3), 0, 0,
            0, 0};
  int *place = ag_heap_alloc(sizeof *place * (size_t)(n->xi + 1));
  AG_CHECK(take_sample(b, seed));
  (void)ag_tangent_places(b->sys, place);
  memcpy(s.z, b->z, sizeof(double) * (size_t)n->z);
  s.d = s.z + n->z, s.lambda = s.d + s.m, s.delta = s.lambda + n->lambda, s.numbers = s.delta + s.m;
  for (int k = 0; k < n->xi; k++) s.d[place[k]] = h * b->x[n->q + k];
  s.numbers[0] = h, s.numbers[1] = a, s.numbers[2] = end;
  free(place);
  return s;
}

/* The place of unknown k behind z: increments without those of u, then multipliers. */
static double *unknown(const step *s, int k) {
  const ag_dims *n = &s->b->sys->n;
  int *place = ag_heap_alloc(sizeof *place * (size_t)(n->xi + 1)), u_at = ag_tangent_places(s->b->sys, place);
  free(place);
  if (k >= n->xi) return s->lambda + k - n->xi;
  return s->d + (k < u_at ? k : k + n->u);
}

/* Central differences: error of second order, step^2, with rounding / step beside it. */
static void check_jacobian(step *s) {
  double *out = room(s->n * (s->n + 1)), *up = room(s->n * (s->n + 1)), *down = room(s->n * (s->n + 1)), e = 1e-5;
  for (int k = 0; k < s->n; k++) *unknown(s, k) += 0.01 * (k + 1);
  evaluate(s, out);
  for (int k = 0; k < s->n; k++) {
    double *x = unknown(s, k), at = *x;
    *x = at + e, evaluate(s, up);
    *x = at - e, evaluate(s, down);
    *x = at;
    for (int i = 0; i < s->n; i++) AG_CHECK_NEAR((up[i] - down[i]) / (2 * e), out[s->n + i * s->n + k], 1e-7);
  }
  free(out), free(up), free(down);
}

static double residual(const step *s) {
  double *out = room(s->n * (s->n + 1)), worst = 0;
  evaluate(s, out);
  for (int i = 0; i < s->n; i++) worst = fmax(worst, fabs(out[i]));
  free(out);
  return worst;
}

static void check_form(bench_system *b, ag_discrete_form form) {
  int role = ag_discrete_role_of(form, false);
  if (!ag_system_discrete(b->sys, form, false)) {
    AG_CHECK(ag_system_discrete_lacks(b->sys, form, false) != NULL);
    return;
  }
  for (unsigned seed = 1; seed <= 2; seed++) {
    step s = take(b, role, seed, 0.1, 0.5, 0);
    check_jacobian(&s);
    free(s.z);
    double worst[2];
    for (int k = 0; k < 2; k++) {
      s = take(b, role, seed, k ? 5e-5 : 1e-4, 0.5, 0);
      worst[k] = residual(&s);
      free(s.z);
    }
    /* halving the step halves it: a factor 2 up to terms of order h */
    AG_CHECK(worst[1] < 1e-11 || fabs(worst[0] / worst[1] - 2) < 0.05);
  }
}

static void check(bench_system *b) {
  for (int form = 0; form < AG_DISCRETE_SPARK; form++) check_form(b, (ag_discrete_form)form);
}

/* With a = 1 the row z' - y x' - 1 is taken at the end of the step, where y1 = y0 + h y'. */
static void check_free(void) {
  bench_system b;
  bench_init(&b, &(mech_case){.make = affine});
  AG_CHECK(ag_system_discrete(b.sys, AG_DISCRETE_EXP, false));
  step s = take(&b, AG_ROLE_DISCRETE, 1, 0.25, 1, 0);
  const ag_dims *n = &b.sys->n;
  double *out = room(s.n * (s.n + 1)), *q = b.x, *xi = b.x + n->q;
  evaluate(&s, out);
  AG_CHECK_NEAR(out[n->xi], xi[2] - (q[1] + 0.25 * xi[1]) * xi[0] - 1, 1e-14);
  free(out), free(s.z);
  bench_done(&b);
}

int main(void) {
  int failed = each_case(check);
  check_free();
  return failed || ag_check_report();
}
