/* SPDX-License-Identifier: MIT
 * Sheets: which pieces get a name, and the page as text or LaTeX. */
#include "mech/sheet.h"

#include <string.h>

#include "base/escape.h"

/* Sizes from which a piece gets a name: used twice; used once in a product; used once where lines are not broken; and
 * of what is long throughout. */
enum { LONG = 11, TOO_LONG = 45, UNBROKEN = 23, MANY = 1200 };
/* Parts of a line in LaTeX: of a left side beside a right side that fits, and beside any. */
static const double LEFT = 0.32, SHORT = 0.18;

/* r for `if r == 0 then 1 else r`, which quotients of lengths are computed with; 1 for the length of a unit vector, and
 * a root for other lengths where that is shorter. */
static ag_id unguarded(ag_graph *g, ag_id x) {
  ag_op op = ag_node_op(g, x);
  if (op == AG_OP_SELECT && ag_node_op(g, ag_node_arg(g, x, 0)) == AG_OP_EQ) {
    ag_id test = ag_node_arg(g, x, 0), a = ag_node_arg(g, test, 0), b = ag_node_arg(g, test, 1);
    ag_id other = ag_node_arg(g, x, 2);
    if ((a == other && ag_is_zero(g, b)) || (b == other && ag_is_zero(g, a))) return other;
  }
  if (op == AG_OP_NORM && ag_node_op(g, ag_node_arg(g, x, 0)) == AG_OP_STACK) {
    double square;
    ag_id v = ag_node_arg(g, x, 0), dot = ag_dot(g, v, v);
    ag_normal_form(g, 0, NULL, NULL, 1, &dot);
    if (ag_is_num(g, dot, &square) && square == 1) return dot;
    ag_id root = ag_apply1(g, AG_OP_SQRT, dot);
    return ag_normal_size(g, root) < ag_normal_size(g, x) ? root : x;
  }
  if (op == AG_OP_HYPOT) {
    ag_id a = ag_node_arg(g, x, 0), b = ag_node_arg(g, x, 1), a2 = ag_mul(g, a, a), b2 = ag_mul(g, b, b);
    return ag_apply1(g, AG_OP_SQRT, ag_add(g, a2, b2));
  }
  return x;
}

/* x without guards that only serve the computation. */
static ag_id made_plain(ag_graph *g, ag_id x) {
  bool *mark = ag_heap_alloc(sizeof *mark * ((size_t)x + 1)); /* arguments are older than what is made of them */
  int n = 0, cap = 0, to_cap = 0;
  ag_id *from = NULL, *to = NULL;
  mark[x] = true;
  for (ag_id i = x; i > 0; i--) {
    if (!mark[i]) continue;
    for (int k = 0; k < ag_node_n_arg(g, i); k++) mark[ag_node_arg(g, i, k)] = true;
    ag_id y = unguarded(g, i);
    if (y == i) continue;
    AG_PUSH(from, n, cap);
    AG_PUSH(to, n, to_cap);
    from[n] = i, to[n++] = y;
  }
  for (int k = 0; k < n; k++) ag_substitute(g, 1, &from[k], &to[k], 1, &x); /* from outside: guards of lengths first */
  free(mark);
  free(from);
  free(to);
  return x;
}

/* Matrices among the parameters that are symmetric: I^T is printed as I. */
static void find_symmetric(ag_sheet *s) {
  const ag_model *m = s->sys->model;
  s->transposed = AG_NEWN(s->a, ag_id, m->n_params + 1), s->symmetric = AG_NEWN(s->a, ag_id, m->n_params + 1);
  for (int i = 0; i < m->n_params; i++) {
    const ag_layout_row *row = &s->sys->param_rows[i];
    const double *v = s->sys->params + row->at;
    bool same = m->params[i].input && row->rows == row->cols && row->rows > 1;
    for (int k = 0; same && k < row->rows * row->cols; k++) same = v[k] == v[k % row->cols * row->cols + k / row->cols];
    if (!same) continue;
    s->transposed[s->n_symmetric] = ag_transpose(s->g, m->params[i].input);
    s->symmetric[s->n_symmetric++] = m->params[i].input;
  }
}

