/* SPDX-License-Identifier: MIT
 * Reverse differentiation on tensors. The adjoint of a rotation input is the 3-vector that is dual to its body
 * velocity: y = R a adds a x (R^T ybar), y = R^T a adds ybar x y; other uses of R go through the matrix adjoint.
 * Entries and rows taken from a tensor are collected and written out once, when the tensor's turn comes. */
#include "expr/diff_internal.h"

static ag_id arg(const ag_graph *g, ag_id x, int i) { return ag_node_arg(g, x, i); }

static bool active(const ag_reverse_work *w, ag_id x) { return x <= w->sweep.top && w->sweep.active[x]; }

static void add_to(ag_graph *g, ag_id *sum, ag_id v) {
  if (!ag_is_zero(g, v)) *sum = *sum ? ag_add(g, *sum, v) : v;
}

static void push(ag_reverse_work *w, ag_id x, ag_id v) {
  if (active(w, x)) add_to(w->sweep.g, &w->adj[x], v);
}

static void push_vec(ag_reverse_work *w, ag_id x, ag_id v) {
  if (active(w, x)) add_to(w->sweep.g, &w->vec[x], v);
}

static void push_piece(ag_reverse_work *w, ag_id x, int i, int j, int rows, ag_id v) {
  if (ag_is_zero(w->sweep.g, v) || !active(w, x)) return;
  AG_PUSH(w->pieces, w->n_piece, w->cap_piece);
  w->pieces[w->n_piece++] = (ag_piece){v, i, j, rows, 0};
  if (w->head[x]) w->pieces[w->tail[x] - 1].next = w->n_piece;
  else w->head[x] = w->n_piece;
  w->tail[x] = w->n_piece;
}

/* ---- pieces ---- */

/* Pieces of a column that are equal or apart: CONCAT of them and of zeros; 0 when some overlap. */
static ag_id join_apart(ag_reverse_work *w, ag_id x) {
  ag_graph *g = w->sweep.g;
  int n = ag_node_rows(g, x), m = 0;
  ag_id *at = ag_heap_alloc(sizeof *at * (size_t)n), joined = 0;
  int *len = ag_heap_alloc(sizeof *len * (size_t)n); /* > 0 at the first row of a piece, -1 at its others */
  for (int p = w->head[x]; p; p = w->pieces[p - 1].next) {
    ag_piece piece = w->pieces[p - 1];
    int rows = piece.rows ? piece.rows : 1;
    if (len[piece.i] != rows) {
      for (int i = 0; i < rows; i++)
        if (len[piece.i + i]) goto done;
      for (int i = 1; i < rows; i++) len[piece.i + i] = -1;
      len[piece.i] = rows;
    }
    add_to(g, &at[piece.i], piece.value);
  }
  for (int i = 0; i < n;) {
    int rows = len[i];
    if (!rows)
      while (i + rows < n && !len[i + rows]) rows++;
    at[m++] = at[i] ? at[i] : ag_zero(g, rows, 1);
    i += rows;
  }
  joined = ag_concat(g, m, at);
done:
  free(at);
  free(len);
  return joined;
}

static ag_id join_entries(ag_reverse_work *w, ag_id x) {
  ag_graph *g = w->sweep.g;
  int n = ag_node_rows(g, x), m = ag_node_cols(g, x);
  ag_id *e = ag_heap_alloc(sizeof *e * (size_t)(n * m));
  for (int p = w->head[x]; p; p = w->pieces[p - 1].next) {
    ag_piece piece = w->pieces[p - 1];
    if (!piece.rows) add_to(g, &e[piece.i * m + piece.j], piece.value);
    for (int k = 0; k < piece.rows * m; k++) add_to(g, &e[piece.i * m + k], ag_entry(g, piece.value, k / m, k % m));
  }
  for (int k = 0; k < n * m; k++)
    if (!e[k]) e[k] = ag_num(g, 0);
  ag_id joined = ag_stack(g, n, m, e);
  free(e);
  return joined;
}

static ag_id adjoint(ag_reverse_work *w, ag_id x) {
  if (w->head[x]) {
    ag_id joined = ag_node_cols(w->sweep.g, x) == 1 ? join_apart(w, x) : 0;
    if (!joined) joined = join_entries(w, x);
    w->head[x] = w->tail[x] = 0;
    push(w, x, joined);
  }
  return w->adj[x];
}

/* ---- one node ---- */

