/* SPDX-License-Identifier: MIT
 * From a node to a polynomial in atoms. Sums, products and quotients are carried out; a function of one or more
 * arguments is an atom, its arguments in normal form. A tensor is read either as a sum of tensor atoms with scalar
 * factors (cross, dot and matrix products are multiplied out), or entry by entry. */
#include <stdlib.h>
#include <string.h>

#include "expr/normal_internal.h"

enum {
  MAX_DEPTH = 6,       /* of atoms that the builders simplify to something else */
  MAX_CRAMER = 4,      /* size of systems solved by Cramer's rule */
  MAX_MULTIPLE = 4,    /* sin(4*a) is read in terms of sin(a) and cos(a), sin(5*a) is not */
  MAX_MEMORY = 1 << 22 /* bytes of polynomials for one expression */
};

static ag_op op_of(const ag_graph *g, ag_id x) { return g->nodes[x].op; }
static ag_id arg(const ag_graph *g, ag_id x, int i) { return ag_node_arg(g, x, i); }

/* ---- atoms ---- */

static int find_atom(const ag_normal_state *s, ag_id x) {
  for (int k = 0; k < s->n_atom; k++)
    if (s->atoms[k].x == x) return k;
  return -1;
}

int ag_normal_atom(ag_normal_state *s, ag_id x, ag_atom_kind kind) {
  int k = find_atom(s, x);
  if (k >= 0) return k;
  if (s->n_atom == AG_POLY_ATOMS) return -1;
  s->atoms[s->n_atom] = (ag_atom){.x = x, .kind = kind, .partner = -1};
  return s->n_atom++;
}

/* x can be, or is, the first of n atoms of this kind that are related: there is room for all of them, or for none. */
static bool begins(const ag_normal_state *s, ag_id x, ag_atom_kind kind, int n) {
  int k = find_atom(s, x);
  return k < 0 ? s->n_atom + n <= AG_POLY_ATOMS : s->atoms[k].kind == kind;
}

/* The atom as a polynomial; lost when there are too many. */
static ag_poly as_atom(ag_normal_state *s, ag_id x, ag_atom_kind kind) {
  int k = ag_normal_atom(s, x, kind);
  return k < 0 ? (ag_poly){-1, NULL} : ag_poly_atom(s->a, k, 1);
}

static ag_atom_kind plain_kind(const ag_graph *g, ag_id x) {
  return ag_is_scalar(g, x) ? AG_ATOM_PLAIN : AG_ATOM_TENSOR;
}

/* R c for a rotation R (or its transpose) and a unit vector c: a unit vector. */
static bool is_image(const ag_graph *g, ag_id x) {
  if (op_of(g, x) != AG_OP_MATMUL || !ag_is_unit(g, arg(g, x, 1))) return false;
  ag_id R = arg(g, x, 0);
  if (op_of(g, R) == AG_OP_TRANSPOSE) R = arg(g, R, 0);
  return op_of(g, R) == AG_OP_INPUT && ag_is_rotation(g, R);
}

/* The first of the atoms of three components of a unit vector, one after the other. -1: there is no room, or one of
 * them belongs to another vector (R[2,3] is in a row and in a column) and has its relation there. */
static int unit_atoms(ag_normal_state *s, const ag_id *x) {
  int first = find_atom(s, x[0]);
  if (first < 0 && (s->n_atom + 3 > AG_POLY_ATOMS || find_atom(s, x[1]) >= 0 || find_atom(s, x[2]) >= 0)) return -1;
  bool made = first < 0;
  if (made) first = s->n_atom;
  for (int n = 0; n < 3; n++) {
    if (made) s->atoms[s->n_atom++] = (ag_atom){.x = x[n], .kind = AG_ATOM_UNIT, .partner = first, .part = n};
    const ag_atom *atom = &s->atoms[first + n];
    if (first + n >= s->n_atom || atom->x != x[n] || atom->kind != AG_ATOM_UNIT || atom->partner != first) return -1;
  }
  return first;
}