void ag_sheet_init(ag_sheet *s, ag_system *sys) {
  const ag_model *m = sys->model;
  *s = (ag_sheet){.sys = sys, .g = m->graph, .a = ag_arena_create(), .width = 68, .velocity = sys->xi_of_u};
  s->given = AG_NEWN(s->a, ag_id, m->n_lets + 1);
  s->let = AG_NEWN(s->a, ag_id, m->n_lets + m->n_coords);
  s->let_as = AG_NEWN(s->a, ag_id, m->n_lets + m->n_coords);
  ag_id *xi = AG_NEWN(s->a, ag_id, m->n_coords + 1);
  for (int i = 0; i < m->n_coords; i++) xi[i] = m->coords[i].xi;
  for (int i = 0; i < m->n_lets; i++) {
    ag_id x = ag_is_scalar(s->g, m->lets[i].x) ? made_plain(s->g, m->lets[i].x) : 0;
    if (!x || ag_normal_size(s->g, x) < 4) continue;
    ag_leaf leaf = ag_depends(s->g, 1, &x, m->n_coords, xi) ? AG_LEAF_REAL : AG_LEAF_NAMED; /* K*omega, but c*slip */
    s->let[s->n_let] = x;
    s->let_as[s->n_let++] = ag_input(s->g, m->lets[i].name, 1, 1, leaf);
  }
  s->n_known = s->n_let;
  find_symmetric(s);
}

void ag_sheet_know(ag_sheet *s, ag_id x, ag_id as) {
  AG_ASSERT(s->n_known < s->sys->model->n_lets + s->sys->model->n_coords);
  ag_substitute(s->g, s->n_let, s->let_as, s->let, 1, &x); /* factors are looked for with lets written out */
  s->let[s->n_known] = x;
  s->let_as[s->n_known++] = as;
}

ag_id ag_sheet_plain(const ag_sheet *s, ag_id x) { return made_plain(s->g, x); }

void ag_sheet_done(ag_sheet *s) {
  free(s->lines);
  ag_arena_free(s->a);
}

static void add_line(ag_sheet *s, ag_sheet_line line) {
  AG_PUSH(s->lines, s->n, s->cap);
  s->lines[s->n++] = line;
}

void ag_sheet_heading(ag_sheet *s, const char *heading, const char *note) {
  add_line(s, (ag_sheet_line){.heading = heading, .note = note});
}

void ag_sheet_add(ag_sheet *s, ag_id left, ag_id right) { add_line(s, (ag_sheet_line){.left = left, .right = right}); }

ag_id ag_sheet_normal(const ag_sheet *s, ag_id x) {
  x = made_plain(s->g, x);
  if (s->n_symmetric) ag_substitute(s->g, s->n_symmetric, s->transposed, s->symmetric, 1, &x);
  ag_normal_form(s->g, s->n_known, s->let, s->let_as, 1, &x);
  int size = ag_normal_size(s->g, x);
  ag_id y = x;
  if (size < MANY) ag_join_crosses(s->g, true, 1, &y); /* in longer ones products stand in several places, by name */
  return ag_normal_size(s->g, y) < size ? y : x;
}

ag_id ag_sheet_name(ag_sheet *s, const char *name, int rows, int cols, ag_leaf leaf) {
  return ag_input(s->g, ag_free_name(s->sys, name), rows, cols, leaf);
}

/* ---- common factors ---- */

enum { MAX_FACTORS = 24, MAX_WORK = 400, MAX_DEPTH = 60 }; /* what is longer is printed as it is */

/* The scalar factors of x: of a product, and of the numerator of a quotient. */
static int factors_of(const ag_graph *g, ag_id x, ag_id *out) {
  ag_id open[MAX_DEPTH] = {x};
  int n = 0, n_open = 1;
  double e;
  for (int work = 0; n_open && work < MAX_WORK && n < MAX_FACTORS; work++) {
    ag_id y = open[--n_open];
    ag_op op = ag_node_op(g, y);
    bool product = op == AG_OP_MUL || op == AG_OP_SCALE;
    if (product || op == AG_OP_DIV || op == AG_OP_NEG) {
      if (product && n_open < MAX_DEPTH - 1) open[n_open++] = ag_node_arg(g, y, 1);
      open[n_open++] = ag_node_arg(g, y, 0);
      continue;
    }
    if (op == AG_OP_POW && ag_is_num(g, ag_node_arg(g, y, 1), &e) && e > 0) y = ag_node_arg(g, y, 0);
    if (ag_is_scalar(g, y) && !ag_is_num(g, y, NULL)) out[n++] = y;
  }
  return n;
}

