/* SPDX-License-Identifier: MIT
 * Expressions: syntax tree to graph nodes. Every operation checks the shapes of its operands. */
#include <math.h>

#include "base/stack.h"
#include "lang/build.h"

ag_value ag_eval_good(ag_id x) { return (ag_value){.kind = AG_VALUE_NODE, .x = x}; }
ag_value ag_eval_bad(void) { return (ag_value){.kind = AG_VALUE_BAD}; }

ag_id ag_eval_take(ag_builder *b, ag_value v, ag_pos pos) {
  if (v.kind == AG_VALUE_NODE) return v.x;
  if (v.kind == AG_VALUE_CONDITION) ag_scope_error(b, pos, "a condition is allowed only between `if` and `then`");
  if (v.kind == AG_VALUE_FAMILY)
    ag_scope_error(b, pos, "this is a family of %d %s; pick one with an index, as in x[i]", v.count,
                   ag_plural(v.count, "member", "members"));
  return 0;
}

/* Constant operations without a finite value stay unevaluated in the graph; the result reveals them. */
static ag_value checked(ag_builder *b, ag_pos pos, ag_id x, ag_id y, ag_id result) {
  if (ag_is_num(b->g, x, NULL) && (!y || ag_is_num(b->g, y, NULL)) && !ag_is_num(b->g, result, NULL)) {
    ag_scope_error(b, pos, "this has no finite value");
    return ag_eval_bad();
  }
  return ag_eval_good(result);
}

static int64_t entries(const ag_builder *b, ag_id x) { return (int64_t)ag_node_rows(b->g, x) * ag_node_cols(b->g, x); }

/* ---- sums and products ---- */

static ag_value add(ag_builder *b, const ag_link *link, ag_value a, ag_value c) {
  bool minus = link->op == AG_TOKEN_MINUS;
  if (!ag_note_same(b, a.x, c.x)) {
    if (c.empty) return a;
    if (a.empty) return ag_eval_good(minus ? ag_neg(b->g, c.x) : c.x);
    ag_scope_error(b, link->pos, "`%s` between %s and %s", minus ? "-" : "+", ag_note_shape(b, a.x),
                   ag_note_shape(b, c.x));
    return ag_eval_bad();
  }
  if (!ag_scope_work(b, link->pos, entries(b, a.x) / 4)) return ag_eval_bad();
  ag_value v = checked(b, link->pos, a.x, c.x, minus ? ag_sub(b->g, a.x, c.x) : ag_add(b->g, a.x, c.x));
  v.empty = a.empty && c.empty;
  return v;
}

static ag_value divide(ag_builder *b, const ag_link *link, ag_id x, ag_id y) {
  double v;
  if (!ag_is_scalar(b->g, y)) {
    ag_scope_error(b, link->pos, "division by %s; only a scalar can divide", ag_note_shape(b, y));
    return ag_eval_bad();
  }
  if (ag_is_num(b->g, y, &v) && v == 0) {
    ag_scope_error(b, link->pos, "division by zero");
    return ag_eval_bad();
  }
  return checked(b, link->pos, x, y, ag_div(b->g, x, y));
}

static ag_value multiply(ag_builder *b, const ag_link *link, ag_id x, ag_id y) {
  ag_graph *g = b->g;
  int n = ag_node_rows(g, x), k = ag_node_cols(g, x), k2 = ag_node_rows(g, y), m = ag_node_cols(g, y);
  if (ag_is_scalar(g, x) || ag_is_scalar(g, y)) {
    if (!ag_scope_work(b, link->pos, (entries(b, x) + entries(b, y)) / 4)) return ag_eval_bad();
    return checked(b, link->pos, x, y, ag_mul(g, x, y));
  }
  if (k != k2) {
    const char *hint = k == 1 && m == 1 && n == k2
                           ? (n == 3 ? "; use dot(a, b), cross(a, b) or a*b^T" : "; use dot(a, b) or a*b^T")
                           : "";
    ag_scope_error(b, link->pos, "`*` between %s and %s%s", ag_note_shape(b, x), ag_note_shape(b, y), hint);
    return ag_eval_bad();
  }
  if ((int64_t)n * m > AG_MAX_ENTRIES) {
    ag_scope_error(b, link->pos, "the product has %d x %d entries; a matrix has at most %d", n, m, AG_MAX_ENTRIES);
    return ag_eval_bad();
  }
  if (!ag_scope_work(b, link->pos, (int64_t)n * k * m / 4)) return ag_eval_bad();
  return ag_eval_good(ag_mul(g, x, y));
}

