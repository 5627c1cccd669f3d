/* SPDX-License-Identifier: MIT
 * Jacobian and substitution, on top of the sweeps. */
#include "expr/diff_internal.h"

/* Unit seed c of an input: of its shape, for a rotation a 3 x 1 vector. */
static ag_id unit_seed(ag_graph *g, ag_id input, int c) {
  bool rotation = ag_is_rotation(g, input);
  int n = ag_node_rows(g, input), m = rotation ? 1 : ag_node_cols(g, input);
  ag_id *e = ag_heap_alloc(sizeof *e * (size_t)(n * m));
  for (int k = 0; k < n * m; k++) e[k] = ag_num(g, k == c);
  ag_id seed = ag_stack(g, n, m, e);
  free(e);
  return seed;
}

/* Entry i of a column, read off where it is written out: a Jacobian asks for very many that are 0. */
static ag_id column_entry(ag_graph *g, ag_id x, int i, ag_id zero) {
  if (ag_is_zero(g, x)) return zero;
  return ag_node_op(g, x) == AG_OP_STACK ? ag_node_args(g, x)[i] : ag_entry(g, x, i, 0);
}

static void by_columns(ag_graph *g, ag_id x, int n_in, const ag_id *inputs, int m, int n, ag_id *J) {
  ag_forward_work w;
  ag_id zero = ag_num(g, 0);
  ag_forward_init(&w, g, 1, &x, n_in, inputs);
  for (int k = 0, j = 0; k < n_in; k++)
    for (int c = 0, nc = ag_input_tangent(g, inputs[k]); c < nc; c++, j++) {
      ag_forward_seed(&w, inputs[k], unit_seed(g, inputs[k], c));
      ag_forward_run(&w);
      ag_id t = ag_forward_out(&w, x);
      for (int i = 0; i < m; i++) J[i * n + j] = column_entry(g, t, i, zero);
      ag_forward_reset(&w);
    }
  ag_forward_done(&w);
}

static void by_rows(ag_graph *g, ag_id x, int n_in, const ag_id *inputs, int m, int n, ag_id *J) {
  ag_reverse_work w;
  ag_id *entries = ag_heap_alloc(sizeof *entries * (size_t)m);
  for (int i = 0; i < m; i++) entries[i] = ag_entry(g, x, i, 0);
  ag_reverse_init(&w, g, m, entries, n_in, inputs);
  for (int i = 0; i < m; i++) {
    ag_reverse_weight(&w, entries[i], ag_num(g, 1));
    ag_reverse_run(&w);
    for (int k = 0, j = 0; k < n_in; k++) {
      ag_id grad = ag_reverse_grad(&w, inputs[k]);
      int cols = ag_node_cols(g, grad);
      for (int c = 0, nc = ag_input_tangent(g, inputs[k]); c < nc; c++, j++)
        J[i * n + j] = ag_entry(g, grad, c / cols, c % cols);
    }
    ag_reverse_reset(&w);
  }
  ag_reverse_done(&w);
  free(entries);
}

ag_id ag_jacobian(ag_graph *g, ag_id x, int n_in, const ag_id *inputs) {
  int m = ag_node_rows(g, x), n = 0;
  AG_ASSERT(ag_node_cols(g, x) == 1);
  for (int k = 0; k < n_in; k++) n += ag_input_tangent(g, inputs[k]);
  AG_ASSERT(n > 0);
  ag_id *J = ag_heap_alloc(sizeof *J * (size_t)(m * n));
  if (n <= m) by_columns(g, x, n_in, inputs, m, n, J);
  else by_rows(g, x, n_in, inputs, m, n, J);
  ag_id jacobian = ag_stack(g, m, n, J);
  free(J);
  return jacobian;
}

static ag_id replaced(ag_graph *g, ag_id x, const ag_id *map) {
  const ag_node n = g->nodes[x];
  ag_id few[8] = {0}, *a = n.n_arg <= 8 ? few : ag_heap_alloc(sizeof *a * n.n_arg);
  for (uint32_t k = 0; k < n.n_arg; k++) {
    ag_id old = g->pool[n.first + k];
    a[k] = map[old] ? map[old] : old;
  }
  AG_ASSERT(n.op != AG_OP_SLOT || ag_node_op(g, a[0]) == AG_OP_INPUT); /* only inputs have stored numbers */
  ag_id y = ag_rebuild(g, x, a);
  if (a != few) free(a);
  return y;
}

void ag_substitute(ag_graph *g, int n, const ag_id *from, const ag_id *to, int n_out, ag_id *outs) {
  ag_sweep s;
  ag_sweep_init(&s, g, n_out, outs, n, from);
  ag_id *map = ag_heap_alloc(sizeof *map * ((size_t)s.top + 1)); /* 0: unchanged */
  for (int k = 0; k < n; k++) {
    AG_ASSERT(!ag_is_rotation(g, from[k]) || ag_is_rotation(g, to[k]));
    AG_ASSERT(ag_node_rows(g, from[k]) == ag_node_rows(g, to[k]) && ag_node_cols(g, from[k]) == ag_node_cols(g, to[k]));
    if (from[k] <= s.top) map[from[k]] = to[k];
  }
  for (int i = 0; i < s.n; i++)
    if (!map[s.order[i]]) map[s.order[i]] = replaced(g, s.order[i], map);
  for (int i = 0; i < n_out; i++)
    if (map[outs[i]]) outs[i] = map[outs[i]];
  free(map);
  ag_sweep_done(&s);
}