/* Entry (i, j) of a leaf. Components of unit vectors come in threes: images, and rows of rotations. */
static ag_poly leaf_entry(ag_normal_state *s, ag_id x, int i, int j) {
  ag_graph *g = s->g;
  bool image = is_image(g, x), row = op_of(g, x) == AG_OP_INPUT && ag_is_rotation(g, x);
  ag_id parts[3];
  for (int n = 0; n < 3 && (image || row); n++) parts[n] = ag_entry(g, x, image ? n : i, image ? 0 : n);
  int first = image || row ? unit_atoms(s, parts) : -1;
  return first < 0 ? as_atom(s, ag_entry(g, x, i, j), AG_ATOM_PLAIN) : ag_poly_atom(s->a, first + (image ? i : j), 1);
}

static ag_poly *value_of(ag_normal_state *s, ag_id x);

static ag_poly scalar_of(ag_normal_state *s, ag_id x) { return *value_of(s, x); }

/* x with its scalar arguments in normal form. */
static ag_id tidy(ag_normal_state *s, ag_id x) {
  ag_graph *g = s->g;
  int n = ag_node_n_arg(g, x);
  ag_id *args = AG_NEWN(s->a, ag_id, n + 1);
  for (int k = 0; k < n; k++) {
    args[k] = arg(g, x, k);
    if (!ag_is_scalar(g, args[k])) continue;
    ag_poly p = scalar_of(s, args[k]);
    int size;
    ag_id y = p.n >= 0 ? ag_normal_shortest(s, p, args[k], &size) : 0;
    if (y) args[k] = y;
  }
  return n ? ag_rebuild(g, x, args) : x;
}

/* A node that is to be an atom; the builders may know better. */
static ag_poly opaque(ag_normal_state *s, ag_id x) {
  ag_id y = tidy(s, x);
  bool changed = y != x && (op_of(s->g, y) != op_of(s->g, x) || op_of(s->g, y) == AG_OP_NEG);
  if (!changed || s->depth >= MAX_DEPTH) return as_atom(s, y, plain_kind(s->g, y));
  s->depth++;
  ag_poly p = ag_normal_read(s, y);
  s->depth--;
  return p;
}

ag_poly ag_normal_inverse(ag_normal_state *s, ag_poly p) {
  if (p.n <= 0) return (ag_poly){-1, NULL};
  ag_term c = ag_poly_content(p, true), inverse = ag_term_inverse(&c);
  ag_poly r = ag_poly_term(s->a, &inverse), rest = ag_poly_mul(s->a, p, r);
  for (int k = 0; k < s->n_atom && rest.n > 1; k++) { /* 1 - sin^2 = cos^2 */
    ag_poly q;
    if (s->atoms[k].kind != AG_ATOM_COS) continue;
    ag_poly square = ag_poly_sub(s->a, ag_poly_number(s->a, 1, 1), ag_poly_atom(s->a, s->atoms[k].partner, 2));
    while (ag_poly_divide(s->a, rest, square, &q)) rest = q, r = ag_poly_mul(s->a, r, ag_poly_atom(s->a, k, -2));
  }
  if (rest.n == 1) {
    inverse = ag_term_inverse(&rest.t[0]);
    return ag_poly_mul(s->a, r, ag_poly_term(s->a, &inverse));
  }
  if (rest.n < 0) return rest;
  for (int i = 0; i < s->n_atom; i++)
    if (s->atoms[i].kind == AG_ATOM_SUM && ag_poly_same(s->atoms[i].poly, rest))
      return ag_poly_mul(s->a, r, ag_poly_atom(s->a, i, -1));
  int size;
  ag_id x = ag_normal_shortest(s, rest, 0, &size);
  int k = x ? ag_normal_atom(s, x, AG_ATOM_SUM) : -1;
  if (k < 0 || s->atoms[k].kind != AG_ATOM_SUM) return (ag_poly){-1, NULL};
  s->atoms[k].poly = rest;
  return ag_poly_mul(s->a, r, ag_poly_atom(s->a, k, -1));
}

