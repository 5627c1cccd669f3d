/* SPDX-License-Identifier: MIT
 * Internals of the derivation, shared by the files of mech/. */
#ifndef AG_MECH_INTERNAL_H
#define AG_MECH_INTERNAL_H
#include "mech/mech.h"
#include "model/parts.h"

enum { AG_SADDLE_MAX = 64 }; /* velocities up to which matrices are dense and constraints are eliminated */

/* A body image R^T c of a vector c fixed in space (an expression of the parameters), moved by (R^T c)' = (R^T c) x
 * Omega. */
typedef struct ag_image {
  int coord, z; /* which rotation; offset in z */
  ag_id c, input;
} ag_image;

/* Velocities y that n_w constraints S_y y + s = 0 couple: y = B v + y0, B the projection of the basis N (n_y x (n_y -
 * n_w), row-major, data in c) onto ker S_y, v = v(q, u) coordinates that make it orthonormal (eliminate.c). One per
 * connected group of rows. */
typedef struct ag_basis {
  int n_y, n_w;
  int n_s;      /* rows, of which n_w are independent; n_s > n_w: it is W S_y y + W s = 0, W data too, behind N in c */
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

/* What the roles of a step read after z, with m = ag_turn_tangent() and r = n.lambda: d (m), Lambda (r), delta (m), h,
 * a, b (discrete.c). d and delta: one scalar per quasi-velocity, at its place in the tangent of z. */
typedef struct ag_step_inputs {
  ag_id *d, *delta, *lambda, h, a, b;
  int *place, u_at; /* per quasi-velocity; where u begins in the tangent */
} ag_step_inputs;

struct ag_system {
  ag_arena *arena;
  ag_model *model; /* not owned */
  ag_dims n;
  ag_layout_row *layout; /* kind by kind */
  ag_span kinds[AG_LAYOUT_KINDS];
  const ag_layout_row *coords, *processes, *param_rows; /* among them: of coordinates, processes, parameters */
  double *params;                                       /* values as the model has them */
  double *q0, *xi0;                                     /* start, completed */
  struct ag_start_plan *start_plan;                     /* start_internal.h */
  ag_closure_cost cost;
  ag_system *starter; /* the same model eliminated, whose starts are those of this one; NULL: its own */
  double t0;

  /* Constraints. */
  ag_row *rows;
  double *row_scale;       /* per row: its largest norm at the samples; not with AG_ELIM_SADDLE */
  int g_rank;              /* how many of the position-level rows are independent (all with AG_ELIM_SADDLE) */
  int n_solved, *solved_q; /* with noise: numbers of q that relations determine, as functions of the others */
  ag_id *solved_x;
  int n_relation; /* position-level rows and relations that the constraints keep by themselves (model->touches) */
  ag_elimination elimination;
  const char **u_names; /* per component of u: "Omega[1]", "u", "basis 1" */
  int n_u_input;
  ag_id *u_inputs;
  int n_basis; /* AG_ELIM_BASIS only */
  ag_basis *bases;
  const bool *dependent; /* per quasi-velocity: solved from the constraints by default */
  int n_minor, n_steady;
  double *minor_bound;  /* below this the motion has left the domain */
  double *steady_bound; /* of those that depend on parameters alone: below this other velocities are to be solved for */
  int n_range, *ranges; /* which ranges of the model AG_ROLE_DOMAIN checks */

  /* With AG_ELIM_SADDLE: where S (all rows, also dropped ones), M (row >= col) and the Jacobian of the relations have
   * entries, row by row. M is S^T S larger than the mass matrix where that is singular off the constraints (augmented):
   * the solutions are the same. The mass matrix of a large system without constraints is given in the same way. */
  bool augmented;
  bool *hubs; /* per velocity, or NULL: shared by many rows, which have full rank without it (AG_MARK_HUB) */
  ag_places S_at, M_at, G_at;

  /* The reduced state. */
  int *q_in_z;    /* per stored coordinate: its place in z */
  ag_id **q_leaf; /* per coordinate: NULL, or one input per component where only some are core */
  int n_image;
  ag_image *images;
  ag_id *dz, *velocity;       /* expressions: rows of dz; per coordinate its velocity; both in the inputs of z */
  ag_id *turns;               /* per coordinate: its total velocity in dz, drivers included */
  ag_id *pointwise;           /* dz with its choices made at the state; NULL where dz has none (switch.c) */
  ag_id levels;               /* the input behind c that AG_ROLE_PULSES compares with; 0: there are no such terms */
  ag_id *branches;            /* the inputs that hold the choices, at the end of c */
  struct ag_choices *choices; /* of the equations; NULL: there are none */
  /* Of the multiplier form (branched.c): what c holds there, the branches and behind them xi' or the levels. */
  bool branched;
  ag_id *full_branches, full_accel, full_levels;

  /* Tapes by role (role.def), and after the last role one per section of the model; NULL where there is none. */
  int n_tape;
  ag_tape **tapes;
  bool *reads_lambda; /* per tape */
  ag_id **made;       /* per tape: the expressions it was made from */
  int *n_made;        /* how many; fewer than its results where some are vectors */
  int **tables;       /* per tape: of a sparse Jacobian, where its entries are; else NULL */
  ag_span outputs[AG_OUTPUT_COUNT];

  /* Expressions. */
  ag_energy_law energy_law;
  ag_id energy, energy_size; /* kinetic energy + |potential energy|: the scale of energy errors */
  ag_id *xi_of_u;            /* xi(q, u, t) per coordinate */
  ag_id mass, force, kappa;  /* B^T M B (0: see M_at), right-hand side, its lower part with AG_ELIM_SADDLE */
  ag_id momentum;            /* B^T p, linear in u up to a part without it */
  ag_id rates;               /* u' */
  ag_id *p_of_u, *brace;     /* per coordinate: p(q, u, t); ad*_xi p + dbar l + F - p' at fixed u; NULL: xi is u */
  ag_id power;               /* F.xi - l_t, in (q, xi, t) */
  ag_id *force_x;            /* per coordinate: F(q, xi, t) */
  ag_id kept_rows, *kept_g;  /* the kept rows of S xi + s as a column, 0: none; g of those on the position level */
  const ag_step_inputs *step;
  const char *level_names; /* those that the role LEVELS was made with */
  ag_id *reaction;         /* S^T lambda per coordinate, NULL without constraints */
  ag_growth growth;

  /* Noise (noise.c); all NULL or 0 without. */
  ag_id step_h, step_dW; /* the inputs of the segment of a step: its size; increments, one row per channel */
  ag_id *amplitude;      /* [channel][process]: its noise in (q, xi, t) */
  ag_id *sigma, *pull;   /* [channel][coordinate]: the transport velocity in (q, t); what moves p, in (q, xi, t) */
  ag_id *sigma_held;     /* the same velocity with inputs in place of amplitudes that are frozen, and these: */
  int n_held;
  ag_id *held, *held_value;
  ag_id *noise_force; /* [channel]: B^T {...}, the right side of the mass matrix; with elimination */
  ag_id *noise_rates; /* [channel]: the noise field of u in (q, u, t) */
  bool splits;        /* the answer of ag_system_splits() */
  const char *canonical_lacks[AG_N_CANONICAL];             /* the answer of ag_system_canonical() */
  bool one_sided;                                          /* the answer of ag_system_one_sided() */
  ag_id step_friction;                                     /* the weight of friction, where a role reads it */
  ag_id rate_input;                                        /* u', where the role POWER reads it */
  ag_id step_A;                                            /* Levy areas, where a role reads them */
  ag_id *field_rows[AG_N_FIELD], *field_turns[AG_N_FIELD]; /* as the next two, of the fields of field.c */
  ag_id *increment;                                        /* rows of the increment of z, in the inputs of z */
  ag_id *increment_turns;                                  /* per coordinate: its velocity in that increment */
  ag_noise_class noise_class;
  int n_driven; /* channels that are smooth functions of t: the equations are then deterministic, and n.channel is 0 */
};

/* Work in progress: the system, and the expressions it is made from. */
typedef struct derive {
  ag_ctx *ctx;
  ag_model *m;
  ag_graph *g;
  ag_system *sys;
  const ag_derive_options *options;
  bool redundant;  /* the sparse form was chosen by cost, but rows depend on each other */
  int nc;          /* coordinate factors */
  ag_id *q, *xi;   /* their inputs */
  ag_id *row_x;    /* per row: scalar residual in (q, xi, t) */
  ag_id *g_x;      /* per position-level row: scalar g(q, t) */
  ag_id *force;    /* generalised force per coordinate, in (q, xi, t) */
  ag_id *momentum; /* dl/dxi per coordinate */
  /* Elimination: velocities as functions of u (see eliminate.c). */
  ag_id *velocity; /* per coordinate: xi_i(q, u, t) */
  bool *dependent; /* per quasi-velocity: solved from the constraints by default */
  ag_id *minors;   /* squares of the scaled minors solved with, where they vary */
  ag_id *steady;   /* those that depend on parameters alone */
  ag_id *S_y;      /* per basis: n_w x n_y, in (q, t) */
  ag_id *renewed;  /* per basis: its current value at (q, t), the next N; 0 if there is nothing to renew */
  ag_id turn[3];   /* of all bases: the outputs of the role TURN; 0 without a basis */
  ag_id delta_q,
      delta_u;        /* changes that take q and, with AG_ELIM_SADDLE, u onto the constraints to first order, or 0 */
  ag_tape *rows_tape; /* full state -> the entries S_at of all rows, then S xi + s of all rows */
  ag_places S_at;     /* with rows_tape */
  bool *may_vanish;   /* per row: all coefficients of a velocity constraint come near 0 in the domain */
  double *samples;    /* n_sample states: t, q (position constraints satisfied) */
  double *later;      /* n_later of them at later times, where rows depend on t */
  int n_sample, n_later;
  bool *alone;           /* scratch of the elimination */
  ag_id *moved, moved_u; /* in a step with noise: per coordinate q^-1 dq, and du; NULL, 0 without */
  ag_id *moved_process;  /* and per process dN */
} derive;

/* role.c: tapes by role. A tape is a role, or AG_ROLE_SECTION plus the number of a section. */
void ag_roles_init(ag_system *sys);
void ag_roles_free(ag_system *sys);
/* Makes (or replaces) a tape: the nodes of all its outputs in order. */
void ag_role_make(ag_system *sys, int tape, int n, const ag_id *outs);
ag_role ag_output_role(ag_output output);
bool ag_role_reduced(int tape); /* does it read z, not x? */
/* The results of a tape on the full state x, run once. The caller frees them. */
double *ag_role_once(const ag_system *sys, int tape, double t, const double *x, const double *params);
/* Sizes of outputs: of all bases together; position-level rows that are kept. */
typedef enum ag_basis_part { AG_BASIS_ROWS, AG_BASIS_COORDINATES } ag_basis_part;
int ag_basis_size(const ag_system *sys, ag_basis_part part);
int ag_kept_positions(const ag_system *sys);
int ag_turn_tangent(const ag_system *sys);                 /* of z, where images move with their rotations */
int ag_solved_size(const ag_system *sys, int role, int m); /* numbers of an m x m matrix: all, or its entries */
int ag_jacobian_size(const ag_system *sys, int role); /* numbers of a Jacobian in this tangent: m x m, or its entries */
bool ag_is_sparse(const ag_system *sys);              /* rows and Jacobians are given by their entries */

/* process.c. Everything depends on processes N as on t: they are not varied, and
 *   dN = drift(q, xi, N, t) dt + sum amplitude_i(q, xi, N, t) o dW_i.
 * inputs: those of all processes. rates: their drift, or with a channel their amplitude in it, at the velocities given
 * (NULL: as they stand, in xi); how many. */
int ag_process_inputs(const ag_model *m, ag_id *inputs);
/* basis.c: the data of the bases, at most 2 n_basis inputs; returns how many. */
int ag_basis_inputs(const ag_system *sys, ag_id *inputs);
int ag_process_rates(const ag_system *sys, int channel, const ag_id *velocity, ag_id *rates);
bool ag_process_in(const ag_model *m, int n, const ag_id *x); /* does any of the expressions contain one? */
void ag_process_collect(derive *d);                           /* amplitudes; the role PROCESS */
/* The start values of all, into their places in q. */
ag_status ag_process_start_values(ag_ctx *ctx, ag_system *sys, double t0, const double *params, double *q);

/* layout.c */
void ag_layout(derive *d);
/* Binds of t, parameters and stored coordinates; room for all of them must be there. Returns how many. */
int ag_bind_base(const ag_system *sys, ag_bind *binds);
/* Binds of the basis data; returns how many. */
int ag_bind_bases(const ag_system *sys, ag_bind *binds);
/* Where each quasi-velocity is in the tangent of z, images turned with their rotations; returns where u begins. */
int ag_tangent_places(const ag_system *sys, int *place);
/* Coordinates of which only some components are core, in outs: by their components, as ag_reduced_tape() binds them. */
void ag_split_leaves(ag_system *sys, int n, ag_id *outs);
/* discrete.c: what the roles of a step read; the end of a step by d with the momentum p1 (columns per coordinate).
 * spark.c: the two roles of a SPARK method. */
const ag_step_inputs *ag_step_inputs_of(ag_system *sys);
void ag_discrete_end(ag_system *sys, ag_id *d, ag_id *p1, int role);
void ag_spark_make(ag_system *sys, int role);
/* tau.c: tau(x), D(x) = dtau, right-trivialised, and its inverse K(x), of rotations; tau = exp, or the Cayley map. */
ag_id ag_tau(ag_graph *g, bool cayley, ag_id x);
ag_id ag_dtau(ag_graph *g, bool cayley, ag_id x);
ag_id ag_dtau_inverse(ag_graph *g, bool cayley, ag_id x);
/* shaken.c: Lagrangian and forces of a discrete step, and the velocity of its transport (NULL: none), in (q, xi, t);
 * with noise they read the increments of the step. sigma has inputs, sys->held, in place of frozen amplitudes. */
typedef struct ag_shaken {
  ag_id l, *force, *sigma;
} ag_shaken;
ag_shaken ag_shaken_of(ag_system *sys, bool noise);
void ag_shaken_quiet(ag_system *sys, ag_shaken *s);     /* its forces without friction that has a temperature */
int ag_bind_step(const ag_system *sys, ag_bind *binds); /* discrete.c: of what the roles of a step read; 2 n.xi + ... */
int ag_bind_full(const ag_system *sys, ag_bind *binds); /* of t, parameters and the full state */
int ag_bind_capacity(const ag_system *sys);
/* A tape on the full state [q | xi]. */
ag_tape *ag_full_tape(ag_system *sys, int n_out, const ag_id *outs);
/* Runs a tape once with fresh slots. */
int ag_tape_once(const ag_tape *tape, double t, const double *z, const double *p, const double *c, double *out);
/* q <- q * exp(delta): moves stored coordinates along a tangent vector; unit quaternions. */
void ag_retract(const ag_system *sys, double *q, const double *delta);
bool ag_all_finite(int n, const double *v);
void ag_normalise(const ag_system *sys, double *q);
/* Default coordinates: zeros, identity rotations, e3 on S2. */
void ag_default_coordinates(const ag_system *sys, double *q);
/* Random points of the domain, the same sequence for the same seed (position constraints not yet satisfied). */
typedef struct ag_sampler {
  const ag_system *sys;
  const double *params;
  ag_tape *tape; /* per range: x, lo, hi */
  int *target;   /* per range: the stored number it refers to, -1, or -2 for time */
  double *x, *v;
  double *start; /* of the processes, at their places in q */
  uint64_t state;
} ag_sampler;
void ag_sampler_init(ag_sampler *s, ag_system *sys, const double *params, uint64_t seed);
bool ag_sampler_next(ag_sampler *s, double *t, double *q);        /* false when the domain was not hit */
bool ag_sampler_inside(ag_sampler *s, double t, const double *q); /* of the domain */
void ag_sampler_done(ag_sampler *s);
double ag_random_unit(uint64_t *state); /* uniform in (0,1), splitmix */
/* A name that the model does not use: `name`, or `name` followed by underscores. */
const char *ag_free_name(const ag_system *sys, const char *name);
/* Name of a component of a column with this many rows; it lives as long as the arena. */
const char *ag_component_name(ag_arena *arena, const char *name, int rows, int entry);
/* Name of quasi-velocity i, as "Omega[2]" or "x'". */
const char *ag_velocity_name(const ag_system *sys, int i, ag_arena *arena);

/* rows.c: rows of S xi + s, position rows */
ag_status ag_rows_collect(derive *d);
const char *ag_row_text(const ag_system *sys, int row, ag_arena *arena);
/* Newton onto g(q, t) = 0 by the shortest steps of all coordinates; true if |g| reached rounding error. */
bool ag_position_project(const ag_system *sys, double t, const double *params, double *q);

/* rank.c: which rows are independent at the start and over the domain; samples of the domain */
ag_status ag_rows_rank(derive *d);

/* start_solve.c: moves the coordinates that are not given (per tangent component) onto the position constraints,
 * preferring those that are dependent by default. *moved: which ones the constraints were solved for. False if given
 * values prevent a solution: then as much as possible is solved, and the constraints are off by *gap in row *row. */
bool ag_position_solve(const ag_system *sys, double t, const double *params, const bool *named, double *q, bool *moved,
                       double *gap, int *row);

/* start_conflict.c: changes named velocities that contradict the rows A xi = b (m x n, the constraints first, then
 * named velocities of the frame), and as few of them as that takes: xi, and b of the frame's rows. M: mass matrix.
 * firm: per velocity, then per row of the frame, whether it gives way only where the others do not suffice (NULL: none
 * does). changed: the velocities that had to give way. False: no values of the named ones help. */
bool ag_start_reconcile(int n, int n_constraint, int m, const double *A, double *b, const double *M, const bool *named,
                        const bool *firm, double *xi, bool *changed);

/* minor.c: of k rows with coefficients S (k x n, in q and t) and squared norms, the k columns (into best) whose minor,
 * divided by the norms of the rows, is largest where it is smallest over all samples, with `later` also those at later
 * times; its value there, 0 when there are too many sets to try. */
enum { AG_MINOR_MAX = 10 }; /* rows */
double ag_minor_best(const derive *d, bool later, int k, int n, const ag_id *S, const ag_id *norms, int *best);

/* How many of the rows are independent, at most, over all samples. */
int ag_minor_rank(const derive *d, int k, int n, const ag_id *S, const ag_id *norms);

/* basis.c: y (a column, from S y + s = 0 with the rows of the basis) in terms of coordinates *u (0: there are none). */
enum { AG_BASIS_MAX = 24 }; /* coordinates, and rows where they are combined */
ag_id ag_basis_solve(derive *d, ag_basis *basis, ag_id S, ag_id s, ag_id *u);

/* kernel.c: a basis of ker S (k x n) as formulas in q and t, n x (n - k), good where a minor of S is not 0; and *y0, a
 * solution of S y + s = 0, where it is not long regular wherever S has its full rank. 0: S is too large. */
ag_id ag_kernel(derive *d, ag_id S, ag_id s, ag_id *y0);
/* S y = b (k x k, row-major) as formulas, for reading; 0 where they would be long or S is singular. */
ag_id ag_kernel_solve(ag_graph *g, int k, const ag_id *S, const ag_id *b);

/* [c*v[1], c*v[2], c*v[3]] as c*v; others as they are. */
ag_id ag_as_vector(ag_graph *g, ag_id x);

/* eliminate.c */
ag_status ag_eliminate(derive *d);

/* motion.c: all tapes */
ag_status ag_motion(derive *d);
/* Derivative of outs along the motion: coordinates move with velocity[], time with 1, processes with their drift. */
void ag_along_motion(derive *d, const ag_id *velocity, int n_out, const ag_id *outs, ag_id *rates);
/* E = p.xi - l, in the terms of l. */
ag_id ag_energy(ag_graph *g, ag_id lagrangian, int n, const ag_id *xi);
ag_id ag_kept_rows(derive *d); /* their column in (q, xi, t); 0 when there is none */

/* noise.c. terms: sigma and pull of every channel; a transport is completed. eliminated, saddle: what moves in a step
 * (d->moved, d->moved_u); p, brace: in u; ell: per coordinate. fields: the role NOISE. classify: noise_class. */
ag_status ag_noise_terms(derive *d);
void ag_noise_eliminated(derive *d, const ag_id *p, const ag_id *brace);
void ag_noise_saddle(derive *d, const ag_id *ell);
void ag_noise_fields(derive *d);
void ag_noise_classify(derive *d);
void ag_noise_drive(derive *d); /* with drivers: from now on the system has no noise */
/* motion.c: ad*_xi p of coordinate i; dq in stored coordinates; expressions with xi replaced by its value in u; u' from
 * the mass matrix. */
ag_id ag_coadjoint(derive *d, int i, ag_id p, ag_id xi);
ag_id ag_stored_rate(derive *d, int i, ag_id xi);
void ag_in_u(derive *d, int n, ag_id *x);
ag_id ag_solve_mass(derive *d, ag_id right);

void ag_state_nodes(const derive *d, ag_id *out); /* bind.c: the numbers of z */

/* align.c: the role ALIGN; the role AGREE, where it can be made; solved: solved_x in the inputs of z. turned:
 * q (1, delta/2) of length 1, the rotation moved by delta, to first order. */
void ag_align(derive *d);
void ag_agree(derive *d, const ag_id *solved);
/* related.c: solved_x, for numbers that are not core (per number of q). */
void ag_relations_solve(derive *d, const bool *core);
/* With the role AGREE: expressions with these numbers replaced. */
void ag_relations_insert(ag_system *sys, int n_out, ag_id *outs);
void ag_quaternion_turned(ag_graph *g, const ag_id *q, const ag_id *delta, ag_id *out);

/* turn.c: how the bases turn, into d->turn */
void ag_turn(derive *d);

/* project.c: the change of q that takes it onto the position constraints, in (q, t); 0: there is none, or it is too
 * long */
ag_id ag_project_step(derive *d);

/* closure.c: sys->cost, when the rows are known */
void ag_closure_predict(derive *d);

/* saddle.c: large systems */
bool ag_is_large(const derive *d);            /* too large to be eliminated */
bool ag_is_large_by_request(const derive *d); /* the options ask for it; otherwise it would be eliminated */
void ag_saddle_rows(derive *d);               /* the tape of the rows; sparse position tape */
void ag_saddle_choose(derive *d);             /* u is xi */
/* Accelerations from the saddle system; ell: per coordinate. Makes the tapes around it. */
ag_id ag_saddle_motion(derive *d, const ag_id *ell);
/* The same matrix with another right side: top per coordinate, low of the kept rows. The velocities. */
ag_id ag_saddle_solve(derive *d, const ag_id *top, ag_id low);
/* The lower triangle of a symmetric matrix, from all its entries. */
void ag_lower_triangle(ag_system *sys, const ag_sparse *full, ag_places *out);

/* sparse.c: the same in numbers */
ag_status ag_sparse_rank(derive *d);
/* Newton onto g = 0 with the shortest changes of the coordinates that are not held (held may be NULL); true if it
 * converged. */
bool ag_sparse_position(const ag_system *sys, double t, const double *params, const bool *held, double *q);
/* The smallest velocities, apart from those held, that satisfy S xi + s = 0; returns the residual. */
double ag_sparse_velocity(const ag_system *sys, double t, const double *params, const double *q, const bool *held,
                          double *xi);
/* Adds to d the shortest change of what is not held that changes the relations, or the rows of S xi + s, by -e. */
void ag_sparse_correct(const ag_system *sys, bool velocity, double t, const double *params, const double *x,
                       const bool *held, const double *e, double *d);
ag_status ag_sparse_mass(derive *d);
/* Is M positive definite? If not, *worst is a velocity where it is not. */
bool ag_sparse_positive(const ag_system *sys, const double *entries, int *worst);

/* cancel.c: momentum and force without the coordinates that drop out of them */
void ag_cancel_coordinates(derive *d);
/* second.c: the mass matrix of momentum and force, in the way that takes fewer operations */
ag_id ag_second_mass(derive *d);

/* core.c: what is integrated; tapes of the reduced state. rates: u' (0 without u); stored_rates: per coordinate. */
void ag_core(derive *d, ag_id rates, const ag_id *stored_rates);
ag_tape *ag_reduced_tape(ag_system *sys, int n_out, const ag_id *outs);
int ag_unit_row(ag_graph *g, ag_id c); /* i when c is row i of the identity: then R[i,j] = (R^T e_i)[j]; else -1 */
/* In expressions on z: R v by the quaternion, where that is cheaper than the matrix (rotate.c). */
void ag_rotate_vectors(const ag_system *sys, int n, ag_id *outs);
ag_tape *ag_motion_tape(ag_system *sys, int n_out, const ag_id *outs); /* sums of products are factored */

/* power.c: S^T lambda per coordinate, in (q, u, u', t), rates: u'. Not with AG_ELIM_SADDLE. */
void ag_reactions(ag_system *sys, ag_id rates, ag_id *out);

/* observe.c: reactions, observables and events */
void ag_observe(derive *d);
/* Replaces the names of energy, frame velocities and forces by expressions in the state and lambda. */
void ag_expand_builtins(ag_system *sys, int n, ag_id *x);

/* start.c */
/* The first margin of the model that is not positive at q, or NULL. */
const ag_item *ag_margin_broken(ag_system *sys, double t, const double *params, const double *q);
/* What the constraints were solved for in a start: components of q and xi, and the rows from which xi was solved (kept
 * ones, then those of the frame; not with AG_ELIM_SADDLE, which uses all of them). projected: xi violated the
 * constraints and was moved by the smallest correction in the metric M. */
typedef struct ag_solved {
  bool *q, *xi, *rows, projected;
} ag_solved;
/* solved may be NULL. */
ag_status ag_start_positions(ag_ctx *ctx, ag_system *sys, double t0, const double *params, bool strict, double *q,
                             ag_solved *solved);
ag_status ag_start_velocities(ag_ctx *ctx, ag_system *sys, double t0, const double *params, bool strict,
                              const double *q, double *xi, ag_solved *solved);

/* why.c: the tapes that are monitored during runs */
void ag_guards(derive *d);
const ag_system *ag_work_system(const ag_work *w);

/* undetermined.c: reports observables that are forces which redundant rows do not determine */
void ag_undetermined(derive *d);

/* mass.c */
ag_status ag_mass_check(derive *d);

/* growth.c */
void ag_growth_find(derive *d);
/* ---- linearisation ---- */

/* A matrix by its entries (jacobian.c). x = 0: a place without a term. gather: in order, terms of one place added up.
 * table: makes that of a role where factoring fills less than half of the m x m matrix; marks: as in ag_pattern. */
enum { AG_MOST_DENSE = 32 }; /* unknowns up to which matrices are always dense */
typedef struct ag_matrix_entry {
  int row, col, order;
  ag_id x;
} ag_matrix_entry;
typedef struct ag_entries {
  ag_graph *g;
  ag_matrix_entry *at;
  int n, cap;
} ag_entries;
void ag_entries_add(ag_entries *e, int row, int col, ag_id x);
void ag_entries_gather(ag_entries *e);
bool ag_entries_table(ag_system *sys, int role, int m, const ag_entries *e, const unsigned char *marks);

/* The inputs of z and the rows of a field in tangent coordinates, in the same order (jacobian.c). */
typedef struct ag_linear {
  ag_system *sys;
  ag_graph *g;
  int n_in, n_row;
  ag_id *inputs, *rows;
  const ag_id *dz, *velocity;         /* what is linearised: rows of z, and the velocities that rotations have in it */
  int *turn_row, *turn_coord, n_turn; /* where the rotations are */
  int n_col, *image_col;              /* columns of the inputs; where those of each image begin */
} ag_linear;
/* turned: images move with their rotations, and have no rows. */
void ag_linear_init(ag_linear *l, ag_system *sys, bool turned, const ag_id *dz, const ag_id *velocity);
void ag_linear_done(ag_linear *l);
/* Rows of the field BATH and the velocities of rotations in it; false: there is none (bath.c). */
bool ag_bath_field(ag_system *sys, ag_id *rows, ag_id *turns);
/* The rate of the quaternion of rotation q with the angular velocity xi in the body: 4 entries. */
void ag_quaternion_rate(ag_graph *g, ag_id q, ag_id xi, ag_id *r);
#endif
