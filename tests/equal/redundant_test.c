/* SPDX-License-Identifier: MIT
 * Rows that follow from others change nothing: models with redundant constraints move as the same models without them,
 * eliminated and with multipliers, keep their energy, and stay on all rows, also those that are dropped. Rows that
 * contradict each other are refused; forces that the rows share are named; and the gap of every contact is found to be
 * holonomic. */
#include <stdlib.h>
#include <string.h>

#include "lang/lang.h"
#include "math/dense.h"
#include "run/run.h"
#include "tests/check.h"

static ag_system *derive(const char *text, ag_model **m, ag_ctx *ctx) {
  ag_system *sys = NULL;
  ag_derive_options options = {.growth = true};
  *m = NULL;
  if (ag_lang_read(ctx, "text", text, strlen(text), 0, NULL, m) == AG_OK)
    (void)!ag_system_create(ctx, *m, &options, &sys);
  return sys;
}

static double *run(const ag_system *sys, bool multipliers, double t1) {
  ag_ctx ctx = {0};
  ag_run_options o;
  ag_run_result res = {0};
  size_t n_q = (size_t)ag_system_dims(sys)->q, n_xi = (size_t)ag_system_dims(sys)->xi;
  double *x0 = calloc(n_q + n_xi + 1, sizeof *x0);
  ag_system_state0(sys, x0);
  ag_run_defaults(&o);
  o.t1 = t1, o.multipliers = multipliers, o.every = 0.05, o.engine = AG_ENGINE_INTERPRETED;
  AG_CHECK(ag_run(&ctx, sys, ag_system_param_values(sys), x0, &o, NULL, &res) == AG_OK && res.end == AG_END_TIME);
  AG_CHECK(res.residual_max < 1e-11);                            /* rounding in positions and velocities of size 10 */
  AG_CHECK(res.energy_drift <= 1e-8 * fmax(1, res.energy_size)); /* some hundred steps at 1e-10 */
  memcpy(x0, res.x, sizeof(double) * (n_q + n_xi));
  ag_run_done(&res);
  ag_ctx_done(&ctx);
  return x0;
}

/* ---- redundant rows ---- */

typedef struct redundant {
  const char *common, *first, *more; /* more: rows that follow from the first */
  int n_row, freedom;                /* with all rows */
  bool instead;                      /* `more` are redundant among themselves and replace the first */
} redundant;

#define BODY(name) "body " #name " mass 1 inertia diag(0.1,0.2,0.15) gravity 9.81\n"
#define THREE BODY(a) BODY(b) BODY(c)
#define ARMS \
  "holonomic hinge(space, [0,0,0], e2, a, [0,0,0.5], e2)\nholonomic hinge(a, [0,0,-0.5], e2, b, [-0.5,0,0], e2)\n"

