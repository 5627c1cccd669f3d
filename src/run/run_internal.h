/* SPDX-License-Identifier: MIT
 * Internals of run/: the trajectory, shared by the stepping loop and the event finder. */
#ifndef AG_RUN_INTERNAL_H
#define AG_RUN_INTERNAL_H
#include "run/coder.h"
#include "run/fused.h"
#include "run/isolate.h"
#include "run/run.h"

/* Radians by which a basis may turn in a step, as it begins, and how many times as far in a fixed one; cos^2 of the
 * angle beyond which a step is refused. On a path with noise a step cannot be repeated in parts, and long ones are
 * rare: the angle may be larger. Steps by discrete equations see their two ends alone, not what lies between: there,
 * rounding errors of the velocities, which grow as 1/cos, are the limit. */
#define AG_TURN_STEP 0.8
#define AG_TURN_FIXED 1.75
#define AG_TURN_MOST 0.1
#define AG_TURN_MOST_OF_PATH 0.01
#define AG_TURN_MOST_OF_ENDS 1e-12
static inline double ag_turn_most_of_path(const ag_stepper *s) {
  return s->needs & AG_NEEDS_RESIDUAL ? AG_TURN_MOST_OF_ENDS : AG_TURN_MOST_OF_PATH;
}

/* A piece of the step in which it is open whether function e touches zero. */
typedef struct ag_open {
  int e;
  double from, to;
} ag_open;

/* A crossing: when, and of which function. */
typedef struct ag_hit {
  double s;
  int e;
} ag_hit;

/* Compiled code that runs of one thread share, one after the other: of the roles of this system, and of the functions
 * looked for in it (NULL: there are none). */
typedef struct ag_shared_code {
  const ag_system *sys;
  ag_role_coder *coder;
  ag_watch_code *watch;
} ag_shared_code;

typedef struct ag_switch ag_switch; /* switch.h */
typedef struct ag_pulse ag_pulse;   /* pulse.c */

/* The state that is integrated, in either closure: n numbers z (reduced, with basis data c) or the full state; the
 * method that moves it; the functions monitored on the way. */
typedef struct ag_mover {
  const ag_system *sys;
  ag_work *work;
  bool compiles;        /* what is evaluated often may change over to compiled code, */
  ag_role_coder *coder; /* in work by this; NULL: it interprets, or shares one */
  bool full;
  double *step; /* of a path with noise: [1 | dW/h | areas/h], what the increment reads, and a copy; else NULL */
  int n_step;
  bool core;             /* of batches: the core alone */
  int n, n_c;            /* numbers of z; of c: bases and branches, or the branches of the full state */
  double *z, *c, *dz;    /* where we are, and the carry there: the right-hand side, then what is the method's own */
  double *z1, *dz1, *c1; /* after the step being tried */
  double *x, *zt;        /* scratch: a full state; a reduced one */
  const ag_stepper *method;
  ag_step_room room; /* its workspace */
  int n_carry;
  ag_flow flow;
  ag_factor *factors;
  int *rate;         /* per component, of methods for equations of second order (ag_flow); else NULL */
  int *spin;         /* per factor, of methods that turn rotations axis by axis; else NULL */
  bool in_place;     /* lanes can do what a state needs after a step: lengths are restored, and */
  int agrees;        /* rotations turned onto their images by this role (-1: they are not), */
  double *aligned;   /* scratch */
  bool holds;        /* velocities put back onto the rows of the constraints, and */
  double *projected; /* positions projected, which needs this room; or NULL */
  int n_unit;
  ag_span *units;      /* groups of components that keep their length, */
  double *unit_length; /* and their squared lengths at the start */
  unsigned char *in_norm;
  const ag_fused *fused;  /* compiled stepper and right-hand side, or NULL */
  ag_fused *mine;         /* the same when it was made for this ag_mover */
  ag_stepper own;         /* the method with its step and dense output replaced by the compiled ones */
  ag_stepper projecting;  /* with o->project: the method of the mover, which projects the steps of */
  const ag_stepper *base; /* this one; else NULL */
  double *turned;         /* and scratch: a full state, images */
  double *prep, *prep_jacobian, *prep_finish, *prep_canonical, *prep_power; /* its prepared parameters */
  double *space;                                                            /* workspace of the method */
  int trouble; /* of the last right-hand side that failed */
  long n_rhs;
  bool *fitted; /* per function: it was examined by a separate interpolant, without proof */
  ag_hit *hits; /* crossings of the step just examined, in time order */
  int n_hit, cap_hit;
  double rtol, atol;      /* of the steps; both 0: they are fixed */
  double *tolerance;      /* [component]: absolute, of the steps; one more: of other quantities */
  struct ag_first *first; /* with watch: the first check of a step, its result for each function (AG_HINT_...); */
  int *hint;
  ag_isolate *isolate;          /* where the functions can be zero, and the curve it is asked about */
  bool *proved, *skip, *absent; /* per function: can it be enclosed? need it not be looked at? is it not there? */
  int work_limit;               /* pieces of a step that may be examined */
  double *curve, *width;
  ag_open *open; /* what cannot be decided within the error of the motion */
  int n_open, cap_open;
  ag_doubt *doubts;    /* per function */
  bool events;         /* those of the model are located */
  int section;         /* and this section: 1 + its index; 0: none */
  const bool *counts;  /* of batches, per function: does anything depend on it? NULL: all are wanted */
  int g_first, n_g;    /* which functions are: see ag_run_result.n_event */
  ag_watcher *watcher; /* these functions on z; NULL: none, or only on the full state */
  bool watch;          /* all of them can be evaluated so */
  double *g1;          /* their values, scratch */
  int *sign;           /* last sign of each that was not zero */
  bool fresh;          /* no step has been examined yet */
  ag_switch *switches; /* of equations that switch, or NULL */
  ag_pulse *pulse;     /* of terms that may be short in time, or NULL */
} ag_mover;

