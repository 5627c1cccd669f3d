/* SPDX-License-Identifier: MIT
 * Inside conserve: shared by its files. */
#ifndef AG_STUDY_CONSERVE_INTERNAL_H
#define AG_STUDY_CONSERVE_INTERNAL_H
#include "study/conserve.h"
#include "study/probe.h"

enum { AG_MAX_FACTOR = 12 };
typedef struct ag_conserving {
  ag_conservation *c;
  ag_model *m;
  ag_system *sys;
  ag_geom *x;
  ag_flint *flint;
  ag_probe probe;
  ag_enclosed *states; /* enclosed states, made on demand */
  int n_state, n_tried;
  const bool *fixed; /* by --at: per number of q, whether it is held at fixed_at; NULL: none is */
  const double *fixed_at;
  ag_id acceleration; /* solved for; 0: unknown */
  bool quiet;         /* without the friction of a temperature */
  int n_factor;       /* factors of the density of the invariant measure, and of determinants */
  ag_id factor[AG_MAX_FACTOR];
} ag_conserving;

/* conserve.c: the common setup, with another Lagrangian (0: that of the model). */
AG_MUST_USE ag_status ag_conserve_begin(ag_conserving *v, ag_ctx *ctx, ag_id lagrangian, const ag_changed *changed);
void ag_conserve_end(ag_conserving *v);
/* The rate of a quantity: identity, witness, or numbers. */
void ag_conserve_decide(ag_conserving *v, ag_quantity *q);
/* Adds a quantity and decides it. */
ag_quantity *ag_conserve_add(ag_conserving *v, const char *name, const char *kind, ag_id x);
/* conserve_jump.c: NULL if no jump of x is seen, else "it jumps where x = 0". bends: it has branches that the
 * motion may leave. by_velocity: only those that velocities decide. */
const char *ag_conserve_jump(ag_conserving *v, ag_id x, bool by_velocity, bool *bends);
/* Forces that jump with the velocities hold motions on the switching surface: a body sticks. The rate of x is a
 * mean of those on both sides there, unless x has a corner; NULL: it has none. */
const char *ag_conserve_stick(ag_conserving *v, ag_id x);
/* conserve_print.c: as text in the arena; NULL when it is long. */
const char *ag_conserve_print(ag_conserving *v, ag_id x);
/* conserve_rank.c: ranks of D and of the reaction annihilator inside the leaf. */
AG_MUST_USE ag_status ag_conserve_ranks(ag_conserving *v, ag_ctx *ctx, const char *at);
/* Basis of the kernel of the rank x n echelon form A with these pivots: n - rank rows. */
void ag_conserve_kernel(const ag_field *f, int n, int rank, const uint64_t *A, const int *pivots, uint64_t *B);
/* Adds one without deciding it. */
ag_quantity *ag_conserve_append(ag_conserving *v, const char *name, const char *kind, ag_id x);
/* The same with the velocities that the constraints give put in, or as a polynomial of the coordinates, if that is
 * shorter. */
const char *ag_conserve_print_short(ag_conserving *v, ag_id x);
/* A column over the velocities whose parts can be printed, as far as that is known. */
ag_id ag_conserve_plain_field(ag_conserving *v, ag_id Z);
/* x with the velocities that the constraints give, one by one, replaced by what they give; 0: they do not. */
ag_id ag_conserve_given(ag_conserving *v, ag_id x);
/* x with the accelerations solved for; NULL when it is long. */
const char *ag_conserve_print_solved(ag_conserving *v, ag_id x);
/* The rate with the accelerations solved for; NULL when it is long. */
const char *ag_conserve_print_rate(ag_conserving *v, ag_id x);
void ag_conserve_noise(ag_conserving *v); /* conserve_noise.c: of all quantities */
/* Is one of the expressions not 0 at a state, enclosed? */
bool ag_conserve_nonzero(ag_conserving *v, int n, const ag_id *x);
/* One quantity: "pathwise", "mean", "no", "undecided". */
const char *ag_conserve_pathwise(ag_conserving *v, ag_id Q);
bool ag_conserve_homogeneous(ag_conserving *v); /* are all constraints linear in the velocities: s = 0? */
void ag_conserve_energy(ag_conserving *v);      /* conserve_power.c */
/* The k-th enclosed state; NULL: there are no more. */
const ag_enclosed *ag_conserve_state(ag_conserving *v, int k);
void ag_conserve_forget(ag_conserving *v); /* all of them */
/* The numbers of a state, as ag_quantity keeps them. */
double *ag_conserve_numbers(ag_conserving *v, const ag_enclosed *e, double *t);

