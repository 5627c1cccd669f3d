/* SPDX-License-Identifier: MIT
 * Internals of run/: first passage of a quantity through a level on a path with noise. */
#ifndef AG_RUN_PASSAGE_H
#define AG_RUN_PASSAGE_H
#include "step/step.h"

/* Of one path: on which side of the level it began, the quantity and its variance rate after the last step, and when
 * it first reached the level, NaN: not yet. */
typedef struct ag_passage_state {
  double side, y, s2, time;
} ag_passage_state;

typedef struct ag_passage_step {
  const ag_wiener *path;
  double t0, h, level;
} ag_passage_step;

void ag_passage_begin(ag_passage_state *s, double level, double t0, double y, double s2);
/* After step k of a path, for its passage i. */
void ag_passage_look(ag_passage_state *s, const ag_passage_step *p, int i, unsigned long long member,
                     unsigned long long k, double y, double s2);
/* From a normal and a uniform number. */
double ag_passage_inverse_gaussian(double mean, double shape, double normal, double u);
#endif
