/* SPDX-License-Identifier: MIT
 * Formulas for reading, infix or LaTeX: sums and products are written flat, in an order that does not depend on how
 * they were built: number, inputs in the order of their declaration, functions, sums in parentheses, vectors. Numbers
 * are fractions. What is written means the same as the node, but does not read back to the same one. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "expr/poly.h"
#include "expr/print_internal.h"

enum { MAX_PARTS = 64, MAX_TERMS = 256, MAX_DENOMINATOR = 16, LONG_DENOMINATOR = 9999 };

enum { TURNED = 0 }; /* instead of an exponent: -(a x b) is written b x a, and -(a - b) is written b - a */

typedef struct part {
  ag_id x;
  int n; /* exponent, TURNED; in a sum the sign */
} part;

static ag_op op_of(const ag_graph *g, ag_id x) { return g->nodes[x].op; }
static ag_id arg(const ag_graph *g, ag_id x, int i) { return ag_node_arg(g, x, i); }
static bool is_sum(const ag_graph *g, ag_id x) { return op_of(g, x) == AG_OP_ADD || op_of(g, x) == AG_OP_SUB; }

/* ---- products ---- */

/* c*over.../under... */
typedef struct fraction {
  double c;
  int n_over, n_under;
  part over[MAX_PARTS], under[MAX_PARTS];
} fraction;

static void put(part *list, int *n, ag_id x, int exponent) {
  for (int k = 0; k < *n; k++)
    if (list[k].x == x) {
      list[k].n += exponent;
      return;
    }
  list[(*n)++] = (part){x, exponent};
}

static bool take(const ag_graph *g, ag_id x, int sign, fraction *f, int depth) {
  ag_id base;
  double v;
  int n = op_of(g, x) == AG_OP_MUL ? ag_print_power(g, x, &base) : 1;
  if (f->n_over + f->n_under + 4 > MAX_PARTS || depth > MAX_PARTS) return false;
  if (ag_is_num(g, x, &v) && v != 0) {
    f->c = sign > 0 ? f->c * v : f->c / v;
    return true;
  }
  if (n > 1) return put(sign > 0 ? f->over : f->under, sign > 0 ? &f->n_over : &f->n_under, base, n), true;
  switch (op_of(g, x)) {
  case AG_OP_NEG: f->c = -f->c; return take(g, arg(g, x, 0), sign, f, depth + 1);
  case AG_OP_SCALE:
  case AG_OP_MUL: return take(g, arg(g, x, 0), sign, f, depth + 1) && take(g, arg(g, x, 1), sign, f, depth + 1);
  case AG_OP_DIV: return take(g, arg(g, x, 0), sign, f, depth + 1) && take(g, arg(g, x, 1), -sign, f, depth + 1);
  case AG_OP_CHECKPOS:
  case AG_OP_CHECKNZ: return take(g, arg(g, x, 0), sign, f, depth + 1);
  default: put(sign > 0 ? f->over : f->under, sign > 0 ? &f->n_over : &f->n_under, x, 1); return true;
  }
}

/* Where a factor stands: names of expressions, inputs and their entries, functions, sums, tensors. */
static int rank_of(const ag_graph *g, ag_id x) {
  ag_op op = op_of(g, x);
  if (!ag_is_scalar(g, x)) return 6;
  if (op == AG_OP_NUM) return 0;
  if (op == AG_OP_INPUT) return g->nodes[x].payload.at.j == AG_LEAF_NAMED ? 1 : 2;
  if (op == AG_OP_ENTRY) return 2;
  if (op == AG_OP_ADD || op == AG_OP_SUB) return 5;
  return op == AG_OP_DOT ? 3 : 4;
}

/* The input that a factor begins with decides the order of equals. */
static ag_id first_input(const ag_graph *g, ag_id x) {
  while (ag_node_n_arg(g, x) > 0) x = arg(g, x, 0);
  return x;
}

/* omega*t, not t*omega */
static bool is_time(const ag_graph *g, ag_id x) {
  return op_of(g, x) == AG_OP_INPUT && !strcmp(ag_node_name(g, x), "t");
}

