/* SPDX-License-Identifier: MIT
 * Rolling bodies built by shorthand move as published: against numbers in extended precision, closed forms, other ways to write the
 * same system, and Newton's and Euler's laws with the forces that the contact reports. */
#include <stdlib.h>

#include "run/run.h"
#include "tests/built_models.h"
#include "tests/check.h"
#include "tests/closures.h"

/* One body on one ground, from model to motion. */
typedef struct lab {
  ag_ctx ctx;
  ag_model *m;
  ag_graph *g;
  ag_body *b;
  const ag_contact *c;
  ag_system *sys;
  double mass, inertia[3], gravity;
  double end[256];  /* final record */
  double time;      /* of the first event 0, NAN: none */
} lab;

static ag_id num(const lab *l, double v) { return ag_num(l->g, v); }

/* centre: height of the centre of mass on axis 3 over the centre of the surface */
static void lab_open(lab *l, double mass, const double *inertia, double centre, ag_surface (*surface)(ag_graph *)) {
  *l = (lab){.m = ag_model_create("lab"), .mass = mass, .time = NAN};
  ag_graph *g = l->g = l->m->graph;
  memcpy(l->inertia, inertia, sizeof l->inertia);
  ag_surface s = surface(g);
  l->b = ag_body_add(l->m, "b", num(l, mass), diag3(g, inertia[0], inertia[1], inertia[2]), vec3(g, 0, 0, centre), &s, nowhere);
}

static void lab_roll(lab *l, ag_ground ground, double gravity) {
  l->gravity = gravity;
  ground.gravity = num(l, gravity);
  AG_CHECK(ag_body_roll(&l->ctx, l->m, l->b, &ground, nowhere, &l->c) == AG_OK);
  /* for Euler's law */
  AG_MODEL_PUSH(l->m, observables, ((ag_item){"arm", NULL, l->c->arm, nowhere}));
  ag_id n = ag_mul(l->g, ag_transpose(l->g, ag_body_part(l->m, l->b, "R")), l->c->normal);
  AG_MODEL_PUSH(l->m, observables, ((ag_item){"n", NULL, n, nowhere}));
}

static void lab_start(lab *l, bool velocity, int coord, ag_id x) {
  AG_MODEL_PUSH(l->m, starts, ((ag_start){velocity, coord, -1, -1, x, nowhere}));
}

static bool lab_derive(lab *l) {
  ag_derive_options options = {.growth = true};
  AG_CHECK(ag_contact_start(&l->ctx, l->m, l->c) == AG_OK);
  AG_CHECK(ag_system_create(&l->ctx, l->m, &options, &l->sys) == AG_OK);
  if (l->sys) return true;
  ag_text out = {0};
  ag_ctx_render(&l->ctx, &out);
  fprintf(stderr, "%s", ag_text_cstr(&out));
  ag_text_done(&out);
  return false;
}

static void lab_close(lab *l) {
  ag_system_free(l->sys);
  ag_model_free(l->m);
  ag_ctx_done(&l->ctx);
}

static void lab_run(lab *l, double t1, double every, const ag_sink *sink) {
  ag_run_options o;
  ag_run_result res;
  double x0[13];
  ag_run_defaults(&o);
  o.t1 = t1;
  o.every = every;
  o.rtol = o.atol = 3e-15; /* fast balls need it to keep 1e-11 */
  o.engine = AG_ENGINE_INTERPRETED;
  o.events = l->m->n_events > 0;
  memcpy(x0, l->sys->q0, sizeof(double) * 7);
  memcpy(x0 + 7, l->sys->xi0, sizeof(double) * 6);
  AG_CHECK(ag_run(&l->ctx, l->sys, l->sys->params, x0, &o, sink, &res) == AG_OK);
  AG_CHECK(res.end == AG_END_TIME);
  AG_CHECK(res.width <= 256);
  memcpy(l->end, res.record, sizeof(double) * (size_t)res.width);
  l->time = o.events && res.event_count[0] ? res.event_times[0][0] : NAN;
  ag_run_done(&res);
}

