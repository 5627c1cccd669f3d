/* SPDX-License-Identifier: MIT
 * Rolling on grounds that tilt, turn, shake, are hollow or are bodies themselves: published numbers, closed forms,
 * momentum. */
#include "tests/body_lab.h"
#include "tests/closures.h"

static ag_surface ball_3(ag_graph *g) { return (ag_surface){.kind = AG_SURFACE_SPHERE, .a = ag_num(g, 0.3)}; }
static ag_surface ball_5(ag_graph *g) { return (ag_surface){.kind = AG_SURFACE_SPHERE, .a = ag_num(g, 0.5)}; }
static ag_surface lens(ag_graph *g) {
  return (ag_surface){.kind = AG_SURFACE_ELLIPSOID, .a = ag_num(g, 1), .b = ag_num(g, 1), .c = ag_num(g, 0.6)};
}

/* `C_plane`; tilted, a turn of the circle shifts it by g sin(alpha)/(k Omega) times its time, along the horizontal. */
static void check_turntable(void) {
  lab l;
  double I = 0.4 * 2 * 0.09;
  lab_open(&l, 2, (double[]){I, I, I}, 0, ball_3);
  lab_roll(&l, (ag_ground){.spin = num(&l, 1.5)}, 9.8);
  AG_MODEL_PUSH(l.m, starts, ((ag_start){false, l.b->x, 0, -1, num(&l, 1), nowhere}));
  lab_start(&l, true, l.b->R, vec3(l.g, 0.4, -1, 0.6));
  AG_MODEL_PUSH(l.m, observables, ((ag_item){"omega", NULL, ag_body_part(l.m, l.b, "omega"), nowhere}));
  if (!lab_derive(&l)) return;
  check_closures(l.sys);
  check_laws(&l);
  lab_run(&l, 10, -1, NULL);
  check_vector(at_end(&l, "b.x"), (double[]){-2.915340983811253, -3.921009300860895, 0.3}, 3, 1e-11);
  check_vector(at_end(&l, "omega"), (double[]){-13.58336065646876, -15.003604645931768, 0.6}, 3, 1e-11);
  AG_CHECK_NEAR(at_end(&l, "b.normal")[0], 19.6, 1e-12);
  lab_close(&l);

  double alpha = 0.1, n[3] = {sin(alpha), 0, cos(alpha)}, T = 2 * M_PI * 1.4 / (0.4 * 1.5),
         drift = 9.8 * sin(alpha) / (0.4 * 1.5);
  lab_open(&l, 2, (double[]){I, I, I}, 0, ball_3);
  lab_roll(&l, (ag_ground){.spin = num(&l, 1.5), .normal = vec3(l.g, n[0], n[1], n[2])}, 9.8);
  lab_start(&l, true, l.b->R, vec3(l.g, 0.4, -1, 0.6));
  if (!lab_derive(&l)) return;
  check_laws(&l);
  lab_run(&l, T, -1, NULL);
  const double *x = at_end(&l, "b.x");
  /* the slope falls towards +x: n x (down the slope) is +y */
  check_vector(x, (double[]){0.3 * n[0], drift * T, 0.3 * n[2]}, 3, 1e-10);
  lab_close(&l);
}

/* `C_cylinder_traj`: ball of radius 0.5 in a cylinder of radius 1.7 turning at 0.8, further potential 0.25 cos(gamma)
 */