/* measure.c: is there an invariant measure exp f(q)? */
void ag_conserve_measure(ag_conserving *v);
enum { AG_MAX_FIELD = 12 };
/* A field and df along it; how many brackets deep it is. */
typedef struct ag_spanned {
  ag_id *Y, df;
  bool along_t; /* it moves t as well, at the rate 1 */
  int depth;
} ag_spanned;
typedef struct ag_measuring {
  ag_conserving *v;
  ag_measure *m;
  ag_id div;
  bool timed;           /* the equations depend on time */
  int rank, *dependent; /* velocities that the constraints give from the others */
  int n;
  ag_spanned at[AG_MAX_FIELD + 1]; /* independent at a generic point; the last one is tried */
  ag_point point;
} ag_measuring;
void ag_measure_decide(ag_measuring *s, ag_conserved verdict, ag_proof proof, const char *reason);
/* density.c: looks for f in closed form, and decides when it finds it. */
void ag_measure_find(ag_measuring *s);
ag_id ag_measure_columns(const ag_measuring *s); /* those of S that belong to the dependent velocities */

/* conserve_basis.c: the annihilator in numbers; conserve_line.c: where its rank changes along "NAME=LO:HI:N". */
void ag_conserve_basis(ag_conserving *v);
AG_MUST_USE ag_status ag_conserve_sweep(ag_conserving *v, ag_ctx *ctx, const char *text);
/* A coordinate that is swept: which number of q, and its n values. */
typedef struct ag_swept {
  const char *name;
  int k, n;
  double lo, hi;
} ag_swept;
AG_MUST_USE ag_status ag_conserve_read_sweep(ag_conserving *v, ag_ctx *ctx, const char *text, ag_swept *s);
/* conserve_rank.c: is w, a column over the velocities, in the span of the others at a generic point? */
bool ag_conserve_spans(ag_conserving *v, int n, const ag_id *columns, ag_id w);
/* The rank of n columns at a generic state; -1: unknown. */
int ag_conserve_generic_rank(ag_conserving *v, int n, const ag_id *columns);
/* How many of the integrals that are proved, and of x (0: none), are functionally independent on the constraints; -1:
 * unknown. FOUND: of those that the search has found, and the energy; SYMMETRIC: of those that the symmetries keep. */
typedef enum ag_which { AG_ALL, AG_FOUND, AG_SYMMETRIC } ag_which;
int ag_conserve_independent(ag_conserving *v, ag_which which, ag_id x);
/* conserve_whole.c: do integrals, symmetries and a measure integrate the system? */
void ag_conserve_whole(ag_conserving *v);
bool ag_conserve_autonomous(ag_conserving *v); /* no explicit time */

/* conserve_symmetry.c: fields Z, columns over the velocities, with Z(L) = 0: those that are declared and the others. */
void ag_conserve_symmetries(ag_conserving *v, int n_declared, const ag_id *declared);
ag_id *ag_conserve_split(const ag_geom *x, ag_id column);            /* per coordinate, in an array of the arena */
const char *ag_conserve_print_field(ag_conserving *v, ag_id column); /* "x' = 1, y' = x"; NULL when it is long */
/* conserve_generator.c: the class of what is conserved and linear in the velocities. */
void ag_conserve_classify(ag_conserving *v);

/* conserve_atoms.c: the building blocks of the functions of a search. */
enum { AG_MAX_UNKNOWN = 400, AG_MAX_ATOM = 36, AG_MAX_IDLE = 36 };
typedef struct ag_atoms {
  int n;                /* of the configuration */
  ag_id x[AG_MAX_ATOM]; /* coordinates, cosines and sines, R^T e3 */
  int n_idle;           /* coordinates that do not enter the motion: alone or times a velocity */
  ag_id idle[AG_MAX_IDLE];
  int n_turn; /* entries of rotations that do not enter the motion: the same */
  ag_id turn[AG_MAX_IDLE];
  ag_id potential; /* times 1 and the first powers: 1/r and x/r of Kepler's problem */
  int n_velocity, n_given, n_all;
  ag_id velocity[3 * AG_MAX_ATOM], all[3 * AG_MAX_ATOM]; /* without those that the constraints give; with them */
  ag_id given[3 * AG_MAX_ATOM]; /* those, where they are no polynomials in the others: x' = y' tan(h) */
} ag_atoms;
bool ag_conserve_atoms(ag_conserving *v, ag_atoms *a); /* false: too many, or there are no points */
/* x as a combination of few monomials in the coordinates times 1, velocities and products of two; 0: it is none. */
ag_id ag_conserve_as_combination(ag_conserving *v, ag_id x);

