/* SPDX-License-Identifier: MIT
 * Rows of A, or columns if they are fewer, are turned against each other in pairs until all are orthogonal: their
 * lengths are the singular values, their directions the vectors on one side, the product of the turns those on the
 * other (Hestenes, J. SIAM 6, 1958; accuracy: Demmel and Veselic, SIAM J. Matrix Anal. 13, 1992). */
#include "math/svd.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/heap.h"

enum { SWEEPS = 60 };

/* Rows this short beside the largest are zero: squares stay in range. */
static const double NOTHING = 1e-140;

static double dot(int n, const double *a, const double *b) {
  double sum = 0;
  for (int i = 0; i < n; i++) sum += a[i] * b[i];
  return sum;
}

/* By the angle with sine s, tau the tangent of its half: small turns make small errors. */
static void turn(int n, double s, double tau, double *a, double *b) {
  for (int i = 0; i < n; i++) {
    double x = a[i], y = b[i];
    a[i] = x - s * (y + tau * x);
    b[i] = y + s * (x - tau * y);
  }
}

static void swap(int n, double *a, double *b) {
  for (int i = 0; i < n; i++) {
    double x = a[i];
    a[i] = b[i];
    b[i] = x;
  }
}

/* Of the smaller of the two angles whose double has the cotangent zeta. */
static double tangent(double zeta) {
  static const double LARGE = 1e8; /* its square plus 1 is its square */
  double z = fabs(zeta);
  return copysign(z > LARGE ? 0.5 / z : 1 / (z + sqrt(1 + z * z)), zeta);
}

/* The k rows of Y (length n), turned until they are orthogonal, and those of W (length k) with them. */
static bool make_orthogonal(int k, int n, double *Y, double *W) {
  const double nearly = 2 * DBL_EPSILON * sqrt(n);
  bool turned = true;
  for (int sweep = 0; sweep < SWEEPS && turned; sweep++) {
    turned = false;
    for (int i = 0; i < k; i++) { /* what rounding left of rows that follow from others, and of what that left, ... */
      double *a = Y + i * n;
      if (dot(n, a, a) < NOTHING * NOTHING) memset(a, 0, sizeof *a * (size_t)n);
    }
    for (int i = 0; i < k; i++)
      for (int j = i + 1; j < k; j++) {
        double *a = Y + i * n, *b = Y + j * n, aa = dot(n, a, a), bb = dot(n, b, b), ab = dot(n, a, b);
        if (fabs(ab) <= nearly * sqrt(aa) * sqrt(bb)) continue;
        double t = tangent((bb - aa) / (2 * ab)), c = 1 / sqrt(1 + t * t), s = c * t;
        turn(n, s, s / (1 + c), a, b);
        turn(k, s, s / (1 + c), W + i * k, W + j * k);
        turned = true;
      }
  }
  return !turned;
}

/* Lengths of the rows, in descending order, the rows divided by them. How many are not zero. */
static int lengths(int k, int n, double *Y, double *W, double *s) {
  int r = 0;
  for (int i = 0; i < k; i++) s[i] = sqrt(dot(n, Y + i * n, Y + i * n));
  for (int i = 1; i < k; i++)
    for (int j = i; j > 0 && s[j] > s[j - 1]; j--) {
      swap(1, s + j, s + j - 1);
      swap(n, Y + j * n, Y + (j - 1) * n);
      swap(k, W + j * k, W + (j - 1) * k);
    }
  for (; r < k && s[r] > NOTHING; r++)
    for (int i = 0; i < n; i++) Y[r * n + i] /= s[r];
  for (int i = r; i < k; i++) s[i] = 0;
  return r;
}

/* Rows r to k - 1 of Y: unit vectors orthogonal to those before them, each made from the axis farthest from these. */
static void complete(int r, int k, int n, double *Y) {
  for (; r < k; r++) {
    double *y = Y + r * n, far = -1;
    int axis = 0;
    for (int i = 0; i < n; i++) {
      double left = 1;
      for (int l = 0; l < r; l++) left -= Y[l * n + i] * Y[l * n + i];
      if (left > far + 1e-10) far = left, axis = i; /* of those equal up to rounding the first */
    }
    memset(y, 0, sizeof *y * (size_t)n);
    y[axis] = 1;
    for (int pass = 0; pass < 2; pass++) { /* the second removes what rounding left */
      for (int l = 0; l < r; l++) {
        double c = dot(n, Y + l * n, y);
        for (int i = 0; i < n; i++) y[i] -= c * Y[l * n + i];
      }
      double size = sqrt(dot(n, y, y));
      for (int i = 0; i < n; i++) y[i] /= size;
    }
  }
}

/* The exponent of the largest entry. */
static int size_of(int count, const double *A) {
  double largest = 0;
  int e = 0;
  for (int i = 0; i < count; i++) largest = fmax(largest, fabs(A[i]));
  if (largest > 0) (void)frexp(largest, &e);
  return e;
}

int ag_svd_small(int m, int n, const double *A, double *s, int n_v, double *V, double *Ut) {
  bool wide = m <= n;
  int k = wide ? m : n, length = wide ? n : m, n_y = wide && V ? n_v : k, e = size_of(m * n, A);
  double *Y = ag_heap_alloc(sizeof *Y * (size_t)(n_y * length + k * k + 1)), *W = Y + n_y * length;
  for (int i = 0; i < m; i++)
    for (int j = 0; j < n; j++) Y[wide ? i * n + j : j * m + i] = ldexp(A[i * n + j], -e);
  for (int i = 0; i < k; i++) W[i * k + i] = 1;
  bool good = make_orthogonal(k, length, Y, W);
  complete(lengths(k, length, Y, W, s), n_y, length, Y);
  for (int i = 0; i < k; i++) s[i] = ldexp(s[i], e);
  const double *right = wide ? Y : W, *left = wide ? W : Y;
  if (V) memcpy(V, right, sizeof *V * (size_t)(n * n_v));
  for (int j = 0; j < m && Ut; j++)
    for (int l = 0; l < k; l++) Ut[j * k + l] = left[l * m + j];
  free(Y);
  return good ? 0 : -2;
}
