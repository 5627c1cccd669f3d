/* SPDX-License-Identifier: MIT
 * Time steppers: front header of step/. A stepper knows a flow, never a model.
 *
 *   ag_flow      the system: a vector field, and what else it can offer
 *   ag_stepper   a constant row: what the method is, needs and keeps, its functions, its text for compiled kernels
 *   ag_symmetric a step of any of them, projected symmetrically onto levels of functions
 *   ag_control   the step size
 *   ag_wiener    a Wiener path and the steps along it
 *
 * A step allocates nothing: the caller hands over one 64-byte aligned workspace. */
#ifndef AG_STEP_STEP_H
#define AG_STEP_STEP_H
#include <stdbool.h>
#include <stddef.h>

#include "step/factor.h"
#include "step/wiener.h"

/* ---- flows ---- */

/* What a flow can offer and a stepper can need. AG_NEED(NAME, what it is) */
#define AG_NEEDS(X) \
  X(RHS, "the right-hand side") \
  X(SECOND, "accelerations that depend on positions and time alone, and velocities that are rates of positions") \
  X(NOISE, "a path with noise") \
  X(BRACKETS, "derivatives of the noise fields") \
  X(BATH, "a path whose noise comes from friction and temperature alone") \
  X(SPLIT, "a constant mass matrix, diagonal for rotations, and, apart from friction, forces of positions alone") \
  X(CANONICAL, "Gibbs' law, and steps without friction that preserve volume") \
  X(JACOBIAN, "the Jacobian of the right-hand side") \
  X(FACTORS, "the factors of the state space") \
  X(PARTITION, "the partition into positions and velocities") \
  X(GRADIENT, "the gradient of the energy") \
  X(RESIDUAL, "the residual of the discrete equations") \
  X(ONE_SIDED, "noise that may be taken at one end of a step: a constant transport, forces of positions alone")
enum {
#define X(NAME, text) AG_NEED_BIT_##NAME,
  AG_NEEDS(X)
#undef X
      AG_N_NEED
};
typedef enum ag_needs {
#define X(NAME, text) AG_NEEDS_##NAME = 1 << AG_NEED_BIT_##NAME,
  AG_NEEDS(X)
#undef X
} ag_needs;

/* A vector field dz/dt = rhs(t, z) on n numbers. Functions return 0, or a reason > 0 when they could not be evaluated
 * (the step then fails; their output is undefined). */
typedef struct ag_flow {
  int n;
  const unsigned char *in_norm; /* per component: counts in the error norm (1), the second one (2), none (0); or NULL */
  const double *atol;           /* per component: its absolute tolerance; NULL: that of the step for all */
  int (*rhs)(void *self, double t, const double *z, double *dz);
  /* Optional. Of an equation of second order, whose accelerations depend on positions and time alone: per component the
   * one that is its rate, -1 for velocities. */
  const int *rate;
  /* Optional. The state space as a product of factors, in the order of z (none: one vector), m tangent coordinates in
   * all (0: n); the Jacobian of the right-hand side in these coordinates, m x m row by row: of the rate of d in z moved
   * by d. Of a sparse one the table says where its entries are (ag_lu_table): whole diagonal blocks of rotations, and
   * of their columns all three or none; NULL: it is dense. Tangent coordinates u_at .. u_at + n_u - 1 are velocities,
   * the others positions. */
  int m, n_factor, u_at, n_u;
  const ag_factor *factors;
  int (*jacobian)(void *self, double t, const double *z, double *J);
  const int *table;
  /* Optional. The energy, its gradient and the almost-Poisson tensor at z: discrete_gradient_core.h. E/kT and kT. */
  int (*gradient)(void *self, double t, const double *z, double *out);
  int (*canonical)(void *self, double t, const double *z, double *out);
  /* Optional. A function of the state and its rate that is to be integrated along the motion; NaN: it has no value. */
  double (*power)(void *self, double t, const double *z, const double *dz);
  /* On a path with noise: the step that the right-hand side reads, [1 | dW/h | ...] as it is drawn, divided by h.
   * Methods may change it during a step. */
  double *step;
  int n_channel;
  /* Optional. Per factor: where among the velocities the angular velocity of a rotation stands, else -1; and the
   * diagonal of the mass matrix of all velocities. */
  const int *spin;
  int (*inertia)(void *self, double t, const double *z, double *out);
  /* Optional. The discrete equations of a step with n_lambda impulses, and what its end is: variational_core.h. */
  int n_lambda;
  int (*residual)(void *self, double t, const double *y, double *out);
  int (*finish)(void *self, double t, const double *y, double *out);
  /* Optional. n_level functions that are constant along the motion, for symmetric projection: their values, their
   * derivatives by t, their gradients in tangent coordinates row by row. align makes quaternions have length 1 and
   * images those of their rotations, which not every method does; NULL: not needed. */
  int n_level;
  int (*levels)(void *self, double t, const double *z, double *out);
  void (*align)(void *self, double t, double *z);
  void *self;
} ag_flow;
unsigned ag_flow_offers(const ag_flow *f);    /* AG_NEEDS_... */
long ag_flow_square(const int *table, int m); /* numbers that a step keeps for one matrix */

