/* SPDX-License-Identifier: MIT
 * Momenta, lifts, brackets, accelerations and powers against closed forms: of a knife edge on an incline that is
 * tilted in time, and of a free rigid body. */
#include "geom/geom.h"

#include "check.h"

static const ag_pos here = {1, 1, 1};
enum { MANY = 20 };
static const double TOL = 1e-14; /* a few rounding errors of numbers near 1 */

/* The inputs of a test and their values. */
typedef struct place {
  ag_graph *g;
  int n;
  ag_id in[MANY];
  double at[5 * MANY];
} place;

static void expect(const place *p, ag_id x, int n, const double *wanted) {
  double out[MANY];
  AG_CHECK(ag_node_rows(p->g, x) * ag_node_cols(p->g, x) == n);
  ag_evaluate(p->g, p->n, p->in, p->at, 1, &x, out);
  for (int i = 0; i < n; i++) AG_CHECK_NEAR(out[i], wanted[i], TOL);
}

static ag_id scalar(ag_graph *g, ag_op op, ag_id a) { return ag_apply1(g, op, a); }

static ag_id column(ag_graph *g, ag_id a, ag_id b) { return ag_stack(g, 2, 1, (ag_id[]){a, b}); }

/* L = m/2 |v|^2 + J/2 w^2 + m a t x1; v1 sin phi = v2 cos phi. */
static const double m = 1.5, J = 0.7, a = 2, t = 0.3, x1 = 0.4, x2 = -0.8, phi = 0.6, speed = 1.3, w = 0.9;

typedef struct edge {
  ag_model *model;
  ag_geom *geom;
  place p;
  ag_id *turn, *ahead, *spin; /* fields: about the origin; along the blade; of phi alone */
} edge;

static edge open_edge(void) {
  edge e = {.model = ag_model_create("edge")};
  ag_graph *g = ag_model_graph(e.model);
  ag_model_add_coord(e.model, "x", NULL, NULL, NULL, 0, AG_SPACE_R, 2, here);
  ag_model_add_coord(e.model, "phi", NULL, NULL, NULL, 0, AG_SPACE_S1, 1, here);
  const ag_coord x = ag_model_coords(e.model)[0], angle = ag_model_coords(e.model)[1];
  ag_id c = scalar(g, AG_OP_COS, angle.q), s = scalar(g, AG_OP_SIN, angle.q), time = ag_model_time(e.model);
  ag_id moving = ag_mul(g, ag_num(g, m / 2), ag_dot(g, x.xi, x.xi));
  ag_id turning = ag_mul(g, ag_num(g, J / 2), ag_mul(g, angle.xi, angle.xi));
  ag_id pull = ag_mul(g, ag_mul(g, ag_num(g, m * a), time), ag_entry(g, x.q, 0, 0));
  ag_id forward = ag_mul(g, ag_entry(g, x.xi, 0, 0), s), sideways = ag_mul(g, ag_entry(g, x.xi, 1, 0), c);
  ag_model_add_constraint(e.model, ag_sub(g, forward, sideways), "blade", here);
  e.geom = ag_geom_create(e.model, ag_add(g, ag_add(g, moving, turning), pull));
  e.p = (place){.g = g, .n = 7, .in = {time, x.q, angle.q, x.xi, angle.xi, e.geom->acc[0], e.geom->acc[1]}};
  double at[] = {t, x1, x2, phi, speed * cos(phi), speed * sin(phi), w, 0.25, -0.5, 0.125};
  memcpy(e.p.at, at, sizeof at);
  ag_id zero = ag_num(g, 0), one = ag_num(g, 1), back = ag_neg(g, ag_entry(g, x.q, 1, 0));
  e.turn = AG_NEWN(e.geom->arena, ag_id, 6);
  e.ahead = e.turn + 2, e.spin = e.turn + 4;
  e.turn[0] = column(g, back, ag_entry(g, x.q, 0, 0)), e.turn[1] = one;
  e.ahead[0] = column(g, c, s), e.ahead[1] = zero;
  e.spin[0] = column(g, zero, zero), e.spin[1] = one;
  return e;
}

static void close_edge(edge *e) {
  ag_geom_free(e->geom);
  ag_model_free(e->model);
}