/* x/f, f being one of its factors; 0: it was not found. */
static ag_id without(ag_graph *g, ag_id x, ag_id f, int depth, int *work) {
  ag_op op = ag_node_op(g, x);
  ag_id a = ag_node_n_arg(g, x) ? ag_node_arg(g, x, 0) : 0, b = ag_node_n_arg(g, x) > 1 ? ag_node_arg(g, x, 1) : 0, y;
  double e;
  if (x == f) return ag_num(g, 1);
  if (depth == MAX_DEPTH || ++*work > MAX_WORK) return 0;
  if (op == AG_OP_NEG) return (y = without(g, a, f, depth + 1, work)) ? ag_neg(g, y) : 0;
  if (op == AG_OP_DIV) return (y = without(g, a, f, depth + 1, work)) ? ag_div(g, y, b) : 0;
  if (op == AG_OP_POW && a == f && ag_is_num(g, b, &e) && e > 0) return ag_pow(g, a, ag_num(g, e - 1));
  if (op != AG_OP_MUL && op != AG_OP_SCALE) return 0;
  if ((y = without(g, a, f, depth + 1, work))) return ag_mul(g, y, b);
  return (y = without(g, b, f, depth + 1, work)) ? ag_mul(g, a, y) : 0;
}

/* Does it depend on coordinates and parameters alone? */
static bool is_place(const ag_model *m, const ag_graph *g, ag_id x, int depth) {
  for (int i = 0; i < m->n_params; i++)
    if (m->params[i].input == x) return true;
  for (int i = 0; i < m->n_coords; i++)
    if (m->coords[i].q == x) return true;
  if (ag_is_num(g, x, NULL)) return true;
  bool all = ag_node_n_arg(g, x) > 0 && depth < 6;
  for (int k = 0; all && k < ag_node_n_arg(g, x); k++) all = is_place(m, g, ag_node_arg(g, x, k), depth + 1);
  return all;
}

/* Where such a factor is 0 the equation does not determine the motion, so that it may be left out. */
void ag_sheet_cancel(const ag_sheet *s, ag_id *left, ag_id *right) {
  ag_graph *g = s->g;
  ag_id mine[MAX_FACTORS], others[MAX_FACTORS];
  if (ag_is_zero(g, *right) || ag_is_zero(g, *left)) return;
  for (int pass = 0; pass < MAX_FACTORS; pass++) {
    int n = factors_of(g, *left, mine), k = factors_of(g, *right, others), work[2] = {0, 0};
    ag_id shared = 0, parts[2];
    for (int i = 0; i < n * k && !shared; i++)
      if (mine[i / k] == others[i % k] && is_place(s->sys->model, g, mine[i / k], 0)) shared = mine[i / k];
    if (!shared) return;
    parts[0] = without(g, *left, shared, 0, &work[0]), parts[1] = without(g, *right, shared, 0, &work[1]);
    if (!parts[0] || !parts[1]) return;
    *left = parts[0], *right = parts[1];
  }
}

/* ---- names ---- */

typedef struct names {
  int n, cap, n_cap;
  ag_id *node, *input; /* arguments before users */
} names;

static void add_name(names *k, ag_id x, ag_id input) {
  AG_PUSH(k->node, k->n, k->cap);
  AG_PUSH(k->input, k->n, k->n_cap);
  k->node[k->n] = x;
  k->input[k->n++] = input;
}

ag_id ag_sheet_top(const ag_sheet *s) {
  ag_id top = 0;
  for (int i = 0; i < s->n; i++) {
    if (s->lines[i].left > top) top = s->lines[i].left;
    if (s->lines[i].right > top) top = s->lines[i].right;
  }
  return top;
}

static bool is_sum(const ag_graph *g, ag_id x) {
  return ag_node_op(g, x) == AG_OP_ADD || ag_node_op(g, x) == AG_OP_SUB;
}

/* Parts of a product or a number, which are written in one go with the rest of it. */
static bool is_product(const ag_graph *g, ag_id x) {
  ag_op op = ag_node_op(g, x);
  return op == AG_OP_MUL || op == AG_OP_DIV || op == AG_OP_NEG || op == AG_OP_SCALE || op == AG_OP_NUM;
}

/* (...)/2: in text its sum needs no name. */
static bool is_share(const ag_graph *g, ag_id x) {
  return ag_node_op(g, x) == AG_OP_MUL &&
         (ag_is_num(g, ag_node_arg(g, x, 0), NULL) || ag_is_num(g, ag_node_arg(g, x, 1), NULL));
}

/* How often a piece is written, not counting parts of longer sums; inside: somewhere as a factor or an argument. */
typedef struct usage {
  bool seen, inside, barred; /* barred: in a quotient or a function, which are not broken into lines */
  int n, cols;               /* cols: of the widest matrix around it */
} usage;

