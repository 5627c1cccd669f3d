/* SPDX-License-Identifier: MIT
 * LaTeX. Scalar functions take their form from op.def; names become symbols: theta -> \theta, x1 -> x_{1},
 * theta' -> \dot{\theta}, x[2]' -> \dot{x}_{2}, th -> \mathit{th}, coin.Omega -> \Omega_{coin}; vectors are bold, their
 * components are not. */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "expr/print_internal.h"

static ag_op op_of(const ag_graph *g, ag_id x) { return g->nodes[x].op; }
static ag_id arg(const ag_graph *g, ag_id x, int i) { return ag_node_arg(g, x, i); }

/* ---- names ---- */

static bool is_greek(const char *s, size_t n) {
  static const char *const words[] = {
      "alpha", "beta",  "gamma",  "delta", "epsilon", "zeta",  "eta",     "theta", "iota", "kappa", "lambda", "mu",
      "nu",    "xi",    "pi",     "rho",   "sigma",   "tau",   "upsilon", "phi",   "chi",  "psi",   "omega",  "Gamma",
      "Delta", "Theta", "Lambda", "Xi",    "Pi",      "Sigma", "Upsilon", "Phi",   "Psi",  "Omega"};
  for (size_t k = 0; k < sizeof words / sizeof *words; k++)
    if (strlen(words[k]) == n && !memcmp(words[k], s, n)) return true;
  return false;
}

/* A Greek letter, a letter, or a word in the given font. */
static void symbol(ag_text *out, const char *s, size_t n, const char *font) {
  if (is_greek(s, n)) ag_text_char(out, '\\');
  else if (n > 1) ag_text_str(out, font);
  ag_text_strn(out, s, n);
  if (n > 1 && !is_greek(s, n)) ag_text_char(out, '}');
}

static void separate(ag_text *out, bool *open) {
  ag_text_str(out, *open ? "," : "_{");
  *open = true;
}

/* The words and numbers of n characters, as parts of a subscript. */
static void subscripts(ag_text *out, const char *s, size_t end, bool *open) {
  for (size_t k = 0, n; k < end; k += n ? n : 1) {
    n = 0;
    while (k + n < end && isalnum((unsigned char)s[k + n])) n++;
    if (n == 0) continue;
    separate(out, open);
    if (isdigit((unsigned char)s[k])) ag_text_strn(out, s + k, n);
    else symbol(out, s + k, n, "\\mathrm{");
  }
}

/* The name with further indices i, j (0: none) in its subscript. The body of coin.Omega is in its subscript, too. */
static void name(ag_text *out, const char *whole, int i, int j, bool bold) {
  static const char *const accents[] = {"", "\\dot{", "\\ddot{", "\\dddot{"};
  const char *dot = strrchr(whole, '.'), *s = dot && isalpha((unsigned char)dot[1]) ? dot + 1 : whole;
  size_t base = 0, end = strlen(s), n_prime = 0;
  bool open = false;
  for (size_t k = 0; k < end; k++) n_prime += s[k] == '\'';
  if (n_prime > 3) n_prime = 3;
  while (isalpha((unsigned char)s[base])) base++;
  ag_text_str(out, accents[n_prime]);
  if (bold) ag_text_str(out, "\\boldsymbol{");
  symbol(out, s, base, "\\mathit{");
  if (bold) ag_text_char(out, '}');
  if (n_prime) ag_text_char(out, '}');
  subscripts(out, whole, (size_t)(s - whole), &open);
  subscripts(out, s + base, end - base, &open);
  if (i) separate(out, &open), ag_text_printf(out, "%d", i);
  if (j) ag_text_printf(out, ",%d", j);
  if (open) ag_text_char(out, '}');
}

static void number(ag_text *out, double v) {
  ag_text t = {0};
  ag_text_number(&t, v);
  const char *s = ag_text_cstr(&t), *e = isfinite(v) ? strchr(s, 'e') : NULL;
  if (isinf(v)) ag_text_str(out, v < 0 ? "-\\infty" : "\\infty");
  else if (!e) ag_text_str(out, s);
  else {
    if ((size_t)(e - s) != 1 || *s != '1') ag_text_strn(out, s, (size_t)(e - s)), ag_text_str(out, "\\cdot ");
    ag_text_printf(out, "10^{%d}", atoi(e + 1));
  }
  ag_text_done(&t);
}

