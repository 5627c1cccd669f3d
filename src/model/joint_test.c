/* SPDX-License-Identifier: MIT
 * Joints: the rows vanish exactly at joined positions, starts are completed along chains, errors. */
#include <math.h>

#include "check.h"
#include "model/parts.h"

static const ag_pos here = {1, 1, 1};

static ag_id column(ag_graph *g, double a, double b, double c) {
  return ag_stack(g, 3, 1, (ag_id[]){ag_num(g, a), ag_num(g, b), ag_num(g, c)});
}

static ag_body *stick(ag_model *m, const char *name) {
  ag_graph *g = m->graph;
  ag_id e[9];
  for (int i = 0; i < 9; i++) e[i] = ag_num(g, i % 4 ? 0 : 1 + i / 4);
  return ag_body_add(m, name, ag_num(g, 2), ag_stack(g, 3, 3, e), 0, NULL, here);
}

/* 4 q q^T in terms of the rotation r; its row with the largest diagonal entry gives q. */
static void quaternion(const double *r, double *q) {
  double wx = r[7] - r[5], wy = r[2] - r[6], wz = r[3] - r[1], xy = r[1] + r[3], xz = r[2] + r[6], yz = r[5] + r[7];
  double K[4][4] = {{1 + r[0] + r[4] + r[8], wx, wy, wz},
                    {wx, 1 + r[0] - r[4] - r[8], xy, xz},
                    {wy, xy, 1 - r[0] + r[4] - r[8], yz},
                    {wz, xz, yz, 1 - r[0] - r[4] + r[8]}};
  int best = 0;
  for (int k = 1; k < 4; k++)
    if (K[k][k] > K[best][best]) best = k;
  for (int k = 0; k < 4; k++) q[k] = K[best][k] / (2 * sqrt(K[best][best]));
}

/* Evaluates the starts in order, each with the values before it; the stored numbers of all coordinates. */
static void play(ag_model *m, ag_id *in, double *v) {
  ag_graph *g = m->graph;
  for (int i = 0; i < m->n_coords; i++) {
    in[i] = m->coords[i].q;
    for (int k = 0; k < 7; k++) v[7 * (i / 2) + k] = k == 0;
  }
  for (int i = 0; i < m->n_starts; i++) {
    const ag_start *s = &m->starts[i];
    double *to = v + 7 * (s->coord / 2) + (s->coord % 2 ? 4 : 0), got[9];
    AG_CHECK(ag_evaluate(g, m->n_coords, in, v, 1, &s->x, got) == 0);
    if (s->coord % 2) {
      for (int k = 0; k < 3; k++) to[k] = got[k];
      continue;
    }
    quaternion(got, to);
  }
}

static double worst_row(ag_model *m, const ag_id *in, const double *v) {
  double worst = 0, row[5];
  for (int i = 0; i < m->n_holonomics; i++) {
    ag_id x = m->holonomics[i].x;
    AG_CHECK(ag_evaluate(m->graph, m->n_coords, in, v, 1, &x, row) == 0);
    for (int k = 0; k < ag_node_rows(m->graph, x); k++) worst = fmax(worst, fabs(row[k]));
  }
  return worst;
}

