/* SPDX-License-Identifier: MIT
 * One implicit Runge-Kutta step: a stepper's text (step_text.h), after factor_core.h, sparse_core.h, lu_core.h and
 * irk_tableau.h. It needs AG_STEP_JACOBIAN, AG_STEP_TABLE, AG_STEP_SQUARE and AG_STEP_UNSOLVED (newton_core.h), and
 *   AG_IRK_METHOD              which tableau, e.g. gauss3; or AG_IRK, a pointer to it
 *   AG_STEP_FAILED             in which lanes the right-hand side has failed
 *   AG_STEP_GUARD(open, x)     the statement x; what fails in lanes that are not open does not count
 *   AG_STEP_MOVES(r)           whether tangent coordinate r is a velocity (AG_NEEDS_PARTITION), else 0
 *
 * The step is that of a field F(t, z) over 0 <= s <= 1; here F = h f. With the increments k_i = F(t_i, Z_i) in
 * coordinates around the middle of the step, which is z moved by e/2, e = sum_j b_j k_j:
 *   Z_i = the middle moved by d_i,   d_i = sum_j (a_ij - b_j / 2) k_j,   z1 = z moved by e.
 * On vectors this is the usual method. On a rotation a rate Omega becomes D(d)^-1 Omega, D that of dexp(); the
 * order is that of the tableau, and since the middle is the same from both ends, symmetric tableaux give symmetric
 * steps.
 *
 * The stage equations are solved to rounding by simplified Newton steps, (1 - A (x) h J) dk = F - k, with one J; A = T
 * M TI splits them into systems of the size of J (Butcher 1976, Bickart 1977). A lane stops as soon as its own
 * corrections have converged. */
#ifndef AG_IRK
#define AG_IRK_PASTE(a) AG_IRK_##a
#define AG_IRK_NAMED(a) AG_IRK_PASTE(a)
static const ag_irk irk_table = AG_IRK_NAMED(AG_IRK_METHOD);
#define AG_IRK (&irk_table)
#endif
#define AG_IRK_S AG_IRK->s

/* Iterations with one Jacobian, and how many Jacobians. */
#define AG_IRK_TRIALS 8
#define AG_IRK_ROUNDS 8
/* A step whose error is tested (rtol > 0) is solved to a part of its tolerances, max(LEAST/rtol, min(BESIDE,
 * sqrt(rtol))) (Hairer, Wanner, Solving Ordinary Differential Equations II, IV.8; LEAST is ten roundings, below which
 * corrections decrease slowly or not at all), with one more Jacobian at most: a smaller step is cheaper.
 * Corrections should decrease by REACH each; as the next step would be about as much harder as it is longer, this
 * limits its size. */
#define AG_IRK_BESIDE 0.003
#define AG_IRK_LEAST 2e-15
#define AG_IRK_TESTED_ROUNDS 2
#define AG_IRK_REACH 0.3
#define AG_IRK_STRETCH 3 /* times the last step: how far its polynomial is good for a guess */
#define AG_IRK_TESTED(rtol) (AG_IRK->estimate && (rtol) > 0)
/* The rest is below this fraction of the state; corrections that stop decreasing below the other are rounding
 * errors. */
#define AG_IRK_DONE 1e-16
#define AG_IRK_NOISE 1e-11

/* What is carried on from a tested step: its size (0: there was none) and its increments. */
#define AG_IRK_OWN AG_IRK_CARRIES(AG_IRK, AG_STEP_N)
#define AG_IRK_END(work) ((work) + AG_STEP_N + AG_IRK_OWN)
/* The workspace behind the carry at both ends: dense output, rates of the stages, increments, corrections, the middle,
 * a point, a rate, h J, the factored matrices. */
#define AG_IRK_ROWS(work) ((work) + 2 * (AG_STEP_N + AG_IRK_OWN))
#define AG_IRK_RATES(work) (AG_IRK_ROWS(work) + AG_IRK->degree * AG_STEP_N)
#define AG_IRK_K(work) (AG_IRK_RATES(work) + AG_IRK_S * AG_STEP_N)
#define AG_IRK_W(work) (AG_IRK_K(work) + AG_IRK_S * AG_STEP_M)
#define AG_IRK_MIDDLE(work) (AG_IRK_W(work) + AG_IRK_S * AG_STEP_M)
#define AG_IRK_POINT(work) (AG_IRK_MIDDLE(work) + AG_STEP_N)
#define AG_IRK_RATE(work) (AG_IRK_POINT(work) + AG_STEP_N)
#define AG_IRK_J(work) (AG_IRK_RATE(work) + AG_STEP_N)
#define AG_IRK_REALS (AG_IRK->real > AG_IRK->estimate ? AG_IRK->real : AG_IRK->estimate)
#define AG_IRK_BLOCK(work, i) (AG_IRK_J(work) + (1 + 2 * (i)) * AG_STEP_SQUARE)
#define AG_IRK_PAIR_BLOCK(work, i) (AG_IRK_BLOCK(work, AG_IRK_REALS) + 3 * (i)*AG_STEP_SQUARE)

