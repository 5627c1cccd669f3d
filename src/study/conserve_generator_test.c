/* SPDX-License-Identifier: MIT
 * Fields that generate an integral, against those known by hand; the powers of the energy as expressions; integrals
 * with a factor. */
#include <string.h>

#include "check.h"
#include "study/study.h"

static const ag_derive_options derive = {.growth = true};

typedef struct row {
  const char *model, *text, *set; /* shipped or as text; "NAME=0" */
  const char *name, *class, *field, *in_D;
} row;

static const char third[] = "model m\nparam c = 0.7\nconfig x in R, y in R, z in R\n"
                            "lagrangian 1/2*(x'^2 + y'^2 + z'^2)\nconstraint z' + x*y' = c\n"
                            "candidate C = y'*sqrt(1 + x^2), L = y' - c*x + x^2*y' + x'*z\n";
/* Heavy wheels: theta alone is in R; with the same momentum in D where the mass is on the axle. */
static const char disk[] = "model m\nparam I = 2, J = 3\nconfig th in S1, ph in S1, x in R, y in R\n"
                           "lagrangian 1/2*(x'^2 + y'^2) + I/2*th'^2 + J/2*ph'^2\n"
                           "constraint x' = th'*cos(ph)\nconstraint y' = th'*sin(ph)\n"
                           "generator spin: th' = 1\ngenerator head: ph' = 1\n";

static const row rows[] = {
    {NULL, third, NULL, "C", "neither: its generator is not in R, and no gauge symmetry", "y' = sqrt(1 + x^2)", NULL},
    {NULL, third, NULL, "L", "momentum, generator in D", "x' = z, y' = 1, z' = -x", NULL},
    {"cylinder_ball", NULL, "k", "F", "momentum, generator in D", "gamma' = -5/12, W = B^T*e3", NULL},
    {"cylinder_ball", NULL, "k", "K", "gauge momentum, generator in R only",
     "gamma' = -25*z/36, W = B^T*[5*cos(gamma), 5*sin(gamma), 0]", NULL},
    /* p.Pi Y = p.Y holds on linear constraints: 2/3 (d_theta + cos d_x + sin d_y) has the momentum 2 th' of d_theta */
    {NULL, disk, NULL, "spin", "momentum, generator in R only", "th' = 1",
     "th' = I/(1 + I), x' = I*cos(ph)/(1 + I), y' = I*sin(ph)/(1 + I)"},
    {NULL, disk, NULL, "head", "momentum, generator in D", "ph' = 1", "ph' = 1"},
};

static bool same(const char *a, const char *b) { return a && b && !strcmp(a, b); }

static void fields(void) {
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    const row *r = &rows[i];
    anagyre_model *m = r->text ? anagyre_open_text("m.nh", r->text) : anagyre_open(r->model);
    if (r->set) (void)anagyre_set(m, r->set, "0");
    ag_conservation c;
    ag_system *sys = ag_api_system(m, &derive);
    if (!sys) fprintf(stderr, "%s\n", anagyre_error(m));
    AG_CHECK(sys && ag_conserve(&c, ag_api_ctx(m), ag_api_model(m), sys, &(ag_conserve_options){0}) == AG_OK);
    const ag_quantity *q = NULL;
    for (int k = 0; k < c.n; k++)
      if (!strcmp(c.at[k].name, r->name)) q = &c.at[k];
    bool right = q && same(q->class, r->class) && same(q->field, r->field);
    right = right && (!r->in_D || (same(q->field_in_D, r->in_D) && q->projected));
    if (!right && q)
      fprintf(stderr, "%s: %s; %s; %s\n", r->name, q->class ? q->class : "-", q->field ? q->field : "-",
              q->field_in_D ? q->field_in_D : "-");
    AG_CHECK(right);
    ag_conservation_done(&c);
    anagyre_close(m);
  }
}

/* dE/dt = -c x' y'/(1 + x^2) of the third class; I/(I + a^2) (a + r)/r Omega V_gamma in the cylinder (FS, corrected),
 * with the field eta of that factor along gamma. */
static void powers(void) {
  anagyre_model *m[2] = {anagyre_open_text("m.nh", third), anagyre_open("cylinder_ball")};
  static const char *const power[] = {"-c*x'*y'/(1 + x^2)", "-17*sin(gamma)/210"}; /* 34/105 times -k sin, k = 1/4 */
  for (int i = 0; i < 2; i++) {
    ag_conservation c;
    ag_system *sys = ag_api_system(m[i], &derive);
    AG_CHECK(ag_conserve(&c, ag_api_ctx(m[i]), ag_api_model(m[i]), sys, &(ag_conserve_options){0}) == AG_OK);
    AG_CHECK(same(c.constraint_formula, power[i]));
    if (i == 1) AG_CHECK(same(c.eta[0], "0") && same(c.eta[1], "34/105") && same(c.eta[4], "68*(B^T*e3)[3]/35"));
    ag_conservation_done(&c);
    anagyre_close(m[i]);
  }
}

/* det(S M^-1 S^T) = (1 + x^4)(1 + x^2)(1 - x^2 + x^4), of degree 10: one integral has the first factor, one the two
 * others. */
static void factors(void) {
  static const char text[] = "model m\nconfig x in R, y in R, z in R, a in R, b in R\n"
                             "lagrangian 1/2*(x'^2 + y'^2 + z'^2 + a'^2 + b'^2) - x^2\n"
                             "constraint z' = x^3*y'\nconstraint b' = x^2*a'\n";
  anagyre_model *m = anagyre_open_text("m.nh", text);
  ag_system *sys = ag_api_system(m, &derive);
  ag_conservation c;
  ag_conserve_options o = {.search = true, .degree = -1};
  AG_CHECK(ag_conserve(&c, ag_api_ctx(m), ag_api_model(m), sys, &o) == AG_OK);
  int found = 0;
  for (int i = 0; i < c.n; i++)
    if (same(c.at[i].kind, "linear integral") && c.at[i].proof == AG_PROOF_IDENTITY)
      found += same(c.at[i].formula, "a'*sqrt(1 + x^4)") + 2 * same(c.at[i].formula, "y'*sqrt(1 + x^6)");
  AG_CHECK(found == 3 && c.twisted == 2);
  ag_conservation_done(&c);
  anagyre_close(m);
}

int main(void) {
  factors();
  fields();
  powers();
  return ag_check_report();
}