static int compare_factors(const ag_graph *g, ag_id x, ag_id y) {
  int a = rank_of(g, x), b = rank_of(g, y);
  if (a != b) return a - b;
  ag_id u = first_input(g, x), v = first_input(g, y);
  if (is_time(g, x) != is_time(g, y)) return is_time(g, x) ? 1 : -1;
  if (u != v) return u < v ? -1 : 1;
  if (op_of(g, x) != op_of(g, y)) return (int)op_of(g, x) - (int)op_of(g, y);
  uint64_t p = g->nodes[x].payload.bits, q = g->nodes[y].payload.bits;
  if (op_of(g, x) == AG_OP_ENTRY && p != q) {
    int i = g->nodes[x].payload.at.i - g->nodes[y].payload.at.i;
    return i ? i : g->nodes[x].payload.at.j - g->nodes[y].payload.at.j;
  }
  return x < y ? -1 : x > y;
}

static void sort_factors(const ag_graph *g, int n, part *list) {
  for (int i = 1; i < n; i++)
    for (int k = i; k > 0 && compare_factors(g, list[k - 1].x, list[k].x) > 0; k--) {
      part swap = list[k];
      list[k] = list[k - 1];
      list[k - 1] = swap;
    }
}

static bool split(const ag_graph *g, ag_id x, fraction *f) {
  *f = (fraction){.c = 1};
  if (!take(g, x, 1, f, 0)) return false;
  sort_factors(g, f->n_over, f->over);
  sort_factors(g, f->n_under, f->under);
  return true;
}

/* ---- sums ---- */

static bool take_terms(const ag_graph *g, ag_id x, int sign, part *list, int *n, int depth) {
  ag_op op = op_of(g, x);
  if (*n + 2 > MAX_TERMS || depth > MAX_TERMS) return false;
  if (op == AG_OP_ADD || op == AG_OP_SUB)
    return take_terms(g, arg(g, x, 0), sign, list, n, depth + 1) &&
           take_terms(g, arg(g, x, 1), op == AG_OP_SUB ? -sign : sign, list, n, depth + 1);
  if (op == AG_OP_NEG && (op_of(g, arg(g, x, 0)) == AG_OP_ADD || op_of(g, arg(g, x, 0)) == AG_OP_SUB))
    return take_terms(g, arg(g, x, 0), -sign, list, n, depth + 1);
  list[(*n)++] = (part){x, sign};
  return true;
}

static int compare_terms(const ag_graph *g, const fraction *p, const fraction *q) {
  int a = p->n_over + p->n_under, b = q->n_over + q->n_under;
  if (a != b) return a - b;
  for (int k = 0; k < p->n_over && k < q->n_over; k++) {
    int c = compare_factors(g, p->over[k].x, q->over[k].x);
    if (c) return c;
    if (p->over[k].n != q->over[k].n) return q->over[k].n - p->over[k].n;
  }
  return p->n_under - q->n_under;
}

/* Terms with their signs in order, a positive one first if there is one; 0 when there are too many. */
static int sorted_terms(const ag_graph *g, ag_id x, part *list) {
  int n = 0;
  if (!take_terms(g, x, 1, list, &n, 0)) return 0;
  fraction *f = ag_heap_alloc(sizeof *f * (size_t)(n + 1));
  bool good = true;
  for (int i = 0; i < n && good; i++) {
    good = split(g, list[i].x, &f[i]);
    if (f[i].c < 0) list[i].n = -list[i].n;
    fraction now = f[i];
    part p = list[i];
    int k = i;
    for (; k > 0 && good && compare_terms(g, &f[k - 1], &now) > 0; k--) f[k] = f[k - 1], list[k] = list[k - 1];
    f[k] = now;
    list[k] = p;
  }
  free(f);
  int first = 0;
  while (first < n && list[first].n < 0) first++;
  if (first < n) {
    part p = list[first];
    memmove(list + 1, list, sizeof *list * (size_t)first);
    list[0] = p;
  }
  return good ? n : 0;
}

/* ---- writing ---- */

/* Does it have few decimals, as numbers that someone has measured? */
static bool is_short(double c) {
  char text[32];
  snprintf(text, sizeof text, "%.6g", c);
  return strtod(text, NULL) == c;
}

/* |c|, or the number of few digits that it is but for rounding: 0.4*0.4 = 0.16000000000000003 is written as 0.16. */
static double written(double c) {
  char text[32];
  c = fabs(c);
  snprintf(text, sizeof text, "%.10g", c);
  double few = strtod(text, NULL);
  return fabs(few - c) <= 4 * DBL_EPSILON * c ? few : c;
}

