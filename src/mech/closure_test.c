/* SPDX-License-Identifier: MIT
 * The closure that is predicted to cost less: chains, pendula on one cart and single bodies, and what decides. */
#include <math.h>
#include <stdlib.h>

#include "mech/mech_internal.h"
#include "tests/chain_model.h"
#include "tests/check.h"

/* The elimination of a chain of n links derived with these options. */
static void check_chain(int n, bool by_cost, bool again) {
  double *q = calloc((size_t)(2 * n) + 1, sizeof *q);
  for (int i = 0; i < n; i++) q[2 * i] = i + 1;
  chain c = {.n = n, .again = again, .q = q};
  ag_model *m = NULL;
  ag_ctx ctx = {0};
  ag_system *eliminated = chain_system(&ctx, &c, &m), *chosen = NULL;
  AG_CHECK(eliminated != NULL);
  AG_CHECK(ag_system_create(&ctx, m, &(ag_derive_options){.by_cost = by_cost}, &chosen) == AG_OK);
  ag_closure_cost cost = ag_system_closure_cost(eliminated);
  int n_xi = ag_system_dims(eliminated)->xi;
  AG_CHECK((cost.eliminated > 0) == (n_xi >= 9 && n_xi <= AG_SADDLE_MAX));
  bool sparse = by_cost && !again && ag_closure_sparse(eliminated); /* redundant rows are left to elimination */
  if (n_xi <= AG_SADDLE_MAX) AG_CHECK((ag_system_elimination(chosen) == AG_ELIM_SADDLE) == sparse);
  if (sparse) { /* the start is the same */
    double *x = calloc((size_t)ag_system_dims(chosen)->x, sizeof *x), *y = calloc((size_t)ag_system_dims(chosen)->x, 8);
    ag_system_state0(eliminated, x);
    ag_system_state0(chosen, y);
    for (int i = 0; i < ag_system_dims(chosen)->x; i++) AG_CHECK(x[i] == y[i]);
    free(x), free(y);
  }
  ag_system_free(eliminated), ag_system_free(chosen);
  ag_model_free(m);
  ag_ctx_done(&ctx);
  free(q);
}

int main(void) {
  for (int n = 2; n <= 12; n += 5)
    for (int k = 0; k < 4; k++) check_chain(n, k & 1, k & 2);
  return ag_check_report();
}
