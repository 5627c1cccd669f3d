/* SPDX-License-Identifier: MIT
 * A stepper fused with a right-hand side: one compiled unit for one tape, one method and one number of lanes. Used by
 * the single trajectory (one lane, in place of the library's stepper, same bits) and by batches (several lanes). */
#ifndef AG_RUN_FUSED_H
#define AG_RUN_FUSED_H
#include "kern/kern.h"
#include "step/step.h"

typedef struct ag_fused ag_fused;

/* Of a crossing: what is left of an error after one correction with the slope of the dense output, at most. */
#define AG_EVENTS_CORRECTED 1e-5

/* What to fuse. z has n components, of which the first n_norm count in the error norm. */
typedef struct ag_fused_spec {
  const ag_tape *tape;
  const char *name; /* of the model, for the comment at the head */
  int n, n_norm, n_param, n_c;
  const ag_stepper *method;
  bool march;           /* for batches: ag_fused_run; else ag_fused_step, ag_fused_dense and ag_fused_interpolate */
  const ag_tape *watch; /* for batches: functions of z whose sign changes are looked for; or NULL */
  const int *way;       /* per function: +1 when it rises, -1 when it falls, 0 both */
  bool locate;          /* also ag_fused_locate, for the last of them */
  int n_unit, *unit, *unit_size; /* groups of components kept at their length: offset and number of each */
} ag_fused_spec;

/* Arguments of all entries: arrays [component][lane], 64-byte aligned. */
typedef struct ag_fused_args {
  const double *t, *h, *z, *c, *prep;
  double *z1, *error, *k, *w, *dense; /* k: rows of stages, row 0 holds f(t, z) on entry */
  unsigned long long *fail;
  double rtol, atol;
} ag_fused_args;

/* A stretch of steps with control, all lanes at once, until one of them is done: t == t1 and sub == 0, no smaller step
 * possible, or max_steps made. State in place: all that a lane goes on from is here, so that a lane computes the same
 * bits whenever the calls begin and whatever its neighbours do. The core decides about the steps. A step it accepts
 * whose rest has an error above 1 is made again in smaller ones, of which only the rest is kept: sub is then all ones,
 * end_sub where the step ends, keep the core there. */
typedef struct ag_fused_march {
  double *t, *h, *z, *k; /* k: stages, row 0 = f(t, z) */
  const double *c, *prep, *t1;
  const double *unit; /* [group][lane]: squared length of each group of spec.unit */
  double *z1, *w, *last_error;
  double *h_sub, *end_sub, *keep; /* keep: 2 n_norm rows, the core and its rate */
  long long *steps, *rejected;    /* per lane */
  unsigned long long *rejected_last, *sub;
  double rtol, atol, safety, shrink, grow, h_max; /* the rest of the control is in the text */
  long long max_steps;                            /* of each lane */
  long max_tries;                                 /* of this call */
  /* with functions to watch: a step taken by a lane in which one crosses zero, or may, ends the call; seen: which
   * lanes. Then the step was made from (from, z0, dz0), its end is (t, z1), and its other stages are in k. */
  const double *prep_watch;
  double *memory; /* [function][lane]: a number with the last sign; 0: look in any case. Kept up to date where nothing
                     was seen */
  double *hint;   /* [function][lane]: AG_HINT_... */
  double *from, *z0, *dz0;
  unsigned long long *seen;
} ag_fused_march;

/* What a function does in a step. */
enum {
  AG_HINT_CLEAR,
  AG_HINT_WRONG_WAY,
  AG_HINT_ONCE,
  AG_HINT_LOOK
}; /* no crossing; one that is not wanted; one; who knows */

/* Steps, one per lane, in which the last function to watch crosses zero once: where, and the state there by a real
 * step. As the stepping in events.c does it; a lane that is not good has to go there. */
typedef struct ag_fused_place {
  const double *t, *h, *z, *z1, *c, *prep, *prep_watch, *unit; /* as in a march; h: the whole step */
  double *k, *w,
      *dense;     /* k: the stages of the step, row 0 = f(t, z); dense: room for the coefficients of the dense output */
  double *s, *zs; /* found: time and state */
  unsigned long long *good;
} ag_fused_place;

/* NULL when it cannot be compiled; *reason says why in one line. */
ag_fused *ag_fused_create(const ag_fused_spec *spec, const ag_build_options *options, ag_text *reason);
void ag_fused_free(ag_fused *f);
int ag_fused_lanes(const ag_fused *f);
int ag_fused_n_prep(const ag_fused *f);
void ag_fused_text(const ag_fused_spec *spec, ag_text *out);

void ag_fused_prep(const ag_fused *f, const double *p, double *prep, unsigned long long *fail);
void ag_fused_rhs(const ag_fused *f, const double *t, const double *z, const double *c, const double *prep, double *dz,
                  unsigned long long *fail);
void ag_fused_step(const ag_fused *f, const ag_fused_args *a);
void ag_fused_dense(const ag_fused *f, const ag_fused_args *a);
/* The state at the part theta of a step from z, of its dense output. */
void ag_fused_interpolate(const ag_fused *f, const double *theta, const double *z, const double *dense, double *out);
void ag_fused_run(const ag_fused *f, const ag_fused_march *m);
void ag_fused_locate(const ag_fused *f, const ag_fused_place *p);
int ag_fused_n_watch_prep(const ag_fused *f);
void ag_fused_watch_prep(const ag_fused *f, const double *p, double *prep, unsigned long long *fail);
#endif
