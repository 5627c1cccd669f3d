/* SPDX-License-Identifier: MIT
 * SPARK methods (Jay): a stepper's text (step_text.h), after factor_core.h, newton_core.h, spark.h and
 * hermite_core.h. In the chart x of the step with velocities v = x', momenta P(x, v), the forces G(x, v, Lambda) and
 * the constraints K(x, v) of the flow,
 *   x_i = x_0 + h sum_j a_ij v_j,    P(x_i, v_i) = p0 + h sum_j A_ij G_j,    i = 1 .. s,
 *   sum_j b_j c_j^i K_j = 0,    i = 0 .. s - 2,
 *   x_end = x_0 + h sum_j b_j v_j,    p_end = p0 + h sum_j b_j G_j.
 * On vectors x = q - q0. On rotations q = q_m exp(x) with the middle of the step, q_m = q0 exp(e/2), e = h sum_j b_j
 * v_j, so that x goes from -e/2 to e/2 and the chart is the same seen from both ends: steps are reversible. There
 * p0 is D(-e/2)^T times the momentum in the body, D that of dexp(). Here a and A the Lobatto pair IIIA, IIIB. The
 * last column of A is 0: Lambda_s acts on p_end alone, where it takes the velocities onto the constraints; it is left
 * out, and the flow finds these velocities. Newton's method for all v_i and Lambda_1 .. Lambda_{s-1} at once, each lane
 * until its own corrections are rounding. The derivatives are exact on vectors; on rotations the middle counts as fixed
 * and x as measured from q0, an error of the size of h Omega.
 *
 * The flow reads one array: the state, x (AG_STEP_M numbers, 0 for velocities), Lambda (AG_STEP_N_LAMBDA), v (or, of
 * the end, the momentum; AG_STEP_M), the length h of the step, and two numbers that are not used. Needs, besides what
 * is listed in step_text.h,
 *   AG_STEP_RESIDUAL(t, y, out)   a statement that sets the V out[] to p0, to P, G, K, and to their derivatives by x,
 *                                 v, Lambda row by row; positions without the velocities
 *   AG_STEP_FINISH(t, y, out)     a statement that sets out[] to the velocities at the end
 *   AG_SPARK                      the method, a pointer to an ag_spark
 *
 * The workspace: the rates at both ends, three rows of dense output, the array of the flow, the momentum at the start
 * in the body and in the chart, the unknowns, what is left of the equations, their matrix, what the flow says at each
 * stage. */
#define AG_SPARK_TRIALS 30
#define AG_SPARK_DONE 1e-16
#define AG_SPARK_NOISE 1e-11
#define AG_SPARK_Q (AG_STEP_M - AG_STEP_N_U)
#define AG_SPARK_R AG_STEP_N_LAMBDA
#define AG_SPARK_ALL (2 * AG_SPARK_Q + AG_SPARK_R)
#define AG_SPARK_OUT (AG_SPARK_Q + AG_SPARK_ALL + AG_SPARK_ALL * AG_SPARK_ALL)
#define AG_SPARK_N (AG_SPARK->s * AG_SPARK_Q + (AG_SPARK->s - 1) * AG_SPARK_R)
#define AG_SPARK_Y(work) ((work) + 5 * AG_STEP_N)
#define AG_SPARK_X(work) (AG_SPARK_Y(work) + AG_STEP_N)
#define AG_SPARK_V(work) (AG_SPARK_X(work) + AG_STEP_M + AG_SPARK_R)
#define AG_SPARK_BODY(work) (AG_SPARK_V(work) + AG_STEP_M + 3)
#define AG_SPARK_START(work) (AG_SPARK_BODY(work) + AG_SPARK_Q)
#define AG_SPARK_UNKNOWNS(work) (AG_SPARK_START(work) + AG_SPARK_Q)
#define AG_SPARK_LEFT(work) (AG_SPARK_UNKNOWNS(work) + AG_SPARK_N)
#define AG_SPARK_MATRIX(work) (AG_SPARK_LEFT(work) + AG_SPARK_N)
#define AG_SPARK_STAGE(work, i) (AG_SPARK_MATRIX(work) + AG_SPARK_N * AG_SPARK_N + (i)*AG_SPARK_OUT)
/* Where a position stands behind the state, and back. */
#define AG_SPARK_SLOT(j) ((j) < AG_STEP_U_AT ? (j) : (j) + AG_STEP_N_U)
#define AG_SPARK_POSITION(d) ((d) < AG_STEP_U_AT ? (d) : (d)-AG_STEP_N_U)
/* In the results of the flow: rows of P, G, K; derivative of row r by column k, where x, v, Lambda begin at 0, Q, 2
 * Q. */
