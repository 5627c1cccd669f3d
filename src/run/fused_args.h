/* SPDX-License-Identifier: MIT
 * The one argument of every function of a fused unit (fused.h). This text is compiled into the library and embedded
 * into the unit: it includes nothing. A change of meaning or layout is a new ABI number; number and size are compared
 * when a unit is loaded.
 *
 * Arrays are [component][lane], 64-byte aligned; masks are all ones or 0 per lane. An entry reads and writes the groups
 * it is listed with. */
#ifndef AG_RUN_FUSED_ARGS_H
#define AG_RUN_FUSED_ARGS_H
#define AG_FUSED_ABI 15
#ifndef AG_FUSED_V /* how the library sees a number and a mask of all lanes; in the unit they are V and VI */
#define AG_FUSED_V double
#define AG_FUSED_VI unsigned long long
#endif

typedef struct ag_fused_args {
  unsigned abi; /* AG_FUSED_ABI */

  /* A step from (t, z) by h to z1: step, dense, interpolate, march, locate. */
  AG_FUSED_V *t, *h, *z, *z1;
  AG_FUSED_V *c;                          /* basis data; a march renews them */
  const AG_FUSED_V *prep, *prep_jacobian; /* prepared parameters of the right-hand side, of its Jacobian */
  AG_FUSED_V *step;                       /* of a path with noise: [1 | dW/h | ...]; else NULL */
  const AG_FUSED_V *prep_finish;          /* of the end of a step with discrete equations */
  const AG_FUSED_V *prep_canonical;       /* of E/kT, where steps are tested */
  AG_FUSED_V *work;                       /* of the stepper: begins with the carry */
  double rtol;
  const AG_FUSED_V *atol;  /* [component], and one more: of other quantities */
  AG_FUSED_V *error;       /* step: two numbers, the core's and the rest's */
  AG_FUSED_VI *fail;       /* step, dense: or-ed where the right-hand side failed */
  const AG_FUSED_V *theta; /* interpolate: part of the step */
  AG_FUSED_V *out;         /* interpolate: the state there */

  /* Power: the work done over `part` of the step just made, dense output prepared. Scratch: out. */
  const AG_FUSED_V *part, *prep_power;
  AG_FUSED_V *done;

  /* March: steps with control, all lanes at once, until one of them is done: t == t1 and sub == 0, no smaller step
   * possible, or max_steps made. The state is updated in place: everything a lane continues from is here, so that a
   * lane computes the same bits whenever the calls begin and whatever its neighbours do. The core decides about the
   * steps. A step it accepts whose rest has an error above 1 + spare is made again in smaller ones, of which only the
   * rest is kept: sub is then all ones, end_sub where the step ends, keep the core and its rate there (2 n_norm rows).
   */
  const AG_FUSED_V *t1;
  const AG_FUSED_V *unit; /* [group]: squared length of each group that is kept at its length; locate too */
  AG_FUSED_V *last_error, *h_sub, *end_sub, *keep;
  AG_FUSED_V *spare;             /* tolerance of the rest that steps so far have not used */
  AG_FUSED_VI *steps, *rejected; /* numbers, not masks */
  AG_FUSED_VI *rejected_last, *sub;
  const AG_FUSED_V *prep_project;           /* where states are put back onto position constraints; locate too */
  const AG_FUSED_V *prep_onto_rows;         /* and velocities onto the rows of the constraints; locate too */
  const AG_FUSED_V *prep_guard;             /* where a minor or a row of the constraints is watched */
  AG_FUSED_V *rows;                         /* the rows after the last step */
  const AG_FUSED_V *prep_align;             /* where quaternions are turned onto images; locate too */
  const AG_FUSED_V *prep_turn, *prep_renew; /* with a basis: how it turns, and renewing it */
  AG_FUSED_V *turn;                         /* and the square of the rate at which it turns here */
  AG_FUSED_VI *leave; /* all ones: the step needs the code of a single run, and the member leaves its lane */
  double safety, shrink, grow, h_max; /* the rest of the control is in the text */
  double t0, dt;                      /* fixed steps: from t0, dt > 0 whatever the direction */
  long long max_steps;                /* of each lane */
  long max_tries;                     /* of this call */

  /* March with functions to watch: a step taken by a lane in which one crosses zero, or may, ends the call; seen: which
   * lanes. Then the step was made from (from, z0) with the carry carry0 and the basis c0, its end is (t, z1), and
   * everything else it produced is in work. */
  const AG_FUSED_V *prep_watch; /* prepared parameters of the functions; locate too */
  const AG_FUSED_V *prep_look,
      *prep_extra;    /* where their bounds are those of another tape (tape.h); of what it reads */
  AG_FUSED_V *memory; /* [function]: a number with the last sign; 0: always check. Kept up to date where nothing was
                         seen */
  AG_FUSED_V *hint;   /* [function]: AG_HINT_... */
  AG_FUSED_V *known, *known_t; /* [function]: values at the end of the last step looked into, and when that was; NaN:
                                  none that count for what comes next */
  AG_FUSED_V *from, *z0, *carry0, *c0;
  AG_FUSED_VI *seen;

  /* Where functions have corners: the state before the last step begun (AG_KEPT_..., then z, carry, c, memory), and
   * the lanes that leave because a corner was met. */
  AG_FUSED_V *kept;
  AG_FUSED_VI *kept_words, *corner;

  /* Locate: in steps in which the last function crosses zero once, where, and the state there by a real step. A lane
   * that is not good has to be examined by events.c. */
  AG_FUSED_V *found_t, *found_z;
  AG_FUSED_VI *good;
} ag_fused_args;

enum { AG_KEPT_T, AG_KEPT_H, AG_KEPT_ERROR, AG_KEPT_SPARE, AG_KEPT_NUMBERS };
enum { AG_KEPT_WAS, AG_KEPT_STEPS, AG_KEPT_REJECTED, AG_KEPT_WORDS };

/* The most that is saved of the tolerance of the rest (docs/design/0008). */
#define AG_REST_SPARE 7.0
#define AG_REST_MOST 100.0 /* times max_steps: so many smaller steps may be left within one step */

/* What a function does in a step: no crossing; one in the wrong direction; one; undecided. */
enum { AG_HINT_CLEAR, AG_HINT_WRONG_WAY, AG_HINT_ONCE, AG_HINT_LOOK };
#endif
