/* SPDX-License-Identifier: MIT
 * Rotations built in the language, and their angular velocities. Conventions: docs/conventions.md. */
#include <math.h>

#include "lang/build.h"

enum { MAX_FACTORS = 200 }; /* factors of a product of rotations whose angular velocity is taken factor by factor */

/* Unit axis as numbers: R = cos(a) 1 + (1 - cos(a)) n n^T + sin(a) hat(n), entry by entry, so that the zeros of n
 * vanish. */
static ag_id turn_about(ag_graph *g, const double n[3], ag_id angle) {
  ag_id c = ag_apply1(g, AG_OP_COS, angle), s = ag_apply1(g, AG_OP_SIN, angle), rest = ag_sub(g, ag_num(g, 1), c), e[9];
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) {
      double nn = n[i] * n[j];
      if (i == j) {
        e[3 * i + j] = nn == 1 ? ag_num(g, 1) : ag_add(g, c, ag_mul(g, ag_num(g, nn), rest));
        continue;
      }
      int k = 3 - i - j; /* hat(n)_ij = -n_k for (i,j) = (1,2), (2,3), (3,1) */
      double sign = (j - i + 3) % 3 == 1 ? -n[k] : n[k];
      ag_id along = ag_mul(g, ag_num(g, nn), rest), across = ag_mul(g, ag_num(g, sign), s);
      e[3 * i + j] = ag_add(g, along, across);
    }
  return ag_rotation(g, ag_stack(g, 3, 3, e));
}

static ag_id turn_about_vector(ag_graph *g, ag_id axis, ag_id angle, ag_id *unit) {
  ag_id n = *unit = ag_div(g, axis, ag_norm(g, axis));
  ag_id c = ag_apply1(g, AG_OP_COS, angle), s = ag_apply1(g, AG_OP_SIN, angle);
  ag_id R = ag_mul(g, c, ag_eye(g, 3));
  ag_id rest = ag_sub(g, ag_num(g, 1), c), nn = ag_mul(g, n, ag_transpose(g, n));
  R = ag_add(g, R, ag_mul(g, rest, nn));
  return ag_rotation(g, ag_add(g, R, ag_mul(g, s, ag_hat(g, n))));
}

static ag_id remember(ag_builder *b, ag_id x, ag_id axis, ag_id angle) {
  AG_PUSH(b->turns, b->n_turn, b->cap_turn);
  b->turns[b->n_turn++] = (ag_turn){x, axis, angle};
  return x;
}

ag_id ag_rotate_axis(ag_builder *b, ag_id axis, ag_id angle, ag_pos pos) {
  ag_graph *g = b->g;
  double n[3];
  if (!ag_constant(g, axis, n)) {
    ag_id unit, x = turn_about_vector(g, axis, angle, &unit);
    return remember(b, x, unit, angle);
  }
  double length = sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
  if (!(length > 0) || !isfinite(length)) return ag_scope_error(b, pos, "the axis of a rotation has no direction"), 0;
  if (fabs(length - 1) > 4e-16)
    for (int i = 0; i < 3; i++) n[i] /= length;
  ag_id e[3] = {ag_num(g, n[0]), ag_num(g, n[1]), ag_num(g, n[2])};
  ag_id R = turn_about(g, n, angle), unit = ag_stack(g, 3, 1, e);
  return remember(b, R, unit, angle);
}

ag_id ag_rotate_euler(ag_builder *b, ag_id phi, ag_id theta, ag_id psi) {
  ag_graph *g = b->g;
  ag_id e1 = ag_stack(g, 3, 1, (ag_id[]){ag_num(g, 1), ag_num(g, 0), ag_num(g, 0)});
  ag_id e3 = ag_stack(g, 3, 1, (ag_id[]){ag_num(g, 0), ag_num(g, 0), ag_num(g, 1)});
  ag_pos none = {0};
  ag_id a = ag_rotate_axis(b, e3, phi, none), c = ag_rotate_axis(b, e1, theta, none),
        d = ag_rotate_axis(b, e3, psi, none);
  return ag_mul(g, ag_mul(g, a, c), d);
}

/* R = Rz(phi) Rx(theta) Rz(psi): third column (sin phi sin theta, -cos phi sin theta, cos theta), third row
 * (sin theta sin psi, sin theta cos psi, cos theta). */