static void product(ag_reverse_work *w, ag_id x, ag_id bar) {
  ag_graph *g = w->sweep.g;
  ag_id A = arg(g, x, 0), B = arg(g, x, 1), R = ag_node_op(g, A) == AG_OP_TRANSPOSE ? arg(g, A, 0) : A;
  if (active(w, A)) {
    bool vector = ag_node_cols(g, B) == 1 && ag_node_op(g, R) == AG_OP_INPUT && ag_is_rotation(g, R);
    if (!vector) push(w, A, ag_mul(g, bar, ag_transpose(g, B)));
    else if (R == A) push_vec(w, R, ag_cross(g, B, ag_mul(g, ag_transpose(g, R), bar)));
    else push_vec(w, R, ag_cross(g, bar, x));
  }
  if (active(w, B)) push(w, B, ag_mul(g, ag_transpose(g, A), bar));
}

static void collection(ag_reverse_work *w, ag_id x, ag_id bar) {
  ag_graph *g = w->sweep.g;
  int m = ag_node_cols(g, x), from = 0;
  bool concat = ag_node_op(g, x) == AG_OP_CONCAT;
  for (int k = 0, n = ag_node_n_arg(g, x); k < n; k++) {
    ag_id a = arg(g, x, k);
    int rows = ag_node_rows(g, a);
    if (active(w, a)) push(w, a, concat ? ag_rows_of(g, bar, from, rows) : ag_entry(g, bar, k / m, k % m));
    from += rows;
  }
}

/* x = A^-1 b: bbar = A^-T xbar, Abar = -bbar x^T */
static void solve(ag_reverse_work *w, ag_id x, ag_id bar) {
  ag_graph *g = w->sweep.g;
  ag_id A = arg(g, x, 0), b = arg(g, x, 1);
  ag_solve_kind kind = (ag_solve_kind)g->nodes[x].payload.at.i;
  ag_id bbar = ag_solve(g, kind == AG_SOLVE_SPD ? A : ag_transpose(g, A), bar, kind);
  if (active(w, A)) push(w, A, ag_neg(g, ag_mul(g, bbar, ag_transpose(g, x))));
  if (active(w, b)) push(w, b, bbar);
}

/* The same for a symmetric matrix given by its entries: an off-diagonal entry counts twice. */
static void sparse(ag_reverse_work *w, ag_id x, ag_id bar) {
  ag_graph *g = w->sweep.g;
  const ag_pattern p = g->patterns[g->nodes[x].payload.at.i].pattern;
  ag_id *entries = ag_heap_alloc(sizeof *entries * (size_t)(p.n_entry + 1)), b = arg(g, x, p.n_entry);
  for (int k = 0; k < p.n_entry; k++) entries[k] = arg(g, x, k);
  ag_id bbar = ag_solve_sparse(g, &p, entries, bar);
  for (int k = 0; k < p.n_entry; k++) {
    if (!active(w, entries[k])) continue;
    ag_id bi = ag_entry(g, bbar, p.row[k], 0), xj = ag_entry(g, x, p.col[k], 0), sum = ag_mul(g, bi, xj);
    if (p.row[k] != p.col[k]) {
      ag_id bj = ag_entry(g, bbar, p.col[k], 0), xi = ag_entry(g, x, p.row[k], 0);
      sum = ag_add(g, sum, ag_mul(g, bj, xi));
    }
    push(w, entries[k], ag_neg(g, sum));
  }
  if (active(w, b)) push(w, b, bbar);
  free(entries);
}

static void choice(ag_reverse_work *w, ag_id x, ag_id bar) {
  ag_graph *g = w->sweep.g;
  ag_id c = arg(g, x, 0), a = arg(g, x, 1), b = arg(g, x, 2), zero = ag_zero(g, g->nodes[x].rows, g->nodes[x].cols);
  if (active(w, a)) push(w, a, ag_select(g, c, bar, zero));
  if (active(w, b)) push(w, b, ag_select(g, c, zero, bar));
}

/* SCALE, DOT, CROSS: adjoints of both arguments */
static void bilinear(ag_reverse_work *w, ag_id x, ag_id bar) {
  ag_graph *g = w->sweep.g;
  ag_op op = ag_node_op(g, x);
  ag_id a = arg(g, x, 0), b = arg(g, x, 1);
  if (active(w, a))
    push(w, a, op == AG_OP_SCALE ? ag_inner(g, bar, b) : op == AG_OP_DOT ? ag_mul(g, bar, b) : ag_cross(g, b, bar));
  if (active(w, b)) push(w, b, op == AG_OP_CROSS ? ag_cross(g, bar, a) : ag_mul(g, a, bar));
}