/* A chain of three: the first one hinged to space about any axis, a ball joint with its bodies swapped, a hinge. */
static void check_chain(void) {
  double axes[4][3] = {{0, 0, 1}, {0.3, -0.4, -0.5}, {0, 2, 0}, {1, 0.2, 1e-3}};
  for (int k = 0; k < 4; k++) {
    ag_model *m = ag_model_create("chain");
    ag_graph *g = m->graph;
    ag_ctx ctx = {0};
    ag_body *a = stick(m, "a"), *b = stick(m, "b"), *c = stick(m, "c");
    const ag_joint *j = NULL;
    ag_id axis = ag_model_add_param(m, "axis", column(g, axes[k][0], axes[k][1], axes[k][2]), here),
          x = column(g, 1, 0.1, 0), y = column(g, -1, 0, 0.2), z = column(g, 0.2, 0.5, 0.7);
    ag_id fixed = column(g, axes[k][0], axes[k][1], axes[k][2]);
    AG_CHECK(ag_joint_hinge(&ctx, m, NULL, z, fixed, a, y, z, here, "first", &j) == AG_OK);
    AG_CHECK(j->force && j->moment && m->n_holonomics == 1 && ag_node_rows(g, m->holonomics[0].x) == 5);
    AG_CHECK(ag_joint_hinge(&ctx, m, b, x, axis, c, y, z, here, "third", &j) == AG_OK);
    AG_CHECK(ag_joint_ball(&ctx, m, b, y, a, x, here, "second", NULL) == AG_OK);
    AG_CHECK_STR(m->observables[0].name, "a.joint");
    AG_CHECK_STR(m->observables[1].name, "a.moment");
    AG_CHECK_STR(m->observables[2].name, "c.joint");
    AG_CHECK_STR(m->observables[4].name, "a.joint2");
    AG_CHECK(ag_bodies_start(&ctx, m) == AG_OK && m->n_starts == 6);
    ag_id in[8], value = m->params[0].value;
    double v[28];
    for (int i = 0; i < m->n_starts; i++) ag_substitute(g, 1, &axis, &value, 1, &m->starts[i].x);
    for (int i = 0; i < m->n_holonomics; i++) ag_substitute(g, 1, &axis, &value, 1, &m->holonomics[i].x);
    play(m, in, v);
    AG_CHECK_NEAR(worst_row(m, in, v), 0, 1e-15);
    v[7 + 2] += 1e-3; /* b rotated: three of its rows change */
    AG_CHECK(worst_row(m, in, v) > 1e-4);
    AG_CHECK(ag_bodies_start(&ctx, m) == AG_OK && m->n_starts == 6);
    ag_ctx_done(&ctx);
    ag_model_free(m);
  }
}

/* A free pair without given positions: the first one at the origin. */
static void check_free(void) {
  ag_model *m = ag_model_create("pair");
  ag_graph *g = m->graph;
  ag_ctx ctx = {0};
  ag_body *a = stick(m, "a"), *b = stick(m, "b");
  AG_CHECK(ag_joint_ball(&ctx, m, a, column(g, 1, 0, 0), b, column(g, 0, 1, 0), here, "pair", NULL) == AG_OK);
  AG_CHECK(ag_bodies_start(&ctx, m) == AG_OK && m->n_starts == 4);
  ag_id in[8];
  double v[28];
  play(m, in, v);
  AG_CHECK(v[4] == 0 && v[11] == 1 && v[12] == -1);
  ag_ctx_done(&ctx);
  ag_model_free(m);
}

static void check_refusals(void) {
  ag_model *m = ag_model_create("wrong");
  ag_graph *g = m->graph;
  ag_ctx ctx = {0};
  ag_body *a = stick(m, "a");
  ag_id p = column(g, 1, 0, 0), none = column(g, 0, 0, 0), moving[3] = {m->t, p, none};
  moving[1] = moving[2] = ag_num(g, 1);
  ag_id swing = ag_stack(g, 3, 1, moving);
  const ag_contact *c = NULL;
  ag_ground plane = {0};
  AG_CHECK(ag_joint_ball(&ctx, m, a, p, a, p, here, "", NULL) == AG_WRONG && ctx.n_error == 1);
  AG_CHECK(ag_joint_ball(&ctx, m, NULL, p, NULL, p, here, "", NULL) == AG_WRONG && ctx.n_error == 2);
  AG_CHECK(ag_joint_hinge(&ctx, m, NULL, p, none, a, p, p, here, "", NULL) == AG_WRONG && ctx.n_error == 3);
  AG_CHECK(ag_joint_hinge(&ctx, m, NULL, p, swing, a, p, p, here, "", NULL) == AG_WRONG && ctx.n_error == 4);
  AG_CHECK(ag_joint_ball(&ctx, m, NULL, p, a, swing, here, "", NULL) == AG_WRONG && ctx.n_error == 5);
  AG_CHECK(ag_body_roll(&ctx, m, a, &plane, here, &c) == AG_WRONG && ctx.n_error == 6); /* no surface */
  AG_CHECK(m->n_holonomics == 0 && m->n_constraints == 0 && m->n_observables == 0);
  AG_CHECK(ag_joint_ball(&ctx, m, NULL, swing, a, p, here, "", NULL) == AG_OK); /* a pivot that moves in space */
  ag_ctx_done(&ctx);
  ag_model_free(m);
}

int main(void) {
  check_chain();
  check_free();
  check_refusals();
  return ag_check_report();
}
