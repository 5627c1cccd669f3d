/* SPDX-License-Identifier: MIT
 * The functions of generated code on plain numbers, for emitted code: C99 and <math.h> only. A condition is 1 or 0; a
 * failed pivot sets *fail. The functions of the operations follow this text; they come from op.def. */
#ifndef AG_KERN_PLAIN_H
#define AG_KERN_PLAIN_H
#include <math.h>

typedef double V;
typedef unsigned long long VI;
#if defined __GNUC__
#define AG_MAYBE __attribute__((unused))
#else
#define AG_MAYBE
#define __attribute__(x)
#endif
#define AG_TAPE_FN static AG_MAYBE
#if __STDC_VERSION__ >= 201112L /* arrays too long for the stack are one for each thread */
#define AG_THREAD _Thread_local
#elif defined __GNUC__
#define AG_THREAD __thread
#else
#define AG_THREAD
#endif

#define v_set(x) ((double)(x))
#define v_word_set(x) ((VI)(x))
#define v_nan() ((double)NAN)
static AG_MAYBE void v_sincos(double x, double *s, double *c) { *s = sin(x), *c = cos(x); }

/* Pivots: does it fail; NaN if so; the same in one; 1/x, or `lost` where x is not above the bound. */
static AG_MAYBE VI v_badpos(double x) { return !(x > 0); }
static AG_MAYBE VI v_badnz(double x) { return !(fabs(x) > 1e-12); }
static AG_MAYBE double v_mark(double x, VI bad) { return bad ? NAN : x; }
static AG_MAYBE double v_checkpos(double x, VI *fail) {
  *fail |= v_badpos(x);
  return v_mark(x, v_badpos(x));
}
static AG_MAYBE double v_checknz(double x, VI *fail) {
  *fail |= v_badnz(x);
  return v_mark(x, v_badnz(x));
}
static AG_MAYBE double v_pivot(double x, double bound, double lost, VI *fail) {
  if (x > bound) return 1 / x;
  *fail = 1;
  return lost;
}

/* A x = b by elimination with row pivoting: a holds A (n x n) by rows, then b, which becomes x. */
static AG_MAYBE void v_solve(int n, double *a, VI *fail) {
  double *b = a + n * n;
  for (int k = 0; k < n; k++) {
    int p = k;
    for (int i = k + 1; i < n; i++)
      if (fabs(a[i * n + k]) > fabs(a[p * n + k])) p = i;
    if (!(fabs(a[p * n + k]) > 0)) *fail = 1;
    for (int j = 0; j <= n; j++) { /* rows k and p change places */
      double *x = j < n ? a + k * n + j : b + k, *y = j < n ? a + p * n + j : b + p, z = *x;
      *x = *y;
      *y = z;
    }
    for (int i = k + 1; i < n; i++) {
      double f = a[i * n + k] / a[k * n + k];
      for (int j = k; j < n; j++) a[i * n + j] -= f * a[k * n + j];
      b[i] -= f * b[k];
    }
  }
  for (int i = n - 1; i >= 0; i--) {
    for (int j = i + 1; j < n; j++) b[i] -= a[i * n + j] * b[j];
    b[i] /= a[i * n + i];
  }
}
#endif
