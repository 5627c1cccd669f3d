/* SPDX-License-Identifier: MIT
 * A tape over enclosures (expr/enclose.h), and over numbers known within a distance (expr/around.h): one statement per
 * operation, in the order of the tape. Constants and prepared values are numbers; outputs behind a solve are unbounded
 * and leave no code. */
#include <stdlib.h>

#include "base/arena.h"
#include "kern/cgen.h"

enum { MOST_AROUND = 300 }; /* instructions of a tape, loads included */

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

/* The two forms: operations on enclosures, and those of expr/around.h. */
typedef struct form {
  const char *type, *basis, *suffix, *letter;
  const char *unknown, *how; /* a value without bounds; what stands before the function */
} form;
static const form enclosed = {"E", "E", "bounds", "e", "e_of(e_whole(), e_whole())", "noinline"};
static const form around = {"A", "V", "around", "a", "a_number(v_nan())", "unused"};

/* Operations that expr/around.h has; the others go through enclosures. */
static bool has_own(uint16_t op) {
  static const uint16_t own[] = {AG_OP_NEG,  AG_OP_ADD, AG_OP_SUB, AG_OP_MUL,      AG_OP_DIV,
                                 AG_OP_SQRT, AG_OP_FMA, AG_OP_FMS, AG_OP_FNMA,     AG_OP_HOLD,
                                 AG_OP_SIN,  AG_OP_COS, AG_OP_ABS, AG_OP_CHECKPOS, AG_OP_CHECKNZ};
  for (size_t i = 0; i < sizeof own / sizeof *own; i++)
    if (own[i] == op) return true;
  return false;
}

static void put_value(const ag_cgen_state *g, const form *f, const bool *needed, uint32_t i, ag_text *out) {
  const ag_cgen_value *v = &g->values[i];
  const ag_instr *x = &g->tape->instr[v->instr];
  if (!needed[v->instr]) {
    ag_text_str(out, f->unknown);
  } else if (x->op == AG_OP_CONST) {
    ag_text_printf(out, "%s_number(v_set(", f->letter);
    ag_cgen_number(g->tape->constants[x->a], out);
    ag_text_str(out, "))");
  } else if (v->chunk < 0) {
    ag_text_printf(out, "%s_number(prep[%d])", f->letter, v->prep);
  } else if (x->op == AG_OP_LOAD) {
    bool number = f == &around && x->a == AG_SEG_C;
    ag_text_printf(out, number ? "a_number(%s[%u])" : "%s[%u]", ag_segment_describe((ag_seg)x->a)->name, x->b);
  } else {
    ag_text_printf(out, "y%u", v->instr);
  }
}

static void put_instr(const ag_cgen_state *g, const form *f, const bool *needed, int i, ag_text *out) {
  const ag_instr *x = &g->tape->instr[i];
  const uint32_t *args = g->args + 3 * i;
  if (x->op == AG_OP_LOAD || x->op == AG_OP_CONST || x->op == AG_OP_COPY || !needed[i]) return;
  bool square = x->op == AG_OP_MUL && x->a == x->b, through = f == &around && !has_own(x->op);
  ag_text_printf(out, "  const %s y%d = %s%s_%s(", f->type, i, through ? "a_of(" : "", through ? "e" : f->letter,
                 square ? "square" : names[x->op]);
  for (int k = 0; k < (square ? 1 : ag_op_describe((ag_op)x->op)->arity); k++) {
    if (k) ag_text_str(out, ", ");
    if (through) ag_text_str(out, "a_e(");
    put_value(g, f, needed, args[k], out);
    if (through) ag_text_str(out, ")");
  }
  ag_text_str(out, through ? "));\n" : ");\n");
}

static void put_form(const ag_cgen_state *g, const form *f, const bool *needed, ag_text *out) {
  const char *type = f->type;
  ag_text_printf(out,
                 "static __attribute__((%s)) void %s_%s(const %s *t, const %s *z, const %s *c, const V *prep, %s "
                 "*out) {\n",
                 f->how, g->how->name, f->suffix, type, type, f->basis, type);
  for (int i = g->tape->n_prep; i < g->tape->n_instr; i++) put_instr(g, f, needed, i, out);
  for (int i = 0; i < g->tape->n_out; i++) {
    ag_text_printf(out, "  out[%d] = ", i);
    put_value(g, f, needed, g->outs[i], out);
    ag_text_str(out, ";\n");
  }
  ag_text_str(out, "  (void)t, (void)z, (void)c, (void)prep, (void)out;\n}\n\n");
}

bool ag_cgen_around(const ag_tape *tape) { return ag_enclose_cost(tape) <= MOST_AROUND; }

void ag_cgen_bounds(const ag_cgen_state *g, ag_text *out) {
  bool *needed = find_needed(g);
  put_form(g, &enclosed, needed, out);
  if (ag_cgen_around(g->tape)) put_form(g, &around, needed, out);
  free(needed);
}
