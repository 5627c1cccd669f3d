/* SPDX-License-Identifier: MIT
 * What a run may be projected onto: values against the energy and the observables, gradients against the motion. A
 * quantity that is constant changes along the motion at the rate g_t + grad g . z' = 0. */
#include "tests/mech_models.h"

/* grad g . z' in the tangent of z. */
static double along_motion(bench_system *b, const double *grad) {
  const ag_dims *n = &b->sys->n;
  int *place = ag_heap_alloc(sizeof *place * (size_t)(n->xi + 1)), u_at = ag_tangent_places(b->sys, place);
  double *dz = room(n->z), sum = 0;
  AG_CHECK(ag_work_rhs(b->w, b->t, b->z, b->basis, dz) == AG_FINE);
  for (int k = 0; k < n->xi; k++) sum += grad[place[k]] * b->x[n->q + k];
  for (int k = 0; k < n->u; k++) sum += grad[u_at + k] * dz[n->u_at + k];
  free(place), free(dz);
  return sum;
}

static void check_energy(bench_system *b) {
  int m = ag_turn_tangent(b->sys);
  ag_text why = {0};
  bool refused = ag_levels_refused(b->sys, "energy", &why);
  AG_CHECK(refused == (ag_text_cstr(&why)[0] != 0) && ag_system_levels(b->sys, "energy") == !refused);
  ag_text_done(&why);
  if (refused) return;
  int k = b->sys->n.level, n_out = k * (2 + m);
  double *out = room(n_out);
  AG_CHECK(k == ag_kept_positions(b->sys) + 1);
  for (unsigned seed = 1; seed <= 3; seed++) {
    AG_CHECK(take_sample(b, seed));
    AG_CHECK(ag_work_role(b->w, AG_ROLE_LEVELS, b->t, b->z, b->basis, out) == AG_FINE);
    AG_CHECK_NEAR(out[k - 1], ag_work_energy(b->w, b->t, b->x, NULL), 1e-13);
    for (int i = 0; i < k; i++) AG_CHECK_NEAR(out[k + i] + along_motion(b, out + 2 * k + i * m), 0, 1e-12);
  }
  free(out);
}

static void check_names(void) {
  bench_system b;
  ag_text text = {0};
  bench_init(&b, &(mech_case){.make = heisenberg});
  AG_CHECK(ag_levels_refused(b.sys, "bot", &text) && strstr(ag_text_cstr(&text), "did you mean `both`"));
  ag_text_clear(&text);
  AG_CHECK(ag_levels_refused(b.sys, "", &text) && !strcmp(ag_text_cstr(&text), "no name given"));
  ag_text_clear(&text);
  AG_CHECK(ag_levels_refused(b.sys, "constraint", &text) && strstr(ag_text_cstr(&text), "no position constraint"));
  AG_CHECK(ag_system_levels(b.sys, "energy, both") && b.sys->n.level == 3);
  ag_text_clear(&text);
  ag_levels_name(b.sys, "energy, both", 2, &text);
  AG_CHECK_STR(ag_text_cstr(&text), "both");
  ag_text_done(&text);
  bench_done(&b);
}

int main(void) {
  int failed = each_case(check_energy);
  check_names();
  return failed || ag_check_report();
}
