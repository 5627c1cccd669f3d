/* SPDX-License-Identifier: MIT
 * Tape -> C over lanes. Slots become single-assignment variables x1, x2, ... numbered by instruction, so the text
 * depends on the tape alone. Constants are written in the expressions; loads are the array elements themselves. sin and
 * cos of the same number become one call. Checks of pivots are moved out of the computation where possible (beside.c).
 * A tape of more than AG_CGEN_ROLLED instructions with many similar ones becomes loops (roll.c); otherwise one of more
 * than CHUNK operations is split into functions that pass values across their borders in an array s[], at the slots of
 * the tape. */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/escape.h"
#include "base/status.h"
#include "kern/cgen.h"
#include "kern/roll.h"
#include "kern/texts.h"

enum { CHUNK = 2000, MAX_INLINED = 60 };
enum { NONE = AG_CGEN_NONE };

typedef ag_cgen_value value;
typedef ag_cgen_state gen;

static int arity(uint16_t op) { return ag_op_describe((ag_op)op)->arity; }

/* ---- analysis ---- */

static uint32_t new_value(gen *g, uint32_t instr, uint32_t entry, uint32_t slot) {
  if ((int)g->n_value == g->cap_value) {
    g->cap_value = g->cap_value ? 2 * g->cap_value : 64;
    g->values = ag_heap_grow(g->values, sizeof *g->values * (size_t)g->cap_value);
  }
  g->values[g->n_value] = (value){instr, entry, slot, g->chunk_of[instr], g->chunk_of[instr], -1, false};
  return g->n_value++;
}

static uint32_t read_slot(gen *g, const uint32_t *now, uint32_t slot, int chunk) {
  uint32_t v = now[slot];
  AG_ASSERT(v != NONE);
  if (g->values[v].last < chunk) g->values[v].last = chunk;
  return v;
}

/* Cuts the evaluation into chunks of equal length, at most CHUNK operations each. */
static void cut(gen *g) {
  int n = 0, from = g->tape->n_prep, to = g->tape->n_instr, seen = 0;
  for (int i = from; i < to; i++) n += arity(g->tape->instr[i].op) > 0;
  g->n_chunk = n / CHUNK + 1;
  for (int i = 0; i < to; i++) {
    if (i < from) {
      g->chunk_of[i] = -1;
      continue;
    }
    uint16_t op = g->tape->instr[i].op;
    bool joined = i > from && g->tape->instr[i - 1].op == AG_OP_COPY; /* copies and their solve stay together */
    g->chunk_of[i] = joined ? g->chunk_of[i - 1] : (int)((long)seen * g->n_chunk / (n + 1));
    seen += arity(op) > 0;
  }
}

static void analyse(gen *g) {
  const ag_tape *tape = g->tape;
  uint32_t *now = ag_heap_alloc(sizeof *now * ((size_t)tape->n_slot + 1));
  for (int i = 0; i < tape->n_slot; i++) now[i] = NONE;
  for (int i = 0; i < tape->n_instr; i++) {
    const ag_instr *x = &tape->instr[i];
    const uint32_t from[3] = {x->a, x->b, x->c};
    uint32_t *a = g->args + 3 * i;
    int chunk = g->chunk_of[i];
    for (int k = 0; k < arity(x->op); k++) a[k] = read_slot(g, now, from[k], chunk);
    if (x->op == AG_OP_COPY) {
      now[x->dst] = a[0];
    } else if (ag_cgen_is_call(x->op)) {
      uint32_t n = ag_cgen_results(tape, x), n_arg = ag_cgen_args(tape, x);
      a[0] = (uint32_t)g->n_list;
      for (uint32_t k = 0; k < n_arg; k++) {
        AG_PUSH(g->lists, g->n_list, g->cap_list);
        g->lists[g->n_list++] = read_slot(g, now, x->b + k, chunk);
      }
      for (uint32_t k = 0; k < n; k++) {
        uint32_t v = now[x->dst + k] = new_value(g, (uint32_t)i, k, x->dst + k);
        if (k == 0) g->result[i] = v;
      }
    } else {
      g->result[i] = now[x->dst] = new_value(g, (uint32_t)i, 0, x->dst);
    }
  }
  for (int i = 0; i < tape->n_out; i++) g->outs[i] = read_slot(g, now, tape->out[i], g->n_chunk - 1);
  free(now);
}

