/* SPDX-License-Identifier: MIT
 * Nodes taken out of the graph and put back later. The order of arguments of sums and products follows the age of the
 * nodes, so what is built in between would otherwise depend on them. */
#include <stdlib.h>
#include <string.h>

#include "expr/graph_internal.h"

struct ag_aside {
  int from, n_pool, n_name, n_scalar; /* what the graph had at the beginning */
  int n;                              /* nodes from, from + 1, ... that were taken */
  ag_node *nodes;
  ag_id *args;        /* of the pool, from n_pool on */
  const char **names; /* of inputs, from n_name on */
};

ag_aside *ag_aside_begin(const ag_graph *g) {
  ag_aside *a = ag_heap_alloc(sizeof *a);
  *a = (ag_aside){.from = g->n_node, .n_pool = g->n_pool, .n_name = g->n_name, .n_scalar = g->n_scalar};
  return a;
}

static void *copy(const void *from, size_t size, int n) {
  void *out = ag_heap_alloc(size * (size_t)(n + 1));
  if (n > 0) memcpy(out, from, size * (size_t)n);
  return out;
}

void ag_aside_take(ag_aside *a, ag_graph *g) {
  a->n = g->n_node - a->from;
  a->nodes = copy(g->nodes + a->from, sizeof *g->nodes, a->n);
  a->args = copy(g->pool + a->n_pool, sizeof *g->pool, g->n_pool - a->n_pool);
  a->names = copy(g->names + a->n_name, sizeof *g->names, g->n_name - a->n_name);
  for (int x = 0; x < g->n_lowered; x++)
    if (x >= a->from || g->lowered[x] > (uint32_t)a->n_scalar) g->lowered[x] = 0;
  while (g->n_origin && (int)g->origins[g->n_origin - 1].x >= a->from) g->n_origin--; /* returned nodes have none */
  g->n_node = a->from;
  g->n_pool = a->n_pool;
  g->n_name = a->n_name;
  g->n_scalar = a->n_scalar;
  ag_graph_index(g);
}

/* Marks what the roots need among the nodes that were taken. */
static unsigned char *needed(const ag_aside *a, int n_root, const ag_id *roots) {
  unsigned char *mark = ag_heap_alloc((size_t)a->n + 1);
  for (int i = 0; i < n_root; i++)
    if ((int)roots[i] >= a->from) mark[(int)roots[i] - a->from] = 1;
  for (int i = a->n - 1; i >= 0; i--) {
    const ag_node *node = &a->nodes[i];
    for (uint32_t k = 0; mark[i] && k < node->n_arg; k++) {
      int arg = (int)a->args[node->first - (uint32_t)a->n_pool + k];
      if (arg >= a->from) mark[arg - a->from] = 1;
    }
  }
  return mark;
}

void ag_aside_return(const ag_aside *a, ag_graph *g, int n_root, ag_id *roots) {
  unsigned char *mark = needed(a, n_root, roots);
  ag_id *now = ag_heap_alloc(sizeof *now * (size_t)(a->n + 1));
  for (int i = 0; i < a->n; i++) {
    const ag_node *node = &a->nodes[i];
    if (!mark[i]) continue;
    if (node->op == AG_OP_INPUT) {
      const char *name = a->names[node->payload.at.i - a->n_name];
      now[i] = ag_input(g, name, node->rows, node->cols, (ag_leaf)node->payload.at.j);
      continue;
    }
    ag_id *args = copy(a->args + (node->first - (uint32_t)a->n_pool), sizeof *args, (int)node->n_arg);
    for (uint32_t k = 0; k < node->n_arg; k++)
      if ((int)args[k] >= a->from) args[k] = now[(int)args[k] - a->from];
    now[i] = ag_build(g, node->op, node->rows, node->cols, (int)node->n_arg, args, node->payload.bits);
    free(args);
  }
  for (int i = 0; i < n_root; i++)
    if ((int)roots[i] >= a->from) roots[i] = now[(int)roots[i] - a->from];
  free(mark);
  free(now);
}

void ag_aside_free(ag_aside *a) {
  if (!a) return;
  free(a->nodes);
  free(a->args);
  free(a->names);
  free(a);
}
