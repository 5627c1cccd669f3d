/* SPDX-License-Identifier: MIT
 * A ball with a flat cut: its radius of curvature is 0 along the edge of the cut and jumps to that of the ball. On
 * either side it moves like the disk or like the ball; steps end where it changes from one to the other. Also
 * impossible contacts. */
#include "tests/body_lab.h"
#include "tests/closures.h"

static const double CUT = 0.6; /* angle of the edge; radius of the ball 1 */

static ag_surface truncated(ag_graph *g) {
  ag_id theta = ag_input(g, "theta", 1, 1, AG_LEAF_REAL), edge = ag_apply2(g, AG_OP_LT, theta, ag_num(g, CUT));
  ag_id r = ag_select(g, edge, ag_num(g, 0), ag_num(g, 1));
  /* the centre of the ball is cos(CUT) above the cut */
  return ag_surface_meridian(g, theta, r, ag_num(g, sin(CUT)), ag_num(g, cos(CUT)), 16);
}
static ag_surface ball(ag_graph *g) { return (ag_surface){.kind = AG_SURFACE_SPHERE, .a = ag_num(g, 1)}; }
static ag_surface edge(ag_graph *g) { return (ag_surface){.kind = AG_SURFACE_DISK, .a = ag_num(g, sin(CUT))}; }

static bool open_at(lab *l, ag_surface (*surface)(ag_graph *), double centre, double theta, bool rubber) {
  lab_open(l, 1.2, (double[]){0.4, 0.4, 0.5}, centre, surface);
  lab_roll(l, (ag_ground){.rubber = rubber}, 1);
  lab_start(l, false, l->b->R, euler(l->g, 0.2, theta, 0.3));
  lab_start(l, true, l->b->R,
            rubber ? euler_rates(l->g, theta, -cos(theta) * 0.8, -0.9, 0.8) : vec3(l->g, -0.5, 0.7, 0.9));
  if (rubber) { /* at psi = 0 the rates are simpler */
    l->m->n_starts = 0;
    lab_start(l, false, l->b->R, euler(l->g, 0.2, theta, 0));
    lab_start(l, true, l->b->R, euler_rates(l->g, theta, -cos(theta) * 0.8, -0.9, 0.8));
  }
  return lab_derive(l);
}

/* The same accelerations as the ball above the angle, and as the disk below it (its centre lies cos(CUT) lower). */
static void check_sides(void) {
  for (int k = 0; k < 2; k++) {
    lab l[2];
    double a[2][6], x[13];
    double theta = k ? 0.4 : 1.1;
    if (!open_at(&l[0], truncated, -0.1, theta, false)) return;
    if (!open_at(&l[1], k ? edge : ball, k ? cos(CUT) - 0.1 : -0.1, theta, false)) return;
    for (int i = 0; i < 2; i++) {
      ag_work *w = ag_work_create(l[i].sys, ag_system_param_values(l[i].sys));
      ag_system_state0(l[0].sys, x);
      check_vector(ag_system_q0(l[i].sys) + 6, ag_system_q0(l[0].sys) + 6, 1, 4e-15);
      check_vector(ag_system_xi0(l[i].sys), ag_system_xi0(l[0].sys), 6, 1e-14);
      AG_CHECK(ag_work_accel(w, 0, x, a[i], NULL) == AG_FINE);
      ag_work_free(w);
    }
    check_vector(a[0], a[1], 6, 1e-13);
    check_laws(&l[0]);
    for (int i = 0; i < 2; i++) lab_close(&l[i]);
  }
}

/* How many right-hand sides it took per try. */
static double run_with(lab *l, double t1, double dt, double rtol, const char *method, double *Omega, int *count) {
  ag_run_options o;
  ag_run_result res;
  double x0[13];
  ag_run_defaults(&o);
  o.t1 = t1;
  o.dt = dt;
  o.every = -1;
  o.rtol = o.atol = rtol;
  o.method = ag_stepper_find(method);
  o.engine = AG_ENGINE_INTERPRETED;
  ag_system_state0(l->sys, x0);
  AG_CHECK(ag_run(&l->ctx, l->sys, ag_system_param_values(l->sys), x0, &o, NULL, &res) == AG_OK &&
           res.end == AG_END_TIME);
  AG_CHECK(res.t == t1);
  memcpy(l->end, res.record, sizeof(double) * (size_t)res.width);
  memcpy(Omega, at_end(l, "b.Omega"), sizeof(double) * 3);
  *count = res.event_count[0];
  double each = (double)res.rhs / (double)(res.steps + res.rejected);
  ag_run_done(&res);
  return each;
}

