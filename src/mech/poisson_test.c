/* SPDX-License-Identifier: MIT
 * The almost-Poisson form against the equations of motion: with linear constraints, no forces and nothing that depends
 * on time, J grad E is the whole velocity of z. Solves with well-conditioned small matrices: some hundred roundings. */
#include "tests/mech_models.h"

static int n_compared;

static void compare(bench_system *b, int m, const double *grad, const double *J) {
  const ag_dims *n = &b->sys->n;
  int *place = ag_heap_alloc(sizeof *place * (size_t)(n->xi + 1)), u_at = ag_tangent_places(b->sys, place);
  double *dz = room(n->z);
  AG_CHECK(ag_work_rhs(b->w, b->t, b->z, b->basis, dz) == AG_FINE);
  for (int r = 0; r < m; r++) {
    double sum = 0;
    for (int c = 0; c < m; c++) {
      AG_CHECK(J[r * m + c] == -J[c * m + r]);
      sum += J[r * m + c] * grad[c];
    }
    double expected = 0;
    for (int k = 0; k < n->xi; k++)
      if (place[k] == r) expected = b->x[n->q + k];
    if (r >= u_at && r < u_at + n->u) expected = dz[n->u_at + r - u_at];
    AG_CHECK_NEAR(sum, expected, 1e-12);
    n_compared++;
  }
  free(place), free(dz);
}

static void check(bench_system *b) {
  const ag_tape *tape = ag_system_poisson(b->sys);
  AG_CHECK(!tape == (ag_system_discrete_lacks(b->sys, AG_DISCRETE_EXP, false) != NULL));
  int m = ag_turn_tangent(b->sys);
  double *out = room(1 + m + m * m);
  for (unsigned seed = 1; tape && seed <= 4; seed++) {
    AG_CHECK(take_sample(b, seed));
    AG_CHECK(ag_work_role(b->w, AG_ROLE_POISSON, b->t, b->z, b->basis, out) == AG_FINE);
    AG_CHECK_NEAR(out[0], ag_work_energy(b->w, b->t, b->x, NULL), 1e-13);
    if (ag_system_energy_law(b->sys) == AG_ENERGY_CONSERVED) compare(b, m, out + 1, out + 1 + m);
  }
  free(out);
}

int main(void) {
  int failed = each_case(check);
  AG_CHECK(n_compared > 100);
  return failed || ag_check_report();
}
