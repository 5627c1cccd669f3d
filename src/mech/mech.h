/* SPDX-License-Identifier: MIT
 * Symbolic mechanics: front header of mech/. From an ag_model to an ag_system: everything that can be computed about
 * it, as tapes over (t, state, parameters, basis data).
 *
 * Two states are used. The full state is the exchange state x = [q | xi]: stored coordinates, followed by the states of
 * processes, and all quasi-velocities. The reduced state is z = [core | rest]. The core is what the motion itself
 * needs: the coordinates that enter the equations, the body images R^T c of fixed vectors where a rotation enters only
 * through them, and the independent velocities u. The rest are coordinates that are only reconstructed (cyclic
 * positions, orientations): they never influence the core. Formulas: docs/theory/1-formalism.md.
 *
 * A const ag_system is never changed: what extends the graph or makes a tape takes an ag_system that is not const. */
#ifndef AG_MECH_MECH_H
#define AG_MECH_MECH_H
#include "base/status.h"
#include "model/model.h"

typedef struct ag_system ag_system;

#include "mech/layout.h" /* names, shapes and places of all quantities */
#include "mech/role.h"   /* tapes by what they compute */
#include "mech/work.h"   /* evaluating them */

/* ---- derivation ---- */

typedef struct ag_derive_options {
  bool strict;      /* refuse a start that had to be projected */
  bool growth;      /* compute the growth vector */
  bool saddle;      /* treat constraints as in a large system, whatever the size */
  bool multipliers; /* the same where forces or the Lagrangian switch: to be run with multipliers, branch by branch */
  bool by_cost;     /* the same where it is predicted to cost less (closure.c): for what needs right-hand sides alone */
  bool start_only;  /* only what completes a start */
  bool symbolic;    /* write bases of admissible velocities as formulas where possible: for reading, not for running */
  double t0;
} ag_derive_options;

/* Derives everything. Problems (redundant, inconsistent, rank-deficient constraints, singular mass matrix, a start that
 * cannot be completed) are reported to ctx. The model must outlive the system; its graph is extended. */
AG_MUST_USE ag_status ag_system_create(ag_ctx *ctx, ag_model *m, const ag_derive_options *options, ag_system **out);
void ag_system_free(ag_system *sys);

/* ---- queries ---- */

/* How velocities are eliminated (docs/design/0004). */
typedef enum ag_elimination {
  AG_ELIM_NONE,   /* no constraints */
  AG_ELIM_SOLVED, /* every row gives one velocity in closed form */
  AG_ELIM_FRAME,  /* the independent velocities of a `frame` statement */
  AG_ELIM_BASIS,  /* some velocities through a basis of ker S, which is data and is renewed */
  AG_ELIM_SADDLE  /* not at all: u is xi, and the sparse saddle system gives xi' and the multipliers (large systems) */
} ag_elimination;

/* Operations of a right-hand side, predicted for each closure: what it has beyond the other one. 0, 0: not predicted,
 * the system is small, has more than 64 velocities, or a frame. */
typedef struct ag_closure_cost {
  double eliminated, sparse;
} ag_closure_cost;

typedef enum ag_row_kind { AG_ROW_CONSTRAINT, AG_ROW_HOLONOMIC, AG_ROW_PRESCRIBE } ag_row_kind;

/* One scalar row of S xi + s = 0. */
typedef struct ag_row {
  ag_row_kind kind;
  int item, component; /* which statement of its kind, which component of it */
  bool kept;           /* false: redundant, dropped with a note */
  int lambda;          /* index of its multiplier, -1 if dropped */
  ag_pos pos;
} ag_row;

/* Integrability at the start and in the domain: dimensions of D, D + [D, D], ... */
typedef struct ag_growth {
  bool in_time; /* in the space of (q, t), for affine and time-dependent constraints: one more dimension */
  int n, dims[4];
  int n_disguised; /* velocity constraints that are holonomic in disguise; -1: undecided at this depth */
} ag_growth;

/* Of a noise channel, per coordinate: the transport velocity in (q, t), and what moves the momentum, in (q, xi, t). */
const ag_id *ag_system_sigma(const ag_system *sys, int channel);
const ag_id *ag_system_amplitude(const ag_system *sys, int channel); /* per process; NULL: there are none */
const ag_id *ag_system_pull(const ag_system *sys, int channel);
const ag_dims *ag_system_dims(const ag_system *sys);
const ag_model *ag_system_model(const ag_system *sys);
ag_model *ag_system_open_model(ag_system *sys); /* the same, to add expressions */
ag_graph *ag_system_graph(ag_system *sys);      /* to build further expressions */
ag_elimination ag_system_elimination(const ag_system *sys);
ag_closure_cost ag_system_closure_cost(const ag_system *sys);
bool ag_closure_sparse(const ag_system *sys);         /* is the sparse form predicted to cost less? */
bool ag_system_observes_forces(const ag_system *sys); /* do observables read forces of constraint? */
const ag_growth *ag_system_growth(const ag_system *sys);
const ag_row *ag_system_rows(const ag_system *sys);         /* dims.row of them */
const char *const *ag_system_u_names(const ag_system *sys); /* dims.u of them: "Omega[1]", "u", "basis 1" */
const int *ag_system_ranges(const ag_system *sys, int *n);  /* the ranges of the domain that AG_ROLE_DOMAIN checks */
ag_id ag_system_energy(const ag_system *sys);
ag_id ag_system_energy_size(const ag_system *sys); /* kinetic energy + |potential energy| */
/* How the energy changes, by the structure of the equations: not at all (autonomous, no power of forces, linear
 * constraints); by the power F.xi - l_t; also by that of affine constraints, -s.lambda; of a motion with noise:
 * unknown.
 */