/* Where a column is in a record. */
static int column(const lab *l, const char *name) {
  ag_record r;
  int at = -1;
  ag_record_init(&r, l->sys);
  for (int i = 0; i < r.n_column; i++)
    if (!strcmp(r.columns[i].name, name)) at = r.columns[i].offset;
  ag_record_done(&r);
  AG_CHECK(at >= 0);
  return at < 0 ? 0 : at;
}

static const double *at_end(const lab *l, const char *name) { return l->end + column(l, name); }

static void check_vector(const double *got, const double *wanted, int n, double tol) {
  for (int i = 0; i < n; i++) AG_CHECK_NEAR(got[i], wanted[i], tol);
}

static ag_id euler(ag_graph *g, double phi, double theta, double psi) {
  double cf = cos(phi), sf = sin(phi), ct = cos(theta), st = sin(theta), cp = cos(psi), sp = sin(psi);
  double v[9] = {cf * cp - sf * ct * sp, -cf * sp - sf * ct * cp, sf * st, sf * cp + cf * ct * sp, -sf * sp + cf * ct * cp, -cf * st,
                 st * sp, st * cp, ct};
  ag_id e[9];
  for (int i = 0; i < 9; i++) e[i] = ag_num(g, v[i]);
  return ag_rotation(g, ag_stack(g, 3, 3, e));
}

/* The orientation as Euler angles phi, theta, psi must have them, whatever the turns. */
static void check_euler(const lab *l, double phi, double theta, double psi, double tol) {
  double v[9];
  ag_constant(l->g, euler(l->g, phi, theta, psi), v);
  check_vector(at_end(l, "b.R"), v, 9, tol);
}

/* Body angular velocity of Euler angles at psi = 0. */
static ag_id euler_rates(ag_graph *g, double theta, double dphi, double dtheta, double dpsi) {
  return vec3(g, dtheta, dphi * sin(theta), dpsi + dphi * cos(theta));
}

static void cross3(const double *a, const double *b, double *out) {
  for (int i = 0; i < 3; i++) out[i] = a[(i + 1) % 3] * b[(i + 2) % 3] - a[(i + 2) % 3] * b[(i + 1) % 3];
}

/* m a = N n + friction - m g e3 and I Omega' + Omega x I Omega = arm x R^T F + twist n at random states: accelerations of the eliminated
 * equations against forces from the multiplier form. Tolerance: rounding times the size of the forces and the condition. */
static void check_laws(const lab *l) {
  const ag_system *sys = l->sys;
  ag_work *w = ag_work_create(sys, sys->params);
  ag_tape *accel = ag_system_accel(sys);
  double *slots = calloc((size_t)accel->n_slot + 1, 8), *obs = calloc((size_t)sys->n_observe + 1, 8), *c = calloc((size_t)sys->n_c + 1, 8);
  double *z = calloc((size_t)sys->n_z + 1, 8), x[13], y[13], a[6], t;
  int press = -1, twist = -1, arm = -1, n = -1, friction = -1;
  for (int i = 0; i < l->m->n_observables; i++) {
    const char *name = l->m->observables[i].name;
    int at = sys->observe_offset[i];
    if (!strcmp(name, "b.normal")) press = at;
    if (!strcmp(name, "b.friction")) friction = at;
    if (!strcmp(name, "b.twist")) twist = at;
    if (!strcmp(name, "arm")) arm = at;
    if (!strcmp(name, "n")) n = at;
  }
  ag_tape_prep(accel, sys->params, slots);
  for (unsigned seed = 1; seed <= 30; seed++) {
    AG_CHECK(ag_system_sample(sys, w, seed, &t, x) == AG_OK);
    AG_CHECK(ag_work_reduce(w, t, x, c, z) == AG_FINE);
    memcpy(y, x, sizeof(double) * 7);
    memcpy(y + 7, z + sys->u_in_z, sizeof(double) * (size_t)sys->n_u);
    const double *seg[AG_SEG_COUNT] = {&t, y, sys->params, c};
    AG_CHECK(ag_tape_eval(accel, seg, slots, a) == 0);
    AG_CHECK(ag_work_observe(w, t, x, obs) == AG_FINE);
    double q0 = x[0], *q = x + 1, F[3], Fb[3], torque[3], gyro[3], IO[3], v[3], u[3], size = 1;
    double nb[3] = {obs[n], obs[n + 1], obs[n + 2]}, ns[3];
    /* R nb and R^T F with the quaternion: u + 2 w (q x u) + 2 q x (q x u) */
    cross3(q, nb, v);
    cross3(q, v, u);
    for (int i = 0; i < 3; i++) ns[i] = nb[i] + 2 * q0 * v[i] + 2 * u[i];
    for (int i = 0; i < 3; i++) F[i] = obs[press] * ns[i] + obs[friction + i], size = fmax(size, fabs(F[i]));
    for (int i = 0; i < 3; i++) AG_CHECK_NEAR(l->mass * (a[3 + i] + (i == 2 ? l->gravity : 0)) / size, F[i] / size, 1e-12);
    cross3(q, F, v);
    cross3(q, v, u);
    for (int i = 0; i < 3; i++) Fb[i] = F[i] - 2 * q0 * v[i] + 2 * u[i], IO[i] = l->inertia[i] * x[7 + i];
    cross3(obs + arm, Fb, torque);
    cross3(x + 7, IO, gyro);
    for (int i = 0; i < 3; i++)
      AG_CHECK_NEAR((l->inertia[i] * a[i] + gyro[i]) / size, (torque[i] + (twist >= 0 ? obs[twist] * nb[i] : 0)) / size, 1e-12);
  }
  ag_tape_free(accel);
  ag_work_free(w);
  free(slots);
  free(obs);
  free(c);
  free(z);
}

