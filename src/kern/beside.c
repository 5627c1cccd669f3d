/* SPDX-License-Identifier: MIT
 * Moves the checks of pivots out of the computation. A failed check makes everything that depends on it NaN. Evaluated
 * in place, the comparison is on the critical path of a factorisation. Here the pivot is used unchanged, and the
 * outputs that depend on the check are made NaN at the end. This is equivalent if every operation in between propagates
 * NaN, which is verified. */
#include "kern/cgen.h"

/* Does a NaN argument always give a NaN? */
static bool passes_nan(uint16_t op) {
  bool fused = op == AG_OP_FMA || op == AG_OP_FMS || op == AG_OP_FNMA;
  return fused || ag_op_describe((ag_op)op)->traits & AG_PASSES_NAN;
}

bool ag_cgen_is_check(uint16_t op) { return op == AG_OP_CHECKPOS || op == AG_OP_CHECKNZ; }

/* Which checks the arguments of an instruction depend on. */
static uint64_t marks_of(const ag_cgen_state *g, int i, const uint64_t *marks) {
  const ag_instr *x = &g->tape->instr[i];
  const uint32_t *args = g->args + 3 * i;
  uint64_t set = 0;
  if (ag_cgen_is_call(x->op))
    for (uint32_t k = 0; k < ag_cgen_args(g->tape, x); k++) set |= marks[g->lists[args[0] + k]];
  for (int k = 0; k < ag_op_describe((ag_op)x->op)->arity; k++) set |= marks[args[k]];
  return set;
}

int ag_cgen_beside(const ag_cgen_state *g, uint64_t *marks, int *checks) {
  int n = 0;
  for (int i = g->tape->n_prep; i < g->tape->n_instr; i++) {
    const ag_instr *x = &g->tape->instr[i];
    if (x->op == AG_OP_COPY) continue; /* already followed */
    uint64_t set = marks_of(g, i, marks);
    if (set && !passes_nan(x->op)) return 0;
    if (ag_cgen_is_check(x->op)) {
      if (n == AG_CGEN_CHECKS) return 0;
      set |= (uint64_t)1 << n;
      checks[n++] = i;
    }
    if (!ag_cgen_is_call(x->op)) marks[g->result[i]] = set;
  }
  return n;
}
