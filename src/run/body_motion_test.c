/* SPDX-License-Identifier: MIT
 * Rolling bodies built by shorthand, compared with values in extended precision, closed forms, other formulations of
 * the same system, and Newton's and Euler's laws with the contact forces. */
#include "tests/body_lab.h"
#include "tests/closures.h"

/* ---- rattleback ---- */

static ag_surface stone(ag_graph *g) {
  double c = cos(0.35), s = sin(0.35), v[9] = {c, -s, 0, s, c, 0, 0, 0, 1};
  ag_id e[9];
  for (int i = 0; i < 9; i++) e[i] = ag_num(g, v[i]);
  return (ag_surface){.kind = AG_SURFACE_ELLIPSOID,
                      .a = ag_num(g, 2),
                      .b = ag_num(g, 1.25),
                      .c = ag_num(g, 1),
                      .turn = ag_rotation(g, ag_stack(g, 3, 3, e))};
}

/* The same accelerations as the stone built from primitives; the reversal and the state of `B_rattle_reversal`. */
static void check_stone(void) {
  lab l;
  lab_open(&l, 1, (double[]){0.55, 1.05, 1.15}, 0, stone);
  lab_roll(&l, (ag_ground){0}, 1);
  lab_start(&l, true, l.b->R, vec3(l.g, 0.2, 0, 0.5));
  ag_id spin = ag_dot(l.g, ag_body_part(l.m, l.b, "Omega"), ag_body_part(l.m, l.b, "Gamma"));
  AG_MODEL_PUSH(l.m, events, ((ag_event){.name = "reversal", .x = spin, .pos = nowhere}));
  if (!lab_derive(&l)) return;
  AG_CHECK(ag_system_elimination(l.sys) == AG_ELIM_SOLVED && ag_system_dims(l.sys)->u == 3 &&
           ag_system_dims(l.sys)->core == 6 && ag_system_growth(l.sys)->n_disguised == 1);
  check_closures(l.sys);
  check_laws(&l);
  ag_model *m = rattleback();
  ag_system *sys = NULL;
  ag_derive_options options = {0};
  AG_CHECK(ag_system_create(&l.ctx, m, &options, &sys) == AG_OK);
  fprintf(stderr, "rattleback: %d operations for the core by shorthand, %d by hand\n",
          ag_tape_cost(ag_system_role(l.sys, AG_ROLE_CORE)), ag_tape_cost(ag_system_role(sys, AG_ROLE_CORE)));
  ag_work *w = ag_work_create(sys, ag_system_param_values(sys)),
          *v = ag_work_create(l.sys, ag_system_param_values(l.sys));
  for (unsigned seed = 1; seed <= 20; seed++) {
    double x[13], t, a[6], b[6];
    AG_CHECK(ag_system_sample(sys, w, seed, &t, x) == AG_OK);
    AG_CHECK(ag_work_accel(w, t, x, a, NULL) == AG_FINE && ag_work_accel(v, t, x, b, NULL) == AG_FINE);
    check_vector(b, a, 6, 1e-12);
  }
  ag_work_free(w);
  ag_work_free(v);
  ag_system_free(sys);
  ag_model_free(m);
  lab_run(&l, 100, -1, NULL);
  AG_CHECK_NEAR(l.time, 74.6982707186049, 1e-11);
  check_vector(at_end(&l, "b.Omega"), (double[]){0.0889361411478284, -0.3061392387001881, -0.3123111994455247}, 3,
               1e-9);
  check_vector(at_end(&l, "b.x"), (double[]){-0.8292927599373578, -0.4861862107241587}, 2, 1e-9);
  AG_CHECK_NEAR(at_end(&l, "b.gap")[0], 0, 1e-11);
  lab_close(&l);
}