#define AG_SPARK_ROW(o, r) ((o)[AG_SPARK_Q + (r)])
#define AG_SPARK_BY(o, r, k) ((o)[AG_SPARK_Q + AG_SPARK_ALL + (r)*AG_SPARK_ALL + (k)])

/* h sum_j (a_j - part b_j) v_j of position k. */
AG_STEP_QUALIFIER V AG_STEP_FN(way)(AG_STEP_FLOW AG_STEP_SIZE V h, const double *a, double part, int k, const V *work) {
  const V *v = AG_SPARK_UNKNOWNS(work);
  V sum = v_set(0);
  for (int j = 0; j < AG_SPARK->s; j++) sum = v_fma(v_set(a[j] - part * AG_SPARK->b[j]), v[j * AG_SPARK_Q + k], sum);
  return h * sum;
}

/* x_i, or with weights b x_end, into the array of the flow. */
AG_STEP_QUALIFIER void AG_STEP_FN(place)(AG_STEP_FLOW AG_STEP_SIZE V h, const double *a, V *work) {
  V *x = AG_SPARK_X(work);
  for (int k = 0; k < AG_SPARK_Q; k++) x[AG_SPARK_SLOT(k)] = AG_STEP_FN(way)(AG_STEP_PASS h, a, 0, k, work);
  for (int i = 0; i < AG_STEP_N_FACTOR; i++) {
    const ag_factor p = AG_STEP_FACTOR(i);
    for (int k = p.d; k < p.d + 3 && p.kind == AG_FACTOR_QUATERNION; k++)
      x[k] = AG_STEP_FN(way)(AG_STEP_PASS h, a, 0.5, AG_SPARK_POSITION(k), work);
  }
}

/* Moves rotations of the array of the flow to the middle of the step, and the momentum at the start in the chart. */
AG_STEP_QUALIFIER void AG_STEP_FN(center)(AG_STEP_FLOW AG_STEP_SIZE V h, const V *z, V *work) {
  V *y = AG_SPARK_Y(work), *start = AG_SPARK_START(work);
  for (int k = 0; k < AG_SPARK_Q; k++) start[k] = AG_SPARK_BODY(work)[k];
  for (int i = 0; i < AG_STEP_N_FACTOR; i++) {
    const ag_factor p = AG_STEP_FACTOR(i);
    if (p.kind == AG_FACTOR_VECTOR) continue;
    V half[3], back[3], by[2];
    for (int k = 0; k < 3; k++) {
      half[k] = 0.5 * AG_STEP_FN(way)(AG_STEP_PASS h, AG_SPARK->b, 0, AG_SPARK_POSITION(p.d + k), work);
      back[k] = -half[k];
    }
    if (p.kind == AG_FACTOR_IMAGE) {
      AG_STEP_FN(turn_image)(z + p.z, half, y + p.z);
      continue;
    }
    AG_STEP_FN(turn)(z + p.z, half, y + p.z);
    AG_STEP_FN(dexp)(back, by);
    AG_STEP_FN(times_dexp)(back, by, start + AG_SPARK_POSITION(p.d));
  }
}

