/* SPDX-License-Identifier: MIT
 * Integrals along one shape variable: how many there are, their tables against closed forms, and their drift along
 * motions. What breaks them by 1e-12 leaves none. Integrals with a root of a factor of a determinant. */
#include <math.h>

#include "check.h"
#include "study/conserve_internal.h"
#include "study/study.h"

static const ag_derive_options derive = {.growth = true};

typedef struct lab {
  anagyre_model *m;
  ag_conservation c;
} lab;

static lab open_lab(const char *name, const char *text) {
  lab l = {text ? anagyre_open_text(name, text) : anagyre_open(name), {0}};
  ag_system *sys = ag_api_system(l.m, &derive);
  if (!sys) fprintf(stderr, "%s: %s\n", name, anagyre_error(l.m));
  AG_CHECK(sys != NULL);
  ag_conserve_options o = {.search = true, .degree = 2};
  AG_CHECK(ag_conserve(&l.c, ag_api_ctx(l.m), ag_api_model(l.m), sys, &o) == AG_OK);
  return l;
}

static void close_lab(lab *l) {
  ag_conservation_done(&l->c);
  anagyre_close(l->m);
}

/* Largest drift of the table along a motion from the start. */
static double drift_of(lab *l, double time) {
  double worst = 0;
  AG_CHECK(ag_conserve_confirm(&l->c, ag_api_ctx(l->m), ag_api_system(l->m, &derive), time, 0) == AG_OK);
  for (int i = 0; i < l->c.shape.n; i++) worst = fmax(worst, l->c.shape.drift[i]);
  return worst;
}

/* independent: integrals together, with the energy. The Routh sphere and the Chaplygin ball have formulas. */
static void shipped(void) {
  static const struct {
    const char *name;
    int n, n_new, independent;
  } rows[] = {{"falling_disk", 2, 2, 3}, {"rolling_torus", 2, 2, 3}, {"euler_disk", 2, 2, 3}, {"bowl_ball", 2, 2, 3},
              {"roller_racer", 2, 2, 2}, {"routh_sphere", 0, 0, 3},  {"rattleback", 0, 0, 1}, {"pendulum", 0, 0, 1}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    lab l = open_lab(rows[i].name, NULL);
    const ag_shape *s = &l.c.shape;
    bool right = s->n == rows[i].n && s->n_new == rows[i].n_new && l.c.n_independent == rows[i].independent;
    if (!right)
      fprintf(stderr, "%s: %d integrals, %d new, %d together\n", rows[i].name, s->n, s->n_new, l.c.n_independent);
    AG_CHECK(right);
    /* steps with 1e-12, some hundred of them, coefficients below 10 */
    if (s->n) AG_CHECK(s->bound < 1e-20 && s->n_row > 8 && drift_of(&l, 5) < 1e-9);
    close_lab(&l);
  }
}

static const char *const SLEIGH =
    "model sleigh\n"
    "param m = 2, I = 3, a = 0.7, eps = %s\n"
    "config x in R, y in R, th in S1\n"
    "lagrangian m/2*((x' - a*th'*sin(th))^2 + (y' + a*th'*cos(th))^2) + I/2*th'^2 - eps*cos(th)\n"
    "constraint y'*cos(th) = x'*sin(th)\n"
    "domain th in -1..1\n"
    "start th = 0.2, x' = 0.8, th' = 0.3\n";

/* Of the sleigh v' = a w^2, w' = -k v w: v and w turn with s th, s^2 = a k. */
static void sleigh(void) {
  ag_text text = {0};
  ag_text_printf(&text, SLEIGH, "0");
  lab l = open_lab("sleigh", ag_text_cstr(&text));
  const ag_shape *t = &l.c.shape;
  AG_CHECK(t->n == 2 && t->homogeneous && t->n_new == 2 && !strcmp(t->r_text, "th") && !strcmp(t->w_text[0], "x'"));
  const double a = 0.7, s = sqrt(a * 2 * a / (3 + 2 * a * a)), th0 = 0.2;
  for (int i = 0; i < t->n_row && t->n == 2; i++) {
    const double *row = t->rows + 7 * i, turn = s * (row[0] - th0);
    const double c[4] = {cos(th0) * cos(turn) / cos(row[0]), -cos(th0) * a / s * sin(turn),
                         s / a * sin(turn) / cos(row[0]), cos(turn)};
    for (int k = 0; k < 4; k++) AG_CHECK(fabs(row[1 + k + k / 2] - c[k]) < 1e-10); /* steps with 1e-12 */
    AG_CHECK(row[3] == 0 && row[6] == 0);
  }
  AG_CHECK(drift_of(&l, 3) < 1e-10);
  close_lab(&l);
  ag_text_clear(&text);
  ag_text_printf(&text, SLEIGH, "1e-12");
  l = open_lab("sleigh", ag_text_cstr(&text));
  AG_CHECK(!l.c.shape.n);
  close_lab(&l);
  ag_text_done(&text);
}