static const redundant cases[] = {
    {BODY(a) "start a.Omega[2] = 1\n", "holonomic hinge(space, [0,0,0], e2, a, [0.1,0,0.5], e2)\n",
     "holonomic a.x[2] = 0\n", 6, 1, false},
    {"config R in SO3 velocity W, x in R^3\nlagrangian 1/2*dot(x',x') + 1/2*dot(W, diag(0.1,0.2,0.15)*W) - 9.81*x[3]\n"
     "start W[2] = 1, x = [-0.1,0,-0.5]\n",
     "holonomic x + R*[0.1,0,0.5] = 0\nholonomic dot(R*e2, e1) = 0\nholonomic dot(R*e2, e3) = 0\n",
     "holonomic x[2] = 0\n", 6, 1, false},
    {BODY(a) BODY(b) "let P = b.x + b.R*e1\nstart a.Omega[2] = 1\nholonomic hinge(space, [0,0,0], e2, a, [-0.5,0,0], "
                     "e2)\nholonomic hinge(a, [0.5,0,0], e2, b, [-1,0,0], e2)\n",
     "holonomic P[3] = 0\n", "holonomic P[2] = 0\n", 12, 1, false},
    {"body door mass 1 inertia 0.1 gravity 9.81\nstart door.Omega[3] = 1\n",
     "holonomic hinge(space, [0,0,0], e3, door, [1,0,-0.5], e3)\n",
     "holonomic hinge(space, [0,0,1], e3, door, [1,0,0.5], e3)\n", 10, 1, false},
    {"config x in R, y in R\nlagrangian x'^2 + y'^2 - x\nstart x' = 1\n", "constraint x' = y'\n",
     "constraint 2*x' = 2*y'\nconstraint 3*x' = 3*y'\n", 3, 1, false},
    {"config x in R\nlagrangian x'^2\n", "holonomic x = t\n", "constraint x' = 1\n", 2, 0, false},
    /* four bars: the last hinge of the loop needs two rows of its five, the slots of a plane */
    {THREE ARMS "let P = c.x + c.R*[0,0,0.5]\nholonomic hinge(b, [0.5,0,0], e2, c, [0,0,-0.5], e2)\n"
                "start a.Omega[2] = 1\n",
     "holonomic [P[1] - 1, P[3]] = 0\n", "holonomic hinge(space, [1,0,0], e2, c, [0,0,0.5], e2)\n", 22, 1, false},
    {THREE ARMS "let P = c.x + c.R*[0,0,0.5]\nholonomic hinge(b, [0.5,0,0], e2, c, [0,0,-0.5], e2)\n"
                "start a.Omega[2] = 1\n",
     "holonomic [P[1] - 1.2, P[3] - 0.1] = 0\n", "holonomic ball(space, [1.2,0,0.1], c, [0,0,0.5])\n", 20, 1, false},
    /* a Cardan shaft, bent by 30 degrees: a cross between two shafts in bearings */
    {"body a mass 1 inertia diag(0.1,0.1,0.05)\nbody x mass 0.1 inertia diag(0.01,0.01,0.02)\n"
     "body b mass 1 inertia diag(0.1,0.1,0.05)\nholonomic hinge(space, [0,0,0], e3, a, [0,0,0], e3)\n"
     "holonomic hinge(a, [0,0,0.5], e1, x, [0,0,0], e1)\nholonomic hinge(x, [0,0,0], e2, b, [0,0,-0.5], e2)\n"
     "start a.Omega[3] = 1\n",
     "let c = cos(pi/6)\nholonomic [b.x[1], b.x[2] - 0.25] = 0\n",
     "holonomic hinge(space, [0, 0.25, 0.5 + c/2], [0, 0.5, c], b, [0,0,0], e3)\n", 22, 1, false},
    /* which rows of two or three ball joints are independent changes as the line between them turns */
    {BODY(a) BODY(b) "start a.Omega = [1, 0.5, 0.7], b.Omega = [1, 0.5, 0.7]\n",
     "holonomic hinge(a, [1,0,0], e2, b, [-1,0,0], e2)\n",
     "holonomic ball(a, [1,0,0], b, [-1,0,0])\nholonomic ball(a, [1,1,0], b, [-1,1,0])\n", 6, 7, true},
    {BODY(a) BODY(b) "start a.Omega = [1, 0.5, 0.7], b.Omega = [1, 0.5, 0.7]\n",
     "holonomic hinge(a, [1,0,0], e2, b, [-1,0,0], e2)\nholonomic dot(a.R*e1, b.R*e3) = 0\n",
     "holonomic ball(a, [1,0,0], b, [-1,0,0])\nholonomic ball(a, [1,1,0], b, [-1,1,0])\n"
     "holonomic ball(a, [1,1,1], b, [-1,1,1])\n",
     9, 6, true},
};

static void check_redundant(const redundant *c) {
  char text[2][4096];
  ag_system *sys[2];
  ag_model *m[2];
  double *x[4] = {NULL, NULL, NULL, NULL};
  for (int i = 0; i < 2; i++) {
    ag_ctx ctx = {0};
    snprintf(text[i], sizeof text[i], "model m\n%s%s%s", c->common, i && c->instead ? "" : c->first, i ? c->more : "");
    sys[i] = derive(text[i], &m[i], &ctx);
    ag_text out = {0};
    ag_ctx_render(&ctx, &out);
    AG_CHECK(sys[i] != NULL);
    if (!sys[i]) fprintf(stderr, "%s%s", text[i], ag_text_cstr(&out));
    AG_CHECK(strstr(ag_text_cstr(&out), c->instead ? "all are kept" : "dropped") || !i);
    ag_text_done(&out);
    ag_ctx_done(&ctx);
  }
  if (sys[0] && sys[1]) {
    int before = ag_checks_failed, n = ag_system_dims(sys[0])->x;
    AG_CHECK(ag_system_dims(sys[1])->row == c->n_row && ag_system_dims(sys[1])->u == c->freedom &&
             ag_system_dims(sys[0])->u == c->freedom);
    for (int i = 0; i < 4; i++) x[i] = run(sys[i / 2], i % 2, 2);
    for (int i = 1; i < 4; i++)
      for (int k = 0; k < n; k++) AG_CHECK_NEAR(x[i][k], x[0][k], 1e-6); /* global errors of two runs at 1e-10 */
    if (ag_checks_failed > before) fprintf(stderr, "in\n%s", text[1]);
  }
  for (int i = 0; i < 4; i++) free(x[i]);
  for (int i = 0; i < 2; i++) ag_system_free(sys[i]), ag_model_free(m[i]);
}

/* ---- forces that are not determined one by one ---- */