static ag_poly root(ag_normal_state *s, ag_id x) {
  ag_poly inside = scalar_of(s, arg(s->g, x, 0));
  ag_id y = tidy(s, x);
  if (op_of(s->g, y) != AG_OP_SQRT || inside.n < 0) return opaque(s, x);
  int k = ag_normal_atom(s, y, AG_ATOM_ROOT);
  if (k < 0) return (ag_poly){-1, NULL};
  s->atoms[k].poly = inside;
  return ag_poly_atom(s->a, k, 1);
}

/* Sine and cosine of an angle given as a node: polynomials in the pair of atoms, with the sign taken out. */
static void circle(ag_normal_state *s, ag_id angle, ag_poly *sine, ag_poly *cosine) {
  ag_graph *g = s->g;
  ag_id x[2], back = ag_neg(g, angle);
  bool turned = find_atom(s, ag_apply1(g, AG_OP_SIN, back)) >= 0; /* sin(a - b) is -sin(b - a), which is there */
  if (turned) angle = back;
  x[0] = ag_apply1(g, AG_OP_SIN, angle);
  x[1] = ag_apply1(g, AG_OP_COS, angle);
  bool negative = op_of(g, x[0]) == AG_OP_NEG;
  if (negative) x[0] = arg(g, x[0], 0);
  if (turned) negative = !negative;
  *sine = *cosine = (ag_poly){-1, NULL};
  if (op_of(g, x[0]) != AG_OP_SIN || op_of(g, x[1]) != AG_OP_COS) return;
  if (!begins(s, x[0], AG_ATOM_SIN, 2)) return;
  int k = ag_normal_atom(s, x[0], AG_ATOM_SIN), c = ag_normal_atom(s, x[1], AG_ATOM_COS);
  s->atoms[k].partner = c;
  s->atoms[c].partner = k;
  *sine = ag_poly_atom(s->a, k, 1);
  *cosine = ag_poly_atom(s->a, c, 1);
  if (negative) *sine = ag_poly_sub(s->a, (ag_poly){0, NULL}, *sine);
}

/* The angle p = k q with k from 2 to 4, or k = 1; *q is p/k. */
static int multiple(const ag_normal_state *s, ag_poly p, ag_poly *q) {
  ag_term c = ag_poly_content(p, true);
  int64_t k = c.num < 0 ? -c.num : c.num;
  if (s->reading.angles == AG_ANGLES_AS_SUCH || c.den != 1 || k > MAX_MULTIPLE) k = 1;
  *q = ag_poly_mul(s->a, p, ag_poly_number(s->a, 1, k));
  return (int)k;
}

/* The angle of *sine and *cosine turned by k times the angle p, by the addition theorems. */
static void turn(ag_normal_state *s, ag_poly p, ag_poly *sine, ag_poly *cosine) {
  ag_poly q, u, v;
  int k = multiple(s, p, &q);
  ag_id x = ag_normal_write(s, q, 0);
  if (x) circle(s, x, &u, &v);
  else u = v = (ag_poly){-1, NULL};
  for (; k > 0; k--) {
    ag_poly s0 = *sine, c0 = *cosine;
    *sine = ag_poly_add(s->a, ag_poly_mul(s->a, s0, v), ag_poly_mul(s->a, c0, u));
    *cosine = ag_poly_sub(s->a, ag_poly_mul(s->a, c0, v), ag_poly_mul(s->a, s0, u));
  }
}

/* sin and cos of a sum of terms. */
static void angle_sum(ag_normal_state *s, ag_poly p, ag_poly *sine, ag_poly *cosine) {
  *sine = (ag_poly){0, NULL};
  *cosine = ag_poly_number(s->a, 1, 1);
  if (s->reading.angles != AG_ANGLES_SUM) turn(s, p, sine, cosine);
  for (int i = 0; i < p.n && s->reading.angles == AG_ANGLES_SUM; i++)
    turn(s, ag_poly_term(s->a, &p.t[i]), sine, cosine);
}

