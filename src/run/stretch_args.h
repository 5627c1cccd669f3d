/* SPDX-License-Identifier: MIT
 * The one argument of the function ag_stretch of a fused unit (stretch_core.h). This text is compiled into the library
 * and embedded into the unit, after fused_args.h: it includes nothing. A change of meaning or layout is a new ABI
 * number; number and size are compared when a unit is loaded. */
#ifndef AG_RUN_STRETCH_ARGS_H
#define AG_RUN_STRETCH_ARGS_H
#define AG_STRETCH_ABI 2
#ifndef AG_FUSED_V /* as in fused_args.h */
#define AG_FUSED_V double
#define AG_FUSED_VI unsigned long long
#endif

typedef struct ag_stretch_args {
  unsigned abi; /* AG_STRETCH_ABI */

  const struct ag_fused_args *m; /* the march; it ends at m->max_steps, and before a try that would pass m->t1 */
  const AG_FUSED_V *until;       /* or this, */
  long max_tries;                /* or after this many tries judged by the core */
  AG_FUSED_V *reach;             /* the farthest time such tries aimed at (ag_checkpoint) */
  long long *tries, *taken,
      *others;       /* counted up: steps tried and taken, smaller ones included; rates evaluated anew */
  AG_FUSED_VI *care; /* all ones: the next step needs the code of a single run; nothing of it has been done */
  AG_FUSED_V *z, *carry, *c, *rows, *memory; /* room for the state before a try */

  const AG_FUSED_VI *plain; /* [function]: all ones: crossings are recorded, and nothing else */
  AG_FUSED_V *found_t;      /* a crossing in the last step, which ended the stretch: when, */
  long long *found, *made;  /* of which function, counted from 1 (0: there is none), and by how many real steps */
} ag_stretch_args;
#endif