static ag_surface stone_implicit(ag_graph *g) {
  ag_surface s = stone(g);
  ag_id X = ag_input(g, "X", 3, 1, AG_LEAF_REAL), a[3] = {s.a, s.b, s.c}, f = ag_num(g, -1);
  for (int i = 0; i < 3; i++) {
    ag_id u = ag_div(g, ag_entry(g, X, i, 0), a[i]);
    f = ag_add(g, f, ag_mul(g, u, u));
  }
  ag_id r = ag_num(g, 1.3);
  return (ag_surface){.kind = AG_SURFACE_CONVEX, .p = X, .f = f, .a = r, .b = r, .c = r, .turn = s.turn, .steps = 6};
}

/* The stone by X.A X = 1: the same accelerations, also through the Newton steps. */
static void check_implicit(void) {
  lab l[2];
  ag_work *w[2];
  for (int k = 0; k < 2; k++) {
    lab_open(&l[k], 1, (double[]){0.55, 1.05, 1.15}, 0.1, k ? stone_implicit : stone);
    lab_roll(&l[k], (ag_ground){0}, 1);
    lab_start(&l[k], true, l[k].b->R, vec3(l[k].g, 0.2, 0, 0.5));
    if (!lab_derive(&l[k])) return;
    w[k] = ag_work_create(l[k].sys, ag_system_param_values(l[k].sys));
  }
  for (unsigned seed = 1; seed <= 20; seed++) {
    double x[13], t, a[6], b[6];
    AG_CHECK(ag_system_sample(l[0].sys, w[0], seed, &t, x) == AG_OK);
    AG_CHECK(ag_work_accel(w[0], t, x, a, NULL) == AG_FINE && ag_work_accel(w[1], t, x, b, NULL) == AG_FINE);
    check_vector(b, a, 6, 1e-12);
  }
  for (int k = 0; k < 2; k++) lab_run(&l[k], 10, -1, NULL);
  check_vector(at_end(&l[1], "b.Omega"), at_end(&l[0], "b.Omega"), 3, 1e-11);
  AG_CHECK_NEAR(at_end(&l[1], "b.misfit")[0], 0, 1e-13);
  fprintf(stderr, "rattleback: %d operations for the core by six Newton steps\n",
          ag_tape_cost(ag_system_role(l[1].sys, AG_ROLE_CORE)));
  for (int k = 0; k < 2; k++) {
    ag_work_free(w[k]);
    lab_close(&l[k]);
  }
}

/* ---- disk and torus ---- */

static ag_surface disk(ag_graph *g) { return (ag_surface){.kind = AG_SURFACE_DISK, .a = ag_num(g, 1)}; }
static ag_surface tyre(ag_graph *g) {
  return (ag_surface){.kind = AG_SURFACE_TORUS, .a = ag_num(g, 1), .b = ag_num(g, 0.4)};
}
static ag_surface ring(ag_graph *g) {
  return (ag_surface){.kind = AG_SURFACE_TORUS, .a = ag_num(g, 1), .b = ag_num(g, 1e-4)};
}
static ag_surface thin_ring(ag_graph *g) {
  return (ag_surface){.kind = AG_SURFACE_TORUS, .a = ag_num(g, 1), .b = ag_num(g, 1e-6)};
}

/* The disk of ZBM: the lean theta from the vertical is pi/2 minus the inclination of the axis; contact at the origin.
 */
static bool open_disk(lab *l, ag_surface (*surface)(ag_graph *), double lean, double dlean, double dphi, double dpsi) {
  double theta = M_PI / 2 - lean;
  lab_open(l, 1, (double[]){0.25, 0.25, 0.5}, 0, surface);
  lab_roll(l, (ag_ground){0}, 9.8);
  lab_start(l, false, l->b->R, euler(l->g, 0, theta, 0));
  for (int k = 0; k < 2; k++)
    AG_MODEL_PUSH(l->m, starts, ((ag_start){false, l->b->x, k, -1, num(l, k ? cos(theta) : 0), nowhere}));
  lab_start(l, true, l->b->R, euler_rates(l->g, theta, dphi, -dlean, dpsi));
  return lab_derive(l);
}

