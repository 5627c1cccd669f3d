/* SPDX-License-Identifier: MIT
 * Linearisation of the reduced equations in tangent coordinates. A rotation moves by eta, delta R = R hat(eta), and
 *   eta' = delta Omega - Omega x eta.
 * An image c = R^T c0 is a number of its own, or moves with its rotation: delta c = c x eta. */
#include "mech/mech_internal.h"

static void add_input(ag_linear *l, ag_id input, int n_col) {
  l->inputs[l->n_in++] = input;
  l->n_col += n_col;
}

static void add_rows(ag_linear *l, int z, int n) {
  for (int k = 0; k < n; k++) l->rows[l->n_row++] = l->dz[z + k];
}

/* Coordinates that are core, or those that are rest, in the order of z. */
static void add_coordinates(ag_linear *l, bool core) {
  const ag_system *sys = l->sys;
  for (int i = 0; i < sys->model->n_coords; i++) {
    const ag_layout_row *p = &sys->coords[i];
    const ag_coord *c = &sys->model->coords[i];
    if (c->space == AG_SPACE_SO3) {
      if ((sys->q_in_z[p->at] < sys->n.core) != core) continue;
      l->turn_row[l->n_turn] = l->n_row;
      l->turn_coord[l->n_turn++] = i;
      add_input(l, c->q, 3);
      for (int k = 0; k < 3; k++) l->rows[l->n_row++] = ag_entry(l->g, l->velocity[i], k, 0);
    } else if (sys->q_leaf[i]) {
      for (int k = 0; k < p->n; k++) {
        int z = sys->q_in_z[p->at + k];
        if ((z < sys->n.core) != core) continue;
        add_input(l, sys->q_leaf[i][k], 1);
        add_rows(l, z, 1);
      }
    } else if ((sys->q_in_z[p->at] < sys->n.core) == core) {
      add_input(l, c->q, p->n);
      add_rows(l, sys->q_in_z[p->at], p->n);
    }
  }
  for (int i = 0; i < sys->n.process; i++) {
    int z = sys->q_in_z[sys->processes[i].at];
    if ((z < sys->n.core) != core) continue;
    add_input(l, sys->model->processes[i].x, 1);
    add_rows(l, z, 1);
  }
}

/* Adds -hat(Omega) to the diagonal block of a rotation. */
static void add_turn(const ag_linear *l, int n, ag_id *J, int row, int coord) {
  ag_id hat = ag_neg(l->g, ag_hat(l->g, l->velocity[coord]));
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) {
      ag_id *at = &J[(row + i) * n + row + j];
      *at = ag_add(l->g, *at, ag_entry(l->g, hat, i, j));
    }
}

int ag_turn_tangent(const ag_system *sys) { return sys->n.tangent - 3 * sys->n_image; }

/* All inputs and rows, in the order of z. */
void ag_linear_init(ag_linear *l, ag_system *sys, bool turned, const ag_id *dz, const ag_id *velocity) {
  size_t room = (size_t)(sys->n.z + sys->n.q + 1);
  *l = (ag_linear){.sys = sys, .g = sys->model->graph, .dz = dz, .velocity = velocity};
  l->inputs = ag_heap_alloc(sizeof(ag_id) * room);
  l->rows = ag_heap_alloc(sizeof(ag_id) * room);
  l->turn_row = ag_heap_alloc(sizeof(int) * room);
  l->turn_coord = ag_heap_alloc(sizeof(int) * room);
  l->image_col = ag_heap_alloc(sizeof(int) * room);
  add_coordinates(l, true);
  for (int i = 0; i < sys->n_image; i++) {
    l->image_col[i] = l->n_col;
    add_input(l, sys->images[i].input, 3);
    if (!turned) add_rows(l, sys->images[i].z, 3);
  }
  for (int i = 0; i < sys->n_u_input; i++) add_input(l, sys->u_inputs[i], 0);
  l->n_col += sys->n.u;
  add_rows(l, sys->n.u_at, sys->n.u);
  add_coordinates(l, false);
}

void ag_linear_done(ag_linear *l) {
  free(l->inputs);
  free(l->rows);
  free(l->turn_row);
  free(l->turn_coord);
  free(l->image_col);
}

/* The columns of every image times hat(c), added to those of its rotation. */
static void fold_images(const ag_linear *l, int n, ag_id whole, ag_id *J) {
  for (int i = 0; i < l->sys->n_image; i++) {
    const ag_image *image = &l->sys->images[i];
    ag_id hat = ag_hat(l->g, image->input);
    int at = 0;
    for (int k = 0; k < l->n_turn; k++)
      if (l->turn_coord[k] == image->coord) at = l->turn_row[k];
    for (int r = 0; r < n; r++)
      for (int b = 0; b < 3; b++)
        for (int a = 0; a < 3; a++) {
          ag_id by = ag_entry(l->g, whole, r, l->image_col[i] + a), turn = ag_entry(l->g, hat, a, b);
          ag_id part = ag_mul(l->g, by, turn);
          J[r * n + at + b] = ag_add(l->g, J[r * n + at + b], part);
        }
  }
}

/* J of n rows: the columns of the inputs but those of images that are turned. */
static const ag_tape *make(ag_system *sys, int role, bool turned, const ag_id *dz, const ag_id *velocity) {
  if (sys->tapes[role]) return sys->tapes[role];
  ag_linear l;
  ag_linear_init(&l, sys, turned, dz, velocity);
  int n = l.n_row, skip = turned && sys->n_image ? l.image_col[0] : n, size = turned ? 3 * sys->n_image : 0;
  ag_id whole = ag_jacobian(l.g, ag_concat(l.g, n, l.rows), l.n_in, l.inputs);
  ag_id *J = ag_heap_alloc(sizeof(ag_id) * (size_t)(n * n + 1));
  for (int i = 0; i < n * n; i++) {
    int column = i % n;
    J[i] = ag_entry(l.g, whole, i / n, column < skip ? column : column + size);
  }
  if (turned) fold_images(&l, n, whole, J);
  for (int i = 0; i < l.n_turn; i++) add_turn(&l, n, J, l.turn_row[i], l.turn_coord[i]);
  ag_role_make(sys, role, n * n, J);
  ag_linear_done(&l);
  free(J);
  return sys->tapes[role];
}

const ag_tape *ag_system_jacobian(ag_system *sys) { return make(sys, AG_ROLE_JACOBIAN, false, sys->dz, sys->turns); }

const ag_tape *ag_system_turn_jacobian(ag_system *sys) {
  return make(sys, AG_ROLE_TURN_JACOBIAN, true, sys->dz, sys->turns);
}

const ag_tape *ag_system_increment_jacobian(ag_system *sys, ag_followed field) {
  if (!ag_system_field(sys, field)) return NULL;
  bool own = field != AG_FIELD_OF_STEP;
  return make(sys, AG_ROLE_INCREMENT_JACOBIAN + AG_FIELD_ROLES * (int)field, true,
              own ? sys->field_rows[field] : sys->increment, own ? sys->field_turns[field] : sys->increment_turns);
}
