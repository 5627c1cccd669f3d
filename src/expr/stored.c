/* SPDX-License-Identifier: MIT
 * The stored numbers of an input as a column. */
#include <stdlib.h>

#include "expr/graph_internal.h"

ag_id ag_stored(ag_graph *g, ag_id input) {
  AG_ASSERT(ag_node_op(g, input) == AG_OP_INPUT);
  int n = ag_input_storage(g, input), m = ag_node_cols(g, input);
  bool rotation = ag_is_rotation(g, input);
  ag_id *parts = ag_heap_alloc(sizeof *parts * (size_t)n);
  for (int k = 0; k < n; k++) {
    if (rotation) parts[k] = ag_intern(g, AG_OP_SLOT, 1, 1, 1, &input, ag_payload(k, 0));
    else parts[k] = ag_entry(g, input, k / m, k % m);
  }
  ag_id out = ag_stack(g, n, 1, parts);
  free(parts);
  return out;
}

void ag_node_index(const ag_graph *g, ag_id x, int *i, int *j) {
  AG_ASSERT(ag_node_op(g, x) == AG_OP_ENTRY || ag_node_op(g, x) == AG_OP_ROWS);
  *i = ag_node_at(g, x)->payload.at.i;
  *j = ag_node_at(g, x)->payload.at.j;
}