/* sin and cos of one value, in the same part and chunk. */
static void pair_up(gen *g) {
  uint32_t *first = ag_heap_alloc(sizeof *first * ((size_t)g->n_value + 1));
  for (uint32_t i = 0; i < g->n_value; i++) first[i] = NONE;
  for (int i = 0; i < g->tape->n_instr; i++) {
    uint16_t op = g->tape->instr[i].op;
    g->partner[i] = NONE;
    if (op != AG_OP_SIN && op != AG_OP_COS) continue;
    uint32_t *seen = &first[g->args[3 * i]], other = *seen;
    if (other != NONE && g->chunk_of[other] == g->chunk_of[i] && g->partner[other] == NONE) {
      g->partner[i] = other;
      g->partner[other] = (uint32_t)i;
    } else {
      *seen = (uint32_t)i;
    }
  }
  free(first);
}

/* ---- writing ---- */

void ag_cgen_number(double v, ag_text *out) {
  if (isnan(v)) {
    ag_text_str(out, "__builtin_nan(\"\")");
  } else if (isinf(v)) {
    ag_text_str(out, v > 0 ? "__builtin_inf()" : "(-__builtin_inf())");
  } else {
    ag_text number = {0};
    ag_text_number(&number, v);
    const char *s = ag_text_cstr(&number);
    bool whole = !strpbrk(s, ".e");
    ag_text_printf(out, signbit(v) ? "(%s%s)" : "%s%s", s, whole ? ".0" : "");
    ag_text_done(&number);
  }
}

/* What printf would take most of the time of writing code for. */
void ag_cgen_index(ag_text *out, const char *before, uint32_t i, const char *after) {
  char digits[10];
  size_t n = sizeof digits;
  do digits[--n] = (char)('0' + i % 10);
  while (i /= 10);
  ag_text_str(out, before);
  ag_text_strn(out, digits + n, sizeof digits - n);
  ag_text_str(out, after);
}

/* A value where it is read, in chunk `chunk`; bare: a constant may be a plain number. */
static void put_value(gen *g, uint32_t i, int chunk, bool bare) {
  const value *v = &g->values[i];
  const ag_instr *x = &g->tape->instr[v->instr];
  if (x->op == AG_OP_CONST) {
    if (!bare) ag_text_str(g->out, "v_set(");
    ag_cgen_number(g->tape->constants[x->a], g->out);
    if (!bare) ag_text_char(g->out, ')');
  } else if (v->chunk < 0 && chunk >= 0) {
    if (v->one) ag_text_str(g->out, "v_set(1.0)");
    else ag_cgen_index(g->out, "prep[", (uint32_t)v->prep, "]");
  } else if (x->op == AG_OP_LOAD) {
    ag_text_str(g->out, ag_segment_describe((ag_seg)x->a)->name);
    ag_cgen_index(g->out, "[", x->b, "]");
  } else if (v->chunk != chunk) {
    ag_cgen_index(g->out, "s[", v->slot, "]");
  } else if (ag_cgen_is_call(x->op)) {
    ag_cgen_index(g->out, "m", v->instr, "[");
    ag_cgen_index(g->out, "", ag_cgen_result_at(g->tape, x) + v->entry, "]");
  } else {
    ag_cgen_index(g->out, "x", v->instr, "");
  }
}

int ag_cgen_formula(const char **c, ag_text *out) {
  const char *s = *c;
  while (*s) {
    size_t n = 0; /* of the word that begins here */
    while (isalnum((unsigned char)s[n]) || s[n] == '_') n++;
    if (n == 1 && *s >= 'a' && *s <= 'c') {
      *c = s + 1;
      return *s - 'a';
    }
    n = n ? n : 1;
    ag_text_strn(out, s, n);
    s += n;
  }
  *c = s;
  return -1;
}

