/* SPDX-License-Identifier: MIT
 * Linearisation of the reduced equations in tangent coordinates. A rotation moves by eta, delta R = R hat(eta), and
 *   eta' = delta Omega - Omega x eta. */
#include "mech/mech_internal.h"

typedef struct linear {
  ag_system *sys;
  ag_graph *g;
  int n_in, n_row;
  ag_id *inputs, *rows;
  int *turn_row, *turn_coord, n_turn; /* where the rotations are */
} linear;

static void add_rows(linear *l, int z, int n) {
  for (int k = 0; k < n; k++) l->rows[l->n_row++] = l->sys->dz[z + k];
}

/* Coordinates that are core, or those that are rest, in the order of z. */
static void add_coordinates(linear *l, bool core) {
  const ag_system *sys = l->sys;
  for (int i = 0; i < sys->model->n_coords; i++) {
    const ag_layout_row *p = &sys->coords[i];
    const ag_coord *c = &sys->model->coords[i];
    if (c->space == AG_SPACE_SO3) {
      if ((sys->q_in_z[p->at] < sys->n.core) != core) continue;
      l->turn_row[l->n_turn] = l->n_row;
      l->turn_coord[l->n_turn++] = i;
      l->inputs[l->n_in++] = c->q;
      for (int k = 0; k < 3; k++) l->rows[l->n_row++] = ag_entry(l->g, sys->velocity[i], k, 0);
    } else if (sys->q_leaf[i]) {
      for (int k = 0; k < p->n; k++) {
        int z = sys->q_in_z[p->at + k];
        if ((z < sys->n.core) != core) continue;
        l->inputs[l->n_in++] = sys->q_leaf[i][k];
        add_rows(l, z, 1);
      }
    } else if ((sys->q_in_z[p->at] < sys->n.core) == core) {
      l->inputs[l->n_in++] = c->q;
      add_rows(l, sys->q_in_z[p->at], p->n);
    }
  }
}

/* Adds -hat(Omega) to the diagonal block of a rotation. */
static void add_turn(const linear *l, int n, ag_id *J, int row, int coord) {
  ag_id hat = ag_neg(l->g, ag_hat(l->g, l->sys->velocity[coord]));
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) {
      ag_id *at = &J[(row + i) * n + row + j];
      *at = ag_add(l->g, *at, ag_entry(l->g, hat, i, j));
    }
}

const ag_tape *ag_system_jacobian(ag_system *sys) {
  if (sys->tapes[AG_ROLE_JACOBIAN]) return sys->tapes[AG_ROLE_JACOBIAN];
  ag_graph *g = sys->model->graph;
  size_t room = (size_t)(sys->n.z + sys->n.q + 1);
  linear l = {.sys = sys, .g = g};
  l.inputs = ag_heap_alloc(sizeof(ag_id) * room);
  l.rows = ag_heap_alloc(sizeof(ag_id) * room);
  l.turn_row = ag_heap_alloc(sizeof(int) * room);
  l.turn_coord = ag_heap_alloc(sizeof(int) * room);
  add_coordinates(&l, true);
  for (int i = 0; i < sys->n_image; i++) {
    l.inputs[l.n_in++] = sys->images[i].input;
    add_rows(&l, sys->images[i].z, 3);
  }
  for (int i = 0; i < sys->n_u_input; i++) l.inputs[l.n_in++] = sys->u_inputs[i];
  add_rows(&l, sys->n.u_at, sys->n.u);
  add_coordinates(&l, false);
  ag_id whole = ag_jacobian(g, ag_concat(g, l.n_row, l.rows), l.n_in, l.inputs);
  ag_id *J = ag_heap_alloc(sizeof(ag_id) * (size_t)(l.n_row * l.n_row));
  for (int i = 0; i < l.n_row * l.n_row; i++) J[i] = ag_entry(g, whole, i / l.n_row, i % l.n_row);
  for (int i = 0; i < l.n_turn; i++) add_turn(&l, l.n_row, J, l.turn_row[i], l.turn_coord[i]);
  ag_role_make(sys, AG_ROLE_JACOBIAN, l.n_row * l.n_row, J);
  free(l.inputs);
  free(l.rows);
  free(l.turn_row);
  free(l.turn_coord);
  free(J);
  return sys->tapes[AG_ROLE_JACOBIAN];
}
