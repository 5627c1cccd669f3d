/* SPDX-License-Identifier: MIT
 * Variational steps: a stepper's text (step_text.h), after factor_core.h, newton_core.h, variational.h and
 * hermite_core.h, with a bath also trial_core.h. A part of a step solves the discrete equations R(d, Lambda) = 0 of the
 * flow for the increment d of the positions, in tangent coordinates, and the impulses Lambda, and ends with the
 * positions q0 tau(d) and the velocities that the flow gives. Newton's method, each lane until its own corrections are
 * rounding. The part of the momentum not represented by the velocities is carried to the next part. Without constraints
 * it is rounding error, which would accumulate in the momenta of symmetries, in the same direction at every step. With
 * constraints it also lies along their impulses; where these act at q0 that part only changes the next Lambda.
 *
 * The flow reads one array: the state, d (AG_STEP_M numbers, 0 for velocities), Lambda (AG_STEP_N_LAMBDA), the carried
 * momentum (AG_STEP_M), the length h of the part, a and b. Needs, besides what is listed in step_text.h,
 *   AG_STEP_RESIDUAL(t, y, out)   a statement that sets the V out[] to R and its Jacobian, row by row; unknowns: d
 *                                 without the velocities, then Lambda
 *   AG_STEP_TABLE, AG_STEP_SQUARE as in newton_core.h: a sparse Jacobian has its entries alone
 *   AG_STEP_FINISH(t, y, out)     a statement that sets out[] to the velocities at the end, then the momentum left over
 *   AG_STEP_U_AT, AG_STEP_N_U     which tangent coordinates are velocities
 *   AG_VARIATIONAL                the method, a pointer to an ag_variational
 *   AG_VARIATIONAL_BATH           defined, where the method is `bathed`: then AG_STEP_W(i) and AG_STEP_CHANNELS are the
 *                                 weights of the right-hand side, as in langevin_core.h
 *
 * The workspace: the carry at both ends, three rows of dense output, a state, the array of the flow, the correction, R
 * with its Jacobian, the end; with a Metropolis test two more states. */
#define AG_VAR_MOST 30
#define AG_VAR_SMALL 1e-8
#define AG_VAR_ROUNDING 1e-14
#define AG_VAR_NOISE 1e-11
#define AG_VAR_UNKNOWNS (AG_STEP_M - AG_STEP_N_U + AG_STEP_N_LAMBDA)
#define AG_VAR_ROWS(work) ((work) + 2 * AG_HERMITE_CARRY)
#define AG_VAR_STATE(work) (AG_VAR_ROWS(work) + 3 * AG_STEP_N)
#define AG_VAR_Y(work) (AG_VAR_STATE(work) + AG_STEP_N)
#define AG_VAR_D(work) (AG_VAR_Y(work) + AG_STEP_N)
#define AG_VAR_LAMBDA(work) (AG_VAR_D(work) + AG_STEP_M)
#define AG_VAR_DELTA(work) (AG_VAR_LAMBDA(work) + AG_STEP_N_LAMBDA)
#define AG_VAR_GIVEN(work) (AG_VAR_DELTA(work) + AG_STEP_M)
#define AG_VAR_W(work) (AG_VAR_GIVEN(work) + 3)
#define AG_VAR_R(work) (AG_VAR_W(work) + AG_STEP_M)
#define AG_VAR_TRIAL(work) ((work) + 9 * AG_STEP_N + 7 * AG_STEP_M + 3 + 4 * AG_STEP_SQUARE)
/* Where an unknown stands behind the state. */
#define AG_VAR_SLOT(j) ((j) < AG_STEP_U_AT ? (j) : (j) + AG_STEP_N_U)

/* In which lanes is the correction w of d small? In each component below AG_VAR_SMALL of its size, or rounding of the
 * largest number: the next correction, quadratically smaller, is then rounding. Also where it is below AG_VAR_NOISE of
 * the largest number and no longer decreases; *last is that of the correction before. */
