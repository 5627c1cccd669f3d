/* SPDX-License-Identifier: MIT
 * Systems built by function calls: both closures agree, and agree with equations written by hand. */
#include "mech/mech_internal.h"

#include <stdlib.h>

#include "tests/built_models.h"
#include "tests/check.h"
#include "tests/closures.h"

static const ag_derive_options plain = {.growth = true};

static ag_system *derive_model(ag_model *m) {
  ag_ctx ctx = {0};
  ag_system *sys = NULL;
  ag_status status = ag_system_create(&ctx, m, &plain, &sys);
  if (status != AG_OK) {
    ag_text out = {0};
    ag_ctx_render(&ctx, &out);
    fprintf(stderr, "%s", ag_text_cstr(&out));
    ag_text_done(&out);
  }
  AG_CHECK(status == AG_OK);
  ag_ctx_done(&ctx);
  return sys;
}

static void cross(const double *a, const double *b, double *out) {
  for (int i = 0; i < 3; i++) out[i] = a[(i + 1) % 3] * b[(i + 2) % 3] - a[(i + 2) % 3] * b[(i + 1) % 3];
}

/* (I + m(r^2 - r r^T)) Om' = -Om x I Om + m r x (r' x Om + Om x (r x Om) + g gamma), written out by hand */
static void check_rattleback(void) {
  ag_model *m = rattleback();
  ag_system *sys = derive_model(m);
  if (!sys) return;
  AG_CHECK(sys->elimination == AG_ELIM_SOLVED && sys->n.u == 3);
  AG_CHECK(sys->n_image == 1 && sys->n.core == 6); /* Omega and R^T e3 */
  fprintf(stderr, "rattleback: %d operations per right-hand side, %d for the core\n",
          ag_tape_cost(ag_system_role(sys, AG_ROLE_RHS)), ag_tape_cost(ag_system_role(sys, AG_ROLE_CORE)));
  check_closures(sys);
  ag_work *w = ag_work_create(sys, sys->params);
  double x[13], t, xidot[6], c = cos(0.35), s = sin(0.35), I[3] = {0.55, 1.05, 1.15};
  double D[3][3] = {{4 * c * c + 1.5625 * s * s, (4 - 1.5625) * s * c, 0},
                    {(4 - 1.5625) * s * c, 4 * s * s + 1.5625 * c * c, 0},
                    {0, 0, 1}};
  for (unsigned seed = 1; seed < 20; seed++) {
    AG_CHECK(ag_system_sample(sys, w, seed, &t, x) == AG_OK);
    AG_CHECK(ag_work_accel(w, t, x, xidot, NULL) == AG_FINE);
    const double *q = x, *O = x + 7;
    double G[3] = {2 * (q[1] * q[3] - q[0] * q[2]), 2 * (q[2] * q[3] + q[0] * q[1]),
                   1 - 2 * (q[1] * q[1] + q[2] * q[2])};
    double Gd[3], r[3], rd[3], n2 = 0, k = 0, rO[3], a[3], b[3], rhs[3], IO[3];
    cross(G, O, Gd);
    for (int i = 0; i < 3; i++)
      for (int j = 0; j < 3; j++) n2 += G[i] * D[i][j] * G[j], k += G[i] * D[i][j] * Gd[j];
    double n = sqrt(n2);
    for (int i = 0; i < 3; i++) {
      double Dg = D[i][0] * G[0] + D[i][1] * G[1] + D[i][2] * G[2],
             Dgd = D[i][0] * Gd[0] + D[i][1] * Gd[1] + D[i][2] * Gd[2];
      r[i] = -Dg / n;
      rd[i] = -Dgd / n + Dg * k / (n2 * n);
      IO[i] = I[i] * O[i];
    }
    cross(r, O, rO);
    cross(rd, O, a);
    cross(O, rO, b);
    for (int i = 0; i < 3; i++) a[i] += b[i] + G[i];
    cross(r, a, rhs);
    cross(O, IO, b);
    double Od[3] = {xidot[0], xidot[1], xidot[2]}, rOd = r[0] * Od[0] + r[1] * Od[1] + r[2] * Od[2],
           rr = r[0] * r[0] + r[1] * r[1] + r[2] * r[2];
    for (int i = 0; i < 3; i++)
      AG_CHECK_NEAR(I[i] * Od[i] + rr * Od[i] - r[i] * rOd, rhs[i] - b[i], 1e-12); /* rounding of some 50 operations */
  }
  ag_work_free(w);
  ag_system_free(sys);
  ag_model_free(m);
}

