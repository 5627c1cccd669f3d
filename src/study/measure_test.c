/* SPDX-License-Identifier: MIT
 * Invariant measures: the divergence against densities from the literature, verdicts on systems with known answers, and
 * on the same systems with a small breaking term. */
#include "check.h"
#include "study/conserve_internal.h"
#include "study/study.h"

static const ag_derive_options derive = {.growth = true};

typedef struct row {
  const char *model, *text; /* text NULL: a shipped model */
  const char *set[2][2];
  ag_conserved verdict;
} row;

#define SLEIGH \
  "model m\nconfig x in R, y in R, phi in S1\nparam a = 0.3\n" \
  "lagrangian 1/2*((x' - a*sin(phi)*phi')^2 + (y' + a*cos(phi)*phi')^2) + 0.2*phi'^2\n" \
  "constraint cos(phi)*y' = sin(phi)*x'\n"
#define SUSLOV \
  "model m\nconfig R in SO3 velocity W\nparam b = 0.3\n" \
  "lagrangian 1/2*dot(W, [[2, 0, b], [0, 1.5, 0], [b, 0, 1]]*W)\nconstraint W[3] = 0\n"
#define PARTICLE "model m\nconfig x in R, y in R, z in R\nlagrangian 1/2*(x'^2 + y'^2 + z'^2) - x*z\n"
#define DRIVEN "model m\nconfig x in R, y in R, z in R\nparam e = 0\nlagrangian 1/2*(x'^2 + y'^2 + z'^2) - x*sin(t)\n"
#define FRICTION "force x' = -0.1*x'\n"

static const row rows[] = {
    {"chaplygin_ball", NULL, {{0}}, AG_CONSERVED_YES},
    {"veselova", NULL, {{0}}, AG_CONSERVED_YES},
    {"routh_sphere", NULL, {{0}}, AG_CONSERVED_YES},
    {"bowl_ball", NULL, {{0}}, AG_CONSERVED_YES},
    {"bowl_ball", NULL, {{"q", "0.1"}}, AG_CONSERVED_YES},
    {"rubber_ellipsoid", NULL, {{0}}, AG_CONSERVED_YES},
    {"falling_disk", NULL, {{0}}, AG_CONSERVED_YES},
    {"rolling_torus", NULL, {{0}}, AG_CONSERVED_YES}, /* without a formula */
    {"rubber_torus", NULL, {{0}}, AG_CONSERVED_YES},
    {"chaplygin_top", NULL, {{0}}, AG_CONSERVED_NO},
    {"rattleback", NULL, {{0}}, AG_CONSERVED_NO},
    {"suslov", NULL, {{0}}, AG_CONSERVED_NO},
    {"roller_racer", NULL, {{0}}, AG_CONSERVED_NO},
    {"two_wheeled_cart", NULL, {{0}}, AG_CONSERVED_NO},
    {"rubber_ball", NULL, {{0}}, AG_CONSERVED_NO},
    {"rubber_ball", NULL, {{"l", "[0, 0, 0]"}}, AG_CONSERVED_YES},
    {"rubber_ball", NULL, {{"l", "[1e-6, 0, 0]"}}, AG_CONSERVED_NO},
    {"rubber_ball", NULL, {{"l", "[0, 0, 0.2]"}, {"J", "[0.35, 0.35, 0.4]"}}, AG_CONSERVED_YES},
    {"sleigh.nh", SLEIGH, {{0}}, AG_CONSERVED_NO},
    {"sleigh.nh", SLEIGH, {{"a", "0"}}, AG_CONSERVED_YES},
    {"sleigh.nh", SLEIGH, {{"a", "1e-9"}}, AG_CONSERVED_NO},
    {"suslov.nh", SUSLOV, {{0}}, AG_CONSERVED_NO},
    {"suslov.nh", SUSLOV, {{"b", "0"}}, AG_CONSERVED_YES},
    {"free.nh", PARTICLE, {{0}}, AG_CONSERVED_YES},
    {"damped.nh", PARTICLE FRICTION, {{0}}, AG_CONSERVED_NO},
    {"affine.nh", PARTICLE "constraint z' = y*x' + 0.3\n", {{0}}, AG_CONSERVED_YES},
    /* explicit time: f may depend on it */
    {"driven.nh", DRIVEN, {{0}}, AG_CONSERVED_YES},
    {"driven.nh", DRIVEN "constraint z' = y*x'\n", {{0}}, AG_CONSERVED_YES},
    {"driven.nh", DRIVEN "constraint z' = y*x' + e*cos(t)*x*y'\n", {{"e", "0"}}, AG_CONSERVED_YES},
    {"driven.nh", DRIVEN "force x' = -0.1*x'\n", {{0}}, AG_CONSERVED_YES}, /* exp(t/10) */
    {"driven.nh", DRIVEN "force x' = -0.1*t*x'\n", {{0}}, AG_CONSERVED_YES},
    {"driven.nh", DRIVEN "force x' = -0.1*y*x'\n", {{0}}, AG_CONSERVED_NO}, /* f_t = y/10, f_y = 0 */
    {"driven.nh", DRIVEN "force x' = -e*y*x'\n", {{"e", "1e-12"}}, AG_CONSERVED_NO},
    {"driven.nh", DRIVEN "force x' = -0.1*x'^3\n", {{0}}, AG_CONSERVED_NO},
    {"sleigh.nh", SLEIGH "force phi' = sin(t)\n", {{0}}, AG_CONSERVED_NO},
    {"sleigh.nh", SLEIGH "force phi' = sin(t)\n", {{"a", "0"}}, AG_CONSERVED_YES},
    {"scaled.nh", PARTICLE "constraint exp(x)*z' = exp(x)*y*x'\n", {{0}}, AG_CONSERVED_YES},
};

