/* SPDX-License-Identifier: MIT
 * Newton's method for the stages of an implicit method: a part of steppers' texts (step_text.h), after factor_core.h
 * and sparse_core.h. Every lane iterates until its own corrections are small, and stops then, so that its numbers do
 * not depend on its neighbours. Needs, besides what is listed there,
 *   AG_STEP_JACOBIAN(t, z, J)   a statement that sets the V J[AG_STEP_M * AG_STEP_M] to the Jacobian of f at (t, z), in
 *                               tangent coordinates, row by row; it may return a reason > 0
 *   AG_STEP_TABLE               NULL, or where a sparse Jacobian has entries (sparse_core.h): J has only these
 *   AG_STEP_SQUARE              numbers kept for one matrix: AG_STEP_M^2, or as many as the table says
 *   AG_STEP_UNSOLVED(mask)      a statement that fails the step in the lanes of the mask */

/* A correction below this fraction of the unknown is the last but one: the next, quadratically smaller, is rounding.
 */
#define AG_NEWTON_SMALL 1e-8
/* Below this fraction of the largest number of the state it is rounding error. */
#define AG_NEWTON_ROUNDING 1e-14
#define AG_NEWTON_MOST 16

/* Solves A x = b (m x m, row by row); x takes the place of b, A is destroyed. Gauss with the largest pivot of the
 * column, each lane its own: rows change places under masks. Without a pivot the lane gets numbers that are not finite.
 */
AG_STEP_QUALIFIER void AG_STEP_FN(solve)(int m, V *A, V *b) {
  for (int k = 0; k < m; k++) {
    for (int i = k + 1; i < m; i++) {
      const VI larger = m_lt(v_abs(A[k * m + k]), v_abs(A[i * m + k]));
      if (!v_any(larger)) continue;
      for (int j = k; j < m; j++) {
        const V up = A[k * m + j], low = A[i * m + j];
        A[k * m + j] = v_blend(larger, low, up), A[i * m + j] = v_blend(larger, up, low);
      }
      const V up = b[k], low = b[i];
      b[k] = v_blend(larger, low, up), b[i] = v_blend(larger, up, low);
    }
    const V inverse = 1.0 / A[k * m + k];
    for (int i = k + 1; i < m; i++) {
      const V by = -(A[i * m + k] * inverse);
      for (int j = k + 1; j < m; j++) A[i * m + j] = v_fma(by, A[k * m + j], A[i * m + j]);
      b[i] = v_fma(by, b[k], b[i]);
    }
  }
  for (int k = m - 1; k >= 0; k--) {
    for (int j = k + 1; j < m; j++) b[k] = v_fma(-A[k * m + j], b[j], b[k]);
    b[k] = b[k] / A[k * m + k];
  }
}

/* In which lanes is every |h correction| small relative to h k and the state z? */
AG_STEP_QUALIFIER VI AG_STEP_FN(is_small)(AG_STEP_FLOW AG_STEP_SIZE const V *z, V h, const V *k, const V *correction) {
  V largest = v_set(0);
  VI small = v_word_set(~0ULL);
  for (int i = 0; i < AG_STEP_N; i++) largest = v_max(largest, v_abs(z[i]));
  for (int i = 0; i < AG_STEP_N_FACTOR; i++) {
    const ag_factor p = AG_STEP_FACTOR(i);
    if (p.kind == AG_FACTOR_IMAGE) continue;
    for (int j = 0; j < (p.kind == AG_FACTOR_QUATERNION ? 3 : p.n); j++) {
      const V here = p.kind == AG_FACTOR_QUATERNION ? v_set(1) : v_abs(z[p.z + j]), moved = v_abs(h * k[p.d + j]);
      const V size = v_max(here, moved), limit = v_fma(v_set(AG_NEWTON_ROUNDING), largest, AG_NEWTON_SMALL * size);
      small &= m_le(v_abs(h * correction[p.d + j]), limit);
    }
  }
  return small;
}

