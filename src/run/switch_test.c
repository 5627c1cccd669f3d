/* SPDX-License-Identifier: MIT
 * The first place of a step where equations switch, against closed forms, forwards and backwards. */
#include "tests/point_mover.h"

/* x'' = -sign(x - 1) from x = 0, v = 1: x = t + t^2/2 = 1 at sqrt(3) - 1. The branch holds beyond it, where the motion
 * stays the parabola. */
static void check_place(void) {
  point p = point_model(0, 1);
  ag_run_options o;
  ag_mover m = {0};
  point_force(&p, ag_neg(p.g, ag_apply1(p.g, AG_OP_SIGN, ag_sub(p.g, p.x, ag_num(p.g, 1)))));
  AG_CHECK(point_derive(&p));
  point_mover(&p, &m, &o);
  double at, want = sqrt(3) - 1, h[] = {0.7, 0.74, 1, 5};
  for (int i = 0; i < 4; i++) {
    point_step(&m, 0, h[i]);
    AG_CHECK_NEAR(m.z1[0], h[i] + h[i] * h[i] / 2, 1e-13);
    bool found = ag_switch_first(&m, 0, h[i], &at);
    AG_CHECK(found == (h[i] > want));
    if (found) AG_CHECK_NEAR(at, want, 1e-14);
  }
  point_step(&m, 0, -4); /* x = t + t^2/2 = 1 at -1 - sqrt(3), too */
  AG_CHECK(ag_switch_first(&m, 0, -4, &at));
  AG_CHECK_NEAR(at, -1 - sqrt(3), 1e-14);
  ag_mover_free(&m);
  point_free(&p);
}

/* Of several surfaces the first; a surface of time that is crossed twice in a step: if sin(9 t) > 0.99. */
static void check_first(void) {
  point p = point_model(0, 1);
  ag_run_options o;
  ag_mover m = {0};
  ag_id bound = ag_num(p.g, 0.99), sine = ag_apply1(p.g, AG_OP_SIN, ag_mul(p.g, ag_num(p.g, 9), p.t));
  ag_id on = ag_apply2(p.g, AG_OP_LT, bound, sine), zero = ag_num(p.g, 0), one = ag_num(p.g, 1);
  ag_id push = ag_select(p.g, on, one, zero), wall = ag_apply2(p.g, AG_OP_MIN, zero, ag_sub(p.g, one, p.x));
  point_force(&p, ag_add(p.g, push, wall));
  AG_CHECK(point_derive(&p) && ag_system_dims(p.sys)->switches == 2);
  point_mover(&p, &m, &o);
  double at;
  point_step(&m, 0, 10); /* the wall comes at t = 1 */
  AG_CHECK(ag_switch_first(&m, 0, 10, &at));
  AG_CHECK_NEAR(at, asin(0.99) / 9, 1e-14);
  point_step(&m, 0, 0.1);
  AG_CHECK(!ag_switch_first(&m, 0, 0.1, &at));
  ag_mover_free(&m);
  point_free(&p);
}

/* Smooth equations have nothing of this. */
static void check_none(void) {
  point p = point_model(0, 1);
  ag_run_options o;
  ag_mover m = {0};
  point_force(&p, ag_neg(p.g, p.x));
  AG_CHECK(point_derive(&p));
  point_mover(&p, &m, &o);
  AG_CHECK(!m.switches && !m.pulse && !ag_switch_slides(&m));
  ag_mover_free(&m);
  point_free(&p);
}

int main(void) {
  check_place();
  check_first();
  check_none();
  return ag_check_report();
}