/* `B_disk_traj` */
static void check_disk(void) {
  lab l;
  if (!open_disk(&l, disk, 0.3, 0.2, 0.5, 3)) return;
  AG_CHECK(ag_system_growth(l.sys)->n == 4 && ag_system_growth(l.sys)->dims[0] == 3 &&
           ag_system_growth(l.sys)->dims[1] == 4 && ag_system_growth(l.sys)->dims[2] == 5 &&
           ag_system_growth(l.sys)->dims[3] == 5 && ag_system_growth(l.sys)->n_disguised == 1); /* the height */
  check_laws(&l);
  lab_run(&l, 10, -1, NULL);
  check_euler(&l, -11.4282332887693081, M_PI / 2 - 0.5581161703499441, 39.4072548174004085, 1e-10);
  check_vector(at_end(&l, "b.contact"), (double[]){3.6975260640798630, 2.8218213576383471, 0}, 3, 1e-10);
  AG_CHECK_NEAR(1.5 * at_end(&l, "b.Omega")[2], 4.8095512175396607, 1e-10); /* p2 = (m R^2 + B) Omega3 */
  AG_CHECK_NEAR(at_end(&l, "energy")[0], 16.847113713504136, 1e-11);
  lab_close(&l);
}

/* Euler's disk: precession^2 = 4 g/(R sin(inclination)), the centre of mass at rest, so the ground only carries the
 * weight. */
static void check_euler_disk(void) {
  lab l;
  double lean = 1.2, turning = sqrt(4 * 9.8 / cos(lean));
  if (!open_disk(&l, disk, lean, 0, turning, -sin(lean) * turning)) return;
  lab_run(&l, 3, -1, NULL);
  check_vector(at_end(&l, "b.x"), (double[]){0, cos(M_PI / 2 - lean), sin(M_PI / 2 - lean)}, 3, 1e-9);
  AG_CHECK_NEAR(at_end(&l, "b.normal")[0], 9.8, 1e-9);
  check_vector(at_end(&l, "b.friction"), (double[]){0, 0, 0}, 3, 1e-8);
  lab_close(&l);
}

/* Released at rest it tips about the contact: (A + m R^2) lean'^2/2 = m g R (cos(lean0) - cos(lean)), and the run ends
 * where it is flat. */
static void check_flat(void) {
  lab l;
  double lean0 = 0.3, theta = M_PI / 2 - lean0, top = sqrt(M_PI / 2 - 1e-3 - lean0), fall = 0;
  enum { N = 2000 };
  for (int i = 1; i <= 2 * N;
       i++) { /* Simpson in u, lean = lean0 + u^2; at u = 0 the integrand is 2/sqrt(c sin(lean0)) */
    double u = top * i / (2 * N), f = 2 * u / sqrt(2 * 9.8 / 1.25 * (cos(lean0) - cos(lean0 + u * u)));
    fall += f * (i == 2 * N ? 1 : i % 2 ? 4 : 2);
  }
  fall = (fall + 2 / sqrt(2 * 9.8 / 1.25 * sin(lean0))) * top / (6 * N);
  lab_open(&l, 1, (double[]){0.25, 0.25, 0.5}, 0, disk);
  lab_roll(&l, (ag_ground){.watch = true}, 9.8);
  lab_start(&l, false, l.b->R, euler(l.g, 0, theta, 0));
  if (!lab_derive(&l)) return;
  l.ends = AG_END_EVENT;
  AG_CHECK_STR(l.m->events[1].name, "b.flat");
  lab_run(&l, 5, -1, NULL);
  AG_CHECK_NEAR(at_end(&l, "t")[0], fall, 1e-9); /* FLAT is the square of the sine: asin(1e-3) - 1e-3 = 2e-10 */
  AG_CHECK_NEAR(at_end(&l, "b.height")[0], 1e-3, 1e-8);
  lab_close(&l);
}

