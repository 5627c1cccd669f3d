/* SPDX-License-Identifier: MIT
 * Functions that cannot be enclosed: forces of constraint, for which a linear system is solved, and functions too long
 * for the work of a step. Each gets a separate interpolant, a polynomial through Chebyshev nodes. It is trusted as
 * far as its last coefficients go: its result is not a proof, and the run says so.
 *
 * With c_k the coefficients of p on a piece, |p - c_0| <= sum of |c_k|, k > 0; four times the last two stand for what
 * is left out. The first check of a step (look_core.h) takes five nodes. A piece is done when this excludes zero for p
 * or for its rate; else it is halved. */
#include "run/fit.h"

#include <math.h>

enum { DENSE = 8, PIECES = 48, DEPTH = 24 };

static const double LONG = 1e-2; /* of the step: no jump, and no touch */

/* cos(pi i/8) */
static double cosine(int i) {
  static const double quarter[] = {1, 0.92387953251128674, 0.70710678118654752, 0.38268343236508977, 0};
  i %= 16;
  if (i > 8) i = 16 - i;
  return i > 4 ? -quarter[8 - i] : quarter[i];
}

/* Coefficients of the polynomial through the values v at cos(pi j/n), j = 0 .. n: theta runs from 1 down. */
static void coefficients(int n, const double *v, double *c) {
  for (int k = 0; k <= n; k++) {
    double sum = 0;
    for (int j = 0; j <= n; j++) sum += (j == 0 || j == n ? 0.5 : 1) * v[j] * cosine(j * k);
    c[k] = sum * (k == 0 || k == n ? 1.0 : 2.0) / n;
  }
}

/* |c_0| minus all other coefficients; not positive where zero is possible. */
static double margin(int n, const double *c, double left_out) {
  double rest = left_out;
  for (int k = 1; k <= n; k++) rest += fabs(c[k]);
  return fabs(c[0]) - rest;
}

static double left_out(int n, const double *c) { return 4 * (fabs(c[n - 1]) + fabs(c[n])); }

/* Coefficients of the rate, of degree n - 1: d_{k-1} = d_{k+1} + 2 k c_k, and half of that for d_0. */
static void differentiate(int n, const double *c, double *d) {
  double above[2] = {0, 0};
  for (int k = n; k > 0; k--) {
    double next = above[1] + 2 * k * c[k];
    d[k - 1] = next;
    above[1] = above[0], above[0] = next;
  }
  d[0] *= 0.5;
}

/* Does the function with the values v exclude zero? monotone: does its rate? */
static bool excludes(const double *v, bool *monotone) {
  double c[DENSE + 1], d[DENSE + 1];
  coefficients(DENSE, v, c);
  differentiate(DENSE, c, d);
  *monotone = margin(DENSE - 1, d, left_out(DENSE, c) * DENSE) > 0;
  return margin(DENSE, c, left_out(DENSE, c)) > 0;
}

/* Node j of a piece, a part of it from 1 down to 0. */
static double node(int j) { return 0.5 + 0.5 * cosine(j); }

bool ag_fit_pieces(void *self, double (*value)(void *self, double theta),
                   void (*see)(void *self, double last, double theta, double value)) {
  struct {
    double from, to;
  } stack[DEPTH + 2];
  int top = 0, work = 0;
  bool all = true;
  stack[0].from = 0, stack[0].to = 1;
  while (top >= 0) {
    double from = stack[top].from, to = stack[top].to, v[DENSE + 1];
    bool monotone, last = ++work > PIECES || top == DEPTH;
    for (int j = 0; j <= DENSE; j++) v[j] = value(self, from + node(j) * (to - from));
    if (excludes(v, &monotone) || monotone) {
      see(self, from, to, v[0]);
      top--;
    } else if (last) { /* a jump, or a touch: the values decide */
      all = all && to - from < LONG;
      for (int j = DENSE; j > 0; j--)
        see(self, from + node(j) * (to - from), from + node(j - 1) * (to - from), v[j - 1]);
      top--;
    } else { /* the left half first */
      double middle = 0.5 * (from + to);
      stack[top].from = middle;
      stack[top + 1].from = from, stack[top + 1].to = middle;
      top++;
    }
  }
  return all;
}
