/* SPDX-License-Identifier: MIT
 * Runs a tape on enclosures: bounds of its outputs, and of their rates, while the inputs move over a piece of a curve.
 * One case per row of op.def, from enclose.h with V = double; two copies of the loop as in interp.c. A linear solve is
 * not enclosed: its results are unbounded. */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "expr/expr.h"
#include "expr/vmath.h"

#include "expr/enclose.h"

_Static_assert(sizeof(ag_enclosure) == sizeof(E), "the public name of E with V = double");

V_IN void unbounded(E *s, uint32_t n) {
  for (uint32_t i = 0; i < n; i++) s[i] = e_of(e_whole(), e_whole());
}

V_IN void run(const ag_tape *tape, const E *const *seg, E *s) {
  const ag_instr *x = tape->enclosed ? tape->enclosed : tape->instr + tape->n_prep;
  for (const ag_instr *end = x + ag_enclose_cost(tape); x < end; x++) {
    bool same = x->a == x->b;
    switch (x->op) {
#define CASE1(NAME) \
  case AG_OP_##NAME: \
    s[x->dst] = e_##NAME(s[x->a]); \
    break;
#define CASE2(NAME) \
  case AG_OP_##NAME: \
    s[x->dst] = e_##NAME(s[x->a], s[x->b]); \
    break;
#define CASE3(NAME) \
  case AG_OP_##NAME: \
    s[x->dst] = e_##NAME(s[x->a], s[x->b], s[x->c]); \
    break;
#define e_MUL(a, b) (same ? e_square(a) : e_MUL(a, b))
#define AG_OP(NAME, text, arity, ...) CASE##arity(NAME)
#define AG_OP_TAPE(NAME, text, arity, ...) CASE##arity(NAME)
#include "expr/op.def"
#undef e_MUL
    case AG_OP_LOAD: s[x->dst] = seg[x->a][x->b]; break;
    case AG_OP_CONST: s[x->dst] = e_number(tape->constants[x->a]); break;
    case AG_OP_CALL_SOLVE: unbounded(s + x->dst, x->a); break;
    case AG_OP_CALL_LDL: unbounded(s + x->dst, (uint32_t)tape->ldls[x->a]->n); break;
    default: __builtin_unreachable(); /* tape.c emits nothing else */
    }
  }
}

#if defined __x86_64__ && !defined __FMA__
__attribute__((target("avx2,fma"))) static void run_fma(const ag_tape *tape, const E *const *seg, E *s) {
  run(tape, seg, s);
}
static void run_plain(const ag_tape *tape, const E *const *seg, E *s) { run(tape, seg, s); }
static void run_any(const ag_tape *tape, const E *const *seg, E *s) {
  if (__builtin_cpu_supports("fma") && __builtin_cpu_supports("avx2")) run_fma(tape, seg, s);
  else run_plain(tape, seg, s);
}
#else
static void run_any(const ag_tape *tape, const E *const *seg, E *s) { run(tape, seg, s); }
#endif

/* Prepared values are numbers: the function is the one that is made of them. */
void ag_enclose_prep(const ag_tape *tape, const double *p, ag_enclosure *slots) {
  double *prepared = ag_heap_alloc(sizeof *prepared * ((size_t)tape->n_slot + 1));
  (void)ag_tape_prep(tape, p, prepared);
  for (int i = 0; i < tape->n_slot; i++) ((E *)slots)[i] = e_number(prepared[i]);
  free(prepared);
}

void ag_enclose_eval(const ag_tape *tape, const ag_enclosure *const seg[AG_SEG_COUNT], ag_enclosure *slots,
                     ag_enclosure *out) {
  run_any(tape, (const E *const *)seg, (E *)slots);
  for (int i = 0; i < tape->n_out; i++) {
    out[i] = slots[tape->out[i]];
    if (tape->unbounded && tape->unbounded[i]) unbounded((E *)&out[i], 1);
  }
}

/* Number of results of a solve; 0: not a solve. */
static uint32_t n_solved(const ag_tape *tape, const ag_instr *x) {
  return x->op == AG_OP_CALL_SOLVE ? x->a : x->op == AG_OP_CALL_LDL ? (uint32_t)tape->ldls[x->a]->n : 0;
}

int ag_enclose_cost(const ag_tape *tape) { return tape->enclosed ? tape->n_enclosed : tape->n_instr - tape->n_prep; }

