/* SPDX-License-Identifier: MIT
 * Orders from errors: slopes of log(error) over log(dt) with confidence intervals. Used by converge. */
#ifndef AG_STUDY_SLOPE_H
#define AG_STUDY_SLOPE_H
#include "study/converge.h"

/* half: of the 95 % confidence interval, Student's; n: points used. NaN: too few points. */
typedef struct ag_slope {
  double order, half;
  int n;
} ag_slope;
ag_slope ag_slope_line(const ag_converge_point *p, int n); /* a straight line through n >= 3 points */
/* log error = a + order log dt + c dt^power, n >= 5: with the next term of the error. */
ag_slope ag_slope_curve(const ag_converge_point *p, int n, int power);
/* The most certain of these through the last of n points, without the last one or two if rounding moved them. */
ag_slope ag_slope_best(const ag_converge_point *p, int n, int power);
/* By how much the slope still changes: that of the last four points against that of the four that end where these
 * begin. */
double ag_slope_drift(const ag_converge_point *p, int n);
#endif