AG_STEP_QUALIFIER void AG_STEP_FN(turned)(ag_factor_kind kind, const V *x, const V *d, V *out) {
  if (kind == AG_FACTOR_IMAGE) AG_STEP_FN(turn_image)(x, d, out);
  else AG_STEP_FN(turn)(x, d, out);
}

/* by sum_j b_j k_j of coordinate r. */
AG_STEP_QUALIFIER V AG_STEP_FN(moved)(AG_STEP_FLOW AG_STEP_SIZE double by, const V *k, int r) {
  V sum = v_set(0);
  for (int j = 0; j < AG_IRK_S; j++) sum = v_fma(v_set(by * AG_IRK->b[j]), k[j * AG_STEP_M + r], sum);
  return sum;
}

/* z moved by the part `by` of the step. */
AG_STEP_QUALIFIER void AG_STEP_FN(part)(AG_STEP_FLOW AG_STEP_SIZE const V *z, double by, const V *k, V *out) {
  for (int i = 0; i < AG_STEP_N_FACTOR; i++) {
    const ag_factor p = AG_STEP_FACTOR(i);
    if (p.kind != AG_FACTOR_VECTOR) {
      V e[3];
      for (int r = 0; r < 3; r++) e[r] = AG_STEP_FN(moved)(AG_STEP_PASS by, k, p.d + r);
      AG_STEP_FN(turned)(p.kind, z + p.z, e, out + p.z);
    } else {
      for (int r = 0; r < p.n; r++) out[p.z + r] = z[p.z + r] + AG_STEP_FN(moved)(AG_STEP_PASS by, k, p.d + r);
    }
  }
}

/* d_i of the rotation with coordinates from r on. */
AG_STEP_QUALIFIER void AG_STEP_FN(chart)(AG_STEP_FLOW AG_STEP_SIZE int i, const V *k, int r, V *e) {
  for (int x = 0; x < 3; x++) {
    e[x] = v_set(0);
    for (int j = 0; j < AG_IRK_S; j++) {
      const double by = AG_IRK->a[0][i][j] - 0.5 * AG_IRK->b[j];
      e[x] = v_fma(v_set(by), k[j * AG_STEP_M + r + x], e[x]);
    }
  }
}

/* The point Z_i. */
AG_STEP_QUALIFIER void AG_STEP_FN(point)(AG_STEP_FLOW AG_STEP_SIZE int i, const V *z, const V *middle, const V *k,
                                         V *out) {
  for (int f_ = 0; f_ < AG_STEP_N_FACTOR; f_++) {
    const ag_factor p = AG_STEP_FACTOR(f_);
    if (p.kind != AG_FACTOR_VECTOR) {
      V e[3];
      AG_STEP_FN(chart)(AG_STEP_PASS i, k, p.d, e);
      AG_STEP_FN(turned)(p.kind, middle + p.z, e, out + p.z);
      continue;
    }
    for (int r = 0; r < p.n; r++) {
      const double *by = AG_IRK->a[AG_STEP_MOVES(p.d + r)][i];
      V sum = v_set(0);
      for (int j = 0; j < AG_IRK_S; j++) sum = v_fma(v_set(by[j]), k[j * AG_STEP_M + p.d + r], sum);
      out[p.z + r] = z[p.z + r] + sum;
    }
  }
}

/* F(t, y) in tangent coordinates. */
AG_STEP_QUALIFIER int AG_STEP_FN(field)(AG_STEP_FLOW AG_STEP_SIZE V t, V h, const V *y, V *rate, V *w) {
  AG_STEP_RHS(t, y, rate)
  AG_STEP_FN(tangent)(AG_STEP_PASS y, rate, w);
  for (int r = 0; r < AG_STEP_M; r++) w[r] = h * w[r];
  return 0;
}

/* The residuals F(t_i, Z_i) - k_i. */
AG_STEP_QUALIFIER int AG_STEP_FN(residuals)(AG_STEP_FLOW AG_STEP_SIZE V t, V h, const V *z, V *work) {
  const V *k = AG_IRK_K(work);
  V *middle = AG_IRK_MIDDLE(work), *y = AG_IRK_POINT(work);
  AG_STEP_FN(part)(AG_STEP_PASS z, 0.5, k, middle);
  for (int i = 0; i < AG_IRK_S; i++) {
    V *w = AG_IRK_W(work) + i * AG_STEP_M;
    AG_STEP_FN(point)(AG_STEP_PASS i, z, middle, k, y);
    const int reason = AG_STEP_FN(field)(AG_STEP_PASS v_fma(v_set(AG_IRK->c[i]), h, t), h, y, AG_IRK_RATE(work), w);
    if (reason) return reason;
    for (int f_ = 0; f_ < AG_STEP_N_FACTOR; f_++) {
      const ag_factor p = AG_STEP_FACTOR(f_);
      V e[3];
      if (p.kind != AG_FACTOR_QUATERNION) continue;
      AG_STEP_FN(chart)(AG_STEP_PASS i, k, p.d, e);
      AG_STEP_FN(dexp_inverse)(e, w + p.d);
    }
    for (int r = 0; r < AG_STEP_M; r++) w[r] = w[r] - k[i * AG_STEP_M + r];
  }
  return 0;
}

