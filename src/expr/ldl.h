/* SPDX-License-Identifier: MIT
 * Solves A x = b with a sparse symmetric A = L D L^T, over V: compiled into the library, and embedded in generated code
 * after vmath.h (or after plain.h in emitted files). It includes nothing. The entries, their order and the order of the
 * unknowns are fixed beforehand (sparse.c); the numbers only decide whether a pivot is valid.
 *
 * table: n, number of entries of A, number of entries of L below its diagonal; then, per row, where its entries begin:
 * of A (n + 1), of L (n + 1); where the columns of L begin (n + 1); columns of the entries of A, by rows, ascending,
 * the diagonal last if there is one; columns of the entries of L, by rows, ascending; the positions of these in the
 * columns of L; rows of the entries of L, by columns; the signs of the pivots. a: the entries of A, b (overwritten by
 * x), then workspace for L (by columns), 1/D and one row. A pivot with the wrong sign, or one that is small relative to
 * its terms, marks the lane; `lost` then replaces 1/D. */
#if !defined AG_EXPR_LDL_H && (defined V_FN || defined v_set) /* with the words it is made of */
#define AG_EXPR_LDL_H
#ifndef AG_LDL_FN
#define AG_LDL_FN static __attribute__((noinline, unused))
#endif
AG_LDL_FN void v_ldl(const int *table, V *a, V lost, VI *fail) {
  const int n = table[0], n_entry = table[1], n_factor = table[2];
  const int *a_at = table + 3, *row_at = a_at + n + 1, *col_at = row_at + n + 1, *a_col = col_at + n + 1;
  const int *col = a_col + n_entry, *place = col + n_factor, *row = place + n_factor, *sign = row + n_factor;
  V *x = a + n_entry, *L = x + n, *r = L + n_factor, *y = r + n;
  for (int k = 0; k < n; k++) {
    V d = v_set(0), sum = x[k];
    for (int p = row_at[k]; p < row_at[k + 1]; p++) y[col[p]] = v_set(0);
    for (int p = a_at[k]; p < a_at[k + 1]; p++) {
      if (a_col[p] == k) d = a[p];
      else y[a_col[p]] = a[p];
    }
    V size = v_abs(d);
    for (int p = row_at[k]; p < row_at[k + 1]; p++) {
      const int j = col[p], end = place[p];
      const V v = y[j], l = v * r[j];
      for (int q = col_at[j]; q < end; q++) y[row[q]] = v_fma(-L[q], v, y[row[q]]);
      L[end] = l;
      d = v_fma(-l, v, d);
      size = size + v_abs(l * v);
      sum = v_fma(-l, x[j], sum);
    }
    x[k] = sum;
    r[k] = sign[k] > 0 ? v_pivot(d, size * 1e-14, lost, fail) : -v_pivot(-d, size * 1e-10, lost, fail);
  }
  for (int k = n - 1; k >= 0; k--) {
    V sum = x[k] * r[k];
    for (int q = col_at[k]; q < col_at[k + 1]; q++) sum = v_fma(-L[q], x[row[q]], sum);
    x[k] = sum;
  }
}
#endif
