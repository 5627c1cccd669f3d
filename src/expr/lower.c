/* SPDX-License-Identifier: MIT
 * Lowering: every tensor becomes its scalars, built from the operations of op.def over NUM and SLOT. Nodes are taken in
 * order of their ids; what was lowered once is remembered in the graph. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "expr/graph_internal.h"

enum { MAX_DET = 12 };
#define WAITING UINT32_MAX /* in place of where the scalars are: being lowered */

/* Scalars of argument k of x. The pointer is good until the next node is stored. */
static const ag_id *of(const ag_graph *g, ag_id x, int k) {
  return g->scalars + g->lowered[g->pool[g->nodes[x].first + (uint32_t)k]] - 1;
}

static int size_of(const ag_graph *g, ag_id x) { return g->nodes[x].rows * g->nodes[x].cols; }

static ag_id slot(ag_graph *g, ag_id input, int k) {
  return ag_intern(g, AG_OP_SLOT, 1, 1, 1, &input, ag_payload(k, 0));
}

/* sum + a b, the form that becomes a fused multiply-add */
static ag_id add_product(ag_graph *g, ag_id sum, ag_id a, ag_id b) {
  if (ag_is_zero(g, a) || ag_is_zero(g, b)) return sum;
  return ag_add(g, sum, ag_mul(g, a, b));
}

static ag_id dot(ag_graph *g, int n, const ag_id *a, int step_a, const ag_id *b, int step_b) {
  ag_id sum = ag_num(g, 0);
  for (int k = 0; k < n; k++) sum = add_product(g, sum, a[k * step_a], b[k * step_b]);
  return sum;
}

/* ---- leaves ---- */

/* A product kept as written: the rules would pull the 2 of (2x) y in front again. */
static ag_id product(ag_graph *g, ag_id a, ag_id b) {
  return ag_intern(g, AG_OP_MUL, 1, 1, 2, a < b ? (ag_id[]){a, b} : (ag_id[]){b, a}, 0);
}

/* R = 1 + 2w[v] + 2[v]^2 of the unit quaternion (w, v): 3 doublings, 9 products, 12 sums. */
static void lower_rotation(ag_graph *g, ag_id x, ag_id *y) {
  ag_id q[4], twice[4], vv[4][4], wv[4], one = ag_num(g, 1);
  for (int k = 0; k < 4; k++) q[k] = slot(g, x, k);
  for (int k = 1; k < 4; k++) twice[k] = ag_mul(g, ag_num(g, 2), q[k]);
  for (int i = 1; i < 4; i++) {
    wv[i] = product(g, q[0], twice[i]);
    for (int j = i; j < 4; j++) vv[i][j] = vv[j][i] = product(g, q[i], twice[j]);
  }
  for (int i = 0; i < 3; i++) {
    int j = (i + 1) % 3, k = (i + 2) % 3;
    ag_id d = ag_sub(g, one, vv[j + 1][j + 1]);
    y[4 * i] = ag_sub(g, d, vv[k + 1][k + 1]);
    y[3 * i + j] = ag_sub(g, vv[i + 1][j + 1], wv[k + 1]);
    y[3 * j + i] = ag_add(g, vv[i + 1][j + 1], wv[k + 1]);
  }
}

static void lower_leaf(ag_graph *g, ag_id x, ag_id *y) {
  ag_node n = g->nodes[x];
  if (n.op == AG_OP_INPUT && (n.flags & AG_NODE_ROTATION)) {
    lower_rotation(g, x, y);
    return;
  }
  for (int k = 0; k < n.rows * n.cols; k++) {
    if (n.op == AG_OP_INPUT) y[k] = slot(g, x, k);
    else if (n.op == AG_OP_NUM) y[k] = x;
    else y[k] = ag_num(g, n.op == AG_OP_EYE && k / n.cols == k % n.cols);
  }
}

/* ---- operations ---- */

/* Entry by entry; a scalar argument (the condition of a choice, the factor of SCALE) serves all entries. */
static void lower_entries(ag_graph *g, ag_id x, ag_id *y) {
  ag_node n = g->nodes[x];
  ag_op op = n.op == AG_OP_SCALE ? AG_OP_MUL : n.op;
  for (int k = 0; k < n.rows * n.cols; k++) {
    ag_id a[3] = {0};
    double c;
    for (int i = 0; i < (int)n.n_arg; i++) a[i] = of(g, x, i)[size_of(g, ag_node_arg(g, x, i)) == 1 ? 0 : k];
    /* a quotient by a number costs a product */
    if (op == AG_OP_DIV && ag_is_num(g, a[1], &c) && isnormal(c) && isnormal(1 / c))
      y[k] = ag_mul(g, a[0], ag_num(g, 1 / c));
    else y[k] = ag_build(g, op, 1, 1, (int)n.n_arg, a, 0);
  }
}

static void lower_collection(ag_graph *g, ag_id x, ag_id *y) {
  int at = 0;
  for (int k = 0, n = ag_node_n_arg(g, x); k < n; k++) {
    int size = size_of(g, ag_node_arg(g, x, k));
    memcpy(y + at, of(g, x, k), sizeof *y * (size_t)size);
    at += size;
  }
}

