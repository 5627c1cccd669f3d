/* SPDX-License-Identifier: MIT
 * A quaternion turned onto an image of its rotation: a difference of size e is of size e^2 afterwards, and a quaternion
 * that agrees stays. */
#include "math/lie.h"
#include "tests/mech_models.h"

static ag_id *turned(ag_graph *g, ag_id q, ag_id delta) {
  static ag_id out[4];
  ag_id parts[4], by[3];
  for (int i = 0; i < 4; i++) parts[i] = ag_entry(g, q, i, 0);
  for (int i = 0; i < 3; i++) by[i] = ag_entry(g, delta, i, 0);
  ag_quaternion_turned(g, parts, by, out);
  return out;
}

/* q (1, delta/2), scaled to 1. */
static void check_turned(void) {
  ag_model *m = ag_model_create("align");
  ag_graph *g = m->graph;
  ag_id inputs[2] = {ag_input(g, "q", 4, 1, AG_LEAF_REAL), ag_input(g, "d", 3, 1, AG_LEAF_REAL)};
  double at[7] = {0.5, 0.1, -0.7, 0.5, 0.02, -0.01, 0.03}, half[4] = {1, 0.01, -0.005, 0.015}, expected[4], out[4];
  AG_CHECK_NEAR(ag_lie_quat_normalise(at), 1, 1e-15);
  ag_lie_quat_mul(at, half, expected);
  ag_lie_quat_normalise(expected);
  AG_CHECK(ag_evaluate(g, 2, inputs, at, 4, turned(g, inputs[0], inputs[1]), out) == 0);
  for (int i = 0; i < 4; i++) AG_CHECK_NEAR(out[i], expected[i], 1e-15);
  ag_model_free(m);
}

/* A ball with a blade in its body that may not turn about R^T e1: Omega . R^T e1 = 0 needs a basis, and R enters by
 * images alone. */
static ag_model *veselova(void) {
  ag_model *m = top();
  ag_graph *g = m->graph;
  ag_id e3 = vec3(g, 0, 0, 1), gamma = ag_mul(g, ag_transpose(g, m->coords[0].q), e3);
  m->name = "veselova";
  m->n_starts = 0;
  ag_model_add_constraint(m, ag_dot(g, gamma, m->coords[0].xi), NULL, nowhere);
  return m;
}

static double apart(const double *z, int at, int rotation) {
  double h[3], back[4], e3[3] = {0, 0, 1}, worst = 0;
  ag_lie_quat_conj(z + rotation, back);
  ag_lie_quat_rotate(back, e3, h);
  for (int i = 0; i < 3; i++) worst = fmax(worst, fabs(h[i] - z[at + i]));
  return worst;
}

static void check_role(void) {
  bench_system b;
  int at, rotation;
  bench_init(&b, &(mech_case){.make = veselova});
  AG_CHECK(b.sys->elimination == AG_ELIM_BASIS && ag_system_image(b.sys, 0, &at, &rotation));
  AG_CHECK(take_sample(&b, 2));
  double *out = room(b.sys->n.z), turn[3] = {1e-4, -2e-4, 1.5e-4}, dq[4];
  AG_CHECK(ag_work_role(b.w, AG_ROLE_ALIGN, b.t, b.z, b.basis, out) == AG_FINE);
  for (int i = 0; i < b.sys->n.z; i++) AG_CHECK_NEAR(out[i], b.z[i], 1e-14);
  ag_lie_exp(turn, dq);
  ag_lie_quat_mul(b.z + rotation, dq, b.z + rotation);
  double before = apart(b.z, at, rotation);
  AG_CHECK(ag_work_role(b.w, AG_ROLE_ALIGN, b.t, b.z, b.basis, out) == AG_FINE);
  AG_CHECK(before > 1e-5 && apart(out, at, rotation) < 10 * before * before);
  free(out);
  bench_done(&b);
}

int main(void) {
  check_turned();
  check_role();
  return ag_check_report();
}
