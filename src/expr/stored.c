/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "expr/graph_internal.h"

ag_id ag_stored(ag_graph *g, ag_id input) {
  int n = ag_input_storage(g, input);
  ag_id *parts = ag_heap_alloc(sizeof *parts * (size_t)n), out;
  for (int k = 0; k < n; k++) parts[k] = ag_intern(g, AG_OP_SLOT, 1, 1, 1, &input, ag_payload(k, 0));
  out = ag_stack(g, n, 1, parts);
  free(parts);
  return out;
}
