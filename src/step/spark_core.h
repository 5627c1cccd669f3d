/* SPDX-License-Identifier: MIT
 * SPARK methods (Jay): a stepper's text (step_text.h), behind factor_core.h, newton_core.h, spark.h and
 * hermite_core.h. In the chart x of the step (q = q0 exp(x) on rotations, q0 + x on vectors), with velocities v = x',
 * momenta P(x, v), the forces G(x, v, Lambda) and the constraints K(x, v) of the flow,
 *   x_i = h sum_j a_ij v_j,    P(x_i, v_i) = p0 + h sum_j A_ij G_j,    i = 1 .. s,
 *   sum_j b_j c_j^i K_j = 0,    i = 0 .. s - 2,
 *   x_end = h sum_j b_j v_j,    p_end = p0 + h sum_j b_j G_j,
 * a and A the Lobatto pair IIIA, IIIB. The last column of A is 0: Lambda_s acts on p_end alone, where it takes the
 * velocities onto the constraints; it is left out, and the flow finds these velocities. Newton's method for all v_i and
 * Lambda_1 .. Lambda_{s-1} at once, with exact derivatives, each lane until its own corrections are rounding.
 *
 * The flow reads one array: the state, x (AG_STEP_M numbers, 0 for velocities), Lambda (AG_STEP_N_LAMBDA), v (or, of
 * the end, the momentum; AG_STEP_M), the length h of the step, and two numbers that are not used. Needs, besides what
 * is listed in step_text.h,
 *   AG_STEP_RESIDUAL(t, y, out)   a statement that sets the V out[] to p0, to P, G, K, and to their derivatives by x,
 * v, Lambda row by row; positions without the velocities AG_STEP_FINISH(t, y, out)     a statement that sets out[] to
 * the velocities at the end AG_SPARK                      the method, a pointer to an ag_spark
 *
 * The workspace: the rates at both ends, three rows of dense output, the array of the flow, the unknowns, what is left
 * of the equations, their matrix, what the flow says at each stage. */
#define AG_SPARK_TRIALS 30
#define AG_SPARK_SMALL 1e-8
#define AG_SPARK_ROUNDING 1e-14
#define AG_SPARK_NOISE 1e-11
#define AG_SPARK_Q (AG_STEP_M - AG_STEP_N_U)
#define AG_SPARK_R AG_STEP_N_LAMBDA
#define AG_SPARK_ALL (2 * AG_SPARK_Q + AG_SPARK_R)
#define AG_SPARK_OUT (AG_SPARK_Q + AG_SPARK_ALL + AG_SPARK_ALL * AG_SPARK_ALL)
#define AG_SPARK_N (AG_SPARK->s * AG_SPARK_Q + (AG_SPARK->s - 1) * AG_SPARK_R)
#define AG_SPARK_Y(work) ((work) + 5 * AG_STEP_N)
#define AG_SPARK_X(work) (AG_SPARK_Y(work) + AG_STEP_N)
#define AG_SPARK_V(work) (AG_SPARK_X(work) + AG_STEP_M + AG_SPARK_R)
#define AG_SPARK_UNKNOWNS(work) (AG_SPARK_V(work) + AG_STEP_M + 3)
#define AG_SPARK_LEFT(work) (AG_SPARK_UNKNOWNS(work) + AG_SPARK_N)
#define AG_SPARK_MATRIX(work) (AG_SPARK_LEFT(work) + AG_SPARK_N)
#define AG_SPARK_STAGE(work, i) (AG_SPARK_MATRIX(work) + AG_SPARK_N * AG_SPARK_N + (i)*AG_SPARK_OUT)
/* Where a position stands behind the state. */
#define AG_SPARK_SLOT(j) ((j) < AG_STEP_U_AT ? (j) : (j) + AG_STEP_N_U)
/* In what the flow says: rows of P, G, K; derivative of row r by column k, where x, v, Lambda begin at 0, Q, 2 Q. */
#define AG_SPARK_ROW(o, r) ((o)[AG_SPARK_Q + (r)])
#define AG_SPARK_BY(o, r, k) ((o)[AG_SPARK_Q + AG_SPARK_ALL + (r)*AG_SPARK_ALL + (k)])

