/* SPDX-License-Identifier: MIT
 * One step of the Nystrom method of Dormand, El-Mikkawy and Prince, orders 8 and 6: a stepper's text (step_text.h). It
 * is for positions q and velocities u = q' whose rates a(t, q) depend on positions and time alone (AG_NEEDS_SECOND):
 *   AG_STEP_RATE(i)    the component that is the rate of component i, a velocity; -1 where component i is a velocity
 *
 *   k_i = a(t + c_i h, q + c_i h u + h^2 sum_j a_ij k_j)
 *   q1 = q + h u + h^2 sum_j b_j k_j,   u1 = u + h sum_j v_j k_j,   errors h^2 sum_j e_j k_j and h sum_j w_j k_j
 *
 * The workspace is rows of AG_STEP_N numbers: the rates at the stages 0 .. 8 (the last is the end of the step), one row
 * of scratch, seven rows of dense output. Of the rates at inner stages only those of velocities count. */
#ifndef AG_STEP_RANGE
#define AG_STEP_RANGE(i, from, end) for (int i = (from); i < (end); i++)
#define AG_STEP_RANGE_OWN
#endif
#define AG_NYSTROM_LAST 8
#define AG_NYSTROM_DEGREE 7
#define AG_NYSTROM_EACH(i) AG_STEP_RANGE(i, 0, AG_STEP_N)
#define AG_NYSTROM_SCRATCH(work) ((work) + (AG_NYSTROM_LAST + 1) * AG_STEP_N)
#define AG_NYSTROM_COEFFICIENTS(work) ((work) + (AG_NYSTROM_LAST + 2) * AG_STEP_N)

/* clang-format off */
#define AG_NYSTROM_STAGES(S) \
  S(1, 0.05, AG_NYSTROM_A1) S(2, 0.1, AG_NYSTROM_A2) S(3, 0.3, AG_NYSTROM_A3) S(4, 0.5, AG_NYSTROM_A4) \
  S(5, 0.7, AG_NYSTROM_A5) S(6, 0.9, AG_NYSTROM_A6) S(7, 1.0, AG_NYSTROM_A7)
#define AG_NYSTROM_A1(X) X(0, 1.0 / 800.0)
#define AG_NYSTROM_A2(X) X(0, 1.0 / 600.0) X(1, 1.0 / 300.0)
#define AG_NYSTROM_A3(X) X(0, 9.0 / 200.0) X(1, -9.0 / 100.0) X(2, 9.0 / 100.0)
#define AG_NYSTROM_A4(X) \
  X(0, -66701.0 / 197352.0) X(1, 28325.0 / 32892.0) X(2, -2665.0 / 5482.0) X(3, 2170.0 / 24669.0)
#define AG_NYSTROM_A5(X) \
  X(0, 227015747.0 / 304251000.0) X(1, -54897451.0 / 30425100.0) X(2, 12942349.0 / 10141700.0) \
  X(3, -9499.0 / 304251.0) X(4, 539.0 / 9250.0)
#define AG_NYSTROM_A6(X) \
  X(0, -1131891597.0 / 901789000.0) X(1, 41964921.0 / 12882700.0) X(2, -6663147.0 / 3220675.0) \
  X(3, 270954.0 / 644135.0) X(4, -108.0 / 5875.0) X(5, 114.0 / 1645.0)
#define AG_NYSTROM_A7(X) \
  X(0, 13836959.0 / 3667458.0) X(1, -17731450.0 / 1833729.0) X(2, 1063919505.0 / 156478208.0) \
  X(3, -33213845.0 / 39119552.0) X(4, 13335.0 / 28544.0) X(5, -705.0 / 14272.0) X(6, 1645.0 / 57088.0)
#define AG_NYSTROM_B(X) \
  X(0, 223.0 / 7938.0) X(2, 1175.0 / 8064.0) X(3, 925.0 / 6048.0) X(4, 41.0 / 448.0) X(5, 925.0 / 14112.0) \
  X(6, 1175.0 / 72576.0)
#define AG_NYSTROM_V(X) \
  X(0, 223.0 / 7938.0) X(2, 5875.0 / 36288.0) X(3, 4625.0 / 21168.0) X(4, 41.0 / 224.0) X(5, 4625.0 / 21168.0) \
  X(6, 5875.0 / 36288.0) X(7, 223.0 / 7938.0)
#define AG_NYSTROM_E(X) \
  X(0, -544307.0 / 12215700.0) X(2, 544307.0 / 4963840.0) X(3, -544307.0 / 3722880.0) \
  X(4, 1632921.0 / 12409600.0) X(5, -544307.0 / 8686720.0) X(6, 544307.0 / 44674560.0)
#define AG_NYSTROM_W(X) \
  X(0, -544307.0 / 12215700.0) X(2, 544307.0 / 4467456.0) X(3, -544307.0 / 2606016.0) X(4, 1632921.0 / 6204800.0) \
  X(5, -544307.0 / 2606016.0) X(6, 544307.0 / 4467456.0) X(7, 322012.0 / 3053925.0) X(8, -0.15)
