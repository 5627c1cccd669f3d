/* SPDX-License-Identifier: MIT
 * Start values and `--set`. */
#include "lang/lang_test.h"

#define MODEL \
  "model m\nparam a = 2, b = a + 1, v = [1, 2], K = 3 integer\n" \
  "config x in R^3, s in R^K\nconfig R in SO3 velocity W\nconfig f in R [2]\n" \
  "lagrangian dot(x', x')*b + dot(s', s') + dot(W, W) + v[2]*sum(i in 1..2, f[i]'^2)\n" \
  "frame u = x'[1]\n"
#define STARTS "start x = [1, 2, 3], R = rotation(e1, x[2]), x' = [4, 5, 6], f[i] = i for i in 1..2\nstart u = 7\n"

/* The start of a component as text: "x[2] = 2; ..." in order. */
static const char *starts(const char *text, int n_set, const ag_set *sets) {
  static char out[1000];
  const char *why;
  ag_text s = {0};
  ag_model *m = read_text(text, n_set, sets, &why);
  if (!m) ag_text_str(&s, why);
  for (int i = 0; m && i < m->n_starts; i++) {
    const ag_start *k = &m->starts[i];
    const ag_coord *c = k->frame < 0 ? &m->coords[k->coord] : NULL;
    ag_text_str(&s, c ? (k->velocity ? c->velocity : c->name) : m->frames[k->frame].name);
    if (k->row >= 0) ag_text_printf(&s, "[%d]", k->row + 1);
    ag_text_char(&s, '=');
    ag_print(m->graph, k->x, &s);
    ag_text_char(&s, ';');
  }
  snprintf(out, sizeof out, "%s", ag_text_cstr(&s));
  ag_text_done(&s);
  ag_model_free(m);
  return out;
}

static const char *with(const char *name, const char *value) {
  ag_set set = {name, value};
  return starts(MODEL STARTS, 1, &set);
}

static void check_starts(void) {
  AG_CHECK_STR(starts(MODEL STARTS, 0, NULL), "x=[1, 2, 3];R=rotation(e1, x[2]);x'=[4, 5, 6];f[1]=1;f[2]=2;u=7;");
}

static void check_sets(void) {
  AG_CHECK_STR(with("x", "[0, a, 0]"), "x=a*e2;R=rotation(e1, x[2]);x'=[4, 5, 6];f[1]=1;f[2]=2;u=7;");
  AG_CHECK_STR(with("x[2]", "9"), "x[2]=9;x[1]=1;x[3]=3;R=rotation(e1, x[2]);x'=[4, 5, 6];f[1]=1;f[2]=2;u=7;");
  AG_CHECK_STR(with("x'[1]", "9"), "x'[1]=9;x=[1, 2, 3];R=rotation(e1, x[2]);x'[2]=5;x'[3]=6;f[1]=1;f[2]=2;u=7;");
  AG_CHECK_STR(with("x[1]'", "9"), "x'[1]=9;x=[1, 2, 3];R=rotation(e1, x[2]);x'[2]=5;x'[3]=6;f[1]=1;f[2]=2;u=7;");
  AG_CHECK_STR(with("R", "euler(0, 0, 0)"), "R=identity(3);x=[1, 2, 3];x'=[4, 5, 6];f[1]=1;f[2]=2;u=7;");
  AG_CHECK_STR(with("W[3]", "-1"), "W[3]=-1;x=[1, 2, 3];R=rotation(e1, x[2]);x'=[4, 5, 6];f[1]=1;f[2]=2;u=7;");
  AG_CHECK_STR(with("f[2]'", "3"), "f[2]'=3;x=[1, 2, 3];R=rotation(e1, x[2]);x'=[4, 5, 6];f[1]=1;f[2]=2;u=7;");
  AG_CHECK_STR(with("u", "a"), "u=a;x=[1, 2, 3];R=rotation(e1, x[2]);x'=[4, 5, 6];f[1]=1;f[2]=2;");
  AG_CHECK_STR(with("s", "0"), "s=[0, 0, 0];x=[1, 2, 3];R=rotation(e1, x[2]);x'=[4, 5, 6];f[1]=1;f[2]=2;u=7;");
  ag_set twice[2] = {{"x[1]", "8"}, {"x[1]", "9"}};
  AG_CHECK(!strncmp(starts(MODEL STARTS, 2, twice), "x[1]=9;x[2]=2;x[3]=3;", 21)); /* the last one counts */
}

