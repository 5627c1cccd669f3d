/* SPDX-License-Identifier: MIT
 * Newton's method for F(x) = 0, damped, on the caller's workspace. Every root outside generated code and the stages of
 * steppers is found here: starts, projections onto constraints, levels; later equilibria and continuation.
 *
 * F has m components, x is moved by steps of n components. An iteration evaluates F and its exact Jacobian J in one
 * call, finds the step d with F + J d = 0, and replaces x by x + d, or by the point the step leads to on the manifold
 * that x lies on (retract). How d is found is the kind of the system:
 *
 *   AG_NEWTON_SQUARE    [J; B] d = [-F; 0], m + n_border = n. The rows of B (the border) are directions x must not move
 *                       in. Pseudo-arclength continuation: x is the predicted point, B the tangent of the branch; folds
 *                       are regular points of that system.
 *   AG_NEWTON_SHORTEST  of all d that minimise |F + J d|, the shortest in the metric M: fewer equations than unknowns,
 *                       redundant ones, or more than unknowns (Gauss-Newton).
 *   AG_NEWTON_OWN       the caller solves: sparse systems, factors at hand.
 *
 * The size of F is its largest component, or what the caller says. Equations should be scaled so that an error of 1
 * means the same in each. Matrices are row-major. Nothing is allocated here (dense.h does
 * for the singular values of AG_NEWTON_SHORTEST and for more than 32 unknowns). */
#ifndef AG_MATH_NEWTON_H
#define AG_MATH_NEWTON_H
#include <stdbool.h>
#include <stddef.h>

typedef enum ag_newton_kind { AG_NEWTON_SQUARE, AG_NEWTON_SHORTEST, AG_NEWTON_OWN } ag_newton_kind;

/* The functions get `self` as their first argument; those that are not needed are NULL. */
typedef struct ag_newton_system {
  ag_newton_kind kind;
  int m, n;             /* equations, components of a step */
  int n_x;              /* numbers in x; 0: as many as a step has */
  int n_border;         /* SQUARE: rows of the border */
  const double *border; /* n_border x n */
  const bool *held;     /* SHORTEST: per component, must stay 0; or NULL */
  int rank;             /* SHORTEST: singular values to use at most; 0: all */
  double rank_tol;      /* SHORTEST: those below this times the largest count as 0; 0: max(m, n) epsilon */
  void *self;
  /* F and J (m x n, directly behind F, so that a tape of both may write there; OWN: no room, NULL). False: F has no
   * value at x. When ag_newton returns, the last call was at the x it returns (unless `trust` ended it). */
  bool (*eval)(void *self, const double *x, double *F, double *J);
  /* Moves x along d; NULL: x += d. */
  void (*retract)(void *self, double *x, const double *d);
  /* SHORTEST with m <= n: M at x (n x n, positive definite on the kernel of J), which the caller keeps until the next
   * call; NULL: the identity. */
  const double *(*metric)(void *self, const double *x);
  /* OWN: the step from F at x, where eval was called last. False: singular. */
  bool (*solve)(void *self, const double *x, const double *F, double *d);
  /* The size of F; evaluated again after a solve, which may drop equations it cannot change. */
  double (*size)(void *self, const double *F);
} ag_newton_system;

/* X(type, name, default, text). Sizes are sizes of F, lengths are largest components of a step. 0 switches off. */
#define AG_NEWTON_OPTIONS(X) \
  X(int, max_iter, 50, "steps at most") \
  X(double, tol, 1e-14, "converged at this size") \
  X(double, still, 0, "a first x of this size is left as it is (0: tol)") \
  X(double, rounding, 1e-12, "below this size, a step that does not halve it shows that rounding is reached") \
  X(double, step_tol, 0, "a step of this length is the last one, and not halved further") \
  X(double, trust, 0, \
    "a step from below this size is the last one and need not be checked: what is left is its square") \
  X(double, max_step, 0, "longer steps are shortened to this length") \
  X(int, halvings, 10, "how often a step that does not reduce the size is halved; 0: every step is taken as it is")

typedef struct ag_newton_options {
#define X(type, name, value, text) type name;
  AG_NEWTON_OPTIONS(X)
#undef X
} ag_newton_options;
ag_newton_options ag_newton_defaults(void);

/* X(name, text). The first two mean that x is a root. */
#define AG_NEWTON_REASONS(X) \
  X(CONVERGED, "converged") \
  X(ROUNDING, "as near as rounding allows") \
  X(STEP, "the steps became negligible") /* a root or, with m > n, a minimum of |F|: see the residual */ \
  X(STUCK, "no part of the step reduces the residual") \
  X(SINGULAR, "the Jacobian is singular") \
  X(NOT_FINITE, "not finite") \
  X(ITERATIONS, "too many steps")

typedef enum ag_newton_reason {
#define X(NAME, text) AG_NEWTON_##NAME,
  AG_NEWTON_REASONS(X)
#undef X
} ag_newton_reason;
const char *ag_newton_text(ag_newton_reason reason);

typedef struct ag_newton_result {
  ag_newton_reason reason;
  int iterations;  /* steps taken */
  double residual; /* size of F at x; after `trust` before the last step */
  double step;     /* length of the last step */
} ag_newton_result;

static inline bool ag_newton_ok(ag_newton_result r) { return r.reason <= AG_NEWTON_ROUNDING; }

/* Numbers of workspace that ag_newton needs. */
size_t ag_newton_work(const ag_newton_system *s);
/* Moves x to a root of F, or to the best point found. */
ag_newton_result ag_newton(const ag_newton_system *s, const ag_newton_options *o, double *x, double *work);
#endif
