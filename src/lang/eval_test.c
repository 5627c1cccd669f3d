/* SPDX-License-Identifier: MIT
 * Values of expressions at a state, compared with the same formula in C. */
#include "lang/lang_test.h"

/* Reads `observable v = TEXT` in a small model and returns its first n values at t = 0.7, a = 1.3, x = 0.4, x' = -0.6,
 * p = (0.1, 0.2, 0.3), p' = (0.5, 0.7, 1.1). */
static void value_of(const char *text, double *out) {
  static const double state[] = {0.7, 1.3, 0.4, -0.6, 0.1, 0.2, 0.3, 0.5, 0.7, 1.1};
  char file[2000];
  snprintf(file, sizeof file,
           "model m\nparam a = 1.3, K = 3 integer\nconfig x in R, p in R^3\nlagrangian x'^2 + dot(p', p')\nlet sq(v) = "
           "v^2\nlet at(i) = p[i]\n"
           "observable v = %s\n",
           text);
  ag_model *m = read_text(file, 0, NULL, NULL);
  AG_CHECK(m != NULL);
  if (m) values(m, state, observable(m, "v"), out);
  ag_model_free(m);
}

static double one(const char *text) {
  double v[9] = {NAN};
  value_of(text, v);
  return v[0];
}

/* Tolerance: a few rounding errors. */
#define CHECK_VALUE(text, value) AG_CHECK_NEAR(one(text), value, 4e-16)

static void check_scalars(void) {
  double a = 1.3, x = 0.4, v = -0.6, t = 0.7;
  CHECK_VALUE("a + 2*x - x'/4", a + 2 * x - v / 4);
  CHECK_VALUE("-x^2", -x * x);
  CHECK_VALUE("2^3^2", 512);
  CHECK_VALUE("a - x - x'", a - x - v);
  CHECK_VALUE("a/x/2", a / x / 2);
  CHECK_VALUE("x^2.5", pow(x, 2.5));
  CHECK_VALUE("sin(x) + cos(t)*exp(-a)", sin(x) + cos(t) * exp(-a));
  CHECK_VALUE("atan2(x', x) + hypot(3, 4)", atan2(v, x) + 5);
  CHECK_VALUE("min(x, a, x') + max(x, a, 0, 1)", v + a);
  CHECK_VALUE("abs(x') + sign(x') + sqrt(a)", 0.6 - 1 + sqrt(a));
  CHECK_VALUE("asin(x) + acos(x) + atan(x) + tan(x)", asin(x) + acos(x) + atan(x) + tan(x));
  CHECK_VALUE("sinh(x) + cosh(x) + tanh(x) + log(a)", sinh(x) + cosh(x) + tanh(x) + log(a));
  CHECK_VALUE("pi", 3.14159265358979323846);
  CHECK_VALUE("90*deg", 90 * (3.14159265358979323846 / 180));
  CHECK_VALUE("K^2 + K", 12);
}

static void check_tensors(void) {
  double p[3] = {0.1, 0.2, 0.3}, v[3] = {0.5, 0.7, 1.1}, A[9];
  CHECK_VALUE("dot(p, p')", p[0] * v[0] + p[1] * v[1] + p[2] * v[2]);
  CHECK_VALUE("cross(p, p')[3]", p[0] * v[1] - p[1] * v[0]);
  CHECK_VALUE("(hat(p)*p')[1] - cross(p, p')[1]", 0);
  CHECK_VALUE("norm(p)", sqrt(0.14));
  CHECK_VALUE("(p*p'^T)[2,3]", p[1] * v[2]);
  CHECK_VALUE("p^T*p'", p[0] * v[0] + p[1] * v[1] + p[2] * v[2]);
  CHECK_VALUE("det([[1, 2], [3, x]])", 0.4 - 6);
  CHECK_VALUE("trace([[1, 2], [3, x]])", 1.4);
  CHECK_VALUE("(inverse([[2, 1], [1, 3]])*[1, 2])[2]", 0.6);
  CHECK_VALUE("solve([[2, 1], [1, 3]], [1, 2])[1]", 0.2);
  CHECK_VALUE("[[1, 2, 3], [4, 5, 6]]^T[3,1]", 3);
  CHECK_VALUE("diag(1, x, 3)[2,2] + diag(p)[3,3] + identity(2)[1,2] + zero(4)[2]", 0.4 + 0.3);
  value_of("e1*e2^T + 2*identity(3)", A);
  for (int k = 0; k < 9; k++) AG_CHECK(A[k] == (k == 1) + 2 * (k % 4 == 0));
  CHECK_VALUE("([p[1], x, 2]/2)[3] + e3[3]", 2);
}

static void check_control(void) {
  CHECK_VALUE("if x > 0 then 1 else 2", 1);
  CHECK_VALUE("if not x >= 0.4 or (x' < 0 and a != 1.3) then 1 else 2", 2);
  CHECK_VALUE("(if x <= 0.4 then p else p')[2]", 0.2);
  CHECK_VALUE("if K == 3 then x else p[7]", 0.4); /* a known condition: the other branch is ignored */
  CHECK_VALUE("sum(i in 1..K, i*p[i])", 0.1 + 0.4 + 0.9);
  CHECK_VALUE("sum(i in 1..K, sum(j in i+1..K, at(i)*at(j)))", 0.02 + 0.03 + 0.06);
  CHECK_VALUE("sum(i in 2..1, p[i]) + x", 0.4);
  CHECK_VALUE("(p + sum(i in 2..1, p))[3]", 0.3);
  CHECK_VALUE("sq(x) + sq(sq(2))", 0.16 + 16);
}

static void check_primes(void) {
  CHECK_VALUE("p[2]' - p'[2]", 0);
  CHECK_VALUE("(x*p)'[3]", -0.6 * 0.3 + 0.4 * 1.1);
  CHECK_VALUE("(a*sin(2*t))'", 1.3 * 2 * cos(1.4));
  CHECK_VALUE("(x^2*t)'", 2 * 0.4 * -0.6 * 0.7 + 0.16);
  CHECK_VALUE("norm(p)'", (0.05 + 0.14 + 0.33) / sqrt(0.14));
  CHECK_VALUE("[x, t, a]'[1] + [x, t, a]'[2] + [x, t, a]'[3]", -0.6 + 1);
}

int main(void) {
  check_scalars();
  check_tensors();
  check_control();
  check_primes();
  return ag_check_report();
}
