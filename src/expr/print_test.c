/* SPDX-License-Identifier: MIT
 * Printing: given texts, LaTeX, and the round trip: printed text parses back to the same node. The parser here
 * implements only the expression grammar of docs/language.md. */
#include <ctype.h>

#include "expr/graph_internal.h"
#include "expr/random_program.h"

#include "check.h"

/* ---- a parser for expressions ---- */

typedef struct parser {
  ag_graph *g;
  const char *at;
  const ag_id *inputs;
  int n_input;
  bool failed;
} parser;

static ag_id parse_expr(parser *p);

static void space(parser *p) {
  while (*p->at == ' ') p->at++;
}

static bool take(parser *p, const char *s) {
  size_t n = strlen(s);
  space(p);
  if (strncmp(p->at, s, n) || (isalpha((unsigned char)*s) && isalnum((unsigned char)p->at[n]))) return false;
  p->at += n;
  return true;
}

static void want(parser *p, const char *s) {
  if (!take(p, s)) p->failed = true;
}

static int parse_int(parser *p) {
  char *end;
  space(p);
  long v = strtol(p->at, &end, 10);
  if (end == p->at) p->failed = true;
  p->at = end;
  return (int)v;
}

/* the input with the longest name that matches here */
static ag_id parse_input(parser *p) {
  ag_id best = 0;
  size_t length = 0;
  for (int k = 0; k < p->n_input; k++) {
    const char *name = ag_node_name(p->g, p->inputs[k]);
    size_t n = strlen(name);
    if (n > length && !strncmp(p->at, name, n) && !isalnum((unsigned char)p->at[n])) best = p->inputs[k], length = n;
  }
  p->at += length;
  return best;
}

static ag_id parse_list(parser *p) {
  ag_id e[64], x;
  int n = 0, rows = 0;
  bool matrix = take(p, "[");
  do {
    if (matrix && rows > 0) want(p, "[");
    do e[n++] = parse_expr(p);
    while (!p->failed && n < 60 && take(p, ","));
    if (matrix) want(p, "]"), rows++;
  } while (!p->failed && matrix && take(p, ","));
  want(p, "]");
  if (p->failed) return ag_num(p->g, 0);
  for (int k = 0; k < n; k++)
    if (!ag_is_scalar(p->g, e[k])) return p->failed = true, ag_num(p->g, 0);
  x = ag_stack(p->g, matrix ? rows : n, matrix ? n / rows : 1, e);
  return x;
}

static ag_id turn(ag_graph *g, ag_id axis, ag_id a) {
  double n[3];
  ag_id s = ag_apply1(g, AG_OP_SIN, a), c = ag_apply1(g, AG_OP_COS, a), e[9], m = ag_neg(g, s);
  AG_CHECK(ag_constant(g, axis, n));
  for (int k = 0; k < 3; k++) {
    if (n[k] == 0) continue;
    int i = (k + 1) % 3, j = (k + 2) % 3;
    for (int l = 0; l < 9; l++) e[l] = ag_num(g, 0);
    e[4 * k] = ag_num(g, 1);
    e[4 * i] = e[4 * j] = c;
    e[3 * j + i] = n[k] > 0 ? s : m;
    e[3 * i + j] = n[k] > 0 ? m : s;
  }
  return ag_rotation(g, ag_stack(g, 3, 3, e));
}

static ag_id parse_call(parser *p) {
  static const struct {
    const char *name;
    int n;
  } f[] = {{"dot", 2}, {"cross", 2},   {"hat", 1},      {"norm", 1},
           {"det", 1}, {"inverse", 1}, {"rotation", 2}, {"solve", 2}};
  ag_graph *g = p->g;
  ag_id a[2] = {0};
  for (int k = 0; k < 8; k++) {
    if (!take(p, f[k].name)) continue;
    want(p, "(");
    for (int i = 0; i < f[k].n; i++) {
      if (i) want(p, ",");
      a[i] = parse_expr(p);
    }
    want(p, ")");
    if (p->failed) return ag_num(g, 0);
    switch (k) {
    case 0: return ag_dot(g, a[0], a[1]);
    case 1: return ag_cross(g, a[0], a[1]);
    case 2: return ag_hat(g, a[0]);
    case 3: return ag_norm(g, a[0]);
    case 4: return ag_det(g, a[0]);
    case 5: return ag_inverse(g, a[0]);
    case 6: return turn(g, a[0], a[1]);
    default: return ag_solve(g, a[0], a[1], AG_SOLVE_GENERAL);
    }
  }
  for (ag_op op = AG_OP_SQRT; op <= AG_OP_MAX; op++) {
    if (!take(p, ag_op_describe(op)->text)) continue;
    want(p, "(");
    a[0] = parse_expr(p);
    if (ag_op_describe(op)->arity == 2) want(p, ","), a[1] = parse_expr(p);
    want(p, ")");
    return p->failed ? ag_num(g, 0) : ag_apply(g, op, a);
  }
  return 0;
}

