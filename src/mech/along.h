/* SPDX-License-Identifier: MIT
 * Exact derivatives along a direction, from the graph: part of the front of mech/. Used where equations are solved that
 * contain starts, observables or sections. */
#ifndef AG_MECH_ALONG_H
#define AG_MECH_ALONG_H
#include "mech/mech.h"

/* A direction: rates of change of time, coordinates (in the tangent, n_xi), velocities (n_xi) and parameters (n_param).
 * NULL: zero. */
typedef struct ag_direction {
  double t;
  const double *q, *xi, *params;
} ag_direction;

/* Derivatives of expressions in any quantity of the model (see ag_system_tape; multipliers move with the state).
 * Creating one extends the graph. */
typedef struct ag_along ag_along;
ag_along *ag_along_create(ag_system *sys, int n_out, const ag_id *outs);
void ag_along_free(ag_along *a);
/* At a full state; out: the derivatives of all numbers of outs, row-major, in order. 0, or a code when a pivot failed.
 */
int ag_along_eval(ag_along *a, double t, const double *x, const double *params, const ag_direction *d, double *out);

/* How completed starts depend on parameters. set: offsets of the parameters that are set (swept, solved for); the
 * others follow from them as defined by the model. */
typedef struct ag_start_along ag_start_along;
ag_start_along *ag_start_along_create(ag_system *sys, int n_set, const int *set);
void ag_start_along_free(ag_start_along *a);
/* ag_system_start; then for n directions: dparams (n x n_param) holds the rates of the parameters that were set and
 * gets those of the others; dx (n x 2 n_xi) gets the rates of the coordinates, in the tangent, and of the velocities.
 */
AG_MUST_USE ag_status ag_start_along_eval(ag_start_along *a, ag_ctx *ctx, double t0, const double *params, bool strict,
                                          double *q, double *xi, int n, double *dparams, double *dx);
#endif
