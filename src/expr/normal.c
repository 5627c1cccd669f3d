/* SPDX-License-Identifier: MIT
 * The normal form for reading: an expression is read as a polynomial (normal_read.c) in a few ways, related and
 * combined (normal_relate.c), and written back (normal_write.c). The shortest result is taken, and normalised again
 * until it stays. docs/design/0020-normal-form.md says why. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "expr/normal_internal.h"
#include "expr/simplify_internal.h"

enum { MAX_NODES = 1500, MAX_KNOWN = 12, MAX_PASSES = 3, MAX_TERMS = 12, MAX_TRIPLES = 100, MAX_POLISHED = 200 };

/* Properties of the cone of x: number of nodes; whether there are tensors, angles that are sums, triple vector
 * products. */
typedef struct survey {
  int n;
  bool tensors, multiples, angles, triples;
} survey;

static survey look(const ag_graph *g, ag_id x) {
  survey v = {0};
  ag_id top;
  unsigned char *mark = ag_cone(g, 1, &x, &top);
  for (ag_id y = 1; y <= top; y++) {
    if (!mark[y]) continue;
    ag_op op = g->nodes[y].op;
    v.n++;
    v.tensors = v.tensors || op == AG_OP_CROSS || op == AG_OP_SOLVE || op == AG_OP_DET || op == AG_OP_DOT ||
                op == AG_OP_MATMUL || op == AG_OP_SCALE;
    for (int k = 0; op == AG_OP_CROSS && k < 2; k++)
      v.triples = v.triples || g->nodes[ag_node_arg(g, y, k)].op == AG_OP_CROSS;
    if (op != AG_OP_SIN && op != AG_OP_COS && op != AG_OP_TAN) continue;
    double c;
    ag_id angle = ag_node_arg(g, y, 0);
    if (ag_split_number(g, angle, &c, &angle)) v.multiples = v.multiples || fabs(c) > 1;
    ag_op inner = g->nodes[angle].op;
    v.angles = v.angles || inner == AG_OP_ADD || inner == AG_OP_SUB;
  }
  free(mark);
  return v;
}

static void add_known(ag_normal_state *s, ag_poly p, ag_id x) {
  for (int k = 0; k < s->n_known; k++)
    if (ag_poly_same(s->known[k], p)) return;
  if (s->n_known == MAX_KNOWN) return;
  s->known[s->n_known] = p;
  s->known_as[s->n_known++] = x;
}

/* A name for a root or another function: the function is written as the name, the radicand as the square of the
 * name. */
static void name_atom(ag_normal_state *s, ag_poly p, ag_id as) {
  int atom = -1;
  if (p.n != 1 || p.t[0].num != 1 || p.t[0].den != 1) return;
  for (int k = 0; k < s->n_atom; k++) {
    if (p.t[0].e[k] && (atom >= 0 || p.t[0].e[k] != 1)) return;
    if (p.t[0].e[k]) atom = k;
  }
  if (atom < 0 || s->atoms[atom].as || s->g->nodes[s->atoms[atom].x].n_arg == 0) return;
  if (s->atoms[atom].kind != AG_ATOM_PLAIN && s->atoms[atom].kind != AG_ATOM_ROOT) return;
  s->atoms[atom].as = as;
  if (s->atoms[atom].kind != AG_ATOM_ROOT) return;
  ag_id square = ag_mul(s->g, as, as);
  for (int k = 0; k < s->n_atom; k++)
    if (s->atoms[k].kind == AG_ATOM_SUM && ag_poly_same(s->atoms[k].poly, s->atoms[atom].poly)) s->atoms[k].as = square;
  add_known(s, s->atoms[atom].poly, square);
}

/* Sums that may turn up as factors: those with a name, and those that x was written with. */
static void find_known(ag_normal_state *s, ag_id x, int n_known, const ag_id *known, const ag_id *known_as) {
  ag_graph *g = s->g;
  s->known = AG_NEWN(s->a, ag_poly, MAX_KNOWN);
  s->known_as = AG_NEWN(s->a, ag_id, MAX_KNOWN);
  ag_id names[MAX_KNOWN];
  ag_poly polys[MAX_KNOWN];
  int n = 0, n_named = 0;
  for (int k = 0; k < n_known && n < MAX_KNOWN / 2; k++) {
    if (!ag_is_scalar(g, known[k])) continue;
    ag_poly p = ag_normal_read(s, known[k]);
    if (p.n > 1) polys[n] = p, names[n++] = known_as[k];
    else name_atom(s, p, known_as[k]);
  }
  n_named = n;
  ag_id top;
  unsigned char *mark = ag_cone(g, 1, &x, &top);
  for (ag_id y = top; y > 0 && n < MAX_KNOWN; y--) {
    if (!mark[y] || (g->nodes[y].op != AG_OP_ADD && g->nodes[y].op != AG_OP_SUB) || !ag_is_scalar(g, y)) continue;
    ag_poly p = ag_normal_read(s, y);
    if (p.n < 2 || p.n > 6) continue;
    ag_term c = ag_poly_content(p, true), inverse = ag_term_inverse(&c);
    p = ag_poly_mul(s->a, p, ag_poly_term(s->a, &inverse));
    if (p.n < 2) continue;
    polys[n] = p;
    names[n++] = ag_normal_write(s, p, 0);
  }
  free(mark);
  for (int k = 0; k < n_named; k++) add_known(s, polys[k], names[k]);
  s->n_named = s->n_known;
  for (int k = n_named; k < n; k++) add_known(s, polys[k], names[k]);
}

