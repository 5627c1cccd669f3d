/* SPDX-License-Identifier: MIT
 * The worker of a large system against that of the same system treated as a small one: accelerations, multipliers,
 * reactions, states moved onto the constraints, condition numbers. */
#include "mech/work_internal.h"

#include <math.h>

#include "tests/chain_model.h"
#include "tests/check.h"

enum { N = 4, X = 2 * N };

static const double straight[X] = {0.6, 0.8, 1.2, 0, 1.2, 1, 2.2, 1};

static void compare(int n, const double *a, const double *b) {
  for (int i = 0; i < n; i++) AG_CHECK_NEAR(a[i], b[i], 1e-11); /* rounding times the condition, some hundred */
}

static void check_state(ag_work *w[2], uint64_t *random) {
  double x[2][2 * X], xidot[2][X], lambda[2][N], reaction[2][X], condition[2];
  for (int i = 0; i < 2 * X; i++) x[0][i] = x[1][i] = (i < X ? straight[i] : 0) + 0.1 * chain_random(random);
  for (int k = 0; k < 2; k++) {
    AG_CHECK(ag_work_settle_full(w[k], 0, x[k]) == AG_FINE);
    AG_CHECK(ag_work_accel(w[k], 0, x[k], xidot[k], lambda[k]) == AG_FINE);
    AG_CHECK(ag_work_reaction(w[k], 0, x[k], reaction[k]) == AG_FINE);
    condition[k] = ag_work_condition(w[k], 0, x[k]);
  }
  compare(2 * X, x[0], x[1]);
  compare(X, xidot[0], xidot[1]);
  compare(N, lambda[0], lambda[1]);
  compare(X, reaction[0], reaction[1]);
  AG_CHECK(condition[1] <= condition[0] * (1 + 1e-9) && condition[1] >= 0.3 * condition[0]); /* Hager's estimate */
  AG_CHECK(ag_saddle_residual(w[1], 0, x[1]) <= 1e-13);
}

int main(void) {
  ag_ctx ctx = {0};
  ag_model *m[2];
  ag_system *sys[2];
  ag_work *w[2];
  uint64_t random = 17;
  for (int k = 0; k < 2; k++) {
    chain c = {.n = N, .saddle = k, .q = straight};
    sys[k] = chain_system(&ctx, &c, &m[k]);
    AG_CHECK(sys[k] != NULL && (ag_system_elimination(sys[k]) == AG_ELIM_SADDLE) == (k == 1));
    w[k] = ag_work_create(sys[k], sys[k]->params);
  }
  for (int i = 0; i < 20; i++) check_state(w, &random);
  for (int k = 0; k < 2; k++) {
    ag_work_free(w[k]);
    ag_system_free(sys[k]);
    ag_model_free(m[k]);
  }
  ag_ctx_done(&ctx);
  return ag_check_report();
}