static void decide(const row *r) {
  anagyre_model *m = r->text ? anagyre_open_text(r->model, r->text) : anagyre_open(r->model);
  for (int i = 0; i < 2 && r->set[i][0]; i++) (void)anagyre_set(m, r->set[i][0], r->set[i][1]);
  ag_system *sys = ag_api_system(m, &derive);
  ag_conservation c = {0};
  if (!sys) fprintf(stderr, "%s: %s\n", r->model, anagyre_error(m));
  AG_CHECK(sys != NULL);
  AG_CHECK(ag_conserve(&c, ag_api_ctx(m), ag_api_model(m), sys, &(ag_conserve_options){0}) == AG_OK);
  const ag_measure *a = &c.measure;
  bool right = a->verdict == r->verdict;
  if (a->proof == AG_PROOF_WITNESS) right = right && a->lo * a->hi > 0 && a->verdict == AG_CONSERVED_NO;
  else right = right && a->proof == AG_PROOF_IDENTITY && a->bound < 1e-20;
  if (!right)
    fprintf(stderr, "%s: %s by %s: %s\n", r->model, ag_conserved_word(a->verdict), ag_proof_word(a->proof), a->reason);
  AG_CHECK(right);
  ag_conservation_done(&c);
  anagyre_close(m);
}

/* f' = -div with f = log(density^2)/2; the observable of a model is the square of its density. */
static void known(const char *name, const char *text) {
  anagyre_model *m = anagyre_open_text(name, text);
  ag_system *sys = ag_api_system(m, &derive);
  if (!sys) fprintf(stderr, "%s: %s\n", name, anagyre_error(m));
  AG_CHECK(sys != NULL);
  ag_geom *x = ag_geom_create(ag_api_model(m), 0);
  ag_probe p;
  int first;
  ag_probe_init(&p, x, sys, NULL, NULL);
  AG_CHECK(ag_probe_points(&p, 0, &first) > 0);
  ag_id square = ag_model_observables(ag_api_model(m))[0].x, rate, unused;
  ag_geom_rate(x, square, &rate, &unused);
  ag_id slope = ag_div(x->g, rate, ag_mul(x->g, ag_num(x->g, 2), square));
  ag_id law = ag_add(x->g, ag_geom_divergence(x, p.rank, p.row), slope);
  AG_CHECK(ag_probe_vanish(&p, 1, &law, false, NULL) == AG_TRUTH_YES);
  AG_CHECK(ag_probe_vanish(&p, 1, &slope, false, NULL) == AG_TRUTH_NO);
  ag_probe_done(&p);
  ag_geom_free(x);
  anagyre_close(m);
}

int main(void) {
  /* Chaplygin 1903: in (Omega, Gamma); the rows are x' - ... = 0, so that Omega are the velocities left */
  known("ball.nh",
        "model ball\nconfig x in R^2, R in SO3 velocity W\nlet G = R^T*e3, w = R*W, A = diag(1.5 + 0.7, 2 + 0.7, 3 + "
        "0.7)\n"
        "lagrangian 1/2*dot(x', x')*0.7 + 1/2*dot(W, diag(1.5, 2, 3)*W)\n"
        "constraint x'[1] = w[2]\nconstraint x'[2] = -w[1]\nobservable square = 1 - 0.7*dot(G, inverse(A)*G)\n");
  /* Veselova: G.W = 0 in all of (W, G) */
  known("veselova.nh",
        "model v\nconfig R in SO3 velocity W\nlet G = R^T*e3\nlagrangian 1/2*dot(W, diag(1.5, 2, 3)*W) - G[1]\n"
        "constraint dot(G, W) = 0\nobservable square = dot(G, inverse(diag(1.5, 2, 3))*G)\n");
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) decide(&rows[i]);
  return ag_check_report();
}
