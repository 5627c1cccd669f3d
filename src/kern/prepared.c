/* SPDX-License-Identifier: MIT
 * The values that an evaluation reads from prep. Where the parameters are known, values that are exactly 1 are not
 * among them: 1*x is x and 1*x + y is x + y to the last bit, so that the text with 1 in their place computes the same
 * with fewer operations. It depends on which values are 1, not on the others. */
#include <stdlib.h>

#include "base/heap.h"
#include "kern/cgen.h"

void ag_cgen_number_prepared(ag_cgen_state *g) {
  const ag_tape *tape = g->tape;
  double *slots = NULL;
  if (g->how->params && tape->n_instr < AG_CGEN_ROLLED) {
    slots = ag_heap_alloc(sizeof *slots * ((size_t)tape->n_slot + 1));
    (void)ag_tape_prep(tape, g->how->params, slots);
  }
  for (uint32_t i = 0; i < g->n_value; i++) {
    ag_cgen_value *v = &g->values[i];
    if (v->chunk >= 0 || v->last < 0 || tape->instr[v->instr].op == AG_OP_CONST) continue; /* constants: written out */
    v->one = slots && slots[v->slot] == 1;
    if (!v->one) v->prep = g->n_prep++;
  }
  free(slots);
}