/* Full state of (t, z) with basis data c. */
void ag_mover_full(ag_mover *m, double t, const double *z, const double *c, double *x);
void ag_mover_create(ag_mover *m, const ag_system *sys, const double *params, const ag_run_options *o, bool core);
void ag_mover_free(ag_mover *m);
/* The absolute tolerances: ag_scale_atol. */
void ag_mover_tolerate(ag_mover *m, double atol, const double *own);
int ag_mover_rhs(void *self, double t, const double *z, double *dz);                      /* self: the ag_mover */
int ag_mover_branch(ag_mover *m, double t, const double *z, const double *c, double *dz); /* with choices c */
/* Projects a state onto the constraints; c may be chosen again. */
int ag_mover_settle(ag_mover *m, double t, double *z, double *c, bool *changed);
/* A try of a step from the current state of the mover into z1 and dz1, as ag_stepper.step. */
int ag_mover_step(ag_mover *m, double t, double h, double rtol, double atol, double *error);
bool ag_run_all_rows(const ag_system *sys, const ag_checkpoint *c); /* all rows take part: rows.c */
/* The tangent of what is integrated: its factors (room for n_z + 1; the number of them is returned) and, *m, its
 * dimension. core: the core alone. */
int ag_mover_factors(const ag_system *sys, bool core, ag_factor *factors, int *m);
/* The role of the discrete equations that a method needs, on a path with noise or not; the next one is their end. */
static inline int ag_discrete_role(const ag_stepper *s, bool noise) {
  return s->needs & AG_NEEDS_BATH ? AG_ROLE_QUIET : ag_discrete_role_of((ag_discrete_form)s->form, noise);
}
/* Per factor: ag_system_spin() of a rotation that is turned axis by axis, else -1. */
void ag_mover_spins(const ag_system *sys, int n_factor, const ag_factor *factors, int *spin);
/* Where in the tangent the independent velocities begin. */
int ag_mover_velocities(const ag_system *sys, int n_factor, const ag_factor *factors);
/* Wrong use of the options, reported to ctx. */
AG_MUST_USE ag_status ag_run_check(ag_ctx *ctx, const ag_system *sys, const ag_run_options *o);
/* Can the start x0 be projected onto the requested quantities? */
AG_MUST_USE ag_status ag_run_check_levels(ag_ctx *ctx, const ag_system *sys, const double *params, const double *x0,
                                          const ag_run_options *o);
/* Is the temperature positive, for methods that test their steps? */
AG_MUST_USE ag_status ag_run_warm(ag_ctx *ctx, const ag_system *sys, const double *params, const ag_stepper *method);
/* Can lanes do what a state needs after a step? Of adaptive steps, and of fixed ones that leave lengths alone to be
 * restored. */
bool ag_mover_in_place(const ag_system *sys, const ag_run_options *o);
/* The role that turns rotations onto their images after every step, or -1: after adaptive steps without a basis it is
 * enough to do so in what is shown. */
int ag_mover_agrees(const ag_system *sys, const ag_run_options *o);
/* After a step: the groups of z back to their lengths at the start (`begin` sets these), z back onto the position
 * constraints, a new basis in c if it has turned too far. As lanes do it. *changed: the rates are to be evaluated anew.
 */