static void check_cylinder(void) {
  lab l;
  lab_open(&l, 1, (double[]){0.1, 0.1, 0.1}, 0, ball_5);
  ag_ground gr = {.kind = AG_GROUND_CYLINDER, .inside = true, .radius = num(&l, 1.7), .spin = num(&l, 0.8)};
  lab_roll(&l, gr, 1.3);
  ag_id x = ag_body_part(l.m, l.b, "x"), u[2] = {ag_entry(l.g, x, 0, 0), ag_entry(l.g, x, 1, 0)};
  ag_id cosine = ag_div(l.g, u[0], ag_norm(l.g, ag_stack(l.g, 2, 1, u)));
  l.m->lagrangian = ag_sub(l.g, l.m->lagrangian, ag_mul(l.g, num(&l, 0.25), cosine));
  lab_start(&l, false, l.b->x, vec3(l.g, 1.2 * cos(0.2), 1.2 * sin(0.2), 0.1));
  lab_start(&l, true, l.b->R, vec3(l.g, 0.5, -0.3, 1.1));
  AG_MODEL_PUSH(l.m, observables, ((ag_item){"omega", NULL, ag_body_part(l.m, l.b, "omega"), nowhere}));
  if (!lab_derive(&l)) return;
  AG_CHECK(ag_system_growth(l.sys)->n_disguised == 1);
  AG_CHECK_NEAR(ag_system_xi0(l.sys)[5], -0.5 * (0.5 * sin(0.2) + 0.3 * cos(0.2)), 1e-15);
  check_closures(l.sys);
  lab_run(&l, 10, -1, NULL);
  double gamma = 8.2319584514392949;
  check_vector(at_end(&l, "b.x"), (double[]){1.2 * cos(gamma), 1.2 * sin(gamma), -6.0227951775715482}, 3, 1e-10);
  check_vector(at_end(&l, "omega"), (double[]){0.8765382763563600, -11.4144516071417339, 0.5865295102894134}, 3, 1e-10);
  AG_CHECK_NEAR(at_end(&l, "energy")[0], 0.6602436552373103, 1e-10);
  AG_CHECK_NEAR(at_end(&l, "b.gap")[0], 0, 1e-11);
  lab_close(&l);
}

/* Turning cone: with rho the distance of the centre from the axis, rho^2 (theta' - k Omega/(2 (1 + k))) is constant. */
static void check_cone(void) {
  lab l;
  double k = 0.4, I = k * 0.09, beta = 0.4, Om = 2, s = 2,
         x0[3] = {s * cos(beta) - 0.3 * sin(beta), 0, s * sin(beta) + 0.3 * cos(beta)};
  lab_open(&l, 1, (double[]){I, I, I}, 0, ball_3);
  lab_roll(&l, (ag_ground){.kind = AG_GROUND_CONE, .slope = num(&l, beta), .spin = num(&l, Om)}, 9.8);
  lab_start(&l, false, l.b->x, vec3(l.g, x0[0], x0[1], x0[2]));
  lab_start(&l, true, l.b->R, vec3(l.g, 3, -6, 1));
  AG_MODEL_PUSH(l.m, observables, ((ag_item){"omega", NULL, ag_body_part(l.m, l.b, "omega"), nowhere}));
  double omega0[3] = {3, -6, 1}, second[2]; /* R = 1 at the start */
  if (!lab_derive(&l)) return;
  check_closures(l.sys);
  check_laws(&l);
  AG_CHECK(ag_system_growth(l.sys)->n_disguised == 1);
  const double *v = ag_system_xi0(l.sys) + 3;
  double first = x0[0] * v[1] - k * Om / (2 * (1 + k)) * x0[0] * x0[0];
  lab_run(&l, 5, -1, NULL);
  const double *x = at_end(&l, "b.x");
  v = at_end(&l, "b.x'");
  AG_CHECK(fabs(x[2] - x0[2]) > 0.01);
  /* with s = rho/cos(beta), rho that of the centre: a omega_n + sin(beta) (k Omega s/(1 + k)
   * - s theta') */
  for (int i = 0; i < 2; i++) {
    const double *at = i ? x : x0, *speed = i ? v : ag_system_xi0(l.sys) + 3, *omega = i ? at_end(&l, "omega") : omega0;
    double rho = hypot(at[0], at[1]), u[2] = {at[0] / rho, at[1] / rho},
           turning = (u[0] * speed[1] - u[1] * speed[0]) / rho;
    double n = cos(beta) * omega[2] - sin(beta) * (u[0] * omega[0] + u[1] * omega[1]);
    second[i] = 0.3 * n + sin(beta) / cos(beta) * rho * (k * Om / (1 + k) - turning);
  }
  AG_CHECK_NEAR(second[1], second[0], 1e-10);
  AG_CHECK_NEAR(x[0] * v[1] - x[1] * v[0] - k * Om / (2 * (1 + k)) * (x[0] * x[0] + x[1] * x[1]), first, 1e-10);
  AG_CHECK_NEAR(at_end(&l, "b.gap")[0], 0, 1e-11);
  lab_close(&l);
}

