/* SPDX-License-Identifier: MIT
 * A contact adds a constraint that preserves the gap, and generators that are symmetries of the Lagrangian and of the
 * constraints. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "check.h"
#include "model/parts.h"

static const ag_pos here = {1, 1, 1};

static ag_id num(ag_graph *g, double v) { return ag_num(g, v); }
static ag_id column(ag_graph *g, double a, double b, double c) {
  return ag_stack(g, 3, 1, (ag_id[]){num(g, a), num(g, b), num(g, c)});
}

static ag_id diagonal(ag_graph *g, ag_id a, ag_id b, ag_id c) {
  ag_id d[3] = {a, b, c}, e[9];
  for (int i = 0; i < 9; i++) e[i] = i % 4 ? num(g, 0) : d[i / 4];
  return ag_stack(g, 3, 3, e);
}

static double random_unit(uint64_t *state) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return ((double)(*state >> 11) + 0.5) * 0x1p-53 * 2 - 1;
}

enum { MAX_IN = 12, MAX_V = 64 };

/* Inputs of a model with bodies: t, then q and xi of every coordinate. */
typedef struct point {
  int n, size, q_at[8], xi_at[8];
  ag_id in[MAX_IN];
  double v[MAX_V];
} point;

static void make_point(const ag_model *m, uint64_t *state, point *p) {
  *p = (point){.n = 1, .size = 1, .in = {m->t}, .v = {0.37}};
  for (int i = 0; i < m->n_coords; i++) {
    const ag_coord *c = &m->coords[i];
    int n = c->space == AG_SPACE_SO3 ? 4 : c->dim;
    double norm = 0;
    p->q_at[i] = p->size;
    p->in[p->n++] = c->q;
    for (int k = 0; k < n; k++) p->v[p->size + k] = random_unit(state), norm += p->v[p->size + k] * p->v[p->size + k];
    for (int k = 0; n == 4 && k < 4; k++) p->v[p->size + k] /= sqrt(norm);
    p->size += n;
    p->xi_at[i] = p->size;
    p->in[p->n++] = c->xi;
    for (int k = 0; k < c->dim; k++) p->v[p->size + k] = random_unit(state);
    p->size += c->dim;
  }
}

/* Sets x' of the rolling body so that its vector constraint holds (coefficient 1), and projects Omega for rubber. */
static void settle(ag_model *m, const ag_contact *c, point *p) {
  double r[3];
  int at = p->xi_at[c->body->x], w = p->xi_at[c->body->R];
  if (c->rubber >= 0) {
    double a[3], b;
    ag_id row = m->constraints[c->rubber].x, one = num(m->graph, 1), grad;
    ag_reverse(m->graph, 1, &row, &one, 1, &m->coords[c->body->R].xi, &grad);
    ag_evaluate(m->graph, p->n, p->in, p->v, 1, &row, &b);
    ag_evaluate(m->graph, p->n, p->in, p->v, 1, &grad, a);
    double aa = a[0] * a[0] + a[1] * a[1] + a[2] * a[2];
    for (int k = 0; k < 3; k++) p->v[w + k] -= a[k] * b / aa;
  }
  AG_CHECK(ag_evaluate(m->graph, p->n, p->in, p->v, 1, &m->constraints[c->constraint].x, r) == 0);
  for (int k = 0; k < 3; k++) p->v[at + k] -= r[k];
}

/* The derivative of the gap vanishes wherever the constraint holds. */
static void check_gap(ag_model *m, const ag_contact *c) {
  ag_id rate;
  uint64_t state = 7;
  point p;
  AG_CHECK(ag_model_prime(m, c->gap, &rate));
  for (int i = 0; i < 10; i++) {
    double v;
    make_point(m, &state, &p);
    settle(m, c, &p);
    AG_CHECK(ag_evaluate(m->graph, p.n, p.in, p.v, 1, &rate, &v) == 0);
    AG_CHECK_NEAR(v, 0, 2e-14); /* rounding error; lengths may be small */
  }
}

