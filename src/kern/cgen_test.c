/* SPDX-License-Identifier: MIT
 * The text of a small tape, word for word; the same tape gives the same text; what is prepared and what is not. */
#include <stdlib.h>

#include "kern/kern.h"

#include "check.h"

static ag_tape *small_tape(ag_graph **graph) {
  ag_graph *g = ag_graph_create();
  ag_id t = ag_input(g, "t", 1, 1, AG_LEAF_REAL), z = ag_input(g, "z", 3, 1, AG_LEAF_REAL);
  ag_id p = ag_input(g, "p", 1, 1, AG_LEAF_REAL);
  ag_id x = ag_entry(g, z, 0, 0), y = ag_entry(g, z, 1, 0), w = ag_entry(g, z, 2, 0);
  ag_bind binds[3] = {{t, AG_SEG_T, 0}, {z, AG_SEG_Z, 0}, {p, AG_SEG_P, 0}};
  ag_id outs[3], a, b; /* one call at a time: C leaves the order of arguments open, and ids follow it */
  a = ag_apply1(g, AG_OP_SIN, x), b = ag_apply1(g, AG_OP_COS, x);
  outs[0] = ag_mul(g, a, b);
  a = ag_mul(g, y, ag_apply1(g, AG_OP_EXP, p)), b = ag_apply1(g, AG_OP_CHECKPOS, t);
  outs[1] = ag_add(g, a, b);
  a = ag_div(g, ag_num(g, 0.5), w), b = ag_apply2(g, AG_OP_MIN, w, ag_num(g, -2));
  outs[2] = ag_sub(g, a, b);
  *graph = g;
  return ag_tape_create(g, 3, binds, 3, outs);
}

static const char expected[] =
    "static void f_prep(const V *restrict p, V *restrict prep, VI *restrict failed) {\n"
    "  const V x1 = v_exp(p[0]);\n"
    "  prep[0] = x1;\n"
    "  (void)p, (void)prep, (void)failed;\n"
    "}\n"
    "\n"
    "AG_TAPE_FN void f(const V *restrict t, const V *restrict z, const V *restrict c, const V *restrict prep,\n"
    "    V *restrict out, VI *restrict failed) {\n"
    "  VI fail = v_word_set(0);\n"
    "  V x5, x6;\n"
    "  v_sincos(z[0], &x5, &x6);\n"
    "  const V x7 = x5 * x6;\n"
    "  const V x10 = t[0];\n"
    "  const VI b10 = v_badpos(x10);\n"
    "  fail |= b10;\n"
    "  const V x11 = v_fma(z[1], prep[0], x10);\n"
    "  const V x13 = 0.5 / z[2];\n"
    "  const V x14 = v_min(z[2], v_set((-2.0)));\n"
    "  const V x15 = x13 - x14;\n"
    "  *failed |= fail;\n"
    "  out[0] = x7; /* half sine */\n"
    "  out[1] = v_mark(x11, b10); /* sum */\n"
    "  out[2] = x15; /* rest */\n"
    "  (void)t, (void)z, (void)c, (void)prep, (void)out, (void)failed;\n"
    "}\n"
    "\n";

/* A check is moved out of the computation where a NaN would reach the outputs anyway; not where an operation could hide
 * it. */
static void test_checks(void) {
  static const struct {
    ag_op swallows; /* NUM: nothing */
    const char *has, *hasnt;
  } cases[] = {{AG_OP_NUM, "v_badpos(", "v_checkpos("},   {AG_OP_SQRT, "v_mark(", "v_checkpos("},
               {AG_OP_LT, "v_checkpos(", "v_badpos("},    {AG_OP_MAX, "v_checkpos(", "v_mark("},
               {AG_OP_HYPOT, "v_checkpos(", "v_badpos("}, {AG_OP_POW, "v_checkpos(", "v_badpos("}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    ag_graph *g = ag_graph_create();
    ag_id z = ag_input(g, "z", 2, 1, AG_LEAF_REAL), x = ag_entry(g, z, 0, 0), y = ag_entry(g, z, 1, 0);
    ag_id pivot = ag_apply1(g, AG_OP_CHECKPOS, x), outs[2] = {ag_div(g, y, pivot), y};
    if (cases[i].swallows == AG_OP_SQRT) outs[0] = ag_apply1(g, AG_OP_SQRT, outs[0]);
    else if (cases[i].swallows != AG_OP_NUM) outs[0] = ag_apply2(g, cases[i].swallows, outs[0], y);
    ag_bind bind = {z, AG_SEG_Z, 0};
    ag_tape *tape = ag_tape_create(g, 1, &bind, 2, outs);
    ag_text text = {0};
    ag_cgen how = {.name = "f"};
    (void)ag_cgen_tape(tape, &how, &text);
    AG_CHECK(strstr(ag_text_cstr(&text), cases[i].has) && !strstr(ag_text_cstr(&text), cases[i].hasnt));
    ag_text_done(&text);
    ag_tape_free(tape);
    ag_graph_free(g);
  }
}