static ag_poly trigonometric(ag_normal_state *s, ag_id x) {
  ag_poly p = scalar_of(s, arg(s->g, x, 0)), sine = {-1, NULL}, cosine = {-1, NULL};
  if (p.n > 0) angle_sum(s, p, &sine, &cosine);
  if (sine.n < 0 || cosine.n < 0) return opaque(s, x);
  if (op_of(s->g, x) == AG_OP_SIN) return sine;
  return op_of(s->g, x) == AG_OP_COS ? cosine : ag_poly_mul(s->a, sine, ag_normal_inverse(s, cosine));
}

static ag_poly number(ag_normal_state *s, ag_id x) {
  int64_t num, den;
  if (ag_poly_rational(s->g->nodes[x].payload.num, 100000, &num, &den)) return ag_poly_number(s->a, num, den);
  return as_atom(s, x, AG_ATOM_PLAIN);
}

static ag_poly product(ag_normal_state *s, ag_poly p, ag_poly q) {
  if (ag_arena_used(s->a) > MAX_MEMORY) return (ag_poly){-1, NULL};
  return ag_normal_settle(s, ag_poly_mul(s->a, p, q));
}

/* ---- tensors as such ---- */

static int tensor_in(const ag_normal_state *s, const ag_term *t) {
  for (int k = 0; k < s->n_atom; k++)
    if (t->e[k] && s->atoms[k].kind == AG_ATOM_TENSOR) return k;
  return -1;
}

/* a x (b x c) = b (a.c) - c (a.b), for either order of the outer product; 0 for anything else. */
static ag_id without_triple(ag_graph *g, ag_id x) {
  ag_id a = arg(g, x, 0), inner = arg(g, x, 1);
  bool turned = op_of(g, inner) != AG_OP_CROSS;
  if (turned) inner = a, a = arg(g, x, 1);
  if (op_of(g, inner) != AG_OP_CROSS) return 0;
  ag_id b = arg(g, inner, 0), c = arg(g, inner, 1), along = ag_mul(g, ag_dot(g, a, c), b);
  ag_id y = ag_sub(g, along, ag_mul(g, ag_dot(g, a, b), c));
  return turned ? ag_neg(g, y) : y;
}

/* What a product of atoms is: an atom, or with its sign turned, or what the builders make of it. */
static ag_poly made(ag_normal_state *s, ag_id y) {
  bool negative = op_of(s->g, y) == AG_OP_NEG;
  if (negative) y = arg(s->g, y, 0);
  ag_op op = op_of(s->g, y);
  if (op == AG_OP_ENTRY && is_image(s->g, arg(s->g, y, 0)) && !negative)
    return leaf_entry(s, arg(s->g, y, 0), s->g->nodes[y].payload.at.i, 0);
  ag_id flat = op == AG_OP_CROSS && s->reading.triples && s->depth < MAX_DEPTH ? without_triple(s->g, y) : 0;
  if (flat) y = flat, op = op_of(s->g, y);
  bool atom = op == AG_OP_CROSS || op == AG_OP_DOT || op == AG_OP_MATMUL || op == AG_OP_TRANSPOSE || op == AG_OP_ENTRY;
  for (int k = 0, n = ag_node_n_arg(s->g, y); atom && k < n; k++) atom = find_atom(s, arg(s->g, y, k)) >= 0;
  ag_poly p;
  if (atom || s->depth >= MAX_DEPTH) p = as_atom(s, y, plain_kind(s->g, y));
  else {
    s->depth++;
    p = ag_normal_read(s, y);
    s->depth--;
  }
  return negative ? ag_poly_sub(s->a, (ag_poly){0, NULL}, p) : p;
}

