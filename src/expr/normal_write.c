/* SPDX-License-Identifier: MIT
 * From a polynomial to a node: common factors go in front, then known sums that divide it, then, again and
 * again, the product whose extraction saves most. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "expr/normal_internal.h"

static bool is_broken_number(const ag_graph *g, ag_id x) {
  return g->nodes[x].op == AG_OP_NUM && g->nodes[x].payload.num != floor(g->nodes[x].payload.num);
}

/* A fraction as a term: x*(1 + 2*y) reads better than 2*x*(1/2 + y), and so does a quotient of sums. */
static int broken(const ag_graph *g, ag_id x) {
  const ag_id *of = &g->pool[g->nodes[x].first];
  if (g->nodes[x].op == AG_OP_DIV) return 1;
  if (g->nodes[x].op == AG_OP_MUL && is_broken_number(g, of[0])) return g->nodes[of[1]].op == AG_OP_DIV; /* 0.5*(a/b) */
  return is_broken_number(g, x) ? 3 : 0;
}

/* Without what its arguments add. */
static int own_size(const ag_graph *g, ag_id x) {
  const ag_node *n = &g->nodes[x];
  if (ag_is_unit(g, x)) return 1;
  int size = n->op == AG_OP_ENTRY ? 0 : 1;
  if (n->op == AG_OP_ADD || n->op == AG_OP_SUB) size += broken(g, g->pool[n->first]) + broken(g, g->pool[n->first + 1]);
  return size;
}

/* Arguments whose sizes count: a square is written once, unit vectors have names. */
static uint32_t n_counted(const ag_graph *g, ag_id x) {
  const ag_node *n = &g->nodes[x];
  if (ag_is_unit(g, x)) return 0;
  return n->op == AG_OP_MUL && g->pool[n->first] == g->pool[n->first + 1] ? 1 : n->n_arg;
}

/* Sizes are not told apart above; nodes that are walked through one by one, and how deep they may be nested. */
enum { MOST = 1000000, FEW = 2000, DEEP = 200 };

/* Most expressions are short and stand in a long graph: as a tree, as long as there is room to visit nodes. */
static int size_of_tree(const ag_graph *g, ag_id x, int deep, int *room) {
  int size = own_size(g, x);
  uint32_t n = n_counted(g, x);
  if (deep) --*room;
  else *room = 0;
  for (uint32_t k = 0; k<n && * room> 0; k++) size += size_of_tree(g, g->pool[g->nodes[x].first + k], deep - 1, room);
  return size;
}

int ag_normal_size(const ag_graph *g, ag_id x) {
  int room = FEW, total = size_of_tree(g, x, DEEP, &room);
  if (room > 0) return total;
  ag_id top;
  unsigned char *mark = ag_cone(g, 1, &x, &top);
  int *size = ag_heap_alloc(sizeof *size * ((size_t)top + 1));
  for (ag_id y = 1; y <= top; y++) {
    if (!mark[y]) continue;
    uint32_t n = n_counted(g, y);
    size[y] = own_size(g, y);
    for (uint32_t k = 0; k < n && size[y] < MOST; k++) size[y] += size[g->pool[g->nodes[y].first + k]];
  }
  total = size[x];
  free(size);
  free(mark);
  return total;
}

/* ---- products ---- */

static ag_id times(ag_graph *g, ag_id x, ag_id y) { return x ? ag_mul(g, x, y) : y; }

static ag_id power(ag_graph *g, ag_id x, int n) { return n == 1 ? x : ag_pow(g, x, ag_num(g, n)); }

