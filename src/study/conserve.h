/* SPDX-License-Identifier: MIT
 * What is conserved, why, and whether that is proved; included by study.h. */
#ifndef AG_STUDY_CONSERVE_H
#define AG_STUDY_CONSERVE_H
#include "api/api.h"
#include "base/text.h"

typedef enum ag_conserved { AG_CONSERVED_NO, AG_CONSERVED_YES, AG_CONSERVED_UNDECIDED } ag_conserved;
typedef enum ag_proof {
  AG_PROOF_NONE,
  AG_PROOF_IDENTITY, /* the rate vanishes over a prime field */
  AG_PROOF_WITNESS,  /* the rate at one state, enclosed, is not 0 */
  AG_PROOF_NUMERICAL /* 256-bit evaluation at many states: no proof */
} ag_proof;

/* One quantity and its verdict. */
typedef struct ag_quantity {
  const char *name, *kind; /* "energy", "momentum", "moving energy", "observable", "integral" */
  const char *class;       /* of a momentum; NULL */
  const char *formula;     /* or NULL */
  ag_id x;                 /* the quantity */
  ag_conserved verdict;
  ag_proof proof;
  double bound;        /* of an identity: the chance of an error */
  double rate, lo, hi; /* of a witness */
  double *state;       /* of a witness: the numbers of q, then of xi, as the model has them; SO3 nine */
  double t;
  const char *reason;
  double drift;                   /* largest distance from its value at the start in a run that confirms */
  bool invariant, on_constraints; /* of a generator Z: Z(L) = 0; Z(L) = 0 on the constraints */
  bool keeps;                     /* it keeps the constraints */
  bool in_D, in_R;                /* Z is in D; the reaction does no work along it */
} ag_quantity;

typedef struct ag_conservation {
  struct ag_geom *geom;
  ag_arena *arena;
  int n, cap;
  ag_quantity *at;
  int n_state;                /* numbers of a witness */
  bool opaque;                /* no exact points: `if`, tables, Newton steps of contacts */
  int dimension, n_disguised; /* of the leaf; velocity constraints that are holonomic in disguise */
  int rank_D, rank_R;         /* of D and of the reaction annihilator R, in the leaf; -1: unknown */
  bool sampled;               /* the reaction is no polynomial in the velocities */
  double *basis;              /* of the reaction annihilator, rank_R rows in velocities, at `at` or the start */
  bool power_time, power_force, power_constraints; /* which of the powers of the energy do not vanish */
  const char *time_formula, *force_formula;
  /* integrals found with coefficients that are polynomials of a degree: a(q).u + f(q), and quadratic ones (all, without
   * constants); -1: not searched */
  int linear, quadratic, linear_degree, quadratic_degree;
  double confirmed; /* time up to which a run went; NaN: none was made */
} ag_conservation;

typedef struct ag_conserve_options {
  const char *potential; /* replaces the potential: "V=EXPR" or EXPR; or NULL */
  const char *at;        /* "NAME=VALUE,...": ranks at these coordinates, the others being generic; or NULL */
  int degree;            /* of the searches; < 0: chosen */
  bool search;
} ag_conserve_options;

AG_MUST_USE ag_status ag_conserve(ag_conservation *c, ag_ctx *ctx, ag_model *m, ag_system *sys,
                                  const ag_conserve_options *o);
/* `expect conserved`, with the parameters of `when`. */
ag_status ag_conserve_expect(ag_ctx *ctx, ag_system *sys, const ag_expect *e, ag_verdict *v);
/* Runs the model from its start to a time and records the drift of every quantity. */
AG_MUST_USE ag_status ag_conserve_confirm(ag_conservation *c, ag_ctx *ctx, ag_system *sys, double time);
void ag_conservation_done(ag_conservation *c);
const char *ag_conserved_word(ag_conserved v);
const char *ag_proof_word(ag_proof p); /* NULL: none */
#endif