typedef enum ag_energy_law { AG_ENERGY_CONSERVED, AG_ENERGY_POWER, AG_ENERGY_DRIVEN, AG_ENERGY_NOISE } ag_energy_law;
ag_energy_law ag_system_energy_law(const ag_system *sys);
const char *ag_energy_word(ag_energy_law law); /* "conserved", "work", "noise" */
/* Noise by the Lie brackets of its fields: none; constant fields; they commute; they do not. A class
 * other than the last is an identity in coordinates, velocities, t and parameters. */
typedef enum ag_noise_class { AG_NOISE_NONE, AG_NOISE_ADDITIVE, AG_NOISE_COMMUTATIVE, AG_NOISE_GENERAL } ag_noise_class;
ag_noise_class ag_system_noise(const ag_system *sys);
const char *ag_noise_word(ag_noise_class noise);
/* Groups of the first n_z numbers of z that keep their length: quaternions, images R^T c. Returns how many; units may
 * be NULL. */
int ag_system_units(const ag_system *sys, int n_z, ag_span *units);
/* Image i, R^T c, in z: its offset, and that of the quaternion of R. False: there are fewer. */
bool ag_system_image(const ag_system *sys, int i, int *at, int *rotation);

/* ---- values ---- */

const double *ag_system_param_values(const ag_system *sys); /* dims.param of them, as the model gives them */
double ag_system_t0(const ag_system *sys);
const double *ag_system_q0(const ag_system *sys); /* the start, completed */
const double *ag_system_xi0(const ag_system *sys);
void ag_system_state0(const ag_system *sys, double *x); /* both, as an exchange state */
/* Parameter values with some of them changed: those that depend on them follow. */
AG_MUST_USE ag_status ag_system_params(ag_ctx *ctx, ag_system *sys, int n_when, const int *when_param,
                                       const ag_id *when_value, double *params);
/* The start for given parameters, completed from the constraints. */
AG_MUST_USE ag_status ag_system_start(ag_ctx *ctx, ag_system *sys, double t0, const double *params, bool strict,
                                      double *q, double *xi);
/* A random full state in the domain that satisfies the constraints, for tests. */
AG_MUST_USE ag_status ag_system_sample(ag_system *sys, ag_work *w, unsigned seed, double *t, double *x);

/* ---- expressions ---- */

/* Expressions in all quantities of the model (energy, frame velocities, drives, reactions) as a tape on [x | lambda],
 * owned by the caller. *needs_lambda: whether the multipliers are read. */
ag_tape *ag_system_tape(ag_system *sys, int n_out, const ag_id *outs, bool *needs_lambda);
/* The same on the reduced state, without basis data; NULL if constraint forces are read. *reads_rest: whether more than
 * the core is read. */
ag_tape *ag_system_reduced_tape(ag_system *sys, int n_out, const ag_id *outs, bool *reads_rest);
/* The same with velocities as separate numbers, where that makes bounds of the expressions much cheaper: sets
 * tape->look and tape->extra (tape.h) of the tape that the function above gave. Those in
 * `without` (may be NULL) need no bounds. */
void ag_system_look_tapes(ag_system *sys, int n_out, const ag_id *outs, const bool *without, ag_tape *tape);
/* Replaces constraint forces in expressions by functions of the state. False, with nothing changed: they are not unique
 * (redundant rows), change during a run (rows that are watched, equations that switch), or are unknowns
 * (AG_ELIM_SADDLE). */
bool ag_system_forces(ag_system *sys, int n_out, ag_id *outs);
/* The rate at which the variance of a number grows on a path with noise, sum (g_i x)^2 over the channels, as an
 * expression that the tapes above take. x must not read constraint forces. */
ag_id ag_system_spread(ag_system *sys, ag_id x);
/* Expressions on a path with noise: the energy by the mass matrix of the independent velocities, and with the role
 * AGREE coordinates that relations determine by their values. */
void ag_system_related(ag_system *sys, int n_out, ag_id *outs);
/* After a step with noise, are reconstructed numbers corrected to agree with images or relations? */
bool ag_system_corrects(const ag_system *sys);
/* Do dependent velocities follow from rows that switch (if, abs, ...)? They are read from a branch. */
bool ag_system_rows_switch(const ag_system *sys);
/* The roles MINOR and FRAGILE, in this order, on the reduced state; NULL if there is neither. bounds: what the minors
 * must stay above. */
ag_tape *ag_system_guard(ag_system *sys);
/* Makes the roles of the multiplier form on a branch: for runs whose constraints may begin or cease to act on the way.
 * dims.full_switches and dims.full_pulses are set. */
void ag_system_branched(ag_system *sys);
const double *ag_system_minor_bounds(const ag_system *sys, int *n);
/* The accelerations xi' of the eliminated equations as a tape on [q | u] with c, to compare with the saddle form. */
ag_tape *ag_system_accel(ag_system *sys);
/* The same for the noise field of a channel: dxi. */
ag_tape *ag_system_noise_accel(ag_system *sys, int channel);
/* The derived equations in normal form, as text or LaTeX. Derive with `symbolic` to read all of them. */
typedef enum ag_show_form {
  AG_SHOW_REDUCED,     /* velocities and their equations of motion with the constraints eliminated, and the energy */
  AG_SHOW_MULTIPLIERS, /* with the multipliers of the constraints */
  AG_SHOW_CONSTRAINTS,
  AG_SHOW_LAGRANGIAN
} ag_show_form;
typedef struct ag_show_options {
  ag_show_form form;
  bool latex, standalone; /* standalone: a complete file for LaTeX */
  double width;           /* of a line in LaTeX, in letters; 0: that of a page of paper */
} ag_show_options;
void ag_system_show(ag_system *sys, const ag_show_options *o, ag_text *out);

#include "mech/along.h" /* derivatives along a direction */
#endif