static void text_of(const ag_tape *tape, ag_cgen how, int n_prep, ag_text *text) {
  ag_text_clear(text);
  AG_CHECK(ag_cgen_tape(tape, &how, text) == n_prep);
}

/* Parameters that are known: what is exactly 1 is no longer prepared, p itself or a product; the text depends
 * on nothing else of them. Without marks the check alone stays. */
static void test_known(void) {
  ag_graph *g = ag_graph_create();
  ag_id z = ag_input(g, "z", 2, 1, AG_LEAF_REAL), p = ag_input(g, "p", 2, 1, AG_LEAF_REAL);
  ag_id x = ag_entry(g, z, 0, 0), y = ag_entry(g, z, 1, 0), a = ag_entry(g, p, 0, 0), b = ag_entry(g, p, 1, 0);
  ag_id out = ag_add(g, ag_mul(g, ag_mul(g, a, b), x), ag_mul(g, a, ag_div(g, y, ag_apply1(g, AG_OP_CHECKPOS, x))));
  ag_bind binds[] = {{z, AG_SEG_Z, 0}, {p, AG_SEG_P, 0}};
  ag_tape *tape = ag_tape_create(g, 2, binds, 1, &out);
  ag_text unknown = {0}, text = {0};
  text_of(tape, (ag_cgen){.name = "f"}, 2, &unknown);
  text_of(tape, (ag_cgen){.name = "f", .params = (double[]){2, 3}}, 2, &text);
  AG_CHECK_STR(ag_text_cstr(&text), ag_text_cstr(&unknown));
  text_of(tape, (ag_cgen){.name = "f", .params = (double[]){2, 0.5}}, 1, &text);
  AG_CHECK(strstr(ag_text_cstr(&text), "v_set(1.0)") && strstr(ag_text_cstr(&text), "prep[0]"));
  text_of(tape, (ag_cgen){.name = "f", .params = (double[]){1, 1 + 0x1p-52}}, 1, &text);
  AG_CHECK(strstr(ag_text_cstr(&text), "v_set(1.0)") && strstr(ag_text_cstr(&text), "prep[0]"));
  text_of(tape, (ag_cgen){.name = "f", .params = (double[]){1, 1}}, 0, &text);
  AG_CHECK(!strstr(ag_text_cstr(&text), "prep[") && strstr(ag_text_cstr(&text), "v_mark("));
  text_of(tape, (ag_cgen){.name = "f", .unmarked = true}, 2, &text);
  AG_CHECK(!strstr(ag_text_cstr(&text), "v_mark(") && strstr(ag_text_cstr(&text), "fail |= v_bits("));
  ag_text_done(&unknown), ag_text_done(&text);
  ag_tape_free(tape);
  ag_graph_free(g);
}

/* Plain code has a function for every word that a value of op.def uses. */
static void check_plain(void) {
  static const char *const values[] = {
#define AG_OP(NAME, text, arity, call, parity, value, ...) #value,
#define AG_OP_TAPE(NAME, text, arity, value, ...) #value,
#include "expr/op.def"
  };
  ag_text text = {0};
  ag_cgen_plain(false, &text);
  AG_CHECK(!strstr(ag_text_cstr(&text), "v_ldl"));
  for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
    char word[64];
    if (strncmp(values[i], "v_", 2)) continue;
    snprintf(word, sizeof word, "double %.*s(double", (int)strcspn(values[i], "("), values[i]);
    if (!strstr(ag_text_cstr(&text), word)) fprintf(stderr, "missing: %s\n", word);
    AG_CHECK(strstr(ag_text_cstr(&text), word));
  }
  ag_text_clear(&text);
  ag_cgen_plain(true, &text);
  AG_CHECK(strstr(ag_text_cstr(&text), "v_ldl"));
  ag_text_done(&text);
}

int main(void) {
  test_checks();
  test_known();
  ag_text text = {0}, again = {0};
  static const char *const names[] = {"half sine", "sum", "rest"};
  ag_cgen how = {.name = "f", .out_names = names};
  for (int i = 0; i < 2; i++) {
    ag_graph *g;
    ag_tape *tape = small_tape(&g);
    AG_CHECK(ag_cgen_functions(tape) == 3);
    AG_CHECK(ag_cgen_tape(tape, &how, i ? &again : &text) == 1);
    ag_tape_free(tape);
    ag_graph_free(g);
  }
  AG_CHECK_STR(ag_text_cstr(&text), ag_text_cstr(&again));
  AG_CHECK_STR(ag_text_cstr(&text), expected);
  ag_text_clear(&text);
  ag_cgen_prologue(1, &text);
  AG_CHECK(strstr(ag_text_cstr(&text), "typedef struct ag_kargs") && strstr(ag_text_cstr(&text), "v_sincos"));
  AG_CHECK(!strstr(ag_text_cstr(&text), "#define AG_VMATH_CALL"));
  ag_text_clear(&text);
  ag_cgen_prologue(1000, &text);
  AG_CHECK(strstr(ag_text_cstr(&text), "#define AG_VMATH_CALL"));
  ag_text_done(&text);
  ag_text_done(&again);
  check_plain();
  return ag_check_report();
}
