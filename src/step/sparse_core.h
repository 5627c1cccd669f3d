/* SPDX-License-Identifier: MIT
 * Sparse matrices 1 - mu J, real and complex, factored once and solved often: a part of steppers' texts (step_text.h),
 * where AG_STEP_TABLE is not NULL. J has AG_LU_ENTRIES numbers, row by row; the table (expr/lu.c) says where they are,
 * in which order the unknowns are eliminated, and where L and U have entries. Nothing is exchanged: the diagonal is
 * that of 1 - mu J, and pivots vanish only where h times a rate of growth is about 1. A pivot below AG_SPARSE_LOST of
 * its row, before or after elimination, would give numbers so large that residuals are lost in rounding, and
 * corrections that are small but wrong. The lane gets numbers that are not finite, and the step fails.
 *
 * table: its head of four numbers (expr/graph.h); the order (n); where the entries of each row of J begin (n + 1),
 * their columns; where the rows of L begin (n + 1), their columns in the order of elimination; the same of U. A matrix
 * is L (unit diagonal left out), U above the diagonal, the inverse of its diagonal, one row of room. */
#define AG_SPARSE_LOST 1e-12
#define AG_SPARSE_ORDER(table) ((table) + 4)
#define AG_SPARSE_AT(table) (AG_SPARSE_ORDER(table) + (table)[0])
#define AG_SPARSE_COL(table) (AG_SPARSE_AT(table) + (table)[0] + 1)
#define AG_SPARSE_L_AT(table) (AG_SPARSE_COL(table) + (table)[1])
#define AG_SPARSE_L_COL(table) (AG_SPARSE_L_AT(table) + (table)[0] + 1)
#define AG_SPARSE_U_AT(table) (AG_SPARSE_L_COL(table) + (table)[2])
#define AG_SPARSE_U_COL(table) (AG_SPARSE_U_AT(table) + (table)[0] + 1)
#define AG_SPARSE_U(table, A) ((A) + (table)[2])
#define AG_SPARSE_D(table, A) ((A) + 2 * (table)[2])
#define AG_SPARSE_ROW(table, A) (AG_SPARSE_D(table, A) + (table)[0])

/* The entry of J in row r and column c, which there is. */
AG_STEP_QUALIFIER int AG_STEP_FN(entry)(const int *table, int r, int c) {
  int e = AG_SPARSE_AT(table)[r];
  while (AG_SPARSE_COL(table)[e] != c) e++;
  return e;
}

/* Adds hat(o) to the diagonal block of a rotation with coordinates from d on: of a table, or of m x m numbers. */
AG_STEP_QUALIFIER void AG_STEP_FN(add_hat)(const int *table, int m, int d, const V *o, V *J) {
  V *row[3];
  for (int r = 0; r < 3; r++) row[r] = J + (table ? AG_STEP_FN(entry)(table, d + r, d) : (d + r) * m + d);
  row[0][1] -= o[2], row[0][2] += o[1], row[1][0] += o[2], row[1][2] -= o[0];
  row[2][0] -= o[1], row[2][1] += o[0];
}

/* Row r of by - mu J, by 1 on the diagonal, where L U has entries; its largest number. */
AG_STEP_QUALIFIER V AG_STEP_FN(spread)(const int *table, int r, const V *J, V mu, double by, V *y) {
  V largest;
  const int *at = AG_SPARSE_AT(table), *col = AG_SPARSE_COL(table);
  const int *l_at = AG_SPARSE_L_AT(table), *l_col = AG_SPARSE_L_COL(table);
  const int *u_at = AG_SPARSE_U_AT(table), *u_col = AG_SPARSE_U_COL(table);
  for (int p = l_at[r]; p < l_at[r + 1]; p++) y[l_col[p]] = v_set(0);
  for (int p = u_at[r]; p < u_at[r + 1]; p++) y[u_col[p]] = v_set(0);
  for (int e = at[r]; e < at[r + 1]; e++) y[col[e]] = -(mu * J[e]);
  y[r] = by + y[r];
  largest = v_abs(y[r]);
  for (int e = at[r]; e < at[r + 1]; e++) largest = v_max(largest, v_abs(y[col[e]]));
  return largest;
}

/* one - mu J. */
AG_STEP_QUALIFIER void AG_STEP_FN(factor_sparse)(const int *table, const V *J, V mu, double one, V *A) {
  const int n = table[0], *order = AG_SPARSE_ORDER(table);
  const int *l_at = AG_SPARSE_L_AT(table), *l_col = AG_SPARSE_L_COL(table);
  const int *u_at = AG_SPARSE_U_AT(table), *u_col = AG_SPARSE_U_COL(table);
  V *U = AG_SPARSE_U(table, A), *D = AG_SPARSE_D(table, A), *y = AG_SPARSE_ROW(table, A);
  for (int k = 0; k < n; k++) {
    const int r = order[k];
    V largest = AG_STEP_FN(spread)(table, r, J, mu, one, y);
    for (int p = l_at[r]; p < l_at[r + 1]; p++) {
      const int j = l_col[p];
      const V by = A[p] = -(y[j] * D[j]);
      for (int q = u_at[j]; q < u_at[j + 1]; q++) y[u_col[q]] = v_fma(by, U[q], y[u_col[q]]);
    }
    for (int q = u_at[r]; q < u_at[r + 1]; q++) U[q] = y[u_col[q]], largest = v_max(largest, v_abs(U[q]));
    D[r] = v_blend(m_lt(v_abs(y[r]), AG_SPARSE_LOST * largest), v_set(__builtin_nan("")), 1.0 / y[r]);
  }
}