/* A sum without terms stays zero of any shape when it is multiplied or divided: l*sum(i in 2..1, x[i]). */
static ag_value scale(ag_builder *b, const ag_link *link, ag_value a, ag_value c) {
  bool times = link->op == AG_TOKEN_TIMES, empty = a.empty || (times && c.empty);
  if (empty && times) return (ag_value){.kind = AG_VALUE_NODE, .x = ag_num(b->g, 0), .empty = true};
  ag_value v = times ? multiply(b, link, a.x, c.x) : divide(b, link, a.x, c.x);
  v.empty = empty && v.kind != AG_VALUE_BAD;
  return v;
}

/* a + b - c ..., a * b / c ...: all operands are evaluated, even after a bad one, so that each error is found */
static ag_value eval_chain(ag_builder *b, const ag_syn *s) {
  ag_value acc = ag_eval(b, s->links[0].x);
  if (acc.kind != AG_VALUE_BAD && !ag_eval_take(b, acc, s->links[0].x->pos)) acc = ag_eval_bad();
  for (int i = 1; i < s->n && !b->stopped; i++) {
    const ag_link *link = &s->links[i];
    ag_value v = ag_eval(b, link->x);
    if (!ag_eval_take(b, v, link->x->pos)) acc = ag_eval_bad();
    if (acc.kind == AG_VALUE_BAD) continue;
    acc = s->kind == AG_SYN_ADD ? add(b, link, acc, v) : scale(b, link, acc, v);
  }
  return b->stopped ? ag_eval_bad() : acc;
}

static ag_value eval_power(ag_builder *b, const ag_syn *s) {
  ag_pos pos = s->links[1].pos;
  ag_id x = ag_eval_take(b, ag_eval(b, s->links[0].x), s->links[0].x->pos);
  ag_id y = ag_eval_take(b, ag_eval(b, s->links[1].x), s->links[1].x->pos);
  if (!x || !y) return ag_eval_bad();
  if (!ag_is_scalar(b->g, x)) {
    const char *hint = ag_node_cols(b->g, x) == 1 ? "the square of its length is dot(v, v)"
                                                  : "write A*A, inverse(A) or A^T";
    ag_scope_error(b, pos, "a power of %s; %s", ag_note_shape(b, x), hint);
    return ag_eval_bad();
  }
  if (!ag_is_scalar(b->g, y)) {
    ag_scope_error(b, pos, "the exponent is %s; it must be a scalar", ag_note_shape(b, y));
    return ag_eval_bad();
  }
  return checked(b, pos, x, y, ag_pow(b->g, x, y));
}

static ag_value eval_negative(ag_builder *b, const ag_syn *s) {
  ag_value v = ag_eval(b, s->links[0].x);
  ag_id x = ag_eval_take(b, v, s->links[0].x->pos);
  if (!x) return ag_eval_bad();
  v.x = ag_neg(b->g, x);
  return v;
}

/* ---- conditions ---- */

static ag_value condition(ag_id x) { return (ag_value){.kind = AG_VALUE_CONDITION, .x = x}; }

/* The node of a condition; 0 on error. */
static ag_id take_condition(ag_builder *b, const ag_syn *s) {
  ag_value v = ag_eval(b, s);
  if (v.kind == AG_VALUE_CONDITION) return v.x;
  if (v.kind != AG_VALUE_BAD)
    ag_scope_error(b, s->pos, "a condition is expected here, as in a < b; this is %s", ag_note_value(b, v));
  return 0;
}

/* a and b, a or b: a known operand decides the result or is dropped */
static ag_id join(ag_builder *b, bool both, ag_id x, ag_id y) {
  double v;
  if (ag_is_num(b->g, x, &v)) return (v != 0) == both ? y : x;
  if (ag_is_num(b->g, y, &v)) return (v != 0) == both ? x : y;
  return ag_apply2(b->g, both ? AG_OP_AND : AG_OP_OR, x, y);
}

static ag_value eval_logic(ag_builder *b, const ag_syn *s) {
  ag_id acc = take_condition(b, s->links[0].x);
  if (s->kind == AG_SYN_NOT) return acc ? condition(ag_apply1(b->g, AG_OP_NOT, acc)) : ag_eval_bad();
  for (int i = 1; i < s->n; i++) {
    ag_id x = take_condition(b, s->links[i].x);
    acc = acc && x ? join(b, s->kind == AG_SYN_AND, acc, x) : 0;
  }
  return acc ? condition(acc) : ag_eval_bad();
}