/* In an upright cylinder at rest the height oscillates, sqrt(k/(1 + k)) = sqrt(2/7) times per lap for a solid ball:
 * after one lap at the rate w it has gone from z0 = 0, z' = v to v sin(2 pi q)/(q w). */
static void check_well(void) {
  lab l;
  double k = 0.4, a = 0.5, I = k * a * a, q = sqrt(k / (1 + k)), w = 1.3, v = 0.6, reach = 1.2;
  lab_open(&l, 1, (double[]){I, I, I}, 0, ball_5);
  lab_roll(&l, (ag_ground){.kind = AG_GROUND_CYLINDER, .inside = true, .radius = num(&l, reach + a)}, 0);
  lab_start(&l, false, l.b->x, vec3(l.g, reach, 0, 0));
  lab_start(&l, true, l.b->x, vec3(l.g, 0, reach * w, v));
  if (!lab_derive(&l)) return;
  AG_CHECK_NEAR(ag_system_xi0(l.sys)[0], 0,
                0); /* without spin about the normal the height starts without acceleration */
  lab_run(&l, 2 * M_PI / w, -1, NULL);
  check_vector(at_end(&l, "b.x"), (double[]){reach, 0, v * sin(2 * M_PI * q) / (q * w)}, 3, 1e-11);
  lab_close(&l);
}

/* A ball that spins on top of a fixed one stays iff n^2 > 4 (1 + k) g (a + b)/(k^2 a^2); otherwise it rolls down and
 * lifts off. */
static void check_ball_on_ball(void) {
  double k = 0.4, a = 0.3, b = 1, bound = 4 * (1 + k) * 9.8 * (a + b) / (k * k * a * a);
  for (int fast = 0; fast < 2; fast++) {
    lab l;
    double I = k * a * a, n = sqrt(bound * (fast ? 1.1 : 0.5));
    lab_open(&l, 1, (double[]){I, I, I}, 0, ball_3);
    lab_roll(&l, (ag_ground){.kind = AG_GROUND_SPHERE, .radius = num(&l, b), .watch = true}, 9.8);
    lab_start(&l, false, l.b->x, vec3(l.g, 1.3 * sin(1e-4), 0, 1.3 * cos(1e-4)));
    lab_start(&l, true, l.b->R, vec3(l.g, 0, 0, n));
    if (!lab_derive(&l)) return;
    check_laws(&l);
    lab_run(&l, fast ? 12 : 8, -1, NULL);
    if (fast) AG_CHECK(isnan(l.time) && hypot(at_end(&l, "b.x")[0], at_end(&l, "b.x")[1]) < 2e-3);
    else AG_CHECK(l.time > 0.5);
    lab_close(&l);
  }
}

/* A plane that shakes: with V its velocity, (1 + k) v - k V is constant along it, and the normal force is m (g + z'').
 */
static void check_shaken(void) {
  lab l;
  double k = 0.4, I = k * 0.09;
  lab_open(&l, 1, (double[]){I, I, I}, 0, ball_3);
  ag_id t = l.m->t, path[3] = {ag_apply1(l.g, AG_OP_SIN, t), num(&l, 0),
                               ag_mul(l.g, num(&l, 0.1), ag_apply1(l.g, AG_OP_COS, ag_add(l.g, t, t)))};
  lab_roll(&l, (ag_ground){.origin = ag_stack(l.g, 3, 1, path)}, 9.8);
  lab_start(&l, true, l.b->R, vec3(l.g, 0.4, -1, 0.6));
  if (!lab_derive(&l)) return;
  check_closures(l.sys);
  check_laws(&l);
  double v0 = ag_system_xi0(l.sys)[3];
  AG_CHECK_NEAR(v0, 1 - 0.3, 1e-15);
  AG_CHECK_NEAR(ag_system_q0(l.sys)[6], 0.4, 1e-15); /* the plane starts at height 0.1 */
  lab_run(&l, 7, -1, NULL);
  AG_CHECK_NEAR(at_end(&l, "b.x'")[0], v0 + k / (1 + k) * (cos(7) - 1), 1e-12);
  AG_CHECK_NEAR(at_end(&l, "b.x")[0], v0 * 7 + k / (1 + k) * (sin(7) - 7), 1e-11);
  AG_CHECK_NEAR(at_end(&l, "b.x")[2], 0.3 + 0.1 * cos(14), 1e-12);
  AG_CHECK_NEAR(at_end(&l, "b.normal")[0], 9.8 - 0.4 * cos(14), 1e-12);
  lab_close(&l);
}