typedef struct request {
  int n_known;
  const ag_id *known, *known_as;
  int n, cap, to_cap; /* nodes already shortened, and the results */
  ag_id *from, *to;
} request;

/* The shortest form of x in one reading; replaces *best when it is shorter. */
static void try_reading(ag_graph *g, const request *r, ag_reading reading, ag_id x, ag_id *best, int *size) {
  ag_normal_state s = {.g = g, .a = ag_arena_create(), .reading = reading};
  ag_poly p = ag_normal_read(&s, x);
  find_known(&s, x, r->n_known, r->known, r->known_as);
  for (int combined = 0; combined < 2 && p.n >= 0; combined++) {
    int new_size;
    ag_id y = ag_normal_shortest(&s, combined ? ag_normal_combine(&s, p) : p, x, &new_size);
    if (y && new_size < *size) *best = y, *size = new_size;
  }
  free(s.memo);
  ag_arena_free(s.a);
}

/* The terms of a sum x with signs; 0 when there are too many. */
static int terms_of(const ag_graph *g, ag_id x, int sign, int n, ag_id *terms, int *signs) {
  ag_op op = g->nodes[x].op;
  if (n >= MAX_TERMS) return 0;
  if (op != AG_OP_ADD && op != AG_OP_SUB) return terms[n] = x, signs[n] = sign, n + 1;
  n = terms_of(g, ag_node_arg(g, x, 0), sign, n, terms, signs);
  return n ? terms_of(g, ag_node_arg(g, x, 1), op == AG_OP_SUB ? -sign : sign, n, terms, signs) : 0;
}

static ag_id shortest(ag_graph *g, request *r, ag_id x);

/* The terms of a sum one by one: what does not combine is not multiplied out. */
static void try_terms(ag_graph *g, request *r, ag_id x, ag_id *best, int *size) {
  ag_id terms[MAX_TERMS], sum = ag_zero(g, ag_node_rows(g, x), ag_node_cols(g, x));
  int signs[MAX_TERMS], n = terms_of(g, x, 1, 0, terms, signs);
  for (int i = 0; i < n; i++) {
    ag_id y = shortest(g, r, terms[i]);
    sum = signs[i] > 0 ? ag_add(g, sum, y) : ag_sub(g, sum, y);
  }
  int new_size = n > 1 ? ag_normal_size(g, sum) : *size;
  if (new_size < *size) *best = sum, *size = new_size;
}

static bool is_worth(const survey *v, int angles) {
  return angles == AG_ANGLES_AS_SUCH || (angles == AG_ANGLES_MULTIPLE ? v->multiples : v->multiples || v->angles);
}

static ag_id shortest_of(ag_graph *g, request *r, ag_id x) {
  survey v = look(g, x);
  ag_id best = x;
  int size = ag_normal_size(g, x);
  if (v.n > MAX_NODES) return x;
  if (g->nodes[x].op == AG_OP_ADD || g->nodes[x].op == AG_OP_SUB) try_terms(g, r, x, &best, &size);
  for (int components = 0; components <= v.tensors; components++)
    for (int angles = 0; angles < AG_N_ANGLES; angles++)
      if ((!components || ag_is_scalar(g, x)) && is_worth(&v, angles))
        try_reading(g, r, (ag_reading){components, angles, false}, x, &best, &size);
  if (v.triples && v.n <= MAX_TRIPLES)
    try_reading(g, r, (ag_reading){.triples = true, .angles = v.angles ? AG_ANGLES_SUM : AG_ANGLES_AS_SUCH}, x, &best,
                &size);
  return best;
}

static ag_id shortest(ag_graph *g, request *r, ag_id x) {
  for (int i = r->n - 1; i >= 0; i--)
    if (r->from[i] == x) return r->to[i];
  ag_id y = shortest_of(g, r, x);
  AG_PUSH(r->from, r->n, r->cap);
  AG_PUSH(r->to, r->n, r->to_cap);
  r->from[r->n] = x;
  r->to[r->n++] = y;
  return y;
}

/* x with sums inside its products in their shortest form: cross(s, m*a + m*b) has m in front, although it would be
 * longer if it were multiplied out. */
