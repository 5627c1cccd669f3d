/* SPDX-License-Identifier: MIT
 * One explicit Runge-Kutta step: a stepper's text (step_text.h says what that is and what must be defined before). It
 * needs tableau.h and, besides, AG_RK_METHOD: which tableau, e.g. dop853. It may be included again with other
 * definitions.
 *
 * The workspace is rows of AG_STEP_N numbers: the stages 0 .. TOP, one row of scratch, DEGREE rows of dense output, the
 * states at the stages that have a weight in the result, where they are kept. Row 0 holds f(t, z), row LAST
 * f(t + h, z1).
 *
 * Optional, for integrals along a step:
 *   AG_STEP_POWER(t, z, dz)   the integrand, of a state and its rate
 *   AG_STEP_POWER_FLOW        leading parameters of the function integral that this uses, with a final comma
 *   AG_STEP_KEEPS             whether states at stages are kept */
#define AG_RK_PASTE_(a, b) AG_RK_##a##_##b
#define AG_RK_PASTE(a, b) AG_RK_PASTE_(a, b)
#define AG_RK_OF(b) AG_RK_PASTE(AG_RK_METHOD, b)
#define AG_RK_NUM(x) ((x) - (V){0})
#define AG_RK_PART static inline __attribute__((always_inline, unused))
#define AG_RK_SCRATCH(work) ((work) + (AG_RK_OF(TOP) + 1) * AG_STEP_N)
#define AG_RK_COEFFICIENTS(work) ((work) + (AG_RK_OF(TOP) + 2) * AG_STEP_N)
#define AG_RK_KEPT(work) ((work) + (AG_RK_OF(TOP) + 2 + AG_RK_OF(DEGREE)) * AG_STEP_N)
#ifndef AG_STEP_KEEPS
#define AG_STEP_KEEPS 0
#define AG_STEP_KEEPS_OWN
#endif
#ifndef AG_STEP_RANGE
#define AG_STEP_RANGE(i, from, end) for (int i = (from); i < (end); i++)
#define AG_STEP_RANGE_OWN
#endif
#ifndef AG_STEP_READ
#define AG_STEP_READ(X, ...) X(0, AG_STEP_N, __VA_ARGS__)
#define AG_STEP_RHS_READ AG_STEP_RHS
#define AG_STEP_READ_OWN
#endif
#define AG_RK_EACH(i) AG_STEP_RANGE(i, 0, AG_STEP_N)

/* sum_j a_j k_j of component i, from AG_RK_SUM on, in the order of the table, where j grows. Which term is the first is
 * a constant: a variable would have to be optimised away in each of some hundred terms. */
#define AG_RK_BIT(j, a) | 1 << (j)
#define AG_RK_SUM(A) \
  enum { js_ = 0 A(AG_RK_BIT), first_ = js_ & -js_ }; \
  V sum = {0};
#define AG_RK_TERM(j, a) \
  sum = 1 << (j) == first_ ? AG_RK_NUM(a) * k[(j)*AG_STEP_N + i] : v_fma(AG_RK_NUM(a), k[(j)*AG_STEP_N + i], sum);
/* Two weights, both one half: h (k_i + k_j)/2 has the same bits and takes an operation less. */
#define AG_RK_HALF(j, a) +((a) == 0.5 ? 1 : 3)
#define AG_RK_ADD(j, a) sum = 1 << (j) == first_ ? k[(j)*AG_STEP_N + i] : sum + k[(j)*AG_STEP_N + i];
/* The stages that are part of the result, the error or the dense output, as bits; of others only later stages are made.
 */
#define AG_RK_BITS(m, D) D(AG_RK_BIT)
enum {
  AG_STEP_FN(weighted) = 0 AG_RK_OF(B)(AG_RK_BIT) AG_RK_OF(E)(AG_RK_BIT) AG_RK_OF(E3)(AG_RK_BIT)
      AG_RK_OF(DENSE)(AG_RK_BITS),
  AG_STEP_FN(result) = 0 AG_RK_OF(B)(AG_RK_BIT)
};
/* The row of stage j among those that are kept. */
#define AG_RK_ROW_OF(j) __builtin_popcount(AG_STEP_FN(result) & ((1 << (j)) - 1))
/* A component that f does not read, a pure quadrature, has no value at a stage, and a rate where that has a weight. */
#define AG_RK_VALUES(from, end, A) \
  AG_STEP_RANGE(i, from, end) { \
    AG_RK_SUM(A) \
    A(AG_RK_TERM) y_[i] = v_fma(h, sum, z[i]); \
  }
#define AG_RK_STAGE_AT(at, j, c, A) \
  { \
    V *const y_ = (at); \
    AG_STEP_READ(AG_RK_VALUES, A) \
    if (AG_STEP_FN(weighted) >> (j)&1) { \
      AG_STEP_RHS(v_fma(AG_RK_NUM(c), h, t), y_, (k + (j)*AG_STEP_N)) \
    } else { \
      AG_STEP_RHS_READ(v_fma(AG_RK_NUM(c), h, t), y_, (k + (j)*AG_STEP_N)) \
    } \
  }