static bool is_number(const gen *g, uint32_t i) { return g->tape->instr[g->values[i].instr].op == AG_OP_CONST; }

/* A plain number may be combined with a V in + - * /; functions and two numbers need a V. */
static bool bare_argument(const gen *g, const ag_instr *x, const uint32_t *args, int k) {
  bool arithmetic = x->op == AG_OP_ADD || x->op == AG_OP_SUB || x->op == AG_OP_MUL || x->op == AG_OP_DIV;
  return arithmetic && !is_number(g, args[1 - k]);
}

static void put_expression(gen *g, int i) {
  const ag_instr *x = &g->tape->instr[i];
  const uint32_t *args = g->args + 3 * i;
  const char *c = ag_op_describe((ag_op)x->op)->value;
  for (int k; (k = ag_cgen_formula(&c, g->out)) >= 0;)
    put_value(g, args[k], g->chunk_of[i], k < 2 && bare_argument(g, x, args, k));
}

/* A value that a later chunk reads is also stored. */
static void put_store(gen *g, uint32_t v) {
  if (g->values[v].chunk < 0 || g->values[v].last <= g->values[v].chunk) return;
  ag_cgen_index(g->out, "  s[", g->values[v].slot, "] = ");
  put_value(g, v, g->values[v].chunk, false);
  ag_text_str(g->out, ";\n");
}

static void put_solve(gen *g, int i) {
  const ag_instr *x = &g->tape->instr[i];
  ag_text_str(g->out, "  ");
  ag_cgen_put_room(g->tape, (uint32_t)i, g->how->name, g->out);
  ag_text_str(g->out, ";\n");
  for (uint32_t k = 0; k < ag_cgen_args(g->tape, x); k++) {
    ag_text_printf(g->out, k % 4 ? " m%d[%u] = " : k ? "\n  m%d[%u] = " : "  m%d[%u] = ", i, k);
    put_value(g, g->lists[g->args[3 * i] + k], g->chunk_of[i], false);
    ag_text_char(g->out, ';');
  }
  ag_text_str(g->out, "\n  ");
  ag_cgen_put_call(g->tape, (uint32_t)i, g->how->name, g->out);
  for (uint32_t k = 0; k < ag_cgen_results(g->tape, x); k++) put_store(g, g->result[i] + k);
}

/* A check whose result is used only by the outputs. Where those need not be marked, the sign of a pivot goes to fail as
 * it is: comparing it takes the same units of the processor as multiplying. A pivot that is -0 or NaN gives outputs
 * that are not finite. */
static void put_check(gen *g, int i) {
  const bool positive = g->tape->instr[i].op == AG_OP_CHECKPOS;
  ag_text_printf(g->out, "  const V x%d = ", i);
  put_value(g, g->args[3 * i], g->chunk_of[i], false);
  if (positive && g->how->unmarked) {
    ag_text_printf(g->out, ";\n  fail |= v_bits(x%d) - 1;\n", i);
    return;
  }
  const char *which = positive ? "v_badpos" : "v_badnz";
  ag_text_printf(g->out, ";\n  const VI b%d = %s(x%d);\n  fail |= b%d;\n", i, which, i, i);
}

static void put_instr(gen *g, int i) {
  const ag_instr *x = &g->tape->instr[i];
  if (x->op == AG_OP_LOAD || x->op == AG_OP_CONST || x->op == AG_OP_COPY) return;
  if (ag_cgen_is_call(x->op)) {
    put_solve(g, i);
    return;
  }
  if (g->n_check && ag_cgen_is_check(x->op)) {
    put_check(g, i);
    return;
  }
  uint32_t other = g->partner[i];
  if (other != NONE && other < (uint32_t)i) { /* came with its partner; its slot is free only from here on */
    put_store(g, g->result[i]);
    return;
  }
  if (other != NONE) {
    uint32_t sine = x->op == AG_OP_SIN ? (uint32_t)i : other, cosine = x->op == AG_OP_SIN ? other : (uint32_t)i;
    ag_text_printf(g->out, "  V x%u, x%u;\n  v_sincos(", sine, cosine);
    put_value(g, g->args[3 * i], g->chunk_of[i], false);
    ag_text_printf(g->out, ", &x%u, &x%u);\n", sine, cosine);
  } else {
    ag_cgen_index(g->out, "  const V x", (uint32_t)i, " = ");
    put_expression(g, i);
    ag_text_str(g->out, ";\n");
  }
  put_store(g, g->result[i]);
}

