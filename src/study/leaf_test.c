/* SPDX-License-Identifier: MIT
 * Points on the leaf: relations with roots, between angles, and both; what holds there is proved, what a small term
 * breaks is refuted, and the ranks are those of the leaf. */
#include <string.h>

#include "check.h"
#include "study/study.h"

static const ag_derive_options derive = {.growth = true};

#define SPHERE(more) \
  "model m\nparam m = 3\nconfig x in R^3\nlagrangian m/2*dot(x', x') - m*norm(x)*x[3]" more \
  "\nholonomic norm(x) = 2\n" \
  "candidate J = x[1]*x'[2] - x[2]*x'[1], g = norm(x), h = dot(x, x)\nstart x = [2, 0, 0], x'[2] = 1\n"
#define LINKS(more) \
  "model m\nconfig a in S1, b in S1, c in S1\nlagrangian a'^2/2 + b'^2/2 + (2 + cos(a))*c'^2" more "\n" \
  "holonomic 3*cos(a) + sin(b) = 3\ncandidate J = (2 + cos(a))*c', g = sin(b) + 3*cos(a), p = a'\n" \
  "start a = 0.1, b = 0.014987502915, c' = 1, a' = 1\ndomain a in -1..1, b in -1..1, c in -3..3\n"
#define CONE(more) \
  "model m\nconfig a in S1, b in S1, c in S1\nlagrangian a'^2/2 + b'^2/2 + (2 + sin(b))*c'^2" more "\n" \
  "holonomic sqrt(1 - sin(a)^2*sin(b)^2) = cos(a) + 0.2*sin(b)\n" \
  "candidate J = (2 + sin(b))*c', g = cos(a) + 0.2*sin(b) - sqrt(1 - sin(a)^2*sin(b)^2), p = b'\n" \
  "start a = 0.4, b = 0.5, c' = 1, a' = 1\ndomain a in 0.2..1, b in 0.2..1, c in -3..3\n"

/* A number that is known to 2 ulp only: the states are balls as wide. */
#define WIDE \
  "model m\nparam r = 2.940552668393864\nconfig x in R^3\nlagrangian dot(x', x')/2 - x[3]^2 - 1e-12*x[2]\n" \
  "holonomic norm(x) = r\ncandidate J = x[1]*x'[2] - x[2]*x'[1], s = dot(x, x)\nstart x = [r, 0, 0], x'[2] = 1\n"

typedef struct row {
  const char *text, *name;
  bool conserved;
  int dimension;
} row;

static const row rows[] = {
    {WIDE, "J", false, 2},      {WIDE, "s", true, 2},
    {SPHERE(""), "J", true, 2}, {SPHERE(""), "g", true, 2},
    {SPHERE(""), "h", true, 2}, {SPHERE(" - 1e-12*x[1]"), "J", false, 2},
    {LINKS(""), "J", true, 2},  {LINKS(""), "g", true, 2},
    {LINKS(""), "p", false, 2}, {LINKS(" - 1e-12*cos(c)"), "J", false, 2},
    {CONE(""), "J", true, 2},   {CONE(""), "g", true, 2},
    {CONE(""), "p", false, 2},  {CONE(" - 1e-12*cos(c)"), "J", false, 2},
};

int main(void) {
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    anagyre_model *m = anagyre_open_text("m.nh", rows[i].text);
    ag_system *sys = ag_api_system(m, &derive);
    if (!sys) fprintf(stderr, "%s\n", anagyre_error(m));
    ag_conservation c;
    AG_CHECK(sys && ag_conserve(&c, ag_api_ctx(m), ag_api_model(m), sys, &(ag_conserve_options){0}) == AG_OK);
    const ag_quantity *q = NULL;
    for (int k = 0; k < c.n; k++)
      if (!strcmp(c.at[k].name, rows[i].name)) q = &c.at[k];
    bool right = q && (rows[i].conserved ? q->verdict == AG_CONSERVED_YES && q->proof == AG_PROOF_IDENTITY
                                         : q->verdict == AG_CONSERVED_NO && q->proof == AG_PROOF_WITNESS);
    right = right && c.dimension == rows[i].dimension && c.rank_D == rows[i].dimension;
    if (!right && q)
      fprintf(stderr, "row %zu, %s: %s, %d %d\n", i, q->name, ag_conserved_word(q->verdict), c.dimension, c.rank_D);
    AG_CHECK(right);
    ag_conservation_done(&c);
    anagyre_close(m);
  }
  return ag_check_report();
}
