/* SPDX-License-Identifier: MIT
 * A stepper's text, and the library's side of it.
 *
 * A stepper is C text over a value type V with three functions:
 *   int step(t, h, z, z1, rtol, atol, error, work)    one try from (t, z) by h into z1; error[0] as in ag_stepper.step,
 *                                                     error[1] where AG_STEP_N_REST > 0
 *   int dense(t, h, z, z1, work)                      after a step: prepares its dense output
 *   void interpolate(theta, z, work, out)             the state at t + theta h
 * and, optionally, one more:
 *   V integral(t, h, z, work)                         after a step: of the power, a function of the state and its rate
 * It keeps everything else in `work`, AG_STEP_ROOM numbers. The first ones are its carry: on entry of a step f(t, z)
 * and, behind it, what a method carries on from step to step (AG_STEP_OWN numbers); the carry of (t + h, z1) stands
 * from AG_STEP_END on after the step. The same text is compiled into the library (method.h: V = double, the flow behind
 * pointers, its sizes known at run time) and embedded into compiled kernels (V = a vector with one trajectory per lane,
 * sizes constant, the right-hand side in place). Every rounding is written out: no compiler may contract or reorder,
 * and no lane's numbers may depend on another lane's, so that both uses give the same bits in every lane. A text
 * includes nothing.
 *
 * To be defined before:
 *   V and v_... m_...         the words of expr/vmath.h, or those of them that the text uses; v_fma rounds once
 *   AG_STEP_FN(name)          the names of the three functions
 *   AG_STEP_QUALIFIER         their storage class and attributes
 *   AG_STEP_FLOW              leading parameters of step and dense that AG_STEP_RHS uses, with a final comma; or empty
 *   AG_STEP_SIZE              leading parameters of all three that AG_STEP_N uses, with a final comma; or empty
 *   AG_STEP_PASS              the arguments for both, with a final comma; or empty
 *   AG_STEP_N                 number of components: a constant, or an int among AG_STEP_SIZE
 *   AG_STEP_RHS(t, z, dz)     a statement that sets the V dz[AG_STEP_N] to f(t, z); it may return a reason > 0
 *   AG_STEP_ATOL(i)           the absolute tolerance of component i; reads the parameter atol of step
 *   AG_STEP_IN_NORM(i)        whether component i counts in the error norm; AG_STEP_N_NORM: how many do, at least 1
 *   AG_STEP_IN_REST(i)        whether it counts in a second norm, error[1]; AG_STEP_N_REST: how many do, 0: there is no
 *                             second norm
 * Optional: AG_STEP_RANGE(i, from, end), the loop over components from .. end - 1. AG_STEP_READ(X, ...), which is
 * X(from, end, ...) for each range of components that f reads; then also AG_STEP_RHS_READ(t, z, dz), which sets only
 * such components of dz. What the text of one family needs besides stands at its head.
 *
 * Below: all this but V for the library, where the flow is an ag_flow f. */
#ifndef AG_STEP_STEP_TEXT_H
#define AG_STEP_STEP_TEXT_H
#include "step/step.h"

/* Rows on the logarithm of the stochastic flow. */
#define AG_ON_LOG \
  .strong = {1, 1, 1}, .weak = {1, 1, 1}, .follows = AG_FOLLOWS_LOG, .draws = AG_WIENER_AREAS, .family = "log-ODE"

/* Rows on Ito's form. */
#define AG_ON_ITO \
  .strong = {1, 0.5, 0.5}, .weak = {1, 1, 1}, .follows = AG_FOLLOWS_ITO, .draws = AG_WIENER_PLAIN, .family = "Ito"

/* Orders on noise, for rows. Of order 2 or more, in general, and with nodes at both ends; of order 1. */
#define AG_ON_NOISE .strong = {1, 1, 0.5}, .weak = {1, 1, 1}
#define AG_ON_NOISE_ENDS .strong = {1, 1, 0.5}, .weak = {2, 1, 1}
#define AG_ON_NOISE_FIRST .strong = {1, 0, 0}, .weak = {1, 0, 0}

/* factor_core.h, sparse_core.h, newton_core.h, lu_core.h, hermite_core.h and trial_core.h, for the rows of steppers
 * that need them.
 */
extern const char ag_factor_core_text[], ag_sparse_core_text[], ag_newton_core_text[], ag_lu_core_text[],
    ag_hermite_core_text[], ag_trial_core_text[];