static bool may_fail(const gen *g, int from, int to) {
  for (int i = from; i < to; i++) {
    uint16_t op = g->tape->instr[i].op;
    if (ag_cgen_is_check(op) || ag_cgen_is_call(op)) return true;
  }
  return false;
}

static void put_body(gen *g, int from, int to) {
  bool fails = may_fail(g, from, to);
  if (fails) ag_text_str(g->out, "  VI fail = v_word_set(0);\n");
  for (int i = from; i < to; i++) put_instr(g, i);
  if (fails) ag_text_str(g->out, "  *failed |= fail;\n");
}

static void put_outputs(gen *g) {
  for (int i = 0; i < g->tape->n_out; i++) {
    uint64_t marks = g->n_check && !g->how->unmarked ? g->marks[g->outs[i]] : 0;
    ag_text_printf(g->out, "  out[%d] = %s", i, marks ? "v_mark(" : "");
    put_value(g, g->outs[i], g->n_chunk - 1, false);
    for (int k = 0, n = 0; k < g->n_check; k++)
      if (marks >> k & 1) ag_text_printf(g->out, n++ ? " | b%d" : ", b%d", g->checks[k]);
    ag_text_str(g->out, marks ? ");" : ";");
    if (g->how->out_names) {
      ag_text_str(g->out, " /* ");
      ag_escape_c_comment(g->out, g->how->out_names[i]);
      ag_text_str(g->out, " */");
    }
    ag_text_char(g->out, '\n');
  }
}

static void put_prep(gen *g) {
  ag_text_printf(g->out, "static void %s_prep(", g->how->name);
  ag_cgen_put_parameters(g->tape, true, false, g->out);
  ag_text_str(g->out, ") {\n");
  put_body(g, 0, g->tape->n_prep);
  for (uint32_t i = 0; i < g->n_value; i++)
    if (g->values[i].prep >= 0) {
      ag_text_printf(g->out, "  prep[%d] = ", g->values[i].prep);
      put_value(g, i, -1, false);
      ag_text_str(g->out, ";\n");
    }
  ag_cgen_put_unused(g->tape, true, false, g->out);
  ag_text_str(g->out, "}\n\n");
}

static void put_whole(gen *g) {
  int checks[AG_CGEN_CHECKS];
  g->marks = ag_heap_alloc(sizeof *g->marks * ((size_t)g->n_value + 1));
  g->checks = checks;
  g->n_check = ag_cgen_beside(g, g->marks, checks);
  ag_text_printf(g->out, "AG_TAPE_FN void %s(", g->how->name);
  ag_cgen_put_parameters(g->tape, false, false, g->out);
  ag_text_str(g->out, ") {\n");
  put_body(g, g->tape->n_prep, g->tape->n_instr);
  put_outputs(g);
  ag_cgen_put_unused(g->tape, false, false, g->out);
  ag_text_str(g->out, "}\n\n");
  free(g->marks);
  g->n_check = 0;
}

