/* SPDX-License-Identifier: MIT
 * Large models, by name and K: compiled and interpreted runs agree bit for bit; the generated text hardly grows with K
 * where only neighbours act on each other, and with the number of pairs otherwise. Compile times are printed.
 * Arguments: the folders of the models. */
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

static ag_system *derive(const char *folder, const char *name, int K, ag_model **model) {
  char path[1000], number[40], text[20000];
  snprintf(path, sizeof path, "%s/%s.nh", folder, name);
  snprintf(number, sizeof number, "%d", K);
  FILE *f = fopen(path, "rb");
  AG_CHECK(f);
  if (!f) return NULL;
  size_t n = fread(text, 1, sizeof text, f);
  fclose(f);
  ag_ctx ctx = {0};
  ag_system *sys = NULL;
  ag_derive_options options = {0};
  ag_set set = {"K", number};
  ag_status status = ag_lang_read(&ctx, path, text, n, 1, &set, model);
  if (status == AG_OK) status = ag_system_create(&ctx, *model, &options, &sys);
  AG_CHECK(status == AG_OK);
  ag_ctx_done(&ctx);
  return sys;
}

static ag_run_result run_model(const ag_system *sys, double t1, ag_engine engine) {
  ag_ctx ctx = {0};
  ag_run_options o;
  ag_run_result res = {0};
  double *x0 = calloc((size_t)(sys->n_q + sys->n_xi + 1), sizeof *x0);
  ag_run_defaults(&o);
  o.t1 = t1;
  o.every = -1;
  o.engine = engine;
  memcpy(x0, sys->q0, sizeof(double) * (size_t)sys->n_q);
  memcpy(x0 + sys->n_q, sys->xi0, sizeof(double) * (size_t)sys->n_xi);
  AG_CHECK(ag_run(&ctx, sys, sys->params, x0, &o, NULL, &res) == AG_OK);
  free(x0);
  ag_ctx_done(&ctx);
  return res;
}

/* Runs a model both ways. Returns the length of the text of its right-hand side. */
static size_t test_model(const char *folder, const char *name, int K, double t1) {
  ag_model *model = NULL;
  double at = now();
  ag_system *sys = derive(folder, name, K, &model);
  if (!sys) return 0;
  double derived = now() - at;
  at = now();
  ag_run_result a = run_model(sys, t1, AG_ENGINE_INTERPRETED);
  double interpreted = now() - at;
  at = now();
  ag_run_result b = run_model(sys, t1, AG_ENGINE_COMPILED);
  double compiled = now() - at;
  AG_CHECK(a.steps > 1 && a.steps == b.steps && !a.compiled);
  if (!b.compiled) printf("%s: not compiled: %s\n", name, b.engine_note ? b.engine_note : "?");
  AG_CHECK(a.x && b.x && memcmp(a.x, b.x, sizeof(double) * (size_t)(sys->n_q + sys->n_xi)) == 0);
  ag_text text = {0};
  ag_cgen how = {.name = "f"};
  ag_cgen_tape(sys->rhs, &how, &text);
  size_t n = text.n;
  printf("%s, K = %d: %d instructions, %zu bytes; derived in %.2f s, %ld steps interpreted %.3f s, compiled %.3f s in "
         "all\n",
         name, K, sys->rhs->n_instr, n, derived, a.steps, interpreted, compiled);
  ag_text_done(&text);
  ag_run_done(&a);
  ag_run_done(&b);
  ag_system_free(sys);
  ag_model_free(model);
  return n;
}

int main(int argc, char **argv) {
  if (argc != 3) return 2;
  size_t lattice = test_model(argv[1], "lattice", 200, 2), longer = test_model(argv[1], "lattice", 1000, 2);
  AG_CHECK(longer < 2 * lattice);
  size_t chain = test_model(argv[2], "body_chain", 40, 0.05), chain2 = test_model(argv[2], "body_chain", 80, 0.05);
  AG_CHECK(chain2 < chain + chain / 5);
  size_t pairs = test_model(argv[2], "attracting_bodies", 12, 0.1),
         pairs2 = test_model(argv[2], "attracting_bodies", 24, 0.1);
  AG_CHECK(pairs2 < 5 * pairs); /* four times the pairs */
  return ag_check_report();
}
