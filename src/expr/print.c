/* SPDX-License-Identifier: MIT
 * Infix in the words of the model language, with the fewest parentheses that let it parse back to the same node: the
 * rules that pull numbers, signs and scalars out of products are what makes `2*a*b` the same as 2*(a*b). */
#include <stdlib.h>

#include "expr/print_internal.h"

static ag_op op_of(const ag_graph *g, ag_id x) { return g->nodes[x].op; }
static ag_id arg(const ag_graph *g, ag_id x, int i) { return ag_node_arg(g, x, i); }

/* ---- the machine ---- */

static void push(ag_printer *p, ag_print_item item) {
  AG_PUSH(p->batch, p->n_batch, p->cap_batch);
  p->batch[p->n_batch++] = item;
}

void ag_printer_text(ag_printer *p, const char *text) { push(p, (ag_print_item){text, 0, 0}); }

void ag_printer_textn(ag_printer *p, const char *text, size_t n) {
  if (n > 0) push(p, (ag_print_item){text, 0, (int)n});
}

void ag_printer_node(ag_printer *p, ag_id x, int prec) { push(p, (ag_print_item){NULL, x, prec}); }
void ag_printer_int(ag_printer *p, int k) { push(p, (ag_print_item){NULL, 0, k}); }

static void flush(ag_printer *p) {
  while (p->n_batch > 0) {
    AG_PUSH(p->stack, p->n_stack, p->cap_stack);
    p->stack[p->n_stack++] = p->batch[--p->n_batch];
  }
}

void ag_printer_run(const ag_graph *g, ag_id x, ag_text *out, const ag_print_style *style) {
  ag_printer p = {.g = g, .out = out, .style = style, .scratch = ag_arena_create()};
  ag_printer_node(&p, x, P_IF);
  flush(&p);
  while (p.n_stack > 0) {
    ag_print_item item = p.stack[--p.n_stack];
    if (item.text && item.prec) ag_text_strn(out, item.text, (size_t)item.prec);
    else if (item.text) ag_text_str(out, item.text);
    else if (!item.node) ag_text_printf(out, "%d", item.prec);
    else if (item.prec == P_NUMBER || item.prec == P_TURNED)
      style->number(out, item.prec == P_TURNED ? -g->nodes[item.node].payload.num : g->nodes[item.node].payload.num);
    else {
      bool paren = style->binds(g, item.node) < item.prec;
      if (paren) ag_printer_text(&p, style->open);
      if (op_of(g, item.node) == AG_OP_NUM && !style->plain) ag_printer_node(&p, item.node, P_NUMBER);
      else style->expand(&p, item.node);
      if (paren) ag_printer_text(&p, style->close);
      flush(&p);
    }
  }
  free(p.stack);
  free(p.batch);
  ag_arena_free(p.scratch);
}

/* ---- forms ---- */

static bool is_square(const ag_graph *g, ag_id x) { return op_of(g, x) == AG_OP_MUL && arg(g, x, 0) == arg(g, x, 1); }

int ag_print_power(const ag_graph *g, ag_id x, ag_id *base) {
  ag_id odd[5]; /* the single factor of every odd step down */
  int n = 1, k = 0;
  for (*base = x; op_of(g, x) == AG_OP_MUL && k < 5; k++) {
    ag_id a = arg(g, x, 0), b = arg(g, x, 1);
    if (a != b && !is_square(g, a) && !is_square(g, b)) break;
    odd[k] = a == b ? 0 : is_square(g, b) ? a : b;
    x = a == b ? a : arg(g, is_square(g, b) ? b : a, 0);
  }
  for (int i = k - 1; i >= 0; i--) {
    if (odd[i] && odd[i] != x) return 1;
    n = 2 * n + (odd[i] != 0);
  }
  if (n < 2 || n > 16) return 1;
  *base = x;
  return n;
}

static bool is_power(const ag_graph *g, ag_id x) {
  ag_id base;
  return op_of(g, x) == AG_OP_MUL && ag_print_power(g, x, &base) > 1;
}