/* ---- forms ---- */

/* Does a form such as "\\sin #1" leave its argument open at the end? */
static bool opens(const char *form) {
  size_t n = strlen(form);
  return n > 3 && !strcmp(form + n - 3, " #1");
}

static int binds(const ag_graph *g, ag_id x) {
  ag_id base;
  double v;
  switch (op_of(g, x)) {
  case AG_OP_NUM:
    return ag_is_num(g, x, &v) && (v < 0 || fabs(v) >= 1e16 || (v != 0 && fabs(v) < 1e-4)) ? P_UNARY : P_ATOM;
  case AG_OP_SELECT: return P_ATOM;
  case AG_OP_OR: return P_OR;
  case AG_OP_AND: return P_AND;
  case AG_OP_NOT: return P_NOT;
  case AG_OP_LT:
  case AG_OP_LE:
  case AG_OP_EQ:
  case AG_OP_NE: return P_COMPARE;
  case AG_OP_NEG:
  case AG_OP_ADD:
  case AG_OP_SUB: return P_SUM;
  case AG_OP_DOT:
  case AG_OP_CROSS: return P_DOT;
  case AG_OP_MUL: return ag_print_power(g, x, &base) > 1 ? P_POWER : P_TERM;
  case AG_OP_SCALE:
  case AG_OP_MATMUL:
  case AG_OP_DET: return P_TERM;
  case AG_OP_SOLVE: return op_of(g, arg(g, x, 1)) == AG_OP_EYE ? P_POWER : P_TERM;
  case AG_OP_POW:
  case AG_OP_DIV:
  case AG_OP_TRANSPOSE: return P_POWER;
  case AG_OP_ROTATION: return binds(g, arg(g, x, 0));
  default: return opens(ag_op_describe(op_of(g, x))->tex) ? P_UNARY : P_ATOM;
  }
}

/* A form of op.def such as "\\frac{#1}{#2}": an argument in braces, bars, or between commas needs no parentheses. */
static void form(ag_printer *p, ag_id x, const char *s, int prec) {
  const char *from = s, *start = s;
  for (; *s; s++) {
    if (*s != '#') continue;
    bool enclosed = s > start && s[-1] != ' ' && strchr("{(,|", s[-1]);
    ag_printer_textn(p, from, (size_t)(s - from));
    ag_printer_node(p, arg(p->g, x, s[1] - '1'), enclosed ? P_IF : prec);
    s++;
    from = s + 1;
  }
  ag_printer_text(p, from);
}

static void infix(ag_printer *p, ag_id a, int prec_a, const char *sign, ag_id b, int prec_b) {
  ag_printer_node(p, a, prec_a);
  ag_printer_text(p, sign);
  ag_printer_node(p, b, prec_b);
}

static void sum(ag_printer *p, ag_id x) {
  ag_id a, b;
  double v;
  bool plus = op_of(p->g, x) == AG_OP_ADD;
  ag_print_order(p->g, x, &a, &b);
  bool turned = plus && ag_is_num(p->g, b, &v) && v < 0;
  infix(p, a, P_SUM, plus && !turned ? "+" : "-", b, turned ? P_TURNED : P_DOT);
}

/* sin^2 x rather than (sin x)^2 */
bool ag_print_named_power(ag_printer *p, ag_id base, int n) {
  ag_op op = op_of(p->g, base);
  bool circular = op == AG_OP_SIN || op == AG_OP_COS || op == AG_OP_TAN;
  if (!circular && op != AG_OP_SINH && op != AG_OP_COSH && op != AG_OP_TANH) return false;
  const char *tex = ag_op_describe(op)->tex, *at = strchr(tex, ' ');
  ag_printer_textn(p, tex, (size_t)(at - tex));
  ag_printer_text(p, "^{");
  ag_printer_int(p, n);
  ag_printer_text(p, "} ");
  ag_printer_node(p, arg(p->g, base, 0), P_POWER);
  return true;
}

