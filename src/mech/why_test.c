/* SPDX-License-Identifier: MIT
 * Why a motion cannot go on: a row that vanishes, singular coordinates, a state that is not finite. */
#include "tests/mech_models.h"

static void expect(ag_model *m, const double *x0, const double *x, const char *said) {
  ag_ctx ctx = {0};
  ag_text text = {0};
  ag_system *sys;
  AG_CHECK(ag_system_create(&ctx, m, &(ag_derive_options){0}, &sys) == AG_OK);
  ag_work *w = ag_work_create(sys, sys->params);
  ag_work_why(w, sys->params, 0, x0, 1, x, &text);
  AG_CHECK(strstr(ag_text_cstr(&text), said) != NULL);
  if (!strstr(ag_text_cstr(&text), said)) fprintf(stderr, "said: %s\n", ag_text_cstr(&text));
  ag_text_done(&text);
  ag_work_free(w);
  ag_system_free(sys);
  ag_model_free(m);
  ag_ctx_done(&ctx);
}

/* Polar coordinates, T = (r'^2 + r^2 phi'^2)/2: singular at r = 0. */
static ag_model *polar(void) {
  ag_model *m = ag_model_create("polar");
  ag_graph *g = m->graph;
  int r = scalar(m, "r", AG_SPACE_R), phi = scalar(m, "phi", AG_SPACE_S1);
  ag_id speed = ag_mul(g, m->coords[r].q, m->coords[phi].xi),
        sum = ag_add(g, ag_mul(g, m->coords[r].xi, m->coords[r].xi), ag_mul(g, speed, speed));
  m->lagrangian = ag_mul(g, ag_num(g, 0.5), sum);
  start_at(m, false, r, -1, 1);
  return m;
}

/* A force sqrt(1 - x): no value beyond x = 1. */
static ag_model *root(void) {
  ag_model *m = ag_model_create("root");
  ag_graph *g = m->graph;
  int x = scalar(m, "x", AG_SPACE_R);
  ag_id v = m->coords[x].xi, left = ag_sub(g, ag_num(g, 1), m->coords[x].q);
  m->lagrangian = ag_mul(g, ag_num(g, 0.5), ag_mul(g, v, v));
  AG_MODEL_PUSH(m, forces, ((ag_assign){x, -1, ag_apply1(g, AG_OP_SQRT, left), {0}, false}));
  return m;
}

/* T = x'^2/(2 (1 - x)) for positions near 1, where the inertia is infinite, and far from it; also with the potential
 * 1/(1 - x). */
static void check_singular(bool potential) {
  ag_ctx ctx = {0};
  ag_model *m = ag_model_create("growing");
  ag_graph *g = m->graph;
  int x = scalar(m, "x", AG_SPACE_R);
  ag_id v = m->coords[x].xi, left = ag_sub(g, ag_num(g, 1), m->coords[x].q);
  m->lagrangian = ag_mul(g, ag_num(g, 0.5), ag_div(g, ag_mul(g, v, v), left));
  if (potential) m->lagrangian = ag_sub(g, m->lagrangian, ag_div(g, ag_num(g, 1), left));
  ag_system *sys;
  AG_CHECK(ag_system_create(&ctx, m, &(ag_derive_options){0}, &sys) == AG_OK);
  ag_work *w = ag_work_create(sys, sys->params);
  const double none[2] = {0, 0}, atol[2] = {1e-8, 0}, far[2] = {0.999, 2}, still[2] = {1 - 1e-13, 0},
               near[2] = {1 - 1e-13, 1e-9}, at[2] = {1, 1e-9};
  ag_text text = {0};
  AG_CHECK(!ag_work_singular(w, 0, far, none, &text) && text.n == 0);
  AG_CHECK(!ag_work_singular(w, 0, still, none, NULL)); /* nothing moves, nothing depends on it */
  AG_CHECK(ag_work_singular(w, 0, near, none, NULL) &&
           !ag_work_singular(w, 0, at, none, NULL)); /* that one is not finite */
  AG_CHECK(ag_work_singular(w, 0, near, none, &text) && strstr(text.s, "without bound as x nears 1: "));
  const double known[2] = {1 - 1e-4, 1}, less[2] = {1 - 1e-6, 1};
  AG_CHECK(!ag_work_singular(w, 0, known, atol, NULL) && ag_work_singular(w, 0, less, atol, NULL));
  ag_text_done(&text);
  ag_work_free(w);
  ag_system_free(sys);
  ag_model_free(m);
  ag_ctx_done(&ctx);
}

/* T = x'^2/2, V = 1/(1 - x): the force is infinite at x = 1, the inertia is not. */
static void check_pole(void) {
  ag_ctx ctx = {0};
  ag_model *m = ag_model_create("pole");
  ag_graph *g = m->graph;
  int x = scalar(m, "x", AG_SPACE_R);
  ag_id v = m->coords[x].xi, left = ag_sub(g, ag_num(g, 1), m->coords[x].q);
  m->lagrangian = ag_sub(g, ag_mul(g, ag_num(g, 0.5), ag_mul(g, v, v)), ag_div(g, ag_num(g, 1), left));
  ag_system *sys;
  AG_CHECK(ag_system_create(&ctx, m, &(ag_derive_options){0}, &sys) == AG_OK);
  ag_work *w = ag_work_create(sys, sys->params);
  const double none[2] = {0, 0};
  for (double v0 = 1e-6; v0 < 1e6; v0 *= 10)
    for (double h = 1e-15; h < 1; h *= 10) AG_CHECK(!ag_work_singular(w, 0, (double[]){1 - h, v0}, none, NULL));
  ag_work_free(w);
  ag_system_free(sys);
  ag_model_free(m);
  ag_ctx_done(&ctx);
}

int main(void) {
  check_singular(false), check_singular(true), check_pole();
  const double circle0[4] = {1, 0, 0, 0.5}, centre[4] = {0, 0, 0, 0.5}, none[4] = {NAN, 0, 0, 0};
  expect(disguised(), circle0, centre, "vanishes, all its coefficients are 0");
  expect(disguised(), circle0, none, "the state is not finite");
  const double polar0[4] = {1, 0, -1, 0.1}, pole[4] = {1e-12, 0.3, -1, 0.1};
  expect(polar(), polar0, pole, "the mass matrix becomes singular here in the direction of phi': the coordinates are");
  const double far[4] = {1e9, 0.3, 1e9, 0.1};
  expect(polar(), polar0, far, "grows without bound");
  const double root0[2] = {0, 1}, near[2] = {0.99, 1};
  expect(root(), root0, near, "the equations have no value ahead, at t = 1.015625 with");
  return ag_check_report();
}
