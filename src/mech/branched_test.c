/* SPDX-License-Identifier: MIT
 * The multiplier form on a branch: a row whose factor chooses, friction and a bend, against the form that chooses where
 * it stands, and on the other side of a surface. */
#include "mech/mech_internal.h"
#include "tests/mech_models.h"

/* max(0, 1 - x) (y' - z') = 0; x'' = -sign(x'), y'' = |y|, z'' = 0 before the constraint. */
static ag_model *tied(void) {
  ag_model *m = ag_model_create("tied");
  ag_graph *g = m->graph;
  int x = scalar(m, "x", AG_SPACE_R), y = scalar(m, "y", AG_SPACE_R), z = scalar(m, "z", AG_SPACE_R);
  ag_id one = ag_num(g, 1), zero = ag_num(g, 0), left = ag_sub(g, one, m->coords[x].q);
  ag_id factor = ag_apply2(g, AG_OP_MAX, zero, left), slip = ag_sub(g, m->coords[y].xi, m->coords[z].xi);
  ag_id rub = ag_apply1(g, AG_OP_SIGN, m->coords[x].xi), bend = ag_apply1(g, AG_OP_ABS, m->coords[y].q);
  m->lagrangian = unit_kinetic(m);
  ag_model_add_constraint(m, ag_mul(g, factor, slip), NULL, nowhere);
  AG_MODEL_PUSH(m, forces, ((ag_assign){.coord = x, .row = -1, .x = ag_neg(g, rub)}));
  AG_MODEL_PUSH(m, forces, ((ag_assign){.coord = y, .row = -1, .x = bend}));
  start_at(m, true, x, -1, 1);
  return m;
}

/* Which of the functions has this value, up to its sign. */
static int with_value(int n, const double *s, double value) {
  for (int i = 0; i < n; i++)
    if (fabs(s[i]) == fabs(value)) return i;
  return -1;
}

static void check_branches(const ag_system *sys, ag_work *w) {
  enum { N = 3, X = 6 };
  for (int i = 0; i < 16; i++) {
    double x[X] = {0.4 * (i % 4) + 0.3, 0.21 * (i / 4) - 0.32, 0.1, 0.17 * (i % 3) - 0.2, 0.6, 0.6};
    double c[N + N], s[N], rates[N], dx[X], chosen[X];
    bool acts = x[0] < 1;
    ag_work_full_branches(w, 0, x, c);
    ag_work_branch(w, NULL);
    AG_CHECK(!ag_work_rhs_full(w, 0, x, chosen));
    ag_work_branch(w, c);
    AG_CHECK(!ag_work_rhs_full(w, 0, x, dx));
    for (int k = 0; k < X; k++) AG_CHECK(dx[k] == chosen[k]);
    AG_CHECK_NEAR(dx[4], fabs(x[1]) / (acts ? 2 : 1), 1e-14);
    AG_CHECK_NEAR(dx[5], acts ? fabs(x[1]) / 2 : 0, 1e-14);
    memcpy(c + N, dx + 3, sizeof(double) * N);
    AG_CHECK(!ag_work_role(w, AG_ROLE_FULL_SWITCHES, 0, x, c, s) &&
             !ag_work_role(w, AG_ROLE_FULL_RATES, 0, x, c, rates));
    int row = with_value(N, s, 1 - x[0]), rub = with_value(N, s, x[3]), bend = with_value(N, s, x[1]);
    AG_CHECK(row >= 0 && rub >= 0 && bend >= 0 && row != rub && rub != bend && row != bend);
    for (int k = 0; k < N; k++) AG_CHECK(c[k] * s[k] > 0);
    AG_CHECK_NEAR(fabs(rates[row]), fabs(x[3]), 1e-15);
    AG_CHECK_NEAR(rates[rub] * (s[rub] * x[3] > 0 ? 1 : -1), dx[3], 1e-15);
    AG_CHECK_NEAR(fabs(rates[bend]), fabs(x[4]), 1e-15);
    c[row] = -c[row], c[rub] = -c[rub]; /* beyond both surfaces, at the same place */
    AG_CHECK(!ag_work_rhs_full(w, 0, x, dx));
    AG_CHECK_NEAR(dx[3], x[3] > 0 ? 1 : -1, 1e-15);
    AG_CHECK_NEAR(dx[5], acts ? 0 : fabs(x[1]) / 2, 1e-14);
    ag_work_due(w, 1, 0); /* as many rows as this must act */
    AG_CHECK((ag_work_rhs_full(w, 0, x, dx) == AG_FINE) == !acts);
    ag_work_due(w, 0, 0);
  }
  AG_CHECK(sys->n.full_switches == N);
}

int main(void) {
  ag_ctx ctx = {0};
  ag_model *m = tied();
  ag_system *sys = NULL;
  AG_CHECK(ag_system_create(&ctx, m, &(ag_derive_options){0}, &sys) == AG_OK);
  if (sys) {
    AG_CHECK(sys->n.full_switches == 0);
    ag_system_branched(sys);
    ag_work *w = ag_work_create(sys, ag_system_param_values(sys));
    AG_CHECK(ag_work_take_rows(w, -1));
    check_branches(sys, w);
    ag_work_free(w);
  }
  ag_system_free(sys);
  ag_model_free(m);
  ag_ctx_done(&ctx);
  return ag_check_report();
}