AG_STEP_QUALIFIER VI AG_STEP_FN(is_settled)(AG_STEP_FLOW AG_STEP_SIZE const V *z, const V *d, const V *w, V *last,
                                            VI *noise) {
  V largest = v_set(0), now = v_set(0);
  VI small = v_word_set(~0ULL);
  for (int i = 0; i < AG_STEP_N; i++) largest = v_max(largest, v_abs(z[i]));
  for (int j = 0; j < AG_STEP_M; j++) largest = v_max(largest, v_abs(d[j])), now = v_max(now, v_abs(w[j]));
  for (int i = 0; i < AG_STEP_N_FACTOR; i++) {
    const ag_factor p = AG_STEP_FACTOR(i);
    if (p.kind == AG_FACTOR_IMAGE) continue;
    for (int j = 0; j < (p.kind == AG_FACTOR_QUATERNION ? 3 : p.n); j++) {
      const V here = p.kind == AG_FACTOR_QUATERNION ? v_set(1) : v_abs(z[p.z + j]);
      const V size = v_max(here, v_abs(d[p.d + j]));
      small &= m_le(v_abs(w[p.d + j]), v_fma(v_set(AG_VAR_ROUNDING), largest, AG_VAR_SMALL * size));
    }
  }
  *noise = m_le(now, AG_VAR_NOISE * largest) & m_le(*last, now);
  *last = now;
  return small;
}

/* From R and its Jacobian behind it to the correction, in place of R. */
AG_STEP_QUALIFIER void AG_STEP_FN(correction)(AG_STEP_FLOW AG_STEP_SIZE V *R) {
  const int *table = AG_STEP_TABLE;
  V *J = R + AG_VAR_UNKNOWNS;
  if (!table) {
    AG_STEP_FN(solve)(AG_VAR_UNKNOWNS, J, R);
    return;
  }
  AG_STEP_FN(factor_sparse)(table, J, v_set(-1), 0, J + table[1]);
  AG_STEP_FN(solved_sparse)(table, J + table[1], R);
}

/* The discrete equations of a part: y is set but for a guess of d and Lambda. */
AG_STEP_QUALIFIER int AG_STEP_FN(increment)(AG_STEP_FLOW AG_STEP_SIZE V t, V *work) {
  V *y = AG_VAR_Y(work), *d = AG_VAR_D(work), *w = AG_VAR_W(work), *R = AG_VAR_R(work);
  VI open = v_word_set(~0ULL), near = v_word_set(0), noise;
  V before = v_set(V_INF);
  for (int trial = 0; trial < AG_VAR_MOST && v_any(open); trial++) {
    AG_STEP_GUARD(open, AG_STEP_RESIDUAL(t, y, R))
    AG_STEP_FN(correction)(AG_STEP_PASS R);
    for (int j = 0; j < AG_STEP_M; j++) w[j] = v_set(0);
    for (int j = 0; j < AG_STEP_M - AG_STEP_N_U; j++) w[AG_VAR_SLOT(j)] = R[j];
    const VI small = AG_STEP_FN(is_settled)(AG_STEP_PASS y, d, w, &before, &noise), last = near;
    for (int j = 0; j < AG_VAR_UNKNOWNS; j++) {
      V *x = d + AG_VAR_SLOT(j);
      *x = v_blend(open, *x - R[j], *x);
    }
    open &= ~(last | noise | AG_STEP_FAILED);
    near = open & small;
  }
  AG_STEP_UNSOLVED(open)
  return 0;
}

/* The increment as the d of q exp(d): with the Cayley map, 2 atan(x / 2) / x of it, x = |d|. */
AG_STEP_QUALIFIER void AG_STEP_FN(as_exp)(AG_STEP_FLOW AG_STEP_SIZE const V *d, V *w) {
  for (int j = 0; j < AG_STEP_M; j++) w[j] = d[j];
  for (int i = 0; i < AG_STEP_N_FACTOR; i++) {
    const ag_factor p = AG_STEP_FACTOR(i);
    if (p.kind != AG_FACTOR_QUATERNION || !AG_VARIATIONAL->cayley) continue;
    const V *e = d + p.d, square = v_fma(e[2], e[2], v_fma(e[1], e[1], e[0] * e[0])), x = v_sqrt(square);
    const VI tiny = m_lt(square, v_set(1e-5)); /* the next term of the series is below 1e-17 */
    const V near = v_fma(square, v_fma(square, v_set(1.0 / 80), v_set(-1.0 / 12)), v_set(1));
    const V by = v_blend(tiny, near, 2.0 * v_atan(0.5 * x) / v_blend(tiny, v_set(1), x));
    for (int k = 0; k < 3; k++) w[p.d + k] = by * e[k];
  }
}