static usage *count_uses(const ag_sheet *s, ag_id top) {
  const ag_graph *g = s->g;
  usage *u = ag_heap_alloc(sizeof *u * ((size_t)top + 1));
  for (int i = 0; i < s->n; i++) {
    ag_id ends[2] = {s->lines[i].left, s->lines[i].right};
    for (int k = 0; k < 2; k++)
      if (ends[k]) u[ends[k]].seen = true, u[ends[k]].n++;
  }
  for (ag_id x = top; x > 0; x--)
    for (int a = 0; u[x].seen && a < ag_node_n_arg(g, x); a++) {
      ag_id y = ag_node_arg(g, x, a);
      bool flat = is_sum(g, x) && is_sum(g, y), again = a && y == ag_node_arg(g, x, a - 1);
      u[y].seen = true;
      u[y].inside = u[y].inside || (flat || (!s->latex && is_share(g, x)) ? u[x].inside : !is_sum(g, x));
      u[y].barred = u[y].barred || u[x].barred ||
                    (!is_sum(g, x) && (!is_product(g, x) || ag_node_op(g, x) == AG_OP_DIV));
      int cols = ag_node_op(g, x) == AG_OP_STACK ? ag_node_cols(g, x) : 1, around = u[x].cols > cols ? u[x].cols : cols;
      if (around > u[y].cols) u[y].cols = around;
      u[y].n += !flat && !again;
    }
  return u;
}

/* Lets: factors that the normal form has found, and vectors and matrices, also without their guards. */
static void name_lets(ag_sheet *s, names *k) {
  const ag_model *m = s->sys->model;
  ag_id top = ag_sheet_top(s);
  usage *u = count_uses(s, top);
  for (int i = 0; i < m->n_lets; i++) {
    ag_id x = ag_sheet_turned(s, m->lets[i].x), plain;
    int rows = ag_node_rows(s->g, x), cols = ag_node_cols(s->g, x);
    if (rows * cols == 1 || !ag_node_n_arg(s->g, x)) continue;
    plain = made_plain(s->g, x);
    ag_id forms[] = {ag_normal_size(s->g, plain) <= TOO_LONG ? ag_sheet_normal(s, x) : x, plain, x};
    for (int f = 0; f < 3; f++) {
      ag_id y = forms[f];
      bool taken = y > top || !u[y].seen || !ag_node_n_arg(s->g, y);
      for (int j = 0; j < k->n; j++) taken = taken || k->node[j] == y;
      ag_leaf leaf = ag_is_rotation(s->g, x) ? AG_LEAF_ROTATION : AG_LEAF_REAL;
      if (!taken) add_name(k, y, s->given[i] ? s->given[i] : ag_input(s->g, m->lets[i].name, rows, cols, leaf));
    }
  }
  for (int i = 0; i < s->n_let; i++) {
    if (s->let_as[i] > top || !u[s->let_as[i]].seen) continue;
    ag_id y = s->let[i];
    ag_normal_form(s->g, i, s->let, s->let_as, 1, &y);
    add_name(k, y, s->let_as[i]);
  }
  free(u);
}

/* A piece as it is written with the names so far. */
static const char *written(ag_sheet *s, const names *k, ag_id x) {
  ag_text text = {0};
  if (k->n) ag_substitute(s->g, k->n, k->node, k->input, 1, &x);
  ag_print_formula(s->g, x, false, &text);
  const char *kept = ag_arena_str(s->a, ag_text_cstr(&text));
  ag_text_done(&text);
  return kept;
}

/* The name of a piece: that of a piece with the same text, whose sums are put together in another order, or a new
 * one. texts: of the pieces so far; it grows. */
static void name_piece(ag_sheet *s, names *k, const char ***texts, ag_id x, int *serial) {
  const char *text = written(s, k, x);
  ag_leaf leaf = ag_is_rotation(s->g, x) ? AG_LEAF_ROTATION : AG_LEAF_REAL;
  ag_id input = 0;
  for (int i = 0; i < k->n && !input; i++)
    if (!strcmp((*texts)[i], text)) input = k->input[i];
  if (!input) {
    const char *name = ag_arena_printf(s->a, "k%d", ++*serial);
    input = ag_sheet_name(s, name, ag_node_rows(s->g, x), ag_node_cols(s->g, x), leaf);
  }
  *texts = ag_heap_grow(*texts, sizeof **texts * (size_t)(k->n + 1));
  (*texts)[k->n] = text;
  add_name(k, x, input);
}

