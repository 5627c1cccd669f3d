/* SPDX-License-Identifier: MIT
 * A stage of a SPARK method: at x = 0 it gives the momentum and the forces of the state itself, and its derivative is
 * that of its values (central differences, step 1e-5: 1e-7 covers their error of second order and their rounding). */
#include "tests/mech_models.h"

typedef struct stage {
  bench_system *b;
  int n, r, m, u_at, *place;
  double *z, *out;
} stage;

static void evaluate(stage *s, double *out) {
  AG_CHECK(ag_work_role(s->b->w, ag_discrete_role_of(AG_DISCRETE_SPARK, false), s->b->t, s->z, s->b->basis, out) == 0);
}

/* Number k of x, v, Lambda behind z. */
static double *unknown(const stage *s, int k) {
  double *x = s->z + s->b->sys->n.z, *lambda = x + s->m, *v = lambda + s->r;
  if (k >= 2 * s->n) return lambda + k - 2 * s->n;
  int at = k % s->n;
  return (k < s->n ? x : v) + (at < s->u_at ? at : at + s->b->sys->n.u);
}

static void check_stage(stage *s, unsigned seed) {
  const ag_dims *d = &s->b->sys->n;
  int n = 2 * s->n + s->r, n_out = s->n + n + n * n;
  double *up = room(n_out), *down = room(n_out), *out = room(n_out), e = 1e-5;
  AG_CHECK(take_sample(s->b, seed));
  memset(s->z, 0, sizeof(double) * (size_t)(d->z + 2 * s->m + s->r + 3));
  memcpy(s->z, s->b->z, sizeof(double) * (size_t)d->z);
  s->z[d->z + 2 * s->m + s->r] = 0.1;
  for (int k = 0; k < d->xi; k++) s->z[d->z + s->m + s->r + s->place[k]] = s->b->x[d->q + k];
  evaluate(s, out);
  for (int i = 0; i < s->n; i++) AG_CHECK_NEAR(out[s->n + i], out[i], 1e-13);       /* P at x = 0 is p at the start */
  for (int i = 0; i < s->r; i++) AG_CHECK_NEAR(out[s->n + 2 * s->n + i], 0, 1e-13); /* the constraints hold */
  for (int k = 0; k < n; k++) *unknown(s, k) += 0.03 * (k + 1);
  evaluate(s, out);
  for (int k = 0; k < n; k++) {
    double *x = unknown(s, k), at = *x;
    *x = at + e, evaluate(s, up);
    *x = at - e, evaluate(s, down);
    *x = at;
    for (int i = 0; i < n; i++)
      AG_CHECK_NEAR((up[s->n + i] - down[s->n + i]) / (2 * e), out[s->n + n + i * n + k], 1e-7);
  }
  free(up), free(down), free(out);
}

static void check(bench_system *b) {
  const ag_dims *d = &b->sys->n;
  if (!ag_system_discrete(b->sys, AG_DISCRETE_SPARK, false)) {
    AG_CHECK(ag_system_discrete_lacks(b->sys, AG_DISCRETE_SPARK, false) != NULL);
    return;
  }
  stage s = {.b = b, .n = d->xi, .r = d->lambda, .m = ag_turn_tangent(b->sys)};
  s.place = ag_heap_alloc(sizeof *s.place * (size_t)(d->xi + 1));
  s.u_at = ag_tangent_places(b->sys, s.place);
  s.z = room(d->z + 2 * s.m + s.r + 3);
  for (unsigned seed = 1; seed <= 2; seed++) check_stage(&s, seed);
  free(s.place), free(s.z);
}

int main(void) { return each_case(check); }
