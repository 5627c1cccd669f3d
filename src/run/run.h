/* SPDX-License-Identifier: MIT
 * Motions: front header of run/. One trajectory of an ag_system: step, control, events, recording, a named end. */
#ifndef AG_RUN_RUN_H
#define AG_RUN_RUN_H
#include <stdatomic.h>
#include <stdbool.h>

#include "base/status.h"
#include "mech/mech.h"
#include "run/bundle.h"
#include "run/checkpoint.h"
#include "run/end.h"
#include "run/ensemble.h"
#include "run/record.h"
#include "step/step.h"

typedef struct ag_run_options {
  double t0, t1, dt; /* dt > 0: fixed steps */
  double rtol, atol, h_max;
  bool absolute; /* atol is taken literally; otherwise it is relative to the sizes of the start (scale.c) */
  const ag_stepper *method;
  double every;   /* time between records; 0: at every accepted step; < 0: only start and end */
  long max_steps; /* 0: ten million */
  ag_engine engine;
  bool eager;                        /* compile at once even code that only pays off in long runs (stretch.c) */
  const struct ag_fused *kernel;     /* of batches: the compiled stepper that all members share; else NULL */
  const struct ag_shared_code *code; /* of batches: other code that the members of a thread share; else NULL */
  const ag_tape *columns;            /* of ag_run_columns with these options, or NULL */
  const ag_tape *watch; /* of ag_run_watch with these options: their crossings can then be proved; or NULL */
  const ag_tape *guard; /* of ag_system_guard, for long runs of systems that have one; or NULL */
  bool multipliers;     /* integrate the form with multipliers instead of the eliminated one */
  bool eliminated;      /* eliminate velocities, whatever that costs */
  bool events;          /* locate events */
  ag_noise_use noise;
  unsigned long long seed, path; /* with AG_NOISE_PATH: which one; */
  double dt_base;                /* its grid; 0: as ag_wiener_near() chooses */
  const char *project; /* with fixed steps: what they are projected onto symmetrically (ag_system_levels()); or NULL */
  int section;    /* 1 + index of a section of the model, 0: none. The sink then gets a record at each crossing, and
                     nothing else */
  long crossings; /* of the section: end after this many; 0: no limit */
  const atomic_int *stop; /* set by a signal, or another thread: ends the run cleanly; may be NULL */
  void (*progress)(void *self, double t, long steps); /* called now and then; may be NULL */
  void *progress_self;
  void (*each)(void *self, double t,
               const double *x); /* sees the full state at the start and after every accepted step */
  void *each_self;
  long each_first; /* with each_every > 0: after the first each_first steps only after those whose number is a */
  int each_every;  /* multiple of each_every */
  void (*event)(void *self, int event, double t);   /* called for every event when it is located; may be NULL */
  void (*save)(void *self, const ag_checkpoint *c); /* sees a checkpoint at the start and now and then; may be NULL */
  void *save_self;                                  /* of both */
  const ag_checkpoint *from; /* continue from here instead of x0, with t0 and all options that determine the steps as in
                                the first run; or NULL */
} ag_run_options;
void ag_run_defaults(ag_run_options *o); /* dop853, rtol 1e-10, atol 1e-12, t 0..10 */

/* Pieces of steps in which it could not be decided whether a function touches zero, or crosses it an even number of
 * times: how many, and the times of the first and the last. */
typedef struct ag_doubt {
  long n;
  double first, last;
  double loose, loose_t; /* crossings that are flat (zeros of higher order): the least accurate one, and its time */
  long lost;             /* steps whose work did not suffice to find all crossings; */
  double lost_t;         /* the first of them */
} ag_doubt;

typedef struct ag_run_result {
  ag_end end;
  int width;     /* of a record */
  int end_event; /* which event ended it, or -1 */
  double t;
  double *x;      /* final full state */
  double *record; /* the final record (of the last good state when the run failed) */
  long steps, rejected, rhs;
  double atol, least_atol;  /* of the steps, in the sizes of the motion; that of the smallest component */
  int loose;                /* 1 + number of a start value that is far below it, 0: none */
  double loose_size;        /* how large that is */
  bool compiled;            /* did a compiled kernel do (most of) the work? */
  long stretched;           /* steps that were made many at once (stretch.c) */
  char *engine_note;        /* why not compiled, if that was requested; or NULL */
  int n_event;              /* those of the model, then the section, if one was requested */
  int *event_count;         /* per event */
  double **event_times;     /* per event */
  ag_doubt *doubts;         /* per event */
  bool *fitted;             /* per event: found by a separate interpolant, without proof */
  ag_energy_law energy_law; /* of a path with noise: AG_ENERGY_NOISE */
  double work, work_t; /* where energy is not conserved: the work done, int (F.xi - l_t - s.lambda) dt, until work_t */
  double work_energy;  /* and the energy then */
  double energy0, residual_max;
  double energy_drift, energy_size; /* largest |E - E0|, and kinetic + |potential| energy, over recorded states and
                                       others (trajectory.c) */
  long left; /* 1 + index of the range of the domain that the motion has left, 0: none; among the states of energy_drift
              */
  double left_t, left_value, left_from, left_to; /* when this was seen first; value and range */
  bool at_rest;                                  /* the start is at rest in an equilibrium */
  bool pointwise;     /* with multipliers the choices of the equations were made at the state: no step ended there */
  bool one_sided;     /* forces of constraint were recorded while the motion slid, */
  double one_sided_t; /* since when */
  double stiffness;   /* after many adaptive steps: step size times largest eigenvalue, about; else 0 */
  long accepted;      /* steps, by methods that test them; else -1 */
  long truncated;     /* steps with noise in which an increment was too large for the implicit equations */
  double *undefined;  /* per number of the record: when it was recorded as not finite first; NaN: never */
  char *renewed;      /* since when, and why, the motion goes on with the multipliers of all rows; or NULL */
  char *why;          /* more about the reason of a failure, or NULL */
  ag_checkpoint checkpoint; /* made when the run reached t1, was stopped, or came to the limit of steps */
} ag_run_result;