/* coefficient * atoms with positive exponents / the others, times `inside` (0: nothing); sin/cos is tan */
static ag_id write_term(ag_normal_state *s, ag_term t, ag_id inside) {
  ag_graph *g = s->g;
  ag_id over = 0, tensor = 0, under = 0;
  for (int k = 0; k < s->n_atom; k++) {
    const ag_atom *atom = &s->atoms[k];
    if (atom->kind != AG_ATOM_SIN || t.e[k] <= 0 || t.e[atom->partner] >= 0) continue;
    int n = t.e[k] < -t.e[atom->partner] ? t.e[k] : -t.e[atom->partner];
    t.e[k] = (int8_t)(t.e[k] - n);
    t.e[atom->partner] = (int8_t)(t.e[atom->partner] + n);
    ag_id tan = ag_apply1(g, AG_OP_TAN, ag_node_arg(g, atom->x, 0));
    over = times(g, over, power(g, tan, n));
  }
  for (int k = 0; k < s->n_atom; k++) {
    if (!t.e[k]) continue;
    ag_id as = s->atoms[k].as ? s->atoms[k].as : s->atoms[k].x;
    if (s->atoms[k].kind == AG_ATOM_TENSOR) tensor = as;
    else if (t.e[k] > 0) over = times(g, over, power(g, as, t.e[k]));
    else under = times(g, under, power(g, as, -t.e[k]));
  }
  if (inside && !ag_is_scalar(g, inside)) tensor = inside;
  else if (inside) over = times(g, over, inside);
  double c = (double)t.num / (double)t.den;
  ag_id x = over ? over : ag_num(g, 1);
  if (under) x = ag_div(g, x, under);
  x = ag_mul(g, ag_num(g, c), x);
  return tensor ? ag_mul(g, x, tensor) : x;
}

/* ---- sums ---- */

static int weight(const ag_term *t) {
  int w = 0;
  for (int k = 0; k < AG_POLY_ATOMS; k++) w += t->e[k] ? 2 : 0;
  return w;
}

/* The common factor of t and u: for each atom the exponent nearer to 0 if both have the same sign. */
static void shared(const ag_term *t, const ag_term *u, ag_term *both) {
  *both = (ag_term){.num = 1, .den = 1};
  for (int k = 0; k < AG_POLY_ATOMS; k++) {
    const int8_t a = t->e[k], b = u->e[k];
    if (a > 0 && b > 0) both->e[k] = (int8_t)(a < b ? a : b);
    if (a < 0 && b < 0) both->e[k] = (int8_t)(a > b ? a : b);
  }
}

static bool holds(const ag_term *t, const ag_term *part) {
  for (int k = 0; k < AG_POLY_ATOMS; k++)
    if (part->e[k] > 0 ? t->e[k] < part->e[k] : part->e[k] < 0 && t->e[k] > part->e[k]) return false;
  return true;
}

/* The product whose extraction from all terms that have it saves most; false when none does. */
static bool best_product(ag_poly p, ag_term *best) {
  int most = 0;
  for (int i = 0; i < p.n; i++)
    for (int j = 0; j < i; j++) {
      ag_term both;
      int n = 0;
      shared(&p.t[i], &p.t[j], &both);
      if (!weight(&both)) continue;
      for (int k = 0; k < p.n; k++) n += holds(&p.t[k], &both);
      if ((n - 1) * weight(&both) > most) most = (n - 1) * weight(&both), *best = both;
    }
  return most > 0;
}

typedef struct group {
  ag_poly outer, inner; /* outer*inner; inner is primitive */
} group;

static ag_poly divided(ag_normal_state *s, ag_poly p, const ag_term *t) {
  ag_term inverse = ag_term_inverse(t);
  return ag_poly_mul(s->a, p, ag_poly_term(s->a, &inverse));
}

/* p = sum of groups; returns how many. */
static int grouped(ag_normal_state *s, ag_poly p, group *groups) {
  int n = 0;
  ag_term best;
  while (p.n > 0) {
    ag_poly in = {0, NULL}, out = {0, NULL};
    bool found = p.n > 1 && s->work < AG_NORMAL_WORK && best_product(p, &best);
    s->work += (long)p.n * p.n * p.n;
    for (int i = 0; i < p.n; i++) {
      ag_poly t = ag_poly_term(s->a, &p.t[i]);
      if (found ? holds(&p.t[i], &best) : i == 0) in = ag_poly_add(s->a, in, t);
      else out = ag_poly_add(s->a, out, t);
    }
    ag_term c = ag_poly_content(in, false);
    group new = {ag_poly_term(s->a, &c), divided(s, in, &c)};
    ag_poly without = new.inner.n > 1 ? ag_poly_sub(s->a, out, new.inner) : out;
    if (without.n >= 0 && without.n < out.n && without.n == out.n - new.inner.n) { /* c*(a + b) + a + b */
      new.outer = ag_poly_add(s->a, ag_poly_number(s->a, 1, 1), new.outer);
      out = without;
    }
    int same = 0;
    while (same < n && !(new.inner.n > 1 && ag_poly_same(groups[same].inner, new.inner))) same++;
    if (same < n) groups[same].outer = ag_poly_add(s->a, groups[same].outer, new.outer);
    else groups[n++] = new;
    p = out;
  }
  return n;
}

