/* SPDX-License-Identifier: MIT
 * Bodies other than balls on curved grounds and on one another: the laws of motion with the contact forces, the gap,
 * momentum and energy, and scenes that can be written in two ways. */
#include "tests/body_lab.h"
#include "tests/closures.h"

static ag_surface ball_3(ag_graph *g) { return (ag_surface){.kind = AG_SURFACE_SPHERE, .a = ag_num(g, 0.3)}; }
/* the same ball, not declared as one */
static ag_surface round_3(ag_graph *g) {
  return (ag_surface){.kind = AG_SURFACE_ELLIPSOID, .a = ag_num(g, 0.3), .b = ag_num(g, 0.3), .c = ag_num(g, 0.3)};
}
static ag_surface egg(ag_graph *g) {
  return (ag_surface){.kind = AG_SURFACE_ELLIPSOID, .a = ag_num(g, 0.35), .b = ag_num(g, 0.25), .c = ag_num(g, 0.2)};
}
static ag_surface ring(ag_graph *g) {
  return (ag_surface){.kind = AG_SURFACE_TORUS, .a = ag_num(g, 0.2), .b = ag_num(g, 0.1)};
}

static ag_ground ground_of(lab *l, int k) {
  ag_graph *g = l->g;
  ag_ground gr = {.kind = k < 2   ? AG_GROUND_SPHERE
                          : k < 4 ? AG_GROUND_CYLINDER
                          : k < 5 ? AG_GROUND_CONE
                                  : AG_GROUND_BOWL};
  gr.inside = k % 2 == 0;
  gr.radius = ag_num(g, 1.7);
  gr.slope = ag_num(g, 0.4);
  if (k == 3) gr.normal = vec3(g, 0.2, 1, 0);
  gr.rho = ag_input(g, "rho", 1, 1, AG_LEAF_REAL);
  gr.profile = ag_mul(g, ag_num(g, 0.4), ag_mul(g, gr.rho, gr.rho));
  return gr;
}

/* A ball and the same ball as an ellipsoid: equal accelerations and forces. For the bowl the profiles differ, so there
 * a spinning body of revolution is compared with itself rotated. */
static void check_same_ball(void) {
  for (int k = 0; k < 5; k++) {
    lab l[2];
    double x[13], a[2][6], force[2][6], gap[2];
    for (int i = 0; i < 2; i++) {
      lab_open(&l[i], 1, (double[]){0.04, 0.05, 0.06}, 0.1, i ? round_3 : ball_3);
      ag_ground gr = ground_of(&l[i], k);
      gr.spin = num(&l[i], 0.7);
      gr.rubber = k == 1 || k == 2;
      lab_roll(&l[i], gr, 9.8);
      if (k == 4)
        lab_start(&l[i], false, l[i].b->x,
                  vec3(l[i].g, 2 * cos(0.4) - 0.3 * sin(0.4), 0, 2 * sin(0.4) + 0.3 * cos(0.4) + 0.1));
      lab_start(&l[i], true, l[i].b->R, gr.rubber ? vec3(l[i].g, 1, 2, 0) : vec3(l[i].g, 1, 2, 3));
      if (gr.rubber) l[i].m->n_starts--;
      if (!lab_derive(&l[i])) return;
      if (!i)
        memcpy(x, ag_system_q0(l[0].sys), sizeof(double) * 7),
            memcpy(x + 7, ag_system_xi0(l[0].sys), sizeof(double) * 6);
      check_vector(ag_system_q0(l[i].sys), ag_system_q0(l[0].sys), 7, 1e-15);
      ag_work *w = ag_work_create(l[i].sys, ag_system_param_values(l[i].sys));
      double obs[64];
      AG_CHECK(ag_work_accel(w, 0, x, a[i], NULL) == AG_FINE && ag_work_reaction(w, 0, x, force[i]) == AG_FINE);
      AG_CHECK(ag_work_observe(w, 0, x, obs) == AG_FINE);
      gap[i] = obs[3];
      ag_work_free(w);
    }
    check_vector(a[1], a[0], 6, 1e-12);
    check_vector(force[1], force[0], 6, 1e-12);
    AG_CHECK_NEAR(gap[1], gap[0], 1e-15);
    for (int i = 0; i < 2; i++) lab_close(&l[i]);
  }
}