/* 1 - mu h J, im: its imaginary part. */
AG_STEP_QUALIFIER void AG_STEP_FN(shifted)(AG_STEP_FLOW AG_STEP_SIZE const V *J, double mu, double im, V *A, V *B) {
  for (int r = 0; r < AG_STEP_M * AG_STEP_M; r++) A[r] = -(mu * J[r]);
  for (int r = 0; r < AG_STEP_M * AG_STEP_M && B; r++) B[r] = -(im * J[r]);
  for (int r = 0; r < AG_STEP_M; r++) A[r * (AG_STEP_M + 1)] = 1.0 + A[r * (AG_STEP_M + 1)];
}

/* Evaluates at this part of the step and factors. The derivative of an angular velocity by the rotation is J +
 * hat(Omega), where h Omega is about sum_j b_j k_j; that of D(d)^-1, small since the d_i are on both sides of 0, is
 * left out. Lanes that are not open keep theirs: the estimate needs it. */
AG_STEP_QUALIFIER int AG_STEP_FN(matrices)(AG_STEP_FLOW AG_STEP_SIZE VI open, double at, V t, V h, const V *z,
                                           V *work) {
  V *J = AG_IRK_J(work), *y = AG_IRK_POINT(work), *fresh = J + AG_STEP_SQUARE;
  const V *k = AG_IRK_K(work);
  const int *table = AG_STEP_TABLE, n_entry = table ? table[1] : AG_STEP_M * AG_STEP_M;
  AG_STEP_FN(part)(AG_STEP_PASS z, at, k, y);
  AG_STEP_JACOBIAN(v_fma(v_set(at), h, t), y, fresh)
  for (int r = 0; r < n_entry; r++) fresh[r] = h * fresh[r];
  for (int i = 0; i < AG_STEP_N_FACTOR; i++) {
    const ag_factor p = AG_STEP_FACTOR(i);
    if (p.kind != AG_FACTOR_QUATERNION) continue;
    V o[3];
    for (int r = 0; r < 3; r++) o[r] = AG_STEP_FN(moved)(AG_STEP_PASS 1, k, p.d + r);
    AG_STEP_FN(add_hat)(table, AG_STEP_M, p.d, o, fresh);
  }
  for (int r = 0; r < n_entry; r++) J[r] = v_blend(open, fresh[r], J[r]);
  for (int i = 0; i < AG_IRK_REALS; i++) {
    V *A = AG_IRK_BLOCK(work, i);
    if (table) {
      AG_STEP_FN(factor_sparse)(table, J, v_set(AG_IRK->mu[i]), 1, A);
      continue;
    }
    AG_STEP_FN(shifted)(AG_STEP_PASS J, AG_IRK->mu[i], 0, A, 0);
    AG_STEP_FN(factor)(AG_STEP_M, A, A + AG_STEP_SQUARE);
  }
  for (int i = 0; i < AG_IRK->pair; i++) {
    V *A = AG_IRK_PAIR_BLOCK(work, i), *B = A + AG_STEP_SQUARE;
    if (table) {
      AG_STEP_FN(factor_sparse_complex)(table, J, v_set(AG_IRK->re[i]), v_set(AG_IRK->im[i]), A, B);
      continue;
    }
    AG_STEP_FN(shifted)(AG_STEP_PASS J, AG_IRK->re[i], AG_IRK->im[i], A, B);
    AG_STEP_FN(factor_complex)(AG_STEP_M, A, B, B + AG_STEP_SQUARE);
  }
  return 0;
}

/* All stages times the s x s matrix. */
AG_STEP_QUALIFIER void AG_STEP_FN(mix)(AG_STEP_FLOW AG_STEP_SIZE const double (*by)[AG_IRK_MAX], V *w) {
  for (int r = 0; r < AG_STEP_M; r++) {
    V new[AG_IRK_MAX];
    for (int i = 0; i < AG_IRK_S; i++) {
      new[i] = v_set(0);
      for (int j = 0; j < AG_IRK_S; j++) new[i] = v_fma(v_set(by[i][j]), w[j * AG_STEP_M + r], new[i]);
    }
    for (int i = 0; i < AG_IRK_S; i++) w[i * AG_STEP_M + r] = new[i];
  }
}