/* A part from (t, z), by h, to z1. */
AG_STEP_QUALIFIER int AG_STEP_FN(part)(AG_STEP_FLOW AG_STEP_SIZE int i, V t, V h, const V *z, V *z1, V *work) {
  V *y = AG_VAR_Y(work), *w = AG_VAR_W(work), *R = AG_VAR_R(work), *given = AG_VAR_GIVEN(work);
  for (int k = 0; k < AG_STEP_N; k++) y[k] = z[k];
  given[0] = h, given[1] = v_set(AG_VARIATIONAL->a[i]), given[2] = v_set(AG_VARIATIONAL->b[i]);
  const int reason = AG_STEP_FN(increment)(AG_STEP_PASS t, work);
  if (reason) return reason;
  AG_STEP_FINISH(t, y, R)
  AG_STEP_FN(as_exp)(AG_STEP_PASS AG_VAR_D(work), w);
  AG_STEP_FN(move)(AG_STEP_PASS z, v_set(1), w, z1);
  for (int k = 0; k < AG_STEP_N_FACTOR; k++) {
    const ag_factor p = AG_STEP_FACTOR(k);
    for (int c = 0; c < p.n && p.kind == AG_FACTOR_VECTOR; c++)
      if (AG_STEP_MOVES(p.d + c)) z1[p.z + c] = R[p.d + c - AG_STEP_U_AT];
  }
  return 0;
}

#ifdef AG_VARIATIONAL_BATH
#define AG_VAR_FRICTION AG_STEP_W(1 + AG_STEP_CHANNELS)
#define AG_VAR_KEPT(i) AG_STEP_W(2 + AG_STEP_CHANNELS + (i))

/* The weights of drift and friction. */
AG_STEP_QUALIFIER void AG_STEP_FN(weigh)(AG_STEP_FLOW AG_STEP_SIZE int drift, int friction) {
  AG_STEP_W(0) = v_set(drift), AG_VAR_FRICTION = v_set(friction);
}

/* The weights of the noise: those that are kept, or 0. */
AG_STEP_QUALIFIER void AG_STEP_FN(shake)(AG_STEP_FLOW AG_STEP_SIZE int kept) {
  for (int i = 0; i < AG_STEP_CHANNELS; i++) AG_STEP_W(1 + i) = kept ? AG_VAR_KEPT(i) : v_set(0);
}

/* Velocities by friction and noise for the time h, z to out: their rate is g + A u, the midpoint rule is
 *   (1 - h A/2) (u1 - u) = h (g + A u),
 * with A from the rates of unit velocities. */
AG_STEP_QUALIFIER int AG_STEP_FN(bathe)(AG_STEP_FLOW AG_STEP_SIZE V t, V h, const V *z, V *out, V *work) {
  V *y = AG_VAR_Y(work), *rate = AG_VAR_ROWS(work), *g = rate + AG_STEP_N, *b = AG_VAR_R(work), *A = b + AG_STEP_N_U;
  const int at = AG_STEP_FN(place)(AG_STEP_PASS 0);
  AG_STEP_FN(weigh)(AG_STEP_PASS 0, 1);
  for (int i = 0; i < AG_STEP_N; i++) y[i] = z[i];
  for (int i = 0; i < AG_STEP_N_U; i++) y[at + i] = v_set(0);
  AG_STEP_RHS(t, y, g)
  for (int i = 0; i < AG_STEP_N_U; i++) b[i] = g[at + i];
  for (int j = 0; j < AG_STEP_N_U; j++) {
    y[at + j] = v_set(1);
    AG_STEP_RHS(t, y, rate)
    y[at + j] = v_set(0);
    for (int i = 0; i < AG_STEP_N_U; i++) {
      const V a = rate[at + i] - g[at + i];
      b[i] = v_fma(a, z[at + j], b[i]);
      A[i * AG_STEP_N_U + j] = (i == j ? 1.0 : 0.0) - 0.5 * h * a;
    }
  }
  for (int i = 0; i < AG_STEP_N_U; i++) b[i] = h * b[i];
  AG_STEP_FN(solve)(AG_STEP_N_U, A, b);
  for (int i = 0; i < AG_STEP_N; i++) out[i] = z[i];
  for (int i = 0; i < AG_STEP_N_U; i++) out[at + i] = z[at + i] + b[i];
  return 0;
}