static ag_id parse_atom(parser *p) {
  ag_graph *g = p->g;
  space(p);
  if (isdigit((unsigned char)*p->at) || *p->at == '.') {
    char *end;
    double v = strtod(p->at, &end);
    p->at = end;
    return ag_num(g, v);
  }
  if (take(p, "(")) {
    ag_id x = parse_expr(p);
    want(p, ")");
    return x;
  }
  if (take(p, "[")) return parse_list(p);
  ag_id x = parse_input(p);
  if (x) return x;
  if (take(p, "identity")) {
    want(p, "(");
    int n = parse_int(p);
    want(p, ")");
    return ag_eye(g, n);
  }
  for (int k = 0; k < 3; k++) {
    ag_id e[3];
    if (!take(p, (const char *[]){"e1", "e2", "e3"}[k])) continue;
    for (int i = 0; i < 3; i++) e[i] = ag_num(g, i == k);
    return ag_stack(g, 3, 1, e);
  }
  x = parse_call(p);
  if (!x) p->failed = true;
  return x ? x : ag_num(g, 0);
}

static ag_id parse_postfix(parser *p) {
  ag_id x = parse_atom(p);
  while (!p->failed) {
    if (take(p, "[")) {
      int i = parse_int(p), j = take(p, ",") ? parse_int(p) : 1;
      want(p, "]");
      if (p->failed || i < 1 || i > ag_node_rows(p->g, x) || j < 1 || j > ag_node_cols(p->g, x))
        return p->failed = true, x;
      x = ag_entry(p->g, x, i - 1, j - 1);
    } else if (take(p, "^T")) x = ag_transpose(p->g, x);
    else break;
  }
  return x;
}

static ag_id parse_unary(parser *p) {
  if (take(p, "-")) return ag_neg(p->g, parse_unary(p));
  ag_id x = parse_postfix(p);
  return take(p, "^") ? ag_pow(p->g, x, parse_unary(p)) : x;
}

static ag_id parse_sum(parser *p) {
  ag_id sum = 0;
  for (int sign = 0; !p->failed;) {
    ag_id x = parse_unary(p), y;
    for (;;) {
      if (take(p, "*")) y = parse_unary(p), x = p->failed ? x : ag_mul(p->g, x, y);
      else if (take(p, "/")) y = parse_unary(p), x = p->failed ? x : ag_div(p->g, x, y);
      else break;
    }
    sum = !sum ? x : sign > 0 ? ag_add(p->g, sum, x) : ag_sub(p->g, sum, x);
    sign = take(p, "+") ? 1 : take(p, "-") ? -1 : 0;
    if (!sign) break;
  }
  return sum;
}

static ag_id parse_compare(parser *p) {
  static const char *const signs[] = {"<=", "<", "==", "!="};
  static const ag_op ops[] = {AG_OP_LE, AG_OP_LT, AG_OP_EQ, AG_OP_NE};
  if (take(p, "not")) return ag_apply1(p->g, AG_OP_NOT, parse_compare(p));
  ag_id x = parse_sum(p);
  for (int k = 0; k < 4; k++)
    if (take(p, signs[k])) {
      ag_id y = parse_sum(p);
      return p->failed ? x : ag_apply2(p->g, ops[k], x, y);
    }
  return x;
}

static ag_id parse_and(parser *p) {
  ag_id x = parse_compare(p), y;
  while (take(p, "and")) y = parse_compare(p), x = ag_apply2(p->g, AG_OP_AND, x, y);
  return x;
}