static bool is_term(const ag_graph *g, ag_id x) {
  return op_of(g, x) == AG_OP_DIV || (op_of(g, x) == AG_OP_MUL && !is_power(g, x));
}

static bool is_sum(const ag_graph *g, ag_id x) { return op_of(g, x) == AG_OP_ADD || op_of(g, x) == AG_OP_SUB; }

void ag_print_order(const ag_graph *g, ag_id x, ag_id *left, ag_id *right) {
  ag_id a = arg(g, x, 0), b = arg(g, x, 1);
  bool swap = op_of(g, x) == AG_OP_ADD
                  ? is_sum(g, b) && !is_sum(g, a)
                  : op_of(g, x) == AG_OP_MUL && op_of(g, a) != AG_OP_NUM && is_term(g, b) && !is_term(g, a);
  *left = swap ? b : a;
  *right = swap ? a : b;
}

int ag_print_unit(const ag_graph *g, ag_id x) {
  int found = 0;
  if (op_of(g, x) != AG_OP_STACK || g->nodes[x].rows != 3 || g->nodes[x].cols != 1) return 0;
  for (int k = 0; k < 3; k++) {
    double v;
    if (!ag_is_num(g, arg(g, x, k), &v) || (v != 0 && v != 1) || (v == 1 && found)) return 0;
    if (v == 1) found = k + 1;
  }
  return found;
}

ag_id ag_print_leftmost(const ag_graph *g, ag_id x) {
  for (;;) {
    ag_id left = x, right;
    double v;
    if (op_of(g, x) == AG_OP_MUL && !is_power(g, x)) ag_print_order(g, x, &left, &right);
    else if (op_of(g, x) == AG_OP_DIV || op_of(g, x) == AG_OP_MATMUL) left = arg(g, x, 0);
    else if (op_of(g, x) == AG_OP_SCALE) {
      ag_id s = arg(g, x, 0); /* t/s when the factor is 1/s */
      left = op_of(g, s) == AG_OP_DIV && ag_is_num(g, arg(g, s, 0), &v) && v == 1 ? arg(g, x, 1) : s;
    }
    if (left == x) return x;
    x = left;
  }
}

/* May a sign or a scalar be written before the product x without parentheses, and be pulled out of it again? */
static bool takes_factor(const ag_graph *g, ag_id x) {
  if (!is_term(g, x) && op_of(g, x) != AG_OP_MATMUL && op_of(g, x) != AG_OP_SCALE && op_of(g, x) != AG_OP_SOLVE)
    return false;
  ag_id l = ag_print_leftmost(g, x);
  ag_op op = op_of(g, l);
  return op != AG_OP_NUM && op != AG_OP_STACK && op != AG_OP_EYE && op != AG_OP_SUB && op != AG_OP_SELECT &&
         op != AG_OP_CONCAT && op != AG_OP_ROWS && op != AG_OP_ROTATION;
}

/* k, sign and angle when x is the matrix of rotation(e_k, angle) or rotation(-e_k, angle). */
static bool is_turn(const ag_graph *g, ag_id x, int *axis, bool *reversed, ag_id *angle) {
  double v;
  if (op_of(g, x) != AG_OP_STACK) return false;
  const ag_id *a = ag_node_args(g, x);
  for (int k = 0; k < 3; k++) {
    int i = (k + 1) % 3, j = (k + 2) % 3;
    ag_id c = a[4 * i], s = a[3 * j + i], m = a[3 * i + j];
    bool zeros = ag_is_zero(g, a[3 * k + i]) && ag_is_zero(g, a[3 * k + j]) && ag_is_zero(g, a[3 * i + k]) &&
                 ag_is_zero(g, a[3 * j + k]);
    if (!zeros || !ag_is_num(g, a[4 * k], &v) || v != 1 || c != a[4 * j] || op_of(g, c) != AG_OP_COS) continue;
    *reversed = op_of(g, s) == AG_OP_NEG;
    ag_id up = *reversed ? m : s, down = *reversed ? s : m;
    if (op_of(g, up) != AG_OP_SIN || op_of(g, down) != AG_OP_NEG || arg(g, down, 0) != up) continue;
    *axis = k + 1;
    *angle = arg(g, up, 0);
    return *angle == arg(g, c, 0);
  }
  return false;
}

