/* SPDX-License-Identifier: MIT
 * What a variational method is: one or two parts of equal length, each with its node a and the place of its impulse.
 * This text is compiled into the library and embedded into compiled kernels: it includes nothing. */
#ifndef AG_STEP_VARIATIONAL_H
#define AG_STEP_VARIATIONAL_H
enum { AG_BATHED_ENDS = 1, AG_BATHED_INSIDE };

typedef struct ag_variational {
  int n_part;
  double a[2], b[2]; /* per part; b = 1: the impulse of the constraints acts at its start, 0: at the node */
  int cayley;        /* tau is the Cayley map, else exp */
  int bathed;        /* AG_BATHED_..., where friction and its noise are (AG_VARIATIONAL_BATH is defined); 0: none */
  int tests;         /* and accepted or rejected by Metropolis' test (trial_core.h) */
} ag_variational;

#define AG_VARIATIONAL_variational_euler \
  { 1, {1}, {1}, 0, 0, 0 }
#define AG_VARIATIONAL_variational_adjoint \
  { 1, {0}, {0}, 0, 0, 0 }
#define AG_VARIATIONAL_variational_midpoint \
  { 1, {0.5}, {0}, 0, 0, 0 }
#define AG_VARIATIONAL_dla_midpoint \
  { 1, {0.5}, {1}, 0, 0, 0 }
#define AG_VARIATIONAL_verlet \
  { 2, {0, 1}, {0, 1}, 0, 0, 0 }
#define AG_VARIATIONAL_leapfrog \
  { 2, {1, 0}, {1, 0}, 0, 0, 0 }
#define AG_VARIATIONAL_rattle \
  { 1, {0}, {1}, 0, 0, 0 }
#define AG_VARIATIONAL_se3_euler \
  { 1, {1}, {1}, 0, 0, 0 }
#define AG_VARIATIONAL_cayley_euler \
  { 1, {1}, {1}, 1, 0, 0 }
#define AG_VARIATIONAL_cayley_midpoint \
  { 1, {0.5}, {0}, 1, 0, 0 }
#define AG_VARIATIONAL_cayley_verlet \
  { 2, {0, 1}, {0, 1}, 1, 0, 0 }
#define AG_VARIATIONAL_ovo_rattle \
  { 1, {0}, {1}, 0, AG_BATHED_ENDS, 0 }
#define AG_VARIATIONAL_ovo_rattle_metropolis \
  { 1, {0}, {1}, 0, AG_BATHED_ENDS, 1 }
#define AG_VARIATIONAL_baoab_rattle \
  { 1, {0}, {1}, 0, AG_BATHED_INSIDE, 0 }
#define AG_VARIATIONAL_baoab_rattle_metropolis \
  { 1, {0}, {1}, 0, AG_BATHED_INSIDE, 1 }

#ifdef AG_VARIATIONAL_METHOD
#define AG_VARIATIONAL_PASTE_(name) AG_VARIATIONAL_##name
#define AG_VARIATIONAL_PASTE(name) AG_VARIATIONAL_PASTE_(name)
static const ag_variational variational_method = AG_VARIATIONAL_PASTE(AG_VARIATIONAL_METHOD);
#define AG_VARIATIONAL (&variational_method)
#endif

/* The carry: the rates, and for the momentum left over as many numbers again, of which AG_STEP_M are used; where steps
 * are tested the first of these is the number of those that were accepted. */
#define AG_HERMITE_CARRY (2 * AG_STEP_N)
#endif
