/* SPDX-License-Identifier: MIT
 * Inside run/: crossings of a function of which only values are known, by a separate interpolant (fit.c). */
#ifndef AG_RUN_FIT_H
#define AG_RUN_FIT_H
#include <stdbool.h>

/* Walks over the step in pieces, in each of which the function crosses zero at most once: see() gets the ends of each,
 * and the value at its right end. False: the work did not suffice, and a long piece was left in which crossings may be
 * missing. */
bool ag_fit_pieces(void *self, double (*value)(void *self, double theta),
                   void (*see)(void *self, double last, double theta, double value));
#endif