static void scalar(ag_reverse_work *w, ag_id x, ag_id bar) {
  ag_graph *g = w->sweep.g;
  for (int k = 0, n = ag_node_n_arg(g, x); k < n; k++) {
    ag_id a = arg(g, x, k);
    if (active(w, a)) push(w, a, ag_chain(g, x, k, bar));
  }
}

static void spread(ag_reverse_work *w, ag_id x, ag_id bar) {
  ag_graph *g = w->sweep.g;
  const ag_node n = g->nodes[x];
  ag_id a = n.n_arg ? arg(g, x, 0) : 0;
  switch (n.op) {
  case AG_OP_INPUT: break;
  case AG_OP_SLOT: push_vec(w, a, ag_mul(g, bar, ag_slot_gradient(g, x))); break;
  case AG_OP_STACK:
  case AG_OP_CONCAT: collection(w, x, bar); break;
  case AG_OP_ENTRY: push_piece(w, a, n.payload.at.i, n.payload.at.j, 0, bar); break;
  case AG_OP_ROWS: push_piece(w, a, n.payload.at.i, 0, n.rows, bar); break;
  case AG_OP_SELECT: choice(w, x, bar); break;
  case AG_OP_SCALE:
  case AG_OP_DOT:
  case AG_OP_CROSS: bilinear(w, x, bar); break;
  case AG_OP_MATMUL: product(w, x, bar); break;
  case AG_OP_TRANSPOSE: push(w, a, ag_transpose(g, bar)); break;
  case AG_OP_HAT: push(w, a, ag_vee_skew(g, bar)); break;
  case AG_OP_NORM: push(w, a, ag_mul(g, ag_div(g, bar, ag_safe_norm(g, x)), a)); break;
  case AG_OP_SOLVE: solve(w, x, bar); break;
  case AG_OP_SPARSE: sparse(w, x, bar); break;
  case AG_OP_DET: push(w, a, ag_mul(g, bar, ag_cofactors(g, a, x))); break;
  case AG_OP_ROTATION: push(w, a, bar); break;
  default: scalar(w, x, bar);
  }
}

/* ---- the sweep ---- */

void ag_reverse_init(ag_reverse_work *w, ag_graph *g, int n_out, const ag_id *outs, int n_in, const ag_id *inputs) {
  *w = (ag_reverse_work){0};
  ag_sweep_init(&w->sweep, g, n_out, outs, n_in, inputs);
  w->adj = ag_scratch_take(g);
  w->vec = ag_scratch_take(g);
  w->head = ag_scratch_take(g);
  w->tail = ag_scratch_take(g);
  w->in_cone = ag_scratch_take(g);
}

void ag_reverse_weight(ag_reverse_work *w, ag_id out, ag_id weight) {
  if (active(w, out)) push(w, out, weight);
}

void ag_reverse_run(ag_reverse_work *w) {
  for (int i = w->sweep.n - 1; i >= 0; i--) {
    ag_id x = w->sweep.order[i], bar = adjoint(w, x);
    if (bar) spread(w, x, bar);
  }
}

ag_id ag_reverse_grad(ag_reverse_work *w, ag_id input) {
  ag_graph *g = w->sweep.g;
  bool rotation = ag_is_rotation(g, input);
  ag_id none = ag_zero(g, ag_node_rows(g, input), rotation ? 1 : ag_node_cols(g, input));
  if (!active(w, input)) return none;
  ag_id bar = w->adj[input];
  if (!rotation) return bar ? bar : none;
  ag_id v = w->vec[input];
  if (bar) add_to(g, &v, ag_vee_skew(g, ag_mul(g, ag_transpose(g, input), bar)));
  return v ? v : none;
}

void ag_reverse_reset(ag_reverse_work *w) {
  for (int i = 0; i < w->sweep.n; i++) {
    ag_id x = w->sweep.order[i];
    w->adj[x] = w->vec[x] = 0;
    w->head[x] = w->tail[x] = 0;
  }
  w->n_piece = 0;
}

/* ---- one output after the other ---- */

static void add_to_cone(ag_reverse_work *w, ag_id x) {
  if (!active(w, x) || w->in_cone[x]) return;
  AG_PUSH(w->cone, w->n_cone, w->cap_cone);
  w->cone[w->n_cone++] = x;
  w->in_cone[x] = 1;
}

