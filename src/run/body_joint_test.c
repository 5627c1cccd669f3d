/* SPDX-License-Identifier: MIT
 * Jointed bodies: pendulums against closed forms, momentum of free chains, the forces that the joints report against
 * Newton's and Euler's laws. */
#include "tests/body_lab.h"
#include "tests/closures.h"

/* K(k) by the arithmetic-geometric mean. */
static double complete_elliptic(double k) {
  double a = 1, b = sqrt(1 - k * k);
  for (int i = 0; i < 30; i++) {
    double c = (a + b) / 2;
    b = sqrt(a * b);
    a = c;
  }
  return M_PI / (2 * a);
}

static void observe(lab *l, const char *name, ag_id x) {
  AG_MODEL_PUSH(l->m, observables, ((ag_item){name, NULL, x, nowhere}));
}

static void open_empty(lab *l) {
  *l = (lab){.m = ag_model_create("joints"), .time = NAN};
  l->g = l->m->graph;
}

static bool derive(lab *l) {
  ag_derive_options options = {0};
  AG_CHECK(ag_bodies_start(&l->ctx, l->m) == AG_OK);
  AG_CHECK(ag_system_create(&l->ctx, l->m, &options, &l->sys) == AG_OK);
  return l->sys;
}

/* A physical pendulum: hinged to space about e2, centre of mass at distance d from the hinge, released at the angle a:
 * T = 4 K(sin(a/2)) sqrt((I + m d^2)/(m g d)). The force at the lowest point is m (g + d phi'^2). Written with space
 * first and with space second. */
static void check_pendulum(void) {
  double mass = 2, d = 0.7, I = 0.3, gravity = 9.8, a = 1.2;
  double period = 4 * complete_elliptic(sin(a / 2)) * sqrt((I + mass * d * d) / (mass * gravity * d));
  double rate2 = 2 * mass * gravity * d * (1 - cos(a)) / (I + mass * d * d);
  for (int k = 0; k < 2; k++) {
    lab l;
    open_empty(&l);
    ag_graph *g = l.g;
    ag_body *b = ag_body_add(l.m, "b", num(&l, mass), diag3(g, 0.2, I, 0.25), 0, NULL, nowhere);
    ag_id O = vec3(g, 1, 2, 3), e2 = vec3(g, 0, 1, 0), top = vec3(g, 0, 0, d);
    ag_body_gravity(l.m, b, num(&l, gravity));
    double ca = cos(a), sa = sin(a), turn[9] = {ca, 0, -sa, 0, 1, 0, sa, 0, ca};
    ag_id e[9];
    for (int i = 0; i < 9; i++) e[i] = num(&l, turn[i]);
    lab_start(&l, false, b->R, ag_rotation(g, ag_stack(g, 3, 3, e)));
    if (k) AG_CHECK(ag_joint_hinge(&l.ctx, l.m, b, top, e2, NULL, O, e2, nowhere, "pivot", NULL) == AG_OK);
    else AG_CHECK(ag_joint_hinge(&l.ctx, l.m, NULL, O, e2, b, top, e2, nowhere, "pivot", NULL) == AG_OK);
    AG_MODEL_PUSH(l.m, events,
                  ((ag_event){.name = "rest", .x = ag_entry(g, ag_body_part(l.m, b, "Omega"), 1, 0), .pos = nowhere}));
    if (!derive(&l)) return;
    AG_CHECK(ag_system_dims(l.sys)->u == 1);
    check_closures(l.sys);
    lab_run(&l, period / 4, -1, NULL);
    check_vector(at_end(&l, "b.x"), (double[]){1, 2, 3 - d}, 3, 1e-12);
    check_vector(at_end(&l, "b.joint"), (double[]){0, 0, mass * (gravity + d * rate2)}, 3, 1e-11);
    check_vector(at_end(&l, "b.moment"), (double[]){0, 0, 0}, 3, 1e-11);
    lab_run(&l, 0.75 * period, -1, NULL);
    AG_CHECK_NEAR(l.time, period / 2, 1e-12);
    lab_close(&l);
  }
}