/* A part without friction and noise, z to z1. */
AG_STEP_QUALIFIER int AG_STEP_FN(glide)(AG_STEP_FLOW AG_STEP_SIZE V t, V h, const V *z, V *z1, V *work) {
  V *d = AG_VAR_D(work), *rate = AG_VAR_ROWS(work);
  AG_STEP_RHS(t, z, rate)
  AG_STEP_FN(tangent)(AG_STEP_PASS z, rate, d);
  for (int j = 0; j < AG_STEP_M; j++) d[j] = AG_STEP_MOVES(j) ? v_set(0) : h * d[j], AG_VAR_DELTA(work)[j] = v_set(0);
  for (int j = 0; j < AG_STEP_N_LAMBDA; j++) AG_VAR_LAMBDA(work)[j] = v_set(0);
  return AG_STEP_FN(part)(AG_STEP_PASS 0, t, h, z, z1, work);
}

/* The same; tested: and back. bad: lanes in which it does not return. */
AG_STEP_QUALIFIER int AG_STEP_FN(glide_back)(AG_STEP_FLOW AG_STEP_SIZE V t, V h, const V *z, V *z1, V *work, VI *bad) {
  V *there = AG_VAR_TRIAL(work), *back = there + AG_STEP_N;
  int reason = AG_STEP_FN(glide)(AG_STEP_PASS t, h, z, z1, work);
  if (reason || !AG_VARIATIONAL->tests) return reason;
  AG_STEP_FN(reverse)(AG_STEP_PASS z1, there);
  reason = AG_STEP_FN(glide)(AG_STEP_PASS t, h, there, back, work);
  AG_STEP_FN(reverse)(AG_STEP_PASS back, there);
  *bad |= AG_STEP_FN(elsewhere)(AG_STEP_PASS z, there);
  return reason;
}

/* Velocities by forces for the time h: by the rates at rest. */
AG_STEP_QUALIFIER int AG_STEP_FN(kick)(AG_STEP_FLOW AG_STEP_SIZE V t, V h, V *z, V *work) {
  V *y = AG_VAR_Y(work), *rate = AG_VAR_ROWS(work);
  const int at = AG_STEP_FN(place)(AG_STEP_PASS 0);
  for (int i = 0; i < AG_STEP_N; i++) y[i] = z[i];
  for (int i = 0; i < AG_STEP_N_U; i++) y[at + i] = v_set(0);
  AG_STEP_RHS(t, y, rate)
  for (int i = 0; i < AG_STEP_N_U; i++) z[at + i] = v_fma(h, rate[at + i], z[at + i]);
  return 0;
}

/* A part without friction and noise between two kicks, of the times k and -k; z is changed. *d: the change of E/kT, if
 * it is tested. */
AG_STEP_QUALIFIER int AG_STEP_FN(lean)(AG_STEP_FLOW AG_STEP_SIZE V t, V h, V k, V *z, V *z1, V *work, V *d, VI *bad) {
  const int tests = AG_VARIATIONAL->tests;
  int reason = tests ? AG_STEP_FN(add_energy)(AG_STEP_PASS t, z, -1, d) : 0;
  if (!reason) reason = AG_STEP_FN(kick)(AG_STEP_PASS t, k, z, work);
  if (!reason) reason = AG_STEP_FN(glide_back)(AG_STEP_PASS t, h, z, z1, work, bad);
  if (!reason) reason = AG_STEP_FN(kick)(AG_STEP_PASS t + h, -k, z1, work);
  return reason || !tests ? reason : AG_STEP_FN(add_energy)(AG_STEP_PASS t, z1, 1, d);
}