static void quantities(void) {
  edge e = open_edge();
  double v1 = speed * cos(phi), v2 = speed * sin(phi);
  ag_id moved, accelerated;
  expect(&e.p, e.geom->energy, 1, (double[]){m / 2 * speed * speed + J / 2 * w * w - m * a * t * x1});
  expect(&e.p, ag_geom_momentum(e.geom, e.turn), 1, (double[]){m * (x1 * v2 - x2 * v1) + J * w});
  expect(&e.p, ag_geom_across(e.geom, e.turn), 1, (double[]){-x2 * sin(phi) - x1 * cos(phi)});
  expect(&e.p, ag_geom_lifted(e.geom, e.turn, e.geom->lagrangian), 1, (double[]){-m * a * t * x2});
  ag_geom_rate(e.geom, e.geom->energy, &moved, &accelerated);
  expect(&e.p, moved, 1, (double[]){-m * a * x1 - m * a * t * v1});
  expect(&e.p, accelerated, 1, (double[]){m * (v1 * 0.25 - v2 * 0.5) + J * w * 0.125});
  expect(&e.p, ag_geom_time_power(e.geom), 1, (double[]){-m * a * x1});
  expect(&e.p, ag_geom_force_power(e.geom), 1, (double[]){0});
  expect(&e.p, ag_geom_at_rest(e.geom, e.geom->energy), 1, (double[]){-m * a * t * x1});
  close_edge(&e);
}

/* [Y, Z] of a field along the blade and one that turns it points across the blade. */
static void fields(void) {
  edge e = open_edge();
  const ag_id *between = ag_geom_bracket(e.geom, e.ahead, e.spin);
  expect(&e.p, between[0], 2, (double[]){sin(phi), -cos(phi)});
  expect(&e.p, between[1], 1, (double[]){0});
  expect(&e.p, ag_geom_along(e.geom, e.turn, ag_entry(e.p.g, e.geom->q[0], 0, 0)), 1, (double[]){-x2});
  close_edge(&e);
}

/* The blade falls along itself with a t cos phi and turns with constant w; nothing expands. */
static void motion(void) {
  edge e = open_edge();
  double along = a * t * cos(phi), side = -x2 * sin(phi) - x1 * cos(phi);
  const int row = 0;
  double acc[3] = {along * cos(phi) - speed * w * sin(phi), along * sin(phi) + speed * w * cos(phi), 0};
  expect(&e.p, ag_geom_acceleration(e.geom, 1, &row), 3, acc);
  expect(&e.p, ag_geom_divergence(e.geom, 1, &row), 1, (double[]){0});
  expect(&e.p, ag_geom_drift(e.geom, 1, &row), 3, (double[]){0, 0, 0});
  ag_id whole = ag_concat(e.p.g, 2, e.turn);
  expect(&e.p, ag_geom_normal(e.geom, 1, &row, whole), 3, (double[]){side * sin(phi), -side * cos(phi), 0});
  close_edge(&e);
}

/* A free body: turned about an axis of its own, and about one in space, along which nothing changes. */
static void body(void) {
  ag_model *model = ag_model_create("body");
  ag_graph *g = ag_model_graph(model);
  const double I[3] = {1, 2, 3.5}, W[3] = {0.3, -0.7, 1.1}, R[4] = {0.5, 0.5, -0.5, 0.5}; /* a quaternion */
  ag_model_add_coord(model, "R", "W", NULL, NULL, 0, AG_SPACE_SO3, 3, here);
  const ag_coord c = ag_model_coords(model)[0];
  ag_id L = ag_num(g, 0);
  for (int i = 0; i < 3; i++) {
    ag_id w_i = ag_entry(g, c.xi, i, 0);
    L = ag_add(g, L, ag_mul(g, ag_num(g, I[i] / 2), ag_mul(g, w_i, w_i)));
  }
  ag_geom *x = ag_geom_create(model, L);
  place p = {.g = g, .n = 2, .in = {c.q, c.xi}};
  memcpy(p.at, R, sizeof R);
  memcpy(p.at + 4, W, sizeof W);
  ag_id e3 = ag_stack(g, 3, 1, (ag_id[]){ag_num(g, 0), ag_num(g, 0), ag_num(g, 1)});
  ag_id own = e3, space = ag_mul(g, ag_transpose(g, c.q), e3);
  expect(&p, ag_geom_momentum(x, &own), 1, (double[]){I[2] * W[2]});
  expect(&p, ag_geom_lifted(x, &own, L), 1, (double[]){(I[0] - I[1]) * W[0] * W[1]});
  expect(&p, ag_geom_lifted(x, &space, L), 1, (double[]){0});
  expect(&p, ag_geom_bracket(x, &own, &space)[0], 3, (double[]){0, 0, 0}); /* left and right turns commute */
  double acc[3];
  for (int i = 0; i < 3; i++) {
    int j = (i + 1) % 3, k = (i + 2) % 3;
    acc[i] = (I[j] - I[k]) * W[j] * W[k] / I[i]; /* Euler's equations */
  }
  expect(&p, ag_geom_acceleration(x, 0, NULL), 3, acc);
  ag_geom_free(x);
  ag_model_free(model);
}

int main(void) {
  quantities();
  fields();
  motion();
  body();
  return ag_check_report();
}