AG_STEP_QUALIFIER void AG_STEP_FN(solved_real)(AG_STEP_FLOW AG_STEP_SIZE const V *A, V *b) {
  if (AG_STEP_TABLE) AG_STEP_FN(solved_sparse)(AG_STEP_TABLE, A, b);
  else AG_STEP_FN(solved)(AG_STEP_M, A, A + AG_STEP_SQUARE, b);
}

/* From residuals to corrections. A pair p, q of modes is the complex system for p - i q. */
AG_STEP_QUALIFIER void AG_STEP_FN(corrections)(AG_STEP_FLOW AG_STEP_SIZE V *work) {
  V *w = AG_IRK_W(work);
  AG_STEP_FN(mix)(AG_STEP_PASS AG_IRK->TI, w);
  for (int i = 0; i < AG_IRK->real; i++) {
    AG_STEP_FN(solved_real)(AG_STEP_PASS AG_IRK_BLOCK(work, i), w + i * AG_STEP_M);
  }
  for (int i = 0; i < AG_IRK->pair; i++) {
    const V *A = AG_IRK_PAIR_BLOCK(work, i), *B = A + AG_STEP_SQUARE;
    V *p = w + (AG_IRK->real + 2 * i) * AG_STEP_M, *q = p + AG_STEP_M;
    for (int r = 0; r < AG_STEP_M; r++) q[r] = -q[r];
    if (AG_STEP_TABLE) AG_STEP_FN(solved_sparse_complex)(AG_STEP_TABLE, A, B, p, q);
    else AG_STEP_FN(solved_complex)(AG_STEP_M, A, B, B + AG_STEP_SQUARE, p, q);
    for (int r = 0; r < AG_STEP_M; r++) q[r] = -q[r];
  }
  AG_STEP_FN(mix)(AG_STEP_PASS AG_IRK->T, w);
}

/* The largest correction relative to what it corrects: of the state and of the step, each with a millionth of the
 * largest number of the state; 1 for rotations. */
AG_STEP_QUALIFIER V AG_STEP_FN(size)(AG_STEP_FLOW AG_STEP_SIZE const V *z, const V *work) {
  const V *k = AG_IRK_K(work), *w = AG_IRK_W(work);
  V largest = v_set(0), worst = v_set(0);
  for (int i = 0; i < AG_STEP_N; i++) largest = v_max(largest, v_abs(z[i]));
  for (int f_ = 0; f_ < AG_STEP_N_FACTOR; f_++) {
    const ag_factor p = AG_STEP_FACTOR(f_);
    if (p.kind == AG_FACTOR_IMAGE) continue;
    for (int r = 0; r < (p.kind == AG_FACTOR_QUATERNION ? 3 : p.n); r++) {
      V size = p.kind == AG_FACTOR_QUATERNION ? v_set(1) : v_abs(z[p.z + r]), by = v_set(0);
      for (int i = 0; i < AG_IRK_S; i++) {
        size = v_max(size, v_abs(k[i * AG_STEP_M + p.d + r]));
        const V change = v_abs(w[i * AG_STEP_M + p.d + r]);
        by = v_blend(m_nan(change), change, v_max(by, change));
      }
      const V ratio = by / (v_fma(v_set(1e-6), largest, size) + 1e-300);
      worst = v_blend(m_nan(worst) | m_lt(ratio, worst), worst, ratio);
    }
  }
  return worst;
}

/* The largest correction relative to the tolerance of what it corrects. */
AG_STEP_QUALIFIER V AG_STEP_FN(beside)(AG_STEP_FLOW AG_STEP_SIZE double rtol, const V *restrict atol, const V *z,
                                       const V *w) {
  V worst = v_set(0);
  for (int f_ = 0; f_ < AG_STEP_N_FACTOR; f_++) {
    const ag_factor p = AG_STEP_FACTOR(f_);
    if (p.kind == AG_FACTOR_IMAGE) continue;
    for (int r = 0; r < (p.kind == AG_FACTOR_QUATERNION ? 3 : p.n); r++) {
      const V size = p.kind == AG_FACTOR_QUATERNION ? v_set(1) : v_abs(z[p.z + r]);
      const V limit = v_fma(v_set(rtol), size, AG_STEP_ATOL(p.z + r)) + 1e-300;
      for (int i = 0; i < AG_IRK_S; i++) {
        const V ratio = v_abs(w[i * AG_STEP_M + p.d + r]) / limit;
        worst = v_blend(m_nan(worst) | m_lt(ratio, worst), worst, ratio);
      }
    }
  }
  return worst;
}

/* How Newton's method goes on: in which lanes it has converged, and how fast. */
typedef struct AG_STEP_FN(newton) {
  VI open, lost, cold;    /* not yet; it will not; its next correction says nothing about how fast */
  V last, last_by, worst; /* the last correction, the same beside the tolerances; the slowest decrease of that */
} AG_STEP_FN(newton);