/* It rocks over the edge and back several times (without rubber it nearly lies flat, moving fast): energy; and rk4
 * keeps its order across the jumps. */
static void check_rocking(void) {
  for (int rubber = 0; rubber < 2; rubber++) {
    lab l;
    double exact[3], got[3], error[4], energy;
    int count;
    if (!open_at(&l, truncated, -0.1, 1.0, rubber)) return;
    AG_CHECK(l.m->n_events == 1 && l.m->events[0].cuts);
    AG_CHECK_STR(l.m->events[0].name, "b.jump");
    lab_run(&l, 0, -1, NULL);
    energy = at_end(&l, "energy")[0];
    double each = run_with(&l, 12, 0, 1e-9, "dop853", exact, &count);
    AG_CHECK(!rubber || each < 23); /* 19; 30 where every step towards a corner is preceded by one across it */
    (void)run_with(&l, 12, 0, 1e-13, "dop853", exact, &count);
    AG_CHECK(count >= 2);
    AG_CHECK_NEAR(at_end(&l, "energy")[0], energy, 1e-12);
    for (int k = 0; k < 4; k++) {
      int again;
      (void)run_with(&l, 12, (rubber ? 0.08 : 0.005) / (1 << k), 1e-13, "rk4", got, &again);
      AG_CHECK(again == count);
      error[k] = fmax(fmax(fabs(got[0] - exact[0]), fabs(got[1] - exact[1])), fabs(got[2] - exact[2]));
    }
    /* 4; without the cuts it is 1 */
    AG_CHECK(log2(error[0] / error[3]) / 3 > 3.7);
    fprintf(stderr, "%d jumps; errors of rk4 %.1e to %.1e, order %.2f\n", count, error[0], error[3],
            log2(error[0] / error[3]) / 3);
    lab_close(&l);
  }
}

/* ---- impossible contacts ---- */

static ag_surface saddle(ag_graph *g) { /* r = 0.5 + cos(theta) */
  ag_id theta = ag_input(g, "theta", 1, 1, AG_LEAF_REAL);
  ag_id r = ag_add(g, ag_num(g, 0.5), ag_apply1(g, AG_OP_COS, theta));
  return ag_surface_meridian(g, theta, r, ag_num(g, 1), ag_num(g, 0.5), 16);
}
static ag_surface no_meridian(ag_graph *g) {
  ag_id theta = ag_input(g, "theta", 1, 1, AG_LEAF_REAL);
  ag_surface s = {.kind = AG_SURFACE_REVOLUTION, .theta = theta, .f0 = ag_num(g, 1)};
  s.h = ag_apply1(g, AG_OP_SIN, theta);
  s.f = ag_mul(g, theta, theta);
  return s;
}
static ag_surface puzzle(ag_graph *g) {
  ag_id theta = ag_input(g, "theta", 1, 1, AG_LEAF_REAL), sine = ag_apply1(g, AG_OP_SIN, theta), one = ag_num(g, 1);
  ag_id choice = ag_apply2(g, AG_OP_LT, sine, ag_num(g, 0.5)), r = ag_select(g, choice, one, ag_num(g, 2));
  return ag_surface_meridian(g, theta, r, ag_num(g, 1), one, 16);
}
static ag_surface lens(ag_graph *g) {
  return (ag_surface){.kind = AG_SURFACE_ELLIPSOID, .a = ag_num(g, 1), .b = ag_num(g, 1), .c = ag_num(g, 0.3)};
}
/* 0.4 x^2 + y^2 + z^2 - 0.6 x^2 z^2 = 1: the second derivative in x is negative at z = -1 */
static ag_surface dented(ag_graph *g) {
  ag_id X = ag_input(g, "X", 3, 1, AG_LEAF_REAL), x = ag_entry(g, X, 0, 0), z = ag_entry(g, X, 2, 0),
        one = ag_num(g, 1);
  ag_id bump = ag_mul(g, ag_num(g, -0.6), ag_mul(g, ag_mul(g, x, x), ag_mul(g, z, z)));
  ag_id f = ag_add(g, ag_sub(g, ag_dot(g, X, X), one), ag_sub(g, bump, ag_mul(g, ag_num(g, 0.6), ag_mul(g, x, x))));
  return (ag_surface){.kind = AG_SURFACE_CONVEX, .p = X, .f = f, .a = one, .b = one, .c = one, .steps = 8};
}

