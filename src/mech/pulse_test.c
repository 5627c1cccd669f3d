/* SPDX-License-Identifier: MIT
 * Which terms of the equations may be short in time. */
#include "mech/mech_internal.h"
#include "tests/point_model.h"

enum { CASES = 8 };

static ag_id force(const point *p, int i) {
  ag_graph *g = p->g;
  ag_id push = point_push(p, 40, 0.1), more = point_push(p, 60, 0.2), sine = ag_apply1(g, AG_OP_SIN, p->t);
  ag_id wave = ag_apply1(g, AG_OP_SIN, ag_mul(g, p->t, p->t)), met = ag_apply1(g, AG_OP_EXP, ag_sub(g, p->x, p->t));
  switch (i) {
  case 0: return sine;                                           /* one scale at all times */
  case 1: return ag_mul(g, p->t, ag_mul(g, p->t, sine));         /* slow */
  case 2: return push;                                           /* short */
  case 3: return ag_add(g, sine, push);                          /* of a sum the part that may be short */
  case 4: return ag_sub(g, more, push);                          /* two of them */
  case 5: return ag_mul(g, p->x, push);                          /* with a factor of the state */
  case 6: return wave;                                           /* faster and faster */
  default: return ag_add(g, met, ag_apply1(g, AG_OP_EXP, p->x)); /* met by the motion; in space alone it is not */
  }
}

int main(void) {
  static const int want[CASES] = {0, 0, 1, 1, 2, 1, 1, 1};
  for (int i = 0; i < CASES; i++) {
    point p = point_model(0, 1);
    point_force(&p, force(&p, i));
    AG_CHECK(point_derive(&p));
    if (p.sys) AG_CHECK(p.sys->n.pulses == want[i]);
    if (p.sys && p.sys->n.pulses != want[i]) fprintf(stderr, "case %d: %d terms\n", i, p.sys->n.pulses);
    point_free(&p);
  }
  return ag_check_report();
}
