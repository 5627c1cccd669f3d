/* SPDX-License-Identifier: MIT
 * Workers: evaluate a system for one set of parameters in one thread. Part of the front of mech/. States: x full, z
 * reduced with basis data c. Results: AG_FINE or a trouble. */
#ifndef AG_MECH_WORK_H
#define AG_MECH_WORK_H
#include "base/text.h"
#include "model/model.h"

typedef struct ag_system ag_system;

typedef struct ag_work ag_work;
ag_work *ag_work_create(const ag_system *sys, const double *params);
void ag_work_free(ag_work *w);

/* Code of a tape, to be called in place of the interpreter: the results are the same bits. eval returns other than 0
 * where a pivot failed. */
typedef struct ag_code {
  const void *self;
  int n_prep;
  void (*prep)(const void *self, const double *p, double *prep);
  int (*eval)(const void *self, const double *const *seg, const double *prep, double *out);
} ag_code;
/* The provider of code. find: the code of a role, or NULL; worth: it is worth compiling, otherwise it is used only if
 * it has been compiled already. */
typedef struct ag_coder {
  void *self;
  const ag_code *(*find)(void *self, int role, bool worth);
} ag_coder;
/* Roles that are evaluated often change over to code. The coder must outlive the worker. */
void ag_work_coder(ag_work *w, const ag_coder *coder);

/* Why a right-hand side or a projection fails. */
typedef enum ag_trouble {
  AG_FINE,
  AG_TROUBLE_PIVOT,
  AG_TROUBLE_RANK,
  AG_TROUBLE_MASS,
  AG_TROUBLE_PROJECT,
  AG_TROUBLE_DOMAIN /* the motion left the domain in which velocities could be solved for in closed form */
} ag_trouble;

/* Evaluates a role, which must exist, at its own kind of state. Multipliers are computed if they are read. */
int ag_work_role(ag_work *w, int role, double t, const double *z, const double *c, double *out);

/* ---- noise ---- */

/* From now on roles that read the segment of a step, dims.w numbers [h | dW | areas], read this one. */
void ag_work_step(ag_work *w, const double *step);
/* The role POWER at z with the rate dz, which it reads in place of a step. */
int ag_work_power(ag_work *w, double t, const double *z, const double *c, const double *dz, double *power);
/* h f + sum g_i dW_i on the reduced state; the same with multipliers, from one saddle system. */
int ag_work_increment(ag_work *w, int role, double t, const double *z, const double *c, double *dz);
int ag_work_increment_full(ag_work *w, double t, const double *x, double *dx);
/* The field of a channel on the full state from the saddle form: q^-1 dq and dxi (dims.xi numbers each), and the white
 * part of the multipliers; any may be NULL. */
int ag_work_noise(ag_work *w, double t, const double *x, int channel, double *sigma, double *dxi, double *mu);

/* ---- reduced state ---- */

int ag_work_rhs(ag_work *w, double t, const double *z, const double *c, double *dz);
/* The core alone: z and dz may end after dims.core numbers. */
int ag_work_core(ag_work *w, double t, const double *z, const double *c, double *dz);
/* Why the equations cannot be solved at or near z. */
int ag_work_cause(ag_work *w, double t, const double *z, const double *c);
/* From a full state, choosing new basis data; and back. */
int ag_work_reduce(ag_work *w, double t, const double *x, double *c, double *z);
void ag_work_full(ag_work *w, double t, const double *z, const double *c, double *x);
/* The choices of the equations as the switching functions have them at z (0: undecided), into the end of c. */
void ag_work_branches(ag_work *w, double t, const double *z, double *c);
/* The same of the multiplier form, dims.full_switches numbers at the start of c. */
void ag_work_full_branches(ag_work *w, double t, const double *x, double *c);
/* From now on the multiplier form is evaluated on this branch (which is kept by the caller), its rows and their state
 * too; NULL: every choice is made at the state. Forces that are held are then the multipliers. */
void ag_work_branch(ag_work *w, const double *c);
/* Where all rows take part: from now on the equations have no solution where fewer than `least` are independent, and
 * use `most` combinations where more seem to be (0: all of them). */
void ag_work_due(ag_work *w, int least, int most);
/* How much of the basis is left: 1 where it was chosen, 0 when it has turned by a right angle; 1 without a basis. */
double ag_work_basis(ag_work *w, double t, const double *z, const double *c);
/* How fast the constraints turn, in radians per unit of time; a step must stay well below a right angle. */
double ag_work_turning(ag_work *w, double t, const double *z, const double *c);
/* cos^2 of the angle a basis has turned by, below which it is chosen again: a step that starts just above it may turn
 * by another 60 degrees before the basis degenerates; on a path with noise, where steps are not repeated in parts, by
 * more. The relative size of a row that counts as lost rank. */
