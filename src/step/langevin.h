/* SPDX-License-Identifier: MIT
 * Splittings of a motion with friction and temperature into parts of a step: B, velocities move by forces; A, positions
 * by velocities; O, velocities by friction and its noise; V, all but friction and noise. This text is compiled into the
 * library and embedded into compiled kernels: it includes nothing. */
#ifndef AG_STEP_LANGEVIN_H
#define AG_STEP_LANGEVIN_H
typedef struct ag_langevin {
  const char *parts; /* in their order */
  int halves;        /* O twice, each with its half of the noise */
  int tests;         /* the parts without friction are accepted or rejected by Metropolis' test (trial_core.h) */
} ag_langevin;

#define AG_LANGEVIN_baoab \
  { "BAOAB", 0, 0 }
#define AG_LANGEVIN_obabo \
  { "OBABO", 1, 0 }
#define AG_LANGEVIN_ovo_midpoint \
  { "OVO", 1, 0 }
#define AG_LANGEVIN_baoab_metropolis \
  { "BAOAB", 0, 1 }
#define AG_LANGEVIN_obabo_metropolis \
  { "OBABO", 1, 1 }
#define AG_LANGEVIN_ovo_midpoint_metropolis \
  { "OVO", 1, 1 }

#ifdef AG_LANGEVIN_METHOD
#define AG_LANGEVIN_PASTE_(name) AG_LANGEVIN_##name
#define AG_LANGEVIN_PASTE(name) AG_LANGEVIN_PASTE_(name)
static const ag_langevin langevin_method = AG_LANGEVIN_PASTE(AG_LANGEVIN_METHOD);
#define AG_LANGEVIN (&langevin_method)
#endif

/* The carry: the rates, and where steps are tested the number of those that were accepted. */
#define AG_HERMITE_CARRY (AG_STEP_N + AG_LANGEVIN->tests)
#endif