/* clang-format on */

/* sum += a k_j of the velocity r; the newest rate comes last, so that a stage waits for few operations. */
#define AG_NYSTROM_TERM(j, a) sum = (j) == 0 ? v_set(a) * k[r] : v_fma(v_set(a), k[(j)*AG_STEP_N + r], sum);
#define AG_NYSTROM_STAGE(j, c, A) \
  AG_NYSTROM_EACH(i) { \
    const int r = AG_STEP_RATE(i); \
    V sum = {0}; \
    if (r < 0) continue; \
    A(AG_NYSTROM_TERM) w[i] = v_fma(h2, sum, v_fma((c)*h, z[r], z[i])); \
  } \
  AG_STEP_RHS(v_fma(v_set(c), h, t), w, (k + (j)*AG_STEP_N))

/* |h| times the root mean square of the errors of the components that `counts` picks, n of them, over h. NaN when one
 * of them is not finite: 0 * inf = 0 * NaN = NaN. */
#define AG_NYSTROM_ESTIMATE(counts, n, result) \
  { \
    V wrong = {0}, size = {0}; \
    AG_NYSTROM_EACH(i) { \
      const int r = AG_STEP_RATE(i) < 0 ? i : AG_STEP_RATE(i); \
      V sum = {0}; \
      if (!counts(i)) continue; \
      wrong = v_fma(v_set(0), z1[i], wrong); \
      wrong = v_fma(v_set(0), k[AG_NYSTROM_LAST * AG_STEP_N + i], wrong); \
      if (AG_STEP_RATE(i) < 0) { \
        AG_NYSTROM_W(AG_NYSTROM_TERM) \
      } else { \
        AG_NYSTROM_E(AG_NYSTROM_TERM) \
        sum = h * sum; \
      } \
      sum = sum / v_fma(v_set(rtol), v_max(v_abs(z[i]), v_abs(z1[i])), v_set(0) + AG_STEP_ATOL(i)); \
      size = v_fma(sum, sum, size); \
    } \
    result = v_fma(v_abs(h), v_sqrt(size / (n)), wrong); \
  }

AG_STEP_QUALIFIER int AG_STEP_FN(try)(AG_STEP_FLOW AG_STEP_SIZE V t, V h, const V *restrict z, V *restrict z1,
                                      double rtol, const V *restrict atol, V *restrict error, V *restrict k,
                                      V *restrict w) {
  const V h2 = h * h;
  AG_NYSTROM_EACH(i) w[i] = z[i];
  AG_NYSTROM_STAGES(AG_NYSTROM_STAGE)
  AG_NYSTROM_EACH(i) {
    const int r = AG_STEP_RATE(i) < 0 ? i : AG_STEP_RATE(i);
    V sum = {0};
    if (AG_STEP_RATE(i) < 0) {
      AG_NYSTROM_V(AG_NYSTROM_TERM) z1[i] = v_fma(h, sum, z[i]);
    } else {
      AG_NYSTROM_B(AG_NYSTROM_TERM) z1[i] = v_fma(h2, sum, v_fma(h, z[r], z[i]));
    }
  }
  AG_STEP_RHS(t + h, z1, (k + AG_NYSTROM_LAST * AG_STEP_N))
  AG_NYSTROM_ESTIMATE(AG_STEP_IN_NORM, AG_STEP_N_NORM, error[0])
  if (AG_STEP_N_REST > 0) AG_NYSTROM_ESTIMATE(AG_STEP_IN_REST, AG_STEP_N_REST, error[1])
  (void)rtol, (void)atol;
  return 0;
}
static inline __attribute__((always_inline, unused)) int
AG_STEP_FN(step)(AG_STEP_FLOW AG_STEP_SIZE V t, V h, const V *z, V *z1, double rtol, const V *atol, V *error, V *work) {
  return AG_STEP_FN(try)(AG_STEP_PASS t, h, z, z1, rtol, atol, error, work, AG_NYSTROM_SCRATCH(work));
}

/* The coefficients of the polynomial of rk_core.h,
 *   u(x) = z + x (c0 + (1-x) (c1 + x (c2 + (1-x) (c3 + x (c4 + (1-x) (c5 + x c6)))))).
 * c0 to c2: the cubic of values and rates at both ends. Positions: c3 and c4 make the second derivative right at both
 * ends. That quintic, with an error of h^6, gives positions for three more rates of velocities, at 1/8, 3/8 and 5/8 of
 * the step; with these the second derivative of positions (c5, c6: at the last two) and the rates of velocities (c3 to
 * c5) are right there. Errors: h^8 of positions, h^7 of velocities. */
