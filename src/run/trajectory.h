/* SPDX-License-Identifier: MIT
 * Internals of run/: one trajectory. trajectory.c holds the loop, advance.c makes the steps, recording.c writes what is
 * recorded. */
#ifndef AG_RUN_TRAJECTORY_H
#define AG_RUN_TRAJECTORY_H
#include "run/run_internal.h"

#define AG_TRY_END(call) \
  do { \
    ag_end end_ = (call); \
    if (end_ != AG_END_TIME) return end_; \
  } while (0)

typedef struct ag_stretch ag_stretch; /* stretch.c */

typedef struct run {
  const ag_system *sys;
  const ag_run_options *o;
  const ag_sink *sink;
  ag_run_result *res;
  ag_mover m;
  ag_control control;
  double *column_slots, *column_out; /* of o->columns */
  int *column_at;
  double t, h, *record; /* h: the next step size to try */
  double reach, mark;   /* see ag_checkpoint */
  long n_mark;          /* tries rejected when the mark was set */
  long n_recorded;      /* grid points passed */
  long n_row;           /* records handed to the sink */
  int *event_cap;
  const double *params;
  double cost; /* operations per right-hand side */
  bool tried_compiling, tried_loading;
  double step, rest_error; /* the step just accepted, and the error in it of what is only reconstructed */
  ag_guard *guard;
  ag_end cut;          /* AG_END_TIME, or why the run ends at a crossing, where the step was cut short */
  ag_end pending;      /* AG_END_TIME, or why the run ends after the step if nothing in it comes first */
  bool off;            /* a recorded state was not on the constraints */
  bool corner, passed; /* the step was shortened to end at a corner of the equations, and the run continues; the corner
                          was passed */
  double smooth;       /* step size before a corner was approached, or 0 */
  double ahead, *ahead_z, *ahead_c; /* the time of the state at the end of the step that is already settled, or NaN */
  bool ahead_changed;
  bool lane;                     /* of a batch: the form of the equations is not to be changed */
  bool watches;                  /* the rows of the constraints are watched (rows.c) */
  int rank;                      /* how many are independent */
  double looked_h, looked_drift; /* step size and drift of energy at the last look for a singularity */
  int looks;                     /* how many steps more it is looked for */
  bool all;                      /* all of them are used, with multipliers */
  bool anew;                     /* from here on, by another mover whose branches are not decided yet */
  bool renew;                    /* at the end of the step they are chosen anew */
  int idle;                      /* 1 + a row that ceases to act here, 0: none is known */
  ag_rows_report said;           /* their state when that was decided, or when it ended the run */
  ag_run_options own;            /* options of what follows */
  double switch_t, switch_gap;   /* see ag_checkpoint */
  long n_switch;
  double switch_at; /* the step ends where the equations switch, or NaN */
  bool approach;    /* the step to its end is made in several, each nearer to it */
  double *own_atol; /* absolute tolerance of each number of the full state */
  double *keep;     /* core at the end of a step whose rest is computed in smaller ones */
  ag_stretch *stretch;
  double stretch_ask; /* operations after which one is compiled */
  long n_many;        /* right-hand sides evaluated by it */
} run;

/* advance.c: one step, corrected, with everything located inside it. AG_END_TIME: the run may continue. */
ag_end ag_trajectory_step(run *r);
/* The largest step in which the constraints turn by less than AG_TURN_STEP. */
double ag_trajectory_turn_limit(run *r);
/* The end reason for a failure of the equations. */
ag_end ag_trajectory_trouble(int trouble);
bool ag_trajectory_finite(int n, const double *z);

/* rows.c. create: are there rows to watch? watch: checks them in the step to *t1 just accepted, which is shortened
 * where a row begins to act or contradicts; false: the shorter step cannot be made. settled: at its end, and goes on
 * with all rows where they are to be chosen anew. explain: the row that ended the run. */
void ag_rows_begin(run *r);
/* With multipliers, rows that choose may cease to act: all rows are used, as far as they are independent. Not where
 * others were dropped, which would take part unseen. */
void ag_rows_choosing(run *r);
bool ag_rows_watch(run *r, double *t1);
/* A mover of the full state stands at a state: its branches, and how many rows act. turn: branches are decided where
 * functions are zero, and rows that begin to act on them either hold or end the run. */
