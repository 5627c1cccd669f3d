/* SPDX-License-Identifier: MIT
 * Nodes set aside: what is built in between does not depend on them, and they come back with their values. */
#include "expr/expr.h"

#include "check.h"

/* y*x + x, whose order of arguments depends on what exists. */
static ag_id build(ag_graph *g, ag_id x, ag_id y) {
  ag_id s = ag_apply1(g, AG_OP_SIN, x), c = ag_apply1(g, AG_OP_COS, y);
  return ag_add(g, ag_mul(g, s, c), s);
}

static void check_same(void) {
  ag_text plain = {0}, aside = {0};
  for (int with = 0; with < 2; with++) {
    ag_graph *g = ag_graph_create();
    ag_id x = ag_input(g, "x", 1, 1, AG_LEAF_REAL), y = ag_input(g, "y", 1, 1, AG_LEAF_REAL);
    ag_aside *a = ag_aside_begin(g);
    double at[2] = {0.3, 0.7}, v;
    ag_id root = 0;
    int before = ag_graph_count(g);
    if (with) {
      ag_id z = ag_input(g, "z", 1, 1, AG_LEAF_REAL);
      root = ag_add(g, ag_mul(g, ag_apply1(g, AG_OP_COS, y), z), ag_apply1(g, AG_OP_SIN, x));
      ag_evaluate(g, 3, (ag_id[]){x, y, z}, (double[]){0.3, 0.7, 2}, 1, &root, &v); /* lowers old and new nodes */
      ag_aside_take(a, g);
      AG_CHECK(ag_graph_count(g) == before);
    }
    ag_id f = build(g, x, y);
    ag_print(g, f, with ? &aside : &plain);
    ag_evaluate(g, 2, (ag_id[]){x, y}, at, 1, &f, &v);
    AG_CHECK_NEAR(v, sin(0.3) * cos(0.7) + sin(0.3), 1e-15);
    if (with) {
      ag_aside_return(a, g, 1, &root);
      ag_text text = {0};
      ag_print(g, root, &text);
      AG_CHECK(strstr(ag_text_cstr(&text), "z") != NULL);
      ag_text_done(&text);
      AG_CHECK(ag_depends(g, 1, &root, 2, (ag_id[]){x, y}));
    }
    ag_aside_free(a);
    ag_graph_free(g);
  }
  AG_CHECK_STR(ag_text_cstr(&plain), ag_text_cstr(&aside));
  ag_text_done(&plain);
  ag_text_done(&aside);
}

/* Roots that are older, or no nodes, stay as they are; a large tail makes the table grow and shrink. */
static void check_many(void) {
  ag_graph *g = ag_graph_create();
  ag_id x = ag_input(g, "x", 1, 1, AG_LEAF_REAL), old = ag_apply1(g, AG_OP_SIN, x), roots[3] = {old, 0, 0};
  ag_aside *a = ag_aside_begin(g);
  int before = ag_graph_count(g);
  ag_id y = x;
  for (int i = 0; i < 20000; i++) y = ag_apply1(g, AG_OP_TANH, ag_add(g, y, x));
  roots[2] = y;
  int all = ag_graph_count(g);
  ag_aside_take(a, g);
  AG_CHECK(all > before + 30000 && ag_graph_count(g) == before && ag_apply1(g, AG_OP_SIN, x) == old &&
           ag_graph_count(g) == before);
  ag_aside_return(a, g, 3, roots);
  /* without the numbers that were used only to fold others */
  AG_CHECK(roots[0] == old && roots[1] == 0 && ag_graph_count(g) <= all && ag_graph_count(g) > all - 10);
  y = x;
  for (int i = 0; i < 20000; i++) y = ag_apply1(g, AG_OP_TANH, ag_add(g, y, x));
  AG_CHECK(roots[2] == y && ag_graph_count(g) == all);
  ag_id third = ag_div(g, ag_num(g, 1), ag_num(g, 3)), args[3];
  ag_op op;
  AG_CHECK(ag_num_origin(g, third, &op, args) == 2 && op == AG_OP_DIV);
  ag_aside_free(a);
  ag_aside_free(NULL);
  ag_graph_free(g);
}

int main(void) {
  check_same();
  check_many();
  return ag_check_report();
}
