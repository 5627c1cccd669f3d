/* SPDX-License-Identifier: MIT
 * The energy E = p.xi - l (Jacobi integral). By Euler's theorem a term of l that is homogeneous of degree k in the
 * velocities contributes (k - 1) times itself: T2 + V - ..., as one would write it. Terms that are not homogeneous go
 * through p.xi - l. */
#include <stdlib.h>
#include <string.h>

#include "mech/mech_internal.h"

enum { MIXED = 100 };

static int together(int a, int b) { return a == MIXED || b == MIXED ? MIXED : a + b; }

/* Degree of a node from those of its arguments. zero: a zero node has every degree; it does not occur, since
 * simplification removes it. */
static int degree_of(const ag_graph *g, const unsigned char *degree, ag_id x) {
  int n = ag_node_n_arg(g, x), first = n ? degree[ag_node_arg(g, x, 0)] : 0,
      second = n > 1 ? degree[ag_node_arg(g, x, 1)] : 0;
  double power;
  bool alike = true, none = true;
  for (int i = 0; i < n; i++) {
    int k = degree[ag_node_arg(g, x, i)];
    alike = alike && k == first;
    none = none && k == 0;
  }
  if (none) return 0;
  switch (ag_node_op(g, x)) {
  case AG_OP_NEG:
  case AG_OP_ADD:
  case AG_OP_SUB:
  case AG_OP_CONCAT:
  case AG_OP_ENTRY:
  case AG_OP_ROWS:
  case AG_OP_TRANSPOSE:
  case AG_OP_HAT: return alike ? first : MIXED;
  case AG_OP_MUL:
  case AG_OP_SCALE:
  case AG_OP_MATMUL:
  case AG_OP_DOT:
  case AG_OP_CROSS: return together(first, second);
  case AG_OP_DIV: return second ? MIXED : first;
  case AG_OP_SOLVE: return first ? MIXED : second;
  case AG_OP_POW:
    if (second || first == MIXED || !ag_is_num(g, ag_node_arg(g, x, 1), &power) || power < 1 || power > 4 ||
        power != (int)power)
      return MIXED;
    return first * (int)power;
  default: return MIXED;
  }
}

/* [xi1, 0, ...] is homogeneous, though 0 alone has no degree: entries that are 0 do not count. */
static int degree_of_stack(ag_graph *g, const unsigned char *degree, ag_id x) {
  int k = -1;
  for (int i = 0, n = ag_node_n_arg(g, x); i < n; i++) {
    ag_id a = ag_node_arg(g, x, i);
    if (ag_is_zero(g, a)) continue;
    if (k >= 0 && degree[a] != k) return MIXED;
    k = degree[a];
  }
  return k < 0 ? 0 : k;
}

typedef struct term {
  ag_id x;
  bool minus;
} term;

ag_id ag_energy(ag_graph *g, ag_id lagrangian, int n, const ag_id *xi) {
  int count = ag_graph_count(g) + 1, n_stack = 0, cap = 0;
  unsigned char *degree = ag_heap_alloc((size_t)count);
  term *stack = NULL;
  for (int i = 0; i < n; i++) degree[xi[i]] = 1;
  for (ag_id x = 1; x <= lagrangian; x++)
    if (ag_node_n_arg(g, x))
      degree[x] =
          (unsigned char)(ag_node_op(g, x) == AG_OP_STACK ? degree_of_stack(g, degree, x) : degree_of(g, degree, x));
  ag_id sum = ag_num(g, 0), odd = sum;
  AG_PUSH(stack, n_stack, cap);
  stack[n_stack++] = (term){lagrangian, false};
  while (n_stack) { /* the terms from left to right */
    term y = stack[--n_stack];
    ag_op op = ag_node_op(g, y.x);
    bool adds = op == AG_OP_ADD || op == AG_OP_SUB;
    if ((adds || op == AG_OP_NEG) && degree[y.x] == MIXED) {
      if (adds) {
        AG_PUSH(stack, n_stack, cap);
        stack[n_stack++] = (term){ag_node_arg(g, y.x, 1), y.minus != (op == AG_OP_SUB)};
      }
      AG_PUSH(stack, n_stack, cap);
      stack[n_stack++] = (term){ag_node_arg(g, y.x, 0), y.minus != (op == AG_OP_NEG)};
    } else if (degree[y.x] == MIXED) odd = y.minus ? ag_sub(g, odd, y.x) : ag_add(g, odd, y.x);
    else if (degree[y.x] != 1) {
      ag_id part = degree[y.x] > 2 ? ag_mul(g, ag_num(g, degree[y.x] - 1), y.x) : y.x;
      sum = y.minus == (degree[y.x] > 1) ? ag_sub(g, sum, part) : ag_add(g, sum, part);
    }
  }
  free(stack);
  free(degree);
  if (ag_is_zero(g, odd)) return sum;
  ag_id *p = ag_heap_alloc(sizeof *p * (size_t)(n + 1)), one = ag_num(g, 1);
  ag_reverse(g, 1, &odd, &one, n, xi, p);
  for (int i = 0; i < n; i++) {
    ag_id part = ag_dot(g, p[i], xi[i]);
    sum = ag_add(g, sum, part);
  }
  free(p);
  return ag_sub(g, sum, odd);
}