static ag_id parse_expr(parser *p) {
  if (take(p, "if")) {
    ag_id c = parse_expr(p), a, b;
    want(p, "then");
    a = parse_expr(p);
    want(p, "else");
    b = parse_expr(p);
    return p->failed ? c : ag_select(p->g, c, a, b);
  }
  ag_id x = parse_and(p), y;
  while (take(p, "or")) y = parse_and(p), x = ag_apply2(p->g, AG_OP_OR, x, y);
  return x;
}

static ag_id parse(ag_graph *g, const char *s, int n_input, const ag_id *inputs) {
  parser p = {g, s, inputs, n_input, false};
  ag_id x = parse_expr(&p);
  space(&p);
  return p.failed || *p.at ? 0 : x;
}

/* ---- given texts ---- */

static ag_graph *g;
static ag_id in[16];
static int n_in;

static ag_id input(const char *name, int rows, int cols, ag_leaf leaf) {
  return in[n_in++] = ag_input(g, name, rows, cols, leaf);
}

/* text -> node -> the expected text -> the same node */
static void infix(const char *text, const char *expected) {
  ag_text out = {0};
  ag_id x = parse(g, text, n_in, in);
  AG_CHECK(x != 0);
  if (x) {
    ag_print(g, x, &out);
    AG_CHECK_STR(ag_text_cstr(&out), expected);
    AG_CHECK(parse(g, ag_text_cstr(&out), n_in, in) == x);
  }
  ag_text_done(&out);
}

static void latex(const char *text, const char *expected) {
  ag_text out = {0};
  ag_id x = parse(g, text, n_in, in);
  AG_CHECK(x != 0);
  if (x) ag_print_latex(g, x, &out);
  AG_CHECK_STR(ag_text_cstr(&out), expected);
  ag_text_done(&out);
}

static void declare(void) {
  g = ag_graph_create();
  n_in = 0;
  input("x", 1, 1, AG_LEAF_REAL);
  input("y", 1, 1, AG_LEAF_REAL);
  input("z", 1, 1, AG_LEAF_REAL);
  input("theta", 1, 1, AG_LEAF_REAL);
  input("theta'", 1, 1, AG_LEAF_REAL);
  input("v", 3, 1, AG_LEAF_REAL);
  input("v'", 3, 1, AG_LEAF_REAL);
  input("Omega[2]", 3, 1, AG_LEAF_REAL);
  input("r[1]'", 3, 1, AG_LEAF_REAL);
  input("A", 3, 3, AG_LEAF_REAL);
  input("R", 3, 3, AG_LEAF_ROTATION);
  input("x1", 1, 1, AG_LEAF_REAL);
  input("m_disk", 1, 1, AG_LEAF_REAL);
}

