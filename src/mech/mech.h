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

/* Where a coordinate factor sits. */
typedef struct ag_place {
  int q, n_q;   /* offset and length in the stored coordinates (4 for a rotation) */
  int xi, n_xi; /* offset and length in the quasi-velocities */
} ag_place;

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
  AG_ELIM_FRAME,  /* the person's independent velocities */
  AG_ELIM_BASIS,  /* some velocities through a basis of ker S that is data and is refreshed */
  AG_ELIM_SADDLE /* none: u is xi, and the sparse saddle system is solved for xi' and the multipliers (large systems) */
} ag_elimination;

/* A body image R^T c of a vector c fixed in space (an expression of the parameters), moved by (R^T c)' = (R^T c) x
 * Omega. */
typedef struct ag_image {
  int coord, z; /* which rotation; offset in z */
  ag_id c, input;
} ag_image;

/* Velocities y that n_w constraints S_y y + s = 0 tie together: y = B v + y0, B the projection of the basis N (n_y x
 * (n_y - n_w), row-major, data in c) onto ker S_y, v = v(q, u) coordinates that make it orthonormal (eliminate.c). One
 * per connected group of rows. */
typedef struct ag_basis {
  int n_y, n_w;
  int n_s;      /* rows that n_w are independent of; n_s > n_w: it is W S_y y + W s = 0, W data too, behind N in c */
  int *y_index; /* which quasi-velocity each y is */
  int c, u, S;  /* offsets: of N in c, of its coordinates in u, of S_y in the results of the basis tape */
  ag_id N;      /* the input that holds it; 0 when n_y = n_w */
  ag_id W;      /* the input of W (n_w x n_s); 0 when n_s = n_w */
} ag_basis;

/* Places of the structural nonzeros of a matrix, and the entries. */
typedef struct ag_places {
  int n, *row, *col;
  ag_id *x;
} ag_places;

typedef struct ag_system {
  ag_arena *arena;
  ag_model *model; /* not owned */
  int n_q, n_xi, n_u, n_row, n_lambda, n_param, n_g, n_relation;
  int rank;         /* independent rows; less than n_lambda where which ones they are changes from place to place */
  int g_rank;       /* how many of the n_g position-level rows are independent (all with AG_ELIM_SADDLE) */
  ag_place *places; /* per coordinate */
  ag_row *rows;
  int *param_offset; /* per parameter, -1 for integer ones */
  double *params;    /* current values */
  double *q0, *xi0;  /* start, completed */
  double t0;
  ag_elimination elimination;
  const char **u_names; /* per component of u: "Omega[1]", "u", "basis 1" */
  int n_c, n_basis;     /* numbers in c; AG_ELIM_BASIS only */
  ag_basis *bases;

  /* With AG_ELIM_SADDLE: where S (all rows, also dropped ones), M (row >= col) and the Jacobian of the relations have
   * entries, row by row. M is S^T S larger than the mass matrix where that is singular off the constraints (augmented):
   * the solutions are the same. The mass matrix of a large system without constraints is given in the same way. */
  bool augmented;
  bool *hubs; /* per velocity, or NULL: shared by many rows, which have full rank without it (AG_MARK_HUB) */
  ag_places S_at, M_at, G_at;

  /* The reduced state. */
  int n_core, n_z; /* z[0..n_core-1] is the core */
  int u_in_z;      /* offset of u */
  int *q_in_z;     /* per stored coordinate: its place in z */
  ag_id **q_leaf;  /* per coordinate: NULL, or one input per component where only some are core */
  int n_image;
  ag_image *images;
  ag_id *dz, *velocity; /* expressions: rows of dz; per coordinate its velocity; both in the inputs of z */

  int n_tangent; /* numbers of the tangent of z: n_z, but three per rotation */

  /* Tapes by role (role.def), and after the last role one per section of the model; NULL where there is none. */
  int n_tape;
  ag_tape **tapes;
  bool *reads_lambda; /* per tape */
  ag_id **made;       /* per tape: the expressions it was made from */
  ag_span outputs[AG_OUTPUT_COUNT];
  int n_minor;
  double *minor_bound;  /* below this the motion has left the domain */
  int n_range, *ranges; /* which ranges of the model AG_ROLE_DOMAIN looks at */
  int n_fragile;
  int n_observe; /* numbers in all observables */
  int *observe_offset;

  /* Integrability at the start and in the domain. For affine and time-dependent constraints in the space of (q, t): one
   * more dimension. */
  bool growth_in_time;
  int growth[4], n_growth; /* dimension of D, D + [D,D], ...: at most depth 4 */
  int n_disguised;         /* velocity constraints that are holonomic in disguise; -1: not decided at this depth */
  ag_id energy_size;       /* kinetic energy + |potential energy|: what an error of the energy is small against */
  ag_id energy, *xi_of_u, mass,
      force;             /* expressions, for show: xi(q,u,t) per coordinate, B^T M B (0: see M_at), right-hand side */
  ag_id kappa, rates;    /* the lower part of it with AG_ELIM_SADDLE; u' */
  ag_id *reaction;       /* S^T lambda per coordinate, NULL without constraints */
  const bool *dependent; /* per quasi-velocity: solved from the constraints by default */
  ag_id *u_inputs;
  int n_u_input;
} ag_system;

