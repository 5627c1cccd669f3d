/* SPDX-License-Identifier: MIT
 * Two derivations agree, for every model of the folders given: eliminated and multiplier accelerations and the balance
 * of energy at random states; the motion in both closures; the core alone and the whole state; interpreter and compiled
 * code, bit for bit; what is written out reads back as the same system. */
#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "lang/lang.h"
#include "run/run.h"
#include "tests/check.h"
#include "tests/closures.h"

static char *read_whole(const char *path, size_t *size) {
  FILE *f = fopen(path, "rb");
  if (!f) return NULL;
  char *text = calloc(1, 1 << 20);
  *size = fread(text, 1, (1 << 20) - 1, f);
  fclose(f);
  return text;
}

static ag_system *derive_text(const char *name, const char *text, size_t size, ag_model **model) {
  ag_ctx ctx = {0};
  ag_system *sys = NULL;
  ag_derive_options options = {.growth = true};
  ag_status status = ag_lang_read(&ctx, name, text, size, 0, NULL, model);
  if (status == AG_OK) status = ag_system_create(&ctx, *model, &options, &sys);
  AG_CHECK(status == AG_OK);
  if (status != AG_OK) {
    ag_text out = {0};
    ag_ctx_render(&ctx, &out);
    fprintf(stderr, "%s", ag_text_cstr(&out));
    ag_text_done(&out);
  }
  ag_ctx_done(&ctx);
  return sys;
}

static ag_run_result run_model(const ag_system *sys, double t1, double dt, bool multipliers, ag_engine engine) {
  ag_ctx ctx = {0};
  ag_run_options o;
  ag_run_result res = {0};
  double *x0 = calloc((size_t)(ag_system_dims(sys)->x + 1), sizeof *x0);
  ag_run_defaults(&o);
  o.t1 = t1;
  o.dt = dt;
  if (dt > 0) o.method = ag_stepper_find("rk4");
  o.rtol = o.atol = 1e-12;
  o.every = -1;
  o.multipliers = multipliers;
  o.engine = engine;
  o.noise = AG_NOISE_OFF;
  ag_system_state0(sys, x0);
  AG_CHECK(ag_run(&ctx, sys, ag_system_param_values(sys), x0, &o, NULL, &res) == AG_OK);
  free(x0);
  ag_ctx_done(&ctx);
  return res;
}

/* The same end, entry by entry. Quaternions q and -q are the same rotation: compare what the record says. */
static void same_end(const ag_run_result *a, const ag_run_result *b, int width, double tol) {
  AG_CHECK(a->end == b->end);
  for (int i = 0; i < width; i++) AG_CHECK_NEAR(a->record[i], b->record[i], tol);
}

static void check_motion(const ag_system *sys) {
  ag_run_result eliminated = run_model(sys, 2, 0, false, AG_ENGINE_INTERPRETED),
                multipliers = run_model(sys, 2, 0, true, AG_ENGINE_INTERPRETED);
  AG_CHECK(eliminated.residual_max < 1e-11);
  /* two integrations at 1e-12 of differently stiff forms; the observables behind the state may amplify, so only the
   * state */
  int state = 1;
  for (int i = 0; i < ag_model_n_coords(ag_system_model(sys)); i++)
    state += ag_layout_item(sys, AG_LAYOUT_COORDINATE, i)->n_tangent +
             (ag_model_coords(ag_system_model(sys))[i].space == AG_SPACE_SO3
                  ? 9
                  : ag_layout_item(sys, AG_LAYOUT_COORDINATE, i)->n);
  same_end(&eliminated, &multipliers, state, 1e-9);
  ag_run_done(&eliminated);
  ag_run_done(&multipliers);
}

static void check_engines(const ag_system *sys) {
  for (int fixed = 0; fixed < 2; fixed++) {
    ag_run_result a = run_model(sys, 1, fixed ? 0.01 : 0, false, AG_ENGINE_INTERPRETED),
                  b = run_model(sys, 1, fixed ? 0.01 : 0, false, AG_ENGINE_COMPILED);
    if (!b.compiled) fprintf(stderr, "  not compiled: %s\n", b.engine_note ? b.engine_note : "nothing to integrate");
    AG_CHECK(a.end == b.end && a.steps == b.steps && a.rejected == b.rejected);
    AG_CHECK(!memcmp(a.x, b.x, sizeof(double) * (size_t)(ag_system_dims(sys)->x)));
    AG_CHECK(!memcmp(&a.work, &b.work, sizeof a.work)); /* check_closures has made the role of the power */
    ag_run_done(&a);
    ag_run_done(&b);
  }
}