/* |c| = num/den, or den = 0: 1/3, 12/35, but 9.81 */
static void ratio(double c, int64_t *num, int64_t *den) {
  c = written(c);
  bool found = ag_poly_rational(c, MAX_DENOMINATOR, num, den) ||
               (!is_short(c) && ag_poly_rational(c, LONG_DENOMINATOR, num, den));
  if (!found || *num > 1000000) *den = 0;
}

static void number_text(ag_printer *p, double c) {
  ag_text t = {0};
  p->style->number(&t, written(c));
  ag_printer_text(p, ag_arena_str(p->scratch, ag_text_cstr(&t)));
  ag_text_done(&t);
}

/* A cross product that can absorb the sign of -x: x itself, or R (a x b); 0: none. */
static ag_id cross_in(const ag_graph *g, ag_id x) {
  if (op_of(g, x) == AG_OP_MATMUL) x = arg(g, x, 1);
  return op_of(g, x) == AG_OP_CROSS ? x : 0;
}

static void signed_sum(ag_printer *p, ag_id x, int sign);

/* Needs the last factor in LaTeX no parentheses? Behind numbers: m a x (b x c), l R e, k a . b. */
static bool is_open(const ag_graph *g, int n, const part *list) {
  if (n == 0) return false;
  const ag_id x = list[n - 1].x;
  const ag_op op = op_of(g, x);
  if (list[n - 1].n == TURNED) return cross_in(g, x) == x;
  if (list[n - 1].n != 1 || (op != AG_OP_DOT && op != AG_OP_CROSS && op != AG_OP_MATMUL)) return false;
  for (int k = 0; k < n - 1; k++)
    if (op_of(g, list[k].x) == AG_OP_DOT) return false; /* (a . b) (c . d) */
  return true;
}

static void turned(ag_printer *p, ag_id x, bool open) {
  if (is_sum(p->g, x)) {
    ag_printer_text(p, p->style->latex ? p->style->open : "(");
    signed_sum(p, x, -1);
    ag_printer_text(p, p->style->latex ? p->style->close : ")");
    return;
  }
  ag_id cross = cross_in(p->g, x), a = arg(p->g, cross, 0), b = arg(p->g, cross, 1);
  bool latex = p->style->latex;
  if (cross != x) ag_printer_node(p, arg(p->g, x, 0), P_TERM), ag_printer_text(p, latex ? "\\," : "*");
  open = open && cross == x;
  ag_printer_text(p, !latex ? "cross(" : open ? "" : "\\left(");
  ag_printer_node(p, b, latex ? P_TERM : P_IF);
  ag_printer_text(p, latex ? "\\times " : ", ");
  ag_printer_node(p, a, latex ? P_TERM : P_IF);
  ag_printer_text(p, !latex ? ")" : open ? "" : "\\right)");
}

static void factor(ag_printer *p, part f, bool open) {
  if (f.n == TURNED) {
    turned(p, f.x, open);
    return;
  }
  if (f.n == 1) {
    ag_printer_node(p, f.x, open ? P_DOT : P_UNARY);
    return;
  }
  if (p->style->latex && ag_print_named_power(p, f.x, f.n)) return;
  ag_printer_node(p, f.x, P_POSTFIX);
  ag_printer_text(p, p->style->latex ? "^{" : "^");
  ag_printer_int(p, f.n);
  if (p->style->latex) ag_printer_text(p, "}");
}

static void factors(ag_printer *p, int n, const part *list, bool first) {
  for (int k = 0; k < n; k++) {
    if (!first) ag_printer_text(p, p->style->latex ? "\\," : "*");
    factor(p, list[k], p->style->latex && k == n - 1 && is_open(p->g, n, list));
    first = false;
  }
}

/* Is it nothing but a sum with its signs turned? */
static bool is_turned_sum(const ag_graph *g, const fraction *f) {
  return f->c == 1 && !f->n_under && f->n_over == 1 && f->over[0].n == TURNED && is_sum(g, f->over[0].x);
}

/* a*b/(2*c) */
static void infix_product(ag_printer *p, const fraction *f) {
  int64_t num, den;
  if (is_turned_sum(p->g, f)) {
    signed_sum(p, f->over[0].x, -1);
    return;
  }
  ratio(f->c, &num, &den);
  bool one = den && num == 1 && f->n_over > 0;
  if (!den) number_text(p, f->c);
  else if (!one) ag_printer_int(p, (int)num);
  factors(p, f->n_over, f->over, one);
  int below = (den > 1) + f->n_under;
  if (!below) return;
  ag_printer_text(p, below > 1 ? "/(" : "/");
  if (den > 1) ag_printer_int(p, (int)den);
  factors(p, f->n_under, f->under, den <= 1);
  if (below > 1) ag_printer_text(p, ")");
}

