/* SPDX-License-Identifier: MIT
 * The mass matrix at the start: singular and negative directions are named; what the constraints forbid, and units, do
 * not matter. */
#include "tests/mech_models.h"

/* No mass in y. */
static ag_model *massless(void) {
  ag_model *m = ag_model_create("massless");
  int x = scalar(m, "x", AG_SPACE_R);
  scalar(m, "y", AG_SPACE_R);
  m->lagrangian = ag_mul(m->graph, m->coords[x].xi, m->coords[x].xi);
  return m;
}

static ag_model *negative(void) {
  ag_model *m = massless();
  m->lagrangian = ag_sub(m->graph, m->lagrangian, ag_mul(m->graph, m->coords[1].xi, m->coords[1].xi));
  return m;
}

/* y follows x, which has a mass. */
static ag_model *carried(void) {
  ag_model *m = massless();
  ag_model_add_constraint(m, ag_sub(m->graph, m->coords[1].xi, m->coords[0].xi), NULL, nowhere);
  return m;
}

/* y in units 1e-9 of those of x. */
static ag_model *small(void) {
  ag_model *m = massless();
  ag_id square = ag_mul(m->graph, m->coords[1].xi, m->coords[1].xi),
        part = ag_mul(m->graph, ag_num(m->graph, 1e-18), square);
  m->lagrangian = ag_add(m->graph, m->lagrangian, part);
  return m;
}

static ag_model *undefined(void) {
  ag_model *m = massless();
  ag_id inverse = ag_div(m->graph, ag_num(m->graph, 1), m->coords[0].q); /* at x = 0 */
  m->lagrangian = ag_mul(m->graph, m->lagrangian, inverse);
  return m;
}

/* Its y is in the Lagrangian, but without a prime. */
static ag_model *unprimed(void) {
  ag_model *m = massless();
  m->lagrangian = ag_add(m->graph, m->lagrangian, ag_mul(m->graph, m->coords[1].q, m->coords[1].q));
  return m;
}

/* x' = y' = 0. */
static ag_model *fixed(void) {
  ag_model *m = carried();
  ag_model_add_constraint(m, m->coords[0].xi, NULL, nowhere);
  return m;
}

/* A free body with the moments 1, 1 and `last`. */
static ag_model *turning(double last) {
  ag_model *m = ag_model_create("turning");
  ag_graph *g = m->graph;
  int R = ag_model_add_coord(m, "R", "Omega", NULL, NULL, 0, AG_SPACE_SO3, 3, nowhere);
  ag_id I = ag_stack(g, 3, 1, (ag_id[]){ag_num(g, 1), ag_num(g, 1), ag_num(g, last)}), w = m->coords[R].xi, sum = 0;
  for (int i = 0; i < 3; i++) {
    ag_id wi = ag_entry(g, w, i, 0), part = ag_mul(g, ag_entry(g, I, i, 0), ag_mul(g, wi, wi));
    sum = i ? ag_add(g, sum, part) : part;
  }
  m->lagrangian = ag_mul(g, ag_num(g, 0.5), sum);
  return m;
}
static ag_model *unreal(void) { return turning(2.001); }
static ag_model *flat(void) { return turning(2); }

static const struct {
  ag_model *(*make)(void);
  const char *said; /* NULL: nothing */
  bool fine;
} cases[] = {
    {massless,
     "the mass matrix is singular at the start on the velocities the constraints allow: see `y'`, which the "
     "Lagrangian does not contain\n",
     false},
    {unprimed, "does not contain; is a prime missing?", false},
    {negative, "the mass matrix is not positive at the start on the velocities the constraints allow: see `y'`", false},
    {undefined, "the mass matrix is not finite at the start", false},
    {fixed, "the constraints leave no freedom: they determine all 2 velocities by themselves", true},
    {unreal, "`Omega` has the principal moments of inertia 2.001, 1 and 1: for a real body", true},
    {flat, NULL, true},
    {carried, NULL, true},
    {small, NULL, true},
};

int main(void) {
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    ag_ctx ctx = {0};
    ag_text text = {0};
    ag_system *sys;
    ag_model *m = cases[i].make();
    bool fine = ag_system_create(&ctx, m, &(ag_derive_options){0}, &sys) == AG_OK;
    ag_ctx_render(&ctx, &text);
    AG_CHECK(fine == cases[i].fine);
    if (cases[i].said) AG_CHECK(strstr(ag_text_cstr(&text), cases[i].said) != NULL);
    else AG_CHECK(!text.n);
    if (fine != cases[i].fine) fprintf(stderr, "%s", ag_text_cstr(&text));
    ag_text_done(&text);
    ag_ctx_done(&ctx);
    ag_system_free(sys);
    ag_model_free(m);
  }
  return ag_check_report();
}
