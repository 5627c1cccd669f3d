/* SPDX-License-Identifier: MIT
 * What is conserved, why, and whether that is proved; included by study.h. */
#ifndef AG_STUDY_CONSERVE_H
#define AG_STUDY_CONSERVE_H
#include "api/api.h"
#include "base/text.h"
#include "study/gibbs.h"

typedef enum ag_conserved { AG_CONSERVED_NO, AG_CONSERVED_YES, AG_CONSERVED_UNDECIDED } ag_conserved;
typedef enum ag_proof {
  AG_PROOF_NONE,
  AG_PROOF_IDENTITY, /* the rate vanishes over a prime field */
  AG_PROOF_WITNESS,  /* the rate at one state, enclosed, is not 0 */
  AG_PROOF_NUMERICAL /* 256-bit evaluation at many states: not a proof */
} ag_proof;

/* One quantity and its verdict. */
typedef struct ag_quantity {
  const char *name, *kind; /* "energy", "momentum", "moving energy", "observable", "integral" */
  const char *class;       /* of a momentum, and of linear integrals; or NULL */
  const char *formula;     /* or NULL */
  ag_id x;                 /* the quantity */
  ag_conserved verdict;
  ag_proof proof;
  double bound;        /* of an identity: the probability of an error */
  double rate, lo, hi; /* of a witness */
  double *state;       /* of a witness: the numbers of q, then of xi, as the model has them; SO3 nine */
  double t;
  const char *reason;
  const char *jump;               /* where the rate vanishes: "it jumps where x = 0"; NULL: it is continuous */
  const char *with_noise;         /* "pathwise", "mean", "no", "undecided"; NULL: the model has no noise */
  double drift;                   /* largest distance from its value at the start in a run that confirms */
  bool invariant, on_constraints; /* of a generator Z: Z(L) = 0; Z(L) = 0 on the constraints */
  bool keeps;                     /* it keeps the constraints */
  bool in_D, in_R;                /* Z is in D; the reaction does no work along it */
  bool projected;                 /* its part in D has the same momentum */
  bool symmetric;                 /* invariant under the symmetries that keep the constraints */
  bool generated, along;          /* it has a generator; one along the orbits of the symmetries */
  bool weakly;                    /* conserved for every potential that the generators with Z(L) = 0 leave invariant */
  const char *rate_formula;       /* if it is not conserved; NULL: too long */
  const char *field;              /* the generator of a momentum, or of another integral; NULL: too long */
  const char *field_in_D;         /* the part in D of the generator of a momentum; NULL: too long */
} ag_quantity;

/* A field Z, a column over the velocities, that leaves the Lagrangian invariant. */
enum { AG_MAX_SYMMETRY = 24 };
typedef struct ag_symmetry {
  ag_id Z;
  bool declared, keeps; /* by a generator of the model; it keeps the constraints */
  const char *field;    /* "x' = 1, y' = x"; NULL: too long */
} ag_symmetry;

/* An invariant measure exp f(q) dq dxi on the constraints, f single-valued; f also depends on t where the equations
 * do. */
typedef struct ag_measure {
  ag_conserved verdict;
  ag_proof proof;
  double bound;          /* of an identity */
  const char *density;   /* exp f, as text; NULL: too long, or none */
  const char *variables; /* the velocities it refers to */
  const char *reason;
  double lo, hi; /* of a contradiction: bounds of a value that should be 0 */
  double *state; /* and its state, as in ag_quantity */
  double t;
  ag_id f_exp; /* the density; 0: none */
  bool timed;  /* f depends on t */
} ag_measure;

/* The measure in numbers: a tape of the full state with exp f and the independent rows of S, those of positions last.
 */
typedef struct ag_density {
  ag_tape *tape;
  bool needs_lambda;
  int n, rank, n_position; /* velocities; rows of S; those of positions among them */
} ag_density;
/* False: none is known. The tape is the caller's. Extends the graph of the model. */
bool ag_conserve_density(ag_ctx *ctx, ag_system *sys, ag_density *out);

/* Integrals c(r).w + f(r), r one function of the coordinates and w linear in the velocities. c and f solve linear
 * differential equations dc/dr = -c C(r), df/dr = -c.k(r), and are given as a table. c = 1 and f = 0 at the start. */
enum { AG_MAX_TABLE = 8 };
typedef struct ag_shape {
  int n, n_new; /* how many integrals; how many more than have formulas. 0: none */
  ag_id r, w[AG_MAX_TABLE];
  const char *r_text, *w_text[AG_MAX_TABLE]; /* NULL: too long */
  bool homogeneous, symmetric;               /* f = 0; the symmetries that keep the constraints leave r and w */
  double bound;                              /* probability that the equations do not depend on r alone */
  double r0;
  int n_row;
  double *rows; /* of each: r, then of every integral c and f */
  struct ag_tabulator *tabulator;
  double drift[AG_MAX_TABLE]; /* as for quantities, as far as the table extends; NaN: nowhere */
} ag_shape;
/* Rows of the table at n ascending values of r; returns how many of them can be reached from the start, from *first
 * on. */
int ag_shape_rows(const ag_shape *s, int n, const double *r, double *rows, int *first);