/* x_i, or with weights b x_end, into the array of the flow. */
AG_STEP_QUALIFIER void AG_STEP_FN(place)(AG_STEP_FLOW AG_STEP_SIZE V h, const double *a, V *work) {
  const V *v = AG_SPARK_UNKNOWNS(work);
  V *x = AG_SPARK_X(work);
  for (int k = 0; k < AG_SPARK_Q; k++) {
    V sum = v_set(0);
    for (int j = 0; j < AG_SPARK->s; j++) sum = v_fma(v_set(a[j]), v[j * AG_SPARK_Q + k], sum);
    x[AG_SPARK_SLOT(k)] = h * sum;
  }
}

/* What the flow says at all stages. */
AG_STEP_QUALIFIER int AG_STEP_FN(stages)(AG_STEP_FLOW AG_STEP_SIZE V t, V h, V *work) {
  V *y = AG_SPARK_Y(work), *v = AG_SPARK_V(work), *lambda = AG_SPARK_X(work) + AG_STEP_M;
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

/* Adds weight times the derivatives of row r of what the flow says at stage k by all v_j: by x_k = h sum a_kj v_j, and
 * directly. */
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

/* The equations of stage i for the momentum: what is left, and the matrix. */
AG_STEP_QUALIFIER void AG_STEP_FN(balance)(AG_STEP_FLOW AG_STEP_SIZE V h, int i, V *work) {
  const int q = AG_SPARK_Q, last = AG_SPARK->s - 1;
  const V *own = AG_SPARK_STAGE(work, i), *start = AG_SPARK_STAGE(work, 0);
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

/* In which lanes are the corrections of all v_i small? As in variational_core.h, of h v. */
AG_STEP_QUALIFIER VI AG_STEP_FN(is_settled)(AG_STEP_FLOW AG_STEP_SIZE V h, V *work, V *last, VI *noise) {
  const V *z = AG_SPARK_Y(work), *v = AG_SPARK_UNKNOWNS(work), *w = AG_SPARK_LEFT(work);
  V largest = v_set(0), now = v_set(0);
  VI small = v_word_set(~0ULL);
  for (int i = 0; i < AG_STEP_N; i++) largest = v_max(largest, v_abs(z[i]));
  for (int j = 0; j < AG_SPARK->s * AG_SPARK_Q; j++)
    largest = v_max(largest, v_abs(h * v[j])), now = v_max(now, v_abs(h * w[j]));
  for (int i = 0; i < AG_STEP_N_FACTOR; i++) {
    const ag_factor p = AG_STEP_FACTOR(i);
    if (p.kind == AG_FACTOR_IMAGE) continue;
    for (int k = 0; k < (p.kind == AG_FACTOR_QUATERNION ? 3 : p.n); k++) {
      if (AG_STEP_MOVES(p.d + k)) continue;
      const int at = p.d + k < AG_STEP_U_AT ? p.d + k : p.d + k - AG_STEP_N_U;
      const V here = p.kind == AG_FACTOR_QUATERNION ? v_set(1) : v_abs(z[p.z + k]);
      for (int j = 0; j < AG_SPARK->s; j++) {
        const V size = v_max(here, v_abs(h * v[j * AG_SPARK_Q + at]));
        small &=
            m_le(v_abs(h * w[j * AG_SPARK_Q + at]), v_fma(v_set(AG_SPARK_ROUNDING), largest, AG_SPARK_SMALL * size));
      }
    }
  }
  *noise = m_le(now, AG_SPARK_NOISE * largest) & m_le(*last, now);
  *last = now;
  return small;
}

/* Solves for the unknowns, from a guess; ends with what the flow says at the stages. */
AG_STEP_QUALIFIER int AG_STEP_FN(unknowns)(AG_STEP_FLOW AG_STEP_SIZE V t, V h, V *work) {
  V *x = AG_SPARK_UNKNOWNS(work), *left = AG_SPARK_LEFT(work), before = v_set(V_INF);
  VI open = v_word_set(~0ULL), near = v_word_set(0), noise;
  for (int trial = 0; trial < AG_SPARK_TRIALS && v_any(open); trial++) {
    int reason = 0;
    AG_STEP_GUARD(open, reason = AG_STEP_FN(stages)(AG_STEP_PASS t, h, work);)
    if (reason) return reason;
    for (int i = 0; i < AG_SPARK->s; i++) AG_STEP_FN(balance)(AG_STEP_PASS h, i, work);
    for (int i = 0; i < AG_SPARK->s - 1; i++) AG_STEP_FN(moment)(AG_STEP_PASS h, i, work);
    AG_STEP_FN(solve)(AG_SPARK_N, AG_SPARK_MATRIX(work), left);
    const VI small = AG_STEP_FN(is_settled)(AG_STEP_PASS h, work, &before, &noise), last = near;
    for (int j = 0; j < AG_SPARK_N; j++) x[j] = v_blend(open, x[j] - left[j], x[j]);
    open &= ~(last | noise | AG_STEP_FAILED);
    near = open & small;
  }
  AG_STEP_UNSOLVED(open)
  return AG_STEP_FN(stages)(AG_STEP_PASS t, h, work);
}

AG_STEP_QUALIFIER int AG_STEP_FN(step)(AG_STEP_FLOW AG_STEP_SIZE V t, V h, const V *restrict z, V *restrict z1,
                                       double rtol, V atol, V *restrict error, V *restrict work) {
  V *end = work + AG_STEP_N, *y = AG_SPARK_Y(work), *x = AG_SPARK_X(work), *v = AG_SPARK_V(work);
  V *unknowns = AG_SPARK_UNKNOWNS(work), *u = AG_SPARK_LEFT(work);
  for (int k = 0; k < AG_STEP_N; k++) y[k] = z[k];
  for (int j = 0; j < AG_STEP_M; j++) x[j] = v_set(0);
  AG_STEP_FN(tangent)(AG_STEP_PASS z, work, v);
  for (int j = 0; j < AG_SPARK_N; j++) unknowns[j] = v_set(0);
  for (int j = 0; j < AG_SPARK->s * AG_SPARK_Q; j++) unknowns[j] = v[AG_SPARK_SLOT(j % AG_SPARK_Q)];
  for (int j = 0; j < AG_STEP_M; j++) v[j] = v_set(0);
  v[AG_STEP_M] = h, v[AG_STEP_M + 1] = v_set(0), v[AG_STEP_M + 2] = v_set(0);
  const int reason = AG_STEP_FN(unknowns)(AG_STEP_PASS t, h, work);
  if (reason) return reason;
  for (int k = 0; k < AG_SPARK_Q; k++) {
    V sum = v_set(0);
    for (int j = 0; j < AG_SPARK->s; j++)
      sum = v_fma(v_set(AG_SPARK->b[j]), AG_SPARK_ROW(AG_SPARK_STAGE(work, j), AG_SPARK_Q + k), sum);
    v[AG_SPARK_SLOT(k)] = v_fma(h, sum, AG_SPARK_STAGE(work, 0)[k]);
  }
  AG_STEP_FN(place)(AG_STEP_PASS h, AG_SPARK->b, work);
  AG_STEP_FINISH(t, y, u)
  AG_STEP_FN(move)(AG_STEP_PASS z, v_set(1), x, z1);
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
#undef AG_SPARK_SLOT
#undef AG_SPARK_STAGE
#undef AG_SPARK_MATRIX
#undef AG_SPARK_LEFT
#undef AG_SPARK_UNKNOWNS
#undef AG_SPARK_V
#undef AG_SPARK_X
#undef AG_SPARK_Y
#undef AG_SPARK_N
#undef AG_SPARK_OUT
#undef AG_SPARK_ALL
#undef AG_SPARK_R
#undef AG_SPARK_Q
#undef AG_SPARK_NOISE
#undef AG_SPARK_ROUNDING
#undef AG_SPARK_SMALL
#undef AG_SPARK_TRIALS