/* A turntable at the prescribed rate w(t): (1 + k) v - k w e3 x x is constant. */
static void check_prescribed_rate(void) {
  lab l;
  double k = 0.4, I = k * 0.09, t1 = 6;
  lab_open(&l, 1, (double[]){I, I, I}, 0, ball_3);
  lab_roll(&l, (ag_ground){.spin = ag_apply1(l.g, AG_OP_COS, l.m->t)}, 9.8);
  AG_MODEL_PUSH(l.m, starts, ((ag_start){false, l.b->x, 0, -1, num(&l, 1), nowhere}));
  lab_start(&l, true, l.b->R, vec3(l.g, 0.4, -1, 0.6));
  if (!lab_derive(&l)) return;
  check_closures(l.sys);
  double v0[2] = {ag_system_xi0(l.sys)[3], ag_system_xi0(l.sys)[4]};
  lab_run(&l, t1, -1, NULL);
  const double *x = at_end(&l, "b.x"), *v = at_end(&l, "b.x'");
  AG_CHECK_NEAR((1 + k) * v[0] + k * cos(t1) * x[1], (1 + k) * v0[0], 1e-11);
  AG_CHECK_NEAR((1 + k) * v[1] - k * cos(t1) * x[0], (1 + k) * v0[1] - k, 1e-11);
  lab_close(&l);
}

/* Bowls shaped like a cone and a sphere: the same accelerations as with these grounds. */
static void check_bowl(void) {
  for (int k = 0; k < 2; k++) {
    lab l[2];
    ag_work *w[2];
    for (int i = 0; i < 2; i++) {
      lab_open(&l[i], 1, (double[]){0.04, 0.05, 0.06}, 0.1, ball_3);
      ag_graph *g = l[i].g;
      ag_ground gr = {.spin = num(&l[i], 0.7), .rubber = k};
      ag_id rho = ag_input(g, "rho", 1, 1, AG_LEAF_REAL), inner = num(&l[i], 2 - 0.3);
      gr.kind = i ? AG_GROUND_BOWL : k ? AG_GROUND_SPHERE : AG_GROUND_CONE;
      gr.inside = true;
      gr.radius = num(&l[i], 2);
      gr.slope = num(&l[i], 0.4);
      gr.rho = rho;
      gr.profile = k ? ag_neg(g, ag_apply1(g, AG_OP_SQRT, ag_sub(g, ag_mul(g, inner, inner), ag_mul(g, rho, rho))))
                     : ag_add(g, num(&l[i], 0.3 / cos(0.4)), ag_mul(g, num(&l[i], tan(0.4)), rho));
      lab_roll(&l[i], gr, 9.8);
      /* the centre of the ball is 0.1 below that of mass, R = 1 */
      double x = 0.8, z = k ? -sqrt(1.7 * 1.7 - x * x) : 0.3 / cos(0.4) + tan(0.4) * x;
      lab_start(&l[i], false, l[i].b->x, vec3(g, x, 0, z + 0.1));
      lab_start(&l[i], true, l[i].b->R, k ? vec3(g, 1, 2, 0) : vec3(g, 1, 2, 3));
      if (!lab_derive(&l[i])) return;
      w[i] = ag_work_create(l[i].sys, ag_system_param_values(l[i].sys));
    }
    double x[13], a[2][6], force[2][6];
    ag_system_state0(l[0].sys, x);
    for (int i = 0; i < 2; i++) {
      check_vector(ag_system_xi0(l[i].sys), ag_system_xi0(l[0].sys), 6, 1e-13);
      AG_CHECK(ag_work_accel(w[i], 0, x, a[i], NULL) == AG_FINE);
      AG_CHECK(ag_work_reaction(w[i], 0, x, force[i]) == AG_FINE);
    }
    check_vector(a[1], a[0], 6, 1e-12);
    check_vector(force[1], force[0], 6, 1e-12);
    check_laws(&l[1 - k]); /* a bowl like a sphere ends at rho = 1.7, which samples do not respect */
    for (int i = 0; i < 2; i++) {
      lab_run(&l[i], 2, -1, NULL);
      ag_work_free(w[i]);
    }
    check_vector(at_end(&l[1], "b.Omega"), at_end(&l[0], "b.Omega"), 3, 1e-10);
    check_vector(at_end(&l[1], "b.contact"), at_end(&l[0], "b.contact"), 3, 1e-10);
    for (int i = 0; i < 2; i++) lab_close(&l[i]);
  }
}