/* Tangent lift of a generator Z: dq = Z, dxi = D_xi Z + ad_xi Z (Omega x Z on a rotation). */
static void lift(ag_model *m, const ag_generator *z, ag_id *dq, ag_id *dxi) {
  ag_graph *g = m->graph;
  for (int i = 0; i < m->n_coords; i++) {
    dq[i] = ag_zero(g, 3, 1);
    for (int k = 0; k < z->n; k++)
      if (z->parts[k].coord == i) dq[i] = z->parts[k].x;
    AG_CHECK(ag_model_prime(m, dq[i], &dxi[i]));
    if (m->coords[i].space == AG_SPACE_SO3) dxi[i] = ag_add(g, dxi[i], ag_cross(g, m->coords[i].xi, dq[i]));
  }
}

static void check_generators(ag_model *m, const ag_contact *c) {
  ag_graph *g = m->graph;
  for (int k = 0; k < m->n_generators; k++) {
    ag_id in[16], seeds[16],
        outs[3] = {m->lagrangian, m->constraints[c->constraint].x, m->constraints[m->n_constraints - 1].x}, d[3];
    lift(m, &m->generators[k], seeds, seeds + m->n_coords);
    for (int i = 0; i < m->n_coords; i++) in[i] = m->coords[i].q, in[m->n_coords + i] = m->coords[i].xi;
    ag_forward(g, 2 * m->n_coords, in, seeds, 3, outs, d);
    uint64_t state = 11;
    for (int i = 0; i < 5; i++) {
      point p;
      double v[7] = {0};
      make_point(m, &state, &p);
      settle(m, c, &p);
      AG_CHECK(ag_evaluate(g, p.n, p.in, p.v, 3, d, v) == 0);
      for (int j = 0; j < 7; j++) AG_CHECK_NEAR(v[j], 0, 4e-14);
      if (ag_checks_failed) {
        fprintf(stderr, "  generator %s\n", m->generators[k].name);
        return;
      }
    }
  }
}

/* Rubber: n.(omega - W), with W = spin e3. */
static void check_twist(ag_model *m, const ag_contact *c) {
  ag_graph *g = m->graph;
  ag_id omega = ag_body_part(m, c->body, "omega"), spin = c->ground.spin ? c->ground.spin : num(g, 0);
  ag_id outs[4] = {m->constraints[c->rubber].x, c->normal, omega, spin};
  uint64_t state = 5;
  for (int i = 0; i < 5; i++) {
    point p;
    double v[8];
    make_point(m, &state, &p);
    AG_CHECK(ag_evaluate(g, p.n, p.in, p.v, 4, outs, v) == 0);
    AG_CHECK_NEAR(v[0], v[1] * v[4] + v[2] * v[5] + v[3] * (v[6] - v[7]), 1e-14);
    AG_CHECK_NEAR(v[1] * v[1] + v[2] * v[2] + v[3] * v[3], 1, 1e-15);
  }
}

typedef struct made {
  ag_model *m;
  ag_body *b;
  const ag_contact *c;
} made;

static void expect_contact(made *x, ag_ground ground) {
  ag_ctx ctx = {0};
  AG_CHECK(ag_body_roll(&ctx, x->m, x->b, &ground, here, &x->c) == AG_OK);
  if (ground.kind >= AG_GROUND_CONE)
    AG_MODEL_PUSH(x->m, starts, ((ag_start){false, x->b->x, -1, -1, column(x->m->graph, 1, 0, 2), here}));
  AG_CHECK(ag_bodies_finish(&ctx, x->m) == AG_OK);
  AG_CHECK(ctx.n_error == 0);
  ag_ctx_done(&ctx);
  if (!x->c) return;
  check_gap(x->m, x->c);
  check_generators(x->m, x->c);
  if (ground.rubber) check_twist(x->m, x->c);
}

static bool has(const ag_model *m, const char *generator) {
  for (int i = 0; i < m->n_generators; i++)
    if (!strcmp(m->generators[i].name, generator)) return true;
  return false;
}

/* A body with inertia (I1, I1, I3) given as parameters, centre of mass on axis 3. */
static made revolve(ag_surface_kind kind) {
  made x = {.m = ag_model_create("test")};
  ag_graph *g = x.m->graph;
  ag_id I1 = num(g, 0.35), I3 = num(g, 0.4);
  ag_surface s = {.kind = kind, .a = num(g, 1), .b = num(g, kind == AG_SURFACE_ELLIPSOID ? 1 : 0.4), .c = num(g, 0.6)};
  x.b = ag_body_add(x.m, "b", num(g, 1.5), diagonal(g, I1, I1, I3), column(g, 0, 0, 0.2), &s, here);
  return x;
}

