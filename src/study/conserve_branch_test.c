/* SPDX-License-Identifier: MIT
 * Equations with branches (if, min, max, abs): what holds on every branch is proved, what breaks on one of them is
 * refuted. Branches that parameters exclude do not count. */
#include <string.h>

#include "check.h"
#include "study/study.h"

static const ag_derive_options derive = {.growth = true};

typedef struct row {
  const char *text, *name;
  ag_conserved verdict;
  ag_proof proof;
} row;

#define SPRING(more) \
  "model m\nparam m = 2, k = 3\nconfig x in R, y in R\n" \
  "lagrangian m/2*(x'^2 + y'^2) - (if x > 0 then k*x^2/2 else 0) - y^2" more "\n" \
  "candidate Ey = m*y'^2/2 + y^2, Ex = m*x'^2/2 + (if x > 0 then k*x^2/2 else 0), p = y'\nstart x = 1, y = 1\n"
#define BLADE(more) \
  "model m\nparam k = 0.5\nconfig x in R, y in R, z in R\n" \
  "lagrangian 1/2*(x'^2 + y'^2 + z'^2) - max(x, 0)^2 - abs(x)*x" more "\nconstraint z' = x*y'\n" \
  "candidate C = y'*sqrt(1 + x^2), v = x'\nstart x = 1, x' = -1\n"

/* Dry friction: the heading comes to rest and stays so. Then abs(h') + mu t grows, though its rate is 0 on both sides.
 */
#define DRY \
  "model m\nparam mu = 0.2\nconfig x in R, y in R, h in S1\nlagrangian x'^2 + y'^2 + h'^2/2\n" \
  "force h' = -mu*sign(h')\nconstraint y'*cos(h) = x'*sin(h)\nstart x' = 1, h' = 1\n" \
  "candidate v = x'*cos(h) + y'*sin(h), w = abs(h') + mu*t, r = sqrt(h'^2) + mu*t, q = h'*sign(h') + mu*t\n"
#define YES AG_CONSERVED_YES
#define NO AG_CONSERVED_NO
static const row rows[] = {
    {SPRING(""), "energy", YES, AG_PROOF_IDENTITY},
    {SPRING(""), "Ey", YES, AG_PROOF_IDENTITY},
    {SPRING(""), "Ex", YES, AG_PROOF_NUMERICAL}, /* that it is continuous was seen, not proved */
    {SPRING(""), "p", NO, AG_PROOF_WITNESS},
    {SPRING(" - 1e-9*max(x, 0)*y"), "Ey", NO, AG_PROOF_WITNESS},
    {BLADE(""), "C", YES, AG_PROOF_IDENTITY},
    {BLADE(""), "linear 1", YES, AG_PROOF_IDENTITY}, /* the same, found */
    {BLADE(""), "v", NO, AG_PROOF_WITNESS},
    {BLADE(" - 1e-9*min(x, 0)*y"), "C", NO, AG_PROOF_WITNESS},
    {DRY, "v", YES, AG_PROOF_IDENTITY},
    {DRY, "w", AG_CONSERVED_UNDECIDED, AG_PROOF_NONE},
    {DRY, "r", AG_CONSERVED_UNDECIDED, AG_PROOF_NONE},
    {DRY, "q", AG_CONSERVED_UNDECIDED, AG_PROOF_NONE},
    {BLADE(" - (if k > 1 then y else 0)"), "C", YES, AG_PROOF_IDENTITY},
    {BLADE(" - (if k < 1 then y else 0)"), "C", NO, AG_PROOF_WITNESS},
};

static const ag_quantity *find(const ag_conservation *c, const char *name) {
  for (int i = 0; i < c->n; i++)
    if (!strcmp(c->at[i].name, name)) return &c->at[i];
  return NULL;
}

static void verdicts(void) {
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    anagyre_model *m = anagyre_open_text("m.nh", rows[i].text);
    ag_system *sys = ag_api_system(m, &derive);
    if (!sys) fprintf(stderr, "%s\n", anagyre_error(m));
    ag_conservation c;
    AG_CHECK(ag_conserve(&c, ag_api_ctx(m), ag_api_model(m), sys,
                         &(ag_conserve_options){.search = true, .degree = 2}) == AG_OK);
    const ag_quantity *q = find(&c, rows[i].name);
    bool right = q && q->verdict == rows[i].verdict && q->proof == rows[i].proof;
    if (!right) fprintf(stderr, "row %zu: %s %s\n", i, rows[i].name, q ? ag_conserved_word(q->verdict) : "not there");
    AG_CHECK(right && c.rank_R >= 0);
    ag_conservation_done(&c);
    anagyre_close(m);
  }
}

/* Koiller's ball with its caps cut off: ell = N Omega_3 through the corners of the meridian. */
static void truncated(void) {
  anagyre_model *m = anagyre_open("truncated_ball");
  ag_system *sys = ag_api_system(m, &derive);
  ag_conservation c;
  AG_CHECK(ag_conserve(&c, ag_api_ctx(m), ag_api_model(m), sys, &(ag_conserve_options){0}) == AG_OK);
  const ag_quantity *q = find(&c, "ell");
  AG_CHECK(q && q->verdict == AG_CONSERVED_YES && q->proof == AG_PROOF_IDENTITY);
  AG_CHECK(q->class && !strcmp(q->class, "gauge momentum, generator in D"));
  AG_CHECK(c.dimension == 5 && c.rank_D == 2 && c.rank_R == 3);
  ag_conservation_done(&c);
  anagyre_close(m);
}

/* What cannot be read exactly says why: an egg on a ball needs Newton steps. */
static void unreadable(void) {
  anagyre_model *m = anagyre_open_text("m.nh", "model m\n"
                                               "body egg mass 1 inertia diag(0.02, 0.025, 0.03)\n"
                                               "  surface ellipsoid(0.3, 0.25, 0.2)\n"
                                               "roll egg outside sphere(1)\nlagrangian -norm(egg.x)\n"
                                               "start egg.x = [0, 0, 1.2]\n");
  ag_system *sys = ag_api_system(m, &derive);
  if (!sys) fprintf(stderr, "%s\n", anagyre_error(m));
  ag_conservation c;
  AG_CHECK(sys && ag_conserve(&c, ag_api_ctx(m), ag_api_model(m), sys, &(ag_conserve_options){0}) == AG_OK);
  AG_CHECK(c.unsearched && strstr(c.unsearched, "Newton steps"));
  ag_conservation_done(&c);
  anagyre_close(m);
}

int main(void) {
  verdicts();
  unreadable();
  truncated();
  return ag_check_report();
}