static ag_id polished(ag_graph *g, request *r, ag_id x) {
  ag_op op = g->nodes[x].op;
  bool sum = op == AG_OP_ADD || op == AG_OP_SUB;
  ag_id args[2];
  int n = ag_node_n_arg(g, x);
  if (!sum && op != AG_OP_NEG && op != AG_OP_MUL && op != AG_OP_DIV && op != AG_OP_SCALE && op != AG_OP_CROSS &&
      op != AG_OP_DOT && op != AG_OP_MATMUL)
    return x;
  for (int k = 0; k < n; k++) {
    args[k] = ag_node_arg(g, x, k);
    if (k && args[1] == ag_node_arg(g, x, 0)) args[1] = args[0];
    else args[k] = polished(g, r, args[k]);
    ag_op inner = g->nodes[args[k]].op;
    if (!sum && (inner == AG_OP_ADD || inner == AG_OP_SUB)) args[k] = shortest(g, r, args[k]);
  }
  return ag_rebuild(g, x, args);
}

/* Once more with the names expanded: one name may be part of a factor that has another name. */
static ag_id reconsidered(ag_graph *g, request *r, ag_id x) {
  ag_id y = x;
  if (!ag_depends(g, 1, &x, r->n_known, r->known_as)) return x;
  ag_substitute(g, r->n_known, r->known_as, r->known, 1, &y);
  y = shortest(g, r, y);
  return ag_normal_size(g, y) < ag_normal_size(g, x) ? y : x;
}

/* x collected, if that is shorter */
static ag_id gathered(ag_graph *g, ag_id x) {
  ag_id y = look(g, x).n <= MAX_NODES ? ag_normal_collect(g, x) : x;
  return ag_normal_size(g, y) < ag_normal_size(g, x) ? y : x;
}

void ag_normal_form(ag_graph *g, int n_known, const ag_id *known, const ag_id *known_as, int n, ag_id *x) {
  request r = {.n_known = n_known, .known = known, .known_as = known_as};
  for (int i = 0; i < n; i++)
    for (int pass = 0; pass < MAX_PASSES; pass++) {
      ag_id y = shortest(g, &r, gathered(g, x[i]));
      int size = ag_normal_size(g, y);
      ag_id z = size <= MAX_POLISHED ? polished(g, &r, y) : y;
      if (ag_normal_size(g, z) < size) y = z;
      y = gathered(g, y);
      y = reconsidered(g, &r, y);
      if (y == x[i]) break;
      x[i] = y;
    }
  free(r.from);
  free(r.to);
}

/* All of p divided by cosines that they share, which may hide as 1 - sin^2. */
static void share_cosines(ag_normal_state *s, int n, ag_poly *p) {
  ag_poly *q = AG_NEWN(s->a, ag_poly, n);
  for (int k = 0; k < s->n_atom; k++) {
    bool all = s->atoms[k].kind == AG_ATOM_COS;
    for (int i = 0; i < n && all; i++) {
      q[i] = ag_normal_combine(s, ag_poly_mul(s->a, p[i], ag_poly_atom(s->a, k, -1)));
      all = q[i].n >= 0;
      for (int j = 0; j < q[i].n; j++) all = all && q[i].t[j].e[k] >= 0;
    }
    if (all) memcpy(p, q, sizeof *p * (size_t)n), k--;
  }
}

void ag_normal_primitive(ag_graph *g, int n, ag_id *x) {
  ag_normal_state s = {.g = g, .a = ag_arena_create(), .reading = {.components = true, .angles = AG_ANGLES_SUM}};
  ag_poly *p = AG_NEWN(s.a, ag_poly, n), all = {0, NULL};
  int total = 0, size;
  bool good = true;
  for (int i = 0; i < n && good; i++) {
    p[i] = ag_normal_read(&s, x[i]);
    good = p[i].n >= 0;
    total += p[i].n;
  }
  if (good && total) share_cosines(&s, n, p);
  for (int i = total = 0; i < n && good; i++) total += p[i].n;
  all.t = good ? AG_NEWN(s.a, ag_term, total + 1) : NULL;
  for (int i = 0; i < n && good; i++)
    for (int k = 0; k < p[i].n; k++) all.t[all.n++] = p[i].t[k];
  ag_id *y = AG_NEWN(s.a, ag_id, n);
  if (good && all.n) {
    ag_term c = ag_poly_content(all, true), inverse = ag_term_inverse(&c);
    for (int i = 0; i < n; i++) {
      ag_poly q = ag_poly_mul(s.a, p[i], ag_poly_term(s.a, &inverse));
      y[i] = q.n >= 0 ? ag_normal_shortest(&s, q, 0, &size) : 0;
      good = good && y[i];
    }
    if (good) memcpy(x, y, sizeof *x * (size_t)n);
  }
  free(s.memo);
  ag_arena_free(s.a);
}
