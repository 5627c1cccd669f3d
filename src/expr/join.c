/* SPDX-License-Identifier: MIT
 * Sums of cross products: s (a x b) + t (a x c) is a x (s b + t c), one product in place of two.
 *
 * This is no rule of simplify.c, since it costs a product where both a x b and a x c are needed elsewhere: how often a
 * node is used is known only when everything has been built. */
#include <stdlib.h>
#include <string.h>

#include "expr/simplify_internal.h"

enum { MAX_TERMS = 64 };

typedef struct term {
  ag_id x, scale, product; /* x = scale*product: 0 when there is no scale, when it is no cross product */
  bool minus, shared;      /* shared: the product is used elsewhere, too */
} term;

typedef struct joining {
  ag_graph *g;
  const int *uses;  /* of each node */
  const ag_id *now; /* what became of each node */
  bool all;
  term *list;
  int n;
} joining;

static bool is_sum(const ag_graph *g, ag_id x) { return is_op(g, x, AG_OP_ADD) || is_op(g, x, AG_OP_SUB); }

/* The terms of the sum x, as they are now. */
static void take_terms(joining *j, ag_id x, bool minus, bool top) {
  ag_graph *g = j->g;
  if (is_sum(g, x) && (top || j->uses[x] == 1)) {
    take_terms(j, arg(g, x, 0), minus, false);
    take_terms(j, arg(g, x, 1), minus != is_op(g, x, AG_OP_SUB), false);
    return;
  }
  ag_id s = 0, old = x, rest = j->now[x];
  bool shared = j->uses[x] > 1;
  for (ag_id y; ag_split_scale(g, old, &s, &y); old = y) shared = shared || j->uses[y] > 1;
  term *t = &j->list[j->n++];
  *t = (term){.x = rest, .minus = minus, .shared = shared};
  for (ag_id y, f; ag_split_scale(g, rest, &f, &y); rest = y) t->scale = t->scale ? ag_mul(g, t->scale, f) : f;
  if (is_op(g, rest, AG_OP_CROSS)) t->product = rest;
}

/* The side of a in the product of a term: 0 or 1; -1: it is not there, or the product with a unit vector is as cheap.
 */
static int side_of(const ag_graph *g, const term *t, ag_id a) {
  for (int k = 0; k < 2 && t->product; k++)
    if (arg(g, t->product, k) == a) return ag_all_num(g, arg(g, t->product, 1 - k)) ? -1 : k;
  return -1;
}

/* How many products the terms from i on save that have the factor a. */
static int saved(const joining *j, int i, ag_id a) {
  int n = 0;
  for (; i < j->n; i++) n += side_of(j->g, &j->list[i], a) >= 0 && (j->all || !j->list[i].shared);
  return n - 1;
}

/* The terms from i on with the factor a as one, in place of term i. */
static void join(joining *j, int i, ag_id a) {
  ag_graph *g = j->g;
  int side = side_of(g, &j->list[i], a);
  bool minus = j->list[i].minus;
  ag_id sum = 0;
  for (int k = i; k < j->n; k++) {
    term *t = &j->list[k];
    int its = side_of(g, t, a);
    if (its < 0 || (t->shared && !j->all)) continue;
    ag_id b = arg(g, t->product, 1 - its);
    if (t->scale) b = ag_mul(g, t->scale, b);
    bool opposite = (t->minus != minus) != (its != side);
    sum = !sum ? b : opposite ? ag_sub(g, sum, b) : ag_add(g, sum, b);
    t->x = t->product = 0;
  }
  j->list[i].x = side == 0 ? ag_cross(g, a, sum) : ag_cross(g, sum, a);
}

