/* SPDX-License-Identifier: MIT
 * Bodies as coordinates and kinetic energy, and their named parts. */
#include <math.h>

#include "check.h"
#include "model/parts.h"

static const ag_pos here = {1, 1, 1};

static ag_id column(ag_graph *g, double a, double b, double c) {
  return ag_stack(g, 3, 1, (ag_id[]){ag_num(g, a), ag_num(g, b), ag_num(g, c)});
}

static ag_id diagonal(ag_graph *g, double a, double b, double c) {
  double d[3] = {a, b, c};
  ag_id e[9];
  for (int i = 0; i < 9; i++) e[i] = ag_num(g, i % 4 ? 0 : d[i / 4]);
  return ag_stack(g, 3, 3, e);
}

static void check_energy(void) {
  ag_model *m = ag_model_create("two");
  ag_graph *g = m->graph;
  ag_surface ball = {.kind = AG_SURFACE_SPHERE, .a = ag_num(g, 1)};
  ag_body *a = ag_body_add(m, "a", ag_num(g, 2), diagonal(g, 3, 4, 5), 0, &ball, here);
  ag_body *b = ag_body_add(m, "b", ag_num(g, 7), diagonal(g, 1, 1, 1), column(g, 0, 0, 0), &ball, here);
  ag_body_gravity(m, b, ag_num(g, 10));
  AG_CHECK(m->n_coords == 4 && m->n_constraints == 0 && m->n_observables == 0 && b->centre == 0);
  AG_CHECK_STR(m->coords[a->R].name, "a.R");
  AG_CHECK_STR(m->coords[a->R].velocity, "a.Omega");
  AG_CHECK_STR(m->coords[b->x].velocity, "b.x'");
  ag_id in[5] = {m->coords[a->R].xi, m->coords[a->x].xi, m->coords[b->R].xi, m->coords[b->x].xi, m->coords[b->x].q};
  double v[15] = {1, 2, 3, 1, 1, 0, 2, 0, 1, 0, 0, 2, 5, 6, 0.5}, l;
  AG_CHECK(ag_evaluate(g, 5, in, v, 1, &m->lagrangian, &l) == 0);
  AG_CHECK_NEAR(l, 0.5 * (3 + 16 + 45) + 0.5 * 2 * 2 + 0.5 * 5 + 0.5 * 7 * 4 - 7 * 10 * 0.5, 1e-15);
  ag_model_free(m);
}

static void check_parts(void) {
  ag_model *m = ag_model_create("top");
  ag_graph *g = m->graph;
  ag_surface ball = {.kind = AG_SURFACE_SPHERE, .a = ag_num(g, 1)};
  ag_body *b = ag_body_add(m, "b", ag_num(g, 1), diagonal(g, 1, 1, 1), column(g, 0, 0, 0.2), &ball, here);
  /* Rz(0.3) Rx(1.1) Rz(-0.7) as a quaternion */
  double c = cos(0.55), s = sin(0.55), plus = (0.3 - 0.7) / 2, minus = (0.3 + 0.7) / 2;
  double v[10] = {c * cos(plus), s * cos(minus), s * sin(minus), c * sin(plus), 1, 2, 3, 0.1, 0.2, 0.3}, out[12];
  ag_id in[3] = {m->coords[b->R].q, m->coords[b->x].q, m->coords[b->R].xi};
  ag_id outs[6] = {ag_body_part(m, b, "phi"),    ag_body_part(m, b, "theta"), ag_body_part(m, b, "psi"),
                   ag_body_part(m, b, "middle"), ag_body_part(m, b, "Gamma"), ag_body_part(m, b, "omega")};
  AG_CHECK(ag_evaluate(g, 3, in, v, 6, outs, out) == 0);
  AG_CHECK_NEAR(out[0], 0.3, 1e-15);
  AG_CHECK_NEAR(out[1], 1.1, 1e-15);
  AG_CHECK_NEAR(out[2], -0.7, 1e-15);
  /* the centre of the surface is below the centre of mass along the third body axis (sin phi sin theta, ...) */
  AG_CHECK_NEAR(out[3], 1 - 0.2 * sin(0.3) * sin(1.1), 1e-15);
  AG_CHECK_NEAR(out[5], 3 - 0.2 * cos(1.1), 1e-15);
  AG_CHECK_NEAR(out[6], sin(1.1) * sin(-0.7), 1e-15);
  AG_CHECK_NEAR(out[8], cos(1.1), 1e-15);
  /* omega.e3 = Omega.Gamma */
  AG_CHECK_NEAR(out[11], 0.1 * out[6] + 0.2 * out[7] + 0.3 * out[8], 1e-15);
  AG_CHECK(ag_body_part(m, b, "R") == in[0] && ag_body_part(m, b, "x") == in[1] &&
           ag_body_part(m, b, "Omega") == in[2]);
  AG_CHECK(ag_body_part(m, b, "colour") == 0);
  ag_model_free(m);
}

int main(void) {
  check_energy();
  check_parts();
  return ag_check_report();
}
