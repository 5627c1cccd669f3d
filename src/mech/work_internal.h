/* SPDX-License-Identifier: MIT
 * Inside of a worker: shared by work.c and work_saddle.c. */
#ifndef AG_MECH_WORK_INTERNAL_H
#define AG_MECH_WORK_INTERNAL_H
#include "mech/mech_internal.h"

typedef struct machine {
  const ag_tape *tape;
  double *slots, *out;
} machine;

struct ag_work {
  const ag_system *sys;
  double *params;
  machine rhs, core, xi, renew, minor, u, image, basis, saddle, rows_tape, metric, accel, onto_S, onto_g, balance,
      position, kinematics, events, observe;
  machine *sections;                 /* one each */
  double *x;                         /* a full state followed by lambda */
  double *K, *b;                     /* saddle matrix and right-hand side */
  double *delta, *y, *SP, *G, *rows; /* the last four: scratch of the bases */
};

static inline int machine_run(machine *k, const ag_work *w, double t, const double *z, const double *c, double *out) {
  const double *seg[AG_SEG_COUNT] = {&t, z, w->params, c};
  return ag_tape_eval(k->tape, seg, k->slots, out ? out : k->out);
}

/* work_saddle.c: large systems, AG_ELIM_SADDLE. */
int ag_saddle_accel(ag_work *w, double t, const double *x);                       /* xi' and lambda into w->b */
void ag_saddle_reaction(ag_work *w, double t, const double *x, double *reaction); /* of the multipliers in w->b */
double ag_saddle_condition(ag_work *w, double t, const double *x);
double ag_saddle_residual(ag_work *w, double t, const double *x);
int ag_saddle_position(ag_work *w, double t, double *x); /* q moved onto g = 0 */
int ag_saddle_velocity(ag_work *w, double t, double *x); /* xi moved onto S xi + s = 0 */
#endif
