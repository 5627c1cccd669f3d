/* SPDX-License-Identifier: MIT
 * One explicit Runge-Kutta step, as text over a value type V. The same text is compiled into the library (rk.c: V =
 * double, n known at run time, the right-hand side behind a pointer) and may be embedded into generated code (V = a GNU
 * vector with one trajectory per lane, n a constant, the right-hand side in place). Every rounding is written out: no
 * compiler may contract or reorder, so both uses give the same bits in every lane. Needs tableau.h, includes nothing.
 *
 * To be defined before; the file may be included again with other definitions:
 *   V                    double, or __attribute__((vector_size)) of double
 *   v_fma v_abs v_max v_sqrt   on V; v_fma rounds once
 *   AG_RK_METHOD         which tableau, e.g. dop853
 *   AG_RK_FN(name)       the function names made here: step, dense, interpolate
 *   AG_RK_QUALIFIER      storage class and attributes of these functions
 *   AG_RK_FLOW           leading parameters of step and dense that AG_RK_RHS uses, with a final comma; or empty
 *   AG_RK_SIZE           leading parameters of all three that AG_RK_N uses, with a final comma; or empty
 *   AG_RK_N              number of components: a constant, or an int among AG_RK_SIZE
 *   AG_RK_RHS(t, z, dz)  a statement that sets the V dz[AG_RK_N] to f(t, z); it may return a reason > 0
 *   AG_RK_IN_NORM(i)     whether component i counts in the error norm; AG_RK_N_NORM: how many do, at least 1, double
 *   AG_RK_IN_REST(i)     whether it counts in a second norm, error[1]; AG_RK_N_REST: how many do, 0: there is none
 * Optional: AG_RK_EACH(i), the loop over the components. */
#define AG_RK_PASTE_(a, b) AG_RK_##a##_##b
#define AG_RK_PASTE(a, b) AG_RK_PASTE_(a, b)
#define AG_RK_OF(b) AG_RK_PASTE(AG_RK_METHOD, b)
#define AG_RK_NUM(x) ((x) - (V){0})
#ifndef AG_RK_EACH
#define AG_RK_EACH(i) for (int i = 0; i < AG_RK_N; i++)
#define AG_RK_EACH_OWN
#endif

/* sum_j a_j k_j of component i, in the order of the table. */
#define AG_RK_TERM(j, a) sum = v_fma(AG_RK_NUM(a), k[(j)*AG_RK_N + i], sum);
#define AG_RK_STAGE(j, c, A) \
  AG_RK_EACH(i) { \
    V sum = {0}; \
    A(AG_RK_TERM) w[i] = v_fma(h, sum, z[i]); \
  } \
  AG_RK_RHS(v_fma(AG_RK_NUM(c), h, t), w, (k + (j)*AG_RK_N))
#define AG_RK_COEFFICIENT(m, D) \
  { \
    V sum = {0}; \
    D(AG_RK_TERM) c[(m)*AG_RK_N + i] = h * sum; \
  }

/* Error of the components that `counts` picks, n of them. NaN when one of them is not finite: 0 * inf = 0 * NaN = NaN.
 * The smallest number keeps 0 / 0 away at an equilibrium. */
#define AG_RK_ESTIMATE(counts, n, result) \
  { \
    V wrong = {0}, size = {0}, size3 = {0}; \
    AG_RK_EACH(i) { \
      if (!counts(i)) continue; \
      wrong = v_fma(AG_RK_NUM(0.0), z1[i], wrong); \
      wrong = v_fma(AG_RK_NUM(0.0), k[AG_RK_OF(LAST) * AG_RK_N + i], wrong); \
      if (AG_RK_OF(ERROR) == 0) continue; \
      V scale = 1.0 / v_fma(AG_RK_NUM(rtol), v_max(v_abs(z[i]), v_abs(z1[i])), AG_RK_NUM(atol)), sum = {0}; \
      AG_RK_OF(E)(AG_RK_TERM) sum = sum * scale; \
      size = v_fma(sum, sum, size); \
      if (AG_RK_OF(ERROR) == 1) continue; \
      sum = (V){0}; \
      AG_RK_OF(E3)(AG_RK_TERM) sum = sum * scale; \
      size3 = v_fma(sum, sum, size3); \
    } \
    if (AG_RK_OF(ERROR) == 2) size = size / v_sqrt((v_fma(AG_RK_NUM(0.01), size3, size) + 1e-300) * (n)); \
    else size = v_sqrt(size / (n)); \
    result = v_fma(v_abs(h), size, wrong); \
  }

