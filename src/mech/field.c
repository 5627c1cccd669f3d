/* SPDX-License-Identifier: MIT
 * Fields made from the increment F = h f + sum g_i dW_i of a step, in tangent coordinates:
 *   LOG   F + sum_{i<j} A_ij [g_i, g_j],  A the Levy areas: the logarithm of the stochastic flow up to terms of size
 *         h^(3/2) whose mean vanishes
 *   ITO   F + h/2 sum D_{g_i} g_i: the drift of Ito's form
 * [g_i, g_j] = D_i g_j - D_j g_i, on a rotation + omega_i x omega_j. A quaternion gets the tangent part alone: its
 * length is restored after every step. */
#include <string.h>

#include "mech/mech_internal.h"

typedef struct fields {
  ag_system *sys;
  ag_graph *g;
  int m;             /* channels */
  ag_linear *single; /* per channel: its field alone */
  ag_linear all;     /* the increment */
} fields;

/* The increment with these constants as h and dW. */
static void take(ag_system *sys, int channel, ag_linear *l) {
  ag_graph *g = sys->model->graph;
  int nc = sys->model->n_coords, m = sys->n.channel;
  ag_id *x = AG_NEWN(sys->arena, ag_id, sys->n.z + nc + 1), *dW = AG_NEWN(sys->arena, ag_id, m + 1);
  memcpy(x, sys->increment, sizeof *x * (size_t)sys->n.z);
  memcpy(x + sys->n.z, sys->increment_turns, sizeof *x * (size_t)nc);
  for (int i = 0; i < m; i++) dW[i] = ag_num(g, i == channel);
  ag_id from[2] = {sys->step_h, sys->step_dW}, to[2] = {ag_num(g, 0), ag_stack(g, m, 1, dW)};
  if (channel >= 0) ag_substitute(g, 2, from, to, sys->n.z + nc, x);
  ag_linear_init(l, sys, false, x, x + sys->n.z);
}

/* The derivative of field j along field i. */
static void along(const fields *f, int i, int j, ag_id *out) {
  const ag_linear *a = &f->single[i];
  ag_id *seeds = AG_NEWN(f->sys->arena, ag_id, a->n_in + 1);
  for (int k = 0, at = 0; k < a->n_in; k++) {
    int n = ag_input_tangent(f->g, a->inputs[k]);
    seeds[k] = ag_stack(f->g, n, 1, a->rows + at);
    at += n;
  }
  ag_forward(f->g, a->n_in, a->inputs, seeds, a->n_row, f->single[j].rows, out);
}

static void bracket(const fields *f, int i, int j, ag_id *out) {
  const ag_linear *a = &f->single[i], *b = &f->single[j];
  ag_id *back = AG_NEWN(f->sys->arena, ag_id, a->n_row + 1);
  along(f, i, j, out);
  along(f, j, i, back);
  for (int k = 0; k < a->n_row; k++) out[k] = ag_sub(f->g, out[k], back[k]);
  for (int k = 0; k < a->n_turn; k++) {
    int r = a->turn_row[k];
    ag_id one = ag_stack(f->g, 3, 1, a->rows + r), other = ag_stack(f->g, 3, 1, b->rows + r);
    ag_id turn = ag_cross(f->g, one, other);
    for (int c = 0; c < 3; c++) out[r + c] = ag_add(f->g, out[r + c], ag_entry(f->g, turn, c, 0));
  }
}

static void add(const fields *f, ag_id weight, const ag_id *x, ag_id *sum) {
  for (int k = 0; k < f->all.n_row; k++) sum[k] = ag_add(f->g, sum[k], ag_mul(f->g, weight, x[k]));
}

/* Tangent rows as rows of z. */
static ag_id *stored(const fields *f, const ag_id *tangent) {
  ag_system *sys = f->sys;
  ag_id *rows = AG_NEWN(sys->arena, ag_id, sys->n.z + 1);
  for (int z = 0, r = 0; z < sys->n.z;) {
    int turn = -1;
    for (int k = 0; k < f->all.n_turn; k++)
      if (f->all.turn_row[k] == r) turn = f->all.turn_coord[k];
    if (turn >= 0) {
      ag_quaternion_rate(f->g, sys->model->coords[turn].q, ag_stack(f->g, 3, 1, tangent + r), rows + z);
      z += 4, r += 3;
    } else rows[z++] = tangent[r++];
  }
  return rows;
}

static void sum_up(fields *f, ag_followed field, ag_id *sum) {
  ag_id *x = AG_NEWN(f->sys->arena, ag_id, f->all.n_row + 1), half = ag_num(f->g, 0.5);
  memcpy(sum, f->all.rows, sizeof *sum * (size_t)f->all.n_row);
  for (int i = 0, at = 0; i < f->m && field == AG_FIELD_OF_LOG; i++)
    for (int j = i + 1; j < f->m; j++, at++) {
      bracket(f, i, j, x);
      add(f, ag_entry(f->g, f->sys->step_A, at, 0), x, sum);
    }
  for (int i = 0; i < f->m && field == AG_FIELD_OF_ITO; i++) {
    along(f, i, i, x);
    add(f, ag_mul(f->g, half, f->sys->step_h), x, sum);
  }
}

static void make_sums(ag_system *sys, ag_followed field) {
  int m = sys->n.channel, n_area = m * (m - 1) / 2;
  fields f = {.sys = sys, .g = sys->model->graph, .m = m};
  f.single = AG_NEWN(sys->arena, ag_linear, m + 1);
  take(sys, -1, &f.all);
  for (int i = 0; i < m; i++) take(sys, i, &f.single[i]);
  if (!sys->step_A && n_area) sys->step_A = ag_input(f.g, "A", n_area, 1, AG_LEAF_REAL);
  ag_id *sum = AG_NEWN(sys->arena, ag_id, f.all.n_row + 1);
  sum_up(&f, field, sum);
  sys->field_rows[field] = stored(&f, sum);
  memcpy(sys->field_turns[field], sys->increment_turns, sizeof(ag_id) * (size_t)sys->model->n_coords);
  for (int k = 0; k < f.all.n_turn; k++)
    sys->field_turns[field][f.all.turn_coord[k]] = ag_stack(f.g, 3, 1, sum + f.all.turn_row[k]);
  for (int i = 0; i < m; i++) ag_linear_done(&f.single[i]);
  ag_linear_done(&f.all);
}

bool ag_system_field(ag_system *sys, ag_followed field) {
  int role = AG_ROLE_INCREMENT + AG_FIELD_ROLES * (int)field;
  if (!sys->increment || sys->elimination == AG_ELIM_SADDLE) return field == AG_FIELD_OF_STEP && sys->increment;
  if (sys->tapes[role]) return true;
  sys->field_turns[field] = AG_NEWN(sys->arena, ag_id, sys->model->n_coords + 1);
  if (field == AG_FIELD_OF_BATH) {
    sys->field_rows[field] = AG_NEWN(sys->arena, ag_id, sys->n.z + 1);
    if (!ag_bath_field(sys, sys->field_rows[field], sys->field_turns[field])) return false;
  } else {
    make_sums(sys, field);
    ag_role_make(sys, role + AG_FIELD_CORE, sys->n.core, sys->field_rows[field]);
  }
  ag_role_make(sys, role, sys->n.z, sys->field_rows[field]);
  return true;
}
