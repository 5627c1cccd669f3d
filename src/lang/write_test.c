/* SPDX-License-Identifier: MIT
 * Writing a model. corpus_test.c tests the round trip for all files; here are single forms, and texts that must stay
 * short. */
#include "lang/lang_test.h"

/* The text written for a model, without its first line (model ...). */
static const char *written(const char *text) {
  static char out[200000];
  ag_model *m = read_text(text, 0, NULL, NULL);
  ag_text s = {0};
  AG_CHECK(m != NULL);
  if (m) ag_lang_write(m, &s);
  const char *rest = strchr(ag_text_cstr(&s), '\n');
  snprintf(out, sizeof out, "%s", rest ? rest + 1 : "");
  ag_text_done(&s);
  ag_model_free(m);
  return out;
}

static void check_forms(void) {
  AG_CHECK_STR(
      written("model m\nparam a = 1, K = 2 integer, v = [1, a]\nconfig x in R^3 [K], R in SO3 velocity W, n in S2\n"
              "lagrangian sum(i in 1..K, dot(x[i]', x[i]')) + dot(W, W) + a*dot(n', v[1]*n')\n"),
      "param a = 1\nparam K = 2 integer\nparam v = [1, a]\nconfig x in R^3 [2]\nconfig R in SO3 velocity W\nconfig n "
      "in S2\n"
      "lagrangian dot(x[1]', x[1]') + dot(x[2]', x[2]') + dot(W, W) + v[1]*dot(n', n')*a\n");
  AG_CHECK_STR(written("model m\nconfig x in R, y in R\nlet E = x'^2/2 + y'^2/2, back = x*sin(y)\nlagrangian E - "
                       "back\nobservable back, z = back^2\n"),
               "config x in R\nconfig y in R\nlet E = 0.5*x'^2 + 0.5*y'^2\nlet back = x*sin(y)\nlagrangian E - back\n"
               "observable back\nobservable z = back^2\n");
  AG_CHECK_STR(written("model m\nconfig x in R, y in R\nlagrangian x'^2 + y'^2\nprescribe x = -t\nobservable d = "
                       "2*drive.x\nstart y' = 1\n"
                       "event e: y = 1 falling terminal\nexpect e first at 1 within 1\n"),
               "config x in R\nconfig y in R\nlagrangian x'^2 + y'^2\nprescribe x = -t\nobservable d = 2*drive.x\n"
               "event e: y - 1 = 0 falling terminal\nstart y' = 1\nexpect e 1 at 1 within 1\n");
}

/* A list of frictions, and the friction of a family, are one statement per velocity. */
static void check_frictions(void) {
#define BATH \
  "model m\nparam c = 0.2\nconfig x in R^3 [2], R in SO3 velocity W [2]\n" \
  "lagrangian sum(i in 1..2, dot(x[i]', x[i]') + dot(W[i], W[i]))\ntemperature c\n"
  char one[20000];
  snprintf(one, sizeof one, "%s",
           written(BATH "friction x[i]' = c for i in 1..2\nfriction W[i] = 2*c for i in 1..2\n"));
  AG_CHECK(strstr(one, "friction_12") != NULL);
  AG_CHECK_STR(written(BATH "friction x' = c, W = 2*c\n"), one);
  AG_CHECK_STR(written(BATH "friction x[1]' = c, x[2]' = c, W[i] = 2*c for i in 1..2\n"), one);
#undef BATH
}

/* Names of parts avoid those of the user. */
static void check_names(void) {
  const char *out =
      written("model m\nparam part1 = 1\nconfig part2 in R, x in R\nlagrangian part2'^2 + part1*x'^2\n"
              "observable a = (rotation([1, 1, 0], 0.1)*e1)[1]*x + (rotation([1, 1, 0], x)*[1, 2, x])[1]\n");
  AG_CHECK(strstr(out, "let part3 = rotation([[") != NULL);
  AG_CHECK(strstr(out, "let part1") == NULL && strstr(out, "let part2") == NULL);
}

/* The drift of Ito's form is solved for with the mass matrix; what checks its pivots has no word. */
static void check_ito(void) {
  const char *out =
      written("model m\nparam s = 0.1\nconfig x in R, y in R, phi in S1\n"
              "lagrangian 1/2*(x' + y'^2 + phi'^2) - s*x\nconstraint x' = y'\nnoise W force y' = s*y' ito\n");
  AG_CHECK(strstr(out, "[1, -1, 0]") && !strstr(out, "pivot"));
}

/* 2^60 terms and 600 brackets if written out. */
static void check_size(void) {
  ag_text text = {0};
  ag_text_str(&text, "model m\nconfig x in R\nlet f0(a) = sin(a)\nlet a0 = x\n");
  for (int i = 1; i <= 60; i++) ag_text_printf(&text, "let a%d = a%d*sin(a%d) + %d\n", i, i - 1, i - 1, i);
  for (int i = 61; i <= 400; i++) ag_text_printf(&text, "let a%d = 1/(2 + sqrt(1 + a%d))\n", i, i - 1);
  ag_text_str(&text, "lagrangian x'^2 + f0(a400)\n");
  const char *out = written(ag_text_cstr(&text));
  AG_CHECK(strlen(out) > 1000 && strlen(out) < 30000);
  ag_text_done(&text);
}

int main(void) {
  check_forms();
  check_frictions();
  check_ito();
  check_names();
  check_size();
  return ag_check_report();
}