/* ---- rattleback ---- */

static ag_surface stone(ag_graph *g) {
  double c = cos(0.35), s = sin(0.35), v[9] = {c, -s, 0, s, c, 0, 0, 0, 1};
  ag_id e[9];
  for (int i = 0; i < 9; i++) e[i] = ag_num(g, v[i]);
  return (ag_surface){.kind = AG_SURFACE_ELLIPSOID, .a = ag_num(g, 2), .b = ag_num(g, 1.25), .c = ag_num(g, 1),
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
  AG_CHECK(l.sys->elimination == AG_ELIM_SOLVED && l.sys->n_u == 3 && l.sys->n_core == 6 && l.sys->n_disguised == 1);
  check_closures(l.sys);
  check_laws(&l);
  ag_model *m = rattleback();
  ag_system *sys = NULL;
  ag_derive_options options = {0};
  AG_CHECK(ag_system_create(&l.ctx, m, &options, &sys) == AG_OK);
  fprintf(stderr, "rattleback: %d operations for the core by shorthand, %d by hand\n", ag_tape_cost(l.sys->core), ag_tape_cost(sys->core));
  ag_work *w = ag_work_create(sys, sys->params), *v = ag_work_create(l.sys, l.sys->params);
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
  check_vector(at_end(&l, "b.Omega"), (double[]){0.0889361411478284, -0.3061392387001881, -0.3123111994455247}, 3, 1e-9);
  check_vector(at_end(&l, "b.x"), (double[]){-0.8292927599373578, -0.4861862107241587}, 2, 1e-9);
  AG_CHECK_NEAR(at_end(&l, "b.gap")[0], 0, 1e-11);
  lab_close(&l);
}

/* ---- disk and torus ---- */

static ag_surface disk(ag_graph *g) { return (ag_surface){.kind = AG_SURFACE_DISK, .a = ag_num(g, 1)}; }
static ag_surface tyre(ag_graph *g) { return (ag_surface){.kind = AG_SURFACE_TORUS, .a = ag_num(g, 1), .b = ag_num(g, 0.4)}; }
static ag_surface ring(ag_graph *g) { return (ag_surface){.kind = AG_SURFACE_TORUS, .a = ag_num(g, 1), .b = ag_num(g, 1e-4)}; }
static ag_surface thin_ring(ag_graph *g) { return (ag_surface){.kind = AG_SURFACE_TORUS, .a = ag_num(g, 1), .b = ag_num(g, 1e-6)}; }

/* The disk of ZBM: lean theta from the vertical is pi/2 minus the inclination of the axis, contact in the origin. */
static bool open_disk(lab *l, ag_surface (*surface)(ag_graph *), double lean, double dlean, double dphi, double dpsi) {
  double theta = M_PI / 2 - lean;
  lab_open(l, 1, (double[]){0.25, 0.25, 0.5}, 0, surface);
  lab_roll(l, (ag_ground){0}, 9.8);
  lab_start(l, false, l->b->R, euler(l->g, 0, theta, 0));
  lab_start(l, false, l->b->x, vec3(l->g, 0, cos(theta), sin(theta)));
  lab_start(l, true, l->b->R, euler_rates(l->g, theta, dphi, -dlean, dpsi));
  return lab_derive(l);
}

/* `B_disk_traj` */
static void check_disk(void) {
  lab l;
  if (!open_disk(&l, disk, 0.3, 0.2, 0.5, 3)) return;
  AG_CHECK(l.sys->n_growth == 3 && l.sys->growth[0] == 3 && l.sys->growth[1] == 4 && l.sys->growth[2] == 5);
  check_laws(&l);
  lab_run(&l, 10, -1, NULL);
  check_euler(&l, -11.4282332887693081, M_PI / 2 - 0.5581161703499441, 39.4072548174004085, 1e-10);
  check_vector(at_end(&l, "b.contact"), (double[]){3.6975260640798630, 2.8218213576383471, 0}, 3, 1e-10);
  AG_CHECK_NEAR(1.5 * at_end(&l, "b.Omega")[2], 4.8095512175396607, 1e-10); /* p2 = (m R^2 + B) Omega3 */
  AG_CHECK_NEAR(at_end(&l, "energy")[0], 16.847113713504136, 1e-11);
  lab_close(&l);
}

/* Euler's disk: precession^2 = 4 g/(R sin(inclination)), the centre of mass at rest, so that the ground carries the weight alone. */
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

/* The rubber torus of K: theta, psi' given, phi' = -cos(theta) psi' (no twist), contact in the origin. */
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
  AG_CHECK(l.sys->n_u == 2 && l.sys->growth[0] == 2 && l.sys->growth[1] == 3 && l.sys->growth[2] == 5); /* as rubber must have it */
  check_closures(l.sys);
  check_laws(&l);
  lab_run(&l, 10, -1, NULL);
  check_euler(&l, 0.5190442287589181, 1.2752127755009504, 7.6178953571859034, 1e-10);
  check_vector(at_end(&l, "b.contact"), (double[]){-9.6440279267071391, 0.4161395983595985, 0}, 3, 1e-10);
  AG_CHECK_NEAR(at_end(&l, "b.height")[0], 0.4 + sin(1.2752127755009504), 1e-10);
  AG_CHECK_NEAR(at_end(&l, "energy")[0], 2.153359851273921, 1e-12);
  lab_close(&l);

  enum { N = 96 };
  double theta = 0.883445204004054582, period = 6.32182724360007321, s = sin(theta), c = cos(theta), mean = 0, least = 9, most = 0;
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
  AG_CHECK_NEAR(mean, 1, 1e-9); /* the period is known to 16 digits; equidistant samples of a smooth periodic function */
  AG_CHECK(most - least > 0.1);
  AG_CHECK_NEAR(l.end[height], series.data[height], 1e-10);
  ag_series_done(&series);
  lab_close(&l);
}