static const char *const infix_of[][2] = {
    {"x+y", "x + y"},
    {"x - 3", "x - 3"},
    {"(x + y) + z", "x + y + z"},
    {"z + (x + y)", "x + y + z"},
    {"x - (y - z)", "x - (y - z)"},
    {"(x + y) + (y + z)", "x + y + (y + z)"},
    {"2*x*y", "2*x*y"},
    {"x*(y*z)", "y*z*x"},
    {"x*(y + z)", "x*(y + z)"},
    {"-(x*y)", "-x*y"},
    {"-(x - y)", "y - x"},
    {"-(x + y)", "-(x + y)"},
    {"-((x - y)*z)", "-z*(x - y)"},
    {"-2*x", "-2*x"},
    {"y - 2*x", "y - 2*x"},
    {"x/y/z", "x/y/z"},
    {"x/(y*z)", "x/(y*z)"},
    {"2*x/y", "2*x/y"},
    {"3*(1/x)", "3*(1/x)"},
    {"x^2", "x^2"},
    {"x*x*x", "x^3"},
    {"x^7", "x^7"},
    {"x^16", "x^16"},
    {"x^17", "x^17"},
    {"(x + y)^2/2", "0.5*(x + y)^2"},
    {"-x^2", "-x^2"},
    {"(-x)^0.3", "(-x)^0.3"},
    {"x^y^z", "x^y^z"},
    {"(x^y)^z", "(x^y)^z"},
    {"x^-y", "x^-y"},
    {"x^-2", "1/x^2"},
    {"1e-30*x", "1e-30*x"},
    {"sin(theta)*theta'", "theta'*sin(theta)"},
    {"atan2(x, -y)", "atan2(x, -y)"},
    {"if x < y and not z == 1 then x else y + 1", "if x < y and not z == 1 then x else y + 1"},
    {"2*(if x <= 0 or y != 1 then x else y)", "2*(if x <= 0 or y != 1 then x else y)"},
    {"v[2] + v'[1]", "v[2] + v'[1]"},
    {"Omega[2][3]*r[1]'[2]", "Omega[2][3]*r[1]'[2]"},
    {"A[1,3]", "A[1,3]"},
    {"(A*v)[1]", "(A*v)[1]"},
    {"R^T*e3", "R^T*e3"},
    {"R^T*(A*v)", "R^T*A*v"},
    {"(A + identity(3))*v", "(A + identity(3))*v"},
    {"A^T*A", "A^T*A"},
    {"-(A*v)", "-A*v"},
    {"x*(A*v)", "x*A*v"},
    {"v/x", "v/x"},
    {"dot(v, A*v)/2", "0.5*dot(v, A*v)"},
    {"cross(v, [x, y, z])", "cross(v, [x, y, z])"},
    {"[0, 0, x]", "x*e3"},
    {"[[x, 0], [y, 1]]", "[[x, 0], [y, 1]]"},
    {"v*[1, 2, x]^T", "v*[1, 2, x]^T"},
    {"norm(v)*hat(v)", "norm(v)*hat(v)"},
    {"inverse(A)*v", "inverse(A)*v"},
    {"inverse(A)", "inverse(A)"},
    {"det(A)", "det(A)"},
    {"rotation(e3, theta)*v", "rotation(e3, theta)*v"},
    {"rotation(-e1, 2*x)", "rotation(-e1, 2*x)"},
    {"v - v", "[0, 0, 0]"},
};

static void check_infix(void) {
  for (size_t i = 0; i < sizeof infix_of / sizeof *infix_of; i++) infix(infix_of[i][0], infix_of[i][1]);
}

static void check_latex(void) {
  latex("theta + x1", "\\theta+x_{1}");
  latex("theta'", "\\dot{\\theta}");
  latex("m_disk*x^2/2", "0.5\\,m_{\\mathrm{disk}}\\,x^{2}");
  latex("Omega[2][3]", "\\Omega_{2,3}");
  latex("v'[2] - r[1]'[3]", "\\dot{v}_{2}-\\dot{r}_{1,3}");
  latex("A[1,3]", "A_{1,3}");
  latex("x/(y + z)", "\\frac{x}{y+z}");
  latex("(x/y)^z", "\\left(\\frac{x}{y}\\right)^{z}");
  latex("sin(theta)^2", "\\sin^{2} \\theta");
  latex("sin(x + y)*x", "x\\,\\sin \\left(x+y\\right)");
  latex("sqrt(x + y)", "\\sqrt{x+y}");
  latex("abs(x - y)", "\\left|x-y\\right|");
  latex("x - (y + z)", "x-\\left(y+z\\right)");
  latex("-(x + y)", "-\\left(x+y\\right)");
  latex("R^T*e3", "R^{\\mathsf T}\\,\\boldsymbol{e}_{3}");
  latex("dot(v, cross(v', v))*x", "0");
  latex("x*dot(v, v')", "x\\,\\left(\\boldsymbol{v}\\cdot \\dot{\\boldsymbol{v}}\\right)");
  latex("cross(v, Omega[2])", "\\boldsymbol{v}\\times \\boldsymbol{\\Omega}_{2}");
  latex("inverse(A)*v", "A^{-1}\\,\\boldsymbol{v}");
  latex("norm(v)", "\\left\\|\\boldsymbol{v}\\right\\|");
  latex("[x, y, 1]", "\\begin{pmatrix}x \\\\ y \\\\ 1\\end{pmatrix}");
  latex("if x < y then 1 else 2e-9",
        "\\begin{cases}1 & \\text{if } x<y \\\\ 2\\cdot 10^{-9} & \\text{otherwise}\\end{cases}");
}

/* ---- random programs ---- */

