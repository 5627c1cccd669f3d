/* SPDX-License-Identifier: MIT
 * Quaternions turned onto the images of their rotations, which take precedence: with h = R^T c and the image g,
 * delta = (g - h) x h / |h|^2 takes h to g to first order; one image after the other.
 *
 * After a step with noise h and g may be some way apart. They have the same length: the turn (1, delta/2) with
 * delta = 4 g x h/|g + h|^2 takes one to the other exactly. A second image decides what is left, a turn about the
 * first. */
#include <float.h>

#include "mech/mech_internal.h"

/* R(q)^T c = c - 2 w v x c + 2 v x (v x c) for a unit quaternion q = (w, v). */
static ag_id turned_back(ag_graph *g, const ag_id *q, ag_id c) {
  ag_id v = ag_stack(g, 3, 1, q + 1), two = ag_num(g, 2), across = ag_cross(g, v, c);
  ag_id back = ag_mul(g, q[0], across), twice = ag_sub(g, ag_cross(g, v, across), back);
  return ag_add(g, c, ag_mul(g, two, twice));
}

void ag_quaternion_turned(ag_graph *g, const ag_id *q, const ag_id *delta, ag_id *out) {
  ag_id w[3], half = ag_num(g, 0.5), norm = ag_num(g, 0);
  for (int i = 0; i < 3; i++) w[i] = ag_mul(g, half, delta[i]);
  ag_id qv = ag_stack(g, 3, 1, q + 1), wv = ag_stack(g, 3, 1, w), cross = ag_cross(g, qv, wv), sum[4];
  sum[0] = ag_sub(g, q[0], ag_dot(g, qv, wv));
  for (int i = 0; i < 3; i++) {
    ag_id along = ag_add(g, q[1 + i], ag_mul(g, q[0], w[i])), across = ag_entry(g, cross, i, 0);
    sum[1 + i] = ag_add(g, along, across);
  }
  for (int i = 0; i < 4; i++) norm = ag_add(g, norm, ag_mul(g, sum[i], sum[i]));
  norm = ag_apply1(g, AG_OP_SQRT, norm);
  for (int i = 0; i < 4; i++) out[i] = ag_div(g, sum[i], norm);
}

void ag_align(derive *d) {
  ag_system *sys = d->sys;
  ag_graph *g = d->g;
  ag_id *out = AG_NEWN(sys->arena, ag_id, sys->n.z + 1);
  ag_state_nodes(d, out);
  for (int i = 0; i < sys->n_image; i++) {
    const ag_image *im = &sys->images[i];
    const int *at = sys->q_in_z + sys->coords[im->coord].at;
    ag_id q[4], delta[3], turned[4];
    for (int k = 0; k < 4; k++) q[k] = out[at[k]];
    ag_id h = turned_back(g, q, im->c), cross = ag_cross(g, ag_sub(g, im->input, h), h);
    ag_id least = ag_num(g, DBL_MIN), square = ag_add(g, ag_dot(g, h, h), least); /* an image may be 0 */
    for (int k = 0; k < 3; k++) delta[k] = ag_div(g, ag_entry(g, cross, k, 0), square);
    ag_quaternion_turned(g, q, delta, turned);
    for (int k = 0; k < 4; k++) out[at[k]] = turned[k];
  }
  ag_role_make(sys, AG_ROLE_ALIGN, sys->n.z, out);
}

/* ---- after a step with noise ---- */

/* The part of v that is perpendicular to a, times |a|^2. */
static ag_id across(ag_graph *g, ag_id v, ag_id a) {
  ag_id along = ag_mul(g, ag_dot(g, v, a), a);
  return ag_sub(g, ag_mul(g, ag_dot(g, a, a), v), along);
}

/* q turned so that its image h becomes g, or next to g by a turn about the image `axis` (0: none). An image may be 0,
 * or along the axis: the result is then rounding error and must be ignored. */
static void turn_onto(ag_graph *g, ag_id image, ag_id h, ag_id axis, ag_id *q) {
  ag_id from = axis ? across(g, image, axis) : image, to = axis ? across(g, h, axis) : h, delta[3];
  ag_id cross = ag_cross(g, from, to), sum = ag_add(g, from, to), least = ag_num(g, DBL_MIN);
  if (axis) {
    ag_id length2 = ag_dot(g, axis, axis), size = ag_mul(g, length2, length2), square = ag_dot(g, image, image);
    ag_id whole = ag_mul(g, size, square), part = ag_mul(g, ag_num(g, 1e-16), whole);
    least = ag_add(g, least, part);
  }
  ag_id square = ag_dot(g, sum, sum), over = ag_add(g, square, least), factor = ag_div(g, ag_num(g, 4), over);
  for (int k = 0; k < 3; k++) delta[k] = ag_mul(g, factor, ag_entry(g, cross, k, 0));
  ag_quaternion_turned(g, q, delta, q);
}

static void turn_rotations(derive *d, ag_id *out) {
  const ag_system *sys = d->sys;
  ag_graph *g = d->g;
  for (int i = 0; i < sys->n_image; i++) {
    const ag_image *im = &sys->images[i];
    const int *at = sys->q_in_z + sys->coords[im->coord].at;
    ag_id q[4], axis = 0;
    for (int k = 0; k < 4; k++) q[k] = out[at[k]];
    for (int k = 0; k < i; k++)
      if (sys->images[k].coord == im->coord) axis = sys->images[k].input;
    turn_onto(g, im->input, turned_back(g, q, im->c), axis, q);
    for (int k = 0; k < 4; k++) out[at[k]] = q[k];
  }
}

void ag_agree(derive *d, const ag_id *solved) {
  ag_system *sys = d->sys;
  ag_id *out = AG_NEWN(sys->arena, ag_id, sys->n.z + 1);
  if (sys->n.g || sys->n_driven || sys->elimination == AG_ELIM_SADDLE || sys->n_solved < sys->n_relation ||
      !(sys->n_image + sys->n_relation))
    return;
  for (int i = 0; i < sys->n_image; i++) /* relations are solved with the images: nothing else they read may rotate */
    if (ag_depends(d->g, sys->n_solved, solved, 1, &d->q[sys->images[i].coord])) return;
  ag_state_nodes(d, out);
  turn_rotations(d, out);
  for (int i = 0; i < sys->n_solved; i++) out[sys->q_in_z[sys->solved_q[i]]] = solved[i];
  ag_role_make(sys, AG_ROLE_AGREE, sys->n.z, out);
}