/* Judges the corrections of the lanes `here`, with `left` to come with this Jacobian. Returns the lanes that go on with
 * it. */
AG_STEP_QUALIFIER VI AG_STEP_FN(judged)(AG_STEP_FLOW AG_STEP_SIZE VI here, int left, double rtol,
                                        const V *restrict atol, const V *z, const V *work, AG_STEP_FN(newton) * n_) {
  const V now = AG_STEP_FN(size)(AG_STEP_PASS z, work), rate = now / n_->last;
  const VI known = m_lt(n_->last, v_set(V_INF)), noise = m_le(now, v_set(AG_IRK_NOISE)) & m_le(n_->last, now);
  /* the rest: now (rate + rate^2 + ...) */
  VI done = known & m_lt(rate, v_set(1)) & m_le(now * rate, AG_IRK_DONE * (1.0 - rate)), slow = v_word_set(0);
  if (AG_IRK_TESTED(rtol)) {
    const V by = AG_STEP_FN(beside)(AG_STEP_PASS rtol, atol, z, AG_IRK_W(work)), falls = by / n_->last_by;
    const V near = v_max(v_set(AG_IRK_LEAST / rtol), v_min(v_set(AG_IRK_BESIDE), v_sqrt(v_set(rtol)))) * (1.0 - falls);
    V rest = by * falls;
    done |= known & m_lt(falls, v_set(1)) & m_le(rest, near);
    for (int i = 0; i < left; i++) rest = rest * falls;
    slow = known & ~(m_lt(falls, v_set(1)) & m_le(rest, near));
    n_->worst = v_blend(here & known & ~noise & m_lt(n_->worst, falls), falls, n_->worst);
    n_->last_by = v_blend(n_->cold, v_set(V_INF), by);
  }
  n_->lost |= here & ~m_lt(now, v_set(V_INF));
  n_->open &= ~(here & (done | noise | m_eq(now, v_set(0)) | n_->lost | AG_STEP_FAILED));
  n_->last = v_blend(n_->cold, v_set(V_INF), now), n_->cold = v_word_set(0);
  return here & ~(slow & n_->open);
}

/* What Newton's method starts from. Matrices are made for k_i = F(t, z); a tested step starts from the polynomial
 * through the rates of the stages of the last one, if that was not much shorter, else from 0: stiff components of F(t,
 * z) would lead far astray. Returns the lanes whose first correction is the whole step. */
AG_STEP_QUALIFIER VI AG_STEP_FN(guess)(AG_STEP_FLOW AG_STEP_SIZE V h, const V *work, V *k) {
  const V *own = work + AG_STEP_N, by = h / own[0];
  const VI warm = m_lt(v_set(0), by) & m_le(by, v_set(AG_IRK_STRETCH));
  for (int i = 0; i < AG_IRK_S; i++) {
    V weights[AG_IRK_MAX];
    for (int j = 0; j < AG_IRK_S; j++) {
      double scale = 1;
      weights[j] = by;
      for (int m = 0; m < AG_IRK_S; m++) {
        if (m == j) continue;
        scale *= AG_IRK->c[j] - AG_IRK->c[m];
        weights[j] = weights[j] * v_fma(v_set(AG_IRK->c[i]), by, v_set(1 - AG_IRK->c[m]));
      }
      weights[j] = weights[j] * (1 / scale);
    }
    for (int r = 0; r < AG_STEP_M; r++) {
      V sum = v_set(0);
      for (int j = 0; j < AG_IRK_S; j++) sum = v_fma(weights[j], own[1 + j * AG_STEP_M + r], sum);
      k[i * AG_STEP_M + r] = v_blend(warm, sum, v_set(0));
    }
  }
  return ~warm;
}

/* The increments k. *theta: how much corrections decreased at least. In lanes where they
 * are not found the step fails, or, if its error is tested, is *unsolved. */
