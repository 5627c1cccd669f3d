/* SPDX-License-Identifier: MIT
 * Time steppers: front header of step/. A stepper knows a flow, never a model.
 *
 * A stepper type is a constant row: name, order, what it keeps, workspace size, step function. A step allocates
 * nothing: the caller hands over one 64-byte aligned workspace. */
#ifndef AG_STEP_STEP_H
#define AG_STEP_STEP_H
#include <stdbool.h>
#include <stddef.h>

/* A vector field dz/dt = rhs(t, z) on n numbers. rhs returns 0, or a reason > 0 when it could not be evaluated (the
 * step then fails; dz may be anything). in_norm[i] = 1: component i counts in the error norm (NULL: all do);
 * 2: in the second one; 0: in none. */
typedef struct ag_flow {
  int n;
  const unsigned char *in_norm;
  int (*rhs)(void *self, double t, const double *z, double *dz);
  void *self;
} ag_flow;

typedef struct ag_stepper ag_stepper;

typedef enum ag_step_result { AG_STEP_OK, AG_STEP_REJECTED, AG_STEP_FAILED } ag_step_result;

struct ag_stepper {
  const char *name, *doc, *reference;
  int order, error_order; /* error_order 0: no embedded estimate, fixed steps only */
  int n_stage;            /* right-hand sides per step (new ones, with first-same-as-last counted) */
  int dense_order;        /* order of the dense output (error O(h^(dense_order+1))) */
  size_t (*size)(int n);  /* doubles of workspace for dimension n */
  /* One step from (t, z) with dz = rhs(t, z) given in dz0; writes z1 (and dz1 = rhs(t+h, z1)). With an embedded
   * estimate, error[0] is the scaled error norm (accept when <= 1) for tolerances rtol, atol; else 0 (error[1]: the
   * same for the second norm, written only if some component counts there). It is NaN when a component in the norm of
   * z1 or dz1 is not finite (the others are for the caller to look at). Returns 0, or the reason a right-hand side
   * gave. h may be negative. No two of the arrays overlap. */
  int (*step)(const ag_stepper *s, const ag_flow *f, double t, double h, const double *z, const double *dz0, double *z1,
              double *dz1, double rtol, double atol, double *error, double *work);
  /* Prepares the dense output of the step just made (extra right-hand sides where the method needs them). */
  int (*dense)(const ag_stepper *s, const ag_flow *f, double t, double h, const double *z, const double *dz0,
               const double *z1, const double *dz1, double *work);
  /* State at t + theta h, 0 <= theta <= 1, after dense(). */
  void (*interpolate)(const ag_stepper *s, int n, double theta, double h, const double *z, const double *z1,
                      const double *work, double *out);
  const void *table; /* the method's tableau */
};

/* All steppers, in the order of stepper.def. */
int ag_stepper_count(void);
const ag_stepper *ag_stepper_at(int i);
const ag_stepper *ag_stepper_find(const char *name); /* NULL when unknown */

/* Of a Runge-Kutta method: the row of stages that holds f(t + h, z1), and the rows of its dense output; the workspace
 * is rows of n numbers: stages, one row, dense output. */
int ag_stepper_last(const ag_stepper *s);
int ag_stepper_degree(const ag_stepper *s);

/* Texts of tableau.h and rk_core.h, to be compiled together with a right-hand side (see the head of rk_core.h). */
extern const char ag_stepper_tableau_text[], ag_stepper_core_text[];

/* Step-size control: proportional-integral with limits. Its memory is plain data: part of a checkpoint. */
typedef struct ag_control {
  double rtol, atol, h_min, h_max, safety, shrink, grow, beta;
  double last_error; /* of the last accepted step */
  bool rejected;     /* the last try was rejected: do not grow next time */
} ag_control;

void ag_control_init(ag_control *c, const ag_stepper *s, double rtol, double atol);
/* Given the error of a try with step h: true when accepted; *h_next is the next step size to try, with sign, between
 * h_min and h_max (defaults: 0 and infinity). A right-hand side that failed is judged as error NaN: rejected, a tenth
 * of the step next. *h_next is 0 when nothing smaller may be tried: h was h_min, or the method has fixed steps. */
bool ag_control_judge(ag_control *c, const ag_stepper *s, double h, double error, double *h_next);
/* A first step size from the flow itself (Hairer, Norsett, Wanner II.4), with the sign of t1 - t. work: 3 n doubles. */
double ag_control_first(const ag_flow *f, const ag_stepper *s, double t, double t1, const double *z, const double *dz,
                        double rtol, double atol, double *work);
#endif
