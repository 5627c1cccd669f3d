/* SPDX-License-Identifier: MIT
 * The start state: given values are kept, other independent ones are 0, dependent ones are solved from the constraints.
 * Positions first (g = 0), then velocities (S xi + s = 0, linear). Only if that has no solution: projection, with a
 * note. */
#include <math.h>
#include <string.h>

#include "math/lie.h"
#include "mech/start_internal.h"

const ag_item *ag_margin_broken(ag_system *sys, double t, const double *params, const double *q) {
  const ag_model *m = sys->model;
  const ag_item *wrong = NULL;
  double *x = ag_heap_alloc(sizeof(double) * (size_t)(sys->n.x + 1)), v;
  memcpy(x, q, sizeof(double) * (size_t)sys->n.q);
  for (int i = 0; i < m->n_margins && !wrong; i++) {
    ag_tape *tape = ag_full_tape(sys, 1, &m->margins[i].x);
    ag_tape_once(tape, t, x, params, NULL, &v);
    if (!(v > 0)) wrong = &m->margins[i];
    ag_tape_free(tape);
  }
  free(x);
  return wrong;
}

static ag_status set_rotation(ag_ctx *ctx, const ag_start *s, const double *R, double *quaternion) {
  double worst = 0;
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) {
      double v = i == j ? -1 : 0;
      for (int k = 0; k < 3; k++) v += R[3 * k + i] * R[3 * k + j];
      worst = fmax(worst, fabs(v));
    }
  double det = R[0] * (R[4] * R[8] - R[5] * R[7]) - R[1] * (R[3] * R[8] - R[5] * R[6]) +
               R[2] * (R[3] * R[7] - R[4] * R[6]);
  if (!(worst < 1e-6) || det < 0) {
    ag_ctx_error(ctx, s->pos, "the start value is not a rotation (R^T R differs from 1 by %.1e, determinant %.3g)",
                 worst, det);
    return AG_WRONG;
  }
  ag_lie_quat_from_matrix(R, quaternion);
  (void)ag_lie_quat_normalise(quaternion);
  return AG_OK;
}

/* Given coordinates into q; named[] per tangent component. */
static ag_status named_positions(ag_ctx *ctx, ag_system *sys, ag_start_values *given, double *q, bool *named) {
  ag_model *m = sys->model;
  for (int i = 0; i < m->n_starts; i++) {
    const ag_start *s = &m->starts[i];
    if (s->velocity || s->frame >= 0) continue;
    const ag_layout_row *p = &sys->coords[s->coord];
    bool soft = m->soft_from && i >= m->soft_from - 1;
    int n = ag_node_rows(m->graph, s->x) * ag_node_cols(m->graph, s->x);
    double *v = ag_heap_alloc(sizeof(double) * (size_t)n);
    ag_start_value(given, i, q, v);
    ag_status status = AG_OK;
    ag_pointer old = ag_point_at(ctx, m, i);
    if (!ag_all_finite(n, v)) {
      const ag_item *why = ag_margin_broken(sys, given->t0, given->params, q);
      if (why) ag_ctx_error(ctx, why->pos, "at the start `%s` %s", why->name, why->text);
      else ag_ctx_error(ctx, s->pos, "the start value of `%s` is not finite", m->coords[s->coord].name);
      status = AG_WRONG;
    } else if (m->coords[s->coord].space == AG_SPACE_SO3) {
      status = set_rotation(ctx, s, v, q + p->at);
    } else if (s->row >= 0) {
      q[p->at + s->row] = v[0];
    } else {
      memcpy(q + p->at, v, sizeof(double) * (size_t)n);
    }
    ag_point_back(ctx, old);
    free(v);
    AG_TRY(status);
    for (int k = 0; k < p->n_tangent; k++)
      if (!soft && (s->row < 0 || m->coords[s->coord].space == AG_SPACE_SO3 || s->row == k))
        named[p->tangent + k] = true;
  }
  return AG_OK;
}

