/* SPDX-License-Identifier: MIT
 * The one argument of the entry of an ensemble's unit (walk.c). This text is compiled into the library and embedded
 * into the unit, after wiener.h. A change of meaning or layout is a new ABI number; number and size are compared when
 * a unit is loaded. */
#ifndef AG_RUN_WALK_ARGS_H
#define AG_RUN_WALK_ARGS_H
#define AG_WALK_ABI 10
#ifndef AG_STEP_WIENER_H /* in a unit its text stands before */
#include "step/step.h"
#endif
#ifndef AG_WALK_V /* how the library sees a number and a mask of all lanes; in the unit they are V and VI */
#define AG_WALK_V double
#define AG_WALK_VI unsigned long long
#endif

/* Arrays are [parity][component][lane], 64-byte aligned: lane l of parity s is path 2 pair[l] + s. */
typedef struct ag_walk_args {
  unsigned abi; /* AG_WALK_ABI */
  ag_wiener path;
  const AG_WALK_VI *pair;
  unsigned long long from, to; /* steps to take: from .. to - 1 */
  double t0, h;                /* step k begins at t0 + k h */
  double most;                 /* larger increments are cut, where the unit does that */
  AG_WALK_V *z, *own;          /* the state; what the method carries on besides rates */
  AG_WALK_V *c;                /* basis data, renewed on the way */
  const AG_WALK_V *prep, *prep_jacobian, *prep_finish, *prep_out, *prep_agree, *prep_canonical;
  const AG_WALK_V *prep_project, *prep_turn, *prep_renew; /* where states and bases are corrected after a step */
  const AG_WALK_V *unit;                                  /* [group]: squared lengths that are kept */
  AG_WALK_VI *fail; /* [parity]: or-ed where the equations could not be evaluated */
  AG_WALK_VI *cut;  /* [parity]: added to, steps in which an increment was cut */
  AG_WALK_V *out;   /* the columns after the last step, where the unit has them; NULL: not needed */
  const AG_WALK_V *prep_passes;
  AG_WALK_V *passes; /* the numbers of first passages after it, where the unit has them */
} ag_walk_args;
#endif