/* A try from (t, z) with row 0 of k = f(t, z). Sets z1, the rows 1 .. LAST of k (row LAST: f(t + h, z1)), and *error:
 *   ERROR 1:  |h| sqrt(|E.k|^2 / n)
 *   ERROR 2:  |h| |E.k|^2 / sqrt((|E.k|^2 + |E3.k|^2 / 100) n)
 * with |x|^2 = sum (x_i / (atol + rtol max(|z_i|, |z1_i|)))^2 over the n components in the norm; 0 without an estimate;
 * NaN if one of these components of z1 or f(t + h, z1) is not finite. k has room for TOP + 1 rows, w for one row.
 * Returns 0, or the reason of AG_RK_RHS. */
AG_RK_QUALIFIER int AG_RK_FN(step)(AG_RK_FLOW AG_RK_SIZE V t, V h, const V *restrict z, V *restrict z1, double rtol,
                                   double atol, V *restrict error, V *restrict k, V *restrict w) {
  AG_RK_OF(STAGES)(AG_RK_STAGE) AG_RK_EACH(i) {
    V sum = {0};
    AG_RK_OF(B)(AG_RK_TERM) z1[i] = v_fma(h, sum, z[i]);
  }
  AG_RK_RHS(t + h, z1, (k + AG_RK_OF(LAST) * AG_RK_N))
  AG_RK_ESTIMATE(AG_RK_IN_NORM, AG_RK_N_NORM, error[0])
  if (AG_RK_N_REST > 0) AG_RK_ESTIMATE(AG_RK_IN_REST, AG_RK_N_REST, error[1])
  (void)w, (void)rtol, (void)atol;
  return 0;
}

/* After a step: the coefficients c (DEGREE rows) of the polynomial
 *   u(theta) = z + theta (c0 + (1-theta) (c1 + theta (c2 + (1-theta) (c3 + ...)))),
 * c0 to c2 the cubic Hermite interpolant of values and derivatives at both ends, the others c_m = h D_m.k; before that
 * the stages only it needs. Returns 0, or the reason of AG_RK_RHS. */
AG_RK_QUALIFIER int AG_RK_FN(dense)(AG_RK_FLOW AG_RK_SIZE V t, V h, const V *restrict z, const V *restrict z1,
                                    V *restrict k, V *restrict w, V *restrict c) {
  AG_RK_OF(EXTRA)(AG_RK_STAGE) AG_RK_EACH(i) {
    V d = z1[i] - z[i];
    c[i] = d;
    c[AG_RK_N + i] = v_fma(h, k[i], -d);
    c[2 * AG_RK_N + i] = v_fma(-h, k[AG_RK_OF(LAST) * AG_RK_N + i], d) - c[AG_RK_N + i];
    AG_RK_OF(DENSE)(AG_RK_COEFFICIENT)
  }
  (void)t, (void)w;
  return 0;
}

/* u(theta). At theta = 0 exactly z, at theta = 1 z1 up to rounding. */
AG_RK_QUALIFIER void AG_RK_FN(interpolate)(AG_RK_SIZE V theta, const V *restrict z, const V *restrict c,
                                           V *restrict out) {
  V rest = 1.0 - theta;
  AG_RK_EACH(i) {
    V u = c[(AG_RK_OF(DEGREE) - 1) * AG_RK_N + i];
    for (int m = AG_RK_OF(DEGREE) - 2; m >= 0; m--) u = v_fma(m % 2 ? theta : rest, u, c[m * AG_RK_N + i]);
    out[i] = v_fma(theta, u, z[i]);
  }
}

#undef AG_RK_COEFFICIENT
#undef AG_RK_ESTIMATE
#undef AG_RK_STAGE
#undef AG_RK_TERM
#undef AG_RK_NUM
#undef AG_RK_OF
#undef AG_RK_PASTE
#undef AG_RK_PASTE_
#ifdef AG_RK_EACH_OWN
#undef AG_RK_EACH
#undef AG_RK_EACH_OWN
#endif
