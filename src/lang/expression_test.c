/* SPDX-License-Identifier: MIT */
#include "check.h"
#include "lang/lang.h"
#include "model/parts.h"

static const char TEXT[] = "model m\n"
                           "param a = 2, b = a^2, v = [1, 2]\n"
                           "param K = 3 integer\n"
                           "config x in R\n"
                           "let double = 2*a, place = x + 1\n"
                           "lagrangian a/2*x'^2 - b*K*x^2 + v[1]\n"
                           "observable big = 100*x\n";

static ag_model *read_model(ag_ctx *ctx) {
  ag_model *m;
  ag_status status = ag_lang_read(ctx, "m.nh", TEXT, sizeof TEXT - 1, 0, NULL, &m);
  AG_CHECK(status == AG_OK);
  return m;
}

/* Its value with the parameters of the model, each put in its place. */
static double value_of(ag_model *m, ag_id x) {
  double v = NAN;
  for (int k = m->n_params - 1; k >= 0; k--)
    if (m->params[k].input) ag_substitute(m->graph, 1, &m->params[k].input, &m->params[k].value, 1, &x);
  AG_CHECK(ag_constant(m->graph, x, &v));
  return v;
}

static void check_values(void) {
  static const struct {
    const char *text;
    double value;
  } rows[] = {{"s=7", 7},
              {"s=a", 2},
              {"s=b - a", 2},
              {"s= K*pi ", 3 * 3.14159265358979323846},
              {"s=double", 4},
              {"s=v[2]", 2},
              {"s=sqrt(b)^3", 8},
              {"s=-a", -2},
              {"s=1e-3\n+ a", 2.001}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    ag_ctx ctx = {0};
    ag_id x;
    ag_model *m = read_model(&ctx);
    AG_CHECK(ag_lang_expression(&ctx, m, "--sweep", rows[i].text, 2, strlen(rows[i].text) - 2, &x) == AG_OK);
    AG_CHECK(value_of(m, x) == rows[i].value);
    AG_CHECK(!ctx.n_error);
    AG_CHECK_STR(ctx.file, "m.nh"); /* later messages are about the file again */
    ag_model_free(m);
    ag_ctx_done(&ctx);
  }
}

/* Positions count in the whole text; what is before and after the expression is not read. */
static void check_errors(void) {
  static const struct {
    const char *text;
    size_t from, size;
    const char *shown;
  } rows[] = {
      {"s=c:2:3", 2, 1, "--sweep s=c:2:3:1:3: error: unknown name `c`"},
      {"s=1:2*:3", 4, 2, "--sweep s=1:2*:3:1:7: error: expected an expression"},
      {"s=1:a b:3", 4, 3, ":1:7: error: "},
      {"s=1:x:3", 4, 1, ":1:5: error: the value may use only numbers and parameters"},
      {"s=1:place:3", 4, 5, ":1:5: error: the value may use only numbers and parameters"},
      {"s=1:t:3", 4, 1, ":1:5: error: the value may use only numbers and parameters"},
      {"s=1:big:3", 4, 3, "unknown name `big`"},
      {"s=1:v:3", 4, 1, ":1:5: error: "},
      {"s=1:1/0:3", 4, 3, ":1:6: error: division by zero"},
      {"s=1:log(-a):3", 4, 7, "error: "},
      {"s=1\nparam z = 2:2:3", 2, 13, "--sweep s=1 param z = 2:2:3:2:1: error: expected the end of the value"},
      {"s=\x01", 2, 1, "error: "},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    ag_ctx ctx = {0};
    ag_text out = {0};
    ag_id x;
    ag_model *m = read_model(&ctx);
    int n = m->n_params;
    AG_CHECK(ag_lang_expression(&ctx, m, "--sweep", rows[i].text, rows[i].from, rows[i].size, &x) == AG_WRONG);
    ag_ctx_render(&ctx, &out);
    if (!strstr(ag_text_cstr(&out), rows[i].shown)) AG_CHECK_STR(ag_text_cstr(&out), rows[i].shown);
    AG_CHECK(m->n_params == n); /* nothing is added to the model */
    ag_text_done(&out);
    ag_model_free(m);
    ag_ctx_done(&ctx);
  }
}

int main(void) {
  check_values();
  check_errors();
  return ag_check_report();
}
