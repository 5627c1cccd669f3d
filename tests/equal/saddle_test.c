/* SPDX-License-Identifier: MIT
 * Sparse equals dense: every model of the folders given that has constraints and no frame is derived twice, as usual
 * and as if it were large. At random states the accelerations and reactions agree to rounding times the condition
 * number of the saddle matrix, so do the projections; the motions agree to the tolerance of the integration, and
 * interpreted and compiled runs of the sparse form bit for bit. */
#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "lang/lang.h"
#include "mech/mech_internal.h"
#include "run/run.h"
#include "tests/check.h"

static int n_lanes; /* models in lanes */

static ag_system *derive_model(const char *path, bool saddle, ag_model **model) {
  char *text = calloc(1, 1 << 20);
  FILE *f = fopen(path, "rb");
  size_t n = f ? fread(text, 1, (1 << 20) - 1, f) : 0;
  if (f) fclose(f);
  ag_ctx ctx = {0};
  ag_system *sys = NULL;
  ag_derive_options options = {.saddle = saddle};
  ag_status status = ag_lang_read(&ctx, path, text, n, 0, NULL, model);
  if (status == AG_OK) status = ag_system_create(&ctx, *model, &options, &sys);
  if (status != AG_OK) {
    ag_text out = {0};
    ag_ctx_render(&ctx, &out);
    fprintf(stderr, "%s", ag_text_cstr(&out));
    ag_text_done(&out);
  }
  AG_CHECK(status == AG_OK);
  free(text);
  ag_ctx_done(&ctx);
  return sys;
}

static double largest(int n, const double *v) {
  double worst = 1;
  for (int i = 0; i < n; i++) worst = fmax(worst, fabs(v[i]));
  return worst;
}

/* Accelerations, reactions and projections at random states. */
static void check_states(ag_system *dense, const ag_system *sparse) {
  int n = ag_system_dims(dense)->xi, n_x = ag_system_dims(dense)->q + n;
  ag_work *w[2] = {ag_work_create(dense, ag_system_param_values(dense)),
                   ag_work_create(sparse, ag_system_param_values(sparse))};
  double *x = calloc((size_t)n_x, 8), *y = calloc((size_t)n_x, 8),
         *z = calloc((size_t)ag_system_dims(sparse)->z + 1, 8), *dz = calloc((size_t)ag_system_dims(sparse)->z + 1, 8);
  double *a[2], *r[2], t;
  for (int i = 0; i < 2; i++) a[i] = calloc((size_t)n + 1, 8), r[i] = calloc((size_t)n + 1, 8);
  for (unsigned seed = 1; seed <= 10; seed++) {
    if (ag_system_sample(dense, w[0], seed, &t, x) != AG_OK) continue;
    double condition = ag_work_condition(w[0], t, x), tol = 1e-13 * condition;
    for (int i = 0; i < 2; i++) {
      AG_CHECK(ag_work_accel(w[i], t, x, a[i], NULL) == AG_FINE);
      AG_CHECK(ag_work_reaction(w[i], t, x, r[i]) == AG_FINE);
    }
    double size = largest(n, a[0]), force = largest(n, r[0]);
    for (int i = 0; i < n; i++) {
      AG_CHECK_NEAR(a[1][i] / size, a[0][i] / size, tol);
      AG_CHECK_NEAR(r[1][i] / force, r[0][i] / force, tol);
    }
    AG_CHECK(ag_work_reduce(w[1], t, x, NULL, z) == AG_FINE && ag_work_rhs(w[1], t, z, NULL, dz) == AG_FINE);
    for (int i = 0; i < n; i++) AG_CHECK_NEAR(dz[ag_system_dims(sparse)->u_at + i] / size, a[0][i] / size, tol);
    AG_CHECK_NEAR(ag_work_condition(w[1], t, x) / condition, 1, 0.9); /* both are estimates */
    /* a little off the constraints, and back: two Newton iterations in different arithmetic, each to 1e-12 or better */
    for (int i = 0; i < n; i++) x[ag_system_dims(dense)->q + i] += 1e-3 * cos(i);
    memcpy(y, x, sizeof(double) * (size_t)n_x);
    AG_CHECK(ag_work_settle_full(w[0], t, x) == AG_FINE && ag_work_settle_full(w[1], t, y) == AG_FINE);
    for (int i = 0; i < n_x; i++) AG_CHECK_NEAR(x[i], y[i], 1e-11 + tol);
    AG_CHECK(ag_work_residual(w[1], t, y) < 1e-12 * condition);
  }
  for (int i = 0; i < 2; i++) ag_work_free(w[i]), free(a[i]), free(r[i]);
  free(x), free(y), free(z), free(dz);
}