/* A torus with a thin tube: the end of the motion differs from that of the disk by O(b). */
static void check_limit(void) {
  lab l;
  double end[3][3];
  ag_surface (*forms[3])(ag_graph *) = {disk, ring, thin_ring};
  for (int k = 0; k < 3; k++) {
    if (!open_disk(&l, forms[k], 0.3, 0.2, 0.5, 3)) return;
    lab_run(&l, 2, -1, NULL);
    memcpy(end[k], at_end(&l, "b.Omega"), sizeof end[k]);
    lab_close(&l);
  }
  for (int i = 0; i < 3; i++) {
    double far = end[1][i] - end[0][i], near = end[2][i] - end[0][i];
    AG_CHECK(fabs(far) > 1e-6 && fabs(far) < 1e-2);
    AG_CHECK_NEAR(100 * near / far, 1, 5e-3); /* linear in b: the next order is 1e-4 of it */
  }
}

/* The rubber torus of K: theta, psi' given, phi' = -cos(theta) psi' (no twist), contact at the origin. */
static bool open_tyre(lab *l, double theta, double dpsi) {
  lab_open(l, 1, (double[]){0.6, 0.6, 1.12}, 0, tyre);
  lab_roll(l, (ag_ground){.rubber = true}, 1);
  lab_start(l, false, l->b->R, euler(l->g, 0, theta, 0));
  lab_start(l, false, l->b->x, vec3(l->g, 0, cos(theta), 0.4 + sin(theta)));
  lab_start(l, true, l->b->R, euler_rates(l->g, theta, -cos(theta) * dpsi, 0, dpsi));
  return lab_derive(l);
}

/* `E_torus_traj`, and from `E_period_2` a motion that is periodic in theta: the normal force averages to the weight. */
static void check_tyre(void) {
  lab l;
  if (!open_tyre(&l, 1.1, 0.9)) return;
  AG_CHECK(ag_system_dims(l.sys)->u == 2 && ag_system_growth(l.sys)->dims[0] == 2 &&
           ag_system_growth(l.sys)->dims[1] == 3 && ag_system_growth(l.sys)->dims[2] == 5 &&
           ag_system_growth(l.sys)->dims[3] == 5 &&
           ag_system_growth(l.sys)->n_disguised == 1); /* as rubber must have it, and the height */
  check_closures(l.sys);
  check_laws(&l);
  lab_run(&l, 10, -1, NULL);
  check_euler(&l, 0.5190442287589181, 1.2752127755009504, 7.6178953571859034, 1e-10);
  check_vector(at_end(&l, "b.contact"), (double[]){-9.6440279267071391, 0.4161395983595985, 0}, 3, 1e-10);
  AG_CHECK_NEAR(at_end(&l, "b.height")[0], 0.4 + sin(1.2752127755009504), 1e-10);
  AG_CHECK_NEAR(at_end(&l, "energy")[0], 2.153359851273921, 1e-12);
  lab_close(&l);

  enum { N = 96 };
  double theta = 0.883445204004054582, period = 6.32182724360007321, s = sin(theta), c = cos(theta), mean = 0,
         least = 9, most = 0;
  double N2 = 0.6 * c * c + 1.12 * s * s + (0.4 + s) * (0.4 + s);
  if (!open_tyre(&l, theta, sqrt(0.3 / N2) / (s * s))) return;
  ag_series series = {0};
  ag_sink sink = {ag_series_row, &series};
  ag_record r;
  ag_record_init(&r, l.sys);
  series.width = r.width;
  ag_record_done(&r);
  lab_run(&l, period, period / N, &sink);
  int press = column(&l, "b.normal"), height = column(&l, "b.height");
  AG_CHECK(series.n >= N + 1);
  for (int i = 0; i < N && i < series.n; i++) {
    double force = series.data[i * series.width + press];
    mean += force / N;
    least = fmin(least, force);
    most = fmax(most, force);
  }
  AG_CHECK_NEAR(mean, 1,
                1e-9); /* the period is known to 16 digits; equidistant samples of a smooth periodic function */
  AG_CHECK(most - least > 0.1);
  AG_CHECK_NEAR(l.end[height], series.data[height], 1e-10);
  ag_series_done(&series);
  lab_close(&l);
}