/* The results of the flow at all stages. */
AG_STEP_QUALIFIER int AG_STEP_FN(stages)(AG_STEP_FLOW AG_STEP_SIZE V t, V h, const V *z, V *work) {
  V *y = AG_SPARK_Y(work), *v = AG_SPARK_V(work), *lambda = AG_SPARK_X(work) + AG_STEP_M;
  AG_STEP_FN(center)(AG_STEP_PASS h, z, work);
  for (int i = 0; i < AG_SPARK->s; i++) {
    const V *own = AG_SPARK_UNKNOWNS(work) + i * AG_SPARK_Q, at = v_fma(v_set(AG_SPARK->c[i]), h, t);
    const V *push = AG_SPARK_UNKNOWNS(work) + AG_SPARK->s * AG_SPARK_Q + i * AG_SPARK_R;
    V *out = AG_SPARK_STAGE(work, i);
    AG_STEP_FN(place)(AG_STEP_PASS h, AG_SPARK->a + i * AG_SPARK_MOST, work);
    for (int k = 0; k < AG_SPARK_Q; k++) v[AG_SPARK_SLOT(k)] = own[k];
    for (int k = 0; k < AG_SPARK_R; k++) {
      lambda[k] = v_set(0);
      if (i < AG_SPARK->s - 1) lambda[k] = push[k];
    }
    AG_STEP_RESIDUAL(at, y, out)
  }
  return 0;
}

/* Adds weight times the derivatives of row r of the results of the flow at stage k by all v_j: by x_k = h sum a_kj v_j,
 * and directly. */
AG_STEP_QUALIFIER void AG_STEP_FN(add)(AG_STEP_FLOW AG_STEP_SIZE V h, V weight, int k, int r, const V *out, V *row) {
  for (int j = 0; j < AG_SPARK->s; j++) {
    const double a = AG_SPARK->a[k * AG_SPARK_MOST + j];
    const V by = weight * (h * a);
    for (int c = 0; c < AG_SPARK_Q && a != 0; c++)
      row[j * AG_SPARK_Q + c] = v_fma(by, AG_SPARK_BY(out, r, c), row[j * AG_SPARK_Q + c]);
  }
  row += k * AG_SPARK_Q;
  for (int c = 0; c < AG_SPARK_Q; c++) row[c] = v_fma(weight, AG_SPARK_BY(out, r, AG_SPARK_Q + c), row[c]);
}

/* The equations of stage i for the momentum: the residual, and the matrix. */
AG_STEP_QUALIFIER void AG_STEP_FN(balance)(AG_STEP_FLOW AG_STEP_SIZE V h, int i, V *work) {
  const int q = AG_SPARK_Q, last = AG_SPARK->s - 1;
  const V *own = AG_SPARK_STAGE(work, i), *start = AG_SPARK_START(work);
  V *left = AG_SPARK_LEFT(work) + i * q, *row = AG_SPARK_MATRIX(work) + i * q * AG_SPARK_N;
  for (int r = 0; r < q; r++, row += AG_SPARK_N) {
    V *push = row + AG_SPARK->s * q;
    for (int c = 0; c < AG_SPARK_N; c++) row[c] = v_set(0);
    left[r] = AG_SPARK_ROW(own, r) - start[r];
    AG_STEP_FN(add)(AG_STEP_PASS h, v_set(1), i, r, own, row);
    for (int j = 0; j < last; j++, push += AG_SPARK_R) { /* of the last stage A is 0 */
      const V *out = AG_SPARK_STAGE(work, j), weight = -(h * AG_SPARK->A[i * AG_SPARK_MOST + j]);
      left[r] = v_fma(weight, AG_SPARK_ROW(out, q + r), left[r]);
      AG_STEP_FN(add)(AG_STEP_PASS h, weight, j, q + r, out, row);
      for (int c = 0; c < AG_SPARK_R; c++) push[c] = weight * AG_SPARK_BY(out, q + r, 2 * q + c);
    }
  }
}