/* For this ground and body, the first message contains the word. */
static void refused(ag_surface (*surface)(ag_graph *), ag_ground ground, double radius, double theta,
                    const char *word) {
  lab l;
  lab_open(&l, 1, (double[]){0.3, 0.3, 0.4}, 0, surface);
  ground.radius = num(&l, radius);
  const ag_contact *c = NULL;
  ag_status status = ag_body_roll(&l.ctx, l.m, l.b, &ground, nowhere, &c);
  if (status == AG_OK) {
    ag_derive_options options = {0};
    lab_start(&l, false, l.b->R, euler(l.g, 0.1, theta, 0.2));
    status = ag_bodies_finish(&l.ctx, l.m);
    if (status == AG_OK) status = ag_system_create(&l.ctx, l.m, &options, &l.sys);
  }
  ag_text out = {0};
  ag_ctx_render(&l.ctx, &out);
  AG_CHECK(status == AG_WRONG && l.ctx.n_error == 1);
  AG_CHECK(strstr(ag_text_cstr(&out), word) != NULL);
  if (!strstr(ag_text_cstr(&out), word)) fprintf(stderr, "wanted `%s`, got: %s", word, ag_text_cstr(&out));
  ag_text_done(&out);
  lab_close(&l);
}

/* X1^2/0.04 + X2^2/0.09 + X3^4/0.0001 = 1: flat around its equator, where the steps no longer find the contact */
static ag_surface tablet(ag_graph *g) {
  ag_id X = ag_input(g, "X", 3, 1, AG_LEAF_REAL), f = ag_num(g, -1);
  for (int i = 0; i < 3; i++) {
    ag_id x = ag_entry(g, X, i, 0), square = ag_mul(g, x, x);
    f = ag_add(g, f,
               ag_div(g, i == 2 ? ag_mul(g, square, square) : square,
                      ag_num(g, i == 0   ? 0.04
                                : i == 1 ? 0.09
                                         : 1e-4)));
  }
  ag_id a = ag_num(g, 0.2), b = ag_num(g, 0.3), c = ag_num(g, 0.1);
  return (ag_surface){.kind = AG_SURFACE_CONVEX, .p = X, .f = f, .a = a, .b = b, .c = c, .steps = 8};
}

/* A contact lost during the run ends it with a named event, before the numbers become wrong. */
static void check_lost(void) {
  lab l;
  lab_open(&l, 1, (double[]){0.0025, 0.0035, 0.005}, 0, tablet);
  ag_ground pipe = {.kind = AG_GROUND_CYLINDER, .inside = true, .radius = num(&l, 1), .watch = true};
  pipe.normal = vec3(l.g, 0, 1, 0);
  lab_roll(&l, pipe, 9.8);
  lab_start(&l, false, l.b->R, euler(l.g, 0, M_PI / 3, 0));
  lab_start(&l, true, l.b->R, euler_rates(l.g, M_PI / 3, 0.3, 0, 5));
  if (!lab_derive(&l)) return;
  lab_run(&l, 0, -1, NULL);
  double energy = at_end(&l, "energy")[0];
  l.ends = AG_END_EVENT;
  lab_run(&l, 2, -1, NULL);
  AG_CHECK(at_end(&l, "t")[0] > 0.3 && at_end(&l, "b.misfit")[0] < 1e-7);
  AG_CHECK_NEAR(at_end(&l, "energy")[0], energy, 1e-5);
  lab_close(&l);
}

static void check_troubles(void) {
  ag_ground plane = {.watch = true}, hole = {.kind = AG_GROUND_SPHERE, .inside = true, .watch = true}, pipe = hole;
  pipe.kind = AG_GROUND_CYLINDER;
  refused(saddle, plane, 0, 0.5, "not convex");
  refused(no_meridian, plane, 0, 0.5, "meridian");
  refused(puzzle, plane, 0, 0.5, "jumps");
  refused(edge, plane, 0, 0, "lies flat");
  refused(edge, hole, 2, 0, "lies flat");
  refused(ball, hole, 0.8, 0.5, "does not fit");
  refused(ball, pipe, 1, 0.5, "does not fit");
  refused(lens, hole, 2, 0, "two points"); /* radius of curvature 3.3 below */
  refused(dented, plane, 0, 0.1, "not convex");
}

int main(void) {
  check_sides();
  check_rocking();
  check_troubles();
  check_lost();
  return ag_check_report();
}