/* m, J, blade through the centre: -sin(th) x' + cos(th) y' = 0, no minor bounded away from zero: a basis is needed. */
static void check_blade(void) {
  ag_model *m = ag_model_create("blade");
  ag_graph *g = m->graph;
  int x = ag_model_add_coord(m, "x", NULL, NULL, NULL, 0, AG_SPACE_R, 1, nowhere),
      y = ag_model_add_coord(m, "y", NULL, NULL, NULL, 0, AG_SPACE_R, 1, nowhere);
  int th = ag_model_add_coord(m, "th", NULL, NULL, NULL, 0, AG_SPACE_S1, 1, nowhere);
  ag_id vx = m->coords[x].xi, vy = m->coords[y].xi, w = m->coords[th].xi, a = m->coords[th].q, half = ag_num(g, 0.5);
  m->lagrangian = ag_sub(
      g, ag_mul(g, half, ag_add(g, ag_add(g, ag_mul(g, vx, vx), ag_mul(g, vy, vy)), ag_mul(g, w, w))), m->coords[x].q);
  ag_model_add_constraint(
      m, ag_sub(g, ag_mul(g, ag_apply1(g, AG_OP_COS, a), vy), ag_mul(g, ag_apply1(g, AG_OP_SIN, a), vx)), NULL,
      nowhere);
  ag_system *sys = derive_model(m);
  if (!sys) return;
  AG_CHECK(sys->elimination == AG_ELIM_BASIS && sys->n.u == 2 && sys->n_basis == 1 && sys->bases[0].n_y == 2 &&
           sys->bases[0].n_w == 1);
  AG_CHECK(sys->growth.n == 2 && sys->growth.dims[0] == 2 && sys->growth.dims[1] == 3 && sys->growth.n_disguised == 0);
  check_closures(sys);
  ag_system_free(sys);
  ag_model_free(m);
}

/* A pendulum as a point in the plane with x^2 + y^2 = 1, and a prescribed third coordinate. */
static void check_holonomic(void) {
  ag_model *m = ag_model_create("pendulum");
  ag_graph *g = m->graph;
  int r = ag_model_add_coord(m, "r", NULL, NULL, NULL, 0, AG_SPACE_R, 2, nowhere),
      s = ag_model_add_coord(m, "s", NULL, NULL, NULL, 0, AG_SPACE_R, 1, nowhere);
  ag_id v = m->coords[r].xi, half = ag_num(g, 0.5), one = ag_num(g, 1), vs = m->coords[s].xi;
  ag_id coupling = ag_mul(g, ag_entry(g, v, 0, 0), vs);
  m->lagrangian = ag_sub(
      g, ag_add(g, ag_mul(g, half, ag_add(g, ag_dot(g, v, v), ag_mul(g, ag_num(g, 3), ag_mul(g, vs, vs)))), coupling),
      ag_entry(g, m->coords[r].q, 1, 0));
  ag_model_add_holonomic(m, ag_sub(g, ag_dot(g, m->coords[r].q, m->coords[r].q), one), NULL, nowhere);
  ag_model_add_prescribe(m, "s", ag_sub(g, m->coords[s].q, ag_apply1(g, AG_OP_SIN, m->t)), NULL, nowhere);
  AG_MODEL_PUSH(m, starts, ((ag_start){false, r, 0, -1, ag_num(g, 0.6), nowhere}));
  AG_MODEL_PUSH(m, starts, ((ag_start){true, r, 0, -1, ag_num(g, 0.3), nowhere}));
  ag_system *sys = derive_model(m);
  if (!sys) return;
  AG_CHECK_NEAR(fabs(sys->q0[1]), 0.8, 1e-14);
  AG_CHECK_NEAR(sys->xi0[2], 1, 1e-15);
  AG_CHECK_NEAR(sys->q0[0] * sys->xi0[0] + sys->q0[1] * sys->xi0[1], 0, 1e-15);
  AG_CHECK_NEAR(sys->xi0[0], 0.3, 1e-15);
  check_closures(sys);
  ag_system_free(sys);
  ag_model_free(m);
}

int main(void) {
  check_rattleback();
  check_blade();
  check_holonomic();
  return ag_check_report();
}