/* BAOAB. A step V of RATTLE is B A B, with the kicks B at its ends: A(h/2) = B(-h/4) V(h/2) B(-h/4), and
 *   B(h/2) A(h/2) O A(h/2) B(h/2) = B(h/4) V(h/2) B(-h/4) O B(-h/4) V(h/2) B(h/4). */
AG_STEP_QUALIFIER int AG_STEP_FN(around)(AG_STEP_FLOW AG_STEP_SIZE V t, V h, const V *z, V *z1, V *work, V *d,
                                         VI *bad) {
  V *mid = AG_VAR_STATE(work);
  const V half = 0.5 * h, k = 0.25 * h;
  for (int i = 0; i < AG_STEP_N; i++) mid[i] = z[i];
  int reason = AG_STEP_FN(lean)(AG_STEP_PASS t, half, k, mid, z1, work, d, bad);
  if (reason) return reason;
  AG_STEP_FN(shake)(AG_STEP_PASS 1);
  reason = AG_STEP_FN(bathe)(AG_STEP_PASS t + half, h, z1, mid, work);
  AG_STEP_FN(weigh)(AG_STEP_PASS 1, 0);
  AG_STEP_FN(shake)(AG_STEP_PASS 0);
  return reason ? reason : AG_STEP_FN(lean)(AG_STEP_PASS t + half, half, -k, mid, z1, work, d, bad);
}

/* What lies between two parts O, with its change d of E/kT if it is tested; or the whole of BAOAB. */
AG_STEP_QUALIFIER int AG_STEP_FN(inner)(AG_STEP_FLOW AG_STEP_SIZE V t, V h, const V *z, V *z1, V *work, V *d, VI *bad) {
  const int tests = AG_VARIATIONAL->tests;
  if (AG_VARIATIONAL->bathed == AG_BATHED_INSIDE) return AG_STEP_FN(around)(AG_STEP_PASS t, h, z, z1, work, d, bad);
  int reason = tests ? AG_STEP_FN(add_energy)(AG_STEP_PASS t, z, -1, d) : 0;
  if (!reason) reason = AG_STEP_FN(glide_back)(AG_STEP_PASS t, h, z, z1, work, bad);
  return reason || !tests ? reason : AG_STEP_FN(add_energy)(AG_STEP_PASS t, z1, 1, d);
}

/* The same, accepted or rejected if it is tested: then a step that fails is rejected. */
AG_STEP_QUALIFIER int AG_STEP_FN(judged)(AG_STEP_FLOW AG_STEP_SIZE V t, V h, const V *z, V *z1, V *work, V *count) {
  const VI before = AG_STEP_FAILED;
  VI bad = v_word_set(0);
  V d = v_set(0);
  AG_STEP_FN(weigh)(AG_STEP_PASS 1, 0);
  AG_STEP_FN(shake)(AG_STEP_PASS 0);
  const int reason = AG_STEP_FN(inner)(AG_STEP_PASS t, h, z, z1, work, &d, &bad);
  if (!AG_VARIATIONAL->tests) return reason;
  bad |= reason ? v_word_set(~0ULL) : AG_STEP_FAILED & ~before;
  AG_STEP_FORGIVE(before)
  for (int i = 0; i < AG_STEP_N && reason; i++) z1[i] = z[i];
  AG_STEP_FN(judge)(AG_STEP_PASS d, bad, z, z1, count);
  return 0;
}

/* Friction and noise at both ends, half of them each, or in the middle. On entry the weights are [1 | dW/h | 1 | D/h],
 * dW and D sum and difference of the increments of both halves; count: of accepted steps. */
