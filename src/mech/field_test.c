/* SPDX-License-Identifier: MIT
 * Fields made from the increment, against closed forms: with dx = 0.3 dW_1 + 0.5 x o dW_2 and the momentum that goes
 * with it, g_1 = (0.3, 0), g_2 = (0.5 x, -0.5 p). On a top, turns about two axes. */
#include "tests/noise_models.h"

typedef struct laid {
  bench_system b;
  double *step, *plain, *made;
} laid;

static void evaluate(laid *l, ag_followed field) {
  AG_CHECK(ag_system_field(l->b.sys, field));
  ag_work_free(l->b.w);
  l->b.w = ag_work_create(l->b.sys, l->b.sys->params);
  ag_work_step(l->b.w, l->step);
  int role = AG_ROLE_INCREMENT + AG_FIELD_ROLES * (int)field;
  AG_CHECK(ag_work_increment(l->b.w, AG_ROLE_INCREMENT, l->b.t, l->b.z, l->b.basis, l->plain) == AG_FINE);
  AG_CHECK(ag_work_increment(l->b.w, role, l->b.t, l->b.z, l->b.basis, l->made) == AG_FINE);
}

static void lay(laid *l, ag_model *(*make)(void)) {
  bench_init(&l->b, &(mech_case){.make = make});
  l->step = room(16), l->plain = room(l->b.sys->n.z), l->made = room(l->b.sys->n.z);
  AG_CHECK(take_sample(&l->b, 1));
  l->step[0] = 0.25, l->step[1] = 0.1, l->step[2] = -0.2, l->step[3] = 0.7; /* h, dW, A_12 */
}

static void lift(laid *l) {
  free(l->step), free(l->plain), free(l->made);
  bench_done(&l->b);
}

static void check_line(void) {
  laid l;
  lay(&l, stretched);
  double x = l.b.z[0], p = l.b.z[1], h = 0.25, A = 0.7;
  evaluate(&l, AG_FIELD_OF_ITO); /* h/2 D_{g_2} g_2 = h/8 (x, p); g_1 is constant along itself */
  AG_CHECK_NEAR(l.made[0] - l.plain[0], h / 8 * x, 1e-15);
  AG_CHECK_NEAR(l.made[1] - l.plain[1], h / 8 * p, 1e-15);
  evaluate(&l, AG_FIELD_OF_LOG); /* [g_1, g_2] = D_1 g_2 - D_2 g_1 = (0.15, 0) */
  AG_CHECK_NEAR(l.made[0] - l.plain[0], A * 0.15, 1e-15);
  AG_CHECK_NEAR(l.made[1] - l.plain[1], 0, 1e-15);
  lift(&l);
}

/* [0.3 e1, 0.2 e2] = 0.06 e3 on the rotation: an image g = R^T c moves by g x 0.06 e3 A. */
static void check_turns(void) {
  laid l;
  int at, rotation;
  lay(&l, shaken_top);
  AG_CHECK(ag_system_image(l.b.sys, 0, &at, &rotation));
  evaluate(&l, AG_FIELD_OF_LOG);
  const double *g = l.b.z + at, w = 0.7 * 0.06;
  AG_CHECK_NEAR(l.made[at] - l.plain[at], g[1] * w, 1e-14);
  AG_CHECK_NEAR(l.made[at + 1] - l.plain[at + 1], -g[0] * w, 1e-14);
  AG_CHECK_NEAR(l.made[at + 2] - l.plain[at + 2], 0, 1e-14);
  lift(&l);
}

int main(void) {
  check_line();
  check_turns();
  return ag_check_report();
}