/* The sum of the terms, those with a common factor joined; 0 when there are none. */
static ag_id joined_sum(joining *j) {
  ag_graph *g = j->g;
  bool changed = false;
  for (int i = 0; i < j->n; i++) {
    const term *t = &j->list[i];
    if (!t->product || (t->shared && !j->all)) continue;
    ag_id a = arg(g, t->product, 0), b = arg(g, t->product, 1);
    ag_id best = saved(j, i, b) > saved(j, i, a) ? b : a;
    if (side_of(g, t, best) < 0 || saved(j, i, best) < 1) continue;
    join(j, i, best);
    changed = true;
  }
  if (!changed) return 0;
  ag_id sum = 0;
  for (int i = 0; i < j->n; i++) {
    const term *t = &j->list[i];
    if (!t->x) continue;
    if (!sum) sum = t->minus ? ag_neg(g, t->x) : t->x;
    else sum = t->minus ? ag_sub(g, sum, t->x) : ag_add(g, sum, t->x);
  }
  return sum;
}

static int *count_uses(const ag_graph *g, ag_id top, const unsigned char *mark, int n_out, const ag_id *outs) {
  int *uses = ag_heap_alloc(sizeof *uses * ((size_t)top + 1));
  for (ag_id x = 1; x <= top; x++)
    for (int k = 0; mark[x] && k < ag_node_n_arg(g, x); k++) uses[arg(g, x, k)]++;
  for (int i = 0; i < n_out; i++) uses[outs[i]]++;
  return uses;
}

static bool is_vector_sum(const ag_graph *g, ag_id x) {
  return is_sum(g, x) && ag_node_rows(g, x) == 3 && ag_node_cols(g, x) == 1;
}

/* The lengths of sums; part: is the node only part of a larger sum that is treated as a whole? */
static int *measure_sums(const ag_graph *g, ag_id top, const unsigned char *mark, const int *uses, bool *part) {
  int *length = ag_heap_alloc(sizeof *length * ((size_t)top + 1));
  for (ag_id x = 1; x <= top; x++) {
    length[x] = 1;
    if (!mark[x] || !is_vector_sum(g, x)) continue;
    length[x] = 0;
    for (int k = 0; k < 2; k++) length[x] += uses[arg(g, x, k)] == 1 ? length[arg(g, x, k)] : 1;
    for (int k = 0; k < 2 && length[x] <= MAX_TERMS; k++) part[arg(g, x, k)] = uses[arg(g, x, k)] == 1;
  }
  return length;
}

void ag_join_crosses(ag_graph *g, bool all, int n_out, ag_id *outs) {
  ag_id top;
  unsigned char *mark = ag_cone(g, n_out, outs, &top);
  int *uses = count_uses(g, top, mark, n_out, outs);
  bool *part = ag_heap_alloc(sizeof *part * ((size_t)top + 1));
  int *length = measure_sums(g, top, mark, uses, part);
  ag_id *now = ag_heap_alloc(sizeof *now * ((size_t)top + 1));
  joining *j = &(joining){.list = ag_heap_alloc(sizeof(term) * MAX_TERMS)};
  ag_id *args = NULL;
  int cap = 0;
  for (ag_id x = 1; x <= top; x++) {
    if (!mark[x]) continue;
    int n = ag_node_n_arg(g, x);
    ag_id sum = 0;
    bool changed = false;
    if (n > cap) args = ag_heap_grow(args, sizeof *args * (size_t)(cap = 2 * n));
    for (int k = 0; k < n; k++) {
      args[k] = now[arg(g, x, k)];
      changed = changed || args[k] != arg(g, x, k);
    }
    if (is_vector_sum(g, x) && length[x] <= MAX_TERMS && !part[x]) {
      *j = (joining){.g = g, .uses = uses, .now = now, .all = all, .list = j->list};
      take_terms(j, x, false, true);
      sum = joined_sum(j);
    }
    now[x] = sum ? sum : changed ? ag_rebuild(g, x, args) : x;
  }
  for (int i = 0; i < n_out; i++) outs[i] = now[outs[i]];
  free(mark), free(uses), free(part), free(length), free(now), free(j->list), free(args);
}
