/* SPDX-License-Identifier: MIT
 * Densities that are given with a figure, to be drawn beside histograms: "th=exp(cos(x)/kT);v=exp(-x^2)". Each is an
 * expression of x, the value of the column, and of the parameters of the run. */
#include <math.h>
#include <string.h>

#include "lang/lang.h"
#include "view/view_internal.h"

/* The next item of a list: the place of its name, and of its expression. False: none is left. */
static bool next_item(const char *list, size_t *at, size_t name[2], size_t expression[2]) {
  if (!list[*at]) return false;
  name[0] = *at, name[1] = strcspn(list + *at, "=;");
  *at += name[1];
  *at += list[*at] == '=';
  expression[0] = *at, expression[1] = strcspn(list + *at, ";");
  *at += expression[1];
  *at += list[*at] == ';';
  return true;
}

/* A model that has nothing but x and the parameters. */
static ag_model *names_of(const ag_source *s, ag_id *inputs) {
  ag_model *m = ag_model_create("");
  ag_graph *g = ag_model_graph(m);
  inputs[0] = ag_model_add_param(m, "x", ag_num(g, 1), (ag_pos){0});
  for (int i = 0; i < s->n_parameter; i++)
    inputs[i + 1] = strcmp(s->parameters[i].name, "x")
                        ? ag_model_add_param(m, s->parameters[i].name, ag_num(g, 1), (ag_pos){0})
                        : ag_input(g, "hidden", 1, 1, AG_LEAF_REAL); /* x is the value */
  return m;
}

static bool evaluate(const ag_source *s, const char *list, const size_t at[2], long n, const double *x, double *y,
                     ag_text *trouble) {
  ag_ctx ctx = {0};
  ag_arena *arena = ag_arena_create();
  ag_id *inputs = AG_NEWN(arena, ag_id, s->n_parameter + 1), out;
  double *values = AG_NEWN(arena, double, s->n_parameter + 1);
  ag_model *m = names_of(s, inputs);
  bool good = ag_lang_expression(&ctx, m, "--density", list, at[0], at[1], &out) == AG_OK;
  if (!good) ag_text_printf(trouble, "--density: %s", ctx.n_diag ? ctx.diags[0].message : "not an expression of x");
  for (int i = 0; i < s->n_parameter; i++) values[i + 1] = s->parameters[i].value;
  for (long i = 0; good && i < n; i++) {
    values[0] = x[i];
    if (ag_evaluate(ag_model_graph(m), s->n_parameter + 1, inputs, values, 1, &out, &y[i]) || !(y[i] >= 0)) y[i] = NAN;
  }
  ag_model_free(m);
  ag_ctx_done(&ctx);
  ag_arena_free(arena);
  return good;
}

int ag_density_of(const ag_source *s, const char *list, const char *column, long n, const double *x, double *y,
                  ag_text *trouble) {
  size_t at = 0, name[2], expression[2];
  while (list && next_item(list, &at, name, expression))
    if (strlen(column) == name[1] && !strncmp(list + name[0], column, name[1]))
      return evaluate(s, list, expression, n, x, y, trouble) ? 1 : -1;
  return 0;
}

bool ag_density_check(const char *list, const ag_figure *f, ag_text *trouble) {
  size_t at = 0, name[2], expression[2];
  while (list && next_item(list, &at, name, expression)) {
    bool found = false;
    for (int i = 0; i < f->n_panel; i++)
      for (int k = 0; k < f->panels[i].n_curve; k++) {
        const char *drawn = f->panels[i].curves[k].name;
        found = found || (strlen(drawn) == name[1] && !strncmp(drawn, list + name[0], name[1]));
      }
    if (!expression[1]) ag_text_str(trouble, "densities are given as in --density 'th=exp(cos(x)/kT);v=exp(-x^2)'");
    else if (!found) ag_text_printf(trouble, "--density: there is no histogram of %.*s", (int)name[1], list + name[0]);
    if (!expression[1] || !found) return false;
  }
  return true;
}
