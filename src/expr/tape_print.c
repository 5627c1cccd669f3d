/* SPDX-License-Identifier: MIT
 * A tape for reading, and what it costs. */
#include "expr/tape.h"

static const char *const op_name[AG_OP_COUNT] = {
#define NAME_OF(NAME, ...) [AG_OP_##NAME] = #NAME,
#define AG_OP NAME_OF
#define AG_OP_TAPE NAME_OF
#define AG_OP_BARE NAME_OF
#include "expr/op.def"
};

void ag_tape_print(const ag_tape *tape, ag_text *out) {
  for (int i = 0; i < tape->n_instr; i++) {
    const ag_instr *x = &tape->instr[i];
    if (i == tape->n_prep && i > 0) ag_text_str(out, "--\n");
    ag_text_printf(out, "s%u = ", x->dst);
    for (const char *s = op_name[x->op]; *s; s++) ag_text_char(out, (char)(*s >= 'A' && *s <= 'Z' ? *s + 32 : *s));
    if (x->op == AG_OP_LOAD) {
      ag_text_printf(out, " %s[%u]", ag_segment_describe((ag_seg)x->a)->name, x->b);
    } else if (x->op == AG_OP_CONST) {
      ag_text_char(out, ' ');
      ag_text_number(out, tape->constants[x->a]);
    } else if (x->op == AG_OP_CALL_SOLVE) {
      ag_text_printf(out, " %u unknowns at s%u", x->a, x->b);
    } else if (x->op == AG_OP_CALL_LDL) {
      ag_text_printf(out, " %d unknowns at s%u", tape->ldls[x->a]->n, x->b);
    } else {
      const uint32_t args[3] = {x->a, x->b, x->c};
      for (int k = 0; k < ag_op_describe((ag_op)x->op)->arity; k++) ag_text_printf(out, " s%u", args[k]);
    }
    ag_text_char(out, '\n');
  }
  ag_text_str(out, "out");
  for (int i = 0; i < tape->n_out; i++) ag_text_printf(out, " s%u", tape->out[i]);
  ag_text_char(out, '\n');
}

/* Each column of L with k entries takes k (k + 1) fused operations and k products; then two triangles. */
int ag_ldl_cost(const ag_ldl *f) {
  const int *col_at = f->table + 3 + 2 * (f->n + 1);
  int64_t cost = 4 * (int64_t)f->n_factor + 2 * f->n;
  for (int j = 0; j < f->n; j++) {
    int64_t k = col_at[j + 1] - col_at[j];
    cost += k * (k + 2);
  }
  return cost < 1000000000 ? (int)cost : 1000000000;
}

int ag_instr_cost(const ag_tape *tape, int op, uint32_t a) {
  int n = (int)a;
  if (op == AG_OP_CALL_SOLVE) return n * (n - 1) * (2 * n - 1) / 3 + 3 * n * n; /* LU, scaling, two triangles */
  if (op == AG_OP_CALL_LDL) return ag_ldl_cost(tape->ldls[a]);
  if (op == AG_OP_FMA || op == AG_OP_FMS || op == AG_OP_FNMA) return 2;
  return op != AG_OP_LOAD && op != AG_OP_CONST && op != AG_OP_COPY;
}

int ag_tape_cost(const ag_tape *tape) {
  int cost = 0;
  for (int i = tape->n_prep; i < tape->n_instr; i++) cost += ag_instr_cost(tape, tape->instr[i].op, tape->instr[i].a);
  return cost;
}