/* ---- infix ---- */

static int binds(const ag_graph *g, ag_id x) {
  double v;
  switch (op_of(g, x)) {
  case AG_OP_NUM: return ag_is_num(g, x, &v) && v < 0 ? P_UNARY : P_ATOM;
  case AG_OP_SELECT: return P_IF;
  case AG_OP_OR: return P_OR;
  case AG_OP_AND: return P_AND;
  case AG_OP_NOT: return P_NOT;
  case AG_OP_LT:
  case AG_OP_LE:
  case AG_OP_EQ:
  case AG_OP_NE: return P_COMPARE;
  case AG_OP_ADD:
  case AG_OP_SUB: return P_SUM;
  case AG_OP_MUL: return is_power(g, x) ? P_POWER : P_TERM;
  case AG_OP_DIV:
  case AG_OP_SCALE:
  case AG_OP_MATMUL: return P_TERM;
  case AG_OP_SOLVE:
    return g->nodes[x].payload.at.i == AG_SOLVE_GENERAL && op_of(g, arg(g, x, 1)) != AG_OP_EYE ? P_TERM : P_ATOM;
  case AG_OP_NEG: return takes_factor(g, arg(g, x, 0)) ? P_TERM : P_UNARY;
  case AG_OP_POW: return P_POWER;
  case AG_OP_TRANSPOSE:
  case AG_OP_ENTRY: return P_POSTFIX;
  case AG_OP_ROTATION: return P_ATOM;
  default: return P_ATOM;
  }
}

static void infix(ag_printer *p, ag_id a, int prec_a, const char *sign, ag_id b, int prec_b) {
  ag_printer_node(p, a, prec_a);
  ag_printer_text(p, sign);
  ag_printer_node(p, b, prec_b);
}

static void call(ag_printer *p, const char *name, ag_id x) {
  ag_printer_text(p, name);
  for (int k = 0, n = ag_node_n_arg(p->g, x); k < n; k++) {
    ag_printer_text(p, k ? ", " : "(");
    ag_printer_node(p, arg(p->g, x, k), P_IF);
  }
  ag_printer_text(p, ")");
}

static void sum(ag_printer *p, ag_id x) {
  ag_id a, b;
  double v;
  bool plus = op_of(p->g, x) == AG_OP_ADD;
  ag_print_order(p->g, x, &a, &b);
  bool turned = plus && ag_is_num(p->g, b, &v) && v < 0;
  infix(p, a, P_SUM, plus && !turned ? " + " : " - ", b, turned ? P_TURNED : P_TERM);
}

static void product(ag_printer *p, ag_id x) {
  const ag_graph *g = p->g;
  ag_id a, b, base;
  int n = ag_print_power(g, x, &base);
  if (n > 1) {
    ag_printer_node(p, base, P_POSTFIX);
    ag_printer_text(p, "^");
    ag_printer_int(p, n);
    return;
  }
  ag_print_order(g, x, &a, &b);
  bool flat = op_of(g, a) == AG_OP_NUM && takes_factor(g, b);
  infix(p, a, P_TERM, "*", b, flat ? P_TERM : P_UNARY);
}

/* scalar times tensor; t/s for (1/s) t */
static void scaled(ag_printer *p, ag_id x) {
  const ag_graph *g = p->g;
  ag_id s = arg(g, x, 0), t = arg(g, x, 1);
  double v;
  if (op_of(g, s) == AG_OP_DIV && ag_is_num(g, arg(g, s, 0), &v) && v == 1)
    infix(p, t, P_TERM, "/", arg(g, s, 1), P_UNARY);
  else infix(p, s, P_TERM, "*", t, takes_factor(g, t) ? P_TERM : P_UNARY);
}

