/* SPDX-License-Identifier: MIT
 * A x = b with n unknowns and a full matrix, over V: compiled into the library, and embedded in generated code after
 * vmath.h. It includes nothing. In place: a holds A by rows, then b, which becomes x; A is destroyed. Rows are scaled
 * by powers of two, then LU with the largest pivot of the column. A lane whose pivot is 1e-13 or less is marked; its x
 * is NaN. */
#if !defined AG_EXPR_VSOLVE_H && defined V_FN /* with the words it is made of */
#define AG_EXPR_VSOLVE_H
static __attribute__((noinline, unused)) void v_solve(int n, V *a, VI *fail) {
  V *b = a + n * n;
  for (int i = 0; i < n; i++) {
    V top = v_abs(a[i * n]);
    for (int j = 1; j < n; j++) top = v_max(top, v_abs(a[i * n + j]));
    V scale = v_of(0x7fe0000000000000ULL - (v_bits(top) & 0x7ff0000000000000ULL));
    for (int j = 0; j < n; j++) a[i * n + j] *= scale;
    b[i] *= scale;
  }
  for (int k = 0; k < n; k++) {
    V *row = a + k * n;
    for (int i = k + 1; i < n; i++) {
      VI larger = m_lt(v_abs(row[k]), v_abs(a[i * n + k]));
      if (!v_any(larger)) continue;
      for (int j = k; j <= n; j++) {
        V *p = j < n ? row + j : b + k, *q = j < n ? a + i * n + j : b + i, old = *p;
        *p = v_blend(larger, *q, old);
        *q = v_blend(larger, old, *q);
      }
    }
    VI bad = ~m_lt(v_set(1e-13), v_abs(row[k]));
    *fail |= bad;
    row[k] = 1.0 / v_blend(bad, v_nan(), row[k]);
    for (int i = k + 1; i < n; i++) {
      V f = -(a[i * n + k] * row[k]);
      for (int j = k + 1; j < n; j++) a[i * n + j] = v_fma(f, row[j], a[i * n + j]);
      b[i] = v_fma(f, b[k], b[i]);
    }
  }
  for (int k = n - 1; k >= 0; k--) {
    V x = b[k];
    for (int j = k + 1; j < n; j++) x = v_fma(-a[k * n + j], b[j], x);
    b[k] = x * a[k * n + k];
  }
}
#endif