/* ---- steppers ---- */

/* Properties that a method preserves and others do not. AG_KEEP(NAME, what it is) */
#define AG_KEEPS(X) \
  X(REVERSIBILITY, "reversibility") \
  X(SYMMETRY, "reversibility, where velocities need no basis that is renewed") \
  X(QUADRATIC, "quadratic invariants") \
  X(ENERGY, "the energy, where it is conserved") \
  X(SYMPLECTIC, "the symplectic form and momenta of symmetries (without constraints and forces)") \
  X(CONSTRAINTS, "position constraints")
enum {
#define X(NAME, text) AG_KEEP_BIT_##NAME,
  AG_KEEPS(X)
#undef X
      AG_N_KEEP
};
typedef enum ag_keeps {
#define X(NAME, text) AG_KEEPS_##NAME = 1 << AG_KEEP_BIT_##NAME,
  AG_KEEPS(X)
#undef X
} ag_keeps;

/* Workspace: `size` numbers. It begins with the carry of the step: the rate f(t, z), then `own` numbers that belong to
 * the stepper alone, all 0 at the start of a motion. The carry at the end of a step begins at `end`. */
typedef struct ag_step_room {
  size_t size, end;
  int own;
} ag_step_room;

/* The reason of a step whose stage equations Newton's method did not solve; those of flows are positive. Of a
 * symmetric projection: a level is not constant along the motion; the gradients of the levels depend on each other. */
enum { AG_STEP_STAGES = -1, AG_STEP_LEVEL = -2, AG_STEP_DEPENDENT = -3 };

enum { AG_STEPPER_TEXTS = 8, AG_N_NOISE = 3 }; /* at most; classes of noise */

/* The forms of discrete equations: one node with the exponential map or the Cayley map of rotations, both ends, or
 * a rotation and a vector as one factor; the stages of a SPARK method (spark_core.h). */
enum { AG_FORM_EXP, AG_FORM_CAYLEY, AG_FORM_TRAPEZOID, AG_FORM_SE3, AG_FORM_SPARK };

/* What a method follows on a path with noise: the increment h f + sum g_i dW_i; the same with the Levy areas times the
 * brackets of the noise fields; Ito's form; the increment with a separate weight for friction, after dW. */
enum { AG_FOLLOWS_INCREMENT, AG_FOLLOWS_LOG, AG_FOLLOWS_ITO, AG_FOLLOWS_BATH };