AG_STEP_QUALIFIER void AG_STEP_FN(solved_sparse)(const int *table, const V *A, V *b) {
  const int n = table[0], *order = AG_SPARSE_ORDER(table);
  const int *l_at = AG_SPARSE_L_AT(table), *l_col = AG_SPARSE_L_COL(table);
  const int *u_at = AG_SPARSE_U_AT(table), *u_col = AG_SPARSE_U_COL(table);
  const V *U = AG_SPARSE_U(table, A), *D = AG_SPARSE_D(table, A);
  for (int k = 0; k < n; k++) {
    const int r = order[k];
    V sum = b[r];
    for (int p = l_at[r]; p < l_at[r + 1]; p++) sum = v_fma(A[p], b[l_col[p]], sum);
    b[r] = sum;
  }
  for (int k = n - 1; k >= 0; k--) {
    const int r = order[k];
    V sum = b[r];
    for (int q = u_at[r]; q < u_at[r + 1]; q++) sum = v_fma(-U[q], b[u_col[q]], sum);
    b[r] = sum * D[r];
  }
}

/* The same for 1 - (re + i im) J as A + i B, and b + i c. */
AG_STEP_QUALIFIER void AG_STEP_FN(factor_sparse_complex)(const int *table, const V *J, V re, V im, V *A, V *B) {
  const int n = table[0], *order = AG_SPARSE_ORDER(table);
  const int *l_at = AG_SPARSE_L_AT(table), *l_col = AG_SPARSE_L_COL(table);
  const int *u_at = AG_SPARSE_U_AT(table), *u_col = AG_SPARSE_U_COL(table);
  V *U = AG_SPARSE_U(table, A), *D = AG_SPARSE_D(table, A), *y = AG_SPARSE_ROW(table, A);
  V *UI = AG_SPARSE_U(table, B), *DI = AG_SPARSE_D(table, B), *x = AG_SPARSE_ROW(table, B);
  for (int k = 0; k < n; k++) {
    const int r = order[k];
    V largest = AG_STEP_FN(spread)(table, r, J, re, 1, y);
    largest = v_max(largest, AG_STEP_FN(spread)(table, r, J, im, 0, x));
    for (int l = l_at[r]; l < l_at[r + 1]; l++) {
      const int j = l_col[l];
      const V p = A[l] = v_fma(x[j], DI[j], -(y[j] * D[j])), q = B[l] = -v_fma(y[j], DI[j], x[j] * D[j]);
      for (int i = u_at[j]; i < u_at[j + 1]; i++) {
        V *s = y + u_col[i], *t = x + u_col[i];
        *s = v_fma(-q, UI[i], v_fma(p, U[i], *s));
        *t = v_fma(q, U[i], v_fma(p, UI[i], *t));
      }
    }
    for (int i = u_at[r]; i < u_at[r + 1]; i++) {
      U[i] = y[u_col[i]], UI[i] = x[u_col[i]];
      largest = v_max(largest, v_max(v_abs(U[i]), v_abs(UI[i])));
    }
    const VI bad = m_lt(v_max(v_abs(y[r]), v_abs(x[r])), AG_SPARSE_LOST * largest);
    const V square = v_blend(bad, v_set(__builtin_nan("")), 1.0 / v_fma(y[r], y[r], x[r] * x[r]));
    D[r] = y[r] * square, DI[r] = -(x[r] * square);
  }
}

AG_STEP_QUALIFIER void AG_STEP_FN(solved_sparse_complex)(const int *table, const V *A, const V *B, V *b, V *c) {
  const int n = table[0], *order = AG_SPARSE_ORDER(table);
  const int *l_at = AG_SPARSE_L_AT(table), *l_col = AG_SPARSE_L_COL(table);
  const int *u_at = AG_SPARSE_U_AT(table), *u_col = AG_SPARSE_U_COL(table);
  const V *U = AG_SPARSE_U(table, A), *D = AG_SPARSE_D(table, A);
  const V *UI = AG_SPARSE_U(table, B), *DI = AG_SPARSE_D(table, B);
  for (int k = 0; k < n; k++) {
    const int r = order[k];
    V re = b[r], im = c[r];
    for (int p = l_at[r]; p < l_at[r + 1]; p++) {
      const V x = b[l_col[p]], y = c[l_col[p]];
      re = v_fma(-B[p], y, v_fma(A[p], x, re));
      im = v_fma(B[p], x, v_fma(A[p], y, im));
    }
    b[r] = re, c[r] = im;
  }
  for (int k = n - 1; k >= 0; k--) {
    const int r = order[k];
    V re = b[r], im = c[r];
    for (int q = u_at[r]; q < u_at[r + 1]; q++) {
      const V x = b[u_col[q]], y = c[u_col[q]];
      re = v_fma(UI[q], y, v_fma(-U[q], x, re));
      im = v_fma(-UI[q], x, v_fma(-U[q], y, im));
    }
    b[r] = v_fma(D[r], re, -(DI[r] * im));
    c[r] = v_fma(D[r], im, DI[r] * re);
  }
}
