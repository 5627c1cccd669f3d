/* SPDX-License-Identifier: MIT
 * Vectors turned into space, R v, in the rates of reconstructed coordinates. With the stored quaternion (w, u)
 *   R v = v + 2 (w c + u x c),  c = u x v,
 * takes 18 operations; the matrix takes 20, and 9 for each vector. */
#include <stdlib.h>

#include "mech/mech_internal.h"

enum { MOST = 2 }; /* vectors of one rotation: for more the matrix is cheaper */

typedef struct turning {
  const ag_system *sys;
  ag_graph *g;
  int *rotation;      /* per node: the coordinate whose rotation it is, if its images are integrated, + 1 */
  int *count, *other; /* per coordinate: vectors it turns; other uses of its matrix */
  int n;
  ag_id *from, *to;
  int *coord; /* per vector */
} turning;

static void find_rotations(turning *t, ag_id top) {
  for (int i = 0; i < t->sys->n_image; i++) {
    int coord = t->sys->images[i].coord;
    ag_id R = t->sys->model->coords[coord].q;
    if (R <= top) t->rotation[R] = coord + 1;
  }
}

/* How node x uses rotations whose images are integrated. */
static void look(turning *t, ag_id x) {
  for (int a = 0; a < ag_node_n_arg(t->g, x); a++) {
    int coord = t->rotation[ag_node_arg(t->g, x, a)] - 1;
    if (coord < 0 || ag_node_op(t->g, x) == AG_OP_SLOT) continue; /* a number of the quaternion */
    if (ag_node_op(t->g, x) != AG_OP_MATMUL || a != 0 || ag_node_cols(t->g, x) != 1) {
      t->other[coord]++;
      continue;
    }
    t->count[coord]++;
    t->coord[t->n] = coord;
    t->from[t->n++] = x;
  }
}

static ag_id turned(const turning *t, int coord, ag_id v) {
  ag_graph *g = t->g;
  ag_id q = ag_stored(g, t->sys->model->coords[coord].q), w = ag_entry(g, q, 0, 0), u = ag_rows_of(g, q, 1, 3);
  ag_id c = ag_cross(g, u, v), along = ag_mul(g, w, c), half = ag_add(g, along, ag_cross(g, u, c));
  return ag_add(g, v, ag_mul(g, ag_num(g, 2), half));
}

void ag_rotate_vectors(const ag_system *sys, int n, ag_id *outs) {
  turning t = {.sys = sys, .g = sys->model->graph};
  ag_id top = 0;
  for (int i = 0; i < n; i++) top = outs[i] > top ? outs[i] : top;
  if (!sys->n_image) return;
  bool *seen = ag_heap_alloc((size_t)top + 1);
  int nc = sys->model->n_coords;
  t.count = ag_heap_alloc(sizeof(int) * (size_t)(2 * nc + 1));
  t.other = t.count + nc;
  t.rotation = ag_heap_alloc(sizeof(int) * ((size_t)top + 1));
  find_rotations(&t, top);
  t.from = ag_heap_alloc(sizeof(ag_id) * (2 * (size_t)top + 2));
  t.to = t.from + top + 1;
  t.coord = ag_heap_alloc(sizeof(int) * ((size_t)top + 1));
  for (int i = 0; i < n; i++) seen[outs[i]] = true;
  for (ag_id x = top; x > 0; x--)
    for (int a = 0; a < ag_node_n_arg(t.g, x) && seen[x]; a++) seen[ag_node_arg(t.g, x, a)] = true;
  for (ag_id x = 1; x <= top; x++)
    if (seen[x]) look(&t, x);
  int m = 0;
  for (int i = 0; i < t.n; i++) {
    int coord = t.coord[i];
    if (t.other[coord] || t.count[coord] > MOST) continue;
    t.from[m] = t.from[i];
    t.to[m++] = turned(&t, coord, ag_node_arg(t.g, t.from[i], 1));
  }
  if (m) ag_substitute(t.g, m, t.from, t.to, n, outs);
  free(seen), free(t.rotation), free(t.count), free(t.from), free(t.coord);
}
