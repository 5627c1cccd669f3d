/* SPDX-License-Identifier: MIT
 * Position constraints solved for what is not named. */
#include <math.h>

#include "tests/chain_model.h"
#include "tests/check.h"

static void check_solve(const ag_system *sys, const double *from, const bool *named, bool solved, const bool *moved) {
  double q[2] = {from[0], from[1]}, gap;
  bool got[2];
  int row;
  AG_CHECK(ag_position_solve(sys, 0, sys->params, named, q, got, &gap, &row) == solved);
  for (int k = 0; k < 2; k++) AG_CHECK(!named[k] || q[k] == from[k]);
  AG_CHECK((gap <= 1e-13) == solved && row == 0);
  AG_CHECK_NEAR(chain_error(1, q, NULL), gap, 1e-13);
  for (int k = 0; k < 2 && solved; k++) AG_CHECK(got[k] == moved[k]);
}

int main(void) {
  const double start[] = {0.6, 0.8};
  chain c = {.n = 1, .q = start};
  ag_ctx ctx = {0};
  ag_model *m;
  ag_system *sys = chain_system(&ctx, &c, &m);
  AG_CHECK(sys != NULL);
  if (sys) {
    static const bool first[2] = {true, false}, second[2] = {false, true}, both[2] = {true, true};
    check_solve(sys, (double[]){0.6, 0.3}, first, true, second);
    check_solve(sys, (double[]){0.6, 0}, first, true, second); /* the gradient vanishes: guesses nearby find it */
    check_solve(sys, (double[]){0.1, -0.8}, second, true, first);
    check_solve(sys, (double[]){0.6, 0.8}, first, true, second); /* already there: what nearby starts would move */
    check_solve(sys, (double[]){0.6, 0.7}, both, false, NULL);
    check_solve(sys, (double[]){1.5, 0.1}, first, false, NULL);
  }
  ag_system_free(sys);
  ag_model_free(m);
  ag_ctx_done(&ctx);
  return ag_check_report();
}