/* An egg and a ring on every ground: Newton's and Euler's laws, a closed gap, conserved energy. */
static void check_grounds(void) {
  for (int k = 0; k < 12; k++) {
    lab l;
    double mass = 1.3, s = 1.4;
    lab_open(&l, mass, (double[]){0.02, 0.03, 0.04}, 0.03, k < 6 ? egg : ring);
    ag_ground gr = ground_of(&l, k % 6);
    gr.rubber = k % 3 == 1;
    lab_roll(&l, gr, 9.8);
    lab_start(&l, false, l.b->R, euler(l.g, 0.3, 1.1, 0.4));
    if (gr.kind >= AG_GROUND_CONE) { /* where it touches: the point with normal n */
      double slope = gr.kind == AG_GROUND_CONE ? 0.4 : atan(0.8 * s);
      ag_id n = vec3(l.g, -sin(slope), 0, cos(slope)),
            P = vec3(l.g, s, 0, gr.kind == AG_GROUND_CONE ? s * tan(0.4) : 0.4 * s * s);
      ag_id R = l.m->coords[l.b->R].q, down = ag_neg(l.g, ag_mul(l.g, ag_transpose(l.g, R), n));
      ag_id arm = ag_sub(l.g, ag_surface_point(l.g, &l.b->surface, down), l.b->centre);
      lab_start(&l, false, l.b->x, ag_sub(l.g, P, ag_mul(l.g, R, arm)));
    }
    AG_MODEL_PUSH(l.m, starts, ((ag_start){true, l.b->R, 0, -1, num(&l, 1.5), nowhere}));
    AG_MODEL_PUSH(l.m, starts, ((ag_start){true, l.b->R, 1, -1, num(&l, 0.4), nowhere}));
    if (!lab_derive(&l)) return;
    AG_CHECK(ag_system_growth(l.sys)->n_disguised == 1 || ag_system_growth(l.sys)->n_disguised == -1);
    check_closures(l.sys);
    AG_CHECK(ag_system_dims(l.sys)->switches == 0); /* guards near poles and axes are no switches */
    check_laws(&l);
    lab_run(&l, 0, -1, NULL);
    AG_CHECK_NEAR(at_end(&l, "b.gap")[0], 0, 1e-15);
    AG_CHECK_NEAR(at_end(&l, "b.misfit")[0], 0, 1e-15);
    double energy = at_end(&l, "energy")[0];
    lab_run(&l, 1, -1, NULL);
    AG_CHECK_NEAR(at_end(&l, "energy")[0], energy, 1e-11);
    AG_CHECK_NEAR(at_end(&l, "b.gap")[0], 0, 1e-12);
    AG_CHECK_NEAR(at_end(&l, "b.misfit")[0], 0, 1e-14);
    if (ag_checks_failed) fprintf(stderr, "  ground %d\n", k);
    fprintf(stderr, "%s on ground %d: %d operations\n", k < 6 ? "egg" : "ring", k % 6,
            ag_tape_cost(ag_system_role(l.sys, AG_ROLE_CORE)));
    lab_close(&l);
  }
}

/* In empty space one body rolls on another: momentum, angular momentum and energy are conserved, the gap stays closed.
 * A ball on an egg and vice versa, two eggs, a ring on an egg, with and without rubber. */
static void check_pairs(void) {
  ag_surface (*forms[][2])(ag_graph *) = {{ball_3, egg}, {egg, ball_3}, {egg, egg}, {ring, egg}};
  for (int k = 0; k < 8; k++) {
    lab l;
    lab_open(&l, 0.7, (double[]){0.02, 0.02, 0.025}, k == 3 ? 0.02 : 0, forms[k / 2][0]);
    ag_graph *g = l.g;
    ag_surface big = forms[k / 2][1](g);
    ag_model *m = l.m;
    ag_id off = vec3(g, 0.03, 0, 0);
    ag_body *a = ag_body_add(m, "a", num(&l, 2), diag3(g, 0.05, 0.06, 0.07), off, &big, nowhere);
    lab_roll(&l, (ag_ground){.kind = AG_GROUND_BODY, .carrier = a, .rubber = k % 2}, 0);
    ag_body *both[2] = {a, l.b};
    ag_id J = ag_zero(g, 3, 1), P = J;
    for (int i = 0; i < 2; i++) {
      const ag_coord *R = &m->coords[both[i]->R], *x = &m->coords[both[i]->x];
      ag_id p = ag_mul(g, both[i]->mass, x->xi), spin = ag_mul(g, R->q, ag_mul(g, both[i]->inertia, R->xi));
      P = ag_add(g, P, p);
      J = ag_add(g, J, ag_add(g, ag_cross(g, x->q, p), spin));
    }
    AG_MODEL_PUSH(m, observables, ((ag_item){"P", NULL, P, nowhere}));
    AG_MODEL_PUSH(m, observables, ((ag_item){"J", NULL, J, nowhere}));
    lab_start(&l, false, a->R, euler(g, 0.2, 0.7, -0.3));
    lab_start(&l, false, l.b->R, euler(g, 0.5, 1.2, 0.4));
    lab_start(&l, true, a->R, vec3(g, 0.2, -0.3, 0.4));
    lab_start(&l, true, a->x, vec3(g, 0.1, 0.2, 0.3));
    AG_MODEL_PUSH(m, starts, ((ag_start){true, l.b->R, 0, -1, num(&l, 1.5), nowhere}));
    if (!lab_derive(&l)) return;
    check_closures(l.sys);
    AG_CHECK(ag_system_dims(l.sys)->switches == 0); /* guards near poles and axes are no switches */
    double first[6], energy;
    lab_run(&l, 0, -1, NULL);
    memcpy(first, at_end(&l, "P"), sizeof(double) * 3);
    memcpy(first + 3, at_end(&l, "J"), sizeof(double) * 3);
    energy = at_end(&l, "energy")[0];
    AG_CHECK_NEAR(at_end(&l, "b.gap")[0], 0, 1e-15);
    lab_run(&l, 2, -1, NULL);
    check_vector(at_end(&l, "P"), first, 3, 1e-12);
    check_vector(at_end(&l, "J"), first + 3, 3, 1e-12);
    AG_CHECK_NEAR(at_end(&l, "energy")[0], energy, 1e-12);
    AG_CHECK_NEAR(at_end(&l, "b.gap")[0], 0, 1e-12);
    AG_CHECK_NEAR(at_end(&l, "b.misfit")[0], 0, 1e-14);
    fprintf(stderr, "pair %d: %d operations\n", k, ag_tape_cost(ag_system_role(l.sys, AG_ROLE_CORE)));
    lab_close(&l);
  }
}

int main(void) {
  check_same_ball();
  check_grounds();
  check_pairs();
  return ag_check_report();
}