/* Nodes of the expression written as a tree; and whether it holds what the language has no word for. */
static double tree_size(const ag_graph *h, ag_id x, bool *wordless) {
  ag_id top;
  unsigned char *mark = ag_cone(h, 1, &x, &top);
  double *size = ag_heap_alloc(sizeof *size * ((size_t)top + 1)), total;
  *wordless = false;
  for (ag_id k = 1; k <= top; k++) {
    if (!mark[k]) continue;
    const ag_node *n = &h->nodes[k];
    size[k] = 1;
    for (uint32_t a = 0; a < n->n_arg; a++) size[k] += size[h->pool[n->first + a]];
    *wordless = *wordless || n->op == AG_OP_CONCAT || n->op == AG_OP_ROWS || n->op == AG_OP_ROTATION ||
                (n->op == AG_OP_SOLVE && n->payload.at.i != AG_SOLVE_GENERAL);
  }
  total = size[x];
  free(size);
  free(mark);
  return total;
}

static void round_trip(uint64_t seed, int *same, int *equal) {
  uint64_t state = seed;
  program p;
  program_make(&p, &state, 40);
  ag_graph *h = ag_graph_create();
  ag_id ids[MAX_PROGRAM], inputs[8];
  value v[8];
  double stored[64], a[25], b[25];
  program_build(&p, h, ids, inputs);
  program_inputs(&p, &state, v, stored);
  for (int i = 8; i < p.n; i++) {
    bool wordless;
    if (tree_size(h, ids[i], &wordless) > 3000) continue;
    ag_text out = {0}, tex = {0};
    ag_print(h, ids[i], &out);
    ag_print_latex(h, ids[i], &tex);
    ag_id back = parse(h, ag_text_cstr(&out), 8, inputs);
    bool good = back == ids[i];
    *same += good;
    if (!good && back && wordless) {
      AG_CHECK(ag_evaluate(h, 8, inputs, stored, 1, &ids[i], a) == 0 &&
               ag_evaluate(h, 8, inputs, stored, 1, &back, b) == 0);
      good = true;
      for (int k = 0; k < kind_size(step_kind(&p, i)); k++)
        good = good && fabs(a[k] - b[k]) <= 1e-9 * fmax(1, fabs(a[k]));
      *equal += good;
    }
    if (!good) {
      ag_text again = {0};
      if (back) ag_print(h, back, &again);
      fprintf(stderr, "seed %llu step %d:\n  %s\n  %s\n", (unsigned long long)seed, i, ag_text_cstr(&out),
              ag_text_cstr(&again));
      ag_text_done(&again);
    }
    AG_CHECK(good);
    ag_text_done(&out);
    ag_text_done(&tex);
  }
  ag_graph_free(h);
}

/* Functions that op.def makes available to the language: printed with their name and arguments, parsed back to the same
 * node; in LaTeX, every argument is in its place. */
static void check_calls(void) {
  static const struct {
    const char *name;
    int arity;
  } rows[] = {
#define CALLED_none(text, arity)
#define CALLED_scalar(text, arity) {text, arity},
#define CALLED_extreme(text, arity) {text, arity},
#define AG_OP(NAME, text, arity, call, ...) CALLED_##call(text, arity)
#include "expr/op.def"
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    ag_text call = {0}, tex = {0};
    ag_text_printf(&call, rows[i].arity == 1 ? "%s(y)" : "%s(y, z)", rows[i].name);
    infix(ag_text_cstr(&call), ag_text_cstr(&call));
    ag_print_latex(g, parse(g, ag_text_cstr(&call), n_in, in), &tex);
    AG_CHECK(strchr(ag_text_cstr(&tex), 'y') && (rows[i].arity == 1 || strchr(ag_text_cstr(&tex), 'z')));
    AG_CHECK(!strchr(ag_text_cstr(&tex), '#'));
    ag_text_done(&call), ag_text_done(&tex);
  }
}

int main(void) {
  int same = 0, equal = 0;
  declare();
  check_infix();
  check_latex();
  check_calls();
  ag_graph_free(g);
  for (uint64_t seed = 1; seed <= 150; seed++) round_trip(seed, &same, &equal);
  AG_CHECK(same > 2000 && equal > 100);
  return ag_check_report();
}
