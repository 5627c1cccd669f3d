/* SPDX-License-Identifier: MIT
 * Symmetric projection of steps onto levels of the flow. Part of step.h. */
#ifndef AG_STEP_SYMMETRIC_H
#define AG_STEP_SYMMETRIC_H
#include "step/step.h"

/* A fixed step of the method `base`, projected symmetrically onto the levels of the flow (symmetric.c). The carry
 * is that of the base, then ag_symmetric_own() numbers: the levels to be kept, those of the first state. The
 * workspace, ag_symmetric_size() numbers, begins with that of the base. */
int ag_symmetric_own(const ag_flow *f);
size_t ag_symmetric_size(const ag_stepper *base, const ag_flow *f);
int ag_symmetric_step(const ag_stepper *base, const ag_flow *f, double t, double h, const double *z, const double *dz0,
                      double *z1, double *dz1, double *error, double *work);
int ag_symmetric_dense(const ag_stepper *base, const ag_flow *f, double t, double h, double *work);
void ag_symmetric_interpolate(const ag_stepper *base, const ag_flow *f, double theta, const double *work, double *out);
/* May the levels be kept from this state on? 0, AG_STEP_LEVEL (*which: of them), AG_STEP_DEPENDENT, or a reason of the
 * flow. dz: the rate at z. */
int ag_symmetric_fits(const ag_stepper *base, const ag_flow *f, double t, const double *z, const double *dz, int *which,
                      double *work);
#endif
