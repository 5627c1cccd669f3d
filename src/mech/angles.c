/* SPDX-License-Identifier: MIT
 * Differences of angles go the same way around on all of a sheet: cos(ph - th) beside sin(ph - th), not beside
 * sin(th - ph). */
#include "mech/sheet.h"

/* Per node up to top: is it the angle of a sine or a cosine on the sheet? */
static bool *angles_on(const ag_sheet *s, ag_id top) {
  const ag_graph *g = s->g;
  bool *seen = ag_heap_alloc((size_t)top + 1), *angle = ag_heap_alloc((size_t)top + 1);
  for (int i = 0; i < s->n; i++) seen[s->lines[i].left] = seen[s->lines[i].right] = true;
  for (ag_id x = top; x > 0; x--)
    for (int k = 0; seen[x] && k < ag_node_n_arg(g, x); k++) {
      seen[ag_node_arg(g, x, k)] = true;
      if (ag_node_op(g, x) == AG_OP_SIN || ag_node_op(g, x) == AG_OP_COS) angle[ag_node_arg(g, x, k)] = true;
    }
  free(seen);
  return angle;
}

/* All lines with sine and cosine of `back` written with those of -back; returns their size. */
static int turned(const ag_sheet *s, ag_id back, ag_id *ends) {
  ag_graph *g = s->g;
  int size = 0;
  ag_id angle = ag_neg(g, back), from[2], to[2];
  for (int k = 0; k < 2; k++) {
    ag_op op = k ? AG_OP_COS : AG_OP_SIN;
    from[k] = ag_apply1(g, op, back);
    to[k] = ag_apply1(g, op, angle);
  }
  to[0] = ag_neg(g, to[0]);
  for (int i = 0; i < 2 * s->n; i++) {
    ends[i] = i % 2 ? s->lines[i / 2].right : s->lines[i / 2].left;
    if (!ends[i]) continue;
    ag_substitute(g, 2, from, to, 1, &ends[i]);
    size += ag_normal_size(g, ends[i]);
  }
  return size;
}

/* A difference that is there in both ways: in the one with which the sheet is shorter, else as it was declared. */
static void settle(ag_sheet *s, ag_id one, ag_id other) {
  ag_id *ends[2] = {AG_NEWN(s->a, ag_id, 2 * s->n), AG_NEWN(s->a, ag_id, 2 * s->n)};
  int size[2] = {turned(s, other, ends[0]), turned(s, one, ends[1])};
  bool declared = ag_node_arg(s->g, one, 0) < ag_node_arg(s->g, one, 1);
  const ag_id *best = size[0] < size[1] || (size[0] == size[1] && declared) ? ends[0] : ends[1];
  for (int i = 0; i < s->n; i++) s->lines[i].left = best[2 * i], s->lines[i].right = best[2 * i + 1];
}

void ag_sheet_angles(ag_sheet *s) {
  ag_id top = ag_sheet_top(s);
  bool *angle = angles_on(s, top);
  for (ag_id x = 1; x <= top; x++) {
    ag_id other = angle[x] && ag_node_op(s->g, x) == AG_OP_SUB ? ag_neg(s->g, x) : x;
    if (other < x && ag_node_op(s->g, other) == AG_OP_SUB && angle[other]) settle(s, x, other);
  }
  free(angle);
}