/* conserve_space.c */
/* Functions of the state, in the order in which they are preferred. */
typedef struct ag_functions {
  int n, cap;
  ag_id *x;
  int n_known; /* the first ones are known to be conserved */
} ag_functions;
void ag_functions_push(ag_functions *s, ag_id x);
/* The largest degree up to the wanted one whose functions are few enough, which are put in s, then the largest with
 * which those of given velocities fit in, too; -1: none. */
int ag_conserve_choose(ag_conserving *v, const ag_atoms *a, int degree, int power, ag_functions *s, int *of_given);
/* All combinations with constant coefficients whose rate, plus twist times itself (0: none; else the functions must be
 * thin), vanishes. found[] gets the
 * new ones, at most room, 0 for one whose numbers are too long; the number of all, without constants, is returned; -1:
 * not possible. */
int ag_functions_solve(ag_conserving *v, ag_functions *s, ag_id twist, int room, ag_id *found, int *n_found);
/* Keeps the functions whose values are independent of those before and of 1; false: there are no points. */
bool ag_functions_thin(ag_conserving *v, ag_functions *s);
/* Values of n expressions at random points, in echelon form modulo each prime. Columns are expressions; of one that
 * is a column itself every entry counts. */
typedef struct ag_echelon {
  int n, rank;
  uint64_t *A[AG_FIELD_PRIMES];
  int *pivots;
} ag_echelon;
/* any_velocity: not only those of the constraints. False: there are no points, or the primes disagree. */
bool ag_conserve_reduce(ag_conserving *v, int n, const ag_id *x, bool any_velocity, ag_echelon *e);
void ag_echelon_done(ag_echelon *e);
/* The combination of x[] with the numbers of the kernel vector that belongs to column j, which is no pivot; 0: a number
 * is no fraction of whole numbers below 2^58. */
ag_id ag_functions_combine(ag_graph *g, const ag_id *x, const ag_echelon *e, int j);
/* All monomials of n functions up to a degree, 1 first, those of low degree before others; -1: more than room. */
int ag_conserve_monomials(ag_graph *g, int n, const ag_id *x, int degree, ag_id *out, int room);
/* Monomials of the coordinates (cosines and sines, R^T e3) up to a degree, without 1; returns how many, at most room.
 */
int ag_conserve_functions(ag_conserving *v, int degree, int room, ag_id *out);
/* Marks the velocities that the constraints give from the others, the last ones preferred. */
void ag_conserve_dependent(const ag_probe *p, const ag_point *at, bool *dependent);
/* The value of a function of the coordinates at the start. */
double ag_conserve_at_start(const ag_conserving *v, ag_id x);
/* conserve_factor.c: puts irreducible factors of the determinants of the model, and of the density, in v->factor. */
void ag_conserve_factors(ag_conserving *v);
/* The same function as a polynomial of low degree in these, with numbers for the parameters, if it is one. */
ag_id ag_conserve_readable(ag_conserving *v, ag_id x);
/* num/den as a node whose readers know it exactly. */
ag_id ag_conserve_fraction(ag_graph *g, int64_t num, int64_t den);
/* Entry (row, column) as a fraction; false: none below 2^58. */
bool ag_echelon_fraction(const ag_echelon *e, int r, int j, int64_t *num, int64_t *den);
void ag_conserve_moving(ag_conserving *v);
ag_id ag_conserve_moving_energy(const ag_conserving *v); /* the one that was found; 0: none */
void ag_conserve_leaf(ag_conserving *v);                 /* relations of the coordinates that the constraints keep */
void ag_conserve_search(ag_conserving *v, int degree);
/* Monomials of the configuration up to a degree, times velocities: their number; 0: too many for the room. */
int ag_conserve_linear(ag_conserving *v, int degree, int room, ag_id *out);
/* conserve_shape.c: integrals whose coefficients solve linear equations along one function of the coordinates. */
void ag_conserve_shape(ag_conserving *v);
/* conserve_table.c: prepares the numerical evaluation of these equations, and the table; false: they are singular. */
bool ag_table_open(ag_conserving *v, ag_shape *s);
void ag_tabulator_free(struct ag_tabulator *a);
#endif
