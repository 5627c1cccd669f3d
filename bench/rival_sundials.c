/* SPDX-License-Identifier: MIT
 * SUNDIALS (6 or later; field.h): CVODE by Adams and by backward differences, ARKODE explicit and implicit.
 */
#include <arkode/arkode_arkstep.h>
#include <arkode/arkode_erkstep.h>
#include <cvode/cvode.h>
#include <nvector/nvector_serial.h>
#include <sunlinsol/sunlinsol_dense.h>
#include <sunnonlinsol/sunnonlinsol_fixedpoint.h>

#include "field.h"

enum { MANY_STEPS = 100000000 };

static int rhs(realtype t, N_Vector y, N_Vector dy, void *count) {
  ++*(long *)count;
  return field_rhs(t, NV_DATA_S(y), NV_DATA_S(dy));
}

static int jacobian(realtype t, N_Vector y, N_Vector dy, SUNMatrix J, void *count, N_Vector a, N_Vector b, N_Vector c) {
  double rows[FIELD_N * FIELD_N];
  (void)dy, (void)count, (void)a, (void)b, (void)c;
  int bad = field_jacobian(t, NV_DATA_S(y), rows);
  for (int i = 0; i < FIELD_N * FIELD_N; i++) SM_ELEMENT_D(J, i / FIELD_N, i % FIELD_N) = rows[i];
  return bad;
}

static int adams(double t1, double rtol, double atol, double *y, long *n_rhs) {
  SUNContext context;
  if (SUNContext_Create(NULL, &context)) return 1;
  N_Vector v = N_VMake_Serial(FIELD_N, y, context);
  void *memory = CVodeCreate(CV_ADAMS, context);
  SUNNonlinearSolver iteration = SUNNonlinSol_FixedPoint(v, 0, context);
  double t = 0;
  int bad = CVodeInit(memory, rhs, 0, v) || CVodeSetUserData(memory, n_rhs) || CVodeSStolerances(memory, rtol, atol) ||
            CVodeSetMaxNumSteps(memory, MANY_STEPS) || CVodeSetNonlinearSolver(memory, iteration) ||
            CVodeSetStopTime(memory, t1) || CVode(memory, t1, v, &t, CV_NORMAL) < 0;
  CVodeFree(&memory);
  SUNNonlinSolFree(iteration);
  N_VDestroy(v);
  SUNContext_Free(&context);
  return bad;
}

static int bdf(double t1, double rtol, double atol, double *y, long *n_rhs) {
  SUNContext context;
  if (SUNContext_Create(NULL, &context)) return 1;
  N_Vector v = N_VMake_Serial(FIELD_N, y, context);
  void *memory = CVodeCreate(CV_BDF, context);
  SUNMatrix J = SUNDenseMatrix(FIELD_N, FIELD_N, context);
  SUNLinearSolver linear = SUNLinSol_Dense(v, J, context);
  double t = 0;
  int bad = CVodeInit(memory, rhs, 0, v) || CVodeSetUserData(memory, n_rhs) || CVodeSStolerances(memory, rtol, atol) ||
            CVodeSetMaxNumSteps(memory, MANY_STEPS) || CVodeSetLinearSolver(memory, linear, J) ||
            CVodeSetJacFn(memory, jacobian) || CVodeSetStopTime(memory, t1) || CVode(memory, t1, v, &t, CV_NORMAL) < 0;
  CVodeFree(&memory);
  SUNLinSolFree(linear);
  SUNMatDestroy(J);
  N_VDestroy(v);
  SUNContext_Free(&context);
  return bad;
}

static int explicit_rk(double t1, double rtol, double atol, double *y, long *n_rhs) {
  SUNContext context;
  if (SUNContext_Create(NULL, &context)) return 1;
  N_Vector v = N_VMake_Serial(FIELD_N, y, context);
  void *memory = ERKStepCreate(rhs, 0, v, context);
  double t = 0;
  int bad = ERKStepSetUserData(memory, n_rhs) || ERKStepSStolerances(memory, rtol, atol) ||
            ERKStepSetTableNum(memory, ARKODE_FEHLBERG_13_7_8) || ERKStepSetMaxNumSteps(memory, MANY_STEPS) ||
            ERKStepSetStopTime(memory, t1) || ERKStepEvolve(memory, t1, v, &t, ARK_NORMAL) < 0;
  ERKStepFree(&memory);
  N_VDestroy(v);
  SUNContext_Free(&context);
  return bad;
}

static int implicit_rk(double t1, double rtol, double atol, double *y, long *n_rhs) {
  SUNContext context;
  if (SUNContext_Create(NULL, &context)) return 1;
  N_Vector v = N_VMake_Serial(FIELD_N, y, context);
  void *memory = ARKStepCreate(NULL, rhs, 0, v, context);
  SUNMatrix J = SUNDenseMatrix(FIELD_N, FIELD_N, context);
  SUNLinearSolver linear = SUNLinSol_Dense(v, J, context);
  double t = 0;
  int bad = ARKStepSetUserData(memory, n_rhs) || ARKStepSStolerances(memory, rtol, atol) ||
            ARKStepSetOrder(memory, 5) || ARKStepSetMaxNumSteps(memory, MANY_STEPS) ||
            ARKStepSetLinearSolver(memory, linear, J) || ARKStepSetJacFn(memory, jacobian) ||
            ARKStepSetStopTime(memory, t1) || ARKStepEvolve(memory, t1, v, &t, ARK_NORMAL) < 0;
  ARKStepFree(&memory);
  SUNLinSolFree(linear);
  SUNMatDestroy(J);
  N_VDestroy(v);
  SUNContext_Free(&context);
  return bad;
}

const rival *rivals(int *n) {
  static const rival list[] = {{"SUNDIALS CVODE Adams", adams, 0},
                               {"SUNDIALS CVODE BDF", bdf, 1},
                               {"SUNDIALS ARKODE Fehlberg 7(8)", explicit_rk, 0},
                               {"SUNDIALS ARKODE ESDIRK 5", implicit_rk, 1}};
  *n = sizeof list / sizeof *list;
  return list;
}
