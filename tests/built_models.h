/* SPDX-License-Identifier: MIT
 * Models built by function calls, for tests below the language. */
#ifndef AG_TESTS_BUILT_MODELS_H
#define AG_TESTS_BUILT_MODELS_H
#include <math.h>

#include "model/parts.h"

static const ag_pos nowhere = {0};

/* r = -D gamma / sqrt(gamma . D gamma): contact point of an ellipsoid, from its centre, body frame */
static inline ag_id contact(ag_graph *g, ag_id D, ag_id gamma) {
  ag_id Dg = ag_mul(g, D, gamma);
  return ag_neg(g, ag_div(g, Dg, ag_apply1(g, AG_OP_SQRT, ag_dot(g, gamma, Dg))));
}

static inline ag_id vec3(ag_graph *g, double a, double b, double c) {
  ag_id v[3] = {ag_num(g, a), ag_num(g, b), ag_num(g, c)};
  return ag_stack(g, 3, 1, v);
}

static inline ag_id diag3(ag_graph *g, double a, double b, double c) {
  double d[3] = {a, b, c};
  ag_id v[9];
  for (int i = 0; i < 9; i++) v[i] = ag_num(g, i % 4 ? 0 : d[i / 4]);
  return ag_stack(g, 3, 3, v);
}

/* The ellipsoid of `B_rattle_reversal`: turned by 0.35 against the inertia axes, spin 0.5 with a little rocking. */
static inline ag_model *rattleback(void) {
  ag_model *m = ag_model_create("rattleback");
  ag_graph *g = m->graph;
  double c = cos(0.35), s = sin(0.35), b1 = 4, b2 = 1.5625;
  ag_id mass = ag_model_add_param(m, "m", ag_num(g, 1), nowhere),
        grav = ag_model_add_param(m, "g", ag_num(g, 1), nowhere);
  ag_id rot[9] = {ag_num(g, b1 * c * c + b2 * s * s),
                  ag_num(g, (b1 - b2) * s * c),
                  ag_num(g, 0),
                  ag_num(g, (b1 - b2) * s * c),
                  ag_num(g, b1 * s * s + b2 * c * c),
                  ag_num(g, 0),
                  ag_num(g, 0),
                  ag_num(g, 0),
                  ag_num(g, 1)};
  ag_id D = ag_stack(g, 3, 3, rot), I = diag3(g, 0.55, 1.05, 1.15), e3 = vec3(g, 0, 0, 1);
  int R = ag_model_add_coord(m, "R", "Omega", NULL, NULL, 0, AG_SPACE_SO3, 3, nowhere);
  int x = ag_model_add_coord(m, "x", NULL, NULL, NULL, 0, AG_SPACE_R, 3, nowhere);
  ag_id Om = m->coords[R].xi, v = m->coords[x].xi, gamma = ag_mul(g, ag_transpose(g, m->coords[R].q), e3);
  ag_id r = contact(g, D, gamma), half = ag_num(g, 0.5);
  ag_id turning = ag_mul(g, half, ag_dot(g, Om, ag_mul(g, I, Om))),
        going = ag_mul(g, half, ag_mul(g, mass, ag_dot(g, v, v)));
  ag_id T = ag_add(g, turning, going), weight = ag_mul(g, mass, grav), height = ag_dot(g, m->coords[x].q, e3);
  m->lagrangian = ag_sub(g, T, ag_mul(g, weight, height));
  ag_model_add_constraint(m, ag_sub(g, v, ag_mul(g, m->coords[R].q, ag_cross(g, r, Om))), NULL, nowhere);
  AG_MODEL_PUSH(m, starts, ((ag_start){true, R, -1, -1, vec3(g, 0.2, 0, 0.5), nowhere}));
  return m;
}
#endif