AG_STEP_QUALIFIER int AG_STEP_FN(stages)(AG_STEP_FLOW AG_STEP_SIZE V t, V h, const V *z, double rtol,
                                         const V *restrict atol, V *work, VI *unsolved, V *theta) {
  V *k = AG_IRK_K(work), *w = AG_IRK_W(work);
  AG_STEP_FN(newton) n_ = {v_word_set(~0ULL), v_word_set(0), v_word_set(0), v_set(V_INF), v_set(V_INF), v_set(0)};
  const int rounds = AG_IRK_TESTED(rtol) ? AG_IRK_TESTED_ROUNDS : AG_IRK_ROUNDS;
  int reason = 0;
  double at = AG_IRK->at, mean = 0;
  for (int i = 0; i < AG_IRK_S; i++) mean += AG_IRK->c[i] / AG_IRK_S;
  AG_STEP_FN(tangent)(AG_STEP_PASS z, work, k);
  for (int r = 0; r < AG_STEP_M; r++) {
    k[r] = h * k[r];
    for (int i = 1; i < AG_IRK_S; i++) k[i * AG_STEP_M + r] = k[r];
  }
  for (int round = 0; round < rounds && v_any(n_.open); round++, at = mean) {
    VI here = n_.open;
    if (AG_IRK_TESTED(rtol)) n_.last = v_set(V_INF), n_.worst = v_blend(here, v_set(0), n_.worst);
    AG_STEP_GUARD(here, reason = AG_STEP_FN(matrices)(AG_STEP_PASS here, at, t, h, z, work);)
    if (AG_IRK_TESTED(rtol) && round == 0) n_.cold = AG_STEP_FN(guess)(AG_STEP_PASS h, work, k);
    for (int trial = 0; trial < AG_IRK_TRIALS && !reason && v_any(here); trial++) {
      AG_STEP_GUARD(here, reason = AG_STEP_FN(residuals)(AG_STEP_PASS t, h, z, work);)
      if (reason) break;
      AG_STEP_FN(corrections)(AG_STEP_PASS work);
      const VI on = AG_STEP_FN(judged)(AG_STEP_PASS here, AG_IRK_TRIALS - 1 - trial, rtol, atol, z, work, &n_);
      for (int r = 0; r < AG_IRK_S * AG_STEP_M; r++) k[r] = v_blend(on, k[r] + w[r], k[r]);
      here = on & n_.open;
    }
    if (reason) return reason;
  }
  *unsolved = n_.open | n_.lost, *theta = n_.worst;
  if (!AG_IRK_TESTED(rtol)) AG_STEP_UNSOLVED(*unsolved)
  return 0;
}

/* sum_i (e_i / s_i)^2 / n over the components that `counts` picks, e: the error as a change of z; its root. NaN where
 * one of them is not finite. */
#define AG_IRK_NORM(counts, n, result) \
  { \
    V wrong = v_set(0), sum = v_set(0); \
    for (int i = 0; i < AG_STEP_N; i++) { \
      if (!counts(i)) continue; \
      wrong = wrong + v_fma(v_set(0), z1[i], 0.0 * end[i]); \
      if (!AG_IRK->estimate) continue; \
      const V x = e[i] / v_fma(v_set(rtol), v_max(v_abs(z[i]), v_abs(z1[i])), AG_STEP_ATOL(i)); \
      sum = v_fma(x, x, sum); \
    } \
    result = AG_IRK->estimate ? v_sqrt(sum / (n)) + wrong : wrong; \
  }

/* x as a change of what is turned: of a quaternion q x / 2, of an image v x x. */
AG_STEP_QUALIFIER void AG_STEP_FN(turning)(ag_factor_kind kind, const V *q, const V *d, V *x) {
  if (kind == AG_FACTOR_IMAGE) {
    for (int r = 0; r < 3; r++) x[r] = v_fma(q[(r + 1) % 3], d[(r + 2) % 3], -(q[(r + 2) % 3] * d[(r + 1) % 3]));
    return;
  }
  x[0] = -0.5 * v_fma(q[3], d[2], v_fma(q[2], d[1], q[1] * d[0]));
  x[1] = 0.5 * v_fma(-q[3], d[1], v_fma(q[2], d[2], q[0] * d[0]));
  x[2] = 0.5 * v_fma(q[3], d[0], v_fma(-q[1], d[2], q[0] * d[1]));
  x[3] = 0.5 * v_fma(-q[2], d[0], v_fma(q[1], d[1], q[0] * d[2]));
}

/* The error of the dense output, added to the estimate x: a polynomial of degree D is off a component A cos(s angle) +
 * B sin(s angle) by up to c angle^(D + 1) |A, B|, also where the step is exact. c: measured on steady turns. */
AG_STEP_QUALIFIER void AG_STEP_FN(turn_error)(AG_STEP_FLOW AG_STEP_SIZE ag_factor p, const V *q, const V *k, V *x) {
  const int D = AG_IRK->degree, size = p.kind == AG_FACTOR_IMAGE ? 3 : 4;
  V by[3], change[4], power = v_set(D > 5 ? 2.1e-7 : D > 4 ? 8.7e-6 : D > 3 ? 1.8e-4 : 2.7e-3);
  for (int r = 0; r < 3; r++) by[r] = AG_STEP_FN(moved)(AG_STEP_PASS 1, k, p.d + r);
  AG_STEP_FN(turning)(p.kind, q, by, change);
  const V all = v_sqrt(v_fma(by[2], by[2], v_fma(by[1], by[1], by[0] * by[0]))), angle = size == 4 ? 0.5 * all : all;
  for (int m = 0; m < D; m++) power = power * angle;
  for (int r = 0; r < size; r++) x[r] = v_fma(power, v_fma(angle, v_abs(q[r]), v_abs(change[r])), v_abs(x[r]));
}