ag_id ag_rotate_angles(ag_builder *b, ag_id R) {
  ag_graph *g = b->g;
  ag_id r13 = ag_entry(g, R, 0, 2), r23 = ag_entry(g, R, 1, 2), r33 = ag_entry(g, R, 2, 2);
  ag_id phi = ag_apply2(g, AG_OP_ATAN2, r13, ag_neg(g, r23));
  ag_id theta = ag_apply2(g, AG_OP_ATAN2, ag_apply2(g, AG_OP_HYPOT, r13, r23), r33);
  ag_id r31 = ag_entry(g, R, 2, 0), r32 = ag_entry(g, R, 2, 1), psi = ag_apply2(g, AG_OP_ATAN2, r31, r32);
  return ag_stack(g, 3, 1, (ag_id[]){phi, theta, psi});
}

/* vee(A^T A'), entry by entry */
static ag_id general_velocity(ag_builder *b, ag_id A, ag_pos pos) {
  ag_graph *g = b->g;
  ag_id dA;
  if (!ag_note_derive(b, A, pos, &dA)) return 0;
  ag_id W = ag_mul(g, ag_transpose(g, A), dA);
  return ag_stack(g, 3, 1, (ag_id[]){ag_entry(g, W, 2, 1), ag_entry(g, W, 0, 2), ag_entry(g, W, 1, 0)});
}

static const ag_turn *find_turn(const ag_builder *b, ag_id A) {
  for (int i = 0; i < b->n_turn; i++)
    if (b->turns[i].x == A) return &b->turns[i];
  return NULL;
}

/* Factor by factor: (A B)' gives B^T a + b, (A^T)' gives -A a, a coordinate its own velocity, a rotation about a fixed
 * axis the axis times the rate of its angle. Everything else uses the general formula. */
static ag_id velocity(ag_builder *b, ag_id A, ag_pos pos, int depth) {
  ag_graph *g = b->g;
  if (!ag_scope_work(b, pos, 1 + b->n_turn / 16)) return 0;
  if (!(ag_note_on(b, A) & (AG_ON_Q | AG_ON_T))) return ag_zero(g, 3, 1);
  ag_op op = ag_node_op(g, A);
  if (op == AG_OP_INPUT)
    for (int i = 0; i < b->m->n_coords; i++)
      if (b->m->coords[i].q == A) return b->m->coords[i].xi;
  const ag_turn *turn = find_turn(b, A);
  if (turn && !(ag_note_on(b, turn->axis) & (AG_ON_Q | AG_ON_T))) {
    ag_id axis = turn->axis, rate;
    return ag_note_derive(b, turn->angle, pos, &rate) ? ag_mul(g, rate, axis) : 0;
  }
  if (op == AG_OP_MATMUL && depth < MAX_FACTORS && ag_is_rotation(g, ag_node_arg(g, A, 0)) &&
      ag_is_rotation(g, ag_node_arg(g, A, 1))) {
    ag_id C = ag_node_arg(g, A, 1), first = velocity(b, ag_node_arg(g, A, 0), pos, depth + 1);
    ag_id second = first ? velocity(b, C, pos, depth + 1) : 0;
    return second ? ag_add(g, ag_mul(g, ag_transpose(g, C), first), second) : 0;
  }
  if (op == AG_OP_TRANSPOSE && depth < MAX_FACTORS) {
    ag_id inner = ag_node_arg(g, A, 0), w = velocity(b, inner, pos, depth + 1);
    return w ? ag_neg(g, ag_mul(g, inner, w)) : 0;
  }
  return general_velocity(b, A, pos);
}

ag_id ag_rotate_velocity(ag_builder *b, ag_id A, ag_pos pos) {
  if (!ag_is_rotation(b->g, A)) {
    ag_scope_error(b, pos,
                   "angvel expects a rotation: an SO3 coordinate, rotation(axis, angle), euler(...), their products "
                   "and transposes");
    return 0;
  }
  if (ag_note_on(b, A) & AG_ON_PROCESS) {
    ag_scope_error(b, pos, "angvel expects a rotation of coordinates and t; this one contains a process");
    return 0;
  }
  if (ag_note_on(b, A) & ~(AG_ON_PARAM | AG_ON_Q | AG_ON_T)) {
    ag_scope_error(b, pos, "angvel expects a rotation of coordinates and t; this one contains a velocity");
    return 0;
  }
  return velocity(b, A, pos, 0);
}
