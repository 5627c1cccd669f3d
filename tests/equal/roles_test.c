/* SPDX-License-Identifier: MIT
 * The compiled code of every role of every model in the folder given: the same bits as the interpreter, at states near
 * the start. */
#include "run/coder.h"
#include "tests/each_model.h"

enum { STATES = 4 };

/* All NaN count as equal. */
static bool same(int n, const double *a, const double *b) {
  for (int i = 0; i < n; i++)
    if (memcmp(&a[i], &b[i], sizeof *a) != 0 && !(isnan(a[i]) && isnan(b[i]))) return false;
  return true;
}

static double *numbers(int n) { return calloc((size_t)n + 1, sizeof(double)); }

/* Numbers of the size of coordinates and velocities; code need not know that they are a state of the system. */
static void fill(int n, double *v, int seed) {
  for (int i = 0; i < n; i++) v[i] = cos(1.7 * i + 2.3 * seed) + 0.1 * seed;
}

static void check_role(const ag_system *sys, int role, const ag_code *code) {
  const ag_tape *tape = ag_system_role(sys, role);
  const double *p = ag_system_param_values(sys);
  double *slots = numbers(tape->n_slot), *prep = numbers(code->n_prep), *a = numbers(tape->n_out),
         *b = numbers(tape->n_out), *own[AG_SEG_COUNT];
  for (int k = 0; k < AG_SEG_COUNT; k++) own[k] = numbers(tape->n_need[k]);
  (void)ag_tape_prep(tape, p, slots);
  code->prep(code->self, p, prep);
  for (int i = 0; i < STATES; i++) {
    const double *seg[AG_SEG_COUNT];
    for (int k = 0; k < AG_SEG_COUNT; k++) {
      fill(tape->n_need[k], own[k], i + STATES * k);
      seg[k] = k == AG_SEG_P ? p : own[k];
    }
    int failed = ag_tape_eval(tape, seg, slots, a);
    AG_CHECK(failed == code->eval(code->self, seg, prep, b));
    AG_CHECK(same(tape->n_out, a, b));
  }
  for (int k = 0; k < AG_SEG_COUNT; k++) free(own[k]);
  free(slots), free(prep), free(a), free(b);
}

/* How many roles have code. */
static int check_system(ag_system *sys) {
  ag_role_coder *coder = ag_role_coder_create(sys, NULL);
  ag_coder asked = ag_role_coder_of(coder);
  int n = 0;
  for (int role = 0; role < AG_ROLE_SECTION + ag_model_n_sections(ag_system_model(sys)); role++) {
    if (!ag_system_role(sys, role)) continue;
    const ag_code *code = asked.find(asked.self, role, true);
    AG_CHECK(code != NULL);
    if (!code) continue;
    check_role(sys, role, code);
    n++;
  }
  ag_role_coder_free(coder);
  return n;
}

int main(int argc, char **argv) {
  AG_CHECK(argc == 2);
  AG_CHECK(argc == 2 && each_model(argv[1], check_system) > 300);
  return ag_check_report();
}