/* (1 - gamma h J)^-1 (gamma h f + sum_j e_j k_j) as a change of z, with the rate f at its start, and the error of the
 * dense output of what is turned. */
AG_STEP_QUALIFIER void AG_STEP_FN(estimate)(AG_STEP_FLOW AG_STEP_SIZE V h, const V *z, const V *rate, V *work, V *e) {
  const V *k = AG_IRK_K(work);
  V *w = AG_IRK_W(work);
  AG_STEP_FN(tangent)(AG_STEP_PASS z, rate, w);
  for (int f_ = 0; f_ < AG_STEP_N_FACTOR; f_++) {
    const ag_factor p = AG_STEP_FACTOR(f_);
    V d[3];
    if (p.kind != AG_FACTOR_QUATERNION) continue;
    for (int r = 0; r < 3; r++) d[r] = AG_STEP_FN(moved)(AG_STEP_PASS - 0.5, k, p.d + r);
    AG_STEP_FN(dexp_inverse)(d, w + p.d);
  }
  for (int r = 0; r < AG_STEP_M; r++) {
    w[r] = AG_IRK->gamma * (h * w[r]);
    for (int j = 0; j < AG_IRK_S; j++) w[r] = v_fma(v_set(AG_IRK->e[j]), k[j * AG_STEP_M + r], w[r]);
  }
  AG_STEP_FN(solved_real)(AG_STEP_PASS AG_IRK_BLOCK(work, 0), w);
  for (int f_ = 0; f_ < AG_STEP_N_FACTOR; f_++) {
    const ag_factor p = AG_STEP_FACTOR(f_);
    if (p.kind == AG_FACTOR_VECTOR) {
      for (int r = 0; r < p.n; r++) e[p.z + r] = w[p.d + r];
      continue;
    }
    AG_STEP_FN(turning)(p.kind, z + p.z, w + p.d, e + p.z);
    AG_STEP_FN(turn_error)(AG_STEP_PASS p, z + p.z, k, e + p.z);
  }
}

/* What the next step starts from. */
AG_STEP_QUALIFIER void AG_STEP_FN(carry)(AG_STEP_FLOW AG_STEP_SIZE double rtol, V h, V *work) {
  const V *k = AG_IRK_K(work);
  V *own = AG_IRK_END(work) + AG_STEP_N;
  for (int r = 0; r < AG_IRK_OWN; r++) own[r] = v_set(0);
  if (!AG_IRK_TESTED(rtol)) return;
  own[0] = h;
  for (int r = 0; r < AG_IRK_S * AG_STEP_M; r++) own[1 + r] = k[r];
}

/* The estimate e once more, with the rate at z moved by it, in the lanes of `where`: what stiff components leave in the
 * first one is damped. */
AG_STEP_QUALIFIER int AG_STEP_FN(again)(AG_STEP_FLOW AG_STEP_SIZE VI where, V t, V h, const V *z, V *work, V *e) {
  V *y = AG_IRK_POINT(work), *rate = AG_IRK_MIDDLE(work);
  for (int i = 0; i < AG_STEP_N; i++) y[i] = z[i] + e[i];
  AG_STEP_RHS(t, y, rate)
  AG_STEP_FN(estimate)(AG_STEP_PASS h, z, rate, work, y);
  for (int i = 0; i < AG_STEP_N; i++) e[i] = v_blend(where & ~AG_STEP_FAILED, y[i], e[i]);
  return 0;
}

/* x, but at least so much; NaN stays. x^(s + 1): the estimate has order s. */
#define AG_IRK_AT_LEAST(x, least) v_blend(m_lt(x, least), least, x)
#define AG_IRK_POWER(x, result) \
  { \
    result = x; \
    for (int i_ = 0; i_ < AG_IRK_S; i_++) result = result * (x); \
  }