/* Two bodies in empty space, one rolling on the other (a ball on a ball, an ellipsoid on a plate): the contact force is
 * internal, so momentum, angular momentum and energy are conserved; also with rubber. */
static void check_carried(void) {
  for (int k = 0; k < 4; k++) {
    lab l;
    lab_open(&l, 0.7, (double[]){0.2, 0.2, 0.25}, 0, k & 1 ? lens : ball_3);
    ag_surface big = ball_5(l.g);
    ag_model *m = l.m;
    ag_body *a = ag_body_add(m, "a", num(&l, 2), diag3(l.g, 0.5, 0.6, 0.7), vec3(l.g, 0.1, 0, 0), &big, nowhere);
    ag_ground gr = {.carrier = a, .radius = num(&l, 0.5), .rubber = k & 2};
    gr.kind = k & 1 ? AG_GROUND_PLANE : AG_GROUND_SPHERE;
    gr.origin = k & 1 ? vec3(l.g, 0, 0, 0.5) : vec3(l.g, -0.1, 0, 0);
    lab_roll(&l, gr, 0);
    ag_id J = ag_zero(l.g, 3, 1), P = J;
    ag_body *both[2] = {a, l.b};
    for (int i = 0; i < 2; i++) {
      const ag_coord *R = &m->coords[both[i]->R], *x = &m->coords[both[i]->x];
      ag_id p = ag_mul(l.g, both[i]->mass, x->xi), spin = ag_mul(l.g, R->q, ag_mul(l.g, both[i]->inertia, R->xi));
      P = ag_add(l.g, P, p);
      J = ag_add(l.g, J, ag_add(l.g, ag_cross(l.g, x->q, p), spin));
    }
    AG_MODEL_PUSH(m, observables, ((ag_item){"P", NULL, P, nowhere}));
    AG_MODEL_PUSH(m, observables, ((ag_item){"J", NULL, J, nowhere}));
    lab_start(&l, true, a->R, vec3(l.g, 0.2, -0.3, 0.4));
    lab_start(&l, true, a->x, vec3(l.g, 0.1, 0.2, 0.3));
    if (!(k & 2)) lab_start(&l, true, l.b->R, vec3(l.g, 0.8, 0.5, -1));
    else AG_MODEL_PUSH(m, starts, ((ag_start){true, l.b->R, 0, -1, num(&l, 1.5), nowhere}));
    if (!lab_derive(&l)) return;
    check_closures(l.sys);
    double first[6], energy;
    lab_run(&l, 0.01, -1, NULL);
    memcpy(first, at_end(&l, "P"), sizeof(double) * 3);
    memcpy(first + 3, at_end(&l, "J"), sizeof(double) * 3);
    energy = at_end(&l, "energy")[0];
    AG_CHECK(fabs(at_end(&l, "b.normal")[0]) > 1e-3);
    lab_run(&l, 3, -1, NULL);
    check_vector(at_end(&l, "P"), first, 3, 1e-12);
    check_vector(at_end(&l, "J"), first + 3, 3, 1e-12);
    AG_CHECK_NEAR(at_end(&l, "energy")[0], energy, 1e-12);
    AG_CHECK_NEAR(at_end(&l, "b.gap")[0], 0, 1e-12);
    lab_close(&l);
  }
}

int main(void) {
  check_turntable();
  check_cylinder();
  check_cone();
  check_well();
  check_ball_on_ball();
  check_shaken();
  check_prescribed_rate();
  check_bowl();
  check_carried();
  return ag_check_report();
}
