/* SPDX-License-Identifier: MIT
 * A tape over enclosures (expr/enclose.h): one statement per operation, in the order of the tape. Constants and
 * prepared values are numbers; outputs behind a solve are unbounded and leave no code. */
#include <stdlib.h>

#include "base/arena.h"
#include "kern/cgen.h"

static const char *const names[] = {
#define AG_OP(NAME, ...) [AG_OP_##NAME] = #NAME,
#define AG_OP_TAPE(NAME, ...) [AG_OP_##NAME] = #NAME,
#include "expr/op.def"
};

/* Per instruction: does an output that has bounds need it? No solve is among them. */
static bool *find_needed(const ag_cgen_state *g) {
  const ag_tape *tape = g->tape;
  bool *bounded = ag_heap_alloc((size_t)tape->n_out + 1), *needed = ag_heap_alloc((size_t)tape->n_instr + 1);
  ag_enclose_bounded(tape, bounded);
  for (int i = 0; i < tape->n_out; i++)
    if (bounded[i]) needed[g->values[g->outs[i]].instr] = true;
  for (int i = tape->n_instr - 1; i >= tape->n_prep; i--) {
    uint16_t op = tape->instr[i].op;
    for (int k = 0; needed[i] && op != AG_OP_COPY && k < ag_op_describe((ag_op)op)->arity; k++)
      needed[g->values[g->args[3 * i + k]].instr] = true; /* copies are followed already */
  }
  free(bounded);
  return needed;
}

static void put_value(const ag_cgen_state *g, const bool *needed, uint32_t i, ag_text *out) {
  const ag_cgen_value *v = &g->values[i];
  const ag_instr *x = &g->tape->instr[v->instr];
  if (!needed[v->instr]) {
    ag_text_str(out, "e_of(e_whole(), e_whole())");
  } else if (x->op == AG_OP_CONST) {
    ag_text_str(out, "e_number(v_set(");
    ag_cgen_number(g->tape->constants[x->a], out);
    ag_text_str(out, "))");
  } else if (v->chunk < 0) {
    ag_text_printf(out, "e_number(prep[%d])", v->prep);
  } else if (x->op == AG_OP_LOAD) {
    ag_text_printf(out, "%s[%u]", ag_segment_describe((ag_seg)x->a)->name, x->b);
  } else {
    ag_text_printf(out, "y%u", v->instr);
  }
}

static void put_instr(const ag_cgen_state *g, const bool *needed, int i, ag_text *out) {
  const ag_instr *x = &g->tape->instr[i];
  const uint32_t *args = g->args + 3 * i;
  if (x->op == AG_OP_LOAD || x->op == AG_OP_CONST || x->op == AG_OP_COPY || !needed[i]) return;
  bool square = x->op == AG_OP_MUL && x->a == x->b;
  ag_text_printf(out, "  const E y%d = %s%s(", i, square ? "e_square" : "e_", square ? "" : names[x->op]);
  for (int k = 0; k < (square ? 1 : ag_op_describe((ag_op)x->op)->arity); k++) {
    if (k) ag_text_str(out, ", ");
    put_value(g, needed, args[k], out);
  }
  ag_text_str(out, ");\n");
}

void ag_cgen_bounds(const ag_cgen_state *g, ag_text *out) {
  ag_text_printf(out,
                 "static __attribute__((noinline)) void %s_bounds(const E *t, const E *z, const E *c, const V *prep, E "
                 "*out) {\n",
                 g->how->name);
  bool *needed = find_needed(g);
  for (int i = g->tape->n_prep; i < g->tape->n_instr; i++) put_instr(g, needed, i, out);
  for (int i = 0; i < g->tape->n_out; i++) {
    ag_text_printf(out, "  out[%d] = ", i);
    put_value(g, needed, g->outs[i], out);
    ag_text_str(out, ";\n");
  }
  free(needed);
  ag_text_str(out, "  (void)t, (void)z, (void)c, (void)prep, (void)out;\n}\n\n");
}