static void put_chunks(gen *g) {
  int at = g->tape->n_prep;
  for (int k = 0; k < g->n_chunk; k++) {
    int to = at;
    while (to < g->tape->n_instr && g->chunk_of[to] == k) to++;
    ag_text_printf(g->out, "static __attribute__((noinline)) void %s_%d(", g->how->name, k);
    ag_cgen_put_parameters(g->tape, false, true, g->out);
    ag_text_str(g->out, ") {\n");
    put_body(g, at, to);
    if (k == g->n_chunk - 1) put_outputs(g);
    ag_cgen_put_unused(g->tape, false, true, g->out);
    ag_text_str(g->out, "}\n\n");
    at = to;
  }
  ag_cgen_put_storage(g->how->name, "s", (uint32_t)g->tape->n_slot, g->out);
  ag_text_printf(g->out, "static void %s(", g->how->name);
  ag_cgen_put_parameters(g->tape, false, false, g->out);
  ag_text_str(g->out, ") {\n  ");
  ag_cgen_put_array(g->how->name, "s", (uint32_t)g->tape->n_slot, g->out);
  ag_text_str(g->out, ";\n");
  for (int k = 0; k < g->n_chunk; k++) {
    ag_text_printf(g->out, "  %s_%d(", g->how->name, k);
    ag_cgen_put_arguments(g->tape, false, g->out);
    ag_text_str(g->out, ");\n");
  }
  ag_text_str(g->out, "}\n\n");
}

/* A long part as loops, when it has some. */
static bool roll(gen *g, bool prep) {
  ag_roll r;
  int n = prep ? g->tape->n_prep : g->tape->n_instr - g->tape->n_prep;
  if (n < AG_CGEN_ROLLED) return false;
  bool rolled = ag_roll_init(&r, g, prep);
  if (rolled) {
    ag_text name = {0};
    ag_text_printf(&name, prep ? "%s_prep" : "%s", g->how->name);
    ag_roll_text(&r, ag_text_cstr(&name), g->out);
    ag_text_done(&name);
  }
  ag_roll_done(&r);
  return rolled;
}

int ag_cgen_functions(const ag_tape *tape) {
  int n = 0;
  for (int i = 0; i < tape->n_instr; i++) n += ag_op_describe((ag_op)tape->instr[i].op)->weight;
  return n;
}

void ag_cgen_enclosures(const ag_tape *tape, ag_text *out) {
  if (tape->n_instr - tape->n_prep > MAX_INLINED) ag_text_str(out, "#define AG_ENCLOSE_CALL\n");
  ag_text_str(out, ag_text_of_enclose);
  if (ag_cgen_around(tape)) ag_text_str(out, ag_text_of_around);
}

void ag_cgen_prologue(int n_function, ag_text *out) {
  if (n_function > MAX_INLINED) ag_text_str(out, "#define AG_VMATH_CALL\n");
  ag_text_str(out, ag_text_of_kargs);
  ag_text_str(out, ag_text_of_vtype);
  ag_text_str(out, ag_text_of_vmath);
  ag_text_str(out, ag_text_of_vsolve);
  ag_text_str(out, ag_text_of_ldl);
  ag_text_str(out, "#define AG_THREAD _Thread_local\n");
  ag_text_str(out, "#ifndef AG_TAPE_FN\n#define AG_TAPE_FN static\n#endif\n\n");
}

int ag_cgen_tape(const ag_tape *tape, const ag_cgen *how, ag_text *out) {
  size_t n = (size_t)tape->n_instr + 1;
  gen g = {.tape = tape, .how = how, .out = out};
  g.args = ag_heap_alloc(sizeof *g.args * 3 * n);
  g.result = ag_heap_alloc(sizeof *g.result * n);
  g.partner = ag_heap_alloc(sizeof *g.partner * n);
  g.chunk_of = ag_heap_alloc(sizeof *g.chunk_of * n);
  g.outs = ag_heap_alloc(sizeof *g.outs * ((size_t)tape->n_out + 1));
  ag_cgen_put_tables(tape, how->name, out);
  cut(&g);
  analyse(&g);
  pair_up(&g);
  ag_cgen_number_prepared(&g);
  if (!roll(&g, true)) put_prep(&g);
  if (!roll(&g, false)) {
    if (g.n_chunk == 1) put_whole(&g);
    else put_chunks(&g);
  }
  if (how->bounds) ag_cgen_bounds(&g, out);
  free(g.args), free(g.result), free(g.partner), free(g.chunk_of), free(g.outs), free(g.values), free(g.lists);
  return g.n_prep;
}