/* A start value that is varied is a parameter of its own; a parameter keeps its place. */
static void check_varied(void) {
  ag_vary varies[3] = {{"x'[2]", 0.5, 0, NULL}, {"a", -3, 0, NULL}, {"nothing", 1, 0, NULL}};
  ag_ctx ctx = {0};
  ag_model *m = NULL;
  AG_CHECK(ag_lang_read_varied(&ctx, "m.nh", MODEL STARTS, strlen(MODEL STARTS), 0, NULL, 2, varies, &m) == AG_OK);
  AG_CHECK(m && m->n_params == 5 && varies[0].param == 4 && varies[1].param == 0);
  AG_CHECK_STR(m->params[4].name, "start x'[2]");
  AG_CHECK(m->starts[0].velocity && m->starts[0].row == 1 && m->starts[0].x == m->params[4].input);
  double value = 0;
  AG_CHECK(ag_is_num(m->graph, m->params[0].value, &value) && value == -3);
  AG_CHECK(ag_is_num(m->graph, m->params[4].value, &value) && value == 0.5);
  ag_model_free(m);
  ag_ctx_done(&ctx);
  AG_CHECK(ag_lang_read_varied(&ctx, "m.nh", MODEL STARTS, strlen(MODEL STARTS), 0, NULL, 3, varies, &m) == AG_WRONG);
  AG_CHECK(ctx.n_error == 1 && strstr(ctx.diags[0].message, "unknown name `nothing`") && varies[2].param == -1);
  ag_ctx_done(&ctx);
}

static void check_errors(void) {
  AG_CHECK_STR(with("y", "1"), "1:1: unknown name `y`; the model has no such parameter, coordinate or velocity");
  AG_CHECK_STR(with("x[4]", "1"), "1:3: index 4 is out of range: `x` has 1 to 3");
  AG_CHECK_STR(with("x", "1"), "1:3: `x` is a 3-vector, its value is a scalar");
  AG_CHECK_STR(with("R'", "1"), "1:2: the velocity of `R` is called `W`");
  AG_CHECK_STR(with("x", "x'"),
               "1:3: a start value may not use velocities: those not given follow from the constraints");
  AG_CHECK_STR(with("a", "b"), "1:3: `a` and `b` are defined in terms of each other");
  AG_CHECK_STR(with("v", "[1, 2, 3]"), "1:3: `v` is a 2-vector in the model; this is a 3-vector");
  AG_CHECK_STR(with("K", "0"), "3:25: the dimension of R^n must be from 1 to 100000; this is 0");
  AG_CHECK(!strncmp(with("a\n", "1"), "x=", 2)); /* spaces do not matter */
}

static double param(const ag_model *m, const char *name) {
  double v = NAN;
  for (int i = 0; i < m->n_params; i++)
    if (!strcmp(m->params[i].name, name) && !ag_is_num(m->graph, m->params[i].value, &v)) v = NAN;
  return v;
}

static void check_params(void) {
  ag_set sets[3] = {{"a", "5"}, {"K", "1 + 1"}, {"a", "2*3"}};
  ag_model *m = read_text(MODEL STARTS, 3, sets, NULL);
  AG_CHECK(m != NULL);
  if (!m) return;
  AG_CHECK(param(m, "a") == 6);
  AG_CHECK(m->params[3].integer && m->params[3].number == 2 && m->params[3].input == 0);
  AG_CHECK(m->coords[1].dim == 2);
  ag_text s = {0};
  ag_print(m->graph, m->params[1].value, &s); /* b still depends on a */
  AG_CHECK_STR(ag_text_cstr(&s), "a + 1");
  ag_text_done(&s);
  ag_model_free(m);
}

int main(void) {
  check_starts();
  check_sets();
  check_varied();
  check_errors();
  check_params();
  return ag_check_report();
}
