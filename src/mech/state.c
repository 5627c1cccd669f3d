/* SPDX-License-Identifier: MIT
 * Stored coordinates: their tangent, their lengths, where they are by default. */
#include <math.h>
#include <string.h>

#include "math/lie.h"
#include "mech/mech_internal.h"

bool ag_all_finite(int n, const double *v) {
  for (int i = 0; i < n; i++)
    if (!isfinite(v[i])) return false;
  return true;
}

void ag_normalise(const ag_system *sys, double *q) {
  for (int i = 0; i < sys->model->n_coords; i++)
    if (sys->model->coords[i].space == AG_SPACE_SO3) (void)ag_lie_quat_normalise(q + sys->coords[i].at);
}

void ag_retract(const ag_system *sys, double *q, const double *delta) {
  for (int i = 0; i < sys->model->n_coords; i++) {
    const ag_layout_row *p = &sys->coords[i];
    if (sys->model->coords[i].space == AG_SPACE_SO3) {
      double step[4], out[4];
      ag_lie_exp(delta + p->tangent, step);
      ag_lie_quat_mul(q + p->at, step, out);
      memcpy(q + p->at, out, sizeof out);
      (void)ag_lie_quat_normalise(q + p->at);
    } else {
      for (int k = 0; k < p->n; k++) q[p->at + k] += delta[p->tangent + k];
    }
  }
}

void ag_default_coordinates(const ag_system *sys, double *q) {
  memset(q, 0, sizeof(double) * (size_t)sys->n.q);
  for (int i = 0; i < sys->model->n_coords; i++) {
    if (sys->model->coords[i].space == AG_SPACE_SO3) q[sys->coords[i].at] = 1;
    if (sys->model->coords[i].space == AG_SPACE_S2) q[sys->coords[i].at + 2] = 1;
  }
}