/* ---- ellipsoid of revolution, by three ways to give its surface: `E_ellipsoid_traj` ---- */

static ag_surface lens(ag_graph *g) {
  return (ag_surface){.kind = AG_SURFACE_ELLIPSOID, .a = ag_num(g, 1), .b = ag_num(g, 1), .c = ag_num(g, 0.6)};
}

static ag_surface lens_meridian(ag_graph *g) {
  ag_id theta = ag_input(g, "theta", 1, 1, AG_LEAF_REAL), sn = ag_apply1(g, AG_OP_SIN, theta), cs = ag_apply1(g, AG_OP_COS, theta);
  ag_id z2 = ag_add(g, ag_mul(g, sn, sn), ag_mul(g, ag_num(g, 0.36), ag_mul(g, cs, cs))), z = ag_apply1(g, AG_OP_SQRT, z2);
  return ag_surface_meridian(g, theta, ag_div(g, ag_num(g, 0.36), ag_mul(g, z, z2)), ag_num(g, 0), ag_num(g, 0.6), 40);
}

static void check_lens(void) {
  ag_surface (*forms[2])(ag_graph *) = {lens, lens_meridian};
  for (int k = 0; k < 2; k++) {
    lab l;
    double theta = 0.9, s = sin(theta), c = cos(theta), z = sqrt(s * s + 0.36 * c * c), La = 0.64 * s * c / z, I1 = 1.36 / 5, I3 = 0.4;
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
    lab_close(&l);
  }
}