static ag_run_result run_model(const ag_system *sys, const ag_system *start, ag_engine engine) {
  ag_ctx ctx = {0};
  ag_run_options o;
  ag_run_result res = {0};
  double *x0 = calloc((size_t)(ag_system_dims(sys)->x + 1), sizeof *x0);
  ag_run_defaults(&o);
  o.t1 = 1;
  o.rtol = o.atol = 1e-12;
  o.every = -1;
  o.engine = engine;
  o.noise = AG_NOISE_OFF;
  ag_system_state0(start, x0);
  AG_CHECK(ag_run(&ctx, sys, ag_system_param_values(sys), x0, &o, NULL, &res) == AG_OK);
  free(x0);
  ag_ctx_done(&ctx);
  return res;
}

/* The members of a batch of the sparse form, in lanes, are its single runs, bit for bit. */
static void check_lanes(ag_system *sparse, const ag_system *start) {
  enum { MEMBERS = 3 };
  const ag_dims *n = ag_system_dims(sparse);
  double *x0 = calloc((size_t)(MEMBERS * n->x + 1), sizeof *x0), *p = calloc((size_t)(MEMBERS * n->param + 1), 8);
  ag_ctx ctx = {0};
  ag_batch_options o;
  ag_batch_result all;
  ag_run_result single;
  ag_batch_defaults(&o);
  o.run.t1 = 1, o.run.rtol = o.run.atol = 1e-12, o.run.noise = AG_NOISE_OFF;
  for (int i = 0; i < MEMBERS; i++) {
    ag_system_state0(start, x0 + i * n->x);
    memcpy(p + i * n->param, ag_system_param_values(sparse), sizeof(double) * (size_t)n->param);
  }
  AG_CHECK(ag_batch(&ctx, sparse, MEMBERS, p, x0, &o, &all) == AG_OK);
  n_lanes += all.lanes > 0;
  o.run.every = -1;
  AG_CHECK(ag_run(&ctx, sparse, p, x0, &o.run, NULL, &single) == AG_OK);
  for (int i = 0; i < MEMBERS; i++) {
    AG_CHECK(all.members[i].end == single.end && all.members[i].steps == single.steps);
    AG_CHECK(!memcmp(all.x + i * n->x, single.x, sizeof(double) * (size_t)n->x));
  }
  ag_batch_done(&all);
  ag_run_done(&single);
  ag_ctx_done(&ctx);
  free(x0), free(p);
}

static void check_motion(const ag_system *dense, ag_system *sparse) {
  ag_run_result a = run_model(dense, dense, AG_ENGINE_INTERPRETED), b = run_model(sparse, dense, AG_ENGINE_INTERPRETED);
  ag_run_result c = run_model(sparse, dense, AG_ENGINE_COMPILED);
  AG_CHECK(a.end == b.end);
  int state = 1;
  for (int i = 0; i < ag_model_n_coords(ag_system_model(dense)); i++)
    state += ag_layout_item(dense, AG_LAYOUT_COORDINATE, i)->n_tangent +
             (ag_model_coords(ag_system_model(dense))[i].space == AG_SPACE_SO3
                  ? 9
                  : ag_layout_item(dense, AG_LAYOUT_COORDINATE, i)->n);
  for (int i = 0; i < state; i++) AG_CHECK_NEAR(a.record[i], b.record[i], 1e-9); /* two integrations at 1e-12 */
  AG_CHECK(b.residual_max < 1e-12);
  AG_CHECK(b.steps == c.steps && !memcmp(b.x, c.x, sizeof(double) * (size_t)(ag_system_dims(sparse)->x)));
  if (ag_end_status(b.end) == AG_OK) check_lanes(sparse, dense);
  ag_run_done(&a), ag_run_done(&b), ag_run_done(&c);
}

