/* SPDX-License-Identifier: MIT
 * SUNDIALS (6 or later) on the rattleback, with the hand-written right-hand side. */
#include <arkode/arkode_erkstep.h>
#include <cvode/cvode.h>
#include <nvector/nvector_serial.h>
#include <sunnonlinsol/sunnonlinsol_fixedpoint.h>

#include "rattleback.h"
#include "rival.h"

enum { MANY_STEPS = 100000000 };

static int field(realtype t, N_Vector y, N_Vector dy, void *count) {
  (void)t;
  ++*(long *)count;
  rattleback(NV_DATA_S(y), NV_DATA_S(dy));
  return 0;
}

static int adams(double t1, double rtol, double atol, double *y, long *n_rhs) {
  SUNContext context;
  if (SUNContext_Create(NULL, &context)) return 1;
  N_Vector v = N_VMake_Serial(6, y, context);
  void *memory = CVodeCreate(CV_ADAMS, context);
  SUNNonlinearSolver iteration = SUNNonlinSol_FixedPoint(v, 0, context);
  double t = 0;
  int bad = CVodeInit(memory, field, 0, v) || CVodeSetUserData(memory, n_rhs) ||
            CVodeSStolerances(memory, rtol, atol) || CVodeSetMaxNumSteps(memory, MANY_STEPS) ||
            CVodeSetNonlinearSolver(memory, iteration) || CVodeSetStopTime(memory, t1) ||
            CVode(memory, t1, v, &t, CV_NORMAL) < 0;
  CVodeFree(&memory);
  SUNNonlinSolFree(iteration);
  N_VDestroy(v);
  SUNContext_Free(&context);
  return bad;
}

static int explicit_rk(ARKODE_ERKTableID table, double t1, double rtol, double atol, double *y, long *n_rhs) {
  SUNContext context;
  if (SUNContext_Create(NULL, &context)) return 1;
  N_Vector v = N_VMake_Serial(6, y, context);
  void *memory = ERKStepCreate(field, 0, v, context);
  double t = 0;
  int bad = ERKStepSetUserData(memory, n_rhs) || ERKStepSStolerances(memory, rtol, atol) ||
            ERKStepSetTableNum(memory, table) || ERKStepSetMaxNumSteps(memory, MANY_STEPS) ||
            ERKStepSetStopTime(memory, t1) || ERKStepEvolve(memory, t1, v, &t, ARK_NORMAL) < 0;
  ERKStepFree(&memory);
  N_VDestroy(v);
  SUNContext_Free(&context);
  return bad;
}

static int fehlberg78(double t1, double rtol, double atol, double *y, long *n_rhs) {
  return explicit_rk(ARKODE_FEHLBERG_13_7_8, t1, rtol, atol, y, n_rhs);
}

const rival *rivals(int *n) {
  static const rival list[] = {{"SUNDIALS CVODE Adams", adams}, {"SUNDIALS ARKODE Fehlberg 7(8)", fehlberg78}};
  *n = 2;
  return list;
}