/* The core never reads the rest: integrated alone with fixed steps it does the same to rounding. */
typedef struct alone {
  ag_work *w;
  double *c;
  bool core;
} alone;

static int alone_rhs(void *self, double t, const double *z, double *dz) {
  alone *a = self;
  return a->core ? ag_work_core(a->w, t, z, a->c, dz) : ag_work_rhs(a->w, t, z, a->c, dz);
}

static void check_core(const ag_system *sys) {
  const ag_stepper *rk4 = ag_stepper_find("rk4");
  int n = ag_system_dims(sys)->z, n_x = ag_system_dims(sys)->x;
  ag_work *w = ag_work_create(sys, ag_system_param_values(sys));
  double *x = calloc((size_t)n_x + 1, 8), *c = calloc((size_t)ag_system_dims(sys)->c + 1, 8), *z[2],
         *z1 = calloc((size_t)n + 1, 8);
  double *dz = calloc((size_t)n + 1, 8), *dz1 = calloc((size_t)n + 1, 8),
         *space = calloc(rk4->room(n, n, n * n).size + 1, 8), error[2];
  ag_system_state0(sys, x);
  for (int k = 0; k < 2; k++) {
    alone self = {w, c, k == 0};
    ag_flow flow = {.n = k == 0 ? ag_system_dims(sys)->core : n, .rhs = alone_rhs, .self = &self};
    z[k] = calloc((size_t)n + 1, 8);
    AG_CHECK(ag_work_reduce(w, 0, x, c, z[k]) == AG_FINE);
    for (int i = 0; i < 20; i++) {
      AG_CHECK(alone_rhs(&self, 0.005 * i, z[k], dz) == 0);
      AG_CHECK(rk4->step(rk4, &flow, 0.005 * i, 0.005, z[k], dz, z1, dz1, 1, 1, error, space) == 0);
      memcpy(z[k], z1, sizeof(double) * (size_t)flow.n);
    }
  }
  for (int i = 0; i < ag_system_dims(sys)->core; i++)
    AG_CHECK_NEAR(z[0][i], z[1][i], 1e-13); /* rounding of some hundred operations */
  ag_work_free(w);
  free(x), free(c), free(z[0]), free(z[1]), free(z1), free(dz), free(dz1), free(space);
}

static void check_round_trip(const ag_model *m) {
  ag_text first = {0}, second = {0};
  ag_ctx ctx = {0};
  ag_model *again = NULL;
  ag_lang_write(m, &first);
  AG_CHECK(ag_lang_read(&ctx, "written", ag_text_cstr(&first), first.n, 0, NULL, &again) == AG_OK);
  if (again) {
    ag_lang_write(again, &second);
    AG_CHECK_STR(ag_text_cstr(&second), ag_text_cstr(&first));
  }
  ag_model_free(again);
  ag_ctx_done(&ctx);
  ag_text_done(&first);
  ag_text_done(&second);
}

static void check_model(const char *path) {
  size_t size;
  char *text = read_whole(path, &size);
  ag_model *model = NULL;
  AG_CHECK(text != NULL);
  if (!text) return;
  fprintf(stderr, "%s\n", path);
  ag_system *sys = derive_text(path, text, size, &model);
  if (sys) {
    check_closures(sys);
    check_motion(sys);
    check_core(sys);
    check_engines(sys);
    check_round_trip(model);
  }
  ag_system_free(sys);
  ag_model_free(model);
  free(text);
}

int main(int argc, char **argv) {
  for (int i = 1; i < argc; i++) {
    struct dirent **names;
    int n = scandir(argv[i], &names, NULL, alphasort);
    AG_CHECK(n > 0);
    for (int k = 0; k < n; k++) {
      size_t length = strlen(names[k]->d_name);
      char path[4096];
      snprintf(path, sizeof path, "%s/%s", argv[i], names[k]->d_name);
      if (length > 3 && !strcmp(names[k]->d_name + length - 3, ".nh")) check_model(path);
      free(names[k]);
    }
    if (n > 0) free(names);
  }
  return ag_check_report();
}
