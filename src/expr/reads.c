/* SPDX-License-Identifier: MIT
 * What a tape would read, without making it. */
#include <stdlib.h>

#include "expr/graph_internal.h"

void ag_tape_reads(ag_graph *g, int n_bind, const ag_bind *binds, int n_out, const ag_id *outs, ag_seg seg,
                   bool *read) {
  int n = 0;
  for (int i = 0; i < n_out; i++) n += ag_node_rows(g, outs[i]) * ag_node_cols(g, outs[i]);
  ag_id *scalars = ag_heap_alloc(sizeof *scalars * ((size_t)n + 1)), top;
  for (int i = 0, at = 0; i < n_out; i++) {
    ag_lower(g, outs[i], scalars + at);
    at += ag_node_rows(g, outs[i]) * ag_node_cols(g, outs[i]);
  }
  unsigned char *live = ag_cone(g, n, scalars, &top);
  ag_id *place = ag_scratch_take(g); /* of an input: 1 + the number of its binding */
  for (int i = 0; i < n_bind; i++) place[binds[i].input] = (ag_id)i + 1;
  for (ag_id x = 1; x <= top; x++) {
    while (x <= top && ag_eight_zeros(live + x)) x += 8;
    if (x > top || !live[x] || ag_node_op(g, x) != AG_OP_SLOT) continue;
    const ag_id at = place[ag_node_arg(g, x, 0)];
    AG_ASSERT(at != 0); /* every input the outputs depend on is bound */
    if (binds[at - 1].seg == seg) read[binds[at - 1].offset + ag_node_at(g, x)->payload.at.i] = true;
  }
  for (int i = 0; i < n_bind; i++) place[binds[i].input] = 0;
  ag_scratch_give(g, place);
  free(live), free(scalars);
}