static void product(ag_printer *p, ag_id x) {
  ag_id a, b, base;
  int n = ag_print_power(p->g, x, &base);
  if (n == 1) {
    ag_print_order(p->g, x, &a, &b);
    infix(p, a, P_TERM, "\\,", b, op_of(p->g, a) == AG_OP_NUM ? P_TERM : P_UNARY);
    return;
  }
  if (ag_print_named_power(p, base, n)) return;
  ag_printer_node(p, base, P_POSTFIX);
  ag_printer_text(p, "^{");
  ag_printer_int(p, n);
  ag_printer_text(p, "}");
}

static void matrix(ag_printer *p, ag_id x) {
  const ag_graph *g = p->g;
  int n = g->nodes[x].rows, m = g->nodes[x].cols;
  ag_printer_text(p, "\\begin{pmatrix}");
  for (int k = 0; k < n * m; k++) {
    if (k) ag_printer_text(p, k % m ? " & " : " \\\\ ");
    if (op_of(g, x) == AG_OP_STACK) ag_printer_node(p, arg(g, x, k), P_IF);
    else ag_printer_text(p, op_of(g, x) == AG_OP_EYE && k / m == k % m ? "1" : "0");
  }
  ag_printer_text(p, "\\end{pmatrix}");
}

static void entry(ag_printer *p, ag_id x) {
  const ag_graph *g = p->g;
  ag_id a = arg(g, x, 0);
  int i = g->nodes[x].payload.at.i + 1, j = g->nodes[a].cols > 1 ? g->nodes[x].payload.at.j + 1 : 0;
  if (op_of(g, a) == AG_OP_INPUT) { /* binds as an atom: nothing is waiting in the batch */
    name(p->out, ag_node_name(g, a), i, j, false);
    return;
  }
  ag_printer_text(p, "\\left[");
  ag_printer_node(p, a, P_IF);
  ag_printer_text(p, "\\right]_{");
  ag_printer_int(p, i);
  if (j) ag_printer_text(p, ","), ag_printer_int(p, j);
  ag_printer_text(p, "}");
}

static void columns(ag_printer *p, ag_id x) {
  ag_printer_text(p, "\\begin{pmatrix}");
  for (int k = 0, n = ag_node_n_arg(p->g, x); k < n; k++) {
    if (k) ag_printer_text(p, " \\\\ ");
    ag_printer_node(p, arg(p->g, x, k), P_IF);
  }
  ag_printer_text(p, "\\end{pmatrix}");
}

static void rows(ag_printer *p, ag_id x) {
  int from = p->g->nodes[x].payload.at.i;
  ag_printer_text(p, "\\left[");
  ag_printer_node(p, arg(p->g, x, 0), P_IF);
  ag_printer_text(p, "\\right]_{");
  ag_printer_int(p, from + 1);
  ag_printer_text(p, "\\ldots ");
  ag_printer_int(p, from + p->g->nodes[x].rows);
  ag_printer_text(p, "}");
}

static void enclosed(ag_printer *p, const char *before, ag_id x, const char *after) {
  ag_printer_text(p, before);
  ag_printer_node(p, arg(p->g, x, 0), P_IF);
  ag_printer_text(p, after);
}