/* A*B*v without parentheses where products associate to the right by themselves */
static void matrix_product(ag_printer *p, ag_id x) {
  const ag_graph *g = p->g;
  ag_id A = arg(g, x, 0), B = arg(g, x, 1), inner = op_of(g, A) == AG_OP_TRANSPOSE ? arg(g, A, 0) : A;
  bool right = g->nodes[x].cols == 1 || ag_is_rotation(g, x);
  bool flat = right && op_of(g, inner) == AG_OP_INPUT && op_of(g, B) == AG_OP_MATMUL;
  infix(p, A, P_TERM, "*", B, flat ? P_TERM : P_UNARY);
}

/* Entry (i, j) of x; parts of tensors are looked through, so that no list is written inside a list. */
static void entry_of(ag_printer *p, ag_id x, int i, int j) {
  const ag_graph *g = p->g;
  for (;;) {
    const ag_node *n = &g->nodes[x];
    const ag_id *a = g->pool + n->first;
    if (n->op == AG_OP_ROWS) i += n->payload.at.i, x = a[0];
    else if (n->op == AG_OP_CONCAT) {
      while (i >= g->nodes[*a].rows) i -= g->nodes[*a++].rows;
      x = *a;
    } else break;
  }
  const ag_node *n = &g->nodes[x];
  if (n->op == AG_OP_ZERO) ag_printer_text(p, "0");
  else if (n->rows * n->cols == 1) ag_printer_node(p, x, P_IF);
  else if (n->op == AG_OP_STACK) ag_printer_node(p, arg(g, x, i * n->cols + j), P_IF);
  else {
    ag_printer_node(p, x, P_POSTFIX);
    ag_printer_text(p, "[");
    ag_printer_int(p, i + 1);
    if (n->cols > 1) ag_printer_text(p, ","), ag_printer_int(p, j + 1);
    ag_printer_text(p, "]");
  }
}

/* A tensor written out as a list of its entries. */
static void spelled(ag_printer *p, ag_id x) {
  int n = p->g->nodes[x].rows, m = p->g->nodes[x].cols;
  bool matrix = m > 1 || n == 1;
  for (int k = 0; k < n * m; k++) {
    ag_printer_text(p, k == 0 ? (matrix ? "[[" : "[") : k % m || m == 1 ? ", " : "], [");
    entry_of(p, x, k / m, k % m);
  }
  ag_printer_text(p, matrix ? "]]" : "]");
}

static void entry(ag_printer *p, ag_id x) {
  entry_of(p, arg(p->g, x, 0), p->g->nodes[x].payload.at.i, p->g->nodes[x].payload.at.j);
}

static void turn(ag_printer *p, ag_id x) {
  int axis;
  bool reversed;
  ag_id angle;
  if (!is_turn(p->g, arg(p->g, x, 0), &axis, &reversed, &angle)) {
    ag_printer_node(p, arg(p->g, x, 0), P_ATOM);
    return;
  }
  ag_printer_text(p, reversed ? "rotation(-e" : "rotation(e");
  ag_printer_int(p, axis);
  ag_printer_text(p, ", ");
  ag_printer_node(p, angle, P_IF);
  ag_printer_text(p, ")");
}

static void solve(ag_printer *p, ag_id x) {
  if (p->g->nodes[x].payload.at.i != AG_SOLVE_GENERAL) {
    call(p, "solve", x);
    return;
  }
  ag_printer_text(p, "inverse(");
  ag_printer_node(p, arg(p->g, x, 0), P_IF);
  ag_printer_text(p, ")");
  if (op_of(p->g, arg(p->g, x, 1)) == AG_OP_EYE) return;
  ag_printer_text(p, "*");
  ag_printer_node(p, arg(p->g, x, 1), P_UNARY);
}

/* What lives only in lowered graphs: stored numbers and entries of solutions. */
static void inner(ag_printer *p, ag_id x) {
  ag_printer_text(p, op_of(p->g, x) == AG_OP_SLOT ? "stored(" : "pick(");
  ag_printer_node(p, arg(p->g, x, 0), P_IF);
  ag_printer_text(p, ", ");
  ag_printer_int(p, p->g->nodes[x].payload.at.i + 1);
  ag_printer_text(p, ")");
}

