/* SPDX-License-Identifier: MIT
 * A point of mass 1 on a line, built by function calls, for tests of equations that switch. */
#ifndef AG_TESTS_POINT_MODEL_H
#define AG_TESTS_POINT_MODEL_H
#include "mech/mech.h"
#include "model/parts.h"
#include "tests/check.h"

typedef struct point {
  ag_model *m;
  ag_graph *g;
  ag_id x, v, t;
  ag_system *sys;
  ag_ctx ctx;
} point;

/* At x0 with the velocity v0. */
static inline point point_model(double x0, double v0) {
  point p = {.m = ag_model_create("point")};
  p.g = p.m->graph;
  int k = ag_model_add_coord(p.m, "x", NULL, NULL, NULL, 0, AG_SPACE_R, 1, (ag_pos){0});
  p.x = p.m->coords[k].q, p.v = p.m->coords[k].xi, p.t = p.m->t;
  AG_MODEL_PUSH(p.m, starts, ((ag_start){false, k, -1, -1, ag_num(p.g, x0), {0}}));
  AG_MODEL_PUSH(p.m, starts, ((ag_start){true, k, -1, -1, ag_num(p.g, v0), {0}}));
  ag_id half = ag_num(p.g, 0.5), square = ag_mul(p.g, p.v, p.v);
  p.m->lagrangian = ag_mul(p.g, half, square);
  return p;
}

static inline void point_force(point *p, ag_id force) {
  AG_MODEL_PUSH(p->m, forces, ((ag_assign){.row = -1, .x = force}));
}

/* Can it be derived? */
static inline bool point_derive(point *p) {
  return ag_system_create(&p->ctx, p->m, &(ag_derive_options){0}, &p->sys) == AG_OK;
}

static inline void point_free(point *p) {
  ag_system_free(p->sys);
  ag_model_free(p->m);
  ag_ctx_done(&p->ctx);
}

/* exp(-((t - at)/width)^2) */
static inline ag_id point_push(const point *p, double at, double width) {
  ag_id late = ag_sub(p->g, p->t, ag_num(p->g, at)), part = ag_div(p->g, late, ag_num(p->g, width));
  return ag_apply1(p->g, AG_OP_EXP, ag_neg(p->g, ag_mul(p->g, part, part)));
}
#endif