void ag_enclose_without(ag_tape *tape, bool *unbounded) {
  bool *live = ag_heap_alloc((size_t)tape->n_slot + 1), *bounded = ag_heap_alloc((size_t)tape->n_out + 1);
  ag_instr *kept = ag_heap_alloc(sizeof *kept * ((size_t)tape->n_instr + 1));
  int at = tape->n_instr;
  tape->unbounded = unbounded;
  ag_enclose_bounded(tape, bounded);
  for (int i = 0; i < tape->n_out; i++) live[tape->out[i]] = live[tape->out[i]] || bounded[i];
  for (int i = tape->n_instr - 1; i >= tape->n_prep; i--) { /* outputs with bounds do not depend on a solve */
    const ag_instr *x = &tape->instr[i];
    const uint32_t args[] = {x->a, x->b, x->c};
    if (!live[x->dst] || n_solved(tape, x)) continue;
    live[x->dst] = false;
    for (int k = 0; k < ag_op_describe((ag_op)x->op)->arity; k++) live[args[k]] = true;
    kept[--at] = *x;
  }
  tape->n_enclosed = tape->n_instr - at;
  tape->enclosed = ag_heap_alloc(sizeof *kept * ((size_t)tape->n_enclosed + 1));
  memcpy(tape->enclosed, kept + at, sizeof *kept * (size_t)tape->n_enclosed);
  free(live), free(bounded), free(kept);
}

void ag_enclose_bounded(const ag_tape *tape, bool *bounded) {
  bool *lost = ag_heap_alloc((size_t)tape->n_slot + 1); /* per slot, at this point: depends on a solve, or NaN */
  for (int i = 0; i < tape->n_instr; i++) {
    const ag_instr *x = &tape->instr[i];
    int arity = ag_op_describe((ag_op)x->op)->arity;
    uint32_t n = n_solved(tape, x);
    if (n) memset(lost + x->dst, i >= tape->n_prep, n);
    else if (x->op == AG_OP_CONST) lost[x->dst] = __builtin_isnan(tape->constants[x->a]);
    else lost[x->dst] = (arity > 0 && lost[x->a]) || (arity > 1 && lost[x->b]) || (arity > 2 && lost[x->c]);
  }
  for (int i = 0; i < tape->n_out; i++) bounded[i] = !lost[tape->out[i]] && !(tape->unbounded && tape->unbounded[i]);
  free(lost);
}

/* Marks what an instruction makes: does it read marked slots? */
static void mark(const ag_tape *tape, const ag_instr *x, bool *marked) {
  const uint32_t n = n_solved(tape, x), args[] = {x->a, x->b, x->c};
  const uint32_t room = x->op == AG_OP_CALL_SOLVE ? n * n + n : n ? (uint32_t)tape->ldls[x->a]->n_block : 0;
  bool any = false;
  for (uint32_t k = 0; k < room; k++) any = any || marked[x->b + k];
  for (int k = 0; k < ag_op_describe((ag_op)x->op)->arity && !n; k++) any = any || marked[args[k]];
  for (uint32_t k = 0; k < (n ? n : 1); k++) marked[x->dst + k] = any;
}

bool ag_tape_second_order(const ag_tape *tape, int n, int *rate) {
  bool *moving = ag_heap_alloc((size_t)tape->n_slot + 1), found = false, good = true;
  int *from = ag_heap_alloc(sizeof *from * ((size_t)tape->n_slot + 1)); /* per slot: the number it is, or -1 */
  for (int i = 0; i < tape->n_slot; i++) from[i] = -1;
  for (int i = 0; i < tape->n_instr; i++) {
    const ag_instr *x = &tape->instr[i];
    for (uint32_t k = 0; k < n_solved(tape, x); k++) from[x->dst + k] = -1;
    from[x->dst] = x->op == AG_OP_LOAD && x->a == AG_SEG_Z ? (int)x->b : -1;
  }
  for (int i = 0; i < n; i++) rate[i] = from[tape->out[i]], found = found || rate[i] >= 0;
  for (int i = 0; i < n; i++) good = good && (rate[i] < 0 || (rate[i] < n && rate[rate[i]] < 0));
  for (int i = 0; i < tape->n_instr && good; i++) {
    const ag_instr *x = &tape->instr[i];
    if (x->op != AG_OP_LOAD) mark(tape, x, moving);
    else moving[x->dst] = x->a == AG_SEG_Z && (int)x->b < n && rate[x->b] < 0;
  }
  for (int i = 0; i < n && good; i++) good = rate[i] >= 0 || !moving[tape->out[i]];
  free(from);
  free(moving);
  return good && found;
}

void ag_enclose_reads(const ag_tape *tape, int segment, bool *reads) {
  bool *from = ag_heap_alloc((size_t)tape->n_slot + 1); /* per slot, at this point */
  for (int i = 0; i < tape->n_instr; i++) {
    const ag_instr *x = &tape->instr[i];
    int arity = ag_op_describe((ag_op)x->op)->arity;
    uint32_t n = n_solved(tape, x);
    if (n) memset(from + x->dst, true, n); /* it may */
    else if (x->op == AG_OP_LOAD) from[x->dst] = (int)x->a == segment;
    else from[x->dst] = (arity > 0 && from[x->a]) || (arity > 1 && from[x->b]) || (arity > 2 && from[x->c]);
  }
  for (int i = 0; i < tape->n_out; i++) reads[i] = from[tape->out[i]];
  free(from);
}
