/* SPDX-License-Identifier: MIT
 * A bench for one rolling body: from a body, a ground and a start to the end of its motion, and the laws it must obey.
 */
#ifndef AG_TESTS_BODY_LAB_H
#define AG_TESTS_BODY_LAB_H
#include <stdlib.h>

#include "run/run.h"
#include "tests/built_models.h"
#include "tests/check.h"

/* One body on one ground, from model to motion. */
typedef struct lab {
  ag_ctx ctx;
  ag_model *m;
  ag_graph *g;
  ag_body *b;
  const ag_contact *c;
  ag_system *sys;
  double mass, inertia[3], gravity;
  double end[256]; /* final record */
  double time;     /* of the first event 0, NAN: none */
  ag_end ends;     /* how the run must end; 0: in time */
} lab;

static inline ag_id num(const lab *l, double v) { return ag_num(l->g, v); }

/* centre: height of the centre of mass on axis 3 over the centre of the surface */
static inline void lab_open(lab *l, double mass, const double *inertia, double centre,
                            ag_surface (*surface)(ag_graph *)) {
  *l = (lab){.m = ag_model_create("lab"), .mass = mass, .time = NAN};
  ag_graph *g = l->g = l->m->graph;
  memcpy(l->inertia, inertia, sizeof l->inertia);
  ag_surface s = surface(g);
  ag_id heavy = num(l, mass), I = diag3(g, inertia[0], inertia[1], inertia[2]), middle = vec3(g, 0, 0, centre);
  l->b = ag_body_add(l->m, "b", heavy, I, middle, &s, nowhere);
}

static inline void lab_roll(lab *l, ag_ground ground, double gravity) {
  l->gravity = gravity;
  ground.gravity = num(l, gravity);
  AG_CHECK(ag_body_roll(&l->ctx, l->m, l->b, &ground, nowhere, &l->c) == AG_OK);
  /* for Euler's law */
  AG_MODEL_PUSH(l->m, observables, ((ag_item){"arm", NULL, l->c->arm, nowhere}));
  ag_id n = ag_mul(l->g, ag_transpose(l->g, ag_body_part(l->m, l->b, "R")), l->c->normal);
  AG_MODEL_PUSH(l->m, observables, ((ag_item){"n", NULL, n, nowhere}));
}

static inline void lab_start(lab *l, bool velocity, int coord, ag_id x) {
  AG_MODEL_PUSH(l->m, starts, ((ag_start){velocity, coord, -1, -1, x, nowhere}));
}