static int check_model(const char *path) {
  ag_model *m[2] = {NULL, NULL};
  ag_system *dense = derive_model(path, false, &m[0]), *sparse = NULL;
  bool fits = dense && ag_system_dims(dense)->lambda && ag_system_elimination(dense) != AG_ELIM_FRAME &&
              ag_system_elimination(dense) != AG_ELIM_SADDLE;
  if (fits) sparse = derive_model(path, true, &m[1]);
  if (sparse) {
    int before = ag_checks_failed;
    AG_CHECK(ag_system_elimination(sparse) == AG_ELIM_SADDLE &&
             ag_system_dims(sparse)->lambda == ag_system_dims(dense)->lambda);
    check_states(dense, sparse);
    check_motion(dense, sparse);
    if (ag_checks_failed > before) fprintf(stderr, "in %s\n", path);
  }
  ag_system_free(dense), ag_system_free(sparse);
  ag_model_free(m[0]), ag_model_free(m[1]);
  return sparse != NULL;
}

/* ---- what can be wrong with a large system is named ---- */

#define MASSES "model a\nconfig x in R^2 [40], y in R\n"
#define KINETIC "lagrangian sum(i in 1..40, 1/2*dot(x[i]', x[i]'))"

typedef struct trouble {
  const char *text, *says; /* its message; NULL: none */
  bool refused;
  double dt; /* > 0: a run with such steps to t = 2 ends so: */
  ag_end end;
} trouble;

static const trouble troubles[] = {
    {MASSES "constraint x[1]'[1] = x[2]'[1]\nconstraint x[2]'[1] = x[3]'[1]\nconstraint x[3]'[1] = x[1]'[1]\n" KINETIC
            " + y'^2\n",
     "follows from the others and is dropped", false, 0, AG_END_TIME},
    {MASSES
     "constraint x[1]'[1] = x[2]'[1]\nconstraint x[2]'[1] = x[3]'[1]\nconstraint x[3]'[1] = x[1]'[1] + 1\n" KINETIC
     " + y'^2\n",
     "contradicts the other constraints", true, 0, AG_END_TIME},
    {MASSES "constraint y*x[2]'[1] = 0\n" KINETIC " + y'^2\n",
     "the constraints lose rank at the start (0 of 1 rows independent)", true, 0, AG_END_TIME},
    {MASSES "constraint x[1]'[1] = x[2]'[1]\n" KINETIC "\n", "the mass matrix is not positive definite", true, 0,
     AG_END_TIME},
    {MASSES "constraint x[1]'[1] = x[2]'[1]\n" KINETIC "\n", "see `y'`", true, 0, AG_END_TIME},
    {MASSES "holonomic dot(x[1] - x[2], x[1] - x[2]) = 1\n" KINETIC " + y'^2\nstart x[1] = [0, 0], x[2] = [2, 0]\n",
     "the start positions did not satisfy the constraints", false, 0, AG_END_TIME},
    {MASSES "constraint x[1]'[1] = 0\n" KINETIC " + y'^2\nstart x[1]' = [1, 1]\n",
     "the start velocities did not satisfy the constraints", false, 0, AG_END_TIME},
    {MASSES "constraint x[1]'[1] = 0\nconstraint cos(y)*x[1]'[1] + sin(y)*x[1]'[2] = 0\n" KINETIC
            " + y'^2\nstart y = -1, y' = 1\n",
     NULL, false, 0.25, AG_END_RANK},
    {MASSES "constraint x[1]'[1] = x[2]'[1]\n" KINETIC " + y'^2 + (y - 1)/2*x[40]'[1]^2\nstart y = 1, y' = -1\n", NULL,
     false, 0.25, AG_END_MASS},
    {MASSES "constraint x[1]'[1] = x[2]'[1]\n" KINETIC " + y'^2\n", NULL, false, 0.25, AG_END_TIME},
};