/* ---- ellipsoid of revolution, with four descriptions of its surface: `E_ellipsoid_traj` ---- */

static ag_surface lens(ag_graph *g) {
  return (ag_surface){.kind = AG_SURFACE_ELLIPSOID, .a = ag_num(g, 1), .b = ag_num(g, 1), .c = ag_num(g, 0.6)};
}

static ag_surface lens_meridian(ag_graph *g) {
  ag_id theta = ag_input(g, "theta", 1, 1, AG_LEAF_REAL), sn = ag_apply1(g, AG_OP_SIN, theta),
        cs = ag_apply1(g, AG_OP_COS, theta);
  ag_id z2 = ag_add(g, ag_mul(g, sn, sn), ag_mul(g, ag_num(g, 0.36), ag_mul(g, cs, cs))),
        z = ag_apply1(g, AG_OP_SQRT, z2);
  return ag_surface_meridian(g, theta, ag_div(g, ag_num(g, 0.36), ag_mul(g, z, z2)), ag_num(g, 0), ag_num(g, 0.6), 40);
}

/* the meridian in closed form: h = sin/z, f = 0.6 - 0.36 cos/z */
static ag_surface lens_closed(ag_graph *g) {
  ag_surface s = lens_meridian(g);
  ag_id sn = ag_apply1(g, AG_OP_SIN, s.theta), cs = ag_apply1(g, AG_OP_COS, s.theta), small = ag_num(g, 0.36);
  ag_id z = ag_apply1(g, AG_OP_SQRT, ag_add(g, ag_mul(g, sn, sn), ag_mul(g, small, ag_mul(g, cs, cs))));
  ag_surface t = {.kind = AG_SURFACE_REVOLUTION, .theta = s.theta, .f0 = s.f0};
  t.h = ag_div(g, sn, z);
  t.f = ag_sub(g, s.f0, ag_div(g, ag_mul(g, small, cs), z));
  return t;
}

static ag_surface lens_implicit(ag_graph *g) {
  ag_id X = ag_input(g, "X", 3, 1, AG_LEAF_REAL), one = ag_num(g, 1), z = ag_entry(g, X, 2, 0);
  ag_id across = ag_sub(g, ag_dot(g, X, X), ag_mul(g, z, z)), along = ag_div(g, ag_mul(g, z, z), ag_num(g, 0.36));
  ag_id f = ag_sub(g, ag_add(g, across, along), one);
  return (ag_surface){.kind = AG_SURFACE_CONVEX, .p = X, .f = f, .a = one, .b = one, .c = ag_num(g, 0.8), .steps = 8};
}

static void check_lens(void) {
  ag_surface (*forms[4])(ag_graph *) = {lens, lens_meridian, lens_closed, lens_implicit};
  double ends[4][6];
  for (int k = 0; k < 4; k++) {
    lab l;
    double theta = 0.9, s = sin(theta), c = cos(theta), z = sqrt(s * s + 0.36 * c * c), La = 0.64 * s * c / z,
           I1 = 1.36 / 5, I3 = 0.4;
    double N = sqrt(I1 * c * c + I3 * s * s + z * z), dpsi = 0.4 / (N * s * s), dtheta = 0.3 / (I1 + La * La + z * z);
    lab_open(&l, 1, (double[]){I1, I1, I3}, 0, forms[k]);
    lab_roll(&l, (ag_ground){.rubber = true}, 1);
    lab_start(&l, false, l.b->R, euler(l.g, 0, theta, 0));
    lab_start(&l, false, l.b->x, vec3(l.g, 0, La, z));
    lab_start(&l, true, l.b->R, euler_rates(l.g, theta, -c * dpsi, dtheta, dpsi));
    if (!lab_derive(&l)) return;
    if (!k) check_laws(&l);
    lab_run(&l, 10, -1, NULL);
    check_euler(&l, -4.3300395131996864, 0.9007438572111325, 6.7368041332329771, 1e-10);
    check_vector(at_end(&l, "b.contact"), (double[]){0.9470241177002469, 1.4018625700263013, 0}, 3, 1e-10);
    AG_CHECK_NEAR(at_end(&l, "energy")[0], 1.0369675178010878, 1e-12);
    memcpy(ends[k], at_end(&l, "b.Omega"), sizeof(double) * 3);
    memcpy(ends[k] + 3, at_end(&l, "b.x"), sizeof(double) * 3);
    check_vector(ends[k], ends[0], 6, 1e-12); /* one surface, four forms */
    lab_close(&l);
  }
}

