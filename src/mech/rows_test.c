/* SPDX-License-Identifier: MIT
 * Rows of constraints: their rank, and points moved onto the position level. */
#include <math.h>

#include "tests/chain_model.h"
#include "tests/check.h"

/* A row that follows from another is dropped, with a note; the others are kept. */
static void check_rank(bool saddle) {
  const double q[] = {0.6, 0.8, 1.2, 0};
  chain c = {.n = 2, .again = true, .saddle = saddle, .q = q};
  ag_ctx ctx = {0};
  ag_model *m;
  ag_system *sys = chain_system(&ctx, &c, &m);
  AG_CHECK(sys != NULL);
  if (sys) {
    AG_CHECK(sys->n.row == 3 && sys->n.lambda == 2 && sys->n.rank == 2);
    AG_CHECK(sys->rows[0].kept != sys->rows[1].kept && sys->rows[2].kept); /* either of the two */
    AG_CHECK(ctx.n_diag > 0);
  }
  ag_system_free(sys);
  ag_model_free(m);
  ag_ctx_done(&ctx);
}

/* Rows that contradict each other are refused: p1' = 0 and p1' = 1 in one component. */
static void check_contradiction(bool saddle) {
  const double q[] = {0.6, 0.8};
  chain c = {.n = 1, .saddle = saddle, .q = q};
  ag_ctx ctx = {0};
  ag_model *m = chain_model(&c);
  ag_id v = ag_entry(m->graph, m->coords[0].xi, 0, 0), one = ag_num(m->graph, 1);
  ag_system *sys = NULL;
  ag_model_add_constraint(m, v, NULL, (ag_pos){0});
  ag_model_add_constraint(m, ag_sub(m->graph, v, one), NULL, (ag_pos){0});
  AG_CHECK(ag_system_create(&ctx, m, &(ag_derive_options){.saddle = saddle}, &sys) == AG_WRONG && ctx.n_error > 0);
  ag_model_free(m);
  ag_ctx_done(&ctx);
}

/* The shortest steps onto a circle go along the radius; a chain is reached from anywhere near. */
static void check_projection(int n, bool again, bool saddle) {
  double q0[8] = {0.6, 0.8, 1.2, 0, 1.2, 1, 2.2, 1}, q[8];
  chain c = {.n = n, .again = again, .saddle = saddle, .q = q0};
  ag_ctx ctx = {0};
  ag_model *m;
  ag_system *sys = chain_system(&ctx, &c, &m);
  uint64_t random = 5;
  AG_CHECK(sys != NULL);
  for (int k = 0; k < 20 && sys; k++) {
    for (int i = 0; i < 2 * n; i++) q[i] = q0[i] + 0.3 * chain_random(&random);
    double x = q[0], y = q[1], r = hypot(x, y);
    AG_CHECK(ag_position_project(sys, 0, sys->params, q));
    AG_CHECK(chain_error(n, q, NULL) <= 1e-12);
    if (n == 1) AG_CHECK_NEAR(q[0], x / r, 1e-13);
    if (n == 1) AG_CHECK_NEAR(q[1], y / r, 1e-13);
  }
  ag_system_free(sys);
  ag_model_free(m);
  ag_ctx_done(&ctx);
}

int main(void) {
  for (int saddle = 0; saddle < 2; saddle++) {
    check_rank(saddle);
    check_contradiction(saddle);
    for (int n = 1; n <= 4; n++)
      for (int again = 0; again < 2; again++) check_projection(n, again, saddle);
  }
  return ag_check_report();
}
