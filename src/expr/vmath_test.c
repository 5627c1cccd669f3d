/* SPDX-License-Identifier: MIT
 * Accuracy and special values of vmath.h with V = double. The judge is the C library in long double (64 bits or more:
 * 2000 times finer). Limits in units of the last place are those stated in vmath.h, with a margin of the judge. */
#include "expr/vmath.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

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

typedef struct function {
  const char *name;
  V (*f1)(V);
  long double (*exact1)(long double);
  double lo, hi;  /* dense samples */
  int e_lo, e_hi; /* wide samples: exponents of two */
  int positive;
  double limit;
} function;

/* clang-format off */
#define WRAP(name) static V call_##name(V x) { return v_##name(x); }
WRAP(sqrt) WRAP(sin) WRAP(cos) WRAP(tan) WRAP(asin) WRAP(acos)
WRAP(atan) WRAP(sinh) WRAP(cosh) WRAP(tanh) WRAP(exp) WRAP(log)
    /* clang-format on */

    static const function functions[] = {
        {"sqrt", call_sqrt, sqrtl, 0, 10, -1074, 1023, 1, 0.501},
        {"sin", call_sin, sinl, -10, 10, -1074, 1023, 0, 1.0},
        {"cos", call_cos, cosl, -10, 10, -1074, 1023, 0, 1.0},
        {"tan", call_tan, tanl, -10, 10, -1074, 1023, 0, 2.5},
        {"asin", call_asin, asinl, -1, 1, -1074, -1, 0, 2.0},
        {"acos", call_acos, acosl, -1, 1, -1074, -1, 0, 2.0},
        {"atan", call_atan, atanl, -10, 10, -1074, 1023, 0, 1.0},
        {"sinh", call_sinh, sinhl, -5, 5, -1074, 9, 0, 2.5},
        {"cosh", call_cosh, coshl, -5, 5, -1074, 9, 0, 2.0},
        {"tanh", call_tanh, tanhl, -5, 5, -1074, 1023, 0, 3.0},
        {"exp", call_exp, expl, -5, 5, -1074, 9, 0, 1.0},
        {"log", call_log, logl, 0, 10, -1074, 1023, 1, 1.0},
};

static void test_accuracy(void) {
  uint64_t state = 1;
  for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
    const function *f = &functions[i];
    double worst = 0, at = 0;
    for (int k = 0; k < 300000; k++) {
      double x = k & 1 ? uniform(&state, f->lo, f->hi) : wide(&state, f->e_lo, f->e_hi);
      if (f->positive) x = fabs(x);
      double u = ulps(f->f1(x), f->exact1(x));
      if (!(u <= worst)) worst = u, at = x;
    }
    printf("%-6s %.3f ulp at %a\n", f->name, worst, at);
    AG_CHECK(worst <= f->limit);
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

static void test_two_arguments(void) {
  uint64_t state = 3;
  double worst_pow = 0, worst_atan2 = 0, worst_hypot = 0;
  for (int k = 0; k < 300000; k++) {
    double x = k & 1 ? uniform(&state, 0, 4) : fabs(wide(&state, -1074, 1023));
    double l = log2(x), y = uniform(&state, -1, 1) * (k % 3 ? 1080 / fmax(fabs(l), 1e-300) : 10);
    if (fabs(l) < 1e-8) continue;
    if (fabs(y) < 1e300) worst_pow = fmax(worst_pow, ulps(v_pow(x, y), powl(x, y)));
    double n = floor(uniform(&state, -40, 40)), a = uniform(&state, -5, 0);
    worst_pow = fmax(worst_pow, ulps(v_pow(a, n), powl(a, n)));
    double p = k & 1 ? uniform(&state, -5, 5) : wide(&state, -1074, 1023);
    double q = k & 2 ? uniform(&state, -5, 5) : k & 4 ? p * uniform(&state, -3, 3) : wide(&state, -1074, 1023);
    worst_atan2 = fmax(worst_atan2, ulps(v_atan2(p, q), atan2l(p, q)));
    worst_hypot = fmax(worst_hypot, ulps(v_hypot(p, q), hypotl(p, q)));
  }
  printf("pow    %.3f ulp\natan2  %.3f ulp\nhypot  %.3f ulp\n", worst_pow, worst_atan2, worst_hypot);
  AG_CHECK(worst_pow <= 1.5);
  AG_CHECK(worst_atan2 <= 1.5);
  AG_CHECK(worst_hypot <= 1.5);
}

/* The same value, sign of zero included; all NaN are alike. */
static int same(double a, double b) { return isnan(b) ? isnan(a) : a == b && signbit(a) == signbit(b); }

static void test_special_one(void) {
  static const double xs[] = {0.0,     -0.0,    1,      -1,    INFINITY, -INFINITY,        NAN,    2,      -2,
                              0.5,     -0.5,    5e-324, 1e308, -1e308,   709.782712893384, 709.79, 710.47, 710.5,
                              -745.13, -745.14, -708.5, -720,  0x1p-1022};
  for (size_t i = 0; i < sizeof xs / sizeof *xs; i++)
    for (size_t k = 0; k < sizeof functions / sizeof *functions; k++) {
      double x = xs[i], v = functions[k].f1(x), e = (double)functions[k].exact1(x);
      int edge = x == 0 || isnan(e) || isinf(e);
      int good = edge ? same(v, e) : ulps(v, functions[k].exact1(x)) <= functions[k].limit;
      if (!good) fprintf(stderr, "%s(%g) = %.17g, expected %.17g\n", functions[k].name, x, v, e);
      AG_CHECK(good);
    }
  AG_CHECK(v_exp(0) == 1 && v_log(1) == 0 && v_cos(0) == 1 && v_acos(1) == 0);
  AG_CHECK(v_log(0) == -INFINITY && v_exp(800) == INFINITY && v_exp(-800) == 0);
}

static void test_special_two(void) {
  static const double xs[] = {0.0,    -0.0,   1,      -1,     INFINITY, -INFINITY,  NAN,         2,      -2,  3,
                              -3,     0.5,    -0.5,   5e-324, -5e-324,  1e308,      -1e308,      0x1p52, 2.5, -2.5,
                              1e-300, 0x1p53, 0x1p60, 1025,   -1075,    0x1p52 + 1, -0x1p52 - 1, 0x1p54};
  int n = (int)(sizeof xs / sizeof *xs);
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      double x = xs[i], y = xs[j];
      struct {
        const char *name;
        double value;
        long double exact;
      } row[] = {{"pow", v_pow(x, y), powl(x, y)},
                 {"atan2", v_atan2(x, y), atan2l(x, y)},
                 {"hypot", v_hypot(x, y), hypotl(x, y)}};
      for (int k = 0; k < 3; k++) {
        double e = (double)row[k].exact;
        int edge = e == 0 || isnan(e) || isinf(e);
        int good = edge ? same(row[k].value, e) : ulps(row[k].value, row[k].exact) <= 1.5;
        if (!good) fprintf(stderr, "%s(%g, %g) = %.17g, expected %.17g\n", row[k].name, x, y, row[k].value, e);
        AG_CHECK(good);
      }
    }
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
  test_two_arguments();
  test_special_one();
  test_special_two();
  test_choices();
  return ag_check_report();
}
