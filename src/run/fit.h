/* SPDX-License-Identifier: MIT
 * Inside run/: crossings of a function of which only values are known, by an interpolant of its own (fit.c). */
#ifndef AG_RUN_FIT_H
#define AG_RUN_FIT_H
#include <stdbool.h>

enum { AG_FIT_CHEAP = 4 }; /* pieces between the nodes of the first look */

/* Node j of 0 .. n as a part of the step, from 1 down to 0. */
double ag_fit_node(int n, int j);
/* Does the function with the values v at the nodes of AG_FIT_CHEAP keep this sign? */
bool ag_fit_clear(const double *v, int sign);
/* Walks over the step in pieces, in each of which the function crosses zero at most once: see() gets the ends of each,
 * and the value at its right end. */
void ag_fit_pieces(void *self, double (*value)(void *self, double theta),
                   void (*see)(void *self, double last, double theta, double value));
#endif
