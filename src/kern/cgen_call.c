/* SPDX-License-Identifier: MIT
 * The calls made by the functions of a tape, and their parameters: solvers of linear systems with their arrays, and the
 * parameters of the functions themselves. */
#include <stdio.h>

#include "kern/cgen.h"

/* ---- solves ---- */

enum { STACK = 16384 }; /* longer arrays are not put on the stack */

bool ag_cgen_is_call(uint16_t op) { return op == AG_OP_CALL_SOLVE || op == AG_OP_CALL_LDL; }

uint32_t ag_cgen_results(const ag_tape *tape, const ag_instr *x) {
  return x->op == AG_OP_CALL_LDL ? (uint32_t)tape->ldls[x->a]->n : x->a;
}

uint32_t ag_cgen_args(const ag_tape *tape, const ag_instr *x) {
  if (x->op == AG_OP_CALL_SOLVE) return x->a * x->a + x->a;
  return (uint32_t)(tape->ldls[x->a]->n_entry + tape->ldls[x->a]->n);
}

uint32_t ag_cgen_result_at(const ag_tape *tape, const ag_instr *x) {
  return ag_cgen_args(tape, x) - ag_cgen_results(tape, x);
}

static uint32_t room_size(const ag_tape *tape, const ag_instr *x) {
  return x->op == AG_OP_CALL_LDL ? (uint32_t)tape->ldls[x->a]->n_block : ag_cgen_args(tape, x);
}

/* One per thread. It is in a separate function, and its location is hidden from the compiler (volatile): clang 14 looks
 * it up again and again, also in loops, and assumes that this leaves the upper half of the AVX-512 registers untouched,
 * which is wrong the first time. */
void ag_cgen_put_storage(const char *of, const char *array, uint32_t n, ag_text *out) {
  if (n <= STACK) return;
  ag_text_printf(out,
                 "static __attribute__((noinline)) V *%s_%s_room(void) {\n  static AG_THREAD V room[%u];\n  V "
                 "*volatile at = room;\n  return at;\n}\n\n",
                 of, array, n);
}

void ag_cgen_put_array(const char *of, const char *array, uint32_t n, ag_text *out) {
  if (n <= STACK) ag_text_printf(out, "V %s[%u]", array, n);
  else ag_text_printf(out, "V *const %s = %s_%s_room()", array, of, array);
}

static void room_name(uint32_t instr, char name[16]) { snprintf(name, 16, "m%u", instr); }

void ag_cgen_put_room(const ag_tape *tape, uint32_t instr, const char *name, ag_text *out) {
  char array[16];
  room_name(instr, array);
  ag_cgen_put_array(name, array, room_size(tape, &tape->instr[instr]), out);
}

void ag_cgen_put_call(const ag_tape *tape, uint32_t instr, const char *name, ag_text *out) {
  const ag_instr *x = &tape->instr[instr];
  if (x->op == AG_OP_CALL_SOLVE) ag_text_printf(out, "v_solve(%u, m%u, &fail);\n", x->a, instr);
  else ag_text_printf(out, "v_ldl(%s_ldl%u, m%u, v_nan(), &fail);\n", name, x->a, instr);
}

void ag_cgen_put_tables(const ag_tape *tape, const char *name, ag_text *out) {
  char array[16];
  for (int i = 0; i < tape->n_instr; i++)
    if (ag_cgen_is_call(tape->instr[i].op)) {
      room_name((uint32_t)i, array);
      ag_cgen_put_storage(name, array, room_size(tape, &tape->instr[i]), out);
    }
  for (int i = 0; i < tape->n_ldl; i++) {
    const ag_ldl *f = tape->ldls[i];
    ag_text_printf(out, "static const int %s_ldl%d[%d] = {", name, i, f->n_table);
    for (int k = 0; k < f->n_table; k++) ag_text_printf(out, "%s%d", k == 0 ? "" : k % 24 ? "," : ",\n", f->table[k]);
    ag_text_str(out, "};\n\n");
  }
}

/* ---- parameters ---- */

bool ag_cgen_passes(const ag_tape *tape, bool prep, ag_seg seg) {
  const ag_segment *s = ag_segment_describe(seg);
  return s->prep == prep && (s->always || tape->n_need[seg] > 0);
}

/* The segments that a function of the tape gets, each written by the format. */
static void put_segments(const ag_tape *tape, bool prep, const char *format, ag_text *out) {
  for (int i = 0; i < AG_SEG_COUNT; i++)
    if (ag_cgen_passes(tape, prep, (ag_seg)i)) ag_text_printf(out, format, ag_segment_describe((ag_seg)i)->name);
}

void ag_cgen_put_parameters(const ag_tape *tape, bool prep, bool s, ag_text *out) {
  put_segments(tape, prep, "const V *restrict %s, ", out);
  if (!prep) ag_text_str(out, "const V *restrict prep,\n    ");
  if (s) ag_text_str(out, "V *restrict s, ");
  ag_text_printf(out, "V *restrict %s, VI *restrict failed", prep ? "prep" : "out");
}

void ag_cgen_put_arguments(const ag_tape *tape, bool prep, ag_text *out) {
  put_segments(tape, prep, "%s, ", out);
  ag_text_str(out, prep ? "s, prep, failed" : "prep, s, out, failed");
}

void ag_cgen_put_unused(const ag_tape *tape, bool prep, bool s, ag_text *out) {
  if (s) ag_text_str(out, "  (void)s;\n");
  ag_text_str(out, "  ");
  put_segments(tape, prep, "(void)%s, ", out);
  ag_text_str(out, prep ? "(void)prep, (void)failed;\n" : "(void)prep, (void)out, (void)failed;\n");
}
