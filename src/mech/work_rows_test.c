/* SPDX-License-Identifier: MIT
 * A worker moves states onto the constraints by the shortest way, dense and as a large system, also where rows follow
 * from others: the mass matrix of the chain is the identity, so that the change of the velocities is orthogonal to all
 * velocities the constraints allow. */
#include "mech/work_internal.h"

#include <math.h>

#include "math/dense.h"
#include "tests/chain_model.h"
#include "tests/check.h"

enum { N = 3, X = 2 * N };

static const double straight[X] = {0.6, 0.8, 1.2, 0, 1.2, 1};

/* A basis of the velocities that the constraints allow at q, as columns; how many. */
static int allowed(const double *q, double *B) {
  double S[N * X] = {0};
  for (int i = 0; i < N; i++)
    for (int k = 0; k < 2; k++) {
      double d = q[2 * i + k] - (i ? q[2 * i - 2 + k] : 0);
      S[i * X + 2 * i + k] = d;
      if (i) S[i * X + 2 * i - 2 + k] = -d;
    }
  return X - ag_dense_null(N, X, S, 1e-10, B);
}

static void check_settled(ag_work *w, uint64_t *random, double size, double *x) {
  double from[2 * X], B[X * X];
  for (int i = 0; i < 2 * X; i++) from[i] = x[i] = (i < X ? straight[i] : 0) + size * chain_random(random);
  AG_CHECK(ag_work_settle_full(w, 0, x) == AG_FINE);
  AG_CHECK(chain_error(N, x, x + X) <= 1e-13);
  AG_CHECK(ag_work_residual(w, 0, x) <= 1e-13);
  int free = allowed(x, B);
  AG_CHECK(free == N);
  for (int j = 0; j < free; j++) {
    double along = 0;
    for (int i = 0; i < X; i++) along += B[i * free + j] * (x[X + i] - from[X + i]);
    AG_CHECK_NEAR(along, 0, 1e-13);
  }
}

int main(void) {
  for (int form = 0; form < 4; form++) {
    chain c = {.n = N, .again = form & 1, .saddle = form & 2, .q = straight};
    ag_ctx ctx = {0};
    ag_model *m;
    ag_system *sys = chain_system(&ctx, &c, &m);
    AG_CHECK(sys != NULL);
    if (sys) {
      ag_work *w = ag_work_create(sys, sys->params);
      uint64_t random = 3;
      double x[2 * X], again[2 * X];
      for (int k = 0; k < 30; k++) {
        check_settled(w, &random, k % 3 ? 1e-6 : 0.1, x);
        memcpy(again, x, sizeof x);
        AG_CHECK(ag_work_settle_full(w, 0, again) == AG_FINE);
        for (int i = 0; i < 2 * X; i++) AG_CHECK_NEAR(again[i], x[i], 1e-14); /* it stays where it is */
      }
      x[0] = NAN;
      AG_CHECK(ag_work_position(w, 0, x) == AG_TROUBLE_PROJECT);
      ag_work_free(w);
    }
    ag_system_free(sys);
    ag_model_free(m);
    ag_ctx_done(&ctx);
  }
  return ag_check_report();
}