static const struct {
  const char *text, *says; /* NULL: nothing */
} forces[] = {
    /* two contacts: that of each pair of planes along the line between them is free */
    {"body b mass 1 inertia 0.4 surface sphere(1) gravity 9.81\nroll b on plane normal [0.1, 1, 1]\n"
     "roll b on plane normal [0.1, -1, 1]\nstart b.Omega[2] = 1\n",
     "one by one: `b.normal`, `b.friction`, `b.slip_ratio`, `b.normal2`, `b.friction2`, `b.slip_ratio2` are"},
    {"body b mass 1 inertia 0.4 surface sphere(1) gravity 9.81\nroll b on plane\n", NULL},
    /* only the first two share their force; the reaction is the sum of both */
    {"config x in R^2\nlagrangian dot(x', x')\nconstraint a: x'[1] = 0\nconstraint b: 2*x'[1] = 0\n"
     "constraint c: x'[2] = 0\nobservable la = multiplier.a[1], lb = multiplier.b[1], lc = multiplier.c[1], "
     "all = multiplier.a[1] + 2*multiplier.b[1]\n",
     "one by one: `la`, `lb` are"},
};

static void check_forces(const char *part, const char *says) {
  char text[1024];
  ag_ctx ctx = {0};
  ag_model *m;
  ag_text out = {0};
  snprintf(text, sizeof text, "model m\n%s", part);
  ag_system *sys = derive(text, &m, &ctx);
  ag_ctx_render(&ctx, &out);
  AG_CHECK(sys && (says ? strstr(ag_text_cstr(&out), says) != NULL : out.n == 0));
  ag_text_done(&out);
  ag_system_free(sys);
  ag_model_free(m);
  ag_ctx_done(&ctx);
}

/* ---- the gap of a contact is holonomic ---- */

/* Dimension of what the brackets reach: 5 of 6, and 1 more with time. */
static const char *const contacts[] = {
    "surface ellipsoid(1, 0.8, 0.7)\nroll b outside sphere(3) axis e3 spinning 0.7 gravity 1\nstart b.theta = 0.3\n",
    "surface disk(0.6)\nrubber b outside sphere(2) gravity 1\nstart b.theta = 1.3\n",
    "surface torus(1, 0.3)\nroll b outside sphere(2) gravity 1\nstart b.theta = 1.3\n",
    "surface cylinder(0.6, 0.3)\nroll b outside sphere(2) gravity 1\nstart b.theta = 1.3\n",
};

static void check_gap(const char *part) {
  char text[1024];
  ag_ctx ctx = {0};
  ag_model *m;
  snprintf(text, sizeof text, "model m\nbody b mass 1 inertia diag(0.2, 0.3, 0.35) %s", part);
  ag_system *sys = derive(text, &m, &ctx);
  bool good = sys && ag_system_growth(sys)->n_disguised == 1 &&
              ag_system_growth(sys)->dims[ag_system_growth(sys)->n - 1] == 5 + ag_system_growth(sys)->in_time;
  AG_CHECK(good);
  if (!good) {
    ag_text out = {0};
    ag_ctx_render(&ctx, &out);
    fprintf(stderr, "%s%s", text, ag_text_cstr(&out));
    ag_text_done(&out);
  }
  ag_system_free(sys);
  ag_model_free(m);
  ag_ctx_done(&ctx);
}

/* ---- contradictions ---- */

static const char *const wrong[][2] = {
    {"config x in R, y in R\nlagrangian x'^2 + y'^2\nconstraint x' = y\nconstraint y' = x\nconstraint x' + y' = 0\n",
     "contradicts the constraints before it: no velocity satisfies them all: more constraints (3 equations) than "
     "velocities (2)"},
    {"config x in R\nlagrangian x'^2\nconstraint x' = 1\nholonomic x = 2*t\n", "contradicts"},
    {"config x in R, y in R\nlagrangian x'^2 + y'^2\nholonomic x = y\nholonomic x = y + 1\n",
     "the start positions do not satisfy the constraints"},
};

static void check_wrong(const char *text, const char *says) {
  char whole[1024];
  ag_ctx ctx = {0};
  ag_model *m;
  ag_text out = {0};
  snprintf(whole, sizeof whole, "model m\n%s", text);
  AG_CHECK(derive(whole, &m, &ctx) == NULL);
  ag_ctx_render(&ctx, &out);
  AG_CHECK(strstr(ag_text_cstr(&out), says) != NULL);
  ag_text_done(&out);
  ag_model_free(m);
  ag_ctx_done(&ctx);
}

int main(void) {
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) check_redundant(&cases[i]);
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) check_wrong(wrong[i][0], wrong[i][1]);
  for (size_t i = 0; i < sizeof forces / sizeof *forces; i++) check_forces(forces[i].text, forces[i].says);
  for (size_t i = 0; i < sizeof contacts / sizeof *contacts; i++) check_gap(contacts[i]);
  return ag_check_report();
}