static ag_value eval_compare(ag_builder *b, const ag_syn *s) {
  const ag_link *link = &s->links[1];
  ag_id x = ag_eval_scalar(b, s->links[0].x, "the left side of a comparison");
  ag_id y = ag_eval_scalar(b, link->x, "the right side of a comparison");
  if (!x || !y) return ag_eval_bad();
  ag_graph *g = b->g;
  switch (link->op) {
  case AG_TOKEN_LT: return condition(ag_apply2(g, AG_OP_LT, x, y));
  case AG_TOKEN_LE: return condition(ag_apply2(g, AG_OP_LE, x, y));
  case AG_TOKEN_GT: return condition(ag_apply2(g, AG_OP_LT, y, x));
  case AG_TOKEN_GE: return condition(ag_apply2(g, AG_OP_LE, y, x));
  case AG_TOKEN_EQ: return condition(ag_apply2(g, AG_OP_EQ, x, y));
  default: return condition(ag_apply2(g, AG_OP_NE, x, y));
  }
}

/* A condition on known integers selects its branch now, and the other branch is ignored: x[i-1] may follow `if i > 1`.
 */
static ag_value eval_if(ag_builder *b, const ag_syn *s) {
  double known;
  ag_id c = take_condition(b, s->links[0].x);
  if (c && ag_is_num(b->g, c, &known)) return ag_eval(b, s->links[known != 0 ? 1 : 2].x);
  ag_id x = ag_eval_take(b, ag_eval(b, s->links[1].x), s->links[1].x->pos);
  ag_id y = ag_eval_take(b, ag_eval(b, s->links[2].x), s->links[2].x->pos);
  if (!c || !x || !y) return ag_eval_bad();
  if (!ag_note_same(b, x, y)) {
    ag_scope_error(b, s->pos, "the two sides of `if` differ: %s after `then`, %s after `else`", ag_note_shape(b, x),
                   ag_note_shape(b, y));
    return ag_eval_bad();
  }
  return ag_eval_good(ag_select(b->g, c, x, y));
}

/* ---- lists ---- */

/* [a, b, c] and [[a, b], [c, d]] */
static ag_value eval_list(ag_builder *b, const ag_syn *s) {
  bool matrix = s->links[0].x->kind == AG_SYN_LIST, ok = true;
  int n = s->n, m = matrix ? s->links[0].x->n : 1;
  if (n > AG_MAX_SIZE || (int64_t)n * m > AG_MAX_ENTRIES) {
    ag_scope_error(b, s->pos, "a list of %d x %d entries is too large", n, m);
    return ag_eval_bad();
  }
  if (!ag_scope_work(b, s->pos, (int64_t)n * m)) return ag_eval_bad();
  ag_id *e = ag_heap_alloc(sizeof *e * (size_t)(n * m));
  for (int i = 0; i < n && !b->stopped; i++) {
    const ag_syn *row = s->links[i].x;
    if ((row->kind == AG_SYN_LIST) != matrix)
      ok = ag_scope_error(b, row->pos, "a matrix is written by rows, [[a, b], [c, d]]; entries and rows do not mix");
    else if (matrix && row->n != m)
      ok = ag_scope_error(b, row->pos, "this row has %d %s, the first has %d", row->n,
                          ag_plural(row->n, "entry", "entries"), m);
    else
      for (int j = 0; j < m; j++) {
        e[i * m + j] = ag_eval_scalar(b, matrix ? row->links[j].x : row, "an entry of [ ]");
        ok = ok && e[i * m + j];
      }
  }
  ag_value v = ok && !b->stopped ? ag_eval_good(ag_stack(b->g, n, m, e)) : ag_eval_bad();
  free(e);
  return v;
}

/* ---- sum ---- */