void ag_mover_begin(ag_mover *m);
int ag_mover_restore(ag_mover *m, double t, double *z, double *c, bool *changed);
/* The full state to be seen: put back onto the constraints where a step does not do it; z stays as it is. */
void ag_mover_output(ag_mover *m, double t, const double *z, const double *c, double *x);
/* Switches a mover to compiled code; false when that is not possible (reason says why). The numbers do not change. */
bool ag_mover_compile(ag_mover *m, const double *params, bool only_cached, ag_text *reason);
/* The field a method follows on a path with noise, and its role. */
static inline ag_followed ag_run_field(const ag_stepper *s) { return (ag_followed)s->follows; }
static inline int ag_run_role(const ag_stepper *s) { return AG_ROLE_INCREMENT + AG_FIELD_ROLES * s->follows; }
/* Makes the field a method follows; the needs that the noise of the system offers (AG_NEEDS_...). Extends the graph. */
unsigned ag_run_noise(ag_system *sys, const ag_stepper *s);
/* Operations of the interpreter per right-hand side that is counted; where stages are solved for, with two iterations
 * of Newton's method. */
double ag_mover_cost(const ag_mover *m);
ag_fused *ag_mover_kernel(const ag_system *sys, const ag_stepper *method, bool core, bool noise,
                          const ag_build_options *build, ag_text *reason);
void ag_fused_spec_init(ag_fused_spec *s, const ag_system *sys, bool core); /* the method is set before */
/* The same of a march with these options; guard: of ag_system_guard, or NULL. Functions and units are set before. */
void ag_fused_march_init(ag_fused_spec *s, const ag_system *sys, const ag_run_options *o, const ag_tape *guard,
                         bool core);
void ag_fused_spec_done(ag_fused_spec *s);
double *ag_mover_prep(const ag_fused *fused, ag_fused_tape tape, const double *params);
void ag_mover_use(ag_mover *m, const double *params, const ag_fused *fused);
/* On compiled code with the role POWER: the work done over `part` of the step just made, dense output prepared. */
void ag_mover_power(ag_mover *m, double t, double h, double part, double *done);

/* A copy with its own arrays (event_times stay borrowed), and its end. */
void ag_checkpoint_keep(ag_checkpoint *copy, const ag_checkpoint *c);
void ag_checkpoint_done(ag_checkpoint *copy);

/* scale.c: the absolute tolerance of a motion from the state x at o->t0; own: that of each number of x, which is
 * smaller where it is small. */
double ag_scale_atol(const ag_system *sys, ag_work *w, const ag_run_options *o, const double *x, double *own);
/* The same per component of what is integrated: n numbers, and one for other quantities. full: the full state. */
void ag_scale_spread(const ag_system *sys, bool full, double atol, const double *own, int n, double *tolerance);
/* 1 + the number of a start value of the model that is so far below its tolerance that its error is uncontrolled; 0:
 * there is none. *size: how large it is. */
int ag_scale_loose(const ag_system *sys, const ag_run_options *o, const double *own, const double *x, double *size);

/* Checks during a motion. look: records in the result the first state outside the domain. vanishes: a constraint is 0
 * inside the step just made from t to t1, at *at; to be called for every step in turn. */
typedef struct ag_guard ag_guard;
ag_guard *ag_guard_create(const ag_system *sys);
void ag_guard_free(ag_guard *g);
void ag_guard_look(ag_guard *g, ag_work *w, double t, const double *x, ag_run_result *res);
bool ag_guard_vanishes(ag_guard *g, ag_mover *m, double t, double t1, double *at);
void ag_guard_forget(ag_guard *g); /* the step just looked at was not taken, or others were made */
void ag_guard_rows(ag_mover *m, double t, double *rows); /* those that may vanish, at the current state */

/* Are any crossings to be located? The functions at a state (those from g_first on), and their signs at the start. */
bool ag_mover_looks(const ag_mover *m);
const ag_event *ag_mover_event(const ag_mover *m, int e);
int ag_mover_watch(ag_mover *m, double t, const double *z, const double *c, double *g);
void ag_mover_signs(ag_mover *m, double t);
/* Crossings inside the step from t by h just made (its dense output prepared), in time order in m->hits; how many. */
int ag_events_in_step(ag_mover *m, double t, double h);
/* When function e, which crosses zero once in the step, does so. */
double ag_events_once(ag_mover *m, double t, double h, int e);
/* A corner in the step of size h from m->z at t to m->z1: the time of the first, or up to 1 % farther from t. */
bool ag_events_corner(ag_mover *m, double t, double h, double *s);
/* The same before the step is tried, where the motion is already near a corner: the functions hardly bend on the way to
 * it. size: of steps on the way, of which a small part shows their slopes. */
