/* SPDX-License-Identifier: MIT
 * Information about graph nodes: which inputs they depend on, and their primes. Arguments have smaller ids than their
 * node, so one loop over the new ids keeps it up to date. */
#include <string.h>

#include "lang/build.h"

static void inherit(ag_builder *b, int i) {
  for (int k = 0, n = ag_node_n_arg(b->g, (ag_id)i); k < n; k++)
    b->notes[i].on |= b->notes[ag_node_arg(b->g, (ag_id)i, k)].on;
}

static void catch_up(ag_builder *b, ag_id x) {
  int n = ag_graph_count(b->g) + 1;
  if ((int)x < b->n_note) return;
  if (n > b->cap_note) {
    b->cap_note = n > 2 * b->cap_note ? n : 2 * b->cap_note;
    b->notes = ag_heap_grow(b->notes, sizeof *b->notes * (size_t)b->cap_note);
  }
  for (int i = b->n_note; i < n; i++) {
    b->notes[i] = (ag_note){0};
    if (i) inherit(b, i);
  }
  b->n_note = n;
}

/* Nodes that were built on it before it was registered (by the functions of bodies) are updated, too. */
void ag_note_input(ag_builder *b, ag_id x, int on) {
  catch_up(b, x);
  if (b->notes[x].on == (uint8_t)on) return;
  b->notes[x].on = (uint8_t)on;
  for (int i = (int)x + 1; i < b->n_note; i++) inherit(b, i);
}

int ag_note_on(ag_builder *b, ag_id x) {
  catch_up(b, x);
  return b->notes[x].on;
}

void ag_note_prime(ag_builder *b, ag_id x, ag_id dx) {
  catch_up(b, x > dx ? x : dx);
  b->notes[x].prime = dx;
}

/* Number of nodes of x: the cost of differentiating it. */
static int64_t cone_size(ag_builder *b, ag_id x) {
  ag_id *stack = NULL;
  int n = 0, cap = 0;
  int64_t count = 0;
  b->stamp++;
  AG_PUSH(stack, n, cap);
  stack[n++] = x;
  while (n > 0) {
    ag_id y = stack[--n];
    if (b->notes[y].stamp == b->stamp) continue;
    b->notes[y].stamp = b->stamp;
    count++;
    for (int i = 0, n_arg = ag_node_n_arg(b->g, y); i < n_arg; i++) {
      AG_PUSH(stack, n, cap);
      stack[n++] = ag_node_arg(b->g, y, i);
    }
  }
  free(stack);
  return count;
}

bool ag_note_derive(ag_builder *b, ag_id x, ag_pos pos, ag_id *dx) {
  int on = ag_note_on(b, x);
  if (on & AG_ON_MOTION)
    return ag_scope_error(b, pos, "the prime of energy, a drive or a reaction is not known: only of coordinates and t");
  if (on & AG_ON_XI)
    return ag_scope_error(
        b, pos,
        "the prime of an expression that contains a velocity would be an acceleration: only coordinates and t "
        "can be primed");
  if (on & AG_ON_PROCESS) return ag_scope_error(b, pos, "a process has no prime: only coordinates and t can be primed");
  if (!b->notes[x].prime) {
    if (!(on & (AG_ON_Q | AG_ON_T))) *dx = ag_zero(b->g, ag_node_rows(b->g, x), ag_node_cols(b->g, x));
    else if (!ag_scope_work(b, pos, 16 + cone_size(b, x) + ag_graph_count(b->g) / 64)) return false;
    else if (!ag_model_prime(b->m, x, dx)) return ag_scope_error(b, pos, "this cannot be primed");
    ag_note_prime(b, x, *dx);
  }
  *dx = b->notes[x].prime;
  return true;
}

bool ag_note_same(const ag_builder *b, ag_id x, ag_id y) {
  return ag_node_rows(b->g, x) == ag_node_rows(b->g, y) && ag_node_cols(b->g, x) == ag_node_cols(b->g, y);
}

const char *ag_note_shape(ag_builder *b, ag_id x) {
  int n = ag_node_rows(b->g, x), m = ag_node_cols(b->g, x);
  if (n == 1 && m == 1) return "a scalar";
  if (m == 1) return ag_arena_printf(b->arena, "%s %d-vector", n == 8 || n == 11 || n == 18 ? "an" : "a", n);
  return ag_arena_printf(b->arena, "%s %dx%d matrix", n == 8 || n == 11 || n == 18 ? "an" : "a", n, m);
}

const char *ag_note_value(ag_builder *b, ag_value v) {
  if (v.kind == AG_VALUE_CONDITION) return "a condition";
  if (v.kind == AG_VALUE_FAMILY) return ag_arena_printf(b->arena, "a family of %d", v.count);
  return v.kind == AG_VALUE_NODE ? ag_note_shape(b, v.x) : "unknown";
}
