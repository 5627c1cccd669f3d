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

/* Entry i of a column, taken directly where the column is written out: most entries of a Jacobian are 0. */
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

/* ---- sparse ---- */

typedef struct collector {
  ag_sparse *to;
  int cap, row, first; /* first: column of the input's first entry */
} collector;

static void take_entry(void *self, int i, ag_id x) {
  collector *c = self;
  ag_sparse *s = c->to;
  int cap_col = c->cap, cap_x = c->cap;
  AG_PUSH(s->row, s->n_entry, c->cap);
  AG_PUSH(s->col, s->n_entry, cap_col);
  AG_PUSH(s->x, s->n_entry, cap_x);
  s->row[s->n_entry] = c->row;
  s->col[s->n_entry] = c->first + i;
  s->x[s->n_entry++] = x;
}

/* Inputs by their ids, with their columns. */
typedef struct place {
  ag_id input;
  int column;
} place;

static int by_input(const void *a, const void *b) {
  ag_id x = ((const place *)a)->input, y = ((const place *)b)->input;
  return x < y ? -1 : x > y;
}

static int by_column(const void *a, const void *b) { return ((const place *)a)->column - ((const place *)b)->column; }

/* The inputs in the cone of the row just swept, in the order of their columns. */
static int touched(const ag_reverse_work *w, int n_in, const place *places, place *list) {
  int n = 0;
  for (int i = 0; i < w->n_cone; i++) {
    if (ag_node_op(w->sweep.g, w->cone[i]) != AG_OP_INPUT) continue;
    const place *p = bsearch(&(place){w->cone[i], 0}, places, (size_t)n_in, sizeof *places, by_input);
    if (p) list[n++] = *p;
  }
  qsort(list, (size_t)n, sizeof *list, by_column);
  return n;
}

void ag_jacobian_sparse(ag_graph *g, ag_id x, int n_in, const ag_id *inputs, ag_sparse *out) {
  int m = ag_node_rows(g, x);
  *out = (ag_sparse){.n_row = m};
  collector c = {.to = out};
  ag_id *entries = ag_heap_alloc(sizeof *entries * (size_t)m);
  place *places = ag_heap_alloc(sizeof *places * (size_t)(n_in + 1)),
        *list = ag_heap_alloc(sizeof *list * (size_t)(n_in + 1));
  for (int k = 0; k < n_in; k++) {
    places[k] = (place){inputs[k], out->n_col};
    out->n_col += ag_input_tangent(g, inputs[k]);
  }
  qsort(places, (size_t)n_in, sizeof *places, by_input);
  for (int i = 0; i < m; i++) entries[i] = ag_entry(g, x, i, 0);
  ag_reverse_work w;
  ag_reverse_init(&w, g, m, entries, n_in, inputs);
  for (c.row = 0; c.row < m; c.row++) {
    ag_reverse_one(&w, entries[c.row]);
    for (int k = 0, n = touched(&w, n_in, places, list); k < n; k++) {
      c.first = list[k].column;
      ag_reverse_entries(&w, list[k].input, take_entry, &c);
    }
    ag_reverse_reset_one(&w);
  }
  ag_reverse_done(&w);
  free(entries), free(places), free(list);
}

void ag_sparse_done(ag_sparse *s) {
  free(s->row), free(s->col), free(s->x);
  *s = (ag_sparse){0};
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
  ag_id *map = ag_scratch_take(g); /* 0: unchanged */
  for (int k = 0; k < n; k++) {
    AG_ASSERT(!ag_is_rotation(g, from[k]) || ag_is_rotation(g, to[k]));
    AG_ASSERT(ag_node_rows(g, from[k]) == ag_node_rows(g, to[k]) && ag_node_cols(g, from[k]) == ag_node_cols(g, to[k]));
    if (from[k] <= s.top) map[from[k]] = to[k];
  }
  for (int i = 0; i < s.n; i++)
    if (!map[s.order[i]]) map[s.order[i]] = replaced(g, s.order[i], map);
  for (int i = 0; i < n_out; i++)
    if (map[outs[i]]) outs[i] = map[outs[i]];
  for (int i = 0; i < s.n; i++) map[s.order[i]] = 0;
  for (int k = 0; k < n; k++)
    if (from[k] <= s.top) map[from[k]] = 0;
  ag_scratch_give(g, map);
  ag_sweep_done(&s);
}