static void one_or_more(ag_printer *p, int n, const part *list, bool first) {
  if (n == 1 && first && list[0].n == 1) ag_printer_node(p, list[0].x, P_SUM); /* a sum alone needs no parentheses */
  else if (n == 1 && first && list[0].n == TURNED && is_sum(p->g, list[0].x)) signed_sum(p, list[0].x, -1);
  else factors(p, n, list, first);
}

static void latex_product(ag_printer *p, const fraction *f) {
  int64_t num, den;
  int n = f->n_over, tensors = n > 0 && !ag_is_scalar(p->g, f->over[n - 1].x);
  ratio(f->c, &num, &den);
  bool one = den && num == 1, first = true;
  if (is_turned_sum(p->g, f)) {
    signed_sum(p, f->over[0].x, -1);
    return;
  }
  if (f->n_under) {
    n -= tensors;
    ag_printer_text(p, "\\frac{");
    if (!den) number_text(p, f->c);
    else if (!one || !n) ag_printer_int(p, (int)num);
    one_or_more(p, n, f->over, one && n);
    ag_printer_text(p, "}{");
    if (den > 1) ag_printer_int(p, (int)den);
    one_or_more(p, f->n_under, f->under, den <= 1);
    ag_printer_text(p, "}");
    factors(p, tensors, f->over + n, false);
    return;
  }
  if (!den) number_text(p, f->c), first = false;
  else if (den > 1) {
    ag_printer_text(p, "\\frac{");
    ag_printer_int(p, (int)num);
    ag_printer_text(p, "}{");
    ag_printer_int(p, (int)den);
    ag_printer_text(p, "}");
    first = false;
  } else if (!one || !n) ag_printer_int(p, (int)num), first = false;
  factors(p, n, f->over, first);
}

static bool is_product(const ag_graph *g, ag_id x) {
  ag_op op = op_of(g, x);
  return op == AG_OP_MUL || op == AG_OP_DIV || op == AG_OP_NEG || op == AG_OP_SCALE || op == AG_OP_NUM ||
         op == AG_OP_CHECKPOS || op == AG_OP_CHECKNZ;
}

/* Has the sum terms of both signs? */
static bool is_mixed(const ag_graph *g, ag_id x) {
  part list[MAX_TERMS];
  int n = sorted_terms(g, x, list), minus = 0;
  for (int i = 0; i < n; i++) minus += list[i].n < 0;
  return minus > 0 && minus < n;
}

/* Takes the sign of a product into a cross product or a sum of both signs; false when there is none. */
static bool turn(const ag_graph *g, fraction *f) {
  if (f->n_over == 0 || f->over[f->n_over - 1].n != 1) return false;
  part *last = &f->over[f->n_over - 1];
  if (!cross_in(g, last->x) && !(is_sum(g, last->x) && ag_is_scalar(g, last->x) && is_mixed(g, last->x))) return false;
  f->c = -f->c;
  last->n = TURNED;
  return true;
}

static void product(ag_printer *p, ag_id x) {
  fraction f;
  double v;
  if ((ag_is_num(p->g, x, &v) && v == 0) || !split(p->g, x, &f)) {
    if (op_of(p->g, x) == AG_OP_NUM) ag_printer_text(p, "0");
    else p->style->plain->expand(p, x);
    return;
  }
  if (f.c < 0 && !turn(p->g, &f)) ag_printer_text(p, "-");
  if (p->style->latex) latex_product(p, &f);
  else infix_product(p, &f);
}

/* A term with its sign (n), which goes into a sum of both signs if there is one; first: no plus is written. */
static void signed_term(ag_printer *p, part t, bool first) {
  fraction f;
  bool latex = p->style->latex, product = is_product(p->g, t.x) && split(p->g, t.x, &f);
  bool sum = product && f.n_over > 0 && is_sum(p->g, f.over[f.n_over - 1].x);
  if (t.n < 0 && sum && turn(p->g, &f)) t.n = 1;
  if (t.n < 0) ag_printer_text(p, latex || first ? "-" : " - ");
  else if (!first) ag_printer_text(p, latex ? "+" : " + ");
  if (!product) ag_printer_node(p, t.x, latex ? P_DOT : P_TERM);
  else if (latex) latex_product(p, &f);
  else infix_product(p, &f);
}