/* Moment i of the constraints. */
AG_STEP_QUALIFIER void AG_STEP_FN(moment)(AG_STEP_FLOW AG_STEP_SIZE V h, int i, V *work) {
  const int q = AG_SPARK_Q, first = AG_SPARK->s * q + i * AG_SPARK_R;
  V *left = AG_SPARK_LEFT(work) + first, *row = AG_SPARK_MATRIX(work) + first * AG_SPARK_N;
  for (int r = 0; r < AG_SPARK_R; r++, row += AG_SPARK_N) {
    for (int c = 0; c < AG_SPARK_N; c++) row[c] = v_set(0);
    left[r] = v_set(0);
    for (int k = 0; k < AG_SPARK->s; k++) {
      const V *out = AG_SPARK_STAGE(work, k), weight = v_set(AG_SPARK->b[k] * (i ? AG_SPARK->c[k] : 1));
      left[r] = v_fma(weight, AG_SPARK_ROW(out, 2 * q + r), left[r]);
      AG_STEP_FN(add)(AG_STEP_PASS h, weight, k, 2 * q + r, out, row);
    }
  }
}

/* The largest correction of h v relative to what it corrects: of the state and of the step, each with a millionth of
 * the largest number of them; 1 for rotations. */
AG_STEP_QUALIFIER V AG_STEP_FN(size)(AG_STEP_FLOW AG_STEP_SIZE V h, const V *z, V *work) {
  const V *v = AG_SPARK_UNKNOWNS(work), *w = AG_SPARK_LEFT(work);
  V largest = v_set(0), worst = v_set(0);
  for (int i = 0; i < AG_STEP_N; i++) largest = v_max(largest, v_abs(z[i]));
  for (int j = 0; j < AG_SPARK->s * AG_SPARK_Q; j++) largest = v_max(largest, v_abs(h * v[j]));
  for (int i = 0; i < AG_STEP_N_FACTOR; i++) {
    const ag_factor p = AG_STEP_FACTOR(i);
    if (p.kind == AG_FACTOR_IMAGE) continue;
    for (int k = 0; k < (p.kind == AG_FACTOR_QUATERNION ? 3 : p.n); k++) {
      if (AG_STEP_MOVES(p.d + k)) continue;
      const int at = AG_SPARK_POSITION(p.d + k);
      const V here = p.kind == AG_FACTOR_QUATERNION ? v_set(1) : v_abs(z[p.z + k]);
      for (int j = 0; j < AG_SPARK->s; j++) {
        const V size = v_max(here, v_abs(h * v[j * AG_SPARK_Q + at]));
        const V ratio = v_abs(h * w[j * AG_SPARK_Q + at]) / (v_fma(v_set(1e-6), largest, size) + 1e-300);
        worst = v_blend(m_nan(worst) | m_lt(ratio, worst), worst, ratio);
      }
    }
  }
  return worst;
}

/* Solves for the unknowns, from a guess; ends with the results of the flow at the stages. */
AG_STEP_QUALIFIER int AG_STEP_FN(unknowns)(AG_STEP_FLOW AG_STEP_SIZE V t, V h, const V *z, V *work) {
  V *x = AG_SPARK_UNKNOWNS(work), *left = AG_SPARK_LEFT(work), last = v_set(V_INF);
  VI open = v_word_set(~0ULL), lost = v_word_set(0);
  for (int trial = 0; trial < AG_SPARK_TRIALS && v_any(open); trial++) {
    int reason = 0;
    AG_STEP_GUARD(open, reason = AG_STEP_FN(stages)(AG_STEP_PASS t, h, z, work);)
    if (reason) return reason;
    for (int i = 0; i < AG_SPARK->s; i++) AG_STEP_FN(balance)(AG_STEP_PASS h, i, work);
    for (int i = 0; i < AG_SPARK->s - 1; i++) AG_STEP_FN(moment)(AG_STEP_PASS h, i, work);
    AG_STEP_FN(solve)(AG_SPARK_N, AG_SPARK_MATRIX(work), left);
    const V now = AG_STEP_FN(size)(AG_STEP_PASS h, z, work), rate = now / last;
    for (int j = 0; j < AG_SPARK_N; j++) x[j] = v_blend(open, x[j] - left[j], x[j]);
    /* the rest: now (rate + rate^2 + ...) */
    const VI done = m_lt(last, v_set(V_INF)) & m_lt(rate, v_set(1)) & m_le(now * rate, AG_SPARK_DONE * (1.0 - rate));
    const VI noise = m_le(now, v_set(AG_SPARK_NOISE)) & m_le(last, now);
    lost |= open & ~m_lt(now, v_set(V_INF));
    open &= ~(done | noise | m_eq(now, v_set(0)) | lost | AG_STEP_FAILED);
    last = now;
  }
  AG_STEP_UNSOLVED(open | lost)
  return AG_STEP_FN(stages)(AG_STEP_PASS t, h, z, work);
}