/* The Wiener path of a run with noise, in steps of o->dt. */
ag_wiener ag_run_path(const ag_system *sys, const ag_run_options *o);
/* Does the method fit the noise of the system? Otherwise AG_WRONG, with a message. */
AG_MUST_USE ag_status ag_run_fits(ag_ctx *ctx, const ag_system *sys, const ag_stepper *method);
/* The largest increment that is not truncated, in steps of h, or infinity: implicit equations need not have a solution
 * for every one, unless the noise is additive. */
double ag_run_cut(const ag_system *sys, const ag_stepper *method, double h);

/* Makes what a run or batch with these options needs besides what every system has: the Jacobian for methods that solve
 * for their stages. Extends the graph of the model, so not while other threads use the system. A run whose method needs
 * something that is missing is refused by name. */
void ag_run_prepare(ag_system *sys, const ag_run_options *o);
/* How a system is to be derived for these options. */
ag_derive_options ag_run_derive(const ag_run_options *o, bool strict);
/* By name: "multipliers", "eliminated", or "auto" where the sparse form was chosen by cost. */
const char *ag_run_closure(const ag_system *sys, const ag_run_options *o);
/* Is the full state integrated, with multipliers? Where the equations switch and z holds all velocities, the eliminated
 * form is the one with multipliers, branch by branch. */
bool ag_run_full(const ag_system *sys, const ag_run_options *o);

/* Does a checkpoint have as many numbers as a run with these options, once the system is prepared for it? */
bool ag_run_point_fits(const ag_system *sys, const ag_run_options *o, const ag_checkpoint *c);

/* A suitable method for a run that specifies none, with these options from x0: dop853; radau3 or radau5 where steps are
 * limited by stability soon after the start (*stiffness: step size times largest eigenvalue there, else 0); euler_heun
 * on a path with noise. Prepares, as ag_run_prepare does. */
const ag_stepper *ag_run_choose(ag_system *sys, const double *x0, const ag_run_options *o, double *stiffness);
/* The note that says so, where stiffness > 0. */
void ag_run_note_choice(ag_ctx *ctx, const ag_stepper *method, double stiffness);

/* The allowed change of a conserved energy, relative to kinetic + |potential| energy: the error of every step
 * (docs/methods.md). Fixed steps have no tolerance: a thousandth. Work is measured on dense output, which has less
 * accuracy than the steps. */
double ag_run_allowed_drift(const ag_run_options *o, ag_energy_law law, long steps);
double ag_run_drift(const ag_record *record, const ag_run_result *r); /* largest |E - E0|; NaN: E is not finite */
double ag_run_balance(const ag_run_result *r); /* change of the energy less the work done, until r->work_t */
/* The event of a contact that loses its pressure; -1: there is none. */
int ag_audit_lift(const ag_model *m, int contact);

/* Runs from the full state x0 at o->t0 with the parameters of the work. Only wrong use gives a status other than AG_OK;
 * how the motion ended is result->end. */
AG_MUST_USE ag_status ag_run(ag_ctx *ctx, const ag_system *sys, const double *params, const double *x0,
                             const ag_run_options *o, const ag_sink *sink, ag_run_result *result);
/* All warnings and notes about a finished run (notes.c); true: its energy did not obey its law. */
bool ag_run_notes(ag_ctx *ctx, const ag_system *sys, const ag_record *record, const ag_run_options *o,
                  const ag_run_result *r);
/* Warnings about values of a record that are not finite `when` ("at the start"), but for those that bodies bring by
 * themselves (a slip ratio where nothing presses). */
void ag_record_notes(ag_ctx *ctx, const ag_model *m, const ag_record *record, const double *values, const char *when);
/* Where the motion left its domain, "x = 2.1 at t = 3, not in -2..2"; nothing when it did not. */
void ag_run_left(const ag_system *sys, const ag_run_result *r, ag_text *out);
void ag_run_done(ag_run_result *result);
void ag_run_move(const ag_run_result *result, ag_heap *to); /* its blocks, as ag_heap_move */

/* The functions that a run with these options monitors inside every step, as functions of what is integrated, so that
 * their crossings can be proved; NULL: there are none. NaN stands in the place of forces of constraint that are not
 * functions of it (ag_system_forces()). Adds to the graph of the model, so not while other threads use the system. To
 * be freed by ag_tape_free. */
ag_tape *ag_run_watch(ag_system *sys, const ag_run_options *o);
/* Of a path with noise: the columns of a record that are functions of the reduced state, computed as in an ensemble;
 * NULL: from the full state. at (room for the record): where their numbers go; how many these are. */
ag_tape *ag_run_columns(ag_system *sys, const ag_run_options *o);
int ag_run_columns_at(const ag_system *sys, int *at);
/* The crossings that a run locates, counted as in ag_run_result: the events of the model, then the requested section.
 */
int ag_run_n_event(const ag_system *sys, const ag_run_options *o);
const ag_event *ag_run_event(const ag_system *sys, const ag_run_options *o, int e);

/* The model as one self-contained C file that needs nothing of Anagyre: docs/emit.md has the calling convention.
 * with_main: also a small program that integrates it and prints the end of the motion. */
void ag_emit(ag_system *sys, bool with_main, ag_text *out);

#include "run/many.h"
#include "run/verdict.h"
#endif