/* The size from which a piece in a product, a quotient, a function or a matrix gets a name: entries share a line. */
static int longest(const usage *u) {
  return !u->barred ? TOO_LONG : u->cols < 2 ? UNBROKEN : u->cols == 2 ? (UNBROKEN + LONG) / 2 : LONG;
}

/* Pieces that are long and written twice, or too long to stand in a product, a quotient or a function. */
static void name_long(ag_sheet *s, names *k) {
  const ag_graph *g = s->g;
  ag_id top = ag_sheet_top(s);
  usage *u = count_uses(s, top);
  int *sizes = ag_heap_alloc(sizeof *sizes * ((size_t)top + 1)), serial = 0;
  const char **texts = NULL;
  for (ag_id x = 1; x <= top; x++) {
    ag_op op = ag_node_op(g, x);
    sizes[x] = op != AG_OP_ENTRY;
    for (int a = 0; u[x].seen && a < ag_node_n_arg(g, x) && sizes[x] < TOO_LONG; a++)
      if (!(a && ag_node_arg(g, x, a) == ag_node_arg(g, x, a - 1))) sizes[x] += sizes[ag_node_arg(g, x, a)];
    if (!u[x].n || !ag_node_n_arg(g, x) || is_product(g, x) || op == AG_OP_TRANSPOSE || op == AG_OP_ENTRY) continue;
    bool twice = u[x].n > 1 && sizes[x] >= LONG;
    if (!twice && !(u[x].inside && sizes[x] >= longest(&u[x]))) continue;
    name_piece(s, k, &texts, x, &serial);
    sizes[x] = 1;
  }
  free(texts);
  free(u);
  free(sizes);
}

static void replace(ag_sheet *s, int n, const ag_id *from, const ag_id *to) {
  for (int i = 0; i < s->n && n; i++) {
    ag_id right = s->lines[i].right;
    if (s->lines[i].left) ag_substitute(s->g, n, from, to, 1, &s->lines[i].left);
    if (right) ag_substitute(s->g, n, from, to, 1, &right);
    if (right != s->lines[i].left) s->lines[i].right = right; /* else it is the line that defines the name */
  }
}

/* Is this name defined on a line of the caller? */
static bool is_given(const ag_sheet *s, ag_id name) {
  int i = 0;
  while (i < s->sys->model->n_lets && s->given[i] != name) i++;
  return i < s->sys->model->n_lets;
}

/* The definition of name i in terms of the others: all at once, since one of them may be part of another. */
static ag_id in_terms_of_others(ag_sheet *s, const names *k, int i) {
  ag_id x = k->node[i], *from = AG_NEWN(s->a, ag_id, k->n + 1), *to = AG_NEWN(s->a, ag_id, k->n + 1);
  int n = 0;
  for (int j = 0; j < k->n; j++) {
    if (k->input[j] == k->input[i]) continue;
    from[n] = k->node[j];
    to[n++] = k->input[j];
  }
  if (n) ag_substitute(s->g, n, from, to, 1, &x);
  return x;
}

/* With n = sqrt(x) among the lets, x is written n^2. */
static void square_roots(ag_sheet *s, const names *lets) {
  for (int i = 0; i < lets->n; i++) {
    ag_id root = in_terms_of_others(s, lets, i);
    if (ag_node_op(s->g, root) != AG_OP_SQRT) continue;
    ag_id x = ag_node_arg(s->g, root, 0), square = ag_pow(s->g, lets->input[i], ag_num(s->g, 2));
    for (int k = 0; k < 2 * s->n; k++) {
      ag_id *end = k % 2 ? &s->lines[k / 2].right : &s->lines[k / 2].left, y = *end;
      if (y) ag_substitute(s->g, 1, &x, &square, 1, &y);
      if (y != *end) ag_normal_form(s->g, 0, NULL, NULL, 1, &y);
      *end = y;
    }
  }
}

static bool under_where(const ag_sheet *s) {
  const char *last = NULL;
  for (int i = 0; i < s->n; i++) last = s->lines[i].heading ? s->lines[i].heading : last;
  return last && !strcmp(last, "where");
}