static ag_id write_sum(ag_normal_state *s, ag_poly p);

/* p with its content in front */
static ag_id write_any(ag_normal_state *s, ag_poly p) {
  ag_term c = ag_poly_content(p, false);
  ag_poly rest = divided(s, p, &c);
  if (rest.n == 1) return write_term(s, p.t[0], 0);
  ag_id inside = write_sum(s, rest);
  return write_term(s, c, inside);
}

static ag_id plus(ag_graph *g, ag_id x, ag_id y) { return x ? ag_add(g, x, y) : y; }

/* A primitive sum: by a known factor, or as a sum of groups. */
static ag_id write_sum(ag_normal_state *s, ag_poly p) {
  ag_graph *g = s->g;
  for (int k = 0; k < s->n_known && s->work < AG_NORMAL_WORK; k++) {
    ag_poly r;
    s->work += p.n;
    bool factor = s->known[k].n <= p.n &&
                  (k < s->n_named ? ag_normal_divide(s, p, s->known[k], &r) : ag_poly_divide(s->a, p, s->known[k], &r));
    if (!factor) continue;
    ag_id y = write_any(s, r);
    return ag_mul(g, s->known_as[k], y);
  }
  group *groups = AG_NEWN(s->a, group, p.n + 1);
  int n = grouped(s, p, groups);
  ag_id sum = 0;
  for (int i = 0; i < n; i++) {
    if (groups[i].inner.n <= 1) {
      sum = plus(g, sum, write_any(s, ag_poly_mul(s->a, groups[i].outer, groups[i].inner)));
      continue;
    }
    ag_id inside = write_sum(s, groups[i].inner);
    if (groups[i].outer.n == 1) inside = write_term(s, groups[i].outer.t[0], inside);
    else inside = ag_mul(g, write_any(s, groups[i].outer), inside);
    sum = plus(g, sum, inside);
  }
  return sum;
}

/* p with the other sign inside: x*(b - a) instead of -x*(a - b); 0 when nothing inside becomes positive. */
static ag_id write_turned(ag_normal_state *s, ag_poly p) {
  ag_term c = ag_poly_content(p, false);
  bool turns = false;
  if (c.num > 0 || p.n < 2) return 0;
  for (int i = 0; i < p.n; i++) turns = turns || p.t[i].num > 0;
  if (!turns) return 0;
  c.num = -c.num;
  return write_term(s, c, write_sum(s, divided(s, p, &c)));
}

/* p with fractions at the terms that have them: a + b/(4*c^2) instead of (4*a + b/c^2)/4; 0 when all have them. */
static ag_id write_apart(ag_normal_state *s, ag_poly p) {
  ag_term c = ag_poly_content(p, false);
  bool whole = false;
  for (int i = 0; i < p.n; i++) whole = whole || p.t[i].den == 1;
  if (c.den == 1 || !whole) return 0;
  c.den = 1;
  int n = s->n_known;
  s->n_known = s->n_named; /* (4*a + b/c^2)/4 has a factor, too */
  ag_id x = write_term(s, c, write_sum(s, divided(s, p, &c)));
  s->n_known = n;
  return x;
}

ag_id ag_normal_write(ag_normal_state *s, ag_poly p, ag_id like) {
  if (p.n == 0) return like ? ag_zero(s->g, ag_node_rows(s->g, like), ag_node_cols(s->g, like)) : ag_num(s->g, 0);
  if (p.n > AG_NORMAL_WRITTEN) return 0;
  ag_id x = write_any(s, p), y = write_turned(s, p);
  if (y && ag_normal_size(s->g, y) < ag_normal_size(s->g, x)) x = y;
  y = write_apart(s, p);
  if (y && ag_normal_size(s->g, y) < ag_normal_size(s->g, x)) x = y;
  bool quotient = false;
  for (int i = 0; i < p.n; i++)
    for (int k = 0; k < s->n_atom; k++) quotient = quotient || p.t[i].e[k] < 0;
  if (!quotient || s->n_known == s->n_named) return x;
  /* (a*r + b)/r has the factor a*r + b, but a + b/r is shorter */
  int n = s->n_known;
  s->n_known = s->n_named;
  y = write_any(s, p);
  s->n_known = n;
  return ag_normal_size(s->g, y) < ag_normal_size(s->g, x) ? y : x;
}