/* Values of a coordinate that is swept at which the annihilator, or D, is larger than elsewhere. */
typedef struct ag_places {
  int n;
  double *at;
} ag_places;

typedef struct ag_conservation {
  struct ag_geom *geom;
  ag_arena *arena;
  int n, cap;
  ag_quantity *at;
  int n_symmetry; /* those declared and those found; -1: not searched */
  ag_symmetry symmetries[AG_MAX_SYMMETRY];
  int n_state, n_velocity;    /* numbers of a witness; velocities */
  const char *unsearched;     /* why no search was made; NULL: it was, or was not requested */
  int dimension, n_disguised; /* of the leaf; velocity constraints that are holonomic in disguise */
  int rank_D, rank_R;         /* of D and of the reaction annihilator R, in the leaf; -1: unknown */
  bool sampled;               /* the reaction is not a polynomial in the velocities */
  double *basis;              /* of the reaction annihilator, rank_basis rows in velocities, at `at` or the start */
  int rank_basis;
  const char *swept; /* a coordinate; NULL: none */
  int rank_swept;    /* of the annihilator along it, except at single values: */
  ag_places changes, changes_D;
  bool power_time, power_force, power_constraints; /* which of the powers of the energy do not vanish */
  const char *time_formula, *force_formula, *constraint_formula;
  /* of affine constraints, whose power is rest(u) + eta.dV: the components of eta, NULL where they are long */
  const char **eta;
  bool rest_power; /* does rest(u) not vanish? */
  /* integrals found with coefficients that are polynomials of a degree: a(q).u + f(q), and quadratic ones (all, without
   * constants); -1: not searched */
  int linear, quadratic, linear_degree, quadratic_degree;
  int of_symmetries;                 /* further linear ones that are momenta of symmetries */
  int twisted;                       /* linear ones with a factor */
  int linear_given, quadratic_given; /* the degrees before velocities that the constraints give; -1: not among them */
  int n_independent;                 /* functionally independent integrals among those that are proved; -1: unknown */
  ag_measure measure;
  ag_shape shape;
  ag_gibbs gibbs; /* of the model with its own potential */
  /* Dimensions of the phase space and of the orbits of the symmetries that keep the constraints, integrals that they
   * leave as they are; -1: unknown. By quadratures: phase - orbits - 1 integrals, or one less and a measure. */
  int n_phase, n_orbit, n_symmetric;
  bool integrable, by_measure;
  const char *left_out; /* observables that read forces of constraint, "a, b"; NULL: none */
  double confirmed;     /* time up to which a run went; NaN: none was made */
  const char *cut;      /* why it ended before the time that was asked for; NULL: it did not */
  double rtol, atol;    /* tolerances of its steps */
  long n_moment;        /* of that run: t, the n quantities and those of the table after every step, */
  double *moments;      /* [moment][1 + n + shape.n] */
} ag_conservation;

typedef struct ag_conserve_options {
  const char *potential; /* replaces the potential: "V=EXPR" or EXPR; or NULL */
  const char *at;        /* "NAME=VALUE,...": ranks at these coordinates, the others being generic; or NULL */
  const char *sweep;     /* "NAME=LO:HI:N": where along it the rank of the annihilator changes; or NULL */
  int degree;            /* of the searches; < 0: chosen */
  bool search;
} ag_conserve_options;

AG_MUST_USE ag_status ag_conserve(ag_conservation *c, ag_ctx *ctx, ag_model *m, ag_system *sys,
                                  const ag_conserve_options *o);
/* `expect conserved`, with the parameters of `when`. */
ag_status ag_conserve_expect(ag_ctx *ctx, ag_system *sys, const ag_expect *e, ag_verdict *v);
/* Runs the model from its start to a time and records the drift of every quantity. */
AG_MUST_USE ag_status ag_conserve_confirm(ag_conservation *c, ag_ctx *ctx, ag_system *sys, double time, long max_steps);
/* dQ = drift dt + sum noise o dW, Stratonovich, of the energy and of every observable: which of them vanish. */
typedef enum ag_rate_word { AG_RATE_ZERO, AG_RATE_ZERO_SEEN, AG_RATE_NOT_ZERO, AG_RATE_UNDECIDED } ag_rate_word;
typedef struct ag_rate {
  const char *name; /* of the quantity */
  const char *of;   /* "dt", "dW" with the name of the process, "mean": the drift of Ito */
  ag_rate_word word;
  const char *formula; /* NULL: long, or 0 */
  bool unsolved;       /* it contains accelerations (Omega', x''), or their coefficients in the noise of the process */
} ag_rate;
typedef struct ag_rates {
  ag_conservation c;
  int n, cap;
  ag_rate *at;
} ag_rates;
AG_MUST_USE ag_status ag_conserve_rates(ag_rates *r, ag_ctx *ctx, ag_model *m, ag_system *sys);
void ag_rates_done(ag_rates *r);
const char *ag_rate_text(ag_rate_word word); /* "zero, proved" */
void ag_conservation_done(ag_conservation *c);
const char *ag_conserved_word(ag_conserved v);
const char *ag_proof_word(ag_proof p); /* NULL: none */
#endif