static made ball(void) {
  made x = {.m = ag_model_create("ball")};
  ag_graph *g = x.m->graph;
  ag_surface s = {.kind = AG_SURFACE_SPHERE, .a = num(g, 0.3)};
  x.b = ag_body_add(x.m, "b", num(g, 2), diagonal(g, num(g, 0.1), num(g, 0.1), num(g, 0.1)), 0, &s, here);
  return x;
}

static void check_planes(void) {
  ag_surface_kind kinds[] = {AG_SURFACE_SPHERE, AG_SURFACE_ELLIPSOID, AG_SURFACE_TORUS, AG_SURFACE_DISK,
                             AG_SURFACE_CYLINDER};
  for (int k = 0; k < 5; k++)
    for (int rubber = 0; rubber < 2; rubber++) {
      made x = revolve(kinds[k]);
      ag_graph *g = x.m->graph;
      expect_contact(&x, (ag_ground){.rubber = rubber, .gravity = num(g, 9.8), .watch = true});
      AG_CHECK(has(x.m, "b.along_x") && has(x.m, "b.along_y") && has(x.m, "b.turn"));
      AG_CHECK(has(x.m, kinds[k] == AG_SURFACE_SPHERE ? "b.spin3" : "b.spin") && !has(x.m, "b.spin1"));
      AG_CHECK(x.m->n_constraints == 1 + rubber && x.m->n_observables == 6 + rubber);
      AG_CHECK(x.m->n_events == (kinds[k] == AG_SURFACE_CYLINDER                               ? 3
                                 : kinds[k] == AG_SURFACE_TORUS || kinds[k] == AG_SURFACE_DISK ? 2
                                                                                               : 1));
      AG_CHECK_STR(x.m->observables[3].name, "b.normal");
      ag_model_free(x.m);
    }
  made slope = revolve(AG_SURFACE_TORUS);
  expect_contact(&slope, (ag_ground){.gravity = num(slope.m->graph, 9.8), .normal = column(slope.m->graph, 0.3, 0, 2)});
  AG_CHECK(has(slope.m, "b.along_x") && !has(slope.m, "b.along_y") && !has(slope.m, "b.turn"));
  ag_model_free(slope.m);
  made light = revolve(AG_SURFACE_TORUS);
  expect_contact(&light, (ag_ground){.normal = column(light.m->graph, 0.3, 0.2, 2), .rubber = true});
  AG_CHECK(has(light.m, "b.along_x") && has(light.m, "b.along_y") && has(light.m, "b.turn"));
  ag_model_free(light.m);
}

static void check_moving(void) {
  for (int k = 0; k < 2; k++) {
    made x = k ? ball() : revolve(AG_SURFACE_ELLIPSOID);
    ag_graph *g = x.m->graph;
    ag_id rate = ag_apply1(g, AG_OP_COS, x.m->t);
    expect_contact(&x, (ag_ground){.spin = rate, .gravity = num(g, 1), .origin = column(g, 0.3, 0.1, 0), .rubber = k});
    AG_CHECK(!has(x.m, "b.along_x") && has(x.m, "b.turn"));
    ag_model_free(x.m);
    made y = k ? ball() : revolve(AG_SURFACE_TORUS);
    g = y.m->graph;
    ag_id path[3] = {ag_apply1(g, AG_OP_SIN, y.m->t), num(g, 0), ag_apply1(g, AG_OP_COS, y.m->t)};
    expect_contact(&y, (ag_ground){.origin = ag_stack(g, 3, 1, path), .gravity = num(g, 1), .rubber = k});
    AG_CHECK(has(y.m, "b.along_x") && !has(y.m, "b.turn"));
    ag_model_free(y.m);
  }
}