#define AG_RK_STAGE(j, c, A) \
  AG_RK_STAGE_AT(AG_STEP_KEEPS &&AG_STEP_FN(result) >> (j)&1 ? kept + AG_RK_ROW_OF(j) * AG_STEP_N : w, j, c, A)
#define AG_RK_STAGE_OF_DENSE(j, c, A) AG_RK_STAGE_AT(w, j, c, A)
#define AG_RK_COEFFICIENT(m, D) \
  { \
    AG_RK_SUM(D) \
    D(AG_RK_TERM) c[(m)*AG_STEP_N + i] = h * sum; \
  }

/* Error of the components that `counts` picks, n of them. NaN when one of them is not finite: 0 * inf = 0 * NaN = NaN.
 * The smallest number keeps 0 / 0 away at an equilibrium. */
#define AG_RK_SQUARE(E, size) \
  { \
    AG_RK_SUM(E) \
    E(AG_RK_TERM) sum = sum * scale; \
    size = v_fma(sum, sum, size); \
  }
#define AG_RK_ESTIMATE(counts, n, result) \
  { \
    V wrong = {0}, size = {0}, size3 = {0}; \
    AG_RK_EACH(i) { \
      if (!counts(i)) continue; \
      wrong = v_fma(AG_RK_NUM(0.0), z1[i], wrong); \
      wrong = v_fma(AG_RK_NUM(0.0), k[AG_RK_OF(LAST) * AG_STEP_N + i], wrong); \
      if (AG_RK_OF(ERROR) == 0) continue; \
      V scale = 1.0 / v_fma(AG_RK_NUM(rtol), v_max(v_abs(z[i]), v_abs(z1[i])), AG_RK_NUM(AG_STEP_ATOL(i))); \
      AG_RK_SQUARE(AG_RK_OF(E), size) \
      if (AG_RK_OF(ERROR) == 1) continue; \
      AG_RK_SQUARE(AG_RK_OF(E3), size3) \
    } \
    if (AG_RK_OF(ERROR) == 2) size = size / v_sqrt((v_fma(AG_RK_NUM(0.01), size3, size) + 1e-300) * (n)); \
    else size = v_sqrt(size / (n)); \
    result = v_fma(v_abs(h), size, wrong); \
  }

/* A try. Sets z1, the stages 1 .. LAST, and error[0]:
 *   ERROR 1:  |h| sqrt(|E.k|^2 / n)
 *   ERROR 2:  |h| |E.k|^2 / sqrt((|E.k|^2 + |E3.k|^2 / 100) n)
 * with |x|^2 = sum (x_i / (atol_i + rtol max(|z_i|, |z1_i|)))^2 over the n components in the norm; 0 without an
 * estimate; NaN if one of these components of z1 or f(t + h, z1) is not finite. The parts of the workspace are
 * parameters, since compilers honour `restrict` only on parameters, and the function is not inlined: for an inlined
 * one they attach what they know to every access, which makes compiling slow. */
AG_STEP_QUALIFIER int AG_STEP_FN(try)(AG_STEP_FLOW AG_STEP_SIZE V t, V h, const V *restrict z, V *restrict z1,
                                      double rtol, const V *restrict atol, V *restrict error, V *restrict k,
                                      V *restrict w, V *restrict kept) {
  AG_RK_OF(STAGES)(AG_RK_STAGE) AG_RK_EACH(i) {
    AG_RK_SUM(AG_RK_OF(B))
    if ((0 AG_RK_OF(B)(AG_RK_HALF)) == 2) {
      AG_RK_OF(B)(AG_RK_ADD) z1[i] = v_fma(0.5 * h, sum, z[i]);
    } else {
      AG_RK_OF(B)(AG_RK_TERM) z1[i] = v_fma(h, sum, z[i]);
    }
  }
  AG_STEP_RHS(t + h, z1, (k + AG_RK_OF(LAST) * AG_STEP_N))
  AG_RK_ESTIMATE(AG_STEP_IN_NORM, AG_STEP_N_NORM, error[0])
  if (AG_STEP_N_REST > 0) AG_RK_ESTIMATE(AG_STEP_IN_REST, AG_STEP_N_REST, error[1])
  (void)w, (void)kept, (void)rtol, (void)atol;
  return 0;
}
AG_RK_PART int AG_STEP_FN(step)(AG_STEP_FLOW AG_STEP_SIZE V t, V h, const V *z, V *z1, double rtol, const V *atol,
                                V *error, V *work) {
  return AG_STEP_FN(try)(AG_STEP_PASS t, h, z, z1, rtol, atol, error, work, AG_RK_SCRATCH(work), AG_RK_KEPT(work));
}