#define AG_STEP_FLOW __attribute__((unused)) const ag_flow *f,
#define AG_STEP_SIZE __attribute__((unused)) int n,
#define AG_STEP_N n
#define AG_STEP_RHS(t, z, dz) \
  { \
    int reason_ = f->rhs(f->self, t, z, dz); \
    if (reason_) return reason_; \
  }
#define AG_STEP_JACOBIAN(t, z, J) \
  { \
    int reason_ = f->jacobian(f->self, t, z, J); \
    if (reason_) return reason_; \
  }
#define AG_STEP_TABLE (f->table)
#define AG_STEP_SQUARE (f->table ? f->table[3] : AG_STEP_M * AG_STEP_M)
#define AG_STEP_RESIDUAL(t, y, out) \
  { \
    int reason_ = f->residual(f->self, t, y, out); \
    if (reason_) return reason_; \
  }
#define AG_STEP_FINISH(t, y, out) \
  { \
    int reason_ = f->finish(f->self, t, y, out); \
    if (reason_) return reason_; \
  }
#define AG_STEP_INERTIA(t, z, out) \
  if (f->inertia) { \
    int reason_ = f->inertia(f->self, t, z, out); \
    if (reason_) return reason_; \
  }
#define AG_STEP_RATE(i) (f->rate[i])
#define AG_STEP_SPIN(i) (f->spin ? f->spin[i] : -1)
#define AG_STEP_GRADIENT(t, z, out) \
  { \
    int reason_ = f->gradient(f->self, t, z, out); \
    if (reason_) return reason_; \
  }
#define AG_STEP_CANONICAL(t, z, out) \
  if (f->canonical) { \
    int reason_ = f->canonical(f->self, t, z, out); \
    if (reason_) return reason_; \
  }
#define AG_STEP_POWER(t, z, dz) f->power(f->self, t, z, dz)
#define AG_STEP_POWER_FLOW AG_STEP_FLOW
#define AG_STEP_KEEPS (f->power != NULL)
#define AG_STEP_W(i) (f->step[i])
#define AG_STEP_CHANNELS (f->n_channel)
#define AG_STEP_U_AT (f->u_at)
#define AG_STEP_N_U (f->n_u)
#define AG_STEP_N_LAMBDA (f->n_lambda)
#define AG_STEP_UNSOLVED(mask) \
  if (mask) return AG_STEP_STAGES;
#define AG_STEP_FAILED v_word_set(0)
#define AG_STEP_FORGIVE(before) (void)(before);
#define AG_STEP_GUARD(open, x) x
#define AG_STEP_MOVES(r) ((r) >= AG_STEP_U_AT && (r) < AG_STEP_U_AT + AG_STEP_N_U)
#define AG_STEP_PASS f, n,
#define AG_STEP_PASS_SIZE n,
#define AG_STEP_LOCALS(s) (void)(s);
#define AG_STEP_M (f->m ? f->m : n)
#define AG_STEP_N_FACTOR (f->n_factor ? f->n_factor : 1)
#define AG_STEP_FACTOR(i) step_factor(f, i)
#define AG_STEP_ATOL(i) (f->atol ? f->atol[i] : *atol)
#define AG_STEP_IN_NORM(i) (f->in_norm == NULL || f->in_norm[i] == 1)
#define AG_STEP_IN_REST(i) (f->in_norm != NULL && f->in_norm[i] == 2)
#define AG_STEP_N_NORM step_norm_count(f)
#define AG_STEP_N_REST step_rest_count(f)

static inline double step_norm_count(const ag_flow *f) {
  int count = 0;
  for (int i = 0; i < f->n; i++) count += AG_STEP_IN_NORM(i);
  return count ? count : 1;
}

static inline double step_rest_count(const ag_flow *f) {
  int count = 0;
  for (int i = 0; i < f->n; i++) count += AG_STEP_IN_REST(i);
  return count;
}

/* A flow without factors is one vector. */
static inline ag_factor step_factor(const ag_flow *f, int i) {
  return f->n_factor ? f->factors[i] : (ag_factor){AG_FACTOR_VECTOR, 0, f->n, 0};
}

/* A text is compiled twice where the machine the program is built for need not have fused multiply-add: plainly (v_fma
 * is then a library call, slow but with the same result) and for processors that have it. */
#if defined __x86_64__ && !defined __FMA__
#define AG_STEP_TWICE
static inline bool step_has_fma(void) { return __builtin_cpu_supports("fma") && __builtin_cpu_supports("avx2"); }
#endif
#endif