static void expand_tensor(ag_printer *p, ag_id x) {
  const ag_graph *g = p->g;
  ag_id a = ag_node_n_arg(g, x) > 0 ? arg(g, x, 0) : 0, b = ag_node_n_arg(g, x) > 1 ? arg(g, x, 1) : 0;
  switch (op_of(g, x)) {
  case AG_OP_INPUT: name(p->out, ag_node_name(g, x), 0, 0, g->nodes[x].rows > 1 && g->nodes[x].cols == 1); break;
  case AG_OP_EYE: ag_printer_text(p, "\\mathbf{1}"); break;
  case AG_OP_ZERO: ag_printer_text(p, "0"); break;
  case AG_OP_STACK:
    if (ag_print_unit(g, x))
      ag_printer_text(p, "\\boldsymbol{e}_{"), ag_printer_int(p, ag_print_unit(g, x)), ag_printer_text(p, "}");
    else matrix(p, x);
    break;
  case AG_OP_CONCAT: columns(p, x); break;
  case AG_OP_ROWS: rows(p, x); break;
  case AG_OP_ENTRY: entry(p, x); break;
  case AG_OP_SCALE:
  case AG_OP_MATMUL: infix(p, a, P_TERM, "\\,", b, P_TERM); break;
  case AG_OP_DOT: infix(p, a, P_TERM, "\\cdot ", b, P_TERM); break;
  case AG_OP_CROSS: infix(p, a, P_TERM, "\\times ", b, P_TERM); break;
  case AG_OP_TRANSPOSE: ag_printer_node(p, a, P_POSTFIX), ag_printer_text(p, "^{\\mathsf T}"); break;
  case AG_OP_HAT: enclosed(p, "\\widehat{", x, "}"); break;
  case AG_OP_NORM: enclosed(p, "\\left\\|", x, "\\right\\|"); break;
  case AG_OP_DET: ag_printer_text(p, "\\det "), ag_printer_node(p, a, P_POWER); break;
  case AG_OP_ROTATION: ag_printer_node(p, a, P_IF); break;
  case AG_OP_SOLVE:
    ag_printer_node(p, a, P_POSTFIX);
    ag_printer_text(p, "^{-1}");
    if (op_of(g, b) != AG_OP_EYE) ag_printer_text(p, "\\,"), ag_printer_node(p, b, P_TERM);
    break;
  case AG_OP_SLOT:
  case AG_OP_PICK:
    enclosed(p, "\\left[", x, "\\right]_{"), ag_printer_int(p, g->nodes[x].payload.at.i + 1), ag_printer_text(p, "}");
    break;
  default: columns(p, x); /* CALL_SOLVE */
  }
}

static void expand(ag_printer *p, ag_id x) {
  const ag_graph *g = p->g;
  ag_op op = op_of(g, x);
  const char *tex = ag_op_describe(op)->tex;
  ag_id a = ag_node_n_arg(g, x) > 0 ? arg(g, x, 0) : 0, b = ag_node_n_arg(g, x) > 1 ? arg(g, x, 1) : 0;
  switch (op) {
  case AG_OP_ADD:
  case AG_OP_SUB: sum(p, x); break;
  case AG_OP_MUL: product(p, x); break;
  case AG_OP_NEG: ag_printer_text(p, "-"), ag_printer_node(p, a, P_DOT); break;
  case AG_OP_POW: form(p, x, tex, P_POSTFIX); break;
  case AG_OP_LT:
  case AG_OP_LE:
  case AG_OP_EQ:
  case AG_OP_NE: form(p, x, tex, P_SUM); break;
  case AG_OP_AND: infix(p, a, P_AND, "\\wedge ", b, P_NOT); break;
  case AG_OP_OR: infix(p, a, P_OR, "\\vee ", b, P_AND); break;
  case AG_OP_NOT: form(p, x, tex, P_ATOM); break;
  case AG_OP_SELECT:
    ag_printer_text(p, "\\begin{cases}");
    infix(p, b, P_IF, " & \\text{if } ", a, P_IF);
    ag_printer_text(p, " \\\\ ");
    ag_printer_node(p, arg(g, x, 2), P_IF);
    ag_printer_text(p, " & \\text{otherwise}\\end{cases}");
    break;
  case AG_OP_CHECKPOS:
  case AG_OP_CHECKNZ: ag_printer_node(p, a, P_ATOM); break;
  default:
    if (*tex && op != AG_OP_SLOT) form(p, x, tex, P_POWER);
    else expand_tensor(p, x);
  }
}

const ag_print_style *ag_print_tex(void) {
  static const ag_print_style style = {binds, number, expand, "\\left(", "\\right)", true, NULL};
  return &style;
}

void ag_print_latex(const ag_graph *g, ag_id x, ag_text *out) { ag_printer_run(g, x, out, ag_print_tex()); }