bool ag_events_ahead(ag_mover *m, double t, double h, double size, double *s);

/* look.c. create: the functions watch are looked for; prepare: with other parameters. clear: the behaviour of each
 * in the step just made from t by h (m->hint); is it proved that none crosses zero in its direction? dense: isolates
 * those that have to be examined, with the dense output prepared. */
void ag_look_create(ag_mover *m, const ag_tape *watch, const double *params);
void ag_look_prepare(ag_mover *m, const double *params);
void ag_look_free(ag_mover *m);
bool ag_look_clear(ag_mover *m, double t, double h);
void ag_look_dense(ag_mover *m, double t, double h);
/* curve.c. The step as a curve with its width, in the caller's arrays: the cheap one (AG_CURVE_ROWS rows of n and as
 * many Bernstein coefficients and one more; false: there is none), and the dense output, of degree AG_ISOLATE_DEGREE.
 */
enum { AG_CURVE_ROWS = 4 };
bool ag_curve_cheap(ag_mover *m, double t, double h, double *rows, double *curve, double *width);
void ag_curve_dense(ag_mover *m, double *curve);

/* pulse.c: terms that may be short in time. create: m->pulse, if there are any. unseen: does one of them do something
 * in the step from t by h that its stages need not have seen? *shorter: the step to try instead. moves: they read the
 * state, and the step must have been made. */
void ag_pulse_create(ag_mover *m, const double *params, bool fixed);
void ag_pulse_free(ag_mover *m);
bool ag_pulse_moves(const ag_mover *m);
bool ag_pulse_unseen(ag_mover *m, double t, double h, double *shorter);

/* switch.c: equations that switch. create: m->switches, if there are any. first: the first place *at in the step from t
 * by h just made where the branch ends; dense output need not be prepared. ahead: a step failed; is the end of the
 * branch nearer than `nothing`? *limit: its largest possible distance. slides: along a surface. project: a state that
 * slides is put onto its surface. */
void ag_switch_create(ag_mover *m, const double *params);
void ag_switch_free(ag_mover *m);
void ag_switch_prepare(ag_mover *m, const double *params); /* for other parameters */
bool ag_switch_first(ag_mover *m, double t, double h, double *at);
bool ag_switch_ahead(ag_mover *m, double t, double h, double nothing, double *limit);
bool ag_switch_slides(const ag_mover *m);
/* A mover of the full state begins here: the branches, and which functions are zero up to rounding, h being a usual
 * step. */
void ag_switch_here(ag_mover *m, double t, double h);
void ag_slide_project(ag_mover *m, double t, double *z);
/* Forces of constraint on the branch, or along the surface, for all that reads them until they are let go. False: they
 * are those of one side of a surface slid on. */
bool ag_slide_hold(ag_mover *m, double t, const double *z, const double *c);
void ag_slide_let_go(ag_mover *m);
/* Observables that make choices of the equations themselves (AG_ROLE_OBSERVED), along the surface. */
bool ag_slide_observe(ag_mover *m, double t, const double *z, const double *c, const double *x, double *values);
/* Is the watched function e zero all along a step that slides? */
bool ag_slide_holds(ag_mover *m, double t, double h, int e);

/* State at time s inside the step, by a real step of the method from its start. False when that fails. */
bool ag_mover_at(ag_mover *m, double t, double s, double *z);
/* The same as a step ends, put back onto its lengths or the constraints, in m->zt and m->c1: where crossings are
 * located. output: and the full state there, in m->x. */
bool ag_mover_settled(ag_mover *m, double t, double s);
bool ag_mover_point(ag_mover *m, double t, double s);

/* check.c: does the method need noise of friction at a temperature alone, and has the system no other? */
bool ag_run_is_warm(const ag_system *sys, const ag_stepper *s);
/* noisy.c: did the constraints turn too far for a step of s from where their basis was chosen? */
bool ag_run_turned(const ag_system *sys, const ag_stepper *s, ag_work *work, double t1, const double *z1,
                   const double *c);
/* Judges the mean or variance of an expectation over paths (expect_paths.c); value, tol and time evaluated before. */
AG_MUST_USE ag_status ag_expect_paths(ag_ctx *ctx, ag_system *sys, const ag_expect *e, const double *params,
                                      const double *x0, double time, double dt, ag_verdict *v);
#endif
