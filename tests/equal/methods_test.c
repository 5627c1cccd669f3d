/* SPDX-License-Identifier: MIT
 * methods_test [all]: every method of the table has the same bits in lanes as in single runs by the interpreter, on the
 * first of these models that it fits: states, records, steps. Lanes, threads and compilers in turn; with `all` each
 * method in 1, 2, 4 and 8 lanes by both compilers. After fixed steps of methods
 * that turn rotations and their images alike the two agree to rounding. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "api/anagyre.h"
#include "api/api.h"
#include "math/lie.h"
#include "run/run.h"
#include "tests/check.h"

enum { MEMBERS = 11 }; /* no multiple of any number of lanes */
static const double LONGEST = 2, STEP = 0.03, SPREAD = 0.2;

/* Rolling on a plane, a force of positions alone, a vehicle whose Lagrangian depends on R^T x' and Omega alone. */
static const char *const models[] = {"rattleback", "pendulum", "underwater_vehicle"};
enum { MODELS = sizeof models / sizeof *models };

typedef struct crowd {
  ag_system *sys;
  double *params, *x0;
} crowd;

/* Members at the start of the model, with other velocities. */
static crowd crowd_of(ag_system *sys) {
  const ag_dims *d = ag_system_dims(sys);
  crowd c = {.sys = sys};
  c.params = calloc((size_t)(MEMBERS * d->param + 1), sizeof(double));
  c.x0 = calloc((size_t)(MEMBERS * d->x + 1), sizeof(double));
  ag_work *work = ag_work_create(sys, ag_system_param_values(sys));
  for (int i = 0; i < MEMBERS; i++) {
    double *x = c.x0 + i * d->x;
    memcpy(c.params + i * d->param, ag_system_param_values(sys), sizeof(double) * (size_t)d->param);
    ag_system_state0(sys, x);
    for (int k = d->q; k < d->x; k++) x[k] = 0.1 * SPREAD * i + x[k] * (1 + SPREAD * i / MEMBERS);
    AG_CHECK(ag_work_settle_full(work, 0, x) == AG_FINE);
  }
  ag_work_free(work);
  return c;
}

/* The batch has the bits of the single runs. */
static void compare(const crowd *c, const ag_batch_options *o, const ag_run_result *alone) {
  const size_t n = sizeof(double) * (size_t)ag_system_dims(c->sys)->x;
  ag_ctx ctx = {0};
  ag_batch_result r;
  AG_CHECK(ag_batch(&ctx, c->sys, MEMBERS, c->params, c->x0, o, &r) == AG_OK);
  AG_CHECK(r.lanes == o->lanes && r.threads == o->threads);
  for (int i = 0; i < MEMBERS; i++) {
    const ag_batch_member *m = &r.members[i];
    AG_CHECK(m->end == alone[i].end && m->t == alone[i].t && m->steps == alone[i].steps);
    AG_CHECK(!memcmp(r.x + i * r.n_x, alone[i].x, n));
    AG_CHECK(!memcmp(r.records + i * r.width, alone[i].record, sizeof(double) * (size_t)r.width));
  }
  ag_batch_done(&r);
  ag_ctx_done(&ctx);
}

/* A rotation and its image of the vertical after fixed steps, in what is integrated: roundings of a few steps. */
static void check_images(const ag_system *sys, const ag_checkpoint *c) {
  static const double e3[3] = {0, 0, 1};
  double back[4], h[3];
  int at, rotation;
  if (!c->made || !ag_system_image(sys, 0, &at, &rotation)) return;
  ag_lie_quat_conj(c->z + rotation, back);
  ag_lie_quat_rotate(back, e3, h);
  for (int i = 0; i < 3; i++) AG_CHECK_NEAR(c->z[at + i], h[i], 1e-15);
}

/* False: the method does not fit the model. */
static bool check_method(const crowd *c, const ag_stepper *method, int turn, bool all) {
  static const char *const compilers[] = {"gcc", "clang"};
  const ag_dims *d = ag_system_dims(c->sys);
  ag_ctx ctx = {0};
  ag_batch_options o;
  ag_run_result alone[MEMBERS];
  ag_batch_defaults(&o);
  o.run.method = method, o.run.t1 = LONGEST, o.run.every = -1, o.run.engine = AG_ENGINE_INTERPRETED;
  o.run.rtol = 1e-6, o.run.atol = 1e-8, o.run.dt = method->error_order ? 0 : STEP;
  ag_run_prepare(c->sys, &o.run);
  bool fits = true;
  for (int i = 0; i < MEMBERS && fits; i++)
    fits = ag_run(&ctx, c->sys, c->params + i * d->param, c->x0 + i * d->x, &o.run, NULL, &alone[i]) == AG_OK;
  ag_ctx_done(&ctx);
  if (!fits) return false;
  const bool alike = method->needs & AG_NEEDS_FACTORS; /* rotations and images are turned by the same group element */
  for (int i = 0; i < MEMBERS && o.run.dt > 0 && alike; i++) check_images(c->sys, &alone[i].checkpoint);
  o.run.engine = AG_ENGINE_COMPILED;
  for (int i = 0; i < (all ? 8 : 1); i++) {
    const int k = all ? i : turn;
    o.lanes = 1 << (all ? k / 2 : 1 + turn % 3), o.threads = 1 + k / 2 % 2, o.compiler = compilers[k % 2];
    compare(c, &o, alone);
  }
  for (int i = 0; i < MEMBERS; i++) ag_run_done(&alone[i]);
  return true;
}

int main(int argc, char **argv) {
  const bool all = argc > 1 && !strcmp(argv[1], "all");
  anagyre_model *opened[MODELS];
  crowd crowds[MODELS];
  for (int k = 0; k < MODELS; k++) {
    opened[k] = anagyre_open(models[k]);
    crowds[k] = crowd_of(ag_api_system(opened[k], &(ag_derive_options){0}));
  }
  for (int i = 0; i < ag_stepper_count(); i++) {
    const ag_stepper *s = ag_stepper_at(i);
    int k = 0, failed = ag_checks_failed;
    if (ag_stepper_noisy(s)) continue; /* ensemble_bits, bundle_bits */
    while (k < MODELS && !check_method(&crowds[k], s, i, all)) k++;
    AG_CHECK(k < MODELS);
    if (ag_checks_failed > failed) fprintf(stderr, "  in %s\n", s->name);
  }
  for (int k = 0; k < MODELS; k++) {
    free(crowds[k].params), free(crowds[k].x0);
    anagyre_close(opened[k]);
  }
  return ag_check_report();
}