static void signed_sum(ag_printer *p, ag_id x, int sign) {
  part list[MAX_TERMS];
  int n = sorted_terms(p->g, x, list), first = 0;
  if (!n) p->style->plain->expand(p, x);
  for (int i = 0; i < n; i++) list[i].n *= sign;
  while (first < n && list[first].n < 0) first++;
  if (first < n) {
    part t = list[first];
    memmove(list + 1, list, sizeof *list * (size_t)first);
    list[0] = t;
  }
  for (int i = 0; i < n; i++) signed_term(p, list[i], i == 0);
}

static void sum(ag_printer *p, ag_id x) { signed_sum(p, x, 1); }

static bool is_diagonal(const ag_graph *g, ag_id x) {
  int n = g->nodes[x].rows;
  if (op_of(g, x) != AG_OP_STACK || n < 2 || g->nodes[x].cols != n) return false;
  for (int k = 0; k < n * n; k++)
    if (k / n != k % n && !ag_is_zero(g, arg(g, x, k))) return false;
  return true;
}

/* diag(a, b, c), or diag(v) of the entries of a vector v */
static void diagonal(ag_printer *p, ag_id x) {
  const ag_graph *g = p->g;
  int n = g->nodes[x].rows;
  ag_id d = arg(g, x, 0), v = op_of(g, d) == AG_OP_ENTRY ? arg(g, d, 0) : 0;
  if (v && (op_of(g, v) != AG_OP_INPUT || g->nodes[v].rows != n || g->nodes[v].cols != 1)) v = 0;
  for (int k = 0; k < n && v; k++) {
    d = arg(g, x, k * n + k);
    if (op_of(g, d) != AG_OP_ENTRY || arg(g, d, 0) != v || g->nodes[d].payload.at.i != k) v = 0;
  }
  ag_printer_text(p, p->style->latex ? "\\operatorname{diag}(" : "diag(");
  for (int k = 0; k < (v ? 1 : n); k++) {
    if (k) ag_printer_text(p, ", ");
    ag_printer_node(p, v ? v : arg(g, x, k * n + k), P_IF);
  }
  ag_printer_text(p, ")");
}

static void expand(ag_printer *p, ag_id x) {
  if (is_diagonal(p->g, x)) diagonal(p, x);
  else if (is_sum(p->g, x)) sum(p, x);
  else if (is_product(p->g, x)) product(p, x);
  else p->style->plain->expand(p, x);
}

/* Does it end with a dot or cross product that stands open, not in a fraction? */
static bool ends_open(const ag_graph *g, const fraction *f) {
  if (!is_open(g, f->n_over, f->over)) return false;
  const ag_id x = f->over[f->n_over - 1].x;
  return op_of(g, x) != AG_OP_MATMUL && (!f->n_under || !ag_is_scalar(g, x));
}

/* A product binds as one, with or without a sign; so does a fraction in infix. */
static int binds_as(const ag_graph *g, ag_id x, const ag_print_style *plain) {
  fraction f;
  double v;
  ag_id base;
  if (is_sum(g, x)) return P_SUM;
  if (ag_is_num(g, x, &v) && v == 0) return P_ATOM;
  if (!is_product(g, x) || !split(g, x, &f)) return plain->binds(g, x);
  if (f.c < 0 && (!turn(g, &f) || is_turned_sum(g, &f))) return P_SUM;
  if (f.c == 1 && !f.n_under && f.n_over == 1 && f.over[0].n == 1) return binds_as(g, f.over[0].x, plain);
  if (op_of(g, x) == AG_OP_MUL && ag_print_power(g, x, &base) > 1) return P_POWER;
  if (op_of(g, x) == AG_OP_NUM && f.c == (double)(int64_t)f.c && f.c < 1e15) return P_ATOM;
  return plain == ag_print_tex() && ends_open(g, &f) ? P_DOT : P_TERM;
}

static int binds_infix(const ag_graph *g, ag_id x) { return binds_as(g, x, ag_print_infix()); }
static int binds_latex(const ag_graph *g, ag_id x) { return binds_as(g, x, ag_print_tex()); }

void ag_print_formula(const ag_graph *g, ag_id x, bool latex, ag_text *out) {
  const ag_print_style *plain = latex ? ag_print_tex() : ag_print_infix();
  ag_print_style style = *plain;
  style.plain = plain;
  style.latex = latex;
  style.expand = expand;
  style.binds = latex ? binds_latex : binds_infix;
  ag_printer_run(g, x, out, &style);
}
