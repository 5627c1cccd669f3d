/* SPDX-License-Identifier: MIT
 * Sums of cross products: what has a common factor becomes one product of the same value; products that are used
 * elsewhere stay, unless all are to be joined. */
#include <math.h>

#include "base/heap.h"
#include "expr/expr.h"
#include "tests/check.h"

typedef struct lab {
  ag_graph *g;
  ag_id a, b, c, d, s;
} lab;

static int count_crosses(const ag_graph *g, ag_id top, bool *seen) {
  if (seen[top]) return 0;
  seen[top] = true;
  int n = ag_node_op(g, top) == AG_OP_CROSS;
  for (int k = 0; k < ag_node_n_arg(g, top); k++) n += count_crosses(g, ag_node_arg(g, top, k), seen);
  return n;
}

static int crosses(const ag_graph *g, ag_id x) {
  bool *seen = ag_heap_alloc(sizeof *seen * ((size_t)ag_graph_count(g) + 1));
  int n = count_crosses(g, x, seen);
  free(seen);
  return n;
}

static void values(const lab *l, ag_id x, double *out) {
  const ag_id inputs[] = {l->a, l->b, l->c, l->d, l->s};
  ag_id y[5];
  double v[3];
  for (int i = 0; i < 5; i++) {
    int n = ag_node_rows(l->g, inputs[i]);
    ag_id e[3];
    for (int k = 0; k < n; k++) e[k] = ag_num(l->g, (v[k] = sin(1.7 * i + 2.3 * k + 1)));
    y[i] = n == 1 ? e[0] : ag_stack(l->g, n, 1, e);
  }
  ag_substitute(l->g, 5, inputs, y, 1, &x);
  AG_CHECK(ag_constant(l->g, x, out));
}

/* x with `before` products becomes one with `after`, and its value stays up to rounding of numbers of size 1. */
static void check(const lab *l, bool all, ag_id x, int before, int after) {
  double u[3], v[3];
  ag_id y = x;
  ag_join_crosses(l->g, all, 1, &y);
  AG_CHECK(crosses(l->g, x) == before && crosses(l->g, y) == after);
  values(l, x, u);
  values(l, y, v);
  for (int k = 0; k < 3; k++) AG_CHECK_NEAR(v[k], u[k], 1e-14);
}

int main(void) {
  lab l = {.g = ag_graph_create()};
  ag_graph *g = l.g;
  ag_id *const at[] = {&l.a, &l.b, &l.c, &l.d};
  for (int i = 0; i < 4; i++) *at[i] = ag_input(g, (const char[]){(char)('a' + i), 0}, 3, 1, AG_LEAF_REAL);
  l.s = ag_input(g, "s", 1, 1, AG_LEAF_REAL);
  ag_id ab = ag_cross(g, l.a, l.b), ac = ag_cross(g, l.a, l.c), da = ag_cross(g, l.d, l.a), bc = ag_cross(g, l.b, l.c);
  ag_id zero = ag_num(g, 0), e3 = ag_stack(g, 3, 1, (ag_id[]){zero, zero, ag_num(g, 1)});
  ag_id sum = ag_add(g, ab, ag_mul(g, l.s, ac));
  check(&l, false, sum, 2, 1);
  check(&l, false, ag_sub(g, sum, da), 3, 1);                 /* the factor on the other side */
  check(&l, false, ag_add(g, ag_sub(g, l.d, sum), da), 3, 1); /* other terms between them */
  check(&l, false, ag_add(g, ab, ag_cross(g, l.c, l.d)), 2, 2);
  check(&l, false, ag_add(g, ab, ag_cross(g, l.a, e3)), 2, 2); /* costs nothing */
  ag_id twice = ag_mul(g, ag_dot(g, ag_add(g, ab, ac), l.d), ag_add(g, ag_mul(g, l.s, ab), ac));
  check(&l, false, twice, 2, 2);                                              /* both are needed twice */
  check(&l, true, twice, 2, 2);                                               /* one for each sum */
  check(&l, false, ag_cross(g, l.d, ag_add(g, ag_add(g, ab, bc), ac)), 4, 3); /* inside another, a or c shared */
  ag_graph_free(g);
  return ag_check_report();
}