/* After a step: the coefficients c (DEGREE rows) of the polynomial
 *   u(theta) = z + theta (c0 + (1-theta) (c1 + theta (c2 + (1-theta) (c3 + ...)))),
 * c0 to c2 the cubic Hermite interpolant of values and derivatives at both ends, the others c_m = h D_m.k; before that
 * the stages only it needs. */
AG_STEP_QUALIFIER int AG_STEP_FN(coefficients)(AG_STEP_FLOW AG_STEP_SIZE V t, V h, const V *restrict z,
                                               const V *restrict z1, V *restrict k, V *restrict w, V *restrict c) {
  AG_RK_OF(EXTRA)(AG_RK_STAGE_OF_DENSE) AG_RK_EACH(i) {
    V d = z1[i] - z[i];
    c[i] = d;
    c[AG_STEP_N + i] = v_fma(h, k[i], -d);
    c[2 * AG_STEP_N + i] = v_fma(-h, k[AG_RK_OF(LAST) * AG_STEP_N + i], d) - c[AG_STEP_N + i];
    AG_RK_OF(DENSE)(AG_RK_COEFFICIENT)
  }
  (void)t, (void)w;
  return 0;
}
AG_RK_PART int AG_STEP_FN(dense)(AG_STEP_FLOW AG_STEP_SIZE V t, V h, const V *z, const V *z1, V *work) {
  return AG_STEP_FN(coefficients)(AG_STEP_PASS t, h, z, z1, work, AG_RK_SCRATCH(work), AG_RK_COEFFICIENTS(work));
}

/* u(theta). At theta = 0 exactly z, at theta = 1 z1 up to rounding. */
AG_STEP_QUALIFIER void AG_STEP_FN(interpolate)(AG_STEP_SIZE V theta, const V *restrict z, const V *restrict work,
                                               V *restrict out) {
  const V *c = AG_RK_COEFFICIENTS(work);
  V rest = 1.0 - theta;
  AG_RK_EACH(i) {
    V u = c[(AG_RK_OF(DEGREE) - 1) * AG_STEP_N + i];
    for (int m = AG_RK_OF(DEGREE) - 2; m >= 0; m--) u = v_fma(m % 2 ? theta : rest, u, c[m * AG_STEP_N + i]);
    out[i] = v_fma(theta, u, z[i]);
  }
}

#ifdef AG_STEP_POWER
/* After a step whose stages were kept: the integral of the power over it, by the weights of the method. It belongs to
 * the same quadrature as z1: the equation W' = power would give the same number as one more component. */
AG_STEP_QUALIFIER V AG_STEP_FN(integral)(AG_STEP_POWER_FLOW AG_STEP_SIZE V t, V h, const V *z, const V *work) {
#define AG_RK_NODE(j, c, A) [j] = c,
#define AG_RK_WEIGHT(j, b) [j] = b,
  static const double c[] = {AG_RK_OF(STAGES)(AG_RK_NODE)[AG_RK_OF(LAST)] = 1},
                      b[] = {AG_RK_OF(B)(AG_RK_WEIGHT)[AG_RK_OF(LAST)] = 0};
#undef AG_RK_NODE
#undef AG_RK_WEIGHT
  V sum = {0};
  (void)t, (void)c;
  for (int j = 0; j < AG_RK_OF(LAST); j++) {
    if (!(AG_STEP_FN(result) >> j & 1)) continue;
    const V *at = j ? AG_RK_KEPT(work) + AG_RK_ROW_OF(j) * AG_STEP_N : z;
    const V power = AG_STEP_POWER(v_fma(AG_RK_NUM(c[j]), h, t), at, work + j * AG_STEP_N);
    sum = v_fma(AG_RK_NUM(b[j]), power, sum);
  }
  return h * sum;
}
#endif

#undef AG_RK_COEFFICIENT
#undef AG_RK_ESTIMATE
#undef AG_RK_SQUARE
#undef AG_RK_STAGE
#undef AG_RK_STAGE_OF_DENSE
#undef AG_RK_STAGE_AT
#undef AG_RK_ROW_OF
#undef AG_RK_VALUES
#undef AG_RK_BITS
#undef AG_RK_BIT
#undef AG_RK_ADD
#undef AG_RK_HALF
#undef AG_RK_TERM
#undef AG_RK_SUM
#undef AG_RK_EACH
#undef AG_RK_KEPT
#undef AG_RK_COEFFICIENTS
#undef AG_RK_SCRATCH
#undef AG_RK_PART
#undef AG_RK_NUM
#undef AG_RK_OF
#undef AG_RK_PASTE
#undef AG_RK_PASTE_
#ifdef AG_STEP_KEEPS_OWN
#undef AG_STEP_KEEPS
#undef AG_STEP_KEEPS_OWN
#endif
#ifdef AG_STEP_RANGE_OWN
#undef AG_STEP_RANGE
#undef AG_STEP_RANGE_OWN
#endif
#ifdef AG_STEP_READ_OWN
#undef AG_STEP_READ
#undef AG_STEP_RHS_READ
#undef AG_STEP_READ_OWN
#endif