static ag_value eval_sum(ag_builder *b, const ag_syn *s) {
  double lo, hi;
  bool ok = ag_eval_whole(b, s->links[0].x, "the lower bound of a sum", &lo);
  ok = ag_eval_whole(b, s->links[1].x, "the upper bound of a sum", &hi) && ok;
  ok = ag_scope_index(b, s->name, s->links[0].pos) && ok;
  if (!ok) return ag_eval_bad();
  if (hi - lo + 1 > AG_MAX_SIZE) {
    ag_scope_error(b, s->pos, "the sum has %.0f terms; at most %d are allowed", hi - lo + 1, AG_MAX_SIZE);
    return ag_eval_bad();
  }
  ag_value acc = {.kind = AG_VALUE_NODE, .x = ag_num(b->g, 0), .empty = true};
  ag_link plus = {.op = AG_TOKEN_PLUS, .pos = s->pos};
  for (double i = lo; i <= hi; i++) {
    ag_local local = {s->name, true, ag_eval_good(ag_num(b->g, i)), b->scope};
    b->scope = &local;
    ag_value v = ag_eval(b, s->links[2].x);
    b->scope = local.next;
    if (!ag_eval_take(b, v, s->links[2].x->pos)) return ag_eval_bad();
    acc = i == lo ? v : add(b, &plus, acc, v);
    if (acc.kind == AG_VALUE_BAD || b->stopped) return ag_eval_bad();
  }
  return acc;
}

/* ---- the whole ---- */

static ag_value eval_kind(ag_builder *b, const ag_syn *s) {
  switch ((ag_syn_kind)s->kind) {
  case AG_SYN_NUMBER: return ag_eval_good(ag_num(b->g, s->number));
  case AG_SYN_NAME: return ag_lookup_name(b, s);
  case AG_SYN_MEMBER: return ag_lookup_member(b, s);
  case AG_SYN_CALL: return ag_lookup_call(b, s);
  case AG_SYN_POST: return ag_lookup_postfix(b, s);
  case AG_SYN_LIST: return eval_list(b, s);
  case AG_SYN_ADD:
  case AG_SYN_MUL: return eval_chain(b, s);
  case AG_SYN_AND:
  case AG_SYN_OR:
  case AG_SYN_NOT: return eval_logic(b, s);
  case AG_SYN_NEG: return eval_negative(b, s);
  case AG_SYN_POW: return eval_power(b, s);
  case AG_SYN_COMPARE: return eval_compare(b, s);
  case AG_SYN_IF: return eval_if(b, s);
  case AG_SYN_SUM: return eval_sum(b, s);
  }
  return ag_eval_bad();
}

ag_value ag_eval(ag_builder *b, const ag_syn *s) {
  if (!ag_scope_work(b, s->pos, 1)) return ag_eval_bad();
  if (b->depth >= AG_MAX_EVAL_DEPTH) {
    ag_scope_stop(b, s->pos, "expressions and the lets they call are nested more than %d deep", AG_MAX_EVAL_DEPTH);
    return ag_eval_bad();
  }
  if (ag_stack_low(b->stack_end)) {
    ag_scope_stop(b, s->pos,
                  "expressions and the lets they call are nested %d deep, too deep for the small stack given",
                  b->depth);
    return ag_eval_bad();
  }
  b->depth++;
  ag_value v = eval_kind(b, s);
  b->depth--;
  return b->stopped ? ag_eval_bad() : v;
}

ag_id ag_eval_node(ag_builder *b, const ag_syn *s) { return ag_eval_take(b, ag_eval(b, s), s->pos); }

ag_id ag_eval_scalar(ag_builder *b, const ag_syn *s, const char *what) {
  ag_id x = ag_eval_node(b, s);
  if (x && !ag_is_scalar(b->g, x))
    return ag_scope_error(b, s->pos, "%s must be a scalar; this is %s", what, ag_note_shape(b, x)), 0;
  return x;
}

bool ag_eval_whole(ag_builder *b, const ag_syn *s, const char *what, double *v) {
  ag_id x = ag_eval_scalar(b, s, what);
  if (!x) return false;
  if (!ag_is_num(b->g, x, v))
    return ag_scope_error(
        b, s->pos, "%s must be known when the file is read: numbers, `integer` parameters and running indices", what);
  if (*v != floor(*v) || fabs(*v) > 1e15)
    return ag_scope_error(b, s->pos, "%s must be an integer; this is %g", what, *v);
  return true;
}

bool ag_eval_number(ag_builder *b, const ag_syn *s, const char *what, double *v) {
  b->numeric = true;
  ag_id x = ag_eval_scalar(b, s, what);
  b->numeric = false;
  if (!x) return false;
  if (ag_note_on(b, x) & ~AG_ON_PARAM) return ag_scope_error(b, s->pos, "%s may use only numbers and parameters", what);
  if (!ag_define_value(b, x, v)) return ag_scope_error(b, s->pos, "%s has no finite value", what);
  return true;
}