AG_STEP_QUALIFIER int AG_STEP_FN(coefficients)(AG_STEP_FLOW AG_STEP_SIZE V t, V h, const V *restrict z,
                                               const V *restrict z1, V *restrict k, V *restrict w, V *restrict c) {
  enum { C1 = 1, C2, C3, C4, C5, C6 };
  static const double node[3] = {0.125, 0.375, 0.625};
  const V h2 = h * h, *end = k + AG_NYSTROM_LAST * AG_STEP_N;
#define AG_NYSTROM_C(m) c[(m)*AG_STEP_N + i]
  AG_NYSTROM_EACH(i) {
    const int r = AG_STEP_RATE(i);
    const V d = z1[i] - z[i], c1 = v_fma(h, k[i], -d), c2 = v_fma(-h, end[i], d) - c1;
    c[i] = d, AG_NYSTROM_C(C1) = c1, AG_NYSTROM_C(C2) = c2, w[i] = z[i];
    for (int m = C3; m <= C6; m++) AG_NYSTROM_C(m) = v_set(0);
    if (r < 0) continue;
    const V c3 = v_fma(0.5 * h2, k[r], c1 - c2);
    AG_NYSTROM_C(C3) = c3, AG_NYSTROM_C(C4) = v_fma(0.5 * h2, end[r], v_fma(v_set(2), c2, c1)) - c3;
  }
  for (int p = 0; p < 3; p++) {
    const double x = node[p], y = 1 - x;
    AG_NYSTROM_EACH(i) {
      if (AG_STEP_RATE(i) < 0) continue;
      V u = v_fma(v_set(x), AG_NYSTROM_C(C4), AG_NYSTROM_C(C3));
      u = v_fma(v_set(x), v_fma(v_set(y), u, AG_NYSTROM_C(C2)), AG_NYSTROM_C(C1));
      w[i] = v_fma(v_set(x), v_fma(v_set(y), u, c[i]), z[i]);
    }
    AG_STEP_RHS(v_fma(v_set(x), h, t), w, (k + (p + 1) * AG_STEP_N))
  }
  AG_NYSTROM_EACH(i) {
    const int r = AG_STEP_RATE(i);
    const V d = c[i], c1 = AG_NYSTROM_C(C1), c2 = AG_NYSTROM_C(C2);
    V off[3];
    for (int p = 0; p < 3; p++) {
      const double x = node[p];
      const V rate = k[(p + 1) * AG_STEP_N + (r < 0 ? i : r)];
      if (r < 0) off[p] = (v_fma(h, rate, -d) - (1 - 2 * x) * c1) - (2 * x - 3 * x * x) * c2;
      else
        off[p] = ((v_fma(h2, rate, 2.0 * c1) - (2 - 6 * x) * c2) - (2 - 12 * x + 12 * x * x) * AG_NYSTROM_C(C3)) -
                 (6 * x - 24 * x * x + 20 * x * x * x) * AG_NYSTROM_C(C4);
    }
    if (r < 0) {
      AG_NYSTROM_C(C3) = v_fma(v_set(80.0 / 7.0), off[0], v_fma(v_set(-32.0 / 11.0), off[1], 752.0 / 165.0 * off[2]));
      AG_NYSTROM_C(C4) = 2048.0 / 165.0 * (off[1] + off[2]);
      AG_NYSTROM_C(C5) =
          v_fma(v_set(-2048.0 / 63.0), off[0], v_fma(v_set(4096.0 / 1485.0), off[1], -63488.0 / 1485.0 * off[2]));
    } else {
      AG_NYSTROM_C(C5) = v_fma(v_set(-17408.0 / 4059.0), off[1], 1024.0 / 6765.0 * off[2]);
      AG_NYSTROM_C(C6) = 8192.0 / 1845.0 * (off[1] - off[2]);
    }
  }
#undef AG_NYSTROM_C
  return 0;
}
static inline __attribute__((always_inline, unused)) int AG_STEP_FN(dense)(AG_STEP_FLOW AG_STEP_SIZE V t, V h,
                                                                           const V *z, const V *z1, V *work) {
  return AG_STEP_FN(coefficients)(AG_STEP_PASS t, h, z, z1, work, AG_NYSTROM_SCRATCH(work),
                                  AG_NYSTROM_COEFFICIENTS(work));
}

AG_STEP_QUALIFIER void AG_STEP_FN(interpolate)(AG_STEP_SIZE V theta, const V *restrict z, const V *restrict work,
                                               V *restrict out) {
  const V *c = AG_NYSTROM_COEFFICIENTS(work);
  const V rest = 1.0 - theta;
  AG_NYSTROM_EACH(i) {
    V u = c[(AG_NYSTROM_DEGREE - 1) * AG_STEP_N + i];
    for (int m = AG_NYSTROM_DEGREE - 2; m >= 0; m--) u = v_fma(m % 2 ? theta : rest, u, c[m * AG_STEP_N + i]);
    out[i] = v_fma(theta, u, z[i]);
  }
}

#undef AG_NYSTROM_ESTIMATE
#undef AG_NYSTROM_STAGE
#undef AG_NYSTROM_TERM
#undef AG_NYSTROM_EACH
#ifdef AG_STEP_RANGE_OWN
#undef AG_STEP_RANGE
#undef AG_STEP_RANGE_OWN
#endif