/* Three bodies joined by a hinge and a ball joint, free in space or falling: momentum, angular momentum about the
 * centre of mass and energy; the forces in the joints accelerate the bodies. */
static void check_chain(void) {
  lab l;
  open_empty(&l);
  ag_graph *g = l.g;
  ag_model *m = l.m;
  ag_body *b[3];
  double mass[3] = {1, 0.6, 1.7}, gravity = 1.3;
  const char *names[3] = {"a", "b", "c"};
  for (int i = 0; i < 3; i++) {
    b[i] = ag_body_add(m, names[i], num(&l, mass[i]), diag3(g, 0.3 + 0.1 * i, 0.5, 0.6), 0, NULL, nowhere);
    ag_body_gravity(m, b[i], num(&l, gravity));
  }
  const ag_joint *hinge = NULL, *ball = NULL;
  ag_id p = vec3(g, 0.5, 0.1, 0), q = vec3(g, -0.4, 0, 0.2), axis = vec3(g, 0.2, 1, 0.4), other = vec3(g, 0, 1, 0);
  AG_CHECK(ag_joint_hinge(&l.ctx, m, b[0], p, axis, b[1], q, other, nowhere, "hinge", &hinge) == AG_OK);
  AG_CHECK(ag_joint_ball(&l.ctx, m, b[1], p, b[2], q, nowhere, "ball", &ball) == AG_OK);
  lab_start(&l, true, b[0]->R, vec3(g, 0.3, -0.5, 0.8));
  lab_start(&l, true, b[2]->R, vec3(g, -1, 0.4, 0.2));
  ag_id J = ag_zero(g, 3, 1), P = J, X = J;
  for (int i = 0; i < 3; i++) {
    const ag_coord *R = &m->coords[b[i]->R], *x = &m->coords[b[i]->x];
    ag_id part = ag_mul(g, b[i]->mass, x->xi), spin = ag_mul(g, R->q, ag_mul(g, b[i]->inertia, R->xi));
    P = ag_add(g, P, part);
    X = ag_add(g, X, ag_mul(g, b[i]->mass, x->q));
    J = ag_add(g, J, ag_add(g, ag_cross(g, x->q, part), spin));
  }
  J = ag_sub(g, J, ag_div(g, ag_cross(g, X, P), num(&l, 3.3)));
  observe(&l, "P", P);
  observe(&l, "J", J);
  /* moment of the hinge along its axis: zero */
  observe(&l, "along", ag_dot(g, hinge->moment, ag_mul(g, m->coords[b[0]->R].q, hinge->a)));
  if (!derive(&l)) return;
  AG_CHECK(ag_system_dims(l.sys)->u == 18 - 8);
  check_closures(l.sys);
  /* only its weight and the ball joint act on the last body, only its weight and the hinge on the first one */
  double x[39], a[18], obs[64], first[6];
  ag_work *w = ag_work_create(l.sys, ag_system_param_values(l.sys));
  ag_system_state0(l.sys, x);
  AG_CHECK(ag_work_accel(w, 0, x, a, NULL) == AG_FINE && ag_work_observe(w, 0, x, obs) == AG_FINE);
  AG_CHECK_STR(m->observables[0].name, "b.joint");
  AG_CHECK_STR(m->observables[2].name, "c.joint");
  for (int i = 0; i < 3; i++) {
    double weight = i == 2 ? gravity : 0;
    AG_CHECK_NEAR(mass[2] * (a[15 + i] + weight), obs[6 + i], 1e-13);
    AG_CHECK_NEAR(mass[0] * (a[3 + i] + weight), -obs[i], 1e-13);
  }
  ag_work_free(w);
  lab_run(&l, 0.01, -1, NULL);
  memcpy(first, at_end(&l, "P"), sizeof(double) * 3);
  memcpy(first + 3, at_end(&l, "J"), sizeof(double) * 3);
  double energy = at_end(&l, "energy")[0];
  lab_run(&l, 3, -1, NULL);
  first[2] -= 3.3 * gravity * 2.99;
  check_vector(at_end(&l, "P"), first, 3, 1e-11);
  check_vector(at_end(&l, "J"), first + 3, 3, 1e-11);
  AG_CHECK_NEAR(at_end(&l, "energy")[0], energy, 1e-10);
  AG_CHECK_NEAR(at_end(&l, "along")[0], 0, 1e-13);
  lab_close(&l);
}