static void check_hollows(void) {
  for (int k = 0; k < 8; k++) {
    made x = k & 1 ? ball() : revolve(AG_SURFACE_SPHERE);
    ag_graph *g = x.m->graph;
    ag_ground gr = {.kind = k & 2 ? AG_GROUND_CYLINDER : AG_GROUND_SPHERE, .inside = k & 4, .radius = num(g, 2)};
    gr.spin = num(g, 0.8);
    gr.gravity = num(g, 1.3);
    gr.rubber = k == 3 || k == 5;
    expect_contact(&x, gr);
    AG_CHECK(has(x.m, "b.turn") && has(x.m, "b.spin3") && has(x.m, "b.spin1") == (k & 1) && !has(x.m, "b.along_z"));
    ag_model_free(x.m);
  }
  made cone = ball();
  ag_graph *g = cone.m->graph;
  expect_contact(&cone,
                 (ag_ground){.kind = AG_GROUND_CONE, .slope = num(g, 0.4), .spin = num(g, 2), .gravity = num(g, 9.8)});
  AG_CHECK(has(cone.m, "b.turn"));
  ag_model_free(cone.m);
  made pipe = ball();
  g = pipe.m->graph;
  ag_id level = column(g, 1, 1, 0);
  ag_ground lying = {
      .kind = AG_GROUND_CYLINDER, .inside = true, .radius = num(g, 2), .normal = level, .gravity = num(g, 1)};
  expect_contact(&pipe, lying);
  AG_CHECK(has(pipe.m, "b.along_z") && !has(pipe.m, "b.turn"));
  ag_model_free(pipe.m);
}

/* n.(omega - omega of the carrier) */
static void check_carried_twist(ag_model *m, const ag_contact *c) {
  ag_id outs[4] = {m->constraints[c->rubber].x, c->normal, ag_body_part(m, c->body, "omega"),
                   ag_body_part(m, c->ground.carrier, "omega")};
  uint64_t state = 3;
  point p;
  double v[10];
  make_point(m, &state, &p);
  AG_CHECK(ag_evaluate(m->graph, p.n, p.in, p.v, 4, outs, v) == 0);
  AG_CHECK_NEAR(v[0], v[1] * (v[4] - v[7]) + v[2] * (v[5] - v[8]) + v[3] * (v[6] - v[9]), 1e-14);
}

/* A ball on a plate or on another ball that rolls on the floor: they move together. */
static void check_carried(void) {
  for (int k = 0; k < 2; k++) {
    made x = ball();
    ag_model *m = x.m;
    ag_graph *g = m->graph;
    ag_ctx ctx = {0};
    const ag_contact *low = NULL;
    ag_surface s = {.kind = AG_SURFACE_SPHERE, .a = num(g, 1)};
    ag_body *big = ag_body_add(m, "big", num(g, 3), diagonal(g, num(g, 1), num(g, 1), num(g, 1)), 0, &s, here);
    ag_ground floor = {.gravity = num(g, 1)};
    AG_CHECK(ag_body_roll(&ctx, m, big, &floor, here, &low) == AG_OK);
    ag_ground top = {
        .kind = k ? AG_GROUND_PLANE : AG_GROUND_SPHERE, .carrier = big, .radius = num(g, 1), .rubber = true};
    AG_CHECK(ag_body_roll(&ctx, m, x.b, &top, here, &x.c) == AG_OK);
    AG_CHECK(ag_bodies_finish(&ctx, m) == AG_OK);
    /* everything together moves along the floor; the body on top may spin, the one below only in ways that leave the
     * plate unchanged */
    AG_CHECK(has(m, "b.along_x") && has(m, "b.along_y") && has(m, "b.turn") && !has(m, "big.along_x"));
    AG_CHECK(has(m, "b.spin1") && has(m, "big.spin1") == !k && has(m, "big.spin3"));
    check_gap(m, x.c);
    check_generators(m, x.c);
    check_carried_twist(m, x.c);
    ag_ground itself = {.carrier = big};
    AG_CHECK(ag_body_roll(&ctx, m, big, &itself, here, &low) == AG_WRONG);
    ag_ctx_done(&ctx);
    ag_model_free(m);
  }
}

