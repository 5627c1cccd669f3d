/* SPDX-License-Identifier: MIT
 * Symbolic mechanics: front header of mech/. From an ag_model to an ag_system: everything that can be computed about
 * it, as tapes over (t, state, parameters, basis data).
 *
 * Two states are used. The full state is [q | xi]: stored coordinates and all quasi-velocities (the exchange state).
 * The reduced state is z = [core | rest]. The core is what the motion itself needs: the coordinates that enter the
 * equations, the body images R^T c of fixed vectors where a rotation enters only through them, and the independent
 * velocities u. The rest are coordinates that are only reconstructed (cyclic positions, orientations): they never
 * influence the core. Formulas: docs/theory/1-formalism.md. */
#ifndef AG_MECH_MECH_H
#define AG_MECH_MECH_H
#include "base/status.h"
#include "model/model.h"

typedef struct ag_system ag_system;

/* Tapes by what they compute: role.def. */
typedef enum ag_role {
#define AG_ROLE(ROLE, name, state, what) AG_ROLE_##ROLE,
#define AG_OUTPUT(ROLE, NAME, size)
#include "mech/role.def"
#undef AG_ROLE
#undef AG_OUTPUT
  AG_ROLE_COUNT
} ag_role;

/* Results of the roles, by name: AG_OUT_SADDLE_M. */
typedef enum ag_output {
#define AG_ROLE(ROLE, name, state, what)
#define AG_OUTPUT(ROLE, NAME, size) AG_OUT_##ROLE##_##NAME,
#include "mech/role.def"
#undef AG_ROLE
#undef AG_OUTPUT
  AG_OUTPUT_COUNT
} ag_output;

/* Offset and length. */
typedef struct ag_span {
  int at, n;
} ag_span;

/* Numbers of a system. */
typedef struct ag_dims {
  int q, xi, process, x; /* the exchange state x = [q | xi | N]: stored coordinates, quasi-velocities, processes; all */
  int z, core, tangent;  /* the reduced state; its first numbers; its tangent, three per rotation */
  int u, u_at;           /* independent velocities, and their offset in z */
  int c;                 /* basis data */
  int param, observe;    /* numbers of all parameters, all observables */
  int row, lambda, rank; /* rows of constraints; those kept, each with a multiplier; how many are independent */
  int g;                 /* rows on the position level */
  int fragile;           /* rows whose coefficients may all vanish somewhere */
} ag_dims;

/* ---- layout: every named quantity of a system, one row each ---- */

typedef enum ag_layout_kind {
  AG_LAYOUT_COORDINATE,
  AG_LAYOUT_VELOCITY,  /* quasi-velocities */
  AG_LAYOUT_PROCESS,   /* states of noise processes */
  AG_LAYOUT_FRAME,     /* independent velocities of the model's frame */
  AG_LAYOUT_PARAMETER, /* in order of the file */
  AG_LAYOUT_OBSERVABLE,
  AG_LAYOUT_NOISE, /* channels */
  AG_LAYOUT_KINDS
} ag_layout_kind;

/* The array that a quantity is stored in depends on its kind: the exchange state x = [q | xi | N] for coordinates,
 * velocities and processes; u for a frame; the parameters; the observables; the channels. */
typedef struct ag_layout_row {
  ag_layout_kind kind;
  const char *name;       /* "x", "x'", "Omega"; a member of a family "x[2]" */
  ag_space factor;        /* of the configuration space; AG_SPACE_R where that says nothing */
  int rows, cols;         /* shape as the user writes it: a rotation is 3 x 3 */
  int at, n;              /* numbers stored (4 of a rotation); n = 0: an integer parameter, which is structural */
  int tangent, n_tangent; /* in the tangent of x: 3 per rotation */
  ag_id x;                /* its expression */
} ag_layout_row;

/* The rows of one kind, in the order of the model. */
const ag_layout_row *ag_layout_rows(const ag_system *sys, ag_layout_kind kind, int *n);
const ag_layout_row *ag_layout_item(const ag_system *sys, ag_layout_kind kind, int i);
/* The quantity of that name, *entry = -1, or the one with an entry of that name ("x[2]", "A[1,2]", "x[4][1]"), *entry =
 * which, row by row; NULL: none. */
const ag_layout_row *ag_layout_find(const ag_system *sys, const char *name, int *entry);
/* The same for one name and shape: the entry, -1 for the whole, -2 if `wanted` is neither. */
int ag_entry_find(const char *name, int rows, int cols, const char *wanted);
/* Name of an entry: "x", "x[2]", "A[1,2]". */
void ag_entry_name(const char *name, int rows, int cols, int entry, ag_text *out);
/* Name of number k of those stored: as above, or "R as a quaternion: w". */
void ag_stored_name(const ag_layout_row *row, int k, ag_text *out);
/* Name of number k of the reduced state z. */
void ag_reduced_name(const ag_system *sys, int k, ag_text *out);

typedef enum ag_row_kind { AG_ROW_CONSTRAINT, AG_ROW_HOLONOMIC, AG_ROW_PRESCRIBE } ag_row_kind;