AG_STEP_QUALIFIER int AG_STEP_FN(step)(AG_STEP_FLOW AG_STEP_SIZE V t, V h, const V *restrict z, V *restrict z1,
                                       double rtol, const V *restrict atol, V *restrict error, V *restrict work) {
  V *end = AG_IRK_END(work), *e = AG_IRK_RATE(work), theta, least;
  VI unsolved;
  const int reason = AG_STEP_FN(stages)(AG_STEP_PASS t, h, z, rtol, atol, work, &unsolved, &theta);
  if (reason) return reason;
  AG_STEP_FN(part)(AG_STEP_PASS z, 1, AG_IRK_K(work), z1);
  AG_STEP_RHS(t + h, z1, end)
  if (AG_IRK_OWN) AG_STEP_FN(carry)(AG_STEP_PASS rtol, h, work);
  if (AG_IRK->estimate) AG_STEP_FN(estimate)(AG_STEP_PASS h, z, work, work, e);
  AG_IRK_NORM(AG_STEP_IN_NORM, AG_STEP_N_NORM, error[0])
  if (AG_IRK_TESTED(rtol)) {
    const VI large = m_lt(v_set(1), error[0]) & ~unsolved, failed = AG_STEP_FAILED;
    if (v_any(large)) {
      (void)AG_STEP_FN(again)(AG_STEP_PASS large, t, h, z, work, e);
      AG_STEP_FORGIVE(failed)
      AG_IRK_NORM(AG_STEP_IN_NORM, AG_STEP_N_NORM, error[0])
    }
  }
  if (AG_STEP_N_REST > 0) AG_IRK_NORM(AG_STEP_IN_REST, AG_STEP_N_REST, error[1])
  if (AG_IRK_TESTED(rtol)) {
    /* a step that is too long to be solved for is as bad as an error that asks for a step 0.3 times as long */
    const V hard = theta / AG_IRK_REACH, much = v_set(0.9 / 0.3);
    AG_IRK_POWER(v_blend(m_lt(theta, v_set(0.1)), v_set(0), v_min(hard, v_set(1))), least)
    error[0] = AG_IRK_AT_LEAST(error[0], least);
    AG_IRK_POWER(much, least)
    const V too_long = v_blend(unsolved, least, v_set(0));
    error[0] = AG_IRK_AT_LEAST(error[0], too_long);
    if (AG_STEP_N_REST > 0) error[1] = AG_IRK_AT_LEAST(error[1], too_long);
  }
  (void)rtol, (void)atol, (void)e;
  return 0;
}

/* The polynomial of rk_core.h: values and rates at both ends, and the rates of the stages where DEGREE > 3. */
AG_STEP_QUALIFIER int AG_STEP_FN(dense)(AG_STEP_FLOW AG_STEP_SIZE V t, V h, const V *restrict z, const V *restrict z1,
                                        V *restrict work) {
  V *c = AG_IRK_ROWS(work), *rates = AG_IRK_RATES(work), *middle = AG_IRK_MIDDLE(work), *y = AG_IRK_POINT(work);
  const V *k = AG_IRK_K(work), *end = AG_IRK_END(work);
  if (AG_IRK->degree > 3) {
    AG_STEP_FN(part)(AG_STEP_PASS z, 0.5, k, middle);
    for (int j = 0; j < AG_IRK_S; j++) {
      AG_STEP_FN(point)(AG_STEP_PASS j, z, middle, k, y);
      AG_STEP_RHS(v_fma(v_set(AG_IRK->c[j]), h, t), y, (rates + j * AG_STEP_N))
    }
  }
  for (int i = 0; i < AG_STEP_N; i++) {
    const V d = z1[i] - z[i];
    c[i] = d;
    c[AG_STEP_N + i] = v_fma(h, work[i], -d);
    c[2 * AG_STEP_N + i] = v_fma(-h, end[i], d) - c[AG_STEP_N + i];
    for (int m = 3; m < AG_IRK->degree; m++) {
      const double *by = AG_IRK->d[m - 3];
      V sum = by[0] * work[i];
      for (int j = 0; j < AG_IRK_S; j++) sum = v_fma(v_set(by[j + 1]), rates[j * AG_STEP_N + i], sum);
      c[m * AG_STEP_N + i] = h * v_fma(v_set(by[AG_IRK_S + 1]), end[i], sum);
    }
  }
  return 0;
}

AG_STEP_QUALIFIER void AG_STEP_FN(interpolate)(AG_STEP_SIZE V theta, const V *restrict z, const V *restrict work,
                                               V *restrict out) {
  const V *c = AG_IRK_ROWS(work), rest = 1.0 - theta;
  for (int i = 0; i < AG_STEP_N; i++) {
    V u = c[(AG_IRK->degree - 1) * AG_STEP_N + i];
    for (int m = AG_IRK->degree - 2; m >= 0; m--) u = v_fma(m % 2 ? theta : rest, u, c[m * AG_STEP_N + i]);
    out[i] = v_fma(theta, u, z[i]);
  }
}

#undef AG_IRK_POWER
#undef AG_IRK_AT_LEAST
#undef AG_IRK_NORM
#undef AG_IRK_PAIR_BLOCK
#undef AG_IRK_BLOCK
#undef AG_IRK_REALS
#undef AG_IRK_J
#undef AG_IRK_RATE
#undef AG_IRK_POINT
#undef AG_IRK_MIDDLE
#undef AG_IRK_W
#undef AG_IRK_K
#undef AG_IRK_RATES
#undef AG_IRK_ROWS
#undef AG_IRK_END
#undef AG_IRK_OWN
#undef AG_IRK_NOISE
#undef AG_IRK_DONE
#undef AG_IRK_TESTED
#undef AG_IRK_STRETCH
#undef AG_IRK_REACH
#undef AG_IRK_TESTED_ROUNDS
#undef AG_IRK_BESIDE
#undef AG_IRK_ROUNDS
#undef AG_IRK_TRIALS
#undef AG_IRK_S