/* ---- balls ---- */

static ag_surface ball_1(ag_graph *g) { return (ag_surface){.kind = AG_SURFACE_SPHERE, .a = ag_num(g, 1)}; }
static ag_surface ball_3(ag_graph *g) { return (ag_surface){.kind = AG_SURFACE_SPHERE, .a = ag_num(g, 0.3)}; }
static ag_surface ball_5(ag_graph *g) { return (ag_surface){.kind = AG_SURFACE_SPHERE, .a = ag_num(g, 0.5)}; }

/* `A_routh_traj`: centre of mass 0.2 over the centre */
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
  if (!lab_derive(&l)) return;
  check_laws(&l);
  lab_run(&l, 10, -1, NULL);
  check_vector(at_end(&l, "b.Omega"), (double[]){-0.58264992012879319, -0.08106602392265908, 1.16059637432418056}, 3, 1e-11);
  check_vector(at_end(&l, "middle"), (double[]){-5.10946419160479839, -0.02759872499278841, 1}, 3, 1e-11);
  lab_close(&l);
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

  double alpha = 0.1, n[3] = {sin(alpha), 0, cos(alpha)}, T = 2 * M_PI * 1.4 / (0.4 * 1.5), drift = 9.8 * sin(alpha) / (0.4 * 1.5);
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

/* `C_cylinder_traj`: ball of radius 0.5 in a cylinder of radius 1.7 turning at 0.8, further potential 0.25 cos(gamma) */
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
  AG_CHECK(l.sys->n_disguised == 1);
  AG_CHECK_NEAR(l.sys->xi0[5], -0.5 * (0.5 * sin(0.2) + 0.3 * cos(0.2)), 1e-15);
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
  double k = 0.4, I = k * 0.09, beta = 0.4, Om = 2, s = 2, x0[3] = {s * cos(beta) - 0.3 * sin(beta), 0, s * sin(beta) + 0.3 * cos(beta)};
  lab_open(&l, 1, (double[]){I, I, I}, 0, ball_3);
  lab_roll(&l, (ag_ground){.kind = AG_GROUND_CONE, .slope = num(&l, beta), .spin = num(&l, Om)}, 9.8);
  lab_start(&l, false, l.b->x, vec3(l.g, x0[0], x0[1], x0[2]));
  lab_start(&l, true, l.b->R, vec3(l.g, 3, -6, 1));
  if (!lab_derive(&l)) return;
  check_closures(l.sys);
  check_laws(&l);
  AG_CHECK(l.sys->n_disguised == 1);
  const double *v = l.sys->xi0 + 3;
  double first = x0[0] * v[1] - k * Om / (2 * (1 + k)) * x0[0] * x0[0];
  lab_run(&l, 5, -1, NULL);
  const double *x = at_end(&l, "b.x");
  v = at_end(&l, "b.x'");
  AG_CHECK(fabs(x[2] - x0[2]) > 0.01);
  AG_CHECK_NEAR(x[0] * v[1] - x[1] * v[0] - k * Om / (2 * (1 + k)) * (x[0] * x[0] + x[1] * x[1]), first, 1e-10);
  AG_CHECK_NEAR(at_end(&l, "b.gap")[0], 0, 1e-11);
  lab_close(&l);
}

/* A ball that spins on top of a fixed one stays iff n^2 > 4 (1 + k) g (a + b)/(k^2 a^2); else it rolls down and lifts off. */
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

int main(void) {
  check_stone();
  check_disk();
  check_euler_disk();
  check_limit();
  check_tyre();
  check_lens();
  check_routh();
  check_turntable();
  check_cylinder();
  check_cone();
  check_ball_on_ball();
  return ag_check_report();
}