static ag_body *wheel(lab *l, const char *name) {
  ag_surface tyre = {.kind = AG_SURFACE_TORUS, .a = num(l, 0.28), .b = num(l, 0.02)};
  ag_body *b = ag_body_add(l->m, name, num(l, 1), diag3(l->g, 0.02, 0.02, 0.04), 0, &tyre, nowhere);
  const ag_contact *c;
  AG_CHECK(ag_body_roll(&l->ctx, l->m, b, &(ag_ground){.gravity = num(l, 9.8)}, nowhere, &c) == AG_OK);
  return b;
}

static void hinge(lab *l, ag_body *A, ag_id p, ag_id a, ag_body *B, ag_id q, ag_id b) {
  AG_CHECK(ag_joint_hinge(&l->ctx, l->m, A, p, a, B, q, b, nowhere, "hinge", NULL) == AG_OK);
}

/* A bicycle for which only the speed is given: the hinges turn the wheels upright, the bodies are placed one after the
 * other, and if the front wheel would not touch, everything is pitched until it does. It rolls on upright; the ground
 * carries the weight, shared according to the moments about the rear contact. */
static void check_bicycle(void) {
  for (int k = 0; k < 2; k++) {
    lab l;
    open_empty(&l);
    ag_graph *g = l.g;
    ag_body *rear = wheel(&l, "rear"), *front = wheel(&l, "front");
    ag_body *frame = ag_body_add(l.m, "frame", num(&l, 5), diag3(g, 0.5, 0.4, 0.2), 0, NULL, nowhere),
            *fork = ag_body_add(l.m, "fork", num(&l, 0.5), diag3(g, 0.05, 0.05, 0.02), 0, NULL, nowhere);
    ag_body_gravity(l.m, frame, num(&l, 9.8));
    ag_body_gravity(l.m, fork, num(&l, 9.8));
    ag_id e2 = vec3(g, 0, 1, 0), e3 = vec3(g, 0, 0, 1), O = vec3(g, 0, 0, 0), steer = vec3(g, -0.3, 0, 1);
    ag_id low = vec3(g, -0.4, 0, -0.3), head = vec3(g, 0.4, 0, 0.2), top = vec3(g, 0, 0, 0.4),
          tip = vec3(g, 0.2, 0, k ? -0.05 : -0.1);
    hinge(&l, frame, low, e2, rear, O, e3);
    hinge(&l, frame, head, steer, fork, top, steer);
    hinge(&l, fork, tip, e2, front, O, e3);
    lab_start(&l, true, rear->x, vec3(g, 3, 0, 0));
    if (!derive(&l)) return;
    AG_CHECK(ag_system_dims(l.sys)->u == 3 && l.ctx.n_diag == 0);
    check_closures(l.sys);
    lab_run(&l, 0, -1, NULL);
    AG_CHECK_NEAR(at_end(&l, "front.gap")[0], 0, 1e-12);
    AG_CHECK(fabs(at_end(&l, "frame.R")[2]) < 1e-13 || k); /* pitched only if necessary */
    lab_run(&l, 0.5, -1, NULL);
    AG_CHECK_NEAR(at_end(&l, "frame.x'")[0], 3, 1e-11);
    double at = at_end(&l, "rear.contact")[0], moment = 5 * (at_end(&l, "frame.x")[0] - at);
    moment += 0.5 * (at_end(&l, "fork.x")[0] - at) + at_end(&l, "front.x")[0] - at;
    AG_CHECK_NEAR(at_end(&l, "front.normal")[0], 9.8 * moment / (at_end(&l, "front.contact")[0] - at), 1e-10);
    AG_CHECK_NEAR(at_end(&l, "front.normal")[0] + at_end(&l, "rear.normal")[0], 9.8 * 7.5, 1e-10);
    lab_close(&l);
  }
}

int main(void) {
  check_bicycle();
  check_pendulum();
  check_chain();
  return ag_check_report();
}