static void check_refusals(void) {
  made x = revolve(AG_SURFACE_TORUS);
  ag_graph *g = x.m->graph;
  ag_ctx ctx = {0};
  ag_body *bare = ag_body_add(x.m, "bare", num(g, 1), ag_eye(g, 3), 0, NULL, here);
  ag_ground bones = {.kind = AG_GROUND_BODY, .carrier = bare};
  AG_CHECK(ag_body_roll(&ctx, x.m, x.b, &bones, here, &x.c) == AG_WRONG && ctx.n_error == 1);
  ag_id tilting[3] = {x.m->t, num(g, 0), num(g, 1)};
  ag_ground moving = {.normal = ag_stack(g, 3, 1, tilting)}, flat = {.normal = column(g, 0, 0, 0)};
  AG_CHECK(ag_body_roll(&ctx, x.m, x.b, &moving, here, &x.c) == AG_WRONG && ctx.n_error == 2);
  AG_CHECK(ag_body_roll(&ctx, x.m, x.b, &flat, here, &x.c) == AG_WRONG && ctx.n_error == 3);
  AG_CHECK(x.m->n_constraints == 0 && x.m->n_observables == 0);
  ag_ctx_done(&ctx);
  ag_model_free(x.m);
}

/* The start touches for every orientation. */
static void check_start(void) {
  made x = revolve(AG_SURFACE_TORUS);
  ag_graph *g = x.m->graph;
  ag_ctx ctx = {0};
  ag_ground plane = {.gravity = num(g, 1), .origin = column(g, 0.5, 0.25, -1)};
  AG_CHECK(ag_body_roll(&ctx, x.m, x.b, &plane, here, &x.c) == AG_OK);
  AG_MODEL_PUSH(x.m, starts, ((ag_start){false, x.b->x, 0, -1, num(g, 3), here}));
  AG_CHECK(ag_contact_start(&ctx, x.m, x.c) == AG_OK);
  AG_CHECK(x.m->n_starts == 3 && x.m->starts[1].row == 1 && x.m->starts[2].row == 2);
  ag_id R = x.m->coords[x.b->R].q, place[2] = {R, x.m->coords[x.b->x].q};
  double v[7] = {0.5, 0.5, -0.1, 0.7, 3, 0, 0}, norm = sqrt(0.25 + 0.25 + 0.01 + 0.49), gap;
  for (int i = 0; i < 4; i++) v[i] /= norm;
  ag_id given[2] = {x.m->starts[1].x, x.m->starts[2].x};
  AG_CHECK(ag_evaluate(g, 1, &R, v, 2, given, v + 5) == 0);
  AG_CHECK_NEAR(v[5], 0.25, 0);
  AG_CHECK(ag_evaluate(g, 2, place, v, 1, &x.c->gap, &gap) == 0);
  AG_CHECK_NEAR(gap, 0, 4e-16);
  AG_CHECK(ag_contact_start(&ctx, x.m, x.c) == AG_OK && x.m->n_starts == 3); /* nothing left to do */
  ag_model_free(x.m);
  for (int k = 0; k < 4; k++) {
    made y = ball();
    g = y.m->graph;
    ag_ground gr = {.kind = k & 1 ? AG_GROUND_CYLINDER : AG_GROUND_SPHERE, .inside = k & 2, .radius = num(g, 2)};
    AG_CHECK(ag_body_roll(&ctx, y.m, y.b, &gr, here, &y.c) == AG_OK);
    AG_CHECK(ag_contact_start(&ctx, y.m, y.c) == AG_OK && y.m->n_starts == 1);
    AG_CHECK(ag_constant(g, y.m->starts[0].x, v));
    ag_id q = y.m->coords[y.b->x].q;
    AG_CHECK(ag_evaluate(g, 1, &q, v, 1, &y.c->gap, &gap) == 0);
    AG_CHECK_NEAR(gap, 0, 4e-16);
    ag_model_free(y.m);
  }
  made z = ball();
  ag_ground cone = {.kind = AG_GROUND_CONE, .slope = num(z.m->graph, 0.4)};
  AG_CHECK(ag_body_roll(&ctx, z.m, z.b, &cone, here, &z.c) == AG_OK);
  AG_CHECK(ag_contact_start(&ctx, z.m, z.c) == AG_WRONG && ctx.n_error == 1);
  ag_ctx_done(&ctx);
  ag_model_free(z.m);
}

int main(void) {
  check_planes();
  check_moving();
  check_hollows();
  check_carried();
  check_refusals();
  check_start();
  return ag_check_report();
}