AG_STEP_QUALIFIER int AG_STEP_FN(step)(AG_STEP_FLOW AG_STEP_SIZE V t, V h, const V *restrict z, V *restrict z1,
                                       double rtol, const V *restrict atol, V *restrict error, V *restrict work) {
  V *end = work + AG_STEP_N, *y = AG_SPARK_Y(work), *x = AG_SPARK_X(work), *v = AG_SPARK_V(work);
  V *unknowns = AG_SPARK_UNKNOWNS(work), *u = AG_SPARK_LEFT(work);
  for (int k = 0; k < AG_STEP_N; k++) y[k] = z[k];
  for (int j = 0; j < AG_STEP_M; j++) x[j] = v_set(0);
  AG_STEP_FN(tangent)(AG_STEP_PASS z, work, v);
  for (int j = 0; j < AG_SPARK_N; j++) unknowns[j] = v_set(0);
  for (int j = 0; j < AG_SPARK->s * AG_SPARK_Q; j++) unknowns[j] = v[AG_SPARK_SLOT(j % AG_SPARK_Q)];
  for (int j = 0; j < AG_STEP_M; j++) v[j] = v_set(0);
  v[AG_STEP_M] = h, v[AG_STEP_M + 1] = v_set(0), v[AG_STEP_M + 2] = v_set(0);
  AG_STEP_RESIDUAL(t, y, AG_SPARK_STAGE(work, 0))
  for (int k = 0; k < AG_SPARK_Q; k++) AG_SPARK_BODY(work)[k] = AG_SPARK_STAGE(work, 0)[k];
  const int reason = AG_STEP_FN(unknowns)(AG_STEP_PASS t, h, z, work);
  if (reason) return reason;
  for (int k = 0; k < AG_SPARK_Q; k++) {
    V sum = v_set(0);
    for (int j = 0; j < AG_SPARK->s; j++)
      sum = v_fma(v_set(AG_SPARK->b[j]), AG_SPARK_ROW(AG_SPARK_STAGE(work, j), AG_SPARK_Q + k), sum);
    v[AG_SPARK_SLOT(k)] = v_fma(h, sum, AG_SPARK_START(work)[k]);
  }
  AG_STEP_FN(place)(AG_STEP_PASS h, AG_SPARK->b, work);
  AG_STEP_FINISH(t, y, u)
  AG_STEP_FN(move)(AG_STEP_PASS y, v_set(1), x, z1);
  for (int k = 0; k < AG_STEP_N_FACTOR; k++) {
    const ag_factor p = AG_STEP_FACTOR(k);
    for (int c = 0; c < p.n && p.kind == AG_FACTOR_VECTOR; c++)
      if (AG_STEP_MOVES(p.d + c)) z1[p.z + c] = u[p.d + c - AG_STEP_U_AT];
  }
  AG_STEP_RHS(t + h, z1, end)
  AG_STEP_FN(no_estimate)(AG_STEP_PASS z1, end, error);
  (void)rtol, (void)atol;
  return 0;
}

#undef AG_SPARK_BY
#undef AG_SPARK_ROW
#undef AG_SPARK_POSITION
#undef AG_SPARK_SLOT
#undef AG_SPARK_STAGE
#undef AG_SPARK_MATRIX
#undef AG_SPARK_LEFT
#undef AG_SPARK_UNKNOWNS
#undef AG_SPARK_START
#undef AG_SPARK_BODY
#undef AG_SPARK_V
#undef AG_SPARK_X
#undef AG_SPARK_Y
#undef AG_SPARK_N
#undef AG_SPARK_OUT
#undef AG_SPARK_ALL
#undef AG_SPARK_R
#undef AG_SPARK_Q
#undef AG_SPARK_NOISE
#undef AG_SPARK_DONE
#undef AG_SPARK_TRIALS
