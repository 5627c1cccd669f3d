/* SPDX-License-Identifier: MIT
 * draw statements: forms, what is stored, values, writing; the graph that the equations are derived from does not
 * know them. Errors are in tests/wrong. */
#include "lang/lang_test.h"
#include "model/parts.h"

#define HEAD \
  "model m\nparam r = 2, K = 3 integer\nconfig x in R, y in R, phi in S1, q in R [K]\n" \
  "lagrangian x'^2 + y'^2 + phi'^2 + sum(i in 1..K, q[i]'^2)\n"

/* The value of an argument of a drawing for x = 0.3, y = 0.4, phi = 0.5, x' = 7, t = 2. */
static int value(ag_model *m, int drawing, int arg, double *v) {
  ag_id in[] = {m->coords[0].q,     m->coords[1].q, m->coords[2].q, m->coords[0].xi, m->t,
                m->params[0].input, m->coords[3].q, m->coords[4].q, m->coords[5].q};
  double at[] = {0.3, 0.4, 0.5, 7, 2, 2, 10, 20, 30};
  ag_id x = m->drawings[drawing]->args[arg];
  ag_evaluate(m->graph, 9, in, at, 1, &x, v);
  return ag_node_rows(m->graph, x) * ag_node_cols(m->graph, x);
}

/* More than can be drawn: the model stands, and a note says so. */
static void check_many(void) {
  ag_model *m = read_text(HEAD "draw trace [x, i] for i in 1..2500\n"
                               "draw trace [x, i] for i in 1..10\n",
                          0, NULL, NULL);
  AG_CHECK(m && m->n_drawings == 2000);
  ag_model_free(m);
}

static void check_values(void) {
  double v[9];
  ag_model *m = read_text(HEAD "draw disk(r/4) at [x, y, 0] axis [cos(phi), sin(phi), 0] mark e3 colour 1 + 2\n"
                               "draw segment [x, y], [x + t, x']\n"
                               "draw polyline [[x, y], [1, 2], [x, r]]\n"
                               "draw bowl(s: r*s^2)\n"
                               "draw trace [q[i], 0] for i in 1..K\n"
                               "draw box(1, r, 3) at [x, y] turned rotation(e3, phi)\n",
                          0, NULL, NULL);
  AG_CHECK(m && m->n_drawings == 8);
  if (!m) return;
  ag_model_draw(m);
  ag_model_draw(m); /* once more changes nothing */
  AG_CHECK(m->drawings[0]->kind == AG_DRAW_IS_disk && m->drawings[0]->colour == 3 && !m->drawings[0]->args[4]);
  AG_CHECK(value(m, 0, 0, v) == 1 && v[0] == 0.5);
  AG_CHECK(value(m, 0, 1, v) == 3 && v[0] == 0.3 && v[1] == 0.4 && v[2] == 0);
  AG_CHECK(value(m, 0, 2, v) == 3);
  AG_CHECK_NEAR(v[0], cos(0.5), 1e-15);
  AG_CHECK(value(m, 0, 3, v) == 3 && v[2] == 1);
  AG_CHECK(value(m, 1, 1, v) == 2 && v[0] == 2.3 && v[1] == 7);
  AG_CHECK(value(m, 2, 0, v) == 6 && v[0] == 0.3 && v[2] == 1 && v[5] == 2 &&
           ag_node_cols(m->graph, m->drawings[2]->args[0]) == 2);
  const ag_drawing *bowl = m->drawings[3];
  double z, in[2] = {3, 2};
  AG_CHECK(bowl->kind == AG_DRAW_IS_bowl && bowl->rho);
  ag_evaluate(m->graph, 2, (ag_id[]){bowl->rho, m->params[0].input}, in, 1, &bowl->args[0], &z);
  AG_CHECK(z == 18);
  AG_CHECK(value(m, 4, 0, v) == 2 && v[0] == 10 && value(m, 6, 0, v) == 2 && v[0] == 30);
  AG_CHECK(m->drawings[7]->kind == AG_DRAW_IS_box && ag_is_rotation(m->graph, m->drawings[7]->args[5]));
  ag_model_free(m);
}

/* Between reading and ag_model_draw the graph is that of the model without drawings, node by node. */
static void check_aside(void) {
  ag_model *plain = read_text(HEAD, 0, NULL, NULL);
  ag_model *drawn = read_text(HEAD "draw arrow [x', y'] at [x*y, y + sin(phi)]\n", 0, NULL, NULL);
  AG_CHECK(plain && drawn);
  if (!plain || !drawn) return;
  int n = ag_graph_count(plain->graph);
  AG_CHECK(ag_graph_count(drawn->graph) == n);
  for (ag_id x = 1; x <= (ag_id)n; x++) AG_CHECK(ag_node_op(plain->graph, x) == ag_node_op(drawn->graph, x));
  ag_model_draw(drawn);
  AG_CHECK(ag_graph_count(drawn->graph) > n);
  ag_model_free(plain);
  ag_model_free(drawn);
}

/* A force makes an input of the model: it stays. */
static void check_forces(void) {
  ag_model *m = read_text("model m\nconfig x in R^2\nlagrangian dot(x', x')/2\nholonomic dot(x, x) = 1\n"
                          "start x = [1, 0]\ndraw arrow reaction.x at x\n",
                          0, NULL, NULL);
  AG_CHECK(m && m->n_drawings == 1 && m->n_reactions == 1);
  if (m) ag_model_draw(m);
  if (m) AG_CHECK(ag_depends(m->graph, 1, &m->drawings[0]->args[0], 1, &m->reactions[0].x));
  ag_model_free(m);
}

static void check_written(void) {
  static const char text[] = "draw disk(r/4) at [x, y, 0] axis [cos(phi), sin(phi), 0] mark e3 colour 3\n"
                             "draw segment [x, y], [x + t, x']\n"
                             "draw polyline [[x, y], [1, 2], [x, r]]\n"
                             "draw bowl(rho: r*rho^2) at [0, 0, -1]\n"
                             "draw plane\n"
                             "draw point [q[1], q[2]]\n"
                             "draw box(1, r, 3) at [x, y] turned rotation(e3, phi)\n";
  ag_text all = {0}, one = {0}, two = {0};
  ag_text_printf(&all, "%s%s", HEAD, text);
  ag_model *m = read_text(ag_text_cstr(&all), 0, NULL, NULL);
  AG_CHECK(m != NULL);
  if (m) ag_lang_write(m, &one);
  ag_model *again = m ? read_text(ag_text_cstr(&one), 0, NULL, NULL) : NULL;
  AG_CHECK(again && again->n_drawings == m->n_drawings);
  if (again) ag_lang_write(again, &two);
  AG_CHECK_STR(ag_text_cstr(&two), ag_text_cstr(&one));
  AG_CHECK(strstr(ag_text_cstr(&one), "draw segment [x, y], [t + x, x']\n") != NULL);
  AG_CHECK(strstr(ag_text_cstr(&one), "draw bowl(rho: ") != NULL);
  ag_text_done(&all);
  ag_text_done(&one);
  ag_text_done(&two);
  ag_model_free(m);
  ag_model_free(again);
}

int main(void) {
  check_many();
  check_values();
  check_aside();
  check_forces();
  check_written();
  return ag_check_report();
}