/* A term without its tensor, which is returned. */
static ag_id take_tensor(const ag_normal_state *s, const ag_term *t, ag_term *rest) {
  int k = tensor_in(s, t);
  *rest = *t;
  if (k < 0) return 0;
  rest->e[k] = 0;
  return s->atoms[k].x;
}

static ag_poly linear(ag_normal_state *s, ag_id x) {
  ag_poly p = scalar_of(s, arg(s->g, x, 0)), sum = {0, NULL};
  for (int i = 0; i < p.n; i++) {
    ag_term rest;
    ag_id v = take_tensor(s, &p.t[i], &rest);
    if (!v) return opaque(s, x);
    v = op_of(s->g, x) == AG_OP_TRANSPOSE ? ag_transpose(s->g, v)
                                          : ag_entry(s->g, v, s->g->nodes[x].payload.at.i, s->g->nodes[x].payload.at.j);
    sum = ag_poly_add(s->a, sum, product(s, ag_poly_term(s->a, &rest), made(s, v)));
  }
  return p.n < 0 ? p : sum;
}

static ag_poly bilinear(ag_normal_state *s, ag_id x) {
  ag_graph *g = s->g;
  ag_op op = op_of(g, x);
  ag_poly p = scalar_of(s, arg(g, x, 0)), q = scalar_of(s, arg(g, x, 1)), sum = {0, NULL};
  if (p.n < 0 || q.n < 0 || p.n * q.n > 200) return (ag_poly){-1, NULL};
  for (int i = 0; i < p.n; i++)
    for (int j = 0; j < q.n; j++) {
      ag_term t, u;
      ag_id v = take_tensor(s, &p.t[i], &t), w = take_tensor(s, &q.t[j], &u);
      if (!v || !w) return opaque(s, x);
      v = op == AG_OP_CROSS ? ag_cross(g, v, w) : op == AG_OP_DOT ? ag_dot(g, v, w) : ag_mul(g, v, w);
      ag_poly factor = ag_poly_mul(s->a, ag_poly_term(s->a, &t), ag_poly_term(s->a, &u));
      sum = ag_poly_add(s->a, sum, product(s, factor, made(s, v)));
    }
  return sum;
}

static ag_poly whole(ag_normal_state *s, ag_id x) {
  switch (op_of(s->g, x)) {
  case AG_OP_ZERO: return (ag_poly){0, NULL};
  case AG_OP_MATMUL:
  case AG_OP_CROSS:
  case AG_OP_DOT: return bilinear(s, x);
  case AG_OP_TRANSPOSE:
  case AG_OP_ENTRY: return linear(s, x);
  case AG_OP_SCALE: return product(s, scalar_of(s, arg(s->g, x, 0)), scalar_of(s, arg(s->g, x, 1)));
  default: return opaque(s, x);
  }
}

/* ---- tensors entry by entry ---- */

static ag_poly entry_of(ag_normal_state *s, ag_id x, int i, int j) {
  return value_of(s, x)[i * s->g->nodes[x].cols + j];
}

static ag_poly inner(ag_normal_state *s, ag_id A, int i, bool across, ag_id B, int j) {
  ag_poly sum = {0, NULL};
  for (int k = 0, n = s->g->nodes[B].rows; k < n; k++)
    sum =
        ag_poly_add(s->a, sum, product(s, across ? entry_of(s, A, i, k) : entry_of(s, A, k, i), entry_of(s, B, k, j)));
  return sum;
}

static ag_poly cross_part(ag_normal_state *s, ag_id a, ag_id b, int i) {
  int j = (i + 1) % 3, k = (i + 2) % 3;
  ag_poly p = product(s, entry_of(s, a, j, 0), entry_of(s, b, k, 0));
  return ag_poly_sub(s->a, p, product(s, entry_of(s, a, k, 0), entry_of(s, b, j, 0)));
}

