/* SPDX-License-Identifier: MIT
 * A Runge-Kutta tableau as data: the `table` of such a stepper. Private to step/: tests read it; the steps themselves
 * have the numbers as literals (tableau.h explains each of them). */
#ifndef AG_STEP_RK_H
#define AG_STEP_RK_H

enum { AG_TABLEAU_MAX = 16 };

typedef struct ag_tableau {
  int last, top, error, degree;
  double c[AG_TABLEAU_MAX];
  double a[AG_TABLEAU_MAX][AG_TABLEAU_MAX]; /* row LAST holds b: the end point is a stage */
  double b[AG_TABLEAU_MAX], e[AG_TABLEAU_MAX], e3[AG_TABLEAU_MAX];
  double d[8][AG_TABLEAU_MAX]; /* rows 3 .. degree - 1 */
} ag_tableau;
#endif