/* ---- balls ---- */

static ag_surface ball_1(ag_graph *g) { return (ag_surface){.kind = AG_SURFACE_SPHERE, .a = ag_num(g, 1)}; }

/* `A_routh_traj`: centre of mass 0.2 above the centre */
static void check_routh(void) {
  lab l;
  lab_open(&l, 1, (double[]){0.35, 0.35, 0.4}, 0.2, ball_1);
  lab_roll(&l, (ag_ground){0}, 1);
  double R0[9] = {0.8, 0, -0.6, 0, 1, 0, 0.6, 0, 0.8};
  ag_id e[9], G = ag_body_part(l.m, l.b, "middle");
  for (int i = 0; i < 9; i++) e[i] = num(&l, R0[i]);
  lab_start(&l, false, l.b->R, ag_rotation(l.g, ag_stack(l.g, 3, 3, e)));
  lab_start(&l, false, l.b->x, vec3(l.g, -0.12, 0, 1.16));
  lab_start(&l, true, l.b->R, vec3(l.g, 0.5, -0.4, 1.2));
  AG_MODEL_PUSH(l.m, observables, ((ag_item){"middle", NULL, G, nowhere}));
  /* Jellett M.s = I Omega.s and Routh Omega3 sqrt(I1 I3 + m s.I s), s = -arm */
  ag_id s = ag_neg(l.g, l.c->arm), Is = ag_mul(l.g, l.b->inertia, s), Omega = ag_body_part(l.m, l.b, "Omega");
  ag_id root = ag_apply1(l.g, AG_OP_SQRT, ag_add(l.g, num(&l, 0.14), ag_dot(l.g, s, Is)));
  AG_MODEL_PUSH(l.m, observables, ((ag_item){"jellett", NULL, ag_dot(l.g, Omega, Is), nowhere}));
  AG_MODEL_PUSH(l.m, observables, ((ag_item){"routh", NULL, ag_mul(l.g, ag_entry(l.g, Omega, 2, 0), root), nowhere}));
  if (!lab_derive(&l)) return;
  check_laws(&l);
  lab_run(&l, 100, -1, NULL);
  AG_CHECK_NEAR(at_end(&l, "jellett")[0], 0.585, 1e-11);
  AG_CHECK_NEAR(at_end(&l, "routh")[0], 0.9793058766289519, 1e-11);
  AG_CHECK_NEAR(at_end(&l, "energy")[0], 1.6527499999999999, 1e-11); /* above the plane; 1 less above the centre */
  lab_run(&l, 10, -1, NULL);
  check_vector(at_end(&l, "b.Omega"), (double[]){-0.58264992012879319, -0.08106602392265908, 1.16059637432418056}, 3,
               1e-11);
  check_vector(at_end(&l, "middle"), (double[]){-5.10946419160479839, -0.02759872499278841, 1}, 3, 1e-11);
  lab_close(&l);
}

int main(void) {
  check_stone();
  check_implicit();
  check_disk();
  check_euler_disk();
  check_flat();
  check_limit();
  check_tyre();
  check_lens();
  check_routh();
  return ag_check_report();
}