void ag_rows_here(run *r);
ag_end ag_rows_turn(run *r);
ag_end ag_rows_settled(run *r);
bool ag_rows_cease(run *r); /* where the equations switch: do rows that were kept no longer act behind it? */
/* Goes on from here with multipliers, all rows taking part. False: the method cannot do that. */
bool ag_rows_renew(run *r, const char *why);
bool ag_rows_resume(run *r); /* continues a run that had come to that */
void ag_rows_explain(run *r, ag_text *out);
/* At the end of a run that failed: says which row ceases to act at its last state, or within the next step, and when.
 * False: none. */
bool ag_rows_ceased(run *r, ag_text *out);
/* No step could be made: because a row fades away here? The motion then goes on with the multipliers of the others. */
bool ag_rows_faded(run *r);
/* The branch at the current state, where switching functions may be zero. */
ag_end ag_trajectory_switch(run *r);

/* stretch.c: many steps at once, by compiled code. begin: of a run; is it in the cache? want: compiles it where that
 * is worthwhile; steps: at most this many, in which nothing is recorded or shown. False: none was made, and the
 * next one is to be made by ag_trajectory_step. */
bool ag_stretch_begin(run *r);
void ag_stretch_free(ag_stretch *s);
void ag_stretch_want(run *r);
bool ag_stretch_steps(run *r, long steps);

/* checkpoint.c: the current state as a checkpoint that borrows its arrays. */
ag_checkpoint ag_trajectory_here(run *r);
/* recording.c. grid: the grid point to be recorded next; rows: records those before t1 inside the step of size h from t
 * (dense output prepared); one at t1 itself is left to the caller. reached: a settled state is reached, it is recorded
 * where it is due. row: records this state, x the full state of z with c. False: the sink refused a row. */
double ag_trajectory_grid(const run *r);
bool ag_trajectory_rows(run *r, double t, double h, double t1);
bool ag_trajectory_reached(run *r);
bool ag_recording_row(run *r, double t, const double *z, const double *c, const double *x);
/* Into r->record. On a sliding surface, quantities not available there are those of one side, with a warning. */
void ag_recording_fill(run *r, double t, const double *z, const double *c, const double *x);
bool ag_recording_off(const run *r, double residual, const double *x); /* is x no state of the system? */
void ag_recording_energy(run *r);                                      /* of the state in r->m.x, against the start */
void ag_recording_floor(run *r);
long ag_recording_next(const run *r); /* steps up to the next state that is looked at, whatever its time */
/* trajectory.c */
/* Finds the crossings in the step. One that ends the run (a terminal event, the last requested crossing), or a corner,
 * shortens the step: *t1 is moved back to it, and r->cut or r->corner is set. AG_END_TIME otherwise. */
ag_end ag_trajectory_crossings(run *r, double *t1);
/* noisy.c: one path with noise, to the end; at most this many steps. */
ag_end ag_trajectory_noisy(run *r, long max_steps);
/* An event, a checkpoint, compiled code where the run turns out long. */
void ag_trajectory_event(run *r, int e, double s);
void ag_trajectory_save(run *r);
void ag_trajectory_engine(run *r);
/* balance.c: the work done where energy is not conserved, measured in the first steps of a run. begin: before a step.
 * whole: the work of the step of size h from t, if the method itself integrates it. add: the part of the step that ends
 * at t1 (dense output prepared). mark: the current state, in m->x, is where the measured part ends. */
bool ag_balance_measures(const run *r);
long ag_balance_left(const run *r); /* steps in which it is, this one included */
void ag_balance_begin(run *r);
bool ag_balance_whole(run *r, double t, double h, double *done);
void ag_balance_add(run *r, double t, double h, double t1);
void ag_balance_mark(run *r);
/* remark.c: is the start x0 at rest in an equilibrium? What is known about a failure, from the start x0 and the current
 * state (in m->x). */
bool ag_remark_rest(run *r, const double *x0);
void ag_remark_end(run *r, const double *x0);
/* After a step: is the state too near to a place where the inertia is infinite, or do steps no longer make headway? */
ag_end ag_remark_step(run *r);
/* The end of a step to the corner at s, after this part of the way. */
#define AG_CORNER_PART 0.98 /* where the corner is known to 1 % */
double ag_trajectory_nothing(const run *r);
double ag_trajectory_before(const run *r, double s, double part);
#endif
