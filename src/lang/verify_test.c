/* SPDX-License-Identifier: MIT
 * Degrees in the velocities, from the structure and against it; numbers of constraints; warnings. */
#include "lang/lang_test.h"

/* The first error of a model with this Lagrangian and these further lines, "" if there is none. */
static const char *error_of(const char *lagrangian, const char *more) {
  char text[1000];
  const char *why;
  snprintf(text, sizeof text, "model m\nparam c = 1.5\nconfig x in R, y in R, z in R^2\nlagrangian %s\n%s", lagrangian,
           more);
  ag_model_free(read_text(text, 0, NULL, &why));
  return why;
}

static void check_lagrangian(void) {
  static const char *const quadratic[] = {
      "x'^2 + y'^2 + dot(z', z')",
      "x'*y'*sin(x) + c*x' - cos(y) + dot(z', [[1, x], [x, 2]]*z')",
      "(x' + y')^2/(1 + x^2) + norm(z')^2",
      "(x'^3 + x'^2)/(1 + x') + y'^2",
      "if x > 0 then x'^2 else 2*x'^2",
      "exp(log(1 + x'^2))",
      "t*x'^2 + c*t",
      "(x' + y)^3 - x'^3 + y'^2",
      "x'^2 + y'^2 + x'^3*(sin(y)^2 + cos(y)^2 - 1)",
      "(if t > 1 then x' + x'^3 else x'^3 + y') - x'^3 + x'^2",
      "inverse([[1 + x^2, y], [y, 3]])[1, 1]*x'^2",
  };
  static const char *const wrong[] = {"x'^3",
                                      "sqrt((1 + x'^2)^2)",
                                      "x'^2 + (if x' > 1e6 then x' else 0)",
                                      "x'^2*y'",
                                      "sqrt(1 + x'^2)",
                                      "x'^2/(1 + y')",
                                      "sin(x')",
                                      "abs(x')*x'^2",
                                      "norm(z')",
                                      "if x' > 0 then x'^2 else 2*x'^2",
                                      "exp(x*x')",
                                      "x'^4/(1 + x'^2)",
                                      "x'^2 + 1e-3*y'^3",
                                      "max(x', y')*x'",
                                      "exp(2*log(sqrt(1 + x'^2)))",
                                      "x'^2 + (if x > 100 then x'^3 else 0)",
                                      "x'^2 + (if c > 100 then x'^3 else 0)",
                                      "x'^2 + (if t > 1e9 then (if y > 7 then 0 else x'*y'^2) else 0)",
                                      "x'^2 + max(0, x - 100)*x'^3",
                                      "x'^2 + (abs(x - 100) - x + 100)*sign(y - 50)*x'^3",
                                      "x'^2 + exp(-1e6*y^2)*x'^3",
                                      "x'^2 + (c - 1.5)*x'^3",
                                      "x'^2 + 1e-200*x'^4",
                                      "x'^2 + unvaried(x')*x'",
                                      "x'^c + x'^2"};
  for (size_t i = 0; i < sizeof quadratic / sizeof *quadratic; i++) AG_CHECK_STR(error_of(quadratic[i], ""), "");
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    AG_CHECK_STR(error_of(wrong[i], ""),
                 "4:12: the Lagrangian must be at most quadratic in the velocities: 1/2 v.M v + b.v - V");
  }
}

static void check_affine(void) {
  static const char l[] = "x'^2 + y'^2 + dot(z', z')";
  AG_CHECK_STR(error_of(l, "constraint x'*sin(y) = t + y'\n"), "");
  AG_CHECK_STR(error_of(l, "constraint z' = [x', y']\n"), "");
  AG_CHECK_STR(error_of(l, "constraint (x'^2 - y'^2)/(x' + y') = 0\n"), ""); /* x' - y' in disguise */
  AG_CHECK_STR(error_of(l, "constraint x'*y' = 1\n"), "5:12: a constraint must be linear or affine in the velocities");
  AG_CHECK_STR(error_of(l, "constraint norm([x', y']) = 1\n"),
               "5:12: a constraint must be linear or affine in the velocities");
  AG_CHECK_STR(error_of(l, "frame u = sqrt(x'^2)\n"),
               "5:7: the frame velocity `u` must be linear or affine in the velocities");
  AG_CHECK_STR(error_of(l, "frame u = x' + t, w = z'\n"), "");
  static const char *const hidden[] = {"y' = (if x > 100 then x'^2 else 0)", "y' = max(0, x - 100)*x'^2",
                                       "y' = x*(if t < 1e6 then x' else x'*y')", "y' = x' + (c - 1.5)*x'^2",
                                       "z' = [x', (if y > 50 then y'^2 else y')]"};
  for (size_t i = 0; i < sizeof hidden / sizeof *hidden; i++) {
    char line[200];
    snprintf(line, sizeof line, "constraint %s\n", hidden[i]);
    AG_CHECK_STR(error_of(l, line), "5:12: a constraint must be linear or affine in the velocities");
  }
}

static void check_warnings(void) {
  static const char text[] = "model m\nparam a = 1, b = 2, c = 3\nlet u = 1, w(i) = a\nconfig x in R\nlagrangian x'^2\n"
                             "expect x = x within 1 when c = 1\n";
  ag_ctx ctx = {0};
  ag_model *m = NULL;
  AG_CHECK(ag_lang_read(&ctx, "test.nh", text, strlen(text), 0, NULL, &m) == AG_OK);
  AG_CHECK(ctx.n_diag == 4 && ctx.n_error == 0);
  if (ctx.n_diag == 4) {
    AG_CHECK_STR(ctx.diags[0].message, "`b` is never used");
    AG_CHECK_STR(ctx.diags[1].message, "`u` is never used");
    AG_CHECK_STR(ctx.diags[2].message, "`w` is never used");
    AG_CHECK_STR(ctx.diags[3].message, "both sides are the same expression: this holds trivially");
    for (int i = 0; i < 4; i++) AG_CHECK(ctx.diags[i].severity == AG_WARNING);
  }
  ag_model_free(m);
  ag_ctx_done(&ctx);
}

int main(void) {
  check_lagrangian();
  check_affine();
  check_warnings();
  return ag_check_report();
}
