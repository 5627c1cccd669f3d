/* SPDX-License-Identifier: MIT
 * Phase volume along a map of states, in the invariant measure of a model. Used by converge. */
#ifndef AG_STUDY_VOLUME_H
#define AG_STUDY_VOLUME_H
#include <stdbool.h>

#include "base/status.h"
#include "mech/mech.h"

typedef struct ag_volume ag_volume;
/* NULL: no measure is known, or the state is large. The measure is taken at x0 and time t0. */
ag_volume *ag_volume_create(ag_ctx *ctx, ag_system *sys, double t0, const double *x0);
void ag_volume_free(ag_volume *v);
/* |det| of the derivative of `map` at x0, with the densities at both ends, minus 1: 0 where volume is kept. The map
 * takes full states at t0 to full states at t1; false: it failed. NaN then. */
double ag_volume_change(ag_volume *v, double t1, bool (*map)(void *self, const double *x, double *x1), void *self);
#endif
