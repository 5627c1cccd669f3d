/* SPDX-License-Identifier: MIT
 * Lagrangians and constraints that jump are refused; those that bend, or are switched in time without an impulse, are
 * not. */
#include "tests/point_model.h"

static ag_id step_of(const point *p, ag_id x, double at, double low, double high) {
  ag_id before = ag_apply2(p->g, AG_OP_LT, x, ag_num(p->g, at)), a = ag_num(p->g, low), b = ag_num(p->g, high);
  return ag_select(p->g, before, a, b);
}

static ag_id ramp_of(const point *p, ag_id x, double at) {
  return ag_apply2(p->g, AG_OP_MAX, ag_num(p->g, 0), ag_sub(p->g, x, ag_num(p->g, at)));
}

enum { CASES = 7 };

/* What is subtracted from v^2/2 in case i. */
static ag_id potential(const point *p, int i) {
  ag_graph *g = p->g;
  ag_id vv = ag_mul(g, p->v, p->v), late = ag_sub(g, p->x, p->t);
  switch (i) {
  case 0: return step_of(p, p->x, 3, 0, 5);                      /* jumps */
  case 1: return step_of(p, late, 1, 0, 0.1);                    /* a wall that moves */
  case 2: return ag_mul(g, vv, step_of(p, p->x, 1, -1, 0));      /* the mass jumps */
  case 3: return ag_mul(g, vv, step_of(p, p->t, 1, -1, 0));      /* at a given time */
  case 4: return ramp_of(p, p->x, 3);                            /* bends */
  case 5: return ag_mul(g, p->x, step_of(p, p->t, 1, 0, 1));     /* a force is switched on */
  default: return ag_neg(g, ag_mul(g, vv, ramp_of(p, p->t, 1))); /* the mass begins to grow */
  }
}

static void check_lagrangians(void) {
  for (int i = 0; i < CASES; i++) {
    point p = point_model(0, 1);
    p.m->lagrangian = ag_sub(p.g, p.m->lagrangian, potential(&p, i));
    AG_CHECK(point_derive(&p) == (i >= 4) && p.ctx.n_error == (i < 4));
    point_free(&p);
  }
}

/* y' = k x': k jumps with x or t, or is continuous. A factor in front of a row is not a jump, nor is one that wakes. */
static void check_rows(void) {
  for (int i = 0; i < 5; i++) {
    point p = point_model(0, 1);
    int k = ag_model_add_coord(p.m, "y", NULL, NULL, NULL, 0, AG_SPACE_R, 1, (ag_pos){0});
    ag_id w = p.m->coords[k].xi, half = ag_num(p.g, 0.5), one = ag_num(p.g, 1);
    p.m->lagrangian = ag_add(p.g, p.m->lagrangian, ag_mul(p.g, half, ag_mul(p.g, w, w)));
    ag_id slope = i == 0 ? step_of(&p, p.x, 1, 1, 2) : i == 1 ? step_of(&p, p.t, 1, 1, 2) : one;
    if (i == 2) slope = ag_add(p.g, one, ramp_of(&p, p.t, 1));
    ag_id row = ag_sub(p.g, w, ag_mul(p.g, slope, p.v));
    if (i == 3) row = ag_mul(p.g, step_of(&p, p.x, 1, 1, 2), row);
    if (i == 4) row = ag_mul(p.g, step_of(&p, p.x, 1, 0, 2), row);
    ag_model_add_constraint(p.m, row, NULL, (ag_pos){0});
    AG_CHECK(point_derive(&p) == (i >= 2));
    point_free(&p);
  }
}

int main(void) {
  check_lagrangians();
  check_rows();
  return ag_check_report();
}
