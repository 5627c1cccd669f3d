/* SPDX-License-Identifier: MIT
 * Accuracy and special values of every row of op.def, with V = double. The judge is the C library in long double
 * (op_exact.h). */
#include <stdint.h>
#include <stdlib.h>

#include "expr/graph_internal.h"
#include "expr/op_exact.h"
#include "expr/vmath.h"

#include "check.h"

static uint64_t next_bits(uint64_t *state) { /* splitmix64 */
  uint64_t z = (*state += 0x9e3779b97f4a7c15ULL);
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
  return z ^ z >> 31;
}
static double uniform(uint64_t *state, double lo, double hi) {
  return lo + (hi - lo) * ((double)(next_bits(state) >> 11) * 0x1p-53);
}
/* Any finite double, exponents evenly, between 2^lo and 2^hi, either sign. */
static double wide(uint64_t *state, int lo, int hi) {
  double m = uniform(state, 1, 2);
  int e = lo + (int)(next_bits(state) % (uint64_t)(hi - lo + 1));
  return ldexp(next_bits(state) & 1 ? m : -m, e);
}

static double ulps(double value, long double exact) {
  double rounded = (double)exact;
  if (isnan(rounded) || isinf(rounded)) return (isnan(rounded) && isnan(value)) || rounded == value ? 0 : INFINITY;
  if (isinf(value)) return fabsl(exact) > 0x1.fffffffffffff7p1023L ? 0.5 : INFINITY;
  int e;
  frexp(rounded, &e);
  long double unit = ldexpl(1, e - 53 > -1074 ? e - 53 : -1074);
  return (double)(fabsl((long double)value - exact) / unit);
}

/* Rows that round, and those that are exact on numbers. */
static int rounds(ag_op op) { return ag_op_describe(op)->ulp > 0; }

static double error_of(ag_op op, const double *x) {
  return ulps(ag_op_value(op, x), op_exact(op, (const long double[]){x[0], x[1], x[2]}));
}

/* One argument: near zero, on the domain of the derivative tests, any number. */
static double argument(uint64_t *state, const ag_op_row *row, int k) {
  switch (k % 4) {
  case 0: return uniform(state, -10, 10);
  case 1: return uniform(state, row->lo, row->hi);
  case 2: return wide(state, -30, 9);
  default: return wide(state, -1074, 1023);
  }
}

/* Every row of op.def is within the error that it states; pow overflows nearly everywhere and has its own test. */
static void test_accuracy(void) {
  uint64_t state = 1;
  for (ag_op op = AG_OP_NEG; op < AG_OP_CHECKPOS; op++) {
    const ag_op_row *row = ag_op_describe(op);
    double worst = 0, at[3] = {0};
    for (int k = 0; k < 300000 && (rounds(op) || k < 1000); k++) {
      double x[3];
      for (int i = 0; i < 3; i++) x[i] = argument(&state, row, k >> 2 * i);
      if (row->arity == 2 && k % 5 == 0) x[1] = x[0] * uniform(&state, -3, 3);
      double u = error_of(op, x);
      if (!(u <= worst)) worst = u, memcpy(at, x, sizeof at);
    }
    printf("%-8s %.3f ulp at %a %a\n", row->text, worst, at[0], at[1]);
    AG_CHECK(worst <= row->ulp);
  }
}

/* Doubles next to multiples of pi/2, where the reduction cancels; both sides of the two reductions' border. */
static void test_reduction(void) {
  uint64_t state = 2;
  double worst = 0, at = 0;
  const long double quarter = 1.57079632679489661923132169163975144L;
  for (int k = 0; k < 200000; k++) {
    double n = floor(exp2(uniform(&state, 0, 31)));
    double x = (double)((long double)n * quarter);
    x = k % 3 == 0 ? x : k % 3 == 1 ? nextafter(x, 0) : nextafter(x, INFINITY);
    double u = fmax(ulps(v_sin(x), sinl(x)), ulps(v_cos(x), cosl(x)));
    if (!(u <= worst)) worst = u, at = x;
  }
  /* the double that comes nearest of all to a multiple of pi/2, 6381956970095103 * 2^797 */
  double near_x = ldexp(6381956970095103.0, 797);
  double hard[] = {near_x, -near_x, 0x1p21, nextafter(0x1p21, 2e9), 0x1.fffffffffffffp1023, 1e22, 5e-324};
  for (size_t i = 0; i < sizeof hard / sizeof *hard; i++) {
    double u = fmax(ulps(v_sin(hard[i]), sinl(hard[i])), ulps(v_cos(hard[i]), cosl(hard[i])));
    if (!(u <= worst)) worst = u, at = hard[i];
  }
  printf("reduction %.3f ulp at %a\n", worst, at);
  AG_CHECK(worst <= 1.1);
  AG_CHECK(v_cos(near_x) == -4.687165924254627611e-19); /* known value */
  double s, c;
  for (int k = 0; k < 1000; k++) {
    double x = wide(&state, -20, 60);
    v_sincos(x, &s, &c);
    AG_CHECK(s == v_sin(x) && c == v_cos(x));
    AG_CHECK(v_sin(-x) == -s && v_cos(-x) == c);
  }
}