/* The matrix of a stage k = f(z moved by ah k): J becomes 1 - ah (J + hat(Omega)) D, with the rates w of the stage. J
 * is that of the rates of d, which turn with a rotation; D takes a change of d to one of exp(d). Of a sparse J
 * only the factor of ah is made: corrected() does the rest. */
AG_STEP_QUALIFIER void AG_STEP_FN(stage_matrix)(AG_STEP_FLOW AG_STEP_SIZE V ah, const V *k, const V *w, V *J) {
  const int *table = AG_STEP_TABLE;
  for (int i = 0; i < AG_STEP_N_FACTOR; i++) {
    const ag_factor p = AG_STEP_FACTOR(i);
    if (p.kind != AG_FACTOR_QUATERNION) continue;
    const V e[3] = {ah * k[p.d], ah * k[p.d + 1], ah * k[p.d + 2]}, *o = w + p.d;
    V by[2];
    AG_STEP_FN(dexp)(e, by);
    AG_STEP_FN(add_hat)(table, AG_STEP_M, p.d, o, J);
    for (int r = 0; r < AG_STEP_M && !table; r++) AG_STEP_FN(times_dexp)(e, by, J + r * AG_STEP_M + p.d);
    for (int i_ = 0; table && i_ < table[1]; i_++)
      if (AG_SPARSE_COL(table)[i_] == p.d) AG_STEP_FN(times_dexp)(e, by, J + i_);
  }
  if (table) return;
  for (int r = 0; r < AG_STEP_M; r++) {
    for (int c = 0; c < AG_STEP_M; c++) J[r * AG_STEP_M + c] = -(ah * J[r * AG_STEP_M + c]);
    J[r * AG_STEP_M + r] = 1.0 + J[r * AG_STEP_M + r];
  }
}

/* Solves with the result of stage_matrix(), which is destroyed. */
AG_STEP_QUALIFIER void AG_STEP_FN(corrected)(AG_STEP_FLOW AG_STEP_SIZE V ah, V *J, V *b) {
  const int *table = AG_STEP_TABLE;
  if (!table) {
    AG_STEP_FN(solve)(AG_STEP_M, J, b);
    return;
  }
  AG_STEP_FN(factor_sparse)(table, J, ah, 1, J + table[1]);
  AG_STEP_FN(solved_sparse)(table, J + table[1], b);
}

/* One stage, k = f(t, z moved by a h k) in tangent coordinates: on entry of k a guess. J: room for AG_STEP_SQUARE
 * numbers, w: for AG_STEP_M, y and rate: for AG_STEP_N. */
AG_STEP_QUALIFIER int AG_STEP_FN(stage)(AG_STEP_FLOW AG_STEP_SIZE V t, V h, double a, const V *z, V *k, V *J, V *w,
                                        V *y, V *rate) {
  const V ah = a * h;
  VI open = v_word_set(~0ULL), near = v_word_set(0);
  for (int trial = 0; trial < AG_NEWTON_MOST && v_any(open); trial++) {
    AG_STEP_FN(move)(AG_STEP_PASS z, ah, k, y);
    AG_STEP_RHS(t, y, rate)
    AG_STEP_FN(tangent)(AG_STEP_PASS y, rate, w);
    AG_STEP_JACOBIAN(t, y, J)
    AG_STEP_FN(stage_matrix)(AG_STEP_PASS ah, k, w, J);
    for (int r = 0; r < AG_STEP_M; r++) w[r] = w[r] - k[r];
    AG_STEP_FN(corrected)(AG_STEP_PASS ah, J, w);
    const VI small = AG_STEP_FN(is_small)(AG_STEP_PASS z, h, k, w), last = near;
    for (int r = 0; r < AG_STEP_M; r++) k[r] = v_blend(open, k[r] + w[r], k[r]);
    open &= ~last;
    near = open & small;
  }
  AG_STEP_UNSOLVED(open)
  return 0;
}
#undef AG_NEWTON_MOST
#undef AG_NEWTON_ROUNDING
#undef AG_NEWTON_SMALL
