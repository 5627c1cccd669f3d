/* SPDX-License-Identifier: MIT
 * Large models, by name and sizes: compiled and interpreted runs agree bit for bit; the generated text hardly grows
 * with K where only neighbours act on each other, and with the number of pairs otherwise; that of sparse solves grows
 * by their tables. Constraints hold to 1e-12 of the size of the state, energy to the tolerance of the run, in both
 * closures. Times are printed. Arguments: the folders of the models. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "kern/kern.h"
#include "lang/lang.h"
#include "run/run.h"
#include "tests/check.h"

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static ag_system *derive(const char *folder, const char *name, const ag_set *sets, ag_model **model) {
  char path[1000], text[20000];
  snprintf(path, sizeof path, "%s/%s.nh", folder, name);
  FILE *f = fopen(path, "rb");
  AG_CHECK(f);
  if (!f) return NULL;
  size_t n = fread(text, 1, sizeof text, f);
  fclose(f);
  ag_ctx ctx = {0};
  ag_system *sys = NULL;
  ag_derive_options options = {0};
  ag_status status = ag_lang_read(&ctx, path, text, n, sets[1].name ? 2 : 1, sets, model);
  if (status == AG_OK) status = ag_system_create(&ctx, *model, &options, &sys);
  AG_CHECK(status == AG_OK);
  ag_ctx_done(&ctx);
  return sys;
}

static ag_run_result run_model(const ag_system *sys, double t1, ag_engine engine, bool multipliers) {
  ag_ctx ctx = {0};
  ag_run_options o;
  ag_run_result res = {0};
  double *x0 = calloc((size_t)(ag_system_dims(sys)->x + 1), sizeof *x0);
  ag_run_defaults(&o);
  o.t1 = t1;
  o.every = -1;
  o.engine = engine;
  o.multipliers = multipliers;
  ag_system_state0(sys, x0);
  AG_CHECK(ag_run(&ctx, sys, ag_system_param_values(sys), x0, &o, NULL, &res) == AG_OK);
  free(x0);
  ag_ctx_done(&ctx);
  return res;
}

typedef struct large {
  int folder; /* which argument */
  const char *name;
  ag_set sets[2];
  double t1, grows; /* at most this many times the text of the line before; 0: not compared */
} large;

static const large table[] = {
    {1, "lattice", {{"K", "200"}}, 2, 0},
    {1, "lattice", {{"K", "1000"}}, 2, 2},
    {1, "lattice", {{"K", "4000"}}, 2, 1.5},
    {2, "body_chain", {{"K", "40"}}, 0.05, 0},
    {2, "body_chain", {{"K", "80"}}, 0.05, 1.2},
    {2, "attracting_bodies", {{"K", "12"}}, 0.1, 0},
    {2, "attracting_bodies", {{"K", "24"}}, 0.1, 5}, /* four times the pairs */
    {2, "inerters", {{"K", "200"}}, 2, 0},
    {2, "inerters", {{"K", "1000"}}, 2, 6}, /* five times the places in the mass matrix */
    {2, "joint_chain", {{"K", "25"}}, 0.1, 0},
    {2, "joint_chain", {{"K", "100"}}, 0.1, 5}, /* four times the places in the saddle matrix */
    {2, "trailers", {{"K", "25"}}, 1, 0},
    {2, "trailers", {{"K", "100"}}, 1, 5},
    {2, "cart_pendula", {{"K", "100"}}, 0.1, 0},
    {2, "cart_pendula", {{"K", "500"}}, 0.1, 6}, /* the cart is a hub: without care the places would grow like K^2 */
    {2, "link_net", {{"W", "5"}, {"H", "4"}}, 0.2, 0},
    {2, "link_net", {{"W", "25"}, {"H", "40"}}, 0.02, 0}, /* 1000 masses; the factor fills up like K log K */
};

/* Constraints and energy along a run, and the same end from the other closure. */
static void check_motion(const large *c, const ag_system *sys, const ag_run_result *a) {
  double size = 1, energy = fabs(a->energy0);
  for (int i = 0; i < ag_system_dims(sys)->x; i++) size = fmax(size, fabs(a->x[i]));
  AG_CHECK(a->end == AG_END_TIME && a->residual_max <= 1e-12 * size);
  AG_CHECK(a->energy_drift <= 1e-9 * fmax(1, energy)); /* rtol 1e-10, some steps */
  if (!ag_system_dims(sys)->lambda) return;
  AG_CHECK(ag_system_elimination(sys) == AG_ELIM_SADDLE);
  ag_run_result b = run_model(sys, c->t1, AG_ENGINE_INTERPRETED, true);
  for (int i = 0; i < ag_system_dims(sys)->x; i++) AG_CHECK_NEAR(a->x[i], b.x[i], 1e-9);
  ag_run_done(&b);
}

/* Runs a model both ways. Returns the length of the text of its right-hand side. */
static size_t test_model(const char *folder, const large *c) {
  ag_model *model = NULL;
  double at = now();
  ag_system *sys = derive(folder, c->name, c->sets, &model);
  if (!sys) return 0;
  double derived = now() - at;
  at = now();
  ag_run_result a = run_model(sys, c->t1, AG_ENGINE_INTERPRETED, false);
  double interpreted = now() - at;
  at = now();
  ag_run_result b = run_model(sys, c->t1, AG_ENGINE_COMPILED, false);
  double compiled = now() - at;
  AG_CHECK(a.steps > 1 && a.steps == b.steps && !a.compiled);
  if (!b.compiled) printf("%s: not compiled: %s\n", c->name, b.engine_note ? b.engine_note : "?");
  AG_CHECK(a.x && b.x && memcmp(a.x, b.x, sizeof(double) * (size_t)(ag_system_dims(sys)->x)) == 0);
  check_motion(c, sys, &a);
  ag_text text = {0};
  ag_cgen how = {.name = "f"};
  ag_cgen_tape(ag_system_role(sys, AG_ROLE_RHS), &how, &text);
  size_t n = text.n;
  printf("%s, %d velocities: %d instructions, %zu bytes; derived in %.2f s, %ld steps interpreted %.3f s, compiled "
         "%.3f s in all\n",
         c->name, ag_system_dims(sys)->xi, ag_system_role(sys, AG_ROLE_RHS)->n_instr, n, derived, a.steps, interpreted,
         compiled);
  ag_text_done(&text);
  ag_run_done(&a);
  ag_run_done(&b);
  ag_system_free(sys);
  ag_model_free(model);
  return n;
}

int main(int argc, char **argv) {
  if (argc != 3) return 2;
  size_t before = 0;
  for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
    size_t n = test_model(argv[table[i].folder], &table[i]);
    AG_CHECK(n > 0);
    if (table[i].grows > 0) AG_CHECK((double)n < table[i].grows * (double)before);
    before = n;
  }
  return ag_check_report();
}