typedef struct ag_stepper ag_stepper;
struct ag_stepper {
  const char *name, *family, *doc, *reference;
  unsigned needs, keeps;  /* AG_NEEDS_... besides the right-hand side; AG_KEEPS_... */
  int order, error_order; /* error_order 0: no embedded estimate, fixed steps only */
  /* The orders of convergence on paths with noise that is additive, commutative, general, where the increments of a
   * step are frozen: strong (path by path) and weak (expectations). 0: it does not converge to the motion. */
  double strong[AG_N_NOISE], weak[AG_N_NOISE];
  int dense_order;      /* of the dense output: error O(h^(dense_order+1)) */
  int n_stage, n_dense; /* new right-hand sides of a step (0: they vary), and of its dense output */
  int quarter;          /* a stage at a quarter of the step whose state is right to order 4: a row of work; 0: none */
  int n_channel_stage;  /* how many more a step has for each noise channel */
  ag_step_room (*room)(long n, long m, long square); /* components, tangent coordinates, numbers of a matrix */
  /* One step from (t, z) with the carry dz0 into z1 with the carry dz1 (for most methods the rates there). With an
   * embedded estimate, error[0] is the scaled error norm (accept when <= 1) for tolerances rtol, atol; else 0
   * (error[1]: the same for the second norm, written only if some component counts there). It is NaN when a component
   * in the norm of z1 or dz1 is not finite (the caller checks the others). Returns 0, or a reason. h may be
   * negative. No two of the arrays overlap. */
  int (*step)(const ag_stepper *s, const ag_flow *f, double t, double h, const double *z, const double *dz0, double *z1,
              double *dz1, double rtol, double atol, double *error, double *work);
  /* Prepares the dense output of the step just made (extra right-hand sides where the method needs them). */
  int (*dense)(const ag_stepper *s, const ag_flow *f, double t, double h, const double *z, const double *z1,
               double *work);
  /* State at t + theta h, 0 <= theta <= 1, after dense(). */
  void (*interpolate)(const ag_stepper *s, int n, double theta, const double *z, const double *work, double *out);
  /* Optional. The integral of the flow's power over the step just made, which had that function already, before or
   * after dense(): as accurate as z1. */
  double (*integral)(const ag_stepper *s, const ag_flow *f, double t, double h, const double *z, const double *work);
  int follows, draws;                  /* on paths with noise: AG_FOLLOWS_..., AG_WIENER_... */
  int form;                            /* of the discrete equations it needs (AG_NEEDS_RESIDUAL): AG_FORM_... */
  const char *texts[AG_STEPPER_TEXTS]; /* the same functions as text over V, in this order (step_text.h) */
  const void *table;                   /* data of the method for its family */
};

/* Does it solve for its stages, on the whole state? Does it test its steps? Its first own number then counts them. */
static inline bool ag_stepper_solves(const ag_stepper *s) { return s->needs & (AG_NEEDS_JACOBIAN | AG_NEEDS_RESIDUAL); }
static inline bool ag_stepper_tests(const ag_stepper *s) { return s->needs & AG_NEEDS_CANONICAL; }
/* Is it made for paths with noise alone? */
static inline bool ag_stepper_noisy(const ag_stepper *s) { return s->needs & AG_NEEDS_NOISE; }

/* All steppers, in the order of stepper.def. */
int ag_stepper_count(void);
const ag_stepper *ag_stepper_at(int i);
const ag_stepper *ag_stepper_find(const char *name); /* NULL when unknown */
/* Its workspace for so many components and tangent coordinates, with matrices of `square` numbers; ends the call, as
 * out of memory, where more than 2^31 - 1 numbers would be needed: texts and units count them with int. */
ag_step_room ag_stepper_room(const ag_stepper *s, int n, int m, long square);
/* A need that is not offered, as text; NULL: none. */
const char *ag_stepper_lacks(const ag_stepper *s, unsigned offers);
extern const char ag_factor_text[]; /* factor.h, which texts that move on factors need before them */

#include "step/control.h"
#include "step/path.h"
#include "step/symmetric.h"
#endif