typedef struct ag_derive_options {
  bool strict; /* refuse a start that had to be projected */
  bool growth; /* compute the growth vector */
  bool saddle; /* treat constraints as in a large system, whatever the size */
  double t0;
} ag_derive_options;

/* Derives everything. Problems (redundant, inconsistent, rank-deficient constraints, singular mass matrix, a start that
 * cannot be completed) are reported to ctx. The model must outlive the system and is extended by graph nodes. */
AG_MUST_USE ag_status ag_system_create(ag_ctx *ctx, ag_model *m, const ag_derive_options *options, ag_system **out);
void ag_system_free(ag_system *sys);

/* The tape of a role, NULL where the system has none; that of section i is AG_ROLE_SECTION + i. */
const ag_tape *ag_system_role(const ag_system *sys, int role);
/* Where a result stands among those of its role. */
ag_span ag_system_output(const ag_system *sys, ag_output output);
const char *ag_role_name(ag_role role);
const char *ag_role_what(ag_role role);                 /* what it computes, in a few words */
void ag_system_state0(const ag_system *sys, double *x); /* the start as a full state [q | xi] */

/* Parameter values (n_param numbers) with some of them changed: those that depend on them follow. */
AG_MUST_USE ag_status ag_system_params(ag_ctx *ctx, const ag_system *sys, int n_when, const int *when_param,
                                       const ag_id *when_value, double *params);
/* Start state for given parameters (params from ag_system_params): q (n_q) and xi (n_xi), completed from the
 * constraints. */
AG_MUST_USE ag_status ag_system_start(ag_ctx *ctx, const ag_system *sys, double t0, const double *params, bool strict,
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
/* Which trouble it is that the equations cannot be solved at z or near it. */
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

/* Why the motion from x0 at t0 cannot go on at x (full states), as far as can be known: a constraint that vanishes, bad
 * coordinates, what grows; adds nothing when there is nothing to say. */
void ag_work_why(ag_work *w, const double *params, double t0, const double *x0, double t, const double *x,
                 ag_text *out);

/* Reduced state from a full one; chooses the basis data c anew. */
int ag_work_reduce(ag_work *w, double t, const double *x, double *c, double *z);
/* With a basis (else 1 and 0): how much of it is left at z, 1 when it was chosen here and 0 when it has turned by a
 * right angle; and the rate at which the constraints turn, in radians per unit of time. A step must stay well below a
 * right angle. */
double ag_work_basis(ag_work *w, double t, const double *z, const double *c);
double ag_work_turning(ag_work *w, double t, const double *z, const double *c, const double *dz);
/* After an accepted step: position level by M-metric Newton, velocity level, unit quaternions, basis refreshed when it
 * has turned too far. Returns a trouble, or AG_FINE; *changed says whether z or c changed beyond normalisation. */
int ag_work_settle(ag_work *w, double t, double *z, double *c, bool *changed);
int ag_work_settle_full(ag_work *w, double t, double *x); /* the same for the full state */

/* A tape on [full state | lambda] for expressions in anything the model knows (coordinates, velocities, frame
 * velocities, energy, drives, reactions). *needs_lambda: whether the multipliers are read. Owned by the caller. */
ag_tape *ag_system_tape(const ag_system *sys, int n_out, const ag_id *outs, bool *needs_lambda);
/* Evaluates such a tape at a full state; slots: tape->n_slot numbers, prepared with ag_tape_prep(tape, params, slots).
 */
int ag_work_eval(ag_work *w, const ag_tape *tape, bool needs_lambda, double t, const double *x, double *slots,
                 double *out);

/* Accelerations xi' of the eliminated closure as a tape on [q | u] (with c): to compare with the multiplier form. Owned
 * by the caller. */
ag_tape *ag_system_accel(const ag_system *sys);

/* Makes the role JACOBIAN where it is not there yet, which extends the graph: n_tangent x n_tangent row-major in
 * tangent coordinates, in the order of z with three numbers per rotation (delta R = R hat(eta)) in place of its
 * quaternion. */
const ag_tape *ag_system_jacobian(ag_system *sys);

/* Text of the derived equations for `show`: infix or LaTeX. */
void ag_system_show(const ag_system *sys, bool latex, ag_text *out);
/* A random full state in the domain that satisfies the constraints, for tests: seed -> state. */
AG_MUST_USE ag_status ag_system_sample(const ag_system *sys, ag_work *w, unsigned seed, double *t, double *x);

#include "mech/along.h"
#endif