/* The determinant of the n x n polynomials at m, column by column; none is lost. */
static ag_poly determinant(ag_normal_state *s, int n, const ag_poly *m, int column, unsigned rows) {
  ag_poly sum = {0, NULL};
  if (column == n) return ag_poly_number(s->a, 1, 1);
  for (int i = 0, sign = 1; i < n; i++) {
    if (!(rows & 1u << i)) continue;
    if (m[i * n + column].n) {
      ag_poly p = product(s, m[i * n + column], determinant(s, n, m, column + 1, rows & ~(1u << i)));
      sum = sign > 0 ? ag_poly_add(s->a, sum, p) : ag_poly_sub(s->a, sum, p);
    }
    sign = -sign;
  }
  return sum;
}

static ag_poly det(ag_normal_state *s, ag_id A) {
  int n = s->g->nodes[A].rows;
  return n > MAX_CRAMER ? (ag_poly){-1, NULL} : determinant(s, n, value_of(s, A), 0, (1u << n) - 1);
}

/* Entry (i, j) of A^-1 b by Cramer's rule. */
static ag_poly solve_part(ag_normal_state *s, ag_id A, ag_id b, int i, int j) {
  int n = s->g->nodes[A].rows;
  ag_poly below = det(s, A), m[MAX_CRAMER * MAX_CRAMER];
  if (below.n <= 0) return (ag_poly){-1, NULL};
  for (int k = 0; k < n * n; k++) m[k] = k % n == i ? entry_of(s, b, k / n, j) : value_of(s, A)[k];
  return product(s, determinant(s, n, m, 0, (1u << n) - 1), ag_normal_inverse(s, below));
}

static ag_poly hat_part(ag_normal_state *s, ag_id v, int i, int j) {
  if (i == j) return (ag_poly){0, NULL};
  ag_poly p = entry_of(s, v, 3 - i - j, 0);
  return (i + 1) % 3 == j ? ag_poly_sub(s->a, (ag_poly){0, NULL}, p) : p;
}

static ag_poly component(ag_normal_state *s, ag_id x, int i, int j) {
  ag_graph *g = s->g;
  const ag_node n = g->nodes[x];
  ag_id a = n.n_arg > 0 ? arg(g, x, 0) : 0, b = n.n_arg > 1 ? arg(g, x, 1) : 0;
  switch (n.op) {
  case AG_OP_ZERO: return (ag_poly){0, NULL};
  case AG_OP_EYE: return ag_poly_number(s->a, i == j, 1);
  case AG_OP_STACK: return scalar_of(s, arg(g, x, i * n.cols + j));
  case AG_OP_CONCAT:
    for (int k = 0;; i -= g->nodes[arg(g, x, k++)].rows)
      if (i < g->nodes[arg(g, x, k)].rows) return entry_of(s, arg(g, x, k), i, 0);
  case AG_OP_ROWS: return entry_of(s, a, i + n.payload.at.i, j);
  case AG_OP_ROTATION: return entry_of(s, a, i, j);
  case AG_OP_TRANSPOSE: return entry_of(s, a, j, i);
  case AG_OP_NEG: return ag_poly_sub(s->a, (ag_poly){0, NULL}, entry_of(s, a, i, j));
  case AG_OP_ADD: return ag_poly_add(s->a, entry_of(s, a, i, j), entry_of(s, b, i, j));
  case AG_OP_SUB: return ag_poly_sub(s->a, entry_of(s, a, i, j), entry_of(s, b, i, j));
  case AG_OP_SCALE: return product(s, scalar_of(s, a), entry_of(s, b, i, j));
  case AG_OP_MATMUL: return is_image(g, x) ? leaf_entry(s, x, i, j) : inner(s, a, i, true, b, j);
  case AG_OP_CROSS: return cross_part(s, a, b, i);
  case AG_OP_HAT: return hat_part(s, a, i, j);
  case AG_OP_SOLVE: return solve_part(s, a, b, i, j);
  default: return leaf_entry(s, x, i, j);
  }
}

/* ---- scalars ---- */

