/* SPDX-License-Identifier: MIT
 * The tableaux of the implicit Runge-Kutta methods against what defines their order. With
 *   B(p): sum_i b_i c_i^(q-1) = 1/q,  q <= p      C(p): sum_j a_ij c_j^(q-1) = c_i^q / q
 *   D(p): sum_i b_i c_i^(q-1) a_ij = b_j (1 - c_j^q) / q
 * B(p), C(e), D(d) make order min(p, 2 e + 2, e + d + 1) (Butcher 1964). All sums in long double; 1e-15 is what the
 * rounding of the entries to double leaves. Each assumption is shown to fail beyond what holds, so that it can fail. */
#include <math.h>
#include <string.h>

#include "step/irk_tableau.h"
#include "step/step.h"
#include "tests/check.h"

static const long double SMALL = 1e-15L;

static long double power(long double x, int q) {
  long double p = 1;
  for (int i = 0; i < q; i++) p *= x;
  return p;
}

static bool holds_B(const ag_irk *T, int q) {
  long double sum = -1.0L / q;
  for (int i = 0; i < T->s; i++) sum += T->b[i] * power(T->c[i], q - 1);
  return fabsl(sum) <= SMALL;
}

static bool holds_C(const ag_irk *T, int which, int q) {
  long double worst = 0;
  for (int i = 0; i < T->s; i++) {
    long double sum = -power(T->c[i], q) / q;
    for (int j = 0; j < T->s; j++) sum += T->a[which][i][j] * power(T->c[j], q - 1);
    worst = fmaxl(worst, fabsl(sum));
  }
  return worst <= SMALL;
}

static bool holds_D(const ag_irk *T, int which, int q) {
  long double worst = 0;
  for (int j = 0; j < T->s; j++) {
    long double sum = -T->b[j] * (1 - power(T->c[j], q)) / q;
    for (int i = 0; i < T->s; i++) sum += T->b[i] * power(T->c[i], q - 1) * T->a[which][i][j];
    worst = fmaxl(worst, fabsl(sum));
  }
  return worst <= SMALL;
}

static int least(int a, int b) { return a < b ? a : b; }

static int order_of(const ag_irk *T, int which) {
  int p = 0, e = 0, d = 0;
  while (holds_B(T, p + 1)) p++;
  while (holds_C(T, which, e + 1)) e++;
  while (holds_D(T, which, d + 1)) d++;
  return least(p, least(2 * e + 2, e + d + 1));
}

/* b_i u_ij + b_j a_ji = b_i b_j: quadratic invariants (U = A), or bilinear ones of positions and velocities. */
static bool is_symplectic(const ag_irk *T) {
  for (int i = 0; i < T->s; i++)
    for (int j = 0; j < T->s; j++) {
      long double defect = (long double)T->b[i] * T->a[1][i][j] + (long double)T->b[j] * T->a[0][j][i];
      if (fabsl(defect - (long double)T->b[i] * T->b[j]) > SMALL) return false;
    }
  return true;
}

static bool is_symmetric(const ag_irk *T) {
  for (int which = 0; which < 2; which++)
    for (int i = 0; i < T->s; i++)
      for (int j = 0; j < T->s; j++) {
        double there = T->a[which][T->s - 1 - i][T->s - 1 - j];
        if (fabs(T->a[which][i][j] + there - T->b[j]) > 1e-15) return false;
      }
  return true;
}

/* A T = T M and TI T = 1. They only guide Newton's method: 1e-13 is ample. */
static void test_modes(const ag_irk *T) {
  double M[AG_IRK_MAX][AG_IRK_MAX] = {{0}};
  for (int i = 0; i < T->real; i++) M[i][i] = T->mu[i];
  for (int i = 0; i < T->pair; i++) {
    int k = T->real + 2 * i;
    M[k][k] = M[k + 1][k + 1] = T->re[i];
    M[k][k + 1] = T->im[i], M[k + 1][k] = -T->im[i];
  }
  for (int i = 0; i < T->s; i++)
    for (int j = 0; j < T->s; j++) {
      double left = 0, right = 0, one = 0;
      for (int k = 0; k < T->s; k++) {
        left += T->a[0][i][k] * T->T[k][j];
        right += T->T[i][k] * M[k][j];
        one += T->TI[i][k] * T->T[k][j];
      }
      AG_CHECK_NEAR(left, right, 1e-13);
      AG_CHECK_NEAR(one, i == j, 1e-12);
    }
}

/* gamma at the start and b_j + e_j at the stages integrate t^(q-1) up to q = error_order, and no further. */
static void test_estimate(const ag_stepper *s) {
  const ag_irk *T = s->table;
  AG_CHECK((s->error_order > 0) == (T->estimate > 0));
  if (!T->estimate) return;
  for (int q = 1; q <= s->error_order + 1; q++) {
    long double sum = -1.0L / q + (q == 1 ? T->gamma : 0);
    for (int j = 0; j < T->s; j++) sum += ((long double)T->b[j] + T->e[j]) * power(T->c[j], q - 1);
    AG_CHECK((fabsl(sum) <= 4 * SMALL) == (q <= s->error_order));
  }
  if (T->real) AG_CHECK(T->gamma == T->mu[0]); /* they share a matrix */
  else AG_CHECK(T->gamma == T->mu[T->real]);
}

/* The dense output reproduces the powers t^q up to its degree. Weights are up to 300 in size. */
static void test_dense(const ag_irk *T) {
  for (int q = 1; q <= T->degree; q++)
    for (double x = 0.1; x < 1; x += 0.2) {
      double f0 = q == 1, f1 = q, c[8] = {1, f0 - 1};
      c[2] = 1 - f1 - c[1];
      for (int m = 3; m < T->degree; m++) {
        c[m] = T->d[m - 3][0] * f0 + T->d[m - 3][T->s + 1] * f1;
        for (int j = 0; j < T->s; j++) c[m] += T->d[m - 3][j + 1] * q * (double)power(T->c[j], q - 1);
      }
      double u = c[T->degree - 1];
      for (int m = T->degree - 2; m >= 0; m--) u = c[m] + (m % 2 ? x : 1 - x) * u;
      AG_CHECK_NEAR(x * u, (double)power(x, q), 1e-12);
    }
}

int main(void) {
  int n = 0;
  for (int i = 0; i < ag_stepper_count(); i++) {
    const ag_stepper *s = ag_stepper_at(i);
    const ag_irk *T = s->table;
    int failed = ag_checks_failed;
    if (strcmp(s->family, "implicit Runge-Kutta") || !T) continue;
    bool pair = s->needs & AG_NEEDS_PARTITION;
    AG_CHECK(s->n_stage == T->s + 1 && s->n_dense == (T->degree > 3 ? T->s : 0));
    AG_CHECK(order_of(T, 0) == s->order && order_of(T, 1) == s->order);
    AG_CHECK(pair == (memcmp(T->a[0], T->a[1], sizeof T->a[0]) != 0));
    AG_CHECK(is_symplectic(T) == (pair || s->keeps & AG_KEEPS_QUADRATIC));
    AG_CHECK(is_symmetric(T) == !!(s->keeps & AG_KEEPS_SYMMETRY));
    test_modes(T);
    test_estimate(s);
    test_dense(T);
    if (ag_checks_failed > failed) fprintf(stderr, "  in %s\n", s->name);
    n++;
  }
  AG_CHECK(n >= 21);
  return ag_check_report();
}