/* What a message about position row `row` points at: a `--set` of a coordinate in it, or -1 for the constraint itself.
 */
static int culprit(const ag_system *sys, int row) {
  const ag_model *m = sys->model;
  const ag_row *r = row < sys->n.g ? &sys->rows[sys->n.row - sys->n.g + row] : NULL;
  ag_id x = r ? (r->kind == AG_ROW_HOLONOMIC ? m->holonomics : m->prescribes)[r->item].x : m->touches[row - sys->n.g].x;
  for (int i = m->n_starts - 1; i >= 0; i--) {
    const ag_start *s = &m->starts[i];
    bool position = !s->velocity && s->frame < 0 && ag_start_origin(m, i);
    if (position && ag_depends(m->graph, 1, &x, 1, &m->coords[s->coord].q)) return i;
  }
  return -1;
}

/* Moves q onto the position constraints: the coordinates that are not given, or all of them if these are not enough. */
static ag_status complete_positions(ag_ctx *ctx, const ag_system *sys, double t0, const double *params, bool strict,
                                    const bool *named, double *q, bool *solved) {
  double gap;
  int row;
  if (ag_position_solve(sys, t0, params, named, q, solved, &gap, &row)) return AG_OK;
  memset(solved, true, (size_t)sys->n.xi);
  int set = culprit(sys, row);
  ag_pointer old = ag_point_at(ctx, sys->model, set);
  const ag_item *touch = row < sys->n.g ? NULL : &sys->model->touches[row - sys->n.g];
  ag_pos pos = set >= 0 ? sys->model->starts[set].pos : touch ? touch->pos : sys->rows[sys->n.row - sys->n.g + row].pos;
  bool moved = !touch && !strict && ag_position_project(sys, t0, params, q);
  if (touch && !touch->name)
    ag_ctx_error(ctx, pos, "the start violates this relation (by %.3g), and no free value in it can change that", gap);
  else if (touch && !isfinite(gap)) ag_ctx_error(ctx, pos, "at the start `%s` %s", touch->name, touch->text);
  else if (touch) ag_ctx_error(ctx, pos, "at the start `%s` %s (off by about %.3g)", touch->name, touch->text, gap);
  else if (moved)
    ag_ctx_warn(ctx, pos, "the start positions did not satisfy the constraints (by %.3g): moved to the nearest that do",
                gap);
  else if (!isfinite(gap))
    ag_ctx_error(ctx, pos, "this constraint has no finite value at the start positions: choose others");
  else
    ag_ctx_error(ctx, pos, "the start positions do not satisfy the constraints (by %.3g) and %s", gap,
                 strict ? "may not be moved (--strict)" : "cannot be moved onto them");
  ag_point_back(ctx, old);
  return moved ? AG_OK : AG_WRONG;
}

ag_status ag_start_positions(ag_ctx *ctx, ag_system *sys, double t0, const double *params, bool strict, double *q,
                             ag_solved *solved) {
  if (sys->starter) return ag_start_positions(ctx, sys->starter, t0, params, strict, q, solved);
  bool *named = ag_heap_alloc((size_t)sys->n.xi + 1), *own = ag_heap_alloc((size_t)sys->n.xi + 1);
  ag_start_values given;
  ag_start_values_init(&given, sys, t0, params);
  ag_default_coordinates(sys, q);
  ag_status status = ag_process_start_values(ctx, sys, t0, params, q);
  if (status == AG_OK) status = named_positions(ctx, sys, &given, q, named);
  ag_start_values_done(&given);
  if (status == AG_OK && sys->n_relation)
    status = complete_positions(ctx, sys, t0, params, strict, named, q, solved ? solved->q : own);
  free(named);
  free(own);
  return status;
}

ag_status ag_system_start(ag_ctx *ctx, ag_system *sys, double t0, const double *params, bool strict, double *q,
                          double *xi) {
  AG_TRY(ag_start_positions(ctx, sys, t0, params, strict, q, NULL));
  return ag_start_velocities(ctx, sys, t0, params, strict, q, xi, NULL);
}