static void expand_tensor(ag_printer *p, ag_id x) {
  const ag_graph *g = p->g;
  switch (op_of(g, x)) {
  case AG_OP_INPUT: ag_printer_text(p, ag_node_name(g, x)); break;
  case AG_OP_EYE:
    ag_printer_text(p, "identity(");
    ag_printer_int(p, g->nodes[x].rows);
    ag_printer_text(p, ")");
    break;
  case AG_OP_STACK:
    if (ag_print_unit(g, x)) ag_printer_text(p, "e"), ag_printer_int(p, ag_print_unit(g, x));
    else spelled(p, x);
    break;
  case AG_OP_ZERO:
  case AG_OP_CONCAT:
  case AG_OP_ROWS: spelled(p, x); break;
  case AG_OP_ENTRY: entry(p, x); break;
  case AG_OP_SCALE: scaled(p, x); break;
  case AG_OP_MATMUL: matrix_product(p, x); break;
  case AG_OP_TRANSPOSE:
    ag_printer_node(p, arg(g, x, 0), P_POSTFIX);
    ag_printer_text(p, "^T");
    break;
  case AG_OP_SOLVE: solve(p, x); break;
  case AG_OP_ROTATION: turn(p, x); break;
  case AG_OP_SLOT:
  case AG_OP_PICK: inner(p, x); break;
  default: call(p, ag_op_describe(op_of(g, x))->text, x);
  }
}

static void expand(ag_printer *p, ag_id x) {
  const ag_graph *g = p->g;
  ag_id a = ag_node_n_arg(g, x) > 0 ? arg(g, x, 0) : 0, b = ag_node_n_arg(g, x) > 1 ? arg(g, x, 1) : 0;
  switch (op_of(g, x)) {
  case AG_OP_ADD:
  case AG_OP_SUB: sum(p, x); break;
  case AG_OP_MUL: product(p, x); break;
  case AG_OP_DIV: infix(p, a, P_TERM, "/", b, P_UNARY); break;
  case AG_OP_POW: infix(p, a, P_POSTFIX, "^", b, P_UNARY); break;
  case AG_OP_NEG:
    ag_printer_text(p, "-");
    ag_printer_node(p, a, takes_factor(g, a) ? P_TERM : P_UNARY);
    break;
  case AG_OP_LT: infix(p, a, P_SUM, " < ", b, P_SUM); break;
  case AG_OP_LE: infix(p, a, P_SUM, " <= ", b, P_SUM); break;
  case AG_OP_EQ: infix(p, a, P_SUM, " == ", b, P_SUM); break;
  case AG_OP_NE: infix(p, a, P_SUM, " != ", b, P_SUM); break;
  case AG_OP_AND: infix(p, a, P_AND, " and ", b, P_NOT); break;
  case AG_OP_OR: infix(p, a, P_OR, " or ", b, P_AND); break;
  case AG_OP_NOT: ag_printer_text(p, "not "), ag_printer_node(p, a, P_NOT); break;
  case AG_OP_SELECT:
    ag_printer_text(p, "if ");
    infix(p, a, P_IF, " then ", b, P_IF);
    ag_printer_text(p, " else ");
    ag_printer_node(p, arg(g, x, 2), P_IF);
    break;
  case AG_OP_CHECKPOS: /* no word of the language; its value is that of the argument */
  case AG_OP_CHECKNZ: ag_printer_node(p, a, P_ATOM); break;
  default: expand_tensor(p, x);
  }
}

const ag_print_style *ag_print_infix(void) {
  static const ag_print_style style = {binds, ag_text_number, expand, "(", ")", false, NULL};
  return &style;
}

void ag_print(const ag_graph *g, ag_id x, ag_text *out) { ag_printer_run(g, x, out, ag_print_infix()); }
