/* SPDX-License-Identifier: MIT
 * Random programs: the graph, simplified while built, has the values of the definitions. */
#include "expr/graph_internal.h"
#include "expr/random_program.h"

#include "check.h"

enum { N_PROGRAM = 400, N_STEP = 60 };

/* Rounding grows along a program; 60 operations on numbers below 20 lose few digits: 1e-9 is far above what was seen
 * (2e-11) and far below any mistake of a rule. */
static void check_program(uint64_t seed) {
  uint64_t state = seed;
  program p;
  program_make(&p, &state, N_STEP);
  ag_graph *g = ag_graph_create();
  ag_id ids[MAX_PROGRAM], inputs[8];
  program_build(&p, g, ids, inputs);
  for (int round = 0; round < 3; round++) {
    value in[8], v[MAX_PROGRAM];
    double stored[64], result[9 * MAX_PROGRAM];
    program_inputs(&p, &state, in, stored);
    program_run(&p, in, v);
    int fail = ag_evaluate(g, 8, inputs, stored, p.n, ids, result), at = 0;
    bool good = fail == 0;
    for (int i = 0; i < p.n; i++)
      for (int k = 0, n = kind_size(step_kind(&p, i)); k < n; k++, at++) {
        double expected = (double)v[i].v[k];
        if (fabs(expected) > 1e4) continue; /* elsewhere than where the program was made, values may be large */
        bool near = fabs(result[at] - expected) <= 1e-9 * fmax(1, fabs(expected));
        if (!near && good)
          fprintf(stderr, "seed %llu step %d code %d entry %d: %.17g, expected %.17g\n", (unsigned long long)seed, i,
                  p.s[i].op, k, result[at], expected);
        good = good && near;
      }
    AG_CHECK(good);
  }
  ag_graph_free(g);
}

int main(void) {
  for (uint64_t seed = 1; seed <= N_PROGRAM; seed++) check_program(seed);
  return ag_check_report();
}
