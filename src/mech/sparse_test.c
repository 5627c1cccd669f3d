/* SPDX-License-Identifier: MIT
 * Large systems in numbers, on small ones: held values stay, velocities are the shortest that satisfy the rows, as the
 * pseudo-inverse gives them. */
#include <math.h>

#include "math/dense.h"
#include "tests/chain_model.h"
#include "tests/check.h"

enum { N = 4, X = 2 * N };

static const double straight[X] = {0.6, 0.8, 1.2, 0, 1.2, 1, 2.2, 1};

/* S of the chain at q: rows d_i . (v_i - v_{i-1}). */
static void rows_at(const double *q, double *S) {
  memset(S, 0, sizeof(double) * N * X);
  for (int i = 0; i < N; i++)
    for (int k = 0; k < 2; k++) {
      double d = q[2 * i + k] - (i ? q[2 * i - 2 + k] : 0);
      S[i * X + 2 * i + k] = d;
      if (i) S[i * X + 2 * i - 2 + k] = -d;
    }
}

static void check_position(const ag_system *sys, uint64_t *random) {
  bool held[X];
  double q[X], from[X];
  for (int i = 0; i < X; i++) {
    held[i] = i % 2 == 0 && i < 6;
    from[i] = q[i] = straight[i] + (held[i] ? 0.03 : 0.2) * chain_random(random);
  }
  AG_CHECK(ag_sparse_position(sys, 0, sys->params, held, q));
  AG_CHECK(chain_error(N, q, NULL) <= 1e-13);
  for (int i = 0; i < X; i++) AG_CHECK(!held[i] || q[i] == from[i]);
}

static void check_velocity(const ag_system *sys, uint64_t *random) {
  bool held[X];
  double xi[X], S[N * X], P[X * N], e[N] = {0}, want[X];
  rows_at(straight, S);
  for (int i = 0; i < X; i++) {
    held[i] = i == 1 || i == 6;
    xi[i] = held[i] ? chain_random(random) : 0;
    for (int r = 0; r < N; r++) e[r] += S[r * X + i] * xi[i];
    for (int r = 0; r < N && held[i]; r++) S[r * X + i] = 0;
  }
  ag_dense_pinv(N, X, S, P);
  for (int i = 0; i < X; i++) {
    want[i] = xi[i];
    for (int r = 0; r < N && !held[i]; r++) want[i] -= P[i * N + r] * e[r];
  }
  AG_CHECK(ag_sparse_velocity(sys, 0, sys->params, straight, held, xi) <= 1e-13);
  for (int i = 0; i < X; i++) AG_CHECK_NEAR(xi[i], want[i], 1e-13);
}

/* A correction changes the relations by -e to first order: exactly 2 d_i . (p'_i - p'_{i-1}). */
static void check_correction(const ag_system *sys, uint64_t *random) {
  bool held[X] = {false, false, true};
  double x[2 * X] = {0}, S[N * X], e[N], d[X] = {0};
  memcpy(x, straight, sizeof straight);
  for (int r = 0; r < N; r++) e[r] = chain_random(random);
  ag_sparse_correct(sys, false, 0, sys->params, x, held, e, d);
  rows_at(straight, S);
  AG_CHECK(d[2] == 0);
  for (int r = 0; r < N; r++) {
    double change = 0;
    for (int i = 0; i < X; i++) change += 2 * S[r * X + i] * d[i];
    AG_CHECK_NEAR(change, -e[r], 1e-13);
  }
}

int main(void) {
  chain c = {.n = N, .saddle = true, .q = straight};
  ag_ctx ctx = {0};
  ag_model *m;
  ag_system *sys = chain_system(&ctx, &c, &m);
  uint64_t random = 11;
  AG_CHECK(sys != NULL);
  for (int k = 0; k < 20 && sys; k++) {
    check_position(sys, &random);
    check_velocity(sys, &random);
    check_correction(sys, &random);
  }
  ag_system_free(sys);
  ag_model_free(m);
  ag_ctx_done(&ctx);
  return ag_check_report();
}
