/* SPDX-License-Identifier: MIT
 * Internals of a worker: shared by work.c, work_rows.c and work_saddle.c. */
#ifndef AG_MECH_WORK_INTERNAL_H
#define AG_MECH_WORK_INTERNAL_H
#include "math/newton.h"
#include "mech/mech_internal.h"

/* The evaluator of one tape: the interpreter, or code with the same results. */
typedef struct machine {
  const ag_tape *tape;
  double *slots, *out;
  const ag_code *code; /* NULL: interpreted */
  double *prep;        /* its prepared parameters */
  double spent, ask;   /* operations interpreted so far, and the number after which the coder is asked */
} machine;

struct ag_work {
  const ag_system *sys;
  double *params;
  const double *step;   /* the segment of a step with noise, or NULL */
  machine *machines;    /* one per tape of the system, made where it is first needed */
  ag_coder coder;       /* provides code for them; find may be NULL */
  double *x;            /* a full state followed by lambda */
  double *K, *b;        /* saddle matrix and right-hand side */
  double *y, *combined; /* scratch of the bases */
  double *turn_at;      /* t, z, c at which the role TURN was evaluated last, and */
  int turn_failed;      /* what it returned */
  double *newton;       /* workspace of Newton's method, n_newton numbers */
  size_t n_newton;
  bool all;             /* the multiplier form uses all rows: work_all.c */
  int n_all, due, most; /* how many are used, must be on the branch, and may be at most; 0: any number */
  double *near;         /* a state on them, and the change of velocity to there; or NULL */
  double *rows_all;     /* its scratch */
  bool holds;           /* forces of constraint are known: */
  double *held;         /* as AG_ROLE_REACTION gives them, or the multipliers where branch is set */
  const double *branch; /* of the multiplier form: its choices, not made at the state; or NULL */
  double *W, *WS;       /* combinations of the rows that are independent, where more rows are kept */
};

/* machine.c */
void ag_machine_make(ag_work *w, int role);
void ag_machine_ask(ag_work *w, int role); /* changes over to code if there is any */
void ag_machine_done(machine *k);

/* Runs the tape of a role; out NULL: the results are kept, see ag_result(). */
static inline int ag_machine_run(ag_work *w, int role, double t, const double *z, const double *c, double *out) {
  machine *k = &w->machines[role];
  if (!k->tape) ag_machine_make(w, role);
  const double *seg[AG_SEG_COUNT] = {
      [AG_SEG_T] = &t, [AG_SEG_Z] = z, [AG_SEG_P] = w->params, [AG_SEG_C] = c, [AG_SEG_W] = w->step};
  if (!out) out = k->out;
  if (k->code) return k->code->eval(k->code->self, seg, k->prep, out);
  k->spent += k->tape->n_instr;
  if (k->spent > k->ask) ag_machine_ask(w, role);
  return ag_tape_eval(k->tape, seg, k->slots, out);
}

/* Runs SADDLE, RESERVE, PROCESS or BALANCE, on the branch where one is set. */
void ag_machine_on(ag_work *w, int role, double t, const double *x); /* work.c */

/* A result of the role that was run last with out NULL. */
static inline double *ag_result(const ag_work *w, ag_output output) {
  return w->machines[ag_output_role(output)].out + w->sys->outputs[output].at;
}

/* Where the results of the role SADDLE are. */
typedef struct ag_saddle {
  const double *M, *S, *ell, *kappa, *residual;
} ag_saddle;
ag_saddle ag_saddle_at(ag_work *w, double t, const double *x); /* work.c */

/* work_rows.c */
int ag_work_position(ag_work *w, double t, double *x); /* q moved onto g = 0 */
int ag_work_velocity(ag_work *w, double t, double *x); /* xi moved onto S xi + s = 0 */
/* The context of Newton's method here: a worker and a time; x: the full state of which xi moves; trouble: why a solve
 * failed. */
typedef struct ag_moment {
  ag_work *w;
  double t, *x;
  int trouble;
} ag_moment;
void ag_moment_retract(void *self, double *x, const double *d); /* moves q */
int ag_position_trouble(ag_newton_result r);
double *ag_work_room(ag_work *w, const ag_newton_system *s); /* its workspace */
/* [M -S^T; S 0] into w->K, with independent combinations of the rows where they are not; how many, or -1: rank lost. */
int ag_rows_matrix(ag_work *w, const double *M, const double *S);
/* Solves it with w->b above and -right below: w->b is then the solution and the multipliers of all rows. */
bool ag_rows_solve(ag_work *w, const double *M, const double *S, const double *right);
/* Is M positive definite on the velocities that the rows allow? */
bool ag_rows_positive(ag_work *w, const double *M, int k, const double *S);
/* Combinations W S of the rows of a basis: chosen again and stored in c (false: rank lost), and their values with those
 * in c. */
bool ag_rows_choose(const ag_basis *basis, const double *S, double *c);
const double *ag_rows_combined(ag_work *w, const ag_basis *basis, const double *S, const double *c);

/* work_all.c: all rows of a system that is not large. accel: xi' and the multipliers of the kept rows into w->b.
 * velocity: the change of xi that takes it onto the rows, shortest in M, into d. positive: is M positive definite on
 * what they allow? False: not solvable. */
bool ag_all_accel(ag_work *w, double t, const double *x);
bool ag_all_velocity(ag_work *w, double t, const double *x, double *d);
bool ag_all_positive(ag_work *w);
double ag_velocity_residual(ag_work *w, double t, const double *x); /* the largest |S xi + s| of all rows */
/* [M -S^T; S 0] into w->K, for any k x n matrix S. */
void ag_saddle_matrix(ag_work *w, const double *M, int k, const double *S);

/* work_noise.c. driven: with drivers, xi' and lambda into w->b, and what moves q into w->x. */
int ag_noise_driven(ag_work *w, double t, const double *x);
/* The increments of the processes, into dx: h times their drift and weights (or NULL) times their noise. */
void ag_work_processes(ag_work *w, double t, const double *x, double h, const double *weights, double *dx);
/* Of a system with noise, whose steps keep what the constraints keep by themselves (the gap of a contact) only to the
 * order of the method: moves z, or the coordinates of x, onto these relations. In z reconstructed coordinates move
 * where they suffice, else all. */
bool ag_noise_relates(const ag_system *sys);
int ag_noise_relate(ag_work *w, double t, double *z, const double *c);
int ag_noise_relate_full(ag_work *w, double t, double *x);

/* work_saddle.c: large systems, AG_ELIM_SADDLE. */
int ag_saddle_accel(ag_work *w, double t, const double *x);                       /* xi' and lambda into w->b */
void ag_saddle_reaction(ag_work *w, double t, const double *x, double *reaction); /* of the multipliers in w->b */
double ag_saddle_condition(ag_work *w, double t, const double *x);
double ag_saddle_residual(ag_work *w, double t, const double *x);
int ag_saddle_position(ag_work *w, double t, double *x); /* q moved onto g = 0 */
int ag_saddle_velocity(ag_work *w, double t, double *x); /* xi moved onto S xi + s = 0 */
#endif