/* One scalar row of S xi + s = 0. */
typedef struct ag_row {
  ag_row_kind kind;
  int item, component; /* which statement of its kind, which component of it */
  bool kept;           /* false: redundant, dropped with a note */
  int lambda;          /* index of its multiplier, -1 when dropped */
  ag_pos pos;
} ag_row;

/* How the velocities are eliminated (decisions: docs/design/0004). */
typedef enum ag_elimination {
  AG_ELIM_NONE,   /* no constraints */
  AG_ELIM_SOLVED, /* every row gives one velocity in closed form */
  AG_ELIM_FRAME,  /* the independent velocities of a `frame` statement */
  AG_ELIM_BASIS,  /* some velocities through a basis of ker S that is data and is refreshed */
  AG_ELIM_SADDLE /* none: u is xi, and the sparse saddle system is solved for xi' and the multipliers (large systems) */
} ag_elimination;

/* Integrability at the start and in the domain: dimensions of D, D + [D, D], ... For affine and time-dependent
 * constraints in the space of (q, t): one more dimension (in_time). */
typedef struct ag_growth {
  bool in_time;
  int n, dims[4];
  int n_disguised; /* velocity constraints that are holonomic in disguise; -1: not decided at this depth */
} ag_growth;

typedef struct ag_derive_options {
  bool strict; /* refuse a start that had to be projected */
  bool growth; /* compute the growth vector */
  bool saddle; /* treat constraints as in a large system, whatever the size */
  double t0;
} ag_derive_options;

/* Derives everything. Problems (redundant, inconsistent, rank-deficient constraints, singular mass matrix, a start that
 * cannot be completed) are reported to ctx. The model must outlive the system, and graph nodes are added to it. */
AG_MUST_USE ag_status ag_system_create(ag_ctx *ctx, ag_model *m, const ag_derive_options *options, ag_system **out);
void ag_system_free(ag_system *sys);

/* ---- queries ---- */

const ag_dims *ag_system_dims(const ag_system *sys);
const ag_model *ag_system_model(const ag_system *sys);
ag_graph *ag_system_graph(ag_system *sys); /* to build further expressions */
ag_elimination ag_system_elimination(const ag_system *sys);
const ag_growth *ag_system_growth(const ag_system *sys);
const ag_row *ag_system_rows(const ag_system *sys);         /* dims.row of them */
const char *const *ag_system_u_names(const ag_system *sys); /* dims.u: "Omega[1]", "u", "basis 1" */
const double *ag_system_param_values(const ag_system *sys); /* dims.param, as the model has them */
double ag_system_t0(const ag_system *sys);
void ag_system_state0(const ag_system *sys, double *x); /* the start as an exchange state */
const double *ag_system_q0(const ag_system *sys);
const double *ag_system_xi0(const ag_system *sys);
const int *ag_system_ranges(const ag_system *sys, int *n); /* the ranges of the domain that AG_ROLE_DOMAIN checks */
ag_id ag_system_energy(const ag_system *sys);
ag_id ag_system_energy_size(const ag_system *sys); /* kinetic energy + |potential energy| */
/* Groups of the first n_z numbers of z that keep their length: quaternions, images R^T c. NULL: only how many. */
int ag_system_units(const ag_system *sys, int n_z, ag_span *units);

/* The tape of a role, NULL where the system has none; that of section i is AG_ROLE_SECTION + i. */
const ag_tape *ag_system_role(const ag_system *sys, int role);
/* Position of a result among those of its role. */
ag_span ag_system_output(const ag_system *sys, ag_output output);
/* Does a role of the full state, if it exists, depend on coordinates outside the core? */
bool ag_system_reads_rest(const ag_system *sys, int role);
const char *ag_role_name(ag_role role);
const char *ag_role_what(ag_role role); /* what it computes, in a few words */

/* Parameter values (n_param numbers) with some of them changed: those that depend on them follow. */
AG_MUST_USE ag_status ag_system_params(ag_ctx *ctx, ag_system *sys, int n_when, const int *when_param,
                                       const ag_id *when_value, double *params);
/* Start state for given parameters (params from ag_system_params): q (n_q) and xi (n_xi), completed from the
 * constraints. */
AG_MUST_USE ag_status ag_system_start(ag_ctx *ctx, ag_system *sys, double t0, const double *params, bool strict,
                                      double *q, double *xi);

/* A worker: slots of all tapes for one parameter set and one thread. */
typedef struct ag_work ag_work;
ag_work *ag_work_create(const ag_system *sys, const double *params);
void ag_work_free(ag_work *w);

/* Reasons a right-hand side or a projection can fail. */
typedef enum ag_trouble {
  AG_FINE,
  AG_TROUBLE_PIVOT,
  AG_TROUBLE_RANK,
  AG_TROUBLE_MASS,
  AG_TROUBLE_PROJECT,
  AG_TROUBLE_DOMAIN /* velocities were solved for in closed form where the domain allows it, and the motion left it */
} ag_trouble;

