/* SPDX-License-Identifier: MIT
 * Dense systems A x = b of m equations, real and complex, factored once and solved often: a part of steppers' texts
 * (step_text.h). Matrices stand row by row. Gauss with the largest pivot of the column, each lane its own: rows change
 * places under masks, which are kept (m * m numbers) and replayed on every b. Zeros that all lanes share cost nothing.
 * Forward substitution goes column by column: the rows below do not wait for each other.
 * Without a pivot the lane gets numbers that are not finite. */

AG_STEP_QUALIFIER void AG_STEP_FN(exchange)(VI where, int n, V *a, V *b) {
  for (int j = 0; j < n; j++) {
    const V up = a[j], low = b[j];
    a[j] = v_blend(where, low, up), b[j] = v_blend(where, up, low);
  }
}

AG_STEP_QUALIFIER void AG_STEP_FN(factor)(int m, V *A, V *masks) {
  for (int k = 0; k < m; k++) {
    for (int i = k + 1; i < m; i++) {
      const VI larger = m_lt(v_abs(A[k * m + k]), v_abs(A[i * m + k]));
      masks[k * m + i] = v_of(larger);
      if (v_any(larger)) AG_STEP_FN(exchange)(larger, m, A + k * m, A + i * m);
    }
    const V inverse = A[k * m + k] = 1.0 / A[k * m + k];
    for (int i = k + 1; i < m; i++) {
      if (!v_any(~m_eq(A[i * m + k], v_set(0)))) continue;
      const V by = A[i * m + k] = -(A[i * m + k] * inverse);
      for (int j = k + 1; j < m; j++) A[i * m + j] = v_fma(by, A[k * m + j], A[i * m + j]);
    }
  }
}

AG_STEP_QUALIFIER void AG_STEP_FN(solved)(int m, const V *A, const V *masks, V *b) {
  for (int k = 0; k < m; k++)
    for (int i = k + 1; i < m; i++) {
      const VI larger = v_bits(masks[k * m + i]);
      if (v_any(larger)) AG_STEP_FN(exchange)(larger, 1, b + k, b + i);
    }
  for (int j = 0; j + 1 < m; j++)
    for (int k = j + 1; k < m; k++) b[k] = v_fma(A[k * m + j], b[j], b[k]);
  for (int k = m - 1; k >= 0; k--) {
    for (int j = k + 1; j < m; j++) b[k] = v_fma(-A[k * m + j], b[j], b[k]);
    b[k] = b[k] * A[k * m + k];
  }
}

/* The same for A + i B and b + i c. */
AG_STEP_QUALIFIER void AG_STEP_FN(factor_complex)(int m, V *A, V *B, V *masks) {
  for (int k = 0; k < m; k++) {
    for (int i = k + 1; i < m; i++) {
      const V here = v_abs(A[k * m + k]) + v_abs(B[k * m + k]), there = v_abs(A[i * m + k]) + v_abs(B[i * m + k]);
      const VI larger = m_lt(here, there);
      masks[k * m + i] = v_of(larger);
      if (!v_any(larger)) continue;
      AG_STEP_FN(exchange)(larger, m, A + k * m, A + i * m);
      AG_STEP_FN(exchange)(larger, m, B + k * m, B + i * m);
    }
    const V square = 1.0 / v_fma(A[k * m + k], A[k * m + k], B[k * m + k] * B[k * m + k]);
    const V re = A[k * m + k] = A[k * m + k] * square, im = B[k * m + k] = -(B[k * m + k] * square);
    for (int i = k + 1; i < m; i++) {
      const V x = A[i * m + k], y = B[i * m + k];
      if (!v_any(~(m_eq(x, v_set(0)) & m_eq(y, v_set(0))))) continue;
      const V p = A[i * m + k] = v_fma(y, im, -(x * re)), q = B[i * m + k] = -v_fma(x, im, y * re);
      for (int j = k + 1; j < m; j++) {
        const V a = A[k * m + j], b = B[k * m + j];
        A[i * m + j] = v_fma(-q, b, v_fma(p, a, A[i * m + j]));
        B[i * m + j] = v_fma(q, a, v_fma(p, b, B[i * m + j]));
      }
    }
  }
}

AG_STEP_QUALIFIER void AG_STEP_FN(solved_complex)(int m, const V *A, const V *B, const V *masks, V *b, V *c) {
  for (int k = 0; k < m; k++)
    for (int i = k + 1; i < m; i++) {
      const VI larger = v_bits(masks[k * m + i]);
      if (!v_any(larger)) continue;
      AG_STEP_FN(exchange)(larger, 1, b + k, b + i);
      AG_STEP_FN(exchange)(larger, 1, c + k, c + i);
    }
  for (int j = 0; j + 1 < m; j++)
    for (int k = j + 1; k < m; k++) {
      const V p = A[k * m + j], q = B[k * m + j];
      b[k] = v_fma(-q, c[j], v_fma(p, b[j], b[k]));
      c[k] = v_fma(q, b[j], v_fma(p, c[j], c[k]));
    }
  for (int k = m - 1; k >= 0; k--) {
    for (int j = k + 1; j < m; j++) {
      const V p = A[k * m + j], q = B[k * m + j];
      b[k] = v_fma(q, c[j], v_fma(-p, b[j], b[k]));
      c[k] = v_fma(-q, b[j], v_fma(-p, c[j], c[k]));
    }
    const V x = b[k], y = c[k], p = A[k * m + k], q = B[k * m + k];
    b[k] = v_fma(p, x, -(q * y));
    c[k] = v_fma(p, y, q * x);
  }
}
