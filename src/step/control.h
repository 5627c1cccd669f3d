/* SPDX-License-Identifier: MIT
 * The step size. Part of step.h. */
#ifndef AG_STEP_CONTROL_H
#define AG_STEP_CONTROL_H
#include "step/step.h"

/* Proportional-integral control with limits. Its memory is plain data: part of a checkpoint. */
typedef struct ag_control {
  double rtol, atol, h_min, h_max, safety, shrink, grow, beta;
  double last_error; /* of the last accepted step */
  double spare;      /* of the tolerance of reconstructed components: what steps so far have not used */
  bool rejected;     /* the last try was rejected: do not grow next time */
} ag_control;

void ag_control_init(ag_control *c, const ag_stepper *s, double rtol, double atol);
/* Given the error of a try with step h: true when accepted; *h_next is the next step size to try, with sign, between
 * h_min and h_max (defaults: 0 and infinity). A right-hand side that failed is judged as error NaN: rejected, a tenth
 * of the step next. *h_next is 0 when nothing smaller may be tried: h was h_min, or the method has fixed steps. */
bool ag_control_judge(ag_control *c, const ag_stepper *s, double h, double error, double *h_next);
/* Reconstructed components have their own error, the second norm. Where it is above 1 the step is repeated in
 * smaller ones: the factor from the step to the first of them (entering), from one of them to the next. */
double ag_control_rest(const ag_stepper *s, double error, bool entering);
/* A first step size from the flow itself (Hairer, Norsett, Wanner II.4), with the sign of t1 - t. work: 3 n doubles. */
double ag_control_first(const ag_flow *f, const ag_stepper *s, double t, double t1, const double *z, const double *dz,
                        double rtol, double atol, double *work);
extern const char ag_control_text[]; /* control_core.h: the size of the next step as text over V */
#endif