/* Evaluates the tape of a role, which must exist, for its own state (c may be NULL for full states; the multipliers are
 * computed where they are read). */
int ag_work_role(ag_work *w, int role, double t, const double *z, const double *c, double *out);
int ag_work_rhs(ag_work *w, double t, const double *z, const double *c, double *dz); /* eliminated closure */
/* Why the equations cannot be solved at or near z. */
int ag_work_cause(ag_work *w, double t, const double *z, const double *c);
/* The core alone: z and dz may end after n_core numbers. */
int ag_work_core(ag_work *w, double t, const double *z, const double *c, double *dz);
/* The full state of a reduced one. */
void ag_work_full(ag_work *w, double t, const double *z, const double *c, double *x);
/* Multiplier closure on the full state x = [q | xi]: xidot and lambda (may be NULL). */
int ag_work_accel(ag_work *w, double t, const double *x, double *xidot, double *lambda);
int ag_work_rhs_full(ag_work *w, double t, const double *x, double *dx);
/* Reaction S^T lambda on all quasi-velocities. */
int ag_work_reaction(ag_work *w, double t, const double *x, double *reaction);
/* size (may be NULL): kinetic energy + |potential energy|, which does not vanish where the two cancel. */
double ag_work_energy(ag_work *w, double t, const double *x, double *size);
/* dE/dt by the balance -l_t + F.xi - s.lambda. */
double ag_work_energy_rate(ag_work *w, double t, const double *x);
double ag_work_residual(ag_work *w, double t, const double *x); /* max |S xi + s| and |g| */
int ag_work_observe(ag_work *w, double t, const double *x, double *values);
int ag_work_events(ag_work *w, double t, const double *x, double *values);
int ag_work_section(ag_work *w, int section, double t, const double *x, double *value);
/* Condition number (1-norm estimate) of the saddle matrix; NaN where there is none. */
double ag_work_condition(ag_work *w, double t, const double *x);

/* Why the motion from x0 at t0 cannot continue at x (full states), as far as is known: a constraint that vanishes,
 * singular coordinates, a growing quantity; adds nothing if the cause is unknown. */
void ag_work_why(ag_work *w, const double *params, double t0, const double *x0, double t, const double *x,
                 ag_text *out);

/* Reduced state from a full one; chooses the basis data c again. */
int ag_work_reduce(ag_work *w, double t, const double *x, double *c, double *z);
/* With a basis (otherwise 1 and 0): the fraction of it that is left at z, 1 if it was chosen here and 0 if it has
 * turned by a right angle; and the rate at which the constraints turn, in radians per unit of time. A step must stay
 * well below a right angle. */
double ag_work_basis(ag_work *w, double t, const double *z, const double *c);
double ag_work_turning(ag_work *w, double t, const double *z, const double *c, const double *dz);
/* After an accepted step: positions by Newton's method in the metric M, velocities, unit quaternions, and the basis
 * renewed if it has turned too far. Returns a trouble, or AG_FINE; *changed: whether z or c changed beyond
 * normalisation. */
int ag_work_settle(ag_work *w, double t, double *z, double *c, bool *changed);
int ag_work_settle_full(ag_work *w, double t, double *x); /* the same for the full state */

/* A tape on [full state | lambda] for expressions in any quantity of the model (coordinates, velocities, frame
 * velocities, energy, drives, reactions). *needs_lambda: whether the multipliers are read. Owned by the caller. */
ag_tape *ag_system_tape(ag_system *sys, int n_out, const ag_id *outs, bool *needs_lambda);
/* The same on the reduced state z, without basis data; NULL if constraint forces are read. *reads_rest: whether more
 * than the core is read. Owned by the caller. */
ag_tape *ag_system_reduced_tape(ag_system *sys, int n_out, const ag_id *outs, bool *reads_rest);
/* Evaluates such a tape at a full state; slots: tape->n_slot numbers, prepared with ag_tape_prep(tape, params, slots).
 */
int ag_work_eval(ag_work *w, const ag_tape *tape, bool needs_lambda, double t, const double *x, double *slots,
                 double *out);

/* Accelerations xi' of the eliminated closure as a tape on [q | u] (with c), for comparison with the multiplier form.
 * Owned by the caller. */
ag_tape *ag_system_accel(ag_system *sys);

/* Creates the role JACOBIAN if it does not exist yet, which extends the graph: n_tangent x n_tangent row-major in
 * tangent coordinates, in the order of z with three numbers per rotation (delta R = R hat(eta)) instead of its
 * quaternion. */
const ag_tape *ag_system_jacobian(ag_system *sys);

/* Text of the derived equations for `show`: infix or LaTeX. */
void ag_system_show(ag_system *sys, bool latex, ag_text *out);
/* A random full state in the domain that satisfies the constraints, for tests: seed -> state. */
AG_MUST_USE ag_status ag_system_sample(ag_system *sys, ag_work *w, unsigned seed, double *t, double *x);

#include "mech/along.h"
#endif
