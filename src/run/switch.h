/* SPDX-License-Identifier: MIT
 * Inside run/: equations that switch (if, abs, sign, min, max). On a branch they are smooth; a step ends where a
 * switching function s changes its sign, and the motion continues beyond it: on the other branch, or along s = 0 where
 * both branches push back towards it (docs/design/0021). switch.c finds these places, slide.c decides and slides. */
#ifndef AG_RUN_SWITCH_H
#define AG_RUN_SWITCH_H
#include "run/run_internal.h"

/* On up to this many surfaces at once the motion slides along a combination of all fields, 2^n; on more if the choices
 * add up, so that n + 1 of them span the others. */
enum { AG_SLIDE_MAX = 3, AG_SLIDE_FIELDS = 1 << AG_SLIDE_MAX };

struct ag_switch {
  int n, n_c;
  int functions;  /* the role of the switching functions */
  double *branch; /* per switching function its sign, at the end of c of the mover; 0: the motion slides on it */
  int n_slide, *slide;
  bool timeless;                 /* neither the equations nor their choices read t */
  double *c;                     /* per field: c with signs instead of the zeros of those slid on */
  double *fields, *rates;        /* per field: the right-hand side; the rates of all switching functions */
  double *lambda;                /* per surface slid on */
  double *matrix;                /* scratch: n (n + 4) numbers */
  double *s, *out, *now;         /* scratch: per switching function */
  double *moved;                 /* scratch: branches, xi', a rate of z */
  bool *hit, *skip;              /* per switching function: it is zero at the end of the step; it is skipped */
  bool *bounded[2];              /* per switching function: can it, can its rate be enclosed? */
  ag_isolate *on_s, *on_rate[2]; /* rates on either side of the one slid on */
  double *rows, *curve, *width, *before;
  double part;             /* of the step just examined, to be tried instead; 1: it was good */
  bool blind;              /* the equations have no value in it, and it ends behind a switch */
  bool started;            /* branches have been decided: zeros among them are surfaces slid on */
  const ag_stepper *plain; /* the method of the library: compiled ones do not slide */
};

/* Outcomes where switching functions are zero. */
typedef enum ag_turn { AG_TURN_ON, AG_TURN_STICKS, AG_TURN_FORKS, AG_TURN_STUCK } ag_turn;

/* switch.c. The switching functions on the branch c; their rates there, dz: of z, or NULL where it is not known. */
int ag_switch_functions(ag_mover *m, double t, const double *z, const double *c, double *s);
int ag_switch_rates(ag_mover *m, double t, const double *z, const double *c, const double *dz, double *rates);

/* slide.c. The right-hand side along the surfaces slid on. */
int ag_slide_rhs(ag_mover *m, double t, const double *z, double *dz);
/* A role on the reduced state with c like `like`: where the motion slides, the combination of the branches with the
 * weights of the right-hand side. False: it cannot be computed. */
bool ag_slide_role(ag_mover *m, int role, double t, const double *z, const double *like, double *out);
/* How far the right-hand side is at least from the ends of the segments between the branches of the surfaces slid on: 1
 * in the middle of all, 0 at an end. NaN: it cannot be computed. */
double ag_slide_margin(ag_mover *m, double t, const double *z);
/* The fields at z, in fields and rates. How many there are. The rate of switching function k in their combination, or
 * (i >= 0) its derivative in lambda_i. Puts z back onto the surfaces slid on. A code when it fails. */
int ag_slide_fields(ag_mover *m, double t, const double *z);
int ag_slide_n_field(const ag_switch *w);
double ag_slide_rate(const ag_switch *w, int k, int i);
/* lambda, for which the surfaces are kept to; the right-hand side is then made from it. A code. */
int ag_slide_at(ag_mover *m, double t, const double *z);
/* Both sides of one surface that is only touched push back: is there rest between them? lambda is then that of it. */
bool ag_slide_rests(const ag_mover *m);
/* slide_choose.c. Takes over which surfaces c says the motion slides on. */
void ag_slide_sync(ag_mover *m);
void ag_slide_resume(ag_mover *m); /* the same for a run that is continued */
/* Decides at (t, z), where the functions marked as hit and those slid on are zero: branches are set, z is put onto the
 * surfaces slid on. direction: of time; h: a usual step. */
ag_turn ag_slide_decide(ag_mover *m, double t, double direction, double h);
#endif