static inline bool lab_derive(lab *l) {
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

static inline void lab_close(lab *l) {
  ag_system_free(l->sys);
  ag_model_free(l->m);
  ag_ctx_done(&l->ctx);
}

static inline void lab_run(lab *l, double t1, double every, const ag_sink *sink) {
  ag_run_options o;
  ag_run_result res;
  double x0[64];
  AG_CHECK(ag_system_dims(l->sys)->x <= 64);
  ag_run_defaults(&o);
  o.t1 = t1;
  o.every = every;
  o.rtol = o.atol = 3e-15; /* fast balls need it to keep 1e-11 */
  o.engine = AG_ENGINE_INTERPRETED;
  o.events = l->m->n_events > 0;
  ag_system_state0(l->sys, x0);
  AG_CHECK(ag_run(&l->ctx, l->sys, ag_system_param_values(l->sys), x0, &o, sink, &res) == AG_OK);
  AG_CHECK(res.end == l->ends);
  AG_CHECK(res.width <= 256);
  memcpy(l->end, res.record, sizeof(double) * (size_t)res.width);
  l->time = o.events && res.event_count[0] ? res.event_times[0][0] : NAN;
  ag_run_done(&res);
}

/* Where a column is in a record. */
static inline int column(const lab *l, const char *name) {
  ag_record r;
  int at = -1;
  ag_record_init(&r, l->sys);
  for (int i = 0; i < r.n_column; i++)
    if (!strcmp(r.columns[i].name, name)) at = r.columns[i].offset;
  ag_record_done(&r);
  AG_CHECK(at >= 0);
  return at < 0 ? 0 : at;
}

static inline const double *at_end(const lab *l, const char *name) { return l->end + column(l, name); }

static inline void check_vector(const double *got, const double *wanted, int n, double tol) {
  for (int i = 0; i < n; i++) AG_CHECK_NEAR(got[i], wanted[i], tol);
}

static inline ag_id euler(ag_graph *g, double phi, double theta, double psi) {
  double cf = cos(phi), sf = sin(phi), ct = cos(theta), st = sin(theta), cp = cos(psi), sp = sin(psi);
  double v[9] = {cf * cp - sf * ct * sp,
                 -cf * sp - sf * ct * cp,
                 sf * st,
                 sf * cp + cf * ct * sp,
                 -sf * sp + cf * ct * cp,
                 -cf * st,
                 st * sp,
                 st * cp,
                 ct};
  ag_id e[9];
  for (int i = 0; i < 9; i++) e[i] = ag_num(g, v[i]);
  return ag_rotation(g, ag_stack(g, 3, 3, e));
}

/* The orientation as Euler angles phi, theta, psi must have them, whatever the turns. */
static inline void check_euler(const lab *l, double phi, double theta, double psi, double tol) {
  double v[9];
  ag_constant(l->g, euler(l->g, phi, theta, psi), v);
  check_vector(at_end(l, "b.R"), v, 9, tol);
}

/* Body angular velocity of Euler angles at psi = 0. */
static inline ag_id euler_rates(ag_graph *g, double theta, double dphi, double dtheta, double dpsi) {
  return vec3(g, dtheta, dphi * sin(theta), dpsi + dphi * cos(theta));
}

static inline void cross3(const double *a, const double *b, double *out) {
  for (int i = 0; i < 3; i++) out[i] = a[(i + 1) % 3] * b[(i + 2) % 3] - a[(i + 2) % 3] * b[(i + 1) % 3];
}

/* m a = N n + friction - m g e3 and I Omega' + Omega x I Omega = arm x R^T F + twist n at random states: accelerations
 * of the eliminated equations against forces from the multiplier form. Tolerance: rounding times the size of the forces
 * and the condition. */
static inline void check_laws(const lab *l) {
  ag_system *sys = l->sys;
  ag_work *w = ag_work_create(sys, ag_system_param_values(sys));
  ag_tape *accel = ag_system_accel(sys);
  double *slots = calloc((size_t)accel->n_slot + 1, 8), *obs = calloc((size_t)ag_system_dims(sys)->observe + 1, 8),
         *c = calloc((size_t)ag_system_dims(sys)->c + 1, 8);
  double *z = calloc((size_t)ag_system_dims(sys)->z + 1, 8), x[13], y[13], a[6], t;
  int press = -1, twist = -1, arm = -1, n = -1, friction = -1;
  for (int i = 0; i < l->m->n_observables; i++) {
    const char *name = l->m->observables[i].name;
    int at = ag_layout_item(sys, AG_LAYOUT_OBSERVABLE, i)->at;
    if (!strcmp(name, "b.normal")) press = at;
    if (!strcmp(name, "b.friction")) friction = at;
    if (!strcmp(name, "b.twist")) twist = at;
    if (!strcmp(name, "arm")) arm = at;
    if (!strcmp(name, "n")) n = at;
  }
  ag_tape_prep(accel, ag_system_param_values(sys), slots);
  for (unsigned seed = 1; seed <= 30; seed++) {
    AG_CHECK(ag_system_sample(sys, w, seed, &t, x) == AG_OK);
    AG_CHECK(ag_work_reduce(w, t, x, c, z) == AG_FINE);
    memcpy(y, x, sizeof(double) * 7);
    memcpy(y + 7, z + ag_system_dims(sys)->u_at, sizeof(double) * (size_t)ag_system_dims(sys)->u);
    const double *seg[AG_SEG_COUNT] = {
        [AG_SEG_T] = &t, [AG_SEG_Z] = y, [AG_SEG_P] = ag_system_param_values(sys), [AG_SEG_C] = c};
    AG_CHECK(ag_tape_eval(accel, seg, slots, a) == 0);
    AG_CHECK(ag_work_observe(w, t, x, obs) == AG_FINE);
    double q0 = x[0], *q = x + 1, F[3], Fb[3], torque[3], gyro[3], IO[3], v[3], u[3], size = 1;
    double nb[3] = {obs[n], obs[n + 1], obs[n + 2]}, ns[3];
    /* R nb and R^T F with the quaternion: u + 2 w (q x u) + 2 q x (q x u) */
    cross3(q, nb, v);
    cross3(q, v, u);
    for (int i = 0; i < 3; i++) ns[i] = nb[i] + 2 * q0 * v[i] + 2 * u[i];
    AG_CHECK_NEAR(ns[0] * obs[friction] + ns[1] * obs[friction + 1] + ns[2] * obs[friction + 2], 0, 1e-11);
    for (int i = 0; i < 3; i++) F[i] = obs[press] * ns[i] + obs[friction + i], size = fmax(size, fabs(F[i]));
    for (int i = 0; i < 3; i++)
      AG_CHECK_NEAR(l->mass * (a[3 + i] + (i == 2 ? l->gravity : 0)) / size, F[i] / size, 1e-12);
    cross3(q, F, v);
    cross3(q, v, u);
    for (int i = 0; i < 3; i++) Fb[i] = F[i] - 2 * q0 * v[i] + 2 * u[i], IO[i] = l->inertia[i] * x[7 + i];
    cross3(obs + arm, Fb, torque);
    cross3(x + 7, IO, gyro);
    for (int i = 0; i < 3; i++)
      AG_CHECK_NEAR((l->inertia[i] * a[i] + gyro[i]) / size, (torque[i] + (twist >= 0 ? obs[twist] * nb[i] : 0)) / size,
                    1e-12);
  }
  ag_tape_free(accel);
  ag_work_free(w);
  free(slots);
  free(obs);
  free(c);
  free(z);
}
#endif