static void test_pow(void) {
  uint64_t state = 3;
  double worst = 0;
  for (int k = 0; k < 300000; k++) {
    double x = k & 1 ? uniform(&state, 0, 4) : fabs(wide(&state, -1074, 1023));
    double l = log2(x), y = uniform(&state, -1, 1) * (k % 3 ? 1080 / fmax(fabs(l), 1e-300) : 10);
    if (fabs(l) < 1e-8) continue;
    double n = floor(uniform(&state, -40, 40)), a = uniform(&state, -5, 0);
    if (fabs(y) < 1e300) worst = fmax(worst, error_of(AG_OP_POW, (double[]){x, y, 0}));
    worst = fmax(worst, error_of(AG_OP_POW, (double[]){a, n, 0}));
  }
  printf("pow      %.3f ulp\n", worst);
  AG_CHECK(worst <= ag_op_describe(AG_OP_POW)->ulp);
}

/* The same value, sign of zero included; all NaN count as equal. */
static int same(double a, double b) { return isnan(b) ? isnan(a) : a == b && signbit(a) == signbit(b); }

/* Zeros, infinities and NaN come out as the C library has them, other numbers within the stated error. */
static void check_special(ag_op op, const double *x) {
  const ag_op_row *row = ag_op_describe(op);
  double v = ag_op_value(op, x), e = (double)op_exact(op, (const long double[]){x[0], x[1], x[2]});
  int good = e == 0 || isnan(e) || isinf(e) ? same(v, e) : error_of(op, x) <= row->ulp;
  if (!good) fprintf(stderr, "%s(%g, %g) = %.17g, expected %.17g\n", row->text, x[0], x[1], v, e);
  AG_CHECK(good);
}

static void test_special(void) {
  static const double one[] = {0.0,     -0.0,    1,      -1,    INFINITY, -INFINITY,        NAN,    2,      -2,
                               0.5,     -0.5,    5e-324, 1e308, -1e308,   709.782712893384, 709.79, 710.47, 710.5,
                               -745.13, -745.14, -708.5, -720,  0x1p-1022};
  static const double two[] = {0.0,    -0.0,   1,      -1,     INFINITY, -INFINITY,  NAN,         2,      -2,  3,
                               -3,     0.5,    -0.5,   5e-324, -5e-324,  1e308,      -1e308,      0x1p52, 2.5, -2.5,
                               1e-300, 0x1p53, 0x1p60, 1025,   -1075,    0x1p52 + 1, -0x1p52 - 1, 0x1p54};
  for (ag_op op = AG_OP_NEG; op < AG_OP_CHECKPOS; op++) {
    if (!rounds(op)) continue;
    for (size_t i = 0; i < sizeof one / sizeof *one && ag_op_describe(op)->arity == 1; i++)
      check_special(op, (double[]){one[i], 0, 0});
    for (size_t i = 0; i < sizeof two / sizeof *two && ag_op_describe(op)->arity == 2; i++)
      for (size_t j = 0; j < sizeof two / sizeof *two; j++) check_special(op, (double[]){two[i], two[j], 0});
  }
  AG_CHECK(v_exp(0) == 1 && v_log(1) == 0 && v_cos(0) == 1 && v_acos(1) == 0);
  AG_CHECK(v_log(0) == -INFINITY && v_exp(800) == INFINITY && v_exp(-800) == 0);
}

static void test_choices(void) {
  AG_CHECK(v_min(1, 2) == 1 && v_min(2, 1) == 1 && v_max(1, 2) == 2 && v_max(2, 1) == 2);
  AG_CHECK(isnan(v_min(NAN, 1)) && isnan(v_min(1, NAN)) && isnan(v_max(NAN, 1)) && isnan(v_max(1, NAN)));
  AG_CHECK(v_sign(3) == 1 && v_sign(-3) == -1 && same(v_sign(0), 0) && same(v_sign(-0.0), -0.0) && isnan(v_sign(NAN)));
  AG_CHECK(v_abs(-3) == 3 && same(v_abs(-0.0), 0));
  AG_CHECK(v_lt(1, 2) == 1 && v_lt(2, 2) == 0 && v_le(2, 2) == 1 && v_le(NAN, 1) == 0);
  AG_CHECK(v_eq(2, 2) == 1 && v_eq(0.0, -0.0) == 1 && v_ne(2, 2) == 0 && v_ne(NAN, NAN) == 1);
  AG_CHECK(v_and(1, 1) == 1 && v_and(1, 0) == 0 && v_or(0, 1) == 1 && v_or(0, 0) == 0);
  AG_CHECK(v_not(0) == 1 && v_not(1) == 0);
  AG_CHECK(v_select(1, 5, NAN) == 5 && v_select(0, NAN, 6) == 6);
  VI fail = 0;
  AG_CHECK(v_checkpos(2, &fail) == 2 && v_checknz(-2, &fail) == -2 && fail == 0);
  AG_CHECK(isnan(v_checkpos(0, &fail)) && fail == ~(VI)0);
  fail = 0;
  AG_CHECK(isnan(v_checkpos(NAN, &fail)) && fail != 0);
  fail = 0;
  AG_CHECK(isnan(v_checknz(1e-13, &fail)) && fail != 0);
  AG_CHECK(v_fma(0x1p-30 + 1, 1 - 0x1p-30, -1) == -0x1p-60);
}

int main(void) {
  test_accuracy();
  test_reduction();
  test_pow();
  test_special();
  test_choices();
  return ag_check_report();
}