static void lower_part(ag_graph *g, ag_id x, ag_id *y) {
  ag_node n = g->nodes[x];
  ag_id a = ag_node_arg(g, x, 0);
  int m = g->nodes[a].cols, rows = g->nodes[a].rows;
  const ag_id *e = of(g, x, 0);
  if (n.op == AG_OP_ENTRY) y[0] = e[n.payload.at.i * m + n.payload.at.j];
  else if (n.op == AG_OP_ROWS) memcpy(y, e + n.payload.at.i * m, sizeof *y * (size_t)(n.rows * m));
  else if (n.op == AG_OP_ROTATION) memcpy(y, e, sizeof *y * 9);
  else
    for (int k = 0; k < rows * m; k++) y[k] = e[k % rows * m + k / rows]; /* TRANSPOSE */
}

static void lower_matmul(ag_graph *g, ag_id x, ag_id *y) {
  int n = g->nodes[x].rows, m = g->nodes[x].cols, l = g->nodes[ag_node_arg(g, x, 0)].cols;
  const ag_id *a = of(g, x, 0), *b = of(g, x, 1);
  for (int k = 0; k < n * m; k++) y[k] = dot(g, l, a + k / m * l, 1, b + k % m, m);
}

static void lower_vector(ag_graph *g, ag_id x, ag_id *y) {
  ag_node n = g->nodes[x];
  int size = size_of(g, ag_node_arg(g, x, 0));
  const ag_id *a = of(g, x, 0), *b = n.n_arg > 1 ? of(g, x, 1) : a;
  ag_id zero = ag_num(g, 0);
  switch (n.op) {
  case AG_OP_DOT: y[0] = dot(g, size, a, 1, b, 1); break;
  case AG_OP_NORM: y[0] = ag_apply1(g, AG_OP_SQRT, dot(g, size, a, 1, a, 1)); break;
  case AG_OP_CROSS:
    for (int i = 0; i < 3; i++) {
      int j = (i + 1) % 3, k = (i + 2) % 3;
      ag_id p = ag_mul(g, a[j], b[k]);
      y[i] = ag_sub(g, p, ag_mul(g, a[k], b[j]));
    }
    break;
  default: /* HAT */
    for (int i = 0; i < 3; i++) {
      int j = (i + 1) % 3, k = (i + 2) % 3;
      y[4 * i] = zero;
      y[3 * k + j] = a[i];
      y[3 * j + k] = ag_neg(g, a[i]);
    }
  }
}

/* Laplace expansion with shared minors: minor[S] belongs to the last |S| rows and the columns in S. */
static ag_id lower_det(ag_graph *g, int n, const ag_id *a) {
  AG_ASSERT(n <= MAX_DET);
  ag_id *minor = ag_heap_alloc(sizeof *minor << n);
  minor[0] = ag_num(g, 1);
  for (unsigned s = 1; s < 1u << n; s++) {
    int row = n - __builtin_popcount(s), sign = 1;
    minor[s] = ag_num(g, 0);
    for (int c = 0; c < n; c++) {
      if (!(s >> c & 1)) continue;
      ag_id e = sign > 0 ? a[row * n + c] : ag_neg(g, a[row * n + c]);
      minor[s] = add_product(g, minor[s], e, minor[s & ~(1u << c)]);
      sign = -sign;
    }
  }
  ag_id det = minor[(1u << n) - 1];
  free(minor);
  return det;
}

static void lower_sparse(ag_graph *g, ag_id x, ag_id *y) {
  int n = ag_node_n_arg(g, x) - 1;
  ag_id *entries = ag_heap_alloc(sizeof *entries * (size_t)(n + 1));
  for (int k = 0; k < n; k++) entries[k] = of(g, x, k)[0];
  ag_lower_sparse(g, g->nodes[x].payload.at.i, entries, of(g, x, n), y);
  free(entries);
}

static void lower_node(ag_graph *g, ag_id x, ag_id *y) {
  ag_node n = g->nodes[x];
  switch (n.op) {
  case AG_OP_NUM:
  case AG_OP_INPUT:
  case AG_OP_ZERO:
  case AG_OP_EYE: lower_leaf(g, x, y); break;
  case AG_OP_SLOT:
  case AG_OP_PICK: y[0] = x; break;
  case AG_OP_STACK:
  case AG_OP_CONCAT: lower_collection(g, x, y); break;
  case AG_OP_ENTRY:
  case AG_OP_ROWS:
  case AG_OP_ROTATION:
  case AG_OP_TRANSPOSE: lower_part(g, x, y); break;
  case AG_OP_MATMUL: lower_matmul(g, x, y); break;
  case AG_OP_DOT:
  case AG_OP_CROSS:
  case AG_OP_NORM:
  case AG_OP_HAT: lower_vector(g, x, y); break;
  case AG_OP_DET: y[0] = lower_det(g, g->nodes[ag_node_arg(g, x, 0)].rows, of(g, x, 0)); break;
  case AG_OP_SOLVE:
    ag_lower_solve(g, (ag_solve_kind)n.payload.at.i, n.rows, n.cols, of(g, x, 0), of(g, x, 1), y);
    break;
  case AG_OP_SPARSE: lower_sparse(g, x, y); break;
  default: lower_entries(g, x, y);
  }
}