void ag_reverse_one(ag_reverse_work *w, ag_id out) {
  ag_graph *g = w->sweep.g;
  add_to_cone(w, out);
  for (int i = 0; i < w->n_cone; i++) {
    const ag_node *n = &g->nodes[w->cone[i]];
    for (uint32_t k = 0; k < n->n_arg; k++) add_to_cone(w, g->pool[n->first + k]);
  }
  if (!w->n_cone) return;
  ag_sort_ids(w->cone, (size_t)w->n_cone);
  push(w, out, ag_num(g, 1));
  for (int i = w->n_cone - 1; i >= 0; i--) {
    ag_id x = w->cone[i];
    if (ag_node_op(g, x) == AG_OP_INPUT) continue; /* its pieces are read one by one */
    ag_id bar = adjoint(w, x);
    if (bar) spread(w, x, bar);
  }
}

typedef struct found {
  int i, order;
  ag_id value;
} found;

static int by_entry(const void *a, const void *b) {
  const found *x = a, *y = b;
  return x->i != y->i ? (x->i < y->i ? -1 : 1) : (x->order < y->order ? -1 : x->order > y->order);
}

void ag_reverse_entries(ag_reverse_work *w, ag_id input, void (*take)(void *self, int i, ag_id x), void *self) {
  ag_graph *g = w->sweep.g;
  if (!active(w, input) || !w->in_cone[input]) return;
  if (ag_is_rotation(g, input) || ag_node_cols(g, input) != 1 || w->adj[input]) {
    (void)adjoint(w, input);
    ag_id grad = ag_reverse_grad(w, input);
    int m = ag_node_cols(g, grad);
    for (int i = 0, n = ag_node_rows(g, grad) * m; i < n && !ag_is_zero(g, grad); i++) {
      ag_id x = ag_entry(g, grad, i / m, i % m);
      if (!ag_is_zero(g, x)) take(self, i, x);
    }
    return;
  }
  found *list = NULL;
  int n = 0, cap = 0;
  for (int p = w->head[input]; p; p = w->pieces[p - 1].next) {
    ag_piece piece = w->pieces[p - 1];
    for (int k = 0; k < (piece.rows ? piece.rows : 1); k++) {
      ag_id x = piece.rows ? ag_entry(g, piece.value, k, 0) : piece.value;
      AG_PUSH(list, n, cap);
      list[n] = (found){piece.i + k, n, x};
      n++;
    }
  }
  if (n) qsort(list, (size_t)n, sizeof *list, by_entry);
  for (int k = 0; k < n;) {
    int i = list[k].i;
    ag_id sum = 0;
    for (; k < n && list[k].i == i; k++) add_to(g, &sum, list[k].value);
    if (sum && !ag_is_zero(g, sum)) take(self, i, sum);
  }
  free(list);
}

void ag_reverse_reset_one(ag_reverse_work *w) {
  for (int i = 0; i < w->n_cone; i++) {
    ag_id x = w->cone[i];
    w->adj[x] = w->vec[x] = 0;
    w->head[x] = w->tail[x] = 0;
    w->in_cone[x] = 0;
  }
  w->n_cone = w->n_piece = 0;
}

void ag_reverse(ag_graph *g, int n_out, const ag_id *outs, const ag_id *weights, int n_in, const ag_id *inputs,
                ag_id *grads) {
  ag_reverse_work w;
  ag_reverse_init(&w, g, n_out, outs, n_in, inputs);
  for (int k = 0; k < n_in; k++) AG_ASSERT(ag_node_op(g, inputs[k]) == AG_OP_INPUT);
  for (int i = 0; i < n_out; i++) {
    AG_ASSERT(ag_node_rows(g, outs[i]) == ag_node_rows(g, weights[i]));
    AG_ASSERT(ag_node_cols(g, outs[i]) == ag_node_cols(g, weights[i]));
    ag_reverse_weight(&w, outs[i], weights[i]);
  }
  ag_reverse_run(&w);
  for (int k = 0; k < n_in; k++) grads[k] = ag_reverse_grad(&w, inputs[k]);
  ag_reverse_done(&w);
}

void ag_reverse_done(ag_reverse_work *w) {
  ag_graph *g = w->sweep.g;
  ag_reverse_reset(w);
  ag_reverse_reset_one(w);
  ag_scratch_give(g, w->adj);
  ag_scratch_give(g, w->vec);
  ag_scratch_give(g, w->head);
  ag_scratch_give(g, w->tail);
  ag_scratch_give(g, w->in_cone);
  ag_sweep_done(&w->sweep);
  free(w->pieces);
  free(w->cone);
}