static ag_poly scalar(ag_normal_state *s, ag_id x) {
  ag_graph *g = s->g;
  ag_id a = ag_node_n_arg(g, x) > 0 ? arg(g, x, 0) : 0, b = ag_node_n_arg(g, x) > 1 ? arg(g, x, 1) : 0;
  switch (op_of(g, x)) {
  case AG_OP_NUM: return number(s, x);
  case AG_OP_NEG: return ag_poly_sub(s->a, (ag_poly){0, NULL}, scalar_of(s, a));
  case AG_OP_ADD: return ag_poly_add(s->a, scalar_of(s, a), scalar_of(s, b));
  case AG_OP_SUB: return ag_poly_sub(s->a, scalar_of(s, a), scalar_of(s, b));
  case AG_OP_MUL: return product(s, scalar_of(s, a), scalar_of(s, b));
  case AG_OP_DIV: return product(s, scalar_of(s, a), ag_normal_inverse(s, scalar_of(s, b)));
  case AG_OP_SIN:
  case AG_OP_COS:
  case AG_OP_TAN: return trigonometric(s, x);
  case AG_OP_SQRT: return root(s, x);
  case AG_OP_CHECKPOS:
  case AG_OP_CHECKNZ: return scalar_of(s, a);
  case AG_OP_ENTRY:
    if (s->reading.components) return entry_of(s, a, g->nodes[x].payload.at.i, g->nodes[x].payload.at.j);
    return linear(s, x);
  case AG_OP_DET: return s->reading.components ? det(s, a) : opaque(s, x);
  case AG_OP_DOT: return s->reading.components ? inner(s, a, 0, false, b, 0) : bilinear(s, x);
  default: return opaque(s, x);
  }
}

/* ---- all nodes below x, arguments first ---- */

static void make(ag_normal_state *s, ag_id x) {
  ag_graph *g = s->g;
  bool tensor = !ag_is_scalar(g, x);
  int n = tensor && s->reading.components ? g->nodes[x].rows * g->nodes[x].cols : 1, cols = g->nodes[x].cols;
  ag_poly *p = AG_NEWN(s->a, ag_poly, n);
  for (int k = 0; k < n; k++) {
    if (!tensor) p[k] = scalar(s, x);
    else if (s->reading.components) p[k] = component(s, x, k / cols, k % cols);
    else if (op_of(g, x) == AG_OP_ADD || op_of(g, x) == AG_OP_SUB || op_of(g, x) == AG_OP_NEG) p[k] = scalar(s, x);
    else p[k] = whole(s, x);
    if (p[k].n >= 0) continue;
    ag_id y = tensor && s->reading.components ? ag_entry(g, x, k / cols, k % cols) : x; /* over the bounds */
    p[k] = as_atom(s, y, plain_kind(g, y));
  }
  s->memo[x] = p;
}

static void room(ag_normal_state *s, ag_id x) {
  if ((int)x < s->n_memo) return;
  int n = s->n_memo;
  s->n_memo = (int)x + 1000;
  s->memo = ag_heap_grow(s->memo, sizeof *s->memo * (size_t)s->n_memo);
  memset(s->memo + n, 0, sizeof *s->memo * (size_t)(s->n_memo - n));
}

static ag_poly *value_of(ag_normal_state *s, ag_id x) {
  ag_id *todo = NULL;
  int n = 0, cap = 0;
  room(s, x);
  AG_PUSH(todo, n, cap);
  todo[n++] = x;
  while (n) {
    ag_id y = todo[n - 1];
    int waiting = 0;
    for (int k = 0; !s->memo[y] && k < ag_node_n_arg(s->g, y); k++) {
      ag_id z = arg(s->g, y, k);
      if (s->memo[z]) continue;
      AG_PUSH(todo, n, cap);
      todo[n++] = z;
      waiting++;
    }
    if (waiting) continue;
    n--;
    if (!s->memo[y]) make(s, y);
  }
  free(todo);
  return s->memo[x];
}

ag_poly ag_normal_read(ag_normal_state *s, ag_id x) { return *value_of(s, x); }