static void check_trouble(const trouble *c) {
  ag_ctx ctx = {0};
  ag_model *m = NULL;
  ag_system *sys = NULL;
  ag_derive_options options = {0};
  ag_status status = ag_lang_read(&ctx, "text", c->text, strlen(c->text), 0, NULL, &m);
  AG_CHECK(status == AG_OK);
  if (status == AG_OK) status = ag_system_create(&ctx, m, &options, &sys);
  ag_text out = {0};
  ag_ctx_render(&ctx, &out);
  AG_CHECK((status != AG_OK) == c->refused);
  bool said = c->says ? strstr(ag_text_cstr(&out), c->says) != NULL : out.n == 0;
  AG_CHECK(said);
  if (!said) fprintf(stderr, "%s\nsays: %s\n", c->text, ag_text_cstr(&out));
  for (int engine = AG_ENGINE_COMPILED; sys && c->dt > 0 && engine <= AG_ENGINE_INTERPRETED; engine++) {
    ag_run_options o;
    ag_run_result res = {0};
    double *x0 = calloc((size_t)(ag_system_dims(sys)->x), sizeof *x0);
    ag_system_state0(sys, x0);
    ag_run_defaults(&o);
    o.t1 = 2, o.dt = c->dt, o.every = -1, o.engine = (ag_engine)engine, o.method = ag_stepper_find("rk4");
    AG_CHECK(ag_run(&ctx, sys, ag_system_param_values(sys), x0, &o, NULL, &res) == AG_OK && res.end == c->end);
    ag_run_done(&res);
    free(x0);
  }
  ag_text_done(&out);
  ag_system_free(sys);
  ag_model_free(m);
  ag_ctx_done(&ctx);
}

/* y has no mass and follows x: the matrix M + S^T S, the motion by hand. */
static void check_massless(void) {
  static const char text[] = MASSES "constraint x[1]'[1] = x[2]'[1]\nholonomic y = 2*x[1][2]\n" KINETIC " - 3*y\n";
  ag_ctx ctx = {0};
  ag_model *m = NULL;
  ag_system *sys = NULL;
  ag_derive_options options = {0};
  AG_CHECK(ag_lang_read(&ctx, "text", text, strlen(text), 0, NULL, &m) == AG_OK &&
           ag_system_create(&ctx, m, &options, &sys) == AG_OK);
  AG_CHECK(ag_system_role(sys, AG_ROLE_METRIC) && ag_system_elimination(sys) == AG_ELIM_SADDLE);
  ag_run_result a = run_model(sys, sys, AG_ENGINE_INTERPRETED);
  AG_CHECK_NEAR(a.x[80], -6, 1e-12); /* 2 x'' = -12: the weight 3 pulls with 6 at x[1][2], of mass 1 */
  AG_CHECK_NEAR(a.x[1], -3, 1e-12);
  AG_CHECK_NEAR(a.x[ag_system_dims(sys)->q + 80], -12, 1e-12);
  ag_run_done(&a);
  ag_system_free(sys);
  ag_model_free(m);
  ag_ctx_done(&ctx);
}

int main(int argc, char **argv) {
  int n = 0;
  for (size_t i = 0; i < sizeof troubles / sizeof *troubles; i++) check_trouble(&troubles[i]);
  check_massless();
  for (int i = 1; i < argc; i++) {
    DIR *folder = opendir(argv[i]);
    AG_CHECK(folder);
    for (struct dirent *e; folder && (e = readdir(folder));) {
      size_t length = strlen(e->d_name);
      char path[2000];
      if (length < 4 || strcmp(e->d_name + length - 3, ".nh")) continue;
      snprintf(path, sizeof path, "%s/%s", argv[i], e->d_name);
      n += check_model(path);
    }
    if (folder) closedir(folder);
  }
  printf("%d models\n", n);
  AG_CHECK(n > 10 && n_lanes > 10);
  return ag_check_report();
}
