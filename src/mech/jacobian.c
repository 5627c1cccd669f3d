/* SPDX-License-Identifier: MIT
 * Linearisation of the reduced equations in tangent coordinates. A rotation moves by eta, delta R = R hat(eta), and
 *   eta' = delta Omega - Omega x eta.
 * An image c = R^T c0 is a number of its own, or moves with its rotation: delta c = c x eta. Large systems whose
 * Jacobian has few entries get these alone. */
#include <stdlib.h>
#include <string.h>

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

/* ---- entries ---- */

void ag_entries_add(ag_entries *e, int row, int col, ag_id x) {
  AG_PUSH(e->at, e->n, e->cap);
  e->at[e->n] = (ag_matrix_entry){row, col, e->n, x};
  e->n++;
}

/* The rotation of these whose columns contain this one, by its first column; or -1. */
static int turn_of(const ag_linear *l, int col) {
  for (int k = 0; k < l->n_turn; k++)
    if (col >= l->turn_row[k] && col < l->turn_row[k] + 3) return l->turn_row[k];
  return -1;
}

/* A derivative by one of the inputs' columns, in the columns of the tangent. */
static void add_derivative(const ag_linear *l, ag_entries *e, int row, int col, ag_id x) {
  int first = l->sys->n_image ? l->image_col[0] : l->n_col, size = 3 * l->sys->n_image;
  if (col < first || col >= first + size) {
    int at = col < first ? col : col - size, turn = turn_of(l, at);
    for (int b = 0; turn >= 0 && b < 3; b++) ag_entries_add(e, row, turn + b, 0);
    ag_entries_add(e, row, at, x);
    return;
  }
  int i = (col - first) / 3, at = 0;
  ag_id hat = ag_hat(l->g, l->sys->images[i].input);
  for (int k = 0; k < l->n_turn; k++)
    if (l->turn_coord[k] == l->sys->images[i].coord) at = l->turn_row[k];
  for (int b = 0; b < 3; b++)
    ag_entries_add(e, row, at + b, ag_mul(l->g, x, ag_entry(l->g, hat, (col - first) % 3, b)));
}

static int by_place(const void *a, const void *b) {
  const ag_matrix_entry *x = a, *y = b;
  if (x->row != y->row) return x->row < y->row ? -1 : 1;
  if (x->col != y->col) return x->col < y->col ? -1 : 1;
  return x->order < y->order ? -1 : x->order > y->order;
}

void ag_entries_gather(ag_entries *e) {
  int n = 0;
  qsort(e->at, (size_t)e->n, sizeof *e->at, by_place);
  for (int i = 0; i < e->n; i++) {
    ag_matrix_entry *last = n ? &e->at[n - 1] : NULL, now = e->at[i];
    if (!last || last->row != now.row || last->col != now.col) e->at[n++] = now;
    else if (now.x) last->x = last->x ? ag_add(e->g, last->x, now.x) : now.x;
  }
  e->n = n;
  for (int i = 0; i < n; i++)
    if (!e->at[i].x) e->at[i].x = ag_num(e->g, 0);
}

static void find_entries(const ag_linear *l, ag_entries *e) {
  ag_sparse S;
  ag_jacobian_sparse(l->g, ag_concat(l->g, l->n_row, l->rows), l->n_in, l->inputs, &S);
  for (int r = 0; r < l->n_row; r++) ag_entries_add(e, r, r, 0);
  for (int k = 0; k < S.n_entry; k++) add_derivative(l, e, S.row[k], S.col[k], S.x[k]);
  for (int k = 0; k < l->n_turn; k++) {
    ag_id hat = ag_neg(l->g, ag_hat(l->g, l->velocity[l->turn_coord[k]]));
    for (int i = 0; i < 9; i++)
      ag_entries_add(e, l->turn_row[k] + i / 3, l->turn_row[k] + i % 3, ag_entry(l->g, hat, i / 3, i % 3));
  }
  ag_sparse_done(&S);
  ag_entries_gather(e);
}

bool ag_entries_table(ag_system *sys, int role, int m, const ag_entries *e, const unsigned char *marks) {
  int *row = ag_heap_alloc(sizeof(int) * (size_t)(e->n + 1)), *col = ag_heap_alloc(sizeof(int) * (size_t)(e->n + 1));
  for (int i = 0; i < e->n; i++) row[i] = e->at[i].row, col[i] = e->at[i].col;
  int *table = ag_lu_table(&(ag_pattern){m, e->n, row, col, marks}), size = ag_lu_size(table);
  if ((long)m * m / 2 > m + 2L * table[AG_LU_LOWER]) {
    sys->tables[role] = AG_NEWN(sys->arena, int, size);
    memcpy(sys->tables[role], table, sizeof *table * (size_t)size);
  }
  free(table), free(row), free(col);
  return sys->tables[role] != NULL;
}

/* J of a large system. */
static void make_large(const ag_linear *l, int role) {
  ag_system *sys = l->sys;
  ag_entries e = {.g = l->g};
  int m = l->n_row;
  find_entries(l, &e);
  (void)ag_entries_table(sys, role, m, &e, NULL);
  int n = sys->tables[role] ? e.n : m * m;
  ag_id *J = ag_heap_alloc(sizeof(ag_id) * (size_t)(n + 1)), zero = ag_num(l->g, 0);
  for (int i = 0; i < n; i++) J[i] = zero;
  for (int i = 0; i < e.n; i++) J[sys->tables[role] ? i : e.at[i].row * m + e.at[i].col] = e.at[i].x;
  ag_role_make(sys, role, n, J);
  free(J), free(e.at);
}

int ag_solved_size(const ag_system *sys, int role, int m) {
  return sys->tables[role] ? sys->tables[role][AG_LU_ENTRIES] : m * m;
}

int ag_jacobian_size(const ag_system *sys, int role) { return ag_solved_size(sys, role, ag_turn_tangent(sys)); }

const int *ag_system_table(const ag_system *sys, int role) { return sys->tables[role]; }

/* ---- all of it ---- */

/* J of n rows: the columns of the inputs but those of images that are turned. */
static const ag_tape *make(ag_system *sys, int role, bool turned, const ag_id *dz, const ag_id *velocity) {
  if (sys->tapes[role]) return sys->tapes[role];
  ag_linear l;
  ag_linear_init(&l, sys, turned, dz, velocity);
  if (turned && l.n_row > AG_MOST_DENSE) {
    make_large(&l, role);
    ag_linear_done(&l);
    return sys->tapes[role];
  }
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