/* A drag exp(x) x': x' + exp(x), which no polynomial is. */
static void drag(void) {
  lab l = open_lab("drag", "model drag\nconfig x in R\nlagrangian x'^2/2\nforce x' = -exp(x)*x'\n"
                           "domain x in -1..1\nstart x = 0.5, x' = 0.3\n");
  const ag_shape *t = &l.c.shape;
  AG_CHECK(t->n == 1 && t->n_new == 1 && !t->homogeneous);
  for (int i = 0; i < t->n_row && t->n; i++) {
    const double *row = t->rows + 3 * i;
    AG_CHECK(fabs(row[1] - 1) < 1e-12 && fabs(row[2] - exp(row[0]) + exp(0.5)) < 1e-11); /* steps with 1e-12 */
  }
  close_lab(&l);
}

/* x' sqrt(1 + y^2): two particles, where the determinant is a product; and explicit time, where there is no density.
 * With a force along x of 1e-12 it is none. */
static void factors(void) {
  static const char two[] = "model two\nconfig x in R, y in R, z in R, a in R, b in R, c in R\n"
                            "lagrangian (x'^2 + y'^2 + z'^2 + a'^2 + b'^2 + c'^2)/2\n"
                            "constraint z' = y*x'\nconstraint c' = b*a'\n";
  static const char driven[] = "model driven\nconfig x in R, y in R, z in R\n"
                               "lagrangian (x'^2 + y'^2 + z'^2)/2 - t*y - %s*x\nconstraint z' = y*x'\n";
  lab l = open_lab("two", two);
  AG_CHECK(l.c.linear == 5 && l.c.twisted == 1 && l.c.n_independent == 7);
  close_lab(&l);
  for (int broken = 0; broken < 2; broken++) {
    ag_text text = {0};
    ag_text_printf(&text, driven, broken ? "1e-12" : "0");
    l = open_lab("driven", ag_text_cstr(&text));
    AG_CHECK(l.c.linear == 0 && l.c.twisted == !broken);
    const ag_quantity *last = &l.c.at[l.c.n - 1];
    AG_CHECK(broken || !strcmp(last->formula, "x'*sqrt(1 + y^2)"));
    close_lab(&l);
    ag_text_done(&text);
  }
}

/* The start is at a pole, where r is stationary: the table begins elsewhere. And y/x is a relation, no integral. */
static void special(void) {
  lab l = open_lab("egg", "model egg\nbody b mass 1 inertia diag(0.3, 0.3, 0.5) surface ellipsoid(1, 1, 1.3)\n"
                          "roll b on plane gravity 1\nstart b.Omega = [0.1, 0, 2]\n");
  AG_CHECK(l.c.shape.n == 2 && l.c.shape.n_row == 33 && fabs(l.c.shape.r0) < 1);
  AG_CHECK(drift_of(&l, 3) < 1e-9 && l.c.shape.drift[0] > 0); /* without the first moment */
  close_lab(&l);
  l = open_lab("meridian", "model meridian\nconfig n in S2\nlagrangian dot(n', n')/2 - n[3]\n"
                           "constraint n'[1]*n[2] = n'[2]*n[1]\nstart n = [0.6, 0, 0.8]\n");
  AG_CHECK(l.c.twisted == 0 && l.c.n_independent == 1);
  close_lab(&l);
}

int main(void) {
  special();
  factors();
  shipped();
  sleigh();
  drag();
  return ag_check_report();
}