AG_STEP_QUALIFIER int AG_STEP_FN(bathed)(AG_STEP_FLOW AG_STEP_SIZE V t, V h, const V *z, V *z1, V *work, V *count) {
  V *mid = AG_VAR_STATE(work);
  const int ends = AG_VARIATIONAL->bathed == AG_BATHED_ENDS;
  int reason = 0;
  for (int i = 0; i < AG_STEP_CHANNELS; i++) {
    const V a = AG_STEP_W(1 + i), b = AG_VAR_KEPT(i);
    AG_STEP_W(1 + i) = a + b, AG_VAR_KEPT(i) = ends ? a - b : a;
  }
  if (ends) reason = AG_STEP_FN(bathe)(AG_STEP_PASS t, 0.5 * h, z, mid, work);
  if (!reason) reason = AG_STEP_FN(judged)(AG_STEP_PASS t, h, ends ? mid : z, z1, work, count);
  if (reason) return reason;
  AG_STEP_FN(shake)(AG_STEP_PASS 1);
  for (int i = 0; i < AG_STEP_N && ends; i++) mid[i] = z1[i];
  if (ends) reason = AG_STEP_FN(bathe)(AG_STEP_PASS t + h, 0.5 * h, mid, z1, work);
  AG_STEP_FN(weigh)(AG_STEP_PASS 1, 1);
  return reason;
}
#undef AG_VAR_KEPT
#undef AG_VAR_FRICTION
#endif

AG_STEP_QUALIFIER int AG_STEP_FN(step)(AG_STEP_FLOW AG_STEP_SIZE V t, V h, const V *restrict z, V *restrict z1,
                                       double rtol, const V *restrict atol, V *restrict error, V *restrict work) {
  V *end = work + AG_HERMITE_CARRY, *d = AG_VAR_D(work), *left = AG_VAR_R(work) + AG_STEP_N_U,
    *mid = AG_VAR_STATE(work);
  const V part = h / (double)AG_VARIATIONAL->n_part;
#ifdef AG_VARIATIONAL_BATH
  if (AG_VARIATIONAL->bathed) {
    V count = AG_VARIATIONAL->tests ? work[AG_STEP_N] : v_set(0);
    const int trouble = AG_STEP_FN(bathed)(AG_STEP_PASS t, h, z, z1, work, &count);
    if (trouble) return trouble;
    AG_STEP_RHS(t + h, z1, end)
    for (int j = 0; j < AG_STEP_N; j++) end[AG_STEP_N + j] = j ? v_set(0) : count;
    AG_STEP_FN(no_estimate)(AG_STEP_PASS z1, end, error);
    return 0;
  }
#endif
  AG_STEP_FN(tangent)(AG_STEP_PASS z, work, d);
  for (int j = 0; j < AG_STEP_M; j++) {
    d[j] = AG_STEP_MOVES(j) ? v_set(0) : part * d[j];
    AG_VAR_DELTA(work)[j] = work[AG_STEP_N + j];
  }
  for (int j = 0; j < AG_STEP_N_LAMBDA; j++) AG_VAR_LAMBDA(work)[j] = v_set(0);
  for (int i = 0; i < AG_VARIATIONAL->n_part; i++) {
    const int last = i == AG_VARIATIONAL->n_part - 1;
    const V at = i ? t + part : t;
    const int reason = AG_STEP_FN(part)(AG_STEP_PASS i, at, part, i ? mid : z, last ? z1 : mid, work);
    if (reason) return reason;
    for (int j = 0; j < AG_STEP_M; j++) AG_VAR_DELTA(work)[j] = left[j];
  }
  AG_STEP_RHS(t + h, z1, end)
  for (int j = 0; j < AG_STEP_N; j++) end[AG_STEP_N + j] = j < AG_STEP_M ? AG_VAR_DELTA(work)[j] : v_set(0);
  AG_STEP_FN(no_estimate)(AG_STEP_PASS z1, end, error);
  (void)rtol, (void)atol;
  return 0;
}

#undef AG_VAR_SLOT
#undef AG_VAR_TRIAL
#undef AG_VAR_R
#undef AG_VAR_W
#undef AG_VAR_GIVEN
#undef AG_VAR_DELTA
#undef AG_VAR_LAMBDA
#undef AG_VAR_D
#undef AG_VAR_Y
#undef AG_VAR_STATE
#undef AG_VAR_ROWS
#undef AG_VAR_UNKNOWNS
#undef AG_VAR_NOISE
#undef AG_VAR_ROUNDING
#undef AG_VAR_SMALL
#undef AG_VAR_MOST