#define AG_TURN_RENEW 0.75
#define AG_TURN_RENEW_OF_PATH 0.9
#define AG_TURN_LOST 1e-10
/* A new basis in c, if it has turned too far. */
int ag_work_renew(ag_work *w, double t, const double *z, double *c, bool *changed);
/* After an accepted step: back onto the constraints, unit quaternions, a new basis if it has turned too far. *changed:
 * whether z or c changed by more than normalisation. */
int ag_work_settle(ag_work *w, double t, double *z, double *c, bool *changed);
/* Has z left the domain in which velocities could be solved for? */
bool ag_work_left(ag_work *w, double t, const double *z, const double *c);

/* ---- full state ---- */

/* Accelerations and multipliers from the saddle system; either may be NULL. */
int ag_work_accel(ag_work *w, double t, const double *x, double *xidot, double *lambda);
/* From now on these forces of constraint (AG_ROLE_REACTION), not those that follow from the state, are used by
 * everything that reads them; NULL: they follow from the state again. */
void ag_work_hold(ag_work *w, const double *force);
int ag_work_rhs_full(ag_work *w, double t, const double *x, double *dx);
/* Positions onto the constraints, unit quaternions; the same with velocities. */
int ag_work_place(ag_work *w, double t, double *x);
int ag_work_settle_full(ag_work *w, double t, double *x);
/* S^T lambda on all quasi-velocities. */
int ag_work_reaction(ag_work *w, double t, const double *x, double *reaction);
/* *size (may be NULL): kinetic energy + |potential energy|. */
double ag_work_energy(ag_work *w, double t, const double *x, double *size);
/* dE/dt = -l_t + F.xi - s.lambda. */
double ag_work_energy_rate(ag_work *w, double t, const double *x);
/* Largest |S xi + s| and |g|. */
double ag_work_residual(ag_work *w, double t, const double *x);
/* ---- all rows of the constraints, also those that were dropped ---- */

/* The state of the rows at a configuration. row: one that was dependent or zero so far and is not now (AG_ROWS_AWAKE),
 * or that is dependent and does not hold where the others do (AG_ROWS_CONTRADICT); by: the change of velocity it
 * requires, or by how much it does not hold. AG_ROWS_WEAK: the rows kept are about to lose rank, and all rows together
 * are not. */
typedef enum ag_rows_state { AG_ROWS_FINE, AG_ROWS_WEAK, AG_ROWS_AWAKE, AG_ROWS_CONTRADICT } ag_rows_state;
typedef struct ag_rows_report {
  ag_rows_state state;
  int row, rank; /* rank: of all rows */
  double by;
} ag_rows_report;
bool ag_system_watches(const ag_system *sys); /* are there rows that follow from others or do not act at the start? */
/* known: the rank so far. */
ag_rows_report ag_work_rows(ag_work *w, int known, double t, const double *x);
/* Are the rows and velocities chosen in the derivation valid for this state and the parameters of the worker? Not
 * if more or fewer rows are independent, if those kept do not span all, or if the velocities they were solved for are
 * not determined by them. */
bool ag_work_suits(ag_work *w, double t, const double *x);
/* A row without coefficients at this state; -1: there is none. */
int ag_work_idle_row(ag_work *w, double t, const double *x);
/* The name and line of a row, as text. */
void ag_work_row_text(ag_work *w, int row, ag_text *out);
/* From now on the multiplier form uses all rows, as many combinations of them as are independent at each state. False:
 * the multiplier of this row is read, which is then not known. */
bool ag_work_take_rows(ag_work *w, int row);
/* Condition number (1-norm estimate) of the saddle matrix; NaN if there is none. */
double ag_work_condition(ag_work *w, double t, const double *x);
int ag_work_observe(ag_work *w, double t, const double *x, double *values);
int ag_work_events(ag_work *w, double t, const double *x, double *values);
int ag_work_section(ag_work *w, int section, double t, const double *x, double *value);
/* A tape of ag_system_tape(); slots: tape->n_slot numbers, prepared by ag_tape_prep(tape, params, slots). */
int ag_work_eval(ag_work *w, const ag_tape *tape, bool needs_lambda, double t, const double *x, double *slots,
                 double *out);
/* Why the motion from x0 at t0 cannot continue at x, as far as is known: a constraint that vanishes, singular
 * coordinates, a growing quantity. Adds nothing if the cause is unknown. */
void ag_work_why(ag_work *w, const double *params, double t0, const double *x0, double t, const double *x,
                 ag_text *out);
/* Is x, known to atol per number, too near to a place where the inertia is infinite? out (may be NULL) gets the
 * coordinate. */
bool ag_work_singular(ag_work *w, double t, const double *x, const double *atol, ag_text *out);
#endif
