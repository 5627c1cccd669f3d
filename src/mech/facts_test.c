/* SPDX-License-Identifier: MIT
 * What others ask: dimensions fit together, the start is a state on the constraints, groups of z that keep their length
 * do, and names are there for all of u. */
#include "tests/mech_models.h"

static void check_units(bench_system *b) {
  ag_span units[8];
  int n_z = b->sys->n.z, n = ag_system_units(b->sys, n_z, NULL), inside = 0;
  AG_CHECK(n <= 8 && ag_system_units(b->sys, n_z, units) == n);
  double *dz = room(n_z);
  AG_CHECK(take_sample(b, 4) && ag_work_rhs(b->w, b->t, b->z, b->basis, dz) == AG_FINE);
  for (int i = 0; i < n; i++) {
    double square = 0, rate = 0;
    for (int k = units[i].at; k < units[i].at + units[i].n; k++) square += b->z[k] * b->z[k], rate += b->z[k] * dz[k];
    AG_CHECK_NEAR(square, 1, 1e-14); /* unit quaternions; images of e3 */
    AG_CHECK_NEAR(rate, 0, 1e-13);
    inside += units[i].at < b->sys->n.core;
  }
  AG_CHECK(ag_system_units(b->sys, b->sys->n.core, NULL) == inside);
  free(dz);
}

static void check(bench_system *b) {
  const ag_system *sys = b->sys;
  const ag_dims *n = ag_system_dims(sys);
  AG_CHECK(n->x == n->q + n->xi + n->process && n->process == 0);
  AG_CHECK(n->core <= n->z && n->u_at + n->u == n->core && n->tangent <= n->z);
  AG_CHECK(n->rank <= n->lambda && n->lambda <= n->row && n->g <= n->row);
  AG_CHECK(b->c->saddle ? n->u == n->xi : n->u == n->xi - n->rank);
  AG_CHECK(ag_system_model(sys) == b->m && ag_system_graph(b->sys) == b->m->graph);
  AG_CHECK(ag_system_elimination(sys) == b->c->elimination && ag_system_t0(sys) == 0);
  ag_system_state0(sys, b->x);
  AG_CHECK(!memcmp(b->x, ag_system_q0(sys), sizeof(double) * (size_t)n->q));
  AG_CHECK(!memcmp(b->x + n->q, ag_system_xi0(sys), sizeof(double) * (size_t)n->xi));
  AG_CHECK(ag_work_residual(b->w, 0, b->x) < 1e-12);
  for (int i = 0; i < n->u; i++) AG_CHECK(ag_system_u_names(sys)[i][0] != 0);
  int kept = 0;
  for (int i = 0; i < n->row; i++) kept += ag_system_rows(sys)[i].kept;
  AG_CHECK(kept == n->lambda);
  check_units(b);
}

int main(void) { return each_case(check); }
