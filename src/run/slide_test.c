/* SPDX-License-Identifier: MIT
 * What follows where switching functions are zero: the other side, sliding, rest, or a named end. */
#include "tests/point_mover.h"

/* x'' = push - mu sign(v - c), at v = c. */
static ag_turn decide(double push, double mu, double c, double *rate) {
  point p = point_model(0, c);
  ag_run_options o;
  ag_mover m = {0};
  ag_id rub = ag_apply1(p.g, AG_OP_SIGN, ag_sub(p.g, p.v, ag_num(p.g, c)));
  point_force(&p, ag_sub(p.g, ag_num(p.g, push), ag_mul(p.g, ag_num(p.g, mu), rub)));
  AG_CHECK(point_derive(&p));
  point_mover(&p, &m, &o);
  ag_turn turn = ag_slide_decide(&m, 0, 1, 0.1);
  *rate = ag_mover_rhs(&m, 0, m.z, m.dz) ? NAN : m.dz[0]; /* the force does not read x: v comes first */
  AG_CHECK(turn != AG_TURN_ON || ag_switch_slides(&m) == (fabs(push) <= mu));
  ag_mover_free(&m);
  point_free(&p);
  return turn;
}

static void check_turns(void) {
  double rate;
  AG_CHECK(decide(2, 0.5, 0, &rate) == AG_TURN_ON && rate == 1.5);          /* goes on upwards */
  AG_CHECK(decide(-2, 0.5, 0, &rate) == AG_TURN_ON && rate == -1.5);        /* downwards */
  AG_CHECK(decide(0.3, 0.5, 0, &rate) == AG_TURN_STICKS);                   /* held */
  AG_CHECK(decide(0.3, 0.5, 1, &rate) == AG_TURN_ON && fabs(rate) < 1e-15); /* carried along at v = 1 */
  AG_CHECK(decide(0.3, -0.5, 0, &rate) == AG_TURN_FORKS);                   /* pushed away from both sides */
}

/* x'' = -sign(x + v) on x + v = 0 slides as x' = -x; a state beside the surface is put back without moving x. */
static void check_relay(void) {
  point p = point_model(0.5, -0.5);
  ag_run_options o;
  ag_mover m = {0};
  point_force(&p, ag_neg(p.g, ag_apply1(p.g, AG_OP_SIGN, ag_add(p.g, p.x, p.v))));
  AG_CHECK(point_derive(&p));
  point_mover(&p, &m, &o);
  AG_CHECK(ag_slide_decide(&m, 0, 1, 0.1) == AG_TURN_ON && ag_switch_slides(&m));
  AG_CHECK(!ag_mover_rhs(&m, 0, m.z, m.dz));
  AG_CHECK_NEAR(m.dz[0], -0.5, 1e-15);
  AG_CHECK_NEAR(m.dz[1], 0.5, 1e-15); /* between -1 and 1 */
  double z[2] = {0.5, -0.4};
  ag_slide_project(&m, 0, z);
  AG_CHECK_NEAR(z[0], 0.5, 1e-15);
  AG_CHECK_NEAR(z[1], -0.5, 1e-15);
  ag_mover_free(&m);
  point_free(&p);
}

int main(void) {
  check_turns();
  check_relay();
  return ag_check_report();
}