/* Gives names and appends the lines that define them. */
static void name_pieces(ag_sheet *s) {
  names lets = {0}, pieces = {0};
  int n = s->n;
  name_lets(s, &lets);
  replace(s, lets.n, lets.node, lets.input);
  square_roots(s, &lets);
  if (!under_where(s)) ag_sheet_heading(s, "where", NULL);
  for (int i = lets.n - 1; i >= 0; i--)
    if ((i == lets.n - 1 || lets.input[i] != lets.input[i + 1]) && !is_given(s, lets.input[i])) /* once for each name */
      ag_sheet_add(s, lets.input[i], in_terms_of_others(s, &lets, i));
  name_long(s, &pieces);
  replace(s, pieces.n, pieces.node, pieces.input);
  for (int i = pieces.n - 1; i >= 0; i--) {
    ag_id x = pieces.node[i];
    bool again = false;
    for (int j = 0; j < i; j++) again = again || pieces.input[j] == pieces.input[i];
    if (again) continue; /* once for each name */
    if (i) ag_substitute(s->g, i, pieces.node, pieces.input, 1, &x);
    ag_sheet_add(s, pieces.input[i], x);
  }
  if (s->lines[s->n - 1].heading && s->n == n + 1) s->n = n;
  free(lets.node), free(lets.input), free(pieces.node), free(pieces.input);
}

/* ---- text and LaTeX ---- */

static void text_line(const ag_sheet *s, ag_id left, ag_id right, ag_text *out) {
  ag_text_str(out, "  ");
  ag_print_formula(s->g, left, false, out);
  ag_text_str(out, " = ");
  ag_print_formula(s->g, right, false, out);
  ag_text_str(out, "\n");
}

/* Does the left side stand before the right one, not on lines of its own? */
static bool beside(const ag_sheet *s, double left, double right) {
  return left <= LEFT * s->width && (left <= SHORT * s->width || left + right <= s->width);
}

/* Lines from..to-1, as one align environment. */
static void latex_block(const ag_sheet *s, int from, int to, ag_text *out) {
  ag_text *text = ag_heap_alloc(sizeof *text * (size_t)(2 * (to - from)));
  double widest = 0;
  for (int i = from; i < to; i++) {
    ag_text *l = &text[2 * (i - from)], *r = l + 1;
    ag_print_formula(s->g, s->lines[i].left, true, l);
    ag_print_formula(s->g, s->lines[i].right, true, r);
    double width = ag_tex_width(l->s, l->n);
    if (beside(s, width, ag_tex_width(r->s, r->n)) && width > widest) widest = width;
  }
  ag_text_str(out, "\\begin{align*}\n");
  for (int i = from; i < to; i++) {
    ag_text *l = &text[2 * (i - from)], *r = l + 1;
    if (i > from) ag_text_str(out, " \\\\\n");
    double left = ag_tex_width(l->s, l->n), right = ag_tex_width(r->s, r->n);
    if (beside(s, left, right)) ag_text_printf(out, "%s &= ", l->s);
    else {
      ag_text_str(out, "&");
      ag_tex_break(l->s, s->width - widest, out);
      ag_text_str(out, left + right + 3 <= s->width - widest ? " = " : " \\\\\n&\\qquad = ");
    }
    ag_tex_break(r->s, s->width - widest - 3, out);
    ag_text_done(l), ag_text_done(r);
  }
  ag_text_str(out, "\n\\end{align*}\n");
  free(text);
}

static void heading(const ag_sheet *s, const ag_sheet_line *line, ag_text *out) {
  const char *mark = s->latex ? "%" : "#";
  if (!s->latex) ag_text_str(out, "\n");
  ag_text_printf(out, "%s %s\n", mark, line->heading);
  const char *note = s->latex && line->tex ? line->tex : line->note;
  if (line->note) ag_text_printf(out, "%s %s\n", s->latex ? mark : " ", note);
  if (!s->standalone) return;
  const char first = line->heading[0];
  ag_text_printf(out, "\\paragraph*{%c", first - ('a' <= first ? 'a' - 'A' : 0));
  ag_escape_latex(out, line->heading + 1); /* names of channels stand in headings */
  ag_text_str(out, ".} ");
  if (line->tex) ag_text_str(out, line->tex);
  else if (line->note) ag_escape_latex(out, line->note);
  ag_text_str(out, "\n");
}

void ag_sheet_print(ag_sheet *s, ag_text *out) {
  name_pieces(s);
  ag_sheet_angles(s);
  for (int i = 0, to; i < s->n; i = to) {
    const ag_sheet_line *line = &s->lines[i];
    to = i + 1;
    if (line->heading) heading(s, line, out);
    else if (!s->latex) text_line(s, line->left, line->right, out);
    else {
      while (to < s->n && !s->lines[to].heading) to++;
      latex_block(s, i, to, out);
    }
  }
}