static void store(ag_graph *g, ag_id x, int n, const ag_id *y) {
  if (g->n_scalar + n > g->cap_scalar) {
    g->cap_scalar = 2 * (g->n_scalar + n) + 64;
    g->scalars = ag_heap_grow(g->scalars, sizeof *g->scalars * (size_t)g->cap_scalar);
  }
  memcpy(g->scalars + g->n_scalar, y, sizeof *y * (size_t)n);
  g->lowered[x] = (uint32_t)g->n_scalar + 1;
  g->n_scalar += n;
}

static void make_room(ag_graph *g, ag_id x) {
  if ((int)x < g->n_lowered) return;
  int n = g->n_node > 2 * g->n_lowered ? g->n_node : 2 * g->n_lowered;
  g->lowered = ag_heap_grow(g->lowered, sizeof *g->lowered * (size_t)n);
  memset(g->lowered + g->n_lowered, 0, sizeof *g->lowered * (size_t)(n - g->n_lowered));
  g->n_lowered = n;
}

/* The nodes the tensor needs that are not lowered yet, in order of ids; marked as waiting. The time does not depend on
 * the size of the graph, for there may be as many tensors as it has nodes. */
static ag_id *needed(ag_graph *g, ag_id tensor, int *n) {
  ag_id *list = NULL;
  int cap = 0;
  *n = 0;
  AG_PUSH(list, *n, cap);
  list[(*n)++] = tensor;
  g->lowered[tensor] = WAITING;
  for (int i = 0; i < *n; i++) {
    ag_node node = g->nodes[list[i]];
    if (node.op == AG_OP_SLOT || node.op == AG_OP_PICK) continue;
    for (uint32_t k = 0; k < node.n_arg; k++) {
      ag_id a = g->pool[node.first + k];
      if (g->lowered[a]) continue;
      AG_PUSH(list, *n, cap);
      list[(*n)++] = a;
      g->lowered[a] = WAITING;
    }
  }
  ag_sort_ids(list, (size_t)*n);
  return list;
}

void ag_lower(ag_graph *g, ag_id tensor, ag_id *scalars) {
  make_room(g, tensor);
  if (!g->lowered[tensor]) {
    ag_id *y = NULL;
    int room = 0, n;
    ag_id *list = needed(g, tensor, &n);
    for (int i = 0; i < n; i++) {
      int size = size_of(g, list[i]);
      if (size > room) y = ag_heap_grow(y, sizeof *y * (size_t)(room = size));
      lower_node(g, list[i], y);
      store(g, list[i], size, y);
    }
    free(y);
    free(list);
  }
  memcpy(scalars, g->scalars + g->lowered[tensor] - 1, sizeof *scalars * (size_t)size_of(g, tensor));
}

/* ---- constants ---- */

/* Values of the constant scalars below outs, in order of ids. */
static void evaluate(ag_graph *g, int n, const ag_id *outs, double *value) {
  ag_id top;
  unsigned char *mark = ag_cone(g, n, outs, &top);
  double *v = ag_heap_alloc(sizeof *v * ((size_t)top + 1));
  for (ag_id x = 1; x <= top; x++) {
    const ag_node *node = &g->nodes[x];
    const ag_id *a = g->pool + node->first;
    if (!mark[x] || node->op == AG_OP_CALL_SOLVE || node->op == AG_OP_CALL_LDL) continue;
    if (node->op == AG_OP_NUM) v[x] = node->payload.num;
    else if (node->op == AG_OP_PICK) {
      const ag_node *call = &g->nodes[a[0]];
      const ag_ldl *ldl = call->op == AG_OP_CALL_LDL ? ag_pattern_ldl(g, call->payload.at.i) : NULL;
      double *Ab = ag_heap_alloc(sizeof *Ab * (ldl ? (size_t)ldl->n_block : call->n_arg));
      for (uint32_t k = 0; k < call->n_arg; k++) Ab[k] = v[g->pool[call->first + k]];
      if (ldl) ag_ldl_value(ldl, Ab);
      else ag_solve_value(call->rows, Ab);
      v[x] = Ab[(int)call->n_arg - call->rows + node->payload.at.i];
      free(Ab);
    } else {
      double u[3];
      for (uint32_t k = 0; k < node->n_arg; k++) u[k] = v[a[k]];
      v[x] = ag_op_value(node->op, u);
    }
  }
  for (int k = 0; k < n; k++) value[k] = v[outs[k]];
  free(v);
  free(mark);
}

bool ag_constant(ag_graph *g, ag_id x, double *value) {
  if (!(g->nodes[x].flags & AG_NODE_CONSTANT)) return false;
  if (ag_is_num(g, x, value)) return true;
  int n = size_of(g, x);
  ag_id *scalars = ag_heap_alloc(sizeof *scalars * (size_t)n);
  ag_lower(g, x, scalars);
  evaluate(g, n, scalars, value);
  free(scalars);
  return true;
}
